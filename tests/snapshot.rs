//! Plain files become versions, and versions plain files, with nothing changed on the way that is not told.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "a test fails by a panic, and its numbers are small"
)]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use h5strata::snapshot::{OnProgress, Reason};
use h5strata::store::{CommitReport, ExportOptions};
use h5strata::{
    Error, ImportOptions, ImportReport, NotCarried, Selection, Snapshot, VersionedFile,
};
use ndarray::{Array2, ArrayD, s};

#[path = "support/heap.rs"]
mod heap;
mod support;

use heap::CountingHeap;
use support::made;

#[global_allocator]
static HEAP: CountingHeap = CountingHeap;

type Outcome = Result<(), Box<dyn std::error::Error>>;

/// The heap is that of the whole process: who measures it does so alone.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A folder with plain files of every kind, and with a versioned file once one is made.
struct Files {
    folder: tempfile::TempDir,
}

impl Files {
    fn make() -> Self {
        let folder = tempfile::tempdir().unwrap();
        python(&["make".as_ref(), folder.path()]);
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn versioned(&self) -> VersionedFile {
        VersionedFile::create(self.path("versions.h5")).unwrap()
    }

    /// Commits a plain file as a version.
    fn commit(
        &self,
        file: &mut VersionedFile,
        version: &str,
        plain: &str,
        options: &ImportOptions,
    ) -> Result<(ImportReport, CommitReport), Error> {
        let snapshot = Snapshot::open(self.path(plain))?;
        let mut stage = file.stage(version)?;
        let imported = stage.import(&snapshot, options)?;
        Ok((imported, stage.commit()?))
    }

    /// Whether h5py and versioned-hdf5 read the version as the plain file.
    fn assert_same(&self, plain: &str, version: &str) {
        let (plain, file) = (self.path(plain), self.path("versions.h5"));
        python(&["same".as_ref(), &plain, &file, version.as_ref()]);
    }
}

/// Runs the tests' script, which fails where something is not as it must be.
fn python(arguments: &[&Path]) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python/snapshots.py");
    let run = Command::new(made::python().unwrap()).arg(script).args(arguments).output().unwrap();
    assert!(run.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&run.stderr));
}

fn shown(left: &[NotCarried]) -> Vec<String> {
    let mut shown: Vec<String> = left.iter().map(ToString::to_string).collect();
    shown.sort();
    shown
}

#[test]
fn every_kind_of_content_reads_back_as_it_was() -> Outcome {
    let _alone = alone();
    let files = Files::make();
    let mut file = files.versioned();
    let (imported, _) = files.commit(&mut file, "r0", "every.h5", &ImportOptions::new())?;
    assert_eq!(shown(&imported.not_carried), Vec::<String>::new());
    drop(file);
    files.assert_same("every.h5", "r0");

    let mut file = VersionedFile::open_rw(files.path("versions.h5"))?;
    let sparse = file.version("r0")?.dataset("sparse")?;
    assert_eq!((sparse.chunk_shape(), sparse.stored_chunks()?.len()), (&[10, 10][..], 4));
    let (_, again) = files.commit(&mut file, "r1", "every.h5", &ImportOptions::new())?;
    assert_eq!((again.datasets_changed, again.chunks_written), (0, 0), "{again:?}");
    Ok(())
}

#[test]
fn later_snapshots_share_what_has_not_changed() -> Outcome {
    let _alone = alone();
    let files = Files::make();
    let mut file = files.versioned();
    // Day 1 is contiguous, day 2 has chunks of another shape: stored chunks keep theirs.
    let mut written = Vec::new();
    for day in 0..3 {
        let (version, plain) = (format!("day{day}"), format!("day{day}.h5"));
        let (imported, commit) =
            files.commit(&mut file, &version, &plain, &ImportOptions::new())?;
        assert_eq!((imported.datasets, imported.groups, imported.attributes), (4, 2, 2));
        let chunks = commit.datasets.iter().map(|d| (d.path.clone(), d.chunks_written));
        written.push(chunks.collect::<Vec<_>>());
    }
    let row = |path: &str, chunks| (path.to_owned(), chunks);
    assert_eq!(
        written,
        [
            vec![row("names", 5), row("only/0", 1), row("px/close", 12), row("px/fixed", 10)],
            vec![row("only/1", 1), row("px/close", 1)],
            vec![row("names", 1), row("only/2", 1), row("px/close", 1)],
        ]
    );
    let datasets = |version: &str| file.version(version).unwrap().datasets().unwrap();
    assert_eq!(datasets("day1"), ["names", "only/1", "px/close", "px/fixed"]);
    drop(file);
    for day in 0..3 {
        files.assert_same(&format!("day{day}.h5"), &format!("day{day}"));
    }
    Ok(())
}

