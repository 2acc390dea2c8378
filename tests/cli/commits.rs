//! `init`, `commit` and `set-current`: what they write is what was asked for, or nothing is written.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::Outcome;
use crate::outputs::folder;
use crate::program::{Run, h5strata, in_shell, on_file, script};
use crate::support::made;

/// The report of a commit.
#[derive(Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
struct Report {
    version: String,
    parent: Option<String>,
    current: bool,
    datasets_changed: u64,
    datasets_unchanged: u64,
    chunks_written: u64,
    chunks_reused: u64,
    chunks_filled: u64,
    bytes_written: u64,
    datasets: Vec<DatasetReport>,
    advice: Vec<Advice>,
    not_carried: Vec<Left>,
}

#[derive(Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
struct Left {
    path: String,
    attribute: Option<String>,
    reason: String,
}

#[derive(Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
struct DatasetReport {
    path: String,
    chunks_written: u64,
    chunks_reused: u64,
    chunks_filled: u64,
    bytes_written: u64,
    chunks_stored: u64,
    chunks_mismatched: Vec<u64>,
}

#[derive(Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
struct Advice {
    dataset: String,
    chunks: Vec<u64>,
    better: Vec<u64>,
    message: String,
}

/// A row of `log --json`.
#[derive(Debug, Deserialize)]
struct LogRow {
    version: String,
    parent: Option<String>,
    timestamp: String,
    current: bool,
}

/// Commits operations that are given on standard input.
fn commit(file: &Path, version: &str, operations: &Value, options: &[&str]) -> Run {
    let mut child = h5strata();
    child.arg("commit").arg(file).args([version, "--ops", "-"]).args(options);
    let text = operations.to_string();
    let mut child = child
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    // A program that refuses its arguments does not read.
    drop(stdin.write_all(text.as_bytes()));
    drop(stdin);
    let output = child.wait_with_output().expect("the program ends");
    Run::ended(&format!("commit {version} --ops - {options:?} <<< {text}"), output)
}

/// A file with one version, `r1`, that holds `data`, the numbers 0 to 7 in chunks of 4.
fn first_version(name: &str) -> Result<PathBuf, Box<dyn std::error::Error>> {
    let file = folder(name)?.join("file.h5");
    on_file("init", &file, &[]).succeeds();
    let create = json!([
        {"op": "create", "dataset": "data", "value": [0, 1, 2, 3, 4, 5, 6, 7], "chunks": [4]},
        {"op": "create", "dataset": "other", "value": [1.5]},
    ]);
    commit(&file, "r1", &create, &[]).succeeds();
    Ok(file)
}

fn log(file: &Path) -> Vec<LogRow> {
    on_file("log", file, &["--json"]).succeeds().json()
}

/// Fails unless a commit is refused by one line that says this, and leaves every byte as it was.
#[track_caller]
fn is_refused(file: &Path, operations: &Value, options: &[&str], says: &[&str]) {
    let before = fs::read(file).expect("the file can be read");
    let run = commit(file, "r2", operations, options).exits(2);
    assert_eq!((run.stderr.lines().count(), run.text().as_str()), (1, ""), "{run}");
    for text in says {
        assert!(run.stderr.contains(text), "{text:?} is not in {run}");
    }
    assert!(fs::read(file).expect("the file can be read") == before, "the file has changed: {run}");
}

#[test]
fn versions_hold_what_numpy_makes_of_the_operations() -> Outcome {
    let mut python = script("commits_agree.py")?;
    python.arg(env!("CARGO_BIN_EXE_h5strata")).arg(folder("commits-agree")?);
    Run::of(&mut python).succeeds();
    Ok(())
}

#[test]
fn a_new_file_has_no_versions_and_an_old_one_stays() -> Outcome {
    let file = folder("init")?.join("file.h5");
    let run = on_file("init", &file, &[]).succeeds();
    assert_eq!(run.text(), "", "{run}");
    assert!(log(&file).is_empty());
    let before = fs::read(&file)?;
    let run = on_file("init", &file, &[]).exits(2);
    assert!(run.stderr.contains("exists"), "{run}");
    assert_eq!(fs::read(&file)?, before);
    Ok(())
}

