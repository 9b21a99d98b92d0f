//! A synchronous function that is a loop of calls, ready to be run again and again.
//!
//! Its frame is kept from one run to the next, and with it the arguments: Y2 says that no kernel writes the cell of an argument. So
//! an argument is looked at and copied when it changes, and the function is looked up once.

use std::ptr::NonNull;
use std::sync::Arc;

use tfrt_bef::FunctionId;
use tfrt_host::ExecutionContext;
use tfrt_host::function::PreparedFunction;
use tfrt_host::tracing::{self, TracingLevel};
use tfrt_host::value_cell::ValueCell;
use tfrt_support::Error;

use super::{CallLoop, place};
use crate::constants::Word;
use crate::program::{FunctionBody, Program};

/// One function, as a loop of calls that calls nothing.
#[derive(Debug)]
pub(crate) struct PreparedLoop {
    program: Arc<Program>,
    id: FunctionId,
    frame: Box<[Word]>,
}

impl PreparedLoop {
    /// Function `id`, if it can be prepared for calls with so many arguments.
    pub(crate) fn new(program: Arc<Program>, id: FunctionId, num_arguments: usize) -> Option<Self> {
        let num_words = loop_of(&program, id)?.num_words;
        let is_expected = num_arguments == program.entry(id).argument_types.len();
        is_expected.then(|| Self {
            program,
            id,
            frame: vec![Word::uninit(); num_words].into(),
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
        changed: &[ValueCell],
        results: &mut [ValueCell],
    ) -> Option<Result<(), Error>> {
        let call_loop = loop_of(&self.program, self.id)?;
        if tracing::is_active(TracingLevel::Debug) || results.len() != call_loop.results.len() {
            return None;
        }
        let frame = NonNull::from(&mut *self.frame).cast();
        for (argument, cell) in changed.iter().zip(&call_loop.arguments) {
            let Some(cell) = *cell else { continue };
            // SAFETY: Y1 and Y2: the cell is in the frame, which has as many words as the loop asks for, and one for this type.
            let is_filled =
                unsafe { argument.copy_payload_to(cell.ty, cell.num_bytes, place(frame, cell)) };
            if !is_filled {
                return None;
            }
        }
        Some(call_loop.run_filled(&self.program, ctx, frame, results))
    }
}
