//! Stored chunks are used again where their values are equal bit for bit, and nowhere else.

use h5strata::store::DataVersionReason;
use h5strata::{Error, OpenOptions, Selection, StageOptions, VersionedFile};
use ndarray::{Array1, array, s};

use crate::support::Outcome;
use crate::{Scratch, dataset, read, read_as, read_strings};

/// Digests were of the addresses of strings, and versions got each other's strings.
#[test]
fn a_hundred_strings_are_a_hundred_chunks_and_each_version_has_its_own() -> Outcome {
    let scratch = Scratch::new();
    let mut file = scratch.create();
    for version in 0..100 {
        let string = ["a".repeat(version + 1)];
        let mut stage = file.stage(&format!("r{version}"))?;
        if version == 0 {
            stage.create_dataset("text").strings(&[1], &string)?;
        } else {
            stage.dataset_mut("text")?.write_strings(Selection::all(), &string, &[1])?;
        }
        assert_eq!(stage.commit()?.chunks_written, 1, "{version}");
    }
    for version in 0..100 {
        let strings = read_strings(&file, &format!("r{version}"), "text");
        assert_eq!(strings, ["a".repeat(version + 1)]);
    }
    assert_eq!(dataset(&file, "r99", "text").raw_data().1, 100);
    // The strings of an old version are known again.
    let mut stage = file.stage("again")?;
    stage.dataset_mut("text")?.write_strings(Selection::all(), &["aaa"], &[1])?;
    let report = stage.commit()?;
    assert_eq!((report.chunks_written, report.chunks_reused), (0, 1));
    assert_eq!(read_strings(&file, "again", "text"), ["aaa"]);
    drop(file);
    scratch.alter("agrees", &[])?;
    Ok(())
}

/// Strings were joined before they were hashed, so that other splits of the same text collided.
#[test]
fn strings_that_are_split_elsewhere_are_other_strings() -> Outcome {
    let scratch = Scratch::new();
    let mut file = scratch.create();
    let splits = [["ab", "c"], ["a", "bc"], ["abc", ""], ["", "abc"]];
    for (version, strings) in splits.iter().enumerate() {
        let mut stage = file.stage(&format!("r{version}"))?;
        if version == 0 {
            stage.create_dataset("text").chunks(&[10_000]).gzip(4).strings(&[2], strings)?;
        } else {
            stage.dataset_mut("text")?.write_strings(Selection::all(), strings, &[2])?;
        }
        stage.commit()?;
    }
    for (version, strings) in splits.iter().enumerate() {
        assert_eq!(read_strings(&file, &format!("r{version}"), "text"), *strings);
    }
    assert_eq!(dataset(&file, "r3", "text").raw_data().1, 4);
    drop(file);
    scratch.alter("agrees", &[])?;
    Ok(())
}

/// Files with hash tables that are known to be wrong were upgraded and continued.
#[test]
fn files_of_wrong_or_unknown_formats_are_not_written_to_and_stay_as_they_are() -> Outcome {
    for (number, expected) in [
        (2, DataVersionReason::WrongHashes),
        (3, DataVersionReason::WrongHashes),
        (5, DataVersionReason::TooNew),
    ] {
        let scratch = Scratch::new();
        let mut file = scratch.create();
        for version in 0..11_i64 {
            let mut stage = file.stage(&format!("r{version}"))?;
            let values = Array1::from_iter(0..version);
            if version == 0 {
                stage.create_dataset("foo").chunks(&[4096]).data(&values)?;
            } else {
                let mut foo = stage.dataset_mut("foo")?;
                foo.resize(&[version as u64])?;
                foo.write(Selection::all(), &values)?;
            }
            stage.commit()?;
        }
        drop(file);
        scratch.alter("version", &[&number.to_string()])?;
        let before = scratch.bytes();
        match VersionedFile::open_rw(&scratch.path) {
            Err(Error::DataVersion { file, found, reason }) => {
                assert_eq!((found, reason), (number, expected));
                assert_eq!(file, scratch.path);
            }
            other => panic!("{number}: {other:?}"),
        }
        assert!(scratch.bytes() == before, "{number}");
        let reading = VersionedFile::open(&scratch.path);
        assert!(matches!(reading, Err(Error::DataVersion { .. })), "{number}");
    }
    Ok(())
}

