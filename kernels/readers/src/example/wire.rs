//! The encoding of protocol buffers, read in place.
//!
//! ```text
//!  message: (key, value)*      key: varint of number · 8 + wire type
//!  wire type 0: a varint    1: 8 bytes    2: a length and so many bytes    5: 4 bytes
//! ```

/// A message that is read from its start. What is wrong with it is `None`: where does not matter to anybody.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
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

    /// The next field and its number.
    #[inline]
    pub(super) fn field(&mut self) -> Option<(u32, Field<'a>)> {
        let key = u32::try_from(self.varint()?).ok()?;
        let field = match key & 7 {
            0 => Field::Varint(self.varint()?),
            1 => self.take(8).map(|_| Field::Eight)?,
            2 => {
                let len = usize::try_from(self.varint()?).ok()?;
                Field::Bytes(self.take(len)?)
            }
            5 => Field::Four(self.four()?),
            // Groups, which these messages do not have, and types that do not exist.
            _ => return None,
        };
        match key >> 3 {
            0 => None,
            number => Some((number, field)),
        }
    }

    #[inline]
    pub(super) fn varint(&mut self) -> Option<u64> {
        let (&first, rest) = self.bytes.split_first()?;
        if first < 0x80 {
            self.bytes = rest;
            return Some(first.into());
        }
        self.long_varint()
    }

    fn long_varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for index in 0..10 {
            let byte = *self.bytes.get(index)?;
            value |= u64::from(byte & 0x7f) << (7 * index);
            if byte < 0x80 {
                // The tenth byte has one bit.
                self.bytes = &self.bytes[index + 1..];
                return (index < 9 || byte < 2).then_some(value);
            }
        }
        None
    }

    pub(super) fn four(&mut self) -> Option<[u8; 4]> {
        self.take(4)?.try_into().ok()
    }

    fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(len)?;
        self.bytes = rest;
        Some(taken)
    }
}
