//! From the settings that a dataset has to those it is to have.

use super::convert::Convert;
use super::error::RewriteFault;
use super::options::{FillValue, RewriteOptions};
use crate::codec::{ChunkLayout, Filter};
use crate::dims::{Dims, check_chunk_shape, element_count};
use crate::dtype::Dtype;
use crate::staged::StagedError;
use crate::store::describe;
use crate::store::stage::{Settings, StageFault, check_filters};
use crate::store::storage::{Fill, Storage};

/// What a dataset has, what it is to have, and what becomes of its values.
#[derive(Clone, Debug)]
pub(super) struct Change {
    pub(super) old: Settings,
    pub(super) new: Settings,
    pub(super) values: Values,
}

/// What becomes of values.
#[derive(Clone, Debug)]
pub(super) enum Values {
    /// Elements of fixed size.
    Elements(Convert),
    /// Strings, which stay what they are, as strings of variable length.
    Strings,
}

impl Change {
    /// The change that options ask for, checked: a dataset of the new settings can be written.
    pub(super) fn new(storage: &Storage, options: &RewriteOptions) -> Result<Self, RewriteFault> {
        let old = Settings::of(storage);
        let dtype = options.dtype.clone().unwrap_or_else(|| old.dtype.clone());
        let has_other_pointers =
            |dtype: &Dtype| dtype.has_pointers() && !dtype.is_variable_string();
        // Integers that do not fill their bytes are read, and written by nobody here.
        if storage.narrow.is_some() || has_other_pointers(&old.dtype) {
            return Err(StageFault::Type { dtype: old.dtype }.into());
        }
        if has_other_pointers(&dtype) || describe::description(&dtype).is_err() {
            return Err(StageFault::Type { dtype }.into());
        }
        let chunk_shape = options.chunk_shape.as_ref().unwrap_or(&old.chunk_shape).clone();
        check_chunk_shape(old.chunk_shape.len(), &chunk_shape)
            .map_err(|error| StageFault::from(StagedError::from(error)))?;
        let (fill, values) = values(&old, &dtype, options.fill.as_ref())?;
        let filters = filters(&old, &dtype, &chunk_shape, options)?;
        let new = Settings { dtype, chunk_shape, fill, filters };
        check_filters(&new)?;
        Ok(Self { old, new, values })
    }

    /// Whether anything becomes different.
    pub(super) fn is_any(&self) -> bool {
        let (old, new) = (&self.old, &self.new);
        (&old.dtype, &old.fill) != (&new.dtype, &new.fill) || old.check_agrees(new).is_err()
    }
}

/// The new fill value, and what becomes of values.
fn values(
    old: &Settings,
    dtype: &Dtype,
    fill: Option<&FillValue>,
) -> Result<(Fill, Values), RewriteFault> {
    if dtype.is_variable_string() {
        if fill.is_some_and(|fill| !fill.is_empty()) {
            return Err(StageFault::StringFill.into());
        }
        let kept = match (&old.fill, &old.dtype) {
            (kept @ Fill::String(_), _) => kept.clone(),
            (Fill::Element(bytes), Dtype::FixedString { padding, .. }) => {
                if !padding.trim(bytes).is_empty() {
                    return Err(RewriteFault::StringFill);
                }
                Fill::String(Vec::new())
            }
            (Fill::Element(_), from) => {
                let (from, to) = (from.clone(), dtype.clone());
                return Err(crate::dtype::CastError { from, to }.into());
            }
        };
        let fill = if fill.is_some() { Fill::String(Vec::new()) } else { kept };
        return Ok((fill, Values::Strings));
    }
    let asked = fill.map(|fill| fill.element(dtype)).transpose()?;
    let convert = Convert::new((&old.dtype, old.fill.as_bytes()), dtype, asked.as_deref())?;
    let fill = Fill::Element(convert.fill(old.fill.as_bytes()));
    Ok((fill, Values::Elements(convert)))
}

/// The filters, with the parameters that they have on chunks of this type and shape.
fn filters(
    old: &Settings,
    dtype: &Dtype,
    chunk_shape: &Dims,
    options: &RewriteOptions,
) -> Result<Vec<Filter>, StageFault> {
    let layout = |dtype: &Dtype, chunk_shape: &Dims| {
        let elements = element_count(chunk_shape).map_err(StagedError::from)?;
        ChunkLayout::new(dtype, elements).map_err(StageFault::Filter)
    };
    let new = layout(dtype, chunk_shape)?;
    match &options.filters {
        Some(request) => request.filters(&new).map_err(StageFault::Filter),
        None if layout(&old.dtype, &old.chunk_shape).is_ok_and(|old| old == new) => {
            Ok(old.filters.clone())
        }
        None => (old.filters.iter().cloned())
            .map(|filter| filter.localised(&new).map_err(StageFault::Filter))
            .collect(),
    }
}
