//! What a path does for kernels that are not plain: skips them, gathers their operands, publishes
//! their results.
//!
//! Values are inspected at publication. An error, or a value of another type than direct kernels
//! read, is recorded among the [failures](super::failures) of the invocation; a payload that direct
//! kernels read is copied into its cell. From then on, the places of a kernel hold what C5
//! promises.

use tfrt_async::{AnyRef, TypeIndex};
use tfrt_host::__runtime::DirectFn;
use tfrt_host::kernel::KernelFrame;
use tfrt_support::{Error, ErrorCode};

use super::framed;
use super::panics;
use super::path::{Path, Progress};
use super::program::{CallSite, Called};
use super::traced;
use crate::lower::code::{
    Extras, KernelDetails, KernelId, KernelResult, Register, RegisterId, ResultForm, Strictness,
};

/// Kernels that run in place.
impl Path<'_> {
    /// Runs a kernel in place, then drops its operands and publishes its results.
    pub(crate) fn run_in_place(&mut self, id: KernelId, run: DirectFn) {
        let (kernel, details) = (self.code.kernel(id), self.code.details(id));
        self.progress = Progress::InPlace(id);
        if self.must_look()
            && let Some(error) = self.reason_to_skip(details)
        {
            return self.skip(id, error);
        }
        let is_made = kernel.extras.contains(Extras::CONSTANT) && self.invocation.has_constants();
        // A trace shows every kernel.
        if is_made && !self.is_traced {
            return self.hand_over_results(id, 0);
        }
        let called = {
            let _scope = self.is_traced.then(|| self.enter_scope(details));
            self.call_with_surroundings(run, id)
        };
        match called {
            Ok(()) => self.finish_in_place(id),
            Err(error) => self.fail(id, error),
        }
    }

    /// Calls a function for a kernel that does nothing else, passing values from place to place.
    /// Returns `false` without doing anything if the kernel has to be called with a list of
    /// operands.
    pub(crate) fn run_call(&mut self, id: KernelId) -> bool {
        // A list may hold errors, and values of other types than cells; and a trace shows the
        // kernel with its operands.
        if self.must_look() {
            return false;
        }
        let details = self.code.details(id);
        self.progress = Progress::InPlace(id);
        let _running = self.ctx.enter_kernel(details.location);
        let site = CallSite {
            program: self.invocation.program(),
            ctx: self.ctx,
            body: self.invocation.body(),
            frame: self.frame,
            kernel: id,
            watch: None,
        };
        let call = site.program.call_in_place;
        match call(&site, &mut self.lists.results) {
            Called::Unsuited => return false,
            Called::Placed => self.finish_in_place(id),
            Called::Listed => {
                self.progress = Progress::Publishing(id, 0);
                self.release_operands(details);
                self.publish_results(id, 0);
            }
        }
        true
    }

    /// Drops the operands of a kernel that ran in place, and hands its results to their users.
    #[inline]
    fn finish_in_place(&mut self, id: KernelId) {
        self.progress = Progress::HandingOver(id, 0);
        if self.code.kernel(id).extras.contains(Extras::TAKES_SLOTS) {
            self.release_operands(self.code.details(id));
        }
        self.hand_over_results(id, 0);
    }

    /// Takes the operands of a kernel that runs in place out of their slots, each once, and drops
    /// them. A payload that panics when dropped does not keep the others from being dropped.
    pub(crate) fn release_operands(&self, details: &KernelDetails) {
        framed::release_operands(self.frame, details);
    }

    /// Hands the results that a kernel has left in its places to their users, from number `first`
    /// on.
    pub(crate) fn hand_over_results(&mut self, id: KernelId, first: usize) {
        let (kernel, details) = (self.code.kernel(id), self.code.details(id));
        let is_published = Extras::PUBLISHES.and(Extras::RETURNS).and(Extras::CALLS);
        if !kernel.extras.contains(is_published) {
            self.progress = Progress::Idle;
            return self.count_down(kernel.users);
        }
        let results = details.results.iter().zip(&details.forms).enumerate();
        for (number, (&result, &form)) in results.skip(first) {
            self.progress = Progress::HandingOver(id, number as u32 + 1);
            self.hand_over_result(details, result, form);
        }
        self.progress = Progress::Idle;
    }

    #[inline]
    fn hand_over_result(
        &mut self,
        details: &KernelDetails,
        result: KernelResult,
        form: ResultForm,
    ) {
        let register = self.code.register(result.register);
        if form == ResultForm::LaterSlot
            && let Some(slot) = register.slot
            && let Some(value) = self.frame.take_later(slot)
        {
            if register.is_wanted || result.users.len() > 0 {
                self.publish_of(details, result, value);
            }
            return;
        }
        match (form, register.cell, register.slot, register.ty) {
            (ResultForm::Cell | ResultForm::LaterSlot, Some(cell), _, Some(ty)) => {
                if register.is_wanted {
                    let is_given = register.returned.is_some();
                    let value = self.frame.wrap(cell, ty, is_given);
                    self.hand_over(register, value);
                }
                self.count_down(result.users);
            }
            (ResultForm::Slot, _, Some(slot), _) => {
                if register.returned.is_none() {
                    self.frame.keep(slot, register.num_references);
                } else {
                    self.hand_over(register, self.frame.take(slot));
                }
                self.count_down(result.users);
            }
            _ => unreachable!("a kernel that runs in place leaves its results in places"),
        }
    }

    /// Returns why a kernel that runs in place cannot run: the last error among its operands, or
    /// else the cancellation of the request, or else a value of a type that it does not read.
    #[cold]
    fn reason_to_skip(&self, details: &KernelDetails) -> Option<AnyRef> {
        let failures = self.invocation.failures();
        let operands: Vec<RegisterId> = self.code.register_ids(details.operands).collect();
        let found = || {
            let operands = operands.iter().enumerate().rev();
            operands.filter_map(|(index, &register)| Some((index, failures.get(register)?)))
        };
        if let Some((_, error)) = found().find(|(_, value)| value.is_error()) {
            return Some(error);
        }
        if let Some(error) = self.ctx.request().cancel_value() {
            return Some(error.clone());
        }
        // A kernel that takes a reference takes one of any type.
        let is_read = |(index, _): &(usize, AnyRef)| !details.takes_reference(*index);
        let (index, value) = found().filter(is_read).last()?;
        let register = self.code.register(operands[index]);
        let expected = register.ty.unwrap_or(TypeIndex::NONE);
        let error = details
            .descriptor
            .operand_mismatch(index, expected, value.type_id());
        Some(self.emit(details, error))
    }

    /// Reports the failure of a kernel that ran in place. The error becomes every result.
    #[cold]
    pub(crate) fn fail(&mut self, id: KernelId, error: Error) {
        let error = self.emit(self.code.details(id), error);
        self.skip(id, error);
    }

    /// Reports the panic of a kernel that ran with a list of operands. The error becomes every
    /// result.
    #[cold]
    pub(crate) fn fail_framed(&mut self, id: KernelId, error: Error) {
        let details = self.code.details(id);
        let error = self.emit(details, error);
        self.lists
            .results
            .resize(details.results.len(), Some(error));
        self.progress = Progress::Publishing(id, 0);
        self.publish_results(id, 0);
    }

    pub(crate) fn emit(&self, details: &KernelDetails, error: Error) -> AnyRef {
        self.ctx.set_location_token(details.location);
        error.set_kernel_if_unset(details.descriptor.name());
        AnyRef::error(self.ctx.emit_failure(error))
    }

    /// Makes every result of a kernel this error, and drops its operands, which are in their
    /// places.
    #[cold]
    fn skip(&mut self, id: KernelId, error: AnyRef) {
        let details = self.code.details(id);
        let given = std::mem::take(&mut self.lists.results);
        self.lists
            .results
            .resize(details.results.len(), Some(error));
        self.progress = Progress::Publishing(id, 0);
        self.release_operands(details);
        drop(given);
        self.publish_results(id, 0);
    }
}

