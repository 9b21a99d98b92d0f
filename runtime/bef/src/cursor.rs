//! A position in borrowed bytes that knows where in the file it is.

use tfrt_attr::vbr::{self, VbrError};

use crate::error::Fault;
use crate::format::SectionId;

/// A position in the bytes of a file or of one of its sections. Cloning remembers a position.
///
/// Bounds are tested against what remains; a read that fails leaves the position alone.
///
/// ```
/// use tfrt_bef::cursor::Cursor;
///
/// let mut cursor = Cursor::new(&[0x85, 0x59, 7]);
/// assert_eq!(cursor.vbr("a length"), Ok(729));
/// assert_eq!(cursor.u8("a kind"), Ok(7));
/// assert_eq!(cursor.offset(), 3);
/// assert!(cursor.u8("a kind").is_err());
/// ```
#[derive(Clone, Debug)]
pub struct Cursor<'a> {
    bytes: &'a [u8],
    position: usize,
    /// Where in the file `bytes` starts.
    base: usize,
    section: Option<SectionId>,
}

impl<'a> Cursor<'a> {
    /// The start of a file.
    #[must_use]
    pub fn new(file: &'a [u8]) -> Self {
        Self {
            bytes: file,
            position: 0,
            base: 0,
            section: None,
        }
    }

    /// The start of `bytes`, which lie in `section` and at `base` in the file.
    #[must_use]
    pub fn in_section(bytes: &'a [u8], base: usize, section: SectionId) -> Self {
        Self {
            bytes,
            position: 0,
            base,
            section: Some(section),
        }
    }

    /// The position in the file, in bytes.
    #[must_use]
    pub fn offset(&self) -> usize {
        self.base + self.position
    }

    /// How many bytes are left.
    #[must_use]
    pub fn remaining(&self) -> usize {
        self.bytes.len() - self.position
    }

    /// The bytes that are left.
    #[must_use]
    pub fn rest(&self) -> &'a [u8] {
        &self.bytes[self.position..]
    }

    /// A fault at the position.
    #[cold]
    pub(crate) fn fault(&self, message: impl Into<String>) -> Fault {
        Fault::new(self.section, self.offset(), message)
    }

    /// The next byte, which is `what`.
    ///
    /// # Errors
    /// If no byte is left.
    pub fn u8(&mut self, what: &str) -> Result<u8, Fault> {
        let byte = *self
            .rest()
            .first()
            .ok_or_else(|| self.fault(format!("expected {what}, found the end")))?;
        self.position += 1;
        Ok(byte)
    }

    /// The next integer of variable length, which is `what`.
    ///
    /// # Errors
    /// If the bytes end before the integer does, or it does not fit in 64 bits.
    #[inline]
    pub fn vbr(&mut self, what: &str) -> Result<u64, Fault> {
        // Most integers of a file take one byte.
        if let Some(&byte) = self.bytes.get(self.position)
            && byte < 0x80
        {
            self.position += 1;
            return Ok(byte.into());
        }
        match vbr::read(self.rest()) {
            Ok((value, len)) => {
                self.position += len;
                Ok(value)
            }
            Err(VbrError::Truncated) => Err(self.fault(format!("expected {what}, found the end"))),
            Err(VbrError::TooLarge) => Err(self.fault(format!(
                "expected {what} of at most 64 bits, found a longer integer"
            ))),
        }
    }

    /// The next integer of variable length, which is `what` and has at most 32 bits.
    ///
    /// # Errors
    /// If the bytes end before the integer does, or it does not fit in 32 bits.
    #[inline]
    pub fn vbr_u32(&mut self, what: &str) -> Result<u32, Fault> {
        self.vbr_below(what, 1 << u32::BITS)
    }

    /// The next integer of variable length, which is `what`, below `limit` and of at most 32 bits.
    ///
    /// # Errors
    /// If the bytes end before the integer does, or it is `limit` or more.
    #[inline]
    pub fn vbr_below(&mut self, what: &str, limit: u64) -> Result<u32, Fault> {
        let at = self.clone();
        let value = self.vbr(what)?;
        match u32::try_from(value) {
            Ok(small) if value < limit => Ok(small),
            _ => {
                self.position = at.position;
                Err(self.fault(format!("expected {what} below {limit}, found {value}")))
            }
        }
    }

    /// The next integer of variable length, which counts `what`s that take a byte each at least.
    ///
    /// # Errors
    /// If the bytes end before the integer does, or cannot hold as many.
    pub fn count(&mut self, what: &str) -> Result<usize, Fault> {
        let at = self.clone();
        let count = self.vbr(what)?;
        match usize::try_from(count) {
            Ok(count) if count <= self.remaining() => Ok(count),
            _ => {
                let remaining = self.remaining();
                Err(at.fault(format!(
                    "expected {what} that fits the {remaining} remaining bytes, found {count}"
                )))
            }
        }
    }

    /// Reads a number of `what`, which is known already.
    ///
    /// # Errors
    /// If it is another number, or none.
    pub fn expect_count(&mut self, what: &str, expected: usize) -> Result<(), Fault> {
        let at = self.clone();
        let found = self.vbr("a count")?;
        if found == expected as u64 {
            Ok(())
        } else {
            Err(at.fault(format!("expected {expected} {what}, found {found}")))
        }
    }

    /// The next `len` bytes, if as many are left.
    #[must_use]
    pub fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let bytes = self.rest().get(..len)?;
        self.position += len;
        Some(bytes)
    }
}