#[test]
fn reports_count_what_was_done() -> Outcome {
    let file = first_version("commit-report")?;
    let operations = json!([
        {"op": "write", "dataset": "data", "select": "4:", "value": [0, 1, 2, 3]},
        {"op": "create", "dataset": "new", "value": [[1, 0], [2, 0]], "chunks": [2, 1]},
    ]);
    let report: Report = commit(&file, "r2", &operations, &["--json"]).succeeds().json();
    let dataset = |path: &str, written, reused, filled, bytes, stored| DatasetReport {
        path: path.to_owned(),
        chunks_written: written,
        chunks_reused: reused,
        chunks_filled: filled,
        bytes_written: bytes,
        chunks_stored: stored,
        chunks_mismatched: Vec::new(),
    };
    let expected = Report {
        version: "r2".to_owned(),
        parent: Some("r1".to_owned()),
        current: true,
        datasets_changed: 2,
        datasets_unchanged: 1,
        chunks_written: 1,
        chunks_reused: 1,
        chunks_filled: 1,
        bytes_written: 16,
        datasets: vec![dataset("data", 0, 1, 0, 0, 2), dataset("new", 1, 0, 1, 16, 1)],
        advice: Vec::new(),
        not_carried: Vec::new(),
    };
    assert_eq!(report, expected);
    let run = commit(&file, "r3", &json!([{"op": "delete", "path": "other"}]), &[]).succeeds();
    for line in ["version r3 (current)", "parent    r2", "datasets  0 changed, 2 unchanged"] {
        assert!(run.text().lines().any(|found| found == line), "{line:?} is not in {run}");
    }
    Ok(())
}

#[test]
fn a_wasteful_chunk_shape_is_told_of_with_a_better_one() -> Outcome {
    let file = first_version("commit-advice")?;
    let operations = json!([
        {"op": "create", "dataset": "wide", "shape": [3, 74, 3944], "dtype": "<f8", "chunks": [900, 3, 3]},
    ]);
    let run = commit(&file, "r2", &operations, &["--json"]).exits(0);
    assert!(run.stderr.starts_with("warning: dataset \"wide\": chunks (900, 3, 3) take "), "{run}");
    let report: Report = run.json();
    let [advice] = report.advice.as_slice() else { panic!("{run}") };
    assert_eq!((advice.dataset.as_str(), &advice.better[..]), ("wide", &[3, 74, 62][..]));
    assert!(run.stderr.contains(&advice.message), "{run}");
    Ok(())
}

