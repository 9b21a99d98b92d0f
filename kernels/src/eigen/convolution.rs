//! Two-dimensional convolution, alone or fused with a bias or a batch normalisation, which is
//! folded into one factor and one summand for each output channel.
//!
//! The filter is read in the order that suits the processor: kept from earlier runs, or packed on
//! the fly; see [`packed_weights`].
//!
//! The shape alone determines the routine that computes a convolution, and thus the result: 3 × 3
//! windows over images that are large relative to their channels are computed by minimal filtering,
//! all others directly.

use tfrt::prelude::*;
use tfrt_compute::Activation;
use tfrt_compute::ComputeError;
use tfrt_compute::convolution::{
    Conv2dShape, Convolution, ConvolutionOperands, Filter, Padding, Window, Winograd,
};
use tfrt_compute::job::Plan;
use tfrt_compute::normalization::BatchNorm;
use tfrt_tensor::{DenseHostTensor, OwnedElements, OwnedElementsMut};

use super::window::{parse_padding, window};
use super::{expect_channels, expect_equal, expect_shape};
use crate::numeric::{report_work, start, width};
use crate::packed_weights::{self, Order};

/// Returns the shape of the convolution of an input with a filter, both given by their extents.
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

/// Returns the extents of the output.
pub(super) fn output_extents(shape: &Conv2dShape) -> [usize; 4] {
    let (rows, columns) = (shape.rows.output, shape.columns.output);
    [shape.batch, rows, columns, shape.out_channels]
}

/// The function applied to each output channel.
///
/// ```
/// use tfrt_compute::Activation;
/// use tfrt_kernels::eigen::convolution::ConvolutionEpilogue;
///
/// let fused = ConvolutionEpilogue {
///     shift: Some(vec![0.5; 8]),
///     activation: Activation::Relu,
///     ..ConvolutionEpilogue::default()
/// };
/// assert!(!fused.adds_output);
/// ```
#[derive(Clone, Debug, Default)]
pub struct ConvolutionEpilogue {
    /// A factor for each channel.
    pub scale: Option<Vec<f32>>,
    /// A summand for each channel, after the factor.
    pub shift: Option<Vec<f32>>,
    /// Whether the previous content of the output is added.
    pub adds_output: bool,
    /// The last function that is applied.
    pub activation: Activation,
}

impl ConvolutionEpilogue {
    fn operands<'a>(&'a self, input: &'a [f32], filter: Filter<'a>) -> ConvolutionOperands<'a> {
        let mut operands =
            ConvolutionOperands::with_filter(input, filter).activation(self.activation);
        if let Some(scale) = &self.scale {
            operands = operands.scale(scale);
        }
        if let Some(shift) = &self.shift {
            operands = operands.shift(shift);
        }
        if self.adds_output {
            operands = operands.adding_to_output();
        }
        operands
    }
}

/// Filters that are larger than this when they are transformed for minimal filtering are used
/// directly: transforming one that is not kept takes as long as it saves, and keeping it takes room
/// from many others.
const MAX_TRANSFORMED_BYTES: usize = 4 << 20;

