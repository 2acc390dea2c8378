//! Single mappings found in a file.

use super::*;
use crate::ondisk::ObjectRange;
use crate::ondisk::test_image::CountingFile;

const OFFSET: usize = 1000;

fn file_with(block: &[u8]) -> (CountingFile, ObjectRange) {
    let bytes = [&[0xee; OFFSET], block, &[0xee; 50]].concat();
    (CountingFile::new(bytes), ObjectRange { offset: OFFSET as u64, len: block.len() as u64 })
}

/// Chunks of 10 x 3 elements, `stored` by row-major index in a grid 100 chunks wide.
fn chunks(stored: impl Iterator<Item = u64>) -> Vec<FoundMapping> {
    let names = (".", "/_version_data/foo/bar/raw_data");
    stored
        .zip(0..)
        .map(|(chunk, index)| {
            let virtual_start = [chunk / 100 * 10, chunk % 100 * 3];
            mapping(index, names, (&[index * 10, 0], &virtual_start), &[10, 3])
        })
        .collect()
}

fn table(file: &CountingFile, block: ObjectRange) -> EntryTable {
    EntryTable::open(file, block, WIDE, 2).unwrap().unwrap()
}

fn find(
    table: &EntryTable,
    file: &CountingFile,
    virtual_start: &[u64],
    most: u64,
) -> Option<FoundMapping> {
    table.lookup(file).find(virtual_start, most).unwrap().map(Into::into)
}

#[test]
fn a_mapping_of_a_full_grid_costs_two_reads() {
    let mappings = chunks(0..5000);
    let (file, block) = file_with(&encode(&mappings));
    let table = table(&file, block);
    assert_eq!(table.mapping_count(), 5000);
    assert_eq!(table.entry_size(), 2 + 32 + 2 * 40);
    for (mapping, most) in mappings.iter().zip(0..).step_by(97) {
        let before = file.reads();
        let found = find(&table, &file, &mapping.virtual_start, most);
        assert_eq!(found.as_ref(), Some(mapping));
        assert_eq!(file.reads() - before, 1);
    }
    let fixed = file.bytes_read() - 114 * 52;
    assert_eq!(fixed, 1024);
}

#[test]
fn a_mapping_of_a_sparse_grid_costs_a_bisection() {
    let mappings = chunks((0..20_000).filter(|chunk| chunk % 7 == 3 || chunk % 11 == 0));
    let (file, block) = file_with(&encode(&mappings));
    let table = table(&file, block);
    for mapping in &mappings {
        let before = file.reads();
        let most = mapping.virtual_start[0] / 10 * 100 + mapping.virtual_start[1] / 3;
        let found = find(&table, &file, &mapping.virtual_start, most);
        assert_eq!(found.as_ref(), Some(mapping));
        assert!(file.reads() - before <= 14);
    }
    for absent in [[0, 3], [9, 9], [0, 300], [5000, 0]] {
        assert_eq!(find(&table, &file, &absent, u64::MAX), None);
    }
}

#[test]
fn mappings_in_a_row_are_read_together() {
    let mappings = chunks(0..5000);
    let (file, block) = file_with(&encode(&mappings));
    let table = table(&file, block);
    let (before, bytes_before) = (file.reads(), file.bytes_read());
    let mut lookup = table.lookup(&file);
    // A row of the grid, then the last two mappings, and one of the first again.
    let wanted = (200..300).chain([4998, 4999, 205]);
    for chunk in wanted {
        let mapping = &mappings[chunk];
        let found = lookup.find(&mapping.virtual_start, chunk as u64).unwrap();
        assert_eq!(found.map(FoundMapping::from).as_ref(), Some(mapping));
    }
    // The first mapping alone, the others 35 at a time; the last of all where the list ends.
    assert_eq!(file.reads() - before, 1 + 99usize.div_ceil(35) + 2 + 1);
    assert_eq!(file.bytes_read() - bytes_before, 114 * (1 + 3 * 35 + 2 + 1));
}

