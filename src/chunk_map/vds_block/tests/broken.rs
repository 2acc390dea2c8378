//! Damaged lists, and valid ones that are left to libhdf5.

use super::*;

const UNLIMITED: u64 = u64::MAX;

/// One entry with these bytes instead of its names and selections.
fn one(version: u8, parts: &[&[u8]]) -> String {
    let error = decode(&block(version, &[&parts.concat()]), 1).unwrap_err();
    let VdsBlockError::Entry { entry: 0, fault } = &error else { panic!("{error:?}") };
    let unsupported = matches!(fault, EntryFault::Unsupported(_));
    assert_eq!(error.is_unsupported(), unsupported);
    format!("{fault:?}")
}

/// One entry with this virtual selection.
fn selection(selection: &[u8]) -> String {
    // The name makes room for one entry whatever the selection is.
    let names = b".\0/a/name/of/forty/bytes/and/some/more/bytes\0";
    one(0, &[names, &corners_v1(&[0], &[9]), selection])
}

#[test]
fn valid_selections_that_are_no_plain_block_are_unsupported() {
    let cases: &[(&[u8], UnsupportedMapping)] = &[
        (&words(&[0, 1, 0, 0]), UnsupportedMapping::NoneSelected),
        (&words(&[1, 1, 0, 12, 1, 1, 5]), UnsupportedMapping::PointsSelected),
        (&words(&[3, 1, 0, 0, 0, 0, 0, 0]), UnsupportedMapping::AllSelected),
        (&words(&[2, 1, 0, 24, 1, 2, 0, 4, 6, 9]), UnsupportedMapping::BlockCount),
        (&words(&[2, 1, 0, 8, 1, 0, 0, 0]), UnsupportedMapping::BlockCount),
        (&corners_v3(FieldWidth::Four, 1, &[2, 0, 4, 6, 9]), UnsupportedMapping::BlockCount),
        (&regular_v2(&[[0, 2, 10, 1]]), UnsupportedMapping::Strided),
        (&regular_v3(FieldWidth::Two, &[[0, 6, 2, 5]]), UnsupportedMapping::Strided),
        (&regular_v2(&[[0, 1, UNLIMITED, 1]]), UnsupportedMapping::Unlimited),
        (&regular_v2(&[[0, 1, 1, UNLIMITED]]), UnsupportedMapping::Unlimited),
        (&regular_v3(FieldWidth::Two, &[[0, 1, 0xffff, 1]]), UnsupportedMapping::Unlimited),
        (&regular_v3(FieldWidth::Four, &[[0, 1, 1, 0xffff_ffff]]), UnsupportedMapping::Unlimited),
        (&regular_v2(&[[0, 1, 0, 10]]), UnsupportedMapping::NoneSelected),
        (&regular_v3(FieldWidth::Two, &[[0, 1, 1, 0]]), UnsupportedMapping::NoneSelected),
        (&corners_v1(&[0, 0], &[9, 0]), UnsupportedMapping::Rank),
        (&regular_v2(&[[0, 1, 1, 10], [0, 1, 1, 1]]), UnsupportedMapping::Rank),
        (&corners_v1(&[0], &[8]), UnsupportedMapping::Extents),
        (&regular_v2(&[[0, 1, 11, 1]]), UnsupportedMapping::Extents),
    ];
    for (bytes, why) in cases {
        assert_eq!(selection(bytes), format!("Unsupported({why:?})"));
    }
    let both = [corners_v1(&[0, 0], &[9, 0]), corners_v1(&[0], &[9])].concat();
    assert_eq!(one(0, &[b".\0d\0", &both]), "Unsupported(Rank)");
}

#[test]
fn damaged_selections_give_their_error() {
    let v3 = |flags, width, fields: &[u64]| {
        let mut bytes = version_3(flags, FieldWidth::Two, 1, fields);
        bytes[9] = width;
        bytes
    };
    let cases: &[(&[u8], &str, u64)] = &[
        (&words(&[4, 1, 0, 0, 0]), "type", 4),
        (&words(&[2, 0, 0, 0, 0]), "version", 0),
        (&words(&[2, 4, 0, 0, 0]), "version", 4),
        (&words(&[2, 1, 0, 8, 0, 1, 0, 0]), "rank", 0),
        (&words(&[2, 1, 0, 8, 33, 1, 0, 0]), "rank", 33),
        (&corners_v1(&[5], &[4]), "last element", 4),
        (&corners_v3(FieldWidth::Eight, 1, &[1, 0, u64::MAX]), "last element", u64::MAX),
        (&v3(2, 2, &[0; 4]), "flags", 2),
        (&v3(1, 3, &[0; 4]), "width", 3),
        (&v3(1, 0, &[0; 4]), "width", 0),
        (&regular_v2(&[[0, 4, 2, 5]]), "stride", 4),
        (&regular_v2(&[[0, 0, 10, 1]]), "stride", 0),
        (&regular_v2(&[[0, 1 << 40, 1 << 40, 1 << 40]]), "count", 1 << 40),
        (&regular_v2(&[[u64::MAX - 8, 1, 1, 10]]), "start", u64::MAX - 8),
    ];
    for (bytes, field, value) in cases {
        let expected = format!("Selection {{ field: {field:?}, value: {value} }}");
        assert_eq!(selection(bytes), expected);
    }
    for whole in [corners_v1(&[0], &[9]), regular_v2(&[[0, 1, 1, 10]])] {
        for cut in 0..whole.len() {
            assert!(selection(&whole[..cut]).starts_with("Truncated"));
        }
    }
}

