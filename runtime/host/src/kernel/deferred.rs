//! Kernels that go on after the executor has called them: on the blocking pool, or as a future on the work queue.
//!
//! ```text
//!  run_blocking / run_future (dispatching thread)           task (another thread, or the same one later)
//!  ──────────────────────────────────────────────           ───────────────────────────────────────────
//!  OwnedFrame: references to operands, context, file ─────► hold, call
//!                                                           drop what was held, and the operands
//!  one indirect value per result slot               ◄────── forward each result
//! ```
//!
//! The task owns all that the kernel borrows. It drops that before anybody sees a result, as every kernel does, so that a buffer
//! that nobody else refers to is free for the kernels that follow. A request that is cancelled before the task begins makes its results the cancel
//! value. So it does while a future waits, which is then dropped at once, or as soon as the poll under way is over.
#![expect(unsafe_code, reason = "runs kernels whose operands were proven")]

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::task::{Context, Poll};

use async_task::Runnable;
use tfrt_async::dropping::report_to;
use tfrt_async::{AnyRef, IndirectPromise};
use tfrt_attr::AlignedBytes;
use tfrt_ods::OpDef;
use tfrt_queue::Task;
use tfrt_support::Error;

use crate::execution::ExecutionContext;
use crate::function::FunctionTable;
use crate::kernel::descriptor;
use crate::kernel::frame::{AttributeList, FrameParts, FunctionList, KernelFrame};
use crate::kernel::panic::{drop_quietly, panicked};
use crate::kernel::param::ParamList;
use crate::kernel::result::{FrameSink, ResultPart};
use crate::kernel::{AsyncKernel, Kernel};
use crate::request::CancelHook;
use crate::request::cancel::{Interruptible, Turn};

/// What the results become if the blocking pool is full.
const POOL_IS_FULL: &str = "Failed to enqueue blocking work.";

/// Runs a function on the blocking pool.
///
/// # Safety
/// The duties of [`KernelDescriptor::invoke`](crate::kernel::KernelDescriptor::invoke).
pub(crate) unsafe fn run_blocking<K: Kernel>(frame: &mut KernelFrame<'_>) {
    let owned = OwnedFrame::of(frame);
    let promises = promise_results(frame);
    let task = Task::new(move || {
        let (ctx, op) = (owned.exec_ctx.clone(), owned.op);
        report_to(&ctx, || {
            if let Some(cancelled) = ctx.request().cancel_value() {
                drop_quietly(owned);
                for promise in promises {
                    promise.forward_to(cancelled.clone());
                }
                return;
            }
            let outcome = catch_unwind(AssertUnwindSafe(|| {
                // Dropped before the outcome is known to anybody.
                let owned = owned;
                // SAFETY: the duties hold for the frame, hence for its copy: what is available stays so.
                unsafe { descriptor::call::<K, _>(owned.parts()) }
            }));
            let outcome = outcome.unwrap_or_else(|payload| Err(panicked(op.name, payload)));
            settle::<K::Results>(&ctx, op, outcome, promises);
        });
    });
    let ctx = frame.exec_ctx();
    if let Err(task) = ctx
        .queue()
        .add_blocking_task_for(ctx.request().tag(), task, true)
    {
        // The results get their error before the promises go away with the task.
        frame.report_error(Error::new(POOL_IS_FULL));
        drop(task);
    }
}

/// Runs an `async fn`: polled now, and then by tasks of the work queue whenever it is woken.
///
/// # Safety
/// The duties of [`KernelDescriptor::invoke`](crate::kernel::KernelDescriptor::invoke).
pub(crate) unsafe fn run_future<K: AsyncKernel>(frame: &mut KernelFrame<'_>) {
    let owned = OwnedFrame::of(frame);
    let promises = promise_results(frame);
    let (ctx, op) = (frame.exec_ctx().clone(), frame.op());
    let results: Vec<AnyRef> = frame.results().iter().flatten().cloned().collect();
    // Not the future's own: one that panics drops what it owns, and would break the promises before the panic is known.
    let promises = Arc::new(Mutex::new(promises));
    let kept = Arc::clone(&promises);
    let settle_ctx = ctx.clone();

    let work = Box::pin(async move {
        let outcome = async {
            // Dropped before the outcome is known to anybody, the frame last.
            let owned = owned;
            // SAFETY: the duties hold for the frame, hence for its copy: what is available stays so.
            let mut held = unsafe { K::Params::hold(owned.parts()) }?;
            Ok::<_, Error>(K::call(K::Params::lend(&mut held)).await)
        };
        let outcome = outcome.await;
        let promises =
            std::mem::take(&mut *promises.lock().unwrap_or_else(PoisonError::into_inner));
        settle::<K::Results>(&settle_ctx, op, outcome, promises);
    });
    let queue_ctx = ctx.clone();
    let task = Arc::new(FutureTask {
        ctx,
        op,
        results,
        _promises: kept,
        work: Interruptible::new(work),
        _hook: OnceLock::new(),
    });
    let polled = Arc::clone(&task);
    let (runnable, handle) = async_task::spawn(
        poll_fn(move |cx| polled.poll(cx)),
        move |runnable: Runnable| {
            let ctx = queue_ctx.clone();
            queue_ctx.enqueue(move || {
                report_to(&ctx, || runnable.run());
            });
        },
    );
    handle.detach();
    runnable.run();
    task.watch_for_cancel();
}

