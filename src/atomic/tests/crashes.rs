//! Whatever a commit left behind, recovery leads to the old or the new content.

use std::cell::Cell;
use std::io;

use super::super::batch::Target;
use super::super::journal::{Found, Journal};
use super::*;
use crate::ondisk::ReadAt;

/// A file whose process ends at a write: the first `left` are done, then, if `half`, the first half of the next.
struct Stopping<'f> {
    file: &'f File,
    left: Cell<usize>,
    half: bool,
}

impl Stopping<'_> {
    fn step(&self) -> io::Result<()> {
        let left = self.left.get().checked_sub(1).ok_or(io::ErrorKind::Other)?;
        self.left.set(left);
        Ok(())
    }
}

impl Target for Stopping<'_> {
    fn write_at(&self, bytes: &[u8], address: u64) -> io::Result<()> {
        if self.half && self.left.get() == 0 {
            self.file.write_at(&bytes[..bytes.len() / 2], address)?;
        }
        self.step()?;
        self.file.write_at(bytes, address)
    }

    fn cut(&self, size: u64) -> io::Result<()> {
        self.step()?;
        self.file.cut(size)
    }
}

/// Applies the journal up to a write; whether that was all.
fn apply_partly(scratch: &Scratch, left: usize, half: bool) -> bool {
    let Found::Complete(journal) = Journal::open(&scratch.journal()).unwrap() else {
        panic!("no complete journal")
    };
    let file = scratch.open();
    let target = Stopping { file: &file, left: Cell::new(left), half };
    journal.write_to(&scratch.path, &target).is_ok()
}

#[test]
fn a_journal_applied_in_part_is_read_through_and_finished() {
    for case in Interrupted::all() {
        let mut points = 0;
        for half in [false, true] {
            for left in 0.. {
                case.restore();
                let was_all = apply_partly(&case.scratch, left, half);
                let view = seen(&case.scratch.path, &case.scratch.open()).unwrap().unwrap();
                let mut out = vec![0; case.new.len() + 10];
                assert_eq!(view.read_at(&mut out, 0).unwrap(), case.new.len());
                assert!(out.starts_with(&case.new), "{left} {half}");
                // The one who finishes it is interrupted as well, somewhere else.
                apply_partly(&case.scratch, left / 2, !half);
                let Recovery::Replayed(replay) = case.scratch.recover() else {
                    panic!("not replayed")
                };
                assert_eq!(replay.new_end, case.new.len() as u64);
                assert!(case.scratch.content() == case.new, "{left} {half}");
                assert_eq!(case.scratch.recover(), Recovery::Clean);
                points += 1;
                if was_all {
                    break;
                }
            }
        }
        assert!(points >= 4, "{points}");
    }
}

#[test]
fn a_journal_cut_off_anywhere_is_discarded() {
    for case in Interrupted::all() {
        let full = case.journal.len();
        let index_start = full / 4096 * 4096;
        let lengths = (0..600).chain((600..index_start).step_by(97)).chain(index_start..full);
        for length in lengths.filter(|&length| length < full) {
            case.restore();
            fs::write(case.scratch.journal(), &case.journal[..length]).unwrap();
            let file = case.scratch.open();
            assert!(seen(&case.scratch.path, &file).unwrap().is_none(), "{length}");
            assert_eq!(case.scratch.recover(), Recovery::Discarded, "{length}");
            assert!(case.scratch.content() == case.file, "{length}");
            assert!(!case.scratch.journal().exists());
        }
    }
}

#[test]
fn a_journal_with_a_changed_byte_is_discarded_or_right() {
    for case in Interrupted::all() {
        let full = case.journal.len();
        let index_start = full / 4096 * 4096;
        let mut outcomes = [0; 2];
        let positions = (0..600).chain((600..index_start).step_by(97)).chain(index_start..full);
        for at in positions.filter(|&at| at < full) {
            case.restore();
            let mut journal = case.journal.clone();
            journal[at] ^= 1 << (at % 8);
            fs::write(case.scratch.journal(), journal).unwrap();
            match case.scratch.recover() {
                Recovery::Discarded => {
                    assert!(case.scratch.content() == case.file, "{at}");
                    outcomes[0] += 1;
                }
                Recovery::Replayed(_) => {
                    // Only what is not used may differ.
                    assert!((512..index_start).contains(&at), "{at}");
                    assert!(case.scratch.content() == case.new, "{at}");
                    outcomes[1] += 1;
                }
                other => panic!("{at}: {other:?}"),
            }
        }
        assert!(outcomes[0] >= 512, "{outcomes:?}");
    }
}

#[test]
fn an_unfinished_journal_that_pages_were_spilled_to_is_discarded() {
    let old = noise(50_000, 1);
    let scratch = Scratch::new(&old);
    let mut overlay = scratch.overlay();
    overlay.set_memory_limit(0);
    overlay.write(10, &noise(30_000, 2)).unwrap();
    overlay.write(50_000, &noise(5000, 3)).unwrap();
    overlay.check_writes().unwrap();
    std::mem::forget(overlay);
    assert!(scratch.journal().exists());
    assert_eq!(scratch.recover(), Recovery::Discarded);
    assert_eq!(cut_tail(&scratch.open(), 50_000).unwrap(), 5000);
    assert_eq!(cut_tail(&scratch.open(), 50_000).unwrap(), 0);
    assert!(scratch.content() == old);
    assert_eq!(scratch.names(), ["data.h5"]);
}

#[test]
fn an_unfinished_journal_gives_way_to_the_next_commit() {
    let scratch = Scratch::new(&noise(9000, 1));
    fs::write(scratch.journal(), [0; 5000]).unwrap();
    let mut overlay = scratch.overlay();
    overlay.write(5, b"new").unwrap();
    commit(&mut overlay, 4).unwrap();
    assert_eq!(&scratch.content()[5..8], b"new");
    assert_eq!(scratch.names(), ["data.h5"]);
}
