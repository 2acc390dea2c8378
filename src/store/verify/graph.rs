//! Parents of versions, as a graph.

use std::collections::HashMap;

/// What a version says of its parent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Parent {
    /// It has none.
    Nobody,
    /// It has one of this name.
    Named(String),
}

/// The position of each version's parent, by names; and the versions whose parent there is not.
pub(super) fn parents<'v>(
    versions: &[(&str, Option<&'v Parent>)],
) -> (Vec<Option<usize>>, Vec<(usize, &'v str)>) {
    let positions: HashMap<&str, usize> =
        versions.iter().enumerate().map(|(at, &(name, _))| (name, at)).collect();
    let mut dangling = Vec::new();
    let parents = (0..).zip(versions).map(|(child, &(_, parent))| {
        let Some(Parent::Named(parent)) = parent else { return None };
        let position = positions.get(&**parent).copied();
        if position.is_none() {
            dangling.push((child, &**parent));
        }
        position
    });
    (parents.collect(), dangling)
}

/// Those that are their own ancestors, in rising order.
pub(super) fn cyclic(parents: &[Option<usize>]) -> Vec<usize> {
    // The walk that has come by first; walks are numbered by where they begin.
    let mut walks = vec![None; parents.len()];
    let mut cyclic = Vec::new();
    for start in 0..parents.len() {
        let mut at = Some(start);
        while let Some(here) = at.filter(|&here| walks[here].is_none()) {
            walks[here] = Some(start);
            at = parents[here];
        }
        // Back where this very walk has been: around from there.
        if let Some(again) = at.filter(|&here| walks[here] == Some(start)) {
            let mut here = again;
            loop {
                cyclic.push(here);
                match parents[here] {
                    Some(next) if next != again => here = next,
                    _ => break,
                }
            }
        }
    }
    cyclic.sort_unstable();
    cyclic
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_on_a_circle_are_their_own_ancestors_and_those_that_lead_to_it_are_not() {
        assert_eq!(cyclic(&[]), []);
        assert_eq!(cyclic(&[None, Some(0), Some(1), Some(0)]), []);
        assert_eq!(cyclic(&[Some(0), None]), [0]);
        assert_eq!(
            cyclic(&[Some(1), Some(2), Some(3), Some(1), Some(0), Some(6), Some(5)]),
            [1, 2, 3, 5, 6]
        );
    }

    #[test]
    fn a_parent_that_does_not_exist_dangles() {
        let (missing, root) = (Parent::Named("nowhere".to_owned()), Parent::Nobody);
        let a = Parent::Named("a".to_owned());
        let versions = [("b", Some(&a)), ("a", Some(&root)), ("c", Some(&missing)), ("d", None)];
        let (parents, dangling) = parents(&versions);
        assert_eq!(parents, [Some(1), None, None, None]);
        assert_eq!(dangling, [(2, "nowhere")]);
    }
}
