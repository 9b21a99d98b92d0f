//! Leaving a schedule: a run that continues as an invocation, in the ready loop or once a result is
//! available, or ends with an error.

use std::any::Any;
use std::sync::Arc;

use tfrt_async::AnyRef;
use tfrt_async::pool::Pooled;
use tfrt_host::ExecutionContext;
use tfrt_support::entity::EntityId;
use tfrt_support::{Error, ErrorCode};

use super::left::{Left, produced_registers, unshare, uses_to_come};
use super::state::Run;
use super::transfer::{Transfer, give_results, take_result};
use super::waiting;
use crate::lower::code::{KernelId, ResultForm};
use crate::lower::schedule::Simulation;
use crate::lower::shared::num_held;
use crate::run::invocation::InvocationRef;
use crate::run::nesting;
use crate::run::panics;
use crate::run::path::{Lists, Progress};
use crate::run::ready::run_path;

impl Run<'_> {
    /// Returns how a run is left after a panic of the current kernel, or of a payload that it
    /// drops.
    #[cold]
    pub(crate) fn after_panic(
        &self,
        payload: Box<dyn Any + Send>,
        lists: &mut Option<Box<Lists>>,
    ) -> Pooled<Left> {
        let mut lists = lists.take().unwrap_or_else(Lists::take);
        panics::drop_quietly(std::mem::take(&mut lists.operands));
        let panicked = |id: KernelId, payload| {
            panics::panicked(self.frame.code.details(id).descriptor.name(), payload)
        };
        Pooled::new(match self.progress.get() {
            Progress::Idle => unreachable!("a run that has not begun a kernel does not panic"),
            Progress::InPlace(id) => {
                panics::drop_quietly(std::mem::take(&mut lists.results));
                Left::Failed(id, panicked(id, payload))
            }
            Progress::Framed(id) => {
                panics::drop_quietly(std::mem::take(&mut lists.results));
                Left::FailedFramed(id, panicked(id, payload))
            }
            Progress::HandingOver(id, number) => {
                panics::drop_quietly(payload);
                Left::HandingOver(id, number)
            }
            Progress::Publishing(id, number) => {
                panics::drop_quietly(payload);
                return Pooled::new(Left::Publishing(id, number, lists));
            }
        })
    }

    /// Ends a synchronous run where it is, and returns the reason.
    #[cold]
    pub(crate) fn end(&self, left: Left) -> Error {
        let (id, _) = left.position();
        let unsettled = match left {
            Left::HandingOver(id, number) => {
                let result = self.frame.code.details(id).results.get(number as usize);
                let slot = result.and_then(|result| self.frame.code.register(result.register).slot);
                slot.and_then(|slot| self.frame.peek_later(slot).cloned())
            }
            _ => None,
        };
        self.clear_frame(&left);
        // A function without kernels calls nothing.
        let name = self.frame.code.details.get(id.index());
        let name = name.map_or("", |details| details.descriptor.name());
        let error = match left {
            Left::Failed(_, error) | Left::FailedFramed(_, error) => error,
            Left::HandingOver(_, number) => no_payload(name, number, unsettled),
            Left::Publishing(_, number, mut lists) => {
                let found = lists
                    .results
                    .get_mut(number as usize)
                    .and_then(Option::take);
                panics::drop_quietly(std::mem::take(&mut lists.results));
                lists.give_back();
                no_payload(name, number, found)
            }
            Left::Before(_) | Left::ToShare(_) => {
                unreachable!("a synchronous function runs to its end or to an error")
            }
        };
        error.set_kernel_if_unset(name);
        error
    }

    /// Continues where the schedule was left, and passes the results to the caller.
    ///
    /// If only results are left to be passed on, this happens at once; otherwise, the run continues
    /// as an invocation.
    #[cold]
    #[inline(never)]
    pub(crate) fn go_on(
        &self,
        caller: &ExecutionContext,
        left: Left,
        transfer: &mut impl Transfer,
    ) {
        let num_results = self.frame.code.results.len();
        let left = match left {
            Left::Publishing(last, first, lists) if self.has_ended(last, first, &lists) => {
                return transfer.take_list(num_results, |results| {
                    self.pass_on(last, first, lists, results);
                });
            }
            left => left,
        };
        match self.leave(caller, left) {
            Ok(invocation) => {
                transfer.take_list(num_results, |results| invocation.take_results(results));
            }
            Err(error) => {
                let error = AnyRef::error(error);
                transfer.take_list(num_results, |results| results.fill(Some(error)));
            }
        }
    }

    /// Returns `true` if all kernels have run, and the results of the last one, which are in the
    /// list and unsettled from number `first` on, are all there is left. Nothing in this function
    /// waits for them, so an invocation would publish them at once, available or not.
    fn has_ended(&self, last: KernelId, first: u32, lists: &Lists) -> bool {
        let is_last = last.index() + 1 == self.frame.code.kernels.len();
        let mut unsettled = lists.results.iter().skip(first as usize);
        // A trace records when results become available, and a kernel that does not set a result
        // has failed: an invocation tells of both.
        is_last && !self.is_traced && unsettled.all(Option::is_some)
    }

    /// Takes the results of the function if [all kernels have run](Self::has_ended).
    ///
    /// The results of the last kernel are settled in the order of the kernel's results, as an
    /// invocation would publish them: the order in which they become available, and in which those
    /// that are not returned are dropped, follows from it.
    fn pass_on(
        &self,
        last: KernelId,
        first: u32,
        mut lists: Box<Lists>,
        results: &mut [Option<AnyRef>],
    ) {
        let code = self.frame.code;
        let of_last = &code.details(last).results;
        // A function that ends in a call usually returns its result, and nothing else.
        if let ([result], [register], [place]) = (&**of_last, &*code.results, &mut *results)
            && first == 0
            && result.register == *register
        {
            *place = lists.results.pop().flatten().map(AnyRef::into_given);
            return lists.give_back();
        }
        let unsettled = of_last.iter().zip(&mut lists.results);
        for (result, place) in unsettled.skip(first as usize) {
            let is_returned = code.register(result.register).returned.is_some();
            let value = place.take();
            *place = value.filter(|_| is_returned).map(AnyRef::into_given);
        }
        for (index, &register) in code.results.iter().enumerate() {
            let first_of_register = code.first_results[index] as usize;
            if first_of_register < index {
                results[index] = results[first_of_register].clone();
                continue;
            }
            let mut of_last = of_last.iter().zip(&mut lists.results);
            let found = of_last.find(|(result, _)| result.register == register);
            let value = found.and_then(|(_, value)| value.take());
            let take = || take_result(self.frame, register, true);
            results[index] = Some(value.unwrap_or_else(take));
        }
        lists.results.clear();
        lists.give_back();
    }

    /// Continues as an invocation, which waits for a result or runs in the ready loop.
    ///
    /// # Errors
    /// Fails if there is no room for an invocation. The run then ends.
    fn leave(&self, caller: &ExecutionContext, left: Left) -> Result<InvocationRef, Error> {
        let code = self.frame.code;
        if let Left::ToShare(_) = left {
            self.body.pace.was_handed_over();
        }
        let (next, num_results) = left.position();
        let waits = self.waits_for_result(&left);
        let state = (!waits).then(|| Simulation::at(code, next.index(), num_results));
        let ready_counts = state.as_ref().map(|state| &*state.ready_counts);
        let invocation = match self.make_invocation(caller, ready_counts) {
            Ok(invocation) => invocation,
            Err(error) => {
                self.clear_frame(&left);
                return Err(error);
            }
        };
        invocation.frame().move_from(self.frame);
        if let Some(number) = self.number.get() {
            invocation.set_number(number);
        }
        // The caller has not asked for them yet, so no waiter runs.
        give_results(&invocation, produced_registers(code, next, num_results));
        match state {
            Some(state) => go_on_counting(&invocation, state, left),
            None => waiting::wait(invocation.clone(), left),
        }
        Ok(invocation)
    }

    /// Leaves the schedule once more, in the invocation of a run that has waited.
    #[cold]
    pub(crate) fn leave_again(&self, invocation: &InvocationRef, left: Left) {
        let (next, num_results) = left.position();
        let state = Simulation::at(self.frame.code, next.index(), num_results);
        invocation.count_from(&state.ready_counts);
        if let Some(num_results) = num_results {
            let results = self.frame.code.details(next).results.iter();
            let results = results.take(num_results).map(|result| result.register);
            give_results(invocation, results);
        }
        go_on_counting(invocation, state, left);
    }

    fn make_invocation(
        &self,
        caller: &ExecutionContext,
        ready_counts: Option<&[u32]>,
    ) -> Result<InvocationRef, Error> {
        // From now on, the run counts as an invocation of the host.
        if let Some(nesting) = self.nesting {
            nesting.end_run();
        }
        caller.enter_invocation(nesting::num_runs())?;
        let program = Arc::clone(self.program);
        let ctx = ExecutionContext::clone(self.ctx);
        let invocation = InvocationRef::new(program, self.body, ctx, ready_counts);
        let Some(mut invocation) = invocation else {
            caller.host().leave_invocation();
            return Err(caller.emit_error(no_memory()));
        };
        invocation.set_constants(self.has_constants);
        Ok(invocation)
    }

    /// Drops the values in the frame of a run that ends.
    #[cold]
    fn clear_frame(&self, left: &Left) {
        let code = self.frame.code;
        let mut num_left = uses_to_come(code, left.position(), left.has_operands());
        for (register, num_left) in code.registers.iter().zip(&mut num_left) {
            *num_left = num_held(register.is_shared(), *num_left);
        }
        if let Left::HandingOver(id, first) = *left {
            let details = code.details(id);
            let results = details.results.iter().zip(&details.forms);
            for (result, &form) in results.skip(first as usize) {
                num_left[result.register.index()] = u32::from(form != ResultForm::Cell);
            }
        }
        for (register, num_left) in code.registers.iter().zip(num_left) {
            if let Some(slot) = register.slot {
                (0..num_left).for_each(|_| panics::catch(|| drop(self.frame.take_later(slot))));
            }
        }
    }
}

