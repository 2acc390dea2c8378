//! Real files that are not part of the repository: in `../shared/data`, or `data` of the folder in `H5STRATA_SHARED`.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::UNIX_EPOCH;
use std::{env, fs};

use super::{SupportError, run, test_files};

/// Datasets of the suite whose mappings leave `raw_data` (file without ending, version, path): those tests of the
/// package stop half way through a delete. The suite's digests hold the fill values that HDF5 gives there; a strict
/// reader gives an error.
pub(crate) const SUITE_OUT_OF_RANGE: [(&str, &str, &str); 2] = [
    ("0126-test_recreate_hashtable", "version2", "test_data"),
    ("0127-test_recreate_virtual_dataset", "version2", "test_data"),
];

/// The folder of real files; `None`, with a word on standard error, where it is missing.
///
/// # Errors
/// [`SupportError::NoShared`] when `H5STRATA_SHARED` is set and has no such folder.
pub(crate) fn data() -> Result<Option<PathBuf>, SupportError> {
    find("data")
}

/// The folder of files that the Python package's own tests left behind, unpacked; `None` where the archive is missing.
///
/// # Errors
/// [`SupportError::NoShared`], [`SupportError::Io`], and [`SupportError::CommandFailed`] when `tar` fails.
pub(crate) fn suite() -> Result<Option<PathBuf>, SupportError> {
    let Some(archive) = find("data/suite.tar.xz")? else { return Ok(None) };
    let unpacked = test_files().join(format!("suite-{}", fingerprint(&archive)?));
    if unpacked.is_dir() {
        return Ok(Some(unpacked));
    }
    // Unpacked under a name of this process and then renamed: whoever comes first wins, the others drop theirs.
    let scratch = test_files().join(format!("suite-{}.unfinished", std::process::id()));
    fs::create_dir_all(&scratch).map_err(SupportError::io(&scratch))?;
    run(Command::new("tar").arg("-xf").arg(&archive).arg("-C").arg(&scratch))?;
    if fs::rename(&scratch, &unpacked).is_err() {
        fs::remove_dir_all(&scratch).map_err(SupportError::io(&scratch))?;
        fs::metadata(&unpacked).map_err(SupportError::io(&unpacked))?;
    }
    Ok(Some(unpacked))
}

/// All `.h5` files directly in a folder, sorted.
///
/// # Errors
/// [`SupportError::Io`].
pub(crate) fn hdf5_files(folder: &Path) -> Result<Vec<PathBuf>, SupportError> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(SupportError::io(folder))? {
        let path = entry.map_err(SupportError::io(folder))?.path();
        if path.extension().is_some_and(|ending| ending == "h5") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// A path below the shared folder, if it exists.
fn find(below: &str) -> Result<Option<PathBuf>, SupportError> {
    let given = env::var_os("H5STRATA_SHARED").map(PathBuf::from);
    let must_exist = given.is_some();
    let path = given
        .unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared"))
        .join(below);
    if path.exists() {
        return Ok(Some(path));
    }
    if must_exist {
        return Err(SupportError::NoShared { path });
    }
    // Written directly: the test harness would swallow what the print macros say in a test that passes.
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test");
    let said = writeln!(io::stderr(), "skipped: {test}: no {}", path.display());
    said.map_err(SupportError::io(&path))?;
    Ok(None)
}

/// Size and time of an archive, so that another one is unpacked anew.
fn fingerprint(archive: &Path) -> Result<String, SupportError> {
    let metadata = fs::metadata(archive).map_err(SupportError::io(archive))?;
    let modified = metadata.modified().map_err(SupportError::io(archive))?;
    let seconds = modified.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    Ok(format!("{}-{seconds}", metadata.len()))
}
