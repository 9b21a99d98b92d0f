//! Matrix products.

use tfrt::prelude::*;
use tfrt_compute::job::Plan;
use tfrt_compute::matmul::{Matmul, MatmulElement, MatmulOperands, MatmulShape};
use tfrt_compute::parallel::Serial;
use tfrt_tensor::{DenseHostTensor, Element, Shape};

use crate::number::{Number, with_number, with_real};
use crate::pairs::{Stretched, common};
use crate::{Slots, allocate, dense, invalid, made, product, real_numbers};

/// Multiplies matrices like NumPy: those in the last two dimensions, for each index of the other
/// dimensions, which are broadcast to one shape. A vector is a row on the left and a column on the
/// right.
///
/// # Errors
/// If the operands do not match.
#[tfrt_op("nn.MatMul")]
fn mat_mul(a: &AnyRef, b: &AnyRef, ctx: &ExecutionContext) -> Result<DenseHostTensor> {
    const OP: &str = "nn.MatMul";
    let (a, b) = (dense(a)?, dense(b)?);
    let refused = || {
        invalid(format!(
            "`{OP}`: {} and {} cannot be multiplied",
            a.metadata(),
            b.metadata()
        ))
    };
    let (mut left, mut right) = (a.shape().dims().to_vec(), b.shape().dims().to_vec());
    if left.is_empty() || right.is_empty() || a.dtype() != b.dtype() {
        return Err(refused());
    }
    let (is_row, is_column) = (left.len() == 1, right.len() == 1);
    if is_row {
        left.insert(0, 1);
    }
    if is_column {
        right.push(1);
    }
    let (&[ref left_batch @ .., m, k], &[ref right_batch @ .., inner, n]) = (&left[..], &right[..])
    else {
        return Err(refused());
    };
    if k != inner {
        return Err(refused());
    }
    let batch = common(OP, left_batch, right_batch)?;
    let mut dims = batch.clone();
    if !is_row {
        dims.push(m);
    }
    if !is_column {
        dims.push(n);
    }
    let shape = MatmulShape::new(m, n, k);
    let left_places: Vec<usize> = Stretched::new(left_batch, &batch).places().collect();
    let right_places: Vec<usize> = Stretched::new(right_batch, &batch).places().collect();
    // One matrix on the right: all rows of the left at once.
    let (shape, left_places, right_places) = if product(right_batch) == 1 && left_batch == batch {
        let rows = product(&batch) * m;
        (MatmulShape::new(rows, n, k), vec![0], vec![0])
    } else {
        (shape, left_places, right_places)
    };
    let mut c = allocate(ctx, a.dtype(), &dims)?;
    let places = || {
        left_places
            .iter()
            .copied()
            .zip(right_places.iter().copied())
    };
    match a.dtype() {
        DType::F32 => multiply_fast::<f32>(shape, &a, &b, &mut c, places())?,
        DType::F64 => multiply_fast::<f64>(shape, &a, &b, &mut c, places())?,
        dtype => with_number!(OP, dtype, T => multiply::<T>(shape, &a, &b, &mut c, places()))?,
    }
    Ok(c)
}

fn multiply_fast<T: Element + MatmulElement>(
    shape: MatmulShape,
    a: &DenseHostTensor,
    b: &DenseHostTensor,
    c: &mut DenseHostTensor,
    places: impl Iterator<Item = (usize, usize)>,
) -> Result<()> {
    let plan = Matmul::<T>::new(shape, 1)?;
    let mut workspace = vec![T::default(); plan.workspace_len() * plan.blocks()];
    let (a, b) = (a.elements::<T>()?, b.elements::<T>()?);
    let (a_len, b_len, c_len) = (shape.m * shape.k, shape.k * shape.n, shape.m * shape.n);
    if c_len == 0 {
        return Ok(());
    }
    let mut c = c.elements_mut::<T>()?;
    for (c, (left, right)) in c.chunks_exact_mut(c_len).zip(places) {
        let (a, b) = (&a[left * a_len..][..a_len], &b[right * b_len..][..b_len]);
        plan.run(&Serial, MatmulOperands::new(a, b), c, &mut workspace)?;
    }
    Ok(())
}

