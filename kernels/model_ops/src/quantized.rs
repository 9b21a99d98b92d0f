//! Quantised numbers: integers that represent `(q - zero point) · scale`.
//!
//! Sums are 32-bit integers that wrap around, without intermediate saturation.

mod bytes;

mod integers;

use tfrt::prelude::*;
use tfrt_compute::quantized::{ByteScale, Requantization};
use tfrt_tensor::{DenseHostTensor, OwnedElementsMut, Shape};

use crate::number::{Number, with_real, with_type};
use crate::pairs::{Stretched, common};
use crate::windows::{Layout, Placed, spatial};
use crate::{
    Slots, allocate, axis_of, invalid, made, one_number, product, real_numbers, scratch, shape_of,
    unspecified, unsupported, whole_numbers,
};

/// For each element of a tensor of `dims` the place of its scale: of one for all, of one for each
/// place along an axis, or of one for each block of so many places along it.
fn scale_places(
    op: &str,
    scale: &[usize],
    dims: &[usize],
    axis: i64,
    block: i64,
) -> Result<Box<dyn Fn(usize) -> usize>> {
    if product(scale) == 1 && scale.len() <= 1 {
        return Ok(Box::new(|_| 0));
    }
    let axis = axis_of(op, axis, dims.len())?;
    let inner = product(&dims[axis + 1..]).max(1);
    let extent = dims[axis].max(1);
    let refused = || {
        invalid(format!(
            "`{op}`: scales of shape {scale:?} are incompatible with a tensor of shape {dims:?} \
             along axis {axis}"
        ))
    };
    if block == 0 {
        if scale != [dims[axis]] {
            return Err(refused());
        }
        return Ok(Box::new(move |at| at / inner % extent));
    }
    let block = usize::try_from(block).map_err(|_| refused())?;
    let count = extent.div_ceil(block);
    let mut expected = dims.to_vec();
    expected[axis] = dims[axis].div_ceil(block);
    if scale != expected {
        return Err(refused());
    }
    Ok(Box::new(move |at| {
        let (outer, along, column) = (at / inner / extent, at / inner % extent, at % inner);
        (outer * count + along / block) * inner + column
    }))
}

/// Returns the zero points of a tensor, of whatever integer type, as many as scales; zeros if they
/// are omitted.
fn zero_points(
    op: &'static str,
    zero: Option<&DenseHostTensor>,
    shape: &Shape,
) -> Result<Vec<i64>> {
    match zero {
        None => Ok(vec![0; shape.num_elements()]),
        Some(zero) if zero.num_elements() == shape.num_elements() => whole_numbers(op, zero),
        Some(zero) => Err(invalid(format!(
            "`{op}`: expected as many zero points as scales, found {} and {shape}",
            zero.shape()
        ))),
    }
}

/// `x / scale` as the type of `x` computes it, rounded to the nearest whole number, halves to even
/// ones, plus the zero point.
fn quantized(dtype: DType, x: f64, scale: f64, zero: i64) -> f64 {
    let ratio = x / scale;
    let ratio = if dtype == DType::F64 {
        ratio
    } else {
        f64::from(ratio as f32)
    };
    ratio.round_ties_even() + zero as f64
}

/// Returns how bytes represent numbers, if one scale of single precision is for all of them.
fn byte_scale(scale: &DenseHostTensor, zeros: &[i64], dtype: DType) -> Option<ByteScale> {
    let &[zero] = zeros else {
        return None;
    };
    if scale.dtype() != DType::F32 || !matches!(dtype, DType::Ui8 | DType::I8) {
        return None;
    }
    let scale = *scale.elements::<f32>().ok()?.first()?;
    let zero = i32::try_from(zero).ok()?;
    // The general way decides what other scales mean.
    let is_plain = scale.is_finite() && scale > 0.0;
    is_plain.then(|| ByteScale::new(scale, zero, dtype == DType::I8))
}

/// The least and the greatest number of a quantised result, which are whole numbers.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    least: f32,
    greatest: f32,
}

