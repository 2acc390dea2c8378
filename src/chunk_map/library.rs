//! The list of mappings as libhdf5 tells it: the fallback, and in tests the oracle.

use h5strata_ffi::h5p::{self, Mapping};
use h5strata_ffi::{Lock, h5d, h5s};

use super::builder::fault;
use super::error::{MapError, MappingFault};
use crate::dims::Dims;

/// One mapping of a block of elements to an equal block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LibraryMapping {
    pub(super) source_file: String,
    pub(super) source_dataset: String,
    pub(super) source_start: Dims,
    pub(super) virtual_start: Dims,
    pub(super) extent: Dims,
}

/// Lists the mappings of an open virtual dataset (`H5Pget_virtual_vspace` and its kin).
pub(super) fn list(lock: &Lock, dataset: &h5d::Dataset) -> Result<Vec<LibraryMapping>, MapError> {
    let creation = h5d::creation(lock, dataset)?;
    let layout = match h5p::layout(lock, &creation)? {
        h5p::Layout::Virtual => {
            let count = h5p::mapping_count(lock, &creation)?;
            return (0..count).map(|index| plain(h5p::mapping(lock, &creation, index)?)).collect();
        }
        // Older writers left an empty dataset as a plain one whose data were never stored.
        h5p::Layout::Contiguous if h5d::storage_size(lock, dataset) == 0 => return Ok(Vec::new()),
        h5p::Layout::Contiguous => "contiguous",
        h5p::Layout::Compact => "compact",
        h5p::Layout::Chunked => "chunked",
    };
    Err(MapError::NotVirtual { found: layout })
}

fn plain(mapping: Mapping) -> Result<LibraryMapping, MapError> {
    let target = block(&mapping.target);
    let start = target.as_ref().map(|(start, _)| start.clone()).unwrap_or_default();
    let (Some((virtual_start, extent)), Some((source_start, source_extent))) =
        (target, block(&mapping.source))
    else {
        return Err(fault(&start, MappingFault::NotABlock));
    };
    if source_extent != extent {
        return Err(fault(&start, MappingFault::NotABlock));
    }
    let Mapping { source_file, source_dataset, .. } = mapping;
    Ok(LibraryMapping { source_file, source_dataset, source_start, virtual_start, extent })
}

/// Start and extent of a selection that is one block, however it was made.
fn block(selection: &h5s::Selection) -> Option<(Dims, Dims)> {
    let h5s::Selection::Regular(slab) = selection else { return None };
    let mut extent = Dims::new();
    for ((&stride, &count), &block) in slab.stride.iter().zip(&*slab.count).zip(&*slab.block) {
        if count > 1 && stride != block {
            return None;
        }
        extent.push(count.checked_mul(block)?);
    }
    Some((Dims::from_slice(&slab.start), extent))
}
