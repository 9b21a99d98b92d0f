//! Convolutions and pooling of images whose channels come last: `[batch, rows, columns, channels]`,
//! of single precision. Filters are `[rows, columns, channels / group, filters]`, those of
//! transposed convolutions `[rows, columns, filters, channels]`.
//!
//! Convolutions also take sequences `[batch, columns, channels]`, as images of one row. Their
//! filters and attributes are those of images.
//!
//! The shape alone selects the routine, and thus the result: filters of one channel have a routine
//! of their own, all others are those of [`start_fused`].

use tfrt::prelude::*;
use tfrt_compute::convolution::{
    Conv2dShape, Convolution, Depthwise, GradientOperands, InputGradient, Padding, Window,
};
use tfrt_compute::element::Ordered;
use tfrt_compute::pooling::{AverageOf, Pooling};
use tfrt_kernels::eigen::convolution::{
    ConvolutionEpilogue, is_always_direct, start_fused, start_packed,
};
use tfrt_kernels::numeric::{after, report_work, start, try_start_rows, width};
use tfrt_kernels::packed_weights::{self, Order};
use tfrt_tensor::{DenseHostTensor, Element};

use super::{Axis, Layout, TransposedResult};
use crate::epilogue::{Epilogue, bias_of};
use crate::products::{finish_later, is_mostly_padding};
use crate::{allocate, dense, extents, invalid, made, unspecified};

/// Returns a window as the routines take it.
fn window(axis: &Axis) -> Result<Window> {
    let before = usize::try_from(axis.before).unwrap_or(0);
    let covered = (axis.size - 1)
        .saturating_mul(axis.dilation)
        .saturating_add(1);
    // Up to the end of the last window; short of the first one if there is none.
    let reach = match axis.output {
        0 => covered - 1,
        output => (output - 1)
            .saturating_mul(axis.stride)
            .saturating_add(covered),
    };
    let after = reach.saturating_sub(axis.input.saturating_add(before));
    let padding = Padding::Explicit { before, after };
    Ok(Window::new(
        axis.input,
        axis.size,
        axis.stride,
        axis.dilation,
        padding,
    )?)
}

/// Returns the windows of a layout over the rows and columns of images, as the routines take them.
pub(crate) fn place_windows(
    layout: &Layout<'_>,
    input: &[usize; 2],
    sizes: &[usize],
) -> Result<[Window; 2]> {
    let axes = layout.axes(input, sizes)?;
    Ok([window(&axes[0])?, window(&axes[1])?])
}

/// Returns the extents of images.
fn images(op: &str, x: &DenseHostTensor) -> Result<[usize; 4]> {
    match *x.shape().dims() {
        [batch, rows, columns, channels] if x.dtype() == DType::F32 => {
            Ok([batch, rows, columns, channels])
        }
        _ => Err(invalid(format!(
            "`{op}`: expected f32 images of 4 dimensions, found {}",
            x.metadata()
        ))),
    }
}

/// Returns the extents of images, where sequences are images of one row.
fn images_or_sequences(op: &str, x: &DenseHostTensor) -> Result<[usize; 4]> {
    match *x.shape().dims() {
        [batch, columns, channels] if x.dtype() == DType::F32 => Ok([batch, 1, columns, channels]),
        _ => images(op, x),
    }
}

/// Returns the extents of the result of a convolution of images or sequences, which has so many
/// rows, columns and filters.
fn result_dims(x: &DenseHostTensor, [rows, columns, filters]: [usize; 3]) -> Vec<usize> {
    match *x.shape().dims() {
        [batch, _, _] => vec![batch, columns, filters],
        [batch, ..] => vec![batch, rows, columns, filters],
        [] => Vec::new(),
    }
}

/// The operands of a convolution.
pub(super) struct Conv<'a> {
    pub(super) x: &'a DenseHostTensor,
    pub(super) w: &'a DenseHostTensor,
    /// The extents of the filter, if `w` is packed.
    pub(super) packed_filter: Option<&'a [i64]>,
    pub(super) bias: Option<&'a DenseHostTensor>,
    pub(super) group: usize,
    pub(super) epilogue: Epilogue,
}

