//! Memory for results.

use bytemuck::Zeroable;

/// Bytes from which memory is worth the kernel's huge pages.
const LARGE: usize = 4 << 20;

/// Zeroed memory for `count` values, in huge pages where it is large; `None` where there is not as much.
pub(crate) fn zeroed<T: Zeroable + bytemuck::NoUninit + bytemuck::AnyBitPattern>(
    count: usize,
) -> Option<Vec<T>> {
    let mut values = bytemuck::allocation::try_zeroed_vec(count).ok()?;
    prefer_huge_pages(bytemuck::cast_slice_mut(&mut values));
    Some(values)
}

/// An empty vector with room for `count` bytes, in huge pages where that is much; `None` where there is not as much.
pub(crate) fn room(count: usize) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    if count < LARGE {
        bytes.try_reserve_exact(count).ok()?;
    } else {
        // The kernel's pages are zeros already.
        bytes = zeroed::<u8>(count)?;
        bytes.clear();
    }
    Some(bytes)
}

/// Advises the kernel to give memory that is large and was not touched yet in huge pages.
pub(crate) fn prefer_huge_pages(memory: &mut [u8]) {
    if memory.len() >= LARGE {
        // Advice only: in small pages it costs more page faults.
        drop(h5strata_ffi::os::advise_huge_pages(memory));
    }
}
