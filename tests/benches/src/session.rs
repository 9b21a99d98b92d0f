//! A program, ready to run.

use std::sync::Arc;

use tfrt::executor::Program as LoadedProgram;
use tfrt::host::{FunctionKind, FunctionRef, RequestContextBuilder};
use tfrt::prelude::*;

use crate::programs::Program;

tfrt::link!(tfrt_kernels);

/// A program on a host of its own.
#[derive(Debug)]
pub struct Session {
    host: Arc<HostContext>,
    main: FunctionRef,
}

impl Session {
    /// Loads `program`, whose `main` makes so many runs, on a work queue of this name.
    ///
    /// # Errors
    /// If the program or the name of the queue is unsound.
    pub fn new(program: &Program, num_runs: usize, queue: &str) -> Result<Self> {
        let kernels =
            Arc::new(KernelRegistry::from_link().map_err(|error| Error::new(error.to_string()))?);
        let text = program.text(num_runs);
        let file = tfrt::text::compile(&text, &program.to_string(), &kernels)
            .map_err(|found| Error::new(format!("{found:?}")))?;
        let queue =
            tfrt::queue::create_queue(queue).map_err(|error| Error::new(error.to_string()))?;
        let host = HostContext::builder()
            .registry(kernels)
            .queue(queue)
            .build();
        let main = LoadedProgram::load(&host, &file)?.function("main");
        let main = main.ok_or_else(|| Error::new("the program has no `main`"))?;
        Ok(Self { host, main })
    }

    /// Runs `main` to its end.
    ///
    /// # Errors
    /// If a kernel fails.
    pub fn run(&self) -> Result<()> {
        let request = RequestContextBuilder::new(Arc::clone(&self.host)).build();
        let ctx = ExecutionContext::new(request);
        match self.main.kind() {
            FunctionKind::Sync => self.main.execute_sync(&ctx, &mut [], &mut []),
            _ => {
                let results = self.main.execute(&ctx, &[]);
                self.host
                    .quiesce()
                    .map_err(|error| Error::new(error.to_string()))?;
                match results.iter().find_map(AnyRef::error_if_present) {
                    Some(error) => Err(error.clone()),
                    None => Ok(()),
                }
            }
        }
    }
}
