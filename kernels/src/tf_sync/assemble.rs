//! Tensors assembled from pieces of others.

use half::f16;
use tfrt::prelude::*;
use tfrt_compute::assemble;
use tfrt_tensor::{DenseHostTensor, Element, Shape, StringHostTensor};

/// The ranks that are supported.
const RANKS: std::ops::RangeInclusive<usize> = 1..=5;

/// Concatenates tensors along an axis, which counts from the end if it is negative; scalars form a
/// vector. The last tensor is the output.
///
/// # Errors
/// `Unsupported output tensor rank`; if the shapes do not match.
#[tfrt_kernel("tf_sync.ConcatV2.{T}", T = [f32, f64], sync)]
fn concat<T: Element>(axis: i32, tensors: Operands<'_, DenseHostTensor>) -> Result<()> {
    let mut inputs: Vec<&DenseHostTensor> = tensors.iter().collect();
    let mut out = inputs
        .pop()
        .ok_or_else(|| {
            Error::new("tf_sync.ConcatV2 needs a tensor to write")
                .with_code(ErrorCode::InvalidArgument)
        })?
        .clone();
    if !RANKS.contains(&out.shape().rank()) {
        return Err(Error::new("Unsupported output tensor rank"));
    }
    let guards = inputs
        .iter()
        .map(|input| input.elements::<T>())
        .collect::<Result<Vec<_>, _>>()?;
    let pieces: Vec<(&[usize], &[T])> = inputs
        .iter()
        .zip(&guards)
        .map(|(input, elements)| match input.shape().dims() {
            [] => (&[1][..], &**elements),
            dims => (dims, &**elements),
        })
        .collect();
    if let Some(expected) = concat_dims(axis, &pieces) {
        out.expect_shape(&Shape::new(&expected)?)?;
    }
    Ok(assemble::concat(
        axis as isize,
        &pieces,
        &mut out.elements_mut::<T>()?,
    )?)
}

/// Returns the extents of tensors placed one after another. `None` if there is no such axis, which
/// `concat` reports.
fn concat_dims<T>(axis: i32, pieces: &[(&[usize], &[T])]) -> Option<Vec<usize>> {
    let mut dims = pieces.first()?.0.to_vec();
    let axis = match usize::try_from(axis) {
        Ok(axis) => axis,
        Err(_) => dims.len().checked_add_signed(axis as isize)?,
    };
    let extents = pieces.iter().filter_map(|(dims, _)| dims.get(axis));
    *dims.get_mut(axis)? = extents.fold(0, |total, &extent| total.saturating_add(extent));
    Some(dims)
}

/// Repeats a tensor along each dimension. A vector gives the numbers of repetitions.
///
/// # Errors
/// `Tile multiples must be a vector`, `Unsupported multiples data type` unless they are of type i32
/// or i64, `Unsupported tensor rank`.
#[tfrt_kernel(
    "tf_sync.Tile.{T}",
    T = [u8, u16, u32, u64, i8, i16, i32, i64, f16, f32, f64],
    sync
)]
fn tile<T: Element>(
    input: &DenseHostTensor,
    multiples: &DenseHostTensor,
    out: &mut DenseHostTensor,
) -> Result<()> {
    let multiples = read_multiples(multiples)?;
    if !RANKS.contains(&out.shape().rank()) {
        return Err(Error::new("Unsupported tensor rank"));
    }
    let dims = input.shape().dims();
    if dims.len() == multiples.len() {
        let expected: Vec<usize> = dims
            .iter()
            .zip(&multiples)
            .map(|(&extent, &multiple)| extent.saturating_mul(multiple))
            .collect();
        out.expect_shape(&Shape::new(&expected)?)?;
    }
    Ok(assemble::repeat(
        dims,
        &multiples,
        &input.elements::<T>()?,
        &mut out.elements_mut::<T>()?,
    )?)
}

pub(crate) fn read_multiples(multiples: &DenseHostTensor) -> Result<Vec<usize>> {
    if multiples.shape().rank() != 1 {
        return Err(Error::new("Tile multiples must be a vector"));
    }
    let read = |multiple: i64| {
        usize::try_from(multiple).map_err(|_| {
            Error::new(format!(
                "expected a non-negative multiple, found {multiple}"
            ))
            .with_code(ErrorCode::InvalidArgument)
        })
    };
    match multiples.dtype() {
        DType::I32 => {
            let multiples = multiples.elements::<i32>()?;
            multiples
                .iter()
                .map(|&multiple| read(multiple.into()))
                .collect()
        }
        DType::I64 => {
            let multiples = multiples.elements::<i64>()?;
            multiples.iter().map(|&multiple| read(multiple)).collect()
        }
        _ => Err(Error::new("Unsupported multiples data type")),
    }
}

/// Repeats a tensor of strings along each dimension, until it has the shape of the output.
///
/// # Errors
/// `Unsupported tensor rank`; if the shape of the output is not a multiple of that of the input.
#[tfrt_kernel("tf_sync.Tile.string", sync)]
fn tile_strings(input: &StringHostTensor, out: &mut StringHostTensor) -> Result<()> {
    if !RANKS.contains(&out.shape().rank()) {
        return Err(Error::new("Unsupported tensor rank"));
    }
    let (from, to) = (input.shape().dims(), out.shape().dims());
    let no_multiple = || {
        Error::new(format!(
            "a tensor of shape {} cannot be tiled to shape {}",
            input.shape(),
            out.shape()
        ))
        .with_code(ErrorCode::InvalidArgument)
    };
    if from.len() != to.len() {
        return Err(no_multiple());
    }
    let multiples = from
        .iter()
        .zip(to)
        .map(|(&from, &to)| match from {
            0 => (to == 0).then_some(0),
            from => to.is_multiple_of(from).then(|| to / from),
        })
        .collect::<Option<Vec<_>>>()
        .ok_or_else(no_multiple)?;
    let dims = from.to_vec();
    Ok(assemble::repeat(
        &dims,
        &multiples,
        input.strings(),
        out.strings_mut(),
    )?)
}
