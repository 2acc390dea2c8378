//! The loops themselves, over raw memory.

use std::ptr::copy_nonoverlapping;

use super::geometry::{Geometry, Loop};
use crate::plan::Transfer;

/// Elements up to which a run is copied one by one.
const SHORT: usize = 8;

/// Which way elements move between a chunk and a buffer.
pub(super) trait Direction {
    /// Whether they move from the chunk to the buffer.
    const TO_BUFFER: bool;

    /// Moves `count` consecutive elements.
    ///
    /// # Safety
    /// The side read from must be valid for reads of `count` elements, the other for writes, no other
    /// thread may access what is written, and the two must not overlap.
    unsafe fn move_run<T: Copy>(chunk: *mut T, buffer: *mut T, count: usize);
}

/// From the chunk, which is only read, to the buffer.
pub(super) struct ToBuffer;

impl Direction for ToBuffer {
    const TO_BUFFER: bool = true;

    #[inline(always)]
    unsafe fn move_run<T: Copy>(chunk: *mut T, buffer: *mut T, count: usize) {
        // SAFETY: the caller vouches for both sides.
        unsafe { copy_nonoverlapping(chunk.cast_const(), buffer, count) };
    }
}

/// From the buffer, which is only read, to the chunk.
pub(super) struct ToChunk;

impl Direction for ToChunk {
    const TO_BUFFER: bool = false;

    #[inline(always)]
    unsafe fn move_run<T: Copy>(chunk: *mut T, buffer: *mut T, count: usize) {
        // SAFETY: the caller vouches for both sides.
        unsafe { copy_nonoverlapping(buffer.cast_const(), chunk, count) };
    }
}

/// Moves every element of `geometry` between the chunk and the buffer, in the order of the loops.
///
/// # Safety
/// With `E` bytes an element: for every element of `geometry`, the side that is read must be valid
/// for reads of `E` bytes at the element's place there times `E`, the other side for writes, no
/// other thread may access the bytes that are written, and chunk and buffer must not overlap.
pub(super) unsafe fn copy<D: Direction>(
    geometry: &Geometry<'_>,
    chunk: *mut u8,
    buffer: *mut u8,
    element_size: usize,
) {
    // SAFETY: the caller vouches for every element, and `walk` visits elements of the geometry only.
    unsafe {
        match element_size {
            1 => walk_copy::<D, [u8; 1]>(geometry, chunk.cast(), buffer.cast()),
            2 => walk_copy::<D, [u8; 2]>(geometry, chunk.cast(), buffer.cast()),
            4 => walk_copy::<D, [u8; 4]>(geometry, chunk.cast(), buffer.cast()),
            8 => walk_copy::<D, [u8; 8]>(geometry, chunk.cast(), buffer.cast()),
            16 => walk_copy::<D, [u8; 16]>(geometry, chunk.cast(), buffer.cast()),
            _ => walk(geometry, |in_chunk, in_buffer, inner| {
                each(inner, in_chunk, in_buffer, |in_chunk, in_buffer| {
                    D::move_run(
                        chunk.add(in_chunk * element_size),
                        buffer.add(in_buffer * element_size),
                        element_size,
                    );
                });
            }),
        }
    }
}

/// Fills every element of `geometry` in the buffer with `value`.
///
/// # Safety
/// For every element of `geometry`, `buffer` must be valid for writes of `value.len()` bytes at its
/// buffer position times `value.len()`, and no other thread may access those bytes.
pub(super) unsafe fn fill(geometry: &Geometry<'_>, value: &[u8], buffer: *mut u8) {
    let element_size = value.len();
    // SAFETY: as in `copy`; `value` has the bytes of one element.
    unsafe {
        walk(geometry, |from, to, inner| match inner {
            Some(&Loop::Strided { count, buffer_step: 1, .. }) if value.iter().all(|&b| b == 0) => {
                buffer.add(to * element_size).write_bytes(0, count * element_size);
            }
            _ => each(inner, from, to, |_, to| {
                copy_nonoverlapping(value.as_ptr(), buffer.add(to * element_size), element_size);
            }),
        });
    }
}

