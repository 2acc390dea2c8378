//! Files of older formats: what opening them for writing and `upgrade` make of them, and that files go on from there.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use h5strata::store::{DataVersionReason, Finding};
use h5strata::{
    Durability, Error, OpenOptions, Selection, UpgradeOptions, UpgradeReport, VersionedFile,
};
use ndarray::Array1;

use crate::support::values::Values;
use crate::support::{made, shared};
use crate::{Outcome, Scratch, texts};

fn copy_of(path: &Path) -> Outcome<Scratch> {
    let scratch = Scratch::new();
    std::fs::write(&scratch.path, std::fs::read(path)?)?;
    Ok(scratch)
}

fn options() -> UpgradeOptions {
    UpgradeOptions::new().open_options(OpenOptions::new().durability(Durability::Process))
}

fn upgrade(scratch: &Scratch) -> Result<UpgradeReport, Error> {
    options().upgrade(&scratch.path)
}

/// The digests of all datasets of all versions.
fn digests(file: &VersionedFile) -> Outcome<BTreeMap<(String, String), String>> {
    let mut digests = BTreeMap::new();
    for version in file.versions()? {
        let opened = file.version(&version.name)?;
        for path in opened.datasets()? {
            let values = Values::whole(&opened.dataset(&path)?)?;
            digests.insert((version.name.clone(), path), values.sha256());
        }
    }
    Ok(digests)
}

/// Real files of data_version 1.
fn real_files() -> Outcome<Vec<PathBuf>> {
    let Some(folder) = shared::data()? else { return Ok(Vec::new()) };
    let files = shared::hdf5_files(&folder)?;
    assert!(files.len() >= 7, "{files:?}");
    Ok(files)
}

/// The digests in all hash tables, each once.
fn tables(scratch: &Scratch) -> Outcome<BTreeMap<String, Vec<String>>> {
    Ok(serde_json::from_str(&made::by_package("tables", &scratch.path, &[])?)?)
}

#[test]
fn real_files_of_the_first_format_are_upgraded_and_hold_what_they_held() -> Outcome {
    for path in real_files()? {
        let name = path.display();
        let (scratch, fresh) = (copy_of(&path)?, copy_of(&path)?);
        let file = VersionedFile::open(&path)?;
        let before = digests(&file)?;
        assert_eq!((file.data_version(), file.upgraded()), (1, None));
        let report = upgrade(&scratch)?;
        assert_eq!(report.from, 1);
        let newest = file.current()?;
        let mut has_strings = false;
        for path in newest.datasets()? {
            has_strings |= newest.dataset(&path)?.dtype().is_variable_string();
        }
        assert_eq!(!report.tables.is_empty(), has_strings, "{name}");

        let file = VersionedFile::open(&scratch.path)?;
        assert_eq!(file.data_version(), 4);
        assert!(digests(&file)? == before, "{name}");
        let found = scratch.verify();
        assert!(found.is_sound(), "{name}: {:?}", texts(&found));
        let is_without = |finding: &Finding| {
            matches!(finding, Finding::WithoutDigest(_) | Finding::Padding(_) | Finding::Orphans(_))
        };
        assert!(found.findings.iter().all(is_without), "{name}: {:?}", texts(&found));
        // Each digest once, and all those that the package finds.
        made::by_package("rebuild", &fresh.path, &[])?;
        assert_eq!(tables(&scratch)?, tables(&fresh)?, "{name}");

        // Once is enough.
        let upgraded = std::fs::read(&scratch.path)?;
        assert!(upgrade(&scratch)?.was_newest());
        assert!(std::fs::read(&scratch.path)? == upgraded);
    }
    Ok(())
}

#[test]
fn upgraded_files_are_continued_and_deleted_from_by_both_engines() -> Outcome {
    for path in real_files()? {
        let name = path.display();
        let scratch = copy_of(&path)?;
        let before = digests(&VersionedFile::open(&path)?)?;
        let mut file = VersionedFile::open_rw(&scratch.path)?;
        assert_eq!(file.upgraded().map(|report| report.from), Some(1));
        assert_eq!(file.data_version(), 4);
        let mut stage = file.stage("ours")?;
        let paths: Vec<String> = stage.entries().into_iter().map(|entry| entry.path).collect();
        for path in &paths {
            if stage.kind(path) != Some(h5strata::store::EntryKind::Dataset) {
                continue;
            }
            let mut dataset = stage.dataset_mut(path)?;
            if dataset.dtype().is_variable_string() {
                dataset.write_strings(Selection::all(), &["new"], &[])?;
            }
        }
        stage.commit()?;
        // Handles that go on still tell.
        assert_eq!(file.upgraded().map(|report| report.from), Some(1));
        drop(file);
        made::by_package("commit", &scratch.path, &["theirs"])?;
        let file = VersionedFile::open(&scratch.path)?;
        let after = digests(&file)?;
        assert!(before.iter().all(|(at, digest)| after.get(at) == Some(digest)), "{name}");
        assert!(scratch.verify().is_sound(), "{name}: {:?}", scratch.findings());
        let oldest = file.versions()?[0].name.clone();
        drop(file);
        // It wants a row for every chunk that is kept, and no digest twice.
        made::by_package("delete", &scratch.path, &[&oldest, "ours"])?;
        let after = digests(&VersionedFile::open(&scratch.path)?)?;
        let kept = before.iter().filter(|((version, _), _)| *version != oldest);
        for (at, digest) in kept {
            assert_eq!(after.get(at), Some(digest), "{name}: {at:?}");
        }
    }
    Ok(())
}

