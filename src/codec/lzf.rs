//! Filter 32000, LZF as h5py stores it: one LibLZF stream a chunk, without a header.
//!
//! Grammar: `control < 32`: a run of `control + 1` literal bytes; else a match of `(control >> 5) +
//! 2` bytes (with 7 in the top bits, one more byte is added to the length), whose distance minus
//! one is `(control & 31) << 8 | next byte`.

use super::buffer::Buffer;
use super::error::{Corruption, Fault};
use super::lz77::{Limits, MAX_LITERALS, Sink, Writer, copy_literals, copy_match, low_byte, parse};

const MAX_DISTANCE: usize = 1 << 13;
const MAX_MATCH: usize = (1 << 8) + (1 << 3);

/// Decodes one stream and gives the number of bytes written.
pub(super) fn decode(input: &[u8], out: &mut [u8]) -> Result<usize, Fault> {
    decode_until(input, out, usize::MAX)
}

/// Decodes the first `count` bytes of one stream. What comes behind them is not looked at.
pub(super) fn decode_first(input: &[u8], count: usize) -> Result<Vec<u8>, Fault> {
    let mut out = vec![0; count.saturating_add(MAX_MATCH)];
    if decode_until(input, &mut out, count)? < count {
        return Err(Corruption::Truncated.into());
    }
    out.truncate(count);
    Ok(out)
}

/// Decodes until at least `count` bytes are written, or the stream ends.
fn decode_until(input: &[u8], out: &mut [u8], count: usize) -> Result<usize, Fault> {
    let mut rest = input;
    let mut filled = 0;
    while let Some((&control, tail)) = rest.split_first().filter(|_| filled < count) {
        let control = usize::from(control);
        rest = if control < MAX_LITERALS {
            let tail = copy_literals(out, filled, tail, control + 1)?;
            filled += control + 1;
            tail
        } else {
            let (mut length, mut tail) = (control >> 5, tail);
            if length == 7 {
                let (&more, after) = tail.split_first().ok_or(Corruption::Truncated)?;
                length += usize::from(more);
                tail = after;
            }
            let (&low, tail) = tail.split_first().ok_or(Corruption::Truncated)?;
            let distance = ((control & 31) << 8 | usize::from(low)) + 1;
            copy_match(out, filled, distance, length + 2)?;
            filled += length + 2;
            tail
        };
    }
    Ok(filled)
}

/// Encodes to one stream; incompressible input grows by one byte in 32.
pub(super) fn encode(input: &[u8], out: &mut Buffer) -> Result<(), Fault> {
    let bound = input.len() + input.len().div_ceil(MAX_LITERALS);
    let mut items = Items(Writer { out: out.prepare(bound)?, len: 0 });
    parse(input, &Limits { distance: MAX_DISTANCE, length: MAX_MATCH, tail: 0 }, &mut items)?;
    let written = items.0.len;
    out.set_len(written);
    Ok(())
}

/// Writes LZF's items.
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
            short @ 0..7 => self.0.put(&[low_byte(short) << 5 | high, low]),
            long => self.0.put(&[7 << 5 | high, low_byte(long - 7), low]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip(input: &[u8]) -> usize {
        let mut encoded = Buffer::default();
        encode(input, &mut encoded).unwrap();
        let mut out = vec![0; input.len()];
        assert_eq!(decode(encoded.filled(), &mut out), Ok(input.len()));
        assert_eq!(out, input);
        encoded.len()
    }

    #[test]
    fn round_trips_at_every_length_of_run_and_match() {
        for len in 0..700 {
            round_trip(&vec![7; len]);
            let mixed: Vec<u8> = (0..len).map(|i| low_byte(i * i / 3)).collect();
            round_trip(&mixed);
            // A period longer than the window.
            let far: Vec<u8> = (0..len * 40).map(|i| low_byte(((i % 8191) * 31) >> 3)).collect();
            round_trip(&far);
        }
    }

    #[test]
    fn the_first_bytes_are_decoded_without_the_others() {
        let input: Vec<u8> = (0..5000).map(|i| low_byte((i / 300) * 7 + i % 3)).collect();
        let mut encoded = Buffer::default();
        encode(&input, &mut encoded).unwrap();
        for count in [0, 1, 299, 300, 4999, 5000] {
            assert_eq!(decode_first(encoded.filled(), count).unwrap(), input[..count]);
        }
        assert_eq!(decode_first(encoded.filled(), 5001), Err(Corruption::Truncated.into()));
        // A stream that breaks off behind them.
        assert!(decode_first(&encoded.filled()[..encoded.len() - 1], 300).is_ok());
    }

    #[test]
    fn constant_input_shrinks_to_one_match_in_264_bytes() {
        assert!(round_trip(&[0; 26_400]) <= 100 * 3 + 3);
    }

    #[test]
    fn incompressible_input_grows_by_one_byte_in_32() {
        let noise: Vec<u8> = (0u32..3200)
            .scan(1u32, |x, _| {
                *x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                Some(x.to_be_bytes()[0])
            })
            .collect();
        assert!(round_trip(&noise) <= 3300);
    }

    #[test]
    fn broken_streams_are_refused() {
        let mut out = [0; 8];
        let table: &[(&[u8], Fault)] = &[
            (&[3, 1, 2], Corruption::Truncated.into()),
            (&[0xe0], Corruption::Truncated.into()),
            (&[0xe0, 1], Corruption::Truncated.into()),
            (&[0x20, 0], Corruption::Reference.into()),
            (&[0, 1, 0x20, 1], Corruption::Reference.into()),
            (&[0, 1, 0xe0, 1, 0], Fault::TooLong),
            (&[8, 1, 2, 3, 4, 5, 6, 7, 8, 9], Fault::TooLong),
        ];
        for &(input, expected) in table {
            assert_eq!(decode(input, &mut out), Err(expected), "{input:?}");
        }
    }
}
