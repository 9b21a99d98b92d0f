//! The inner loop: plain kernels, one after the other.
//!
//! A kernel is plain if it runs in place and takes no references. Most of them need nothing but to be called and to have their
//! users counted down; some look at their surroundings, and the results of some have to be published. Every other kernel, and
//! everything once something has failed, is cancelled or is traced, goes through [`crate::publish`].
#![expect(
    unsafe_code,
    reason = "indexes a verified body without looking, once per kernel"
)]

use tfrt_host::function::FunctionTable;
use tfrt_host::kernel::direct::{DirectCall, DirectFn};
use tfrt_host::kernel::{AttributeList, FunctionList};
use tfrt_support::Error;

use crate::body::{Body, Extras, Kernel, Words};
use crate::call;
use crate::ready::{Path, Step};

/// Why the inner loop has ended.
#[derive(Debug)]
pub(crate) enum Stop {
    /// Nothing is ready.
    Idle,
    /// Kernels of other streams are ready.
    Distribute,
    /// This kernel is next, and is not plain.
    Next(u32),
    /// The kernel of this index failed.
    Failed(u32, Error),
}

impl Path<'_> {
    /// Runs ready kernels, those of the current stream first and of these the last one, up to one that is not plain.
    pub(crate) fn run_plain_kernels(&mut self) -> Stop {
        let (body, invocation) = (self.body, self.invocation);
        let idle_call = self.idle_call();
        let (failures, request, is_traced) =
            (invocation.failures(), self.ctx.request(), self.is_traced());
        let has_constants = invocation.has_constants();
        while let Some(number) = self.next_kernel() {
            let kernel = kernel(body, number);
            let is_disturbed =
                is_traced || !failures.is_empty() || request.cancel_value().is_some();
            let (Some(direct), false) = (kernel.direct, is_disturbed) else {
                return Stop::Next(number);
            };
            if kernel.extras == Extras::NONE {
                self.step = Step::Calling { kernel: number - 1 };
                let called = call::direct(direct, &idle_call, invocation, body, kernel);
                self.step = Step::Idle;
                if let Err(error) = called {
                    return Stop::Failed(number - 1, error);
                }
                self.count_down(kernel.users);
            } else if kernel.extras.is_plain() {
                self.step = Step::Calling { kernel: number - 1 };
                if let Err(error) = self.call_with_surroundings(direct, kernel, number) {
                    return Stop::Failed(number - 1, error);
                }
                self.hand_over_results(number as usize - 1, 0);
            } else if has_constants && kernel.extras.is_plain_constant() {
                self.count_down(kernel.users);
            } else {
                return Stop::Next(number);
            }
            if self.has_outline() {
                return Stop::Distribute;
            }
        }
        Stop::Idle
    }

    /// Calls a kernel that may look at its context, attributes or functions.
    #[inline]
    fn call_with_surroundings(
        &self,
        direct: DirectFn,
        kernel: &Kernel,
        number: u32,
    ) -> Result<(), Error> {
        let (body, invocation) = (self.body, self.invocation);
        // B4: a kernel has its details at the same index.
        let details = &body.details[number as usize - 1];
        self.ctx.set_location_token(details.location);
        let call = DirectCall {
            exec_ctx: self.ctx,
            attributes: match words(body, details.attributes) {
                [] => AttributeList::EMPTY,
                offsets => AttributeList {
                    section: invocation.program().attribute_section(),
                    offsets,
                },
            },
            functions: FunctionList {
                table: Some(invocation.table()),
                ids: words(body, details.functions),
            },
        };
        call::direct(direct, &call, invocation, body, kernel)
    }

    /// The kernel to run now: the last one of the current stream, or else the first one of the batch.
    #[inline]
    fn next_kernel(&mut self) -> Option<u32> {
        if let Some(number) = self.pop() {
            return Some(number);
        }
        let (&number, rest) = self.batch().split_first()?;
        let stream = kernel(self.body, number).stream;
        match rest {
            [next, ..] if kernel(self.body, *next).stream == stream => self.take_group(),
            _ => {
                self.set_batch(stream, rest);
                Some(number)
            }
        }
    }

    /// Counts an operand of each of `users` as available, and lists those that are ready.
    #[inline]
    pub(crate) fn count_down(&mut self, users: Words) {
        let (body, invocation) = (self.body, self.invocation);
        let is_alone = self.is_alone();
        for &number in words(body, users) {
            if invocation.count_down(number as usize - 1, is_alone) {
                self.make_ready(number, kernel(body, number).stream);
            }
        }
    }
}

/// Kernel `number` of a body.
#[inline]
fn kernel(body: &Body, number: u32) -> &Kernel {
    debug_assert!((number as usize).wrapping_sub(1) < body.kernels.len());
    // SAFETY: B4: the numbers of kernels count from 1, and are in range wherever a body names one.
    unsafe { body.kernels.get_unchecked(number as usize - 1) }
}

/// The words of a range of a body.
#[inline]
fn words(body: &Body, range: Words) -> &[u32] {
    debug_assert!(range.as_range().end <= body.words.len());
    // SAFETY: B4: the ranges of a body were made as its words were collected.
    unsafe { body.words.get_unchecked(range.as_range()) }
}
