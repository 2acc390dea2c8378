//! What this program does when it is started by itself.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use h5strata::atomic::LockError;
use h5strata::{Error, OpenOptions, RawPath, VersionedFile};

use crate::process::{Process, SAYS};
use crate::{LIMIT, limit, series, spilled, writing};

/// Environment variables of a child: what it is, its file, and a number whose meaning depends on the role.
const ROLE: &str = "H5STRATA_TEST_CONCURRENT_ROLE";
const FILE: &str = "H5STRATA_TEST_CONCURRENT_FILE";
const NUMBER: &str = "H5STRATA_TEST_CONCURRENT_NUMBER";

/// How long a reader does nothing between two rounds.
const PAUSE: Duration = Duration::from_millis(10);

/// Starts a child in a role.
pub(crate) fn start(role: &str, path: &Path, number: u64) -> Process {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", "roles::child", "--nocapture", "--test-threads=1"]);
    let (path, number) = (path.to_str().unwrap(), number.to_string());
    Process::start(role, &[(ROLE, role), (FILE, path), (NUMBER, &number)], &command)
}

/// The file that appears when the last commit has been made.
pub(crate) fn done_beside(path: &Path) -> PathBuf {
    path.with_file_name("done")
}

/// What a child process does; without a role, nothing.
#[test]
fn child() {
    let (Some(role), Some(path)) = (env::var_os(ROLE), env::var_os(FILE)) else { return };
    let path = PathBuf::from(path);
    let number = env::var(NUMBER).unwrap().parse().unwrap();
    match role.to_str().unwrap() {
        "writer" => write(&path, number),
        "kept" => watch(&path, RawPath::Auto, true),
        "kept-library" => watch(&path, RawPath::Library, true),
        "anew" => watch(&path, RawPath::Auto, false),
        "committing" => series::commit(&mut writing().open_rw(&path).unwrap(), number).unwrap(),
        "holding" => hold(&path),
        "spilling" => spilled::commit(&path),
        "recovering" => say(&spilled::recover(&path).to_string()),
        "contending" => contend(&path, number),
        other => panic!("{other}"),
    }
}

fn say(line: &str) {
    println!("{SAYS}{line}");
}

/// Commits all versions up to `last`: most of them by one handle, the last by a new one each.
fn write(path: &Path, last: u64) {
    let mut file = writing().open_rw(path).unwrap();
    for version in 1..=last {
        if version > last - last / 6 {
            drop(file);
            file = writing().open_rw(path).unwrap();
        }
        series::commit(&mut file, version).unwrap();
    }
    say("committed");
}

/// Commits the next version whenever nobody else writes, until there is version `last`.
fn contend(path: &Path, last: u64) {
    let (mut newest, mut made, mut refused) = (0, 0, 0);
    let end = Instant::now() + limit();
    while newest < last {
        assert!(Instant::now() < end, "r{newest} is the newest");
        match writing().open_rw(path) {
            Ok(mut file) => {
                newest = newest_of(&file, newest);
                if newest < last {
                    newest += 1;
                    series::commit(&mut file, newest).unwrap();
                    made += 1;
                }
            }
            Err(Error::Lock(LockError::Writer { .. })) => refused += 1,
            Err(error) => panic!("{error}"),
        }
        thread::sleep(Duration::from_millis(1));
    }
    say(&format!("{newest} {made} {refused}"));
}

/// Has the file open for writing until it is killed.
fn hold(path: &Path) {
    let _file = VersionedFile::open_rw(path).unwrap();
    say("open");
    thread::sleep(LIMIT);
}

/// Reads until all commits are made, and once more; says how often, and in how many states of the file. `keep` has the
/// file open all the time, else it is opened for each round, for one way to read after the other.
fn watch(path: &Path, raw_path: RawPath, keep: bool) {
    let options = OpenOptions::new().raw_path(raw_path).threads(1);
    let mut file = options.open(path).unwrap();
    let first = file.version("r0").unwrap();
    let of_first: Vec<_> =
        ["series", "grid", "words"].iter().map(|path| first.dataset(path).unwrap()).collect();
    let (mut newest, mut listed, mut rounds, mut states) = (0, 0, 0, 0);
    let end = Instant::now() + limit();
    say("ready");
    loop {
        let is_last = done_beside(path).exists();
        assert!(Instant::now() < end, "the writer never ends");
        if !keep {
            let raw_path = [RawPath::Auto, RawPath::Library][(rounds % 2) as usize];
            file = options.clone().raw_path(raw_path).open(path).unwrap();
        }
        let before = newest_of(&file, newest);
        let current = file.current().unwrap();
        series::check(&current);
        let after = newest_of(&file, before);
        let current = series::number(current.name());
        let may_be = (before..=after).any(|newest| series::may_be_current(current, newest));
        assert!(may_be, "r{current} was current when r{before} to r{after} were the newest");
        for version in [after, rounds * 7919 % (after + 1)] {
            series::check(&file.version(&series::name(version)).unwrap());
        }
        let names: Vec<_> = file.versions().unwrap().iter().map(|known| &known.name).collect();
        let expected: Vec<_> = (0..names.len() as u64).map(series::name).collect();
        assert!(names.iter().copied().eq(&expected), "{names:?}");
        // A handle lists what there was when it was first asked; it finds later versions by their names.
        let least = if keep { listed } else { after + 1 };
        assert!(names.len() as u64 >= least, "{} versions, {least} were known", names.len());
        listed = names.len() as u64;
        series::check(&first);
        of_first.iter().for_each(series::check_dataset);
        states += u64::from(after > newest);
        (newest, rounds) = (after, rounds + 1);
        if is_last {
            break;
        }
        thread::sleep(PAUSE);
    }
    say(&format!("{newest} {rounds} {states}"));
}

/// Number of the newest version, of which `known` is one that is there.
fn newest_of(file: &VersionedFile, known: u64) -> u64 {
    assert!(file.has_version(&series::name(known)).unwrap(), "r{known} is gone");
    (known..).find(|next| !file.has_version(&series::name(next + 1)).unwrap()).unwrap()
}
