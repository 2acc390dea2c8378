//! Datatypes of libhdf5 as [`Dtype`]s.

use h5strata_ffi::h5t::{self, CharacterSet, Description, EnumMember, StringPadding, TypeClass};

use crate::dtype::{ByteOrder, Charset, Dtype, Field, Padding};

/// What h5py calls the two values of its boolean enumeration.
const BOOL: [(&str, &[u8]); 2] = [("FALSE", &[0]), ("TRUE", &[1])];

/// The element type that a description stands for.
pub(super) fn dtype(description: &Description) -> Dtype {
    let size = description.size;
    match &description.class {
        TypeClass::Integer { order, signed, .. } => {
            Dtype::Integer { size, signed: *signed, order: byte_order(*order) }
        }
        TypeClass::Float(float) if is_ieee_or_extended(size, float) => {
            Dtype::Float { size, order: byte_order(float.order) }
        }
        TypeClass::Float(_) => Dtype::Other { class: "float", size, has_pointers: false },
        TypeClass::FixedString { padding, charset } => Dtype::FixedString {
            size,
            charset: character_set(*charset),
            padding: match padding {
                StringPadding::NullPadded => Padding::NullPadded,
                StringPadding::SpacePadded => Padding::SpacePadded,
                _ => Padding::NullTerminated,
            },
        },
        TypeClass::VariableString { charset } => {
            Dtype::VariableString { charset: character_set(*charset) }
        }
        TypeClass::Opaque { tag } => Dtype::Opaque { size, tag: tag.clone() },
        TypeClass::Enumeration { base, members } => enumeration(base, members),
        TypeClass::Compound { members } => compound(size, members),
        TypeClass::Complex { base } => match dtype(base) {
            Dtype::Float { order, .. } => Dtype::Complex { size, order },
            _ => Dtype::Other { class: "complex", size, has_pointers: false },
        },
        TypeClass::Array { dims, base } => {
            Dtype::Array { base: Box::new(dtype(base)), shape: dims.clone() }
        }
        TypeClass::VariableLength { .. } => {
            Dtype::Other { class: "vlen", size, has_pointers: true }
        }
        TypeClass::Reference(_) => Dtype::Other { class: "reference", size, has_pointers: true },
        // h5py reads bits as the unsigned number they make.
        TypeClass::Bitfield { order, .. } => {
            Dtype::Integer { size, signed: false, order: byte_order(*order) }
        }
        TypeClass::Time { .. } => Dtype::Other { class: "time", size, has_pointers: false },
        _ => Dtype::Other { class: "unknown", size, has_pointers: true },
    }
}

/// Whether a float of 2, 4 or 8 bytes is IEEE 754's of that size; longer ones are a machine's own `long
/// double` and are read as bytes only.
fn is_ieee_or_extended(size: usize, float: &h5t::Float) -> bool {
    let (exponent, mantissa, bias) = match size {
        2 => (5, 10, 15),
        4 => (8, 23, 127),
        8 => (11, 52, 1023),
        _ => return size > 8,
    };
    (float.precision, float.offset, float.sign_position) == (size * 8, 0, size * 8 - 1)
        && (float.exponent_size, float.exponent_position, float.exponent_bias)
            == (exponent, mantissa, bias)
        && (float.mantissa_size, float.mantissa_position) == (mantissa, 0)
}

fn enumeration(base: &Description, members: &[EnumMember]) -> Dtype {
    let members: Vec<_> = members.iter().map(|m| (m.name.clone(), m.value.clone())).collect();
    let is_bool = base.size == 1
        && members.len() == BOOL.len()
        && BOOL.iter().all(|(name, value)| members.iter().any(|m| m.0 == *name && m.1 == *value));
    if is_bool { Dtype::Bool } else { Dtype::Enum { base: Box::new(dtype(base)), members } }
}

/// A compound, or the complex number that h5py writes as one: two equal floats `r` and `i` side by side.
fn compound(size: usize, members: &[h5t::Member]) -> Dtype {
    let fields: Vec<Field> = members
        .iter()
        .map(|member| Field {
            name: member.name.clone(),
            offset: member.offset,
            dtype: dtype(&member.datatype),
        })
        .collect();
    if let [real, imaginary] = fields.as_slice()
        && let Dtype::Float { size: part, order } = real.dtype
        && (real.name.as_str(), imaginary.name.as_str()) == ("r", "i")
        && imaginary.dtype == real.dtype
        && (real.offset, imaginary.offset, size) == (0, part, 2 * part)
    {
        return Dtype::Complex { size, order };
    }
    Dtype::Compound { size, fields }
}

fn byte_order(order: h5t::ByteOrder) -> ByteOrder {
    match order {
        h5t::ByteOrder::Big => ByteOrder::Big,
        _ => ByteOrder::Little,
    }
}

fn character_set(charset: CharacterSet) -> Charset {
    match charset {
        CharacterSet::Utf8 => Charset::Utf8,
        _ => Charset::Ascii,
    }
}
