//! Products and convolutions of bytes into 32-bit integers, on the routines for bytes.
//!
//! These multiply unsigned bytes `x` by signed ones `w`. With zero points `p` and `q`:
//!
//! ```text
//!   Σ (x - p) · (w - q)  =  Σ x · w  -  p · Σ w  +  k · p · q  -  q · Σ x
//!                           products    ──── by filter ─────     by row and filter
//! ```
//!
//! Signed bytes of `x` and unsigned ones of `w` are read with their highest bit inverted, and so
//! are their zero points.

use tfrt::prelude::*;
use tfrt_compute::convolution::{Conv2dShape, Padding, Window};
use tfrt_compute::quantized::{ByteConvolution, ByteOperands, ByteSums};
use tfrt_kernels::numeric::{report_work, start, width};
use tfrt_kernels::packed_weights::{self, Order};
use tfrt_tensor::DenseHostTensor;

use super::bytes::{FilterExtents, Packed, SIGN};
use crate::shapes::permuted;
use crate::windows::{Layout, place_windows};
use crate::{product, unspecified, whole_numbers};

/// Two factors that the routines take.
struct Factors<'a> {
    x: &'a DenseHostTensor,
    w: &'a DenseHostTensor,
    /// The zero points as the bytes are read. There is none for the filters, or one for each.
    x_zero: u8,
    w_zeros: Vec<i32>,
}

/// Returns the bits that are inverted in the bytes of a factor, so that it has the wanted type.
fn flip(x: &DenseHostTensor, wanted: DType) -> u8 {
    if x.dtype() == wanted { 0 } else { SIGN }
}

