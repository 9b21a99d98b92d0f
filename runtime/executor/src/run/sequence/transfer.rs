//! Moving arguments into the frame of a run, and results out of it.

use tfrt_async::{AnyRef, TypeIndex};

use crate::lower::code::{KernelDetails, Register, RegisterId};
use crate::run::frame::Frame;
use crate::run::invocation::InvocationRef;
use crate::run::links::Link;
use crate::run::program::{Called, Program};

/// The outcome of an attempt to follow a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Nothing was done: an argument is not of the type that the kernels read, or calls nest too
    /// deep.
    Refused,
    /// The results are in place. Those of a run that was left may be unavailable.
    Finished,
}

/// Where arguments come from and results go.
pub(crate) trait Transfer {
    /// Puts the arguments into the frame of the callee. Returns `false` without having put a
    /// reference into a slot if one of them cannot be read there.
    fn put_arguments(&mut self, callee: Frame<'_>) -> bool;

    /// Takes the results out of the frame of a callee that has run to its end.
    fn take_results(&mut self, callee: Frame<'_>);

    /// Takes the results of a callee that has left its schedule, which may be unavailable, or
    /// errors: `fill` puts them into a list of `num_results` places, all of which are empty.
    fn take_list(&mut self, num_results: usize, fill: impl FnOnce(&mut [Option<AnyRef>]));
}

/// Takes a result of the function out of its frame.
#[inline(always)]
pub(crate) fn take_result(frame: Frame<'_>, register: RegisterId, is_given: bool) -> AnyRef {
    let register = frame.code.register(register);
    match (register.cell, register.ty, register.slot) {
        (Some(cell), Some(ty), _) => frame.wrap(cell, ty, is_given),
        (_, _, Some(slot)) if is_given => frame.take(slot).into_given(),
        (_, _, Some(slot)) => frame.take(slot),
        _ => unreachable!("a result of a function has a place"),
    }
}

/// Takes all results of a function out of its frame. Results of the same register are the same
/// value.
#[inline]
pub(crate) fn take_results(frame: Frame<'_>, results: &mut [Option<AnyRef>], is_given: bool) {
    let code = frame.code;
    for (index, &register) in code.results.iter().enumerate() {
        let first = code.first_results[index] as usize;
        results[index] = if first == index {
            Some(take_result(frame, register, is_given))
        } else {
            results[first].clone()
        };
    }
}

/// Passes the results of the function among these registers, which have values, to the caller.
pub(super) fn give_results(
    invocation: &InvocationRef,
    registers: impl IntoIterator<Item = RegisterId>,
) {
    for register in registers {
        if let Some(returned) = invocation.code().register(register).returned {
            let value = take_result(invocation.frame(), register, true);
            invocation.give_result(returned, value);
        }
    }
}

/// Values, for a caller in Rust.
pub(crate) struct Values<'a> {
    pub(crate) arguments: &'a [AnyRef],
    pub(crate) results: &'a mut [Option<AnyRef>],
}

impl Transfer for Values<'_> {
    #[inline]
    fn put_arguments(&mut self, callee: Frame<'_>) -> bool {
        put_values(self.arguments, callee)
    }

    #[inline]
    fn take_results(&mut self, callee: Frame<'_>) {
        take_values(callee, self.results);
    }

    fn take_list(&mut self, _num_results: usize, fill: impl FnOnce(&mut [Option<AnyRef>])) {
        fill(self.results);
    }
}

/// Puts arguments into the frame of the callee: see [`Transfer::put_arguments`].
#[inline]
pub(super) fn put_values(arguments: &[AnyRef], callee: Frame<'_>) -> bool {
    arguments.is_empty() || put_some_values(arguments, callee)
}

/// Like [`put_values`], if there are arguments.
fn put_some_values(arguments: &[AnyRef], callee: Frame<'_>) -> bool {
    let registers = &callee.code.registers;
    let is_suited = |(value, register): (&AnyRef, &Register)| {
        if register.cell.is_some() {
            // A refused run abandons its frame, cells included.
            callee.fill(register, value)
        } else {
            value.is_available() && !value.is_error() && register.accepts(value.type_id())
        }
    };
    if !arguments.iter().zip(registers).all(is_suited) {
        return false;
    }
    if !callee.code.frame.has_slots {
        return true;
    }
    for (value, register) in arguments.iter().zip(registers) {
        if let (Some(slot), num_held @ 1..) = (register.slot, register.num_held) {
            callee.put(slot, value.clone(), num_held);
        }
    }
    true
}

/// Takes the results out of the frame of a callee that has run to its end.
#[inline(always)]
pub(super) fn take_values(callee: Frame<'_>, results: &mut [Option<AnyRef>]) {
    // Most functions have one result.
    if let ([register], [result]) = (&*callee.code.results, &mut *results) {
        let value = take_result(callee, *register, true);
        // An assignment would call the destructor of what the place holds, which is nearly always
        // nothing.
        if let Some(previous) = result.replace(value) {
            drop(previous);
        }
    } else {
        take_results(callee, results, true);
    }
}

