//! Stored chunks: found, read as they are, and never past the end of a buffer.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail by panicking")]

mod support;

use h5strata_ffi::h5d::{self, Reader};
use h5strata_ffi::h5s::Hyperslab;
use h5strata_ffi::{Error, h5f, h5p};
use support::{Options, Writer, Written, integers};

const DIMS: [u64; 2] = [5, 7];
const CHUNK: [u64; 2] = [2, 3];
const CHUNK_BYTES: usize = 24;

fn file(user_block: u64, options: Options<'_>) -> Written {
    let writer = Writer::with_user_block(user_block);
    writer.counting("a", &DIMS, &Options { chunk: Some(&CHUNK), ..options });
    writer.finish()
}

/// Offsets of all chunks, in C order.
fn offsets() -> Vec<[u64; 2]> {
    (0..3).flat_map(|row| (0..3).map(move |column| [row * 2, column * 3])).collect()
}

/// What a stored chunk must hold where it lies within the dataset.
fn expected(offset: [u64; 2], chunk: &[i32]) -> bool {
    (0..2).all(|row| {
        (0..3).all(|column| {
            let (y, x) = (offset[0] + row, offset[1] + column);
            let inside = y < DIMS[0] && x < DIMS[1];
            let at = usize::try_from(row * 3 + column).unwrap();
            !inside || i64::from(chunk[at]) == i64::try_from(y * DIMS[1] + x).unwrap()
        })
    })
}

#[test]
fn a_chunk_without_filters_is_read_as_h5dread_reads_it() {
    let written = file(0, Options::default());
    let dataset = h5d::open(&written.lock, &written.file, "a").unwrap();
    for offset in offsets() {
        let mut bytes = [0xff; CHUNK_BYTES + 5];
        let read = h5d::read_chunk(&written.lock, &dataset, &offset, &mut bytes).unwrap();
        assert_eq!((read.size, read.filter_mask), (CHUNK_BYTES, 0));
        assert_eq!(bytes[CHUNK_BYTES..], [0xff; 5], "bytes behind the chunk were touched");
        assert!(expected(offset, &integers(&bytes[..CHUNK_BYTES])), "{offset:?} {bytes:?}");
    }
}

#[test]
fn a_filtered_chunk_is_read_as_it_is_stored() {
    let written = file(0, Options { deflate: true, ..Options::default() });
    let dataset = h5d::open(&written.lock, &written.file, "a").unwrap();
    let contents = written.contents();
    for offset in offsets() {
        let size = h5d::chunk_storage_size(&written.lock, &dataset, &offset).unwrap();
        let mut bytes = vec![0; usize::try_from(size).unwrap()];
        let read = h5d::read_chunk(&written.lock, &dataset, &offset, &mut bytes).unwrap();
        assert_eq!(read.size, bytes.len());
        let info = h5d::chunk_info(&written.lock, &dataset, &offset).unwrap().unwrap();
        assert_eq!((info.size, info.filter_mask), (size, read.filter_mask));
        let at = usize::try_from(info.address).unwrap();
        assert_eq!(contents[at..at + bytes.len()], bytes);
    }
}

#[test]
fn addresses_count_the_user_block() {
    let written = file(1024, Options::default());
    assert_eq!(h5f::user_block_size(&written.lock, &written.file).unwrap(), 1024);
    let dataset = h5d::open(&written.lock, &written.file, "a").unwrap();
    let contents = written.contents();
    for offset in offsets() {
        let info = h5d::chunk_info(&written.lock, &dataset, &offset).unwrap().unwrap();
        let at = usize::try_from(info.address).unwrap();
        assert!(expected(offset, &integers(&contents[at..at + CHUNK_BYTES])), "{offset:?}");
    }
}

