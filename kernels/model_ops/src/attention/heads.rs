//! Queries, keys and values, by head, in the precision that attention computes in.

use half::slice::HalfFloatSliceExt;
use half::{bf16, f16};
use tfrt::prelude::*;
use tfrt_compute::matmul::MatmulElement;
use tfrt_tensor::{DenseHostTensor, Element, OwnedElementsMut};

use crate::number::{Number, with_real};
use crate::{invalid, made, real_numbers, scratch, unspecified};

/// A type that attention computes in.
pub(super) trait Wide: MatmulElement + Element {
    /// Returns the elements of a tensor.
    fn numbers(
        op: &'static str,
        x: &DenseHostTensor,
        ctx: &ExecutionContext,
    ) -> Result<OwnedElementsMut<Self>>;

    /// Returns a tensor of an element type; its elements are rounded.
    fn tensor(
        op: &'static str,
        numbers: &[Self],
        dtype: DType,
        dims: &[usize],
        ctx: &ExecutionContext,
    ) -> Result<DenseHostTensor>;
}

impl Wide for f32 {
    fn numbers(
        op: &'static str,
        x: &DenseHostTensor,
        ctx: &ExecutionContext,
    ) -> Result<OwnedElementsMut<Self>> {
        let mut numbers = scratch::<Self>(ctx, x.num_elements())?;
        match x.dtype() {
            DType::F32 => numbers.copy_from_slice(&x.elements::<f32>()?),
            DType::F16 => x.elements::<f16>()?.convert_to_f32_slice(&mut numbers),
            DType::Bf16 => x.elements::<bf16>()?.convert_to_f32_slice(&mut numbers),
            _ => {
                let wide = real_numbers(op, x, ctx)?;
                let pairs = numbers.iter_mut().zip(&*wide);
                pairs.for_each(|(to, &number)| *to = narrowed(number));
            }
        }
        Ok(numbers)
    }

    fn tensor(
        op: &'static str,
        numbers: &[Self],
        dtype: DType,
        dims: &[usize],
        ctx: &ExecutionContext,
    ) -> Result<DenseHostTensor> {
        if !matches!(dtype, DType::F16 | DType::Bf16 | DType::F32) {
            return with_real!(op, dtype, T => made(ctx, dims, |at| T::of_f64(numbers[at].into())));
        }
        let mut y = unspecified(ctx, dtype, dims)?;
        match dtype {
            DType::F16 => y.elements_mut::<f16>()?.convert_from_f32_slice(numbers),
            DType::Bf16 => y.elements_mut::<bf16>()?.convert_from_f32_slice(numbers),
            _ => y.elements_mut::<f32>()?.copy_from_slice(numbers),
        }
        Ok(y)
    }
}

/// Rounds a number to single precision. A finite one stays finite: masks hide keys with the least
/// number of their type, and a row of infinities would become NaN in the softmax.
fn narrowed(number: f64) -> f32 {
    match number.is_finite() {
        true => number.clamp(f32::MIN.into(), f32::MAX.into()) as f32,
        false => number as f32,
    }
}

impl Wide for f64 {
    fn numbers(
        op: &'static str,
        x: &DenseHostTensor,
        ctx: &ExecutionContext,
    ) -> Result<OwnedElementsMut<Self>> {
        real_numbers(op, x, ctx)
    }

    fn tensor(
        op: &'static str,
        numbers: &[Self],
        dtype: DType,
        dims: &[usize],
        ctx: &ExecutionContext,
    ) -> Result<DenseHostTensor> {
        with_real!(op, dtype, T => made(ctx, dims, |at| T::of_f64(numbers[at])))
    }
}

/// Queries, keys or values: `[batch, heads, length, size]`.
pub(super) struct Heads<W: 'static> {
    pub(super) batch: usize,
    pub(super) heads: usize,
    pub(super) length: usize,
    pub(super) size: usize,
    pub(super) numbers: OwnedElementsMut<W>,
}

impl<W: Wide> Heads<W> {
    /// Parses `[batch, heads, length, size]`, or `[batch, length, heads · size]` with this number
    /// of heads.
    pub(super) fn new(
        op: &'static str,
        x: &DenseHostTensor,
        num_heads: i64,
        ctx: &ExecutionContext,
    ) -> Result<Self> {
        let numbers = W::numbers(op, x, ctx)?;
        match *x.shape().dims() {
            [batch, heads, length, size] => Ok(Self {
                batch,
                heads,
                length,
                size,
                numbers,
            }),
            [batch, length, all] => {
                let heads = usize::try_from(num_heads).unwrap_or(0);
                if heads == 0 || !all.is_multiple_of(heads) {
                    return Err(invalid(format!(
                        "`{op}`: {all} elements cannot be divided among {num_heads} heads"
                    )));
                }
                let size = all / heads;
                Ok(Self {
                    batch,
                    heads,
                    length,
                    size,
                    // Steps and heads change places.
                    numbers: joined(&numbers, [batch, length, heads, size], ctx)?,
                })
            }
            _ => Err(invalid(format!(
                "`{op}`: expected 3 or 4 dimensions, found {}",
                x.metadata()
            ))),
        }
    }

    /// Returns the rows of a head.
    pub(super) fn head(&self, image: usize, head: usize) -> &[W] {
        let len = self.length * self.size;
        &self.numbers[(image * self.heads + head) * len..][..len]
    }

    pub(super) fn row(&self, image: usize, head: usize, step: usize) -> &[W] {
        &self.head(image, head)[step * self.size..][..self.size]
    }

    /// Returns these steps followed by others.
    pub(super) fn followed_by(self, op: &str, next: Self, ctx: &ExecutionContext) -> Result<Self> {
        if (self.batch, self.heads, self.size) != (next.batch, next.heads, next.size) {
            return Err(invalid(format!(
                "`{op}`: the shapes of the past and the new keys or values are incompatible"
            )));
        }
        let mut numbers = scratch::<W>(ctx, self.numbers.len() + next.numbers.len())?;
        let mut rest = &mut numbers[..];
        for image in 0..self.batch {
            for head in 0..self.heads {
                for steps in [self.head(image, head), next.head(image, head)] {
                    let to;
                    (to, rest) = rest.split_at_mut(steps.len());
                    to.copy_from_slice(steps);
                }
            }
        }
        Ok(Self {
            length: self.length + next.length,
            numbers,
            ..self
        })
    }

    pub(super) fn dims(&self) -> [usize; 4] {
        [self.batch, self.heads, self.length, self.size]
    }
}

/// Returns rows of `[batch, heads, length, size]` as `[batch, length, heads, size]`.
pub(super) fn joined<W: Element>(
    numbers: &[W],
    [batch, heads, length, size]: [usize; 4],
    ctx: &ExecutionContext,
) -> Result<OwnedElementsMut<W>> {
    let mut moved = scratch::<W>(ctx, numbers.len())?;
    let mut at = 0;
    for image in 0..batch {
        for step in 0..length {
            for head in 0..heads {
                let row = (image * heads + head) * length + step;
                moved[at..][..size].copy_from_slice(&numbers[row * size..][..size]);
                at += size;
            }
        }
    }
    Ok(moved)
}
