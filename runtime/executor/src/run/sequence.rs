//! Functions that run on one path in an order that is known: the schedule of their code.
//!
//! Where a function has a schedule, its kernels are called one after the other in a frame on the stack. Nothing is counted, nothing
//! is listed, and nothing outlives the call. This is what the ready loop would do, in the same order; so nobody can tell, whatever
//! the kernels do. It goes well as long as every kernel has its results when it returns.
//!
//! ```text
//!   arguments ─► frame ─► kernel ─► kernel ─► kernel ─► results ─► caller
//!                            │ a result is not available, or an error; the kernel fails; the request is cancelled;
//!                            │ several threads would be faster
//!                            ▼
//!                      invocation with the same frame, which goes on in the ready loop from where the run is
//! ```
//!
//! A run that is left has done nothing that the ready loop would not have done, and none of it is done again. So there is one
//! place that knows what becomes of failures: the ready loop.
//!
//! # When a schedule is followed
//!
//! - If all kernels are of one stream, its order is that of every queue, and it is always followed.
//! - If there are several streams, a queue that runs tasks in order has another order, which users rely on. Only under a queue of
//!   several threads, which promises none, the schedule is followed, as long as one thread is enough: see [`super::pace`].
//!
//! Synchronous functions always have a schedule, their program order; a run of one ends where another one would be left.
//!
//! A call of a function that has a schedule, too, is a frame on top of the caller's: arguments and results are copied from cell to
//! cell. Calls nest on the native stack to a bound.
#![expect(unsafe_code, reason = "calls kernels whose operands are in place")]

use std::any::Any;
use std::cell::Cell;
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tfrt_async::AnyRef;
use tfrt_async::dropping::report_to;
use tfrt_bef::FunctionId;
use tfrt_host::function::FunctionTable;
use tfrt_host::kernel::direct::{DirectCall, DirectFn};
use tfrt_host::kernel::{AttributeList, FunctionList, KernelFrame};
use tfrt_host::tracing::{self, Scope, TracingLevel};
use tfrt_host::{BorrowedContext, ExecutionContext};
use tfrt_support::entity::EntityId;
use tfrt_support::{Error, ErrorCode};

use super::body::Body;
use super::frame::Frame;
use super::framed;
use super::invocation::InvocationRef;
use super::nesting::{self, Nesting};
use super::pace::Watch;
use super::panics;
use super::path::{Lists, Path, Progress};
use super::program::{CallSite, Called, FunctionBody, Program};
use super::ready::run_path;
use super::traced;
use crate::lower::code::{
    Code, Extras, Kernel, KernelDetails, KernelId, Register, RegisterId, ResultForm,
};
use crate::lower::schedule::Simulation;

/// What came of an attempt to follow a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Nothing was done: an argument is not what the kernels read, or calls nest too deep.
    Refused,
    /// The results are where they belong. Those of a run that was left may be unavailable.
    Finished,
}

/// Whether schedules are followed at all.
static IS_FOLLOWED: AtomicBool = AtomicBool::new(true);

/// Lets asynchronous functions of this process follow their schedules, as they do unless they are told, or run in the ready loop.
///
/// For tests and measurements that compare the two: nothing but time tells them apart.
#[doc(hidden)]
pub fn follow_schedules(is_followed: bool) {
    IS_FOLLOWED.store(is_followed, Ordering::Relaxed);
}

/// Whether the schedule of a body is to be followed in this context: exactly that of every queue, or one of the orders of a queue
/// that promises none.
#[inline]
pub(crate) fn is_followed(body: &Body, ctx: &ExecutionContext) -> bool {
    // Relaxed: it is set before and after what is compared.
    if !IS_FOLLOWED.load(Ordering::Relaxed) {
        return false;
    }
    match body.code.schedule {
        Some(schedule) if schedule.is_exact => true,
        Some(_) => ctx.queue().parallelism_level() > 1 && body.pace.is_for_one_thread(),
        None => false,
    }
}

/// Runs a function that is called from Rust with values, if they are what its kernels read.
pub(crate) fn run(
    program: &Arc<Program>,
    body: &Body,
    ctx: &ExecutionContext,
    arguments: &[AnyRef],
    results: &mut [Option<AnyRef>],
) -> Outcome {
    let watch = watch(body, ctx);
    let mut values = Values { arguments, results };
    report_to(ctx, || {
        follow(program, body, ctx, watch.as_ref(), &mut values)
    })
}

