//! `h5strata init`: a versioned file without versions.

use crate::args::{Global, Init};
use crate::failure::{Failure, Reporter};
use crate::lookup;

pub(crate) fn run(args: &Init, global: &Global, _: &mut Reporter) -> Result<(), Failure> {
    lookup::writing(global, &args.changes).create(&args.file)?;
    Ok(())
}
