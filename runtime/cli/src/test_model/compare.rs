//! Whether a tensor is what was expected, as the runner of the ONNX project decides it.

use half::{bf16, f16};
use tfrt_support::DType;
use tfrt_tensor::{DenseHostTensor, Element};

/// How far numbers may be apart: `|found - expected| <= absolute + relative · |expected|`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tolerance {
    pub(super) relative: f64,
    pub(super) absolute: f64,
}

/// Compares a tensor with what was expected. Element types and shapes must be the same; numbers may differ within a tolerance, NaN equals NaN, and
/// an infinity itself.
///
/// # Errors
/// What differs, with the element that is farthest off.
pub(super) fn compare(
    found: &DenseHostTensor,
    expected: &DenseHostTensor,
    tolerance: Tolerance,
) -> Result<(), String> {
    if (found.dtype(), found.shape()) != (expected.dtype(), expected.shape()) {
        return Err(format!(
            "expected {}, got {}",
            expected.metadata(),
            found.metadata()
        ));
    }
    match found.dtype() {
        DType::F16 => numbers::<f16>(found, expected, tolerance, f64::from),
        DType::Bf16 => numbers::<bf16>(found, expected, tolerance, f64::from),
        DType::F32 => numbers::<f32>(found, expected, tolerance, f64::from),
        DType::F64 => numbers::<f64>(found, expected, tolerance, |x| x),
        _ => {
            let read = |tensor: &DenseHostTensor| tensor.elements_text().map_err(|e| e.to_string());
            let (found, expected) = (read(found)?, read(expected)?);
            if found == expected {
                return Ok(());
            }
            let pairs = found.split(", ").zip(expected.split(", ")).enumerate();
            let differs = |(_, (found, expected)): &(usize, (&str, &str))| found != expected;
            let first = pairs.clone().find(differs);
            match first {
                Some((at, (found, expected))) => {
                    Err(format!("element {at}: got {found}, expected {expected}"))
                }
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
) -> Result<(), String> {
    let read = |tensor: &DenseHostTensor| -> Result<Vec<f64>, String> {
        let elements = tensor.elements::<T>().map_err(|error| error.to_string())?;
        Ok(elements.iter().map(|&x| widen(x)).collect())
    };
    let (found, expected) = (read(found)?, read(expected)?);
    let excess = |(&found, &expected): (&f64, &f64)| {
        if found == expected || (found.is_nan() && expected.is_nan()) {
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
    let excesses: Vec<f64> = found.iter().zip(&expected).map(excess).collect();
    let worst = (0..excesses.len()).max_by(|&a, &b| excesses[a].total_cmp(&excesses[b]));
    match worst.filter(|&at| excesses[at] > 0.0) {
        None => Ok(()),
        Some(at) => {
            let count = excesses.iter().filter(|&&excess| excess > 0.0).count();
            Err(format!(
                "{count} of {} elements are wrong; the worst, element {at}: got {:e}, expected {:e}",
                excesses.len(),
                found[at],
                expected[at]
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(found: &[f32], expected: &[f32], message: &str) {
        let tensor = |elements: &[f32]| DenseHostTensor::vector(elements).unwrap();
        let tolerance = Tolerance {
            relative: 1e-3,
            absolute: 1e-7,
        };
        let compared = compare(&tensor(found), &tensor(expected), tolerance);
        assert_eq!(compared.err().unwrap_or_default(), message);
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
            "2 of 3 elements are wrong; the worst, element 1: got 2e0, expected 2.5e0",
        );
        check(
            &[f32::INFINITY],
            &[f32::NEG_INFINITY],
            "1 of 1 elements are wrong; the worst, element 0: got inf, expected -inf",
        );
        check(&[1.0], &[1.0, 2.0], "expected f32 [2], got f32 [1]");
    }
}
