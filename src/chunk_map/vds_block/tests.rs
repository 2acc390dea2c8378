//! Lists of mappings, hand-built and encoded, whole and broken.

use proptest::prelude::*;

use super::encode::ListEncoder;
use super::*;
use crate::dims::Dims;
use crate::ondisk::{FieldWidth, lookup3};

mod broken;
mod chunk_list;
mod edit;
mod lookup;
mod mutation;

const WIDE: FieldWidth = FieldWidth::Eight;

/// A mapping that outlives what it was decoded from.
#[derive(Clone, Debug, PartialEq, Eq)]
struct FoundMapping {
    index: u64,
    source_file: Vec<u8>,
    source_dataset: Vec<u8>,
    source_start: Dims,
    virtual_start: Dims,
    extent: Dims,
}

impl From<Mapping<'_>> for FoundMapping {
    fn from(mapping: Mapping<'_>) -> Self {
        Self {
            index: mapping.index,
            source_file: mapping.source_file.to_vec(),
            source_dataset: mapping.source_dataset.to_vec(),
            source_start: Dims::from_slice(mapping.source_start),
            virtual_start: Dims::from_slice(mapping.virtual_start),
            extent: Dims::from_slice(mapping.extent),
        }
    }
}

/// Owned mappings, for comparison.
fn decode(block: &[u8], rank: usize) -> Result<Vec<FoundMapping>, VdsBlockError> {
    decode_with(block, WIDE, rank)
}

fn decode_with(
    block: &[u8],
    length_size: FieldWidth,
    rank: usize,
) -> Result<Vec<FoundMapping>, VdsBlockError> {
    let mut found: Vec<FoundMapping> = Vec::new();
    decode_mappings(block, length_size, rank, |mapping| {
        let same = found.last().is_some_and(|last| {
            last.source_file == mapping.source_file && last.source_dataset == mapping.source_dataset
        });
        assert_eq!(mapping.same_source, same);
        found.push(mapping.into());
        Ok::<_, VdsBlockError>(())
    })?;
    Ok(found)
}

fn mapping(
    index: u64,
    names: (&str, &str),
    starts: (&[u64], &[u64]),
    extent: &[u64],
) -> FoundMapping {
    FoundMapping {
        index,
        source_file: names.0.into(),
        source_dataset: names.1.into(),
        source_start: Dims::from_slice(starts.0),
        virtual_start: Dims::from_slice(starts.1),
        extent: Dims::from_slice(extent),
    }
}

fn encode_with(
    mappings: &[FoundMapping],
    length_size: FieldWidth,
) -> Result<Vec<u8>, VdsBlockError> {
    let rank = mappings.first().map_or(1, |first| first.extent.len());
    let fault = |entry, fault| VdsBlockError::Entry { entry, fault };
    let mut encoder = ListEncoder::new(length_size, rank, mappings.len(), b"", b"")
        .map_err(|refused| fault(0, refused))?;
    for mapping in mappings {
        let (source, dataset) = (&mapping.source_file, &mapping.source_dataset);
        let entry = encoder.entries();
        encoder
            .set_names(source, dataset)
            .and_then(|()| {
                encoder.push(&mapping.source_start, &mapping.virtual_start, &mapping.extent)
            })
            .map_err(|refused| fault(entry, refused))?;
    }
    encoder.finish()
}

fn encode(mappings: &[FoundMapping]) -> Vec<u8> {
    encode_with(mappings, WIDE).unwrap()
}

/// A block of these entries.
fn block(version: u8, entries: &[&[u8]]) -> Vec<u8> {
    let count = (entries.len() as u64).to_le_bytes();
    sealed([&[version][..], &count, &entries.concat()].concat())
}

fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.extend(lookup3(&bytes).to_le_bytes());
    bytes
}

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Version 1: first and last elements.
fn corners_v1(first: &[u32], last: &[u32]) -> Vec<u8> {
    let rank = u32::try_from(first.len()).unwrap();
    words(&[&[2, 1, 0, 8 + 8 * rank, rank, 1], first, last].concat())
}

/// Version 2: start, stride, count and block an axis.
fn regular_v2(axes: &[[u64; 4]]) -> Vec<u8> {
    let rank = u32::try_from(axes.len()).unwrap();
    let fields = axes.iter().flatten().flat_map(|field| field.to_le_bytes()).collect::<Vec<_>>();
    [&words(&[2, 2])[..], &[1], &words(&[4 + 32 * rank, rank]), &fields].concat()
}

