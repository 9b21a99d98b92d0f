//! The metadata of products, with the error messages of the reference.
//!
//! Shapes are computed from shapes: no function here sees a tensor.

use tfrt::core::metadata::partial::{self, PartialMetadata};
use tfrt::prelude::*;

use super::invalid;

/// Returns whether a matrix is transposed, which a caller must specify.
fn given(attribute: Option<bool>, name: &str) -> Result<bool> {
    attribute.ok_or_else(|| invalid(format!("'{name}' attribute is not specified for MatMul op")))
}

/// Returns the metadata of a product of matrices whose metadata is partially known.
pub(super) fn partial_matmul(
    a: &PartialMetadata,
    b: &PartialMetadata,
    transpose_a: Option<bool>,
    transpose_b: Option<bool>,
) -> Result<PartialMetadata> {
    let transpose_a = given(transpose_a, "transpose_a")?;
    let transpose_b = given(transpose_b, "transpose_b")?;
    partial::matmul(a, b, transpose_a, transpose_b)
}

/// Returns the metadata of a product of matrices, either of which may be transposed.
pub(super) fn matmul(
    a: &TensorMetadata,
    b: &TensorMetadata,
    transpose_a: Option<bool>,
    transpose_b: Option<bool>,
) -> Result<TensorMetadata> {
    if a.dtype != b.dtype {
        return Err(invalid(format!(
            "incompatible dtypes for MatMul: In[0]: {}, In[1]: {}",
            a.dtype, b.dtype
        )));
    }
    for (index, operand) in [a, b].into_iter().enumerate() {
        let rank = operand.extents.len();
        if rank != 2 {
            return Err(invalid(format!(
                "argument {index} of matmul op is not a rank-2 tensor. Actual rank is {rank}"
            )));
        }
    }
    let transpose_a = given(transpose_a, "transpose_a")?;
    let transpose_b = given(transpose_b, "transpose_b")?;
    match product_extents(a, b, [transpose_a, transpose_b]) {
        Some(extents) => Ok(TensorMetadata::new(a.dtype, extents)),
        None => Err(invalid(format!(
            "matmul arguments have incompatible shapes: In[0]: {}, In[1]: {}. transpose_a: {}, \
             transpose_b: {}",
            a.extents,
            b.extents,
            u8::from(transpose_a),
            u8::from(transpose_b)
        ))),
    }
}

/// Returns the extents of a product of matrices, if they fit together.
pub(super) fn product_extents(
    a: &TensorMetadata,
    b: &TensorMetadata,
    [transpose_a, transpose_b]: [bool; 2],
) -> Option<[usize; 2]> {
    let (&[mut m, mut k], &[mut inner, mut n]) = (&a.extents[..], &b.extents[..]) else {
        return None;
    };
    if transpose_a {
        (m, k) = (k, m);
    }
    if transpose_b {
        (inner, n) = (n, inner);
    }
    (k == inner).then_some([m, n])
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
