//! The metadata of products, with the error messages of the reference.
//!
//! Shapes are computed from shapes: no function here sees a tensor.

use tfrt::core::metadata::partial::{self, PartialMetadata};
use tfrt::prelude::*;

use super::invalid;

#[cold]
fn not_specified(name: &str) -> Error {
    invalid(format!("'{name}' attribute is not specified for MatMul op"))
}

/// Returns the metadata of a product of matrices whose metadata is partially known.
pub(super) fn partial_matmul(
    a: &PartialMetadata,
    b: &PartialMetadata,
    transpose_a: Option<bool>,
    transpose_b: Option<bool>,
) -> Result<PartialMetadata> {
    let transpose_a = transpose_a.ok_or_else(|| not_specified("transpose_a"))?;
    let transpose_b = transpose_b.ok_or_else(|| not_specified("transpose_b"))?;
    partial::matmul(a, b, transpose_a, transpose_b)
}

/// Returns the metadata of a product of matrices, either of which may be transposed.
pub(super) fn matmul(
    a: &TensorMetadata,
    b: &TensorMetadata,
    transpose_a: Option<bool>,
    transpose_b: Option<bool>,
) -> Result<TensorMetadata> {
    let [rows, _, columns] = product(
        (a.dtype, &a.extents),
        (b.dtype, &b.extents),
        transpose_a,
        transpose_b,
    )?;
    Ok(TensorMetadata::new(a.dtype, [rows, columns]))
}

/// Returns the rows, the inner extent and the columns of a product of tensors of these element
/// types and extents.
pub(super) fn product(
    (a_dtype, a): (DType, &[usize]),
    (b_dtype, b): (DType, &[usize]),
    transpose_a: Option<bool>,
    transpose_b: Option<bool>,
) -> Result<[usize; 3]> {
    if a_dtype == b_dtype
        && let (Some(transpose_a), Some(transpose_b)) = (transpose_a, transpose_b)
        && let Some(extents) = product_extents(a, b, [transpose_a, transpose_b])
    {
        return Ok(extents);
    }
    Err(no_product(
        (a_dtype, a),
        (b_dtype, b),
        transpose_a,
        transpose_b,
    ))
}

#[cold]
fn no_product(
    (a_dtype, a): (DType, &[usize]),
    (b_dtype, b): (DType, &[usize]),
    transpose_a: Option<bool>,
    transpose_b: Option<bool>,
) -> Error {
    if a_dtype != b_dtype {
        return invalid(format!(
            "incompatible dtypes for MatMul: In[0]: {a_dtype}, In[1]: {b_dtype}"
        ));
    }
    for (index, rank) in [a.len(), b.len()].into_iter().enumerate() {
        if rank != 2 {
            return invalid(format!(
                "argument {index} of matmul op is not a rank-2 tensor. Actual rank is {rank}"
            ));
        }
    }
    match (transpose_a, transpose_b) {
        (None, _) => not_specified("transpose_a"),
        (_, None) => not_specified("transpose_b"),
        (Some(transpose_a), Some(transpose_b)) => invalid(format!(
            "matmul arguments have incompatible shapes: In[0]: {a:?}, In[1]: {b:?}. transpose_a: \
             {}, transpose_b: {}",
            u8::from(transpose_a),
            u8::from(transpose_b)
        )),
    }
}

/// Returns the rows, the inner extent and the columns of a product of matrices, if they fit
/// together.
#[inline]
pub(super) fn product_extents(
    a: &[usize],
    b: &[usize],
    [transpose_a, transpose_b]: [bool; 2],
) -> Option<[usize; 3]> {
    let (&[mut m, mut k], &[mut inner, mut n]) = (a, b) else {
        return None;
    };
    if transpose_a {
        (m, k) = (k, m);
    }
    if transpose_b {
        (inner, n) = (n, inner);
    }
    (k == inner).then_some([m, k, n])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(dtype: DType, extents: &[usize]) -> TensorMetadata {
        TensorMetadata::new(dtype, extents)
    }

    fn message<T: std::fmt::Display>(outcome: Result<T>) -> String {
        outcome.map_or_else(
            |error| error.message().to_owned(),
            |value| value.to_string(),
        )
    }

    #[test]
    fn products_need_matrices_that_fit() {
        let check = |a: &[usize], b: &[usize], transposed: [Option<bool>; 2], expected: &str| {
            let [ta, tb] = transposed;
            let product = matmul(&of(DType::F32, a), &of(DType::F32, b), ta, tb);
            assert_eq!(message(product), expected);
        };
        let (no, yes) = (Some(false), Some(true));
        check(&[2, 3], &[3, 5], [no, no], "f32 [2, 5]");
        check(&[3, 2], &[5, 3], [yes, yes], "f32 [2, 5]");
        check(
            &[2, 3],
            &[2, 3],
            [no, no],
            "matmul arguments have incompatible shapes: In[0]: [2, 3], In[1]: [2, 3]. \
             transpose_a: 0, transpose_b: 0",
        );
        check(
            &[2],
            &[2, 3],
            [no, no],
            "argument 0 of matmul op is not a rank-2 tensor. Actual rank is 1",
        );
        check(
            &[2, 3],
            &[2, 3],
            [yes, None],
            "'transpose_b' attribute is not specified for MatMul op",
        );
    }
}
