//! Builders of byte images for tests: each writes one structure as the specification has it.

use std::io;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use super::{FieldWidth, ReadAt, WriteAt, lookup3};

/// A message: type, flags, body.
pub(crate) type MessageImage = (u16, u8, Vec<u8>);

/// A field of this width.
pub(crate) fn field(value: u64, width: FieldWidth) -> Vec<u8> {
    value.to_le_bytes()[..width.bytes()].to_vec()
}

/// Bytes followed by their checksum.
pub(crate) fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.extend(lookup3(&bytes).to_le_bytes());
    bytes
}

/// A superblock of the given version; addresses in it are not meaningful.
pub(crate) fn superblock(version: u8, offset_size: FieldWidth, length_size: FieldWidth) -> Vec<u8> {
    let sizes = [offset_size, length_size].map(|width| u8::try_from(width.bytes()).unwrap());
    let mut bytes = b"\x89HDF\r\n\x1a\n".to_vec();
    bytes.push(version);
    if version >= 2 {
        bytes.extend([sizes[0], sizes[1], 0]);
        bytes.extend(vec![0; 4 * offset_size.bytes()]);
        return sealed(bytes);
    }
    bytes.extend([0, 0, 0, 0, sizes[0], sizes[1], 0, 4, 0, 16, 0, 0, 0, 0, 0]);
    bytes.extend(vec![0; 80]);
    bytes
}

fn messages_v1(messages: &[MessageImage]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (kind, flags, body) in messages {
        let size = body.len().next_multiple_of(8);
        bytes.extend(kind.to_le_bytes());
        bytes.extend(u16::try_from(size).unwrap().to_le_bytes());
        bytes.extend([*flags, 0, 0, 0]);
        bytes.extend(body);
        bytes.resize(bytes.len() + size - body.len(), 0);
    }
    bytes
}

/// A continuation block of a version 1 header.
pub(crate) fn block_v1(messages: &[MessageImage]) -> Vec<u8> {
    messages_v1(messages)
}

/// A version 1 header that says it has `count` messages in all blocks.
pub(crate) fn header_v1(count: u16, messages: &[MessageImage]) -> Vec<u8> {
    let body = messages_v1(messages);
    let mut bytes = vec![1, 0];
    bytes.extend(count.to_le_bytes());
    bytes.extend(1u32.to_le_bytes());
    bytes.extend(u32::try_from(body.len()).unwrap().to_le_bytes());
    bytes.extend([0; 4]);
    bytes.extend(body);
    bytes
}

fn messages_v2(flags: u8, messages: &[MessageImage]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (kind, message_flags, body) in messages {
        bytes.push(u8::try_from(*kind).unwrap());
        bytes.extend(u16::try_from(body.len()).unwrap().to_le_bytes());
        bytes.push(*message_flags);
        if flags & 0b100 != 0 {
            bytes.extend([7, 0]);
        }
        bytes.extend(body);
    }
    bytes
}

/// A continuation block of a version 2 header with these header flags, and `gap` bytes of gap.
pub(crate) fn block_v2(flags: u8, messages: &[MessageImage], gap: usize) -> Vec<u8> {
    let mut bytes = b"OCHK".to_vec();
    bytes.extend(messages_v2(flags, messages));
    bytes.resize(bytes.len() + gap, 0);
    sealed(bytes)
}

/// A version 2 header.
pub(crate) fn header_v2(flags: u8, messages: &[MessageImage]) -> Vec<u8> {
    let body = messages_v2(flags, messages);
    let mut bytes = b"OHDR".to_vec();
    bytes.extend([2, flags]);
    bytes.resize(bytes.len() + if flags & 0b10_0000 != 0 { 16 } else { 0 }, 0);
    bytes.resize(bytes.len() + if flags & 0b1_0000 != 0 { 4 } else { 0 }, 0);
    let size = u64::try_from(body.len()).unwrap().to_le_bytes();
    bytes.extend(&size[..1 << (flags & 0b11)]);
    bytes.extend(body);
    sealed(bytes)
}

/// A layout message for a list of mappings.
pub(crate) fn virtual_layout(collection: u64, index: u32, offset_size: FieldWidth) -> MessageImage {
    let mut body = vec![4, 3];
    body.extend(field(collection, offset_size));
    body.extend(index.to_le_bytes());
    (8, 0, body)
}

