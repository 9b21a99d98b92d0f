//! A host for the functions of a program, whose errors are compared with those that the text of the
//! program expects.

use std::io::Stderr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use anstream::AutoStream;
use tfrt_bef::BefFile;
use tfrt_executor::Program;
use tfrt_host::{FunctionRef, HostContext};
use tfrt_support::Error;

use crate::arguments::DiagnosticArguments;
use crate::diagnostics::Reporter;
use crate::failure::Failure;
use crate::front_end::FrontEnd;
use crate::input::Kind;

use super::{ProgramFile, create_queue, load, runtime_diagnostic};

/// A host, and the errors that were reported there.
pub(crate) struct ProgramHost {
    pub(crate) host: Arc<HostContext>,
    kind: Kind,
    bef: Vec<u8>,
    errors: Arc<Errors>,
}

struct Errors {
    reporter: Mutex<Reporter<AutoStream<Stderr>>>,
    is_any: AtomicBool,
}

impl Errors {
    fn report(&self, error: &Error) {
        // Relaxed: it is read when the host is at rest.
        self.is_any.store(true, Ordering::Relaxed);
        let mut reporter = self.reporter.lock().unwrap_or_else(PoisonError::into_inner);
        reporter.report(&runtime_diagnostic(error));
    }
}

impl ProgramHost {
    /// Creates a host with a work queue. `program` is the name that complaints start with.
    pub(crate) fn new(
        program: &str,
        front_end: &FrontEnd,
        file: ProgramFile,
        work_queue_type: &str,
        diagnostics: DiagnosticArguments,
    ) -> Result<Self, Failure> {
        let queue = create_queue(program, work_queue_type)?;
        let errors = Arc::new(Errors {
            reporter: Mutex::new(diagnostics.verifying_lazily(file.sources)),
            is_any: AtomicBool::new(false),
        });
        let reported = Arc::clone(&errors);
        let host = HostContext::builder()
            .registry(Arc::clone(front_end.kernels()))
            .queue(queue)
            .diagnostic_handler(move |error: &Error| reported.report(error))
            .build();
        Ok(Self {
            host,
            kind: file.kind,
            bef: file.bef,
            errors,
        })
    }

    /// Loads the program, or reports why it is rejected.
    pub(crate) fn load(&self) -> Option<Arc<Program>> {
        let loaded = load(&self.host, self.kind, &BefFile::from_bytes(&self.bef));
        loaded.inspect_err(|error| self.errors.report(error)).ok()
    }

    /// Returns whether an error was reported, which is set when that happens.
    pub(crate) fn has_error(&self) -> &AtomicBool {
        &self.errors.is_any
    }

    /// Returns `true` if the errors so far were those that the text expects.
    pub(crate) fn is_well(&self) -> bool {
        let reporter = self.errors.reporter.lock();
        reporter.unwrap_or_else(PoisonError::into_inner).finish()
    }
}

/// Returns the functions that can be called without arguments, and the other ones.
pub(crate) fn functions_by_arguments(
    loaded: &Arc<Program>,
) -> (Vec<FunctionRef>, Vec<FunctionRef>) {
    // Those without a name are regions of the others.
    let named = loaded
        .functions()
        .filter(|function| !function.name().is_empty());
    named.partition(|function| function.num_arguments() == 0)
}
