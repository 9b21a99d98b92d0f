//! Convolutions and pooling: windows that slide over one, two or three dimensions.
//!
//! Tensors are `[batch, channels, spatial…]`. `auto_pad` selects a rule that computes the padding
//! from the shape; otherwise `pads` has the numbers before all spatial dimensions, then those
//! after. With `channels_last`, tensors are `[batch, spatial…, channels]`.

mod channels_last;

mod plane_conv;

mod plane_pool;

pub(crate) use channels_last::place_windows;

use std::ops::Range;

use tfrt::prelude::*;
use tfrt_tensor::{DenseHostTensor, Shape};

use plane_conv::PlaneConv;
use plane_pool::PlanePool;

use crate::epilogue::Epilogue;
use crate::number::{Number, with_number, with_real};
use crate::products::finish_later;
use crate::{
    Slots, advance, allocate, dense, invalid, made, product, scratch, strides, unspecified,
};

/// A window along one dimension.
#[derive(Clone, Copy, Debug)]
struct Axis {
    input: usize,
    size: usize,
    stride: usize,
    dilation: usize,
    before: i64,
    output: usize,
}

impl Axis {
    /// Returns the position of a window's tap in the input, or `None` if it is in the padding.
    fn source(&self, output: usize, tap: usize) -> Option<usize> {
        let at = (output * self.stride + tap * self.dilation) as i64 - self.before;
        usize::try_from(at).ok().filter(|&at| at < self.input)
    }

    /// Returns the taps of a window that are in the input.
    fn taps_inside(&self, output: usize) -> Range<usize> {
        let first = self.taps_before(output, 0);
        let end = self.taps_before(output, self.input as i64);
        first.min(end)..end
    }

    /// Returns the windows in which a tap is in the input, and where it is in the first of them.
    fn windows_inside(&self, tap: usize) -> (Range<usize>, usize) {
        let first = (tap * self.dilation) as i64 - self.before;
        let start = match usize::try_from(first) {
            Ok(_) => 0,
            Err(_) => (first.unsigned_abs() as usize).div_ceil(self.stride),
        };
        if start >= self.output {
            return (0..0, 0);
        }
        let source = (first + (start * self.stride) as i64) as usize;
        let count = self.input.saturating_sub(source).div_ceil(self.stride);
        (start..self.output.min(start + count), source)
    }

    /// Returns how many taps of a window lie before a place of the input.
    fn taps_before(&self, output: usize, place: i64) -> usize {
        let start = (output * self.stride) as i64 - self.before;
        let distance = usize::try_from(place.saturating_sub(start)).unwrap_or(0);
        distance.div_ceil(self.dilation).min(self.size)
    }
}

/// The layout of windows according to attributes.
pub(crate) struct Layout<'a> {
    op: &'static str,
    strides: Option<&'a [i64]>,
    dilations: Option<&'a [i64]>,
    pads: Option<&'a [i64]>,
    auto_pad: Option<&'a str>,
    rounds_up: bool,
}

/// Returns a number for each of this many dimensions.
fn each(
    op: &str,
    name: &str,
    given: Option<&[i64]>,
    rank: usize,
    missing: i64,
) -> Result<Vec<i64>> {
    let given = given.map_or_else(|| vec![missing; rank], <[i64]>::to_vec);
    let is_valid = given.len() == rank
        && given
            .iter()
            .all(|&number| (missing..1 << 31).contains(&number));
    if is_valid {
        return Ok(given);
    }
    Err(invalid(format!(
        "`{op}`: expected `{name}` with {rank} numbers of at least {missing}, found {given:?}"
    )))
}

/// Windows over an input, and where they lie.
pub(crate) struct Placed(Vec<Axis>);

impl Placed {
    /// Windows of these sizes over an input of these extents.
    pub(crate) fn new(layout: &Layout<'_>, input: &[usize], sizes: &[usize]) -> Result<Self> {
        Ok(Self(layout.axes(input, sizes)?))
    }

    /// Returns how many windows there are along each dimension.
    pub(crate) fn outputs(&self) -> Vec<usize> {
        self.0.iter().map(|axis| axis.output).collect()
    }

