//! Global heap collections (specification III.E): the home of variable-length elements and mapping lists.
//!
//! ```text
//! collection: "GCOL" | version 1 | 3 reserved | size L | padding to 16 | objects ...
//! object:     index u16 | reference count u16 | 4 reserved | size L | padding to 16 | data, padded to 8
//! ```
//!
//! Index 0 is free space; its size includes its header. Less than a header at the end is free space too.

use std::fmt;

use super::read_at::check_inside_file;
use super::{Cursor, FieldWidth, OndiskError, ReadAt, Structure, Superblock};
use crate::memory::prefer_huge_pages;

pub(super) const SIGNATURE: [u8; 4] = *b"GCOL";
pub(super) const VERSION: u8 = 1;

/// Size of a collection's header, for lengths of 2, 4 and 8 bytes alike (`H5HG_SIZEOF_HDR`).
pub(super) const COLLECTION_HEADER: usize = 16;

/// Size of an object's header, for lengths of 2, 4 and 8 bytes alike (`H5HG_SIZEOF_OBJHDR`).
pub(super) const OBJECT_HEADER: usize = 16;

/// Where the size stands in both headers.
pub(super) const SIZE_AT: usize = 8;

/// Object data is padded to a multiple of this.
pub(super) const ALIGNMENT: usize = 8;

/// Size of most collections and the least (`H5HG_MINSIZE`): one read fetches all of it.
pub(super) const USUAL_SIZE: usize = 4096;

/// Names an object in a global heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GlobalHeapId {
    /// Address of the collection in bytes, relative to the base address.
    pub collection: u64,
    /// The object's index in the collection; 0 is never an object.
    pub index: u32,
}

/// Where an object's data stand in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjectRange {
    /// Absolute address of the first byte.
    pub offset: u64,
    /// Number of bytes; the range lies inside its collection, and the collection inside the file.
    pub len: u64,
}

/// Bytes that an object with so many bytes of data takes in its collection.
pub(crate) fn size_in_collection(data: u64) -> u64 {
    let padded = data.checked_next_multiple_of(ALIGNMENT as u64).unwrap_or(u64::MAX);
    padded.saturating_add(OBJECT_HEADER as u64)
}

impl ObjectRange {
    /// Reads the object's data.
    ///
    /// # Errors
    /// [`OndiskError::Truncated`] if the file has become shorter, [`OndiskError::Read`].
    pub fn read(&self, file: &dyn ReadAt) -> Result<Vec<u8>, OndiskError> {
        let mut bytes = Vec::new();
        self.read_to(file, &mut bytes)?;
        Ok(bytes)
    }

