//! The requests of the protocol.

use std::error::Error;
use std::path::PathBuf;
use std::thread::available_parallelism;

use h5strata::Selection;
use h5strata::selection::AxisSelection;
use ndarray::Array1;
use ndarray_npy::read_npy;
use serde::Deserialize;

/// One line of input.
#[derive(Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub(crate) enum Request {
    Read(ReadRequest),
    ReadAll(ReadAllRequest),
    Diff(DiffRequest),
    Plan(PlanRequest),
    Write(WriteRequest),
    Delete(DeleteRequest),
    Repack(RepackRequest),
}

/// Open a file, read a selection of a version's dataset, and close the file.
#[derive(Deserialize)]
pub(crate) struct ReadRequest {
    pub(crate) file: PathBuf,
    pub(crate) version: String,
    pub(crate) dataset: String,
    pub(crate) threads: usize,
    pub(crate) path: Path,
    #[serde(flatten)]
    pub(crate) wanted: Wanted,
}

/// Open a file, read every dataset of every version, and close the file.
#[derive(Deserialize)]
pub(crate) struct ReadAllRequest {
    pub(crate) file: PathBuf,
    /// Threads that read datasets side by side.
    pub(crate) threads: usize,
}

/// Open a file, read both sides of each chunk of a dataset that changed between two versions, and close the file.
#[derive(Deserialize)]
pub(crate) struct DiffRequest {
    pub(crate) file: PathBuf,
    pub(crate) dataset: String,
    pub(crate) old: String,
    pub(crate) new: String,
    pub(crate) threads: usize,
}

/// The way in which stored chunks are read.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Path {
    Auto,
    Library,
}

/// Plan the reading of a selection, `times` times.
#[derive(Deserialize)]
pub(crate) struct PlanRequest {
    pub(crate) shape: Vec<u64>,
    pub(crate) chunks: Vec<u64>,
    pub(crate) times: u32,
    #[serde(flatten)]
    pub(crate) wanted: Wanted,
}

/// Write a version a step.
#[derive(Deserialize)]
pub(crate) struct WriteRequest {
    pub(crate) file: PathBuf,
    pub(crate) chunks: Vec<u64>,
    pub(crate) filters: Filters,
    pub(crate) threads: usize,
    /// Whether commits are synced to the disk.
    pub(crate) synced: bool,
    /// Whether the file is opened and closed in every step.
    pub(crate) reopen: bool,
    /// Number of the first step's version; version 0 is that of a new file.
    pub(crate) first_version: usize,
    /// One dataset each, all with as many steps.
    pub(crate) series: Vec<SeriesRequest>,
}

/// What is written to one dataset.
#[derive(Deserialize)]
pub(crate) struct SeriesRequest {
    pub(crate) dataset: String,
    /// A .npy file of int64 or float64 elements.
    pub(crate) values: PathBuf,
    pub(crate) steps: Vec<Step>,
}

/// Filters as h5py names them.
#[derive(Deserialize)]
pub(crate) struct Filters {
    /// Level of gzip.
    pub(crate) compression_opts: Option<u8>,
    #[serde(default)]
    pub(crate) shuffle: bool,
}

/// One version of one dataset.
#[derive(Deserialize)]
pub(crate) struct Step {
    pub(crate) shape: Vec<u64>,
    /// Whether everything is read and written back.
    pub(crate) write_back: bool,
    /// What is written: start and stop by axis, the same in the values as in the dataset.
    pub(crate) blocks: Vec<Vec<(i64, i64)>>,
    /// What is added to each 8-byte word of the blocks.
    pub(crate) plus: u64,
}

/// Open a file, delete versions of it, and close the file.
#[derive(Deserialize)]
pub(crate) struct DeleteRequest {
    pub(crate) file: PathBuf,
    /// Names of the versions to delete.
    pub(crate) versions: Vec<String>,
    pub(crate) threads: usize,
    /// Whether the file is on the disk then.
    pub(crate) synced: bool,
}

/// Open a file, write it anew under another name, and close both.
#[derive(Deserialize)]
pub(crate) struct RepackRequest {
    pub(crate) file: PathBuf,
    pub(crate) out: PathBuf,
    pub(crate) threads: usize,
    /// Whether the new file is on the disk then.
    pub(crate) synced: bool,
}

/// The number of threads for `OpenOptions`, which takes 0 for all cores.
pub(crate) fn threads(asked: usize) -> Result<usize, Box<dyn Error>> {
    Ok(if asked >= available_parallelism()?.get() { 0 } else { asked })
}

/// What is selected: text as NumPy writes it, or a .npy file with an array for the only axis.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Wanted {
    Selection(String),
    IndexFile(PathBuf),
}

impl Wanted {
    /// The selection; an index file holds int64 indices or a boolean mask.
    pub(crate) fn selection(&self) -> Result<Selection, Box<dyn Error>> {
        match self {
            Self::Selection(text) => Ok(text.parse()?),
            Self::IndexFile(path) => {
                let axis = match read_npy::<_, Array1<i64>>(path) {
                    Ok(indices) => AxisSelection::Indices(indices.to_vec()),
                    Err(_) => AxisSelection::Mask(read_npy::<_, Array1<bool>>(path)?.to_vec()),
                };
                Ok(Selection::axes([axis]))
            }
        }
    }
}
