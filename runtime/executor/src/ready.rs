//! The ready loop: takes a ready kernel, gathers its operands, calls it, publishes its results, releases its users.
//!
//! A [`Path`] is one sequential run through ready kernels, on one thread. Kernels of the current stream wait *inline*, those
//! of other streams *outline*. Inline ones run here, the last one first: since users are listed in reverse program order,
//! that is program order. Outline ones are handed to the work queue, a task for each stream, unless this path has nothing
//! else to do and moves over to the first of their streams. The loop does not recurse: what a kernel makes ready is
//! appended to a list.
//!
//! A value that is not available when its kernel returns gets a waiter, which goes on with a path of its own on the
//! thread that publishes the value.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use tfrt_async::AnyRef;
use tfrt_host::ExecutionContext;
use tfrt_host::function::FunctionTable;
use tfrt_host::kernel::panic::panic_error;
use tfrt_host::kernel::{AttributeList, FunctionList, KernelFrame};
use tfrt_host::tracing::{self, TracingLevel};
use tfrt_support::{Error, ErrorCode};

use crate::body::{Body, Kernel, KernelResult, Strictness, Words};
use crate::call;
use crate::invocation::InvocationRef;
use crate::traced;

/// The lists of a path, kept from one path to the next on the same thread.
#[derive(Debug, Default)]
struct Scratch {
    inline: Vec<u32>,
    outline: Vec<u32>,
    operands: Vec<AnyRef>,
    results: Vec<Option<AnyRef>>,
}

thread_local! {
    /// Scratch that no path uses at the moment. Nested paths take one each.
    static SPARE: std::cell::RefCell<Vec<Scratch>> = const { std::cell::RefCell::new(Vec::new()) };
}

impl Scratch {
    fn take() -> Self {
        SPARE
            .try_with(|spare| spare.borrow_mut().pop())
            .ok()
            .flatten()
            .unwrap_or_default()
    }

    fn give_back(self) {
        let _ = SPARE.try_with(|spare| spare.borrow_mut().push(self));
    }
}

/// How far the current kernel has come, for the case that something panics.
#[derive(Clone, Copy, Debug)]
enum Step {
    Idle,
    Calling { kernel: usize },
    Publishing { kernel: usize, num_published: usize },
}

/// One sequential run through ready kernels.
struct Path<'a> {
    invocation: &'a InvocationRef,
    body: &'a Body,
    /// The attribute section of the file.
    attributes: &'a [u8],
    ctx: ExecutionContext,
    stream: u32,
    scratch: Scratch,
    step: Step,
}

/// Starts an invocation: makes the kernels without operands ready, and those whose operands are available arguments.
pub(crate) fn start(invocation: &InvocationRef, arguments: &[AnyRef]) {
    let body = invocation.body();
    Path::run(invocation, body.start.stream, |path| {
        path.count_down(body.start.roots);
        for (register, (argument, &users)) in
            arguments.iter().zip(&body.start.argument_users).enumerate()
        {
            let register = u32::try_from(register).expect("a verified function has few arguments");
            path.publish(KernelResult { register, users }, argument.clone());
        }
    });
}

/// Goes on with kernels of one stream that are ready.
fn resume(invocation: &InvocationRef, stream: u32, ready: &[u32]) {
    Path::run(invocation, stream, |path| {
        path.scratch.inline.extend_from_slice(ready)
    });
}

impl<'a> Path<'a> {
    /// Runs a path: `begin` makes the first kernels ready.
    fn run(invocation: &'a InvocationRef, stream: u32, begin: impl FnOnce(&mut Self)) {
        let mut path = Self {
            invocation,
            body: invocation.body(),
            attributes: invocation.program().attribute_section(),
            ctx: invocation.ctx().clone(),
            stream,
            scratch: Scratch::take(),
            step: Step::Idle,
        };
        let mut begin = Some(begin);
        let mut run = |path: &mut Self| {
            if let Some(begin) = begin.take() {
                begin(path);
            }
            path.run_ready_kernels();
        };
        while let Err(payload) = catch_unwind(AssertUnwindSafe(|| run(&mut path))) {
            path.recover(&*payload);
            drop_quietly(payload);
        }
        path.scratch.give_back();
    }

