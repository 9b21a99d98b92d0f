//! Programs that are sent to a task and executed there.
//!
//! A program is sent as text, which a compiler pass of the receiving host reads, or as a BEF file.
//! Its entry function has the name of the program. If the first parameter is a context, the
//! function gets that of its task; if the next one is an object id, it gets the ids of its results,
//! which it may pass on to a third task.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use prost::bytes::Bytes;
use tfrt_async::{AnyRef, Value, run_when_ready};
use tfrt_bef::BefFile;
use tfrt_core::{MetadataPart, MetadataValue, TensorHandle};
use tfrt_executor::Program;
use tfrt_host::tracing::{Scope, TracingLevel};
use tfrt_host::{
    CancelHook, ExecutionContext, FunctionRef, HostContext, RequestContextBuilder, ResourceContext,
    log,
};
use tfrt_queue::Task;
use tfrt_support::TensorMetadata;
use tfrt_support::{Error, ErrorCode};
use tfrt_tensor::{DenseHostTensor, Shape, TensorRef, serialize};

use crate::context::{DistContext, DistributedContext};
use crate::error::{Gather, RemoteError, RemoteErrors};
use crate::execution::{self, Running};
use crate::fabric::Reply;
use crate::message::{
    OutputError, ProgramKind, RegisterFunctionRequest, RegisterFunctionResponse,
    RemoteExecuteRequest, RemoteExecuteResponse,
};
use crate::name::TaskName;
use crate::object::RemoteObjectId;
use crate::random;
use crate::tensor::RemoteTensor;
use crate::transfer;

/// The pass that reads programs.
pub const TEXT_PASS: &str = "tfrt";

/// Reads programs that are sent as text. A pass reports errors in a program on standard error.
pub trait CompilerPass: Send + Sync {
    /// Reads a program.
    ///
    /// # Errors
    /// If the text is not a program.
    fn parse(&self, program: &str, host: &HostContext) -> Result<Box<dyn ParsedProgram>, Error>;
}

/// A program that was read.
pub trait ParsedProgram {
    /// Compiles the program, in place, and returns the devices of its results.
    ///
    /// # Errors
    /// If it cannot be compiled.
    fn compile(&mut self, host: &HostContext) -> Result<Vec<String>, Error>;

    /// Returns the program as a file, without optional sections.
    ///
    /// # Errors
    /// If it is not well formed.
    fn to_file(&self) -> Result<BefFile, Error>;
}

/// A compiler pass that is linked into the program: every host has it under its name until another
/// one takes its place.
#[derive(Clone, Copy)]
pub struct LinkedPass {
    /// The name.
    pub name: &'static str,
    /// Makes the pass.
    pub make: fn() -> Arc<dyn CompilerPass>,
}

inventory::collect!(LinkedPass);

impl fmt::Debug for LinkedPass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LinkedPass").field(&self.name).finish()
    }
}

/// The compiler passes of a host, by name.
///
/// ```
/// use tfrt_distributed::function::CompilerPasses;
/// use tfrt_host::HostContext;
///
/// let host = HostContext::builder().build();
/// assert!(CompilerPasses::of(&host).get("none").is_none());
/// ```
pub struct CompilerPasses(Mutex<HashMap<String, Arc<dyn CompilerPass>>>);

impl CompilerPasses {
    /// Returns the passes of a host: those that are linked, to begin with.
    #[must_use]
    pub fn of(host: &HostContext) -> Arc<Self> {
        host.shared_context(|| {
            let linked = inventory::iter::<LinkedPass>.into_iter();
            let passes = linked.map(|linked| (linked.name.to_owned(), (linked.make)()));
            Self(Mutex::new(passes.collect()))
        })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Arc<dyn CompilerPass>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Registers a pass, in place of one of the same name.
    pub fn register(&self, name: &str, pass: Arc<dyn CompilerPass>) {
        let replaced = self.lock().insert(name.to_owned(), pass);
        // Without the lock.
        drop(replaced);
    }

    /// Returns the pass of this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Arc<dyn CompilerPass>> {
        self.lock().get(name).cloned()
    }
}

impl fmt::Debug for CompilerPasses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.lock().keys()).finish()
    }
}

/// The programs of one context on one task, by name.
#[derive(Debug, Default)]
pub struct Programs(Mutex<HashMap<String, Arc<Registered>>>);

/// A program that can be executed.
#[derive(Debug)]
pub(crate) struct Registered {
    function: FunctionRef,
    wants_context: bool,
    wants_output_ids: bool,
    /// The sent program, to detect whether the same one is sent again.
    source: (Bytes, i32, bool),
    response: RegisterFunctionResponse,
}

