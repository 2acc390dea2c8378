//! Makes the objects of the format, as versioned-hdf5 makes them (format-v4.md).

use chrono::{DateTime, Utc};
use h5strata_ffi::h5s::UNLIMITED;
use h5strata_ffi::h5t::{ByteOrder, CharacterSet, Description, EnumMember, Member, TypeClass};
use h5strata_ffi::id::{DatasetCreation, Datatype, File, Group, Id, Object};
use h5strata_ffi::{Error, Lock, h5a, h5d, h5g, h5p, h5s, h5t};

use super::names::{
    CHUNKS, COMMITTED, CURRENT_VERSION, DATA_VERSION, FIRST_VERSION, LARGEST_INDEX,
    NEWEST_DATA_VERSION, PREV_VERSION, RAW_DATA, TIMESTAMP, VERSIONS, hash_table_path,
    raw_data_path,
};
use super::storage::{Fill, OPTIONAL};
use super::timestamp::format_stored;
use crate::codec::Filter;

/// Rows of a chunk of a hash table.
pub(super) const HASH_TABLE_CHUNK: u64 = 4096;

/// LZF with the parameters h5py gives it for a hash table: revision, version of the library, bytes of a chunk.
pub(super) const HASH_TABLE_FILTER: (u16, [u32; 3]) = (32000, [4, 261, 196_608]);

/// What a dataset's stored chunks are made of.
pub(super) struct StorageSettings<'s> {
    pub(super) datatype: &'s Datatype,
    pub(super) chunk_shape: &'s [u64],
    pub(super) filters: &'s [Filter],
    pub(super) fill: &'s Fill,
}

/// Writes the groups of a file without versions.
pub(super) fn initialise(lock: &Lock, file: &File) -> Result<(), Error> {
    let versions = h5g::create(lock, file, VERSIONS)?;
    let first = h5g::create(lock, &versions, FIRST_VERSION)?;
    write_text(lock, &versions, CURRENT_VERSION, FIRST_VERSION)?;
    write_text(lock, &first, TIMESTAMP, &format_stored(Utc::now()))?;
    write_integer(lock, &versions, ".", DATA_VERSION, NEWEST_DATA_VERSION)
}

/// Makes the group of a version that is not committed yet.
pub(super) fn create_version(
    lock: &Lock,
    versions: &Group,
    name: &str,
    parent: &str,
    timestamp: DateTime<Utc>,
) -> Result<Group, Error> {
    let group = h5g::create(lock, versions, name)?;
    write_text(lock, &group, PREV_VERSION, parent)?;
    write_boolean(lock, &group, COMMITTED, false)?;
    write_text(lock, &group, TIMESTAMP, &format_stored(timestamp))?;
    Ok(group)
}

/// Says that a version is whole.
pub(super) fn mark_committed(lock: &Lock, version: &Group) -> Result<(), Error> {
    write_boolean(lock, version, COMMITTED, true)
}

/// Says which version another one comes from.
pub(super) fn set_parent(lock: &Lock, version: &Group, parent: &str) -> Result<(), Error> {
    write_text(lock, version, PREV_VERSION, parent)
}

/// Makes a version the current one.
pub(super) fn set_current(lock: &Lock, versions: &Group, name: &str) -> Result<(), Error> {
    write_text(lock, versions, CURRENT_VERSION, name)
}

/// How datasets are made: without times, as h5py makes them, so that equal commits make equal files.
pub(super) fn dataset_creation(lock: &Lock) -> Result<DatasetCreation, Error> {
    let creation = h5p::dataset_creation(lock)?;
    h5p::set_no_times(lock, &creation)?;
    Ok(creation)
}

/// Makes the `raw_data` and the hash table of a dataset, both without a chunk.
pub(super) fn create_storage(
    lock: &Lock,
    file: &File,
    dataset: &str,
    settings: &StorageSettings<'_>,
) -> Result<h5d::Dataset, Error> {
    let creation = dataset_creation(lock)?;
    h5p::set_chunk(lock, &creation, settings.chunk_shape)?;
    for filter in settings.filters {
        h5p::add_filter(lock, &creation, &to_library(filter))?;
    }
    match settings.fill {
        Fill::Element(bytes) => h5p::set_fill_value(lock, &creation, settings.datatype, bytes)?,
        Fill::String(string) if !string.is_empty() => {
            h5p::set_fill_variable_string(lock, &creation, settings.datatype, string)?;
        }
        Fill::String(_) => {}
    }
    let (mut shape, mut most) = (settings.chunk_shape.to_vec(), settings.chunk_shape.to_vec());
    if let (Some(rows), Some(most_rows)) = (shape.first_mut(), most.first_mut()) {
        (*rows, *most_rows) = (0, UNLIMITED);
    }
    let space = h5s::growable(lock, &shape, &most)?;
    let path = raw_data_path(dataset);
    let raw_data = h5d::create(lock, file, &path, settings.datatype, &space, &creation)?;
    let datatype = h5t::create(lock, &integer(8, true))?;
    write_integers(lock, file, &path, CHUNKS, &datatype, settings.chunk_shape)?;
    create_hash_table(lock, file, dataset)?;
    Ok(raw_data)
}

