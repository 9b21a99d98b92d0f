//! Functions of elements: of one tensor, and of two that are broadcast to one shape.

use half::{bf16, f16};
use tfrt::core::metadata::partial::{self, PartialMetadata};
use tfrt::core::metadata::{broadcast, same_as};
use tfrt::prelude::*;
use tfrt::support::complex::Complex;
use tfrt_compute::binary::{self, Binary, Side};
use tfrt_compute::broadcast::Broadcast;
use tfrt_compute::element::Arithmetic;
use tfrt_compute::unary::{self, Unary};
use tfrt_tensor::{DenseHostTensor, Element, ScalarHostTensor, Shape, TensorRef};

use super::{
    allocate, as_dense, as_dense_operand, invalid, map_elements, mismatched, no_memory,
    unsupported, unsupported_dtype, with_dtype, with_number,
};

/// Computes `max(x, 0)` for each element.
///
/// # Errors
/// `unsupported dtype for relu`.
#[tfrt_op("tf.Relu", metadata = same_as, partial = partial::same_as, function = relu)]
pub fn compute_relu(x: &AnyRef, ctx: &ExecutionContext) -> Result<DenseHostTensor> {
    let tensor = as_dense_operand(x)?;
    let x = (x, tensor);
    with_number!(
        tensor.dtype(),
        T => map_elements::<T>(x, ctx, unary::relu, unary::relu_in_place),
        else Err(unsupported("unsupported dtype for relu"))
    )
}

fn real(function: Unary, x: &AnyRef, ctx: &ExecutionContext) -> Result<DenseHostTensor> {
    let tensor = as_dense_operand(x)?;
    let x = (x, tensor);
    with_dtype!(
        tensor.dtype(),
        T in [f32, f64] => map_elements::<T>(
            x,
            ctx,
            |x, y| unary::apply(function, x, y),
            |y| unary::apply_in_place(function, y),
        ),
        else Err(unsupported("unsupported dtype"))
    )
}

/// Computes the natural logarithm of each element.
///
/// # Errors
/// `unsupported dtype`.
#[tfrt_op("tf.Log", metadata = same_as, partial = partial::same_as, function = log)]
pub fn compute_log(x: &AnyRef, ctx: &ExecutionContext) -> Result<DenseHostTensor> {
    real(Unary::Ln, x, ctx)
}

/// Computes `ln(1 + x)` for each element.
///
/// # Errors
/// `unsupported dtype`.
#[tfrt_op("tf.Log1p", metadata = same_as, partial = partial::same_as, function = log1p)]
pub fn compute_log1p(x: &AnyRef, ctx: &ExecutionContext) -> Result<DenseHostTensor> {
    real(Unary::Ln1p, x, ctx)
}

/// Computes `1 / √x` for each element.
///
/// # Errors
/// `unsupported dtype`.
#[tfrt_op("tf.Rsqrt", metadata = same_as, partial = partial::same_as, function = rsqrt)]
pub fn compute_rsqrt(x: &AnyRef, ctx: &ExecutionContext) -> Result<DenseHostTensor> {
    real(Unary::Rsqrt, x, ctx)
}

/// Computes `1 / (1 + e⁻ˣ)` for each element.
///
/// # Errors
/// `unsupported dtype`.
#[tfrt_op("tf.Sigmoid", metadata = same_as, partial = partial::same_as, function = sigmoid)]
pub fn compute_sigmoid(x: &AnyRef, ctx: &ExecutionContext) -> Result<DenseHostTensor> {
    real(Unary::Sigmoid, x, ctx)
}

/// Computes `eˣ` for each element.
///
/// # Errors
/// `unsupported dtype`.
#[tfrt_op("tf.Exp", metadata = same_as, partial = partial::same_as, function = exp)]
pub fn compute_exp(x: &AnyRef, ctx: &ExecutionContext) -> Result<DenseHostTensor> {
    real(Unary::Exp, x, ctx)
}

/// Computes the square root of each element.
///
/// # Errors
/// `unsupported dtype`.
#[tfrt_op("tf.Sqrt", metadata = same_as, partial = partial::same_as, function = sqrt)]
pub fn compute_sqrt(x: &AnyRef, ctx: &ExecutionContext) -> Result<DenseHostTensor> {
    real(Unary::Sqrt, x, ctx)
}

