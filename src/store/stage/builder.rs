use std::borrow::Cow;
use std::sync::Arc;

use ndarray::{Array, ArrayBase, Data, Dimension};
use rayon::prelude::*;

use super::super::element::{Element, Elements, bytes_of, into_elements};
use super::super::error::Error;
use super::super::storage::Fill;
use super::Stage;
use super::base::{BaseError, StageBase, StringSource};
use super::content::{Content, Settings};
use super::dataset::StagedDataset;
use super::error::StageFault;
use super::tree::{AttributeChanges, Node, NodeKind};
use crate::chunking;
use crate::codec::{ChunkLayout, Filter, FilterRequest, Pipeline};
use crate::dims::Dims;
use crate::dtype::{Charset, Dtype};
use crate::memory::prefer_huge_pages;
use crate::staged::{Base, MemoryBase, StagedError};

/// The filters that a dataset is to have.
#[derive(Clone, Debug)]
enum Filters {
    Asked(FilterRequest),
    Stored(Vec<Filter>),
}

/// A dataset that is about to be staged. What is not said is as in the versions that have stored chunks at its path,
/// and else a default: a chunk shape that suits its shape, no filters, filled with zeros.
#[must_use = "a dataset is staged when it gets its values"]
pub struct DatasetBuilder<'s, 'f> {
    stage: &'s mut Stage<'f>,
    path: String,
    chunk_shape: Option<Dims>,
    filters: Option<Filters>,
    fill: Option<Vec<u8>>,
    replaces: bool,
}

impl<'s, 'f> DatasetBuilder<'s, 'f> {
    pub(super) fn new(stage: &'s mut Stage<'f>, path: &str) -> Self {
        let path = path.to_owned();
        Self { stage, path, chunk_shape: None, filters: None, fill: None, replaces: false }
    }

    /// Takes the place of the dataset at the path, whose attributes it keeps, if there is one.
    pub(crate) fn replacing(mut self) -> Self {
        self.replaces = true;
        self
    }

    /// Takes filters with all the parameters that they have on another dataset of this type and chunk shape.
    pub(crate) fn stored_filters(mut self, filters: Vec<Filter>) -> Self {
        self.filters = Some(Filters::Stored(filters));
        self
    }

    /// Shape of a chunk in elements.
    pub fn chunks(mut self, shape: &[u64]) -> Self {
        self.chunk_shape = Some(Dims::from_slice(shape));
        self
    }

    /// Compresses chunks with deflate; 0 is the fastest level, 9 the best.
    pub fn gzip(self, level: u8) -> Self {
        self.compression(Filter::gzip(level))
    }

    /// Compresses chunks with any filter.
    pub fn compression(self, filter: Filter) -> Self {
        self.asked(|request| request.compression = Some(filter))
    }

    /// Sorts the bytes of a chunk's elements by their place before they are compressed.
    pub fn shuffle(self) -> Self {
        self.asked(|request| request.shuffle = true)
    }

    /// Guards chunks by a checksum.
    pub fn fletcher32(self) -> Self {
        self.asked(|request| request.fletcher32 = true)
    }

    /// The filters, all of them.
    pub fn filters(mut self, filters: FilterRequest) -> Self {
        self.filters = Some(Filters::Asked(filters));
        self
    }

    fn asked(mut self, change: impl FnOnce(&mut FilterRequest)) -> Self {
        let mut request = match self.filters.take() {
            Some(Filters::Asked(request)) => request,
            Some(Filters::Stored(_)) | None => FilterRequest::default(),
        };
        change(&mut request);
        self.filters = Some(Filters::Asked(request));
        self
    }

    /// What stands where nothing is stored: the bytes of one element, in the byte order of the type.
    pub fn fill(mut self, element: &[u8]) -> Self {
        self.fill = Some(element.to_vec());
        self
    }

    /// Stages an array.
    ///
    /// # Errors
    /// [`Error::Stage`]: the path is taken, the settings are not those of other versions, or cannot be written.
    pub fn data<T, S, D>(self, values: &ArrayBase<S, D>) -> Result<StagedDataset<'s>, Error>
    where
        T: Element,
        S: Data<Elem = T>,
        D: Dimension,
    {
        let shape: Vec<u64> = values.shape().iter().map(|&axis| axis as u64).collect();
        let dtype = T::dtype();
        let bytes = match bytes_of(values, &dtype) {
            Cow::Borrowed(bytes) => copy(bytes),
            Cow::Owned(bytes) => bytes,
        };
        self.bytes(dtype, &shape, bytes)
    }