    fn run_ready_kernels(&mut self) {
        if let Step::Publishing {
            kernel,
            num_published,
        } = self.step
        {
            self.publish_results(kernel, num_published);
        }
        loop {
            self.distribute();
            let Some(number) = self.scratch.inline.pop() else {
                return;
            };
            self.run_kernel(number as usize - 1);
        }
    }

    /// Moves over to another stream if this one has nothing to do, and hands the rest to the work queue.
    #[inline]
    fn distribute(&mut self) {
        if self.scratch.outline.is_empty() {
            return;
        }
        if self.scratch.inline.is_empty() {
            self.change_stream();
        }
        if !self.scratch.outline.is_empty() {
            self.enqueue_outline();
        }
    }

    fn change_stream(&mut self) {
        self.stream = self.stream_of(self.scratch.outline[0]);
        let (stream, body) = (self.stream, self.body);
        let Scratch {
            inline, outline, ..
        } = &mut self.scratch;
        outline.retain(|&number| {
            let is_ours = body.kernels[number as usize - 1].stream == stream;
            if is_ours {
                inline.push(number);
            }
            !is_ours
        });
    }

    fn enqueue_outline(&mut self) {
        let body = self.body;
        let stream_of = |number: &u32| body.kernels[*number as usize - 1].stream;
        self.scratch.outline.sort_by_key(stream_of);
        for group in self
            .scratch
            .outline
            .chunk_by(|a, b| stream_of(a) == stream_of(b))
        {
            let invocation = self.invocation.clone();
            let (stream, ready) = (stream_of(&group[0]), Box::<[u32]>::from(group));
            let enqueue = || {
                self.ctx
                    .enqueue(move || resume(&invocation, stream, &ready));
            };
            // A queue that panics may have taken the task all the same, so that these kernels must not be handed over again.
            drop(catch_unwind(AssertUnwindSafe(enqueue)));
        }
        self.scratch.outline.clear();
    }

    fn stream_of(&self, number: u32) -> u32 {
        self.body.kernels[number as usize - 1].stream
    }

    fn run_kernel(&mut self, index: usize) {
        let body = self.body;
        let kernel = &body.kernels[index];
        let mut error = self.invocation.ctx().request().cancel_value().cloned();
        let is_strict = kernel.strictness == Strictness::Strict;
        for &register in body.words(kernel.operands) {
            let operand = self.invocation.take(register);
            if is_strict && operand.is_error() {
                error = Some(operand.clone());
            }
            self.scratch.operands.push(operand);
        }
        if let Strictness::Waits(positions) = kernel.strictness {
            let operands = &self.scratch.operands;
            let waited = body.words(positions).iter();
            let failed = waited
                .rev()
                .find(|&&position| operands[position as usize].is_error());
            error = failed
                .map(|&position| operands[position as usize].clone())
                .or(error);
        }
        self.step = Step::Calling { kernel: index };
        self.scratch
            .results
            .resize_with(kernel.results.len(), || error.clone());
        if error.is_none() {
            self.call(kernel);
        }
        self.scratch.operands.clear();
        self.publish_results(index, 0);
    }

    #[inline]
    fn call(&mut self, kernel: &Kernel) {
        self.ctx.set_location_token(kernel.location);
        let table: Arc<dyn FunctionTable>;
        let functions = match self.body.words(kernel.functions) {
            [] => FunctionList::default(),
            ids => {
                table = Arc::clone(self.invocation.program()) as _;
                FunctionList {
                    table: Some(&table),
                    ids,
                }
            }
        };
        let attributes = AttributeList {
            section: self.attributes,
            offsets: self.body.words(kernel.attributes),
        };
        let Scratch {
            operands, results, ..
        } = &mut self.scratch;
        let op = kernel.descriptor.op();
        let frame = &mut KernelFrame::new(&self.ctx, op, operands, attributes, functions, results);
        if tracing::is_active(TracingLevel::Debug) {
            traced::call(self.invocation, kernel, frame);
        } else {
            call::call(kernel, frame);
        }
    }