#[test]
fn damaged_and_unsupported_names_give_their_error() {
    let selections = [corners_v1(&[0], &[9]), corners_v1(&[0], &[9])].concat();
    let with = |version, names: &[u8]| one(version, &[names, &selections]);
    assert_eq!(with(0, b"f%b.h5\0d\0"), "Unsupported(NamePattern)");
    assert_eq!(with(0, b".\0d%%%b\0"), "Unsupported(NamePattern)");
    assert_eq!(with(0, b".\0d%d\0"), "NameFormat");
    assert_eq!(with(0, b"%\0d\0"), "NameFormat");
    assert_eq!(with(1, &[8]), "Flags { found: 8 }");
    for origin in [0u64, 1, u64::MAX] {
        let expected = format!("NameReference {{ found: {origin} }}");
        assert_eq!(with(1, &[&[6][..], &origin.to_le_bytes()].concat()), expected);
        assert_eq!(with(1, &[&[1][..], &origin.to_le_bytes()].concat()), expected);
    }
    assert_eq!(one(0, &[&[b'x'; 100]]), "Truncated { needed: 101, available: 100 }");
    assert_eq!(one(0, &[b".\0", &[b'x'; 100]]), "Truncated { needed: 101, available: 100 }");
}

#[test]
fn damaged_blocks_give_their_error() {
    let whole = encode(&[
        mapping(0, (".", "d"), (&[0], &[0]), &[5]),
        mapping(1, (".", "d"), (&[5], &[5]), &[5]),
    ]);
    let resealed = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = whole[..whole.len() - 4].to_vec();
        change(&mut bytes);
        format!("{:?}", decode(&sealed(bytes), 1).unwrap_err())
    };
    assert_eq!(resealed(&|bytes| bytes[0] = 2), "Version { found: 2 }");
    assert_eq!(resealed(&|bytes| bytes[1] = 4), "EntryCount { entries: 4, len: 149 }");
    assert_eq!(
        resealed(&|bytes| bytes[8] = 0xff),
        format!("EntryCount {{ entries: {}, len: 149 }}", 2 | (0xff_u64 << 56))
    );
    assert_eq!(
        resealed(&|bytes| bytes[1] = 3),
        "Entry { entry: 2, fault: Truncated { needed: 1, available: 0 } }"
    );
    assert_eq!(resealed(&|bytes| bytes[1] = 1), "TrailingBytes { offset: 77, left: 68 }");
    assert_eq!(resealed(&|bytes| bytes.push(0)), "TrailingBytes { offset: 145, left: 1 }");
    for len in 0..13 {
        let error = decode(&whole[..len], 1).unwrap_err();
        assert!(matches!(error, VdsBlockError::TooShort { len: found } if found == len as u64));
    }
}

#[test]
fn a_wrong_checksum_is_reported_before_any_other_fault() {
    let whole = encode(&[mapping(0, (".", "d"), (&[0], &[0]), &[5])]);
    let (covered, stored) = whole.split_last_chunk::<4>().unwrap();
    // Behind the header, every flip is found out by the checksum alone or by both.
    for at in 9..whole.len() {
        let mut broken = whole.clone();
        broken[at] ^= 0x10;
        let error = decode(&broken, 1).unwrap_err();
        assert!(matches!(error, VdsBlockError::Checksum { .. }), "{at}: {error:?}");
    }
    let mut flipped = covered.to_vec();
    flipped[20] ^= 1;
    flipped.extend(stored);
    let refuse = |_: Mapping<'_>| Err(VdsBlockError::Version { found: 77 });
    let error = decode_mappings(&flipped, WIDE, 1, refuse).unwrap_err();
    assert!(matches!(error, VdsBlockError::Checksum { .. }));
    let error = decode_mappings(&whole, WIDE, 1, refuse).unwrap_err();
    assert!(matches!(error, VdsBlockError::Version { found: 77 }));
}

#[test]
fn ranks_beyond_the_limit_are_refused() {
    let whole = encode(&[mapping(0, (".", "d"), (&[0], &[0]), &[5])]);
    for rank in [0, 2, 33, usize::MAX] {
        let error = decode(&whole, rank).unwrap_err();
        let VdsBlockError::Entry { fault, .. } = error else { panic!("{error:?}") };
        assert_eq!(fault, EntryFault::Unsupported(UnsupportedMapping::Rank));
    }
}
