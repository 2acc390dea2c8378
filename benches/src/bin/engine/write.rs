//! Timing of a series of commits, from opening the file to closing it.

use std::error::Error;
use std::time::Instant;

use h5strata::selection::AxisSelection;
use h5strata::store::Element;
use h5strata::{OpenOptions, Selection, VersionedFile};
use ndarray::{ArrayD, Axis, Slice};
use ndarray_npy::{ReadableElement, read_npy};
use serde_json::{Value, json};

use crate::request::{Step, WriteRequest, threads};

/// An element of 8 bytes, which can be counted up as the integer that its bits are.
trait Word: Copy + Element + ReadableElement {
    fn plus(self, count: u64) -> Self;
}

impl Word for i64 {
    fn plus(self, count: u64) -> Self {
        self.wrapping_add_unsigned(count)
    }
}

impl Word for f64 {
    fn plus(self, count: u64) -> Self {
        Self::from_bits(self.to_bits().wrapping_add(count))
    }
}

/// What a step writes, and where.
struct Block<T> {
    selection: Selection,
    values: ArrayD<T>,
}

pub(crate) fn answer(request: &WriteRequest) -> Result<Value, Box<dyn Error>> {
    let steps = match read_npy::<_, ArrayD<f64>>(&request.values) {
        Ok(values) => commits(request, &values)?,
        Err(_) => commits(request, &read_npy::<_, ArrayD<i64>>(&request.values)?)?,
    };
    Ok(json!({ "seconds": steps.iter().sum::<f64>(), "steps": steps }))
}

/// Makes a version a step and gives the seconds of each.
fn commits<T: Word>(
    request: &WriteRequest,
    values: &ArrayD<T>,
) -> Result<Vec<f64>, Box<dyn Error>> {
    let options = OpenOptions::new().threads(threads(request.threads)?);
    let mut open = None;
    let mut seconds = Vec::with_capacity(request.steps.len());
    for (number, step) in (request.first_version..).zip(&request.steps) {
        let blocks = step.blocks(values)?;
        let is_last = seconds.len() + 1 == request.steps.len();
        let start = Instant::now();
        let mut file = match open.take() {
            Some(file) => file,
            None if number == 0 => options.create(&request.file)?,
            None => options.open_rw(&request.file)?,
        };
        if number == 0 {
            commit_first(request, &mut file, blocks)?;
        } else {
            commit_next(request, &mut file, number, step, blocks)?;
        }
        // The last handle closes the file, which is part of what is timed.
        open = (!request.reopen && !is_last).then_some(file);
        seconds.push(start.elapsed().as_secs_f64());
    }
    Ok(seconds)
}

fn commit_first<T: Word>(
    request: &WriteRequest,
    file: &mut VersionedFile,
    mut blocks: Vec<Block<T>>,
) -> Result<(), Box<dyn Error>> {
    let Some(Block { values, .. }) = blocks.pop().filter(|_| blocks.is_empty()) else {
        return Err("version 0 has one block, which is all of the dataset".into());
    };
    let mut stage = file.stage(&version(0))?;
    let mut dataset = stage.create_dataset(&request.dataset).chunks(&request.chunks);
    if request.filters.shuffle {
        dataset = dataset.shuffle();
    }
    if let Some(level) = request.filters.compression_opts {
        dataset = dataset.gzip(level);
    }
    dataset.owned_data(values)?;
    stage.commit()?;
    Ok(())
}

fn commit_next<T: Word>(
    request: &WriteRequest,
    file: &mut VersionedFile,
    number: usize,
    step: &Step,
    blocks: Vec<Block<T>>,
) -> Result<(), h5strata::Error> {
    let mut stage = file.stage(&version(number))?;
    let mut dataset = stage.dataset_mut(&request.dataset)?;
    if dataset.shape() != step.shape {
        dataset.resize(&step.shape)?;
    }
    if step.write_back {
        let values = dataset.read::<T>(Selection::all())?;
        dataset.write(Selection::all(), &values)?;
    }
    for Block { selection, values } in blocks {
        dataset.write(selection, &values)?;
    }
    stage.commit()?;
    Ok(())
}

fn version(number: usize) -> String {
    format!("v{number}")
}

impl Step {
    /// The parts of `values` that the step writes to the same place in the dataset.
    fn blocks<T: Word>(&self, values: &ArrayD<T>) -> Result<Vec<Block<T>>, Box<dyn Error>> {
        let block = |ranges: &Vec<(i64, i64)>| {
            let mut part = values.view();
            for (axis, &(start, stop)) in ranges.iter().enumerate() {
                let range = isize::try_from(start)?..isize::try_from(stop)?;
                part.slice_axis_inplace(Axis(axis), Slice::from(range));
            }
            let slice = |&(start, stop): &(i64, i64)| AxisSelection::Slice {
                start: Some(start),
                stop: Some(stop),
                step: 1,
            };
            Ok(Block {
                selection: Selection::axes(ranges.iter().map(slice)),
                values: part.mapv(|value| value.plus(self.plus)),
            })
        };
        self.blocks.iter().map(block).collect()
    }
}
