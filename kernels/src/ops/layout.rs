//! Reshaping and reordering of a tensor's elements.

use tfrt::prelude::*;
use tfrt_compute::transpose;
use tfrt_tensor::{DenseHostTensor, Shape, TensorRef};

use super::shapes::with_shape;
use super::{axis_of, invalid, mismatched, moved, numbers_of, unsupported_dtype, with_size};

/// Returns the elements with the shape in a vector of i32 or i64; one extent may be -1, and is
/// computed from the others. Dense tensors share their memory.
///
/// # Errors
/// If the shape has another number of elements.
#[tfrt_op("tf.Reshape", accepts(string), function = reshape)]
pub fn compute_reshape(x: &AnyRef, shape: &DenseHostTensor) -> Result<AnyRef> {
    let x = TensorRef::read(x).map_err(mismatched)?;
    let wanted = numbers_of("tf.Reshape", "shape", shape)?;
    let refused = || {
        let (dtype, from) = (x.dtype(), x.shape());
        invalid(format!(
            "`tf.Reshape` cannot reshape {dtype} {from} to {wanted:?}"
        ))
    };
    let num_elements = x.shape().num_elements();
    let known = wanted.iter().filter(|&&extent| extent != -1);
    let known = known.map(|&extent| usize::try_from(extent).ok());
    let product = known.collect::<Option<Vec<usize>>>().and_then(|known| {
        known
            .iter()
            .try_fold(1_usize, |all, &extent| all.checked_mul(extent))
    });
    let product = product.ok_or_else(refused)?;
    let num_unknown = wanted.iter().filter(|&&extent| extent == -1).count();
    let unknown = match num_unknown {
        0 => 0,
        1 => num_elements.checked_div(product).ok_or_else(refused)?,
        _ => return Err(refused()),
    };
    let dims: Vec<usize> = wanted
        .iter()
        .map(|&extent| usize::try_from(extent).unwrap_or(unknown))
        .collect();
    let shape = Shape::new(&dims)?;
    if shape.num_elements() != num_elements {
        return Err(refused());
    }
    with_shape("tf.Reshape", &x, shape)
}

/// Returns the elements without the dimensions that `squeeze_dims` lists, whose extents are 1; or
/// without all such dimensions if the list is missing or empty. Dense tensors share their memory.
///
/// # Errors
/// If a dimension that is listed does not exist, or its extent is not 1.
#[tfrt_op("tf.Squeeze", accepts(string), metadata = squeezed, function = squeeze)]
pub fn compute_squeeze(x: &AnyRef, #[attr] squeeze_dims: Option<&[i64]>) -> Result<AnyRef> {
    let x = TensorRef::read(x).map_err(mismatched)?;
    let metadata = squeezed(&x.metadata(), squeeze_dims)?;
    with_shape("tf.Squeeze", &x, Shape::new(&metadata.extents)?)
}

fn squeezed(x: &TensorMetadata, squeeze_dims: Option<&[i64]>) -> Result<TensorMetadata> {
    let mut is_dropped: Vec<bool> = x.extents.iter().map(|&extent| extent == 1).collect();
    if let Some(listed) = squeeze_dims.filter(|listed| !listed.is_empty()) {
        is_dropped.fill(false);
        for &axis in listed {
            let dimension = axis_of("tf.Squeeze", axis, x.extents.len())?;
            let extent = x.extents[dimension];
            if extent != 1 {
                return Err(invalid(format!(
                    "`tf.Squeeze`: expected dimension {dimension} of {x} to be 1, found {extent}"
                )));
            }
            is_dropped[dimension] = true;
        }
    }
    let kept = x
        .extents
        .iter()
        .zip(is_dropped)
        .filter(|&(_, is_dropped)| !is_dropped);
    let kept: Vec<usize> = kept.map(|(&extent, _)| extent).collect();
    Ok(TensorMetadata::new(x.dtype, &kept[..]))
}

/// Permutes dimensions: dimension `i` of the result is dimension `permutation[i]` of `x`. The
/// permutation is a vector of i32 or i64. `tf.Transpose` has only metadata, as in the reference.
///
/// # Errors
/// If the numbers are not a permutation of the dimensions.
#[tfrt_op("tfrt.Transpose", function = transpose)]
pub fn compute_transpose(
    x: &DenseHostTensor,
    permutation: &DenseHostTensor,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    permute(
        x,
        &numbers_of("tfrt.Transpose", "permutation", permutation)?,
        ctx,
    )
}

fn permute(x: &DenseHostTensor, perm: &[i64], ctx: &ExecutionContext) -> Result<DenseHostTensor> {
    let dims = x.shape().dims();
    let perm = perm
        .iter()
        .map(|&from| axis_of("tfrt.Transpose", from, dims.len()));
    let perm = perm.collect::<Result<Vec<usize>>>()?;
    let shape = Shape::new(&perm.iter().map(|&from| dims[from]).collect::<Vec<_>>())?;
    if shape.num_elements() != x.num_elements() || perm.len() != dims.len() {
        return Err(invalid(format!(
            "`tfrt.Transpose`: expected a permutation of {} dimensions, found {perm:?}",
            dims.len()
        )));
    }
    with_size!(
        x.dtype(),
        N => moved::<N>(x, shape, ctx, |from, to| transpose::transpose(dims, &perm, from, to)),
        else Err(unsupported_dtype("tfrt.Transpose", x.dtype()))
    )
}
