//! The Strings section: unique names, sorted by bytes, each terminated by a zero byte.

use std::collections::{BTreeSet, HashMap};

use tfrt_support::entity::EntityId;

use super::WriteError;
use crate::format::SectionId;
use crate::ids::StringOffset;

/// The strings of a program.
#[derive(Clone, Debug, Default)]
pub(super) struct StringSet {
    strings: BTreeSet<String>,
}

impl StringSet {
    /// Adds a string, unless it is already there.
    pub(super) fn add(&mut self, text: &str) {
        if !self.strings.contains(text) {
            self.strings.insert(text.to_owned());
        }
    }

    /// Encodes the section.
    pub(super) fn encode(&self) -> Result<EncodedStrings<'_>, WriteError> {
        let mut bytes = Vec::new();
        let mut offsets = HashMap::with_capacity(self.strings.len());
        for text in &self.strings {
            if text.as_bytes().contains(&0) {
                return Err(WriteError::ZeroByteInString(text.clone()));
            }
            if u32::try_from(bytes.len()).is_err() {
                return Err(WriteError::TooLong(SectionId::Strings));
            }
            offsets.insert(text.as_str(), StringOffset::from_index(bytes.len()));
            bytes.extend_from_slice(text.as_bytes());
            bytes.push(0);
        }
        Ok(EncodedStrings { bytes, offsets })
    }
}

/// The Strings section, and the offsets of the strings in it.
#[derive(Debug)]
pub(super) struct EncodedStrings<'a> {
    bytes: Vec<u8>,
    offsets: HashMap<&'a str, StringOffset>,
}

impl EncodedStrings<'_> {
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the offset of `text`.
    ///
    /// # Panics
    /// If it was not collected: tables contain only collected names.
    pub(super) fn offset(&self, text: &str) -> StringOffset {
        match self.offsets.get(text) {
            Some(&offset) => offset,
            None => panic!("the builder collects {text:?} before it is referred to"),
        }
    }
}