    /// Returns where a tap of a window begins along an axis, before or beyond the input if need be:
    /// by the axis, the window and the tap.
    pub(crate) fn starts(&self) -> impl Fn(usize, usize, usize) -> f64 + '_ {
        |axis, window, tap| {
            let axis = &self.0[axis];
            (window * axis.stride + tap * axis.dilation) as f64 - axis.before as f64
        }
    }

    /// Visits each window: its number, and the taps of it that are in the input,
    /// `(tap, place in the input)`.
    pub(crate) fn for_each(&self, visit: impl FnMut(usize, &[(usize, usize)])) {
        for_each_window(&self.0, visit);
    }
}

impl<'a> Layout<'a> {
    /// Windows that lie as these attributes say, and do not reach beyond the padding.
    pub(crate) fn new(
        op: &'static str,
        strides: Option<&'a [i64]>,
        dilations: Option<&'a [i64]>,
        pads: Option<&'a [i64]>,
        auto_pad: Option<&'a str>,
    ) -> Self {
        Self {
            op,
            strides,
            dilations,
            pads,
            auto_pad,
            rounds_up: false,
        }
    }

    /// Returns the op whose windows these are.
    pub(crate) fn op(&self) -> &'static str {
        self.op
    }

    fn axes(&self, input: &[usize], sizes: &[usize]) -> Result<Vec<Axis>> {
        let (op, rank) = (self.op, input.len());
        let strides = each(op, "strides", self.strides, rank, 1)?;
        let dilations = each(op, "dilations", self.dilations, rank, 1)?;
        let pads = each(op, "pads", self.pads, 2 * rank, 0)?;
        if sizes.len() != rank || sizes.contains(&0) {
            return Err(invalid(format!(
                "`{op}`: expected windows of rank {rank}, found {sizes:?}"
            )));
        }
        let axes = (0..rank).map(|axis| {
            let (input, size) = (input[axis] as i64, sizes[axis] as i64);
            let (stride, dilation) = (strides[axis], dilations[axis]);
            let covered = size
                .checked_sub(1)
                .and_then(|taps| taps.checked_mul(dilation)?.checked_add(1))
                .ok_or_else(|| invalid(format!("`{op}`: a window of {size} is too large")))?;
            let (before, after) = match self.auto_pad.unwrap_or("NOTSET") {
                "NOTSET" => (pads[axis], pads[rank + axis]),
                "VALID" => (0, 0),
                mode => {
                    let output = (input + stride - 1) / stride;
                    let all = ((output - 1) * stride + covered - input).max(0);
                    let less = all / 2;
                    if mode == "SAME_LOWER" {
                        (all - less, less)
                    } else {
                        (less, all - less)
                    }
                }
            };
            let room = input + before + after - covered;
            if room < 0 && input > 0 {
                return Err(invalid(format!(
                    "`{op}`: a window of {covered} elements is larger than dimension {} of the \
                     operand, which has {input} with padding {before} and {after}",
                    axis + 2
                )));
            }
            let mut output = match room {
                // No elements have no windows.
                ..0 => 0,
                _ if self.rounds_up => (room + stride - 1) / stride + 1,
                _ => room / stride + 1,
            };
            // The last window starts within the input or the padding before it.
            if self.rounds_up && output > 0 && (output - 1) * stride >= input + before {
                output -= 1;
            }
            Ok(Axis {
                input: input as usize,
                size: size as usize,
                stride: stride as usize,
                dilation: dilation as usize,
                before,
                output: output as usize,
            })
        });
        axes.collect()
    }
}

/// For each output place the taps of its window that are in the input: `(tap, place in the input)`.
fn for_each_window(axes: &[Axis], mut visit: impl FnMut(usize, &[(usize, usize)])) {
    let outputs: Vec<usize> = axes.iter().map(|axis| axis.output).collect();
    let numbers = strides(&axes.iter().map(|axis| axis.size).collect::<Vec<_>>());
    let own = strides(&axes.iter().map(|axis| axis.input).collect::<Vec<_>>());
    let mut index = vec![0; axes.len()];
    let mut taps = Vec::new();
    for output in 0..product(&outputs) {
        // Taps in the padding are not looked at: there may be any number of them.
        taps.clear();
        taps.push((0_usize, 0));
        for (at, axis) in axes.iter().enumerate() {
            let (window, step, stride) = (index[at], own[at], numbers[at]);
            let inside = axis.taps_inside(window);
            let all = taps.iter().flat_map(|&(number, place)| {
                inside.clone().map(move |tap| {
                    let along = axis.source(window, tap).unwrap_or(0);
                    let number = number.wrapping_add(tap.wrapping_mul(stride));
                    (number, place + along * step)
                })
            });
            taps = all.collect();
        }
        visit(output, &taps);
        advance(&mut index, &outputs);
    }
}

