//! What filters learn from the dataset they are put on.

use super::error::CodecError;
use crate::dtype::Dtype;

/// Sizes of a dataset's elements and chunks, as filters keep them in their parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChunkLayout {
    /// Elements of one size.
    Fixed {
        /// Bytes of an element (`H5Tget_size`).
        element_size: u32,
        /// Bytes of what an element is an array of; of the element itself where it is none.
        base_size: u32,
        /// Bytes of a chunk.
        chunk_bytes: u32,
    },
    /// Elements of variable length: filters learn nothing of them (`H5Z_ignore_filters`).
    Variable,
}

impl ChunkLayout {
    /// The layout of chunks of `chunk_elements` elements.
    ///
    /// # Errors
    /// [`CodecError::ChunkTooLarge`] from 4 GiB on.
    pub fn new(dtype: &Dtype, chunk_elements: u64) -> Result<Self, CodecError> {
        let element_size = match dtype {
            Dtype::Other { class: "vlen", .. } => return Ok(Self::Variable),
            dtype => match dtype.size() {
                Some(size) => size,
                None => return Ok(Self::Variable),
            },
        };
        let base_size = match dtype {
            Dtype::Array { base, .. } => base.size().unwrap_or(element_size),
            _ => element_size,
        };
        let too_large = || CodecError::ChunkTooLarge { elements: chunk_elements, element_size };
        let bytes = |size: usize| u32::try_from(size).map_err(|_| too_large());
        let chunk_bytes = u32::try_from(chunk_elements)
            .ok()
            .and_then(|elements| elements.checked_mul(u32::try_from(element_size).ok()?))
            .ok_or_else(too_large)?;
        Ok(Self::Fixed {
            element_size: bytes(element_size)?,
            base_size: bytes(base_size)?,
            chunk_bytes,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dtype::Charset;

    #[test]
    fn arrays_have_a_base_and_strings_of_variable_length_nothing() {
        let array: Dtype = "('<i4', (3,))".parse().unwrap();
        let expected = ChunkLayout::Fixed { element_size: 12, base_size: 4, chunk_bytes: 120 };
        assert_eq!(ChunkLayout::new(&array, 10), Ok(expected));
        let string = Dtype::VariableString { charset: Charset::Utf8 };
        assert_eq!(ChunkLayout::new(&string, u64::MAX), Ok(ChunkLayout::Variable));
    }

    #[test]
    fn chunks_of_4_gib_are_refused() {
        let byte: Dtype = "u1".parse().unwrap();
        assert!(ChunkLayout::new(&byte, (1 << 32) - 1).is_ok());
        for elements in [1 << 32, u64::MAX] {
            let error = CodecError::ChunkTooLarge { elements, element_size: 1 };
            assert_eq!(ChunkLayout::new(&byte, elements), Err(error));
        }
    }
}
