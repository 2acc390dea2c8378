//! Random histories of staged arrays, and what drives any kind of them through one, beside the model.

use h5strata::Selection;
use h5strata::dims::unravel;
use h5strata::selection::AxisSelection;
use ndarray::{ArrayD, IxDyn};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use crate::model::{BaseSpec, Chosen, Model, to_index};
use crate::pieces::axis_selection;

/// A value that cannot be broadcast, by the two shapes that do not fit.
#[derive(Debug)]
pub(crate) struct Refused {
    /// In elements.
    pub(crate) value: Vec<u64>,
    /// In elements.
    pub(crate) selection: Vec<u64>,
}

/// Staged arrays of one kind, by their numbers from 0 on. Where they fail otherwise than a method says, they panic.
pub(crate) trait Arrays {
    /// Adds a clone of an array, as the last one.
    fn copy(&mut self, number: usize);

    fn write(
        &mut self,
        number: usize,
        selection: &Selection,
        value: &[u8],
        shape: &[u64],
    ) -> Result<(), Refused>;

    fn write_scalar(&mut self, number: usize, selection: &Selection, element: &[u8]);

    fn resize(&mut self, number: usize, shape: &[u64]);

    fn load(&mut self, number: usize);

    /// Elements and shape of what is selected.
    fn read(&mut self, number: usize, selection: &Selection) -> (Vec<u8>, Vec<u64>);

    fn shape(&mut self, number: usize) -> Vec<u64>;

    /// Checks what can be seen of this kind beside values and shape.
    fn check(&self, _number: usize, _model: &Model) {}
}

/// One history: where it begins, and a seed for each step.
#[derive(Clone, Debug)]
pub(crate) struct History {
    pub(crate) spec: BaseSpec,
    /// Whether it begins with the elements of `spec`; else with nothing but fill.
    pub(crate) on_base: bool,
    steps: Vec<u64>,
}

impl History {
    /// Takes an array, which is as the history begins, through writes, resizes, clones, loads and reads, and checks
    /// all arrays after every step. Gives what they hold in the end.
    pub(crate) fn drive(&self, arrays: &mut impl Arrays) -> Vec<Model> {
        let spec = &self.spec;
        let first =
            if self.on_base { Model::of(spec) } else { Model::filled(&spec.shape, &spec.fill) };
        let mut models = vec![first];
        for &seed in &self.steps {
            let bytes: Vec<u8> = seed.to_le_bytes().repeat(4);
            let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
            let mut runner = TestRunner::new_with_rng(Config::default(), rng);
            let number = draw(&mut runner, 0..models.len());
            if draw(&mut runner, 0..10) == 0 {
                arrays.copy(number);
                models.push(models[number].clone());
            } else {
                step(arrays, number, &mut models[number], &mut runner, seed);
            }
            for (number, model) in models.iter().enumerate() {
                assert_eq!(arrays.shape(number), model.shape());
                let (elements, shape) = arrays.read(number, &Selection::all());
                assert_eq!((elements, shape), (model.bytes(), model.shape()));
                arrays.check(number, model);
            }
        }
        models
    }
}

/// Runs `cases` random histories; `run` makes the arrays and has each history [drive](History::drive) them.
pub(crate) fn conformance(cases: u32, run: impl Fn(&History)) {
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    TestRunner::new(config)
        .run(&history(), |history| {
            run(&history);
            Ok(())
        })
        .unwrap();
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

fn step(
    arrays: &mut impl Arrays,
    number: usize,
    model: &mut Model,
    runner: &mut TestRunner,
    seed: u64,
) {
    let shape = model.shape();
    let size = model.fill.len();
    match draw(runner, 0..20) {
        0..8 => {
            let chosen = draw_selection(runner, &shape);
            let value_shape = value_shape(runner, &chosen.shape);
            let count: u64 = value_shape.iter().product();
            let value = elements(count as usize, size, seed);
            let listed = value.chunks(size).map(<[u8]>::to_vec).collect();
            let naive = ArrayD::from_shape_vec(to_index(&value_shape), listed).unwrap();
            match arrays.write(number, &chosen.selection, &value, &value_shape) {
                Ok(()) => assert!(model.write(&chosen, &naive), "NumPy would refuse this"),
                Err(Refused { value, selection }) => {
                    assert_eq!((value, selection), (value_shape, chosen.shape.clone()));
                    assert!(!model.clone().write(&chosen, &naive), "NumPy would take this");
                }
            }
        }
        8..11 => {
            let chosen = draw_selection(runner, &shape);
            let element = elements(1, size, seed);
            arrays.write_scalar(number, &chosen.selection, &element);
            assert!(model.write(&chosen, &ArrayD::from_elem(IxDyn(&[]), element)));
        }
        11..17 => {
            let sizes: Vec<_> = shape
                .iter()
                .map(|&size| prop_oneof![2 => Just(size), 1 => 0..size + 1, 2 => size..size + 5])
                .collect();
            let shape = draw(runner, sizes);
            arrays.resize(number, &shape);
            model.resize(&shape);
        }
        17 => arrays.load(number),
        _ => {
            let chosen = draw_selection(runner, &shape);
            let (elements, shape) = arrays.read(number, &chosen.selection);
            assert_eq!(shape, chosen.shape);
            assert_eq!(elements, model.read(&chosen));
        }
    }
}

fn draw<S: Strategy>(runner: &mut TestRunner, strategy: S) -> S::Value {
    strategy.new_tree(runner).unwrap().current()
}

fn draw_selection(runner: &mut TestRunner, shape: &[u64]) -> Chosen {
    let count: u64 = shape.iter().product();
    match draw(runner, 0..8) {
        0 if count > 0 => {
            let point: Vec<_> = shape.iter().map(|&s| -(s as i64)..s as i64).collect();
            Chosen::points(&draw(runner, proptest::collection::vec(point, 0..30)), shape)
        }
        1 => {
            let mask = proptest::collection::vec(any::<bool>(), count as usize);
            Chosen::mask(draw(runner, mask), shape)
        }
        2 => Chosen::axes(vec![AxisSelection::ALL; shape.len()], shape),
        _ => {
            let axes: Vec<_> = shape.iter().map(|&size| axis_selection(size)).collect();
            Chosen::axes(draw(runner, axes), shape)
        }
    }
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
