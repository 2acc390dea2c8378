//! What counts as a difference.

use h5strata::store::{Attribute, Change, EntryDiff, ValueDiff};
use h5strata::{Dtype, Error, Selection, StageOptions, VersionedFile};
use ndarray::{Array1, Array2, array, s};

use crate::support::{Outcome, made};
use crate::{Scratch, coordinates, diff};

fn unchanged() -> ValueDiff {
    ValueDiff { changed: 0, bounds: None, added: 0, removed: 0 }
}

/// What differs between two versions, by path.
fn listed(file: &VersionedFile, old: &str, new: &str) -> Result<Vec<(String, Change)>, Error> {
    let diff = file.version(old)?.diff(&file.version(new)?)?;
    let name = |entry| match entry {
        EntryDiff::Group(group) => (format!("{}/", group.path), group.change),
        EntryDiff::Dataset(dataset) => (dataset.path().to_owned(), dataset.change()),
    };
    diff.entries().map(|entry| entry.map(name)).collect()
}

#[test]
fn a_version_lists_what_is_added_removed_and_changed_in_order_of_names() -> Outcome {
    let scratch = Scratch::new();
    let mut file = scratch.create();
    let mut stage = file.stage("r0")?;
    for path in ["g/gone", "g/same", "g.x", "turned", "z"] {
        stage.create_dataset(path).chunks(&[2]).data(&array![1i64, 2, 3])?;
    }
    stage.commit()?;
    let mut stage = file.stage("r1")?;
    stage.delete("g/gone")?;
    stage.delete("turned")?;
    stage.create_dataset("turned/inside").data(&array![1i64])?;
    stage.create_dataset("h/added").data(&array![1i64])?;
    stage.dataset_mut("z")?.write_scalar(s![0], 9i64)?;
    stage.commit()?;
    use Change::{Added, Changed, Removed};
    let name = |(path, change): (&str, Change)| (path.to_owned(), change);
    let expected = [
        ("g/gone", Removed),
        ("h/", Added),
        ("h/added", Added),
        ("turned", Removed),
        ("turned/", Added),
        ("turned/inside", Added),
        ("z", Changed),
    ];
    assert_eq!(listed(&file, "r0", "r1")?, expected.map(name));
    assert_eq!(listed(&file, "r1", "r0")?.len(), expected.len());
    assert_eq!(listed(&file, "r1", "r1")?, []);

    let (old, new) = (file.version("r0")?, file.version("r1")?);
    let below = old.diff_below(&new, "/g/")?;
    assert_eq!(below.datasets().count(), 1);
    assert_eq!(old.diff_below(&new, "z")?.datasets().count(), 1);
    assert_eq!(old.diff_below(&new, "g/same")?.entries().count(), 0);
    let unknown = old.diff_below(&new, "g/sam").unwrap_err();
    assert!(unknown.to_string().contains("did you mean \"g/same\"?"), "{unknown}");
    let added = old.diff_below(&new, "h")?.datasets().next().ok_or("one is added")??;
    assert_eq!((added.chunks_changed(), added.changed_chunks().count()), (1, 1));
    let region = added.changed_regions::<i64>().next().ok_or("its chunk")??;
    assert_eq!((region.old, region.new), (None, Some(array![1].into_dyn())));
    assert_eq!(added.values()?, ValueDiff { added: 1, ..unchanged() });
    Ok(())
}

#[test]
fn attributes_differ_by_name_and_value() -> Outcome {
    let scratch = Scratch::new();
    let mut file = scratch.create();
    let mut stage = file.stage("r0")?;
    stage.create_dataset("g/x").data(&array![1i64])?;
    stage.set_attribute("g/x", Attribute::text("units", "m"))?;
    stage.set_attribute("g/x", Attribute::number("scale", 1.5f64))?;
    stage.set_attribute("g", Attribute::text("title", "one"))?;
    stage.commit()?;
    let mut stage = file.stage("r1")?;
    stage.set_attribute("g/x", Attribute::text("units", "km"))?;
    stage.set_attribute("g", Attribute::text("title", "two"))?;
    stage.set_attribute("", Attribute::text("author", "me"))?;
    stage.commit()?;
    use Change::Changed;
    let expected = [("g/".to_owned(), Changed), ("g/x".to_owned(), Changed)];
    assert_eq!(listed(&file, "r0", "r1")?, expected);
    let diff = file.version("r0")?.diff(&file.version("r1")?)?;
    let of_version = diff.attributes()?;
    assert_eq!((of_version.len(), of_version[0].name.as_str()), (1, "author"));
    assert_eq!(of_version[0].old, None);
    let dataset = diff.datasets().next().ok_or("it differs")??;
    assert_eq!(dataset.chunks_changed(), 0);
    let [units] = dataset.attributes() else { panic!("{dataset:?}") };
    let value = |text: &str| Some(Attribute::text("units", text));
    assert_eq!((units.old.clone(), units.new.clone()), (value("m"), value("km")));
    Ok(())
}