impl Bounds {
    /// Returns the bounds of a type, narrowed by attributes.
    fn new(
        op: &'static str,
        dtype: DType,
        least: Option<i64>,
        greatest: Option<i64>,
    ) -> Result<Self> {
        let (lowest, highest) = match dtype {
            DType::Ui8 => (0.0, 255.0),
            DType::I8 => (-128.0, 127.0),
            other => return Err(unsupported(op, other)),
        };
        Ok(Self {
            least: least.map_or(lowest, |least| (least as f32).clamp(lowest, highest)),
            greatest: greatest.map_or(highest, |most| (most as f32).clamp(lowest, highest)),
        })
    }

    /// Returns how sums become bytes of a zero point.
    fn requantization(self, op: &'static str, zero: &DenseHostTensor) -> Result<Requantization> {
        Ok(Requantization {
            zero: one_number(op, "y_zero_point", zero)? as i16,
            least: self.least,
            greatest: self.greatest,
        })
    }

    fn both(self) -> [f32; 2] {
        [self.least, self.greatest]
    }
}

/// Quantises numbers: `x / scale`, rounded half to even, plus the zero point, clamped to the range
/// of the result, of which NaN becomes the least number. Operands are the tensor, the scales and
/// the zero points, which may be omitted: one for all, one for each index along `axis`, or one for
/// each `block` of indices. The type of the result is that of the zero points, or `dtype`.
///
/// # Errors
/// If the operands do not match.
#[tfrt_op("nn.Quantize")]
fn quantize(
    operands: &[AnyRef],
    #[attr] dtype: Option<DType>,
    #[attr(default = 1)] axis: i64,
    #[attr(default = 0)] block: i64,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    const OP: &str = "nn.Quantize";
    let slots = Slots::new(OP, operands, None);
    let (x, scale, zero) = (slots.need(0, "x")?, slots.need(1, "scale")?, slots.get(2)?);
    let given = zero.as_ref().map(DenseHostTensor::dtype);
    let wanted = given.or(dtype).unwrap_or(DType::Ui8);
    if dtype.is_some_and(|dtype| dtype != wanted) {
        return Err(invalid(format!(
            "`{OP}`: expected a zero point of the type of the result"
        )));
    }
    let dims = x.shape().dims();
    let place = scale_places(OP, scale.shape().dims(), dims, axis, block)?;
    let zeros = zero_points(OP, zero.as_ref(), scale.shape())?;
    if x.dtype() == DType::F32
        && let Some(scale) = byte_scale(&scale, &zeros, wanted)
    {
        let bounds = Bounds::new(OP, wanted, None, None)?.both();
        let mut y = unspecified(ctx, wanted, dims)?;
        scale.quantize(&x.elements::<f32>()?, bounds, &mut y.buffer_mut().write()?)?;
        return Ok(y);
    }
    let scales = real_numbers(OP, &scale, ctx)?;
    let numbers = real_numbers(OP, &x, ctx)?;
    with_type!(OP, wanted, T in [Ui8 => u8, I8 => i8, Ui16 => u16, I16 => i16] => {
        made(ctx, dims, |at| {
            let place = place(at);
            match quantized(x.dtype(), numbers[at], scales[place], zeros[place]) {
                nan if nan.is_nan() => T::MIN,
                number => <T as Number>::of_f64(number),
            }
        })
    })
}

/// Dequantises numbers: `(x - zero point) · scale`. The operands are those of `nn.Quantize`. The
/// result has the type of the scales, or `dtype`.
///
/// # Errors
/// If the operands do not match.
#[tfrt_op("nn.Dequantize")]
fn dequantize(
    operands: &[AnyRef],
    #[attr] dtype: Option<DType>,
    #[attr(default = 1)] axis: i64,
    #[attr(default = 0)] block: i64,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    const OP: &str = "nn.Dequantize";
    let slots = Slots::new(OP, operands, None);
    let (x, scale, zero) = (slots.need(0, "x")?, slots.need(1, "scale")?, slots.get(2)?);
    if zero.as_ref().is_some_and(|zero| zero.dtype() != x.dtype()) {
        return Err(invalid(format!(
            "`{OP}`: expected a zero point of the type of `x`"
        )));
    }
    let dims = x.shape().dims();
    let place = scale_places(OP, scale.shape().dims(), dims, axis, block)?;
    let zeros = zero_points(OP, zero.as_ref(), scale.shape())?;
    let wanted = dtype.unwrap_or(scale.dtype());
    if wanted == DType::F32
        && let Some(scale) = byte_scale(&scale, &zeros, x.dtype())
    {
        let mut y = unspecified(ctx, wanted, dims)?;
        scale.dequantize(&x.buffer().read()?, &mut y.elements_mut::<f32>()?)?;
        return Ok(y);
    }
    let scales = real_numbers(OP, &scale, ctx)?;
    let numbers = whole_numbers(OP, &x)?;
    with_real!(OP, wanted, T => made(ctx, dims, |at| {
        let place = place(at);
        T::of_f64((numbers[at] as f64 - zeros[place] as f64) * scales[place])
    }))
}

