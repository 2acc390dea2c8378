//! Sound files, and what is no damage.

use h5strata::codec::Filter;
use h5strata::snapshot::OnProgress;
use h5strata::{OpenOptions, RawPath, Selection, StageOptions, VerifyOptions, VersionedFile};
use ndarray::{Array1, Array2, Array3, array, s};
use std::sync::{Arc, Mutex};

use crate::support::cost::cost;
use crate::{Outcome, Scratch, assert_sound, texts};

/// Versions of datasets of many kinds: filtered or not, of one to three axes, edges of all sizes, strings, sparse and empty
/// ones; changed, resized, deleted, as they were, and in branches.
fn of_all_kinds(scratch: &Scratch) -> Result<VersionedFile, h5strata::Error> {
    let mut file = scratch.create();
    let mut stage = file.stage("r0")?;
    let line = Array1::from_iter(0..1003_i64);
    let plane = Array2::from_shape_fn((30, 17), |(row, column)| (row * 100 + column) as f64);
    let cube = Array3::from_shape_fn((5, 6, 7), |(a, b, c)| (a * 50 + b * 7 + c) as u16);
    stage.create_dataset("line").chunks(&[10]).data(&line)?;
    stage.create_dataset("group/plane").chunks(&[8, 5]).gzip(2).shuffle().data(&plane)?;
    stage.create_dataset("group/checked").chunks(&[7, 9]).fletcher32().data(&plane)?;
    stage.create_dataset("cube").chunks(&[2, 4, 7]).compression(Filter::lzf()).data(&cube)?;
    let words: Vec<String> = (0..50).map(|n| "word".repeat(n % 7)).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    stage.create_dataset("words").chunks(&[8]).strings(&[50], &words)?;
    stage.create_dataset("empty").chunks(&[4]).data(&Array1::<f32>::zeros(0))?;
    stage.create_dataset("sparse").chunks(&[10, 10]).data(&Array2::<i32>::zeros((100, 100)))?;
    stage.create_dataset("same").chunks(&[100]).data(&line)?;
    stage.commit()?;
    let mut stage = file.stage("r1")?;
    stage.dataset_mut("line")?.write(s![5..25], &Array1::from_elem(20, -1_i64))?;
    stage.dataset_mut("group/plane")?.resize(&[31, 21])?;
    stage.dataset_mut("cube")?.resize(&[3, 6, 6])?;
    stage.dataset_mut("sparse")?.write_scalar(s![55, 55], 7_i32)?;
    stage.dataset_mut("words")?.write_strings(s![3..5], &["x", "more than before"], &[2])?;
    stage.commit()?;
    let mut stage = StageOptions::new().parent("r0").stage(&mut file, "other")?;
    stage.delete("words")?;
    stage.dataset_mut("line")?.resize(&[7])?;
    stage.commit()?;
    Ok(file)
}

#[test]
fn sound_files_of_all_kinds_are_sound_whichever_way_they_are_read() -> Outcome {
    let scratch = Scratch::new();
    let report = of_all_kinds(&scratch)?.verify(&VerifyOptions::new())?;
    assert_sound(&report, "by the handle that wrote it");
    assert_eq!((report.versions, report.datasets), (3, 8 + 8 + 7));
    for threads in [1, 2, 7] {
        for raw_path in [RawPath::Auto, RawPath::Library] {
            let options = OpenOptions::new().threads(threads).raw_path(raw_path);
            let again = options.open(&scratch.path)?.verify(&VerifyOptions::new())?;
            assert_sound(&again, &format!("{threads} threads, {raw_path:?}"));
            assert_eq!((again.chunks, again.bytes), (report.chunks, report.bytes));
        }
    }
    Ok(())
}

#[test]
fn a_file_without_versions_is_sound() -> Outcome {
    let scratch = Scratch::new();
    drop(scratch.create());
    let report = scratch.verify();
    assert_sound(&report, "no versions");
    assert_eq!((report.versions, report.datasets, report.chunks), (0, 0, 0));
    Ok(())
}

