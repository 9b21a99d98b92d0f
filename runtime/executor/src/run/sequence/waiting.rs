//! Waiting for a result in the middle of a schedule.
//!
//! If a result is not available and no other kernel can run before it is, the ready loop would only
//! wait, too. So the run goes on in its schedule behind the kernel once the result is available,
//! and nothing is counted:
//!
//! ```text
//!  kernel ─► result not available ─► invocation, a waiter ┄┄► kernel ─► kernel ─► …
//!                                              ▲                           │
//!                                              └─── result not available ──┘
//! ```
//!
//! - W1. A run waits only behind a [bottleneck](KernelDetails::is_bottleneck), with all other
//!   results settled. So nobody but the waiter accesses the frame, and nobody copies the context
//!   ([`InvocationRef::path_ctx`]) until the run has left its schedule.
//! - W2. The caller has promises of the results. It gets each as soon as its kernel has run, as in
//!   the ready loop, and all that are there before the run waits.
//!
//! The ready loop handles errors, values that the users of the result cannot read, and traced runs.

use std::cell::Cell;

use tfrt_async::AnyRef;
use tfrt_async::dropping::report_to;
use tfrt_host::tracing;
use tfrt_support::entity::EntityId;

use super::kernels::is_settled;
use super::left::{Left, Stop, unshare};
use super::state::Run;
use super::transfer::give_results;
use crate::lower::code::{Extras, Kernel, KernelDetails, KernelId};
use crate::lower::schedule::Simulation;
use crate::run::invocation::InvocationRef;
use crate::run::path::Progress;
use crate::run::ready::run_path;

impl Run<'_> {
    /// Returns `true` if a run was left because a result is not available, and nothing else can run
    /// before it is.
    pub(super) fn waits_for_result(&self, left: &Left) -> bool {
        let (id, num_results) = left.position();
        let frame = self.frame;
        num_results == Some(0)
            && frame.code.details(id).is_bottleneck
            && !self.is_traced
            // The constants count as done.
            && (self.has_constants || !frame.code.frame.has_constants())
            && left
                .next_result(&frame)
                .is_some_and(|result| !result.is_available())
    }

    /// Passes the results of the function among those of a kernel, which are settled, to its
    /// caller.
    #[inline]
    pub(super) fn give_results(&self, kernel: &Kernel) {
        if kernel.extras.contains(Extras::RETURNS)
            && let Some(invocation) = self.invocation
        {
            let code = self.frame.code;
            let results = code.details(code.id_of(kernel)).results.iter();
            give_results(invocation, results.map(|result| result.register));
        }
    }

    /// Settles the result that a run has waited for. Returns `false` without doing anything if its
    /// users cannot continue with it.
    #[inline]
    fn settle_awaited(&self, details: &KernelDetails, value: &AnyRef) -> bool {
        let Some(result) = details.results.first() else {
            return false;
        };
        let register = self.frame.code.register(result.register);
        if !is_settled(self.frame, register, true, value) {
            return false;
        }
        if let (Some(slot), num_held @ 1..) = (register.slot, register.num_held) {
            self.frame.put(slot, value.clone(), num_held);
        }
        true
    }
}

/// Publishes a result that a run has waited for, in the ready loop.
#[cold]
fn publish(invocation: &InvocationRef, id: KernelId, value: &AnyRef) {
    let code = invocation.code();
    unshare(invocation.frame(), (id, Some(0)), false);
    let state = Simulation::at(code, id.index(), Some(0));
    invocation.count_from(&state.ready_counts);
    run_path(invocation, code.kernel(id).stream, &[], |path| {
        state
            .ready
            .iter()
            .for_each(|&kernel| path.make_ready(kernel));
        for result in &code.details(id).results {
            path.put(result.register, value);
            path.count_down(result.users);
        }
    });
}

/// Waits for the result because of which a run [was left](Run::waits_for_result), whose frame is
/// that of the invocation.
pub(super) fn wait(invocation: InvocationRef, left: Left) {
    let (id, _) = left.position();
    if let Some(value) = left.into_next_result(invocation.frame()) {
        wait_for(invocation, id, &value);
    }
}

/// Waits for the result of a kernel.
#[inline]
fn wait_for(invocation: InvocationRef, id: KernelId, value: &AnyRef) {
    value.and_then(move |value| go_on(invocation, id, value));
}

/// Goes on behind a kernel whose result is available.
fn go_on(invocation: InvocationRef, id: KernelId, value: &AnyRef) {
    // The run sets the location of this context to that of each kernel, as nobody else uses the
    // context now (W1).
    let ctx = invocation.ctx();
    let run = Run {
        program: invocation.program(),
        body: invocation.body(),
        frame: invocation.frame(),
        ctx,
        has_constants: invocation.has_constants(),
        is_traced: tracing::begin_path(),
        is_sync: false,
        stays_in_place: false,
        watch: None,
        nesting: None,
        invocation: Some(&invocation),
        number: Cell::new(None),
        progress: Cell::new(Progress::Idle),
    };
    let next = report_to(ctx, || run.go_on_behind(&invocation, id, value));
    // The next waiter takes the reference to the invocation over, which may end in another thread
    // as soon as it is registered.
    if let Some((id, value)) = next {
        wait_for(invocation, id, &value);
    }
}

