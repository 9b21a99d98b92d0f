//! The promises of the results of a kernel that continues after its call.

use std::panic::{AssertUnwindSafe, catch_unwind};

use smallvec::SmallVec;
use tfrt_async::{AnyRef, IndirectPromise};
use tfrt_ods::OpDef;
use tfrt_support::Error;

use crate::execution::ExecutionContext;
use crate::kernel::frame::{AttributeList, FunctionList, KernelFrame};
use crate::kernel::panic::{drop_quietly, panicked};
use crate::kernel::result::{FrameSink, ResultPart, Returned};

/// One promise for each result. Most kernels have at most two, which need no allocation.
#[derive(Debug, Default)]
pub(super) struct Promises(SmallVec<[IndirectPromise; 2]>);

impl Promises {
    /// Creates promises of `num_results` results, and passes the value of each to `place`.
    pub(super) fn new(num_results: usize, mut place: impl FnMut(usize, AnyRef)) -> Self {
        let promise = |index| {
            let (promise, value) = AnyRef::indirect();
            place(index, value);
            promise
        };
        Self((0..num_results).map(promise).collect())
    }

    /// Fills every slot with an unavailable value.
    pub(super) fn fill(slots: &mut [Option<AnyRef>]) -> Self {
        Self::new(slots.len(), |index, value| slots[index] = Some(value))
    }

    /// Fulfils the promises with what a function returned. If that panics, the results become the
    /// panic's error.
    pub(super) fn keep<R: ResultPart>(
        self,
        ctx: &ExecutionContext,
        op: &'static OpDef,
        outcome: Result<Returned<R>, Error>,
    ) {
        let mut results: SmallVec<[Option<AnyRef>; 2]> = self.0.iter().map(|_| None).collect();
        let (attributes, functions) = (AttributeList::EMPTY, FunctionList::default());
        let mut frame = KernelFrame::new(ctx, op, &[], attributes, functions, &mut results);
        let put = || match outcome {
            // Runs code of the author that converts the author's error type.
            Ok(returned) => R::put(returned, &mut FrameSink::new::<R>(&mut frame)),
            Err(error) => frame.report_error(error),
        };
        if let Err(payload) = catch_unwind(AssertUnwindSafe(put)) {
            frame.report_error(panicked(op.name, payload));
        }
        frame.finish();
        self.forward(|index| results[index].take().expect("the frame is finished"));
    }

    /// Fulfils the promises with available values.
    pub(super) fn forward(self, mut value: impl FnMut(usize) -> AnyRef) {
        for (index, promise) in self.0.into_iter().enumerate() {
            let value = value(index);
            // A panicking waiter of one result must not prevent the others from being fulfilled.
            if let Err(payload) = catch_unwind(AssertUnwindSafe(|| promise.forward_to(value))) {
                drop_quietly(payload);
            }
        }
    }
}