impl Conv<'_> {
    pub(super) fn run(mut self, layout: &Layout<'_>, ctx: &ExecutionContext) -> Result<AnyRef> {
        let op = layout.op;
        let [batch, height, columns, channels] = images_or_sequences(op, self.x)?;
        let [rows_size, columns_size, per_group, filters] = self.filter_extents(op)?;
        let is_depthwise = self.group > 1 && self.group == channels && per_group == 1;
        if self.group == 0
            || per_group.checked_mul(self.group) != Some(channels)
            || (self.group > 1 && !(is_depthwise && filters == channels))
        {
            return Err(invalid(format!(
                "`{op}`: operand 1 `w` has {per_group} channels per group, but the input has \
                 {channels} and `group` is {}",
                self.group
            )));
        }
        let bias = bias_of(op, self.bias, filters)?;
        self.epilogue.check(DType::F32)?;
        let windows = place_windows(layout, &[height, columns], &[rows_size, columns_size])?;
        let dims = result_dims(self.x, [windows[0].output, windows[1].output, filters]);
        let (mut y, adds, activation) = self.epilogue.begin(&dims, ctx)?;
        if y.num_elements() == 0 {
            return Ok(AnyRef::available(self.epilogue.finish(y, ctx)?));
        }
        let shape = Conv2dShape::new(batch, windows[0], windows[1], channels, filters)?;
        let fused = ConvolutionEpilogue {
            scale: None,
            shift: bias,
            adds_output: adds,
            activation,
        };
        let done = match is_depthwise {
            true => start_depthwise(ctx, shape, [self.x, self.w], fused, &mut y)?,
            false if self.packed_filter.is_some() => {
                start_packed([self.x, self.w], shape, &mut y, fused, ctx)?
            }
            false => start_fused([self.x, self.w], shape, &mut y, fused, ctx)?,
        };
        finish_later(done, y, self.epilogue, ctx)
    }

    /// Returns the extents of the filter, whose elements `w` has in some order.
    fn filter_extents(&self, op: &'static str) -> Result<[usize; 4]> {
        let Some(given) = self.packed_filter else {
            return images(op, self.w);
        };
        let refused = || {
            let found = self.w.metadata();
            invalid(format!(
                "`{op}`: expected a packed filter of f32 {given:?}, found {found}"
            ))
        };
        let extents = extents(op, given)?;
        let extents: [usize; 4] = extents.try_into().map_err(|_| refused())?;
        let len = filter_plan(extents)?.packed_filter_len();
        let is_packed = self.w.dtype() == DType::F32 && self.w.shape().dims() == [len];
        match is_packed {
            true => Ok(extents),
            false => Err(refused()),
        }
    }
}

/// Returns a plan for a filter `[rows, columns, channels, filters]`, whatever the images.
fn filter_plan([rows, columns, channels, filters]: [usize; 4]) -> Result<Convolution> {
    let [rows, columns] = [rows, columns].map(|size| Window::new(size, size, 1, 1, Padding::Valid));
    let shape = Conv2dShape::new(1, rows?, columns?, channels, filters)?;
    Ok(Convolution::new(shape, 1))
}

/// Packs a filter `[rows, columns, channels, filters]` for `nn.PackedConv`. Returns the filter as
/// it is if the images decide on the order in which it is best read.
///
/// The order depends on the processor: do not store it.
///
/// # Errors
/// If the operand is not a filter of single precision.
#[tfrt_op("nn.PackFilter")]
fn pack_filter(w: &AnyRef, ctx: &ExecutionContext) -> Result<DenseHostTensor> {
    const OP: &str = "nn.PackFilter";
    let w = dense(w)?;
    let extents = images(OP, &w)?;
    if w.num_elements() == 0 || !is_always_direct(extents)? {
        return Ok(w);
    }
    let plan = filter_plan(extents)?;
    if is_mostly_padding(plan.packed_filter_len(), w.num_elements()) {
        return Ok(w);
    }
    let mut packed = allocate(ctx, DType::F32, &[plan.packed_filter_len()])?;
    plan.pack_filter(&w.elements::<f32>()?, &mut packed.elements_mut::<f32>()?)?;
    Ok(packed)
}

/// Computes transposed convolutions, which are the gradients of the input of convolutions.
pub(super) fn conv_transpose(
    x: &DenseHostTensor,
    w: &DenseHostTensor,
    bias: Option<&DenseHostTensor>,
    layout: &Layout<'_>,
    result: &TransposedResult<'_>,
    ctx: &ExecutionContext,
) -> Result<AnyRef> {
    let op = layout.op;
    let [batch, rows, columns, channels] = images_or_sequences(op, x)?;
    let [rows_size, columns_size, filters, w_channels] = images(op, w)?;
    if w_channels != channels || rows_size == 0 || columns_size == 0 {
        return Err(invalid(format!(
            "`{op}`: operand 1 `w` is {}, which is incompatible with {}",
            w.metadata(),
            x.metadata()
        )));
    }
    let bias = bias_of(op, bias, filters)?;
    let axes = result.axes(layout, &[rows, columns], &[rows_size, columns_size])?;
    let windows = [window(&axes[0])?, window(&axes[1])?];
    for (axis, window) in axes.iter().zip(&windows) {
        // Windows that begin inside the result, or a result beyond them.
        if axis.before < 0 || window.output != axis.output {
            return Err(invalid(format!(
                "`{op}`: padding of {} before a result of {} is not supported with channels last",
                axis.before, axis.input
            )));
        }
    }
    let dims = result_dims(x, [windows[0].input, windows[1].input, filters]);
    let mut y = unspecified(ctx, DType::F32, &dims)?;
    if y.num_elements() == 0 {
        return Ok(AnyRef::available(y));
    }
    let shape = Conv2dShape::new(batch, windows[0], windows[1], filters, channels)?;
    let plan = InputGradient::new(shape, width(ctx))?;
    report_work::<f32>(
        ctx,
        shape.operations(),
        x.num_elements() + w.num_elements() + y.num_elements(),
    );
    let (x, w) = (x.elements_owned::<f32>()?, w.elements_owned::<f32>()?);
    let len = plan.packed_filter_len();
    let order = Order::TransposedConvolution([rows_size * columns_size * filters, channels]);
    let pack = |packed: &mut [f32]| Ok(plan.pack_filter(&w, packed)?);
    let packed = packed_weights::find_or_pack(ctx, &w, order, len, pack)?;
    let output = y.elements_mut_owned()?;
    let done = start(ctx, plan, output, move |job, block, workspace| {
        let operands = GradientOperands::new(&x, &packed);
        let operands = operands.shift(bias.as_deref().unwrap_or_default());
        job.run_block(block, operands, workspace)
    })?;
    Ok(after(done, y))
}

