//! Calls of a function for every element of an iterator, with its previous results.
//!
//! ```text
//!   draw ──► known? ──► all values there? ──► call the function ──► cancelled, or an error by now? ── no ──► draw
//!             │ no          │ no                     │                          │ yes
//!             ▼             ▼                        │ end, failed draw         ▼
//!      go on when they are available                 └───────────────────► the results
//! ```
//!
//! The next element is drawn without waiting for the results of the function, so calls overlap as
//! far as the values that they pass on allow. Available elements are processed in a loop: the stack
//! does not grow with the number of elements.
//!
//! The elements of one run of the loop are dropped at its end, the last one first, as in the
//! reference, which nests. This order is observable for payloads whose drop has an effect; others
//! are dropped immediately. At most `MAX_KEPT` are kept, so that memory stays bounded.

use tfrt::async_value::run_when_ready;
use tfrt::data::{
    DataIterator, Dataset, ElementFunction, IterationResult, Outcome, Values, are_available,
};
use tfrt::prelude::*;
use tfrt_tensor::HostBuffer;

use super::op_verifiers::{verify_enumerate, verify_reduce};
use crate::control_flow::{Carried, Pending};

/// Calls a function for every element, with the components of the element and the results of the
/// previous call; the first call takes the arguments instead. The results are those of the last
/// call, or the arguments if the iterator returns no element.
///
/// # Errors
/// Errors of draws and of the function, at the latest at the end; the cancellation of the request.
#[tfrt_kernel(
    "tfrt_data.enumerate.iterator",
    raw,
    effect = "io",
    chain = none,
    printed_generically,
    operands(iterator: DataIterator, arguments: variadic any),
    symbols(function),
    results(results: variadic any),
    format = "operands attr-dict `:` type-list($arguments, $results)",
    verify = verify_enumerate
)]
fn enumerate(frame: &mut KernelFrame<'_>) -> Result<()> {
    let iterator = frame.argument(0).clone();
    call_for_each(frame, iterator, Arguments::ElementFirst)
}

/// Calls a function for every element of a dataset, from the start: with the state and the
/// components. It returns the next state. The results are the last state.
///
/// # Errors
/// Those of draws and of the function, noticed at the latest at the end; the cancellation of the
/// request.
#[tfrt_kernel(
    "tfrt_data.reduce",
    raw,
    effect = "io",
    chain = none,
    operands(dataset: Dataset, state: variadic any),
    symbols(function),
    results(results: variadic any),
    format = "operands attr-dict `:` type-list($state, $results)",
    verify = verify_reduce
)]
fn reduce(frame: &mut KernelFrame<'_>) -> Result<()> {
    let dataset = frame.argument(0).get::<Dataset>();
    let Some(iterator) = dataset.map(Dataset::iterator) else {
        let found = frame.argument(0).mlir_type().unwrap_or("none");
        let message = format!("expected a dataset to reduce, found `{found}`");
        return Err(Error::new(message).with_code(ErrorCode::InvalidArgument));
    };
    call_for_each(frame, AnyRef::available(iterator), Arguments::StateFirst)
}

/// What the function takes first.
#[derive(Clone, Copy, Debug)]
enum Arguments {
    ElementFirst,
    StateFirst,
}

impl Arguments {
    /// Returns the name that errors call the loop.
    fn stage(self) -> &'static str {
        match self {
            Self::ElementFirst => "enumerate.iterator",
            Self::StateFirst => "reduce",
        }
    }
}

fn call_for_each(
    frame: &mut KernelFrame<'_>,
    iterator: AnyRef,
    arguments: Arguments,
) -> Result<()> {
    let body = frame.function(0)?;
    let carried = frame.arguments()[1..].to_vec();
    if body.num_results() != carried.len() || frame.num_results() != carried.len() {
        let message = format!(
            "expected a function with as many results as its {} arguments, found {} results",
            carried.len(),
            body.num_results()
        );
        return Err(Error::new(message).with_code(ErrorCode::InvalidArgument));
    }
    if let Ok(iterator) = iterator.try_read::<DataIterator>() {
        let (stage, taken) = (
            arguments.stage(),
            ElementFunction::from(body.clone()).parameter_types(),
        );
        let num_components = body.num_arguments().saturating_sub(carried.len());
        let expected = match arguments {
            Arguments::ElementFirst => taken.first(num_components),
            Arguments::StateFirst => taken.behind(carried.len()),
        };
        expected.expect_from(stage, iterator.dataset())?;
    }
    let (results, values) = Pending::new(frame.num_results());
    for (slot, value) in frame.results().iter_mut().zip(values) {
        *slot = Some(value);
    }
    let work = Enumeration {
        ctx: frame.exec_ctx().clone(),
        iterator,
        arguments,
        body,
        carried: Carried::new(&carried),
        results,
        kept: Vec::new(),
    };
    work.run(0);
    Ok(())
}

