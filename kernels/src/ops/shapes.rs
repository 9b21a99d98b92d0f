//! Concatenation and repetition of tensors, shapes, and new dimensions.

use half::{bf16, f16};
use tfrt::prelude::*;
use tfrt::support::complex::Complex;
use tfrt_compute::assemble;
use tfrt_tensor::{DenseHostTensor, I1, Shape, StringHostTensor, Tensor, TensorRef};

use super::{allocate, invalid, mismatched, read_numbers, unsupported, with_dtype};
use crate::tf_sync::assemble::read_multiples;

/// Returns the extents of a tensor as a vector of i32 or i64.
///
/// # Errors
/// ``Unsupported `out_type` value: D``.
#[tfrt_op("tf.Shape", accepts(string), metadata = shape_metadata, function = shape)]
pub fn compute_shape(
    x: &dyn Tensor,
    #[attr] out_type: DType,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    let metadata = shape_metadata(&x.metadata(), out_type)?;
    let mut result = allocate(out_type, Shape::new(&metadata.extents)?, ctx)?;
    let dims = x.shape().dims();
    if out_type == DType::I32 {
        for (to, &from) in result.elements_mut::<i32>()?.iter_mut().zip(dims) {
            *to = i32::try_from(from).map_err(|_| too_large(from))?;
        }
    } else {
        for (to, &from) in result.elements_mut::<i64>()?.iter_mut().zip(dims) {
            *to = i64::try_from(from).map_err(|_| too_large(from))?;
        }
    }
    Ok(result)
}

fn shape_metadata(x: &TensorMetadata, out_type: DType) -> Result<TensorMetadata> {
    match out_type {
        DType::I32 | DType::I64 => Ok(TensorMetadata::new(out_type, [x.extents.len()])),
        other => Err(invalid(format!("Unsupported `out_type` value: {other}"))),
    }
}

#[cold]
fn too_large(extent: usize) -> Error {
    invalid(format!("the dimension {extent} does not fit in `out_type`"))
}

/// Adds a dimension of extent 1 before the dimension given by a tensor of one element; negative
/// ones count from the end. Dense tensors share their memory.
///
/// # Errors
/// `Axis must be a scalar tensor`, `Unsupported axis data type`,
/// `Failed to expand axis A for tensor of rank R`, `Unsupported tensor type for tf.ExpandDims`.
#[tfrt_op("tf.ExpandDims", accepts(string), function = expand_dims)]
pub fn compute_expand_dims(x: &AnyRef, axis: &DenseHostTensor) -> Result<AnyRef> {
    if axis.num_elements() != 1 {
        return Err(unsupported("Axis must be a scalar tensor"));
    }
    let axis = match read_numbers(axis) {
        Some(numbers) => numbers?[0],
        None => return Err(unsupported("Unsupported axis data type")),
    };
    let x = TensorRef::read(x).map_err(mismatched)?;
    let mut dims = x.shape().dims().to_vec();
    let rank = dims.len() as i64;
    let position = if axis < 0 {
        axis.saturating_add(rank + 1)
    } else {
        axis
    };
    match usize::try_from(position) {
        Ok(position) if position <= dims.len() => dims.insert(position, 1),
        _ => {
            return Err(unsupported(format!(
                "Failed to expand axis {axis} for tensor of rank {rank}"
            )));
        }
    }
    with_shape("tf.ExpandDims", &x, Shape::new(&dims)?)
}

/// Returns the same elements under another shape with as many. Dense tensors share their memory.
pub(super) fn with_shape(op: &str, x: &TensorRef<'_>, shape: Shape) -> Result<AnyRef> {
    match x {
        TensorRef::Dense(tensor) => Ok(AnyRef::available(tensor.reshaped(shape)?)),
        TensorRef::String(tensor) => {
            let strings = tensor.strings().to_vec();
            Ok(AnyRef::available(StringHostTensor::new(shape, strings)?))
        }
        _ => Err(unsupported(format!("Unsupported tensor type for {op}"))),
    }
}

