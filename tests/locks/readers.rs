//! Readers of this process against writers of this process, which have opened the file on their own.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use h5strata::atomic::{LockError, LockPolicy, ReaderGate};

use super::{LONG, SHORT, Scratch, unchanged};

#[test]
fn the_first_in_locks_and_the_last_out_unlocks() {
    let scratch = Scratch::new();
    let gate = scratch.gate(SHORT);
    assert!(!scratch.is_locked());
    let (outer, inner) = (gate.enter().unwrap(), gate.enter().unwrap());
    let other = thread::scope(|scope| scope.spawn(|| gate.enter().unwrap()).join().unwrap());
    drop(outer);
    assert!(scratch.is_locked() && !scratch.is_locked_alone());
    drop(inner);
    assert!(scratch.is_locked());
    // Dropped here, though entered in a thread that has ended.
    drop(other);
    assert!(!scratch.is_locked());
    drop(gate.enter().unwrap());
    assert!(!scratch.is_locked());
}

#[test]
fn a_reader_is_not_in_the_way_of_a_writer_that_stages() {
    let scratch = Scratch::new();
    let gate = scratch.gate(Duration::ZERO);
    let inside = gate.enter().unwrap();
    let writer = scratch.writer().unwrap();
    drop(inside);
    drop(gate.enter().unwrap());
    drop(writer);
}

#[test]
fn a_reader_waits_for_an_exclusion_and_no_longer_than_it_may() {
    let scratch = Scratch::new();
    let mut writer = scratch.writer().unwrap();
    let exclusion = writer.exclude_readers(SHORT, unchanged).unwrap();
    let error = scratch.gate(SHORT).enter().unwrap_err();
    assert!(matches!(error, LockError::Busy { waited, .. } if waited >= SHORT), "{error}");
    let gate = scratch.gate(LONG);
    thread::scope(|scope| {
        // Several at once: one waits for the lock, the others for it.
        let readers: Vec<_> = (0..4).map(|_| scope.spawn(|| gate.enter().unwrap())).collect();
        thread::sleep(SHORT);
        assert!(readers.iter().all(|reader| !reader.is_finished()));
        drop(exclusion);
        let guards: Vec<_> = readers.into_iter().map(|reader| reader.join().unwrap()).collect();
        assert!(scratch.is_locked());
        drop(guards);
    });
    writer.ensure_held().unwrap();
}

#[test]
fn readers_that_waited_together_each_get_their_error() {
    let scratch = Scratch::new();
    let mut writer = scratch.writer().unwrap();
    let exclusion = writer.exclude_readers(SHORT, unchanged).unwrap();
    let gate = scratch.gate(SHORT);
    let start = Instant::now();
    thread::scope(|scope| {
        let readers: Vec<_> = (0..4).map(|_| scope.spawn(|| gate.enter())).collect();
        for reader in readers {
            assert!(matches!(reader.join().unwrap(), Err(LockError::Busy { .. })));
        }
    });
    assert!(start.elapsed() < LONG);
    drop(exclusion);
    drop(gate.enter().unwrap());
}

#[test]
fn nested_entries_go_on_while_a_writer_waits_for_the_outer_one() {
    let scratch = Scratch::new();
    let mut writer = scratch.writer().unwrap();
    let gate = scratch.gate(LONG);
    thread::scope(|scope| {
        let outer = gate.enter().unwrap();
        let waiting = scope.spawn(move || writer.exclude_readers(LONG, unchanged).map(drop));
        // The writer is there when a reader with an open of its own is kept out.
        let newcomer = scratch.gate(Duration::ZERO);
        while newcomer.enter().is_ok() {
            thread::sleep(Duration::from_millis(1));
        }
        let start = Instant::now();
        for _ in 0..100 {
            drop((gate.enter().unwrap(), gate.enter().unwrap()));
            thread::sleep(Duration::from_micros(500));
        }
        // No entry waited: each would have, for 100 ms, after the first 10 ms.
        assert!(start.elapsed() < Duration::from_secs(5));
        assert!(!waiting.is_finished());
        drop(outer);
        waiting.join().unwrap().unwrap();
    });
}

