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

/// How far a read has come: a bar on standard error, if that is a terminal and the read takes long.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
    appears: Option<Instant>,
}

impl Progress {
    /// A bar for `total` bytes.
    pub(crate) fn new(label: String, total: u64) -> Self {
        let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::hidden());
        let style = ProgressStyle::with_template(TEMPLATE)
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
