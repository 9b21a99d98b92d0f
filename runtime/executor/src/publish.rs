//! What a path does for kernels that are more than plain: skips them, gathers their operands, publishes their results.
//!
//! Publication is where values are looked at. An error, or a value of another type than direct kernels read, is noted among the
//! [failures](crate::failures) of the invocation; a payload that direct kernels read is copied into its cell. Whatever a kernel
//! finds in its places afterwards is what B5 promises.

use tfrt_async::{AnyRef, TypeIndex};
use tfrt_host::function::FunctionTable;
use tfrt_host::kernel::direct::{DirectCall, DirectFn};
use tfrt_host::kernel::{AttributeList, FunctionList, KernelFrame};
use tfrt_ods::OpTraits;
use tfrt_support::{Error, ErrorCode};

use crate::body::{Body, Extras, KernelDetails, KernelResult, Register, ResultForm, Strictness};
use crate::call;
use crate::program::Program;
use crate::ready::{Path, Step};
use crate::traced;

/// Kernels that run in place.
impl Path<'_> {
    /// Runs a kernel in place, and does what it needs besides.
    pub(crate) fn run_in_place(&mut self, index: usize, direct: DirectFn) {
        let kernel = &self.body.kernels[index];
        let details = &self.body.details[index];
        if kernel.extras.contains(Extras::TAKES_SLOTS) {
            for &register in self.body.words(details.taken) {
                // The kernel reads the slots; what it reads is owned by the list from now on.
                if let Some(slot) = self.body.registers[register as usize].slot {
                    self.scratch.operands.push(self.invocation.take(slot));
                }
            }
        }
        self.step = Step::Calling {
            kernel: index as u32,
        };
        if self.must_look()
            && let Some(error) = self.reason_to_skip(details)
        {
            self.scratch.operands.clear();
            return self.fail_results(index, error);
        }
        let is_made = kernel.extras.contains(Extras::CONSTANT) && self.invocation.has_constants();
        // A trace shows every kernel.
        if is_made && !self.is_traced() {
            return self.hand_over_results(index, 0);
        }
        match self.call_in_place(index, direct) {
            Ok(()) => {
                self.step = Step::Handing {
                    kernel: index as u32,
                    num_handed: 0,
                };
                self.scratch.operands.clear();
                self.hand_over_results(index, 0);
            }
            Err(error) => {
                self.scratch.operands.clear();
                self.fail(index, error);
            }
        }
    }

    fn call_in_place(&self, index: usize, direct: DirectFn) -> Result<(), Error> {
        let kernel = &self.body.kernels[index];
        let details = &self.body.details[index];
        let _scope = self.is_traced().then(|| {
            self.ctx.set_location_token(details.location);
            traced::enter(self.invocation, details, self.stream(), self.ctx)
        });
        if !kernel.extras.contains(Extras::READS_CALL) {
            return call::direct(
                direct,
                &self.idle_call(),
                self.invocation,
                self.body,
                kernel,
            );
        }
        self.ctx.set_location_token(details.location);
        let functions = FunctionList {
            table: Some(self.invocation.table()),
            ids: self.body.words(details.functions),
        };
        let call = DirectCall {
            exec_ctx: self.ctx,
            attributes: attributes(self.invocation.program(), self.body, details),
            functions,
        };
        call::direct(direct, &call, self.invocation, self.body, kernel)
    }

    /// Hands over the results that a kernel has left in its places, from the one of number `first` on.
    pub(crate) fn hand_over_results(&mut self, index: usize, first: usize) {
        let kernel = &self.body.kernels[index];
        if !kernel.extras.contains(Extras::PUBLISHES) {
            self.step = Step::Idle;
            return self.count_down(kernel.users);
        }
        let details = &self.body.details[index];
        let mut number = first;
        while let (Some(&result), Some(&form)) =
            (details.results.get(number), details.forms.get(number))
        {
            number += 1;
            self.step = Step::Handing {
                kernel: index as u32,
                num_handed: number as u32,
            };
            self.hand_over_result(result, form);
        }
        self.step = Step::Idle;
    }

    #[inline]
    fn hand_over_result(&mut self, result: KernelResult, form: ResultForm) {
        let register = &self.body.registers[result.register as usize];
        if form == ResultForm::LaterSlot
            && let Some(slot) = register.slot
        {
            let value = self.invocation.take(slot);
            if register.is_wanted || result.users.len() > 0 {
                self.publish(result, value);
            }
            return;
        }
        match (form, register.cell, register.slot, register.ty) {
            (ResultForm::Cell, Some(cell), _, Some(ty)) => {
                if register.is_wanted {
                    let is_given = register.returned.is_some();
                    let value = self.invocation.wrap_cell(cell, ty, is_given);
                    self.hand_over(register, value);
                }
                self.count_down(result.users);
            }
            (ResultForm::Slot, _, Some(slot), _) => {
                let value = self.invocation.take(slot);
                self.hand_over(register, value);
                self.count_down(result.users);
            }
            _ => unreachable!("a kernel that runs in place leaves its results in places"),
        }
    }

    /// Why a kernel that runs in place cannot run: the last error among its operands, or else that the request is cancelled.
    #[cold]
    fn reason_to_skip(&self, details: &KernelDetails) -> Option<AnyRef> {
        let failures = self.invocation.failures();
        let operands = self.body.words(details.operands);
        let found = || {
            let operands = operands.iter().enumerate().rev();
            operands.filter_map(|(index, &register)| Some((index, failures.get(register)?)))
        };
        if let Some((_, error)) = found().find(|(_, value)| value.is_error()) {
            return Some(error.clone());
        }
        if let Some(error) = self.ctx.request().cancel_value() {
            return Some(error.clone());
        }
        // Who takes a reference takes one of any type.
        let is_read = |&(index, _): &(usize, &AnyRef)| {
            !details.descriptor.types().operands.is_reference(index)
        };
        let (index, value) = found().filter(is_read).last()?;
        let register = &self.body.registers[operands[index] as usize];
        let expected = register.ty.unwrap_or(TypeIndex::NONE);
        let error = details
            .descriptor
            .operand_mismatch(index, expected, value.type_id());
        Some(self.emit(details, error))
    }

    /// Makes the failure of a kernel known, which becomes every result.
    #[cold]
    pub(crate) fn fail(&mut self, index: usize, error: Error) {
        let error = self.emit(&self.body.details[index], error);
        self.fail_results(index, error);
    }

    fn emit(&self, details: &KernelDetails, error: Error) -> AnyRef {
        self.ctx.set_location_token(details.location);
        error.set_kernel_if_unset(details.descriptor.name());
        AnyRef::error(self.ctx.emit_error(error))
    }

    /// Makes every result of a kernel this error.
    #[cold]
    pub(crate) fn fail_results(&mut self, index: usize, error: AnyRef) {
        let num_results = self.body.details[index].results.len();
        let given = std::mem::take(&mut self.scratch.results);
        self.scratch.results.resize(num_results, Some(error));
        self.step = Step::Publishing {
            kernel: index as u32,
            num_published: 0,
        };
        drop(given);
        self.publish_results(index, 0);
    }
}

