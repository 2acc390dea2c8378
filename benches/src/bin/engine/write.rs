//! Timing of a series of commits, from opening the file to closing it.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Instant;

use h5strata::selection::AxisSelection;
use h5strata::store::Element;
use h5strata::{Durability, OpenOptions, Selection, Stage, VersionedFile};
use ndarray::{ArrayD, Axis, CowArray, IxDyn, Slice};
use ndarray_npy::{ReadableElement, read_npy};
use serde_json::{Value, json};

use crate::request::{SeriesRequest, Step, WriteRequest, threads};

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

/// A dataset with the values that are written to it, elements of either type.
enum Series<'r> {
    Integers(&'r SeriesRequest, Values<i64>),
    Doubles(&'r SeriesRequest, Values<f64>),
}

/// Bytes of values that are kept from step to step. More are in memory once, as what a step writes.
const MOST_KEPT: usize = 1 << 30;

/// The values of a .npy file.
enum Values<T> {
    Kept(ArrayD<T>),
    InFile(PathBuf),
}

/// What a step writes to one dataset, in memory of its own.
enum Part<'r> {
    Integers(&'r str, &'r Step, Vec<Block<i64>>),
    Doubles(&'r str, &'r Step, Vec<Block<f64>>),
}

/// Makes a version a step; the answer has the seconds of each.
pub(crate) fn answer(request: &WriteRequest) -> Result<Value, Box<dyn Error>> {
    let series = request.series.iter().map(Series::load).collect::<Result<Vec<_>, _>>()?;
    let count = request.series.first().map_or(0, |series| series.steps.len());
    let durability = if request.synced { Durability::Full } else { Durability::Process };
    let options = OpenOptions::new().threads(threads(request.threads)?).durability(durability);
    let mut open = None;
    let mut seconds = Vec::with_capacity(count);
    for step in 0..count {
        let number = request.first_version + step;
        let parts = series.iter().map(|series| series.part(step)).collect::<Result<Vec<_>, _>>()?;
        let start = Instant::now();
        let mut file = match open.take() {
            Some(file) => file,
            None if number == 0 => options.create(&request.file)?,
            None => options.open_rw(&request.file)?,
        };
        commit(request, &mut file, number, parts)?;
        // The last handle closes the file, which is part of what is timed.
        open = (!request.reopen && step + 1 < count).then_some(file);
        seconds.push(start.elapsed().as_secs_f64());
    }
    Ok(json!({ "seconds": seconds.iter().sum::<f64>(), "steps": seconds }))
}

impl<'r> Series<'r> {
    fn load(request: &'r SeriesRequest) -> Result<Self, Box<dyn Error>> {
        let path = &request.values;
        Ok(match read_npy(path) {
            Ok(values) => Self::Doubles(request, Values::of(values, path)),
            Err(_) => Self::Integers(request, Values::of(read_npy(path)?, path)),
        })
    }

    fn part(&self, number: usize) -> Result<Part<'r>, Box<dyn Error>> {
        let (Self::Integers(request, _) | Self::Doubles(request, _)) = self;
        let step = request.steps.get(number).ok_or("a dataset with fewer steps than another")?;
        Ok(match self {
            Self::Integers(_, values) => {
                Part::Integers(&request.dataset, step, values.blocks(step)?)
            }
            Self::Doubles(_, values) => Part::Doubles(&request.dataset, step, values.blocks(step)?),
        })
    }
}

impl<T: Word> Values<T> {
    fn of(values: ArrayD<T>, path: &Path) -> Self {
        if values.len() * size_of::<T>() > MOST_KEPT {
            Self::InFile(path.to_owned())
        } else {
            Self::Kept(values)
        }
    }

    /// What a step writes of them.
    fn blocks(&self, step: &Step) -> Result<Vec<Block<T>>, Box<dyn Error>> {
        match self {
            Self::Kept(values) => step.blocks(values.into()),
            Self::InFile(path) => step.blocks(read_npy::<_, ArrayD<T>>(path)?.into()),
        }
    }
}

fn commit(
    request: &WriteRequest,
    file: &mut VersionedFile,
    number: usize,
    parts: Vec<Part<'_>>,
) -> Result<(), Box<dyn Error>> {
    let mut stage = file.stage(&format!("v{number}"))?;
    for part in parts {
        match part {
            Part::Integers(path, step, blocks) if number > 0 => {
                change(&mut stage, path, step, blocks)?;
            }
            Part::Doubles(path, step, blocks) if number > 0 => {
                change(&mut stage, path, step, blocks)?;
            }
            Part::Integers(path, _, blocks) => create(request, &mut stage, path, blocks)?,
            Part::Doubles(path, _, blocks) => create(request, &mut stage, path, blocks)?,
        }
    }
    stage.commit()?;
    Ok(())
}

fn create<T: Word>(
    request: &WriteRequest,
    stage: &mut Stage<'_>,
    path: &str,
    mut blocks: Vec<Block<T>>,
) -> Result<(), Box<dyn Error>> {
    let Some(Block { values, .. }) = blocks.pop().filter(|_| blocks.is_empty()) else {
        return Err("version 0 has one block, which is all of the dataset".into());
    };
    let mut dataset = stage.create_dataset(path).chunks(&request.chunks);
    if request.filters.shuffle {
        dataset = dataset.shuffle();
    }
    if let Some(level) = request.filters.compression_opts {
        dataset = dataset.gzip(level);
    }
    dataset.owned_data(values)?;
    Ok(())
}

fn change<T: Word>(
    stage: &mut Stage<'_>,
    path: &str,
    step: &Step,
    blocks: Vec<Block<T>>,
) -> Result<(), h5strata::Error> {
    let mut dataset = stage.dataset_mut(path)?;
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
    Ok(())
}

impl Step {
    /// The parts of `values` that the step writes to the same place in the dataset.
    fn blocks<T: Word>(
        &self,
        values: CowArray<'_, T, IxDyn>,
    ) -> Result<Vec<Block<T>>, Box<dyn Error>> {
        let slice = |&(start, stop): &(i64, i64)| AxisSelection::Slice {
            start: Some(start),
            stop: Some(stop),
            step: 1,
        };
        let part = |mut part: CowArray<'_, T, IxDyn>, ranges: &[(i64, i64)]| {
            for (axis, &(start, stop)) in ranges.iter().enumerate() {
                let range = isize::try_from(start)?..isize::try_from(stop)?;
                part.slice_axis_inplace(Axis(axis), Slice::from(range));
            }
            let mut values = part.into_owned();
            values.mapv_inplace(|value| value.plus(self.plus));
            Ok(Block { selection: Selection::axes(ranges.iter().map(slice)), values })
        };
        match self.blocks.as_slice() {
            [all] => Ok(vec![part(values, all)?]),
            blocks => blocks.iter().map(|ranges| part(values.view().into(), ranges)).collect(),
        }
    }
}
