//! Reductions of whole tensors and of windows.

use std::ops::Range;

use tfrt::prelude::*;
use tfrt_tensor::DenseHostTensor;

use super::element::Type;
use super::element_wise::scalar;
use super::moves::{WindowAxis, WindowNumbers, loaded, window_place};
use super::program::Program;
use super::{index_of, other_axes, pick, store};
use crate::{advance, dense, invalid, product, strides};

/// The number of sets of elements reduced at a time. It bounds memory independently of the file.
const BLOCK: usize = 4096;

/// The operands of a reduction: tensors of one shape, and their initial values.
struct Reduced {
    tensors: Vec<DenseHostTensor>,
    /// The elements of each tensor; two lists, of both parts, if they are complex numbers.
    elements: Vec<Vec<u64>>,
    types: Vec<Type>,
    /// The initial value of each accumulator.
    first: Vec<u64>,
    program: Program,
}

impl Reduced {
    fn new(op: &'static str, operands: &[AnyRef], program: &str) -> Result<Self> {
        let (inputs, inits) = operands.split_at(operands.len() / 2);
        if inputs.is_empty() || inputs.len() != inits.len() {
            return Err(invalid(format!(
                "`{op}` needs an initial value for each tensor, found {} operands",
                operands.len()
            )));
        }
        let tensors = inputs.iter().map(dense).collect::<Result<Vec<_>>>()?;
        if let Some(other) = tensors
            .iter()
            .find(|tensor| tensor.shape() != tensors[0].shape())
        {
            return Err(invalid(format!(
                "`{op}` needs tensors of one shape, found {} and {}",
                tensors[0].shape(),
                other.shape()
            )));
        }
        let inits = inits.iter().map(dense).collect::<Result<Vec<_>>>()?;
        let pairs = || inits.iter().zip(&tensors);
        if pairs().any(|(init, tensor)| init.dtype() != tensor.dtype()) {
            return Err(invalid(format!(
                "`{op}` needs initial values of the element types of the tensors"
            )));
        }
        if let Some(other) = inits.iter().find(|init| init.num_elements() != 1) {
            return Err(invalid(format!(
                "`{op}` needs `init` as a scalar, found {} elements",
                other.num_elements()
            )));
        }
        let (mut types, mut elements, mut first) = (Vec::new(), Vec::new(), Vec::new());
        for (init, tensor) in pairs() {
            let (ty, planes) = super::planes(op, tensor)?;
            types.resize(types.len() + planes.len(), ty);
            elements.extend(planes);
            first.extend(super::planes(op, init)?.1.into_iter().flatten());
        }
        let program = Program::new(op, program, &[&types[..], &types[..]].concat())?;
        program.expect_results(op, &types)?;
        Ok(Self {
            elements,
            tensors,
            types,
            first,
            program,
        })
    }

    fn dims(&self) -> &[usize] {
        self.tensors[0].shape().dims()
    }

    /// Reduces `count` sets of elements, many at a time. `places` appends the positions of the
    /// elements of some sets in a round; `None` stands for the initial value.
    fn run(
        &mut self,
        op: &'static str,
        count: usize,
        rounds: usize,
        mut places: impl FnMut(Range<usize>, usize, &mut Vec<Option<usize>>),
    ) -> Result<Vec<Vec<u64>>> {
        let mut sums: Vec<Vec<u64>> = Vec::with_capacity(self.types.len());
        for _ in 0..self.types.len() {
            sums.push(super::room(op, count)?);
        }
        for start in (0..count).step_by(BLOCK) {
            let sets = start..(start + BLOCK).min(count);
            let block = self.run_block(sets.len(), rounds, |round, found| {
                places(sets.clone(), round, found);
            });
            for (sums, block) in sums.iter_mut().zip(block) {
                sums.extend(block);
            }
        }
        Ok(sums)
    }

    fn run_block(
        &mut self,
        count: usize,
        rounds: usize,
        mut places: impl FnMut(usize, &mut Vec<Option<usize>>),
    ) -> Vec<Vec<u64>> {
        let num = self.types.len();
        let mut sums: Vec<Vec<u64>> = self.first.iter().map(|&first| vec![first; count]).collect();
        let mut round_places = Vec::with_capacity(count);
        if let Some(function) = self.program.as_binary() {
            // Sums of floating point numbers are rounded once, at the end.
            let own = self.types[0];
            let ty = match own.is_real() {
                true => Type::named("f64").unwrap_or(own),
                false => own,
            };
            let (from, sums) = (&self.elements[0], &mut sums[0]);
            for round in 0..rounds {
                round_places.clear();
                places(round, &mut round_places);
                for (sum, place) in sums.iter_mut().zip(&round_places) {
                    let element = place.map_or(self.first[0], |place| from[place]);
                    *sum = function.of(ty, *sum, element);
                }
            }
            if own.is_real() {
                for sum in sums {
                    *sum = own.round(f64::from_bits(*sum));
                }
            }
        } else {
            for round in 0..rounds {
                round_places.clear();
                places(round, &mut round_places);
                for (index, sum) in sums.iter_mut().enumerate().take(num) {
                    let (from, first) = (&self.elements[index], self.first[index]);
                    let elements = round_places.iter();
                    let elements = elements.map(|place| place.map_or(first, |place| from[place]));
                    let argument = self.program.argument(num + index);
                    argument.clear();
                    argument.extend(elements);
                    std::mem::swap(self.program.argument(index), sum);
                }
                self.program.run(count);
                for (index, sum) in sums.iter_mut().enumerate() {
                    sum.clear();
                    sum.extend_from_slice(self.program.result(index));
                }
            }
        }
        sums
    }