/// Repeats a tensor along each dimension. A vector of i32 or i64 gives the numbers of repetitions.
///
/// # Errors
/// `Tile multiples must be a vector`, `Unsupported multiples data type`,
/// `Tile multiples must have the same size as input rank`, `Unsupported dtype: D`,
/// `Unsupported tensor rank`, `Unsupported tensor type`.
#[tfrt_op("tf.Tile", accepts(string), function = tile)]
pub fn compute_tile(
    x: &AnyRef,
    multiples: &DenseHostTensor,
    ctx: &ExecutionContext,
) -> Result<AnyRef> {
    let multiples = read_multiples(multiples)?;
    let x = TensorRef::read(x).map_err(mismatched)?;
    let dims = x.shape().dims();
    if multiples.len() != dims.len() {
        return Err(unsupported(
            "Tile multiples must have the same size as input rank",
        ));
    }
    if !(1..=5).contains(&dims.len()) {
        return Err(unsupported("Unsupported tensor rank"));
    }
    let tiled: Vec<usize> = (dims.iter().zip(&multiples))
        .map(|(&extent, &multiple)| extent.saturating_mul(multiple))
        .collect();
    let shape = Shape::new(&tiled)?;
    match &x {
        TensorRef::Dense(tensor) => {
            let mut result = allocate(tensor.dtype(), shape, ctx)?;
            with_dtype!(
                tensor.dtype(),
                T in [u8, u16, u32, u64, i8, i16, i32, i64, f16, bf16, f32, f64, I1, Complex<f32>, Complex<f64>] => {
                    let (from, mut to) = (tensor.elements::<T>()?, result.elements_mut::<T>()?);
                    assemble::repeat(dims, &multiples, &from, &mut to)?;
                },
                else return Err(unsupported(format!("Unsupported dtype: {}", tensor.dtype())))
            );
            Ok(AnyRef::available(result))
        }
        TensorRef::String(tensor) => {
            let mut result = StringHostTensor::empty_strings(shape)?;
            assemble::repeat(dims, &multiples, tensor.strings(), result.strings_mut())?;
            Ok(AnyRef::available(result))
        }
        _ => Err(unsupported("Unsupported tensor type")),
    }
}

/// Concatenates tensors along the dimension given by the last operand; negative ones count from the
/// end.
///
/// # Errors
/// `axis must be a dense host tensor`, `Unsupported axis data type`, `Input dtypes do not match`,
/// `Input ranks do not match`, `Wrong non-concatenating dimension. …`, `Unsupported dtype: D`,
/// `Unsupported output tensor rank`, `TfConcatOp: Unsupported dtype: D`.
#[tfrt_op("tf.ConcatV2", accepts(string), function = concat)]
pub fn compute_concat(tensors: &[AnyRef], ctx: &ExecutionContext) -> Result<AnyRef> {
    let Some((axis, tensors)) = tensors.split_last() else {
        return Err(invalid("tf.ConcatV2 needs tensors and an axis"));
    };
    let axis = axis
        .try_read::<DenseHostTensor>()
        .map_err(|_| unsupported("axis must be a dense host tensor"))?;
    let axis = match read_numbers(&axis) {
        Some(numbers) => *numbers?
            .first()
            .ok_or_else(|| invalid("the axis is empty"))?,
        None => return Err(unsupported("Unsupported axis data type")),
    };
    let tensors = tensors
        .iter()
        .map(|tensor| TensorRef::read(tensor).map_err(mismatched))
        .collect::<Result<Vec<_>>>()?;
    let first = tensors
        .first()
        .ok_or_else(|| invalid("tf.ConcatV2 needs a tensor"))?;
    let (position, dims) = joined(&tensors, axis)?;
    let shape = Shape::new(&dims)?;
    if matches!(first, TensorRef::String(_)) {
        return concat_strings(&tensors, position, shape);
    }
    let dense = |tensor: &TensorRef<'_>| match tensor {
        TensorRef::Dense(tensor) => Ok((**tensor).clone()),
        other => Err(unsupported(format!(
            "TfConcatOp: Unsupported tensor type: {}",
            other.tensor_type().name()
        ))),
    };
    let tensors = tensors.iter().map(dense).collect::<Result<Vec<_>>>()?;
    let mut result = allocate(tensors[0].dtype(), shape, ctx)?;
    with_dtype!(
        result.dtype(),
        T in [u8, u16, u32, u64, i8, i16, i32, i64, f16, bf16, f32, f64, I1, Complex<f32>, Complex<f64>] => {
            let guards = tensors
                .iter()
                .map(DenseHostTensor::elements::<T>)
                .collect::<Result<Vec<_>, _>>()?;
            let pieces: Vec<(&[usize], &[T])> = tensors
                .iter()
                .zip(&guards)
                .map(|(tensor, elements)| match tensor.shape().dims() {
                    [] => (&[1][..], &**elements),
                    dims => (dims, &**elements),
                })
                .collect();
            assemble::concat(position as isize, &pieces, &mut result.elements_mut::<T>()?)?;
        },
        else return Err(unsupported(format!("Unsupported dtype: {}", result.dtype())))
    );
    Ok(AnyRef::available(result))
}

