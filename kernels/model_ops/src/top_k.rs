//! The greatest or least elements.

use std::cmp::Ordering;

use tfrt::prelude::*;
use tfrt_tensor::DenseHostTensor;

use crate::number::{Number, with_number};
use crate::{allocate, axis_of, dense, invalid, one_integer, product};

/// The least number of candidates that are kept before some are dropped.
const MIN_KEPT: usize = 64;

/// Returns the greatest or the least `k` elements along an axis, in order, and their indices. Equal
/// elements keep their order.
///
/// # Errors
/// If `k` is not a single number, or there are fewer elements.
#[tfrt_op("nn.TopK")]
fn top_k(
    x: &AnyRef,
    k: &AnyRef,
    #[attr(default = -1)] axis: i64,
    #[attr(default = true)] largest: bool,
    ctx: &ExecutionContext,
) -> Result<(DenseHostTensor, DenseHostTensor)> {
    const OP: &str = "nn.TopK";
    let x = dense(x)?;
    let k = one_integer(OP, "k", &dense(k)?)?;
    let dims = x.shape().dims();
    let axis = axis_of(OP, axis, dims.len())?;
    let count = usize::try_from(k).ok().filter(|&count| count <= dims[axis]);
    let count = count.ok_or_else(|| {
        invalid(format!(
            "`{OP}`: cannot select {k} of {} elements",
            dims[axis]
        ))
    })?;
    let mut shape = dims.to_vec();
    shape[axis] = count;
    let inner = product(&dims[axis + 1..]);
    with_number!(OP, x.dtype(), T => {
        let from = x.elements::<T>()?;
        let mut values = allocate(ctx, x.dtype(), &shape)?;
        let mut places = allocate(ctx, DType::I64, &shape)?;
        if count > 0 {
            let (mut values, mut places) = (values.elements_mut::<T>()?, places.elements_mut::<i64>()?);
            let mut selection = Selection::new(count, largest);
            for outer in 0..product(&dims[..axis]) {
                for column in 0..inner {
                    let start = outer * dims[axis] * inner + column;
                    let elements = from[start..].iter().step_by(inner).take(dims[axis]);
                    for (at, &(value, place)) in selection.of(elements).iter().enumerate() {
                        let to = (outer * count + at) * inner + column;
                        values[to] = value;
                        places[to] = place as i64;
                    }
                }
            }
        }
        Ok((values, places))
    })
}

/// Selects the first elements of an order, and their places. The memory is used again.
struct Selection<T> {
    count: usize,
    largest: bool,
    /// The first elements so far, and those that may be among them.
    kept: Vec<(T, usize)>,
}

impl<T: Number> Selection<T> {
    fn new(count: usize, largest: bool) -> Self {
        Self {
            count,
            largest,
            kept: Vec::new(),
        }
    }

    /// Returns the order of two elements. NaN is greater than everything.
    fn order(&self, a: T, b: T) -> Ordering {
        let order = a
            .partial_cmp(&b)
            .unwrap_or_else(|| Number::is_nan(a).cmp(&Number::is_nan(b)));
        match self.largest {
            true => order.reverse(),
            false => order,
        }
    }

    /// Returns the first elements, in order.
    fn of<'a>(&mut self, elements: impl Iterator<Item = &'a T>) -> &[(T, usize)]
    where
        T: 'a,
    {
        let mut kept = std::mem::take(&mut self.kept);
        kept.clear();
        if self.count > 0 {
            let by_place =
                |a: &(T, usize), b: &(T, usize)| self.order(a.0, b.0).then(a.1.cmp(&b.1));
            let capacity = self.count.saturating_mul(2).max(MIN_KEPT);
            // An element that does not come before this one is not among the first.
            let mut last: Option<T> = None;
            for (place, &element) in elements.enumerate() {
                if let Some(last) = last {
                    // The usual case, for which one comparison is enough.
                    let is_behind = match self.largest {
                        true => element <= last,
                        false => element >= last,
                    };
                    if is_behind || self.order(element, last).is_ge() {
                        continue;
                    }
                }
                kept.push((element, place));
                if kept.len() == capacity {
                    let (_, bound, _) = kept.select_nth_unstable_by(self.count - 1, by_place);
                    last = Some(bound.0);
                    kept.truncate(self.count);
                }
            }
            if kept.len() > self.count {
                kept.select_nth_unstable_by(self.count - 1, by_place);
                kept.truncate(self.count);
            }
            kept.sort_unstable_by(by_place);
        }
        self.kept = kept;
        &self.kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selections_are_the_first_of_all_in_order() {
        let mut state = 1_u32;
        let mut number = |limit: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 16) % limit
        };
        for round in 0..300 {
            let len = [3, 70, 500, 2000][round % 4];
            // Many equal elements, or few, and some that are not numbers.
            let limit = [2, 50, 60_000][round % 3];
            let mut elements: Vec<f32> = (0..len).map(|_| number(limit) as f32).collect();
            match round % 5 {
                0 => elements.sort_by(f32::total_cmp),
                1 => elements.sort_by(|a, b| b.total_cmp(a)),
                2 => elements[len / 2] = f32::NAN,
                _ => {}
            }
            for largest in [false, true] {
                for count in [0, 1, 3.min(len), len / 10, len / 2, len] {
                    let mut selection = Selection::new(count, largest);
                    let mut all: Vec<(f32, usize)> = elements.iter().copied().zip(0..).collect();
                    // Stable.
                    all.sort_by(|a, b| selection.order(a.0, b.0));
                    // The second time with the memory of the first.
                    for _ in 0..2 {
                        let found = selection.of(elements.iter());
                        let bits = |found: &[(f32, usize)]| -> Vec<(u32, usize)> {
                            let bits = found.iter().map(|&(x, place)| (x.to_bits(), place));
                            bits.collect()
                        };
                        assert_eq!(bits(found), bits(&all[..count]));
                    }
                }
            }
        }
    }
}
