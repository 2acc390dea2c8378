//! Virtual datasets made by libhdf5 without mappings and given them in the closed file are what libhdf5 would have made.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "a test fails by a panic, and its numbers are small"
)]

use std::fs::{self, File};
use std::path::Path;
use std::process::Command;

use h5strata::chunk_map::vds_block::{ChunkSources, check_list, encode_list};
use h5strata::dims::{ChunkIndex, RawChunk, chunk_grid, unravel};
use h5strata::ondisk::{
    FieldWidth, GlobalHeapId, Layout, MapPatcher, ObjectHeader, OndiskError, Superblock, locate,
};
use h5strata_ffi::h5s::{Hyperslab, Selection};
use h5strata_ffi::h5t::{ByteOrder, CharacterSet, Description, TypeClass};
use h5strata_ffi::{Lock, h5a, h5d, h5f, h5g, h5l, h5o, h5p, h5s, h5t};
use tempfile::TempDir;

mod support;

use support::{Outcome, made};

/// The rules of `tests/python/patched_maps.py`.
const RAW_CHUNKS: u64 = 40;
const SMALL: u64 = 12;
const SMALL_SOURCES: ChunkSources<'_> =
    ChunkSources { shape: &[17, 13], chunk_shape: &[4, 5], raw_data: "/raw" };

type Map = Vec<(ChunkIndex, RawChunk)>;

fn small_map(number: u64) -> Map {
    (0..15)
        .filter(|chunk| !(chunk + number).is_multiple_of(4))
        .map(|chunk| (ChunkIndex(chunk), RawChunk((chunk * 7 + number) % RAW_CHUNKS)))
        .collect()
}

fn large_map(chunks: u64) -> Map {
    (0..chunks).map(|chunk| (ChunkIndex(chunk), RawChunk(chunk % 1000))).collect()
}

fn list(sources: ChunkSources<'_>, map: &Map, length_size: FieldWidth) -> Vec<u8> {
    encode_list(sources, map.iter().copied(), length_size).unwrap()
}

/// Addresses of object headers, in a file that is closed again.
fn addresses(path: &Path, names: &[String]) -> Vec<u64> {
    let lock = h5strata_ffi::lock();
    let file = h5f::open_read_only(&lock, path, None).unwrap();
    names.iter().map(|name| h5o::address(&lock, &file, name).unwrap()).collect()
}

/// Gives mappings to all datasets of a file that the script has made but the empty one; the last small one gets its list
/// as it stands in the file.
fn give_mappings(path: &Path, large_chunks: u64) -> Result<(), OndiskError> {
    let mut names: Vec<_> = (0..SMALL).map(|number| format!("small/{number}")).collect();
    names.push("large".to_owned());
    let addresses = addresses(path, &names);
    let mut file = File::options().read(true).write(true).open(path).unwrap();
    let mut patcher = MapPatcher::begin(&file)?;
    let length_size = patcher.length_size();
    let elements = [2 * large_chunks - 1];
    let large = ChunkSources { shape: &elements, chunk_shape: &[2], raw_data: "/raw_1" };
    patcher.place(&mut file, addresses[0], &list(SMALL_SOURCES, &small_map(0), length_size))?;
    let large = list(large, &large_map(large_chunks), length_size);
    patcher.place(&mut file, addresses[addresses.len() - 1], &large)?;
    for (number, &address) in (0..SMALL).zip(&addresses).skip(1) {
        patcher.place(&mut file, address, &list(SMALL_SOURCES, &small_map(number), length_size))?;
    }
    let end = patcher.finish(&mut file)?;
    assert_eq!(end, file.metadata().unwrap().len());
    Ok(())
}

/// Start and extent of a selection that is one block.
fn block(selection: &Selection) -> (Vec<u64>, Vec<u64>) {
    let Selection::Regular(slab) = selection else { panic!("{selection:?}") };
    assert!(slab.count.iter().all(|&count| count == 1), "{selection:?}");
    (slab.start.to_vec(), slab.block.to_vec())
}

/// That libhdf5 lists the mappings of a dataset as they were given.
fn check_mappings(path: &Path, dataset: &str, sources: ChunkSources<'_>, map: &Map) {
    let lock = h5strata_ffi::lock();
    let file = h5f::open_read_only(&lock, path, None).unwrap();
    let dataset = h5d::open(&lock, &file, dataset).unwrap();
    let creation = h5d::creation(&lock, &dataset).unwrap();
    assert_eq!(h5p::mapping_count(&lock, &creation).unwrap(), map.len());
    let grid = chunk_grid(sources.shape, sources.chunk_shape).unwrap();
    for (number, &(chunk, raw)) in map.iter().enumerate() {
        let found = h5p::mapping(&lock, &creation, number).unwrap();
        let names = (found.source_file.as_str(), found.source_dataset.as_str());
        assert_eq!(names, (".", sources.raw_data));
        let (start, extent) = corner(sources, &grid, chunk);
        let mut source = vec![0; start.len()];
        source[0] = raw.0 * sources.chunk_shape[0];
        assert_eq!(block(&found.target), (start, extent.clone()));
        assert_eq!(block(&found.source), (source, extent));
    }
}

