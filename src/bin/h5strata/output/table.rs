use std::io::{self, Write};

use anstyle::Style;
use unicode_width::UnicodeWidthStr;

use super::{STRONG, visible};

/// Spaces between columns.
const GAP: usize = 2;

/// One field of a [`Table`].
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    text: String,
    style: Style,
}

impl Cell {
    /// A field in a style. What a terminal would obey is escaped.
    pub(crate) fn styled(text: &str, style: Style) -> Self {
        Self { text: visible(text).into_owned(), style }
    }

    /// A field.
    pub(crate) fn new(text: &str) -> Self {
        Self::styled(text, Style::new())
    }
}

/// Columns that are as wide as their widest field.
#[derive(Debug, Default)]
pub(crate) struct Table {
    rows: Vec<Vec<Cell>>,
}

impl Table {
    /// A table whose first row names the columns.
    pub(crate) fn with_header(header: &[&str]) -> Self {
        Self { rows: vec![header.iter().map(|name| Cell::styled(name, STRONG)).collect()] }
    }

    /// Adds a row.
    pub(crate) fn push(&mut self, row: impl IntoIterator<Item = Cell>) {
        self.rows.push(row.into_iter().collect());
    }

    /// Adds a field to each row behind the header.
    pub(crate) fn append(&mut self, cells: impl IntoIterator<Item = Cell>) {
        for (row, cell) in self.rows.iter_mut().skip(1).zip(cells) {
            row.push(cell);
        }
    }

    /// Where a further column would begin, `indent` spaces in front of the rows.
    pub(crate) fn width(&self, indent: usize) -> usize {
        self.widths().iter().map(|width| width + GAP).sum::<usize>() + indent
    }

    fn widths(&self) -> Vec<usize> {
        let mut widths: Vec<usize> = Vec::new();
        for row in &self.rows {
            widths.resize(widths.len().max(row.len()), 0);
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.text.width());
            }
        }
        widths
    }

    /// Writes the rows, `indent` spaces in front of each.
    pub(crate) fn write(&self, out: &mut impl Write, indent: usize) -> io::Result<()> {
        let widths = self.widths();
        for row in &self.rows {
            // Nothing but line ends follows the last field that holds something.
            let used = row.iter().rposition(|cell| !cell.text.is_empty()).map_or(0, |at| at + 1);
            let mut spaces = indent;
            for (cell, width) in row[..used].iter().zip(&widths) {
                let style = cell.style;
                write!(out, "{:spaces$}{style}{}{style:#}", "", cell.text)?;
                spaces = width - cell.text.width() + GAP;
            }
            writeln!(out)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_in_the_terminals_cells() {
        let mut table = Table::default();
        for row in [["a", "b", ""], ["日本", "", "c"]] {
            table.push(row.map(Cell::new));
        }
        let mut out = Vec::new();
        table.write(&mut out, 1).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), " a     b\n 日本     c\n");
    }
}