/// Rows of the table of cases: shapes (4,) in chunks of (2,).
#[test]
fn floats_that_differ_in_bits_alone_differ() -> Outcome {
    let scratch = Scratch::new();
    let mut file = scratch.create();
    let nan = |payload: u64| f64::from_bits(0x7ff8_0000_0000_0000 | payload);
    for (number, value) in [0.0, -0.0, nan(1), nan(2)].into_iter().enumerate() {
        let mut stage = file.stage(&format!("r{number}"))?;
        if number == 0 {
            stage.create_dataset("x").chunks(&[2]).data(&Array1::from_elem(4, value))?;
        } else {
            stage.dataset_mut("x")?.write_scalar(Selection::all(), value)?;
        }
        stage.commit()?;
    }
    for (old, new) in [("r0", "r1"), ("r1", "r2"), ("r2", "r3")] {
        let diff = diff(&file, old, new);
        assert_eq!(diff.chunks_changed(), 2);
        let bounds = Some((vec![0].into(), vec![4].into()));
        assert_eq!(diff.values()?, ValueDiff { changed: 4, bounds, ..unchanged() });
    }
    Ok(())
}

#[test]
fn strings_that_are_split_elsewhere_differ() -> Outcome {
    let scratch = Scratch::new();
    let mut file = scratch.create();
    let mut stage = file.stage("r0")?;
    stage.create_dataset("x").chunks(&[2]).gzip(4).strings(&[3], &["ab", "c", "same"])?;
    stage.commit()?;
    let mut stage = file.stage("r1")?;
    stage.dataset_mut("x")?.write_strings(s![..2], &["a", "bc"], &[2])?;
    stage.commit()?;
    let diff = diff(&file, "r0", "r1");
    assert_eq!(coordinates(&diff), [[0]]);
    let bounds = Some((vec![0].into(), vec![2].into()));
    assert_eq!(diff.values()?, ValueDiff { changed: 2, bounds, ..unchanged() });
    let region = diff.changed_region_strings().next().ok_or("a region")??;
    let strings = |texts: [&str; 2]| {
        Some(Array1::from_iter(texts.map(|text| text.as_bytes().to_vec())).into_dyn())
    };
    assert_eq!((region.old, region.new), (strings(["ab", "c"]), strings(["a", "bc"])));
    assert!(diff.changed_regions::<i64>().next().ok_or("a region")?.is_err());
    Ok(())
}

#[test]
fn a_bound_that_crosses_a_chunk_changes_it() -> Outcome {
    let scratch = Scratch::new();
    let mut file = scratch.create();
    let mut stage = file.stage("r0")?;
    stage.create_dataset("x").chunks(&[4, 3]).data(&Array2::<i64>::ones((6, 6)))?;
    stage.commit()?;
    let mut stage = file.stage("r1")?;
    stage.dataset_mut("x")?.resize(&[7, 5])?;
    stage.commit()?;
    let diff = diff(&file, "r0", "r1");
    assert_eq!(diff.reshaped(), Some((&[6, 6][..], &[7, 5][..])));
    assert_eq!(coordinates(&diff), [[0, 1], [1, 0], [1, 1]]);
    let chunks: Vec<_> = diff.changed_chunks().collect();
    let corner = chunks.iter().find(|chunk| chunk.coordinate.as_slice() == [1, 1]).unwrap();
    let shapes = (corner.old_shape.as_deref(), corner.new_shape.as_deref());
    assert_eq!(shapes, (Some(&[2, 3][..]), Some(&[3, 2][..])));
    assert_eq!(corner.start.as_slice(), [4, 3]);
    // 6 x 6 against 7 x 5, the same where both are.
    assert_eq!(diff.values()?, ValueDiff { added: 5, removed: 6, ..unchanged() });
    Ok(())
}

