//! Damaged chunks, and damaged rows of hash tables.

use h5strata::store::{ChunkFault, Finding};
use h5strata::{Error, OpenOptions, VerifyOptions, VersionedFile};
use ndarray::{Array1, Array2, s};

use crate::{Outcome, Scratch, texts};

/// Seven versions of "prices", of 4 x 2 chunks. The first column of chunk (3, 0) is written in r5.
fn prices(scratch: &Scratch, gzip: bool) -> Result<(), Error> {
    let mut file = scratch.create();
    let mut stage = file.stage("r1")?;
    let builder = stage.create_dataset("prices").chunks(&[100, 8]);
    let builder = if gzip { builder.gzip(3).fletcher32() } else { builder };
    builder.data(&Array2::from_shape_fn((390, 12), |(row, column)| (row * 100 + column) as i64))?;
    stage.create_dataset("other").chunks(&[10]).data(&Array1::from_iter(0..35_i32))?;
    stage.commit()?;
    for version in 2..=7 {
        let mut stage = file.stage(&format!("r{version}"))?;
        if version == 5 {
            stage.dataset_mut("prices")?.write_scalar(s![300, 0], -5_i64)?;
        }
        // Not in the same place of the list any more, so that it is decoded anew.
        stage.dataset_mut("other")?.write_scalar(s![0], -version)?;
        stage.commit()?;
    }
    Ok(())
}

const DIGEST: &str = "its values are not those that its row in the hash table is the digest of";

#[test]
fn a_flipped_bit_is_told_with_every_version_that_shares_its_chunk() -> Outcome {
    let scratch = Scratch::new();
    prices(&scratch, false)?;
    scratch.flip(scratch.address("r6", "prices", &[3, 0]) + 700);
    let expected = format!("damage: r5 of prices: chunk (3, 0): {DIGEST}; r6 and r7 share it");
    assert_eq!(scratch.findings(), [expected]);
    assert_eq!(scratch.quick_findings(), [""; 0]);
    // The old chunk of that place, and an edge chunk that all have: one bad chunk does not hide another.
    scratch.flip(scratch.address("r1", "prices", &[3, 0]));
    scratch.flip(scratch.address("r1", "prices", &[3, 1]) + 3);
    scratch.flip(scratch.address("r7", "other", &[0]));
    let expected = [
        format!("damage: r7 of other: chunk (0): {DIGEST}"),
        format!("damage: r1 of prices: chunk (3, 0): {DIGEST}; r2, r3 and r4 share it"),
        format!("damage: r1 of prices: chunk (3, 1): {DIGEST}; r2, r3, r4, r5, r6 and r7 share it"),
        format!("damage: r5 of prices: chunk (3, 0): {DIGEST}; r6 and r7 share it"),
    ];
    for threads in [1, 3] {
        let file = OpenOptions::new().threads(threads).open(&scratch.path)?;
        assert_eq!(texts(&file.verify(&VerifyOptions::new())?), expected);
    }
    Ok(())
}

#[test]
fn what_no_filter_undoes_is_unreadable() -> Outcome {
    let scratch = Scratch::new();
    prices(&scratch, true)?;
    let clean = scratch.verify();
    assert!(clean.is_sound());
    for chunk in [[0, 0], [2, 1]] {
        scratch.flip(scratch.address("r1", "prices", &chunk) + 100);
    }
    let report = scratch.verify();
    let chunks: Vec<&Finding> = report.damage().collect();
    assert_eq!(chunks.len(), 2, "{:?}", texts(&report));
    for (finding, place) in chunks.iter().zip([[0, 0], [2, 1]]) {
        let Finding::Chunk { uses, fault: ChunkFault::Unreadable(_), .. } = finding else {
            panic!("{finding}")
        };
        assert_eq!((uses.len(), uses[0].versions.len()), (1, 7));
        assert_eq!(uses[0].chunk, place);
        assert!(finding.to_string().contains("unreadable: filter 3 (fletcher32): checksum"));
    }
    // All but these were read.
    assert_eq!(clean.bytes - report.bytes, 2 * 6400);
    Ok(())
}

#[test]
fn strings_are_compared_in_their_heap() -> Outcome {
    let scratch = Scratch::new();
    let mut file = scratch.create();
    let mut stage = file.stage("r0")?;
    let words = ["a", "", "seven hills", "nine lives", "x", "y", "z"];
    stage.create_dataset("words").chunks(&[3]).strings(&[7], &words)?;
    stage.commit()?;
    drop(file);
    assert_eq!(scratch.findings(), [""; 0]);
    scratch.flip(scratch.place_of(b"nine lives"));
    assert_eq!(scratch.findings(), [format!("damage: r0 of words: chunk (1): {DIGEST}")]);
    // A reference to another heap than there is: length, collection, object.
    let address = scratch.address("r0", "words", &[0]);
    scratch.flip(address + 2 * 16 + 4);
    let found = scratch.findings();
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(
        found[0].starts_with("damage: r0 of words: chunk (0): string 2 is unreadable: "),
        "{found:?}"
    );
    Ok(())
}

