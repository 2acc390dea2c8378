//! Turns the version of the linked HDF5 into cfgs, in this one place.
//!
//! The build script of the -sys crate publishes one `version_X_Y_Z` key for every release that the
//! library is at least as new as; Cargo hands them to us as `DEP_HDF5_VERSION_X_Y_Z`.

use std::process::ExitCode;

/// A cfg and the first release that has what it stands for.
const CFGS: [(&str, &str); 5] = [
    // H5Oget_info_by_name3, H5Lget_info2, H5Literate2: objects are named by tokens, not addresses.
    // H5Treclaim and H5T_STD_REF came with them.
    ("hdf5_tokens", "1_12_0"),
    // H5Dchunk_iter with an `op_data` callback of today's shape.
    ("hdf5_chunk_iter", "1_14_0"),
    // H5FD_class_t starts with a version and an identifier, and has the callbacks of vectors, selections, `del` and
    // `ctl`.
    ("hdf5_versioned_driver", "1_14_0"),
    // H5Dread_chunk2, which is told the size of the buffer; H5T_COMPLEX; drivers named by a global
    // id instead of an initialising function.
    ("hdf5_2_0", "2_0_0"),
    // Chunk addresses count from the start of the file, user block included.
    ("hdf5_absolute_chunk_address", "1_14_4"),
];

/// The oldest release whose behaviour the tests hold down.
const OLDEST: &str = "1_10_8";

fn main() -> ExitCode {
    println!("cargo::rerun-if-changed=../build.rs");
    for (cfg, _) in CFGS {
        println!("cargo::rustc-check-cfg=cfg({cfg})");
    }
    if !linked_is_at_least(OLDEST) {
        eprintln!(
            "h5strata needs HDF5 {} or newer, and the HDF5 that was found is older. \
             Set HDF5_DIR to a newer one, or build with the default feature `static`.",
            OLDEST.replace('_', ".")
        );
        return ExitCode::FAILURE;
    }
    for (cfg, since) in CFGS {
        if linked_is_at_least(since) {
            println!("cargo::rustc-cfg={cfg}");
        }
    }
    // Where the headers are that our own declarations are compared with.
    println!("cargo::rerun-if-env-changed=DEP_HDF5_INCLUDE");
    if let Ok(headers) = std::env::var("DEP_HDF5_INCLUDE") {
        println!("cargo::rustc-env=H5STRATA_HDF5_INCLUDE={headers}");
    }
    ExitCode::SUCCESS
}

fn linked_is_at_least(release: &str) -> bool {
    std::env::var_os(format!("DEP_HDF5_VERSION_{release}")).is_some()
}
