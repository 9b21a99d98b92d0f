//! Handles on other devices, and of other kinds of tensors.

use tfrt_async::{AnyRef, run_when_ready};
use tfrt_host::ExecutionContext;
use tfrt_host::device::DeviceRef;
use tfrt_support::Error;
use tfrt_tensor::convert::ConversionContext;
use tfrt_tensor::{TensorRef, TensorType};

use super::copies::Copies;
use super::{DevicePart, Metadata, TensorHandle};
use crate::runtime::CoreRuntime;

impl TensorHandle {
    /// Returns the tensor on a device, as a tensor of a kind: shared if it is already there, and
    /// converted otherwise. The metadata stays the same.
    ///
    /// A conversion that is not known, or fails, is an error of the tensor alone.
    #[must_use]
    pub fn transfer_to(
        &self,
        ctx: &ExecutionContext,
        device: &DeviceRef,
        tensor_type: TensorType,
    ) -> Self {
        self.transferred(ctx, Some(device), move |_| Some(tensor_type))
    }

    /// Returns the tensor as one of another kind, on the device where it is.
    #[must_use]
    pub fn transfer_to_same_device(&self, ctx: &ExecutionContext, tensor_type: TensorType) -> Self {
        self.transferred(ctx, None, move |_| Some(tensor_type))
    }

    /// Returns the tensor on a device, as a tensor of the usual kind there. On the same device, its
    /// kind does not change.
    #[must_use]
    pub fn transfer_to_inferred(&self, ctx: &ExecutionContext, device: &DeviceRef) -> Self {
        let destination = device.clone();
        self.transferred(ctx, Some(device), move |found| {
            let (source, tensor_type) = found;
            (!same_device(source, &destination))
                .then(|| inferred_tensor_type(tensor_type, &destination))
        })
    }

    /// Returns a handle of the tensor with the kind that `wanted` selects for the device and kind
    /// of the tensor, on `destination` or where the tensor is. If `wanted` selects none, the tensor
    /// is unchanged.
    fn transferred(
        &self,
        ctx: &ExecutionContext,
        destination: Option<&DeviceRef>,
        wanted: impl FnOnce((&DeviceRef, TensorType)) -> Option<TensorType> + Send + 'static,
    ) -> Self {
        let (Some(tensor), Some(metadata), Some(device)) =
            (&self.tensor, self.metadata_part(), &self.device)
        else {
            return Self::default();
        };
        if let Some(error) = tensor.error_if_present() {
            return Self::error(error.clone());
        }
        let result_device = match destination {
            Some(destination) => DevicePart::Known(destination.clone()),
            None => device.clone(),
        };
        let known_device = self.device();
        if let (true, Some(source)) = (tensor.is_available(), known_device) {
            let destination = destination.unwrap_or(source);
            let converted = convert(ctx, tensor, source, destination, wanted);
            return Self {
                tensor: Some(converted),
                metadata: Metadata::Part(metadata),
                device: Some(result_device),
                copies: Copies::NONE,
            };
        }
        let (promise, converted) = AnyRef::indirect();
        let (ctx, tensor, device) = (ctx.clone(), tensor.clone(), device.clone());
        let destination = destination.cloned();
        let mut awaited = vec![tensor.clone()];
        if let DevicePart::Pending(pending) = &device {
            awaited.push(pending.as_any().clone());
        }
        run_when_ready(&awaited, move || {
            let source = match &device {
                DevicePart::Known(device) => Ok(device),
                DevicePart::Pending(pending) => match pending.get() {
                    Some(device) => Ok(device),
                    None => Err(pending.as_any().clone()),
                },
            };
            match source {
                Ok(source) => {
                    let destination = destination.as_ref().unwrap_or(source);
                    let converted = convert(&ctx, &tensor, source, destination, wanted);
                    // The op that waits for the tensor may be its last holder.
                    drop(tensor);
                    promise.forward_to(converted);
                }
                Err(error) => promise.forward_to(error),
            }
        });
        Self {
            tensor: Some(converted),
            metadata: Metadata::Part(metadata),
            device: Some(result_device),
            copies: Copies::NONE,
        }
    }
}

/// Converts an available tensor, unless it is where and what it shall be.
fn convert(
    ctx: &ExecutionContext,
    tensor: &AnyRef,
    source: &DeviceRef,
    destination: &DeviceRef,
    wanted: impl FnOnce((&DeviceRef, TensorType)) -> Option<TensorType>,
) -> AnyRef {
    if tensor.is_error() {
        return tensor.clone();
    }
    let guard = match TensorRef::read(tensor) {
        Ok(guard) => guard,
        Err(error) => return AnyRef::error(ctx.emit_error(Error::new(error.to_string()))),
    };
    let found = guard.tensor_type();
    match wanted((source, found)) {
        Some(wanted) if wanted != found || !same_device(source, destination) => {
            let context = ConversionContext {
                exec_ctx: ctx,
                source,
                destination,
            };
            let conversions = CoreRuntime::of(ctx.host());
            let converted = conversions.conversions().convert(&*guard, wanted, context);
            match converted.error_if_present() {
                Some(error) => AnyRef::error(ctx.emit_error(error.clone())),
                None => converted,
            }
        }
        _ => tensor.clone(),
    }
}

/// Returns `true` if two references are to one device. Devices of a host have names of their own,
/// so that an object that a user made for a device is as good as the one that the host has.
#[inline]
pub(crate) fn same_device(a: &DeviceRef, b: &DeviceRef) -> bool {
    std::sync::Arc::ptr_eq(&a.0, &b.0) || a.0.name() == b.0.name()
}

/// Returns `true` if the tensors on a device are in host memory. Ops of other devices take tensors
/// as they are.
pub(crate) fn is_in_host_memory(device: &DeviceRef) -> bool {
    inferred_tensor_type(TensorType::DENSE_HOST, device) == TensorType::DENSE_HOST
}

/// Returns the kind of tensor that is usual on a device, for a tensor that is of kind `source`
/// elsewhere.
#[must_use]
pub fn inferred_tensor_type(source: TensorType, device: &DeviceRef) -> TensorType {
    const HOST_TYPES: [TensorType; 5] = [
        TensorType::DENSE_HOST,
        TensorType::SCALAR_HOST,
        TensorType::COO_HOST,
        TensorType::STRING_HOST,
        TensorType::RESOURCE_HOST,
    ];
    match device.0.device_type() {
        "cpu" if !HOST_TYPES.contains(&source) => TensorType::DENSE_HOST,
        "gpu" => TensorType::DENSE_GPU,
        "tpu" => TensorType::new("DenseTpu"),
        remote if remote.starts_with("remote_") => TensorType::REMOTE,
        _ => source,
    }
}