#[test]
fn a_mapping_with_another_source_is_not_found() {
    let mut mappings = chunks(0..3);
    mappings[1].source_dataset = mappings[1].source_dataset.iter().rev().copied().collect();
    let (file, block) = file_with(&encode(&mappings));
    let table = table(&file, block);
    assert_eq!(table.source_dataset(), mappings[0].source_dataset);
    assert_eq!(find(&table, &file, &mappings[1].virtual_start, 1), None);
    assert_eq!(find(&table, &file, &mappings[2].virtual_start, 2).as_ref(), Some(&mappings[2]));
}

#[test]
fn a_list_in_another_order_gives_the_right_mapping_or_none() {
    let mut mappings = chunks(0..300);
    mappings.reverse();
    mappings.swap(17, 200);
    for (mapping, index) in mappings.iter_mut().zip(0..) {
        mapping.index = index;
    }
    let (file, block) = file_with(&encode(&mappings));
    let table = table(&file, block);
    for mapping in &mappings {
        for most in [0, mapping.index, 150, u64::MAX] {
            if let Some(found) = find(&table, &file, &mapping.virtual_start, most) {
                assert_eq!(found, *mapping);
            }
        }
    }
}

#[test]
fn lists_without_one_entry_size_have_no_table() {
    let mut other_name = chunks(0..10);
    other_name[4].source_dataset.push(b'x');
    let mut wide = chunks(0..10);
    wide[9].source_start[0] = 1 << 33;
    let name = "n".repeat(2000);
    let long_name = [mapping(0, (".", name.as_str()), (&[0, 0], &[0, 0]), &[1, 1])];
    for mappings in [&other_name, &wide, &chunks(0..0), &long_name[..]] {
        let (file, block) = file_with(&encode(mappings));
        assert!(EntryTable::open(&file, block, WIDE, 2).unwrap().is_none());
    }
    let (file, block) = file_with(&encode(&chunks(0..10)));
    assert!(EntryTable::open(&file, block, WIDE, 3).unwrap().is_none(), "another rank");
}

#[test]
fn a_version_1_list_has_no_table_even_if_its_entries_have_one_size() {
    let selections = corners_v1(&[0, 0, 9, 9], &[0, 0, 9, 9]);
    let first = [&[4][..], b"1234567\0", &selections, &selections].concat();
    let second = [&[6][..], &[0; 8], &selections, &selections].concat();
    let bytes = block(1, &[&first, &second]);
    assert_eq!(decode(&bytes, 4).unwrap().len(), 2);
    let (file, block) = file_with(&bytes);
    assert!(EntryTable::open(&file, block, WIDE, 4).unwrap().is_none());
}

#[test]
fn entries_of_the_right_size_that_are_none_are_not_found() {
    let mappings = chunks(0..3);
    let mut bytes = encode(&mappings);
    let second = 9 + 114;
    // Another number of blocks: the entry would go on.
    bytes[second + 34 + 20] = 2;
    let (file, block) = file_with(&bytes);
    let table = table(&file, block);
    assert_eq!(find(&table, &file, &mappings[1].virtual_start, 1), None);
    assert_eq!(find(&table, &file, &mappings[2].virtual_start, 2).as_ref(), Some(&mappings[2]));
}

#[test]
fn blocks_that_reach_behind_the_file_are_refused() {
    let (file, mut block) = file_with(&encode(&chunks(0..3)));
    block.len += 1000;
    let error = EntryTable::open(&file, block, WIDE, 2).unwrap_err();
    assert!(matches!(error, VdsBlockError::Ondisk(_)), "{error:?}");
    block.len = 12;
    let error = EntryTable::open(&file, block, WIDE, 2).unwrap_err();
    assert!(matches!(error, VdsBlockError::TooShort { len: 12 }), "{error:?}");
}
