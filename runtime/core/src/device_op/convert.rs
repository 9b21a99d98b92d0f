//! The conversion of arguments for an op: which kinds of tensors pass, which are converted, and
//! which are refused.
//!
//! Devices with memory of their own convert nothing: their ops take the tensors that they get.

use tfrt_async::{AnyRef, run_when_ready};
use tfrt_host::ExecutionContext;
use tfrt_host::device::DeviceRef;
use tfrt_host::log::{Level, write_line};
use tfrt_support::{DType, Error};
use tfrt_tensor::convert::ConversionContext;
use tfrt_tensor::{DenseHostTensor, TensorRef, TensorType};

use crate::handle::{DevicePart, MetadataPart, TensorHandle, is_in_host_memory, same_device};
use crate::op::OpFlags;
use crate::runtime::CoreRuntime;

/// Makes an argument one that an op with these flags takes on a device. Errors pass.
#[inline]
pub(super) fn convert_argument(
    ctx: &ExecutionContext,
    flags: OpFlags,
    device: &DeviceRef,
    argument: &mut TensorHandle,
) {
    // Nothing is to be done for most arguments.
    if let (Some(tensor), Some(found)) = (argument.tensor(), argument.device())
        && same_device(found, device)
        && tensor.is_concrete()
        && tensor.is::<DenseHostTensor>()
    {
        return;
    }
    convert_slowly(ctx, flags, device, argument);
}

fn convert_slowly(
    ctx: &ExecutionContext,
    flags: OpFlags,
    device: &DeviceRef,
    argument: &mut TensorHandle,
) {
    if !is_in_host_memory(device) {
        return;
    }
    let (Some(tensor), None) = (argument.tensor(), argument.error_if_present()) else {
        return;
    };
    if let (true, Some(found)) = (tensor.is_available(), argument.device()) {
        if let Some(converted) = convert(ctx, flags, device, found, tensor) {
            let metadata = argument.metadata().map(MetadataPart::from);
            let converted = match metadata {
                Some(metadata) => TensorHandle::new(device.clone(), metadata, converted),
                None => TensorHandle::of_value(device.clone(), converted),
            };
            *argument = converted;
        }
        return;
    }
    let (Some(metadata), Some(found)) = (argument.metadata_part(), argument.device_part()) else {
        return;
    };
    let (found, tensor) = (found.clone(), tensor.clone());
    let mut awaited = vec![tensor.clone()];
    if let DevicePart::Pending(pending) = &found {
        awaited.push(pending.as_any().clone());
    }
    let (promise, converted) = AnyRef::indirect();
    *argument = TensorHandle::new(device.clone(), metadata, converted);
    let (ctx, device) = (ctx.clone(), device.clone());
    run_when_ready(&awaited, move || {
        let found = match &found {
            DevicePart::Known(found) => Ok(found),
            DevicePart::Pending(pending) => pending.get().ok_or(pending.as_any()),
        };
        let outcome = match found {
            _ if tensor.is_error() => tensor,
            Ok(found) => convert(&ctx, flags, &device, found, &tensor).unwrap_or(tensor),
            Err(error) => error.clone(),
        };
        promise.forward_to(outcome);
    });
}

/// Returns the tensor that the op takes in place of an available one; `None` if it takes this one.
fn convert(
    ctx: &ExecutionContext,
    flags: OpFlags,
    device: &DeviceRef,
    found: &DeviceRef,
    tensor: &AnyRef,
) -> Option<AnyRef> {
    if !same_device(found, device) {
        let (from, to) = (found.0.name(), device.0.name());
        let message = format_args!("Cannot implictly convert from device {from} to {to}");
        write_line(Level::Warning, file!(), line!(), message);
        return None;
    }
    let guard = match TensorRef::read(tensor) {
        Ok(guard) => guard,
        Err(error) => return Some(AnyRef::error(ctx.emit_error(Error::new(error.to_string())))),
    };
    let from = guard.tensor_type();
    let to = target_type(flags, from, guard.dtype());
    if from == to {
        return None;
    }
    if to != TensorType::DENSE_HOST
        || ![TensorType::SCALAR_HOST, TensorType::COO_HOST].contains(&from)
    {
        let message = format!("Cannot implictly convert {} to {}", from.name(), to.name());
        return Some(AnyRef::error(ctx.emit_error(Error::new(message))));
    }
    let runtime = CoreRuntime::of(ctx.host());
    let context = ConversionContext {
        exec_ctx: ctx,
        source: found,
        destination: device,
    };
    let converted = runtime.conversions().convert(&*guard, to, context);
    Some(match converted.error_if_present() {
        Some(error) => AnyRef::error(ctx.emit_error(error.clone())),
        None => converted,
    })
}

/// Returns the kind of tensor that an op with these flags takes in place of one.
fn target_type(flags: OpFlags, found: TensorType, dtype: DType) -> TensorType {
    let accepts = |flag, kind| flags.contains(flag) && found == kind;
    // No other kind stands for a list: an op that does not take lists says so itself.
    if found == TensorType::LIST_HOST
        || accepts(OpFlags::ACCEPTS_SCALAR, TensorType::SCALAR_HOST)
        || accepts(OpFlags::ACCEPTS_SPARSE, TensorType::COO_HOST)
        || accepts(OpFlags::ACCEPTS_STRING, TensorType::STRING_HOST)
        || accepts(OpFlags::ACCEPTS_RESOURCE, TensorType::RESOURCE_HOST)
    {
        found
    } else if flags.contains(OpFlags::ACCEPTS_STRING) && dtype == DType::String {
        TensorType::STRING_HOST
    } else {
        TensorType::DENSE_HOST
    }
}
