//! What `repair` puts right, what it leaves and tells, and that files go on from there.

use h5strata::store::{Finding, Repair};
use h5strata::{Error, OpenOptions, RepairOptions, RepairReport, Selection, VersionedFile};
use ndarray::{Array1, Array2, s};

use crate::support::made;
use crate::{Outcome, Scratch, texts};

/// Four versions of "prices" and of a dataset of strings further down, with chunks that versions share.
fn history(scratch: &Scratch, gzip: bool) -> Result<(), Error> {
    let mut file = scratch.create();
    let mut stage = file.stage("r1")?;
    let builder = stage.create_dataset("group/prices").chunks(&[10, 4]);
    let builder = if gzip { builder.gzip(1) } else { builder };
    builder.data(&Array2::from_shape_fn((35, 6), |(row, column)| (row * 100 + column) as i64))?;
    let words: Vec<String> = (0..8).map(|word| "x".repeat(word) + "end").collect();
    stage.create_dataset("group/of/words").chunks(&[3]).strings(&[8], &words)?;
    stage.commit()?;
    for version in 2..=4_i32 {
        let mut stage = file.stage(&format!("r{version}"))?;
        let mut prices = stage.dataset_mut("group/prices")?;
        prices.write_scalar(s![version * 8, ..], -i64::from(version))?;
        let word = [format!("in version {version}")];
        stage.dataset_mut("group/of/words")?.write_strings(Selection::all(), &word, &[])?;
        stage.commit()?;
    }
    Ok(())
}

impl Scratch {
    fn repair_with(&self, options: &RepairOptions) -> Result<RepairReport, Error> {
        VersionedFile::open_rw(&self.path)?.repair(options)
    }

    fn repair(&self) -> Result<RepairReport, Error> {
        self.repair_with(&RepairOptions::new())
    }

    fn bytes(&self) -> Vec<u8> {
        std::fs::read(&self.path).unwrap()
    }

    fn digests(&self) -> Outcome<String> {
        Ok(made::by_package("digests", &self.path, &[])?)
    }
}

/// What was done, as text.
fn done(report: &RepairReport) -> Vec<String> {
    report.repairs.iter().map(ToString::to_string).collect()
}

/// Fails unless both engines go on with a file that holds `digests`, and lose nothing of it.
#[track_caller]
fn assert_goes_on(scratch: &Scratch, digests: &str) -> Outcome {
    let whole = scratch.repair()?;
    assert_eq!((done(&whole), texts(&whole.remaining)), (vec![], vec![]));
    made::by_package("commit", &scratch.path, &["p5"])?;
    let mut file = VersionedFile::open_rw(&scratch.path)?;
    let mut stage = file.stage("s6")?;
    stage.dataset_mut("group/prices")?.write_scalar(s![1, 1], 77_i64)?;
    let word = ["a seventh"];
    stage.dataset_mut("group/of/words")?.write_strings(s![2..3], &word, &[1])?;
    // Nothing is stored again that was.
    assert_eq!(stage.commit()?.chunks_written, 2);
    drop(file);
    made::by_package("commit", &scratch.path, &["p7"])?;
    assert!(scratch.verify().is_sound(), "{:?}", scratch.findings());
    let all = |digests: &str| -> Outcome<serde_json::Map<String, serde_json::Value>> {
        Ok(serde_json::from_str(digests)?)
    };
    let (before, after) = (all(digests)?, all(&scratch.digests()?)?);
    assert!(before.iter().all(|(of, digest)| after.get(of) == Some(digest)));
    assert_eq!(after.len(), before.len() + 6);
    made::by_package("delete", &scratch.path, &["r2", "p5"])?;
    let after = all(&scratch.digests()?)?;
    assert_eq!(after.len(), before.len() + 2);
    let kept = before.iter().filter(|(of, _)| !of.starts_with("r2/"));
    assert!(
        kept.clone().count() == 6 && kept.clone().all(|(of, digest)| after.get(of) == Some(digest))
    );
    assert!(scratch.verify().is_sound(), "{:?}", scratch.findings());
    Ok(())
}