/// An `async fn` under way.
struct FutureTask<F> {
    ctx: ExecutionContext,
    op: &'static OpDef,
    /// What the future will settle.
    results: Vec<AnyRef>,
    /// Kept until `results` are settled, by the future or in its stead.
    _promises: Arc<Mutex<Vec<IndirectPromise>>>,
    work: Interruptible<Pin<Box<F>>>,
    /// Goes away with the task, which ends the watch.
    _hook: OnceLock<CancelHook>,
}

impl<F: Future<Output = ()> + Send + 'static> FutureTask<F> {
    fn poll(&self, cx: &mut Context<'_>) -> Poll<()> {
        let switch = self.ctx.request().cancel_switch();
        let turn = self.work.turn(switch, |work| {
            match catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(cx))) {
                Ok(Poll::Pending) => None,
                Ok(Poll::Ready(())) => Some(Ok(())),
                Err(payload) => Some(Err(payload)),
            }
        });
        match turn {
            Turn::Waits => return Poll::Pending,
            Turn::Over => {}
            Turn::Cancelled(work) => self.cancel(work),
            Turn::Done(work, polled) => {
                drop_quietly(work);
                if let Err(payload) = polled {
                    let error = panicked(self.op.name, payload);
                    self.fail(&self.ctx.emit_error(error));
                }
            }
        }
        Poll::Ready(())
    }

    /// Sees to it that the future is dropped when the request is cancelled, though nobody wakes it.
    fn watch_for_cancel(self: &Arc<Self>) {
        if self.work.is_over() {
            return;
        }
        let task = Arc::downgrade(self);
        let give_up = move || {
            if let Some(task) = task.upgrade() {
                report_to(&task.ctx, || task.give_up_if_cancelled());
            }
        };
        if let Some(hook) = self.ctx.request().on_cancel(give_up) {
            let _ = self._hook.set(hook);
        }
        // Cancelled before it was watched, or while it was looked at above.
        self.give_up_if_cancelled();
    }

    fn give_up_if_cancelled(&self) {
        let switch = self.ctx.request().cancel_switch();
        if let Some(work) = self.work.take_if_cancelled(switch) {
            self.cancel(work);
        }
    }

    /// Fails the results, unless somebody else does so, who has the future.
    fn cancel(&self, work: Option<Pin<Box<F>>>) {
        let cancelled = self.ctx.request().cancel_value();
        if let (Some(work), Some(error)) = (work, cancelled.and_then(AnyRef::error_if_present)) {
            drop_quietly(work);
            self.fail(error);
        }
    }

    fn fail(&self, error: &Error) {
        for result in &self.results {
            let _ = result.try_set_error(error.clone());
        }
    }
}

/// Fills every slot with a value that is still to come.
fn promise_results(frame: &mut KernelFrame<'_>) -> Vec<IndirectPromise> {
    let promise = |slot: &mut Option<AnyRef>| {
        let (promise, value) = AnyRef::indirect();
        *slot = Some(value);
        promise
    };
    frame.results().iter_mut().map(promise).collect()
}

/// A frame that outlives the call: it owns references to the operands and keeps the file alive.
struct OwnedFrame {
    exec_ctx: ExecutionContext,
    op: &'static OpDef,
    arguments: Vec<AnyRef>,
    table: Option<Arc<dyn FunctionTable>>,
    /// The attribute section, for a frame without a file.
    section: AlignedBytes,
    attributes: Vec<u32>,
    functions: Vec<u32>,
}

