//! Ops on images, whose channels come last.

use tfrt::prelude::*;
use tfrt_compute::assemble;
use tfrt_compute::convolution::{Conv2dShape, Padding, Window};
use tfrt_compute::normalization::BatchNorm;
use tfrt_compute::pooling::{AverageOf, Pooling};
use tfrt_tensor::{DenseHostTensor, Shape};

use super::{allocate, invalid, unsupported, unsupported_dtype, with_dtype};
use crate::eigen::convolution::{ConvolutionEpilogue, start_fused};
use crate::numeric::{after, start_rows};

/// The position of an image's channels.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Channels {
    First,
    Last,
}

impl Channels {
    /// As a data format names it: channels are first if it begins with `NC`.
    fn parse(data_format: Option<&str>) -> Self {
        let begins_with_nc = |format: &str| {
            format
                .get(..2)
                .is_some_and(|start| start.eq_ignore_ascii_case("nc"))
        };
        if data_format.is_some_and(begins_with_nc) {
            Self::First
        } else {
            Self::Last
        }
    }

    /// Returns which dimension the rows are, and which the channels.
    fn dimensions(self) -> (usize, usize) {
        match self {
            Self::First => (2, 1),
            Self::Last => (1, 3),
        }
    }
}

/// The movement of a window over images, according to attributes.
#[derive(Clone, Copy)]
struct Moves<'a> {
    padding: &'a str,
    explicit_paddings: Option<&'a [i64]>,
    strides: Option<&'a [i64]>,
    dilations: Option<&'a [i64]>,
    channels: Channels,
}

impl<'a> Moves<'a> {
    fn new(
        padding: &'a str,
        explicit_paddings: Option<&'a [i64]>,
        strides: Option<&'a [i64]>,
        dilations: Option<&'a [i64]>,
        data_format: Option<&str>,
    ) -> Self {
        Self {
            padding,
            explicit_paddings,
            strides,
            dilations,
            channels: Channels::parse(data_format),
        }
    }

    /// Returns the windows over rows and columns.
    fn windows(self, input: [usize; 2], size: [usize; 2]) -> Result<[Window; 2]> {
        let strides = self.spatial(self.strides)?;
        let dilations = self.spatial(self.dilations)?;
        let padding = |dimension: usize| -> Result<Padding> {
            if self.padding.eq_ignore_ascii_case("valid") {
                Ok(Padding::Valid)
            } else if self.padding.eq_ignore_ascii_case("same") {
                Ok(Padding::Same)
            } else if self.padding.eq_ignore_ascii_case("explicit") {
                let [before, after] = self.explicit(dimension)?;
                Ok(Padding::Explicit { before, after })
            } else {
                Err(invalid(format!("Unknown padding type {}", self.padding)))
            }
        };
        let window = |dimension: usize| -> Result<Window> {
            let positive = |numbers: [i64; 2], name: &str| {
                let number = numbers[dimension];
                usize::try_from(number)
                    .ok()
                    .filter(|&number| number > 0)
                    .ok_or_else(|| invalid(format!("{name} must be > 0, but got {number}")))
            };
            let (stride, dilation) = (
                positive(strides, "Stride")?,
                positive(dilations, "Dilation")?,
            );
            let (input, size) = (input[dimension], size[dimension]);
            Window::new(input, size, stride, dilation, padding(dimension)?).map_err(|error| {
                negative_output(input, size, stride, dilation).unwrap_or_else(|| error.into())
            })
        };
        Ok([window(0)?, window(1)?])
    }

    /// Returns the numbers for rows and columns. The list has one number for all dimensions, one
    /// for each spatial dimension, or one for each dimension; an empty list stands for ones.
    fn spatial(self, numbers: Option<&[i64]>) -> Result<[i64; 2]> {
        match *numbers.unwrap_or_default() {
            [] => Ok([1, 1]),
            [one] => Ok([one, one]),
            [rows, columns] => Ok([rows, columns]),
            [_, a, b, c] => Ok(match self.channels {
                Channels::Last => [a, b],
                Channels::First => [b, c],
            }),
            _ => Err(invalid("strides should have 4 elements")),
        }
    }

