//! The parts of functions on several devices: handlers of devices, operands on the devices of their
//! ops, and the exchange between parts.
//!
//! Programs are rarely written with these kernels: the passes that turn functions into ops insert
//! them.

use std::sync::Arc;

use tfrt::async_value::Rendezvous;
use tfrt::core::{
    CoreRuntime, CpuOpHandler, NullOpHandler, OpFlags, OpHandlerRef, RendezvousRef, TensorHandle,
};
use tfrt::host::device::{CpuDevice, DeviceRef};
use tfrt::prelude::*;

use super::{read_handle, value_of};

/// Returns the device of this name. Processors are created on first use, as by
/// `corert.create_cpu_op_handler_with_ordinal`, and so are devices of linked crates.
fn device(name: &str, host: &HostContext) -> Result<DeviceRef> {
    if name == "CPU:0" {
        return Ok(CoreRuntime::of(host).host_device().clone());
    }
    let is_processor = name
        .strip_prefix("CPU:")
        .is_some_and(|number| number.parse::<u16>().is_ok());
    if is_processor {
        return Ok(host.devices().add_if_absent(Arc::new(CpuDevice::new(name))));
    }
    host.device(name)
}

/// Creates a handler of the ops of a device, without a fallback.
///
/// # Errors
/// If there is no such device.
#[tfrt_kernel("corert.handler_of_device", pure, chain = none, results(op_handler))]
fn handler_of_device(#[attr] device: &str, host: &HostContext) -> Result<OpHandlerRef> {
    let found = self::device(device, host)?;
    let fallback = OpHandlerRef::new(NullOpHandler);
    let handler = CpuOpHandler::new(&CoreRuntime::of(host), found, fallback);
    Ok(OpHandlerRef::new(handler))
}

/// Returns a handle of the tensor on a device. The tensor is shared if it is already there, and
/// copied otherwise.
///
/// # Errors
/// If there is no such device. If the tensor cannot be copied there, the error is that of the
/// tensor.
#[tfrt_kernel(
    "corert.copy_to_device",
    raw,
    pure,
    operands(handle: TensorHandle),
    attrs(device: str),
    results(copy: TensorHandle)
)]
fn copy_to_device(frame: &mut KernelFrame<'_>) -> Result<()> {
    let ctx = frame.exec_ctx();
    let device = device(frame.attribute::<str>(0)?, ctx.host())?;
    let handle = read_handle(frame.argument(0))?;
    frame.set_result(0, value_of(handle.transfer_to_inferred(ctx, &device)));
    Ok(())
}

/// Returns the tensor of a handle in the form that an op on a device takes. `accepts` gives the
/// kinds of tensors that the op takes unconverted, as the sum of 2 for scalar, 4 for string and 8
/// for sparse tensors; others become dense.
///
/// # Errors
/// If there is no such device. A failed conversion is the error of the tensor.
#[tfrt_kernel(
    "corert.operand",
    raw,
    pure,
    cheap,
    operands(handle: TensorHandle),
    attrs(accepts: i32, device: str),
    results(operand: "!t.tensor")
)]
fn operand(frame: &mut KernelFrame<'_>) -> Result<()> {
    let handle = read_handle(frame.argument(0))?;
    let device = device(frame.attribute::<str>(1)?, frame.exec_ctx().host())?;
    set_operand(frame, handle, &device)
}

/// Like `corert.operand`, for a tensor that a kernel on the device returned.
///
/// # Errors
/// If there is no such device. A failed conversion is the error of the tensor.
#[tfrt_kernel(
    "corert.operand_of_tensor",
    raw,
    pure,
    cheap,
    operands(tensor: "!t.tensor"),
    attrs(accepts: i32, device: str),
    results(operand: "!t.tensor")
)]
fn operand_of_tensor(frame: &mut KernelFrame<'_>) -> Result<()> {
    let tensor = frame.argument(0).clone();
    if tensor.is::<DenseHostTensor>() {
        frame.set_result(0, tensor);
        return Ok(());
    }
    let device = device(frame.attribute::<str>(1)?, frame.exec_ctx().host())?;
    set_operand(
        frame,
        TensorHandle::of_value(device.clone(), tensor),
        &device,
    )
}

