//! A position in borrowed bytes that knows its offset in the file.

use tfrt_attr::vbr::{self, VbrError};

use crate::error::Fault;
use crate::format::SectionId;

/// A position in the bytes of a file or of one of its sections. A clone saves the position.
///
/// Bounds are checked against the remaining bytes; a read that fails leaves the position unchanged.
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
    /// The offset of `bytes` in the file.
    base: usize,
    section: Option<SectionId>,
}

impl<'a> Cursor<'a> {
    /// Creates a cursor at the start of a file.
    #[must_use]
    pub fn new(file: &'a [u8]) -> Self {
        Self {
            bytes: file,
            position: 0,
            base: 0,
            section: None,
        }
    }

    /// Creates a cursor at the start of `bytes`, which belong to `section` and start at `base` in
    /// the file.
    #[must_use]
    pub fn in_section(bytes: &'a [u8], base: usize, section: SectionId) -> Self {
        Self {
            bytes,
            position: 0,
            base,
            section: Some(section),
        }
    }

    /// Returns the position in the file, in bytes.
    #[must_use]
    pub fn offset(&self) -> usize {
        self.base + self.position
    }

    /// Returns the number of remaining bytes.
    #[must_use]
    pub fn remaining(&self) -> usize {
        self.bytes.len() - self.position
    }

    /// Returns the remaining bytes.
    #[must_use]
    pub fn rest(&self) -> &'a [u8] {
        &self.bytes[self.position..]
    }

    /// Creates a fault at this position.
    #[cold]
    pub(crate) fn fault(&self, message: impl Into<String>) -> Fault {
        Fault::new(self.section, self.offset(), message)
    }

    /// Reads a byte; `what` describes it in errors.
    ///
    /// # Errors
    /// If no byte remains.
    pub fn u8(&mut self, what: &str) -> Result<u8, Fault> {
        let byte = *self
            .rest()
            .first()
            .ok_or_else(|| self.fault(format!("expected {what}, found the end of the data")))?;
        self.position += 1;
        Ok(byte)
    }

    /// Reads an integer of variable length; `what` describes it in errors.
    ///
    /// # Errors
    /// If the bytes end before the integer does, or it does not fit in 64 bits.
    #[inline]
    pub fn vbr(&mut self, what: &str) -> Result<u64, Fault> {
        // Most integers in a file take one byte.
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
            Err(VbrError::Truncated) => {
                Err(self.fault(format!("expected {what}, found the end of the data")))
            }
            Err(VbrError::TooLarge) => Err(self.fault(format!(
                "expected {what} of at most 64 bits, found a longer integer"
            ))),
        }
    }

    /// Reads an integer of variable length and at most 32 bits; `what` describes it in errors.
    ///
    /// # Errors
    /// If the bytes end before the integer does, or it does not fit in 32 bits.
    #[inline]
    pub fn vbr_u32(&mut self, what: &str) -> Result<u32, Fault> {
        self.vbr_below(what, 1 << u32::BITS)
    }

    /// Reads an integer of variable length, below `limit` and of at most 32 bits; `what` describes
    /// it in errors.
    ///
    /// # Errors
    /// If the bytes end before the integer does, or it is at least `limit`.
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

    /// Reads an integer of variable length that counts items of at least one byte each; `what`
    /// describes them in errors.
    ///
    /// # Errors
    /// If the bytes end before the integer does, or are too few for that many items.
    pub fn count(&mut self, what: &str) -> Result<usize, Fault> {
        let at = self.clone();
        let count = self.vbr(what)?;
        match usize::try_from(count) {
            Ok(count) if count <= self.remaining() => Ok(count),
            _ => {
                let remaining = self.remaining();
                Err(at.fault(format!(
                    "expected {what} that fits in the {remaining} remaining bytes, found {count}"
                )))
            }
        }
    }

    /// Reads a number of `what` that must equal `expected`.
    ///
    /// # Errors
    /// If it differs, or the bytes end.
    pub fn expect_count(&mut self, what: &str, expected: usize) -> Result<(), Fault> {
        let at = self.clone();
        let found = self.vbr("a count")?;
        if found == expected as u64 {
            Ok(())
        } else {
            Err(at.fault(format!("expected {expected} {what}, found {found}")))
        }
    }

    /// Takes the next `len` bytes, if that many remain.
    #[must_use]
    pub fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let bytes = self.rest().get(..len)?;
        self.position += len;
        Some(bytes)
    }
}
