//! Reads mutated files.
#![no_main]

use std::path::Path;
use std::process::exit;

use libfuzzer_sys::fuzz_target;

/// A folder to write sound files to, instead of fuzzing. Another program could not be built with what libFuzzer needs.
const SEEDS: &str = "H5STRATA_FUZZ_SEEDS";

fuzz_target!(
    init: {
        if let Some(folder) = std::env::var_os(SEEDS) {
            match h5strata_fuzz::seeds::write(Path::new(&folder)) {
                Ok(()) => exit(0),
                Err(error) => {
                    eprintln!("{}: {error}", Path::new(&folder).display());
                    exit(2)
                }
            }
        }
    },
    |bytes: &[u8]| {
        // Without room for the file there is nothing to find out.
        drop(h5strata_fuzz::read_all(bytes));
    }
);