#[test]
fn empty_and_filled_datasets_differ_by_their_bounds_alone() -> Outcome {
    let scratch = Scratch::new();
    let mut file = scratch.create();
    let integers: Dtype = "<i8".parse()?;
    let mut stage = file.stage("r0")?;
    stage.create_dataset("x").chunks(&[4]).empty(integers, &[0])?;
    stage.commit()?;
    for (version, size) in [("r1", 10u64), ("r2", 12), ("r3", 1 << 60), ("r4", 3)] {
        let mut stage = file.stage(version)?;
        stage.dataset_mut("x")?.resize(&[size])?;
        stage.commit()?;
    }
    let mut stage = file.stage("r5")?;
    stage.dataset_mut("x")?.write_scalar(s![1], 5i64)?;
    stage.commit()?;
    assert!(diff(&file, "r0", "r0").is_empty());
    assert_eq!(coordinates(&diff(&file, "r0", "r1")), [[0], [1], [2]]);
    assert_eq!(coordinates(&diff(&file, "r1", "r2")), [[2]]);
    // Chunks that nobody has stored are counted, and walked only as far as somebody asks.
    let grown = diff(&file, "r2", "r3");
    assert_eq!(grown.chunks_changed(), (1 << 58) - 3);
    let first = grown.changed_chunks().next().ok_or("a chunk")?;
    assert_eq!((first.coordinate.as_slice(), first.old_shape), (&[3][..], None));
    let cut = diff(&file, "r3", "r4");
    assert_eq!((cut.chunks_changed(), cut.values()?.removed), (1 << 58, (1 << 60) - 3));
    // Fill against a stored chunk.
    let stored = diff(&file, "r4", "r5");
    assert_eq!(coordinates(&stored), [[0]]);
    let bounds = Some((vec![1].into(), vec![2].into()));
    assert_eq!(stored.values()?, ValueDiff { changed: 1, bounds, ..unchanged() });
    // What was never stored is as old as its extent.
    for (version, expected) in [("r1", "r1"), ("r2", "r2"), ("r3", "r2")] {
        let blame = file.version(version)?.dataset("x")?.blame(s![9])?;
        assert_eq!(blame.versions(), [expected], "{version}");
    }
    let first = file.version("r3")?.dataset("x")?.blame(s![0..8])?;
    assert_eq!(first.versions(), ["r1"]);
    Ok(())
}

#[test]
fn a_dataset_that_has_gone_and_come_back_is_compared_like_any_other() -> Outcome {
    let scratch = Scratch::new();
    let mut file = scratch.create();
    let mut stage = file.stage("r0")?;
    stage.create_dataset("x").chunks(&[2]).data(&array![1i64, 2, 3, 4])?;
    stage.create_dataset("y").chunks(&[3]).data(&array![1.5f64, 2.5])?;
    stage.commit()?;
    let mut stage = file.stage("r1")?;
    stage.delete("x")?;
    stage.commit()?;
    let mut stage = file.stage("r2")?;
    stage.create_dataset("x").chunks(&[2]).data(&array![1i64, 2, 9, 9])?;
    stage.commit()?;
    let mut stage = file.stage("r3")?;
    stage.rename("y", "z")?;
    stage.commit()?;
    assert_eq!(coordinates(&diff(&file, "r0", "r2")), [[1]]);
    // Whoever brought it back is to blame for all of it.
    let blame = file.version("r2")?.dataset("x")?.blame(Selection::all())?;
    assert_eq!(blame.versions(), ["r2"]);

    // Under its new name it is stored anew, with the values that it had.
    let last = file.version("r3")?.dataset("z")?;
    let renamed = file.version("r2")?.dataset("y")?.diff(&last)?;
    assert_eq!((renamed.chunks_changed(), renamed.values()?), (1, unchanged()));
    assert_eq!(last.blame(Selection::all())?.versions(), ["r3"]);
    Ok(())
}

