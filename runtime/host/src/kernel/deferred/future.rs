//! `async fn` kernels: polled in the call, and then by tasks of the work queue whenever they are
//! woken.
//!
//! ```text
//!  call ─► make the future, poll it ─► it is done: what it kept is gone, the results are there
//!                   │ it waits
//!                   ▼
//!          a promise per result, and what a task needs ─► whenever it is woken, a task polls it
//!                                                                   │ it is done, or its request is cancelled
//!                                                                   ▼
//!                                              what it kept is gone, the promises are kept
//! ```
//!
//! A future shares one block of memory with the state of its wakers. A future that does not wait
//! needs nothing else: no promise, no task, no lock, and no cancellation hook.
//!
//! - T1. Only the holder of the turn (S2 of [`wake_state`](super::wake_state)) may use the future
//!   and its obligations. The first turn is that of the call.
//! - T2. `waiting` is set in the first turn, unless that is the last one, and never changes. Adding
//!   a task and every later turn happen after the first turn (S5).
#![expect(unsafe_code, reason = "runs kernels whose operands were proven")]

use std::cell::UnsafeCell;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::ptr::NonNull;
use std::task::{Context, Poll, Waker};

use tfrt_async::AnyRef;
use tfrt_async::dropping::report_to;
use tfrt_async::pool::{PooledArc, WakePooled};
use tfrt_ods::OpDef;
use tfrt_support::Error;

use super::kept::{Call, CallOperands, Kept, Lent};
use super::places::LaterPlaces;
use super::promises::Promises;
use super::wake_state::{AfterPoll, WakeState};
use crate::kernel::AsyncKernel;
use crate::kernel::direct::{Direct, DirectCall};
use crate::kernel::frame::{FrameParts, KernelFrame};
use crate::kernel::inputs::FileInputs;
use crate::kernel::panic::{panicked, quietly};
use crate::kernel::param::ParamList;
use crate::kernel::result::{FrameSink, ResultPart, Returned, Sink};
use crate::services::execution::ExecutionContext;
use crate::services::request::CancelHook;

/// The outcome of a kernel with results `R`: what its function returned, or an earlier error.
type Outcome<R> = Result<Returned<R>, Error>;

/// Runs an `async fn`.
///
/// # Safety
/// The duties of [`KernelDescriptor::invoke`](crate::kernel::KernelDescriptor::invoke).
pub(crate) unsafe fn run_future<K: AsyncKernel>(frame: &mut KernelFrame<'_>) {
    if let Some(cancelled) = frame.exec_ctx().request().cancel_value() {
        return frame.results().fill(Some(cancelled.clone()));
    }
    let FrameParts {
        exec_ctx,
        op,
        arguments,
        attributes,
        functions,
    } = frame.parts();
    let file = &FileInputs {
        attributes,
        functions,
    };
    let inputs = DirectCall { exec_ctx, file };
    let call = Call {
        op,
        inputs: &inputs,
        operands: CallOperands::Frame(arguments),
    };
    let num_results = frame.num_results();
    let place = |index, value| frame.set_result(index, value);
    // SAFETY: the caller fulfils the duties.
    match unsafe { begin::<K>(&call, num_results, place) } {
        None => {}
        Some(Ok(returned)) => {
            K::Results::put(returned, &mut FrameSink::new::<K::Results>(frame));
        }
        Some(Err(error)) => frame.report_error(error),
    }
}

/// Returns an `async fn` as a [direct](crate::kernel::direct) kernel, if it can be one. All its
/// results, including an added chain, are references to values that may become available later,
/// unless it is done at once and there are cells for their payloads.
pub(crate) const fn direct<K: AsyncKernel>() -> Option<Direct> {
    if !K::Params::IS_DIRECT || K::Params::HAS_TAIL || !K::Results::IS_DIRECT {
        return None;
    }
    Some(Direct {
        run: run_direct::<K>,
        // The task that continues it needs the context.
        reads_call: true,
        reads_file: K::Params::READS_FILE,
        reads_context: true,
        is_fixed: false,
        fills_cells: true,
        num_results: num_results::<K>(),
        num_operands: K::Params::NUM_OPERANDS,
        has_tail: false,
    })
}

