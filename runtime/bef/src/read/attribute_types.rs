//! The AttributeTypes section: the offset and type code of every attribute.

use tfrt_attr::{AttrTypeCode, verify};

use crate::cursor::Cursor;
use crate::error::Fault;
use crate::format::SectionId;
use crate::ids::{AttributeOffset, id, raw};

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
        let count = cursor.count("a number of attributes")?;
        let mut codes = Vec::new();
        let mut end = 0;
        for _ in 0..count {
            let at = cursor.clone();
            let offset = cursor.vbr_below("the offset of an attribute", attributes.len() as u64)?;
            let raw_code = cursor.vbr("the type code of an attribute")?;
            if (offset as usize) < end {
                return Err(at.fault(format!(
                    "expected an attribute at offset {end} or above, found one at {offset}"
                )));
            }
            let code = u8::try_from(raw_code)
                .ok()
                .and_then(AttrTypeCode::from_raw)
                .ok_or_else(|| {
                    at.fault(format!("expected an attribute type code, found {raw_code}"))
                })?;
            end = verify::verify(attributes, offset, code).map_err(|error| {
                Fault::new(
                    SectionId::Attributes,
                    base + error.offset(),
                    format!("{code}: {error}"),
                )
            })?;
            codes.push((id(offset), code));
        }
        Ok(Self { codes })
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
