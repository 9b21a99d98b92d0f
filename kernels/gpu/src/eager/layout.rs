//! How elements of operands lie in memory, for kernels that visit them by coordinates.

/// The extents of a result, and the distances of the elements of each operand, in elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Layout<const OPERANDS: usize> {
    pub(super) dims: Vec<usize>,
    pub(super) strides: [Vec<usize>; OPERANDS],
}

impl<const OPERANDS: usize> Layout<OPERANDS> {
    /// Returns the layout with as few dimensions as possible, but at least one: dimensions of one
    /// element are left out, and neighbours that every operand passes through in one go are one.
    pub(super) fn merged(dims: &[usize], strides: [&[usize]; OPERANDS]) -> Self {
        let mut merged = Self {
            dims: Vec::new(),
            strides: [const { Vec::new() }; OPERANDS],
        };
        for (dimension, &extent) in dims.iter().enumerate() {
            if extent == 1 {
                continue;
            }
            let here = strides.map(|strides| strides[dimension]);
            let joins = !merged.dims.is_empty()
                && merged
                    .strides
                    .iter()
                    .zip(here)
                    .all(|(outer, inner)| outer.last().copied() == inner.checked_mul(extent));
            if joins {
                if let Some(outer) = merged.dims.last_mut() {
                    *outer = outer.saturating_mul(extent);
                }
                for (strides, inner) in merged.strides.iter_mut().zip(here) {
                    if let Some(outer) = strides.last_mut() {
                        *outer = inner;
                    }
                }
            } else {
                merged.dims.push(extent);
                for (strides, inner) in merged.strides.iter_mut().zip(here) {
                    strides.push(inner);
                }
            }
        }
        if merged.dims.is_empty() {
            merged.dims.push(1);
            merged
                .strides
                .iter_mut()
                .for_each(|strides| strides.push(0));
        }
        merged
    }
}

/// Returns the distances of the elements of a dense tensor.
pub(super) fn dense_strides(dims: &[usize]) -> Vec<usize> {
    let mut strides = vec![1_usize; dims.len()];
    for dimension in (1..dims.len()).rev() {
        strides[dimension - 1] = strides[dimension].saturating_mul(dims[dimension].max(1));
    }
    strides
}

/// Returns the distances of the elements of a dense tensor that is broadcast to a shape of at least
/// its rank.
pub(super) fn broadcast_strides(dims: &[usize], result: &[usize]) -> Vec<usize> {
    let missing = result.len() - dims.len();
    let strides = dense_strides(dims);
    let own = dims.iter().zip(strides);
    let own = own.map(|(&extent, stride)| if extent == 1 { 0 } else { stride });
    std::iter::repeat_n(0, missing).chain(own).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_that_lie_together_are_one() {
        let dims = [2, 3, 1, 4];
        let dense = dense_strides(&dims);
        assert_eq!(dense, [12, 4, 4, 1]);
        let layout = Layout::merged(&dims, [&dense]);
        assert_eq!((layout.dims, layout.strides), (vec![24], [vec![1]]));
        // A row for each of the first two dimensions.
        let row = broadcast_strides(&[4], &dims);
        let layout = Layout::merged(&dims, [&dense, &row]);
        assert_eq!(layout.dims, [6, 4]);
        assert_eq!(layout.strides, [vec![4, 1], vec![0, 1]]);
        let column = broadcast_strides(&[3, 1, 1], &dims);
        let layout = Layout::merged(&dims, [&dense, &column]);
        assert_eq!(layout.dims, [2, 3, 4]);
        assert_eq!(layout.strides[1], [0, 1, 0]);
        let layout = Layout::merged(&[1, 1], [&[7, 7]]);
        assert_eq!((layout.dims, layout.strides), (vec![1], [vec![0]]));
    }
}