/// Quantises a tensor to bytes by its own range, widened to contain 0. Returns the bytes, the scale
/// and the zero point.
///
/// # Errors
/// If the elements are not single-precision numbers.
#[tfrt_op("nn.DynamicQuantize")]
fn dynamic_quantize(
    x: &AnyRef,
    ctx: &ExecutionContext,
) -> Result<(DenseHostTensor, DenseHostTensor, DenseHostTensor)> {
    const OP: &str = "nn.DynamicQuantize";
    let x = crate::dense(x)?;
    if x.dtype() != DType::F32 {
        return Err(unsupported(OP, x.dtype()));
    }
    let numbers = x.elements::<f32>()?;
    let least = numbers.iter().copied().fold(0.0_f32, f32::min);
    let greatest = numbers.iter().copied().fold(0.0_f32, f32::max);
    let range = if greatest == least {
        1.0
    } else {
        greatest - least
    };
    let scale = range / 255.0;
    let zero = (-least / scale).clamp(0.0, 255.0).round_ties_even();
    let mut bytes = allocate(ctx, DType::Ui8, x.shape().dims())?;
    // Without a zero point, which is a NaN where the scale is too small or too large for a number,
    // all bytes are 0.
    if !zero.is_nan() {
        ByteScale::new(scale, zero as i32, false).quantize(
            &numbers,
            [0.0, 255.0],
            &mut bytes.elements_mut::<u8>()?,
        )?;
    }
    let zero = zero as u8;
    Ok((bytes, made(ctx, &[], |_| scale)?, made(ctx, &[], |_| zero)?))
}

/// Returns the elements of a quantised operand less their zero points, of which there is one for
/// all, or one for each place along an axis.
fn centred(
    op: &'static str,
    x: &DenseHostTensor,
    zero: Option<&DenseHostTensor>,
    axis: usize,
    ctx: &ExecutionContext,
) -> Result<OwnedElementsMut<i32>> {
    let mut numbers = scratch::<i32>(ctx, x.num_elements())?;
    with_type!(op, x.dtype(), T in [Ui8 => u8, I8 => i8] => {
        let from = x.elements::<T>()?;
        numbers.iter_mut().zip(&*from).for_each(|(to, &x)| *to = i32::from(x));
        Ok(())
    })?;
    let Some(zero) = zero else {
        return Ok(numbers);
    };
    let zeros = whole_numbers(op, zero)?;
    let dims = x.shape().dims();
    let extent = dims.get(axis).copied().unwrap_or(1);
    let is_for_all = zeros.len() == 1;
    if zero.dtype() != x.dtype() || !(is_for_all || zeros.len() == extent) {
        return Err(invalid(format!(
            "`{op}`: zero points of {} are incompatible with {}",
            zero.metadata(),
            x.metadata()
        )));
    }
    let inner = product(dims.get(axis + 1..).unwrap_or_default()).max(1);
    for (at, number) in numbers.iter_mut().enumerate() {
        let place = if is_for_all { 0 } else { at / inner % extent };
        *number -= zeros[place] as i32;
    }
    Ok(numbers)
}

