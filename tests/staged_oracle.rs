//! Staged arrays against a naive array of elements, over an array in memory and over a base that knows fill.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "a test fails by a panic, and its numbers are small"
)]

#[path = "support/pieces.rs"]
mod pieces;
#[path = "support/staged.rs"]
mod support;

use std::ops::ControlFlow;

use h5strata::dims::ChunkIndex;
use h5strata::staged::{Base, BaseChunk, MemoryBase, MemoryBaseError};
use support::{BaseSpec, conformance};

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

#[test]
fn over_memory_every_history_equals_the_oracle() {
    conformance(400, in_memory);
}

#[test]
fn over_a_sparse_base_every_history_equals_the_oracle() {
    conformance(400, Sparse::new);
}
