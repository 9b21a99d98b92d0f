//! Quantised convolutions, products and sums on the routines for bytes.
//!
//! Filters are signed bytes whose zero points are 0, which is how models are quantised. A filter is
//! packed when the program is loaded, by `nn.PackBytes`, or whenever it is used.

use std::borrow::Cow;

use tfrt::prelude::*;
use tfrt_compute::convolution::{Conv2dShape, Padding, Window};
use tfrt_compute::quantized::{ByteConvolution, ByteOperands, ByteScale, add_bytes};
use tfrt_kernels::numeric::{after, report_work, start, try_start_rows, width};
use tfrt_tensor::{DenseHostTensor, OwnedElements};

use super::{Bounds, QuantizedSlots};
use crate::pairs::{Stretched, common};
use crate::products::is_mostly_padding;
use crate::windows::{Layout, place_windows};
use crate::{
    Slots, allocate, dense, extents, invalid, one_number, product, unspecified, whole_numbers,
};

/// The highest bit of a byte. Inverting it in a signed byte adds this number.
pub(super) const SIGN: u8 = 128;

/// Returns the highest bit if bytes of a type are signed.
fn sign_of(op: &str, x: &DenseHostTensor) -> Result<u8> {
    match x.dtype() {
        DType::Ui8 => Ok(0),
        DType::I8 => Ok(SIGN),
        other => Err(crate::unsupported(op, other)),
    }
}

/// A filter in the order of the routines, with the sums of its numbers.
pub(super) struct Packed {
    pub(super) bytes: OwnedElements<i8>,
    pub(super) sums: Vec<i32>,
}

/// Bytes of a sum behind the packed numbers.
const SUM_BYTES: usize = size_of::<i32>();

/// The extents of a filter: `[filters, channels, rows, columns]` of a convolution,
/// `[inner, columns]` of a product.
#[derive(Clone, Copy, Debug)]
pub(super) enum FilterExtents {
    Window([usize; 4]),
    Matrix([usize; 2]),
}

impl FilterExtents {
    fn new(dims: &[usize]) -> Option<Self> {
        match *dims {
            [filters, channels, rows, columns] => {
                Some(Self::Window([filters, channels, rows, columns]))
            }
            [inner, columns] => Some(Self::Matrix([inner, columns])),
            _ => None,
        }
    }

    /// Returns a plan for the filter, whatever the images.
    fn plan(self) -> Result<ByteConvolution> {
        let (filters, channels, sizes) = match self {
            Self::Window([filters, channels, rows, columns]) => {
                (filters, channels, [rows, columns])
            }
            Self::Matrix([inner, columns]) => (columns, inner, [1, 1]),
        };
        let [rows, columns] = sizes.map(|size| Window::new(size, size, 1, 1, Padding::Valid));
        let shape = Conv2dShape::new(1, rows?, columns?, channels, filters)?;
        Ok(ByteConvolution::new(shape, 1)?)
    }

    /// Packs a filter, whose bytes are changed by inverting the bits of `flip`: the numbers, then
    /// the sum of each filter as little-endian bytes.
    pub(super) fn pack(self, from: &[i8], flip: i8, packed: &mut [i8]) -> Result<()> {
        let plan = self.plan()?;
        let (numbers, sums) = packed.split_at_mut(plan.packed_filter_len());
        let found = match self {
            Self::Window([_, channels, rows, columns]) => {
                let taps = rows * columns;
                let number = |place: usize, filter: usize| {
                    let (tap, channel) = (place / channels, place % channels);
                    from[(filter * channels + channel) * taps + tap] ^ flip
                };
                plan.pack_filter(number, numbers)?
            }
            Self::Matrix([_, columns]) => {
                let number = |place: usize, filter: usize| from[place * columns + filter] ^ flip;
                plan.pack_filter(number, numbers)?
            }
        };
        let bytes = found.iter().flat_map(|sum| sum.to_le_bytes());
        for (to, byte) in sums.iter_mut().zip(bytes) {
            *to = byte.cast_signed();
        }
        Ok(())
    }

