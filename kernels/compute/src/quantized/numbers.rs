//! Numbers that bytes represent: conversions, and sums.
//!
//! A byte `q` represents `(q - zero point) · scale`. Each operation is rounded to single precision,
//! as if it were computed alone.

use crate::error::{ComputeError, check_len};
use crate::lanes::vectorised;

/// How bytes represent numbers.
///
/// ```
/// use tfrt_compute::quantized::ByteScale;
///
/// let signed = ByteScale::new(0.5, -3, true);
/// let mut numbers = [0.0; 2];
/// signed.dequantize(&[-3_i8 as u8, 1], &mut numbers)?;
/// assert_eq!(numbers, [0.0, 2.0]);
/// let mut bytes = [0; 3];
/// signed.quantize(&[0.75, -1.0, 1e9], [-128.0, 127.0], &mut bytes)?;
/// assert_eq!(bytes.map(|byte| byte as i8), [-1, -5, 127]);
/// # Ok::<(), tfrt_compute::ComputeError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ByteScale {
    scale: f32,
    zero: f32,
    /// The bit that is inverted to make bytes unsigned.
    sign: u8,
}

/// 1.5 · 2²³: from 2²³ to 2²⁴ neighbours differ by one, so the bits of a sum with this number count
/// up or down from its bits, whose last 16 are zero.
pub(super) const WHOLE_NUMBERS: f32 = 12_582_912.0;

impl ByteScale {
    /// Creates the representation with this scale and zero point, by signed or unsigned bytes.
    #[must_use]
    pub fn new(scale: f32, zero: i32, is_signed: bool) -> Self {
        Self {
            scale,
            zero: zero as f32,
            sign: if is_signed { 128 } else { 0 },
        }
    }

    /// Returns the number that a byte represents.
    #[inline(always)]
    fn number(&self, byte: u8) -> f32 {
        // Inverting the highest bit of a signed byte adds 128.
        let unsigned = f32::from(byte ^ self.sign);
        (unsigned - (self.zero + f32::from(self.sign))) * self.scale
    }

    /// Returns the byte that represents a number best, within bounds, which are whole numbers.
    #[inline(always)]
    fn byte(&self, number: f32, [least, greatest]: [f32; 2]) -> u8 {
        let rounded = (number / self.scale).round_ties_even() + self.zero;
        // A NaN fails the comparison, and becomes the least number.
        let raised = if rounded > least { rounded } else { least };
        let limited = if raised > greatest { greatest } else { raised };
        // The last bits of the sum are those of the whole number. A conversion `as i32` would keep
        // the compiler from using vectors: loops take six times as long with it.
        (limited + WHOLE_NUMBERS).to_bits() as u8
    }

    /// Returns the numbers that bytes represent.
    ///
    /// # Errors
    /// If the slices differ in length.
    pub fn dequantize(&self, bytes: &[u8], numbers: &mut [f32]) -> Result<(), ComputeError> {
        check_len("dequantize", "output", bytes.len(), numbers.len())?;
        let scale = *self;
        vectorised(
            #[inline(always)]
            || {
                for (number, &byte) in numbers.iter_mut().zip(bytes) {
                    *number = scale.number(byte);
                }
            },
        );
        Ok(())
    }

    /// Returns the bytes that represent numbers best, within bounds: `number / scale`, rounded to
    /// the nearest whole number, halves to even ones, plus the zero point. The bounds are whole
    /// numbers of 16 bits. A NaN becomes the least one.
    ///
    /// # Errors
    /// If the slices differ in length.
    pub fn quantize(
        &self,
        numbers: &[f32],
        bounds: [f32; 2],
        bytes: &mut [u8],
    ) -> Result<(), ComputeError> {
        check_len("quantize", "output", numbers.len(), bytes.len())?;
        let scale = *self;
        vectorised(
            #[inline(always)]
            || {
                for (byte, &number) in bytes.iter_mut().zip(numbers) {
                    *byte = scale.byte(number, bounds);
                }
            },
        );
        Ok(())
    }
}

/// Adds the numbers that bytes represent, and returns the bytes that represent the sums best,
/// within bounds, which are whole numbers of 16 bits.
///
/// ```
/// use tfrt_compute::quantized::{ByteScale, add_bytes};
///
/// let [a, b, sum] = [0.5, 0.25, 1.0].map(|scale| ByteScale::new(scale, 0, false));
/// let mut bytes = [0; 2];
/// add_bytes((a, &[4, 200]), (b, &[8, 255]), sum, [0.0, 100.0], &mut bytes)?;
/// assert_eq!(bytes, [4, 100]);
/// # Ok::<(), tfrt_compute::ComputeError>(())
/// ```
///
/// # Errors
/// If the slices differ in length.
pub fn add_bytes(
    (a_scale, a): (ByteScale, &[u8]),
    (b_scale, b): (ByteScale, &[u8]),
    sum: ByteScale,
    bounds: [f32; 2],
    output: &mut [u8],
) -> Result<(), ComputeError> {
    check_len("add", "second operand", a.len(), b.len())?;
    check_len("add", "output", a.len(), output.len())?;
    vectorised(
        #[inline(always)]
        || {
            for (byte, (&a, &b)) in output.iter_mut().zip(a.iter().zip(b)) {
                *byte = sum.byte(a_scale.number(a) + b_scale.number(b), bounds);
            }
        },
    );
    Ok(())
}
