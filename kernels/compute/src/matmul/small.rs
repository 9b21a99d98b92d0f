//! Products of a few elements, whose cost is mostly that of preparing faster loops.
//!
//! The sums are the same as in the other ways, bit by bit: each begins with zero, and takes up the
//! products in the order of `k`, rounded once each.

use super::{MatmulElement, MatmulOperands, MatmulShape, RightFactor};
use crate::activation::Activation;
use crate::error::{ComputeError, check_len};
use crate::lanes::vectorised;

/// Up to how many products of elements this way is the fastest.
const MAX_PRODUCTS: usize = 512;

/// Columns that have sums at the same time: a register of any processor holds them.
const COLUMNS: usize = 4;

/// Returns the right factor if this way computes the product: nothing is transposed, packed or
/// fused, and there are few elements.
#[inline]
pub(super) fn right_factor<'a, T: MatmulElement>(
    shape: &MatmulShape,
    operands: &MatmulOperands<'a, T>,
) -> Option<&'a [T]> {
    let num_products = shape.m.saturating_mul(shape.n).saturating_mul(shape.k);
    let is_plain = shape.batch == 1
        && !shape.transposes_a
        && !shape.transposes_b
        && operands.alpha == T::ONE
        && operands.beta == T::ZERO
        && operands.scale.is_none()
        && operands.shift.is_none()
        && operands.activation == Activation::None;
    match operands.b {
        RightFactor::Plain(b) if is_plain && (1..=MAX_PRODUCTS).contains(&num_products) => Some(b),
        _ => None,
    }
}

/// Computes a product of a few elements without a plan. Returns `false` without doing anything for
/// other products.
///
/// ```
/// use tfrt_compute::matmul::{MatmulOperands, MatmulShape, multiply_small};
///
/// let (a, b, mut c) = ([1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0], [0.0; 4]);
/// let shape = MatmulShape::new(2, 2, 2);
/// assert!(multiply_small(&shape, MatmulOperands::new(&a, &b), &mut c)?);
/// assert_eq!(c, [19.0, 22.0, 43.0, 50.0]);
/// # Ok::<(), tfrt_compute::ComputeError>(())
/// ```
///
/// # Errors
/// If a slice does not have the right length.
pub fn multiply_small<T: MatmulElement>(
    shape: &MatmulShape,
    operands: MatmulOperands<'_, T>,
    c: &mut [T],
) -> Result<bool, ComputeError> {
    let Some(b) = right_factor(shape, &operands) else {
        return Ok(false);
    };
    check_len("matmul", "a", shape.a_len(), operands.a.len())?;
    check_len("matmul", "b", shape.b_len(), b.len())?;
    check_len("matmul", "c", shape.c_len(), c.len())?;
    vectorised(
        #[inline(always)]
        || multiply(shape, operands.a, b, c),
    );
    Ok(true)
}

/// Computes `c = a · b`. No matrix is empty.
#[inline(always)]
pub(super) fn multiply<T: MatmulElement>(shape: &MatmulShape, a: &[T], b: &[T], c: &mut [T]) {
    let MatmulShape { n, k, .. } = *shape;
    if n == COLUMNS {
        // The rows of `b` and `c` are arrays: nothing is left to check or to count in the loops.
        let (rows_of_b, rows_of_c) = (b.as_chunks::<COLUMNS>().0, c.as_chunks_mut().0);
        for (a, c) in a.chunks_exact(k).zip(rows_of_c) {
            *c = row_of_product(a, rows_of_b);
        }
        return;
    }
    for (row, c) in c.chunks_exact_mut(n).enumerate() {
        let a = &a[row * k..][..k];
        let (chunks, rest) = c.as_chunks_mut::<COLUMNS>();
        let num_in_chunks = n - rest.len();
        for (index, chunk) in chunks.iter_mut().enumerate() {
            let mut sums = [T::ZERO; COLUMNS];
            for (&x, b) in a.iter().zip(b.chunks_exact(n)) {
                let b = &b[index * COLUMNS..][..COLUMNS];
                for (sum, &y) in sums.iter_mut().zip(b) {
                    *sum = x.mul_add(y, *sum);
                }
            }
            *chunk = sums;
        }
        for (index, element) in rest.iter_mut().enumerate() {
            let mut sum = T::ZERO;
            for (&x, b) in a.iter().zip(b.chunks_exact(n)) {
                sum = x.mul_add(b[num_in_chunks + index], sum);
            }
            *element = sum;
        }
    }
}

