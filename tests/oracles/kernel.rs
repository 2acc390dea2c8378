//! Copy and fill against a dense array: every selection, element size and thread count.

use bumpalo::Bump;
use h5strata::kernel::{Destination, HandOut, KernelError, Run};
use h5strata::{ReadPlan, Selection};
use proptest::prelude::*;

use crate::pieces::{axis_selection, elements, shape_and_chunk};

/// The bytes of element `number`: unlike those of its neighbours, whatever the size.
fn element(number: u64, size: usize) -> Vec<u8> {
    (0..size as u64).map(|byte| (number * 31 + byte * 7 + number / 251) as u8).collect()
}

/// A chunk's bytes; elements beyond the shape are poison that must never arrive.
fn chunk_bytes(coordinate: &[u64], chunk: &[u64], shape: &[u64], size: usize) -> Vec<u8> {
    let count: u64 = chunk.iter().product();
    (0..count)
        .flat_map(|offset| {
            let offset = h5strata::dims::unravel(offset, chunk);
            let index: Vec<u64> =
                (0..shape.len()).map(|a| coordinate[a] * chunk[a] + offset[a]).collect();
            match h5strata::dims::ravel(&index, shape) {
                Some(number) => element(number, size),
                None => vec![0xEE; size],
            }
        })
        .collect()
}

/// Reads through the kernel; every third chunk is filled instead. Slots get the chunk's bytes
/// from the first needed element on, or the whole chunk.
fn read(selection: &Selection, shape: &[u64], chunk: &[u64], size: usize, threads: u64) -> Vec<u8> {
    let arena = Bump::new();
    let plan = ReadPlan::new(selection, shape, chunk, &arena).unwrap();
    let mut out = vec![0x55; plan.output_count() as usize * size];
    let destination = Destination::new(&plan, &mut out, size).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(mut batch) = destination.take(2) {
                    while let Some(mut slot) = batch.advance() {
                        let number = slot.transfer().chunk();
                        if number.0 % 3 == 2 {
                            slot.fill(&element(7, size)).unwrap();
                            continue;
                        }
                        let bytes = chunk_bytes(&plan.chunk_coordinate(number), chunk, shape, size);
                        let span = slot.transfer().chunk_span();
                        let whole = if number.0 % 3 == 0 { 0..span.end } else { span };
                        let run = Run::of(slot.transfer());
                        let (start, end) = (whole.start as usize * size, whole.end as usize * size);
                        match (run, slot.contiguous()) {
                            (Some(run), Some(to)) if number.0 % 2 == 0 => {
                                to.copy_from_slice(&bytes[run.chunk * size..][..run.count * size]);
                            }
                            (Some(_), None) | (None, Some(_)) => panic!("run and slot disagree"),
                            _ => slot.copy_from(&bytes[start..end], whole.start).unwrap(),
                        }
                    }
                }
            });
        }
    });
    out
}

/// The same through a dense array, element by element.
fn naive(selection: &Selection, shape: &[u64], chunk: &[u64], size: usize) -> Vec<u8> {
    let arena = Bump::new();
    // A chunk as large as the dataset makes positions in the chunk those in the dataset.
    let whole: Vec<u64> = shape.iter().map(|&axis| axis.max(1)).collect();
    let plan = ReadPlan::new(selection, shape, &whole, &arena).unwrap();
    let mut out = vec![0; plan.output_count() as usize * size];
    let mut transfers = plan.transfers();
    while let Some(transfer) = transfers.advance() {
        for (number, position) in elements(&transfer) {
            let index = h5strata::dims::unravel(number, shape);
            let grid: Vec<u64> = shape.iter().zip(chunk).map(|(s, c)| s.div_ceil(*c)).collect();
            let coordinate: Vec<u64> = index.iter().zip(chunk).map(|(i, c)| i / c).collect();
            let filled = h5strata::dims::ravel(&coordinate, &grid).unwrap() % 3 == 2;
            let bytes = element(if filled { 7 } else { number }, size);
            out[position as usize * size..][..size].copy_from_slice(&bytes);
        }
    }
    out
}

proptest! {
    #[test]
    fn copies_equal_a_dense_array(
        (axes, selection) in shape_and_chunk().prop_flat_map(|axes| {
            let selection: Vec<_> =
                axes.iter().map(|axis| axis_selection(axis.0)).collect();
            (Just(axes), selection)
        }),
        size in prop_oneof![Just(1usize), Just(2), Just(3), Just(4), Just(8), Just(16), Just(20)],
        threads in 1u64..4,
    ) {
        let (shape, chunk): (Vec<u64>, Vec<u64>) = axes.into_iter().unzip();
        let selection = Selection::axes(selection);
        prop_assert_eq!(
            read(&selection, &shape, &chunk, size, threads),
            naive(&selection, &shape, &chunk, size)
        );
    }
}

