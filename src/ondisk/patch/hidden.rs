use super::layout::LayoutSlot;
use crate::ondisk::{GlobalHeapId, OndiskError, Superblock, WriteAt};

/// The mappings of a virtual dataset that were taken away for a while, so that libhdf5 copies it without them.
#[derive(Debug)]
pub(crate) struct HiddenList {
    header: u64,
    mappings: GlobalHeapId,
}

impl HiddenList {
    /// Takes its mappings from the dataset whose object header is at `header`, in bytes relative to the base address;
    /// `None` if it has none. libhdf5 must not have the file open.
    ///
    /// # Errors
    /// As [`MapPatcher::place`](super::MapPatcher::place).
    pub(crate) fn hide(
        file: &mut dyn WriteAt,
        superblock: &Superblock,
        header: u64,
    ) -> Result<Option<Self>, OndiskError> {
        let slot = LayoutSlot::find(file, superblock, header)?;
        let Some(mappings) = slot.mappings() else { return Ok(None) };
        let undefined = superblock.offset_size.all_ones();
        slot.fill(file, superblock, GlobalHeapId { collection: undefined, index: 0 })?;
        Ok(Some(Self { header, mappings }))
    }

    /// Gives them back. libhdf5 must have closed the file.
    ///
    /// # Errors
    /// As [`hide`](Self::hide).
    pub(crate) fn restore(
        self,
        file: &mut dyn WriteAt,
        superblock: &Superblock,
    ) -> Result<(), OndiskError> {
        LayoutSlot::find_empty(file, superblock, self.header)?.fill(file, superblock, self.mappings)
    }
}
