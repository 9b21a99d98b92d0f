//! Batch normalisation with given statistics. For its fusion with a convolution, see
//! [`convolution`](super::convolution).

use tfrt::prelude::*;
use tfrt_compute::normalization::BatchNorm;
use tfrt_tensor::DenseHostTensor;

use crate::numeric::start_rows;

/// Computes `scale · (x - mean) / √(variance + epsilon) + bias` for each channel, in place.
///
/// # Errors
/// `parameter does not match the input channel number`.
#[tfrt_kernel("eigen.batch_norm.f32", results(out_chain), attribute_names = free)]
#[expect(clippy::too_many_arguments, reason = "they are the operands of the op")]
fn batch_norm(
    tensor: &mut DenseHostTensor,
    scale: &DenseHostTensor,
    bias: &DenseHostTensor,
    mean: &DenseHostTensor,
    variance: &DenseHostTensor,
    _in_chain: Chain,
    #[attr] epsilon: f32,
    ctx: &ExecutionContext,
) -> Result<AsyncValueRef<Chain>> {
    let num_channels = tensor.shape().dims().last().copied();
    let parameters = [scale, bias, mean, variance];
    let fits = |parameter: &DenseHostTensor| {
        parameter.shape().rank() == 1 && Some(parameter.num_elements()) == num_channels
    };
    let Some(num_channels) = num_channels.filter(|_| parameters.into_iter().all(fits)) else {
        return Err(Error::new(
            "parameter does not match the input channel number",
        ));
    };
    let scale = scale.elements_owned()?;
    let offset = bias.elements_owned()?;
    let mean = mean.elements_owned()?;
    let variance = variance.elements_owned()?;
    let tensor = tensor.elements_mut_owned()?;
    let operations = tensor.len().saturating_mul(2);
    start_rows(ctx, tensor, num_channels, operations, move |_, rows| {
        let norm = BatchNorm {
            scale: &scale,
            offset: &offset,
            mean: &mean,
            variance: &variance,
            epsilon,
        };
        norm.apply_in_place(rows)
            .expect("there is a parameter for each channel");
    })
}
