//! The AttributeTypes section: the offset and type code of every attribute.

use tfrt_attr::{AttrError, AttrTypeCode, verify};

use super::entries::Entries;
use crate::cursor::Cursor;
use crate::error::Fault;
use crate::format::SectionId;
use crate::ids::{AttributeOffset, id, raw};

/// How errors describe the count of the section.
pub(crate) const COUNT: &str = "a number of attributes";

/// An entry of the section, as it is stored.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AttributeEntry {
    pub(crate) offset: AttributeOffset,
    pub(crate) raw_code: u64,
}

impl AttributeEntry {
    /// Reads an entry whose offset is below `limit`.
    pub(crate) fn read(cursor: &mut Cursor<'_>, limit: u64) -> Result<Self, Fault> {
        Ok(Self {
            offset: id(cursor.vbr_below("the offset of an attribute", limit)?),
            raw_code: cursor.vbr("the type code of an attribute")?,
        })
    }

    /// Returns the type code, if it is known.
    pub(crate) fn code(self) -> Option<AttrTypeCode> {
        AttrTypeCode::from_raw(u8::try_from(self.raw_code).ok()?)
    }
}

/// Checks attributes in the order of their entries: none overlap, so that checking all of them
/// takes time linear in their section.
#[derive(Debug)]
pub(crate) struct AttributeChecker<'a> {
    attributes: &'a [u8],
    /// The offset of the attributes in the file.
    base: usize,
    /// The end of the last sound attribute.
    end: usize,
}

impl<'a> AttributeChecker<'a> {
    pub(crate) fn new(attributes: &'a [u8], base: usize) -> Self {
        Self {
            attributes,
            base,
            end: 0,
        }
    }

    /// Checks the attribute of an entry, which is `at` a position; returns its code and its end in
    /// the section.
    pub(crate) fn check(
        &mut self,
        at: &Cursor<'_>,
        entry: AttributeEntry,
    ) -> Result<(AttrTypeCode, usize), Fault> {
        let (offset, end) = (raw(entry.offset), self.end);
        if (offset as usize) < end {
            return Err(at.fault(format!(
                "expected an attribute at offset {end} or above, found one at {offset}"
            )));
        }
        let code = entry.code().ok_or_else(|| {
            let found = entry.raw_code;
            at.fault(format!("expected an attribute type code, found {found}"))
        })?;
        let verified = verify::verify(self.attributes, offset, code);
        self.end = verified.map_err(|error| self.fault(code, &error))?;
        Ok((code, self.end))
    }

    /// Creates the fault of an attribute with this code.
    #[cold]
    pub(crate) fn fault(&self, code: AttrTypeCode, error: &AttrError) -> Fault {
        let offset = self.base + error.offset();
        Fault::new(SectionId::Attributes, offset, format!("{code}: {error}"))
    }
}

/// The type codes of the attributes of a file; all attributes are verified, and none overlap.
///
/// ```
/// use tfrt_attr::{AttrRef, AttrValue};
/// use tfrt_bef::BefFile;
/// use tfrt_bef::write::{BefBuilder, WriteOptions};
/// use tfrt_support::entity::EntityId;
///
/// let mut builder = BefBuilder::new(WriteOptions::default());
/// builder.add_attribute(AttrValue::string("hi"))?;
/// let bef = BefFile::from_bytes(&builder.finish()?).verify()?;
///
/// let types = bef.attribute_types()?.expect("the section is written by default");
/// for (offset, code) in types.iter() {
///     let attribute = AttrRef::new(bef.attributes(), offset.index() as u32, code);
///     assert_eq!(attribute.decode()?, AttrValue::string("hi"));
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AttributeTypes {
    /// By offset, ascending.
    codes: Vec<(AttributeOffset, AttrTypeCode)>,
}

impl AttributeTypes {
    /// Reads the table and checks the attributes in `attributes`, which start at `base` in the
    /// file.
    pub(crate) fn read(
        mut cursor: Cursor<'_>,
        attributes: &[u8],
        base: usize,
    ) -> Result<Self, Fault> {
        let count = cursor.count(COUNT)?;
        let mut checker = AttributeChecker::new(attributes, base);
        let limit = attributes.len() as u64;
        let read = |cursor: &mut Cursor<'_>| {
            let at = cursor.clone();
            let entry = AttributeEntry::read(cursor, limit)?;
            let (code, _) = checker.check(&at, entry)?;
            Ok((entry.offset, code))
        };
        let codes: Result<_, Fault> = Entries::new(cursor, count as u64, read)
            .map(|entry| entry.map(|entry| entry.value))
            .collect();
        Ok(Self { codes: codes? })
    }

    /// Returns the type code of the attribute at `offset`, if the section has it.
    #[must_use]
    pub fn code(&self, offset: AttributeOffset) -> Option<AttrTypeCode> {
        let index = self
            .codes
            .binary_search_by_key(&raw(offset), |&(offset, _)| raw(offset))
            .ok()?;
        Some(self.codes[index].1)
    }

    /// Returns the attributes with their type codes, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (AttributeOffset, AttrTypeCode)> + '_ {
        self.codes.iter().copied()
    }
}