    /// Stages an array that is not needed any more, without a copy if it is in C order.
    ///
    /// # Errors
    /// As [`data`](Self::data).
    pub fn owned_data<T, D>(self, values: Array<T, D>) -> Result<StagedDataset<'s>, Error>
    where
        T: Element,
        D: Dimension,
    {
        let shape: Vec<u64> = values.shape().iter().map(|&axis| axis as u64).collect();
        self.elements(T::dtype(), &shape, into_elements(values))
    }

    /// Stages elements given as bytes, in C order and the byte order of the type.
    ///
    /// # Errors
    /// As [`data`](Self::data).
    pub fn bytes(
        self,
        dtype: Dtype,
        shape: &[u64],
        values: Vec<u8>,
    ) -> Result<StagedDataset<'s>, Error> {
        self.elements(dtype, shape, values.into())
    }

    fn elements(
        self,
        dtype: Dtype,
        shape: &[u64],
        values: Elements,
    ) -> Result<StagedDataset<'s>, Error> {
        self.stage(dtype, shape, |settings| {
            if settings.dtype.is_variable_string() {
                return Err(StageFault::Type { dtype: settings.dtype });
            }
            let base =
                MemoryBase::new(shape, &settings.chunk_shape, settings.element_size(), values)?;
            Content::on(StageBase::Memory(Box::new(base)), None, settings)
        })
    }

    /// Stages strings of variable length, given in C order.
    ///
    /// # Errors
    /// As [`data`](Self::data).
    pub fn strings(
        self,
        shape: &[u64],
        strings: &[impl AsRef<[u8]>],
    ) -> Result<StagedDataset<'s>, Error> {
        let dtype = Dtype::VariableString { charset: Charset::Utf8 };
        self.stage(dtype, shape, |settings| {
            let arena = settings.new_arena();
            let handles = super::dataset::handles(arena.as_deref(), shape, strings)?;
            let base = MemoryBase::new(
                shape,
                &settings.chunk_shape,
                settings.element_size(),
                Elements::from(handles),
            )?;
            Content::on(StageBase::Memory(Box::new(base)), arena, settings)
        })
    }

    /// Stages a dataset that holds nothing but its fill value.
    ///
    /// # Errors
    /// As [`data`](Self::data).
    pub fn empty(self, dtype: Dtype, shape: &[u64]) -> Result<StagedDataset<'s>, Error> {
        self.stage(dtype, shape, |settings| Content::filled(shape, settings))
    }

    /// Stages chunks that are brought from elsewhere when the stage is committed, few of them at a time. They must be
    /// of the dataset's chunk shape, which [`chunk_shape_for`](Self::chunk_shape_for) tells.
    ///
    /// # Errors
    /// As [`data`](Self::data).
    pub fn source(
        self,
        dtype: Dtype,
        source: Arc<dyn Base<Error = BaseError>>,
    ) -> Result<StagedDataset<'s>, Error> {
        let shape = Dims::from_slice(source.shape());
        self.stage(dtype, &shape, |settings| {
            if settings.dtype.is_variable_string() {
                return Err(StageFault::Type { dtype: settings.dtype });
            }
            Content::brought(source, settings)
        })
    }

    /// Stages strings of variable length that are brought from elsewhere when the stage is committed, a chunk at a
    /// time. They must be of the dataset's chunk shape, which [`chunk_shape_for`](Self::chunk_shape_for) tells.
    ///
    /// # Errors
    /// As [`data`](Self::data); for another type than strings of variable length.
    pub fn string_source(
        self,
        dtype: Dtype,
        source: Arc<dyn StringSource>,
    ) -> Result<StagedDataset<'s>, Error> {
        let shape = Dims::from_slice(source.shape());
        self.stage(dtype, &shape, |settings| Content::brought_strings(source, settings))
    }

    /// The chunk shape that a dataset of this type and shape will have.
    ///
    /// # Errors
    /// [`Error::Dataset`] if the stored chunks of other versions cannot be looked at.
    pub fn chunk_shape_for(&self, dtype: &Dtype, shape: &[u64]) -> Result<Dims, Error> {
        let stored = self.stage.stored_settings(self.path.trim_matches('/'))?;
        Ok(self.chunk_shape(stored.as_ref(), dtype, shape))
    }

    fn chunk_shape(&self, stored: Option<&Settings>, dtype: &Dtype, shape: &[u64]) -> Dims {
        match (&self.chunk_shape, stored) {
            (Some(asked), _) => asked.clone(),
            (None, Some(stored)) => stored.chunk_shape.clone(),
            (None, None) => {
                chunking::guess(shape, dtype.size().unwrap_or(STRING_SIZE)).unwrap_or_default()
            }
        }
    }

    fn stage(
        self,
        dtype: Dtype,
        shape: &[u64],
        content: impl FnOnce(Settings) -> Result<Content, StageFault>,
    ) -> Result<StagedDataset<'s>, Error> {
        let replaced = if self.replaces { self.stage.replaced(&self.path) } else { None };
        let (path, origin, attributes) = match replaced {
            Some(replaced) => replaced,
            None => (self.stage.free_path(&self.path)?, None, AttributeChanges::default()),
        };
        let stored = self.stage.stored_settings(&path)?;
        let made = self
            .settings(stored.as_ref(), dtype, shape)
            .and_then(|settings| match &stored {
                Some(stored) => settings.check_agrees(stored).map(|()| settings),
                None => Ok(settings),
            })
            .and_then(content);
        let stage = self.stage;
        let content = made.map_err(|fault| stage.fault(&path, fault))?;
        let kind = NodeKind::Staged(Box::new(content));
        stage.insert(path.clone(), Node { origin, attributes, kind });
        StagedDataset::new(stage, &path)
    }

    fn settings(
        &self,
        stored: Option<&Settings>,
        dtype: Dtype,
        shape: &[u64],
    ) -> Result<Settings, StageFault> {
        if shape.is_empty() {
            return Err(StageFault::Scalar);
        }
        super::super::describe::description(&dtype)
            .map_err(|_| StageFault::Type { dtype: dtype.clone() })?;
        let chunk_shape = self.chunk_shape(stored, &dtype, shape);
        crate::dims::check_chunk_shape(shape.len(), &chunk_shape).map_err(StagedError::from)?;
        let fill = match (&self.fill, stored, dtype.size()) {
            (Some(fill), _, Some(expected)) if fill.len() != expected => {
                return Err(StageFault::FillSize { expected, found: fill.len() });
            }
            (Some(fill), _, Some(_)) => Fill::Element(fill.clone()),
            (Some(fill), _, None) if !fill.is_empty() => return Err(StageFault::StringFill),
            (_, _, None) => Fill::String(Vec::new()),
            (None, Some(stored), Some(_)) => stored.fill.clone(),
            (None, None, Some(size)) => Fill::Element(vec![0; size]),
        };
        let mut settings = Settings { dtype, chunk_shape, fill, filters: Vec::new() };
        settings.filters = match (&self.filters, stored) {
            (Some(Filters::Stored(filters)), _) => filters.clone(),
            (Some(Filters::Asked(request)), _) => {
                let elements =
                    crate::dims::element_count(&settings.chunk_shape).map_err(StagedError::from)?;
                ChunkLayout::new(&settings.dtype, elements)
                    .and_then(|layout| request.filters(&layout))
                    .map_err(StageFault::Filter)?
            }
            (None, Some(stored)) => stored.filters.clone(),
            (None, None) => Vec::new(),
        };
        check_filters(&settings)?;
        Ok(settings)
    }
}

