//! `coo.*`: sparse tensors in coordinate form. Each kernel has one instance for each element type
//! and rank, and accepts only those tensors.

use tfrt::prelude::*;
use tfrt_tensor::{CooHostTensor, DenseHostTensor, Element, Shape, TensorError};

use crate::dense_tensors::compare::{self, Near};
use crate::scalar::Scalar;

/// Checks that a tensor has the type and rank in the name of the kernel.
fn expect<E: Element, const R: usize>(
    dtype: DType,
    shape: &Shape,
) -> Result<[usize; R], TensorError> {
    if dtype != E::DTYPE {
        return Err(TensorError::WrongDType {
            expected: E::DTYPE,
            found: dtype,
        });
    }
    Ok(shape.to_array()?)
}

/// Converts a sparse tensor to a dense one.
///
/// # Errors
/// `out of memory converting coo tensor to dht tensor`; and if an entry lies outside of the shape.
#[tfrt_kernel(
    "coo.convert_coo_to_dht.{T}.{R}",
    T = [i32, f32],
    R = [0, 1, 2, 3],
    results(converted, out_chain),
    format = "operands attr-dict"
)]
fn convert_coo_to_dht<T: Scalar, const R: usize>(
    tensor: &CooHostTensor,
    in_chain: Chain,
    ctx: &ExecutionContext,
) -> Result<(DenseHostTensor, Chain)> {
    expect::<T::Element, R>(tensor.dtype(), tensor.shape())?;
    let dense = tensor
        .to_dense(ctx.allocator())
        .map_err(|error| match error {
            TensorError::OutOfMemory { .. } => {
                Error::new("out of memory converting coo tensor to dht tensor")
                    .with_code(ErrorCode::ResourceExhausted)
            }
            error => error.into(),
        })?;
    Ok((dense, in_chain))
}

/// Converts the non-zero elements of a dense tensor, in row-major order, to a sparse tensor.
///
/// The coordinates are computed like those of the reference, which uses the sizes of dimensions in
/// the wrong order: they are correct only if all dimensions have the same size.
///
/// # Errors
/// `Cannot allocate value tensor`, `Cannot allocate index tensor`.
#[tfrt_kernel(
    "coo.convert_dht_to_coo.{T}.{R}",
    T = [i32, f32],
    R = [0, 1, 2, 3],
    results(converted, out_chain),
    format = "operands attr-dict"
)]
fn convert_dht_to_coo<T: Scalar, const R: usize>(
    tensor: &DenseHostTensor,
    in_chain: Chain,
    ctx: &ExecutionContext,
) -> Result<(CooHostTensor, Chain)> {
    let dims = expect::<T::Element, R>(tensor.dtype(), tensor.shape())?;
    let elements = tensor.elements::<T::Element>()?;
    let entries: Vec<usize> = (0..elements.len())
        .filter(|&position| elements[position] != T::Element::ZERO)
        .collect();
    let allocator = ctx.allocator();
    let values = DenseHostTensor::from_fn(allocator, Shape::new(&[entries.len()])?, |entry| {
        elements[entries[entry]]
    })
    .map_err(|_| Error::new("Cannot allocate value tensor"))?;
    let rows: Vec<[i64; R]> = entries
        .iter()
        .map(|&position| reference_coordinates(position, dims))
        .collect();
    let indices = DenseHostTensor::from_elements(
        allocator,
        Shape::new(&[rows.len(), R])?,
        rows.as_flattened(),
    )
    .map_err(|_| Error::new("Cannot allocate index tensor"))?;
    let sparse = CooHostTensor::new(tensor.shape().clone(), indices, values)?;
    Ok((sparse, in_chain))
}

/// Returns the coordinates that the reference assigns to the element at a position: see
/// [`convert_dht_to_coo`].
fn reference_coordinates<const R: usize>(position: usize, dims: [usize; R]) -> [i64; R] {
    let mut coordinates = [0; R];
    let mut rest = position;
    for (axis, dim) in dims.into_iter().enumerate() {
        // There is an element, so that no dimension is zero. What is left of a position fits.
        coordinates[R - 1 - axis] = (rest % dim) as i64;
        rest /= dim;
    }
    coordinates
}

/// Returns whether the values of two sparse tensors differ by at most 2 units in the last place,
/// and their coordinates are equal.
#[tfrt_kernel(
    "coo.tensor_equal.{T}.{R}",
    T = [i32, f32],
    R = [0, 1, 2, 3],
    results(are_equal, out_chain),
    format = "operands attr-dict"
)]
fn tensor_equal<T: Scalar<Element: Near>, const R: usize>(
    a: &CooHostTensor,
    b: &CooHostTensor,
    in_chain: Chain,
) -> Result<(bool, Chain)> {
    expect::<T::Element, R>(a.dtype(), a.shape())?;
    expect::<T::Element, R>(b.dtype(), b.shape())?;
    let are_equal = a.shape() == b.shape()
        && compare::all::<i64>(a.indices(), b.indices(), |a, b| a == b)?
        && compare::all::<T::Element>(a.values(), b.values(), |a, b| a.is_near(b, 2))?;
    Ok((are_equal, in_chain))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_are_those_that_the_reference_prints() {
        let rows: Vec<[i64; 2]> = (0..6)
            .map(|position| reference_coordinates(position, [3, 2]))
            .collect();
        assert_eq!(rows.as_flattened(), [0, 0, 0, 1, 0, 2, 1, 0, 1, 1, 1, 2]);
        assert_eq!(reference_coordinates(0, []), [0_i64; 0]);
    }
}
