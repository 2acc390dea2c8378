//! What cannot be asked for, and what is left alone.

use h5strata::codec::{Filter, FilterRequest};
use h5strata::dtype::Literal;
use h5strata::store::RewriteFault;
use h5strata::{Error, RepackOptions, RewriteOptions, Selection, VersionedFile};
use ndarray::{Array1, ArrayD};

use crate::{Scratch, assert_sound};

/// Two versions of a dataset of 100 numbers and one of another.
fn numbers(scratch: &Scratch) -> VersionedFile {
    let mut file = scratch.create();
    let mut stage = file.stage("r0").unwrap();
    let values = Array1::from_iter((0..100).map(f64::from));
    stage.create_dataset("group/numbers").chunks(&[10]).gzip(4).shuffle().data(&values).unwrap();
    stage.create_dataset("other").chunks(&[10]).data(&values).unwrap();
    stage.commit().unwrap();
    let mut stage = file.stage("r1").unwrap();
    stage.dataset_mut("group/numbers").unwrap().resize(&[120]).unwrap();
    stage.commit().unwrap();
    file
}

fn refused(file: &mut VersionedFile, path: &str, options: &RewriteOptions) -> RewriteFault {
    match file.rewrite(&[path], options) {
        Err(Error::Rewrite { fault, dataset, .. }) => {
            assert_eq!(dataset, path);
            *fault
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_no_dataset_can_have_is_refused_and_nothing_is_written() {
    let scratch = Scratch::new();
    let mut file = numbers(&scratch);
    let before = std::fs::read(&scratch.path).unwrap();
    let new = RewriteOptions::new;
    let path = "group/numbers";
    let missing = refused(&mut file, "group/number", &new().chunks(&[5]));
    assert!(
        matches!(&missing, RewriteFault::Unknown { nearest: Some(near) } if near == path),
        "{missing}"
    );
    for options in [new().chunks(&[0]), new().chunks(&[5, 5]), new().chunks(&[u64::MAX])] {
        let fault = refused(&mut file, path, &options);
        assert!(matches!(fault, RewriteFault::Settings(_)), "{fault}");
    }
    for dtype in ["|S8", "str", "[('a', '<f8')]", "<M8[ns]"] {
        let fault = refused(&mut file, path, &new().dtype(dtype.parse().unwrap()));
        assert!(matches!(fault, RewriteFault::Cast(_)), "{dtype}: {fault}");
    }
    let fault = refused(&mut file, path, &new().fill(&[0; 4]));
    assert!(matches!(fault, RewriteFault::FillSize { expected: 8, found: 4 }), "{fault}");
    let fault = refused(&mut file, path, &new().fill_value(Literal::Text("much")));
    assert!(matches!(fault, RewriteFault::Fill(_)), "{fault}");
    for id in [4, 6, 32013] {
        let compression = Some(Filter::raw(id, vec![1, 2, 3]));
        let filters = FilterRequest { compression, ..FilterRequest::default() };
        let fault = refused(&mut file, path, &new().filters(filters));
        assert!(matches!(fault, RewriteFault::Settings(_)), "{fault}");
    }
    // One of several is enough.
    assert!(file.rewrite(&["other", "no"], &new().chunks(&[5])).is_err());
    drop(file);
    assert!(std::fs::read(&scratch.path).unwrap() == before);
    assert_eq!(scratch.files(), ["versions.h5"]);
}

#[test]
fn a_file_that_was_opened_for_reading_is_not_rewritten() {
    let scratch = Scratch::new();
    drop(numbers(&scratch));
    let mut file = VersionedFile::open(&scratch.path).unwrap();
    let refused = file.rewrite(&["other"], &RewriteOptions::new().chunks(&[5]));
    assert!(matches!(refused, Err(Error::ReadOnly { .. })), "{refused:?}");
    let dry = RewriteOptions::new().chunks(&[5]).dry_run(true);
    let report = file.rewrite(&["other"], &dry).unwrap();
    assert!(!report.rewritten && report.datasets[0].is_changed());
}

#[test]
fn settings_that_a_dataset_has_already_change_nothing() {
    let scratch = Scratch::new();
    let mut file = numbers(&scratch);
    let before = std::fs::read(&scratch.path).unwrap();
    let compression = Some(Filter::gzip(4));
    let filters = FilterRequest { shuffle: true, compression, fletcher32: false };
    let same = RewriteOptions::new().chunks(&[10]).dtype("<f8".parse().unwrap());
    let same = same.fill(&[0; 8]).filters(filters);
    let report = file.rewrite(&["/group/numbers/"], &same).unwrap();
    assert!(!report.rewritten);
    assert!(std::fs::read(&scratch.path).unwrap() == before);
    let dry = RewriteOptions::new().chunks(&[50]).dry_run(true);
    let report = file.rewrite_all(&dry).unwrap();
    assert!(!report.rewritten);
    let changed: Vec<_> = report.datasets.iter().map(|dataset| &*dataset.path).collect();
    assert_eq!(changed, ["group/numbers", "other"]);
    assert!(std::fs::read(&scratch.path).unwrap() == before);
}

#[test]
fn what_is_not_named_stays() {
    let scratch = Scratch::new();
    let mut file = numbers(&scratch);
    let stored = |file: &VersionedFile, path: &str| {
        let dataset = file.version("r1").unwrap().dataset(path).unwrap();
        (dataset.chunk_shape().to_vec(), dataset.filters().to_vec(), dataset.fill_value().clone())
    };
    let other = stored(&file, "other");
    let (_, filters, fill) = stored(&file, "group/numbers");
    file.rewrite(&["group/numbers"], &RewriteOptions::new().chunks(&[64])).unwrap();
    assert_eq!(stored(&file, "other"), other);
    assert_eq!(stored(&file, "group/numbers"), (vec![64], filters, fill));
    let values: ArrayD<f64> = file
        .version("r1")
        .unwrap()
        .dataset("group/numbers")
        .unwrap()
        .read(Selection::all())
        .unwrap();
    let zeros = std::iter::repeat_n(0.0, 20);
    assert!(values.iter().copied().eq((0..100).map(f64::from).chain(zeros)));
    assert_sound(&file);
}

#[test]
fn the_old_fill_value_becomes_the_new_one_stored_or_not() {
    let scratch = Scratch::new();
    let mut file = numbers(&scratch);
    let options = RewriteOptions::new().fill_value(Literal::Text("nan"));
    let report = file.rewrite(&["group/numbers"], &options).unwrap();
    assert_eq!(report.datasets[0].versions, 2);
    let values: ArrayD<f64> = file
        .version("r1")
        .unwrap()
        .dataset("group/numbers")
        .unwrap()
        .read(Selection::all())
        .unwrap();
    assert!(values[0].is_nan());
    assert!(values.iter().skip(1).take(99).copied().eq((1..100).map(f64::from)));
    assert!(values.iter().skip(100).all(|value| value.is_nan()));
    // Whole chunks of nothing else are not stored.
    let dataset = file.version("r1").unwrap().dataset("group/numbers").unwrap();
    assert_eq!(dataset.chunk_map().unwrap().stored(), 10);
    assert_sound(&file);
}

#[test]
fn progress_goes_up_to_the_end() {
    use std::sync::{Arc, Mutex};
    let scratch = Scratch::new();
    let mut file = numbers(&scratch);
    let told: Arc<Mutex<Vec<(String, u64, u64)>>> = Arc::default();
    let listener = Arc::clone(&told);
    let on_progress = h5strata::snapshot::OnProgress::new(move |progress| {
        let one = (progress.dataset.to_owned(), progress.done, progress.total);
        listener.lock().unwrap().push(one);
    });
    let options = RewriteOptions::new().chunks(&[7]).on_progress(on_progress);
    file.rewrite(&["group/numbers"], &options).unwrap();
    let told = told.lock().unwrap();
    let steps: Vec<_> = told.iter().filter(|step| step.0 == "group/numbers").collect();
    assert!(steps.is_sorted_by_key(|step| step.1), "{steps:?}");
    assert_eq!(steps.last().map(|step| (step.1, step.2)), Some((220 * 8, 220 * 8)));
}

#[test]
fn a_repacked_file_has_all_datasets_in_other_settings() {
    let scratch = Scratch::new();
    let file = numbers(&scratch);
    let out = scratch.folder().join("out.h5");
    let settings = RewriteOptions::new().chunks(&[50]).filters(FilterRequest::default());
    file.repack(&out, &RepackOptions::new().settings(settings)).unwrap();
    let repacked = VersionedFile::open(&out).unwrap();
    for path in ["group/numbers", "other"] {
        let [old, new] =
            [&file, &repacked].map(|file| file.version("r1").unwrap().dataset(path).unwrap());
        assert_eq!((new.chunk_shape(), new.filters()), (&[50][..], &[][..]));
        let [old, new] = [old, new].map(|dataset| dataset.read::<f64>(Selection::all()).unwrap());
        assert_eq!(old, new);
    }
    assert_sound(&repacked);
}
