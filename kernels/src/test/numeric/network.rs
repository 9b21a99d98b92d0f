//! The parts of a residual network except products. Numbers have type f32, images the dimensions
//! batch, height, width, channels.

use tfrt::prelude::*;
use tfrt_compute::assemble;
use tfrt_compute::convolution::{Padding, Window};
use tfrt_compute::pooling::Pooling;
use tfrt_compute::reduction::{Axes, Reduction};
use tfrt_compute::softmax::unstabilised_softmax_in_place;
use tfrt_compute::transpose::transpose;
use tfrt_tensor::{DenseHostTensor, Shape};

use crate::numeric::start_whole;

/// Checks that an output has the shape that the operands ask for.
fn expect_output(kernel: &str, output: &DenseHostTensor, expected: &[usize]) -> Result<()> {
    if output.shape().dims() == expected {
        return Ok(());
    }
    Err(Error::new(format!(
        "{kernel} output shape {} does not match the expected output shape {}",
        output.shape(),
        Shape::new(expected)?
    )))
}

#[cold]
fn unlike_input(kernel: &str, output: &DenseHostTensor, input: &DenseHostTensor) -> Error {
    Error::new(format!(
        "{kernel} output shape {} does not match the input shape {}",
        output.shape(),
        input.shape()
    ))
}

/// Returns the greatest element of each window, before the kernel returns.
///
/// A window without an element above the smallest positive normal number yields that number, as in
/// the reference.
///
/// # Errors
/// `MaxPool2D expects pool_size to have 2 elements`,
/// `MaxPool2D expects strides to have 2 elements`, `MaxPool2D padding 'P' is not recognized` unless
/// it is `same` or `valid`, `MaxPool2D output shape A does not match the expected output shape B`.
#[tfrt_kernel("tfrt_test.max_pooling_2d.f32", results(out_chain), attribute_names = free)]
fn max_pooling_2d(
    input: &DenseHostTensor,
    output: &mut DenseHostTensor,
    in_chain: Chain,
    #[attr] padding: &str,
    #[attr] pool_size: &[u32],
    #[attr] strides: &[u32],
) -> Result<Chain> {
    let &[pool_height, pool_width] = pool_size else {
        return Err(Error::new("MaxPool2D expects pool_size to have 2 elements"));
    };
    let &[row_stride, column_stride] = strides else {
        return Err(Error::new("MaxPool2D expects strides to have 2 elements"));
    };
    let padding = match padding {
        "same" => Padding::Same,
        "valid" => Padding::Valid,
        _ => {
            return Err(Error::new(format!(
                "MaxPool2D padding '{padding}' is not recognized"
            )));
        }
    };
    let [batch, height, width, channels] = input.shape().to_array()?;
    let window = |extent, size: u32, stride: u32| {
        Window::new(extent, size as usize, stride as usize, 1, padding)
    };
    let rows = window(height, pool_height, row_stride)?;
    let columns = window(width, pool_width, column_stride)?;
    expect_output(
        "MaxPool2D",
        output,
        &[batch, rows.output, columns.output, channels],
    )?;
    Pooling::new(batch, rows, columns, channels)?.max(
        f32::MIN_POSITIVE,
        &input.elements::<f32>()?,
        &mut output.elements_mut::<f32>()?,
    )?;
    Ok(in_chain)
}

/// Returns the mean of each channel of each image.
///
/// # Errors
/// `Unsupported reduction ranks: input_rank=R reduction_rank=2` if the input is not a batch of
/// images.
#[tfrt_kernel("tfrt_test.global_average_pooling.f32", results(out_chain))]
fn global_average_pooling(
    input: &DenseHostTensor,
    output: &mut DenseHostTensor,
    _in_chain: Chain,
    ctx: &ExecutionContext,
) -> Result<AsyncValueRef<Chain>> {
    const REDUCED: [isize; 2] = [1, 2];
    if input.shape().rank() != 4 {
        return Err(Error::new(format!(
            "Unsupported reduction ranks: input_rank={} reduction_rank={}",
            input.shape().rank(),
            REDUCED.len()
        )));
    }
    let axes = Axes::new(input.shape().dims(), &REDUCED)?;
    output.expect_shape(&Shape::new(&axes.output_shape(false))?)?;
    let input = input.elements_owned::<f32>()?;
    let mut output = output.elements_mut_owned::<f32>()?;
    start_whole(ctx, input.len(), move || {
        Ok(axes.reduce(Reduction::Mean, &input, &mut output)?)
    })
}