/// Sets the result to the tensor of a handle, as an op takes it.
fn set_operand(
    frame: &mut KernelFrame<'_>,
    handle: TensorHandle,
    device: &DeviceRef,
) -> Result<()> {
    let accepts = frame.attribute::<i32>(0)?;
    let each = [
        OpFlags::ACCEPTS_SCALAR,
        OpFlags::ACCEPTS_STRING,
        OpFlags::ACCEPTS_SPARSE,
    ];
    let flags = each.into_iter().zip([2, 4, 8]);
    let flags = flags.filter(|(_, bit)| accepts & bit != 0);
    let flags = flags.fold(OpFlags::NONE, |all, (flag, _)| all.with(flag));
    let handle = handle.as_operand(frame.exec_ctx(), flags, device);
    let operand = handle.tensor().cloned();
    frame.set_result(
        0,
        operand.ok_or_else(|| Error::new("the tensor handle is invalid"))?,
    );
    Ok(())
}

/// Creates a handle of a tensor on a device.
///
/// # Errors
/// If there is no such device.
#[tfrt_kernel(
    "corert.handle_of_tensor",
    raw,
    pure,
    cheap,
    operands(tensor: "!t.tensor"),
    attrs(device: str),
    results(handle: TensorHandle)
)]
fn handle_of_tensor(frame: &mut KernelFrame<'_>) -> Result<()> {
    let device = device(frame.attribute::<str>(0)?, frame.exec_ctx().host())?;
    let handle = TensorHandle::of_value(device, frame.argument(0).clone());
    frame.set_result(0, AnyRef::available(handle));
    Ok(())
}

/// The most values that the parts of a function exchange: every edge takes memory before anything
/// runs.
const MAX_EDGES: usize = 1 << 20;

/// Creates the rendezvous of one call of a function that is split into parts.
///
/// # Errors
/// If the number of edges is negative, or greater than that of any split function.
#[tfrt_kernel("corert.rendezvous", chain = none, results(rendezvous))]
fn rendezvous(#[attr] edges: i32) -> Result<RendezvousRef> {
    let num_edges = usize::try_from(edges)
        .ok()
        .filter(|&num_edges| num_edges <= MAX_EDGES)
        .ok_or_else(|| {
            Error::new(format!(
                "expected a non-negative number of edges, found {edges}"
            ))
            .with_code(ErrorCode::ResourceExhausted)
        })?;
    Ok(RendezvousRef(Arc::new(Rendezvous::new(num_edges))))
}

/// Returns the edge that an attribute names.
fn edge(frame: &KernelFrame<'_>) -> Result<usize> {
    let edge = frame.attribute::<i32>(0)?;
    usize::try_from(edge).map_err(|_| Error::new(format!("unknown edge {edge}")))
}

/// Sends a value over an edge. It may be unavailable, or an error.
///
/// # Errors
/// If there is no such edge, or a value was sent over it before.
#[tfrt_kernel(
    "corert.send",
    raw,
    non_strict,
    chain = none,
    operands(rendezvous: RendezvousRef, value: ref any),
    attrs(edge: i32)
)]
fn send(frame: &mut KernelFrame<'_>) -> Result<()> {
    let rendezvous = frame.value::<RendezvousRef>(0)?;
    rendezvous.0.send(edge(frame)?, frame.argument(1).clone())
}

/// Receives the value that is sent over an edge, once it is available. Several kernels may receive
/// it.
///
/// # Errors
/// If there is no such edge or no value was sent over it; the error of the part of the function
/// that failed first.
#[tfrt_kernel(
    "corert.receive",
    raw,
    chain = none,
    operands(rendezvous: RendezvousRef),
    attrs(edge: i32),
    results(value: any)
)]
fn receive(frame: &mut KernelFrame<'_>) -> Result<()> {
    let rendezvous = frame.value::<RendezvousRef>(0)?;
    frame.set_result(0, rendezvous.0.receive(edge(frame)?)?);
    Ok(())
}

/// Aborts a rendezvous as soon as one of the values is an error: pending receivers then get that
/// error.
#[tfrt_kernel(
    "corert.abort_if_error",
    raw,
    non_strict,
    chain = none,
    operands(rendezvous: RendezvousRef, values: ref variadic any)
)]
fn abort_if_error(frame: &mut KernelFrame<'_>) -> Result<()> {
    let rendezvous = frame.value::<RendezvousRef>(0)?;
    for value in &frame.arguments()[1..] {
        // Not kept alive: what nobody can send any more must become an error, even if a value waits
        // for it.
        let rendezvous = Arc::downgrade(&rendezvous.0);
        let abort = move |value: &AnyRef| {
            if let (Some(error), Some(rendezvous)) =
                (value.error_if_present(), rendezvous.upgrade())
            {
                rendezvous.abort(error);
            }
        };
        if value.is_available() {
            abort(value);
        } else {
            value.and_then(abort);
        }
    }
    Ok(())
}
