//! Constants.

use half::f16;
use tfrt::prelude::*;
use tfrt::support::complex::Complex;
use tfrt_tensor::{DenseHostTensor, ScalarHostTensor, Shape};

use super::{invalid, unsupported, with_dtype};
use crate::dense_tensors::create::from_attribute;

/// Returns a constant tensor.
///
/// # Errors
/// ``tf.Const needs a `value` dense attribute``,
/// `dtype attribute mismatch with expected tensor dtype`.
#[tfrt_op("tf.Const", metadata = const_metadata)]
fn constant(
    #[attr] dtype: Option<DType>,
    #[attr] value: Option<DenseView<'_>>,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    const_metadata(dtype, value)?;
    match value {
        Some(value) => from_attribute(value, ctx),
        None => Err(no_value()),
    }
}

fn const_metadata(dtype: Option<DType>, value: Option<DenseView<'_>>) -> Result<TensorMetadata> {
    let value = value.ok_or_else(no_value)?;
    if dtype.is_some_and(|dtype| dtype != value.dtype()) {
        return Err(invalid(
            "dtype attribute mismatch with expected tensor dtype",
        ));
    }
    let shape = Shape::from_signed(value.dims())?;
    Ok(TensorMetadata::new(value.dtype(), shape.dims()))
}

#[cold]
fn no_value() -> Error {
    invalid("tf.Const needs a `value` dense attribute")
}

/// Returns a scalar tensor of zeros with the shape of another tensor.
///
/// # Errors
/// `unsupported dtype`.
#[tfrt_op("tf.ZerosLike", metadata = zeros_metadata)]
fn zeros_like(x: &DenseHostTensor, #[attr("T")] dtype: DType) -> Result<ScalarHostTensor> {
    let shape = x.shape().clone();
    with_dtype!(
        dtype,
        T in [u8, u16, u32, u64, i8, i16, i32, i64, f16, f32, f64, Complex<f32>, Complex<f64>]
            => Ok(ScalarHostTensor::new(shape, T::default())),
        else Err(unsupported("unsupported dtype"))
    )
}

fn zeros_metadata(x: &TensorMetadata, dtype: DType) -> TensorMetadata {
    TensorMetadata { dtype, ..x.clone() }
}
