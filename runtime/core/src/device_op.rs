//! Ops of one device, and how a call of one goes.
//!
//! ```text
//!              arguments ─► convert
//!                              │
//!      all metadata known?  no ┴─► results are pending handles; go on when it is known
//!                              │ yes
//!                     metadata function ──error──► results and chain
//!                              │
//!  all tensors (and chain) available?  no ┴─► results are handles with metadata; go on when they are
//!                              │ yes
//!                     dispatch: cancelled? ─► run ─► results
//! ```
//!
//! A call never waits. If all operands are available, the op runs in the caller's thread, and only
//! the op itself allocates.

mod at_once;

mod convert;

mod dispatch;

mod failure;

pub(crate) mod kernel;

mod outputs;

use std::sync::Arc;

use smallvec::SmallVec;
use tfrt_async::{AnyRef, run_when_ready};
use tfrt_host::ExecutionContext;
use tfrt_host::device::DeviceRef;
use tfrt_host::tracing::{Scope, TracingLevel};
use tfrt_support::TensorMetadata;
use tfrt_support::{DType, Error, ErrorCode};

use crate::attrs::{OpAttrs, OpAttrsRef};
use crate::core_op::OpInvocation;
use crate::handle::{MetadataPart, TensorHandle, is_in_host_memory, read_metadata, same_device};
use crate::metadata::partial::PartialMetadata;
use crate::op::{OpFlags, OpQuery, PartialQuery, ResultMetadata};
use crate::registry::RegisteredOp;

pub(crate) use at_once::{Admitted, Answers, AtOnce};
use dispatch::Dispatch;
use failure::Operand;
use outputs::Outputs;

/// Most ops have no more operands or results.
const NUM_IN_PLACE: usize = 4;

type Tensors = SmallVec<[AnyRef; NUM_IN_PLACE]>;

type OperandMetadata = SmallVec<[TensorMetadata; NUM_IN_PLACE]>;

/// A registered op and the device that it runs on.
#[derive(Clone, Debug)]
pub struct DeviceOp {
    op: Arc<RegisteredOp>,
    device: DeviceRef,
    /// The device for operands in host memory, if there are such operands and the op runs on
    /// another device.
    host: Option<DeviceRef>,
    /// Whether calls may run [at once](Self::run_at_once): the op has no effects, takes no
    /// resources, and writes to no operand.
    may_run_at_once: bool,
    /// Whether inferring metadata before the op runs is pointless: its kernel makes its results
    /// from the same metadata, or nothing can be inferred.
    tells_metadata_itself: bool,
}

/// Traces the call of an op that a handler of this name made.
#[inline]
pub(crate) fn op_span(op: &str, handler: &str) -> Scope {
    Scope::enter(TracingLevel::Default, || {
        format!("{op}#op_handler={handler}#")
    })
}

/// What is known of the metadata of all arguments.
enum Known {
    All,
    /// Some of it is pending.
    Later,
    Failed(Error),
}

impl DeviceOp {
    pub(crate) fn new(op: Arc<RegisteredOp>, device: DeviceRef, host: &DeviceRef) -> Self {
        let has_host = !op.registration.host_operands.is_empty() && !same_device(&device, host);
        let host = has_host.then(|| host.clone());
        Self {
            may_run_at_once: !op.has_side_effects()
                && op.registration.resource_operands.is_empty()
                && !op.writes_to_operands(),
            tells_metadata_itself: op.metadata_function().is_none(),
            op,
            device,
            host,
        }
    }

    /// Returns the device that the operand at `index` is needed on.
    #[inline]
    pub(crate) fn device_of_operand(&self, index: usize) -> &DeviceRef {
        match &self.host {
            Some(host) if self.op.registration.host_operands.contains(index) => host,
            _ => &self.device,
        }
    }

    pub(crate) fn registered(&self) -> &Arc<RegisteredOp> {
        &self.op
    }

    pub(crate) fn device(&self) -> &DeviceRef {
        &self.device
    }

    /// Runs the op: see the drawing at the top of the module.
    pub(crate) fn run(&self, invocation: &mut OpInvocation<'_>) {
        let _span = op_span(self.op.name(), self.device.0.device_type());
        self.run_without_span(invocation);
    }