#[test]
fn a_buffer_too_short_is_refused_with_the_size_needed() {
    for deflate in [false, true] {
        let written = file(0, Options { deflate, ..Options::default() });
        let dataset = h5d::open(&written.lock, &written.file, "a").unwrap();
        let size = h5d::chunk_storage_size(&written.lock, &dataset, &[0, 0]).unwrap();
        let size = usize::try_from(size).unwrap();
        let mut bytes = vec![0xff; size - 1];
        let error = h5d::read_chunk(&written.lock, &dataset, &[0, 0], &mut bytes).unwrap_err();
        assert!(
            matches!(error, Error::BufferLength { expected, found, .. } if expected == size && found == size - 1)
        );
        assert!(bytes.iter().all(|byte| *byte == 0xff), "bytes were written all the same");
    }
}

#[test]
fn a_chunk_that_is_not_stored_is_no_chunk() {
    let written = file(0, Options { rows: Some(2), fill: Some(9), ..Options::default() });
    let dataset = h5d::open(&written.lock, &written.file, "a").unwrap();
    assert_eq!(h5d::num_chunks(&written.lock, &dataset).unwrap(), 3);
    assert_eq!(h5d::chunk_info(&written.lock, &dataset, &[4, 0]).unwrap(), None);
    let mut bytes = [0; CHUNK_BYTES];
    assert!(h5d::read_chunk(&written.lock, &dataset, &[4, 0], &mut bytes).is_err());
    let size = h5d::chunk_storage_size(&written.lock, &dataset, &[4, 0]);
    assert!(h5d::is_not_stored(&size.unwrap_err()));
    let size = h5d::chunk_storage_size(&written.lock, &dataset, &[4]);
    assert!(!h5d::is_not_stored(&size.unwrap_err()));
    assert!(h5d::storage_size(&written.lock, &dataset) >= 3);
}

#[test]
fn coordinates_of_another_rank_are_refused() {
    let written = file(0, Options::default());
    let dataset = h5d::open(&written.lock, &written.file, "a").unwrap();
    let error = h5d::chunk_info(&written.lock, &dataset, &[0]).unwrap_err();
    assert!(matches!(error, Error::Rank { expected: 2, found: 1, .. }));
    let mut bytes = [0; CHUNK_BYTES];
    assert!(h5d::read_chunk(&written.lock, &dataset, &[0, 0, 0], &mut bytes).is_err());
    assert!(h5d::chunk_storage_size(&written.lock, &dataset, &[]).is_err());
}

#[test]
fn a_hyperslab_is_read_densely() {
    let written = file(0, Options { deflate: true, ..Options::default() });
    let dataset = h5d::open(&written.lock, &written.file, "a").unwrap();
    let datatype = h5d::datatype(&written.lock, &dataset).unwrap();
    let reader = Reader::new(&written.lock, &dataset, datatype).unwrap();
    assert_eq!(reader.element_size(), 4);
    let slab = Hyperslab { start: &[1, 0], stride: Some(&[2, 3]), count: &[2, 3], block: None };
    let mut bytes = [0; 24];
    reader.read(&written.lock, Some(&slab), &mut bytes).unwrap();
    assert_eq!(integers(&bytes), [7, 10, 13, 21, 24, 27]);
    let mut all = [0; 5 * 7 * 4];
    reader.read(&written.lock, None, &mut all).unwrap();
    assert_eq!(integers(&all), (0..35).collect::<Vec<_>>());
    let nothing = Hyperslab { start: &[0, 0], stride: None, count: &[0, 3], block: None };
    reader.read(&written.lock, Some(&nothing), &mut []).unwrap();
}

#[test]
fn a_read_checks_buffer_bounds_and_rank() {
    let written = file(0, Options::default());
    let dataset = h5d::open(&written.lock, &written.file, "a").unwrap();
    let datatype = h5d::datatype(&written.lock, &dataset).unwrap();
    let reader = Reader::new(&written.lock, &dataset, datatype).unwrap();
    let slab = |start, count| Hyperslab { start, stride: None, count, block: None };
    let lock = &written.lock;
    let error = reader.read(lock, Some(&slab(&[0, 0], &[1, 3])), &mut [0; 11]).unwrap_err();
    assert!(matches!(error, Error::BufferLength { expected: 12, found: 11, .. }));
    assert!(reader.read(lock, Some(&slab(&[4, 5], &[1, 3])), &mut [0; 12]).is_err());
    assert!(reader.read(lock, Some(&slab(&[0], &[1, 3])), &mut [0; 12]).is_err());
}

