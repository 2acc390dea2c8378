//! Pages: pieces of 4 KiB of the committed part of a file.

/// Bytes of a page.
pub(super) const PAGE_BYTES: usize = 4096;

/// Bytes of a page.
pub(super) const PAGE_SIZE: u64 = PAGE_BYTES as u64;

/// The committed part of a file, bytes 0 to `end`, as pages. The last one ends where the part does, and may be shorter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PageGrid {
    end: u64,
}

/// The part of a range that lies in its first page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    /// The page, counted from 0.
    pub(super) page: u64,
    /// First byte in the page.
    pub(super) offset: usize,
    /// Bytes of the piece.
    pub(super) length: usize,
}

impl PageGrid {
    pub(super) fn new(end: u64) -> Self {
        Self { end }
    }

    /// The byte behind the last page.
    pub(super) fn end(self) -> u64 {
        self.end
    }

    /// First byte of a page.
    pub(super) fn start(page: u64) -> u64 {
        page.saturating_mul(PAGE_SIZE)
    }

    /// Bytes of a page: 0 for one behind the end.
    pub(super) fn length(self, page: u64) -> usize {
        at_most(self.end.saturating_sub(Self::start(page)), PAGE_BYTES)
    }

    /// The first piece of `length` bytes from `address` on; `None` behind the end.
    pub(super) fn piece(self, address: u64, length: usize) -> Option<Piece> {
        let page = address / PAGE_SIZE;
        let offset = at_most(address % PAGE_SIZE, PAGE_BYTES);
        let inside = self.length(page).checked_sub(offset).filter(|&inside| inside > 0)?;
        Some(Piece { page, offset, length: inside.min(length) })
    }
}

/// The smaller of a number of bytes in a file and a number of bytes in memory.
pub(super) fn at_most(bytes: u64, limit: usize) -> usize {
    usize::try_from(bytes).map_or(limit, |bytes| bytes.min(limit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_page_ends_with_the_committed_part() {
        let grid = PageGrid::new(2 * PAGE_SIZE + 10);
        assert_eq!([0, 1, 2, 3].map(|page| grid.length(page)), [PAGE_BYTES, PAGE_BYTES, 10, 0]);
        assert_eq!(
            grid.piece(PAGE_SIZE + 4000, 500),
            Some(Piece { page: 1, offset: 4000, length: 96 })
        );
        assert_eq!(
            grid.piece(2 * PAGE_SIZE + 4, 500),
            Some(Piece { page: 2, offset: 4, length: 6 })
        );
        for behind in [grid.end(), grid.end() + 1, 3 * PAGE_SIZE, u64::MAX] {
            assert_eq!(grid.piece(behind, 500), None);
        }
    }
}
