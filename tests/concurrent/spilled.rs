//! Commits that change more below the end of the file than is held in memory: the rest goes to the journal at once.
//!
//! That takes a file with much free space in it. Here a writer of another kind has left chunks that no version has;
//! a commit frees them, and libhdf5 puts the chunks of the commit in their place.

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use h5strata::dims::ChunkIndex;
use h5strata::staged::{Base, BaseChunk};
use h5strata::store::BaseError;
use h5strata::{OpenOptions, RawPath, RecoverOptions, VersionedFile};
use ndarray::{Array1, s};

use crate::process::Process;
use crate::support::{Outcome, made};
use crate::{LIMIT, Scratch, roles, stopped, writing};

/// Elements of a chunk, and its bytes.
const CHUNK: u64 = 1 << 17;
const CHUNK_BYTES: u64 = 8 * CHUNK;

/// Chunks of the commit, more than twice what pages in memory hold.
const CHUNKS: u64 = 160;

/// What the pages of a commit take in memory at most.
const PAGES: u64 = 64 << 20;

/// The program itself, and the few batches of chunks that are on their way.
const BESIDE: u64 = 80 << 20;

fn element(at: u64) -> i64 {
    (at * 3) as i64 - 7
}

/// Brings the elements of the commit, a chunk at a time.
struct Elements;

impl Base for Elements {
    type Error = BaseError;

    fn shape(&self) -> &[u64] {
        &[CHUNKS * CHUNK]
    }

    fn chunk_shape(&self) -> &[u64] {
        &[CHUNK]
    }

    fn visit(
        &self,
        chunks: &[ChunkIndex],
        visit: &(dyn Fn(usize, BaseChunk<'_>) -> ControlFlow<()> + Sync),
    ) -> Result<(), BaseError> {
        for (position, chunk) in chunks.iter().enumerate() {
            let all = chunk.0 * CHUNK..(chunk.0 + 1) * CHUNK;
            let bytes: Vec<u8> = all.flat_map(|at| element(at).to_le_bytes()).collect();
            if visit(position, BaseChunk::Bytes(&bytes)).is_break() {
                break;
            }
        }
        Ok(())
    }
}

/// A file of one version, with as much left in it as the commit has.
fn file_with_room() -> Result<Scratch, Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("versions.h5");
    let mut file = writing().create(&path)?;
    let mut stage = file.stage("r0")?;
    stage.create_dataset("x").chunks(&[CHUNK]).data(&Array1::from_iter(0..CHUNK as i64))?;
    stage.commit()?;
    drop(file);
    made::alter("junk", &path, &["x", &CHUNKS.to_string(), "0", "1"])?;
    Ok(Scratch { folder, path })
}

/// What a child does: makes version `r1`.
pub(crate) fn commit(path: &Path) {
    let mut file = writing().threads(2).open_rw(path).unwrap();
    let mut stage = file.stage("r1").unwrap();
    stage.delete("x").unwrap();
    let builder = stage.create_dataset("x").chunks(&[CHUNK]);
    builder.source("<i8".parse().unwrap(), Arc::new(Elements)).unwrap();
    stage.commit().unwrap();
}

/// What a child does: finishes the commit. Says how much it had in memory.
pub(crate) fn recover(path: &Path) -> u64 {
    let report = RecoverOptions::new().recover(path).unwrap();
    assert!(matches!(report.journal, h5strata::atomic::Recovery::Replayed(_)), "{report:?}");
    crate::process::peak_memory("self")
}

/// Checks both versions in a file that may be read through its journal.
fn holds_both(path: &Path, raw_path: RawPath) -> Outcome {
    let file = OpenOptions::new().raw_path(raw_path).open(path)?;
    holds_first(&file)?;
    let x = file.version("r1")?.dataset("x")?;
    assert_eq!(x.shape(), [CHUNKS * CHUNK]);
    for chunk in 0..CHUNKS {
        let range = chunk * CHUNK..(chunk + 1) * CHUNK;
        let (start, end) = (isize::try_from(range.start)?, isize::try_from(range.end)?);
        let values = x.read::<i64>(s![start..end])?;
        assert!(values.into_iter().eq(range.map(element)), "chunk {chunk}");
    }
    Ok(())
}

fn holds_first(file: &VersionedFile) -> Outcome {
    let first = file.version("r0")?.dataset("x")?.read::<i64>(s![..])?;
    assert!(first.into_iter().eq(0..CHUNK as i64));
    Ok(())
}

#[test]
fn a_commit_of_more_pages_than_memory_holds_is_finished_after_a_kill() -> Outcome {
    let scratch = file_with_room()?;
    let before = scratch.bytes();
    let mut reader = Process::holding(&scratch.path, "r", LIMIT);
    assert_eq!(reader.says(), "open");
    let mut writer = roles::start("spilling", &scratch.path, 0);
    stopped::wait_for_wait(&scratch, &mut writer);
    let peak = writer.peak_memory();
    writer.kill();
    let journal = fs::metadata(scratch.journal())?.len();
    assert!(journal > CHUNKS * CHUNK_BYTES, "the chunks are not in the journal: {journal} bytes");
    assert!(peak < PAGES + BESIDE, "the writer had {peak} bytes in memory");
    assert!(scratch.bytes().starts_with(&before), "the file has changed before its time");

    // Who may not write reads through the journal.
    holds_both(&scratch.path, RawPath::Auto)?;
    reader.kill();
    let peak: u64 = roles::start("recovering", &scratch.path, 0).ends().parse()?;
    assert!(peak < BESIDE, "recovery had {peak} bytes in memory");
    assert!(!scratch.journal().exists());
    for raw_path in [RawPath::Auto, RawPath::Library] {
        holds_both(&scratch.path, raw_path)?;
    }
    // By h5py, of which each chunk is what its digest says.
    made::alter("agrees", &scratch.path, &[])?;
    Ok(())
}

#[test]
fn a_commit_that_is_killed_while_it_writes_to_its_journal_is_taken_back() -> Outcome {
    let scratch = file_with_room()?;
    let mut writer = roles::start("spilling", &scratch.path, 0);
    let end = Instant::now() + LIMIT;
    while !scratch.journal().exists() {
        assert!(Instant::now() < end, "{}", writer.kill());
        thread::sleep(Duration::from_millis(1));
    }
    writer.kill();
    // Where this process was kept from killing it in time, the commit is there, and whole.
    let file = VersionedFile::open(&scratch.path)?;
    let is_taken_back = !file.has_version("r1")?;
    drop(file);
    assert!(!scratch.journal().exists());
    if is_taken_back {
        holds_first(&VersionedFile::open(&scratch.path)?)?;
        // And again, to its end.
        commit(&scratch.path);
    }
    holds_both(&scratch.path, RawPath::Auto)
}
