//! Builds the C baseline programs of `c/` against the very libhdf5, zlib and libdeflate that h5strata links.
//!
//! They land in `OUT_DIR/bin`; `scripts/compare` asks Cargo where that is. Warnings are errors.

use std::env;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const PROGRAMS: [&str; 8] = [
    "vds_read",
    "chunk_read",
    "direct_chunk",
    "pread_floor",
    "pwrite_floor",
    "memcpy_floor",
    "plain_commit",
    "object_copy",
];

/// Sources that every program is linked with.
const SHARED: [&str; 2] = ["bench", "chunks"];

/// Static libraries in the order in which they must be linked: the keys that their -sys crates hand over, and their
/// names.
const LIBRARIES: [(&str, &str); 3] = [("HDF5", "hdf5"), ("Z", "z"), ("LIBDEFLATE", "deflate")];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=c");
    let out = PathBuf::from(variable("OUT_DIR")?);
    let programs = out.join("bin");
    fs::create_dir_all(&programs)?;

    let mut compiler = cc::Build::new();
    compiler.std("c11").warnings(true).extra_warnings(true).warnings_into_errors(true).opt_level(3);
    for (key, _) in LIBRARIES {
        // zlib has no include directory of its own where it is the system's.
        compiler.includes(env::var_os(format!("DEP_{key}_INCLUDE")));
    }
    let shared = compiler.clone().files(SHARED.map(source)).try_compile_intermediates()?;
    for program in PROGRAMS {
        let object = compiler.clone().file(source(program)).try_compile_intermediates()?;
        link(&compiler, object.iter().chain(&shared), &programs.join(program))?;
    }
    Ok(())
}

fn source(name: &str) -> PathBuf {
    Path::new("c").join(name).with_extension("c")
}

fn variable(name: &str) -> Result<String, Box<dyn Error>> {
    env::var(name).map_err(|error| format!("{name}: {error}").into())
}

fn link<'a>(
    compiler: &cc::Build,
    objects: impl Iterator<Item = &'a PathBuf>,
    program: &Path,
) -> Result<(), Box<dyn Error>> {
    let mut command: Command = compiler.try_get_compiler()?.to_command();
    command.args(objects).arg("-o").arg(program);
    for (key, name) in LIBRARIES {
        if let Some(root) = env::var_os(format!("DEP_{key}_ROOT")) {
            command.arg("-L").arg(Path::new(&root).join("lib"));
        }
        command.arg(format!("-l{name}"));
    }
    command.args(["-lpthread", "-ldl", "-lm"]);
    let status = command.status()?;
    if status.success() { Ok(()) } else { Err(format!("{command:?}: {status}").into()) }
}