/// Returns a product of integer matrices: the shape of the result, and its elements.
fn integer_product(
    op: &'static str,
    (a, left): (&DenseHostTensor, &[i32]),
    (b, right): (&DenseHostTensor, &[i32]),
    ctx: &ExecutionContext,
) -> Result<(Vec<usize>, OwnedElementsMut<i32>)> {
    let refused = || {
        invalid(format!(
            "`{op}`: {} and {} cannot be multiplied",
            a.metadata(),
            b.metadata()
        ))
    };
    let (mut a_dims, mut b_dims) = (a.shape().dims().to_vec(), b.shape().dims().to_vec());
    let (is_row, is_column) = (a_dims.len() == 1, b_dims.len() == 1);
    if is_row {
        a_dims.insert(0, 1);
    }
    if is_column {
        b_dims.push(1);
    }
    let (&[ref a_batch @ .., m, k], &[ref b_batch @ .., inner, n]) = (&a_dims[..], &b_dims[..])
    else {
        return Err(refused());
    };
    if k != inner {
        return Err(refused());
    }
    let batch = common(op, a_batch, b_batch)?;
    let mut dims = batch.clone();
    dims.extend((!is_row).then_some(m));
    dims.extend((!is_column).then_some(n));
    let mut sums = scratch::<i32>(ctx, shape_of(&dims)?.num_elements())?;
    if !sums.is_empty() {
        let places = Stretched::new(a_batch, &batch)
            .places()
            .zip(Stretched::new(b_batch, &batch).places());
        for (sums, (a_place, b_place)) in sums.chunks_exact_mut(m * n).zip(places) {
            for (row, sums) in sums.chunks_exact_mut(n).enumerate() {
                let left = &left[(a_place * m + row) * k..][..k];
                for (inner, &x) in left.iter().enumerate() {
                    let right = &right[(b_place * k + inner) * n..][..n];
                    for (sum, &y) in sums.iter_mut().zip(right) {
                        *sum = sum.wrapping_add(x * y);
                    }
                }
            }
        }
    }
    Ok((dims, sums))
}

/// Returns the axis of the rows of a matrix, or of the only axis.
fn row_axis(x: &DenseHostTensor) -> usize {
    x.shape().rank().saturating_sub(2)
}

/// Returns the axis of the columns of a matrix, or of the only axis.
fn column_axis(x: &DenseHostTensor) -> usize {
    x.shape().rank().saturating_sub(1)
}

/// Multiplies matrices of bytes into 32-bit integers. The third and fourth operand are the zero
/// points, one for a whole factor, or one for each row of the first factor and each column of the
/// second; they may be omitted.
///
/// # Errors
/// If the operands do not match.
#[tfrt_op("nn.MatMulInteger")]
fn mat_mul_integer(
    operands: &[AnyRef],
    #[attr] slots: Option<&[i64]>,
    ctx: &ExecutionContext,
) -> Result<AnyRef> {
    const OP: &str = "nn.MatMulInteger";
    let slots = Slots::new(OP, operands, slots);
    let (a, b) = (slots.need(0, "a")?, slots.need(1, "b")?);
    let (a_zero, b_zero) = (slots.get(2)?, slots.get(3)?);
    let zeros = [a_zero.as_ref(), b_zero.as_ref()];
    if let Some(product) = integers::multiply(OP, [&a, &b], zeros, ctx)? {
        return Ok(product);
    }
    let left = centred(OP, &a, a_zero.as_ref(), row_axis(&a), ctx)?;
    let right = centred(OP, &b, b_zero.as_ref(), column_axis(&b), ctx)?;
    let (dims, sums) = integer_product(OP, (&a, &left), (&b, &right), ctx)?;
    Ok(AnyRef::available(made(ctx, &dims, |at| sums[at])?))
}

/// Sums, scaled and quantised again as bytes of the type of the zero point.
fn requantized(
    op: &'static str,
    dims: &[usize],
    sums: &[i32],
    factor: impl Fn(usize) -> f32,
    (zero, bounds): (&DenseHostTensor, Bounds),
    ctx: &ExecutionContext,
) -> Result<AnyRef> {
    let requantization = bounds.requantization(op, zero)?;
    let result = with_type!(op, zero.dtype(), T in [Ui8 => u8, I8 => i8] => {
        made(ctx, dims, |at| requantization.byte(sums[at], factor(at)) as T)
    })?;
    Ok(AnyRef::available(result))
}

/// Returns what sums of products are scaled by, rounded in the order of ONNX Runtime, so that
/// halves are the same.
fn requantization_factor(x_scale: f64, w_scale: f64, y_scale: f64) -> f32 {
    (x_scale as f32 * w_scale as f32) / y_scale as f32
}