impl Programs {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Arc<Registered>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the number of programs.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lock().len()
    }

    /// Returns the names of the programs in alphabetical order, and the sizes of what was sent.
    #[must_use]
    pub fn sizes(&self) -> Vec<(String, usize)> {
        let programs = self.lock();
        let programs = programs.iter();
        let mut sizes: Vec<(String, usize)> = programs
            .map(|(name, program)| (name.clone(), program.source.0.len()))
            .collect();
        sizes.sort_unstable();
        sizes
    }

    /// Returns `true` if there are no programs.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn get(&self, name: &str) -> Option<Arc<Registered>> {
        self.lock().get(name).cloned()
    }

    pub(crate) fn clear(&self) {
        let programs = std::mem::take(&mut *self.lock());
        // Without the lock.
        drop(programs);
    }

    /// Registers a program. The same program may be registered again, even concurrently.
    fn add(
        &self,
        name: &str,
        program: Registered,
    ) -> Result<RegisterFunctionResponse, RemoteError> {
        let response = program.response.clone();
        let mut programs = self.lock();
        match programs.get(name) {
            Some(known) if known.source != program.source => {
                drop(programs);
                Err(already_registered(name))
            }
            Some(_) => Ok(response),
            None => {
                programs.insert(name.to_owned(), Arc::new(program));
                Ok(response)
            }
        }
    }
}

#[cold]
fn already_registered(name: &str) -> RemoteError {
    let code = ErrorCode::RemoteFunctionAlreadyExists;
    RemoteError::new(code, format!("Program {name} already registered."))
}

/// Creates a program ready to be executed on this task.
pub(crate) fn register(
    context: &DistributedContext,
    request: &RegisterFunctionRequest,
) -> Result<RegisterFunctionResponse, RemoteErrors> {
    let name = &request.program_name;
    let source = (
        request.program.clone(),
        request.program_kind,
        request.need_compilation,
    );
    if let Some(known) = context.programs().get(name)
        && known.source == source
    {
        return Ok(known.response.clone());
    }
    let (file, output_device) = if request.program_kind == ProgramKind::Bef as i32 {
        (BefFile::from_bytes(&request.program), Vec::new())
    } else {
        let task = context.cluster().own_name();
        from_text(request, context.host()).map_err(|error| error.from_task(task))?
    };
    let malformed = |message: String| RemoteError::new(ErrorCode::MalformattedMlirFile, message);
    let program = Program::load(context.host(), &file).map_err(|error| {
        let mut message = format!("Failed to open lowered BEF for function {name}.");
        match error.code() {
            // Tasks may have other kernels: the client has to know which one is missing here.
            ErrorCode::NotFound => message.push_str(&format!(" ({})", error.message())),
            _ => log::warning!("program {name}: {error}"),
        }
        malformed(message)
    })?;
    let function = program.function(name).ok_or_else(|| no_entry(name))?;
    let types = function.argument_types();
    let wants_context = types.first() == Some(&DistContext::MLIR_TYPE);
    let next = types.get(usize::from(wants_context));
    let registered = Registered {
        wants_context,
        wants_output_ids: next == Some(&RemoteObjectId::MLIR_TYPE),
        function,
        source,
        response: RegisterFunctionResponse { output_device },
    };
    Ok(context.programs().add(name, registered)?)
}

#[cold]
fn no_entry(name: &str) -> RemoteError {
    let message = format!("Failed to get program from BEFFile with name {name}.");
    RemoteError::new(ErrorCode::InvalidArgument, message)
}

fn from_text(
    request: &RegisterFunctionRequest,
    host: &HostContext,
) -> Result<(BefFile, Vec<String>), RemoteError> {
    let name = &request.program_name;
    let pass = CompilerPasses::of(host).get(TEXT_PASS).ok_or_else(|| {
        let message = format!("Compiler pass not found for program: {name}");
        RemoteError::new(ErrorCode::NotFound, message)
    })?;
    let unreadable = || {
        let message = format!("Failed parsing program:{name}");
        RemoteError::new(ErrorCode::MalformattedMlirFile, message)
    };
    let text = std::str::from_utf8(&request.program).map_err(|_| unreadable())?;
    let mut program = pass.parse(text, host).map_err(|_| unreadable())?;
    let not_converted = |code| {
        let message = format!("Failed to convert MLIR to BEF: {name}");
        RemoteError::new(code, message)
    };
    let devices = match request.need_compilation {
        false => Vec::new(),
        true => program
            .compile(host)
            .map_err(|_| not_converted(ErrorCode::CompilationFailed))?,
    };
    let file = program
        .to_file()
        .map_err(|_| not_converted(ErrorCode::MalformattedMlirFile))?;
    Ok((file, devices))
}

