//! The measurements of a benchmark and its report.
//!
//! Wall time is read from the monotonic clock; processor time is that of the whole process,
//! including other threads. Both are in nanoseconds.

use std::fmt;

use rustix::time::{ClockId, clock_gettime};
use tfrt::support::float_text::Scientific;

use super::Plan;

/// One run, in time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    pub(super) wall_ns: u64,
    pub(super) cpu_ns: u64,
}

/// Measures one run.
#[derive(Debug)]
pub(super) struct Stopwatch {
    wall_ns: u64,
    cpu_ns: u64,
}

impl Stopwatch {
    pub(super) fn start() -> Self {
        // The clock of the processor takes the system some time to read, which does not belong to
        // the wall time of the run: it is read outside.
        let cpu_ns = now_ns(ClockId::ProcessCPUTime);
        Self {
            wall_ns: now_ns(ClockId::Monotonic),
            cpu_ns,
        }
    }

    pub(super) fn elapsed(&self) -> Sample {
        let wall_ns = now_ns(ClockId::Monotonic);
        Sample {
            wall_ns: wall_ns.saturating_sub(self.wall_ns),
            cpu_ns: now_ns(ClockId::ProcessCPUTime).saturating_sub(self.cpu_ns),
        }
    }
}

/// Returns the time of a clock, which is not negative.
fn now_ns(clock: ClockId) -> u64 {
    let now = clock_gettime(clock);
    (now.tv_sec as u64)
        .wrapping_mul(1_000_000_000)
        .wrapping_add(now.tv_nsec as u64)
}

/// Gathers runs until there are enough.
#[derive(Debug)]
pub(super) struct Recorder {
    plan: Plan,
    num_warmup_runs: usize,
    wall: Times,
    cpu: Times,
}

impl Recorder {
    pub(super) fn new(plan: Plan) -> Self {
        Self {
            plan,
            num_warmup_runs: 0,
            wall: Times::new(),
            cpu: Times::new(),
        }
    }

    /// Returns `true` if no run is to follow.
    pub(super) fn is_done(&self) -> bool {
        self.wall.num_times >= self.plan.max_count || self.wall.total_ns >= self.plan.duration_ns
    }

    /// Notes a run, unless it was one of the first.
    pub(super) fn record(&mut self, sample: Sample) {
        if self.num_warmup_runs < self.plan.num_warmup_runs {
            self.num_warmup_runs += 1;
        } else {
            self.wall.add(sample.wall_ns);
            self.cpu.add(sample.cpu_ns);
        }
    }

    pub(super) fn report(self) -> Report {
        Report {
            num_samples: self.wall.num_times,
            wall: self.wall.summary(),
            cpu: self.cpu.summary(),
        }
    }
}

/// Times of runs. Of short ones it counts how often each occurred, so that to add one takes no
/// memory and next to no time, however many there are; long ones are listed.
struct Times {
    num_times: usize,
    total_ns: u64,
    /// The number of occurrences of each time below the length.
    short: Box<[u32]>,
    long_ns: Vec<u64>,
}

impl Times {
    /// Times below this, in nanoseconds, are short. The counts fill a quarter of a second-level
    /// cache, and only the lines of times that occur are touched.
    const NUM_SHORT: usize = 1 << 14;

    fn new() -> Self {
        Self {
            num_times: 0,
            total_ns: 0,
            short: vec![0; Self::NUM_SHORT].into(),
            long_ns: Vec::new(),
        }
    }

    fn add(&mut self, time_ns: u64) {
        self.num_times += 1;
        self.total_ns = self.total_ns.saturating_add(time_ns);
        match self.short.get_mut(time_ns as usize) {
            // There are at most `i32::MAX` runs.
            Some(count) => *count += 1,
            None => self.long_ns.push(time_ns),
        }
    }

    fn summary(mut self) -> Summary {
        self.long_ns.sort_unstable();
        let short = self.short.iter().zip(0..);
        let short = short.map(|(&count, time_ns)| (time_ns, count as usize));
        let long = self.long_ns.iter().map(|&time_ns| (time_ns, 1));
        let mut in_order = short.chain(long).filter(|&(_, count)| count > 0);
        let (mut last_ns, mut num_seen) = (0, 0);
        let percentiles_ns = [0, 50, 95, 99].map(|percent| {
            while num_seen <= self.num_times * percent / 100
                && let Some((time_ns, count)) = in_order.next()
            {
                last_ns = time_ns;
                num_seen += count;
            }
            (percent, last_ns)
        });
        Summary {
            total_ns: self.total_ns,
            percentiles_ns,
        }
    }
}