    /// Publishes the results of a kernel, from the one of number `first` on.
    fn publish_results(&mut self, index: usize, first: usize) {
        let kernel = &self.body.kernels[index];
        for (number, &result) in kernel.results.iter().enumerate().skip(first) {
            self.step = Step::Publishing {
                kernel: index,
                num_published: number + 1,
            };
            let value = self.scratch.results[number]
                .take()
                .unwrap_or_else(|| self.missing_result(kernel, number));
            self.publish(result, value);
        }
        self.scratch.results.clear();
        self.step = Step::Idle;
    }

    /// Gives a register its value, now or when it is available, and makes its users ready.
    fn publish(&mut self, result: KernelResult, value: AnyRef) {
        let register = self.body.registers[result.register as usize];
        if register.num_uses == 0 && register.promise.is_none() {
            return;
        }
        if value.is_available() || self.body.words(result.users).is_empty() {
            self.store(result, value);
            self.count_down(result.users);
            return;
        }
        let (invocation, stream) = (self.invocation.clone(), self.stream);
        value.and_then(move |value| {
            Path::run(&invocation, stream, |path| {
                path.store(result, value.clone());
                path.count_down(result.users);
            });
        });
    }

    fn store(&self, result: KernelResult, value: AnyRef) {
        match self.body.registers[result.register as usize].promise {
            None => self.invocation.put(result.register, value),
            Some(promise) => {
                if let Some(promise) = self.invocation.take_promise(promise) {
                    // A waiter that somebody else left with the result may panic. The value is there all the same, and
                    // its users must learn of it.
                    let forward = || promise.forward_to(value);
                    drop(catch_unwind(AssertUnwindSafe(forward)));
                }
            }
        }
    }

    #[inline]
    fn count_down(&mut self, users: Words) {
        for &number in self.body.words(users) {
            let index = number as usize - 1;
            let is_ready = match self.body.kernels[index].strictness {
                Strictness::WaitsForAny => self.invocation.take_start(index),
                _ => self.invocation.count_down(index),
            };
            if is_ready {
                if self.body.kernels[index].stream == self.stream {
                    self.scratch.inline.push(number);
                } else {
                    self.scratch.outline.push(number);
                }
            }
        }
    }

    #[cold]
    fn missing_result(&self, kernel: &Kernel, number: usize) -> AnyRef {
        let name = kernel.descriptor.name();
        let error = Error::new(format!("kernel '{name}' did not set result {number}"))
            .with_code(ErrorCode::Internal);
        error.set_kernel_if_unset(name);
        AnyRef::error(self.ctx.emit_error(error))
    }

    /// Prepares to go on after a panic: the kernel that was being called fails; results that were being published stay.
    #[cold]
    fn recover(&mut self, payload: &(dyn Any + Send)) {
        self.scratch.operands.clear();
        if let Step::Calling { kernel: index } = self.step {
            let error = panic_error(self.body.kernels[index].descriptor.name(), payload);
            let error = AnyRef::error(self.ctx.emit_error(error));
            let given = std::mem::take(&mut self.scratch.results);
            self.scratch.results.resize(given.len(), Some(error));
            drop_quietly(given);
            self.step = Step::Publishing {
                kernel: index,
                num_published: 0,
            };
        }
    }
}

/// Drops what may panic once more while it goes away.
#[cold]
fn drop_quietly<T>(value: T) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(value))) {
        // Whatever a panic brought along that panics itself is better leaked than dropped.
        std::mem::forget(payload);
    }
}
