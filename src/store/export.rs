//! One version as a plain HDF5 file.

use std::fs::File as OsFile;
use std::path::{Path, PathBuf};

use h5strata_ffi::id::File;
use h5strata_ffi::{h5a, h5d, h5f, h5g, h5p, h5s, h5t, h5z};

use super::attribute::{Attribute, AttributeValue};
use super::chunks::DatasetChunk;
use super::dataset::Dataset;
use super::digest::Trimmed;
use super::error::{DatasetFault, Error, PlainFault};
use super::library::write_access;
use super::names::{DATASET_ATTRIBUTES, VERSION_ATTRIBUTES};
use super::open::{check_absent, io_error, plain_library_error};
use super::stage::box_selection;
use super::storage::{Fill, filter};
use super::version::{Entry, EntryKind, Version, VersionInner};
use crate::codec::Filter;
use crate::dims::{ChunkIndex, Dims, RawChunk, ravel, unravel};
use crate::raw::{ReadError, ReadFault, read_stored};
use crate::snapshot::{NotCarried, OnProgress, Progress, Reason, left_behind};

/// How a version is exported.
#[derive(Clone, Debug, Default)]
pub struct ExportOptions {
    overwrite: bool,
    on_progress: Option<OnProgress>,
}

impl ExportOptions {
    /// The defaults: a file that is there already is an error.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether a file that is there already is replaced.
    #[must_use]
    pub fn overwrite(mut self, overwrite: bool) -> Self {
        self.overwrite = overwrite;
        self
    }

    /// Is told how far each dataset has come.
    #[must_use]
    pub fn on_progress(mut self, on_progress: OnProgress) -> Self {
        self.on_progress = Some(on_progress);
        self
    }
}

/// What was exported.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ExportReport {
    /// Number of datasets.
    pub datasets: u64,
    /// Number of groups.
    pub groups: u64,
    /// Number of attributes.
    pub attributes: u64,
    /// Number of chunks that were copied.
    pub chunks: u64,
    /// Bytes of these chunks as they are stored; of strings of variable length, their own bytes.
    pub bytes: u64,
    /// What was left behind.
    pub not_carried: Vec<NotCarried>,
}

impl Version {
    /// Writes the version as a plain HDF5 file: its groups, its datasets in chunks of the same shape, type, filters and
    /// fill value, and its attributes as those of the root. Stored chunks are copied as they are, padding and all;
    /// datasets may grow without limit.
    ///
    /// The file is written beside `out` under another name, and gets its own when it is whole.
    ///
    /// # Errors
    /// [`Error::Io`] if there is a file already, or it cannot be made; [`Error::Dataset`], [`Error::Attribute`],
    /// [`Error::Library`], [`Error::PlainDataset`].
    pub fn export(
        &self,
        out: impl AsRef<Path>,
        options: &ExportOptions,
    ) -> Result<ExportReport, Error> {
        let out = out.as_ref();
        if !options.overwrite {
            check_absent(out).map_err(|source| io_error(out, source))?;
        }
        let io = |source| io_error(out, source);
        let folder = match out.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let created =
            tempfile::Builder::new().prefix(".export-").suffix(".h5").make_in(folder, |path| {
                let lock = h5strata_ffi::lock();
                let access = write_access(&lock).map_err(std::io::Error::other)?;
                // The name is taken, or the folder cannot be written to: the system says which.
                check_absent(path)?;
                h5f::create(&lock, path, access).map_err(std::io::Error::other)
            });
        let (file, written) = created.map_err(io)?.into_parts();
        let (path, report) = (out.to_owned(), ExportReport::default());
        let mut export = Export { version: &self.inner, file, out: path, options, report };
        export.all(self)?;
        let Export { file, report, .. } = export;
        h5f::flush(&h5strata_ffi::lock(), &file).map_err(plain_library_error(out, ""))?;
        drop(file);
        OsFile::open(&written).and_then(|file| file.sync_all()).map_err(io)?;
        if options.overwrite {
            written.persist(out).map_err(|error| io(error.error))?;
        } else {
            written.persist_noclobber(out).map_err(|error| io(error.error))?;
        }
        Ok(report)
    }
}

/// A file that a version is written to.
struct Export<'e> {
    version: &'e VersionInner,
    file: File,
    out: PathBuf,
    options: &'e ExportOptions,
    report: ExportReport,
}

