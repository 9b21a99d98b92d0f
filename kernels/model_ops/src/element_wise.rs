//! Element-wise functions.
//!
//! Functions of real numbers are computed in double precision and rounded once, except for those
//! that have a fast form in [`tfrt_compute::unary`].

use tfrt::core::metadata::same_as;
use tfrt::prelude::*;
use tfrt_compute::Activation as Fast;
use tfrt_compute::unary::{self, Unary};
use tfrt_tensor::{DenseHostTensor, Element, I1, OwnedElementsMut};

use crate::epilogue::{self, applied};
use crate::number::{Number, with_number, with_real, with_type};
use crate::{Slots, dense, invalid, made, scratch, unspecified};

/// Returns a function of real numbers.
fn real(
    op: &'static str,
    x: &AnyRef,
    ctx: &ExecutionContext,
    function: impl Fn(f64) -> f64,
) -> Result<DenseHostTensor> {
    let x = dense(x)?;
    with_real!(op, x.dtype(), T => mapped(&x, ctx, |x: T| T::of_f64(function(x.to_f64()))))
}

/// Returns a function of each element.
fn mapped<T: Element, U: Element>(
    x: &DenseHostTensor,
    ctx: &ExecutionContext,
    function: impl Fn(T) -> U,
) -> Result<DenseHostTensor> {
    let mut y = unspecified(ctx, U::DTYPE, x.shape().dims())?;
    unary::map(&x.elements::<T>()?, &mut y.elements_mut::<U>()?, function);
    Ok(y)
}

/// Returns a function of real numbers that has a fast form.
fn fast(
    op: &'static str,
    fast: Unary,
    x: &AnyRef,
    ctx: &ExecutionContext,
    function: impl Fn(f64) -> f64,
) -> Result<DenseHostTensor> {
    let tensor = dense(x)?;
    match tensor.dtype() {
        DType::F32 => {
            let mut y = unspecified(ctx, DType::F32, tensor.shape().dims())?;
            unary::apply(
                fast,
                &tensor.elements::<f32>()?,
                &mut y.elements_mut::<f32>()?,
            );
            Ok(y)
        }
        _ => real(op, x, ctx, function),
    }
}

macro_rules! real_ops {
    ($($name:literal $id:ident: $doc:literal, $function:expr;)*) => {$(
        #[doc = $doc]
        ///
        /// # Errors
        /// If the elements are not real numbers.
        #[tfrt_op($name, metadata = same_as)]
        fn $id(x: &AnyRef, ctx: &ExecutionContext) -> Result<DenseHostTensor> {
            real($name, x, ctx, $function)
        }
    )*};
}

real_ops! {
    "nn.Acos" acos: "Computes the inverse cosine of each element.", f64::acos;
    "nn.Acosh" acosh: "Computes the inverse hyperbolic cosine of each element.", libm::acosh;
    "nn.Asin" asin: "Computes the inverse sine of each element.", f64::asin;
    "nn.Asinh" asinh: "Computes the inverse hyperbolic sine of each element.", libm::asinh;
    "nn.Atan" atan: "Computes the inverse tangent of each element.", f64::atan;
    "nn.Atanh" atanh: "Computes the inverse hyperbolic tangent of each element.", libm::atanh;
    "nn.Cos" cos: "Computes the cosine of each element.", f64::cos;
    "nn.Cosh" cosh: "Computes the hyperbolic cosine of each element.", f64::cosh;
    "nn.Sin" sin: "Computes the sine of each element.", f64::sin;
    "nn.Sinh" sinh: "Computes the hyperbolic sine of each element.", f64::sinh;
    "nn.Tan" tan: "Computes the tangent of each element.", f64::tan;
    "nn.Softsign" softsign: "Computes `x / (1 + |x|)` for each element.", |x| x / (1.0 + x.abs());
    "nn.Reciprocal" reciprocal: "Computes `1 / x` for each element.", |x| 1.0 / x;
}

macro_rules! activation_ops {
    ($($name:literal $id:ident $fast:ident: $doc:literal, $function:expr;)*) => {$(
        #[doc = $doc]
        ///
        /// # Errors
        /// If the elements are not real numbers.
        #[tfrt_op($name, metadata = same_as)]
        fn $id(x: &AnyRef, ctx: &ExecutionContext) -> Result<DenseHostTensor> {
            match dense(x)?.dtype() {
                DType::F32 => applied(x, Fast::$fast, ctx),
                _ => real($name, x, ctx, $function),
            }
        }
    )*};
}

