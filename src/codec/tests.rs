//! Whole pipelines: chunks of other writers, round trips, filter masks, damaged bytes.

use super::vectors::{VECTORS, Vector};
use super::*;

fn filter(id: u16, optional: bool, params: &[u32]) -> Filter {
    Filter { id, optional, params: params.to_vec(), name: String::new() }
}

fn pipeline(filters: &[(u16, &[u32])], chunk_bytes: usize, element_size: usize) -> Pipeline {
    let filters = filters.iter().map(|&(id, params)| filter(id, false, params)).collect();
    Pipeline::new(filters, chunk_bytes, element_size)
}

fn decode(
    pipeline: &Pipeline,
    stored: &[u8],
    mask: u32,
    len: usize,
) -> Result<Vec<u8>, CodecError> {
    let mut out = vec![0xaa; len];
    pipeline.decode_into(stored, mask, &mut Scratch::default(), &mut out).map(|()| out)
}

impl Vector {
    fn pipeline(&self) -> Pipeline {
        pipeline(self.filters, self.chunk().len(), 4)
    }
}

/// A small generator, so that a failure is the same on every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(limit).unwrap()).unwrap()
    }

    fn byte(&mut self) -> u8 {
        self.next().to_le_bytes()[3]
    }
}

/// Chunk contents from empty to tens of kilobytes, smooth to noise.
fn contents() -> Vec<Vec<u8>> {
    let mut random = Random(7);
    let mut contents = Vec::new();
    for len in [1usize, 2, 3, 7, 8, 15, 16, 31, 64, 100, 127, 128, 1000, 4096, 4099, 70_000] {
        contents.push(vec![0; len]);
        contents.push((0..len).map(|i| (i / 5).to_le_bytes()[0]).collect());
        contents.push((0..len).map(|i| (i * i / 64).to_le_bytes()[i % 8]).collect());
        contents.push((0..len).map(|_| random.byte()).collect());
    }
    contents
}

/// Filter sets to take round trips through.
fn filter_sets(element_size: u32, chunk_bytes: usize) -> Vec<Vec<(u16, Vec<u32>)>> {
    let mut sets = vec![
        vec![(1, vec![1])],
        vec![(1, vec![0])],
        vec![(2, vec![element_size])],
        vec![(3, vec![])],
        vec![(32000, vec![])],
        vec![(2, vec![element_size]), (1, vec![9])],
        vec![(32015, vec![3])],
        vec![(32015, vec![])],
        vec![(32004, vec![0])],
        vec![(32004, vec![64])],
        vec![(307, vec![1])],
        vec![(32004, vec![0]), (32015, vec![1])],
        vec![(3, vec![]), (2, vec![element_size]), (1, vec![4])],
        vec![(2, vec![element_size]), (32000, vec![]), (3, vec![])],
        vec![(32000, vec![]), (1, vec![4]), (3, vec![])],
    ];
    for codec in 0..6 {
        for (level, shuffle) in [(5, 0), (1, 1), (9, 1), (6, 2), (0, 1)] {
            sets.push(vec![(32001, vec![2, 2, element_size, 0, level, shuffle, codec])]);
        }
    }
    // Bitshuffle takes whole elements alone.
    if chunk_bytes.is_multiple_of(usize::try_from(element_size).unwrap()) {
        for block in [0, 8, 64] {
            for compression in [0, 2, 3] {
                sets.push(vec![(32008, vec![0, 5, element_size, block, compression, 1])]);
            }
        }
    }
    sets
}

#[test]
fn chunks_of_other_writers_decode_to_their_values() {
    for vector in VECTORS {
        let chunk = vector.chunk();
        let decoded = decode(&vector.pipeline(), vector.stored, vector.filter_mask, chunk.len());
        assert_eq!(decoded.as_ref(), Ok(&chunk), "{}", vector.name);
    }
}

#[test]
fn what_is_encoded_decodes_to_the_same_bytes() {
    let mut scratch = Scratch::default();
    let mut stored = Vec::new();
    for chunk in contents() {
        for element_size in [1, 2, 3, 4, 8, 12, 16] {
            for filters in filter_sets(element_size, chunk.len()) {
                for optional in [false, true] {
                    let list =
                        filters.iter().map(|(id, params)| filter(*id, optional, params)).collect();
                    let pipeline = Pipeline::new(list, chunk.len(), 1);
                    let mask = pipeline.encode(&chunk, &mut scratch, &mut stored).unwrap();
                    assert!(optional || mask == 0);
                    let mut out = vec![0xaa; chunk.len()];
                    pipeline.decode_into(&stored, mask, &mut scratch, &mut out).unwrap();
                    assert!(out == chunk, "{filters:?} on {} bytes", chunk.len());
                }
            }
        }
    }
}

