//! What readers see, and what a commit leaves of itself.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::time::{Duration, SystemTime};

use super::*;
use crate::ondisk::{FieldWidth, ReadAt, test_image};

#[test]
fn a_commit_without_a_write_writes_nothing() {
    let scratch = Scratch::new(&noise(9000, 1));
    let long_ago = SystemTime::now() - Duration::from_secs(1000);
    scratch.open().set_modified(long_ago).unwrap();
    let before = fs::metadata(&scratch.path).unwrap();
    let folder_before = fs::metadata(scratch.folder.path()).unwrap();
    for steps in [4, 0] {
        let mut overlay = scratch.overlay();
        overlay.write(5, b"").unwrap();
        overlay.set_size(9000).unwrap();
        commit(&mut overlay, steps).unwrap();
        overlay.discard().unwrap();
    }
    let after = fs::metadata(&scratch.path).unwrap();
    assert_eq!(after.modified().unwrap(), before.modified().unwrap());
    assert_eq!((after.ctime(), after.ctime_nsec()), (before.ctime(), before.ctime_nsec()));
    let folder_after = fs::metadata(scratch.folder.path()).unwrap();
    assert_eq!(folder_after.modified().unwrap(), folder_before.modified().unwrap());
}

#[test]
fn a_new_file_is_all_tail() {
    let scratch = Scratch::new(&[]);
    let mut overlay = scratch.overlay();
    overlay.write(0, &noise(10_000, 3)).unwrap();
    let mut out = vec![0; 10_000];
    overlay.read(0, &mut out).unwrap();
    assert!(out == noise(10_000, 3));
    commit(&mut overlay, 4).unwrap();
    drop(overlay);
    assert!(scratch.content() == noise(10_000, 3));
}

#[test]
fn nothing_below_the_committed_end_changes_before_the_journal_is_applied() {
    let old = noise(9000, 1);
    let scratch = Scratch::new(&old);
    let mut overlay = scratch.overlay();
    overlay.set_memory_limit(0);
    overlay.write(0, &noise(12_000, 2)).unwrap();
    assert!(scratch.content()[..9000] == old);
    commit(&mut overlay, 2).unwrap();
    assert!(scratch.content()[..9000] == old);
    overlay.apply().unwrap();
    assert!(scratch.content() == noise(12_000, 2));
    assert!(scratch.journal().exists());
    overlay.remove_journal().unwrap();
    assert!(!scratch.journal().exists());
}

#[test]
fn a_journal_may_be_read_by_those_who_may_read_the_file() {
    for mode in [0o600, 0o640, 0o666] {
        let scratch = Scratch::new(&noise(9000, 1));
        fs::set_permissions(&scratch.path, fs::Permissions::from_mode(mode)).unwrap();
        let mut overlay = scratch.overlay();
        overlay.write(5, b"new").unwrap();
        commit(&mut overlay, 2).unwrap();
        let journal = fs::metadata(scratch.journal()).unwrap();
        assert_eq!(journal.permissions().mode() & 0o777, mode);
    }
}

#[test]
fn a_view_without_a_journal_is_the_file() {
    let content = noise(9000, 1);
    let scratch = Scratch::new(&content);
    assert!(seen(&scratch.path, &scratch.open()).unwrap().is_none());
    let mut view = ReadView::plain(scratch.open());
    assert!(!view.has_journal());
    check_view(&mut view, &content);
}

#[test]
fn a_view_through_a_journal_is_the_new_file_before_it_is_applied_and_after() {
    for case in Interrupted::all() {
        let mut view = seen(&case.scratch.path, &case.scratch.open()).unwrap().unwrap();
        assert!(view.has_journal());
        check_view(&mut view, &case.new);
        case.scratch.recover();
        check_view(&mut view.clone(), &case.new);
    }
}

fn check_view(view: &mut ReadView, content: &[u8]) {
    assert_eq!(ReadAt::size(view).unwrap(), content.len() as u64);
    assert_eq!(Storage::size(view).unwrap(), content.len() as u64);
    for (address, length) in [(0, content.len() + 50), (4000, 200), (8990, 20), (1 << 40, 3)] {
        let mut expected: Vec<u8> = content.iter().copied().skip(address).take(length).collect();
        let mut out = vec![7; length];
        assert_eq!(view.read_at(&mut out, address as u64).unwrap(), expected.len());
        assert!(out.starts_with(&expected));
        expected.resize(length, 0);
        view.read(address as u64, &mut out).unwrap();
        assert!(out == expected);
    }
    assert!(view.write(0, b"x").is_err() && view.set_size(0).is_err());
}

#[test]
fn the_committed_end_is_what_the_superblock_in_the_overlay_says() {
    let image = test_image::superblock(0, FieldWidth::Eight, FieldWidth::Eight);
    let scratch = Scratch::new(&image);
    let mut overlay = scratch.overlay();
    overlay.write(40, &5000u64.to_le_bytes()).unwrap();
    assert_eq!(committed_end(&overlay).unwrap(), 5000);
    assert_eq!(committed_end(&scratch.open()).unwrap(), 0);
}
