use std::sync::Arc;

use bumpalo::Bump;
use h5strata_ffi::h5p::{self, FillValue, Layout};
use h5strata_ffi::h5s::{self, Extent};
use h5strata_ffi::id::{Container, Datatype, Id};
use h5strata_ffi::{h5d, h5l, h5o, h5t};

use super::describe;
use super::error::{DatasetFault, RawDataFault};
use super::file::{Direct, FileInner, Handle};
use super::narrow::NarrowInteger;
use super::session::{DatasetAt, Session};
use super::version::VersionInner;
use crate::chunk_map::{ChunkMap, ElementType, open_in_library};
use crate::codec::{Filter, Pipeline};
use crate::dims::{ChunkIndex, Dims, RawChunk, byte_count};
use crate::dtype::Dtype;
use crate::kernel::Destination;
use crate::ondisk::{
    self, ChunkBTree, DatatypeMessage, ObjectHeader, OndiskError, variable_string_fill_values,
};
use crate::plan::ReadPlan;
use crate::raw::{
    EMPTY_REFERENCE, FILL_REFERENCE, Fetch, MAX_REFERENCE, RawData, ReadError, ReadFault,
    StringFault, Threads, reference_size, resolve_strings,
};
use crate::selection::Selection;

/// What all versions of a dataset share: stored chunks, type, filters and fill value.
#[derive(Debug)]
pub(super) struct Storage {
    pub(super) path: String,
    pub(super) raw: RawData,
    pub(super) dtype: Dtype,
    /// What is narrow about its integers, if they do not fill their bytes.
    pub(super) narrow: Option<NarrowInteger>,
    pub(super) fill: Fill,
    /// The type as libhdf5 knows it, and as it is stored if that could be looked at.
    datatype: Arc<Datatype>,
    stored_datatype: Option<DatatypeMessage>,
    handle: Arc<Handle>,
}

/// What stands where nothing is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fill {
    /// The bytes of one element.
    Element(Vec<u8>),
    /// One string of variable length.
    String(Vec<u8>),
}

impl Fill {
    /// The bytes, of an element or of a string.
    pub fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Element(bytes) | Self::String(bytes) => bytes,
        }
    }
}

/// The flag of `H5Pget_filter`: a chunk may go without the filter.
pub(super) const OPTIONAL: u32 = 1;

impl Storage {
    pub(super) fn open(file: &FileInner, path: &str) -> Result<Self, DatasetFault> {
        let session = file.session()?;
        let lock = session.lock();
        let fault = |fault| DatasetFault::RawData { raw_data: path.to_owned(), fault };
        if !h5l::exists(lock, &session.file, path)? {
            return Err(DatasetFault::MissingRawData { raw_data: path.to_owned() });
        }
        let dataset = h5d::open(lock, &session.file, path)?;
        let datatype = h5d::datatype(lock, &dataset)?;
        if h5t::is_variable_string(lock, &datatype)? {
            check_fill_strings(file.direct.as_ref(), &session.file, path)
                .map_err(|fault| DatasetFault::FillValue { raw_data: path.to_owned(), fault })?;
        }
        let creation = h5d::creation(lock, &dataset)?;
        if h5p::layout(lock, &creation)? != Layout::Chunked {
            return Err(fault(RawDataFault::NotChunked));
        }
        let chunk_shape = Dims::from_slice(&h5p::chunk_shape(lock, &creation)?);
        let chunks = match h5s::extent(lock, &h5d::space(lock, &dataset)?)? {
            Extent::Simple { dims, .. } => stacked_chunks(&dims, &chunk_shape).map_err(fault)?,
            _ => return Err(fault(RawDataFault::NotChunked)),
        };
        let description = h5t::describe(lock, &datatype)?;
        let dtype = describe::dtype(&description);
        let narrow = NarrowInteger::of(&description);
        let element_size = match (dtype.size(), &file.direct) {
            (Some(size), _) => size,
            (None, Some(direct)) => reference_size(&direct.superblock),
            // Without positional reads references are never looked at.
            (None, None) => size_of::<u64>(),
        };
        let too_large = || RawDataFault::ChunkSize { chunk_shape: chunk_shape.to_vec() };
        let chunk_bytes = byte_count(&chunk_shape, element_size)
            .ok()
            .and_then(|bytes| usize::try_from(bytes).ok())
            .ok_or_else(|| fault(too_large()))?;
        let fill = match h5p::fill_value(lock, &creation, &datatype) {
            Ok(FillValue::Bytes(bytes)) => Fill::Element(bytes),
            Ok(FillValue::VariableString(string)) => Fill::String(string),
            Ok(_) if dtype.is_variable_string() => Fill::String(Vec::new()),
            Ok(_) => Fill::Element(vec![0; element_size]),
            // Elements with pointers are not read as bytes, and what they are filled with does not matter.
            Err(h5strata_ffi::Error::PointersInType { .. }) => Fill::Element(vec![0; element_size]),
            Err(error) => return Err(error.into()),
        };
        if let Fill::Element(bytes) = &fill
            && bytes.len() != element_size
        {
            let (expected, found) = (element_size, bytes.len());
            return Err(fault(RawDataFault::FillSize { expected, found }));
        }
        let filters = (0..h5p::filter_count(lock, &creation)?)
            .map(|index| Ok(filter(h5p::filter(lock, &creation, index)?)))
            .collect::<Result<Vec<_>, h5strata_ffi::Error>>()?;
        let pipeline = Pipeline::new(filters, chunk_bytes, element_size);
        let header = raw_header(file, &session, path);
        let index = header.as_ref().and_then(chunk_index);
        let stored_datatype = header.and_then(|header| header.datatype().cloned());
        let (handle, datatype) = (Arc::clone(&file.handle), Arc::new(datatype));
        let dataset = Box::new(DatasetAt::new(Arc::clone(&handle), path));
        let raw =
            RawData::new(dataset, chunk_shape, chunks, element_size, chunk_bytes, pipeline, index);
        let path = path.to_owned();
        Ok(Self { path, raw, dtype, narrow, fill, datatype, stored_datatype, handle })
    }

