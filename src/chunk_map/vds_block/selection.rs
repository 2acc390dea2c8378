//! Serialised hyperslab selections of one block (`H5S__hyper_deserialize`).
//!
//! ```text
//! type u32 (2) | version u32
//!   1: padding u32 | length u32            | rank u32 | blocks u32 | start u32[rank] | last u32[rank]
//!   2: flags u8 | length u32               | rank u32 | regular: (start, stride, count, block) u64 [rank]
//!   3: flags u8 | width u8 (2, 4, 8)       | rank u32 | regular: (start, stride, count, block) [rank]
//!                                                     | else: blocks | start [rank] | last [rank], all of the width
//! ```

use super::error::{EntryFault, UnsupportedMapping};
use crate::dims::MAX_RANK;
use crate::ondisk::FieldWidth;

/// Selection types (`H5S_sel_type`).
const NONE: u32 = 0;
const POINTS: u32 = 1;
pub(super) const HYPERSLAB: u32 = 2;
const ALL: u32 = 3;

/// Flag: start, stride, count and block are stored.
pub(super) const REGULAR: u8 = 1;

/// Bytes of a version 1 selection before its first block.
pub(super) const V1_HEADER: usize = 24;

/// The least bytes of a hyperslab: version 3, irregular, rank 1.
pub(super) const MIN_SIZE: usize = 20;

/// A block of elements.
#[derive(Clone)]
pub(super) struct PlainBlock {
    pub(super) start: [u64; MAX_RANK],
    pub(super) extent: [u64; MAX_RANK],
}

impl PlainBlock {
    pub(super) fn new() -> Self {
        Self { start: [0; MAX_RANK], extent: [0; MAX_RANK] }
    }

    /// Decodes the selection at the start of `bytes`, which must be one block of this rank; returns its size in
    /// bytes.
    #[inline]
    pub(super) fn decode(&mut self, bytes: &[u8], rank: usize) -> Result<usize, EntryFault> {
        // Usual ranks in the usual encoding; a selection that is not in order is looked at again for the reason.
        let size = match rank {
            1 => self.decode_v1::<1>(bytes),
            2 => self.decode_v1::<2>(bytes),
            3 => self.decode_v1::<3>(bytes),
            4 => self.decode_v1::<4>(bytes),
            _ => None,
        };
        size.map_or_else(|| self.decode_any(bytes, rank), Ok)
    }

    /// One block in version 1; `None` for anything else.
    #[inline]
    fn decode_v1<const RANK: usize>(&mut self, bytes: &[u8]) -> Option<usize> {
        let size = V1_HEADER + 8 * RANK;
        let (words, _) = bytes.get(..size)?.as_chunks::<4>();
        let word = |at: usize| u32::from_le_bytes(words[at]);
        if word(0) != HYPERSLAB || word(1) != 1 || word(4) as usize != RANK || word(5) != 1 {
            return None;
        }
        for axis in 0..RANK {
            let (first, last) = (word(6 + axis), word(6 + RANK + axis));
            self.start[axis] = first.into();
            self.extent[axis] = u64::from(last.checked_sub(first)?) + 1;
        }
        Some(size)
    }

