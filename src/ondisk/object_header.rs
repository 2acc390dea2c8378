//! Object headers, versions 1 and 2, with their continuation blocks (specification IV.A.1).

mod scan;

use super::message::{decode_dataspace, decode_layout};
use super::{Dataspace, Layout, OndiskError, ReadAt, Structure, Superblock};

pub(super) use scan::{Block, Message, Search, search};

/// Message types.
pub(super) const DATASPACE: u16 = 0x0001;
const DATATYPE: u16 = 0x0003;
pub(super) const LAYOUT: u16 = 0x0008;

/// The messages of a dataset's object header that are decoded here.
///
/// Blocks are read until all three messages are found. The checksums of all blocks that were read are checked.
#[derive(Clone, Debug)]
pub struct ObjectHeader {
    superblock: Superblock,
    address: u64,
    layout: Option<StoredMessage>,
    dataspace: Option<StoredMessage>,
    datatype: Option<DatatypeMessage>,
}

/// One message as it is stored.
#[derive(Clone, Debug)]
struct StoredMessage {
    /// Absolute address of the body.
    address: u64,
    shared: bool,
    body: Vec<u8>,
}

/// A datatype as it is stored (specification IV.A.2.d), or a reference to where it is shared.
#[derive(Clone, Debug)]
pub struct DatatypeMessage {
    shared: bool,
    body: Vec<u8>,
}

impl DatatypeMessage {
    /// Whether both messages of one file hold the same bytes and so the same type. Those that do not may hold
    /// one type in two ways.
    pub fn is_same(&self, other: &Self) -> bool {
        // Headers of version 1 pad messages with zeros; a datatype's own bytes say where it ends.
        let (one, two) = (&self.body, &other.body);
        let (short, long) = if one.len() <= two.len() { (one, two) } else { (two, one) };
        self.shared == other.shared
            && long.strip_prefix(short.as_slice()).is_some_and(|rest| rest.iter().all(|&b| b == 0))
    }
}

impl ObjectHeader {
    /// Reads the object header at `address`, in bytes relative to the base address, as `H5Oget_info` and
    /// `H5Lget_info` of HDF5 give it.
    ///
    /// # Errors
    /// [`OndiskError::Signature`] if there is no object header (or it was not flushed yet);
    /// [`OndiskError::Unsupported`] for a header above the limits of this reader or with a message that must be
    /// understood and is not; [`OndiskError::Version`], [`OndiskError::Checksum`], [`OndiskError::Invalid`],
    /// [`OndiskError::Truncated`] and [`OndiskError::Read`].
    pub fn read(
        file: &dyn ReadAt,
        superblock: &Superblock,
        address: u64,
    ) -> Result<Self, OndiskError> {
        let mut header = Self {
            superblock: *superblock,
            address: superblock.absolute(address, Structure::ObjectHeader)?,
            layout: None,
            dataspace: None,
            datatype: None,
        };
        search(file, superblock, address, &mut header)?;
        Ok(header)
    }

    /// Whether the object is a dataset, as `H5O__dset_isa` has it: with an extent and a type; and with a layout.
    pub fn is_dataset(&self) -> bool {
        self.is_over()
    }

    /// The dataset's layout.
    ///
    /// # Errors
    /// [`OndiskError::MissingMessage`] if the object is not a dataset; [`OndiskError::Unsupported`] if the
    /// message is shared; [`OndiskError::Version`], [`OndiskError::Invalid`], [`OndiskError::Truncated`].
    pub fn layout(&self) -> Result<Layout, OndiskError> {
        let message = self.message(self.layout.as_ref(), Structure::Layout)?;
        decode_layout(&message.body, message.address, &self.superblock)
    }

    /// The dataset's extent.
    ///
    /// # Errors
    /// As [`ObjectHeader::layout`].
    pub fn dataspace(&self) -> Result<Dataspace, OndiskError> {
        let message = self.message(self.dataspace.as_ref(), Structure::Dataspace)?;
        decode_dataspace(&message.body, message.address, self.superblock.length_size)
    }

    /// The type of the dataset's elements; `None` if the object is not a dataset.
    pub fn datatype(&self) -> Option<&DatatypeMessage> {
        self.datatype.as_ref()
    }

    fn message<'a>(
        &self,
        message: Option<&'a StoredMessage>,
        structure: Structure,
    ) -> Result<&'a StoredMessage, OndiskError> {
        let message =
            message.ok_or(OndiskError::MissingMessage { structure, address: self.address })?;
        if message.shared {
            let address = message.address;
            return Err(OndiskError::Unsupported { structure, address, what: "a shared message" });
        }
        Ok(message)
    }
}

impl Search for ObjectHeader {
    /// Keeps the first message of each wanted type, as `H5O_msg_read` does.
    fn see(&mut self, message: Message<'_>) -> Result<(), OndiskError> {
        let Message { kind, shared, address, body, .. } = message;
        let stored = || StoredMessage { address, shared, body: body.to_vec() };
        match kind {
            LAYOUT if self.layout.is_none() => self.layout = Some(stored()),
            DATASPACE if self.dataspace.is_none() => self.dataspace = Some(stored()),
            DATATYPE if self.datatype.is_none() => {
                self.datatype = Some(DatatypeMessage { shared, body: body.to_vec() });
            }
            _ => {}
        }
        Ok(())
    }

    fn is_over(&self) -> bool {
        self.layout.is_some() && self.dataspace.is_some() && self.datatype.is_some()
    }
}

#[cfg(test)]
mod tests;
