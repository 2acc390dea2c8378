//! Damage to the bytes of a file, the same for the same number, and which values it must leave alone.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use h5strata::selection::AxisSelection;
use h5strata::{Dataset, Error, Selection, VersionedFile};

use super::values::{Numbers, Values};

/// A version's name and a dataset's path.
pub(crate) type Place = (String, String);

/// A sound file, what is in it and where.
pub(crate) struct Original {
    pub(crate) bytes: Vec<u8>,
    /// Digest of every dataset.
    pub(crate) digests: BTreeMap<Place, String>,
    /// Some elements of every dataset.
    pub(crate) points: BTreeMap<Place, Vec<Point>>,
    /// The bytes of each dataset's elements that nothing protects.
    bare: BTreeMap<Place, Vec<Range<usize>>>,
    /// The collections of the global heap.
    heaps: Vec<Range<usize>>,
    /// Bytes that are protected by a checksum, or that hold some dataset's elements and nothing else.
    known: Vec<Range<usize>>,
    /// Positions of bytes that are likely to mean something: not zero and of no chunk.
    structure: Vec<usize>,
}

/// An element by its index on each axis, and its bytes.
pub(crate) struct Point {
    index: Vec<u64>,
    bytes: Vec<u8>,
}

impl Point {
    /// Some elements of a dataset.
    fn some(values: &Values) -> Vec<Self> {
        const POINTS: u64 = 12;
        let count = values.shape.iter().product();
        let mut numbers = Numbers(count);
        (0..POINTS.min(count))
            .map(|_| {
                let position = numbers.below(count);
                let index = h5strata::dims::unravel(position, &values.shape).to_vec();
                Self { index, bytes: values.element(position as usize).to_vec() }
            })
            .collect()
    }

    /// Whether the element is still the same.
    ///
    /// # Errors
    /// Those of reading.
    pub(crate) fn is_in(&self, dataset: &Dataset) -> Result<bool, Error> {
        let axes =
            self.index.iter().map(|&at| AxisSelection::Index(i64::try_from(at).unwrap_or(-1)));
        let found = Values::read(dataset, &Selection::axes(axes))?;
        Ok(found.element(0) == self.bytes)
    }
}

/// Filters that notice damage: deflate (its stream ends with a checksum) and Fletcher's checksum.
const CHECKING_FILTERS: [u16; 2] = [1, 3];

impl Original {
    /// # Errors
    /// Those of reading a sound file.
    pub(crate) fn read(path: &std::path::Path) -> Result<Self, Error> {
        let bytes =
            std::fs::read(path).map_err(|source| Error::Io { file: path.to_owned(), source })?;
        let file = VersionedFile::open(path)?;
        let heaps = heaps(&bytes);
        let (mut digests, mut points) = (BTreeMap::new(), BTreeMap::new());
        let mut bare = BTreeMap::new();
        let mut known = lists_of_mappings(&bytes, &heaps);
        let mut chunks = Vec::new();
        for version in file.versions()? {
            let version = file.version(&version.name)?;
            for path in version.datasets()? {
                let dataset = version.dataset(&path)?;
                let place = (version.name().to_owned(), path);
                let values = Values::whole(&dataset)?;
                digests.insert(place.clone(), values.sha256());
                points.insert(place.clone(), Point::some(&values));
                let stored = dataset.stored_chunks()?.into_iter().map(|chunk| {
                    let start = usize::try_from(chunk.address).unwrap_or(usize::MAX);
                    start..start.saturating_add(usize::try_from(chunk.size).unwrap_or(usize::MAX))
                });
                let stored: Vec<_> = stored.collect();
                chunks.extend(stored.iter().cloned());
                let mut unprotected = Vec::new();
                if !dataset.filters().iter().any(|filter| CHECKING_FILTERS.contains(&filter.id)) {
                    unprotected.extend(stored);
                }
                if dataset.dtype().is_variable_string() {
                    unprotected.extend(heaps.iter().cloned());
                }
                bare.insert(place, unprotected);
            }
        }
        known.extend(chunks.iter().cloned());
        if has_checksums(&bytes) {
            // All metadata has checksums but global heaps, which hold lists of mappings and strings.
            known = std::iter::once(0..bytes.len()).collect();
        }
        let in_chunk = |at: &usize| chunks.iter().any(|chunk| chunk.contains(at));
        let structure =
            (0..bytes.len()).filter(|at| bytes[*at] != 0).filter(|at| !in_chunk(at)).collect();
        Ok(Self { bytes, digests, points, bare, heaps, known, structure })
    }