#[test]
fn a_sound_file_is_not_written_to() -> Outcome {
    let scratch = Scratch::new();
    history(&scratch, false)?;
    let before = scratch.bytes();
    let report = scratch.repair()?;
    assert!(report.repairs.is_empty() && report.remaining.is_sound());
    // Neither is one in which nothing can be done.
    scratch.alter("parent", &["r2", "nobody"])?;
    let broken = scratch.bytes();
    let report = scratch.repair()?;
    assert_eq!(done(&report), [""; 0]);
    assert_eq!(texts(&report.remaining).len(), 1);
    assert!(scratch.bytes() == broken && broken != before);
    Ok(())
}

#[test]
fn tables_that_are_gone_or_wrong_are_made_anew_and_both_engines_go_on() -> Outcome {
    let prices = "group/prices";
    let cases: [&[(&str, &[&str])]; 6] = [
        &[("drop", &[prices]), ("drop", &["group/of/words"])],
        &[("strange", &[prices])],
        &[("rows", &[prices, "3"]), ("rows", &["group/of/words", "0"])],
        &[("rows", &[prices, "4000"]), ("rows", &["group/of/words", "-1"])],
        &[("row", &[prices, "0", "5", "15"]), ("row", &[prices, "2", "9000", "9010"])],
        &[("row", &[prices, "1", "0", "10"]), ("row", &[prices, "6", "60", "61"])],
    ];
    for (number, damage) in cases.into_iter().enumerate() {
        let scratch = Scratch::new();
        history(&scratch, false)?;
        let (digests, tables) =
            (scratch.digests()?, made::by_package("tables", &scratch.path, &[])?);
        for (command, arguments) in damage {
            scratch.alter(command, arguments)?;
        }
        assert!(!scratch.verify().is_sound(), "{damage:?}");
        let report = scratch.repair()?;
        let is_table = |repair: &Repair| matches!(repair, Repair::HashTable { .. });
        assert!(!report.repairs.is_empty() && report.repairs.iter().all(is_table), "{damage:?}");
        assert_eq!(texts(&report.remaining), [""; 0], "{damage:?}");
        assert_eq!(made::by_package("tables", &scratch.path, &[])?, tables, "{damage:?}");
        scratch.alter("agrees", &[])?;
        // Files that are alike by now go on alike.
        if number % 2 == 0 {
            assert_goes_on(&scratch, &digests)?;
        }
    }
    Ok(())
}

#[test]
fn a_table_whose_chunk_was_overwritten_is_made_anew() -> Outcome {
    let scratch = Scratch::new();
    history(&scratch, true)?;
    let tables = made::by_package("tables", &scratch.path, &[])?;
    let all: serde_json::Value = serde_json::from_str(&tables)?;
    let digests = all["group/prices/hash_table"].as_array().ok_or("digests")?;
    let bytes = scratch.bytes();
    let place = digests.iter().filter_map(|digest| {
        let digest = u128::from_str_radix(digest.as_str()?.get(..32)?, 16).ok()?.to_be_bytes();
        bytes.windows(16).position(|window| window == digest)
    });
    // The stored chunk of the table begins with the first digest, behind a byte that says how long it is.
    let place = place.min().ok_or("the first row")?;
    let mut broken = bytes.clone();
    // Something is to be repeated, before which there is nothing.
    broken[place - 1] = 0xff;
    std::fs::write(&scratch.path, broken)?;
    let found = scratch.verify();
    assert!(found.damage().any(|finding| matches!(finding, Finding::HashTable { .. })));
    let report = scratch.repair()?;
    assert!(report.remaining.is_sound(), "{:?}", texts(&report.remaining));
    assert_eq!(made::by_package("tables", &scratch.path, &[])?, tables);
    Ok(())
}