#[test]
fn an_operation_that_fails_leaves_the_file_as_it_was() -> Outcome {
    let file = first_version("commit-fails")?;
    let beside = |name: &str| file.with_file_name(name);
    fs::write(beside("no.npy"), b"PK\x03\x04")?;
    let npy = beside("no.npy").to_string_lossy().into_owned();
    for (operation, says) in [
        (json!({"op": "writ", "dataset": "data"}), &["\"op\"", "create, write"][..]),
        (json!({"op": "write", "dataset": "data", "value": 1, "x": 2}), &["unknown field `x`"]),
        (json!({"op": "write", "value": 1}), &["missing field `dataset`"]),
        (json!({"op": "write", "dataset": "dat", "value": 1}), &["did you mean \"data\""]),
        (
            json!({"op": "write", "dataset": "data", "value": 1.5}),
            &["\"value\"", "cannot hold 1.5"],
        ),
        (json!({"op": "write", "dataset": "data", "value": [1, 2]}), &["data"]),
        (
            json!({"op": "write", "dataset": "data", "value": null}),
            &["\"value\"", "null is no value of a dataset"],
        ),
        (json!({"op": "write", "dataset": "data", "value": [1, null]}), &["\"value\"", "null is"]),
        (json!({"op": "create", "dataset": "new", "value": null}), &["\"value\"", "null is"]),
        (
            json!({"op": "create", "dataset": "new", "value": ["a", null]}),
            &["\"value\"", "null is"],
        ),
        (
            json!({"op": "create", "dataset": "new", "shape": [1], "dtype": "i4", "fill": null}),
            &["\"fill\"", "null is"],
        ),
        (json!({"op": "write", "dataset": "data", "select": "9", "value": 1}), &["9"]),
        (json!({"op": "write", "dataset": "data", "select": "a", "value": 1}), &["\"select\""]),
        (json!({"op": "write", "dataset": "data", "npy": "gone.npy"}), &["\"npy\"", "gone.npy"]),
        (json!({"op": "write", "dataset": "data", "npy": npy}), &["not a .npy file"]),
        (json!({"op": "create", "dataset": "data", "value": [1]}), &["taken"]),
        (json!({"op": "create", "dataset": "new", "value": 1}), &["scalar"]),
        (json!({"op": "create", "dataset": "new", "shape": [1], "dtype": "f3"}), &["\"dtype\""]),
        (
            json!({"op": "create", "dataset": "new", "shape": [1], "dtype": "i4", "fill": "x"}),
            &["\"fill\""],
        ),
        (
            json!({"op": "create", "dataset": "new", "value": [1], "filters": {"gzip": 10}}),
            &["gzip"],
        ),
        (json!({"op": "resize", "dataset": "data", "shape": [-1]}), &["\"shape[0]\""]),
        (json!({"op": "resize", "dataset": "data", "shape": [1, 1]}), &["data"]),
        (json!({"op": "delete", "path": "gone"}), &["no such object"]),
        (json!({"op": "rename", "from": "data", "to": "other"}), &["taken"]),
        (json!({"op": "copy", "from": "data", "to": "data/below"}), &["data"]),
        (json!({"op": "attr", "path": "data", "name": "gone", "value": null}), &["\"gone\""]),
        (json!({"op": "attr", "path": "", "name": "prev_version", "value": 1}), &["format's own"]),
        (json!({"op": "group", "path": "a/../b"}), &["path"]),
    ] {
        let first = json!({"op": "write", "dataset": "data", "value": 9});
        let number = ["operation 2"];
        let says: Vec<&str> = number.iter().chain(says).copied().collect();
        is_refused(&file, &json!([first, operation]), &[], &says);
    }
    is_refused(&file, &json!({"op": "group"}), &[], &["array of objects"]);
    is_refused(&file, &json!([]), &["--parent", "gone"], &["\"gone\""]);
    let before = fs::read(&file)?;
    let run = commit(&file, "r1", &json!([]), &[]).exits(2);
    assert!(run.stderr.contains("already a version"), "{run}");
    let run = on_file("commit", &file, &["r2", "--ops", "gone.json"]).exits(2);
    assert!(run.stderr.contains("gone.json"), "{run}");
    assert_eq!(fs::read(&file)?, before);
    Ok(())
}

#[test]
fn values_are_cast_by_numpys_rule_same_kind() -> Outcome {
    let file = first_version("commit-cast")?;
    let npy = |name: &str, dataset: &str| {
        let out = file.with_file_name(name);
        on_file("read", &file, &[dataset, "-o", &out.to_string_lossy()]).succeeds();
        out
    };
    let (integers, floats) = (npy("integers.npy", "data"), npy("floats.npy", "other"));
    let to_floats = json!([{"op": "create", "dataset": "f", "npy": integers, "dtype": "f4"}]);
    commit(&file, "floats", &to_floats, &[]).succeeds();
    let run = on_file("read", &file, &["f", "-s", "-2:"]).succeeds();
    assert_eq!(run.text(), "[6. 7.]\n", "{run}");
    let to_integers = json!([{"op": "write", "dataset": "data", "npy": floats}]);
    is_refused(&file, &to_integers, &[], &["operation 1 (write)", "<f8", "<i8", "same_kind"]);
    Ok(())
}