const fn num_results<K: AsyncKernel>() -> usize {
    K::Results::SLOTS + K::Results::HAS_CHAIN as usize
}

/// Runs an `async fn` in place.
///
/// # Safety
/// The duties of [`DirectFn`](crate::kernel::direct::DirectFn).
unsafe fn run_direct<K: AsyncKernel>(
    call: &DirectCall<'_>,
    registers: NonNull<u8>,
    offsets: NonNull<u32>,
) -> Result<(), Error> {
    // SAFETY: duty 1 of `DirectFn`: the offsets of operands follow those of slots and cells.
    let operands = unsafe { offsets.add(2 * num_results::<K>()) };
    let call = Call {
        op: K::OP,
        inputs: call,
        operands: CallOperands::Registers {
            registers,
            offsets: operands,
            num_operands: K::Params::NUM_OPERANDS,
        },
    };
    // SAFETY: duties 1 and 2 of `DirectFn`, for references.
    let mut places = unsafe { LaterPlaces::new(registers, offsets, num_results::<K>()) };
    let run = || {
        let place = |_, value| places.put_reference(value);
        // SAFETY: duties 2 and 3 of `DirectFn` imply for every operand what `check` verifies.
        match unsafe { begin::<K>(&call, num_results::<K>(), place) } {
            None => Ok(()),
            Some(outcome) => {
                K::Results::put(outcome?, &mut places);
                places.finish()
            }
        }
    };
    // Operands and results left behind by a panic are never read, as for other direct kernels.
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|payload| Err(panicked(K::OP.name, payload)))
}

/// Creates the future of a call and polls it. Returns its outcome; or `None` if it is pending,
/// after passing the values that the results will have to `place`.
///
/// # Panics
/// If the function panics in its first poll. Everything it owned has been dropped by then.
///
/// # Safety
/// 1. `K::Params::check` of the operands of the call would succeed.
#[inline]
unsafe fn begin<K: AsyncKernel>(
    call: &Call<'_>,
    num_results: usize,
    place: impl FnMut(usize, AnyRef),
) -> Option<Outcome<K::Results>> {
    // SAFETY: L1: the future is polled below, during the call, and uses it before its first wait.
    let lent = unsafe { Lent::new(call) };
    let future = async move {
        // Both are dropped before the outcome is visible, the copies last.
        let kept = Kept::<K::Params>::new();
        // SAFETY: duty 1.
        let mut held = unsafe { K::Params::hold(kept.source(lent.get())) }?;
        Ok(K::call(K::Params::lend(&mut held)).await)
    };
    let task = FutureTask::<K::Results, _>::new(future);
    // SAFETY: T1: the first turn.
    match task.with_waker(|waker| unsafe { task.poll(waker) }) {
        // A future that is done keeps nothing: what it owned is gone. It has no later turn, even if
        // it has been woken.
        Poll::Ready(outcome) => Some(outcome),
        Poll::Pending => {
            // SAFETY: T1: as above; the turn continues.
            unsafe { FutureTask::go_on(&task, call, num_results, place) };
            None
        }
    }
}

/// A future, and the state shared by its wakers.
struct FutureTask<R: ResultPart, F: Future<Output = Outcome<R>>> {
    state: WakeState,
    /// T1. Pinned: dropped in place. `None` once it has ended in a task.
    future: UnsafeCell<Option<F>>,
    /// T2. In this block, so that a future that waits needs no other one.
    waiting: UnsafeCell<Option<Waiting>>,
    results: PhantomData<fn() -> R>,
}

/// The state of a future that waits.
struct Waiting {
    exec_ctx: ExecutionContext,
    op: &'static OpDef,
    /// T1. `None` once the future has finished.
    owed: UnsafeCell<Option<Owed>>,
}

/// The obligations of a future that waits.
struct Owed {
    promises: Promises,
    /// Unregisters on drop.
    _hook: CancelHook,
}

