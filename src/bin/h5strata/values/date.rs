//! NumPy's dates, which h5py keeps as opaque elements with the tag `NUMPY:<M8[unit]`.

use chrono::{DateTime, SecondsFormat, Utc};
use h5strata::dtype::ByteOrder;

use super::number::integer;

/// What NumPy keeps for no time.
const NOT_A_TIME: i128 = i64::MIN as i128;

/// A date's or a duration's unit and byte order, from the tag of an opaque type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DateType {
    kind: Kind,
    order: ByteOrder,
    unit: Unit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Date,
    Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    Day,
    /// Parts of a second, or whole seconds.
    Fraction(SecondsFormat, i64),
    /// Any other unit, which is not interpreted.
    Other,
}

impl DateType {
    /// The type that a tag names; `None` if it names no date of 8 bytes.
    pub(crate) fn from_tag(tag: &str, size: usize) -> Option<Self> {
        let name = tag.strip_prefix("NUMPY:")?;
        let (order, name) = match name.split_at_checked(1)? {
            ("<", name) => (ByteOrder::Little, name),
            (">", name) => (ByteOrder::Big, name),
            _ => return None,
        };
        let (kind, unit) = match name.split_at_checked(2)? {
            ("M8", unit) => (Kind::Date, unit),
            ("m8", unit) => (Kind::Duration, unit),
            _ => return None,
        };
        let unit = match unit {
            "[D]" => Unit::Day,
            "[s]" => Unit::Fraction(SecondsFormat::Secs, 1),
            "[ms]" => Unit::Fraction(SecondsFormat::Millis, 1_000),
            "[us]" => Unit::Fraction(SecondsFormat::Micros, 1_000_000),
            "[ns]" => Unit::Fraction(SecondsFormat::Nanos, 1_000_000_000),
            _ => Unit::Other,
        };
        (size == 8).then_some(Self { kind, order, unit })
    }

    /// The element as NumPy writes it: a time in ISO 8601, or a number.
    pub(crate) fn text(self, bytes: &[u8]) -> String {
        match integer(bytes, true, self.order) {
            Some(NOT_A_TIME) | None => "NaT".to_owned(),
            Some(count) => self.date(count).unwrap_or_else(|| count.to_string()),
        }
    }

    fn date(self, count: i128) -> Option<String> {
        const DAY: i64 = 86_400;
        let count = i64::try_from(count).ok()?;
        match (self.kind, self.unit) {
            (Kind::Date, Unit::Day) => {
                let time = DateTime::from_timestamp(count.checked_mul(DAY)?, 0)?;
                Some(without_plus(&time.date_naive().to_string()))
            }
            (Kind::Date, Unit::Fraction(format, parts)) => {
                let nanoseconds = count.rem_euclid(parts) * (1_000_000_000 / parts);
                let time: DateTime<Utc> = DateTime::from_timestamp(
                    count.div_euclid(parts),
                    u32::try_from(nanoseconds).ok()?,
                )?;
                Some(without_plus(time.to_rfc3339_opts(format, true).trim_end_matches('Z')))
            }
            _ => None,
        }
    }
}

/// A date without the sign that ISO 8601 has in front of years of five digits, and NumPy has not.
fn without_plus(date: &str) -> String {
    date.strip_prefix('+').unwrap_or(date).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_numpys() {
        for (tag, count, text) in [
            ("NUMPY:<M8[us]", 1_767_225_600_000_001, "2026-01-01T00:00:00.000001"),
            ("NUMPY:<M8[ns]", -1, "1969-12-31T23:59:59.999999999"),
            ("NUMPY:<M8[D]", 365, "1971-01-01"),
            ("NUMPY:<M8[s]", 0, "1970-01-01T00:00:00"),
            ("NUMPY:<m8[s]", -7, "-7"),
            ("NUMPY:<M8[Y]", 56, "56"),
            ("NUMPY:<M8[s]", i64::MIN, "NaT"),
        ] {
            let date = DateType::from_tag(tag, 8).unwrap();
            assert_eq!(date.text(&count.to_le_bytes()), text, "{tag} {count}");
        }
        assert_eq!(DateType::from_tag("NUMPY:|V8", 8), None);
        assert_eq!(DateType::from_tag("", 8), None);
    }
}