/// Runs a synchronous function with values that have payloads.
///
/// # Errors
/// What the first kernel that fails says; that an argument is not what its kernels read, or that calls nest too deep.
pub(crate) fn run_sync(
    program: &Arc<Program>,
    body: &Body,
    ctx: &ExecutionContext,
    arguments: &[AnyRef],
    results: &mut [Option<AnyRef>],
) -> Result<(), Error> {
    Frame::with(&body.code, |frame| {
        if !(Values { arguments, results }).put_arguments(frame) {
            return Err(mismatched_argument(&body.code, arguments));
        }
        body.constants.put(frame, program.attribute_section(), ctx);
        run_filled(program, body, ctx, frame, results)
    })
}

/// As [`run_sync`], with the arguments and the constants in the frame. Takes what is in slots out of them, whatever happens.
pub(crate) fn run_filled(
    program: &Arc<Program>,
    body: &Body,
    ctx: &ExecutionContext,
    frame: Frame<'_>,
    results: &mut [Option<AnyRef>],
) -> Result<(), Error> {
    let nesting = Nesting::enter_sync();
    let run = Run {
        program,
        body,
        frame,
        ctx: &BorrowedContext::inside(ctx, program),
        has_constants: body.constants.are_made(),
        is_traced: tracing::is_active(TracingLevel::Debug),
        is_sync: true,
        watch: None,
        nesting: nesting.as_ref(),
        number: Cell::new(None),
        progress: Cell::new(Progress::Idle),
    };
    let outcome = match nesting {
        Some(_) => report_to(ctx, || run.run_guarded()),
        None => Err(Box::new(Left::Failed(
            KernelId::from_index(0),
            nesting::too_deep(),
        ))),
    };
    match outcome {
        Ok(()) => {
            take_results(frame, results, false);
            Ok(())
        }
        Err(left) => Err(report_to(ctx, || run.end(*left))),
    }
}

/// Runs a function that a kernel of another frame calls, from place to place. A [`CallInPlace`](super::program::CallInPlace).
pub(crate) fn call_in_place(site: &CallSite<'_>, results: &mut Vec<Option<AnyRef>>) -> Called {
    let code = site.frame.code;
    let details = code.details(site.kernel);
    let operands = code.words(details.operands);
    let (callee, operands) = match *code.words(details.functions) {
        [callee] => (callee, operands),
        [first, second] => {
            let condition = &code.registers[operands[0] as usize];
            let is_true = site.frame.is_true(condition);
            (if is_true { first } else { second }, &operands[1..])
        }
        _ => return Called::Unsuited,
    };
    let callee = FunctionId::from_index(callee as usize);
    let Ok(FunctionBody::Async(body)) = site.program.body(callee) else {
        return Called::Unsuited;
    };
    let counts = (body.code.start.arguments.len(), body.code.results.len());
    if counts != (operands.len(), details.results.len())
        || site.ctx.call_depth() >= site.ctx.host().limits().max_call_depth
        || !is_followed(body, site.ctx)
    {
        return Called::Unsuited;
    }
    let own_watch = match site.watch {
        Some(_) => None,
        None => watch(body, site.ctx),
    };
    let mut places = CallerPlaces {
        caller: site.frame,
        operands,
        details,
        list: results,
        called: Called::Unsuited,
    };
    let watch = site.watch.or(own_watch.as_ref());
    match follow(site.program, body, site.ctx, watch, &mut places) {
        Outcome::Refused => Called::Unsuited,
        Outcome::Finished => places.called,
    }
}

/// The clock of a run on one thread which may be handed over; none if there is nothing to hand over.
#[inline]
fn watch(body: &Body, ctx: &ExecutionContext) -> Option<Watch> {
    let is_exact = body.code.schedule.is_some_and(|schedule| schedule.is_exact);
    (!is_exact).then(|| body.pace.watch(ctx.queue().parallelism_level() - 1))
}

