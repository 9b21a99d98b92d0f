//! What can be told of the results of ops before they are computed.
//!
//! Shapes are told from shapes: no function here sees a tensor.

use tfrt::prelude::*;
use tfrt::support::metadata::Extents;

use super::invalid;

/// The result is what the operand is.
pub(super) fn same(x: &TensorMetadata) -> TensorMetadata {
    x.clone()
}

/// Both operands are stretched to one shape.
pub(super) fn broadcast(a: &TensorMetadata, b: &TensorMetadata) -> Result<TensorMetadata> {
    if a.dtype != b.dtype {
        return Err(invalid("incompatible dtypes for binary operation"));
    }
    let rank = a.extents.len().max(b.extents.len());
    let extent = |extents: &[usize], from_end: usize| {
        let index = extents.len().checked_sub(from_end + 1);
        index.map_or(1, |index| extents[index])
    };
    // The innermost dimension that does not fit is told of.
    for from_end in 0..rank {
        let (left, right) = (extent(&a.extents, from_end), extent(&b.extents, from_end));
        if left != right && left != 1 && right != 1 {
            return Err(invalid(format!(
                "Dimensions must be equal, but are {left} and {right}"
            )));
        }
    }
    let stretched = (0..rank).rev().map(|from_end| {
        let (left, right) = (extent(&a.extents, from_end), extent(&b.extents, from_end));
        if left == 1 { right } else { left }
    });
    Ok(TensorMetadata::new(a.dtype, stretched.collect::<Extents>()))
}

/// Whether the left operand is less than the right one, both stretched to one shape.
pub(super) fn comparison(a: &TensorMetadata, b: &TensorMetadata) -> Result<TensorMetadata> {
    let stretched = broadcast(a, b)?;
    Ok(TensorMetadata {
        dtype: DType::I1,
        ..stretched
    })
}

/// A product of matrices, either of which may be transposed.
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
    let given = |attribute: Option<bool>, name: &str| {
        attribute
            .ok_or_else(|| invalid(format!("'{name}' attribute is not specified for MatMul op")))
    };
    let transpose_a = given(transpose_a, "transpose_a")?;
    let transpose_b = given(transpose_b, "transpose_b")?;
    match product_extents(a, b, [transpose_a, transpose_b]) {
        Some(extents) => Ok(TensorMetadata::new(a.dtype, extents)),
        None => Err(invalid(format!(
            "matmul arguments have incompatible shapes: In[0]: {}, In[1]: {}. transpose_a: {}, transpose_b: {}",
            a.extents,
            b.extents,
            u8::from(transpose_a),
            u8::from(transpose_b)
        ))),
    }
}

/// The extents of a product of matrices, if they fit together.
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
    fn shapes_are_stretched_from_the_last_extent() {
        let check = |a: &[usize], b: &[usize], expected: &str| {
            let stretched = broadcast(&of(DType::I32, a), &of(DType::I32, b));
            assert_eq!(message(stretched), expected);
        };
        check(&[3, 2, 1], &[3], "i32 [3, 2, 3]");
        check(&[], &[4], "i32 [4]");
        check(&[0], &[1], "i32 [0]");
        check(
            &[2, 3],
            &[4, 3],
            "Dimensions must be equal, but are 2 and 4",
        );
        let mixed = broadcast(&of(DType::I32, &[]), &of(DType::I64, &[]));
        assert_eq!(message(mixed), "incompatible dtypes for binary operation");
        let less = comparison(&of(DType::F32, &[2, 1]), &of(DType::F32, &[3]));
        assert_eq!(message(less), "i1 [2, 3]");
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
            "matmul arguments have incompatible shapes: In[0]: [2, 3], In[1]: [2, 3]. transpose_a: 0, transpose_b: 0",
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
