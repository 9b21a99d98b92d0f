//! The interpreter of synchronous functions: kernels in program order, on the calling thread.
//!
//! No queue and no cancellation: a synchronous function runs to its end or to its first error, of which the handler of the host is
//! not told. Its kernels have one location, that of the function's caller.
//!
//! A register holds a reference from the kernel that writes it to the last one that reads it, which takes the reference over: such a
//! kernel may be the only owner of its operand. Arguments are lent, and their owner keeps a reference.
//!
//! Invariant S1: what a register holds has a payload. Upheld by `keep_results`, and for arguments by `execute`.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use tfrt_async::AnyRef;
use tfrt_bef::FunctionId;
use tfrt_host::ExecutionContext;
use tfrt_host::function::FunctionTable;
use tfrt_host::kernel::{AttributeList, FunctionList, KernelDescriptor, KernelFrame};
use tfrt_host::tracing::{self, TracingLevel};
use tfrt_support::{Error, ErrorCode};

use crate::body::Words;
use crate::call;
use crate::call_loop::CallLoop;
use crate::program::{FunctionBody, Program};
use crate::traced;

/// The body of a synchronous function.
#[derive(Debug)]
pub(crate) struct SyncBody {
    pub(crate) num_registers: usize,
    /// The faster form of the body, if it has one.
    pub(crate) call_loop: Option<CallLoop>,
    pub(crate) kernels: Box<[SyncKernel]>,
    /// The register of each result: never an argument, and never twice.
    pub(crate) results: Box<[u32]>,
    pub(crate) words: Box<[u32]>,
}

/// One kernel of a synchronous body.
#[derive(Debug)]
pub(crate) struct SyncKernel {
    pub(crate) descriptor: KernelDescriptor,
    /// Whether the types of its operands were proven when the body was loaded.
    pub(crate) is_proven: bool,
    pub(crate) location: u32,
    pub(crate) operands: Words,
    pub(crate) attributes: Words,
    pub(crate) functions: Words,
    pub(crate) results: Words,
    /// The positions of the operands that nobody reads after this kernel, in ascending order.
    pub(crate) last_uses: Words,
    /// The registers among its results that nobody reads.
    pub(crate) unused: Words,
}

/// How deep synchronous calls may nest on one stack, where each takes room: a synchronous kernel calls a function directly.
const MAX_NESTED_RUNS: u32 = 256;

thread_local! {
    static NUM_NESTED_RUNS: Cell<u32> = const { Cell::new(0) };

    /// State that no call uses at the moment. Nested calls take one each.
    static SPARE: RefCell<Vec<State>> = const { RefCell::new(Vec::new()) };
}

/// Runs function `id`; see [`FunctionTable::execute_sync`].
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
        let message = format!("calls of functions are nested deeper than {max_depth}");
        return Err(Error::new(message).with_code(ErrorCode::ResourceExhausted));
    }
    let is_traced = tracing::is_active(TracingLevel::Debug);
    let call_loop = body.call_loop.as_ref().filter(|_| !is_traced);
    // What calls nothing needs neither a level of its own nor a context.
    if let Some(call_loop) = call_loop.filter(|call_loop| call_loop.is_leaf())
        && let Some(outcome) = call_loop.run_sync(program, ctx, arguments, results)
    {
        return outcome;
    }
    let _nesting = NestedRun::enter()?;
    let ctx = &ctx.for_callee(Arc::clone(program) as _);
    if let Some(call_loop) = call_loop
        && let Some(outcome) = call_loop.run_sync(program, ctx, arguments, results)
    {
        return outcome;
    }
    let mut state = State::take_spare();
    let outcome = state.run(program, body, ctx, arguments);
    if outcome.is_ok() {
        for (result, &register) in results.iter_mut().zip(&body.results) {
            *result = state.registers[register as usize].take();
        }
    }
    state.put_back();
    outcome
}

/// Counts one synchronous call on the stack of this thread.
#[derive(Debug)]
struct NestedRun;

impl NestedRun {
    fn enter() -> Result<Self, Error> {
        let num_nested = NUM_NESTED_RUNS.get();
        if num_nested >= MAX_NESTED_RUNS {
            let message =
                format!("calls of synchronous functions are nested deeper than {MAX_NESTED_RUNS}");
            return Err(Error::new(message).with_code(ErrorCode::ResourceExhausted));
        }
        NUM_NESTED_RUNS.set(num_nested + 1);
        Ok(Self)
    }
}

