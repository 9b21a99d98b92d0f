//! The profile of a function, and the cost of recording it.
//!
//! A kernel that does nothing takes no time, and neither does an executor that only calls it: the
//! times that a profiler reports for such kernels are the cost of recording. The cost is measured
//! on this machine, with this work queue, before anything else is profiled.

use std::hint::black_box;
use std::sync::Arc;

use tfrt_host::ExecutionContext;
use tfrt_host::tracing::{
    self, KernelProfiler, KernelRun, KernelTimes, MAX_LEVEL, Scope, TracingLevel,
};

use super::report::{KernelReport, RecordingCost};

/// The number of measurements of the cost. The median is used, so other work of the machine has no
/// influence.
const NUM_BATCHES: usize = 31;

/// The number of paths in one measurement: together at least some ten microseconds, which is long
/// for a clock and short for a scheduler.
const NUM_PATHS: usize = 32;

/// The number of kernels after the first one of a path.
const NUM_FOLLOWERS: usize = 4;

const FIRST: &str = "first on its path";
const FOLLOWER: &str = "follower";

/// Returns `true` if this build can record kernels.
pub(super) fn is_possible() -> bool {
    MAX_LEVEL >= TracingLevel::Debug
}

/// Does something while kernels are recorded. The process had no sink before, and has none
/// afterwards.
pub(super) fn record<T>(
    profiler: KernelProfiler,
    work: impl FnOnce() -> T,
) -> (T, Arc<KernelProfiler>) {
    let profiler = Arc::new(profiler);
    tracing::set_sink(Some(Arc::clone(&profiler) as _));
    tracing::enable(TracingLevel::Debug);
    let done = work();
    tracing::disable();
    tracing::set_sink(None);
    (done, profiler)
}

impl RecordingCost {
    /// Measures it, on this thread.
    pub(super) fn measure(ctx: &ExecutionContext) -> Self {
        let batches = (0..NUM_BATCHES).map(|_| {
            let paths = || (0..NUM_PATHS).for_each(|_| record_empty_path(ctx));
            let (_, profiler) = record(KernelProfiler::new(), paths);
            let kernels = profiler.kernels();
            let of = |name| kernels.get(name).copied().unwrap_or_default();
            (of(FIRST), of(FOLLOWER))
        });
        let batches: Vec<(KernelTimes, KernelTimes)> = batches.collect();
        let mean = |total_ns: u64, num: u64| total_ns as f64 / num.max(1) as f64;
        let median_of = |time: fn(&KernelTimes) -> (u64, u64), is_first: bool| {
            let batch_mean = |(first, follower): &(KernelTimes, KernelTimes)| {
                let (total_ns, num) = time(if is_first { first } else { follower });
                mean(total_ns, num)
            };
            median(batches.iter().map(batch_mean).collect())
        };
        Self {
            inside_ns: median_of(|times| (times.self_ns, times.num_runs), false),
            between_ns: median_of(|times| (times.dispatch_ns, times.num_dispatches), false),
            path_ns: median_of(|times| (times.dispatch_ns, times.num_path_begins), true),
        }
    }

    /// Returns the times of a kernel without this cost.
    pub(super) fn subtract_from(&self, name: &str, times: KernelTimes) -> KernelReport {
        let without = |total_ns: u64, cost_ns: f64| (total_ns as f64 - cost_ns).max(0.0) as u64;
        let inside_ns = times.num_runs as f64 * self.inside_ns;
        let nested_ns = times.num_nested as f64 * (self.inside_ns + self.between_ns);
        let dispatch_ns = times.num_dispatches as f64 * self.between_ns
            + times.num_path_begins as f64 * self.path_ns;
        KernelReport {
            name: name.to_owned(),
            place: None,
            num_runs: times.num_runs,
            total_ns: without(times.total_ns, inside_ns + nested_ns),
            self_ns: without(times.self_ns, inside_ns),
            num_dispatches: times.num_dispatches + times.num_path_begins,
            dispatch_ns: without(times.dispatch_ns, dispatch_ns),
            num_waits: times.num_waits,
            waited_ns: times.waited_ns,
            flops: times.work.flops,
            bytes: times.work.bytes,
        }
    }
}

/// Records what an executor would of a path of kernels that do nothing.
fn record_empty_path(ctx: &ExecutionContext) {
    let is_traced = tracing::begin_path();
    for number in 0..=NUM_FOLLOWERS {
        if black_box(is_traced) {
            // Executors gather the registers of results for each run.
            let results: Vec<u32> = vec![black_box(1)];
            let _scope = Scope::enter_kernel(ctx, || KernelRun {
                name: if number == 0 { FIRST } else { FOLLOWER },
                ctx,
                location_token: 0,
                invocation: 0,
                stream: Some(0),
                operands: &[0],
                results: &results,
            });
        }
    }
}

/// Returns the one in the middle; 0 of none.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use tfrt_host::tracing::Work;

    use super::*;

    const COST: RecordingCost = RecordingCost {
        inside_ns: 1.5,
        between_ns: 10.0,
        path_ns: 8.0,
    };

    #[test]
    fn recording_is_subtracted_once_for_each_record() {
        let times = KernelTimes {
            num_runs: 4,
            total_ns: 1000,
            self_ns: 500,
            num_nested: 2,
            dispatch_ns: 100,
            num_dispatches: 3,
            num_path_begins: 1,
            num_waits: 2,
            waited_ns: 50,
            work: Work {
                flops: 30,
                bytes: 40,
            },
        };
        assert_eq!(
            COST.subtract_from("k", times),
            KernelReport {
                name: "k".to_owned(),
                place: None,
                num_runs: 4,
                total_ns: 1000 - 6 - 23,
                self_ns: 500 - 6,
                num_dispatches: 4,
                dispatch_ns: 100 - 30 - 8,
                num_waits: 2,
                waited_ns: 50,
                flops: 30,
                bytes: 40,
            }
        );
    }

    #[test]
    fn no_time_is_below_nothing() {
        let times = KernelTimes {
            num_runs: 100,
            total_ns: 20,
            self_ns: 20,
            ..KernelTimes::default()
        };
        let report = COST.subtract_from("k", times);
        assert_eq!((report.total_ns, report.self_ns), (0, 0));
    }

    #[test]
    fn the_median_is_in_the_middle() {
        assert_eq!(median(vec![3.0, 100.0, 1.0]), 3.0);
        assert_eq!(median(Vec::new()), 0.0);
    }
}
