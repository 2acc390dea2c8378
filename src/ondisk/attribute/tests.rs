use super::super::test_image::{
    MessageImage, block_v2, continuation, dataspace, field, header_v1, header_v2,
};
use super::super::{FieldWidth, OndiskError, Superblock};
use super::{has_other_attributes, stored_attributes, variable_string_references};

const WIDE: FieldWidth = FieldWidth::Eight;
const WIDTHS: [FieldWidth; 3] = [FieldWidth::Two, FieldWidth::Four, FieldWidth::Eight];

fn superblock(offset_size: FieldWidth) -> Superblock {
    Superblock { version: 0, base_address: 0, offset_size, length_size: WIDE }
}

/// A datatype message of strings of variable length, whose base type is left as zeros.
fn strings(reference_size: u32) -> Vec<u8> {
    [&[0x19, 1, 1, 0][..], &reference_size.to_le_bytes(), &[0; 12]].concat()
}

fn reference(length: u32, address: u64, index: u32, offset_size: FieldWidth) -> Vec<u8> {
    [length.to_le_bytes().to_vec(), field(address, offset_size), index.to_le_bytes().to_vec()]
        .concat()
}

fn attribute(version: u8, name: &str, parts: [&[u8]; 2], elements: &[u8]) -> MessageImage {
    let name = [name.as_bytes(), &[0]].concat();
    let parts = [&name, parts[0], parts[1]];
    let mut body = vec![version, 0];
    for part in parts {
        body.extend(u16::try_from(part.len()).unwrap().to_le_bytes());
    }
    if version == 3 {
        body.push(1);
    }
    for part in parts {
        body.extend(part);
        if version == 1 {
            body.resize(body.len().next_multiple_of(8), 0);
        }
    }
    body.extend(elements);
    (0x0c, 0, body)
}

/// Looks for "name" in a file that is this header.
fn find(header: &[u8], offset_size: FieldWidth) -> Result<Option<Vec<u8>>, OndiskError> {
    variable_string_references(&header, &superblock(offset_size), 0, "name")
}

fn in_header(message: MessageImage) -> Result<Option<Vec<u8>>, OndiskError> {
    find(&header_v2(2, &[message]), WIDE)
}

/// The attribute "name" with two strings.
fn two_strings(version: u8, offset_size: FieldWidth) -> (MessageImage, Vec<u8>) {
    let references =
        [reference(5, 0x90, 1, offset_size), reference(7, 0x90, 2, offset_size)].concat();
    let datatype = strings(u32::try_from(8 + offset_size.bytes()).unwrap());
    let parts = [&datatype[..], &dataspace(&[2], WIDE).2];
    (attribute(version, "name", parts, &references), references)
}

#[test]
fn references_of_all_versions_and_widths_are_found_behind_other_attributes() {
    for offset_size in WIDTHS {
        for version in [1, 2, 3] {
            let (wanted, references) = two_strings(version, offset_size);
            let parts = [&strings(99)[..], &dataspace(&[1], WIDE).2];
            let others = ["names", "nam", ""].map(|name| attribute(version, name, parts, &[1; 16]));
            let messages = [&others[..], &[wanted]].concat();
            for header in [header_v1(4, &messages), header_v2(2, &messages)] {
                assert_eq!(find(&header, offset_size).unwrap().as_ref(), Some(&references));
            }
        }
    }
}

#[test]
fn continuation_blocks_are_searched() {
    let (wanted, references) = two_strings(3, WIDE);
    let block = block_v2(2, &[wanted], 0);
    let mut file = header_v2(2, &[continuation(1000, block.len(), WIDE, WIDE)]);
    file.resize(1000, 0);
    file.extend(block);
    assert_eq!(find(&file, WIDE).unwrap(), Some(references));
}

#[test]
fn scalars_have_one_string_and_null_dataspaces_none() {
    let one = reference(3, 0x80, 1, WIDE);
    for (space, expected) in [([2, 0, 0, 0], &one[..]), ([2, 0, 0, 2], &[])] {
        let found = in_header(attribute(3, "name", [&strings(16), &space], &one)).unwrap();
        assert_eq!(found.as_deref(), Some(expected));
    }
}

