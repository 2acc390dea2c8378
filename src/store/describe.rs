//! Datatypes of libhdf5 as [`Dtype`]s, and back.

use h5strata_ffi::h5t::{
    self, CharacterSet, Description, EnumMember, Normalization, StringPadding, TypeClass,
};

use crate::dtype::{ByteOrder, Charset, Dtype, Field, Padding};

/// What h5py calls the two values of its boolean enumeration.
const BOOL: [(&str, &[u8]); 2] = [("FALSE", &[0]), ("TRUE", &[1])];

/// The element type that a description stands for.
pub(crate) fn dtype(description: &Description) -> Dtype {
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

/// A type that cannot be made: HDF5 has it, but what its elements are is not known well enough.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("datasets of type {dtype} cannot be created")]
pub struct UnsupportedType {
    /// The type.
    pub dtype: Dtype,
}

/// The description of an element type, as h5py 3.16 makes it: booleans are an enumeration, complex
/// numbers a compound, strings of variable length end with a zero byte.
///
/// # Errors
/// [`UnsupportedType`] for types known by their class alone, and for floats of more than 8 bytes that are not
/// the little-endian `long double` of x86-64.
pub(crate) fn description(dtype: &Dtype) -> Result<Description, UnsupportedType> {
    let unsupported = || UnsupportedType { dtype: dtype.clone() };
    let sized =
        |class| dtype.size().map(|size| Description { size, class }).ok_or_else(unsupported);
    match dtype {
        Dtype::Integer { size, signed, order } => sized(integer(*size, *signed, *order)),
        Dtype::Float { size, order } => {
            sized(TypeClass::Float(float(*size, *order).ok_or_else(unsupported)?))
        }
        Dtype::Bool => {
            let members = BOOL.iter().map(|(name, value)| EnumMember {
                name: (*name).to_owned(),
                value: value.to_vec(),
            });
            let class = integer(1, true, ByteOrder::Little);
            let base = Box::new(Description { size: 1, class });
            sized(TypeClass::Enumeration { base, members: members.collect() })
        }
        Dtype::Enum { base, members } => {
            let members = members
                .iter()
                .map(|(name, value)| EnumMember { name: name.clone(), value: value.clone() })
                .collect();
            sized(TypeClass::Enumeration { base: Box::new(description(base)?), members })
        }
        Dtype::Complex { size, order } => {
            let part = description(&Dtype::Float { size: size / 2, order: *order })
                .map_err(|_| unsupported())?;
            let member = |name: &str, offset, datatype| h5t::Member {
                name: name.to_owned(),
                offset,
                datatype,
            };
            let members = vec![member("r", 0, part.clone()), member("i", part.size, part)];
            sized(TypeClass::Compound { members })
        }
        Dtype::FixedString { charset, padding, .. } => sized(TypeClass::FixedString {
            padding: match padding {
                Padding::NullTerminated => StringPadding::NullTerminated,
                Padding::NullPadded => StringPadding::NullPadded,
                Padding::SpacePadded => StringPadding::SpacePadded,
            },
            charset: hdf5_character_set(*charset),
        }),
        Dtype::VariableString { charset } => Ok(Description {
            // A pointer in memory.
            size: size_of::<usize>(),
            class: TypeClass::VariableString { charset: hdf5_character_set(*charset) },
        }),
        Dtype::Compound { fields, size } => {
            let members = fields.iter().map(|field| {
                let datatype = description(&field.dtype)?;
                Ok(h5t::Member { name: field.name.clone(), offset: field.offset, datatype })
            });
            let members = members.collect::<Result<_, _>>()?;
            Ok(Description { size: *size, class: TypeClass::Compound { members } })
        }
        Dtype::Array { base, shape } => {
            let base = description(base)?;
            // Of memory, where the elements are strings of variable length.
            let size = shape
                .iter()
                .try_fold(base.size, |size, &axis| size.checked_mul(usize::try_from(axis).ok()?));
            let class = TypeClass::Array { dims: shape.clone(), base: Box::new(base) };
            Ok(Description { size: size.ok_or_else(unsupported)?, class })
        }
        Dtype::Opaque { tag, .. } => sized(TypeClass::Opaque { tag: tag.clone() }),
        Dtype::Other { .. } => Err(unsupported()),
    }
}

/// An integer without unused bits.
fn integer(size: usize, signed: bool, order: ByteOrder) -> TypeClass {
    TypeClass::Integer {
        order: hdf5_byte_order(order),
        signed,
        precision: size.saturating_mul(8),
        offset: 0,
    }
}

/// A float of IEEE 754, or the 80-bit one of x86-64 in 16 bytes.
fn float(size: usize, order: ByteOrder) -> Option<h5t::Float> {
    let (precision, exponent_size, mantissa_size, normalization) = match (size, order) {
        (2, _) => (16, 5, 10, Normalization::Implied),
        (4, _) => (32, 8, 23, Normalization::Implied),
        (8, _) => (64, 11, 52, Normalization::Implied),
        (16, ByteOrder::Little) => (80, 15, 64, Normalization::None),
        _ => return None,
    };
    Some(h5t::Float {
        order: hdf5_byte_order(order),
        precision,
        offset: 0,
        sign_position: precision - 1,
        exponent_position: mantissa_size,
        exponent_size,
        exponent_bias: (1 << (exponent_size - 1)) - 1,
        mantissa_position: 0,
        mantissa_size,
        normalization,
    })
}

fn hdf5_byte_order(order: ByteOrder) -> h5t::ByteOrder {
    match order {
        ByteOrder::Big => h5t::ByteOrder::Big,
        ByteOrder::Little => h5t::ByteOrder::Little,
    }
}

fn hdf5_character_set(charset: Charset) -> CharacterSet {
    match charset {
        Charset::Ascii => CharacterSet::Ascii,
        Charset::Utf8 => CharacterSet::Utf8,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_described_is_the_same_type() {
        for text in [
            "|i1",
            "<i2",
            ">i4",
            "<u8",
            "<f2",
            ">f2",
            "<f4",
            ">f8",
            "<f16",
            "<c8",
            ">c16",
            "<c32",
            "|b1",
            "|S5",
            "str",
            "|V8",
            "<M8[ns]",
            "('<i4', (3, 2))",
            "[('a', '<i4'), ('b', '|b1', (2,)), ('c', [('d', '<c8'), ('e', '|S3')])]",
        ] {
            let expected: Dtype = text.parse().unwrap();
            let described = description(&expected).unwrap();
            assert_eq!(dtype(&described), expected);
            assert_eq!(Some(described.size), expected.size().or(Some(size_of::<usize>())));
        }
    }

    #[test]
    fn charsets_paddings_gaps_and_names_are_kept() {
        let fields = vec![Field { name: "a".into(), offset: 3, dtype: Dtype::Bool }];
        let base = Box::new("<i2".parse().unwrap());
        let mut types = vec![
            Dtype::Compound { size: 12, fields },
            Dtype::Enum { base, members: vec![("x".into(), vec![7, 0])] },
            Dtype::VariableString { charset: Charset::Ascii },
        ];
        for padding in [Padding::NullTerminated, Padding::NullPadded, Padding::SpacePadded] {
            types.push(Dtype::FixedString { size: 4, charset: Charset::Utf8, padding });
        }
        for expected in types {
            assert_eq!(dtype(&description(&expected).unwrap()), expected);
        }
    }

    #[test]
    fn types_known_by_their_class_alone_are_refused() {
        let other = Dtype::Other { class: "vlen", size: 16, has_pointers: true };
        for refused in [
            other.clone(),
            Dtype::Array { base: Box::new(other), shape: vec![2] },
            Dtype::Float { size: 16, order: ByteOrder::Big },
            Dtype::Complex { size: 24, order: ByteOrder::Little },
        ] {
            assert!(description(&refused).is_err(), "{refused:?}");
        }
    }
}
