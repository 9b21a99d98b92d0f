//! General dot products, convolutions.

use tfrt::prelude::*;
use tfrt_tensor::DenseHostTensor;

use super::element::{Kind, Type};
use super::moves::{WindowNumbers, listed, permuted, window_place};
use super::{numbers, other_axes, pick};
use crate::{advance, dense, extents, invalid, product, strides};

/// A sum of products of elements. Floating point numbers are rounded once.
struct Sum {
    real: f64,
    whole: u64,
    is_real: bool,
    is_bool: bool,
}

impl Sum {
    fn new(ty: Type) -> Self {
        Self {
            real: 0.0,
            whole: 0,
            is_real: ty.is_real(),
            is_bool: ty.kind == Kind::Bool,
        }
    }

    fn add(&mut self, a: u64, b: u64) {
        if self.is_real {
            self.real += f64::from_bits(a) * f64::from_bits(b);
        } else if self.is_bool {
            self.whole |= a & b;
        } else {
            self.whole = self.whole.wrapping_add(a.wrapping_mul(b));
        }
    }

    fn subtract(&mut self, a: u64, b: u64) {
        self.real -= f64::from_bits(a) * f64::from_bits(b);
    }

    fn end(self, ty: Type) -> u64 {
        if self.is_real {
            ty.round(self.real)
        } else {
            ty.wrap(self.whole)
        }
    }
}

/// The parts of the elements of two factors, in an order suitable for the product.
type Factors = [Vec<Vec<u64>>; 2];

/// Computes the element at `at` of a result: the sum of the products of elements at `pairs` of
/// positions.
fn summed(
    ty: Type,
    [a, b]: &Factors,
    results: &mut [Vec<u64>],
    at: usize,
    pairs: impl Iterator<Item = (usize, usize)>,
) {
    if let ([a], [b], [result]) = (&a[..], &b[..], &mut *results) {
        let mut sum = Sum::new(ty);
        pairs.for_each(|(i, j)| sum.add(a[i], b[j]));
        result[at] = sum.end(ty);
    } else if let ([a_re, a_im], [b_re, b_im], [re, im]) = (&a[..], &b[..], results) {
        let (mut real, mut imaginary) = (Sum::new(ty), Sum::new(ty));
        pairs.for_each(|(i, j)| {
            real.add(a_re[i], b_re[j]);
            real.subtract(a_im[i], b_im[j]);
            imaginary.add(a_re[i], b_im[j]);
            imaginary.add(a_im[i], b_re[j]);
        });
        re[at] = real.end(ty);
        im[at] = imaginary.end(ty);
    }
}

/// Returns the type of the parts of a product. The factors must be of the same type, or a narrower
/// one of its kind.
fn product_type(op: &str, dtype: DType, factors: [&DenseHostTensor; 2]) -> Result<Type> {
    let (ty, count) = Type::parts(op, dtype)?;
    for factor in factors {
        let (own, own_count) = Type::parts(op, factor.dtype())?;
        if own.is_real() != ty.is_real() || own_count != count {
            return Err(invalid(format!(
                "`{op}` cannot compute {dtype} from {}",
                factor.dtype()
            )));
        }
    }
    Ok(ty)
}

/// Returns `count` parts of a result of `len` elements, all zero.
fn zeros(op: &'static str, count: usize, len: usize) -> Result<Vec<Vec<u64>>> {
    let plane = || {
        let mut elements = super::room(op, len)?;
        elements.resize(len, 0);
        Ok(elements)
    };
    (0..count).map(|_| plane()).collect()
}

/// Permutes the dimensions of each part.
fn permuted_planes(
    op: &'static str,
    planes: &[Vec<u64>],
    dims: &[usize],
    perm: &[usize],
) -> Result<Vec<Vec<u64>>> {
    let planes = planes.iter().map(|plane| permuted(op, plane, dims, perm));
    planes.collect()
}

