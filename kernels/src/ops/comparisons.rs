//! Comparisons of elements, logic of Booleans, and choices between two tensors.

use std::borrow::Cow;

use half::{bf16, f16};
use tfrt::core::metadata::{broadcast, comparison, partial, same_as};
use tfrt::prelude::*;
use tfrt_compute::assemble;
use tfrt_compute::binary::{self, Choice, Comparison};
use tfrt_compute::element::Ordered;
use tfrt_tensor::{DenseHostTensor, Element, I1, Shape, TensorRef};

use super::element_wise::{sides, stretched, unsupported_input};
use super::{allocate, as_dense, invalid, mismatched, unsupported_dtype, with_dtype, with_size};

/// Returns whether each element of `a` is less than that of `b`, broadcast to one shape.
///
/// # Errors
/// Those of `tf.AddV2`.
#[tfrt_op("tf.Less", accepts(scalar), metadata = comparison, partial = partial::comparison, function = less)]
pub fn compute_less(a: &AnyRef, b: &AnyRef, ctx: &ExecutionContext) -> Result<DenseHostTensor> {
    compare(Comparison::Less, a, b, ctx)
}

/// Returns whether each element of `a` is less than that of `b` or equal to it, broadcast to one
/// shape.
///
/// # Errors
/// Those of `tf.AddV2`.
#[tfrt_op("tf.LessEqual", accepts(scalar), metadata = comparison, partial = partial::comparison, function = less_equal)]
pub fn compute_less_equal(
    a: &AnyRef,
    b: &AnyRef,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    compare(Comparison::LessEqual, a, b, ctx)
}

/// Returns whether each element of `a` is greater than that of `b`, broadcast to one shape.
///
/// # Errors
/// Those of `tf.AddV2`.
#[tfrt_op("tf.Greater", accepts(scalar), metadata = comparison, partial = partial::comparison, function = greater)]
pub fn compute_greater(a: &AnyRef, b: &AnyRef, ctx: &ExecutionContext) -> Result<DenseHostTensor> {
    compare(Comparison::Greater, a, b, ctx)
}

/// Returns whether each element of `a` is greater than that of `b` or equal to it, broadcast to one
/// shape.
///
/// # Errors
/// Those of `tf.AddV2`.
#[tfrt_op("tf.GreaterEqual", accepts(scalar), metadata = comparison, partial = partial::comparison, function = greater_equal)]
pub fn compute_greater_equal(
    a: &AnyRef,
    b: &AnyRef,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    compare(Comparison::GreaterEqual, a, b, ctx)
}

/// Returns whether each element of `a` equals that of `b`, broadcast to one shape.
///
/// # Errors
/// Those of `tf.AddV2`.
#[tfrt_op("tf.Equal", accepts(scalar), metadata = comparison, partial = partial::comparison, function = equal)]
pub fn compute_equal(a: &AnyRef, b: &AnyRef, ctx: &ExecutionContext) -> Result<DenseHostTensor> {
    compare(Comparison::Equal, a, b, ctx)
}

/// Returns whether each element of `a` differs from that of `b`, broadcast to one shape.
///
/// # Errors
/// Those of `tf.AddV2`.
#[tfrt_op("tf.NotEqual", accepts(scalar), metadata = comparison, partial = partial::comparison, function = not_equal)]
pub fn compute_not_equal(
    a: &AnyRef,
    b: &AnyRef,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    compare(Comparison::NotEqual, a, b, ctx)
}

fn compare(
    comparison: Comparison,
    a: &AnyRef,
    b: &AnyRef,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    fn elements<T: Element + Ordered>(
        comparison: Comparison,
        a: &DenseHostTensor,
        b: &DenseHostTensor,
        ctx: &ExecutionContext,
    ) -> Result<DenseHostTensor> {
        let shapes = stretched(a.shape().dims(), b.shape().dims())?;
        let mut holds = vec![false; shapes.output_len()];
        let (a, b) = (a.elements::<T>()?, b.elements::<T>()?);
        binary::compare(comparison, &shapes, &a, &b, &mut holds)?;
        let mut result = allocate(DType::I1, Shape::new(shapes.shape())?, ctx)?;
        for (to, holds) in result.elements_mut::<I1>()?.iter_mut().zip(holds) {
            *to = I1::from(holds);
        }
        Ok(result)
    }
    let (a, b) = sides(a, b)?;
    let (a, b) = (as_dense(&a, ctx)?, as_dense(&b, ctx)?);
    with_dtype!(
        a.dtype(),
        T in [u8, u16, u32, u64, i8, i16, i32, i64, f16, bf16, f32, f64]
            => elements::<T>(comparison, &a, &b, ctx),
        else Err(unsupported_input(a.dtype()))
    )
}

