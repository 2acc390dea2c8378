//! Lists made from the stored chunk behind each chunk.

use super::*;
use crate::dims::{ChunkIndex, RawChunk, chunk_grid, unravel};

fn list(
    (shape, chunk_shape): (&[u64], &[u64]),
    raw_data: &str,
    map: &[(u64, u64)],
) -> Result<Vec<u8>, VdsBlockError> {
    let map = map.iter().map(|&(chunk, raw)| (ChunkIndex(chunk), RawChunk(raw)));
    encode_list(ChunkSources { shape, chunk_shape, raw_data }, map, WIDE)
}

/// What the mappings of these chunks must be, from the definition alone.
fn expected(
    (shape, chunk_shape): (&[u64], &[u64]),
    raw_data: &str,
    map: &[(u64, u64)],
) -> Vec<FoundMapping> {
    let grid = chunk_grid(shape, chunk_shape).unwrap();
    let with_index = map.iter().zip(0..);
    with_index
        .map(|(&(chunk, raw), index)| {
            let coordinate = unravel(chunk, &grid);
            let start: Dims =
                coordinate.iter().zip(chunk_shape).map(|(at, edge)| at * edge).collect();
            let sizes = shape.iter().zip(chunk_shape).zip(&start);
            let extent: Vec<_> =
                sizes.map(|((size, &edge), start)| edge.min(size - start)).collect();
            let mut source = vec![0; shape.len()];
            source[0] = raw * chunk_shape[0];
            mapping(index, (".", raw_data), (&source, &start), &extent)
        })
        .collect()
}

#[test]
fn edge_chunks_are_cut_off() {
    let map = [(0, 4), (3, 1), (5, 0)];
    let bytes = list((&[25, 7], &[10, 4]), "/raw", &map).unwrap();
    let mappings = [
        mapping(0, (".", "/raw"), (&[40, 0], &[0, 0]), &[10, 4]),
        mapping(1, (".", "/raw"), (&[10, 0], &[10, 4]), &[10, 3]),
        mapping(2, (".", "/raw"), (&[0, 0], &[20, 4]), &[5, 3]),
    ];
    assert_eq!(decode(&bytes, 2).unwrap(), mappings);
    assert_eq!(bytes, encode(&mappings));
    check_list(&bytes).unwrap();
}

#[test]
fn a_map_that_tells_its_length_wrong_gives_the_same_list() {
    let pairs: Vec<_> = (0..7).map(|chunk| (ChunkIndex(chunk), RawChunk(2 * chunk))).collect();
    let sources = ChunkSources { shape: &[70], chunk_shape: &[10], raw_data: "/raw" };
    let known = encode_list(sources, pairs.iter().copied(), WIDE).unwrap();
    let unknown = encode_list(sources, pairs.into_iter().filter(|_| true), WIDE).unwrap();
    assert_eq!(known, unknown);
}

#[test]
fn what_is_no_map_of_the_grid_is_refused() {
    let error = |shapes, name, map| format!("{:?}", list(shapes, name, map).unwrap_err());
    assert_eq!(
        error((&[25], &[10]), "d", &[(0, 0), (3, 0)]),
        "Entry { entry: 1, fault: Selection { field: \"chunk\", value: 3 } }"
    );
    assert_eq!(
        error((&[0, 5], &[1, 1]), "d", &[(0, 0)]),
        "Entry { entry: 0, fault: Selection { field: \"chunk\", value: 0 } }"
    );
    assert_eq!(
        error((&[25], &[10]), "d", &[(0, u64::MAX / 5)]),
        "Entry { entry: 0, fault: Selection { field: \"stored chunk\", value: 3689348814741910323 } }"
    );
    assert_eq!(error((&[25], &[0]), "d", &[]), "Dims(EmptyChunkAxis { axis: 0 })");
    assert_eq!(error((&[25], &[1, 1]), "d", &[]), "Dims(RankMismatch { expected: 1, found: 2 })");
    assert_eq!(error((&[], &[]), "d", &[]), "Entry { entry: 0, fault: Unsupported(Rank) }");
    assert_eq!(error((&[25], &[10]), "a\0", &[]), "Entry { entry: 0, fault: NameFormat }");
}

#[test]
fn a_list_that_was_changed_is_told() {
    let bytes = list((&[25], &[10]), "/raw", &[(0, 0), (1, 1)]).unwrap();
    check_list(&bytes).unwrap();
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 4;
        assert!(matches!(check_list(&damaged), Err(VdsBlockError::Checksum { .. })));
    }
    assert!(matches!(check_list(&bytes[..3]), Err(VdsBlockError::TooShort { len: 3 })));
}

/// Shapes of this rank with a map of some chunks in any order; narrow and wide positions.
fn any_map(rank: usize) -> impl Strategy<Value = (Vec<u64>, Vec<u64>, Vec<(u64, u64)>)> {
    // Of many axes only few have several chunks: the grid must stay countable.
    let axis = if rank > 8 { (1u64..3).boxed() } else { (1u64..30).boxed() };
    let edge = prop_oneof![3 => 1u64..9, 1 => (1u64 << 29)..(1 << 32)];
    let axes = prop::collection::vec((axis, edge), rank);
    let picks = prop::collection::vec((any::<u64>(), 0u64..1000), 0..60);
    (axes, picks, any::<bool>()).prop_map(|(axes, picks, sorted)| {
        let edges: Vec<u64> = axes.iter().map(|axis| axis.1).collect();
        let shape: Vec<u64> = axes
            .iter()
            .map(|&(chunks, edge)| (chunks * edge).saturating_sub(edge / 3).max(1))
            .collect();
        let count: u64 = chunk_grid(&shape, &edges).unwrap().iter().product();
        let mut map: Vec<_> = picks
            .into_iter()
            .zip(0u64..)
            // Neighbours, and jumps.
            .map(|((pick, raw), at)| (if pick % 3 == 0 { pick % count } else { at % count }, raw))
            .collect();
        if sorted {
            map.sort_unstable();
        }
        (shape, edges, map)
    })
}

proptest! {
    #[test]
    fn lists_of_chunks_are_what_the_grid_says(
        (shape, edges, map) in prop_oneof![1usize..=8, Just(32)].prop_flat_map(any_map),
        raw_data in prop::sample::select(vec!["/_version_data/a/raw_data", "/50%/raw_data", "%b"]),
    ) {
        let bytes = list((&shape, &edges), raw_data, &map).unwrap();
        let expected = expected((&shape, &edges), raw_data, &map);
        prop_assert_eq!(decode(&bytes, shape.len()).unwrap(), expected);
    }
}
