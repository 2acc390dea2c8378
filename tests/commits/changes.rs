//! What is changed in a version is changed there alone, and nothing else goes with it.

use std::fs;
use std::path::Path;

use h5strata::codec::{BloscCodec, BloscShuffle, CodecError, Filter};
use h5strata::store::{Attribute, StageFault};
use h5strata::{OpenOptions, RawPath, Selection, VersionedFile};
use h5strata_ffi::{h5d, h5f};
use ndarray::{Array1, arr0, array, s};

use crate::support::Outcome;
use crate::{Scratch, dataset, fault, read};

/// A resize and a partial write in one version made the old values zeros.
#[test]
fn a_resize_and_a_partial_write_keep_the_old_values() -> Outcome {
    let scratch = Scratch::new();
    let mut file = scratch.create();
    for chunk in [1, 2, 3, 4, 5, 100] {
        let path = format!("chunks-of-{chunk}");
        let mut stage = file.stage(&format!("{chunk}-r0"))?;
        stage.create_dataset(&path).chunks(&[chunk]).data(&array![1_i64, 2, 3])?;
        stage.commit()?;
        let mut stage = file.stage(&format!("{chunk}-r1"))?;
        let mut values = stage.dataset_mut(&path)?;
        values.resize(&[5])?;
        values.write(s![3..], &array![40_i64, 50])?;
        stage.commit()?;
        let expected = array![1_i64, 2, 3, 40, 50].into_dyn();
        assert_eq!(read(&file, &format!("{chunk}-r1"), &path), expected, "{chunk}");
        assert_eq!(read(&file, &format!("{chunk}-r0"), &path), array![1_i64, 2, 3].into_dyn());
    }
    drop(file);
    scratch.alter("agrees", &[])?;
    Ok(())
}

/// A full overwrite lost the attributes, a resize the chunk shape.
#[test]
fn overwriting_and_enlarging_keep_attributes_and_chunk_shape() -> Outcome {
    let scratch = Scratch::new();
    let mut file = scratch.create();
    let mut stage = file.stage("r0")?;
    stage.create_dataset("x").chunks(&[2]).gzip(3).data(&array![1_i64, 2, 3])?;
    stage.set_attribute("x", Attribute::text("a", "kept"))?;
    stage.commit()?;
    let mut stage = file.stage("r1")?;
    stage.dataset_mut("x")?.write(Selection::all(), &array![7_i64, 8, 9])?;
    stage.commit()?;
    let mut stage = file.stage("r2")?;
    stage.dataset_mut("x")?.resize(&[6])?;
    stage.commit()?;
    for file in [file, VersionedFile::open(&scratch.path)?] {
        for version in ["r0", "r1", "r2"] {
            let x = dataset(&file, version, "x");
            assert_eq!(x.attributes()?, [Attribute::text("a", "kept")], "{version}");
            assert_eq!(x.chunk_shape(), [2]);
            assert_eq!(x.filters().len(), 1);
        }
        assert_eq!(read(&file, "r2", "x"), array![7_i64, 8, 9, 0, 0, 0].into_dyn());
    }
    Ok(())
}

/// What is cut off came back when the dataset grew again.
#[test]
fn what_was_cut_off_never_comes_back() -> Outcome {
    let scratch = Scratch::new();
    let mut file = scratch.create();
    let mut stage = file.stage("r0")?;
    stage.create_dataset("x").chunks(&[10]).data(&Array1::from_iter(0..26_i64))?;
    stage.commit()?;
    let mut stage = file.stage("r1")?;
    stage.dataset_mut("x")?.resize(&[17])?;
    stage.commit()?;
    let mut stage = file.stage("r2")?;
    stage.dataset_mut("x")?.resize(&[26])?;
    stage.commit()?;
    let expected: Array1<i64> = (0..26).map(|x| if x < 17 { x } else { 0 }).collect();
    assert_eq!(read(&file, "r2", "x"), expected.into_dyn());
    assert_eq!(read(&file, "r0", "x"), Array1::from_iter(0..26_i64).into_dyn());
    drop(file);
    // Not even in the padding of the stored chunks.
    scratch.alter("agrees", &[])?;
    Ok(())
}

