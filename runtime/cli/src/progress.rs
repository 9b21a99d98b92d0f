//! What a command is doing, on a terminal, while it takes longer than a moment.

use std::io::IsTerminal;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// What takes less time is not shown.
const DELAY: Duration = Duration::from_millis(500);

/// The time between two pictures.
const TICK: Duration = Duration::from_millis(100);

/// A line on standard error from half a second after the start until this is dropped; nothing if
/// that is not a terminal.
#[derive(Debug)]
pub(crate) struct Progress(Option<(Sender<()>, JoinHandle<()>)>);

impl Progress {
    /// Starts what is named.
    pub(crate) fn start(what: &'static str) -> Self {
        if !std::io::stderr().is_terminal() {
            return Self(None);
        }
        let (done, is_done) = mpsc::channel();
        let thread = thread::spawn(move || {
            if is_done.recv_timeout(DELAY) != Err(RecvTimeoutError::Timeout) {
                return;
            }
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} {elapsed}") {
                bar.set_style(style);
            }
            bar.set_message(what);
            bar.enable_steady_tick(TICK);
            // The end of the channel is the end of the work.
            let _ = is_done.recv();
            bar.finish_and_clear();
        });
        Self(Some((done, thread)))
    }
}

impl Drop for Progress {
    /// Erases the line.
    fn drop(&mut self) {
        if let Some((done, thread)) = self.0.take() {
            drop(done);
            // Without it, what is printed next could be erased.
            let _ = thread.join();
        }
    }
}
