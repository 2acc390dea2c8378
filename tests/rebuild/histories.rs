//! Random histories, some of whose versions are deleted: the others show what they showed, to us and to the package.

use h5strata::store::Attribute;
use h5strata::{RepackOptions, StageOptions, VersionedFile};
use ndarray::{Array1, Array2, ArrayD, IxDyn};

use crate::picture::{Picture, check_sound};
use crate::support::values::Numbers;
use crate::support::{Outcome, made};
use crate::{Scratch, delete};

/// Datasets that histories have: a kind of elements, filters, and a shape of chunks each.
const PATHS: [&str; 6] = ["int", "grp/float", "grp/deep/names", "bools", "filled", "late"];

/// A file of so many random versions, some on branches.
fn random(scratch: &Scratch, numbers: &mut Numbers, count: u64) -> VersionedFile {
    let mut file = scratch.create();
    for number in 0..count {
        let mut options = StageOptions::new();
        if number > 2 && numbers.below(5) == 0 {
            options = options.parent(format!("r{}", numbers.below(number)));
        }
        if number > 2 && numbers.below(7) == 0 {
            options = options.make_current(false);
        }
        let mut stage = options.stage(&mut file, &format!("r{number}")).unwrap();
        for path in PATHS {
            match (stage.kind(path).is_some(), numbers.below(6)) {
                (false, 0..3) => create(&mut stage, path, numbers),
                (true, 0) if numbers.below(3) == 0 => stage.delete(path).unwrap(),
                (true, 1) => resize(&mut stage, path, numbers),
                (true, 2..5) => write(&mut stage, path, numbers),
                _ => {}
            }
        }
        if numbers.below(3) == 0 {
            stage.set_attribute("", Attribute::number("number", number)).unwrap();
        }
        if stage.kind("int").is_some() && numbers.below(3) == 0 {
            stage.set_attribute("int", Attribute::text("of", format!("r{number}"))).unwrap();
        }
        stage.commit().unwrap();
    }
    file
}

fn create(stage: &mut h5strata::Stage<'_>, path: &str, numbers: &mut Numbers) {
    let rows = numbers.below(30) as usize;
    let columns = 1 + numbers.below(6) as usize;
    // A dataset that was there before keeps its settings.
    let builder = stage.create_dataset(path);
    let created = match path {
        "int" => builder.chunks(&[4]).data(&Array1::from_elem(rows, 1i64)),
        "grp/float" => {
            let values = Array2::from_elem((rows, columns), 0.5f32);
            builder.chunks(&[5, 2]).gzip(4).shuffle().data(&values)
        }
        "grp/deep/names" => {
            let names: Vec<String> = (0..rows).map(|row| format!("name {row}")).collect();
            builder.chunks(&[6]).strings(&[rows as u64], &names)
        }
        "bools" => builder.chunks(&[7]).data(&Array1::from_elem(rows, true)),
        "filled" => {
            builder.chunks(&[3]).fill(&7i16.to_le_bytes()).data(&Array1::from_elem(rows, 7i16))
        }
        _ => builder.chunks(&[8]).fletcher32().data(&Array1::from_elem(rows, 9u16)),
    };
    created.unwrap();
}

fn shape(stage: &mut h5strata::Stage<'_>, path: &str) -> Vec<u64> {
    stage.dataset_mut(path).unwrap().shape().to_vec()
}

fn resize(stage: &mut h5strata::Stage<'_>, path: &str, numbers: &mut Numbers) {
    let shape: Vec<u64> = shape(stage, path).iter().map(|_| numbers.below(30)).collect();
    stage.dataset_mut(path).unwrap().resize(&shape).unwrap();
}

fn write(stage: &mut h5strata::Stage<'_>, path: &str, numbers: &mut Numbers) {
    let shape = shape(stage, path);
    if shape.contains(&0) {
        return;
    }
    let at: Vec<String> = shape.iter().map(|&axis| numbers.below(axis).to_string()).collect();
    let selection: h5strata::Selection = at.join(", ").parse().unwrap();
    let mut dataset = stage.dataset_mut(path).unwrap();
    let value = numbers.below(1000);
    match path {
        "int" => dataset.write_scalar(selection, value as i64).unwrap(),
        "grp/float" => dataset.write_scalar(selection, value as f32).unwrap(),
        "grp/deep/names" => {
            let text = format!("written {value}");
            dataset.write_strings(selection, &[text], &[]).unwrap();
        }
        "bools" => dataset.write_scalar(selection, value.is_multiple_of(2)).unwrap(),
        "filled" => dataset.write_scalar(selection, value as i16).unwrap(),
        _ => dataset.write(selection, &ArrayD::from_elem(IxDyn(&[]), value as u16)).unwrap(),
    }
}

/// Versions of a file that are deleted, any number of them.
fn chosen(file: &VersionedFile, numbers: &mut Numbers) -> Vec<String> {
    let share = numbers.below(4);
    let versions = file.versions().unwrap().iter();
    let chosen = versions.filter(|_| numbers.below(4) < share).map(|version| version.name.clone());
    chosen.collect()
}

#[test]
fn survivors_of_random_histories_are_what_they_were() -> Outcome {
    for seed in 0..20 {
        let scratch = Scratch::new();
        let mut numbers = Numbers(seed);
        let count = 3 + numbers.below(12);
        let mut file = random(&scratch, &mut numbers, count);
        for round in 0..3 {
            let expected = Picture::of(&file);
            let names = chosen(&file, &mut numbers);
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            if names.is_empty() {
                file.repack_in_place(&RepackOptions::new())?;
            } else {
                delete(&mut file, &names)?;
            }
            let expected = expected.without(&names);
            for file in [&file, &VersionedFile::open(&scratch.path)?] {
                assert!(Picture::of(file) == expected, "seed {seed}, round {round}, {names:?}");
                check_sound(file);
            }
            // The next version goes on where the last one was.
            let mut stage = file.stage(&format!("after {round}"))?;
            for path in PATHS {
                if stage.kind(path).is_some() {
                    write(&mut stage, path, &mut numbers);
                }
            }
            stage.commit()?;
            check_sound(&file);
        }
    }
    Ok(())
}

#[test]
fn the_package_reads_continues_and_deletes_from_what_is_left() -> Outcome {
    for seed in 100..104 {
        let scratch = Scratch::new();
        let mut numbers = Numbers(seed);
        let mut file = random(&scratch, &mut numbers, 8);
        delete(&mut file, &["r1", "r4", "r5"])?;
        let before = Picture::of(&file);
        drop(file);
        made::alter("agrees", &scratch.path, &[])?;
        made::rebuilding("continue-with-package", &scratch.path, &["r2"])?;
        let mut file = VersionedFile::open_rw(&scratch.path)?;
        let mut after = Picture::of(&file);
        after.versions.remove("by the package");
        assert_eq!(after.versions, before.without(&["r2"]).versions, "seed {seed}");
        file.repack_in_place(&RepackOptions::new())?;
        check_sound(&file);
        made::alter("agrees", &scratch.path, &[])?;
    }
    Ok(())
}
