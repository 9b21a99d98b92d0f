//! Kernels as PTX, the assembly language of CUDA's kernels.
//!
//! [`emit`] writes a module for one kernel and one GPU. No compiler is needed: the driver assembles
//! the text when it loads the module. Every operation names its rounding (`mul.rn`, never `mul`),
//! so the assembler does not fuse multiplications and additions.
//!
//! ```
//! use tfrt_device::kernel::{FunctionKernel, KernelForm};
//! use tfrt_device::math::sigmoid;
//! use tfrt_device::ptx::{self, OperandLayout, GpuTarget, LaunchForm};
//! use tfrt_device::tree::DeviceFunction;
//!
//! static SIGMOID: FunctionKernel = FunctionKernel {
//!     name: "my.sigmoid",
//!     form: KernelForm::Elementwise,
//!     function: <sigmoid as DeviceFunction>::FUNCTION,
//! };
//! let variant = LaunchForm::Elementwise(vec![OperandLayout::Linear]);
//! let text = ptx::emit(&SIGMOID, &variant, GpuTarget::for_capability(8, 0)?)?;
//! assert!(text.starts_with(".version 7.0\n.target sm_80\n"));
//! assert!(text.contains(".visible .entry my_sigmoid("));
//! # Ok::<(), tfrt_support::Error>(())
//! ```

mod along;

mod body;

mod entry;

mod grid;

mod memory;

use std::fmt::Write;

use tfrt_support::{Error, ErrorCode};

use crate::kernel::{FunctionKernel, KernelForm};

use entry::Entry;

/// The number of threads of a block.
pub const BLOCK_THREADS: u32 = 256;

/// The largest number of dimensions of a broadcast, after neighbours were merged.
pub const MAX_RANK: usize = 16;

/// A GPU that PTX is written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GpuTarget {
    /// The architecture: `90` for `sm_90`.
    arch: u32,
    /// The version of PTX, times 10.
    version: u32,
}

/// Architectures, and the first version of PTX that knows them and all instructions that are used.
const TARGETS: &[GpuTarget] = &[
    target(70, 70),
    target(72, 70),
    target(75, 70),
    target(80, 70),
    target(86, 71),
    target(87, 74),
    target(89, 78),
    target(90, 78),
    target(100, 86),
    target(103, 88),
    target(120, 87),
    target(121, 88),
];

const fn target(arch: u32, version: u32) -> GpuTarget {
    GpuTarget { arch, version }
}

impl GpuTarget {
    /// Returns the target for a device of this compute capability. For a newer one than those that
    /// are known, it is the newest known one: drivers translate PTX for later devices.
    ///
    /// # Errors
    /// For devices before 7.0.
    pub fn for_capability(major: i32, minor: i32) -> Result<Self, Error> {
        let arch = i64::from(major) * 10 + i64::from(minor);
        let known = TARGETS.iter().rev();
        let mut fitting = known.filter(|target| i64::from(target.arch) <= arch);
        fitting.next().copied().ok_or_else(|| {
            Error::new(format!(
                "device functions need a GPU of compute capability 7.0 or later, found \
                 {major}.{minor}"
            ))
            .with_code(ErrorCode::Unimplemented)
        })
    }
}

/// The position of the elements of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OperandLayout {
    /// One for each element of the result, in its order.
    Linear,
    /// A single one.
    Single,
}

/// The form of a launch. Each has an entry of its own.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum LaunchForm {
    /// Element by element. Parameters: the number of elements, the result, the operands.
    Elementwise(Vec<OperandLayout>),
    /// With broadcasting of this many dimensions. Further parameters: the extents but for the
    /// outermost, and the strides of each operand, outermost first, in elements.
    Broadcast {
        /// The number of dimensions, at least 1.
        rank: usize,
        /// Whether the result has less than 2³² elements.
        is_narrow: bool,
    },
    /// The first step of a reduction: a result for each block. Parameters as for
    /// [`LaunchForm::Elementwise`].
    Partial,
    /// The last step: one block combines the results of the blocks. Parameters: their number, the
    /// result, and the results of the blocks.
    Final,
    /// A reduction along axes. Further parameters than those of [`LaunchForm::Elementwise`]: the
    /// number of elements of a result, then the extents and the strides of the groups of
    /// [`AxesPlan`](crate::axes::AxesPlan): those that are kept, then those that are reduced.
    Along {
        /// The number of groups that are kept.
        kept: usize,
        /// The number of groups that are reduced.
        reduced: usize,
        /// Whether [`LANES`](crate::axes::LANES) neighbouring threads compute each result, or one.
        is_shared: bool,
    },
    /// Before a grid kernel with an initial value: every element of the result takes it.
    /// Parameters: the number of elements, and the result.
    Initial,
    /// A grid kernel. Parameters: the result, then the operands; each is followed by its extents,
    /// outermost first. A number is a pointer to it.
    Grid,
}

/// Returns the name of the entry of a kernel.
#[must_use]
pub fn entry_name(kernel: &FunctionKernel) -> String {
    let mut name = String::new();
    for char in kernel.name.chars() {
        match char {
            char if char.is_ascii_alphanumeric() || char == '_' => name.push(char),
            _ => name.push('_'),
        }
    }
    if name.starts_with(|char: char| char.is_ascii_digit()) {
        name.insert(0, '_');
    }
    name
}

/// Returns the text of a module with one entry, [`entry_name`].
///
/// # Errors
/// If the variant is not one of the kernel's form, or the text becomes too long.
pub fn emit(
    kernel: &FunctionKernel,
    variant: &LaunchForm,
    target: GpuTarget,
) -> Result<String, Error> {
    let is_fitting = match variant {
        LaunchForm::Elementwise(_) | LaunchForm::Broadcast { .. } => {
            matches!(kernel.form, KernelForm::Elementwise)
        }
        LaunchForm::Partial | LaunchForm::Final => {
            matches!(kernel.form, KernelForm::Reduce { .. })
        }
        LaunchForm::Along { .. } => matches!(kernel.form, KernelForm::ReduceAlong { .. }),
        LaunchForm::Initial | LaunchForm::Grid => matches!(kernel.form, KernelForm::Grid(_)),
    };
    if !is_fitting {
        return Err(Error::new(format!(
            "`{}`: the form of the launch does not match the kernel",
            kernel.name
        ))
        .with_code(ErrorCode::InvalidArgument));
    }
    let entry = Entry::new(kernel, variant)?.write()?;
    let GpuTarget { arch, version } = target;
    let mut text = String::new();
    let (major, minor) = (version / 10, version % 10);
    let written = write!(
        text,
        ".version {major}.{minor}\n.target sm_{arch}\n.address_size 64\n\n{entry}"
    );
    debug_assert!(written.is_ok(), "a string takes any text");
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_the_newest_that_the_device_can_run() {
        let arch = |major, minor| GpuTarget::for_capability(major, minor).map(|target| target.arch);
        let known = [(7, 0), (8, 9), (9, 1), (13, 0)].map(|(major, minor)| arch(major, minor));
        assert_eq!(
            known.map(Result::ok),
            [Some(70), Some(89), Some(90), Some(121)]
        );
        let error = arch(6, 1).unwrap_err();
        assert!(error.message().ends_with("found 6.1"), "{error}");
        assert!(arch(i32::MIN, i32::MIN).is_err());
    }
}
