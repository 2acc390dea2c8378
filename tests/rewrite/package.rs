//! Files of versioned-hdf5, rewritten, and then read, continued and pruned by it.

use h5strata::codec::{Filter, FilterRequest};
use h5strata::dtype::Literal;
use h5strata::{RewriteOptions, Selection};

use crate::support::{Outcome, made};
use crate::{Scratch, assert_sound};

/// Rewrites datasets of a file of versioned-hdf5, and has that check it against what JSON says has changed.
fn check(changes: &[(&[&str], RewriteOptions, &str)]) -> Outcome {
    let scratch = Scratch::new();
    let old = scratch.folder().join("old.h5");
    made::rewritten(&["make".as_ref(), old.as_os_str()])?;
    std::fs::copy(&old, &scratch.path)?;
    let mut file = scratch.open();
    let mut all = serde_json::Map::new();
    for (datasets, options, change) in changes {
        let report = file.rewrite(datasets, options)?;
        assert!(report.rewritten, "{change}");
        assert_sound(&file);
        let change: serde_json::Value = serde_json::from_str(change)?;
        for &dataset in *datasets {
            all.insert(dataset.to_owned(), change.clone());
        }
    }
    drop(file);
    let all = serde_json::Value::Object(all).to_string();
    made::rewritten(&["check".as_ref(), old.as_os_str(), scratch.path.as_os_str(), all.as_ref()])?;
    // And on with what it has left.
    let mut file = scratch.open();
    assert_sound(&file);
    let mut stage = file.stage("ours")?;
    let shape = stage.dataset_mut("floats")?.shape().to_vec();
    assert_eq!(shape.len(), 1);
    stage.dataset_mut("text")?.resize(&[20])?;
    stage.commit()?;
    let text = file.version("ours")?.dataset("text")?;
    assert!(text.read_strings(Selection::all())?.iter().skip(12).all(String::is_empty));
    assert_sound(&file);
    Ok(())
}

fn gzip(level: u8) -> FilterRequest {
    FilterRequest { compression: Some(Filter::gzip(level)), ..FilterRequest::default() }
}

#[test]
fn strings_get_other_chunks_and_filters() -> Outcome {
    check(&[(&["text"], RewriteOptions::new().chunks(&[3]), r#"{"chunks": [3]}"#)])?;
    let filters = r#"{"compression": "gzip", "compression_opts": 4}"#;
    check(&[(&["text"], RewriteOptions::new().filters(gzip(4)), filters)])
}

#[test]
fn strings_of_fixed_length_get_longer_chunks() -> Outcome {
    check(&[(&["fixed"], RewriteOptions::new().chunks(&[4]), r#"{"chunks": [4]}"#)])?;
    let longer = RewriteOptions::new().dtype("|S9".parse()?);
    check(&[(&["fixed"], longer, r#"{"dtype": "S9"}"#)])
}

#[test]
fn attributes_stay_whatever_changes() -> Outcome {
    let new = RewriteOptions::new;
    let checksum = FilterRequest { fletcher32: true, ..FilterRequest::default() };
    check(&[(&["floats"], new().chunks(&[4]), r#"{"chunks": [4]}"#)])?;
    check(&[(&["floats"], new().fill_value(Literal::Integer(7)), r#"{"fill": 7.0}"#)])?;
    check(&[(&["floats"], new().dtype("<f4".parse()?), r#"{"dtype": "<f4"}"#)])?;
    let both = new().dtype(">i4".parse()?).fill(&9i32.to_be_bytes()).chunks(&[5]);
    check(&[(&["floats"], both, r#"{"dtype": ">i4", "fill": 9, "chunks": [5]}"#)])?;
    check(&[(&["floats"], new().filters(checksum), r#"{"fletcher32": true}"#)])
}

#[test]
fn a_compressed_dataset_stays_so_when_its_fill_value_changes() -> Outcome {
    let new = RewriteOptions::new;
    let fill = new().fill(&(-1i64).to_le_bytes());
    check(&[(&["group/packed"], fill, r#"{"fill": -1}"#)])?;
    let chunks = new().chunks(&[3, 20]);
    check(&[(&["group/packed"], chunks, r#"{"chunks": [3, 20]}"#)])?;
    let none = new().filters(FilterRequest::default());
    let plain = r#"{"compression": null, "compression_opts": null, "shuffle": false}"#;
    check(&[(&["group/packed"], none, plain)])
}

#[test]
fn several_datasets_change_together_and_again() -> Outcome {
    let new = RewriteOptions::new;
    let chunks = (&["text", "fixed", "floats"][..], new().chunks(&[5]), r#"{"chunks": [5]}"#);
    let packed = new().chunks(&[2, 3]).filters(gzip(1));
    let told = r#"{"chunks": [2, 3], "compression_opts": 1, "shuffle": false}"#;
    check(&[chunks, (&["group/packed"], packed, told)])
}