/// Computes the hyperbolic tangent of each element. `tf.Tanh` has only metadata, as in the
/// reference.
///
/// # Errors
/// `unsupported dtype`.
#[tfrt_op("tfrt.Tanh", metadata = same_as, partial = partial::same_as, function = tanh)]
pub fn compute_tanh(x: &AnyRef, ctx: &ExecutionContext) -> Result<DenseHostTensor> {
    real(Unary::Tanh, x, ctx)
}

/// Computes the absolute value of each element.
///
/// # Errors
/// `unsupported dtype`.
#[tfrt_op("tf.Abs", metadata = same_as, partial = partial::same_as, function = abs)]
pub fn compute_abs(x: &AnyRef, ctx: &ExecutionContext) -> Result<DenseHostTensor> {
    real(Unary::Abs, x, ctx)
}

/// Clamps each element to `0..=6`.
///
/// # Errors
/// `unsupported dtype`.
#[tfrt_op("tf.Relu6", metadata = same_as, partial = partial::same_as, function = relu6)]
pub fn compute_relu6(x: &AnyRef, ctx: &ExecutionContext) -> Result<DenseHostTensor> {
    real(Unary::Relu6, x, ctx)
}

/// Computes `eˣ - 1` for negative elements, and returns the others unchanged.
///
/// # Errors
/// `unsupported dtype`.
#[tfrt_op("tf.Elu", metadata = same_as, partial = partial::same_as, function = elu)]
pub fn compute_elu(x: &AnyRef, ctx: &ExecutionContext) -> Result<DenseHostTensor> {
    real(Unary::Elu, x, ctx)
}

/// Computes `-x` for each element; integers wrap around.
///
/// # Errors
/// If the element type does not have arithmetic.
#[tfrt_op("tf.Neg", metadata = same_as, partial = partial::same_as, function = neg)]
pub fn compute_neg(x: &AnyRef, ctx: &ExecutionContext) -> Result<DenseHostTensor> {
    let tensor = as_dense_operand(x)?;
    let dtype = tensor.dtype();
    if matches!(dtype, DType::F32 | DType::F64) {
        return real(Unary::Neg, x, ctx);
    }
    let x = (x, tensor);
    with_number!(
        dtype,
        // A product, so that the sign of a zero changes, too.
        T => map_each::<T>(x, ctx, |x| T::default().minus(T::ONE).times(x)),
        else Err(unsupported_dtype("tf.Neg", dtype))
    )
}

/// Computes `x²` for each element; integers wrap around.
///
/// # Errors
/// If the element type does not have arithmetic.
#[tfrt_op("tf.Square", metadata = same_as, partial = partial::same_as, function = square)]
pub fn compute_square(x: &AnyRef, ctx: &ExecutionContext) -> Result<DenseHostTensor> {
    let tensor = as_dense_operand(x)?;
    let (x, dtype) = ((x, tensor), tensor.dtype());
    with_number!(
        dtype,
        T => map_each::<T>(x, ctx, |x| x.times(x)),
        else Err(unsupported_dtype("tf.Square", dtype))
    )
}

/// Returns a function of each element by itself.
fn map_each<T: Element>(
    x: (&AnyRef, &DenseHostTensor),
    ctx: &ExecutionContext,
    function: impl Fn(T) -> T,
) -> Result<DenseHostTensor> {
    map_elements::<T>(
        x,
        ctx,
        |x, y| y.iter_mut().zip(x).for_each(|(y, &x)| *y = function(x)),
        |y| y.iter_mut().for_each(|y| *y = function(*y)),
    )
}

/// Computes `a + b`, broadcast to one shape; integers wrap around. The result of this and the
/// following ops takes the memory of the first operand that has its shape and that has no other
/// references.
///
/// # Errors
/// `incompatible dtypes for binary operation`, `Dimensions must be equal, but are A and B`,
/// `Unsupported input dtype: D`.
#[tfrt_op("tf.AddV2", accepts(scalar), metadata = broadcast, partial = partial::broadcast, function = add)]
pub fn compute_add(a: &AnyRef, b: &AnyRef, ctx: &ExecutionContext) -> Result<AnyRef> {
    arithmetic(Binary::Add, a, b, ctx)
}

