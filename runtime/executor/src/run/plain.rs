//! The inner loop: plain kernels, one after the other.
//!
//! A kernel is plain if it runs in place. Most plain kernels only need to be called and to have
//! their users counted down; some use their context, some have operands in slots, which are dropped
//! after the call, and the results of some have to be published. Every other kernel goes through
//! [`super::publish`], and so does every kernel once something has failed, is cancelled or is
//! traced.
#![expect(unsafe_code, reason = "calls kernels whose operands are in place")]

use tfrt_host::__runtime::{DirectCall, DirectFn, FileInputs, FunctionList};
use tfrt_support::Error;

use super::framed;
use super::path::{Path, Stop};
use crate::lower::code::{Extras, Kernel, KernelDetails, KernelId};

/// What a plain kernel may need besides the call.
const PLAIN: Extras = Extras::READS_CALL
    .and(Extras::TAKES_SLOTS)
    .and(Extras::PUBLISHES)
    .and(Extras::LOOKS)
    .and(Extras::RETURNS)
    .and(Extras::SETTLES);

/// What a constant may need whose results are already in its cells, so that only its users have to
/// be counted down.
pub(crate) const PLAIN_CONSTANT: Extras = Extras::READS_CALL.and(Extras::CONSTANT);

impl<'a> Path<'a> {
    /// Runs ready kernels until one is not plain: first those of the current stream, the last one
    /// first.
    pub(crate) fn run_plain_kernels(&mut self) -> Stop {
        let (code, invocation) = (self.code, self.invocation);
        let idle_call = self.idle_call;
        let (failures, request, is_traced) =
            (invocation.failures(), self.ctx.request(), self.is_traced);
        let has_constants = invocation.has_constants();
        while let Some(id) = self.next_kernel() {
            let kernel = code.kernel(id);
            let is_disturbed =
                is_traced || !failures.is_empty() || request.cancel_value().is_some();
            let (Some(run), false) = (kernel.direct, is_disturbed) else {
                return Stop::Next(id);
            };
            if kernel.extras == Extras::NONE {
                // The call does not panic: a direct kernel returns an error instead.
                if let Err(error) = self.call_in_place(run, kernel, &idle_call) {
                    return Stop::Failed(id, error);
                }
                self.count_down(kernel.users);
            } else if kernel.extras.is_within(PLAIN) {
                if let Err(error) = self.call_with_surroundings(run, id) {
                    return Stop::Failed(id, error);
                }
                if kernel.extras.contains(Extras::TAKES_SLOTS) {
                    self.release_operands(code.details(id));
                }
                self.hand_over_results(id, 0);
            } else if has_constants && kernel.extras.is_within(PLAIN_CONSTANT) {
                self.count_down(kernel.users);
            } else {
                return Stop::Next(id);
            }
            if self.has_outline() {
                return Stop::Distribute;
            }
        }
        Stop::Idle
    }

    /// Calls a kernel of this path that is ready. None of its operands has failed.
    #[inline]
    pub(crate) fn call_in_place(
        &self,
        run: DirectFn,
        kernel: &Kernel,
        call: &DirectCall<'_>,
    ) -> Result<(), Error> {
        // SAFETY: 1: a kernel runs once, and only it writes its results (C1, C3). 2: the kernel is
        // ready, so the producers of its operands have written them (F1 of `frame`), with the types
        // that it reads (C5); values that they could not write are among the failures, which the
        // caller has checked (L1 of `failures`).
        unsafe { self.frame.run(kernel.offsets, run, call) }
    }

    /// Like [`call_in_place`](Self::call_in_place), for a kernel that may use its context,
    /// attributes or functions.
    #[inline]
    pub(crate) fn call_with_surroundings(&self, run: DirectFn, id: KernelId) -> Result<(), Error> {
        let (kernel, details) = (self.code.kernel(id), self.code.details(id));
        if !kernel.extras.contains(Extras::READS_CALL) {
            return self.call_in_place(run, kernel, &self.idle_call);
        }
        let _running = self.ctx.enter_kernel(details.location);
        let file = FileInputs {
            attributes: framed::attributes(self.invocation.program(), self.code, details),
            functions: self.functions(details),
        };
        let call = DirectCall {
            exec_ctx: self.ctx,
            file: &file,
        };
        self.call_in_place(run, kernel, &call)
    }

    /// Returns the functions of a kernel.
    #[inline]
    pub(crate) fn functions(&self, details: &KernelDetails) -> FunctionList<'a> {
        FunctionList {
            table: Some(self.invocation.table()),
            ids: self.code.words(details.functions),
        }
    }
}