/// Sums products of elements along the `contracting` axes of two tensors, for each index along the
/// shared `batch` axes and all free axes. The axes of the result are the batch axes, the free axes
/// of the first operand, then those of the second.
///
/// # Errors
/// If the axes do not match.
#[tfrt_op("hlo.DotGeneral")]
#[expect(
    clippy::too_many_arguments,
    reason = "they are the attributes of the op"
)]
fn dot_general(
    lhs: &AnyRef,
    rhs: &AnyRef,
    #[attr] lhs_batch: Option<&[i64]>,
    #[attr] rhs_batch: Option<&[i64]>,
    #[attr] lhs_contracting: Option<&[i64]>,
    #[attr] rhs_contracting: Option<&[i64]>,
    #[attr] dtype: DType,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    const OP: &str = "hlo.DotGeneral";
    let (lhs, rhs) = (dense(lhs)?, dense(rhs)?);
    let ty = product_type(OP, dtype, [&lhs, &rhs])?;
    let (a_batch, b_batch) = (listed(OP, lhs_batch, &lhs)?, listed(OP, rhs_batch, &rhs)?);
    let a_summed = listed(OP, lhs_contracting, &lhs)?;
    let b_summed = listed(OP, rhs_contracting, &rhs)?;
    let (a_dims, b_dims) = (lhs.shape().dims(), rhs.shape().dims());
    let fits = pick(a_dims, &a_batch) == pick(b_dims, &b_batch)
        && pick(a_dims, &a_summed) == pick(b_dims, &b_summed)
        && a_batch.iter().all(|axis| !a_summed.contains(axis))
        && b_batch.iter().all(|axis| !b_summed.contains(axis));
    if !fits {
        return Err(invalid(format!(
            "`{OP}` cannot multiply {} and {} along {a_summed:?} and {b_summed:?} for each of {a_batch:?} and {b_batch:?}",
            lhs.shape(),
            rhs.shape()
        )));
    }
    let a_free = other_axes(a_dims.len(), &[&a_batch[..], &a_summed[..]].concat());
    let b_free = other_axes(b_dims.len(), &[&b_batch[..], &b_summed[..]].concat());
    let dims = [
        pick(a_dims, &a_batch),
        pick(a_dims, &a_free),
        pick(b_dims, &b_free),
    ]
    .concat();
    crate::allocate(ctx, dtype, &dims)?;
    let a = super::planes(OP, &lhs)?.1;
    let b = super::planes(OP, &rhs)?.1;
    let factors = [
        permuted_planes(OP, &a, a_dims, &[&a_batch[..], &a_free, &a_summed].concat())?,
        permuted_planes(OP, &b, b_dims, &[&b_batch[..], &b_free, &b_summed].concat())?,
    ];
    let depth = product(&pick(a_dims, &a_summed));
    let (rows, columns) = (
        product(&pick(a_dims, &a_free)),
        product(&pick(b_dims, &b_free)),
    );
    let mut elements = zeros(OP, a.len(), product(&dims))?;
    for batch in 0..product(&pick(a_dims, &a_batch)) {
        for row in batch * rows..(batch + 1) * rows {
            for column in 0..columns {
                let other = batch * columns + column;
                let pairs = (0..depth).map(|at| (row * depth + at, other * depth + at));
                summed(ty, &factors, &mut elements, row * columns + column, pairs);
            }
        }
    }
    super::store_planes(OP, ctx, dtype, &dims, &elements)
}

