//! The conformance test of staged arrays, for every kind of base: random operations on an array and on a naive model
//! of it, an `ndarray` of elements.
#![allow(dead_code, reason = "compiled into several test binaries, and each of them uses a part")]

use std::collections::BTreeSet;
use std::sync::Arc;

use h5strata::Selection;
use h5strata::dims::{ChunkIndex, ravel, unravel};
use h5strata::selection::AxisSelection;
use h5strata::staged::{Base, ChunkState, StagedArray, StagedError};
use ndarray::{ArrayD, IxDyn};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use super::pieces::{axis_selection, naive_axis, naive_product};

/// What a base is to be made of.
#[derive(Clone, Debug)]
pub(crate) struct BaseSpec {
    /// In elements.
    pub(crate) shape: Vec<u64>,
    /// In elements.
    pub(crate) chunk_shape: Vec<u64>,
    /// The bytes of an element that was never written.
    pub(crate) fill: Vec<u8>,
    /// The bytes of all elements in C order.
    pub(crate) elements: Vec<u8>,
}

/// An element's bytes; arrays of them are what the oracle holds.
type Element = Vec<u8>;

/// What a staged array should hold.
#[derive(Clone, Debug)]
pub(crate) struct Model {
    elements: ArrayD<Element>,
    fill: Element,
}

impl Model {
    pub(crate) fn filled(shape: &[u64], fill: &[u8]) -> Self {
        let elements = ArrayD::from_elem(to_index(shape), fill.to_vec());
        Self { elements, fill: fill.to_vec() }
    }

    pub(crate) fn of(spec: &BaseSpec) -> Self {
        let elements = spec.elements.chunks(spec.fill.len()).map(<[u8]>::to_vec).collect();
        let elements = ArrayD::from_shape_vec(to_index(&spec.shape), elements).unwrap();
        Self { elements, fill: spec.fill.clone() }
    }

    pub(crate) fn shape(&self) -> Vec<u64> {
        self.elements.shape().iter().map(|&size| size as u64).collect()
    }

    fn bytes(&self) -> Vec<u8> {
        self.elements.iter().flatten().copied().collect()
    }

    /// Whether every element of a chunk is fill.
    fn is_fill(&self, coordinate: &[u64], chunk_shape: &[u64]) -> bool {
        self.elements.indexed_iter().all(|(index, element)| {
            let inside =
                (0..chunk_shape.len()).all(|a| index[a] as u64 / chunk_shape[a] == coordinate[a]);
            !inside || *element == self.fill
        })
    }

    fn read(&self, chosen: &Chosen) -> Vec<u8> {
        let elements = chosen.elements.iter();
        elements.flat_map(|element| self.elements[to_index(element)].clone()).collect()
    }

    /// Assigns one after the other; `false` if the value cannot be broadcast.
    fn write(&mut self, chosen: &Chosen, value: &ArrayD<Element>) -> bool {
        let mut value = value.view();
        while value.ndim() > chosen.shape.len() && value.shape()[0] == 1 {
            value = value.index_axis_move(ndarray::Axis(0), 0);
        }
        let Some(value) = value.broadcast(to_index(&chosen.shape)) else {
            return false;
        };
        for (element, value) in chosen.elements.iter().zip(value.iter()) {
            self.elements[to_index(element)].clone_from(value);
        }
        true
    }

    fn resize(&mut self, shape: &[u64]) {
        let old = &self.elements;
        self.elements = ArrayD::from_shape_fn(to_index(shape), |index| {
            old.get(index).unwrap_or(&self.fill).clone()
        });
    }
}

fn to_index(values: &[u64]) -> IxDyn {
    IxDyn(&values.iter().map(|&value| value as usize).collect::<Vec<_>>())
}

/// A selection, the elements it names one by one, and the shape of its result.
#[derive(Debug)]
struct Chosen {
    selection: Selection,
    elements: Vec<Vec<u64>>,
    shape: Vec<u64>,
}

impl Chosen {
    fn axes(axes: Vec<AxisSelection>, shape: &[u64]) -> Self {
        let naive: Vec<_> =
            axes.iter().zip(shape).map(|(axis, &size)| naive_axis(axis, size as i64)).collect();
        let kept = axes.iter().zip(&naive).filter(|(a, _)| !matches!(a, AxisSelection::Index(_)));
        Self {
            elements: naive_product(&naive),
            shape: kept.map(|(_, elements)| elements.len() as u64).collect(),
            selection: Selection::axes(axes),
        }
    }

