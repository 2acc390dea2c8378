//! `log`, `ls`, `info` and `digest` tell what plain h5py finds in the files.

use serde::Deserialize;
use serde_json::Value;

use crate::Outcome;
use crate::program::{Run, on_file, script};
use crate::support::answers::Digest;
use crate::support::made;

/// What a file needs to be opened that is read only on demand.
const OVERRIDE: &str = "--accept-wrong-hashes";

/// A filter that cannot be undone yet: digests of what needs it are errors that name it.
const WITHOUT_CODEC: &str = "filter 32026 (blosc2)";

/// Files with mappings of chunks that were never written.
const UNWRITTEN: [&str; 2] = ["fill-strings-handmade", "unwritten-raw-chunk-handmade"];

/// Versions of a file that `info` is asked for.
const MOST_VERSIONS: usize = 20;

#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct LogRow {
    version: String,
    parent: Option<String>,
    timestamp: String,
    current: bool,
    datasets: usize,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LsRow {
    path: String,
    kind: String,
    shape: Option<Vec<u64>>,
    dtype: Option<String>,
    chunks: Option<Vec<u64>>,
    #[expect(dead_code, reason = "compared by listings_agree.py")]
    fill: Value,
    #[expect(dead_code, reason = "compared by listings_agree.py")]
    filters: Option<Vec<String>>,
    stored_chunks: Option<u64>,
    total_chunks: Option<u64>,
}

#[test]
fn digests_are_those_of_h5py() -> Outcome {
    for file in made::files()? {
        let run = on_file("digest", &file.path, &["--json", OVERRIDE]);
        let found: Vec<Digest> = run.json_lines();
        let mut missing = 0;
        for expected in file.digests()? {
            let same = |row: &&Digest| {
                (&row.version, &row.dataset) == (&expected.version, &expected.dataset)
            };
            match found.iter().find(same) {
                Some(row) => assert_eq!(*row, expected, "{}", file.name),
                None => missing += 1,
            }
        }
        let errors = run.stderr.lines().filter(|line| line.contains(WITHOUT_CODEC)).count();
        assert_eq!(missing, errors, "{run}");
        let warnings = run.stderr.lines().filter(|line| line.starts_with("warning: ")).count();
        assert_eq!(errors + warnings, run.stderr.lines().count(), "{run}");
        assert_eq!(found.len() + missing, file.digests()?.len(), "{run}");
        run.exits(if missing > 0 { 2 } else { 0 });
    }
    Ok(())
}

#[test]
fn digests_come_oldest_version_first_and_datasets_in_order() -> Outcome {
    let file = made::file("random-datasets")?;
    let log: Vec<LogRow> = on_file("log", &file.path, &["--json"]).succeeds().json();
    let mut expected = Vec::new();
    for version in log.iter().rev() {
        let digests = file.digests()?.into_iter().filter(|row| row.version == version.version);
        let mut paths: Vec<String> = digests.map(|row| row.dataset).collect();
        paths.sort();
        expected.extend(paths.into_iter().map(|path| (version.version.clone(), path)));
    }
    let digests: Vec<Digest> = on_file("digest", &file.path, &[]).succeeds().json_lines();
    let found: Vec<_> = digests.into_iter().map(|row| (row.version, row.dataset)).collect();
    assert_eq!(found, expected);
    Ok(())
}

#[test]
fn log_tells_the_history() -> Outcome {
    for file in made::files()? {
        let run = on_file("log", &file.path, &["--json", OVERRIDE]).exits(0);
        let mut rows: Vec<LogRow> = run.json();
        let place = |name: &str| rows.iter().position(|row| row.version == name);
        for row in &rows {
            let parent = row.parent.as_deref().map(|parent| place(parent).expect(parent));
            assert!(parent.is_none_or(|parent| Some(parent) > place(&row.version)), "{run}");
        }
        rows.sort_by(|a, b| a.version.cmp(&b.version));
        let metadata = file.metadata()?;
        assert_eq!(rows.len(), metadata.versions.len(), "{run}");
        for (row, expected) in rows.iter().zip(metadata.versions) {
            let time = h5strata::store::parse_time(&expected.timestamp);
            assert_eq!(h5strata::store::parse_time(&row.timestamp), time, "{run}");
            assert_eq!(
                (&row.version, &row.parent, row.current, row.datasets),
                (&expected.version, &expected.parent, expected.current, expected.datasets),
                "{run}"
            );
        }
    }
    Ok(())
}

