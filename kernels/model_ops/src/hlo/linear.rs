//! Cholesky decomposition and triangular systems. All arithmetic is in double precision.

use tfrt::prelude::*;
use tfrt_tensor::DenseHostTensor;

use super::element::Type;
use super::moves::loaded;
use super::store;
use crate::{invalid, product};

/// The elements of a batch of matrices, and its dimensions.
struct Matrices {
    tensor: DenseHostTensor,
    elements: Vec<f64>,
    ty: Type,
    rows: usize,
    columns: usize,
}

impl Matrices {
    fn new(op: &'static str, operand: &AnyRef) -> Result<Self> {
        let (tensor, elements) = loaded(op, operand)?;
        let ty = Type::of(op, tensor.dtype())?;
        let &[.., rows, columns] = tensor.shape().dims() else {
            return Err(invalid(format!(
                "`{op}` needs matrices, found {}",
                tensor.metadata()
            )));
        };
        if !ty.is_real() {
            return Err(invalid(format!("`{op}` does not take {}", tensor.dtype())));
        }
        Ok(Self {
            elements: elements.into_iter().map(f64::from_bits).collect(),
            tensor,
            ty,
            rows,
            columns,
        })
    }

    /// Returns the batch dimensions.
    fn outer(&self) -> &[usize] {
        let dims = self.tensor.shape().dims();
        &dims[..dims.len() - 2]
    }

    /// Creates a tensor of the same type and shape with other elements.
    fn stored(
        &self,
        op: &'static str,
        ctx: &ExecutionContext,
        elements: &[f64],
    ) -> Result<DenseHostTensor> {
        let rounded: Vec<u64> = elements.iter().map(|&x| self.ty.round(x)).collect();
        let dims = self.tensor.shape().dims();
        store(op, ctx, self.ty.dtype, dims, &rounded)
    }
}

/// Computes the Cholesky decomposition of symmetric matrices: `a = l lᵀ`, or `a = uᵀ u`. The op
/// reads only the triangle of `a` that it writes; the other triangle of the result is 0. A matrix
/// that is not positive definite yields NaN.
///
/// # Errors
/// If the matrices are not square, or their elements are not floating point numbers.
#[tfrt_op("hlo.Cholesky")]
fn cholesky(
    a: &AnyRef,
    #[attr(default = false)] lower: bool,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    const OP: &str = "hlo.Cholesky";
    let a = Matrices::new(OP, a)?;
    let n = a.rows;
    if n != a.columns {
        return Err(invalid(format!(
            "`{OP}` needs square matrices, found {}",
            a.tensor.shape()
        )));
    }
    // The position of an element of the lower triangle, or of its mirror image in the upper one.
    let place = |row: usize, column: usize| match lower {
        true => row * n + column,
        false => column * n + row,
    };
    let mut factors = vec![0.0; a.elements.len()];
    for matrix in 0..product(a.outer()) {
        let from = &a.elements[matrix * n * n..][..n * n];
        let to = &mut factors[matrix * n * n..][..n * n];
        for column in 0..n {
            for row in column..n {
                let sum: f64 = (0..column)
                    .map(|at| to[place(row, at)] * to[place(column, at)])
                    .sum();
                let rest = from[place(row, column)] - sum;
                to[place(row, column)] = match row == column {
                    true => rest.sqrt(),
                    false => rest / to[place(column, column)],
                };
            }
        }
    }
    a.stored(OP, ctx, &factors)
}

/// Solves `a x = b`, or `x a = b`, for triangular matrices `a`. The op reads only one triangle.
///
/// # Errors
/// If the dimensions or types of the operands do not match.
#[tfrt_op("hlo.TriangularSolve")]
fn triangular_solve(
    a: &AnyRef,
    b: &AnyRef,
    #[attr] left_side: bool,
    #[attr] lower: bool,
    #[attr] unit_diagonal: bool,
    #[attr] transposed: bool,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    const OP: &str = "hlo.TriangularSolve";
    let (a, b) = (Matrices::new(OP, a)?, Matrices::new(OP, b)?);
    let n = a.rows;
    let (own, others) = match left_side {
        true => (b.rows, b.columns),
        false => (b.columns, b.rows),
    };
    if a.columns != n || own != n || a.outer() != b.outer() || a.ty != b.ty {
        return Err(invalid(format!(
            "`{OP}` cannot solve equations of {} and {}",
            a.tensor.metadata(),
            b.tensor.metadata()
        )));
    }
    // If the unknowns are on the left of `a`, the loops solve the transposed system.
    let is_transposed = transposed == left_side;
    let is_lower = lower != is_transposed;
    let mut unknowns = b.elements.clone();
    for matrix in 0..product(a.outer()) {
        let a = &a.elements[matrix * n * n..][..n * n];
        let x = &mut unknowns[matrix * n * others..][..n * others];
        let coefficient = |row: usize, column: usize| match is_transposed {
            true => a[column * n + row],
            false => a[row * n + column],
        };
        for other in 0..others {
            let place = |row: usize| match left_side {
                true => row * others + other,
                false => other * n + row,
            };
            for step in 0..n {
                let row = if is_lower { step } else { n - 1 - step };
                let known = if is_lower { 0..row } else { row + 1..n };
                let sum: f64 = known
                    .map(|column| coefficient(row, column) * x[place(column)])
                    .sum();
                let rest = x[place(row)] - sum;
                x[place(row)] = match unit_diagonal {
                    true => rest,
                    false => rest / coefficient(row, row),
                };
            }
        }
    }
    b.stored(OP, ctx, &unknowns)
}
