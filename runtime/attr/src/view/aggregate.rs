//! Lists of attributes of any kinds, in place.

use crate::code::AttrTypeCode;
use crate::decode;
use crate::error::AttrError;
use crate::read::FromAttr;
use crate::value::AttrValue;
use crate::verify::{self, Header};

/// An attribute of known type: one element of an aggregate, or an attribute whose code is stored
/// elsewhere.
#[derive(Clone, Copy, Debug)]
pub struct AttrRef<'a> {
    section: &'a [u8],
    offset: u32,
    code: AttrTypeCode,
}

impl<'a> AttrRef<'a> {
    /// Returns the attribute of type `code` at `offset` of `section`, not yet checked.
    #[must_use]
    pub fn new(section: &'a [u8], offset: u32, code: AttrTypeCode) -> Self {
        Self {
            section,
            offset,
            code,
        }
    }

    /// Returns the type of the attribute.
    #[must_use]
    pub fn code(self) -> AttrTypeCode {
        self.code
    }

    /// Returns the offset of the attribute in its section.
    #[must_use]
    pub fn offset(self) -> u32 {
        self.offset
    }

    /// Returns the attribute as a `T`.
    ///
    /// # Errors
    /// If it has another type, or its bytes are not such an attribute.
    pub fn read<T: FromAttr<'a>>(self) -> Result<T, AttrError> {
        T::read_as(self.section, self.offset, self.code)
    }

    /// Returns the attribute as an owned value.
    ///
    /// # Errors
    /// If its bytes are not such an attribute.
    pub fn decode(self) -> Result<AttrValue, AttrError> {
        decode::decode(self.section, self.offset, self.code)
    }
}

/// A list of attributes of any kinds; may be empty.
///
/// ```
/// use tfrt_attr::{AggregateView, AlignedBytes, AttrEncoder, AttrValue, FromAttr, Scalar};
///
/// let list = AttrValue::Array(vec![AttrValue::string("a"), Scalar::i64(1).into()]);
/// let mut encoder = AttrEncoder::new();
/// let offset = encoder.encode(&list)?;
/// let section = AlignedBytes::from(encoder.as_bytes());
/// let view = AggregateView::read(&section, offset)?;
/// assert_eq!(view.len(), 2);
/// assert_eq!(view.get(0).map(|element| element.read::<&str>()), Some(Ok("a")));
/// assert_eq!(view.get(1).map(|element| element.read::<i64>()), Some(Ok(1)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct AggregateView<'a> {
    section: &'a [u8],
    /// None for the empty list.
    header: Option<Header>,
    len: usize,
}

impl<'a> AggregateView<'a> {
    /// Returns the number of elements.
    #[must_use]
    pub fn len(self) -> usize {
        self.len
    }

    /// Returns `true` if there are no elements.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.len == 0
    }

    /// Returns element `index`, if it exists.
    #[must_use]
    pub fn get(self, index: usize) -> Option<AttrRef<'a>> {
        let header = self.header.filter(|_| index < self.len)?;
        // Both conversions hold for every element, by the verification in `read`.
        let (offset, code) = verify::aggregate_element(self.section, &header, index).ok()?;
        Some(AttrRef {
            section: self.section,
            offset: u32::try_from(offset).ok()?,
            code,
        })
    }

    /// Returns the elements, in order.
    pub fn iter(self) -> impl Iterator<Item = AttrRef<'a>> {
        (0..self.len).filter_map(move |index| self.get(index))
    }
}

impl<'a> FromAttr<'a> for AggregateView<'a> {
    const EXPECTED: &'static str = "aggregate";
    const TAKES_EMPTY_ARRAY: bool = true;

    fn is_stored_as(code: AttrTypeCode) -> bool {
        code == AttrTypeCode::AGGREGATE
    }

    fn read(section: &'a [u8], offset: u32) -> Result<Self, AttrError> {
        let end = verify::verify(section, offset, AttrTypeCode::AGGREGATE)?;
        let section = &section[..end];
        let header = verify::header(section, offset as usize)?;
        let len = header.map_or(Ok(0), |header| verify::aggregate_len(section, &header))?;
        Ok(Self {
            section,
            header,
            len,
        })
    }
}