#[test]
fn damage_of_plain_chunks_stays_damage_unless_they_are_accepted() -> Outcome {
    let scratch = Scratch::new();
    history(&scratch, false)?;
    scratch.flip(scratch.address("r4", "group/prices", &[0, 0]));
    // A row that does not fit is no better than a chunk that does not.
    scratch.alter("hash", &["group/prices", "3"])?;
    scratch.alter("swap", &["group/of/words", "0", "2"])?;
    let found = scratch.findings();
    assert_eq!(found.len(), 4, "{found:?}");
    let broken = scratch.bytes();
    let report = scratch.repair()?;
    assert_eq!((done(&report), texts(&report.remaining)), (vec![], found.clone()));
    assert!(scratch.bytes() == broken);
    // Other repairs of the table leave it as it is.
    scratch.alter("rows", &["group/prices", "7"])?;
    let report = scratch.repair()?;
    assert_eq!(report.repairs.len(), 1);
    assert_eq!(texts(&report.remaining), found);

    let report = scratch.repair_with(&RepairOptions::new().accept_chunks(true))?;
    let changed = report.repairs.iter().map(|repair| match repair {
        Repair::HashTable { changed, .. } => *changed,
        other => panic!("{other}"),
    });
    assert!(changed.eq([2, 2]), "{:?}", done(&report));
    assert_eq!(texts(&report.remaining), [""; 0]);
    scratch.alter("agrees", &[])?;
    Ok(())
}

#[test]
fn digests_that_stand_twice_do_so_no_longer() -> Outcome {
    let scratch = Scratch::new();
    history(&scratch, false)?;
    scratch.alter("double", &["group/prices", "0"])?;
    let report = scratch.repair()?;
    let [Repair::HashTable { changed: 1, rows: 15, .. }] = report.repairs[..] else {
        panic!("{:?}", done(&report))
    };
    let [Finding::Orphans(chunks)] = &report.remaining.findings[..] else {
        panic!("{:?}", texts(&report.remaining))
    };
    assert_eq!((chunks.chunks, chunks.first.0), (1, 14));
    Ok(())
}

#[test]
fn rows_give_way_to_chunks_that_a_filter_has_checked() -> Outcome {
    let scratch = Scratch::new();
    history(&scratch, true)?;
    scratch.alter("hash", &["group/prices", "3"])?;
    assert_eq!(scratch.verify().damage().count(), 1);
    let report = scratch.repair()?;
    let [Repair::HashTable { changed: 1, .. }] = report.repairs[..] else {
        panic!("{:?}", done(&report))
    };
    assert_eq!(texts(&report.remaining), [""; 0]);
    // A chunk that a filter refuses is damaged, and stays so.
    scratch.flip(scratch.address("r1", "group/prices", &[3, 1]) + 9);
    let found = scratch.findings();
    let report = scratch.repair()?;
    assert_eq!((done(&report), texts(&report.remaining)), (vec![], found));
    Ok(())
}

#[test]
fn the_current_version_becomes_the_newest() -> Outcome {
    for damage in [&["current", "r9"][..], &["forget"], &["number"], &["current", "unfinished"]] {
        let scratch = Scratch::new();
        history(&scratch, false)?;
        let digests = scratch.digests()?;
        scratch.alter("time", &["r3", "2099-01-01 00:00:00.000000+0000"])?;
        scratch.alter("uncommitted", &["unfinished"])?;
        scratch.alter(damage[0], &damage[1..])?;
        let report = scratch.repair()?;
        assert_eq!(
            done(&report),
            [
                "/_version_data/versions: the current version is now the newest, \"r3\"",
                "version \"unfinished\", which was never committed, dropped",
            ],
            "{damage:?}"
        );
        assert_eq!(texts(&report.remaining), [""; 0]);
        assert_eq!(VersionedFile::open(&scratch.path)?.current_name()?, "r3");
        if damage[0] == "number" {
            assert_goes_on(&scratch, &digests)?;
        }
    }
    Ok(())
}

#[test]
fn a_file_without_versions_has_none_that_is_current() -> Outcome {
    let scratch = Scratch::new();
    drop(scratch.create());
    scratch.alter("uncommitted", &["r0"])?;
    scratch.alter("current", &["r0"])?;
    let report = scratch.repair()?;
    assert_eq!(report.repairs[0], Repair::CurrentVersion { version: None });
    let mut file = VersionedFile::open_rw(&scratch.path)?;
    assert!(matches!(file.current(), Err(Error::NoVersions { .. })));
    file.stage("r0")?.commit()?;
    assert_eq!(file.current()?.name(), "r0");
    Ok(())
}

