//! Tracing: reports the runtime's activities to a sink as they happen.
//!
//! An *activity* has a level and a name. It is a [`Scope`], which has a duration, or an [`event`],
//! which has none. Scopes of one thread nest. A process has at most one [`TracingSink`]; it is
//! notified of activities up to the level set by [`enable`], on their own thread, in the call that
//! begins or ends them.
//!
//! | level | activities |
//! |---|---|
//! | default | a whole run of the driver, and each function that it calls |
//! | verbose | unused by the runtime itself: for activities that are rarer than kernels |
//! | debug | each kernel, the number of waiting tasks when it starts, and the time when results that it left to tasks are available; each draw of an element from a stage of an input pipeline |
//!
//! This module provides four sinks: [`SimpleSink`] logs a thread's activities when the thread ends,
//! [`DebugSink`] prints lines immediately, [`TraceRecorder`] keeps everything and writes a file for
//! viewers, [`KernelProfiler`] sums up the times of kernels.
//!
//! If nothing is recorded, an activity costs one relaxed load and a comparison. Above
//! [`MAX_LEVEL`], which is chosen when the runtime is built, it costs nothing.
//!
//! Invariant T1: the active level is above `None` only while there is a sink. Upheld by
//! `State::publish` alone.
//!
//! ```
//! use std::sync::Arc;
//! use tfrt_host::tracing::{self, Scope, TraceRecorder, TracingLevel};
//!
//! let recorder = Arc::new(TraceRecorder::new());
//! tracing::set_sink(Some(Arc::clone(&recorder) as _));
//! tracing::enable(TracingLevel::Default);
//! {
//!     let _loading = Scope::enter(TracingLevel::Default, || "load the model");
//!     let _layer = Scope::enter(TracingLevel::Debug, || -> String { unreachable!("not wanted") });
//! }
//! tracing::disable();
//! tracing::set_sink(None);
//!
//! let mut file = Vec::new();
//! recorder.write(&mut file)?;
//! assert!(String::from_utf8_lossy(&file).contains("\"load the model\""));
//! # Ok::<(), std::io::Error>(())
//! ```

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Instant;

use crate::log;
use crate::services::execution::ExecutionContext;

mod sink;

mod simple;

mod debug;

mod recorder;

mod profiler;

pub use debug::DebugSink;
pub use profiler::{KernelProfiler, KernelTimes};
pub use recorder::TraceRecorder;
pub use simple::SimpleSink;
pub use sink::{Activity, Arrival, KernelRun, TracingSink, Work};

/// The granularity of an activity, or of the recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum TracingLevel {
    /// Nothing.
    #[default]
    None = 0,
    /// Runs and functions.
    Default = 1,
    /// More.
    Verbose = 2,
    /// Each kernel.
    Debug = 3,
}

/// The finest level that is compiled in: finer activities are removed from the program.
///
/// Set by the environment variable `TFRT_MAX_TRACING_LEVEL` when the runtime is built: `none`,
/// `default`, `verbose`, or `debug`, which is the default.
pub const MAX_LEVEL: TracingLevel = match option_env!("TFRT_MAX_TRACING_LEVEL") {
    None => TracingLevel::Debug,
    Some(name) => match name.as_bytes() {
        b"none" => TracingLevel::None,
        b"default" => TracingLevel::Default,
        b"verbose" => TracingLevel::Verbose,
        b"debug" => TracingLevel::Debug,
        _ => panic!("TFRT_MAX_TRACING_LEVEL must be `none`, `default`, `verbose` or `debug`"),
    },
};

/// The level up to which activities are currently reported to the sink.
static ACTIVE: AtomicU8 = AtomicU8::new(TracingLevel::None as u8);

static STATE: RwLock<State> = RwLock::new(State {
    sink: None,
    level: TracingLevel::None,
});

/// The sink and the requested level.
struct State {
    sink: Option<Arc<dyn TracingSink>>,
    level: TracingLevel,
}

