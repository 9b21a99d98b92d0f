//! The comparison of a tensor with the expected one, by the rules of the ONNX project's runner.

use std::error::Error;
use std::fmt;

use half::{bf16, f16};
use tfrt_support::DType;
use tfrt_support::TensorMetadata;
use tfrt_tensor::{DenseHostTensor, Element, TensorError};

use crate::session::ModelValue;

/// The tolerance of comparisons: `|found - expected| <= absolute + relative · |expected|`, or a
/// number of units in the last place.
#[derive(Clone, Copy, Debug)]
pub struct Tolerance {
    /// The part of the expected number.
    pub relative: f64,
    /// The distance whatever the expected number.
    pub absolute: f64,
    /// The number of units in the last place.
    pub ulps: u64,
}

/// The difference between a tensor and the expected one.
#[derive(Debug)]
pub enum Difference {
    /// The element type or shape is another one.
    Metadata {
        /// The expected type and shape.
        expected: Box<TensorMetadata>,
        /// Those of the tensor.
        found: Box<TensorMetadata>,
    },
    /// The first element that differs, as text.
    Element {
        /// Its index.
        index: usize,
        /// The expected element.
        expected: String,
        /// The element of the tensor.
        found: String,
    },
    /// Numbers that differ by more than the tolerance.
    Numbers {
        /// How many elements differ.
        num_wrong: usize,
        /// How many elements there are.
        num_elements: usize,
        /// The index of the element that is farthest off.
        worst: usize,
        /// The number that was expected there.
        expected: f64,
        /// The number that is there.
        found: f64,
    },
    /// The elements of one of the tensors cannot be read.
    Unreadable(TensorError),
    /// A list has another length.
    Length {
        /// The expected number of tensors.
        expected: usize,
        /// The number of tensors.
        found: usize,
    },
    /// A tensor of a list.
    Item {
        /// Its index.
        index: usize,
        /// What differs.
        difference: Box<Difference>,
    },
    /// One is a tensor, the other a list, or one of the two is absent.
    Kind,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Metadata { expected, found } => write!(f, "expected {expected}, found {found}"),
            Self::Element {
                index,
                expected,
                found,
            } => write!(f, "element {index}: expected {expected}, found {found}"),
            Self::Numbers {
                num_wrong,
                num_elements,
                worst,
                expected,
                found,
            } => write!(
                f,
                "{num_wrong} of {num_elements} elements are wrong; largest error at element \
                 {worst}: expected {expected:e}, found {found:e}"
            ),
            Self::Unreadable(_) => f.write_str("cannot read the elements"),
            Self::Length { expected, found } => {
                write!(
                    f,
                    "expected a list of length {expected}, found a list of length {found}"
                )
            }
            Self::Item { index, difference } => write!(f, "tensor {index}: {difference}"),
            Self::Kind => {
                f.write_str("expected values of the same kind, but only one is a list or absent")
            }
        }
    }
}

impl Error for Difference {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Unreadable(error) => Some(error),
            Self::Item { difference, .. } => difference.source(),
            Self::Metadata { .. }
            | Self::Element { .. }
            | Self::Numbers { .. }
            | Self::Length { .. }
            | Self::Kind => None,
        }
    }
}

/// Compares a value with the expected one: tensors as [`compare`] does, lists tensor by tensor.
/// Only the types and shapes of random values are compared.
///
/// # Errors
/// What differs.
pub fn compare_values(
    found: &ModelValue,
    expected: &ModelValue,
    tolerance: Tolerance,
    is_random: bool,
) -> Result<(), Difference> {
    match (found, expected) {
        (ModelValue::Tensor(found), ModelValue::Tensor(expected)) if is_random => {
            match found.metadata() == expected.metadata() {
                true => Ok(()),
                false => Err(Difference::Metadata {
                    expected: Box::new(expected.metadata()),
                    found: Box::new(found.metadata()),
                }),
            }
        }
        (ModelValue::Tensor(found), ModelValue::Tensor(expected)) => {
            compare(found, expected, tolerance)
        }
        (ModelValue::List(found), ModelValue::List(expected)) => {
            match (found.tensors(), expected.tensors()) {
                (None, None) => Ok(()),
                (Some(found), Some(expected)) => compare_all(found, expected, tolerance),
                _ => Err(Difference::Kind),
            }
        }
        _ => Err(Difference::Kind),
    }
}

fn compare_all(
    found: &[DenseHostTensor],
    expected: &[DenseHostTensor],
    tolerance: Tolerance,
) -> Result<(), Difference> {
    if found.len() != expected.len() {
        return Err(Difference::Length {
            expected: expected.len(),
            found: found.len(),
        });
    }
    for (index, (found, expected)) in found.iter().zip(expected).enumerate() {
        compare(found, expected, tolerance).map_err(|difference| Difference::Item {
            index,
            difference: Box::new(difference),
        })?;
    }
    Ok(())
}

