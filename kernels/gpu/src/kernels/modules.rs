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
    let first = Extent::of(grid_x)?;
    let mut config = first.config(shared);
    first.fill_in(&mut config, [grid_y, grid_z, block_x, block_y, block_z])?;
    // As few places as suffice, since each is written twice.
    let (mut few, mut more);
    let arguments = match args.len() {
        len @ ..=NUM_FEW => {
            few = [NO_ARGUMENT; NUM_FEW];
            write_few(&mut few[..len], args)?
        }
        len @ ..=NUM_INLINE => {
            more = [NO_ARGUMENT; NUM_INLINE];
            write_more(&mut more[..len], args)?
        }
        _ => {
            launch_many(stream, function, config, args)?;
            return Ok(in_chain);
        }
    };
    launch(stream, function, &config, arguments)?;
    Ok(in_chain)
}

/// Launches a kernel with more arguments than most have.
#[cold]
fn launch_many(
    stream: &Stream,
    function: &GpuFunction,
    config: LaunchConfig,
    args: &[AnyRef],
) -> Result<()> {
    let arguments: Result<Vec<Argument>> = args.iter().map(argument).collect();
    launch(stream, function, &config, &arguments?)
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

/// Writes arguments into as many places.
#[inline(always)]
fn write_few<'p>(places: &'p mut [Argument], args: &[AnyRef]) -> Result<&'p [Argument]> {
    for (place, value) in places.iter_mut().zip(args) {
        *place = argument(value)?;
    }
    Ok(places)
}

/// Does the same as [`write_few`], out of line.
#[inline(never)]
fn write_more<'p>(places: &'p mut [Argument], args: &[AnyRef]) -> Result<&'p [Argument]> {
    write_few(places, args)
}

/// The size of a dimension of a launch, and its value. Most launches use one value for the size of
/// several dimensions.
#[derive(Clone, Copy)]
struct Extent {
    /// The address of the value, which the operand keeps.
    value: usize,
    size: u32,
}

impl Extent {
    #[inline(always)]
    fn of(value: &AnyRef) -> Result<Self> {
        let size = extent(value)?;
        let value = value.address();
        Ok(Self { value, size })
    }

    /// Returns the configuration of a launch that has this size in every dimension.
    #[inline(always)]
    fn config(self, shared_bytes: u32) -> LaunchConfig {
        LaunchConfig {
            grid: [self.size; 3],
            block: [self.size; 3],
            shared_bytes,
        }
    }

    /// Fills in the other dimensions, where the configuration is: it would be copied as a result.
    #[inline(always)]
    fn fill_in(mut self, config: &mut LaunchConfig, others: [&AnyRef; 5]) -> Result<()> {
        let [grid_y, grid_z, block_x, block_y, block_z] = others;
        self.next(grid_y, config, 1)?;
        self.next(grid_z, config, 2)?;
        self.next(block_x, config, 3)?;
        self.next(block_y, config, 4)?;
        self.next(block_z, config, 5)
    }

    /// Goes on to a dimension. If its value is another one, writes the size of that and of all
    /// later dimensions.
    #[inline(always)]
    fn next(&mut self, value: &AnyRef, config: &mut LaunchConfig, dimension: usize) -> Result<()> {
        if self.value != value.address() {
            *self = Self::of(value)?;
            for later in dimension..3 {
                config.grid[later] = self.size;
            }
            for later in dimension.max(3)..6 {
                config.block[later - 3] = self.size;
            }
        }
        Ok(())
    }
}

/// Returns a size of a launch: 32 bits wide first, later 64.
#[inline(always)]
fn extent(value: &AnyRef) -> Result<u32> {
    let payload = value.payload();
    // Programs of today have 64 bits, so that comes first.
    if let Some(size) = payload.and_then(|payload| payload.get::<u64>()) {
        return u32::try_from(*size).map_err(|_| too_large(*size));
    }
    let size = payload.and_then(|payload| payload.get::<u32>());
    size.copied().ok_or_else(|| too_large(u64::MAX))
}

#[cold]
fn too_large(size: u64) -> Error {
    let text = format!("launch size {size} is larger than {}", u32::MAX);
    Error::new(text).with_code(ErrorCode::OutOfRange)
}

#[inline(always)]
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

#[cfg(test)]
mod tests {
    use super::*;

    fn config_of(sizes: [&AnyRef; 6], shared_bytes: u32) -> Result<LaunchConfig> {
        let [first, others @ ..] = sizes;
        let first = Extent::of(first)?;
        let mut config = first.config(shared_bytes);
        first.fill_in(&mut config, others)?;
        Ok(config)
    }

    #[test]
    fn each_dimension_has_the_size_of_its_value() {
        // Two of the values are equal, but not the same; one has 32 bits.
        let values = [
            AnyRef::available(1_u64),
            AnyRef::available(1_u64),
            AnyRef::available(256_u64),
            AnyRef::available(40_000_u32),
        ];
        let sizes = [1, 1, 256, 40_000];
        for mut pattern in 0..values.len().pow(6) {
            let indices = [(); 6].map(|()| {
                let index = pattern % values.len();
                pattern /= values.len();
                index
            });
            let config = config_of(indices.map(|index| &values[index]), 48).unwrap();
            let [x, y, z, bx, by, bz] = indices.map(|index| sizes[index]);
            let expected = LaunchConfig {
                grid: [x, y, z],
                block: [bx, by, bz],
                shared_bytes: 48,
            };
            assert_eq!(config, expected);
        }
    }

    #[test]
    fn sizes_of_more_than_32_bits_and_other_values_are_refused_in_every_dimension() {
        let one = AnyRef::available(1_u64);
        let cases = [
            (AnyRef::available(1_u64 << 32), "launch size 4294967296 "),
            (
                AnyRef::available(1.5_f32),
                "launch size 18446744073709551615 ",
            ),
        ];
        for (value, start) in &cases {
            for dimension in 0..6 {
                let mut sizes = [&one; 6];
                sizes[dimension] = value;
                let error = config_of(sizes, 0).unwrap_err();
                assert!(error.message().starts_with(start), "{error}");
            }
        }
    }
}