/// Executes a program of this task. Its results become objects at once, and are answered for once
/// they are available. The task that has started it is named if it proved its name.
pub(crate) fn execute(
    context: &Arc<DistributedContext>,
    request: &RemoteExecuteRequest,
    starter: Option<TaskName>,
    reply: Reply<RemoteExecuteResponse>,
) {
    let _scope = Scope::enter(TracingLevel::Debug, || {
        let own_name = context.cluster().own_name();
        let (program, id) = (&request.program_name, request.execution_id);
        format!("receive {program} {id:016x} at {own_name}")
    });
    match start(context, request, starter) {
        Ok(execution) => execution.answer_when_done(reply),
        Err(errors) => {
            // Requests that use the results learn that there are none; what is set already stays.
            let value = AnyRef::error(errors.to_value(context.host()));
            for output in request
                .output
                .iter()
                .filter_map(|output| output.id.as_ref())
            {
                let _ = context.objects().set(&output.into(), value.clone());
            }
            reply.send(Err(errors));
        }
    }
}

/// Returns the objects that an execution takes, if the request is well formed so far: to tell
/// whether they are there.
pub(crate) fn inputs(
    context: &Arc<DistributedContext>,
    request: &RemoteExecuteRequest,
) -> Vec<AnyRef> {
    let ids = request.input.iter().map(RemoteObjectId::from);
    let known = ids.filter(|id| context.devices().get(id.device()).is_some());
    known.map(|id| context.object(&id)).collect()
}

fn start(
    context: &Arc<DistributedContext>,
    request: &RemoteExecuteRequest,
    starter: Option<TaskName>,
) -> Result<Execution, RemoteErrors> {
    let name = &request.program_name;
    let invalid = |message: String| RemoteError::new(ErrorCode::InvalidArgument, message);
    let program = context
        .programs()
        .get(name)
        .ok_or_else(|| invalid(format!("Can't find program: [{name}]")))?;
    let function = &program.function;
    let (num_results, num_outputs) = (function.num_results(), request.output.len());
    if num_results != num_outputs {
        return Err(invalid(format!(
            "Result size mismatch: fn #result: {num_results} Received #outputs: {num_outputs}"
        ))
        .into());
    }
    let dist_context = DistContext::new(Arc::clone(context)).in_invocation(request.invocation);
    let request_context = RequestContextBuilder::new(Arc::clone(context.host()))
        .resources(Arc::new(ResourceContext::new()))
        .context_data(dist_context.clone())
        .context_data(context.under_way())
        .build();
    let id = match request.execution_id {
        0 => random::non_zero(),
        id => id,
    };
    let executions = context.executions();
    let running = executions.begin_for(id, &request_context, starter);
    let ctx = ExecutionContext::new(request_context);
    let mut arguments = Vec::new();
    if program.wants_context {
        arguments.push(AnyRef::available(dist_context));
    }
    let mut outputs = Vec::with_capacity(num_outputs);
    for output in &request.output {
        let id = output.id.clone().unwrap_or_default();
        let id = RemoteObjectId::from(&id);
        if program.wants_output_ids {
            context.devices().find(id.device())?;
            arguments.push(AnyRef::available(id.clone()));
        }
        outputs.push((id, output.need_metadata));
    }
    let (num_parameters, num_inputs) = (function.num_arguments(), request.input.len());
    if arguments.len() + num_inputs != num_parameters {
        return Err(invalid(format!(
            "Argument size mismatch: fn #arg: {num_parameters} Received #inputs: {num_inputs}"
        ))
        .into());
    }
    for input in &request.input {
        context.devices().find(&input.device)?;
        arguments.push(context.object(&input.into()));
    }
    let results = function.execute(&ctx, &arguments);
    let (results, hook) = execution::ending_with(ctx.request(), results.into_iter().collect());
    for ((id, _), result) in outputs.iter().zip(&results) {
        if let Err(error) = context.objects().set(id, result.clone()) {
            // Nobody is told of the results. One that is its own argument waits for itself: only
            // the cancellation ends it.
            ctx.request().cancel_with(error.clone().into_plain());
            return Err(error.into());
        }
    }
    let types = function.result_types();
    let wanted = outputs.iter().zip(types).zip(&results);
    let wanted = wanted.filter(|(((_, need_metadata), _), _)| *need_metadata);
    let wanted = wanted.map(|((_, ty), result)| (ty.to_owned(), result.clone()));
    let results_by_id = outputs.iter().zip(&results);
    let results_elsewhere = results_by_id.filter(|((id, _), _)| lives_elsewhere(context, id));
    let results_elsewhere = results_elsewhere.map(|((id, _), result)| (id.clone(), result.clone()));
    Ok(Execution {
        context: Arc::clone(context),
        wanted: wanted.collect(),
        results_elsewhere: results_elsewhere.collect(),
        results,
        ctx,
        running: (running, hook),
    })
}