/// The number of elements that are kept until a run of the loop ends.
const MAX_KEPT: usize = 32;

/// After how many waits the loop continues as a task of the work queue, with an empty stack: a
/// waiter that is registered just as the value arrives runs at once, on top of the loop that
/// registered it.
const WAITS_PER_TASK: u32 = 100;

/// A loop under way.
struct Enumeration {
    ctx: ExecutionContext,
    iterator: AnyRef,
    arguments: Arguments,
    body: FunctionRef,
    carried: Carried,
    results: Pending,
    /// Elements of this run of the loop whose drop can be seen.
    kept: Vec<Values>,
}

impl Enumeration {
    fn run(mut self, num_waits: u32) {
        loop {
            let result = match DataIterator::draw_from(&self.iterator, &self.ctx) {
                Ok(result) => result,
                Err(error) => {
                    let error = self.ctx.emit_error(error);
                    return self.fail(&AnyRef::error(error));
                }
            };
            match result.into_outcome() {
                Ok(Outcome::Element(values)) if are_available(&values) => match self.call(values) {
                    Some(goes_on) => self = goes_on,
                    None => return,
                },
                Ok(Outcome::Element(values)) => {
                    self.release_kept();
                    let awaited = values.clone();
                    return run_when_ready(&awaited, move || self.go_on(values, num_waits));
                }
                Ok(outcome) => return self.finish(outcome),
                Err(pending) => {
                    self.release_kept();
                    return IterationResult::Pending(pending).and_then(
                        move |outcome| match outcome {
                            Outcome::Element(values) => {
                                let awaited = values.clone();
                                run_when_ready(&awaited, move || self.go_on(values, num_waits));
                            }
                            outcome => self.finish(outcome),
                        },
                    );
                }
            }
        }
    }

    /// Continues with an element that had to be waited for.
    fn go_on(self, values: Values, num_waits: u32) {
        if num_waits < WAITS_PER_TASK {
            if let Some(work) = self.call(values) {
                work.run(num_waits + 1);
            }
            return;
        }
        let ctx = self.ctx.clone();
        ctx.enqueue(move || {
            if let Some(work) = self.call(values) {
                work.run(0);
            }
        });
    }

    /// Calls the function for an element. Returns `None` if the loop has ended.
    fn call(mut self, values: Values) -> Option<Self> {
        let (carried, body) = (&mut self.carried, &self.body);
        match self.arguments {
            Arguments::ElementFirst => carried.advance_with(body, &values, &self.ctx),
            Arguments::StateFirst => carried.advance_in_front_of(body, &values, &self.ctx),
        }
        self.keep(values);
        if let Some(cancelled) = self.ctx.request().cancel_value() {
            let cancelled = cancelled.clone();
            self.fail(&cancelled);
            return None;
        }
        if let Some(failed) = self.carried.values.iter().find(|value| value.is_error()) {
            let failed = failed.clone();
            self.fail(&failed);
            return None;
        }
        Some(self)
    }

    /// Ends the loop with the end or a failed draw.
    fn finish(mut self, outcome: Outcome) {
        match outcome {
            Outcome::Error(error) => self.fail(&error),
            Outcome::End(values) | Outcome::Element(values) => {
                drop(values);
                self.release_kept();
                drop(self.iterator);
                self.results.forward_to(self.carried.values);
            }
        }
    }

    fn fail(mut self, error: &AnyRef) {
        self.release_kept();
        drop(self.iterator);
        drop(self.carried);
        self.results.forward_all_to(error);
    }

    fn keep(&mut self, values: Values) {
        if values.iter().all(is_dropped_quietly) {
            return;
        }
        if self.kept.len() == MAX_KEPT {
            self.release_kept();
        }
        self.kept.push(values);
    }

    fn release_kept(&mut self) {
        while self.kept.pop().is_some() {}
    }
}

/// Returns `true` if no one can see when the value is dropped.
fn is_dropped_quietly(value: &AnyRef) -> bool {
    value.type_id().copied_layout().is_some()
        || value.is::<DenseHostTensor>()
        || value.is::<ByteString>()
        || value.is::<HostBuffer>()
        || value.is_error()
}