#[test]
fn a_file_opened_without_read_ahead_reads_the_same() {
    let written = file(0, Options::default());
    let lock = &written.lock;
    let access = h5p::file_access(lock).unwrap();
    h5p::set_no_read_ahead(lock, &access).unwrap();
    let other = support::beside(&written.path, "copy.h5");
    std::fs::copy(&written.path, &other).unwrap();
    let file = h5f::open_read_only(lock, &other, Some(&access)).unwrap();
    let dataset = h5d::open(lock, &file, "a").unwrap();
    let reader = Reader::new(lock, &dataset, h5d::datatype(lock, &dataset).unwrap()).unwrap();
    let mut all = [0; 5 * 7 * 4];
    reader.read(lock, None, &mut all).unwrap();
    assert_eq!(integers(&all), (0..35).collect::<Vec<_>>());
}

#[cfg(hdf5_chunk_iter)]
mod iteration {
    use std::ops::ControlFlow;

    use super::*;

    #[test]
    fn every_stored_chunk_is_shown_once_and_where_it_is() {
        for (user_block, deflate) in [(0, false), (512, true)] {
            let written = file(user_block, Options { deflate, ..Options::default() });
            let dataset = h5d::open(&written.lock, &written.file, "a").unwrap();
            let mut seen = Vec::new();
            h5d::chunk_iter(&written.lock, &dataset, |chunk| {
                seen.push((chunk.offset.to_vec(), chunk.info));
                ControlFlow::Continue(())
            })
            .unwrap();
            seen.sort_by(|one, other| one.0.cmp(&other.0));
            assert_eq!(
                seen.iter().map(|(offset, _)| offset).collect::<Vec<_>>(),
                offsets().iter().collect::<Vec<_>>()
            );
            for (offset, info) in seen {
                let known = h5d::chunk_info(&written.lock, &dataset, &offset).unwrap();
                assert_eq!(known, Some(info));
            }
        }
    }

    #[test]
    fn breaking_stops_it() {
        let written = file(0, Options::default());
        let dataset = h5d::open(&written.lock, &written.file, "a").unwrap();
        let mut seen = 0;
        h5d::chunk_iter(&written.lock, &dataset, |_| {
            seen += 1;
            if seen == 4 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
        .unwrap();
        assert_eq!(seen, 4);
    }

    #[test]
    fn a_panic_becomes_an_error() {
        let written = file(0, Options::default());
        let dataset = h5d::open(&written.lock, &written.file, "a").unwrap();
        let error = h5d::chunk_iter(&written.lock, &dataset, |_| panic!("on purpose")).unwrap_err();
        assert!(matches!(error, Error::CallbackPanicked { call: "H5Dchunk_iter" }));
        assert_eq!(h5d::num_chunks(&written.lock, &dataset).unwrap(), 9, "unusable afterwards");
    }

    #[test]
    fn a_dataset_without_chunks_is_an_error() {
        let writer = Writer::new();
        writer.counting("a", &[3], &Options::default());
        let written = writer.finish();
        let dataset = h5d::open(&written.lock, &written.file, "a").unwrap();
        assert!(h5d::chunk_iter(&written.lock, &dataset, |_| ControlFlow::Continue(())).is_err());
    }
}

#[cfg(not(hdf5_chunk_iter))]
#[test]
fn a_library_too_old_for_the_sweep_says_so() {
    let written = file(0, Options::default());
    let dataset = h5d::open(&written.lock, &written.file, "a").unwrap();
    const { assert!(!h5d::HAS_CHUNK_ITER) };
    let visit = |_: h5d::StoredChunk<'_>| std::ops::ControlFlow::Continue(());
    let error = h5d::chunk_iter(&written.lock, &dataset, visit).unwrap_err();
    assert!(matches!(error, Error::NotInThisVersion { call: "H5Dchunk_iter", .. }));
}