fn start_depthwise(
    ctx: &ExecutionContext,
    shape: Conv2dShape,
    [x, w]: [&DenseHostTensor; 2],
    fused: ConvolutionEpilogue,
    y: &mut DenseHostTensor,
) -> Result<AsyncValueRef<Chain>> {
    let plan = Depthwise::new(shape)?;
    let (x, w) = (x.elements_owned::<f32>()?, w.elements_owned::<f32>()?);
    let taps = shape.rows.size.saturating_mul(shape.columns.size);
    let operations = y.num_elements().saturating_mul(taps) / 4;
    let line_len = plan.line_len();
    try_start_rows(
        ctx,
        y.elements_mut_owned()?,
        line_len,
        operations,
        move |lines, part| {
            let bias = fused.shift.as_deref();
            plan.lines(
                &x,
                &w,
                bias,
                fused.adds_output,
                fused.activation,
                lines,
                part,
            )
        },
    )
}

/// The function of a pooling.
#[derive(Clone, Copy)]
pub(super) enum Pool {
    Max,
    Mean { counts_padding: bool },
}

/// Pools images.
pub(super) fn pool(
    pool: Pool,
    x: &DenseHostTensor,
    sizes: &[usize],
    layout: &Layout<'_>,
    ctx: &ExecutionContext,
) -> Result<AnyRef> {
    let [batch, height, columns, channels] = match (pool, x.dtype(), x.shape().dims()) {
        (Pool::Max, DType::Ui8 | DType::I8, &[batch, height, columns, channels]) => {
            [batch, height, columns, channels]
        }
        _ => images(layout.op, x)?,
    };
    let windows = place_windows(layout, &[height, columns], sizes)?;
    let dims = [batch, windows[0].output, windows[1].output, channels];
    let mut y = unspecified(ctx, x.dtype(), &dims)?;
    if y.num_elements() == 0 {
        return Ok(AnyRef::available(y));
    }
    let plan = Pooling::new(batch, windows[0], windows[1], channels)?;
    let taps = sizes.iter().copied().fold(1_usize, usize::saturating_mul);
    let operations = y.num_elements().saturating_mul(taps) / 4;
    match x.dtype() {
        DType::Ui8 => return start_max(plan, u8::MIN, x, y, operations, ctx),
        DType::I8 => return start_max(plan, i8::MIN, x, y, operations, ctx),
        _ => {}
    }
    let x = x.elements_owned::<f32>()?;
    let output = y.elements_mut_owned::<f32>()?;
    let done = try_start_rows(
        ctx,
        output,
        plan.line_len(),
        operations,
        move |lines, part| match pool {
            Pool::Max => plan.max_lines_or_nan(&x, lines, part),
            Pool::Mean { counts_padding } => {
                let of = match counts_padding {
                    true => AverageOf::Window,
                    false => AverageOf::Image,
                };
                plan.average_lines(of, &x, lines, part)
            }
        },
    )?;
    Ok(after(done, y))
}

/// Starts the pooling of whole numbers. Windows without a number of the image have the result
/// `least`.
fn start_max<T: Element + Ordered>(
    plan: Pooling,
    least: T,
    x: &DenseHostTensor,
    mut y: DenseHostTensor,
    operations: usize,
    ctx: &ExecutionContext,
) -> Result<AnyRef> {
    let x = x.elements_owned::<T>()?;
    let output = y.elements_mut_owned::<T>()?;
    let line_len = plan.line_len();
    let done = try_start_rows(ctx, output, line_len, operations, move |lines, part| {
        plan.max_lines(least, &x, lines, part)
    })?;
    Ok(after(done, y))
}

/// Returns the mean of all pixels of each image.
pub(super) fn global_mean(
    op: &str,
    x: &DenseHostTensor,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    let [batch, height, columns, channels] = images(op, x)?;
    let x = x.elements::<f32>()?;
    let pixels = height * columns;
    let mut sums = vec![0.0_f64; batch * channels];
    let of_images = x.chunks_exact((pixels * channels).max(1));
    for (image, sums) in of_images.zip(sums.chunks_exact_mut(channels.max(1))) {
        for pixel in image.chunks_exact(channels.max(1)) {
            for (sum, &x) in sums.iter_mut().zip(pixel) {
                *sum += f64::from(x);
            }
        }
    }
    made(ctx, &[batch, 1, 1, channels], |at| {
        (sums[at] / pixels as f64) as f32
    })
}