#[test]
fn paths_are_relative_to_the_operations() -> Outcome {
    let file = first_version("commit-relative")?;
    let below = file.with_file_name("below");
    fs::create_dir(&below)?;
    let out = below.join("data.npy");
    on_file("read", &file, &["data", "-o", &out.to_string_lossy()]).succeeds();
    let operations = below.join("ops.json");
    fs::write(&operations, r#"[{"op": "create", "dataset": "again", "npy": "data.npy"}]"#)?;
    on_file("commit", &file, &["r2", "--ops", &operations.to_string_lossy()]).succeeds();
    let run = on_file("read", &file, &["again"]).succeeds();
    assert_eq!(run.text(), "[0 1 2 3 4 5 6 7]\n", "{run}");
    Ok(())
}

#[test]
fn times_are_utc() -> Outcome {
    let file = first_version("commit-times")?;
    for wrong in ["2026-11-30T12:00:00+01:00", "2026-11-30 12:00:00.000000-0500"] {
        let before = fs::read(&file)?;
        let run = commit(&file, "r2", &json!([]), &["--timestamp", wrong]).exits(2);
        assert!(run.stderr.contains("UTC"), "{run}");
        assert_eq!(fs::read(&file)?, before);
    }
    let run = commit(&file, "r2", &json!([]), &["--timestamp", "noon"]).exits(2);
    assert!(run.stderr.contains("not a time"), "{run}");
    commit(&file, "r2", &json!([]), &["--timestamp", "2027-11-30T12:00:00.000001Z"]).succeeds();
    commit(&file, "r3", &json!([]), &["--timestamp", "2028-11-30"]).succeeds();
    let times: Vec<String> = log(&file).into_iter().map(|row| row.timestamp).take(2).collect();
    assert_eq!(times, ["2028-11-30T00:00:00Z", "2027-11-30T12:00:00.000001Z"]);
    Ok(())
}

#[test]
fn parents_and_the_current_version_are_chosen() -> Outcome {
    let file = first_version("commit-parents")?;
    let write = |value| json!([{"op": "write", "dataset": "data", "select": "0", "value": value}]);
    commit(&file, "r2", &write(20), &[]).succeeds();
    commit(&file, "branch", &write(30), &["--parent", "@-1", "--no-current"]).succeeds();
    commit(&file, "root", &json!([]), &["--no-parent", "--no-current"]).succeeds();
    let current = |file: &Path| {
        let current = log(file).into_iter().find(|row| row.current);
        current.map(|row| row.version).unwrap_or_default()
    };
    let parent = |version: &str| {
        let rows = log(&file);
        rows.into_iter().find(|row| row.version == version).and_then(|row| row.parent)
    };
    assert_eq!(current(&file), "r2");
    assert_eq!(parent("branch").as_deref(), Some("r1"));
    assert_eq!(parent("root"), None);
    let read = |version: &str| {
        let run = on_file("read", &file, &["data", "-s", "0", "-v", version]).succeeds();
        run.text().trim_end().to_owned()
    };
    assert_eq!(["r1", "r2", "branch"].map(read), ["0", "20", "30"]);
    let run = on_file("ls", &file, &["-v", "root", "--json"]).succeeds();
    assert_eq!(run.json::<Vec<Value>>().len(), 0, "{run}");

    on_file("set-current", &file, &["branch"]).succeeds();
    assert_eq!(current(&file), "branch");
    on_file("set-current", &file, &["@-1"]).succeeds();
    assert_eq!(current(&file), "r1");
    let before = fs::read(&file)?;
    let run = on_file("set-current", &file, &["gone"]).exits(2);
    assert!(run.stderr.contains("\"gone\""), "{run}");
    assert_eq!(fs::read(&file)?, before);

    let both = ["--parent", "r1", "--no-parent"];
    commit(&file, "r5", &json!([]), &both).exits(2);
    Ok(())
}

#[test]
fn a_file_that_is_not_there_must_be_made_first() -> Outcome {
    let file = folder("commit-missing")?.join("file.h5");
    let run = commit(&file, "r1", &json!([]), &[]).exits(2);
    assert!(run.stderr.contains("h5strata init"), "{run}");
    assert!(!file.exists());
    Ok(())
}

#[test]
fn a_version_is_made_of_something() -> Outcome {
    let file = first_version("commit-nothing")?;
    let run = on_file("commit", &file, &["r2"]).exits(2);
    assert!(run.stderr.contains("--ops"), "{run}");
    Ok(())
}

/// A plain file of which a version cannot have everything.
fn odd_snapshot(beside: &Path) -> Result<String, Box<dyn std::error::Error>> {
    let path = beside.with_file_name("odd.h5");
    Run::of(script("odd_snapshot.py")?.arg(&path)).succeeds();
    Ok(path.to_string_lossy().into_owned())
}

#[test]
fn what_a_version_cannot_have_is_listed_or_refused() -> Outcome {
    let file = first_version("snapshot-odd")?;
    let odd = odd_snapshot(&file)?;
    let before = fs::read(&file)?;
    let run = on_file("commit", &file, &["r2", "--from", &odd, "--strict"]).exits(2);
    assert!(run.stderr.contains("\"scalar\"") && run.stderr.contains("\"to\""), "{run}");
    assert_eq!(fs::read(&file)?, before);

    let run = on_file("commit", &file, &["r2", "--from", &odd, "--json"]).exits(0);
    assert_eq!(run.stderr.lines().filter(|line| line.starts_with("warning: ")).count(), 2, "{run}");
    let report: Report = run.json();
    let mut left: Vec<_> =
        report.not_carried.iter().map(|left| (&*left.path, left.attribute.as_deref())).collect();
    left.sort_unstable();
    assert_eq!(left, [("data", Some("to")), ("scalar", None)]);
    let run = on_file("read", &file, &["data"]).succeeds();
    assert_eq!(run.text(), "[0 1 2]\n", "{run}");
    Ok(())
}

#[test]
fn what_a_snapshot_lacks_is_removed_or_kept() -> Outcome {
    let file = first_version("snapshot-keep")?;
    let odd = odd_snapshot(&file)?;
    let paths = |version: &str| {
        let run = on_file("ls", &file, &["-v", version, "--json"]).succeeds();
        let rows: Vec<Value> = run.json();
        rows.iter().map(|row| row["path"].as_str().unwrap_or_default().to_owned()).collect()
    };
    on_file("commit", &file, &["kept", "--from", &odd, "--keep"]).exits(0);
    on_file("commit", &file, &["removed", "--from", &odd]).exits(0);
    let (kept, removed): (Vec<String>, Vec<String>) = (paths("kept"), paths("removed"));
    assert_eq!((kept, removed), (vec!["data".into(), "other".into()], vec!["data".into()]));
    Ok(())
}

#[test]
fn snapshots_and_their_options_are_checked() -> Outcome {
    let file = first_version("snapshot-options")?;
    let odd = odd_snapshot(&file)?;
    let name = file.to_string_lossy().into_owned();
    for (options, says) in [
        (&["--from", &odd, "--path", "gone"][..], "\"gone\""),
        (&["--from", "gone.h5"], "gone.h5"),
        (&["--from", &name], "committed to"),
        (&["--from", &odd, "--ops", "-"], "--ops"),
        (&["--ops", "-", "--keep"], "--keep"),
    ] {
        let before = fs::read(&file)?;
        let arguments: Vec<&str> = ["r2"].iter().chain(options).copied().collect();
        let run = on_file("commit", &file, &arguments).exits(2);
        assert!(run.stderr.contains(says), "{run}");
        assert_eq!(fs::read(&file)?, before);
    }
    Ok(())
}

#[test]
fn a_wasteful_chunk_shape_of_a_snapshot_is_told_of_when_it_is_new() -> Outcome {
    let file = first_version("snapshot-advice")?;
    let plain = file.with_file_name("plain.h5").to_string_lossy().into_owned();
    let create = json!([
        {"op": "create", "dataset": "wide", "shape": [3, 74, 3944], "dtype": "<f8", "chunks": [900, 3, 3]},
    ]);
    commit(&file, "wide", &create, &["--no-parent"]).exits(0);
    on_file("export", &file, &["wide", &plain]).succeeds();
    let advised = |version: &str, parent: &str| {
        let options = [version, "--from", &plain, "--parent", parent, "--json"];
        let report: Report = on_file("commit", &file, &options).exits(0).json();
        report.advice.into_iter().map(|advice| advice.dataset).collect::<Vec<_>>()
    };
    assert_eq!(advised("new", "r1"), ["wide"]);
    assert!(advised("old", "new").is_empty());
    Ok(())
}

#[test]
fn an_export_replaces_a_file_only_when_told_to() -> Outcome {
    let file = first_version("export")?;
    let out = file.with_file_name("out.h5");
    let name = out.to_string_lossy().into_owned();
    fs::write(&out, "precious")?;
    let run = on_file("export", &file, &["@0", &name]).exits(2);
    assert!(run.stderr.contains("exists"), "{run}");
    assert_eq!(fs::read(&out)?, b"precious");
    on_file("export", &file, &["@0", &name, "--force"]).succeeds();
    assert_ne!(fs::read(&out)?, b"precious");

    let before = fs::read(&file)?;
    let itself = file.to_string_lossy().into_owned();
    for options in [&["@0", &itself][..], &["@0", &itself, "--force"], &["gone", &name, "--force"]]
    {
        on_file("export", &file, options).exits(2);
    }
    assert_eq!(fs::read(&file)?, before);
    let mut names: Vec<_> = fs::read_dir(file.with_file_name(""))?
        .map(|entry| Ok(entry?.file_name()))
        .collect::<std::io::Result<_>>()?;
    names.sort();
    assert_eq!(names, ["file.h5", "out.h5"]);
    Ok(())
}

#[test]
fn a_plain_file_becomes_a_version_and_a_version_a_plain_file() -> Outcome {
    let folder = tempfile::tempdir()?;
    let prices = made::file("prices")?.path;
    fs::copy(prices, folder.path().join("prices.h5"))?;
    for command in [
        "h5strata export prices.h5 @0 plain.h5",
        "h5strata init new.h5",
        "h5strata commit new.h5 r0 --from plain.h5",
        "h5strata commit new.h5 r1 --from plain.h5",
        "h5strata commit new.h5 below --from plain.h5 --path equity --no-parent --no-current",
    ] {
        in_shell(command, folder.path()).succeeds();
    }
    let report: Report =
        in_shell("h5strata commit new.h5 r2 --from plain.h5 --json", folder.path())
            .succeeds()
            .json();
    assert_eq!((report.datasets_changed, report.chunks_written), (0, 0));
    assert!(report.not_carried.is_empty());
    let digests = |file: &str, version: &str| {
        let command = format!("h5strata digest {file} -v {version} --json");
        let lines: Vec<serde_json::Value> =
            in_shell(&command, folder.path()).succeeds().json_lines();
        lines
            .into_iter()
            .map(|line| (line["dataset"].clone(), line["sha256"].clone()))
            .collect::<Vec<_>>()
    };
    assert_eq!(digests("new.h5", "r2"), digests("prices.h5", "@0"));
    assert_eq!(
        digests("new.h5", "below").len(),
        digests("new.h5", "r2")
            .iter()
            .filter(|(path, _)| { path.as_str().is_some_and(|path| path.starts_with("equity/")) })
            .count()
    );
    // A file that is there is not written over unless that is asked for.
    assert_eq!(in_shell("h5strata export prices.h5 @0 plain.h5", folder.path()).code(), 2);
    in_shell("h5strata export prices.h5 @0 plain.h5 --force", folder.path()).succeeds();
    Ok(())
}