// SAFETY: the parts under T1 pass from thread to thread and are `Send`: the future by the bound,
// promises and hooks by themselves. The parts under T2 are `Sync`.
unsafe impl<R: ResultPart, F: Future<Output = Outcome<R>> + Send> Sync for FutureTask<R, F> {}
// SAFETY: as above: all fields are `Send`.
unsafe impl<R: ResultPart, F: Future<Output = Outcome<R>> + Send> Send for FutureTask<R, F> {}

impl<R, F> WakePooled for FutureTask<R, F>
where
    R: ResultPart + 'static,
    F: Future<Output = Outcome<R>> + Send + 'static,
{
    fn wake(this: &PooledArc<Self>) {
        if this.state.wake() {
            Self::enqueue(this);
        }
    }
}

impl<R: ResultPart, F: Future<Output = Outcome<R>>> FutureTask<R, F> {
    /// Creates the task of a future that has not been polled. The caller has the first turn.
    #[inline]
    fn new(future: F) -> PooledArc<Self> {
        let write = |task: *mut Self| {
            // SAFETY: the field is in the task.
            let state = unsafe { &raw mut (*task).state };
            // SAFETY: the place of the task is ours.
            unsafe { state.write(WakeState::polling()) };
            // SAFETY: as above.
            let place = unsafe { &raw mut (*task).future };
            // SAFETY: as above.
            unsafe { place.write(UnsafeCell::new(Some(future))) };
            // SAFETY: as above.
            let waiting = unsafe { &raw mut (*task).waiting };
            // SAFETY: as above.
            unsafe { waiting.write(UnsafeCell::new(None)) };
        };
        // SAFETY: 1: the closure writes every field that has a size.
        unsafe { PooledArc::new_in_place(write) }
    }
}

/// Methods for the holder of the turn (T1).
impl<R, F> FutureTask<R, F>
where
    R: ResultPart + 'static,
    F: Future<Output = Outcome<R>> + Send + 'static,
{
    /// Polls the future, which has not finished.
    ///
    /// # Safety
    /// 1. T1: the caller has the turn.
    #[inline]
    unsafe fn poll(&self, waker: &Waker) -> Poll<Outcome<R>> {
        // SAFETY: duty 1.
        let future = unsafe { &mut *self.future.get() };
        // SAFETY: the block does not move, and the future is not moved out of it.
        let future = unsafe { Pin::new_unchecked(future) }.as_pin_mut();
        let future = future.expect("a turn behind the last one is not given to anybody");
        future.poll(&mut Context::from_waker(waker))
    }

    /// Drops the future.
    ///
    /// # Safety
    /// 1. T1: the caller has the turn.
    #[inline]
    unsafe fn drop_future(&self) {
        // SAFETY: duty 1.
        let future = unsafe { &mut *self.future.get() };
        quietly(|| *future = None);
    }

    /// Registers a future that is pending after the poll in its call.
    ///
    /// # Safety
    /// 1. T1: the caller has the first turn, which ends here.
    #[inline(never)]
    unsafe fn go_on(
        this: &PooledArc<Self>,
        call: &Call<'_>,
        num_results: usize,
        place: impl FnMut(usize, AnyRef),
    ) {
        let promises = Promises::new::<R>(num_results, place);
        let task = PooledArc::downgrade(this);
        let exec_ctx = call.inputs.exec_ctx;
        let hook = exec_ctx.request().on_cancel(move || {
            if let Some(task) = task.upgrade() {
                task.cancel();
            }
        });
        let Some(_hook) = hook else {
            // SAFETY: duty 1: the turn continues, and no other thread requests it any more.
            unsafe { this.drop_future() };
            return cancel(exec_ctx, promises);
        };
        let waiting = Waiting {
            exec_ctx: exec_ctx.clone(),
            op: call.op,
            owed: UnsafeCell::new(Some(Owed { promises, _hook })),
        };
        // SAFETY: duty 1, and T2: nobody reads it before the turn ends.
        unsafe { this.waiting.get().write(Some(waiting)) };
        // SAFETY: duty 1.
        unsafe { Self::end_turn(this) };
    }

    /// Ends a turn after which the future waits.
    ///
    /// # Safety
    /// 1. T1: the caller has the turn.
    unsafe fn end_turn(this: &PooledArc<Self>) {
        match this.state.end_poll() {
            AfterPoll::Wait => {}
            AfterPoll::Enqueue => Self::enqueue(this),
            // SAFETY: duty 1: the turn continues.
            AfterPoll::Cancel => unsafe { this.end_cancelled() },
        }
    }

    /// Drops the future and returns the promises to be fulfilled.
    ///
    /// # Safety
    /// 1. T1: the caller has the last turn, which is not the first.
    unsafe fn end(&self) -> Promises {
        // SAFETY: duty 1.
        unsafe { self.drop_future() };
        // SAFETY: duty 1.
        let owed = unsafe { &mut *self.waiting().owed.get() };
        let owed = owed.take();
        owed.expect("a last turn comes once").promises
    }

    /// Ends the work of a cancelled request.
    ///
    /// # Safety
    /// 1. T1: the caller has the last turn, which is not the first.
    #[cold]
    unsafe fn end_cancelled(&self) {
        // SAFETY: duty 1.
        let promises = unsafe { self.end() };
        cancel(&self.waiting().exec_ctx, promises);
    }
}

