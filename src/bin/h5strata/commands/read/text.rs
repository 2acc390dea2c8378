//! Elements as NumPy prints an array.

use std::io::Write;

use h5strata::Dataset;
use h5strata::dtype::Dtype;
use h5strata::selection::{AxisSelection, Selection};

use crate::failure::Failure;
use crate::output::Target;
use crate::read::{Axis, Parts, Slabs, for_each_slab};
use crate::values::{ArrayWriter, Column, EDGE, THRESHOLD, plain};

/// What is read and printed of an array.
struct Shown {
    selection: Selection,
    /// For each axis of the result, the elements shown and whether its middle is left out.
    axes: Vec<(u64, bool)>,
}

/// Writes the selected elements; of more than [`THRESHOLD`] only the edges, unless `full`. Only what is printed is
/// read, slab by slab: for each look that the column takes at all of it, and once more to print it.
pub(super) fn write(
    dataset: &Dataset,
    parts: &Parts,
    full: bool,
    target: &mut Target,
) -> Result<(), Failure> {
    let Shown { selection, mut axes } = Shown::new(parts, full || parts.elements() <= THRESHOLD);
    let mut dtype = dataset.dtype();
    // As NumPy has it, arrays in elements are further axes.
    while let Dtype::Array { base, shape } = dtype {
        dtype = base;
        axes.extend(shape.iter().map(|&count| (count, false)));
    }
    let parts = Parts::new(dataset, &selection)?;
    let failure = target.failure();
    if axes.is_empty() {
        return for_each_slab(dataset, &parts, |elements| {
            let write = |element| writeln!(target, "{}", plain(dtype, element));
            elements.iter(dtype).try_for_each(write).map_err(&failure)
        });
    }
    let mut column = Column::new(dtype);
    let looks = column.looks();
    let mut slabs = Slabs::new(dataset, &parts, looks.len() as u64 + 1);
    for &look in looks {
        slabs.for_each(|elements| {
            elements.iter(dtype).for_each(|element| column.show(look, element));
            Ok(())
        })?;
    }
    if target.is_terminal() {
        slabs.hide_progress();
    }
    let mut writer = ArrayWriter::new(&column, axes);
    slabs.for_each(|elements| {
        elements.iter(dtype).try_for_each(|element| writer.push(target, element)).map_err(&failure)
    })?;
    writer.finish(target).map_err(failure)
}

impl Shown {
    fn new(parts: &Parts, all: bool) -> Self {
        let is_cut = |axis: &Axis| !all && axis.count() > 2 * EDGE;
        let selection = parts.axes().map_kept(|axis| -> AxisSelection {
            if is_cut(axis) { axis.edges(EDGE) } else { axis.part(0, axis.count()) }
        });
        let axes = parts.axes().kept().map(|(_, axis)| axis);
        Self {
            selection,
            axes: axes
                .map(|axis| if is_cut(axis) { (2 * EDGE, true) } else { (axis.count(), false) })
                .collect(),
        }
    }
}
