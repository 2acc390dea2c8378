//! Reading parts of a selection: the elements of slabs, in order, in bounded memory.

mod axes;
mod parts;
mod slabs;

pub(crate) use axes::{Axes, Axis};
pub(crate) use parts::Parts;
pub(crate) use slabs::{Slabs, for_each_slab};

use h5strata::dtype::Dtype;
use h5strata::selection::Selection;
use h5strata::{Dataset, Error};

/// Elements in C order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Elements {
    /// Elements of a fixed size side by side, in the file's byte order.
    pub(crate) bytes: Vec<u8>,
    /// Strings of variable length.
    pub(crate) strings: Vec<Vec<u8>>,
}

impl Elements {
    /// Reads a selection of `count` elements; what was held before is lost and its memory used again.
    pub(crate) fn read(
        &mut self,
        dataset: &Dataset,
        selection: &Selection,
        count: u64,
    ) -> Result<(), Error> {
        match dataset.dtype().size() {
            Some(size) if !dataset.dtype().has_pointers() => {
                let fits = usize::try_from(count).ok().and_then(|count| count.checked_mul(size));
                match fits.filter(|bytes| {
                    self.bytes.try_reserve(bytes.saturating_sub(self.bytes.len())).is_ok()
                }) {
                    Some(bytes) => {
                        self.bytes.resize(bytes, 0);
                        dataset.read_into(selection, &mut self.bytes)
                    }
                    // The library says how much it would have taken.
                    None => dataset.read_bytes(selection).map(|(bytes, _)| self.bytes = bytes),
                }
            }
            _ => {
                self.strings = dataset.read_byte_strings(selection)?.into_raw_vec_and_offset().0;
                Ok(())
            }
        }
    }

    /// The bytes of each element of a type, which is the dataset's or a part of it; strings of fixed length with what fills them up.
    pub(crate) fn iter<'e>(&'e self, dtype: &Dtype) -> Box<dyn Iterator<Item = &'e [u8]> + 'e> {
        match dtype.size() {
            Some(size) => Box::new(self.bytes.chunks_exact(size.max(1))),
            None => Box::new(self.strings.iter().map(Vec::as_slice)),
        }
    }

    /// Bytes held, lengths not counted.
    pub(crate) fn size(&self) -> u64 {
        let strings: usize = self.strings.iter().map(Vec::len).sum();
        (self.bytes.len() + strings) as u64
    }
}
