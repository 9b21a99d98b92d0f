//! Creation of iterators, and single draws.

use tfrt::data::{DataIterator, Dataset, END_MESSAGE, Outcome, Values};
use tfrt::prelude::*;

use super::op_verifiers::verify_get_next;
use crate::control_flow::Pending;

/// Creates an iterator at the start of a dataset.
#[tfrt_kernel(
    "tfrt_data.make_iterator",
    chain = none,
    results(iterator),
    format = "operands attr-dict"
)]
fn make_iterator(dataset: &Dataset) -> DataIterator {
    dataset.iterator()
}

/// Returns the components of the next element. They may become available later; the chain is ready
/// immediately.
///
/// # Errors
/// `iterator reached end`; the error of the draw; if the number of results differs from that of the
/// components.
#[tfrt_kernel(
    "tfrt_data.iterator_get_next",
    raw,
    effect = "io",
    chain = none,
    printed_generically,
    operands(iterator: DataIterator, in_chain: Chain),
    results(out_chain: Chain, values: variadic any),
    format = "operands attr-dict `:` type($values)",
    verify = verify_get_next
)]
fn iterator_get_next(frame: &mut KernelFrame<'_>) -> Result<()> {
    let ctx = frame.exec_ctx();
    let result = DataIterator::draw_from(frame.argument(0), ctx)?;
    frame.set_result(0, AnyRef::ready_chain());
    let num_values = frame.num_results() - 1;
    match result.into_outcome() {
        Ok(Outcome::Element(values)) => {
            check_count(&values, num_values)?;
            for (slot, value) in frame.results()[1..].iter_mut().zip(values) {
                *slot = Some(value);
            }
        }
        Ok(Outcome::End(_)) => return Err(Error::new(END_MESSAGE)),
        Ok(Outcome::Error(error)) => frame.results()[1..].fill(Some(error)),
        Err(pending) => {
            let (promises, values) = Pending::new(num_values);
            for (slot, value) in frame.results()[1..].iter_mut().zip(values) {
                *slot = Some(value);
            }
            let ctx = ctx.clone();
            let result = tfrt::data::IterationResult::Pending(pending);
            result.and_then(move |outcome| {
                let error = match outcome {
                    Outcome::Element(values) => match check_count(&values, num_values) {
                        Ok(()) => return promises.forward_to(values.into_vec()),
                        Err(error) => AnyRef::error(ctx.emit_error(error)),
                    },
                    Outcome::End(_) => AnyRef::error(ctx.emit_error(Error::new(END_MESSAGE))),
                    Outcome::Error(error) => error,
                };
                promises.forward_all_to(&error);
            });
        }
    }
    Ok(())
}

fn check_count(values: &Values, num_wanted: usize) -> Result<()> {
    if values.len() == num_wanted {
        return Ok(());
    }
    let count = |number: usize, what: &str| match number {
        1 => format!("1 {what}"),
        _ => format!("{number} {what}s"),
    };
    let verb = if num_wanted == 1 { "was" } else { "were" };
    let message = format!(
        "iterator has {}, {} {verb} asked for",
        count(values.len(), "component"),
        count(num_wanted, "result")
    );
    Err(Error::new(message).with_code(ErrorCode::InvalidArgument))
}
