//! Metadata functions for the common cases: they infer the metadata of results from the metadata of
//! operands.
//!
//! `#[tfrt_op("my.Add", metadata = broadcast)]` names one that needs only operands and attributes;
//! otherwise, the op's own metadata function calls one.
//!
//! ```
//! use tfrt_core::metadata;
//! use tfrt_support::{DType, TensorMetadata};
//!
//! let (rows, row) = (TensorMetadata::new(DType::F32, [2, 3]), TensorMetadata::new(DType::F32, [3]));
//! assert_eq!(metadata::broadcast(&rows, &row)?, rows);
//! assert_eq!(metadata::matmul(&rows, &rows, false, true)?.to_string(), "f32 [2, 2]");
//! assert_eq!(metadata::reduce(&rows, &[-1], true)?.to_string(), "f32 [2, 1]");
//! let error = metadata::matmul(&rows, &rows, false, false).unwrap_err();
//! assert_eq!(error.message(), "cannot multiply f32 [2, 3] and f32 [2, 3]");
//! # Ok::<(), tfrt_support::Error>(())
//! ```

pub mod partial;

use std::fmt::Display;

use tfrt_support::{DType, Error, ErrorCode};
use tfrt_support::{Extents, TensorMetadata};

/// Returns the metadata of the operand for the result.
#[must_use]
pub fn same_as(x: &TensorMetadata) -> TensorMetadata {
    x.clone()
}

/// Returns the metadata that both operands and the result share.
///
/// # Errors
/// If they differ in element type or shape.
pub fn same_as_both(a: &TensorMetadata, b: &TensorMetadata) -> Result<TensorMetadata, Error> {
    if a == b {
        Ok(a.clone())
    } else {
        Err(not_alike(a, b))
    }
}

/// Returns the metadata of a result that is one number.
#[must_use]
pub fn scalar(dtype: DType) -> TensorMetadata {
    TensorMetadata::new(dtype, [])
}

/// Returns the shape to which both operands are broadcast, as in NumPy: dimensions are matched from
/// the last to the first, an extent of 1 is stretched, and a missing dimension counts as 1.
///
/// # Errors
/// If the element types differ, or two extents do and neither is 1: the error names the innermost
/// such pair.
pub fn broadcast(a: &TensorMetadata, b: &TensorMetadata) -> Result<TensorMetadata, Error> {
    if a.dtype != b.dtype {
        return Err(invalid("incompatible dtypes for binary operation"));
    }
    let rank = a.extents.len().max(b.extents.len());
    let extent = |extents: &[usize], from_end: usize| {
        let index = extents.len().checked_sub(from_end + 1);
        index.map_or(1, |index| extents[index])
    };
    let pair = |from_end| (extent(&a.extents, from_end), extent(&b.extents, from_end));
    for (left, right) in (0..rank).map(pair) {
        if left != right && left != 1 && right != 1 {
            return Err(invalid(format!(
                "Dimensions must be equal, but are {left} and {right}"
            )));
        }
    }
    let stretched = (0..rank).rev().map(pair);
    let stretched = stretched.map(|(left, right)| if left == 1 { right } else { left });
    Ok(TensorMetadata::new(a.dtype, stretched.collect::<Extents>()))
}

/// Returns a truth value for each pair of elements of two operands that are stretched to one shape.
///
/// # Errors
/// As [`broadcast`].
pub fn comparison(a: &TensorMetadata, b: &TensorMetadata) -> Result<TensorMetadata, Error> {
    Ok(TensorMetadata {
        dtype: DType::I1,
        ..broadcast(a, b)?
    })
}

/// Returns a product of matrices, either of which may be given transposed.
///
/// # Errors
/// If an operand is not a matrix, or element types or inner extents differ.
pub fn matmul(
    a: &TensorMetadata,
    b: &TensorMetadata,
    transpose_a: bool,
    transpose_b: bool,
) -> Result<TensorMetadata, Error> {
    let turned = |side: &TensorMetadata, is_turned| match side.extents[..] {
        [columns, rows] if is_turned => Some((rows, columns)),
        [rows, columns] => Some((rows, columns)),
        _ => None,
    };
    match (turned(a, transpose_a), turned(b, transpose_b)) {
        (Some((rows, inner)), Some((found, columns))) if inner == found && a.dtype == b.dtype => {
            Ok(TensorMetadata::new(a.dtype, [rows, columns]))
        }
        _ => Err(invalid(format!("cannot multiply {a} and {b}"))),
    }
}