/// Returns the batch, the channels, and the other extents of a tensor.
pub(crate) fn spatial<'a>(op: &str, x: &'a DenseHostTensor) -> Result<(usize, usize, &'a [usize])> {
    match x.shape().dims() {
        [batch, channels, spatial @ ..] if !spatial.is_empty() => Ok((*batch, *channels, spatial)),
        _ => Err(invalid(format!(
            "`{op}`: expected batch, channel and spatial dimensions, found {}",
            x.metadata()
        ))),
    }
}

/// Convolves `x` with the filters `w`, `[filters, channels / group, spatial…]`, and adds a bias for
/// each filter, which may be omitted. Then adds the fourth operand, if it is present, and applies
/// the function `activation`. With `channels_last`, `x` is `[batch, rows, columns, channels]` and
/// `w` is `[rows, columns, channels / group, filters]`.
///
/// # Errors
/// If the operands do not match.
#[tfrt_op("nn.Conv")]
#[expect(clippy::too_many_arguments, reason = "as many as the op has")]
fn conv(
    operands: &[AnyRef],
    #[attr(default = 1)] group: i64,
    #[attr] strides: Option<&[i64]>,
    #[attr] dilations: Option<&[i64]>,
    #[attr] pads: Option<&[i64]>,
    #[attr] auto_pad: Option<&str>,
    #[attr(default = false)] channels_last: bool,
    #[attr] activation: Option<&str>,
    #[attr(default = 0.0)] activation_alpha: f32,
    #[attr(default = 0.0)] activation_beta: f32,
    #[attr] slots: Option<&[i64]>,
    ctx: &ExecutionContext,
) -> Result<AnyRef> {
    const OP: &str = "nn.Conv";
    let slots = Slots::new(OP, operands, slots);
    let (x, w, bias) = (slots.need(0, "x")?, slots.need(1, "w")?, slots.get(2)?);
    let epilogue = Epilogue::new(&slots, activation, activation_alpha, activation_beta)?;
    let group = usize::try_from(group).unwrap_or(0);
    let layout = Layout::new(OP, strides, dilations, pads, auto_pad);
    if channels_last {
        let conv = channels_last::Conv {
            x: &x,
            w: &w,
            packed_filter: None,
            bias: bias.as_ref(),
            group,
            epilogue,
        };
        return conv.run(&layout, ctx);
    }
    conv_planes([&x, &w], bias.as_ref(), group, &layout, epilogue, ctx)
}

/// Convolves `x`, `[batch, rows, columns, channels]` or `[batch, columns, channels]`, as `nn.Conv`
/// does with `channels_last` and one group. `w` is the result of `nn.PackFilter`, and `filter` has
/// the extents of the filter.
///
/// # Errors
/// If the operands do not match.
#[tfrt_op("nn.PackedConv")]
#[expect(clippy::too_many_arguments, reason = "as many as the op has")]
fn packed_conv(
    operands: &[AnyRef],
    #[attr] filter: &[i64],
    #[attr] strides: Option<&[i64]>,
    #[attr] dilations: Option<&[i64]>,
    #[attr] pads: Option<&[i64]>,
    #[attr] auto_pad: Option<&str>,
    #[attr] activation: Option<&str>,
    #[attr(default = 0.0)] activation_alpha: f32,
    #[attr(default = 0.0)] activation_beta: f32,
    #[attr] slots: Option<&[i64]>,
    ctx: &ExecutionContext,
) -> Result<AnyRef> {
    const OP: &str = "nn.PackedConv";
    let slots = Slots::new(OP, operands, slots);
    let (x, w, bias) = (slots.need(0, "x")?, slots.need(1, "w")?, slots.get(2)?);
    let conv = channels_last::Conv {
        x: &x,
        w: &w,
        packed_filter: Some(filter),
        bias: bias.as_ref(),
        group: 1,
        epilogue: Epilogue::new(&slots, activation, activation_alpha, activation_beta)?,
    };
    conv.run(&Layout::new(OP, strides, dilations, pads, auto_pad), ctx)
}

