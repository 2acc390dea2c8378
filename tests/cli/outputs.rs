//! `read`: what it writes is what NumPy reads and prints, and files are whole or not there.

use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use crate::Outcome;
use crate::program::{Run, on_file, script};
use crate::support::made;

/// An empty folder for one test.
pub(crate) fn folder(name: &str) -> std::io::Result<PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cli").join(name);
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// A file in an empty folder whose `data` is read in several slabs.
pub(crate) fn wide_elements(name: &str) -> Result<PathBuf, Box<dyn std::error::Error>> {
    let path = folder(name)?.join("wide-elements.h5");
    Run::of(script("wide_elements.py")?.arg(&path)).succeeds();
    Ok(path)
}

/// Names of all that is in a folder.
fn names(folder: &Path) -> std::io::Result<Vec<String>> {
    let mut names = fs::read_dir(folder)?
        .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
        .collect::<std::io::Result<Vec<_>>>()?;
    names.sort();
    Ok(names)
}

#[test]
fn text_npy_and_csv_are_numpys() -> Outcome {
    let wide = wide_elements("numpy")?;
    let mut python = script("numpy_agrees.py")?;
    python.arg(env!("CARGO_BIN_EXE_h5strata")).arg(wide.with_file_name("")).arg(&wide);
    for name in [
        "dtype-bool-enum",
        "dtype-compound",
        "dtype-fixed-strings",
        "dtype-handmade",
        "dtype-numbers",
        "dtype-opaque",
        "dtype-strings",
        "fill-values",
        "random-1d",
        "random-2d",
        "random-3d",
        "random-4d",
        "signed-zero-and-nan",
        "thin-chunks",
    ] {
        python.arg(made::file(name)?.path);
    }
    Run::of(&mut python).succeeds();
    Ok(())
}

#[test]
fn raw_bytes_are_what_is_digested() -> Outcome {
    for name in ["dtype-numbers", "dtype-strings", "dtype-compound", "random-3d"] {
        let file = made::file(name)?;
        for expected in file.digests()? {
            let arguments = [&expected.dataset, "-v", &expected.version, "--format", "raw"];
            let run = on_file("read", &file.path, &arguments).succeeds();
            let digest = Sha256::digest(&run.stdout);
            let digits: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(digits, expected.sha256, "{name} {expected:?}");
        }
    }
    Ok(())
}

#[test]
fn selections_read_what_h5py_selects() -> Outcome {
    let file = made::file("random-3d")?;
    for read in file.reads()?.iter().take(40) {
        let arguments =
            [&read.dataset, "-v", &read.version, "-s", &read.selection, "--format", "raw"];
        let run = on_file("read", &file.path, &arguments).succeeds();
        let digest = Sha256::digest(&run.stdout);
        let digits: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(digits, read.sha256, "{}", read.selection);
    }
    Ok(())
}

#[test]
fn a_failed_read_leaves_nothing_behind() -> Outcome {
    let folder = folder("failed")?;
    let kept = folder.join("kept.npy");
    fs::write(&kept, "what was there")?;
    let broken = made::folder()?.join("broken/deflate-garbage.h5");
    for output in [&kept, &folder.join("new.npy")] {
        let output = output.to_str().expect("a name in UTF-8");
        on_file("read", &broken, &["data", "-o", output]).exits(2);
    }
    assert_eq!(names(&folder)?, ["kept.npy"]);
    assert_eq!(fs::read_to_string(&kept)?, "what was there");
    Ok(())
}

#[test]
fn a_file_is_replaced_when_it_is_whole() -> Outcome {
    let folder = folder("whole")?;
    let output = folder.join("data.csv");
    fs::write(&output, "what was there")?;
    let file = made::file("branches")?;
    let arguments = ["data", "-s", ":3", "-o", output.to_str().expect("a name in UTF-8")];
    on_file("read", &file.path, &arguments).succeeds();
    assert_eq!(names(&folder)?, ["data.csv"]);
    assert_eq!(fs::read_to_string(&output)?, "0\n-1\n2\n");
    Ok(())
}

#[cfg(unix)]
#[test]
fn a_link_stays_a_link_and_new_files_have_ordinary_rights() -> Outcome {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder("links")?;
    let (target, link, other) =
        (folder.join("target.raw"), folder.join("link.raw"), folder.join("other"));
    fs::write(&target, "old")?;
    fs::write(&other, "made by the test")?;
    std::os::unix::fs::symlink(&target, &link)?;
    let file = made::file("branches")?;
    let arguments = ["data", "-s", "0", "-o", link.to_str().expect("a name in UTF-8")];
    on_file("read", &file.path, &arguments).succeeds();
    assert!(fs::symlink_metadata(&link)?.is_symlink());
    assert_eq!(fs::read(&target)?, 0i64.to_le_bytes());
    let mode = |path| Ok::<_, std::io::Error>(fs::metadata(path)?.permissions().mode());
    assert_eq!(mode(&target)?, mode(&other)?);
    Ok(())
}

#[test]
fn the_file_that_is_read_is_never_the_output() -> Outcome {
    let copy = folder("input")?.join("copy.h5");
    fs::copy(made::file("branches")?.path, &copy)?;
    let before = fs::read(&copy)?;
    let output = copy.to_str().expect("a name in UTF-8");
    let run = on_file("read", &copy, &["data", "--format", "raw", "-o", output]).exits(2);
    assert!(run.stderr.contains("this is the file that is read"), "{run}");
    assert_eq!(fs::read(&copy)?, before);
    Ok(())
}
