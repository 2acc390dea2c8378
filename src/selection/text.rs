//! Selections as NumPy writes them between brackets: `0:10, ::2, [1, 5, 9], ..., -1`.

use std::fmt;
use std::str::FromStr;

use super::{AxisSelection, Kind, ParseError, Selection};

impl FromStr for Selection {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let mut parser = Parser { text, rest: text };
        let mut axes = Vec::new();
        parser.skip_spaces();
        while !parser.rest.is_empty() {
            axes.push(parser.axis()?);
            if !parser.eat(",") && !parser.rest.is_empty() {
                return Err(parser.error("',' or the end"));
            }
        }
        if axes.is_empty() {
            return Err(parser.error("an index, a slice, a list or '...'"));
        }
        Ok(Self::axes(axes))
    }
}

struct Parser<'t> {
    text: &'t str,
    rest: &'t str,
}

impl Parser<'_> {
    fn axis(&mut self) -> Result<AxisSelection, ParseError> {
        if self.eat("...") {
            return Ok(AxisSelection::Ellipsis);
        }
        if self.eat("[") {
            return self.list();
        }
        let start = self.integer()?;
        if !self.eat(":") {
            return match start {
                Some(index) => Ok(AxisSelection::Index(index)),
                None => Err(self.error("an index, a slice, a list or '...'")),
            };
        }
        let stop = self.integer()?;
        let step = if self.eat(":") { self.integer()? } else { None };
        Ok(AxisSelection::Slice { start, stop, step: step.unwrap_or(1) })
    }

    /// What follows `[`: indices, or a mask of `True` and `False`.
    fn list(&mut self) -> Result<AxisSelection, ParseError> {
        if let Some(first) = self.boolean() {
            let mut mask = vec![first];
            while self.another()? {
                mask.push(self.boolean().ok_or_else(|| self.error("True or False"))?);
            }
            return Ok(AxisSelection::Mask(mask));
        }
        let mut indices = Vec::new();
        if !self.eat("]") {
            loop {
                indices.push(self.integer()?.ok_or_else(|| self.error("an index"))?);
                if !self.another()? {
                    break;
                }
            }
        }
        Ok(AxisSelection::Indices(indices))
    }

    /// Whether the list goes on: eats `,` or `]`, and both of `,]`.
    fn another(&mut self) -> Result<bool, ParseError> {
        if self.eat("]") {
            return Ok(false);
        }
        if !self.eat(",") {
            return Err(self.error("',' or ']'"));
        }
        Ok(!self.eat("]"))
    }

    fn boolean(&mut self) -> Option<bool> {
        if self.eat("True") || self.eat("true") {
            Some(true)
        } else if self.eat("False") || self.eat("false") {
            Some(false)
        } else {
            None
        }
    }

    fn integer(&mut self) -> Result<Option<i64>, ParseError> {
        let signed = self.rest.trim_start_matches(['-', '+']);
        let sign = self.rest.len() - signed.len();
        let digits = signed.len() - signed.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        if sign == 0 && digits == 0 {
            return Ok(None);
        }
        let (number, rest) = self.rest.split_at(sign + digits);
        let value = number.parse().map_err(|_| self.error("a 64-bit integer"))?;
        self.rest = rest;
        self.skip_spaces();
        Ok(Some(value))
    }

    fn eat(&mut self, token: &str) -> bool {
        let Some(rest) = self.rest.strip_prefix(token) else {
            return false;
        };
        self.rest = rest;
        self.skip_spaces();
        true
    }

    fn skip_spaces(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn error(&self, expected: &'static str) -> ParseError {
        let before = &self.text[..self.text.len() - self.rest.len()];
        ParseError { text: self.text.to_owned(), position: before.chars().count() + 1, expected }
    }
}

impl fmt::Display for Selection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::Axes(axes) => write_list(f, axes),
            Kind::Points { rank, coordinates } => {
                write!(f, "{} points of {rank} axes", coordinates.len() / rank)
            }
            Kind::Mask { shape, .. } => write!(f, "mask of shape {shape:?}"),
        }
    }
}

impl fmt::Display for AxisSelection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Index(index) => index.fmt(f),
            Self::Slice { start, stop, step } => {
                write_bound(f, *start)?;
                f.write_str(":")?;
                write_bound(f, *stop)?;
                if *step == 1 { Ok(()) } else { write!(f, ":{step}") }
            }
            Self::Indices(indices) => {
                f.write_str("[")?;
                write_list(f, indices)?;
                f.write_str("]")
            }
            Self::Mask(mask) => {
                f.write_str("[")?;
                write_list(f, mask.iter().map(|&chosen| if chosen { "True" } else { "False" }))?;
                f.write_str("]")
            }
            Self::Ellipsis => f.write_str("..."),
            Self::NewAxis => f.write_str("None"),
        }
    }
}

fn write_bound(f: &mut fmt::Formatter<'_>, bound: Option<i64>) -> fmt::Result {
    bound.map_or(Ok(()), |bound| write!(f, "{bound}"))
}

fn write_list<T: fmt::Display>(
    f: &mut fmt::Formatter<'_>,
    items: impl IntoIterator<Item = T>,
) -> fmt::Result {
    for (position, item) in items.into_iter().enumerate() {
        if position > 0 {
            f.write_str(", ")?;
        }
        item.fmt(f)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_round_trips() {
        for text in [
            "0",
            "-1",
            ":",
            "...",
            "0:10",
            "::2",
            "5::-1",
            ":-3",
            "[1, 5, 9]",
            "[]",
            "[True, False]",
            "0:10, ::2, [1, 5, 9], ..., -1",
        ] {
            assert_eq!(text.parse::<Selection>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn spaces_and_trailing_commas_are_free() {
        let selection: Selection = " 0 : 10 ,[ 1,2 ,] , ".parse().unwrap();
        assert_eq!(selection.to_string(), "0:10, [1, 2]");
    }

    #[test]
    fn faults_are_placed() {
        for (text, position, expected) in [
            ("", 1, "an index, a slice, a list or '...'"),
            ("0:10 3", 6, "',' or the end"),
            ("0, x", 4, "an index, a slice, a list or '...'"),
            ("[1 2]", 4, "',' or ']'"),
            ("[1, x]", 5, "an index"),
            ("[True, 1]", 8, "True or False"),
            ("99999999999999999999", 1, "a 64-bit integer"),
            ("--1", 1, "a 64-bit integer"),
            ("ä", 1, "an index, a slice, a list or '...'"),
        ] {
            let error = text.parse::<Selection>().unwrap_err();
            assert_eq!((error.position, error.expected), (position, expected), "{text:?}");
        }
    }
}
