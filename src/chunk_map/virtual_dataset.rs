use std::sync::atomic::{AtomicU64, Ordering};

use h5strata_ffi::h5s::Extent;
use h5strata_ffi::id::Datatype;
use h5strata_ffi::{Lock, h5d, h5o};

use super::builder::{Builder, Geometry, fault};
use super::error::{MapError, MappingFault};
use super::library::{self, LibraryMapping};
use super::map::ChunkMap;
use super::vds_block::{
    ChunkSources, EntryTable, VdsBlockError, decode_mappings, list_bytes, mapping_count,
};
use crate::dims::{ChunkIndex, Dims, RawChunk};
use crate::ondisk::{
    Collection, Dataspace, DatatypeMessage, FieldWidth, Layout, ObjectHeader, ObjectRange,
    OndiskError, ReadAt, SearchEnd, Superblock, locate_next,
};

/// The name of a source file that means the file of the virtual dataset (`H5Pset_virtual`).
const SAME_FILE: &str = ".";

/// How many mappings of a list are decoded in the time that one takes to be looked up alone.
const LOOKUP_SHARE: u64 = 32;

/// Mappings from which on a list is made from another one's bytes, rather than anew. Such a list is larger than those that
/// are left to libhdf5, which needs all mappings.
const FEWEST_EDITED: u64 = 32;

/// A version's dataset as the file holds it: its extent, and where its mappings are.
#[derive(Debug)]
pub(crate) struct VirtualDataset {
    shape: Dims,
    element_type: ElementType,
    list: List,
    /// Address of its object header; `None` where only libhdf5 knows it.
    header: Option<u64>,
    /// Single look-ups so far: many of them cost more than decoding the list once.
    lookups: AtomicU64,
}

/// The type of a dataset's elements, from where the dataset was opened.
#[derive(Debug)]
pub(crate) enum ElementType {
    /// As it is stored; `None` where there is none.
    Stored(Option<DatatypeMessage>),
    /// As libhdf5 knows it.
    Library(Datatype),
}

#[derive(Debug)]
enum List {
    /// Nothing is stored.
    Empty,
    /// A heap object that is decoded here.
    Block { block: ObjectRange, table: Option<EntryTable>, superblock: Superblock },
    /// What libhdf5 listed, because the file's own bytes could not be used.
    Library(Vec<LibraryMapping>),
}

/// Opens a version's dataset in libhdf5, once the heap that its list of mappings is in is known to be sound: libhdf5 reads
/// it as a whole (`H5D__virtual_load_layout`), and takes for ever in a damaged one (`H5HG__cache_heap_deserialize`).
pub(crate) fn open_in_library(
    lock: &Lock,
    file: Option<(&dyn ReadAt, &Superblock)>,
    group: &h5strata_ffi::id::Group,
    path: &str,
) -> Result<h5d::Dataset, MapError> {
    if let Some((file, superblock)) = file {
        match check_heap(file, superblock, h5o::address(lock, group, path)?) {
            // Of a kind that only libhdf5 can read.
            Err(OndiskError::Unsupported { .. }) => {}
            checked => checked?,
        }
    }
    Ok(h5d::open(lock, group, path)?)
}

fn check_heap(file: &dyn ReadAt, superblock: &Superblock, address: u64) -> Result<(), OndiskError> {
    let header = ObjectHeader::read(file, superblock, address)?;
    match header.layout()? {
        Layout::Virtual { mappings: Some(id) } => {
            Collection::new().read_into(file, superblock, id.collection)
        }
        _ => Ok(()),
    }
}

