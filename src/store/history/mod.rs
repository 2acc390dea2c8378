//! The versions of a file: what each tells of itself, and the history that they make.

mod told;

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use h5strata_ffi::h5l::Link;
use h5strata_ffi::{h5a, h5l};

use self::told::Told;
use super::error::{Error, FormatFault};
use super::file::FileInner;
use super::names::{COMMITTED, FIRST_VERSION, PREV_VERSION, TIMESTAMP, VERSIONS};
use super::timestamp::parse_stored;

/// One committed version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionInfo {
    /// Its name.
    pub name: String,
    /// Name of its parent; `None` for a root.
    pub parent: Option<String>,
    /// When it was committed.
    pub timestamp: DateTime<Utc>,
}

/// All committed versions, in order of time.
#[derive(Clone, Debug)]
pub(super) struct History {
    versions: Vec<VersionInfo>,
    /// The state of the file that they were found in.
    state: u64,
}

impl History {
    pub(super) fn read(file: &FileInner) -> Result<Self, Error> {
        // One state of the file, from beginning to end.
        let session = file.session().map_err(file.library(VERSIONS))?;
        let links = h5l::links(session.lock(), &session.versions);
        let mut links = links.map_err(file.library(VERSIONS))?;
        links.retain(|(name, _)| name != FIRST_VERSION);
        let headers = links.iter().map(|(_, link)| match link {
            Link::Hard { address } => Some(*address),
            _ => None,
        });
        let told = told::by_headers(file, &headers.collect::<Vec<_>>());
        let mut versions = Vec::with_capacity(links.len());
        for ((name, _), told) in links.into_iter().zip(told) {
            let told = match told {
                Some(told) => told,
                None => ask(file, &name)?,
            };
            // What a stopped writer left half-way is no version.
            if let Told::Committed { parent, timestamp } = told {
                versions.push(VersionInfo { name, parent, timestamp });
            }
        }
        let depths = depths(file, &versions)?;
        let mut order: Vec<usize> = (0..versions.len()).collect();
        order.sort_by(|&a, &b| {
            let key = |v: usize| (versions[v].timestamp, depths[v], &versions[v].name);
            key(a).cmp(&key(b))
        });
        let versions = order.into_iter().map(|at| versions[at].clone()).collect();
        Ok(Self { versions, state: session.state })
    }

    /// Whether nobody has committed to the file since.
    pub(super) fn is_newest(&self, file: &FileInner) -> Result<bool, Error> {
        Ok(file.session().map_err(file.library(VERSIONS))?.state == self.state)
    }

    pub(super) fn versions(&self) -> &[VersionInfo] {
        &self.versions
    }

    /// The last version that is in time, as all versions before it are: found by asking about a logarithm of them.
    pub(super) fn latest(
        &self,
        is_in_time: impl FnMut(&VersionInfo) -> bool,
    ) -> Option<&VersionInfo> {
        self.versions.get(self.versions.partition_point(is_in_time).checked_sub(1)?)
    }

    pub(super) fn children(&self, parent: &str) -> Vec<&str> {
        let is_child = |version: &&VersionInfo| version.parent.as_deref() == Some(parent);
        self.versions.iter().filter(is_child).map(|version| version.name.as_str()).collect()
    }
}

/// What a version tells to who asks for one thing after the other.
fn ask(file: &FileInner, version: &str) -> Result<Told, Error> {
    if !is_committed(file, version)? {
        return Ok(Told::NotCommitted);
    }
    let (parent, timestamp) = (parent(file, version)?, timestamp(file, version)?);
    Ok(Told::Committed { parent, timestamp })
}

