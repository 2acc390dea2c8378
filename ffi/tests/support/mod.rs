//! Makes HDF5 files for the tests, through libhdf5 itself.
#![allow(dead_code, reason = "each test binary uses its own part")]
#![allow(clippy::unwrap_used, reason = "a file that cannot be made fails the test")]

pub(crate) mod fresh;
pub(crate) mod storage;

use std::ffi::CString;
use std::path::{Path, PathBuf};
use std::ptr;

use h5strata_ffi::id::File;
use h5strata_ffi::{Lock, h5f, lock};
use hdf5_sys::h5i::hid_t;
use hdf5_sys::{h5a, h5d, h5f as sys_h5f, h5g, h5l, h5p, h5s, h5t};
use tempfile::TempDir;

/// A file being written, in a directory of its own that goes with it.
pub(crate) struct Writer {
    pub(crate) lock: Lock,
    directory: TempDir,
    file: hid_t,
}

/// What a dataset is created with.
#[derive(Default)]
pub(crate) struct Options<'a> {
    pub(crate) chunk: Option<&'a [u64]>,
    pub(crate) max_dims: Option<&'a [u64]>,
    pub(crate) deflate: bool,
    pub(crate) filter: Option<(i32, &'a [u32])>,
    pub(crate) fill: Option<i32>,
    /// Only this many of the elements along the first axis are written.
    pub(crate) rows: Option<u64>,
}

/// One mapping of a virtual dataset of the same file: one block.
pub(crate) struct Block<'a> {
    pub(crate) source: &'a str,
    pub(crate) source_start: &'a [u64],
    pub(crate) start: &'a [u64],
    pub(crate) block: &'a [u64],
}

pub(crate) fn c(text: &str) -> CString {
    CString::new(text).unwrap()
}

/// Asserts that a call worked, and passes on what it returned.
pub(crate) fn ok<T: PartialOrd + Default + Copy + std::fmt::Debug>(value: T) -> T {
    assert!(value >= T::default(), "a call of the test's writer failed: {value:?}");
    value
}

impl Writer {
    pub(crate) fn new() -> Self {
        Self::with_user_block(0)
    }

    pub(crate) fn with_user_block(bytes: u64) -> Self {
        let (lock, directory) = (lock(), TempDir::new().unwrap());
        let path = c(directory.path().join("test.h5").to_str().unwrap());
        // SAFETY: the lock is held; the ids are fresh, the path ends in a zero byte.
        let file = unsafe {
            let creation = ok(h5p::H5Pcreate(*h5p::H5P_CLS_FILE_CREATE));
            ok(h5p::H5Pset_userblock(creation, bytes));
            let file = ok(sys_h5f::H5Fcreate(
                path.as_ptr(),
                sys_h5f::H5F_ACC_TRUNC,
                creation,
                h5p::H5P_DEFAULT,
            ));
            ok(h5p::H5Pclose(creation));
            file
        };
        Self { lock, directory, file }
    }

    pub(crate) fn group(&self, path: &str) {
        let path = c(path);
        let default = h5p::H5P_DEFAULT;
        // SAFETY: the lock is held; the file is open, the path ends in a zero byte.
        unsafe {
            let group = ok(h5g::H5Gcreate2(self.file, path.as_ptr(), default, default, default));
            ok(h5g::H5Gclose(group));
        }
    }

    pub(crate) fn soft_link(&self, path: &str, target: &str) {
        let (path, target, default) = (c(path), c(target), h5p::H5P_DEFAULT);
        // SAFETY: the lock is held; the file is open, the paths end in a zero byte.
        ok(unsafe {
            h5l::H5Lcreate_soft(target.as_ptr(), self.file, path.as_ptr(), default, default)
        });
    }

    pub(crate) fn external_link(&self, path: &str, file: &str, target: &str) {
        let (path, file, target, default) = (c(path), c(file), c(target), h5p::H5P_DEFAULT);
        // SAFETY: the lock is held; the file is open, the names end in a zero byte.
        ok(unsafe {
            h5l::H5Lcreate_external(
                file.as_ptr(),
                target.as_ptr(),
                self.file,
                path.as_ptr(),
                default,
                default,
            )
        });
    }

