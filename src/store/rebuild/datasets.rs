//! The datasets of the versions in the new file, and their lists of mappings.

use std::sync::Arc;

use h5strata_ffi::id::DatasetCreation;
use h5strata_ffi::{Lock, h5d, h5o, h5p, h5s};

use super::super::dataset::Dataset;
use super::super::error::Error;
use super::super::file::FileInner;
use super::super::layout::{self, AttributeTypes};
use super::super::names::{DATASET_ATTRIBUTES, VERSIONS, raw_data_path};
use super::super::storage::Fill;
use super::attributes::{self, CopyFault};
use super::carry::{Begin, Carried, CarriedSettings, Carrier, Context, NewList, Proof};
use super::target::{LENGTH_SIZE, Target};
use super::uses::{Source, Use};
use crate::chunk_map::MapError;
use crate::chunk_map::vds_block::{ChunkSources, encode_list, list_bytes};
use crate::dims::Dims;
use crate::ondisk::has_other_attributes;

/// Bytes of lists that are encoded while the next datasets are made.
const TOGETHER: u64 = 4 << 20;

/// Datasets that wait for lists of the old file, at most: some 200 bytes each.
const MOST_OLD: usize = 1 << 16;

/// Writes the datasets of all versions, source by source.
pub(super) struct DatasetWriter<'w, 'n> {
    context: Context<'w>,
    target: &'w mut Target<'n>,
    attributes: AttributeTypes,
    waiting: Vec<Waiting>,
    /// Those of the old file, which are copied when very many datasets are made, or all: until then libhdf5 can keep the
    /// file open.
    old: Vec<Waiting>,
}

/// A list that is not encoded, or read, yet.
struct Waiting {
    /// Address of its dataset's object header.
    header: u64,
    raw_data: Arc<str>,
    shape: Dims,
    chunk_shape: Dims,
    list: NewList,
    /// Memory for its bytes.
    buffer: Vec<u8>,
    version: usize,
    path: Arc<str>,
}

impl<'w, 'n> DatasetWriter<'w, 'n> {
    pub(super) fn new(context: Context<'w>, target: &'w mut Target<'n>) -> Result<Self, Error> {
        let attributes = AttributeTypes::new(&h5strata_ffi::lock());
        let attributes = attributes.map_err(target.library(VERSIONS))?;
        Ok(Self { context, target, attributes, waiting: Vec::new(), old: Vec::new() })
    }

