//! The call of a kernel: without a check where types were proven at load, with one elsewhere.
#![expect(unsafe_code, reason = "spends the proof of `proof`, once per call")]

use tfrt_host::kernel::{KernelFrame, SyncKernelFrame};

use crate::body::Kernel;
use crate::interpreter::SyncKernel;

/// Calls an asynchronous kernel. Its operands are available and no errors: the ready loop sees to that.
#[inline]
pub(crate) fn call(kernel: &Kernel, frame: &mut KernelFrame<'_>) {
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
pub(crate) fn call_sync(kernel: &SyncKernel, frame: &mut SyncKernelFrame<'_>) {
    if kernel.is_proven {
        // SAFETY: `Registers::check_kernel` saw that there are as many operands as declared (1), and that the kernels that
        // write their registers give the payload types that the kernel reads. They ran before, in program order, and did
        // write, or the function had stopped (2); nobody clears a register before its last reader ran.
        unsafe { kernel.descriptor.invoke_sync(frame) }
    } else {
        kernel.descriptor.invoke_sync_checked(frame);
    }
}
