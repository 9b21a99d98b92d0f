//! Where the heads of queries, keys and values are.

use tfrt::prelude::*;
use tfrt_tensor::DenseHostTensor;

use super::{AttentionElement, OP};
use crate::{invalid, unspecified};

/// Queries, keys or values.
pub(super) struct Side {
    pub(super) tensor: DenseHostTensor,
    /// The shape by heads: `[…, heads, row, column]`.
    pub(super) dims: Vec<usize>,
    pub(super) place: Place,
}

/// Where the matrices of heads are.
pub(super) struct Place {
    /// So many heads in a row lie inside of the same rows.
    heads: usize,
    /// The distance between the first of these heads and the next ones, and between two heads.
    steps: [usize; 2],
    /// Where the first head begins.
    first: usize,
    /// The distance between two rows.
    stride: usize,
    /// The rows and columns of a head.
    rows: usize,
    size: usize,
}

impl Side {
    /// Returns an operand that has a matrix for each head.
    ///
    /// # Errors
    /// If it is not a matrix.
    pub(super) fn of_matrices(tensor: DenseHostTensor) -> Result<Self> {
        let dims = tensor.shape().dims().to_vec();
        let Some((_, &[rows, size])) = dims.split_last_chunk::<2>() else {
            return Err(misfit(&tensor, &[]));
        };
        let place = Place {
            heads: 1,
            steps: [rows * size, 0],
            first: 0,
            stride: size,
            rows,
            size,
        };
        Ok(Self {
            tensor,
            dims,
            place,
        })
    }

    /// Returns an operand for which `inside` has three numbers from `3 * side` on: so many heads
    /// are inside of its rows, the first one begins at a column, and each has so many columns. If
    /// there are no heads inside, it has a matrix for each head.
    ///
    /// # Errors
    /// If the operand does not have such heads.
    pub(super) fn new(
        tensor: DenseHostTensor,
        side: usize,
        inside: Option<&[i64]>,
    ) -> Result<Self> {
        let Some(inside) = inside else {
            return Self::of_matrices(tensor);
        };
        let own = tensor.shape().dims();
        let numbers = inside.get(3 * side..).and_then(<[i64]>::first_chunk::<3>);
        let numbers = numbers.ok_or_else(|| misfit(&tensor, inside))?;
        let (&[heads, first, size], Some((batch, &[rows, columns]))) = (
            &crate::extents(OP, numbers)?[..],
            own.split_last_chunk::<2>(),
        ) else {
            return Err(misfit(&tensor, inside));
        };
        if heads == 0 {
            return Self::of_matrices(tensor);
        }
        let end = heads.checked_mul(size);
        let end = end.and_then(|len| len.checked_add(first));
        if size == 0 || end.is_none_or(|end| end > columns) {
            return Err(misfit(&tensor, inside));
        }
        let place = Place {
            heads,
            steps: [rows * columns, size],
            first,
            stride: columns,
            rows,
            size,
        };
        Ok(Self {
            dims: [batch, &[heads, rows, size]].concat(),
            tensor,
            place,
        })
    }

    /// Returns a tensor with a matrix of its own for each head.
    pub(super) fn by_heads(&self, ctx: &ExecutionContext) -> Result<DenseHostTensor> {
        if self.dims == self.tensor.shape().dims() {
            return Ok(self.tensor.clone());
        }
        let mut y = unspecified(ctx, self.tensor.dtype(), &self.dims)?;
        let width = self.tensor.dtype().size_bytes().unwrap_or(1);
        let len = self.place.size * width;
        if y.num_elements() > 0 {
            let (from, mut to) = (self.tensor.buffer().read()?, y.buffer_mut().write()?);
            for (row, to) in to.chunks_exact_mut(len).enumerate() {
                let (head, row) = (row / self.place.rows, row % self.place.rows);
                let start = self.place.start(head) + row * self.place.stride;
                to.copy_from_slice(&from[start * width..][..len]);
            }
        }
        Ok(y)
    }
}

#[cold]
fn misfit(tensor: &DenseHostTensor, inside: &[i64]) -> Error {
    invalid(format!(
        "`{OP}`: expected matrices with heads {inside:?}, found {}",
        tensor.metadata()
    ))
}

impl Place {
    /// Returns where the matrix of a head begins.
    fn start(&self, head: usize) -> usize {
        let [by_batch, by_head] = self.steps;
        self.first + head / self.heads * by_batch + head % self.heads * by_head
    }

    /// Returns the matrix of a head, if it is in single precision and in one piece.
    pub(super) fn piece<'a, T: AttentionElement>(
        &self,
        from: &'a [T],
        head: usize,
    ) -> Option<&'a [f32]> {
        self.whole(from, head).and_then(T::single)
    }

    /// Returns the matrix of a head, if it is in one piece.
    fn whole<'a, T>(&self, from: &'a [T], head: usize) -> Option<&'a [T]> {
        match self.rows * self.size {
            0 => Some(&[]),
            len => (self.stride == self.size).then(|| &from[self.start(head)..][..len]),
        }
    }

    /// Writes the matrix of a head, in single precision.
    pub(super) fn copy<T: AttentionElement>(&self, from: &[T], head: usize, buffer: &mut Vec<f32>) {
        buffer.resize(self.rows * self.size, 0.0);
        if let Some(whole) = self.whole(from, head) {
            return T::widen(whole, buffer);
        }
        let start = self.start(head);
        for (row, to) in buffer.chunks_exact_mut(self.size).enumerate() {
            T::widen(&from[start + row * self.stride..][..self.size], to);
        }
    }
}