/// Where arguments come from and results go to.
trait Transfer {
    /// Puts the arguments into the frame of the callee. False, and nothing done, if one of them is not what is read there.
    fn put_arguments(&mut self, callee: Frame<'_>) -> bool;

    /// Takes the results out of the frame of a callee that has run to its end.
    fn take_results(&mut self, callee: Frame<'_>);

    /// Takes the results of a callee that goes on as an invocation.
    fn take_later_results(&mut self, callee: &InvocationRef);

    /// Makes every result this error.
    fn fail(&mut self, error: Error);
}

#[inline]
fn follow(
    program: &Arc<Program>,
    body: &Body,
    caller: &ExecutionContext,
    watch: Option<&Watch>,
    transfer: &mut impl Transfer,
) -> Outcome {
    let Some(nesting) = Nesting::enter_run() else {
        return Outcome::Refused;
    };
    // This run is among those of the thread already.
    if !caller
        .host()
        .has_room_for_invocation(nesting::num_runs() - 1)
    {
        return Outcome::Refused;
    }
    Frame::with(&body.code, |frame| {
        if !transfer.put_arguments(frame) {
            return Outcome::Refused;
        }
        let ctx = BorrowedContext::inside(caller, program);
        if body.code.frame.has_constants() {
            body.constants.put(frame, program.attribute_section(), &ctx);
        }
        let run = Run {
            program,
            body,
            frame,
            ctx: &ctx,
            has_constants: body.constants.are_made(),
            is_traced: tracing::begin_path(),
            is_sync: false,
            watch,
            nesting: Some(&nesting),
            number: Cell::new(None),
            progress: Cell::new(Progress::Idle),
        };
        match run.run_guarded() {
            Ok(()) => transfer.take_results(frame),
            Err(left) => match run.leave(caller, *left) {
                Ok(invocation) => transfer.take_later_results(&invocation),
                Err(error) => transfer.fail(error),
            },
        }
        Outcome::Finished
    })
}

/// One run that follows a schedule.
struct Run<'a> {
    program: &'a Arc<Program>,
    body: &'a Body,
    frame: Frame<'a>,
    /// The context inside the function.
    ctx: &'a BorrowedContext<'a>,
    has_constants: bool,
    is_traced: bool,
    /// Whether the function is synchronous.
    is_sync: bool,
    watch: Option<&'a Watch>,
    /// That the run is on the stack of its thread.
    nesting: Option<&'a Nesting>,
    /// What traces call the run, once one wants to know.
    number: Cell<Option<u64>>,
    /// How far the current kernel has come, for the case that something panics.
    progress: Cell<Progress>,
}

/// Why and where a run leaves its schedule.
enum Left {
    /// Before this kernel.
    Before(KernelId),
    /// Before this kernel, to be handed to several threads.
    ToShare(KernelId),
    /// This kernel failed that was called in place.
    Failed(KernelId, Error),
    /// This kernel panicked that was called with a list of operands.
    FailedFramed(KernelId, Error),
    /// The results of this kernel from this number on, which are in its places, are to be published.
    HandingOver(KernelId, u32),
    /// The results of this kernel from this number on, which are in the list, are to be published.
    Publishing(KernelId, u32, Box<Lists>),
}

impl Run<'_> {
    fn run_guarded(&self) -> Result<(), Box<Left>> {
        let mut lists = None;
        let outcome = catch_unwind(AssertUnwindSafe(|| match (self.is_sync, self.watch) {
            (true, _) => self.run_kernels::<true, false>(&mut lists),
            (false, None) => self.run_kernels::<false, false>(&mut lists),
            (false, Some(_)) => self.run_kernels::<false, true>(&mut lists),
        }));
        let outcome = outcome.unwrap_or_else(|payload| Err(self.after_panic(payload, &mut lists)));
        if let Some(lists) = lists {
            lists.give_back();
        }
        outcome
    }

