//! `h5strata set-current`: another version becomes the current one.

use crate::args::{Global, SetCurrent, VersionArg};
use crate::failure::{Failure, Reporter};
use crate::lookup;

pub(crate) fn run(
    args: &SetCurrent,
    global: &Global,
    reporter: &mut Reporter,
) -> Result<(), Failure> {
    let mut file = lookup::open_rw(&args.file, global, &args.changes, reporter)?;
    let version = lookup::version(&file, &VersionArg::named(&args.version))?;
    file.set_current(version.name())?;
    Ok(())
}