    /// Returns the explicit padding before and after a spatial dimension.
    fn explicit(self, dimension: usize) -> Result<[usize; 2]> {
        let paddings = self
            .explicit_paddings
            .ok_or_else(|| invalid("Missing 'explicit_paddings' attribute"))?;
        let pair = match paddings.len() {
            4 => &paddings[2 * dimension..][..2],
            8 => {
                let (rows, _) = self.channels.dimensions();
                &paddings[2 * (rows + dimension)..][..2]
            }
            _ => return Err(invalid("Wrong 'explicit_paddings' attribute length")),
        };
        let extent = |number: i64| {
            usize::try_from(number)
                .map_err(|_| invalid(format!("expected a non-negative padding, found {number}")))
        };
        Ok([extent(pair[0])?, extent(pair[1])?])
    }
}

/// That a window is larger than the image, if that is what is wrong.
fn negative_output(input: usize, size: usize, stride: usize, dilation: usize) -> Option<Error> {
    let effective = (size as i128 - 1) * dilation as i128 + 1;
    let output = (input as i128 - effective + stride as i128) / stride as i128;
    (output <= 0).then(|| {
        invalid(format!(
            "Computed output size would be negative: {output} (input_size: {input}, filter_size: \
             {size}, stride: {stride}, dilation: {dilation})"
        ))
    })
}

/// The extents of images, by their kind.
struct Images {
    batch: usize,
    spatial: [usize; 2],
    channels: usize,
}

impl Images {
    fn of(metadata: &TensorMetadata, channels: Channels) -> Result<Self> {
        let extents = &metadata.extents;
        if extents.len() != 4 {
            return Err(invalid(format!(
                "expected images with 4 dimensions, found {}",
                extents.len()
            )));
        }
        let (rows, channel) = channels.dimensions();
        Ok(Self {
            batch: extents[0],
            spatial: [extents[rows], extents[rows + 1]],
            channels: extents[channel],
        })
    }
}

fn extents(
    batch: usize,
    [rows, columns]: [usize; 2],
    depth: usize,
    channels: Channels,
) -> [usize; 4] {
    match channels {
        Channels::First => [batch, depth, rows, columns],
        Channels::Last => [batch, rows, columns, depth],
    }
}

/// Returns the convolution of images with a filter, whose dimensions are rows, columns, input and
/// output channels.
///
/// # Errors
/// `Input and filter must have same rank.`, `Missing 'explicit_paddings' attribute`,
/// `Wrong 'explicit_paddings' attribute length`, `strides should have 4 elements`,
/// `unsupported dtype for TfConv2DOp`, `only channel last order is supported`.
#[tfrt_op("tf.Conv2D", metadata = convolution_metadata, function = conv_2d)]
#[expect(
    clippy::too_many_arguments,
    reason = "they are the attributes of the op"
)]
pub fn compute_conv_2d(
    x: &DenseHostTensor,
    filter: &DenseHostTensor,
    #[attr] data_format: Option<&str>,
    #[attr] dilations: Option<&[i64]>,
    #[attr] explicit_paddings: Option<&[i64]>,
    #[attr] padding: &str,
    #[attr] strides: Option<&[i64]>,
    ctx: &ExecutionContext,
) -> Result<AnyRef> {
    let moves = Moves::new(padding, explicit_paddings, strides, dilations, data_format);
    let shape = convolution_shape(&x.metadata(), &filter.metadata(), moves)?;
    if moves.channels == Channels::First {
        return Err(unsupported("only channel last order is supported"));
    }
    if strides.is_some_and(|strides| strides.len() != 4) {
        return Err(unsupported("strides should have 4 elements"));
    }
    if x.dtype() != DType::F32 || filter.dtype() != DType::F32 {
        return Err(unsupported("unsupported dtype for TfConv2DOp"));
    }
    let dims = [
        shape.batch,
        shape.rows.output,
        shape.columns.output,
        shape.out_channels,
    ];
    let mut output = allocate(DType::F32, Shape::new(&dims)?, ctx)?;
    let done = start_fused(
        [x, filter],
        shape,
        &mut output,
        ConvolutionEpilogue::default(),
        ctx,
    )?;
    Ok(after(done, output))
}

fn convolution_shape(
    x: &TensorMetadata,
    filter: &TensorMetadata,
    moves: Moves<'_>,
) -> Result<Conv2dShape> {
    if x.extents.len() != filter.extents.len() {
        return Err(invalid("Input and filter must have same rank."));
    }
    let images = Images::of(x, moves.channels)?;
    let &[rows, columns, depth, out_channels] = &filter.extents[..] else {
        return Err(invalid("Input and filter must have same rank."));
    };
    if images.channels != depth {
        return Err(invalid(format!(
            "Dimensions does not match: input channels is {} and kernel depth is {depth}",
            images.channels
        )));
    }
    let [rows, columns] = moves.windows(images.spatial, [rows, columns])?;
    Ok(Conv2dShape::new(
        images.batch,
        rows,
        columns,
        images.channels,
        out_channels,
    )?)
}

