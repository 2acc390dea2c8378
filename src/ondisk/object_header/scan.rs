//! The walk over the messages of an object header, versions 1 and 2, with its continuation blocks
//! (specification IV.A.1).

use std::collections::VecDeque;

use super::super::read_at::check_inside_file;
use super::super::{Cursor, OndiskError, ReadAt, Structure, Superblock, lookup3};

/// Bytes read at first: most dataset headers fit.
const FIRST_READ: usize = 512;

/// Most blocks of one header; each is read once, so this also ends a cycle of continuations.
const MAX_BLOCKS: usize = 1 << 12;

/// Most bytes of all blocks of one header together.
const MAX_BYTES: u64 = 1 << 24;

const V2_SIGNATURE: [u8; 4] = *b"OHDR";
const V2_BLOCK_SIGNATURE: [u8; 4] = *b"OCHK";
const CHECKSUM_SIZE: usize = 4;

const CONTINUATION: u16 = 0x0010;
/// The first type that is not in the specification.
const FIRST_UNKNOWN: u16 = 0x0018;

/// Message flags: the body is a reference to where the message is shared.
pub(super) const SHARED: u8 = 1 << 1;
/// Message flags: who does not know the type must not use the object.
pub(super) const FAIL_IF_UNKNOWN: u8 = 1 << 7;

/// One message as it stands in a block.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Message<'b> {
    /// Its type.
    pub(in super::super) kind: u16,
    /// Whether the body is a reference to where the message is shared.
    pub(in super::super) shared: bool,
    /// Absolute address of the body.
    pub(in super::super) address: u64,
    pub(in super::super) body: &'b [u8],
    /// The block that it stands in.
    pub(in super::super) block: Block<'b>,
}

/// A block of a header: its first one with the prefix, or a continuation.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Block<'b> {
    /// Absolute address of its first byte.
    pub(in super::super) address: u64,
    /// The block without its checksum.
    pub(in super::super) bytes: &'b [u8],
    /// Whether the checksum of `bytes` stands behind them: in version 2.
    pub(in super::super) has_checksum: bool,
}

/// Looks for messages of a header.
pub(in super::super) trait Search {
    /// Sees the next message, in the order of the blocks; continuations are left out.
    fn see(&mut self, message: Message<'_>) -> Result<(), OndiskError>;

    /// Whether the search is over: no further block is read.
    fn is_over(&self) -> bool;
}

/// Shows the messages of the object header at `address`, in bytes relative to the base address, to a search
/// until that is over. The checksums of all blocks that were read are checked.
pub(in super::super) fn search(
    file: &dyn ReadAt,
    superblock: &Superblock,
    address: u64,
    search: &mut dyn Search,
) -> Result<(), OndiskError> {
    let address = superblock.absolute(address, Structure::ObjectHeader)?;
    let mut bytes = vec![0; FIRST_READ];
    let count = file.read_up_to(&mut bytes, address, Structure::ObjectHeader)?;
    bytes.truncate(count);
    let prefix = Prefix::decode(&bytes, address)?;
    check_block_size(prefix.block_size as u64, prefix.block_size as u64, address)?;
    if prefix.block_size > bytes.len() {
        bytes = read_block(file, address, prefix.block_size)?;
    }
    bytes.truncate(prefix.block_size);
    Scan { file, superblock, address, format: prefix.format, search, pending: VecDeque::new() }
        .run(&bytes, prefix.messages_start)
}

/// How messages are stored in all blocks of one header.
#[derive(Clone, Copy, Debug)]
enum Format {
    /// The blocks are full of messages. How many there are is stored, and not looked at: some old writers stored a wrong
    /// number, which libhdf5 overlooks (`H5O_protect`), and it would see messages that are not seen here.
    V1,
    V2 {
        /// Each message carries its creation order.
        creation_order: bool,
    },
}

/// What stands before the messages of the first block.
struct Prefix {
    format: Format,
    /// Where the messages begin in the first block, in bytes.
    messages_start: usize,
    /// Size of the first block with prefix and checksum, in bytes.
    block_size: usize,
}

impl Prefix {
    fn decode(bytes: &[u8], address: u64) -> Result<Self, OndiskError> {
        let mut cursor = Cursor::new(bytes, Structure::ObjectHeader, address);
        if bytes.starts_with(&V2_SIGNATURE) {
            return Self::decode_v2(cursor, bytes.len(), address);
        }
        let [version, reserved] = cursor.array()?;
        if (version, reserved) != (1, 0) {
            let structure = Structure::ObjectHeader;
            return Err(OndiskError::Signature { structure, address });
        }
        let _messages = cursor.u16()?;
        let _reference_count = cursor.u32()?;
        let size = u64::from(cursor.u32()?);
        cursor.take(4)?;
        Self::new(Format::V1, bytes.len() - cursor.rest().len(), size, address)
    }

