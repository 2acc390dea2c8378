//! A commit that fails leaves the old file, or a journal that leads to the new one.

use std::io;
use std::process::Command;

use super::*;

#[test]
fn after_a_failed_write_all_are_dropped_and_nothing_is_committed() {
    let old = noise(9000, 1);
    let scratch = Scratch::new(&old);
    // A file that is not open for writing.
    let file = File::open(&scratch.path).unwrap();
    let mut overlay = Overlay::new(file, &scratch.path, 9000, Durability::Full).unwrap();
    overlay.write(10, b"page").unwrap();
    assert!(overlay.failure().is_none());
    // The part of it that is below the end goes to a page, the rest is held back.
    overlay.write(8998, b"page and tail").unwrap();
    assert!(overlay.check_writes().is_err());
    let first = overlay.failure().unwrap().raw_os_error();
    assert!(first.is_some());
    overlay.write(10, b"lost").unwrap();
    overlay.set_size(50).unwrap();
    overlay.write(9000, b"lost").unwrap();
    let mut out = [0; 4];
    overlay.read(10, &mut out).unwrap();
    assert_eq!(&out, b"page");
    assert_eq!(overlay.failure().unwrap().raw_os_error(), first);
    let error = overlay.sync_data().unwrap_err();
    assert!(
        matches!(&error, JournalError::Abandoned { source, .. }
            if source.raw_os_error() == first),
        "{error}"
    );
    assert!(overlay.write_journal().is_err() && overlay.apply().is_err());
    overlay.discard().unwrap();
    // A library that closes the file now must not fail.
    overlay.write(3, b"late").unwrap();
    assert!(scratch.content() == old);
    assert_eq!(scratch.names(), ["data.h5"]);
}

#[test]
fn a_commit_that_fails_while_it_is_applied_leaves_its_journal() {
    let scratch = Scratch::new(&noise(9000, 1));
    let file = File::open(&scratch.path).unwrap();
    let mut overlay = Overlay::new(file, &scratch.path, 9000, Durability::Full).unwrap();
    overlay.write(4090, b"in two pages").unwrap();
    let error = commit(&mut overlay, 4).unwrap_err();
    let JournalError::Unfinished { source, .. } = &error else { panic!("{error}") };
    assert!(matches!(**source, JournalError::Io { action: Action::Write, .. }), "{source}");
    let text = error.to_string();
    assert!(text.contains("data.h5.h5strata-journal") && text.contains("finishes it"), "{text}");
    overlay.discard().unwrap();
    drop(overlay);
    let Recovery::Replayed(replay) = scratch.recover() else { panic!("not replayed") };
    let expected = Replay { pages: 2, bytes: 8192, old_end: 9000, new_end: 9000 };
    assert_eq!(replay, expected);
    assert_eq!(&scratch.content()[4090..4102], b"in two pages");
}

#[test]
fn a_journal_that_cannot_be_made_leaves_the_old_file() {
    let old = noise(9000, 1);
    let scratch = Scratch::new(&old);
    fs::create_dir(scratch.journal()).unwrap();
    let mut overlay = scratch.overlay();
    overlay.write(8990, b"page and tail").unwrap();
    let error = commit(&mut overlay, 4).unwrap_err();
    assert!(matches!(error, JournalError::NotAFile { .. }), "{error}");
    assert!(scratch.content() == old);
    let error = overlay.apply().unwrap_err();
    assert!(matches!(error, JournalError::OutOfOrder { .. }), "{error}");
    let error = recover(&scratch.path, &scratch.open(), Durability::Full).unwrap_err();
    assert!(matches!(error, JournalError::NotAFile { .. }), "{error}");
}

#[test]
fn a_journal_that_cannot_be_removed_says_that_the_outcome_is_open() {
    let scratch = Scratch::new(&noise(9000, 1));
    let mut overlay = scratch.overlay();
    overlay.write(8990, b"page and tail").unwrap();
    commit(&mut overlay, 2).unwrap();
    let new = {
        let mut content = scratch.content();
        content[8990..9000].copy_from_slice(b"page and t");
        content
    };
    let kept = fs::read(scratch.journal()).unwrap();
    fs::remove_file(scratch.journal()).unwrap();
    fs::create_dir(scratch.journal()).unwrap();
    let error = overlay.discard().unwrap_err();
    assert!(matches!(error, JournalError::Undecided { .. }), "{error}");
    drop(overlay);
    fs::remove_dir(scratch.journal()).unwrap();
    fs::write(scratch.journal(), kept).unwrap();
    assert!(matches!(scratch.recover(), Recovery::Replayed(_)));
    assert!(scratch.content() == new);
}

