//! Gradients of convolution and batch normalisation.

use tfrt::prelude::*;
use tfrt_compute::convolution::{FilterGradient, GradientOperands, InputGradient};
use tfrt_compute::normalization::{BatchNorm, BatchNormGradients, batch_norm_gradients};
use tfrt_tensor::DenseHostTensor;

use super::convolution::{output_extents, shape_of};
use super::{expect_equal, expect_shape, mismatch};
use crate::numeric::{start, start_whole, width, workspace};

/// Returns the gradient of a convolution with respect to its filter. The shape of the filter is
/// that of its gradient.
///
/// # Errors
/// Those of `eigen.conv2d.f32`, and `Tensor shapes do not match: output gradient shape is A and
/// computed output shape is B`.
#[tfrt_kernel("eigen.conv2d.grad.filter.f32", results(out_chain), attribute_names = free)]
fn conv2d_grad_filter(
    output_grad: &DenseHostTensor,
    input: &DenseHostTensor,
    filter_grad: &mut DenseHostTensor,
    _in_chain: Chain,
    #[attr] padding: &str,
    #[attr] strides: &[i64],
    ctx: &ExecutionContext,
) -> Result<AsyncValueRef<Chain>> {
    let extents = [input.shape().to_array()?, filter_grad.shape().to_array()?];
    let shape = shape_of(extents[0], extents[1], padding, strides)?;
    let names = ["output gradient shape", "computed output shape"];
    expect_shape(names, output_grad, output_extents(&shape))?;
    let plan = FilterGradient::new(shape, width(ctx))?;
    let output_grad = output_grad.elements_owned::<f32>()?;
    let input = input.elements_owned::<f32>()?;
    let filter_grad = filter_grad.elements_mut_owned()?;
    start(ctx, plan, filter_grad, move |job, block, workspace| {
        job.run_block(
            block,
            GradientOperands::new(&output_grad, &input),
            workspace,
        )
    })
}

/// Returns the gradient of a convolution with respect to its input. The shape of the input is that
/// of its gradient.
///
/// # Errors
/// Those of `eigen.conv2d.f32`, and `Tensor shapes do not match: output gradient shape is A and
/// computed output shape is B`.
#[tfrt_kernel("eigen.conv2d.grad.input.f32", results(out_chain), attribute_names = free)]
fn conv2d_grad_input(
    output_grad: &DenseHostTensor,
    filter: &DenseHostTensor,
    input_grad: &mut DenseHostTensor,
    _in_chain: Chain,
    #[attr] padding: &str,
    #[attr] strides: &[i64],
    ctx: &ExecutionContext,
) -> Result<AsyncValueRef<Chain>> {
    let extents = [input_grad.shape().to_array()?, filter.shape().to_array()?];
    let shape = shape_of(extents[0], extents[1], padding, strides)?;
    let names = ["output gradient shape", "computed output shape"];
    expect_shape(names, output_grad, output_extents(&shape))?;
    let plan = InputGradient::new(shape, width(ctx))?;
    let mut packed = workspace::<f32>(ctx.allocator(), plan.packed_filter_len())?;
    plan.pack_filter(&filter.elements::<f32>()?, &mut packed.elements_mut()?)?;
    let packed = packed.elements_owned::<f32>()?;
    let output_grad = output_grad.elements_owned::<f32>()?;
    let input_grad = input_grad.elements_mut_owned()?;
    start(ctx, plan, input_grad, move |job, block, workspace| {
        job.run_block(
            block,
            GradientOperands::new(&output_grad, &packed),
            workspace,
        )
    })
}

/// Returns the gradients of a batch normalisation with respect to its input, its scale and its
/// offset, each with a separate chain.
///
/// With n rows of channels, `r = 1 / √(variance + epsilon)` and `xc = input - mean`:
/// `gamma_grad = Σ dy · xc · r`, `beta_grad = Σ dy`,
/// `input_grad = gamma · r · (dy - mean(dy) - xc · r² · mean(dy · xc))`.
///
/// # Errors
/// `Tensor shapes do not match: output_grad shape is A and input_grad shape is B`, and
/// `Dimensions does not match: channels dimension size is N and P is M`, where P is `gamma shape`,
/// `mean shape`, `variance shape`, `gamma_grad shape` or `beta_grad shape`.
#[tfrt_kernel(
    "eigen.batch_norm.grad.f32",
    results(input_chain, gamma_chain, beta_chain),
    attribute_names = free
)]
#[expect(clippy::too_many_arguments, reason = "they are the operands of the op")]
fn batch_norm_grad(
    output_grad: &DenseHostTensor,
    input: &DenseHostTensor,
    gamma: &DenseHostTensor,
    mean: &DenseHostTensor,
    variance: &DenseHostTensor,
    _in_chain: Chain,
    input_grad: &mut DenseHostTensor,
    gamma_grad: &mut DenseHostTensor,
    beta_grad: &mut DenseHostTensor,
    #[attr] epsilon: f32,
    ctx: &ExecutionContext,
) -> Result<(
    AsyncValueRef<Chain>,
    AsyncValueRef<Chain>,
    AsyncValueRef<Chain>,
)> {
    for (name, tensor) in [("input_grad shape", &*input_grad), ("input shape", input)] {
        if tensor.shape() != output_grad.shape() {
            let shapes: [&dyn std::fmt::Display; 2] = [output_grad.shape(), tensor.shape()];
            return Err(mismatch(
                "Tensor shapes do not match",
                ["output_grad shape", name],
                shapes,
            ));
        }
    }
    let num_channels = input.shape().dims().last().copied().unwrap_or(1);
    for (name, parameter) in [
        ("gamma shape", gamma),
        ("mean shape", mean),
        ("variance shape", variance),
        ("gamma_grad shape", &*gamma_grad),
        ("beta_grad shape", &*beta_grad),
    ] {
        let [found] = parameter.shape().to_array()?;
        expect_equal(["channels dimension size", name], num_channels, found)?;
    }
    let (output_grad, input) = (output_grad.elements_owned()?, input.elements_owned()?);
    let gamma = gamma.elements_owned()?;
    let mean = mean.elements_owned()?;
    let variance = variance.elements_owned()?;
    let mut input_grad = input_grad.elements_mut_owned()?;
    let mut gamma_grad = gamma_grad.elements_mut_owned()?;
    let mut beta_grad = beta_grad.elements_mut_owned()?;
    // Half of the work is sums, which all three need.
    let done = start_whole(ctx, input.len().saturating_mul(4), move || {
        let norm = BatchNorm {
            scale: &gamma,
            // It does not enter the gradients.
            offset: &gamma,
            mean: &mean,
            variance: &variance,
            epsilon,
        };
        let gradients = BatchNormGradients {
            input: &mut input_grad,
            gamma: &mut gamma_grad,
            beta: &mut beta_grad,
        };
        Ok(batch_norm_gradients(
            &norm,
            &output_grad,
            &input,
            gradients,
        )?)
    })?;
    Ok((done.clone(), done.clone(), done))
}
