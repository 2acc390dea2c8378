//! Numbers from the bytes of a file.

use h5strata::dtype::ByteOrder;
use half::f16;

/// A floating-point number in the precision it is stored in, which its shortest text depends on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Float {
    /// Half precision.
    Half(f16),
    /// Single precision.
    Single(f32),
    /// Double precision.
    Double(f64),
}

/// The integer of at most 8 bytes; `None` for larger ones.
pub(crate) fn integer(bytes: &[u8], signed: bool, order: ByteOrder) -> Option<i128> {
    if bytes.is_empty() || bytes.len() > 8 {
        return None;
    }
    let mut little = [0; 16];
    for (to, from) in little.iter_mut().zip(ordered(bytes, order)) {
        *to = from;
    }
    let value = i128::from_le_bytes(little);
    let bits = bytes.len() * 8;
    Some(if signed && value >> (bits - 1) != 0 { value - (1 << bits) } else { value })
}

/// The number of 2, 4 or 8 bytes; `None` for other sizes, whose layout a size does not tell.
pub(crate) fn float(bytes: &[u8], order: ByteOrder) -> Option<Float> {
    let mut little = [0; 8];
    for (to, from) in little.iter_mut().zip(ordered(bytes, order)) {
        *to = from;
    }
    let [a, b, c, d, ..] = little;
    match bytes.len() {
        2 => Some(Float::Half(f16::from_le_bytes([a, b]))),
        4 => Some(Float::Single(f32::from_le_bytes([a, b, c, d]))),
        8 => Some(Float::Double(f64::from_le_bytes(little))),
        _ => None,
    }
}

/// The bytes with the least significant first.
fn ordered(bytes: &[u8], order: ByteOrder) -> impl Iterator<Item = u8> + '_ {
    (0..bytes.len()).map(move |at| match order {
        ByteOrder::Little => bytes[at],
        ByteOrder::Big => bytes[bytes.len() - 1 - at],
    })
}

impl Float {
    /// The number in double precision.
    pub(crate) fn to_f64(self) -> f64 {
        match self {
            Self::Half(value) => value.to_f64(),
            Self::Single(value) => value.into(),
            Self::Double(value) => value,
        }
    }

    /// Fewest digits that give the number back, without an exponent.
    pub(crate) fn shortest(self) -> String {
        match self {
            // At most five digits, which double precision gives back as they are.
            Self::Half(value) => half_digits(value)
                .parse::<f64>()
                .map_or_else(|_| value.to_f32().to_string(), |value| value.to_string()),
            Self::Single(value) => value.to_string(),
            Self::Double(value) => value.to_string(),
        }
    }

    /// Fewest digits that give the number back: one digit, the others after a point, `e`, the exponent.
    pub(crate) fn shortest_scientific(self) -> String {
        match self {
            Self::Half(value) => half_digits(value),
            Self::Single(value) => format!("{value:e}"),
            Self::Double(value) => format!("{value:e}"),
        }
    }

    /// As Python writes a number that stands alone, in any precision: `0.1`, `1e+16`, `nan`.
    pub(crate) fn repr(self) -> String {
        const POSITIONAL: std::ops::Range<f64> = 1e-4..1e16;
        let value = self.to_f64();
        if value.is_nan() {
            return "nan".to_owned();
        }
        if value.is_infinite() {
            return if value > 0.0 { "inf" } else { "-inf" }.to_owned();
        }
        if value == 0.0 || POSITIONAL.contains(&value.abs()) {
            let text = self.shortest();
            return if text.contains('.') { text } else { text + ".0" };
        }
        let text = self.shortest_scientific();
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        format!("{digits}e{}", signed_exponent(exponent))
    }
}

/// An exponent with its sign and at least two digits.
pub(crate) fn signed_exponent(exponent: &str) -> String {
    let (sign, digits) = match exponent.strip_prefix('-') {
        Some(digits) => ('-', digits),
        None => ('+', exponent),
    };
    format!("{sign}{digits:0>2}")
}

/// The shortest text that rounds to the same half: the standard library knows no such type.
fn half_digits(value: f16) -> String {
    /// Digits after the first that always suffice.
    const ENOUGH: usize = 4;
    let single = value.to_f32();
    (0..ENOUGH)
        .map(|digits| format!("{single:.digits$e}"))
        .find(|text| text.parse().is_ok_and(|parsed| f16::from_f32(parsed) == value))
        .unwrap_or_else(|| format!("{single:.ENOUGH$e}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_of_every_width_keep_sign_and_order() {
        assert_eq!(integer(&[0xfe, 0xff], true, ByteOrder::Little), Some(-2));
        assert_eq!(integer(&[0xff, 0xfe], true, ByteOrder::Big), Some(-2));
        assert_eq!(integer(&[0xff; 8], false, ByteOrder::Big), Some(u64::MAX.into()));
        assert_eq!(integer(&[0xff; 8], true, ByteOrder::Big), Some(-1));
        assert_eq!(integer(&[0, 0, 0x80], true, ByteOrder::Little), Some(-(1 << 23)));
        assert_eq!(integer(&[0; 16], true, ByteOrder::Little), None);
    }

    #[test]
    fn numbers_alone_are_pythons() {
        // Right-hand sides: Python's str() of the number with the fewest digits.
        for (value, text) in [
            (0.1, "0.1"),
            (1.0, "1.0"),
            (-0.0, "-0.0"),
            (1e16, "1e+16"),
            (123_456_789_012_345_680.0, "1.2345678901234568e+17"),
            (1e15, "1000000000000000.0"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (f64::NAN, "nan"),
            (f64::NEG_INFINITY, "-inf"),
        ] {
            assert_eq!(Float::Double(value).repr(), text);
        }
        assert_eq!(Float::Single(0.1).repr(), "0.1");
        assert_eq!(Float::Single(16_777_216.0).repr(), "16777216.0");
        assert_eq!(Float::Half(f16::from_f32(0.1)).repr(), "0.1");
        assert_eq!(Float::Half(f16::MAX).repr(), "65500.0");
        assert_eq!(Float::Half(f16::from_bits(1)).repr(), "6e-08");
    }
}
