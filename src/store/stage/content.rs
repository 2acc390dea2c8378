//! The values of a staged dataset, and what they are stored with.

use std::sync::Arc;

use super::super::dataset::Dataset;
use super::super::storage::{Fill, Storage};
use super::base::{BaseError, DatasetBase, StageBase, StringBase, StringSource};
use super::error::StageFault;
use super::strings::{EMPTY, HANDLE, StringArena};
use crate::codec::Filter;
use crate::dims::Dims;
use crate::dtype::Dtype;
use crate::staged::{Base, StagedArray, StagedError};

/// The values of a staged dataset, and what its stored chunks are made of.
#[derive(Clone)]
pub(in crate::store) struct Content {
    pub(in crate::store) array: StagedArray<StageBase>,
    /// The strings behind the elements, if those are of variable length.
    pub(in crate::store) strings: Option<Arc<StringArena>>,
    pub(in crate::store) settings: Settings,
}

/// The filter that sorts bytes by their place in an element (`H5Z_FILTER_SHUFFLE`).
const SHUFFLE: u16 = 2;

/// What all versions of a dataset share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Settings {
    pub(crate) dtype: Dtype,
    pub(crate) chunk_shape: Dims,
    pub(crate) fill: Fill,
    pub(in crate::store) filters: Vec<Filter>,
}

impl Content {
    /// The values of a committed dataset, of which nothing is read.
    pub(super) fn inherited(dataset: Dataset) -> Result<Self, StageFault> {
        let settings = Settings::of(&dataset.inner.storage);
        if dataset.inner.storage.narrow.is_some() {
            return Err(StageFault::Type { dtype: settings.dtype });
        }
        let strings = settings.new_arena();
        let base = DatasetBase { dataset, strings: strings.clone() };
        Self::on(StageBase::Stored(base), strings, settings)
    }

    /// Values that a base brings.
    pub(super) fn on(
        base: StageBase,
        strings: Option<Arc<StringArena>>,
        settings: Settings,
    ) -> Result<Self, StageFault> {
        let array = StagedArray::on(Arc::new(base), settings.element_fill())?;
        Ok(Self { array, strings, settings })
    }

    /// Elements that a source brings when they are stored.
    pub(in crate::store) fn brought(
        source: Arc<dyn Base<Error = BaseError>>,
        settings: Settings,
    ) -> Result<Self, StageFault> {
        Self::on(StageBase::Source(source), None, settings)
    }

    /// Strings of variable length that a source brings when they are stored.
    pub(in crate::store) fn brought_strings(
        source: Arc<dyn StringSource>,
        settings: Settings,
    ) -> Result<Self, StageFault> {
        let Some(arena) = settings.new_arena() else {
            return Err(StageFault::Type { dtype: settings.dtype });
        };
        let base = StringBase::new(source, Arc::clone(&arena)).map_err(StagedError::from)?;
        Self::on(StageBase::Strings(Box::new(base)), Some(arena), settings)
    }

    /// The dataset of an older version that the values start from.
    pub(in crate::store) fn base_dataset(&self) -> Option<&Dataset> {
        match self.array.base()?.as_ref() {
            StageBase::Stored(base) => Some(&base.dataset),
            StageBase::Memory(_) | StageBase::Source(_) | StageBase::Strings(_) => None,
        }
    }

    /// Nothing but the fill value.
    pub(super) fn filled(shape: &[u64], settings: Settings) -> Result<Self, StageFault> {
        let strings = settings.new_arena();
        let array = StagedArray::filled(shape, &settings.chunk_shape, settings.element_fill())?;
        Ok(Self { array, strings, settings })
    }
}

impl Settings {
    pub(in crate::store) fn of(storage: &Storage) -> Self {
        Self {
            dtype: storage.dtype.clone(),
            chunk_shape: Dims::from_slice(storage.raw.chunk_shape()),
            fill: storage.fill.clone(),
            filters: storage.raw.pipeline().filters().to_vec(),
        }
    }

    /// Bytes of an element while it is staged.
    pub(in crate::store) fn element_size(&self) -> usize {
        self.element_fill().len()
    }

    /// Bytes of the element that stands where nothing is stored, as it is staged.
    pub(in crate::store) fn element_fill(&self) -> &[u8] {
        match &self.fill {
            Fill::Element(bytes) => bytes,
            // Versions cannot say another fill value of strings (format-v4.md, "A version's dataset").
            Fill::String(_) => &EMPTY,
        }
    }

    /// Where strings of variable length are kept; `None` for elements of fixed size.
    pub(super) fn new_arena(&self) -> Option<Arc<StringArena>> {
        self.dtype.is_variable_string().then(Arc::default)
    }

    /// Bytes of a whole chunk as it is staged.
    pub(in crate::store) fn chunk_bytes(&self) -> Option<usize> {
        let size = if self.dtype.is_variable_string() { HANDLE } else { self.element_size() };
        usize::try_from(crate::dims::byte_count(&self.chunk_shape, size).ok()?).ok()
    }

    /// Checks that these are the settings of the chunks that other versions have stored.
    pub(in crate::store) fn check_agrees(&self, stored: &Self) -> Result<(), StageFault> {
        let disagrees = |what, stored: String, asked: String| {
            Err(StageFault::Disagrees { what, stored, asked })
        };
        let both_strings = self.dtype.is_variable_string() && stored.dtype.is_variable_string();
        if self.dtype != stored.dtype && !both_strings {
            return disagrees("type", stored.dtype.to_string(), self.dtype.to_string());
        }
        if self.chunk_shape != stored.chunk_shape {
            let text = |shape: &Dims| format!("{:?}", shape.as_slice());
            return disagrees("chunk shape", text(&stored.chunk_shape), text(&self.chunk_shape));
        }
        if self.fill != stored.fill && !both_strings {
            let text = |fill: &Fill| format!("{:02x?}", fill.as_bytes());
            return disagrees("fill value", text(&stored.fill), text(&self.fill));
        }
        if !same_filters(&self.filters, &stored.filters) {
            let text = |filters: &[Filter]| {
                let names: Vec<_> = filters.iter().map(|f| f.display_name().to_string()).collect();
                format!("[{}]", names.join(", "))
            };
            return disagrees("filters", text(&stored.filters), text(&self.filters));
        }
        Ok(())
    }
}

/// Whether filters do the same. Their names in the file do not matter, and neither do the parameters of shuffle,
/// which libhdf5 fills in, or not for strings of variable length, as its version has it.
fn same_filters(one: &[Filter], other: &[Filter]) -> bool {
    one.len() == other.len()
        && one.iter().zip(other).all(|(a, b)| {
            let same_params = a.params == b.params || a.id == SHUFFLE;
            (a.id, a.optional) == (b.id, b.optional) && same_params
        })
}
