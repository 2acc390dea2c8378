//! Digests of datasets of which few chunks are staged: of all such datasets together, before any of them is stored. Alone
//! each has too few chunks to make the best of a core, let alone of several.

use std::collections::BTreeMap;

use super::super::digest::{self, Chunk, Digest, Trimmed};
use super::super::stage::{Content, NodeKind, Stage};
use super::unchanged::MANY;
use crate::raw::Threads;

/// Bytes of all chunks above which a dataset has enough of its own.
const ENOUGH: usize = 256 << 10;

/// The digests of a dataset's staged chunks, in their order; `None` for those that hold nothing but the fill value.
pub(super) type ChunkDigests = Vec<Option<Digest>>;

/// The digests of datasets with few staged chunks, by path.
pub(super) fn digests<'s>(
    stage: &'s Stage<'_>,
    threads: Threads<'_>,
) -> BTreeMap<&'s str, ChunkDigests> {
    let datasets: Vec<(&str, &Content)> = (stage.tree.iter())
        .filter_map(|(path, node)| match &node.kind {
            NodeKind::Staged(content) if has_few(content) => Some((path.as_str(), &**content)),
            _ => None,
        })
        .collect();
    let trimmed: Vec<Trimmed> = (datasets.iter())
        .flat_map(|(_, content)| {
            content.array.staged().map(|(chunk, _)| Trimmed::of(chunk, &content.array))
        })
        .collect();
    let elements = datasets.iter().flat_map(|(_, content)| {
        content.array.staged().map(|(_, elements)| (elements, content.settings.element_fill()))
    });
    let chunks: Vec<Chunk<'_>> = (elements.zip(&trimmed))
        .map(|((elements, fill), trimmed)| Chunk { elements, trimmed, fill })
        .collect();
    let mut digests = digest::of_chunks(&chunks, threads).into_iter();
    let mut of_dataset = |&(path, content): &(_, &Content)| {
        (path, digests.by_ref().take(content.array.staged_count()).collect())
    };
    datasets.iter().map(&mut of_dataset).collect()
}

fn has_few(content: &Content) -> bool {
    let staged = content.array.staged_count();
    let bytes = content.settings.chunk_bytes().and_then(|bytes| bytes.checked_mul(staged));
    content.strings.is_none()
        && (1..MANY).contains(&staged)
        && bytes.is_some_and(|bytes| bytes <= ENOUGH)
}
