//! One run of a function: a host, a request, the results, and the reported errors.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tfrt_async::{AnyRef, Chain, LiveScope, Value};
use tfrt_bef::BefFile;
use tfrt_executor::Program;
use tfrt_host::kernel::KernelRegistry;
use tfrt_host::{
    ExecutionContext, FunctionKind, FunctionRef, HostContext, RequestContextBuilder,
    ResourceContext,
};
use tfrt_support::nearest::{did_you_mean, nearest};
use tfrt_support::{Error, ErrorCode};

use super::calls::{CallLog, Recording};
use super::operand::Operand;
use super::{schedule, shuffle};

/// The time limit of results. It is long, because it only bounds how long a test of a broken kernel
/// blocks.
const MAX_WAIT: Duration = Duration::from_secs(600);

/// The time for which a detached thread may hold a value after the results are available.
const LEAK_PATIENCE: Duration = Duration::from_secs(20);

/// The configuration of every request before it starts.
pub(super) type Prepare = Arc<dyn Fn(RequestContextBuilder) -> RequestContextBuilder>;

/// The settings of a run.
#[derive(Clone)]
pub(super) struct Settings {
    pub(super) kernels: Arc<KernelRegistry>,
    pub(super) queues: Vec<String>,
    pub(super) prepare: Option<Prepare>,
    pub(super) records_calls: bool,
    /// Whether the program was written without chains: functions may take some that no test knows
    /// of.
    pub(super) adds_chains: bool,
}

/// A run that is over. Its results are alive until [`end`](Self::end).
#[derive(Debug)]
pub(super) struct Run {
    pub(super) queue: String,
    pub(super) results: Vec<AnyRef>,
    /// Whether each result is declared as a chain: an error has no type.
    pub(super) are_chains: Vec<bool>,
    pub(super) reported: Vec<Error>,
    /// The kernels that were called, if that was recorded.
    pub(super) calls: Option<Vec<&'static str>>,
    scope: LiveScope,
}

impl Run {
    /// Runs `function` of `file` once, to the end.
    ///
    /// # Panics
    /// If the function cannot be called like this.
    #[track_caller]
    pub(super) fn new(
        settings: &Settings,
        queue: &str,
        file: &BefFile,
        function: &str,
        operands: &[Operand],
    ) -> Self {
        let scope = LiveScope::new();
        let reported = Arc::new(Mutex::new(Vec::new()));
        let log = CallLog::default();
        let recording = settings.records_calls.then(Recording::start);
        let (results, are_chains) = {
            let reported = Arc::clone(&reported);
            let host = HostContext::builder()
                .registry(Arc::clone(&settings.kernels))
                .queue(schedule::queue(queue, &scope))
                .diagnostic_handler(move |error| lock(&reported).push(error.clone()))
                .build();
            let function = find(&host, file, function);
            let num_chains = match settings.adds_chains {
                true => num_added_chains(&function, operands.len()),
                false => 0,
            };
            check_arguments(&function, num_chains, operands.len());
            let mut request = RequestContextBuilder::new(Arc::clone(&host))
                .resources(Arc::new(ResourceContext::new()))
                .context_data(log.clone());
            if let Some(prepare) = &settings.prepare {
                request = prepare(request);
            }
            let ctx = ExecutionContext::new(request.build());
            let results = scope.run(|| execute(&function, &ctx, num_chains, operands));
            let types = function.result_types();
            let are_chains = types.iter().map(|ty| *ty == Chain::MLIR_TYPE).collect();
            (results, are_chains)
            // The host goes here, and its queue is drained: nothing of the run goes on.
        };
        drop(recording);
        let reported = std::mem::take(&mut *lock(&reported));
        Self {
            queue: queue.to_owned(),
            results,
            are_chains,
            reported,
            calls: settings.records_calls.then(|| {
                let mut names = log.names();
                names.retain(|name| !shuffle::is_delay(name));
                names
            }),
            scope,
        }
    }

