//! Data layout and dataspace messages (specification IV.A.2.i and IV.A.2.b).

use super::{ChunkBTree, Cursor, FieldWidth, GlobalHeapId, OndiskError, Structure, Superblock};
use crate::dims::{Dims, MAX_RANK, PerAxis};

/// How a dataset's elements are stored.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "one a dataset, never stored in bulk")]
pub enum Layout {
    /// In the object header itself.
    Compact,
    /// In one piece.
    Contiguous {
        /// Address relative to the base address; `None` while nothing is allocated.
        address: Option<u64>,
    },
    /// In chunks of one shape.
    Chunked {
        /// The shape of a chunk in elements.
        chunk_shape: Dims,
        /// The index of the chunks; `None` if it is of a kind that is not decoded here.
        index: Option<ChunkBTree>,
    },
    /// In other datasets.
    Virtual {
        /// The heap object with the list of mappings; `None` if there are no mappings.
        mappings: Option<GlobalHeapId>,
    },
}

/// The extent of a dataset.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "one a dataset, never stored in bulk")]
pub enum Dataspace {
    /// No element.
    Null,
    /// One element, no axis.
    Scalar,
    /// An array of rank 1 or more.
    Simple {
        /// The shape in elements.
        shape: Dims,
        /// How far each axis can grow, `None` for an unlimited one. Without stored limits this is the shape.
        max_shape: PerAxis<Option<u64>>,
    },
}

/// Layout classes.
const COMPACT: u8 = 0;
const CONTIGUOUS: u8 = 1;
const CHUNKED: u8 = 2;
const VIRTUAL: u8 = 3;

/// Decodes a layout message, versions 1 to 5.
pub(super) fn decode_layout(
    body: &[u8],
    address: u64,
    superblock: &Superblock,
) -> Result<Layout, OndiskError> {
    let mut cursor = Cursor::new(body, Structure::Layout, address);
    let version = cursor.u8()?;
    match version {
        1 | 2 => decode_old_layout(&mut cursor, superblock),
        3..=5 => decode_new_layout(&mut cursor, version, superblock),
        found => Err(OndiskError::Version { structure: Structure::Layout, address, found }),
    }
}

fn decode_old_layout(
    cursor: &mut Cursor<'_>,
    superblock: &Superblock,
) -> Result<Layout, OndiskError> {
    let dimensions = cursor.u8()?;
    let class_address = cursor.address();
    let class = cursor.u8()?;
    cursor.take(5)?;
    match class {
        COMPACT => Ok(Layout::Compact),
        CONTIGUOUS => {
            Ok(Layout::Contiguous { address: cursor.relative_address(superblock.offset_size)? })
        }
        CHUNKED => {
            let root = cursor.relative_address(superblock.offset_size)?;
            let chunk_shape = decode_chunk_shape(cursor, dimensions, 4)?;
            let index = Some(ChunkBTree::new(*superblock, root, &chunk_shape));
            Ok(Layout::Chunked { chunk_shape, index })
        }
        _ => Err(unknown_class(class, class_address)),
    }
}

fn decode_new_layout(
    cursor: &mut Cursor<'_>,
    version: u8,
    superblock: &Superblock,
) -> Result<Layout, OndiskError> {
    let class_address = cursor.address();
    let class = cursor.u8()?;
    match class {
        COMPACT => Ok(Layout::Compact),
        CONTIGUOUS => {
            Ok(Layout::Contiguous { address: cursor.relative_address(superblock.offset_size)? })
        }
        CHUNKED if version == 3 => {
            let dimensions = cursor.u8()?;
            let root = cursor.relative_address(superblock.offset_size)?;
            let chunk_shape = decode_chunk_shape(cursor, dimensions, 4)?;
            let index = Some(ChunkBTree::new(*superblock, root, &chunk_shape));
            Ok(Layout::Chunked { chunk_shape, index })
        }
        CHUNKED => {
            let _flags = cursor.u8()?;
            let dimensions = cursor.u8()?;
            let width = cursor.u8()?;
            let chunk_shape = decode_chunk_shape(cursor, dimensions, width)?;
            Ok(Layout::Chunked { chunk_shape, index: None })
        }
        VIRTUAL if version >= 4 => {
            let collection = cursor.relative_address(superblock.offset_size)?;
            let index = cursor.u32()?;
            let mappings = collection.map(|collection| GlobalHeapId { collection, index });
            Ok(Layout::Virtual { mappings })
        }
        _ => Err(unknown_class(class, class_address)),
    }
}

