//! A handler that tells of every op what goes in and what comes out.

use std::ffi::OsString;
use std::fmt;
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tfrt_async::{AnyRef, run_when_ready};
use tfrt_host::ExecutionContext;
use tfrt_support::escape::escaped_lines;
use tfrt_support::{DType, Error};
use tfrt_tensor::{DenseHostTensor, StringHostTensor, TensorType};

use super::{OpHandler, OpHandlerRef};
use crate::core_op::{CoreRuntimeOp, OpInvocation, RunOp};
use crate::device_op::op_span;
use crate::handle::{HandlePromise, TensorHandle};
use crate::runtime::CoreRuntime;

/// The prefix of the file that the log goes to, instead of standard error.
const METADATA_PREFIX: &str = "LOGGING_DEV_METADATA_DUMP_PREFIX";

/// The prefix of the files that tensors are written to.
const TENSOR_PREFIX: &str = "LOGGING_DEV_TENSOR_DUMP_PREFIX";

/// Whether the log has the results of ops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogResults {
    /// Arguments only.
    No,
    /// Results, too: a call waits for them.
    Yes,
}

/// Logs the ops of another handler.
///
/// An op is logged by the thread that calls it, which waits for the tensors. In a task of the
/// single-threaded queue, other tasks run meanwhile. A thread of another queue must not wait: there
/// the op runs when its arguments are available and logged, and its results become available when
/// they are logged. So the log always shows tensors, and an op after those that its arguments come
/// from. Ops that are independent of each other are logged in the order in which their arguments
/// become available; their numbers are in the order of the calls.
///
/// ```
/// use tfrt_core::{LogResults, LoggingOpHandler, NullOpHandler, OpHandler, OpHandlerRef};
///
/// let logging = LoggingOpHandler::new(OpHandlerRef::new(NullOpHandler), LogResults::Yes)?;
/// assert_eq!(logging.name(), "sync_logging");
/// # Ok::<(), tfrt_support::Error>(())
/// ```
pub struct LoggingOpHandler {
    fallback: OpHandlerRef,
    log: Arc<Log>,
}

impl LoggingOpHandler {
    /// Creates a handler that logs the ops of `fallback`: to standard error, or to the file that
    /// the environment names.
    ///
    /// # Errors
    /// If that file cannot be opened.
    pub fn new(fallback: OpHandlerRef, results: LogResults) -> Result<Self, Error> {
        let metadata_prefix = std::env::var_os(METADATA_PREFIX);
        let tensor_prefix = std::env::var_os(TENSOR_PREFIX);
        Self::with_prefixes(fallback, results, metadata_prefix, tensor_prefix)
    }

    /// Creates a handler that logs to files whose names begin like this. A prefix need not be text.
    fn with_prefixes(
        fallback: OpHandlerRef,
        results: LogResults,
        metadata_prefix: Option<OsString>,
        tensor_prefix: Option<OsString>,
    ) -> Result<Self, Error> {
        let out: Box<dyn Write + Send> = match metadata_prefix {
            None => Box::new(io::stderr()),
            Some(mut path) => {
                path.push("metadata.log");
                let opened = std::fs::File::create(&path);
                let failed = |_| Error::new(format!("error opening file {}", path.display()));
                Box::new(opened.map_err(failed)?)
            }
        };
        let log = Log {
            out: Mutex::new(out),
            next_id: AtomicU64::new(0),
            results,
            tensor_prefix,
        };
        Ok(Self {
            fallback,
            log: Arc::new(log),
        })
    }
}

impl fmt::Debug for LoggingOpHandler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("LoggingOpHandler");
        shown
            .field("fallback", &self.fallback)
            .finish_non_exhaustive()
    }
}

impl OpHandler for LoggingOpHandler {
    fn name(&self) -> &str {
        self.log.handler_name()
    }

    fn make_op(&self, op_name: &str) -> Result<CoreRuntimeOp, Error> {
        Ok(CoreRuntimeOp::new(LoggedOp {
            op: self.fallback.make_op(op_name)?,
            name: op_name.to_owned(),
            log: Arc::clone(&self.log),
        }))
    }
}

/// An op, and the log that tells of it.
struct LoggedOp {
    op: CoreRuntimeOp,
    name: String,
    log: Arc<Log>,
}

impl fmt::Debug for LoggedOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LoggedOp({})", self.name)
    }
}

impl RunOp for LoggedOp {
    fn run(&self, invocation: &mut OpInvocation<'_>) {
        // The only span of the call: it is named after the handler that the caller asked for the
        // op.
        let _span = op_span(&self.name, self.log.handler_name());
        self.log.run(&self.op, &self.name, invocation);
    }
}