    fn results(
        &self,
        op: &'static str,
        ctx: &ExecutionContext,
        dims: &[usize],
        sums: &[Vec<u64>],
    ) -> Result<Vec<AnyRef>> {
        let mut rest = sums;
        let results = self.tensors.iter().map(|tensor| {
            let (_, count) = Type::parts(op, tensor.dtype())?;
            let (own, others) = rest.split_at(count);
            rest = others;
            let result = super::store_planes(op, ctx, tensor.dtype(), dims, own)?;
            Ok(AnyRef::available(result))
        });
        results.collect()
    }
}

/// Reduces tensors along axes by a scalar program of the accumulators and the next elements. The
/// first half of the operands are the tensors, and the second half the initial values, which are
/// scalars.
///
/// # Errors
/// If the program does not match the operands, or an axis is out of range.
#[tfrt_op("hlo.Reduce")]
fn reduce(
    operands: &[AnyRef],
    #[attr] program: &str,
    #[attr] axes: Option<&[i64]>,
    ctx: &ExecutionContext,
) -> Result<Vec<AnyRef>> {
    const OP: &str = "hlo.Reduce";
    let mut reduced = Reduced::new(OP, operands, program)?;
    let dims = reduced.dims().to_vec();
    let gone = super::axes(OP, axes, dims.len())?;
    let kept = other_axes(dims.len(), &gone);
    let (result_dims, gone_dims) = (pick(&dims, &kept), pick(&dims, &gone));
    let own = strides(&dims);
    let place_of = |place: usize, axes: &[usize], dims: &[usize]| -> usize {
        let index = index_of(place, dims);
        axes.iter()
            .zip(index)
            .map(|(&axis, at)| own[axis] * at)
            .sum()
    };
    let (count, rounds) = (product(&result_dims), product(&gone_dims));
    let mut block = 0..0;
    let mut lanes: Vec<usize> = Vec::new();
    let sums = reduced.run(OP, count, rounds, |sets, round, places| {
        if sets != block {
            block = sets.clone();
            lanes.clear();
            lanes.extend(sets.map(|set| place_of(set, &kept, &result_dims)));
        }
        let offset = place_of(round, &gone, &gone_dims);
        places.extend(lanes.iter().map(|lane| Some(lane + offset)));
    })?;
    reduced.results(OP, ctx, &result_dims, &sums)
}

/// Reduces each window of tensors, as `hlo.Reduce` reduces whole tensors. Padding, before and after
/// each axis and between elements, has the initial value.
///
/// # Errors
/// If the program or the windows do not match the operands.
#[tfrt_op("hlo.ReduceWindow")]
#[expect(
    clippy::too_many_arguments,
    reason = "they are the attributes of the op"
)]
pub(super) fn reduce_window(
    operands: &[AnyRef],
    #[attr] program: &str,
    #[attr] sizes: &[i64],
    #[attr] steps: Option<&[i64]>,
    #[attr] base_dilations: Option<&[i64]>,
    #[attr] dilations: Option<&[i64]>,
    #[attr] padding: Option<&[i64]>,
    ctx: &ExecutionContext,
) -> Result<Vec<AnyRef>> {
    const OP: &str = "hlo.ReduceWindow";
    let mut reduced = Reduced::new(OP, operands, program)?;
    let dims = reduced.dims().to_vec();
    let windows = WindowNumbers {
        sizes,
        steps,
        base_dilations,
        dilations,
        padding,
    };
    let axes = windows.axes(OP, &dims)?;
    let (counts, sizes) = extents_of(&axes);
    // Refuses more windows than the elements that a tensor can have.
    let count = tfrt_tensor::Shape::new(&counts)?.num_elements();
    let rounds = tfrt_tensor::Shape::new(&sizes)?.num_elements();
    let own = strides(&dims);
    crate::allocate(ctx, reduced.types[0].dtype, &counts)?;
    let sums = reduced.run(OP, count, rounds, |sets, round, places| {
        let element = index_of(round, &sizes);
        let mut window = index_of(sets.start, &counts);
        for _ in sets {
            places.push(window_place(&axes, &own, &window, &element));
            advance(&mut window, &counts);
        }
    })?;
    reduced.results(OP, ctx, &counts, &sums)
}