#[test]
fn every_chunk_is_read_once_and_told_of() -> Outcome {
    let scratch = Scratch::new();
    let mut file = scratch.create();
    let mut stage = file.stage("r0")?;
    stage.create_dataset("g/x").chunks(&[1000]).data(&Array1::from_iter(0..100_500_i64))?;
    stage.commit()?;
    for version in 1..20 {
        let mut stage = file.stage(&format!("r{version}"))?;
        stage.dataset_mut("g/x")?.write_scalar(s![version * 1000], -1_i64)?;
        stage.commit()?;
    }
    drop(file);
    // 101 chunks, and one for each later version.
    let bytes = 120 * 8000;
    let told = Arc::new(Mutex::new(Vec::new()));
    let listener = Arc::clone(&told);
    let options = VerifyOptions::new().on_progress(OnProgress::new(move |progress| {
        assert_eq!(progress.dataset, "g/x");
        listener.lock().unwrap().push((progress.done, progress.total));
    }));
    let file = OpenOptions::new().threads(1).open(&scratch.path)?;
    let (report, counts) = cost(&file, || file.verify(&options));
    let report = report?;
    assert_sound(&report, "x");
    assert_eq!((report.chunks, report.bytes), (120, bytes));
    let told = told.lock().unwrap();
    assert!(told.is_sorted() && told.last() == Some(&(bytes, bytes)), "{told:?}");

    let (report, quick) = cost(&file, || file.verify(&VerifyOptions::new().quick(true)));
    let report = report?;
    assert_sound(&report, "quickly");
    assert_eq!((report.chunks, report.bytes), (120, 0));
    // What else is read are structures, and those are read by both.
    assert_eq!((counts.bytes - quick.bytes, counts.library_reads), (bytes, 0));
    Ok(())
}

#[test]
fn what_costs_space_is_a_remark() -> Outcome {
    let scratch = Scratch::new();
    let mut file = scratch.create();
    let mut stage = file.stage("r0")?;
    stage.create_dataset("x").chunks(&[4, 4]).data(&Array2::<i64>::ones((6, 6)))?;
    stage.create_dataset("y").chunks(&[4]).data(&array![1_i64, 2, 3, 4, 5, 6])?;
    stage.commit()?;
    drop(file);
    scratch.alter("pad", &["y", "1"])?;
    scratch.alter("double", &["y", "0"])?;
    scratch.alter("uncommitted", &["r1"])?;
    scratch.alter("junk", &["x", "3", "0", "0"])?;
    let (x, y) = ("/_version_data/x/raw_data", "/_version_data/y/raw_data");
    let expected = [
        "remark: version \"r1\" was never committed: its writer stopped half-way".to_owned(),
        format!(
            "remark: {x}: 3 chunks of 384 bytes, from raw chunk 4 on, left by a stopped writer: the next commit \
             writes over them"
        ),
        format!("remark: {y}: 1 chunk of 32 bytes, from raw chunk 2 on, used by no version"),
        format!("remark: {y}: 1 chunk of 32 bytes, from raw chunk 2 on, equal to others"),
        format!(
            "remark: {y}: 1 chunk of 32 bytes, from raw chunk 1 on, with something else than fill behind the edge \
             of a dataset"
        ),
    ];
    let report = scratch.verify();
    assert_eq!(texts(&report), expected);
    assert!(report.is_sound());
    // Without reading chunks all but the last is known.
    assert_eq!(scratch.quick_findings(), expected[..4]);

    // A version is made of what was left over, and the rest of it goes.
    let mut file = VersionedFile::open_rw(&scratch.path)?;
    let mut stage = file.stage("r1")?;
    stage.dataset_mut("x")?.write_scalar(Selection::all(), 5_i64)?;
    stage.commit()?;
    drop(file);
    let found = scratch.findings();
    assert_eq!(found[found.len() - 3..], expected[2..]);
    assert!(!found[0].contains("never committed"), "{found:?}");
    Ok(())
}

#[test]
fn bytes_behind_the_end_are_a_remark() -> Outcome {
    let scratch = Scratch::new();
    drop(of_all_kinds(&scratch)?);
    let mut bytes = std::fs::read(&scratch.path)?;
    bytes.extend([7; 12]);
    std::fs::write(&scratch.path, bytes)?;
    let expected = "remark: 12 bytes behind the end of the file: the next writer cuts them off";
    assert_eq!(scratch.findings(), [expected]);
    Ok(())
}
