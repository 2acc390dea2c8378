//! Handles of versions go on showing what they showed, whatever is committed meanwhile and by whom.

use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use h5strata::{Error, OpenOptions, RawPath, Selection, VersionedFile};
use ndarray::{Array2, s};

use crate::support::{Outcome, start};
use crate::{Scratch, dataset, read, read_strings};

/// The values of version `version`: all chunks differ from those of other versions in some places.
fn values(version: usize) -> Array2<i64> {
    Array2::from_shape_fn((40 + version, 30), |(row, column)| {
        let changed = (row + column) % 7 == version % 7;
        (row * 100 + column + if changed { version * 100_000 } else { 0 }) as i64
    })
}

fn text(version: usize) -> Vec<String> {
    (0..20)
        .map(|at| if at % 5 == version % 5 { format!("{version}:{at}") } else { format!("{at}") })
        .collect()
}

fn commit(file: &mut VersionedFile, version: usize) -> Outcome {
    let values = values(version);
    let mut stage = file.stage(&format!("r{version}"))?;
    if version == 0 {
        stage.create_dataset("x").chunks(&[8, 8]).gzip(1).data(&values)?;
        stage.create_dataset("text").chunks(&[4]).strings(&[20], &text(0))?;
    } else {
        let mut x = stage.dataset_mut("x")?;
        x.resize(&[40 + version as u64, 30])?;
        x.write(Selection::all(), &values)?;
        stage.dataset_mut("text")?.write_strings(Selection::all(), &text(version), &[20])?;
    }
    stage.commit()?;
    Ok(())
}

fn check(file: &VersionedFile, version: usize) {
    let name = format!("r{version}");
    assert!(read(file, &name, "x") == values(version).into_dyn(), "{name}");
    assert_eq!(read_strings(file, &name, "text"), text(version), "{name}");
}

/// A handle opened before a commit read the new chunks, or none.
#[test]
fn handles_from_before_a_commit_read_what_they_read_before() -> Outcome {
    for raw_path in [RawPath::Auto, RawPath::Library] {
        let scratch = Scratch::new();
        let mut file = OpenOptions::new().raw_path(raw_path).create(&scratch.path)?;
        commit(&mut file, 0)?;
        let mut old = Vec::new();
        for version in 1..12 {
            let name = format!("r{}", version - 1);
            // Nothing of the dataset is known yet, or only its list, or also where its chunks are.
            let unread = dataset(&file, &name, "x");
            let opened = dataset(&file, &name, "x");
            opened.chunk_map()?;
            let known = dataset(&file, &name, "x");
            known.stored_chunks()?;
            old.push((version - 1, file.clone(), file.version(&name)?, [unread, opened, known]));
            commit(&mut file, version)?;
            for (number, clone, version, datasets) in &old {
                let expected = values(*number).into_dyn();
                for dataset in datasets {
                    assert!(dataset.read::<i64>(Selection::all())? == expected, "r{number}");
                }
                assert!(version.dataset("x")?.read::<i64>(Selection::all())? == expected);
                check(clone, *number);
                let newest = dataset(clone, &format!("r{}", number + 1), "x");
                assert_eq!(newest.shape(), [41 + *number as u64, 30]);
            }
        }
        // The clones of old see what has been committed since by name.
        check(&old[0].1, 11);
    }
    Ok(())
}

/// A clone made versions of a history that was not the newest.
#[test]
fn clones_commit_in_turns_and_each_starts_from_the_newest() -> Outcome {
    let scratch = Scratch::new();
    let mut one = scratch.create();
    commit(&mut one, 0)?;
    let mut other = one.clone();
    for version in 1..8 {
        commit(if version % 2 == 0 { &mut one } else { &mut other }, version)?;
    }
    let newest = VersionedFile::open(&scratch.path)?;
    for file in [&one, &other, &newest] {
        for version in 0..8 {
            check(file, version);
            let parent = file.version(&format!("r{version}"))?.parent()?;
            assert_eq!(parent, version.checked_sub(1).map(|parent| format!("r{parent}")));
        }
        assert_eq!(file.current_name()?, "r7");
    }
    drop((one, other, newest));
    scratch.alter("agrees", &[])?;
    Ok(())
}

