//! Modules of device code, and launches of the kernels in them.

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
    Ok(GpuFunction::new(module, handle))
}

/// Returns a name up to its first NUL.
fn symbol(name: &ByteString) -> String {
    let bytes = name.as_bytes();
    let end = bytes.iter().position(|byte| *byte == 0);
    String::from_utf8_lossy(&bytes[..end.unwrap_or(bytes.len())]).into_owned()
}

/// The number of arguments of most launches.
const NUM_FEW: usize = 4;

/// The number of arguments of a launch that take no memory of the heap.
const NUM_INLINE: usize = 16;

/// The content of places of arguments at first.
const NO_ARGUMENT: Argument = Argument::Bits32(0);

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
// Inlined in its adapter, which would otherwise pass most of the operands on the stack.
#[inline(always)]
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
    let mut last = LastExtent::of(grid_x)?;
    let config = LaunchConfig {
        grid: [last.size, last.next(grid_y)?, last.next(grid_z)?],
        block: [
            last.next(block_x)?,
            last.next(block_y)?,
            last.next(block_z)?,
        ],
        shared_bytes: shared,
    };
    // As few places as suffice, since each is written twice.
    let (mut few, mut more);
    let arguments: &mut [Argument] = match args.len() {
        len @ ..=NUM_FEW => {
            few = [NO_ARGUMENT; NUM_FEW];
            &mut few[..len]
        }
        len @ ..=NUM_INLINE => {
            more = [NO_ARGUMENT; NUM_INLINE];
            &mut more[..len]
        }
        _ => {
            launch_many(stream, function, &config, args)?;
            return Ok(in_chain);
        }
    };
    for (place, value) in arguments.iter_mut().zip(args) {
        *place = argument(value)?;
    }
    launch(stream, function, &config, arguments)?;
    Ok(in_chain)
}

#[cold]
fn launch_many(
    stream: &Stream,
    function: &GpuFunction,
    config: &LaunchConfig,
    args: &[AnyRef],
) -> Result<()> {
    let arguments: Result<Vec<Argument>> = args.iter().map(argument).collect();
    launch(stream, function, config, &arguments?)
}

#[inline(always)]
fn launch(
    stream: &Stream,
    function: &GpuFunction,
    config: &LaunchConfig,
    arguments: &[Argument],
) -> Result<()> {
    let current = stream.enter(function.module.context())?;
    stream.launch(&current, function, config, arguments)?;
    Ok(())
}

/// The size of a dimension of a launch, and its value. Most launches use one value for the size of
/// several dimensions.
struct LastExtent<'v> {
    value: &'v AnyRef,
    size: u32,
}

impl<'v> LastExtent<'v> {
    #[inline(always)]
    fn of(value: &'v AnyRef) -> Result<Self> {
        let size = extent(value)?;
        Ok(Self { value, size })
    }

    /// Returns the size of the next dimension.
    #[inline]
    fn next(&mut self, value: &'v AnyRef) -> Result<u32> {
        if !self.value.ptr_eq(value) {
            self.change(value)?;
        }
        Ok(self.size)
    }

    #[cold]
    fn change(&mut self, value: &'v AnyRef) -> Result<()> {
        *self = Self::of(value)?;
        Ok(())
    }
}

/// Returns a size of a launch: 32 bits wide first, later 64.
#[inline(always)]
fn extent(value: &AnyRef) -> Result<u32> {
    // Programs of today have 64 bits, so that comes first.
    let payload = value.payload();
    let size = match payload.and_then(|payload| payload.get::<u64>()) {
        Some(size) => *size,
        None => payload
            .and_then(|payload| payload.get::<u32>())
            .map_or(u64::MAX, |size| (*size).into()),
    };
    u32::try_from(size).map_err(|_| too_large(size))
}

#[cold]
fn too_large(size: u64) -> Error {
    let text = format!("launch size {size} is larger than {}", u32::MAX);
    Error::new(text).with_code(ErrorCode::OutOfRange)
}

#[inline]
fn argument(value: &AnyRef) -> Result<Argument> {
    let Some(payload) = value.payload() else {
        return Err(unsupported_argument());
    };
    if let Some(buffer) = payload.get::<Buffer>() {
        return Ok(Argument::Pointer(buffer.pointer()));
    }
    if let Some(number) = payload.get::<i32>() {
        return Ok(Argument::Bits32(number.cast_unsigned()));
    }
    if let Some(number) = payload.get::<f32>() {
        return Ok(Argument::Bits32(number.to_bits()));
    }
    if let Some(number) = payload.get::<f64>() {
        return Ok(Argument::Bits64(number.to_bits()));
    }
    Err(unsupported_argument())
}

#[cold]
fn unsupported_argument() -> Error {
    Error::new("Unsupported argument type").with_code(ErrorCode::InvalidArgument)
}
