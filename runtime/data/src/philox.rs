//! Philox 4×32-10: random numbers from a key and a counter.
//!
//! The generator of TensorFlow's seeds: equal seeds give equal numbers on every machine.

/// A stream of random numbers.
///
/// ```
/// use tfrt_data::Philox;
///
/// let mut numbers = Philox::new(100, 200);
/// assert_eq!((numbers.next_u32(), numbers.next_u32()), (3_747_298_259, 3_724_722_508));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Philox {
    key: [u32; 2],
    counter: [u32; 4],
    /// The numbers of the last block.
    block: [u32; 4],
    /// How many of them have been used.
    num_used: usize,
}

const MULTIPLIERS: [u32; 2] = [0xD251_1F53, 0xCD9E_8D57];
const KEY_INCREMENTS: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];
const NUM_ROUNDS: usize = 10;

impl Philox {
    /// Returns the stream of two seeds.
    #[must_use]
    pub fn new(seed: i64, seed2: i64) -> Self {
        let halves = |seed: i64| [seed as u32, (seed >> 32) as u32];
        let [low, high] = halves(seed2);
        Self {
            key: halves(seed),
            counter: [0, 0, low, high],
            block: [0; 4],
            num_used: 4,
        }
    }

    /// Returns the next number.
    #[inline]
    pub fn next_u32(&mut self) -> u32 {
        if self.num_used == self.block.len() {
            self.next_block();
        }
        let number = self.block[self.num_used];
        self.num_used += 1;
        number
    }

    /// Leaves out the next `count` numbers.
    ///
    /// ```
    /// use tfrt_data::Philox;
    ///
    /// let (mut numbers, mut others) = (Philox::new(1, 2), Philox::new(1, 2));
    /// for _ in 0..7 {
    ///     numbers.next_u32();
    /// }
    /// others.skip(7);
    /// assert_eq!(numbers, others);
    /// ```
    pub fn skip(&mut self, count: u64) {
        let num_in_block = (self.block.len() - self.num_used) as u64;
        if count <= num_in_block {
            self.num_used += count as usize;
            return;
        }
        // Blocks that are left out whole, then one of which some are.
        let count = count - num_in_block;
        let (num_blocks, rest) = ((count - 1) / 4, (count - 1) % 4 + 1);
        let low = u64::from(self.counter[0]) | u64::from(self.counter[1]) << 32;
        let (low, carries) = low.overflowing_add(num_blocks);
        let high = u64::from(self.counter[2]) | u64::from(self.counter[3]) << 32;
        let high = high.wrapping_add(carries.into());
        self.counter = [
            low as u32,
            (low >> 32) as u32,
            high as u32,
            (high >> 32) as u32,
        ];
        self.next_block();
        self.num_used = rest as usize;
    }

    fn next_block(&mut self) {
        let (mut key, mut words) = (self.key, self.counter);
        for _ in 0..NUM_ROUNDS {
            words = round(words, key);
            for (word, increment) in key.iter_mut().zip(KEY_INCREMENTS) {
                *word = word.wrapping_add(increment);
            }
        }
        self.block = words;
        self.num_used = 0;
        for word in &mut self.counter {
            *word = word.wrapping_add(1);
            if *word != 0 {
                break;
            }
        }
    }
}

fn round(words: [u32; 4], key: [u32; 2]) -> [u32; 4] {
    let product = |index: usize, word: u32| u64::from(MULTIPLIERS[index]) * u64::from(word);
    let (first, second) = (product(0, words[0]), product(1, words[2]));
    let high = |product: u64| (product >> 32) as u32;
    [
        high(second) ^ words[1] ^ key[0],
        second as u32,
        high(first) ^ words[3] ^ key[1],
        first as u32,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_counter_carries_over_all_words() {
        let mut numbers = Philox::new(0, -1);
        numbers.counter = [u32::MAX; 4];
        numbers.next_u32();
        assert_eq!(numbers.counter, [0; 4]);
        numbers.next_block();
        assert_eq!(numbers.counter, [1, 0, 0, 0]);
    }

    /// The published test vectors of the algorithm, from its authors' library Random123.
    #[test]
    fn blocks_are_those_of_the_published_vectors() {
        let block = |counter: [u32; 4], key: [u32; 2]| {
            let mut numbers = Philox::new(0, 0);
            (numbers.counter, numbers.key) = (counter, key);
            numbers.next_block();
            numbers.block
        };
        assert_eq!(
            block([0; 4], [0; 2]),
            [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]
        );
        assert_eq!(
            block([u32::MAX; 4], [u32::MAX; 2]),
            [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]
        );
        assert_eq!(
            block(
                [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344],
                [0xa409_3822, 0x299f_31d0]
            ),
            [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1]
        );
    }
}
