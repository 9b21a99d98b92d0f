//! The interpreter of synchronous functions: kernels in program order, on the calling thread, over registers of values.
//!
//! No atomics, no queue, no cancellation: a synchronous function runs to its end or to its first error.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use tfrt_bef::FunctionId;
use tfrt_host::ExecutionContext;
use tfrt_host::function::FunctionTable;
use tfrt_host::kernel::{AttributeList, FunctionList, KernelDescriptor, SyncKernelFrame};
use tfrt_host::tracing::{self, TracingLevel};
use tfrt_host::value_cell::ValueCell;
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
    /// The registers that nobody reads after this kernel.
    pub(crate) dead: Words,
}

/// How deep synchronous calls may nest on one stack, where each takes room: a synchronous kernel calls a function directly.
const MAX_NESTED_RUNS: u32 = 256;

thread_local! {
    static NUM_NESTED_RUNS: Cell<u32> = const { Cell::new(0) };

    /// Registers that no call uses at the moment. Nested calls take one set each.
    static SPARE: RefCell<Vec<Vec<ValueCell>>> = const { RefCell::new(Vec::new()) };
}

/// Runs function `id`; see [`FunctionTable::execute_sync`].
pub(crate) fn execute(
    program: &Arc<Program>,
    id: FunctionId,
    ctx: &ExecutionContext,
    arguments: &mut [ValueCell],
    results: &mut [ValueCell],
) -> Result<(), Error> {
    let function = program.entry(id);
    let expected = (function.argument_types.len(), function.result_types.len());
    if (arguments.len(), results.len()) != expected {
        return Err(wrong_signature(
            &function.name,
            expected,
            (arguments.len(), results.len()),
        ));
    }
    let FunctionBody::Sync(body) = program.body(id)? else {
        let message = format!("function `{}` is not synchronous", function.name);
        return Err(Error::new(message).with_code(ErrorCode::InvalidArgument));
    };
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
    run(program, body, ctx, arguments, results)
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

/// Runs `body`. Arguments are lent to the registers and come back, whatever happens.
fn run(
    program: &Arc<Program>,
    body: &SyncBody,
    ctx: &ExecutionContext,
    arguments: &mut [ValueCell],
    results: &mut [ValueCell],
) -> Result<(), Error> {
    let mut registers = SPARE
        .try_with(|spare| spare.borrow_mut().pop())
        .ok()
        .flatten()
        .unwrap_or_default();
    registers.resize_with(body.num_registers, ValueCell::empty);
    registers
        .iter_mut()
        .zip(&mut *arguments)
        .for_each(|(register, argument)| std::mem::swap(register, argument));

    let outcome = run_kernels(program, body, ctx, &mut registers);

    registers
        .iter_mut()
        .zip(arguments)
        .for_each(|(register, argument)| std::mem::swap(register, argument));
    if outcome.is_ok() {
        for (result, &register) in results.iter_mut().zip(&body.results) {
            *result = std::mem::take(&mut registers[register as usize]);
        }
    }
    registers.clear();
    let _ = SPARE.try_with(|spare| spare.borrow_mut().push(registers));
    outcome
}

fn run_kernels(
    program: &Arc<Program>,
    body: &SyncBody,
    ctx: &ExecutionContext,
    registers: &mut [ValueCell],
) -> Result<(), Error> {
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
        let op = kernel.descriptor.op();
        let mut frame = SyncKernelFrame::new(
            ctx,
            op,
            registers,
            words(kernel.operands),
            attributes,
            functions,
            words(kernel.results),
        );
        let called = catch_unwind(AssertUnwindSafe(|| {
            if tracing::is_active(TracingLevel::Debug) {
                let number = number.get_or_insert_with(tracing::next_invocation_number);
                traced::call_sync(*number, body, kernel, &mut frame);
            } else {
                call::call_sync(kernel, &mut frame);
            }
        }));
        called.map_err(|payload| call::panicked(op.name, payload))?;
        let outcome = frame.into_result();
        for &register in words(kernel.dead) {
            registers[register as usize].clear();
        }
        outcome.inspect_err(|error| error.set_kernel_if_unset(op.name))?;
    }
    Ok(())
}

/// That a function was called in a way that its declaration does not allow.
#[cold]
pub(crate) fn wrong_signature(
    name: &str,
    expected: (usize, usize),
    found: (usize, usize),
) -> Error {
    Error::new(format!(
        "Invalid signature for function {name}. Expected {} arguments and {} results, but get {} arguments and {} results",
        expected.0, expected.1, found.0, found.1
    ))
    .with_code(ErrorCode::InvalidArgument)
}