/// Sets the results to those of a cancelled request.
#[cold]
fn cancel(ctx: &ExecutionContext, promises: Promises) {
    if let Some(cancelled) = ctx.request().cancel_value() {
        promises.forward(|_| cancelled.clone());
    }
}

/// Methods that need no turn.
impl<R, F> FutureTask<R, F>
where
    R: ResultPart + 'static,
    F: Future<Output = Outcome<R>> + Send + 'static,
{
    /// Returns the state that the first turn has left (T2).
    #[inline]
    fn waiting(&self) -> &Waiting {
        // SAFETY: T2: whoever asks does so after the first turn, which alone writes it.
        let waiting = unsafe { &*self.waiting.get() };
        waiting
            .as_ref()
            .expect("the first turn has left what a later one needs")
    }

    /// Adds the task that polls the future. Called when the state says so.
    fn enqueue(this: &PooledArc<Self>) {
        let task = PooledArc::clone(this);
        this.waiting().exec_ctx.enqueue(move || Self::run(&task));
    }

    /// The task.
    fn run(this: &PooledArc<Self>) {
        if !this.state.begin_poll() {
            return;
        }
        let Waiting { exec_ctx, op, .. } = this.waiting();
        report_to(exec_ctx, || {
            if exec_ctx.request().is_cancelled() {
                // SAFETY: T1: the turn just began.
                return unsafe { this.end_cancelled() };
            }
            // SAFETY: T1: as above.
            let poll = || this.with_waker(|waker| unsafe { this.poll(waker) });
            let outcome = match catch_unwind(AssertUnwindSafe(poll)) {
                // SAFETY: T1: as above.
                Ok(Poll::Pending) => return unsafe { Self::end_turn(this) },
                Ok(Poll::Ready(outcome)) => outcome,
                Err(payload) => Err(panicked(op.name, payload)),
            };
            // SAFETY: T1: as above; this is the last turn.
            let promises = unsafe { this.end() };
            promises.keep::<R>(exec_ctx, op, outcome);
        });
    }

    /// Called when the request is cancelled. Drops the future immediately without waking it, unless
    /// another thread has the turn.
    fn cancel(&self) {
        if self.state.cancel() {
            // SAFETY: T1: the turn is ours.
            report_to(&self.waiting().exec_ctx, || unsafe { self.end_cancelled() });
        }
    }
}

impl<R: ResultPart, F: Future<Output = Outcome<R>>> Drop for FutureTask<R, F> {
    /// Runs when the last waker is dropped. Unfulfilled promises become errors.
    fn drop(&mut self) {
        let future = self.future.get_mut();
        quietly(|| *future = None);
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
