//! The scope of a kernel in a trace: which kernel it is, how it is connected, and when its results
//! become available.
//!
//! Out of line, so that the loops that call kernels carry only one comparison for it.

use tfrt_async::AnyRef;
use tfrt_host::__runtime::PendingResult;
use tfrt_host::ExecutionContext;
use tfrt_host::tracing::{KernelRun, Scope};
use tfrt_support::entity::EntityId;

use crate::lower::code::{Code, KernelDetails, KernelResult, RegisterId, StreamId};

/// Enters the scope of a run of a kernel. `invocation` is the number of the run of its function.
/// Synchronous functions have no streams.
#[inline(never)]
pub(crate) fn enter(
    invocation: u64,
    code: &Code,
    kernel: &KernelDetails,
    stream: Option<StreamId>,
    ctx: &ExecutionContext,
) -> Scope {
    let (one, several): ([u32; 1], Vec<u32>);
    let number = |result: &KernelResult| result.register.index() as u32;
    let results = match &*kernel.results {
        [] => &[][..],
        [result] => {
            one = [number(result)];
            &one
        }
        results => {
            several = results.iter().map(number).collect();
            &several
        }
    };
    Scope::enter_kernel(ctx, || KernelRun {
        name: kernel.descriptor.name(),
        ctx,
        location_token: kernel.location,
        invocation,
        stream: stream.map(|stream| stream.index() as u32),
        operands: code.words(kernel.operands),
        results,
    })
}

/// Records in the trace when a result becomes available that a kernel has left unavailable.
///
/// Waiters run in reverse order of registration, so this waiter is registered after all others in
/// order to run before them.
#[inline(never)]
pub(crate) fn follow(
    invocation: u64,
    kernel: &KernelDetails,
    register: RegisterId,
    result: &AnyRef,
    ctx: &ExecutionContext,
) {
    if result.is_available() {
        return;
    }
    let register = register.index() as u32;
    let (name, location) = (kernel.descriptor.name(), kernel.location);
    if let Some(pending) = PendingResult::begin(name, location, invocation, register, ctx) {
        result.and_then(move |_| drop(pending));
    }
}
