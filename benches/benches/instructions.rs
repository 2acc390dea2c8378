//! Planning and the encoding of mapping lists alone, in instructions: the counts that `scripts/check-instructions` guards.

#![expect(missing_docs, reason = "the macros of iai-callgrind make items without them")]

use std::hint::black_box;

use bumpalo::Bump;
use h5strata::ReadPlan;
use h5strata::chunk_map::vds_block::encode_list;
use h5strata::ondisk::FieldWidth;
use h5strata_benches::{ListWorkload, PlanWorkload, list_workload, plan_workload};
use iai_callgrind::{library_benchmark, library_benchmark_group, main};

#[library_benchmark]
#[bench::r1_full(plan_workload("r1_full"))]
#[bench::r3_full(plan_workload("r3_full"))]
#[bench::r3_step_7(plan_workload("r3_step_7"))]
#[bench::r3_inside_one_chunk(plan_workload("r3_inside_one_chunk"))]
#[bench::r4_full(plan_workload("r4_full"))]
#[bench::r4_block(plan_workload("r4_block"))]
#[bench::element_of_1_axis(plan_workload("element_of_1_axis"))]
#[bench::element_of_2_axes(plan_workload("element_of_2_axes"))]
#[bench::element_of_3_axes(plan_workload("element_of_3_axes"))]
#[bench::r3_1e4_random(plan_workload("r3_1e4_random"))]
#[bench::r3_1e5_random(plan_workload("r3_1e5_random"))]
fn plan_and_walk(workload: PlanWorkload) -> (PlanWorkload, u64) {
    let arena = Bump::new();
    let mut walked = 0;
    if let Ok(plan) =
        ReadPlan::new(&workload.selection, &workload.shape, &workload.chunk_shape, &arena)
    {
        let mut transfers = plan.transfers();
        while let Some(transfer) = transfers.advance() {
            black_box(transfer.pieces());
            walked += 1;
        }
    }
    // Given back so that freeing it is not counted.
    (workload, walked)
}

#[library_benchmark]
#[bench::of_1_axis(list_workload("of_1_axis"))]
#[bench::of_2_axes(list_workload("of_2_axes"))]
#[bench::of_3_axes(list_workload("of_3_axes"))]
#[bench::beyond_32_bits(list_workload("beyond_32_bits"))]
fn encode(workload: ListWorkload) -> (ListWorkload, Option<Vec<u8>>) {
    let map = workload.map.iter().copied();
    let list = encode_list(workload.sources(), map, FieldWidth::Eight).ok();
    // Both given back so that freeing them is not counted.
    (workload, list)
}

library_benchmark_group!(name = plan; benchmarks = plan_and_walk);
library_benchmark_group!(name = list; benchmarks = encode);
main!(library_benchmark_groups = plan, list);