impl VirtualDataset {
    /// Finds a dataset's extent and mappings straight in the file, by the address of its object header. `last`: where the
    /// list of the dataset opened before was found.
    ///
    /// # Errors
    /// One that [is unsupported](MapError::is_unsupported) where the file's structures are of a kind that is not decoded
    /// here: then [libhdf5](Self::open_by_library) is to be asked.
    pub(crate) fn open_at(
        file: &dyn ReadAt,
        superblock: &Superblock,
        address: u64,
        last: &mut Option<SearchEnd>,
    ) -> Result<Self, MapError> {
        let header = ObjectHeader::read(file, superblock, address)?;
        let Dataspace::Simple { shape, .. } = header.dataspace()? else {
            return Err(MapError::NotAnArray);
        };
        let list = match header.layout()? {
            // Older writers left an empty dataset as a plain one whose data were never stored.
            Layout::Virtual { mappings: None } | Layout::Contiguous { address: None } => {
                List::Empty
            }
            Layout::Virtual { mappings: Some(id) } => {
                let block = locate_next(file, superblock, id, last)?;
                let table = EntryTable::open(file, block, superblock.length_size, shape.len())?;
                List::Block { block, table, superblock: *superblock }
            }
            Layout::Contiguous { .. } => return Err(MapError::NotVirtual { found: "contiguous" }),
            Layout::Compact => return Err(MapError::NotVirtual { found: "compact" }),
            Layout::Chunked { .. } => return Err(MapError::NotVirtual { found: "chunked" }),
        };
        let element_type = ElementType::Stored(header.datatype().cloned());
        Ok(Self { shape, element_type, list, header: Some(address), lookups: AtomicU64::new(0) })
    }

    /// Lists the mappings through libhdf5.
    pub(crate) fn open_by_library(
        file: Option<(&dyn ReadAt, &Superblock)>,
        group: &h5strata_ffi::id::Group,
        path: &str,
    ) -> Result<Self, MapError> {
        let lock = h5strata_ffi::lock();
        let dataset = open_in_library(&lock, file, group, path)?;
        let Extent::Simple { dims, .. } =
            h5strata_ffi::h5s::extent(&lock, &h5d::space(&lock, &dataset)?)?
        else {
            return Err(MapError::NotAnArray);
        };
        let mappings = library::list(&lock, &dataset)?;
        let list = if mappings.is_empty() { List::Empty } else { List::Library(mappings) };
        let element_type = ElementType::Library(h5d::datatype(&lock, &dataset)?);
        let shape = Dims::from_slice(&dims);
        Ok(Self { shape, element_type, list, header: None, lookups: AtomicU64::new(0) })
    }

    /// Shape in elements.
    pub(crate) fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// Type of the elements.
    pub(crate) fn element_type(&self) -> &ElementType {
        &self.element_type
    }

    /// Address of its object header in bytes relative to the base address; `None` where only libhdf5 knows it.
    pub(crate) fn header(&self) -> Option<u64> {
        self.header
    }

    /// Where its list of mappings is in the file, if it is as long as one that is encoded for these sources, and leads to
    /// them. Which mappings are in it is not looked at.
    pub(crate) fn stored_list_like(
        &self,
        sources: ChunkSources<'_>,
        length_size: FieldWidth,
    ) -> Option<ObjectRange> {
        let List::Block { block, table: Some(table), superblock } = &self.list else { return None };
        let is_like = superblock.length_size == length_size
            && table.source_dataset() == sources.raw_data.as_bytes()
            && list_bytes(sources, table.mapping_count(), length_size) == block.len;
        is_like.then_some(*block)
    }

    /// Where its list of mappings is in the file; `None` if it has none, or libhdf5 has listed them.
    pub(crate) fn stored_list(&self) -> Option<ObjectRange> {
        match &self.list {
            List::Block { block, .. } => Some(*block),
            List::Empty | List::Library(_) => None,
        }
    }

    /// Path of the dataset that the first mapping names; `None` without mappings.
    pub(crate) fn source(&self, file: Option<&dyn ReadAt>) -> Result<Option<String>, MapError> {
        match (&self.list, file) {
            (List::Empty, _) => Ok(None),
            (List::Library(mappings), _) => {
                Ok(mappings.first().map(|first| first.source_dataset.clone()))
            }
            // A block was found by positional reads, so there are some.
            (List::Block { .. }, None) => Ok(None),
            (List::Block { block, table, superblock }, Some(file)) => {
                if let Some(table) = table {
                    return Ok(Some(text(table.source_dataset())));
                }
                first_source(&block.read(file)?, superblock, self.shape.len())
            }
        }
    }