/// Kernels that need a frame.
impl Path<'_> {
    /// Runs a kernel that needs a frame.
    pub(crate) fn run_framed(&mut self, index: usize) {
        let body = self.body;
        let details = &body.details[index];
        let mut error = self.ctx.request().cancel_value().cloned();
        let is_strict = details.strictness == Strictness::Strict;
        for &register in body.words(details.operands) {
            let slot = body.registers[register as usize].slot;
            let slot = slot.expect("a register that a frame takes from has a slot");
            let operand = self.invocation.take(slot);
            if is_strict && operand.is_error() {
                error = Some(operand.clone());
            }
            self.scratch.operands.push(operand);
        }
        if let Strictness::Waits(positions) = details.strictness {
            let operands = &self.scratch.operands;
            let waited = body.words(positions).iter();
            let failed = waited
                .rev()
                .find(|&&position| operands[position as usize].is_error());
            error = failed
                .map(|&position| operands[position as usize].clone())
                .or(error);
        }
        self.step = Step::Calling {
            kernel: index as u32,
        };
        let is_skipped = error.is_some();
        for _ in 0..details.results.len() {
            self.scratch.results.push(error.clone());
        }
        if !is_skipped {
            self.call_framed(details);
        }
        self.scratch.operands.clear();
        self.publish_results(index, 0);
    }

    #[inline]
    fn call_framed(&mut self, details: &KernelDetails) {
        self.ctx.set_location_token(details.location);
        let _scope = self
            .is_traced()
            .then(|| traced::enter(self.invocation, details, self.stream(), self.ctx));
        let functions = FunctionList {
            table: Some(self.invocation.table()),
            ids: self.body.words(details.functions),
        };
        let attributes = attributes(self.invocation.program(), self.body, details);
        let op = details.descriptor.op();
        // A call does nothing once its callee has started but to hand on its result; several results would be published one after the other.
        let is_call = op.traits.contains(OpTraits::CALL) || op.traits.contains(OpTraits::CHOOSES);
        let _resting = match is_call && details.results.len() <= 1 {
            true => self.rest(),
            false => None,
        };
        let scratch = &mut self.scratch;
        let (operands, results) = (&scratch.operands, &mut scratch.results);
        let frame = &mut KernelFrame::new(self.ctx, op, operands, attributes, functions, results);
        call::call(details, frame);
    }

    /// Publishes the results of a kernel, from the one of number `first` on.
    pub(crate) fn publish_results(&mut self, index: usize, first: usize) {
        let details = &self.body.details[index];
        for (number, &result) in details.results.iter().enumerate().skip(first) {
            self.step = Step::Publishing {
                kernel: index as u32,
                num_published: number as u32 + 1,
            };
            let value = self.scratch.results[number]
                .take()
                .unwrap_or_else(|| self.missing_result(details, number));
            self.publish(result, value);
        }
        self.scratch.results.clear();
        self.step = Step::Idle;
    }

    #[cold]
    fn missing_result(&self, details: &KernelDetails, number: usize) -> AnyRef {
        let name = details.descriptor.name();
        let error = Error::new(format!("kernel '{name}' did not set result {number}"))
            .with_code(ErrorCode::Internal);
        self.emit(details, error)
    }
}

