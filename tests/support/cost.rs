//! What reading has cost.

use h5strata::VersionedFile;
use h5strata::raw::IoCounts;

/// What `look` adds to the counts of a file.
pub(crate) fn cost<T>(file: &VersionedFile, look: impl FnOnce() -> T) -> (T, IoCounts) {
    let before = file.io_counts();
    let outcome = look();
    let after = file.io_counts();
    let counts = IoCounts {
        preads: after.preads - before.preads,
        bytes: after.bytes - before.bytes,
        library_reads: after.library_reads - before.library_reads,
    };
    (outcome, counts)
}
