use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};

use h5strata::VersionedFile;
use h5strata::store::Error;
use serde::Serialize;

use super::{Lines, bytes};
use crate::failure::{Failure, Reporter};
use crate::output::{Cell, STRONG, Table, time, tuple};

/// What is known of a file.
#[derive(Debug, Serialize)]
pub(super) struct FileInfo {
    path: String,
    size: u64,
    data_version: i64,
    libhdf5: String,
    versions: usize,
    current: Option<String>,
    first: Option<VersionTime>,
    last: Option<VersionTime>,
    datasets: Vec<DatasetRow>,
}

/// A version and its time.
#[derive(Debug, Serialize)]
struct VersionTime {
    version: String,
    timestamp: String,
}

/// A dataset that some version has, as its latest version describes it.
#[derive(Debug, Serialize)]
struct DatasetRow {
    path: String,
    /// Number of versions that have it.
    versions: u64,
    /// The latest of them.
    latest: String,
    /// `None` if the dataset cannot be opened, as all that follows.
    dtype: Option<String>,
    shape: Option<Vec<u64>>,
    raw_data: Option<String>,
    /// Stored chunks that `raw_data` has room for, of all versions together.
    raw_chunks: Option<u64>,
}

impl FileInfo {
    pub(super) fn new(file: &VersionedFile, reporter: &mut Reporter) -> Result<Self, Failure> {
        let path = file.path();
        let size =
            fs::metadata(path).map_err(|source| Error::Io { file: path.to_owned(), source })?.len();
        let (major, minor, release) = file.libhdf5_version()?;
        let versions = file.versions()?;
        let time_of = |version: &h5strata::store::VersionInfo| VersionTime {
            version: version.name.clone(),
            timestamp: time(&version.timestamp),
        };
        Ok(Self {
            path: path.display().to_string(),
            size,
            data_version: file.data_version(),
            libhdf5: format!("{major}.{minor}.{release}"),
            versions: versions.len(),
            current: file.current_name().ok(),
            first: versions.first().map(time_of),
            last: versions.last().map(time_of),
            datasets: datasets(file, reporter)?,
        })
    }

    pub(super) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let at = |time: &Option<VersionTime>| {
            time.as_ref().map_or_else(
                || "-".to_owned(),
                |time| format!("{} ({})", time.version, time.timestamp),
            )
        };
        let mut lines = Lines::default();
        lines.add("path", &self.path);
        lines.add("size", &bytes(self.size));
        lines.add("data_version", &self.data_version.to_string());
        lines.add("libhdf5", &self.libhdf5);
        lines.add("versions", &self.versions.to_string());
        lines.add("current", self.current.as_deref().unwrap_or("-"));
        lines.add("first", &at(&self.first));
        lines.add("last", &at(&self.last));
        lines.write(out)?;
        if !self.datasets.is_empty() {
            writeln!(out, "\n{STRONG}datasets of all versions{STRONG:#}")?;
            self.table().write(out, 2)?;
        }
        Ok(())
    }

    fn table(&self) -> Table {
        let header = ["path", "versions", "latest", "shape", "type", "stored chunks", "kept in"];
        let mut table = Table::with_header(&header);
        let or_unknown = |text: Option<String>| text.unwrap_or_else(|| "?".to_owned());
        for row in &self.datasets {
            table.push([
                Cell::new(&row.path),
                Cell::new(&row.versions.to_string()),
                Cell::new(&row.latest),
                Cell::new(&or_unknown(row.shape.as_deref().map(tuple))),
                Cell::new(&or_unknown(row.dtype.clone())),
                Cell::new(&or_unknown(row.raw_chunks.map(|chunks| chunks.to_string()))),
                Cell::new(&or_unknown(row.raw_data.clone())),
            ]);
        }
        table
    }
}

/// The datasets of all versions, by path.
fn datasets(file: &VersionedFile, reporter: &mut Reporter) -> Result<Vec<DatasetRow>, Failure> {
    let mut found: BTreeMap<String, (u64, &str)> = BTreeMap::new();
    for version in file.versions()? {
        match file.version(&version.name).and_then(|version| version.datasets()) {
            Ok(paths) => {
                for path in paths {
                    let (versions, latest) = found.entry(path).or_default();
                    *versions += 1;
                    *latest = &version.name;
                }
            }
            Err(error) => reporter.error(&error.into()),
        }
    }
    let row = |(path, (versions, latest)): (String, (u64, &str))| {
        let opened = file.version(latest).and_then(|version| version.dataset(&path));
        let dataset = opened.map_err(|error| reporter.error(&error.into())).ok();
        DatasetRow {
            versions,
            latest: latest.to_owned(),
            dtype: dataset.as_ref().map(|dataset| dataset.dtype().to_string()),
            shape: dataset.as_ref().map(|dataset| dataset.shape().to_vec()),
            raw_data: dataset.as_ref().map(|dataset| dataset.raw_data().0.to_owned()),
            raw_chunks: dataset.as_ref().map(|dataset| dataset.raw_data().1),
            path,
        }
    };
    Ok(found.into_iter().map(row).collect())
}
