//! Ops that can be called.

use std::fmt;
use std::sync::Arc;

use tfrt_async::identity::TypeIdentity;
use tfrt_async::{AnyRef, Immutable, Value};
use tfrt_host::ExecutionContext;
use tfrt_host::device::DeviceRef;
use tfrt_support::Error;
use tfrt_tensor::TensorType;

use crate::attrs::OpAttrs;
use crate::device_op::{Admitted, Answers, AtOnce, DeviceOp};
use crate::handle::{TensorHandle, inferred_tensor_type};
use crate::identity;
use crate::registry::RegisteredOp;

/// One call of an op.
///
/// The op takes the arguments, so that invalid handles are left, and sets every result.
#[derive(Debug)]
pub struct OpInvocation<'a> {
    /// The context of the call.
    pub ctx: &'a ExecutionContext,
    /// The arguments.
    pub arguments: &'a mut [TensorHandle],
    /// The attributes.
    pub attrs: &'a OpAttrs,
    /// One place for each result.
    pub results: &'a mut [TensorHandle],
    /// The chain that the call follows. The call replaces it with its own chain. An op with side
    /// effects needs one.
    pub chain: Option<&'a mut AnyRef>,
}

impl OpInvocation<'_> {
    /// Makes an error of every result and of the chain.
    pub fn fail(&mut self, error: &Error) {
        for result in &mut *self.results {
            *result = TensorHandle::error(error.clone());
        }
        if let Some(chain) = &mut self.chain {
            **chain = AnyRef::error(error.clone());
        }
    }
}

/// What runs when a [`CoreRuntimeOp`] is called.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot run as an op",
    label = "does not implement `RunOp`"
)]
pub trait RunOp: Send + Sync + fmt::Debug {
    /// Runs the op: takes the arguments, and sets every result and the chain. Returns without
    /// waiting.
    fn run(&self, invocation: &mut OpInvocation<'_>);

    /// Returns the number of bytes that the op takes, including private data such as prepared
    /// weights. Caches of ops are limited by this number.
    fn num_bytes(&self) -> usize {
        size_of_val(self)
    }
}

/// An op that can be called: of a handler, or made from a function. Cloning shares it.
///
/// ```
/// use tfrt_core::{CoreRuntimeOp, OpAttrs, OpInvocation, RunOp, TensorHandle};
/// use tfrt_host::{ExecutionContext, HostContext, RequestContextBuilder};
///
/// /// Returns its arguments.
/// #[derive(Debug)]
/// struct Identity;
///
/// impl RunOp for Identity {
///     fn run(&self, invocation: &mut OpInvocation<'_>) {
///         for (result, argument) in invocation.results.iter_mut().zip(&mut *invocation.arguments) {
///             *result = std::mem::take(argument);
///         }
///     }
/// }
///
/// let ctx = ExecutionContext::new(RequestContextBuilder::new(HostContext::builder().build()).build());
/// let op = CoreRuntimeOp::new(Identity);
/// let [result] = op.call(&ctx, [TensorHandle::default()], &OpAttrs::new(), None);
/// assert!(!result.is_valid());
/// ```
#[derive(Clone, Debug)]
pub struct CoreRuntimeOp {
    runner: Runner,
    is_fallback: bool,
}

#[derive(Clone, Debug)]
enum Runner {
    Device(DeviceOp),
    Other(Arc<dyn RunOp>),
}

impl CoreRuntimeOp {
    /// Creates an op that does what `run` does. It is on no device.
    #[must_use]
    pub fn new(run: impl RunOp + 'static) -> Self {
        Self {
            runner: Runner::Other(Arc::new(run)),
            is_fallback: false,
        }
    }

    pub(crate) fn of_device_op(op: DeviceOp) -> Self {
        Self {
            runner: Runner::Device(op),
            is_fallback: false,
        }
    }

    /// Marks the op as one of another runtime that stands in for this one.
    #[must_use]
    pub fn as_fallback(self) -> Self {
        Self {
            is_fallback: true,
            ..self
        }
    }

    /// Returns `true` if another runtime runs it.
    #[must_use]
    pub fn is_fallback(&self) -> bool {
        self.is_fallback
    }

    /// Returns the device that it runs on, if it is one device.
    #[must_use]
    pub fn device(&self) -> Option<&DeviceRef> {
        match &self.runner {
            Runner::Device(op) => Some(op.device()),
            Runner::Other(_) => None,
        }
    }

    /// Returns the registered op that it runs, if it is one.
    pub(crate) fn registered(&self) -> Option<&Arc<RegisteredOp>> {
        match &self.runner {
            Runner::Device(op) => Some(op.registered()),
            Runner::Other(_) => None,
        }
    }

    /// Returns the device that its operand at `index` is needed on, if it is one.
    pub(crate) fn device_of_operand(&self, index: usize) -> Option<&DeviceRef> {
        match &self.runner {
            Runner::Device(op) => Some(op.device_of_operand(index)),
            Runner::Other(_) => None,
        }
    }