/// Convolves images whose channels come before their planes.
fn conv_planes(
    [x, w]: [&DenseHostTensor; 2],
    bias: Option<&DenseHostTensor>,
    group: usize,
    layout: &Layout<'_>,
    epilogue: Epilogue,
    ctx: &ExecutionContext,
) -> Result<AnyRef> {
    const OP: &str = "nn.Conv";
    let (batch, channels, input) = spatial(OP, x)?;
    let (filters, per_group, sizes) = spatial(OP, w)?;
    if group == 0
        || per_group.checked_mul(group) != Some(channels)
        || !filters.is_multiple_of(group)
    {
        return Err(invalid(format!(
            "`{OP}`: operand 1 `w` has {per_group} channels per group, but the input has \
             {channels} and `group` is {group}"
        )));
    }
    let axes = layout.axes(input, sizes)?;
    let outputs: Vec<usize> = axes.iter().map(|axis| axis.output).collect();
    let dims = [&[batch, filters], &outputs[..]].concat();
    if w.dtype() != x.dtype()
        || bias.is_some_and(|b| b.shape().dims() != [filters] || b.dtype() != x.dtype())
    {
        return Err(invalid(format!(
            "`{OP}`: expected filters and a bias of type {} and of matching shapes",
            x.dtype()
        )));
    }
    let conv = PlaneConv {
        batch,
        channels,
        filters,
        group,
        axes,
    };
    if x.dtype() == DType::F32 {
        let mut y = unspecified(ctx, DType::F32, &dims)?;
        if y.num_elements() == 0 {
            return Ok(AnyRef::available(epilogue.finish(y, ctx)?));
        }
        let done = conv.start([x, w], bias, &mut y, ctx)?;
        return finish_later(done, y, epilogue, ctx);
    }
    let y = conv.by_definition([x, w], bias, &dims, ctx)?;
    Ok(AnyRef::available(epilogue.finish(y, ctx)?))
}

/// Computes transposed convolutions: each element of `x` adds the filters `w`,
/// `[channels, filters / group, spatial…]`, to its window. A bias may be omitted. With
/// `output_shape`, the padding is computed from it.
///
/// With `channels_last`, `x` is `[batch, rows, columns, channels]` or `[batch, columns, channels]`
/// of single precision, `w` is `[rows, columns, filters, channels]`, there is one group, and no
/// window begins inside the result.
///
/// # Errors
/// If the operands do not match.
#[tfrt_op("nn.ConvTranspose")]
#[expect(clippy::too_many_arguments, reason = "as many as the op has")]
fn conv_transpose(
    operands: &[AnyRef],
    #[attr(default = 1)] group: i64,
    #[attr] strides: Option<&[i64]>,
    #[attr] dilations: Option<&[i64]>,
    #[attr] pads: Option<&[i64]>,
    #[attr] output_padding: Option<&[i64]>,
    #[attr] output_shape: Option<&[i64]>,
    #[attr] auto_pad: Option<&str>,
    #[attr(default = false)] channels_last: bool,
    ctx: &ExecutionContext,
) -> Result<AnyRef> {
    const OP: &str = "nn.ConvTranspose";
    let slots = Slots::new(OP, operands, None);
    let (x, w, bias) = (slots.need(0, "x")?, slots.need(1, "w")?, slots.get(2)?);
    let layout = Layout::new(OP, strides, dilations, pads, auto_pad);
    let result = TransposedResult {
        output_padding,
        output_shape,
    };
    if channels_last {
        return channels_last::conv_transpose(&x, &w, bias.as_ref(), &layout, &result, ctx);
    }
    let y = transposed_planes(&x, &w, bias.as_ref(), group, &layout, &result, ctx)?;
    Ok(AnyRef::available(y))
}

/// What determines the size of the result of a transposed convolution, beside its windows.
struct TransposedResult<'a> {
    output_padding: Option<&'a [i64]>,
    output_shape: Option<&'a [i64]>,
}

