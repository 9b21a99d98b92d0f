//! Two-dimensional convolution, alone and with what is fused onto it: a bias, or a batch normalisation, which is folded into
//! one factor and one summand for each output channel.
//!
//! The filter is rearranged for the processor at each call, into memory that the request is charged for.

use tfrt::prelude::*;
use tfrt_compute::Activation;
use tfrt_compute::convolution::{Conv2dShape, Convolution, ConvolutionOperands};
use tfrt_compute::normalization::BatchNorm;
use tfrt_tensor::DenseHostTensor;

use super::window::{parse_padding, window};
use super::{expect_channels, expect_equal, expect_shape};
use crate::numeric::{start, width, workspace};

/// The shape of the convolution of an input with a filter, both given by their extents.
pub(super) fn shape_of(
    [batch, height, width, in_channels]: [usize; 4],
    [filter_height, filter_width, filter_channels, out_channels]: [usize; 4],
    padding: &str,
    strides: &[i64],
) -> Result<Conv2dShape> {
    let &[row_stride, column_stride] = strides else {
        return Err(Error::new("strides should have 2 elements"));
    };
    let padding = parse_padding(padding)?;
    expect_equal(
        ["input channels", "kernel depth"],
        in_channels,
        filter_channels,
    )?;
    let rows = window(height, filter_height, row_stride, padding)?;
    let columns = window(width, filter_width, column_stride, padding)?;
    Ok(Conv2dShape::new(
        batch,
        rows,
        columns,
        in_channels,
        out_channels,
    )?)
}

/// The extents of the output.
pub(super) fn output_extents(shape: &Conv2dShape) -> [usize; 4] {
    let (rows, columns) = (shape.rows.output, shape.columns.output);
    [shape.batch, rows, columns, shape.out_channels]
}

/// What is applied to each output channel.
#[derive(Default)]
struct Fused {
    scale: Option<Vec<f32>>,
    shift: Option<Vec<f32>>,
    activation: Activation,
}

/// The tensors of a convolution, with its shape.
struct Conv<'a> {
    input: &'a DenseHostTensor,
    filter: &'a DenseHostTensor,
    shape: Conv2dShape,
}

