//! Reductions along axes, and positions of extremes.

use tfrt::prelude::*;
use tfrt_compute::wide_reduction::{WideReduction, reduce as reduce_wide};
use tfrt_kernels::numeric::{after, try_start_rows};
use tfrt_tensor::{DenseHostTensor, I1, OwnedElementsMut};

use crate::number::{Number, with_number, with_real};
use crate::{
    Slots, allocate, axes_of, axis_of, dense, invalid, made, one_integer, product, scratch,
    strides, unspecified, whole_numbers,
};

/// The reduced axes of a tensor, and the layout of the others.
pub(crate) struct Plan {
    /// The shape of the result.
    dims: Vec<usize>,
    /// For each element of the result, where its first element of `x` is; nothing if `x` is empty.
    starts: OwnedElementsMut<u64>,
    /// The offsets of a set's elements from its first one; none if `x` is empty.
    offsets: OwnedElementsMut<u64>,
}

impl Plan {
    /// Sets along `axes`.
    pub(crate) fn new(
        dims: &[usize],
        axes: &[usize],
        keeps_dims: bool,
        ctx: &ExecutionContext,
    ) -> Result<Self> {
        let own = strides(dims);
        let is_empty = dims.contains(&0);
        let places = |axes: &[usize]| {
            if is_empty {
                return scratch::<u64>(ctx, 0);
            }
            let count = axes.iter().map(|&axis| dims[axis]).product();
            let mut places = scratch::<u64>(ctx, count)?;
            // The innermost axis first: each further one repeats the places so far.
            let mut len = 1;
            for &axis in axes.iter().rev() {
                let (known, further) = places[..len * dims[axis]].split_at_mut(len);
                for (at, places) in (1..).zip(further.chunks_exact_mut(len)) {
                    let step = (at * own[axis]) as u64;
                    let pairs = places.iter_mut().zip(&*known);
                    pairs.for_each(|(place, known)| *place = known + step);
                }
                len *= dims[axis];
            }
            Ok(places)
        };
        let kept: Vec<usize> = (0..dims.len())
            .filter(|axis| !axes.contains(axis))
            .collect();
        let mut reduced = axes.to_vec();
        reduced.sort_unstable();
        Ok(Self {
            dims: kept_dims(dims, axes, keeps_dims),
            starts: places(&kept)?,
            offsets: places(&reduced)?,
        })
    }

    /// Returns where the first element of each set is; nothing if the tensor is empty.
    pub(crate) fn starts(&self) -> impl Iterator<Item = usize> + '_ {
        self.starts.iter().map(|&start| start as usize)
    }

    /// Returns the offsets of a set's elements from its first one.
    pub(crate) fn offsets(&self) -> impl DoubleEndedIterator<Item = usize> + Clone + '_ {
        self.offsets.iter().map(|&offset| offset as usize)
    }

    /// Returns the number of elements of a set; 0 if the tensor is empty.
    pub(crate) fn set_len(&self) -> usize {
        self.offsets.len()
    }

    /// Returns the elements of a set.
    pub(crate) fn set<'a, T: Copy>(
        &'a self,
        x: &'a [T],
        at: usize,
    ) -> impl Iterator<Item = T> + Clone + 'a {
        // The sets of an empty tensor are empty.
        let start = self.starts.get(at).map_or(0, |&start| start as usize);
        self.offsets().map(move |offset| x[start + offset])
    }
}

/// Reduces a tensor along the axes that the second operand lists: `sum`, `mean`, `max`, `min`,
/// `prod`, `l1`, `l2`, `log_sum`, `log_sum_exp`, `sum_square`. Without axes, reduces along all of
/// them, or along none with `keeps_without_axes`. An empty sum is 0, an empty product 1, and an
/// empty maximum the least number.
///
/// # Errors
/// If an axis does not exist, or the reduction does not support the element type.
#[tfrt_op("nn.Reduce")]
fn reduce(
    operands: &[AnyRef],
    #[attr] function: &str,
    #[attr(default = true)] keep_dims: bool,
    #[attr(default = false)] keeps_without_axes: bool,
    ctx: &ExecutionContext,
) -> Result<AnyRef> {
    const OP: &str = "nn.Reduce";
    let slots = Slots::new(OP, operands, None);
    let x = slots.need(0, "x")?;
    let dims = x.shape().dims();
    let listed = match slots.get(1)? {
        Some(axes) => whole_numbers(OP, &axes)?,
        None => Vec::new(),
    };
    let axes = match listed.is_empty() {
        true if keeps_without_axes => Vec::new(),
        true => (0..dims.len()).collect(),
        false => axes_of(OP, &listed, dims.len())?,
    };
    if let (DType::F32, Some(wide), Some(sets)) =
        (x.dtype(), wide_of(function), run_of(dims, &axes))
    {
        let (from, kept) = (
            x.elements_owned::<f32>()?,
            kept_dims(dims, &axes, keep_dims),
        );
        let mut y = unspecified(ctx, DType::F32, &kept)?;
        let output = y.elements_mut_owned::<f32>()?;
        let [_, len, inner] = sets;
        let done = try_start_rows(ctx, output, inner, from.len(), move |rows, part| {
            let from = &from[rows.start * len * inner..rows.end * len * inner];
            reduce_wide(wide, [rows.len(), len, inner], from, part)
        })?;
        return Ok(after(done, y));
    }
    Ok(AnyRef::available(reduced(
        &x, function, &axes, keep_dims, ctx,
    )?))
}