/// Floats were compared as numbers: minus zero became zero, one NaN another.
#[test]
fn floats_are_compared_bit_by_bit() -> Outcome {
    let scratch = Scratch::new();
    let mut file = scratch.create();
    let values = [
        0.0,
        -0.0,
        f64::from_bits(0x7ff8_0000_0000_0001),
        f64::from_bits(0x7ff8_0000_0000_0002),
        f64::from_bits(0xfff8_0000_0000_0001),
        // Signalling: arithmetic would make it quiet.
        f64::from_bits(0x7ff0_0000_0000_0001),
    ];
    for (version, &value) in values.iter().enumerate() {
        let mut stage = file.stage(&format!("r{version}"))?;
        let array = Array1::from_elem(4, value);
        if version == 0 {
            stage.create_dataset("x").chunks(&[2]).data(&array)?;
        } else {
            stage.dataset_mut("x")?.write(Selection::all(), &array)?;
        }
        let report = stage.commit()?;
        // Both chunks of a version are equal, and those of zeros are the fill value.
        let expected = if version == 0 { (0, 0, 2) } else { (1, 1, 0) };
        let counts = (report.chunks_written, report.chunks_reused, report.chunks_filled);
        assert_eq!(counts, expected, "{version}");
    }
    for file in [file, VersionedFile::open(&scratch.path)?] {
        for (version, value) in values.iter().enumerate() {
            let stored = read_as::<f64>(&file, &format!("r{version}"), "x");
            assert!(stored.iter().all(|x| x.to_bits() == value.to_bits()), "{version}");
        }
    }
    Ok(())
}

/// A fill value that is no number: only its own bits are not stored.
#[test]
fn a_nan_as_fill_value_is_the_fill_value_with_its_own_payload_alone() -> Outcome {
    let scratch = Scratch::new();
    let mut file = scratch.create();
    let (fill, other) =
        (f64::from_bits(0x7ff8_0000_0000_00aa), f64::from_bits(0x7ff8_0000_0000_00bb));
    let mut stage = file.stage("r0")?;
    let values = array![fill, fill, other, other];
    stage.create_dataset("x").chunks(&[2]).fill(&fill.to_le_bytes()).data(&values)?;
    let report = stage.commit()?;
    assert_eq!((report.chunks_written, report.chunks_filled), (1, 1));
    let stored = read_as::<f64>(&file, "r0", "x");
    assert!(stored.iter().zip(&values).all(|(a, b)| a.to_bits() == b.to_bits()));
    Ok(())
}

/// A chunk was taken to be the one with the number of its row.
#[test]
fn rows_go_by_the_start_they_say() -> Outcome {
    let scratch = Scratch::new();
    let mut file = scratch.create();
    let mut stage = file.stage("r0")?;
    stage.create_dataset("x").chunks(&[2]).data(&array![1_i64, 2, 3, 4])?;
    stage.commit()?;
    let mut stage = file.stage("r1")?;
    stage.dataset_mut("x")?.write(Selection::all(), &array![3_i64, 4, 1, 2])?;
    assert_eq!(stage.commit()?.chunks_written, 0);
    drop(file);
    scratch.alter("reverse", &["x"])?;
    let mut file = VersionedFile::open_rw(&scratch.path)?;
    let mut stage = file.stage("r2")?;
    stage.dataset_mut("x")?.write(Selection::all(), &array![3_i64, 4, 5, 6])?;
    let report = stage.commit()?;
    assert_eq!((report.chunks_written, report.chunks_reused), (1, 1));
    for (version, values) in [("r0", [1, 2, 3, 4]), ("r1", [3, 4, 1, 2]), ("r2", [3, 4, 5, 6])] {
        assert_eq!(read(&file, version, "x"), Array1::from_vec(values.into()).into_dyn());
    }
    assert_eq!(dataset(&file, "r2", "x").raw_data().1, 3);
    drop(file);
    scratch.alter("agrees", &[])?;
    Ok(())
}

