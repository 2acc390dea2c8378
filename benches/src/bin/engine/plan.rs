//! Timing of the planner alone.

use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

use bumpalo::Bump;
use h5strata::ReadPlan;
use serde_json::{Value, json};

use crate::request::PlanRequest;

/// Plans and walks through every transfer, `times` times; the answer has the mean time of one.
pub(crate) fn answer(request: &PlanRequest) -> Result<Value, Box<dyn Error>> {
    let selection = request.wanted.selection()?;
    let mut arena = Bump::new();
    let mut count = 0u64;
    let start = Instant::now();
    for _ in 0..request.times {
        arena.reset();
        let plan = ReadPlan::new(&selection, &request.shape, &request.chunks, &arena)?;
        let mut transfers = plan.transfers();
        count = 0;
        while let Some(transfer) = transfers.advance() {
            black_box(&transfer);
            count += 1;
        }
    }
    let seconds = start.elapsed().as_secs_f64() / f64::from(request.times);
    Ok(json!({ "seconds": seconds, "transfers": count }))
}
