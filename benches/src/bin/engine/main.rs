//! h5strata as an engine of `scripts/compare`: one JSON request a line on standard input, one JSON answer a
//! line on standard output. The protocol is described in `scripts/python/compare/protocol.py`.

mod checksum;
mod diff;
mod plan;
mod read;
mod read_all;
mod rebuild;
mod request;
mod values;
mod write;

use std::error::Error;
use std::io::{self, BufRead, Write};

use request::Request;
use serde_json::{Value, json};

fn main() -> io::Result<()> {
    let mut output = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let answer = answer(&line?).unwrap_or_else(|error| json!({ "error": error.to_string() }));
        writeln!(output, "{answer}")?;
        output.flush()?;
    }
    Ok(())
}

fn answer(line: &str) -> Result<Value, Box<dyn Error>> {
    match serde_json::from_str(line)? {
        Request::Read(request) => read::answer(&request),
        Request::ReadAll(request) => read_all::answer(&request),
        Request::Diff(request) => diff::answer(&request),
        Request::Plan(request) => plan::answer(&request),
        Request::Write(request) => write::answer(&request),
        Request::Delete(request) => rebuild::delete(&request),
        Request::Repack(request) => rebuild::repack(&request),
    }
}
