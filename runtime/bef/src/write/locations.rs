//! The Locations section: a separate record for every function and kernel.

use tfrt_attr::vbr;
use tfrt_support::entity::EntityId;

use super::WriteError;
use super::location_strings::LocationStringTable;
use crate::format::{SectionId, VIRTUAL_LOCATIONS_END, location_tag};
use crate::ids::LocationOffset;
use crate::location::BefLocation;

/// Collects location records.
#[derive(Clone, Debug)]
pub(super) struct LocationWriter {
    records: Vec<u8>,
    strings: LocationStringTable,
    /// The last offset assigned to a location that cannot be expressed.
    last_virtual: u32,
}

impl Default for LocationWriter {
    fn default() -> Self {
        Self {
            records: Vec::new(),
            strings: LocationStringTable::default(),
            last_virtual: VIRTUAL_LOCATIONS_END,
        }
    }
}

impl LocationWriter {
    /// Appends a record. Without a location, returns an offset beyond the section that no other
    /// operation has.
    pub(super) fn add(
        &mut self,
        location: Option<&BefLocation>,
    ) -> Result<LocationOffset, WriteError> {
        let Some(location) = location else {
            self.last_virtual -= 1;
            return Ok(LocationOffset::from_index(self.last_virtual as usize));
        };
        let offset = self.records.len();
        self.record(location)?;
        // The virtual offsets grow down from the end of the 32-bit range.
        if self.records.len() >= self.last_virtual as usize {
            return Err(WriteError::TooLong(SectionId::Locations));
        }
        Ok(LocationOffset::from_index(offset))
    }

    pub(super) fn has_records(&self) -> bool {
        !self.records.is_empty()
    }

    pub(super) fn records(&self) -> &[u8] {
        &self.records
    }

    pub(super) fn strings(&self) -> &[u8] {
        self.strings.bytes()
    }

    fn record(&mut self, location: &BefLocation) -> Result<(), WriteError> {
        match location {
            BefLocation::Unknown => self.records.push(location_tag::UNKNOWN),
            BefLocation::File { file, line, column } => {
                self.records.push(location_tag::FILE);
                self.string(file)?;
                vbr::write(&mut self.records, (*line).into());
                vbr::write(&mut self.records, (*column).into());
            }
            BefLocation::Name { name, child } => {
                self.records.push(location_tag::NAME);
                self.string(name)?;
                self.record(child)?;
            }
            BefLocation::CallSite { callee, caller } => {
                self.records.push(location_tag::CALL_SITE);
                self.record(callee)?;
                self.record(caller)?;
            }
            BefLocation::Fused(members) => {
                self.records.push(location_tag::FUSED);
                vbr::write(&mut self.records, members.len() as u64);
                for member in members {
                    self.record(member)?;
                }
            }
        }
        Ok(())
    }

    fn string(&mut self, text: &str) -> Result<(), WriteError> {
        let offset = self.strings.add(text)?;
        vbr::write(&mut self.records, offset as u64);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_and_strings_are_those_of_the_format() {
        let file = |file: &str, line, column| BefLocation::File {
            file: file.into(),
            line,
            column,
        };
        let name = |name: &str, child| BefLocation::Name {
            name: name.into(),
            child: Box::new(child),
        };
        let mut writer = LocationWriter::default();
        for location in [
            name("fn", BefLocation::Unknown),
            BefLocation::Unknown,
            name("nm", BefLocation::Unknown),
            name("nm", file("x.py", 10, 200)),
            BefLocation::CallSite {
                callee: Box::new(name("nm", BefLocation::Unknown)),
                caller: Box::new(file("x.py", 1, 2)),
            },
            BefLocation::Fused(vec![name("a", BefLocation::Unknown), file("x.py", 3, 4)]),
        ] {
            writer.add(Some(&location)).unwrap();
        }
        assert_eq!(writer.strings(), b"fn\0nm\0x.py\0a\0");
        let records = [
            &[0x02, 0x00, 0x00][..],
            &[0x00],
            &[0x02, 0x03, 0x00],
            &[0x02, 0x03, 0x01, 0x06, 0x0a, 0x81, 0x48],
            &[0x03, 0x02, 0x03, 0x00, 0x01, 0x06, 0x01, 0x02],
            &[0x04, 0x02, 0x02, 0x0b, 0x00, 0x01, 0x06, 0x03, 0x04],
        ];
        assert_eq!(writer.records(), records.concat());
    }

    #[test]
    fn locations_that_cannot_be_expressed_are_distinct_and_out_of_range() {
        let mut writer = LocationWriter::default();
        let offsets = [writer.add(None).unwrap(), writer.add(None).unwrap()];
        assert_eq!(
            offsets.map(|offset| offset.index()),
            [0xffff_fffe, 0xffff_fffd]
        );
        assert!(!writer.has_records());
    }
}
