//! Constants.

use tfrt::prelude::*;
use tfrt_tensor::DenseHostTensor;

/// Sets a tensor to constant elements.
///
/// # Errors
/// If the tensor has another type or shape.
#[tfrt_kernel("tf_sync.Const", sync, attribute_names = free)]
fn constant(out: &mut DenseHostTensor, #[attr] value: DenseView<'_>) -> Result<()> {
    let dims = out.shape().dims();
    let is_same_shape = dims.len() == value.dims().len()
        && dims
            .iter()
            .zip(value.dims())
            .all(|(&found, &expected)| i64::try_from(found) == Ok(expected));
    if out.dtype() != value.dtype() || !is_same_shape {
        return Err(Error::new(format!(
            "tf_sync.Const: a value of type {} and shape {:?} cannot be stored in a tensor of \
             type {} and shape {}",
            value.dtype(),
            value.dims(),
            out.dtype(),
            out.shape()
        ))
        .with_code(ErrorCode::InvalidArgument));
    }
    out.buffer_mut().write()?.copy_from_slice(value.data());
    Ok(())
}
