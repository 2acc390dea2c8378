//! What a read gives its caller.

use h5strata::dims::Dims;
use h5strata::{Dataset, Dtype, Error, Selection};
use ndarray::ArrayD;

use crate::checksum::{checksum, words};

/// What a caller would hold after a read: an array where the library has one for the type.
pub(crate) enum Values {
    Integers(ArrayD<i64>),
    Doubles(ArrayD<f64>),
    Strings(ArrayD<String>),
    Bytes(Vec<u8>, Dims),
}

impl Values {
    pub(crate) fn read(dataset: &Dataset, selection: Selection) -> Result<Self, Error> {
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

    pub(crate) fn shape(&self) -> Vec<u64> {
        let wide = |shape: &[usize]| shape.iter().map(|&size| size as u64).collect();
        match self {
            Self::Integers(array) => wide(array.shape()),
            Self::Doubles(array) => wide(array.shape()),
            Self::Strings(array) => wide(array.shape()),
            Self::Bytes(_, shape) => shape.to_vec(),
        }
    }

    /// The checksum in hexadecimal, of the values in C order; of strings each one's length in bytes as u64 and then the
    /// bytes.
    pub(crate) fn checksum(&self) -> String {
        let sum = match self {
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
        };
        format!("{sum:016x}")
    }
}