/// Returns the reduction of single precision that a function is, if there is one.
fn wide_of(function: &str) -> Option<WideReduction> {
    Some(match function {
        "sum" => WideReduction::Sum,
        "mean" => WideReduction::Mean,
        "l1" => WideReduction::SumAbsolutes,
        "sum_square" => WideReduction::SumSquares,
        "l2" => WideReduction::Norm,
        "max" => WideReduction::Max,
        "min" => WideReduction::Min,
        _ => return None,
    })
}

/// Returns the extents before, of and behind the reduced axes, if these follow each other and each
/// set has several elements.
fn run_of(dims: &[usize], axes: &[usize]) -> Option<[usize; 3]> {
    let is_reduced = |axis: &usize| dims[*axis] != 1 && axes.contains(axis);
    let first = (0..dims.len()).find(is_reduced)?;
    let last = (0..dims.len()).rfind(is_reduced)?;
    let is_one_run = (first..=last).all(|axis| dims[axis] == 1 || axes.contains(&axis));
    let sets = [&dims[..first], &dims[first..=last], &dims[last + 1..]].map(product);
    (is_one_run && sets.iter().all(|&extent| extent > 0)).then_some(sets)
}

/// Returns the dimensions of a result.
fn kept_dims(dims: &[usize], axes: &[usize], keeps_dims: bool) -> Vec<usize> {
    let kept = dims.iter().enumerate();
    let kept = kept.filter_map(|(axis, &extent)| match axes.contains(&axis) {
        true => keeps_dims.then_some(1),
        false => Some(extent),
    });
    kept.collect()
}

/// Returns a tensor, reduced along any axes.
fn reduced(
    x: &DenseHostTensor,
    function: &str,
    axes: &[usize],
    keep_dims: bool,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    const OP: &str = "nn.Reduce";
    let plan = Plan::new(x.shape().dims(), axes, keep_dims, ctx)?;
    if x.dtype() == DType::I1 && matches!(function, "max" | "min") {
        let from = x.elements::<I1>()?;
        let is_max = function == "max";
        return made(ctx, &plan.dims, |at| {
            let mut set = plan.set(&from, at).map(bool::from);
            I1::from(if is_max {
                set.any(|x| x)
            } else {
                set.all(|x| x)
            })
        });
    }
    with_number!(OP, x.dtype(), T => {
        let from = x.elements::<T>()?;
        let reduced: fn(&mut dyn Iterator<Item = T>) -> T = match function {
            "max" => |set| set.fold(T::LEAST, |a, b| if Number::is_nan(a) || a > b { a } else { b }),
            "min" => |set| set.fold(T::GREATEST, |a, b| if Number::is_nan(a) || a < b { a } else { b }),
            "sum" if !T::IS_REAL => |set| set.fold(T::of_f64(0.0), Number::plus),
            "prod" if !T::IS_REAL => |set| set.fold(T::of_f64(1.0), Number::times),
            "sum_square" if !T::IS_REAL => |set| set.fold(T::of_f64(0.0), |a, b| a.plus(b.times(b))),
            "sum" => |set| T::of_f64(set.fold(0.0, |sum, x| sum + x.to_f64())),
            "prod" => |set| T::of_f64(set.map(Number::to_f64).product()),
            "sum_square" => |set| T::of_f64(set.map(|x| x.to_f64() * x.to_f64()).sum()),
            "l1" => |set| T::of_f64(set.map(|x| x.to_f64().abs()).sum()),
            "l2" => |set| T::of_f64(set.map(|x| x.to_f64() * x.to_f64()).sum::<f64>().sqrt()),
            "log_sum" => |set| T::of_f64(set.map(Number::to_f64).sum::<f64>().ln()),
            "mean" => |set| {
                let (sum, count) = set.fold((0.0, 0.0), |(sum, count), x| (sum + x.to_f64(), count + 1.0));
                T::of_f64(sum / count)
            },
            "log_sum_exp" => return made(ctx, &plan.dims, |at| {
                let set = plan.set(&from, at).map(Number::to_f64);
                let greatest = set.clone().fold(f64::NEG_INFINITY, f64::max);
                let shift = if greatest.is_finite() { greatest } else { 0.0 };
                let sum: f64 = set.map(|x| (x - shift).exp()).sum();
                T::of_f64(sum.ln() + shift)
            }),
            other => return Err(invalid(format!("`{OP}`: unknown function `{other}`"))),
        };
        made(ctx, &plan.dims, |at| reduced(&mut plan.set(&from, at)))
    })
}