/// Returns the greater of each two elements, broadcast to one shape. A NaN in `a` is kept, one in
/// `b` is ignored.
///
/// # Errors
/// Those of `tf.AddV2`.
#[tfrt_op("tf.Maximum", accepts(scalar), metadata = broadcast, partial = partial::broadcast, function = maximum)]
pub fn compute_maximum(a: &AnyRef, b: &AnyRef, ctx: &ExecutionContext) -> Result<DenseHostTensor> {
    choose(Choice::Max, a, b, ctx)
}

/// Returns the lesser of each two elements, broadcast to one shape. A NaN in `a` is kept, one in
/// `b` is ignored.
///
/// # Errors
/// Those of `tf.AddV2`.
#[tfrt_op("tf.Minimum", accepts(scalar), metadata = broadcast, partial = partial::broadcast, function = minimum)]
pub fn compute_minimum(a: &AnyRef, b: &AnyRef, ctx: &ExecutionContext) -> Result<DenseHostTensor> {
    choose(Choice::Min, a, b, ctx)
}

fn choose(
    choice: Choice,
    a: &AnyRef,
    b: &AnyRef,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    let (a, b) = sides(a, b)?;
    let (a, b) = (as_dense(&a, ctx)?, as_dense(&b, ctx)?);
    let shapes = stretched(a.shape().dims(), b.shape().dims())?;
    let mut result = allocate(a.dtype(), Shape::new(shapes.shape())?, ctx)?;
    with_dtype!(
        a.dtype(),
        T in [u8, u16, u32, u64, i8, i16, i32, i64, f16, bf16, f32, f64] => {
            let (a, b) = (a.elements::<T>()?, b.elements::<T>()?);
            binary::choose(choice, &shapes, &a, &b, &mut result.elements_mut::<T>()?)?;
            Ok(result)
        },
        else Err(unsupported_input(a.dtype()))
    )
}

/// Returns whether both elements are true, broadcast to one shape.
///
/// # Errors
/// If an operand is not of type i1; if the shapes do not match.
#[tfrt_op("tf.LogicalAnd", metadata = broadcast, partial = partial::broadcast, function = logical_and)]
pub fn compute_logical_and(
    a: &DenseHostTensor,
    b: &DenseHostTensor,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    combine("tf.LogicalAnd", a, b, ctx, |a, b| a && b)
}

/// Returns whether at least one of both elements is true, broadcast to one shape.
///
/// # Errors
/// If an operand is not of type i1; if the shapes do not match.
#[tfrt_op("tf.LogicalOr", metadata = broadcast, partial = partial::broadcast, function = logical_or)]
pub fn compute_logical_or(
    a: &DenseHostTensor,
    b: &DenseHostTensor,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    combine("tf.LogicalOr", a, b, ctx, |a, b| a || b)
}

fn combine(
    op: &str,
    a: &DenseHostTensor,
    b: &DenseHostTensor,
    ctx: &ExecutionContext,
    function: impl Fn(bool, bool) -> bool,
) -> Result<DenseHostTensor> {
    if let Some(other) = [a, b].into_iter().find(|side| side.dtype() != DType::I1) {
        return Err(unsupported_dtype(op, other.dtype()));
    }
    let shapes = stretched(a.shape().dims(), b.shape().dims())?;
    let mut result = allocate(DType::I1, Shape::new(shapes.shape())?, ctx)?;
    {
        let (from_a, from_b) = (a.elements::<I1>()?, b.elements::<I1>()?);
        let from_a = expanded(a.shape().dims(), &from_a, shapes.shape())?;
        let from_b = expanded(b.shape().dims(), &from_b, shapes.shape())?;
        let pairs = from_a.iter().zip(from_b.iter());
        for (to, (&a, &b)) in result.elements_mut::<I1>()?.iter_mut().zip(pairs) {
            *to = I1::from(function(a.into(), b.into()));
        }
    }
    Ok(result)
}