#[test]
fn datasets_of_two_types_are_not_compared_chunk_by_chunk() -> Outcome {
    let scratch = Scratch::new();
    let mut file = scratch.create();
    let mut stage = file.stage("r0")?;
    stage.create_dataset("x").chunks(&[2]).data(&array![1i64, 2, 3, 4])?;
    stage.create_dataset("y").chunks(&[3, 1]).data(&array![[1.5f64], [2.5]])?;
    stage.commit()?;
    let version = file.version("r0")?;
    let other = version.dataset("x")?.diff(&version.dataset("y")?)?;
    let (old, new) = other.retyped().ok_or("another type")?;
    assert_eq!((old.short_name(), new.short_name()), ("<i8".into(), "<f8".into()));
    assert_eq!(other.rechunked(), Some((&[2][..], &[3, 1][..])));
    assert_eq!(other.chunks_changed(), 3);
    let sides: Vec<_> = other
        .changed_region_bytes()
        .map(|region| region.map(|region| (region.old.is_some(), region.new.is_some())))
        .collect::<Result<_, _>>()?;
    assert_eq!(sides, [(false, true), (true, false), (true, false)]);
    assert_eq!(other.values()?, ValueDiff { added: 2, removed: 4, ..unchanged() });
    Ok(())
}

#[test]
fn versions_of_two_branches_are_compared_and_blamed_along_their_own_parents() -> Outcome {
    let scratch = Scratch::new();
    let mut file = scratch.create();
    let mut stage = file.stage("r0")?;
    stage.create_dataset("x").chunks(&[2]).data(&array![0i64, 1, 2, 3, 4, 5])?;
    stage.commit()?;
    for (version, element) in [("a", 0usize), ("b", 2)] {
        let mut stage = StageOptions::new().parent("r0").stage(&mut file, version)?;
        stage.dataset_mut("x")?.write_scalar(s![element], 7i64)?;
        stage.commit()?;
    }
    assert_eq!(coordinates(&diff(&file, "a", "b")), [[0], [1]]);
    for (version, expected) in [("a", ["a", "r0", "r0"]), ("b", ["r0", "b", "r0"])] {
        let blame = file.version(version)?.dataset("x")?.blame(Selection::all())?;
        let found: Vec<_> = blame.chunks().map(|chunk| chunk.version).collect();
        assert_eq!(found, expected);
        assert_eq!(blame.versions(), [version, "r0"]);
    }
    // Back to what was: written again, though it is stored once.
    let mut stage = StageOptions::new().parent("a").stage(&mut file, "a2")?;
    stage.dataset_mut("x")?.write_scalar(s![0], 0i64)?;
    stage.commit()?;
    assert!(diff(&file, "r0", "a2").is_empty());
    let blame = file.version("a2")?.dataset("x")?.blame(s![..2])?;
    assert_eq!(blame.versions(), ["a2"]);
    Ok(())
}

#[test]
fn versions_of_other_files_are_refused() -> Outcome {
    let path = made::file("branches")?.path;
    let (file, again) = (VersionedFile::open(&path)?, VersionedFile::open(&path)?);
    let clone = file.clone();
    assert!(file.version("a1")?.diff(&clone.version("a2")?).is_ok());
    let refused = file.version("a1")?.diff(&again.version("a2")?).unwrap_err();
    assert!(matches!(refused, Error::OtherFile { .. }), "{refused}");
    let refused = file.version("a1")?.dataset("data")?.diff(&again.version("a2")?.dataset("data")?);
    assert!(matches!(refused.unwrap_err(), Error::OtherFile { .. }));
    Ok(())
}

#[test]
fn what_cannot_be_compared_is_an_error_and_hides_nothing() -> Outcome {
    let file = VersionedFile::open(made::folder()?.join("broken/dangling-soft-link.h5"))?;
    let diff = file.version("sound")?.diff(&file.version("bad")?)?;
    let entries: Vec<_> = diff.entries().collect();
    assert!(
        matches!(&entries[..], [Err(_), Ok(EntryDiff::Dataset(gone))] if gone.path() == "intact"),
        "{entries:?}"
    );
    Ok(())
}

#[test]
fn a_history_that_goes_in_circles_or_leads_nowhere_is_an_error() -> Outcome {
    let scratch = Scratch::new();
    let mut file = scratch.create();
    for version in ["r0", "r1", "r2"] {
        let mut stage = file.stage(version)?;
        if version == "r0" {
            stage.create_dataset("x").data(&array![1i64, 2, 3])?;
        }
        stage.commit()?;
    }
    drop(file);
    for (parent, fault) in [("r1", "ancestor"), ("nowhere", "nowhere")] {
        made::alter("parent", &scratch.path, &["r0", parent])?;
        let file = VersionedFile::open(&scratch.path)?;
        let error = file.version("r2")?.dataset("x")?.blame(Selection::all()).unwrap_err();
        assert!(error.to_string().contains(fault), "{error}");
    }
    Ok(())
}
