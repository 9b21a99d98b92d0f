//! Functions of two tensors, broadcast to one shape like in NumPy.

use tfrt::prelude::*;
use tfrt_compute::broadcast::Broadcast;
use tfrt_tensor::{DenseHostTensor, Element, I1, Shape};

use crate::number::{Number, with_integer, with_number, with_real, with_size};
use crate::{dense, invalid, made, product, strides, unspecified, unsupported};

/// The sources of a broadcast tensor's elements: for each position of the common shape, the
/// position in the tensor.
pub(crate) struct Stretched {
    dims: Vec<usize>,
    strides: Vec<usize>,
}

impl Stretched {
    /// Creates a tensor of `dims`, stretched to `shape`, which it fits.
    pub(crate) fn new(dims: &[usize], shape: &[usize]) -> Self {
        let own = strides(dims);
        let missing = shape.len() - dims.len();
        let strides = (0..shape.len()).map(|axis| match axis.checked_sub(missing) {
            Some(axis) if dims[axis] != 1 => own[axis],
            _ => 0,
        });
        Self {
            dims: shape.to_vec(),
            strides: strides.collect(),
        }
    }

    /// Returns the places, in order.
    pub(crate) fn places(self) -> impl Iterator<Item = usize> {
        let mut index = vec![0; self.dims.len()];
        let mut place = 0;
        (0..product(&self.dims)).map(move |_| {
            let found = place;
            for axis in (0..self.dims.len()).rev() {
                index[axis] += 1;
                place += self.strides[axis];
                if index[axis] < self.dims[axis] {
                    break;
                }
                place -= self.strides[axis] * self.dims[axis];
                index[axis] = 0;
            }
            found
        })
    }
}

/// Returns the common shape to which two shapes are broadcast.
pub(crate) fn common(op: &str, a: &[usize], b: &[usize]) -> Result<Vec<usize>> {
    match Broadcast::new(a, b) {
        Ok(broadcast) => Ok(broadcast.shape().to_vec()),
        Err(_) => Err(invalid(format!(
            "`{op}`: {} and {} cannot be broadcast to the same shape",
            Shape::new(a)?,
            Shape::new(b)?
        ))),
    }
}

/// Returns a function of the elements of two tensors.
fn zipped<A: Element, B: Element, R: Element>(
    op: &'static str,
    a: &DenseHostTensor,
    b: &DenseHostTensor,
    ctx: &ExecutionContext,
    mut function: impl FnMut(A, B) -> R,
) -> Result<DenseHostTensor> {
    let shape = common(op, a.shape().dims(), b.shape().dims())?;
    let (from_a, from_b) = (a.elements::<A>()?, b.elements::<B>()?);
    if a.shape() == b.shape() {
        return made(ctx, &shape, |at| function(from_a[at], from_b[at]));
    }
    let mut places = Stretched::new(a.shape().dims(), &shape)
        .places()
        .zip(Stretched::new(b.shape().dims(), &shape).places());
    made(ctx, &shape, |_| {
        let (a, b) = places.next().unwrap_or_default();
        function(from_a[a], from_b[b])
    })
}

fn same_type(op: &str, a: &DenseHostTensor, b: &DenseHostTensor) -> Result<DType> {
    if a.dtype() == b.dtype() {
        return Ok(a.dtype());
    }
    Err(invalid(format!(
        "`{op}`: expected operands of the same type, found {} and {}",
        a.dtype(),
        b.dtype()
    )))
}

/// Computes the greater of two elements, or NaN if one of them is NaN.
///
/// # Errors
/// If the operands do not match.
#[tfrt_op("nn.Max")]
fn max(a: &AnyRef, b: &AnyRef, ctx: &ExecutionContext) -> Result<DenseHostTensor> {
    extreme("nn.Max", a, b, ctx, true)
}

/// Computes the lesser of two elements, or NaN if one of them is NaN.
///
/// # Errors
/// If the operands do not match.
#[tfrt_op("nn.Min")]
fn min(a: &AnyRef, b: &AnyRef, ctx: &ExecutionContext) -> Result<DenseHostTensor> {
    extreme("nn.Min", a, b, ctx, false)
}

fn extreme(
    op: &'static str,
    a: &AnyRef,
    b: &AnyRef,
    ctx: &ExecutionContext,
    is_greater: bool,
) -> Result<DenseHostTensor> {
    let (a, b) = (dense(a)?, dense(b)?);
    with_number!(op, same_type(op, &a, &b)?, T => zipped(op, &a, &b, ctx, |a: T, b: T| {
        if Number::is_nan(a) || Number::is_nan(b) {
            return if Number::is_nan(a) { a } else { b };
        }
        if (a > b) == is_greater { a } else { b }
    }))
}

