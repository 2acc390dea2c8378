//! The datasets of the versions in the new file, and their lists of mappings.

use std::sync::Arc;

use h5strata_ffi::id::DatasetCreation;
use h5strata_ffi::{Lock, h5a, h5d, h5o, h5p, h5s};

use super::super::error::Error;
use super::super::layout::{self, AttributeTypes};
use super::super::names::{CHUNKS, DATASET_ATTRIBUTES, RAW_DATA, VERSIONS, raw_data_path};
use super::super::storage::Fill;
use super::attributes::{self, CopyFault};
use super::carry::{Carried, CarriedSettings, Carrier, Context, Proof};
use super::target::{LENGTH_SIZE, Target};
use super::uses::{Source, Use};
use crate::chunk_map::MapError;
use crate::chunk_map::vds_block::{ChunkSources, encode_list, list_bytes};
use crate::dims::{ChunkIndex, Dims, RawChunk};

/// Bytes of lists that are encoded while the next datasets are made.
const TOGETHER: u64 = 4 << 20;

/// Writes the datasets of all versions, source by source.
pub(super) struct DatasetWriter<'w, 'n> {
    context: Context<'w>,
    target: &'w mut Target<'n>,
    attributes: AttributeTypes,
    waiting: Vec<Waiting>,
}

/// A list that is not encoded yet.
struct Waiting {
    /// Address of its dataset's object header.
    header: u64,
    raw_data: Arc<str>,
    shape: Dims,
    chunk_shape: Dims,
    map: Vec<(ChunkIndex, RawChunk)>,
    version: usize,
    path: Arc<str>,
}

impl<'w, 'n> DatasetWriter<'w, 'n> {
    pub(super) fn new(context: Context<'w>, target: &'w mut Target<'n>) -> Result<Self, Error> {
        let attributes = AttributeTypes::new(&h5strata_ffi::lock());
        let attributes = attributes.map_err(target.library(VERSIONS))?;
        Ok(Self { context, target, attributes, waiting: Vec::new() })
    }

    /// Brings the chunks of a source to the new file, and makes its datasets there.
    pub(super) fn write<'s>(
        &mut self,
        source: &'s Source,
        carrier: &dyn Carrier,
    ) -> Result<Box<dyn Proof>, Error>
    where
        'w: 's,
    {
        let context = self.context;
        let mut carried = self.beside(|writer| carrier.begin(context, source, writer.target))?;
        let raw_data: Arc<str> = raw_data_path(&source.path).into();
        let (mut templates, mut uses) = (Templates::default(), source.uses.iter().peekable());
        while uses.peek().is_some() {
            self.beside(|writer| {
                let mut bytes = 0;
                while let Some(one) = uses.next_if(|_| bytes < TOGETHER) {
                    bytes += writer.dataset(&mut *carried, &mut templates, &raw_data, one)?;
                }
                Ok(())
            })?;
        }
        carried.end(self.target)
    }

    /// Encodes the lists that are left.
    pub(super) fn end(mut self) -> Result<(), Error> {
        self.beside(|_| Ok(()))
    }

    /// Does `work`, and at the same time encodes the lists that wait.
    fn beside<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T, Error>) -> Result<T, Error> {
        let (context, waiting) = (self.context, std::mem::take(&mut self.waiting));
        let mut encoded = Ok(Vec::new());
        let encode = || encoded = waiting.iter().map(|one| one.encode(&context)).collect();
        let outcome = context.threads().beside(encode, || work(self))?;
        for (header, list) in encoded? {
            self.target.add(header, list)?;
        }
        Ok(outcome)
    }

    /// Makes the dataset of a version; returns how many bytes its list has.
    fn dataset(
        &mut self,
        carried: &mut dyn Carried,
        templates: &mut Templates,
        raw_data: &Arc<str>,
        one: &Use,
    ) -> Result<u64, Error> {
        let map = carried.map(one, self.target)?;
        let settings = carried.settings();
        let (inner, dataset) = (&self.context.file.inner, self.context.open(one)?);
        let (shape, chunk_shape) =
            (Dims::from_slice(dataset.shape()), Dims::from_slice(settings.chunk_shape));
        let (version, path) = (format!("{VERSIONS}/{}", dataset.version()), &*one.path);
        let session = inner.session().map_err(inner.library(&version))?;
        let lock = session.lock();
        let group = dataset.inner.version.group(&session).map_err(inner.library(&version))?;
        let has_mappings = !map.is_empty();
        let new_group = self.target.version(lock, one.version, &version)?;
        let attribute_types = &self.attributes;
        let mut make = || -> Result<u64, CopyFault> {
            let creation = templates.get(lock, settings, &shape, has_mappings)?;
            let space = h5s::simple(lock, &shape)?;
            let new = h5d::create(lock, new_group, path, settings.datatype, &space, creation)?;
            if has_own_attributes(lock, &group, path)? {
                let (from, to) = ((&*group, path), (new_group, path));
                attributes::copy(inner, lock, from, to, &DATASET_ATTRIBUTES)?;
            }
            attribute_types.write(lock, new.id(), raw_data, &chunk_shape)?;
            Ok(h5o::object(lock, new.id(), ".")?.address)
        };
        let header =
            make().map_err(|fault| inner.copy_error(&format!("{version}/{path}"), fault))?;
        if !has_mappings {
            return Ok(0);
        }
        let sources = ChunkSources { shape: &shape, chunk_shape: &chunk_shape, raw_data };
        let bytes = list_bytes(sources, map.len() as u64, LENGTH_SIZE);
        let (raw_data, version, path) = (Arc::clone(raw_data), one.version, Arc::clone(&one.path));
        self.waiting.push(Waiting { header, raw_data, shape, chunk_shape, map, version, path });
        Ok(bytes)
    }
}

