//! Source names of the entries of a list.
//!
//! Nearly all lists name one source. Names are kept as runs of entries with the same name, so that such a list costs
//! one comparison an entry and no memory.

use std::borrow::Cow;

use super::error::{EntryFault, UnsupportedMapping};

/// The file of the virtual dataset itself, as it is stored.
const SAME_FILE: &[u8] = b".\0";

/// Names of the entries decoded so far, of source files or of source datasets.
pub(super) struct Names<'b> {
    known: Vec<Name<'b>>,
    runs: Vec<Run>,
}

struct Name<'b> {
    /// As stored, with its NUL.
    stored: &'b [u8],
    /// Without NUL and escapes.
    text: Cow<'b, [u8]>,
}

/// From entry `first` on, up to the next run, all have this name.
#[derive(Clone, Copy)]
struct Run {
    first: u64,
    /// Index of the name in `known`.
    name: usize,
}

impl<'b> Names<'b> {
    pub(super) fn new() -> Self {
        Self { known: Vec::new(), runs: Vec::new() }
    }

    /// The name of the last entry.
    #[inline]
    pub(super) fn last(&self) -> &[u8] {
        self.last_known().map_or(&[], |name| &name.text)
    }

    /// Whether the last entry, `entry`, has another name than the one before it.
    #[inline]
    pub(super) fn changed_at(&self, entry: u64) -> bool {
        self.runs.last().is_some_and(|run| run.first == entry)
    }

    #[inline]
    fn last_known(&self) -> Option<&Name<'b>> {
        self.known.get(self.runs.last()?.name)
    }

    /// Takes the name stored at the start of `bytes` for `entry`; returns its size in bytes, NUL included.
    #[inline]
    pub(super) fn take_stored(&mut self, bytes: &'b [u8], entry: u64) -> Result<usize, EntryFault> {
        match self.last_known() {
            Some(last) if bytes.starts_with(last.stored) => Ok(last.stored.len()),
            _ => self.take_new(bytes, entry),
        }
    }

    #[cold]
    fn take_new(&mut self, bytes: &'b [u8], entry: u64) -> Result<usize, EntryFault> {
        let available = bytes.len();
        let len = bytes
            .iter()
            .position(|&byte| byte == 0)
            .ok_or(EntryFault::Truncated { needed: available + 1, available })?;
        let text = unescape(&bytes[..len])?;
        self.runs.push(Run { first: entry, name: self.known.len() });
        self.known.push(Name { stored: &bytes[..=len], text });
        Ok(len + 1)
    }

    /// Gives `entry` the name "the file of the virtual dataset".
    #[inline]
    pub(super) fn take_same_file(&mut self, entry: u64) -> Result<(), EntryFault> {
        self.take_stored(SAME_FILE, entry).map(|_| ())
    }

    /// Gives `entry` the name of the earlier entry `origin`.
    #[inline]
    pub(super) fn take_shared(&mut self, origin: u64, entry: u64) -> Result<(), EntryFault> {
        if origin >= entry {
            return Err(EntryFault::NameReference { found: origin });
        }
        if self.runs.len() > 1 {
            self.share(origin, entry);
        }
        Ok(())
    }

    #[cold]
    fn share(&mut self, origin: u64, entry: u64) {
        let after = self.runs.partition_point(|run| run.first <= origin);
        let run = after.checked_sub(1).and_then(|run| self.runs.get(run)).copied();
        if let (Some(run), Some(last)) = (run, self.runs.last())
            && run.name != last.name
        {
            self.runs.push(Run { first: entry, name: run.name });
        }
    }
}

/// The name that a stored name stands for: `%%` is a `%`, `%b` is a number that counts up
/// (`H5D_virtual_parse_source_name`).
fn unescape(stored: &[u8]) -> Result<Cow<'_, [u8]>, EntryFault> {
    if !stored.contains(&b'%') {
        return Ok(Cow::Borrowed(stored));
    }
    let mut text = Vec::with_capacity(stored.len());
    let mut bytes = stored.iter();
    while let Some(&byte) = bytes.next() {
        if byte == b'%' {
            match bytes.next() {
                Some(b'%') => {}
                Some(b'b') => return Err(UnsupportedMapping::NamePattern.into()),
                _ => return Err(EntryFault::NameFormat),
            }
        }
        text.push(byte);
    }
    Ok(Cow::Owned(text))
}