struct Log {
    out: Mutex<Box<dyn Write + Send>>,
    /// How many ops were logged.
    next_id: AtomicU64,
    results: LogResults,
    tensor_prefix: Option<OsString>,
}

/// What a tensor of an op is to it.
#[derive(Clone, Copy)]
enum Side {
    Input,
    Output,
}

impl Side {
    const fn name(self) -> &'static str {
        match self {
            Self::Input => "Input",
            Self::Output => "Output",
        }
    }
}

impl Log {
    fn handler_name(&self) -> &'static str {
        match self.results {
            LogResults::No => "logging",
            LogResults::Yes => "sync_logging",
        }
    }

    fn run(self: &Arc<Self>, op: &CoreRuntimeOp, name: &str, invocation: &mut OpInvocation<'_>) {
        // Relaxed: a number.
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let s = |count| if count == 1 { "" } else { "s" };
        let (arguments, results) = (invocation.arguments.len(), invocation.results.len());
        let mut text = format!(
            "[{id}] dispatch '{name}' {arguments} argument{}, {results} result{}, ",
            s(arguments),
            s(results),
            name = escaped_lines(name),
        )
        .into_bytes();
        if invocation.attrs.is_empty() {
            text.extend(b"no attributes\n");
        } else {
            text.extend(invocation.attrs.to_bytes());
        }
        let call = LoggedCall {
            log: Arc::clone(self),
            id,
            name: name.to_owned(),
        };
        let ctx = invocation.ctx;
        match shown_at_once(invocation.arguments, ctx) {
            Some(shown) => {
                call.write(text, Side::Input, &shown);
                drop(shown);
                op.run_without_span(invocation);
                call.log_results(ctx, invocation.results);
            }
            None => call.run_later(op, text, invocation),
        }
    }

    /// Writes to the log. Errors are ignored, because they cannot be reported.
    fn write(&self, text: &[u8]) {
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = out.write_all(text).and_then(|()| out.flush());
    }
}

/// One call of a logged op.
#[derive(Clone)]
struct LoggedCall {
    log: Arc<Log>,
    id: u64,
    name: String,
}

impl LoggedCall {
    /// Runs the op when its arguments can be logged.
    fn run_later(self, op: &CoreRuntimeOp, text: Vec<u8>, invocation: &mut OpInvocation<'_>) {
        let arguments = invocation.arguments.iter_mut().map(std::mem::take);
        let mut arguments: Vec<TensorHandle> = arguments.collect();
        let mut promises = Vec::new();
        for result in &mut *invocation.results {
            let (promise, pending) = HandlePromise::new();
            promises.push(promise);
            *result = pending;
        }
        let (mut chain, mut chain_promise) = (None, None);
        if let Some(slot) = &mut invocation.chain {
            let (promise, pending) = AnyRef::indirect();
            chain = Some(std::mem::replace(&mut **slot, pending));
            chain_promise = Some(promise);
        }
        let (op, ctx) = (op.clone(), invocation.ctx.clone());
        let attrs = invocation.attrs.to_frozen();
        shown_later(arguments.clone(), invocation.ctx, move |shown| {
            self.write(text, Side::Input, &shown);
            drop(shown);
            let mut results = vec![TensorHandle::INVALID; promises.len()];
            op.run(&mut OpInvocation {
                ctx: &ctx,
                arguments: &mut arguments,
                attrs: &attrs,
                results: &mut results,
                chain: chain.as_mut(),
            });
            self.log_results(&ctx, &mut results);
            for (promise, result) in promises.into_iter().zip(&results) {
                promise.forward_to(result);
            }
            if let (Some(promise), Some(chain)) = (chain_promise, chain) {
                promise.forward_to(chain);
            }
        });
    }

    /// Logs results, if the log has them: at once, or else the results become available after that.
    fn log_results(self, ctx: &ExecutionContext, results: &mut [TensorHandle]) {
        if self.log.results == LogResults::No || results.is_empty() {
            return;
        }
        if let Some(shown) = shown_at_once(results, ctx) {
            return self.write(Vec::new(), Side::Output, &shown);
        }
        let unlogged = results.to_vec();
        let mut promises = Vec::new();
        for result in results {
            let (promise, pending) = HandlePromise::new();
            promises.push(promise);
            *result = pending;
        }
        shown_later(unlogged.clone(), ctx, move |shown| {
            self.write(Vec::new(), Side::Output, &shown);
            drop(shown);
            for (promise, result) in promises.into_iter().zip(unlogged) {
                promise.forward_to(&result);
            }
        });
    }

