//! Planning alone, in time: no file, no I/O.

use std::hint::black_box;

use bumpalo::Bump;
use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use h5strata::ReadPlan;
use h5strata_benches::plan_workloads;

fn plan_and_walk(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("plan");
    for workload in plan_workloads() {
        group.throughput(Throughput::Elements(workload.transfers));
        group.bench_function(workload.name, |bencher| {
            bencher.iter_batched_ref(
                Bump::new,
                |arena| {
                    let plan = ReadPlan::new(
                        &workload.selection,
                        &workload.shape,
                        &workload.chunk_shape,
                        arena,
                    );
                    let Ok(plan) = plan else { return 0 };
                    let mut transfers = plan.transfers();
                    while let Some(transfer) = transfers.advance() {
                        black_box(transfer.pieces());
                    }
                    plan.len()
                },
                BatchSize::PerIteration,
            );
        });
    }
    group.finish();
}

criterion_group!(benches, plan_and_walk);
criterion_main!(benches);