/// Computes `a · b`, broadcast to one shape; integers wrap around.
///
/// # Errors
/// Those of `tf.AddV2`.
#[tfrt_op("tf.Mul", accepts(scalar), metadata = broadcast, partial = partial::broadcast, function = mul)]
pub fn compute_mul(a: &AnyRef, b: &AnyRef, ctx: &ExecutionContext) -> Result<AnyRef> {
    arithmetic(Binary::Mul, a, b, ctx)
}

/// Computes `a / b`, broadcast to one shape. Integers round towards zero; division by zero yields
/// zero.
///
/// # Errors
/// Those of `tf.AddV2`.
#[tfrt_op("tf.RealDiv", accepts(scalar), metadata = broadcast, partial = partial::broadcast, function = real_div)]
pub fn compute_real_div(a: &AnyRef, b: &AnyRef, ctx: &ExecutionContext) -> Result<AnyRef> {
    arithmetic(Binary::Div, a, b, ctx)
}

/// Computes `a - b`, broadcast to one shape; integers wrap around.
///
/// # Errors
/// Those of `tf.AddV2`.
#[tfrt_op("tf.Sub", accepts(scalar), metadata = broadcast, partial = partial::broadcast, function = sub)]
pub fn compute_sub(a: &AnyRef, b: &AnyRef, ctx: &ExecutionContext) -> Result<AnyRef> {
    arithmetic(Binary::Sub, a, b, ctx)
}

/// Returns both operands, which are of one element type.
pub(super) fn sides<'a>(a: &'a AnyRef, b: &'a AnyRef) -> Result<(TensorRef<'a>, TensorRef<'a>)> {
    let (a, b) = (
        TensorRef::read(a).map_err(mismatched)?,
        TensorRef::read(b).map_err(mismatched)?,
    );
    if a.dtype() != b.dtype() {
        return Err(invalid("incompatible dtypes for binary operation"));
    }
    Ok((a, b))
}

#[cold]
pub(super) fn unsupported_input(dtype: DType) -> Error {
    unsupported(format!("Unsupported input dtype: {dtype}"))
}

pub(super) fn arithmetic(
    function: Binary,
    a_operand: &AnyRef,
    b_operand: &AnyRef,
    ctx: &ExecutionContext,
) -> Result<AnyRef> {
    if let Some(result) = dense_arithmetic(function, a_operand, b_operand, ctx) {
        return result;
    }
    let (a, b) = sides(a_operand, b_operand)?;
    with_dtype!(
        a.dtype(),
        T in [f32, f64, i32, i64, u8, u16, u32, u64, i8, i16, f16, bf16, Complex<f32>, Complex<f64>]
            => compute::<T>(function, [a_operand, b_operand], [&a, &b], ctx),
        else Err(unsupported_input(a.dtype()))
    )
}

/// Computes a function of dense tensors of one shape, or of which one has a single element and adds
/// no dimension. Returns `None` without doing anything for others, and if the result may take the
/// memory of an operand.
fn dense_arithmetic(
    function: Binary,
    a_operand: &AnyRef,
    b_operand: &AnyRef,
    ctx: &ExecutionContext,
) -> Option<Result<AnyRef>> {
    let a = a_operand.get::<DenseHostTensor>()?;
    let b = b_operand.get::<DenseHostTensor>()?;
    let may_be_taken = |operand: &AnyRef, tensor: &DenseHostTensor| {
        operand.is_unique_through_links() && tensor.is_exclusive()
    };
    if a.dtype() != b.dtype() || may_be_taken(a_operand, a) || may_be_taken(b_operand, b) {
        return None;
    }
    let is_repeated =
        |x: &Shape, target: &Shape| x.rank() <= target.rank() && x.num_elements() == 1;
    let target = match (a.shape(), b.shape()) {
        (of_a, of_b) if of_a == of_b || is_repeated(of_b, of_a) => a,
        (of_a, of_b) if is_repeated(of_a, of_b) => b,
        _ => return None,
    };
    fn compute<T: Element + Arithmetic>(
        function: Binary,
        [a, b]: [&DenseHostTensor; 2],
        target: &DenseHostTensor,
        ctx: &ExecutionContext,
    ) -> Result<AnyRef> {
        // Not as a pair, to which both would be moved.
        let a = a.elements::<T>()?;
        let b = b.elements::<T>()?;
        let apply = |output: &mut [T]| binary::stretch(function, &a, &b, output);
        let failed = |error| no_memory("out of memory allocating result", error);
        let result = target.computed_like(ctx.allocator(), apply, failed)?;
        Ok(AnyRef::available(result))
    }
    with_dtype!(
        a.dtype(),
        T in [f32, f64, i32, i64, u8, u16, u32, u64, i8, i16, f16, bf16, Complex<f32>, Complex<f64>]
            => Some(compute::<T>(function, [a, b], target, ctx)),
        else None
    )
}

