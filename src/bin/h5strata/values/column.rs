//! The elements of one array, all printed alike.

use h5strata::dtype::{Dtype, Field};

use super::date::DateType;
use super::float_column::{FloatColumn, Sign};
use super::number::{float, integer};
use super::plain::{complex, member, nested, plain};

/// How the elements of an array are printed, so that they line up as NumPy's do.
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
    /// Measures the elements that will be printed.
    pub(crate) fn new(dtype: &Dtype, elements: &[&[u8]]) -> Self {
        match dtype {
            Dtype::Enum { base, .. } => Self::new(base, elements),
            Dtype::Integer { signed, order, .. } => {
                let values = elements.iter().filter_map(|bytes| integer(bytes, *signed, *order));
                let width = values.map(|value| value.to_string().len()).max().unwrap_or(0);
                Self::Right(dtype.clone(), width)
            }
            Dtype::Float { order, .. } if is_number(elements, |e| float(e, *order).is_some()) => {
                let values = elements.iter().filter_map(|bytes| float(bytes, *order));
                Self::Float(dtype.clone(), FloatColumn::new(values, Sign::Minus))
            }
            Dtype::Complex { order, .. }
                if is_number(elements, |e| complex(e, *order).is_some()) =>
            {
                let values = elements.iter().filter_map(|bytes| complex(bytes, *order));
                let real = FloatColumn::new(values.clone().map(|(real, _)| real), Sign::Minus);
                let imaginary = FloatColumn::new(values.map(|(_, i)| i), Sign::Always);
                Self::Complex(dtype.clone(), real, imaginary)
            }
            Dtype::Bool => Self::Bool,
            Dtype::Opaque { tag, size } if let Some(date) = DateType::from_tag(tag, *size) => {
                let widths = elements.iter().map(|bytes| date.text(bytes).len() + 2);
                Self::Date(date, widths.max().unwrap_or(0))
            }
            Dtype::Compound { fields, .. } => Self::Compound(
                fields
                    .iter()
                    .map(|field| {
                        let members: Vec<&[u8]> =
                            elements.iter().map(|bytes| member(field, bytes)).collect();
                        (field.clone(), Self::new(&field.dtype, &members))
                    })
                    .collect(),
            ),
            Dtype::Array { base, shape } => {
                let size = base.size().unwrap_or(1).max(1);
                let inner: Vec<&[u8]> =
                    elements.iter().flat_map(|bytes| bytes.chunks_exact(size)).collect();
                Self::Array(shape.clone(), size, Box::new(Self::new(base, &inner)))
            }
            _ => Self::Plain(dtype.clone()),
        }
    }

    /// An element of the array.
    pub(crate) fn format(&self, bytes: &[u8]) -> String {
        match self {
            Self::Right(dtype, width) => format!("{:>width$}", plain(dtype, bytes)),
            Self::Float(Dtype::Float { order, .. }, column) => {
                float(bytes, *order).map_or_else(String::new, |value| column.format(value))
            }
            Self::Complex(Dtype::Complex { order, .. }, real, imaginary) => complex(bytes, *order)
                .map_or_else(String::new, |(re, im)| {
                    let im = imaginary.format(im);
                    let digits = im.trim_end();
                    format!("{}{digits}j{}", real.format(re), &im[digits.len()..])
                }),
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

/// Whether all elements, and at least one, are numbers of a layout we know.
fn is_number(elements: &[&[u8]], known: impl Fn(&[u8]) -> bool) -> bool {
    !elements.is_empty() && elements.iter().all(|bytes| known(bytes))
}