/// Returns the indices of the greatest or the least elements along an axis, and of equal ones the
/// first or the last.
///
/// # Errors
/// If there is no such axis, or it is empty.
#[tfrt_op("nn.ArgExtreme")]
fn arg_extreme(
    x: &AnyRef,
    #[attr] is_max: bool,
    #[attr(default = 0)] axis: i64,
    #[attr(default = true)] keep_dims: bool,
    #[attr(default = false)] takes_last: bool,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    const OP: &str = "nn.ArgExtreme";
    let x = dense(x)?;
    let dims = x.shape().dims();
    let axis = axis_of(OP, axis, dims.len())?;
    let plan = Plan::new(dims, &[axis], keep_dims, ctx)?;
    if dims[axis] == 0 && product(&plan.dims) > 0 {
        return Err(invalid(format!("`{OP}`: no elements along axis {axis}")));
    }
    with_number!(OP, x.dtype(), T => {
        let from = x.elements::<T>()?;
        made(ctx, &plan.dims, |at| {
            let mut found: Option<(i64, T)> = None;
            for (place, x) in plan.set(&from, at).enumerate() {
                let is_better = found.is_none_or(|(_, best)| {
                    let beats = if is_max { x > best } else { x < best };
                    beats || (takes_last && x == best)
                });
                if is_better {
                    found = Some((place as i64, x));
                }
            }
            found.map_or(0, |(place, _)| place)
        })
    })
}

/// Returns cumulative sums or products along the axis of the second operand: from the end with
/// `reverse`, and without the element itself with `exclusive`.
///
/// # Errors
/// If there is no such axis.
#[tfrt_op("nn.Cumulate")]
fn cumulate(
    x: &AnyRef,
    axis: &AnyRef,
    #[attr(default = false)] multiplies: bool,
    #[attr(default = false)] exclusive: bool,
    #[attr(default = false)] reverse: bool,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    const OP: &str = "nn.Cumulate";
    let x = dense(x)?;
    let dims = x.shape().dims();
    let axis = one_integer(OP, "axis", &dense(axis)?)?;
    let axis = axis_of(OP, axis, dims.len())?;
    let plan = Plan::new(dims, &[axis], true, ctx)?;
    with_number!(OP, x.dtype(), T => {
        let from = x.elements::<T>()?;
        let mut result = allocate(ctx, x.dtype(), dims)?;
        let mut to = result.elements_mut::<T>()?;
        for start in plan.starts() {
            let mut so_far = T::of_f64(if multiplies { 1.0 } else { 0.0 });
            let len = plan.set_len();
            for step in 0..len {
                let offset = plan.offsets[if reverse { len - 1 - step } else { step }] as usize;
                let x = from[start + offset];
                let next = if multiplies { so_far.times(x) } else { so_far.plus(x) };
                to[start + offset] = if exclusive { so_far } else { next };
                so_far = next;
            }
        }
        drop(to);
        Ok(result)
    })
}

/// Divides the elements along an axis by their norm of order 1 or 2; the result is 0 if the norm
/// is 0.
///
/// # Errors
/// If there is no such axis, or the elements are not real numbers.
#[tfrt_op("nn.LpNormalization")]
fn lp_normalization(
    x: &AnyRef,
    #[attr(default = -1)] axis: i64,
    #[attr(default = 2)] p: i64,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    const OP: &str = "nn.LpNormalization";
    let x = dense(x)?;
    let axis = axis_of(OP, axis, x.shape().rank())?;
    let plan = Plan::new(x.shape().dims(), &[axis], true, ctx)?;
    with_real!(OP, x.dtype(), T => {
        let from = x.elements::<T>()?;
        let mut result = allocate(ctx, x.dtype(), x.shape().dims())?;
        let mut to = result.elements_mut::<T>()?;
        for (at, start) in plan.starts().enumerate() {
            let set = plan.set(&from, at).map(Number::to_f64);
            let norm: f64 = match p {
                1 => set.map(f64::abs).sum(),
                _ => set.map(|x| x * x).sum::<f64>().sqrt(),
            };
            for offset in plan.offsets() {
                let x = from[start + offset].to_f64();
                to[start + offset] = T::of_f64(if norm == 0.0 { 0.0 } else { x / norm });
            }
        }
        drop(to);
        Ok(result)
    })
}