    /// Whether the damage must not go unnoticed in what is read from a dataset: error or right answer.
    pub(crate) fn protects(&self, place: &Place, damage: &Damage) -> bool {
        let Some(changed) = &damage.changed else { return true };
        let inside =
            |range: &Range<usize>| range.start <= changed.start && changed.end <= range.end;
        self.known.iter().any(inside)
            && !self.bare.get(place).is_some_and(|bare| damage.overlaps(bare))
    }

    /// The same of what is read from a dataset one element at a time: it leaves the checksums of lists of mappings, which
    /// are in heaps, alone.
    pub(crate) fn protects_points(&self, place: &Place, damage: &Damage) -> bool {
        self.protects(place, damage) && !damage.overlaps(&self.heaps)
    }

    /// The file with damage of this number.
    pub(crate) fn damaged(&self, number: u64) -> Damage {
        let mut numbers = Numbers(number);
        let mut bytes = self.bytes.clone();
        let at = if numbers.below(4) == 0 || self.structure.is_empty() {
            numbers.below(bytes.len() as u64) as usize
        } else {
            self.structure[numbers.below(self.structure.len() as u64) as usize]
        };
        let (kind, end) = match numbers.below(16) {
            0..=4 => {
                bytes[at] ^= 1 << numbers.below(8);
                ("a bit flipped", at + 1)
            }
            5..=8 => {
                bytes[at] = [0, 1, 0x7f, 0xff, numbers.next() as u8][numbers.below(5) as usize];
                ("another byte", at + 1)
            }
            9..=11 => {
                let value =
                    [u64::MAX, 1 << 63, u64::MAX - 7, 1 << 40, 1 << 31, 0, 1, numbers.next()];
                let value = value[numbers.below(8) as usize].to_le_bytes();
                let width = [2, 4, 8][numbers.below(3) as usize];
                let end = bytes.len().min(at + width);
                bytes[at..end].copy_from_slice(&value[..end - at]);
                ("another number", end)
            }
            12 | 13 => {
                let end = bytes.len().min(at + 2 + numbers.below(63) as usize);
                let with = [Some(0), Some(0xff), None][numbers.below(3) as usize];
                bytes[at..end].fill_with(|| with.unwrap_or(numbers.next() as u8));
                ("a range overwritten", end)
            }
            14 => {
                bytes[at..].fill(0);
                ("zeros from there on", bytes.len())
            }
            _ => {
                bytes.truncate(at);
                return Damage { kind: "cut off", at, changed: None, bytes };
            }
        };
        Damage { kind, at, changed: Some(at..end), bytes }
    }
}

/// A damaged file.
pub(crate) struct Damage {
    kind: &'static str,
    at: usize,
    /// Bytes that may differ; `None` for a file that was cut off, which is noticed at once.
    changed: Option<Range<usize>>,
    pub(crate) bytes: Vec<u8>,
}

impl Damage {
    fn overlaps(&self, ranges: &[Range<usize>]) -> bool {
        let overlap = |changed: &Range<usize>, range: &Range<usize>| {
            range.start < changed.end && changed.start < range.end
        };
        self.changed
            .as_ref()
            .is_some_and(|changed| ranges.iter().any(|range| overlap(changed, range)))
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}", self.kind, self.at)
    }
}

/// Whether the file's metadata is of the kind that has checksums: superblock version 2 or 3 (specification II.A).
fn has_checksums(bytes: &[u8]) -> bool {
    bytes.get(8).is_some_and(|version| *version >= 2)
}

/// The collections of the global heap (specification III.E): signature, version and padding, size.
fn heaps(bytes: &[u8]) -> Vec<Range<usize>> {
    let starts = (0..bytes.len()).filter(|&at| bytes[at..].starts_with(b"GCOL"));
    let heap = |start| Some(start..start + word(bytes, start + 8)?);
    starts.filter_map(heap).collect()
}

/// The objects of heaps that are lists of mappings, which end with a checksum.
fn lists_of_mappings(bytes: &[u8], heaps: &[Range<usize>]) -> Vec<Range<usize>> {
    const HEADER: usize = 16;
    const FIRST_NAME: &[u8] = b".\0/_version_data/";
    let mut lists = Vec::new();
    for heap in heaps {
        let mut at = heap.start + HEADER;
        while let Some(size) = word(bytes, at + 8).filter(|_| at + HEADER < heap.end) {
            let object = at + HEADER..(at + HEADER + size).min(heap.end);
            // Behind the version and the number of mappings.
            let names = bytes.get(object.start + 9..object.end).unwrap_or_default();
            if names.starts_with(FIRST_NAME) {
                lists.push(object.clone());
            }
            at = object.end.next_multiple_of(8);
        }
    }
    lists
}

fn word(bytes: &[u8], at: usize) -> Option<usize> {
    let bytes = bytes.get(at..)?.first_chunk()?;
    usize::try_from(u64::from_le_bytes(*bytes)).ok()
}
