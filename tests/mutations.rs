//! Damaged files give an error or the right answer, in bounded time and memory, and never a panic.
//!
//! Thousands of damaged copies are read by child processes: this test's own program, asked by a variable of the
//! environment, with a limit on memory and a watch on time. So a crash costs one file and is told with its place.
//! A crash whose innermost frame is a function of libhdf5, which parses most metadata itself, is told apart from ours.
//! None has been seen so far, so more than one copy in a thousand fails the test; any crash of ours does.
//!
//! Errors alone would not do: of many copies at least one dataset must still be read, and right.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    reason = "a test fails by a panic, and its numbers are small"
)]

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use std::{env, fs, thread};

use h5strata::{Error, OpenOptions, RawPath, StatsOptions, VerifyOptions, VersionedFile};

#[path = "support/crash.rs"]
mod crash;
#[path = "support/damage.rs"]
mod damage;
mod support;

use damage::Original;
use support::made;
use support::values::{self, Values};

/// Numbers, groups and strings in old and new structures; filters; sparse grids; compounds and enumerations; lists of
/// mappings in every form; a chunk index of several levels, of which single look-ups read a part.
const FILES: [&str; 9] = [
    "libver-earliest",
    "libver-latest",
    "filter-strings-and-compounds",
    "fill-values",
    "dtype-compound",
    "encodings-latest",
    "deep-chunk-index-handmade",
    "random-2d",
    "report-string-hashes",
];
/// Damaged copies of each file.
const COPIES: u64 = 500;
/// Copies that one child reads.
const BATCH: u64 = 100;
/// Copies with a dataset that is read right, as a share of all: at least one in so many.
const ONE_RIGHT_IN: u64 = 10;
/// Address space of a child in KiB.
const MEMORY: u64 = 1 << 21;
/// Most time for one copy.
const TIME: Duration = Duration::from_secs(10);

/// What a child says of a copy of which it read at least one dataset right.
const RIGHT: &str = "right";
/// Asks this program to read copies: folder, file, first number and the one behind the last.
const JOB: &str = "H5STRATA_MUTATIONS_JOB";

#[test]
fn damaged_files_give_errors_or_the_right_answer() {
    let jobs: Vec<(&str, u64)> = FILES
        .iter()
        .flat_map(|name| (0..COPIES).step_by(BATCH as usize).map(move |first| (*name, first)))
        .collect();
    let (next, faults) = (AtomicU64::new(0), Mutex::new(Vec::new()));
    let (right, crashes) = (AtomicU64::new(0), AtomicU64::new(0));
    // The files are made before children ask for them.
    made::folder().unwrap();
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some((name, first)) =
                    jobs.get(next.fetch_add(1, Ordering::Relaxed) as usize)
                {
                    let mut from = *first;
                    loop {
                        let end = read_copies(name, from, first + BATCH);
                        right.fetch_add(end.right, Ordering::Relaxed);
                        let Some(death) = end.death else { break };
                        from = death.number + 1;
                        if death.in_libhdf5() {
                            crashes.fetch_add(1, Ordering::Relaxed);
                            let _ = writeln!(std::io::stderr(), "libhdf5: {death}");
                        } else {
                            faults.lock().unwrap().push(death.to_string());
                        }
                    }
                }
            });
        }
    });
    let faults = faults.into_inner().unwrap();
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
    let copies = FILES.len() as u64 * COPIES;
    // None were seen in some 30,000 copies, but what libhdf5 does with a damaged file is not ours to promise: one copy in a
    // thousand may tell of a new fault there without stopping all other work.
    let crashes = crashes.into_inner();
    assert!(
        crashes * 1000 <= copies,
        "libhdf5 crashed on {crashes} of {copies} copies, told above"
    );
    let right = right.into_inner();
    println!("{right} of {copies} copies gave a right answer");
    assert!(right * ONE_RIGHT_IN >= copies, "only {right} of {copies} copies gave a right answer");
}

/// What a child did.
struct End {
    /// Copies of which it read at least one dataset right.
    right: u64,
    death: Option<Death>,
}

/// How a child ended before its work was done.
struct Death {
    name: String,
    number: u64,
    damage: String,
    how: String,
    said: String,
}

impl Death {
    /// Whether a signal came while libhdf5 was at work, and not because the stack was full of our calls.
    fn in_libhdf5(&self) -> bool {
        self.how.starts_with("signal")
            && crash::innermost(&self.said).starts_with("H5")
            && !crash::is_deep(&self.said)
    }
}

impl std::fmt::Display for Death {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { name, number, damage, how, said } = self;
        write!(f, "{name}, copy {number} ({damage}): {how}\n{}", crash::shortened(said))
    }
}

