//! Kernels of device functions.
//!
//! `#[tfrt_kernel("my.gelu", elementwise)]` describes its kernel by a [`FunctionKernel`]. From it
//! come two kernels:
//!
//! | name | runs |
//! |---|---|
//! | `my.gelu` | on host tensors: see [`crate::cpu`] |
//! | `my.gelu.gpu` | on a stream of a GPU, through the [`Launcher`] that is linked |
//!
//! With `#[tfrt_op]`, there is also an op for the processor and one for GPUs. A crate for a kind of
//! GPU submits a [`Launcher`] and an `OpLauncher`. Without them, the second kernel and the op for
//! GPUs fail with an error.

use std::fmt;

use tfrt_host::kernel::KernelFrame;
use tfrt_support::{Error, ErrorCode, TensorMetadata};

use crate::axes::{AxesPlan, ReducedAxes};
use crate::broadcast::CommonShape;
use crate::grid::{self, GridRules};
use crate::tree::{Function, Value};

/// A kernel of a device function.
///
/// ```
/// use tfrt_device::kernel::{FunctionKernel, KernelForm};
/// use tfrt_device::math::sigmoid;
/// use tfrt_device::tree::DeviceFunction;
///
/// static SIGMOID: FunctionKernel = FunctionKernel {
///     name: "my.sigmoid",
///     form: KernelForm::Elementwise,
///     function: <sigmoid as DeviceFunction>::FUNCTION,
/// };
/// assert_eq!(SIGMOID.function.parameters.len(), 1);
/// ```
#[derive(Debug)]
pub struct FunctionKernel {
    /// The name of the kernel on host tensors.
    pub name: &'static str,
    /// How it applies its function.
    pub form: KernelForm,
    /// The function. In a grid kernel, its parameters are the operands, and its result is an
    /// element of the result.
    pub function: &'static Function,
}

/// How a kernel applies its function.
#[derive(Clone, Copy)]
pub enum KernelForm {
    /// To each element.
    Elementwise,
    /// To each element; then the results are combined into one.
    Reduce {
        /// The number that the combination starts with.
        identity: fn() -> Value,
        /// A function of two results.
        combine: &'static Function,
    },
    /// To each element; then the results are combined along axes.
    ReduceAlong {
        /// The number that every combination starts with.
        identity: fn() -> Value,
        /// A function of two results.
        combine: &'static Function,
        /// The axes.
        axes: &'static ReducedAxes<'static>,
    },
    /// Each thread of a grid of blocks runs it, with indices of its own.
    Grid(&'static GridRules),
}

impl fmt::Debug for KernelForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Elementwise => f.write_str("Elementwise"),
            Self::Reduce { identity, combine } => f
                .debug_struct("Reduce")
                .field("identity", &identity())
                .field("combine", &combine.name)
                .finish(),
            Self::ReduceAlong {
                identity,
                combine,
                axes,
            } => f
                .debug_struct("ReduceAlong")
                .field("identity", &identity())
                .field("combine", &combine.name)
                .field("axes", axes)
                .finish(),
            Self::Grid(rules) => f.debug_tuple("Grid").field(rules).finish(),
        }
    }
}

/// A kernel that is linked. The macro submits one for each.
#[derive(Debug)]
#[doc(hidden)]
pub struct LinkedKernel(pub &'static FunctionKernel);

inventory::collect!(LinkedKernel);

/// Returns all kernels of device functions that are linked, in no order.
pub fn linked() -> impl Iterator<Item = &'static FunctionKernel> {
    let registrations = inventory::iter::<LinkedKernel>.into_iter();
    registrations.map(|LinkedKernel(kernel)| *kernel)
}

/// What runs the kernels `….gpu`: the crate for a kind of GPU submits one.
#[derive(Debug)]
pub struct Launcher {
    /// Puts a kernel on a stream. The operands of the frame are the stream, the operands of the
    /// function, the result, and a chain; its result is a chain.
    pub launch: fn(&'static FunctionKernel, &mut KernelFrame<'_>) -> Result<(), Error>,
}

inventory::collect!(Launcher);

/// What runs ops of device functions on GPUs: the crate for a kind of GPU submits one.
#[cfg(feature = "core")]
#[derive(Debug)]
pub struct OpLauncher {
    /// Runs the kernel as an op: its operands and its result are tensors on the device of the call.
    pub launch: fn(&'static FunctionKernel, &mut tfrt_core::OpCall<'_>) -> Result<(), Error>,
}

#[cfg(feature = "core")]
inventory::collect!(OpLauncher);

