//! Floats of one array, all printed alike, as NumPy prints them.

use super::column::Look;
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
///
/// All numbers are [shown](Self::show) to it for their range, then all for their width, then any can be printed.
#[derive(Clone, Debug)]
pub(crate) struct FloatColumn {
    sign: Sign,
    /// The smallest and the largest size of a number other than 0.
    range: Option<(Float, Float)>,
    scientific: bool,
    /// Characters in front of the point.
    whole: usize,
    /// Digits after the point.
    fraction: usize,
    /// Digits of the exponent.
    exponent: usize,
    /// Characters of what is no finite number.
    word: usize,
}

impl FloatColumn {
    /// A column of no numbers.
    pub(crate) fn new(sign: Sign) -> Self {
        let (whole, fraction, exponent, word) = (0, 0, 0, 0);
        Self { sign, range: None, scientific: false, whole, fraction, exponent, word }
    }

    /// Learns of a number.
    pub(crate) fn show(&mut self, look: Look, value: Float) {
        match look {
            Look::Range => self.widen_range(value),
            Look::Width => self.make_room(value),
        }
    }

    fn widen_range(&mut self, value: Float) {
        let size = absolute(value);
        let number = size.to_f64();
        if !number.is_finite() || number == 0.0 {
            return;
        }
        let range = match self.range {
            Some((low, high)) if number < low.to_f64() => (size, high),
            Some((low, high)) if number > high.to_f64() => (low, size),
            Some(_) => return,
            None => (size, size),
        };
        self.range = Some(range);
        self.scientific = needs_exponent(range);
    }

    fn make_room(&mut self, value: Float) {
        let number = value.to_f64();
        if number.is_finite() {
            let (whole, fraction, exponent) = self.digits(value);
            self.whole = self.whole.max(whole.len());
            self.fraction = self.fraction.max(fraction.len());
            self.exponent = self.exponent.max(exponent.len().saturating_sub(1));
        } else if number.is_nan() {
            self.word = self.word.max(3);
        } else {
            // NumPy makes room for a sign once any infinity has one.
            let signed = number < 0.0 || self.sign == Sign::Always;
            self.word = self.word.max(3 + usize::from(signed));
        }
    }

    /// Characters in front of the point and after it.
    fn widths(&self) -> (usize, usize) {
        let exponent = if self.scientific { self.exponent + 2 } else { 0 };
        let right = self.fraction + exponent;
        (self.whole.max(self.word.saturating_sub(right + 1)), right)
    }

    /// The number, padded to the width of the column.
    pub(crate) fn format(&self, value: Float) -> String {
        let number = value.to_f64();
        let (left, right) = self.widths();
        if !number.is_finite() {
            let sign = match self.sign {
                _ if number == f64::NEG_INFINITY => "-",
                Sign::Always => "+",
                Sign::Minus => "",
            };
            let word = format!("{sign}{}", if number.is_nan() { "nan" } else { "inf" });
            return format!("{word:>width$}", width = left + right + 1);
        }
        if self.scientific {
            // All numbers show the same places, with the digits that the exact value has there.
            let (whole, fraction, exponent) = self.places(&exact_scientific(value, self.fraction));
            let (sign, digits) = exponent.split_at(1);
            format!("{whole:>left$}.{fraction}e{sign}{digits:0>width$}", width = self.exponent)
        } else {
            let (whole, fraction, _) = self.digits(value);
            format!("{whole:>left$}.{fraction:<right$}")
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
fn needs_exponent(range: (Float, Float)) -> bool {
    match range {
        (Float::Half(low), Float::Half(high)) => {
            let ratio = half::f16::from_f32(high.to_f32() / low.to_f32());
            high.to_f32() >= 1e3
                || low < half::f16::from_f32(1e-4)
                || ratio > half::f16::from_f32(1e3)
        }
        (Float::Single(low), Float::Single(high)) => high >= 1e6 || low < 1e-4 || high / low > 1e3,
        (low, high) => {
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
        let mut column = FloatColumn::new(Sign::Minus);
        for look in [Look::Range, Look::Width] {
            values.iter().for_each(|&value| column.show(look, value));
        }
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