/// Returns the dimension along which tensors are joined, and the extents of the result. Scalars
/// form a vector.
fn joined(tensors: &[TensorRef<'_>], axis: i64) -> Result<(usize, Vec<usize>)> {
    let dims_of = |tensor: &TensorRef<'_>| match tensor.shape().dims() {
        [] => vec![1],
        dims => dims.to_vec(),
    };
    let first = &tensors[0];
    let mut dims = dims_of(first);
    if !(1..=5).contains(&dims.len()) {
        return Err(unsupported("Unsupported output tensor rank"));
    }
    let rank = dims.len() as i64;
    let position = if axis < 0 {
        axis.saturating_add(rank)
    } else {
        axis
    };
    let position = usize::try_from(position)
        .ok()
        .filter(|&position| position < dims.len());
    let position = position.ok_or_else(|| {
        invalid(format!(
            "axis {axis} is out of range for tensors of rank {rank}"
        ))
    })?;
    dims[position] = 0;
    for (index, tensor) in tensors.iter().enumerate() {
        if tensor.dtype() != first.dtype() {
            return Err(unsupported("Input dtypes do not match"));
        }
        if tensor.shape().rank() != first.shape().rank() {
            return Err(unsupported("Input ranks do not match"));
        }
        let found = dims_of(tensor);
        let differs =
            |dimension: &usize| *dimension != position && found[*dimension] != dims[*dimension];
        if let Some(dimension) = (0..dims.len()).find(differs) {
            return Err(unsupported(format!(
                "Wrong non-concatenating dimension. Dimension {dimension} for argument {index} \
                 doesn't match the dimension of argument 0 (concatenate {} and {} on axis \
                 {axis})",
                tensor.shape(),
                first.shape()
            )));
        }
        dims[position] = dims[position].saturating_add(found[position]);
    }
    Ok((position, dims))
}