    /// Returns how many numbers each filter has.
    pub(super) fn window_len(self) -> usize {
        match self {
            Self::Window([_, channels, rows, columns]) => channels * rows * columns,
            Self::Matrix([inner, _]) => inner,
        }
    }

    fn num_filters(self) -> usize {
        match self {
            Self::Window([filters, ..]) => filters,
            Self::Matrix([_, columns]) => columns,
        }
    }

    /// Returns the length of the packed filter with its sums.
    pub(super) fn packed_len(self) -> Result<usize> {
        let sums = self.num_filters().saturating_mul(SUM_BYTES);
        Ok(self.plan()?.packed_filter_len().saturating_add(sums))
    }
}

/// Packs a filter of signed bytes for `nn.QuantizedConv` and `nn.QuantizedMatMul`, which take it
/// with the attribute `packed`: `[filters, channels, rows, columns]` of a convolution with channels
/// last, or the right factor of a product.
///
/// # Errors
/// If the operand is no such filter.
#[tfrt_op("nn.PackBytes")]
fn pack_bytes(w: &AnyRef, ctx: &ExecutionContext) -> Result<DenseHostTensor> {
    const OP: &str = "nn.PackBytes";
    let w = dense(w)?;
    let filter = FilterExtents::new(w.shape().dims()).filter(|_| w.dtype() == DType::I8);
    let filter = filter.ok_or_else(|| {
        let found = w.metadata();
        invalid(format!(
            "`{OP}`: expected a filter or matrix of i8, found {found}"
        ))
    })?;
    let packed_len = filter.packed_len()?;
    if is_mostly_padding(packed_len, w.num_elements()) {
        return Ok(w);
    }
    let mut packed = allocate(ctx, DType::I8, &[packed_len])?;
    filter.pack(&w.elements::<i8>()?, 0, &mut packed.elements_mut::<i8>()?)?;
    Ok(packed)
}

/// Returns the extents of the filter of an op, if the routines for bytes take it.
pub(super) fn filter_extents(
    op: &'static str,
    w: &DenseHostTensor,
    zero: &DenseHostTensor,
    packed: Option<&[i64]>,
) -> Result<Option<Vec<usize>>> {
    if let Some(given) = packed {
        let refused = || {
            let found = w.metadata();
            invalid(format!(
                "`{op}`: expected a packed filter of i8 {given:?}, found {found}"
            ))
        };
        let dims = extents(op, given)?;
        let filter = FilterExtents::new(&dims).ok_or_else(refused)?;
        let is_packed = w.dtype() == DType::I8 && w.shape().dims() == [filter.packed_len()?];
        return match is_packed {
            true => Ok(Some(dims)),
            false => Err(refused()),
        };
    }
    let is_centred = whole_numbers(op, zero)?.iter().all(|&zero| zero == 0);
    let fits = w.dtype() == DType::I8 && zero.dtype() == DType::I8 && is_centred;
    Ok(fits.then(|| w.shape().dims().to_vec()))
}

impl Packed {
    /// Returns the packed filter of an op, whose extents are known.
    fn of(
        w: &DenseHostTensor,
        filter: FilterExtents,
        is_packed: bool,
        ctx: &ExecutionContext,
    ) -> Result<Self> {
        let w = match is_packed {
            true => Cow::Borrowed(w),
            false => {
                let mut packed = allocate(ctx, DType::I8, &[filter.packed_len()?])?;
                filter.pack(&w.elements::<i8>()?, 0, &mut packed.elements_mut::<i8>()?)?;
                Cow::Owned(packed)
            }
        };
        Self::new(w.elements_owned::<i8>()?, filter)
    }

    /// Returns a filter that [`FilterExtents::pack`] packed.
    pub(super) fn new(bytes: OwnedElements<i8>, filter: FilterExtents) -> Result<Self> {
        let (quads, _) = bytes[filter.plan()?.packed_filter_len()..].as_chunks::<SUM_BYTES>();
        let sums = quads.iter();
        let sums = sums.map(|quad| i32::from_le_bytes(quad.map(i8::cast_unsigned)));
        Ok(Self {
            sums: sums.collect(),
            bytes,
        })
    }
}