    /// The same with another number of chunks; `None` if it has to be opened anew: when nothing was stored yet.
    pub(super) fn with_chunks(&self, chunks: u64) -> Option<Self> {
        let dataset = DatasetAt::new(Arc::clone(&self.handle), &self.path);
        Some(Self {
            path: self.path.clone(),
            raw: self.raw.with_chunks(Box::new(dataset), chunks)?,
            dtype: self.dtype.clone(),
            narrow: self.narrow,
            fill: self.fill.clone(),
            datatype: Arc::clone(&self.datatype),
            stored_datatype: self.stored_datatype.clone(),
            handle: Arc::clone(&self.handle),
        })
    }

    /// What brings chunks of a map to where they are wanted.
    pub(super) fn fetcher<'f>(&'f self, map: &'f ChunkMap, threads: Threads<'f>) -> Fetch<'f> {
        let (fill, unwritten) = match &self.fill {
            Fill::Element(bytes) => (bytes.as_slice(), bytes.as_slice()),
            // A version's dataset of strings has no fill value (format-v4.md, "A version's dataset"): what
            // is not mapped is empty for every reader. What is mapped and unwritten is raw_data's.
            Fill::String(_) => {
                let size = self.raw.element_size().min(MAX_REFERENCE);
                (&EMPTY_REFERENCE[..size], &FILL_REFERENCE[..size])
            }
        };
        Fetch {
            file: self.handle.direct.as_ref().map(|direct| &direct.bytes),
            library_reads: &self.handle.library_reads,
            raw: &self.raw,
            map,
            fill,
            unwritten,
            path: self.handle.raw_path,
            threads,
        }
    }

    /// Brings whole stored chunks to `out`, one after the other; `None` stands for one of fill. The chunk of an error is
    /// the position among them.
    pub(super) fn fetch_raw(
        &self,
        raws: impl ExactSizeIterator<Item = Option<RawChunk>>,
        threads: Threads<'_>,
        out: &mut [u8],
    ) -> Result<(), ReadError> {
        let failed = |fault| ReadError { chunk: ChunkIndex(0), raw: None, fault };
        let count = raws.len() as u64;
        let elements: u64 = self.raw.chunk_shape().iter().product();
        let (selection, arena) = (Selection::all(), Bump::new());
        let shape = [elements.saturating_mul(count)];
        let plan = ReadPlan::new(&selection, &shape, &[elements], &arena)
            .map_err(|_| failed(ReadFault::Memory { bytes: out.len() as u64 }))?;
        let one_after_the_other = ChunkMap::of((0..).map(ChunkIndex).zip(raws), count);
        let destination = Destination::new(&plan, out, self.raw.element_size())
            .map_err(|fault| failed(fault.into()))?;
        self.fetcher(&one_after_the_other, threads).run(&destination, || {})?;
        if let Some(narrow) = self.narrow {
            narrow.widen(out);
        }
        Ok(())
    }

    /// Checks that a version's dataset, opened at `path`, has elements of the type that is stored.
    pub(super) fn check_element_type(
        &self,
        version: &VersionInner,
        path: &str,
        element_type: &ElementType,
    ) -> Result<(), DatasetFault> {
        if let (ElementType::Stored(Some(one)), Some(other)) = (element_type, &self.stored_datatype)
            && one.is_same(other)
        {
            return Ok(());
        }
        let session = version.file.session()?;
        let lock = session.lock();
        let opened;
        let datatype = match element_type {
            ElementType::Library(datatype) => datatype,
            ElementType::Stored(_) => {
                let group = version.group(&session)?;
                let dataset = open_in_library(lock, version.file.read_at(), &group, path)?;
                opened = h5d::datatype(lock, &dataset)?;
                &opened
            }
        };
        if h5t::equal(lock, datatype, &self.datatype)? {
            return Ok(());
        }
        let expected = describe::dtype(&h5t::describe(lock, datatype)?);
        let fault = RawDataFault::Type { expected, found: self.dtype.clone() };
        Err(DatasetFault::RawData { raw_data: self.path.clone(), fault })
    }
}