fn convolution_metadata(
    x: &TensorMetadata,
    filter: &TensorMetadata,
    data_format: Option<&str>,
    dilations: Option<&[i64]>,
    explicit_paddings: Option<&[i64]>,
    padding: &str,
    strides: Option<&[i64]>,
) -> Result<TensorMetadata> {
    let moves = Moves::new(padding, explicit_paddings, strides, dilations, data_format);
    let shape = convolution_shape(x, filter, moves)?;
    let spatial = [shape.rows.output, shape.columns.output];
    let extents = extents(shape.batch, spatial, shape.out_channels, moves.channels);
    Ok(TensorMetadata::new(x.dtype, extents))
}

/// Returns the greatest element of each window of images.
///
/// # Errors
/// ``Expected ksize 'NC' elements to be 1``, `only channel last order is supported`,
/// `strides should have 4 elements`, `ksize should have 4 elements`,
/// `unsupported dtype for TfMaxPoolOp`.
#[tfrt_op("tf.MaxPool", metadata = pooling_metadata, function = max_pool)]
#[expect(
    clippy::too_many_arguments,
    reason = "they are the attributes of the op"
)]
pub fn compute_max_pool(
    x: &DenseHostTensor,
    #[attr] data_format: Option<&str>,
    #[attr] dilations: Option<&[i64]>,
    #[attr] explicit_paddings: Option<&[i64]>,
    #[attr] ksize: Option<&[i64]>,
    #[attr] padding: &str,
    #[attr] strides: Option<&[i64]>,
    ctx: &ExecutionContext,
) -> Result<AnyRef> {
    let moves = Moves::new(padding, explicit_paddings, strides, dilations, data_format);
    let (pooling, mut output, operations) = prepare_pooling(x, ksize, moves, ctx)?;
    with_dtype!(
        x.dtype(),
        T in [f32, f64] => {
            let input = x.elements_owned::<T>()?;
            let to = output.elements_mut_owned::<T>()?;
            let line_len = pooling.line_len();
            let done = start_rows(ctx, to, line_len, operations, move |lines, part| {
                // The least positive number, as the reference starts with.
                pooling
                    .max_lines(T::MIN_POSITIVE, &input, lines, part)
                    .expect("the tensors have the shapes of the pooling");
            })?;
            Ok(after(done, output))
        },
        else Err(unsupported("unsupported dtype for TfMaxPoolOp"))
    )
}

/// Computes the mean of each window. Padding elements do not count.
///
/// # Errors
/// Those of `tf.MaxPool`; `tf.AvgPool` takes f32 and f64.
#[tfrt_op("tf.AvgPool", metadata = average_metadata, function = avg_pool)]
pub fn compute_avg_pool(
    x: &DenseHostTensor,
    #[attr] data_format: Option<&str>,
    #[attr] ksize: Option<&[i64]>,
    #[attr] padding: &str,
    #[attr] strides: Option<&[i64]>,
    ctx: &ExecutionContext,
) -> Result<AnyRef> {
    let moves = Moves::new(padding, None, strides, None, data_format);
    let (pooling, mut output, operations) = prepare_pooling(x, ksize, moves, ctx)?;
    with_dtype!(
        x.dtype(),
        T in [f32, f64] => {
            let input = x.elements_owned::<T>()?;
            let to = output.elements_mut_owned::<T>()?;
            let line_len = pooling.line_len();
            let done = start_rows(ctx, to, line_len, operations, move |lines, part| {
                pooling
                    .average_lines(AverageOf::Image, &input, lines, part)
                    .expect("the tensors have the shapes of the pooling");
            })?;
            Ok(after(done, output))
        },
        else Err(unsupported_dtype("tf.AvgPool", x.dtype()))
    )
}

fn average_metadata(
    x: &TensorMetadata,
    data_format: Option<&str>,
    ksize: Option<&[i64]>,
    padding: &str,
    strides: Option<&[i64]>,
) -> Result<TensorMetadata> {
    pooling_metadata(x, data_format, None, None, ksize, padding, strides)
}

