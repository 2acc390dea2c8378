//! Index arrays, masks and points: elements sorted into the chunks they lie in.

use std::mem::size_of;
use std::ops::Range;

use bumpalo::Bump;

use super::transfer::Piece;

/// The elements of one chunk along a grouped axis.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group<'p> {
    pub(super) chunk: u64,
    pub(super) piece: Piece<'p>,
}

/// Arena bytes for each index of an index array and for each point.
pub const PICK_BYTES: usize = size_of::<Pick>() + 2 * size_of::<u64>();

/// Arena bytes for each touched chunk of an axis with an index array or a mask, at most.
pub const GROUP_BYTES: usize = size_of::<Group<'static>>();

/// One selected element: `key` is `chunk * chunk_volume + offset`, so that sorting sorts by chunk
/// and, inside it, by offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Pick {
    key: u64,
    position: u64,
}

/// Groups the elements with the given keys, in the order of the buffer.
pub(super) fn group_keys<'p>(
    arena: &'p Bump,
    keys: impl ExactSizeIterator<Item = u64>,
    chunk_volume: u64,
) -> &'p [Group<'p>] {
    let mut position = 0;
    let picks = arena.alloc_slice_fill_iter(keys.map(|key| {
        position += 1;
        Pick { key, position: position - 1 }
    }));
    if !picks.is_sorted() {
        picks.sort_unstable();
    }
    let picks = &*picks;
    // Keys rise, so a division a chunk tells where it ends.
    let (mut groups, mut chunk) = (0, 0..0);
    let offsets = &*arena.alloc_slice_fill_iter(picks.iter().map(|pick| {
        if pick.key >= chunk.end {
            chunk = chunk_of(pick.key, chunk_volume);
            groups += 1;
        }
        pick.key - chunk.start
    }));
    let positions = &*arena.alloc_slice_fill_iter(picks.iter().map(|pick| pick.position));
    let mut start = 0;
    collect(
        arena,
        groups,
        std::iter::from_fn(|| {
            let first = picks.get(start)?.key;
            let chunk = chunk_of(first, chunk_volume);
            let rest = &picks[start..];
            let count = rest.iter().position(|pick| pick.key >= chunk.end).unwrap_or(rest.len());
            let range = start..start + count;
            start = range.end;
            Some(Group {
                chunk: first / chunk_volume,
                piece: simplest(&offsets[range.clone()], &positions[range]),
            })
        }),
    )
}

/// The keys of the chunk that an element lies in.
fn chunk_of(key: u64, chunk_volume: u64) -> Range<u64> {
    let start = key - key % chunk_volume;
    // The end of a whole chunk of the grid is a count of elements, which fits 64 bits.
    start..start + chunk_volume
}

/// The strided form of a list where it has one: that is what the kernel copies fastest.
fn simplest<'p>(offsets: &'p [u64], positions: &'p [u64]) -> Piece<'p> {
    let listed = Piece::Listed { offsets, positions };
    let (&[offset, ..], &[position, ..]) = (offsets, positions) else {
        return listed;
    };
    let count = offsets.len() as u64;
    if count == 1 {
        return Piece::Strided { offset, stride: 1, count, position, reversed: false };
    }
    let stride = offsets[1] - offset;
    let reversed = positions[1] < position;
    let even = offsets.windows(2).all(|pair| pair[1] - pair[0] == stride);
    let consecutive = positions
        .windows(2)
        .all(|pair| if reversed { pair[0] == pair[1] + 1 } else { pair[0] + 1 == pair[1] });
    if stride > 0 && even && consecutive {
        Piece::Strided { offset, stride, count, position, reversed }
    } else {
        listed
    }
}

/// Groups the true elements of a mask over one axis. Only the touched chunks cost memory.
pub(super) fn group_mask<'p>(arena: &'p Bump, mask: &'p [bool], chunk: u64) -> &'p [Group<'p>] {
    let step = usize::try_from(chunk).unwrap_or(usize::MAX);
    let touched = mask.chunks(step).filter(|part| part.contains(&true)).count();
    let mut position = 0;
    collect(
        arena,
        touched,
        mask.chunks(step).enumerate().filter_map(|(number, part)| {
            let first = part.iter().position(|&chosen| chosen)?;
            let last = part.iter().rposition(|&chosen| chosen)?;
            let mask = &part[first..=last];
            let count: u64 = mask.iter().map(|&chosen| u64::from(chosen)).sum();
            let offset = first as u64;
            let piece = if count == mask.len() as u64 {
                Piece::Strided { offset, stride: 1, count, position, reversed: false }
            } else {
                Piece::Masked { offset, mask, count, position }
            };
            position += count;
            Some(Group { chunk: number as u64, piece })
        }),
    )
}

/// Puts exactly `len` groups into the arena.
fn collect<'p>(
    arena: &'p Bump,
    len: usize,
    groups: impl Iterator<Item = Group<'p>>,
) -> &'p [Group<'p>] {
    let mut collected = bumpalo::collections::Vec::with_capacity_in(len, arena);
    collected.extend(groups);
    collected.into_bump_slice()
}
