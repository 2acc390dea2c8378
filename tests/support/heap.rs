//! An allocator that counts: what a thread asked for, and the most that the process held at once.
#![allow(dead_code, reason = "compiled into several test binaries, and each of them uses a part")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Counts what passes through it to the system's allocator. Memory that C code allocates is seen by `held` alone.
pub(crate) struct CountingHeap;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}
static HELD: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

impl CountingHeap {
    /// Runs `work`; returns how often its thread asked for memory meanwhile.
    pub(crate) fn allocations<T>(work: impl FnOnce() -> T) -> (T, u64) {
        let before = ALLOCATIONS.get();
        let outcome = work();
        (outcome, ALLOCATIONS.get() - before)
    }

    /// Runs `work`; returns how many bytes more than before the process held at once, at most.
    pub(crate) fn peak<T>(work: impl FnOnce() -> T) -> (T, usize) {
        let before = HELD.load(Ordering::SeqCst);
        MOST.store(before, Ordering::SeqCst);
        let outcome = work();
        (outcome, MOST.load(Ordering::SeqCst) - before)
    }

    /// Bytes that the process holds now; with glibc those of C code as well.
    pub(crate) fn held() -> usize {
        #[cfg(all(target_os = "linux", target_env = "gnu"))]
        {
            // SAFETY: it has no preconditions.
            let counted = unsafe { libc::mallinfo2() };
            counted.uordblks + counted.hblkhd
        }
        #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
        HELD.load(Ordering::SeqCst)
    }

    fn grown(bytes: usize) {
        // A thread that ends may have no counter any more.
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        let held = HELD.fetch_add(bytes, Ordering::SeqCst) + bytes;
        MOST.fetch_max(held, Ordering::SeqCst);
    }
}

// SAFETY: every call is passed on unchanged to the system's allocator, which keeps the contract; counting touches
// neither the layout nor the memory and does not allocate.
unsafe impl GlobalAlloc for CountingHeap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        Self::grown(layout.size());
        // SAFETY: the caller keeps the contract of `GlobalAlloc::alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        Self::grown(layout.size());
        // SAFETY: the caller keeps the contract of `GlobalAlloc::alloc_zeroed`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Ordering::SeqCst);
        // SAFETY: the caller keeps the contract of `GlobalAlloc::dealloc`.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        Self::grown(size);
        HELD.fetch_sub(layout.size(), Ordering::SeqCst);
        // SAFETY: the caller keeps the contract of `GlobalAlloc::realloc`.
        unsafe { System.realloc(memory, layout, size) }
    }
}