    fn decode_v2(mut cursor: Cursor<'_>, count: usize, address: u64) -> Result<Self, OndiskError> {
        let structure = Structure::ObjectHeader;
        cursor.take(V2_SIGNATURE.len())?;
        let version_address = cursor.address();
        let version = cursor.u8()?;
        if version != 2 {
            return Err(OndiskError::Version {
                structure,
                address: version_address,
                found: version,
            });
        }
        let flags = cursor.u8()?;
        if flags & 0b1100_0000 != 0 {
            let value = flags.into();
            return Err(OndiskError::Invalid { structure, address, field: "flags", value });
        }
        if flags & 0b10_0000 != 0 {
            // Four times.
            cursor.take(16)?;
        }
        if flags & 0b1_0000 != 0 {
            // Numbers of attributes at which their storage changes.
            cursor.take(4)?;
        }
        let size = match flags & 0b11 {
            0 => cursor.u8()?.into(),
            1 => cursor.u16()?.into(),
            2 => cursor.u32()?.into(),
            _ => cursor.array().map(u64::from_le_bytes)?,
        };
        let format = Format::V2 { creation_order: flags & 0b100 != 0 };
        let size = size.saturating_add(CHECKSUM_SIZE as u64);
        Self::new(format, count - cursor.rest().len(), size, address)
    }

    /// `size`: bytes of the first block behind its prefix, of `messages_start` bytes.
    fn new(
        format: Format,
        messages_start: usize,
        size: u64,
        address: u64,
    ) -> Result<Self, OndiskError> {
        let block_size = size
            .checked_add(messages_start as u64)
            .and_then(|size| usize::try_from(size).ok())
            .ok_or(OndiskError::Invalid {
                structure: Structure::ObjectHeader,
                address,
                field: "size of the first block",
                value: size,
            })?;
        Ok(Self { format, messages_start, block_size })
    }
}

/// Where a continuation block is: absolute address and size in bytes.
struct BlockRange {
    address: u64,
    size: u64,
}

/// The walk over the blocks of one header, in the order in which they are named.
struct Scan<'f> {
    file: &'f dyn ReadAt,
    superblock: &'f Superblock,
    /// Absolute address of the header.
    address: u64,
    format: Format,
    search: &'f mut dyn Search,
    pending: VecDeque<BlockRange>,
}

