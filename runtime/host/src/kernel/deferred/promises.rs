//! The promises of the results of a kernel that continues after its call.

use std::panic::{AssertUnwindSafe, catch_unwind};

use smallvec::SmallVec;
use tfrt_async::{AnyRef, IndirectPromise, Value};
use tfrt_ods::OpDef;
use tfrt_support::Error;

use crate::kernel::frame::KernelFrame;
use crate::kernel::inputs::{AttributeList, FunctionList};
use crate::kernel::panic::{drop_quietly, panicked};
use crate::kernel::param::Sealed;
use crate::kernel::result::{FrameSink, ResultPart, Returned, Sink};
use crate::services::execution::ExecutionContext;

/// One promise for each result. Most kernels have one result, and others one and a chain, which
/// need no allocation.
#[derive(Debug)]
pub(super) enum Promises {
    One(IndirectPromise),
    List(SmallVec<[IndirectPromise; 2]>),
}

impl Promises {
    /// Creates promises of `num_results` results of a function that returns `R`, and passes the
    /// value of each to `place`.
    #[inline]
    pub(super) fn new<R: ResultPart>(
        num_results: usize,
        mut place: impl FnMut(usize, AnyRef),
    ) -> Self {
        match num_results {
            1 => {
                let (promise, value) = R::promise();
                place(0, value);
                Self::One(promise)
            }
            _ => {
                let mut promises = SmallVec::with_capacity(num_results);
                for index in 0..num_results {
                    let (promise, value) = AnyRef::indirect();
                    place(index, value);
                    promises.push(promise);
                }
                Self::List(promises)
            }
        }
    }

    /// Fills every slot with an unavailable value.
    pub(super) fn fill<R: ResultPart>(slots: &mut [Option<AnyRef>]) -> Self {
        Self::new::<R>(slots.len(), |index, value| slots[index] = Some(value))
    }

    /// Fulfils the promises with what a function returned. If that panics, the results become the
    /// panic's error.
    pub(super) fn keep<R: ResultPart>(
        self,
        ctx: &ExecutionContext,
        op: &'static OpDef,
        outcome: Result<Returned<R>, Error>,
    ) {
        match self {
            Self::One(promise) if R::SLOTS == 1 && !R::HAS_TAIL => {
                let mut sink = PromiseSink {
                    ctx,
                    op,
                    promise: Some(promise),
                };
                // Runs code of the author that converts the author's error type.
                let put = AssertUnwindSafe(|| match outcome {
                    Ok(returned) => R::put(returned, &mut sink),
                    Err(error) => sink.fail(error),
                });
                if let Err(payload) = catch_unwind(put) {
                    sink.fail(panicked(op.name, payload));
                }
            }
            Self::One(promise) => {
                let mut result = [None];
                place_all::<R>(ctx, op, outcome, &mut result);
                let [result] = result;
                forward(promise, result.expect(IS_FINISHED));
            }
            Self::List(promises) => {
                let mut results = SmallVec::<[_; 2]>::from_elem(None, promises.len());
                place_all::<R>(ctx, op, outcome, &mut results);
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

/// The promise of the only result of a function that returns one.
#[derive(Debug)]
struct PromiseSink<'a> {
    ctx: &'a ExecutionContext,
    op: &'static OpDef,
    /// `None` once it has been fulfilled.
    promise: Option<IndirectPromise>,
}

impl PromiseSink<'_> {
    #[inline]
    fn fulfil(&mut self, fulfil: impl FnOnce(IndirectPromise)) {
        if let Some(promise) = self.promise.take()
            && let Err(payload) = catch_unwind(AssertUnwindSafe(|| fulfil(promise)))
        {
            // A waiter panicked.
            drop_quietly(payload);
        }
    }
}

impl Sealed for PromiseSink<'_> {}

impl Sink for PromiseSink<'_> {
    fn remaining(&self) -> usize {
        usize::from(self.promise.is_some())
    }

    #[inline]
    fn put_payload<T: Value>(&mut self, payload: T) {
        self.fulfil(|promise| promise.emplace(payload));
    }

    #[inline]
    fn put_reference(&mut self, value: AnyRef) {
        self.fulfil(|promise| promise.forward_to(value));
    }

    #[cold]
    fn put_error(&mut self, error: Error, _slots: usize) {
        self.fail(error);
    }

    #[cold]
    fn fail(&mut self, error: Error) {
        let (attributes, functions) = (AttributeList::EMPTY, FunctionList::default());
        let frame = KernelFrame::new(self.ctx, self.op, &[], attributes, functions, &mut []);
        let error = frame.emit(error);
        self.fulfil(|promise| promise.set_error(error));
    }

    // The program does not want it: there is a promise for the other result alone.
    fn put_chain(&mut self) {}

    fn wrong_count(&mut self, _given: usize) {}
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