impl Drop for NestedRun {
    fn drop(&mut self) {
        NUM_NESTED_RUNS.set(NUM_NESTED_RUNS.get() - 1);
    }
}

/// The state of one run of a function.
#[derive(Debug, Default)]
struct State {
    /// Those of arguments stay empty.
    registers: Vec<Option<AnyRef>>,
    /// The operands of the kernel that runs.
    operands: Vec<AnyRef>,
    /// The slots for its results.
    slots: Vec<Option<AnyRef>>,
}

impl State {
    fn take_spare() -> Self {
        let spare = SPARE.try_with(|spare| spare.borrow_mut().pop());
        spare.ok().flatten().unwrap_or_default()
    }

    /// Drops what is left, and keeps the memory.
    fn put_back(mut self) {
        self.registers.drain(..).for_each(call::drop_quietly);
        let _ = SPARE.try_with(|spare| spare.borrow_mut().push(self));
    }

    /// Runs the kernels of a function, up to the first that fails.
    fn run(
        &mut self,
        program: &Arc<Program>,
        body: &SyncBody,
        ctx: &ExecutionContext,
        arguments: &[AnyRef],
    ) -> Result<(), Error> {
        self.registers.resize_with(body.num_registers, || None);
        let words = |range: Words| &body.words[range.as_range()];
        let mut table: Option<Arc<dyn FunctionTable>> = None;
        let mut number = None;
        for kernel in &body.kernels {
            let functions = match words(kernel.functions) {
                [] => FunctionList::default(),
                ids => FunctionList {
                    table: Some(table.get_or_insert_with(|| Arc::clone(program) as _)),
                    ids,
                },
            };
            let attributes = AttributeList {
                section: program.attribute_section(),
                offsets: words(kernel.attributes),
            };
            self.take_operands(body, kernel, arguments);
            self.slots.resize_with(words(kernel.results).len(), || None);
            let op = kernel.descriptor.op();
            let mut failure = None;
            let mut frame = KernelFrame::new(
                ctx,
                op,
                &self.operands,
                attributes,
                functions,
                &mut self.slots,
            )
            .failing_into(&mut failure);
            let called = catch_unwind(AssertUnwindSafe(|| {
                if tracing::is_active(TracingLevel::Debug) {
                    let number = number.get_or_insert_with(tracing::next_invocation_number);
                    traced::call_sync(*number, body, kernel, &mut frame);
                } else {
                    call::call_sync(kernel, &mut frame);
                }
            }));
            let outcome = match called {
                Ok(()) => failure.map_or(Ok(()), Err),
                Err(payload) => Err(call::panicked(op.name, payload)),
            };
            self.operands.drain(..).for_each(call::drop_quietly);
            let kept = self.keep_results(words(kernel.results), kernel.descriptor.name());
            for &register in words(kernel.unused) {
                call::drop_quietly(self.registers[register as usize].take());
            }
            outcome
                .and(kept)
                .inspect_err(|error| error.set_kernel_if_unset(op.name))?;
        }
        Ok(())
    }

    /// Gathers the operands of a kernel. Those that it is the last to read are its own.
    fn take_operands(&mut self, body: &SyncBody, kernel: &SyncKernel, arguments: &[AnyRef]) {
        let words = |range: Words| &body.words[range.as_range()];
        let mut last_uses = words(kernel.last_uses).iter().peekable();
        for (position, &register) in (0_u32..).zip(words(kernel.operands)) {
            let operand = match arguments.get(register as usize) {
                Some(argument) => Some(argument.clone()),
                None => {
                    let register = &mut self.registers[register as usize];
                    match last_uses.next_if_eq(&&position) {
                        Some(_) => register.take(),
                        None => register.clone(),
                    }
                }
            };
            self.operands
                .push(operand.expect("a kernel further to the front has written the register"));
        }
    }

    /// Moves what a kernel has put into the slots into the registers of its results.
    ///
    /// # Errors
    /// That one of them has no payload.
    fn keep_results(&mut self, registers: &[u32], kernel: &str) -> Result<(), Error> {
        let mut outcome = Ok(());
        for ((index, slot), &register) in self.slots.drain(..).enumerate().zip(registers) {
            match slot {
                Some(value) if value.is_concrete() => {
                    self.registers[register as usize] = Some(value);
                }
                other => outcome = outcome.and_then(|()| Err(no_payload(kernel, index, other))),
            }
        }
        outcome
    }
}

/// A kernel has returned, and one of its results has no payload.
#[cold]
fn no_payload(kernel: &str, index: usize, found: Option<AnyRef>) -> Error {
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