impl Scan<'_> {
    fn run(mut self, first: &[u8], messages_start: usize) -> Result<(), OndiskError> {
        let address = self.address;
        let block = self.check_block(first, address)?;
        self.take_messages(block, messages_start)?;

        let mut total = first.len() as u64;
        for _ in 1..MAX_BLOCKS {
            if self.search.is_over() {
                return Ok(());
            }
            let Some(BlockRange { address, size }) = self.pending.pop_front() else {
                return Ok(());
            };
            total = total.saturating_add(size);
            let size = check_block_size(size, total, address)?;
            let bytes = read_block(self.file, address, size)?;
            let block = self.check_block(&bytes, address)?;
            let start = match self.format {
                Format::V1 => 0,
                Format::V2 { .. } => V2_BLOCK_SIGNATURE.len(),
            };
            if !bytes.starts_with(&V2_BLOCK_SIGNATURE[..start]) {
                let structure = Structure::ObjectHeader;
                return Err(OndiskError::Signature { structure, address });
            }
            self.take_messages(block, start)?;
        }
        Err(too_large(address))
    }

    /// Checks a block's checksum, if it has one.
    fn check_block<'b>(&self, block: &'b [u8], address: u64) -> Result<Block<'b>, OndiskError> {
        let structure = Structure::ObjectHeader;
        if matches!(self.format, Format::V1) {
            return Ok(Block { address, bytes: block, has_checksum: false });
        }
        let Some((covered, stored)) = block.split_last_chunk::<CHECKSUM_SIZE>() else {
            let (needed, available) = (CHECKSUM_SIZE as u64, block.len() as u64);
            return Err(OndiskError::Truncated { structure, address, needed, available });
        };
        let stored = u32::from_le_bytes(*stored);
        let computed = lookup3(covered);
        if stored != computed {
            return Err(OndiskError::Checksum { structure, address, stored, computed });
        }
        Ok(Block { address, bytes: covered, has_checksum: true })
    }

    /// `start`: where the messages begin in the block.
    fn take_messages(&mut self, block: Block<'_>, start: usize) -> Result<(), OndiskError> {
        let structure = Structure::ObjectHeader;
        let messages = block.bytes.get(start..).unwrap_or(&[]);
        let address = block.address.saturating_add(start as u64);
        let mut cursor = Cursor::new(messages, structure, address);
        // Fewer bytes than a message header are a gap; version 1 has none, its messages fill the block.
        while cursor.rest().len() >= self.message_header_size() {
            let message_address = cursor.address();
            let kind = match self.format {
                Format::V1 => cursor.u16()?,
                Format::V2 { .. } => cursor.u8()?.into(),
            };
            let size = cursor.u16()?;
            let flags = cursor.u8()?;
            match self.format {
                Format::V1 if size % 8 != 0 => {
                    return Err(OndiskError::Invalid {
                        structure,
                        address: message_address,
                        field: "message size",
                        value: size.into(),
                    });
                }
                Format::V1 => cursor.take(3)?,
                Format::V2 { creation_order } => cursor.take(if creation_order { 2 } else { 0 })?,
            };
            let address = cursor.address();
            let body = cursor.take(size.into())?;
            let shared = flags & SHARED != 0;
            self.take_message(Message { kind, shared, address, body, block }, flags)?;
        }
        Ok(())
    }

    fn message_header_size(&self) -> usize {
        match self.format {
            Format::V1 => 8,
            Format::V2 { creation_order: false } => 4,
            Format::V2 { creation_order: true } => 6,
        }
    }

    fn take_message(&mut self, message: Message<'_>, flags: u8) -> Result<(), OndiskError> {
        let structure = Structure::ObjectHeader;
        let Message { kind, body, address, .. } = message;
        match kind {
            CONTINUATION => {
                let mut cursor = Cursor::new(body, structure, address);
                let relative = cursor.field(self.superblock.offset_size)?;
                let size = cursor.field(self.superblock.length_size)?;
                let address = self.superblock.absolute(relative, structure)?;
                self.pending.push_back(BlockRange { address, size });
                Ok(())
            }
            FIRST_UNKNOWN.. if flags & FAIL_IF_UNKNOWN != 0 => {
                Err(OndiskError::Unsupported { structure, address, what: "a message type" })
            }
            _ => self.search.see(message),
        }
    }
}

/// Checks the size of one block against the limit on all blocks so far; returns it.
fn check_block_size(size: u64, total: u64, address: u64) -> Result<usize, OndiskError> {
    if total > MAX_BYTES {
        return Err(too_large(address));
    }
    usize::try_from(size).map_err(|_| too_large(address))
}

fn too_large(address: u64) -> OndiskError {
    OndiskError::Unsupported {
        structure: Structure::ObjectHeader,
        address,
        what: "a header of this size",
    }
}

fn read_block(file: &dyn ReadAt, address: u64, size: usize) -> Result<Vec<u8>, OndiskError> {
    check_inside_file(file, address, size as u64, Structure::ObjectHeader)?;
    let mut bytes = vec![0; size];
    file.read_exact_at(&mut bytes, address, Structure::ObjectHeader)?;
    Ok(bytes)
}