    #[cold]
    fn decode_any(&mut self, bytes: &[u8], rank: usize) -> Result<usize, EntryFault> {
        let mut fields = Fields { rest: bytes };
        match fields.u32()? {
            NONE => return Err(UnsupportedMapping::NoneSelected.into()),
            POINTS => return Err(UnsupportedMapping::PointsSelected.into()),
            ALL => return Err(UnsupportedMapping::AllSelected.into()),
            HYPERSLAB => {}
            value => return Err(invalid("type", value.into())),
        }
        let (regular, width) = match fields.u32()? {
            1 => {
                fields.take(8)?;
                (false, FieldWidth::Four)
            }
            2 => {
                let regular = fields.flags()?;
                fields.take(4)?;
                (regular, FieldWidth::Eight)
            }
            3 => {
                let regular = fields.flags()?;
                let size = fields.u8()?;
                let width = FieldWidth::from_byte(size);
                (regular, width.ok_or_else(|| invalid("width", size.into()))?)
            }
            value => return Err(invalid("version", value.into())),
        };
        let stored_rank = fields.u32()?;
        match usize::try_from(stored_rank) {
            Ok(found @ 1..=MAX_RANK) if found == rank => {}
            Ok(1..=MAX_RANK) => return Err(UnsupportedMapping::Rank.into()),
            _ => return Err(invalid("rank", stored_rank.into())),
        }
        if regular {
            self.decode_regular(&mut fields, rank, width)?;
        } else {
            self.decode_corners(&mut fields, rank, width)?;
        }
        Ok(bytes.len() - fields.rest.len())
    }

    fn decode_regular(
        &mut self,
        fields: &mut Fields<'_>,
        rank: usize,
        width: FieldWidth,
    ) -> Result<(), EntryFault> {
        for (start_slot, extent_slot) in self.start.iter_mut().zip(&mut self.extent).take(rank) {
            let start = fields.field(width)?;
            let stride = fields.field(width)?;
            let count = fields.field(width)?;
            let block = fields.field(width)?;
            if count == width.all_ones() || block == width.all_ones() {
                return Err(UnsupportedMapping::Unlimited.into());
            }
            if count == 0 || block == 0 {
                return Err(UnsupportedMapping::NoneSelected.into());
            }
            if count > 1 && stride != block {
                return Err(match stride < block {
                    true => invalid("stride", stride),
                    false => UnsupportedMapping::Strided.into(),
                });
            }
            let extent = count.checked_mul(block).ok_or_else(|| invalid("count", count))?;
            start.checked_add(extent).ok_or_else(|| invalid("start", start))?;
            (*start_slot, *extent_slot) = (start, extent);
        }
        Ok(())
    }

    fn decode_corners(
        &mut self,
        fields: &mut Fields<'_>,
        rank: usize,
        width: FieldWidth,
    ) -> Result<(), EntryFault> {
        if fields.field(width)? != 1 {
            return Err(UnsupportedMapping::BlockCount.into());
        }
        for start in self.start.iter_mut().take(rank) {
            *start = fields.field(width)?;
        }
        for (start, extent) in self.start.iter().zip(&mut self.extent).take(rank) {
            let last = fields.field(width)?;
            *extent = last
                .checked_sub(*start)
                .and_then(|length| length.checked_add(1))
                .ok_or_else(|| invalid("last element", last))?;
            start.checked_add(*extent).ok_or_else(|| invalid("last element", last))?;
        }
        Ok(())
    }
}

fn invalid(field: &'static str, value: u64) -> EntryFault {
    EntryFault::Selection { field, value }
}

/// Takes fields off the front of an entry.
struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], EntryFault> {
        let (taken, rest) = self
            .rest
            .split_at_checked(count)
            .ok_or(EntryFault::Truncated { needed: count, available: self.rest.len() })?;
        self.rest = rest;
        Ok(taken)
    }

    fn u8(&mut self) -> Result<u8, EntryFault> {
        Ok(self.take(1)?[0])
    }

    fn u32(&mut self) -> Result<u32, EntryFault> {
        let mut bytes = [0; 4];
        bytes.copy_from_slice(self.take(4)?);
        Ok(u32::from_le_bytes(bytes))
    }

    fn field(&mut self, width: FieldWidth) -> Result<u64, EntryFault> {
        Ok(width.decode(self.take(width.bytes())?).unwrap_or(0))
    }

    /// Selection flags; returns whether the hyperslab is regular.
    fn flags(&mut self) -> Result<bool, EntryFault> {
        match self.u8()? {
            0 => Ok(false),
            REGULAR => Ok(true),
            flags => Err(invalid("flags", flags.into())),
        }
    }
}