/// Checks that fill values of variable-length strings can be read, before libhdf5 does (`H5Dget_create_plist` in
/// `H5D_get_create_plist`), which takes for ever in a damaged heap.
pub(crate) fn check_fill_strings<C: Container>(
    direct: Option<&Direct>,
    at: &Id<C>,
    path: &str,
) -> Result<(), StringFault> {
    let Some(Direct { bytes, superblock }) = direct else { return Ok(()) };
    let Ok(address) = h5o::address(&h5strata_ffi::lock(), at, path) else {
        // In another file, which is libhdf5's to read.
        return Ok(());
    };
    let read = || {
        let references = variable_string_fill_values(bytes, superblock, address)?;
        resolve_strings(bytes, superblock, &references, &[], Threads::One, |_| Some(()))
            .map_err(|(_, fault)| fault)
    };
    match bytes.read_whole(read) {
        Ok(_) | Err(StringFault::Heap(OndiskError::Unsupported { .. })) => Ok(()),
        Err(fault) => Err(fault),
    }
}

/// The object header of `raw_data`; `None` where libhdf5 must be asked.
fn raw_header(file: &FileInner, session: &Session, path: &str) -> Option<ObjectHeader> {
    let (bytes, superblock) = file.read_at()?;
    let address = h5o::address(session.lock(), &session.file, path).ok()?;
    file.read_whole(|| ObjectHeader::read(bytes, superblock, address)).ok()
}

/// The index of the stored chunks; `None` where libhdf5 must be asked.
fn chunk_index(header: &ObjectHeader) -> Option<ChunkBTree> {
    match header.layout() {
        Ok(ondisk::Layout::Chunked { index, .. }) => index,
        _ => None,
    }
}

/// A filter as libhdf5 tells of it.
pub(crate) fn filter(filter: h5p::Filter) -> Filter {
    Filter {
        // Filter numbers have 16 bits in the file (specification IV.A.2.l).
        id: u16::try_from(filter.id).unwrap_or(0),
        optional: filter.flags & OPTIONAL != 0,
        params: filter.parameters,
        name: filter.name,
    }
}

/// How many chunks a shape holds that is one chunk wide along every axis but the first.
fn stacked_chunks(shape: &[u64], chunk_shape: &[u64]) -> Result<u64, RawDataFault> {
    match (shape, chunk_shape) {
        ([rows, rest @ ..], [edge, rest_of_chunk @ ..])
            if rest == rest_of_chunk && *edge > 0 && !rest.contains(&0) =>
        {
            Ok(rows.div_ceil(*edge))
        }
        _ => Err(RawDataFault::Shape { shape: shape.to_vec(), chunk_shape: chunk_shape.to_vec() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raw_data_is_a_stack_of_chunks() {
        assert_eq!(stacked_chunks(&[30, 4, 5], &[10, 4, 5]), Ok(3));
        assert_eq!(stacked_chunks(&[0], &[10]), Ok(0));
        for (shape, chunk) in [(&[30, 8][..], &[10, 4][..]), (&[30], &[10, 4]), (&[], &[])] {
            assert!(matches!(stacked_chunks(shape, chunk), Err(RawDataFault::Shape { .. })));
        }
    }
}