impl OwnedFrame {
    fn of(frame: &KernelFrame<'_>) -> Self {
        let parts = frame.parts();
        let section = if parts.functions.table.is_some() {
            &[]
        } else {
            parts.attributes.section
        };
        Self {
            exec_ctx: parts.exec_ctx.clone(),
            op: parts.op,
            arguments: parts.arguments.to_vec(),
            table: parts.functions.table.cloned(),
            section: AlignedBytes::from(section),
            attributes: parts.attributes.offsets.to_vec(),
            functions: parts.functions.ids.to_vec(),
        }
    }

    fn parts(&self) -> FrameParts<'_> {
        let section = self
            .table
            .as_ref()
            .map_or(&*self.section, |table| table.attribute_section());
        FrameParts {
            exec_ctx: &self.exec_ctx,
            op: self.op,
            arguments: &self.arguments,
            attributes: AttributeList {
                section,
                offsets: &self.attributes,
            },
            functions: FunctionList {
                table: self.table.as_ref(),
                ids: &self.functions,
            },
        }
    }
}

/// Keeps the promises with what a function returned.
fn settle<R: ResultPart>(
    ctx: &ExecutionContext,
    op: &'static OpDef,
    outcome: Result<R::Returned, Error>,
    promises: Vec<IndirectPromise>,
) {
    let mut results = vec![None; promises.len()];
    let (attributes, functions) = (AttributeList::EMPTY, FunctionList::default());
    let mut frame = KernelFrame::new(ctx, op, &[], attributes, functions, &mut results);
    match outcome {
        Ok(returned) => R::put(returned, &mut FrameSink::new::<R>(&mut frame)),
        Err(error) => frame.report_error(error),
    }
    frame.finish();
    for (promise, result) in promises.into_iter().zip(results.into_iter().flatten()) {
        // A waiter of one result that panics must not keep the others from theirs.
        if let Err(payload) = catch_unwind(AssertUnwindSafe(|| promise.forward_to(result))) {
            drop_quietly(payload);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::{Duration, SystemTime};

    use super::*;
    use tfrt_ods::{ResultDef, TypeConstraint};

    use crate::host::HostContext;
    use crate::kernel::KernelDescriptor;
    use crate::kernel::param::Arguments;
    use crate::kernel::result::Payload;
    use crate::request::{RequestContext, RequestContextBuilder};

    static NUM_DROPPED: AtomicUsize = AtomicUsize::new(0);
    static WAKERS: Mutex<Vec<std::task::Waker>> = Mutex::new(Vec::new());

    struct CountDrop;

    impl Drop for CountDrop {
        fn drop(&mut self) {
            NUM_DROPPED.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Waits for ever, and is kept alive by a waker that nobody calls.
    struct Forever;

    impl AsyncKernel for Forever {
        type Params = ();
        type Results = Payload<i32>;
        const OP: &'static OpDef = &OpDef {
            results: &[ResultDef::new("later", TypeConstraint::Exact("i32"))],
            ..OpDef::new("test.forever")
        };

        fn call<'h, 'f: 'h>((): Arguments<'h, 'f, ()>) -> impl Future<Output = i32> + Send {
            let count = CountDrop;
            poll_fn(move |cx| {
                let _ = &count;
                WAKERS.lock().unwrap().push(cx.waker().clone());
                Poll::Pending
            })
        }
    }

    fn start(request: &Arc<RequestContext>) -> AnyRef {
        let ctx = ExecutionContext::new(Arc::clone(request));
        let mut results = [None];
        KernelDescriptor::future::<Forever>().invoke_checked(&mut KernelFrame::new(
            &ctx,
            Forever::OP,
            &[],
            AttributeList::EMPTY,
            FunctionList::default(),
            &mut results,
        ));
        let [result] = results;
        result.expect("the slot is filled")
    }

    fn message(value: &AnyRef) -> Option<String> {
        value.error_if_present().map(ToString::to_string)
    }

    #[test]
    fn cancelling_drops_a_future_that_nobody_wakes() {
        let request = RequestContextBuilder::new(HostContext::builder().build()).build();
        let before = NUM_DROPPED.load(Ordering::Relaxed);
        let waiting = start(&request);
        assert!(!waiting.is_available());
        request.cancel();
        assert_eq!(message(&waiting).as_deref(), Some("Cancelled"));
        assert_eq!(message(&start(&request)).as_deref(), Some("Cancelled"));
        assert!(NUM_DROPPED.load(Ordering::Relaxed) > before);

        let late = RequestContextBuilder::new(HostContext::builder().build())
            .deadline(SystemTime::now() + Duration::from_millis(5))
            .build();
        let waiting = start(&late);
        while !waiting.is_available() {
            std::thread::yield_now();
        }
        assert_eq!(message(&waiting).as_deref(), Some("Cancelled"));
    }
}
