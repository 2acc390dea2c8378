//! The layout message of a virtual dataset (specification IV.A.2.i, "Virtual").
//!
//! ```text
//! layout message: version 4, 5 | class 3 | address of the collection O | index of the object u32
//! ```
//!
//! A dataset that is to become virtual may be one of chunks, still without any: libhdf5 makes it in a third of the time,
//! and its message is longer, so that the other fits in.

use super::super::message::decode_layout;
use super::super::object_header::{LAYOUT, Message, Search, search};
use super::super::{GlobalHeapId, Layout, OndiskError, ReadAt, Structure, Superblock, WriteAt};
use super::block::MessageBytes;

/// The class of virtual layouts, and the first version of the message that has it.
const VIRTUAL: u8 = 3;
const FIRST_VIRTUAL: u8 = 4;

/// The layout message of a dataset that is virtual or becomes so.
#[derive(Debug)]
pub(super) struct LayoutSlot {
    /// Its body.
    body: MessageBytes,
    /// Bytes of the body behind the id that meant something else.
    stale: usize,
    /// Version of the message.
    version: u8,
    /// The id that is there; `None` without mappings.
    mappings: Option<GlobalHeapId>,
}

impl LayoutSlot {
    /// Finds the layout message of the object header at `header`, in bytes relative to the base address.
    pub(super) fn find(
        file: &dyn ReadAt,
        superblock: &Superblock,
        header: u64,
    ) -> Result<Self, OndiskError> {
        let mut first = FirstLayout { superblock, slot: None };
        search(file, superblock, header, &mut first)?;
        let structure = Structure::Layout;
        let address = superblock.absolute(header, Structure::ObjectHeader)?;
        first.slot.ok_or(OndiskError::MissingMessage { structure, address })
    }

    /// As [`find`](Self::find), of a dataset that has no mappings yet.
    pub(super) fn find_empty(
        file: &dyn ReadAt,
        superblock: &Superblock,
        header: u64,
    ) -> Result<Self, OndiskError> {
        let slot = Self::find(file, superblock, header)?;
        match slot.mappings {
            None => Ok(slot),
            Some(id) => Err(OndiskError::Invalid {
                structure: Structure::Layout,
                address: slot.address(),
                field: "address of mappings to be written",
                value: id.collection,
            }),
        }
    }

    /// The id that is there; `None` without mappings.
    pub(super) fn mappings(&self) -> Option<GlobalHeapId> {
        self.mappings
    }

    /// Absolute address of the message.
    pub(super) fn address(&self) -> u64 {
        self.body.address()
    }

    /// Makes the layout a virtual one with this id, and writes the checksum of the block if it has one.
    pub(super) fn fill(
        self,
        file: &mut dyn WriteAt,
        superblock: &Superblock,
        id: GlobalHeapId,
    ) -> Result<(), OndiskError> {
        let offset_size = superblock.offset_size.bytes();
        let mut bytes = vec![self.version, VIRTUAL];
        bytes.extend_from_slice(&id.collection.to_le_bytes()[..offset_size]);
        bytes.extend(id.index.to_le_bytes());
        bytes.resize(bytes.len() + self.stale, 0);
        self.body.replace(file, bytes, Structure::Layout)
    }
}

/// The search for the first layout message, which is the one that counts (`H5O_msg_read`).
struct FirstLayout<'s> {
    superblock: &'s Superblock,
    slot: Option<LayoutSlot>,
}

impl Search for FirstLayout<'_> {
    fn see(&mut self, message: Message<'_>) -> Result<(), OndiskError> {
        if message.kind == LAYOUT && self.slot.is_none() {
            self.slot = Some(self.slot_of(message)?);
        }
        Ok(())
    }

    fn is_over(&self) -> bool {
        self.slot.is_some()
    }
}

impl FirstLayout<'_> {
    fn slot_of(&self, message: Message<'_>) -> Result<LayoutSlot, OndiskError> {
        let Message { shared, address, body, block, .. } = message;
        let structure = Structure::Layout;
        if shared {
            return Err(OndiskError::Unsupported { structure, address, what: "a shared message" });
        }
        let invalid = |field, value| OndiskError::Invalid { structure, address, field, value };
        let slot = |version, stale, mappings| {
            let body = MessageBytes::new(block, address);
            LayoutSlot { body, version, stale, mappings }
        };
        match decode_layout(body, address, self.superblock)? {
            Layout::Virtual { mappings } => {
                Ok(slot(body.first().copied().unwrap_or(FIRST_VIRTUAL), 0, mappings))
            }
            // Its address and the shape of a chunk take more room than an id.
            Layout::Chunked { index: Some(index), .. } if !index.is_there() => {
                let id = 2 + self.superblock.offset_size.bytes() + size_of::<u32>();
                Ok(slot(FIRST_VIRTUAL, body.len().saturating_sub(id), None))
            }
            _ => {
                let class = body.get(1).copied().unwrap_or(0);
                Err(invalid("class of a layout without mappings", class.into()))
            }
        }
    }
}