/// Scalars failed somewhere on the way.
#[test]
fn scalars_are_refused_with_what_to_do_instead() -> Outcome {
    let scratch = Scratch::new();
    let mut file = scratch.create();
    let mut stage = file.stage("r0")?;
    let refused = stage.create_dataset("x").data(&arr0(1_i64)).err().unwrap();
    let said = refused.to_string();
    for word in ["scalar", "shape (1,)", "\"r0\"", "\"x\"", "versions.h5"] {
        assert!(said.contains(word), "{said}");
    }
    let fixed = stage.create_dataset("x").bytes("<i8".parse()?, &[], vec![0; 8]);
    assert!(matches!(fault(fixed), StageFault::Scalar));
    let filled = stage.create_dataset("x").empty("<i8".parse()?, &[]);
    assert!(matches!(fault(filled), StageFault::Scalar));
    let strings = stage.create_dataset("x").strings(&[], &["a"]);
    assert!(matches!(fault(strings), StageFault::Scalar));
    assert!(stage.entries().is_empty());
    Ok(())
}

/// A dataset named as the format's own group broke the file.
#[test]
fn no_users_name_is_taken_for_one_of_the_format() -> Outcome {
    let scratch = Scratch::new();
    let mut file = scratch.create();
    let mut stage = file.stage("r0")?;
    for path in ["versions", "versions/x", "a/raw_data", "a/hash_table/x"] {
        let refused = stage.create_dataset(path).data(&array![1_i64]);
        assert!(matches!(fault(refused), StageFault::Reserved { .. }), "{path}");
        assert!(matches!(fault(stage.create_group(path)), StageFault::Reserved { .. }), "{path}");
    }
    // These mean nothing where they stand.
    for (value, path) in (0_i64..).zip(["a/versions", "_version_data", "raw_data", "hash_table"]) {
        stage.create_dataset(path).data(&array![value])?;
    }
    stage.commit()?;
    let mut stage = file.stage("r1")?;
    assert!(matches!(fault(stage.rename("a", "versions")), StageFault::Reserved { .. }));
    assert!(matches!(fault(stage.copy("a", "b/raw_data")), StageFault::Reserved { .. }));
    stage.commit()?;
    for (value, path) in (0_i64..).zip(["a/versions", "_version_data", "raw_data", "hash_table"]) {
        assert_eq!(read(&file, "r1", path), array![value].into_dyn(), "{path}");
    }
    Ok(())
}

/// Mappings named the file, so that a renamed file read as zeros.
#[test]
fn a_renamed_file_reads_the_same_and_its_mappings_name_no_file() -> Outcome {
    let scratch = Scratch::new();
    let mut file = scratch.create();
    let mut stage = file.stage("r0")?;
    stage.create_dataset("g/x").chunks(&[2]).data(&array![1_i64, 2, 3, 4])?;
    stage.commit()?;
    let mut stage = file.stage("r1")?;
    stage.dataset_mut("g/x")?.write_scalar(s![0], 9_i64)?;
    stage.commit()?;
    drop(file);
    let renamed = scratch.folder().join("renamed.h5");
    fs::rename(&scratch.path, &renamed)?;
    for raw_path in [RawPath::Auto, RawPath::Library] {
        let file = OpenOptions::new().raw_path(raw_path).open(&renamed)?;
        assert_eq!(read(&file, "r0", "g/x"), array![1_i64, 2, 3, 4].into_dyn());
        assert_eq!(read(&file, "r1", "g/x"), array![9_i64, 2, 3, 4].into_dyn());
    }
    // By HDF5 through the mappings themselves.
    for (version, first) in [("r0", 1_i64), ("r1", 9)] {
        let elements = through_mappings(&renamed, &format!("{version}/g/x"))?;
        assert_eq!(elements[..8], first.to_le_bytes(), "{version}");
        assert_eq!(elements[24..], 4_i64.to_le_bytes());
    }
    // A file can go on under its new name.
    let mut file = VersionedFile::open_rw(&renamed)?;
    let mut stage = file.stage("r2")?;
    stage.dataset_mut("g/x")?.write_scalar(s![3], 8_i64)?;
    assert_eq!(stage.commit()?.chunks_written, 1);
    assert_eq!(read(&file, "r2", "g/x"), array![9_i64, 2, 3, 8].into_dyn());
    Ok(())
}

