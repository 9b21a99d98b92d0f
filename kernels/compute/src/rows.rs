//! The division of routines that compute their output row by row.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;

use tfrt_support::share::share;

use crate::error::ComputeError;
use crate::job::{Plan, SharedSlice};
use crate::parallel::block_count;

/// An output of equal rows, divided into blocks of neighbouring rows.
///
/// The caller defines the rows: an element for element-wise functions, a line of an image for
/// pooling. The operand is the routine itself: it receives a range of rows and the destination.
///
/// ```
/// use tfrt_compute::job::Plan;
/// use tfrt_compute::parallel::Serial;
/// use tfrt_compute::rows::RowPlan;
/// use tfrt_compute::unary::{self, Unary};
///
/// let input = [-1.0_f32, 0.0, 2.0];
/// let mut output = [0.0; 3];
/// let plan = RowPlan::new(3, 1, 3, 1)?;
/// plan.run(&Serial, &|rows, part| unary::apply(Unary::Relu, &input[rows], part), &mut output, &mut [])?;
/// assert_eq!(output, [0.0, 0.0, 2.0]);
/// # Ok::<(), tfrt_compute::ComputeError>(())
/// ```
pub struct RowPlan<T> {
    rows: usize,
    row_len: usize,
    blocks: usize,
    element: PhantomData<fn(T)>,
}

impl<T> RowPlan<T> {
    /// Divides `rows` rows of `row_len` elements, which take `operations` in total, for at most
    /// `width` threads.
    ///
    /// # Errors
    /// If the output has more elements than can be addressed.
    pub fn new(
        rows: usize,
        row_len: usize,
        operations: usize,
        width: usize,
    ) -> Result<Self, ComputeError> {
        crate::error::checked_product("rows", &[rows, row_len])?;
        Ok(Self {
            rows,
            row_len,
            blocks: block_count(width, rows, operations),
            element: PhantomData,
        })
    }
}

// SAFETY: 1. A block's elements are those of its share of rows: a partition of the output. 2.
// Nobody changes the fields.
#[expect(unsafe_code, reason = "the trait promises disjoint blocks")]
unsafe impl<T: Copy + Send + Sync + 'static> Plan for RowPlan<T> {
    type Element = T;
    type Operands<'a> = &'a (dyn Fn(Range<usize>, &mut [T]) + Sync);

    fn name(&self) -> &'static str {
        "rows"
    }

    fn blocks(&self) -> usize {
        self.blocks
    }

    fn output_len(&self) -> usize {
        self.rows * self.row_len
    }

    fn check(&self, _: Self::Operands<'_>) -> Result<(), ComputeError> {
        Ok(())
    }

    fn compute(
        &self,
        block: usize,
        routine: Self::Operands<'_>,
        output: &SharedSlice<'_, T>,
        _: &mut [T],
    ) {
        let rows = share(self.rows, self.blocks, block);
        // SAFETY: the rows are of this block's share (duty 1 of `Plan`).
        #[expect(unsafe_code, reason = "the blocks share the output")]
        let part = unsafe { output.slice_mut(rows.start * self.row_len..rows.end * self.row_len) };
        routine(rows, part);
    }
}

impl<T> Clone for RowPlan<T> {
    fn clone(&self) -> Self {
        Self {
            element: PhantomData,
            ..*self
        }
    }
}

impl<T> fmt::Debug for RowPlan<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            rows,
            row_len,
            blocks,
            element: _,
        } = self;
        f.debug_struct("RowPlan")
            .field("rows", rows)
            .field("row_len", row_len)
            .field("blocks", blocks)
            .finish()
    }
}
