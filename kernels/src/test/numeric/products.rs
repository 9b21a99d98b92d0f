//! Matrix products, computed before the kernel returns.

use tfrt::host::tracing::{self, Work};
use tfrt::prelude::*;
use tfrt_compute::matmul::MatmulShape;
use tfrt_tensor::DenseHostTensor;

use crate::numeric::{Factors, Multiply};

fn multiply<T: Multiply>(
    [alpha, beta]: [T; 2],
    [a, b]: [&DenseHostTensor; 2],
    c: &mut DenseHostTensor,
    ctx: &ExecutionContext,
) -> Result<()> {
    let [m, k] = a.shape().to_array()?;
    let [_, n] = b.shape().to_array()?;
    let shape = MatmulShape::new(m, n, k);
    tracing::report_work(|| {
        let [m, n, k] = [m, n, k].map(|extent| extent as u64);
        Work {
            flops: 2 * m * n * k,
            bytes: (m * k + k * n + m * n) * size_of::<T>() as u64,
        }
    });
    let factors = Factors {
        shape,
        alpha,
        a,
        b,
        beta,
    };
    T::run_product(ctx, &factors, c)
}

/// Computes `c = alpha · a · b + beta · c` for matrices. If `beta` is zero, `c` is not read.
///
/// # Errors
/// If a tensor is not a matrix, or the shapes do not match.
#[tfrt_kernel("tfrt_test.matmul.{T}.2", T = [f32, i32, i64])]
fn matmul<T: Multiply + Value + Clone>(
    alpha: T,
    a: &DenseHostTensor,
    b: &DenseHostTensor,
    beta: T,
    c: &mut DenseHostTensor,
    ctx: &ExecutionContext,
) -> Result<()> {
    multiply([alpha, beta], [a, b], c, ctx)
}

/// Computes `c = alpha · a · b + beta · c` for matrices. If `beta` is zero, `c` is not read.
///
/// # Errors
/// If a tensor is not a matrix, or the shapes do not match.
#[tfrt_kernel("tfrt_test_sync.matmul.{T}.2", T = [f32, i32, i64], sync)]
fn matmul_sync<T: Multiply + Value + Clone>(
    alpha: T,
    a: &DenseHostTensor,
    b: &DenseHostTensor,
    beta: T,
    c: &mut DenseHostTensor,
    ctx: &ExecutionContext,
) -> Result<()> {
    multiply([alpha, beta], [a, b], c, ctx)
}
