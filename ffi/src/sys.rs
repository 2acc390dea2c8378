//! Declarations of our own, where those of the -sys crate do not fit.
//!
//! 1. Functions and structs in which C has an enum whose value can come from a file. The -sys crate
//!    types them as Rust enums, and a value outside a Rust enum is undefined behaviour: a
//!    user-defined link class of 65, for one. Here they are `c_int`.
//!    Of `H5F_libver_t` the -sys crate does not know all values in every version.
//! 2. Functions the -sys crate does not declare at all.
//!
//! Sizes and offsets of the structs were taken with a C program from the headers of 1.10.8 and
//! 2.2.0 (x86-64) and are asserted below.

use std::mem::offset_of;

use hdf5_sys::h5::{haddr_t, herr_t, hsize_t};
use hdf5_sys::h5i::hid_t;
#[cfg(not(hdf5_tokens))]
use hdf5_sys::h5o::{H5O_hdr_info_t, H5O_info1_t__meta_size};
use libc::{c_char, c_int, c_uint, c_ulong, c_void, time_t};

/// `H5L_info_t` of HDF5 1.10: the union holds an address for hard links, else a size.
#[cfg(not(hdf5_tokens))]
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct LinkInfo {
    pub(crate) kind: c_int,
    pub(crate) has_order: u8,
    pub(crate) order: i64,
    pub(crate) charset: c_int,
    pub(crate) target: haddr_t,
}

/// `H5O_token_t`: what names an object since HDF5 1.12.
#[cfg(hdf5_tokens)]
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Token([u8; 16]);

/// `H5L_info2_t`: the union holds a token for hard links, else a size in its first bytes.
#[cfg(hdf5_tokens)]
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct LinkInfo {
    pub(crate) kind: c_int,
    pub(crate) has_order: u8,
    pub(crate) order: i64,
    pub(crate) charset: c_int,
    /// The union has a `size_t` as its other member, and its alignment.
    pub(crate) align: [usize; 0],
    pub(crate) target: Token,
}

/// `H5O_info_t` of HDF5 1.10.
#[cfg(not(hdf5_tokens))]
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct ObjectInfo {
    pub(crate) file_number: c_ulong,
    pub(crate) target: haddr_t,
    pub(crate) kind: c_int,
    pub(crate) references: c_uint,
    pub(crate) times: [time_t; 4],
    pub(crate) attributes: hsize_t,
    pub(crate) header: H5O_hdr_info_t,
    pub(crate) metadata: H5O_info1_t__meta_size,
}

/// `H5O_info2_t`.
#[cfg(hdf5_tokens)]
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct ObjectInfo {
    pub(crate) file_number: c_ulong,
    pub(crate) target: Token,
    pub(crate) kind: c_int,
    pub(crate) references: c_uint,
    pub(crate) times: [time_t; 4],
    pub(crate) attributes: hsize_t,
}

#[cfg(all(target_pointer_width = "64", not(hdf5_tokens)))]
const _: () = {
    assert!(size_of::<LinkInfo>() == 32 && offset_of!(LinkInfo, target) == 24);
    assert!(size_of::<ObjectInfo>() == 160 && offset_of!(ObjectInfo, target) == 8);
    assert!(offset_of!(ObjectInfo, kind) == 16 && offset_of!(ObjectInfo, attributes) == 56);
};

#[cfg(all(target_pointer_width = "64", hdf5_tokens))]
const _: () = {
    assert!(size_of::<LinkInfo>() == 40 && offset_of!(LinkInfo, target) == 24);
    assert!(size_of::<ObjectInfo>() == 72 && offset_of!(ObjectInfo, target) == 8);
    assert!(offset_of!(ObjectInfo, kind) == 24 && offset_of!(ObjectInfo, attributes) == 64);
};

unsafe extern "C" {
    pub(crate) fn H5Dget_chunk_storage_size(
        dataset: hid_t,
        offset: *const hsize_t,
        size: *mut hsize_t,
    ) -> herr_t;

    pub(crate) fn H5Pget_layout(plist: hid_t) -> c_int;
    pub(crate) fn H5Pset_libver_bounds(access: hid_t, low: c_int, high: c_int) -> herr_t;
    pub(crate) fn H5Pfill_value_defined(plist: hid_t, status: *mut c_int) -> herr_t;
    pub(crate) fn H5Sget_simple_extent_type(space: hid_t) -> c_int;
    pub(crate) fn H5Sget_select_type(space: hid_t) -> c_int;
    pub(crate) fn H5Tget_class(datatype: hid_t) -> c_int;
    pub(crate) fn H5Tget_order(datatype: hid_t) -> c_int;
    pub(crate) fn H5Tget_sign(datatype: hid_t) -> c_int;
    pub(crate) fn H5Tget_norm(datatype: hid_t) -> c_int;
    pub(crate) fn H5Tget_cset(datatype: hid_t) -> c_int;
    pub(crate) fn H5Tget_strpad(datatype: hid_t) -> c_int;

    #[cfg_attr(hdf5_tokens, link_name = "H5Lget_info2")]
    pub(crate) fn H5Lget_info(
        location: hid_t,
        name: *const c_char,
        info: *mut LinkInfo,
        access: hid_t,
    ) -> herr_t;

    #[cfg_attr(hdf5_tokens, link_name = "H5Literate2")]
    pub(crate) fn H5Literate(
        group: hid_t,
        index: c_int,
        order: c_int,
        position: *mut hsize_t,
        visit: Option<
            unsafe extern "C" fn(hid_t, *const c_char, *const LinkInfo, *mut c_void) -> herr_t,
        >,
        data: *mut c_void,
    ) -> herr_t;

    #[cfg_attr(hdf5_tokens, link_name = "H5Oget_info_by_name3")]
    #[cfg_attr(not(hdf5_tokens), link_name = "H5Oget_info_by_name2")]
    pub(crate) fn H5Oget_info_by_name(
        location: hid_t,
        name: *const c_char,
        info: *mut ObjectInfo,
        fields: c_uint,
        access: hid_t,
    ) -> herr_t;

    #[cfg(hdf5_tokens)]
    pub(crate) fn H5VLnative_token_to_addr(
        location: hid_t,
        token: Token,
        address: *mut haddr_t,
    ) -> herr_t;

    #[cfg(hdf5_tokens)]
    pub(crate) fn H5VLnative_addr_to_token(
        location: hid_t,
        address: haddr_t,
        token: *mut Token,
    ) -> herr_t;

    #[cfg(hdf5_tokens)]
    pub(crate) fn H5Oopen_by_token(location: hid_t, token: Token) -> hid_t;

    pub(crate) fn H5Iget_type(id: hid_t) -> c_int;

    #[cfg(not(hdf5_2_0))]
    pub(crate) fn H5FD_sec2_init() -> hid_t;
}