#[test]
fn a_skipped_filter_is_not_undone() {
    let chunk: Vec<u8> = (0..160).collect();
    let mut scratch = Scratch::default();
    let filters: [(u16, &[u32]); 3] = [(2, &[4]), (1, &[6]), (3, &[])];
    for mask in 0u32..8 {
        let applied: Vec<_> =
            (0..3).filter(|i| mask & (1 << i) == 0).map(|i: usize| filters[i]).collect();
        let mut stored = Vec::new();
        pipeline(&applied, chunk.len(), 4).encode(&chunk, &mut scratch, &mut stored).unwrap();
        let decoded = decode(&pipeline(&filters, chunk.len(), 4), &stored, mask, chunk.len());
        assert_eq!(decoded.as_ref(), Ok(&chunk), "mask {mask:#b}");
    }
}

#[test]
fn an_optional_compressor_that_does_not_shrink_is_skipped() {
    let mut random = Random(11);
    let noise: Vec<u8> = (0..512).map(|_| random.byte()).collect();
    let mut stored = Vec::new();
    for (id, level) in [(1, 4), (307, 9), (32000, 4), (32004, 0), (32015, 3)] {
        let filters =
            vec![filter(2, true, &[4]), filter(id, true, &[level]), filter(3, false, &[])];
        let pipeline = Pipeline::new(filters, noise.len(), 4);
        let mask = pipeline.encode(&noise, &mut Scratch::default(), &mut stored).unwrap();
        assert_eq!((mask, stored.len()), (0b010, noise.len() + 4));
        assert_eq!(decode(&pipeline, &stored, mask, noise.len()).as_ref(), Ok(&noise));
    }
}

#[test]
fn szip_is_skipped_where_it_may_be_when_encoding() {
    let mut stored = Vec::new();
    for (optional, expected) in [(true, Ok(1)), (false, Err(CodecError::Encode { filter: 4 }))] {
        let pipeline = Pipeline::new(vec![filter(4, optional, &[141, 8, 8, 8])], 8, 1);
        let mask = pipeline.encode(&[3; 8], &mut Scratch::default(), &mut stored);
        assert_eq!(mask, expected);
    }
}

#[test]
fn an_unknown_filter_matters_only_where_it_was_applied() {
    let chunk = [1, 2, 3, 4];
    let named = Filter { name: "mine".into(), ..filter(40000, true, &[]) };
    let pipeline = Pipeline::new(vec![named, filter(32013, false, &[])], 4, 4);
    assert_eq!(decode(&pipeline, &chunk, 0b11, 4).unwrap(), chunk);
    assert_eq!(
        decode(&pipeline, &chunk, 0b10, 4),
        Err(CodecError::UnknownFilter { id: 40000, name: "mine".into() })
    );
    let error = decode(&pipeline, &chunk, 0b01, 4).unwrap_err();
    assert_eq!(error.to_string(), "filter 32013 (zfp) is not supported");

    let mut stored = Vec::new();
    let encoded = pipeline.encode(&chunk, &mut Scratch::default(), &mut stored);
    assert_eq!(encoded, Err(error));
    let optional = Pipeline::new(vec![filter(40000, true, &[])], 4, 4);
    assert_eq!(optional.encode(&chunk, &mut Scratch::default(), &mut stored), Ok(1));
    assert_eq!(stored, chunk);
}

#[test]
fn the_library_is_needed_only_where_its_filter_was_applied() {
    let pipeline = pipeline(&[(2, &[4]), (6, &[2, 0])], 8, 4);
    assert!(pipeline.needs_library(0));
    assert!(pipeline.needs_library(0b01));
    assert!(!pipeline.needs_library(0b10));
    assert_eq!(decode(&pipeline, &[0; 8], 0, 8), Err(CodecError::NeedsLibrary { id: 6 }));
}

#[test]
fn a_chunk_of_the_wrong_size_is_refused() {
    let stored_only = pipeline(&[], 8, 4);
    assert!(stored_only.is_empty());
    assert_eq!(decode(&stored_only, &[5; 8], 0, 8).unwrap(), [5; 8]);
    let wrong = |found| Err(CodecError::ChunkLength { expected: 8, found });
    assert_eq!(decode(&stored_only, &[5; 7], 0, 8), wrong(7));
    assert_eq!(decode(&stored_only, &[5; 8], 0, 9), wrong(9));

    let mut stored = Vec::new();
    let mut scratch = Scratch::default();
    for (id, params) in [(1u16, vec![4]), (32000, vec![])] {
        let short = pipeline(&[(id, &params)], 64, 4);
        short.encode(&[9; 64], &mut scratch, &mut stored).unwrap();
        assert_eq!(
            decode(&pipeline(&[(id, &params)], 65, 4), &stored, 0, 65),
            Err(CodecError::Length { filter: id, expected: 65, found: 64 })
        );
        assert_eq!(
            decode(&pipeline(&[(id, &params)], 63, 4), &stored, 0, 63),
            Err(CodecError::TooLong { filter: id, limit: 63 })
        );
    }
}

