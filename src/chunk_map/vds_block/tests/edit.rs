//! Lists made from the bytes of others.

use super::*;
use crate::dims::{ChunkIndex, RawChunk};
use crate::ondisk::ObjectRange;
use crate::ondisk::test_image::CountingFile;

const OFFSET: usize = 24;

/// Chunks of 4 x 3 elements in a grid that is 5 chunks wide and long enough for all.
const SHAPE: [u64; 2] = [4 * 400, 3 * 5];

fn list(map: &[(u64, u64)]) -> Vec<u8> {
    let map = map.iter().map(|&(chunk, raw)| (ChunkIndex(chunk), RawChunk(raw)));
    let sources =
        ChunkSources { shape: &SHAPE, chunk_shape: &[4, 3], raw_data: "/_version_data/x/raw_data" };
    encode_list(sources, map, WIDE).unwrap()
}

fn table(list: &[u8]) -> (CountingFile, EntryTable) {
    let bytes = [&[0xee; OFFSET], list, &[0xee; 30]].concat();
    let (file, len) = (CountingFile::new(bytes), list.len() as u64);
    let block = ObjectRange { offset: OFFSET as u64, len };
    let table = EntryTable::open(&file, block, WIDE, 2).unwrap().unwrap();
    (file, table)
}

proptest! {
    #[test]
    fn an_edited_list_is_that_of_the_edited_map(
        count in 1..300_u64,
        changed in proptest::collection::btree_set(0..300_u64, 0..12),
        appended in 0..5_u64,
    ) {
        let before: Vec<(u64, u64)> = (0..count).map(|chunk| (3 * chunk, 7 * chunk)).collect();
        let positions: Vec<u64> = changed.into_iter().filter(|&at| at < count).collect();
        let new = (count..count + appended).map(|chunk| (3 * chunk + 1, chunk));
        let changes: Vec<_> = positions.iter().map(|&at| (3 * at, 1000 + at)).chain(new).collect();
        prop_assume!(!changes.is_empty());
        let mut after = before.clone();
        for (&at, &change) in positions.iter().zip(&changes) {
            after[usize::try_from(at).unwrap()] = change;
        }
        after.extend(&changes[positions.len()..]);

        let (file, table) = table(&list(&before));
        let edited = table.edited(&file, &positions, &list(&changes)).unwrap();
        prop_assert_eq!(edited, list(&after));
    }
}

#[test]
fn damage_anywhere_in_the_old_list_is_found() {
    let map: Vec<(u64, u64)> = (0..40).map(|chunk| (chunk, chunk)).collect();
    let (old, changes) = (list(&map), list(&[(3, 50), (4, 51), (39, 52)]));
    // The start of a list is looked at when it is opened.
    for at in 200..old.len() {
        let mut damaged = old.clone();
        damaged[at] ^= 0x10;
        let (file, table) = table(&damaged);
        let error = table.edited(&file, &[3, 4, 39], &changes).unwrap_err();
        assert!(matches!(error, VdsBlockError::Checksum { .. }), "byte {at}: {error}");
    }
}

#[test]
fn positions_and_lists_that_do_not_belong_are_refused() {
    let map: Vec<(u64, u64)> = (0..40).map(|chunk| (chunk, chunk)).collect();
    let (file, table) = table(&list(&map));
    let two = list(&[(3, 50), (4, 51)]);
    for positions in [&[4, 3][..], &[3, 3], &[39, 40], &[0, u64::MAX], &[1, 2, 3]] {
        let error = table.edited(&file, positions, &two).unwrap_err();
        assert!(matches!(error, VdsBlockError::EntryCount { .. }), "{positions:?}: {error}");
    }
    // Of another source, and in the form for positions beyond 32 bits.
    let sources = ChunkSources { shape: &SHAPE, chunk_shape: &[4, 3], raw_data: "/raw" };
    let other = encode_list(sources, [(ChunkIndex(3), RawChunk(1))], WIDE).unwrap();
    for list in [other, list(&[(3, 1 << 40)])] {
        assert!(!table.has_form_of(&list));
        assert!(table.edited(&file, &[3], &list).is_err());
    }
    assert!(table.has_form_of(&two));
}
