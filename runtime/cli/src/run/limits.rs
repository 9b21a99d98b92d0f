//! The limits of a run as given on the command line: time, memory, calls.

use std::fs;
use std::time::{Duration, SystemTime};

use clap::Args;
use tfrt_host::{Limits, RequestContext, RequestContextBuilder};
use tfrt_support::escape::escaped;
use tfrt_support::{Error, ErrorCode};

use crate::failure::CliError;

/// Limits for the functions of a program.
#[derive(Args, Clone, Copy, Debug)]
#[command(next_help_heading = "Limits")]
pub(crate) struct LimitArguments {
    /// Cancel each function after this time, in seconds or with a unit: `2`, `500ms`, `1.5m`, `1h`.
    /// The error of a model names the node that ran [default: no deadline]
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    deadline: Option<Duration>,

    /// Wait this long for the results of each function, in seconds or with a unit: `2`, `500ms`. If
    /// they are not available by then, the run fails without waiting for unfinished work [default:
    /// no timeout]
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    timeout: Option<Duration>,

    /// The maximum memory of each function, in bytes or with a unit: `4096`, `64K`, `512M`, `2G`,
    /// `1T`, in powers of 1024 [default: three quarters of the machine's memory]
    #[arg(long = "memory-limit", value_name = "BYTES", value_parser = parse_bytes)]
    memory_limit: Option<usize>,

    /// The maximum number of unfinished function calls
    #[arg(long = "max-live-invocations", value_name = "N", default_value_t = Limits::default().max_live_invocations)]
    max_live_invocations: usize,

    /// The maximum nesting depth of function calls
    #[arg(long = "call-depth", value_name = "N", default_value_t = Limits::default().max_call_depth)]
    call_depth: u32,
}

impl LimitArguments {
    /// Returns the limits of the host.
    pub(crate) fn of_host(self) -> Limits {
        let default = default_limits();
        Limits {
            max_call_depth: self.call_depth,
            max_live_invocations: self.max_live_invocations,
            max_request_bytes: self.memory_limit.unwrap_or(default.max_request_bytes),
        }
    }

    /// Returns the time after which functions are cancelled.
    #[cfg(feature = "onnx")]
    pub(crate) fn deadline(self) -> Option<Duration> {
        self.deadline
    }

    /// Returns the time to wait for results.
    pub(crate) fn timeout(self) -> Option<Duration> {
        self.timeout
    }

    /// Returns a request whose time starts now.
    pub(crate) fn start(self, request: RequestContextBuilder) -> RequestContextBuilder {
        let deadline = self
            .deadline
            .and_then(|deadline| SystemTime::now().checked_add(deadline));
        match deadline {
            Some(deadline) => request.deadline(deadline),
            None => request,
        }
    }

    /// Returns a diagnostic if the function was cancelled at its deadline.
    pub(crate) fn passed_deadline(self, name: &str, request: &RequestContext) -> Option<Error> {
        let deadline = self.deadline.filter(|_| request.is_cancelled())?;
        let message = format!(
            "'{}' was cancelled: it did not end within {deadline:?}",
            escaped(name)
        );
        Some(Error::new(message).with_code(ErrorCode::DeadlineExceeded))
    }
}

/// Returns the limits of hosts without options: three quarters of the machine's memory.
pub(crate) fn default_limits() -> Limits {
    let default = Limits::default();
    let of_machine = machine_bytes().map(|bytes| bytes / 4 * 3);
    Limits {
        max_request_bytes: of_machine.unwrap_or(default.max_request_bytes),
        ..default
    }
}

/// Returns the memory of the machine, if the system reports it.
fn machine_bytes() -> Option<usize> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    total_bytes(&text)
}

/// Returns the value of `MemTotal`.
fn total_bytes(meminfo: &str) -> Option<usize> {
    let mut lines = meminfo.lines();
    let total = lines.find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kibibytes: usize = total.trim().strip_suffix("kB")?.trim_end().parse().ok()?;
    kibibytes.checked_mul(1024)
}

fn parse_duration(text: &str) -> Result<Duration, CliError> {
    const UNITS: [(&str, f64); 4] = [("ms", 1e-3), ("s", 1.0), ("m", 60.0), ("h", 3600.0)];
    let wrong = || {
        CliError::new(format!(
            "expected a duration such as `2`, `500ms`, `1.5m` or `1h`, found `{text}`"
        ))
    };
    let (number, seconds) = UNITS
        .iter()
        .find_map(|(unit, seconds)| Some((text.strip_suffix(unit)?, seconds)))
        .unwrap_or((text, &1.0));
    let number: f64 = number.parse().map_err(|_| wrong())?;
    Duration::try_from_secs_f64(number * seconds).map_err(|_| wrong())
}

fn parse_bytes(text: &str) -> Result<usize, CliError> {
    const UNITS: [(&str, u32); 4] = [("K", 10), ("M", 20), ("G", 30), ("T", 40)];
    let wrong = || {
        CliError::new(format!(
            "expected a number of bytes such as `4096`, `512M` or `2G`, found `{text}`"
        ))
    };
    let (number, shift) = UNITS
        .iter()
        .find_map(|&(unit, shift)| Some((text.strip_suffix(unit)?, shift)))
        .unwrap_or((text, 0));
    let number: usize = number.parse().map_err(|_| wrong())?;
    number.checked_mul(1 << shift).ok_or_else(|| {
        CliError::new(format!(
            "expected a number of bytes that fits in the address space, found `{text}`"
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_units() {
        for (text, millis) in [
            ("500ms", 500),
            ("2s", 2_000),
            ("2", 2_000),
            ("0.25", 250),
            ("1.5m", 90_000),
            ("1h", 3_600_000),
        ] {
            assert_eq!(
                parse_duration(text).ok(),
                Some(Duration::from_millis(millis)),
                "{text}"
            );
        }
        for text in ["", "s", "-1", "-1s", "2 weeks", "1e400s", "NaNs", "infs"] {
            let error = parse_duration(text).unwrap_err().to_string();
            assert!(error.contains("expected a duration"), "{text}: {error}");
        }
    }

    #[test]
    fn sizes_count_in_powers_of_1024() {
        for (text, bytes) in [("0", 0), ("4096", 4096), ("64K", 65_536), ("2G", 2 << 30)] {
            assert_eq!(parse_bytes(text).ok(), Some(bytes), "{text}");
        }
        for text in ["", "G", "-1", "1.5G", "2GB", "99999999T"] {
            let error = parse_bytes(text).unwrap_err().to_string();
            assert!(error.starts_with("expected"), "{text}: {error}");
        }
    }

    #[test]
    fn the_memory_of_the_machine_is_read() {
        let text = "MemTotal:       24692880 kB\nMemFree:        1 kB\n";
        assert_eq!(total_bytes(text), Some(24_692_880 * 1024));
        assert_eq!(total_bytes("MemFree: 1 kB"), None);
    }
}
