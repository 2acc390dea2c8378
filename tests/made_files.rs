//! The files that the interop tests read are all there, with answers that parse.

use std::collections::BTreeSet;

mod support;

use support::answers::{Axis, Digest};
use support::{Outcome, answers, made, shared};

#[test]
fn every_made_file_has_its_answers() -> Outcome {
    let files = made::files()?;
    assert!(files.len() > 70, "only {} files", files.len());
    for file in files {
        let digests = file.digests()?;
        let metadata = file.metadata()?;
        let in_digests: Vec<_> = digests.iter().map(|row| (&row.version, &row.dataset)).collect();
        let in_metadata: Vec<_> =
            metadata.datasets.iter().map(|row| (&row.version, &row.path)).collect();
        assert_eq!(in_digests, in_metadata, "{}", file.name);
        let versions: BTreeSet<_> = metadata.versions.iter().map(|row| &row.version).collect();
        let known = |name: &String| versions.contains(name);
        assert!(
            metadata.versions.iter().filter_map(|row| row.parent.as_ref()).all(known),
            "{}",
            file.name
        );
        assert!(metadata.current.iter().all(known), "{}", file.name);
    }
    Ok(())
}

#[test]
fn selections_are_written_alike_as_text_and_as_axes() -> Outcome {
    for read in made::file("random-3d")?.reads()? {
        let texts: Vec<String> = read.axes.iter().map(text).collect();
        assert_eq!(texts.join(", "), read.selection);
    }
    Ok(())
}

/// An axis in NumPy's grammar.
fn text(axis: &Axis) -> String {
    let bound = |value: &Option<i64>| value.map_or_else(String::new, |value| value.to_string());
    let list = |items: Vec<String>| format!("[{}]", items.join(","));
    match axis {
        Axis::Int(index) => index.to_string(),
        Axis::Slice(start, stop, None) => format!("{}:{}", bound(start), bound(stop)),
        Axis::Slice(start, stop, step) => {
            format!("{}:{}:{}", bound(start), bound(stop), bound(step))
        }
        Axis::Index(indices) => list(indices.iter().map(i64::to_string).collect()),
        Axis::Mask(mask) => {
            list(mask.iter().map(|bit| if *bit { "True" } else { "False" }.to_owned()).collect())
        }
        Axis::Ellipsis(_) => "...".to_owned(),
    }
}

#[test]
fn every_broken_file_is_listed_and_there() -> Outcome {
    let rows = made::broken_files()?;
    let listed: BTreeSet<_> = rows.iter().map(|(path, _)| path.clone()).collect();
    let there: BTreeSet<_> =
        shared::hdf5_files(&made::folder()?.join("broken"))?.into_iter().collect();
    assert_eq!(listed, there);
    assert_eq!(listed.len(), rows.len(), "a file is listed twice");
    Ok(())
}

#[test]
fn every_suite_file_has_its_digests() -> Outcome {
    let Some(folder) = shared::suite()? else { return Ok(()) };
    let files = shared::hdf5_files(&folder)?;
    assert!(files.len() > 100, "only {} files", files.len());
    for file in files {
        let digests: Vec<Digest> = answers::read_lines(&file.with_extension("jsonl"))?;
        assert!(digests.iter().all(|row| row.sha256.len() == 64), "{}", file.display());
    }
    for (name, version, path) in shared::SUITE_OUT_OF_RANGE {
        let digests: Vec<Digest> = answers::read_lines(&folder.join(format!("{name}.jsonl")))?;
        assert!(digests.iter().any(|row| row.version == version && row.dataset == path), "{name}");
    }
    Ok(())
}
