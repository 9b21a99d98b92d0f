//! How far a command is that reads many elements.

use std::cell::Cell;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// The time between two lines of progress.
const PERIOD: Duration = Duration::from_secs(10);

/// The number of rows read so far, on standard error: a bar if that is a terminal, and otherwise a
/// line every ten seconds.
pub(super) struct Progress {
    bar: ProgressBar,
    what: &'static str,
    num_rows: Option<u64>,
    /// When lines are written.
    lines: Option<Cell<Instant>>,
    start: Instant,
}

impl Progress {
    pub(super) fn new(num_rows: Option<u64>, what: &'static str) -> Self {
        let is_terminal = std::io::stderr().is_terminal();
        let target = match is_terminal {
            true => ProgressDrawTarget::stderr(),
            false => ProgressDrawTarget::hidden(),
        };
        let bar = ProgressBar::with_draw_target(num_rows, target);
        let template = match num_rows {
            Some(_) => "{msg} [{bar:40}] {pos} of {len} rows, {per_sec}, {eta}",
            None => "{msg} {spinner} {pos} rows, {per_sec}",
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("=> "));
        }
        bar.set_message(what);
        let start = Instant::now();
        Self {
            bar,
            what,
            num_rows,
            lines: (!is_terminal).then(|| Cell::new(start + PERIOD)),
            start,
        }
    }

    /// Shows the number of rows. Redraws rarely, however often this is called.
    pub(super) fn advance_to(&self, num_rows: u64) {
        if !num_rows.is_multiple_of(256) {
            return;
        }
        self.bar.set_position(num_rows);
        if let Some(next) = &self.lines
            && Instant::now() >= next.get()
        {
            next.set(Instant::now() + PERIOD);
            eprintln!("{}", self.line(num_rows, self.start.elapsed()));
        }
    }

    /// What a line says of so many rows.
    fn line(&self, num_rows: u64, elapsed: Duration) -> String {
        let what = self.what;
        let rate = num_rows as f64 / elapsed.as_secs_f64().max(f64::MIN_POSITIVE);
        match self.num_rows {
            Some(all) => {
                let left = all.saturating_sub(num_rows) as f64 / rate.max(f64::MIN_POSITIVE);
                format!("{what}: {num_rows} of {all} rows, {rate:.0} rows/s, {left:.0} s left")
            }
            None => format!("{what}: {num_rows} rows, {rate:.0} rows/s"),
        }
    }
}

impl Drop for Progress {
    /// Erases the bar.
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_progress_say_how_long_it_takes() {
        let line = |num_rows| Progress::new(num_rows, "reading").line(500, Duration::from_secs(2));
        assert_eq!(line(None), "reading: 500 rows, 250 rows/s");
        assert_eq!(
            line(Some(1000)),
            "reading: 500 of 1000 rows, 250 rows/s, 2 s left"
        );
    }
}