activation_ops! {
    "nn.Erf" erf Erf: "Computes the error function of each element.", libm::erf;
    "nn.HardSwish" hard_swish HardSwish: "Computes `x · max(0, min(1, x / 6 + 1 / 2))` for each element.",
        |x| x * (x / 6.0 + 0.5).clamp(0.0, 1.0);
    "nn.Mish" mish Mish: "Computes `x · tanh(ln(1 + eˣ))` for each element.", |x| x * softplus_of(x).tanh();
    "nn.Softplus" softplus Softplus: "Computes `ln(1 + eˣ)` for each element.", softplus_of;
}

/// Returns `ln(1 + eˣ)`, without overflow.
fn softplus_of(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}

macro_rules! fast_ops {
    ($($name:literal $id:ident $fast:ident: $doc:literal, $function:expr;)*) => {$(
        #[doc = $doc]
        ///
        /// # Errors
        /// If the elements are not real numbers.
        #[tfrt_op($name, metadata = same_as)]
        fn $id(x: &AnyRef, ctx: &ExecutionContext) -> Result<DenseHostTensor> {
            fast($name, Unary::$fast, x, ctx, $function)
        }
    )*};
}

fast_ops! {
    "nn.Exp" exp Exp: "Computes `eˣ` for each element.", f64::exp;
    "nn.Log" log Ln: "Computes the natural logarithm of each element.", f64::ln;
    "nn.Sqrt" sqrt Sqrt: "Computes the square root of each element.", f64::sqrt;
    "nn.Sigmoid" sigmoid Sigmoid: "Computes `1 / (1 + e⁻ˣ)` for each element.", sigmoid_of;
    "nn.Tanh" tanh Tanh: "Computes the hyperbolic tangent of each element.", f64::tanh;
}

/// Returns `1 / (1 + e⁻ˣ)`, without overflow.
fn sigmoid_of(x: f64) -> f64 {
    if x >= 0.0 {
        1.0 / (1.0 + (-x).exp())
    } else {
        let power = x.exp();
        power / (1.0 + power)
    }
}

