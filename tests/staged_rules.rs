//! What staged arrays read from their base, what they share, and what they do when the base or the caller is wrong.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "a test fails by a panic, and its numbers are small"
)]

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

use h5strata::Selection;
use h5strata::dims::ChunkIndex;
use h5strata::kernel::KernelError;
use h5strata::selection::AxisSelection;
use h5strata::staged::{
    Base, BaseChunk, ChunkState, MemoryBase, MemoryBaseError, StagedArray, StagedError,
};

/// What a base does wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    Fails,
    Forgets,
    Repeats,
    Invents,
    Shortens,
}

/// An array in memory that writes down what it is asked for, and may do something wrong.
#[derive(Debug)]
struct Watched {
    memory: MemoryBase,
    asked: Mutex<Vec<Vec<u64>>>,
    fault: Option<Fault>,
}

#[derive(Debug, thiserror::Error)]
#[error("the base fails")]
struct Failed;

impl Base for Watched {
    type Error = Failed;

    fn shape(&self) -> &[u64] {
        self.memory.shape()
    }

    fn chunk_shape(&self) -> &[u64] {
        self.memory.chunk_shape()
    }

    fn visit(
        &self,
        chunks: &[ChunkIndex],
        visit: &(dyn Fn(usize, BaseChunk<'_>) -> ControlFlow<()> + Sync),
    ) -> Result<(), Failed> {
        self.asked.lock().unwrap().push(chunks.iter().map(|chunk| chunk.0).collect());
        let last = chunks.len() - 1;
        self.memory
            .visit(chunks, &|position, chunk| match (self.fault, chunk) {
                (Some(Fault::Forgets | Fault::Fails), _) if position == last => {
                    ControlFlow::Continue(())
                }
                (Some(Fault::Repeats), _) if position == last => {
                    visit(position, chunk)?;
                    visit(position, chunk)
                }
                (Some(Fault::Invents), _) => visit(position + 1, chunk),
                (Some(Fault::Shortens), BaseChunk::Bytes(bytes)) => {
                    visit(position, BaseChunk::Bytes(&bytes[1..]))
                }
                _ => visit(position, chunk),
            })
            .unwrap();
        if self.fault == Some(Fault::Fails) { Err(Failed) } else { Ok(()) }
    }
}

/// The bytes 0, 1, 2, ... in the shape, with a watch on them.
fn watched(shape: &[u64], chunk_shape: &[u64], fault: Option<Fault>) -> StagedArray<Watched> {
    let count: u64 = shape.iter().product();
    let elements = (0..count).map(|number| number as u8).collect();
    let memory = MemoryBase::new(shape, chunk_shape, 1, elements).unwrap();
    StagedArray::on(Arc::new(Watched { memory, asked: Mutex::default(), fault }), &[255]).unwrap()
}

/// The chunks that were asked for, call by call, since the last time.
fn asked(array: &StagedArray<Watched>) -> Vec<Vec<u64>> {
    std::mem::take(&mut array.base().unwrap().asked.lock().unwrap())
}

fn all(array: &StagedArray<impl Base>) -> Vec<u8> {
    array.read(&Selection::all()).unwrap().0
}

fn select(text: &str) -> Selection {
    text.parse().unwrap()
}

#[test]
fn making_cloning_and_looking_reads_nothing() {
    let array = watched(&[10, 10], &[3, 4], None);
    let clone = array.clone();
    assert!(!clone.is_changed());
    assert!(matches!(clone.state(ChunkIndex(11)), ChunkState::Base(ChunkIndex(11))));
    assert!(matches!(clone.state(ChunkIndex(12)), ChunkState::Fill));
    assert_eq!(clone.staged_count(), 0);
    assert_eq!(asked(&array), Vec::<Vec<u64>>::new());
}

#[test]
fn a_write_over_whole_chunks_reads_nothing() {
    let mut array = watched(&[10, 10], &[3, 4], None);
    // Edge chunks count as whole when every element inside the bounds is written.
    for whole in ["...", "3:6, 4:8", "9:, 8:", "5:2:-1, 9:3:-1", "[3, 4, 5, 3], [4, 5, 6, 7]"] {
        let mut array = array.clone();
        array.write_scalar(&select(whole), &[7]).unwrap();
        let (_, shape) = array.read(&select(whole)).unwrap();
        let values = vec![8; shape.iter().product::<u64>() as usize];
        array.write(&select(whole), &values, &shape).unwrap();
    }
    let mut mask = vec![false; 100];
    for position in [98, 99, 88, 89] {
        mask[position] = true;
    }
    let partly = Selection::mask(&[10, 10], mask.clone()).unwrap();
    let points = Selection::points(2, vec![9, 9, -1, 8, 9, 9]).unwrap();
    array.write_scalar(&points, &[7]).unwrap();
    assert_eq!(asked(&array), Vec::<Vec<u64>>::new());
    array.write_scalar(&partly, &[7]).unwrap();
    assert_eq!(asked(&array), [[8]], "row 9 is a row of chunks of its own, row 8 is not");
}

#[test]
fn a_partial_write_reads_the_needed_chunks_once_and_together() {
    let mut array = watched(&[10, 10], &[3, 4], None);
    array.write_scalar(&select("0, 0"), &[100]).unwrap();
    assert_eq!(asked(&array), [[0]]);
    // Chunk 0 is staged by now; of 1, 3 and 4 a part is written.
    array.write(&select("1:4, 2:6"), &[101], &[1, 1]).unwrap();
    assert_eq!(asked(&array), [[1, 3, 4]]);
    array.write_scalar(&select("::2, ::2"), &[102]).unwrap();
    assert_eq!(asked(&array), [[2, 5, 6, 7, 8]]);
    array.write_scalar(&select("::3"), &[103]).unwrap();
    assert_eq!(all(&array)[..12], [103, 103, 103, 103, 103, 103, 103, 103, 103, 103, 10, 11]);
    assert_eq!(asked(&array), Vec::<Vec<u64>>::new());
}

#[test]
fn a_read_reads_what_it_needs_in_one_call() {
    let mut array = watched(&[10, 10], &[3, 4], None);
    array.write_scalar(&select("3:6, 4:8"), &[7]).unwrap();
    array.read(&select("0:6, 4:9")).unwrap();
    assert_eq!(asked(&array), [[1, 2, 5]]);
}

#[test]
fn a_resize_reads_only_edge_chunks_whose_extent_changes() {
    let grown = |shape: &[u64], to: &[u64]| {
        let mut array = watched(shape, &[3, 4], None);
        array.resize(to).unwrap();
        (asked(&array), array.staged_count())
    };
    let none = Vec::<Vec<u64>>::new();
    // Only the last row of chunks is cut by the old end.
    assert_eq!(grown(&[10, 10], &[11, 10]), (vec![vec![9, 10, 11]], 3));
    assert_eq!(grown(&[10, 10], &[100, 10]), (vec![vec![9, 10, 11]], 3));
    assert_eq!(grown(&[10, 10], &[10, 12]), (vec![vec![2, 5, 8, 11]], 4));
    assert_eq!(grown(&[10, 10], &[12, 12]), (vec![vec![2, 5, 8, 9, 10, 11]], 6));
    // An end between chunks cuts none, and so costs nothing.
    assert_eq!(grown(&[9, 8], &[20, 30]), (none.clone(), 0));
    assert_eq!(grown(&[10, 10], &[9, 8]), (none.clone(), 0));
    assert_eq!(grown(&[10, 10], &[0, 7]), (none, 0));
    // Shrinking along one axis and growing along the other.
    assert_eq!(grown(&[10, 10], &[5, 30]), (vec![vec![2, 3, 4, 5]], 4));
}

#[test]
fn what_is_cut_off_never_comes_back() {
    let mut array = watched(&[10], &[4], None);
    array.write_scalar(&select("9"), &[99]).unwrap();
    array.resize(&[8]).unwrap();
    assert_eq!(array.staged_count(), 0);
    array.resize(&[10]).unwrap();
    assert!(array.is_changed(), "the shape is that of the base again, the values are not");
    assert_eq!(all(&array), [0, 1, 2, 3, 4, 5, 6, 7, 255, 255]);
    array.resize(&[5]).unwrap();
    array.resize(&[7]).unwrap();
    assert_eq!(all(&array), [0, 1, 2, 3, 4, 255, 255]);
    let (chunk, buffer) = array.staged().next().unwrap();
    assert_eq!((chunk, buffer.as_slice()), (ChunkIndex(1), &[4, 255, 255, 255][..]));
}

#[test]
fn whole_chunks_of_one_element_share_a_buffer() {
    let mut array = StagedArray::<MemoryBase>::filled(&[100, 10], &[10, 4], &[0; 8]).unwrap();
    array.write_scalar(&Selection::all(), &[1; 8]).unwrap();
    assert_eq!(array.staged_count(), 30);
    let buffers = |array: &StagedArray<MemoryBase>| {
        let addresses = array.staged().map(|(_, buffer)| Arc::as_ptr(buffer));
        addresses.collect::<std::collections::HashSet<_>>().len()
    };
    assert_eq!(buffers(&array), 2, "one inside, one along the last axis's edge");
    array.write(&select("5, 5"), &[2; 8], &[]).unwrap();
    assert_eq!(buffers(&array), 3, "and it is left as soon as one chunk differs");
    assert_eq!(array.read(&select("15, 5")).unwrap().0, [1; 8]);
}

#[test]
fn clones_go_their_own_ways() {
    let mut one = watched(&[8], &[4], None);
    one.write_scalar(&select("0:2"), &[50]).unwrap();
    let mut other = one.clone();
    one.write_scalar(&select("1:3"), &[60]).unwrap();
    other.write(&select("5"), &[70], &[]).unwrap();
    other.resize(&[3]).unwrap();
    other.resize(&[4]).unwrap();
    assert_eq!(all(&one), [50, 60, 60, 3, 4, 5, 6, 7]);
    assert_eq!(all(&other), [50, 50, 2, 255]);
}

#[test]
fn a_faulty_base_gives_a_typed_error_and_changes_nothing() {
    for fault in [Fault::Fails, Fault::Forgets, Fault::Repeats, Fault::Invents, Fault::Shortens] {
        let mut array = watched(&[10, 10], &[3, 4], Some(fault));
        let mut sound = watched(&[10, 10], &[3, 4], None);
        for array in [&mut array, &mut sound] {
            array.write_scalar(&select("3:6, 4:8"), &[7]).unwrap();
        }
        let expected = |error: StagedError<Failed>| match fault {
            Fault::Fails => assert!(matches!(error, StagedError::Base(Failed))),
            Fault::Forgets => assert!(matches!(error, StagedError::BaseChunkMissing { .. })),
            Fault::Repeats | Fault::Invents => {
                assert!(matches!(error, StagedError::BaseChunkRepeated { .. }), "{error}");
            }
            Fault::Shortens => {
                assert!(matches!(error, StagedError::BaseChunkSize { expected: 12, found: 11, .. }))
            }
        };
        expected(array.read(&Selection::all()).unwrap_err());
        expected(array.write_scalar(&select("2:8, 2:8"), &[9]).unwrap_err());
        expected(array.write(&select("2:8:5"), &[9; 20], &[2, 10]).unwrap_err());
        expected(array.resize(&[2, 11]).unwrap_err());
        expected(array.load().unwrap_err());
        assert_eq!(array.shape(), [10, 10]);
        assert_eq!(array.staged_count(), 1);
        for chunk in 0..12 {
            match (array.state(ChunkIndex(chunk)), sound.state(ChunkIndex(chunk))) {
                (ChunkState::Staged(one), ChunkState::Staged(other)) => assert_eq!(one, other),
                (ChunkState::Base(one), ChunkState::Base(other)) => assert_eq!(one, other),
                (one, other) => panic!("{one:?} is not {other:?}"),
            }
        }
    }
}

#[test]
fn wrong_requests_are_typed_errors_and_change_nothing() {
    type Array = StagedArray<MemoryBase>;
    assert!(matches!(Array::filled(&[4], &[2], &[]), Err(StagedError::EmptyElement)));
    assert!(matches!(Array::filled(&[4], &[0], &[0]), Err(StagedError::Dims(_))));
    assert!(matches!(Array::filled(&[4, 4], &[2], &[0]), Err(StagedError::Dims(_))));
    assert!(matches!(Array::filled(&[u64::MAX, 3], &[1, 1], &[0]), Err(StagedError::Dims(_))));
    let mut array = Array::filled(&[4, 5], &[2, 3], &[0, 0]).unwrap();
    array.write_scalar(&select("1"), &[1, 2]).unwrap();
    let before = all(&array);
    let message = |error: StagedError<MemoryBaseError>| error.to_string();

    let error = array.write(&select("..., 0"), &[0; 6], &[3]).unwrap_err();
    assert_eq!(message(error), "could not broadcast input array from shape (3,) into shape (4,)");
    let error = array.write(&select("1:3"), &[0; 12], &[3, 2]).unwrap_err();
    assert_eq!(message(error), "could not broadcast input array from shape (3,2) into shape (2,5)");
    let error = array.write(&select("1:3"), &[0; 12], &[2, 1, 3]).unwrap_err();
    assert!(matches!(error, StagedError::Broadcast { .. }));
    let error = array.write(&select("1:3"), &[0; 11], &[2, 3]).unwrap_err();
    assert!(matches!(error, StagedError::ValueSize { expected: 12, found: 11 }));
    let error = array.write_scalar(&select("1:3"), &[0; 3]).unwrap_err();
    assert!(matches!(error, StagedError::ElementSize { expected: 2, found: 3 }));
    assert!(matches!(array.write_scalar(&select("4"), &[0; 2]), Err(StagedError::Plan(_))));
    assert!(matches!(array.resize(&[4]), Err(StagedError::Dims(_))));
    assert!(matches!(array.resize(&[u64::MAX, u64::MAX]), Err(StagedError::Dims(_))));
    let error = array.read_into(&select("1"), &mut [0; 9]).unwrap_err();
    let size = KernelError::BufferSize { expected: 10, found: 9 };
    assert!(matches!(error, StagedError::Kernel(kernel) if kernel == size));
    assert_eq!(all(&array), before);

    let mut absurd = Array::filled(&[1 << 60], &[1 << 60], &[0]).unwrap();
    assert!(matches!(absurd.read(&Selection::all()), Err(StagedError::Memory { .. })));
    assert!(matches!(absurd.write_scalar(&select("5"), &[1]), Err(StagedError::Memory { .. })));
    assert_eq!(absurd.staged_count(), 0);
    assert_eq!(absurd.read(&select("5")).unwrap().0, [0]);
}

#[test]
fn large_writes_and_reads_on_many_threads_equal_those_on_one() {
    let (rows, columns) = (700usize, 1100usize);
    let shape = [rows as u64, columns as u64];
    let mut model: Vec<u8> = (0..rows * columns).map(|number| number as u8).collect();
    let mut array = watched(&shape, &[64, 100], None);
    // Every chunk in part, from the base and then in place; rows twice, so that the second value counts.
    for seed in [3u8, 5] {
        let twice: Vec<i64> = (0..rows as i64).chain(0..rows as i64).collect();
        let selection = Selection::axes([
            AxisSelection::Indices(twice),
            AxisSelection::Slice { start: Some(1), stop: None, step: 2 },
        ]);
        let value: Vec<u8> =
            (0..2 * rows * columns / 2).map(|number| (number / 7) as u8 ^ seed).collect();
        array.write(&selection, &value, &[2 * rows as u64, columns as u64 / 2]).unwrap();
        for row in 0..rows {
            for column in 0..columns / 2 {
                model[row * columns + 2 * column + 1] =
                    value[(rows + row) * (columns / 2) + column];
            }
        }
        assert!(all(&array) == model);
    }
    // Whole chunks, from a row and a column that are repeated.
    for (value_shape, step) in [([1, columns as u64], 1), ([rows as u64, 1], 0)] {
        let value: Vec<u8> = (0..value_shape[0] * value_shape[1]).map(|n| (n / 3) as u8).collect();
        array.write(&Selection::all(), &value, &value_shape).unwrap();
        for (number, element) in model.iter_mut().enumerate() {
            *element = value[if step == 1 { number % columns } else { number / columns }];
        }
        assert!(all(&array) == model);
    }
    let backwards = array.read(&select("::-1, ::-1")).unwrap().0;
    assert!(backwards.iter().rev().eq(&model));
}

#[test]
fn case_21_a_resize_and_a_partial_write_keep_the_old_values() {
    let mut array = watched(&[3], &[4], None);
    array.resize(&[5]).unwrap();
    array.write(&select("3:"), &[30, 40], &[2]).unwrap();
    assert_eq!(all(&array), [0, 1, 2, 30, 40]);
}

#[test]
fn case_22_overwriting_and_enlarging_keep_the_chunk_shape() {
    let mut array = watched(&[3], &[2], None);
    array.write(&Selection::all(), &[7, 8, 9], &[3]).unwrap();
    assert_eq!((array.shape(), array.chunk_shape()), (&[3][..], &[2][..]));
    array.resize(&[6]).unwrap();
    assert_eq!((array.shape(), array.chunk_shape()), (&[6][..], &[2][..]));
    assert_eq!(all(&array), [7, 8, 9, 255, 255, 255]);
}

#[test]
fn case_24_every_form_of_index_reads_and_writes() {
    let mut array = watched(&[5, 5, 5], &[2, 2, 2], None);
    array.resize(&[8, 9, 10]).unwrap();
    let (elements, shape) = array.read(&select("[2, 5, 6, 7], 1:8, 5:9")).unwrap();
    assert_eq!((shape.as_slice(), elements), (&[4, 7, 4][..], vec![255; 112]));
    let (elements, _) = array.read(&select("[2, 4], 3:6, 3:6")).unwrap();
    assert_eq!(elements[..9], [68, 69, 255, 73, 74, 255, 255, 255, 255]);
    assert_eq!(elements[9..12], [118, 119, 255]);

    let mut array = watched(&[10], &[4], None);
    let mask = "[True, False, False, True, False, True, True, False, False, True]";
    array.write(&select(mask), &[50, 51, 52, 53, 54], &[5]).unwrap();
    assert_eq!(all(&array), [50, 1, 2, 51, 4, 52, 53, 7, 8, 54]);

    let mut array = watched(&[2, 2], &[1, 1], None);
    let mask = Selection::mask(&[2, 2], vec![true, false, false, true]).unwrap();
    array.write(&mask, &[70, 71], &[2]).unwrap();
    assert_eq!(all(&array), [70, 1, 2, 71]);
    array.write(&select(":, 1:1"), &[], &[2, 0]).unwrap();
    array.write_scalar(&select(":, 2:"), &[9]).unwrap();
    assert_eq!(all(&array), [70, 1, 2, 71]);
    // The last value of a repeated index wins.
    array.write(&select("[1, 0, 1]"), &[1, 2, 3, 4, 5, 6], &[3, 2]).unwrap();
    assert_eq!(all(&array), [3, 4, 5, 6]);
}

#[test]
fn case_50_enlarging_touches_only_the_edge_and_adds_no_buffers() {
    let mut array = watched(&[10000, 100], &[128, 100], None);
    array.resize(&[10001, 100]).unwrap();
    assert_eq!(asked(&array), [[78]], "10000 is no multiple of 128");
    assert_eq!(array.staged_count(), 1);

    let mut dense = StagedArray::<MemoryBase>::filled(&[10000, 100], &[128, 100], &[0; 8]).unwrap();
    dense.write_scalar(&Selection::all(), &[1; 8]).unwrap();
    let chunks = dense.staged_count();
    dense.resize(&[1_000_000_000, 100]).unwrap();
    assert_eq!(dense.staged_count(), chunks, "what is added is fill, and has no buffer");
    assert!(matches!(dense.state(ChunkIndex(5_000_000)), ChunkState::Fill));
}
