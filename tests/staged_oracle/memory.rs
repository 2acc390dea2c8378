//! Staged arrays over a base of any kind, of which chunks, padding and states can be seen.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::ops::ControlFlow;
use std::sync::Arc;

use h5strata::Selection;
use h5strata::dims::{ChunkIndex, ravel, unravel};
use h5strata::staged::{
    Base, BaseChunk, ChunkState, MemoryBase, MemoryBaseError, StagedArray, StagedError,
};

use crate::history::{Arrays, History, Refused, conformance};
use crate::model::{BaseSpec, Model};

impl<B: Base + Debug> Arrays for Vec<StagedArray<B>> {
    fn copy(&mut self, number: usize) {
        self.push(self[number].clone());
    }

    fn write(
        &mut self,
        number: usize,
        selection: &Selection,
        value: &[u8],
        shape: &[u64],
    ) -> Result<(), Refused> {
        match self[number].write(selection, value, shape) {
            Ok(()) => Ok(()),
            Err(StagedError::Broadcast { value, selection }) => Err(Refused { value, selection }),
            Err(error) => panic!("{error}"),
        }
    }

    fn write_scalar(&mut self, number: usize, selection: &Selection, element: &[u8]) {
        self[number].write_scalar(selection, element).unwrap();
    }

    fn resize(&mut self, number: usize, shape: &[u64]) {
        self[number].resize(shape).unwrap();
    }

    fn load(&mut self, number: usize) {
        self[number].load().unwrap();
    }

    fn read(&mut self, number: usize, selection: &Selection) -> (Vec<u8>, Vec<u64>) {
        let (elements, shape) = self[number].read(selection).unwrap();
        (elements, shape.to_vec())
    }

    fn shape(&mut self, number: usize) -> Vec<u64> {
        self[number].shape().to_vec()
    }

    fn check(&self, number: usize, model: &Model) {
        check_chunks(&self[number], model);
    }
}

/// Padding and states of chunks.
fn check_chunks<B: Base>(array: &StagedArray<B>, model: &Model) {
    let chunk_shape = array.chunk_shape();
    let extent = |coordinate: &[u64], shape: &[u64]| -> Vec<u64> {
        (0..shape.len())
            .map(|a| shape[a].saturating_sub(coordinate[a] * chunk_shape[a]).min(chunk_shape[a]))
            .collect()
    };
    let mut staged = Vec::new();
    let mut bases = BTreeSet::new();
    for position in 0..array.grid().iter().product() {
        let coordinate = unravel(position, array.grid());
        match array.state(ChunkIndex(position)) {
            ChunkState::Staged(buffer) => {
                staged.push(ChunkIndex(position));
                check_padding(buffer, chunk_shape, &extent(&coordinate, array.shape()), model);
            }
            ChunkState::Base(chunk) => {
                assert!(bases.insert(chunk), "a chunk of the base stands in one place");
                let base = array.base().unwrap().shape();
                let grid: Vec<u64> =
                    base.iter().zip(chunk_shape).map(|(s, c)| s.div_ceil(*c)).collect();
                assert_eq!(unravel(chunk.0, &grid), coordinate);
                if extent(&coordinate, base) != extent(&coordinate, array.shape()) {
                    assert!(model.is_fill(&coordinate, chunk_shape), "only fill has no extent");
                }
            }
            ChunkState::Fill => {}
        }
    }
    assert_eq!(array.staged().map(|(chunk, _)| chunk).collect::<Vec<_>>(), staged);
    assert_eq!(array.staged_count(), staged.len());
}

fn check_padding(buffer: &[u8], chunk_shape: &[u64], extent: &[u64], model: &Model) {
    let count: u64 = chunk_shape.iter().product();
    let size = model.fill.len();
    assert_eq!(buffer.len(), count as usize * size);
    for (offset, element) in buffer.chunks(size).enumerate() {
        if ravel(&unravel(offset as u64, chunk_shape), extent).is_none() {
            assert_eq!(element, model.fill, "padding at {offset} is fill");
        }
    }
}

fn in_memory(spec: &BaseSpec) -> MemoryBase {
    let size = spec.fill.len();
    MemoryBase::new(&spec.shape, &spec.chunk_shape, size, spec.elements.clone()).unwrap()
}

/// A base that says of chunks that hold nothing but fill that they do, and poisons what lies beyond its shape.
#[derive(Debug)]
struct Sparse {
    memory: MemoryBase,
    fill: Vec<u8>,
}

impl Sparse {
    fn new(spec: &BaseSpec) -> Self {
        Self { memory: in_memory(spec), fill: spec.fill.clone() }
    }

    /// Whether everything of a chunk inside the base's shape is fill.
    fn is_fill(&self, chunk: ChunkIndex, bytes: &[u8]) -> bool {
        self.inside(chunk)
            .zip(bytes.chunks(self.fill.len()))
            .all(|(inside, e)| !inside || e == self.fill)
    }

    /// For each element of a chunk whether it lies inside the base's shape.
    fn inside(&self, chunk: ChunkIndex) -> impl Iterator<Item = bool> {
        let (shape, chunk_shape) = (self.shape(), self.chunk_shape());
        let grid: Vec<u64> = shape.iter().zip(chunk_shape).map(|(s, c)| s.div_ceil(*c)).collect();
        let coordinate = h5strata::dims::unravel(chunk.0, &grid);
        (0..chunk_shape.iter().product()).map(move |offset| {
            let offset = h5strata::dims::unravel(offset, chunk_shape);
            (0..shape.len()).all(|a| coordinate[a] * chunk_shape[a] + offset[a] < shape[a])
        })
    }
}

impl Base for Sparse {
    type Error = MemoryBaseError;

    fn shape(&self) -> &[u64] {
        self.memory.shape()
    }

    fn chunk_shape(&self) -> &[u64] {
        self.memory.chunk_shape()
    }

    fn visit(
        &self,
        chunks: &[ChunkIndex],
        visit: &(dyn Fn(usize, BaseChunk<'_>) -> ControlFlow<()> + Sync),
    ) -> Result<(), MemoryBaseError> {
        self.memory.visit(chunks, &|position, chunk| {
            let BaseChunk::Bytes(bytes) = chunk else {
                return visit(position, chunk);
            };
            if self.is_fill(chunks[position], bytes) {
                return visit(position, BaseChunk::Fill);
            }
            let mut bytes = bytes.to_vec();
            let inside: Vec<bool> = self.inside(chunks[position]).collect();
            for (element, inside) in bytes.chunks_mut(self.fill.len()).zip(inside) {
                if !inside {
                    element.fill(0xEE);
                }
            }
            visit(position, BaseChunk::Bytes(&bytes))
        })
    }
}

/// Runs a history over a base that `make` makes, or over none.
fn run<B: Base + Debug>(history: &History, make: impl Fn(&BaseSpec) -> B) {
    let spec = &history.spec;
    let array = if history.on_base {
        StagedArray::on(Arc::new(make(spec)), &spec.fill)
    } else {
        StagedArray::filled(&spec.shape, &spec.chunk_shape, &spec.fill)
    };
    history.drive(&mut vec![array.unwrap()]);
}

#[test]
fn over_memory_every_history_equals_the_oracle() {
    conformance(400, |history| run(history, in_memory));
}

#[test]
fn over_a_sparse_base_every_history_equals_the_oracle() {
    conformance(400, |history| run(history, Sparse::new));
}
