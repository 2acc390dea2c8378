//! Elements as NumPy prints an array.

use std::io::{self, Write};

use h5strata::Dataset;
use h5strata::dtype::Dtype;
use h5strata::selection::{AxisSelection, Selection};

use crate::failure::Failure;
use crate::output::Target;
use crate::read::{Axis, Elements, Parts};
use crate::values::{ArrayText, Column, EDGE, THRESHOLD, plain};

/// What is read and printed of an array.
struct Shown {
    selection: Selection,
    shape: Vec<u64>,
    elided: Vec<bool>,
}

/// Writes the selected elements; of more than [`THRESHOLD`] only the edges, unless `full`. Only what is
/// printed is read.
pub(super) fn write(
    dataset: &Dataset,
    parts: &Parts,
    full: bool,
    target: &mut Target,
) -> Result<(), Failure> {
    let shown = Shown::new(parts, full || parts.elements() <= THRESHOLD);
    let too_large = || Failure::TooLarge { dataset: dataset.path().to_owned() };
    let shape: Option<Vec<usize>> =
        shown.shape.iter().map(|&count| usize::try_from(count).ok()).collect();
    let (shape, count) =
        shape.zip(h5strata::dims::element_count(&shown.shape).ok()).ok_or_else(too_large)?;
    let mut elements = Elements::default();
    elements.read(dataset, &shown.selection, count)?;
    let mut dtype = dataset.dtype();
    let (mut shape, mut elided) = (shape, shown.elided);
    // As NumPy has it, arrays in elements are further axes.
    while let Dtype::Array { base, shape: inner } = dtype {
        dtype = base;
        elided.extend(inner.iter().map(|_| false));
        let inner = inner.iter().map(|&count| usize::try_from(count).map_err(|_| too_large()));
        shape.extend(inner.collect::<Result<Vec<_>, _>>()?);
    }
    let elements: Vec<&[u8]> = elements.iter(dtype).collect();
    let failure = target.failure();
    let mut write = || -> io::Result<()> {
        if let ([], [element]) = (shape.as_slice(), elements.as_slice()) {
            return writeln!(target, "{}", plain(dtype, element));
        }
        let column = Column::new(dtype, &elements);
        let (shown, elided) = (shape.as_slice(), elided.as_slice());
        ArrayText { shown, elided, elements: &elements, column: &column }.write(target)
    };
    write().map_err(failure)
}

impl Shown {
    fn new(parts: &Parts, all: bool) -> Self {
        let is_cut = |axis: &Axis| !all && axis.count() > 2 * EDGE;
        let selection = parts.axes().map_kept(|axis| -> AxisSelection {
            if is_cut(axis) { axis.edges(EDGE) } else { axis.part(0, axis.count()) }
        });
        let axes = || parts.axes().kept().map(|(_, axis)| axis);
        Self {
            selection,
            shape: axes().map(|axis| if is_cut(axis) { 2 * EDGE } else { axis.count() }).collect(),
            elided: axes().map(is_cut).collect(),
        }
    }
}
