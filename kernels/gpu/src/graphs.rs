//! Functions that run as graphs.
//!
//! A graph is work that the driver has recorded once, and launches as a whole. A function that puts
//! many small pieces of work on a stream runs faster as a graph, because the host makes one call
//! instead of many. `tfrt_gpu.graph.execute` calls such a function:
//!
//! ```text
//!  function ─► suitable? ─yes─► same arguments as before? ─yes──────────┬─► graph_launch(stream)
//!                  │                   └─no─► run on a private stream,  │
//!                  │                          in capture ─► graph ──────┘
//!                  └─no─► run as usual; the report has the reason
//! ```
//!
//! Both ways put the same work on the stream, in the same order. A function is suitable if all that
//! it does is to put work on the stream that it takes: see `unsuitable`. So nothing is lost if a
//! capture fails, and the function runs as usual.
//!
//! The private stream is known to the capture alone, so work of other requests is never recorded.
//! During the capture, all kernels run on the capturing thread.
//!
//! A graph repeats the work for the same addresses and numbers: there is one graph for each list of
//! arguments. Graphs, and the values that they were captured with except for buffers, live as long
//! as the resources of the request.

mod arguments;

mod captured;

mod suitable;

use std::fmt;
use std::sync::{Arc, Mutex, OnceLock};

use tfrt::host::ResourceContext;
use tfrt::prelude::*;

use crate::api::GpuError;
use crate::queue::GpuWorkQueue;
use crate::values::{Stream, lock};

use arguments::ArgumentKey;
use captured::CapturedGraph;
use suitable::unsuitable;

/// The name of the cache among the resources of a request.
const RESOURCE: &str = "tfrt_gpu.graphs";

/// The most graphs of one function.
const MAX_GRAPHS: usize = 16;

/// How often a function was run as a graph, and why not more often.
///
/// ```
/// use tfrt::host::ResourceContext;
/// use tfrt_gpu::graphs::reports;
///
/// let resources = ResourceContext::new();
/// for report in reports(&resources) {
///     println!("{report}"); // For example `@step: 1 graphs, 9 launches, 0 usual runs`.
/// }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct GraphReport {
    /// The name of the function.
    pub function: String,
    /// The number of graphs: one for each list of arguments.
    pub num_graphs: usize,
    /// The number of calls that launched a graph.
    pub num_launches: u64,
    /// The number of calls that ran the function as usual.
    pub num_usual_runs: u64,
    /// The reason of the last usual run.
    pub reason: Option<String>,
}

impl fmt::Display for GraphReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            function,
            num_graphs,
            num_launches,
            num_usual_runs,
            ..
        } = self;
        write!(
            f,
            "@{function}: {num_graphs} graphs, {num_launches} launches, {num_usual_runs} usual runs"
        )?;
        match &self.reason {
            Some(reason) => write!(f, ": {reason}"),
            None => Ok(()),
        }
    }
}

/// What is known of a function.
struct Entry {
    function: FunctionRef,
    /// The reason why the function never runs as a graph.
    refusal: Option<String>,
    graphs: Vec<(Vec<ArgumentKey>, Arc<CapturedGraph>)>,
    report: GraphReport,
}

/// The graphs of the requests that share resources.
#[derive(Default)]
struct GraphCache {
    entries: Mutex<Vec<Entry>>,
    /// Runs all kernels of a capture on the capturing thread.
    queue: OnceLock<Arc<GpuWorkQueue>>,
}

/// The way to run one call.
enum Way {
    Launch(Arc<CapturedGraph>),
    Capture(Vec<ArgumentKey>),
    Usual(String),
}

impl GraphCache {
    /// Calls `change` with the entry of a function.
    fn with<R>(&self, function: &FunctionRef, change: impl FnOnce(&mut Entry) -> R) -> R {
        let mut entries = lock(&self.entries);
        let found = entries
            .iter()
            .position(|entry| entry.function.is_same(function));
        let index = found.unwrap_or_else(|| {
            entries.push(Entry {
                function: function.clone(),
                refusal: unsuitable(function),
                graphs: Vec::new(),
                report: GraphReport {
                    function: function.name().to_owned(),
                    ..GraphReport::default()
                },
            });
            entries.len() - 1
        });
        change(&mut entries[index])
    }

