//! Rounding to numbers of half precision.

/// Rounds a number to single precision so that another rounding to nearest, to fewer bits, gives
/// the nearest number to the original one. If the result is not exact, it is the neighbour whose
/// last bit is set.
///
/// The method is called rounding to odd: Boldo and Melquiond, "Emulation of FMA and correctly
/// rounded sums", 2008. The conversions of the crate `half` from double precision round twice on
/// some processors and ignore the low bits on others.
///
/// ```
/// use tfrt_support::rounding::round_to_odd;
///
/// // Just above the middle of 1 and the next number of half precision.
/// let number = 1.0 + 2.0_f64.powi(-11) + 2.0_f64.powi(-40);
/// assert!(f64::from(round_to_odd(number)) > 1.0 + 2.0_f64.powi(-11));
/// assert_eq!(number as f32, 1.0 + 2.0_f32.powi(-11));
/// assert_eq!(round_to_odd(0.5), 0.5);
/// ```
#[inline]
#[must_use]
pub fn round_to_odd(number: f64) -> f32 {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the nearest number is meant"
    )]
    let near = number as f32;
    if near.is_nan() || number.is_infinite() || f64::from(near) == number {
        return near;
    }
    let is_greater = f64::from(near).abs() > number.abs();
    f32::from_bits((near.to_bits() - u32::from(is_greater)) | 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_result_is_exact_or_the_odd_neighbour() {
        let mut state = 1_u64;
        for _ in 0..100_000 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let number = f64::from_bits(state ^ state >> 29);
            let rounded = round_to_odd(number);
            let (below, above) = (rounded.next_down(), rounded.next_up());
            let is_right = f64::from(rounded) == number
                || number.is_nan() && rounded.is_nan()
                || rounded.to_bits() & 1 == 1
                    && f64::from(below) < number
                    && number < f64::from(above);
            assert!(is_right, "{number:e}: {rounded:e}");
        }
        // The largest number of single precision is odd, and its neighbour is infinite.
        assert_eq!(round_to_odd(f64::MAX), f32::MAX);
        assert_eq!(round_to_odd(f64::NEG_INFINITY), f32::NEG_INFINITY);
        assert_eq!(round_to_odd(-1e-300), -f32::from_bits(1));
    }
}