impl State {
    /// Updates the level that the hot paths read.
    fn publish(&self) {
        let level = match self.sink {
            Some(_) => self.level,
            None => TracingLevel::None,
        };
        // Relaxed: the level orders nothing. A thread that sees it late misses an activity, or
        // finds no sink.
        ACTIVE.store(level as u8, Ordering::Relaxed);
    }

    fn change(change: impl FnOnce(&mut Self)) {
        let mut state = STATE.write().unwrap_or_else(PoisonError::into_inner);
        change(&mut state);
        state.publish();
    }
}

/// Returns `true` if an activity of this level would be recorded now.
#[inline]
#[must_use]
pub fn is_active(level: TracingLevel) -> bool {
    // Relaxed: see `publish`. The sink itself is read under the lock.
    level != TracingLevel::None
        && level <= MAX_LEVEL
        && level as u8 <= ACTIVE.load(Ordering::Relaxed)
}

/// Replaces the sink of this process. Open scopes end in the sink in which they began.
pub fn set_sink(sink: Option<Arc<dyn TracingSink>>) {
    let mut before = sink;
    State::change(|state| std::mem::swap(&mut state.sink, &mut before));
    // The destructor of the old sink runs without the lock.
    drop(before);
}

/// Starts recording activities up to `level`. Without a sink nothing is recorded, which is logged
/// as a warning.
pub fn enable(level: TracingLevel) {
    let mut has_sink = false;
    State::change(|state| {
        state.level = level;
        has_sink = state.sink.is_some();
    });
    if !has_sink {
        log::warning!("No tfrt::TracingSink registered");
    }
}

/// Stops recording. Open scopes still end.
pub fn disable() {
    State::change(|state| state.level = TracingLevel::None);
}

/// Reports an activity without duration to the sink. `name` is called only if it is recorded.
#[inline]
pub fn event<N: Into<Cow<'static, str>>>(level: TracingLevel, name: impl FnOnce() -> N) {
    if is_active(level)
        && let Some(sink) = sink()
    {
        sink.event(&name().into());
    }
}

/// Reports to the sink that something that belongs to no thread lasted from `since` until now.
/// Spans of the same track may overlap.
pub fn span(level: TracingLevel, track: &Arc<str>, since: Instant) {
    if is_active(level)
        && let Some(sink) = sink()
    {
        sink.span(track, since);
    }
}

/// Reports to the sink that a device did some work in this time, which ended before now. Work of
/// the same track does not overlap.
pub fn device_work(
    level: TracingLevel,
    track: &Arc<str>,
    name: &str,
    start: Instant,
    end: Instant,
) {
    if is_active(level)
        && let Some(sink) = sink()
    {
        sink.device_work(track, name, start, end);
    }
}

/// Reports to the sink the amount of work of the kernel that runs on this thread, from which `tfrt
/// bench` computes its speed. `work` is called only if kernels are recorded.
///
/// For kernels that finish their work before they return: their time does not include work left to
/// tasks. Several reports of one run add up.
///
/// ```
/// use tfrt_host::tracing::{self, Work};
///
/// /// A kernel.
/// fn dot(a: &[f32], b: &[f32]) -> f32 {
///     tracing::report_work(|| Work {
///         flops: 2 * a.len() as u64,
///         bytes: size_of_val(a) as u64 + size_of_val(b) as u64,
///     });
///     a.iter().zip(b).map(|(a, b)| a * b).sum()
/// }
/// # assert_eq!(dot(&[1.0, 2.0], &[3.0, 4.0]), 11.0);
/// ```
#[inline]
pub fn report_work(work: impl FnOnce() -> Work) {
    if is_active(TracingLevel::Debug)
        && let Some(sink) = sink()
    {
        sink.work(work());
    }
}

/// Reports to the sink that an executor starts to run kernels consecutively on this thread. Returns
/// `true` if kernels are recorded.
///
/// For executors. Until the path ends, the time between its kernels counts as executor time.
#[doc(hidden)]
#[inline]
pub fn begin_path() -> bool {
    let is_recorded = is_active(TracingLevel::Debug);
    if is_recorded {
        tell_of_path();
    }
    is_recorded
}