/// Returns the windows over images whose channels come last, a tensor for what becomes of them, and
/// how many operations that takes.
fn prepare_pooling(
    x: &DenseHostTensor,
    ksize: Option<&[i64]>,
    moves: Moves<'_>,
    ctx: &ExecutionContext,
) -> Result<(Pooling, DenseHostTensor, usize)> {
    let (images, [rows, columns]) = pooling_windows(&x.metadata(), ksize, moves)?;
    if moves.channels == Channels::First {
        return Err(unsupported("only channel last order is supported"));
    }
    if moves.strides.is_some_and(|strides| strides.len() != 4) {
        return Err(unsupported("strides should have 4 elements"));
    }
    if ksize.is_some_and(|ksize| ksize.len() != 4) {
        return Err(unsupported("ksize should have 4 elements"));
    }
    let pooling = Pooling::new(images.batch, rows, columns, images.channels)?;
    let dims = [images.batch, rows.output, columns.output, images.channels];
    let output = allocate(x.dtype(), Shape::new(&dims)?, ctx)?;
    let window_len = rows.size.saturating_mul(columns.size);
    let operations = pooling.output_len().saturating_mul(window_len);
    Ok((pooling, output, operations))
}

fn pooling_windows(
    x: &TensorMetadata,
    ksize: Option<&[i64]>,
    moves: Moves<'_>,
) -> Result<(Images, [Window; 2])> {
    let images = Images::of(x, moves.channels)?;
    if let Some(&[n, first, _, last]) = ksize {
        let channel = match moves.channels {
            Channels::First => first,
            Channels::Last => last,
        };
        if (n, channel) != (1, 1) {
            return Err(invalid("Expected ksize 'NC' elements to be 1"));
        }
    }
    let size = moves
        .spatial(ksize)?
        .map(|extent| usize::try_from(extent).unwrap_or(0));
    if size.contains(&0) {
        return Err(invalid("expected a window of at least one element"));
    }
    let windows = moves.windows(images.spatial, size)?;
    Ok((images, windows))
}

fn pooling_metadata(
    x: &TensorMetadata,
    data_format: Option<&str>,
    dilations: Option<&[i64]>,
    explicit_paddings: Option<&[i64]>,
    ksize: Option<&[i64]>,
    padding: &str,
    strides: Option<&[i64]>,
) -> Result<TensorMetadata> {
    let moves = Moves::new(padding, explicit_paddings, strides, dilations, data_format);
    let (images, [rows, columns]) = pooling_windows(x, ksize, moves)?;
    let spatial = [rows.output, columns.output];
    let extents = extents(images.batch, spatial, images.channels, moves.channels);
    Ok(TensorMetadata::new(x.dtype, extents))
}

/// Surrounds the rows and columns of images with zeros. A matrix of i32 gives the numbers, a pair
/// for each dimension.
///
/// # Errors
/// `padding shape shoulsd be (4, 2)`, `unsupported dtype for TfPadOp`.
#[tfrt_op("tf.Pad", function = pad)]
pub fn compute_pad(
    x: &DenseHostTensor,
    paddings: &DenseHostTensor,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    if paddings.shape().dims() != [4, 2] || x.shape().rank() != 4 {
        return Err(unsupported("padding shape shoulsd be (4, 2)"));
    }
    let mut pairs = [(0, 0); 4];
    let numbers = paddings.elements::<i32>()?;
    for (pair, numbers) in pairs
        .iter_mut()
        .zip(numbers.chunks_exact(2))
        .skip(1)
        .take(2)
    {
        let extent = |number: i32| {
            usize::try_from(number)
                .map_err(|_| invalid(format!("expected a non-negative padding, found {number}")))
        };
        *pair = (extent(numbers[0])?, extent(numbers[1])?);
    }
    let dims = x.shape().dims();
    let padded: Vec<usize> = (dims.iter().zip(pairs))
        .map(|(&extent, (before, after))| extent.saturating_add(before).saturating_add(after))
        .collect();
    let mut output = allocate(x.dtype(), Shape::new(&padded)?, ctx)?;
    with_dtype!(
        x.dtype(),
        T in [f32, f64, i32, i64] => {
            let zero = T::default();
            assemble::pad(dims, &pairs, zero, &x.elements::<T>()?, &mut output.elements_mut::<T>()?)?;
            Ok(output)
        },
        else Err(unsupported("unsupported dtype for TfPadOp"))
    )
}

