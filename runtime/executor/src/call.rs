//! The call of a kernel: without a check where types were proven at load, with one elsewhere.
#![expect(unsafe_code, reason = "spends the proof of `proof`, once per call")]

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;

use tfrt_host::kernel::KernelFrame;
use tfrt_host::kernel::direct::{DirectCall, DirectFn};
use tfrt_host::kernel::panic::panic_error;
use tfrt_support::Error;

use crate::body::{Body, Kernel, KernelDetails};
use crate::interpreter::SyncKernel;
use crate::invocation::InvocationRef;

/// Calls a kernel of `body` in place. Its operands are available and no failures: the ready loop sees to that.
#[inline]
pub(crate) fn direct(
    run: DirectFn,
    call: &DirectCall<'_>,
    invocation: &InvocationRef,
    body: &Body,
    kernel: &Kernel,
) -> Result<(), Error> {
    // SAFETY: 1: the block is that of an invocation of the body; a kernel runs once, and is the only one to write its results
    // (B1, B3). 2: the kernel is ready, so that the producers of its operands have written them (I1), of the types that it
    // reads (B5); what they could not write is among the failures, which the caller has looked at (F1).
    unsafe { on_block(run, call, invocation.registers(), body, kernel) }
}

/// Calls a kernel of `body` in place.
///
/// # Safety
/// 1. Behind `registers` is a block as `body` describes it, and the places of the kernel's results in it are the caller's alone.
/// 2. The places of its operands hold values that are available and of the types that the kernel reads.
#[inline]
pub(crate) unsafe fn on_block(
    run: DirectFn,
    call: &DirectCall<'_>,
    registers: NonNull<u8>,
    body: &Body,
    kernel: &Kernel,
) -> Result<(), Error> {
    debug_assert!(kernel.offsets as usize <= body.words.len());
    // SAFETY: B4: the offsets are a range of the words.
    let offsets = unsafe { body.words.as_ptr().add(kernel.offsets as usize) };
    // SAFETY: it points into the words, or to their end.
    let offsets = unsafe { NonNull::new_unchecked(offsets.cast_mut()) };
    // SAFETY: B5, and our duties 1 and 2, give duties 1 to 3 of the kernel: the offsets are its own. Its attributes were accepted when
    // the body was decoded (4).
    unsafe { run(call, registers, offsets) }
}

/// Calls an asynchronous kernel. Its operands are available and no errors: the ready loop sees to that.
#[inline]
pub(crate) fn call(kernel: &KernelDetails, frame: &mut KernelFrame<'_>) {
    if kernel.is_proven {
        // SAFETY: `Registers::check_kernel` saw that there are as many operands as declared (1), and that whoever writes
        // their registers gives the payload types that the kernel reads; the ready loop calls a kernel only when all of
        // them are available and none is an error (2).
        unsafe { kernel.descriptor.invoke(frame) }
    } else {
        kernel.descriptor.invoke_checked(frame);
    }
}

/// Calls a synchronous kernel. Its operand registers were written by earlier kernels or are arguments.
#[inline]
pub(crate) fn call_sync(kernel: &SyncKernel, frame: &mut KernelFrame<'_>) {
    if kernel.is_proven {
        // SAFETY: `Registers::check_kernel` saw that there are as many operands as declared (1), and that the kernels that
        // write their registers give the payload types that the kernel reads. They ran before, in program order, and the
        // interpreter saw that each of their results has a payload, or the function had stopped (2).
        unsafe { kernel.descriptor.invoke(frame) }
    } else {
        kernel.descriptor.invoke_checked(frame);
    }
}

/// Runs what must not keep the path from going on.
pub(crate) fn catch(f: impl FnOnce()) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(f)) {
        drop_quietly(payload);
    }
}

/// The error of a kernel that panicked with `payload`.
#[cold]
pub(crate) fn panicked(kernel: &str, payload: Box<dyn Any + Send>) -> Error {
    let error = panic_error(kernel, &*payload);
    drop_quietly(payload);
    error
}

/// Drops what may panic once more while it goes away.
#[cold]
pub(crate) fn drop_quietly<T>(value: T) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(value))) {
        // Whatever a panic brought along that panics itself is better leaked than dropped.
        std::mem::forget(payload);
    }
}
