//! The file header, and the frames of the sections.
//!
//! ```text
//!  section := id:u8  vbr(length << 1 | aligned)  [ alignment:u8  padding ]  data
//! ```
//!
//! Sections may be in any order. The last of several sections with one id is used; unknown ids are
//! skipped.

use std::ops::Range;

use crate::cursor::Cursor;
use crate::error::{BefError, Fault, Reason};
use crate::format::{MAGIC, SECTION_ALIGNED_BIT, SectionId, VERSION};
use crate::limits;

const NUM_SECTIONS: usize = SectionId::ALL.len();

/// The ranges of the sections in a file.
#[derive(Clone, Debug, Default)]
pub(crate) struct SectionTable {
    /// By position in [`SectionId::ALL`].
    ranges: [Option<Range<usize>>; NUM_SECTIONS],
}

impl SectionTable {
    /// Returns the range of the section, if it is present.
    pub(crate) fn range(&self, id: SectionId) -> Option<Range<usize>> {
        let slot = SectionId::ALL.iter().position(|&known| known == id)?;
        self.ranges[slot].clone()
    }

    fn set(&mut self, id: SectionId, range: Range<usize>) {
        if let Some(slot) = SectionId::ALL.iter().position(|&known| known == id) {
            self.ranges[slot] = Some(range);
        }
    }

    /// Returns a cursor at the start of the section, if it is present.
    pub(crate) fn cursor<'a>(&self, file: &'a [u8], id: SectionId) -> Option<Cursor<'a>> {
        let range = self.range(id)?;
        let start = range.start;
        Some(Cursor::in_section(&file[range], start, id))
    }

    /// Returns a cursor at the start of the section, which must be present.
    pub(crate) fn required<'a>(&self, file: &'a [u8], id: SectionId) -> Result<Cursor<'a>, Fault> {
        self.cursor(file, id).ok_or_else(|| {
            Fault::new(
                id,
                file.len(),
                "expected the data of the section, found the end of the file",
            )
        })
    }
}

/// The sections of a file.
#[derive(Clone, Debug)]
pub struct Sections<'a> {
    file: &'a [u8],
    table: SectionTable,
}

impl<'a> Sections<'a> {
    pub(crate) fn read(file: &'a [u8]) -> Result<Self, BefError> {
        let mut table = SectionTable::default();
        let mut cursor = Cursor::new(file);
        read_file_header(&mut cursor)?;
        for frame in frames(cursor) {
            let frame = frame.map_err(|fault| fault.because(Reason::SectionHeader))?;
            if let Some(id) = SectionId::from_raw(frame.raw_id) {
                table.set(id, frame.data);
            }
        }
        Ok(Self { file, table })
    }

    /// Returns the data of a section, if the file has it.
    #[must_use]
    pub fn bytes(&self, id: SectionId) -> Option<&'a [u8]> {
        self.table.range(id).map(|range| &self.file[range])
    }

    /// Returns the range of a section's data in the file, if the file has the section.
    #[must_use]
    pub fn range(&self, id: SectionId) -> Option<Range<usize>> {
        self.table.range(id)
    }

    pub(crate) fn into_table(self) -> SectionTable {
        self.table
    }
}

pub(crate) fn read_file_header(cursor: &mut Cursor<'_>) -> Result<(), BefError> {
    let start = cursor.clone();
    let magic = cursor.take(MAGIC.len());
    if magic != Some(&MAGIC) {
        let reason = if start.remaining() == 0 {
            Reason::Empty
        } else {
            Reason::Magic
        };
        let found = magic.unwrap_or(start.rest());
        return Err(start
            .fault(format!(
                "expected the bytes {MAGIC:02x?}, found {found:02x?}"
            ))
            .because(reason));
    }
    let version = cursor.clone();
    match cursor.u8("a format version") {
        Ok(VERSION) => Ok(()),
        Ok(found) => {
            Err(version.fault(format!("expected format version {VERSION}, found {found}")))
        }
        Err(fault) => Err(fault),
    }
    .map_err(|fault| fault.because(Reason::Version))
}

/// The frame of a section.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    pub(crate) raw_id: u8,
    /// From the id to the data.
    pub(crate) header: Range<usize>,
    pub(crate) data: Range<usize>,
}

/// Returns the sections after the file header, each read on demand; ends at the first fault.
pub(crate) fn frames(cursor: Cursor<'_>) -> impl Iterator<Item = Result<Frame, Fault>> {
    let mut next = Some(cursor);
    std::iter::from_fn(move || {
        let mut cursor = next.take().filter(|cursor| cursor.remaining() != 0)?;
        let start = cursor.offset();
        let frame = read_section(&mut cursor).map(|(raw_id, data)| Frame {
            raw_id,
            header: start..data.start,
            data,
        });
        next = frame.is_ok().then_some(cursor);
        Some(frame)
    })
}

/// Reads one section: its id, and the range of its data.
fn read_section(cursor: &mut Cursor<'_>) -> Result<(u8, Range<usize>), Fault> {
    let id = cursor.u8("a section id")?;
    let at = cursor.clone();
    let located = |mut fault: Fault| {
        fault.section = SectionId::from_raw(id);
        fault
    };
    let length_field = cursor.vbr("the length of the section").map_err(located)?;
    if length_field & SECTION_ALIGNED_BIT != 0 {
        let alignment = cursor.u8("the alignment of the section").map_err(located)?;
        if !alignment.is_power_of_two() {
            let message =
                format!("expected an alignment that is a power of two, found {alignment}");
            return Err(located(at.fault(message)));
        }
        let padding = cursor.offset().next_multiple_of(alignment.into()) - cursor.offset();
        if cursor.take(padding).is_none() {
            let message = format!(
                "expected {padding} bytes of padding, found {}",
                cursor.remaining()
            );
            return Err(located(cursor.fault(message)));
        }
    }
    let length = length_field >> 1;
    let start = cursor.offset();
    if length > limits::MAX_SECTION_BYTES {
        let message = format!(
            "expected a length of at most {}, found {length}",
            limits::MAX_SECTION_BYTES
        );
        return Err(located(at.fault(message)));
    }
    match cursor.take(length as usize) {
        Some(data) => Ok((id, start..start + data.len())),
        None => {
            let remaining = cursor.remaining();
            Err(located(at.fault(format!(
                "expected at most the {remaining} remaining bytes of data, found a length of \
                 {length}"
            ))))
        }
    }
}