/// The operands of a quantised convolution or product.
struct QuantizedSlots<'a> {
    slots: Slots<'a>,
    x: DenseHostTensor,
    x_zero: DenseHostTensor,
    w: DenseHostTensor,
    w_zero: DenseHostTensor,
    y_zero: DenseHostTensor,
}

impl<'a> QuantizedSlots<'a> {
    fn new(slots: Slots<'a>) -> Result<Self> {
        Ok(Self {
            x: slots.need(0, "x")?,
            x_zero: slots.need(2, "x_zero_point")?,
            w: slots.need(3, "w")?,
            w_zero: slots.need(5, "w_zero_point")?,
            y_zero: slots.need(7, "y_zero_point")?,
            slots,
        })
    }

    /// Returns what the sums of each filter are scaled by, in single precision. The input has one
    /// scale.
    fn factors(
        &self,
        op: &'static str,
        num_filters: usize,
        ctx: &ExecutionContext,
    ) -> Result<Vec<f32>> {
        let one = |slot, name| one_number(op, name, &self.slots.need(slot, name)?);
        let (x_scale, y_scale) = (one(1, "x_scale")?, one(6, "y_scale")?);
        let scales = real_numbers(op, &self.slots.need(4, "w_scale")?, ctx)?;
        if scales.len() != 1 && scales.len() != num_filters {
            return Err(invalid(format!(
                "`{op}`: expected a single scale, or a scale for each filter"
            )));
        }
        let scales = scales.iter().cycle().take(num_filters);
        Ok(scales
            .map(|&scale| requantization_factor(x_scale, scale, y_scale))
            .collect())
    }

    /// Returns the summand of each filter, if there is one.
    fn bias(&self, op: &'static str, num_filters: usize) -> Result<Option<Vec<i64>>> {
        let Some(bias) = self.slots.get(8)? else {
            return Ok(None);
        };
        let bias = whole_numbers(op, &bias)?;
        match bias.len() == num_filters {
            true => Ok(Some(bias)),
            false => Err(invalid(format!(
                "`{op}`: expected a bias of {num_filters} elements"
            ))),
        }
    }
}

/// Multiplies matrices of quantised bytes, and quantises the product. Operands are a factor, its
/// scale and its zero point, then those of the other one, then the scale and the zero point of the
/// result, and a bias of 32-bit integers for each column, which may be omitted. The numbers of the
/// result are at least `least` and at most `greatest`. With `packed`, which has the extents of a
/// matrix, the right factor is the result of `nn.PackBytes`.
///
/// # Errors
/// If the operands do not match.
#[tfrt_op("nn.QuantizedMatMul")]
fn quantized_mat_mul(
    operands: &[AnyRef],
    #[attr] least: Option<i64>,
    #[attr] greatest: Option<i64>,
    #[attr] packed: Option<&[i64]>,
    ctx: &ExecutionContext,
) -> Result<AnyRef> {
    const OP: &str = "nn.QuantizedMatMul";
    let slots = QuantizedSlots::new(Slots::new(OP, operands, None))?;
    let bounds = Bounds::new(OP, slots.y_zero.dtype(), least, greatest)?;
    let numbers = |slot, name| real_numbers(OP, &slots.slots.need(slot, name)?, ctx);
    let (a_scales, b_scales) = (numbers(1, "a_scale")?, numbers(4, "b_scale")?);
    let (a, b) = (&slots.x, &slots.w);
    let has_one_scale = a_scales.len() == 1 && slots.x_zero.num_elements() == 1;
    let filter = bytes::filter_extents(OP, b, &slots.w_zero, packed)?;
    if packed.is_some() && !has_one_scale {
        return Err(invalid(format!(
            "`{OP}`: expected a single scale of the left factor with a packed right factor"
        )));
    }
    let is_matrix = |filter: &Vec<usize>| filter.len() == 2 && a.shape().rank() > 0;
    if has_one_scale && let Some(filter) = filter.filter(is_matrix) {
        let bytes = bytes::Bytes {
            slots,
            bounds,
            filter,
            is_packed: packed.is_some(),
        };
        return bytes.multiply(OP, ctx);
    }
    let left = centred(OP, a, Some(&slots.x_zero), row_axis(a), ctx)?;
    let right = centred(OP, b, Some(&slots.w_zero), column_axis(b), ctx)?;
    let (dims, mut sums) = integer_product(OP, (a, &left), (b, &right), ctx)?;
    let y_scale = one_number(OP, "y_scale", &slots.slots.need(6, "y_scale")?)?;
    let columns = if b.shape().rank() == 1 {
        1
    } else {
        b.shape().dims()[b.shape().rank() - 1]
    };
    let rows = if a.shape().rank() == 1 {
        1
    } else {
        a.shape().dims()[a.shape().rank() - 2]
    };
    let fits = |scales: &[f64], extent: usize| scales.len() == 1 || scales.len() == extent;
    if !fits(&a_scales, rows) || !fits(&b_scales, columns) {
        return Err(invalid(format!(
            "`{OP}`: expected a single scale, or a scale for each row or column"
        )));
    }
    if let Some(bias) = slots.bias(OP, columns)? {
        for (at, sum) in sums.iter_mut().enumerate() {
            *sum = sum.wrapping_add(bias[at % columns] as i32);
        }
    }
    let (rows, columns) = (rows.max(1), columns.max(1));
    let pick = |scales: &[f64], at: usize| {
        if scales.len() == 1 {
            scales[0]
        } else {
            scales[at]
        }
    };
    let factor = |at: usize| {
        let (a_scale, b_scale) = (
            pick(&a_scales, at / columns % rows),
            pick(&b_scales, at % columns),
        );
        requantization_factor(a_scale, b_scale, y_scale)
    };
    requantized(OP, &dims, &sums, factor, (&slots.y_zero, bounds), ctx)
}