    /// Returns the kind of tensors that it takes, if it is one kind.
    #[must_use]
    pub fn argument_tensor_type(&self) -> Option<TensorType> {
        match &self.runner {
            Runner::Device(op) => Some(inferred_tensor_type(TensorType::DENSE_HOST, op.device())),
            Runner::Other(_) => None,
        }
    }

    /// Returns the number of bytes that the op takes beyond its own size, for data that only it
    /// owns.
    pub(crate) fn num_bytes(&self) -> usize {
        match &self.runner {
            // Registered ops are kept in any case.
            Runner::Device(_) => 0,
            Runner::Other(op) => op.num_bytes(),
        }
    }

    /// Runs the op.
    pub fn run(&self, invocation: &mut OpInvocation<'_>) {
        match &self.runner {
            Runner::Device(op) => op.run(invocation),
            Runner::Other(op) => op.run(invocation),
        }
    }

    /// Runs the op inside of the span that another handler traces the call with.
    pub(crate) fn run_without_span(&self, invocation: &mut OpInvocation<'_>) {
        match &self.runner {
            Runner::Device(op) => op.run_without_span(invocation),
            Runner::Other(op) => op.run(invocation),
        }
    }

    /// Runs the op at once on handles that the caller keeps, if this takes no waiting, conversion
    /// or ordering. Otherwise returns `false` without doing anything.
    pub(crate) fn run_at_once(
        &self,
        ctx: &ExecutionContext,
        arguments: &[&TensorHandle],
        attrs: &OpAttrs,
        results: &mut [TensorHandle],
    ) -> bool {
        match &self.runner {
            Runner::Device(op) => op.run_at_once(ctx, arguments, attrs, results),
            Runner::Other(_) => false,
        }
    }

    /// Returns the calls that [`call_at_once`](Self::call_at_once) may run.
    pub(crate) fn admitted(&self) -> Admitted {
        match &self.runner {
            Runner::Device(op) => op.admitted(),
            Runner::Other(_) => Admitted::NONE,
        }
    }

    /// Does the work of [`run_at_once`](Self::run_at_once) for a kernel with one result, called
    /// with an [admitted](Self::admitted) number of operands.
    #[inline(always)]
    pub(crate) fn call_at_once(
        &self,
        ctx: &ExecutionContext,
        arguments: &[&TensorHandle],
        attrs: &OpAttrs,
        answers: &Answers,
    ) -> AtOnce {
        match &self.runner {
            Runner::Device(op) => op.call_at_once(ctx, arguments, attrs, answers),
            Runner::Other(_) => AtOnce::Refused,
        }
    }

    /// Makes the handle of a [dense](AtOnce::Dense) result of a call that ran at once.
    #[inline]
    pub(crate) fn handle_of_dense(&self, tensor: AnyRef) -> TensorHandle {
        TensorHandle::of_dense(self.device_at_once().clone(), tensor)
    }

    /// Makes the handle of an [available](AtOnce::Available) result of a call that ran at once.
    #[cold]
    pub(crate) fn handle_of_available(&self, tensor: AnyRef) -> TensorHandle {
        TensorHandle::of_value(self.device_at_once().clone(), tensor)
    }

    #[inline]
    fn device_at_once(&self) -> &DeviceRef {
        match &self.runner {
            Runner::Device(op) => op.device(),
            Runner::Other(_) => unreachable!("only ops of a device run at once"),
        }
    }

    /// Describes a call that [ran at once](Self::run_at_once) in the errors among its results.
    #[inline]
    pub(crate) fn describe_in_results(
        &self,
        ctx: &ExecutionContext,
        results: &mut [TensorHandle],
        arguments: &[&TensorHandle],
    ) {
        if let Runner::Device(op) = &self.runner {
            let operands = || arguments.iter().map(|argument| argument.metadata());
            op.describe_in_results(ctx, results, operands);
        }
    }

    /// Runs the op and returns its results.
    #[must_use]
    pub fn call<const ARGUMENTS: usize, const RESULTS: usize>(
        &self,
        ctx: &ExecutionContext,
        mut arguments: [TensorHandle; ARGUMENTS],
        attrs: &OpAttrs,
        chain: Option<&mut AnyRef>,
    ) -> [TensorHandle; RESULTS] {
        let mut results = [const { TensorHandle::INVALID }; RESULTS];
        self.run(&mut OpInvocation {
            ctx,
            arguments: &mut arguments,
            attrs,
            results: &mut results,
            chain,
        });
        results
    }
}

impl Value for CoreRuntimeOp {
    const MLIR_TYPE: &'static str = "!corert.op";
    const IDENTITY: TypeIdentity<Self> = identity::of_this_crate();
}

impl Immutable for CoreRuntimeOp {}
