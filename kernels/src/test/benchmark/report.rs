//! What a benchmark measures and says.
//!
//! Wall time is that of the monotonic clock; processor time is that of the whole process, other threads included.

use std::fmt;
use std::time::{Duration, Instant};

use tfrt::support::float_text::Scientific;

use super::Plan;

/// One run, in time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sample {
    pub(super) wall: Duration,
    pub(super) cpu: Duration,
}

/// Measures one run.
#[derive(Debug)]
pub(super) struct Stopwatch {
    wall: Instant,
    cpu: Duration,
}

impl Stopwatch {
    pub(super) fn start() -> Self {
        Self {
            wall: Instant::now(),
            cpu: process_time(),
        }
    }

    pub(super) fn elapsed(&self) -> Sample {
        Sample {
            wall: self.wall.elapsed(),
            cpu: process_time().saturating_sub(self.cpu),
        }
    }
}

/// How long all threads of the process have computed so far; zero where the system does not tell.
fn process_time() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::try_from(now).unwrap_or_default()
}

/// Gathers runs until there are enough.
#[derive(Debug)]
pub(super) struct Recorder {
    plan: Plan,
    num_runs: usize,
    total_wall: Duration,
    samples: Vec<Sample>,
}

impl Recorder {
    pub(super) fn new(plan: Plan) -> Self {
        Self {
            plan,
            num_runs: 0,
            total_wall: Duration::ZERO,
            samples: Vec::new(),
        }
    }

    /// Whether no run is to follow.
    pub(super) fn is_done(&self) -> bool {
        self.samples.len() >= self.plan.max_count || self.total_wall >= self.plan.duration
    }

    /// Notes a run, unless it was one of the first.
    pub(super) fn record(&mut self, sample: Sample) {
        self.num_runs += 1;
        if self.num_runs > self.plan.num_warmup_runs {
            self.total_wall += sample.wall;
            self.samples.push(sample);
        }
    }

    pub(super) fn report(&self) -> Report {
        let summary =
            |time: fn(&Sample) -> Duration| Summary::of(self.samples.iter().map(time).collect());
        Report {
            num_samples: self.samples.len(),
            wall: summary(|sample| sample.wall),
            cpu: summary(|sample| sample.cpu),
        }
    }
}

/// What is said in the end.
#[derive(Debug)]
pub(super) struct Report {
    num_samples: usize,
    wall: Summary,
    cpu: Summary,
}

/// Times in brief.
#[derive(Debug)]
struct Summary {
    total_ns: u128,
    /// Below which time so many percent of the times are, and that time; zero if there are none.
    percentiles_ns: [(usize, u128); 4],
}

impl Summary {
    fn of(mut times: Vec<Duration>) -> Self {
        let total_ns = times.iter().map(Duration::as_nanos).sum();
        // Selected rather than sorted: there may be millions of them, and four are wanted. Each is among those below the one
        // before.
        let num_times = times.len();
        let mut below = &mut *times;
        let mut percentiles_ns = [99, 95, 50, 0].map(|percent| {
            let position = num_times * percent / 100;
            if position >= below.len() {
                return (percent, below.iter().max().map_or(0, Duration::as_nanos));
            }
            let (_, time, _) = below.select_nth_unstable(position);
            let time_ns = time.as_nanos();
            below = &mut std::mem::take(&mut below)[..=position];
            (percent, time_ns)
        });
        percentiles_ns.reverse();
        Self {
            total_ns,
            percentiles_ns,
        }
    }
}

impl Report {
    /// The lines, in order.
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
        Sample {
            wall: Duration::from_nanos(wall_ns),
            cpu: Duration::from_nanos(cpu_ns),
        }
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
    fn a_report_of_no_runs_is_zero() {
        let report = Recorder::new(Plan::new(1, 0, 1)).report();
        assert!(
            report
                .lines("x")
                .all(|line| line.ends_with(": 0") || line.ends_with(": 0.000000e+00"))
        );
    }
}
