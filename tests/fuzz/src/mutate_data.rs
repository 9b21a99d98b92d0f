//! Damage to files of data, which knows what such files are made of: words that state sizes and
//! offsets, segments that state their length, numbers in text, archives that vouch for their
//! members.

use tfrt_tensor::file::FileFormat;

use crate::data_files::DataFormat;
use crate::mutate::Random;

/// The bytes with something changed. `other` is another input, to take pieces of.
#[must_use]
pub fn mutate(format: DataFormat, bytes: &[u8], other: &[u8], random: &mut Random) -> Vec<u8> {
    let is_archive = format == DataFormat::Tensors(FileFormat::Npz);
    if is_archive && random.below(2) == 0 {
        // Damage in a member dies at its checksum: here is one that vouches for the damage.
        let seeds = DataFormat::Tensors(FileFormat::Npy).seeds();
        let mut member = seeds[random.below(seeds.len())].clone();
        damage(&mut member, other, random);
        return archive_of(&member);
    }
    let mut bytes = bytes.to_vec();
    damage(&mut bytes, other, random);
    bytes
}

fn damage(bytes: &mut Vec<u8>, other: &[u8], random: &mut Random) {
    for _ in 0..=random.below(3) {
        if bytes.is_empty() {
            bytes.extend_from_slice(other);
            continue;
        }
        let at = random.below(bytes.len());
        match random.below(10) {
            0 => bytes[at] ^= 1 << random.below(8),
            1 => bytes[at] = random.below(256) as u8,
            2 => bytes[at] = [0, 1, 0x7f, 0x80, 0xfe, 0xff][random.below(6)],
            3 => change_word::<8>(bytes, at, random, u64::from_le_bytes, u64::to_le_bytes),
            // Lengths of segments.
            4 => change_word::<2>(
                bytes,
                at,
                random,
                |word| u16::from_be_bytes(word).into(),
                |word| (word as u16).to_be_bytes(),
            ),
            5 => change_number(bytes, at, random),
            6 => bytes.truncate(at),
            7 => {
                let piece = piece(bytes, random).to_vec();
                bytes.splice(at..at, piece);
            }
            8 => {
                let end = at + random.below(bytes.len() - at + 1);
                bytes.drain(at..end);
            }
            _ => {
                let piece = piece(other, random).to_vec();
                let end = (at + piece.len()).min(bytes.len());
                bytes.splice(at..end, piece);
            }
        }
    }
}

/// Up to 64 bytes in a row.
fn piece<'a>(bytes: &'a [u8], random: &mut Random) -> &'a [u8] {
    if bytes.is_empty() {
        return bytes;
    }
    let start = random.below(bytes.len());
    let len = random.below((bytes.len() - start).min(64) + 1);
    &bytes[start..start + len]
}

/// Replaces the word in which the byte `at` lies by one that is likely to be just in range or just
/// out of it.
fn change_word<const LEN: usize>(
    bytes: &mut [u8],
    at: usize,
    random: &mut Random,
    read: impl Fn([u8; LEN]) -> u64,
    write: impl Fn(u64) -> [u8; LEN],
) {
    let start = if LEN == 8 { at / LEN * LEN } else { at };
    if let Some(word) = bytes[start..].first_chunk_mut::<LEN>() {
        *word = write(random.edge(read(*word)));
    }
}

/// Replaces the first number in text behind `at`.
fn change_number(bytes: &mut Vec<u8>, at: usize, random: &mut Random) {
    let is_digit = |byte: &u8| byte.is_ascii_digit();
    let Some(start) = bytes[at..].iter().position(is_digit).map(|from| at + from) else {
        return;
    };
    let len = bytes[start..]
        .iter()
        .take_while(|byte| is_digit(byte))
        .count();
    let old = bytes[start..start + len]
        .iter()
        .fold(0_u64, |number, digit| {
            number
                .wrapping_mul(10)
                .wrapping_add(u64::from(digit - b'0'))
        });
    let new = random.edge(old).to_string();
    bytes.splice(start..start + len, new.into_bytes());
}

/// An archive with one member, stored as it is.
fn archive_of(member: &[u8]) -> Vec<u8> {
    const NAME: &[u8] = b"x.npy";
    let len = (member.len() as u32).to_le_bytes();
    // Version, flags, method, time and date; then the checksum, the size twice, the length of the
    // name, and nothing else.
    let mut facts = vec![20, 0, 0, 0, 0, 0, 0, 0, 33, 0];
    facts.extend(checksum(member).to_le_bytes());
    facts.extend([len, len].concat());
    facts.extend([NAME.len() as u8, 0, 0, 0]);
    let mut file = [b"PK\x03\x04", &facts[..], NAME, member].concat();
    let directory = (file.len() as u32).to_le_bytes();
    file.extend([b"PK\x01\x02\x14\x00", &facts[..], &[0; 14], NAME].concat());
    let len = (file.len() as u32 - u32::from_le_bytes(directory)).to_le_bytes();
    file.extend(b"PK\x05\x06\x00\x00\x00\x00\x01\x00\x01\x00");
    file.extend([len, directory].concat());
    file.extend([0, 0]);
    file
}

/// CRC-32, bit by bit.
fn checksum(bytes: &[u8]) -> u32 {
    let crc = bytes.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
            (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg())
        })
    });
    !crc
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_that_vouches_for_its_member_is_accepted() {
        assert_eq!(checksum(b"123456789"), 0xcbf4_3926);
        let member = &DataFormat::Tensors(FileFormat::Npy).seeds()[0];
        assert!(DataFormat::Tensors(FileFormat::Npz).read(&archive_of(member)));
    }
}
