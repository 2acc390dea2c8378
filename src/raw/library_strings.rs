//! Variable-length strings through `H5Dread`, chunk by chunk: the fallback, and in tests the oracle.

use super::error::{ReadError, at};
use super::fetch::Fetch;
use crate::kernel::for_each_element;
use crate::plan::ReadPlan;

/// The strings of a plan, each turned into a value by `make`; empty where nothing is stored.
///
/// `result` has one value for each element of the plan, in any state.
pub(crate) fn read_strings_by_library<T>(
    fetch: &Fetch<'_>,
    plan: &ReadPlan<'_>,
    make: impl Fn(&[u8]) -> T,
    result: &mut [T],
) -> Result<(), ReadError> {
    let mut transfers = plan.transfers();
    while let Some(transfer) = transfers.advance() {
        let strings = match fetch.raw_chunk(transfer.chunk()) {
            Some(raw) => {
                fetch.count_library_read();
                fetch.raw.read_strings(raw).map_err(at(transfer.chunk(), raw))?
            }
            None => Vec::new(),
        };
        for_each_element(&transfer, |offset, position| {
            if let Some(value) = result.get_mut(position) {
                *value = make(strings.get(offset).map_or(&[], Vec::as_slice));
            }
        });
    }
    Ok(())
}
