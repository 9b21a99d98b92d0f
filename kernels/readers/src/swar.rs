//! Eight bytes at once, as a number: what vector instructions do, where safe code has none.

/// Returns eight times the same byte.
#[inline]
pub(crate) const fn repeated(byte: u8) -> u64 {
    u64::from_ne_bytes([byte; 8])
}

/// Returns a word with the highest bit of each byte in which two words are equal.
#[inline]
pub(crate) fn equal_bytes(one: u64, other: u64) -> u64 {
    const LOW: u64 = repeated(0x7f);
    let differing = one ^ other;
    // The addition sets the high bit unless the low ones are zero. No carry leaves its byte.
    !(((differing & LOW) + LOW) | differing | LOW)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_bytes_are_found_beside_any_others() {
        for byte in 0..=u8::MAX {
            for other in [0, 1, 0x7f, 0x80, 0xff, byte ^ 1, byte ^ 0x80] {
                let word = u64::from_le_bytes([byte, other, byte, other, other, byte, 0, byte]);
                let found = equal_bytes(word, repeated(byte)).to_le_bytes();
                let expected = word.to_le_bytes().map(|found| u8::from(found == byte) << 7);
                assert_eq!(found, expected, "{byte} {other}");
            }
        }
    }
}
