//! Devices and contexts.

use tfrt::prelude::*;

use crate::enums::Platform;
use crate::platform::Gpu;
use crate::values::{GpuContext, GpuDevice};

/// Returns the device with the given number, and initializes the platform.
///
/// # Errors
/// `Invalid platform NONE`, `Unsupported platform ROCm`, and `CUDA_ERROR_INVALID_DEVICE` if there
/// is no such device.
#[tfrt_kernel(
    "tfrt_gpu.device.get",
    pure,
    chain = none,
    results(device),
    format = "$platform `,` $ordinal attr-dict",
)]
fn device_get(
    ordinal: i32,
    #[attr] platform: Platform,
    ctx: &ExecutionContext,
) -> Result<GpuDevice> {
    platform.expect_cuda()?;
    let gpu = Gpu::of_host(ctx.host())?;
    gpu.driver.init()?;
    let id = gpu.driver.device(ordinal)?;
    Ok(GpuDevice { gpu, id })
}

/// Returns the primary context of a device: each time a new object around the same native context.
#[tfrt_kernel(
    "tfrt_gpu.context.primary",
    pure,
    chain = none,
    results(context),
    format = "operands attr-dict",
)]
fn context_primary(device: &GpuDevice) -> Result<GpuContext> {
    Ok(GpuContext::primary(device)?)
}

/// Creates a context on a device.
#[tfrt_kernel(
    "tfrt_gpu.context.create",
    chain = none,
    results(context),
    format = "operands attr-dict",
)]
fn context_create(device: &GpuDevice) -> Result<GpuContext> {
    Ok(GpuContext::create(device)?)
}