impl<'a> Conv<'a> {
    fn new(
        [input, filter]: [&'a DenseHostTensor; 2],
        output: &DenseHostTensor,
        padding: &str,
        strides: &[i64],
    ) -> Result<Self> {
        let extents = [input.shape().to_array()?, filter.shape().to_array()?];
        let shape = shape_of(extents[0], extents[1], padding, strides)?;
        let names = ["output tensor shape", "computed output shape"];
        expect_shape(names, output, output_extents(&shape))?;
        Ok(Self {
            input,
            filter,
            shape,
        })
    }

    fn start(
        &self,
        ctx: &ExecutionContext,
        output: &mut DenseHostTensor,
        fused: Fused,
    ) -> Result<AsyncValueRef<Chain>> {
        let plan = Convolution::new(self.shape, width(ctx));
        let mut filter = workspace::<f32>(ctx.allocator(), plan.packed_filter_len())?;
        plan.pack_filter(&self.filter.elements::<f32>()?, &mut filter.elements_mut()?)?;
        let filter = filter.elements_owned::<f32>()?;
        let input = self.input.elements_owned::<f32>()?;
        let output = output.elements_mut_owned()?;
        start(ctx, plan, output, move |job, block, workspace| {
            let mut operands =
                ConvolutionOperands::new(&input, &filter).activation(fused.activation);
            if let Some(scale) = &fused.scale {
                operands = operands.scale(scale);
            }
            if let Some(shift) = &fused.shift {
                operands = operands.shift(shift);
            }
            job.run_block(block, operands, workspace)
        })
    }
}

/// Gives the convolution of images with a filter.
///
/// # Errors
/// `strides should have 2 elements`, `Unknown padding type P`, `Stride must be > 0, but got N`,
/// `Dimensions does not match: input channels is I and kernel depth is D`,
/// `Tensor shapes do not match: output tensor shape is A and computed output shape is B`.
#[tfrt_kernel("eigen.conv2d.f32", results(out_chain))]
fn conv2d(
    input: &DenseHostTensor,
    filter: &DenseHostTensor,
    output: &mut DenseHostTensor,
    _in_chain: Chain,
    #[attr] padding: &str,
    #[attr] strides: &[i64],
    ctx: &ExecutionContext,
) -> Result<AsyncValueRef<Chain>> {
    Conv::new([input, filter], output, padding, strides)?.start(ctx, output, Fused::default())
}

/// Gives the convolution of images with a filter, and adds a bias to each channel.
///
/// # Errors
/// Those of `eigen.conv2d.f32`, and `Dimensions does not match: bias shape is N and output channels size is M`.
#[tfrt_kernel("eigen.conv2d.bias.f32", results(out_chain))]
#[expect(clippy::too_many_arguments, reason = "they are the operands of the op")]
fn conv2d_bias(
    input: &DenseHostTensor,
    filter: &DenseHostTensor,
    bias: &DenseHostTensor,
    output: &mut DenseHostTensor,
    _in_chain: Chain,
    #[attr] padding: &str,
    #[attr] strides: &[i64],
    ctx: &ExecutionContext,
) -> Result<AsyncValueRef<Chain>> {
    let conv = Conv::new([input, filter], output, padding, strides)?;
    let names = ["bias shape", "output channels size"];
    expect_channels(names, bias, conv.shape.out_channels)?;
    let fused = Fused {
        shift: Some(bias.elements::<f32>()?.to_vec()),
        ..Fused::default()
    };
    conv.start(ctx, output, fused)
}

/// The batch normalisation of so many channels, as a factor and a summand for each.
fn fold(
    num_channels: usize,
    [scale, offset, mean, variance]: [&DenseHostTensor; 4],
    epsilon: f32,
    activation: Activation,
) -> Result<Fused> {
    for (name, parameter) in [
        ("scale shape", scale),
        ("offset shape", offset),
        ("estimated mean shape", mean),
        ("estimated var shape", variance),
    ] {
        expect_channels([name, "output channels size"], parameter, num_channels)?;
    }
    let norm = BatchNorm {
        scale: &scale.elements()?,
        offset: &offset.elements()?,
        mean: &mean.elements()?,
        variance: &variance.elements()?,
        epsilon,
    };
    let (mut factors, mut summands) = (vec![0.0; num_channels], vec![0.0; num_channels]);
    norm.fold(&mut factors, &mut summands)?;
    Ok(Fused {
        scale: Some(factors),
        shift: Some(summands),
        activation,
    })
}

/// Gives the convolution of images with a filter, normalised: `(x - mean) / √(variance + epsilon) · scale + offset`.
///
/// # Errors
/// Those of `eigen.conv2d.f32`, and `Dimensions does not match: P is N and output channels size is M`, where P is `scale shape`,
/// `offset shape`, `estimated mean shape` or `estimated var shape`.
#[tfrt_kernel("eigen.conv2d.batch_norm.f32", results(out_chain))]
#[expect(clippy::too_many_arguments, reason = "they are the operands of the op")]
fn conv2d_batch_norm(
    input: &DenseHostTensor,
    filter: &DenseHostTensor,
    scale: &DenseHostTensor,
    offset: &DenseHostTensor,
    mean: &DenseHostTensor,
    variance: &DenseHostTensor,
    output: &mut DenseHostTensor,
    _in_chain: Chain,
    #[attr] epsilon: f32,
    #[attr] padding: &str,
    #[attr] strides: &[i64],
    ctx: &ExecutionContext,
) -> Result<AsyncValueRef<Chain>> {
    let conv = Conv::new([input, filter], output, padding, strides)?;
    let parameters = [scale, offset, mean, variance];
    let fused = fold(
        conv.shape.out_channels,
        parameters,
        epsilon,
        Activation::None,
    )?;
    conv.start(ctx, output, fused)
}

/// Gives the convolution of images with a filter, normalised as by `eigen.conv2d.batch_norm.f32`, with zero for what is negative.
///
/// # Errors
/// Those of `eigen.conv2d.batch_norm.f32`.
#[tfrt_kernel("eigen.conv2d.batch_norm.relu.f32", results(out_chain))]
#[expect(clippy::too_many_arguments, reason = "they are the operands of the op")]
fn conv2d_batch_norm_relu(
    input: &DenseHostTensor,
    filter: &DenseHostTensor,
    scale: &DenseHostTensor,
    offset: &DenseHostTensor,
    mean: &DenseHostTensor,
    variance: &DenseHostTensor,
    output: &mut DenseHostTensor,
    _in_chain: Chain,
    #[attr] epsilon: f32,
    #[attr] padding: &str,
    #[attr] strides: &[i64],
    ctx: &ExecutionContext,
) -> Result<AsyncValueRef<Chain>> {
    let conv = Conv::new([input, filter], output, padding, strides)?;
    let parameters = [scale, offset, mean, variance];
    let fused = fold(
        conv.shape.out_channels,
        parameters,
        epsilon,
        Activation::Relu,
    )?;
    conv.start(ctx, output, fused)
}