/// Launches a kernel on a GPU.
///
/// # Errors
/// If no launcher is linked; those of the launcher.
#[doc(hidden)]
pub fn launch(kernel: &'static FunctionKernel, frame: &mut KernelFrame<'_>) -> Result<(), Error> {
    match inventory::iter::<Launcher>.into_iter().next() {
        Some(launcher) => (launcher.launch)(kernel, frame),
        None => Err(not_linked(kernel)),
    }
}

/// Runs an op on a GPU.
///
/// # Errors
/// If no launcher is linked; those of the launcher.
#[cfg(feature = "core")]
#[doc(hidden)]
pub fn launch_op(
    kernel: &'static FunctionKernel,
    call: &mut tfrt_core::OpCall<'_>,
) -> Result<(), Error> {
    match inventory::iter::<OpLauncher>.into_iter().next() {
        Some(launcher) => (launcher.launch)(kernel, call),
        None => Err(not_linked(kernel)),
    }
}

#[cold]
fn not_linked(kernel: &FunctionKernel) -> Error {
    Error::new(format!(
        "`{}` cannot run on a GPU: the crate `tfrt-gpu` is not linked",
        kernel.name
    ))
    .with_code(ErrorCode::Unimplemented)
}

/// Returns the metadata of the result for tensors of this metadata.
///
/// # Errors
/// If an element type is another one, or the shapes do not fit.
pub fn metadata(
    kernel: &FunctionKernel,
    operands: &[&TensorMetadata],
) -> Result<TensorMetadata, Error> {
    for (operand, parameter) in operands.iter().zip(kernel.function.parameters) {
        let expected = parameter.ty.dtype();
        if operand.dtype != expected {
            return Err(Error::new(format!(
                "`{}`: expected {expected} for `{}`, found {}",
                kernel.name, parameter.name, operand.dtype
            ))
            .with_code(ErrorCode::InvalidArgument));
        }
    }
    let shapes: Vec<&[usize]> = operands.iter().map(|operand| &*operand.extents).collect();
    let dtype = kernel.function.result.dtype();
    match kernel.form {
        KernelForm::Elementwise => {
            let broadcast = CommonShape::new(kernel.name, &shapes)?;
            Ok(TensorMetadata::new(dtype, broadcast.shape()))
        }
        KernelForm::Reduce { .. } => {
            check_equal(kernel, &shapes)?;
            Ok(TensorMetadata::new(dtype, []))
        }
        KernelForm::ReduceAlong { axes, .. } => {
            check_equal(kernel, &shapes)?;
            let extents = shapes.first().copied().unwrap_or_default();
            let plan = AxesPlan::new(kernel.name, axes, extents)?;
            Ok(TensorMetadata::new(dtype, &plan.extents[..]))
        }
        KernelForm::Grid(rules) => {
            let plan = grid::plan(kernel, rules, &shapes)?;
            Ok(TensorMetadata::new(dtype, &plan.extents[..]))
        }
    }
}

/// Refuses operands of a reduction whose shapes differ.
///
/// # Errors
/// Names two of them.
pub fn check_equal(kernel: &FunctionKernel, shapes: &[&[usize]]) -> Result<(), Error> {
    let Some((first, rest)) = shapes.split_first() else {
        return Ok(());
    };
    match rest.iter().find(|shape| *shape != first) {
        None => Ok(()),
        Some(other) => Err(Error::new(format!(
            "`{}`: expected operands of one shape, found {first:?} and {other:?}",
            kernel.name
        ))
        .with_code(ErrorCode::InvalidArgument)),
    }
}

/// The steps of a reduction: each lane combines its elements in order, each block its lanes, and
/// the last step the blocks. They depend on the number of elements alone, so that every device
/// combines in the same order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReductionPlan {
    /// The number of blocks, each of as many lanes as a block has threads.
    pub num_blocks: u32,
}

/// The elements of a lane before there is another block.
const ELEMENTS_PER_LANE: usize = 16;

/// Enough threads for the largest GPUs.
const MAX_BLOCKS: usize = 1024;

impl ReductionPlan {
    /// Returns the plan for a number of elements.
    ///
    /// ```
    /// use tfrt_device::kernel::ReductionPlan;
    ///
    /// assert_eq!(ReductionPlan::new(0).num_blocks, 1);
    /// assert_eq!(ReductionPlan::new(4097).num_blocks, 2);
    /// assert_eq!(ReductionPlan::new(usize::MAX).num_blocks, 1024);
    /// ```
    #[must_use]
    pub fn new(count: usize) -> Self {
        let elements = crate::ptx::BLOCK_THREADS as usize * ELEMENTS_PER_LANE;
        Self {
            num_blocks: count.div_ceil(elements).clamp(1, MAX_BLOCKS) as u32,
        }
    }
}