    /// Writes all that is there to these sources; while one is written the next is looked at.
    pub(super) fn write_all<'c>(
        mut self,
        sources: &[Source],
        carrier: &dyn Fn(&str) -> &'c dyn Carrier,
    ) -> Result<Vec<Box<dyn Proof>>, Error> {
        let context = self.context;
        let mut proofs = Vec::with_capacity(sources.len());
        let mut ahead =
            sources.first().map(|source| carrier(&source.path).prepare(context, source));
        for (source, next) in sources.iter().zip(sources.iter().skip(1).map(Some).chain([None])) {
            let Some(begin) = ahead.take().transpose()? else { break };
            let next = next.map(|next| (next, carrier(&next.path)));
            let look = || ahead = next.map(|(next, carrier)| carrier.prepare(context, next));
            proofs.push(context.threads().beside(look, || self.write(source, begin))?);
        }
        self.end()?;
        Ok(proofs)
    }

    /// Brings the chunks of a source to the new file, and makes its datasets there.
    fn write(&mut self, source: &Source, begin: Begin<'_>) -> Result<Box<dyn Proof>, Error> {
        let mut carried = self.beside(|writer| begin(writer.target))?;
        let raw_data: Arc<str> = raw_data_path(&source.path).into();
        let (mut templates, mut uses) = (Templates::default(), source.uses.iter().peekable());
        while uses.peek().is_some() {
            // Each dataset would lock the old file by itself.
            let _entered = self.context.file.inner.enter()?;
            self.beside(|writer| {
                let mut bytes = 0;
                while let Some(one) =
                    uses.next_if(|_| bytes < TOGETHER && writer.old.len() < MOST_OLD)
                {
                    bytes += writer.dataset(&mut *carried, &mut templates, &raw_data, one)?;
                }
                Ok(())
            })?;
            if self.old.len() >= MOST_OLD {
                self.copy_old()?;
            }
        }
        carried.end(self.target)
    }

    /// Encodes the lists that are left, and copies those of the old file.
    fn end(mut self) -> Result<(), Error> {
        self.beside(|_| Ok(()))?;
        self.copy_old()
    }

    /// Copies lists of the old file.
    fn copy_old(&mut self) -> Result<(), Error> {
        let mut old = std::mem::take(&mut self.old).into_iter().peekable();
        let mut buffers = Vec::new();
        while old.peek().is_some() {
            let mut bytes = 0;
            while let Some(mut one) = old.next_if(|_| bytes < TOGETHER) {
                bytes += one.bytes();
                one.buffer = buffers.pop().unwrap_or_default();
                self.waiting.push(one);
            }
            buffers = self.beside(|writer| writer.target.write_lists())?;
        }
        Ok(())
    }

    /// Does `work`, and at the same time encodes or reads the lists that wait.
    fn beside<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T, Error>) -> Result<T, Error> {
        let (context, waiting) = (self.context, std::mem::take(&mut self.waiting));
        let mut encoded = Ok(Vec::new());
        let encode = || encoded = waiting.into_iter().map(|one| one.encode(&context)).collect();
        let outcome = context.threads().beside(encode, || work(self))?;
        for (header, list) in encoded? {
            self.target.add(header, list)?;
        }
        Ok(outcome)
    }

    /// Makes the dataset of a version; returns how many bytes its list has that is to be encoded.
    fn dataset(
        &mut self,
        carried: &mut dyn Carried,
        templates: &mut Templates,
        raw_data: &Arc<str>,
        one: &Use,
    ) -> Result<u64, Error> {
        let list = carried.list(one, self.target)?;
        let settings = carried.settings();
        let (inner, dataset) = (&self.context.file.inner, self.context.open(one)?);
        let (shape, chunk_shape) =
            (Dims::from_slice(dataset.shape()), Dims::from_slice(settings.chunk_shape));
        let (version, path) = (format!("{VERSIONS}/{}", dataset.version()), &*one.path);
        let session = inner.session().map_err(inner.library(&version))?;
        let lock = session.lock();
        let group = dataset.inner.version.group(&session).map_err(inner.library(&version))?;
        let has_mappings = !matches!(&list, NewList::Of(map) if map.is_empty());
        let new_group = self.target.version(lock, one.version, &version)?;
        let attribute_types = &self.attributes;
        let mut make = || -> Result<u64, CopyFault> {
            let creation = templates.get(lock, settings, &shape, has_mappings)?;
            let space = h5s::simple(lock, &shape)?;
            let new = h5d::create(lock, new_group, path, settings.datatype, &space, creation)?;
            if has_own_attributes(inner, &dataset) {
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
        let (raw_data, version, path) = (Arc::clone(raw_data), one.version, Arc::clone(&one.path));
        let buffer = Vec::new();
        let waiting = Waiting { header, raw_data, shape, chunk_shape, list, buffer, version, path };
        if matches!(waiting.list, NewList::Old(_)) {
            self.old.push(waiting);
            return Ok(0);
        }
        let bytes = waiting.bytes();
        self.waiting.push(waiting);
        Ok(bytes)
    }
}

impl Waiting {
    fn sources(&self) -> ChunkSources<'_> {
        let Self { shape, chunk_shape, raw_data, .. } = self;
        ChunkSources { shape, chunk_shape, raw_data }
    }

    /// Bytes of the list.
    fn bytes(&self) -> u64 {
        match &self.list {
            NewList::Of(map) => list_bytes(self.sources(), map.len() as u64, LENGTH_SIZE),
            NewList::Old(list) => list.len,
        }
    }

    fn encode(mut self, context: &Context<'_>) -> Result<(u64, Vec<u8>), Error> {
        let mut buffer = std::mem::take(&mut self.buffer);
        let encoded = match (&self.list, context.file.inner.read_at()) {
            (NewList::Of(map), _) => {
                let list = encode_list(self.sources(), map.iter().copied(), LENGTH_SIZE);
                list.map_err(MapError::from)
            }
            (NewList::Old(list), Some((file, _))) => {
                list.read_to(file, &mut buffer).map(|()| buffer).map_err(MapError::from)
            }
            // It was found by positional reads, so there are some.
            (NewList::Old(_), None) => Ok(Vec::new()),
        };
        match encoded {
            Ok(list) => Ok((self.header, list)),
            Err(fault) => Err(context.error_of(self.version, &self.path, fault.into())),
        }
    }
}

/// Whether a version's dataset may have attributes but those of the format: where it cannot be seen, so it is assumed.
fn has_own_attributes(file: &FileInner, dataset: &Dataset) -> bool {
    let (Some((bytes, superblock)), Some(header)) = (file.read_at(), dataset.inner.list.header())
    else {
        return true;
    };
    let look = || has_other_attributes(bytes, superblock, header, &DATASET_ATTRIBUTES);
    file.read_whole(look).unwrap_or(true)
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
