//! Filter 4, szip: the adaptive entropy coding of CCSDS 121.0-B, as libaec's
//! `SZ_BufftoBuffDecompress` reads it.
//!
//! The chunk's size in bytes as `u32` LE, then one bit stream of scanlines. A scanline is a
//! *reference sample interval*: blocks of samples, the last one padded. Each block starts with the
//! number of its option:
//!
//! - 0, then bit 0: a run of all-zero blocks; its length is unary, 5 standing for "to the end of
//!   the segment of 64".
//! - 0, then bit 1: pairs of samples, each pair one unary number.
//! - highest number: samples as they are.
//! - any other, `k + 1`: for every sample the bits above the lowest `k` in unary, then for every
//!   sample those `k` bits.
//!
//! With preprocessing, a scanline's first sample is stored whole and each other as its mapped
//! difference from the one before. Pixels of 32 and 64 bits are coded as bytes gathered by
//! significance.

use super::buffer::Buffer;
use super::error::{CodecError, Corruption, Fault};
use super::params::Params;
use super::reader::Reader;
use super::shuffle::unshuffle;

/// `SZ_MSB_OPTION_MASK`.
const BIG_ENDIAN: u32 = 16;
/// `SZ_NN_OPTION_MASK`.
const PREPROCESS: u32 = 32;

/// The unary length of a zero run that means the rest of the segment, less one.
const REST_OF_SEGMENT: usize = 4;
/// Blocks of a segment.
const SEGMENT_BLOCKS: usize = 64;
/// The highest pair number of the second option; larger ones would be coded otherwise.
const MAX_PAIR: u32 = 90;

/// The filter's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Settings {
    /// Bits of a coded sample, 1 to 24.
    pub(super) sample_bits: u32,
    /// Bytes of a pixel coded byte by byte, else 1.
    pub(super) gathered_bytes: usize,
    /// Samples of a block, even, 2 to 32.
    pub(super) block: usize,
    /// Samples of a scanline, 1 to 4096.
    pub(super) scanline: usize,
    /// Whether samples are big-endian.
    pub(super) big_endian: bool,
    /// Whether differences are coded.
    pub(super) preprocess: bool,
}

/// The reusable state of one thread.
#[derive(Default)]
pub(super) struct State {
    /// The samples of a scanline.
    samples: Vec<u32>,
    /// Bytes gathered by significance.
    gathered: Buffer,
}

impl State {
    /// Bytes of memory held.
    pub(super) fn capacity(&self) -> usize {
        self.samples.capacity() * size_of::<u32>() + self.gathered.capacity()
    }
}

/// Decodes a chunk into the start of `out`.
pub(super) fn decode(
    settings: Settings,
    state: &mut State,
    input: &[u8],
    out: &mut [u8],
) -> Result<usize, Fault> {
    let mut reader = Reader(input);
    let total = reader.u32_le()?;
    let out = out.get_mut(..total).ok_or(Fault::TooLong)?;
    let bits = Bits { rest: reader.0, window: 0, count: 0 };
    if settings.gathered_bytes == 1 {
        decode_scanlines(settings, &mut state.samples, bits, out)?;
    } else {
        let gathered = state.gathered.prepare(total)?;
        decode_scanlines(settings, &mut state.samples, bits, gathered)?;
        unshuffle(settings.gathered_bytes, gathered, out);
    }
    Ok(total)
}

/// Decodes all scanlines, filling `out`.
fn decode_scanlines(
    settings: Settings,
    samples: &mut Vec<u32>,
    mut bits: Bits<'_>,
    out: &mut [u8],
) -> Result<(), Fault> {
    let width = match settings.sample_bits {
        0..=8 => 1,
        9..=16 => 2,
        _ => 4,
    };
    if !out.len().is_multiple_of(width) {
        return Err(Corruption::Header.into());
    }
    for line in out.chunks_mut(settings.scanline * width) {
        samples.clear();
        settings.decode_blocks(&mut bits, line.len() / width, samples)?;
        if settings.preprocess {
            undo_differences(settings.sample_bits, samples);
        }
        for (pixel, sample) in line.chunks_exact_mut(width).zip(samples.iter()) {
            if settings.big_endian {
                pixel.copy_from_slice(&sample.to_be_bytes()[4 - width..]);
            } else {
                pixel.copy_from_slice(&sample.to_le_bytes()[..width]);
            }
        }
    }
    Ok(())
}

impl Settings {
    /// Reads `[options, pixels of a block, bits of a pixel, pixels of a scanline]`
    /// (`H5Z__set_local_szip`).
    pub(super) fn new(params: &Params<'_>) -> Result<Self, CodecError> {
        let (options, block) = (params.required(0)?.value(), params.required(1)?);
        let (pixel_bits, scanline) = (params.required(2)?, params.required(3)?);
        let block_samples = match block.in_range(2, 32)? {
            even if even.is_multiple_of(2) => usize::from(even),
            _ => return Err(block.refused()),
        };
        let (sample_bits, gathered_bytes) = match pixel_bits.in_range(1, 64)? {
            32 => (8, 4),
            64 => (8, 8),
            bits @ 1..=24 => (u32::from(bits), 1),
            _ => return Err(pixel_bits.refused()),
        };
        Ok(Self {
            sample_bits,
            gathered_bytes,
            block: block_samples,
            scanline: match scanline.length()? {
                pixels @ 1..=4096 => pixels,
                _ => return Err(scanline.refused()),
            },
            big_endian: options & BIG_ENDIAN != 0,
            preprocess: options & PREPROCESS != 0,
        })
    }

