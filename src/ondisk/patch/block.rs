//! Bytes of an object header's message that change, and the checksum of their block with them.

use super::super::object_header::Block;
use super::super::write_at::write;
use super::super::{OndiskError, Structure, WriteAt, lookup3};

/// Bytes of a message.
#[derive(Debug)]
pub(super) struct MessageBytes {
    /// Absolute address.
    address: u64,
    /// In version 2 of object headers: the block that they stand in.
    block: Option<ChecksummedBlock>,
}

#[derive(Debug)]
struct ChecksummedBlock {
    /// Without its checksum.
    bytes: Vec<u8>,
    /// Where the bytes of the message stand in it.
    at: usize,
}

impl MessageBytes {
    /// Those at an absolute address, which lies in `block`.
    pub(super) fn new(block: Block<'_>, address: u64) -> Self {
        let at = address.checked_sub(block.address).and_then(|at| usize::try_from(at).ok());
        let block = at
            .filter(|_| block.has_checksum)
            .map(|at| ChecksummedBlock { bytes: block.bytes.to_vec(), at });
        Self { address, block }
    }

    pub(super) fn address(&self) -> u64 {
        self.address
    }

    /// Writes others in their place, and the checksum of the block if it has one.
    pub(super) fn replace(
        self,
        file: &mut dyn WriteAt,
        mut bytes: Vec<u8>,
        structure: Structure,
    ) -> Result<(), OndiskError> {
        if let Some(ChecksummedBlock { bytes: mut block, at }) = self.block {
            if let Some(place) = block.get_mut(at..at + bytes.len()) {
                place.copy_from_slice(&bytes);
            }
            let checksum = lookup3(&block);
            bytes = block.split_off(at.min(block.len()));
            bytes.extend(checksum.to_le_bytes());
        }
        write(file, &bytes, self.address, structure)
    }
}
