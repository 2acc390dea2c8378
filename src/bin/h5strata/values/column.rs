//! The elements of one array, all printed alike.

use h5strata::dtype::{Dtype, Field};

use super::date::DateType;
use super::float_column::{FloatColumn, Sign};
use super::number::{float, integer};
use super::plain::{complex, member, nested, plain};

/// What is learnt when all elements are shown to a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    /// Whether numbers are written with an exponent.
    Range,
    /// How wide the elements are, written that way.
    Width,
}

/// How the elements of an array are printed, so that they line up as NumPy's do.
///
/// All elements are [shown](Self::show) to it once for each of its [looks](Self::looks), then any can be printed.
/// Nothing of them is kept.
#[derive(Debug)]
pub(crate) enum Column {
    /// Right-aligned in a width: integers.
    Right(Dtype, usize),
    /// A real number.
    Float(Dtype, FloatColumn),
    /// Real and imaginary part.
    Complex(Dtype, FloatColumn, FloatColumn),
    /// A blank in front of `True`.
    Bool,
    /// Quoted dates, right-aligned.
    Date(DateType, usize),
    /// Members, each a column of its own.
    Compound(Vec<(Field, Column)>),
    /// Arrays in elements.
    Array(Vec<u64>, usize, Box<Column>),
    /// Each as it is.
    Plain(Dtype),
}

impl Column {
    /// A column for elements of a type, none of them measured.
    pub(crate) fn new(dtype: &Dtype) -> Self {
        match dtype {
            Dtype::Enum { base, .. } => Self::new(base),
            Dtype::Integer { .. } => Self::Right(dtype.clone(), 0),
            Dtype::Float { .. } => Self::Float(dtype.clone(), FloatColumn::new(Sign::Minus)),
            Dtype::Complex { .. } => {
                let (real, imaginary) = (Sign::Minus, Sign::Always);
                Self::Complex(dtype.clone(), FloatColumn::new(real), FloatColumn::new(imaginary))
            }
            Dtype::Bool => Self::Bool,
            Dtype::Opaque { tag, size } if let Some(date) = DateType::from_tag(tag, *size) => {
                Self::Date(date, 0)
            }
            Dtype::Compound { fields, .. } => {
                let column = |field: &Field| (field.clone(), Self::new(&field.dtype));
                Self::Compound(fields.iter().map(column).collect())
            }
            Dtype::Array { base, shape } => {
                let size = base.size().unwrap_or(1).max(1);
                Self::Array(shape.clone(), size, Box::new(Self::new(base)))
            }
            _ => Self::Plain(dtype.clone()),
        }
    }

    /// What the column must learn, in this order, before an element can be printed.
    pub(crate) fn looks(&self) -> &'static [Look] {
        if self.has_floats() { &[Look::Range, Look::Width] } else { &[Look::Width] }
    }

    fn has_floats(&self) -> bool {
        match self {
            Self::Float(..) | Self::Complex(..) => true,
            Self::Compound(members) => members.iter().any(|(_, column)| column.has_floats()),
            Self::Array(.., column) => column.has_floats(),
            Self::Right(..) | Self::Bool | Self::Date(..) | Self::Plain(_) => false,
        }
    }

    /// Learns of an element.
    pub(crate) fn show(&mut self, look: Look, bytes: &[u8]) {
        match self {
            Self::Float(Dtype::Float { order, .. }, column) => {
                if let Some(value) = float(bytes, *order) {
                    column.show(look, value);
                }
            }
            Self::Complex(Dtype::Complex { order, .. }, real, imaginary) => {
                if let Some((re, im)) = complex(bytes, *order) {
                    real.show(look, re);
                    imaginary.show(look, im);
                }
            }
            Self::Compound(members) => {
                for (field, column) in members {
                    column.show(look, member(field, bytes));
                }
            }
            Self::Array(_, size, column) => {
                bytes.chunks_exact(*size).for_each(|element| column.show(look, element));
            }
            Self::Right(Dtype::Integer { signed, order, .. }, width) if look == Look::Width => {
                if let Some(value) = integer(bytes, *signed, *order) {
                    *width = (*width).max(value.to_string().len());
                }
            }
            Self::Date(date, width) if look == Look::Width => {
                *width = (*width).max(date.text(bytes).len() + 2);
            }
            _ => {}
        }
    }

    /// An element of the array.
    pub(crate) fn format(&self, bytes: &[u8]) -> String {
        match self {
            Self::Right(dtype, width) => format!("{:>width$}", plain(dtype, bytes)),
            Self::Float(dtype @ Dtype::Float { order, .. }, column) => float(bytes, *order)
                .map_or_else(|| plain(dtype, bytes), |value| column.format(value)),
            Self::Complex(dtype @ Dtype::Complex { order, .. }, real, imaginary) => {
                let Some((re, im)) = complex(bytes, *order) else { return plain(dtype, bytes) };
                let im = imaginary.format(im);
                let digits = im.trim_end();
                format!("{}{digits}j{}", real.format(re), &im[digits.len()..])
            }
            Self::Bool => format!("{:>5}", plain(&Dtype::Bool, bytes)),
            Self::Date(date, width) => format!("{:>width$}", format!("'{}'", date.text(bytes))),
            Self::Compound(members) => {
                let texts: Vec<String> = members
                    .iter()
                    .map(|(field, column)| column.format(member(field, bytes)))
                    .collect();
                format!("({}{})", texts.join(", "), if texts.len() == 1 { "," } else { "" })
            }
            Self::Array(shape, size, column) => {
                nested(shape, bytes, &|element| column.format(element), *size)
            }
            Self::Plain(dtype) | Self::Float(dtype, _) | Self::Complex(dtype, ..) => {
                plain(dtype, bytes)
            }
        }
    }
}