    /// Chooses the way of a call.
    fn choose(&self, function: &FunctionRef, stream: &Stream, arguments: &[AnyRef]) -> Way {
        self.with(function, |entry| {
            if let Some(reason) = &entry.refusal {
                return Way::Usual(reason.clone());
            }
            let types = function.argument_types();
            let key = match arguments::key(arguments, types.get(2..).unwrap_or_default()) {
                Ok(key) => key,
                Err(reason) => return Way::Usual(reason),
            };
            let graphs = entry.graphs.iter();
            let mut known = graphs.filter(|(known, graph)| *known == key && graph.is_for(stream));
            match known.next() {
                Some((_, graph)) => Way::Launch(Arc::clone(graph)),
                None if entry.graphs.len() == MAX_GRAPHS => Way::Usual(format!(
                    "there are graphs for {MAX_GRAPHS} other lists of arguments"
                )),
                None => Way::Capture(key),
            }
        })
    }
}

/// Calls a function that takes a chain, a stream and other arguments, and returns a chain: as a
/// graph if that is possible.
///
/// # Errors
/// `Unavailable` from the driver if a launch fails; errors of the function are those of the result.
pub fn execute(
    function: &FunctionRef,
    ctx: &ExecutionContext,
    stream: &Stream,
    arguments: &[AnyRef],
) -> Result<AnyRef> {
    let Some(resources) = ctx.resources() else {
        return Ok(run(function, ctx, stream, arguments));
    };
    let cache = resources.get_or_create(RESOURCE, GraphCache::default)?;
    let reason = match cache.choose(function, stream, arguments) {
        Way::Launch(graph) => {
            graph.launch(stream)?;
            cache.with(function, |entry| entry.report.num_launches += 1);
            return Ok(AnyRef::ready_chain());
        }
        Way::Usual(reason) => reason,
        Way::Capture(key) => match cache.capture(function, ctx, stream, arguments) {
            Ok(Captured::Graph(graph)) => {
                graph.launch(stream)?;
                cache.with(function, |entry| {
                    entry.report.num_launches += 1;
                    // Two calls may have captured at the same time.
                    if entry.graphs.len() < MAX_GRAPHS {
                        entry.graphs.push((key, graph));
                    }
                });
                return Ok(AnyRef::ready_chain());
            }
            Ok(Captured::Failed(result)) => return Ok(result),
            Err(error) => {
                let reason = reason_of(&error);
                cache.with(function, |entry| entry.refusal = Some(reason.clone()));
                reason
            }
        },
    };
    cache.with(function, |entry| {
        entry.report.num_usual_runs += 1;
        entry.report.reason = Some(reason);
    });
    Ok(run(function, ctx, stream, arguments))
}

/// Returns the reports on the functions that were called with these resources, in the order of
/// their first calls.
#[must_use]
pub fn reports(resources: &ResourceContext) -> Vec<GraphReport> {
    let Ok(Some(cache)) = resources.get::<GraphCache>(RESOURCE) else {
        return Vec::new();
    };
    let entries = lock(&cache.entries);
    let reports = entries.iter().map(|entry| GraphReport {
        num_graphs: entry.graphs.len(),
        ..entry.report.clone()
    });
    reports.collect()
}

/// Runs a function as usual.
fn run(
    function: &FunctionRef,
    ctx: &ExecutionContext,
    stream: &Stream,
    arguments: &[AnyRef],
) -> AnyRef {
    let leading = [AnyRef::ready_chain(), AnyRef::available(stream.clone())];
    let arguments: Vec<AnyRef> = leading
        .into_iter()
        .chain(arguments.iter().cloned())
        .collect();
    let [chain] = function.execute_array(ctx, &arguments);
    chain
}

/// The outcome of a capture.
enum Captured {
    Graph(Arc<CapturedGraph>),
    /// A kernel failed. It would have failed in a usual run, too.
    Failed(AnyRef),
}

impl GraphCache {
    /// Runs a function in a capture. Nothing runs on the device yet.
    ///
    /// # Errors
    /// Those of the driver. The function has done nothing then.
    fn capture(
        &self,
        function: &FunctionRef,
        ctx: &ExecutionContext,
        stream: &Stream,
        arguments: &[AnyRef],
    ) -> Result<Captured, GpuError> {
        let queue = self.queue.get_or_init(Arc::default);
        let ctx = ctx.clone().with_queue(Arc::clone(queue) as _);
        let mut result = None;
        let graph = CapturedGraph::capture(stream.context(), |private| {
            result = Some(run(function, &ctx, private, arguments));
        });
        // A capture that failed may be why the function did: it runs again, as usual.
        let graph = graph?;
        match result {
            Some(result) if result.is_error() => Ok(Captured::Failed(result)),
            _ => Ok(Captured::Graph(Arc::new(graph))),
        }
    }
}

/// Returns an error of the driver as a reason: what could not be captured, if the driver says so.
fn reason_of(error: &GpuError) -> String {
    match error.details.is_empty() {
        true => error.to_string(),
        false => error.details.clone(),
    }
}
