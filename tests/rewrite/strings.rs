//! Strings of variable length.

use h5strata::codec::{Filter, FilterRequest};
use h5strata::dtype::Literal;
use h5strata::store::{Fill, RewriteFault};
use h5strata::{Dtype, Error, RewriteOptions, Selection, VersionedFile};

use crate::{Scratch, assert_sound};

/// Words of which many are alike, of which one is empty and one is not ASCII.
fn word(number: usize) -> String {
    ["", "a", "ab", "über", "x".repeat(300).as_str(), "b"][number % 6].to_owned()
}

fn words(count: usize, step: usize) -> Vec<String> {
    (0..count).map(|at| word(at * step)).collect()
}

/// Three versions of a dataset of strings that grows, in chunks of 7 by 2.
fn strings(scratch: &Scratch) -> Vec<(String, [u64; 2], Vec<String>)> {
    let mut file = scratch.create();
    let mut versions = Vec::new();
    for (count, rows) in [20usize, 9, 31].into_iter().enumerate() {
        let name = format!("r{count}");
        let mut stage = file.stage(&name).unwrap();
        let (shape, all) = ([rows as u64, 3], words(rows * 3, count + 1));
        if count == 0 {
            let dataset = stage.create_dataset("text").chunks(&[7, 2]).gzip(1);
            dataset.strings(&shape, &all).unwrap();
        } else {
            let mut dataset = stage.dataset_mut("text").unwrap();
            dataset.resize(&shape).unwrap();
            dataset.write_strings(Selection::all(), &all, &shape).unwrap();
        }
        stage.commit().unwrap();
        versions.push((name, shape, all));
    }
    versions
}

fn assert_strings(file: &VersionedFile, versions: &[(String, [u64; 2], Vec<String>)]) {
    for (name, shape, expected) in versions {
        let dataset = file.version(name).unwrap().dataset("text").unwrap();
        assert_eq!(dataset.shape(), shape);
        let found = dataset.read_strings(Selection::all()).unwrap();
        assert!(found.iter().eq(expected), "{name}");
    }
}

#[test]
fn strings_are_the_same_in_other_chunks_and_with_other_filters() {
    let lzf = FilterRequest { compression: Some(Filter::lzf()), ..FilterRequest::default() };
    for options in [
        RewriteOptions::new().chunks(&[4, 5]),
        RewriteOptions::new().filters(lzf.clone()),
        RewriteOptions::new().filters(FilterRequest::default()),
        RewriteOptions::new().chunks(&[50, 1]).filters(lzf),
    ] {
        let scratch = Scratch::new();
        let versions = strings(&scratch);
        let mut file = scratch.open();
        let report = file.rewrite(&["text"], &options).unwrap();
        assert!(report.rewritten);
        assert_strings(&file, &versions);
        assert_sound(&file);
        let mut stage = file.stage("next").unwrap();
        let mut dataset = stage.dataset_mut("text").unwrap();
        dataset.write_strings(Selection::all(), &["new"; 93], &[31, 3]).unwrap();
        stage.commit().unwrap();
        drop(file);
        let file = VersionedFile::open(&scratch.path).unwrap();
        assert_strings(&file, &versions);
        assert_strings(&file, &[("next".into(), [31, 3], vec!["new".into(); 93])]);
        assert_sound(&file);
    }
}

#[test]
fn strings_of_fixed_length_become_strings_of_variable_length() {
    let scratch = Scratch::new();
    let mut file = scratch.create();
    let dtype: Dtype = "|S4".parse().unwrap();
    let texts = ["", "a", "abcd", "x", "", "yz", "b"];
    let mut bytes = Vec::new();
    for text in texts {
        dtype.push_literal(Literal::Text(text), &mut bytes).unwrap();
    }
    let mut stage = file.stage("r0").unwrap();
    stage.create_dataset("text").chunks(&[3]).gzip(4).bytes(dtype, &[7], bytes).unwrap();
    stage.commit().unwrap();
    let mut stage = file.stage("r1").unwrap();
    stage.dataset_mut("text").unwrap().resize(&[11]).unwrap();
    stage.commit().unwrap();
    file.rewrite(&["text"], &RewriteOptions::new().dtype("str".parse().unwrap())).unwrap();
    for (version, more) in [("r0", 0), ("r1", 4)] {
        let dataset = file.version(version).unwrap().dataset("text").unwrap();
        assert!(dataset.dtype().is_variable_string());
        assert_eq!(*dataset.fill_value(), Fill::String(Vec::new()));
        let found = dataset.read_strings(Selection::all()).unwrap();
        assert!(found.iter().eq(texts.iter().copied().chain(vec![""; more]).collect::<Vec<_>>()));
    }
    assert_sound(&file);
}

#[test]
fn what_versions_cannot_say_of_strings_is_refused() {
    let scratch = Scratch::new();
    let versions = strings(&scratch);
    let mut file = scratch.open();
    for options in [
        RewriteOptions::new().fill(b"x"),
        RewriteOptions::new().fill_value(Literal::Text("x")),
        RewriteOptions::new().dtype("<f8".parse().unwrap()),
        RewriteOptions::new().dtype("|S4".parse().unwrap()),
        RewriteOptions::new()
            .filters(FilterRequest { fletcher32: true, ..FilterRequest::default() }),
    ] {
        let refused = file.rewrite(&["text"], &options);
        let Err(Error::Rewrite { fault, .. }) = refused else { panic!("{refused:?}") };
        let is_known = matches!(*fault, RewriteFault::Settings(_) | RewriteFault::Cast(_));
        assert!(is_known, "{fault}");
    }
    let report = file.rewrite(&["text"], &RewriteOptions::new().fill(b"")).unwrap();
    assert!(!report.rewritten);
    assert_strings(&file, &versions);
}