    /// As [`read`](Self::read), to a buffer that held something else.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn read_to(&self, file: &dyn ReadAt, bytes: &mut Vec<u8>) -> Result<(), OndiskError> {
        let structure = Structure::HeapObject;
        check_inside_file(file, self.offset, self.len, structure)?;
        let size = size_in_memory(self.len, self.offset)?;
        if bytes.capacity() < size {
            *bytes = vec![0; size];
            prefer_huge_pages(bytes);
        }
        bytes.resize(size, 0);
        file.read_exact_at(bytes, self.offset, structure)
    }

    /// Whether an object of `file` holds the same bytes as another one, of the same file or another. Read are those up to
    /// the first part that differs, in small parts.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn has_same_bytes(
        &self,
        file: &dyn ReadAt,
        other: &Self,
        other_file: &dyn ReadAt,
    ) -> Result<bool, OndiskError> {
        /// Bytes that are compared at once.
        const PART: usize = 64 << 10;
        if self.len != other.len {
            return Ok(false);
        }
        let structure = Structure::HeapObject;
        for (object, file) in [(self, file), (other, other_file)] {
            check_inside_file(file, object.offset, object.len, structure)?;
        }
        let part = usize::try_from(self.len).unwrap_or(PART).min(PART);
        let (mut one, mut two) = (vec![0; part], vec![0; part]);
        for done in (0..self.len).step_by(PART) {
            let count = usize::try_from(self.len - done).unwrap_or(PART).min(PART);
            let (one, two) = (&mut one[..count], &mut two[..count]);
            file.read_exact_at(one, self.offset + done, structure)?;
            other_file.read_exact_at(two, other.offset + done, structure)?;
            if one != two {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// One collection in memory with a table of its objects, for looking up many of them.
///
/// Its buffers are reused from collection to collection and are never larger than the largest one.
#[derive(Clone, Default)]
pub struct Collection {
    /// The collection, then what is left of larger ones before it.
    bytes: Vec<u8>,
    /// By object index: where the data stand in `bytes`.
    slots: Vec<Slot>,
}

/// Data of one object as a range of the collection's bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Slot {
    start: usize,
    end: usize,
}

impl Slot {
    /// No object: data never begin inside the collection's header.
    const EMPTY: Self = Self { start: 0, end: 0 };
}

impl Collection {
    /// A collection without objects.
    pub fn new() -> Self {
        Self::default()
    }

    /// Replaces the contents by the collection at `address`, in bytes relative to the base address.
    ///
    /// After an error there are no objects.
    ///
    /// # Errors
    /// [`OndiskError::Signature`], [`OndiskError::Version`], [`OndiskError::Invalid`] (also for an index that
    /// occurs twice), [`OndiskError::Truncated`] and [`OndiskError::Read`].
    pub fn read_into(
        &mut self,
        file: &dyn ReadAt,
        superblock: &Superblock,
        address: u64,
    ) -> Result<(), OndiskError> {
        let structure = Structure::HeapCollection;
        self.slots.clear();
        let address = superblock.absolute(address, structure)?;
        if self.bytes.len() < USUAL_SIZE {
            self.bytes.resize(USUAL_SIZE, 0);
        }
        let count = file.read_up_to(&mut self.bytes[..USUAL_SIZE], address, structure)?;
        let size = decode_header(&self.bytes[..count], address, superblock.length_size)?;
        let len = size_in_memory(size, address)?;
        if len > count {
            check_inside_file(file, address, size, structure)?;
            if self.bytes.len() < len {
                self.bytes.resize(len, 0);
            }
            let rest = address.saturating_add(count as u64);
            file.read_exact_at(&mut self.bytes[count..len], rest, structure)?;
        }
        let collection = &self.bytes[..len];
        let indexed = index_objects(collection, &mut self.slots, address, superblock.length_size);
        if indexed.is_err() {
            self.slots.clear();
        }
        indexed
    }

    /// The data of the object with this index; `None` if there is no such object.
    #[inline]
    pub fn object(&self, index: u32) -> Option<&[u8]> {
        let slot = self.slots.get(usize::try_from(index).ok()?)?;
        if *slot == Slot::EMPTY {
            return None;
        }
        self.bytes.get(slot.start..slot.end)
    }

    /// The number of objects.
    pub fn len(&self) -> usize {
        self.slots.iter().filter(|&&slot| slot != Slot::EMPTY).count()
    }

    /// Whether there is no object.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl fmt::Debug for Collection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Collection").field("objects", &self.len()).finish_non_exhaustive()
    }
}

/// Finds one object without reading its data: a list of 100,000 mappings has 9 MB.
///
/// # Errors
/// [`OndiskError::MissingObject`] if the collection has no such object, else as [`Collection::read_into`].
pub fn locate(
    file: &dyn ReadAt,
    superblock: &Superblock,
    id: GlobalHeapId,
) -> Result<ObjectRange, OndiskError> {
    locate_next(file, superblock, id, &mut None)
}

/// Checks that the objects of the collection at `address`, in bytes relative to the base address, lie one behind the other
/// up to its end, without reading their data.
///
/// # Errors
/// As [`Collection::read_into`], but for an index that occurs twice.
pub fn check_collection(
    file: &dyn ReadAt,
    superblock: &Superblock,
    address: u64,
) -> Result<(), OndiskError> {
    let mut search = Search::new(file, superblock, address)?;
    search.read_header()?;
    search.find(None, COLLECTION_HEADER as u64, 0).map(|_| ())
}

/// Where the search for an object has ended, in a file that has not changed since.
#[derive(Clone, Copy, Debug)]
pub struct SearchEnd {
    /// Address of the collection in bytes, relative to the base address.
    collection: u64,
    /// Its size in bytes.
    size: u64,
    /// Bytes from its start to the object behind the one that was found.
    next: u64,
}

/// As [`locate`], from where the last search in the collection has ended: objects that are looked for in their order take
/// one read each.
///
/// # Errors
/// As [`locate`].
pub fn locate_next(
    file: &dyn ReadAt,
    superblock: &Superblock,
    id: GlobalHeapId,
    last: &mut Option<SearchEnd>,
) -> Result<ObjectRange, OndiskError> {
    let missing = OndiskError::MissingObject { id };
    if id.index == 0 {
        return Err(missing);
    }
    let mut search = Search::new(file, superblock, id.collection)?;
    if let Some(SearchEnd { size, next, .. }) = last.filter(|at| at.collection == id.collection) {
        search.size = size;
        check_inside_file(file, search.address, size, Structure::HeapCollection)?;
        if let Some((found, next)) = search.find(Some(id.index), next, next)? {
            *last = Some(SearchEnd { collection: id.collection, size, next });
            return Ok(found);
        }
    }
    search.read_header()?;
    let (found, next) = search.find(Some(id.index), COLLECTION_HEADER as u64, 0)?.ok_or(missing)?;
    *last = Some(SearchEnd { collection: id.collection, size: search.size, next });
    Ok(found)
}

/// A walk through a collection, from header to header.
struct Search<'f> {
    file: &'f dyn ReadAt,
    superblock: &'f Superblock,
    /// Absolute address of the collection.
    address: u64,
    size: u64,
    window: [u8; USUAL_SIZE],
    /// How much of the window was read.
    count: usize,
}

