//! Ops that are kernels: the attributes and operands of a call, as a kernel takes them.

use smallvec::SmallVec;
use tfrt_async::AnyRef;
use tfrt_host::__runtime::{AttributeList, CountedKernel, FunctionList, catch};
use tfrt_host::kernel::{KernelDescriptor, KernelFrame};
use tfrt_ods::{MetadataQuery, NoMetadata};
use tfrt_support::Error;
use tfrt_support::TensorMetadata;

use super::dispatch::Dispatch;
use crate::attrs::OpAttrs;
use crate::op::ResultMetadata;

/// Most kernels have no more results.
const NUM_IN_PLACE: usize = 4;

/// Runs a kernel for a call.
pub(super) fn run(kernel: &CountedKernel, has_chain: bool, dispatch: &mut Dispatch<'_>) {
    let Dispatch {
        ctx,
        attrs,
        tensors,
        results,
        chain,
        ..
    } = dispatch;
    let op = kernel.descriptor().op();
    let bound = match attrs.bind(op) {
        Ok(bound) => bound,
        Err(error) => {
            let error = AnyRef::error(ctx.emit_error(error));
            results.fill(Some(error.clone()));
            if let Some(chain) = chain {
                *chain = error;
            }
            return;
        }
    };
    let attributes = AttributeList {
        section: bound.section(),
        offsets: bound.offsets(),
    };
    if !has_chain {
        let mut frame = KernelFrame::new(
            ctx,
            op,
            tensors,
            attributes,
            FunctionList::default(),
            results,
        );
        let outcome = catch(op.name, || {
            kernel.invoke_checked(&mut frame);
            Ok(())
        });
        if let Err(error) = outcome {
            results.fill(Some(AnyRef::error(ctx.emit_error(error))));
        }
        return;
    }
    // The chain of a kernel with effects is its last operand and its last result.
    tensors.push(chain.take().unwrap_or_else(AnyRef::ready_chain));
    let mut slots: SmallVec<[Option<AnyRef>; NUM_IN_PLACE]> = SmallVec::new();
    slots.resize_with(results.len() + 1, || None);
    let mut frame = KernelFrame::new(
        ctx,
        op,
        tensors,
        attributes,
        FunctionList::default(),
        &mut slots,
    );
    let outcome = catch(op.name, || {
        kernel.invoke_checked(&mut frame);
        Ok(())
    });
    if let Err(error) = outcome {
        slots.fill(Some(AnyRef::error(ctx.emit_error(error))));
    }
    **chain = slots.pop().flatten();
    for (result, slot) in results.iter_mut().zip(slots) {
        *result = slot;
    }
}

/// Returns the metadata of results that the declaration of a kernel provides.
pub(crate) fn metadata(
    kernel: KernelDescriptor,
    operands: &[TensorMetadata],
    attrs: &OpAttrs,
) -> Result<ResultMetadata, Error> {
    let op = kernel.op();
    let Some(function) = op.metadata else {
        return Ok(ResultMetadata::new());
    };
    let bound = attrs.bind(op)?;
    let operands: SmallVec<[Option<TensorMetadata>; 4]> =
        operands.iter().cloned().map(Some).collect();
    let told = function(&MetadataQuery {
        operands: &operands,
        section: bound.section(),
        attributes: bound.offsets(),
    });
    match told {
        Ok(metadata) => Ok(metadata.into_iter().map(Some).collect()),
        Err(NoMetadata::Unknown) => Ok(ResultMetadata::new()),
        Err(NoMetadata::Refused(error)) => Err(error),
    }
}
