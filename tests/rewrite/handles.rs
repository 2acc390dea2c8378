//! Handles that are held while a file is rewritten.

use h5strata::{Error, RewriteOptions, Selection, VersionedFile};
use ndarray::{Array1, ArrayD};

use crate::Scratch;

#[test]
fn what_was_open_before_goes_on_showing_what_it_showed() {
    let scratch = Scratch::new();
    let mut file = scratch.create();
    let values = Array1::from_iter(0..1000i64);
    let mut stage = file.stage("r0").unwrap();
    stage.create_dataset("numbers").chunks(&[10]).data(&values).unwrap();
    stage.commit().unwrap();
    let reader = VersionedFile::open(&scratch.path).unwrap();
    let (old, read) =
        (file.version("r0").unwrap(), reader.current().unwrap().dataset("numbers").unwrap());
    let dataset = old.dataset("numbers").unwrap();
    let mut clone = file.clone();
    let options = RewriteOptions::new().chunks(&[64]).dtype("<i4".parse().unwrap());
    file.rewrite(&["numbers"], &options).unwrap();
    for dataset in [&dataset, &read, &old.dataset("numbers").unwrap()] {
        assert_eq!(dataset.chunk_shape(), [10]);
        let found: ArrayD<i64> = dataset.read(Selection::all()).unwrap();
        assert!(found.iter().eq(&values));
    }
    let found: ArrayD<i32> =
        file.current().unwrap().dataset("numbers").unwrap().read(Selection::all()).unwrap();
    assert!(found.iter().copied().eq(0..1000));
    let refused = clone.stage("r1").err();
    assert!(matches!(refused, Some(Error::Replaced { .. })), "{refused:?}");
    let mut stage = file.stage("r1").unwrap();
    stage.dataset_mut("numbers").unwrap().write_scalar(Selection::all(), 7i32).unwrap();
    stage.commit().unwrap();
}