/// Returns the plan of minimal filtering, if that is how this convolution is computed.
fn minimal_filtering(shape: &Conv2dShape, width: usize) -> Result<Option<Winograd>, ComputeError> {
    if !Winograd::suits(shape) {
        return Ok(None);
    }
    let plan = Winograd::new(*shape, width)?;
    let transformed_bytes = plan.packed_filter_len().saturating_mul(size_of::<f32>());
    Ok((transformed_bytes <= MAX_TRANSFORMED_BYTES).then_some(plan))
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
        fused: ConvolutionEpilogue,
    ) -> Result<AsyncValueRef<Chain>> {
        let filter = self.filter.elements_owned::<f32>()?;
        let input = self.input.elements_owned::<f32>()?;
        let output = output.elements_mut_owned()?;
        let (shape, width) = (self.shape, width(ctx));
        report_work::<f32>(
            ctx,
            shape.operations(),
            input.len() + filter.len() + output.len(),
        );
        let channels = [shape.in_channels, shape.out_channels];
        if let Some(plan) = minimal_filtering(&shape, width)? {
            let len = plan.packed_filter_len();
            let pack = |packed: &mut [f32]| Ok(plan.pack_filter(&filter, packed)?);
            let order = Order::Winograd(channels);
            let packed = packed_weights::find_or_pack(ctx, &filter, order, len, pack)?;
            let filter = OwnedFilter::Packed(packed);
            return start_convolution(ctx, plan, input, filter, output, fused);
        }
        let plan = Convolution::new(shape, width);
        let rows = shape.rows.size * shape.columns.size * shape.in_channels;
        let order = Order::Convolution([rows, shape.out_channels]);
        let pack = |packed: &mut [f32]| Ok(plan.pack_filter(&filter, packed)?);
        match packed_weights::find(ctx, &filter, order, plan.packed_filter_len(), pack)? {
            Some(packed) => {
                let filter = OwnedFilter::Packed(packed);
                start_convolution(ctx, plan, input, filter, output, fused)
            }
            None => {
                let (plan, filter) = (plan.for_plain_filter(), OwnedFilter::Plain(filter));
                start_convolution(ctx, plan, input, filter, output, fused)
            }
        }
    }
}

/// Starts the convolution of an input with a filter, and of what is fused with it.
///
/// # Errors
/// If the lengths of tensors do not match the shape.
pub fn start_fused(
    [input, filter]: [&DenseHostTensor; 2],
    shape: Conv2dShape,
    output: &mut DenseHostTensor,
    fused: ConvolutionEpilogue,
    ctx: &ExecutionContext,
) -> Result<AsyncValueRef<Chain>> {
    let conv = Conv {
        input,
        filter,
        shape,
    };
    conv.start(ctx, output, fused)
}

/// Starts the convolution of an input with a filter that is packed for [`Convolution`], whatever
/// routine the shape would otherwise select, and of what is fused with it.
///
/// # Errors
/// If the lengths of tensors do not match the shape.
pub fn start_packed(
    [input, packed]: [&DenseHostTensor; 2],
    shape: Conv2dShape,
    output: &mut DenseHostTensor,
    fused: ConvolutionEpilogue,
    ctx: &ExecutionContext,
) -> Result<AsyncValueRef<Chain>> {
    let input = input.elements_owned::<f32>()?;
    let packed = packed.elements_owned::<f32>()?;
    let output = output.elements_mut_owned()?;
    report_work::<f32>(
        ctx,
        shape.operations(),
        input.len() + shape.filter_len() + output.len(),
    );
    let plan = Convolution::new(shape, width(ctx));
    let filter = OwnedFilter::Packed(packed);
    start_convolution(ctx, plan, input, filter, output, fused)
}

/// Returns `true` if convolutions with filters of these extents, `[rows, columns, in_channels,
/// out_channels]`, are computed directly, whatever the images.
///
/// # Errors
/// If the filter cannot be addressed.
pub fn is_always_direct(filter: [usize; 4]) -> Result<bool> {
    let [rows, columns, in_channels, out_channels] = filter;
    let [rows, columns] =
        [rows, columns].map(|size| Window::new(SUITED_EXTENT.max(size), size, 1, 1, Padding::Same));
    let shape = Conv2dShape::new(1, rows?, columns?, in_channels, out_channels)?;
    Ok(minimal_filtering(&shape, 1)?.is_none())
}

/// An extent of images that suits minimal filtering.
const SUITED_EXTENT: usize = 64;

/// A filter that a task owns.
enum OwnedFilter {
    Packed(OwnedElements<f32>),
    Plain(OwnedElements<f32>),
}

impl OwnedFilter {
    fn borrow(&self) -> Filter<'_> {
        match self {
            Self::Packed(filter) => Filter::Packed(filter),
            Self::Plain(filter) => Filter::Plain(filter),
        }
    }
}

