//! Takes back what a failed commit has written.

use std::sync::Arc;

use h5strata_ffi::{Lock, h5d, h5l};

use super::super::file::FileInner;
use super::super::layout;
use super::super::names::{LARGEST_INDEX, ROOT, hash_table_path, raw_data_path};
use crate::raw::RawWriter;

/// What a commit has written so far.
pub(super) struct Undo {
    file: Arc<FileInner>,
    steps: Vec<Step>,
}

enum Step {
    /// Stored chunks for a dataset that had none.
    Storage {
        path: String,
    },
    /// More stored chunks, and rows of the hash table.
    Chunks {
        path: String,
        chunks: u64,
        rows: u64,
    },
    Version {
        name: String,
    },
    Current {
        name: String,
    },
}

impl Undo {
    pub(super) fn new(file: &Arc<FileInner>) -> Self {
        Self { file: Arc::clone(file), steps: Vec::new() }
    }

    pub(super) fn storage(&mut self, path: &str) {
        self.steps.push(Step::Storage { path: path.to_owned() });
    }

    pub(super) fn chunks(&mut self, path: &str, chunks: u64, rows: u64) {
        self.steps.push(Step::Chunks { path: path.to_owned(), chunks, rows });
    }

    pub(super) fn version(&mut self, name: &str) {
        self.steps.push(Step::Version { name: name.to_owned() });
    }

    pub(super) fn current(&mut self, name: Option<String>) {
        let first = super::super::names::FIRST_VERSION.to_owned();
        self.steps.push(Step::Current { name: name.unwrap_or(first) });
    }

    /// Takes everything back, last step first. If that fails too the file takes no more commits through this handle.
    pub(super) fn run(self) {
        let lock = h5strata_ffi::lock();
        let mut whole = true;
        for step in self.steps.iter().rev() {
            whole &= take_back(&lock, &self.file, step).is_ok();
        }
        whole &= self.file.flush(&lock).is_ok();
        if !whole && let Ok(writer) = self.file.writer() {
            writer.set_broken();
        }
    }
}

fn take_back(lock: &Lock, file: &FileInner, step: &Step) -> Result<(), h5strata_ffi::Error> {
    match step {
        Step::Version { name } => delete(lock, file, &format!("{}/{name}", super::VERSIONS)),
        Step::Current { name } => layout::set_current(lock, &file.versions, name),
        Step::Storage { path } => {
            delete(lock, file, &raw_data_path(path))?;
            delete(lock, file, &hash_table_path(path))?;
            // The groups that only they were in.
            let mut above = Some(path.as_str());
            while let Some(path) = above {
                let group = format!("{ROOT}/{path}");
                if !h5l::exists(lock, &file.file, &group)?
                    || !h5l::names(lock, &h5strata_ffi::h5g::open(lock, &file.file, &group)?)?
                        .is_empty()
                {
                    break;
                }
                h5l::delete(lock, &file.file, &group)?;
                above = path.rsplit_once('/').map(|(above, _)| above);
            }
            Ok(())
        }
        Step::Chunks { path, chunks, rows } => {
            let table = hash_table_path(path);
            let count = i64::try_from(*rows).unwrap_or(i64::MAX);
            layout::write_integer(lock, &file.file, &table, LARGEST_INDEX, count)?;
            let dataset = h5d::open(lock, &file.file, &table)?;
            // A table has at least one row, valid or not.
            h5d::set_extent(lock, &dataset, &[(*rows).max(1)])?;
            let raw_data = h5d::open(lock, &file.file, &raw_data_path(path))?;
            let chunk_shape =
                h5strata_ffi::h5p::chunk_shape(lock, &h5d::creation(lock, &raw_data)?)?;
            RawWriter::new(raw_data, &chunk_shape).set_chunks(lock, *chunks)
        }
    }
}

fn delete(lock: &Lock, file: &FileInner, path: &str) -> Result<(), h5strata_ffi::Error> {
    if h5l::exists(lock, &file.file, path)? {
        h5l::delete(lock, &file.file, path)?;
    }
    Ok(())
}
