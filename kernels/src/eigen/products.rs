//! Matrix products.

use tfrt::prelude::*;
use tfrt_compute::matmul::MatmulShape;
use tfrt_tensor::DenseHostTensor;

use crate::numeric::{Factors, Multiply, product_shape, report_work};

/// Computes `c = alpha · a · b + beta · c` for matrices. If `beta` is zero, `c` is not read.
///
/// # Errors
/// `MatMul input tensors inner dimension mismatch: A vs. B`,
/// `MatMul output shape C does not match product shape of inputs: A * B`.
#[tfrt_kernel("eigen.matmul.{T}", T = [f32, i32], results(out_chain))]
fn matmul<T: Multiply + Value + Clone>(
    alpha: T,
    a: &DenseHostTensor,
    b: &DenseHostTensor,
    beta: T,
    c: &mut DenseHostTensor,
    _in_chain: Chain,
    ctx: &ExecutionContext,
) -> Result<AsyncValueRef<Chain>> {
    let shape = product_shape(a, b, c, [false; 2])?;
    let MatmulShape { m, n, k, .. } = shape;
    let operations = m.saturating_mul(n).saturating_mul(2 * k);
    report_work::<T>(ctx, operations, m * k + k * n + m * n);
    let factors = Factors {
        shape,
        alpha,
        a,
        b,
        beta,
    };
    T::start_product(ctx, &factors, c)
}
