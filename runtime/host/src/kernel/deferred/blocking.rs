//! Kernels on the blocking pool.
//!
//! ```text
//!  thread of the executor                                   thread of the pool
//!  ──────────────────────                                   ──────────────────
//!  OwnedFrame: references to operands, context, file ─────► hold, call
//!                                                           drop what was held, and the operands
//!  a promise per result                             ◄────── keep the promises
//! ```
#![expect(unsafe_code, reason = "runs kernels whose operands were proven")]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use tfrt_async::AnyRef;
use tfrt_async::dropping::report_to;
use tfrt_attr::AlignedBytes;
use tfrt_ods::OpDef;
use tfrt_queue::Task;
use tfrt_support::Error;

use super::promises::Promises;
use crate::kernel::Kernel;
use crate::kernel::call::call_function;
use crate::kernel::frame::{FrameParts, KernelFrame};
use crate::kernel::function_ref::FunctionTable;
use crate::kernel::inputs::{AttributeList, FunctionList};
use crate::kernel::panic::{drop_quietly, panicked};
use crate::services::execution::ExecutionContext;

/// The error of the results if the blocking pool is full.
const POOL_IS_FULL: &str = "Failed to enqueue blocking work.";

/// Runs a function on the blocking pool.
///
/// # Safety
/// The duties of [`KernelDescriptor::invoke`](crate::kernel::KernelDescriptor::invoke).
pub(crate) unsafe fn run_blocking<K: Kernel>(frame: &mut KernelFrame<'_>) {
    let owned = OwnedFrame::of(frame);
    let promises = Promises::fill::<K::Results>(frame.results());
    let task = Task::new(move || {
        let (ctx, op) = (owned.exec_ctx.clone(), owned.op);
        report_to(&ctx, || {
            if let Some(cancelled) = ctx.request().cancel_value() {
                drop_quietly(owned);
                return promises.forward(|_| cancelled.clone());
            }
            let outcome = catch_unwind(AssertUnwindSafe(|| {
                // Dropped before the outcome is visible.
                let owned = owned;
                // SAFETY: the duties hold for the frame, hence for its copy: available values stay
                // available.
                unsafe { call_function::<K, _, _>(owned.parts(), |returned| returned) }
            }));
            let outcome = outcome.unwrap_or_else(|payload| Err(panicked(op.name, payload)));
            promises.keep::<K::Results>(&ctx, op, outcome);
        });
    });
    let ctx = frame.exec_ctx();
    if let Err(task) = ctx
        .queue()
        .add_blocking_task_for(ctx.request().tag(), task, true)
    {
        // The results become errors before the promises are dropped with the task.
        frame.report_error(Error::new(POOL_IS_FULL));
        drop(task);
    }
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
