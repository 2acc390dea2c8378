use std::path::Path;
use std::sync::{Arc, OnceLock};

use h5strata_ffi::{h5a, h5o};

use super::attribute::{Attribute, read_attributes};
use super::error::{DatasetFault, Error, RawDataFault};
use super::library_heaps::library_strings;
use super::names::{DATASET_ATTRIBUTES, RAW_DATA, VERSIONS, raw_data_path};
use super::storage::{Fill, Storage};
use super::version::VersionInner;
use crate::chunk_map::{ChunkMap, Geometry, MapError, VirtualDataset};
use crate::codec::Filter;
use crate::dims::ChunkIndex;
use crate::dtype::Dtype;
use crate::plan::ReadPlan;

/// A dataset of a committed version. Cheap to clone; may be shared between threads.
///
/// Opening reads its extent and where its mappings are; the chunk map is decoded when a read needs it,
/// and only as far as that.
#[derive(Clone, Debug)]
pub struct Dataset {
    pub(super) inner: Arc<DatasetInner>,
}

#[derive(Debug)]
pub(super) struct DatasetInner {
    pub(super) version: Arc<VersionInner>,
    pub(super) path: String,
    pub(super) storage: Arc<Storage>,
    pub(super) list: VirtualDataset,
    pub(super) geometry: Geometry,
    map: OnceLock<Arc<ChunkMap>>,
}

impl Dataset {
    /// Opens a dataset that exists in its version.
    pub(super) fn open(version: Arc<VersionInner>, path: &str) -> Result<Self, Error> {
        let opened = open_inner(&version, path);
        let (list, storage, geometry) = opened.map_err(version.dataset_error(path))?;
        let map =
            version.file.latest_map(&version.name, path).map_or_else(OnceLock::new, OnceLock::from);
        let path = path.to_owned();
        Ok(Self { inner: Arc::new(DatasetInner { version, path, storage, list, geometry, map }) })
    }

    /// Path in the version, without a slash in front.
    pub fn path(&self) -> &str {
        &self.inner.path
    }

    /// Name of the version.
    pub fn version(&self) -> &str {
        &self.inner.version.name
    }

    /// The file's path, as it was opened.
    pub fn file(&self) -> &Path {
        &self.inner.version.file.path
    }

    /// Shape in elements.
    pub fn shape(&self) -> &[u64] {
        self.inner.list.shape()
    }

    /// Type of the elements.
    pub fn dtype(&self) -> &Dtype {
        &self.inner.storage.dtype
    }

    /// Shape of a chunk in elements.
    pub fn chunk_shape(&self) -> &[u64] {
        self.inner.storage.raw.chunk_shape()
    }

    /// Number of chunks along each axis.
    pub fn chunk_grid(&self) -> &[u64] {
        self.inner.geometry.grid()
    }

    /// The filters, in the order they are applied when writing.
    pub fn filters(&self) -> &[Filter] {
        self.inner.storage.raw.pipeline().filters()
    }

    /// What stands where nothing is stored.
    pub fn fill_value(&self) -> &Fill {
        &self.inner.storage.fill
    }

    /// Path of the stored chunks of all versions, and how many there are room for.
    pub fn raw_data(&self) -> (&str, u64) {
        (&self.inner.storage.path, self.inner.storage.raw.chunks())
    }

    /// The user's attributes; those of the format are left out.
    ///
    /// # Errors
    /// [`Error::Attribute`], [`Error::Library`].
    pub fn attributes(&self) -> Result<Vec<Attribute>, Error> {
        self.inner.version.dataset_attributes(&self.inner.path)
    }

    /// Which stored chunk stands behind each chunk.
    ///
    /// # Errors
    /// [`Error::Dataset`] with the mapping that does not fit.
    pub fn chunk_map(&self) -> Result<&ChunkMap, Error> {
        self.inner.whole_map().map_err(self.inner.error())
    }

    /// Number of chunks of the grid, stored or not.
    pub fn chunk_count(&self) -> u64 {
        self.inner.geometry.chunks()
    }
}

