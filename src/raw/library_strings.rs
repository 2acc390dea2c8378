//! Variable-length strings through `H5Dread`, chunk by chunk: the fallback, and in tests the oracle.

use super::error::{ReadError, at};
use super::fetch::Fetch;
use crate::kernel::for_each_element;
use crate::plan::ReadPlan;

/// Puts the strings of a plan into `result`, one for each element of the plan; what is not mapped keeps
/// what is there.
pub(crate) fn read_strings_by_library(
    fetch: &Fetch<'_>,
    plan: &ReadPlan<'_>,
    result: &mut [Vec<u8>],
) -> Result<(), ReadError> {
    let mut transfers = plan.transfers();
    while let Some(transfer) = transfers.advance() {
        let Some(raw) = fetch.raw_chunk(transfer.chunk()) else { continue };
        fetch.count_library_read();
        let strings = fetch.raw.read_strings(raw).map_err(at(transfer.chunk(), raw))?;
        for_each_element(&transfer, |offset, position| {
            if let (Some(string), Some(place)) = (strings.get(offset), result.get_mut(position)) {
                place.clone_from(string);
            }
        });
    }
    Ok(())
}
