//! The versions of a file: whether each is one, and whether they make a history.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use h5strata_ffi::h5o::ObjectKind;
use h5strata_ffi::{h5l, h5o};

use super::super::error::{Error, FormatFault};
use super::super::history;
use super::super::names::{CURRENT_VERSION, FIRST_VERSION, VERSIONS};
use super::Verifier;
use super::fault::VersionFault;
use super::finding::Finding;
use super::graph::{Parent, cyclic, parents};

/// A committed version.
struct Committed {
    name: String,
    /// `None` where it does not tell.
    parent: Option<Parent>,
    time: Option<DateTime<Utc>>,
}

impl Verifier<'_> {
    /// Names of the committed versions, the oldest first.
    pub(super) fn versions(&mut self) -> Result<Vec<Arc<str>>, Error> {
        let mut versions = Vec::new();
        for name in self.names()? {
            match self.committed(&name) {
                Ok(Some(version)) => versions.push(version),
                Ok(None) => self.found(Finding::NotCommitted { version: name }),
                Err(error) => {
                    self.is_partial = true;
                    self.found(Finding::Version { version: name, fault: error.into() });
                }
            }
        }
        versions.sort_by(|one, other| (one.time, &one.name).cmp(&(other.time, &other.name)));
        self.history(&versions);
        self.current(&versions);
        self.report.versions = versions.len() as u64;
        Ok(versions.into_iter().map(|version| version.name.into()).collect())
    }

    fn names(&self) -> Result<Vec<String>, Error> {
        let session = self.file.session().map_err(self.file.library(VERSIONS))?;
        let names = h5l::names(session.lock(), &session.versions);
        let mut names = names.map_err(self.file.library(VERSIONS))?;
        names.retain(|name| name != FIRST_VERSION);
        Ok(names)
    }

    /// What a version tells of itself; `None` if it was not committed.
    fn committed(&mut self, name: &str) -> Result<Option<Committed>, Error> {
        let object = format!("{VERSIONS}/{name}");
        {
            let session = self.file.session().map_err(self.file.library(&object))?;
            let found = h5o::object(session.lock(), &session.versions, name);
            if found.map_err(self.file.library(&object))?.kind != ObjectKind::Group {
                return Err(self.file.format(&object, FormatFault::NotAGroup));
            }
        }
        if !history::is_committed(&self.file, name)? {
            return Ok(None);
        }
        let parent = history::parent(&self.file, name);
        let time = history::timestamp(&self.file, name);
        let mut told = |error: Error| {
            let version = name.to_owned();
            self.report.findings.push(Finding::Version { version, fault: error.into() });
        };
        let parent = match parent {
            Ok(None) => Some(Parent::Nobody),
            Ok(Some(parent)) => Some(Parent::Named(parent)),
            Err(error) => {
                told(error);
                None
            }
        };
        let time = time.map_err(told).ok();
        Ok(Some(Committed { name: name.to_owned(), parent, time }))
    }

    /// Every parent must be a version, and none its own ancestor.
    fn history(&mut self, versions: &[Committed]) {
        let told: Vec<_> =
            versions.iter().map(|version| (&*version.name, version.parent.as_ref())).collect();
        let (parents, dangling) = parents(&told);
        for (child, parent) in dangling {
            let fault = FormatFault::DanglingParent { parent: parent.to_owned() };
            self.version_fault(&versions[child].name, fault);
        }
        for version in cyclic(&parents) {
            self.version_fault(&versions[version].name, FormatFault::CyclicParents);
        }
    }

    fn version_fault(&mut self, version: &str, fault: FormatFault) {
        let (version, fault) = (version.to_owned(), VersionFault::Format(fault));
        self.found(Finding::Version { version, fault });
    }

    fn current(&mut self, versions: &[Committed]) {
        let fault = match self.file.text_attribute(".", CURRENT_VERSION) {
            Err(error) => error.into(),
            Ok(None) => {
                VersionFault::Format(FormatFault::MissingAttribute { name: CURRENT_VERSION })
            }
            Ok(Some(name))
                if name == FIRST_VERSION || versions.iter().any(|version| version.name == name) =>
            {
                return;
            }
            Ok(Some(version)) => VersionFault::Format(FormatFault::DanglingCurrent { version }),
        };
        self.found(Finding::CurrentVersion { fault });
    }
}