    /// Writes the block of lines with the tensors of one side, and an empty line, after `text`.
    fn write(&self, mut text: Vec<u8>, side: Side, handles: &[TensorHandle]) {
        let Self { log, id, name } = self;
        let side_name = side.name();
        text.extend(format!("{side_name}s for [{id}]: '{}':\n", escaped_lines(name)).bytes());
        for (index, shown) in handles.iter().enumerate() {
            text.extend(format!("  {side_name} for [{id}] tensor {index}: ").bytes());
            text.extend(shown.to_bytes());
            text.push(b'\n');
            if let Some(prefix) = &log.tensor_prefix {
                let side = side_name.to_lowercase();
                // An op may be called anything; a file may not.
                let op = name.replace(['/', '\\'], "_");
                let mut path = prefix.clone();
                path.push(format!("op_{id}_{op}_{side}_{index}"));
                if let Err(error) = dump(shown, Path::new(&path)) {
                    let path = path.display();
                    text.extend(format!("  cannot write {path}: {error}\n").bytes());
                }
            }
        }
        text.push(b'\n');
        log.write(&text);
    }
}

/// Returns handles of the tensors in host memory, which are waited for; `None` if this thread must
/// not wait for them.
fn shown_at_once(handles: &[TensorHandle], ctx: &ExecutionContext) -> Option<Vec<TensorHandle>> {
    let wait = |handles: &[TensorHandle]| ctx.host().await_helping(&tensors_of(handles)).ok();
    wait(handles)?;
    let shown: Vec<TensorHandle> = handles.iter().map(|handle| on_host(handle, ctx)).collect();
    wait(&shown)?;
    Some(shown)
}

/// Continues with handles of the tensors in host memory when they are available.
fn shown_later(
    handles: Vec<TensorHandle>,
    ctx: &ExecutionContext,
    f: impl FnOnce(Vec<TensorHandle>) + Send + 'static,
) {
    let ctx = ctx.clone();
    run_when_ready(&tensors_of(&handles), move || {
        let shown: Vec<TensorHandle> = handles.iter().map(|handle| on_host(handle, &ctx)).collect();
        drop(handles);
        run_when_ready(&tensors_of(&shown), move || f(shown));
    });
}

fn tensors_of(handles: &[TensorHandle]) -> Vec<AnyRef> {
    handles
        .iter()
        .filter_map(|handle| handle.tensor().cloned())
        .collect()
}

/// Returns a handle of an available tensor in host memory, where the tensor may arrive later.
fn on_host(handle: &TensorHandle, ctx: &ExecutionContext) -> TensorHandle {
    let Some(metadata) = handle.metadata() else {
        return handle.clone();
    };
    let tensor_type = match metadata.dtype {
        DType::String => TensorType::STRING_HOST,
        _ => TensorType::DENSE_HOST,
    };
    let runtime = CoreRuntime::of(ctx.host());
    handle.transfer_to(ctx, runtime.host_device(), tensor_type)
}

/// Writes the elements of a tensor to a file, with commas between them.
fn dump(handle: &TensorHandle, path: &Path) -> io::Result<()> {
    let Some(tensor) = handle.tensor() else {
        return Ok(());
    };
    let mut text = Vec::new();
    if let Ok(dense) = tensor.try_read::<DenseHostTensor>() {
        text.extend(dense.elements_text().map_err(io::Error::other)?.bytes());
    } else if let Ok(strings) = tensor.try_read::<StringHostTensor>() {
        for (index, string) in strings.strings().iter().enumerate() {
            if index != 0 {
                text.extend(b", ");
            }
            text.push(b'"');
            text.extend(string);
            text.push(b'"');
        }
    } else {
        return Err(io::Error::other(
            "only dense tensors and string tensors can be written",
        ));
    }
    std::fs::write(path, text)
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::ffi::OsStringExt;

    use super::*;
    use crate::handler::NullOpHandler;

    #[test]
    fn prefix_need_not_be_text() {
        let directory = std::env::temp_dir().join(format!("tfrt-logging-{}", std::process::id()));
        std::fs::create_dir_all(&directory).expect("there is room");
        let mut prefix = directory.clone().into_os_string();
        prefix.push(OsString::from_vec(b"/\xFF".to_vec()));
        let fallback = OpHandlerRef::new(NullOpHandler);
        let handler =
            LoggingOpHandler::with_prefixes(fallback, LogResults::No, Some(prefix.clone()), None);
        let handler = handler.expect("the file can be opened");
        handler.log.write(b"hello");
        prefix.push("metadata.log");
        let found = std::fs::read(prefix).expect("the file exists");
        assert_eq!(found, b"hello");
        std::fs::remove_dir_all(directory).expect("it exists");
    }
}