/// Compares a tensor with the expected one. Element types and shapes must be the same; numbers may
/// differ within a tolerance, NaN equals NaN, and an infinity itself.
///
/// # Errors
/// What differs, with the element that is farthest off.
pub fn compare(
    found: &DenseHostTensor,
    expected: &DenseHostTensor,
    tolerance: Tolerance,
) -> Result<(), Difference> {
    if (found.dtype(), found.shape()) != (expected.dtype(), expected.shape()) {
        return Err(Difference::Metadata {
            expected: Box::new(expected.metadata()),
            found: Box::new(found.metadata()),
        });
    }
    let found_dtype = found.dtype();
    match found_dtype {
        DType::F16 => numbers::<f16>(found, expected, tolerance, f64::from),
        DType::Bf16 => numbers::<bf16>(found, expected, tolerance, f64::from),
        DType::F32 => numbers::<f32>(found, expected, tolerance, f64::from),
        DType::F64 => numbers::<f64>(found, expected, tolerance, |x| x),
        DType::Complex64 | DType::Complex128 => {
            match (complex_parts(found), complex_parts(expected)) {
                (Some(found), Some(expected)) => {
                    let dtype = match found_dtype {
                        DType::Complex64 => DType::F32,
                        _ => DType::F64,
                    };
                    compare_numbers(dtype, &found, &expected, 2, tolerance)
                }
                _ => Err(Difference::Kind),
            }
        }
        _ => {
            let read =
                |tensor: &DenseHostTensor| tensor.elements_text().map_err(Difference::Unreadable);
            let (found, expected) = (read(found)?, read(expected)?);
            if found == expected {
                return Ok(());
            }
            let pairs = found.split(", ").zip(expected.split(", ")).enumerate();
            let differs = |(_, (found, expected)): &(usize, (&str, &str))| found != expected;
            let first = pairs.clone().find(differs);
            match first {
                Some((index, (found, expected))) => Err(Difference::Element {
                    index,
                    expected: expected.to_owned(),
                    found: found.to_owned(),
                }),
                None => Ok(()),
            }
        }
    }
}

fn numbers<T: Element>(
    found: &DenseHostTensor,
    expected: &DenseHostTensor,
    tolerance: Tolerance,
    widen: impl Fn(T) -> f64,
) -> Result<(), Difference> {
    let read = |tensor: &DenseHostTensor| -> Result<Vec<f64>, Difference> {
        let elements = tensor.elements::<T>().map_err(Difference::Unreadable)?;
        Ok(elements.iter().map(|&x| widen(x)).collect())
    };
    compare_numbers(found.dtype(), &read(found)?, &read(expected)?, 1, tolerance)
}

/// Returns the parts of the elements of a tensor of complex numbers: the real and the imaginary
/// part of each.
pub fn complex_parts(tensor: &DenseHostTensor) -> Option<Vec<f64>> {
    let bytes = tensor.buffer().read().ok()?;
    match tensor.dtype() {
        DType::Complex64 => {
            let parts = bytes.as_chunks::<4>().0.iter();
            Some(
                parts
                    .map(|&part| f64::from(f32::from_le_bytes(part)))
                    .collect(),
            )
        }
        DType::Complex128 => {
            let parts = bytes.as_chunks::<8>().0.iter();
            Some(parts.map(|&part| f64::from_le_bytes(part)).collect())
        }
        _ => None,
    }
}

/// Compares numbers that round to a type. Each element has as many numbers as `num_parts`.
fn compare_numbers(
    dtype: DType,
    found: &[f64],
    expected: &[f64],
    num_parts: usize,
    tolerance: Tolerance,
) -> Result<(), Difference> {
    let excess = |(&found, &expected): (&f64, &f64)| {
        if found == expected || (found.is_nan() && expected.is_nan()) {
            return 0.0;
        }
        let both_finite = found.is_finite() && expected.is_finite();
        if both_finite && rank(dtype, found).abs_diff(rank(dtype, expected)) <= tolerance.ulps {
            return 0.0;
        }
        let allowed = tolerance.absolute + tolerance.relative * expected.abs();
        let distance = (found - expected).abs();
        // Infinities and NaN are as far off as can be.
        if distance.is_finite() {
            (distance - allowed).max(0.0)
        } else {
            f64::INFINITY
        }
    };
    let excesses: Vec<f64> = found.iter().zip(expected).map(excess).collect();
    let worst = (0..excesses.len()).max_by(|&a, &b| excesses[a].total_cmp(&excesses[b]));
    match worst.filter(|&at| excesses[at] > 0.0) {
        None => Ok(()),
        Some(worst) => Err(Difference::Numbers {
            num_wrong: excesses
                .chunks(num_parts)
                .filter(|parts| parts.iter().any(|&excess| excess > 0.0))
                .count(),
            num_elements: excesses.len() / num_parts,
            worst: worst / num_parts,
            expected: expected[worst],
            found: found[worst],
        }),
    }
}

