//! Where results go: the terminal, a file, and how far a long read has come.

mod bars;
mod graph;
mod json;
mod progress;
mod table;
mod target;

use std::borrow::Cow;
use std::io::BufWriter;

use anstyle::Style;

pub(crate) use bars::add_bars;
pub(crate) use graph::Graph;
pub(crate) use json::JsonArray;
pub(crate) use progress::{Countdown, Progress, Steps};
pub(crate) use table::{Cell, Table};
pub(crate) use target::Target;

/// What stands out in a listing.
pub(crate) const STRONG: Style = Style::new().bold();

/// Standard output for listings: colours only on a terminal that wants them (`NO_COLOR` and the like).
pub(crate) fn screen() -> BufWriter<anstream::Stdout> {
    BufWriter::new(anstream::stdout())
}

/// A name from a file without what a terminal would obey: control characters are escaped.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    if !text.chars().any(char::is_control) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        if character.is_control() {
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    Cow::Owned(shown)
}

/// A shape as Python writes it: a comma after a single axis.
pub(crate) fn tuple(axes: &[u64]) -> String {
    let texts: Vec<String> = axes.iter().map(u64::to_string).collect();
    format!("({}{})", texts.join(", "), if axes.len() == 1 { "," } else { "" })
}

/// A box of elements as a selection of it is written.
pub(crate) fn block(start: &[u64], stop: &[u64]) -> String {
    let axes = start.iter().zip(stop).map(|(start, stop)| format!("{start}:{stop}"));
    format!("[{}]", axes.collect::<Vec<_>>().join(", "))
}

/// A time as listings show it: UTC, as precise as it was stored.
pub(crate) fn time(time: &chrono::DateTime<chrono::Utc>) -> String {
    time.to_rfc3339_opts(chrono::SecondsFormat::AutoSi, true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        assert_eq!(visible("equity/close"), "equity/close");
        assert_eq!(visible("a\x1b[31mb\n"), "a\\u{1b}[31mb\\n");
    }

    #[test]
    fn shapes_are_pythons() {
        assert_eq!([tuple(&[]), tuple(&[3]), tuple(&[3, 4])], ["()", "(3,)", "(3, 4)"]);
    }
}
