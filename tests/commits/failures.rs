//! A commit that fails leaves the versions that there were, nothing else, and the file ready for the next one.

use std::ops::ControlFlow;
use std::sync::Arc;

use h5strata::dims::ChunkIndex;
use h5strata::staged::{Base, BaseChunk};
use h5strata::store::{BaseError, CommitReport, StringSource};
use h5strata::{Error, OpenOptions, Selection, Stage, VersionedFile};
use ndarray::Array1;

use crate::support::Outcome;
use crate::{Scratch, read, read_as, read_strings};

/// Elements of a chunk: 64 KiB.
const CHUNK: u64 = 8192;

/// Chunks of a source: more than go through the stages of a commit at once.
const CHUNKS: u64 = 160;

const SHAPE: [u64; 1] = [CHUNKS * CHUNK];

#[derive(Debug, thiserror::Error)]
#[error("the source has dried up")]
struct DriedUp;

/// Brings chunks, each of one number, until it fails.
struct Source {
    chunk_shape: [u64; 1],
    fails_at: Option<u64>,
}

impl Source {
    fn failing_at(chunk: u64) -> Arc<Self> {
        Arc::new(Self { chunk_shape: [CHUNK], fails_at: Some(chunk) })
    }
}

impl Base for Source {
    type Error = BaseError;

    fn shape(&self) -> &[u64] {
        &SHAPE
    }

    fn chunk_shape(&self) -> &[u64] {
        &self.chunk_shape
    }

