//! Summaries of many times.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A summary of many times, in nanoseconds.
///
/// A percentile is the nearest rank: the least of the times such that this percentage of them does
/// not exceed it. It is one of the times, never between two.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(super) struct Summary {
    pub(super) min_ns: u64,
    pub(super) p50_ns: u64,
    pub(super) p95_ns: u64,
    pub(super) p99_ns: u64,
    pub(super) max_ns: u64,
    pub(super) mean_ns: f64,
    pub(super) total_ns: u64,
}

impl Summary {
    /// Returns the summary of times in nanoseconds; none of no times.
    pub(super) fn of(mut times_ns: Vec<u64>) -> Option<Self> {
        times_ns.sort_unstable();
        let (min_ns, max_ns) = (*times_ns.first()?, *times_ns.last()?);
        let total_ns = times_ns
            .iter()
            .fold(0, |sum: u64, ns| sum.saturating_add(*ns));
        let percentile = |percent| times_ns[nearest_rank(times_ns.len(), percent)];
        Some(Self {
            min_ns,
            p50_ns: percentile(50),
            p95_ns: percentile(95),
            p99_ns: percentile(99),
            max_ns,
            mean_ns: total_ns as f64 / times_ns.len() as f64,
            total_ns,
        })
    }
}

/// Returns the index of a percentile among `len` sorted times; `len` is not 0, and `percent` is at
/// most 100.
fn nearest_rank(len: usize, percent: usize) -> usize {
    // Without the product of the two, which need not fit.
    let rank = len / 100 * percent + (len % 100 * percent).div_ceil(100);
    rank.max(1) - 1
}

/// Returns the part that `part` is of `whole`, from 0 to 1; 0 of nothing.
pub(super) fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        0.0
    } else {
        part as f64 / whole as f64
    }
}

/// Returns the mean of `num` times whose sum is `total_ns`; 0 of none.
pub(super) fn mean_ns(total_ns: u64, num: u64) -> f64 {
    ratio(total_ns, num)
}

/// Nanoseconds, printed in the unit that leaves at most three digits in front of the point:
/// `1.500 µs`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Nanos(pub(super) f64);

impl fmt::Display for Nanos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Up to what is printed in the next unit if rounded to three decimals.
        let (scale, unit) = match self.0 {
            ns if ns < 999.95 => return write!(f, "{ns:.1} ns"),
            ns if ns < 999_999.5 => (1e3, "µs"),
            ns if ns < 999_999_500.0 => (1e6, "ms"),
            _ => (1e9, "s"),
        };
        write!(f, "{:.3} {unit}", self.0 / scale)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(times_ns: impl IntoIterator<Item = u64>) -> Summary {
        Summary::of(times_ns.into_iter().collect()).expect("there are times")
    }

    #[test]
    fn percentiles_are_ranks() {
        let hundred = summary((1..=100).rev());
        assert_eq!(
            [
                hundred.min_ns,
                hundred.p50_ns,
                hundred.p95_ns,
                hundred.p99_ns,
                hundred.max_ns
            ],
            [1, 50, 95, 99, 100]
        );
        assert_eq!((hundred.total_ns, hundred.mean_ns), (5050, 50.5));
        let four = summary([10, 20, 30, 40]);
        assert_eq!([four.p50_ns, four.p95_ns, four.p99_ns], [20, 40, 40]);
    }

    #[test]
    fn one_time_is_all_of_its_percentiles() {
        let one = summary([7]);
        assert_eq!(
            [one.min_ns, one.p50_ns, one.p95_ns, one.p99_ns, one.max_ns],
            [7; 5]
        );
    }

    #[test]
    fn ranks_of_many_times_do_not_overflow() {
        assert_eq!(nearest_rank(usize::MAX, 100), usize::MAX - 1);
        assert_eq!(nearest_rank(250, 99), 247);
    }

    #[test]
    fn of_no_times_there_is_no_summary() {
        assert_eq!(Summary::of(Vec::new()), None);
        assert_eq!((ratio(3, 0), mean_ns(0, 0)), (0.0, 0.0));
    }

    #[test]
    fn times_are_printed_in_readable_units() {
        for (ns, printed) in [
            (0.0, "0.0 ns"),
            (12.34, "12.3 ns"),
            (999.96, "1.000 µs"),
            (1500.0, "1.500 µs"),
            (999_999.6, "1.000 ms"),
            (25_000_000.0, "25.000 ms"),
            (61e9, "61.000 s"),
        ] {
            assert_eq!(Nanos(ns).to_string(), printed);
        }
    }
}