fn open_inner(
    version: &VersionInner,
    path: &str,
) -> Result<(VirtualDataset, Arc<Storage>, Geometry), DatasetFault> {
    let file = &version.file;
    // One state of the file, from the group to the list.
    let session = file.session()?;
    let group = version.group(&session)?;
    let direct = match file.read_at() {
        None => None,
        Some((bytes, superblock)) => {
            let address = h5o::address(session.lock(), &group, path)?;
            Some((bytes, superblock, address))
        }
    };
    let state = session.state;
    let _entered = session.leave_library();
    let opened = direct.map(|(bytes, superblock, address)| {
        file.read_whole(|| {
            let open = |last: &mut _| VirtualDataset::open_at(bytes, superblock, address, last);
            let list = version.next_list(state, open)?;
            let source = list.source(Some(bytes))?;
            Ok::<_, MapError>((list, source))
        })
    });
    let (list, source) = match opened {
        Some(opened) if !opened.as_ref().is_err_and(MapError::is_unsupported) => opened?,
        _ => {
            let session = file.session()?;
            let group = version.group(&session)?;
            let list = VirtualDataset::open_by_library(file.read_at(), &group, path)?;
            let source = list.source(None)?;
            (list, source)
        }
    };
    let source = match source {
        Some(source) => source,
        None => version.raw_data_attribute(path)?.unwrap_or_else(|| raw_data_path(path)),
    };
    let storage = file.storage(&source)?;
    let (expected, found) = (list.shape().len(), storage.raw.chunk_shape().len());
    if expected != found {
        let fault = RawDataFault::Rank { expected, found };
        return Err(DatasetFault::RawData { raw_data: source, fault });
    }
    storage.check_element_type(version, path, list.element_type())?;
    let geometry = Geometry::new(list.shape(), storage.raw.chunk_shape(), storage.raw.chunks())?;
    Ok((list, storage, geometry))
}

impl DatasetInner {
    /// Tells of which dataset a fault is.
    pub(super) fn error(&self) -> impl FnOnce(DatasetFault) -> Error + use<> {
        self.version.dataset_error(&self.path)
    }

    /// The chunk map, decoded once.
    pub(super) fn whole_map(&self) -> Result<&ChunkMap, DatasetFault> {
        if let Some(map) = self.map.get() {
            return Ok(map);
        }
        let map = self.decode_map()?;
        Ok(self.map.get_or_init(|| Arc::new(map)))
    }

    /// The chunk map for one look at it: the dataset does not keep it if it has to be decoded.
    pub(super) fn map_once(&self) -> Result<Arc<ChunkMap>, DatasetFault> {
        match self.map.get() {
            Some(map) => Ok(Arc::clone(map)),
            None => self.decode_map().map(Arc::new),
        }
    }

    fn decode_map(&self) -> Result<ChunkMap, DatasetFault> {
        self.decode_map_but(Err)
    }

    /// The chunk map; mappings that do not fit go to `faulty`, and are left out unless it makes an error of them.
    pub(super) fn decode_map_but(
        &self,
        mut faulty: impl FnMut(MapError) -> Result<(), MapError>,
    ) -> Result<ChunkMap, DatasetFault> {
        let bytes = self.version.file.read_at().map(|(bytes, _)| bytes);
        let decode = || self.list.map(bytes, &self.geometry, &self.storage.path, &mut faulty);
        match self.version.file.read_whole(decode) {
            // Valid, and of a kind that only libhdf5 can tell about.
            Err(error) if error.is_unsupported() => {
                let session = self.version.file.session()?;
                let group = self.version.group(&session)?;
                let list = VirtualDataset::open_by_library(
                    self.version.file.read_at(),
                    &group,
                    &self.path,
                )?;
                Ok(list.map(bytes, &self.geometry, &self.storage.path, faulty)?)
            }
            outcome => Ok(outcome?),
        }
    }

    /// A map that knows at least the chunks of a plan: for a small one just these.
    pub(super) fn map_of(&self, plan: &ReadPlan<'_>) -> Result<MapOf<'_>, DatasetFault> {
        self.map_of_some(plan.len(), || {
            let mut transfers = plan.transfers();
            std::iter::from_fn(move || Some(transfers.advance()?.chunk()))
        })
    }

    /// A map that knows at least some chunks.
    pub(super) fn map_of_chunks(&self, chunks: &[ChunkIndex]) -> Result<MapOf<'_>, DatasetFault> {
        self.map_of_some(chunks.len() as u64, || chunks.iter().copied())
    }

