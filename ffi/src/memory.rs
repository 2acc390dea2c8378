//! Memory for results whose size a file decides.

use crate::error::Error;

/// `bytes` zero bytes, or an error instead of the end of the process when there is no memory.
pub(crate) fn zeroed(what: &'static str, bytes: usize) -> Result<Vec<u8>, Error> {
    filled(what, bytes, 0)
}

/// `count` copies of `value`, or an error when there is no memory.
pub(crate) fn filled<T: Clone>(
    what: &'static str,
    count: usize,
    value: T,
) -> Result<Vec<T>, Error> {
    let mut all = reserved(what, count)?;
    all.resize(count, value);
    Ok(all)
}

/// An empty vector with room for `count` values, or an error when there is no memory.
pub(crate) fn reserved<T>(what: &'static str, count: usize) -> Result<Vec<T>, Error> {
    let mut all = Vec::new();
    all.try_reserve_exact(count)
        .map_err(|_| Error::Memory { what, bytes: count.saturating_mul(size_of::<T>()) })?;
    Ok(all)
}

/// Bytes of `points` elements of `size` bytes.
pub(crate) fn total(what: &'static str, points: u64, size: usize) -> Result<usize, Error> {
    usize::try_from(points)
        .ok()
        .and_then(|points| points.checked_mul(size))
        .filter(|bytes| isize::try_from(*bytes).is_ok())
        .ok_or(Error::Limit {
            what,
            found: points,
            limit: u64::try_from(isize::MAX.unsigned_abs() / size.max(1)).unwrap_or(u64::MAX),
        })
}