    /// Does the work of [`run`](Self::run), for a caller that traces the call.
    pub(crate) fn run_without_span(&self, invocation: &mut OpInvocation<'_>) {
        let ctx = invocation.ctx;
        if let Err(error) = self.check(invocation) {
            self.describe_in(
                &error,
                invocation.arguments.iter().map(TensorHandle::metadata),
            );
            return invocation.fail(&ctx.emit_error(error));
        }
        for (index, argument) in invocation.arguments.iter_mut().enumerate() {
            let device = self.device_of_operand(index);
            convert::convert_argument(ctx, self.op.flags(), device, argument);
        }
        let mut operands = OperandMetadata::new();
        match known_metadata(invocation.arguments, &mut operands) {
            Known::Failed(error) => invocation.fail(&error),
            Known::Later => self.run_later(invocation),
            Known::All => self.run_with_metadata(invocation, &operands),
        }
    }

    /// Runs the op on tensors that are there, and sets the results.
    #[inline]
    fn dispatch_now(
        &self,
        ctx: &ExecutionContext,
        attrs: &OpAttrs,
        mut tensors: Tensors,
        metadata: ResultMetadata,
        chain: &mut Option<AnyRef>,
        results: &mut [TensorHandle],
    ) {
        let mut slots = empty_slots(results.len());
        self.dispatch(Dispatch {
            ctx,
            attrs,
            tensors: &mut tensors,
            metadata: &metadata,
            results: &mut slots,
            chain,
        });
        drop(tensors);
        let mut told = metadata.into_iter();
        for (handle, tensor) in results.iter_mut().zip(slots) {
            *handle = self.new_handle(told.next().flatten(), tensor);
        }
    }

    /// Makes the handle of a result that a dispatch has filled.
    fn new_handle(&self, told: Option<TensorMetadata>, tensor: Option<AnyRef>) -> TensorHandle {
        let tensor = tensor.expect("a dispatch fills every result");
        match told {
            Some(metadata) => TensorHandle::new(self.device.clone(), metadata, tensor),
            None => TensorHandle::of_value(self.device.clone(), tensor),
        }
    }

    /// Checks the requirements on callers of any op.
    fn check(&self, invocation: &OpInvocation<'_>) -> Result<(), Error> {
        let invalid = |error: String| Err(Error::new(error).with_code(ErrorCode::InvalidArgument));
        let name = self.op.name();
        if let Some(index) = invocation
            .arguments
            .iter()
            .position(|handle| !handle.is_valid())
        {
            return invalid(format!(
                "argument {index} of `{name}` is not a valid tensor handle"
            ));
        }
        // A device with memory of its own has an order of its own: that of its stream.
        let needs_chain = self.op.has_side_effects() && is_in_host_memory(&self.device);
        if needs_chain && invocation.chain.is_none() {
            return invalid(format!(
                "`{name}` has side effects and needs a chain to order them"
            ));
        }
        let resources = self.op.registration.resource_operands;
        if !resources.is_empty() {
            for (index, argument) in invocation.arguments.iter().enumerate() {
                let found = argument
                    .metadata()
                    .filter(|found| resources.contains(index) && found.dtype != DType::Resource);
                if let Some(found) = found {
                    return invalid(format!(
                        "operand {index} of `{name}`: expected a resource, found a tensor {found}"
                    ));
                }
            }
        }
        let (operands, results) = (invocation.arguments.len(), invocation.results.len());
        self.op.counts.check(name, operands, results)
    }