    fn visit(
        &self,
        chunks: &[ChunkIndex],
        visit: &(dyn Fn(usize, BaseChunk<'_>) -> ControlFlow<()> + Sync),
    ) -> Result<(), BaseError> {
        for (position, chunk) in chunks.iter().enumerate() {
            if self.fails_at == Some(chunk.0) {
                return Err(BaseError::new(DriedUp));
            }
            let elements: Vec<u8> =
                (0..CHUNK).flat_map(|at| (chunk.0 * 1_000_000 + at).to_le_bytes()).collect();
            if visit(position, BaseChunk::Bytes(&elements)).is_break() {
                break;
            }
        }
        Ok(())
    }
}

/// The same of strings, of which the second chunk fails.
struct Strings;

impl StringSource for Strings {
    fn shape(&self) -> &[u64] {
        &[40]
    }

    fn chunk_shape(&self) -> &[u64] {
        &[10]
    }

    fn strings(&self, chunk: ChunkIndex) -> Result<Option<Vec<Vec<u8>>>, BaseError> {
        if chunk.0 == 1 {
            return Err(BaseError::new(DriedUp));
        }
        Ok(Some(vec![b"brought".to_vec(); 10]))
    }
}

/// A file of two versions.
fn file(threads: usize) -> Result<(Scratch, VersionedFile), Box<dyn std::error::Error>> {
    let scratch = Scratch::new();
    let mut file = OpenOptions::new().threads(threads).create(&scratch.path)?;
    let mut stage = file.stage("r0")?;
    stage.create_dataset("a").chunks(&[10]).data(&Array1::from_iter(0..25_i64))?;
    stage.create_dataset("g/old").chunks(&[CHUNK]).gzip(1).data(&Array1::from_elem(9000, 5_u64))?;
    stage.create_dataset("g/text").chunks(&[10]).strings(&[2], &["one", "two"])?;
    stage.commit()?;
    let mut stage = file.stage("r1")?;
    stage.dataset_mut("a")?.write_scalar(Selection::all(), 4_i64)?;
    stage.commit()?;
    Ok((scratch, file))
}

/// Most bytes of holes that a failed commit leaves, of the megabytes that it had written.
const HOLES: u64 = 32 << 10;

/// Ways to fail: each changes or makes datasets and then meets a source that dries up.
type Way = fn(&mut Stage<'_>) -> Result<(), Error>;

const WAYS: &[(&str, Way, &str)] = &[
    ("at the first chunk of a new dataset", |s| source(s, "new", 0), "new"),
    ("at the last chunk of a new dataset", |s| source(s, "new", CHUNKS - 1), "new"),
    ("in groups that are new as well", |s| source(s, "h/deep/new", CHUNKS / 2), "h/deep/new"),
    (
        "after other datasets were stored",
        |s| {
            s.dataset_mut("a")?.write(Selection::all(), &Array1::from_iter(100..125_i64))?;
            s.create_dataset("b/before").data(&Array1::from_iter(0..9_i64))?;
            s.dataset_mut("g/text")?.write_strings(Selection::all(), &["x"], &[])?;
            source(s, "z", CHUNKS / 2)
        },
        "z",
    ),
    (
        "in a dataset that other versions have",
        |s| {
            s.delete("g/old")?;
            source(s, "g/old", CHUNKS / 2)
        },
        "g/old",
    ),
    (
        "in strings",
        |s| {
            s.delete("g/text")?;
            s.create_dataset("g/text")
                .chunks(&[10])
                .string_source("str".parse().unwrap(), Arc::new(Strings))
                .map(drop)
        },
        "g/text",
    ),
];

fn source(stage: &mut Stage<'_>, path: &str, fails_at: u64) -> Result<(), Error> {
    let builder = stage.create_dataset(path).chunks(&[CHUNK]);
    builder.gzip(1).source("<u8".parse().unwrap(), Source::failing_at(fails_at)).map(drop)
}

fn fails(file: &mut VersionedFile, way: Way, path: &str) -> Outcome {
    let mut stage = file.stage("r2")?;
    way(&mut stage)?;
    match stage.commit() {
        Err(error @ Error::Dataset { .. }) => {
            let said = error.to_string();
            for part in ["versions.h5", "\"r2\"", &format!("{path:?}"), "dried up"] {
                assert!(said.contains(part), "{said}");
            }
            Ok(())
        }
        other => panic!("{other:?}"),
    }
}

fn has_its_versions(file: &VersionedFile) -> Outcome {
    let names: Vec<&str> = file.versions()?.iter().map(|version| version.name.as_str()).collect();
    assert_eq!(names, ["r0", "r1"]);
    assert_eq!(file.current_name()?, "r1");
    assert_eq!(read(file, "r0", "a"), Array1::from_iter(0..25_i64).into_dyn());
    assert_eq!(read(file, "r1", "a"), Array1::from_elem(25, 4_i64).into_dyn());
    assert!(read_as::<u64>(file, "r1", "g/old").iter().all(|&value| value == 5));
    assert_eq!(read_strings(file, "r1", "g/text"), ["one", "two"]);
    Ok(())
}

fn next(file: &mut VersionedFile) -> Result<CommitReport, Error> {
    let mut stage = file.stage("r2")?;
    stage.dataset_mut("a")?.write_scalar(Selection::all(), 6_i64)?;
    let new = Source { chunk_shape: [CHUNK], fails_at: None };
    stage.create_dataset("new").chunks(&[CHUNK]).source("<u8".parse().unwrap(), Arc::new(new))?;
    stage.commit()
}

/// A commit that failed left chunks, rows and groups, a version half made, or a file that took no more versions.
#[test]
fn a_failed_commit_leaves_what_was_there_and_no_debris() -> Outcome {
    for (threads, &(name, way, path)) in [1, 3].into_iter().cycle().zip(WAYS) {
        let (scratch, file) = file(threads)?;
        drop(file);
        let listing = scratch.listing()?;
        let mut sizes = vec![scratch.size()];
        for _ in 0..3 {
            let mut file = OpenOptions::new().threads(threads).open_rw(&scratch.path)?;
            let clone = file.clone();
            fails(&mut file, way, path)?;
            has_its_versions(&file)?;
            has_its_versions(&clone)?;
            drop((file, clone));
            sizes.push(scratch.size());
        }
        assert!(scratch.listing()? == listing, "{name}");
        // What lies at the end of the file is cut off. HDF5 forgets smaller holes when it closes the file, and an
        // index of chunks that has got another level keeps it, with one node behind the first new chunks: once.
        let first = if path == "g/old" { 1 << 20 } else { HOLES };
        assert!(sizes[1] <= sizes[0] + first, "{name}: {sizes:?}");
        assert!(sizes.windows(2).skip(1).all(|s| s[1] <= s[0] + HOLES), "{name}: {sizes:?}");
        has_its_versions(&VersionedFile::open(&scratch.path)?)?;
        let mut file = VersionedFile::open_rw(&scratch.path)?;
        assert_eq!(next(&mut file)?.chunks_written, CHUNKS + 2, "{name}");
        drop(file);
        scratch.alter("agrees", &[])?;
    }
    Ok(())
}

/// The handle of a failed commit was of no use any more.
#[test]
fn the_same_handle_takes_the_next_commit() -> Outcome {
    for &(name, way, path) in WAYS {
        let (scratch, mut file) = file(0)?;
        for _ in 0..3 {
            fails(&mut file, way, path)?;
        }
        has_its_versions(&file)?;
        assert_eq!(next(&mut file)?.chunks_written, CHUNKS + 2, "{name}");
        assert_eq!(read(&file, "r2", "a"), Array1::from_elem(25, 6_i64).into_dyn());
        let new = read_as::<u64>(&file, "r2", "new");
        assert_eq!(new[[(CHUNKS * CHUNK - 1) as usize]], (CHUNKS - 1) * 1_000_000 + CHUNK - 1);
        assert_eq!(read(&file, "r0", "a"), Array1::from_iter(0..25_i64).into_dyn());
        drop(file);
        scratch.alter("agrees", &[])?;
        assert_eq!(VersionedFile::open(&scratch.path)?.versions()?.len(), 3, "{name}");
    }
    Ok(())
}

/// Chunks of a failed commit were taken for stored ones by the next.
#[test]
fn chunks_of_a_failed_commit_are_not_used_again() -> Outcome {
    let (scratch, mut file) = file(1)?;
    let values = Array1::from_iter(500..525_i64);
    let mut stage = file.stage("r2")?;
    stage.dataset_mut("a")?.write(Selection::all(), &values)?;
    source(&mut stage, "z", 3)?;
    assert!(stage.commit().is_err());
    let mut stage = file.stage("r2")?;
    stage.dataset_mut("a")?.write(Selection::all(), &values)?;
    let report = stage.commit()?;
    assert_eq!((report.chunks_written, report.chunks_reused), (3, 0));
    assert_eq!(read(&file, "r2", "a"), values.into_dyn());
    drop(file);
    scratch.alter("agrees", &[])?;
    Ok(())
}
