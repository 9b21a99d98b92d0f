//! A handler that tells of every op what goes in and what comes out.

use std::ffi::OsString;
use std::fmt;
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tfrt_host::ExecutionContext;
use tfrt_support::escape::escaped_lines;
use tfrt_support::{DType, Error};
use tfrt_tensor::{DenseHostTensor, StringHostTensor, TensorType};

use super::{OpHandler, OpHandlerRef};
use crate::core_op::{CoreRuntimeOp, OpInvocation, RunOp};
use crate::device_op::op_span;
use crate::handle::TensorHandle;
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
/// single-threaded queue, other tasks run meanwhile; a thread of another queue must not wait, so
/// its log shows that tensors are pending.
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

    fn run(&self, op: &CoreRuntimeOp, name: &str, invocation: &mut OpInvocation<'_>) {
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
        self.tensors(
            id,
            name,
            Side::Input,
            invocation.arguments,
            invocation.ctx,
            &mut text,
        );
        self.write(&text);
        op.run_without_span(invocation);
        if self.results == LogResults::Yes && !invocation.results.is_empty() {
            let mut text = Vec::new();
            self.tensors(
                id,
                name,
                Side::Output,
                invocation.results,
                invocation.ctx,
                &mut text,
            );
            self.write(&text);
        }
    }

    /// Writes to the log. Errors are ignored, because they cannot be reported.
    fn write(&self, text: &[u8]) {
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = out.write_all(text).and_then(|()| out.flush());
    }

    /// Writes the block of lines with the tensors of one side, and an empty line.
    fn tensors(
        &self,
        id: u64,
        op: &str,
        side: Side,
        handles: &[TensorHandle],
        ctx: &ExecutionContext,
        text: &mut Vec<u8>,
    ) {
        let side_name = side.name();
        text.extend(format!("{side_name}s for [{id}]: '{}':\n", escaped_lines(op)).bytes());
        for (index, handle) in handles.iter().enumerate() {
            let shown = on_host(handle, ctx);
            text.extend(format!("  {side_name} for [{id}] tensor {index}: ").bytes());
            text.extend(shown.to_bytes());
            text.push(b'\n');
            if let Some(prefix) = &self.tensor_prefix {
                let side = side_name.to_lowercase();
                // An op may be called anything; a file may not.
                let op = op.replace(['/', '\\'], "_");
                let mut path = prefix.clone();
                path.push(format!("op_{id}_{op}_{side}_{index}"));
                if let Err(error) = dump(&shown, Path::new(&path)) {
                    let path = path.display();
                    text.extend(format!("  cannot write {path}: {error}\n").bytes());
                }
            }
        }
        text.push(b'\n');
    }
}

/// Returns the handle as one of a tensor in host memory, which is waited for.
fn on_host(handle: &TensorHandle, ctx: &ExecutionContext) -> TensorHandle {
    let host = ctx.host();
    let wait = |handle: &TensorHandle| {
        if let Some(tensor) = handle.tensor() {
            // Where waiting is not possible, the text says that the tensor is pending.
            let _ = host.await_helping(std::slice::from_ref(tensor));
        }
    };
    wait(handle);
    let Some(metadata) = handle.metadata() else {
        return handle.clone();
    };
    let tensor_type = match metadata.dtype {
        DType::String => TensorType::STRING_HOST,
        _ => TensorType::DENSE_HOST,
    };
    let runtime = CoreRuntime::of(host);
    let shown = handle.transfer_to(ctx, runtime.host_device(), tensor_type);
    wait(&shown);
    shown
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