#[test]
fn a_wrong_checksum_is_reported_with_both_values() {
    let pipeline = pipeline(&[(3, &[])], 4, 4);
    let result = decode(&pipeline, &[1, 2, 3, 4, 0, 0, 0, 0], 0, 4);
    assert_eq!(result, Err(CodecError::Checksum { filter: 3, expected: 0, found: 0x0508_0406 }));
}

#[test]
fn wrong_parameters_are_named() {
    let table: &[(u16, &[u32], BadParams)] = &[
        (1, &[], BadParams::Missing { expected: 1, found: 0 }),
        (1, &[10], BadParams::Value { index: 0, value: 10 }),
        (2, &[0], BadParams::Value { index: 0, value: 0 }),
        (4, &[141, 8, 32], BadParams::Missing { expected: 4, found: 3 }),
        (4, &[141, 7, 32, 8], BadParams::Value { index: 1, value: 7 }),
        (4, &[141, 8, 25, 8], BadParams::Value { index: 2, value: 25 }),
        (4, &[141, 8, 32, 4097], BadParams::Value { index: 3, value: 4097 }),
        (307, &[0], BadParams::Value { index: 0, value: 0 }),
        (32001, &[2, 2, 4, 8, 5, 1, 6], BadParams::Value { index: 6, value: 6 }),
        (32001, &[2, 2, 4, 8, 5, 3], BadParams::Value { index: 5, value: 3 }),
        (32008, &[0, 5, 4, 12], BadParams::Value { index: 3, value: 12 }),
    ];
    for &(id, params, reason) in table {
        let result = decode(&pipeline(&[(id, params)], 8, 4), &[0; 8], 0, 8);
        assert_eq!(result, Err(CodecError::BadParams { filter: id, reason }));
    }
    let missing = pipeline(&[(2, &[])], 8, 4);
    assert_eq!(
        decode(&missing, &[1, 5, 2, 6, 3, 7, 4, 8], 0, 8).unwrap(),
        [1, 2, 3, 4, 5, 6, 7, 8]
    );
}

#[test]
fn filters_beyond_the_mask_are_refused() {
    let filters = vec![filter(2, false, &[1]); 33];
    let pipeline = Pipeline::new(filters, 4, 1);
    let expected = Err(CodecError::TooManyFilters { count: 33 });
    assert_eq!(decode(&pipeline, &[0; 4], 0, 4), expected);
}

#[test]
fn a_small_stream_that_expands_is_cut_off() {
    let zeros = vec![0; 1 << 20];
    let mut scratch = Scratch::default();
    let mut inner = Vec::new();
    pipeline(&[(1, &[9])], zeros.len(), 1).encode(&zeros, &mut scratch, &mut inner).unwrap();
    assert_eq!(
        decode(&pipeline(&[(32000, &[]), (1, &[9])], 64, 1), &inner, 0, 64),
        Err(CodecError::TooLong { filter: 1, limit: 64 * 4 + 65_536 })
    );
}

#[test]
fn damaged_bytes_give_an_error_or_a_whole_chunk() {
    let mut random = Random(1);
    let mut scratch = Scratch::default();
    for vector in VECTORS {
        let pipeline = vector.pipeline();
        let mut out = vec![0; vector.chunk().len()];
        for _ in 0..3000 {
            let mut stored = vector.stored.to_vec();
            for _ in 0..=random.below(4) {
                match random.below(4) {
                    0 => stored.truncate(random.below(stored.len() + 1)),
                    1 => stored.push(random.byte()),
                    _ if stored.is_empty() => {}
                    2 => {
                        let at = random.below(stored.len());
                        stored[at] = random.byte();
                    }
                    _ => {
                        let at = random.below(stored.len());
                        stored[at] ^= 1 << random.below(8);
                    }
                }
            }
            // Any outcome but a panic is right: most filters carry no checksum.
            let _ = pipeline.decode_into(&stored, 0, &mut scratch, &mut out);
            assert!(scratch.capacity() <= 3 * (out.len() * 4 + 65_536));
        }
    }
}
