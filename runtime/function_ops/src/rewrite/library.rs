//! The rules of the standard ops.
//!
//! They name ops of the standard kernel library; where that is not linked, they match nothing.

use tfrt_support::DType;

use super::{Match, Replacement};
use crate::rewrite;

/// Returns `true` if a product of matrices of numbers that fused products take, whose rows a bias
/// is as long as, is needed nowhere else.
fn takes_bias(found: &Match<'_>) -> bool {
    let columns = found
        .result(1)
        .and_then(|product| match product.extents[..] {
            [_, columns] => Some(columns),
            _ => None,
        });
    let len = found
        .metadata("bias")
        .and_then(|bias| match bias.extents[..] {
            [len] => Some(len),
            _ => None,
        });
    found.is_used_once(1)
        && columns.is_some()
        && columns == len
        && matches!(found.dtype("a"), Some(DType::F32 | DType::I32))
        && found.dtype("bias") == found.dtype("a")
}

fn fuse_bias(found: &Match<'_>, made: &mut Replacement) {
    made.copy(0, found, 1);
    made.set_texts(0, "fused_ops", &["BiasAdd"]);
}

/// Returns `true` if a fused product has a bias and nothing behind it, and is needed nowhere else.
fn has_only_bias(found: &Match<'_>) -> bool {
    let is_bias = found
        .texts(1, "fused_ops")
        .is_some_and(|fused| fused == ["BiasAdd"]);
    // Integer products are fused with no function but `Relu`.
    is_bias
        && found.is_used_once(1)
        && found
            .result(1)
            .is_some_and(|product| product.dtype == DType::F32)
}

fn fuse_function(found: &Match<'_>, made: &mut Replacement, function: &str) {
    made.set_texts(0, "fused_ops", &["BiasAdd", function]);
    made.copy(0, found, 1);
}

rewrite! {
    /// A bias that is added to a product is added by the product.
    "fuse-bias-add" (20): [tf.BiasAdd(tf.MatMul(a, b), bias)] => [tf._FusedMatMul(a, b, bias)];
    where takes_bias;
    with fuse_bias;
}

rewrite! {
    /// A vector that is added to each row of a product is a bias.
    "fuse-add-of-vector" (20): [tf.AddV2(tf.MatMul(a, b), bias)] => [tf._FusedMatMul(a, b, bias)];
    where takes_bias;
    with fuse_bias;
}

rewrite! {
    /// The rectifier behind a product with a bias is applied by the product.
    "fuse-relu" (20): [tf.Relu(tf._FusedMatMul(a, b, bias))] => [tf._FusedMatMul(a, b, bias)];
    where has_only_bias;
    with |found, made| fuse_function(found, made, "Relu");
}

rewrite! {
    /// The bounded rectifier behind a product with a bias is applied by the product.
    "fuse-relu6" (20): [tf.Relu6(tf._FusedMatMul(a, b, bias))] => [tf._FusedMatMul(a, b, bias)];
    where has_only_bias;
    with |found, made| fuse_function(found, made, "Relu6");
}

rewrite! {
    /// The exponential unit behind a product with a bias is applied by the product.
    "fuse-elu" (20): [tf.Elu(tf._FusedMatMul(a, b, bias))] => [tf._FusedMatMul(a, b, bias)];
    where has_only_bias;
    with |found, made| fuse_function(found, made, "Elu");
}

/// Returns `true` if a normalization scales channels, which come last, of something that is needed
/// nowhere else.
fn normalizes(found: &Match<'_>) -> bool {
    let is_last = |format: Option<String>| format.is_none_or(|format| format == "NHWC");
    let channels = found.result(1).and_then(|x| x.extents.last().copied());
    let parameters = ["scale", "offset", "mean", "variance"];
    found.is_used_once(1)
        && is_last(found.text(0, "data_format"))
        && is_last(found.text(1, "data_format"))
        && found.number(0, "epsilon").is_some()
        && found.flag(0, "is_training") != Some(true)
        && found.result(1).is_some_and(|x| x.dtype == DType::F32)
        && parameters.iter().all(|name| {
            let parameter = found.metadata(name);
            parameter.is_some_and(|found| {
                found.dtype == DType::F32
                    && Some(&*found.extents) == channels.as_ref().map(std::slice::from_ref)
            })
        })
}