    /// Appends the blocks of one scanline, until there are `wanted` samples or more.
    fn decode_blocks(
        &self,
        bits: &mut Bits<'_>,
        wanted: usize,
        samples: &mut Vec<u32>,
    ) -> Result<(), Fault> {
        let option_bits = match self.sample_bits {
            0..=8 => 3,
            9..=16 => 4,
            _ => 5,
        };
        let uncoded = (1 << option_bits) - 1;
        let blocks = self.scanline.div_ceil(self.block);
        while samples.len() < wanted {
            let index = samples.len() / self.block;
            let end = (index + 1) * self.block;
            let option = bits.read(option_bits)?;
            let paired = option == 0 && bits.read(1)? == 1;
            if self.preprocess && index == 0 && option != uncoded {
                samples.push(bits.read(self.sample_bits)?);
            }
            if paired {
                self.decode_pairs(bits, end, samples)?;
            } else if option == 0 {
                let left = blocks - index;
                let run = match usize::try_from(bits.unary()?).unwrap_or(usize::MAX) {
                    REST_OF_SEGMENT => left.min(SEGMENT_BLOCKS - index % SEGMENT_BLOCKS),
                    few @ 0..REST_OF_SEGMENT => few + 1,
                    many => many,
                };
                if run > left {
                    return Err(Corruption::Stream.into());
                }
                samples.resize((index + run) * self.block, 0);
            } else if option == uncoded {
                while samples.len() < end {
                    samples.push(bits.read(self.sample_bits)?);
                }
            } else {
                let (first, low_bits) = (samples.len(), option - 1);
                for _ in first..end {
                    let high = bits.unary()?;
                    samples.push(high.checked_shl(low_bits).ok_or(Corruption::Stream)?);
                }
                for sample in &mut samples[first..end] {
                    *sample |= bits.read(low_bits)?;
                }
            }
        }
        Ok(())
    }

    /// Appends the pairs of a block that ends at sample `end`.
    fn decode_pairs(
        &self,
        bits: &mut Bits<'_>,
        end: usize,
        samples: &mut Vec<u32>,
    ) -> Result<(), Fault> {
        while samples.len() < end {
            let number = bits.unary()?;
            if number > MAX_PAIR {
                return Err(Corruption::Stream.into());
            }
            // Pairs are numbered by their sum, then by the second sample.
            let (mut sum, mut second) = (0, number);
            while second > sum {
                sum += 1;
                second -= sum;
            }
            // The first sample of a pair is left out where the reference sample has its place.
            if samples.len().is_multiple_of(2) {
                samples.push(sum - second);
            }
            samples.push(second);
        }
        Ok(())
    }
}

/// Adds up the mapped differences of a scanline, whose first sample is whole.
fn undo_differences(sample_bits: u32, samples: &mut [u32]) {
    let highest = u32::MAX >> (32 - sample_bits);
    let mut last = match samples.first() {
        Some(&first) => first & highest,
        None => return,
    };
    for sample in &mut samples[1..] {
        let mapped = *sample;
        let half = (mapped >> 1) + (mapped & 1);
        // How far the nearer end of the range lies: up to there differences alternate in sign.
        let reach = last.min(highest - last);
        last = if half <= reach {
            if mapped & 1 == 0 { last + half } else { last - half }
        } else if last <= highest / 2 {
            mapped & highest
        } else {
            highest.wrapping_sub(mapped) & highest
        };
        *sample = last;
    }
}

/// A stream of bits, highest of each byte first.
struct Bits<'a> {
    rest: &'a [u8],
    /// The next bits, from the highest down; 0 below them.
    window: u64,
    /// The number of bits in the window.
    count: u32,
}

impl Bits<'_> {
    fn refill(&mut self) {
        while self.count <= 56 {
            let Some((&byte, rest)) = self.rest.split_first() else { return };
            self.window |= u64::from(byte) << (56 - self.count);
            self.count += 8;
            self.rest = rest;
        }
    }

    /// The next `len` bits, at most 32.
    fn read(&mut self, len: u32) -> Result<u32, Corruption> {
        if len == 0 {
            return Ok(0);
        }
        self.refill();
        if self.count < len {
            return Err(Corruption::Truncated);
        }
        let value = self.window >> (64 - len);
        self.window <<= len;
        self.count -= len;
        u32::try_from(value).map_err(|_| Corruption::Stream)
    }

    /// The number of 0 bits before the next 1 bit, which is read too.
    fn unary(&mut self) -> Result<u32, Corruption> {
        let mut zeros = 0u32;
        loop {
            self.refill();
            let leading = self.window.leading_zeros();
            if leading < self.count {
                // Two shifts, as the sum may be 64.
                self.window = self.window << leading << 1;
                self.count -= leading + 1;
                return zeros.checked_add(leading).ok_or(Corruption::Stream);
            }
            if self.count == 0 {
                return Err(Corruption::Truncated);
            }
            zeros = zeros.checked_add(self.count).ok_or(Corruption::Stream)?;
            (self.window, self.count) = (0, 0);
        }
    }
}