/// The first four elements of a version's dataset as libhdf5 reads the virtual dataset.
fn through_mappings(file: &Path, path: &str) -> Result<[u8; 32], h5strata_ffi::Error> {
    let lock = h5strata_ffi::lock();
    let file = h5f::open_read_only(&lock, file, None)?;
    let dataset = h5d::open(&lock, &file, &format!("_version_data/versions/{path}"))?;
    let datatype = h5d::datatype(&lock, &dataset)?;
    let mut elements = [0; 32];
    h5d::Reader::new(&lock, &dataset, datatype)?.read(&lock, None, &mut elements)?;
    Ok(elements)
}

/// A filter given by its number lost its options when the dataset was dropped and made again.
#[test]
fn a_dataset_that_is_made_again_has_its_filter_and_options_as_before() -> Outcome {
    let blosc = Filter::raw(32001, vec![2, 2, 8, 800, 5, 1, 1]);
    for (filter, gone_for) in
        [(blosc, 0), (Filter::blosc(BloscCodec::Zstd, 7, BloscShuffle::Bits), 2)]
    {
        let scratch = Scratch::new();
        let mut file = scratch.create();
        let values = Array1::from_iter(0..300_i64);
        let mut stage = file.stage("r0")?;
        stage.create_dataset("x").chunks(&[100]).compression(filter).data(&values)?;
        stage.commit()?;
        let filters = dataset(&file, "r0", "x").filters().to_vec();
        assert_eq!((filters[0].id, filters[0].params.len()), (32001, 7));
        // In the same version, or after versions without it.
        for version in 0..gone_for {
            let mut stage = file.stage(&format!("gone{version}"))?;
            if version == 0 {
                stage.delete("x")?;
            }
            stage.commit()?;
        }
        let mut stage = file.stage("r1")?;
        if gone_for == 0 {
            stage.delete("x")?;
        }
        stage.create_dataset("x").data(&values)?;
        let report = stage.commit()?;
        assert_eq!((report.chunks_written, report.chunks_reused), (0, 3));
        let again = dataset(&file, "r1", "x");
        assert_eq!((again.filters(), again.chunk_shape()), (&filters[..], &[100][..]));
        assert_eq!(read(&file, "r1", "x"), values.into_dyn());
    }
    Ok(())
}

/// A missing filter was found out when chunks were written, and the file was left half-way.
#[test]
fn a_filter_that_is_missing_is_told_when_the_dataset_is_made() -> Outcome {
    let scratch = Scratch::new();
    let mut file = scratch.create();
    file.stage("r0")?.commit()?;
    drop(file);
    let before = scratch.bytes();
    let mut file = VersionedFile::open_rw(&scratch.path)?;
    let mut stage = file.stage("r1")?;
    let missing = Filter::raw(40_000, vec![1, 2]);
    let refused = stage.create_dataset("x").compression(missing.clone()).data(&array![1_i64]);
    assert!(matches!(fault(refused), StageFault::Filter(CodecError::UnknownFilter { .. })));
    let refused = stage.create_dataset("x").compression(missing).strings(&[1], &["a"]);
    assert!(matches!(fault(refused), StageFault::LibraryFilter { filter: 40_000 }));
    assert!(stage.entries().is_empty());
    drop(stage);
    drop(file);
    assert!(scratch.bytes() == before);
    Ok(())
}