    fn points(points: &[Vec<i64>], shape: &[u64]) -> Self {
        let wrap = |point: &Vec<i64>| {
            point.iter().zip(shape).map(|(i, &size)| i.rem_euclid(size as i64) as u64).collect()
        };
        Self {
            elements: points.iter().map(wrap).collect(),
            shape: vec![points.len() as u64],
            selection: Selection::points(shape.len(), points.concat()).unwrap(),
        }
    }

    fn mask(mask: Vec<bool>, shape: &[u64]) -> Self {
        let elements: Vec<Vec<u64>> = (0..mask.len())
            .filter(|&position| mask[position])
            .map(|position| unravel(position as u64, shape).to_vec())
            .collect();
        Self {
            shape: vec![elements.len() as u64],
            elements,
            selection: Selection::mask(shape, mask).unwrap(),
        }
    }

    fn draw(runner: &mut TestRunner, shape: &[u64]) -> Self {
        let count: u64 = shape.iter().product();
        match draw(runner, 0..8) {
            0 if count > 0 => {
                let point: Vec<_> = shape.iter().map(|&s| -(s as i64)..s as i64).collect();
                Self::points(&draw(runner, proptest::collection::vec(point, 0..30)), shape)
            }
            1 => {
                let mask = proptest::collection::vec(any::<bool>(), count as usize);
                Self::mask(draw(runner, mask), shape)
            }
            2 => Self::axes(vec![AxisSelection::ALL; shape.len()], shape),
            _ => {
                let axes: Vec<_> = shape.iter().map(|&size| axis_selection(size)).collect();
                Self::axes(draw(runner, axes), shape)
            }
        }
    }
}

fn draw<S: Strategy>(runner: &mut TestRunner, strategy: S) -> S::Value {
    strategy.new_tree(runner).unwrap().current()
}