    /// Whether another version of the dataset has the same list, byte by byte. `false` as well where the bytes cannot
    /// be looked at.
    pub(crate) fn has_same_list(
        &self,
        other: &Self,
        file: Option<&dyn ReadAt>,
    ) -> Result<bool, MapError> {
        match (self.stored_list(), other.stored_list(), file) {
            (Some(one), Some(two), Some(file)) => {
                Ok(one == two || one.has_same_bytes(file, &two, file)?)
            }
            _ => Ok(matches!((&self.list, &other.list), (List::Empty, List::Empty))),
        }
    }

    /// Whether a dataset of another file has the same list, byte by byte, of which the bytes mean the same. `false` as
    /// well where the bytes cannot be looked at.
    pub(crate) fn has_same_stored_list(
        &self,
        file: &dyn ReadAt,
        other: &Self,
        other_file: &dyn ReadAt,
    ) -> Result<bool, MapError> {
        match (&self.list, &other.list) {
            (
                List::Block { block: one, superblock: of_one, .. },
                List::Block { block: two, superblock: of_two, .. },
            ) if of_one.length_size == of_two.length_size => {
                Ok(one.has_same_bytes(file, two, other_file)?)
            }
            _ => Ok(false),
        }
    }

    /// Decodes every mapping, each of which must name `source`. One that does not fit goes to `faulty`: it is left out
    /// of the map, unless `faulty` makes an error of it.
    pub(crate) fn map(
        &self,
        file: Option<&dyn ReadAt>,
        geometry: &Geometry,
        source: &str,
        mut faulty: impl FnMut(MapError) -> Result<(), MapError>,
    ) -> Result<ChunkMap, MapError> {
        match (&self.list, file) {
            // A block was found by positional reads, so there are some.
            (List::Empty, _) | (List::Block { .. }, None) => Ok(ChunkMap::empty()),
            (List::Library(mappings), _) => {
                let mut builder = Builder::new(geometry, mappings.len() as u64)?;
                for mapping in mappings {
                    let start = &mapping.virtual_start;
                    let names = (mapping.source_file.as_bytes(), mapping.source_dataset.as_bytes());
                    check_source(start, names, source)
                        .and_then(|()| builder.add(&mapping.source_start, start, &mapping.extent))
                        .or_else(&mut faulty)?;
                }
                builder.finish(faulty)
            }
            (List::Block { block, superblock, .. }, Some(file)) => {
                let bytes = block.read(file)?;
                let mappings = mapping_count(&bytes, superblock.length_size)?;
                let mut builder = Builder::new(geometry, mappings)?;
                let mut knows_source = false;
                decode_mappings(&bytes, superblock.length_size, self.shape.len(), |mapping| {
                    let (start, extent) = (mapping.virtual_start, mapping.extent);
                    let names = (mapping.source_file, mapping.source_dataset);
                    // What the mapping before it names as well is known to be right, unless that was left out.
                    let is_known = mapping.same_source && knows_source;
                    let checked =
                        if is_known { Ok(()) } else { check_source(start, names, source) };
                    knows_source = checked.is_ok();
                    checked
                        .and_then(|()| builder.add(mapping.source_start, start, extent))
                        .or_else(&mut faulty)
                })?;
                builder.finish(faulty)
            }
        }
    }

    /// Looks up just a few chunks, `count` of them, each by itself. `None` if that does not pay or the list
    /// does not allow it: then [`map`](Self::map) decodes everything.
    pub(crate) fn map_of_chunks(
        &self,
        file: &dyn ReadAt,
        geometry: &Geometry,
        source: &str,
        count: u64,
        chunks: impl Iterator<Item = ChunkIndex>,
    ) -> Result<Option<ChunkMap>, MapError> {
        let List::Block { table: Some(table), .. } = &self.list else { return Ok(None) };
        let before = self.lookups.fetch_add(count, Ordering::Relaxed);
        let lookups = before.saturating_add(count);
        if lookups.saturating_mul(LOOKUP_SHARE) > table.mapping_count() {
            return Ok(None);
        }
        let mut builder = Builder::new(geometry, count)?;
        let mut table = table.lookup(file);
        for chunk in chunks {
            let start = geometry.start_of(chunk);
            let Some(found) = table.find(&start, chunk.0)? else { return Ok(None) };
            check_source(&start, (found.source_file, found.source_dataset), source)?;
            builder.add(found.source_start, found.virtual_start, found.extent)?;
        }
        Ok(Some(builder.finish(Err)?))
    }
}

