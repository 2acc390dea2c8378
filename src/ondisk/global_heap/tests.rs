use proptest::prelude::*;

use super::super::test_image::{CountingFile, collection};
use super::*;

const WIDE: FieldWidth = FieldWidth::Eight;
const BASE: usize = 512;

fn superblock(length_size: FieldWidth) -> Superblock {
    Superblock { version: 0, base_address: BASE as u64, offset_size: WIDE, length_size }
}

fn file_with(collection: &[u8]) -> Vec<u8> {
    [&[0; BASE], collection].concat()
}

fn read(collection: &[u8]) -> Result<Collection, OndiskError> {
    let mut heap = Collection::new();
    heap.read_into(&file_with(collection).as_slice(), &superblock(WIDE), 0)?;
    Ok(heap)
}

fn locate_in(collection: &[u8], index: u32) -> Result<ObjectRange, OndiskError> {
    let id = GlobalHeapId { collection: 0, index };
    locate(&file_with(collection).as_slice(), &superblock(WIDE), id)
}

#[test]
fn objects_are_found_both_ways_in_any_order_and_width() {
    let objects: &[(u16, &[u8])] =
        &[(3, b"three"), (1, b"first of all"), (0, &[0; 24]), (700, b""), (2, &[7; 5000])];
    for length_size in [FieldWidth::Two, FieldWidth::Four, WIDE] {
        // The end: free space with a header, less than a header, none.
        for size in [8192, 5200, 0] {
            let file = file_with(&collection(objects, size, length_size));
            let superblock = superblock(length_size);
            let mut heap = Collection::new();
            heap.read_into(&file.as_slice(), &superblock, 0).unwrap();
            assert_eq!(heap.len(), 4);
            for (index, data) in objects.iter().filter(|(index, _)| *index != 0) {
                let index = u32::from(*index);
                assert_eq!(heap.object(index), Some(*data));
                let id = GlobalHeapId { collection: 0, index };
                let range = locate(&file.as_slice(), &superblock, id).unwrap();
                assert_eq!(range.read(&file.as_slice()).unwrap(), *data);
            }
            for index in [0, 4, 699, 701, 65_536 + 1, u32::MAX] {
                assert_eq!(heap.object(index), None);
                let id = GlobalHeapId { collection: 0, index };
                let error = locate(&file.as_slice(), &superblock, id).unwrap_err();
                assert!(matches!(error, OndiskError::MissingObject { id: found } if found == id));
            }
        }
    }
}

#[test]
fn a_reused_collection_forgets_what_it_had() {
    let mut file = file_with(&collection(&[(1, &[1; 9000]), (5, b"five")], 0, WIDE));
    let second = (file.len() - BASE) as u64;
    file.extend(collection(&[(2, b"two")], 4096, WIDE));
    let mut heap = Collection::new();
    heap.read_into(&file.as_slice(), &superblock(WIDE), 0).unwrap();
    assert_eq!(heap.object(1), Some(&[1; 9000][..]));
    heap.read_into(&file.as_slice(), &superblock(WIDE), second).unwrap();
    assert_eq!((heap.object(1), heap.object(2), heap.object(5)), (None, Some(&b"two"[..]), None));
    heap.read_into(&file.as_slice(), &superblock(WIDE), 8).unwrap_err();
    assert!(heap.is_empty());
}

#[test]
fn a_usual_collection_is_read_in_one_go_and_a_large_object_is_not_read_to_be_located() {
    let small = CountingFile::new(file_with(&collection(&[(1, b"one")], 4096, WIDE)));
    Collection::new().read_into(&small, &superblock(WIDE), 0).unwrap();
    assert_eq!((small.reads(), small.bytes_read()), (1, 4096));

    let large = collection(&[(1, &vec![1; 1 << 20]), (2, &vec![2; 1 << 20])], 0, WIDE);
    let large = CountingFile::new(file_with(&large));
    let range =
        locate(&large, &superblock(WIDE), GlobalHeapId { collection: 0, index: 2 }).unwrap();
    assert_eq!(range, ObjectRange { offset: BASE as u64 + 48 + (1 << 20), len: 1 << 20 });
    assert_eq!((large.reads(), large.bytes_read()), (2, 8192));
}