    /// A dataset of native 32-bit integers that count up from 0 in C order.
    pub(crate) fn counting(&self, path: &str, dims: &[u64], options: &Options<'_>) {
        let path = c(path);
        let default = h5p::H5P_DEFAULT;
        let rank = i32::try_from(dims.len()).unwrap();
        let count: u64 = dims.iter().product();
        let values: Vec<i32> = (0..i32::try_from(count).unwrap()).collect();
        // SAFETY: the lock is held; all ids are fresh, all arrays have `rank` numbers, and `values`
        // has an element for each of the dataset.
        unsafe {
            let datatype = *h5t::H5T_NATIVE_INT;
            let max_dims = options.max_dims.map_or(ptr::null(), <[u64]>::as_ptr);
            let space = ok(h5s::H5Screate_simple(rank, dims.as_ptr(), max_dims));
            let creation = ok(h5p::H5Pcreate(*h5p::H5P_CLS_DATASET_CREATE));
            if let Some(chunk) = options.chunk {
                ok(h5p::H5Pset_chunk(creation, rank, chunk.as_ptr()));
            }
            if options.deflate {
                ok(h5p::H5Pset_shuffle(creation));
                ok(h5p::H5Pset_deflate(creation, 4));
            }
            if let Some((id, parameters)) = options.filter {
                ok(h5p::H5Pset_filter(creation, id, 0, parameters.len(), parameters.as_ptr()));
            }
            if let Some(fill) = options.fill {
                ok(h5p::H5Pset_fill_value(creation, datatype, (&raw const fill).cast()));
            }
            let dataset = ok(h5d::H5Dcreate2(
                self.file,
                path.as_ptr(),
                datatype,
                space,
                default,
                creation,
                default,
            ));
            if let Some(rows) = options.rows {
                let mut part = dims.to_vec();
                part[0] = rows;
                let start = vec![0; dims.len()];
                ok(h5s::H5Sselect_hyperslab(
                    space,
                    h5s::H5S_SELECT_SET,
                    start.as_ptr(),
                    ptr::null(),
                    part.as_ptr(),
                    ptr::null(),
                ));
            }
            ok(h5d::H5Dwrite(dataset, datatype, space, space, default, values.as_ptr().cast()));
            ok(h5d::H5Dclose(dataset));
            ok(h5p::H5Pclose(creation));
            ok(h5s::H5Sclose(space));
        }
    }

