//! The LocationStrings section: names in the order of their first use, unique, each terminated by a
//! zero byte.

use std::collections::HashMap;

use super::WriteError;

/// The strings of the locations.
#[derive(Clone, Debug, Default)]
pub(super) struct LocationStringTable {
    bytes: Vec<u8>,
    offsets: HashMap<String, usize>,
}

impl LocationStringTable {
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the offset of `text`, appending it if it is new.
    pub(super) fn add(&mut self, text: &str) -> Result<usize, WriteError> {
        if let Some(&offset) = self.offsets.get(text) {
            return Ok(offset);
        }
        if text.as_bytes().contains(&0) {
            return Err(WriteError::ZeroByteInString(text.to_owned()));
        }
        let offset = self.bytes.len();
        self.bytes.extend_from_slice(text.as_bytes());
        self.bytes.push(0);
        self.offsets.insert(text.to_owned(), offset);
        Ok(offset)
    }
}
