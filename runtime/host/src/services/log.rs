//! The runtime's log: lines on standard error.
//!
//! Format: `S YYYY-MM-DD HH:MM:SS.uuuuuu THREAD FILE:LINE] MESSAGE`, where S is the first letter of
//! the level and the time is in UTC.

use std::fmt;
use std::io::Write;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tfrt_support::escape::escaped_lines;

/// The severity of a log line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Informational.
    Info,
    /// A likely problem.
    Warning,
    /// An error.
    Error,
}

impl Level {
    /// Returns the letter that starts the line.
    #[must_use]
    pub const fn letter(self) -> char {
        match self {
            Self::Info => 'I',
            Self::Warning => 'W',
            Self::Error => 'E',
        }
    }
}

/// Writes one line. A line that cannot be written is lost, since a log cannot report it elsewhere.
#[doc(hidden)]
pub fn write_line(level: Level, file: &str, line: u32, message: fmt::Arguments<'_>) {
    let since_epoch = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let text = line_of(level, since_epoch, file, line, message);
    let _ = std::io::stderr().write_all(text.as_bytes());
}

/// Formats the line. Control characters are escaped: a message may contain names from a file.
fn line_of(
    level: Level,
    since_epoch: Duration,
    file: &str,
    line: u32,
    message: fmt::Arguments<'_>,
) -> String {
    let file = file.rsplit(['/', '\\']).next().unwrap_or(file);
    format!(
        "{} {} {} {file}:{line}] {}\n",
        level.letter(),
        timestamp(since_epoch.as_secs(), since_epoch.subsec_micros()),
        thread_number(),
        escaped_lines(&message.to_string()),
    )
}

/// In a library, assigns thread numbers: each thread has one number in the whole process.
static PROGRAM: OnceLock<fn() -> u64> = OnceLock::new();

/// Makes this copy of the crate take thread numbers from another copy.
pub(crate) fn adopt_thread_numbers(thread_number: fn() -> u64) {
    PROGRAM.get_or_init(|| thread_number);
}

/// Returns a small number of the calling thread: 1 for the first thread that logs.
pub(crate) fn thread_number() -> u64 {
    if let Some(thread_number) = PROGRAM.get() {
        return thread_number();
    }
    // Relaxed: only uniqueness matters; it orders no other memory.
    static NEXT: AtomicU64 = AtomicU64::new(1);
    thread_local!(static NUMBER: u64 = NEXT.fetch_add(1, Ordering::Relaxed));
    NUMBER.with(|number| *number)
}

/// Formats a Unix time in UTC; the algorithm is Howard Hinnant's `civil_from_days`.
fn timestamp(unix_seconds: u64, micros: u32) -> String {
    let (days, seconds) = (unix_seconds / 86_400, unix_seconds % 86_400);
    let shifted = days + 719_468;
    let era = shifted / 146_097;
    let day_of_era = shifted % 146_097;
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 {
        month_from_march + 3
    } else {
        month_from_march - 9
    };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}.{micros:06}")
}

/// Logs a line at level info, with the location of the call.
#[macro_export]
macro_rules! log_info {
    ($($argument:tt)*) => {
        $crate::log::write_line($crate::log::Level::Info, file!(), line!(), format_args!($($argument)*))
    };
}

/// Logs a line at level warning, with the location of the call.
#[macro_export]
macro_rules! log_warning {
    ($($argument:tt)*) => {
        $crate::log::write_line($crate::log::Level::Warning, file!(), line!(), format_args!($($argument)*))
    };
}

/// Logs a line at level error, with the location of the call.
#[macro_export]
macro_rules! log_error {
    ($($argument:tt)*) => {
        $crate::log::write_line($crate::log::Level::Error, file!(), line!(), format_args!($($argument)*))
    };
}

pub use {log_error as error, log_info as info, log_warning as warning};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_cannot_steer_the_terminal() {
        let name = "f\u{1b}[2J\r";
        let line = line_of(
            Level::Warning,
            Duration::ZERO,
            "a/b.rs",
            7,
            format_args!("no `{name}`\nhere"),
        );
        let (_, shown) = line.split_once("b.rs").expect("the file is named");
        assert_eq!(shown, ":7] no `f\\1B[2J\\0D`\nhere\n");
    }

    #[test]
    fn times_are_civil() {
        assert_eq!(timestamp(0, 7), "1970-01-01 00:00:00.000007");
        assert_eq!(
            timestamp(951_782_399, 999_999),
            "2000-02-28 23:59:59.999999"
        );
        assert_eq!(timestamp(951_868_800, 0), "2000-03-01 00:00:00.000000");
        assert_eq!(timestamp(1_709_251_199, 0), "2024-02-29 23:59:59.000000");
    }
}