/// The mappings of a few chunks in a list, of which another list can be made that differs in them alone.
#[derive(Debug)]
pub(crate) struct FewMappings {
    /// Their positions in the list, rising.
    positions: Vec<u64>,
    /// The raw chunks behind them.
    pub(crate) raw: Vec<RawChunk>,
    /// Number of mappings of the list.
    pub(crate) of: u64,
}

impl VirtualDataset {
    /// Finds the mappings of a few chunks. `None` if they are not few, one has none, or the list is not one of which
    /// another can be made: `form` is a list as it would be encoded, with at least a mapping.
    pub(crate) fn few_mappings(
        &self,
        file: &dyn ReadAt,
        geometry: &Geometry,
        chunks: &[ChunkIndex],
        form: &[u8],
    ) -> Result<Option<FewMappings>, MapError> {
        let List::Block { table: Some(table), .. } = &self.list else { return Ok(None) };
        let of = table.mapping_count();
        if of < FEWEST_EDITED
            || (chunks.len() as u64).saturating_mul(LOOKUP_SHARE) > of
            || !table.has_form_of(form)
        {
            return Ok(None);
        }
        let mut few = FewMappings { positions: Vec::new(), raw: Vec::new(), of };
        let mut lookup = table.lookup(file);
        for &chunk in chunks {
            let start = geometry.start_of(chunk);
            let Some(found) = lookup.find(&start, chunk.0)? else { return Ok(None) };
            let (_, raw) = geometry.check(found.source_start, found.virtual_start, found.extent)?;
            few.positions.push(found.index);
            few.raw.push(RawChunk(raw));
        }
        Ok(few.positions.is_sorted_by(|one, next| one < next).then_some(few))
    }

    /// The list with other mappings in the place of those that were found, and more behind its last one: those of
    /// `changes`, a list of the form that the mappings were asked for with, the ones that were found first.
    pub(crate) fn with_mappings(
        &self,
        file: Option<&dyn ReadAt>,
        few: &FewMappings,
        changes: &[u8],
    ) -> Result<Vec<u8>, MapError> {
        match (&self.list, file) {
            (List::Block { table: Some(table), .. }, Some(file)) => {
                Ok(table.edited(file, &few.positions, changes)?)
            }
            // In such a list no mappings are found.
            _ => Err(VdsBlockError::TooShort { len: 0 }.into()),
        }
    }
}

/// The source of a block's first mapping.
fn first_source(
    block: &[u8],
    superblock: &Superblock,
    rank: usize,
) -> Result<Option<String>, MapError> {
    /// Ends the decoding at the first mapping.
    enum Stop {
        Found(String),
        Failed(VdsBlockError),
    }
    impl From<VdsBlockError> for Stop {
        fn from(error: VdsBlockError) -> Self {
            Self::Failed(error)
        }
    }
    let found = decode_mappings(block, superblock.length_size, rank, |mapping| {
        Err(Stop::Found(text(mapping.source_dataset)))
    });
    match found {
        Ok(()) => Ok(None),
        Err(Stop::Found(source)) => Ok(Some(source)),
        Err(Stop::Failed(error)) => Err(error.into()),
    }
}

/// Checks that a mapping's source is the dataset `expected` in the same file.
fn check_source(start: &[u64], names: (&[u8], &[u8]), expected: &str) -> Result<(), MapError> {
    let (file, dataset) = names;
    if file != SAME_FILE.as_bytes() {
        return Err(fault(start, MappingFault::ForeignFile { file: text(file) }));
    }
    if dataset != expected.as_bytes() {
        let (expected, found) = (expected.to_owned(), text(dataset));
        return Err(fault(start, MappingFault::OtherSource { expected, found }));
    }
    Ok(())
}

fn text(name: &[u8]) -> String {
    String::from_utf8_lossy(name).into_owned()
}

impl MapError {
    /// Whether the file is valid as far as it was looked at, and libhdf5 may be able to say more.
    pub(crate) fn is_unsupported(&self) -> bool {
        match self {
            Self::Ondisk(error) => matches!(error, OndiskError::Unsupported { .. }),
            Self::Block(error) => VdsBlockError::is_unsupported(error),
            _ => false,
        }
    }
}