/// Readers saw half a commit: an index being rebuilt, a chunk being written.
#[test]
fn readers_on_other_threads_read_right_values_while_versions_are_committed() -> Outcome {
    const VERSIONS: usize = 40;
    for raw_path in [RawPath::Auto, RawPath::Library] {
        let scratch = Scratch::new();
        let mut file = OpenOptions::new().raw_path(raw_path).create(&scratch.path)?;
        commit(&mut file, 0)?;
        let done = AtomicBool::new(false);
        thread::scope(|scope| {
            let readers: Vec<_> = (0..3)
                .map(|reader| {
                    let (clone, done) = (file.clone(), &done);
                    scope.spawn(move || {
                        let mut reads = 0;
                        while !done.load(Ordering::Acquire) || reads == 0 {
                            check(&clone, 0);
                            let newest: usize = clone.current_name().unwrap()[1..].parse().unwrap();
                            check(&clone, (newest * reader) / 2);
                            check(&clone, newest);
                            let part = dataset(&clone, "r0", "x").read::<i64>(s![5..;9, 7]);
                            assert_eq!(part.unwrap(), values(0).slice(s![5..;9, 7]).into_dyn());
                            reads += 1;
                        }
                    })
                })
                .collect();
            let committed = (1..VERSIONS).try_for_each(|version| commit(&mut file, version));
            done.store(true, Ordering::Release);
            for reader in readers {
                reader.join().unwrap();
            }
            committed
        })?;
        (0..VERSIONS).for_each(|version| check(&file, version));
        drop(file);
        scratch.alter("agrees", &[])?;
    }
    Ok(())
}

/// A version that does not exist yet was looked up, and stayed unknown when it did.
#[test]
fn a_version_is_found_as_soon_as_it_is_committed_and_not_before() -> Outcome {
    let scratch = Scratch::new();
    let mut file = scratch.create();
    commit(&mut file, 0)?;
    let clone = file.clone();
    assert!(matches!(clone.version("r1"), Err(Error::UnknownVersion { .. })));
    let mut stage = file.stage("r1")?;
    stage.dataset_mut("x")?.write_scalar(Selection::all(), 1_i64)?;
    assert!(matches!(clone.version("r1"), Err(Error::UnknownVersion { .. })));
    stage.commit()?;
    assert_eq!(clone.version("r1")?.name(), "r1");
    assert_eq!(clone.current_name()?, "r1");
    Ok(())
}

/// Versions were counted back, and found by time, in the history as it was when a handle was first asked for it.
#[test]
fn versions_are_counted_back_and_found_by_time_in_the_newest_history() -> Outcome {
    let scratch = Scratch::new();
    let mut file = scratch.create();
    commit(&mut file, 0)?;
    let (clone, reader) = (file.clone(), VersionedFile::open(&scratch.path)?);
    for handle in [&clone, &reader] {
        assert_eq!(handle.versions()?.len(), 1);
    }
    (1..4).try_for_each(|version| commit(&mut file, version))?;
    for handle in [&clone, &reader] {
        assert_eq!(handle.current()?.name(), "r3");
        assert_eq!(handle.back(3)?.name(), "r0");
        assert_eq!(handle.at(chrono::Utc::now())?.name(), "r3");
        let Err(Error::UnknownVersion { known, .. }) = handle.version("zzz") else {
            panic!("there is no zzz")
        };
        assert_eq!(known.len(), 4);
        assert_eq!(handle.versions()?.len(), 1, "a list that was given stays");
    }
    Ok(())
}

/// A program that was started while a file was open kept its lock: the file could not be opened for writing again.
#[test]
fn programs_that_are_started_meanwhile_do_not_hold_the_file() -> Outcome {
    let scratch = Scratch::new();
    let mut file = scratch.create();
    commit(&mut file, 0)?;
    let start = || start(Command::new("sleep").arg("60"));
    let mut children = vec![start()?];
    drop(file);
    let file = VersionedFile::open_rw(&scratch.path);
    children.push(start()?);
    let file = file.and_then(|file| {
        drop(file);
        VersionedFile::open(&scratch.path)
    });
    children.push(start()?);
    drop(file);
    let last = VersionedFile::open_rw(&scratch.path);
    for mut child in children {
        child.kill()?;
        child.wait()?;
    }
    check(&last?, 0);
    Ok(())
}