/// Bytes from which on other threads are worth their cost.
const LARGE: usize = 4 << 20;

/// Bytes that one thread copies at a time.
const PART: usize = 1 << 20;

/// A copy of the bytes of an array.
fn copy(bytes: &[u8]) -> Vec<u8> {
    if bytes.len() < LARGE {
        return bytes.to_vec();
    }
    let mut copy = vec![0; bytes.len()];
    prefer_huge_pages(&mut copy);
    copy.par_chunks_mut(PART)
        .zip(bytes.par_chunks(PART))
        .for_each(|(copy, part)| copy.copy_from_slice(part));
    copy
}

/// Bytes of an element of strings of variable length in a file, as h5py counts them.
const STRING_SIZE: usize = 16;

/// Checks that chunks can be written with the filters.
pub(in crate::store) fn check_filters(settings: &Settings) -> Result<(), StageFault> {
    if settings.dtype.is_variable_string() {
        let lock = h5strata_ffi::lock();
        for filter in &settings.filters {
            if !h5strata_ffi::h5z::is_available(&lock, filter.id.into()).unwrap_or(false) {
                return Err(StageFault::LibraryFilter { filter: filter.id });
            }
        }
        return Ok(());
    }
    let chunk_bytes = settings.chunk_bytes().unwrap_or(usize::MAX);
    Pipeline::new(settings.filters.clone(), chunk_bytes, settings.element_size())
        .can_encode()
        .map_err(StageFault::Filter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_whole_whatever_their_size() {
        for len in [0, 1, LARGE - 1, LARGE, LARGE + PART + 3] {
            let bytes: Vec<u8> = (0..251).cycle().take(len).collect();
            assert!(copy(&bytes) == bytes, "{len} bytes");
        }
    }
}
