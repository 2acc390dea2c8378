//! Values as bytes, for comparison with answers and with each other.

use std::fmt::Write as _;

use h5strata::{Dataset, Error, Selection};
use sha2::{Digest as _, Sha256};

/// Elements in C order, with their shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Values {
    pub(crate) shape: Vec<u64>,
    elements: Elements,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Elements {
    Fixed { size: usize, bytes: Vec<u8> },
    Strings(Vec<Vec<u8>>),
}

impl Values {
    /// Reads a selection: strings of variable length as such, everything else as bytes.
    ///
    /// # Errors
    /// Those of reading.
    pub(crate) fn read(dataset: &Dataset, selection: &Selection) -> Result<Self, Error> {
        if dataset.dtype().is_variable_string() {
            let strings = dataset.read_byte_strings(selection)?;
            let shape = strings.shape().iter().map(|&axis| axis as u64).collect();
            return Ok(Self { shape, elements: Elements::Strings(strings.into_iter().collect()) });
        }
        let (bytes, shape) = dataset.read_bytes(selection)?;
        let size = dataset.dtype().size().unwrap_or(0);
        Ok(Self { shape: shape.to_vec(), elements: Elements::Fixed { size, bytes } })
    }

    /// All elements of a dataset.
    ///
    /// # Errors
    /// Those of reading.
    pub(crate) fn whole(dataset: &Dataset) -> Result<Self, Error> {
        Self::read(dataset, &Selection::all())
    }

    /// The bytes of an element by its position in C order.
    pub(crate) fn element(&self, position: usize) -> &[u8] {
        match &self.elements {
            Elements::Fixed { size, bytes } => &bytes[position * size..(position + 1) * size],
            Elements::Strings(strings) => &strings[position],
        }
    }

    /// The elements at these positions, in this order, in another shape.
    pub(crate) fn gather(&self, shape: Vec<u64>, positions: &[usize]) -> Self {
        let chosen = positions.iter().map(|&position| self.element(position));
        let elements = match &self.elements {
            Elements::Fixed { size, .. } => {
                Elements::Fixed { size: *size, bytes: chosen.flatten().copied().collect() }
            }
            Elements::Strings(_) => Elements::Strings(chosen.map(<[u8]>::to_vec).collect()),
        };
        Self { shape, elements }
    }

    /// SHA-256 of the values, as `Digest::sha256` has it.
    pub(crate) fn sha256(&self) -> String {
        match &self.elements {
            Elements::Fixed { bytes, .. } => sha256(bytes),
            Elements::Strings(strings) => sha256_of_strings(strings),
        }
    }
}

/// SHA-256 of bytes, in hexadecimal digits.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    hexadecimal(Sha256::new().chain_update(bytes))
}

/// SHA-256 of strings: each its length as u64 little-endian, then its bytes.
pub(crate) fn sha256_of_strings(strings: &[Vec<u8>]) -> String {
    let mut sha = Sha256::new();
    for string in strings {
        sha.update((string.len() as u64).to_le_bytes());
        sha.update(string);
    }
    hexadecimal(sha)
}

fn hexadecimal(sha: Sha256) -> String {
    sha.finalize().iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// A sequence of numbers that looks random and is the same in every run (SplitMix64).
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    /// A number from 0 to below `end`, which is above 0.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}
