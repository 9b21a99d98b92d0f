//! Convolutions and their gradients by definition: the oracles of the fast ones.
//!
//! Sums go over the filter's rows, columns and input channels in this order, or over images, rows
//! and columns of the output for the gradient of the filter.

use super::shape::Conv2dShape;
use crate::error::{ComputeError, check_len};
use crate::math::Real;

/// Computes `output = input ∗ filter`.
///
/// # Errors
/// If the length of a slice does not match the shape.
pub fn convolution<T: Real>(
    shape: &Conv2dShape,
    input: &[T],
    filter: &[T],
    output: &mut [T],
) -> Result<(), ComputeError> {
    check(shape, input.len(), filter.len(), output.len())?;
    output.fill(T::from(0));
    for_each_product(shape, |x, w, y| output[y] += input[x] * filter[w]);
    Ok(())
}

/// Returns the gradient of the input, from that of the output.
///
/// # Errors
/// If the length of a slice does not match the shape.
pub fn input_gradient<T: Real>(
    shape: &Conv2dShape,
    output_gradient: &[T],
    filter: &[T],
    input_gradient: &mut [T],
) -> Result<(), ComputeError> {
    check(
        shape,
        input_gradient.len(),
        filter.len(),
        output_gradient.len(),
    )?;
    input_gradient.fill(T::from(0));
    for_each_product(shape, |x, w, y| {
        input_gradient[x] += output_gradient[y] * filter[w]
    });
    Ok(())
}

/// Returns the gradient of the filter, from that of the output.
///
/// # Errors
/// If the length of a slice does not match the shape.
pub fn filter_gradient<T: Real>(
    shape: &Conv2dShape,
    output_gradient: &[T],
    input: &[T],
    filter_gradient: &mut [T],
) -> Result<(), ComputeError> {
    check(
        shape,
        input.len(),
        filter_gradient.len(),
        output_gradient.len(),
    )?;
    filter_gradient.fill(T::from(0));
    for_each_product(shape, |x, w, y| {
        filter_gradient[w] += input[x] * output_gradient[y]
    });
    Ok(())
}

fn check(
    shape: &Conv2dShape,
    input: usize,
    filter: usize,
    output: usize,
) -> Result<(), ComputeError> {
    check_len("conv2d", "input", shape.input_len(), input)?;
    check_len("conv2d", "filter", shape.filter_len(), filter)?;
    check_len("conv2d", "output", shape.output_len(), output)
}

/// Visits the places `(input, filter, output)` of all products.
fn for_each_product(shape: &Conv2dShape, mut visit: impl FnMut(usize, usize, usize)) {
    let &Conv2dShape {
        batch,
        rows,
        columns,
        in_channels,
        out_channels,
    } = shape;
    for image in 0..batch {
        for row in 0..rows.output {
            for column in 0..columns.output {
                let pixel = (image * rows.output + row) * columns.output + column;
                for row_tap in 0..rows.size {
                    let Some(source_row) = rows.source(row, row_tap) else {
                        continue;
                    };
                    for column_tap in 0..columns.size {
                        let Some(source_column) = columns.source(column, column_tap) else {
                            continue;
                        };
                        let source =
                            (image * rows.input + source_row) * columns.input + source_column;
                        let tap = row_tap * columns.size + column_tap;
                        for in_channel in 0..in_channels {
                            for out_channel in 0..out_channels {
                                visit(
                                    source * in_channels + in_channel,
                                    (tap * in_channels + in_channel) * out_channels + out_channel,
                                    pixel * out_channels + out_channel,
                                );
                            }
                        }
                    }
                }
            }
        }
    }
}
