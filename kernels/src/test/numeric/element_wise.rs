//! Element-wise functions. All tensors of a call have the same shape.

use std::ops::Range;

use tfrt::host::tracing::{self, Work};
use tfrt::prelude::*;
use tfrt_compute::binary::{self, Binary};
use tfrt_compute::{cast, unary};
use tfrt_tensor::{DenseHostTensor, Element};

use crate::numeric::{Number, start_elements};

/// Starts `routine(a, part of b)` on all elements.
fn start_unary<A: Element, B: Element>(
    a: &DenseHostTensor,
    b: &mut DenseHostTensor,
    ctx: &ExecutionContext,
    routine: fn(&[A], &mut [B]),
) -> Result<AsyncValueRef<Chain>> {
    b.expect_shape(a.shape())?;
    let a = a.elements_owned::<A>()?;
    start_elements(ctx, b.elements_mut_owned::<B>()?, move |range, part| {
        routine(&a[range], part);
    })
}

/// Starts `routine(a, b, part of c)` on all elements.
fn start_binary<T: Element>(
    [a, b]: [&DenseHostTensor; 2],
    c: &mut DenseHostTensor,
    ctx: &ExecutionContext,
    routine: fn(&[T], &[T], &mut [T]),
) -> Result<AsyncValueRef<Chain>> {
    b.expect_shape(a.shape())?;
    c.expect_shape(a.shape())?;
    let (a, b) = (a.elements_owned::<T>()?, b.elements_owned::<T>()?);
    let routine =
        move |range: Range<usize>, part: &mut [T]| routine(&a[range.clone()], &b[range], part);
    start_elements(ctx, c.elements_mut_owned::<T>()?, routine)
}

/// Computes `b = max(a, 0)`.
#[tfrt_kernel("tfrt_test.relu.{T}", T = [f32, i32, i64])]
fn relu<T: Number>(
    a: &DenseHostTensor,
    b: &mut DenseHostTensor,
    ctx: &ExecutionContext,
) -> Result<AsyncValueRef<Chain>> {
    start_unary::<T, T>(a, b, ctx, unary::relu)
}

/// Computes `b = max(a, 0)`.
#[tfrt_kernel("tfrt_test_sync.relu.{T}", T = [f32, i32, i64], sync)]
fn relu_sync<T: Number>(a: &DenseHostTensor, b: &mut DenseHostTensor) -> Result<()> {
    b.expect_shape(a.shape())?;
    tracing::report_work(|| {
        let num_elements = a.shape().num_elements() as u64;
        Work {
            flops: num_elements,
            bytes: 2 * num_elements * size_of::<T>() as u64,
        }
    });
    unary::relu(&a.elements::<T>()?, &mut b.elements_mut::<T>()?);
    Ok(())
}

/// Computes `a = max(a, 0)`.
#[tfrt_kernel("tfrt_test.relu_inplace.{T}", T = [f32, i32, i64])]
fn relu_inplace<T: Number>(
    a: &mut DenseHostTensor,
    ctx: &ExecutionContext,
) -> Result<AsyncValueRef<Chain>> {
    start_elements(ctx, a.elements_mut_owned::<T>()?, |_, part| {
        unary::relu_in_place(part);
    })
}

/// Computes `c = a + b`; integers wrap around.
#[tfrt_kernel("tfrt_test.add.{T}", T = [f32, i32, i64])]
fn add<T: Number>(
    a: &DenseHostTensor,
    b: &DenseHostTensor,
    c: &mut DenseHostTensor,
    ctx: &ExecutionContext,
) -> Result<AsyncValueRef<Chain>> {
    start_binary::<T>([a, b], c, ctx, |a, b, c| {
        binary::apply(Binary::Add, a, b, c);
    })
}

/// Computes `b = a + b`; integers wrap around.
#[tfrt_kernel("tfrt_test.add_inplace.{T}", T = [f32, i32, i64])]
fn add_inplace<T: Number>(
    a: &DenseHostTensor,
    b: &mut DenseHostTensor,
    ctx: &ExecutionContext,
) -> Result<AsyncValueRef<Chain>> {
    start_unary::<T, T>(a, b, ctx, |a, b| binary::apply_in_place(Binary::Add, b, a))
}

/// Computes `c = (a == b)`, as ones and zeros.
#[tfrt_kernel("tfrt_test.equal.{T}", T = [f32, i32, i64])]
fn equal<T: Number>(
    a: &DenseHostTensor,
    b: &DenseHostTensor,
    c: &mut DenseHostTensor,
    ctx: &ExecutionContext,
) -> Result<AsyncValueRef<Chain>> {
    start_binary::<T>([a, b], c, ctx, binary::equal)
}

/// Computes `b = (a == b)`, as ones and zeros.
#[tfrt_kernel("tfrt_test.equal_inplace.{T}", T = [f32, i32, i64])]
fn equal_inplace<T: Number>(
    a: &DenseHostTensor,
    b: &mut DenseHostTensor,
    ctx: &ExecutionContext,
) -> Result<AsyncValueRef<Chain>> {
    start_unary::<T, T>(a, b, ctx, |a, b| binary::equal_in_place(b, a))
}

/// Sets the gradient to zero where the activation is not positive.
#[tfrt_kernel("tfrt_test.relu_grad_inplace.{T}", T = [f32, i32, i64])]
fn relu_grad_inplace<T: Number>(
    activation: &DenseHostTensor,
    gradient: &mut DenseHostTensor,
    ctx: &ExecutionContext,
) -> Result<AsyncValueRef<Chain>> {
    start_unary::<T, T>(activation, gradient, ctx, unary::relu_gradient_in_place)
}

/// Computes `b = a`, with each number rounded to the nearest representable one.
#[tfrt_kernel("tfrt_test.cast.i32_to_f32")]
fn cast_i32_to_f32(
    a: &DenseHostTensor,
    b: &mut DenseHostTensor,
    ctx: &ExecutionContext,
) -> Result<AsyncValueRef<Chain>> {
    start_unary::<i32, f32>(a, b, ctx, cast::cast)
}

/// Computes `out -= gradient * lr`.
///
/// # Errors
/// `GradientDescent lr should have only one element`.
#[tfrt_kernel("tfrt_test.gradient_descent.f32")]
fn gradient_descent(
    gradient: &DenseHostTensor,
    lr: &DenseHostTensor,
    out: &mut DenseHostTensor,
    ctx: &ExecutionContext,
) -> Result<AsyncValueRef<Chain>> {
    if lr.num_elements() != 1 {
        return Err(Error::new(
            "GradientDescent lr should have only one element",
        ));
    }
    let lr = lr.to_scalar::<f32>()?;
    out.expect_shape(gradient.shape())?;
    let gradient = gradient.elements_owned::<f32>()?;
    start_elements(ctx, out.elements_mut_owned()?, move |range, part| {
        binary::add_scaled_in_place(part, -lr, &gradient[range]);
    })
}

/// Computes `out -= in`.
#[tfrt_kernel("tfrt_test.subtract_inplace.f32")]
fn subtract_inplace(
    input: &DenseHostTensor,
    out: &mut DenseHostTensor,
    ctx: &ExecutionContext,
) -> Result<AsyncValueRef<Chain>> {
    start_unary::<f32, f32>(input, out, ctx, |input, out| {
        binary::apply_in_place(Binary::Sub, out, input);
    })
}
