//! Types of elements, with values that are told apart by numbers: 0 is the fill value.

use h5strata::Dtype;
use h5strata::dtype::{ByteOrder, Literal};

/// A type.
#[derive(Clone, Debug)]
pub(crate) struct Kind {
    pub(crate) dtype: Dtype,
    /// Types that its values can be cast to.
    pub(crate) casts: &'static [&'static str],
}

impl Kind {
    pub(crate) fn all() -> Vec<Self> {
        let kind = |dtype: &str, casts| Self { dtype: dtype.parse().unwrap(), casts };
        let order = ByteOrder::Little;
        let base = Dtype::Integer { size: 2, signed: true, order };
        let members = (0..8u8).map(|number| (format!("name {number}"), vec![number, 0])).collect();
        let names = Dtype::Enum { base: Box::new(base), members };
        vec![
            kind("<f8", &["<f4", ">f8", "<i4", "<f2", "<c16"]),
            kind("<f2", &["<f4", "<i8"]),
            kind(">i4", &["<i4", "<i8", ">i2", "<f8"]),
            kind("|u1", &["<u4", "<f2"]),
            kind("<c16", &["<c8", ">c16"]),
            kind("|S4", &["|S6", "|S3"]),
            kind("[('a', '<i2'), ('b', '<f8')]", &["[('a', '<i4'), ('b', '<f4')]"]),
            kind("('<i2', (3,))", &["('<i4', (3,))"]),
            kind("<M8[ns]", &[]),
            Self { dtype: names, casts: &["<i2", "<f8"] },
        ]
    }

    /// The element of a number below 8.
    pub(crate) fn element(&self, number: u64) -> Vec<u8> {
        // What is filled with is not zero.
        element(&self.dtype, (number + 3) % 8)
    }
}

/// The element of a type that stands for a number.
pub(crate) fn element(dtype: &Dtype, number: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    match dtype {
        Dtype::FixedString { .. } => {
            let text = ["", "a", "ab", "abc", "b", "zz", "y", "xyz"][number as usize];
            dtype.push_literal(Literal::Text(text), &mut bytes).unwrap();
        }
        Dtype::Enum { members, .. } => bytes = members[number as usize].1.clone(),
        Dtype::Compound { fields, .. } => {
            for field in fields {
                bytes.extend(element(&field.dtype, number));
            }
        }
        Dtype::Array { base, shape } => {
            for at in 0..shape.iter().product::<u64>() {
                bytes.extend(element(base, (number + at) % 8));
            }
        }
        Dtype::Opaque { size, .. } => bytes = vec![number as u8; *size],
        _ => dtype.push_literal(Literal::Unsigned(number), &mut bytes).unwrap(),
    }
    bytes
}