/// Divides `a` by `b`; integers round towards zero, and the least one divided by -1 wraps around.
///
/// # Errors
/// If the operands do not match, or an integer is divided by zero.
#[tfrt_op("nn.Div")]
fn div(a: &AnyRef, b: &AnyRef, ctx: &ExecutionContext) -> Result<DenseHostTensor> {
    const OP: &str = "nn.Div";
    let (a, b) = (dense(a)?, dense(b)?);
    let dtype = same_type(OP, &a, &b)?;
    match dtype {
        DType::F32 => return zipped(OP, &a, &b, ctx, |a: f32, b: f32| a / b),
        DType::F64 => return zipped(OP, &a, &b, ctx, |a: f64, b: f64| a / b),
        DType::F16 => {
            return zipped(OP, &a, &b, ctx, |a: half::f16, b: half::f16| a / b);
        }
        DType::Bf16 => {
            return zipped(OP, &a, &b, ctx, |a: half::bf16, b: half::bf16| a / b);
        }
        _ => {}
    }
    let mut is_valid = true;
    let result = with_integer!(OP, dtype, T => zipped(OP, &a, &b, ctx, |a: T, b: T| {
        is_valid &= b != 0;
        if b == 0 { 0 } else { a.wrapping_div(b) }
    }))?;
    match is_valid {
        true => Ok(result),
        false => Err(invalid(format!("`{OP}`: integer division by zero"))),
    }
}

/// Computes the remainder of `a` divided by `b`: with the sign of `b`, or of `a` with `fmod`.
///
/// # Errors
/// If the operands do not match, or an integer is divided by zero.
#[tfrt_op("nn.Mod")]
fn remainder(
    a: &AnyRef,
    b: &AnyRef,
    #[attr(default = false)] fmod: bool,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    const OP: &str = "nn.Mod";
    let (a, b) = (dense(a)?, dense(b)?);
    let mut is_valid = true;
    let result = with_number!(OP, same_type(OP, &a, &b)?, T => zipped(OP, &a, &b, ctx, |a: T, b: T| {
        let remainder = Number::remainder(a, b, fmod);
        is_valid &= remainder.is_some();
        remainder.unwrap_or_default()
    }))?;
    match is_valid {
        true => Ok(result),
        false => Err(invalid(format!("`{OP}`: integer division by zero"))),
    }
}

/// Raises `a` to the power of `b`, which may be of another type. The result has the type of `a`.
///
/// # Errors
/// If the operands do not match.
#[tfrt_op("nn.Pow")]
fn pow(a: &AnyRef, b: &AnyRef, ctx: &ExecutionContext) -> Result<DenseHostTensor> {
    const OP: &str = "nn.Pow";
    let (a, b) = (dense(a)?, dense(b)?);
    let exponents = crate::real_numbers(OP, &b)?;
    let b = made(ctx, b.shape().dims(), |at| exponents[at])?;
    with_number!(OP, a.dtype(), T => {
        zipped(OP, &a, &b, ctx, |a: T, b: f64| Number::power(a, b))
    })
}

/// Computes `x` for elements that are not negative, and `slope · x` for the others. The slope is
/// broadcast to the shape of `x`. With `by_channel`, there is one slope for all elements, or one
/// for each channel, the second dimension.
///
/// # Errors
/// If the operands do not match.
#[tfrt_op("nn.PRelu")]
fn prelu(
    x: &AnyRef,
    slope: &AnyRef,
    #[attr(default = false)] by_channel: bool,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    const OP: &str = "nn.PRelu";
    let (x, mut slope) = (dense(x)?, dense(slope)?);
    let rank = x.shape().rank();
    if by_channel && slope.num_elements() > 1 && rank > 1 {
        let mut dims = vec![1; rank];
        dims[1] = slope.num_elements();
        slope = crate::pieces::with_dims(&slope, &dims)?;
    }
    if common(OP, x.shape().dims(), slope.shape().dims())? != x.shape().dims() {
        return Err(invalid(format!(
            "`{OP}`: a slope of {} cannot be broadcast to {}",
            slope.metadata(),
            x.metadata()
        )));
    }
    with_number!(OP, same_type(OP, &x, &slope)?, T => {
        zipped(OP, &x, &slope, ctx, |x: T, slope: T| {
            if x < T::default() { Number::times(x, slope) } else { x }
        })
    })
}

/// Returns whether elements are equal, of any type.
///
/// # Errors
/// If the operands do not match.
#[tfrt_op("nn.Equal")]
fn equal(a: &AnyRef, b: &AnyRef, ctx: &ExecutionContext) -> Result<DenseHostTensor> {
    const OP: &str = "nn.Equal";
    let (a, b) = (dense(a)?, dense(b)?);
    if same_type(OP, &a, &b)? == DType::I1 {
        return zipped(OP, &a, &b, ctx, |a: I1, b: I1| I1::from(a == b));
    }
    with_number!(OP, a.dtype(), T => zipped(OP, &a, &b, ctx, |a: T, b: T| I1::from(a == b)))
}

macro_rules! logic_ops {
    ($($name:literal $id:ident: $doc:literal, $function:expr;)*) => {$(
        #[doc = $doc]
        ///
        /// # Errors
        /// If the operands are not Booleans, or do not match.
        #[tfrt_op($name)]
        fn $id(a: &AnyRef, b: &AnyRef, ctx: &ExecutionContext) -> Result<DenseHostTensor> {
            let (a, b) = (dense(a)?, dense(b)?);
            let function: fn(bool, bool) -> bool = $function;
            match same_type($name, &a, &b)? {
                DType::I1 => zipped($name, &a, &b, ctx, |a: I1, b: I1| {
                    I1::from(function(a.into(), b.into()))
                }),
                other => Err(unsupported($name, other)),
            }
        }
    )*};
}

