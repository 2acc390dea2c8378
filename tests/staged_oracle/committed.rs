//! Staged datasets over committed ones of a versioned file, through the public interface alone; what they hold in the
//! end is committed and read back.

use h5strata::dtype::Dtype;
use h5strata::staged::StagedError;
use h5strata::store::{DatasetBuilder, StageFault, StagedDataset};
use h5strata::{Error, OpenOptions, Selection, Stage, VersionedFile};

use crate::history::{Arrays, History, Refused, conformance};
use crate::model::{BaseSpec, Model};

/// The datasets of a stage that a history works on: each clone is a copy at a path of its own.
struct Datasets<'s, 'f> {
    stage: &'s mut Stage<'f>,
    count: usize,
}

/// Where the array of a number stands.
fn path(number: usize) -> String {
    format!("group/array{number}")
}

impl Datasets<'_, '_> {
    fn dataset(&mut self, number: usize) -> StagedDataset<'_> {
        self.stage.dataset_mut(&path(number)).unwrap()
    }
}

impl Arrays for Datasets<'_, '_> {
    fn copy(&mut self, number: usize) {
        self.stage.copy(&path(number), &path(self.count)).unwrap();
        self.count += 1;
    }

    fn write(
        &mut self,
        number: usize,
        selection: &Selection,
        value: &[u8],
        shape: &[u64],
    ) -> Result<(), Refused> {
        let Err(error) = self.dataset(number).write_bytes(selection.clone(), value, shape) else {
            return Ok(());
        };
        let Error::Stage { fault, .. } = error else { panic!("{error}") };
        let StageFault::Array(fault) = *fault else { panic!("{fault}") };
        match *fault {
            StagedError::Broadcast { value, selection } => Err(Refused { value, selection }),
            fault => panic!("{fault}"),
        }
    }

    fn write_scalar(&mut self, number: usize, selection: &Selection, element: &[u8]) {
        let mut dataset = self.dataset(number);
        let selection = selection.clone();
        let written = match *element {
            [value] => dataset.write_scalar(selection, value),
            [a, b] => dataset.write_scalar(selection, u16::from_le_bytes([a, b])),
            _ => dataset.write_bytes(selection, element, &[]),
        };
        written.unwrap();
    }

    fn resize(&mut self, number: usize, shape: &[u64]) {
        self.dataset(number).resize(shape).unwrap();
    }

    fn load(&mut self, number: usize) {
        self.dataset(number).load().unwrap();
    }

    fn read(&mut self, number: usize, selection: &Selection) -> (Vec<u8>, Vec<u64>) {
        let (elements, shape) = self.dataset(number).read_bytes(selection.clone()).unwrap();
        (elements, shape.to_vec())
    }

    fn shape(&mut self, number: usize) -> Vec<u64> {
        self.dataset(number).shape().to_vec()
    }
}

/// A type whose elements have so many bytes, any of which they keep.
fn dtype(size: usize) -> Dtype {
    let text = match size {
        1 => "|u1",
        2 => "<u2",
        8 => "<f8",
        16 => "<c16",
        _ => return format!("|V{size}").parse().unwrap(),
    };
    text.parse().unwrap()
}

/// How stored chunks are encoded.
type Encoding = for<'s, 'f> fn(DatasetBuilder<'s, 'f>) -> DatasetBuilder<'s, 'f>;

/// Runs a history over a dataset that the file's first version has, with threads or without.
fn run(history: &History, encoding: Encoding, threads: usize) {
    let spec = &history.spec;
    let folder = tempfile::tempdir().unwrap();
    let file_path = folder.path().join("versions.h5");
    commit_base(VersionedFile::create(&file_path).unwrap(), history, encoding);

    let mut file = OpenOptions::new().threads(threads).open_rw(&file_path).unwrap();
    let mut stage = file.stage("r1").unwrap();
    let models = history.drive(&mut Datasets { stage: &mut stage, count: 1 });
    stage.commit().unwrap();
    drop(file);

    let file = OpenOptions::new().threads(threads).open(&file_path).unwrap();
    for (number, model) in models.iter().enumerate() {
        check(&file, "r1", number, model);
    }
    let first =
        if history.on_base { Model::of(spec) } else { Model::filled(&spec.shape, &spec.fill) };
    check(&file, "r0", 0, &first);
}

/// Commits what a history begins with.
fn commit_base(mut file: VersionedFile, history: &History, encoding: Encoding) {
    let BaseSpec { shape, chunk_shape, fill, elements } = &history.spec;
    let mut stage = file.stage("r0").unwrap();
    let path = path(0);
    let builder = encoding(stage.create_dataset(&path)).chunks(chunk_shape).fill(fill);
    let dtype = dtype(fill.len());
    let staged = if history.on_base {
        builder.bytes(dtype, shape, elements.clone())
    } else {
        builder.empty(dtype, shape)
    };
    staged.unwrap();
    stage.commit().unwrap();
}

/// Holds a committed dataset to the model.
fn check(file: &VersionedFile, version: &str, number: usize, model: &Model) {
    let dataset = file.version(version).unwrap().dataset(&path(number)).unwrap();
    let (elements, shape) = dataset.read_bytes(&Selection::all()).unwrap();
    assert_eq!((elements, shape.to_vec()), (model.bytes(), model.shape()), "{version}, {number}");
}

#[test]
fn over_a_committed_dataset_every_history_equals_the_oracle() {
    conformance(150, |history| run(history, |builder| builder, 1));
}

#[test]
fn over_a_committed_dataset_with_filters_every_history_equals_the_oracle() {
    conformance(150, |history| run(history, |builder| builder.gzip(4).shuffle(), 2));
}