/// The stored dimensions of a chunk are its shape and, last, the size of an element.
fn decode_chunk_shape(
    cursor: &mut Cursor<'_>,
    dimensions: u8,
    width: u8,
) -> Result<Dims, OndiskError> {
    let invalid = |address, field, value| OndiskError::Invalid {
        structure: Structure::Layout,
        address,
        field,
        value,
    };
    let count = usize::from(dimensions);
    if !(2..=MAX_RANK + 1).contains(&count) {
        return Err(invalid(cursor.address(), "number of chunk dimensions", dimensions.into()));
    }
    let width = match width {
        1..=8 => usize::from(width),
        _ => return Err(invalid(cursor.address(), "width of a chunk dimension", width.into())),
    };
    let mut chunk_shape = Dims::new();
    for _ in 1..count {
        let address = cursor.address();
        let mut bytes = [0; 8];
        bytes[..width].copy_from_slice(cursor.take(width)?);
        match u64::from_le_bytes(bytes) {
            0 => return Err(invalid(address, "chunk dimension", 0)),
            length => chunk_shape.push(length),
        }
    }
    Ok(chunk_shape)
}

fn unknown_class(class: u8, address: u64) -> OndiskError {
    OndiskError::Invalid {
        structure: Structure::Layout,
        address,
        field: "layout class",
        value: class.into(),
    }
}

/// Bit of the dataspace flags: limits are stored behind the shape.
const HAS_MAX_SHAPE: u8 = 0b1;

/// Decodes a dataspace message, version 1 or 2.
pub(super) fn decode_dataspace(
    body: &[u8],
    address: u64,
    length_size: FieldWidth,
) -> Result<Dataspace, OndiskError> {
    let structure = Structure::Dataspace;
    let invalid = |field, value| OndiskError::Invalid { structure, address, field, value };
    let mut cursor = Cursor::new(body, structure, address);
    let version = cursor.u8()?;
    let rank = cursor.u8()?;
    let flags = cursor.u8()?;
    let kind = cursor.u8()?;
    let rank_count = usize::from(rank);
    if rank_count > MAX_RANK {
        return Err(invalid("rank", rank.into()));
    }
    match (version, kind, rank) {
        (1, _, 0) | (2, 0, 0) => return Ok(Dataspace::Scalar),
        // The fourth byte and four more are reserved.
        (1, _, _) => cursor.take(4).map(|_| ())?,
        (2, 1, 1..) => {}
        (2, 2, 0) => return Ok(Dataspace::Null),
        (2, 0..=2, _) => return Err(invalid("rank", rank.into())),
        (2, _, _) => return Err(invalid("dataspace type", kind.into())),
        (found, _, _) => return Err(OndiskError::Version { structure, address, found }),
    }
    let mut shape = Dims::new();
    for _ in 0..rank_count {
        shape.push(cursor.field(length_size)?);
    }
    if flags & HAS_MAX_SHAPE == 0 {
        let max_shape = shape.iter().copied().map(Some).collect();
        return Ok(Dataspace::Simple { shape, max_shape });
    }
    let mut max_shape = PerAxis::new();
    for &length in &shape {
        let limit = cursor.field(length_size)?;
        if length > limit {
            return Err(invalid("maximum shape", limit));
        }
        max_shape.push((limit != length_size.all_ones()).then_some(limit));
    }
    Ok(Dataspace::Simple { shape, max_shape })
}

#[cfg(test)]
mod tests {
    use super::super::test_image::{dataspace, field, virtual_layout};
    use super::*;

    const WIDTHS: [FieldWidth; 3] = [FieldWidth::Two, FieldWidth::Four, FieldWidth::Eight];

    fn superblock(offset_size: FieldWidth) -> Superblock {
        Superblock { version: 0, base_address: 0, offset_size, length_size: FieldWidth::Eight }
    }

    fn layout(body: &[u8]) -> Result<Layout, OndiskError> {
        decode_layout(body, 1000, &superblock(FieldWidth::Eight))
    }

    #[test]
    fn virtual_layouts_name_their_heap_object() {
        for width in WIDTHS {
            for version in [4, 5] {
                let mut body = virtual_layout(0x1234, 7, width).2;
                body[0] = version;
                let id = GlobalHeapId { collection: 0x1234, index: 7 };
                let decoded = decode_layout(&body, 0, &superblock(width)).unwrap();
                assert_eq!(decoded, Layout::Virtual { mappings: Some(id) });
            }
            let body = virtual_layout(width.all_ones(), 0, width).2;
            let decoded = decode_layout(&body, 0, &superblock(width)).unwrap();
            assert_eq!(decoded, Layout::Virtual { mappings: None });
        }
    }

