//! The Locations and LocationStrings sections: the locations of functions and kernels.
//!
//! Locations are only used in messages, so a malformed one does not make a file invalid: it is
//! treated as out of range.

use crate::cursor::Cursor;
use crate::format::{SectionId, location_tag};
use crate::limits;
use crate::location::BefLocation;
use crate::read::strings::string_at;

/// Returns the location recorded at `offset` of `records`, or `None` if it is out of range,
/// malformed, or beyond the limits.
pub(crate) fn read(records: &[u8], strings: &[u8], offset: usize) -> Option<BefLocation> {
    read_with_end(records, strings, offset).map(|(location, _)| location)
}

/// Returns the location recorded at `offset` of `records`, and the offset after it.
pub(crate) fn read_with_end(
    records: &[u8],
    strings: &[u8],
    offset: usize,
) -> Option<(BefLocation, usize)> {
    let bytes = records.get(offset..).filter(|bytes| !bytes.is_empty())?;
    let cursor = Cursor::in_section(bytes, offset, SectionId::Locations);
    let mut reader = LocationReader {
        cursor,
        strings,
        records_left: limits::MAX_LOCATION_RECORDS,
        text_bytes_left: limits::MAX_LOCATION_TEXT_BYTES,
    };
    let location = reader.record(0)?;
    Some((location, reader.cursor.offset()))
}

struct LocationReader<'a> {
    cursor: Cursor<'a>,
    strings: &'a [u8],
    records_left: u32,
    text_bytes_left: usize,
}

impl LocationReader<'_> {
    fn record(&mut self, depth: u32) -> Option<BefLocation> {
        if depth == limits::MAX_LOCATION_NESTING {
            return None;
        }
        self.records_left = self.records_left.checked_sub(1)?;
        Some(match self.cursor.u8("a location").ok()? {
            location_tag::UNKNOWN => BefLocation::Unknown,
            location_tag::FILE => {
                let file = self.string()?;
                let line = self.cursor.vbr_u32("a line").ok()?;
                let column = self.cursor.vbr_u32("a column").ok()?;
                BefLocation::File { file, line, column }
            }
            location_tag::NAME => {
                let name = self.string()?;
                BefLocation::Name {
                    name,
                    child: Box::new(self.record(depth + 1)?),
                }
            }
            location_tag::CALL_SITE => {
                let callee = Box::new(self.record(depth + 1)?);
                BefLocation::CallSite {
                    callee,
                    caller: Box::new(self.record(depth + 1)?),
                }
            }
            location_tag::FUSED => {
                let count = self.cursor.count("a number of locations").ok()?;
                BefLocation::Fused(
                    (0..count)
                        .map(|_| self.record(depth + 1))
                        .collect::<Option<_>>()?,
                )
            }
            _ => return None,
        })
    }

    fn string(&mut self) -> Option<String> {
        let offset = self
            .cursor
            .vbr_below("a string offset", self.strings.len() as u64)
            .ok()?;
        // Bound the search by the remaining permitted text.
        let start = offset as usize;
        let end = self.strings.len().min(start + self.text_bytes_left + 1);
        let text = string_at(&self.strings[..end], start);
        self.text_bytes_left = self.text_bytes_left.checked_sub(text.len())?;
        Some(String::from_utf8_lossy(text).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deep_and_wide_locations_read_as_none() {
        let limit = limits::MAX_LOCATION_NESTING as usize;
        let deep = |depth: usize| [[3, 0].repeat(depth), vec![0]].concat();
        let nested = |depth: usize| [[4, 1].repeat(depth), vec![0]].concat();
        assert_eq!(
            read(&deep(1), b"", 0),
            Some(BefLocation::CallSite {
                callee: Box::new(BefLocation::Unknown),
                caller: Box::new(BefLocation::Unknown)
            })
        );
        assert!(read(&nested(limit - 1), b"", 0).is_some());
        assert!(read(&nested(limit), b"", 0).is_none());
        let wide = [vec![4, 0x81, 0x80, 0x00], vec![0; 1 << 14]].concat();
        assert!(read(&wide, b"", 0).is_none());
    }

    #[test]
    fn truncated_locations_read_as_none() {
        let record = [3, 2, 0, 0, 1, 0, 9, 9];
        assert!(read(&record, b"n\0", 0).is_some());
        for len in 0..record.len() {
            assert!(read(&record[..len], b"n\0", 0).is_none());
        }
        assert!(read(&record, b"", 0).is_none());
    }
}