/// A stored chunk had rotted, and whoever wrote its values again got the rotten bytes.
#[test]
fn a_damaged_chunk_is_not_used_again_when_chunks_are_verified() -> Outcome {
    for gzip in [false, true] {
        let scratch = Scratch::new();
        let mut file = scratch.create();
        let mut stage = file.stage("r0")?;
        let values = Array1::from_iter((0..200_i64).map(|x| x * x));
        let mut builder = stage.create_dataset("x").chunks(&[100]);
        if gzip {
            builder = builder.gzip(1);
        }
        builder.data(&values)?;
        stage.commit()?;
        let mut stage = file.stage("r1")?;
        stage.dataset_mut("x")?.write_scalar(Selection::all(), 7_i64)?;
        stage.commit()?;
        let first = dataset(&file, "r0", "x").stored_chunks()?[0].clone();
        assert_eq!(first.raw.0, 0);
        drop(file);
        let mut bytes = scratch.bytes();
        bytes[(first.address + first.size / 2) as usize] ^= 0x10;
        std::fs::write(&scratch.path, bytes)?;

        let mut file = VersionedFile::open_rw(&scratch.path)?;
        let mut stage = StageOptions::new().verify_reused(true).stage(&mut file, "r2")?;
        stage.dataset_mut("x")?.write(Selection::all(), &values)?;
        let report = stage.commit()?;
        assert_eq!((report.chunks_written, report.chunks_reused), (1, 1), "gzip: {gzip}");
        assert_eq!(report.datasets[0].chunks_mismatched, [0]);
        assert_eq!(read(&file, "r2", "x"), values.clone().into_dyn());

        // The sound chunk is the known one from now on.
        let mut stage = StageOptions::new().verify_reused(true).stage(&mut file, "r3")?;
        stage.dataset_mut("x")?.write(Selection::all(), &Array1::<i64>::zeros(200))?;
        stage.commit()?;
        let mut stage = StageOptions::new().verify_reused(true).stage(&mut file, "r4")?;
        stage.dataset_mut("x")?.write(s![..], &values)?;
        let report = stage.commit()?;
        assert_eq!(report.chunks_reused + report.chunks_written, 2);
        assert_eq!(read(&file, "r4", "x"), values.into_dyn());
    }
    Ok(())
}

/// The same for strings, which are read through libhdf5.
#[test]
fn sound_chunks_are_used_again_when_chunks_are_verified() -> Outcome {
    let scratch = Scratch::new();
    let mut file = scratch.create();
    let options = StageOptions::new().verify_reused(true);
    let mut stage = options.stage(&mut file, "r0")?;
    stage.create_dataset("text").chunks(&[2]).strings(&[3], &["a", "bc", "d"])?;
    stage.create_dataset("x").chunks(&[2]).gzip(4).data(&array![1.5, 2.5, 3.5])?;
    stage.commit()?;
    let mut stage = options.stage(&mut file, "r1")?;
    stage.dataset_mut("text")?.write_strings(Selection::all(), &["x", "y", "z"], &[3])?;
    stage.dataset_mut("x")?.write_scalar(Selection::all(), 9.0)?;
    stage.commit()?;
    let mut stage = options.stage(&mut file, "r2")?;
    stage.dataset_mut("text")?.write_strings(Selection::all(), &["a", "bc", "d"], &[3])?;
    stage.dataset_mut("x")?.write(Selection::all(), &array![1.5, 2.5, 3.5])?;
    let report = stage.commit()?;
    assert_eq!((report.chunks_written, report.chunks_reused), (0, 4));
    assert!(report.datasets.iter().all(|dataset| dataset.chunks_mismatched.is_empty()));
    assert_eq!(read_strings(&file, "r2", "text"), ["a", "bc", "d"]);
    Ok(())
}

/// Rows that were added to a table in its place, commit after commit of one handle, were lost, or others with them: as
/// the last chunk grows, when it is full, and when another takes over.
#[test]
fn a_hash_table_has_every_row_however_it_was_written() -> Outcome {
    const FIRST: u64 = 4088;
    let scratch = Scratch::new();
    let mut file = scratch.create();
    let mut stage = file.stage("r0")?;
    let values = Array1::from_iter(1..=FIRST as i64);
    stage.create_dataset("x").chunks(&[1]).data(&values)?;
    stage.create_dataset("y").chunks(&[1]).data(&values.slice(s![..3]).to_owned())?;
    stage.commit()?;
    for version in 1..17_usize {
        let (mut stage, value) = (file.stage(&format!("r{version}"))?, -(version as i64));
        stage.dataset_mut("x")?.write_scalar(s![7 * version], value)?;
        let mut few = stage.dataset_mut("y")?;
        few.write_scalar(s![..version % 3 + 1], value)?;
        if version % 6 == 0 {
            stage.commit()?;
            // Another handle knows nothing of the table.
            drop(file);
            file = OpenOptions::new().open_rw(&scratch.path)?;
        } else {
            stage.commit()?;
        }
    }
    // All values of one dataset that there were are known.
    let mut stage = file.stage("again")?;
    let all = Array1::from_iter((1..=FIRST as i64).chain((1..17).map(|version| -version)));
    stage.dataset_mut("x")?.resize(&[all.len() as u64])?;
    stage.dataset_mut("x")?.write(s![..], &all)?;
    let report = stage.commit()?;
    assert_eq!((report.chunks_written, report.chunks_reused), (0, all.len() as u64));
    drop(file);
    scratch.alter("agrees", &[])?;
    Ok(())
}