fn concat_strings(tensors: &[TensorRef<'_>], axis: usize, shape: Shape) -> Result<AnyRef> {
    let failed = |_| unsupported("TfConcatOp: failed to allocate StringHostTensor result");
    let inner: usize = shape.dims()[axis + 1..].iter().product();
    let outer: usize = shape.dims()[..axis].iter().product();
    let mut strings = Vec::with_capacity(shape.num_elements());
    for block in 0..outer {
        for tensor in tensors {
            let TensorRef::String(tensor) = tensor else {
                return Err(unsupported("Input dtypes do not match"));
            };
            let len = tensor
                .shape()
                .dims()
                .get(axis)
                .map_or(1, |&extent| extent * inner);
            strings.extend_from_slice(&tensor.strings()[block * len..][..len]);
        }
    }
    let result = StringHostTensor::new(shape, strings).map_err(failed)?;
    Ok(AnyRef::available(result))
}

/// Returns the metadata of a tensor of another element type.
#[tfrt_op("tf.Cast", metadata_only)]
fn cast(x: &TensorMetadata, #[attr("DstT")] dst_t: Option<DType>) -> Result<TensorMetadata> {
    let dtype = dst_t.ok_or_else(|| invalid("cannot get destination type"))?;
    Ok(TensorMetadata { dtype, ..x.clone() })
}

/// Returns the metadata of a tensor after a function of its elements.
#[tfrt_op("tf.Tanh", metadata_only)]
fn tanh(x: &TensorMetadata) -> TensorMetadata {
    x.clone()
}

fn permuted(x: &TensorMetadata, permutation: &[i64]) -> Option<TensorMetadata> {
    let extents = permutation.iter().map(|&from| {
        let from = usize::try_from(from).ok()?;
        x.extents.get(from).copied()
    });
    let extents = extents.collect::<Option<Vec<_>>>()?;
    Some(TensorMetadata::new(x.dtype, &extents[..]))
}

/// Returns the metadata of images whose channels come first. The permutation in the second operand
/// is not known before the operand is available.
#[tfrt_op("tf.Transpose", metadata_only)]
fn transpose(x: &TensorMetadata, _permutation: &TensorMetadata) -> Result<TensorMetadata> {
    permuted(x, &[0, 3, 1, 2]).ok_or_else(|| invalid("tf.Transpose needs a tensor of rank 4"))
}

/// Returns the metadata of a tensor whose dimensions are permuted by an attribute.
#[tfrt_op("_tf.Transpose", metadata_only)]
fn transpose_by_attribute(
    x: &TensorMetadata,
    #[attr] perm: Option<DenseView<'_>>,
) -> Result<TensorMetadata> {
    let perm = perm.and_then(numbers);
    let perm = perm.ok_or_else(|| invalid("tf.Transpose needs a `perm` dense attribute"))?;
    let fits = perm.len() == x.extents.len();
    fits.then(|| permuted(x, &perm))
        .flatten()
        .ok_or_else(|| invalid("tf.Transpose `perm` must size must match input rank"))
}

/// Integers that an attribute lists.
fn numbers(dense: DenseView<'_>) -> Option<Vec<i64>> {
    match dense.dtype() {
        DType::I32 => {
            let numbers = dense.elements::<i32>().ok()?;
            Some(numbers.iter().map(|&number| number.into()).collect())
        }
        DType::I64 => dense.elements::<i64>().ok().map(<[i64]>::to_vec),
        _ => None,
    }
}

/// Returns the metadata of a tensor after the padding in an attribute.
#[tfrt_op("_tf.Pad", metadata_only)]
fn pad_by_attribute(
    x: &TensorMetadata,
    #[attr] paddings: Option<DenseView<'_>>,
) -> Result<TensorMetadata> {
    const MAX_RANK: usize = 8;
    let paddings =
        paddings.ok_or_else(|| invalid("tf.Pad is missing a required attribute `paddings`"))?;
    let rank = x.extents.len();
    if rank > MAX_RANK {
        return Err(invalid(format!(
            "tf.Pad input rank over {MAX_RANK} is not supported. Given value: {rank}"
        )));
    }
    let shape = PartialText(paddings.dims());
    let &[rows, 2] = paddings.dims() else {
        return Err(invalid(format!(
            "tf.Pad paddings must be a matrix with 2 columns. Actual shape: {shape}"
        )));
    };
    if usize::try_from(rows) != Ok(rank) {
        return Err(invalid(format!(
            "For tf.Pad operation, the first dimension of paddings must equal to the rank of \
             inputs. Input shape: {}. Paddings shape: {shape}",
            x.extents
        )));
    }
    let Some(numbers) = numbers(paddings) else {
        return Err(invalid(format!(
            "tf.Pad paddings type must be either int32 or int64. Actual type is: {}",
            paddings.dtype()
        )));
    };
    let padded = x
        .extents
        .iter()
        .zip(numbers.chunks_exact(2))
        .map(|(&extent, pair)| {
            let extent = i64::try_from(extent).ok()?;
            let padded = extent.checked_add(pair[0])?.checked_add(pair[1])?;
            usize::try_from(padded).ok()
        });
    let padded = padded.collect::<Option<Vec<_>>>();
    let padded = padded.ok_or_else(|| invalid("tf.Pad paddings are out of range"))?;
    Ok(TensorMetadata::new(x.dtype, &padded[..]))
}

/// Extents, printed as a shape.
struct PartialText<'a>(&'a [i64]);

impl std::fmt::Display for PartialText<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let extents: Vec<String> = self.0.iter().map(i64::to_string).collect();
        write!(f, "[{}]", extents.join(", "))
    }
}

/// Returns the metadata of means, whose dimensions are those that an attribute does not list.
#[tfrt_op("_tf.Mean", metadata_only)]
fn mean_by_attribute(
    x: &TensorMetadata,
    #[attr] reduction_indices: Option<DenseView<'_>>,
) -> Result<TensorMetadata> {
    let indices = reduction_indices.and_then(numbers);
    let indices =
        indices.ok_or_else(|| invalid("tf.Mean needs a `reduction_indices` dense attribute"))?;
    let mut is_reduced = vec![false; x.extents.len()];
    for index in indices {
        let index = usize::try_from(index).ok();
        match index.and_then(|index| is_reduced.get_mut(index)) {
            Some(is_reduced) => *is_reduced = true,
            None => {
                return Err(invalid(
                    "tf.Mean reduction index must be in [0, input_rank) range",
                ));
            }
        }
    }
    let kept = x
        .extents
        .iter()
        .zip(is_reduced)
        .filter(|(_, is_reduced)| !is_reduced);
    let kept: Vec<usize> = kept.map(|(&extent, _)| extent).collect();
    Ok(TensorMetadata::new(x.dtype, &kept[..]))
}
