use h5strata_ffi::h5p::{self, FillValue, Layout};
use h5strata_ffi::h5s::{self, Extent};
use h5strata_ffi::{h5d, h5o, h5t};

use super::attributes::unreadable;
use super::file::{Snapshot, SnapshotInner};
use super::not_carried::Reason;
use crate::codec::Filter;
use crate::dims::Dims;
use crate::dtype::Dtype;
use crate::store::{
    Error, Fill, PlainFault, check_fill_strings, describe_dtype, description, filter_of_library,
};

/// A dataset of a plain file that a version can have.
#[derive(Clone, Debug)]
pub struct SnapshotDataset {
    pub(super) snapshot: Snapshot,
    pub(super) path: String,
    pub(super) dtype: Dtype,
    pub(super) shape: Dims,
    pub(super) chunk_shape: Option<Dims>,
    pub(super) filters: Vec<Filter>,
    pub(super) fill: Fill,
}

impl SnapshotDataset {
    pub(super) fn open(snapshot: &Snapshot, path: &str) -> Result<Result<Self, Reason>, Error> {
        let SnapshotInner { root, .. } = &*snapshot.inner;
        let failed = || snapshot.inner.library(path);
        let lock = h5strata_ffi::lock();
        let dataset = h5d::open(&lock, root, path).map_err(failed())?;
        let datatype = h5d::datatype(&lock, &dataset).map_err(failed())?;
        let dtype = describe_dtype(&h5t::describe(&lock, &datatype).map_err(failed())?);
        let is_string = dtype.is_variable_string();
        if dtype.has_pointers() && !is_string {
            return Ok(Err(unreadable(&dtype)));
        }
        let Ok(described) = description(&dtype) else { return Ok(Err(Reason::Type { dtype })) };
        let space = h5d::space(&lock, &dataset).map_err(failed())?;
        let shape = match h5s::extent(&lock, &space).map_err(failed())? {
            Extent::Null => return Ok(Err(Reason::Null)),
            Extent::Scalar => return Ok(Err(Reason::Scalar)),
            extent @ Extent::Simple { .. } => Dims::from_slice(extent.dims()),
        };
        if shape.is_empty() {
            return Ok(Err(Reason::Scalar));
        }
        if is_string {
            let direct = snapshot.inner.direct_for(path);
            check_fill_strings(direct, root, path).map_err(|fault| Error::PlainDataset {
                file: snapshot.inner.path.clone(),
                dataset: path.to_owned(),
                fault: PlainFault::FillValue(Box::new(fault)),
            })?;
        }
        let creation = h5d::creation(&lock, &dataset).map_err(failed())?;
        let chunk_shape = match h5p::layout(&lock, &creation).map_err(failed())? {
            Layout::Chunked => {
                let chunk_shape = h5p::chunk_shape(&lock, &creation).map_err(failed())?;
                Some(Dims::from_slice(&chunk_shape))
            }
            _ => None,
        };
        let memory_type = h5t::create(&lock, &described).map_err(failed())?;
        let fill = match h5p::fill_value(&lock, &creation, &memory_type).map_err(failed())? {
            FillValue::Bytes(bytes) => Fill::Element(bytes),
            FillValue::VariableString(string) => Fill::String(string),
            FillValue::Undefined | FillValue::Default if is_string => Fill::String(Vec::new()),
            FillValue::Undefined | FillValue::Default => {
                Fill::Element(vec![0; dtype.size().unwrap_or(0)])
            }
        };
        let filters = (0..h5p::filter_count(&lock, &creation).map_err(failed())?)
            .map(|index| Ok(filter_of_library(h5p::filter(&lock, &creation, index)?)))
            .collect::<Result<Vec<_>, h5strata_ffi::Error>>()
            .map_err(failed())?;
        let (snapshot, path) = (snapshot.clone(), path.to_owned());
        Ok(Ok(Self { snapshot, path, dtype, shape, chunk_shape, filters, fill }))
    }

    /// Path below the snapshot's group, without a slash in front.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Type of the elements.
    pub fn dtype(&self) -> &Dtype {
        &self.dtype
    }

    /// Shape in elements.
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// Shape of a chunk in elements; `None` if the dataset is not chunked.
    pub fn chunk_shape(&self) -> Option<&[u64]> {
        self.chunk_shape.as_deref()
    }

    /// The filters, in the order they are applied when writing.
    pub fn filters(&self) -> &[Filter] {
        &self.filters
    }

    /// What stands where nothing is stored.
    pub fn fill_value(&self) -> &Fill {
        &self.fill
    }
}

impl SnapshotInner {
    /// Positional access to the object at a path, which may be in another file.
    pub(super) fn direct_for(&self, path: &str) -> Option<&crate::store::Direct> {
        let object = h5o::object(&h5strata_ffi::lock(), &self.root, path).ok()?;
        self.direct.as_ref().filter(|_| object.file_number == self.file_number)
    }
}
