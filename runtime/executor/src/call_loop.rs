//! Functions that are a loop of calls: every kernel runs in place, has its results when it returns, and its registers hold
//! copied payloads, so that no reference is counted and nothing is dropped.
//!
//! Synchronous functions are such loops in program order. An asynchronous function is one if all of its kernels are of one
//! stream: a path would run them one after the other, in an order that is known when the function is loaded. A loop needs no
//! ready counts and no state that outlives it, but a frame of cells.
//!
//! Values that the kernels cannot read in place, such as an argument of another type, are left to those who run such functions in
//! the general way, and who tell what is wrong.
#![expect(
    unsafe_code,
    reason = "calls kernels on a frame that was laid out for them"
)]

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;
use std::sync::Arc;

use tfrt_async::{AnyRef, TypeIndex};
use tfrt_host::ExecutionContext;
use tfrt_host::function::FunctionTable;
use tfrt_host::kernel::direct::{DirectCall, DirectFn};
use tfrt_host::kernel::{AttributeList, FunctionList, KernelDescriptor};
use tfrt_support::Error;

use crate::body::{Extras, NonZeroOffset, WordPool, Words};
use crate::call;
use crate::constants::Word;
use crate::invocation::BlockBuilder;
use crate::places::{self, KernelPlaces};
use crate::program::Program;

mod prepared;

pub(crate) use prepared::PreparedLoop;

/// A function as a loop of calls.
///
/// Invariants, by decoding:
/// - Y1. The offsets of a step lead to cells of the frame, which has `num_words` words. They are what its [`DirectFn`] demands.
/// - Y2. A cell is written by one kernel, or filled with an argument, before any kernel reads it, in the order of the list, and
///   holds a payload of the type that all of them give and read.
#[derive(Debug)]
pub(crate) struct CallLoop {
    /// In the order in which they run.
    steps: Box<[Step]>,
    /// The rest of each step.
    kernels: Box<[LoopKernel]>,
    words: Box<[u32]>,
    /// The cell of each argument that is read.
    arguments: Box<[Option<CopiedCell>]>,
    results: Box<[ResultSource]>,
    num_words: usize,
    num_registers: usize,
    /// Whether no kernel looks at more than its operands.
    is_plain: bool,
    /// Whether a kernel looks at its context or calls functions.
    reads_context: bool,
}

/// What the loop needs of every kernel.
#[derive(Clone, Copy, Debug)]
struct Step {
    run: DirectFn,
    /// Where its offsets begin among the words.
    offsets: u32,
    /// Whether it looks at more than its operands.
    reads_call: bool,
}

#[derive(Debug)]
struct LoopKernel {
    descriptor: KernelDescriptor,
    location: u32,
    attributes: Words,
    functions: Words,
    /// Registers.
    operands: Words,
    /// Registers.
    results: Words,
}

/// A kernel of a function, for [`CallLoop::of`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct KernelSource<'a> {
    pub(crate) places: KernelPlaces<'a>,
    pub(crate) descriptor: KernelDescriptor,
    pub(crate) location: u32,
    pub(crate) attributes: &'a [u32],
    pub(crate) functions: &'a [u32],
}

/// A cell, and the type of what it holds.
#[derive(Clone, Copy, Debug)]
struct CopiedCell {
    register: u32,
    ty: TypeIndex,
    offset: NonZeroOffset,
}

/// Why a loop has ended before its end, at the kernel of this index.
#[derive(Debug)]
enum Stop {
    Failed(usize, Error),
    Cancelled(usize),
}

/// Where a result of the function comes from.
#[derive(Clone, Copy, Debug)]
enum ResultSource {
    Cell(CopiedCell),
    Argument(usize),
    /// Another result, further to the front: one register gives one value.
    Same(usize),
}

const _: () = assert!(align_of::<Word>() >= tfrt_async::value::MAX_COPIED_ALIGN);

/// Frames of up to so many words are on the stack.
const MAX_STACK_WORDS: usize = 32;

