//! Pages of Parquet files, held against a limit before memory is set aside for them.
//!
//! The header of a page says how many bytes it has when it is decompressed, and the crate sets as
//! many aside: up to 2 GiB for a page of a few bytes. [`LimitedPages`] stands between the crate and
//! the file, and looks at each header first:
//!
//! ```text
//!  header: a struct of Thrift's compact protocol
//!    field 1, i32: kind of page   field 2, i32: bytes when decompressed   field 3, i32: bytes in the file   …
//! ```

use std::io::{Chain, Cursor, Read};

use bytes::Bytes;
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};

/// A page may have so many bytes.
const MAX_PAGE_BYTES: u64 = 1 << 28;

/// A larger page may have so many times its bytes in the file.
const MAX_RATIO: u64 = 64;

/// The first three fields take at most so many bytes: one for the number, five for the value.
const NUM_START_BYTES: u64 = 18;

/// A file whose metadata was read, and of which pages are read.
#[derive(Debug)]
pub(super) struct LimitedPages<C>(pub(super) C);

impl<C: Length> Length for LimitedPages<C> {
    fn len(&self) -> u64 {
        self.0.len()
    }
}

impl<C: ChunkReader> ChunkReader for LimitedPages<C> {
    type T = Chain<Cursor<Vec<u8>>, C::T>;

    /// The crate reads the headers of pages from here, and nothing else.
    fn get_read(&self, start: u64) -> Result<Self::T> {
        let mut input = self.0.get_read(start)?;
        let mut header = Vec::new();
        input
            .by_ref()
            .take(NUM_START_BYTES)
            .read_to_end(&mut header)?;
        if let Some(what) = check(&header) {
            return Err(ParquetError::General(format!("{what} at byte {start}")));
        }
        Ok(Cursor::new(header).chain(input))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        self.0.get_bytes(start, length)
    }
}

/// What is wrong with the header of a page that begins like this.
fn check(header: &[u8]) -> Option<String> {
    let Some([_, num_bytes, num_compressed_bytes]) = start_of(header) else {
        return Some("expected the header of a page, found other bytes".to_owned());
    };
    // The crate refuses negative numbers.
    let num_bytes = u64::try_from(num_bytes).unwrap_or(0);
    let max_bytes = u64::try_from(num_compressed_bytes)
        .unwrap_or(0)
        .saturating_mul(MAX_RATIO)
        .max(MAX_PAGE_BYTES);
    (num_bytes > max_bytes).then(|| {
        format!("expected a page of at most {max_bytes} bytes, found one of {num_bytes} bytes")
    })
}

/// The first three fields, all of type i32, which the format requires, in the order of their
/// numbers.
fn start_of(mut header: &[u8]) -> Option<[i32; 3]> {
    /// One more than the number before, and the type i32.
    const NEXT_I32: u8 = 0x15;
    let mut fields = [0; 3];
    for field in &mut fields {
        let (&kind, rest) = header.split_first()?;
        if kind != NEXT_I32 {
            return None;
        }
        let (number, rest) = varint(rest)?;
        // Zigzag: the sign is the lowest bit.
        *field = (number >> 1) as i32 ^ -((number & 1) as i32);
        header = rest;
    }
    Some(fields)
}

fn varint(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let mut number = 0;
    for (index, &byte) in bytes.iter().take(5).enumerate() {
        number |= u32::from(byte & 0x7f).checked_shl(7 * index as u32)?;
        if byte < 0x80 {
            return Some((number, &bytes[index + 1..]));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The start of a header: kind, bytes, bytes in the file.
    fn header(fields: [i32; 3]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for field in fields {
            bytes.push(0x15);
            let mut number = ((field << 1) ^ (field >> 31)) as u32;
            while number >= 0x80 {
                bytes.push(number as u8 | 0x80);
                number >>= 7;
            }
            bytes.push(number as u8);
        }
        bytes
    }

    #[test]
    fn fields_are_read_whatever_their_size() {
        for fields in [
            [0, 1, 2],
            [3, 127, 128],
            [2, i32::MAX, i32::MIN],
            [0, -1, 1 << 20],
        ] {
            assert_eq!(start_of(&header(fields)), Some(fields));
        }
        let whole = header([0, 300, 300]);
        for len in 0..whole.len() {
            assert_eq!(start_of(&whole[..len]), None, "{len} bytes");
        }
        assert_eq!(start_of(&[0x25; 18]), None);
        assert_eq!(start_of(&[0x15, 0xff, 0xff, 0xff, 0xff, 0xff]), None);
    }

    #[test]
    fn pages_are_refused_that_are_large_only_when_decompressed() {
        assert_eq!(check(&header([0, 1 << 28, 100])), None);
        assert_eq!(check(&header([0, i32::MAX, 1 << 26])), None);
        assert_eq!(
            check(&header([0, i32::MAX, 100])).unwrap(),
            "expected a page of at most 268435456 bytes, found one of 2147483647 bytes"
        );
        assert_eq!(
            check(b"PAR1").unwrap(),
            "expected the header of a page, found other bytes"
        );
    }
}
