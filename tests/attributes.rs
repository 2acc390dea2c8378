//! The strings of attributes, found straight in the file, are those that libhdf5 reads, in every file at hand.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by a panic")]

use std::fs::File;
use std::path::{Path, PathBuf};

use h5strata::ondisk::{Collection, Superblock, variable_string_references};
use h5strata_ffi::h5o::ObjectKind;
use h5strata_ffi::id::{Container, Id};
use h5strata_ffi::{Lock, h5a, h5f, h5g, h5l, h5o, h5t};

mod support;

use support::{Outcome, made, shared};

/// Attributes of an object that are stored in its header by default (`H5Pset_attr_phase_change`).
const MOST_COMPACT: usize = 8;

/// A file opened both ways, and how many attributes of variable-length strings were compared.
struct Comparison<'l> {
    lock: &'l Lock,
    file: File,
    superblock: Superblock,
    equal: u64,
    /// Those that were left to libhdf5, because they are stored densely.
    left: u64,
}

impl Comparison<'_> {
    /// Compares the attributes of the object at `path`, and of all that is in it.
    fn compare<C: Container>(&mut self, at: &Id<C>, path: &str) -> Outcome {
        let names = h5a::names(self.lock, at, path)?;
        let left = self.left;
        for name in &names {
            self.compare_attribute(at, path, name)
                .map_err(|error| format!("{path}, {name}: {error}"))?;
        }
        assert!(self.left == left || names.len() > MOST_COMPACT, "{path}: {names:?}");
        if h5o::object(self.lock, at, path)?.kind != ObjectKind::Group {
            return Ok(());
        }
        let group = h5g::open(self.lock, at, path)?;
        for name in h5l::names(self.lock, &group)? {
            // Broken links lead to no attributes.
            if h5o::address(self.lock, &group, &name).is_ok() {
                self.compare(&group, &name)?;
            }
        }
        Ok(())
    }

    fn compare_attribute<C: Container>(&mut self, at: &Id<C>, path: &str, name: &str) -> Outcome {
        let attribute = h5a::open(self.lock, at, path, name)?;
        let datatype = h5a::datatype(self.lock, &attribute)?;
        let header = h5o::address(self.lock, at, path)?;
        let found = variable_string_references(&self.file, &self.superblock, header, name);
        if !h5t::is_variable_string(self.lock, &datatype)? {
            assert_eq!(found?, None, "another type");
            return Ok(());
        }
        let expected = h5a::read_variable_strings(self.lock, &attribute)?;
        match found? {
            None => self.left += 1,
            Some(references) => {
                assert_eq!(self.resolve(&references)?, expected);
                self.equal += 1;
            }
        }
        Ok(())
    }

    fn resolve(&self, references: &[u8]) -> Result<Vec<Vec<u8>>, Box<dyn std::error::Error>> {
        let width = self.superblock.offset_size;
        let resolve = |reference: &[u8]| {
            let length = u32::from_le_bytes(*reference.first_chunk().ok_or("too short")?);
            let address = width.decode(&reference[4..]).ok_or("too short")?;
            let index = u32::from_le_bytes(*reference.last_chunk().ok_or("too short")?);
            if address == 0 {
                return Ok(Vec::new());
            }
            let mut collection = Collection::new();
            collection.read_into(&self.file, &self.superblock, address)?;
            let object = collection.object(index).ok_or("no object")?;
            let string = object.get(..usize::try_from(length)?).ok_or("too long")?;
            Ok(string.split(|&byte| byte == 0).next().unwrap_or_default().to_vec())
        };
        references.chunks_exact(4 + width.bytes() + 4).map(resolve).collect()
    }
}

fn compare(path: &Path) -> Result<(u64, u64), Box<dyn std::error::Error>> {
    let lock = h5strata_ffi::lock();
    let library = h5f::open_read_only(&lock, path, None)?;
    let file = File::open(path)?;
    let superblock = Superblock::read(&file)?;
    let mut comparison = Comparison { lock: &lock, file, superblock, equal: 0, left: 0 };
    comparison.compare(&library, "/")?;
    Ok((comparison.equal, comparison.left))
}

#[test]
fn strings_of_all_attributes_are_those_that_libhdf5_reads() -> Outcome {
    let mut paths: Vec<PathBuf> = made::files()?.into_iter().map(|made| made.path).collect();
    for folder in [shared::suite()?, shared::data()?].into_iter().flatten() {
        paths.extend(shared::hdf5_files(&folder)?);
    }
    let (mut equal, mut left) = (0, 0);
    for path in paths {
        let counts = compare(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        equal += counts.0;
        left += counts.1;
    }
    assert!(equal > 1000 && left > 0, "{equal} compared, {left} left to libhdf5");
    Ok(())
}