/// Convolves a tensor with filters. `order` lists the batch, channel and spatial dimensions of the
/// tensor, then the output channel, input channel and spatial dimensions of the filters, then the
/// dimensions of the result, like those of the tensor. `groups` lists the feature and batch group
/// counts. `padding` lists the low and high padding of each spatial dimension.
///
/// # Errors
/// If the dimensions do not match.
#[tfrt_op("hlo.Convolution")]
#[expect(
    clippy::too_many_arguments,
    reason = "they are the attributes of the op"
)]
pub(super) fn convolution(
    lhs: &AnyRef,
    rhs: &AnyRef,
    #[attr] order: &[i64],
    #[attr] steps: Option<&[i64]>,
    #[attr] padding: Option<&[i64]>,
    #[attr] lhs_dilations: Option<&[i64]>,
    #[attr] rhs_dilations: Option<&[i64]>,
    #[attr] reversed: Option<&[i64]>,
    #[attr] groups: &[i64],
    #[attr] dtype: DType,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    const OP: &str = "hlo.Convolution";
    let (lhs, rhs) = (dense(lhs)?, dense(rhs)?);
    let ty = product_type(OP, dtype, [&lhs, &rhs])?;
    let rank = lhs.shape().rank();
    if order.len() != 3 * rank || rank < 2 || rhs.shape().rank() != rank {
        return Err(invalid(format!(
            "`{OP}` needs an `order` of {} dimensions, found {order:?} for {} and {}",
            3 * rank,
            lhs.shape(),
            rhs.shape()
        )));
    }
    let a_order = listed(OP, Some(&order[..rank]), &lhs)?;
    let b_order = listed(OP, Some(&order[rank..2 * rank]), &rhs)?;
    let result_order = listed(OP, Some(&order[2 * rank..]), &lhs)?;
    let (a, b) = (super::planes(OP, &lhs)?.1, super::planes(OP, &rhs)?.1);
    let factors = [
        permuted_planes(OP, &a, lhs.shape().dims(), &a_order)?,
        permuted_planes(OP, &b, rhs.shape().dims(), &b_order)?,
    ];
    let (a_dims, b_dims) = (
        pick(lhs.shape().dims(), &a_order),
        pick(rhs.shape().dims(), &b_order),
    );
    let groups = extents(OP, groups)?;
    let [feature_groups, batch_groups] = groups[..] else {
        return Err(invalid(format!("`{OP}` needs two group counts")));
    };
    let divides = |count: usize, extent: usize| count > 0 && extent.is_multiple_of(count);
    let fits = divides(feature_groups, b_dims[0])
        && divides(batch_groups, b_dims[0])
        && divides(batch_groups, a_dims[0])
        && b_dims[1].checked_mul(feature_groups) == Some(a_dims[1]);
    if !fits {
        return Err(invalid(format!(
            "`{OP}` cannot convolve {} with {} in {feature_groups} and {batch_groups} groups",
            lhs.shape(),
            rhs.shape()
        )));
    }
    let reversed = numbers(OP, "reversed", reversed, rank - 2, 0)?;
    let sizes: Vec<i64> = b_dims[2..].iter().map(|&size| size as i64).collect();
    let (a_space, b_space) = (&a_dims[2..], &b_dims[2..]);
    let axes = match sizes.contains(&0) {
        true => return Err(invalid(format!("`{OP}` needs non-empty filters"))),
        false => WindowNumbers {
            sizes: &sizes,
            steps,
            base_dilations: lhs_dilations,
            dilations: rhs_dilations,
            padding,
        }
        .axes(OP, a_space)?,
    };
    let space: Vec<usize> = axes.iter().map(|axis| axis.count).collect();
    let batches = a_dims[0] / batch_groups;
    let dims = [&[batches, b_dims[0]][..], &space].concat();
    crate::allocate(ctx, dtype, &dims)?;
    let own = strides(a_space);
    let (a_area, area, b_area) = (product(a_space), product(&space), product(b_space));
    let mut elements = zeros(OP, a.len(), product(&dims))?;
    let mut window = vec![0; space.len()];
    let mut reads = Vec::new();
    for at_window in 0..if product(&dims) == 0 { 0 } else { area } {
        // The position that each element of a filter reads, relative to the start of a channel.
        reads.clear();
        let mut element = vec![0; b_space.len()];
        for at in 0..b_area {
            let turned = element.iter().zip(b_space.iter().zip(&reversed));
            let turned = turned.map(|(&at, (&size, &is_reversed))| match is_reversed {
                0 => at,
                _ => size - 1 - at,
            });
            let turned: Vec<usize> = turned.collect();
            if let Some(place) = window_place(&axes, &own, &window, &turned) {
                reads.push((at, place));
            }
            advance(&mut element, b_space);
        }
        advance(&mut window, &space);
        for batch in 0..batches {
            for channel in 0..b_dims[0] {
                let group = channel / (b_dims[0] / feature_groups);
                let batch_group = channel / (b_dims[0] / batch_groups);
                let first = (batch_group * batches + batch) * a_dims[1] + group * b_dims[1];
                let reads = &reads;
                let pairs = (0..b_dims[1]).flat_map(|input| {
                    let a_start = (first + input) * a_area;
                    let b_start = (channel * b_dims[1] + input) * b_area;
                    let pair = move |&(at, place)| (a_start + place, b_start + at);
                    reads.iter().map(pair)
                });
                let at = (batch * b_dims[0] + channel) * area + at_window;
                summed(ty, &factors, &mut elements, at, pairs);
            }
        }
    }
    // Permutes the dimensions of the result to the requested order.
    let mut inverse = vec![0; rank];
    for (position, &axis) in result_order.iter().enumerate() {
        inverse[axis] = position;
    }
    let elements = permuted_planes(OP, &elements, &dims, &inverse)?;
    super::store_planes(OP, ctx, dtype, &pick(&dims, &inverse), &elements)
}
