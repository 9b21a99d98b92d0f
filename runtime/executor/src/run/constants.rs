//! Constant kernels: they run once for a body, and their results are copied into every frame.
//!
//! A constant takes part in scheduling like any other kernel, so the order of kernels does not
//! change. But its result is in its cell from the start, and the kernel is not called.
#![expect(
    unsafe_code,
    reason = "calls kernels on a frame that was laid out for them"
)]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;

use tfrt_host::__runtime::{AttributeList, DirectCall, FileInputs, FunctionList};
use tfrt_host::ExecutionContext;

use super::frame::{Frame, Word};
use super::panics;
use crate::lower::code::{Code, Extras};

/// The constants of a body, computed for its first run.
#[derive(Debug, Default)]
pub(crate) struct Constants(OnceLock<Option<Box<[Word]>>>);

impl Constants {
    /// Returns `true` if there are constants and they could be computed.
    #[inline]
    pub(crate) fn are_made(&self) -> bool {
        matches!(self.0.get(), Some(Some(_)))
    }

    /// Returns `true` if all constants of the code can be put into a frame.
    #[inline]
    pub(crate) fn are_ready(&self, code: &Code) -> bool {
        !code.frame.has_constants() || self.are_made()
    }

    /// Puts the computed constants into a frame.
    #[inline(always)]
    pub(crate) fn put_made(&self, frame: Frame<'_>) {
        if let Some(Some(words)) = self.0.get() {
            frame.fill_constants(words);
        }
    }

    /// Puts the constants of the code into a frame. If one of them fails, none is put there, and
    /// each run reports the failure.
    #[inline]
    pub(crate) fn put<'s>(
        &self,
        frame: Frame<'_>,
        section: impl FnOnce() -> &'s [u8],
        ctx: &ExecutionContext,
    ) {
        if !frame.code.frame.has_constants() {
            return;
        }
        let words = self.0.get_or_init(|| make(frame.code, section(), ctx));
        if let Some(words) = words {
            frame.fill_constants(words);
        }
    }
}

/// Returns the words of the constants of the code, or `None` if one of them fails.
#[cold]
fn make(code: &Code, section: &[u8], ctx: &ExecutionContext) -> Option<Box<[Word]>> {
    Frame::with(code, |frame| {
        let run_all = || run_all(frame, section, ctx);
        let is_made = catch_unwind(AssertUnwindSafe(run_all)).unwrap_or_else(|payload| {
            panics::drop_quietly(payload);
            false
        });
        let words = frame.words_from(code.frame.constants.start);
        // SAFETY: the range is in the frame (F3 of `frame`), and words may be uninitialised.
        let words =
            unsafe { std::slice::from_raw_parts(words.as_ptr(), code.frame.constants.len()) };
        is_made.then(|| words.into())
    })
}

fn run_all(frame: Frame<'_>, section: &[u8], ctx: &ExecutionContext) -> bool {
    let code = frame.code;
    let kernels = code.kernels.iter().zip(&code.details);
    let mut constants = kernels.filter(|(kernel, _)| kernel.extras.contains(Extras::CONSTANT));
    constants.all(|(kernel, details)| {
        let Some(run) = kernel.direct else {
            return false;
        };
        let file = FileInputs {
            attributes: AttributeList {
                section,
                offsets: code.words(details.attributes),
            },
            functions: FunctionList::default(),
        };
        let call = DirectCall {
            exec_ctx: ctx,
            file: &file,
        };
        // SAFETY: the frame belongs to this run alone; a constant has no operands, and cells for
        // its results.
        unsafe { frame.run(kernel.offsets, run, &call) }.is_ok()
    })
}
