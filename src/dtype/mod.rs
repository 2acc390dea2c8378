//! Element types, as users see them: a description, the text NumPy writes for it, and values of one
//! type as another.

mod cast;
mod literal;
mod number;
mod parse;
mod same_kind;
#[cfg(test)]
mod tests;
mod text;

use std::fmt;

pub use cast::{Cast, CastError};
pub use literal::{Literal, LiteralError};
pub use parse::ParseDtypeError;

/// Order of the bytes of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByteOrder {
    /// Least significant byte first.
    Little,
    /// Most significant byte first.
    Big,
}

impl ByteOrder {
    /// The order of this machine.
    pub const NATIVE: Self = if cfg!(target_endian = "little") { Self::Little } else { Self::Big };
}

/// Characters of a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Charset {
    /// ASCII.
    Ascii,
    /// UTF-8.
    Utf8,
}

/// How a fixed-length string that is too short is filled up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Padding {
    /// It ends at the first zero byte.
    NullTerminated,
    /// With zero bytes.
    NullPadded,
    /// With spaces.
    SpacePadded,
}

impl Padding {
    /// The string without what fills it up.
    pub fn trim(self, string: &[u8]) -> &[u8] {
        let end = match self {
            Self::NullTerminated => string.iter().position(|&byte| byte == 0),
            Self::NullPadded => string.iter().rposition(|&byte| byte != 0).map(|last| last + 1),
            Self::SpacePadded => string.iter().rposition(|&byte| byte != b' ').map(|last| last + 1),
        };
        let all = if self == Self::NullTerminated { string.len() } else { 0 };
        &string[..end.unwrap_or(all)]
    }
}

/// The type of a dataset's elements. Sizes are in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Dtype {
    /// A two's complement or unsigned integer.
    Integer {
        /// Bytes.
        size: usize,
        /// Whether it has a sign.
        signed: bool,
        /// Byte order.
        order: ByteOrder,
    },
    /// An IEEE 754 number, or one of another layout of the same size (`long double`).
    Float {
        /// Bytes.
        size: usize,
        /// Byte order.
        order: ByteOrder,
    },
    /// h5py's boolean: an enumeration of 1 byte with `FALSE` = 0 and `TRUE` = 1.
    Bool,
    /// Names for integers.
    Enum {
        /// The integers' type.
        base: Box<Dtype>,
        /// Names, with the bytes of their integers.
        members: Vec<(String, Vec<u8>)>,
    },
    /// A complex number: real part, then imaginary part.
    Complex {
        /// Bytes of both parts.
        size: usize,
        /// Byte order.
        order: ByteOrder,
    },
    /// A string in a fixed number of bytes.
    FixedString {
        /// Bytes.
        size: usize,
        /// Characters.
        charset: Charset,
        /// Padding.
        padding: Padding,
    },
    /// A string of any length, kept in the file's global heap.
    VariableString {
        /// Characters.
        charset: Charset,
    },
    /// Members side by side.
    Compound {
        /// Bytes, gaps included.
        size: usize,
        /// The members, in the order they were declared.
        fields: Vec<Field>,
    },
    /// A small array in each element.
    Array {
        /// What it is an array of.
        base: Box<Dtype>,
        /// Its shape.
        shape: Vec<u64>,
    },
    /// Bytes without meaning for HDF5.
    Opaque {
        /// Bytes.
        size: usize,
        /// What the writer calls them; h5py writes `NUMPY:<M8[ns]` for dates.
        tag: String,
    },
    /// Any other type, known by its HDF5 class alone.
    Other {
        /// Name of the class.
        class: &'static str,
        /// Bytes.
        size: usize,
        /// Whether elements hold addresses in the global heap.
        has_pointers: bool,
    },
}

/// A member of a [`Dtype::Compound`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Bytes in front of it.
    pub offset: usize,
    /// Its type.
    pub dtype: Dtype,
}

impl Dtype {
    /// Bytes of an element; `None` for strings of variable length.
    pub fn size(&self) -> Option<usize> {
        match self {
            Self::Integer { size, .. }
            | Self::Float { size, .. }
            | Self::Complex { size, .. }
            | Self::FixedString { size, .. }
            | Self::Compound { size, .. }
            | Self::Opaque { size, .. }
            | Self::Other { size, .. } => Some(*size),
            Self::Bool => Some(1),
            Self::Enum { base, .. } => base.size(),
            Self::VariableString { .. } => None,
            Self::Array { base, shape } => shape.iter().try_fold(base.size()?, |size, &axis| {
                size.checked_mul(usize::try_from(axis).ok()?)
            }),
        }
    }

