//! Whole files, flipped and cut by the thousand: an error or the right answer, in bounded time and memory.

use super::*;
use crate::ondisk::test_image::{
    CountingFile, block_v1, block_v2, collection, continuation, dataspace, header_v1, header_v2,
    superblock, virtual_layout,
};
use crate::ondisk::{
    Collection, Dataspace, GlobalHeapId, Layout, ObjectHeader, OndiskError, Superblock, locate,
};

const HEADER: usize = 128;
const CONTINUATION: usize = 512;
const HEAP: usize = 1024;

/// Everything that is read of a dataset.
#[derive(Debug, PartialEq)]
struct Answer {
    shape: Vec<u64>,
    mappings: Vec<FoundMapping>,
}

fn read(file: &CountingFile) -> Result<Answer, VdsBlockError> {
    let superblock = Superblock::read(file)?;
    let header = ObjectHeader::read(file, &superblock, HEADER as u64)?;
    let Dataspace::Simple { shape, .. } = header.dataspace()? else {
        return Ok(Answer { shape: vec![], mappings: vec![] });
    };
    let shape = shape.to_vec();
    let Layout::Virtual { mappings: Some(id) } = header.layout()? else {
        return Ok(Answer { shape, mappings: vec![] });
    };
    let range = locate(file, &superblock, id)?;
    let block = range.read(file)?;
    let whole = in_collection(file, &superblock, id)?;
    assert_eq!(whole.object(id.index), Some(block.as_slice()));
    if let Some(table) = EntryTable::open(file, range, superblock.length_size, shape.len())? {
        table.lookup(file).find(&shape, u64::MAX)?;
    }
    let mappings = decode_with(&block, superblock.length_size, shape.len())?;
    Ok(Answer { shape, mappings })
}

fn in_collection(
    file: &CountingFile,
    superblock: &Superblock,
    id: GlobalHeapId,
) -> Result<Collection, OndiskError> {
    let mut whole = Collection::new();
    whole.read_into(file, superblock, id.collection)?;
    Ok(whole)
}

fn answer() -> Answer {
    let names = (".", "/_version_data/foo/raw_data");
    let mappings = (0..8)
        .map(|index| {
            mapping(index, names, (&[index * 4, 0], &[index / 2 * 4, index % 2 * 5]), &[4, 5])
        })
        .collect();
    Answer { shape: vec![16, 10], mappings }
}

/// A dataset with its layout message in a continuation block.
fn image(new_format: bool) -> Vec<u8> {
    let answer = answer();
    let shape = dataspace(&answer.shape, WIDE);
    let layout = virtual_layout(HEAP as u64, 2, WIDE);
    let attribute = (0x0c, 0, vec![1; 40]);
    let (first, second) = if new_format {
        let second = block_v2(1, &[attribute, layout], 2);
        (header_v2(1, &[shape, continuation(CONTINUATION, second.len(), WIDE, WIDE)]), second)
    } else {
        let second = block_v1(&[attribute, layout]);
        (header_v1(4, &[shape, continuation(CONTINUATION, second.len(), WIDE, WIDE)]), second)
    };
    let block = encode(&answer.mappings);
    let heap = collection(&[(1, b"another object"), (2, &block), (3, b"and one more")], 4096, WIDE);
    let mut bytes = superblock(if new_format { 2 } else { 0 }, WIDE, WIDE);
    for (address, part) in [(HEADER, first), (CONTINUATION, second), (HEAP, heap)] {
        bytes.resize(address, 0);
        bytes.extend(part);
    }
    bytes
}

/// Reads a damaged file; its cost must stay within a few times that of the whole one.
fn read_bounded(bytes: Vec<u8>) -> Result<Answer, VdsBlockError> {
    let file = CountingFile::new(bytes);
    let answer = read(&file);
    assert!(file.largest_buffer() <= file.bytes.len().max(4096));
    assert!(file.reads() < 10_000, "{} reads", file.reads());
    answer
}

/// A generator of numbers for damage that can be repeated (xorshift).
struct Damage(u64);

impl Damage {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % limit as u64).unwrap()
    }

    /// Changes one byte, or some bytes in a row to a value at the edges of what a field can hold.
    fn strike(&mut self, bytes: &mut [u8]) {
        let at = self.below(bytes.len());
        let edge = match self.below(4) {
            0 => u64::MAX,
            1 => 1 << 63,
            2 => self.next() >> 40,
            _ => {
                bytes[at] ^= 1 << self.below(8);
                return;
            }
        };
        let count = (1 + self.below(8)).min(bytes.len() - at);
        bytes[at..at + count].copy_from_slice(&edge.to_le_bytes()[..count]);
    }
}

#[test]
fn undamaged_files_give_the_answer() {
    for new_format in [false, true] {
        assert_eq!(read_bounded(image(new_format)).unwrap(), answer());
    }
}

#[test]
fn a_file_with_checksums_gives_an_error_or_the_right_answer() {
    let whole = image(true);
    let mut damage = Damage(0x9e37_79b9_7f4a_7c15);
    let mut errors = 0;
    for _ in 0..10_000 {
        let mut bytes = whole.clone();
        for _ in 0..=damage.below(3) {
            damage.strike(&mut bytes);
        }
        match read_bounded(bytes) {
            Ok(found) => assert_eq!(found, answer()),
            Err(_) => errors += 1,
        }
    }
    assert!(errors > 1000, "{errors}");
}

#[test]
fn a_file_without_checksums_gives_an_error_or_an_answer() {
    let whole = image(false);
    let mut damage = Damage(0x2545_f491_4f6c_dd1d);
    for _ in 0..10_000 {
        let mut bytes = whole.clone();
        for _ in 0..=damage.below(3) {
            damage.strike(&mut bytes);
        }
        // What the header says is not protected; the list of mappings is.
        if let Ok(found) = read_bounded(bytes) {
            assert!(found.mappings.is_empty() || found.mappings == answer().mappings);
        }
    }
}

#[test]
fn a_file_cut_anywhere_gives_an_error() {
    for new_format in [false, true] {
        let whole = image(new_format);
        for len in 0..whole.len() {
            assert!(read_bounded(whole[..len].to_vec()).is_err(), "cut at {len}");
        }
    }
}

#[test]
fn damaged_lists_with_a_right_checksum_do_no_harm() {
    let list = encode(&answer().mappings);
    let covered = &list[..list.len() - 4];
    let mut damage = Damage(0xd1b5_4a32_d192_ed03);
    for version in [0, 1] {
        for _ in 0..5_000 {
            let mut bytes = covered.to_vec();
            bytes[0] = version;
            for _ in 0..=damage.below(3) {
                damage.strike(&mut bytes);
            }
            let bytes = sealed(bytes);
            let count = mapping_count(&bytes, WIDE).unwrap_or(0);
            assert!(count < bytes.len() as u64);
            if let Ok(found) = decode(&bytes, 2) {
                assert_eq!(found.len() as u64, count);
            }
        }
    }
}
