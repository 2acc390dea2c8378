//! How datasets were created: layout, chunks, filters, fill value, mappings, and the strings they
//! hold.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail by panicking")]

mod support;

use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;

use h5strata_ffi::h5p::{self, FillValue, Layout};
use h5strata_ffi::h5s::{Hyperslab, Selection};
use h5strata_ffi::{h5d, h5f, os};
use support::{Block, Options, Writer, Written};

fn creation(written: &Written, path: &str) -> h5strata_ffi::id::DatasetCreation {
    let dataset = h5d::open(&written.lock, &written.file, path).unwrap();
    h5d::creation(&written.lock, &dataset).unwrap()
}

#[test]
fn layout_chunks_and_filters_are_told() {
    let writer = Writer::new();
    writer.counting("plain", &[3], &Options::default());
    let unlimited = [u64::MAX, 7];
    writer.counting(
        "chunked",
        &[5, 7],
        &Options {
            chunk: Some(&[2, 3]),
            max_dims: Some(&unlimited),
            deflate: true,
            ..Options::default()
        },
    );
    let written = writer.finish();
    let lock = &written.lock;
    let plain = creation(&written, "plain");
    assert_eq!(h5p::layout(lock, &plain).unwrap(), Layout::Contiguous);
    assert_eq!(h5p::filter_count(lock, &plain).unwrap(), 0);
    assert!(h5p::chunk_shape(lock, &plain).is_err());

    let chunked = creation(&written, "chunked");
    assert_eq!(h5p::layout(lock, &chunked).unwrap(), Layout::Chunked);
    assert_eq!(*h5p::chunk_shape(lock, &chunked).unwrap(), [2, 3]);
    assert_eq!(h5p::filter_count(lock, &chunked).unwrap(), 2);
    let (shuffle, deflate) =
        (h5p::filter(lock, &chunked, 0).unwrap(), h5p::filter(lock, &chunked, 1).unwrap());
    assert_eq!((shuffle.id, shuffle.parameters.as_slice()), (2, [4].as_slice()));
    assert_eq!((deflate.id, deflate.parameters.as_slice()), (1, [4].as_slice()));
    assert_eq!((shuffle.name.as_str(), deflate.name.as_str()), ("shuffle", "deflate"));
    assert!(h5p::filter(lock, &chunked, 2).is_err());

    let dataset = h5d::open(lock, &written.file, "chunked").unwrap();
    assert_eq!(dataset.rank(), 2);
    let space = h5d::space(lock, &dataset).unwrap();
    match h5strata_ffi::h5s::extent(lock, &space).unwrap() {
        h5strata_ffi::h5s::Extent::Simple { dims, max_dims } => {
            assert_eq!((&*dims, &*max_dims), ([5, 7].as_slice(), unlimited.as_slice()));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn fill_values_are_told() {
    let writer = Writer::new();
    writer.counting("default", &[3], &Options::default());
    writer.counting("nine", &[3], &Options { fill: Some(9), ..Options::default() });
    writer.strings("text", None, &["a"]);
    let written = writer.finish();
    let fill = |path| {
        let dataset = h5d::open(&written.lock, &written.file, path).unwrap();
        let datatype = h5d::datatype(&written.lock, &dataset).unwrap();
        h5p::fill_value(&written.lock, &creation(&written, path), &datatype).unwrap()
    };
    assert_eq!(fill("default"), FillValue::Default);
    assert_eq!(fill("nine"), FillValue::Bytes(9_i32.to_ne_bytes().into()));
    assert_eq!(fill("text"), FillValue::Default);
}

#[test]
fn mappings_are_listed_as_they_were_made() {
    let writer = Writer::new();
    writer.counting("raw", &[6, 3], &Options { chunk: Some(&[2, 3]), ..Options::default() });
    writer.virtual_dataset(
        "v",
        &[3, 6],
        &[6, 3],
        &[
            Block { source: "/raw", source_start: &[4, 0], start: &[0, 0], block: &[2, 3] },
            Block { source: "/raw", source_start: &[0, 0], start: &[2, 3], block: &[1, 3] },
        ],
    );
    let written = writer.finish();
    let lock = &written.lock;
    let list = creation(&written, "v");
    assert_eq!(h5p::layout(lock, &list).unwrap(), Layout::Virtual);
    assert_eq!(h5p::mapping_count(lock, &list).unwrap(), 2);
    let corners = |index| {
        let mapping = h5p::mapping(lock, &list, index).unwrap();
        assert_eq!((mapping.source_file.as_str(), mapping.source_dataset.as_str()), (".", "/raw"));
        let corner = |selection| match selection {
            Selection::Regular(slab) => {
                let extent: Vec<_> = slab
                    .count
                    .iter()
                    .zip(&*slab.block)
                    .map(|(count, block)| count * block)
                    .collect();
                (slab.start.to_vec(), extent)
            }
            other => panic!("{other:?}"),
        };
        (corner(mapping.source), corner(mapping.target))
    };
    let pair = |start: [u64; 2], extent: [u64; 2]| (start.to_vec(), extent.to_vec());
    assert_eq!(corners(0), (pair([4, 0], [2, 3]), pair([0, 0], [2, 3])));
    assert_eq!(corners(1), (pair([0, 0], [1, 3]), pair([2, 3], [1, 3])));
    assert!(h5p::mapping(lock, &list, 2).is_err());
}

#[test]
fn strings_of_a_dataset_are_copied() {
    let writer = Writer::new();
    writer.strings("text", None, &["eins", "", "dreiß", "vier"]);
    let written = writer.finish();
    let dataset = h5d::open(&written.lock, &written.file, "text").unwrap();
    let all = h5d::read_variable_strings(&written.lock, &dataset, None).unwrap();
    assert_eq!(all, ["eins".as_bytes(), b"", "dreiß".as_bytes(), b"vier"]);
    let slab = Hyperslab { start: &[1], stride: Some(&[2]), count: &[2], block: None };
    let some = h5d::read_variable_strings(&written.lock, &dataset, Some(&slab)).unwrap();
    assert_eq!(some, [b"".as_slice(), b"vier"]);
}

#[test]
fn the_descriptor_reads_the_file_and_outlives_it() {
    let writer = Writer::new();
    writer.counting("a", &[3], &Options::default());
    let written = writer.finish();
    let contents = written.contents();
    assert!(h5f::is_sec2(&written.lock, &written.file).unwrap());
    assert_eq!(h5f::size(&written.lock, &written.file).unwrap(), contents.len() as u64);
    let descriptor = h5f::descriptor(&written.lock, &written.file).unwrap().unwrap();
    os::will_need(descriptor.as_fd(), 0, 4096).unwrap();
    assert!(os::will_need(descriptor.as_fd(), u64::MAX, 1).is_err());
    drop(written.file);
    let mut bytes = vec![0; contents.len()];
    std::fs::File::from(descriptor).read_exact_at(&mut bytes, 0).unwrap();
    assert_eq!(bytes, contents);
}

#[test]
fn advice_about_memory_changes_no_byte() {
    for length in [0, 1, 4095, 1 << 14, (5 << 20) + 17] {
        let mut buffer = vec![7_u8; length];
        for start in [0, 1.min(length), length / 2] {
            // A kernel without huge pages may refuse; the bytes must stay either way.
            let _refused = os::advise_huge_pages(&mut buffer[start..]);
        }
        assert!(buffer.iter().all(|byte| *byte == 7));
    }
}