#[test]
fn steps_out_of_order_are_refused() {
    let scratch = Scratch::new(&noise(9000, 1));
    let mut overlay = scratch.overlay();
    overlay.write(1, b"x").unwrap();
    for step in [Overlay::write_journal, Overlay::apply, Overlay::remove_journal] {
        assert!(matches!(step(&mut overlay), Err(JournalError::OutOfOrder { .. })));
    }
    overlay.sync_data().unwrap();
    assert!(matches!(overlay.sync_data(), Err(JournalError::OutOfOrder { .. })));
    assert!(overlay.write(2, b"x").is_err());
}

#[test]
fn an_address_that_no_file_has_is_refused() {
    let scratch = Scratch::new(&noise(9000, 1));
    for address in [u64::MAX, u64::MAX - 3, i64::MAX.unsigned_abs()] {
        let mut overlay = scratch.overlay();
        let error = overlay.write(address, b"four").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
        let mut out = [1; 4];
        overlay.read(address, &mut out).unwrap();
        assert_eq!(out, [0; 4]);
    }
}

#[test]
fn a_file_that_does_not_end_where_it_should_is_refused() {
    let scratch = Scratch::new(&noise(9000, 1));
    for end in [8999, 9001] {
        let error = Overlay::new(scratch.open(), &scratch.path, end, Durability::Full).unwrap_err();
        assert!(matches!(error, JournalError::Size { size: 9000, .. }), "{error}");
    }
}

/// A file system of a few pages.
struct SmallDisk(TempDir);

impl SmallDisk {
    /// `None` where this user may not mount.
    fn mount(size: usize) -> Option<Self> {
        let folder = TempDir::new().unwrap();
        let option = format!("size={size}");
        let mut command = Command::new("mount");
        command.args(["-t", "tmpfs", "-o", &option, "tmpfs"]).arg(folder.path());
        let is_mounted = command.output().is_ok_and(|output| output.status.success());
        is_mounted.then(|| Self(folder))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _status = Command::new("umount").arg(self.0.path()).status();
    }
}

#[test]
fn a_full_disk_leaves_the_old_file() {
    let Some(disk) = SmallDisk::mount(40 * 4096) else {
        eprintln!("skipped: a file system cannot be mounted");
        return;
    };
    let old = noise(20 * 4096, 1);
    let path = disk.0.path().join("data.h5");
    fs::write(&path, &old).unwrap();
    let new_overlay =
        || Overlay::new(open(&path), &path, old.len() as u64, Durability::Full).unwrap();
    // The tail, pages that are spilled, and the journal: each is where the space ends.
    let writes: [(usize, &[Write]); 3] = [
        (64 << 20, &[(0, 100), (20 * 4096, 30 * 4096)]),
        (0, &[(20 * 4096, 15 * 4096), (0, 20 * 4096)]),
        (64 << 20, &[(20 * 4096, 15 * 4096), (0, 20 * 4096)]),
    ];
    for (memory_limit, writes) in writes {
        let mut overlay = new_overlay();
        overlay.set_memory_limit(memory_limit);
        for &(address, length) in writes {
            let _may_fail = overlay.write(address, &noise(length, 2));
        }
        let error = commit(&mut overlay, 4).unwrap_err();
        assert!(error.to_string().contains("No space left on device"), "{error}");
        drop(overlay);
        assert!(fs::read(&path).unwrap() == old);
        assert!(!journal_of(&path).exists());
    }
    let mut overlay = new_overlay();
    overlay.write(20 * 4096 - 2, b"fits").unwrap();
    commit(&mut overlay, 4).unwrap();
    assert!(fs::read(&path).unwrap().ends_with(b"fits"));
}
