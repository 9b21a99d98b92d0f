//! The state of a run that follows a schedule.

use std::cell::Cell;
use std::sync::Arc;

use tfrt_host::__runtime::RunningKernel;
use tfrt_host::ExecutionContext;

use crate::lower::code::KernelDetails;
use crate::run::body::Body;
use crate::run::frame::Frame;
use crate::run::invocation::InvocationRef;
use crate::run::nesting::Nesting;
use crate::run::pace::Watch;
use crate::run::path::Progress;
use crate::run::program::Program;

/// One run that follows a schedule.
pub(crate) struct Run<'a> {
    pub(crate) program: &'a Arc<Program>,
    pub(crate) body: &'a Body,
    pub(crate) frame: Frame<'a>,
    /// The context inside the function.
    pub(crate) ctx: &'a ExecutionContext,
    pub(crate) has_constants: bool,
    pub(crate) is_traced: bool,
    /// Whether the function is synchronous.
    pub(crate) is_sync: bool,
    /// Whether errors carry the location of the caller: those of a synchronous function do, if a
    /// program calls it.
    pub(crate) stays_in_place: bool,
    pub(crate) watch: Option<&'a Watch>,
    /// Proof that the run is counted on the stack of its thread.
    pub(crate) nesting: Option<&'a Nesting>,
    /// The invocation of a run that [has waited](super::waiting): the frame is its own, and its
    /// caller gets each result at once.
    pub(crate) invocation: Option<&'a InvocationRef>,
    /// The number of the run in traces, assigned when a trace first needs it.
    pub(crate) number: Cell<Option<u64>>,
    /// The progress of the current kernel, in case something panics.
    pub(crate) progress: Cell<Progress>,
}

impl<'a> Run<'a> {
    /// Returns the run of a leaf that has to be left.
    #[cold]
    pub(crate) fn of_leaf(
        program: &'a Arc<Program>,
        body: &'a Body,
        frame: Frame<'a>,
        ctx: &'a ExecutionContext,
        nesting: &'a Nesting,
    ) -> Self {
        Self {
            program,
            body,
            frame,
            ctx,
            has_constants: body.constants.are_made(),
            is_traced: false,
            is_sync: false,
            stays_in_place: false,
            watch: None,
            nesting: Some(nesting),
            invocation: None,
            number: Cell::new(None),
            progress: Cell::new(Progress::Idle),
        }
    }

    /// Moves the context to a kernel that begins, unless errors carry the location of the caller.
    /// The entry is to be dropped when the kernel has returned.
    #[inline]
    pub(crate) fn enter(&self, details: &KernelDetails) -> Option<RunningKernel> {
        match self.stays_in_place {
            true => None,
            false => self.ctx.enter_kernel(details.location),
        }
    }
}
