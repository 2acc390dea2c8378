//! Files of versioned-hdf5 in all their kinds.

use h5strata::codec::{Filter, FilterRequest};
use h5strata::{Durability, Error, OpenOptions, RewriteOptions, VerifyOptions, VersionedFile};

use crate::Scratch;
use crate::support::values::Values;
use crate::support::{Outcome, made};

/// Version and path of a dataset, its shape, and the digest of its values with its attributes.
type Told = (String, String, Vec<u64>, String);

/// What there is to tell of every dataset of every version.
fn digests(file: &VersionedFile) -> Result<Vec<Told>, Error> {
    let mut digests = Vec::new();
    for version in file.versions()? {
        let version = file.version(&version.name)?;
        for path in version.datasets()? {
            let dataset = version.dataset(&path)?;
            let values = Values::whole(&dataset)?;
            let told = format!("{} {:?}", values.sha256(), dataset.attributes()?);
            digests.push((version.name().to_owned(), path, dataset.shape().to_vec(), told));
        }
    }
    Ok(digests)
}

#[test]
fn all_datasets_of_every_made_file_keep_their_values_without_and_with_filters() -> Outcome {
    let mut rewritten = 0;
    for made in made::files()? {
        for (filters, name) in [
            (FilterRequest::default(), "none"),
            (
                FilterRequest {
                    shuffle: true,
                    compression: Some(Filter::gzip(1)),
                    fletcher32: false,
                },
                "gzip",
            ),
        ] {
            let scratch = Scratch::new();
            std::fs::copy(&made.path, &scratch.path)?;
            let mut file =
                match OpenOptions::new().durability(Durability::Process).open_rw(&scratch.path) {
                    Ok(file) => file,
                    // Of old data_versions.
                    Err(Error::DataVersion { .. }) => continue,
                    Err(error) => return Err(error.into()),
                };
            let Ok(before) = digests(&file) else { continue };
            let was_sound = file.verify(&VerifyOptions::new())?.is_sound();
            match file.rewrite_all(&RewriteOptions::new().filters(filters)) {
                Ok(report) => rewritten += usize::from(report.rewritten),
                // What cannot be written by anybody here.
                Err(error @ (Error::Rewrite { .. } | Error::NotCarried { .. })) => {
                    eprintln!("{}, {name}: {error}", made.name);
                    continue;
                }
                Err(error) => panic!("{}, {name}: {error}", made.name),
            }
            assert!(digests(&file)? == before, "{}, {name}", made.name);
            let is_sound = file.verify(&VerifyOptions::new())?.is_sound();
            assert!(is_sound || !was_sound, "{}, {name}", made.name);
        }
    }
    assert!(rewritten > 20, "{rewritten} files");
    Ok(())
}
