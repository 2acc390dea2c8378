//! A journal is applied to its own file alone.

use super::*;

fn interrupted() -> Interrupted {
    Interrupted::new(100_000, &[(100, 50), (8192, 4096), (100_000, 9000)], 109_000)
}

/// What recovery and reading through make of the file at `path`; it does not change.
fn belonging(path: &Path) -> Recovery {
    let before = fs::read(path).unwrap();
    let journal_before = fs::read(journal_of(path)).unwrap();
    let recovery = recover(path, &open(path), Durability::Process).unwrap();
    assert!(fs::read(path).unwrap() == before);
    assert!(fs::read(journal_of(path)).unwrap() == journal_before);
    recovery
}

#[test]
fn a_journal_copied_next_to_another_file_is_foreign() {
    let case = interrupted();
    let mut content = case.file.clone();
    content[50_000..70_000].fill(0);
    let other = Scratch::new(&content);
    fs::write(other.journal(), &case.journal).unwrap();
    assert_eq!(belonging(&other.path), Recovery::LeftAlone(Belonging::Foreign));
    assert!(seen(&other.path, &other.open()).unwrap().is_none());
}

#[test]
fn a_file_and_a_journal_that_were_copied_together_are_told_apart() {
    let case = interrupted();
    let other = Scratch::new(&case.file);
    fs::write(other.journal(), &case.journal).unwrap();
    assert_eq!(belonging(&other.path), Recovery::LeftAlone(Belonging::Moved));
    let error = seen(&other.path, &other.open()).unwrap_err();
    assert!(matches!(error, JournalError::Moved { .. }), "{error}");
    let recovery = recover_moved(&other.path, &other.open(), Durability::Process).unwrap();
    assert!(matches!(recovery, Recovery::Replayed(_)));
    assert!(other.content() == case.new);
}

#[test]
fn a_foreign_journal_is_not_applied_by_those_who_take_a_moved_one() {
    let case = interrupted();
    let other = Scratch::new(&noise(109_000, 77));
    fs::write(other.journal(), &case.journal).unwrap();
    let recovery = recover_moved(&other.path, &other.open(), Durability::Process).unwrap();
    assert_eq!(recovery, Recovery::LeftAlone(Belonging::Foreign));
    assert!(other.content() == noise(109_000, 77));
}

#[test]
fn a_file_that_was_renamed_over_is_foreign() {
    let case = interrupted();
    let replacement = case.scratch.folder.path().join("replacement");
    fs::write(&replacement, noise(109_000, 77)).unwrap();
    fs::rename(&replacement, &case.scratch.path).unwrap();
    let recovery = belonging(&case.scratch.path);
    assert_eq!(recovery, Recovery::LeftAlone(Belonging::Foreign));
}

#[test]
fn other_content_in_the_same_file_is_foreign() {
    let case = interrupted();
    let last = case.file.len() - 1;
    let changed = |at: usize| {
        let mut content = case.file.clone();
        content[at] ^= 1;
        content
    };
    let contents = [
        changed(last),
        // The first page that is not in the journal.
        changed(4096),
        case.file[..last].to_vec(),
        case.file[..100_000].to_vec(),
        [&case.file[..], &[0]].concat(),
        Vec::new(),
    ];
    for content in contents {
        case.restore();
        fs::write(&case.scratch.path, content).unwrap();
        let recovery = belonging(&case.scratch.path);
        assert_eq!(recovery, Recovery::LeftAlone(Belonging::Foreign));
    }
}

#[test]
fn a_commit_leaves_a_complete_journal_that_it_finds() {
    let case = interrupted();
    for memory_limit in [0, 64 << 20] {
        let other = Scratch::new(&noise(50_000, 5));
        fs::write(other.journal(), &case.journal).unwrap();
        let mut overlay = other.overlay();
        overlay.set_memory_limit(memory_limit);
        let writes = [overlay.write(0, b"new"), overlay.write(20_000, b"new")];
        assert_eq!(writes[1].is_err() || overlay.failure().is_some(), memory_limit == 0);
        let error = commit(&mut overlay, 4).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("a complete journal already"), "{text}");
        drop(overlay);
        assert!(other.content() == noise(50_000, 5));
        assert!(fs::read(other.journal()).unwrap() == case.journal);
    }
}

#[test]
fn a_symbolic_link_leads_to_the_journal_of_the_file() {
    let case = interrupted();
    let link = case.scratch.folder.path().join("link");
    std::os::unix::fs::symlink(&case.scratch.path, &link).unwrap();
    assert!(seen(&link, &open(&link)).unwrap().is_some());
    let recovery = recover(&link, &open(&link), Durability::Process).unwrap();
    assert!(matches!(recovery, Recovery::Replayed(_)));
    assert!(case.scratch.content() == case.new);
}

#[test]
fn a_complete_journal_of_a_later_format_is_kept() {
    use sha2::{Digest, Sha256};
    let case = interrupted();
    let mut journal = case.journal.clone();
    journal[8] = 3;
    let digest = Sha256::digest(&journal[..480]);
    journal[480..512].copy_from_slice(&digest);
    fs::write(case.scratch.journal(), &journal).unwrap();
    let file = case.scratch.open();
    let error = recover(&case.scratch.path, &file, Durability::Process).unwrap_err();
    assert!(matches!(error, JournalError::Version { found: 3, .. }), "{error}");
    assert!(case.scratch.journal().exists());
}
