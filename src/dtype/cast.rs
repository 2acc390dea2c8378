//! Values of one element type as another, by the rules of NumPy's `astype`.

use super::number::{Format, Kind, Number};
use super::{Dtype, Padding};

/// Why values of one type cannot be written as another.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("values of type {from} cannot be written as {to}")]
#[non_exhaustive]
pub struct CastError {
    /// The type of the values.
    pub from: Dtype,
    /// The type wanted.
    pub to: Dtype,
}

/// A conversion of values, settled once for all of them.
///
/// Numbers convert to numbers: integers wrap, floats lose their fraction and round to nearest, and what
/// no integer can hold (a NaN too) becomes what NumPy makes of it on x86-64; anything but zero is
/// true. Real numbers become complex ones, but not the other way round. Enumerations are their integers.
/// Fixed strings are cut, or filled up as the new type does. Compounds need the same names in the same
/// order, arrays the same shape. Everything else, strings of variable length too, converts to the same
/// type only. Numbers of one kind and size keep their bits, a NaN's payload too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cast {
    from_size: usize,
    to_size: usize,
    step: Step,
}

/// What is done to an element.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    /// Its bytes stay.
    Copy,
    /// The bytes of each part, of so many bytes, change their order.
    Swap(usize),
    /// A number.
    Number { from: Format, to: Format },
    /// A number or complex number as a complex one.
    Complex { from: Format, to: Format },
    /// A fixed string.
    Text { from: Padding, to: Padding },
    /// Member by member: bytes in front of it in both, and its conversion.
    Fields(Vec<(usize, usize, Cast)>),
    /// Elements of an array.
    Array(Box<Cast>),
}

impl Cast {
    /// The conversion of values of type `from` to `to`.
    ///
    /// # Errors
    /// [`CastError`] where there is none.
    pub fn new(from: &Dtype, to: &Dtype) -> Result<Self, CastError> {
        let refused = || CastError { from: from.clone(), to: to.clone() };
        let from_size = from.size().ok_or_else(refused)?;
        let to_size = to.size().ok_or_else(refused)?;
        let step = if from == to { Some(Step::Copy) } else { Step::new(from, to)? };
        let step = step.ok_or_else(refused)?;
        Ok(Self { from_size, to_size, step })
    }

    /// Whether bytes stay as they are.
    #[must_use]
    pub fn is_identity(&self) -> bool {
        self.step == Step::Copy
    }

    /// Bytes of an element before and after.
    #[must_use]
    pub fn sizes(&self) -> (usize, usize) {
        (self.from_size, self.to_size)
    }

    /// Converts elements one by one, as many as both slices hold whole.
    pub fn apply(&self, input: &[u8], out: &mut [u8]) {
        if self.is_identity() {
            let len = input.len().min(out.len());
            out[..len].copy_from_slice(&input[..len]);
            return;
        }
        let elements = input.chunks_exact(self.from_size.max(1));
        let converted = out.chunks_exact_mut(self.to_size.max(1));
        elements.zip(converted).for_each(|(from, to)| self.step.apply(from, to));
    }
}

impl Step {
    /// What converts an element; `None` where nothing does.
    fn new(from: &Dtype, to: &Dtype) -> Result<Option<Self>, CastError> {
        Ok(match (from, to) {
            (Dtype::FixedString { padding: from, .. }, Dtype::FixedString { padding: to, .. }) => {
                Some(Self::Text { from: *from, to: *to })
            }
            (Dtype::Compound { fields: from, .. }, Dtype::Compound { fields: to, .. }) => {
                let names = |fields: &[super::Field]| -> Vec<String> {
                    fields.iter().map(|field| field.name.clone()).collect()
                };
                if names(from) != names(to) {
                    return Ok(None);
                }
                let pairs = from.iter().zip(to).map(|(from, to)| {
                    Ok((from.offset, to.offset, Cast::new(&from.dtype, &to.dtype)?))
                });
                Some(Self::Fields(pairs.collect::<Result<_, _>>()?))
            }
            (Dtype::Array { base: from, shape }, Dtype::Array { base: to, shape: same })
                if shape == same =>
            {
                Some(Self::Array(Box::new(Cast::new(from, to)?)))
            }
            (from, Dtype::Complex { .. }) => {
                let part = part(from).or_else(|| Format::of(from));
                part.zip(self::part(to)).map(|(source, to)| match part_size(from) {
                    Some(size) if size == to.size => Self::Swap(size),
                    _ => Self::Complex { from: source, to },
                })
            }
            (from, to) => Format::of(from).zip(Format::of(to)).map(|(from, to)| {
                let same = from.size == to.size
                    && match (from.kind, to.kind) {
                        (from, Kind::Bool) => from == Kind::Bool,
                        (Kind::Float, to) => to == Kind::Float,
                        (_, to) => to != Kind::Float,
                    };
                match same {
                    true if from.order == to.order => Self::Copy,
                    true => Self::Swap(from.size),
                    false => Self::Number { from, to },
                }
            }),
        })
    }

    /// Converts one element.
    fn apply(&self, from: &[u8], to: &mut [u8]) {
        match self {
            Self::Copy => to.copy_from_slice(from),
            Self::Swap(size) => {
                to.copy_from_slice(from);
                to.chunks_exact_mut(*size).for_each(<[u8]>::reverse);
            }
            Self::Number { from: source, to: target } => target.write(source.read(from), to),
            Self::Complex { from: source, to: target } => {
                let (real, imaginary) = from.split_at(source.size);
                let imaginary = match imaginary {
                    [] => Number::Integer(0),
                    part => source.read(part),
                };
                target.write(source.read(real), to);
                target.write(imaginary, &mut to[target.size..]);
            }
            Self::Text { from: source, to: target } => target.fill(source.trim(from), to),
            Self::Fields(fields) => {
                // Gaps between members hold zeros, whatever was there.
                to.fill(0);
                for (before, after, cast) in fields {
                    let from = &from[*before..][..cast.from_size];
                    cast.apply(from, &mut to[*after..][..cast.to_size]);
                }
            }
            Self::Array(cast) => cast.apply(from, to),
        }
    }
}

impl Padding {
    /// Writes a string that is cut or filled up to `out`'s length. A string that ends with a zero byte
    /// is cut in front of it.
    pub(super) fn fill(self, string: &[u8], out: &mut [u8]) {
        let room = match self {
            Self::NullTerminated => out.len().saturating_sub(1),
            Self::NullPadded | Self::SpacePadded => out.len(),
        };
        let string = &string[..string.len().min(room)];
        let (text, rest) = out.split_at_mut(string.len());
        text.copy_from_slice(string);
        rest.fill(if self == Self::SpacePadded { b' ' } else { 0 });
    }
}

/// The format of a part of a complex number.
fn part(dtype: &Dtype) -> Option<Format> {
    let Dtype::Complex { order, .. } = *dtype else { return None };
    Format::of(&Dtype::Float { size: part_size(dtype)?, order })
}

/// Bytes of a part of a complex number.
fn part_size(dtype: &Dtype) -> Option<usize> {
    match dtype {
        Dtype::Complex { size, .. } => Some(size / 2),
        _ => None,
    }
}