    // A function of its own, so that all that its loop needs is in registers of the processor.
    #[inline(never)]
    fn run_kernels<const IS_SYNC: bool, const IS_WATCHED: bool>(
        &self,
        lists: &mut Option<Box<Lists>>,
    ) -> Result<(), Box<Left>> {
        let (frame, idle) = (self.frame, DirectCall::idle(self.ctx));
        let request = &**self.ctx.request();
        // Where each kernel is recorded, none is plain.
        let plain = (!self.is_traced).then_some(Extras::RETURNS);
        for kernel in &frame.code.kernels {
            if !IS_SYNC && request.cancel_value().is_some() {
                return Err(Box::new(Left::Before(self.id_of(kernel))));
            }
            if IS_WATCHED && self.watch.is_some_and(Watch::is_over) {
                return Err(Box::new(Left::ToShare(self.id_of(kernel))));
            }
            if plain.is_some_and(|plain| kernel.extras.is_within(plain))
                && let Some(run) = kernel.direct
            {
                // It does not panic: a direct kernel returns an error instead.
                if let Err(error) = self.call(frame, run, kernel, &idle) {
                    return Err(self.failed(kernel, error));
                }
            } else {
                self.run_other(self.id_of(kernel), kernel, lists)?;
            }
        }
        Ok(())
    }

    #[cold]
    fn failed(&self, kernel: &Kernel, error: Error) -> Box<Left> {
        Box::new(Left::Failed(self.id_of(kernel), error))
    }

    /// The id of one of the kernels of the code.
    #[inline]
    fn id_of(&self, kernel: &Kernel) -> KernelId {
        let first = self.frame.code.kernels.as_ptr();
        let num_bytes = std::ptr::from_ref(kernel).addr() - first.addr();
        KernelId::from_index(num_bytes / size_of::<Kernel>())
    }

    #[inline]
    fn call(
        &self,
        frame: Frame<'_>,
        run: DirectFn,
        kernel: &Kernel,
        call: &DirectCall<'_>,
    ) -> Result<(), Error> {
        // SAFETY: 1: each kernel runs once, in the order of the schedule. 2: the kernels before it, or the arguments, are the
        // producers of its operands (C1); they have put what it reads (C5), or the run had been left.
        unsafe { frame.run(kernel, run, call) }
    }

