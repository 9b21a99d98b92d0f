//! `async fn` kernels: polled in the call, and then by tasks of the work queue whenever they are woken.
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
//! A future is in one block of memory with the state that its wakers share. That is all that is made for one that does not wait: no
//! promise, no task, no lock, and no hook for the case that the request is cancelled.
//!
//! - T1. Who has the turn (S2 of [`wake_state`](super::wake_state)) may use the future and what is behind `later`, and nobody
//!   else. The first turn is that of the call.
//! - T2. `surroundings` is set in the first turn, if that is not the last one, and never changes. Who is to add a task, or has a
//!   later turn, comes after that turn (S5).
#![expect(unsafe_code, reason = "runs kernels whose operands were proven")]

use std::cell::{OnceCell, UnsafeCell};
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::ptr::NonNull;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use tfrt_async::AnyRef;
use tfrt_async::dropping::report_to;
use tfrt_ods::OpDef;
use tfrt_support::Error;

use super::kept::{Call, CallOperands, Kept, Lent};
use super::promises::Promises;
use super::wake_state::{AfterPoll, WakeState};
use crate::execution::ExecutionContext;
use crate::kernel::AsyncKernel;
use crate::kernel::direct::{Direct, DirectCall, Places};
use crate::kernel::frame::KernelFrame;
use crate::kernel::panic::{panicked, quietly};
use crate::kernel::param::ParamList;
use crate::kernel::result::{FrameSink, ResultPart, Returned, Sink};
use crate::request::CancelHook;

/// What becomes of a kernel of results `R`: what its function returned, or an error on the way there.
type Outcome<R> = Result<Returned<R>, Error>;

/// Runs an `async fn`.
///
/// # Safety
/// The duties of [`KernelDescriptor::invoke`](crate::kernel::KernelDescriptor::invoke).
pub(crate) unsafe fn run_future<K: AsyncKernel>(frame: &mut KernelFrame<'_>) {
    if let Some(cancelled) = frame.exec_ctx().request().cancel_value() {
        return frame.results().fill(Some(cancelled.clone()));
    }
    let call = Call::of_frame(frame.parts());
    let num_results = frame.num_results();
    let place = |index, value| frame.set_result(index, value);
    // SAFETY: the duties are ours.
    match unsafe { begin::<K>(&call, num_results, place) } {
        None => {}
        Some(Ok(returned)) => {
            K::Results::put(returned, &mut FrameSink::new::<K::Results>(frame));
        }
        Some(Err(error)) => frame.report_error(error),
    }
}

