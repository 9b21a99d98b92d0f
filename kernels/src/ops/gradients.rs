//! Gradients and losses: the ops of training that the forward pass does not need.

use tfrt::core::metadata::{partial, same_as_both};
use tfrt::prelude::*;
use tfrt_compute::reduction::Reduction;
use tfrt_compute::{softmax, unary};
use tfrt_tensor::DenseHostTensor;

use super::reductions::reduce;
use super::{
    allocate, invalid, map_elements, mismatched, numbers_of, unsupported_dtype, with_dtype,
    with_number,
};

/// Computes the gradient of `tf.Relu`: `gradients`, but 0 where `features` is not positive.
///
/// # Errors
/// If the tensors differ in shape or type.
#[tfrt_op("tf.ReluGrad", metadata = same_as_both, partial = partial::same_as_both, function = relu_grad)]
pub fn compute_relu_grad(
    gradients: &AnyRef,
    features: &DenseHostTensor,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    let tensor = gradients
        .try_read::<DenseHostTensor>()
        .map_err(mismatched)?;
    same_as_both(&tensor.metadata(), &features.metadata())?;
    with_number!(
        tensor.dtype(),
        T => {
            let features = features.elements::<T>()?;
            map_elements::<T>(
                (gradients, &*tensor),
                ctx,
                |from, to| {
                    to.copy_from_slice(from);
                    unary::relu_gradient_in_place(&features, to);
                },
                |to| unary::relu_gradient_in_place(&features, to),
            )
        },
        else Err(unsupported_dtype("tf.ReluGrad", tensor.dtype()))
    )
}

/// Computes the gradient of the bias of `tf.BiasAdd`: the sums over all dimensions except the last.
///
/// # Errors
/// If the tensor is a scalar.
#[tfrt_op("tf.BiasAddGrad", metadata = bias_gradient_metadata, function = bias_add_grad)]
pub fn compute_bias_add_grad(
    gradients: &DenseHostTensor,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    bias_gradient_metadata(&gradients.metadata())?;
    let axes: Vec<isize> = (0..gradients.shape().rank() - 1)
        .map(|axis| axis as isize)
        .collect();
    let unsupported = format!("`tf.BiasAddGrad` does not support {}", gradients.dtype());
    reduce(Reduction::Sum, gradients, &axes, false, &unsupported, ctx)
}

fn bias_gradient_metadata(gradients: &TensorMetadata) -> Result<TensorMetadata> {
    match gradients.extents.last() {
        Some(&channels) => Ok(TensorMetadata::new(gradients.dtype, [channels])),
        None => Err(invalid(format!(
            "`tf.BiasAddGrad`: expected rows of gradients, found {gradients}"
        ))),
    }
}

/// Computes the cross entropy of `softmax(features)` and the label of each row, which is a column
/// index of type i32 or i64; and its gradient with respect to the features.
///
/// # Errors
/// If there is not one label for each row, or a label is not a column index.
#[tfrt_op(
    "tf.SparseSoftmaxCrossEntropyWithLogits",
    metadata = entropy_metadata,
    function = sparse_softmax_cross_entropy,
)]
pub fn compute_sparse_softmax_cross_entropy(
    features: &DenseHostTensor,
    labels: &DenseHostTensor,
    ctx: &ExecutionContext,
) -> Result<(DenseHostTensor, DenseHostTensor)> {
    const OP: &str = "tf.SparseSoftmaxCrossEntropyWithLogits";
    entropy_metadata(&features.metadata(), &labels.metadata())?;
    let columns = features.shape().dims()[1];
    let numbers = numbers_of(OP, "labels", labels)?;
    let is_column = |&number: &i64| usize::try_from(number).is_ok_and(|number| number < columns);
    if let Some(position) = numbers.iter().position(|number| !is_column(number)) {
        return Err(invalid(format!(
            "`{OP}`: expected labels below {columns}, found {} at index {position}",
            numbers[position]
        )));
    }
    let mut loss = allocate(features.dtype(), labels.shape().clone(), ctx)?;
    let mut gradient = allocate(features.dtype(), features.shape().clone(), ctx)?;
    with_dtype!(
        features.dtype(),
        T in [f32, f64] => {
            let mut rows = vec![T::from(0_i8); features.num_elements()];
            tfrt_compute::assemble::one_hot(columns, &numbers, T::from(1_i8), T::from(0_i8), &mut rows)?;
            softmax::softmax_cross_entropy(
                columns,
                &features.elements::<T>()?,
                &rows,
                &mut loss.elements_mut::<T>()?,
                &mut gradient.elements_mut::<T>()?,
            )?;
            Ok((loss, gradient))
        },
        else Err(unsupported_dtype(OP, features.dtype()))
    )
}

fn entropy_metadata(
    features: &TensorMetadata,
    labels: &TensorMetadata,
) -> Result<(TensorMetadata, TensorMetadata)> {
    match (&features.extents[..], &labels.extents[..]) {
        (&[rows, _], &[len]) if len == rows => Ok((
            TensorMetadata::new(features.dtype, [rows]),
            features.clone(),
        )),
        _ => Err(invalid(format!(
            "`tf.SparseSoftmaxCrossEntropyWithLogits`: expected a matrix and one label for each \
             row, found {features} and {labels}"
        ))),
    }
}