impl fmt::Debug for Times {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Times")
            .field("num_times", &self.num_times)
            .field("total_ns", &self.total_ns)
            .finish_non_exhaustive()
    }
}

/// The final report.
#[derive(Debug)]
pub(super) struct Report {
    num_samples: usize,
    wall: Summary,
    cpu: Summary,
}

/// Times in brief.
#[derive(Debug)]
struct Summary {
    total_ns: u64,
    /// Below which time so many percent of the times are, and that time; zero if there are none.
    percentiles_ns: [(usize, u64); 4],
}

impl Report {
    /// Returns the lines, in order.
    pub(super) fn lines(&self, name: &str) -> impl Iterator<Item = String> {
        let (wall, cpu) = (self.wall.total_ns, self.cpu.total_ns);
        let utilization = if wall == 0 {
            0.0
        } else {
            100.0 * cpu as f64 / wall as f64
        };
        let line = |what: &str, number: &dyn fmt::Display| format!("BM:{name}:{what}: {number}");
        let mut lines = vec![
            line("Duration(ns)", &wall),
            line("Count", &self.num_samples),
        ];
        for (clock, summary) in [("Time", &self.wall), ("CPU", &self.cpu)] {
            for (percent, time_ns) in summary.percentiles_ns {
                let what = match percent {
                    0 => format!("{clock} Min(ns)"),
                    _ => format!("{clock} {percent}%(ns)"),
                };
                lines.push(line(&what, &time_ns));
            }
        }
        lines.push(line("CPU utilization(percent)", &Scientific(utilization)));
        lines.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(wall_ns: u64, cpu_ns: u64) -> Sample {
        Sample { wall_ns, cpu_ns }
    }

    #[test]
    fn a_report_has_its_lines_in_order() {
        let mut recorder = Recorder::new(Plan::new(1, 100, 1));
        recorder.record(sample(1_000_000, 1_000_000));
        for wall_ns in [30, 10, 20, 40] {
            recorder.record(sample(wall_ns, wall_ns / 2));
        }
        let lines: Vec<_> = recorder.report().lines("x y").collect();
        assert_eq!(
            lines,
            [
                "BM:x y:Duration(ns): 100",
                "BM:x y:Count: 4",
                "BM:x y:Time Min(ns): 10",
                "BM:x y:Time 50%(ns): 30",
                "BM:x y:Time 95%(ns): 40",
                "BM:x y:Time 99%(ns): 40",
                "BM:x y:CPU Min(ns): 5",
                "BM:x y:CPU 50%(ns): 15",
                "BM:x y:CPU 95%(ns): 20",
                "BM:x y:CPU 99%(ns): 20",
                "BM:x y:CPU utilization(percent): 5.000000e+01",
            ]
        );
    }

    #[test]
    fn the_number_of_runs_ends_a_benchmark() {
        let mut recorder = Recorder::new(Plan::new(100, 2, 3));
        let mut num_runs = 0;
        while !recorder.is_done() {
            recorder.record(sample(1, 1));
            num_runs += 1;
        }
        assert_eq!(num_runs, 5);
    }

    #[test]
    fn the_time_of_recorded_runs_ends_a_benchmark() {
        let mut recorder = Recorder::new(Plan::new(1, 100, 1));
        recorder.record(sample(5_000_000_000, 1));
        assert!(!recorder.is_done());
        recorder.record(sample(1_000_000_000, 1));
        assert!(recorder.is_done());
    }

    #[test]
    fn long_times_come_after_short_ones() {
        let mut recorder = Recorder::new(Plan::new(100, 1000, 0));
        for wall_ns in (0..100).map(|number| number * 1000).rev() {
            recorder.record(sample(wall_ns, 0));
        }
        let report = recorder.report();
        assert_eq!(
            report.wall.percentiles_ns,
            [(0, 0), (50, 50_000), (95, 95_000), (99, 99_000)]
        );
        assert_eq!(report.wall.total_ns, 4_950_000);
    }

    #[test]
    fn a_report_of_no_runs_is_zero() {
        let report = Recorder::new(Plan::new(1, 0, 1)).report();
        assert!(
            report
                .lines("x")
                .all(|line| line.ends_with(": 0") || line.ends_with(": 0.000000e+00"))
        );
    }
}