/// Returns the number and size of the windows along each axis.
fn extents_of(axes: &[WindowAxis]) -> (Vec<usize>, Vec<usize>) {
    axes.iter().map(|axis| (axis.count, axis.size)).unzip()
}

/// Selects the first best element of each window of the first operand by the program `select`. Then
/// combines the elements of the second operand into the selected positions by the program
/// `scatter`. All positions start with the third operand. The result has the type of these two.
///
/// # Errors
/// If the programs or the windows do not match the operands.
#[tfrt_op("hlo.SelectAndScatter")]
#[expect(
    clippy::too_many_arguments,
    reason = "they are the attributes of the op"
)]
fn select_and_scatter(
    x: &AnyRef,
    source: &AnyRef,
    init: &AnyRef,
    #[attr] select: &str,
    #[attr] scatter: &str,
    #[attr] sizes: &[i64],
    #[attr] steps: Option<&[i64]>,
    #[attr] padding: Option<&[i64]>,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    const OP: &str = "hlo.SelectAndScatter";
    let ((x, from), (source, added)) = (loaded(OP, x)?, loaded(OP, source)?);
    let init = dense(init)?;
    let (own_type, ty) = (Type::of(OP, x.dtype())?, Type::of(OP, source.dtype())?);
    if init.dtype() != ty.dtype {
        return Err(invalid(format!(
            "`{OP}` needs a source and an initial element of one type"
        )));
    }
    let mut select = Program::new(OP, select, &[own_type, own_type])?;
    select.expect_results(OP, &[Type::BOOL])?;
    let mut scatter = Program::new(OP, scatter, &[ty, ty])?;
    scatter.expect_results(OP, &[ty])?;
    let dims = x.shape().dims();
    let windows = WindowNumbers {
        sizes,
        steps,
        base_dilations: None,
        dilations: None,
        padding,
    };
    let axes = windows.axes(OP, dims)?;
    let (counts, sizes) = extents_of(&axes);
    if counts != source.shape().dims() {
        return Err(invalid(format!(
            "`{OP}` needs an element for each of the windows {counts:?}, found {}",
            source.shape()
        )));
    }
    let own = strides(dims);
    let rounds = tfrt_tensor::Shape::new(&sizes)?.num_elements();
    let first = scalar(OP, "init", &init)?;
    let mut sums: Vec<u64> = super::room(OP, from.len())?;
    sums.resize(from.len(), first);
    for start in (0..added.len()).step_by(BLOCK) {
        let count = BLOCK.min(added.len() - start);
        let mut chosen: Vec<Option<usize>> = vec![None; count];
        for round in 0..rounds {
            let element = index_of(round, &sizes);
            let mut window = index_of(start, &counts);
            let mut next = Vec::with_capacity(count);
            for _ in 0..count {
                next.push(window_place(&axes, &own, &window, &element));
                advance(&mut window, &counts);
            }
            let elements = |places: &[Option<usize>]| -> Vec<u64> {
                let elements = places.iter();
                elements
                    .map(|place| place.map_or(0, |place| from[place]))
                    .collect()
            };
            *select.argument(0) = elements(&chosen);
            *select.argument(1) = elements(&next);
            select.run(count);
            for ((chosen, next), &keeps) in chosen.iter_mut().zip(next).zip(select.result(0)) {
                if next.is_some() && (chosen.is_none() || keeps == 0) {
                    *chosen = next;
                }
            }
        }
        for (place, &element) in chosen.into_iter().zip(&added[start..start + count]) {
            if let Some(place) = place {
                *scatter.argument(0) = vec![sums[place]];
                *scatter.argument(1) = vec![element];
                scatter.run(1);
                sums[place] = scatter.result(0)[0];
            }
        }
    }
    store(OP, ctx, ty.dtype, dims, &sums)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_skip_padding_and_what_is_between_elements() {
        let windows = WindowNumbers {
            sizes: &[2],
            steps: Some(&[2]),
            base_dilations: Some(&[2]),
            dilations: Some(&[3]),
            padding: Some(&[1, 0]),
        };
        // The elements are at 1, 3 and 5 of six. Windows have two elements at distance 3.
        let axes = windows.axes("t", &[3]).unwrap();
        assert_eq!((axes[0].count, axes[0].size), (2, 2));
        let place = |window, element| axes[0].place(window, element);
        assert_eq!([place(0, 0), place(0, 1)], [None, Some(1)]);
        assert_eq!([place(1, 0), place(1, 1)], [None, Some(2)]);
        assert!(windows.axes("t", &[3, 3]).is_err());
    }
}