/// Version 3: start, stride, count and block an axis, in this width.
fn regular_v3(width: FieldWidth, axes: &[[u64; 4]]) -> Vec<u8> {
    version_3(1, width, axes.len(), axes.as_flattened())
}

/// Version 3: the number of blocks, first and last elements, in this width.
fn corners_v3(width: FieldWidth, rank: usize, fields: &[u64]) -> Vec<u8> {
    version_3(0, width, rank, fields)
}

fn version_3(flags: u8, width: FieldWidth, rank: usize, fields: &[u64]) -> Vec<u8> {
    let mut bytes = words(&[2, 3]);
    bytes.extend([flags, u8::try_from(width.bytes()).unwrap()]);
    bytes.extend(u32::try_from(rank).unwrap().to_le_bytes());
    for field in fields {
        bytes.extend(&field.to_le_bytes()[..width.bytes()]);
    }
    bytes
}

#[test]
fn the_bytes_of_libhdf5_are_read_and_written() {
    // Two mappings as HDF5 1.10 writes them with the earliest file format.
    let bytes = [
        &[0, 2, 0, 0, 0, 0, 0, 0, 0][..],
        b".\0/raw\0",
        &words(&[2, 1, 0, 16, 1, 1, 100, 199, 2, 1, 0, 16, 1, 1, 0, 99]),
        b".\0/raw\0",
        &words(&[2, 1, 0, 16, 1, 1, 0, 49, 2, 1, 0, 16, 1, 1, 100, 149]),
    ];
    let bytes = sealed(bytes.concat());
    let mappings = [
        mapping(0, (".", "/raw"), (&[100], &[0]), &[100]),
        mapping(1, (".", "/raw"), (&[0], &[100]), &[50]),
    ];
    assert_eq!(decode(&bytes, 1).unwrap(), mappings);
    assert_eq!(encode(&mappings), bytes);
    assert_eq!(mapping_count(&bytes, WIDE).unwrap(), 2);
}

#[test]
fn every_encoding_of_a_block_gives_the_same_mapping() {
    let names = b".\0/d\0";
    let source = corners_v1(&[70, 0], &[74, 2]);
    let expected = [mapping(0, (".", "/d"), (&[70, 0], &[5, 9]), &[5, 3])];
    let encodings = [
        corners_v1(&[5, 9], &[9, 11]),
        regular_v2(&[[5, 1, 1, 5], [9, 1, 1, 3]]),
        // Many blocks of one element, or blocks that touch.
        regular_v2(&[[5, 1, 5, 1], [9, 3, 1, 3]]),
        regular_v2(&[[5, 5, 1, 5], [9, 1, 3, 1]]),
        regular_v3(FieldWidth::Two, &[[5, 1, 1, 5], [9, 1, 3, 1]]),
        regular_v3(FieldWidth::Four, &[[5, 1, 5, 1], [9, 1, 1, 3]]),
        regular_v3(FieldWidth::Eight, &[[5, 1, 1, 5], [9, 1, 1, 3]]),
        corners_v3(FieldWidth::Two, 2, &[1, 5, 9, 9, 11]),
        corners_v3(FieldWidth::Eight, 2, &[1, 5, 9, 9, 11]),
    ];
    for encoding in encodings {
        let block = block(0, &[names, &source, &encoding]);
        // `block` counts its parts, here three of one entry.
        let mut block = block[..block.len() - 4].to_vec();
        block[1] = 1;
        assert_eq!(decode(&sealed(block), 2).unwrap(), expected);
    }
}

