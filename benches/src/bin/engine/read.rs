//! Timing of a read, from opening the file to closing it.

use std::error::Error;
use std::time::Instant;

use h5strata::dims::Dims;
use h5strata::{Dataset, Dtype, OpenOptions, RawPath, Selection};
use ndarray::ArrayD;
use serde_json::{Value, json};

use crate::checksum::{checksum, words};
use crate::request::{Path, ReadRequest, threads};

/// What a caller would hold after the read: an array where the library has one for the type.
enum Values {
    Integers(ArrayD<i64>),
    Doubles(ArrayD<f64>),
    Strings(ArrayD<String>),
    Bytes(Vec<u8>, Dims),
}

pub(crate) fn answer(request: &ReadRequest) -> Result<Value, Box<dyn Error>> {
    let selection = request.wanted.selection()?;
    let options = options(request)?;
    let start = Instant::now();
    let values = read(request, &options, selection)?;
    let seconds = start.elapsed().as_secs_f64();
    Ok(json!({
        "seconds": seconds,
        "checksum": format!("{:016x}", values.checksum()),
        "shape": values.shape(),
    }))
}

fn options(request: &ReadRequest) -> Result<OpenOptions, Box<dyn Error>> {
    let path = match request.path {
        Path::Auto => RawPath::Auto,
        Path::Library => RawPath::Library,
    };
    Ok(OpenOptions::new().threads(threads(request.threads)?).raw_path(path))
}

/// Everything that is timed. The file is closed when the last handle is dropped, on return.
fn read(
    request: &ReadRequest,
    options: &OpenOptions,
    selection: Selection,
) -> Result<Values, h5strata::Error> {
    let file = options.open(&request.file)?;
    let dataset = file.version(&request.version)?.dataset(&request.dataset)?;
    Values::read(&dataset, selection)
}

impl Values {
    fn read(dataset: &Dataset, selection: Selection) -> Result<Self, h5strata::Error> {
        match dataset.dtype().to_string().as_str() {
            "<i8" => Ok(Self::Integers(dataset.read(selection)?)),
            "<f8" => Ok(Self::Doubles(dataset.read(selection)?)),
            _ if matches!(dataset.dtype(), Dtype::VariableString { .. }) => {
                Ok(Self::Strings(dataset.read_strings(selection)?))
            }
            _ => {
                let (bytes, shape) = dataset.read_bytes(&selection)?;
                Ok(Self::Bytes(bytes, shape))
            }
        }
    }

    fn shape(&self) -> Vec<u64> {
        let wide = |shape: &[usize]| shape.iter().map(|&size| size as u64).collect();
        match self {
            Self::Integers(array) => wide(array.shape()),
            Self::Doubles(array) => wide(array.shape()),
            Self::Strings(array) => wide(array.shape()),
            Self::Bytes(_, shape) => shape.to_vec(),
        }
    }

    /// Of the values in C order; of strings each one's length in bytes as u64 and then the bytes.
    fn checksum(&self) -> u64 {
        match self {
            Self::Integers(array) => checksum(array.iter().map(|value| value.cast_unsigned())),
            Self::Doubles(array) => checksum(array.iter().map(|value| value.to_bits())),
            Self::Strings(array) => {
                let mut bytes = Vec::new();
                for string in array {
                    bytes.extend_from_slice(&(string.len() as u64).to_le_bytes());
                    bytes.extend_from_slice(string.as_bytes());
                }
                checksum(words(&bytes))
            }
            Self::Bytes(bytes, _) => checksum(words(bytes)),
        }
    }
}
