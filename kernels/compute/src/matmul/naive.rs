//! Matrix products by definition, for any element type.

use super::MatmulShape;
use crate::element::Arithmetic;
use crate::error::ComputeError;
use crate::lanes::vectorised;

/// Computes `c = alpha · a · b + beta · c`; if `beta` is zero, `c` is not read.
///
/// Products are summed in the order of `k`; integers wrap around.
///
/// # Errors
/// If the length of a slice does not match the shape.
///
/// ```
/// use tfrt_compute::matmul::{MatmulShape, naive};
///
/// let mut c = [1, 1, 1, 1];
/// naive::matmul(&MatmulShape::new(2, 2, 1), 2, &[1, 2], &[3, 4], 1, &mut c)?;
/// assert_eq!(c, [7, 9, 13, 17]);
/// # Ok::<(), tfrt_compute::ComputeError>(())
/// ```
pub fn matmul<T: Arithmetic>(
    shape: &MatmulShape,
    alpha: T,
    a: &[T],
    b: &[T],
    beta: T,
    c: &mut [T],
) -> Result<(), ComputeError> {
    shape.check_lengths(a.len(), b.len(), c.len())?;
    if shape.c_len() == 0 {
        return Ok(());
    }
    vectorised(
        #[inline(always)]
        || {
            for (product, c) in c.chunks_exact_mut(shape.c_len()).enumerate() {
                let a = &a[product * shape.a_len()..][..shape.a_len()];
                let b = &b[product * shape.b_len()..][..shape.b_len()];
                one_product(shape, alpha, a, b, beta, c);
            }
        },
    );
    Ok(())
}

/// Columns whose sums are kept in a row on the stack.
const COLUMNS: usize = 128;

#[inline(always)]
fn one_product<T: Arithmetic>(
    shape: &MatmulShape,
    alpha: T,
    a: &[T],
    b: &[T],
    beta: T,
    c: &mut [T],
) {
    let &MatmulShape {
        m,
        n,
        k,
        transposes_a,
        transposes_b,
        ..
    } = shape;
    for (row, c) in c.chunks_exact_mut(n).enumerate() {
        for (block, c) in c.chunks_mut(COLUMNS).enumerate() {
            let first = block * COLUMNS;
            let mut sums = [T::default(); COLUMNS];
            let sums = &mut sums[..c.len()];
            for index in 0..k {
                let x = if transposes_a {
                    a[index * m + row]
                } else {
                    a[row * k + index]
                };
                if transposes_b {
                    for (column, sum) in sums.iter_mut().enumerate() {
                        *sum = sum.plus(x.times(b[(first + column) * k + index]));
                    }
                } else {
                    for (sum, &y) in sums.iter_mut().zip(&b[index * n + first..]) {
                        *sum = sum.plus(x.times(y));
                    }
                }
            }
            for (c, &sum) in c.iter_mut().zip(&*sums) {
                let product = if alpha == T::ONE {
                    sum
                } else {
                    alpha.times(sum)
                };
                *c = if beta == T::default() {
                    product
                } else {
                    product.plus(beta.times(*c))
                };
            }
        }
    }
}