    /// Goes on where the metadata of every argument is known.
    fn run_with_metadata(&self, invocation: &mut OpInvocation<'_>, operands: &[TensorMetadata]) {
        let ctx = invocation.ctx;
        let is_ready = self.is_ready(invocation);
        let metadata = if is_ready && self.tells_metadata_itself && !ctx.request().is_cancelled() {
            ResultMetadata::new()
        } else {
            match self.result_metadata(operands, invocation.attrs) {
                Ok(metadata) => metadata,
                Err(error) => {
                    self.describe_in(&error, operands.iter().cloned().map(Some));
                    return invocation.fail(&ctx.emit_error(error));
                }
            }
        };
        let mut chain = self.followed_chain(invocation);
        let tensors = take_tensors(invocation.arguments);
        if is_ready {
            let (attrs, results) = (invocation.attrs, &mut *invocation.results);
            self.dispatch_now(ctx, attrs, tensors, metadata, &mut chain, results);
            self.describe_in_results(ctx, results, || operands.iter().cloned().map(Some));
            if let (Some(slot), Some(chain)) = (&mut invocation.chain, chain) {
                **slot = chain;
            }
            return;
        }
        let outputs = Outputs::new(
            &self.device,
            &metadata,
            invocation,
            self.op.has_side_effects(),
        );
        let call = LaterCall {
            op: self.clone(),
            ctx: ctx.clone(),
            attrs: invocation.attrs.to_frozen(),
            chain,
            outputs,
        };
        call.when_tensors_are_ready(tensors, metadata);
    }

    /// Goes on when the metadata of every argument is known.
    fn run_later(&self, invocation: &mut OpInvocation<'_>) {
        let chain = self.followed_chain(invocation);
        let arguments: SmallVec<[TensorHandle; NUM_IN_PLACE]> = invocation
            .arguments
            .iter_mut()
            .map(std::mem::take)
            .collect();
        let mut awaited: Vec<AnyRef> = arguments.iter().filter_map(pending_metadata).collect();
        awaited.extend(chain.clone());
        let outputs = Outputs::new(
            &self.device,
            &ResultMetadata::new(),
            invocation,
            self.op.has_side_effects(),
        );
        let call = LaterCall {
            op: self.clone(),
            ctx: invocation.ctx.clone(),
            attrs: invocation.attrs.to_frozen(),
            chain,
            outputs,
        };
        run_when_ready(&awaited, move || call.when_metadata_is_known(arguments));
    }

    /// Returns `true` if every tensor, and the chain of an op that waits for one, is available and
    /// not an error.
    fn is_ready(&self, invocation: &OpInvocation<'_>) -> bool {
        let chain = invocation
            .chain
            .as_deref()
            .filter(|_| self.op.has_side_effects());
        invocation.arguments.iter().all(TensorHandle::is_there)
            && chain.is_none_or(AnyRef::is_concrete)
    }

    /// Returns the chain that the op follows, if it follows one.
    fn followed_chain(&self, invocation: &OpInvocation<'_>) -> Option<AnyRef> {
        let chain = invocation
            .chain
            .as_deref()
            .filter(|_| self.op.has_side_effects());
        chain.cloned()
    }

    /// Returns the metadata of results, as far as it can be told.
    fn result_metadata(
        &self,
        operands: &[TensorMetadata],
        attrs: &OpAttrs,
    ) -> Result<ResultMetadata, Error> {
        self.op.result_metadata(operands, attrs)
    }
}

impl RegisteredOp {
    /// Returns the metadata of results that can be inferred before the op runs; an empty list if
    /// there is none.
    ///
    /// # Errors
    /// If the op cannot run on such operands, or with these attributes.
    pub fn result_metadata(
        &self,
        operands: &[TensorMetadata],
        attrs: &OpAttrs,
    ) -> Result<ResultMetadata, Error> {
        let query = OpQuery {
            op: self.name(),
            operands,
            attrs,
        };
        let told = (self.code.result_metadata)(self, &query);
        told.map_err(|error| match error.code() {
            ErrorCode::Unknown => error.with_code(ErrorCode::InvalidArgument),
            _ => error,
        })
    }

    /// Returns `true` if the op has an estimate of its time.
    #[must_use]
    pub fn has_cost(&self) -> bool {
        self.registration.cost.is_some()
    }

    /// Returns the time in microseconds that the op is estimated to take on these operands, or
    /// `None` if it has no estimate.
    #[must_use]
    pub fn cost(&self, operands: &[TensorMetadata], attrs: &OpAttrs) -> Option<f64> {
        let (op, estimate) = (self.name(), self.registration.cost?);
        let query = OpQuery {
            op,
            operands,
            attrs,
        };
        let cost = (self.code.cost)(estimate, &query).ok()?;
        (cost.is_finite() && cost >= 0.0).then_some(cost)
    }

