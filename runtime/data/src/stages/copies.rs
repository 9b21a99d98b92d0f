//! Copies of elements that are kept: consumers may change what they are handed.

use tfrt_async::AnyRef;
use tfrt_host::ExecutionContext;
use tfrt_tensor::DenseHostTensor;

use crate::result::{Outcome, Values};

/// Makes another value with the payload of an available one.
pub(super) type CopyValue = fn(&AnyRef, &ExecutionContext) -> AnyRef;

/// Returns the same outcome with copies of its values.
pub(super) fn copy_outcome(outcome: &Outcome, copy: CopyValue, ctx: &ExecutionContext) -> Outcome {
    let copy_each = |values: &Values| {
        let copies = values.iter().map(|value| copy_later(value, copy, ctx));
        copies.collect()
    };
    match outcome {
        Outcome::Element(values) => Outcome::Element(copy_each(values)),
        other => other.clone(),
    }
}

/// Returns a copy of a value: now, or when it becomes available.
fn copy_later(value: &AnyRef, copy: CopyValue, ctx: &ExecutionContext) -> AnyRef {
    if value.is_available() {
        return copy(value, ctx);
    }
    let (promise, copied) = AnyRef::indirect();
    let ctx = ctx.clone();
    value.and_then(move |value| promise.forward_to(copy(value, &ctx)));
    copied
}

/// Returns a copy of a dense tensor whose elements can be written, and any other value itself: only
/// the elements of dense tensors are written in place.
pub(super) fn copy_writable(value: &AnyRef, ctx: &ExecutionContext) -> AnyRef {
    let tensor = value.get::<DenseHostTensor>();
    let Some(tensor) = tensor.filter(|tensor| tensor.buffer().is_writable()) else {
        return value.clone();
    };
    match tensor.copied(ctx.allocator()) {
        Ok(copy) => AnyRef::available(copy),
        Err(error) => AnyRef::error(ctx.emit_error(error.into())),
    }
}