impl TransposedResult<'_> {
    /// Returns the windows that the elements of the operand add to. Their roles are turned round:
    /// windows lie in the result.
    fn axes(&self, layout: &Layout<'_>, input: &[usize], sizes: &[usize]) -> Result<Vec<Axis>> {
        let (op, rank) = (layout.op, input.len());
        let steps = each(op, "strides", layout.strides, rank, 1)?;
        let widths = each(op, "dilations", layout.dilations, rank, 1)?;
        let given = each(op, "pads", layout.pads, 2 * rank, 0)?;
        let extra = each(op, "output_padding", self.output_padding, rank, 0)?;
        let auto_pad = layout.auto_pad;
        let shape = self.output_shape.map(|shape| {
            // Some files list all dimensions, others the spatial ones.
            let skipped = if shape.len() == rank + 2 { 2 } else { 0 };
            each(op, "output_shape", Some(&shape[skipped..]), rank, 0)
        });
        let shape = shape.transpose()?;
        let mut axes = Vec::with_capacity(rank);
        for axis in 0..rank {
            let full = (input[axis] as i64 - 1) * steps[axis]
                + extra[axis]
                + (sizes[axis] as i64 - 1) * widths[axis]
                + 1;
            let wanted = match (&shape, auto_pad) {
                (Some(shape), _) => Some(shape[axis]),
                (None, Some("SAME_UPPER" | "SAME_LOWER")) => Some(input[axis] as i64 * steps[axis]),
                (None, _) => None,
            };
            let (before, after) = match wanted {
                Some(wanted) => {
                    let all = full - wanted;
                    let less = all.div_euclid(2);
                    if auto_pad == Some("SAME_UPPER") {
                        (less, all - less)
                    } else {
                        (all - less, less)
                    }
                }
                None if auto_pad == Some("VALID") => (0, 0),
                None => (given[axis], given[rank + axis]),
            };
            let output = usize::try_from(full - before - after).map_err(|_| {
                invalid(format!(
                    "`{op}`: the result would be empty along axis {axis}"
                ))
            })?;
            axes.push(Axis {
                input: output,
                size: sizes[axis],
                stride: steps[axis] as usize,
                dilation: widths[axis] as usize,
                before,
                output: input[axis],
            });
        }
        Ok(axes)
    }
}

/// Computes transposed convolutions of images whose channels come before their planes.
fn transposed_planes(
    x: &DenseHostTensor,
    w: &DenseHostTensor,
    bias: Option<&DenseHostTensor>,
    group: i64,
    layout: &Layout<'_>,
    result: &TransposedResult<'_>,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    const OP: &str = "nn.ConvTranspose";
    let (batch, channels, input) = spatial(OP, x)?;
    let (w_channels, per_group, sizes) = spatial(OP, w)?;
    let group = usize::try_from(group).unwrap_or(0);
    if group == 0
        || w_channels != channels
        || !channels.is_multiple_of(group)
        || sizes.len() != input.len()
    {
        return Err(invalid(format!(
            "`{OP}`: operand 1 `w` is {}, which is incompatible with {} and `group` {group}",
            w.metadata(),
            x.metadata()
        )));
    }
    let filters = per_group * group;
    let axes = result.axes(layout, input, sizes)?;
    let outputs: Vec<usize> = axes.iter().map(|axis| axis.input).collect();
    let (pixels, places, taps) = (product(input), product(&outputs), product(sizes));
    let in_group = channels / group;
    let numbers = |tensor: &DenseHostTensor| crate::real_numbers(OP, tensor, ctx);
    let (from, w) = (numbers(x)?, numbers(w)?);
    let bias = bias.map(numbers).transpose()?;
    if bias.as_ref().is_some_and(|bias| bias.len() != filters) {
        return Err(invalid(format!(
            "`{OP}`: expected a bias of {filters} elements"
        )));
    }
    let dims = [&[batch, filters], &outputs[..]].concat();
    // Memory is asked for before it is used.
    let mut y = allocate(ctx, x.dtype(), &dims)?;
    if y.num_elements() == 0 {
        return Ok(y);
    }
    let mut memory = scratch::<f64>(ctx, y.num_elements())?;
    let sums = &mut memory[..];
    for_each_window(&axes, |pixel, window| {
        for image in 0..batch {
            for channel in 0..channels {
                let value = from[(image * channels + channel) * pixels + pixel];
                let first = channel / in_group * per_group;
                for filter in 0..per_group {
                    let plane = (image * filters + first + filter) * places;
                    let kernel = (channel * per_group + filter) * taps;
                    for &(tap, place) in window {
                        sums[plane + place] += value * w[kernel + tap];
                    }
                }
            }
        }
    });
    with_real!(OP, x.dtype(), T => {
        for (at, to) in y.elements_mut::<T>()?.iter_mut().enumerate() {
            let bias = bias.as_ref().map_or(0.0, |bias| bias[at / places % filters]);
            *to = T::of_f64(sums[at] + bias);
        }
        Ok(())
    })?;
    Ok(y)
}