/// A function of numbers of any type.
macro_rules! number_op {
    ($(#[$doc:meta])* $name:literal $id:ident $T:ident $x:ident => $element:expr) => {
        $(#[$doc])*
        ///
        /// # Errors
        /// If the elements are not numbers.
        #[tfrt_op($name, metadata = same_as)]
        fn $id(x: &AnyRef, ctx: &ExecutionContext) -> Result<DenseHostTensor> {
            let x = dense(x)?;
            with_number!($name, x.dtype(), $T => mapped(&x, ctx, |$x: $T| $element))
        }
    };
}

number_op! {
    /// Computes the absolute value of each element; the least integer is unchanged.
    "nn.Abs" abs T x => if x < T::of_f64(0.0) || (T::IS_REAL && x.to_f64().is_sign_negative()) {
        negated(x)
    } else {
        x
    }
}

number_op! {
    /// Computes `-x` for each element; integers wrap around.
    "nn.Neg" neg T x => negated(x)
}

number_op! {
    /// Computes the sign of each element: -1, 0 or 1; NaN is kept.
    "nn.Sign" sign T x => {
        let zero = T::of_f64(0.0);
        if x > zero {
            T::of_f64(1.0)
        } else if x < zero {
            T::of_f64(-1.0)
        } else {
            x
        }
    }
}

fn negated<T: Number>(x: T) -> T {
    if T::IS_REAL {
        T::of_f64(-x.to_f64())
    } else {
        // `-1` wraps around to the greatest unsigned number.
        x.times(T::of_f64(0.0).plus(minus_one()))
    }
}

fn minus_one<T: Number>() -> T {
    let one = T::of_f64(1.0);
    // The greatest number plus one is the least one: `-1` is what 1 is added to for 0.
    if T::LEAST < T::of_f64(0.0) {
        T::of_f64(-1.0)
    } else {
        debug_assert!(T::GREATEST.plus(one) == T::of_f64(0.0));
        T::GREATEST
    }
}

macro_rules! rounding_ops {
    ($($name:literal $id:ident: $doc:literal, $function:expr;)*) => {$(
        #[doc = $doc]
        ///
        /// # Errors
        /// If the elements are not real numbers.
        #[tfrt_op($name, metadata = same_as)]
        fn $id(x: &AnyRef, ctx: &ExecutionContext) -> Result<DenseHostTensor> {
            real($name, x, ctx, $function)
        }
    )*};
}

rounding_ops! {
    "nn.Ceil" ceil: "Rounds each element up.", f64::ceil;
    "nn.Floor" floor: "Rounds each element down.", f64::floor;
    "nn.Round" round: "Rounds each element to the nearest whole number, halves to even ones.", f64::round_ties_even;
}

/// Returns whether each element is NaN.
///
/// # Errors
/// If the elements are not real numbers.
#[tfrt_op("nn.IsNaN")]
fn is_nan(x: &AnyRef, ctx: &ExecutionContext) -> Result<DenseHostTensor> {
    let x = dense(x)?;
    with_real!("nn.IsNaN", x.dtype(), T => {
        mapped(&x, ctx, |x: T| I1::from(x.to_f64().is_nan()))
    })
}

/// Returns whether each element is infinite, with one of the selected signs.
///
/// # Errors
/// If the elements are not real numbers.
#[tfrt_op("nn.IsInf")]
fn is_inf(
    x: &AnyRef,
    #[attr(default = true)] detects_negative: bool,
    #[attr(default = true)] detects_positive: bool,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    let x = dense(x)?;
    with_real!("nn.IsInf", x.dtype(), T => {
        let from = x.elements::<T>()?;
        made(ctx, x.shape().dims(), |at| {
            let x = from[at].to_f64();
            I1::from(x.is_infinite() && if x < 0.0 { detects_negative } else { detects_positive })
        })
    })
}

/// Computes a parameterised function of each element: `elu`, `leaky_relu`, `selu`, `celu`,
/// `hard_sigmoid`, `thresholded_relu`, `swish`, `gelu`, `gelu_tanh` or `shrink`.
///
/// # Errors
/// If the function is none of these, or the elements are not real numbers; `shrink` takes integers,
/// too, and rounds them towards zero.
#[tfrt_op("nn.Activation")]
fn activation(
    x: &AnyRef,
    #[attr] function: &str,
    #[attr(default = 0.0)] alpha: f32,
    #[attr(default = 0.0)] beta: f32,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    const OP: &str = "nn.Activation";
    if dense(x)?.dtype() == DType::F32
        && let Some(fast) = epilogue::activation_of(function, alpha, beta)
    {
        return applied(x, fast, ctx);
    }
    let is_shrink = function == "shrink";
    let function = activation_of(function)
        .ok_or_else(|| invalid(format!("`{OP}`: unknown function `{function}`")))?;
    let (alpha, beta) = (f64::from(alpha), f64::from(beta));
    let tensor = dense(x)?;
    if is_shrink {
        return with_number!(OP, tensor.dtype(), T => mapped(&tensor, ctx, |x: T| {
            T::of_f64(function(x.to_f64(), alpha, beta))
        }));
    }
    real(OP, x, ctx, |x| function(x, alpha, beta))
}

/// A function of an element and two parameters.
pub(crate) type Activation = fn(f64, f64, f64) -> f64;

/// Returns the function of a name.
pub(crate) fn activation_of(name: &str) -> Option<Activation> {
    Some(match name {
        "relu" => |x, _, _| if x < 0.0 { 0.0 } else { x },
        "tanh" => |x, _, _| x.tanh(),
        "sigmoid" => |x, _, _| sigmoid_of(x),
        "softsign" => |x, _, _| x / (1.0 + x.abs()),
        "softplus" => |x, _, _| softplus_of(x),
        "affine" => |x, alpha, beta| alpha * x + beta,
        "scaled_tanh" => |x, alpha, beta| alpha * (beta * x).tanh(),
        "elu" => |x, alpha, _| if x < 0.0 { alpha * x.exp_m1() } else { x },
        "leaky_relu" => |x, alpha, _| if x < 0.0 { alpha * x } else { x },
        "selu" => |x, alpha, gamma| gamma * if x > 0.0 { x } else { alpha * x.exp_m1() },
        "celu" => |x, alpha, _| {
            if x < 0.0 {
                alpha * (x / alpha).exp_m1()
            } else {
                x
            }
        },
        "hard_sigmoid" => |x, alpha, beta| (alpha * x + beta).clamp(0.0, 1.0),
        "thresholded_relu" => |x, alpha, _| if x > alpha { x } else { 0.0 },
        "swish" => |x, alpha, _| x * sigmoid_of(alpha * x),
        "gelu" => |x, _, _| 0.5 * x * libm::erfc(-x * std::f64::consts::FRAC_1_SQRT_2),
        "gelu_tanh" => |x, _, _| {
            let inner = (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044_715 * x * x * x);
            0.5 * x * (1.0 + inner.tanh())
        },
        "shrink" => |x, bias, lambd| {
            if x < -lambd {
                x + bias
            } else if x > lambd {
                x - bias
            } else {
                0.0
            }
        },
        _ => return None,
    })
}

/// Clamps each element to the range from `min` to `max`, either of which may be omitted. If `min`
/// is greater than `max`, all elements become `max`. NaN is kept.
///
/// # Errors
/// If the elements are not numbers, or a bound is not one number.
#[tfrt_op("nn.Clip")]
fn clip(
    operands: &[AnyRef],
    #[attr] slots: Option<&[i64]>,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    const OP: &str = "nn.Clip";
    let slots = Slots::new(OP, operands, slots);
    let x = slots.need(0, "x")?;
    let (min, max) = (slots.get(1)?, slots.get(2)?);
    let single = |bound: &Option<DenseHostTensor>, missing: f32| match bound {
        None => Some(missing),
        Some(bound) if bound.dtype() == DType::F32 && bound.num_elements() == 1 => {
            let bound = bound.elements::<f32>().ok()?[0];
            (!bound.is_nan()).then_some(bound)
        }
        Some(_) => None,
    };
    if x.dtype() == DType::F32
        && let (Some(min), Some(max)) =
            (single(&min, f32::NEG_INFINITY), single(&max, f32::INFINITY))
        && let Some(operand) = slots.operand(0)
    {
        drop(x);
        return applied(operand, Fast::Clip(min, max), ctx);
    }
    with_number!(OP, x.dtype(), T => {
        let bound = |bound: Option<DenseHostTensor>| match bound {
            None => Ok(None),
            Some(bound) if bound.num_elements() != 1 => {
                Err(invalid(format!("`{OP}`: expected scalar bounds")))
            }
            Some(bound) if bound.dtype() == x.dtype() => Ok(Some(bound.elements::<T>()?[0])),
            Some(bound) => Ok(Some(T::of_f64(crate::real_numbers(OP, &bound, ctx)?[0]))),
        };
        let (min, max) = (bound(min)?, bound(max)?);
        let from = x.elements::<T>()?;
        made(ctx, x.shape().dims(), |at| {
            let x = from[at];
            // A bound that is NaN is the result.
            let is_nan = |bound: &T| Number::is_nan(*bound) && !Number::is_nan(x);
            let x = min.filter(|min| x < *min || is_nan(min)).unwrap_or(x);
            let is_nan = |bound: &T| Number::is_nan(*bound) && !Number::is_nan(x);
            max.filter(|max| x > *max || is_nan(max)).unwrap_or(x)
        })
    })
}

/// Inverts the bits of each element.
///
/// # Errors
/// If the elements are not integers.
#[tfrt_op("nn.BitwiseNot", metadata = same_as)]
fn bitwise_not(x: &AnyRef, ctx: &ExecutionContext) -> Result<DenseHostTensor> {
    let x = dense(x)?;
    crate::number::with_integer!("nn.BitwiseNot", x.dtype(), T => {
        let from = x.elements::<T>()?;
        made(ctx, x.shape().dims(), |at| !from[at])
    })
}

/// Returns its operand.
#[tfrt_op("nn.Identity", metadata = same_as)]
fn identity(x: &AnyRef) -> Result<DenseHostTensor> {
    dense(x)
}

/// Returns a tensor of true Booleans with the shape of another tensor.
#[tfrt_op("nn.AllTrue")]
fn all_true(x: &AnyRef, ctx: &ExecutionContext) -> Result<DenseHostTensor> {
    made(ctx, dense(x)?.shape().dims(), |_| I1::from(true))
}

/// Computes `max(x, 0)` for each element; NaN is kept.
///
/// # Errors
/// If the elements are not signed numbers.
#[tfrt_op("nn.Relu", metadata = same_as)]
fn relu(x: &AnyRef, ctx: &ExecutionContext) -> Result<DenseHostTensor> {
    const OP: &str = "nn.Relu";
    if dense(x)?.dtype() == DType::F32 {
        return applied(x, Fast::Relu, ctx);
    }
    let x = dense(x)?;
    with_type!(OP, x.dtype(), T in [
        I8 => i8, I16 => i16, I32 => i32, I64 => i64, F16 => half::f16, Bf16 => half::bf16, F32 => f32, F64 => f64
    ] => {
        let zero = <T as Number>::of_f64(0.0);
        let from = x.elements::<T>()?;
        made(ctx, x.shape().dims(), |at| if from[at] < zero { zero } else { from[at] })
    })
}

/// Converts elements to the type of the second operand: numbers out of range become the nearest
/// value, NaN becomes 0, integers keep their low bits, and a number is true if it is not zero.
///
/// # Errors
/// If the elements of an operand are not supported.
#[tfrt_op("nn.CastLike")]
fn cast_like(x: &AnyRef, like: &AnyRef, ctx: &ExecutionContext) -> Result<DenseHostTensor> {
    const OP: &str = "nn.CastLike";
    /// Every element of a type, in one that holds all of its values.
    enum Wide {
        Whole(OwnedElementsMut<i64>),
        Real(OwnedElementsMut<f64>),
    }
    let (x, like) = (dense(x)?, dense(like)?);
    let has_no_sign = x.dtype() == DType::Ui64;
    let whole = |bits: i64| match has_no_sign {
        true => i128::from(bits as u64),
        false => i128::from(bits),
    };
    let wide = match x.dtype() {
        DType::I1 => {
            let elements = x.elements::<I1>()?;
            let mut numbers = scratch::<i64>(ctx, elements.len())?;
            let pairs = numbers.iter_mut().zip(&*elements);
            pairs.for_each(|(to, &x)| *to = bool::from(x).into());
            Wide::Whole(numbers)
        }
        DType::F16 | DType::Bf16 | DType::F32 | DType::F64 => {
            Wide::Real(crate::real_numbers(OP, &x, ctx)?)
        }
        dtype => crate::number::with_integer!(OP, dtype, T => {
            let elements = x.elements::<T>()?;
            let mut numbers = scratch::<i64>(ctx, elements.len())?;
            numbers.iter_mut().zip(&*elements).for_each(|(to, &x)| *to = i128::from(x) as i64);
            Ok(Wide::Whole(numbers))
        })?,
    };
    let dims = x.shape().dims();
    match like.dtype() {
        DType::I1 => made(ctx, dims, |at| {
            I1::from(match &wide {
                Wide::Whole(elements) => elements[at] != 0,
                Wide::Real(elements) => elements[at] != 0.0,
            })
        }),
        DType::F16 | DType::Bf16 | DType::F32 | DType::F64 => {
            with_real!(OP, like.dtype(), T => made(ctx, dims, |at| T::of_f64(match &wide {
                // Of odd numbers beyond 53 bits, double precision would round twice.
                Wide::Whole(elements) if size_of::<T>() == 4 => f64::from(whole(elements[at]) as f32),
                Wide::Whole(elements) => whole(elements[at]) as f64,
                Wide::Real(elements) => elements[at],
            })))
        }
        dtype => crate::number::with_integer!(OP, dtype, T => made(ctx, dims, |at| match &wide {
            Wide::Whole(elements) => whole(elements[at]) as T,
            Wide::Real(elements) => T::of_f64(elements[at]),
        })),
    }
}

/// Returns the bits of each element as an element of another type of the same size.
///
/// # Errors
/// If the types differ in size.
#[tfrt_op("nn.BitCast")]
fn bit_cast(x: &AnyRef, #[attr] dtype: DType, ctx: &ExecutionContext) -> Result<DenseHostTensor> {
    const OP: &str = "nn.BitCast";
    let x = dense(x)?;
    if dtype == DType::I1 || dtype.size_bytes() != x.dtype().size_bytes() {
        return Err(invalid(format!(
            "`{OP}` cannot reinterpret {} as {dtype}",
            x.dtype()
        )));
    }
    let mut y = unspecified(ctx, dtype, x.shape().dims())?;
    y.buffer_mut().write()?.copy_from_slice(&x.buffer().read()?);
    Ok(y)
}
