//! Floats of one array, all printed alike, as NumPy prints them.

use super::number::{Float, signed_exponent};

/// Digits after the point at most (NumPy's print option `precision`).
const PRECISION: usize = 8;

/// Whether positive numbers have a sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sign {
    /// A minus where it belongs.
    Minus,
    /// A plus or minus on each number.
    Always,
}

/// How the floats of an array are printed: with or without exponent, and how wide.
#[derive(Clone, Debug)]
pub(crate) struct FloatColumn {
    sign: Sign,
    scientific: bool,
    /// Characters in front of the point.
    left: usize,
    /// Characters after the point.
    right: usize,
    /// Digits after the point of numbers with an exponent.
    fraction: usize,
    /// Digits of the exponent.
    exponent: usize,
}

impl FloatColumn {
    /// Measures the numbers that will be printed.
    pub(crate) fn new(values: impl Iterator<Item = Float> + Clone, sign: Sign) -> Self {
        let finite = values.clone().filter(|value| value.to_f64().is_finite());
        let scientific = needs_exponent(finite.clone());
        let mut column = Self { sign, scientific, left: 0, right: 0, fraction: 0, exponent: 0 };
        for value in finite {
            let (whole, fraction, exponent) = column.digits(value);
            column.left = column.left.max(whole.len());
            column.fraction = column.fraction.max(fraction.len());
            column.exponent = column.exponent.max(exponent.len().saturating_sub(1));
            column.right =
                if scientific { column.exponent + 2 + column.fraction } else { column.fraction };
        }
        for value in values.map(Float::to_f64) {
            let width = if value.is_nan() {
                3
            } else if value.is_infinite() {
                // NumPy makes room for a sign once any infinity has one.
                3 + usize::from(value < 0.0 || sign == Sign::Always)
            } else {
                0
            };
            column.left = column.left.max(width.saturating_sub(column.right + 1));
        }
        column
    }

    /// The number, padded to the width of the column.
    pub(crate) fn format(&self, value: Float) -> String {
        let number = value.to_f64();
        if !number.is_finite() {
            let sign = match self.sign {
                _ if number == f64::NEG_INFINITY => "-",
                Sign::Always => "+",
                Sign::Minus => "",
            };
            let word = format!("{sign}{}", if number.is_nan() { "nan" } else { "inf" });
            return format!("{word:>width$}", width = self.left + self.right + 1);
        }
        if self.scientific {
            // All numbers show the same places, with the digits that the exact value has there.
            let (whole, fraction, exponent) = self.places(&exact_scientific(value, self.fraction));
            let (sign, digits) = exponent.split_at(1);
            format!(
                "{whole:>left$}.{fraction}e{sign}{digits:0>width$}",
                left = self.left,
                width = self.exponent
            )
        } else {
            let (whole, fraction, _) = self.digits(value);
            format!("{whole:>left$}.{fraction:<right$}", left = self.left, right = self.right)
        }
    }

    /// The fewest digits that tell the number apart, [`PRECISION`] of them after the point at most: what stands
    /// in front of the point, what after it without zeros at the end, and the exponent.
    fn digits(&self, value: Float) -> (String, String, String) {
        let text = match (self.scientific, value) {
            (true, value) => value.shortest_scientific(),
            (false, value) => value.shortest(),
        };
        let (mut whole, mut fraction, mut exponent) = self.places(&text);
        if fraction.len() > PRECISION {
            let rounded = match (self.scientific, value) {
                (true, value) => exact_scientific(value, PRECISION),
                (false, Float::Half(value)) => format!("{:.PRECISION$}", value.to_f32()),
                (false, Float::Single(value)) => format!("{value:.PRECISION$}"),
                (false, Float::Double(value)) => format!("{value:.PRECISION$}"),
            };
            (whole, fraction, exponent) = self.places(&rounded);
        }
        fraction.truncate(fraction.trim_end_matches('0').len());
        (whole, fraction, exponent)
    }

    /// A number's text in three: in front of the point with its sign, after the point, the exponent with its sign.
    fn places(&self, text: &str) -> (String, String, String) {
        let (mantissa, exponent) = match text.split_once('e') {
            Some((mantissa, exponent)) => (mantissa, signed_exponent(exponent)),
            None => (text, String::new()),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let plus = self.sign == Sign::Always && !whole.starts_with('-');
        (format!("{}{whole}", if plus { "+" } else { "" }), fraction.to_owned(), exponent)
    }
}

/// The number with an exponent and this many digits after the point.
fn exact_scientific(value: Float, digits: usize) -> String {
    match value {
        Float::Half(value) => format!("{:.digits$e}", value.to_f32()),
        Float::Single(value) => format!("{value:.digits$e}"),
        Float::Double(value) => format!("{value:.digits$e}"),
    }
}

/// NumPy's rule: large, tiny, or far apart. Compared in the numbers' own precision, as NumPy does.
fn needs_exponent(values: impl Iterator<Item = Float>) -> bool {
    let mut range: Option<(Float, Float)> = None;
    for value in values.filter(|value| value.to_f64() != 0.0) {
        let value = absolute(value);
        range = Some(match range {
            None => (value, value),
            Some((low, high)) => (
                if value.to_f64() < low.to_f64() { value } else { low },
                if value.to_f64() > high.to_f64() { value } else { high },
            ),
        });
    }
    match range {
        None => false,
        Some((Float::Half(low), Float::Half(high))) => {
            let ratio = half::f16::from_f32(high.to_f32() / low.to_f32());
            high.to_f32() >= 1e3
                || low < half::f16::from_f32(1e-4)
                || ratio > half::f16::from_f32(1e3)
        }
        Some((Float::Single(low), Float::Single(high))) => {
            high >= 1e6 || low < 1e-4 || high / low > 1e3
        }
        Some((low, high)) => {
            let (low, high) = (low.to_f64(), high.to_f64());
            high >= 1e8 || low < 1e-4 || high / low > 1e3
        }
    }
}

fn absolute(value: Float) -> Float {
    match value {
        Float::Half(value) => Float::Half(if value.is_sign_negative() { -value } else { value }),
        Float::Single(value) => Float::Single(value.abs()),
        Float::Double(value) => Float::Double(value.abs()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(values: &[f64]) -> Vec<String> {
        let values: Vec<Float> = values.iter().copied().map(Float::Double).collect();
        let column = FloatColumn::new(values.iter().copied(), Sign::Minus);
        values.into_iter().map(|value| column.format(value)).collect()
    }

    #[test]
    fn columns_are_numpys() {
        // Right-hand sides: the words of str(numpy.array(values)).
        assert_eq!(printed(&[1.0, 2.5, -3.25]), [" 1.  ", " 2.5 ", "-3.25"]);
        assert_eq!(printed(&[0.1, 1.0 / 3.0]), ["0.1       ", "0.33333333"]);
        assert_eq!(printed(&[1e8, 1.0]), ["1.e+08", "1.e+00"]);
        assert_eq!(printed(&[1e-5, 2.25]), ["1.00e-05", "2.25e+00"]);
        assert_eq!(printed(&[1.0, f64::NAN, f64::NEG_INFINITY]), ["  1.", " nan", "-inf"]);
        assert_eq!(printed(&[1e300, 1e-7]), ["1.e+300", "1.e-007"]);
        assert_eq!(printed(&[f64::INFINITY]), ["inf"]);
        assert_eq!(printed(&[0.0, -0.0]), [" 0.", "-0."]);
    }
}