#[test]
fn ls_tells_of_every_group_and_dataset() -> Outcome {
    for file in made::files()? {
        let metadata = file.metadata()?;
        for version in &metadata.versions {
            let arguments = ["-v", &version.version, "--json", OVERRIDE];
            let run = on_file("ls", &file.path, &arguments).exits(0);
            let rows: Vec<LsRow> = run.json();
            let groups: Vec<_> =
                rows.iter().filter(|row| row.kind == "group").map(|row| &row.path).collect();
            assert_eq!(groups.len(), version.groups.len(), "{run}");
            assert!(groups.iter().all(|path| version.groups.contains_key(*path)), "{run}");
            assert_eq!(rows.len() - groups.len(), version.datasets, "{run}");
            let of_version = |row: &&_| -> bool {
                let row: &crate::support::answers::DatasetRow = row;
                row.version == version.version
            };
            for expected in metadata.datasets.iter().filter(of_version) {
                let row = rows.iter().find(|row| row.path == expected.path).expect(&expected.path);
                assert_eq!(row.shape.as_ref(), Some(&expected.shape), "{run}");
                assert_eq!(row.chunks.as_ref(), Some(&expected.chunks), "{run}");
                assert_eq!(row.total_chunks, Some(expected.total_chunks), "{run}");
                // A mapping may name a chunk that was never written.
                assert!(row.stored_chunks <= Some(expected.stored_chunks), "{run}");
                if !UNWRITTEN.contains(&file.name.as_str()) {
                    assert_eq!(row.stored_chunks, Some(expected.stored_chunks), "{run}");
                }
                let dtype = row.dtype.as_deref().expect("a dataset has a type");
                assert!(dtype == expected.dtype || dtype.starts_with(['[', '(']), "{run}");
            }
        }
    }
    Ok(())
}

/// What `info FILE -v VERSION` tells of a version itself.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct VersionRow {
    version: String,
    kind: String,
    parent: Option<String>,
    children: Vec<String>,
    timestamp: String,
    current: bool,
    datasets: Vec<Value>,
    attributes: Vec<Value>,
}

#[test]
fn info_tells_of_every_version() -> Outcome {
    let mut with_attributes = 0;
    for file in made::files()? {
        let versions = file.metadata()?.versions;
        // Children are found among all versions: of a thousand, asking for each would take minutes.
        for expected in versions.iter().step_by(versions.len().div_ceil(MOST_VERSIONS).max(1)) {
            let arguments = ["-v", &expected.version, "--json", OVERRIDE];
            let run = on_file("info", &file.path, &arguments).exits(0);
            let mut found: VersionRow = run.json();
            let is_child = |row: &&_| -> bool {
                let row: &crate::support::answers::VersionRow = row;
                row.parent.as_ref() == Some(&expected.version)
            };
            let mut children: Vec<&String> =
                versions.iter().filter(is_child).map(|row| &row.version).collect();
            children.sort();
            found.children.sort();
            assert_eq!(found.children.iter().collect::<Vec<_>>(), children, "{run}");
            let time = h5strata::store::parse_time(&expected.timestamp);
            assert_eq!(h5strata::store::parse_time(&found.timestamp), time, "{run}");
            assert_eq!(
                (&found.version, &found.parent, found.current, found.datasets.len()),
                (&expected.version, &expected.parent, expected.current, expected.datasets),
                "{run}"
            );
            assert_eq!(found.kind, "version", "{run}");
            let names: Vec<_> = found.attributes.iter().map(|row| row["name"].as_str()).collect();
            let expected: Vec<_> =
                expected.attributes.iter().map(|row| Some(row.name.as_str())).collect();
            assert_eq!(names, expected, "{run}");
            with_attributes += usize::from(!names.is_empty());
        }
    }
    assert_ne!(with_attributes, 0);
    Ok(())
}

#[test]
fn filters_and_fill_values_are_those_that_python_tells() -> Outcome {
    let mut python = script("listings_agree.py")?;
    python.arg(env!("CARGO_BIN_EXE_h5strata"));
    python.args(made::files()?.into_iter().map(|file| file.path));
    let checked = Run::of(&mut python).succeeds().text();
    let datasets: u64 = checked.trim_end().trim_end_matches(" datasets").parse()?;
    assert!(datasets > 500, "only {checked}");
    Ok(())
}

#[test]
fn info_is_json_with_the_users_attributes() -> Outcome {
    let file = made::file("attribute-kinds")?;
    let info: Value = on_file("info", &file.path, &["--json"]).succeeds().json();
    assert_eq!(info["size"], std::fs::metadata(&file.path)?.len());
    assert_eq!(info["data_version"], file.metadata()?.data_version);
    assert_eq!(info["versions"], file.metadata()?.versions.len());
    let arguments = ["grp/data", "--json", "--chunks"];
    let info: Value = on_file("info", &file.path, &arguments).succeeds().json();
    let attribute = |name: &str| {
        let rows = info["attributes"].as_array().expect("a list");
        rows.iter().find(|row| row["name"] == name).expect(name)["value"].clone()
    };
    assert_eq!(attribute("float"), 0.1);
    assert_eq!(attribute("bool"), true);
    assert_eq!(attribute("complex"), serde_json::json!([1.0, 2.0]));
    assert_eq!(attribute("strings"), serde_json::json!(["a", "", "ccc"]));
    assert_eq!(attribute("null"), Value::Null);
    assert_eq!(attribute("large").as_array().map(Vec::len), Some(4000));
    let chunks = info["chunk_list"].as_array().expect("a list");
    assert_eq!(Some(chunks.len() as u64), info["stored_chunks"].as_u64());
    assert!(chunks.iter().all(|chunk| chunk["address"].as_u64() > Some(0)));
    let arguments = ["grp/data", "--json", "--chunks", "-s", "3:"];
    let region: Value = on_file("info", &file.path, &arguments).succeeds().json();
    assert_eq!(region["chunk_list"].as_array().expect("a list"), &chunks[1..]);
    assert_eq!(region["stored_chunks"], info["stored_chunks"]);
    Ok(())
}
