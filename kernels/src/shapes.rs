//! `ts.*` and `ts_sync.*`: shapes of tensors.

use std::io;

use tfrt::prelude::*;
use tfrt_tensor::{FixedRankSizes, PartialShape, ShapeError, Sizes};

use crate::text::print_line;

/// Creates a shape from the sizes of its dimensions.
///
/// # Errors
/// If a size is negative.
#[tfrt_kernel("ts.build_shape", results(shape), chain = none, format = "typed($value) attr-dict")]
fn build_shape(#[attr] value: &[i64]) -> Result<Sizes, ShapeError> {
    Sizes::from_signed(value)
}

/// Creates a shape from the sizes of its dimensions.
///
/// # Errors
/// If a size is negative.
#[tfrt_kernel(
    "ts_sync.build_shape",
    sync,
    results(shape),
    format = "typed($value) attr-dict"
)]
fn build_shape_sync(#[attr] value: &[i64]) -> Result<Sizes, ShapeError> {
    Sizes::from_signed(value)
}

/// Creates a shape in which dimensions of size -1 are unknown.
///
/// # Errors
/// If a size is negative, except for -1.
#[tfrt_kernel(
    "ts.build_partial_shape",
    results(shape),
    chain = none, format = "typed($value) attr-dict"
)]
fn build_partial_shape(#[attr] value: &[i64]) -> Result<PartialShape, ShapeError> {
    PartialShape::new(value)
}

/// Creates a shape in which dimensions of size -1 are unknown.
///
/// # Errors
/// If a size is negative, except for -1.
#[tfrt_kernel(
    "ts_sync.build_partial_shape",
    sync,
    results(shape),
    format = "typed($value) attr-dict"
)]
fn build_partial_shape_sync(#[attr] value: &[i64]) -> Result<PartialShape, ShapeError> {
    PartialShape::new(value)
}

/// Creates a shape of unknown rank.
#[tfrt_kernel(
    "ts.build_unranked_partial_shape",
    results(shape),
    chain = none, format = "attr-dict"
)]
fn build_unranked_partial_shape() -> PartialShape {
    PartialShape::unranked()
}

/// Converts a partial shape to a shape, if it is completely known.
///
/// # Errors
/// `Unknown rank`, `Unknown dimensions at following indices = [0, 2]`.
#[tfrt_kernel("ts.to_shape", results(shape), chain = none, format = "operands attr-dict")]
fn to_shape(partial: &PartialShape) -> Result<Sizes, ShapeError> {
    partial.to_sizes()
}

/// Converts a shape to a partial shape.
#[tfrt_kernel("ts.to_partial_shape", results(partial), chain = none, format = "operands attr-dict")]
fn to_partial_shape(shape: &Sizes) -> PartialShape {
    PartialShape::from(shape)
}

/// Converts a shape to a partial shape.
#[tfrt_kernel(
    "ts_sync.to_partial_shape",
    sync,
    results(partial),
    format = "operands attr-dict"
)]
fn to_partial_shape_sync(shape: &Sizes) -> PartialShape {
    PartialShape::from(shape)
}

/// Converts a shape to one whose rank is part of its type.
///
/// # Errors
/// If the shape has another rank.
#[tfrt_kernel(
    "ts.as_fixed_rank_shape.{R}",
    R = [1, 2, 3],
    results(fixed),
    chain = none,
    format = "operands attr-dict",
)]
fn as_fixed_rank_shape<const R: usize>(shape: &Sizes) -> Result<FixedRankSizes<R>, ShapeError> {
    FixedRankSizes::try_from(shape)
}

/// Returns `true` if two shapes are equal.
#[tfrt_kernel("ts.equal_shape", results(are_equal), chain = none, format = "operands attr-dict")]
fn equal_shape(a: &Sizes, b: &Sizes) -> bool {
    a == b
}

/// Returns the size of one dimension.
///
/// # Errors
/// If there is no such dimension.
#[tfrt_kernel("ts.get_dimension", results(size), chain = none, format = "operands attr-dict")]
fn get_dimension(shape: &Sizes, dimension: i32) -> Result<i64> {
    let size = usize::try_from(dimension)
        .ok()
        .and_then(|position| shape.dims().get(position).copied());
    let size = size.ok_or_else(|| {
        Error::new(format!(
            "dimension {dimension} is out of range for the shape {shape}"
        ))
        .with_code(ErrorCode::InvalidArgument)
    })?;
    Ok(i64::try_from(size)?)
}

/// Returns the product of all dimensions.
///
/// # Errors
/// If it exceeds the address space.
#[tfrt_kernel(
    "ts.get_num_elements",
    results(num_elements),
    chain = none, format = "operands attr-dict"
)]
fn get_num_elements(shape: &Sizes) -> Result<i64> {
    Ok(i64::try_from(shape.num_elements()?)?)
}

/// Prints a shape.
#[tfrt_kernel("ts.print_shape", side_effecting, format = "operands attr-dict")]
fn print_shape(shape: &Sizes) -> io::Result<()> {
    print_line(format_args!("shape = {shape}"))
}

/// Prints a shape whose rank is part of its type.
#[tfrt_kernel(
    "ts.print_fixed_rank_shape.{R}",
    R = [1, 2, 3],
    side_effecting,
    format = "operands attr-dict",
)]
fn print_fixed_rank_shape<const R: usize>(shape: &FixedRankSizes<R>) -> io::Result<()> {
    print_line(format_args!("fixed_rank_shape = {shape}"))
}

/// Prints a partial shape.
#[tfrt_kernel(
    "ts.print_partial_shape",
    side_effecting,
    format = "operands attr-dict"
)]
fn print_partial_shape(shape: &PartialShape) -> io::Result<()> {
    print_line(format_args!("partial_tensor_shape = {shape}"))
}
