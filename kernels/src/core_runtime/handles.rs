//! Handles: creation from tensors, access to their parts, and printing.

use std::io;

use tfrt::core::{CoreRuntime, MetadataPart, TensorHandle};
use tfrt::prelude::*;
use tfrt_tensor::Sizes;

use super::read_handle;
use crate::text::print_bytes;

/// Returns the shape of a tensor once its metadata is known.
#[tfrt_kernel("corert.tensorhandle_to_shape", results(shape))]
fn tensorhandle_to_shape(handle: &TensorHandle) -> AsyncValueRef<Sizes> {
    let sizes = |metadata: &TensorMetadata| Sizes::new(&metadata.extents);
    if let Some(error) = handle.metadata_error() {
        return AsyncValueRef::error(error.clone());
    }
    match (handle.metadata(), handle.metadata_part()) {
        (Some(metadata), _) => AsyncValueRef::available(sizes(&metadata)),
        (None, Some(MetadataPart::Pending(pending))) => {
            let (promise, shape) = AsyncValueRef::unconstructed();
            pending.and_then(
                move |pending| match (pending.get(), pending.error_if_present()) {
                    (Some(metadata), _) => promise.emplace(sizes(&metadata.0)),
                    (None, Some(error)) => promise.set_error(error.clone()),
                    (None, None) => {}
                },
            );
            shape
        }
        (None, _) => AsyncValueRef::error(Error::new("the tensor handle is invalid")),
    }
}

/// Creates a handle of a tensor in host memory.
#[tfrt_kernel(
    "corert.ht_to_tensorhandle",
    raw,
    operands(tensor: "!t.tensor", in_chain: Chain),
    results(handle: TensorHandle)
)]
fn ht_to_tensorhandle(frame: &mut KernelFrame<'_>) {
    let device = CoreRuntime::of(frame.exec_ctx().host())
        .host_device()
        .clone();
    let handle = TensorHandle::of_value(device, frame.argument(0).clone());
    frame.set_result(0, AnyRef::available(handle));
}

/// Returns the tensor of a handle.
#[tfrt_kernel(
    "corert.tensorhandle_to_ht",
    raw,
    operands(handle: TensorHandle),
    results(tensor: "!t.tensor")
)]
fn tensorhandle_to_ht(frame: &mut KernelFrame<'_>) -> Result<()> {
    let handle = read_handle(frame.argument(0))?;
    let tensor = handle.tensor().cloned();
    frame.set_result(
        0,
        tensor.ok_or_else(|| Error::new("the tensor handle is invalid"))?,
    );
    Ok(())
}

/// Prints a handle: its tensor, or its known properties.
#[tfrt_kernel("corert.print_tensorhandle", side_effecting)]
fn print_tensorhandle(handle: &TensorHandle) -> io::Result<()> {
    print_bytes(&[&handle.to_bytes()])
}

/// Prints a handle: its tensor, or its known properties.
#[tfrt_kernel("corert_sync.print_tensorhandle", sync)]
fn print_tensorhandle_sync(handle: &TensorHandle) -> io::Result<()> {
    print_bytes(&[&handle.to_bytes()])
}