/// Returns the greatest element of each window. With `indices`, also returns their positions in the
/// tensor, in row-major order, or in column-major order with `column_major`.
///
/// # Errors
/// If the windows do not fit.
#[tfrt_op("nn.MaxPool")]
#[expect(clippy::too_many_arguments, reason = "as many as the op has")]
fn max_pool(
    x: &AnyRef,
    #[attr] kernel_shape: &[i64],
    #[attr] strides: Option<&[i64]>,
    #[attr] dilations: Option<&[i64]>,
    #[attr] pads: Option<&[i64]>,
    #[attr] auto_pad: Option<&str>,
    #[attr(default = false)] ceil_mode: bool,
    #[attr(default = false)] indices: bool,
    #[attr(default = false)] column_major: bool,
    #[attr(default = false)] channels_last: bool,
    ctx: &ExecutionContext,
) -> Result<Vec<AnyRef>> {
    const OP: &str = "nn.MaxPool";
    let x = dense(x)?;
    let mut layout = Layout::new(OP, strides, dilations, pads, auto_pad);
    layout.rounds_up = ceil_mode;
    let sizes = crate::extents(OP, kernel_shape)?;
    if channels_last && !indices {
        let pool = channels_last::Pool::Max;
        return Ok(vec![channels_last::pool(pool, &x, &sizes, &layout, ctx)?]);
    }
    let (batch, channels, input) = spatial(OP, &x)?;
    let axes = layout.axes(input, &sizes)?;
    let outputs: Vec<usize> = axes.iter().map(|axis| axis.output).collect();
    let dims = [&[batch, channels], &outputs[..]].concat();
    let pool = PlanePool::new(axes);
    with_number!(OP, x.dtype(), T => {
        if !indices && Shape::new(&dims)?.num_elements() > 0 {
            return Ok(vec![pool.max::<T>(&x, &[batch, channels], ctx)?]);
        }
        let mut y = made(ctx, &dims, |_| T::LEAST)?;
        let mut found = made(ctx, &dims, |_| 0_i64)?;
        if y.num_elements() > 0 {
            let (mut to, mut found) = (y.elements_mut::<T>()?, found.elements_mut::<i64>()?);
            pool.for_each_greatest(&x.elements::<T>()?, |at, x, (plane, place)| {
                to[at] = x;
                let place = if column_major { turned(place, input) } else { place };
                found[at] = (plane * product(input) + place) as i64;
            });
        }
        let mut results = vec![AnyRef::available(y)];
        if indices {
            results.push(AnyRef::available(found));
        }
        Ok(results)
    })
}

/// Returns the place of an element of a plane, counted column by column.
fn turned(place: usize, dims: &[usize]) -> usize {
    let own = strides(dims);
    let mut step = 1;
    let mut found = 0;
    for (axis, &extent) in dims.iter().enumerate() {
        found += place / own[axis] % extent * step;
        step *= extent;
    }
    found
}

