//! Versions are found by name, by distance from the current one and by time; files that moved read as before.

use std::collections::HashMap;

use chrono::{DateTime, TimeDelta, Utc};
use h5strata::store::{EntryKind, parse_time};
use h5strata::{Error, VersionedFile};

use crate::open;
use crate::support::values::{Numbers, Values};
use crate::support::{Outcome, made};

fn names(file: &VersionedFile) -> Result<Vec<&str>, Error> {
    Ok(file.versions()?.iter().map(|version| version.name.as_str()).collect())
}

/// A time some milliseconds after that of the file "timestamps".
fn after_start(milliseconds: i64) -> Result<DateTime<Utc>, Box<dyn std::error::Error>> {
    let start = parse_time("2026-01-01T00:00:00Z").ok_or("a time")?;
    Ok(start + TimeDelta::milliseconds(milliseconds))
}

#[test]
fn a_time_means_the_latest_version_at_or_before_it() -> Outcome {
    let file = open("timestamps")?;
    // Two versions have the time 2 s: the descendant is the later one, whatever the names.
    for (milliseconds, expected) in [
        (1000, "first"),
        (1500, "first"),
        (1999, "first"),
        (2000, "a third"),
        (86_400_000, "a third"),
    ] {
        assert_eq!(file.at(after_start(milliseconds)?)?.name(), expected, "{milliseconds} ms");
    }
    assert_eq!(names(&file)?, ["first", "second", "a third"]);
    let error = file.at(after_start(999)?).unwrap_err();
    let expected = after_start(1000)?;
    assert!(matches!(error, Error::BeforeFirst { first, .. } if first == expected), "{error}");
    assert!(error.to_string().contains("timestamps.h5"), "{error}");
    Ok(())
}

#[test]
fn a_thousand_look_ups_among_a_thousand_versions_walk_the_history_once() -> Outcome {
    let made = made::file("thousand-versions-handmade")?;
    let rows = made.metadata()?.versions;
    let children: HashMap<_, _> =
        rows.iter().filter_map(|row| Some((row.parent.as_deref()?, row))).collect();
    // In the order of commits: the one without a parent, its child and so on.
    let mut commits: Vec<_> = rows.iter().filter(|row| row.parent.is_none()).collect();
    while let Some(child) = commits.last().and_then(|row| children.get(row.version.as_str())) {
        commits.push(child);
    }
    let times: Vec<_> = commits.iter().map(|row| parse_time(&row.timestamp).unwrap()).collect();
    let (first, last) = (times[0], times[times.len() - 1]);
    assert_eq!(commits.len(), 1_000);

    let file = VersionedFile::open(&made.path)?;
    file.versions()?;
    let before = file.io_counts();
    let mut numbers = Numbers(28);
    for _ in 0..1_000 {
        let milliseconds = numbers.below((last - first).num_milliseconds() as u64 + 4_000) as i64;
        let time = first + TimeDelta::milliseconds(milliseconds - 2_000);
        match (file.at(time), times.iter().rposition(|stamp| *stamp <= time)) {
            (Ok(found), Some(expected)) => assert_eq!(found.name(), commits[expected].version),
            (Err(Error::BeforeFirst { .. }), None) => {}
            other => panic!("{time}: {other:?}"),
        }
    }
    // Parents and times are strings in the file: none is read again.
    assert_eq!(file.io_counts(), before);
    Ok(())
}

#[test]
fn every_version_is_found_by_its_own_time() -> Outcome {
    let file = open("many-versions")?;
    for version in file.versions()? {
        assert_eq!(file.at(version.timestamp)?.name(), version.name);
        let just_before = file.at(version.timestamp - TimeDelta::microseconds(1));
        match &version.parent {
            Some(parent) => assert_eq!(just_before?.name(), parent),
            None => assert!(matches!(just_before, Err(Error::BeforeFirst { .. }))),
        }
    }
    Ok(())
}

#[test]
fn back_follows_parents_from_the_current_version() -> Outcome {
    let file = open("branches")?;
    assert_eq!(file.current_name()?, "a2");
    for (back, expected) in [(0, "a2"), (1, "a1"), (2, "r0")] {
        assert_eq!(file.back(back)?.name(), expected);
    }
    for back in [3, 4, u64::MAX] {
        let error = file.back(back).unwrap_err();
        assert!(matches!(error, Error::TooFarBack { ancestors: 2, .. }), "{error}");
    }
    assert_eq!(open("many-versions")?.back(59)?.name(), "r0");
    Ok(())
}

