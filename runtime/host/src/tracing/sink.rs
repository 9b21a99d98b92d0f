//! The interface of sinks.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use crate::kernel::location::LocationSource;
use crate::services::execution::ExecutionContext;

/// Receives activities as they happen.
///
/// Every method is called on the thread of the activity, during the work: it must be fast, must not
/// block for long, and must not panic.
///
/// ```
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicUsize, Ordering};
/// use tfrt_host::tracing::{self, Activity, TracingLevel, TracingSink};
///
/// #[derive(Debug, Default)]
/// struct CountEvents(AtomicUsize);
///
/// impl TracingSink for CountEvents {
///     fn begin(&self, _: Activity<'_>) {}
///     fn end(&self) {}
///     fn event(&self, _name: &str) {
///         self.0.fetch_add(1, Ordering::Relaxed);
///     }
/// }
///
/// let sink = Arc::new(CountEvents::default());
/// tracing::set_sink(Some(Arc::clone(&sink) as _));
/// tracing::enable(TracingLevel::Verbose);
/// tracing::event(TracingLevel::Verbose, || "cache miss");
/// tracing::event(TracingLevel::Debug, || "too fine");
/// assert_eq!(sink.0.load(Ordering::Relaxed), 1);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot receive trace events",
    label = "does not implement `TracingSink`"
)]
pub trait TracingSink: Send + Sync + fmt::Debug {
    /// A scope begins on this thread, inside the open ones.
    fn begin(&self, activity: Activity<'_>);

    /// The innermost open scope of this thread ends.
    fn end(&self);

    /// An event happened.
    fn event(&self, name: &str);

    /// An executor starts to run kernels on this thread, inside the open scopes; it was not at work
    /// before. Sinks that do not distinguish work from waiting ignore it.
    fn begin_path(&self) {}

    /// A result that a kernel had left unavailable is now available, or abandoned, on this thread.
    /// Sinks that do not distinguish work from waiting ignore it.
    fn arrived(&self, arrival: Arrival) {
        let _ = arrival;
    }

    /// The innermost open scope of this thread performs this work. Sinks that do not relate work to
    /// time ignore it.
    fn work(&self, work: Work) {
        let _ = work;
    }

    /// Something that belongs to no thread lasted from `since` until now. Sinks that record only
    /// what threads do ignore it.
    fn span(&self, track: &Arc<str>, since: Instant) {
        let _ = (track, since);
    }

    /// A device did the work `name` in this time, on the row `track`, where no other work overlaps.
    /// Sinks that record only what threads do ignore it.
    fn device_work(&self, track: &Arc<str>, name: &str, start: Instant, end: Instant) {
        let _ = (track, name, start, end);
    }

    /// The quantity `name` of the process has this value now. Sinks that record no quantities
    /// ignore it.
    fn counter(&self, name: &'static str, value: u64) {
        let _ = (name, value);
    }
}

/// A result that a kernel left unavailable.
///
/// The run of the kernel is the one of this invocation that [defines](KernelRun::results) the
/// register.
#[derive(Clone, Debug)]
pub struct Arrival {
    /// The name of the kernel.
    pub kernel: &'static str,
    /// Decodes its location in the program, if that is known.
    pub location_source: Option<Arc<dyn LocationSource>>,
    /// Its location in the program.
    pub location_token: u32,
    /// The number of the invocation.
    pub invocation: u64,
    /// The register of the result.
    pub register: u32,
    /// When the kernel had returned.
    pub since: Instant,
}

/// The work of a kernel run, in the units of processors: see [`report_work`](super::report_work).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Floating-point operations, or the operations that replace them; a multiplication with an
    /// addition counts as two.
    pub flops: u64,
    /// The bytes that must be read and written, each counted once.
    pub bytes: u64,
}

/// A scope as reported to a sink.
#[derive(Clone, Debug)]
pub struct Activity<'a> {
    /// Its name, for people.
    pub name: Cow<'static, str>,
    /// Details, if it is the run of a kernel.
    pub kernel: Option<KernelRun<'a>>,
}

/// One run of a kernel: its identity, and its connections to others.
///
/// Register numbers are those of the function. A register has one producer in an invocation, so the
/// invocation and the register together identify a value.
#[derive(Clone, Copy, Debug)]
pub struct KernelRun<'a> {
    /// The name of the kernel.
    pub name: &'static str,
    /// Its context.
    pub ctx: &'a ExecutionContext,
    /// Its location in the program, for the context's [location
    /// source](ExecutionContext::location_source).
    pub location_token: u32,
    /// The number of the invocation, from
    /// [`next_invocation_number`](super::next_invocation_number).
    pub invocation: u64,
    /// The stream that it runs on; `None` in a synchronous function.
    pub stream: Option<u32>,
    /// The registers that it reads.
    pub operands: &'a [u32],
    /// The registers that it defines.
    pub results: &'a [u32],
}
