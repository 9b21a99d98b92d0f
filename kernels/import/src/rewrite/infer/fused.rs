//! The results of ops that stand for several ones.

use tfrt_support::DType;

use super::{Attr, Dim, Known, attr, broadcast, broadcast_all};

/// Returns the shape of queries, keys or values by heads, `[…, heads, row, column]`: the attribute
/// says which columns of rows are those of heads.
pub(crate) fn by_heads(attrs: &[(String, Attr)], side: usize, dims: &[Dim]) -> Option<Vec<Dim>> {
    let inside = match attr(attrs, "inside") {
        Some(Attr::Ints(numbers)) => numbers.get(3 * side..3 * side + 3),
        _ => None,
    };
    match inside {
        None | Some([0, ..]) => Some(dims.to_vec()),
        Some(numbers) => {
            let number = |at: usize| usize::try_from(numbers[at]).ok().map(Dim::Fixed);
            let (batch, &[rows, _]) = dims.split_last_chunk::<2>()?;
            Some([batch, &[number(0)?, rows, number(2)?]].concat())
        }
    }
}

/// Returns the shape of the result of an attention.
pub(super) fn attention(
    attrs: &[(String, Attr)],
    operands: &[Known],
    new: &mut impl FnMut() -> Dim,
) -> Option<Vec<Dim>> {
    let side = |side: usize| by_heads(attrs, side, operands.get(side)?.dims.as_ref()?);
    // Masks may have more queries, and more heads.
    let mut dims = side(0)?;
    *dims.last_mut()? = Dim::Fixed(1);
    for mask in operands.get(3..).unwrap_or_default() {
        let mut mask = mask.dims.clone()?;
        if let Some(keys) = mask.last_mut() {
            *keys = Dim::Fixed(1);
        }
        dims = broadcast(&dims, &mask, new);
    }
    let of_values = side(2).and_then(|v| v.last().copied());
    *dims.last_mut()? = of_values.unwrap_or_else(new);
    Some(dims)
}

/// Returns the results of a normalization of sums.
pub(super) fn sum_normalization(
    attrs: &[(String, Attr)],
    operands: &[Known],
    new: &mut impl FnMut() -> Dim,
) -> Option<Vec<Known>> {
    let Some(Attr::Ints(gathers)) = attr(attrs, "gathers") else {
        return None;
    };
    let mut operands = operands.iter();
    let summands = gathers.iter().map(|&gathers| {
        let rows = operands.next()?;
        if gathers == 0 {
            return Some(rows.clone());
        }
        let indices = operands.next()?.dims.as_ref()?;
        let dims = [indices, rows.dims.as_ref()?.get(1..)?].concat();
        Some(Known {
            dtype: rows.dtype,
            dims: Some(dims),
        })
    });
    let summands: Vec<Known> = summands.collect::<Option<_>>()?;
    let sum = Known {
        dtype: Some(DType::F32),
        dims: broadcast_all(&summands, new),
    };
    Some(vec![sum; 2])
}
