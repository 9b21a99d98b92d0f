//! Kernels run by another copy of the runtime.
//!
//! Only a kernel library's own copy of the standard library can catch panics of the library's code.
//! So the program does not call such a kernel directly: it calls code of the library that catches
//! the kernel's panic and returns its payload. The program then resumes the panic, which it handles
//! like that of any other kernel. A [direct](crate::kernel::direct) kernel catches its own panics,
//! so the program calls it like one of its own.
#![expect(unsafe_code, reason = "passes the duties of descriptors on")]

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use crate::kernel::descriptor::KernelDescriptor;
use crate::kernel::direct::Direct;
use crate::kernel::frame::KernelFrame;

/// The outcome of a call: success, or the payload of a panic.
type Outcome = Result<(), Box<dyn Any + Send>>;

/// A kernel of a library, and the library's functions to run it.
#[derive(Debug)]
pub(super) struct LibraryKernel {
    kernel: KernelDescriptor,
    invoke: unsafe fn(&KernelDescriptor, &mut KernelFrame<'_>) -> Outcome,
    invoke_checked: fn(&KernelDescriptor, &mut KernelFrame<'_>) -> Outcome,
}

/// In the library.
impl LibraryKernel {
    /// Wraps a kernel of this copy of the runtime for another one.
    pub(super) fn new(kernel: KernelDescriptor) -> Self {
        // After a panic, the executor expects a partially filled frame.
        Self {
            kernel,
            invoke: |kernel, frame| {
                // SAFETY: the duties of the field are those of the method.
                let invoke = || unsafe { kernel.invoke(frame) };
                catch_unwind(AssertUnwindSafe(invoke))
            },
            invoke_checked: |kernel, frame| {
                catch_unwind(AssertUnwindSafe(|| kernel.invoke_checked(frame)))
            },
        }
    }
}

/// In the program.
impl LibraryKernel {
    /// Returns the kernel as a direct one, which [does not unwind](crate::kernel::direct) and needs
    /// no wrapper.
    pub(super) const fn direct(&self) -> Option<Direct> {
        self.kernel.direct()
    }

    /// See [`KernelDescriptor::invoke`].
    ///
    /// # Safety
    /// The duties of [`KernelDescriptor::invoke`].
    pub(super) unsafe fn invoke(&self, frame: &mut KernelFrame<'_>) {
        // SAFETY: the caller fulfils the duties.
        go_on(unsafe { (self.invoke)(&self.kernel, frame) });
    }

    /// See [`KernelDescriptor::invoke_checked`].
    pub(super) fn invoke_checked(&self, frame: &mut KernelFrame<'_>) {
        go_on((self.invoke_checked)(&self.kernel, frame));
    }
}

/// Resumes a panic of a library in the program.
fn go_on(outcome: Outcome) {
    if let Err(payload) = outcome {
        resume_unwind(payload);
    }
}
