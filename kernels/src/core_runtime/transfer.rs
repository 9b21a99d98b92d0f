//! Handles on other devices, and of other kinds of tensors.

use tfrt::core::TensorHandle;
use tfrt::core::inferred_tensor_type;
use tfrt::host::device::DeviceRef;
use tfrt::prelude::*;
use tfrt_tensor::{DenseHostTensor, TensorRef, TensorType};

/// Transfers a tensor to a device, as a tensor of the given kind.
///
/// The handle is available immediately. If there is no such conversion, its tensor is an error.
#[tfrt_kernel("corert.transfer", chain = none, results(transferred), format = "operands attr-dict")]
fn transfer(
    tensor: &TensorHandle,
    device: DeviceRef,
    tensor_type: TensorType,
    ctx: &ExecutionContext,
) -> TensorHandle {
    tensor.transfer_to(ctx, &device, tensor_type)
}

/// Transfers a tensor to a device, as a tensor of the default kind there.
#[tfrt_kernel(
    "corert.transfer_inferred_tensortype",
    chain = none,
    results(transferred),
    format = "operands attr-dict"
)]
fn transfer_inferred_tensortype(
    tensor: &TensorHandle,
    device: DeviceRef,
    ctx: &ExecutionContext,
) -> TensorHandle {
    tensor.transfer_to_inferred(ctx, &device)
}

/// Returns the default kind of tensor on a device. Tensors with element types that only their own
/// kind supports keep it.
///
/// # Errors
/// `failed to find dst device type for src_tensor_type=X and dst_device_type=Y`.
#[tfrt_kernel(
    "corert.get_dst_tensor_type",
    chain = none,
    results(tensor_type),
    format = "operands attr-dict"
)]
fn get_dst_tensor_type(
    tensor: &TensorHandle,
    device: DeviceRef,
    ctx: &ExecutionContext,
) -> AsyncValueRef<TensorType> {
    let Some(value) = tensor.tensor() else {
        return AsyncValueRef::error(Error::new("the tensor handle is invalid"));
    };
    if value.is_available() {
        return match usual_type(value, &device) {
            Ok(found) => AsyncValueRef::available(found),
            Err(error) => AsyncValueRef::error(report(error, value, ctx)),
        };
    }
    // A transfer returns its handle at once.
    let (promise, tensor_type) = AsyncValueRef::unconstructed();
    let ctx = ctx.clone();
    value.and_then(move |value| match usual_type(value, &device) {
        Ok(found) => promise.emplace(found),
        Err(error) => promise.set_error(report(error, value, &ctx)),
    });
    tensor_type
}

/// Returns the kind of tensor that is usual on a device, for an available tensor.
fn usual_type(value: &AnyRef, device: &DeviceRef) -> Result<TensorType> {
    if let Some(error) = value.error_if_present() {
        return Err(error.clone());
    }
    let guard = TensorRef::read(value).map_err(|error| Error::new(error.to_string()))?;
    let found = guard.tensor_type();
    if matches!(
        guard.dtype(),
        DType::String | DType::Resource | DType::Variant
    ) {
        return Ok(found);
    }
    match device.0.device_type() {
        "cpu" => Ok(TensorType::DENSE_HOST),
        "gpu" | "tpu" => Ok(inferred_tensor_type(found, device)),
        other => Err(Error::new(format!(
            "failed to find dst device type for src_tensor_type={} and dst_device_type={other}",
            found.name()
        ))),
    }
}

/// Returns the only element of a tensor of type i32.
///
/// # Errors
/// `Expecting a DenseHostTensor of int32 as branch index.`,
/// `The tensor should have only one element, which is the index.`
#[tfrt_kernel(
    "corert.tensorhandle_to_int32",
    chain = none,
    results(number),
    format = "operands attr-dict"
)]
fn tensorhandle_to_int32(tensor: &TensorHandle, ctx: &ExecutionContext) -> AsyncValueRef<i32> {
    let dense = tensor.transfer_to_same_device(ctx, TensorType::DENSE_HOST);
    let Some(value) = dense.tensor().cloned() else {
        return AsyncValueRef::error(Error::new("the tensor handle is invalid"));
    };
    if value.is_available() {
        return match only_element(&value) {
            Ok(number) => AsyncValueRef::available(number),
            Err(error) => AsyncValueRef::error(report(error, &value, ctx)),
        };
    }
    let (promise, number) = AsyncValueRef::unconstructed();
    let ctx = ctx.clone();
    value.and_then(move |value| match only_element(value) {
        Ok(number) => promise.emplace(number),
        Err(error) => promise.set_error(report(error, value, &ctx)),
    });
    number
}

/// An error of the tensor was reported where it occurred.
fn report(error: Error, value: &AnyRef, ctx: &ExecutionContext) -> Error {
    if value.is_error() {
        error
    } else {
        ctx.emit_error(error)
    }
}

fn only_element(value: &AnyRef) -> Result<i32> {
    let invalid = |message: &str| Error::new(message).with_code(ErrorCode::InvalidArgument);
    if let Some(error) = value.error_if_present() {
        return Err(error.clone());
    }
    let not_an_index = || invalid("Expecting a DenseHostTensor of int32 as branch index.");
    let tensor = value
        .try_read::<DenseHostTensor>()
        .map_err(|_| not_an_index())?;
    if tensor.dtype() != DType::I32 {
        return Err(not_an_index());
    }
    if !matches!(tensor.shape().dims(), [] | [1]) {
        return Err(invalid(
            "The tensor should have only one element, which is the index.",
        ));
    }
    Ok(tensor.to_scalar()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tfrt::core::CoreRuntime;
    use tfrt::host::RequestContextBuilder;

    #[test]
    fn usual_type_waits_for_the_tensor_and_passes_its_error_on() {
        let host = HostContext::builder().build();
        let device = CoreRuntime::of(&host).host_device().clone();
        let ctx = ExecutionContext::new(RequestContextBuilder::new(host).build());
        let usual = |tensor: AnyRef| {
            let handle = TensorHandle::of_value(device.clone(), tensor);
            get_dst_tensor_type(&handle, device.clone(), &ctx)
        };
        let (promise, later) = AnyRef::indirect();
        let found = usual(later);
        assert!(found.get().is_none(), "nothing is known yet");
        let tensor = DenseHostTensor::vector(&[1_i32]).expect("there is memory");
        promise.forward_to(AnyRef::available(tensor));
        assert_eq!(found.get(), Some(&TensorType::DENSE_HOST));

        let failed = usual(AnyRef::error(Error::new("lost")));
        assert_eq!(failed.error_if_present().map(Error::message), Some("lost"));
        let (promise, later) = AnyRef::indirect();
        let found = usual(later);
        promise.set_error(Error::new("lost later"));
        assert_eq!(
            found.error_if_present().map(Error::message),
            Some("lost later")
        );
    }
}