    /// Runs a kernel that needs more than a call.
    fn run_other(
        &self,
        id: KernelId,
        kernel: &Kernel,
        lists: &mut Option<Box<Lists>>,
    ) -> Result<(), Box<Left>> {
        let details = self.frame.code.details(id);
        if let Some(run) = kernel.direct {
            self.progress.set(Progress::InPlace(id));
            if kernel.extras.contains(Extras::CONSTANT) && self.has_constants && !self.is_traced {
                return self.settle_places(id, kernel, details);
            }
            self.call_with_surroundings(run, kernel, details)
                .map_err(|error| Box::new(Left::Failed(id, error)))?;
            return self.settle_places(id, kernel, details);
        }
        // What is traced is a kernel with operands.
        if kernel.extras.contains(Extras::CALLS) && !self.is_traced {
            let mut results = Vec::new();
            self.progress.set(Progress::InPlace(id));
            match self.call_function(id, details, &mut results) {
                Called::Unsuited => {}
                Called::Placed => return self.settle_places(id, kernel, details),
                Called::Listed => {
                    let lists = &mut **lists.get_or_insert_with(Lists::take);
                    lists.results = results;
                    self.progress.set(Progress::Publishing(id, 0));
                    framed::release_operands(self.frame, details);
                    return self.settle_list(id, details, lists);
                }
            }
        }
        let lists = &mut **lists.get_or_insert_with(Lists::take);
        let mut failure = None;
        self.call_framed(id, kernel, details, lists, &mut failure);
        if let Some(error) = failure {
            panics::drop_quietly(std::mem::take(&mut lists.results));
            return Err(Box::new(Left::FailedFramed(id, error)));
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
        let _scope = self.is_traced.then(|| self.enter_scope(details));
        if !kernel.extras.contains(Extras::READS_CALL) {
            return self.call(self.frame, run, kernel, &DirectCall::idle(self.ctx));
        }
        self.set_location(details);
        self.with_functions(details, |functions| {
            let call = DirectCall {
                exec_ctx: self.ctx,
                attributes: self.attributes(details),
                functions,
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
        self.set_location(details);
        let site = CallSite {
            program: self.program,
            ctx: self.ctx,
            frame: self.frame,
            kernel: id,
            watch: self.watch,
        };
        call_in_place(&site, results)
    }

    /// Calls a kernel with a list of operands; its results are in the list.
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
            let _scope = self.is_traced.then(|| self.enter_scope(details));
            self.set_location(details);
            let attributes = self.attributes(details);
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

    /// Moves the context to a kernel. Those of a synchronous function are where its caller is.
    #[inline]
    fn set_location(&self, details: &KernelDetails) {
        if !self.is_sync {
            self.ctx.set_location_token(details.location);
        }
    }

    #[inline(never)]
    fn enter_scope(&self, details: &KernelDetails) -> Scope {
        let number = self.number.get().unwrap_or_else(|| {
            let number = tracing::next_invocation_number();
            self.number.set(Some(number));
            number
        });
        let stream = (!self.is_sync).then_some(self.frame.code.start.at_once.stream);
        traced::enter(number, self.frame.code, details, stream, self.ctx)
    }

    #[inline]
    fn attributes(&self, details: &KernelDetails) -> AttributeList<'_> {
        match self.frame.code.words(details.attributes) {
            [] => AttributeList::EMPTY,
            offsets => AttributeList {
                section: self.program.attribute_section(),
                offsets,
            },
        }
    }

    #[inline]
    fn with_functions<R>(
        &self,
        details: &KernelDetails,
        f: impl FnOnce(FunctionList<'_>) -> R,
    ) -> R {
        // SAFETY: a reference is read where there is one, and the copy is never dropped.
        let table = unsafe { ptr::read(self.program) } as Arc<dyn FunctionTable>;
        let table = ManuallyDrop::new(table);
        f(FunctionList {
            table: Some(&table),
            ids: self.frame.code.words(details.functions),
        })
    }

    /// Lets go of the operands of a kernel that ran in place, and settles the results that it has left in its places.
    #[inline]
    fn settle_places(
        &self,
        id: KernelId,
        kernel: &Kernel,
        details: &KernelDetails,
    ) -> Result<(), Box<Left>> {
        self.progress.set(Progress::HandingOver(id, 0));
        if kernel.extras.contains(Extras::TAKES_SLOTS) {
            framed::release_operands(self.frame, details);
        }
        if !kernel.extras.contains(Extras::PUBLISHES) {
            return Ok(());
        }
        let results = details.results.iter().zip(&details.forms).enumerate();
        for (number, (result, &form)) in results {
            let number = number as u32;
            let register = self.frame.code.register(result.register);
            self.progress.set(Progress::HandingOver(id, number + 1));
            let is_settled = match (form, register.cell, register.slot, register.ty) {
                (ResultForm::Cell, Some(cell), slot, Some(ty)) => {
                    if let (Some(slot), 1..) = (slot, register.num_references) {
                        let is_given = register.returned.is_some();
                        let value = self.frame.wrap(cell, ty, is_given);
                        self.frame.put(slot, value, register.num_references);
                    }
                    true
                }
                (ResultForm::Slot, _, Some(slot), _) => {
                    self.frame.keep(slot, register.num_takes());
                    true
                }
                (ResultForm::LaterSlot, _, Some(slot), _) => {
                    let is_used = self.is_sync || result.users.len() > 0;
                    let is_settled =
                        is_settled(self.frame, register, is_used, self.frame.peek(slot));
                    if is_settled {
                        self.frame.keep(slot, register.num_takes());
                    }
                    is_settled
                }
                _ => unreachable!("a kernel that runs in place leaves its results in places"),
            };
            if !is_settled {
                return Err(Box::new(Left::HandingOver(id, number)));
            }
        }
        Ok(())
    }

    /// Settles the results of a kernel that are in the list.
    fn settle_list(
        &self,
        id: KernelId,
        details: &KernelDetails,
        lists: &mut Lists,
    ) -> Result<(), Box<Left>> {
        for (number, result) in details.results.iter().enumerate() {
            let register = self.frame.code.register(result.register);
            let is_used = self.is_sync || result.users.len() > 0;
            let value = lists.results[number]
                .take_if(|value| is_settled(self.frame, register, is_used, value));
            let Some(value) = value else {
                let mut left = Lists::take();
                std::mem::swap(&mut left.results, &mut lists.results);
                return Err(Box::new(Left::Publishing(id, number as u32, left)));
            };
            self.progress
                .set(Progress::Publishing(id, number as u32 + 1));
            if let Some(slot) = register.slot {
                self.frame.put(slot, value, register.num_takes());
            }
        }
        lists.results.clear();
        Ok(())
    }
}

/// Puts a value that a kernel has returned into the cell of its register, if it has one. False, and nothing done, unless the users
/// of the register can go on with the value.
#[inline]
fn is_settled(frame: Frame<'_>, register: &Register, is_used: bool, value: &AnyRef) -> bool {
    if register.cell.is_some() {
        return frame.fill(register, value);
    }
    if !is_used && !register.has_typed_readers {
        return true;
    }
    value.is_available() && !value.is_error() && is_expected(register, value)
}

/// Whether a value is of the type that is read from a register.
#[inline]
fn is_expected(register: &Register, value: &AnyRef) -> bool {
    !register.has_typed_readers || register.ty.is_none_or(|ty| ty == value.type_id())
}

/// Runs that leave their schedule.
impl Run<'_> {
    /// What a panic of the current kernel, or of what it lets go of, comes to.
    #[cold]
    fn after_panic(
        &self,
        payload: Box<dyn Any + Send>,
        lists: &mut Option<Box<Lists>>,
    ) -> Box<Left> {
        let mut lists = lists.take().unwrap_or_else(Lists::take);
        panics::drop_quietly(std::mem::take(&mut lists.operands));
        let panicked = |id: KernelId, payload| {
            panics::panicked(self.frame.code.details(id).descriptor.name(), payload)
        };
        Box::new(match self.progress.get() {
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
                return Box::new(Left::Publishing(id, number, lists));
            }
        })
    }

    /// Ends a synchronous run where it is, and says why.
    #[cold]
    fn end(&self, left: Left) -> Error {
        let (id, _) = left.position();
        let unsettled = match left {
            Left::HandingOver(id, number) => {
                let result = self.frame.code.details(id).results.get(number as usize);
                let slot = result.and_then(|result| self.frame.code.register(result.register).slot);
                slot.map(|slot| self.frame.peek(slot).clone())
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

    /// Goes on as an invocation in the ready loop.
    ///
    /// # Errors
    /// If there is no room for an invocation. Nothing goes on then.
    #[cold]
    #[inline(never)]
    fn leave(&self, caller: &ExecutionContext, left: Left) -> Result<InvocationRef, Error> {
        let code = self.frame.code;
        if let Left::ToShare(_) = left {
            self.body.pace.was_handed_over();
        }
        let (next, num_results) = left.position();
        let state = Simulation::at(code, next.index(), num_results);
        let invocation = match self.make_invocation(caller, &state.ready_counts) {
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
        for register in produced_registers(code, next, num_results) {
            if let Some(returned) = code.register(register).returned {
                let value = take_result(invocation.frame(), register, true);
                // The caller has not asked for it yet, so that nobody waits.
                invocation.result_slot(returned).give(value);
            }
        }
        let in_progress = num_results.map(|_| next);
        let stream = state.ready.last().copied().or(in_progress);
        let stream = stream.map_or(code.start.stream, |kernel| code.kernel(kernel).stream);
        run_path(&invocation, stream, &[], |path| {
            state
                .ready
                .iter()
                .for_each(|&kernel| path.make_ready(kernel));
            left.resume(path);
        });
        Ok(invocation)
    }

    fn make_invocation(
        &self,
        caller: &ExecutionContext,
        ready_counts: &[u32],
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

    /// Lets go of what is in the frame of a run that does not go on.
    #[cold]
    fn clear_frame(&self, left: &Left) {
        let code = self.frame.code;
        let (next, num_results) = left.position();
        let mut num_left = vec![0; code.registers.len()];
        for register in produced_registers(code, next, num_results) {
            num_left[register.index()] = code.register(register).num_takes();
        }
        let has_operands = matches!(left, Left::Before(_) | Left::ToShare(_) | Left::Failed(..));
        let num_done = next.index() + usize::from(!has_operands);
        for (kernel, details) in code.kernels.iter().zip(&code.details).take(num_done) {
            let is_in_place = kernel.direct.is_some() || kernel.extras.contains(Extras::CALLS);
            let taken = if is_in_place {
                details.taken
            } else {
                details.operands
            };
            for register in code.register_ids(taken) {
                num_left[register.index()] -= 1;
            }
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
                (0..num_left).for_each(|_| panics::catch(|| drop(self.frame.take(slot))));
            }
        }
    }
}

impl Left {
    /// The kernel that the run is at, and how many of its results were handed over; nothing of it was done if that is none.
    fn position(&self) -> (KernelId, Option<usize>) {
        match *self {
            Self::Before(id) | Self::ToShare(id) => (id, None),
            Self::Failed(id, _) | Self::FailedFramed(id, _) => (id, Some(0)),
            Self::HandingOver(id, number) | Self::Publishing(id, number, _) => {
                (id, Some(number as usize))
            }
        }
    }

    /// Goes on in the ready loop with the kernel that the run is at.
    fn resume(self, path: &mut Path<'_>) {
        match self {
            Self::Before(_) | Self::ToShare(_) => {}
            Self::Failed(id, error) => path.fail(id, error),
            Self::FailedFramed(id, error) => path.fail_framed(id, error),
            Self::HandingOver(id, number) => path.hand_over_results(id, number as usize),
            Self::Publishing(id, number, mut lists) => {
                std::mem::swap(&mut path.lists.results, &mut lists.results);
                lists.give_back();
                path.publish_results(id, number as usize);
            }
        }
    }
}

/// The registers that have values when a run is at a kernel.
fn produced_registers(
    code: &Code,
    next: KernelId,
    num_results: Option<usize>,
) -> impl Iterator<Item = RegisterId> {
    let arguments = code.start.arguments.iter();
    let done = &code.details[..next.index()];
    let done = done.iter().flat_map(|details| &details.results);
    let current = code.details.get(next.index());
    let current = current.into_iter().flat_map(|details| &details.results);
    let results = done.chain(current.take(num_results.unwrap_or(0)));
    arguments.chain(results).map(|result| result.register)
}

/// The error of a synchronous kernel one of whose results has no payload.
#[cold]
fn no_payload(kernel: &str, index: u32, found: Option<AnyRef>) -> Error {
    if let Some(error) = found.as_ref().and_then(AnyRef::error_if_present) {
        return error.clone();
    }
    let message = match found {
        Some(_) => format!(
            "result {index} of `{kernel}` is not available, and a synchronous kernel is done when it returns"
        ),
        None => format!("kernel '{kernel}' did not set result {index}"),
    };
    Error::new(message).with_code(ErrorCode::Internal)
}

/// The error of a synchronous function one of whose arguments is of another type than its kernels read.
#[cold]
fn mismatched_argument(code: &Code, arguments: &[AnyRef]) -> Error {
    for details in &code.details {
        let operands = code.words(details.operands);
        for (index, &register) in operands.iter().enumerate() {
            let Some(found) = arguments.get(register as usize).map(AnyRef::type_id) else {
                continue;
            };
            let expected = code.registers[register as usize].ty;
            if let Some(expected) = expected.filter(|&expected| expected != found) {
                let error = details.descriptor.operand_mismatch(index, expected, found);
                error.set_kernel_if_unset(details.descriptor.name());
                return error;
            }
        }
    }
    Error::new("an argument of a synchronous function has no payload")
        .with_code(ErrorCode::InvalidArgument)
}

/// The error of an invocation that gets no block.
#[cold]
pub(crate) fn no_memory() -> Error {
    Error::new("the host has no memory for the state of a function")
        .with_code(ErrorCode::ResourceExhausted)
}

/// Takes a result of the function out of its frame.
#[inline]
fn take_result(frame: Frame<'_>, register: RegisterId, is_given: bool) -> AnyRef {
    let register = frame.code.register(register);
    match (register.cell, register.ty, register.slot) {
        (Some(cell), Some(ty), _) => frame.wrap(cell, ty, is_given),
        (_, _, Some(slot)) if is_given => frame.take(slot).into_given(),
        (_, _, Some(slot)) => frame.take(slot),
        _ => unreachable!("a result of a function has a place"),
    }
}

/// Takes all results of a function out of its frame. Those of one register are one value.
#[inline]
fn take_results(frame: Frame<'_>, results: &mut [Option<AnyRef>], is_given: bool) {
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

/// Values, for a caller in Rust.
struct Values<'a> {
    arguments: &'a [AnyRef],
    results: &'a mut [Option<AnyRef>],
}

impl Transfer for Values<'_> {
    fn put_arguments(&mut self, callee: Frame<'_>) -> bool {
        let registers = &callee.code.registers;
        let is_suited = |(value, register): (&AnyRef, &Register)| {
            if register.cell.is_some() {
                value.is_concrete() && register.ty == Some(value.type_id())
            } else {
                value.is_available() && !value.is_error() && is_expected(register, value)
            }
        };
        if !self.arguments.iter().zip(registers).all(is_suited) {
            return false;
        }
        for (value, register) in self.arguments.iter().zip(registers) {
            callee.fill(register, value);
            if let (Some(slot), num_takes @ 1..) = (register.slot, register.num_takes()) {
                callee.put(slot, value.clone(), num_takes);
            }
        }
        true
    }

    fn take_results(&mut self, callee: Frame<'_>) {
        take_results(callee, self.results, true);
    }

    fn take_later_results(&mut self, callee: &InvocationRef) {
        callee.take_results(self.results);
    }

    fn fail(&mut self, error: Error) {
        self.results.fill(Some(AnyRef::error(error)));
    }
}

/// Places in the frame of a caller.
struct CallerPlaces<'a> {
    caller: Frame<'a>,
    /// The registers of the arguments.
    operands: &'a [u32],
    details: &'a KernelDetails,
    /// Where results go that have no place in the frame.
    list: &'a mut Vec<Option<AnyRef>>,
    called: Called,
}

impl CallerPlaces<'_> {
    /// The registers of the caller and of the callee that an argument goes from and to.
    #[inline]
    fn arguments<'c>(
        &'c self,
        callee: Frame<'c>,
    ) -> impl Iterator<Item = (&'c Register, &'c Register)> {
        let sources = self.operands.iter();
        let sources = sources.map(|&register| &self.caller.code.registers[register as usize]);
        sources.zip(&callee.code.registers)
    }

    /// The registers of the callee and of the caller that a result goes from and to.
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

/// Whether what is in the place of a register of one frame may go to a register of another one, and be read there.
#[inline]
fn is_movable(source: Frame<'_>, from: &Register, to: &Register) -> bool {
    if from.cell.is_some() {
        return from.ty == to.ty || (to.cell.is_none() && !to.has_typed_readers);
    }
    let Some(slot) = from.slot else {
        // Nobody has put it anywhere, so that nobody needs it.
        return false;
    };
    let value = source.peek(slot);
    if to.cell.is_some() {
        return value.is_concrete() && to.ty == Some(value.type_id());
    }
    value.is_available() && !value.is_error() && is_expected(to, value)
}

impl Transfer for CallerPlaces<'_> {
    fn put_arguments(&mut self, callee: Frame<'_>) -> bool {
        // Mostly all of them go from cell to cell.
        let is_copied = |(from, to): (&Register, &Register)| {
            to.num_takes() == 0 && callee.copy_cell(to, self.caller, from)
        };
        if self.arguments(callee).all(is_copied) {
            return true;
        }
        let is_suited = |(from, to): (&Register, &Register)| is_movable(self.caller, from, to);
        if !self.arguments(callee).all(is_suited) {
            return false;
        }
        for (from, to) in self.arguments(callee) {
            let num_takes = to.num_takes();
            if callee.copy_cell(to, self.caller, from) && num_takes == 0 {
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
                callee.put(slot, value, num_takes);
            }
        }
        true
    }

    fn take_results(&mut self, callee: Frame<'_>) {
        // Mostly all of them go from cell to cell. A cell may be copied more than once.
        let is_copied =
            |(from, to): (&Register, &Register)| self.caller.copy_cell(to, callee, from);
        if self.results(callee).all(is_copied) {
            self.called = Called::Placed;
            return;
        }
        let repeats = |(index, &first): (usize, &u32)| first as usize != index;
        let first_results = &callee.code.first_results;
        let is_repeated = first_results.iter().enumerate().any(repeats);
        let is_suited = |(from, to): (&Register, &Register)| is_movable(callee, from, to);
        if is_repeated || !self.results(callee).all(is_suited) {
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

    fn take_later_results(&mut self, callee: &InvocationRef) {
        self.called = Called::Listed;
        self.list.resize(callee.code().results.len(), None);
        callee.take_results(self.list);
    }

    fn fail(&mut self, error: Error) {
        self.called = Called::Listed;
        let num_results = self.details.results.len();
        self.list.resize(num_results, Some(AnyRef::error(error)));
    }
}
