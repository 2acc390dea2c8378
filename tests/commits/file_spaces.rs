//! Files whose space is managed in the ways that HDF5 has are continued, by libhdf5's lists of mappings where only it
//! can.

use std::path::{Path, PathBuf};

use chrono::DateTime;
use h5strata::store::Attribute;
use h5strata::{OpenOptions, RawPath, Selection, StageOptions, VersionedFile};
use ndarray::{Array1, Array2, s};

use crate::support::{Outcome, made};
use crate::{Scratch, read, read_strings};

/// As `tests/python/file_spaces.py` has them.
const ROWS: u64 = 40;
const COLUMNS: u64 = 50;
const NAMES: u64 = 10;

/// Kinds of files, and whether libhdf5 has to write their lists of mappings.
const KINDS: [(&str, bool); 10] = [
    ("plain", false),
    ("newest", false),
    ("user-block", false),
    ("aggregate", false),
    ("none", false),
    ("kept", true),
    ("kept-newest", true),
    ("pages", true),
    ("pages-kept", true),
    ("pages-user-block", true),
];

fn number(row: u64, column: u64) -> i64 {
    (row * 1000 + column) as i64
}

fn numbers(rows: u64) -> Array2<i64> {
    Array2::from_shape_fn((rows as usize, COLUMNS as usize), |(row, column)| {
        number(row as u64, column as u64)
    })
}

fn changed(version: u64) -> Array2<i64> {
    let mut values = numbers(ROWS + version);
    (1..=version).for_each(|number| values.row_mut(number as usize).fill(-(number as i64)));
    values
}

fn names(version: u64) -> Vec<String> {
    let mut names: Vec<String> = (0..NAMES).map(|number| format!("name {number}")).collect();
    (1..=version).for_each(|number| {
        names[(number % NAMES) as usize] = format!("name of version {number}");
    });
    names
}

/// Adds a version to those before it.
fn add(file: &mut VersionedFile, version: u64) -> Result<(), h5strata::Error> {
    let options = StageOptions::new().timestamp(DateTime::UNIX_EPOCH);
    let mut stage = options.stage(file, &format!("r{version}"))?;
    let mut changed = stage.dataset_mut("changed")?;
    changed.resize(&[ROWS + version, COLUMNS])?;
    changed.write_scalar(s![version as usize, ..], -(version as i64))?;
    let last = ROWS + version - 1;
    changed
        .write(s![last as usize, ..], &Array1::from_iter((0..COLUMNS).map(|c| number(last, c))))?;
    let at = version % NAMES;
    let selection: Selection = at.to_string().parse().unwrap();
    stage.dataset_mut("names")?.write_strings(selection, &[&names(version)[at as usize]], &[])?;
    stage.set_attribute("changed", Attribute::number("version", version as i64))?;
    stage.commit().map(|_| ())
}

fn holds(file: &VersionedFile, count: u64, what: &str) {
    assert_eq!(file.versions().unwrap().len() as u64, count, "{what}");
    for version in 0..count {
        let name = format!("r{version}");
        assert_eq!(read(file, &name, "changed"), changed(version).into_dyn(), "{what}: {name}");
        assert_eq!(read(file, &name, "kept"), numbers(ROWS).into_dyn(), "{what}: {name}");
        assert_eq!(read_strings(file, &name, "names"), names(version), "{what}: {name}");
    }
}

/// Checks everything in the files of a folder, by every reader.
fn check(folder: &Path, count: u64) -> Outcome {
    for (kind, _) in KINDS {
        for raw_path in [RawPath::Auto, RawPath::Library] {
            let file = OpenOptions::new().raw_path(raw_path).open(file_of(folder, kind))?;
            holds(&file, count, kind);
        }
    }
    made::file_spaces("check", folder, &[&count.to_string()])?;
    Ok(())
}

fn file_of(folder: &Path, kind: &str) -> PathBuf {
    folder.join(kind).with_extension("h5")
}

#[test]
fn files_of_every_kind_are_continued_by_us_and_by_versioned_hdf5_in_turn() -> Outcome {
    let folder = tempfile::tempdir()?;
    let folder = folder.path();
    made::file_spaces("make", folder, &[])?;
    for (kind, _) in KINDS {
        let mut file = VersionedFile::open_rw(file_of(folder, kind))?;
        add(&mut file, 2)?;
        add(&mut file, 3)?;
        holds(&file, 4, kind);
    }
    check(folder, 4)?;
    made::file_spaces("continue", folder, &["4"])?;
    for (kind, _) in KINDS {
        let mut file = VersionedFile::open_rw(file_of(folder, kind))?;
        holds(&file, 5, kind);
        add(&mut file, 5)?;
    }
    check(folder, 6)
}

/// A list was put at the end of a file in which the end is not where space is taken from.
#[test]
fn lists_are_left_to_libhdf5_where_space_is_kept_or_in_pages_and_nowhere_else() -> Outcome {
    let folder = tempfile::tempdir()?;
    let folder = folder.path();
    made::file_spaces("make", folder, &[])?;
    for (kind, is_left) in KINDS {
        let ours = file_of(folder, kind);
        let theirs = Scratch::copy_of(&ours);
        add(&mut VersionedFile::open_rw(&ours)?, 2)?;
        let mut by_library = OpenOptions::new().library_mappings(true).open_rw(&theirs.path)?;
        add(&mut by_library, 2)?;
        assert_eq!(std::fs::read(ours)? == theirs.bytes(), is_left, "{kind}");
        holds(&VersionedFile::open(&theirs.path)?, 3, kind);
    }
    Ok(())
}

#[test]
fn room_that_known_chunks_do_not_need_is_taken_back_in_files_of_every_kind() -> Outcome {
    // More than go through the stages together.
    const CHUNKS: u64 = 5_000;
    let folder = tempfile::tempdir()?;
    let folder = folder.path();
    made::file_spaces("make", folder, &[])?;
    for (kind, _) in KINDS {
        let scratch = Scratch::copy_of(&file_of(folder, kind));
        let mut file = VersionedFile::open_rw(&scratch.path)?;
        let mut values = Array1::from_iter(0..2 * CHUNKS as i64);
        // Half of the chunks are equal to others, of the first version too.
        for (version, written) in [("r2", CHUNKS / 2), ("r3", 1)] {
            values.slice_mut(s![CHUNKS as usize..]).fill(7);
            values[0] = written as i64;
            let mut stage = file.stage(version)?;
            if version == "r3" {
                stage.delete("many")?;
            }
            stage.create_dataset("many").chunks(&[2]).data(&values)?;
            let report = stage.commit()?;
            assert_eq!(report.chunks_written, written + u64::from(version == "r2"), "{kind}");
            let many = file.version(version)?.dataset("many")?;
            assert_eq!(many.raw_data().1, CHUNKS / 2 + 1 + u64::from(version == "r3"), "{kind}");
            assert_eq!(read(&file, version, "many"), values.clone().into_dyn(), "{kind}");
        }
        drop(file);
        scratch.alter("agrees", &[])?;
    }
    Ok(())
}