#[test]
fn what_a_snapshot_lacks_stays_if_it_is_kept() -> Outcome {
    let _alone = alone();
    let files = Files::make();
    let mut file = files.versioned();
    files.commit(&mut file, "day0", "day0.h5", &ImportOptions::new())?;
    files.commit(&mut file, "day1", "day1.h5", &ImportOptions::new().keep(true))?;
    let datasets = file.version("day1")?.datasets()?;
    assert_eq!(datasets, ["names", "only/0", "only/1", "px/close", "px/fixed"]);
    Ok(())
}

#[test]
fn a_group_of_a_file_is_taken_alone() -> Outcome {
    let _alone = alone();
    let files = Files::make();
    let mut file = files.versioned();
    let snapshot = Snapshot::open_below(files.path("day0.h5"), "/px/")?;
    let mut stage = file.stage("px")?;
    stage.import(&snapshot, &ImportOptions::new())?;
    stage.commit()?;
    assert_eq!(file.current()?.datasets()?, ["close", "fixed"]);
    for missing in ["nowhere", "px/close", "px/close/x"] {
        let refused = Snapshot::open_below(files.path("day0.h5"), missing);
        assert!(matches!(refused, Err(Error::NoGroup { .. })), "{missing}");
    }
    Ok(())
}

#[test]
fn what_cannot_be_carried_is_listed_or_an_error() -> Outcome {
    let _alone = alone();
    let files = Files::make();
    let mut file = files.versioned();
    let expected = [
        r#""/", attribute "timestamp": the name "timestamp" is the format's own"#,
        r#""along", attribute "DIMENSION_LIST": elements of the type vlen cannot be stored"#,
        r#""dangling": the link leads to no object"#,
        r#""elsewhere": the link leads to no object"#,
        r#""group/cycle": the group lies in itself"#,
        r#""group/raw_data": the name "raw_data" is the format's own"#,
        r#""kept", attribute "REFERENCE_LIST": its elements refer to objects of their own file"#,
        r#""kept", attribute "raw_data": the name "raw_data" is the format's own"#,
        r#""null": it has no dataspace"#,
        r#""references": its elements refer to objects of their own file"#,
        r#""scalar": scalar datasets cannot be versioned"#,
        r#""scaled": its values are stored without the filter scaleoffset, which cannot be written"#,
        r#""sequences": elements of the type vlen cannot be stored"#,
        r#""type": it is neither a group nor a dataset"#,
        r#""versions": the name "versions" is the format's own"#,
    ];
    let strict = files.commit(&mut file, "r0", "left.h5", &ImportOptions::new().strict(true));
    let Err(Error::NotCarried { not_carried, .. }) = strict else { panic!("{strict:?}") };
    assert_eq!(shown(&not_carried), expected);
    assert!(file.versions()?.is_empty());

    let (imported, _) = files.commit(&mut file, "r0", "left.h5", &ImportOptions::new())?;
    assert_eq!(shown(&imported.not_carried), expected);
    let version = file.current()?;
    assert_eq!(version.datasets()?, ["along", "group/inner", "kept", "scaled"]);
    let scaled: ArrayD<i64> = version.dataset("scaled")?.read(Selection::all())?;
    assert!(scaled.iter().copied().eq(0..100));

    let (wide, _) = files.commit(&mut file, "r1", "libver.h5", &ImportOptions::new())?;
    let [NotCarried { reason: Reason::AttributeSize { bytes: 160_000 }, .. }] =
        wide.not_carried.as_slice()
    else {
        panic!("{:?}", wide.not_carried)
    };
    Ok(())
}

