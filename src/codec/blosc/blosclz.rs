//! BloscLZ, the codec Blosc brings along.
//!
//! Grammar: `control < 32`: a run of `control + 1` literal bytes (the first control byte of a
//! stream counts modulo 32); else a match. Its length is `(control >> 5) + 2`, and with 7 in the
//! top bits further bytes are added up to and with the first below 255; then one byte `low`
//! follows. The distance is `((control & 31) << 8 | low) + 1`, or if that is 8192, 8192 more than
//! the 16-bit big-endian number that follows.

use crate::codec::buffer::Buffer;
use crate::codec::error::Fault;
use crate::codec::lz77::{
    Limits, MAX_LITERALS, Sink, Writer, copy_literals, copy_match, low_byte, parse,
};
use crate::codec::reader::Reader;

/// The distance that stands for a far match.
const FAR: usize = 1 << 13;

/// Decodes one stream into the start of `out`.
pub(super) fn decode(input: &[u8], out: &mut [u8]) -> Result<usize, Fault> {
    let mut reader = Reader(input);
    let mut filled = 0;
    let mut mask = MAX_LITERALS - 1;
    while let Ok(control) = reader.byte() {
        let control = usize::from(control) & mask;
        mask = usize::MAX;
        if control < MAX_LITERALS {
            reader.0 = copy_literals(out, filled, reader.0, control + 1)?;
            filled += control + 1;
            continue;
        }
        let mut length = (control >> 5) + 2;
        if control >> 5 == 7 {
            loop {
                let more = reader.byte()?;
                length += usize::from(more);
                if more < u8::MAX {
                    break;
                }
            }
        }
        let mut distance = ((control & 31) << 8 | usize::from(reader.byte()?)) + 1;
        if distance == FAR {
            distance += usize::from(reader.byte()?) << 8 | usize::from(reader.byte()?);
        }
        copy_match(out, filled, distance, length)?;
        filled += length;
    }
    Ok(filled)
}

/// Encodes to one stream, with near matches alone.
pub(super) fn encode(input: &[u8], out: &mut Buffer) -> Result<(), Fault> {
    let bound = input.len() + input.len().div_ceil(MAX_LITERALS);
    let mut items = Items(Writer { out: out.prepare(bound)?, len: 0 });
    // c-blosc refuses a stream that ends with a match.
    parse(input, &Limits { distance: FAR - 1, length: usize::MAX, tail: 1 }, &mut items)?;
    let written = items.0.len;
    out.set_len(written);
    Ok(())
}

/// Writes BloscLZ's items.
struct Items<'a>(Writer<'a>);

impl Sink for Items<'_> {
    fn literals(&mut self, literals: &[u8]) -> Result<(), Fault> {
        for run in literals.chunks(MAX_LITERALS) {
            self.0.put(&[low_byte(run.len() - 1)])?;
            self.0.put(run)?;
        }
        Ok(())
    }

    fn repeat(&mut self, distance: usize, length: usize) -> Result<(), Fault> {
        let [low, high] = [low_byte(distance - 1), low_byte((distance - 1) >> 8)];
        match length - 2 {
            short @ 0..7 => self.0.put(&[low_byte(short) << 5 | high])?,
            long => {
                self.0.put(&[7 << 5 | high])?;
                let mut more = long - 7;
                while more >= usize::from(u8::MAX) {
                    self.0.put(&[u8::MAX])?;
                    more -= usize::from(u8::MAX);
                }
                self.0.put(&[low_byte(more)])?;
            }
        }
        self.0.put(&[low])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::error::Corruption;

    #[test]
    fn streams_of_every_item_decode() {
        let mut out = [0; 9000];
        // Literals with the top bits of the first control byte set, a near match, a long one.
        assert_eq!(decode(&[0xe1, 5, 6, 0x20, 1, 0, 9], &mut out), Ok(6));
        assert_eq!(out[..6], [5, 6, 5, 6, 5, 9]);
        assert_eq!(decode(&[0, 5, 0xe0, 255, 255, 1, 0, 0, 9], &mut out), Ok(1 + 9 + 511 + 1));
        // A far match of distance 8192 + 3.
        let mut far = vec![1, 7, 8, 0xe0];
        far.extend([255; 32]);
        far.extend([24, 0, 0x3f, 255, 0, 3, 0, 1]);
        let len = 2 + 9 + 32 * 255 + 24;
        assert_eq!(decode(&far, &mut out), Ok(len + 3 + 1));
        assert_eq!(out[len - 8195..len - 8192], out[len..len + 3]);
    }

    #[test]
    fn broken_streams_are_refused() {
        let mut out = [0; 8];
        let table: &[(&[u8], Fault)] = &[
            (&[3, 1], Corruption::Truncated.into()),
            (&[0, 1, 0x20], Corruption::Truncated.into()),
            (&[0, 1, 0xe0, 255], Corruption::Truncated.into()),
            (&[0, 1, 0x20, 1, 0, 0], Corruption::Reference.into()),
            (&[0, 1, 0xe0, 255, 0, 0], Fault::TooLong),
            (&[8, 1, 2, 3, 4, 5, 6, 7, 8, 9], Fault::TooLong),
        ];
        for &(input, expected) in table {
            assert_eq!(decode(input, &mut out), Err(expected), "{input:?}");
        }
    }

    #[test]
    fn round_trips_and_ends_with_a_literal() {
        let mut encoded = Buffer::default();
        for len in 1..1500usize {
            for modulus in [1, 2, 7, 251] {
                let input: Vec<u8> = (0..len).map(|i| low_byte(i % modulus)).collect();
                encode(&input, &mut encoded).unwrap();
                let mut out = vec![0; len];
                assert_eq!(decode(encoded.filled(), &mut out), Ok(len));
                assert_eq!(out, input);
                assert_eq!(encoded.filled().last(), input.last());
            }
        }
    }
}
