//! Thin wrappers over libhdf5 that are safe to call.
//!
//! The only crate that calls libhdf5. One module a letter of its API, with only what is called; a
//! function here is a C function with its checks: ids are owned and of one kind, lengths are
//! checked before C gets a pointer, failures are data, nothing unwinds into C. What to do with them
//! is for other crates.
//!
//! - [`lock()`] gives the [`Lock`] that every call borrows: libhdf5 is used by one thread at a time.
//! - [`id`]: owned ids. [`error`]: the H5E error stack. [`os`]: advice to the kernel, locks of bytes.
//! - [`h5fd`]: a file driver whose bytes the caller reads and writes.
//!
//! # What is called, and since which HDF5 it is there
//!
//! HDF5 1.10.8 is the oldest supported. What came later has its cfg, set by `build.rs` alone.
//!
//! | module | C functions | HDF5 |
//! |---|---|---|
//! | [`h5`] | `H5open`, `H5get_libversion`, `H5set_free_list_limits`, `H5allocate_memory`, `H5free_memory` | 1.10.8 |
//! | [`h5a`] | `H5Aopen_by_name`, `H5Aexists_by_name`, `H5Aget_name_by_idx`, `H5Aget_type`, `H5Aget_space`, `H5Aread`, `H5Acreate_by_name`, `H5Awrite`, `H5Adelete_by_name`, `H5Aclose` | 1.10.8 |
//! | [`h5d`] | `H5Dopen2`, `H5Dget_type`, `H5Dget_space`, `H5Dget_create_plist`, `H5Dget_storage_size`, `H5Dread`, `H5Dcreate2`, `H5Dset_extent`, `H5Dwrite`, `H5Dwrite_chunk`, `H5Dclose` | 1.10.8 |
//! | | `H5Dget_num_chunks`, `H5Dget_chunk_storage_size`, `H5Dget_chunk_info_by_coord` | 1.10.8 |
//! | | `H5Dread_chunk` | 1.10.8; `H5Dread_chunk2` from 2.0 |
//! | | `H5Dchunk_iter` | 1.14 |
//! | [`h5f`] | `H5Fopen`, `H5Fcreate`, `H5Fflush`, `H5Fget_create_plist`, `H5Fget_access_plist`, `H5Fget_filesize`, `H5Fget_vfd_handle`, `H5Fclose` | 1.10.8 |
//! | | `H5Fget_intent`, `H5Iget_file_id` | 1.10.8 |
//! | | `H5FD_sec2_init` | up to 1.14; `H5FD_SEC2_id_g` from 2.0 |
//! | | `H5Fis_hdf5` | 1.10.8; `H5Fis_accessible` from 1.12 |
//! | [`h5fd`] | `H5FDregister`; `H5Fopen`, `H5Fcreate`, `H5Pcopy`, `H5Pset_driver`, `H5Pget_driver_info` | 1.10.8; a larger `H5FD_class_t` from 1.14 |
//! | [`h5g`] | `H5Gopen2`, `H5Gcreate2`, `H5Gclose` | 1.10.8 |
//! | [`h5l`] | `H5Lexists`, `H5Ldelete`, `H5Lcopy` | 1.10.8 |
//! | | `H5Lget_info`, `H5Literate` | 1.10.8; `H5Lget_info2`, `H5Literate2` from 1.12 |
//! | [`h5o`] | `H5Ocopy`, `H5Oclose`, `H5Iget_type` | 1.10.8 |
//! | | `H5Oopen_by_addr` | 1.10.8; `H5VLnative_addr_to_token`, `H5Oopen_by_token` from 1.12 |
//! | | `H5Oget_info_by_name2` | 1.10.8; `H5Oget_info_by_name3`, `H5VLnative_token_to_addr` from 1.12 |
//! | [`h5p`] | `H5Pcreate`, `H5Pget_cache`, `H5Pset_cache`, `H5Pset_sieve_buf_size`, `H5Pget_userblock`, `H5Pget_driver`, `H5Pclose` | 1.10.8 |
//! | | `H5Pget_layout`, `H5Pget_chunk`, `H5Pget_nfilters`, `H5Pget_filter2`, `H5Pfill_value_defined`, `H5Pget_fill_value` | 1.10.8 |
//! | | `H5Pget_virtual_count`, `_vspace`, `_srcspace`, `_filename`, `_dsetname` | 1.10.8 |
//! | | `H5Pset_libver_bounds`, `H5Pset_create_intermediate_group`, `H5Pset_char_encoding` | 1.10.8 |
//! | | `H5Pset_userblock`, `H5Pset_chunk`, `H5Pset_filter`, `H5Pset_fill_value`, `H5Pset_obj_track_times`, `H5Pset_layout`, `H5Pset_virtual` | 1.10.8 |
//! | [`h5s`] | `H5Screate`, `H5Screate_simple`, `H5Sget_simple_extent_type`, `_ndims`, `_dims`, `H5Sselect_hyperslab`, `H5Sselect_all`, `H5Sget_select_npoints`, `H5Sget_select_type`, `H5Sis_regular_hyperslab`, `H5Sget_regular_hyperslab`, `H5Sclose` | 1.10.8 |
//! | [`h5t`] | `H5Tget_class`, `_size`, `_order`, `_precision`, `_offset`, `_sign`, `_fields`, `_ebias`, `_norm`, `_cset`, `_strpad`, `_tag`, `_nmembers`, `_member_name`, `_member_offset`, `_member_type`, `_member_value`, `_array_ndims`, `_array_dims2`, `_super`, `H5Tis_variable_str`, `H5Tequal`, `H5Tclose` | 1.10.8 |
//! | | `H5Tcopy`, `H5Tcreate`, `H5Tset_size`, `_order`, `_precision`, `_offset`, `_fields`, `_ebias`, `_norm`, `_cset`, `_strpad`, `_tag`, `H5Tinsert`, `H5Tenum_create`, `H5Tenum_insert`, `H5Tarray_create2` | 1.10.8 |
//! | | `H5Tcomplex_create` | 2.0 |
//! | | `H5Dvlen_reclaim` | 1.10.8; `H5Treclaim` from 1.12 |
//! | [`h5z`] | `H5Zfilter_avail`, `H5Zregister` | 1.10.8 |
//! | [`error`] | `H5Eset_auto2`, `H5Ewalk2`, `H5Eget_msg` | 1.10.8 |

#[cfg(all(feature = "static", feature = "system"))]
compile_error!("choose one of the features `static` and `system`: both are on");
#[cfg(not(any(feature = "static", feature = "system")))]
compile_error!("choose one of the features `static` and `system`: neither is on");

pub mod error;
pub mod h5;
pub mod h5a;
pub mod h5d;
pub mod h5f;
pub mod h5fd;
pub mod h5g;
pub mod h5l;
pub mod h5o;
pub mod h5p;
pub mod h5s;
pub mod h5t;
pub mod h5z;
pub mod id;
mod lock;
mod memory;
pub mod os;
mod strings;
mod sys;
mod text;

pub use self::error::Error;
pub use self::lock::{Lock, lock};
