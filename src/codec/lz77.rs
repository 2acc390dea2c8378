//! What LZF and BloscLZ share: greedy parsing into literals and matches, and copying a match.

use super::error::{Corruption, Fault};

/// Shortest match worth an item in both formats.
const MIN_MATCH: usize = 3;
const MAX_TABLE_BITS: u32 = 14;

/// What a format can say in one item.
pub(super) struct Limits {
    /// The longest distance.
    pub(super) distance: usize,
    /// The longest match.
    pub(super) length: usize,
    /// Bytes at the end that no match may cover.
    pub(super) tail: usize,
}

/// Writes the items of a format.
pub(super) trait Sink {
    /// Bytes that are not repeated from earlier.
    fn literals(&mut self, literals: &[u8]) -> Result<(), Fault>;
    /// `length` bytes that stand `distance` bytes earlier too.
    fn repeat(&mut self, distance: usize, length: usize) -> Result<(), Fault>;
}

/// Parses `input`, taking the latest earlier place with the same three bytes as the match.
pub(super) fn parse(input: &[u8], limits: &Limits, sink: &mut impl Sink) -> Result<(), Fault> {
    let bits = (input.len() | 1).ilog2().clamp(4, MAX_TABLE_BITS);
    // Position + 1 of the last place each hash was seen; 0 is none.
    let mut table = vec![0usize; 1 << bits];
    let (matchable, _) = input.split_at(input.len().saturating_sub(limits.tail));
    let (mut literals, mut position) = (0, 0);
    while let Some(&key) = matchable[position..].first_chunk::<MIN_MATCH>() {
        let candidate = std::mem::replace(&mut table[hash(key, bits)], position + 1);
        let length = match candidate.checked_sub(1) {
            Some(earlier) if position - earlier <= limits.distance => {
                let longest = (matchable.len() - position).min(limits.length);
                common_start(&input[earlier..], &input[position..position + longest])
            }
            _ => 0,
        };
        if length < MIN_MATCH {
            position += 1;
            continue;
        }
        sink.literals(&input[literals..position])?;
        sink.repeat(position + 1 - candidate, length)?;
        position += length;
        literals = position;
    }
    sink.literals(&input[literals..])
}

/// Length of the common start of two byte strings.
fn common_start(earlier: &[u8], here: &[u8]) -> usize {
    here.iter().zip(earlier).take_while(|(a, b)| a == b).count()
}

fn hash([a, b, c]: [u8; MIN_MATCH], bits: u32) -> usize {
    let hash = u32::from_le_bytes([a, b, c, 0]).wrapping_mul(0x9e37_79b1) >> (32 - bits);
    // 14 bits fit every usize.
    usize::try_from(hash).unwrap_or(0)
}

/// The longest run of literals of both formats.
pub(super) const MAX_LITERALS: usize = 32;

/// Copies the first `len` bytes of `input`, at most [`MAX_LITERALS`], to `out[filled..]` and gives
/// the rest of `input`.
pub(super) fn copy_literals<'a>(
    out: &mut [u8],
    filled: usize,
    input: &'a [u8],
    len: usize,
) -> Result<&'a [u8], Fault> {
    let (literals, rest) = input.split_at_checked(len).ok_or(Corruption::Truncated)?;
    let room = out.get_mut(filled..).ok_or(Fault::TooLong)?;
    // A copy of fixed length needs no call; what it writes too much is written over later.
    match (input.first_chunk::<MAX_LITERALS>(), room.first_chunk_mut::<MAX_LITERALS>()) {
        (Some(from), Some(to)) => *to = *from,
        _ => room.get_mut(..len).ok_or(Fault::TooLong)?.copy_from_slice(literals),
    }
    Ok(rest)
}

/// Bytes that [`copy_match`] copies without looking at the length.
const SHORT_MATCH: usize = 16;

/// Repeats `length` bytes from `distance` bytes before `filled`; the ranges may overlap.
pub(super) fn copy_match(
    out: &mut [u8],
    filled: usize,
    distance: usize,
    length: usize,
) -> Result<(), Fault> {
    let start = filled.checked_sub(distance).ok_or(Corruption::Reference)?;
    let end = filled.checked_add(length).ok_or(Fault::TooLong)?;
    if end > out.len() {
        return Err(Fault::TooLong);
    }
    // As for literals: what is written too much is written over later.
    if length <= SHORT_MATCH && distance >= SHORT_MATCH {
        let (earlier, room) = out.split_at_mut(filled);
        let from = earlier[start..].first_chunk::<SHORT_MATCH>();
        if let (Some(from), Some(to)) = (from, room.first_chunk_mut()) {
            *to = *from;
            return Ok(());
        }
    }
    if distance == 1 {
        let byte = out[start];
        out[filled..end].fill(byte);
        return Ok(());
    }
    // What is copied is a whole number of periods, so each step may copy twice as much.
    let mut done = filled;
    while done < end {
        let step = (done - start).min(end - done);
        out.copy_within(start..start + step, done);
        done += step;
    }
    Ok(())
}

/// Bytes written one after the other into a slice.
pub(super) struct Writer<'a> {
    pub(super) out: &'a mut [u8],
    pub(super) len: usize,
}

impl Writer<'_> {
    /// Adds bytes; the encoder fails where there is no room.
    pub(super) fn put(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        let end = self.len + bytes.len();
        self.out.get_mut(self.len..end).ok_or(Fault::Encode)?.copy_from_slice(bytes);
        self.len = end;
        Ok(())
    }
}

/// The lowest 8 bits.
pub(super) fn low_byte(value: usize) -> u8 {
    value.to_le_bytes()[0]
}
