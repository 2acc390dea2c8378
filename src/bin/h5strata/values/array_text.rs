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

/// An array to print: the elements that are shown, in C order.
#[derive(Debug)]
pub(crate) struct ArrayText<'a> {
    /// Elements shown along each axis.
    pub(crate) shown: &'a [usize],
    /// Whether the middle of the axis is left out.
    pub(crate) elided: &'a [bool],
    /// The elements.
    pub(crate) elements: &'a [&'a [u8]],
    /// How they are printed.
    pub(crate) column: &'a Column,
}

/// The row that is being filled.
struct Row {
    line: String,
    width: usize,
    /// Blanks in front of a line.
    hanging: usize,
}

impl ArrayText<'_> {
    /// Writes the array and ends the line.
    pub(crate) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        if self.shown.contains(&0) {
            return writeln!(out, "[]");
        }
        self.write_axis(out, 0, 0)?;
        writeln!(out)
    }

    /// Writes what lies below an axis, from the element at `first`.
    fn write_axis(&self, out: &mut impl Write, axis: usize, first: usize) -> io::Result<()> {
        let rank = self.shown.len();
        if axis == rank {
            return out.write_all(self.word(first).as_bytes());
        }
        if axis + 1 == rank {
            return self.write_row(out, first);
        }
        let below: usize = self.shown[axis + 1..].iter().product();
        let separator = "\n".repeat(rank - axis - 1);
        let indent = axis + 1;
        out.write_all(b"[")?;
        for item in 0..self.shown[axis] {
            if item > 0 {
                write!(out, "{separator}{:indent$}", "")?;
            }
            if self.is_elided_before(axis, item) {
                write!(out, "{ELISION}{separator}{:indent$}", "")?;
            }
            self.write_axis(out, axis + 1, first + item * below)?;
        }
        out.write_all(b"]")
    }

    /// Writes one row between brackets, in as many lines as it needs.
    fn write_row(&self, out: &mut impl Write, first: usize) -> io::Result<()> {
        let axis = self.shown.len() - 1;
        // Each bracket that may have to be closed on the line takes one character away from it.
        let width = LINE - self.shown.len().min(LINE);
        let mut row = Row { line: String::new(), width: axis + 1, hanging: axis + 1 };
        out.write_all(b"[")?;
        for item in 0..self.shown[axis] {
            if self.is_elided_before(axis, item) {
                row.add(out, ELISION, width)?;
                row.space();
            }
            let last = item + 1 == self.shown[axis];
            // The last word needs no room for what would separate it from the next.
            row.add(out, &self.word(first + item), if last { width + 1 } else { width })?;
            if !last {
                row.space();
            }
        }
        write!(out, "{}]", row.line)
    }

    fn word(&self, element: usize) -> String {
        self.elements.get(element).map_or_else(String::new, |bytes| self.column.format(bytes))
    }

    fn is_elided_before(&self, axis: usize, item: usize) -> bool {
        self.elided[axis] && item as u64 == EDGE
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