#[test]
fn another_type_than_that_of_other_versions_is_left_behind() -> Outcome {
    let _alone = alone();
    let files = Files::make();
    let mut file = files.versioned();
    let mut stage = file.stage("r0")?;
    stage.create_dataset("kept").data(&Array2::<f32>::zeros((2, 2)))?;
    stage.create_dataset("along").data(&Array2::<f64>::zeros((2, 2)))?;
    stage.create_group("scaled")?;
    stage.commit()?;
    let (imported, _) = files.commit(&mut file, "r1", "left.h5", &ImportOptions::new())?;
    let reason = |path: &str| {
        let left = imported.not_carried.iter().find(|left| left.path == path);
        left.map(|left| left.reason.to_string())
    };
    assert_eq!(reason("kept").as_deref(), Some("its type is <i8, but <f4 in other versions"));
    assert_eq!(reason("along").as_deref(), Some("it has 1 axes, but 2 in other versions"));
    // The group made room for the dataset.
    assert_eq!(file.current()?.datasets()?, ["group/inner", "scaled"]);
    Ok(())
}

#[test]
fn an_exported_version_is_stored_as_it_was_and_comes_back_unchanged() -> Outcome {
    let _alone = alone();
    let files = Files::make();
    let mut file = files.versioned();
    files.commit(&mut file, "r0", "every.h5", &ImportOptions::new())?;
    let told = Arc::new(Mutex::new(Vec::new()));
    let tell = Arc::clone(&told);
    let options = ExportOptions::new().on_progress(OnProgress::new(move |progress| {
        tell.lock().unwrap().push((progress.dataset.to_owned(), progress.done, progress.total));
    }));
    let out = files.path("out.h5");
    let exported = file.version("r0")?.export(&out, &options)?;
    assert_eq!(shown(&exported.not_carried), Vec::<String>::new());
    python(&["stored".as_ref(), &files.path("every.h5"), &out]);
    let told = told.lock().unwrap();
    assert_eq!(told.len() as u64, exported.chunks);
    assert!(told.iter().all(|(_, done, total)| done <= total));

    let (imported, commit) = files.commit(&mut file, "r1", "out.h5", &ImportOptions::new())?;
    assert_eq!(shown(&imported.not_carried), Vec::<String>::new());
    assert_eq!((commit.datasets_changed, commit.chunks_written), (0, 0), "{commit:?}");
    Ok(())
}

#[test]
fn a_file_that_is_there_is_replaced_only_if_asked_for_and_nothing_is_left_beside_it() -> Outcome {
    let _alone = alone();
    let files = Files::make();
    let mut file = files.versioned();
    files.commit(&mut file, "day0", "day0.h5", &ImportOptions::new())?;
    let version = file.current()?;
    let out = files.path("out.h5");
    std::fs::write(&out, "mine")?;
    let before = std::fs::read_dir(files.folder.path())?.count();
    let refused = version.export(&out, &ExportOptions::new());
    assert!(matches!(refused, Err(Error::Io { .. })));
    assert_eq!(std::fs::read(&out)?, b"mine");
    version.export(&out, &ExportOptions::new().overwrite(true))?;
    assert_eq!(std::fs::read_dir(files.folder.path())?.count(), before);
    python(&["stored".as_ref(), &files.path("day0.h5"), &out]);
    let nowhere = version.export(files.path("nowhere/out.h5"), &ExportOptions::new());
    assert!(matches!(nowhere, Err(Error::Io { .. })));
    Ok(())
}

#[test]
fn a_large_snapshot_is_brought_and_exported_a_few_batches_at_a_time() -> Outcome {
    let _alone = alone();
    let files = Files::make();
    let mut file = files.versioned();
    let mut stage = file.stage("large")?;
    let mut large =
        stage.create_dataset("x").chunks(&[128, 1024]).empty("<f8".parse()?, &[32 * 1024, 1024])?;
    for row in 0..256isize {
        let rows = Array2::from_shape_fn((128, 1024), |(i, j)| (row * 7 + (i * j) as isize) as f64);
        large.write(s![row * 128..(row + 1) * 128, ..], &rows)?;
    }
    stage.commit()?;
    let out = files.path("large.h5");
    let (exported, peak) =
        CountingHeap::peak(|| file.current().unwrap().export(&out, &ExportOptions::new()));
    assert_eq!(exported?.bytes, 256 << 20);
    assert!(peak < 8 << 20, "{peak} bytes");
    let mut copy = VersionedFile::create(files.path("copy.h5"))?;
    let (outcome, peak) =
        CountingHeap::peak(|| files.commit(&mut copy, "r0", "large.h5", &ImportOptions::new()));
    assert_eq!(outcome?.1.chunks_written, 256);
    // Three batches of 16 MiB at most, and what is between their stages.
    assert!(peak < 80 << 20, "{peak} bytes");
    Ok(())
}
