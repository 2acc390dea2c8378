//! A new file, made through the crate itself.

use std::path::PathBuf;

use h5strata_ffi::h5t::{self, ByteOrder, CharacterSet, Description, TypeClass};
use h5strata_ffi::id::{DatasetCreation, Datatype, File};
use h5strata_ffi::{Lock, h5d, h5f, h5p, h5s, lock};
use tempfile::TempDir;

/// A file open for writing, in a directory that goes with it.
pub(crate) struct Fresh {
    pub(crate) file: File,
    pub(crate) path: PathBuf,
    pub(crate) lock: Lock,
    directory: TempDir,
}

impl Fresh {
    pub(crate) fn new() -> Self {
        let (lock, directory) = (lock(), TempDir::new().unwrap());
        let path = directory.path().join("new.h5");
        let access = h5p::file_access(&lock).unwrap();
        h5p::set_libver_bounds_earliest_to_v110(&lock, &access).unwrap();
        let file = h5f::create(&lock, &path, &access).unwrap();
        Self { file, path, lock, directory }
    }

    /// Closes the file and opens it for reading.
    pub(crate) fn read_only(self) -> Self {
        let Self { file, path, lock, directory } = self;
        drop(file);
        let file = h5f::open_read_only(&lock, &path, None).unwrap();
        Self { file, path, lock, directory }
    }

    pub(crate) fn open(&self, path: &str) -> h5d::Dataset {
        h5d::open(&self.lock, &self.file, path).unwrap()
    }

    /// Creates a dataset of these dimensions, which can grow to any.
    pub(crate) fn create(
        &self,
        path: &str,
        datatype: &Datatype,
        dims: &[u64],
        creation: &DatasetCreation,
    ) -> h5d::Dataset {
        let space = h5s::growable(&self.lock, dims, &vec![h5s::UNLIMITED; dims.len()]).unwrap();
        h5d::create(&self.lock, &self.file, path, datatype, &space, creation).unwrap()
    }

    /// A list for datasets in chunks of this shape.
    pub(crate) fn chunked(&self, shape: &[u64]) -> DatasetCreation {
        let creation = h5p::dataset_creation(&self.lock).unwrap();
        h5p::set_chunk(&self.lock, &creation, shape).unwrap();
        creation
    }

    /// The values of a dataset of native 32-bit integers.
    pub(crate) fn integers(&self, path: &str) -> Vec<i32> {
        let dataset = self.open(path);
        let datatype = h5d::datatype(&self.lock, &dataset).unwrap();
        let points = h5s::selected(&self.lock, &h5d::space(&self.lock, &dataset).unwrap()).unwrap();
        let reader = h5d::Reader::new(&self.lock, &dataset, datatype).unwrap();
        let mut bytes = vec![0; usize::try_from(points).unwrap() * reader.element_size()];
        reader.read(&self.lock, None, &mut bytes).unwrap();
        super::integers(&bytes)
    }
}

/// Native 32-bit integers.
pub(crate) fn i32_type(lock: &Lock) -> Datatype {
    let order = if cfg!(target_endian = "little") { ByteOrder::Little } else { ByteOrder::Big };
    let class = TypeClass::Integer { order, signed: true, precision: 32, offset: 0 };
    h5t::create(lock, &Description { size: 4, class }).unwrap()
}

/// Strings of variable length, in UTF-8.
pub(crate) fn variable_strings(lock: &Lock) -> Datatype {
    let class = TypeClass::VariableString { charset: CharacterSet::Utf8 };
    h5t::create(lock, &Description { size: size_of::<usize>(), class }).unwrap()
}

/// The bytes of native 32-bit integers.
pub(crate) fn bytes(values: &[i32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_ne_bytes()).collect()
}