    /// Returns the time in microseconds that the op is assumed to take on these operands: its own
    /// estimate, or else that of a device which processes `bytes_per_microsecond` of operands and
    /// results. Returns `None` if there is neither.
    ///
    /// ```
    /// use tfrt_core::{OpAttrs, OpRegistration, OpRegistry};
    /// use tfrt_host::kernel::KernelRegistry;
    /// use tfrt_support::{DType, TensorMetadata};
    ///
    /// let ops = OpRegistry::new(&[OpRegistration::new("my.Nothing")], &KernelRegistry::default());
    /// let op = ops.get("cpu", "my.Nothing")?.unwrap();
    /// let operand = TensorMetadata::new(DType::F32, [25]);
    /// let cost = |speed| op.cost_on(speed, std::slice::from_ref(&operand), &OpAttrs::new());
    /// assert_eq!((cost(Some(50.0)), cost(None)), (Some(2.0), None));
    /// # Ok::<(), tfrt_support::Error>(())
    /// ```
    #[must_use]
    pub fn cost_on(
        &self,
        bytes_per_microsecond: Option<f64>,
        operands: &[TensorMetadata],
        attrs: &OpAttrs,
    ) -> Option<f64> {
        self.cost(operands, attrs).or_else(|| {
            let speed = bytes_per_microsecond.filter(|&speed| speed > 0.0)?;
            let results = self.result_metadata(operands, attrs).unwrap_or_default();
            let processed = operands.iter().chain(results.iter().flatten());
            let num_bytes = processed.filter_map(TensorMetadata::size_bytes);
            let num_bytes = num_bytes.fold(0, usize::saturating_add);
            // The estimate is rough, so the conversion may lose precision.
            #[expect(clippy::cast_precision_loss)]
            let num_bytes = num_bytes as f64;
            Some(num_bytes / speed)
        })
    }

    /// Returns `true` if the op can infer results from operands with this partial metadata.
    #[must_use]
    pub fn tells_of(&self, operands: &[PartialMetadata]) -> bool {
        self.registration.partial.is_some()
            || operands.iter().all(|operand| operand.known().is_some())
    }

    /// Returns the metadata of results that can be inferred from partially known operands; an empty
    /// list if there is none.
    ///
    /// # Errors
    /// If the op cannot run on any operands with this partial metadata, or with these attributes.
    pub fn partial_metadata(
        &self,
        operands: &[PartialMetadata],
        attrs: &OpAttrs,
    ) -> Result<Vec<PartialMetadata>, Error> {
        let known: Option<OperandMetadata> = operands.iter().map(PartialMetadata::known).collect();
        if let Some(known) = known {
            let told = self.result_metadata(&known, attrs)?;
            return Ok(told.into_iter().map(PartialMetadata::from).collect());
        }
        let (op, Some(function)) = (self.name(), self.registration.partial) else {
            return Ok(Vec::new());
        };
        let query = PartialQuery {
            op,
            operands,
            attrs,
        };
        (self.code.partial_metadata)(function, &query)
    }

    /// Returns an error if the numbers of operands and results, without the chain, are not those of
    /// the op.
    ///
    /// # Errors
    /// Which number is wrong.
    pub fn check_counts(&self, num_operands: usize, num_results: usize) -> Result<(), Error> {
        self.counts.check(self.name(), num_operands, num_results)
    }
}

impl TensorHandle {
    /// Returns the tensor as an op with these flags takes it on a device: copied if it is
    /// elsewhere, and dense unless the flags accept its kind. An error is returned unchanged.
    #[must_use]
    pub fn as_operand(
        mut self,
        ctx: &ExecutionContext,
        flags: OpFlags,
        device: &DeviceRef,
    ) -> Self {
        if self.may_be_elsewhere(device) {
            self = self.transfer_to_inferred(ctx, device);
        }
        convert::convert_argument(ctx, flags, device, &mut self);
        self
    }
}

/// A call that goes on when something becomes available.
struct LaterCall {
    op: DeviceOp,
    ctx: ExecutionContext,
    attrs: OpAttrsRef,
    chain: Option<AnyRef>,
    outputs: Outputs,
}