/// Returns a row of `a · b`, for a `b` of as many columns as a register holds.
#[inline(always)]
fn row_of_product<T: MatmulElement>(a: &[T], rows_of_b: &[[T; COLUMNS]]) -> [T; COLUMNS] {
    let mut sums = [T::ZERO; COLUMNS];
    for (&x, b) in a.iter().zip(rows_of_b) {
        for (sum, &y) in sums.iter_mut().zip(b) {
            *sum = x.mul_add(y, *sum);
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::super::{Block, Matmul, SharedSlice};
    use super::*;
    use crate::job::Plan;
    use crate::lanes::dispatch;

    /// Numbers whose products are rounded, so that sums depend on their order.
    fn numbers(count: usize) -> Vec<f32> {
        let number = |index: usize| ((index * 7919 + 13) % 1009) as f32 / 63.7 - 7.7;
        (0..count).map(number).collect()
    }

    #[test]
    fn small_products_have_the_bits_of_the_others() {
        let extents = [1, 2, 3, 4, 5, 7, 8, 9, 12];
        let mut num_small = 0;
        for (m, n, k) in extents
            .iter()
            .chain(&[20, 64])
            .flat_map(|&m| extents.iter().map(move |&n| (m, n)))
            .flat_map(|(m, n)| [0, 1, 3, 4, 8, 17].map(|k| (m, n, k)))
        {
            let shape = MatmulShape::new(m, n, k);
            let plan = Matmul::<f32>::new(shape, 1).unwrap();
            let (a, b) = (numbers(m * k), numbers(k * n + 5)[5..].to_vec());
            let operands = MatmulOperands::new(&a, &b);
            num_small += usize::from(right_factor(&shape, &operands).is_some());
            let mut small = vec![f32::NAN; m * n];
            let mut workspace = vec![f32::NAN; plan.workspace_len()];
            plan.compute(0, operands, &SharedSlice::new(&mut small), &mut workspace);
            let mut others = vec![f32::NAN; m * n];
            dispatch(Block {
                plan: &plan,
                block: 0,
                operands,
                output: &SharedSlice::new(&mut others),
                workspace: &mut workspace,
            });
            let bits = |numbers: &[f32]| numbers.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&small), bits(&others), "[{m}, {k}] x [{k}, {n}]");
        }
        assert!(num_small > 100, "{num_small} products are small");
    }

    #[test]
    fn lengths_are_checked_before_anything_is_written() {
        let (a, b) = (numbers(4), numbers(6));
        let shape = MatmulShape::new(2, 3, 2);
        for (num_a, num_b, num_c, message) in [
            (3, 6, 6, "matmul: expected 4 elements in `a`, found 3"),
            (4, 5, 6, "matmul: expected 6 elements in `b`, found 5"),
            (4, 6, 7, "matmul: expected 6 elements in `c`, found 7"),
        ] {
            let mut c = vec![7.0; num_c];
            let operands = MatmulOperands::new(&a[..num_a], &b[..num_b]);
            let error = multiply_small(&shape, operands, &mut c).unwrap_err();
            assert_eq!(error.to_string(), message);
            assert_eq!(c, vec![7.0; num_c]);
        }
        // Extents whose product is zero may be too large for lengths.
        let empty = MatmulShape::new(0, usize::MAX, usize::MAX);
        let is_done = multiply_small(&empty, MatmulOperands::new(&a, &b), &mut []);
        assert_eq!(is_done, Ok(false));
    }

    #[test]
    fn fused_and_transposed_products_are_not_small() {
        let (a, b, c) = ([1.0_f32; 4], [2.0; 4], [3.0; 2]);
        let shape = MatmulShape::new(2, 2, 2);
        let plain = MatmulOperands::new(&a, &b);
        let is_small = |shape: &MatmulShape, operands| right_factor(shape, &operands).is_some();
        assert!(is_small(&shape, plain));
        for other in [
            shape.transposed(true, false),
            shape.transposed(false, true),
            shape.batched(2),
        ] {
            assert!(!is_small(&other, plain), "{other:?}");
        }
        for operands in [
            plain.alpha(2.0),
            plain.beta(1.0),
            plain.scale(&c),
            plain.shift(&c),
            plain.activation(Activation::Relu),
            MatmulOperands::packed(&a, &b),
        ] {
            assert!(!is_small(&shape, operands), "{operands:?}");
        }
        assert!(!is_small(&MatmulShape::new(8, 8, 9), plain));
    }
}