/// Returns the metadata of a tensor without the dimensions that `axes` names, or with the extent 1
/// for each of them. Negative axes count from the end.
///
/// # Errors
/// If an axis does not exist, or is named twice.
pub fn reduce(x: &TensorMetadata, axes: &[i64], keeps_axes: bool) -> Result<TensorMetadata, Error> {
    let mut is_reduced = vec![false; x.extents.len()];
    for &axis in axes {
        let dimension = dimension(axis, x)?;
        if std::mem::replace(&mut is_reduced[dimension], true) {
            return Err(invalid(format!("axis {axis} is given twice in {axes:?}")));
        }
    }
    let extents = x.extents.iter().zip(is_reduced);
    let extents = extents.filter_map(|(&extent, is_reduced)| match is_reduced {
        false => Some(extent),
        true => keeps_axes.then_some(1),
    });
    Ok(TensorMetadata::new(x.dtype, extents.collect::<Extents>()))
}

/// Tensors one after another along an axis, which may count from the end.
///
/// # Errors
/// If there is no tensor, the axis does not exist, or the tensors differ in element type or in
/// another dimension.
pub fn concat(axis: i64, tensors: &[TensorMetadata]) -> Result<TensorMetadata, Error> {
    let first = tensors
        .first()
        .ok_or_else(|| invalid("expected at least one tensor to concatenate"))?;
    let dimension = dimension(axis, first)?;
    let mut extents = first.extents.to_vec();
    extents[dimension] = 0;
    for tensor in tensors {
        let mut others = tensor.extents.to_vec();
        let along = others.get_mut(dimension).map_or(0, std::mem::take);
        let mut expected = extents.clone();
        expected[dimension] = 0;
        let total = extents[dimension].checked_add(along);
        match total.filter(|_| others == expected && tensor.dtype == first.dtype) {
            Some(total) => extents[dimension] = total,
            None => {
                return Err(invalid(format!(
                    "cannot concatenate {first} and {tensor} along axis {axis}"
                )));
            }
        }
    }
    Ok(TensorMetadata::new(first.dtype, &extents[..]))
}

/// Returns the dimension that an axis names.
fn dimension(axis: i64, x: &TensorMetadata) -> Result<usize, Error> {
    dimension_of(axis, x.extents.len())
        .ok_or_else(|| invalid(format!("axis {axis} is out of range for {x}")))
}

/// Returns the dimension that an axis of a tensor of this rank names, if there is one.
fn dimension_of(axis: i64, rank: usize) -> Option<usize> {
    let from_start = if axis < 0 {
        axis.saturating_add(rank as i64)
    } else {
        axis
    };
    let dimension = usize::try_from(from_start).ok();
    dimension.filter(|&dimension| dimension < rank)
}

#[cold]
fn not_alike(a: &dyn Display, b: &dyn Display) -> Error {
    invalid(format!(
        "expected operands of the same type and shape, found {a} and {b}"
    ))
}