#[test]
fn wrong_sizes_are_refused() {
    let arena = Bump::new();
    let selection: Selection = "2:6".parse().unwrap();
    let plan = ReadPlan::new(&selection, &[8], &[8], &arena).unwrap();
    let mut small = [0; 31];
    assert_eq!(
        Destination::new(&plan, &mut small, 8).unwrap_err(),
        KernelError::BufferSize { expected: 32, found: 31 }
    );
    let mut buffer = [0; 32];
    let destination = Destination::new(&plan, &mut buffer, 8).unwrap();
    let mut batch = destination.take(1).unwrap();
    assert!(destination.take(1).is_none());
    let mut slot = batch.advance().unwrap();
    let needed = 2..6;
    assert_eq!(
        slot.copy_from(&[0; 47], 0).unwrap_err(),
        KernelError::ChunkSize { needed: needed.clone(), found: 0..5 }
    );
    assert_eq!(
        slot.copy_from(&[0; 64], 3).unwrap_err(),
        KernelError::ChunkSize { needed, found: 3..11 }
    );
    assert_eq!(slot.fill(&[0; 4]).unwrap_err(), KernelError::FillSize { expected: 8, found: 4 });
    slot.copy_from(&[1; 32], 2).unwrap();
    drop(batch);
    assert_eq!(buffer, [1; 32]);
}

#[test]
fn runs_of_several_chunks_are_one_slice() {
    let arena = Bump::new();
    let selection: Selection = "5:30".parse().unwrap();
    let plan = ReadPlan::new(&selection, &[40], &[10], &arena).unwrap();
    let mut buffer = [0u8; 25];
    let destination = Destination::new(&plan, &mut buffer, 1).unwrap();
    let mut batch = destination.take(3).unwrap();
    batch.advance_run(2).unwrap().fill(1);
    batch.advance_run(1).unwrap().fill(2);
    assert!(batch.advance_run(1).is_none());
    drop(batch);
    assert_eq!(buffer[..15], [1; 15]);
    assert_eq!(buffer[15..], [2; 10]);
}

#[test]
fn transfers_taken_by_number_are_taken_once() {
    let arena = Bump::new();
    let selection = Selection::all();
    let plan = ReadPlan::new(&selection, &[1300], &[10], &arena).unwrap();
    let mut buffer = [0u8; 1300];
    let destination = Destination::new(&plan, &mut buffer, 1).unwrap();
    // Those that were taken in order before are not to be had again.
    destination.take(66).unwrap();
    let destination = destination.by_number().unwrap();
    let taken: Vec<u64> = (0..140)
        .rev()
        .filter(|&number| {
            let Some(mut batch) = destination.take(number) else {
                return false;
            };
            let mut slot = batch.advance().unwrap();
            assert_eq!(slot.transfer().chunk().0, number);
            slot.fill(&[7]).unwrap();
            assert!(batch.advance().is_none());
            true
        })
        .collect();
    assert_eq!(taken, (66..130).rev().collect::<Vec<_>>());
    assert!((0..140).all(|number| destination.take(number).is_none()));
    assert!(destination.take(u64::MAX).is_none());
    drop(destination);
    assert_eq!(buffer[..660], [0; 660]);
    assert_eq!(buffer[660..], [7; 640]);
}

#[test]
fn what_was_not_taken_by_number_is_handed_out_once_in_order() {
    let arena = Bump::new();
    let selection = Selection::all();
    let plan = ReadPlan::new(&selection, &[2000], &[10], &arena).unwrap();
    let mut buffer = [0u8; 2000];
    let destination = Destination::new(&plan, &mut buffer, 1).unwrap().by_number().unwrap();
    let by_number = [0, 3, 4, 63, 64, 128, 199];
    assert!(by_number.iter().all(|&number| destination.take(number).is_some()));
    let mut batches = Vec::new();
    while let Some(mut batch) = destination.next_batch(50) {
        let mut transfers = batch.transfers();
        let first = transfers.advance().unwrap().chunk().0;
        let mut count = 1;
        while transfers.advance().is_some() {
            count += 1;
        }
        batches.push((first, count));
        while let Some(mut slot) = batch.advance() {
            slot.fill(&[7]).unwrap();
        }
        if first == 1 {
            // Taken by number meanwhile.
            assert!(destination.take(20).is_some());
        }
    }
    let expected = [(1, 2), (5, 15), (21, 42), (65, 50), (115, 13), (129, 50), (179, 20)];
    assert_eq!(batches, expected);
    assert!(destination.take(1).is_none() && destination.next_batch(1).is_none());
    drop(destination);
    for (number, chunk) in buffer.chunks(10).enumerate() {
        let left_out = by_number.contains(&(number as u64)) || number == 20;
        assert_eq!(chunk, [if left_out { 0 } else { 7 }; 10], "{number}");
    }
}