#[test]
fn rows_are_compared_too() -> Outcome {
    let scratch = Scratch::new();
    prices(&scratch, false)?;
    let table = "of the hash table of /_version_data/prices/raw_data";
    scratch.alter("hash", &["prices", "2"])?;
    assert_eq!(scratch.quick_findings(), [""; 0]);
    scratch.alter("row", &["prices", "0", "50", "150"])?;
    scratch.alter("row", &["prices", "1", "4000", "4100"])?;
    scratch.alter("row", &["prices", "3", "300", "300"])?;
    // The edge chunk has 90 rows.
    scratch.alter("row", &["prices", "6", "600", "700"])?;
    let rows = [
        format!("damage: row 0 {table}: no chunk begins at element 50"),
        format!("damage: row 1 {table}: it is of raw chunk 40, raw_data has 9"),
        format!("damage: row 3 {table}: it ends at element 300 of a chunk that begins at 300"),
        format!("damage: row 6 {table}: it says that raw chunk 6 has 100 rows of elements, versions have 90 of it"),
        "remark: /_version_data/prices/raw_data: 3 chunks of 19200 bytes, from raw chunk 0 on, without a digest, and \
         not compared"
            .to_owned(),
    ];
    assert_eq!(scratch.quick_findings(), rows);
    let found = scratch.findings();
    assert_eq!(found[..rows.len()], rows);
    assert_eq!(
        found[rows.len()..],
        [format!(
            "damage: r1 of prices: chunk (1, 0): {DIGEST}; r2, r3, r4, r5, r6 and r7 share it"
        )]
    );
    Ok(())
}

#[test]
fn two_rows_of_one_chunk_that_differ_are_in_conflict() -> Outcome {
    let scratch = Scratch::new();
    prices(&scratch, false)?;
    scratch.alter("row", &["other", "1", "0", "10"])?;
    let found = scratch.quick_findings();
    let raw_data = "/_version_data/other/raw_data";
    let expected = [
        format!(
            "damage: row 1 of the hash table of {raw_data}: another row of raw chunk 0 says something else"
        ),
        format!(
            "remark: {raw_data}: 1 chunk of 40 bytes, from raw chunk 1 on, without a digest, and not compared"
        ),
    ];
    assert_eq!(found, expected);
    // One of them is right, so the chunk is not to blame.
    assert_eq!(scratch.findings(), expected);
    Ok(())
}

#[test]
fn a_wrong_number_of_rows_is_damage() -> Outcome {
    let scratch = Scratch::new();
    prices(&scratch, false)?;
    let table = "the hash table of /_version_data/prices/raw_data";
    for (rows, expected) in [
        (
            "7",
            format!(
                "damage: {table}: largest_index is 7, and versions use raw chunk 8: versioned-hdf5 would write over it"
            ),
        ),
        (
            "10",
            format!(
                "damage: {table}: \"/_version_data/prices/hash_table\" is no hash table: largest_index is 10, and \
             it does not have as many rows"
            ),
        ),
        (
            "-1",
            format!(
                "damage: {table}: \"/_version_data/prices/hash_table\" is no hash table: largest_index is -1, and \
             it does not have as many rows"
            ),
        ),
    ] {
        scratch.alter("rows", &["prices", rows])?;
        let report = scratch.verify();
        let damage: Vec<String> =
            report.damage().map(|finding| format!("damage: {finding}")).collect();
        assert_eq!(damage, [expected], "{rows}");
    }
    Ok(())
}

#[test]
fn a_chunk_that_is_not_stored_any_more_does_not_pass_for_fill() -> Outcome {
    let scratch = Scratch::new();
    prices(&scratch, false)?;
    scratch.alter("lose", &["prices"])?;
    let expected = "damage: r5 of prices: chunk (3, 0): it is not in the file, and reads as fill, which is not what its \
                    row in the hash table is the digest of; r6 and r7 share it";
    assert_eq!(scratch.findings(), [expected]);
    Ok(())
}

#[test]
fn chunks_that_lie_on_each_other_or_outside_the_file_are_told_without_reading_them() -> Outcome {
    let scratch = Scratch::new();
    prices(&scratch, false)?;
    let (one, other) =
        (scratch.address("r1", "prices", &[0, 0]), scratch.address("r1", "prices", &[1, 0]));
    // In the index of the chunks, one gets the address of the other.
    let place = scratch.place_of(&other.to_le_bytes());
    let write = |address: u64| {
        let mut bytes = std::fs::read(&scratch.path)?;
        let place = usize::try_from(place).unwrap();
        bytes[place..place + 8].copy_from_slice(&address.to_le_bytes());
        std::fs::write(&scratch.path, bytes)
    };
    let begin = "damage: r1 of prices: chunk (1, 0): ";
    write(one)?;
    let found = scratch.quick_findings();
    assert!(
        found[0].starts_with(&format!(
            "{begin}it has bytes of the file in common with raw chunk 0; r2"
        )),
        "{found:?}"
    );
    assert_eq!((found.len(), scratch.findings()), (1, found));
    write(1 << 40)?;
    let found = scratch.quick_findings();
    assert!(
        found[0].starts_with(&format!("{begin}unreadable: the stored chunk ends at byte 10995116")),
        "{found:?}"
    );
    assert_eq!((found.len(), scratch.findings()), (1, found));
    Ok(())
}

#[test]
fn damage_that_no_version_has_is_damage_to_later_ones() -> Outcome {
    let scratch = Scratch::new();
    prices(&scratch, false)?;
    scratch.alter("double", &["other", "1"])?;
    let file = VersionedFile::open(&scratch.path)?;
    let chunks = file.version("r1")?.dataset("other")?.stored_chunks()?;
    drop(file);
    assert_eq!(chunks.len(), 4);
    assert!(scratch.verify().is_sound());
    // The copy, whose bytes are those of its original, lies behind it.
    let bytes = std::fs::read(&scratch.path)?;
    let original: Vec<u8> = (10..20_i32).flat_map(i32::to_le_bytes).collect();
    let last = bytes.windows(40).rposition(|window| window == original).ok_or("a copy")?;
    scratch.flip(last as u64);
    let report = scratch.verify();
    let damage: Vec<String> = report.damage().map(ToString::to_string).collect();
    assert_eq!(
        damage,
        [format!(
            "raw chunk 10 of /_version_data/other/raw_data, which no version is known to use: {DIGEST}"
        )]
    );
    Ok(())
}
