//! Calls of kernels that a trace records: the same calls, in a scope that says which kernel it is and what it is connected
//! with.
//!
//! Out of line, so that the loops which call kernels carry one compare for it.

use std::slice;

use tfrt_host::ExecutionContext;
use tfrt_host::kernel::KernelFrame;
use tfrt_host::tracing::{KernelRun, Scope};

use crate::body::{KernelDetails, Words};
use crate::call;
use crate::interpreter::{SyncBody, SyncKernel};
use crate::invocation::InvocationRef;

/// The scope of a run of an asynchronous kernel.
#[inline(never)]
pub(crate) fn enter(
    invocation: &InvocationRef,
    kernel: &KernelDetails,
    stream: u32,
    ctx: &ExecutionContext,
) -> Scope {
    let several: Vec<u32>;
    let results = match &*kernel.results {
        [] => &[],
        [result] => slice::from_ref(&result.register),
        results => {
            several = results.iter().map(|result| result.register).collect();
            &*several
        }
    };
    Scope::enter_kernel(KernelRun {
        name: kernel.descriptor.name(),
        ctx,
        location_token: kernel.location,
        invocation: invocation.number(),
        stream: Some(stream),
        operands: invocation.body().words(kernel.operands),
        results,
    })
}

/// Calls a synchronous kernel; see [`call::call_sync`]. `invocation` is the number of this run of its function.
#[inline(never)]
pub(crate) fn call_sync(
    invocation: u64,
    body: &SyncBody,
    kernel: &SyncKernel,
    frame: &mut KernelFrame<'_>,
) {
    let words = |range: Words| &body.words[range.as_range()];
    let _scope = Scope::enter_kernel(KernelRun {
        name: kernel.descriptor.name(),
        ctx: frame.exec_ctx(),
        location_token: kernel.location,
        invocation,
        stream: None,
        operands: words(kernel.operands),
        results: words(kernel.results),
    });
    call::call_sync(kernel, frame);
}
