//! Timestamps of versions: text in UTC, `%Y-%m-%d %H:%M:%S.%f%z` (format-v4.md, "Tree").

use chrono::{DateTime, NaiveDate, NaiveDateTime, Utc};

/// How the format writes a time.
const FORMAT: &str = "%Y-%m-%d %H:%M:%S%.f%z";

/// The time that a version's attribute holds.
pub(super) fn parse_stored(text: &str) -> Option<DateTime<Utc>> {
    DateTime::parse_from_str(text, FORMAT).ok().map(|time| time.to_utc())
}

/// The text of a time, to the microsecond.
pub(super) fn format_stored(time: DateTime<Utc>) -> String {
    time.format("%Y-%m-%d %H:%M:%S%.6f%z").to_string()
}

/// A time as a user writes it: RFC 3339, the format's own form, or either without a zone, which means
/// UTC; a date alone is its first moment.
pub fn parse_time(text: &str) -> Option<DateTime<Utc>> {
    if let Ok(time) = DateTime::parse_from_rfc3339(text) {
        return Some(time.to_utc());
    }
    if let Some(time) = parse_stored(text) {
        return Some(time);
    }
    for format in
        ["%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M"]
    {
        if let Ok(time) = NaiveDateTime::parse_from_str(text, format) {
            return Some(time.and_utc());
        }
    }
    let date = NaiveDate::parse_from_str(text, "%Y-%m-%d").ok()?;
    Some(date.and_hms_opt(0, 0, 0)?.and_utc())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_text_keeps_microseconds_and_zone() {
        let time = parse_stored("2026-11-30 00:26:56.258784+0000").unwrap();
        assert_eq!(time.timestamp_micros(), 1_795_998_416_258_784);
        assert_eq!(parse_stored("2026-11-30 01:26:56.258784+0100"), Some(time));
        assert_eq!(parse_stored("yesterday"), None);
        assert_eq!(format_stored(time), "2026-11-30 00:26:56.258784+0000");
    }

    #[test]
    fn users_may_leave_out_what_is_clear() {
        let noon = parse_time("2026-11-30T12:00:00Z").unwrap();
        for text in [
            "2026-11-30T13:00:00+01:00",
            "2026-11-30 12:00:00.000000+0000",
            "2026-11-30T12:00:00",
            "2026-11-30 12:00",
        ] {
            assert_eq!(parse_time(text), Some(noon), "{text}");
        }
        assert_eq!(parse_time("2026-11-30").unwrap().to_rfc3339(), "2026-11-30T00:00:00+00:00");
        assert_eq!(parse_time("2026-13-30"), None);
    }
}
