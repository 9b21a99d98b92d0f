//! Repetition and reduction of rows, and windows.

use tfrt::prelude::*;
use tfrt_compute::assemble;
use tfrt_compute::reduction::{self, Axes, Reduction};
use tfrt_tensor::{DenseHostTensor, Shape, Sizes, TensorError};

use crate::numeric::{Number, no_memory, start_whole};

fn cannot_allocate_result(error: TensorError) -> Error {
    no_memory("cannot allocate result tensor", error)
}

/// Returns a tensor of the given shape whose rows all equal the given one.
///
/// # Errors
/// `broadcast input tensor dimension and target shape mismatch: A vs. B`,
/// `cannot allocate result tensor`.
#[tfrt_kernel("tfrt_test.broadcast.{T}.{R}", T = [f32, i32, i64], R = [2, 3], results(wide))]
fn broadcast<T: Number, const R: usize>(
    row: &DenseHostTensor,
    shape: &Sizes,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    let [row_len] = row.shape().to_array()?;
    let shape = shape.to_shape()?;
    let target: [usize; R] = shape.to_array()?;
    if target.last() != Some(&row_len) {
        return Err(Error::new(format!(
            "broadcast input tensor dimension and target shape mismatch: {} vs. {shape}",
            row.shape()
        )));
    }
    let mut wide = DenseHostTensor::zeroed(ctx.allocator(), T::DTYPE, shape)
        .map_err(cannot_allocate_result)?;
    assemble::repeat_row(&row.elements::<T>()?, &mut wide.elements_mut::<T>()?)?;
    Ok(wide)
}

/// Returns the mean of a vector; that of integers is rounded towards zero.
///
/// # Errors
/// `cannot allocate result tensor`.
#[tfrt_kernel("tfrt_test.reduce_mean.{T}.1", T = [f32, i32, i64], results(mean))]
fn reduce_mean<T: Number>(
    vector: &DenseHostTensor,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    let shape: [usize; 1] = vector.shape().to_array()?;
    let mut mean = DenseHostTensor::zeroed(ctx.allocator(), T::DTYPE, Shape::scalar())
        .map_err(cannot_allocate_result)?;
    Axes::new(&shape, &[0])?.reduce(
        Reduction::Mean,
        &vector.elements::<T>()?,
        &mut mean.elements_mut::<T>()?,
    )?;
    Ok(mean)
}

/// Returns the index of the greatest element of each row of a matrix, as numbers of type i32.
///
/// # Errors
/// `Cannot allocate result tensor.`
#[tfrt_kernel("tfrt_test.argmax.{T}.2", T = [f32, i32, i64], results(places))]
fn argmax<T: Number>(matrix: &DenseHostTensor, ctx: &ExecutionContext) -> Result<DenseHostTensor> {
    let shape: [usize; 2] = matrix.shape().to_array()?;
    let mut places = DenseHostTensor::zeroed(ctx.allocator(), DType::I32, Shape::new(&shape[..1])?)
        .map_err(|_| Error::new("Cannot allocate result tensor."))?;
    reduction::argmax(
        &shape,
        1,
        &matrix.elements::<T>()?,
        &mut places.elements_mut::<i32>()?,
    )?;
    Ok(places)
}

/// Copies the window of a tensor that starts at the given coordinates and has the shape of the
/// output.
///
/// # Errors
/// `the size of 'begin_index' should match the input tensor rank`; if the window does not lie
/// within the tensor.
#[tfrt_kernel("tfrt_test.slice_inplace.{T}.3", T = [f32, i32, i64], results(out_chain))]
fn slice_inplace<T: Number>(
    input: &DenseHostTensor,
    begin: &DenseHostTensor,
    _in_chain: Chain,
    output: &mut DenseHostTensor,
    ctx: &ExecutionContext,
) -> Result<AsyncValueRef<Chain>> {
    let shape: [usize; 3] = input.shape().to_array()?;
    let extents: [usize; 3] = output.shape().to_array()?;
    if begin.shape().dims() != [shape.len()] {
        return Err(Error::new(
            "the size of 'begin_index' should match the input tensor rank",
        ));
    }
    let begin = begin
        .elements::<i64>()?
        .iter()
        .map(|&index| usize::try_from(index).map_err(|_| negative(index)))
        .collect::<Result<Vec<_>>>()?;
    let input = input.elements_owned::<T>()?;
    let mut output = output.elements_mut_owned::<T>()?;
    start_whole(ctx, output.len(), move || {
        Ok(assemble::slice(
            &shape,
            &begin,
            &extents,
            &input,
            &mut output,
        )?)
    })
}

#[cold]
fn negative(index: i64) -> Error {
    Error::new(format!("a window cannot begin at {index}")).with_code(ErrorCode::InvalidArgument)
}
