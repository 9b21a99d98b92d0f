//! The promises of the results of a kernel that continues after its call.

use std::panic::{AssertUnwindSafe, catch_unwind};

use smallvec::SmallVec;
use tfrt_async::{AnyRef, IndirectPromise};
use tfrt_ods::OpDef;
use tfrt_support::Error;

use crate::kernel::frame::KernelFrame;
use crate::kernel::inputs::{AttributeList, FunctionList};
use crate::kernel::panic::{drop_quietly, panicked};
use crate::kernel::result::{FrameSink, ResultPart, Returned};
use crate::services::execution::ExecutionContext;

/// One promise for each result. Most kernels have one result, and others one and a chain, which
/// need no allocation.
#[derive(Debug)]
pub(super) enum Promises {
    One(IndirectPromise),
    List(SmallVec<[IndirectPromise; 2]>),
}

impl Promises {
    /// Creates promises of `num_results` results, and passes the value of each to `place`.
    #[inline]
    pub(super) fn new(num_results: usize, mut place: impl FnMut(usize, AnyRef)) -> Self {
        let mut promise = |index| {
            let (promise, value) = AnyRef::indirect();
            place(index, value);
            promise
        };
        match num_results {
            1 => Self::One(promise(0)),
            _ => {
                let mut promises = SmallVec::with_capacity(num_results);
                (0..num_results).for_each(|index| promises.push(promise(index)));
                Self::List(promises)
            }
        }
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
        let place = |results: &mut [Option<AnyRef>]| place_all::<R>(ctx, op, outcome, results);
        match self {
            Self::One(promise) => {
                let mut result = [None];
                place(&mut result);
                let [result] = result;
                forward(promise, result.expect(IS_FINISHED));
            }
            Self::List(promises) => {
                let mut results = SmallVec::<[_; 2]>::from_elem(None, promises.len());
                place(&mut results);
                for (promise, result) in promises.into_iter().zip(results) {
                    forward(promise, result.expect(IS_FINISHED));
                }
            }
        }
    }

    /// Fulfils the promises with available values.
    pub(super) fn forward(self, mut value: impl FnMut(usize) -> AnyRef) {
        match self {
            Self::One(promise) => forward(promise, value(0)),
            Self::List(promises) => {
                for (index, promise) in promises.into_iter().enumerate() {
                    forward(promise, value(index));
                }
            }
        }
    }
}

/// The reason why a finished frame has all results.
const IS_FINISHED: &str = "the frame is finished";

/// Fills every result with what a function returned, or with an error.
fn place_all<R: ResultPart>(
    ctx: &ExecutionContext,
    op: &'static OpDef,
    outcome: Result<Returned<R>, Error>,
    results: &mut [Option<AnyRef>],
) {
    let (attributes, functions) = (AttributeList::EMPTY, FunctionList::default());
    let mut frame = KernelFrame::new(ctx, op, &[], attributes, functions, results);
    let put = || match outcome {
        // Runs code of the author that converts the author's error type.
        Ok(returned) => R::put(returned, &mut FrameSink::new::<R>(&mut frame)),
        Err(error) => frame.report_error(error),
    };
    if let Err(payload) = catch_unwind(AssertUnwindSafe(put)) {
        frame.report_error(panicked(op.name, payload));
    }
    frame.finish();
}

/// Fulfils a promise with an available value. A panicking waiter of one result must not prevent the
/// others from being fulfilled.
fn forward(promise: IndirectPromise, value: AnyRef) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| promise.forward_to(value))) {
        drop_quietly(payload);
    }
}
