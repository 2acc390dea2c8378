//! Single values as people write them, as bytes of an element type.

use super::number::{Format, Kind, Number};
use super::{Charset, Dtype, Padding};

/// A value as JSON and command lines have it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Literal<'a> {
    /// True or false.
    Bool(bool),
    /// A whole number.
    Integer(i64),
    /// A whole number, those above `i64::MAX` too.
    Unsigned(u64),
    /// Any number.
    Float(f64),
    /// A text: for strings, names of enumerations, and floats (`nan`, `inf`, `-inf`).
    Text(&'a str),
}

/// Why a literal is no value of a type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LiteralError {
    /// A value of another kind.
    #[error("{value} is no value of type {dtype}")]
    Kind {
        /// The value.
        value: String,
        /// The type.
        dtype: Dtype,
    },
    /// A number that the type cannot hold.
    #[error("type {dtype} cannot hold {value}")]
    Range {
        /// The value.
        value: String,
        /// The type.
        dtype: Dtype,
    },
    /// A text longer than the type's strings.
    #[error("type {dtype} has no room for {value}, {bytes} bytes long")]
    TooLong {
        /// The value.
        value: String,
        /// Its bytes.
        bytes: usize,
        /// The type.
        dtype: Dtype,
    },
    /// A text with other characters than ASCII, for a type that has no others.
    #[error("type {dtype} holds ASCII alone: {value}")]
    NotAscii {
        /// The value.
        value: String,
        /// The type.
        dtype: Dtype,
    },
    /// A type whose values cannot be written as literals.
    #[error("values of type {dtype} cannot be given as text or number")]
    Unsupported {
        /// The type.
        dtype: Dtype,
    },
}

impl Dtype {
    /// Appends a literal as one element of this type.
    ///
    /// Stricter than a [`Cast`](super::Cast): nothing is cut, wrapped or truncated; only floats round.
    ///
    /// # Errors
    /// [`LiteralError`]; strings of variable length have no bytes of their own, and so are
    /// [`LiteralError::Unsupported`]. Nothing is appended then.
    pub fn push_literal(
        &self,
        literal: Literal<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), LiteralError> {
        let kind = || LiteralError::Kind { value: literal.to_string(), dtype: self.clone() };
        match (self, literal) {
            (Self::FixedString { size, charset, padding }, Literal::Text(text)) => {
                self.check_text(text, *size, *charset, *padding)?;
                let start = out.len();
                out.resize(start + size, 0);
                padding.fill(text.as_bytes(), &mut out[start..]);
                Ok(())
            }
            (Self::FixedString { .. }, _) => Err(kind()),
            (Self::Enum { members, .. }, Literal::Text(name)) => {
                let member = members.iter().find(|(known, _)| known == name);
                out.extend_from_slice(&member.ok_or_else(kind)?.1);
                Ok(())
            }
            (Self::Complex { size, order }, literal) => {
                let part = Self::Float { size: size / 2, order: *order };
                part.push_literal(literal, out)?;
                // Zero has no byte set.
                out.resize(out.len() + size / 2, 0);
                Ok(())
            }
            _ => {
                let unsupported = || LiteralError::Unsupported { dtype: self.clone() };
                let format = Format::of(self).ok_or_else(unsupported)?;
                let number = self.number(format, literal)?;
                let start = out.len();
                out.resize(start + format.size, 0);
                format.write(number, &mut out[start..]);
                Ok(())
            }
        }
    }

    /// The number of a literal, if a number format can hold it.
    fn number(&self, format: Format, literal: Literal<'_>) -> Result<Number, LiteralError> {
        let kind = || LiteralError::Kind { value: literal.to_string(), dtype: self.clone() };
        let range = || LiteralError::Range { value: literal.to_string(), dtype: self.clone() };
        let number = match literal {
            Literal::Bool(value) if format.kind == Kind::Bool => Number::Integer(value.into()),
            Literal::Text(text) if format.kind == Kind::Float => {
                Number::Float(text.trim().parse().map_err(|_| kind())?)
            }
            Literal::Bool(_) | Literal::Text(_) => return Err(kind()),
            Literal::Integer(value) => Number::Integer(value.into()),
            Literal::Unsigned(value) => Number::Integer(value.into()),
            Literal::Float(value) if format.kind == Kind::Float => Number::Float(value),
            Literal::Float(value) => Number::Integer(whole(value).ok_or_else(range)?),
        };
        let mut bytes = [0; 8];
        format.write(number, &mut bytes);
        // A number that fits comes back; a float comes back near, and finite.
        let fits = match (number, format.read(&bytes)) {
            (Number::Integer(asked), Number::Integer(held)) => asked == held,
            (Number::Float(asked), Number::Float(held)) => held.is_finite() || !asked.is_finite(),
            (_, Number::Float(held)) => held.is_finite(),
            (Number::Float(_), Number::Integer(_)) => false,
        };
        if fits { Ok(number) } else { Err(range()) }
    }

    /// Checks that a text is a string of `size` bytes.
    fn check_text(
        &self,
        text: &str,
        size: usize,
        charset: Charset,
        padding: Padding,
    ) -> Result<(), LiteralError> {
        let value = || Literal::Text(text).to_string();
        if charset == Charset::Ascii && !text.is_ascii() {
            return Err(LiteralError::NotAscii { value: value(), dtype: self.clone() });
        }
        let room = if padding == Padding::NullTerminated { size.saturating_sub(1) } else { size };
        if text.len() > room {
            let (value, bytes) = (value(), text.len());
            return Err(LiteralError::TooLong { value, bytes, dtype: self.clone() });
        }
        Ok(())
    }
}

/// A whole number of up to 64 bits.
#[expect(clippy::cast_possible_truncation, reason = "the range is checked first")]
fn whole(value: f64) -> Option<i128> {
    const END: f64 = 18_446_744_073_709_551_616.0;
    (value.fract() == 0.0 && value.abs() <= END).then_some(value as i128)
}

/// As JSON writes it.
impl std::fmt::Display for Literal<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Bool(value) => value.fmt(f),
            Self::Integer(value) => value.fmt(f),
            Self::Unsigned(value) => value.fmt(f),
            Self::Float(value) => write!(f, "{value:?}"),
            Self::Text(text) => write!(f, "{text:?}"),
        }
    }
}