/// Versions r0 to r10 of "foo", each one longer, and of strings.
fn growing(number: i64) -> Outcome<Scratch> {
    let scratch = Scratch::new();
    let mut file = scratch.create();
    for version in 0..11_i64 {
        let mut stage = file.stage(&format!("r{version}"))?;
        let values = Array1::from_iter(0..version);
        let length = values.len() as u64;
        let words: Vec<String> = (0..version).map(|word| format!("word {word}")).collect();
        if version == 0 {
            stage.create_dataset("foo").chunks(&[4096]).data(&values)?;
            stage.create_dataset("deep/er/words").chunks(&[4]).strings(&[0], &words)?;
        } else {
            let mut numbers = stage.dataset_mut("foo")?;
            numbers.resize(&[length])?;
            numbers.write(Selection::all(), &values)?;
            let mut text = stage.dataset_mut("deep/er/words")?;
            text.resize(&[length])?;
            text.write_strings(Selection::all(), &words, &[length])?;
        }
        stage.commit()?;
    }
    drop(file);
    scratch.alter("version", &[&number.to_string()])?;
    Ok(scratch)
}

#[test]
fn wrong_tables_are_made_anew_only_when_that_is_asked_for() -> Outcome {
    for number in [2, 3] {
        let scratch = growing(number)?;
        let right = tables(&scratch)?;
        // Rows of other chunks than they say, and digests of nothing that is there.
        scratch.alter("swap", &["foo", "2", "7"])?;
        scratch.alter("swap", &["deep/er/words", "0", "3"])?;
        scratch.alter("hash", &["deep/er/words", "1"])?;
        let broken = std::fs::read(&scratch.path)?;
        let before = digests(&OpenOptions::new().accept_wrong_hashes(true).open(&scratch.path)?)?;
        for refused in [
            upgrade(&scratch).map(drop),
            VersionedFile::open_rw(&scratch.path).map(drop),
            OpenOptions::new().accept_wrong_hashes(true).open_rw(&scratch.path).map(drop),
        ] {
            let Err(Error::DataVersion { found, reason: DataVersionReason::WrongHashes, .. }) =
                refused
            else {
                panic!("{refused:?}")
            };
            assert_eq!(found, number);
        }
        assert!(std::fs::read(&scratch.path)? == broken);
        let report = options().rebuild_hashes(true).upgrade(&scratch.path)?;
        assert_eq!(report.from, number);
        assert!(report.may_hold_wrong_chunks() && report.tables.len() == 2);
        assert_eq!(tables(&scratch)?, right);
        assert!(digests(&VersionedFile::open(&scratch.path)?)? == before);
        assert_eq!(scratch.findings(), [""; 0]);
        made::by_package("commit", &scratch.path, &["r11"])?;
        made::by_package("delete", &scratch.path, &["r0", "r5"])?;
        assert!(scratch.verify().is_sound(), "{:?}", scratch.findings());
    }
    Ok(())
}

#[test]
fn chunks_that_cannot_be_read_do_not_keep_a_file_from_being_upgraded() -> Outcome {
    let scratch = growing(1)?;
    // A reference to another heap than there is: length, collection, object.
    scratch.flip(scratch.address("r10", "deep/er/words", &[0]) + 4);
    let damaged = scratch.verify().damage().count();
    assert_eq!(damaged, 1);
    let report = upgrade(&scratch)?;
    let [table] = &report.tables[..] else { panic!("{report:?}") };
    assert_eq!(table.rows, table.digests + 1);
    assert_eq!(scratch.verify().damage().count(), damaged);
    Ok(())
}

#[test]
fn no_format_is_upgraded_that_is_not_known() -> Outcome {
    for number in [0, 5, -1] {
        let scratch = growing(number)?;
        let before = std::fs::read(&scratch.path)?;
        let refused = options().rebuild_hashes(true).upgrade(&scratch.path);
        assert!(matches!(refused, Err(Error::DataVersion { found, .. }) if found == number));
        assert!(std::fs::read(&scratch.path)? == before);
    }
    Ok(())
}