#[test]
fn a_tree_of_versions_is_listed_with_parents_and_children() -> Outcome {
    let file = open("branches")?;
    let roots: Vec<&str> = file
        .versions()?
        .iter()
        .filter(|version| version.parent.is_none())
        .map(|version| version.name.as_str())
        .collect();
    assert_eq!(roots, ["r0", "other root"]);
    assert_eq!(file.children("r0")?, ["a1", "b1"]);
    assert_eq!(file.children("a2")?, ["a3"]);
    assert!(file.children("a3")?.is_empty());
    assert_eq!(file.version("o1")?.parent()?.as_deref(), Some("other root"));
    Ok(())
}

#[test]
fn parents_of_deleted_versions_are_the_nearest_that_are_left() -> Outcome {
    let file = open("deleted-versions")?;
    assert_eq!(names(&file)?, ["r1", "r2", "r4", "r5", "r6"]);
    assert_eq!(file.current_name()?, "r6");
    assert_eq!(file.version("r4")?.parent()?.as_deref(), Some("r2"));
    assert_eq!(file.version("r1")?.parent()?, None);
    Ok(())
}

#[test]
fn names_may_look_like_anything() -> Outcome {
    let file = open("names")?;
    let expected =
        ["0", "-1", "@-1", "версия", "with space", "a.b", "2026-11-30", &"x".repeat(200)];
    assert_eq!(names(&file)?, expected);
    for (name, number) in expected.into_iter().zip(0_i64..) {
        let version = file.version(name)?;
        assert_eq!(version.name(), name);
        for path in ["данные/ряд", "raw_data", "grp/versions", "a b/c,d", "[0]"] {
            let values = version.dataset(path)?.read::<i64>(..)?;
            let at = (number % 6) as usize;
            assert_eq!(values[[at]], if number == 0 { 0 } else { -number }, "{name}, {path}");
        }
    }
    Ok(())
}

#[test]
fn groups_are_listed_before_what_is_in_them() -> Outcome {
    let file = open("libver-earliest")?;
    let version = file.version("r3")?;
    let entries = version.entries()?;
    let listed: Vec<_> = entries.iter().map(|entry| (entry.path.as_str(), entry.kind)).collect();
    let (group, dataset) = (EntryKind::Group, EntryKind::Dataset);
    assert_eq!(
        listed,
        [
            ("grid", group),
            ("grid/deep", group),
            ("grid/deep/cube", dataset),
            ("grid/late", dataset),
            ("grid/plane", dataset),
            ("line", dataset),
            ("texts", dataset),
        ]
    );
    let below: Vec<_> = version.entries_below("/grid/deep/")?.into_iter().map(|e| e.path).collect();
    assert_eq!(below, ["grid/deep/cube"]);
    // A group may stand where a dataset stood in another version.
    let turned = open("dataset-turned-group")?;
    assert_eq!(turned.version("r0")?.datasets()?, ["a"]);
    assert_eq!(turned.version("r1")?.datasets()?, ["a/b"]);
    Ok(())
}

#[test]
fn a_file_reads_the_same_under_another_name() -> Outcome {
    let renamed = open("report-renamed-file")?;
    let data = renamed.version("r1")?.dataset("data")?.read::<i64>(..)?;
    assert_eq!(data.into_raw_vec_and_offset().0, [9, 2, 3, 4]);

    let original = made::file("random-2d")?;
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("moved-file");
    std::fs::create_dir_all(&folder)?;
    let copy = folder.join(format!("a copy {}.h5", std::process::id()));
    std::fs::copy(&original.path, &copy)?;
    // Nothing is written, so a file that may only be read is enough.
    let mut permissions = std::fs::metadata(&copy)?.permissions();
    permissions.set_readonly(true);
    std::fs::set_permissions(&copy, permissions)?;
    let before = std::fs::metadata(&copy)?.modified()?;
    let file = VersionedFile::open(&copy)?;
    for row in original.digests()? {
        let values = Values::whole(&file.version(&row.version)?.dataset(&row.dataset)?)?;
        assert_eq!(values.sha256(), row.sha256, "{row:?}");
    }
    drop(file);
    assert_eq!(std::fs::metadata(&copy)?.modified()?, before);
    std::fs::remove_file(&copy)?;
    Ok(())
}