#[test]
fn what_is_not_there_or_of_another_type_is_left_to_others() {
    assert_eq!(in_header((0x0f, 0, vec![0; 8])).unwrap(), None);
    let space = [2, 0, 0, 0];
    let fixed = [&[0x13, 0, 0, 0][..], &16u32.to_le_bytes()].concat();
    let mut sequence = strings(16);
    sequence[1] = 0;
    for datatype in [fixed, sequence, strings(12), vec![0x19]] {
        let message = attribute(3, "name", [&datatype, &space], &[0; 16]);
        assert_eq!(in_header(message).unwrap(), None);
    }
}

#[test]
fn shared_parts_are_unsupported() {
    let (mut whole, _) = two_strings(3, WIDE);
    whole.1 = 0b10;
    assert!(matches!(in_header(whole), Err(OndiskError::Unsupported { .. })));
    for flags in [1, 2] {
        let (mut part, _) = two_strings(3, WIDE);
        part.2[1] = flags;
        assert!(matches!(in_header(part), Err(OndiskError::Unsupported { .. })));
    }
}

#[test]
fn damaged_attributes_give_their_error() {
    let error = |message| in_header(message).unwrap_err();
    let (mut version, _) = two_strings(3, WIDE);
    version.2[0] = 4;
    assert!(matches!(error(version), OndiskError::Version { found: 4, .. }));
    let (sound, _) = two_strings(3, WIDE);
    for cut in [1, 8, 12, 30, sound.2.len() - 1] {
        let message = (sound.0, sound.1, sound.2[..cut].to_vec());
        assert!(matches!(error(message), OndiskError::Truncated { .. }), "{cut}");
    }
    let many = dataspace(&[u64::MAX, u64::MAX], WIDE).2;
    let message = attribute(3, "name", [&strings(16), &many], &[0; 16]);
    assert!(matches!(error(message), OndiskError::Truncated { .. }));
    let undefined = reference(3, u64::MAX, 1, WIDE);
    let message = attribute(3, "name", [&strings(16), &[2, 0, 0, 0]], &undefined);
    assert!(matches!(error(message), OndiskError::Invalid { .. }));
}

/// An integer or a truth value of one byte.
fn byte(class: u8, name: &str, value: u8) -> MessageImage {
    let datatype = [&[class, 0, 0, 0][..], &1u32.to_le_bytes(), &[0, 0, 8, 0]].concat();
    attribute(3, name, [&datatype, &[2, 0, 0, 0]], &[value])
}

#[test]
fn several_attributes_are_found_in_one_look() {
    let (strings, references) = two_strings(3, WIDE);
    let header = header_v2(2, &[byte(0x10, "number", 7), strings, byte(0x18, "truth", 1)]);
    let names = ["truth", "name", "missing", "number"];
    let found = stored_attributes(&&header[..], &superblock(WIDE), 0, names).unwrap();
    let [Some(truth), Some(name), None, Some(number)] = found else { panic!("{found:?}") };
    assert_eq!(truth.integers().unwrap(), Some(&[1][..]));
    assert_eq!(number.integers().unwrap(), Some(&[7][..]));
    assert_eq!(number.string_references().unwrap(), None);
    assert_eq!(name.string_references().unwrap(), Some(references));
    assert_eq!(name.integers().unwrap(), None);
}

#[test]
fn attributes_of_other_names_are_seen_in_the_header_and_elsewhere() {
    let others = |messages: &[MessageImage]| {
        let header = header_v2(2, messages);
        has_other_attributes(&&header[..], &superblock(WIDE), 0, &["a", "b"])
    };
    let known = [byte(0x10, "a", 1), byte(0x10, "b", 2)];
    assert!(!others(&known).unwrap());
    assert!(others(&[&known[..], &[byte(0x10, "ab", 3)]].concat()).unwrap());
    // Without and with the largest creation order.
    for (flags, order) in [(0, &[][..]), (1, &[9, 0][..])] {
        for (heap, expected) in [(u64::MAX, false), (0x800, true)] {
            let body = [&[0, flags][..], order, &heap.to_le_bytes(), &[0xff; 8]].concat();
            let info = (0x15, 0, body);
            let found = others(&[&known[..], &[info]].concat());
            assert_eq!(found.unwrap(), expected, "{flags} {heap:#x}");
        }
    }
    let newer = others(&[(0x15, 0, vec![1; 18])]);
    assert!(matches!(newer, Err(OndiskError::Version { found: 1, .. })));
    let shared = others(&[(0x15, 0b10, vec![0; 18])]);
    assert!(matches!(shared, Err(OndiskError::Unsupported { .. })));
}