    fn map_of_some<C: Iterator<Item = ChunkIndex>>(
        &self,
        count: u64,
        chunks: impl Fn() -> C,
    ) -> Result<MapOf<'_>, DatasetFault> {
        match self.map_of_few(count, chunks)? {
            Some(map) => Ok(MapOf::Few(map)),
            None => self.whole_map().map(MapOf::Whole),
        }
    }

    /// Whether the whole chunk map was decoded.
    pub(super) fn knows_map(&self) -> bool {
        self.map.get().is_some()
    }

    /// A map of `count` chunks alone, looked up one by one; `None` where the whole map costs no more, or is there.
    pub(super) fn map_of_few<C: Iterator<Item = ChunkIndex>>(
        &self,
        count: u64,
        chunks: impl Fn() -> C,
    ) -> Result<Option<ChunkMap>, DatasetFault> {
        let (None, Some((bytes, _))) = (self.map.get(), self.version.file.read_at()) else {
            return Ok(None);
        };
        let find =
            || self.list.map_of_chunks(bytes, &self.geometry, &self.storage.path, count, chunks());
        Ok(self.version.file.read_whole(find)?)
    }
}

/// A map of all chunks, or of the few that are asked for.
pub(super) enum MapOf<'m> {
    Whole(&'m ChunkMap),
    Few(ChunkMap),
}

impl std::ops::Deref for MapOf<'_> {
    type Target = ChunkMap;

    fn deref(&self) -> &ChunkMap {
        match self {
            Self::Whole(map) => map,
            Self::Few(map) => map,
        }
    }
}

impl VersionInner {
    /// Tells of which dataset a fault is.
    pub(super) fn dataset_error(
        &self,
        dataset: &str,
    ) -> impl FnOnce(DatasetFault) -> Error + use<> {
        let (file, version) = (self.file.path.clone(), self.name.clone());
        let dataset = dataset.to_owned();
        move |fault| Error::Dataset { file, version, dataset, fault: Box::new(fault) }
    }

    pub(super) fn dataset_attributes(&self, path: &str) -> Result<Vec<Attribute>, Error> {
        self.attributes(path, &DATASET_ATTRIBUTES)
    }

    /// The attributes of an object, but those named in `hidden`; `""` is the version itself.
    pub(super) fn attributes(&self, path: &str, hidden: &[&str]) -> Result<Vec<Attribute>, Error> {
        let object = format!("{VERSIONS}/{}/{path}", self.name);
        let object = object.trim_end_matches('/');
        let session = self.file.session().map_err(self.file.library(object))?;
        let group = self.group(&session).map_err(self.file.library(object))?;
        let path = if path.is_empty() { "." } else { path };
        read_attributes(&self.file, session.lock(), &*group, path, hidden, object)
    }

    /// Where a dataset says its stored chunks are.
    fn raw_data_attribute(&self, path: &str) -> Result<Option<String>, DatasetFault> {
        let session = self.file.session()?;
        let group = self.group(&session)?;
        let strings = self.file.attribute_strings(&*group, path, RAW_DATA);
        let strings = strings.map_err(|fault| DatasetFault::Attribute { name: RAW_DATA, fault })?;
        let strings = match strings {
            Some(strings) => strings,
            None => {
                let lock = session.lock();
                if !h5a::exists(lock, &*group, path, RAW_DATA)? {
                    return Ok(None);
                }
                let attribute = h5a::open(lock, &*group, path, RAW_DATA)?;
                let read = || h5a::read_variable_strings(lock, &attribute);
                library_strings(&self.file.failure(), read)
                    .map_err(|fault| DatasetFault::Attribute { name: RAW_DATA, fault })?
            }
        };
        Ok(strings.into_iter().next().map(|text| String::from_utf8_lossy(&text).into_owned()))
    }
}
