//! `h5strata info`: everything known of a file, a version, a group or a dataset.

mod dataset;
mod file;
mod version;

use std::io::{self, Write};

use h5strata::Selection;
use h5strata::store::{Attribute, EntryKind};
use serde::Serialize;
use serde_json::Value;

use self::dataset::Listed;
use crate::args::{Global, Info};
use crate::failure::{Failure, Reporter};
use crate::lookup;
use crate::output::{self, Cell, STRONG, Table, visible};
use crate::values::{attribute_json, attribute_text};

pub(crate) fn run(args: &Info, global: &Global, reporter: &mut Reporter) -> Result<(), Failure> {
    let selection: Option<Selection> = args.selection.as_deref().map(str::parse).transpose()?;
    let file = lookup::open(&args.file, global, reporter)?;
    let mut out = output::screen();
    if args.path.is_none() && args.version.version.is_none() {
        let info = file::FileInfo::new(&file, reporter)?;
        return print(&mut out, args.json, &info, |out| info.write(out));
    }
    let version = lookup::version(&file, &args.version)?;
    let Some(path) = &args.path else {
        let info = version::VersionInfo::new(&file, &version, reporter)?;
        return print(&mut out, args.json, &info, |out| info.write(out));
    };
    match version.kind(path)? {
        EntryKind::Dataset => {
            let dataset = version.dataset(path)?;
            let listed = match &selection {
                _ if !args.chunks => Listed::None,
                Some(selection) => Listed::Region(selection),
                None => Listed::All,
            };
            let info = dataset::DatasetInfo::new(&dataset, listed, reporter)?;
            print(&mut out, args.json, &info, |out| info.write(out))
        }
        EntryKind::Group | EntryKind::Other => {
            let info = GroupInfo {
                path: path.trim_matches('/'),
                kind: "group",
                version: version.name(),
                members: version.entries_below(path)?.into_iter().map(|entry| entry.path).collect(),
                attributes: attributes(version.attributes_of(path)?),
            };
            print(&mut out, args.json, &info, |out| info.write(out))
        }
    }
}

/// What is known of a group.
#[derive(Debug, Serialize)]
struct GroupInfo<'v> {
    path: &'v str,
    kind: &'static str,
    version: &'v str,
    members: Vec<String>,
    attributes: Vec<AttributeRow>,
}

impl GroupInfo<'_> {
    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let mut lines = Lines::default();
        lines.add("path", self.path);
        lines.add("kind", self.kind);
        lines.add("version", self.version);
        lines.add("members", &self.members.join(", "));
        lines.write(out)?;
        write_attributes(out, &self.attributes)
    }
}

/// A user's attribute.
#[derive(Debug, Serialize)]
struct AttributeRow {
    name: String,
    dtype: String,
    shape: Vec<u64>,
    value: Value,
    #[serde(skip)]
    text: String,
}

fn attributes(attributes: Vec<Attribute>) -> Vec<AttributeRow> {
    let row = |attribute: Attribute| AttributeRow {
        dtype: attribute.dtype.to_string(),
        value: attribute_json(&attribute),
        text: attribute_text(&attribute),
        shape: attribute.shape,
        name: attribute.name,
    };
    attributes.into_iter().map(row).collect()
}

fn write_attributes(out: &mut impl Write, attributes: &[AttributeRow]) -> io::Result<()> {
    if attributes.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{STRONG}attributes{STRONG:#}")?;
    let mut table = Table::default();
    for attribute in attributes {
        table.push([
            Cell::new(&attribute.name),
            Cell::new(&attribute.dtype),
            Cell::new(&attribute.text),
        ]);
    }
    table.write(out, 2)
}

/// Lines of a name and a value.
#[derive(Debug, Default)]
struct Lines(Table);

impl Lines {
    fn add(&mut self, name: &str, value: &str) {
        self.0.push([Cell::styled(name, STRONG), Cell::new(value)]);
    }

    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        self.0.write(out, 0)
    }
}

/// Writes one JSON object, or lines.
fn print<W: Write>(
    out: &mut W,
    json: bool,
    info: &impl Serialize,
    lines: impl FnOnce(&mut W) -> io::Result<()>,
) -> Result<(), Failure> {
    if json {
        serde_json::to_writer_pretty(&mut *out, info).map_err(io::Error::from)?;
        writeln!(out)?;
    } else {
        lines(out)?;
    }
    Ok(out.flush()?)
}

/// A number of bytes, and the same in a unit that can be read at a glance.
fn bytes(count: u64) -> String {
    match indicatif::HumanBytes(count).to_string() {
        human if count >= 1024 => format!("{count} bytes ({})", visible(&human)),
        _ => format!("{count} bytes"),
    }
}
