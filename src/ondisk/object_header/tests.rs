use super::super::test_image::{
    CountingFile, MessageImage, block_v1, block_v2, continuation, dataspace, header_v1, header_v2,
    virtual_layout,
};
use super::super::{FieldWidth, GlobalHeapId};
use super::scan::{FAIL_IF_UNKNOWN, SHARED};
use super::*;
use crate::dims::Dims;

const BASE: usize = 512;
const WIDE: FieldWidth = FieldWidth::Eight;

fn superblock(offset_size: FieldWidth, length_size: FieldWidth) -> Superblock {
    Superblock { version: 0, base_address: BASE as u64, offset_size, length_size }
}

/// A file with blocks at addresses relative to the base address.
fn image(blocks: &[(usize, &[u8])]) -> Vec<u8> {
    let mut bytes = vec![0; BASE];
    for (address, block) in blocks {
        let end = BASE + address + block.len();
        bytes.resize(bytes.len().max(end), 0);
        bytes[BASE + address..end].copy_from_slice(block);
    }
    bytes
}

fn read(image: &[u8]) -> Result<ObjectHeader, OndiskError> {
    ObjectHeader::read(&image, &superblock(WIDE, WIDE), 0)
}

fn error_of(image: &[u8]) -> String {
    format!("{:?}", read(image).map(|_| ()).unwrap_err())
}

fn attribute(size: usize) -> MessageImage {
    (0x0c, 0, vec![0xaa; size])
}

fn datatype(body: &[u8]) -> MessageImage {
    (3, 0, body.to_vec())
}

#[track_caller]
fn assert_is_the_dataset(header: &ObjectHeader) {
    let mappings = Some(GlobalHeapId { collection: 0x1000, index: 3 });
    assert_eq!(header.layout().unwrap(), Layout::Virtual { mappings });
    let Dataspace::Simple { shape, .. } = header.dataspace().unwrap() else { panic!("no shape") };
    assert_eq!(shape, Dims::from_slice(&[10, 20]));
}

fn messages(offset_size: FieldWidth, length_size: FieldWidth) -> Vec<MessageImage> {
    let layout = virtual_layout(0x1000, 3, offset_size);
    vec![dataspace(&[10, 20], length_size), datatype(&[0xaa; 16]), layout, attribute(800)]
}

#[test]
fn both_versions_with_all_flags_and_widths_are_read() {
    for (offset_size, length_size) in
        [(WIDE, WIDE), (FieldWidth::Two, FieldWidth::Four), (FieldWidth::Four, FieldWidth::Two)]
    {
        let messages = messages(offset_size, length_size);
        let mut headers = vec![header_v1(4, &messages)];
        // The size of the first block needs at least two bytes here.
        headers.extend(
            (0..0b100_0000)
                .filter(|flags| flags & 0b11 != 0)
                .map(|flags| header_v2(flags, &messages)),
        );
        for header in headers {
            let image = image(&[(0, &header)]);
            let superblock = superblock(offset_size, length_size);
            assert_is_the_dataset(&ObjectHeader::read(&image.as_slice(), &superblock, 0).unwrap());
        }
    }
    let small = header_v2(0, &messages(WIDE, WIDE)[..3]);
    assert_is_the_dataset(&read(&image(&[(0, &small)])).unwrap());
}

#[test]
fn continuation_blocks_are_followed_until_all_messages_are_found() {
    let messages = messages(WIDE, WIDE);
    for flags in [0b01, 0b101] {
        let last = block_v2(flags, &messages[2..3], 3);
        let second =
            block_v2(flags, &[continuation(2000, last.len(), WIDE, WIDE), attribute(8)], 0);
        let third = block_v2(flags, &messages[..1], 0);
        let first = header_v2(
            flags,
            &[
                messages[1].clone(),
                continuation(1000, second.len(), WIDE, WIDE),
                continuation(1500, third.len(), WIDE, WIDE),
            ],
        );
        let blocks: &[(usize, &[u8])] =
            &[(0, &first), (1000, &second), (1500, &third), (2000, &last)];
        let file = CountingFile::new(image(blocks));
        assert_is_the_dataset(&ObjectHeader::read(&file, &superblock(WIDE, WIDE), 0).unwrap());
        assert_eq!(file.reads(), 4);
    }
    let last = block_v1(&messages[2..3]);
    let first = header_v1(4, &[messages[0].clone(), continuation(1000, last.len(), WIDE, WIDE)]);
    assert_is_the_dataset(&read(&image(&[(0, &first), (1000, &last)])).unwrap());
}