/// Gives what is scaled its attributes, and the root its epsilon.
fn fold_normalization(found: &Match<'_>, made: &mut Replacement) {
    made.copy(1, found, 1);
    made.number("epsilon", found.number(0, "epsilon").unwrap_or_default());
}

rewrite! {
    /// A normalization behind a convolution is folded into its filter, which is smaller than the
    /// image.
    "fold-batch-norm-into-convolution" (30):
        [tf.FusedBatchNormV3(tf.Conv2D(x, filter), scale, offset, mean, variance)] =>
        [tf.BiasAdd(
            tf.Conv2D(x, tf.Mul(filter, tf.Mul(scale, tf.Rsqrt(tf.AddV2(variance, epsilon))))),
            tf.Sub(offset, tf.Mul(mean, tf.Mul(scale, tf.Rsqrt(tf.AddV2(variance, epsilon)))))
        )];
    where normalizes;
    with fold_normalization;
}

rewrite! {
    /// A normalization behind a product is folded into the second matrix.
    "fold-batch-norm-into-product" (30):
        [tf.FusedBatchNormV3(tf.MatMul(x, weights), scale, offset, mean, variance)] =>
        [tf.BiasAdd(
            tf.MatMul(x, tf.Mul(weights, tf.Mul(scale, tf.Rsqrt(tf.AddV2(variance, epsilon))))),
            tf.Sub(offset, tf.Mul(mean, tf.Mul(scale, tf.Rsqrt(tf.AddV2(variance, epsilon)))))
        )];
    where |found| normalizes(found) && found.flag(1, "transpose_b") == Some(false);
    with fold_normalization;
}

/// Returns a permutation of the dimensions of a value, as a constant states it.
fn permutation(found: &Match<'_>, name: &str, rank: usize) -> Option<Vec<usize>> {
    let numbers = found.integers(name)?.into_iter();
    let numbers: Vec<usize> = numbers
        .map(|number| usize::try_from(number).ok())
        .collect::<Option<_>>()?;
    let is_permutation = numbers.len() == rank && (0..rank).all(|index| numbers.contains(&index));
    is_permutation.then_some(numbers)
}

/// Returns the permutation that `first` and then `second` are.
fn composed(found: &Match<'_>) -> Option<Vec<i64>> {
    let rank = found.rank("x")?;
    let (first, second) = (
        permutation(found, "first", rank)?,
        permutation(found, "second", rank)?,
    );
    Some(
        second
            .into_iter()
            .map(|index| first[index] as i64)
            .collect(),
    )
}

rewrite! {
    /// Two transpositions are one.
    "join-transpositions" (10):
        [tfrt.Transpose(tfrt.Transpose(x, first), second)] => [tfrt.Transpose(x, both)];
    where |found| composed(found).is_some();
    with |found, made| made.integers("both", &composed(found).unwrap_or_default());
}

rewrite! {
    /// A transposition that leaves every dimension where it is does nothing.
    "drop-transposition" (15): [tfrt.Transpose(x, order)] => [x];
    where |found| {
        let order = found.rank("x").and_then(|rank| permutation(found, "order", rank));
        order.is_some_and(|order| order.is_sorted())
    };
}

/// Returns the extents that a constant states, if a value can have them.
fn fitting_extents(found: &Match<'_>, name: &str) -> Option<Vec<usize>> {
    let extents = found.integers(name)?.into_iter();
    let extents: Vec<usize> = extents
        .map(|extent| usize::try_from(extent).ok())
        .collect::<Option<_>>()?;
    let count = extents
        .iter()
        .try_fold(1_usize, |all, &extent| all.checked_mul(extent))?;
    (found.metadata("x")?.num_elements() == Some(count)).then_some(extents)
}