thread_local! {
    /// Frames that no call uses at the moment. Nested calls take one each.
    static SPARE: RefCell<Vec<Vec<Word>>> = const { RefCell::new(Vec::new()) };
}

impl CallLoop {
    /// The function with these kernels as a loop of calls, in this order, if it can be one. `types` holds, for each register, the
    /// payload type that its producer gives; `first_results`, for each result, the first one of the same register.
    pub(crate) fn of(
        kernels: &[KernelSource<'_>],
        order: &[usize],
        types: Vec<Option<TypeIndex>>,
        num_arguments: usize,
        results: &[u32],
        first_results: &[u32],
    ) -> Option<Self> {
        let num_registers = types.len();
        let uses: Vec<KernelPlaces<'_>> = kernels.iter().map(|kernel| kernel.places).collect();
        let places = places::assign(&uses, types, &[], &HashSet::new(), |_, _| {
            Some(BlockBuilder::without_header())
        })?;
        if places
            .registers
            .iter()
            .any(|register| register.slot.is_some())
        {
            return None;
        }
        let cell = |register: u32| {
            let found = &places.registers[register as usize];
            let ty = found.ty?;
            Some(CopiedCell {
                register,
                ty,
                offset: found.cell?,
            })
        };
        let result = |(index, &register): (usize, &u32)| {
            let first = first_results[index] as usize;
            if first != index {
                Some(ResultSource::Same(first))
            } else if (register as usize) < num_arguments {
                Some(ResultSource::Argument(register as usize))
            } else {
                cell(register).map(ResultSource::Cell)
            }
        };
        let results = results
            .iter()
            .enumerate()
            .map(result)
            .collect::<Option<_>>()?;
        let arguments = (0..num_arguments as u32).map(cell).collect();
        let mut words = WordPool::default();
        let mut reads_context = false;
        let mut steps = Vec::with_capacity(order.len());
        let in_order = order.iter().map(|&index| {
            let (kernel, in_place) = (&kernels[index], places.kernels[index].as_ref()?);
            let direct = kernel.places.direct?;
            reads_context |= direct.reads_context;
            steps.push(Step {
                run: direct.run,
                offsets: words.push(&in_place.offsets).start(),
                reads_call: in_place.extras.contains(Extras::READS_CALL),
            });
            Some(LoopKernel {
                descriptor: kernel.descriptor,
                location: kernel.location,
                attributes: words.push(kernel.attributes),
                functions: words.push(kernel.functions),
                operands: words.push(kernel.places.operands),
                results: words.push(kernel.places.results),
            })
        });
        let kernels = in_order.collect::<Option<_>>()?;
        Some(Self {
            is_plain: steps.iter().all(|step| !step.reads_call),
            steps: steps.into(),
            kernels,
            words: words.finish(),
            arguments,
            results,
            num_words: places.block.size().div_ceil(size_of::<Word>()),
            num_registers,
            reads_context,
        })
    }

    /// Whether no kernel looks at its context or calls functions, so that any context will do.
    pub(crate) fn is_leaf(&self) -> bool {
        !self.reads_context
    }

    /// Runs a synchronous function, in the context inside of it if it is no [leaf](Self::is_leaf); nothing, and nothing done, if an
    /// argument is not what the kernels read.
    pub(crate) fn run_sync(
        &self,
        program: &Arc<Program>,
        ctx: &ExecutionContext,
        arguments: &[AnyRef],
        results: &mut [Option<AnyRef>],
    ) -> Option<Result<(), Error>> {
        self.with_frame(|registers| {
            self.fill(registers, arguments)
                .then(|| self.run_filled(program, ctx, registers, results))
        })
    }

    /// Copies the payloads of arguments into the cells that kernels read, in a frame of the loop; whether they are all of the types that
    /// the kernels read.
    #[inline]
    fn fill(&self, registers: NonNull<u8>, arguments: &[AnyRef]) -> bool {
        arguments
            .iter()
            .zip(&self.arguments)
            .all(|(argument, cell)| {
                let Some(cell) = *cell else { return true };
                let is_expected = argument.is_concrete() && argument.type_id() == cell.ty;
                if is_expected {
                    // SAFETY: it is concrete, and of this type; Y1 and Y2: the cell is in the frame, and one for it.
                    unsafe { argument.copy_payload_to(place(registers, cell)) };
                }
                is_expected
            })
    }

    /// Runs a synchronous function, with its arguments in the frame.
    fn run_filled(
        &self,
        program: &Arc<Program>,
        ctx: &ExecutionContext,
        registers: NonNull<u8>,
        results: &mut [Option<AnyRef>],
    ) -> Result<(), Error> {
        match self.run_kernels::<false>(program, ctx, registers) {
            Ok(()) => {}
            Err(Stop::Failed(_, error)) => return Err(error),
            // Its results would be read although they were never written.
            Err(Stop::Cancelled(_)) => {
                unreachable!("a synchronous function runs to its end or to an error")
            }
        }
        for (result, source) in results.iter_mut().zip(&self.results) {
            if let ResultSource::Cell(cell) = *source {
                let payload = place(registers, cell);
                // SAFETY: Y2: a kernel has written a payload of this type, which is copied.
                *result = Some(unsafe { AnyRef::from_copied(cell.ty, payload) });
            }
        }
        Ok(())
    }

    /// Runs an asynchronous function, called from `ctx`. False, and nothing done, if an argument is not what the kernels read.
    pub(crate) fn run_async(
        &self,
        program: &Arc<Program>,
        ctx: &ExecutionContext,
        arguments: &[AnyRef],
        results: &mut [Option<AnyRef>],
    ) -> bool {
        self.with_frame(|registers| {
            if !self.fill(registers, arguments) {
                return false;
            }
            let callee_ctx;
            let inner = if self.reads_context {
                callee_ctx = ctx.for_callee(Arc::clone(program) as _);
                &callee_ctx
            } else {
                ctx
            };
            let failed = match self.run_kernels::<true>(program, inner, registers) {
                Ok(()) => Vec::new(),
                Err(stop) => {
                    let ctx = ctx.for_callee(Arc::clone(program) as _);
                    self.run_after(program, &ctx, registers, stop)
                }
            };
            for (index, source) in self.results.iter().enumerate() {
                results[index] = match *source {
                    ResultSource::Same(first) => results[first].clone(),
                    ResultSource::Argument(index) => Some(arguments[index].clone().into_given()),
                    ResultSource::Cell(cell) => {
                        let error = failure(&failed, cell.register).cloned();
                        Some(error.map(AnyRef::into_given).unwrap_or_else(|| {
                            let payload = place(registers, cell);
                            // SAFETY: Y2: a kernel has written a payload of this type, which is copied.
                            unsafe { AnyRef::given_from_copied(cell.ty, payload) }
                        }))
                    }
                };
            }
            true
        })
    }

    /// Calls `f` with a frame.
    #[inline]
    fn with_frame<R>(&self, f: impl FnOnce(NonNull<u8>) -> R) -> R {
        if self.num_words <= MAX_STACK_WORDS {
            let mut frame = [Word::uninit(); MAX_STACK_WORDS];
            return f(NonNull::from(&mut frame).cast());
        }
        let mut frame = SPARE
            .try_with(|spare| spare.borrow_mut().pop())
            .ok()
            .flatten()
            .unwrap_or_default();
        if frame.len() < self.num_words {
            frame.resize(self.num_words, Word::uninit());
        }
        let outcome = f(NonNull::from(&mut *frame).cast());
        let _ = SPARE.try_with(|spare| spare.borrow_mut().push(frame));
        outcome
    }

    /// Runs the kernels, up to one that fails or, in an asynchronous function, finds its request cancelled.
    #[inline]
    fn run_kernels<const IS_ASYNC: bool>(
        &self,
        program: &Arc<Program>,
        ctx: &ExecutionContext,
        registers: NonNull<u8>,
    ) -> Result<(), Stop> {
        if self.is_plain {
            self.run_plain::<IS_ASYNC>(ctx, registers)
        } else {
            self.run_mixed::<IS_ASYNC>(program, ctx, registers)
        }
    }

    /// As [`run_kernels`](Self::run_kernels), where no kernel looks at more than its operands.
    // A function of its own, so that all that its loop needs is in registers of the processor.
    #[inline(never)]
    fn run_plain<const IS_ASYNC: bool>(
        &self,
        ctx: &ExecutionContext,
        registers: NonNull<u8>,
    ) -> Result<(), Stop> {
        let (idle, request) = (DirectCall::idle(ctx), ctx.request());
        self.guard(|current| {
            for step in &self.steps {
                current.set(step);
                if IS_ASYNC && request.cancel_value().is_some() {
                    return Err(Stop::Cancelled(self.index_of(step)));
                }
                if let Err(error) = self.call(step, &idle, registers) {
                    return Err(self.failed(self.index_of(step), error));
                }
            }
            Ok(())
        })
    }

    /// As [`run_kernels`](Self::run_kernels), whatever kernels look at.
    fn run_mixed<const IS_ASYNC: bool>(
        &self,
        program: &Arc<Program>,
        ctx: &ExecutionContext,
        registers: NonNull<u8>,
    ) -> Result<(), Stop> {
        let (idle, request) = (DirectCall::idle(ctx), ctx.request());
        self.guard(|current| {
            for (step, kernel) in self.steps.iter().zip(&self.kernels) {
                current.set(step);
                if IS_ASYNC && request.cancel_value().is_some() {
                    return Err(Stop::Cancelled(self.index_of(step)));
                }
                let called = if step.reads_call {
                    // Otherwise the context may be the caller's, whose place stays what it is. Synchronous functions have one
                    // place for all of their kernels.
                    if IS_ASYNC && self.reads_context {
                        ctx.set_location_token(kernel.location);
                    }
                    self.with_call(program, ctx, kernel, |call| {
                        self.call(step, call, registers)
                    })
                } else {
                    self.call(step, &idle, registers)
                };
                if let Err(error) = called {
                    return Err(self.failed(self.index_of(step), error));
                }
            }
            Ok(())
        })
    }

    /// Calls `f`, which says which step it is at, and makes a panic of it an error of that step.
    #[inline]
    fn guard(&self, f: impl FnOnce(&Cell<*const Step>) -> Result<(), Stop>) -> Result<(), Stop> {
        let current = Cell::new(self.steps.as_ptr());
        catch_unwind(AssertUnwindSafe(|| f(&current))).unwrap_or_else(|payload| {
            let index = self.index_of(current.get());
            let name = self.kernels[index].descriptor.name();
            Err(self.failed(index, call::panicked(name, payload)))
        })
    }

    /// The index of one of the steps.
    fn index_of(&self, step: *const Step) -> usize {
        (step.addr() - self.steps.as_ptr().addr()) / size_of::<Step>()
    }

    #[cold]
    fn failed(&self, index: usize, error: Error) -> Stop {
        error.set_kernel_if_unset(self.kernels[index].descriptor.name());
        Stop::Failed(index, error)
    }

    /// Goes on after a kernel has failed: who depends on it is skipped, the others run. Gives the error of each register that
    /// has one.
    #[cold]
    fn run_after(
        &self,
        program: &Arc<Program>,
        ctx: &ExecutionContext,
        registers: NonNull<u8>,
        stop: Stop,
    ) -> Vec<Option<AnyRef>> {
        let mut failed = vec![None; self.num_registers];
        let fail = |index: usize, error: Error, failed: &mut [Option<AnyRef>]| {
            ctx.set_location_token(self.kernels[index].location);
            let value = AnyRef::error(ctx.emit_error(error));
            self.fail(&self.kernels[index], &value, failed);
        };
        let next = match stop {
            Stop::Cancelled(index) => index,
            Stop::Failed(index, error) => {
                fail(index, error, &mut failed);
                index + 1
            }
        };
        for (index, kernel) in self.kernels.iter().enumerate().skip(next) {
            let operands = self.words_of(kernel.operands).iter().rev();
            let mut reasons = operands.filter_map(|&register| failure(&failed, register));
            let reason = reasons.next().or_else(|| ctx.request().cancel_value());
            if let Some(reason) = reason.cloned() {
                self.fail(kernel, &reason, &mut failed);
            } else if let Err(error) = self.run_one(program, ctx, registers, index) {
                fail(index, error, &mut failed);
            }
        }
        failed
    }

    fn run_one(
        &self,
        program: &Arc<Program>,
        ctx: &ExecutionContext,
        registers: NonNull<u8>,
        index: usize,
    ) -> Result<(), Error> {
        let (step, kernel) = (&self.steps[index], &self.kernels[index]);
        ctx.set_location_token(kernel.location);
        let run = || {
            self.with_call(program, ctx, kernel, |call| {
                self.call(step, call, registers)
            })
        };
        let name = kernel.descriptor.name();
        catch_unwind(AssertUnwindSafe(run))
            .unwrap_or_else(|payload| Err(call::panicked(name, payload)))
            .inspect_err(|error| error.set_kernel_if_unset(name))
    }

    /// Makes every result of a kernel this error.
    fn fail(&self, kernel: &LoopKernel, error: &AnyRef, failed: &mut [Option<AnyRef>]) {
        for &register in self.words_of(kernel.results) {
            failed[register as usize] = Some(error.clone());
        }
    }

    /// Calls `f` with what a kernel has at hand.
    fn with_call<R>(
        &self,
        program: &Arc<Program>,
        ctx: &ExecutionContext,
        kernel: &LoopKernel,
        f: impl FnOnce(&DirectCall<'_>) -> R,
    ) -> R {
        let table: Arc<dyn FunctionTable>;
        let functions = match self.words_of(kernel.functions) {
            [] => FunctionList::default(),
            ids => {
                table = Arc::clone(program) as _;
                FunctionList {
                    table: Some(&table),
                    ids,
                }
            }
        };
        f(&DirectCall {
            exec_ctx: ctx,
            attributes: AttributeList {
                section: program.attribute_section(),
                offsets: self.words_of(kernel.attributes),
            },
            functions,
        })
    }

    #[inline]
    fn call(
        &self,
        step: &Step,
        call: &DirectCall<'_>,
        registers: NonNull<u8>,
    ) -> Result<(), Error> {
        // SAFETY: the offsets are among the words.
        let offsets = unsafe { self.words.as_ptr().add(step.offsets as usize) };
        // SAFETY: it points into the words, or to their end.
        let offsets = unsafe { NonNull::new_unchecked(offsets.cast_mut()) };
        // SAFETY: Y1 gives duties 1 and 2, but that places of operands are initialised, which Y2 gives: who runs kernels skips
        // those that depend on a failed one. Copied payloads are always available (3). Attributes were accepted before the body was
        // decoded (4).
        unsafe { (step.run)(call, registers, offsets) }
    }

    #[inline]
    fn words_of(&self, range: Words) -> &[u32] {
        &self.words[range.as_range()]
    }
}

/// Where a cell is. Y1: it is in the frame.
fn place(registers: NonNull<u8>, cell: CopiedCell) -> *mut u8 {
    // SAFETY: Y1.
    unsafe { registers.byte_add(cell.offset.get() as usize) }.as_ptr()
}

/// The error of a register, if it has one.
fn failure(failed: &[Option<AnyRef>], register: u32) -> Option<&AnyRef> {
    failed.get(register as usize)?.as_ref()
}
