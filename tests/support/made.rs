//! Files made on the fly by `tests/python/make_files.py`, once, and again when the scripts or the packages change.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use super::answers::{self, BrokenFile, Digest, Metadata, Read};
use super::shared::hdf5_files;
use super::{SupportError, run, test_files};

/// A versioned file and the answers that stand beside it.
#[derive(Debug, Clone)]
pub(crate) struct MadeFile {
    /// The file's name without its ending.
    pub(crate) name: String,
    /// The HDF5 file. Tests that write to it must write to a copy.
    pub(crate) path: PathBuf,
}

impl MadeFile {
    /// The digest of each dataset of each version.
    ///
    /// # Errors
    /// [`SupportError::Io`] and [`SupportError::Answers`].
    pub(crate) fn digests(&self) -> Result<Vec<Digest>, SupportError> {
        answers::read_lines(&self.path.with_extension("jsonl"))
    }

    /// Selections and the digest of what they give.
    ///
    /// # Errors
    /// [`SupportError::Io`] and [`SupportError::Answers`].
    pub(crate) fn reads(&self) -> Result<Vec<Read>, SupportError> {
        answers::read(&self.path.with_extension("reads.json"))
    }

    /// Versions, datasets and attributes.
    ///
    /// # Errors
    /// [`SupportError::Io`] and [`SupportError::Answers`].
    pub(crate) fn metadata(&self) -> Result<Metadata, SupportError> {
        answers::read(&self.path.with_extension("meta.json"))
    }
}

/// All sound files, sorted by name.
///
/// # Errors
/// Those of [`folder`], and [`SupportError::Io`].
pub(crate) fn files() -> Result<Vec<MadeFile>, SupportError> {
    files_of(&folder()?)
}

/// Copies of files that come from elsewhere, sorted by name, with their answers beside them.
///
/// # Errors
/// Those of [`folder`], and [`SupportError::Io`].
pub(crate) fn described(files: &[PathBuf]) -> Result<Vec<MadeFile>, SupportError> {
    files_of(Path::new(run_script(files)?.trim_end()))
}

/// All files of a folder of ours, sorted by name.
fn files_of(folder: &Path) -> Result<Vec<MadeFile>, SupportError> {
    let paths = hdf5_files(folder)?.into_iter();
    Ok(paths.filter_map(|path| Some(MadeFile { name: stem(&path)?, path })).collect())
}

/// One sound file by its name without ending.
///
/// # Errors
/// Those of [`folder`], and [`SupportError::Io`] when there is no such file.
pub(crate) fn file(name: &str) -> Result<MadeFile, SupportError> {
    let path = folder()?.join(format!("{name}.h5"));
    fs::metadata(&path).map_err(SupportError::io(&path))?;
    Ok(MadeFile { name: name.to_owned(), path })
}

/// The broken files, each with its path and the error it must give.
///
/// # Errors
/// Those of [`folder`], [`SupportError::Io`] and [`SupportError::Answers`].
pub(crate) fn broken_files() -> Result<Vec<(PathBuf, BrokenFile)>, SupportError> {
    let folder = folder()?.join("broken");
    let rows: Vec<BrokenFile> = answers::read(&folder.join("manifest.json"))?;
    Ok(rows.into_iter().map(|row| (folder.join(&row.file), row)).collect())
}

/// The folder of made files; makes them when they are not there yet.
///
/// The script holds a file lock while it works, so test binaries that run side by side make the files once.
///
/// # Errors
/// [`SupportError::NoPython`] when there is no interpreter, [`SupportError::CommandFailed`] when the script fails.
pub(crate) fn folder() -> Result<PathBuf, SupportError> {
    static FOLDER: Mutex<Option<PathBuf>> = Mutex::new(None);
    let mut known = FOLDER.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(folder) = known.as_ref() {
        return Ok(folder.clone());
    }
    let folder = PathBuf::from(run_script(&[])?.trim_end());
    Ok(known.insert(folder).clone())
}

/// Writes the file of `tests/python/make_large.py`, which has no answers beside it.
///
/// # Errors
/// [`SupportError::NoPython`], [`SupportError::CommandFailed`].
pub(crate) fn large(path: &Path) -> Result<(), SupportError> {
    run(script("make_large.py")?.arg(path)).map(|_| ())
}

/// The answers of `tests/python/creating.py` to a command.
///
/// # Errors
/// [`SupportError::NoPython`]; [`SupportError::CommandFailed`] also where a check fails.
pub(crate) fn creating(arguments: &[&str]) -> Result<String, SupportError> {
    run(script("creating.py")?.args(arguments))
}