impl<'f> Search<'f> {
    /// In the collection at `address`, in bytes relative to the base address.
    fn new(
        file: &'f dyn ReadAt,
        superblock: &'f Superblock,
        address: u64,
    ) -> Result<Self, OndiskError> {
        let address = superblock.absolute(address, Structure::HeapCollection)?;
        Ok(Self { file, superblock, address, size: 0, window: [0; _], count: 0 })
    }

    /// Finds out the size of the collection; its beginning is in the window then.
    fn read_header(&mut self) -> Result<(), OndiskError> {
        let structure = Structure::HeapCollection;
        self.count = self.file.read_up_to(&mut self.window, self.address, structure)?;
        let header = &self.window[..self.count];
        self.size = decode_header(header, self.address, self.superblock.length_size)?;
        check_inside_file(self.file, self.address, self.size, structure)
    }

    /// The object with an index, `None` for none at all, and where the next one begins, from the header at `at` on;
    /// `window_start`: where what is in the window begins. All in bytes from the start of the collection.
    fn find(
        &mut self,
        index: Option<u32>,
        mut at: u64,
        mut window_start: u64,
    ) -> Result<Option<(ObjectRange, u64)>, OndiskError> {
        while self.size.saturating_sub(at) >= OBJECT_HEADER as u64 {
            let object_address = self.address.saturating_add(at);
            let mut in_window = usize::try_from(at - window_start).unwrap_or(usize::MAX);
            if in_window.saturating_add(OBJECT_HEADER) > self.count {
                let structure = Structure::HeapCollection;
                self.count = self.file.read_up_to(&mut self.window, object_address, structure)?;
                (window_start, in_window) = (at, 0);
            }
            let (header, left) = (&self.window[in_window..self.count], self.size - at);
            let length_size = self.superblock.length_size;
            let object = HeapObject::decode(header, left, object_address, length_size)?;
            at += object.extent;
            if Some(u32::from(object.index)) == index {
                let offset = object_address.saturating_add(OBJECT_HEADER as u64);
                return Ok(Some((ObjectRange { offset, len: object.size }, at)));
            }
        }
        Ok(None)
    }
}