/// A continuation message.
pub(crate) fn continuation(
    address: usize,
    size: usize,
    offset_size: FieldWidth,
    length_size: FieldWidth,
) -> MessageImage {
    let mut body = field(address as u64, offset_size);
    body.extend(field(size as u64, length_size));
    (0x10, 0, body)
}

/// A dataspace message of version 2 without limits.
pub(crate) fn dataspace(shape: &[u64], length_size: FieldWidth) -> MessageImage {
    let mut body = vec![2, u8::try_from(shape.len()).unwrap(), 0, 1];
    body.extend(shape.iter().flat_map(|&length| field(length, length_size)));
    (1, 0, body)
}

/// A global heap object; the size of index 0, free space, is that of the object with its header.
pub(crate) fn heap_object(index: u16, data: &[u8], length_size: FieldWidth) -> Vec<u8> {
    let size = if index == 0 { data.len() + 16 } else { data.len() };
    let mut bytes = index.to_le_bytes().to_vec();
    bytes.extend([1, 0, 0, 0, 0, 0]);
    bytes.extend(field(size as u64, length_size));
    bytes.resize(16, 0);
    bytes.extend(data);
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    bytes
}

/// A global heap collection of these objects, with free space up to `size` bytes if it is larger.
pub(crate) fn collection(
    objects: &[(u16, &[u8])],
    size: usize,
    length_size: FieldWidth,
) -> Vec<u8> {
    let mut bytes = vec![0; 16];
    for (index, data) in objects {
        bytes.extend(heap_object(*index, data, length_size));
    }
    let free = size.saturating_sub(bytes.len());
    if free >= 16 {
        bytes.extend(heap_object(0, &vec![0; free - 16], length_size));
    } else {
        bytes.resize(bytes.len() + free, 0);
    }
    let header = [b"GCOL\x01\0\0\0".to_vec(), field(bytes.len() as u64, length_size)].concat();
    bytes[..header.len()].copy_from_slice(&header);
    bytes
}

/// A file in memory that counts what is read of it.
#[derive(Default)]
pub(crate) struct CountingFile {
    pub(crate) bytes: Vec<u8>,
    pub(crate) reads: AtomicUsize,
    pub(crate) bytes_read: AtomicU64,
    pub(crate) largest_buffer: AtomicUsize,
}

impl CountingFile {
    pub(crate) fn new(bytes: Vec<u8>) -> Self {
        Self { bytes, ..Self::default() }
    }

    pub(crate) fn reads(&self) -> usize {
        self.reads.load(Ordering::Relaxed)
    }

    pub(crate) fn bytes_read(&self) -> u64 {
        self.bytes_read.load(Ordering::Relaxed)
    }

    pub(crate) fn largest_buffer(&self) -> usize {
        self.largest_buffer.load(Ordering::Relaxed)
    }
}

impl ReadAt for CountingFile {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        let count = self.bytes.as_slice().read_at(buf, offset)?;
        self.reads.fetch_add(1, Ordering::Relaxed);
        self.bytes_read.fetch_add(count as u64, Ordering::Relaxed);
        self.largest_buffer.fetch_max(buf.len(), Ordering::Relaxed);
        Ok(count)
    }

    fn size(&self) -> io::Result<u64> {
        Ok(self.bytes.len() as u64)
    }
}

/// A file in memory that can be written, up to a number of writes.
#[derive(Clone)]
pub(crate) struct WritableFile {
    pub(crate) bytes: Vec<u8>,
    /// Writes that succeed before all others fail.
    pub(crate) writes_left: usize,
}

impl ReadAt for WritableFile {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        self.bytes.as_slice().read_at(buf, offset)
    }

    fn size(&self) -> io::Result<u64> {
        Ok(self.bytes.len() as u64)
    }
}

impl WriteAt for WritableFile {
    fn write_at(&mut self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let left = self.writes_left.checked_sub(1);
        self.writes_left = left.ok_or_else(|| io::Error::from(io::ErrorKind::StorageFull))?;
        let start = usize::try_from(offset).map_err(io::Error::other)?;
        self.bytes.resize(self.bytes.len().max(start + bytes.len()), 0);
        self.bytes[start..start + bytes.len()].copy_from_slice(bytes);
        Ok(())
    }
}