impl Waiting {
    fn encode(&self, context: &Context<'_>) -> Result<(u64, Vec<u8>), Error> {
        let Self { header, raw_data, shape, chunk_shape, map, version, path } = self;
        let sources = ChunkSources { shape, chunk_shape, raw_data };
        let list = encode_list(sources, map.iter().copied(), LENGTH_SIZE);
        let list =
            list.map_err(|fault| context.error_of(*version, path, MapError::from(fault).into()))?;
        Ok((*header, list))
    }
}

/// Whether a version's dataset has attributes but those of the format.
fn has_own_attributes(
    lock: &Lock,
    group: &h5strata_ffi::id::Group,
    path: &str,
) -> Result<bool, h5strata_ffi::Error> {
    let count = h5o::object(lock, group, path)?.attributes;
    Ok(count != DATASET_ATTRIBUTES.len() as u64
        || !h5a::exists(lock, group, path, RAW_DATA)?
        || !h5a::exists(lock, group, path, CHUNKS)?)
}

/// What the datasets of one source are made with.
#[derive(Default)]
struct Templates {
    /// Of chunks of this shape: such become virtual with their lists.
    of_chunks: Option<(Dims, DatasetCreation)>,
    without_mappings: Option<DatasetCreation>,
}

impl Templates {
    fn get(
        &mut self,
        lock: &Lock,
        settings: CarriedSettings<'_>,
        shape: &[u64],
        has_mappings: bool,
    ) -> Result<&DatasetCreation, h5strata_ffi::Error> {
        let make = || {
            let creation = layout::dataset_creation(lock)?;
            if let Fill::Element(bytes) = settings.fill {
                h5p::set_fill_value(lock, &creation, settings.datatype, bytes)?;
            }
            Ok(creation)
        };
        if !has_mappings {
            let creation = match self.without_mappings.take() {
                Some(creation) => creation,
                None => {
                    let creation = make()?;
                    h5p::set_virtual_layout(lock, &creation)?;
                    creation
                }
            };
            return Ok(self.without_mappings.insert(creation));
        }
        // No chunk of what it is until then may be larger than the whole.
        let chunks: Dims =
            settings.chunk_shape.iter().zip(shape).map(|(&edge, &size)| edge.min(size)).collect();
        let (last, creation) = match self.of_chunks.take() {
            Some((last, creation)) => (Some(last), creation),
            None => (None, make()?),
        };
        if last.as_ref() != Some(&chunks) {
            h5p::set_chunk(lock, &creation, &chunks)?;
        }
        Ok(&self.of_chunks.insert((chunks, creation)).1)
    }
}
