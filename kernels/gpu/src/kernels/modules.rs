//! Modules of device code, and launches of the kernels in them.

use smallvec::SmallVec;
use tfrt::prelude::*;

use super::op_verifiers;
use crate::api::driver::{Argument, LaunchConfig};
use crate::values::{Buffer, GpuContext, GpuFunction, GpuModule, Stream};

/// Loads a module of device code: PTX text or a binary image.
///
/// # Errors
/// `data attribute must be null-terminated`; those of the driver, with the log of its compiler.
#[tfrt_kernel("tfrt_gpu.module.load", chain = none, results(module), format = "operands attr-dict")]
fn module_load(context: &GpuContext, #[attr] data: ByteString) -> Result<GpuModule> {
    if data.as_bytes().last() != Some(&0) {
        return Err(Error::new("data attribute must be null-terminated")
            .with_code(ErrorCode::InvalidArgument));
    }
    let current = context.set_current()?;
    let handle = context
        .gpu()
        .driver
        .module_load(&current, data.as_bytes())?;
    Ok(GpuModule::new(context, handle))
}

/// Returns a global of a module as a buffer.
#[tfrt_kernel(
    "tfrt_gpu.module.get_global",
    chain = none,
    results(buffer),
    format = "operands attr-dict",
)]
fn module_get_global(module: &GpuModule, #[attr] name: ByteString) -> Result<Buffer> {
    let _current = module.context().set_current()?;
    Buffer::global(module, &symbol(&name))
}

/// Returns a kernel of a module.
#[tfrt_kernel(
    "tfrt_gpu.module.get_function",
    pure,
    chain = none,
    results(function),
    format = "operands attr-dict",
)]
fn module_get_function(module: &GpuModule, #[attr] name: ByteString) -> Result<GpuFunction> {
    let context = module.context();
    let _current = context.set_current()?;
    let driver = &context.gpu().driver;
    let handle = driver.module_function(module.handle(), &symbol(&name))?;
    Ok(GpuFunction {
        handle,
        module: module.clone(),
    })
}

/// Returns a name up to its first NUL.
fn symbol(name: &ByteString) -> String {
    let bytes = name.as_bytes();
    let end = bytes.iter().position(|byte| *byte == 0);
    String::from_utf8_lossy(&bytes[..end.unwrap_or(bytes.len())]).into_owned()
}

/// Launches a kernel on the device. Its faults appear at the next synchronization of the stream.
///
/// # Errors
/// `Unsupported argument type` for arguments other than buffers, i32, f32 and f64; sizes of more
/// than 32 bits.
#[tfrt_kernel(
    "tfrt_gpu.function.launch",
    results(out_chain),
    verify = op_verifiers::verify_launch,
    format = "$stream `,` $function `,` `blocks` `in` ` ` `(` operands($grid_x, $grid_y, $grid_z) \
              `)` `,` `threads` `in` ` ` `(` operands($block_x, $block_y, $block_z) `)` `,` \
              $shared `,` $in_chain known($grid_x, $grid_y, $grid_z, $block_x, $block_y, \
              $block_z) (`,` `args` `` `(` $args^ `)` `:` `(` type($args) `)`)? attr-dict"
)]
#[expect(clippy::too_many_arguments, reason = "the operands of the op")]
fn function_launch(
    stream: &Stream,
    function: &GpuFunction,
    grid_x: &AnyRef,
    grid_y: &AnyRef,
    grid_z: &AnyRef,
    block_x: &AnyRef,
    block_y: &AnyRef,
    block_z: &AnyRef,
    shared: u32,
    in_chain: Chain,
    args: &[AnyRef],
) -> Result<Chain> {
    let [grid, block] = extents([grid_x, grid_y, grid_z, block_x, block_y, block_z])?;
    let config = LaunchConfig {
        grid,
        block,
        shared_bytes: shared,
    };
    let mut arguments: SmallVec<[Argument; 16]> = SmallVec::with_capacity(args.len());
    for value in args {
        arguments.push(argument(value)?);
    }
    let current = stream.enter(function.module.context())?;
    let driver = &stream.context().gpu().driver;
    driver.launch(
        &current,
        function.handle,
        config,
        stream.handle(),
        &arguments,
    )?;
    Ok(in_chain)
}

/// Returns the sizes of a launch: those of the grid, then those of a block.
fn extents(values: [&AnyRef; 6]) -> Result<[[u32; 3]; 2]> {
    let mut sizes = [[0; 3]; 2];
    let places = sizes.as_flattened_mut().iter_mut().zip(values);
    let mut last: Option<(&AnyRef, u32)> = None;
    for (place, value) in places {
        // Most launches use one value for the size of several dimensions.
        *place = match last {
            Some((last, size)) if last.ptr_eq(value) => size,
            _ => extent(value)?,
        };
        last = Some((value, *place));
    }
    Ok(sizes)
}

/// Returns a size of a launch: 32 bits wide first, later 64.
fn extent(value: &AnyRef) -> Result<u32> {
    // Programs of today have 64 bits, so that comes first.
    let size = match value.get::<u64>() {
        Some(size) => *size,
        None => value.get::<u32>().map_or(u64::MAX, |size| (*size).into()),
    };
    u32::try_from(size).map_err(|_| {
        Error::new(format!("launch size {size} is larger than {}", u32::MAX))
            .with_code(ErrorCode::OutOfRange)
    })
}

fn argument(value: &AnyRef) -> Result<Argument> {
    if let Some(buffer) = value.get::<Buffer>() {
        return Ok(Argument::Pointer(buffer.pointer()));
    }
    if let Some(number) = value.get::<i32>() {
        return Ok(Argument::Bits32(number.cast_unsigned()));
    }
    if let Some(number) = value.get::<f32>() {
        return Ok(Argument::Bits32(number.to_bits()));
    }
    if let Some(number) = value.get::<f64>() {
        return Ok(Argument::Bits64(number.to_bits()));
    }
    Err(Error::new("Unsupported argument type").with_code(ErrorCode::InvalidArgument))
}
