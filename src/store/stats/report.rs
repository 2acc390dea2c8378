use super::super::error::{DatasetFault, Error};

/// Some stored chunks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChunkBytes {
    /// Number of chunks.
    pub chunks: u64,
    /// Bytes that they take in the file.
    pub bytes: u64,
}

impl ChunkBytes {
    /// Counts one more.
    pub(super) fn add(&mut self, bytes: u64) {
        self.chunks += 1;
        self.bytes = self.bytes.saturating_add(bytes);
    }

    /// Counts others.
    pub(super) fn add_all(&mut self, others: Self) {
        self.chunks += others.chunks;
        self.bytes = self.bytes.saturating_add(others.bytes);
    }
}

/// Where the bytes of a file are.
///
/// [`chunks`](Self::chunks), [`strings`](Self::strings), [`lists`](Self::lists), [`hash_tables`](Self::hash_tables),
/// [`outside`](Self::outside) and [`rest`](Self::rest) make up [`size`](Self::size), unless the file is damaged.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Stats {
    /// Bytes of the file.
    pub size: u64,
    /// Bytes of what is not versioned: a user block, and the elements of datasets outside the versioned tree.
    pub outside: u64,
    /// The datasets, in order of the paths of their stored chunks.
    pub datasets: Vec<DatasetStats>,
    /// The committed versions, in order of their time.
    pub versions: Vec<VersionStats>,
    /// What could not be looked at. If there is anything, chunks and lists may have more users than are known.
    pub faults: Vec<StatsFault>,
}

/// What is stored of one dataset, by all versions together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DatasetStats {
    /// Path of the dataset, in the versions that have it.
    pub dataset: String,
    /// Path of its stored chunks.
    pub raw_data: String,
    /// The stored chunks; of strings of variable length, chunks of references to strings.
    pub stored: ChunkBytes,
    /// Bytes of the strings that stored chunks refer to, with what each takes beside its text; `None` if the elements are
    /// no strings of variable length, or those were not looked at.
    pub strings: Option<u64>,
    /// Bytes of the lists of mappings of all versions.
    pub lists: u64,
    /// Bytes of the digests of the stored chunks.
    pub hash_table: u64,
    /// Stored chunks that no version maps, with their strings.
    pub orphans: ChunkBytes,
    /// Number of versions that have the dataset.
    pub versions: u64,
    /// Bytes of the elements that the versions show, each version's counted.
    pub logical: u64,
    /// The stored chunks that the versions map, each version's counted.
    pub mapped: ChunkBytes,
}

/// What is stored for one version.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct VersionStats {
    /// Its name.
    pub version: String,
    /// Number of its datasets.
    pub datasets: u64,
    /// Bytes of the elements that it shows; of strings of variable length, of the references to them and of those that
    /// are stored.
    pub logical: u64,
    /// The stored chunks that it maps, with their strings.
    pub mapped: ChunkBytes,
    /// Those of them that no other version maps.
    pub own: ChunkBytes,
    /// Bytes of its lists of mappings, but for those that it shares with another version.
    pub own_lists: u64,
}

impl Stats {
    /// The stored chunks of all datasets.
    pub fn chunks(&self) -> ChunkBytes {
        let mut sum = ChunkBytes::default();
        self.datasets.iter().for_each(|dataset| sum.add_all(dataset.stored));
        sum
    }

    /// The stored chunks that no version maps, with their strings: part of [`chunks`](Self::chunks) and
    /// [`strings`](Self::strings).
    pub fn orphans(&self) -> ChunkBytes {
        let mut sum = ChunkBytes::default();
        self.datasets.iter().for_each(|dataset| sum.add_all(dataset.orphans));
        sum
    }

    /// Bytes of strings of variable length, as far as they are known of.
    pub fn strings(&self) -> u64 {
        self.sum(|dataset| dataset.strings.unwrap_or(0))
    }

    /// Bytes of the lists of mappings.
    pub fn lists(&self) -> u64 {
        self.sum(|dataset| dataset.lists)
    }

    /// Bytes of the hash tables.
    pub fn hash_tables(&self) -> u64 {
        self.sum(|dataset| dataset.hash_table)
    }

    /// All other bytes: HDF5's own structures (groups, the headers of datasets, indexes of chunks, attributes and their
    /// strings), and what is free. Which of it is free nothing in a file tells, as HDF5 forgets it when it closes one.
    pub fn rest(&self) -> u64 {
        let known = [self.chunks().bytes, self.strings(), self.lists(), self.hash_tables()];
        let known = known.into_iter().fold(self.outside, u64::saturating_add);
        self.size.saturating_sub(known)
    }

    /// Bytes of the elements that all versions show.
    pub fn logical(&self) -> u64 {
        self.sum(|dataset| dataset.logical)
    }

    fn sum(&self, bytes: impl Fn(&DatasetStats) -> u64) -> u64 {
        self.datasets.iter().map(bytes).fold(0, u64::saturating_add)
    }
}

impl DatasetStats {
    /// Bytes of the stored chunks and their strings.
    pub fn stored_bytes(&self) -> u64 {
        self.stored.bytes.saturating_add(self.strings.unwrap_or(0))
    }

    /// Bytes that the versions show for each that is stored: what is saved by sharing chunks, by not storing fill, and by
    /// filters. `None` if nothing is stored.
    pub fn ratio(&self) -> Option<f64> {
        ratio(self.logical, self.stored_bytes())
    }

    /// How many versions map a stored byte on average, those that no version maps left out: what is saved by sharing chunks
    /// alone. `None` if no version maps any.
    pub fn sharing(&self) -> Option<f64> {
        ratio(self.mapped.bytes, self.stored_bytes().saturating_sub(self.orphans.bytes))
    }
}

impl VersionStats {
    /// Bytes that the version shows for each that is stored behind it, whoever else maps that. `None` if nothing is stored.
    pub fn ratio(&self) -> Option<f64> {
        ratio(self.logical, self.mapped.bytes)
    }

    /// The share of the bytes behind it that other versions map as well, from 0 to 1. `None` if nothing is stored.
    pub fn shared(&self) -> Option<f64> {
        ratio(self.mapped.bytes.saturating_sub(self.own.bytes), self.mapped.bytes)
    }

    /// Bytes that deleting it alone would free: the chunks and lists that no other version has. Chunks that two versions
    /// share are free when both are gone, so deleting both frees more than what the two have here.
    pub fn frees(&self) -> u64 {
        self.own.bytes.saturating_add(self.own_lists)
    }
}

#[expect(clippy::cast_precision_loss, reason = "a ratio is rounded anyway")]
fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// What could not be looked at.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StatsFault {
    /// A version, or one of its datasets: what it maps is not known.
    #[error(transparent)]
    Version(Box<Error>),
    /// Stored chunks.
    #[error("{raw_data}: {fault}")]
    RawData {
        /// Path of the stored chunks.
        raw_data: String,
        /// What is wrong.
        #[source]
        fault: Box<DatasetFault>,
    },
    /// A group of the versioned tree, below which there may be stored chunks that no version maps.
    #[error("group {group}: {fault}")]
    Group {
        /// Path of the group.
        group: String,
        /// What is wrong.
        #[source]
        fault: h5strata_ffi::Error,
    },
}
