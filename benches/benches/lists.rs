//! Encoding of mapping lists alone, in time: no file, no I/O.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use h5strata::chunk_map::vds_block::encode_list;
use h5strata::ondisk::{FieldWidth, lookup3};
use h5strata_benches::list_workloads;

fn encode(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("list");
    for workload in list_workloads() {
        group.throughput(Throughput::Elements(workload.map.len() as u64));
        group.bench_function(workload.name, |bencher| {
            bencher.iter(|| {
                let map = workload.map.iter().copied();
                encode_list(workload.sources(), map, FieldWidth::Eight).ok()
            });
        });
    }
    group.finish();
}

fn checksum(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("checksum");
    let bytes = vec![7; 1 << 20];
    group.throughput(Throughput::Bytes(1 << 20));
    group.bench_function("lookup3", |bencher| bencher.iter(|| lookup3(&bytes)));
    group.finish();
}

criterion_group!(benches, encode, checksum);
criterion_main!(benches);