#[test]
fn threads_that_a_reader_waits_for_are_let_in_while_a_writer_waits() {
    let scratch = Scratch::new();
    let mut writer = scratch.writer().unwrap();
    let gate = scratch.gate(LONG);
    thread::scope(|scope| {
        let outer = gate.enter().unwrap();
        let waiting = scope.spawn(move || writer.exclude_readers(LONG, unchanged).map(drop));
        let newcomer = scratch.gate(Duration::ZERO);
        while newcomer.enter().is_ok() {
            thread::sleep(Duration::from_millis(1));
        }
        thread::sleep(SHORT);
        let start = Instant::now();
        let workers: Vec<_> = (0..4).map(|_| scope.spawn(|| gate.enter().map(drop))).collect();
        for worker in workers {
            worker.join().unwrap().unwrap();
        }
        assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
        assert!(!waiting.is_finished());
        drop(outer);
        waiting.join().unwrap().unwrap();
    });
}

/// Has threads end that look at it, also when a test fails.
struct EndOf<'a>(&'a AtomicBool);

impl Drop for EndOf<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Has 8 threads read all the time, through gates that `gate_of` gives each of them, and a writer exclude them again
/// and again. No reader is inside meanwhile, and nobody fails.
fn streams(scratch: &Scratch, gate_of: impl Fn() -> ReaderGate) {
    const COMMITS: usize = 20;
    let mut writer = scratch.writer().unwrap();
    let (done, alone) = (AtomicBool::new(false), AtomicBool::new(false));
    let reads = AtomicUsize::new(0);
    let (started, all_started) = mpsc::channel();
    thread::scope(|scope| {
        let _end = EndOf(&done);
        for _ in 0..8 {
            let (gate, started) = (gate_of(), started.clone());
            let (done, alone, reads) = (&done, &alone, &reads);
            scope.spawn(move || {
                while !done.load(Ordering::Relaxed) {
                    let guard = gate.enter().unwrap();
                    let _ = started.send(());
                    thread::sleep(Duration::from_millis(2));
                    assert!(!alone.load(Ordering::SeqCst), "a reader inside an exclusion");
                    reads.fetch_add(1, Ordering::Relaxed);
                    drop(guard);
                }
            });
        }
        for _ in 0..8 {
            all_started.recv().unwrap();
        }
        let start = Instant::now();
        let mut before = 0;
        for _ in 0..COMMITS {
            let exclusion = writer.exclude_readers(LONG / 4, unchanged).unwrap();
            alone.store(true, Ordering::SeqCst);
            thread::sleep(Duration::from_millis(2));
            alone.store(false, Ordering::SeqCst);
            drop(exclusion);
            // Readers get their turn as well.
            while reads.load(Ordering::Relaxed) == before {
                thread::sleep(Duration::from_millis(1));
            }
            before = reads.load(Ordering::Relaxed);
        }
        // 20 commits take about 1 s.
        assert!(start.elapsed() < LONG, "{:?}", start.elapsed());
    });
}

#[test]
fn a_stream_of_threads_through_one_gate_does_not_starve_a_writer() {
    let scratch = Scratch::new();
    let gate = scratch.gate(LONG);
    streams(&scratch, || gate.clone());
}

#[test]
fn a_stream_of_readers_with_opens_of_their_own_does_not_starve_a_writer() {
    let scratch = Scratch::new();
    streams(&scratch, || scratch.gate(LONG));
}

#[test]
fn without_locks_a_gate_is_open() {
    let scratch = Scratch::new();
    let mut writer = scratch.writer().unwrap();
    let _exclusion = writer.exclude_readers(SHORT, unchanged).unwrap();
    let gate =
        ReaderGate::new(&scratch.open(), &scratch.path, LockPolicy::Off, Duration::ZERO).unwrap();
    let _inside = gate.enter().unwrap();
}