/// Multiplies as many matrices `[rows, inner]` and `[inner, columns]` as `batch` says: `counts` are
/// `[batch, rows, inner, columns]`.
pub(crate) fn multiply_batches(
    op: &'static str,
    [batch, rows, inner, columns]: [usize; 4],
    a: &DenseHostTensor,
    b: &DenseHostTensor,
    c: &mut DenseHostTensor,
) -> Result<()> {
    let shape = MatmulShape::new(rows, columns, inner);
    let places = (0..batch).map(|at| (at, at));
    match a.dtype() {
        DType::F32 => multiply_fast::<f32>(shape, a, b, c, places),
        DType::F64 => multiply_fast::<f64>(shape, a, b, c, places),
        dtype => with_number!(op, dtype, T => multiply::<T>(shape, a, b, c, places)),
    }
}

/// Computes the determinants of square matrices.
///
/// # Errors
/// If the matrices are not square, or the elements are not real numbers.
#[tfrt_op("nn.Det")]
fn det(x: &AnyRef, ctx: &ExecutionContext) -> Result<DenseHostTensor> {
    const OP: &str = "nn.Det";
    let x = dense(x)?;
    let &[ref batch @ .., rows, columns] = x.shape().dims() else {
        return Err(invalid(format!(
            "`{OP}`: expected matrices, found {}",
            x.metadata()
        )));
    };
    if rows != columns {
        return Err(invalid(format!(
            "`{OP}`: expected square matrices, found {}",
            x.metadata()
        )));
    }
    let numbers = real_numbers(OP, &x)?;
    let size = rows * rows;
    with_real!(OP, x.dtype(), T => made(ctx, batch, |at| {
        T::of_f64(determinant(&mut numbers[at * size..][..size].to_vec(), rows))
    }))
}

/// Returns the determinant of a matrix, by elimination with the greatest pivot of each column.
fn determinant(matrix: &mut [f64], len: usize) -> f64 {
    let mut product = 1.0;
    for column in 0..len {
        let size = |&row: &usize| matrix[row * len + column].abs();
        let pivot = (column..len).max_by(|a, b| size(a).total_cmp(&size(b)));
        let pivot = pivot.unwrap_or(column);
        if matrix[pivot * len + column] == 0.0 {
            return 0.0;
        }
        if pivot != column {
            for at in 0..len {
                matrix.swap(pivot * len + at, column * len + at);
            }
            product = -product;
        }
        product *= matrix[column * len + column];
        for row in column + 1..len {
            let factor = matrix[row * len + column] / matrix[column * len + column];
            for at in column..len {
                matrix[row * len + at] -= factor * matrix[column * len + at];
            }
        }
    }
    product
}

/// Products of other numbers: integers wrap around, half precision is summed in double precision.
fn multiply<T: Number>(
    shape: MatmulShape,
    a: &DenseHostTensor,
    b: &DenseHostTensor,
    c: &mut DenseHostTensor,
    places: impl Iterator<Item = (usize, usize)>,
) -> Result<()> {
    let MatmulShape { m, n, k, .. } = shape;
    let (a, b) = (a.elements::<T>()?, b.elements::<T>()?);
    if m * n == 0 {
        return Ok(());
    }
    let mut c = c.elements_mut::<T>()?;
    for (c, (left, right)) in c.chunks_exact_mut(m * n).zip(places) {
        let (a, b) = (&a[left * m * k..], &b[right * k * n..]);
        for (at, c) in c.iter_mut().enumerate() {
            let (row, column) = (at / n, at % n);
            let pairs = (0..k).map(|inner| (a[row * k + inner], b[inner * n + column]));
            *c = if T::IS_REAL {
                T::of_f64(pairs.map(|(a, b)| a.to_f64() * b.to_f64()).sum())
            } else {
                pairs.fold(T::of_f64(0.0), |sum, (a, b)| sum.plus(a.times(b)))
            };
        }
    }
    Ok(())
}