/// Starts a convolution by either routine.
fn start_convolution<P>(
    ctx: &ExecutionContext,
    plan: P,
    input: OwnedElements<f32>,
    filter: OwnedFilter,
    output: OwnedElementsMut<f32>,
    fused: ConvolutionEpilogue,
) -> Result<AsyncValueRef<Chain>>
where
    P: for<'a> Plan<Element = f32, Operands<'a> = ConvolutionOperands<'a>> + Send + 'static,
{
    start(ctx, plan, output, move |job, block, workspace| {
        job.run_block(block, fused.operands(&input, filter.borrow()), workspace)
    })
}

/// Returns the convolution of images with a filter.
///
/// # Errors
/// `strides should have 2 elements`, `Unknown padding type P`, `Stride must be > 0, but got N`,
/// `Dimensions does not match: input channels is I and kernel depth is D`,
/// `Tensor shapes do not match: output tensor shape is A and computed output shape is B`.
#[tfrt_kernel("eigen.conv2d.f32", results(out_chain), attribute_names = free)]
fn conv2d(
    input: &DenseHostTensor,
    filter: &DenseHostTensor,
    output: &mut DenseHostTensor,
    _in_chain: Chain,
    #[attr] padding: &str,
    #[attr] strides: &[i64],
    ctx: &ExecutionContext,
) -> Result<AsyncValueRef<Chain>> {
    Conv::new([input, filter], output, padding, strides)?.start(
        ctx,
        output,
        ConvolutionEpilogue::default(),
    )
}

/// Returns the convolution of images with a filter, and adds a bias to each channel.
///
/// # Errors
/// Those of `eigen.conv2d.f32`, and `Dimensions does not match: bias shape is N and output channels
/// size is M`.
#[tfrt_kernel("eigen.conv2d.bias.f32", results(out_chain), attribute_names = free)]
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
    let fused = ConvolutionEpilogue {
        shift: Some(bias.elements::<f32>()?.to_vec()),
        ..ConvolutionEpilogue::default()
    };
    conv.start(ctx, output, fused)
}

/// Returns the batch normalisation of this many channels, as a factor and a summand for each.
fn fold(
    num_channels: usize,
    [scale, offset, mean, variance]: [&DenseHostTensor; 4],
    epsilon: f32,
    activation: Activation,
) -> Result<ConvolutionEpilogue> {
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
    Ok(ConvolutionEpilogue {
        scale: Some(factors),
        shift: Some(summands),
        adds_output: false,
        activation,
    })
}

/// Returns the convolution of images with a filter, normalised:
/// `(x - mean) / √(variance + epsilon) · scale + offset`.
///
/// # Errors
/// Those of `eigen.conv2d.f32`, and `Dimensions does not match: P is N and output channels size is
/// M`, where P is `scale shape`, `offset shape`, `estimated mean shape` or `estimated var shape`.
#[tfrt_kernel("eigen.conv2d.batch_norm.f32", results(out_chain), attribute_names = free)]
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

/// Returns the convolution of images with a filter, normalised as by `eigen.conv2d.batch_norm.f32`,
/// followed by ReLU.
///
/// # Errors
/// Those of `eigen.conv2d.batch_norm.f32`.
#[tfrt_kernel("eigen.conv2d.batch_norm.relu.f32", results(out_chain), attribute_names = free)]
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

/// Returns the convolution of images with a filter, normalised as by `eigen.conv2d.batch_norm.f32`,
/// plus the previous content of the output, followed by ReLU. This is the end of a residual block
/// whose shortcut is the output.
///
/// # Errors
/// Those of `eigen.conv2d.batch_norm.f32`.
#[tfrt_kernel("eigen.conv2d.batch_norm.add.relu.f32", results(out_chain), attribute_names = free)]
#[expect(clippy::too_many_arguments, reason = "they are the operands of the op")]
fn conv2d_batch_norm_add_relu(
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
    let channels = conv.shape.out_channels;
    let fused = ConvolutionEpilogue {
        adds_output: true,
        ..fold(channels, parameters, epsilon, Activation::Relu)?
    };
    conv.start(ctx, output, fused)
}