/// Computes the mean of each window, or the norm of order `p` if that is not 0. `count_include_pad`
/// includes the padding. With `channels_last`, computes means without padding that is rounded up.
///
/// # Errors
/// If the windows do not fit.
#[tfrt_op("nn.AveragePool")]
#[expect(clippy::too_many_arguments, reason = "as many as the op has")]
fn average_pool(
    x: &AnyRef,
    #[attr] kernel_shape: &[i64],
    #[attr] strides: Option<&[i64]>,
    #[attr] dilations: Option<&[i64]>,
    #[attr] pads: Option<&[i64]>,
    #[attr] auto_pad: Option<&str>,
    #[attr(default = false)] ceil_mode: bool,
    #[attr(default = false)] count_include_pad: bool,
    #[attr(default = 0)] p: i64,
    #[attr(default = false)] channels_last: bool,
    ctx: &ExecutionContext,
) -> Result<AnyRef> {
    const OP: &str = "nn.AveragePool";
    let x = dense(x)?;
    let mut layout = Layout::new(OP, strides, dilations, pads, auto_pad);
    layout.rounds_up = ceil_mode;
    let sizes = crate::extents(OP, kernel_shape)?;
    if channels_last && p == 0 && !(ceil_mode && count_include_pad) {
        let counts_padding = count_include_pad;
        let pool = channels_last::Pool::Mean { counts_padding };
        return channels_last::pool(pool, &x, &sizes, &layout, ctx);
    }
    let (batch, channels, input) = spatial(OP, &x)?;
    let axes = layout.axes(input, &sizes)?;
    let outputs: Vec<usize> = axes.iter().map(|axis| axis.output).collect();
    let dims = [&[batch, channels], &outputs[..]].concat();
    if p == 0 && !count_include_pad && Shape::new(&dims)?.num_elements() > 0 {
        let pool = PlanePool::new(axes);
        return with_real!(OP, x.dtype(), T => pool.mean::<T>(&x, &[batch, channels], ctx));
    }
    let (planes, pixels, places) = (batch * channels, product(input), product(&outputs));
    let after = match (auto_pad, pads) {
        (None | Some("NOTSET"), Some(pads)) => pads[axes.len()..].to_vec(),
        _ => vec![0; axes.len()],
    };
    let mut index = vec![0; axes.len()];
    with_real!(OP, x.dtype(), T => {
        let from = x.elements::<T>()?;
        let mut y = allocate(ctx, x.dtype(), &dims)?;
        if y.num_elements() == 0 {
            return Ok(AnyRef::available(y));
        }
        let mut to = y.elements_mut::<T>()?;
        for_each_window(&axes, |output, window| {
            // What rounding up adds beyond the padding never counts.
            let padded: usize = axes.iter().zip(&index).zip(&after).map(|((axis, &output), &after)| {
                axis.taps_before(output, (axis.input as i64).saturating_add(after))
            }).fold(1, usize::saturating_mul);
            let is_same = !matches!(auto_pad, None | Some("NOTSET" | "VALID"));
            let count = match count_include_pad {
                true if is_same => axes.iter().map(|axis| axis.size).fold(1, usize::saturating_mul),
                true => padded,
                false => window.len(),
            };
            for plane in 0..planes {
                let values = window.iter().map(|&(_, place)| from[plane * pixels + place].to_f64());
                let value = match p {
                    0 => sum(values) / count as f64,
                    1 => sum(values.map(f64::abs)),
                    _ => sum(values.map(|x| x.abs().powi(p as i32))).powf(1.0 / p as f64),
                };
                to[plane * places + output] = T::of_f64(value);
            }
            advance(&mut index, &outputs);
        });
        drop(to);
        Ok(AnyRef::available(y))
    })
}

/// Returns a sum that is 0 for no numbers, as for a window of padding: that of the standard
/// library is then -0.
fn sum(numbers: impl Iterator<Item = f64>) -> f64 {
    numbers.fold(0.0, |sum, number| sum + number)
}

/// Reduces all spatial dimensions to one element each: by the `mean`, the `max`, or the norm of
/// order `p` for `lp`.
///
/// # Errors
/// If there are no spatial dimensions.
#[tfrt_op("nn.GlobalPool")]
fn global_pool(
    x: &AnyRef,
    #[attr] function: &str,
    #[attr(default = 2)] p: i64,
    #[attr(default = false)] channels_last: bool,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    const OP: &str = "nn.GlobalPool";
    let x = dense(x)?;
    if channels_last && function == "mean" {
        return channels_last::global_mean(OP, &x, ctx);
    }
    let (batch, channels, input) = spatial(OP, &x)?;
    let pixels = product(input);
    let dims = [&[batch, channels], &vec![1; input.len()][..]].concat();
    with_real!(OP, x.dtype(), T => {
        let from = x.elements::<T>()?;
        made(ctx, &dims, |at| {
            let values = from[at * pixels..][..pixels].iter().map(|x| x.to_f64());
            T::of_f64(match function {
                "mean" => sum(values) / pixels as f64,
                "max" => values.fold(f64::NEG_INFINITY, |a, b| if a.is_nan() || a > b { a } else { b }),
                _ => sum(values.map(|x| x.abs().powi(p as i32))).powf(1.0 / p as f64),
            })
        })
    })
}