impl Run<'_> {
    /// Goes on behind a kernel whose result is available. Returns the next kernel whose result the
    /// run waits for, and that result.
    #[inline]
    fn go_on_behind(
        &self,
        invocation: &InvocationRef,
        id: KernelId,
        value: &AnyRef,
    ) -> Option<(KernelId, AnyRef)> {
        let code = self.frame.code;
        if self.is_traced || !self.settle_awaited(code.details(id), value) {
            publish(invocation, id, value);
            return None;
        }
        self.give_results(code.kernel(id));
        match self.run_on_guarded(id.index() + 1) {
            Ok(()) => None,
            Err(Stop::Waits(id)) => {
                let value = self.frame.take_later(code.details(id).awaited_slot?);
                value.map(|value| (id, value))
            }
            Err(Stop::Left(left)) => {
                let left = left.into_inner();
                match self.waits_for_result(&left) {
                    true => wait(invocation.clone(), left),
                    false => self.leave_again(invocation, left),
                }
                None
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::Arc;

    use tfrt_async::AsyncValueRef;
    use tfrt_bef::write::{BefBuilder, Body, BodyKernel, WriteOptions};
    use tfrt_bef::{BefFile, FunctionKind, RegisterId};
    use tfrt_host::__private::{ByValue, Declared, Execution, Later};
    use tfrt_host::kernel::{KernelDescriptor, KernelRegistry};
    use tfrt_host::{ExecutionContext, HostContext, RequestContextBuilder};
    use tfrt_ods::{OpDef, OperandDef, ResultDef, TypeConstraint};

    use super::*;
    use crate::run::owners::NUM_JOINED;
    use crate::run::program::Program;

    static INCREMENT_LATER: OpDef = OpDef {
        operands: &[OperandDef::new("number", TypeConstraint::Any)],
        results: &[ResultDef::new("more", TypeConstraint::Any)],
        ..OpDef::new("test.increment_later")
    };

    struct IncrementLater;

    impl Declared for IncrementLater {
        const OP: &'static OpDef = &INCREMENT_LATER;
    }

    /// Returns one more than the number, by a task.
    fn increment_later() -> KernelDescriptor {
        KernelDescriptor::new::<IncrementLater, (ByValue<i64, 0>, Execution), Later<i64>, _>(
            |(number, ctx)| {
                let (promise, more) = AsyncValueRef::unconstructed();
                ctx.enqueue(move || promise.emplace(number + 1));
                more
            },
        )
    }

    /// Returns a program whose function `main` increments its argument `num_kernels` times, and
    /// waits for the result each time.
    fn program(host: &HostContext, num_kernels: usize) -> Arc<Program> {
        let mut builder = BefBuilder::new(WriteOptions::default());
        let ty = builder.add_type("i64");
        let id = builder.declare_function(FunctionKind::Async, "main", vec![ty], vec![ty]);
        let register = RegisterId::from_index;
        let name = builder.add_kernel_name(INCREMENT_LATER.name);
        let kernels = (0..num_kernels).map(|index| BodyKernel {
            operands: vec![register(index)],
            results: vec![register(index + 1)],
            ..BodyKernel::new(name)
        });
        let body = Body {
            location: None,
            root_stream: 0,
            num_arguments: 1,
            register_types: vec![ty; num_kernels + 1],
            kernels: kernels.collect(),
            results: vec![register(num_kernels)],
        };
        builder.define_body(id, body);
        let file = builder.finish().expect("the body is well formed");
        Program::load(host, &BefFile::from_bytes(&file)).expect("the kernel exists")
    }

    #[test]
    fn a_run_that_waits_again_passes_on_its_reference_to_the_invocation() {
        let mut registry = KernelRegistry::new();
        registry.add(increment_later()).expect("the only kernel");
        let host = HostContext::builder().registry(Arc::new(registry)).build();
        let ctx = ExecutionContext::new(RequestContextBuilder::new(Arc::clone(&host)).build());
        for num_kernels in [2, 3, 100] {
            let main = program(&host, num_kernels).function("main");
            let main = main.expect("the only function");
            let num_before = NUM_JOINED.get();
            let [result] = main.execute_array(&ctx, &[AnyRef::available(0_i64)]);
            host.await_values(std::slice::from_ref(&result))
                .expect("no error");
            assert_eq!(
                result.get::<i64>().copied(),
                i64::try_from(num_kernels).ok()
            );
            // The first waiter joins the caller, and each of the others follows one. Nothing waits
            // for the last result but this test.
            assert_eq!(NUM_JOINED.get() - num_before, 1, "{num_kernels} kernels");
        }
    }
}
