//! The encoding of protocol buffers, read in place.
//!
//! ```text
//!  message: (key, value)*      key: varint of number · 8 + wire type
//!  wire type 0: a varint    1: 8 bytes    2: a length and so many bytes    5: 4 bytes
//! ```

use std::fmt;

/// A message that is read from its start.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
}

/// Why bytes are not a message of the expected type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Malformed {
    /// They end within a field.
    Truncated,
    /// A number has more bits than its type.
    LongNumber,
    /// A field has the number 0, or a wire type that these messages do not have.
    Key,
    /// A field is not of the type that the message declares.
    FieldType,
    /// A name is not UTF-8.
    Name,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Truncated => "bytes that end within a field",
            Self::LongNumber => "a number with too many bits",
            Self::Key => "a field with an unknown wire type, or with the number 0",
            Self::FieldType => "a field of another type",
            Self::Name => "a name that is not UTF-8",
        })
    }
}

/// The value of a field.
#[derive(Clone, Copy, Debug)]
pub(super) enum Field<'a> {
    Varint(u64),
    Eight,
    Bytes(&'a [u8]),
    Four([u8; 4]),
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Returns the next field and its number.
    #[inline]
    pub(super) fn field(&mut self) -> Result<(u32, Field<'a>), Malformed> {
        let key = u32::try_from(self.varint()?).map_err(|_| Malformed::LongNumber)?;
        let field = match key & 7 {
            0 => Field::Varint(self.varint()?),
            1 => self.take(8).map(|_| Field::Eight)?,
            2 => {
                let len = usize::try_from(self.varint()?).map_err(|_| Malformed::Truncated)?;
                Field::Bytes(self.take(len)?)
            }
            5 => Field::Four(self.four()?),
            // Groups, which these messages do not have, and types that do not exist.
            _ => return Err(Malformed::Key),
        };
        match key >> 3 {
            0 => Err(Malformed::Key),
            number => Ok((number, field)),
        }
    }

    #[inline]
    pub(super) fn varint(&mut self) -> Result<u64, Malformed> {
        let (&first, rest) = self.bytes.split_first().ok_or(Malformed::Truncated)?;
        if first < 0x80 {
            self.bytes = rest;
            return Ok(first.into());
        }
        self.long_varint()
    }

    fn long_varint(&mut self) -> Result<u64, Malformed> {
        let mut value = 0;
        for index in 0..10 {
            let byte = *self.bytes.get(index).ok_or(Malformed::Truncated)?;
            value |= u64::from(byte & 0x7f) << (7 * index);
            if byte < 0x80 {
                self.bytes = &self.bytes[index + 1..];
                // The tenth byte has one bit.
                let fits = index < 9 || byte < 2;
                return fits.then_some(value).ok_or(Malformed::LongNumber);
            }
        }
        Err(Malformed::LongNumber)
    }

    pub(super) fn four(&mut self) -> Result<[u8; 4], Malformed> {
        let (four, rest) = self.bytes.split_first_chunk().ok_or(Malformed::Truncated)?;
        self.bytes = rest;
        Ok(*four)
    }

    fn take(&mut self, len: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) = self
            .bytes
            .split_at_checked(len)
            .ok_or(Malformed::Truncated)?;
        self.bytes = rest;
        Ok(taken)
    }
}