#[test]
fn what_stopped_writers_left_is_dropped_and_what_deleted_versions_left_is_not() -> Outcome {
    let scratch = Scratch::new();
    history(&scratch, false)?;
    // A chunk of which only its row tells, which a later version may use.
    scratch.alter("double", &["group/of/words", "0"])?;
    scratch.alter("hash", &["group/of/words", "9"])?;
    scratch.alter("junk", &["group/prices", "3", "2", "5"])?;
    let size = std::fs::metadata(&scratch.path)?.len();
    std::fs::OpenOptions::new().write(true).open(&scratch.path)?.set_len(size + 777)?;
    let report = scratch.repair()?;
    let told = done(&report);
    assert!(told.contains(&"777 bytes behind the end of the file cut off".to_owned()), "{told:?}");
    assert!(
        report.repairs.contains(&Repair::Leftovers {
            raw_data: "/_version_data/group/prices/raw_data".to_owned(),
            chunks: 3
        }),
        "{told:?}"
    );
    // Its digest is that of nothing, so nobody takes it for something else.
    let [Finding::Orphans(chunks)] = &report.remaining.findings[..] else {
        panic!("{:?}", texts(&report.remaining))
    };
    assert_eq!((chunks.chunks, chunks.first.0), (1, 9));
    let again = scratch.repair()?;
    assert_eq!(done(&again), [""; 0]);
    Ok(())
}

#[test]
fn a_version_that_cannot_be_looked_at_keeps_its_chunks() -> Outcome {
    let scratch = Scratch::new();
    history(&scratch, false)?;
    // Its last chunks are known to its own list alone.
    let name = b".\0/_version_data/group/prices/raw_data\0";
    let bytes = scratch.bytes();
    let mut lists = bytes.windows(name.len()).enumerate().filter(|(_, window)| window == name);
    let (last, _) = lists.next_back().ok_or("a list")?;
    scratch.flip((last + name.len() + 40) as u64);
    assert!(scratch.verify().damage().any(|finding| matches!(finding, Finding::Dataset { .. })));
    scratch.alter("drop", &["group/prices"])?;
    let file = VersionedFile::open(&scratch.path)?;
    let chunks = file.version("r1")?.dataset("group/prices")?.raw_data().1;
    drop(file);
    let report = scratch.repair()?;
    let [Repair::HashTable { rows, .. }] = report.repairs[..] else {
        panic!("{:?}", done(&report))
    };
    assert_eq!(rows, chunks);
    assert_eq!(report.remaining.damage().count(), 1);
    Ok(())
}

#[test]
fn who_may_not_write_does_not_repair() -> Outcome {
    let scratch = Scratch::new();
    history(&scratch, false)?;
    scratch.alter("drop", &["group/prices"])?;
    let broken = scratch.bytes();
    let mut file = VersionedFile::open(&scratch.path)?;
    assert!(matches!(file.repair(&RepairOptions::new()), Err(Error::ReadOnly { .. })));
    drop(file);
    let mut file = OpenOptions::new().open_rw(&scratch.path)?;
    let mut other = file.clone();
    let stage = file.stage("r5")?;
    assert!(matches!(other.repair(&RepairOptions::new()), Err(Error::StageOpen { .. })));
    drop(stage);
    drop(file);
    assert!(scratch.bytes() == broken);
    // A handle that has committed already knows the table as it is then.
    let mut file = other;
    assert_eq!(file.repair(&RepairOptions::new())?.repairs.len(), 1);
    let mut stage = file.stage("r5")?;
    stage.dataset_mut("group/prices")?.write(s![0..10, 0..4], &Array1::from_elem(4, 1_i64))?;
    assert_eq!(stage.commit()?.chunks_written, 1);
    drop(file);
    assert_eq!(scratch.findings(), [""; 0]);
    Ok(())
}