logic_ops! {
    "nn.And" and: "Whether both operands are true.", |a, b| a && b;
    "nn.Or" or: "Whether at least one operand is true.", |a, b| a || b;
    "nn.Xor" xor: "Whether exactly one operand is true.", |a, b| a != b;
}

macro_rules! bit_ops {
    ($($name:literal $id:ident: $doc:literal, $function:expr;)*) => {$(
        #[doc = $doc]
        ///
        /// # Errors
        /// If the operands are not integers, or do not match.
        #[tfrt_op($name)]
        fn $id(a: &AnyRef, b: &AnyRef, ctx: &ExecutionContext) -> Result<DenseHostTensor> {
            let (a, b) = (dense(a)?, dense(b)?);
            with_integer!($name, same_type($name, &a, &b)?, T => {
                let function: fn(T, T) -> T = $function;
                zipped($name, &a, &b, ctx, function)
            })
        }
    )*};
}

bit_ops! {
    "nn.BitwiseAnd" bitwise_and: "The bitwise AND.", |a, b| a & b;
    "nn.BitwiseOr" bitwise_or: "The bitwise OR.", |a, b| a | b;
    "nn.BitwiseXor" bitwise_xor: "The bitwise XOR.", |a, b| a ^ b;
    "nn.ShiftLeft" shift_left: "The bits of `a`, shifted left by `b`; 0 if `b` is at least the \
                                width of the type.",
        |a, b| amount(b).and_then(|b| a.checked_shl(b)).unwrap_or(0);
    "nn.ShiftRight" shift_right: "The bits of `a`, shifted right by `b`; 0 if `b` is at least the \
                                  width of the type.",
        |a, b| amount(b).and_then(|b| a.checked_shr(b)).unwrap_or(0);
}

/// Returns the number of bits of a shift.
fn amount<T: TryInto<u32>>(element: T) -> Option<u32> {
    element.try_into().ok()
}

/// Takes each element from `x` where the condition is true, else from `y`; all three are broadcast
/// to one shape.
///
/// # Errors
/// If the operands do not match.
#[tfrt_op("nn.Where")]
fn select(
    condition: &AnyRef,
    x: &AnyRef,
    y: &AnyRef,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    const OP: &str = "nn.Where";
    let (condition, x, y) = (dense(condition)?, dense(x)?, dense(y)?);
    let dtype = same_type(OP, &x, &y)?;
    let dims = common(OP, x.shape().dims(), y.shape().dims())?;
    let dims = common(OP, condition.shape().dims(), &dims)?;
    let truths = condition.elements::<I1>()?;
    let mut result = unspecified(ctx, dtype, &dims)?;
    with_size!(OP, dtype, N => {
        let (from_x, from_y) = (x.buffer().read()?, y.buffer().read()?);
        let (from_x, from_y) = (from_x.as_chunks::<N>().0, from_y.as_chunks::<N>().0);
        let mut to = result.buffer_mut().write()?;
        let places = |tensor: &DenseHostTensor| Stretched::new(tensor.shape().dims(), &dims);
        let (condition, x, y) = (places(&condition), places(&x), places(&y));
        let sources = condition.places().zip(x.places()).zip(y.places());
        for (to, ((condition, x), y)) in to.as_chunks_mut::<N>().0.iter_mut().zip(sources) {
            *to = if truths[condition].into() { from_x[x] } else { from_y[y] };
        }
        Ok(())
    })?;
    Ok(result)
}

/// Computes the mean of any number of tensors, broadcast to one shape.
///
/// # Errors
/// If the operands are not real numbers, or do not match.
#[tfrt_op("nn.Mean")]
fn mean(operands: &[AnyRef], ctx: &ExecutionContext) -> Result<DenseHostTensor> {
    const OP: &str = "nn.Mean";
    let tensors = operands.iter().map(dense).collect::<Result<Vec<_>>>()?;
    let (Some(first), count) = (tensors.first(), tensors.len() as f64) else {
        return Err(invalid(format!(
            "`{OP}`: expected at least one operand, found none"
        )));
    };
    let mut dims = first.shape().dims().to_vec();
    for tensor in &tensors {
        same_type(OP, first, tensor)?;
        dims = common(OP, &dims, tensor.shape().dims())?;
    }
    let mut sums = vec![0.0; Shape::new(&dims)?.num_elements()];
    for tensor in &tensors {
        let numbers = crate::real_numbers(OP, tensor)?;
        let places = Stretched::new(tensor.shape().dims(), &dims);
        for (sum, place) in sums.iter_mut().zip(places.places()) {
            *sum += numbers[place];
        }
    }
    with_real!(OP, first.dtype(), T => made(ctx, &dims, |at| <T as Number>::of_f64(sums[at] / count)))
}