/// Computes `alpha · a · b + beta · c` of matrices, either of which may be passed transposed; `c`
/// is broadcast to the result, and may be omitted.
///
/// # Errors
/// If the operands do not match.
#[tfrt_op("nn.Gemm")]
fn gemm(
    operands: &[AnyRef],
    #[attr(default = 1.0)] alpha: f32,
    #[attr(default = 1.0)] beta: f32,
    #[attr(default = false)] transpose_a: bool,
    #[attr(default = false)] transpose_b: bool,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    const OP: &str = "nn.Gemm";
    let slots = Slots::new(OP, operands, None);
    let (a, b, c) = (slots.need(0, "a")?, slots.need(1, "b")?, slots.get(2)?);
    let refused = || {
        invalid(format!(
            "`{OP}`: {} and {} cannot be multiplied",
            a.metadata(),
            b.metadata()
        ))
    };
    let (&[mut m, mut k], &[mut inner, mut n]) = (a.shape().dims(), b.shape().dims()) else {
        return Err(refused());
    };
    if transpose_a {
        (m, k) = (k, m);
    }
    if transpose_b {
        (inner, n) = (n, inner);
    }
    if k != inner || a.dtype() != b.dtype() {
        return Err(refused());
    }
    let summand = c.as_ref().map(|c| {
        if c.dtype() != a.dtype() || common(OP, c.shape().dims(), &[m, n])? != [m, n] {
            return Err(invalid(format!(
                "`{OP}`: {} cannot be added to {}",
                c.metadata(),
                Shape::new(&[m, n])?
            )));
        }
        Ok(Stretched::new(c.shape().dims(), &[m, n]))
    });
    let summand = summand.transpose()?;
    if a.dtype() == DType::F32 {
        let mut y = allocate(ctx, DType::F32, &[m, n])?;
        if m * n == 0 {
            return Ok(y);
        }
        {
            let mut to = y.elements_mut::<f32>()?;
            if let (Some(c), Some(places)) = (&c, summand) {
                let c = c.elements::<f32>()?;
                for (to, place) in to.iter_mut().zip(places.places()) {
                    *to = c[place];
                }
            }
            let shape = MatmulShape::new(m, n, k).transposed(transpose_a, transpose_b);
            let plan = Matmul::<f32>::new(shape, 1)?;
            let mut workspace = vec![0.0; plan.workspace_len() * plan.blocks()];
            let (a, b) = (a.elements::<f32>()?, b.elements::<f32>()?);
            let beta = if c.is_some() { beta } else { 0.0 };
            let operands = MatmulOperands::new(&a, &b).alpha(alpha).beta(beta);
            plan.run(&Serial, operands, &mut to, &mut workspace)?;
        }
        return Ok(y);
    }
    let dtype = a.dtype();
    let c = c.map(|c| real_numbers(OP, &c)).transpose()?;
    let places: Option<Vec<usize>> = summand.map(|places| places.places().collect());
    let (a, b) = (real_numbers(OP, &a)?, real_numbers(OP, &b)?);
    with_number!(OP, dtype, T => made(ctx, &[m, n], |at| {
        let (row, column) = (at / n, at % n);
        let sum: f64 = (0..k).map(|inner| {
            let left = if transpose_a { a[inner * m + row] } else { a[row * k + inner] };
            let right = if transpose_b { b[column * k + inner] } else { b[inner * n + column] };
            left * right
        }).sum();
        let summand = match (&c, &places) {
            (Some(c), Some(places)) => f64::from(beta) * c[places[at]],
            _ => 0.0,
        };
        <T as Number>::of_f64(f64::from(alpha) * sum + summand)
    }))
}
