use super::super::attribute::Attribute;

/// A user's attribute that two versions of an object do not have alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttributeDiff {
    /// Its name.
    pub name: String,
    /// What it was; `None` if the old version has none.
    pub old: Option<Attribute>,
    /// What it is; `None` if the new version has none.
    pub new: Option<Attribute>,
}

/// Compares the attributes of an object, of both versions in order of their names.
pub(super) fn compare(old: Vec<Attribute>, new: Vec<Attribute>) -> Vec<AttributeDiff> {
    let (mut old, mut new) = (old.into_iter().peekable(), new.into_iter().peekable());
    let mut differing = Vec::new();
    loop {
        let (in_old, in_new) = match (old.peek(), new.peek()) {
            (None, None) => return differing,
            (Some(old), Some(new)) => (old.name <= new.name, new.name <= old.name),
            (old, new) => (old.is_some(), new.is_some()),
        };
        let (old, new) = (old.next_if(|_| in_old), new.next_if(|_| in_new));
        let name = old.as_ref().or(new.as_ref()).map(|attribute| attribute.name.clone());
        if old != new {
            differing.push(AttributeDiff { name: name.unwrap_or_default(), old, new });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_paired_by_their_names() {
        let of = |pairs: &[(&str, i64)]| {
            pairs.iter().map(|&(name, value)| Attribute::number(name, value)).collect::<Vec<_>>()
        };
        let found =
            compare(of(&[("a", 1), ("b", 2), ("d", 4)]), of(&[("b", 3), ("c", 3), ("d", 4)]));
        let found: Vec<_> = found
            .iter()
            .map(|diff| (diff.name.as_str(), diff.old.is_some(), diff.new.is_some()))
            .collect();
        assert_eq!(found, [("a", true, false), ("b", true, true), ("c", false, true)]);
        assert_eq!(compare(of(&[("a", 1)]), of(&[("a", 1)])), []);
    }
}
