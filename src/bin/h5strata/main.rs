//! `h5strata`: lists, reads, compares and commits versioned arrays in HDF5 files.

mod args;
mod commands;
mod failure;
mod lookup;
mod ops;
mod output;
mod read;
mod values;

use std::process::ExitCode;

use clap::Parser;

use args::{Cli, Command};
use failure::Reporter;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let mut reporter = Reporter::default();
    let outcome = match &cli.command {
        Command::Log(args) => commands::log::run(args, &cli.global, &mut reporter),
        Command::Ls(args) => commands::ls::run(args, &cli.global, &mut reporter),
        Command::Info(args) => commands::info::run(args, &cli.global, &mut reporter),
        Command::Read(args) => commands::read::run(args, &cli.global, &mut reporter),
        Command::Digest(args) => commands::digest::run(args, &cli.global, &mut reporter),
        Command::Diff(args) => commands::diff::run(args, &cli.global, &mut reporter),
        Command::Blame(args) => commands::blame::run(args, &cli.global, &mut reporter),
        Command::Verify(args) => commands::verify::run(args, &cli.global, &mut reporter),
        Command::Stats(args) => commands::stats::run(args, &cli.global, &mut reporter),
        Command::Init(args) => commands::init::run(args, &cli.global, &mut reporter),
        Command::Commit(args) => commands::commit::run(args, &cli.global, &mut reporter),
        Command::Delete(args) => commands::delete::run(args, &cli.global, &mut reporter),
        Command::Repack(args) => commands::repack::run(args, &cli.global, &mut reporter),
        Command::Export(args) => commands::export::run(args, &cli.global, &mut reporter),
        Command::Recover(args) => commands::recover::run(args, &cli.global, &mut reporter),
        Command::Rewrite(args) => commands::rewrite::run(args, &cli.global, &mut reporter),
        Command::Upgrade(args) => commands::upgrade::run(args, &cli.global, &mut reporter),
        Command::SetCurrent(args) => commands::set_current::run(args, &cli.global, &mut reporter),
    };
    reporter.finish(outcome)
}
