//! h5strata as an engine of `scripts/compare`: requests and answers as JSON lines, see
//! `scripts/python/compare/protocol.py`.

use std::error::Error;
use std::fs::File;
use std::hint::black_box;
use std::io::{BufRead, BufReader, Write, stdin, stdout};
use std::time::Instant;

use bumpalo::Bump;
use h5strata::selection::AxisSelection;
use h5strata::{Dataset, Dtype, OpenOptions, RawPath, ReadPlan, Selection};
use serde::Deserialize;
use serde_json::{Value, json};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

#[derive(Deserialize)]
#[serde(tag = "op", rename_all = "lowercase")]
enum Request {
    Read {
        file: String,
        version: Option<String>,
        dataset: String,
        #[serde(flatten)]
        selection: SelectionRequest,
        threads: usize,
        path: String,
    },
    Plan {
        shape: Vec<u64>,
        chunks: Vec<u64>,
        #[serde(flatten)]
        selection: SelectionRequest,
        times: u32,
    },
}

#[derive(Deserialize)]
struct SelectionRequest {
    selection: Option<String>,
    index_file: Option<String>,
}

impl SelectionRequest {
    fn resolve(&self) -> Result<Selection> {
        match (&self.selection, &self.index_file) {
            (Some(text), _) => Ok(text.parse()?),
            (None, Some(path)) => index_array(path),
            (None, None) => Err("a request needs a selection or an index_file".into()),
        }
    }
}

/// An array of indices, or a mask, from a .npy file.
fn index_array(path: &str) -> Result<Selection> {
    let open = || -> Result<_> { Ok(npyz::NpyFile::new(BufReader::new(File::open(path)?))?) };
    let axis = match open()?.into_vec::<i64>() {
        Ok(indices) => AxisSelection::Indices(indices),
        Err(_) => AxisSelection::Mask(open()?.into_vec::<bool>()?),
    };
    Ok(Selection::axes([axis]))
}

/// A result that a caller could keep, and its shape.
enum Values {
    Words(ndarray::ArrayD<i64>),
    Doubles(ndarray::ArrayD<f64>),
    Strings(ndarray::ArrayD<String>),
    Bytes(Vec<u8>, Vec<usize>),
}

impl Values {
    fn read(dataset: &Dataset, selection: &Selection) -> Result<Self> {
        Ok(match dataset.dtype() {
            Dtype::Integer { size: 8, signed: true, .. } => Self::Words(dataset.read(selection)?),
            Dtype::Float { size: 8, .. } => Self::Doubles(dataset.read(selection)?),
            Dtype::VariableString { .. } => Self::Strings(dataset.read_strings(selection)?),
            _ => {
                let (bytes, shape) = dataset.read_bytes(selection)?;
                let shape = shape
                    .iter()
                    .map(|&axis| usize::try_from(axis))
                    .collect::<std::result::Result<_, _>>()?;
                Self::Bytes(bytes, shape)
            }
        })
    }

    fn shape(&self) -> &[usize] {
        match self {
            Self::Words(array) => array.shape(),
            Self::Doubles(array) => array.shape(),
            Self::Strings(array) => array.shape(),
            Self::Bytes(_, shape) => shape,
        }
    }

    fn checksum(&self) -> String {
        let mut sum = Checksum::default();
        match self {
            Self::Words(array) => array.iter().for_each(|value| sum.add(&value.to_le_bytes())),
            Self::Doubles(array) => array.iter().for_each(|value| sum.add(&value.to_le_bytes())),
            Self::Strings(array) => array.iter().for_each(|string| {
                sum.add(&(string.len() as u64).to_le_bytes());
                sum.add(string.as_bytes());
            }),
            Self::Bytes(bytes, _) => sum.add(bytes),
        }
        format!("{:016x}", sum.finish())
    }
}

/// The sum of word *i* times *2i + 1* over little-endian 8-byte words (`checksum.py`).
#[derive(Default)]
struct Checksum {
    sum: u64,
    factor: u64,
    word: [u8; 8],
    filled: usize,
}

impl Checksum {
    fn add(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.word[self.filled] = byte;
            self.filled += 1;
            if self.filled == self.word.len() {
                self.add_word();
            }
        }
    }

    fn add_word(&mut self) {
        let weighted = u64::from_le_bytes(self.word).wrapping_mul(2 * self.factor + 1);
        self.sum = self.sum.wrapping_add(weighted);
        self.factor += 1;
        self.word = [0; 8];
        self.filled = 0;
    }

    fn finish(mut self) -> u64 {
        if self.filled > 0 {
            self.add_word();
        }
        self.sum
    }
}

fn answer(request: Request) -> Result<Value> {
    match request {
        Request::Read { file, version, dataset, selection, threads, path } => {
            let selection = selection.resolve()?;
            let path = if path == "library" { RawPath::Library } else { RawPath::Auto };
            // One thread a core is the default, whose pool all files share.
            let all = std::thread::available_parallelism()?.get();
            let options =
                OpenOptions::new().threads(if threads == all { 0 } else { threads }).raw_path(path);
            let version = version.ok_or("h5strata reads versioned files")?;
            let start = Instant::now();
            let opened = options.open(file)?;
            let dataset = opened.version(&version)?.dataset(&dataset)?;
            let values = Values::read(&dataset, &selection)?;
            drop((dataset, opened));
            let seconds = start.elapsed().as_secs_f64();
            Ok(json!({"seconds": seconds, "checksum": values.checksum(), "shape": values.shape()}))
        }
        Request::Plan { shape, chunks, selection, times } => {
            let selection = selection.resolve()?;
            let mut transfers = 0;
            let start = Instant::now();
            for _ in 0..times {
                let arena = Bump::new();
                let plan = ReadPlan::new(&selection, &shape, &chunks, &arena)?;
                let mut walk = plan.transfers();
                while let Some(transfer) = walk.advance() {
                    black_box(transfer.pieces());
                }
                transfers = plan.len();
            }
            let seconds = start.elapsed().as_secs_f64() / f64::from(times);
            Ok(json!({"seconds": seconds, "transfers": transfers}))
        }
    }
}

fn main() -> Result<()> {
    for line in stdin().lock().lines() {
        let request = serde_json::from_str(&line?);
        let answer = match request.map_err(Into::into).and_then(answer) {
            Ok(answer) => answer,
            Err(error) => json!({"error": error.to_string()}),
        };
        let mut stdout = stdout().lock();
        writeln!(stdout, "{answer}")?;
        stdout.flush()?;
    }
    Ok(())
}