/// Elements that no other call with another `seed` is likely to make.
fn elements(count: usize, size: usize, seed: u64) -> Vec<u8> {
    (0..count * size)
        .map(|byte| {
            let mixed = (byte as u64 ^ seed.rotate_left(17)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            (mixed >> 56) as u8
        })
        .collect()
}

/// A shape that is broadcast to `shape`, and rarely one that is not.
fn value_shape(runner: &mut TestRunner, shape: &[u64]) -> Vec<u64> {
    let mut value: Vec<u64> = shape
        .iter()
        .map(|&size| match draw(runner, 0..12) {
            0..3 => 1,
            3 => size + 1,
            _ => size,
        })
        .collect();
    match draw(runner, 0..6) {
        0 => value.insert(0, 1),
        1 if !value.is_empty() => {
            value.remove(0);
        }
        _ => {}
    }
    value
}

/// One history: where it begins, and a seed for each step.
#[derive(Clone, Debug)]
struct History {
    spec: BaseSpec,
    on_base: bool,
    steps: Vec<u64>,
}

fn history() -> impl Strategy<Value = History> {
    let axes = (1usize..5).prop_flat_map(|rank| {
        let most = [14u64, 10, 7, 5][rank - 1];
        proptest::collection::vec((0..most, 1..most), rank)
    });
    let size = prop_oneof![Just(1usize), Just(2), Just(3), Just(8), Just(16)];
    let steps = proptest::collection::vec(any::<u64>().no_shrink(), 1..14);
    (axes, size, 0u8..3, any::<u64>().no_shrink(), any::<[bool; 2]>(), steps).prop_map(
        |(axes, size, fill, seed, [on_base, sparse], steps)| {
            let (shape, chunk_shape): (Vec<u64>, Vec<u64>) = axes.into_iter().unzip();
            let count: u64 = shape.iter().product();
            let fill = match fill {
                0 => vec![0; size],
                1 => vec![0xFF; size],
                _ => (1..=size as u8).collect(),
            };
            let mut elements = elements(count as usize, size, seed);
            if sparse {
                // Every other chunk is fill.
                for (position, element) in elements.chunks_mut(size).enumerate() {
                    let index = unravel(position as u64, &shape);
                    let chunk: u64 = index.iter().zip(&chunk_shape).map(|(i, c)| i / c).sum();
                    if chunk % 2 == 1 {
                        element.copy_from_slice(&fill);
                    }
                }
            }
            History { spec: BaseSpec { shape, chunk_shape, fill, elements }, on_base, steps }
        },
    )
}

/// Runs `cases` random histories of writes, resizes, clones, loads and reads over bases that `make` makes, and
/// over none, and checks values, padding and states after every step.
pub(crate) fn conformance<B: Base + std::fmt::Debug>(cases: u32, make: impl Fn(&BaseSpec) -> B) {
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    TestRunner::new(config)
        .run(&history(), |history| {
            run(&history, &make);
            Ok(())
        })
        .unwrap();
}

fn run<B: Base + std::fmt::Debug>(history: &History, make: &impl Fn(&BaseSpec) -> B) {
    let spec = &history.spec;
    let first = if history.on_base {
        (StagedArray::on(Arc::new(make(spec)), &spec.fill).unwrap(), Model::of(spec))
    } else {
        let array = StagedArray::filled(&spec.shape, &spec.chunk_shape, &spec.fill).unwrap();
        (array, Model::filled(&spec.shape, &spec.fill))
    };
    let mut arrays = vec![first];
    for &seed in &history.steps {
        let bytes: Vec<u8> = seed.to_le_bytes().repeat(4);
        let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
        let mut runner = TestRunner::new_with_rng(Config::default(), rng);
        let number = draw(&mut runner, 0..arrays.len());
        if draw(&mut runner, 0..10) == 0 {
            let clone = arrays[number].clone();
            arrays.push(clone);
        } else {
            let (array, model) = &mut arrays[number];
            step(array, model, &mut runner, seed);
        }
        for (array, model) in &arrays {
            check(array, model);
        }
    }
}

fn step<B: Base>(
    array: &mut StagedArray<B>,
    model: &mut Model,
    runner: &mut TestRunner,
    seed: u64,
) {
    let shape = model.shape();
    let size = array.element_size();
    match draw(runner, 0..20) {
        0..8 => {
            let chosen = Chosen::draw(runner, &shape);
            let value_shape = value_shape(runner, &chosen.shape);
            let count: u64 = value_shape.iter().product();
            let value = elements(count as usize, size, seed);
            let listed = value.chunks(size).map(<[u8]>::to_vec).collect();
            let naive = ArrayD::from_shape_vec(to_index(&value_shape), listed).unwrap();
            match array.write(&chosen.selection, &value, &value_shape) {
                Ok(()) => assert!(model.write(&chosen, &naive), "NumPy would refuse this"),
                Err(StagedError::Broadcast { value, selection }) => {
                    assert_eq!((value, selection), (value_shape, chosen.shape.clone()));
                    assert!(!model.clone().write(&chosen, &naive), "NumPy would take this");
                }
                Err(error) => panic!("{error}"),
            }
        }
        8..11 => {
            let chosen = Chosen::draw(runner, &shape);
            let element = elements(1, size, seed);
            array.write_scalar(&chosen.selection, &element).unwrap();
            assert!(model.write(&chosen, &ArrayD::from_elem(IxDyn(&[]), element)));
        }
        11..17 => {
            let sizes: Vec<_> = shape
                .iter()
                .map(|&size| prop_oneof![2 => Just(size), 1 => 0..size + 1, 2 => size..size + 5])
                .collect();
            let shape = draw(runner, sizes);
            array.resize(&shape).unwrap();
            model.resize(&shape);
        }
        17 => array.load().unwrap(),
        _ => {
            let chosen = Chosen::draw(runner, &shape);
            let (elements, shape) = array.read(&chosen.selection).unwrap();
            assert_eq!(shape.as_slice(), chosen.shape);
            assert_eq!(elements, model.read(&chosen));
        }
    }
}

/// Values, padding and states.
fn check<B: Base>(array: &StagedArray<B>, model: &Model) {
    assert_eq!(array.shape(), model.shape());
    let (elements, _) = array.read(&Selection::all()).unwrap();
    assert_eq!(elements, model.bytes());

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
