//! Errors in the shapes and lengths passed to a routine.

use std::fmt;

/// The error for shapes, lengths or settings that do not match.
///
/// It is detected before anything is computed: outputs are then unchanged.
///
/// ```
/// use tfrt_compute::matmul::MatmulShape;
///
/// let error = MatmulShape::new(2, 3, 4).check_lengths(8, 12, 5).unwrap_err();
/// assert_eq!(error.to_string(), "matmul: expected 6 elements in `c`, found 5");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct ComputeError(Box<str>);

impl ComputeError {
    #[cold]
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self(message.into().into_boxed_str())
    }

    /// Returns the message, without a full stop.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ComputeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ComputeError({:?})", self.0)
    }
}

impl fmt::Display for ComputeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ComputeError {}

tfrt_support::convert_errors!(ComputeError);

/// Checks that the length of a slice matches its shape.
pub(crate) fn check_len(
    routine: &str,
    name: &str,
    expected: usize,
    found: usize,
) -> Result<(), ComputeError> {
    if expected == found {
        return Ok(());
    }
    Err(ComputeError::new(format!(
        "{routine}: expected {expected} elements in `{name}`, found {found}"
    )))
}

/// Returns the product of extents that [`checked_product`] has passed: if one of them is 0, the
/// others need not be small.
pub(crate) fn product(extents: &[usize]) -> usize {
    if extents.contains(&0) {
        return 0;
    }
    extents.iter().product()
}

/// Returns the product of extents, unless it exceeds the address space.
pub(crate) fn checked_product(routine: &str, extents: &[usize]) -> Result<usize, ComputeError> {
    let product = extents
        .iter()
        .try_fold(1_usize, |product, &extent| product.checked_mul(extent))
        .filter(|&product| product <= isize::MAX as usize / size_of::<u128>());
    match product {
        Some(product) => Ok(product),
        // A zero makes any product small, even if others overflow before it is met.
        None if extents.contains(&0) => Ok(0),
        None => Err(ComputeError::new(format!(
            "{routine}: the shape {extents:?} has too many elements"
        ))),
    }
}
