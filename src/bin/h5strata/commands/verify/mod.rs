//! `h5strata verify`: whether a file is sound.

mod row;

use std::io::Write;

use anstyle::{AnsiColor, Style};
use h5strata::store::Severity;
use h5strata::{VerifyOptions, VerifyReport};
use serde::Serialize;

use self::row::Row;
use crate::args::{Global, Verify};
use crate::failure::{Failure, Reporter};
use crate::lookup;
use crate::output::{self, STRONG, Steps, visible};

/// What `--json` prints.
#[derive(Debug, Serialize)]
struct Summary<'r> {
    sound: bool,
    quick: bool,
    versions: u64,
    datasets: u64,
    chunks: u64,
    bytes: u64,
    findings: Vec<Row<'r>>,
}

pub(crate) fn run(args: &Verify, global: &Global, reporter: &mut Reporter) -> Result<(), Failure> {
    let file = lookup::open(&args.file, global, reporter)?;
    let steps = Steps::default();
    let options = VerifyOptions::new().quick(args.quick).on_progress(steps.listener());
    let report = file.verify(&options);
    steps.end();
    let report = report?;
    if !report.is_sound() {
        reporter.difference();
    }
    let mut out = output::screen();
    if args.json {
        let VerifyReport { versions, datasets, chunks, bytes, .. } = report;
        let findings = report.findings.iter().map(Row::of).collect();
        let (sound, quick) = (report.is_sound(), args.quick);
        let summary = Summary { sound, quick, versions, datasets, chunks, bytes, findings };
        serde_json::to_writer_pretty(&mut out, &summary).map_err(std::io::Error::from)?;
        writeln!(out)?;
    } else {
        for finding in &report.findings {
            let (name, style) = severity(finding.severity());
            // A message of several lines is one finding all the same.
            let text = finding.to_string();
            let line = text.lines().map(str::trim).collect::<Vec<_>>().join(" ");
            writeln!(out, "{style}{name}{style:#}  {}", visible(&line))?;
        }
        write_sum(&mut out, &report, args.quick)?;
    }
    out.flush()?;
    Ok(())
}

fn severity(severity: Severity) -> (&'static str, Style) {
    match severity {
        Severity::Damage => ("damage", AnsiColor::Red.on_default().bold()),
        Severity::Remark => ("remark", AnsiColor::Yellow.on_default()),
    }
}

fn write_sum(out: &mut impl Write, report: &VerifyReport, quick: bool) -> std::io::Result<()> {
    let verdict = match report.damage().count() {
        0 if quick => "sound in structure".to_owned(),
        0 => "sound".to_owned(),
        count => format!("{count} damaged"),
    };
    let looked = [
        counted(report.versions, "version"),
        counted(report.datasets, "dataset"),
        counted(report.chunks, "stored chunk"),
    ];
    let read = if quick { "not read".to_owned() } else { format!("{} bytes", report.bytes) };
    writeln!(out, "{STRONG}{verdict}{STRONG:#}: {}, {read}", looked.join(", "))
}

fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
