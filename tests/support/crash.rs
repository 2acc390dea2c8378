//! Signals of a child process told as text: which one, and where.

use std::backtrace::Backtrace;
use std::io::Write as _;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

/// What stands before the number of the signal in the report.
const REPORT: &str = "ended by signal ";

/// Signals that a crash brings, and the one that the watch sends.
const SIGNALS: [libc::c_int; 6] =
    [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGABRT, libc::SIGALRM];

/// Has crashes of this process reported, and ends it when nothing happens for too long.
pub(crate) struct Watch {
    beats: Arc<AtomicU64>,
}

impl Watch {
    /// Watches the calling thread.
    pub(crate) fn start(most: Duration) -> Self {
        report_signals();
        let beats = Arc::new(AtomicU64::new(0));
        // SAFETY: it has no preconditions.
        let watched = unsafe { libc::pthread_self() };
        let seen = Arc::clone(&beats);
        thread::spawn(move || {
            loop {
                let before = seen.load(Ordering::Relaxed);
                thread::sleep(most);
                if seen.load(Ordering::Relaxed) == before {
                    // SAFETY: the watched thread runs the one test of the process, which ends with it.
                    unsafe { libc::pthread_kill(watched, libc::SIGALRM) };
                }
            }
        });
        Self { beats }
    }

    /// Something happened.
    pub(crate) fn again(&self) {
        self.beats.fetch_add(1, Ordering::Relaxed);
    }
}

fn report_signals() {
    const STACK: usize = 1 << 20;
    let memory = Box::leak(vec![0_u8; STACK].into_boxed_slice());
    let stack = libc::stack_t { ss_sp: memory.as_mut_ptr().cast(), ss_flags: 0, ss_size: STACK };
    let handler: extern "C" fn(libc::c_int) = report;
    // SAFETY: the stack is never freed; the action is zeroed, which is a valid value, and then filled.
    unsafe {
        assert_eq!(libc::sigaltstack(&stack, ptr::null_mut()), 0);
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as libc::sighandler_t;
        action.sa_flags = libc::SA_ONSTACK | libc::SA_RESETHAND | libc::SA_NODEFER;
        for signal in SIGNALS {
            assert_eq!(libc::sigaction(signal, &action, ptr::null_mut()), 0);
        }
    }
}

/// Says where the signal came, and ends the process. What it calls may not be called in a handler if the crash was in
/// the allocator: then a second signal, not handled any more, ends the process.
extern "C" fn report(signal: libc::c_int) {
    let mut out = std::io::stderr();
    let _ = writeln!(out, "{REPORT}{signal}");
    let _ = writeln!(out, "{}", Backtrace::force_capture());
    // SAFETY: it does not return and has no preconditions.
    unsafe { libc::_exit(1) }
}

/// The signal that a child reported.
pub(crate) fn signal_of(said: &str) -> Option<&str> {
    said.lines().rev().find_map(|line| line.strip_prefix(REPORT))
}

/// Functions of the report, innermost first, without those of reporting.
fn frames(said: &str) -> Vec<&str> {
    let report = said.rsplit_once(REPORT).map_or("", |(_, report)| report);
    let names = report.lines().filter_map(|line| {
        let (number, name) = line.trim_start().split_once(": ")?;
        number.parse::<u32>().ok().map(|_| name.trim())
    });
    let names: Vec<&str> = names.collect();
    let own = names.iter().rposition(|name| name.contains("crash::report") || *name == "<unknown>");
    names.get(own.map_or(0, |own| own + 1)..).unwrap_or_default().to_vec()
}

/// The function in which the signal came, without those of the C library; empty if that is not known.
pub(crate) fn innermost(said: &str) -> &str {
    let outside = |name: &&&str| name.starts_with("H5") || name.contains("::");
    frames(said).iter().find(outside).copied().unwrap_or_default()
}

/// Whether calls lie in each other deeper than any sound work needs.
pub(crate) fn is_deep(said: &str) -> bool {
    frames(said).len() > 300
}

/// The words of a panic, or the innermost functions.
pub(crate) fn shortened(said: &str) -> String {
    let frames = frames(said);
    if frames.is_empty() {
        return said.lines().take(12).collect::<Vec<_>>().join("\n");
    }
    let ours = frames.iter().filter(|name| name.contains("h5strata"));
    let shown: Vec<&str> = frames.iter().take(8).chain(ours.take(3)).copied().collect();
    format!("    in {}", shown.join(" < "))
}