/// Number of ancestors of each version; every parent must exist and none be its own ancestor.
fn depths(file: &FileInner, versions: &[VersionInfo]) -> Result<Vec<usize>, Error> {
    let positions: HashMap<&str, usize> =
        versions.iter().enumerate().map(|(at, version)| (version.name.as_str(), at)).collect();
    let object = |at: usize| format!("{VERSIONS}/{}", versions[at].name);
    let mut depths = vec![None; versions.len()];
    let mut path = Vec::new();
    for start in 0..versions.len() {
        let mut at = start;
        // Up to an ancestor whose depth is known, or a root; then down again.
        let mut depth = loop {
            if let Some(depth) = depths[at] {
                break depth;
            }
            if path.len() > versions.len() {
                return Err(file.format(&object(start), FormatFault::CyclicParents));
            }
            path.push(at);
            match &versions[at].parent {
                None => break 0,
                Some(parent) => match positions.get(parent.as_str()) {
                    Some(&parent) => at = parent,
                    None => {
                        let fault = FormatFault::DanglingParent { parent: parent.clone() };
                        return Err(file.format(&object(at), fault));
                    }
                },
            }
        };
        while let Some(at) = path.pop() {
            depth += 1;
            depths[at] = Some(depth);
        }
    }
    Ok(depths.into_iter().map(Option::unwrap_or_default).collect())
}

/// Whether the commit of a version was completed. Versions that do not say were made before it was said.
pub(super) fn is_committed(file: &FileInner, version: &str) -> Result<bool, Error> {
    let object = format!("{VERSIONS}/{version}");
    let session = file.session().map_err(file.library(&object))?;
    let (lock, versions) = (session.lock(), &session.versions);
    let attribute = match h5a::open(lock, versions, version, COMMITTED) {
        Ok(attribute) => attribute,
        // Asked only now, as nearly all versions say it, and each call looks for the version anew.
        Err(error) => {
            let exists = |name| h5a::exists(lock, versions, version, name);
            if exists(COMMITTED).map_err(file.library(&object))? {
                return Err(file.library(&object)(error));
            }
            // A group without any of a version's attributes is none.
            return exists(TIMESTAMP).map_err(file.library(&object));
        }
    };
    let bytes = h5a::read(lock, &attribute).map_err(file.library(&object))?;
    Ok(bytes.iter().any(|&byte| byte != 0))
}

pub(super) fn parent(file: &FileInner, version: &str) -> Result<Option<String>, Error> {
    match file.text_attribute(version, PREV_VERSION)? {
        Some(parent) if parent == FIRST_VERSION => Ok(None),
        Some(parent) => Ok(Some(parent)),
        None => {
            let fault = FormatFault::MissingAttribute { name: PREV_VERSION };
            Err(file.format(&format!("{VERSIONS}/{version}"), fault))
        }
    }
}

pub(super) fn timestamp(file: &FileInner, version: &str) -> Result<DateTime<Utc>, Error> {
    let object = format!("{VERSIONS}/{version}");
    let text = file
        .text_attribute(version, TIMESTAMP)?
        .ok_or_else(|| file.format(&object, FormatFault::MissingAttribute { name: TIMESTAMP }))?;
    parse_stored(&text).ok_or_else(|| file.format(&object, FormatFault::Timestamp { text }))
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::*;

    #[test]
    fn a_look_up_asks_about_a_logarithm_of_the_versions() {
        // Three versions a second.
        let version = |number: i64| VersionInfo {
            name: number.to_string(),
            parent: None,
            timestamp: DateTime::UNIX_EPOCH + TimeDelta::seconds(number / 3),
        };
        for count in [0, 1, 2, 3, 1_000] {
            let history = History { versions: (0..count).map(version).collect(), state: 0 };
            let most = count.checked_ilog2().map_or(0, |log| log + 2);
            for millisecond in (-1_000..count * 1_000 / 3 + 2_000).step_by(500) {
                let time = DateTime::UNIX_EPOCH + TimeDelta::milliseconds(millisecond);
                let mut asked = 0;
                let found = history.latest(|version| {
                    asked += 1;
                    version.timestamp <= time
                });
                let expected = history.versions.iter().rfind(|version| version.timestamp <= time);
                assert_eq!(found, expected, "{count} versions, {millisecond} ms");
                assert!(asked <= most, "{asked} of {count} versions asked about");
            }
        }
    }
}
