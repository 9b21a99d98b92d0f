//! The checksums of records.

/// The masked CRC-32C of `bytes`.
///
/// ```
/// // Length and checksum of a record with three bytes.
/// assert_eq!(tfrt_readers::tfrecord::masked_crc32c(&3_u64.to_le_bytes()), 0x0e49_99b0);
/// ```
#[must_use]
pub fn masked_crc32c(bytes: &[u8]) -> u32 {
    crc32c::crc32c(bytes)
        .rotate_right(15)
        .wrapping_add(0xA282_EAD8)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The vectors of RFC 3720, B.4.
    #[test]
    fn checksums_are_those_of_the_standard() {
        let ascending: Vec<u8> = (0..32).collect();
        assert_eq!(crc32c::crc32c(&[0; 32]), 0x8a91_36aa);
        assert_eq!(crc32c::crc32c(&[0xff; 32]), 0x62a8_ab43);
        assert_eq!(crc32c::crc32c(&ascending), 0x46dd_794e);
        let unmasked = masked_crc32c(&ascending)
            .wrapping_sub(0xA282_EAD8)
            .rotate_left(15);
        assert_eq!(unmasked, 0x46dd_794e);
    }
}
