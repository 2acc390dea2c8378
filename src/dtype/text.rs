//! A cursor over the text of an element type.

use super::parse::ParseDtypeError;

/// What is left of a text.
pub(super) struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    /// A cursor at the start.
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// The next character behind spaces, which stays.
    pub(super) fn peek(&mut self) -> Option<char> {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
        self.text[self.at..].chars().next()
    }

    /// Takes a character, if it is the next one.
    pub(super) fn take(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        self.at += if found { wanted.len_utf8() } else { 0 };
        found
    }

    /// Takes a character that must come.
    pub(super) fn expect(
        &mut self,
        wanted: char,
        what: &'static str,
    ) -> Result<(), ParseDtypeError> {
        if self.take(wanted) { Ok(()) } else { Err(self.unexpected(what)) }
    }

    /// A text in single or double quotes, without escapes.
    pub(super) fn quoted(&mut self) -> Result<&'a str, ParseDtypeError> {
        let quote = match self.peek() {
            Some(quote @ ('\'' | '"')) => quote,
            _ => return Err(self.unexpected("a name in quotes")),
        };
        let start = self.at + 1;
        let len = self.text[start..].find(quote);
        let len = len.ok_or_else(|| self.unexpected("a closing quote"))?;
        self.at = start + len + 1;
        Ok(&self.text[start..start + len])
    }

    /// A number without a sign.
    pub(super) fn number(&mut self) -> Result<u64, ParseDtypeError> {
        self.peek();
        let rest = &self.text[self.at..];
        let digits =
            &rest[..rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len()];
        let number = digits.parse().map_err(|_| self.unexpected("a number"))?;
        self.at += digits.len();
        Ok(number)
    }

    /// The error that something else stands here.
    pub(super) fn unexpected(&self, expected: &'static str) -> ParseDtypeError {
        ParseDtypeError::Syntax { text: self.text.to_owned(), position: self.at, expected }
    }
}