/// First element and extent of a chunk.
fn corner(sources: ChunkSources<'_>, grid: &[u64], chunk: ChunkIndex) -> (Vec<u64>, Vec<u64>) {
    let axes = unravel(chunk.0, grid);
    let start: Vec<_> = axes.iter().zip(sources.chunk_shape).map(|(at, edge)| at * edge).collect();
    let sizes = sources.shape.iter().zip(sources.chunk_shape).zip(&start);
    let extent = sizes.map(|((size, &edge), start)| edge.min(size - start)).collect();
    (start, extent)
}

/// That libhdf5 reads the elements of a small dataset that its mappings lead to.
fn check_values(path: &Path, dataset: &str, map: &Map) {
    let lock = h5strata_ffi::lock();
    let file = h5f::open_read_only(&lock, path, None).unwrap();
    let dataset = h5d::open(&lock, &file, dataset).unwrap();
    let datatype = h5d::datatype(&lock, &dataset).unwrap();
    let mut bytes = vec![0; 17 * 13 * 4];
    let reader = h5d::Reader::new(&lock, &dataset, datatype).unwrap();
    reader.read(&lock, None, &mut bytes).unwrap();
    let found: Vec<i32> =
        bytes.as_chunks().0.iter().map(|value| i32::from_ne_bytes(*value)).collect();

    let mut expected = vec![-1; 17 * 13];
    for &(chunk, raw) in map {
        let (start, extent) = corner(SMALL_SOURCES, &[5, 3], chunk);
        for row in 0..extent[0] {
            for column in 0..extent[1] {
                let at = (start[0] + row) * 13 + start[1] + column;
                expected[at as usize] = ((raw.0 * 4 + row) * 5 + column) as i32;
            }
        }
    }
    assert_eq!(found, expected);
}

/// That our reader finds the same bytes that were given.
fn check_list_in_file(path: &Path, dataset: &str, sources: ChunkSources<'_>, map: &Map) {
    let found = stored_list(path, dataset).unwrap();
    let length_size = Superblock::read(&File::open(path).unwrap()).unwrap().length_size;
    assert!(found.1 == list(sources, map, length_size), "{dataset}");
}

/// A dataset's heap id and the heap object, if it has mappings.
fn stored_list(path: &Path, dataset: &str) -> Option<(GlobalHeapId, Vec<u8>)> {
    let address = addresses(path, &[dataset.to_owned()])[0];
    let file = File::open(path).unwrap();
    let superblock = Superblock::read(&file).unwrap();
    let header = ObjectHeader::read(&file, &superblock, address).unwrap();
    let Layout::Virtual { mappings } = header.layout().unwrap() else { panic!("not virtual") };
    let id = mappings?;
    let list = locate(&file, &superblock, id).unwrap().read(&file).unwrap();
    check_list(&list).unwrap();
    Some((id, list))
}

/// Strings of variable length, in UTF-8.
fn variable_strings(lock: &Lock) -> h5strata_ffi::id::Datatype {
    let class = TypeClass::VariableString { charset: CharacterSet::Utf8 };
    h5t::create(lock, &Description { size: size_of::<usize>(), class }).unwrap()
}

/// Has the libhdf5 of this crate delete datasets and use the global heap.
fn alter(path: &Path, gone: &[&str]) {
    let lock = h5strata_ffi::lock();
    let file = h5f::open_read_write(&lock, path, None).unwrap();
    for name in gone {
        h5l::delete(&lock, &file, name).unwrap();
    }
    drop(h5g::create(&lock, &file, "here").unwrap());
    let text = variable_strings(&lock);
    for number in 0..60 {
        let name = format!("a {number}");
        let strings = ["here ".repeat(number)];
        h5a::write_variable_strings(&lock, &file, "here", &name, &text, Some(&[]), &strings)
            .unwrap();
    }
    h5o::copy(&lock, &file, "small/5", &file, "here/copy").unwrap();
}