/// Continues in the ready loop.
fn go_on_counting(invocation: &InvocationRef, state: Simulation, left: Left) {
    let code = invocation.code();
    let (next, num_results) = left.position();
    unshare(invocation.frame(), left.position(), left.has_operands());
    let in_progress = num_results.map(|_| next);
    let stream = in_progress.or(state.ready.last().copied());
    let stream = stream.map_or(code.start.stream, |kernel| code.kernel(kernel).stream);
    run_path(invocation, stream, &[], |path| {
        state
            .ready
            .iter()
            .for_each(|&kernel| path.make_ready(kernel));
        left.resume(path);
    });
}

/// Returns the error of a synchronous kernel if one of its results does not have a payload.
#[cold]
fn no_payload(kernel: &str, index: u32, found: Option<AnyRef>) -> Error {
    if let Some(error) = found.as_ref().and_then(AnyRef::error_if_present) {
        return error.clone();
    }
    let message = match found {
        Some(_) => format!(
            "result {index} of `{kernel}` is not available: the results of a synchronous kernel \
             must be available when it returns"
        ),
        None => format!("kernel '{kernel}' did not set result {index}"),
    };
    Error::new(message).with_code(ErrorCode::Internal)
}

/// Returns the error of an invocation for whose block there is no memory.
#[cold]
pub(crate) fn no_memory() -> Error {
    Error::new("the host cannot allocate the state of a function")
        .with_code(ErrorCode::ResourceExhausted)
}