/// An `async fn` as a [direct](crate::kernel::direct) kernel, if it can be. All its results, an added chain included, are
/// references to values that may become available later.
pub(crate) const fn direct<K: AsyncKernel>() -> Option<Direct> {
    if !K::Params::IS_DIRECT || !K::Results::IS_DIRECT {
        return None;
    }
    Some(Direct {
        run: run_direct::<K>,
        // The task that goes on needs the context.
        reads_call: true,
        reads_context: true,
        is_fixed: false,
        num_results: num_results::<K>(),
        num_operands: K::Params::NUM_OPERANDS,
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
    // SAFETY: duty 1 of `DirectFn`: the offsets of operands come behind those of results.
    let operands = unsafe { offsets.add(num_results::<K>()) };
    let call = Call {
        exec_ctx: call.exec_ctx,
        op: K::OP,
        attributes: call.attributes,
        functions: call.functions,
        operands: CallOperands::Registers {
            registers,
            offsets: operands,
            num_operands: K::Params::NUM_OPERANDS,
        },
    };
    // SAFETY: duties 1 and 2 of `DirectFn`, for references.
    let mut places = unsafe { Places::<true>::new(registers, offsets) };
    let run = || {
        let place = |_, value| places.put_reference(value);
        // SAFETY: duties 2 and 3 of `DirectFn` say of every operand what `check` looks for.
        match unsafe { begin::<K>(&call, num_results::<K>(), place) } {
            None => Ok(()),
            Some(outcome) => {
                K::Results::put(outcome?, &mut places);
                places.finish()
            }
        }
    };
    // Nobody looks at operands or results that a panic left behind, as for other direct kernels.
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|payload| Err(panicked(K::OP.name, payload)))
}

/// Makes the future of a call and polls it. Returns what became of it; or nothing if it waits, and `place` has been given the values
/// that results will have.
///
/// # Panics
/// If the function does, in its first poll. What it owned is gone then.
///
/// # Safety
/// 1. `K::Params::check` of the operands of the call would succeed.
#[inline]
unsafe fn begin<K: AsyncKernel>(
    call: &Call<'_>,
    num_results: usize,
    place: impl FnMut(usize, AnyRef),
) -> Option<Outcome<K::Results>> {
    // SAFETY: L1: the future is polled below, while the call lasts, and uses it before it waits.
    let lent = unsafe { Lent::new(call) };
    let future = async move {
        // Both are dropped before the outcome is known to anybody, what was copied last.
        let kept = Kept::<K::Params>::new();
        // SAFETY: duty 1.
        let mut held = unsafe { K::Params::hold(kept.source(lent.get())) }?;
        Ok(K::call(K::Params::lend(&mut held)).await)
    };
    let task = Arc::new(FutureTask::<K::Results, _> {
        state: WakeState::polling(),
        work: UnsafeCell::new(Work {
            future: Some(future),
            later: None,
        }),
        surroundings: OnceCell::new(),
        results: PhantomData,
    });
    let waker = Waker::from(Arc::clone(&task));
    // SAFETY: T1: the first turn.
    match unsafe { task.poll(&waker) } {
        Poll::Ready(outcome) => {
            // SAFETY: T1: as above.
            unsafe { task.end_work() };
            Some(outcome)
        }
        Poll::Pending => {
            // SAFETY: T1: as above, which goes on.
            unsafe { task.go_on(call, num_results, place) };
            None
        }
    }
}

/// A future, and what its wakers share.
struct FutureTask<R: ResultPart, F: Future<Output = Outcome<R>>> {
    state: WakeState,
    /// T1.
    work: UnsafeCell<Work<F>>,
    /// T2.
    surroundings: OnceCell<Surroundings>,
    results: PhantomData<fn() -> R>,
}

/// What a turn uses.
struct Work<F> {
    /// Pinned: it goes away where it is. None when it is over.
    future: Option<F>,
    /// What a future has that waits.
    later: Option<Later>,
}

/// What a future that waits owes to others.
struct Later {
    promises: Promises,
    /// Ends the watch as it goes away.
    _hook: Option<CancelHook>,
}

/// What a task needs.
struct Surroundings {
    exec_ctx: ExecutionContext,
    op: &'static OpDef,
}

// SAFETY: what T1 speaks of passes from thread to thread and is `Send`: the future by the bound, promises and hooks by themselves.
// What T2 speaks of is `Sync`.
unsafe impl<R: ResultPart, F: Future<Output = Outcome<R>> + Send> Sync for FutureTask<R, F> {}
// SAFETY: as above: all fields are `Send`.
unsafe impl<R: ResultPart, F: Future<Output = Outcome<R>> + Send> Send for FutureTask<R, F> {}

impl<R, F> Wake for FutureTask<R, F>
where
    R: ResultPart + 'static,
    F: Future<Output = Outcome<R>> + Send + 'static,
{
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.state.wake() {
            self.enqueue();
        }
    }
}

