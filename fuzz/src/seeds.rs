//! Small sound files of all kinds, for the fuzzer to begin with.

use std::error::Error;
use std::path::Path;

use h5strata::codec::Filter;
use h5strata::store::DatasetBuilder;
use h5strata::{Durability, OpenOptions, StageOptions, VersionedFile};
use ndarray::{Array1, Array2, Array3, s};

/// Writes them to a folder.
///
/// # Errors
/// Those of making files.
pub fn write(folder: &Path) -> Result<(), Box<dyn Error>> {
    std::fs::create_dir_all(folder)?;
    drop(create(folder, "no-versions")?);
    plain(folder)?;
    filtered(folder, "deflate", |builder| builder.shuffle().gzip(6))?;
    filtered(folder, "lzf", |builder| builder.compression(Filter::lzf()))?;
    filtered(folder, "zstd", |builder| builder.compression(Filter::zstd(3)))?;
    filtered(folder, "fletcher32", |builder| builder.fletcher32())?;
    strings(folder)?;
    many_versions(folder)?;
    many_chunks(folder)?;
    kinds(folder)
}

/// A new file. Nothing is synced: these files can be made again.
fn create(folder: &Path, name: &str) -> Result<VersionedFile, Box<dyn Error>> {
    let path = folder.join(name).with_extension("h5");
    if path.exists() {
        std::fs::remove_file(&path)?;
    }
    Ok(OpenOptions::new().durability(Durability::Process).create(&path)?)
}

fn plain(folder: &Path) -> Result<(), Box<dyn Error>> {
    let mut file = create(folder, "plain")?;
    let mut stage = file.stage("r0")?;
    stage.create_dataset("x").chunks(&[4]).data(&Array1::from_iter(0..10_i64))?;
    let plane = Array2::from_shape_fn((5, 7), |(row, column)| (row * 10 + column) as f32);
    stage.create_dataset("group/y").chunks(&[2, 3]).data(&plane)?;
    stage.commit()?;
    let mut stage = file.stage("r1")?;
    stage.dataset_mut("x")?.write_scalar(s![5..6], -1_i64)?;
    stage.dataset_mut("group/y")?.resize(&[6, 5])?;
    stage.commit()?;
    Ok(())
}

fn filtered(
    folder: &Path,
    name: &str,
    filters: impl for<'s, 'f> FnOnce(DatasetBuilder<'s, 'f>) -> DatasetBuilder<'s, 'f>,
) -> Result<(), Box<dyn Error>> {
    let mut file = create(folder, name)?;
    let mut stage = file.stage("r0")?;
    let cube = Array3::from_shape_fn((3, 8, 8), |(a, b, c)| (a * 64 + b * 8 + c % 3) as u16);
    let builder = stage.create_dataset("cube").chunks(&[2, 8, 4]);
    filters(builder).data(&cube)?;
    stage.commit()?;
    Ok(())
}

fn strings(folder: &Path) -> Result<(), Box<dyn Error>> {
    let mut file = create(folder, "strings")?;
    let mut stage = file.stage("r0")?;
    let words = ["", "a", "twelve bytes", "ä", "the last one"];
    stage.create_dataset("words").chunks(&[2]).strings(&[5], &words)?;
    stage.create_dataset("packed").chunks(&[4]).gzip(4).strings(&[5], &words)?;
    stage.commit()?;
    let mut stage = file.stage("r1")?;
    stage.dataset_mut("words")?.write_strings(s![1..2], &["other"], &[1])?;
    stage.commit()?;
    Ok(())
}

/// A history with branches, versions that share all, and a dataset that comes and goes.
fn many_versions(folder: &Path) -> Result<(), Box<dyn Error>> {
    let mut file = create(folder, "many-versions")?;
    let mut stage = file.stage("r0")?;
    stage.create_dataset("x").chunks(&[2]).data(&Array1::from_iter(0..6_i32))?;
    stage.commit()?;
    for number in 1..8_i32 {
        let parent = format!("r{}", number / 2);
        let mut stage =
            StageOptions::new().parent(&parent).stage(&mut file, &format!("r{number}"))?;
        match number % 4 {
            0 => stage.delete("x")?,
            1 => {}
            _ if stage.dataset_mut("x").is_ok() => {
                stage.dataset_mut("x")?.write_scalar(s![number % 6], number)?;
            }
            _ => {}
        }
        stage.commit()?;
    }
    Ok(())
}

/// A list of mappings that is looked up in, and an index of chunks of two levels.
fn many_chunks(folder: &Path) -> Result<(), Box<dyn Error>> {
    let mut file = create(folder, "many-chunks")?;
    let mut stage = file.stage("r0")?;
    stage
        .create_dataset("x")
        .chunks(&[1, 2])
        .data(&Array2::from_shape_fn((50, 5), |(a, b)| (a * 5 + b) as u8))?;
    stage.commit()?;
    Ok(())
}

/// Elements of several kinds, and what has no chunk.
fn kinds(folder: &Path) -> Result<(), Box<dyn Error>> {
    let mut file = create(folder, "kinds")?;
    let mut stage = file.stage("r0")?;
    stage.create_dataset("bool").chunks(&[8]).data(&Array1::from_elem(5, true))?;
    stage.create_dataset("empty").chunks(&[3]).data(&Array1::<f64>::zeros(0))?;
    stage.create_dataset("fill").chunks(&[2, 2]).data(&Array2::<i64>::zeros((4, 4)))?;
    stage.commit()?;
    Ok(())
}