fn check_altered(path: &Path) {
    check_mappings(path, "here/copy", SMALL_SOURCES, &small_map(5));
    check_values(path, "here/copy", &small_map(5));
    let lock = h5strata_ffi::lock();
    let file = h5f::open_read_only(&lock, path, None).unwrap();
    for number in 0..60 {
        let attribute = h5a::open(&lock, &file, "here", &format!("a {number}")).unwrap();
        let found = h5a::read_variable_strings(&lock, &attribute).unwrap();
        assert_eq!(found, ["here ".repeat(number).into_bytes()]);
    }
}

/// Forms of files in which mappings can be given.
const FORMS: [&str; 11] = [
    "earliest",
    "user_block_512",
    "narrow",
    "strategy",
    "v18",
    "v18_narrow",
    "v110",
    "v110_user_block_1024",
    "v110_order",
    "v112",
    "latest",
];

#[test]
fn every_library_reads_and_changes_files_of_every_form() -> Outcome {
    let folder = TempDir::new()?;
    for form in FORMS {
        let path = folder.path().join(format!("{form}.h5"));
        made::patched_maps("make", &path, &[form, "1500"])?;
        give_mappings(&path, 1500).unwrap_or_else(|error| panic!("{form}: {error:?}"));

        for number in 0..SMALL {
            let name = format!("small/{number}");
            check_mappings(&path, &name, SMALL_SOURCES, &small_map(number));
            check_values(&path, &name, &small_map(number));
            check_list_in_file(&path, &name, SMALL_SOURCES, &small_map(number));
        }
        made::patched_maps("check", &path, &[])?;
        // Of a collection with others, and alone in one.
        made::patched_maps("alter", &path, &["small/1", "large"])?;
        made::patched_maps("check", &path, &["small/1", "large"])?;
        alter(&path, &["small/0", "small/11"]);
        check_altered(&path);
        made::patched_maps("check", &path, &["small/0", "small/1", "small/11", "large"])?;
    }
    Ok(())
}

#[test]
fn files_with_pages_or_kept_free_space_are_left_to_libhdf5() -> Outcome {
    let folder = TempDir::new()?;
    for form in ["paged", "kept"] {
        let path = folder.path().join(format!("{form}.h5"));
        made::patched_maps("make", &path, &[form, "10"])?;
        let before = fs::read(&path)?;
        let error = give_mappings(&path, 10).unwrap_err();
        assert!(matches!(error, OndiskError::Unsupported { .. }), "{error:?}");
        assert!(fs::read(&path)? == before);
    }
    Ok(())
}

#[test]
fn a_list_of_100_000_mappings_is_read() -> Outcome {
    let folder = TempDir::new()?;
    let path = folder.path().join("many.h5");
    made::patched_maps("make", &path, &["earliest", "100000"])?;
    give_mappings(&path, 100_000)?;
    made::patched_maps("check", &path, &[])?;
    alter(&path, &["large"]);
    made::patched_maps("check", &path, &["large"])?;
    Ok(())
}