impl<'a> Factors<'a> {
    /// Returns the factors if their zero points fit: one for `x`, and one for all or each of
    /// `num_filters`.
    fn new(
        op: &'static str,
        [x, w]: [&'a DenseHostTensor; 2],
        zeros: [Option<&DenseHostTensor>; 2],
        num_filters: usize,
    ) -> Result<Option<Self>> {
        for (factor, zero) in [x, w].into_iter().zip(zeros) {
            let is_byte = matches!(factor.dtype(), DType::Ui8 | DType::I8);
            if !is_byte || zero.is_some_and(|zero| zero.dtype() != factor.dtype()) {
                return Ok(None);
            }
        }
        let numbers = |zero: Option<&DenseHostTensor>| match zero {
            Some(zero) => whole_numbers(op, zero),
            None => Ok(vec![0]),
        };
        let (x_zeros, w_zeros) = (numbers(zeros[0])?, numbers(zeros[1])?);
        let &[x_zero] = &x_zeros[..] else {
            return Ok(None);
        };
        if w_zeros.len() != 1 && w_zeros.len() != num_filters {
            return Ok(None);
        }
        let w_shift = i64::from(flip(w, DType::I8));
        let w_zeros = w_zeros.iter().cycle().take(num_filters);
        Ok(Some(Self {
            x,
            w,
            x_zero: (x_zero as u8) ^ flip(x, DType::Ui8),
            w_zeros: w_zeros.map(|zero| (zero - w_shift) as i32).collect(),
        }))
    }

    /// Starts a convolution, whose result has these dimensions.
    fn start(
        self,
        x: &DenseHostTensor,
        filter: FilterExtents,
        shape: Conv2dShape,
        dims: &[usize],
        ctx: &ExecutionContext,
    ) -> Result<(AsyncValueRef<Chain>, DenseHostTensor)> {
        let mut y = unspecified(ctx, DType::I32, dims)?;
        let output = y.elements_mut_owned::<i32>()?;
        let plan = ByteConvolution::new(shape, width(ctx))?;
        let packed = self.packed(filter, ctx)?;
        let (x_zero, len) = (i32::from(self.x_zero), filter.window_len() as i32);
        let starts = packed.sums.iter().zip(&self.w_zeros);
        let starts = starts.map(|(&sum, &w_zero)| {
            let of_zeros = len.wrapping_mul(w_zero).wrapping_sub(sum);
            of_zeros.wrapping_mul(x_zero)
        });
        let starts: Vec<i32> = starts.collect();
        let w_zeros = match self.w_zeros.iter().all(|&zero| zero == 0) {
            true => Vec::new(),
            false => self.w_zeros,
        };
        let sign = flip(x, DType::Ui8);
        // The routine inverts the zero point of signed bytes itself.
        let padding = self.x_zero ^ sign;
        let x = x.buffer().elements_owned::<u8>()?;
        let numbers = x.len() + packed.bytes.len() + size_of::<i32>() * output.len();
        report_work::<u8>(ctx, shape.operations(), numbers);
        let plan = ByteSums::new(plan);
        let done = start(ctx, plan, output, move |job, block, workspace| {
            let filter = &packed.bytes[..job.plan().convolution().packed_filter_len()];
            let operands = ByteOperands::of_sums(&x, filter, &starts)
                .filter_zeros(&w_zeros)
                .zero(padding);
            let operands = match sign {
                0 => operands,
                _ => operands.signed_input(),
            };
            job.run_block(block, operands, workspace)
        })?;
        Ok((done, y))
    }

    /// Returns the filters in the order of the routines. They are packed once if they are used
    /// again.
    fn packed(&self, filter: FilterExtents, ctx: &ExecutionContext) -> Result<Packed> {
        let from = self.w.buffer().elements_owned::<i8>()?;
        let flip = flip(self.w, DType::I8).cast_signed();
        let order = Order::Bytes {
            extents: match filter {
                FilterExtents::Window(extents) => extents,
                FilterExtents::Matrix([inner, columns]) => [inner, columns, 0, 0],
            },
            is_signed: flip == 0,
        };
        let pack = |packed: &mut [i8]| filter.pack(&from, flip, packed);
        let len = filter.packed_len()?;
        let packed = packed_weights::find_or_pack(ctx, &from, order, len, pack)?;
        Packed::new(packed, filter)
    }
}

/// Starts a product with a matrix on the right, if the routines take the factors.
pub(super) fn multiply(
    op: &'static str,
    [a, b]: [&DenseHostTensor; 2],
    zeros: [Option<&DenseHostTensor>; 2],
    ctx: &ExecutionContext,
) -> Result<Option<AnyRef>> {
    let (Some((&k, rows)), &[inner, n]) = (a.shape().dims().split_last(), b.shape().dims()) else {
        return Ok(None);
    };
    let dims = [rows, &[n]].concat();
    if k != inner || product(&dims) == 0 {
        return Ok(None);
    }
    let Some(factors) = Factors::new(op, [a, b], zeros, n)? else {
        return Ok(None);
    };
    let row = Window::new(1, 1, 1, 1, Padding::Valid)?;
    let pixels = Window::new(product(rows), 1, 1, 1, Padding::Valid)?;
    let shape = Conv2dShape::new(1, row, pixels, k, n)?;
    let (done, y) = factors.start(a, FilterExtents::Matrix([k, n]), shape, &dims, ctx)?;
    Ok(Some(tfrt_kernels::numeric::after(done, y)))
}

/// Starts a convolution of images, if the routines take the factors. Channels become the last
/// dimension meanwhile.
pub(super) fn convolve(
    [x, w]: [&DenseHostTensor; 2],
    zeros: [Option<&DenseHostTensor>; 2],
    layout: &Layout<'_>,
    ctx: &ExecutionContext,
) -> Result<Option<AnyRef>> {
    let op = layout.op();
    let (&[batch, channels, rows, columns], &[filters, per_group, row_taps, column_taps]) =
        (x.shape().dims(), w.shape().dims())
    else {
        return Ok(None);
    };
    if per_group != channels || x.num_elements() == 0 || w.num_elements() == 0 {
        return Ok(None);
    }
    let Some(factors) = Factors::new(op, [x, w], zeros, filters)? else {
        return Ok(None);
    };
    let windows = place_windows(layout, &[rows, columns], &[row_taps, column_taps])?;
    let shape = Conv2dShape::new(batch, windows[0], windows[1], channels, filters)?;
    let dims = [batch, windows[0].output, windows[1].output, filters];
    if product(&dims) == 0 {
        return Ok(None);
    }
    let x = permuted(op, factors.x, &[0, 2, 3, 1], ctx)?;
    let filter = FilterExtents::Window([filters, channels, row_taps, column_taps]);
    let (done, y) = factors.start(&x, filter, shape, &dims, ctx)?;
    let (promise, later) = AnyRef::indirect();
    let ctx = ctx.clone();
    done.and_then(move |done| {
        promise.forward_to(match done.error_if_present() {
            Some(error) => AnyRef::error(error.clone()),
            None => match permuted(op, &y, &[0, 3, 1, 2], &ctx) {
                Ok(y) => AnyRef::available(y),
                Err(error) => AnyRef::error(ctx.emit_error(error)),
            },
        });
    });
    Ok(Some(later))
}
