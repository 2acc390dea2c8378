//! Elements as comma-separated values.

use csv::{Writer, WriterBuilder};
use h5strata::Dataset;
use h5strata::dtype::{Dtype, Field};

use crate::failure::Failure;
use crate::output::Target;
use crate::read::{Axis, Parts, Slabs};
use crate::values::{member, plain};

/// Writes one axis as a value a line and two as a row a line. More axes have no lines and columns: each
/// element gets a line, with its indices in the dataset in front. Compounds have a column for each member, but for
/// two axes, where each element has one column.
pub(super) fn write(dataset: &Dataset, parts: &Parts, target: &mut Target) -> Result<(), Failure> {
    let axes: Vec<(usize, &Axis)> = parts.axes().kept().collect();
    let columns = match axes.as_slice() {
        [_, (_, columns)] => columns.count(),
        _ => 1,
    };
    let indices = if axes.len() > 2 { axes } else { Vec::new() };
    let fields = match dataset.dtype() {
        Dtype::Compound { fields, .. } if columns_are_members(parts) => fields.as_slice(),
        _ => &[],
    };
    let failure = target.failure();
    let failed = |error: csv::Error| failure(error.into());
    let mut slabs = Slabs::new(dataset, parts, 1);
    if target.is_terminal() {
        slabs.hide_progress();
    }
    let mut writer = WriterBuilder::new().flexible(true).from_writer(&mut *target);
    write_header(&mut writer, &indices, fields).map_err(failed)?;
    let mut element = 0u64;
    slabs.for_each(|elements| {
        for bytes in elements.iter(dataset.dtype()) {
            let mut line = || -> csv::Result<()> {
                write_indices(&mut writer, &indices, dataset.shape(), element)?;
                if fields.is_empty() {
                    writer.write_field(cell(dataset.dtype(), bytes))?;
                }
                for field in fields {
                    writer.write_field(cell(&field.dtype, member(field, bytes)))?;
                }
                element += 1;
                if element.is_multiple_of(columns) {
                    writer.write_record(None::<&[u8]>)?;
                }
                Ok(())
            };
            line().map_err(failed)?;
        }
        Ok(())
    })?;
    writer.flush().map_err(&failure)
}

/// Whether each element has a line for itself, and so its members can be columns.
fn columns_are_members(parts: &Parts) -> bool {
    parts.axes().shape().len() != 2
}

fn write_header(
    writer: &mut Writer<&mut Target>,
    indices: &[(usize, &Axis)],
    fields: &[Field],
) -> csv::Result<()> {
    if indices.is_empty() && fields.is_empty() {
        return Ok(());
    }
    for (axis, _) in indices {
        writer.write_field(format!("axis{axis}"))?;
    }
    for field in fields {
        writer.write_field(&field.name)?;
    }
    if fields.is_empty() {
        writer.write_field("value")?;
    }
    writer.write_record(None::<&[u8]>)
}

/// The indices in the dataset of the element that is number `element` of the selection.
fn write_indices(
    writer: &mut Writer<&mut Target>,
    axes: &[(usize, &Axis)],
    shape: &[u64],
    element: u64,
) -> csv::Result<()> {
    let counts: Vec<u64> = axes.iter().map(|(_, axis)| axis.count()).collect();
    let coordinate = h5strata::dims::unravel(element, &counts);
    for ((number, axis), at) in axes.iter().zip(coordinate) {
        let position = axis.position(at);
        let from_end = if position < 0 { i128::from(shape[*number]) } else { 0 };
        writer.write_field((i128::from(position) + from_end).to_string())?;
    }
    Ok(())
}

/// A field: strings as they are, all else as text.
fn cell(dtype: &Dtype, bytes: &[u8]) -> Vec<u8> {
    match dtype {
        Dtype::FixedString { padding, .. } => padding.trim(bytes).to_vec(),
        Dtype::VariableString { .. } => bytes.to_vec(),
        dtype => plain(dtype, bytes).into_bytes(),
    }
}
