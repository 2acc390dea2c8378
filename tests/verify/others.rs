//! Files made by versioned-hdf5, and broken ones.

use h5strata::store::Finding;
use h5strata::{OpenOptions, VerifyOptions, VersionedFile};

use crate::support::answers::Call;
use crate::support::shared::{self, SUITE_OUT_OF_RANGE};
use crate::support::{made, values};
use crate::{Outcome, texts};

/// Made files in which chunks cannot be looked at, or not be compared, and what is said of them.
const REMARKS: [(&str, &str); 8] = [
    ("dtype-compound", "may be of more than is stored"),
    ("failed-stage", "used by no version"),
    ("filter-blosc2", "filter 32026 (blosc2) is not supported"),
    ("filter-optional-incompressible", "filter 32026 (blosc2) is not supported"),
    ("filter-scaleoffset", "may be of more than is stored"),
    ("old-data-version", "data_version 1: its digests are of an older recipe"),
    ("report-junk-raw-chunks", "left by a stopped writer"),
    ("report-junk-raw-chunks-and-rows", "left by a stopped writer"),
];

/// A made file in which the package's next commit would write over chunks that are used.
const FEWER_ROWS: &str = "report-fewer-rows-than-chunks";

#[test]
fn files_of_versioned_hdf5_are_sound_also_after_its_delete() -> Outcome {
    let mut verified = 0;
    // What is made by hand has no true digests of edge chunks.
    let by_package = made::files()?.into_iter().filter(|file| !file.name.ends_with("-handmade"));
    for file in by_package {
        let report = VersionedFile::open(&file.path)?.verify(&VerifyOptions::new())?;
        let (name, found) = (&file.name, texts(&report));
        if name == FEWER_ROWS {
            let is_index = |finding: &Finding| matches!(finding, Finding::LargestIndex { .. });
            assert!(report.damage().count() == 1 && report.damage().all(is_index), "{found:#?}");
            continue;
        }
        assert!(report.is_sound(), "{name}: {found:#?}");
        let said = REMARKS.iter().find(|(of, _)| of == name).map(|(_, said)| *said);
        // What is between fields may by chance be what it was.
        let is_chance = name == "dtype-compound";
        assert!(found.is_empty() == said.is_none() || is_chance, "{name}: {found:#?}");
        let said = said.unwrap_or_default();
        assert!(found.iter().all(|finding| finding.contains(said)), "{name}: {found:#?}");
        verified += 1;
    }
    assert!(verified > 50, "{verified} files");
    Ok(())
}

/// What tests of the package left when they had rebuilt hash tables: rows of many chunks are missing, so that
/// `largest_index` is less than the number of chunks, and the package's next commit writes over some of them.
const REBUILT: &str = "test_rebuild_hashtable_chunk_reuse_multi_dim";

#[test]
fn of_the_packages_own_test_files_those_that_are_damaged_are_told() -> Outcome {
    let Some(folder) = shared::suite()? else { return Ok(()) };
    let (mut sound, mut rebuilt, mut half_way) = (0, 0, 0);
    for path in shared::hdf5_files(&folder)? {
        let name = path.file_stem().and_then(|name| name.to_str()).ok_or("a name")?;
        let report = VersionedFile::open(&path)?.verify(&VerifyOptions::new())?;
        let found = || format!("{name}: {:#?}", texts(&report));
        if SUITE_OUT_OF_RANGE.iter().any(|(file, ..)| *file == name) {
            let is_out_of_range = |finding: &&Finding| {
                let text = finding.to_string();
                text.starts_with("version2 of test_data: chunk (")
                    && text.contains("raw_data has 20")
            };
            assert_eq!(report.damage().filter(is_out_of_range).count(), 10, "{}", found());
            half_way += 1;
        } else if report.is_sound() {
            sound += 1;
        } else {
            assert!(name.ends_with(REBUILT), "{}", found());
            let is_index = |finding: &Finding| matches!(finding, Finding::LargestIndex { .. });
            assert!(report.damage().all(is_index), "{}", found());
            rebuilt += 1;
        }
    }
    assert_eq!(half_way, SUITE_OUT_OF_RANGE.len());
    assert!(sound > 80 && rebuilt > 0, "{sound} sound, {rebuilt} rebuilt");
    Ok(())
}

/// Broken files of which nothing is wrong that readers or writers of h5strata mind.
const NO_DAMAGE: [&str; 1] = ["unknown-filter"];

#[test]
fn what_is_broken_is_damage_and_does_not_hide_what_is_not() -> Outcome {
    let accepting = OpenOptions::new().accept_wrong_hashes(true);
    let mut damaged = 0;
    for (path, row) in made::broken_files()? {
        let file = match (accepting.open(&path), row.call) {
            (Ok(file), _) => file,
            (Err(_), Call::Open) => continue,
            (Err(error), _) => panic!("{error}"),
        };
        let report = file.verify(&VerifyOptions::new())?;
        let found = texts(&report);
        let is_damage =
            row.call != Call::Open && !NO_DAMAGE.iter().any(|n| row.file.starts_with(n));
        assert_eq!(report.is_sound(), !is_damage, "{}: {found:#?}", row.file);
        if is_damage {
            damaged += 1;
            let names = [row.version.as_deref(), row.dataset.as_deref()];
            let names = names
                .into_iter()
                .flatten()
                .filter(|name| *name != "bad" || row.call != Call::History);
            let is_named = |text: &String| names.clone().all(|name| text.contains(name));
            assert!(found.iter().any(is_named), "{}: {found:#?}", row.file);
        }
        // The other dataset is whole, and nothing is said of it.
        let is_intact =
            |text: &String| !text.contains("/_version_data/intact") || text.contains("source is");
        assert!(found.iter().all(is_intact), "{}: {found:#?}", row.file);
    }
    assert!(damaged > 50, "{damaged} files");
    Ok(())
}

#[test]
fn what_verify_calls_sound_reads_as_it_was_written() -> Outcome {
    for name in ["prices", "deleted-versions", "resized", "dtype-strings"] {
        let made = made::file(name)?;
        let file = VersionedFile::open(&made.path)?;
        assert!(file.verify(&VerifyOptions::new())?.is_sound());
        for digest in made.digests()? {
            let dataset = file.version(&digest.version)?.dataset(&digest.dataset)?;
            assert_eq!(values::Values::whole(&dataset)?.sha256(), digest.sha256, "{name}");
        }
    }
    Ok(())
}
