//! A plan prints itself: one line a transfer, in NumPy's notation.

use std::fmt;

use super::{Piece, ReadPlan};

/// Entries of a list that are printed before the rest is only counted.
const LISTED: usize = 8;

impl fmt::Display for ReadPlan<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut transfers = self.transfers();
        while let Some(transfer) = transfers.advance() {
            f.write_str("chunk (")?;
            write_joined(f, &self.chunk_coordinate(transfer.chunk()), |f, index| {
                write!(f, "{index}")
            })?;
            f.write_str("): [")?;
            write_joined(f, transfer.pieces(), write_offsets)?;
            f.write_str("] -> [")?;
            write_joined(f, transfer.pieces(), write_positions)?;
            f.write_str("]\n")?;
        }
        Ok(())
    }
}

type Formatter<'a> = fmt::Formatter<'a>;

fn write_joined<T>(
    f: &mut Formatter<'_>,
    items: &[T],
    write: impl Fn(&mut Formatter<'_>, &T) -> fmt::Result,
) -> fmt::Result {
    for (number, item) in items.iter().enumerate() {
        if number > 0 {
            f.write_str(", ")?;
        }
        write(f, item)?;
    }
    Ok(())
}

fn write_offsets(f: &mut Formatter<'_>, piece: &Piece<'_>) -> fmt::Result {
    match *piece {
        Piece::Strided { offset, count: 1, .. } => write!(f, "{offset}"),
        Piece::Strided { offset, stride: 1, count, .. } => write!(f, "{offset}:{}", offset + count),
        Piece::Strided { stride, .. } => {
            write!(f, "{}:{}:{stride}", piece.first_offset(), piece.last_offset() + 1)
        }
        Piece::Listed { offsets, .. } => write_list(f, offsets),
        Piece::Masked { offset, mask, count, .. } => {
            write!(f, "{count} of {offset}:{}", offset + mask.len() as u64)
        }
    }
}

fn write_positions(f: &mut Formatter<'_>, piece: &Piece<'_>) -> fmt::Result {
    match *piece {
        Piece::Strided { position, count: 1, .. } => write!(f, "{position}"),
        // The stop of a reversed slice that ends at position 0 is left out, as NumPy has it.
        Piece::Strided { position, count, reversed: true, .. } => match position.checked_sub(count)
        {
            Some(stop) => write!(f, "{position}:{stop}:-1"),
            None => write!(f, "{position}::-1"),
        },
        Piece::Strided { position, count, .. } | Piece::Masked { position, count, .. } => {
            write!(f, "{position}:{}", position + count)
        }
        Piece::Listed { positions, .. } => write_list(f, positions),
    }
}

fn write_list(f: &mut Formatter<'_>, items: &[u64]) -> fmt::Result {
    f.write_str("[")?;
    write_joined(f, &items[..items.len().min(LISTED)], |f, item| write!(f, "{item}"))?;
    if items.len() > LISTED {
        write!(f, ", ... {} in all", items.len())?;
    }
    f.write_str("]")
}