/// Returns the common shape to which two shapes are broadcast.
pub(super) fn stretched(a: &[usize], b: &[usize]) -> Result<Broadcast> {
    Broadcast::new(a, b).map_err(|error| invalid(error.to_string()))
}

fn compute<T: Element + Arithmetic>(
    function: Binary,
    operands: [&AnyRef; 2],
    [a, b]: [&TensorRef<'_>; 2],
    ctx: &ExecutionContext,
) -> Result<AnyRef> {
    if let (TensorRef::Scalar(a), TensorRef::Scalar(b)) = (a, b) {
        let shape = stretched(a.shape().dims(), b.shape().dims())?;
        let mut value = [T::default()];
        binary::apply(function, &[a.value()?], &[b.value()?], &mut value);
        let [value] = value;
        let shape = Shape::new(shape.shape())?;
        return Ok(AnyRef::available(ScalarHostTensor::new(shape, value)));
    }
    // A scalar tensor stands for its value, which is stretched like a tensor of rank 0.
    fn dims<'a>(side: &'a TensorRef<'_>) -> &'a [usize] {
        match side {
            TensorRef::Scalar(_) => &[],
            other => other.shape().dims(),
        }
    }
    let shapes = stretched(dims(a), dims(b))?;
    let has_dims =
        |side: &TensorRef<'_>| matches!(side, TensorRef::Scalar(_)) && side.shape().rank() > 0;
    if (has_dims(a) || has_dims(b))
        && stretched(a.shape().dims(), b.shape().dims())?.shape() != shapes.shape()
    {
        // A scalar tensor of many elements decides on the shape: it is expanded.
        let expand = |side: &TensorRef<'_>| -> Result<Option<AnyRef>> {
            let is_scalar = matches!(side, TensorRef::Scalar(_));
            is_scalar
                .then(|| Ok(AnyRef::available(as_dense(side, ctx)?)))
                .transpose()
        };
        let (wide_a, wide_b) = (expand(a)?, expand(b)?);
        let operands = [
            wide_a.as_ref().unwrap_or(operands[0]),
            wide_b.as_ref().unwrap_or(operands[1]),
        ];
        let sides = [
            TensorRef::read(operands[0]).map_err(mismatched)?,
            TensorRef::read(operands[1]).map_err(mismatched)?,
        ];
        return compute::<T>(function, operands, [&sides[0], &sides[1]], ctx);
    }
    for (side, [own, other], operand) in [
        (Side::Left, [a, b], operands[0]),
        (Side::Right, [b, a], operands[1]),
    ] {
        if let Some(mut result) = taken_over(own, operand, shapes.shape()) {
            with_elements::<T, _>(other, |other| {
                let mut target = result.elements_mut::<T>()?;
                Ok(binary::broadcast_in_place(
                    function,
                    &shapes,
                    side,
                    &mut target,
                    other,
                )?)
            })?;
            return Ok(AnyRef::available(result));
        }
    }
    let mut result = allocate(T::DTYPE, Shape::new(shapes.shape())?, ctx)?;
    with_elements::<T, _>(a, |a| {
        with_elements::<T, _>(b, |b| {
            Ok(binary::broadcast(
                function,
                &shapes,
                a,
                b,
                &mut result.elements_mut::<T>()?,
            )?)
        })
    })?;
    Ok(AnyRef::available(result))
}