/// The attributes of a kernel.
pub(crate) fn attributes<'a>(
    program: &'a Program,
    body: &'a Body,
    kernel: &KernelDetails,
) -> AttributeList<'a> {
    match body.words(kernel.attributes) {
        [] => AttributeList::EMPTY,
        offsets => AttributeList {
            section: program.attribute_section(),
            offsets,
        },
    }
}

/// Values on their way to registers.
impl Path<'_> {
    /// Gives a register its value, now or when it is available, and makes its users ready.
    pub(crate) fn publish(&mut self, result: KernelResult, value: AnyRef) {
        if value.is_available() || result.users.len() == 0 {
            self.put(result.register, &value);
            self.count_down(result.users);
            return;
        }
        let (invocation, stream) = (self.share_invocation(), self.stream());
        value.and_then(move |value| {
            Path::run(&invocation, stream, &[], |path| {
                path.put(result.register, value);
                path.count_down(result.users);
            });
        });
    }

    /// Puts a value where the users of a register look for it. It is available, unless there are none.
    pub(crate) fn put(&self, number: u32, value: &AnyRef) {
        let register = &self.body.registers[number as usize];
        if register.has_direct_readers {
            // Who reads a reference reads one of any type, and has an assumption of none.
            let is_expected = register.ty.is_none_or(|ty| ty == value.type_id());
            if value.is_error() || !is_expected {
                let num_registers = self.body.registers.len();
                self.invocation
                    .failures()
                    .note(number, num_registers, value.clone());
            } else if let (Some(cell), Some(ty)) = (register.cell, register.ty) {
                self.invocation.fill_cell(cell, ty, value);
            }
        }
        if register.is_wanted {
            self.hand_over(register, value.clone());
        }
    }

    /// Hands a value to all who take references to it: kernels, the caller of the function, who reads early.
    fn hand_over(&self, register: &Register, value: AnyRef) {
        if let Some(early) = register.early {
            if let Some(promise) = self.invocation.take_promise(early) {
                // A waiter that somebody else left with the value may panic. The value is there all the same, and its users
                // must learn of it.
                call::catch(|| promise.forward_to(value));
            }
            return;
        }
        if let Some(returned) = register.returned {
            let result = value.clone().into_given();
            if let Some((promise, result)) = self.invocation.result_slot(returned).give(result) {
                // As above: the caller's waiters.
                call::catch(|| promise.forward_to(result));
            }
        }
        if let Some(slot) = register.slot {
            self.invocation.put(slot, value, register.num_references);
        }
    }
}
