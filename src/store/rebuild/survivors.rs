//! Which versions a new file has, and which come from which.

use std::collections::{HashMap, HashSet};

use super::super::history::VersionInfo;

/// A version that the new file has.
#[derive(Clone, Debug)]
pub(in crate::store) struct Survivor {
    pub(in crate::store) name: String,
    /// Its parent there, the nearest of its ancestors that survives; `None` for a root.
    pub(in crate::store) parent: Option<String>,
    /// Whether that is another one than before.
    pub(in crate::store) is_moved: bool,
}

/// The versions that the new file has, in order of time.
#[derive(Clone, Debug)]
pub(in crate::store) struct Survivors {
    pub(in crate::store) versions: Vec<Survivor>,
    /// The current one; `None` if there is none.
    pub(in crate::store) current: Option<String>,
    /// Whether any version is left out.
    pub(in crate::store) is_partial: bool,
}

impl Survivors {
    /// All versions but the deleted ones. Parents are known to exist, and no version is its own ancestor.
    pub(in crate::store) fn without(
        versions: &[VersionInfo],
        deleted: &HashSet<&str>,
        current: Option<&str>,
    ) -> Self {
        let mut nearest = Nearest::new(versions, deleted);
        let survivors = versions.iter().filter(|version| !deleted.contains(version.name.as_str()));
        let survivors = survivors.map(|version| {
            let parent = nearest.of(version.parent.as_deref()).map(str::to_owned);
            let is_moved = parent != version.parent;
            Survivor { name: version.name.clone(), parent, is_moved }
        });
        let versions = survivors.collect();
        let current = nearest.of(current).map(str::to_owned);
        Self { versions, current, is_partial: !deleted.is_empty() }
    }
}

/// The nearest survivors of versions, itself included.
struct Nearest<'v> {
    parents: HashMap<&'v str, Option<&'v str>>,
    deleted: &'v HashSet<&'v str>,
    /// What was found for deleted versions.
    known: HashMap<&'v str, Option<&'v str>>,
}

impl<'v> Nearest<'v> {
    fn new(versions: &'v [VersionInfo], deleted: &'v HashSet<&'v str>) -> Self {
        let parents = versions.iter().map(|one| (one.name.as_str(), one.parent.as_deref()));
        Self { parents: parents.collect(), deleted, known: HashMap::new() }
    }

    fn of(&mut self, version: Option<&'v str>) -> Option<&'v str> {
        let (mut at, mut passed) = (version, Vec::new());
        let found = loop {
            match at {
                Some(name) if self.deleted.contains(name) => {
                    if let Some(&known) = self.known.get(name) {
                        break known;
                    }
                    passed.push(name);
                    at = self.parents.get(name).copied().flatten();
                }
                survivor => break survivor,
            }
        };
        self.known.extend(passed.into_iter().map(|name| (name, found)));
        found
    }
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;

    use super::*;

    fn version(name: &str, parent: Option<&str>) -> VersionInfo {
        let (name, parent) = (name.to_owned(), parent.map(str::to_owned));
        VersionInfo { name, parent, timestamp: DateTime::UNIX_EPOCH }
    }

    #[test]
    fn children_go_to_the_nearest_ancestor_that_survives() {
        // a ── b ── c ── d, and e from b, f from nothing.
        let versions = [
            version("a", None),
            version("b", Some("a")),
            version("c", Some("b")),
            version("d", Some("c")),
            version("e", Some("b")),
            version("f", None),
        ];
        let of = |deleted: &[&str], current| {
            let deleted = deleted.iter().copied().collect();
            let survivors = Survivors::without(&versions, &deleted, current);
            let told = survivors
                .versions
                .iter()
                .map(|one| format!("{}<{}", one.name, one.parent.as_deref().unwrap_or("-")));
            (told.collect::<Vec<_>>().join(" "), survivors.current)
        };
        let current = |name: &str| Some(name.to_owned());
        assert_eq!(of(&[], Some("d")), ("a<- b<a c<b d<c e<b f<-".to_owned(), current("d")));
        assert_eq!(of(&["b", "c"], Some("c")), ("a<- d<a e<a f<-".to_owned(), current("a")));
        assert_eq!(of(&["a", "b", "e"], Some("e")), ("c<- d<c f<-".to_owned(), None));
        assert_eq!(of(&["a", "b", "c", "d", "e", "f"], Some("f")), (String::new(), None));
    }
}
