//! An array as NumPy prints it.

use std::io::{self, Write};

use super::Column;

/// Elements from which only the edges of an array are shown (NumPy's print option `threshold`).
pub(crate) const THRESHOLD: u64 = 1000;

/// Elements shown at each end of an axis that is cut (NumPy's print option `edgeitems`).
pub(crate) const EDGE: u64 = 3;

/// Characters in a line (NumPy's print option `linewidth`).
const LINE: usize = 75;

/// What stands for the elements that are not shown.
const ELISION: &str = "...";

/// Prints an array whose elements come one by one, in C order.
#[derive(Debug)]
pub(crate) struct ArrayWriter<'a> {
    column: &'a Column,
    /// Elements shown along each axis, of which there is at least one.
    shown: Vec<u64>,
    /// Whether the middle of the axis is left out.
    elided: Vec<bool>,
    /// Where the next element belongs.
    next: Vec<u64>,
    row: Row,
}

/// The row that is being filled.
#[derive(Debug)]
struct Row {
    line: String,
    width: usize,
    /// Blanks in front of a line.
    hanging: usize,
}

impl<'a> ArrayWriter<'a> {
    /// A writer for an array of at least one axis, each with the number of elements that are shown and whether its
    /// middle is left out.
    pub(crate) fn new(column: &'a Column, axes: impl IntoIterator<Item = (u64, bool)>) -> Self {
        let (shown, elided): (Vec<u64>, Vec<bool>) = axes.into_iter().unzip();
        let row = Row { line: String::new(), width: 0, hanging: shown.len() };
        Self { column, next: vec![0; shown.len()], shown, elided, row }
    }

    /// Writes the next element.
    pub(crate) fn push(&mut self, out: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
        let Some(last) = self.shown.len().checked_sub(1) else { return Ok(()) };
        if self.next[last] == 0 {
            self.open(out)?;
        }
        // Each bracket that may have to be closed on the line takes one character away from it.
        let width = LINE - self.shown.len().min(LINE);
        if self.is_elided_before(last) {
            self.row.add(out, ELISION, width)?;
            self.row.space();
        }
        let is_last = self.next[last] + 1 == self.shown[last];
        // The last word needs no room for what would separate it from the next.
        let width = if is_last { width + 1 } else { width };
        self.row.add(out, &self.column.format(bytes), width)?;
        if is_last {
            out.write_all(self.row.line.as_bytes())?;
        } else {
            self.row.space();
        }
        self.advance(out)
    }

    /// Ends the array and the line.
    pub(crate) fn finish(self, out: &mut impl Write) -> io::Result<()> {
        // Without elements nothing has opened or closed a bracket.
        writeln!(out, "{}", if self.shown.contains(&0) { "[]" } else { "" })
    }

    /// Separates a row from the one before and opens the brackets of all axes that begin with it.
    fn open(&mut self, out: &mut impl Write) -> io::Result<()> {
        let rank = self.shown.len();
        let begun = self.next.iter().rposition(|&item| item > 0).map_or(0, |axis| axis + 1);
        if let Some(axis) = begun.checked_sub(1) {
            let separator = "\n".repeat(rank - begun);
            write!(out, "{separator}{:begun$}", "")?;
            if self.is_elided_before(axis) {
                write!(out, "{ELISION}{separator}{:begun$}", "")?;
            }
        }
        self.row.line.clear();
        self.row.width = rank;
        out.write_all("[".repeat(rank - begun).as_bytes())
    }

    /// Closes the brackets of all axes that end with the element, and moves to the next.
    fn advance(&mut self, out: &mut impl Write) -> io::Result<()> {
        for axis in (0..self.shown.len()).rev() {
            self.next[axis] += 1;
            if self.next[axis] < self.shown[axis] {
                break;
            }
            self.next[axis] = 0;
            out.write_all(b"]")?;
        }
        Ok(())
    }

    fn is_elided_before(&self, axis: usize) -> bool {
        self.elided[axis] && self.next[axis] == EDGE
    }
}

impl Row {
    /// Adds a word, on a line of its own if this one is full.
    fn add(&mut self, out: &mut impl Write, word: &str, limit: usize) -> io::Result<()> {
        let width = word.chars().count();
        if self.width > self.hanging && self.width + width > limit {
            writeln!(out, "{}", self.line.trim_end())?;
            self.line = " ".repeat(self.hanging);
            self.width = self.hanging;
        }
        self.line.push_str(word);
        self.width += width;
        Ok(())
    }

    fn space(&mut self) {
        self.line.push(' ');
        self.width += 1;
    }
}
