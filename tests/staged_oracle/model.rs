//! What staged arrays should hold, as an `ndarray` of elements.

use h5strata::Selection;
use h5strata::dims::unravel;
use h5strata::selection::AxisSelection;
use ndarray::{ArrayD, IxDyn};

use crate::pieces::{naive_axis, naive_product};

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
pub(crate) type Element = Vec<u8>;

/// What a staged array should hold.
#[derive(Clone, Debug)]
pub(crate) struct Model {
    elements: ArrayD<Element>,
    pub(crate) fill: Element,
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

    /// The bytes of all elements in C order.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.elements.iter().flatten().copied().collect()
    }

    /// Whether every element of a chunk is fill.
    pub(crate) fn is_fill(&self, coordinate: &[u64], chunk_shape: &[u64]) -> bool {
        self.elements.indexed_iter().all(|(index, element)| {
            let inside =
                (0..chunk_shape.len()).all(|a| index[a] as u64 / chunk_shape[a] == coordinate[a]);
            !inside || *element == self.fill
        })
    }

    pub(crate) fn read(&self, chosen: &Chosen) -> Vec<u8> {
        let elements = chosen.elements.iter();
        elements.flat_map(|element| self.elements[to_index(element)].clone()).collect()
    }

    /// Assigns one after the other; `false` if the value cannot be broadcast.
    pub(crate) fn write(&mut self, chosen: &Chosen, value: &ArrayD<Element>) -> bool {
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

    pub(crate) fn resize(&mut self, shape: &[u64]) {
        let old = &self.elements;
        self.elements = ArrayD::from_shape_fn(to_index(shape), |index| {
            old.get(index).unwrap_or(&self.fill).clone()
        });
    }
}

pub(crate) fn to_index(values: &[u64]) -> IxDyn {
    IxDyn(&values.iter().map(|&value| value as usize).collect::<Vec<_>>())
}

/// A selection, the elements it names one by one, and the shape of its result.
#[derive(Debug)]
pub(crate) struct Chosen {
    pub(crate) selection: Selection,
    elements: Vec<Vec<u64>>,
    pub(crate) shape: Vec<u64>,
}

impl Chosen {
    pub(crate) fn axes(axes: Vec<AxisSelection>, shape: &[u64]) -> Self {
        let naive: Vec<_> =
            axes.iter().zip(shape).map(|(axis, &size)| naive_axis(axis, size as i64)).collect();
        let kept = axes.iter().zip(&naive).filter(|(a, _)| !matches!(a, AxisSelection::Index(_)));
        Self {
            elements: naive_product(&naive),
            shape: kept.map(|(_, elements)| elements.len() as u64).collect(),
            selection: Selection::axes(axes),
        }
    }

    pub(crate) fn points(points: &[Vec<i64>], shape: &[u64]) -> Self {
        let wrap = |point: &Vec<i64>| {
            point.iter().zip(shape).map(|(i, &size)| i.rem_euclid(size as i64) as u64).collect()
        };
        Self {
            elements: points.iter().map(wrap).collect(),
            shape: vec![points.len() as u64],
            selection: Selection::points(shape.len(), points.concat()).unwrap(),
        }
    }

    pub(crate) fn mask(mask: Vec<bool>, shape: &[u64]) -> Self {
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
}