/// Returns `true` for an object that lives on another task of the cluster.
fn lives_elsewhere(context: &DistributedContext, id: &RemoteObjectId) -> bool {
    let device = context.devices().get(id.device());
    device.is_some_and(|device| device.task() != context.cluster().own_task())
}

/// An execution under way.
struct Execution {
    context: Arc<DistributedContext>,
    results: Vec<AnyRef>,
    /// The results whose objects live on other tasks: the program has them made there, unless it
    /// fails.
    results_elsewhere: Vec<(RemoteObjectId, AnyRef)>,
    /// The results that metadata is wanted of, with their types.
    wanted: Vec<(String, AnyRef)>,
    /// Lives as long as the kernels of the program run.
    ctx: ExecutionContext,
    /// Lets the client cancel the execution, until it is answered.
    running: (Running, Option<CancelHook>),
}

impl Execution {
    fn answer_when_done(self, reply: Reply<RemoteExecuteResponse>) {
        let results = self.results;
        let (wanted, ctx, running) = (self.wanted, self.ctx, self.running);
        let (context, elsewhere) = (self.context, self.results_elsewhere);
        run_when_ready(&results, move || {
            // Before the answer: after it, the client may delete the objects.
            let queue = Arc::clone(context.host().queue());
            let when_told = move || {
                when_metadata_is_known(&wanted, move |metadata| {
                    answer(reply, metadata, ctx, running);
                });
            };
            if elsewhere.is_empty() {
                return when_told();
            }
            let told = Gather::new(move |_| queue.add_task(Task::new(when_told)));
            for (id, result) in &elsewhere {
                if let Some(error) = error_of(result) {
                    transfer::fail_object(&context, id, &error, told.clone());
                }
            }
        });
    }
}

/// Answers for an execution that has ended.
fn answer(
    reply: Reply<RemoteExecuteResponse>,
    metadata: Result<ResultMetadata, RemoteErrors>,
    ctx: ExecutionContext,
    running: (Running, Option<CancelHook>),
) {
    let closed = running.0.end();
    let cancelled = ctx.request().cancel_value();
    let cancelled = cancelled.and_then(|value| value.error_if_present());
    let error = cancelled.cloned().or(closed);
    drop(ctx);
    if let Some(error) = error {
        return reply.send(Err(RemoteError::from(&error).into()));
    }
    reply.send(metadata.map(|metadata| RemoteExecuteResponse {
        metadata: metadata.bytes,
        metadata_errors: metadata.errors,
    }));
}

/// Returns the error that a result is, or that the tensor of a handle is.
fn error_of(result: &AnyRef) -> Option<Error> {
    if let Some(error) = result.error_if_present() {
        return Some(error.clone());
    }
    let handle = result.try_read::<TensorHandle>().ok()?;
    let of_tensor = handle.tensor().and_then(AnyRef::error_if_present);
    handle.metadata_error().or(of_tensor).cloned()
}

/// The metadata of results, and why there is none of some.
#[derive(Debug, Default)]
pub(crate) struct ResultMetadata {
    pub(crate) bytes: Vec<Bytes>,
    pub(crate) errors: Vec<OutputError>,
}

/// Calls back with the metadata of available results of these types, once it is known. A result
/// that is an error leaves a gap.
pub(crate) fn when_metadata_is_known(
    results: &[(String, AnyRef)],
    done: impl FnOnce(Result<ResultMetadata, RemoteErrors>) + Send + 'static,
) {
    let pending = results.iter().filter_map(|(_, result)| {
        let handle = result.try_read::<TensorHandle>().ok()?;
        match handle.metadata_part()? {
            MetadataPart::Known(_) => None,
            MetadataPart::Pending(metadata) => Some(metadata.as_any().clone()),
        }
    });
    let pending: Vec<AnyRef> = pending.collect();
    let results = results.to_vec();
    run_when_ready(&pending, move || done(metadata_of(&results)));
}