/// # Safety
/// As [`copy`], with elements of type `T`, which is a byte array and so has alignment 1.
unsafe fn walk_copy<D: Direction, T: Copy>(geometry: &Geometry<'_>, chunk: *mut T, buffer: *mut T) {
    // SAFETY: positions come from the geometry, whose elements the caller vouches for.
    unsafe {
        walk(geometry, |in_chunk, in_buffer, inner| match inner {
            // A call costs more than a few moves: row R1 of the comparison copies three elements at a time.
            Some(&Loop::Strided { count, chunk_step: 1, buffer_step: 1 }) if count > SHORT => {
                D::move_run(chunk.add(in_chunk), buffer.add(in_buffer), count);
            }
            Some(&Loop::Masked { mask, chunk_step, buffer_step }) if D::TO_BUFFER => {
                // Every flag costs a store and no branch: what a false one stored is overwritten by
                // the next true one, and a piece's last flag is true.
                let mut to = in_buffer;
                for (number, &chosen) in mask.iter().enumerate() {
                    *buffer.add(to) = *chunk.add(in_chunk.wrapping_add(number * chunk_step));
                    to += usize::from(chosen) * buffer_step;
                }
            }
            _ => each(inner, in_chunk, in_buffer, |in_chunk, in_buffer| {
                D::move_run(chunk.add(in_chunk), buffer.add(in_buffer), 1);
            }),
        });
    }
}

/// Calls `visit(chunk offset, buffer position)`, in elements, for each element of a transfer.
pub fn for_each_element(transfer: &Transfer<'_>, mut visit: impl FnMut(usize, usize)) {
    Geometry::of(transfer, |geometry| {
        walk(geometry, |from, to, inner| each(inner, from, to, &mut visit));
    });
}

/// Calls `visit(chunk offset, buffer position, innermost loop)` for each turn of the outer loops.
fn walk(geometry: &Geometry<'_>, mut visit: impl FnMut(usize, usize, Option<&Loop<'_>>)) {
    let (inner, outer) = match geometry.loops.split_last() {
        Some((inner, outer)) => (Some(inner), outer),
        None => (None, geometry.loops.as_slice()),
    };
    turn(outer, geometry.chunk_start, geometry.buffer_start, &mut |from, to| {
        visit(from, to, inner)
    });
}

fn turn(loops: &[Loop<'_>], from: usize, to: usize, visit: &mut impl FnMut(usize, usize)) {
    match loops {
        [] => visit(from, to),
        // Written out for two loops: the most common depth needs no further recursion.
        [only] => each(Some(only), from, to, visit),
        [first, rest @ ..] => each(Some(first), from, to, |from, to| turn(rest, from, to, visit)),
    }
}

/// Calls `visit(chunk offset, buffer position)` for each element of one loop. Chunk offsets wrap: a
/// rebased start lies below 0 until the offsets of all loops are added.
#[inline]
#[expect(
    clippy::cast_possible_truncation,
    reason = "positions of elements in memory, which fit usize"
)]
fn each(one: Option<&Loop<'_>>, from: usize, to: usize, mut visit: impl FnMut(usize, usize)) {
    match one {
        None => visit(from, to),
        Some(&Loop::Strided { count, chunk_step, buffer_step }) => {
            for number in 0..count {
                let across = buffer_step.wrapping_mul(number.cast_signed());
                visit(from.wrapping_add(number * chunk_step), to.wrapping_add_signed(across));
            }
        }
        Some(&Loop::Listed { offsets, chunk_step, positions, buffer_step }) => {
            for (&offset, &position) in offsets.iter().zip(positions) {
                visit(
                    from.wrapping_add(offset as usize * chunk_step),
                    to + position as usize * buffer_step,
                );
            }
        }
        Some(&Loop::Masked { mask, chunk_step, buffer_step }) => {
            let mut to = to;
            for (number, &chosen) in mask.iter().enumerate() {
                if chosen {
                    visit(from.wrapping_add(number * chunk_step), to);
                    to += buffer_step;
                }
            }
        }
    }
}
