//! What a commit outlives.

/// What a commit outlives once it has returned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Durability {
    /// A loss of power and a crash of the system: data, journal and directory are synced (`fsync`, `fdatasync`) in the
    /// order that leaves the old or the new content at any moment.
    #[default]
    Full,
    /// The end of the process, however it comes: the same writes in the same order, and nothing is synced. A loss of power
    /// may leave a file that is neither the old nor the new one.
    Process,
}
