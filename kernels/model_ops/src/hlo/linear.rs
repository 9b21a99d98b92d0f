//! Cholesky decomposition and triangular systems. All arithmetic is in double precision.

use tfrt::prelude::*;
use tfrt_tensor::DenseHostTensor;

use super::complex::{Complex, conjugate, divide, multiply};
use super::element::Type;
use crate::{dense, invalid, product};

/// The elements of a batch of matrices, and its dimensions. The imaginary parts of real numbers are
/// zero.
struct Matrices {
    tensor: DenseHostTensor,
    elements: Vec<Complex>,
    /// The type of each part.
    ty: Type,
    rows: usize,
    columns: usize,
}

impl Matrices {
    fn new(op: &'static str, operand: &AnyRef) -> Result<Self> {
        let tensor = dense(operand)?;
        let &[.., rows, columns] = tensor.shape().dims() else {
            return Err(invalid(format!(
                "`{op}` needs matrices, found {}",
                tensor.metadata()
            )));
        };
        let (ty, planes) = super::planes(op, &tensor)?;
        if !ty.is_real() {
            return Err(invalid(format!("`{op}` does not take {}", tensor.dtype())));
        }
        let mut elements = super::room(op, tensor.num_elements())?;
        let imaginary = planes.get(1);
        elements.extend(planes[0].iter().enumerate().map(|(at, &re)| {
            let im = imaginary.map_or(0.0, |plane| f64::from_bits(plane[at]));
            [f64::from_bits(re), im]
        }));
        Ok(Self {
            elements,
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
        elements: &[Complex],
    ) -> Result<DenseHostTensor> {
        let (_, count) = Type::parts(op, self.tensor.dtype())?;
        let plane = |part: usize| elements.iter().map(move |x| self.ty.round(x[part]));
        let planes: Vec<Vec<u64>> = (0..count).map(|part| plane(part).collect()).collect();
        let (dtype, dims) = (self.tensor.dtype(), self.tensor.shape().dims());
        super::store_planes(op, ctx, dtype, dims, &planes)
    }
}

/// Returns `a - b`.
fn minus(a: Complex, b: Complex) -> Complex {
    [a[0] - b[0], a[1] - b[1]]
}

/// Returns `a · b`. Products of real numbers are real, even if one of them is infinite.
fn times(a: Complex, b: Complex) -> Complex {
    match (a, b) {
        ([a, 0.0], [b, 0.0]) => [a * b, 0.0],
        _ => multiply(a, b),
    }
}

/// Returns `a / b`. Quotients of real numbers are real, even by zero.
fn over(a: Complex, b: Complex) -> Complex {
    match (a, b) {
        ([a, 0.0], [b, 0.0]) => [a / b, 0.0],
        _ => divide(a, b),
    }
}

/// Computes the Cholesky decomposition of symmetric or Hermitian matrices: `a = l lᴴ`, or
/// `a = uᴴ u`. The op reads only the triangle of `a` that it writes; the other triangle of the
/// result is 0. A matrix that is not positive definite yields NaN.
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
    let mut factors = super::room(OP, a.elements.len())?;
    factors.resize(a.elements.len(), [0.0; 2]);
    for matrix in 0..product(a.outer()) {
        let from = &a.elements[matrix * n * n..][..n * n];
        let to = &mut factors[matrix * n * n..][..n * n];
        for column in 0..n {
            for row in column..n {
                // The upper factor is the conjugate transpose of the lower one, so its elements
                // satisfy the conjugated equations.
                let mut rest = from[place(row, column)];
                for at in 0..column {
                    let (own, other) = (to[place(row, at)], to[place(column, at)]);
                    let product = match lower {
                        true => times(own, conjugate(other)),
                        false => times(conjugate(other), own),
                    };
                    rest = minus(rest, product);
                }
                to[place(row, column)] = match row == column {
                    // The diagonal is real. The root of a negative number is NaN.
                    true => [rest[0].sqrt(), 0.0],
                    false => over(rest, to[place(column, column)]),
                };
            }
        }
    }
    a.stored(OP, ctx, &factors)
}

/// Solves `a x = b`, or `x a = b`, for triangular matrices `a`, which may be transposed and
/// conjugated. The op reads only one triangle.
///
/// # Errors
/// If the dimensions or types of the operands do not match.
#[tfrt_op("hlo.TriangularSolve")]
#[expect(
    clippy::too_many_arguments,
    reason = "they are the attributes of the op"
)]
fn triangular_solve(
    a: &AnyRef,
    b: &AnyRef,
    #[attr] left_side: bool,
    #[attr] lower: bool,
    #[attr] unit_diagonal: bool,
    #[attr] transposed: bool,
    #[attr] conjugated: Option<bool>,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    const OP: &str = "hlo.TriangularSolve";
    let (a, b) = (Matrices::new(OP, a)?, Matrices::new(OP, b)?);
    let n = a.rows;
    let (own, others) = match left_side {
        true => (b.rows, b.columns),
        false => (b.columns, b.rows),
    };
    if a.columns != n || own != n || a.outer() != b.outer() || a.tensor.dtype() != b.tensor.dtype()
    {
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
        let coefficient = |row: usize, column: usize| {
            let place = match is_transposed {
                true => column * n + row,
                false => row * n + column,
            };
            match conjugated.unwrap_or(false) {
                true => conjugate(a[place]),
                false => a[place],
            }
        };
        for other in 0..others {
            let place = |row: usize| match left_side {
                true => row * others + other,
                false => other * n + row,
            };
            for step in 0..n {
                let row = if is_lower { step } else { n - 1 - step };
                let known = if is_lower { 0..row } else { row + 1..n };
                let mut rest = x[place(row)];
                for column in known {
                    rest = minus(rest, times(coefficient(row, column), x[place(column)]));
                }
                x[place(row)] = match unit_diagonal {
                    true => rest,
                    false => over(rest, coefficient(row, row)),
                };
            }
        }
    }
    b.stored(OP, ctx, &unknowns)
}