/// Runs a command of `tests/python/patched_maps.py` on a file.
///
/// # Errors
/// [`SupportError::NoPython`]; [`SupportError::CommandFailed`] also where a check fails.
pub(crate) fn patched_maps(
    command: &str,
    file: &Path,
    arguments: &[&str],
) -> Result<(), SupportError> {
    run(script("patched_maps.py")?.arg(command).arg(file).args(arguments)).map(|_| ())
}

/// Runs a command of `tests/python/file_spaces.py` on a folder.
///
/// # Errors
/// [`SupportError::NoPython`]; [`SupportError::CommandFailed`] also where a check fails.
pub(crate) fn file_spaces(
    command: &str,
    folder: &Path,
    arguments: &[&str],
) -> Result<(), SupportError> {
    run(script("file_spaces.py")?.arg(command).arg(folder).args(arguments)).map(|_| ())
}

/// Runs a command of `tests/python/alter.py` on a file.
///
/// # Errors
/// [`SupportError::NoPython`]; [`SupportError::CommandFailed`] also where a check fails.
pub(crate) fn alter(
    command: &str,
    file: &Path,
    arguments: &[&str],
) -> Result<String, SupportError> {
    run(script("alter.py")?.arg(command).arg(file).args(arguments))
}

/// Runs a step of `tests/python/rebuilding.py` on a file.
///
/// # Errors
/// As [`alter`].
pub(crate) fn rebuilding(
    step: &str,
    file: &Path,
    arguments: &[&str],
) -> Result<String, SupportError> {
    run(script("rebuilding.py")?.arg(step).arg(file).args(arguments))
}

/// Runs a command of `tests/python/by_package.py` on a file.
///
/// # Errors
/// [`SupportError::NoPython`], [`SupportError::CommandFailed`].
pub(crate) fn by_package(
    command: &str,
    file: &Path,
    arguments: &[&str],
) -> Result<String, SupportError> {
    run(script("by_package.py")?.arg(command).arg(file).args(arguments))
}

/// What `tests/python/diffs.py` says of a file, in JSON.
///
/// # Errors
/// [`SupportError::NoPython`], [`SupportError::CommandFailed`].
pub(crate) fn get_diffs(file: &Path) -> Result<String, SupportError> {
    run(script("diffs.py")?.arg(file))
}

/// Runs a command of `tests/python/rewritten.py`.
///
/// # Errors
/// [`SupportError::NoPython`]; [`SupportError::CommandFailed`] also where a check fails.
pub(crate) fn rewritten(arguments: &[&std::ffi::OsStr]) -> Result<(), SupportError> {
    run(script("rewritten.py")?.args(arguments)).map(|_| ())
}

/// What `tests/python/storage_sizes.py` says of files, in JSON.
///
/// # Errors
/// [`SupportError::NoPython`], [`SupportError::CommandFailed`].
pub(crate) fn storage_sizes<'p>(
    files: impl IntoIterator<Item = &'p Path>,
) -> Result<String, SupportError> {
    run(script("storage_sizes.py")?.args(files))
}

/// Adds datasets that are not versioned to a file, by `tests/python/storage_sizes.py`.
///
/// # Errors
/// [`SupportError::NoPython`], [`SupportError::CommandFailed`].
pub(crate) fn add_not_versioned(file: &Path) -> Result<(), SupportError> {
    run(script("storage_sizes.py")?.arg("add").arg(file)).map(|_| ())
}

/// Runs the script on these files; without any it makes its own.
fn run_script(files: &[PathBuf]) -> Result<String, SupportError> {
    run(script("make_files.py")?.arg(test_files()).args(files))
}

/// A call of one of the scripts.
fn script(name: &str) -> Result<Command, SupportError> {
    let mut command = Command::new(python()?);
    // No byte code: the scripts' folder is part of the source tree.
    command.arg("-B").arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python").join(name));
    Ok(command)
}

/// The Python interpreter of the project's virtual environment, or the one that `H5STRATA_PYTHON` names.
///
/// # Errors
/// [`SupportError::NoPython`] when it is not there.
pub(crate) fn python() -> Result<PathBuf, SupportError> {
    let python = std::env::var_os("H5STRATA_PYTHON").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join(".venv/bin/python"),
        PathBuf::from,
    );
    if python.is_file() { Ok(python) } else { Err(SupportError::NoPython { python }) }
}

/// A file name without its ending.
fn stem(path: &Path) -> Option<String> {
    Some(path.file_stem()?.to_str()?.to_owned())
}