/// The operands of a convolution or product of bytes, beyond its shape.
pub(super) struct Bytes<'a> {
    pub(super) slots: QuantizedSlots<'a>,
    pub(super) bounds: Bounds,
    /// The extents of the filter or of the right factor.
    pub(super) filter: Vec<usize>,
    pub(super) is_packed: bool,
}

impl Bytes<'_> {
    /// Starts a convolution of images whose channels come last.
    pub(super) fn convolve(self, layout: &Layout<'_>, ctx: &ExecutionContext) -> Result<AnyRef> {
        let op = layout.op();
        let (&[batch, rows, columns, channels], &[filters, per_group, ..]) =
            (self.slots.x.shape().dims(), &self.filter[..])
        else {
            return Err(invalid(format!(
                "`{op}`: expected images of 4 dimensions, found {}",
                self.slots.x.metadata()
            )));
        };
        if per_group != channels {
            return Err(invalid(format!(
                "`{op}`: the filters have {per_group} channels per group, but the input has \
                 {channels} and `group` is 1"
            )));
        }
        let windows = place_windows(layout, &[rows, columns], &self.filter[2..])?;
        let shape = Conv2dShape::new(batch, windows[0], windows[1], channels, filters)?;
        let dims = [batch, windows[0].output, windows[1].output, filters];
        self.start(op, shape, &dims, ctx)
    }

    /// Starts a product with a matrix.
    pub(super) fn multiply(self, op: &'static str, ctx: &ExecutionContext) -> Result<AnyRef> {
        let x = self.slots.x.shape().dims();
        let (Some((&k, rows)), &[inner, columns]) = (x.split_last(), &self.filter[..]) else {
            return Err(invalid(format!("`{op}`: a factor has no dimensions")));
        };
        if k != inner {
            return Err(invalid(format!(
                "`{op}`: {} and a matrix of {inner} rows cannot be multiplied",
                self.slots.x.metadata()
            )));
        }
        let dims = [rows, &[columns]].concat();
        let row = Window::new(1, 1, 1, 1, Padding::Valid)?;
        let rows = Window::new(product(rows), 1, 1, 1, Padding::Valid)?;
        self.start(op, Conv2dShape::new(1, row, rows, k, columns)?, &dims, ctx)
    }

    fn start(
        self,
        op: &'static str,
        shape: Conv2dShape,
        dims: &[usize],
        ctx: &ExecutionContext,
    ) -> Result<AnyRef> {
        let filter = FilterExtents::new(&self.filter);
        let filter = filter.ok_or_else(|| invalid(format!("`{op}`: the filter has no windows")))?;
        let packed = Packed::of(&self.slots.w, filter, self.is_packed, ctx)?;
        let factors = self.slots.factors(op, filter.num_filters(), ctx)?;
        let sign = sign_of(op, &self.slots.x)?;
        if self.slots.x_zero.dtype() != self.slots.x.dtype() {
            return Err(invalid(format!(
                "`{op}`: zero points of {} are incompatible with {}",
                self.slots.x_zero.metadata(),
                self.slots.x.metadata()
            )));
        }
        let zero = one_number(op, "x_zero_point", &self.slots.x_zero)? as i32;
        let bias = self.slots.bias(op, filter.num_filters())?;
        let starts = packed.sums.iter().enumerate().map(|(at, &sum)| {
            let bias = bias.as_ref().map_or(0, |bias| bias[at] as i32);
            bias.wrapping_sub(sum.wrapping_mul(zero + i32::from(sign)))
        });
        let starts: Vec<i32> = starts.collect();
        let requantization = self.bounds.requantization(op, &self.slots.y_zero)?;
        let mut y = unspecified(ctx, self.slots.y_zero.dtype(), dims)?;
        if y.num_elements() == 0 {
            return Ok(AnyRef::available(y));
        }
        let plan = ByteConvolution::new(shape, width(ctx))?;
        let x = self.slots.x.buffer().elements_owned::<u8>()?;
        let output = y.buffer_mut().elements_mut_owned::<u8>()?;
        let numbers = x.len() + packed.bytes.len() + output.len();
        report_work::<u8>(ctx, shape.operations(), numbers);
        let zero = zero as u8;
        let done = start(ctx, plan, output, move |job, block, workspace| {
            let packed = &packed.bytes[..job.plan().packed_filter_len()];
            let operands = ByteOperands::new(&x, packed, &starts, &factors, requantization);
            let operands = match sign {
                0 => operands.zero(zero),
                _ => operands.zero(zero).signed_input(),
            };
            job.run_block(block, operands, workspace)
        })?;
        Ok(after(done, y))
    }
}

