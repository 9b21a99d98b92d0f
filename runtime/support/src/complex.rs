//! Complex numbers, as elements and constants.

/// A complex number in rectangular form.
///
/// ```
/// use tfrt_support::complex::Complex;
///
/// let i = Complex::new(0.0_f32, 1.0);
/// assert_eq!(i, Complex { re: 0.0, im: 1.0 });
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(C)]
pub struct Complex<T> {
    /// The real part.
    pub re: T,
    /// The imaginary part.
    pub im: T,
}

impl<T> Complex<T> {
    /// Returns the number `re + im·i`.
    #[must_use]
    pub const fn new(re: T, im: T) -> Self {
        Self { re, im }
    }
}