#[test]
fn names_of_version_1_blocks_are_resolved() {
    let selections =
        |at: u32| [corners_v1(&[at], &[at]), corners_v1(&[at + 10], &[at + 10])].concat();
    let index = |index: u64| index.to_le_bytes();
    type Named<'a> = (&'a [&'a [u8]], (&'a str, &'a str));
    let entries: &[Named<'_>] = &[
        // As libhdf5 writes it: same file, name given once.
        (&[&[4], b"/a\0"], (".", "/a")),
        (&[&[6], &index(0)], (".", "/a")),
        (&[&[0], b"x.h5\0/b\0"], ("x.h5", "/b")),
        (&[&[3], &index(2), &index(0)], ("x.h5", "/a")),
        (&[&[1], &index(3), b"/50%%\0"], ("x.h5", "/50%")),
        // References to entries that refer themselves.
        (&[&[3], &index(1), &index(3)], (".", "/a")),
        (&[&[2], b".\0", &index(4)], (".", "/50%")),
        // With "same file" set, "file shared" means nothing.
        (&[&[7], &index(6)], (".", "/50%")),
    ];
    let images: Vec<Vec<u8>> = entries
        .iter()
        .zip(0..)
        .map(|((names, _), at)| [names.concat(), selections(at)].concat())
        .collect();
    let images: Vec<&[u8]> = images.iter().map(Vec::as_slice).collect();
    let expected: Vec<FoundMapping> = entries
        .iter()
        .zip(0..)
        .map(|((_, names), at)| mapping(at, *names, (&[at], &[at + 10]), &[1]))
        .collect();
    assert_eq!(decode(&block(1, &images), 1).unwrap(), expected);
}

#[test]
fn an_empty_list_has_no_mapping() {
    for version in [0, 1] {
        assert_eq!(decode(&block(version, &[]), 3).unwrap(), []);
    }
    assert_eq!(encode(&[]), block(0, &[]));
}

#[test]
fn ends_beyond_32_bits_are_encoded_wide() {
    let last_narrow = mapping(0, (".", "d"), (&[0], &[u64::from(u32::MAX)]), &[1]);
    assert_eq!(encode(std::slice::from_ref(&last_narrow)).len(), 9 + 4 + 32 + 32 + 4);
    let first_wide = mapping(1, (".", "d"), (&[u64::from(u32::MAX)], &[0]), &[2]);
    assert_eq!(encode(std::slice::from_ref(&first_wide)).len(), 9 + 4 + 49 + 32 + 4);
    let both = [last_narrow, first_wide];
    assert_eq!(decode(&encode(&both), 1).unwrap(), both);
}

#[test]
fn what_cannot_be_encoded_is_refused() {
    let error = |mapping: FoundMapping| format!("{:?}", encode_with(&[mapping], WIDE).unwrap_err());
    assert_eq!(
        error(mapping(0, ("a\0b", "d"), (&[0], &[0]), &[1])),
        "Entry { entry: 0, fault: NameFormat }"
    );
    assert_eq!(
        error(mapping(0, (".", "d"), (&[0], &[0]), &[1, 1])),
        "Entry { entry: 0, fault: Unsupported(Rank) }"
    );
    assert_eq!(
        error(mapping(0, (".", "d"), (&[], &[]), &[])),
        "Entry { entry: 0, fault: Unsupported(Rank) }"
    );
    assert_eq!(
        error(mapping(0, (".", "d"), (&[0], &[0]), &[0])),
        "Entry { entry: 0, fault: Unsupported(NoneSelected) }"
    );
    assert_eq!(
        error(mapping(0, (".", "d"), (&[u64::MAX], &[0]), &[1])),
        "Entry { entry: 0, fault: Selection { field: \"start\", value: 18446744073709551615 } }"
    );
}

/// Mappings of this rank, some beyond 32 bits, with names from a small set so that they repeat.
fn any_mappings(rank: usize) -> impl Strategy<Value = Vec<FoundMapping>> {
    let name = prop::sample::select(vec![".", "x.h5", "/_version_data/a/raw_data", "", "10%"]);
    let coordinate = prop_oneof![4 => 0u64..1 << 20, 1 => 0u64..1 << 40];
    let axes = prop::collection::vec((coordinate.clone(), coordinate, 1u64..1 << 33), rank);
    prop::collection::vec((name.clone(), name, axes), 0..30).prop_map(|entries| {
        let with_index = entries.into_iter().zip(0..);
        with_index
            .map(|((file, dataset, axes), index)| FoundMapping {
                index,
                source_file: file.into(),
                source_dataset: dataset.into(),
                source_start: axes.iter().map(|axis| axis.0).collect(),
                virtual_start: axes.iter().map(|axis| axis.1).collect(),
                extent: axes.iter().map(|axis| axis.2).collect(),
            })
            .collect()
    })
}

proptest! {
    #[test]
    fn what_is_encoded_is_decoded(
        (rank, mappings) in prop_oneof![1usize..=8, Just(32)].prop_flat_map(|rank| (Just(rank), any_mappings(rank))),
        length_size in prop::sample::select(vec![FieldWidth::Two, FieldWidth::Four, WIDE]),
    ) {
        let block = encode_with(&mappings, length_size).unwrap();
        prop_assert_eq!(decode_with(&block, length_size, rank).unwrap(), mappings);
    }
}
