//! The stored chunk of a hash table: rows, then zeros, compressed as LZF does it (`codec::lzf` has the grammar).
//!
//! A general compressor looks for what repeats. Of rows it is known: nothing in the digests, and the high halves of the
//! numbers behind them. So encoding costs next to nothing, and the length can be chosen: a chunk of the length that it
//! had stays where it is in the file. libhdf5 puts one of another length to the end, and the old place is lost.

use super::ROW;

/// Rows and bytes of a chunk ([`HASH_TABLE_CHUNK`](crate::store::layout::HASH_TABLE_CHUNK)).
pub(super) const ROWS: usize = 4096;
pub(super) const BYTES: usize = ROWS * ROW;

/// Where the two numbers of a row are.
const NUMBERS: [usize; 2] = [RUN, RUN + 8];

/// The least step from one length to the next. Chunks have lengths in steps of about an eighth, as long as they have zeros
/// that can be stored in more bytes than need be.
const LEAST_STEP: usize = 512;

/// The most bytes of a run of literals, and of a match.
const RUN: usize = 32;
const MATCH: usize = 264;

/// Rows at the beginning of a chunk as they are encoded: those behind them change nothing of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Head {
    /// Bytes of the rows.
    rows: usize,
    /// Bytes of their encoding.
    encoded: usize,
}

impl Head {
    /// Bytes of the encoding of these rows.
    pub(super) fn encoded(self) -> usize {
        self.encoded
    }

    /// What is needed of a chunk's rows to encode those behind these: the last one of these, and those.
    pub(super) fn tail(self, rows: &[u8]) -> &[u8] {
        rows.get(self.rows.saturating_sub(ROW)..).unwrap_or_default()
    }

    /// The rows behind these in such a tail, each with the one above it.
    fn behind(self, tail: &[u8]) -> impl Iterator<Item = (Option<&[u8]>, &[u8])> {
        let above = std::iter::once(None).chain(tail.chunks_exact(ROW).map(Some));
        above.zip(tail.chunks_exact(ROW)).skip(usize::from(self.rows > 0))
    }
}

/// How a chunk is encoded, which tells its length before it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Encoding {
    /// Rows that are encoded already.
    head: Head,
    /// All rows.
    rows: Head,
    zeros: Zeros,
    len: usize,
}

impl Encoding {
    /// Of a chunk that begins with `rows`, the first of which are those of `head`; `None` if it would not become smaller.
    pub(super) fn of(rows: &[u8], head: Head) -> Option<Self> {
        let count = BYTES.checked_sub(rows.len())?;
        let behind: usize = (head.behind(head.tail(rows)))
            .map(|(above, row)| {
                let numbers = NUMBERS.map(|at| if repeats(above, row, at) { 5 + 2 } else { 9 });
                RUN + 1 + numbers.iter().sum::<usize>()
            })
            .sum();
        let encoded = head.encoded + behind;
        let shortest = Zeros::shortest(count);
        let room = length_in_steps(encoded + shortest.len()) - encoded;
        let zeros = Zeros::of_len(count, room).unwrap_or(shortest);
        let len = encoded + zeros.len();
        let rows = Head { rows: rows.len(), encoded };
        (len < BYTES).then_some(Self { head, rows, zeros, len })
    }

    /// Bytes of the stored chunk.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// All rows of the chunk.
    pub(super) fn rows(&self) -> Head {
        self.rows
    }

    /// The stored chunk from the end of `head` on, of the [tail](Head::tail) of the same rows.
    pub(super) fn encode(&self, tail: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.len - self.head.encoded);
        for (above, row) in self.head.behind(tail) {
            put_literals(&mut out, &row[..RUN]);
            for at in NUMBERS {
                if repeats(above, row, at) {
                    put_literals(&mut out, &row[at..at + 4]);
                    put_match(&mut out, ROW, 4);
                } else {
                    put_literals(&mut out, &row[at..at + 8]);
                }
            }
        }
        self.zeros.put(&mut out);
        out
    }
}

/// Whether the high half of the number at `at` is that of the row above.
fn repeats(above: Option<&[u8]>, row: &[u8], at: usize) -> bool {
    above.is_some_and(|above| above[at + 4..at + 8] == row[at + 4..at + 8])
}

/// The length of a chunk that has at least so many bytes.
fn length_in_steps(least: usize) -> usize {
    least.next_multiple_of((least.next_power_of_two() / 8).max(LEAST_STEP))
}

/// Zeros as they are stored: some in whole runs, some in one more run, and the others matched with those; or three of
/// those in a match of their own.
#[derive(Clone, Copy, Debug)]
struct Zeros {
    count: usize,
    runs: usize,
    last: usize,
    has_short_match: bool,
}

/// The least bytes of a match.
const SHORT: usize = 3;

impl Zeros {
    fn shortest(count: usize) -> Self {
        Self { count, runs: 0, last: count.min(1), has_short_match: false }
    }

