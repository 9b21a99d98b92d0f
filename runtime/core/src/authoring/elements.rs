//! Elements of dense tensors as parameters of ops, and ops for several element types.
//!
//! The element type of a tensor is known when the op is called. The macro generates the dispatch:
//! one call of the author's function for each element type that the op supports, with the elements
//! borrowed as that type.

use std::any::Any;

use tfrt_support::{DType, Error, ErrorCode};
use tfrt_tensor::{
    DenseHostTensor, Elements, ElementsMut, ResourceTensor, ShapeError, TensorError, TensorView,
    TensorViewMut,
};

pub use tfrt_tensor::Element;

/// Returns the type of the elements of an operand.
#[inline]
#[must_use]
pub fn dtype_of(tensor: &DenseHostTensor) -> DType {
    tensor.dtype()
}

/// Returns the elements of an operand.
///
/// # Errors
/// If they are of another type, or somebody writes them.
#[inline]
pub fn elements<'a, T: Element>(
    op: &str,
    name: &str,
    tensor: &'a DenseHostTensor,
) -> Result<Elements<'a, T>, Error> {
    tensor.elements().map_err(|error| misfit(op, name, error))
}

/// Returns the object that a resource is.
///
/// # Errors
/// If it is of another type.
#[inline]
pub fn resource<'a, T: Any>(
    op: &str,
    name: &str,
    tensor: &'a ResourceTensor,
) -> Result<&'a T, Error> {
    tensor.get().map_err(|error| {
        let message = match op {
            "" => format!("`{name}`: {}", error.message()),
            op => format!("`{name}` of `{op}`: {}", error.message()),
        };
        invalid(message)
    })
}

/// Returns the elements of a result.
///
/// # Errors
/// If they are of another type.
#[inline]
pub fn elements_mut<'a, T: Element>(
    op: &str,
    name: &str,
    tensor: &'a mut DenseHostTensor,
) -> Result<ElementsMut<'a, T>, Error> {
    tensor
        .elements_mut()
        .map_err(|error| misfit(op, name, error))
}

/// Returns the elements of an operand, by coordinates.
///
/// # Errors
/// If they are of another type, the rank is another, or somebody writes them.
#[inline]
pub fn view<'a, T: Element, const RANK: usize>(
    op: &str,
    name: &str,
    tensor: &'a DenseHostTensor,
) -> Result<TensorView<'a, T, RANK>, Error> {
    tensor.view().map_err(|error| misfit(op, name, error))
}

/// Returns the elements of a result, by coordinates.
///
/// # Errors
/// If they are of another type, or the rank is another.
#[inline]
pub fn view_mut<'a, T: Element, const RANK: usize>(
    op: &str,
    name: &str,
    tensor: &'a mut DenseHostTensor,
) -> Result<TensorViewMut<'a, T, RANK>, Error> {
    tensor.view_mut().map_err(|error| misfit(op, name, error))
}

#[cold]
pub(super) fn misfit(op: &str, name: &str, error: TensorError) -> Error {
    let message = match error {
        TensorError::Shape(ShapeError::WrongRank { expected, found }) => {
            format!("expected a tensor of rank {expected}, found rank {found}")
        }
        error => error.to_string(),
    };
    // An op that is one of several under a template of names: the error value has its name.
    if op.is_empty() {
        return invalid(format!("`{name}`: {message}"));
    }
    invalid(format!("`{name}` of `{op}`: {message}"))
}

/// Returns the error of an op that is not for an element type.
#[cold]
#[must_use]
pub fn unsupported(op: &str, found: DType, supported: &[DType]) -> Error {
    let supported: Vec<String> = supported.iter().map(ToString::to_string).collect();
    let supported = supported.join(", ");
    invalid(format!(
        "`{op}` does not support {found}; supported: {supported}"
    ))
}

/// Returns the same error, with the author's message.
#[cold]
#[must_use]
pub fn unsupported_because(message: &str, found: DType) -> Error {
    invalid(message.replace("{dtype}", &found.to_string()))
}

#[cold]
fn invalid(message: String) -> Error {
    Error::new(message).with_code(ErrorCode::InvalidArgument)
}
