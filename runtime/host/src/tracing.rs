//! Tracing: what the runtime does when, told to a sink while it happens.
//!
//! An *activity* has a level and a name. It is a [`Scope`], which lasts, or an [`event`], which does not. Scopes of one
//! thread nest. A process has at most one [`TracingSink`]; it hears of activities up to the level that
//! [`enable`] names, in the call that begins or ends them and on their own thread.
//!
//! | level | activities |
//! |---|---|
//! | default | a whole run of the driver, and each function that it calls |
//! | verbose | nothing of the runtime's own: for what is rarer than kernels |
//! | debug | each kernel, how many tasks wait when it starts, and when results are there that it left to tasks |
//!
//! Four sinks are here: [`SimpleSink`] logs what each thread did when the thread ends, [`DebugSink`] prints lines as it
//! goes, [`TraceRecorder`] keeps everything and writes a file that viewers open, [`KernelProfiler`] adds up what kernels take.
//!
//! While nothing is recorded an activity costs one relaxed load and a compare. Beyond [`MAX_LEVEL`], which is chosen when the
//! runtime is built, it costs nothing.
//!
//! Invariant T1: the active level is above none only while there is a sink. Upheld by `State::publish` alone.
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

/// How fine an activity is, and how much is recorded.
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

/// The finest level that is compiled in: activities beyond it vanish from the program.
///
/// Set by the environment variable `TFRT_MAX_TRACING_LEVEL` when the runtime is built: `none`, `default`, `verbose`, or
/// `debug`, which is also what it is when the variable is not set.
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

/// The level up to which activities are told to the sink now.
static ACTIVE: AtomicU8 = AtomicU8::new(TracingLevel::None as u8);

static STATE: RwLock<State> = RwLock::new(State {
    sink: None,
    level: TracingLevel::None,
});

/// Who is told, and how much was asked for.
struct State {
    sink: Option<Arc<dyn TracingSink>>,
    level: TracingLevel,
}

impl State {
    /// Lets the hot paths know.
    fn publish(&self) {
        let level = match self.sink {
            Some(_) => self.level,
            None => TracingLevel::None,
        };
        // Relaxed: the level orders nothing. Who sees it late misses an activity, or finds no sink.
        ACTIVE.store(level as u8, Ordering::Relaxed);
    }

    fn change(change: impl FnOnce(&mut Self)) {
        let mut state = STATE.write().unwrap_or_else(PoisonError::into_inner);
        change(&mut state);
        state.publish();
    }
}

/// Whether an activity of this level would be recorded now.
#[inline]
#[must_use]
pub fn is_active(level: TracingLevel) -> bool {
    // Relaxed: see `publish`. The sink itself is read under the lock.
    level != TracingLevel::None
        && level <= MAX_LEVEL
        && level as u8 <= ACTIVE.load(Ordering::Relaxed)
}

/// Makes `sink` the sink of this process, in place of the one before it. Scopes that are open end where they began.
pub fn set_sink(sink: Option<Arc<dyn TracingSink>>) {
    let mut before = sink;
    State::change(|state| std::mem::swap(&mut state.sink, &mut before));
    // What a sink does when it goes away happens without the lock.
    drop(before);
}

/// Starts to record activities up to `level`. Without a sink nothing is recorded, which is logged as a warning.
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

/// Stops to record. Scopes that are open still end.
pub fn disable() {
    State::change(|state| state.level = TracingLevel::None);
}

/// Tells the sink of something that takes no time. `name` is asked for only when it is wanted.
#[inline]
pub fn event<N: Into<Cow<'static, str>>>(level: TracingLevel, name: impl FnOnce() -> N) {
    if is_active(level)
        && let Some(sink) = sink()
    {
        sink.event(&name().into());
    }
}

/// Tells the sink what the kernel that runs on this thread comes to, from which `tfrt bench` computes how fast it is. `work` is asked
/// for only if kernels are recorded.
///
/// For kernels that do their work before they return: what they leave to tasks is not in their time. Several reports of one run
/// add up.
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

/// Tells the sink that an executor begins to run kernels on this thread, one after the other, if kernels are recorded; whether
/// they are.
///
/// For executors. Until the path ends, what is between its kernels is the time of the executor.
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

/// A number for an invocation of a function, unlike every other of this process. Never 0.
#[must_use]
pub fn next_invocation_number() -> u64 {
    // Only uniqueness matters, no other memory is ordered by it: relaxed.
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

/// An activity that lasts until the guard goes, on the thread where it began.
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
    /// Begins an activity. `name` is asked for only when it is wanted.
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

    /// Begins the run of a kernel, at level debug; also tells how many tasks wait, if the work queue knows.
    ///
    /// For executors, which ask [`is_active`] first, and keep the call out of line.
    #[inline]
    pub fn enter_kernel(run: KernelRun<'_>) -> Self {
        let sink = sink();
        if let Some(sink) = &sink {
            if let Some(num_pending) = run.ctx.queue().num_pending_tasks() {
                sink.counter("pending tasks", num_pending as u64);
            }
            sink.begin(Activity {
                name: run.name.into(),
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

/// A result that a kernel has left unavailable: when this goes, the sink is told that the result is there.
///
/// For executors, which let it go in a waiter of the value, before whatever waits for the value goes on.
#[must_use = "the result counts as available when this goes"]
#[derive(Debug)]
pub struct PendingResult {
    sink: Arc<dyn TracingSink>,
    arrival: Arrival,
}

impl PendingResult {
    /// Starts to wait for a result of a kernel that has just returned, if tracing is enabled. See [`Arrival`].
    pub fn begin(kernel: &'static str, invocation: u64, register: u32) -> Option<Self> {
        let sink = sink().filter(|_| is_active(TracingLevel::Debug))?;
        let arrival = Arrival {
            kernel,
            invocation,
            register,
            since: Instant::now(),
        };
        Some(Self { sink, arrival })
    }
}

impl Drop for PendingResult {
    fn drop(&mut self) {
        self.sink.arrived(self.arrival);
    }
}

impl fmt::Debug for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope")
            .field("is_recorded", &self.sink.is_some())
            .finish()
    }
}
