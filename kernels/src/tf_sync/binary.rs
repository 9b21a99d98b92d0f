//! Arithmetic on two tensors. Tensors with a single element and extents of one are broadcast to the
//! shape of the output.
//!
//! An operand may be a scalar tensor. If both are, the output is one, too.

use half::f16;
use tfrt::prelude::*;
use tfrt_compute::assemble;
use tfrt_compute::binary::{self, Binary};
use tfrt_compute::broadcast::Broadcast;
use tfrt_tensor::{DenseHostTensor, Element, ScalarHostTensor, Shape};

use crate::numeric::Number;

/// Computes `out = lhs + rhs`; integers wrap around.
///
/// # Errors
/// `Unsupported operand types`, `Unsupported binary kernel broadcasting: lhs=A rhs=B out=C`,
/// `argment rank must be smaller than the result rank`,
/// `Can't broadcast argument dim: index=I arg=A res=R`.
#[tfrt_kernel(
    "tf_sync.AddV2.{T}",
    T = [u8, u16, u32, u64, i8, i16, i32, i64, f16, f32, f64],
    raw,
    sync,
    operands(lhs: "!t.tensor", rhs: "!t.tensor", out: mut "!t.tensor")
)]
fn add<T: Number>(frame: &mut KernelFrame<'_>) -> Result<()> {
    run::<T>(Binary::Add, frame)
}

/// Computes `out = lhs · rhs`; integers wrap around.
///
/// # Errors
/// Those of `tf_sync.AddV2.f32`.
#[tfrt_kernel(
    "tf_sync.Mul.{T}",
    T = [u8, u16, u32, u64, i8, i16, i32, i64, f16, f32, f64],
    raw,
    sync,
    operands(lhs: "!t.tensor", rhs: "!t.tensor", out: mut "!t.tensor")
)]
fn mul<T: Number>(frame: &mut KernelFrame<'_>) -> Result<()> {
    run::<T>(Binary::Mul, frame)
}

/// Computes `out = lhs / rhs`. Integers round towards zero; division by zero yields zero.
///
/// # Errors
/// Those of `tf_sync.AddV2.f32`.
#[tfrt_kernel(
    "tf_sync.RealDiv.{T}",
    T = [u8, u16, u32, u64, i8, i16, i32, i64, f16, f32, f64],
    raw,
    sync,
    operands(lhs: "!t.tensor", rhs: "!t.tensor", out: mut "!t.tensor")
)]
fn real_div<T: Number>(frame: &mut KernelFrame<'_>) -> Result<()> {
    run::<T>(Binary::Div, frame)
}

/// Computes `out = lhs - rhs`; integers wrap around.
///
/// # Errors
/// Those of `tf_sync.AddV2.f32`.
#[tfrt_kernel(
    "tf_sync.Sub.{T}",
    T = [u8, u16, u32, u64, i8, i16, i32, i64, f16, f32, f64],
    raw,
    sync,
    operands(lhs: "!t.tensor", rhs: "!t.tensor", out: mut "!t.tensor")
)]
fn sub<T: Number>(frame: &mut KernelFrame<'_>) -> Result<()> {
    run::<T>(Binary::Sub, frame)
}

/// One of the operands that are read.
enum Side {
    Dense(DenseHostTensor),
    Scalar(ScalarHostTensor),
}

impl Side {
    fn read(operand: &AnyRef) -> Result<Self> {
        if operand.is::<DenseHostTensor>() {
            Ok(Self::Dense(operand.try_read::<DenseHostTensor>()?.clone()))
        } else if operand.is::<ScalarHostTensor>() {
            Ok(Self::Scalar(
                operand.try_read::<ScalarHostTensor>()?.clone(),
            ))
        } else {
            Err(unsupported_types())
        }
    }

    fn shape(&self) -> &Shape {
        match self {
            Self::Dense(tensor) => tensor.shape(),
            Self::Scalar(tensor) => tensor.shape(),
        }
    }

    /// Returns the shape for broadcasting, and the elements.
    fn with_elements<T: Element, R>(
        &self,
        use_elements: impl FnOnce(&[usize], &[T]) -> Result<R>,
    ) -> Result<R> {
        match self {
            Self::Dense(tensor) => use_elements(tensor.shape().dims(), &tensor.elements::<T>()?),
            Self::Scalar(tensor) => use_elements(&[], &[tensor.value::<T>()?]),
        }
    }
}

#[cold]
fn unsupported_types() -> Error {
    Error::new("Unsupported operand types")
}

