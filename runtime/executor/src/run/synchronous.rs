//! Synchronous functions: their kernels run in program order on the calling thread, to the end or
//! to the first error.
//!
//! They follow a schedule like asynchronous functions, with a different policy: cancelling the
//! request does not end them, the host's handler is not notified of errors, and the location is
//! that of the caller. If the caller has no location, because a host program calls the function,
//! the location is that of the kernel.
//!
//! A function may be prepared for repeated runs. Its frame is kept from one run to the next, and
//! the arguments with it: no kernel writes the cell of an argument (C1). So an argument is checked
//! and copied only when it changes, and the function is looked up once.

use std::sync::Arc;

use tfrt_async::AnyRef;
use tfrt_bef::FunctionId;
use tfrt_host::__runtime::PreparedFunction;
use tfrt_host::ExecutionContext;
use tfrt_support::{Error, ErrorCode};

use super::body::Body;
use super::frame::KeptFrame;
use super::program::{FunctionBody, Program};
use super::sequence;

/// Runs function `id`; see [`execute_sync`](tfrt_host::__runtime::FunctionTable::execute_sync).
pub(crate) fn execute(
    program: &Arc<Program>,
    id: FunctionId,
    ctx: &ExecutionContext,
    arguments: &[AnyRef],
    results: &mut [Option<AnyRef>],
) -> Result<(), Error> {
    let function = program.entry(id);
    function.check_counts(arguments.len(), results.len())?;
    let FunctionBody::Sync(body) = program.body(id)? else {
        let message = format!("function `{}` is not synchronous", function.name);
        return Err(Error::new(message).with_code(ErrorCode::InvalidArgument));
    };
    function.check_present(arguments)?;
    let max_depth = ctx.host().limits().max_call_depth;
    if ctx.call_depth() >= max_depth {
        let message = format!("function calls are nested more than {max_depth} levels deep");
        return Err(Error::new(message).with_code(ErrorCode::ResourceExhausted));
    }
    sequence::run_sync(program, body, ctx, arguments, results)
}

/// A function that is prepared for repeated runs.
#[derive(Debug)]
pub(crate) struct PreparedCode {
    program: Arc<Program>,
    id: FunctionId,
    /// Holds the arguments and the constants.
    frame: KeptFrame,
    /// Whether there is an argument that no kernel reads, so that its type is not checked in the
    /// frame.
    has_unread: bool,
}

impl PreparedCode {
    /// Prepares function `id` with these initial arguments. Returns `None` if it cannot be
    /// prepared, or not for arguments of these types.
    ///
    /// # Errors
    /// Fails if [`execute`] would reject these arguments.
    pub(crate) fn new(
        program: Arc<Program>,
        id: FunctionId,
        ctx: &ExecutionContext,
        arguments: &[AnyRef],
    ) -> Result<Option<Self>, Error> {
        let function = program.entry(id);
        function.check_counts(arguments.len(), function.result_types.len())?;
        function.check_present(arguments)?;
        let Some(body) = body_of(&program, id) else {
            return Ok(None);
        };
        // A run takes values out of slots, so they would be missing in the next one.
        if body.code.frame.has_slots || ctx.call_depth() >= ctx.host().limits().max_call_depth {
            return Ok(None);
        }
        let mut frame = KeptFrame::new(&body.code);
        let registers = &body.code.registers[..arguments.len()];
        let has_unread = registers.iter().any(|register| register.cell.is_none());
        let filled = frame.frame(&body.code);
        let is_filled = fill(filled, arguments);
        body.constants
            .put(filled, || program.attribute_section(), ctx);
        Ok(is_filled.then(|| Self {
            program,
            id,
            frame,
            has_unread,
        }))
    }
}

/// Copies arguments into the cells that kernels read. Returns `true` if all of them are of the
/// types that the kernels read.
#[inline]
fn fill(frame: super::frame::Frame<'_>, arguments: &[AnyRef]) -> bool {
    arguments
        .iter()
        .zip(&frame.code.registers)
        .all(|(argument, register)| register.cell.is_none() || frame.fill(register, argument))
}

#[inline]
fn body_of(program: &Program, id: FunctionId) -> Option<&Body> {
    match program.body(id) {
        Ok(FunctionBody::Sync(body)) => Some(body),
        _ => None,
    }
}

impl PreparedFunction for PreparedCode {
    fn run(
        &mut self,
        ctx: &ExecutionContext,
        changed: &[AnyRef],
        results: &mut [Option<AnyRef>],
    ) -> Option<Result<(), Error>> {
        let body = body_of(&self.program, self.id)?;
        if results.len() != body.code.results.len() {
            return None;
        }
        if self.has_unread && self.program.entry(self.id).check_present(changed).is_err() {
            return None;
        }
        let frame = self.frame.frame(&body.code);
        fill(frame, changed).then(|| sequence::run_filled(&self.program, body, ctx, frame, results))
    }
}
