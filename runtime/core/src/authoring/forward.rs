//! Results that take the memory of an operand: `forward = x`.
//!
//! ```text
//!  operand x, the last reference to its memory,          result y in the memory of x ──► Forwarded::InPlace
//!  of the element type and shape of the result  ──yes──►
//!                                               ──no───► result y allocated          ──► Forwarded::Apart(elements of x)
//! ```

use tfrt_async::{AnyRef, ReadGuard};
use tfrt_host::ExecutionContext;
use tfrt_host::kernel::Preallocated;
use tfrt_support::TensorMetadata;
use tfrt_support::{Error, ErrorCode};
use tfrt_tensor::{DenseHostTensor, Element, Elements};

use super::elements::misfit;

/// The elements of an operand whose memory the result may have taken.
///
/// An op declares this by `forward = x`, and takes `x` as this type. If the operand has no other
/// references, and has the element type and shape of the result, the result *is* the operand: the
/// result overwrites its elements, and nothing is allocated.
///
/// ```
/// use tfrt_core::Forwarded;
///
/// fn double(x: Forwarded<'_, f32>, y: &mut [f32]) {
///     x.map_to(y, |x| 2.0 * x);
/// }
///
/// let mut apart = [0.0; 2];
/// double(Forwarded::Apart(&[1.0, 2.5]), &mut apart);
/// assert_eq!(apart, [2.0, 5.0]);
///
/// let mut in_place = [1.0, 2.5];
/// double(Forwarded::InPlace, &mut in_place);
/// assert_eq!(in_place, [2.0, 5.0]);
/// ```
#[derive(Clone, Copy, Debug)]
pub enum Forwarded<'a, T> {
    /// The elements, which are not those of the result.
    Apart(&'a [T]),
    /// The result has the memory of the operand: it begins with its elements.
    InPlace,
}

impl<'a, T: Copy> Forwarded<'a, T> {
    /// Wraps the elements, if they are separate from the result.
    #[doc(hidden)]
    #[must_use]
    pub fn of(elements: Option<&'a [T]>) -> Self {
        elements.map_or(Self::InPlace, Self::Apart)
    }

    /// Returns `true` if the result has the memory of the operand.
    #[must_use]
    pub fn is_in_place(self) -> bool {
        matches!(self, Self::InPlace)
    }

    /// Sets each element of the result to a function of the element of the operand. The numbers of
    /// elements should be equal; elements without a counterpart are left unchanged.
    #[inline]
    pub fn map_to(self, result: &mut [T], function: impl Fn(T) -> T) {
        match self {
            Self::Apart(elements) => {
                for (result, &element) in result.iter_mut().zip(elements) {
                    *result = function(element);
                }
            }
            Self::InPlace => {
                for result in result {
                    *result = function(*result);
                }
            }
        }
    }

    /// Sets each element of the result to a function of the elements of this operand and another
    /// one. The numbers of elements should be equal; elements without counterparts are left
    /// unchanged.
    #[inline]
    pub fn zip_to(self, other: Forwarded<'_, T>, result: &mut [T], function: impl Fn(T, T) -> T) {
        match (self, other) {
            (Self::Apart(left), Forwarded::Apart(right)) => {
                for ((result, &left), &right) in result.iter_mut().zip(left).zip(right) {
                    *result = function(left, right);
                }
            }
            (Self::InPlace, Forwarded::Apart(right)) => {
                for (result, &right) in result.iter_mut().zip(right) {
                    *result = function(*result, right);
                }
            }
            (Self::Apart(left), Forwarded::InPlace) => {
                for (result, &left) in result.iter_mut().zip(left) {
                    *result = function(left, *result);
                }
            }
            (Self::InPlace, Forwarded::InPlace) => {
                for result in result {
                    *result = function(*result, *result);
                }
            }
        }
    }
}

/// Returns a result with this metadata: in the memory of the first of these operands that fits and
/// has no other references, otherwise newly allocated.
///
/// # Errors
/// If there is no memory for it.
pub fn forwarded_or_allocated(
    ctx: &ExecutionContext,
    metadata: &TensorMetadata,
    operands: &[&AnyRef],
) -> Result<DenseHostTensor, Error> {
    for operand in operands {
        if operand.is_unique_through_links()
            && let Ok(tensor) = operand.try_read::<DenseHostTensor>()
            && tensor.dtype() == metadata.dtype
            && tensor.shape().dims() == &*metadata.extents
            && tensor.is_exclusive()
        {
            return Ok(tensor.clone());
        }
    }
    DenseHostTensor::allocate(ctx, metadata)
}

/// Returns an operand that is taken as a reference, as the dense tensor that it must be.
///
/// # Errors
/// If it is another one, or being written.
pub fn dense_of<'a>(
    op: &str,
    name: &str,
    operand: &'a AnyRef,
) -> Result<ReadGuard<'a, DenseHostTensor>, Error> {
    operand.try_read().map_err(|error| {
        Error::new(format!("`{name}` of `{op}`: {error}")).with_code(ErrorCode::InvalidArgument)
    })
}

/// Returns the elements of an operand, unless the result has its memory.
///
/// # Errors
/// If they are of another type, or somebody writes them.
pub fn forwarded<'a, T: Element>(
    op: &str,
    name: &str,
    operand: &'a DenseHostTensor,
    result: &DenseHostTensor,
) -> Result<Option<Elements<'a, T>>, Error> {
    if operand.buffer().address() == result.buffer().address() {
        return Ok(None);
    }
    let elements = operand.elements();
    elements.map(Some).map_err(|error| misfit(op, name, error))
}
