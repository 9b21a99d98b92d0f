//! Repeated, timed runs of a function.
//!
//! A run lasts from the call until its results are available and all work that it started is done.
//! The request is created before the measured time and dropped after it. Runs do not overlap.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use tfrt_data::Observation;
use tfrt_host::tracing::KernelProfiler;
use tfrt_host::{
    ExecutionContext, FunctionKind, FunctionRef, HostContext, ProgramFolder, RequestContextBuilder,
    ResourceContext,
};

use super::progress::Progress;
use super::recording;
use super::report::{FunctionReport, KernelReport, Profile, RecordingCost};
use super::statistics::{Summary, mean_ns};
use crate::stages::StagesReport;

/// The maximum number of recorded runs: enough for means, and a small part of a long benchmark.
const MAX_PROFILED_RUNS: u64 = 1000;

/// The plan of a function's runs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    pub(super) num_warmup_runs: u64,
    /// At most; at least 1.
    pub(super) max_runs: u64,
    /// No run begins when those before it took so long together. Each kind of runs has it for
    /// itself.
    pub(super) max_duration: Option<Duration>,
    /// Whether kernels of one name at different places are profiled by themselves.
    pub(super) per_node: bool,
}

/// The reasons why a function is not measured to the end.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// It returned this error.
    Failed(String),
    /// A kernel reported an error that is in no result.
    Reported,
    /// It cannot be waited for.
    Deadlock(String),
}

/// Runs functions of a program on a host.
#[derive(Debug)]
pub(super) struct Bench<'a> {
    pub(super) host: &'a Arc<HostContext>,
    /// The folder of the program.
    pub(super) folder: &'a ProgramFolder,
    /// Whether a kernel has reported an error.
    pub(super) has_error: &'a AtomicBool,
    pub(super) plan: Plan,
    /// The resources shared by all runs; without them, each run has its own.
    pub(super) resources: Option<Arc<ResourceContext>>,
    /// None if kernels cannot be recorded.
    pub(super) recording: Option<RecordingCost>,
    pub(super) progress: &'a Progress,
    /// The processor time that clocks take of each run.
    pub(super) clock_cost: Duration,
}

/// The times of runs.
#[derive(Debug, Default)]
struct Samples {
    wall_ns: Vec<u64>,
    total_wall: Duration,
    total_cpu: Duration,
}

/// When to stop running.
#[derive(Clone, Copy, Debug)]
struct Limit {
    max_runs: u64,
    max_duration: Option<Duration>,
}

impl Limit {
    /// Returns the completed fraction, which is 1 or more at the end. If any runs are requested,
    /// there is at least one.
    fn progress(&self, samples: &Samples) -> f64 {
        match (self.max_runs, samples.num_runs()) {
            (0, _) => 1.0,
            (_, 0) => 0.0,
            (max_runs, num_runs) => {
                let of_time = self.max_duration.map_or(0.0, |duration| {
                    // No time at all is over at once.
                    let seconds = duration.as_secs_f64().max(f64::MIN_POSITIVE);
                    samples.total_wall.as_secs_f64() / seconds
                });
                of_time.max(num_runs as f64 / max_runs as f64)
            }
        }
    }
}

/// Returns a context for a run, with a request of its own, and with resources of its own unless
/// there are some.
pub(super) fn fresh_ctx(
    host: &Arc<HostContext>,
    folder: &ProgramFolder,
    resources: Option<&Arc<ResourceContext>>,
) -> ExecutionContext {
    let request = RequestContextBuilder::new(Arc::clone(host))
        .resources(resources.map_or_else(Arc::default, Arc::clone))
        .context_data(folder.clone())
        .build();
    ExecutionContext::new(request)
}

