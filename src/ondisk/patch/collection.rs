//! Global heap collections as libhdf5 writes them (specification III.E, `H5HG__create`, `H5HG__alloc`).

use super::super::global_heap::{
    ALIGNMENT, COLLECTION_HEADER, OBJECT_HEADER, SIGNATURE, SIZE_AT, USUAL_SIZE, VERSION,
};
use super::super::write_at::write;
use super::super::{FieldWidth, OndiskError, Structure, WriteAt};
use super::layout::LayoutSlot;

/// Bytes of a collection that lists share, and of the list from which on it has one of its own: what is read to get
/// at one list (`H5HG__protect` reads the whole collection) is then never much more than the list.
const SHARED_SIZE: usize = 1 << 16;

/// The smallest collection (`H5HG_MINSIZE`).
const MIN_SIZE: usize = USUAL_SIZE;

// An index is never beyond 16 bits, and any size fits a length of 4 bytes.
const _: () = assert!(SHARED_SIZE / OBJECT_HEADER < 1 << 16);

/// Whether a list has a collection of its own.
pub(super) fn is_large(list: &[u8]) -> bool {
    list.len() > SHARED_SIZE - COLLECTION_HEADER - OBJECT_HEADER
}

/// Size in bytes of a collection that holds one large list; `address` is where an error points to.
pub(super) fn size_alone(
    list: &[u8],
    length_size: FieldWidth,
    address: u64,
) -> Result<u64, OndiskError> {
    let size = (list.len() as u64)
        .checked_next_multiple_of(ALIGNMENT as u64)
        .and_then(|size| size.checked_add((COLLECTION_HEADER + OBJECT_HEADER) as u64));
    size.filter(|&size| size <= length_size.all_ones()).ok_or(OndiskError::Unsupported {
        structure: Structure::HeapCollection,
        address,
        what: "a list of mappings beyond the size of lengths",
    })
}

/// Writes a collection that holds one large list and no free space.
pub(super) fn write_alone(
    file: &mut dyn WriteAt,
    address: u64,
    list: &[u8],
    length_size: FieldWidth,
) -> Result<(), OndiskError> {
    let size = size_alone(list, length_size, address)?;
    let headers = [collection_header(size), object_header(1, list.len() as u64)].concat();
    write(file, &headers, address, Structure::HeapCollection)?;
    let data = address.saturating_add(headers.len() as u64);
    write(file, list, data, Structure::HeapObject)?;
    let padding = [0; ALIGNMENT];
    let padding = &padding[..list.len().next_multiple_of(ALIGNMENT) - list.len()];
    write(file, padding, data.saturating_add(list.len() as u64), Structure::HeapObject)
}

/// A collection that is being filled with small lists.
#[derive(Debug)]
pub(super) struct Shared {
    length_size: FieldWidth,
    /// The collection up to the last object; its header is still zeros.
    bytes: Vec<u8>,
    /// Whose list the objects are, from index 1 on.
    slots: Vec<LayoutSlot>,
}

impl Shared {
    pub(super) fn new(length_size: FieldWidth) -> Self {
        let mut bytes = Vec::with_capacity(SHARED_SIZE);
        bytes.resize(COLLECTION_HEADER, 0);
        Self { length_size, bytes, slots: Vec::new() }
    }

    /// Whether there is room for a list that is not large; there is in an empty one.
    pub(super) fn has_room(&self, list: &[u8]) -> bool {
        let need = OBJECT_HEADER + list.len().next_multiple_of(ALIGNMENT);
        self.bytes.len() + need <= SHARED_SIZE
    }

    pub(super) fn add(&mut self, list: &[u8], slot: LayoutSlot) {
        self.slots.push(slot);
        let index = u16::try_from(self.slots.len()).unwrap_or(u16::MAX);
        self.bytes.extend(object_header(index, list.len() as u64));
        self.bytes.extend_from_slice(list);
        self.bytes.resize(self.bytes.len().next_multiple_of(ALIGNMENT), 0);
    }

    /// The finished collection and whose lists are in it; leaves an empty one. `None` if there are no lists.
    pub(super) fn take(&mut self) -> Option<(Vec<u8>, Vec<LayoutSlot>)> {
        if self.slots.is_empty() {
            return None;
        }
        let Self { mut bytes, slots, .. } = std::mem::replace(self, Self::new(self.length_size));
        let free = MIN_SIZE.saturating_sub(bytes.len());
        if free >= OBJECT_HEADER {
            bytes.extend(object_header(0, free as u64));
        }
        // Less than a header is free space without one.
        bytes.resize(bytes.len().max(MIN_SIZE), 0);
        let header = collection_header(bytes.len() as u64);
        bytes[..COLLECTION_HEADER].copy_from_slice(&header);
        Some((bytes, slots))
    }
}

/// `size`: of the whole collection; it fits a length of the file.
fn collection_header(size: u64) -> [u8; COLLECTION_HEADER] {
    let mut header = [0; COLLECTION_HEADER];
    header[..SIGNATURE.len()].copy_from_slice(&SIGNATURE);
    header[SIGNATURE.len()] = VERSION;
    // Of a shorter length the bytes behind it are padding, which is 0.
    header[SIZE_AT..].copy_from_slice(&size.to_le_bytes());
    header
}

/// `size`: of the data alone, for free space (index 0) with the header. References are not counted: libhdf5 leaves the
/// count at 0 for mapping lists and for strings.
fn object_header(index: u16, size: u64) -> [u8; OBJECT_HEADER] {
    let mut header = [0; OBJECT_HEADER];
    header[..2].copy_from_slice(&index.to_le_bytes());
    header[SIZE_AT..].copy_from_slice(&size.to_le_bytes());
    header
}
