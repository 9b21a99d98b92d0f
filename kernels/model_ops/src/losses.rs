//! Losses of classifiers.

use tfrt::prelude::*;
use tfrt_tensor::DenseHostTensor;

use crate::number::{Number, with_real};
use crate::{Slots, invalid, made, product, real_numbers, scratch, whole_numbers};

/// Computes the negative log-likelihood of classes: `-x[n, target[n, …], …]` for log-probabilities
/// `[batch, classes, …]`, each times the weight of its class, which may be omitted. The `reduction`
/// is `none`, `sum`, or `mean`, which divides the sum by that of the weights. Positions whose class
/// is `ignore_index` are ignored.
///
/// # Errors
/// If the operands do not match, or a class does not exist.
#[tfrt_op("nn.NegativeLogLikelihood")]
fn negative_log_likelihood(
    operands: &[AnyRef],
    #[attr] reduction: &str,
    #[attr] ignore_index: Option<i64>,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    const OP: &str = "nn.NegativeLogLikelihood";
    let slots = Slots::new(OP, operands, None);
    let (x, target) = (slots.need(0, "x")?, slots.need(1, "target")?);
    let refused = || {
        invalid(format!(
            "`{OP}`: classes of {} are incompatible with {}",
            target.metadata(),
            x.metadata()
        ))
    };
    let &[batch, classes, ref others @ ..] = x.shape().dims() else {
        return Err(refused());
    };
    if target.shape().dims() != [&[batch], others].concat() {
        return Err(refused());
    }
    let weights = slots.get(2)?;
    let weights = weights.map(|weights| real_numbers(OP, &weights, ctx));
    let weights = weights.transpose()?;
    if weights.as_ref().is_some_and(|w| w.len() != classes) {
        return Err(invalid(format!(
            "`{OP}`: expected a weight for each of {classes} classes"
        )));
    }
    let (numbers, targets) = (real_numbers(OP, &x, ctx)?, whole_numbers(OP, &target)?);
    let inner = product(others);
    let mut losses = scratch::<f64>(ctx, targets.len())?;
    let mut total = 0.0;
    for (at, &class) in targets.iter().enumerate() {
        if ignore_index == Some(class) {
            continue;
        }
        let known = usize::try_from(class).ok().filter(|&class| class < classes);
        let class = known.ok_or_else(|| {
            invalid(format!(
                "`{OP}`: expected a class below {classes}, found {class}"
            ))
        })?;
        let weight = weights.as_ref().map_or(1.0, |weights| weights[class]);
        let (image, place) = (at / inner, at % inner);
        losses[at] = -weight * numbers[(image * classes + class) * inner + place];
        total += weight;
    }
    with_real!(OP, x.dtype(), T => match reduction {
        "none" => made(ctx, target.shape().dims(), |at| T::of_f64(losses[at])),
        "sum" => made(ctx, &[], |_| T::of_f64(losses.iter().sum())),
        "mean" => made(ctx, &[], |_| T::of_f64(losses.iter().sum::<f64>() / total)),
        other => Err(invalid(format!("`{OP}`: unknown reduction `{other}`"))),
    })
}
