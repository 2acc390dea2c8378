//! Elements as a `.npy` file.

use std::io::Write;

use h5strata::Dataset;
use h5strata::dtype::{Dtype, Padding};

use super::npy_header::{describe, header, unicode};
use crate::failure::Failure;
use crate::output::Target;
use crate::read::{Parts, Slabs, for_each_slab};

/// Bytes of a code point in NumPy's strings.
const CODE_POINT: u64 = 4;

/// Bytes up to which strings may swell without question.
const SMALL: u64 = 1 << 30;

/// How many times their own size strings may take when they are brought to one length.
const SWELLING: u64 = 64;

/// Writes the selected elements, which `numpy.load` gives back in type, byte order and values.
///
/// NumPy has no strings of variable length that need no pickle: they become `<U` of the longest, and are read
/// once more to find it. Strings of fixed length are filled up with zeros, as `|S` has it.
pub(super) fn write(dataset: &Dataset, parts: &Parts, target: &mut Target) -> Result<(), Failure> {
    let mut shape = parts.axes().shape();
    if dataset.dtype().is_variable_string() {
        return write_strings(dataset, parts, &shape, target);
    }
    let (description, axes) = describe(dataset.dtype()).ok_or_else(|| Failure::NoCounterpart {
        dataset: dataset.path().to_owned(),
        dtype: dataset.dtype().to_string(),
        format: ".npy",
        instead: "--format csv or --format raw",
    })?;
    shape.extend(axes);
    let failure = target.failure();
    target.write_all(&header(&description, &shape)).map_err(&failure)?;
    let refill = match dataset.dtype() {
        Dtype::FixedString { padding, size, .. }
            if *padding != Padding::NullPadded && *size > 0 =>
        {
            Some((*padding, *size))
        }
        _ => None,
    };
    let mut refilled = Vec::new();
    for_each_slab(dataset, parts, |elements| {
        let bytes = match refill {
            None => &elements.bytes,
            Some((padding, size)) => {
                refilled.clone_from(&elements.bytes);
                for string in refilled.chunks_exact_mut(size) {
                    let end = padding.trim(string).len();
                    string[end..].fill(0);
                }
                &refilled
            }
        };
        target.write_all(bytes).map_err(&failure)
    })
}

fn write_strings(
    dataset: &Dataset,
    parts: &Parts,
    shape: &[u64],
    target: &mut Target,
) -> Result<(), Failure> {
    let text = |string: &[u8]| -> Result<String, Failure> {
        let text = String::from_utf8(string.to_vec());
        text.map_err(|_| Failure::NotUtf8 { dataset: dataset.path().to_owned() })
    };
    let mut slabs = Slabs::new(dataset, parts, 2);
    let (mut longest, mut own) = (0, 0u64);
    slabs.for_each(|elements| {
        own = own.saturating_add(elements.size());
        for string in &elements.strings {
            longest = longest.max(text(string)?.chars().count());
        }
        Ok(())
    })?;
    // A type of no characters would not be one.
    let width = longest.max(1);
    let characters = width as u64;
    let bytes = parts.elements().saturating_mul(characters).saturating_mul(CODE_POINT);
    if bytes > SMALL && bytes / SWELLING > own {
        let dataset = dataset.path().to_owned();
        return Err(Failure::Swollen { dataset, longest: characters, bytes });
    }
    let failure = target.failure();
    target.write_all(&header(&unicode(characters), shape)).map_err(&failure)?;
    slabs.for_each(|elements| {
        for string in &elements.strings {
            let text = text(string)?;
            let mut written = 0;
            for character in text.chars() {
                target.write_all(&u32::from(character).to_ne_bytes()).map_err(&failure)?;
                written += 1;
            }
            for _ in written..width {
                target.write_all(&0u32.to_ne_bytes()).map_err(&failure)?;
            }
        }
        Ok(())
    })
}