/// Kernels that need a list of operands.
impl Path<'_> {
    /// Runs a kernel that needs a list of operands.
    pub(crate) fn run_framed(&mut self, id: KernelId) {
        let details = self.code.details(id);
        self.progress = Progress::Framed(id);
        let mut error = self.ctx.request().cancel_value().cloned();
        let is_strict = details.strictness == Strictness::Strict;
        let is_call = self.code.kernel(id).extras.contains(Extras::CALLS);
        for register in self.code.register_ids(details.operands) {
            let noted = || self.invocation.failures().get(register);
            let operand = framed::operand(self.frame, register, is_call, noted);
            if is_strict && operand.is_error() {
                error = Some(operand.clone());
            }
            self.lists.operands.push(operand);
        }
        if let Strictness::Waits(positions) = details.strictness {
            let operands = &self.lists.operands;
            let waited = self.code.words(positions).iter();
            let failed = waited
                .rev()
                .find(|&&position| operands[position as usize].is_error());
            error = failed
                .map(|&position| operands[position as usize].clone())
                .or(error);
        }
        let is_skipped = error.is_some();
        self.lists.results.resize(details.results.len(), error);
        if !is_skipped {
            self.call_framed(details);
        }
        self.progress = Progress::Publishing(id, 0);
        self.lists.operands.clear();
        self.publish_results(id, 0);
    }

    #[inline]
    fn call_framed(&mut self, details: &KernelDetails) {
        let _running = self.ctx.enter_kernel(details.location);
        let _scope = self.is_traced.then(|| self.enter_scope(details));
        let attributes = framed::attributes(self.invocation.program(), self.code, details);
        let functions = self.functions(details);
        let op = details.descriptor.op();
        let lists = &mut *self.lists;
        let (operands, results) = (&lists.operands, &mut lists.results);
        let frame = &mut KernelFrame::new(self.ctx, op, operands, attributes, functions, results);
        framed::call(details, frame);
    }

    fn enter_scope(&self, details: &KernelDetails) -> tfrt_host::tracing::Scope {
        let number = self.invocation.number();
        traced::enter(number, self.code, details, Some(self.stream), self.ctx)
    }

    /// Publishes the results of a kernel, from number `first` on.
    pub(crate) fn publish_results(&mut self, id: KernelId, first: usize) {
        let details = self.code.details(id);
        for (number, &result) in details.results.iter().enumerate().skip(first) {
            self.progress = Progress::Publishing(id, number as u32 + 1);
            let value = self.lists.results[number]
                .take()
                .unwrap_or_else(|| self.missing_result(details, number));
            self.publish_of(details, result, value);
        }
        self.lists.results.clear();
        self.progress = Progress::Idle;
    }

    /// Publishes a result of a kernel, and records in the trace when it becomes available.
    #[inline]
    fn publish_of(&mut self, details: &KernelDetails, result: KernelResult, value: AnyRef) {
        if self.is_traced {
            let invocation = self.invocation.number();
            let followed = value.clone();
            self.publish(result, value);
            traced::follow(invocation, details, result.register, &followed, self.ctx);
        } else {
            self.publish(result, value);
        }
    }

    #[cold]
    fn missing_result(&self, details: &KernelDetails, number: usize) -> AnyRef {
        let name = details.descriptor.name();
        let error = Error::new(format!("kernel '{name}' did not set result {number}"))
            .with_code(ErrorCode::Internal);
        self.emit(details, error)
    }
}

