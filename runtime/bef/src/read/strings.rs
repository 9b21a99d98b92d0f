//! The Strings section: names and spellings, each terminated by a zero byte.
//!
//! A string is referred to by the offset of its first byte. Only offsets of string starts are
//! accepted, so names do not overlap, and all names together are at most as long as the section.

use crate::cursor::Cursor;
use crate::error::Fault;
use crate::format::SectionId;
use crate::ids::{StringOffset, id};

/// The strings of a file.
#[derive(Clone, Copy, Debug)]
pub struct Strings<'a> {
    bytes: &'a [u8],
    /// The length of the longest prefix that consists of complete, zero-terminated UTF-8 strings.
    sound_len: usize,
}

impl<'a> Strings<'a> {
    /// Creates a view of the bytes of the section.
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Self {
        let text_len = match str::from_utf8(bytes) {
            Ok(text) => text.len(),
            Err(error) => error.valid_up_to(),
        };
        let sound_len = bytes[..text_len]
            .iter()
            .rposition(|&byte| byte == 0)
            .map_or(0, |last| last + 1);
        Self { bytes, sound_len }
    }

    /// Reads the offset of a string, which `what` describes in errors.
    pub(crate) fn read_offset(
        &self,
        cursor: &mut Cursor<'_>,
        what: &str,
    ) -> Result<StringOffset, Fault> {
        let at = cursor.clone();
        let offset = cursor.vbr_below(what, self.bytes.len() as u64)?;
        let start = offset as usize;
        if start >= self.sound_len {
            return Err(at.fault(format!(
                "expected {what} in {}, found offset {offset} of a string that is not UTF-8 or \
                 not terminated",
                SectionId::Strings
            )));
        }
        if start != 0 && self.bytes[start - 1] != 0 {
            return Err(at.fault(format!(
                "expected {what} at the start of a string, found offset {offset} inside one"
            )));
        }
        Ok(id(offset))
    }
}

/// Returns the string at `start` of a section, as much of it as there is.
pub(crate) fn string_at(bytes: &[u8], start: usize) -> &[u8] {
    let rest = bytes.get(start..).unwrap_or_default();
    let len = rest
        .iter()
        .position(|&byte| byte == 0)
        .unwrap_or(rest.len());
    &rest[..len]
}