/// Returns how the bytes of an operand represent numbers: its scale and zero point follow it.
fn scale_of(op: &'static str, slots: &Slots<'_>, first: usize, x: DType) -> Result<ByteScale> {
    let scale = one_number(op, "scale", &slots.need(first, "scale")?)? as f32;
    let zero = slots.need(first + 1, "zero_point")?;
    if zero.dtype() != x {
        return Err(invalid(format!(
            "`{op}`: expected a zero point of {x}, found {}",
            zero.metadata()
        )));
    }
    let zero = one_number(op, "zero_point", &zero)? as i32;
    Ok(ByteScale::new(scale, zero, x == DType::I8))
}

/// Adds quantised bytes, and quantises the sum, as `nn.Dequantize`, `tf.AddV2` and `nn.Quantize` do
/// one after the other. Operands are a tensor, its scale and its zero point, then those of the
/// other one, then the scale and the zero point of the result, whose numbers are at least `least`
/// and at most `greatest`. Tensors are broadcast to one shape.
///
/// # Errors
/// If the operands do not match.
#[tfrt_op("nn.QuantizedAdd")]
fn quantized_add(
    operands: &[AnyRef],
    #[attr] least: Option<i64>,
    #[attr] greatest: Option<i64>,
    ctx: &ExecutionContext,
) -> Result<AnyRef> {
    const OP: &str = "nn.QuantizedAdd";
    let slots = Slots::new(OP, operands, None);
    let (a, b) = (slots.need(0, "a")?, slots.need(3, "b")?);
    let dtype = slots.need(7, "y_zero_point")?.dtype();
    let bounds = Bounds::new(OP, dtype, least, greatest)?.both();
    sign_of(OP, &a)?;
    sign_of(OP, &b)?;
    let scales = [
        scale_of(OP, &slots, 1, a.dtype())?,
        scale_of(OP, &slots, 4, b.dtype())?,
        scale_of(OP, &slots, 6, dtype)?,
    ];
    let dims = common(OP, a.shape().dims(), b.shape().dims())?;
    let mut y = unspecified(ctx, dtype, &dims)?;
    let [a, b] = [
        stretched(&a, &dims, ctx)?.buffer().elements_owned::<u8>()?,
        stretched(&b, &dims, ctx)?.buffer().elements_owned::<u8>()?,
    ];
    let output = y.buffer_mut().elements_mut_owned::<u8>()?;
    let operations = output.len();
    let done = try_start_rows(ctx, output, 1, operations, move |rows, part| {
        let (a, b) = (&a[rows.clone()], &b[rows]);
        add_bytes((scales[0], a), (scales[1], b), scales[2], bounds, part)
    })?;
    Ok(after(done, y))
}

/// Returns bytes, stretched to a shape that they fit.
fn stretched(
    x: &DenseHostTensor,
    dims: &[usize],
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    if x.shape().dims() == dims {
        return Ok(x.clone());
    }
    let mut stretched = unspecified(ctx, x.dtype(), dims)?;
    {
        let from = x.buffer().read()?;
        let mut to = stretched.buffer_mut().write()?;
        for (to, place) in to
            .iter_mut()
            .zip(Stretched::new(x.shape().dims(), dims).places())
        {
            *to = from[place];
        }
    }
    Ok(stretched)
}
