//! Creation, registration and look-up of handlers.

use std::sync::Arc;

use tfrt::core::{
    CoreRuntime, CpuOpHandler, LogResults, LoggingOpHandler, NullOpHandler, OpHandlerRef,
};
use tfrt::host::device::CpuDevice;
use tfrt::prelude::*;

/// Creates a handler that knows no op.
#[tfrt_kernel("corert.create_null_op_handler", results(op_handler))]
fn create_null_op_handler() -> OpHandlerRef {
    OpHandlerRef::new(NullOpHandler)
}

/// Creates a handler of the processor's ops, which run on the host's device.
#[tfrt_kernel("corert.create_cpu_op_handler", results(op_handler))]
fn create_cpu_op_handler(fallback: OpHandlerRef, host: &HostContext) -> OpHandlerRef {
    let runtime = CoreRuntime::of(host);
    let device = runtime.host_device().clone();
    OpHandlerRef::new(CpuOpHandler::new(&runtime, device, fallback))
}

/// Creates a handler of the processor's ops, which run on the device `CPU:N`. Also creates the
/// device if it does not exist.
#[tfrt_kernel("corert.create_cpu_op_handler_with_ordinal", results(op_handler))]
fn create_cpu_op_handler_with_ordinal(
    fallback: OpHandlerRef,
    ordinal: i32,
    host: &HostContext,
) -> OpHandlerRef {
    let runtime = CoreRuntime::of(host);
    let device = Arc::new(CpuDevice::new(format!("CPU:{ordinal}")));
    let device = host.devices().add_if_absent(device);
    OpHandlerRef::new(CpuOpHandler::new(&runtime, device, fallback))
}

/// Creates a handler that logs the ops of another one, on standard error or to the file that the
/// environment variable `LOGGING_DEV_METADATA_DUMP_PREFIX` names. With `sync_log_results` it logs
/// results, too.
///
/// # Errors
/// `error opening file F`.
#[tfrt_kernel(
    "corert.create_logging_op_handler",
    raw,
    operands(fallback: OpHandlerRef),
    attrs(sync_log_results: FirstByte),
    results(op_handler: OpHandlerRef)
)]
fn create_logging_op_handler(frame: &mut KernelFrame<'_>) -> Result<()> {
    let fallback = frame.value::<OpHandlerRef>(0)?.clone();
    let results = match frame.attribute::<FirstByte>(0)? {
        0 => LogResults::No,
        _ => LogResults::Yes,
    };
    let handler = OpHandlerRef::new(LoggingOpHandler::new(fallback, results)?);
    frame.set_result(0, AnyRef::available(handler));
    Ok(())
}

/// The first byte of an attribute of any type: a Boolean, which programs write as a number of any
/// width.
struct FirstByte;

impl AttrParam for FirstByte {
    type Value<'a> = u8;
    const KIND: tfrt::ods::AttrKind = tfrt::ods::AttrKind::Any;

    fn read(section: &[u8], offset: u32) -> Result<u8> {
        u8::read(section, offset)
    }
}

/// Returns the handler of this name.
///
/// # Errors
/// `op_handler not found.`
#[tfrt_kernel(
    "corert.get_op_handler",
    pure,
    results(op_handler),
    format = "$in_chain $op_handler_name attr-dict"
)]
fn get_op_handler(
    in_chain: Chain,
    #[attr] op_handler_name: &str,
    host: &HostContext,
) -> Result<OpHandlerRef> {
    let _ = in_chain;
    find(op_handler_name, host)
}

/// Returns the handler of this name.
///
/// # Errors
/// `op_handler not found.`
#[tfrt_kernel(
    "corert_sync.get_op_handler",
    sync,
    results(op_handler),
    format = "$device_name attr-dict"
)]
fn get_op_handler_sync(#[attr] device_name: &str, host: &HostContext) -> Result<OpHandlerRef> {
    find(device_name, host)
}

fn find(name: &str, host: &HostContext) -> Result<OpHandlerRef> {
    let handler = CoreRuntime::of(host).handler(name);
    handler.ok_or_else(|| Error::new("op_handler not found."))
}

/// Registers a handler under a name. If the name exists, it keeps its handler.
#[tfrt_kernel(
    "corert.register_op_handler",
    effect = "io",
    chain = none,
    results(out_chain),
    format = "$op_handler $op_handler_name attr-dict"
)]
fn register_op_handler(
    op_handler: OpHandlerRef,
    #[attr] op_handler_name: &str,
    host: &HostContext,
) -> Chain {
    CoreRuntime::of(host).register_handler(op_handler_name, op_handler);
    Chain
}

/// Registers a handler under a name. If the name exists, it keeps its handler.
#[tfrt_kernel("corert_sync.register_op_handler", sync)]
fn register_op_handler_sync(
    op_handler: OpHandlerRef,
    #[attr] op_handler_name: &str,
    host: &HostContext,
) {
    CoreRuntime::of(host).register_handler(op_handler_name, op_handler);
}