/// Checks a collection's header; returns the size of the collection in bytes.
fn decode_header(bytes: &[u8], address: u64, length_size: FieldWidth) -> Result<u64, OndiskError> {
    let structure = Structure::HeapCollection;
    let mut cursor = Cursor::new(bytes, structure, address);
    if cursor.array()? != SIGNATURE {
        return Err(OndiskError::Signature { structure, address });
    }
    let [version, ..] = cursor.array::<4>()?;
    if version != VERSION {
        return Err(OndiskError::Version { structure, address, found: version });
    }
    let size = cursor.field(length_size)?;
    if size < COLLECTION_HEADER as u64 {
        return Err(OndiskError::Invalid { structure, address, field: "size", value: size });
    }
    Ok(size)
}

/// The header of an object in a collection.
struct HeapObject {
    index: u16,
    /// Bytes of data; of free space, with the header.
    size: u64,
    /// Bytes from this header to the next, at least a header and at most what is left of the collection.
    extent: u64,
}

impl HeapObject {
    /// `left`: bytes from the start of this header to the end of the collection.
    #[inline]
    fn decode(
        bytes: &[u8],
        left: u64,
        address: u64,
        length_size: FieldWidth,
    ) -> Result<Self, OndiskError> {
        let structure = Structure::HeapObject;
        let Some(header) = bytes.first_chunk::<OBJECT_HEADER>() else {
            let (needed, available) = (OBJECT_HEADER as u64, bytes.len() as u64);
            return Err(OndiskError::Truncated { structure, address, needed, available });
        };
        let index = u16::from_le_bytes([header[0], header[1]]);
        let size = length_size.decode(&header[SIZE_AT..]).unwrap_or(0);
        let extent = match index {
            0 if size >= OBJECT_HEADER as u64 => Some(size),
            0 => None,
            _ => size
                .checked_next_multiple_of(ALIGNMENT as u64)
                .and_then(|padded| padded.checked_add(OBJECT_HEADER as u64)),
        };
        match extent {
            Some(extent) if extent <= left => Ok(Self { index, size, extent }),
            _ => Err(OndiskError::Invalid { structure, address, field: "size", value: size }),
        }
    }
}

/// Fills the table of objects; `bytes` are the whole collection.
fn index_objects(
    bytes: &[u8],
    slots: &mut Vec<Slot>,
    address: u64,
    length_size: FieldWidth,
) -> Result<(), OndiskError> {
    // Free space has a slot, too: it stays empty.
    slots.push(Slot::EMPTY);
    let mut at = COLLECTION_HEADER;
    while let Some(rest) = bytes.get(at..).filter(|rest| rest.len() >= OBJECT_HEADER) {
        let object_address = address.saturating_add(at as u64);
        let object = HeapObject::decode(rest, rest.len() as u64, object_address, length_size)?;
        let start = at + OBJECT_HEADER;
        at += size_in_memory(object.extent, object_address)?;
        let slot = Slot { start, end: start + size_in_memory(object.size, object_address)? };
        let index = usize::from(object.index);
        if index == slots.len() {
            slots.push(slot);
            continue;
        }
        if index == 0 {
            continue;
        }
        if index > slots.len() {
            slots.resize(index + 1, Slot::EMPTY);
        }
        if slots[index] != Slot::EMPTY {
            return Err(OndiskError::Invalid {
                structure: Structure::HeapObject,
                address: object_address,
                field: "index, used before,",
                value: object.index.into(),
            });
        }
        slots[index] = slot;
    }
    Ok(())
}

fn size_in_memory(size: u64, address: u64) -> Result<usize, OndiskError> {
    usize::try_from(size).map_err(|_| OndiskError::Unsupported {
        structure: Structure::HeapCollection,
        address,
        what: "an object beyond the address space",
    })
}

#[cfg(test)]
mod tests;
