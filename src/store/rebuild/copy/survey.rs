//! Which raw chunks the surviving versions use, and how much of each.

use std::collections::HashMap;
use std::sync::Arc;

use rayon::prelude::*;

use super::super::super::dataset::Dataset;
use super::super::super::digest::Trimmed;
use super::super::super::error::{DatasetFault, Error};
use super::super::carry::Context;
use super::super::kept::Kept;
use super::super::uses::{Source, Use};
use crate::chunk_map::ChunkMap;
use crate::dims::{RawChunk, unravel};

/// Maps that are decoded together, and chunks of a grid from which on a map is decoded alone.
const TOGETHER: usize = 32;
const LARGE_GRID: u64 = 1 << 17;

/// What the surviving versions use of a `raw_data`.
#[derive(Debug)]
pub(super) struct Survey {
    pub(super) kept: Kept,
    /// The raw chunks of the current version, in the order in which it has them.
    current: Vec<RawChunk>,
    /// Of raw chunks that stand at an edge: how much of each axis some version has inside its bounds.
    edges: HashMap<RawChunk, Box<[u64]>>,
    /// Raw chunks that some version has inside its bounds as a whole.
    whole: Kept,
}

impl Survey {
    /// Looks at the maps of all versions.
    pub(super) fn make(context: &Context<'_>, source: &Source) -> Result<Self, Error> {
        let mut survey = Self {
            kept: Kept::default(),
            current: Vec::new(),
            edges: HashMap::new(),
            whole: Kept::default(),
        };
        let mut rest = source.uses.as_slice();
        while let Some((first, _)) = rest.split_first() {
            let is_large = context.open(first)?.chunk_count() > LARGE_GRID;
            let (group, later) = rest.split_at(if is_large { 1 } else { TOGETHER.min(rest.len()) });
            rest = later;
            // Each map would lock the file by itself.
            let _entered = context.file.inner.enter()?;
            let decode = |one: &Use| -> Result<(Dataset, Arc<ChunkMap>), Error> {
                let dataset = context.open(one)?;
                if one.keeps_map {
                    dataset.inner.whole_map().map_err(dataset.inner.error())?;
                }
                let map = dataset.inner.map_once().map_err(dataset.inner.error())?;
                Ok((dataset, map))
            };
            let maps: Vec<_> = context.threads().install(|| group.par_iter().map(decode).collect());
            for (one, decoded) in group.iter().zip(maps) {
                let (dataset, map) = decoded?;
                let is_current = context.current == Some(one.version);
                let added = survey.add(&dataset, &map, is_current);
                added.map_err(|fault| context.error(source, fault))?;
            }
        }
        survey.kept = survey.kept.number();
        survey.whole = survey.whole.number();
        Ok(survey)
    }

    fn add(
        &mut self,
        dataset: &Dataset,
        map: &ChunkMap,
        is_current: bool,
    ) -> Result<(), DatasetFault> {
        let (shape, chunk_shape) = (dataset.shape(), dataset.chunk_shape());
        let (grid, no_memory) = (dataset.chunk_grid(), || DatasetFault::Memory { bytes: u64::MAX });
        let is_cut = shape.iter().zip(chunk_shape).any(|(&axis, &edge)| axis % edge.max(1) != 0);
        for (chunk, raw) in map.iter() {
            let is_new = self.kept.insert(raw).ok_or_else(no_memory)?;
            if is_current {
                self.current.push(raw);
            }
            if !is_new && !is_cut && self.edges.is_empty() {
                // All that was seen is whole.
                continue;
            }
            let trimmed =
                is_cut.then(|| Trimmed::new(&unravel(chunk.0, grid), shape, chunk_shape).shape);
            match trimmed.filter(|trimmed| trimmed.as_slice() != chunk_shape) {
                None => {
                    self.whole.insert(raw).ok_or_else(no_memory)?;
                }
                Some(trimmed) => {
                    let most = self.edges.entry(raw).or_insert_with(|| trimmed.as_slice().into());
                    most.iter_mut().zip(&trimmed).for_each(|(most, &axis)| *most = axis.max(*most));
                }
            }
        }
        Ok(())
    }

    /// How much of a raw chunk is inside the bounds of some version, if that is not all of it.
    pub(super) fn edge(&self, raw: RawChunk) -> Option<&[u64]> {
        self.edges.get(&raw).filter(|_| self.whole.new_number(raw).is_none()).map(|edge| &**edge)
    }

    /// What of a raw chunk is inside the bounds of some version.
    pub(super) fn inside(&self, raw: RawChunk, chunk_shape: &[u64]) -> Trimmed {
        Trimmed::first(self.edge(raw).unwrap_or(chunk_shape), chunk_shape)
    }

    /// All raw chunks that are kept, in the order in which they are to lie in the file.
    pub(super) fn in_order(&self) -> impl Iterator<Item = RawChunk> + '_ {
        let mut seen = Kept::default();
        let all = self.current.iter().copied().chain(self.kept.iter());
        all.filter(move |&raw| seen.insert(raw) == Some(true))
    }
}