/// In a turn. All of these demand that the caller has it (T1).
impl<R, F> FutureTask<R, F>
where
    R: ResultPart + 'static,
    F: Future<Output = Outcome<R>> + Send + 'static,
{
    /// Polls the future, which is not over.
    ///
    /// # Safety
    /// 1. T1: the caller has the turn.
    #[inline]
    unsafe fn poll(&self, waker: &Waker) -> Poll<Outcome<R>> {
        // SAFETY: duty 1.
        let work = unsafe { &mut *self.work.get() };
        // SAFETY: the block does not move, and the future is not moved out of it.
        let future = unsafe { Pin::new_unchecked(&mut work.future) };
        let future = future.as_pin_mut();
        let future = future.expect("a turn behind the last one is not given to anybody");
        future.poll(&mut Context::from_waker(waker))
    }

    /// Lets go of the future, and gives back what it owes to others.
    ///
    /// # Safety
    /// 1. T1: the caller has the turn.
    #[inline]
    unsafe fn end_work(&self) -> Option<Later> {
        // SAFETY: duty 1.
        let work = unsafe { &mut *self.work.get() };
        quietly(|| work.future = None);
        work.later.take()
    }

    /// Lets a future wait that has been polled in its call.
    ///
    /// # Safety
    /// 1. T1: the caller has the turn, which is the first one. It ends here.
    #[inline(never)]
    unsafe fn go_on(
        self: &Arc<Self>,
        call: &Call<'_>,
        num_results: usize,
        place: impl FnMut(usize, AnyRef),
    ) {
        let promises = Promises::new(num_results, place);
        let surroundings = self.surroundings.get_or_init(|| Surroundings {
            exec_ctx: call.exec_ctx.clone(),
            op: call.op,
        });
        let request = surroundings.exec_ctx.request();
        let task = Arc::downgrade(self);
        let hook = request.on_cancel(move || {
            if let Some(task) = task.upgrade() {
                task.cancel();
            }
        });
        let is_cancelled = hook.is_none();
        let later = Later {
            promises,
            _hook: hook,
        };
        // SAFETY: duty 1.
        unsafe { (*self.work.get()).later = Some(later) };
        if is_cancelled {
            // SAFETY: duty 1: the turn goes on, and nobody asks for it any more.
            unsafe { self.end_cancelled() };
        } else {
            // SAFETY: duty 1.
            unsafe { self.end_turn() };
        }
    }

    /// Ends a turn after which the future waits.
    ///
    /// # Safety
    /// 1. T1: the caller has the turn.
    unsafe fn end_turn(self: &Arc<Self>) {
        match self.state.end_poll() {
            AfterPoll::Wait => {}
            AfterPoll::Enqueue => self.enqueue(),
            // SAFETY: duty 1: the turn goes on.
            AfterPoll::Cancel => unsafe { self.end_cancelled() },
        }
    }

    /// Ends the work with an outcome.
    ///
    /// # Safety
    /// 1. T1: the caller has the turn, which is the last one, and not the first.
    unsafe fn end(&self, outcome: Outcome<R>) {
        // SAFETY: duty 1.
        let later = unsafe { self.end_work() };
        let Surroundings { exec_ctx, op } = self.surroundings();
        if let Some(Later { promises, _hook }) = later {
            drop(_hook);
            promises.keep::<R>(exec_ctx, op, outcome);
        }
    }

    /// Ends the work of a cancelled request.
    ///
    /// # Safety
    /// 1. T1: the caller has the turn, which is the last one.
    #[cold]
    unsafe fn end_cancelled(&self) {
        // SAFETY: duty 1.
        let later = unsafe { self.end_work() };
        let cancelled = self.surroundings().exec_ctx.request().cancel_value();
        if let (Some(Later { promises, .. }), Some(cancelled)) = (later, cancelled) {
            promises.forward(|_| cancelled.clone());
        }
    }
}

/// Outside of turns.
impl<R, F> FutureTask<R, F>
where
    R: ResultPart + 'static,
    F: Future<Output = Outcome<R>> + Send + 'static,
{
    /// What the first turn has left (T2).
    fn surroundings(&self) -> &Surroundings {
        let surroundings = self.surroundings.get();
        surroundings.expect("a future that waits has its surroundings")
    }

    /// Adds the task that polls the future. Called by whom the state tells to.
    fn enqueue(self: &Arc<Self>) {
        let task = Arc::clone(self);
        self.surroundings().exec_ctx.enqueue(move || task.run());
    }

    /// The task.
    fn run(self: &Arc<Self>) {
        if !self.state.begin_poll() {
            return;
        }
        let Surroundings { exec_ctx, op } = self.surroundings();
        report_to(exec_ctx, || {
            if exec_ctx.request().is_cancelled() {
                // SAFETY: T1: the turn just began.
                return unsafe { self.end_cancelled() };
            }
            let waker = Waker::from(Arc::clone(self));
            // SAFETY: T1: as above.
            match catch_unwind(AssertUnwindSafe(|| unsafe { self.poll(&waker) })) {
                // SAFETY: T1: as above.
                Ok(Poll::Pending) => unsafe { self.end_turn() },
                // SAFETY: T1: as above.
                Ok(Poll::Ready(outcome)) => unsafe { self.end(outcome) },
                Err(payload) => {
                    let error = panicked(op.name, payload);
                    // SAFETY: T1: as above.
                    unsafe { self.end(Err(error)) };
                }
            }
        });
    }

    /// The request is cancelled. Drops the future at once, though nobody wakes it, unless somebody has the turn.
    fn cancel(&self) {
        if self.state.cancel() {
            // SAFETY: T1: the turn is ours.
            report_to(&self.surroundings().exec_ctx, || unsafe {
                self.end_cancelled()
            });
        }
    }
}

impl<R: ResultPart, F: Future<Output = Outcome<R>>> Drop for FutureTask<R, F> {
    /// Nobody can wake it any more. Promises that it owes are broken then.
    fn drop(&mut self) {
        let work = self.work.get_mut();
        quietly(|| work.future = None);
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
