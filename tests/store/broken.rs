//! Broken files and wrong requests give typed errors that say where: never a panic, never silent fill.

use std::path::{Path, PathBuf};

use h5strata::store::{DataVersionReason, DatasetFault, FormatFault, RawDataFault};
use h5strata::{Dataset, Error, OpenOptions, RawPath, Selection, VersionedFile};

use crate::open;
use crate::support::answers::{BrokenFile, Call};
use crate::support::values::Values;
use crate::support::{Outcome, made};

/// Makes the call that must fail; a read that succeeds gives its digest.
fn call(path: &Path, row: &BrokenFile, options: &OpenOptions) -> Result<Option<String>, Error> {
    let file = options.open(path)?;
    let version = || file.version(row.version.as_deref().unwrap_or_default());
    let dataset = || version()?.dataset(row.dataset.as_deref().unwrap_or_default());
    match row.call {
        Call::Open => Ok(None),
        Call::Version => version().map(|_| None),
        Call::Current => file.current().map(|_| None),
        // Any step to a parent that does not exist: by its name, or with the whole history.
        Call::Parent => {
            let parent = version()?.parent()?;
            file.versions()?;
            Ok(parent)
        }
        Call::History => file.versions().map(|_| None),
        Call::Shape => dataset().map(|_| None),
        Call::Read => Values::whole(&dataset()?).map(|values| Some(values.sha256())),
    }
}