impl LaterCall {
    fn when_metadata_is_known(mut self, mut arguments: SmallVec<[TensorHandle; NUM_IN_PLACE]>) {
        let mut operands = OperandMetadata::new();
        match known_metadata(&arguments, &mut operands) {
            Known::All => {}
            Known::Failed(error) => return self.outputs.fail(&error),
            Known::Later => unreachable!("the metadata of every argument was waited for"),
        }
        match self.op.result_metadata(&operands, &self.attrs) {
            Ok(metadata) => {
                self.outputs.publish(&metadata);
                let tensors = take_tensors(&mut arguments);
                self.when_tensors_are_ready(tensors, metadata);
            }
            Err(error) => {
                self.op.describe_in(&error, operands.into_iter().map(Some));
                self.outputs.fail(&self.ctx.emit_error(error));
            }
        }
    }

    fn when_tensors_are_ready(self, mut tensors: Tensors, metadata: ResultMetadata) {
        let mut awaited = tensors.to_vec();
        awaited.extend(self.chain.clone());
        let is_error = |value: &AnyRef| value.error_if_present().cloned();
        // One error is enough: there is nothing to wait for.
        if let Some(error) = awaited.iter().find_map(is_error) {
            return self.outputs.fail(&error);
        }
        // A waiter holds its own references, which would keep the op from reusing the memory of an
        // operand.
        when_available(awaited, move |failed| {
            let Self {
                op,
                ctx,
                attrs,
                mut chain,
                outputs,
            } = self;
            if let Some(error) = failed {
                drop(tensors);
                return outputs.fail(&error);
            }
            let mut results = empty_slots(outputs.len());
            // The op may take the tensors.
            let operands: SmallVec<[Operand; NUM_IN_PLACE]> = tensors
                .iter()
                .map(|tensor| read_metadata(tensor).ok())
                .collect();
            op.dispatch(Dispatch {
                ctx: &ctx,
                attrs: &attrs,
                tensors: &mut tensors,
                metadata: &metadata,
                results: &mut results,
                chain: &mut chain,
            });
            drop(tensors);
            op.describe_in_tensors(&ctx, &mut results, operands);
            outputs.forward(results.into_iter().flatten(), chain);
        });
    }
}

/// Continues when all values are available, with the first error among them. The values are dropped
/// before.
fn when_available(values: Vec<AnyRef>, f: impl FnOnce(Option<Error>) + Send + 'static) {
    if values.iter().all(AnyRef::is_available) {
        let failed = values
            .iter()
            .find_map(|value| value.error_if_present().cloned());
        drop(values);
        return f(failed);
    }
    let copies = values.clone();
    run_when_ready(&values, move || {
        let failed = copies
            .iter()
            .find_map(|value| value.error_if_present().cloned());
        drop(copies);
        f(failed);
    });
}

/// Lists the metadata of all arguments, if it is known. The first error counts.
fn known_metadata(arguments: &[TensorHandle], known: &mut OperandMetadata) -> Known {
    let mut is_pending = false;
    for argument in arguments {
        match (argument.metadata(), argument.metadata_failure()) {
            (Some(metadata), _) => known.push(metadata),
            (None, Some(error)) => return Known::Failed(error.clone()),
            (None, None) => is_pending = true,
        }
    }
    if is_pending { Known::Later } else { Known::All }
}

/// Returns the value whose payload will be the metadata of a handle, if there is one.
fn pending_metadata(handle: &TensorHandle) -> Option<AnyRef> {
    match handle.metadata_part()? {
        MetadataPart::Known(_) => None,
        MetadataPart::Pending(pending) => Some(pending.as_any().clone()),
    }
}

fn take_tensors(arguments: &mut [TensorHandle]) -> Tensors {
    let mut tensors = Tensors::new();
    for argument in arguments {
        if let Some(tensor) = argument.release_tensor() {
            tensors.push(tensor);
        }
    }
    tensors
}

/// Returns a slot for each of `count` results.
fn empty_slots(count: usize) -> SmallVec<[Option<AnyRef>; NUM_IN_PLACE]> {
    if count <= NUM_IN_PLACE {
        SmallVec::from_buf_and_len([const { None }; NUM_IN_PLACE], count)
    } else {
        SmallVec::from_elem(None, count)
    }
}