/// The position of a number among all numbers of its type, in ascending order.
fn rank(dtype: DType, number: f64) -> i64 {
    let (bits, width) = match dtype {
        DType::F16 => (u64::from(f16::from_f64(number).to_bits()), 16),
        DType::Bf16 => (u64::from(bf16::from_f64(number).to_bits()), 16),
        DType::F32 => (u64::from((number as f32).to_bits()), 32),
        _ => (number.to_bits(), 64),
    };
    let sign = 1_u64 << (width - 1);
    let magnitude = (bits & (sign - 1)) as i64;
    if bits & sign == 0 {
        magnitude
    } else {
        -magnitude
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_may_be_units_in_the_last_place_apart() {
        let compared = |found: f32, ulps: u64| {
            let tolerance = Tolerance {
                relative: 0.0,
                absolute: 0.0,
                ulps,
            };
            let tensor = |number: f32| DenseHostTensor::vector(&[number]).unwrap();
            compare(&tensor(found), &tensor(1.0), tolerance).is_ok()
        };
        let three_up = 1.0_f32.next_up().next_up().next_up();
        assert!(compared(three_up, 3));
        assert!(!compared(three_up, 2));
        assert!(compared(1.0_f32.next_down(), 1));
        assert!(!compared(f32::INFINITY, u64::MAX));
        assert_eq!(rank(DType::F32, -0.0), rank(DType::F32, 0.0));
        assert!(rank(DType::F64, -1.0) < rank(DType::F64, -0.5));
    }

    #[test]
    fn complex_numbers_are_compared_by_their_parts() {
        let tensor = |parts: [f32; 4]| {
            let bytes: Vec<u8> = parts.iter().flat_map(|part| part.to_le_bytes()).collect();
            let allocator: std::sync::Arc<dyn tfrt_host::allocator::HostAllocator> =
                std::sync::Arc::new(tfrt_host::allocator::Malloc);
            let buffer = tfrt_tensor::HostBuffer::copied(&allocator, &bytes).unwrap();
            let shape = tfrt_tensor::Shape::new(&[2]).unwrap();
            DenseHostTensor::from_buffer(DType::Complex64, shape, buffer).unwrap()
        };
        let tolerance = Tolerance {
            relative: 0.0,
            absolute: 0.5,
            ulps: 0,
        };
        let expected = tensor([1.0, 2.0, 3.0, f32::NAN]);
        assert!(compare(&tensor([1.5, 2.0, 3.0, f32::NAN]), &expected, tolerance).is_ok());
        let difference = compare(&tensor([1.0, 2.0, 3.0, 4.0]), &expected, tolerance).unwrap_err();
        let message = difference.to_string();
        assert!(
            message.starts_with("1 of 2 elements are wrong"),
            "{message}"
        );
        assert!(
            message.contains("at element 1: expected NaN, found 4e0"),
            "{message}"
        );
    }

    fn check(found: &[f32], expected: &[f32], message: &str) {
        let tensor = |elements: &[f32]| DenseHostTensor::vector(elements).unwrap();
        let tolerance = Tolerance {
            relative: 1e-3,
            absolute: 1e-7,
            ulps: 0,
        };
        let compared = compare(&tensor(found), &tensor(expected), tolerance);
        let text = compared.map_or_else(|difference| difference.to_string(), |()| String::new());
        assert_eq!(text, message);
    }

    #[test]
    fn numbers_may_differ_within_the_tolerance() {
        check(
            &[1.0005, f32::NAN, f32::INFINITY],
            &[1.0, f32::NAN, f32::INFINITY],
            "",
        );
        check(
            &[1.0, 2.0, 3.0],
            &[1.0, 2.5, 3.1],
            "2 of 3 elements are wrong; largest error at element 1: expected 2.5e0, found 2e0",
        );
        check(
            &[f32::INFINITY],
            &[f32::NEG_INFINITY],
            "1 of 1 elements are wrong; largest error at element 0: expected -inf, found inf",
        );
        check(&[1.0], &[1.0, 2.0], "expected f32 [2], found f32 [1]");
    }
}
