//! Integers of variable length: seven bits a byte, most significant group first, bit 7 set on every
//! byte but the last.

use crate::error::{AttrError, AttrProblem};

const GROUP_BITS: u32 = 7;
const MORE: u8 = 1 << GROUP_BITS;

/// Appends `value` in its shortest form.
///
/// ```
/// let mut bytes = Vec::new();
/// tfrt_attr::vbr::write(&mut bytes, 729);
/// assert_eq!(bytes, [0x85, 0x59]);
/// ```
pub fn write(bytes: &mut Vec<u8>, value: u64) {
    for group in (1..len_bytes(value)).rev() {
        bytes.push((value >> (group as u32 * GROUP_BITS)) as u8 | MORE);
    }
    bytes.push(value as u8 & !MORE);
}

/// Returns the number of bytes of the shortest form of `value`.
#[must_use]
pub fn len_bytes(value: u64) -> usize {
    (u64::BITS - value.leading_zeros())
        .div_ceil(GROUP_BITS)
        .max(1) as usize
}

/// The reasons why an integer could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VbrError {
    /// The bytes end inside the integer.
    Truncated,
    /// The integer needs more than 64 bits.
    TooLarge,
}

/// Reads the integer at the start of `bytes`, and returns its value and its number of bytes.
/// Leading zero groups are accepted.
///
/// # Errors
/// If the bytes end inside the integer, or it does not fit in 64 bits.
///
/// ```
/// assert_eq!(tfrt_attr::vbr::read(&[0x85, 0x59, 0xcc]), Ok((729, 2)));
/// ```
#[inline]
pub fn read(bytes: &[u8]) -> Result<(u64, usize), VbrError> {
    let mut value = 0_u64;
    for (index, &byte) in bytes.iter().enumerate() {
        if value >> (u64::BITS - GROUP_BITS) != 0 {
            return Err(VbrError::TooLarge);
        }
        value = value << GROUP_BITS | u64::from(byte & !MORE);
        if byte & MORE == 0 {
            return Ok((value, index + 1));
        }
    }
    Err(VbrError::Truncated)
}

/// Reads the integer at `*offset` of `section` and moves `offset` past it.
pub(crate) fn read_at(section: &[u8], offset: &mut usize) -> Result<u64, AttrError> {
    let rest = section.get(*offset..).unwrap_or_default();
    let problem = match read(rest) {
        Ok((value, len)) => {
            *offset += len;
            return Ok(value);
        }
        Err(VbrError::Truncated) => AttrProblem::Truncated {
            expected: rest.len() as u64 + 1,
            found: rest.len(),
        },
        Err(VbrError::TooLarge) => AttrProblem::IntegerTooLarge,
    };
    Err(AttrError::new(*offset, problem))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shortest_forms_are_those_of_the_format() {
        for (value, expected) in [
            (0, &[0x00][..]),
            (127, &[0x7f]),
            (128, &[0x81, 0x00]),
            (168, &[0x81, 0x28]),
            (729, &[0x85, 0x59]),
            (16383, &[0xff, 0x7f]),
            (16384, &[0x81, 0x80, 0x00]),
            (0xffff_ffff, &[0x8f, 0xff, 0xff, 0xff, 0x7f]),
            (
                u64::MAX,
                &[0x81, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f],
            ),
        ] {
            let mut bytes = Vec::new();
            write(&mut bytes, value);
            assert_eq!(bytes, expected);
            assert_eq!(len_bytes(value), expected.len());
            assert_eq!(read(&bytes), Ok((value, bytes.len())));
        }
    }

    #[test]
    fn longer_forms_are_read_unless_bits_would_be_lost() {
        assert_eq!(read(&[0x80, 0x80, 0x05]), Ok((5, 3)));
        assert_eq!(
            read(&[0x82, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]),
            Err(VbrError::TooLarge)
        );
        assert_eq!(read(&[0x81, 0x80]), Err(VbrError::Truncated));
        assert_eq!(read(&[]), Err(VbrError::Truncated));
    }
}
