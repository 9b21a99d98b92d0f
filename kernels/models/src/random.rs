//! Random numbers that are the same everywhere.
//!
//! SplitMix64 scrambles a counter. All numbers are computed with integer arithmetic and
//! floating-point operations that IEEE 754 rounds in one way, so data and weights drawn from a seed
//! have the same bits on every machine.

/// The increment of the counter: the golden ratio as a fraction of 2⁶⁴, made odd.
const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// A source of random numbers.
///
/// ```
/// use tfrt_models::random::Random;
///
/// let mut random = Random::new(1, 0);
/// assert_eq!(random.next_u64(), 0x6EC8_5F1F_8547_BC0C);
/// assert!((-2.0..2.0).contains(&random.between(-2.0, 2.0)));
/// // Another stream of the same seed is another sequence.
/// assert_ne!(Random::new(1, 1).next_u64(), Random::new(1, 0).next_u64());
/// ```
#[derive(Clone, Debug)]
pub struct Random {
    counter: u64,
}

impl Random {
    /// Creates the sequence of a seed. Each `stream` is a separate sequence, so work that is
    /// divided among threads draws the same numbers for every division.
    #[must_use]
    pub fn new(seed: u64, stream: u64) -> Self {
        Self {
            counter: scramble(scramble(seed.wrapping_add(GOLDEN)) ^ stream.wrapping_mul(GOLDEN)),
        }
    }

    /// Returns a number of 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        self.counter = self.counter.wrapping_add(GOLDEN);
        scramble(self.counter)
    }

    /// Returns a number from 0 up to but excluding 1, in steps of 2⁻²⁴.
    pub fn unit(&mut self) -> f32 {
        const STEP: f32 = 1.0 / (1_u32 << 24) as f32;
        (self.next_u64() >> 40) as f32 * STEP
    }

    /// Returns a uniformly distributed number from `low` up to `high`.
    pub fn between(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * self.unit()
    }

    /// Returns a number from -1 to 1 with a triangular distribution around zero: the difference of
    /// two uniformly distributed numbers.
    pub fn around_zero(&mut self) -> f32 {
        self.unit() - self.unit()
    }

    /// Returns an integer below `limit`.
    ///
    /// # Panics
    /// If `limit` is zero.
    pub fn below(&mut self, limit: u32) -> u32 {
        assert!(limit > 0, "no number is below zero");
        // The upper half of the product of a random fraction of 2³² and the limit.
        (((self.next_u64() >> 32) * u64::from(limit)) >> 32) as u32
    }
}

/// Returns the finalizer of SplitMix64: a permutation of the numbers of 64 bits in which every bit
/// depends on every other.
fn scramble(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_fill_their_range_evenly() {
        let mut random = Random::new(3, 4);
        let mut counts = [0; 10];
        for _ in 0..10_000 {
            counts[random.below(10) as usize] += 1;
        }
        assert!(
            counts.iter().all(|count| (850..1150).contains(count)),
            "{counts:?}"
        );
        let mean = (0..10_000).map(|_| random.between(2.0, 4.0)).sum::<f32>() / 10_000.0;
        assert!((mean - 3.0).abs() < 0.05, "{mean}");
    }

    #[test]
    fn numbers_around_zero_are_mostly_near() {
        let mut random = Random::new(5, 6);
        let near = (0..10_000)
            .filter(|_| random.around_zero().abs() < 0.5)
            .count();
        assert!(
            (7_200..7_800).contains(&near),
            "{near}, and three quarters are expected"
        );
    }
}