/// Copies the elements into a tensor of another shape, before the kernel returns.
///
/// # Errors
/// `Flatten output shape A does not match the input shape B` unless the number of elements and the
/// first dimension agree.
#[tfrt_kernel("tfrt_test.flatten.f32", results(out_chain))]
fn flatten(
    input: &DenseHostTensor,
    output: &mut DenseHostTensor,
    in_chain: Chain,
) -> Result<Chain> {
    let first = |tensor: &DenseHostTensor| tensor.shape().dims().first().copied();
    if input.num_elements() != output.num_elements() || first(input) != first(output) {
        return Err(unlike_input("Flatten", output, input));
    }
    output
        .elements_mut::<f32>()?
        .copy_from_slice(&input.elements::<f32>()?);
    Ok(in_chain)
}

/// Surrounds images with zeros, before the kernel returns. The attribute gives the number of rows
/// and columns on each side.
///
/// # Errors
/// `ZeroPadding expects padding of length 2`,
/// `ZeroPadding output shape A does not match the expected output shape B`.
#[tfrt_kernel("tfrt_test.zero_padding.f32", results(out_chain), attribute_names = free)]
fn zero_padding(
    input: &DenseHostTensor,
    output: &mut DenseHostTensor,
    in_chain: Chain,
    #[attr] padding: &[u32],
) -> Result<Chain> {
    let &[rows, columns] = padding else {
        return Err(Error::new("ZeroPadding expects padding of length 2"));
    };
    let (rows, columns) = (rows as usize, columns as usize);
    let shape @ [batch, height, width, channels] = input.shape().to_array()?;
    expect_output(
        "ZeroPadding",
        output,
        &[batch, height + 2 * rows, width + 2 * columns, channels],
    )?;
    assemble::pad(
        &shape,
        &[(0, 0), (rows, rows), (columns, columns), (0, 0)],
        0.0,
        &input.elements::<f32>()?,
        &mut output.elements_mut::<f32>()?,
    )?;
    Ok(in_chain)
}

/// Replaces each element x by eˣ, divided by the sum of these for all elements of the tensor,
/// before the kernel returns.
///
/// The maximum is not subtracted first, so large elements overflow.
#[tfrt_kernel("tfrt_test.softmax_inplace.f32", results(out_chain))]
fn softmax_inplace(tensor: &mut DenseHostTensor, in_chain: Chain) -> Result<Chain> {
    unstabilised_softmax_in_place(&mut tensor.elements_mut::<f32>()?);
    Ok(in_chain)
}

/// Swaps rows and columns of a matrix, before the kernel returns.
///
/// # Errors
/// `TensorTranspose output shape A does not match the input shape B`.
#[tfrt_kernel("tfrt_test.tensor_transpose.f32", results(out_chain))]
fn tensor_transpose(
    input: &DenseHostTensor,
    output: &mut DenseHostTensor,
    in_chain: Chain,
) -> Result<Chain> {
    let shape @ [rows, columns] = input.shape().to_array()?;
    if output.shape().dims() != [columns, rows] {
        return Err(unlike_input("TensorTranspose", output, input));
    }
    transpose(
        &shape,
        &[1, 0],
        &input.elements::<f32>()?,
        &mut output.elements_mut::<f32>()?,
    )?;
    Ok(in_chain)
}

/// Returns the mean of each column of a matrix, before the kernel returns.
///
/// # Errors
/// `MeanAxisZero output shape A does not match the input shape B`.
#[tfrt_kernel("tfrt_test.mean_axis_zero.f32", results(out_chain))]
fn mean_axis_zero(
    input: &DenseHostTensor,
    output: &mut DenseHostTensor,
    in_chain: Chain,
) -> Result<Chain> {
    let shape @ [_, columns] = input.shape().to_array()?;
    if output.shape().dims() != [columns] {
        return Err(unlike_input("MeanAxisZero", output, input));
    }
    Axes::new(&shape, &[0])?.reduce(
        Reduction::Mean,
        &input.elements::<f32>()?,
        &mut output.elements_mut::<f32>()?,
    )?;
    Ok(in_chain)
}

/// Computes `out[i, j, k, l] = in[i, l]`, before the kernel returns. The output may have fewer `i`
/// than the input, or fewer `l`, but not both.
///
/// # Errors
/// `Broadcast2D output shape A does not match the input shape B`.
#[tfrt_kernel("tfrt_test.broadcast_2d.f32", results(out_chain))]
fn broadcast_2d(
    input: &DenseHostTensor,
    output: &mut DenseHostTensor,
    in_chain: Chain,
) -> Result<Chain> {
    let [rows, columns] = input.shape().to_array()?;
    let [first, second, third, last] = output.shape().to_array()?;
    if first > rows || last > columns || (first != rows && last != columns) {
        return Err(unlike_input("Broadcast2D", output, input));
    }
    let (input, mut output) = (input.elements::<f32>()?, output.elements_mut::<f32>()?);
    if output.is_empty() {
        return Ok(in_chain);
    }
    for (row, image) in input
        .chunks_exact(columns)
        .zip(output.chunks_exact_mut(second * third * last))
    {
        assemble::repeat_row(&row[..last], image)?;
    }
    Ok(in_chain)
}