/// A filter as libhdf5 is told of it.
fn to_library(filter: &Filter) -> h5p::Filter {
    h5p::Filter {
        id: filter.id.into(),
        flags: u32::from(filter.optional) * OPTIONAL,
        parameter_count: filter.params.len(),
        parameters: filter.params.clone(),
        name: filter.name.clone(),
    }
}

/// Makes a hash table without a row.
pub(super) fn create_hash_table(lock: &Lock, file: &File, dataset: &str) -> Result<(), Error> {
    let creation = dataset_creation(lock)?;
    h5p::set_chunk(lock, &creation, &[HASH_TABLE_CHUNK])?;
    let (id, parameters) = HASH_TABLE_FILTER;
    let filter = Filter { id, optional: true, params: parameters.to_vec(), name: String::new() };
    h5p::add_filter(lock, &creation, &to_library(&filter))?;
    let datatype = h5t::create(lock, &hash_row())?;
    let space = h5s::growable(lock, &[1], &[UNLIMITED])?;
    let path = hash_table_path(dataset);
    h5d::create(lock, file, &path, &datatype, &space, &creation)?;
    write_integer(lock, file, &path, LARGEST_INDEX, 0)
}

/// A row of a hash table: `{ "hash": u8[32], "shape": i64[2] }`.
pub(super) fn hash_row() -> Description {
    let array = |dims: u64, base: Description| {
        let size = base.size * usize::try_from(dims).unwrap_or(0);
        let class = TypeClass::Array { dims: vec![dims], base: Box::new(base) };
        Description { size, class }
    };
    let hash = array(32, integer(1, false));
    let shape = array(2, integer(8, true));
    let member = |name: &str, offset, datatype| Member { name: name.to_owned(), offset, datatype };
    let members = vec![member("hash", 0, hash), member("shape", 32, shape)];
    Description { size: 48, class: TypeClass::Compound { members } }
}

/// The types of the two attributes by which versioned-hdf5 knows a version's dataset.
pub(super) struct AttributeTypes {
    raw_data: Datatype,
    chunks: Datatype,
}

impl AttributeTypes {
    pub(super) fn new(lock: &Lock) -> Result<Self, Error> {
        let (raw_data, chunks) =
            (h5t::create(lock, &text())?, h5t::create(lock, &integer(8, true))?);
        Ok(Self { raw_data, chunks })
    }

    /// Writes the attributes.
    pub(super) fn write<O: Object>(
        &self,
        lock: &Lock,
        at: &Id<O>,
        raw_data: &str,
        chunk_shape: &[u64],
    ) -> Result<(), Error> {
        let (path, scalar) = (".", Some(&[][..]));
        h5a::write_variable_strings(lock, at, path, RAW_DATA, &self.raw_data, scalar, &[raw_data])?;
        write_integers(lock, at, path, CHUNKS, &self.chunks, chunk_shape)
    }
}

/// A text attribute of a group: one string of variable length.
fn write_text(lock: &Lock, group: &Group, name: &str, value: &str) -> Result<(), Error> {
    let datatype = h5t::create(lock, &text())?;
    h5a::write_variable_strings(lock, group, ".", name, &datatype, Some(&[]), &[value])
}

fn write_boolean(lock: &Lock, group: &Group, name: &str, value: bool) -> Result<(), Error> {
    let datatype = h5t::create(lock, &boolean())?;
    h5a::write(lock, group, ".", name, &datatype, Some(&[]), &[u8::from(value)])
}

/// A scalar attribute of a little-endian integer of 8 bytes.
pub(super) fn write_integer<O: Object>(
    lock: &Lock,
    at: &Id<O>,
    path: &str,
    name: &str,
    value: i64,
) -> Result<(), Error> {
    let datatype = h5t::create(lock, &integer(8, true))?;
    h5a::write(lock, at, path, name, &datatype, Some(&[]), &value.to_le_bytes())
}

fn write_integers<O: Object>(
    lock: &Lock,
    at: &Id<O>,
    path: &str,
    name: &str,
    datatype: &Datatype,
    values: &[u64],
) -> Result<(), Error> {
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    h5a::write(lock, at, path, name, datatype, Some(&[values.len() as u64]), &bytes)
}

/// The type of text that h5py writes and reads as `str`.
fn text() -> Description {
    let class = TypeClass::VariableString { charset: CharacterSet::Utf8 };
    Description { size: size_of::<usize>(), class }
}

fn integer(size: usize, signed: bool) -> Description {
    let order = ByteOrder::Little;
    let class = TypeClass::Integer { order, signed, precision: 8 * size, offset: 0 };
    Description { size, class }
}

/// h5py's boolean.
fn boolean() -> Description {
    let member = |name: &str, value| EnumMember { name: name.to_owned(), value: vec![value] };
    let members = vec![member("FALSE", 0), member("TRUE", 1)];
    let class = TypeClass::Enumeration { base: Box::new(integer(1, true)), members };
    Description { size: 1, class }
}