#[cold]
fn invalid(message: impl Into<String>) -> Error {
    Error::new(message.into()).with_code(ErrorCode::InvalidArgument)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(dtype: DType, extents: &[usize]) -> TensorMetadata {
        TensorMetadata::new(dtype, extents)
    }

    fn text(outcome: Result<TensorMetadata, Error>) -> String {
        outcome.map_or_else(
            |error| error.message().to_owned(),
            |metadata| metadata.to_string(),
        )
    }

    #[test]
    fn shapes_are_stretched_from_the_last_extent() {
        let check = |a: &[usize], b: &[usize], expected: &str| {
            let stretched = broadcast(&of(DType::I32, a), &of(DType::I32, b));
            assert_eq!(text(stretched), expected);
        };
        check(&[3, 2, 1], &[3], "i32 [3, 2, 3]");
        check(&[], &[4], "i32 [4]");
        check(&[0], &[1], "i32 [0]");
        check(
            &[2, 3],
            &[4, 3],
            "Dimensions must be equal, but are 2 and 4",
        );
        check(
            &[2, 3],
            &[4, 5],
            "Dimensions must be equal, but are 3 and 5",
        );
        let mixed = broadcast(&of(DType::I32, &[]), &of(DType::I64, &[]));
        assert_eq!(text(mixed), "incompatible dtypes for binary operation");
        let less = comparison(&of(DType::F32, &[2, 1]), &of(DType::F32, &[3]));
        assert_eq!(text(less), "i1 [2, 3]");
    }

    #[test]
    fn products_need_matrices_that_fit() {
        let check = |a: &[usize], b: &[usize], [ta, tb]: [bool; 2], expected: &str| {
            let product = matmul(&of(DType::F32, a), &of(DType::F32, b), ta, tb);
            assert_eq!(text(product), expected);
        };
        check(&[2, 3], &[3, 5], [false, false], "f32 [2, 5]");
        check(&[3, 2], &[5, 3], [true, true], "f32 [2, 5]");
        check(&[3, 2], &[3, 5], [true, false], "f32 [2, 5]");
        check(
            &[2],
            &[2, 3],
            [false, false],
            "cannot multiply f32 [2] and f32 [2, 3]",
        );
    }

    #[test]
    fn axes_are_left_out_once() {
        let x = of(DType::F32, &[2, 3, 4]);
        assert_eq!(text(reduce(&x, &[0, -1], false)), "f32 [3]");
        assert_eq!(text(reduce(&x, &[0, -1], true)), "f32 [1, 3, 1]");
        assert_eq!(text(reduce(&x, &[], false)), "f32 [2, 3, 4]");
        assert_eq!(
            text(reduce(&x, &[3], false)),
            "axis 3 is out of range for f32 [2, 3, 4]"
        );
        assert_eq!(
            text(reduce(&x, &[i64::MIN], false)),
            format!("axis {} is out of range for f32 [2, 3, 4]", i64::MIN)
        );
        assert_eq!(
            text(reduce(&x, &[1, -2], false)),
            "axis -2 is given twice in [1, -2]"
        );
    }

    #[test]
    fn joined_tensors_differ_along_the_axis_alone() {
        let check = |axis, tensors: &[&[usize]], expected: &str| {
            let tensors: Vec<_> = tensors
                .iter()
                .map(|extents| of(DType::I8, extents))
                .collect();
            assert_eq!(text(concat(axis, &tensors)), expected);
        };
        check(0, &[&[2, 3], &[4, 3]], "i8 [6, 3]");
        check(-1, &[&[2, 3], &[2, 0], &[2, 1]], "i8 [2, 4]");
        check(
            0,
            &[&[2, 3], &[4, 4]],
            "cannot concatenate i8 [2, 3] and i8 [4, 4] along axis 0",
        );
        check(
            0,
            &[&[2, 3], &[2]],
            "cannot concatenate i8 [2, 3] and i8 [2] along axis 0",
        );
        check(
            0,
            &[&[usize::MAX], &[1]],
            "cannot concatenate i8 [18446744073709551615] and i8 [1] along axis 0",
        );
        check(1, &[&[2]], "axis 1 is out of range for i8 [2]");
        check(0, &[], "expected at least one tensor to concatenate");
    }

    #[test]
    fn both_operands_are_alike() {
        let (a, b) = (of(DType::F32, &[2]), of(DType::F32, &[3]));
        assert_eq!(text(same_as_both(&a, &a)), "f32 [2]");
        assert_eq!(
            text(same_as_both(&a, &b)),
            "expected operands of the same type and shape, found f32 [2] and f32 [3]"
        );
        assert_eq!(
            (same_as(&a), scalar(DType::I64).to_string()),
            (a, "i64 []".to_owned())
        );
    }
}
