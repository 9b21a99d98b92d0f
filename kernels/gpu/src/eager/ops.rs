//! The ops of this crate.
//!
//! Their metadata functions are those of the same ops for the processor, which `tfrt-kernels` has.
//!
//! | module | ops |
//! |---|---|
//! | `library` | functions of elements, comparisons, choices and reductions of the CPU library |
//! | `element_wise` | `tf.Relu`, `tf.Tanh`, `tf.Cast`, `tf.AddV2`, `tf.BiasAdd`, batch normalization |
//! | `products` | `tf.MatMul` |
//! | `images` | `tf.Conv2D`, `tf.MaxPool` |
//! | `reductions` | `tf.Softmax`, `tf.Mean`, `tf.ArgMax` |
//! | `rearranging` | `tf.Pad`, `tf.Transpose`, `tf.Slice` |
//! | `constants` | `tf.Const` |
//! | `test` | `tfrt_test.*` |

mod library;

mod element_wise;

mod products;

mod images;

mod reductions;

mod rearranging;

mod constants;

mod test;

mod test_sum;

use tfrt::core::{Implementation, OpFlags, OpFunction, OpRegistration, OperandSet};
use tfrt::ods::SourcePlace;
use tfrt::prelude::*;

use super::call::GpuCall;

/// The place of the channels in images.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Channels {
    First,
    Last,
}

impl Channels {
    /// Reads a data format: channels come first where it begins with `nc`.
    fn of_format(format: Option<&str>) -> Self {
        let start = format.and_then(|format| format.get(..2));
        match start.is_some_and(|start| start.eq_ignore_ascii_case("nc")) {
            true => Self::First,
            false => Self::Last,
        }
    }

    /// Guesses the place from the extents of images, which are often squares.
    fn guessed(dims: &[usize]) -> Option<Self> {
        match *dims {
            [_, _, rows, columns] if rows == columns => Some(Self::First),
            [_, rows, columns, _] if rows == columns => Some(Self::Last),
            _ => None,
        }
    }

    /// Returns the dimension of the channels of tensors of a rank of at least 2.
    fn dimension(self, rank: usize) -> usize {
        match self {
            Self::First => 1,
            Self::Last => rank - 1,
        }
    }

    /// Returns the first of the two spatial dimensions of images.
    fn first_spatial(self) -> usize {
        match self {
            Self::First => 2,
            Self::Last => 1,
        }
    }
}

/// Returns the registration of an op whose second operand is needed in host memory.
const fn with_host_operand(name: &'static str, function: OpFunction) -> OpRegistration {
    with_host_operands(name, function, OperandSet::NONE.with(1))
}

/// Returns the registration of an op that needs these operands in host memory.
const fn with_host_operands(
    name: &'static str,
    function: OpFunction,
    host_operands: OperandSet,
) -> OpRegistration {
    OpRegistration {
        device_type: "gpu",
        flags: OpFlags::NO_SIDE_EFFECTS,
        implementation: Implementation::Function(function),
        host_operands,
        place: SourcePlace {
            file: file!(),
            line: line!(),
        },
        ..OpRegistration::new(name)
    }
}

#[cold]
fn invalid(message: impl Into<String>) -> Error {
    Error::new(message).with_code(ErrorCode::InvalidArgument)
}

/// Returns the integers of a tensor of i32 or i64.
fn integers(tensor: &DenseHostTensor) -> Result<Vec<i64>> {
    Ok(match tensor.dtype() {
        DType::I32 => tensor
            .elements::<i32>()?
            .iter()
            .copied()
            .map(i64::from)
            .collect(),
        _ => tensor.elements::<i64>()?.to_vec(),
    })
}

/// Returns the integers of an operand in host memory.
fn host_integers(call: &GpuCall<'_, '_>, index: usize, name: &str) -> Result<Vec<i64>> {
    let op = call.op_call().name();
    let tensor = call
        .host_tensor(index)?
        .ok_or_else(|| invalid(format!("`{op}`: expected `{name}` in host memory")))?;
    match tensor.dtype() {
        DType::I32 | DType::I64 => integers(tensor),
        dtype => Err(invalid(format!(
            "`{op}`: expected `{name}` of type i32 or i64, found {dtype}"
        ))),
    }
}

/// Returns the integers of an attribute, whose elements are i32 or i64.
fn integers_of_attribute(dense: DenseView<'_>) -> Option<Vec<i64>> {
    match dense.dtype() {
        DType::I32 => {
            let numbers = dense.elements::<i32>().ok()?;
            Some(numbers.iter().copied().map(i64::from).collect())
        }
        DType::I64 => dense.elements::<i64>().ok().map(<[i64]>::to_vec),
        _ => None,
    }
}
