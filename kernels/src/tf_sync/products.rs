//! Matrix products with fused functions.

use tfrt::prelude::*;
use tfrt_compute::Activation;
use tfrt_compute::matmul::{Matmul, MatmulElement, MatmulOperands};
use tfrt_tensor::{DenseHostTensor, Element};

use crate::numeric::{product_shape, run};

/// Computes `out = act(a · b + bias)`, where `a` or `b` may be passed transposed. The list of fused
/// ops begins with `BiasAdd`, which `Relu`, `Relu6` or `Elu` may follow.
///
/// # Errors
/// `FusedMatMul must specify fused operations`, `Bias tensor must a vector`,
/// `The number of bias elements N doesn't match output inner dimension M`,
/// `Unsupported fusion type`, and those of `eigen.matmul.f32`.
#[tfrt_kernel("tf_sync._FusedMatMul.{T}", T = [f32, f64], sync, attribute_names = free)]
#[expect(clippy::too_many_arguments, reason = "they are the operands of the op")]
fn fused_matmul<T: Element + MatmulElement>(
    a: &DenseHostTensor,
    b: &DenseHostTensor,
    out: &mut DenseHostTensor,
    fusion_inputs: Operands<'_, DenseHostTensor>,
    #[attr] fused_ops: AggregateView<'_>,
    #[attr] transpose_a: bool,
    #[attr] transpose_b: bool,
    ctx: &ExecutionContext,
) -> Result<()> {
    let shape = product_shape(a, b, out, [transpose_a, transpose_b])?;
    let activation = parse_fusion(fused_ops)?;
    let bias = fusion_inputs
        .get(0)
        .filter(|bias| bias.shape().rank() == 1)
        .ok_or_else(|| Error::new("Bias tensor must a vector"))?;
    if bias.num_elements() != shape.n {
        return Err(Error::new(format!(
            "The number of bias elements {} doesn't match output inner dimension {}",
            bias.num_elements(),
            shape.n
        )));
    }
    let (a, b, bias) = (a.elements()?, b.elements()?, bias.elements()?);
    let operands = MatmulOperands::new(&a, &b)
        .shift(&bias)
        .activation(activation);
    let plan = Matmul::<T>::new(shape, 1)?;
    run(ctx, &plan, operands, &mut out.elements_mut()?)
}

/// Parses the function after the bias.
pub(crate) fn parse_fusion(fused_ops: AggregateView<'_>) -> Result<Activation> {
    let names = fused_ops
        .iter()
        .map(|name| name.read::<&str>())
        .collect::<Result<Vec<_>, _>>()?;
    match names[..] {
        [] => Err(Error::new("FusedMatMul must specify fused operations")),
        ["BiasAdd"] => Ok(Activation::None),
        ["BiasAdd", "Relu"] => Ok(Activation::Relu),
        ["BiasAdd", "Relu6"] => Ok(Activation::Relu6),
        ["BiasAdd", "Elu"] => Ok(Activation::Elu),
        _ => Err(Error::new("Unsupported fusion type")),
    }
}