/// Runs one of HDF5's tools of version 1.10; `None` where there is none.
fn tool(program: &str, arguments: &[&str]) -> Option<String> {
    let version = Command::new(program).arg("--version").output().ok()?;
    if !String::from_utf8_lossy(&version.stdout).contains("Version 1.10") {
        return None;
    }
    let output = Command::new(program).args(arguments).output().unwrap();
    assert!(output.status.success(), "{program} {arguments:?}: {output:?}");
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn hdf5_1_10_dumps_and_repacks_them() -> Outcome {
    if tool("h5dump", &["--help"]).is_none() || tool("h5repack", &["--help"]).is_none() {
        eprintln!("skipped: no h5dump and h5repack of HDF5 1.10");
        return Ok(());
    }
    let folder = TempDir::new()?;
    for form in ["earliest", "user_block_512", "v18", "v110", "v110_order"] {
        let path = folder.path().join(format!("{form}.h5"));
        made::patched_maps("make", &path, &[form, "1500"])?;
        give_mappings(&path, 1500)?;
        let name = path.to_str().unwrap_or_default();
        let dump = tool("h5dump", &["--properties", "--header", name]).unwrap_or_default();
        let mappings = dump.matches("MAPPING ").count();
        let expected = (0..SMALL).map(|number| small_map(number).len()).sum::<usize>() + 1500;
        assert_eq!(mappings, expected, "{form}");
        let values = tool("h5dump", &["--dataset", "/small/3", name]).unwrap_or_default();
        assert!(values.contains("(0,0): "), "{values}");

        let repacked = folder.path().join(format!("{form}.repacked.h5"));
        tool("h5repack", &[name, repacked.to_str().unwrap_or_default()]);
        made::patched_maps("check", &repacked, &[])?;
    }
    Ok(())
}

/// A new file with two virtual datasets: `given` by `H5Pset_virtual`, and `bare` without mappings.
fn both_ways(path: &Path, sources: ChunkSources<'_>, map: &Map) {
    let lock = h5strata_ffi::lock();
    let access = h5p::file_access(&lock).unwrap();
    h5p::set_libver_bounds_earliest_to_v110(&lock, &access).unwrap();
    let file = h5f::create(&lock, path, &access).unwrap();
    let class =
        TypeClass::Integer { order: ByteOrder::Little, signed: true, precision: 8, offset: 0 };
    let datatype = h5t::create(&lock, &Description { size: 1, class }).unwrap();
    let target = h5s::simple(&lock, sources.shape).unwrap();

    let given = h5p::dataset_creation(&lock).unwrap();
    let mut extent = sources.chunk_shape.to_vec();
    extent[0] *= map.iter().map(|pair| pair.1.0 + 1).max().unwrap_or(1);
    let source = h5s::simple(&lock, &extent).unwrap();
    let grid = chunk_grid(sources.shape, sources.chunk_shape).unwrap();
    let one = vec![1; grid.len()];
    // To libhdf5 a name is a pattern.
    let name = sources.raw_data.replace('%', "%%");
    for &(chunk, raw) in map {
        let (to, block) = corner(sources, &grid, chunk);
        let mut from = vec![0; to.len()];
        from[0] = raw.0 * sources.chunk_shape[0];
        let select = |start| Hyperslab { start, stride: None, count: &one, block: Some(&block) };
        h5s::select_hyperslab(&lock, &source, &select(&from)).unwrap();
        h5s::select_hyperslab(&lock, &target, &select(&to)).unwrap();
        h5p::set_virtual(&lock, &given, &target, ".", &name, &source).unwrap();
    }
    let bare = h5p::dataset_creation(&lock).unwrap();
    h5p::set_virtual_layout(&lock, &bare).unwrap();
    h5s::select_all(&lock, &target).unwrap();
    for (name, creation) in [("bare", &bare), ("given", &given)] {
        drop(h5d::create(&lock, &file, name, &datatype, &target, creation).unwrap());
    }
}

#[test]
fn lists_and_collections_are_byte_for_byte_those_of_libhdf5() -> Outcome {
    const LONG: u64 = 1 << 33;
    let cases: [(&[u64], &[u64], &str, u64); 9] = [
        (&[95], &[10], "/raw", 10),
        (&[95, 7], &[10, 3], "/_version_data/a/raw_data", 30),
        (&[5, 6, 7], &[2, 2, 2], "/raw", 36),
        (&[3, 5, 4, 7], &[2, 2, 3, 3], "/50%/raw_data", 36),
        (&[1, 3, 1, 3, 2], &[1, 2, 3, 2, 1], "/raw", 8),
        (&[95], &[10], "/%b%%", 1),
        // Beyond 32 bits in the virtual dataset, and in the source.
        (&[LONG + 5], &[1 << 30], "/raw", 9),
        (&[2, LONG + 5], &[1, 1 << 31], "/raw", 10),
        (&[20_001], &[2], "/raw", 10_001),
    ];
    let folder = TempDir::new()?;
    for (case, (shape, chunk_shape, raw_data, chunks)) in cases.into_iter().enumerate() {
        let path = folder.path().join(format!("{case}.h5"));
        let sources = ChunkSources { shape, chunk_shape, raw_data };
        let map: Map = (0..chunks)
            .map(|chunk| (ChunkIndex(chunk), RawChunk((chunk * 5 + 2) % (chunks + 3))))
            .collect();
        both_ways(&path, sources, &map);
        assert!(stored_list(&path, "bare").is_none());
        let (id, expected) = stored_list(&path, "given").unwrap();
        assert!(list(sources, &map, FieldWidth::Eight) == expected, "{shape:?}");

        let header = addresses(&path, &["bare".to_owned()])[0];
        let mut file = File::options().read(true).write(true).open(&path)?;
        let mut patcher = MapPatcher::begin(&file)?;
        patcher.place(&mut file, header, &expected)?;
        patcher.finish(&mut file)?;
        let (ours, found) = stored_list(&path, "bare").unwrap();
        assert!(found == expected);
        let bytes = fs::read(&path)?;
        let ours = &bytes[ours.collection as usize..];
        let theirs = &bytes[id.collection as usize..][..ours.len()];
        assert!(theirs == ours, "{shape:?}");
        check_mappings(
            &path,
            "bare",
            ChunkSources { raw_data: &raw_data.replace('%', "%%"), ..sources },
            &map,
        );
    }
    Ok(())
}
