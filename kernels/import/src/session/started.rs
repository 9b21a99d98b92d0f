//! Runs that are waited for later, by a thread or a task.

use std::fmt;
use std::future::{Future, IntoFuture};
use std::pin::Pin;

use tfrt_core::TensorHandle;
use tfrt_support::Error;

use super::{ModelValue, Run, Session};

/// A run of a session that was started. Await it, or [wait](Self::wait) for it in a thread. Its
/// outputs come in the order of [`Session::outputs`].
///
/// It may be awaited on any executor. Kernels run on the threads of the host's work queue; the
/// queue `s` has none, so that there the run is over when it has been started, unless a kernel
/// leaves work for a thread that waits: call `wait` then.
///
/// ```no_run
/// # use tfrt_import::{ModelValue, Session};
/// # async fn example(session: &Session, x: ModelValue) -> Result<(), tfrt_support::Error> {
/// let first = session.start(&[("x", x.clone())])?;
/// let second = session.start(&[("x", x)])?;
/// let (first, second) = (first.await?, second.await?);
/// # Ok(())
/// # }
/// ```
#[must_use = "the outputs of the run are lost"]
pub struct StartedRun<'s> {
    session: &'s Session,
    results: Vec<TensorHandle>,
    /// Until the outputs are available.
    _active: Run<'s>,
}

impl fmt::Debug for StartedRun<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StartedRun")
            .field("num_outputs", &self.results.len())
            .finish_non_exhaustive()
    }
}

impl Session {
    /// Starts a run with inputs of every kind, by name, without waiting for its outputs.
    ///
    /// # Errors
    /// Missing or unknown inputs; inputs of other types than declared. Failures while the program
    /// runs are those of the result.
    pub fn start(&self, inputs: &[(&str, ModelValue)]) -> Result<StartedRun<'_>, Error> {
        self.check_names(inputs)?;
        self.check_types(inputs)?;
        self.start_checked(inputs, &self.handles(inputs))
    }

    /// Starts a run with inputs that were checked, and their handles.
    pub(super) fn start_checked(
        &self,
        inputs: &[(&str, ModelValue)],
        handles: &[TensorHandle],
    ) -> Result<StartedRun<'_>, Error> {
        // Not before: a refused request takes no place among the kinds of runs.
        let active = Run::new(self, inputs);
        let arguments: Vec<&TensorHandle> = handles.iter().chain(&self.weights).collect();
        Ok(StartedRun {
            session: self,
            results: self.function.call_all(&arguments)?,
            _active: active,
        })
    }
}

impl<'s> StartedRun<'s> {
    /// Blocks the calling thread until the outputs are available, and returns them.
    ///
    /// # Errors
    /// Failures while the program runs; outputs of other types than declared.
    pub fn wait(self) -> Result<Vec<ModelValue>, Error> {
        let outputs = self
            .results
            .iter()
            .map(|result| self.session.output(result));
        let outputs: Vec<ModelValue> = outputs.collect::<Result<_, _>>()?;
        self.session.check_outputs(&outputs)?;
        Ok(outputs)
    }
}

impl<'s> IntoFuture for StartedRun<'s> {
    type Output = Result<Vec<ModelValue>, Error>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send + 's>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            for result in &self.results {
                if let Some(tensor) = result.tensor() {
                    tensor.clone().await?;
                }
            }
            // All results are there.
            self.wait()
        })
    }
}
