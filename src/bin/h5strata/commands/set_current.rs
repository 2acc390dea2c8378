//! `h5strata set-current`: another version becomes the current one.

use crate::args::{Global, SetCurrent, VersionArg};
use crate::failure::{Failure, Reporter};
use crate::lookup;

pub(crate) fn run(args: &SetCurrent, global: &Global, _: &mut Reporter) -> Result<(), Failure> {
    let mut file = lookup::writing(global, &args.changes).open_rw(&args.file)?;
    let version = lookup::version(&file, &VersionArg::named(&args.version))?;
    file.set_current(version.name())?;
    Ok(())
}
