//! The extent of a dataset's first axis, in the dataspace message of its object header (specification IV.A.2.b).

use super::super::message::decode_dataspace;
use super::super::object_header::{DATASPACE, Message, Search, search};
use super::super::{Dataspace, OndiskError, Structure, Superblock, WriteAt};
use super::block::MessageBytes;

/// Sets the extent of the first axis of the dataset whose object header is at `header`, in bytes relative to the base
/// address, from `before` to `after` elements. Nothing must be stored beyond `after`: unlike libhdf5
/// (`H5D__chunk_prune_by_extent`) this looks for no chunk there. libhdf5 must not have the file open.
///
/// # Errors
/// [`OndiskError::MissingMessage`] if there is no dataset; [`OndiskError::Invalid`] if it has another extent;
/// [`OndiskError::Unsupported`] where the message is shared; [`OndiskError::Write`]; else as
/// [`ObjectHeader::read`](super::super::ObjectHeader::read).
pub(crate) fn set_rows(
    file: &mut dyn WriteAt,
    header: u64,
    before: u64,
    after: u64,
) -> Result<(), OndiskError> {
    let superblock = Superblock::read(file)?;
    let mut first = FirstDataspace { superblock: &superblock, before, rows: None };
    search(file, &superblock, header, &mut first)?;
    let structure = Structure::Dataspace;
    let address = superblock.absolute(header, Structure::ObjectHeader)?;
    let rows = first.rows.ok_or(OndiskError::MissingMessage { structure, address })?;
    let width = superblock.length_size.bytes();
    if after.to_le_bytes()[width..].iter().any(|&byte| byte != 0) {
        let (address, what) = (rows.address(), "an extent beyond the size of lengths");
        return Err(OndiskError::Unsupported { structure, address, what });
    }
    rows.replace(file, after.to_le_bytes()[..width].to_vec(), structure)
}

/// The search for the extent of the first axis, which must be `before`.
struct FirstDataspace<'s> {
    superblock: &'s Superblock,
    before: u64,
    rows: Option<MessageBytes>,
}

impl Search for FirstDataspace<'_> {
    fn see(&mut self, message: Message<'_>) -> Result<(), OndiskError> {
        let Message { kind, shared, address, body, block } = message;
        if kind != DATASPACE || self.is_over() {
            return Ok(());
        }
        let structure = Structure::Dataspace;
        if shared {
            return Err(OndiskError::Unsupported { structure, address, what: "a shared message" });
        }
        let found = match decode_dataspace(body, address, self.superblock.length_size)? {
            Dataspace::Simple { shape, .. } => shape.first().copied(),
            _ => None,
        };
        if found != Some(self.before) {
            let (field, value) = ("extent of the first axis", found.unwrap_or(0));
            return Err(OndiskError::Invalid { structure, address, field, value });
        }
        self.rows = Some(MessageBytes::new(block, address.saturating_add(first_extent_at(body))));
        Ok(())
    }

    fn is_over(&self) -> bool {
        self.rows.is_some()
    }
}

/// Where the extent of the first axis stands in a dataspace message: behind version, rank, flags and type; in version 1
/// there are four reserved bytes more.
pub(super) fn first_extent_at(body: &[u8]) -> u64 {
    if body.first() == Some(&1) { 8 } else { 4 }
}
