//! Statistics of a tensor's elements.

use std::fmt;

use half::{bf16, f16};
use tfrt_support::complex::Complex;

use crate::coo::CooHostTensor;
use crate::dense::DenseHostTensor;
use crate::element::{Element, I1, Quantized};
use crate::error::TensorError;
use crate::scalar::ScalarHostTensor;
use crate::tensor::Tensor;
use crate::with_element;

/// Statistics of a tensor's elements. Complex numbers count by their absolute value.
///
/// ```
/// use std::sync::Arc;
/// use tfrt_host::allocator::{HostAllocator, Malloc};
/// use tfrt_tensor::statistics::Statistics;
/// use tfrt_tensor::{DenseHostTensor, Shape};
///
/// let allocator: Arc<dyn HostAllocator> = Arc::new(Malloc);
/// let tensor = DenseHostTensor::from_elements(&allocator, Shape::new(&[4])?, &[1.0_f32, f32::NAN, 0.0, 2.0])?;
/// let statistics = Statistics::of(&tensor)?.expect("there are numbers");
/// assert_eq!((statistics.min, statistics.max, statistics.mean), (0.0, 2.0, 1.0));
/// assert_eq!((statistics.num_zero, statistics.num_nan), (1, 1));
/// # Ok::<(), tfrt_tensor::TensorError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Statistics {
    /// The smallest number; positive infinity if there is none.
    pub min: f64,
    /// The greatest number; negative infinity if there is none.
    pub max: f64,
    /// The mean of the numbers, calculated with 64 bits; NaN if there is none.
    pub mean: f64,
    /// The number of elements that are zero.
    pub num_zero: usize,
    /// The number of elements that are NaN.
    pub num_nan: usize,
    /// The number of infinite elements.
    pub num_infinite: usize,
}

/// Elements that stand for a real number.
trait Real: Element {
    fn to_real(self) -> f64;
}

macro_rules! impl_real {
    ($($element:ty => |$value:ident| $real:expr;)+) => {$(
        impl Real for $element {
            fn to_real(self) -> f64 {
                let $value = self;
                $real
            }
        }
    )+};
}

impl_real! {
    I1 => |value| f64::from(u8::from(bool::from(value)));
    u8 => |value| f64::from(value);
    u16 => |value| f64::from(value);
    u32 => |value| f64::from(value);
    u64 => |value| value as f64;
    i8 => |value| f64::from(value);
    i16 => |value| f64::from(value);
    i32 => |value| f64::from(value);
    i64 => |value| value as f64;
    f16 => |value| f64::from(value);
    bf16 => |value| f64::from(value);
    f32 => |value| f64::from(value);
    f64 => |value| value;
    Complex<f32> => |value| f64::from(value.re).hypot(f64::from(value.im));
    Complex<f64> => |value| value.re.hypot(value.im);
    Quantized<u8> => |value| f64::from(value.0);
    Quantized<u16> => |value| f64::from(value.0);
    Quantized<i8> => |value| f64::from(value.0);
    Quantized<i16> => |value| f64::from(value.0);
    Quantized<i32> => |value| f64::from(value.0);
}

impl Statistics {
    /// Computes the statistics of a tensor's elements, or of a sparse tensor's entries. Returns
    /// `None` for kinds without numbers.
    ///
    /// # Errors
    /// [`TensorError::Conflict`] if the elements are being written.
    pub fn of(tensor: &dyn Tensor) -> Result<Option<Self>, TensorError> {
        if let Some(dense) = tensor.downcast_ref::<DenseHostTensor>() {
            Self::of_dense(dense).map(Some)
        } else if let Some(sparse) = tensor.downcast_ref::<CooHostTensor>() {
            Self::of_dense(sparse.values()).map(Some)
        } else if let Some(scalar) = tensor.downcast_ref::<ScalarHostTensor>() {
            with_element!(scalar.dtype(), T => Self::of_elements(&[scalar.value::<T>()?])).map(Some)
        } else {
            Ok(None)
        }
    }

    fn of_dense(tensor: &DenseHostTensor) -> Result<Self, TensorError> {
        with_element!(tensor.dtype(), T => Self::of_elements(&tensor.elements::<T>()?))
    }

    fn of_elements<T: Real>(elements: &[T]) -> Self {
        let mut found = Self {
            min: f64::INFINITY,
            max: f64::NEG_INFINITY,
            mean: 0.0,
            num_zero: 0,
            num_nan: 0,
            num_infinite: 0,
        };
        for element in elements {
            let real = element.to_real();
            found.num_zero += usize::from(real == 0.0);
            found.num_infinite += usize::from(real.is_infinite());
            if real.is_nan() {
                found.num_nan += 1;
            } else {
                found.min = found.min.min(real);
                found.max = found.max.max(real);
                found.mean += real;
            }
        }
        found.mean /= (elements.len() - found.num_nan) as f64;
        found
    }
}

impl fmt::Display for Statistics {
    /// `min 0, max 2, mean 1, zero 1`, and the numbers of non-finite elements, if there are any.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            min,
            max,
            mean,
            num_zero,
            ..
        } = self;
        write!(f, "min {min}, max {max}, mean {mean}, zero {num_zero}")?;
        for (count, what) in [(self.num_nan, "nan"), (self.num_infinite, "infinite")] {
            if count != 0 {
                write!(f, ", {what} {count}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::string::StringHostTensor;
    use crate::testing::malloc;
    use crate::{ScalarHostTensor, Shape};

    fn text(elements: &[f32]) -> String {
        let shape = Shape::new(&[elements.len()]).unwrap();
        let tensor = DenseHostTensor::from_elements(&malloc(), shape, elements).unwrap();
        Statistics::of(&tensor).unwrap().unwrap().to_string()
    }

    #[test]
    fn what_is_not_finite_is_counted_apart() {
        assert_eq!(text(&[-1.0, 0.0, 4.0]), "min -1, max 4, mean 1, zero 1");
        assert_eq!(
            text(&[f32::NAN, f32::INFINITY, 1.0]),
            "min 1, max inf, mean inf, zero 0, nan 1, infinite 1"
        );
        assert_eq!(text(&[]), "min inf, max -inf, mean NaN, zero 0");
    }

    #[test]
    fn kinds_of_tensors_are_looked_into() {
        let shape = || Shape::new(&[3]).unwrap();
        let scalar = ScalarHostTensor::new(shape(), Complex::new(3.0_f32, 4.0));
        let max = Statistics::of(&scalar).unwrap().unwrap().max;
        assert!((max - 5.0).abs() < 1e-12, "{max}");
        let strings = StringHostTensor::empty_strings(shape()).unwrap();
        assert_eq!(Statistics::of(&strings).unwrap(), None);
    }
}
