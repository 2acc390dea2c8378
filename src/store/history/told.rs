//! What versions tell of themselves, straight from the headers of their groups: each is looked at once, and libhdf5 looks
//! for none of them.

use chrono::{DateTime, Utc};

use super::super::file::{Direct, FileInner};
use super::super::names::{COMMITTED, FIRST_VERSION, PREV_VERSION, TIMESTAMP};
use super::super::timestamp::parse_stored;
use crate::ondisk::{OndiskError, stored_attributes};
use crate::raw::{StringFault, Threads, resolve_strings};

/// What a version tells.
pub(super) enum Told {
    NotCommitted,
    Committed { parent: Option<String>, timestamp: DateTime<Utc> },
}

/// A version as its header has it.
struct Stored {
    is_committed: bool,
    /// The parent and the timestamp: a reference into the heap each.
    references: Vec<u8>,
}

/// What the versions tell whose headers are at these addresses. `None` for those of which libhdf5 has to be asked, or
/// where something is wrong, of which who asks it tells.
pub(super) fn by_headers(file: &FileInner, headers: &[Option<u64>]) -> Vec<Option<Told>> {
    let Some(direct) = &file.direct else { return headers.iter().map(|_| None).collect() };
    let stored = headers.iter().map(|header| direct.stored_version((*header)?).ok().flatten());
    let stored: Vec<Option<Stored>> = stored.collect();
    // At once, as many are in one collection of the heap.
    let references = stored.iter().flatten().flat_map(|one| one.references.iter().copied());
    let mut strings = direct.strings(&references.collect::<Vec<u8>>()).into_iter().flatten();
    let told = stored.into_iter().map(|stored| {
        let stored = stored?;
        let (parent, timestamp) = (strings.next()?, strings.next()?);
        match stored.is_committed {
            true => Told::of(parent, &timestamp),
            false => Some(Told::NotCommitted),
        }
    });
    told.collect()
}

impl Told {
    fn of(parent: String, timestamp: &str) -> Option<Self> {
        let parent = Some(parent).filter(|parent| parent != FIRST_VERSION);
        Some(Self::Committed { parent, timestamp: parse_stored(timestamp)? })
    }
}

impl Direct {
    /// The version whose header is at an address; `None` if not all that it has to tell is there.
    fn stored_version(&self, header: u64) -> Result<Option<Stored>, OndiskError> {
        let Self { bytes, superblock } = self;
        let names = [COMMITTED, PREV_VERSION, TIMESTAMP];
        let find = || stored_attributes(bytes, superblock, header, names);
        let [Some(committed), Some(parent), Some(timestamp)] = bytes.read_whole(find)? else {
            return Ok(None);
        };
        let (Some(committed), Some(parent), Some(timestamp)) =
            (committed.integers()?, parent.string_references()?, timestamp.string_references()?)
        else {
            return Ok(None);
        };
        let is_one = |references: &[u8]| references.len() == superblock.reference_size();
        let is_committed = committed.iter().any(|&byte| byte != 0);
        let references = [parent.as_slice(), &timestamp].concat();
        Ok((is_one(&parent) && is_one(&timestamp)).then_some(Stored { is_committed, references }))
    }

    /// The strings that references lead to; `None` if any is not one.
    fn strings(&self, references: &[u8]) -> Option<Vec<String>> {
        let Self { bytes, superblock } = self;
        let copy = |string: &[u8]| Some(std::str::from_utf8(string).ok()?.to_owned());
        let resolve = || -> Result<Vec<String>, StringFault> {
            resolve_strings(bytes, superblock, references, &[], Threads::One, copy)
                .map_err(|(_, fault)| fault)
        };
        bytes.read_whole(resolve).ok()
    }
}
