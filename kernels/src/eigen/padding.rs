//! Zero padding of images.

use tfrt::prelude::*;
use tfrt_compute::assemble;
use tfrt_tensor::{DenseHostTensor, Shape};

use crate::numeric::start_whole;

/// Surrounds images with zeros. The attribute gives the number of rows and columns on each side.
///
/// # Errors
/// `ZeroPadding expects padding of length 2`,
/// `ZeroPadding output shape A does not match the expected output shape B`.
#[tfrt_kernel("eigen.zero_padding.f32", results(out_chain), attribute_names = free)]
fn zero_padding(
    input: &DenseHostTensor,
    output: &mut DenseHostTensor,
    _in_chain: Chain,
    #[attr] padding: &[i64],
    ctx: &ExecutionContext,
) -> Result<AsyncValueRef<Chain>> {
    let &[rows, columns] = padding else {
        return Err(Error::new("ZeroPadding expects padding of length 2"));
    };
    let shape @ [batch, height, width, channels] = input.shape().to_array()?;
    let (rows, padded_height) = padded(height, rows)?;
    let (columns, padded_width) = padded(width, columns)?;
    let expected = Shape::new(&[batch, padded_height, padded_width, channels])?;
    if *output.shape() != expected {
        return Err(Error::new(format!(
            "ZeroPadding output shape {} does not match the expected output shape {expected}",
            output.shape()
        )));
    }
    let input = input.elements_owned::<f32>()?;
    let mut output = output.elements_mut_owned::<f32>()?;
    start_whole(ctx, output.len(), move || {
        let padding = [(0, 0), (rows, rows), (columns, columns), (0, 0)];
        Ok(assemble::pad(&shape, &padding, 0.0, &input, &mut output)?)
    })
}

/// Returns the padding of one side, and the extent with that of both.
fn padded(extent: usize, padding: i64) -> Result<(usize, usize)> {
    let side = usize::try_from(padding).ok();
    side.and_then(|side| Some((side, side.checked_mul(2)?.checked_add(extent)?)))
        .ok_or_else(|| {
            Error::new(format!(
                "an image of size {extent} cannot be padded by {padding}"
            ))
            .with_code(ErrorCode::InvalidArgument)
        })
}
