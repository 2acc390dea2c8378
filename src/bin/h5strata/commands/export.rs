//! `h5strata export`: one version as a plain HDF5 file.

use h5strata::store::ExportOptions;

use crate::args::{Export, Global, VersionArg};
use crate::failure::{Failure, Reporter};
use crate::lookup;
use crate::output::Steps;

pub(crate) fn run(args: &Export, global: &Global, reporter: &mut Reporter) -> Result<(), Failure> {
    let file = lookup::open(&args.file, global, reporter)?;
    let version = lookup::version(&file, &VersionArg::named(&args.version))?;
    if lookup::is_same_file(&args.file, &args.out) {
        return Err(Failure::OutputIsInput { target: args.out.clone() });
    }
    let steps = Steps::default();
    let options = ExportOptions::new().overwrite(args.force).on_progress(steps.listener());
    let report = version.export(&args.out, &options);
    steps.end();
    for left in &report?.not_carried {
        reporter.warning(&format_args!("not carried: {left}"));
    }
    Ok(())
}
