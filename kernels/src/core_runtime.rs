//! `corert.*` and `corert_sync.*`: kernels that run ops one by one, on tensor handles.
//!
//! [`tfrt::core`] explains handles, handlers and calls of ops; this module contains the kernels
//! through which programs use them.

pub mod handlers;

pub mod execute;

pub mod attributes;

pub mod handles;

pub mod constants;

pub mod transfer;

pub mod conditional;

pub mod devices;

use tfrt::core::TensorHandle;
use tfrt::prelude::*;

/// Returns an operand as a handle: moved out of its value if there are no other references, so that
/// an op may reuse the memory of the tensor, and shared otherwise.
fn take_handle(operand: &AnyRef) -> Result<TensorHandle> {
    if operand.is_unique_through_links()
        && let Ok(mut handle) = operand.try_write::<TensorHandle>()
    {
        return Ok(std::mem::take(&mut *handle));
    }
    read_handle(operand)
}

/// Returns an operand as a handle, shared.
fn read_handle(operand: &AnyRef) -> Result<TensorHandle> {
    let handle = operand
        .try_read::<TensorHandle>()
        .map_err(|error| Error::new(error.to_string()).with_code(ErrorCode::InvalidArgument))?;
    Ok(handle.clone())
}

/// Returns the value of a handle: available as soon as the tensor is, and an error if the tensor is
/// one.
fn value_of(handle: TensorHandle) -> AnyRef {
    let Some(tensor) = handle.tensor().cloned() else {
        return AnyRef::error(Error::new("an op did not set one of its results"));
    };
    let settled = |tensor: &AnyRef, handle: TensorHandle| match tensor.error_if_present() {
        Some(error) => AnyRef::error(error.clone()),
        None => AnyRef::available(handle),
    };
    if tensor.is_available() {
        return settled(&tensor, handle);
    }
    let (promise, value) = AnyRef::indirect();
    tensor.and_then(move |tensor| promise.forward_to(settled(tensor, handle)));
    value
}