    /// Whether elements are strings of variable length.
    pub fn is_variable_string(&self) -> bool {
        matches!(self, Self::VariableString { .. })
    }

    /// Whether elements hold addresses of bytes kept elsewhere, so that their own bytes mean nothing alone.
    pub fn has_pointers(&self) -> bool {
        match self {
            Self::VariableString { .. } => true,
            Self::Other { has_pointers, .. } => *has_pointers,
            Self::Compound { fields, .. } => fields.iter().any(|field| field.dtype.has_pointers()),
            Self::Array { base, .. } => base.has_pointers(),
            _ => false,
        }
    }

    /// Whether elements have bytes that belong to no field of theirs.
    pub fn has_gaps(&self) -> bool {
        match self {
            Self::Compound { fields, size } => {
                let sizes = fields.iter().map(|field| field.dtype.size().unwrap_or(0));
                sizes.fold(0, usize::saturating_add) < *size
                    || fields.iter().any(|field| field.dtype.has_gaps())
            }
            Self::Array { base, .. } => base.has_gaps(),
            _ => false,
        }
    }

    /// The name in digest listings: as [`Display`](fmt::Display), but `compound` for any compound and,
    /// as NumPy's `dtype.str`, only the size for an array.
    pub fn short_name(&self) -> String {
        match (self, self.size()) {
            (Self::Compound { .. }, _) => "compound".to_owned(),
            (Self::Array { .. }, Some(size)) => format!("|V{size}"),
            _ => self.to_string(),
        }
    }
}

/// As NumPy writes it: `<i8`, `>f4`, `|S5`, `|b1`, `str`, compounds as a list of fields.
impl fmt::Display for Dtype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer { size, signed, order } => {
                write_number(f, if *signed { 'i' } else { 'u' }, *size, *order)
            }
            Self::Float { size, order } => write_number(f, 'f', *size, *order),
            Self::Bool => f.write_str("|b1"),
            Self::Enum { base, .. } => base.fmt(f),
            Self::Complex { size, order } => write_number(f, 'c', *size, *order),
            Self::FixedString { size, .. } => write!(f, "|S{size}"),
            Self::VariableString { .. } => f.write_str("str"),
            Self::Compound { fields, .. } => {
                f.write_str("[")?;
                for (number, field) in fields.iter().enumerate() {
                    let comma = if number == 0 { "" } else { ", " };
                    write!(f, "{comma}('{}', ", field.name)?;
                    match &field.dtype {
                        Self::Array { base, shape } => {
                            write_quoted(f, base)?;
                            f.write_str(", ")?;
                            write_tuple(f, shape)?;
                        }
                        dtype => write_quoted(f, dtype)?,
                    }
                    f.write_str(")")?;
                }
                f.write_str("]")
            }
            Self::Array { base, shape } => {
                f.write_str("(")?;
                write_quoted(f, base)?;
                f.write_str(", ")?;
                write_tuple(f, shape)?;
                f.write_str(")")
            }
            Self::Opaque { size, tag } => match tag.strip_prefix("NUMPY:") {
                Some(name) => f.write_str(name),
                None => write!(f, "|V{size}"),
            },
            Self::Other { class, .. } => f.write_str(class),
        }
    }
}

fn write_number(
    f: &mut fmt::Formatter<'_>,
    kind: char,
    size: usize,
    order: ByteOrder,
) -> fmt::Result {
    let order = match order {
        _ if size == 1 => '|',
        ByteOrder::Little => '<',
        ByteOrder::Big => '>',
    };
    write!(f, "{order}{kind}{size}")
}

fn write_quoted(f: &mut fmt::Formatter<'_>, dtype: &Dtype) -> fmt::Result {
    match dtype {
        Dtype::Compound { .. } | Dtype::Array { .. } => write!(f, "{dtype}"),
        dtype => write!(f, "'{dtype}'"),
    }
}

/// A shape as Python writes it: a trailing comma if there is one axis.
fn write_tuple(f: &mut fmt::Formatter<'_>, shape: &[u64]) -> fmt::Result {
    let axes: Vec<String> = shape.iter().map(u64::to_string).collect();
    write!(f, "({}{})", axes.join(", "), if shape.len() == 1 { "," } else { "" })
}
