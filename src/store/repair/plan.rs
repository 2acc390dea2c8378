//! What is to be done about what was found.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use super::dataset_of;
use super::options::RepairOptions;
use super::report::Repair;
use crate::dims::RawChunk;
use crate::store::error::{Error, FormatFault};
use crate::store::file::FileInner;
use crate::store::history::History;
use crate::store::verify::{
    ChunkFault, Finding, NewTable, Survey, Trust, VerifyReport, VersionFault,
};

/// What is to be done.
#[derive(Default)]
pub(super) struct Plan {
    /// Another current version; of a file without versions none.
    pub(super) current: Option<Option<String>>,
    /// Versions that were never committed.
    pub(super) not_committed: Vec<String>,
    /// Hash tables that differ from those that are there, by the paths of their `raw_data`.
    pub(super) tables: Vec<(String, NewTable)>,
    /// Whether there are bytes behind the end of the file.
    pub(super) has_tail: bool,
}

/// What findings ask for.
#[derive(Default)]
struct Wanted<'f> {
    current: bool,
    not_committed: Vec<&'f str>,
    /// Versions that others name as their parents, and that there are not.
    parents: HashSet<&'f str>,
    /// The `raw_data` whose tables are to be looked at, each with its damaged chunks that no version uses.
    tables: BTreeMap<&'f str, BTreeSet<RawChunk>>,
    has_tail: bool,
}

impl Plan {
    pub(super) fn new(
        file: &FileInner,
        found: &VerifyReport,
        options: &RepairOptions,
    ) -> Result<Self, Error> {
        let wanted = Wanted::of(found, options);
        let mut plan = Self { has_tail: wanted.has_tail, ..Self::default() };
        // The group of one may be all that is known of a parent.
        let not_committed =
            wanted.not_committed.iter().filter(|name| !wanted.parents.contains(**name));
        plan.not_committed = not_committed.map(|name| (*name).to_owned()).collect();
        if !wanted.current && wanted.tables.is_empty() {
            return Ok(plan);
        }
        let anew = Arc::new(file.anew());
        let mut survey = Survey::of(Arc::clone(&anew), &options.verify)?;
        if wanted.current {
            plan.current = Some(newest(&anew, &survey));
        }
        for (raw_data, damaged) in &wanted.tables {
            let trust = Trust::Rows { damaged, chunks_first: options.accept_chunks };
            // Where the chunks cannot be looked at, there is nothing to make a table of: that was found, too.
            let table = survey.table(raw_data, trust).ok().filter(|table| table.differs);
            plan.tables.extend(table.map(|table| ((*raw_data).to_owned(), table)));
        }
        Ok(plan)
    }

    /// Whether nothing is to be done inside the file.
    pub(super) fn is_empty(&self) -> bool {
        self.current.is_none() && self.not_committed.is_empty() && self.tables.is_empty()
    }

    /// What is done inside the file.
    pub(super) fn repairs(&self) -> impl Iterator<Item = Repair> {
        let current =
            self.current.iter().cloned().map(|version| Repair::CurrentVersion { version });
        let versions = self.not_committed.iter().cloned();
        let versions = versions.map(|version| Repair::NotCommitted { version });
        let tables = self.tables.iter().flat_map(|(raw_data, table)| {
            let NewTable { left_over, changed, .. } = *table;
            let (raw_data, rows) = (raw_data.clone(), table.rows.len() as u64);
            // Leftovers of a sound table have no row that changes.
            let is_sound = changed == 0 && left_over > 0;
            let anew = Repair::HashTable { raw_data: raw_data.clone(), rows, changed };
            let dropped = Repair::Leftovers { raw_data, chunks: left_over };
            [(!is_sound).then_some(anew), (left_over > 0).then_some(dropped)]
        });
        current.chain(versions).chain(tables.flatten())
    }
}

impl<'f> Wanted<'f> {
    fn of(found: &'f VerifyReport, options: &RepairOptions) -> Self {
        let mut wanted = Self::default();
        for finding in &found.findings {
            match finding {
                Finding::CurrentVersion { .. } => wanted.current = true,
                Finding::NotCommitted { version } => wanted.not_committed.push(version),
                Finding::Version {
                    fault: VersionFault::Format(FormatFault::DanglingParent { parent }),
                    ..
                } => {
                    wanted.parents.insert(parent);
                }
                Finding::HashTable { raw_data, .. }
                | Finding::Row { raw_data, .. }
                | Finding::LargestIndex { raw_data, .. } => {
                    wanted.table(raw_data);
                }
                Finding::Leftovers(chunks)
                | Finding::WithoutDigest(chunks)
                | Finding::Duplicates(chunks) => {
                    wanted.table(&chunks.raw_data);
                }
                Finding::Chunk { raw_data, raw, uses, .. } if uses.is_empty() => {
                    if let Some(damaged) = wanted.table(raw_data) {
                        damaged.insert(*raw);
                    }
                }
                Finding::Chunk { raw_data, fault, .. } => match fault {
                    ChunkFault::Digest { .. } => drop(wanted.table(raw_data)),
                    ChunkFault::Missing if options.accept_chunks => drop(wanted.table(raw_data)),
                    _ => {}
                },
                Finding::Tail { .. } => wanted.has_tail = true,
                _ => {}
            }
        }
        wanted
    }

    /// Has a table looked at, if it is one that can be replaced.
    fn table(&mut self, raw_data: &'f str) -> Option<&mut BTreeSet<RawChunk>> {
        dataset_of(raw_data)?;
        Some(self.tables.entry(raw_data).or_default())
    }
}

/// The newest version by time; of several of one time the last by its ancestors and its name.
fn newest(file: &FileInner, survey: &Survey<'_>) -> Option<String> {
    match History::read(file) {
        Ok(history) => history.latest(|_| true).map(|version| version.name.clone()),
        // Where the history is not whole, ancestors do not tell.
        Err(_) => survey.versions.last().map(|name| name.to_string()),
    }
}