    /// A virtual dataset of native integers.
    pub(crate) fn virtual_dataset(
        &self,
        path: &str,
        dims: &[u64],
        source_dims: &[u64],
        mappings: &[Block<'_>],
    ) {
        let path = c(path);
        let (here, default) = (c("."), h5p::H5P_DEFAULT);
        let rank = i32::try_from(dims.len()).unwrap();
        // SAFETY: the lock is held; all ids are fresh and all arrays have `rank` numbers.
        unsafe {
            let creation = ok(h5p::H5Pcreate(*h5p::H5P_CLS_DATASET_CREATE));
            for Block { source, source_start, start, block } in mappings {
                let name = c(source);
                let select = |dims: &[u64], start: &[u64]| {
                    let space = ok(h5s::H5Screate_simple(rank, dims.as_ptr(), ptr::null()));
                    let ones = vec![1_u64; dims.len()];
                    ok(h5s::H5Sselect_hyperslab(
                        space,
                        h5s::H5S_SELECT_SET,
                        start.as_ptr(),
                        ptr::null(),
                        ones.as_ptr(),
                        block.as_ptr(),
                    ));
                    space
                };
                let (target, source) = (select(dims, start), select(source_dims, source_start));
                ok(h5p::H5Pset_virtual(creation, target, here.as_ptr(), name.as_ptr(), source));
                ok(h5s::H5Sclose(target));
                ok(h5s::H5Sclose(source));
            }
            let space = ok(h5s::H5Screate_simple(rank, dims.as_ptr(), ptr::null()));
            let dataset = ok(h5d::H5Dcreate2(
                self.file,
                path.as_ptr(),
                *h5t::H5T_NATIVE_INT,
                space,
                default,
                creation,
                default,
            ));
            ok(h5d::H5Dclose(dataset));
            ok(h5s::H5Sclose(space));
            ok(h5p::H5Pclose(creation));
        }
    }

    /// Variable-length UTF-8 strings, as a dataset at `path` or as its attribute `attribute`.
    pub(crate) fn strings(&self, path: &str, attribute: Option<&str>, values: &[&str]) {
        let owned: Vec<CString> = values.iter().map(|value| c(value)).collect();
        let pointers: Vec<_> = owned.iter().map(|value| value.as_ptr()).collect();
        let count = u64::try_from(values.len()).unwrap();
        // SAFETY: the lock is held; the type is a fresh copy.
        let datatype = unsafe {
            let datatype = ok(h5t::H5Tcopy(*h5t::H5T_C_S1));
            ok(h5t::H5Tset_size(datatype, h5t::H5T_VARIABLE));
            ok(h5t::H5Tset_cset(datatype, h5t::H5T_cset_t::H5T_CSET_UTF8));
            datatype
        };
        self.elements(path, attribute, datatype, Some(count), pointers.as_ptr().cast());
        // SAFETY: the lock is held; the type is ours and not used again.
        ok(unsafe { h5t::H5Tclose(datatype) });
    }

    /// Stores a datatype under a name.
    pub(crate) fn name_type(&self, path: &str, datatype: hid_t) {
        let (path, default) = (c(path), h5p::H5P_DEFAULT);
        // SAFETY: the lock is held; the file is open, the path ends in a zero byte.
        ok(unsafe {
            h5t::H5Tcommit2(self.file, path.as_ptr(), datatype, default, default, default)
        });
    }

    /// Bytes of elements of any type, as a dataset at `path` or as its attribute `attribute`; no
    /// count stands for a scalar.
    pub(crate) fn bytes(
        &self,
        path: &str,
        attribute: Option<&str>,
        datatype: hid_t,
        count: Option<u64>,
        bytes: &[u8],
    ) {
        // SAFETY: the lock is held; the type is the caller's.
        let size = unsafe { h5t::H5Tget_size(datatype) };
        assert_eq!(bytes.len(), size * usize::try_from(count.unwrap_or(1)).unwrap());
        self.elements(path, attribute, datatype, count, bytes.as_ptr().cast());
    }

    fn elements(
        &self,
        path: &str,
        attribute: Option<&str>,
        datatype: hid_t,
        count: Option<u64>,
        values: *const libc::c_void,
    ) {
        let (path, default) = (c(path), h5p::H5P_DEFAULT);
        // SAFETY: the lock is held; all ids are fresh or the caller's, all names end in a zero
        // byte, and the callers pass a value for each element.
        unsafe {
            let space = match count {
                Some(count) => ok(h5s::H5Screate_simple(1, &count, ptr::null())),
                None => ok(h5s::H5Screate(h5s::H5S_class_t::H5S_SCALAR)),
            };
            match attribute {
                Some(name) => {
                    let name = c(name);
                    let attribute = ok(h5a::H5Acreate_by_name(
                        self.file,
                        path.as_ptr(),
                        name.as_ptr(),
                        datatype,
                        space,
                        default,
                        default,
                        default,
                    ));
                    ok(h5a::H5Awrite(attribute, datatype, values));
                    ok(h5a::H5Aclose(attribute));
                }
                None => {
                    let dataset = ok(h5d::H5Dcreate2(
                        self.file,
                        path.as_ptr(),
                        datatype,
                        space,
                        default,
                        default,
                        default,
                    ));
                    ok(h5d::H5Dwrite(dataset, datatype, space, space, default, values));
                    ok(h5d::H5Dclose(dataset));
                }
            }
            ok(h5s::H5Sclose(space));
        }
    }

    /// Closes the file for writing and opens it for reading.
    pub(crate) fn finish(self) -> Written {
        let path = self.directory.path().join("test.h5");
        // SAFETY: the lock is held; the file is ours and not used again.
        ok(unsafe { sys_h5f::H5Fclose(self.file) });
        let file = h5f::open_read_only(&self.lock, &path, None).unwrap();
        Written { file, path, lock: self.lock, _directory: self.directory }
    }
}

/// A file that was written, open for reading.
pub(crate) struct Written {
    pub(crate) file: File,
    pub(crate) path: PathBuf,
    pub(crate) lock: Lock,
    _directory: TempDir,
}

impl Written {
    /// The bytes of the file.
    pub(crate) fn contents(&self) -> Vec<u8> {
        std::fs::read(&self.path).unwrap()
    }
}

/// The native integers in a buffer.
pub(crate) fn integers(bytes: &[u8]) -> Vec<i32> {
    bytes.chunks_exact(4).map(|four| i32::from_ne_bytes(four.try_into().unwrap())).collect()
}

/// Number of ids of every kind that libhdf5 has open in files.
pub(crate) fn open_objects(_lock: &Lock) -> isize {
    let every_file = hid_t::from(sys_h5f::H5F_OBJ_ALL);
    // SAFETY: the lock is held; H5F_OBJ_ALL in place of a file stands for all files.
    ok(unsafe { sys_h5f::H5Fget_obj_count(every_file, sys_h5f::H5F_OBJ_ALL) })
}

/// Where `needle` is a file of its own kind: a path next to `path`.
pub(crate) fn beside(path: &Path, name: &str) -> PathBuf {
    path.with_file_name(name)
}