/// Places in the frame of a caller.
pub(crate) struct CallerPlaces<'a> {
    pub(crate) program: &'a Program,
    pub(crate) caller: Frame<'a>,
    /// The registers of the arguments.
    pub(crate) operands: &'a [u32],
    pub(crate) details: &'a KernelDetails,
    pub(crate) link: &'a Link,
    /// Receives the results that have no place in the frame.
    pub(crate) list: &'a mut Vec<Option<AnyRef>>,
    pub(crate) called: Called,
}

impl CallerPlaces<'_> {
    /// Returns the outcome of the call.
    pub(crate) fn called(self, outcome: Outcome) -> Called {
        match outcome {
            Outcome::Refused => Called::Unsuited,
            Outcome::Finished => self.called,
        }
    }

    /// Returns, for each argument, its registers in the caller and in the callee.
    #[inline]
    fn arguments<'c>(
        &'c self,
        callee: Frame<'c>,
    ) -> impl Iterator<Item = (&'c Register, &'c Register)> {
        let sources = self.operands.iter();
        let sources = sources.map(|&register| &self.caller.code.registers[register as usize]);
        sources.zip(&callee.code.registers)
    }

    /// Returns, for each result, its registers in the callee and in the caller.
    #[inline]
    fn results<'c>(
        &'c self,
        callee: Frame<'c>,
    ) -> impl Iterator<Item = (&'c Register, &'c Register)> {
        let sources = callee.code.results.iter();
        let sources = sources.map(move |&register| callee.code.register(register));
        let targets = self.details.results.iter();
        sources.zip(targets.map(|result| self.caller.code.register(result.register)))
    }
}

/// Returns `true` if the value in the place of a register of one frame may move to a register of
/// another frame and be read there. A value that is not in a cell has to be of type `fixed`, if
/// there is one.
#[inline]
fn is_movable(source: Frame<'_>, from: &Register, to: &Register, fixed: Option<TypeIndex>) -> bool {
    if from.cell.is_some() {
        return from.ty == to.ty || (to.cell.is_none() && !to.has_typed_readers);
    }
    let Some(slot) = from.slot else {
        // The value was not put anywhere, so it is not needed.
        return false;
    };
    let value = source.peek(slot);
    if !value.is_concrete() {
        return false;
    }
    let found = value.type_id();
    let is_read = if to.cell.is_some() {
        to.ty == Some(found)
    } else {
        to.accepts(found)
    };
    is_read && fixed.is_none_or(|fixed| fixed == found)
}

impl Transfer for CallerPlaces<'_> {
    #[inline]
    fn put_arguments(&mut self, callee: Frame<'_>) -> bool {
        if let Some(copies) = &self.link.arguments {
            callee.copy_cells(copies, self.caller);
            return true;
        }
        self.put_other_arguments(callee)
    }

    #[inline]
    fn take_results(&mut self, callee: Frame<'_>) {
        match &self.link.results {
            Some(copies) => {
                self.caller.copy_cells(copies, callee);
                self.called = Called::Placed;
            }
            None => self.take_other_results(callee),
        }
    }

    fn take_list(&mut self, num_results: usize, fill: impl FnOnce(&mut [Option<AnyRef>])) {
        self.called = Called::Listed;
        self.list.resize(num_results, None);
        fill(self.list);
    }
}

impl CallerPlaces<'_> {
    /// Puts the arguments if some of them are not copied from cell to cell.
    fn put_other_arguments(&self, callee: Frame<'_>) -> bool {
        let function = self.program.entry(self.link.callee);
        let arguments = self.arguments(callee).zip(&function.fixed_arguments);
        for ((from, to), &fixed) in arguments {
            if !is_movable(self.caller, from, to, fixed) {
                return false;
            }
        }
        for (from, to) in self.arguments(callee) {
            let num_held = to.num_held;
            if callee.copy_cell(to, self.caller, from) && num_held == 0 {
                continue;
            }
            let value = match (from.cell, from.ty, from.slot) {
                (Some(cell), Some(ty), _) => self.caller.wrap(cell, ty, false),
                (_, _, Some(slot)) => self.caller.peek(slot).clone(),
                _ => continue,
            };
            if from.cell.is_none() {
                callee.fill(to, &value);
            }
            if let Some(slot) = to.slot {
                callee.put(slot, value, num_held);
            }
        }
        true
    }

    /// Takes the results if some of them are not copied from cell to cell.
    fn take_other_results(&mut self, callee: Frame<'_>) {
        let is_suited = |(from, to): (&Register, &Register)| is_movable(callee, from, to, None);
        if callee.code.has_repeated_results() || !self.results(callee).all(is_suited) {
            self.called = Called::Listed;
            self.list.resize(callee.code.results.len(), None);
            return take_results(callee, self.list, true);
        }
        for (from, to) in self.results(callee) {
            if self.caller.copy_cell(to, callee, from) {
                continue;
            }
            let value = match (from.cell, from.ty, from.slot) {
                (Some(cell), Some(ty), _) => callee.wrap(cell, ty, true),
                (_, _, Some(slot)) => callee.take(slot).into_given(),
                _ => unreachable!("a result of a function has a place"),
            };
            if to.cell.is_some() {
                self.caller.fill(to, &value);
            } else if let Some(slot) = to.slot {
                self.caller.put(slot, value, 1);
            }
        }
        self.called = Called::Placed;
    }
}
