//! Variable-length strings: references into global heap collections, resolved without libhdf5.
//!
//! An element is stored as `length u32 | collection address O | object index u32` (HDF5 File Format
//! Specification IV.B, "Variable-length"; O is the superblock's size of offsets). References of one
//! chunk mostly point into the same few collections, one after the other, so each thread keeps the
//! last collection and reads a new one only when the address changes.

use rayon::prelude::*;

use super::threads::Threads;
use crate::ondisk::{Collection, GlobalHeapId, OndiskError, ReadAt, Superblock};

/// References that one task resolves at least: each may be a read of its own.
const SMALLEST_TASK: usize = 128;

/// References that one task resolves at most: enough to make its collection buffer worth it.
const LARGEST_TASK: usize = 4096;

/// A string that cannot be resolved.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StringFault {
    /// The collection cannot be read.
    #[error(transparent)]
    Heap(#[from] OndiskError),
    /// The collection has no such object.
    #[error("global heap collection {} has no object {}", .id.collection, .id.index)]
    MissingObject {
        /// The object.
        id: GlobalHeapId,
    },
    /// libhdf5, which had to be asked, failed.
    #[error(transparent)]
    Library(h5strata_ffi::Error),
    /// The bytes are no string of the encoding asked for.
    #[error("it is not UTF-8")]
    NotUtf8,
    /// The object is shorter than the string.
    #[error("object {} of collection {} has {found} bytes, the string has {expected}",
        .id.index, .id.collection)]
    ObjectLength {
        /// The object.
        id: GlobalHeapId,
        /// Bytes of the string.
        expected: u32,
        /// Bytes of the object.
        found: usize,
    },
}

/// Bytes of the longest reference.
pub(crate) const MAX_REFERENCE: usize = 16;

/// Refers to the empty string.
pub(crate) const EMPTY_REFERENCE: [u8; MAX_REFERENCE] = [0; MAX_REFERENCE];

/// Stands for the fill value among references: no collection lies at the undefined address.
pub(crate) const FILL_REFERENCE: [u8; MAX_REFERENCE] = [0xFF; MAX_REFERENCE];

/// Bytes of a reference in a file whose offsets have `offset_size` bytes.
pub(crate) fn reference_size(superblock: &Superblock) -> usize {
    superblock.reference_size()
}

/// Resolves references to strings, each turned into a value by `make` (`None` if it is no UTF-8), in order; those that are
/// [`FILL_REFERENCE`] to `fill`. An error comes with the position of its reference.
pub(crate) fn resolve_strings<T: Send>(
    file: &dyn ReadAt,
    superblock: &Superblock,
    references: &[u8],
    fill: &[u8],
    threads: Threads<'_>,
    make: impl Fn(&[u8]) -> Option<T> + Sync,
) -> Result<Vec<T>, (usize, StringFault)> {
    let size = reference_size(superblock);
    let count = references.len() / size;
    let task = (count / (threads.count() * 4)).clamp(SMALLEST_TASK, LARGEST_TASK);
    let resolve_task = |(number, references): (usize, &[u8])| {
        let collection = Collection::new();
        let mut resolver = Resolver { file, superblock, fill, collection, at: None };
        let mut values = Vec::with_capacity(references.len() / size);
        for (position, reference) in references.chunks_exact(size).enumerate() {
            let value = resolver
                .resolve(reference)
                .and_then(|string| make(string).ok_or(StringFault::NotUtf8));
            values.push(value.map_err(|fault| (number * task + position, fault))?);
        }
        Ok(values)
    };
    if threads.count() == 1 || count <= task {
        return resolve_task((0, references));
    }
    threads.install(|| {
        let tasks: Result<Vec<Vec<T>>, _> =
            references.par_chunks(task * size).enumerate().map(resolve_task).collect();
        let mut values = Vec::with_capacity(count);
        tasks?.into_iter().for_each(|task| values.extend(task));
        Ok(values)
    })
}

struct Resolver<'r> {
    file: &'r dyn ReadAt,
    superblock: &'r Superblock,
    fill: &'r [u8],
    collection: Collection,
    /// Address of `collection`.
    at: Option<u64>,
}

impl Resolver<'_> {
    fn resolve(&mut self, reference: &[u8]) -> Result<&[u8], StringFault> {
        if FILL_REFERENCE.starts_with(reference) {
            return Ok(self.fill);
        }
        let (length, rest) = reference.split_first_chunk().unwrap_or((&[0; 4], &[]));
        let length = u32::from_le_bytes(*length);
        let address = self.superblock.offset_size.decode(rest).unwrap_or(0);
        let index = rest.last_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
        // Elements that were never written are all zeros: the empty string, as H5T__vlen_disk_isnull has it.
        if length == 0 || address == 0 {
            return Ok(&[]);
        }
        if self.at != Some(address) {
            self.at = None;
            self.collection.read_into(self.file, self.superblock, address)?;
            self.at = Some(address);
        }
        let id = GlobalHeapId { collection: address, index };
        let object = self.collection.object(index).ok_or(StringFault::MissingObject { id })?;
        let string = usize::try_from(length).ok().and_then(|length| object.get(..length));
        let string = string.ok_or(StringFault::ObjectLength {
            id,
            expected: length,
            found: object.len(),
        })?;
        // Strings end at their first zero byte, as they do for every reader of `char *`.
        Ok(memchr::memchr(0, string).map_or(string, |end| &string[..end]))
    }
}