rewrite! {
    /// Of two shapes, one after the other, the second counts.
    "join-reshapes" (10): [tf.Reshape(tf.Reshape(x, first), second)] => [tf.Reshape(x, second)];
    where |found| fitting_extents(found, "first").is_some();
}

rewrite! {
    /// The shape that a tensor has need not be given to it.
    "drop-reshape" (15): [tf.Reshape(x, shape)] => [x];
    where |found| {
        let extents = fitting_extents(found, "shape");
        found.metadata("x").is_some_and(|x| Some(&*x.extents) == extents.as_deref())
    };
}

rewrite! {
    /// Adding zero changes nothing; of floating-point numbers that is the negative zero.
    "drop-add-of-zero" (15): [tf.AddV2(x, zero)] => [x];
    where |found| found.is_neutral_in_sums("zero") && found.is_like("x");
}

rewrite! {
    /// Adding to zero changes nothing; of floating-point numbers that is the negative zero.
    "drop-add-to-zero" (15): [tf.AddV2(zero, x)] => [x];
    where |found| found.is_neutral_in_sums("zero") && found.is_like("x");
}

rewrite! {
    /// Subtracting zero changes nothing.
    "drop-subtraction-of-zero" (15): [tf.Sub(x, zero)] => [x];
    where |found| found.is_all("zero", 0) && found.is_like("x");
}

rewrite! {
    /// Multiplying by one changes nothing.
    "drop-product-with-one" (15): [tf.Mul(x, one)] => [x];
    where |found| found.is_all("one", 1) && found.is_like("x");
}

rewrite! {
    /// Multiplying one changes nothing.
    "drop-product-of-one" (15): [tf.Mul(one, x)] => [x];
    where |found| found.is_all("one", 1) && found.is_like("x");
}

rewrite! {
    /// Dividing by one changes nothing.
    "drop-division-by-one" (15): [tf.RealDiv(x, one)] => [x];
    where |found| found.is_all("one", 1) && found.is_like("x");
}

/// Returns `true` if the opposite of every number but the least is a number.
fn is_signed(found: &Match<'_>) -> bool {
    matches!(found.dtype("x"), Some(DType::F32 | DType::F64))
}

rewrite! {
    /// The opposite of the opposite is the number itself.
    "drop-double-negation" (15): [tf.Neg(tf.Neg(x))] => [x];
    where is_signed;
}

rewrite! {
    /// A number and its opposite have one absolute value.
    "drop-negation-before-absolute-value" (10): [tf.Abs(tf.Neg(x))] => [tf.Abs(x)];
    where is_signed;
}

rewrite! {
    /// What the rectifier left, it leaves again.
    "join-rectifiers" (10): [tf.Relu(tf.Relu(x))] => [tf.Relu(x)];
}

/// Returns `true` if every number of one type is one of the other, and both are integers or neither
/// is.
fn widens(from: DType, to: DType) -> bool {
    use DType::{Bf16, F16, F32, F64, I8, I16, I32, I64, Ui8, Ui16, Ui32, Ui64};
    let wider: &[DType] = match from {
        Ui8 => &[Ui16, Ui32, Ui64, I16, I32, I64],
        Ui16 => &[Ui32, Ui64, I32, I64],
        Ui32 => &[Ui64, I64],
        I8 => &[I16, I32, I64],
        I16 => &[I32, I64],
        I32 => &[I64],
        F16 | Bf16 => &[F32, F64],
        F32 => &[F64],
        _ => &[],
    };
    wider.contains(&to)
}

rewrite! {
    /// A conversion to a wider type and then to another one is the second alone.
    "join-casts" (10): [tfrt.Cast(tfrt.Cast(x))] => [tfrt.Cast(x)];
    where |found| {
        let between = found.result(1).map(|between| between.dtype);
        found.dtype("x").zip(between).is_some_and(|(from, to)| widens(from, to))
    };
    with |found, made| made.copy(0, found, 0);
}

rewrite! {
    /// A conversion to the type that a tensor has does nothing.
    "drop-cast" (15): [tfrt.Cast(x)] => [x];
    where |found| found.is_like("x");
}
