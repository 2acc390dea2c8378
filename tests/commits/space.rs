//! How large files become.

use h5strata::{Selection, VersionedFile};
use ndarray::{Array1, array};

use crate::support::Outcome;
use crate::{Scratch, dataset, read_as};

/// A table with room for 4096 rows made a file of nothing 210 KB large.
#[test]
fn a_file_of_next_to_nothing_is_small() -> Outcome {
    let scratch = Scratch::new();
    let mut file = scratch.create();
    let mut stage = file.stage("r0")?;
    stage.create_dataset("x").chunks(&[1000]).empty("<i8".parse()?, &[0])?;
    stage.commit()?;
    drop(file);
    assert!(scratch.size() <= 16 << 10, "{} bytes", scratch.size());

    let scratch = Scratch::new();
    let mut file = scratch.create();
    let mut stage = file.stage("r0")?;
    stage.create_dataset("x").data(&array![1_i64])?;
    stage.commit()?;
    drop(file);
    assert!(scratch.size() <= 20 << 10, "{} bytes", scratch.size());
    Ok(())
}

/// Each commit stored the same chunks again.
#[test]
fn an_array_that_is_committed_ten_times_is_stored_once() -> Outcome {
    const BYTES: u64 = 1 << 20;
    let scratch = Scratch::new();
    let mut file = scratch.create();
    let values = Array1::from_iter((0..BYTES / 8).map(|x| x * 7 + 1));
    let mut sizes = Vec::new();
    for version in 0..10 {
        let mut stage = file.stage(&format!("r{version}"))?;
        match version {
            0 => drop(stage.create_dataset("x").chunks(&[8192]).data(&values)?),
            // Written over, made anew, or with all values gone in between.
            1..5 => stage.dataset_mut("x")?.write(Selection::all(), &values)?,
            5 | 7 => stage.delete("x")?,
            6 | 8 => drop(stage.create_dataset("x").data(&values)?),
            _ => {
                let mut x = stage.dataset_mut("x")?;
                x.resize(&[0])?;
                x.resize(&[BYTES / 8])?;
                x.write(Selection::all(), &values)?;
            }
        }
        let report = stage.commit()?;
        assert_eq!(report.chunks_written, if version == 0 { 16 } else { 0 }, "{version}");
        sizes.push(scratch.size());
    }
    assert!(read_as::<u64>(&file, "r9", "x") == values.into_dyn());
    assert_eq!(dataset(&file, "r9", "x").raw_data().1, 16);
    drop(file);
    assert!(scratch.size() <= BYTES + (64 << 10), "{sizes:?}");
    Ok(())
}

/// Files grew by every dataset that came and went, and by more where they were closed in between.
#[test]
fn a_dataset_that_comes_and_goes_costs_no_more_than_its_versions() -> Outcome {
    for reopened in [false, true] {
        let scratch = Scratch::new();
        let mut file = scratch.create();
        let values = Array1::from_iter(0..8192_i64);
        let mut sizes = Vec::new();
        for cycle in 0..50 {
            let mut stage = file.stage(&format!("with{cycle}"))?;
            stage.create_dataset("x").chunks(&[8192]).data(&values)?;
            stage.commit()?;
            let mut stage = file.stage(&format!("without{cycle}"))?;
            stage.delete("x")?;
            stage.commit()?;
            if reopened {
                drop(file);
                file = VersionedFile::open_rw(&scratch.path)?;
            }
            sizes.push(scratch.size());
        }
        drop(file);
        // Two groups with three attributes each, a virtual dataset with two, and a list of one mapping: none of it is
        // ever freed, as both versions stay. The chunk of 64 KiB is stored once.
        let growth = (scratch.size() - sizes[1]) / 48;
        let most = if reopened { GROWTH + HEAP_COLLECTION } else { GROWTH };
        assert!(growth <= most, "reopened: {reopened}: {growth} bytes a cycle: {sizes:?}");
    }
    Ok(())
}

/// Most bytes that a version with one small dataset and one without add.
const GROWTH: u64 = 4 << 10;

/// What a file that is opened anew adds: libhdf5 begins another heap collection for the strings of attributes
/// (`H5HG_MINSIZE`), however much room the last one has.
const HEAP_COLLECTION: u64 = 4096;

/// Stages that came to nothing made the file larger.
#[test]
fn stages_that_are_dropped_leave_no_byte() -> Outcome {
    let scratch = Scratch::new();
    let mut file = scratch.create();
    let mut stage = file.stage("r0")?;
    stage.create_dataset("x").chunks(&[100]).data(&Array1::from_iter(0..1000_i64))?;
    stage.commit()?;
    drop(file);
    let before = scratch.bytes();
    let mut file = VersionedFile::open_rw(&scratch.path)?;
    for round in 0..50_i64 {
        let mut stage = file.stage(&format!("r{}", round + 1))?;
        let mut x = stage.dataset_mut("x")?;
        x.resize(&[100_000])?;
        x.write_scalar(Selection::all(), round)?;
        stage.create_dataset("y").data(&Array1::from_iter(0..10_000_i64))?;
    }
    drop(file);
    assert!(scratch.bytes() == before);
    Ok(())
}
