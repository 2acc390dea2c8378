//! Commits of plain chunks, in time, and what most of it goes to: digests.

use std::error::Error;
use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use h5strata::{Selection, VersionedFile};
use ndarray::Array1;
use sha2::{Digest, Sha256};

/// Elements and bytes of a chunk.
const CHUNK: usize = 10_240;
const CHUNK_BYTES: usize = CHUNK * size_of::<f64>();

/// Chunks of a dataset: 42 MB.
const CHUNKS: usize = 512;

/// Values of which no two chunks are equal.
fn values(seed: usize) -> Array1<f64> {
    Array1::from_shape_fn(CHUNKS * CHUNK, |at| f64::from_bits((at * 8 + seed) as u64))
}

/// How digests are made.
type Hash = fn(&[&[u8]]) -> Vec<[u8; 32]>;

fn one_by_one(chunks: &[&[u8]]) -> Vec<[u8; 32]> {
    chunks.iter().map(|chunk| Sha256::digest(chunk).into()).collect()
}

fn side_by_side(chunks: &[&[u8]]) -> Vec<[u8; 32]> {
    let mut digests = vec![[0; 32]; chunks.len()];
    tape_sha256::hash_many(chunks, &mut digests);
    digests
}

/// Digests on one core. `store::digest` makes those of a group one by one if it is at most half of what goes side by
/// side; this is what tells whether it should.
fn digests(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("digests");
    let bytes: Vec<u8> = (0..251).cycle().take(16 * CHUNK_BYTES).collect();
    let chunks: Vec<&[u8]> = bytes.chunks(CHUNK_BYTES).collect();
    assert_eq!(one_by_one(&chunks), side_by_side(&chunks));
    for count in [2, 4, 8, 16] {
        group.throughput(Throughput::Bytes((count * CHUNK_BYTES) as u64));
        let ways: [(&str, Hash); 2] = [("one by one", one_by_one), ("side by side", side_by_side)];
        for (name, hash) in ways {
            group.bench_function(BenchmarkId::new(name, count), |bencher| {
                bencher.iter(|| hash(black_box(&chunks[..count])));
            });
        }
    }
    group.finish();
}

/// The first commit of a file, and one that changes all chunks, from staging to the closed file.
fn commits(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("commit of plain chunks");
    group.throughput(Throughput::Bytes((CHUNKS * CHUNK_BYTES) as u64)).sample_size(20);
    for (step, name) in ["first", "all changed"].into_iter().enumerate() {
        group.bench_function(name, |bencher| {
            bencher.iter_custom(|rounds| {
                let times: Result<Vec<_>, _> = (0..rounds).map(|_| two_commits()).collect();
                assert!(times.is_ok(), "{times:?}");
                times.iter().flatten().map(|times| times[step]).sum()
            });
        });
    }
    group.finish();
}

/// How long the first commit takes, and the one that changes everything.
fn two_commits() -> Result<[Duration; 2], Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("plain.h5");
    let (first, second) = (values(0), values(1));
    let start = Instant::now();
    let mut file = VersionedFile::create(&path)?;
    let mut stage = file.stage("first")?;
    stage.create_dataset("x").chunks(&[CHUNK as u64]).data(&first)?;
    assert_eq!(stage.commit()?.chunks_written, CHUNKS as u64);
    drop(file);
    let created = start.elapsed();
    let start = Instant::now();
    let mut file = VersionedFile::open_rw(&path)?;
    let mut stage = file.stage("second")?;
    stage.dataset_mut("x")?.write(Selection::all(), &second)?;
    assert_eq!(stage.commit()?.chunks_written, CHUNKS as u64);
    drop(file);
    Ok([created, start.elapsed()])
}

criterion_group!(benches, digests, commits);
criterion_main!(benches);
