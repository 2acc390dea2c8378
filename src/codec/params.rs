//! A filter's parameters, read with checks.

use super::error::{BadParams, CodecError};
use super::filter::Filter;

/// The parameters of a filter, read with checks.
pub(super) struct Params<'a> {
    /// The filter.
    pub(super) filter: &'a Filter,
    /// Bytes of the dataset's elements.
    pub(super) element_size: usize,
}

/// One parameter and where it stood.
pub(super) struct Param {
    filter: u16,
    index: usize,
    value: u32,
}

impl Params<'_> {
    /// The parameter at a position, from 0.
    pub(super) fn required(&self, index: usize) -> Result<Param, CodecError> {
        let value = *self.filter.params.get(index).ok_or(CodecError::BadParams {
            filter: self.filter.id,
            reason: BadParams::Missing { expected: index + 1, found: self.filter.params.len() },
        })?;
        Ok(Param { filter: self.filter.id, index, value })
    }

    /// The parameter at a position, from 0, or a default where it is not stored.
    pub(super) fn or_default(&self, index: usize, default: u32) -> Param {
        self.required(index).unwrap_or(Param { filter: self.filter.id, index, value: default })
    }

    /// The element size in bytes stored at a position, else the dataset's; never 0.
    pub(super) fn element_size(&self, index: usize) -> Result<usize, CodecError> {
        match self.required(index) {
            Ok(param) => match usize::try_from(param.value) {
                Ok(size @ 1..) => Ok(size),
                _ => Err(param.refused()),
            },
            Err(_) if self.element_size > 0 => Ok(self.element_size),
            Err(error) => Err(error),
        }
    }
}

impl Param {
    /// The value.
    pub(super) fn value(&self) -> u32 {
        self.value
    }

    /// The value, if it lies in an inclusive range.
    pub(super) fn in_range(&self, lowest: u8, highest: u8) -> Result<u8, CodecError> {
        match u8::try_from(self.value) {
            Ok(value) if (lowest..=highest).contains(&value) => Ok(value),
            _ => Err(self.refused()),
        }
    }

    /// The value as a length.
    pub(super) fn length(&self) -> Result<usize, CodecError> {
        usize::try_from(self.value).map_err(|_| self.refused())
    }

    /// The error that names this parameter.
    pub(super) fn refused(&self) -> CodecError {
        let reason = BadParams::Value { index: self.index, value: self.value };
        CodecError::BadParams { filter: self.filter, reason }
    }
}
