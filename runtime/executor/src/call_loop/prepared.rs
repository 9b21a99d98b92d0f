//! A synchronous function that is a loop of calls, ready to be run again and again.
//!
//! Its frame is kept from one run to the next, and with it the arguments: Y2 says that no kernel writes the cell of an argument. So
//! an argument is looked at and copied when it changes, and the function is looked up once.
//!
//! Invariant L1: the cells of all arguments that a kernel reads are filled, from the beginning. Upheld by `new`.

use std::ptr::NonNull;
use std::sync::Arc;

use tfrt_async::AnyRef;
use tfrt_bef::FunctionId;
use tfrt_host::ExecutionContext;
use tfrt_host::function::PreparedFunction;
use tfrt_host::tracing::{self, TracingLevel};
use tfrt_support::Error;

use super::CallLoop;
use crate::constants::Word;
use crate::program::{FunctionBody, Program};

/// One function, as a loop of calls that calls nothing.
#[derive(Debug)]
pub(crate) struct PreparedLoop {
    program: Arc<Program>,
    id: FunctionId,
    frame: Box<[Word]>,
    /// Whether there is an argument that no kernel reads, whose type is nobody else's concern.
    has_unread: bool,
}

impl PreparedLoop {
    /// Function `id`, beginning with these arguments, of which there are as many as declared. Nothing if it cannot be prepared, or not
    /// for arguments of these types.
    pub(crate) fn new(program: Arc<Program>, id: FunctionId, arguments: &[AnyRef]) -> Option<Self> {
        let call_loop = loop_of(&program, id)?;
        let has_unread = call_loop.arguments.iter().any(Option::is_none);
        let mut frame: Box<[Word]> = vec![Word::uninit(); call_loop.num_words].into();
        let is_filled = call_loop.fill(NonNull::from(&mut *frame).cast(), arguments);
        is_filled.then(|| Self {
            program,
            id,
            frame,
            has_unread,
        })
    }
}

#[inline]
fn loop_of(program: &Program, id: FunctionId) -> Option<&CallLoop> {
    let Ok(FunctionBody::Sync(body)) = program.body(id) else {
        return None;
    };
    let call_loop = body.call_loop.as_ref();
    call_loop.filter(|call_loop| call_loop.is_leaf())
}

impl PreparedFunction for PreparedLoop {
    fn run(
        &mut self,
        ctx: &ExecutionContext,
        changed: &[AnyRef],
        results: &mut [Option<AnyRef>],
    ) -> Option<Result<(), Error>> {
        let call_loop = loop_of(&self.program, self.id)?;
        if tracing::is_active(TracingLevel::Debug) || results.len() != call_loop.results.len() {
            return None;
        }
        if self.has_unread && self.program.entry(self.id).check_present(changed).is_err() {
            return None;
        }
        let frame = NonNull::from(&mut *self.frame).cast();
        call_loop
            .fill(frame, changed)
            .then(|| call_loop.run_filled(&self.program, ctx, frame, results))
    }
}
