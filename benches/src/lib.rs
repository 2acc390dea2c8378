//! Workloads shared by the benchmarks of h5strata: what is planned or encoded, and what must come out.

use h5strata::Selection;
use h5strata::chunk_map::vds_block::ChunkSources;
use h5strata::dims::{ChunkIndex, RawChunk};
use h5strata::selection::AxisSelection;

/// One selection of a chunked dataset, with the expected size of its plan.
#[derive(Clone, Debug)]
pub struct PlanWorkload {
    /// Its name in reports.
    pub name: &'static str,
    /// Shape of the dataset in elements.
    pub shape: Vec<u64>,
    /// Shape of a chunk in elements.
    pub chunk_shape: Vec<u64>,
    /// What is selected.
    pub selection: Selection,
    /// Chunks that hold a selected element.
    pub transfers: u64,
    /// Selected elements.
    pub elements: u64,
}

/// Indices of the random workload: a fixed linear congruential sequence, the same on every machine.
fn random_indices(count: usize, size: u64) -> Vec<i64> {
    let mut state = 12_345_u64;
    let next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        i64::try_from((state >> 33) % size).unwrap_or(0)
    };
    std::iter::repeat_with(next).take(count).collect()
}

/// The workload of this name; the empty selection of an empty dataset if there is none.
#[must_use]
pub fn plan_workload(name: &str) -> PlanWorkload {
    plan_workloads().into_iter().find(|workload| workload.name == name).unwrap_or(PlanWorkload {
        name: "none",
        shape: vec![0],
        chunk_shape: vec![1],
        selection: Selection::all(),
        transfers: 0,
        elements: 0,
    })
}

/// Every workload: the selections of rows R1, R3 and R4, single elements of 1 to 3 axes, random indices.
#[must_use]
pub fn plan_workloads() -> Vec<PlanWorkload> {
    let one_axis = (&[10_000_000][..], &[1000][..]);
    let two_axes = (&[4000, 4000][..], &[100, 100][..]);
    let three_axes = (&[3, 74, 3944][..], &[900, 3, 3][..]);
    let strided = [
        ("r1_full", three_axes, "...", 32_875, 875_568),
        ("r3_full", one_axis, ":", 10_000, 10_000_000),
        ("r3_step_7", one_axis, "::7", 10_000, 1_428_572),
        ("r3_reversed", one_axis, "::-1", 10_000, 10_000_000),
        ("r3_inside_one_chunk", one_axis, "5000100:5000900", 1, 800),
        ("r4_full", two_axes, "...", 1600, 16_000_000),
        ("r4_block", two_axes, "1730:2230, 930:1430", 36, 250_000),
        ("r4_row", two_axes, "1234", 40, 4000),
        ("r4_column", two_axes, ":, 1234", 40, 4000),
        ("element_of_1_axis", one_axis, "7654321", 1, 1),
        ("element_of_2_axes", two_axes, "1234, 2345", 1, 1),
        ("element_of_3_axes", three_axes, "2, 34, 1234", 1, 1),
    ]
    .into_iter()
    .filter_map(|(name, (shape, chunk_shape), selection, transfers, elements)| {
        Some(PlanWorkload {
            name,
            shape: shape.to_vec(),
            chunk_shape: chunk_shape.to_vec(),
            selection: selection.parse().ok()?,
            transfers,
            elements,
        })
    });
    let picks = |name, axis, transfers, elements| PlanWorkload {
        name,
        shape: one_axis.0.to_vec(),
        chunk_shape: one_axis.1.to_vec(),
        selection: Selection::axes([axis]),
        transfers,
        elements,
    };
    let random = |count| AxisSelection::Indices(random_indices(count, 10_000_000));
    let half = AxisSelection::Mask((0..10_000_000).map(|index| index % 4 < 2).collect());
    strided
        .chain([
            picks("r3_1e4_random", random(10_000), 6336, 10_000),
            picks("r3_1e5_random", random(100_000), 9999, 100_000),
            picks("r3_mask_of_half", half, 10_000, 5_000_000),
        ])
        .collect()
}

/// A chunk of a version's dataset and the stored chunk behind it.
pub type MappedChunk = (ChunkIndex, RawChunk);

/// The stored chunks of one version's dataset, of which the list of mappings is made.
#[derive(Clone, Debug)]
pub struct ListWorkload {
    /// Its name in reports.
    pub name: &'static str,
    /// Shape of the dataset in elements.
    pub shape: &'static [u64],
    /// Shape of a chunk in elements.
    pub chunk_shape: &'static [u64],
    /// Every chunk, each stored once, in no order in which it is stored.
    pub map: Vec<MappedChunk>,
    /// Bytes of the list.
    pub bytes: usize,
}

impl ListWorkload {
    /// Where the mappings lead from and to.
    #[must_use]
    pub fn sources(&self) -> ChunkSources<'_> {
        let (shape, chunk_shape) = (self.shape, self.chunk_shape);
        ChunkSources { shape, chunk_shape, raw_data: "/_version_data/equity/close/raw_data" }
    }
}

/// The workload of this name; the empty list of an empty dataset if there is none.
#[must_use]
pub fn list_workload(name: &str) -> ListWorkload {
    list_workloads().into_iter().find(|workload| workload.name == name).unwrap_or(ListWorkload {
        name: "none",
        shape: &[0],
        chunk_shape: &[1],
        map: Vec::new(),
        bytes: 13,
    })
}

/// Lists of about 10,000 mappings of 1 to 3 axes, and one whose source is beyond 32 bits.
#[must_use]
pub fn list_workloads() -> Vec<ListWorkload> {
    let workloads: [(_, &'static [u64], &'static [u64], u64, usize); 4] = [
        ("of_1_axis", &[9_999_500], &[1000], 10_000, 1_030_013),
        ("of_2_axes", &[9_950, 9_950], &[100, 100], 10_000, 1_190_013),
        ("of_3_axes", &[30, 74, 3944], &[9, 3, 10], 39_500, 5_332_513),
        ("beyond_32_bits", &[10_000 << 30], &[1 << 30], 10_000, 1_369_877),
    ];
    let listed = workloads.into_iter().map(|(name, shape, chunk_shape, chunks, bytes)| {
        let stored = (0..chunks).map(|chunk| (ChunkIndex(chunk), RawChunk(chunk * 7 % chunks)));
        ListWorkload { name, shape, chunk_shape, map: stored.collect(), bytes }
    });
    listed.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_have_the_expected_size() {
        use h5strata::chunk_map::vds_block::encode_list;
        use h5strata::ondisk::FieldWidth;
        for workload in list_workloads() {
            let map = workload.map.iter().copied();
            let list = encode_list(workload.sources(), map, FieldWidth::Eight).unwrap();
            assert_eq!(list.len(), workload.bytes, "{}", workload.name);
        }
    }

    #[test]
    fn plans_have_the_expected_size() {
        let arena = bumpalo::Bump::new();
        let workloads = plan_workloads();
        assert_eq!(workloads.len(), 15);
        for workload in &workloads {
            let plan = h5strata::ReadPlan::new(
                &workload.selection,
                &workload.shape,
                &workload.chunk_shape,
                &arena,
            )
            .unwrap();
            let mut transfers = plan.transfers();
            let (mut count, mut elements) = (0, 0);
            while let Some(transfer) = transfers.advance() {
                count += 1;
                elements += transfer.count();
            }
            assert_eq!(
                (count, elements),
                (workload.transfers, workload.elements),
                "{}",
                workload.name
            );
        }
    }
}
