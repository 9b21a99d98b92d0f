//! How far a command is that reads many elements.

use std::cell::Cell;
use std::io::IsTerminal;
use std::sync::Arc;
use std::time::{Duration, Instant};

use indicatif::{HumanBytes, ProgressBar, ProgressDrawTarget, ProgressStyle};
use tfrt_host::ExecutionContext;
use tfrt_readers::files::{FileSystems, FilesRead};
use tfrt_support::escape::escaped;

/// The time between two lines of progress.
const PERIOD: Duration = Duration::from_secs(10);

/// What was read so far, on standard error: a bar, and a line for the file that was opened last, if
/// that is a terminal, and otherwise a line of text every ten seconds.
pub(super) struct Progress {
    bar: ProgressBar,
    what: &'static str,
    num_rows: Option<u64>,
    files: Arc<FileSystems>,
    /// The bytes of files that were read before.
    num_bytes_before: u64,
    /// When lines are written.
    lines: Option<Cell<Instant>>,
    start: Instant,
}

impl Progress {
    pub(super) fn new(num_rows: Option<u64>, what: &'static str, ctx: &ExecutionContext) -> Self {
        let is_terminal = std::io::stderr().is_terminal();
        let target = match is_terminal {
            true => ProgressDrawTarget::stderr(),
            false => ProgressDrawTarget::hidden(),
        };
        let bar = ProgressBar::with_draw_target(num_rows, target);
        let first_line = match num_rows {
            Some(_) => "[{bar:40}] {pos} of {len} rows, {per_sec}, {prefix}, {eta}",
            None => "{spinner} {pos} rows, {per_sec}, {prefix}",
        };
        if let Ok(style) = ProgressStyle::with_template(&format!("{what} {first_line}\n  {{msg}}"))
        {
            bar.set_style(style.progress_chars("=> "));
        }
        let start = Instant::now();
        let files = FileSystems::of(ctx.host());
        Self {
            bar,
            what,
            num_rows,
            num_bytes_before: files.files_read().num_bytes,
            files,
            lines: (!is_terminal).then(|| Cell::new(start + PERIOD)),
            start,
        }
    }

    /// Shows the number of rows. Redraws rarely, however often this is called.
    pub(super) fn advance_to(&self, num_rows: u64) {
        if !num_rows.is_multiple_of(256) {
            return;
        }
        match &self.lines {
            None => {
                let read = self.files_read();
                self.bar
                    .set_prefix(rate_of(read.num_bytes, self.start.elapsed()));
                self.bar.set_message(file_of(&read));
                self.bar.set_position(num_rows);
            }
            Some(next) if Instant::now() >= next.get() => {
                next.set(Instant::now() + PERIOD);
                let read = self.files_read();
                eprintln!("{}", self.line(num_rows, &read, self.start.elapsed()));
            }
            Some(_) => {}
        }
    }

    fn files_read(&self) -> FilesRead {
        let read = self.files.files_read();
        FilesRead {
            num_bytes: read.num_bytes.saturating_sub(self.num_bytes_before),
            ..read
        }
    }

    /// What a line says of so many rows.
    fn line(&self, num_rows: u64, read: &FilesRead, elapsed: Duration) -> String {
        let what = self.what;
        let rate = num_rows as f64 / elapsed.as_secs_f64().max(f64::MIN_POSITIVE);
        let byte_rate = rate_of(read.num_bytes, elapsed);
        let mut line = match self.num_rows {
            Some(all) => {
                let left = all.saturating_sub(num_rows) as f64 / rate.max(f64::MIN_POSITIVE);
                format!(
                    "{what}: {num_rows} of {all} rows, {rate:.0} rows/s, {byte_rate}, {left:.0} s left"
                )
            }
            None => format!("{what}: {num_rows} rows, {rate:.0} rows/s, {byte_rate}"),
        };
        if read.last.is_some() {
            line.push_str("; ");
            line.push_str(&file_of(read));
        }
        line
    }
}

/// Returns the bytes, and how many they are in a second.
fn rate_of(num_bytes: u64, elapsed: Duration) -> String {
    let rate = num_bytes as f64 / elapsed.as_secs_f64().max(f64::MIN_POSITIVE);
    format!("{} ({}/s)", HumanBytes(num_bytes), HumanBytes(rate as u64))
}

/// Returns how far the file that was opened last is read.
fn file_of(read: &FilesRead) -> String {
    let Some(file) = &read.last else {
        return String::new();
    };
    let (path, num_bytes) = (escaped(&file.path), HumanBytes(file.num_bytes));
    match file.len_bytes {
        Some(all) => format!("{path}: {num_bytes} of {}", HumanBytes(all)),
        None => format!("{path}: {num_bytes}"),
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
    use tfrt_readers::files::LastFile;

    use super::super::tests::Folder;
    use super::*;

    #[test]
    fn lines_of_progress_say_how_long_it_takes() {
        let ctx = super::super::context().unwrap();
        let read_of = |path: &str| FilesRead {
            num_bytes: 3 << 20,
            last: Some(LastFile {
                path: path.into(),
                num_bytes: 1024,
                len_bytes: Some(4096),
            }),
        };
        let line = |num_rows, read: &FilesRead| {
            let progress = Progress::new(num_rows, "reading", &ctx);
            progress.line(500, read, Duration::from_secs(2))
        };
        assert_eq!(
            line(None, &FilesRead::default()),
            "reading: 500 rows, 250 rows/s, 0 B (0 B/s)"
        );
        assert_eq!(
            line(Some(1000), &read_of("rows.csv")),
            "reading: 500 of 1000 rows, 250 rows/s, 3.00 MiB (1.50 MiB/s), 2 s left; \
             rows.csv: 1.00 KiB of 4.00 KiB"
        );
        // Names may have any characters, those that control a terminal, too.
        let line = line(None, &read_of("\x1b[2Jrows\n.csv"));
        assert!(!line.contains(char::is_control), "{line:?}");
        assert!(line.contains("[2Jrows"), "{line:?}");
    }

    #[test]
    fn bytes_are_those_of_the_files_that_were_read() {
        let folder = Folder::new("progress");
        let ctx = super::super::context().unwrap();
        for (name, text) in [("a.csv", "x\n1\n2\n"), ("b.csv", "x\n3\n")] {
            let path = folder.path(name);
            std::fs::write(&path, text).unwrap();
            let progress = Progress::new(None, "reading", &ctx);
            let stream = tfrt_readers::files::OpenFile::of(&path, &ctx)
                .open()
                .unwrap();
            assert_eq!(std::io::read_to_string(stream).unwrap(), text);
            let read = progress.files_read();
            assert_eq!(read.num_bytes, text.len() as u64);
            let last = read.last.unwrap();
            assert_eq!((&*last.path, last.num_bytes), (&*path, text.len() as u64));
            assert_eq!(last.len_bytes, Some(text.len() as u64));
        }
    }
}
