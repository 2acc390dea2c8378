//! Which bytes of a stored chunk a transfer needs.

use std::ops::Range;

use crate::plan::{Piece, Transfer};

/// Unneeded bytes between two needed ranges that are read along rather than skipped: a positional
/// read from the page cache costs about as much as copying this many bytes.
pub(super) const GAP: u64 = 4 << 10;

/// Calls `visit` with the byte ranges of a chunk that hold the transfer's elements, in rising order,
/// at least [`GAP`] bytes apart.
pub(super) fn needed_ranges<E>(
    transfer: &Transfer<'_>,
    element_size: u64,
    mut visit: impl FnMut(Range<u64>) -> Result<(), E>,
) -> Result<(), E> {
    let outer = split_axes(transfer, element_size);
    let inner = span(transfer, outer, element_size);
    let mut pending: Option<Range<u64>> = None;
    let mut add = |start: u64| {
        let next = start + inner.start..start + inner.end;
        match &mut pending {
            Some(range) if next.start < range.end + GAP => range.end = range.end.max(next.end),
            _ => {
                if let Some(range) = pending.replace(next) {
                    return visit(range);
                }
            }
        }
        Ok(())
    };
    walk(transfer, 0..outer, 0, element_size, &mut add)?;
    match pending {
        Some(range) => visit(range),
        None => Ok(()),
    }
}

/// The transfer's bytes as one range, if that leaves out no gap worth a read of its own.
pub(super) fn single_range(transfer: &Transfer<'_>, element_size: u64) -> Option<Range<u64>> {
    let span = transfer.chunk_span();
    let bytes = span.start * element_size..span.end * element_size;
    (bytes.end - bytes.start <= GAP || split_axes(transfer, element_size) == 0).then_some(bytes)
}

/// Number of leading axes whose neighbours lie more than a gap apart.
fn split_axes(transfer: &Transfer<'_>, element_size: u64) -> usize {
    let pieces = transfer.pieces();
    (0..pieces.len())
        .rev()
        .find(|&axis| {
            let inner = span(transfer, axis + 1, element_size);
            let step = widest_step(&pieces[axis]) * transfer.chunk_strides()[axis] * element_size;
            step >= (inner.end - inner.start) + GAP
        })
        .map_or(0, |axis| axis + 1)
}

/// Bytes from the first to the last selected element along the axes from `axis` on.
fn span(transfer: &Transfer<'_>, axis: usize, element_size: u64) -> Range<u64> {
    let mut span = 0..element_size;
    let strides = &transfer.chunk_strides()[axis..];
    for (piece, stride) in transfer.pieces()[axis..].iter().zip(strides) {
        span.start += piece.first_offset() * stride * element_size;
        span.end += piece.last_offset() * stride * element_size;
    }
    span
}

/// The largest distance in elements between neighbours of a piece; 0 for a single element.
fn widest_step(piece: &Piece<'_>) -> u64 {
    match *piece {
        Piece::Strided { count: 1, .. } => 0,
        Piece::Strided { stride, .. } => stride,
        Piece::Listed { offsets, .. } => {
            offsets.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0)
        }
        Piece::Masked { mask, .. } => {
            mask.split(|&chosen| chosen).map(|gap| gap.len() as u64 + 1).max().unwrap_or(0)
        }
    }
}

/// Visits the byte offset of every combination of elements of the axes `axis..outer`.
fn walk<E>(
    transfer: &Transfer<'_>,
    axes: Range<usize>,
    start: u64,
    element_size: u64,
    visit: &mut impl FnMut(u64) -> Result<(), E>,
) -> Result<(), E> {
    if axes.is_empty() {
        return visit(start);
    }
    let bytes = transfer.chunk_strides()[axes.start] * element_size;
    let rest = axes.start + 1..axes.end;
    let mut enter =
        |offset: u64| walk(transfer, rest.clone(), start + offset * bytes, element_size, visit);
    match transfer.pieces()[axes.start] {
        Piece::Strided { offset, stride, count, .. } => {
            (0..count).try_for_each(|number| enter(offset + number * stride))
        }
        Piece::Listed { offsets, .. } => offsets.iter().try_for_each(|&offset| enter(offset)),
        Piece::Masked { offset, mask, .. } => (offset..)
            .zip(mask)
            .filter(|(_, chosen)| **chosen)
            .try_for_each(|(offset, _)| enter(offset)),
    }
}

#[cfg(test)]
mod tests {
    use bumpalo::Bump;

    use super::*;
    use crate::{ReadPlan, Selection};

    fn ranges(selection: &str, shape: &[u64], chunk: &[u64]) -> Vec<(u64, u64)> {
        let arena = Bump::new();
        let selection: Selection = selection.parse().unwrap();
        let plan = ReadPlan::new(&selection, shape, chunk, &arena).unwrap();
        let mut found = Vec::new();
        let mut transfers = plan.transfers();
        let transfer = transfers.advance().unwrap();
        let all: Result<(), ()> = needed_ranges(&transfer, 8, |range| {
            found.push((range.start, range.end));
            Ok(())
        });
        all.unwrap();
        let single = single_range(&transfer, 8);
        let single = single.map(|range| (range.start, range.end));
        assert_eq!(single, (found.len() == 1).then(|| found[0]), "{selection}");
        found
    }

    #[test]
    fn only_wide_gaps_split_a_read() {
        // Three rows of nine bytes times eight at the start of a chunk of 64.8 kB.
        assert_eq!(ranges("...", &[3, 74, 3944], &[900, 3, 3]), [(0, 216)]);
        // One column of a chunk: rows of 800 bytes lie close together.
        assert_eq!(ranges(":, 5", &[4000, 4000], &[100, 100]), [(40, 99 * 800 + 48)]);
        // Rows of 80 kB, ten bytes of each: one read a row.
        let rows = ranges("0:3, 0:2", &[100, 10_000], &[100, 10_000]);
        assert_eq!(rows, [(0, 16), (80_000, 80_016), (160_000, 160_016)]);
        // Whole rows far apart, and two neighbours that are read at once.
        let rows = ranges("[0, 7, 8], :", &[100, 1000], &[100, 1000]);
        assert_eq!(rows, [(0, 8000), (56_000, 72_000)]);
        let mask: Vec<&str> =
            (0..4000).map(|i| if i % 3000 == 1 { "True" } else { "False" }).collect();
        let masked = ranges(&format!("[{}]", mask.join(",")), &[4000], &[4000]);
        assert_eq!(masked, [(8, 16), (24_008, 24_016)]);
    }
}