/// Negates each Boolean.
///
/// # Errors
/// If the operand is not of type i1.
#[tfrt_op("tf.LogicalNot", metadata = same_as, partial = partial::same_as, function = logical_not)]
pub fn compute_logical_not(x: &DenseHostTensor, ctx: &ExecutionContext) -> Result<DenseHostTensor> {
    if x.dtype() != DType::I1 {
        return Err(unsupported_dtype("tf.LogicalNot", x.dtype()));
    }
    let mut result = allocate(DType::I1, x.shape().clone(), ctx)?;
    {
        let from = x.elements::<I1>()?;
        for (to, &x) in result.elements_mut::<I1>()?.iter_mut().zip(&*from) {
            *to = I1::from(!bool::from(x));
        }
    }
    Ok(result)
}

/// Takes each element from `a` where `condition` is true, and from `b` elsewhere; all three are
/// broadcast to one shape.
///
/// # Errors
/// If the condition is not of type i1, or `a` and `b` differ in type; if the shapes do not match.
#[tfrt_op("tf.SelectV2", accepts(scalar), metadata = selected, function = select)]
pub fn compute_select(
    condition: &AnyRef,
    a: &AnyRef,
    b: &AnyRef,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    let dense = |operand| -> Result<DenseHostTensor> {
        as_dense(&TensorRef::read(operand).map_err(mismatched)?, ctx)
    };
    let (condition, a, b) = (dense(condition)?, dense(a)?, dense(b)?);
    let metadata = selected(&condition.metadata(), &a.metadata(), &b.metadata())?;
    let dims = &metadata.extents[..];
    let mut result = allocate(metadata.dtype, Shape::new(dims)?, ctx)?;
    let conditions = condition.elements::<I1>()?;
    let conditions = expanded(condition.shape().dims(), &conditions, dims)?;
    with_size!(
        metadata.dtype,
        N => {
            let (from_a, from_b) = (a.buffer().read()?, b.buffer().read()?);
            let from_a = expanded(a.shape().dims(), from_a.as_chunks::<N>().0, dims)?;
            let from_b = expanded(b.shape().dims(), from_b.as_chunks::<N>().0, dims)?;
            let mut bytes = result.buffer_mut().write()?;
            let to = bytes.as_chunks_mut::<N>().0.iter_mut();
            for (to, ((&condition, a), b)) in to.zip(conditions.iter().zip(&*from_a).zip(&*from_b)) {
                *to = if bool::from(condition) { *a } else { *b };
            }
            drop(bytes);
            Ok(result)
        },
        else Err(unsupported_dtype("tf.SelectV2", metadata.dtype))
    )
}

fn selected(
    condition: &TensorMetadata,
    a: &TensorMetadata,
    b: &TensorMetadata,
) -> Result<TensorMetadata> {
    if condition.dtype != DType::I1 {
        return Err(invalid(format!(
            "`tf.SelectV2`: expected a condition of type i1, found {}",
            condition.dtype
        )));
    }
    let chosen = broadcast(a, b)?;
    let condition = TensorMetadata {
        dtype: chosen.dtype,
        ..condition.clone()
    };
    broadcast(&condition, &chosen)
}

/// Elements of a tensor that is stretched to other extents.
fn expanded<'a, T: Copy>(dims: &[usize], elements: &'a [T], to: &[usize]) -> Result<Cow<'a, [T]>> {
    if dims == to {
        return Ok(Cow::Borrowed(elements));
    }
    let padded = [&vec![1; to.len() - dims.len()][..], dims].concat();
    let multiples: Vec<usize> = (padded.iter().zip(to))
        .map(|(&from, &to)| if from == to { 1 } else { to })
        .collect();
    let len: usize = to.iter().product();
    let Some(&any) = elements.first().filter(|_| len > 0) else {
        return Ok(Cow::Borrowed(&[]));
    };
    let mut stretched = vec![any; len];
    assemble::repeat(&padded, &multiples, elements, &mut stretched)?;
    Ok(Cow::Owned(stretched))
}
