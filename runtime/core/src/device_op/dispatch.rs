//! The last step of a call: everything is there, and the op runs.

use tfrt_async::AnyRef;
use tfrt_host::ExecutionContext;
use tfrt_host::tracing::{self, Scope, TracingLevel};
use tfrt_support::TensorMetadata;
use tfrt_support::{Error, ErrorCode};
use tfrt_tensor::{DenseHostTensor, Tensor, TensorRef};

use super::{DeviceOp, OperandMetadata, Tensors, kernel};
use crate::attrs::OpAttrs;
use crate::handle::read_metadata;
use crate::op::{OpCall, ResultMetadata};
use crate::registry::Runner;

/// What an op runs with. All tensors are there, and none is an error.
pub(super) struct Dispatch<'a> {
    pub(super) ctx: &'a ExecutionContext,
    pub(super) attrs: &'a OpAttrs,
    pub(super) tensors: &'a mut Tensors,
    /// The inferred metadata of results; empty if the op has no metadata function, or if the
    /// results themselves provide the metadata.
    pub(super) metadata: &'a [Option<TensorMetadata>],
    /// A slot for each result, which the call fills.
    pub(super) results: &'a mut [Option<AnyRef>],
    /// The chain that was waited for, and in its place the one that the op returns.
    pub(super) chain: &'a mut Option<AnyRef>,
}

impl DeviceOp {
    /// Runs the op, unless the request is cancelled. Every result and the chain are set.
    pub(super) fn dispatch(&self, mut dispatch: Dispatch<'_>) {
        let ctx = dispatch.ctx;
        if let Some(cancelled) = ctx.request().cancel_value() {
            for result in dispatch.results {
                *result = Some(cancelled.clone());
            }
            if let Some(chain) = dispatch.chain {
                *chain = cancelled.clone();
            }
            return;
        }
        let _span = Scope::enter(TracingLevel::Default, || {
            if tracing::is_active(TracingLevel::Debug) {
                self.span_text(&dispatch)
            } else {
                format!("RunDispatch: {}", self.op.name())
            }
        });
        match &self.op.runner {
            Runner::Kernel(kernel) => {
                kernel::run(kernel, self.op.has_side_effects(), &mut dispatch)
            }
            Runner::Function(function) => {
                let mut call = OpCall {
                    op: self.op.name(),
                    ctx,
                    device: &self.device,
                    attrs: dispatch.attrs,
                    arguments: dispatch.tensors,
                    metadata: dispatch.metadata,
                    results: dispatch.results,
                    chain: dispatch.chain,
                };
                let outcome = (self.op.code.run)(*function, &mut call);
                if let Err(error) = outcome {
                    error.set_kernel_if_unset(self.op.name());
                    fill(dispatch.results, dispatch.chain, &ctx.emit_error(error));
                }
            }
            Runner::Nothing => unreachable!("handlers make ops of what can run"),
        }
        self.check_results(ctx, dispatch.metadata, dispatch.results);
    }

    /// Replaces a result with an error if it was left empty, or contradicts the metadata function:
    /// users of the inferred metadata must not see such a tensor.
    pub(super) fn check_results(
        &self,
        ctx: &ExecutionContext,
        metadata: &[Option<TensorMetadata>],
        results: &mut [Option<AnyRef>],
    ) {
        let name = self.op.name();
        if results.iter().any(Option::is_none) {
            let error = Error::new(format!("`{name}` did not set one of its results"));
            fill(results, &mut None, &ctx.emit_error(error));
        }
        for (index, result) in results.iter_mut().enumerate() {
            let told = metadata.get(index).and_then(Option::as_ref);
            let (Some(told), Some(tensor)) = (told, &*result) else {
                continue;
            };
            if tensor.is_available() {
                if let Err(error) = agrees(name, index, told, tensor) {
                    *result = Some(AnyRef::error(ctx.emit_error(error)));
                }
                continue;
            }
            let (promise, checked) = AnyRef::indirect();
            let (told, ctx) = (told.clone(), ctx.clone());
            tensor.and_then(move |tensor| {
                promise.forward_to(match agrees(name, index, &told, tensor) {
                    Ok(()) => tensor.clone(),
                    Err(error) => AnyRef::error(ctx.emit_error(error)),
                });
            });
            *result = Some(checked);
        }
    }

    /// Returns the metadata of results that can be inferred before the op runs; nothing if that
    /// fails, since running the op will fail as well.
    fn ask(&self, dispatch: &Dispatch<'_>) -> ResultMetadata {
        let operands: Result<OperandMetadata, Error> =
            dispatch.tensors.iter().map(read_metadata).collect();
        operands
            .and_then(|operands| self.result_metadata(&operands, dispatch.attrs))
            .unwrap_or_default()
    }

    fn span_text(&self, dispatch: &Dispatch<'_>) -> String {
        let name = self.op.name();
        let list =
            |metadata: &mut dyn Iterator<Item = String>| metadata.collect::<Vec<_>>().join(";");
        let inputs = list(&mut dispatch.tensors.iter().map(|tensor| {
            read_metadata(tensor).map_or_else(|error| error.to_string(), |md| md.to_string())
        }));
        // An op that tells metadata by its results has not been asked.
        let told = match dispatch.metadata {
            [] => self.ask(dispatch),
            told => told.iter().cloned().collect(),
        };
        let results = list(&mut told.iter().map(|metadata| match metadata {
            Some(metadata) => metadata.to_string(),
            None => "<invalid tensor metadata>".to_owned(),
        }));
        let long_name = match dispatch.ctx.debug_name() {
            Some(long_name) => format!("long_name={long_name},"),
            None => String::new(),
        };
        format!(
            "RunDispatchFunction: {name}#op_name={name},{long_name}Inputs=({inputs}),Results=({results}),Attributes={}#",
            dispatch.attrs
        )
    }
}

/// Checks that an available result matches the metadata function. An error always does.
fn agrees(op: &str, index: usize, told: &TensorMetadata, tensor: &AnyRef) -> Result<(), Error> {
    // Nearly every tensor is a dense one.
    if tensor
        .get::<DenseHostTensor>()
        .is_some_and(|found| is_as_told(found, told))
    {
        return Ok(());
    }
    let Ok(found) = TensorRef::read(tensor) else {
        return Ok(());
    };
    if is_as_told(&*found, told) {
        return Ok(());
    }
    let found = Tensor::metadata(&*found);
    Err(Error::new(format!(
        "result {index} of `{op}`: expected {told}, as its metadata function says, found {found}"
    ))
    .with_code(ErrorCode::Internal))
}

/// Returns `true` if a tensor matches the result of the metadata function.
#[inline]
pub(super) fn is_as_told(found: &(impl Tensor + ?Sized), told: &TensorMetadata) -> bool {
    found.dtype() == told.dtype && *found.shape() == told.extents
}

/// Makes an error of everything that is not set.
#[cold]
fn fill(results: &mut [Option<AnyRef>], chain: &mut Option<AnyRef>, error: &Error) {
    for result in results.iter_mut().filter(|result| result.is_none()) {
        *result = Some(AnyRef::error(error.clone()));
    }
    if let Some(chain) = chain {
        *chain = AnyRef::error(error.clone());
    }
}
