//! `h5strata verify`: whether a file is sound.

mod repair;
mod row;

use std::io::Write;

use anstyle::{AnsiColor, Style};
use h5strata::store::{Repair, Severity};
use h5strata::{RepairOptions, RepairReport, VerifyOptions, VerifyReport};
use serde::Serialize;

use self::repair::RepairRow;
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
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    done: Option<Done<'r>>,
}

/// What `--repair` adds to it.
#[derive(Debug, Serialize)]
struct Done<'r> {
    upgraded_from: Option<i64>,
    repairs: Vec<RepairRow<'r>>,
}

/// What was done, and found then.
struct Outcome {
    report: VerifyReport,
    /// With `--repair`.
    repairs: Option<Vec<Repair>>,
    upgraded_from: Option<i64>,
}

pub(crate) fn run(args: &Verify, global: &Global, reporter: &mut Reporter) -> Result<(), Failure> {
    let outcome =
        if args.repair { repair(args, global, reporter)? } else { verify(args, global, reporter)? };
    let Outcome { report, repairs, upgraded_from } = &outcome;
    if !report.is_sound() {
        reporter.difference();
    }
    let mut out = output::screen();
    if args.json {
        let VerifyReport { versions, datasets, chunks, bytes, .. } = *report;
        let findings = report.findings.iter().map(Row::of).collect();
        let (sound, quick) = (report.is_sound(), args.quick);
        let done = repairs.as_ref().map(|repairs| {
            let repairs = repairs.iter().map(RepairRow::of).collect();
            Done { upgraded_from: *upgraded_from, repairs }
        });
        let summary = Summary { sound, quick, versions, datasets, chunks, bytes, findings, done };
        serde_json::to_writer_pretty(&mut out, &summary).map_err(std::io::Error::from)?;
        writeln!(out)?;
    } else {
        let style = AnsiColor::Green.on_default().bold();
        for repair in repairs.iter().flatten() {
            write_line(&mut out, ("repaired", style), &repair.to_string())?;
        }
        for finding in &report.findings {
            write_line(&mut out, severity(finding.severity()), &finding.to_string())?;
        }
        write_sum(&mut out, report, args.quick)?;
    }
    out.flush()?;
    Ok(())
}

fn verify(args: &Verify, global: &Global, reporter: &Reporter) -> Result<Outcome, Failure> {
    let file = lookup::open(&args.file, global, reporter)?;
    let steps = Steps::default();
    let options = VerifyOptions::new().quick(args.quick).on_progress(steps.listener());
    let report = file.verify(&options);
    steps.end();
    Ok(Outcome { report: report?, repairs: None, upgraded_from: None })
}

fn repair(args: &Verify, global: &Global, reporter: &Reporter) -> Result<Outcome, Failure> {
    let mut file = lookup::open_rw(&args.file, global, &args.changes, reporter)?;
    let steps = Steps::default();
    let options =
        RepairOptions::new().accept_chunks(args.accept_chunks).on_progress(steps.listener());
    let report = file.repair(&options);
    steps.end();
    let RepairReport { repairs, remaining: report, .. } = report?;
    let upgraded_from = file.upgraded().map(|upgraded| upgraded.from);
    Ok(Outcome { report, repairs: Some(repairs), upgraded_from })
}

/// One line, also of a message of several.
fn write_line(
    out: &mut impl Write,
    (name, style): (&str, Style),
    text: &str,
) -> std::io::Result<()> {
    let line = text.lines().map(str::trim).collect::<Vec<_>>().join(" ");
    writeln!(out, "{style}{name}{style:#}  {}", visible(&line))
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
