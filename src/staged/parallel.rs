//! Work over many chunks, on rayon's threads where there is enough of it.

use std::ops::Range;

use rayon::prelude::*;

/// Bytes up to which waking other threads costs more than it brings.
const SMALL: usize = 1 << 18;

/// Parts of the work for each thread, so that none waits long for the others.
const PARTS: usize = 4;

/// Cuts `0..count` into ranges, works on them, and gives the results in order. `bytes` is about how
/// much is moved in all.
pub(super) fn in_ranges<R: Send, E: Send>(
    count: u64,
    bytes: u64,
    work: impl Fn(Range<u64>) -> Result<R, E> + Sync,
) -> Result<Vec<R>, E> {
    let part = usize::try_from(count).ok().zip(usize::try_from(bytes / count.max(1)).ok());
    let Some(part) = part.and_then(|(count, each)| part_length(count, each)) else {
        return Ok(vec![work(0..count)?]);
    };
    let part = part as u64;
    (0..count.div_ceil(part))
        .into_par_iter()
        .map(|number| work(number * part..(number * part).saturating_add(part).min(count)))
        .collect()
}

/// Works on each chunk of a list.
pub(super) fn each<T: Send, E: Send>(
    chunks: &mut [T],
    chunk_bytes: usize,
    work: impl Fn(&mut T) -> Result<(), E> + Sync,
) -> Result<(), E> {
    match part_length(chunks.len(), chunk_bytes) {
        Some(part) => {
            chunks.par_chunks_mut(part).try_for_each(|part| part.iter_mut().try_for_each(&work))
        }
        None => chunks.iter_mut().try_for_each(work),
    }
}

/// How many chunks make a part; `None` if one thread is to do it all.
fn part_length(chunks: usize, chunk_bytes: usize) -> Option<usize> {
    let threads = rayon::current_num_threads();
    let small = chunks.saturating_mul(chunk_bytes) <= SMALL;
    if small || chunks < 2 || threads < 2 { None } else { Some(chunks.div_ceil(threads * PARTS)) }
}
