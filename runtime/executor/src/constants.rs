//! Kernels that are constants: run once for a body, and copied into every invocation.
//!
//! A constant takes part in scheduling as any other kernel does, so that what runs when does not change; but its result is in its
//! cell from the start, and nothing is called.
#![expect(
    unsafe_code,
    reason = "calls kernels on a block that was laid out for them"
)]

use std::mem::MaybeUninit;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;
use std::sync::OnceLock;

use tfrt_host::ExecutionContext;
use tfrt_host::kernel::FunctionList;
use tfrt_host::kernel::direct::DirectCall;

use crate::body::{Body, Extras};
use crate::call;
use crate::program::Program;
use crate::publish;

/// One word of a block.
pub(crate) type Word = MaybeUninit<u64>;

/// The constants of a body.
///
/// Invariant Z1: the range is of words of the block, and holds the cells of the results of constant kernels, and nothing else.
#[derive(Debug)]
pub(crate) struct Constants {
    range: Range<usize>,
    /// What is in the range; nothing if a constant could not be made. Made for the first invocation.
    words: OnceLock<Option<Box<[Word]>>>,
}

impl Constants {
    /// The constants whose cells are in these bytes of the block, which are whole words.
    pub(crate) fn new(bytes: Range<usize>) -> Self {
        Self {
            range: bytes.start / size_of::<Word>()..bytes.end / size_of::<Word>(),
            words: OnceLock::new(),
        }
    }

    /// Whether there are constants, and they could be made.
    #[inline]
    pub(crate) fn are_made(&self) -> bool {
        matches!(self.words.get(), Some(Some(_)))
    }

    /// The words of the constants of `body`, and at which word of a block they belong; nothing if there are none.
    pub(crate) fn get_or_make(
        &self,
        program: &Program,
        body: &Body,
        ctx: &ExecutionContext,
    ) -> Option<(usize, &[Word])> {
        if self.range.is_empty() {
            return None;
        }
        let make = || {
            let num_words = body.block.size().div_ceil(size_of::<Word>());
            let mut block = vec![Word::uninit(); num_words];
            let registers = NonNull::from(&mut *block).cast::<u8>();
            let run_all = || run_all(program, body, ctx, registers);
            let is_made = catch_unwind(AssertUnwindSafe(run_all)).unwrap_or_else(|payload| {
                call::drop_quietly(payload);
                false
            });
            is_made.then(|| block[self.range.clone()].into())
        };
        let words = self.words.get_or_init(make).as_deref()?;
        Some((self.range.start, words))
    }
}

/// Runs the constants of `body` on a block of its own; whether all of them succeeded. If not, each invocation finds out what is
/// wrong, and tells.
fn run_all(program: &Program, body: &Body, ctx: &ExecutionContext, registers: NonNull<u8>) -> bool {
    let kernels = body.kernels.iter().zip(&body.details);
    let mut constants = kernels.filter(|(kernel, _)| kernel.extras.contains(Extras::CONSTANT));
    constants.all(|(kernel, details)| {
        let Some(direct) = kernel.direct else {
            return false;
        };
        let call = DirectCall {
            exec_ctx: ctx,
            attributes: publish::attributes(program, body, details),
            functions: FunctionList::default(),
        };
        // SAFETY: the block is as large as that of an invocation, aligned to words as its cells are, and nobody else's; a
        // constant has no operands, and cells for its results.
        unsafe { call::on_block(direct, &call, registers, body, kernel) }.is_ok()
    })
}
