//! What a commit has in memory: what is changed, and little beside it.

use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::Path;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::Outcome;
use crate::outputs::folder;
use crate::program::{Run, on_file, script};

/// Shape of the array that is committed, and its bytes: 8 an element.
const SHAPE: [u64; 2] = [25_000, 1_000];
const BYTES: u64 = 8 * SHAPE[0] * SHAPE[1];

/// The program itself, and the few batches of chunks that are on their way into the file.
const BESIDE: u64 = 64 << 20;

/// What `digest --json` says of a dataset.
#[derive(Debug, Deserialize)]
struct Digest {
    sha256: String,
}

/// Writes an array of different integers, as NumPy does.
fn write_npy(path: &Path) -> std::io::Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    let [rows, columns] = SHAPE;
    let mut header =
        format!("{{'descr': '<i8', 'fortran_order': False, 'shape': ({rows}, {columns}), }}");
    // With what goes before it, a multiple of 64 bytes.
    header = format!("{header:117}\n");
    file.write_all(b"\x93NUMPY\x01\x00\x76\x00")?;
    file.write_all(header.as_bytes())?;
    for value in 0..rows * columns {
        file.write_all(&value.to_le_bytes())?;
    }
    file.flush()
}

/// Commits an operation; gives the most bytes that the program had in memory at once.
fn peak(file: &Path, version: &str, operation: &Value) -> Result<u64, Box<dyn std::error::Error>> {
    let operations = file.with_extension("json");
    fs::write(&operations, json!([operation]).to_string())?;
    let mut command = script("peak_memory.py")?;
    command.args([env!("CARGO_BIN_EXE_h5strata"), "commit"]).arg(file).args([version, "--ops"]);
    Ok(Run::of(command.arg(&operations)).exits(0).text().trim().parse()?)
}

#[test]
fn the_array_that_a_dataset_is_made_of_or_overwritten_with_is_held_once() -> Outcome {
    let folder = folder("memory")?;
    let file = folder.join("file.h5");
    on_file("init", &file, &[]).succeeds();
    write_npy(&folder.join("array.npy"))?;
    for (version, operation) in [
        ("made", json!({"op": "create", "dataset": "x", "npy": "array.npy", "chunks": [300, 100]})),
        ("zeros", json!({"op": "write", "dataset": "x", "value": 0})),
        ("overwritten", json!({"op": "write", "dataset": "x", "npy": "array.npy"})),
    ] {
        let peak = peak(&file, version, &operation)?;
        // One value for all elements takes the memory of one chunk.
        let changed = if version == "zeros" { 0 } else { BYTES };
        assert!((changed..changed + BESIDE).contains(&peak), "{version}: {peak} bytes");
    }
    let digests: Vec<Digest> = on_file("digest", &file, &["--json"]).succeeds().json_lines();
    let [made, zeros, overwritten] = digests.as_slice() else { panic!("{digests:?}") };
    assert!(made.sha256 == overwritten.sha256 && made.sha256 != zeros.sha256, "{digests:?}");
    Ok(fs::remove_dir_all(&folder)?)
}