/// Returns a convolution of integers: the shape of the result, and its elements.
fn integer_convolution(
    (x, from): (&DenseHostTensor, &[i32]),
    (w, filters): (&DenseHostTensor, &[i32]),
    layout: &Layout<'_>,
    group: i64,
    ctx: &ExecutionContext,
) -> Result<(Vec<usize>, OwnedElementsMut<i32>)> {
    let op = layout.op();
    let (batch, channels, input) = spatial(op, x)?;
    let (num_filters, per_group, sizes) = spatial(op, w)?;
    let group = usize::try_from(group).unwrap_or(0);
    if group == 0
        || per_group.checked_mul(group) != Some(channels)
        || !num_filters.is_multiple_of(group)
    {
        return Err(invalid(format!(
            "`{op}`: the filters have {per_group} channels per group, but the input has \
             {channels} and `group` is {group}"
        )));
    }
    let placed = Placed::new(layout, input, sizes)?;
    let dims = [&[batch, num_filters], &placed.outputs()[..]].concat();
    let mut sums = scratch::<i32>(ctx, shape_of(&dims)?.num_elements())?;
    if sums.is_empty() {
        return Ok((dims, sums));
    }
    let (pixels, places, taps) = (product(input), product(&placed.outputs()), product(sizes));
    placed.for_each(|output, window| {
        for image in 0..batch {
            for filter in 0..num_filters {
                let first = filter / (num_filters / group) * per_group;
                let mut sum = 0_i32;
                for channel in 0..per_group {
                    let plane = (image * channels + first + channel) * pixels;
                    let kernel = (filter * per_group + channel) * taps;
                    for &(tap, place) in window {
                        sum = sum.wrapping_add(from[plane + place] * filters[kernel + tap]);
                    }
                }
                sums[(image * num_filters + filter) * places + output] = sum;
            }
        }
    });
    Ok((dims, sums))
}