#[test]
fn messages_beyond_the_stored_number_are_found_as_by_libhdf5() {
    let messages = messages(WIDE, WIDE);
    let last = block_v1(&messages[2..]);
    let first = header_v1(
        1,
        &[messages[0].clone(), messages[1].clone(), continuation(1000, last.len(), WIDE, WIDE)],
    );
    assert_is_the_dataset(&read(&image(&[(0, &first), (1000, &last)])).unwrap());
}

#[test]
fn blocks_behind_the_found_messages_are_not_read() {
    let mut messages = messages(WIDE, WIDE);
    messages.push(continuation(1 << 40, 1 << 20, WIDE, WIDE));
    let file = CountingFile::new(image(&[(0, &header_v1(5, &messages[..3]))]));
    assert_is_the_dataset(&ObjectHeader::read(&file, &superblock(WIDE, WIDE), 0).unwrap());
    assert_eq!(file.reads(), 2, "the header, and the end of the file behind it");
}

#[test]
fn a_cycle_of_continuations_ends() {
    let size = block_v1(&[continuation(1000, 0, WIDE, WIDE)]).len();
    let link = [continuation(1000, size, WIDE, WIDE)];
    let v1 = image(&[(0, &header_v1(u16::MAX, &link)), (1000, &block_v1(&link))]);

    let size = block_v2(1, &[continuation(1000, 0, WIDE, WIDE)], 0).len();
    let link = [continuation(1000, size, WIDE, WIDE)];
    let v2 = image(&[(0, &header_v2(1, &link)), (1000, &block_v2(1, &link, 0))]);

    for image in [v1, v2] {
        assert_eq!(
            error_of(&image),
            "Unsupported { structure: ObjectHeader, address: 512, what: \"a header of this size\" }"
        );
    }
}

#[test]
fn continuations_that_multiply_end() {
    let size = block_v2(1, &vec![continuation(1000, 1, WIDE, WIDE); 2000], 0).len();
    let twice = block_v2(1, &vec![continuation(1000, size, WIDE, WIDE); 2000], 0);
    let first = header_v2(1, &[continuation(1000, size, WIDE, WIDE)]);
    assert!(error_of(&image(&[(0, &first), (1000, &twice)])).contains("a header of this size"));
}

#[test]
fn the_first_message_of_a_type_counts() {
    let mut messages = messages(WIDE, WIDE);
    messages.push(virtual_layout(0x2000, 1, WIDE));
    messages.push(dataspace(&[1], WIDE));
    assert_is_the_dataset(&read(&image(&[(0, &header_v1(6, &messages))])).unwrap());
}

#[test]
fn datatypes_are_the_same_up_to_the_padding_of_old_headers() {
    let stored = |header: &[u8]| read(&image(&[(0, header)])).unwrap().datatype().unwrap().clone();
    let [padded, plain] =
        [header_v1(1, &[datatype(&[7; 12])]), header_v2(0, &[datatype(&[7; 12])])];
    assert!(stored(&padded).is_same(&stored(&plain)) && stored(&plain).is_same(&stored(&padded)));
    let shared = (3, SHARED, vec![7; 12]);
    for other in [shared, datatype(&[7; 13]), datatype(&[7; 11]), datatype(&[8; 12])] {
        assert!(!stored(&plain).is_same(&stored(&header_v2(0, &[other]))));
    }
}