/// Has a child read copies.
fn read_copies(name: &str, first: u64, end: u64) -> End {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("mutations-{}-{name}-{first}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let mut child = Command::new("sh")
        .args(["-c", &format!("ulimit -v {MEMORY}; exec \"$0\" \"$@\"")])
        .arg(env::current_exe().unwrap())
        .args(["--exact", "child", "--nocapture", "--test-threads=1"])
        .env(JOB, format!("{}\n{name}\n{first}\n{end}", folder.display()))
        .env("RUST_BACKTRACE", "1")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stderr = child.stderr.take().unwrap();
    let errors = thread::spawn(move || {
        let mut said = Vec::new();
        stderr.read_to_end(&mut said).map(|_| String::from_utf8_lossy(&said).into_owned())
    });
    // The last copy that was begun, and what was wrong with it.
    let mut last = (first, String::new());
    let mut right = 0;
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        let line = line.unwrap();
        if let Some((number, damage)) = line.strip_prefix("copy ").and_then(|l| l.split_once(": "))
        {
            last = (number.parse().unwrap(), damage.to_owned());
        } else if line == RIGHT {
            right += 1;
        }
    }
    let status = child.wait().unwrap();
    let said = errors.join().unwrap().unwrap();
    let _ = fs::remove_dir_all(&folder);
    let how = match (status.code(), crash::signal_of(&said)) {
        (Some(0), _) if last.0 + 1 >= end => return End { right, death: None },
        (Some(0), _) => "it ended before its last copy".to_owned(),
        (_, Some(signal)) => format!("signal {signal}"),
        _ => {
            status.signal().map_or_else(|| status.to_string(), |signal| format!("signal {signal}"))
        }
    };
    let death = Death { name: name.to_owned(), number: last.0, damage: last.1, how, said };
    End { right, death: Some(death) }
}

/// What a child process does; without a job, nothing.
#[test]
fn child() {
    let Ok(job) = env::var(JOB) else { return };
    let parts: Vec<&str> = job.split('\n').collect();
    let [folder, name, first, end] = parts[..] else { panic!("{job}") };
    let original = Original::read(&made::file(name).unwrap().path).unwrap();
    let watch = crash::Watch::start(TIME);
    for number in first.parse().unwrap()..end.parse().unwrap() {
        let damage = original.damaged(number);
        // Flushed at once: these are the last words if this copy is the end.
        let mut out = std::io::stdout().lock();
        writeln!(out, "copy {number}: {damage}").unwrap();
        out.flush().unwrap();
        drop(out);
        watch.again();
        // Each copy under a name of its own, all kept: libhdf5 takes files of one inode for one file.
        let path = PathBuf::from(folder).join(format!("{number}.h5"));
        fs::write(&path, &damage.bytes).unwrap();
        let raw_path = if number % 4 == 3 { RawPath::Library } else { RawPath::Auto };
        let Ok(file) = OpenOptions::new().threads(1).raw_path(raw_path).open(&path) else {
            continue;
        };
        list(&file);
        // Whatever it finds, it comes to its end.
        let _ = file.verify(&VerifyOptions::new().quick(number % 2 == 0));
        let _ = file.stats(&StatsOptions::new());
        for (place, points) in &original.points {
            let sound = original.protects_points(place, &damage);
            // Before anything is read as a whole, and so known: mappings and chunks are looked up one by one.
            let Ok(dataset) = file.version(&place.0).and_then(|v| v.dataset(&place.1)) else {
                continue;
            };
            for point in points {
                let same = point.is_in(&dataset).unwrap_or(true);
                assert!(same || !sound, "{place:?} reads as something else at a point");
            }
        }
        let mut right = false;
        for (place, expected) in &original.digests {
            if let Ok(found) = digest(&file, &place.0, &place.1) {
                if original.protects(place, &damage) {
                    assert_eq!(&found, expected, "{place:?} reads as something else");
                }
                right |= &found == expected;
            }
        }
        if right {
            println!("{RIGHT}");
        }
    }
}

/// The digest of a dataset that has not become too large to read in the time there is.
fn digest(file: &VersionedFile, version: &str, path: &str) -> Result<String, Error> {
    const LARGEST: u64 = 1 << 22;
    let dataset = file.version(version)?.dataset(path)?;
    let elements = h5strata::dims::element_count(dataset.shape()).unwrap_or(u64::MAX);
    if elements > LARGEST {
        // Must end as well, in an error or an answer.
        let first = dataset.read_byte_strings("..., 0".parse::<h5strata::Selection>().unwrap());
        return first.map(|_| values::sha256(&[]));
    }
    Values::whole(&dataset).map(|values| values.sha256())
}

/// Lists all there is, for the sake of its coming to an end.
fn list(file: &VersionedFile) {
    let _ = (file.current(), file.back(1));
    let Ok(versions) = file.versions() else { return };
    for info in versions {
        let Ok(version) = file.version(&info.name) else { continue };
        let _ = (version.parent(), version.timestamp(), version.attributes());
        for entry in version.entries().unwrap_or_default() {
            let _ = version.attributes_of(&entry.path);
            if let Ok(dataset) = version.dataset(&entry.path) {
                let _ = (dataset.stored_chunks(), dataset.chunk_map().map(|map| map.stored()));
                let _ = dataset.dtype().to_string();
            }
        }
    }
}