/// Normalizes each channel with given statistics:
/// `scale · (x - mean) / √(variance + epsilon) + bias`. All six results are this one tensor; only
/// the first is meaningful.
///
/// # Errors
/// `BatchNorm training not currently supported`,
/// `Mean, variance, bias, and scale are expected to have the same shape`,
/// `missing epsilon attribute`, `unsupported dtype for TfFusedBatchNormV3Op`.
#[tfrt_op("tf.FusedBatchNormV3", metadata = normalization_metadata, function = fused_batch_norm)]
#[expect(clippy::too_many_arguments, reason = "they are the operands of the op")]
pub fn compute_fused_batch_norm(
    x: &DenseHostTensor,
    scale: &DenseHostTensor,
    bias: &DenseHostTensor,
    mean: &DenseHostTensor,
    variance: &DenseHostTensor,
    #[attr] data_format: Option<&str>,
    #[attr] epsilon: Option<f32>,
    #[attr] is_training: Option<bool>,
    ctx: &ExecutionContext,
) -> Result<(AnyRef, AnyRef, AnyRef, AnyRef, AnyRef, AnyRef)> {
    let parameters = [scale, bias, mean, variance];
    check_parameters(parameters.map(DenseHostTensor::metadata), is_training)?;
    if Channels::parse(data_format) == Channels::First {
        return Err(unsupported("only channel last order is supported"));
    }
    let epsilon = epsilon.ok_or_else(|| unsupported("missing epsilon attribute"))?;
    if x.dtype() != DType::F32
        || parameters
            .iter()
            .any(|parameter| parameter.dtype() != DType::F32)
    {
        return Err(unsupported("unsupported dtype for TfFusedBatchNormV3Op"));
    }
    let num_channels = x.shape().dims().last().copied();
    if scale.shape().dims().last().copied() != num_channels || scale.shape().rank() != 1 {
        let (x, scale) = (x.shape(), scale.shape());
        let message =
            format!("expected parameters of one value for each channel of {x}, found {scale}");
        return Err(invalid(&message));
    }
    let mut output = allocate(DType::F32, x.shape().clone(), ctx)?;
    let norm = [
        scale.elements()?,
        bias.elements()?,
        mean.elements()?,
        variance.elements()?,
    ];
    BatchNorm {
        scale: &norm[0],
        offset: &norm[1],
        mean: &norm[2],
        variance: &norm[3],
        epsilon,
    }
    .apply(&x.elements::<f32>()?, &mut output.elements_mut::<f32>()?)?;
    let output = AnyRef::available(output);
    let share = || output.clone();
    Ok((share(), share(), share(), share(), share(), output.clone()))
}

fn check_parameters(parameters: [TensorMetadata; 4], is_training: Option<bool>) -> Result<()> {
    if is_training == Some(true) {
        return Err(invalid("BatchNorm training not currently supported"));
    }
    let [first, others @ ..] = parameters;
    if others.iter().any(|other| other.extents != first.extents) {
        return Err(invalid(
            "Mean, variance, bias, and scale are expected to have the same shape",
        ));
    }
    Ok(())
}

/// Only the first result has metadata: the others are of no use.
type Normalized = (
    Option<TensorMetadata>,
    Option<TensorMetadata>,
    Option<TensorMetadata>,
    Option<TensorMetadata>,
    Option<TensorMetadata>,
    Option<TensorMetadata>,
);

#[expect(clippy::too_many_arguments, reason = "they are the operands of the op")]
fn normalization_metadata(
    x: &TensorMetadata,
    scale: &TensorMetadata,
    bias: &TensorMetadata,
    mean: &TensorMetadata,
    variance: &TensorMetadata,
    _data_format: Option<&str>,
    _epsilon: Option<f32>,
    is_training: Option<bool>,
) -> Result<Normalized> {
    let parameters = [scale, bias, mean, variance];
    check_parameters(parameters.map(Clone::clone), is_training)?;
    Ok((Some(x.clone()), None, None, None, None, None))
}

/// Returns the metadata of a normalization with a second image that is added to the result.
#[tfrt_op("tf._FusedBatchNormEx", metadata_only)]
fn fused_batch_norm_ex(
    x: &TensorMetadata,
    scale: &TensorMetadata,
    bias: &TensorMetadata,
    mean: &TensorMetadata,
    variance: &TensorMetadata,
    side_input: Option<&TensorMetadata>,
) -> Result<Normalized> {
    if side_input.is_some_and(|side| side.extents != x.extents) {
        return Err(invalid(
            "Input and side_input are expected to have the same shape",
        ));
    }
    let parameters = [scale, bias, mean, variance];
    check_parameters(parameters.map(Clone::clone), None)?;
    Ok((Some(x.clone()), None, None, None, None, None))
}