    #[test]
    fn other_layouts_of_all_versions_are_told_apart() {
        let address = 0x4000u64.to_le_bytes();
        let undefined = [0xff; 8];
        let dims = |dims: &[u32]| dims.iter().flat_map(|dim| dim.to_le_bytes()).collect::<Vec<_>>();
        let chunked =
            |shape: &[u64], index| Layout::Chunked { chunk_shape: Dims::from_slice(shape), index };
        let tree = |shape: &[u64]| {
            Some(ChunkBTree::new(superblock(FieldWidth::Eight), Some(0x4000), shape))
        };
        let cases: &[(&[&[u8]], Layout)] = &[
            (&[&[1, 2, 0, 0, 0, 0, 0, 0]], Layout::Compact),
            (
                &[&[2, 2, 1, 0, 0, 0, 0, 0], &address, &dims(&[5, 8])],
                Layout::Contiguous { address: Some(0x4000) },
            ),
            (
                &[&[1, 3, 2, 0, 0, 0, 0, 0], &address, &dims(&[5, 6, 8])],
                chunked(&[5, 6], tree(&[5, 6])),
            ),
            (&[&[3, 0, 2, 0, 1, 2]], Layout::Compact),
            (&[&[3, 1], &undefined, &[0; 8]], Layout::Contiguous { address: None }),
            (&[&[3, 2, 2], &address, &dims(&[900, 4])], chunked(&[900], tree(&[900]))),
            (&[&[4, 2, 0, 3, 2, 0, 1, 3, 0, 8, 0, 4, 10], &address], chunked(&[256, 3], None)),
        ];
        for (parts, expected) in cases {
            let body = parts.concat();
            assert_eq!(layout(&body).unwrap(), *expected);
            let cut = if *expected == Layout::Compact { 1 } else { 8 };
            assert!(matches!(layout(&body[..cut]), Err(OndiskError::Truncated { .. })));
        }
    }

    #[test]
    fn broken_layouts_give_their_error() {
        let cases: &[(&[u8], &str)] = &[
            (&[6, 0], "Version { structure: Layout, address: 1000, found: 6 }"),
            (&[], "Truncated { structure: Layout, address: 1000, needed: 1, available: 0 }"),
            (
                &[4, 4],
                "Invalid { structure: Layout, address: 1001, field: \"layout class\", value: 4 }",
            ),
            // Virtual layouts came with version 4.
            (
                &[3, 3],
                "Invalid { structure: Layout, address: 1001, field: \"layout class\", value: 3 }",
            ),
            (
                &[4, 2, 0, 34, 1],
                "Invalid { structure: Layout, address: 1005, field: \"number of chunk dimensions\", value: 34 }",
            ),
            (
                &[4, 2, 0, 2, 9],
                "Invalid { structure: Layout, address: 1005, field: \"width of a chunk dimension\", value: 9 }",
            ),
            (
                &[4, 2, 0, 2, 1, 0],
                "Invalid { structure: Layout, address: 1005, field: \"chunk dimension\", value: 0 }",
            ),
            (
                &[4, 3, 1, 2, 3],
                "Truncated { structure: Layout, address: 1002, needed: 8, available: 3 }",
            ),
        ];
        for (body, expected) in cases {
            assert_eq!(format!("{:?}", layout(body).unwrap_err()), *expected);
        }
    }

    #[test]
    fn dataspaces_of_both_versions_and_all_kinds_are_told_apart() {
        for width in WIDTHS {
            let decode = |body: &[u8]| decode_dataspace(body, 0, width).unwrap();
            let simple = |shape: &[u64], max_shape: &[Option<u64>]| Dataspace::Simple {
                shape: Dims::from_slice(shape),
                max_shape: PerAxis::from_slice(max_shape),
            };
            assert_eq!(decode(&[1, 0, 0, 0, 0, 0, 0, 0]), Dataspace::Scalar);
            assert_eq!(decode(&[2, 0, 0, 0]), Dataspace::Scalar);
            assert_eq!(decode(&[2, 0, 0, 2]), Dataspace::Null);
            assert_eq!(decode(&dataspace(&[3, 0], width).2), simple(&[3, 0], &[Some(3), Some(0)]));

            let unlimited = width.all_ones();
            let fields = [3, 5, unlimited, 9].map(|value| field(value, width)).concat();
            let limits = simple(&[3, 5], &[None, Some(9)]);
            assert_eq!(decode(&[&[1, 2, 1, 0, 0, 0, 0, 0], &fields[..]].concat()), limits);
            assert_eq!(decode(&[&[2, 2, 1, 1], &fields[..]].concat()), limits);
        }
    }

    #[test]
    fn broken_dataspaces_give_their_error() {
        let cases: &[(&[u8], &str)] = &[
            (&[3, 0, 0, 0], "Version { structure: Dataspace, address: 1000, found: 3 }"),
            (
                &[1, 33, 0, 0, 0, 0, 0, 0],
                "Invalid { structure: Dataspace, address: 1000, field: \"rank\", value: 33 }",
            ),
            (
                &[2, 1, 0, 0],
                "Invalid { structure: Dataspace, address: 1000, field: \"rank\", value: 1 }",
            ),
            (
                &[2, 1, 0, 3],
                "Invalid { structure: Dataspace, address: 1000, field: \"dataspace type\", value: 3 }",
            ),
            (
                &[2, 1, 1, 1, 5, 0, 4, 0],
                "Invalid { structure: Dataspace, address: 1000, field: \"maximum shape\", value: 4 }",
            ),
            (
                &[2, 2, 0, 1, 5, 0],
                "Truncated { structure: Dataspace, address: 1006, needed: 2, available: 0 }",
            ),
        ];
        for (body, expected) in cases {
            let error = decode_dataspace(body, 1000, FieldWidth::Two).unwrap_err();
            assert_eq!(format!("{error:?}"), *expected);
        }
    }
}
