//! Functions of two tensors, broadcast to one shape like in NumPy.

use tfrt::prelude::*;
use tfrt_compute::broadcast::Broadcast;
use tfrt_tensor::{DenseHostTensor, Element, I1, Shape};

use crate::number::{Number, with_integer, with_number, with_real, with_size};
use crate::{dense, invalid, made, product, real_tensor, strides, unspecified, unsupported};

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

/// Tensors that are stretched to one shape, row by row: within a row, each of them moves on by one
/// element or stays at the same one.
pub(crate) struct Rows<const N: usize> {
    /// The dimensions before those of a row, and how far each tensor moves in them.
    outer: Vec<usize>,
    strides: [Vec<usize>; N],
    /// The elements of a row.
    pub(crate) len: usize,
    /// Whether each tensor moves within a row.
    pub(crate) moves: [bool; N],
}

impl<const N: usize> Rows<N> {
    /// Creates tensors of these dimensions, stretched to `shape`, which they fit.
    pub(crate) fn new(tensors: [&[usize]; N], shape: &[usize]) -> Self {
        let mut strides = tensors.map(|dims| Stretched::new(dims, shape).strides);
        let (mut axis, mut len, mut moves) = (shape.len(), 1, [false; N]);
        while axis > 0 {
            let own: [usize; N] = std::array::from_fn(|tensor| strides[tensor][axis - 1]);
            if shape[axis - 1] != 1 {
                if len == 1 {
                    moves = own.map(|stride| stride != 0);
                }
                let goes_on = |(own, moves): (&usize, &bool)| *own == usize::from(*moves) * len;
                if !own.iter().zip(&moves).all(goes_on) {
                    break;
                }
            }
            len *= shape[axis - 1];
            axis -= 1;
        }
        strides
            .iter_mut()
            .for_each(|strides| strides.truncate(axis));
        Self {
            outer: shape[..axis].to_vec(),
            strides,
            len,
            moves,
        }
    }

