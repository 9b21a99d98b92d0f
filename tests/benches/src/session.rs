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
        Self::load(program, &program.text(num_runs), queue)
    }

    /// Loads `program` as a function that makes one run, for [requests](Self::request).
    ///
    /// # Errors
    /// If the program or the name of the queue is unsound, or the program is not a graph.
    pub fn of_requests(program: &Program, queue: &str) -> Result<Self> {
        let text = program
            .request_text()
            .ok_or_else(|| Error::new(format!("{program} is no graph")))?;
        Self::load(program, &text, queue)
    }

    fn load(program: &Program, text: &str, queue: &str) -> Result<Self> {
        let kernels =
            Arc::new(KernelRegistry::from_link().map_err(|error| Error::new(error.to_string()))?);
        let file = tfrt::text::compile(text, &program.to_string(), &kernels)
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
            FunctionKind::Sync => self.main.execute_sync(&ctx, &[], &mut []),
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

    /// Has a task of the queue start the function, in a request of its own, and calls `on_done`
    /// with what became of it.
    pub fn request(&self, on_done: impl FnOnce(Result<()>) + Send + 'static) {
        let request = RequestContextBuilder::new(Arc::clone(&self.host)).build();
        let (ctx, main) = (ExecutionContext::new(request), self.main.clone());
        let queue = Arc::clone(self.host.queue());
        tfrt::queue::enqueue_work(&*queue, move || {
            let [result] = &main.execute(&ctx, &[])[..] else {
                return on_done(Err(Error::new("a request has one result")));
            };
            result.and_then(|result| {
                on_done(match result.error_if_present() {
                    Some(error) => Err(error.clone()),
                    None => Ok(()),
                });
            });
        });
    }

    /// Waits until nothing is left to do.
    pub fn wait(&self) {
        // This is not a thread of the queue.
        let _ = self.host.quiesce();
    }
}