fn metadata_of(results: &[(String, AnyRef)]) -> Result<ResultMetadata, RemoteErrors> {
    let mut found = ResultMetadata::default();
    for (index, (ty, result)) in (0_u32..).zip(results) {
        let is_tensor = [DenseHostTensor::MLIR_TYPE, TensorHandle::MLIR_TYPE].contains(&&**ty);
        if !is_tensor {
            let message = format!("Invalid type {ty}");
            return Err(RemoteError::new(ErrorCode::InvalidArgument, message).into());
        }
        match metadata(result) {
            Ok(metadata) => found.bytes.push(encode(&metadata)?.into()),
            Err(error) => {
                found.bytes.push(Bytes::new());
                found.errors.push(OutputError {
                    index,
                    code: error.code() as i32,
                    message: error.message().to_owned(),
                });
            }
        }
    }
    Ok(found)
}

fn metadata(result: &AnyRef) -> Result<TensorMetadata, Error> {
    if let Some(error) = result.error_if_present() {
        return Err(error.clone());
    }
    if let Ok(handle) = result.try_read::<TensorHandle>() {
        if let Some(error) = handle.metadata_error() {
            return Err(error.clone());
        }
        let unknown = || Error::new("the metadata of a result is unknown");
        return handle.metadata().ok_or_else(unknown);
    }
    if result.is::<RemoteTensor>() {
        let tensor = result.as_result::<RemoteTensor>()?;
        return Ok(tfrt_tensor::Tensor::metadata(tensor));
    }
    let tensor = TensorRef::read(result).map_err(|error| Error::new(error.to_string()))?;
    Ok(tensor.metadata())
}

/// Metadata as it is sent.
pub(crate) fn encode(metadata: &TensorMetadata) -> Result<Vec<u8>, RemoteError> {
    let shape = Shape::try_from(&metadata.extents)
        .map_err(|error| RemoteError::new(ErrorCode::InvalidArgument, error.to_string()))?;
    Ok(serialize::metadata(metadata.dtype, &shape))
}

/// Metadata that another task sent, as a value and as the tensor that it is of.
pub(crate) fn decode(
    bytes: &[u8],
    id: &RemoteObjectId,
) -> Result<(MetadataValue, RemoteTensor), Error> {
    let (dtype, shape) = serialize::parse_metadata(bytes)?;
    let metadata = MetadataValue(TensorMetadata::new(dtype, &shape));
    Ok((metadata, RemoteTensor::new(dtype, shape, id.clone())))
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;
    use crate::testing::{Cluster, wait};

    #[test]
    fn a_result_that_fails_is_an_error_on_the_task_where_it_would_live() {
        let cluster = Cluster::new("mstd:2", 3);
        let contexts = cluster.contexts();
        let device = |task: usize| format!("/job:worker/task:{task}/device:CPU:0");
        let ids = [1, 2, 2].map(|task| contexts[0].objects().allocate(device(task)));
        let results = [
            AnyRef::error(Error::new("of no interest elsewhere")),
            AnyRef::error(Error::new("the program has failed")),
            AnyRef::available(7_i32),
        ];
        let request = RequestContextBuilder::new(Arc::clone(contexts[1].host()))
            .resources(Arc::new(ResourceContext::new()))
            .build();
        let running = contexts[1].executions().begin(1, &request);
        let elsewhere = ids.iter().cloned().zip(results.iter().cloned());
        let elsewhere = elsewhere.filter(|(id, _)| lives_elsewhere(&contexts[1], id));
        let execution = Execution {
            context: Arc::clone(&contexts[1]),
            results: results.to_vec(),
            wanted: Vec::new(),
            results_elsewhere: elsewhere.collect(),
            ctx: ExecutionContext::new(request),
            running: (running, None),
        };
        let placeholders = ids.clone().map(|id| contexts[2].objects().get(&id));
        let (sender, answers) = channel();
        execution.answer_when_done(Reply::new(move |answer| sender.send(answer).unwrap()));
        // Known there before the answer.
        assert!(wait(&cluster.host, &answers).is_ok());
        let message = |value: &AnyRef| Some(value.error_if_present()?.message().to_owned());
        let messages = placeholders.map(|value| message(&value));
        assert_eq!(
            messages,
            [None, Some("the program has failed".into()), None]
        );
    }
}
