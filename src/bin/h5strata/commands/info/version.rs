use std::io::{self, Write};

use h5strata::{Version, VersionedFile};
use serde::Serialize;

use super::{AttributeRow, Lines, attributes, write_attributes};
use crate::commands::dataset_row::DatasetRow;
use crate::failure::{Failure, Reporter};
use crate::output::{Cell, STRONG, Table, time};

/// What is known of a version.
#[derive(Debug, Serialize)]
pub(super) struct VersionInfo {
    version: String,
    kind: &'static str,
    /// `None` for a root.
    parent: Option<String>,
    /// In order of their time.
    children: Vec<String>,
    timestamp: String,
    current: bool,
    datasets: Vec<Row>,
    attributes: Vec<AttributeRow>,
}

/// A dataset of the version.
#[derive(Debug, Serialize)]
struct Row {
    path: String,
    #[serde(flatten)]
    dataset: DatasetRow,
}

impl VersionInfo {
    pub(super) fn new(
        file: &VersionedFile,
        version: &Version,
        reporter: &mut Reporter,
    ) -> Result<Self, Failure> {
        let current = file.current_name().map_err(|error| reporter.error(&error.into())).ok();
        let row = |path: String| Row { dataset: DatasetRow::new(version, &path, reporter), path };
        Ok(Self {
            version: version.name().to_owned(),
            kind: "version",
            parent: version.parent()?,
            children: file.children(version.name())?.into_iter().map(str::to_owned).collect(),
            timestamp: time(&version.timestamp()?),
            current: current.as_deref() == Some(version.name()),
            datasets: version.datasets()?.into_iter().map(row).collect(),
            attributes: attributes(version.attributes()?),
        })
    }

    pub(super) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let children = self.children.join(", ");
        let mut lines = Lines::default();
        lines.add("version", &self.version);
        lines.add("kind", self.kind);
        lines.add("parent", self.parent.as_deref().unwrap_or("-"));
        lines.add("children", if children.is_empty() { "-" } else { &children });
        lines.add("timestamp", &self.timestamp);
        lines.add("current", if self.current { "yes" } else { "no" });
        lines.write(out)?;
        if !self.datasets.is_empty() {
            writeln!(out, "\n{STRONG}datasets{STRONG:#}")?;
            self.table().write(out, 2)?;
        }
        write_attributes(out, &self.attributes)
    }

    fn table(&self) -> Table {
        let header: Vec<&str> = ["path"].into_iter().chain(DatasetRow::HEADER).collect();
        let mut table = Table::with_header(&header);
        for Row { path, dataset } in &self.datasets {
            table.push([Cell::new(path)].into_iter().chain(dataset.cells()));
        }
        table
    }
}
