//! Kernels as another copy of the runtime runs them.
//!
//! A kernel library has a copy of the standard library, which alone can catch the panics of the library's code. So the program
//! does not call such a kernel itself: it calls code of the library that does and returns what the kernel panicked with.
//! The program then panics in the library's stead, and what becomes of that is as with any other kernel. A
//! [direct](crate::kernel::direct) kernel catches its own panics, so that the program calls it as one of its own.
#![expect(unsafe_code, reason = "passes the duties of descriptors on")]

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use crate::kernel::descriptor::KernelDescriptor;
use crate::kernel::direct::Direct;
use crate::kernel::frame::KernelFrame;

/// What came of a call: nothing, or what it panicked with.
type Outcome = Result<(), Box<dyn Any + Send>>;

/// A kernel of a library, and the library's ways to run it.
#[derive(Debug)]
pub(super) struct LibraryKernel {
    kernel: KernelDescriptor,
    invoke: unsafe fn(&KernelDescriptor, &mut KernelFrame<'_>) -> Outcome,
    invoke_checked: fn(&KernelDescriptor, &mut KernelFrame<'_>) -> Outcome,
}

/// In the library.
impl LibraryKernel {
    /// A kernel of this copy of the runtime, for another one.
    pub(super) fn new(kernel: KernelDescriptor) -> Self {
        // A frame that a kernel left half filled is what the executor expects after a panic.
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
    /// The kernel as a direct one, which [does not unwind](crate::kernel::direct) and needs no help.
    pub(super) const fn direct(&self) -> Option<Direct> {
        self.kernel.direct()
    }

    /// See [`KernelDescriptor::invoke`].
    ///
    /// # Safety
    /// The duties of [`KernelDescriptor::invoke`].
    pub(super) unsafe fn invoke(&self, frame: &mut KernelFrame<'_>) {
        // SAFETY: the caller's duties.
        go_on(unsafe { (self.invoke)(&self.kernel, frame) });
    }

    /// See [`KernelDescriptor::invoke_checked`].
    pub(super) fn invoke_checked(&self, frame: &mut KernelFrame<'_>) {
        go_on((self.invoke_checked)(&self.kernel, frame));
    }
}

/// Lets a panic of a library go on in the program.
fn go_on(outcome: Outcome) {
    if let Err(payload) = outcome {
        resume_unwind(payload);
    }
}