/// Returns a result in the memory of an operand, if it has the shape of the result and no one else
/// can see it.
fn taken_over(
    tensor: &TensorRef<'_>,
    operand: &AnyRef,
    shape: &[usize],
) -> Option<DenseHostTensor> {
    let TensorRef::Dense(tensor) = tensor else {
        return None;
    };
    let fits = tensor.shape().dims() == shape;
    let is_ours = fits && operand.is_unique_through_links() && tensor.is_exclusive();
    is_ours.then(|| (**tensor).clone())
}

/// Returns the elements of a dense tensor, or the value of a scalar one.
fn with_elements<T: Element, R>(
    side: &TensorRef<'_>,
    use_elements: impl FnOnce(&[T]) -> Result<R>,
) -> Result<R> {
    match side {
        TensorRef::Dense(tensor) => use_elements(&tensor.elements::<T>()?),
        TensorRef::Scalar(tensor) => use_elements(&[tensor.value::<T>()?]),
        other => Err(invalid(format!(
            "element-wise ops do not support tensors of type {}",
            other.tensor_type().name()
        ))),
    }
}

/// Adds a vector to each row of the last dimension.
///
/// # Errors
/// `incompatible dtypes for tf.BiasAdd`, `invalid data format. Currently only support NHWC`,
/// `bias must be 1-D`, `bias must has the size of the last dimension of value`,
/// `unsupported dtype for TfBiasAddOp`.
#[tfrt_op("tf.BiasAdd", metadata = bias_metadata, partial = partial_bias, function = bias_add)]
pub fn compute_bias_add(
    x: &AnyRef,
    bias: &DenseHostTensor,
    #[attr] data_format: Option<&str>,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    let tensor = as_dense_operand(x)?;
    bias_metadata(&tensor.metadata(), &bias.metadata(), data_format)?;
    if !(2..=5).contains(&tensor.shape().rank()) {
        return Err(unsupported("unexpected output shape"));
    }
    with_number!(
        tensor.dtype(),
        T => {
            let bias = bias.elements::<T>()?;
            let add = |row: &mut [T]| binary::apply_in_place(Binary::Add, row, &bias);
            let len = bias.len().max(1);
            map_elements::<T>(
                (x, tensor),
                ctx,
                |x, y| {
                    y.copy_from_slice(x);
                    y.chunks_exact_mut(len).for_each(add);
                },
                |y| y.chunks_exact_mut(len).for_each(add),
            )
        },
        else Err(unsupported("unsupported dtype for TfBiasAddOp"))
    )
}

/// The last extent is that of the bias.
fn partial_bias(
    x: &PartialMetadata,
    bias: &PartialMetadata,
    data_format: Option<&str>,
) -> Result<PartialMetadata> {
    if data_format.is_some_and(|format| format != "NHWC") {
        return Err(invalid("invalid data format. Currently only support NHWC"));
    }
    let len = match bias.extents.as_deref() {
        None => None,
        Some(&[len]) => len,
        Some(_) => return Err(invalid("bias must be 1-D")),
    };
    let mut stretched = PartialMetadata {
        dtype: bias.dtype,
        extents: x.extents.clone(),
    };
    let misfit = || invalid("bias must has the size of the last dimension of value");
    if let Some(extents) = &mut stretched.extents {
        *extents.last_mut().ok_or_else(misfit)? = len;
    }
    x.and(&stretched).ok_or_else(misfit)
}

fn bias_metadata(
    x: &TensorMetadata,
    bias: &TensorMetadata,
    data_format: Option<&str>,
) -> Result<TensorMetadata> {
    if x.dtype != bias.dtype {
        return Err(invalid("incompatible dtypes for tf.BiasAdd"));
    }
    if data_format.is_some_and(|format| format != "NHWC") {
        return Err(invalid("invalid data format. Currently only support NHWC"));
    }
    let &[len] = &bias.extents[..] else {
        return Err(invalid("bias must be 1-D"));
    };
    if x.extents.last() != Some(&len) {
        return Err(invalid(
            "bias must has the size of the last dimension of value",
        ));
    }
    Ok(x.clone())
}
