//! Maps with keys that nobody chooses to collide, such as ids, handles and the names of ops.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A map whose keys are ids, handles or names. For some ids of a table, it takes less room than a
/// [`SecondaryMap`], which has a place for each.
///
/// ```
/// use tfrt_support::id_map::IdMap;
///
/// let mut sizes: IdMap<u32, usize> = IdMap::default();
/// sizes.insert(7, 32);
/// assert_eq!(sizes.get(&7), Some(&32));
/// ```
///
/// [`SecondaryMap`]: crate::entity::SecondaryMap
pub type IdMap<K, V> = HashMap<K, V, BuildHasherDefault<IdHasher>>;

/// Hashes ids, lists of ids, names and other numbers, a few instructions for each word. It does not
/// protect from keys that are chosen to collide.
#[derive(Clone, Copy, Debug, Default)]
pub struct IdHasher(u64);

/// 2^64 divided by the golden ratio.
const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;

impl IdHasher {
    #[inline]
    fn mix(&mut self, word: u64) {
        // Only the high bits of the product depend on all bits of the word, so the next product
        // takes them as its low ones.
        self.0 = (self.0.rotate_left(26) ^ word).wrapping_mul(FACTOR);
    }
}

impl Hasher for IdHasher {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.mix(u64::from_le_bytes(*word));
        }
        if rest.is_empty() {
            return;
        }
        // A word that overlaps the one before, so that the length counts, too.
        if let Some(last) = bytes.last_chunk::<8>() {
            return self.mix(u64::from_le_bytes(*last) ^ (bytes.len() as u64) << 56);
        }
        let (half, tail) = match rest.split_first_chunk() {
            Some((half, tail)) => (u32::from_le_bytes(*half), tail),
            None => (0, rest),
        };
        // Three reads cover the last bytes, whether they are one, two or three.
        let tail = match (tail.first(), tail.last()) {
            (Some(first), Some(last)) => {
                let middle = tail[tail.len() / 2];
                u32::from_le_bytes([*first, middle, *last, tail.len() as u8])
            }
            _ => 0,
        };
        self.mix(u64::from(tail) << 32 | u64::from(half));
    }

    #[inline]
    fn write_u8(&mut self, number: u8) {
        self.mix(number.into());
    }

    #[inline]
    fn write_u32(&mut self, id: u32) {
        self.mix(id.into());
    }

    #[inline]
    fn write_u64(&mut self, number: u64) {
        self.mix(number);
    }

    #[inline]
    fn write_usize(&mut self, number: usize) {
        self.mix(number as u64);
    }

    #[inline]
    fn finish(&self) -> u64 {
        // A table takes the position from the low bits, and a mark from the high ones. Both depend
        // on all bits.
        let mixed = (self.0 ^ self.0 >> 32).wrapping_mul(FACTOR);
        mixed ^ mixed >> 32
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::hash::Hash;

    use super::*;

    fn hash(key: impl Hash) -> u64 {
        let mut hasher = IdHasher::default();
        key.hash(&mut hasher);
        hasher.finish()
    }

    /// Says how many of 1,024 keys have different low bits, and different high ones.
    fn num_different(key: impl Fn(u64) -> u64) -> (usize, usize) {
        let hashes: Vec<u64> = (0..1024).map(key).collect();
        let low: HashSet<u64> = hashes.iter().map(|hash| hash & 1023).collect();
        let high: HashSet<u64> = hashes.iter().map(|hash| hash >> 57).collect();
        (low.len(), high.len())
    }

    #[test]
    fn hashes_differ_in_low_and_in_high_bits() {
        // Ids that follow one another, and ids and addresses with many others in between.
        for shift in [0, 4, 8, 12, 16, 22] {
            let of_id = num_different(|id| hash((id as u32) << shift));
            let of_list = num_different(|id| hash([(id as u32) << shift, 7]));
            let of_address = num_different(|address| hash((0x7f00 << 32) + (address << shift)));
            let last_of_list = num_different(|id| hash([7, (id as u32) << shift]));
            for (low, high) in [of_id, of_list, last_of_list, of_address] {
                assert!(low > 400 && high > 100, "{shift}: {low} and {high}");
            }
        }
        let (low, high) = num_different(|number| hash(format!("tf.Op{number}")));
        assert!(low > 400 && high > 100, "{low} and {high}");
    }

    #[test]
    fn lists_and_names_differ_in_each_element() {
        for other in [&[1, 2][..], &[2, 1, 3], &[1, 2, 3, 0], &[1, 2, 4]] {
            assert_ne!(hash(other), hash(&[1, 2, 3][..]));
        }
        for (one, other) in [
            ("aaaaaaaaa", "aaaaaaaaaaaa"),
            ("abcdefghijkl", "abcdefghefghijkl"),
        ] {
            assert_ne!(hash(one), hash(other));
        }
        let name = "tf.SoftmaxCrossEntropy";
        let mut hashes = HashSet::new();
        for len in 0..=name.len() {
            assert!(hashes.insert(hash(&name[..len])), "{len}");
            for at in 0..len {
                let mut other = name[..len].to_owned().into_bytes();
                other[at] ^= 1;
                let other = String::from_utf8(other).expect("it is ASCII");
                assert!(hashes.insert(hash(&*other)), "{other}");
            }
        }
    }
}