    /// In exactly `len` bytes, if that can be.
    fn of_len(count: usize, len: usize) -> Option<Self> {
        // A run more takes 33 bytes, and a third of one less in matches.
        let in_runs = len.saturating_sub(3 * (count / MATCH));
        let runs = (in_runs / (RUN + 1)).saturating_sub(2)..=(in_runs / RUN + 2).min(count / RUN);
        runs.flat_map(|runs| {
            (0..=RUN).map(move |last| Self { count, runs, last, has_short_match: false })
        })
        .flat_map(|zeros| [zeros, Self { has_short_match: true, ..zeros }])
        .find(|zeros| zeros.is_possible() && zeros.len() == len)
    }

    fn is_possible(&self) -> bool {
        let literal = self.runs * RUN + self.last;
        let short = if self.has_short_match { SHORT } else { 0 };
        literal + short <= self.count && (literal > 0 || self.count == 0)
    }

    /// Zeros in matches, and of the last, shorter one: one or two are no match.
    fn matched(&self) -> (usize, usize) {
        let short = if self.has_short_match { SHORT } else { 0 };
        let matched = self.count - self.runs * RUN - self.last - short;
        (matched / MATCH, matched % MATCH)
    }

    fn len(&self) -> usize {
        let (whole, rest) = self.matched();
        let last = if self.last == 0 { 0 } else { self.last + 1 };
        let rest = match rest {
            0 => 0,
            1 | 2 => rest + 1,
            3..=8 => 2,
            _ => 3,
        };
        let short = if self.has_short_match { 2 } else { 0 };
        self.runs * (RUN + 1) + last + short + 3 * whole + rest
    }

    fn put(&self, out: &mut Vec<u8>) {
        for _ in 0..self.runs {
            put_literals(out, &[0; RUN]);
        }
        put_literals(out, &[0; RUN][..self.last]);
        if self.has_short_match {
            put_match(out, 1, SHORT);
        }
        let (whole, rest) = self.matched();
        for _ in 0..whole {
            put_match(out, 1, MATCH);
        }
        match rest {
            1 | 2 => put_literals(out, &[0; 2][..rest]),
            _ => put_match(out, 1, rest),
        }
    }
}

fn put_literals(out: &mut Vec<u8>, bytes: &[u8]) {
    if let Some(control) = bytes.len().checked_sub(1).and_then(|control| u8::try_from(control).ok())
    {
        out.push(control);
        out.extend_from_slice(bytes);
    }
}

/// Repeats `len` of the bytes that lie `distance` back, which is 256 at most; nothing if `len` is 0.
fn put_match(out: &mut Vec<u8>, distance: usize, len: usize) {
    let byte = |number: usize| u8::try_from(number).unwrap_or(u8::MAX);
    match len {
        0 => {}
        1..9 => out.extend([byte(len.saturating_sub(2)) << 5, byte(distance - 1)]),
        _ => out.extend([7 << 5, byte(len - 9), byte(distance - 1)]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::{Filter, Pipeline, Scratch};

    fn rows(count: usize) -> Vec<u8> {
        (0..count as u64)
            .flat_map(|row| {
                let digest = (0..4)
                    .flat_map(move |part| (row * 31 + part + 7).wrapping_pow(9).to_be_bytes());
                // Numbers beyond 32 bits now and then.
                let start = (row * 1000) << (8 * (row % 97 / 90));
                digest.chain(start.to_le_bytes()).chain((start + 1000).to_le_bytes())
            })
            .collect()
    }

    #[test]
    fn chunks_are_read_as_they_were_written_and_have_lengths_in_steps() {
        let filter = Filter {
            id: 32000,
            optional: true,
            params: vec![4, 261, 196_608],
            name: String::new(),
        };
        let pipeline = Pipeline::new(vec![filter], BYTES, ROW);
        let mut in_steps = 0;
        let (mut head, mut head_rows) = (Head::default(), 0);
        for count in (0..200).chain((200..=ROWS).step_by(97)).chain([ROWS - 1, ROWS]) {
            let rows = rows(count);
            let Some(encoding) = Encoding::of(&rows, Head::default()) else {
                assert!(count > ROWS - 100, "{count} rows");
                continue;
            };
            let encoded = encoding.encode(&rows);
            assert_eq!(encoded.len(), encoding.len(), "{count} rows");
            // What a chunk of fewer rows has of its rows stays as it is.
            let longer = Encoding::of(&rows, head).unwrap();
            assert_eq!(longer.rows(), encoding.rows(), "{head_rows} and {count} rows");
            let tail = longer.encode(head.tail(&rows));
            assert!(tail == encoded[head.encoded()..], "{head_rows} and {count} rows");
            (head, head_rows) = (encoding.rows(), count);
            let mut scratch = Scratch::default();
            let mut decoded = vec![1; BYTES];
            pipeline.decode_into(&encoded, 0, &mut scratch, &mut decoded).unwrap();
            assert!(decoded[..rows.len()] == rows, "{count} rows");
            assert!(decoded[rows.len()..].iter().all(|&byte| byte == 0), "{count} rows");
            let is_in_steps = encoded.len() == length_in_steps(encoded.len());
            in_steps += usize::from(is_in_steps);
            assert!(count > ROWS - 900 || is_in_steps, "{count} rows: {}", encoded.len());
        }
        assert!(in_steps > 200);
    }
}
