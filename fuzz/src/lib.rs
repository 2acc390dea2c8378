//! What is done with a file that may hold anything, and the files to begin with.

pub mod seeds;

use std::io;
use std::path::Path;

use h5strata::dims::element_count;
use h5strata::{
    Dataset, Dtype, OpenOptions, Selection, StatsOptions, VerifyOptions, Version, VersionedFile,
};

/// Versions and datasets of one file that are looked at: a few kilobytes can name thousands.
const MOST_VERSIONS: usize = 16;
const MOST_DATASETS: usize = 64;

/// Elements of the largest dataset that is read as a whole. A damaged shape may have any number of them.
const MOST_ELEMENTS: u64 = 1 << 18;

/// Opens a file with these bytes, verifies, counts, lists, compares and reads what is in it. Errors are as good as
/// answers: all that is asked is that each call returns.
///
/// # Errors
/// Those of writing the file.
pub fn read_all(bytes: &[u8]) -> io::Result<()> {
    // A new file each time: libhdf5 takes files of one inode for one file.
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("mutated.h5");
    std::fs::write(&path, bytes)?;
    look_at(&path);
    Ok(())
}

fn look_at(path: &Path) {
    let options = OpenOptions::new().threads(1).accept_wrong_hashes(true);
    let Ok(file) = options.open(path) else { return };
    for quick in [true, false] {
        drop(file.verify(&VerifyOptions::new().quick(quick)));
        drop(file.stats(&StatsOptions::new().quick(quick)));
    }
    drop((file.current(), file.back(1)));
    let Ok(versions) = file.versions() else { return };
    let mut datasets = 0;
    let mut last: Option<Version> = None;
    for info in versions.iter().take(MOST_VERSIONS) {
        let Ok(version) = file.version(&info.name) else { continue };
        drop((version.parent(), version.timestamp(), version.attributes()));
        for entry in version.entries().unwrap_or_default().iter().take(MOST_DATASETS) {
            drop(version.attributes_of(&entry.path));
            datasets += 1;
            if datasets <= MOST_DATASETS
                && let Ok(dataset) = version.dataset(&entry.path)
            {
                read(&dataset);
            }
        }
        if let Some(last) = last.replace(version.clone()) {
            compare(&last, &version);
        }
    }
    drop(file);
    // Anew, so that what is read first is not known already.
    if let Ok(file) = OpenOptions::new().threads(2).accept_wrong_hashes(true).open(path) {
        first_elements(&file);
    }
}

/// Reads a few elements of each dataset of the current version: chunks and mappings are looked up one by one.
fn first_elements(file: &VersionedFile) {
    let Ok(version) = file.current() else { return };
    for path in version.datasets().unwrap_or_default().iter().take(MOST_DATASETS) {
        let Ok(dataset) = version.dataset(path) else { continue };
        for text in ["0, ...", "-1, ..., -1", "..., ::7"] {
            if let Ok(selection) = text.parse::<Selection>()
                && is_small(&dataset)
            {
                read_selected(&dataset, selection);
            }
        }
    }
}

fn is_small(dataset: &Dataset) -> bool {
    element_count(dataset.shape()).is_ok_and(|count| count <= MOST_ELEMENTS)
}

fn read(dataset: &Dataset) {
    drop((dataset.stored_chunks(), dataset.chunk_map().map(|map| map.stored())));
    drop((dataset.dtype().to_string(), format!("{:?}", dataset.filters())));
    if is_small(dataset) {
        drop(dataset.blame(Selection::all()));
        read_selected(dataset, Selection::all());
    }
}

fn read_selected(dataset: &Dataset, selection: Selection) {
    if matches!(dataset.dtype(), Dtype::VariableString { .. }) {
        drop(dataset.read_byte_strings(selection));
    } else {
        drop(dataset.read_bytes(&selection));
    }
}

fn compare(old: &Version, new: &Version) {
    let Ok(diff) = old.diff(new) else { return };
    drop(diff.attributes());
    for dataset in diff.datasets().take(MOST_DATASETS).flatten() {
        let is_small =
            [dataset.old_dataset(), dataset.new_dataset()].into_iter().flatten().all(is_small);
        if is_small {
            drop(dataset.values());
        }
    }
}
