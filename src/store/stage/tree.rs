//! The groups and datasets of a version that is being made.

use std::collections::{BTreeMap, BTreeSet};

use super::super::attribute::Attribute;
use super::super::version::EntryKind;
use super::content::Content;

/// What is at each path, by path: an object comes right after the group it is in or objects of that group.
pub(in crate::store) type Tree = BTreeMap<String, Node>;

/// A group or a dataset of the new version.
pub(in crate::store) struct Node {
    /// Path of the object of the parent version whose attributes it has.
    pub(in crate::store) origin: Option<String>,
    pub(in crate::store) attributes: AttributeChanges,
    pub(in crate::store) kind: NodeKind,
}

pub(in crate::store) enum NodeKind {
    Group,
    /// As in the parent version, at the node's origin.
    Unchanged,
    /// With values of its own.
    Staged(Box<Content>),
    /// Neither group nor dataset, taken over as it is.
    Other,
}

/// What becomes of the attributes of the object that a node comes from.
#[derive(Clone, Default)]
pub(in crate::store) struct AttributeChanges {
    pub(in crate::store) set: BTreeMap<String, Attribute>,
    pub(in crate::store) removed: BTreeSet<String>,
}

impl AttributeChanges {
    pub(in crate::store) fn is_empty(&self) -> bool {
        self.set.is_empty() && self.removed.is_empty()
    }

    pub(in crate::store) fn set(&mut self, attribute: Attribute) {
        self.removed.remove(&attribute.name);
        self.set.insert(attribute.name.clone(), attribute);
    }

    pub(in crate::store) fn remove(&mut self, name: &str) {
        self.set.remove(name);
        self.removed.insert(name.to_owned());
    }
}

impl Node {
    pub(in crate::store) fn group() -> Self {
        Self { origin: None, attributes: AttributeChanges::default(), kind: NodeKind::Group }
    }

    pub(in crate::store) fn entry_kind(&self) -> EntryKind {
        match self.kind {
            NodeKind::Group => EntryKind::Group,
            NodeKind::Unchanged | NodeKind::Staged(_) => EntryKind::Dataset,
            NodeKind::Other => EntryKind::Other,
        }
    }

    /// Whether it has the values and the shape of its origin in the parent version, without a look at them; `path`:
    /// its own.
    pub(in crate::store) fn is_untouched(&self, path: &str) -> bool {
        match &self.kind {
            NodeKind::Group => false,
            NodeKind::Unchanged | NodeKind::Other => true,
            NodeKind::Staged(content) => {
                let has_origin = self.origin.as_deref() == Some(path);
                has_origin && content.base_dataset().is_some() && !content.array.is_changed()
            }
        }
    }

    pub(in crate::store) fn is_group(&self) -> bool {
        matches!(self.kind, NodeKind::Group)
    }
}

/// The paths at and below `path`.
pub(in crate::store) fn subtree(tree: &Tree, path: &str) -> Vec<String> {
    let below = format!("{path}/");
    tree.range(path.to_owned()..)
        .take_while(|(at, _)| at.starts_with(path))
        .filter(|(at, _)| *at == path || at.starts_with(&below))
        .map(|(at, _)| at.clone())
        .collect()
}

/// The groups that a path lies in, the outermost first.
pub(in crate::store) fn parents(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').map(|(end, _)| &path[..end])
}
