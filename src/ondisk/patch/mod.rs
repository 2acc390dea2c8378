//! Giving mappings to virtual datasets that were made without any, in a file that libhdf5 has closed.
//!
//! Making a virtual dataset of many mappings through libhdf5 costs tens of microseconds a mapping. Made without mappings
//! it costs next to nothing, and what is missing is little:
//!
//! ```text
//! superblock            object header             end of allocation
//! end of file ────┐     layout message            GCOL: the lists
//!                 │     address, index ─────────► 1: list  2: list ...
//!                 └─────────────────────────────────────────────────── new end
//! ```
//!
//! Lists are put into global heap collections behind everything that is allocated, small ones together, each large one
//! alone, as libhdf5 would put them into new collections (`H5D__virtual_store_layout`, `H5HG_insert`). Nothing that
//! was written before is moved, so all that changes in old bytes are the layout messages (specification IV.A.2.i,
//! "Virtual") with the checksums of their headers, and the superblock's end of file, which is written last.
//!
//! The file must not be open in libhdf5, which would know neither the lists nor the new end.

mod block;
mod collection;
mod end_of_file;
mod extent;
mod hidden;
mod layout;
mod table;
#[cfg(test)]
mod tests;

use collection::Shared;
use end_of_file::EndOfFile;
pub(crate) use extent::set_rows;
pub(crate) use hidden::HiddenList;
use layout::LayoutSlot;
pub(crate) use table::TablePlace;

use super::{FieldWidth, GlobalHeapId, OndiskError, ReadAt, Structure, Superblock, WriteAt};

/// Gives mappings to virtual datasets that have none: [`place`](Self::place) for each, then [`finish`](Self::finish).
///
/// Until `finish` has written the superblock, the file is as it was for every reader except for layout messages that
/// lead behind its end: after an error, and without `finish`, what was written has to be undone.
#[derive(Debug)]
pub struct MapPatcher {
    superblock: Superblock,
    end: EndOfFile,
    shared: Shared,
}

impl MapPatcher {
    /// Looks whether a file is one that can be changed so. Nothing is written.
    ///
    /// # Errors
    /// [`OndiskError::Unsupported`] for files whose end is not simply the end of allocation: with pages or with free
    /// space that is kept (specification IV.A.2.x), with shared messages, with an image of the metadata cache, of several
    /// parts (driver information), not closed by its last writer (consistency flags), or with lengths of 2 bytes. [`OndiskError::Truncated`] where the file
    /// ends before its end of allocation. Else as [`Superblock::read`] and
    /// [`ObjectHeader::read`](super::ObjectHeader::read).
    pub fn begin(file: &dyn ReadAt) -> Result<Self, OndiskError> {
        let superblock = Superblock::read(file)?;
        if superblock.length_size == FieldWidth::Two {
            let (structure, address) = (Structure::Superblock, superblock.base_address);
            return Err(OndiskError::Unsupported { structure, address, what: "a size of lengths" });
        }
        let end = EndOfFile::read(file, &superblock)?;
        Ok(Self { superblock, end, shared: Shared::new(superblock.length_size) })
    }

    /// Width of a length in this file, in which lists are to be encoded.
    pub fn length_size(&self) -> FieldWidth {
        self.superblock.length_size
    }

    /// Gives a list of mappings to the virtual dataset whose object header is at `header`, in bytes relative to the
    /// base address.
    ///
    /// `list`: the whole heap object, as [`encode_list`](crate::chunk_map::vds_block::encode_list) makes it or as it
    /// was read for another dataset of this file; what is in it is not looked at. A large list is written at once, a
    /// small one at the latest by [`finish`](Self::finish).
    ///
    /// # Errors
    /// [`OndiskError::Invalid`] if the dataset is not virtual or has mappings already;
    /// [`OndiskError::MissingMessage`] if there is no dataset; [`OndiskError::Unsupported`] if the list or its address
    /// do not fit the file's widths; [`OndiskError::Write`]; else as [`ObjectHeader::read`](super::ObjectHeader::read).
    pub fn place(
        &mut self,
        file: &mut dyn WriteAt,
        header: u64,
        list: &[u8],
    ) -> Result<(), OndiskError> {
        let slot = LayoutSlot::find_empty(file, &self.superblock, header)?;
        if collection::is_large(list) {
            let size = collection::size_alone(list, self.superblock.length_size, slot.address())?;
            let (collection, absolute) = self.end.allocate(size, &self.superblock)?;
            collection::write_alone(file, absolute, list, self.superblock.length_size)?;
            return slot.fill(file, &self.superblock, GlobalHeapId { collection, index: 1 });
        }
        if !self.shared.has_room(list) {
            self.write_shared(file)?;
        }
        self.shared.add(list, slot);
        Ok(())
    }

    /// Writes what is left, and the end of the file at last. Returns the new end of the file, in absolute bytes.
    ///
    /// # Errors
    /// [`OndiskError::Unsupported`] if the end does not fit the file's widths; [`OndiskError::Write`].
    pub fn finish(mut self, file: &mut dyn WriteAt) -> Result<u64, OndiskError> {
        self.write_shared(file)?;
        self.end.write(file)?;
        self.superblock.absolute(self.end.relative(), Structure::Superblock)
    }

    fn write_shared(&mut self, file: &mut dyn WriteAt) -> Result<(), OndiskError> {
        let Some((bytes, slots)) = self.shared.take() else { return Ok(()) };
        let (collection, absolute) = self.end.allocate(bytes.len() as u64, &self.superblock)?;
        super::write_at::write(file, &bytes, absolute, Structure::HeapCollection)?;
        for (slot, index) in slots.into_iter().zip(1..) {
            slot.fill(file, &self.superblock, GlobalHeapId { collection, index })?;
        }
        Ok(())
    }
}
