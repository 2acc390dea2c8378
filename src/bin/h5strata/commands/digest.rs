//! `h5strata digest`: the SHA-256 of the values of every dataset.

use std::io::{IsTerminal, Write, stdout};

use h5strata::store::EntryKind;
use h5strata::{Dataset, Selection, Version};
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use crate::args::{Digest, Global};
use crate::failure::{Failure, Reporter};
use crate::lookup;
use crate::output::{self, STRONG, tuple, visible};
use crate::read::{Elements, Parts, for_each_slab};
use crate::values::hex_digits;

/// A line of the output.
#[derive(Debug, Serialize)]
struct Row<'d> {
    version: &'d str,
    dataset: &'d str,
    shape: &'d [u64],
    dtype: String,
    sha256: String,
}

pub(crate) fn run(args: &Digest, global: &Global, reporter: &mut Reporter) -> Result<(), Failure> {
    let file = lookup::open(&args.file, global, reporter)?;
    // Programs get JSON whether they ask for it or not; people on a terminal get columns.
    let json = args.json || !stdout().is_terminal();
    if args.version.version.is_some() {
        return digest_version(&lookup::version(&file, &args.version)?, json, reporter);
    }
    for version in file.versions()? {
        match file.version(&version.name) {
            Ok(version) => digest_version(&version, json, reporter)?,
            Err(error) => reporter.error(&error.into()),
        }
    }
    Ok(())
}

/// Prints a line for each dataset of a version, in order of their paths.
fn digest_version(version: &Version, json: bool, reporter: &mut Reporter) -> Result<(), Failure> {
    let entries = match version.entries() {
        Ok(entries) => entries.into_iter(),
        Err(error) => {
            reporter.error(&error.into());
            return Ok(());
        }
    };
    // What is no dataset although it should be one fails when it is opened, and is told of there.
    let mut paths: Vec<String> =
        entries.filter(|entry| entry.kind != EntryKind::Group).map(|entry| entry.path).collect();
    paths.sort();
    let mut out = output::screen();
    if !json {
        writeln!(out, "version {STRONG}{}{STRONG:#}", visible(version.name()))?;
    }
    let width = paths.iter().map(|path| visible(path).chars().count()).max().unwrap_or(0);
    for path in &paths {
        let digested = version.dataset(path).map_err(Failure::from).and_then(|dataset| {
            let sha256 = digest(&dataset)?;
            Ok((dataset, sha256))
        });
        let (dataset, sha256) = match digested {
            Ok(digested) => digested,
            Err(failure) => {
                reporter.error(&failure);
                continue;
            }
        };
        if json {
            let row = Row {
                version: version.name(),
                dataset: path,
                shape: dataset.shape(),
                dtype: dataset.dtype().short_name(),
                sha256,
            };
            serde_json::to_writer(&mut out, &row).map_err(std::io::Error::from)?;
            writeln!(out)?;
        } else {
            let (path, dtype) = (visible(path), dataset.dtype().short_name());
            writeln!(out, "  {sha256}  {path:width$}  {} {dtype}", tuple(dataset.shape()))?;
        }
        // A digest can take long: whoever reads along sees each when it is there.
        out.flush()?;
    }
    out.flush()?;
    Ok(())
}

/// The digest in hexadecimal digits.
fn digest(dataset: &Dataset) -> Result<String, Failure> {
    let parts = Parts::new(dataset, &Selection::all())?;
    let mut sha256 = Sha256::new();
    for_each_slab(dataset, &parts, |Elements { bytes, strings }| {
        sha256.update(bytes);
        for string in strings {
            sha256.update((string.len() as u64).to_le_bytes());
            sha256.update(string);
        }
        Ok(())
    })?;
    Ok(hex_digits(&sha256.finalize()))
}
