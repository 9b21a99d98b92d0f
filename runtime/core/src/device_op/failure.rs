//! The description of a failed call in its error: the op, the metadata of its operands, and the
//! device.
//!
//! Only errors of the op itself get a description. An error from an operand already names its call,
//! and the error of a cancelled request belongs to all calls of the request.

use std::fmt::Write;
use std::sync::Arc;

use tfrt_async::AnyRef;
use tfrt_host::{ExecutionContext, RequestContext};
use tfrt_support::{Error, TensorMetadata};

use super::DeviceOp;
use crate::handle::TensorHandle;

/// The metadata of an operand, if it is known.
pub(crate) type Operand = Option<TensorMetadata>;

impl DeviceOp {
    /// Describes the call in one of its errors.
    #[cold]
    pub(super) fn describe_in(&self, error: &Error, operands: impl IntoIterator<Item = Operand>) {
        error.set_call_if_unset(self.describe(operands));
    }

    /// Describes the call in the errors among its results, now and when they become available.
    #[inline]
    pub(crate) fn describe_in_results<O: IntoIterator<Item = Operand>>(
        &self,
        ctx: &ExecutionContext,
        results: &mut [TensorHandle],
        operands: impl FnOnce() -> O,
    ) {
        if !results.iter().all(TensorHandle::is_there) {
            self.describe_in_handles(ctx, results, operands());
        }
    }

    #[cold]
    fn describe_in_handles(
        &self,
        ctx: &ExecutionContext,
        results: &mut [TensorHandle],
        operands: impl IntoIterator<Item = Operand>,
    ) {
        let call: Arc<str> = self.describe(operands).into();
        for result in results {
            result.map_tensor(|tensor| with_call(tensor, ctx, &call));
        }
    }

    /// Does the work of [`describe_in_results`](Self::describe_in_results) for tensors without
    /// handles.
    pub(super) fn describe_in_tensors(
        &self,
        ctx: &ExecutionContext,
        results: &mut [Option<AnyRef>],
        operands: impl IntoIterator<Item = Operand>,
    ) {
        if results.iter().flatten().all(AnyRef::is_concrete) {
            return;
        }
        let call: Arc<str> = self.describe(operands).into();
        for slot in results {
            *slot = slot.take().map(|tensor| with_call(tensor, ctx, &call));
        }
    }

    /// Returns text such as `tf.AddV2(f32 [2], f32 [3]) on CPU:0`.
    fn describe(&self, operands: impl IntoIterator<Item = Operand>) -> String {
        let mut call = format!("{}(", self.op.name());
        for (index, operand) in operands.into_iter().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            // Writing into a string cannot fail.
            let _ = match operand {
                Some(metadata) => write!(call, "{comma}{metadata}"),
                None => write!(call, "{comma}?"),
            };
        }
        let _ = write!(call, ") on {}", self.device.0.name());
        call
    }
}

/// Returns the tensor with the call described in its error. A pending tensor is replaced, so that
/// its waiters cannot see the error before the description is added.
fn with_call(tensor: AnyRef, ctx: &ExecutionContext, call: &Arc<str>) -> AnyRef {
    if tensor.is_available() {
        describe_own(&tensor, ctx.request(), call);
        return tensor;
    }
    let (promise, described) = AnyRef::indirect();
    let (request, call) = (Arc::clone(ctx.request()), Arc::clone(call));
    tensor.and_then(move |tensor| {
        describe_own(tensor, &request, &call);
        promise.forward_to(tensor.clone());
    });
    described
}

/// Describes the call in the error of an available tensor.
fn describe_own(tensor: &AnyRef, request: &RequestContext, call: &str) {
    let Some(error) = tensor.error_if_present() else {
        return;
    };
    let cancelled = request.cancel_value().and_then(AnyRef::error_if_present);
    if !cancelled.is_some_and(|cancelled| cancelled.is_same(error)) {
        error.set_call_if_unset(call);
    }
}