/// Convolves bytes into 32-bit integers. Operands are the images, the filters, and their zero
/// points, which may be omitted: one for the images, which is also the value of padding, and one
/// for all filters or each filter.
///
/// # Errors
/// If the operands do not match.
#[tfrt_op("nn.ConvInteger")]
#[expect(clippy::too_many_arguments, reason = "as many as the op has")]
fn conv_integer(
    operands: &[AnyRef],
    #[attr(default = 1)] group: i64,
    #[attr] strides: Option<&[i64]>,
    #[attr] dilations: Option<&[i64]>,
    #[attr] pads: Option<&[i64]>,
    #[attr] auto_pad: Option<&str>,
    #[attr] slots: Option<&[i64]>,
    ctx: &ExecutionContext,
) -> Result<AnyRef> {
    const OP: &str = "nn.ConvInteger";
    let slots = Slots::new(OP, operands, slots);
    let (x, w) = (slots.need(0, "x")?, slots.need(1, "w")?);
    let (x_zero, w_zero) = (slots.get(2)?, slots.get(3)?);
    let layout = Layout::new(OP, strides, dilations, pads, auto_pad);
    let zeros = [x_zero.as_ref(), w_zero.as_ref()];
    if group == 1
        && let Some(result) = integers::convolve([&x, &w], zeros, &layout, ctx)?
    {
        return Ok(result);
    }
    let images = centred(OP, &x, x_zero.as_ref(), x.shape().rank(), ctx)?;
    let filters = centred(OP, &w, w_zero.as_ref(), 0, ctx)?;
    let (dims, sums) = integer_convolution((&x, &images), (&w, &filters), &layout, group, ctx)?;
    Ok(AnyRef::available(made(ctx, &dims, |at| sums[at])?))
}

/// Convolves quantised bytes, and quantises the result. Operands are the images, their scale and
/// zero point, the filters, their scales and zero points, for all or each, the scale and the zero
/// point of the result, and a bias of 32-bit integers, which may be omitted. The numbers of the
/// result are at least `least` and at most `greatest`.
///
/// With `channels_last`, images are `[batch, rows, columns, channels]`, there is one group, and the
/// filters are signed bytes whose zero points are 0; with `packed`, which has the extents of the
/// filters, they are the result of `nn.PackBytes`.
///
/// # Errors
/// If the operands do not match.
#[tfrt_op("nn.QuantizedConv")]
#[expect(clippy::too_many_arguments, reason = "as many as the op has")]
fn quantized_conv(
    operands: &[AnyRef],
    #[attr(default = 1)] group: i64,
    #[attr] strides: Option<&[i64]>,
    #[attr] dilations: Option<&[i64]>,
    #[attr] pads: Option<&[i64]>,
    #[attr] auto_pad: Option<&str>,
    #[attr(default = false)] channels_last: bool,
    #[attr] least: Option<i64>,
    #[attr] greatest: Option<i64>,
    #[attr] packed: Option<&[i64]>,
    ctx: &ExecutionContext,
) -> Result<AnyRef> {
    const OP: &str = "nn.QuantizedConv";
    let slots = QuantizedSlots::new(Slots::new(OP, operands, None))?;
    let bounds = Bounds::new(OP, slots.y_zero.dtype(), least, greatest)?;
    let layout = Layout::new(OP, strides, dilations, pads, auto_pad);
    if channels_last {
        let filter = bytes::filter_extents(OP, &slots.w, &slots.w_zero, packed)?;
        let filter = filter.filter(|filter| filter.len() == 4 && group == 1);
        let filter = filter.ok_or_else(|| {
            invalid(format!(
                "`{OP}`: expected one group of filters of i8 with zero points of 0, as channels \
                 come last, found {}",
                slots.w.metadata()
            ))
        })?;
        let bytes = bytes::Bytes {
            slots,
            bounds,
            filter,
            is_packed: packed.is_some(),
        };
        return bytes.convolve(&layout, ctx);
    }
    if packed.is_some() {
        return Err(invalid(format!(
            "`{OP}`: expected `channels_last` with `packed`"
        )));
    }
    let (x, w) = (&slots.x, &slots.w);
    let images = centred(OP, x, Some(&slots.x_zero), x.shape().rank(), ctx)?;
    let filters = centred(OP, w, Some(&slots.w_zero), 0, ctx)?;
    let (dims, mut sums) = integer_convolution((x, &images), (w, &filters), &layout, group, ctx)?;
    let (num_filters, places) = (dims[1], product(&dims[2..]).max(1));
    if let Some(bias) = slots.bias(OP, num_filters)? {
        for (at, sum) in sums.iter_mut().enumerate() {
            *sum = sum.wrapping_add(bias[at / places % num_filters] as i32);
        }
    }
    let factors = slots.factors(OP, num_filters, ctx)?;
    let factor = |at: usize| factors[at / places % num_filters];
    requantized(OP, &dims, &sums, factor, (&slots.y_zero, bounds), ctx)
}
