//! What is read of a new file shows whether it is what it has to be.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use ndarray::Array1;

use super::super::OpenOptions;
use super::*;
use crate::Durability;

/// Values of three versions, of which each has changed the fourth chunk of ten elements.
fn make(path: &Path) -> VersionedFile {
    let mut file = VersionedFile::create(path).unwrap();
    for version in 0..3i64 {
        let mut stage = file.stage(&format!("r{version}")).unwrap();
        if version == 0 {
            let values = Array1::from_iter(0..400i64);
            stage.create_dataset("d").chunks(&[10]).data(&values).unwrap();
        } else {
            let selection: crate::Selection = "30:40".parse().unwrap();
            let values = Array1::from_elem(10, -version);
            stage.dataset_mut("d").unwrap().write(selection, &values).unwrap();
        }
        stage.commit().unwrap();
    }
    file
}

/// First, last and one byte in the middle of a version's list and of two stored chunks.
fn places(path: &Path) -> Vec<u64> {
    let file = OpenOptions::new().open(path).unwrap();
    let dataset = file.version("r2").unwrap().dataset("d").unwrap();
    let list = dataset.inner.list.stored_list().unwrap();
    let stored = dataset.inner.storage.raw.stored(file.inner.addresses()).unwrap();
    let chunks = [stored[0], stored[stored.len() - 1]].map(|chunk| (chunk.address, chunk.size));
    let ranges = [(list.offset, list.len)].into_iter().chain(chunks);
    ranges.flat_map(|(start, len)| [start, start + len / 2, start + len - 1]).collect()
}

fn flip(path: &Path, at: u64) {
    let file = File::options().read(true).write(true).open(path).unwrap();
    let mut byte = [0];
    file.read_exact_at(&mut byte, at).unwrap();
    file.write_all_at(&[byte[0] ^ 1], at).unwrap();
}

#[test]
fn a_bit_that_is_wrong_in_a_list_or_a_chunk_of_the_new_file_is_seen() {
    let folder = tempfile::tempdir().unwrap();
    let file = make(&folder.path().join("old.h5"));
    // With all versions the lists are copied as bytes; without one a chunk goes, and they are made anew.
    for deleted in [&[][..], &["r1"]] {
        let survivors = file.survivors(&deleted.iter().copied().collect()).unwrap();
        let new = NewFile::named(&folder.path().join("new.h5"), Durability::Process).unwrap();
        let carrier = |_: &str| -> &dyn Carrier { &Copy };
        let plan = Plan { survivors: &survivors, carrier: &carrier, on_progress: None };
        let mut seen = 0;
        let report = write(&file, &new, &plan, |context, sources, proofs| {
            let prove = || prove::prove(context, &new, &survivors, sources, proofs);
            let report = prove()?;
            for at in places(new.path()) {
                flip(new.path(), at);
                assert!(prove().is_err(), "byte {at} without {deleted:?}");
                flip(new.path(), at);
                seen += 1;
            }
            Ok(report)
        });
        assert_eq!((report.unwrap().chunks, seen), (42 - deleted.len() as u64, 9));
    }
}