impl Bench<'_> {
    /// Warms the function up, measures it, and profiles it.
    pub(super) fn measure(&self, function: &FunctionRef) -> Result<FunctionReport, Stop> {
        let Plan {
            num_warmup_runs,
            max_runs,
            max_duration,
            per_node: _,
        } = self.plan;
        let limit = |max_runs| Limit {
            max_runs,
            max_duration,
        };
        self.progress.begin(function.name(), "warming up");
        let warmup = self.run_repeatedly(function, limit(num_warmup_runs))?;
        self.progress.begin(function.name(), "measuring");
        let samples = self.run_repeatedly(function, limit(max_runs))?;
        let num_runs = samples.num_runs();
        let profile = match &self.recording {
            Some(cost) => {
                self.progress.begin(function.name(), "profiling");
                let limit = limit(num_runs.min(MAX_PROFILED_RUNS));
                Some(self.profile(function, limit, cost)?)
            }
            None => None,
        };
        let cpu_total_ns = whole_ns(samples.total_cpu);
        Ok(FunctionReport {
            name: function.name().to_owned(),
            num_warmup_runs: warmup.num_runs(),
            num_runs,
            wall: samples.wall(),
            cpu_total_ns,
            cpu_mean_ns: mean_ns(cpu_total_ns, num_runs),
            profile,
        })
    }

    fn profile(
        &self,
        function: &FunctionRef,
        limit: Limit,
        cost: &RecordingCost,
    ) -> Result<Profile, Stop> {
        let observation = Observation::start();
        let profiler = match self.plan.per_node {
            true => KernelProfiler::per_place(),
            false => KernelProfiler::new(),
        };
        let runs = || self.run_repeatedly(function, limit);
        let (samples, profiler) = recording::record(profiler, runs);
        let (samples, observed) = (samples?, observation.stages());
        let elapsed = samples.total_wall;
        let kernels: Vec<KernelReport> = match self.plan.per_node {
            true => {
                let kernels = profiler.kernels_by_place().into_iter();
                let reports = kernels.map(|(name, place, times)| KernelReport {
                    place: Some(place.to_string()),
                    ..cost.subtract_from(name, times)
                });
                reports.collect()
            }
            false => {
                let kernels = profiler.kernels().into_iter();
                let reports = kernels.map(|(name, times)| cost.subtract_from(name, times));
                reports.collect()
            }
        };
        Ok(Profile {
            num_runs: samples.num_runs(),
            wall: samples.wall(),
            kernels,
            stages: (!observed.stages.is_empty()).then(|| StagesReport::new(observed, elapsed)),
        })
    }

    fn run_repeatedly(&self, function: &FunctionRef, limit: Limit) -> Result<Samples, Stop> {
        let mut samples = Samples::default();
        loop {
            let progress = limit.progress(&samples);
            self.progress.advance_to(progress);
            if progress >= 1.0 {
                return Ok(samples);
            }
            self.run_once(function, &mut samples)?;
        }
    }

    fn run_once(&self, function: &FunctionRef, samples: &mut Samples) -> Result<(), Stop> {
        let ctx = fresh_ctx(self.host, self.folder, self.resources.as_ref());
        let stopwatch = Stopwatch::start();
        let outcome = match function.kind() {
            FunctionKind::Async | FunctionKind::Native => self.run_async(function, &ctx),
            FunctionKind::Sync => run_sync(function, &ctx),
        };
        let (wall, cpu) = stopwatch.stop();
        outcome?;
        // Relaxed: who reported an error did so before the host was at rest.
        if self.has_error.load(Ordering::Relaxed) {
            return Err(Stop::Reported);
        }
        samples.wall_ns.push(whole_ns(wall));
        samples.total_wall += wall;
        samples.total_cpu += cpu.saturating_sub(self.clock_cost);
        Ok(())
    }

    fn run_async(&self, function: &FunctionRef, ctx: &ExecutionContext) -> Result<(), Stop> {
        let results = function.execute(ctx, &[]);
        let wait = self
            .host
            .await_available(&results)
            .and_then(|()| self.host.quiesce());
        wait.map_err(|error| Stop::Deadlock(error.to_string()))?;
        let failed = results.iter().find_map(|result| result.error_if_present());
        failed.map_or(Ok(()), |error| {
            Err(Stop::Failed(error.message().to_string()))
        })
    }
}

fn run_sync(function: &FunctionRef, ctx: &ExecutionContext) -> Result<(), Stop> {
    let mut results = vec![None; function.num_results()];
    function
        .execute_sync(ctx, &[], &mut results)
        .map_err(|error| Stop::Failed(error.message().to_string()))
}

impl Samples {
    fn num_runs(&self) -> u64 {
        self.wall_ns.len() as u64
    }

    /// Summarises the samples. There is at least one, because the first run always happens.
    fn wall(self) -> Summary {
        Summary::of(self.wall_ns).expect("there is no limit below one run")
    }
}

fn whole_ns(duration: Duration) -> u64 {
    // 64 bits of nanoseconds are 584 years.
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// Measures one run, by two clocks.
#[derive(Debug)]
struct Stopwatch {
    wall: Instant,
    cpu: Duration,
}

/// The number of clock readings from which their cost is computed.
const NUM_EMPTY_RUNS: usize = 100;

impl Stopwatch {
    /// Starts both clocks. The wall clock is read last, because reading the other one is slow.
    fn start() -> Self {
        let cpu = process_time();
        Self {
            wall: Instant::now(),
            cpu,
        }
    }

    /// Returns the elapsed wall time and the processor time of all threads of the process,
    /// including [`clock_cost`].
    fn stop(&self) -> (Duration, Duration) {
        let wall = self.wall.elapsed();
        (wall, process_time().saturating_sub(self.cpu))
    }
}

/// Returns the processor time that a stopwatch shows if nothing runs.
pub(super) fn clock_cost() -> Duration {
    let empty_runs = (0..NUM_EMPTY_RUNS).map(|_| Stopwatch::start().stop().1);
    // The least: in the others, something else went on as well.
    empty_runs.min().unwrap_or_default()
}

/// Returns how long all threads of the process have computed so far; zero where the system does not
/// tell.
fn process_time() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ProcessCPUTime)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(num_runs: usize, total_wall: Duration) -> Samples {
        Samples {
            wall_ns: vec![0; num_runs],
            total_wall,
            ..Samples::default()
        }
    }

    #[test]
    fn whichever_limit_is_nearer_counts() {
        let limit = Limit {
            max_runs: 10,
            max_duration: Some(Duration::from_secs(100)),
        };
        let progress = |num_runs, secs| limit.progress(&after(num_runs, Duration::from_secs(secs)));
        assert_eq!(
            [progress(5, 1), progress(1, 90), progress(10, 0)],
            [0.5, 0.9, 1.0]
        );
    }

    #[test]
    fn the_first_run_is_made_however_little_time_there_is() {
        let limit = Limit {
            max_runs: 10,
            max_duration: Some(Duration::ZERO),
        };
        assert_eq!(limit.progress(&after(0, Duration::ZERO)), 0.0);
        assert!(limit.progress(&after(1, Duration::from_nanos(1))) >= 1.0);
    }

    #[test]
    fn of_no_runs_none_is_made() {
        let limit = Limit {
            max_runs: 0,
            max_duration: None,
        };
        assert_eq!(limit.progress(&after(0, Duration::ZERO)), 1.0);
    }
}
