use std::env;
use std::ffi::OsStr;

/// Whether files are locked, in the words of libhdf5's environment variable `HDF5_USE_FILE_LOCKING`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LockPolicy {
    /// No locks at all: whoever says so sees to it that nobody writes while others use the file.
    Off,
    /// Locks, except where the file system has none.
    BestEffort,
    /// Locks; a writer on a file system that has none is refused.
    #[default]
    Required,
}

impl LockPolicy {
    /// What `HDF5_USE_FILE_LOCKING` says now, read as libhdf5 does (`H5F__parse_file_lock_env_var`): `FALSE` and `0`
    /// are [`Off`](Self::Off), `BEST_EFFORT` is itself, `TRUE` and `1` are [`Required`](Self::Required), in exactly
    /// these letters. Anything else is as if it were not set. libhdf5 has a default of its own then; ours is this one.
    #[must_use]
    pub fn from_environment() -> Self {
        Self::of_word(env::var_os("HDF5_USE_FILE_LOCKING").as_deref())
    }

    fn of_word(word: Option<&OsStr>) -> Self {
        match word.and_then(OsStr::to_str) {
            Some("FALSE" | "0") => Self::Off,
            Some("BEST_EFFORT") => Self::BestEffort,
            _ => Self::Required,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_mean_what_they_mean_to_libhdf5() {
        let rows = [
            (Some("FALSE"), LockPolicy::Off),
            (Some("0"), LockPolicy::Off),
            (Some("BEST_EFFORT"), LockPolicy::BestEffort),
            (Some("TRUE"), LockPolicy::Required),
            (Some("1"), LockPolicy::Required),
            (Some("false"), LockPolicy::Required),
            (Some("FALSE "), LockPolicy::Required),
            (Some(""), LockPolicy::Required),
            (None, LockPolicy::Required),
        ];
        for (word, policy) in rows {
            assert_eq!(LockPolicy::of_word(word.map(OsStr::new)), policy, "{word:?}");
        }
    }
}
