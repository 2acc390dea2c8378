//! Reading a file with pages laid over it.

use std::fs::File;
use std::io;

use super::page::{PAGE_SIZE, PageGrid, at_most};
use crate::ondisk::ReadAt;

/// Pages that stand for the bytes of a file.
pub(super) trait PageLayer {
    /// The part of the file that pages can stand for.
    fn grid(&self) -> PageGrid;

    /// The first page of the layer at or behind `page`.
    fn next_page(&self, page: u64) -> Option<u64>;

    /// Fills `out` from byte `offset` of a page of the layer on.
    fn read_page(&self, page: u64, offset: usize, out: &mut [u8]) -> io::Result<()>;
}

/// Fills `out` from `address` on: from the layer where it has a page, from the file elsewhere, with 0 from `size` on.
/// Returns how many bytes lie before `size`.
pub(super) fn read_merged(
    file: &File,
    layer: &impl PageLayer,
    size: u64,
    address: u64,
    out: &mut [u8],
) -> io::Result<usize> {
    let inside = at_most(size.saturating_sub(address), out.len());
    let (mut rest, behind) = out.split_at_mut(inside);
    behind.fill(0);
    let mut address = address;
    while !rest.is_empty() {
        let (length, from_layer) = next_run(layer, address, rest.len());
        let (run, later) = rest.split_at_mut(length);
        match from_layer {
            Some((page, offset)) => layer.read_page(page, offset, run)?,
            None => read_or_zero(file, address, run)?,
        }
        address = address.saturating_add(length as u64);
        rest = later;
    }
    Ok(inside)
}

/// How many of `length` bytes from `address` on come from one place, at least 1: of a page (its number and the first
/// byte in it) or of the file.
fn next_run(layer: &impl PageLayer, address: u64, length: usize) -> (usize, Option<(u64, usize)>) {
    let Some(piece) = layer.grid().piece(address, length) else { return (length, None) };
    match layer.next_page(piece.page) {
        Some(page) if page == piece.page => (piece.length, Some((page, piece.offset))),
        Some(page) => (at_most(PageGrid::start(page).saturating_sub(address), length), None),
        None => (length, None),
    }
}

/// Fills `out` from `address` on, with 0 behind the end of the file.
pub(super) fn read_or_zero(file: &impl ReadAt, address: u64, out: &mut [u8]) -> io::Result<()> {
    let filled = read_up_to(file, address, out)?;
    if let Some(rest) = out.get_mut(filled..) {
        rest.fill(0);
    }
    Ok(())
}

/// Reads what the file has from `address` on, at most `out.len()` bytes; returns their number.
pub(super) fn read_up_to(file: &impl ReadAt, address: u64, out: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while let Some(rest) = out.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match file.read_at(rest, address.saturating_add(filled as u64)) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// The number of whole or begun pages in front of `end`.
pub(super) fn pages_before(end: u64) -> u64 {
    end.div_ceil(PAGE_SIZE)
}