impl Export<'_> {
    fn all(&mut self, version: &Version) -> Result<(), Error> {
        self.attributes("", &VERSION_ATTRIBUTES)?;
        for Entry { path, kind } in version.entries()? {
            match kind {
                EntryKind::Group => {
                    let made = h5g::create(&h5strata_ffi::lock(), &self.file, &path);
                    drop(made.map_err(self.library(&path))?);
                    self.report.groups += 1;
                    self.attributes(&path, &[])?;
                }
                EntryKind::Dataset => {
                    if let Some(reason) = self.dataset(&version.dataset(&path)?)? {
                        self.report.not_carried.push(NotCarried::object(path, reason));
                        continue;
                    }
                    self.report.datasets += 1;
                    self.attributes(&path, &DATASET_ATTRIBUTES)?;
                }
                EntryKind::Other => {
                    self.report.not_carried.push(NotCarried::object(path, Reason::Kind));
                }
            }
        }
        Ok(())
    }

    fn library(&self, object: &str) -> impl FnOnce(h5strata_ffi::Error) -> Error + use<> {
        plain_library_error(&self.out, object)
    }

    /// Copies the attributes of an object, but those named in `hidden`.
    fn attributes(&mut self, path: &str, hidden: &[&str]) -> Result<(), Error> {
        let source = self.version;
        let session = source.file.session().map_err(source.file.library(path))?;
        let group = &*source.group(&session).map_err(source.file.library(path))?;
        let lock = session.lock();
        let here = if path.is_empty() { "." } else { path };
        let names = h5a::names(lock, group, here).map_err(self.library(path))?;
        let failure = source.file.failure();
        let attributes = source.file.attributes(&failure);
        for name in names.into_iter().filter(|name| !hidden.contains(&name.as_str())) {
            let attribute = attributes.read(lock, group, here, name, path)?;
            let Attribute { name, dtype, value, .. } = attribute;
            if matches!(value, AttributeValue::Unreadable) {
                let left = NotCarried::attribute(path, name, left_behind(&dtype));
                self.report.not_carried.push(left);
                continue;
            }
            h5a::copy(lock, group, here, &self.file, here, &name).map_err(self.library(path))?;
            self.report.attributes += 1;
        }
        Ok(())
    }

    /// Copies a dataset, or tells why it is left behind.
    fn dataset(&mut self, dataset: &Dataset) -> Result<Option<Reason>, Error> {
        let dtype = dataset.dtype();
        if dtype.has_pointers() && !dtype.is_variable_string() {
            return Ok(Some(left_behind(dtype)));
        }
        for filter in dataset.filters().iter().filter(|filter| !filter.optional) {
            let available = h5z::is_available(&h5strata_ffi::lock(), filter.id.into());
            if !available.unwrap_or(false) {
                let filter = filter.display_name().to_string();
                return Ok(Some(Reason::UnknownFilter { filter }));
            }
        }
        let path = dataset.path();
        let created = self.create(dataset).map_err(self.library(path))?;
        self.check_filters(dataset, &created)?;
        let is_string = dtype.is_variable_string();
        let copied = if is_string {
            self.copy_strings(dataset, &created)
        } else {
            self.copy_chunks(dataset, &created)
        };
        copied.map_err(dataset.inner.error()).map(|()| None)
    }

    /// Makes a dataset as that of the stored chunks was made.
    fn create(&self, dataset: &Dataset) -> Result<h5d::Dataset, h5strata_ffi::Error> {
        let session = self.version.file.session()?;
        let lock = session.lock();
        let raw_data = h5d::open(lock, &session.file, dataset.raw_data().0)?;
        let datatype = h5t::copy_portable(lock, &h5d::datatype(lock, &raw_data)?)?;
        let creation = h5d::creation(lock, &raw_data)?;
        if let Fill::String(_) = dataset.fill_value() {
            // A version's strings are empty where nothing is stored, whatever fills the stored chunks.
            h5p::set_fill_variable_string(lock, &creation, &datatype, b"")?;
        }
        // Chunks may be longer than the dataset, which HDF5 allows only where it can grow.
        let most = vec![h5s::UNLIMITED; dataset.shape().len()];
        let space = h5s::growable(lock, dataset.shape(), &most)?;
        h5d::create(lock, &self.file, dataset.path(), &datatype, &space, &creation)
    }

    /// Checks that no filter was left out, as libhdf5 does with optional ones that it cannot apply: chunks would be
    /// read without it.
    fn check_filters(&self, dataset: &Dataset, created: &h5d::Dataset) -> Result<(), Error> {
        let made = || -> Result<Vec<u16>, h5strata_ffi::Error> {
            let lock = h5strata_ffi::lock();
            let creation = h5d::creation(&lock, created)?;
            let count = h5p::filter_count(&lock, &creation)?;
            (0..count).map(|index| Ok(filter(h5p::filter(&lock, &creation, index)?).id)).collect()
        };
        let made = made().map_err(self.library(dataset.path()))?;
        let missing = |(index, wanted): (usize, &Filter)| made.get(index) != Some(&wanted.id);
        match dataset.filters().iter().enumerate().find(|&filter| missing(filter)) {
            None => Ok(()),
            Some((_, filter)) => Err(Error::PlainDataset {
                file: self.out.clone(),
                dataset: dataset.path().to_owned(),
                fault: PlainFault::Filter { filter: filter.display_name().to_string() },
            }),
        }
    }

    fn copy_chunks(
        &mut self,
        dataset: &Dataset,
        created: &h5d::Dataset,
    ) -> Result<(), DatasetFault> {
        let inner = &dataset.inner;
        let raw = &inner.storage.raw;
        let file = inner.addresses();
        let stored = raw.stored(file).map_err(DatasetFault::Index)?;
        let chunks =
            || -> Result<_, DatasetFault> { Ok(inner.located(inner.whole_map()?.iter(), &stored)) };
        let total = chunks()?.map(|chunk| chunk.size).sum();
        let (mut done, mut buffer) = (0, Vec::new());
        for DatasetChunk { coordinate, raw: number, address, size, filter_mask } in chunks()? {
            let read = match file {
                Some(file) => read_stored(file, address, size, &mut buffer)
                    .map(|bytes| Some((bytes, filter_mask))),
                None => raw.read_stored(number, &mut buffer),
            };
            let read = read
                .map_err(|fault| chunk_fault(&coordinate, number, dataset.chunk_grid(), fault))?;
            let Some((bytes, mask)) = read else { continue };
            let offset = first_element(&coordinate, dataset);
            h5d::write_chunk(&h5strata_ffi::lock(), created, &offset, mask, bytes)?;
            self.report.chunks += 1;
            self.report.bytes += size;
            done += size;
            self.tell(dataset, done, total);
        }
        Ok(())
    }

    fn copy_strings(
        &mut self,
        dataset: &Dataset,
        created: &h5d::Dataset,
    ) -> Result<(), DatasetFault> {
        let map = dataset.inner.whole_map()?;
        let size = dataset.inner.storage.raw.element_size() as u64;
        let bytes = |trimmed: &Trimmed| trimmed.shape.iter().product::<u64>() * size;
        let trimmed = |chunk: ChunkIndex| {
            let coordinate = unravel(chunk.0, dataset.chunk_grid());
            let trimmed = Trimmed::new(&coordinate, dataset.shape(), dataset.chunk_shape());
            (coordinate, trimmed)
        };
        let total = map.iter().map(|(chunk, _)| bytes(&trimmed(chunk).1)).sum();
        let mut done = 0;
        for (chunk, _) in map.iter() {
            let (coordinate, trimmed) = trimmed(chunk);
            let selection = box_selection(&coordinate, dataset.chunk_shape(), &trimmed.shape);
            let strings = dataset.read_byte_strings(selection).map_err(DatasetFault::other)?;
            let strings: Vec<Vec<u8>> = strings.into_iter().collect();
            let start = first_element(&coordinate, dataset);
            let inside =
                h5s::Hyperslab { start: &start, stride: None, count: &trimmed.shape, block: None };
            let lock = h5strata_ffi::lock();
            h5d::write_variable_strings(&lock, created, Some(&inside), &strings)?;
            self.report.chunks += 1;
            self.report.bytes += strings.iter().map(|string| string.len() as u64).sum::<u64>();
            done += bytes(&trimmed);
            self.tell(dataset, done, total);
        }
        Ok(())
    }

    fn tell(&self, dataset: &Dataset, done: u64, total: u64) {
        if let Some(on_progress) = &self.options.on_progress {
            on_progress.tell(Progress { dataset: dataset.path(), done, total });
        }
    }
}

/// First element of a chunk.
fn first_element(coordinate: &[u64], dataset: &Dataset) -> Dims {
    coordinate.iter().zip(dataset.chunk_shape()).map(|(at, size)| at * size).collect()
}

fn chunk_fault(coordinate: &[u64], raw: RawChunk, grid: &[u64], fault: ReadFault) -> DatasetFault {
    let chunk = ChunkIndex(ravel(coordinate, grid).unwrap_or(0));
    let error = ReadError { chunk, raw: Some(raw), fault };
    DatasetFault::Chunk { coordinate: coordinate.to_vec(), error }
}
