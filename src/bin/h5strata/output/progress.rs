use std::io::{IsTerminal, stderr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use h5strata::snapshot::OnProgress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::visible;

/// A read that is done sooner shows no bar.
const PATIENCE: Duration = Duration::from_millis(500);

/// What the bar shows.
const TEMPLATE: &str = "{prefix} [{bar:30}] {bytes}/{total_bytes} {bytes_per_sec}, {eta} to go";

/// What it shows where things are counted.
const COUNTING: &str = "{prefix} [{bar:30}] {pos}/{len}, {eta} to go";

/// How far a read has come: a bar on standard error, if that is a terminal and the read takes long.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
    appears: Option<Instant>,
}

impl Progress {
    /// A bar for `total` bytes.
    pub(crate) fn new(label: String, total: u64) -> Self {
        Self::with_template(label, total, TEMPLATE)
    }

    fn with_template(label: String, total: u64, template: &str) -> Self {
        let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::hidden());
        let style = ProgressStyle::with_template(template)
            .unwrap_or_else(|_| ProgressStyle::default_bar())
            .progress_chars("=> ");
        bar.set_style(style);
        bar.set_prefix(label);
        let appears = stderr().is_terminal().then(|| Instant::now() + PATIENCE);
        Self { bar, appears }
    }

    /// Takes the bar away for good.
    pub(crate) fn hide(&mut self) {
        self.appears = None;
        self.bar.finish_and_clear();
        self.bar.set_draw_target(ProgressDrawTarget::hidden());
    }

    /// Tells of bytes that have been read.
    pub(crate) fn advance(&mut self, bytes: u64) {
        if self.appears.is_some_and(|time| Instant::now() >= time) {
            self.appears = None;
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        self.bar.inc(bytes);
    }
}

/// Things that are done one after the other, as a bar.
#[derive(Clone, Debug)]
pub(crate) struct Countdown {
    state: Arc<Mutex<(u64, Progress)>>,
}

impl Countdown {
    /// A bar that tells what the things are.
    pub(crate) fn new(things: &str) -> Self {
        let progress = Progress::with_template(things.to_owned(), 0, COUNTING);
        Self { state: Arc::new(Mutex::new((0, progress))) }
    }

    /// Tells how many are done, of how many.
    pub(crate) fn reached(&self, done: u64, total: u64) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let (before, progress) = &mut *state;
        progress.bar.set_length(total);
        progress.advance(done.saturating_sub(*before));
        *before = done;
    }

    /// Takes the bar away.
    pub(crate) fn end(&self) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).1.hide();
    }
}

/// The bar leaves no trace.
impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// Datasets that are worked on one after the other, each with its bar.
#[derive(Clone, Debug, Default)]
pub(crate) struct Steps {
    current: Arc<Mutex<Option<Step>>>,
}

#[derive(Debug)]
struct Step {
    dataset: String,
    done: u64,
    bar: Progress,
}

impl Steps {
    /// What the library tells of how far it has come.
    pub(crate) fn listener(&self) -> OnProgress {
        let current = Arc::clone(&self.current);
        OnProgress::new(move |progress| {
            let mut current = current.lock().unwrap_or_else(PoisonError::into_inner);
            if current.as_ref().is_none_or(|step| step.dataset != progress.dataset) {
                // The old bar goes before the new one comes.
                *current = None;
                let dataset = progress.dataset.to_owned();
                let bar = Progress::new(visible(&dataset).into_owned(), progress.total);
                *current = Some(Step { dataset, done: 0, bar });
            }
            if let Some(step) = current.as_mut() {
                // Told by several threads, not always in order.
                step.bar.advance(progress.done.saturating_sub(step.done));
                step.done = step.done.max(progress.done);
            }
        })
    }

    /// Takes the last bar away.
    pub(crate) fn end(&self) {
        *self.current.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}
