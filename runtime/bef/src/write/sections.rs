//! The file header, and the frames of the sections.

use tfrt_attr::PADDING;
use tfrt_attr::vbr;

use super::WriteError;
use crate::format::{MAGIC, SECTION_ALIGNED_BIT, SectionId, VERSION};

/// Builds a file, section by section.
#[derive(Debug)]
pub(super) struct FileWriter {
    bytes: Vec<u8>,
}

impl FileWriter {
    /// Creates a file without sections.
    pub(super) fn new() -> Self {
        Self {
            bytes: vec![MAGIC[0], MAGIC[1], VERSION],
        }
    }

    /// Appends a section whose data must start at a multiple of `alignment`.
    ///
    /// The alignment is written only if the data would not be aligned without it.
    pub(super) fn section(
        &mut self,
        id: SectionId,
        data: &[u8],
        alignment: usize,
    ) -> Result<(), WriteError> {
        if u32::try_from(data.len()).is_err() {
            return Err(WriteError::TooLong(id));
        }
        let length_field = (data.len() as u64) << 1;
        let plain_start = self.bytes.len() + 1 + vbr::len_bytes(length_field);
        self.bytes.push(id as u8);
        if plain_start.is_multiple_of(alignment) {
            vbr::write(&mut self.bytes, length_field);
        } else {
            vbr::write(&mut self.bytes, length_field | SECTION_ALIGNED_BIT);
            // At most 8, the highest alignment of an attribute.
            self.bytes.push(alignment as u8);
            self.bytes
                .resize(self.bytes.len().next_multiple_of(alignment), PADDING);
        }
        self.bytes.extend_from_slice(data);
        Ok(())
    }

    /// Returns the file.
    pub(super) fn finish(self) -> Vec<u8> {
        self.bytes
    }
}
