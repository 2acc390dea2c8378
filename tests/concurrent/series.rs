//! Versions `r0`, `r1`, ... of content that their numbers tell. `tests/python/concurrent_reader.py` knows it too.
//!
//! | dataset | in `rN` |
//! |---|---|
//! | `series` | 50 + 3 N integers, each its index: only appended to |
//! | `grid` | 24 x 24; (r, c) is 100 r + c, and 100,000 N more where (r + c) mod 7 = N mod 7: rewritten |
//! | `words` | 20 strings; i is "N:i" where i mod 5 = N mod 5, else "i": rewritten |
//! | `more/K` | 6 integers, all K; every 25th version makes another, from `more/1` in `r25` |
//!
//! After some commits an older version is made the current one.

use h5strata::store::Dataset;
use h5strata::{Error, Selection, StageOptions, Version, VersionedFile};
use ndarray::{Array1, Array2};

/// Number of versions from which on there is one more dataset.
const MORE_EVERY: u64 = 25;

pub(crate) fn name(version: u64) -> String {
    format!("r{version}")
}

pub(crate) fn number(name: &str) -> u64 {
    name.strip_prefix('r').and_then(|digits| digits.parse().ok()).unwrap()
}

fn series(version: u64) -> Array1<i64> {
    (0..50 + 3 * version as i64).collect()
}

fn grid(version: u64) -> Array2<i64> {
    Array2::from_shape_fn((24, 24), |(row, column)| {
        let changed = (row + column) as u64 % 7 == version % 7;
        (row * 100 + column) as i64 + if changed { version as i64 * 100_000 } else { 0 }
    })
}

fn words(version: u64) -> Vec<String> {
    (0..20)
        .map(|at| if at % 5 == version % 5 { format!("{version}:{at}") } else { format!("{at}") })
        .collect()
}

/// The version that is made the current one in a commit of its own, after that of `version`.
fn set_after(version: u64) -> Option<u64> {
    (version % 7 == 3).then_some(version / 2)
}

/// Which versions may be the current one while `newest` is the newest.
pub(crate) fn may_be_current(current: u64, newest: u64) -> bool {
    current == newest || set_after(newest) == Some(current)
}

/// Commits a version to a file that has those before it.
pub(crate) fn commit(file: &mut VersionedFile, version: u64) -> Result<(), Error> {
    let shape = [50 + 3 * version];
    if version == 0 {
        let mut stage = file.stage(&name(0))?;
        stage.create_dataset("series").chunks(&[16]).data(&series(0))?;
        stage.create_dataset("grid").chunks(&[8, 8]).gzip(1).data(&grid(0))?;
        stage.create_dataset("words").chunks(&[4]).strings(&[20], &words(0))?;
        stage.commit()?;
    } else {
        let mut stage =
            StageOptions::new().parent(name(version - 1)).stage(file, &name(version))?;
        let mut appended = stage.dataset_mut("series")?;
        appended.resize(&shape)?;
        let new = (shape[0] - 3..shape[0]).map(|at| at as i64).collect::<Array1<i64>>();
        appended.write(ndarray::s![-3..], &new)?;
        stage.dataset_mut("grid")?.write(Selection::all(), &grid(version))?;
        stage.dataset_mut("words")?.write_strings(Selection::all(), &words(version), &[20])?;
        if version.is_multiple_of(MORE_EVERY) {
            let number = version / MORE_EVERY;
            let values = Array1::from_elem(6, number as i64);
            stage.create_dataset(&format!("more/{number}")).chunks(&[6]).data(&values)?;
        }
        stage.commit()?;
    }
    set_after(version).map_or(Ok(()), |current| file.set_current(&name(current)))
}

/// Checks all that a version holds.
pub(crate) fn check(version: &Version) {
    let number = number(version.name());
    let parent = number.checked_sub(1).map(name);
    assert_eq!(version.parent().unwrap(), parent, "{}", version.name());
    let mut expected = vec!["grid".to_owned(), "series".to_owned(), "words".to_owned()];
    expected.extend((1..=number / MORE_EVERY).map(|more| format!("more/{more}")));
    expected.sort();
    let mut found = version.datasets().unwrap();
    found.sort();
    assert_eq!(found, expected, "{}", version.name());
    for path in &found {
        check_dataset(&version.dataset(path).unwrap());
    }
}

/// Checks a dataset, by its path and its version.
pub(crate) fn check_dataset(dataset: &Dataset) {
    let (path, version) = (dataset.path(), number(dataset.version()));
    let read = || dataset.read::<i64>(Selection::all()).unwrap();
    let expected = match path.strip_prefix("more/") {
        Some(more) => Array1::from_elem(6, more.parse().unwrap()).into_dyn(),
        None if path == "series" => series(version).into_dyn(),
        None if path == "grid" => grid(version).into_dyn(),
        None => {
            let strings = dataset.read_strings(Selection::all()).unwrap();
            assert_eq!(strings.into_raw_vec_and_offset().0, words(version), "{path} in r{version}");
            return;
        }
    };
    assert!(read() == expected, "{path} in r{version}");
}
