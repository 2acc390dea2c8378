use std::io::{self, Write};

use serde::Serialize;

/// A JSON array that is written row by row, one a line.
#[derive(Debug, Default)]
pub(crate) struct JsonArray {
    rows: u64,
}

impl JsonArray {
    /// Adds a row.
    pub(crate) fn push(&mut self, out: &mut impl Write, row: &impl Serialize) -> io::Result<()> {
        out.write_all(if self.rows == 0 { b"[\n" } else { b",\n" })?;
        self.rows += 1;
        Ok(serde_json::to_writer(out, row)?)
    }

    /// Ends the array.
    pub(crate) fn finish(self, out: &mut impl Write) -> io::Result<()> {
        out.write_all(if self.rows == 0 { b"[]\n" } else { b"\n]\n" })?;
        out.flush()
    }
}
