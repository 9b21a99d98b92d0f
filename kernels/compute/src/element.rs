//! Element types with arithmetic.

use half::{bf16, f16};
use tfrt_support::complex::Complex;

/// An element type with arithmetic: integers wrap around, half-precision numbers compute in single
/// precision and round each result.
pub trait Arithmetic: Copy + Default + PartialEq + Send + Sync + 'static {
    /// The neutral element of multiplication.
    const ONE: Self;

    /// Returns the sum.
    #[must_use]
    fn plus(self, other: Self) -> Self;
    /// Returns the difference.
    #[must_use]
    fn minus(self, other: Self) -> Self;
    /// Returns the product.
    #[must_use]
    fn times(self, other: Self) -> Self;
    /// Returns the quotient. Integers round towards zero; division by the integer zero yields zero,
    /// and the least integer divided by -1 wraps around to itself.
    #[must_use]
    fn over(self, other: Self) -> Self;
}

/// An element type that counts convert to, for means.
pub trait FromCount: Arithmetic {
    /// Returns the nearest value to a count; integers keep its low bits.
    #[must_use]
    fn from_count(count: usize) -> Self;
}

/// An element type that is ordered, if only partially: everything but complex numbers.
pub trait Ordered: FromCount + PartialOrd {
    /// The least value: `-∞` for floating-point numbers.
    const LOWEST: Self;
    /// The greatest value: `∞` for floating-point numbers.
    const HIGHEST: Self;
}

macro_rules! integers {
    ($($T:ty)*) => {$(
        impl Arithmetic for $T {
            const ONE: Self = 1;

            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            #[inline(always)]
            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
            #[inline(always)]
            fn times(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
            #[inline(always)]
            fn over(self, other: Self) -> Self {
                if other == 0 { 0 } else { self.wrapping_div(other) }
            }
        }
        impl FromCount for $T {
            #[inline(always)]
            fn from_count(count: usize) -> Self {
                count as Self
            }
        }
        impl Ordered for $T {
            const LOWEST: Self = Self::MIN;
            const HIGHEST: Self = Self::MAX;
        }
    )*};
}
integers!(u8 u16 u32 u64 i8 i16 i32 i64);

macro_rules! floats {
    ($($T:ty)*) => {$(
        impl Arithmetic for $T {
            const ONE: Self = 1.0;

            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self + other
            }
            #[inline(always)]
            fn minus(self, other: Self) -> Self {
                self - other
            }
            #[inline(always)]
            fn times(self, other: Self) -> Self {
                self * other
            }
            #[inline(always)]
            fn over(self, other: Self) -> Self {
                self / other
            }
        }
        impl FromCount for $T {
            #[inline(always)]
            fn from_count(count: usize) -> Self {
                count as Self
            }
        }
        impl Ordered for $T {
            const LOWEST: Self = Self::NEG_INFINITY;
            const HIGHEST: Self = Self::INFINITY;
        }
    )*};
}
floats!(f32 f64);

macro_rules! halves {
    ($($T:ident)*) => {$(
        impl Arithmetic for $T {
            const ONE: Self = Self::ONE;

            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                Self::from_f32(self.to_f32() + other.to_f32())
            }
            #[inline(always)]
            fn minus(self, other: Self) -> Self {
                Self::from_f32(self.to_f32() - other.to_f32())
            }
            #[inline(always)]
            fn times(self, other: Self) -> Self {
                Self::from_f32(self.to_f32() * other.to_f32())
            }
            #[inline(always)]
            fn over(self, other: Self) -> Self {
                Self::from_f32(self.to_f32() / other.to_f32())
            }
        }
        impl FromCount for $T {
            #[inline(always)]
            fn from_count(count: usize) -> Self {
                Self::from_f64(count as f64)
            }
        }
        impl Ordered for $T {
            const LOWEST: Self = Self::NEG_INFINITY;
            const HIGHEST: Self = Self::INFINITY;
        }
    )*};
}
halves!(f16 bf16);

macro_rules! complex {
    ($($T:ty)*) => {$(
        impl Arithmetic for Complex<$T> {
            const ONE: Self = Self::new(1.0, 0.0);

            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                Self::new(self.re + other.re, self.im + other.im)
            }
            #[inline(always)]
            fn minus(self, other: Self) -> Self {
                Self::new(self.re - other.re, self.im - other.im)
            }
            #[inline(always)]
            fn times(self, other: Self) -> Self {
                Self::new(self.re * other.re - self.im * other.im, self.re * other.im + self.im * other.re)
            }
            /// Scaled by the larger part of the divisor, so that no square overflows.
            #[inline(always)]
            fn over(self, other: Self) -> Self {
                if other.re.abs() >= other.im.abs() {
                    let ratio = other.im / other.re;
                    let divisor = other.re + other.im * ratio;
                    Self::new((self.re + self.im * ratio) / divisor, (self.im - self.re * ratio) / divisor)
                } else {
                    let ratio = other.re / other.im;
                    let divisor = other.im + other.re * ratio;
                    Self::new((self.re * ratio + self.im) / divisor, (self.im * ratio - self.re) / divisor)
                }
            }
        }
    )*};
}
complex!(f32 f64);