    /// Returns where each row begins in each tensor, in order.
    pub(crate) fn places(&self) -> impl Iterator<Item = [usize; N]> + use<'_, N> {
        let mut index = vec![0; self.outer.len()];
        let mut places = [0; N];
        (0..product(&self.outer)).map(move |_| {
            let found = places;
            for axis in (0..self.outer.len()).rev() {
                index[axis] += 1;
                let extent = self.outer[axis];
                let is_inside = index[axis] < extent;
                for (place, strides) in places.iter_mut().zip(&self.strides) {
                    *place += strides[axis];
                    if !is_inside {
                        *place -= strides[axis] * extent;
                    }
                }
                if is_inside {
                    break;
                }
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
    function: impl FnMut(A, B) -> R,
) -> Result<DenseHostTensor> {
    let (a_dims, b_dims) = (a.shape().dims(), b.shape().dims());
    common(op, a_dims, b_dims)?;
    let broadcast = Broadcast::new(a_dims, b_dims)?;
    let mut result = unspecified(ctx, R::DTYPE, broadcast.shape())?;
    broadcast.zip(
        &a.elements::<A>()?,
        &b.elements::<B>()?,
        &mut result.elements_mut::<R>()?,
        function,
    )?;
    Ok(result)
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
    let exponents = crate::real_numbers(OP, &b, ctx)?;
    if let (DType::F32, &[exponent]) = (a.dtype(), &exponents[..]) {
        let rank = a.shape().rank().max(b.shape().rank());
        if let Some(result) = simple_power(&a, exponent, rank, ctx)? {
            return Ok(result);
        }
    }
    let b = made(ctx, b.shape().dims(), |at| exponents[at])?;
    with_number!(OP, a.dtype(), T => {
        zipped(OP, &a, &b, ctx, |a: T, b: f64| Number::power(a, b))
    })
}

/// Returns a power whose exponent needs no logarithm, with the bits of the general one.
fn simple_power(
    x: &DenseHostTensor,
    exponent: f64,
    rank: usize,
    ctx: &ExecutionContext,
) -> Result<Option<DenseHostTensor>> {
    let one = made(ctx, &vec![1; rank], |_| 1.0_f32)?;
    // Products of two numbers of single precision are exact.
    macro_rules! powers {
        ($x:ident => $power:expr) => {
            zipped("nn.Pow", x, &one, ctx, |x: f32, _: f32| {
                let $x = f64::from(x);
                let power: f64 = $power;
                power as f32
            })
        };
    }
    let result = match exponent {
        1.0 => powers!(x => x),
        2.0 => powers!(x => x * x),
        3.0 => powers!(x => x * x * x),
        -1.0 => powers!(x => 1.0 / x),
        // Unlike its root, the power of -0 is 0, and that of -∞ is ∞.
        0.5 => powers!(x => {
            let root = x.sqrt() + 0.0;
            if x == f64::NEG_INFINITY { f64::INFINITY } else { root }
        }),
        _ => return Ok(None),
    };
    result.map(Some)
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
        let tensors = [condition.shape().dims(), x.shape().dims(), y.shape().dims()];
        let rows = Rows::new(tensors, &dims);
        // Nothing begins where there is nothing.
        let len = rows.len.max(1);
        let [is_mixed, moves_x, moves_y] = rows.moves;
        for (to, [at, x, y]) in to.as_chunks_mut::<N>().0.chunks_exact_mut(len).zip(rows.places()) {
            let (from_x, from_y) = (&from_x[x..], &from_y[y..]);
            if !is_mixed {
                match (bool::from(truths[at]), moves_x, moves_y) {
                    (true, true, _) => to.copy_from_slice(&from_x[..len]),
                    (false, _, true) => to.copy_from_slice(&from_y[..len]),
                    (true, false, _) => to.fill(from_x[0]),
                    (false, _, false) => to.fill(from_y[0]),
                }
                continue;
            }
            let choices = to.iter_mut().zip(&truths[at..]).map(|(to, &truth)| (to, bool::from(truth)));
            match (moves_x, moves_y) {
                (true, true) => for (((to, is_x), x), y) in choices.zip(from_x).zip(from_y) {
                    *to = if is_x { *x } else { *y };
                },
                (true, false) => for ((to, is_x), x) in choices.zip(from_x) {
                    *to = if is_x { *x } else { from_y[0] };
                },
                (false, true) => for ((to, is_x), y) in choices.zip(from_y) {
                    *to = if is_x { from_x[0] } else { *y };
                },
                (false, false) => for (to, is_x) in choices {
                    *to = if is_x { from_x[0] } else { from_y[0] };
                },
            }
        }
        Ok(())
    })?;
    Ok(result)
}

/// Computes the sum of any number of tensors, broadcast to one shape. Half-precision numbers are
/// rounded once.
///
/// # Errors
/// If the operands are not numbers, or do not match.
#[tfrt_op("nn.Sum")]
fn sum(operands: &[AnyRef], ctx: &ExecutionContext) -> Result<DenseHostTensor> {
    const OP: &str = "nn.Sum";
    let Some((first, others)) = operands.split_first() else {
        return Err(invalid(format!(
            "`{OP}`: expected at least one operand, found none"
        )));
    };
    let first = dense(first)?;
    let dtype = first.dtype();
    if !matches!(dtype, DType::F16 | DType::Bf16) {
        return others.iter().try_fold(first, |sum, other| {
            let other = dense(other)?;
            same_type(OP, &sum, &other)?;
            with_number!(OP, dtype, T => zipped(OP, &sum, &other, ctx, <T as Number>::plus))
        });
    }
    let sum = others
        .iter()
        .try_fold(real_tensor(OP, &first, ctx)?, |sum, other| {
            let other = dense(other)?;
            same_type(OP, &first, &other)?;
            let other = real_tensor(OP, &other, ctx)?;
            zipped(OP, &sum, &other, ctx, <f64 as Number>::plus)
        })?;
    with_real!(OP, dtype, T => {
        let numbers = sum.elements::<f64>()?;
        made(ctx, sum.shape().dims(), |at| <T as Number>::of_f64(numbers[at]))
    })
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
    with_real!(OP, first.dtype(), T => {
        let mut terms = Vec::with_capacity(tensors.len());
        for tensor in &tensors {
            let places = Stretched::new(tensor.shape().dims(), &dims).places();
            terms.push((tensor.elements::<T>()?, places));
        }
        made(ctx, &dims, |_| {
            let terms = terms.iter_mut();
            let sum = terms.fold(0.0, |sum, (numbers, places)| {
                sum + places.next().map_or(0.0, |place| numbers[place].to_f64())
            });
            <T as Number>::of_f64(sum / count)
        })
    })
}
