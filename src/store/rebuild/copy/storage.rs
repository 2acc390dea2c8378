//! The `raw_data` and the hash table of the new file, as those of the old one were made.

use h5strata_ffi::id::{DatasetCreation, Datatype};
use h5strata_ffi::{Lock, h5d, h5p, h5s, h5t};

use super::super::super::error::{Error, PlainFault};
use super::super::super::layout;
use super::super::super::names::{hash_table_path, raw_data_path};
use super::super::super::storage::{Fill, filter};
use super::super::attributes;
use super::super::carry::Context;
use super::super::target::Target;
use super::super::uses::Source;

/// Makes both, with room for so many chunks; returns the type of the elements.
pub(super) fn create(
    context: &Context<'_>,
    source: &Source,
    chunks: u64,
    target: &mut Target<'_>,
) -> Result<Datatype, Error> {
    let (inner, storage) = (&context.file.inner, &source.storage);
    let path = raw_data_path(&source.path);
    let session = inner.session().map_err(inner.library(&path))?;
    let (lock, old) = (session.lock(), &session.file);
    let new = target.file(lock)?;
    let create = || -> Result<(h5d::Dataset, Datatype), h5strata_ffi::Error> {
        let raw_data = h5d::open(lock, old, &path)?;
        let datatype = h5t::copy_portable(lock, &h5d::datatype(lock, &raw_data)?)?;
        let creation = h5d::creation(lock, &raw_data)?;
        // That of the old file counts the bytes of an element, which of strings are others where addresses are wider.
        h5p::set_chunk(lock, &creation, storage.raw.chunk_shape())?;
        if let Fill::String(string) = &storage.fill {
            // That of the old file leads into its heap.
            set_fill(lock, &creation, &datatype, string)?;
        }
        let mut shape = storage.raw.chunk_shape().to_vec();
        let mut most = shape.clone();
        if let (Some(rows), Some(most_rows)) = (shape.first_mut(), most.first_mut()) {
            (*rows, *most_rows) = (rows.saturating_mul(chunks), h5s::UNLIMITED);
        }
        let space = h5s::growable(lock, &shape, &most)?;
        Ok((h5d::create(lock, new, &path, &datatype, &space, &creation)?, datatype))
    };
    let (created, datatype) = create().map_err(inner.library(&path))?;
    // libhdf5 leaves out optional filters that it cannot apply: chunks would be read without them.
    let made = || -> Result<Vec<u16>, h5strata_ffi::Error> {
        let creation = h5d::creation(lock, &created)?;
        let count = h5p::filter_count(lock, &creation)?;
        (0..count).map(|index| Ok(filter(h5p::filter(lock, &creation, index)?).id)).collect()
    };
    let made = made().map_err(inner.library(&path))?;
    let wanted = storage.raw.pipeline().filters();
    if let Some((_, missing)) =
        wanted.iter().enumerate().find(|(index, wanted)| made.get(*index) != Some(&wanted.id))
    {
        return Err(Error::PlainDataset {
            file: inner.path.clone(),
            dataset: source.path.clone(),
            fault: PlainFault::Filter { filter: missing.display_name().to_string() },
        });
    }
    drop(created);
    let table = hash_table_path(&source.path);
    layout::create_hash_table(lock, new, &source.path).map_err(inner.library(&table))?;
    attributes::copy_of_storage(inner, lock, old, new, &source.path, &[])?;
    Ok(datatype)
}

/// Sets what strings are where nothing was written, unless that is nothing: h5repack makes files that cannot be read of
/// those that have a fill value for strings at all.
fn set_fill(
    lock: &Lock,
    creation: &DatasetCreation,
    datatype: &Datatype,
    string: &[u8],
) -> Result<(), h5strata_ffi::Error> {
    if string.is_empty() {
        return Ok(());
    }
    h5p::set_fill_variable_string(lock, creation, datatype, string)
}