    /// Drops the results and returns the types of the values that live on.
    pub(super) fn end(&mut self) -> Vec<&'static str> {
        self.results.clear();
        self.scope.wait_until_empty(LEAK_PATIENCE)
    }
}

#[track_caller]
fn find(host: &Arc<HostContext>, file: &BefFile, name: &str) -> FunctionRef {
    let program = match Program::load(host, file) {
        Ok(program) => program,
        Err(error) => panic!(
            "the program was loaded before, but loading it again failed: {}",
            error.located()
        ),
    };
    let Some(function) = program.function(name) else {
        let known: Vec<_> = program.functions().collect();
        let names = known.iter().map(FunctionRef::name);
        let near = nearest(name, names.filter(|known| !known.is_empty()));
        panic!(
            "the program has no function `@{name}`{}",
            did_you_mean(&near)
        );
    };
    function
}

/// The number of chains that the function takes before the arguments of the test.
fn num_added_chains(function: &FunctionRef, num_operands: usize) -> usize {
    let types = function.argument_types();
    let num_more = types.len().saturating_sub(num_operands);
    let leading = types.iter().take(num_more);
    leading.take_while(|ty| **ty == Chain::MLIR_TYPE).count()
}

#[track_caller]
fn check_arguments(function: &FunctionRef, num_chains: usize, num_operands: usize) {
    let types = function.argument_types();
    let expected = &types[num_chains..];
    assert!(
        expected.len() == num_operands,
        "`@{}` takes {} arguments ({}), and the test passes {num_operands}",
        function.name(),
        expected.len(),
        expected.join(", ")
    );
}

fn execute(
    function: &FunctionRef,
    ctx: &ExecutionContext,
    num_chains: usize,
    operands: &[Operand],
) -> Vec<AnyRef> {
    let chains = std::iter::repeat_n(AnyRef::ready_chain(), num_chains);
    let arguments: Vec<AnyRef> = chains
        .chain(operands.iter().map(|operand| operand.make(ctx)))
        .collect();
    let results = match function.kind() {
        FunctionKind::Async | FunctionKind::Native => function.execute(ctx, &arguments),
        FunctionKind::Sync => execute_sync(function, ctx, &arguments),
    };
    drop(arguments);
    wait(ctx.host(), &results);
    results
}

fn execute_sync(
    function: &FunctionRef,
    ctx: &ExecutionContext,
    arguments: &[AnyRef],
) -> Vec<AnyRef> {
    // Synchronous functions take what is there.
    if let Err(error) = ctx.host().await_available(arguments) {
        return vec![AnyRef::error(error.into()); function.num_results()];
    }
    let mut results = vec![None; function.num_results()];
    match function.execute_sync(ctx, arguments, &mut results) {
        Ok(()) => results.into_iter().flatten().collect(),
        Err(error) => vec![AnyRef::error(error); function.num_results()],
    }
}

/// Waits for results and for everything else that was begun.
#[track_caller]
fn wait(host: &HostContext, results: &[AnyRef]) {
    let late: Vec<AnyRef> = results
        .iter()
        .filter(|result| !result.is_available())
        .cloned()
        .collect();
    if !late.is_empty() {
        let give_up = {
            let late = late.clone();
            move || {
                let message = format!(
                    "the result is not available after {} seconds: a promise was leaked, or a \
                     kernel does not terminate",
                    MAX_WAIT.as_secs()
                );
                let error = Error::new(message).with_code(ErrorCode::DeadlineExceeded);
                for value in &late {
                    value.try_set_error(error.clone());
                }
            }
        };
        let timer = host.timers().schedule_after(MAX_WAIT, give_up);
        if host.await_available(&late).is_err() {
            panic!("a test waits for results: call it from a separate thread, not from a kernel");
        }
        timer.cancel();
    }
    if host.quiesce().is_err() {
        panic!("a test waits for tasks: call it from a separate thread, not from a kernel");
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    // Nothing that runs under these locks panics half way.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
