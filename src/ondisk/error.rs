//! What can be wrong with an on-disk structure.

use std::{fmt, io};

use super::GlobalHeapId;

/// An on-disk structure, named in errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Structure {
    /// Superblock (specification II.A).
    Superblock,
    /// Object header, version 1 or 2, or one of its continuation blocks (IV.A.1).
    ObjectHeader,
    /// Data layout message (IV.A.2.i).
    Layout,
    /// Dataspace message (IV.A.2.b).
    Dataspace,
    /// Attribute message (IV.A.2.m).
    Attribute,
    /// Fill value message (IV.A.2.e, IV.A.2.f).
    FillValue,
    /// Global heap collection (III.E).
    HeapCollection,
    /// Object inside a global heap collection (III.E).
    HeapObject,
    /// Node of an index of chunks (III.A.1).
    ChunkIndex,
    /// Stored bytes of a chunk (IV.A.2.i, "Chunked").
    Chunk,
}

impl fmt::Display for Structure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Superblock => "superblock",
            Self::ObjectHeader => "object header",
            Self::Layout => "layout message",
            Self::Dataspace => "dataspace message",
            Self::Attribute => "attribute message",
            Self::FillValue => "fill value message",
            Self::HeapCollection => "global heap collection",
            Self::HeapObject => "global heap object",
            Self::ChunkIndex => "node of the chunk index",
            Self::Chunk => "stored chunk",
        })
    }
}

/// A structure that cannot be read. Addresses are absolute, in bytes.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OndiskError {
    /// The operating system refused a read.
    #[error("{structure} at byte {address}: the read failed: {source}")]
    Read {
        /// What was being read.
        structure: Structure,
        /// Where.
        address: u64,
        /// Why.
        source: io::Error,
    },
    /// The file is being changed, or cannot be kept from being changed.
    #[error("the file cannot be read now: {source}")]
    Entry {
        /// Why.
        source: io::Error,
    },
    /// The operating system refused a write.
    #[error("{structure} at byte {address}: the write failed: {source}")]
    Write {
        /// What was being written.
        structure: Structure,
        /// Where.
        address: u64,
        /// Why.
        source: io::Error,
    },
    /// The size of the file is not known.
    #[error("the size of the file cannot be read: {source}")]
    FileSize {
        /// Why.
        source: io::Error,
    },
    /// No signature at 0, 512, 1024, 2048, ... bytes.
    #[error("no HDF5 signature in a file of {file_size} bytes")]
    NotHdf5 {
        /// The size of the file in bytes.
        file_size: u64,
    },
    /// The file or the enclosing structure ends too early.
    #[error("{structure}: {needed} bytes are needed at byte {address}, {available} are there")]
    Truncated {
        /// What was being read.
        structure: Structure,
        /// Where the missing bytes should begin.
        address: u64,
        /// Bytes needed.
        needed: u64,
        /// Bytes left in the file or in the enclosing structure.
        available: u64,
    },
    /// The bytes that every such structure begins with are not there.
    #[error("no {structure} at byte {address}: its signature is missing")]
    Signature {
        /// What was looked for.
        structure: Structure,
        /// Where.
        address: u64,
    },
    /// A version number that the specification does not define.
    #[error("{structure} at byte {address}: unknown version {found}")]
    Version {
        /// What was being read.
        structure: Structure,
        /// Where its version number stands.
        address: u64,
        /// The version number.
        found: u8,
    },
    /// The stored checksum is not that of the bytes.
    #[error(
        "{structure} at byte {address}: checksum {stored:#010x} is stored, the bytes give {computed:#010x}"
    )]
    Checksum {
        /// What was being read.
        structure: Structure,
        /// Where it begins.
        address: u64,
        /// The checksum in the file.
        stored: u32,
        /// The checksum of the bytes in the file.
        computed: u32,
    },
    /// A field with a value that cannot be right.
    #[error("{structure} at byte {address}: {field} cannot be {value}")]
    Invalid {
        /// What was being read.
        structure: Structure,
        /// Where the structure or the field stands.
        address: u64,
        /// The field.
        field: &'static str,
        /// Its value.
        value: u64,
    },
    /// Valid HDF5 that is left to libhdf5.
    #[error("{structure} at byte {address}: {what} is not decoded here")]
    Unsupported {
        /// What was being read.
        structure: Structure,
        /// Where.
        address: u64,
        /// What it makes use of.
        what: &'static str,
    },
    /// The object header has no such message: the object is not a dataset.
    #[error("the object header at byte {address} has no {structure}")]
    MissingMessage {
        /// The message.
        structure: Structure,
        /// The object header.
        address: u64,
    },
    /// The collection has no such object.
    #[error("no object {} in the global heap collection at {} bytes from the base address", id.index, id.collection)]
    MissingObject {
        /// The object looked for.
        id: GlobalHeapId,
    },
}