/// Values on their way to registers.
impl Path<'_> {
    /// Puts a value where the users of a register look for it. It is available unless there are no
    /// users.
    pub(crate) fn put(&self, id: RegisterId, value: &AnyRef) {
        let register = self.code.register(id);
        if register.has_typed_readers {
            // A reader of a reference accepts any type, and makes no assumption about it.
            let is_expected = register.ty.is_none_or(|ty| ty == value.type_id());
            if value.is_error() || !is_expected {
                let num_registers = self.code.registers.len();
                self.invocation
                    .failures()
                    .note(id, num_registers, value.clone());
            } else if register.cell.is_some() {
                let is_filled = self.frame.fill(register, value);
                assert!(is_filled, "a value of the expected type has a payload");
            }
        }
        if register.is_wanted {
            self.hand_over(register, value.clone());
        }
    }

    /// Passes a value to all that take references to it: kernels, the caller of the function, an
    /// early reader.
    fn hand_over(&self, register: &Register, value: AnyRef) {
        if let Some(early) = register.early {
            if let Some(promise) = self.invocation.take_promise(early) {
                // A waiter that other code has registered on the value may panic. The value is
                // available nevertheless, and its users must be notified.
                panics::catch(|| promise.forward_to(value));
            }
            return;
        }
        if let Some(returned) = register.returned {
            self.invocation.give_result(returned, value.clone());
        }
        if let Some(slot) = register.slot {
            self.frame.put(slot, value, register.num_references);
        }
    }
}
