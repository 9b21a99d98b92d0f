//! The progress of a benchmark, on a terminal.

use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A bar on standard error; nothing if that is not a terminal. It is drawn between runs, a few
/// times a second.
#[derive(Debug)]
pub(super) struct Progress {
    bar: ProgressBar,
}

/// The total number of steps.
const NUM_STEPS: u64 = 1000;

impl Progress {
    /// Creates a bar that is empty.
    pub(super) fn new() -> Self {
        let target = if std::io::stderr().is_terminal() {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        let bar = ProgressBar::with_draw_target(Some(NUM_STEPS), target);
        if let Ok(style) = ProgressStyle::with_template("{msg} [{bar:40}] {percent}% {eta}") {
            bar.set_style(style.progress_chars("=> "));
        }
        Self { bar }
    }

    /// Starts anew with the runs of a function that are made for this.
    pub(super) fn begin(&self, function: &str, purpose: &str) {
        self.bar.reset();
        self.bar.set_message(format!("{function}: {purpose}"));
    }

    /// Moves to this part of the whole, from 0 to 1.
    pub(super) fn advance_to(&self, part: f64) {
        self.bar
            .set_position((part.clamp(0.0, 1.0) * NUM_STEPS as f64) as u64);
    }
}

impl Drop for Progress {
    /// Erases the bar.
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