#[test]
fn every_broken_file_gives_its_error() -> Outcome {
    let mut wrong = Vec::new();
    for (path, row) in made::broken_files()? {
        for raw_path in [RawPath::Auto, RawPath::Library] {
            match call(&path, &row, &OpenOptions::new().raw_path(raw_path)) {
                Ok(digest) if digest.is_some() && digest == row.or_sha256 => {}
                Ok(_) => {
                    wrong.push(format!("{}, {raw_path:?}: no error: {}", row.file, row.broken))
                }
                Err(error) => {
                    let said = error.to_string().to_lowercase();
                    let names = [Some(&row.file), row.version.as_ref(), row.dataset.as_ref()];
                    let says = names.into_iter().flatten().chain(&row.says);
                    let unsaid: Vec<_> =
                        says.filter(|text| !said.contains(&text.to_lowercase())).collect();
                    if !unsaid.is_empty() {
                        wrong.push(format!("{raw_path:?}: {error}\n    lacks {unsaid:?}"));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    Ok(())
}

#[test]
fn elements_that_are_stored_as_another_type_are_not_read() -> Outcome {
    for raw_path in [RawPath::Auto, RawPath::Library] {
        let path = broken("raw-data-of-another-type")?;
        let file = OpenOptions::new().raw_path(raw_path).open(path)?;
        let error = file.version("bad")?.dataset("data").unwrap_err();
        let Error::Dataset { fault, .. } = error else { panic!("{error}") };
        let DatasetFault::RawData { fault: RawDataFault::Type { expected, found }, .. } = *fault
        else {
            panic!("{fault}")
        };
        assert_eq!((&*expected.to_string(), &*found.to_string()), ("<i4", "<f8"));
    }
    Ok(())
}

/// A copy of a file whose global heaps end, each, in free space of no size, which libhdf5 reads for ever
/// (`H5HG__cache_heap_deserialize`, HDF5 2.2): it must not be asked.
fn with_endless_heaps(name: &str) -> Result<PathBuf, Box<dyn std::error::Error>> {
    const HEADER: usize = 16;
    let mut bytes = std::fs::read(made::file(name)?.path)?;
    let size_at = |bytes: &[u8], at: usize| {
        u64::from_le_bytes(*bytes[at + 8..].first_chunk().unwrap()) as usize
    };
    let starts: Vec<_> = (0..bytes.len()).filter(|&at| bytes[at..].starts_with(b"GCOL")).collect();
    assert!(!starts.is_empty());
    for start in starts {
        let end = start + size_at(&bytes, start);
        let (mut last, mut next) = (start, start + HEADER);
        while next + HEADER <= end {
            last = next;
            // The size of free space counts its header, that of an object its data.
            next += match bytes[last..last + 2] {
                [0, 0] => size_at(&bytes, last),
                _ => HEADER + size_at(&bytes, last).next_multiple_of(8),
            };
        }
        bytes[last..last + HEADER].fill(0);
    }
    let copy = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("endless-heaps-{name}.h5"));
    std::fs::write(&copy, bytes)?;
    Ok(copy)
}

#[test]
fn a_fill_value_in_a_damaged_heap_is_an_error() -> Outcome {
    let file = VersionedFile::open(with_endless_heaps("fill-strings-handmade")?)?;
    let error = file.version("r0")?.dataset("text").unwrap_err();
    let Error::Dataset { fault, .. } = error else { panic!("{error}") };
    assert!(matches!(*fault, DatasetFault::FillValue { .. }), "{fault}");
    Ok(())
}

#[test]
fn strings_of_attributes_in_a_damaged_heap_are_an_error_that_names_them() -> Outcome {
    for name in ["libver-earliest", "libver-latest"] {
        let copy = with_endless_heaps(name)?;
        let file = VersionedFile::open(&copy)?;
        let version = file.version("r0")?;
        let errors = [
            ("current_version", file.current().unwrap_err()),
            ("timestamp", version.timestamp().unwrap_err()),
            ("prev_version", version.parent().unwrap_err()),
        ];
        for (expected, error) in errors {
            let said = error.to_string();
            let Error::Attribute { object, attribute, .. } = error else { panic!("{said}") };
            assert!(object.starts_with("/_version_data/versions"), "{said}");
            assert!(attribute == expected && said.contains(&*copy.to_string_lossy()), "{said}");
        }
        assert!(file.versions().is_err());
    }
    Ok(())
}

/// libhdf5 is asked for the type of a version's dataset where its bytes are not those of the stored chunks' type. For that it
/// opens the dataset, and reads the heap that its list is in.
#[test]
fn a_list_in_a_damaged_heap_is_an_error_where_libhdf5_has_to_open_its_dataset() -> Outcome {
    /// Little-endian integers of 8 bytes, and where it says how they are padded (specification IV.A.2.d).
    const INTEGERS: &[u8] = &[0x10, 0x08, 0, 0, 8, 0, 0, 0, 0, 0, 64, 0];
    const PADDING: usize = 1;
    let copy = with_endless_heaps("libver-earliest")?;
    let sound = std::fs::read(&copy)?;
    let places = (0..sound.len()).filter(|&at| sound[at..].starts_with(INTEGERS));
    let mut damaged_heaps = 0;
    for place in places {
        let mut bytes = sound.clone();
        bytes[place + PADDING] ^= 2;
        std::fs::write(&copy, bytes)?;
        let file = VersionedFile::open(&copy)?;
        let version = file.version("r0")?;
        for path in version.datasets()? {
            if let Err(Error::Dataset { fault, .. }) = version.dataset(&path) {
                damaged_heaps += usize::from(fault.to_string().contains("heap"));
            }
        }
    }
    assert!(damaged_heaps > 0);
    Ok(())
}

#[test]
fn what_is_sound_in_a_broken_file_stays_readable() -> Outcome {
    let values: Vec<i32> = (0..10).collect();
    for (path, row) in made::broken_files()? {
        if matches!(row.call, Call::Open) {
            continue;
        }
        let sound = VersionedFile::open(&path)?.version("sound")?.dataset("intact")?;
        assert_eq!(sound.read::<i32>(..)?.into_raw_vec_and_offset().0, values, "{}", row.file);
    }
    Ok(())
}

fn panel() -> Result<(VersionedFile, Dataset), Box<dyn std::error::Error>> {
    let file = open("libver-latest")?;
    let cube = file.version("r1")?.dataset("grid/deep/cube")?;
    Ok((file, cube))
}

#[test]
fn a_missing_file_is_told_in_the_systems_words() {
    let error = VersionedFile::open("no/such/file.h5").unwrap_err();
    assert!(
        matches!(&error, Error::Io { source, .. } if source.kind() == std::io::ErrorKind::NotFound)
    );
    assert!(error.to_string().contains("no/such/file.h5"), "{error}");
    let error = VersionedFile::open(std::env::temp_dir()).unwrap_err();
    assert!(error.to_string().contains(&*std::env::temp_dir().to_string_lossy()), "{error}");
}

#[test]
fn a_pipe_is_refused_and_not_waited_for() {
    let pipe = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("pipe-{}", std::process::id()));
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let error = VersionedFile::open(&pipe).unwrap_err();
    std::fs::remove_file(&pipe).unwrap();
    assert!(error.to_string().contains("not a regular file"), "{error}");
}

#[test]
fn an_unknown_version_is_answered_with_the_names_there_are() -> Outcome {
    let file = open("names")?;
    for (asked, expected) in [("2026-11-31", "did you mean \"2026-11-30\"?"), ("q", "there are ")] {
        let error = file.version(asked).unwrap_err();
        let said = error.to_string();
        assert!(said.contains("names.h5") && said.contains(expected), "{said}");
        match error {
            Error::UnknownVersion { version, known, .. } => {
                assert_eq!((version.as_str(), known.len()), (asked, 8));
            }
            other => panic!("{other:?}"),
        }
    }
    for no_name in ["", ".", "..", "__first_version__", "0/grp", "/0", "/"] {
        let outcome = file.version(no_name);
        assert!(matches!(outcome, Err(Error::UnknownVersion { .. })), "{no_name:?}: {outcome:?}");
    }
    Ok(())
}

#[test]
fn an_unknown_dataset_is_answered_with_the_nearest_path() -> Outcome {
    let (file, _) = panel()?;
    let version = file.version("r1")?;
    let error = version.dataset("grid/deep/cub").unwrap_err();
    let said = error.to_string();
    assert!(said.contains("version \"r1\""), "{said}");
    assert!(said.contains("did you mean \"grid/deep/cube\"?"), "{said}");
    for no_path in ["", "/", ".", "..", "grid/.", "grid//deep", "line/x", "../r0/line"] {
        let outcome = version.dataset(no_path);
        assert!(matches!(outcome, Err(Error::UnknownObject { .. })), "{no_path:?}: {outcome:?}");
    }
    assert!(matches!(version.dataset("grid/deep"), Err(Error::WrongKind { .. })));
    assert!(matches!(version.entries_below("line"), Err(Error::WrongKind { .. })));
    assert_eq!(version.dataset("/grid/deep/cube/")?.path(), "grid/deep/cube");
    Ok(())
}

/// The fault of a dataset, after a check that the message says where it is.
fn fault<T: std::fmt::Debug>(outcome: Result<T, Error>) -> DatasetFault {
    let error = outcome.unwrap_err();
    let said = error.to_string();
    for place in ["libver-latest.h5", "version \"r1\"", "dataset \"grid/deep/cube\""] {
        assert!(said.contains(place), "{said}");
    }
    match error {
        Error::Dataset { fault, .. } => *fault,
        other => panic!("{other:?}"),
    }
}

#[test]
fn selections_that_do_not_fit_are_errors() -> Outcome {
    let (_, cube) = panel()?;
    assert_eq!(cube.shape(), [6, 9, 7]);
    for text in
        ["0, 0, 0, 0", "6", "-7", "0, [0, 9]", "0, [-10]", ":, :, 7", "::0", "[True, False]"]
    {
        let selection: Selection = text.parse()?;
        let found = fault(cube.read_bytes(&selection));
        assert!(matches!(found, DatasetFault::Plan(_)), "{text}: {found:?}");
    }
    let mask = Selection::mask(&[2, 2], vec![true; 4])?;
    assert!(matches!(fault(cube.read_bytes(&mask)), DatasetFault::Plan(_)));
    assert!(Selection::mask(&[2, 2], vec![true; 5]).is_err());
    for points in [vec![0, 0], vec![0, 0, 7], vec![-7, 0, 0]] {
        assert!(matches!(fault(cube.read_points::<f64>(&points)), DatasetFault::Plan(_)));
    }
    Ok(())
}

#[test]
fn a_destination_must_have_exactly_the_results_size() -> Outcome {
    let (_, cube) = panel()?;
    let selection: Selection = "0, :2".parse()?;
    for bytes in [0, 14 * 8 - 1, 14 * 8 + 1] {
        let found = fault(cube.read_into(&selection, &mut vec![0; bytes]));
        assert!(matches!(found, DatasetFault::Buffer(_)), "{found:?}");
    }
    cube.read_into(&selection, &mut [0; 14 * 8])?;
    Ok(())
}

#[test]
fn elements_are_not_read_as_another_type() -> Outcome {
    let (file, cube) = panel()?;
    assert!(matches!(fault(cube.read::<f32>(..)), DatasetFault::Type { .. }));
    assert!(matches!(fault(cube.read::<i64>(..)), DatasetFault::Type { .. }));
    assert!(matches!(fault(cube.read_strings(..)), DatasetFault::Type { .. }));
    let texts = file.version("r1")?.dataset("texts")?;
    assert!(texts.read_bytes(&Selection::all()).is_err());
    assert!(texts.read::<u8>(..).is_err());
    Ok(())
}

fn broken(name: &str) -> Result<PathBuf, Box<dyn std::error::Error>> {
    Ok(made::folder()?.join(format!("broken/{name}.h5")))
}

#[test]
fn formats_with_wrong_hashes_are_read_only_when_asked() -> Outcome {
    for number in [2, 3] {
        let path = broken(&format!("data-version-{number}"))?;
        let refused = VersionedFile::open(&path).unwrap_err();
        assert!(matches!(
            refused,
            Error::DataVersion { found, reason: DataVersionReason::WrongHashes, .. } if found == number
        ));
        let file = OpenOptions::new().accept_wrong_hashes(true).open(&path)?;
        assert_eq!(file.data_version(), number);
        let values = file.version("sound")?.dataset("intact")?.read::<i32>(..)?;
        assert_eq!(values.into_raw_vec_and_offset().0, (0..10).collect::<Vec<_>>());
    }
    let accepting = OpenOptions::new().accept_wrong_hashes(true);
    for (number, reason) in [
        (5, DataVersionReason::TooNew),
        (0, DataVersionReason::Unknown),
        (-4, DataVersionReason::Unknown),
    ] {
        let error = accepting.open(broken(&format!("data-version-{number}"))?).unwrap_err();
        assert!(
            matches!(error, Error::DataVersion { found, reason: why, .. } if (found, why) == (number, reason))
        );
    }
    Ok(())
}

#[test]
fn histories_that_are_not_whole_are_errors_and_versions_still_read() -> Outcome {
    let format = |error: Error| match error {
        Error::Format { fault, .. } => fault,
        other => panic!("{other:?}"),
    };
    let file = VersionedFile::open(broken("dangling-parent")?)?;
    let fault = format(file.versions().unwrap_err());
    assert_eq!(fault, FormatFault::DanglingParent { parent: "nowhere".into() });
    assert!(matches!(file.back(1), Err(Error::UnknownVersion { .. } | Error::Format { .. })));

    for cyclic in ["cyclic-parents", "own-parent"] {
        let file = VersionedFile::open(broken(cyclic)?)?;
        assert_eq!(format(file.versions().unwrap_err()), FormatFault::CyclicParents);
        assert_eq!(file.back(0)?.name(), "bad");
        assert!(file.back(u64::MAX).is_err());
    }

    let file = VersionedFile::open(broken("current-version-missing")?)?;
    let fault = format(file.current().unwrap_err());
    assert_eq!(fault, FormatFault::DanglingCurrent { version: "nowhere".into() });
    assert_eq!(file.versions()?.len(), 2);
    Ok(())
}

#[test]
fn what_a_stopped_writer_left_is_no_version() -> Outcome {
    let file = VersionedFile::open(broken("not-committed")?)?;
    assert!(matches!(file.version("bad"), Err(Error::NotCommitted { .. })));
    let names: Vec<_> = file.versions()?.iter().map(|version| version.name.as_str()).collect();
    assert_eq!(names, ["sound"]);

    let file = open("failed-stage")?;
    let data = file.current()?.dataset("data")?;
    assert_eq!(data.read::<i64>("2:4".parse::<Selection>()?)?.into_raw_vec_and_offset().0, [2, 3]);
    Ok(())
}

#[test]
fn a_file_without_versions_says_so() -> Outcome {
    let file = open("no-versions")?;
    assert!(matches!(file.current(), Err(Error::NoVersions { .. })));
    assert!(matches!(file.back(0), Err(Error::NoVersions { .. })));
    assert!(matches!(file.at(chrono::Utc::now()), Err(Error::NoVersions { .. })));
    assert!(file.versions()?.is_empty());
    Ok(())
}