#[cold]
fn tell_of_path() {
    if let Some(sink) = sink() {
        sink.begin_path();
    }
}

/// Returns a number for an invocation of a function, unique in this process and never 0.
#[doc(hidden)]
#[must_use]
pub fn next_invocation_number() -> u64 {
    // Relaxed: only uniqueness matters; it orders no other memory.
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

#[inline(never)]
fn sink() -> Option<Arc<dyn TracingSink>> {
    STATE
        .read()
        .unwrap_or_else(PoisonError::into_inner)
        .sink
        .clone()
}

/// An activity that lasts until the guard is dropped, on the thread where it began.
///
/// ```
/// use tfrt_host::tracing::{Scope, TracingLevel};
///
/// let name = "conv1";
/// let _scope = Scope::enter(TracingLevel::Verbose, || format!("Layer: {name}"));
/// ```
#[must_use = "the activity ends with the guard"]
pub struct Scope {
    sink: Option<Arc<dyn TracingSink>>,
    /// A scope ends on the thread where it began.
    not_send: PhantomData<*const ()>,
}

impl Scope {
    /// Begins an activity. `name` is called only if it is recorded.
    #[inline]
    pub fn enter<N: Into<Cow<'static, str>>>(
        level: TracingLevel,
        name: impl FnOnce() -> N,
    ) -> Self {
        if !is_active(level) {
            return Self::begin(None);
        }
        let sink = sink();
        if let Some(sink) = &sink {
            sink.begin(Activity {
                name: name().into(),
                kernel: None,
            });
        }
        Self::begin(sink)
    }

    /// Begins the run of a kernel in a context, at level debug. Also reports the number of waiting
    /// tasks, if the work queue knows it. `run` is called last, so that the activity is written
    /// where the sink reads it.
    ///
    /// For executors, which check [`is_active`] first, and keep the call out of line.
    #[doc(hidden)]
    #[inline]
    pub fn enter_kernel<'a>(
        ctx: &'a ExecutionContext,
        run: impl FnOnce() -> KernelRun<'a>,
    ) -> Self {
        let sink = sink();
        if let Some(sink) = sink.as_deref() {
            if let Some(num_pending) = ctx.queue().num_pending_tasks() {
                sink.counter("pending tasks", num_pending as u64);
            }
            let run = run();
            sink.begin(Activity {
                name: Cow::Borrowed(run.name),
                kernel: Some(run),
            });
        }
        Self::begin(sink)
    }

    fn begin(sink: Option<Arc<dyn TracingSink>>) -> Self {
        Self {
            sink,
            not_send: PhantomData,
        }
    }
}

impl Drop for Scope {
    #[inline]
    fn drop(&mut self) {
        if let Some(sink) = &self.sink {
            sink.end();
        }
    }
}

/// A result that a kernel has left unavailable. Dropping this reports to the sink that it is
/// available.
///
/// For executors, which drop it in a waiter of the value, before the consumers of the value
/// continue.
#[doc(hidden)]
#[must_use = "the result counts as available when this goes"]
#[derive(Debug)]
pub struct PendingResult {
    sink: Arc<dyn TracingSink>,
    arrival: Arrival,
}

impl PendingResult {
    /// Starts to wait for a result of a kernel that has just returned, if tracing is enabled. See
    /// [`Arrival`].
    pub fn begin(
        kernel: &'static str,
        location_token: u32,
        invocation: u64,
        register: u32,
        ctx: &ExecutionContext,
    ) -> Option<Self> {
        let sink = sink().filter(|_| is_active(TracingLevel::Debug))?;
        let arrival = Arrival {
            kernel,
            location_source: ctx.location_source().cloned(),
            location_token,
            invocation,
            register,
            since: Instant::now(),
        };
        Some(Self { sink, arrival })
    }
}

impl Drop for PendingResult {
    fn drop(&mut self) {
        self.sink.arrived(self.arrival.clone());
    }
}

impl fmt::Debug for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope")
            .field("is_recorded", &self.sink.is_some())
            .finish()
    }
}
