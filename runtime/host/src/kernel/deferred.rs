//! Kernels that go on after the executor has called them: on the blocking pool, or as a future on the work queue.
//!
//! ```text
//!  run_blocking / run_future (dispatching thread)           task (another thread, or the same one later)
//!  ──────────────────────────────────────────────           ───────────────────────────────────────────
//!  OwnedFrame: references to operands, context, file ─────► KernelFrame over it: hold, call, put
//!  one indirect value per result slot               ◄────── forward each result
//! ```
//!
//! The task owns all that it borrows from. A request that was cancelled before the task begins, or between two polls,
//! makes its results the cancel value.
#![expect(unsafe_code, reason = "runs kernels whose operands were proven")]

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::Poll;

use tfrt_async::{AnyRef, IndirectPromise};
use tfrt_attr::AlignedBytes;
use tfrt_ods::OpDef;
use tfrt_queue::Task;
use tfrt_support::Error;

use crate::execution::ExecutionContext;
use crate::function::FunctionTable;
use crate::kernel::descriptor;
use crate::kernel::frame::{AttributeList, FrameParts, FunctionList, KernelFrame};
use crate::kernel::panic::panic_error;
use crate::kernel::param::ParamList;
use crate::kernel::result::{FrameSink, ResultPart};
use crate::kernel::{AsyncKernel, Kernel};

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
        if let Some(cancelled) = owned.exec_ctx.request().cancel_value() {
            for promise in promises {
                promise.forward_to(cancelled.clone());
            }
            return;
        }
        // SAFETY: the duties hold for the frame, hence for its copy: what is available stays so.
        let outcome = catch_unwind(AssertUnwindSafe(|| unsafe {
            descriptor::call::<K, _>(owned.parts())
        }));
        let outcome = outcome.unwrap_or_else(|payload| Err(panic_error(owned.op.name, &*payload)));
        owned.settle::<K::Results>(outcome, promises);
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

    let mut work = Box::pin(async move {
        // SAFETY: the duties hold for the frame, hence for its copy: what is available stays so.
        let outcome = match unsafe { K::Params::hold(owned.parts()) } {
            Ok(mut held) => Ok(K::call(K::Params::lend(&mut held)).await),
            Err(error) => Err(error),
        };
        owned.settle::<K::Results>(outcome, promises);
    });
    let queue_ctx = ctx.clone();
    let guarded = poll_fn(move |cx| {
        let error = match ctx
            .request()
            .cancel_value()
            .and_then(AnyRef::error_if_present)
        {
            Some(cancelled) => cancelled.clone(),
            None => match catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(cx))) {
                Ok(poll) => return poll,
                Err(payload) => ctx.emit_error(panic_error(op.name, &*payload)),
            },
        };
        for result in &results {
            let _ = result.try_set_error(error.clone());
        }
        Poll::Ready(())
    });
    let (runnable, task) = async_task::spawn(guarded, move |runnable: async_task::Runnable| {
        queue_ctx.enqueue(move || {
            runnable.run();
        });
    });
    task.detach();
    runnable.run();
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

    /// Keeps the promises with what a function returned.
    fn settle<R: ResultPart>(
        &self,
        outcome: Result<R::Returned, Error>,
        promises: Vec<IndirectPromise>,
    ) {
        let mut results = vec![None; promises.len()];
        let FrameParts {
            exec_ctx,
            op,
            arguments,
            attributes,
            functions,
        } = self.parts();
        let mut frame =
            KernelFrame::new(exec_ctx, op, arguments, attributes, functions, &mut results);
        match outcome {
            Ok(returned) => R::put(returned, &mut FrameSink::new::<R>(&mut frame)),
            Err(error) => frame.report_error(error),
        }
        frame.finish();
        for (promise, result) in promises.into_iter().zip(results.into_iter().flatten()) {
            promise.forward_to(result);
        }
    }
}