#[test]
fn broken_collections_give_their_error_however_they_are_read() {
    let whole = collection(&[(1, b"0123456789"), (2, b"x")], 4096, WIDE);
    let changed = |at: usize, bytes: &[u8]| {
        let mut broken = whole.clone();
        broken[at..at + bytes.len()].copy_from_slice(bytes);
        let file = file_with(&broken);
        let checked = check_collection(&file.as_slice(), &superblock(WIDE), 0);
        let all = [read(&broken).unwrap_err(), locate_in(&broken, 9).unwrap_err()];
        let [read, located] = all.map(|error| format!("{error:?}"));
        assert_eq!((&located, &format!("{:?}", checked.unwrap_err())), (&read, &read));
        read
    };
    assert_eq!(changed(0, b"X"), "Signature { structure: HeapCollection, address: 512 }");
    assert_eq!(changed(4, &[2]), "Version { structure: HeapCollection, address: 512, found: 2 }");
    assert_eq!(
        changed(8, &15u64.to_le_bytes()),
        "Invalid { structure: HeapCollection, address: 512, field: \"size\", value: 15 }"
    );
    assert_eq!(
        changed(8, &u64::MAX.to_le_bytes()),
        "Truncated { structure: HeapCollection, address: 512, needed: 18446744073709551615, available: 4096 }"
    );
    // Object 1 begins at 16, its size stands at 24; object 2 begins at 48, free space at 72.
    for size in [4065, 1 << 40, u64::MAX, u64::MAX - 16] {
        assert_eq!(
            changed(24, &size.to_le_bytes()),
            format!(
                "Invalid {{ structure: HeapObject, address: 528, field: \"size\", value: {size} }}"
            )
        );
    }
    for size in [0, 15, 4025] {
        assert_eq!(
            changed(80, &u64::to_le_bytes(size)),
            format!(
                "Invalid {{ structure: HeapObject, address: 584, field: \"size\", value: {size} }}"
            )
        );
    }
    assert_eq!(
        format!("{:?}", read(&whole[..4095]).unwrap_err()),
        "Truncated { structure: HeapCollection, address: 512, needed: 4096, available: 4095 }"
    );
    assert_eq!(
        format!("{:?}", read(&whole[..10]).unwrap_err()),
        "Truncated { structure: HeapCollection, address: 520, needed: 8, available: 2 }"
    );
}

#[test]
fn an_index_that_occurs_twice_is_refused() {
    let twice = collection(&[(1, b"a"), (2, b"b"), (1, b"c")], 4096, WIDE);
    assert_eq!(
        format!("{:?}", read(&twice).unwrap_err()),
        "Invalid { structure: HeapObject, address: 576, field: \"index, used before,\", value: 1 }"
    );
}

proptest! {
    #[test]
    fn any_collection_reads_back(
        data in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..300), 0..60),
        first in 1u16..1000,
        size in 0usize..20_000,
        order in any::<u64>(),
    ) {
        let mut objects: Vec<(u16, &[u8])> =
            data.iter().zip(first..).map(|(data, index)| (index, data.as_slice())).collect();
        objects.sort_by_key(|(index, _)| u64::from(*index).wrapping_mul(order | 1));
        let image = collection(&objects, size, WIDE);
        let heap = read(&image).unwrap();
        prop_assert_eq!(heap.len(), objects.len());
        check_collection(&file_with(&image).as_slice(), &superblock(WIDE), 0).unwrap();
        for (index, data) in objects {
            prop_assert_eq!(heap.object(index.into()), Some(data));
            let range = locate_in(&image, index.into()).unwrap();
            prop_assert_eq!(range.read(&file_with(&image).as_slice()).unwrap(), data);
        }
    }
}
