//! Running the kernels of a schedule, one after the other, in a frame.
#![expect(unsafe_code, reason = "calls kernels whose operands are in place")]

use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::Arc;

use tfrt_async::AnyRef;
use tfrt_host::__runtime::{
    BorrowedContext, DirectCall, DirectFn, FileInputs, FunctionList, FunctionTable,
};
use tfrt_host::ExecutionContext;
use tfrt_host::kernel::KernelFrame;
use tfrt_host::tracing::{self, Scope};
use tfrt_support::Error;

use super::leaf::{self, Results};
use super::left::{Left, Stop};
use super::state::Run;
use crate::lower::code::{
    Extras, Kernel, KernelDetails, KernelId, Register, RegisterId, ResultForm, Settling,
};
use crate::run::frame::Frame;
use crate::run::framed;
use crate::run::pace::Watch;
use crate::run::panics;
use crate::run::path::{Lists, Progress};
use crate::run::plain::PLAIN_CONSTANT;
use crate::run::program::{CallSite, Called};
use crate::run::traced;

impl Run<'_> {
    /// Runs all kernels from number `first` on. If the run has to be left, returns where and why.
    pub(crate) fn run_guarded(&self, first: usize) -> Result<(), Stop> {
        self.guard(|lists| match (self.is_sync, self.watch) {
            (true, _) => self.run_kernels::<true, false, false>(first, lists),
            (false, None) => self.run_kernels::<false, false, false>(first, lists),
            (false, Some(_)) => self.run_kernels::<false, true, false>(first, lists),
        })
    }

    /// Like [`run_guarded`](Self::run_guarded), for a run that [has waited](super::waiting).
    #[inline]
    pub(super) fn run_on_guarded(&self, first: usize) -> Result<(), Stop> {
        self.guard(|lists| self.run_kernels::<false, false, true>(first, lists))
    }

    /// Runs kernels. A panic becomes the reason to leave the run.
    #[inline]
    fn guard(
        &self,
        run: impl FnOnce(&mut Option<Box<Lists>>) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        let mut lists = None;
        let outcome = catch_unwind(AssertUnwindSafe(|| run(&mut lists)));
        let outcome = outcome
            .unwrap_or_else(|payload| Err(Stop::Left(self.after_panic(payload, &mut lists))));
        if let Some(lists) = lists {
            lists.give_back();
        }
        outcome
    }

    // A function of its own, so that everything its loop needs stays in machine registers.
    #[inline(never)]
    fn run_kernels<const IS_SYNC: bool, const IS_WATCHED: bool, const HAS_WAITED: bool>(
        &self,
        first: usize,
        lists: &mut Option<Box<Lists>>,
    ) -> Result<(), Stop> {
        let (frame, idle) = (self.frame, DirectCall::idle(self.ctx));
        let request = &**self.ctx.request();
        // In a trace, which records every kernel, no kernel is plain.
        let called = Extras::TAKES_SLOTS
            .and(Extras::PUBLISHES)
            .and(Extras::RETURNS);
        let plain = (!self.is_traced).then_some(called);
        let in_place = called.and(Extras::LOOKS).and(Extras::SETTLES);
        let constant = PLAIN_CONSTANT.and(Extras::RETURNS);
        for kernel in &frame.code.kernels[first..] {
            if !IS_SYNC && request.cancel_value().is_some() {
                return Err(Stop::left(Left::Before(self.frame.code.id_of(kernel))));
            }
            if IS_WATCHED && self.watch.is_some_and(Watch::is_over) {
                return Err(Stop::left(Left::ToShare(self.frame.code.id_of(kernel))));
            }
            if plain.is_some_and(|plain| kernel.extras.is_within(plain))
                && let Some(run) = kernel.direct
            {
                // The call does not panic: a direct kernel returns an error instead.
                if let Err(error) = self.call(frame, run, kernel, &idle) {
                    return Err(self.failed(kernel, error));
                }
            } else if plain.is_some()
                && kernel.extras.is_within(in_place)
                && let Some(run) = kernel.direct
            {
                self.run_in_place(kernel, run, &idle)?;
            } else if plain.is_some() && kernel.extras.contains(Extras::CALLS) {
                self.run_call(kernel, &idle, lists)?;
            } else if plain.is_some()
                && kernel.extras.is_within(in_place.and(Extras::READS_CALL))
                && let Some(run) = kernel.direct
            {
                self.run_with_surroundings(kernel, run, &idle)?;
            } else if self.has_constants
                && plain.is_some()
                && kernel.extras.contains(Extras::CONSTANT)
                && kernel.extras.is_within(constant)
            {
                // Its results are in their cells.
            } else {
                self.run_other(kernel, lists)?;
            }
            if HAS_WAITED {
                self.give_results(kernel);
            }
        }
        Ok(())
    }

    #[cold]
    fn failed(&self, kernel: &Kernel, error: Error) -> Stop {
        Stop::left(Left::Failed(self.frame.code.id_of(kernel), error))
    }

    #[inline]
    fn call(
        &self,
        frame: Frame<'_>,
        run: DirectFn,
        kernel: &Kernel,
        call: &DirectCall<'_>,
    ) -> Result<(), Error> {
        // SAFETY: 1: each kernel runs once, in the order of the schedule. 2: the kernels before it,
        // or the arguments, are the producers of its operands (C1); they have put what it reads
        // (C5), or the run would have been left.
        unsafe { frame.run(kernel.offsets, run, call) }
    }

    /// Runs a direct kernel that uses only its operands, and after which references are dropped or
    /// kept, or results are looked at.
    #[inline(never)]
    fn run_in_place(
        &self,
        kernel: &Kernel,
        run: DirectFn,
        idle: &DirectCall<'_>,
    ) -> Result<(), Stop> {
        if let Err(error) = self.call(self.frame, run, kernel, idle) {
            return Err(self.failed(kernel, error));
        }
        let code = self.frame.code;
        self.finish_in_place(kernel, || code.details(code.id_of(kernel)))
    }

    /// Drops the operands of a direct kernel that is not traced, and settles its results.
    ///
    /// Neither the kernel nor the drop of an operand panics, so the progress is only needed where
    /// results have to be looked at.
    // Inlined in both of its callers, which are made for it.
    #[inline(always)]
    fn finish_in_place<'d>(
        &self,
        kernel: &Kernel,
        details: impl FnOnce() -> &'d KernelDetails,
    ) -> Result<(), Stop> {
        if !kernel.extras.contains(Extras::LOOKS) {
            framed::settle_in_place(self.frame, kernel);
            return Ok(());
        }
        let details = details();
        // An `async fn` that is ready leaves nothing to look at.
        let is_left_empty = match &*details.settlings {
            // As one that has one result, but without a loop.
            [Settling::LookUnlessEmpty(slot)] => self.frame.peek_later(*slot).is_none(),
            settlings => settlings.iter().all(|settling| match *settling {
                Settling::LookUnlessEmpty(slot) => self.frame.peek_later(slot).is_none(),
                _ => *settling == Settling::Done,
            }),
        };
        if !is_left_empty {
            if let Some(slot) = details.awaited_slot
                && let Some(result) = self.frame.peek_later(slot)
                && !result.is_available()
            {
                framed::release_operands_in_schedule(self.frame, kernel, details);
                return Err(Stop::Waits(self.frame.code.id_of(kernel)));
            }
            return self.settle_places(self.frame.code.id_of(kernel), kernel, details);
        }
        if kernel.extras.contains(Extras::TAKES_SLOTS) {
            framed::release_operands_in_schedule(self.frame, kernel, details);
        }
        Ok(())
    }

    /// Runs a direct kernel that is not traced and uses its context, attributes or functions.
    /// `idle` is a call in its context.
    #[inline(never)]
    fn run_with_surroundings(
        &self,
        kernel: &Kernel,
        run: DirectFn,
        idle: &DirectCall<'_>,
    ) -> Result<(), Stop> {
        let details = self.frame.code.details(self.frame.code.id_of(kernel));
        let outcome = match details.reads_file {
            true => self.call_reading(run, kernel, details),
            false => {
                let _running = self.enter(details);
                self.call(self.frame, run, kernel, idle)
            }
        };
        if let Err(error) = outcome {
            return Err(self.failed(kernel, error));
        }
        self.finish_in_place(kernel, || details)
    }

    /// Runs a kernel that calls a function and does nothing else.
    fn run_call(
        &self,
        kernel: &Kernel,
        idle: &DirectCall<'_>,
        lists: &mut Option<Box<Lists>>,
    ) -> Result<(), Stop> {
        let code = self.frame.code;
        let id = code.id_of(kernel);
        let details = code.details(id);
        self.progress.set(Progress::InPlace(id));
        match leaf::call(self, details, idle) {
            Some(Results::Placed)
                if kernel.extras.is_within(Extras::CALLS.and(Extras::RETURNS)) =>
            {
                Ok(())
            }
            Some(Results::Placed) => self.settle_places(id, kernel, details),
            Some(Results::Listed(results)) => {
                lists.get_or_insert_with(Lists::take).results = results;
                self.settle_call(id, details, lists)
            }
            None => self.run_general_call(id, kernel, details, lists),
        }
    }

    /// Like [`run_call`](Self::run_call), for a call that is not one of a leaf whose values are all
    /// copied.
    #[inline(never)]
    fn run_general_call(
        &self,
        id: KernelId,
        kernel: &Kernel,
        details: &KernelDetails,
        lists: &mut Option<Box<Lists>>,
    ) -> Result<(), Stop> {
        // The list keeps its memory from call to call.
        let results = &mut lists.get_or_insert_with(Lists::take).results;
        match self.call_function(id, details, results) {
            Called::Unsuited => self.run_other(kernel, lists),
            Called::Placed => self.settle_places(id, kernel, details),
            Called::Listed => self.settle_call(id, details, lists),
        }
    }

    /// Drops the operands of a call whose results are in the list, and settles the results.
    fn settle_call(
        &self,
        id: KernelId,
        details: &KernelDetails,
        lists: &mut Option<Box<Lists>>,
    ) -> Result<(), Stop> {
        self.progress.set(Progress::Publishing(id, 0));
        // A call shares no references.
        framed::release_operands(self.frame, details);
        self.settle_list(id, details, lists)
    }

    /// Runs a kernel that needs more than a plain call.
    fn run_other(&self, kernel: &Kernel, lists: &mut Option<Box<Lists>>) -> Result<(), Stop> {
        let id = self.frame.code.id_of(kernel);
        let details = self.frame.code.details(id);
        if let Some(run) = kernel.direct {
            self.progress.set(Progress::InPlace(id));
            if kernel.extras.contains(Extras::CONSTANT) && self.has_constants && !self.is_traced {
                return self.settle_places(id, kernel, details);
            }
            self.call_with_surroundings(run, kernel, details)
                .map_err(|error| Stop::left(Left::Failed(id, error)))?;
            let has_slots = Extras::TAKES_SLOTS.and(Extras::PUBLISHES);
            return match kernel.extras.contains(has_slots) {
                true => self.settle_places(id, kernel, details),
                // All values are in cells and stay there, as those of most traced kernels.
                false => Ok(()),
            };
        }
        let own_lists = &mut **lists.get_or_insert_with(Lists::take);
        let mut failure = None;
        self.call_framed(id, kernel, details, own_lists, &mut failure);
        if let Some(error) = failure {
            panics::drop_quietly(std::mem::take(&mut own_lists.results));
            return Err(Stop::left(Left::FailedFramed(id, error)));
        }
        self.settle_list(id, details, lists)
    }

    #[inline]
    fn call_with_surroundings(
        &self,
        run: DirectFn,
        kernel: &Kernel,
        details: &KernelDetails,
    ) -> Result<(), Error> {
        let _scope = self.is_traced.then(|| self.enter_scope(kernel, details));
        if !kernel.extras.contains(Extras::READS_CALL) {
            return self.call(self.frame, run, kernel, &DirectCall::idle(self.ctx));
        }
        self.call_reading(run, kernel, details)
    }

    /// Calls a direct kernel that uses its context, attributes or functions.
    #[inline]
    fn call_reading(
        &self,
        run: DirectFn,
        kernel: &Kernel,
        details: &KernelDetails,
    ) -> Result<(), Error> {
        let _running = self.enter(details);
        self.with_functions(details, |functions| {
            let file = FileInputs {
                attributes: framed::attributes(self.program, self.frame.code, details),
                functions,
            };
            let call = DirectCall {
                exec_ctx: self.ctx,
                file: &file,
            };
            self.call(self.frame, run, kernel, &call)
        })
    }

    #[inline]
    fn call_function(
        &self,
        id: KernelId,
        details: &KernelDetails,
        results: &mut Vec<Option<AnyRef>>,
    ) -> Called {
        let _running = self.enter(details);
        let site = CallSite {
            program: self.program,
            ctx: self.ctx,
            body: self.body,
            frame: self.frame,
            kernel: id,
            watch: self.watch,
        };
        (self.program.call_in_place)(&site, results)
    }

    /// Calls a kernel with a list of operands. Its results are then in the list.
    fn call_framed(
        &self,
        id: KernelId,
        kernel: &Kernel,
        details: &KernelDetails,
        lists: &mut Lists,
        failure: &mut Option<Error>,
    ) {
        self.progress.set(Progress::Framed(id));
        let is_call = kernel.extras.contains(Extras::CALLS);
        for register in self.frame.code.register_ids(details.operands) {
            let operand = framed::operand(self.frame, register, is_call, || None);
            lists.operands.push(operand);
        }
        lists.results.resize(details.results.len(), None);
        {
            let _scope = self.is_traced.then(|| self.enter_scope(kernel, details));
            let _running = self.enter(details);
            let attributes = framed::attributes(self.program, self.frame.code, details);
            let op = details.descriptor.op();
            let (operands, results) = (&lists.operands, &mut lists.results);
            self.with_functions(details, |functions| {
                let frame =
                    KernelFrame::new(self.ctx, op, operands, attributes, functions, results);
                if self.is_sync {
                    framed::call(details, &mut frame.failing_into(failure));
                } else {
                    framed::call(details, &mut { frame });
                }
            });
        }
        self.progress.set(Progress::Publishing(id, 0));
        lists.operands.clear();
    }

    #[inline(never)]
    fn enter_scope(&self, kernel: &Kernel, details: &KernelDetails) -> Scope {
        let number = self.number_for_traces();
        let stream = (!self.is_sync).then_some(kernel.stream);
        // A trace shows the location of the kernel, even if errors carry that of the caller.
        let own_places;
        let ctx: &ExecutionContext = if self.stays_in_place {
            own_places = BorrowedContext::inside(self.ctx, self.program);
            &own_places
        } else {
            self.ctx
        };
        traced::enter(number, self.frame.code, details, stream, ctx)
    }

    fn number_for_traces(&self) -> u64 {
        self.number.get().unwrap_or_else(|| {
            let number = tracing::next_invocation_number();
            self.number.set(Some(number));
            number
        })
    }

    #[inline]
    fn with_functions<R>(
        &self,
        details: &KernelDetails,
        f: impl FnOnce(FunctionList<'_>) -> R,
    ) -> R {
        // SAFETY: the program is a valid reference, and the copy is never dropped.
        let table = unsafe { ptr::read(self.program) } as Arc<dyn FunctionTable>;
        let table = ManuallyDrop::new(table);
        f(FunctionList {
            table: Some(&table),
            ids: self.frame.code.words(details.functions),
        })
    }

    /// Drops the operands of a kernel that ran in place, and settles the results that it has left
    /// in its places.
    #[inline(never)]
    fn settle_places(
        &self,
        id: KernelId,
        kernel: &Kernel,
        details: &KernelDetails,
    ) -> Result<(), Stop> {
        self.progress.set(Progress::HandingOver(id, 0));
        if kernel.extras.contains(Extras::TAKES_SLOTS) {
            framed::release_operands_in_schedule(self.frame, kernel, details);
        }
        if !kernel.extras.contains(Extras::PUBLISHES) {
            return Ok(());
        }
        for (number, &settling) in details.settlings.iter().enumerate() {
            let number = number as u32;
            self.progress.set(Progress::HandingOver(id, number + 1));
            let is_settled = match settling {
                Settling::Done => true,
                Settling::Keep(slot, num_held) => {
                    self.frame.keep(slot, num_held);
                    true
                }
                Settling::LookUnlessEmpty(slot) if self.frame.peek_later(slot).is_none() => true,
                Settling::LookUnlessEmpty(_) | Settling::Look => self.settle_place(details, number),
            };
            if !is_settled {
                return Err(Stop::left(Left::HandingOver(id, number)));
            }
        }
        Ok(())
    }

    /// Settles a result that a kernel has left in its places. Returns `false` without doing
    /// anything if the users of the register cannot continue with it.
    #[inline(never)]
    fn settle_place(&self, details: &KernelDetails, number: u32) -> bool {
        let (result, form) = (
            &details.results[number as usize],
            details.forms[number as usize],
        );
        let register = self.frame.code.register(result.register);
        if form == ResultForm::LaterSlot
            && let Some(slot) = register.slot
            && let Some(value) = self.frame.peek_later(slot)
        {
            let is_used = self.is_sync || result.users.len() > 0;
            let is_settled = is_settled(self.frame, register, is_used, value);
            if is_settled && !value.is_available() {
                if let Some(value) = self.frame.take_later(slot) {
                    let value = self.settle_unavailable(details, result.register, value);
                    self.frame.put(slot, value, register.num_held);
                }
            } else if is_settled {
                self.frame.keep(slot, register.num_held);
            }
            return is_settled;
        }
        match (form, register.cell, register.slot, register.ty) {
            (ResultForm::Cell | ResultForm::LaterSlot, Some(cell), slot, Some(ty)) => {
                if let (Some(slot), 1..) = (slot, register.num_references) {
                    let is_given = register.returned.is_some();
                    let value = self.frame.wrap(cell, ty, is_given);
                    self.frame.put(slot, value, register.num_held);
                }
            }
            (ResultForm::Slot, _, Some(slot), _) => {
                self.frame.keep(slot, register.num_held);
            }
            _ => unreachable!("a kernel that runs in place leaves its results in places"),
        }
        true
    }

    /// Settles a value that is not available and that no kernel of the function uses. Returns what
    /// stands for it: if the function returns it, the result of the function.
    ///
    /// The caller takes results at the end, but other code may wait for the value before that. A
    /// result that stands for the value from now on becomes available when it would in the ready
    /// loop.
    #[cold]
    fn settle_unavailable(
        &self,
        details: &KernelDetails,
        register: RegisterId,
        value: AnyRef,
    ) -> AnyRef {
        let followed = self.is_traced.then(|| value.clone());
        let value = match self.frame.code.register(register).returned {
            Some(_) => value.into_given(),
            None => value,
        };
        if let Some(followed) = followed {
            traced::follow(
                self.number_for_traces(),
                details,
                register,
                &followed,
                self.ctx,
            );
        }
        value
    }

    /// Settles the results of a kernel that are in the list.
    fn settle_list(
        &self,
        id: KernelId,
        details: &KernelDetails,
        lists: &mut Option<Box<Lists>>,
    ) -> Result<(), Stop> {
        let results = &mut lists.get_or_insert_with(Lists::take).results;
        for (number, result) in details.results.iter().enumerate() {
            let register = self.frame.code.register(result.register);
            let is_used = self.is_sync || result.users.len() > 0;
            let value =
                results[number].take_if(|value| is_settled(self.frame, register, is_used, value));
            let Some(value) = value else {
                let left = lists.take().unwrap_or_else(Lists::take);
                return Err(Stop::left(Left::Publishing(id, number as u32, left)));
            };
            self.progress
                .set(Progress::Publishing(id, number as u32 + 1));
            let value = match value.is_available() {
                true => value,
                false => self.settle_unavailable(details, result.register, value),
            };
            if let Some(slot) = register.slot {
                self.frame.put(slot, value, register.num_held);
            }
        }
        results.clear();
        Ok(())
    }
}

/// Puts a value that a kernel has returned into the cell of its register, if it has one. Returns
/// `false` without doing anything if the users of the register cannot continue with the value.
#[inline]
pub(super) fn is_settled(
    frame: Frame<'_>,
    register: &Register,
    is_used: bool,
    value: &AnyRef,
) -> bool {
    if register.cell.is_some() {
        return frame.fill(register, value);
    }
    if !is_used && !register.has_typed_readers {
        return true;
    }
    value.is_available() && !value.is_error() && register.accepts(value.type_id())
}