#[test]
fn shared_and_missing_messages_are_named() {
    let mut messages = messages(WIDE, WIDE);
    messages[0].1 |= SHARED;
    messages.remove(2);
    let header = read(&image(&[(0, &header_v2(2, &messages))])).unwrap();
    assert_eq!(
        format!("{:?}", header.dataspace().unwrap_err()),
        "Unsupported { structure: Dataspace, address: 526, what: \"a shared message\" }"
    );
    assert_eq!(
        format!("{:?}", header.layout().unwrap_err()),
        "MissingMessage { structure: Layout, address: 512 }"
    );
}

#[test]
fn broken_headers_give_their_error() {
    let v1 = header_v1(4, &messages(WIDE, WIDE));
    let v2 = header_v2(1, &messages(WIDE, WIDE));
    let changed = |header: &[u8], at: usize, value: u8| {
        let mut header = header.to_vec();
        header[at] = value;
        error_of(&image(&[(0, &header)]))
    };
    assert_eq!(changed(&v1, 0, 0), "Signature { structure: ObjectHeader, address: 512 }");
    assert_eq!(changed(&v1, 1, 9), "Signature { structure: ObjectHeader, address: 512 }");
    assert_eq!(changed(&v2, 0, b'X'), "Signature { structure: ObjectHeader, address: 512 }");
    assert_eq!(changed(&v2, 4, 3), "Version { structure: ObjectHeader, address: 516, found: 3 }");
    assert_eq!(
        changed(&v2, 5, 0b100_0001),
        "Invalid { structure: ObjectHeader, address: 512, field: \"flags\", value: 65 }"
    );
    assert!(changed(&v2, 60, 1).starts_with("Checksum { structure: ObjectHeader, address: 512"));
    assert_eq!(
        changed(&v1, 18, 19),
        "Invalid { structure: ObjectHeader, address: 528, field: \"message size\", value: 19 }"
    );
    assert!(
        changed(&v1, 19, 0xff).starts_with("Truncated { structure: ObjectHeader, address: 536")
    );
    assert!(changed(&v1, 9, 0x20).starts_with("Truncated { structure: ObjectHeader, address: 512"));
    assert!(changed(&v1, 11, 0xff).contains("a header of this size"));
    assert_eq!(
        error_of(&image(&[(0, &v1[..3])])),
        "Truncated { structure: ObjectHeader, address: 514, needed: 2, available: 1 }"
    );
}

#[test]
fn broken_continuation_blocks_give_their_error() {
    let block = block_v2(1, &messages(WIDE, WIDE)[..3], 0);
    let with = |block: &[u8], address: usize, size: usize| {
        let first = header_v2(1, &[continuation(address, size, WIDE, WIDE)]);
        error_of(&image(&[(0, &first), (1000, block)]))
    };
    let mut unsigned = block.clone();
    unsigned.truncate(block.len() - 4);
    unsigned[0] = b'X';
    let unsigned = super::super::test_image::sealed(unsigned);
    assert_eq!(
        with(&unsigned, 1000, block.len()),
        "Signature { structure: ObjectHeader, address: 1512 }"
    );
    let mut flipped = block.clone();
    flipped[10] ^= 1;
    assert!(
        with(&flipped, 1000, block.len())
            .starts_with("Checksum { structure: ObjectHeader, address: 1512")
    );
    assert_eq!(
        with(&block, 1000, 3),
        "Truncated { structure: ObjectHeader, address: 1512, needed: 4, available: 3 }"
    );
    assert!(with(&block, 1000, block.len() + 1).starts_with("Truncated"));
    assert!(with(&block, usize::MAX - 1, 40).starts_with("Invalid"));
    assert!(with(&block, 1000, 1 << 27).contains("a header of this size"));
}

#[test]
fn unknown_messages_are_passed_over_unless_they_must_be_understood() {
    let mut messages = messages(WIDE, WIDE);
    messages.insert(0, (0x77, 0, vec![0; 8]));
    assert_is_the_dataset(&read(&image(&[(0, &header_v1(5, &messages))])).unwrap());
    messages[0].1 = FAIL_IF_UNKNOWN;
    assert_eq!(
        error_of(&image(&[(0, &header_v1(5, &messages))])),
        "Unsupported { structure: ObjectHeader, address: 536, what: \"a message type\" }"
    );
}
