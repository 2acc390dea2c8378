//! NumPy's rule `same_kind`: which conversions it takes for no mistake.

use super::{Cast, CastError, Dtype};

impl Cast {
    /// As [`new`](Self::new), for conversions that NumPy allows by its rule `same_kind`: to a number of the same kind
    /// or a later one of boolean, unsigned, signed, floating and complex, whatever the sizes. Compounds and arrays
    /// are looked at member by member.
    ///
    /// # Errors
    /// [`CastError`] for any other conversion.
    pub fn same_kind(from: &Dtype, to: &Dtype) -> Result<Self, CastError> {
        if is_same_kind(from, to) {
            Self::new(from, to)
        } else {
            Err(CastError { from: from.clone(), to: to.clone() })
        }
    }
}

/// Whether no number becomes one of an earlier kind.
fn is_same_kind(from: &Dtype, to: &Dtype) -> bool {
    match (from, to) {
        (Dtype::Compound { fields: from, .. }, Dtype::Compound { fields: to, .. }) => {
            from.iter().zip(to).all(|(from, to)| is_same_kind(&from.dtype, &to.dtype))
        }
        (Dtype::Array { base: from, .. }, Dtype::Array { base: to, .. }) => is_same_kind(from, to),
        _ => kind(from).zip(kind(to)).is_none_or(|(from, to)| from <= to),
    }
}

/// The place of a number's kind in NumPy's order; an enumeration is its integers.
fn kind(dtype: &Dtype) -> Option<u8> {
    match dtype {
        Dtype::Bool => Some(0),
        Dtype::Integer { signed: false, .. } => Some(1),
        Dtype::Integer { signed: true, .. } => Some(2),
        Dtype::Float { .. } => Some(3),
        Dtype::Complex { .. } => Some(4),
        Dtype::Enum { base, .. } => kind(base),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `numpy.can_cast(from, to, "same_kind")` for types that both sides have.
    #[test]
    fn the_rule_is_numpys() {
        for (from, to, allowed) in [
            ("<i8", "<u8", false),
            ("|u1", "<i4", true),
            ("|u1", "|i1", true),
            ("<i8", "<i2", true),
            ("<i8", "<f4", true),
            ("<f8", "<f4", true),
            ("<f8", "<i8", false),
            ("<c16", "<f8", false),
            ("<f8", "<c8", true),
            ("|b1", "|i1", true),
            ("|i1", "|b1", false),
            ("|S5", "|S3", true),
            ("<M8[ns]", "<i8", false),
            ("|V4", "<i4", false),
            ("[('a', '<i4')]", "[('a', '<i2')]", true),
            ("[('a', '<f4')]", "[('a', '<i2')]", false),
            ("('<f4', (2,))", "('<i4', (2,))", false),
            ("('<f8', (2,))", "('<f4', (2,))", true),
        ] {
            let cast = Cast::same_kind(&from.parse().unwrap(), &to.parse().unwrap());
            assert_eq!(cast.is_ok(), allowed, "{from} {to}");
        }
    }
}
