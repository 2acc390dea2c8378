use std::io::{self, Write};

use h5strata::dims::byte_count;
use h5strata::dtype::Dtype;
use h5strata::store::{DatasetChunk, Fill};
use h5strata::{Dataset, Selection};
use serde::Serialize;
use serde_json::Value;

use super::{AttributeRow, Lines, attributes, bytes, write_attributes};
use crate::failure::{Failure, Reporter};
use crate::output::{Cell, STRONG, Table, tuple};
use crate::values::{json, plain};

/// What is known of a dataset of a version. What cannot be read is `None`.
#[derive(Debug, Serialize)]
pub(super) struct DatasetInfo {
    path: String,
    kind: &'static str,
    version: String,
    shape: Vec<u64>,
    dtype: String,
    /// Names of an enumeration and the integers they stand for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    members: Vec<Member>,
    chunks: Vec<u64>,
    chunk_grid: Vec<u64>,
    fill: Value,
    #[serde(skip)]
    fill_text: String,
    filters: Vec<String>,
    stored_chunks: Option<u64>,
    total_chunks: u64,
    /// Bytes of all elements; `None` for strings of variable length.
    bytes: Option<u64>,
    /// Bytes that the stored chunks take in the file.
    stored_bytes: Option<u64>,
    raw_data: String,
    raw_chunks: u64,
    attributes: Vec<AttributeRow>,
    #[serde(skip_serializing_if = "Option::is_none")]
    chunk_list: Option<Vec<ChunkRow>>,
    #[serde(skip)]
    of_region: bool,
}

/// Which stored chunks are listed.
#[derive(Clone, Copy, Debug)]
pub(super) enum Listed<'s> {
    None,
    All,
    /// Those that hold a selected element.
    Region(&'s Selection),
}

/// A name of an enumeration.
#[derive(Debug, Serialize)]
struct Member {
    name: String,
    value: Value,
}

/// A stored chunk.
#[derive(Debug, Serialize)]
struct ChunkRow {
    coordinate: Vec<u64>,
    raw_chunk: u64,
    address: u64,
    size: u64,
    filter_mask: u32,
}

impl DatasetInfo {
    pub(super) fn new(
        dataset: &Dataset,
        listed: Listed<'_>,
        reporter: &mut Reporter,
    ) -> Result<Self, Failure> {
        let dtype = dataset.dtype();
        let stored = dataset.stored_chunks().map_err(|error| reporter.error(&error.into())).ok();
        let fill = match dataset.fill_value() {
            Fill::Element(bytes) | Fill::String(bytes) => bytes,
        };
        let user = dataset.attributes().map_err(|error| reporter.error(&error.into()));
        Ok(Self {
            path: dataset.path().to_owned(),
            kind: "dataset",
            version: dataset.version().to_owned(),
            shape: dataset.shape().to_vec(),
            dtype: dtype.to_string(),
            members: members(dtype),
            chunks: dataset.chunk_shape().to_vec(),
            chunk_grid: dataset.chunk_grid().to_vec(),
            fill: json(dtype, fill),
            fill_text: plain(dtype, fill),
            filters: dataset.filters().iter().map(|f| f.display_name().to_string()).collect(),
            stored_chunks: stored.as_ref().map(|chunks| chunks.len() as u64),
            total_chunks: dataset.chunk_count(),
            bytes: dtype.size().and_then(|size| byte_count(dataset.shape(), size).ok()),
            stored_bytes: stored.as_ref().map(|chunks| {
                chunks.iter().fold(0u64, |sum, chunk| sum.saturating_add(chunk.size))
            }),
            raw_data: dataset.raw_data().0.to_owned(),
            raw_chunks: dataset.raw_data().1,
            attributes: attributes(user.unwrap_or_default()),
            chunk_list: match listed {
                Listed::None => None,
                Listed::All => stored,
                Listed::Region(selection) => Some(dataset.stored_chunks_in(selection.clone())?),
            }
            .map(|chunks| chunks.into_iter().map(ChunkRow::from).collect()),
            of_region: matches!(listed, Listed::Region(_)),
        })
    }

    pub(super) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let or_unknown = |text: Option<String>| text.unwrap_or_else(|| "?".to_owned());
        let mut lines = Lines::default();
        lines.add("path", &self.path);
        lines.add("kind", self.kind);
        lines.add("version", &self.version);
        lines.add("shape", &tuple(&self.shape));
        lines.add("type", &self.dtype);
        if !self.members.is_empty() {
            let names = self.members.iter().map(|m| format!("{} = {}", m.name, m.value));
            lines.add("names", &names.collect::<Vec<_>>().join(", "));
        }
        lines.add("chunks", &tuple(&self.chunks));
        lines.add("chunk grid", &tuple(&self.chunk_grid));
        lines.add("fill value", &self.fill_text);
        let filters = self.filters.join(", ");
        lines.add("filters", if filters.is_empty() { "-" } else { &filters });
        let stored = or_unknown(self.stored_chunks.map(|count| count.to_string()));
        lines.add("stored chunks", &format!("{stored} of {}", self.total_chunks));
        if let Some(count) = self.bytes {
            lines.add("size", &bytes(count));
        }
        lines.add("stored size", &or_unknown(self.stored_bytes.map(bytes)));
        lines.add(
            "kept in",
            &format!("{} ({} chunks of all versions)", self.raw_data, self.raw_chunks),
        );
        lines.write(out)?;
        write_attributes(out, &self.attributes)?;
        if let Some(chunks) = &self.chunk_list {
            let of = if self.of_region { " of the selection" } else { "" };
            writeln!(out, "\n{STRONG}stored chunks{of}{STRONG:#}")?;
            table(chunks).write(out, 2)?;
        }
        Ok(())
    }
}

impl From<DatasetChunk> for ChunkRow {
    fn from(chunk: DatasetChunk) -> Self {
        Self {
            coordinate: chunk.coordinate.to_vec(),
            raw_chunk: chunk.raw.0,
            address: chunk.address,
            size: chunk.size,
            filter_mask: chunk.filter_mask,
        }
    }
}

fn members(dtype: &Dtype) -> Vec<Member> {
    let Dtype::Enum { base, members } = dtype else { return Vec::new() };
    let member =
        |(name, value): &(String, Vec<u8>)| Member { name: name.clone(), value: json(base, value) };
    members.iter().map(member).collect()
}

fn table(chunks: &[ChunkRow]) -> Table {
    let mut table =
        Table::with_header(&["coordinate", "raw chunk", "address", "size", "filter mask"]);
    for chunk in chunks {
        table.push([
            Cell::new(&tuple(&chunk.coordinate)),
            Cell::new(&chunk.raw_chunk.to_string()),
            Cell::new(&chunk.address.to_string()),
            Cell::new(&chunk.size.to_string()),
            Cell::new(&format!("{:#x}", chunk.filter_mask)),
        ]);
    }
    table
}
