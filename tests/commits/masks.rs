//! Chunks that an optional filter does not make smaller are stored as they are, with the bit of the filter set, and
//! read back in every way.

use h5strata::codec::Filter;
use h5strata::dims::{ChunkIndex, RawChunk};
use h5strata::selection::AxisSelection;
use h5strata::{OpenOptions, RawPath, Selection, VersionedFile};
use ndarray::Array1;

use crate::support::Outcome;
use crate::support::values::Numbers;
use crate::{Scratch, dataset, read_as};

const CHUNK: usize = 64;

/// Chunks of numbers that no filter makes smaller where `noise` says so, and else of rising ones.
fn values(noise: &[bool], seed: u64) -> Array1<u64> {
    let mut numbers = Numbers(seed);
    noise
        .iter()
        .flat_map(|&noise| {
            (0..CHUNK as u64)
                .map(|at| if noise { numbers.next() } else { seed + at })
                .collect::<Vec<_>>()
        })
        .collect()
}

/// Which of the two filters are left out of each chunk.
fn masks(file: &VersionedFile, version: &str) -> Result<Vec<u32>, h5strata::Error> {
    let stored = dataset(file, version, "x").stored_chunks()?;
    Ok(stored.iter().map(|chunk| chunk.filter_mask).collect())
}

/// libhdf5 forgets the mask of the chunk that it wrote last, and undoes filters that were not applied.
#[test]
fn chunks_that_do_not_shrink_have_their_bit_and_read_back_in_every_way() -> Outcome {
    // The last chunk written is one that does not shrink, or one that does, or the only one.
    let patterns: [&[bool]; 5] =
        [&[true], &[false, true], &[true, false], &[true, true, false, true], &[true, true, true]];
    let filters = [Filter::gzip(9), Filter::lzf()];
    for raw_path in [RawPath::Auto, RawPath::Library] {
        for (filter, pattern) in filters.iter().flat_map(|f| patterns.map(|pattern| (f, pattern))) {
            let scratch = Scratch::new();
            let mut file = OpenOptions::new().raw_path(raw_path).create(&scratch.path)?;
            let first = values(pattern, 1);
            let mut stage = file.stage("r0")?;
            stage
                .create_dataset("x")
                .chunks(&[CHUNK as u64])
                .shuffle()
                .compression(filter.clone())
                .data(&first)?;
            assert_eq!(stage.commit()?.chunks_written, pattern.len() as u64);
            let expected: Vec<u32> = pattern.iter().map(|&noise| u32::from(noise) << 1).collect();
            // At once, through the handle that has written them.
            assert!(read_as::<u64>(&file, "r0", "x") == first.clone().into_dyn(), "{pattern:?}");
            assert_eq!(masks(&file, "r0")?, expected);

            // The dataset of stored chunks stays open, and what libhdf5 knows of it.
            let held = dataset(&file, "r0", "x");
            // One chunk more at the end, and another one in place of the first.
            let mut second = first.to_vec();
            second.splice(..CHUNK, values(&[true], 7));
            second.extend(values(&[true], 8));
            let second = Array1::from_vec(second);
            let mut stage = file.stage("r1")?;
            let mut x = stage.dataset_mut("x")?;
            x.resize(&[second.len() as u64])?;
            x.write(Selection::all(), &second)?;
            assert_eq!(stage.commit()?.chunks_written, 2);
            // Before any other chunk is looked for: the one that was written last.
            let end = (second.len() - CHUNK) as i64;
            let last = AxisSelection::Slice { start: Some(end), stop: None, step: 1 };
            let last = dataset(&file, "r1", "x").read::<u64>(Selection::axes([last]))?;
            assert!(last.iter().eq(second.iter().skip(end as usize)), "{pattern:?}");
            assert!(read_as::<u64>(&file, "r1", "x") == second.clone().into_dyn(), "{pattern:?}");
            assert!(read_as::<u64>(&file, "r0", "x") == first.clone().into_dyn(), "{pattern:?}");
            assert_eq!(masks(&file, "r1")?.last(), Some(&2));
            assert!(held.read::<u64>(Selection::all())? == first.clone().into_dyn());
            drop((file, held));
            for way in [RawPath::Auto, RawPath::Library] {
                let file = OpenOptions::new().raw_path(way).open(&scratch.path)?;
                assert!(
                    read_as::<u64>(&file, "r0", "x") == first.clone().into_dyn(),
                    "{pattern:?}"
                );
                assert!(
                    read_as::<u64>(&file, "r1", "x") == second.clone().into_dyn(),
                    "{pattern:?}"
                );
                assert_eq!(masks(&file, "r0")?, expected);
            }
            if raw_path == RawPath::Auto {
                scratch.alter("agrees", &[])?;
            }
        }
    }
    Ok(())
}

/// Other threads read through libhdf5 between the write of a chunk and that of the next.
#[test]
fn readers_through_libhdf5_get_such_chunks_right_while_more_are_written() -> Outcome {
    let scratch = Scratch::new();
    let mut file =
        OpenOptions::new().raw_path(RawPath::Library).threads(1).create(&scratch.path)?;
    let first = values(&[true; 8], 1);
    let mut stage = file.stage("r0")?;
    stage.create_dataset("x").chunks(&[CHUNK as u64]).gzip(9).data(&first)?;
    stage.commit()?;
    let clone = file.clone();
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            for _ in 0..200 {
                let newest = clone.current_name().unwrap();
                let x = read_as::<u64>(&clone, &newest, "x");
                let seed = newest[1..].parse::<u64>().unwrap() + 1;
                assert!(x == values(&[true; 8], seed).into_dyn(), "{newest}");
            }
        });
        for version in 1..20 {
            let mut stage = file.stage(&format!("r{version}"))?;
            let values = values(&[true; 8], version + 1);
            stage.dataset_mut("x")?.write(Selection::all(), &values)?;
            stage.commit()?;
        }
        reader.join().unwrap();
        Ok::<_, h5strata::Error>(())
    })?;
    Ok(())
}

/// A checksum is not optional: it stays when compression is left out.
#[test]
fn only_the_filter_that_does_not_shrink_is_left_out() -> Outcome {
    let scratch = Scratch::new();
    let mut file = scratch.create();
    let noise = values(&[true, false], 3);
    let mut stage = file.stage("r0")?;
    let builder = stage.create_dataset("x").chunks(&[CHUNK as u64]);
    builder.shuffle().gzip(9).fletcher32().data(&noise)?;
    stage.commit()?;
    assert_eq!(masks(&file, "r0")?, [0b010, 0]);
    let x = dataset(&file, "r0", "x");
    let stored = x.stored_chunks()?;
    assert_eq!(stored[0].size, CHUNK as u64 * 8 + 4);
    assert_eq!(x.chunk_map()?.get(ChunkIndex(0)), Some(RawChunk(0)));
    for way in [RawPath::Auto, RawPath::Library] {
        let file = OpenOptions::new().raw_path(way).open(&scratch.path)?;
        assert!(read_as::<u64>(&file, "r0", "x") == noise.clone().into_dyn());
    }
    Ok(())
}