fn run<T: Number>(function: Binary, frame: &KernelFrame<'_>) -> Result<()> {
    let (lhs, rhs) = (
        Side::read(frame.argument(0))?,
        Side::read(frame.argument(1))?,
    );
    let out = frame.argument(2);
    if let (Side::Scalar(lhs), Side::Scalar(rhs)) = (&lhs, &rhs) {
        if !out.is::<ScalarHostTensor>() {
            return Err(unsupported_types());
        }
        let mut value = [T::default()];
        binary::apply(function, &[lhs.value()?], &[rhs.value()?], &mut value);
        let mut out = out.try_write::<ScalarHostTensor>()?;
        let [value] = value;
        *out = ScalarHostTensor::new(out.shape().clone(), value);
        return Ok(());
    }
    if !out.is::<DenseHostTensor>() {
        return Err(unsupported_types());
    }
    let mut out = out.try_read::<DenseHostTensor>()?.clone();
    let (lhs_shape, rhs_shape, out_shape) = (lhs.shape(), rhs.shape(), out.shape().clone());
    lhs.with_elements::<T, _>(|lhs_dims, lhs| {
        rhs.with_elements::<T, _>(|rhs_dims, rhs| {
            let is_alike = lhs_dims == out_shape.dims() && rhs_dims == out_shape.dims();
            let is_one_single = lhs.len() == 1 && rhs_dims == out_shape.dims()
                || rhs.len() == 1 && lhs_dims == out_shape.dims();
            if !is_alike && !is_one_single {
                if !(2..=5).contains(&out_shape.rank()) {
                    return Err(Error::new(format!(
                        "Unsupported binary kernel broadcasting: lhs={lhs_shape} rhs={rhs_shape} \
                         out={out_shape}"
                    )));
                }
                expect_stretchable(lhs_dims, out_shape.dims())?;
                expect_stretchable(rhs_dims, out_shape.dims())?;
            }
            // A single element may have any number of extents that are one, more than the output.
            let lhs_dims = if lhs.len() == 1 { &[] } else { lhs_dims };
            let rhs_dims = if rhs.len() == 1 { &[] } else { rhs_dims };
            let mut out = out.elements_mut::<T>()?;
            compute(
                function,
                (lhs_dims, lhs),
                (rhs_dims, rhs),
                (out_shape.dims(), &mut out),
            )
        })
    })
}

/// Checks that a shape can be stretched to another.
fn expect_stretchable(argument: &[usize], result: &[usize]) -> Result<()> {
    let Some(num_leading) = result.len().checked_sub(argument.len()) else {
        return Err(Error::new(
            "argment rank must be smaller than the result rank",
        ));
    };
    for (index, (&found, &expected)) in argument.iter().zip(&result[num_leading..]).enumerate() {
        if found != 1 && found != expected {
            return Err(Error::new(format!(
                "Can't broadcast argument dim: index={index} arg={found} res={expected}"
            )));
        }
    }
    Ok(())
}

/// Computes an output that both sides can be stretched to.
fn compute<T: Number>(
    function: Binary,
    (lhs_dims, lhs): (&[usize], &[T]),
    (rhs_dims, rhs): (&[usize], &[T]),
    (out_dims, out): (&[usize], &mut [T]),
) -> Result<()> {
    if out.is_empty() {
        // What the sides give together may be larger than both of them, and none of it is asked
        // for.
        return Ok(());
    }
    let shapes = Broadcast::new(lhs_dims, rhs_dims)?;
    if shapes.output_len() == out.len() {
        return Ok(binary::broadcast(function, &shapes, lhs, rhs, out)?);
    }
    // Both sides repeat along some dimension: so does what comes of them.
    let mut period = vec![T::default(); shapes.output_len()];
    binary::broadcast(function, &shapes, lhs, rhs, &mut period)?;
    let mut period_dims = vec![1; out_dims.len() - shapes.shape().len()];
    period_dims.extend_from_slice(shapes.shape());
    let multiples: Vec<usize> = out_dims
        .iter()
        .zip(&period_dims)
        .map(|(&to, &from)| to.checked_div(from).unwrap_or(0))
        .collect();
    Ok(assemble::repeat(&period_dims, &multiples, &period, out)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(lhs: (&[usize], &[i32]), rhs: (&[usize], &[i32]), out_dims: &[usize]) -> Vec<i32> {
        let mut out = vec![0; out_dims.iter().product()];
        compute(Binary::Add, lhs, rhs, (out_dims, &mut out)).unwrap();
        out
    }

    #[test]
    fn sides_are_stretched_to_the_output() {
        let column = (&[2, 1][..], &[10, 20][..]);
        assert_eq!(
            add(column, (&[3], &[1, 2, 3]), &[2, 3]),
            [11, 12, 13, 21, 22, 23]
        );
        assert_eq!(add(column, (&[], &[1]), &[2, 2]), [11, 11, 21, 21]);
        assert_eq!(add((&[], &[1]), (&[], &[2]), &[2, 2]), [3; 4]);
        assert_eq!(
            add((&[3], &[1, 2, 3]), (&[1, 3], &[10, 10, 10]), &[2, 3]),
            [11, 12, 13, 11, 12, 13]
        );
    }

    #[test]
    fn shapes_that_cannot_be_stretched_are_errors() {
        let message = |argument, result| {
            expect_stretchable(argument, result).map_err(|error| error.message().to_owned())
        };
        assert_eq!(message(&[1, 3], &[4, 2, 3]), Ok(()));
        assert_eq!(
            message(&[2, 3], &[2, 4]),
            Err("Can't broadcast argument dim: index=1 arg=3 res=4".to_owned())
        );
        assert_eq!(
            message(&[1, 2, 3], &[2, 3]),
            Err("argment rank must be smaller than the result rank".to_owned())
        );
    }
}
