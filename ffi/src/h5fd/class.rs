//! `H5FD_class_t` and `H5FD_t` of every HDF5 that is supported; those of the -sys crate fit none.
//!
//! Fields have the names of C. HDF5 1.10.8 to 1.12 have them in `H5FDpublic.h`, 1.14 and newer in `H5FDdevelop.h`;
//! a test compares sizes and offsets with the headers of the HDF5 that is linked.

use hdf5_sys::h5::{haddr_t, herr_t, hsize_t};
use hdf5_sys::h5i::hid_t;
use libc::{c_char, c_int, c_uint, c_ulong, c_void};

/// `H5FD_mem_t`: what bytes of the file are for. An enum of C, and so an integer here.
pub(super) type Purpose = c_int;

/// `H5FD_MEM_NTYPES`.
const PURPOSES: usize = 7;

/// A callback that the driver does not have.
pub(super) type Absent = Option<unsafe extern "C" fn()>;

/// `H5FD_t`: what libhdf5 keeps about an open file of any driver, in front of what the driver keeps.
#[repr(C)]
pub(super) struct H5FD_t {
    driver_id: hid_t,
    cls: *const H5FD_class_t,
    fileno: c_ulong,
    access_flags: c_uint,
    feature_flags: c_ulong,
    maxaddr: haddr_t,
    base_addr: haddr_t,
    threshold: hsize_t,
    alignment: hsize_t,
    /// `bool`, one byte in every version; libhdf5 writes it.
    paged_aggr: u8,
}

impl H5FD_t {
    /// A file that libhdf5 has not filled in yet (`H5FD_open` does after the driver's `open`).
    pub(super) const fn blank() -> Self {
        Self {
            driver_id: 0,
            cls: std::ptr::null(),
            fileno: 0,
            access_flags: 0,
            feature_flags: 0,
            maxaddr: 0,
            base_addr: 0,
            threshold: 0,
            alignment: 0,
            paged_aggr: 0,
        }
    }
}

/// `H5FD_class_t`: a driver.
#[repr(C)]
pub(super) struct H5FD_class_t {
    #[cfg(hdf5_versioned_driver)]
    pub(super) version: c_uint,
    #[cfg(hdf5_versioned_driver)]
    pub(super) value: c_int,
    pub(super) name: *const c_char,
    pub(super) maxaddr: haddr_t,
    /// `H5F_close_degree_t`.
    pub(super) fc_degree: c_int,
    pub(super) terminate: Absent,
    pub(super) sb_size: Absent,
    pub(super) sb_encode: Absent,
    pub(super) sb_decode: Absent,
    pub(super) fapl_size: usize,
    pub(super) fapl_get: Absent,
    pub(super) fapl_copy: Absent,
    pub(super) fapl_free: Absent,
    pub(super) dxpl_size: usize,
    pub(super) dxpl_copy: Absent,
    pub(super) dxpl_free: Absent,
    pub(super) open:
        Option<unsafe extern "C" fn(*const c_char, c_uint, hid_t, haddr_t) -> *mut H5FD_t>,
    pub(super) close: Option<unsafe extern "C" fn(*mut H5FD_t) -> herr_t>,
    pub(super) cmp: Option<unsafe extern "C" fn(*const H5FD_t, *const H5FD_t) -> c_int>,
    pub(super) query: Option<unsafe extern "C" fn(*const H5FD_t, *mut c_ulong) -> herr_t>,
    pub(super) get_type_map: Absent,
    pub(super) alloc: Absent,
    pub(super) free: Absent,
    pub(super) get_eoa: Option<unsafe extern "C" fn(*const H5FD_t, Purpose) -> haddr_t>,
    pub(super) set_eoa: Option<unsafe extern "C" fn(*mut H5FD_t, Purpose, haddr_t) -> herr_t>,
    pub(super) get_eof: Option<unsafe extern "C" fn(*const H5FD_t, Purpose) -> haddr_t>,
    pub(super) get_handle: Absent,
    pub(super) read: Option<
        unsafe extern "C" fn(*mut H5FD_t, Purpose, hid_t, haddr_t, usize, *mut c_void) -> herr_t,
    >,
    pub(super) write: Option<
        unsafe extern "C" fn(*mut H5FD_t, Purpose, hid_t, haddr_t, usize, *const c_void) -> herr_t,
    >,
    #[cfg(hdf5_versioned_driver)]
    pub(super) read_vector: Absent,
    #[cfg(hdf5_versioned_driver)]
    pub(super) write_vector: Absent,
    #[cfg(hdf5_versioned_driver)]
    pub(super) read_selection: Absent,
    #[cfg(hdf5_versioned_driver)]
    pub(super) write_selection: Absent,
    pub(super) flush: Absent,
    /// The last argument is a `bool`.
    pub(super) truncate: Option<unsafe extern "C" fn(*mut H5FD_t, hid_t, u8) -> herr_t>,
    pub(super) lock: Absent,
    pub(super) unlock: Absent,
    #[cfg(hdf5_versioned_driver)]
    pub(super) del: Absent,
    #[cfg(hdf5_versioned_driver)]
    pub(super) ctl: Absent,
    pub(super) fl_map: [Purpose; PURPOSES],
}

/// `H5FD_FLMAP_DICHOTOMY`: raw data and global heaps share one list of free space, all else the other, as sec2 has it.
pub(super) const FREE_LISTS: [Purpose; PURPOSES] = {
    // H5FD_MEM_SUPER and H5FD_MEM_DRAW of H5Fpublic.h.
    let (metadata, raw) = (1, 3);
    [metadata, metadata, metadata, raw, raw, metadata, metadata]
};

unsafe extern "C" {
    pub(super) fn H5FDregister(class: *const H5FD_class_t) -> hid_t;
}

#[cfg(test)]
mod layout;
#[cfg(all(test, target_pointer_width = "64"))]
mod recorded;
