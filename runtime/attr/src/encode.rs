//! Encoding: appends attribute values to a section, byte for byte as TFRT does.
//!
//! Every encoding starts at its alignment; skipped bytes contain [`PADDING`]. Layouts, with `|`
//! between fields:
//!
//! ```text
//!  number           its bytes, naturally aligned                        type          u8 element type code
//!  string, func     u32 length | bytes                                  empty list    u32 0
//!  array            u32 count | elements (the elements are aligned, and the count is at least 4-aligned)
//!  shape            header | u32 rank | i64 × rank
//!  dense            header | u32 data offset | u32 count | u32 rank | i64 × rank | elements
//!  aggregate        header | u32 n | u32 offset × n | (u8 code | value) × n
//!  symbol           vbr lengths and counts | root | nested symbols | text | 00
//!
//!  header           u8 alignment | u8 element type | u16 prefix bytes | u32 total bytes
//! ```
//!
//! A header is placed so that the data after the prefix is aligned, not the header itself.

use std::fmt;

use tfrt_support::DType;

use crate::code::{AttrTypeCode, AttrTypeKind};
use crate::limits;
use crate::value::{AttrValue, DenseAttr, Scalar, SymbolRefAttr};
use crate::vbr;

/// The value of skipped bytes.
pub const PADDING: u8 = 0xcc;

/// Bytes of the header before the dimensions of a shape.
pub(crate) const SHAPE_PREFIX_BYTES: usize = 12;
/// Bytes before the dimensions of a dense attribute.
pub(crate) const DENSE_PREFIX_BYTES: usize = 20;
/// Bytes before the offset table of an aggregate.
pub(crate) const AGGREGATE_PREFIX_BYTES: usize = 12;

/// The reasons why a value has no encoding.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EncodeError {
    /// A string, list or section is too long for its 32-bit length field.
    TooLong,
    /// A list of mixed elements has more of them than [`limits::MAX_AGGREGATE_LEN`].
    TooManyElements(usize),
    /// Lists nest deeper than [`limits::MAX_NESTING`].
    TooDeep,
    /// A dense attribute has a higher rank than [`limits::MAX_DENSE_RANK`].
    RankTooHigh(usize),
    /// Elements of this type cannot be stored in a dense attribute.
    NoDenseElement(DType),
    /// The data of a dense attribute has another size than its dimensions call for.
    DataSize {
        /// The size that dimensions and type call for, in bytes, if it can be computed.
        expected: Option<u64>,
        /// The size of the data in bytes.
        found: usize,
    },
    /// A symbol reference is an element of a list.
    SymbolInList,
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong => f.write_str("expected at most 4294967295 bytes of attribute data"),
            Self::TooManyElements(len) => {
                write!(
                    f,
                    "expected a list of at most {} mixed elements, found {len}",
                    limits::MAX_AGGREGATE_LEN
                )
            }
            Self::TooDeep => write!(
                f,
                "expected lists nested at most {} levels deep",
                limits::MAX_NESTING
            ),
            Self::RankTooHigh(rank) => {
                write!(
                    f,
                    "expected a dense attribute of rank at most {}, found rank {rank}",
                    limits::MAX_DENSE_RANK
                )
            }
            Self::NoDenseElement(dtype) => write!(
                f,
                "expected a number type as dense element type, found {dtype}"
            ),
            Self::DataSize {
                expected: Some(expected),
                found,
            } => {
                write!(f, "expected {expected} bytes of dense data, found {found}")
            }
            Self::DataSize { expected: None, .. } => {
                f.write_str("expected dimensions whose product fits in 64 bits")
            }
            Self::SymbolInList => {
                f.write_str("expected list elements other than symbol references")
            }
        }
    }
}

impl std::error::Error for EncodeError {}

tfrt_support::convert_errors!(EncodeError);

/// Builds a section of attributes.
///
/// ```
/// use tfrt_attr::{AttrEncoder, AttrValue, Scalar};
///
/// let mut encoder = AttrEncoder::new();
/// assert_eq!(encoder.encode(&Scalar::bool(true).into())?, 0);
/// assert_eq!(encoder.encode(&AttrValue::string("hey"))?, 4);
/// assert_eq!(encoder.as_bytes(), b"\x01\xcc\xcc\xcc\x03\0\0\0hey");
/// assert_eq!(encoder.alignment(), 4);
/// # Ok::<(), tfrt_attr::EncodeError>(())
/// ```
#[derive(Clone, Debug)]
pub struct AttrEncoder {
    bytes: Vec<u8>,
    alignment: usize,
}

impl Default for AttrEncoder {
    fn default() -> Self {
        Self::new()
    }
}

impl AttrEncoder {
    /// Creates an empty section.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            bytes: Vec::new(),
            alignment: 1,
        }
    }

    /// Returns the encoded bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the alignment in bytes that the start of the section needs, so that every attribute
    /// in it is aligned: 1, 2, 4 or 8.
    #[must_use]
    pub const fn alignment(&self) -> usize {
        self.alignment
    }

    /// Appends `value` and returns the offset that identifies it.
    ///
    /// # Errors
    /// If the value has no encoding; the section is then unchanged.
    pub fn encode(&mut self, value: &AttrValue) -> Result<u32, EncodeError> {
        let (len, alignment) = (self.bytes.len(), self.alignment);
        let offset = self.value(value, 0).and_then(|offset| {
            to_u32(self.bytes.len())?;
            to_u32(offset)
        });
        if offset.is_err() {
            self.bytes.truncate(len);
            self.alignment = alignment;
        }
        offset
    }

    fn value(&mut self, value: &AttrValue, depth: u32) -> Result<usize, EncodeError> {
        match value {
            AttrValue::Scalar(scalar) => {
                self.align(0, scalar.size_bytes());
                let offset = self.bytes.len();
                self.scalar(*scalar);
                Ok(offset)
            }
            AttrValue::Type(dtype) => {
                self.bytes.push(dtype.code());
                Ok(self.bytes.len() - 1)
            }
            AttrValue::String(text) => self.string(text),
            AttrValue::Func(name) => self.string(name.as_bytes()),
            AttrValue::Shape(None) => Ok(self.empty()),
            AttrValue::Shape(Some(dims)) => self.shape(dims),
            AttrValue::Dense(dense) => self.dense(dense),
            AttrValue::SymbolRef(symbol) => Ok(self.symbol_ref(symbol)),
            AttrValue::Array(elements) => match value.code().kind() {
                AttrTypeKind::Array(element) => self.array(element, elements),
                _ => self.aggregate(elements, depth),
            },
        }
    }

    /// Pads until the position `ahead` bytes further on is a multiple of `alignment`.
    fn align(&mut self, ahead: usize, alignment: usize) {
        self.alignment = self.alignment.max(alignment);
        let aligned = (self.bytes.len() + ahead).next_multiple_of(alignment) - ahead;
        self.bytes.resize(aligned, PADDING);
    }

    fn u32(&mut self, value: u32) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    fn scalar(&mut self, scalar: Scalar) {
        self.bytes
            .extend_from_slice(&scalar.bits().to_le_bytes()[..scalar.size_bytes()]);
    }

    fn dims(&mut self, dims: &[i64]) {
        self.bytes
            .extend(dims.iter().flat_map(|dim| dim.to_le_bytes()));
    }

    /// Returns the empty string, array, aggregate, or unranked shape.
    fn empty(&mut self) -> usize {
        self.align(0, 4);
        self.u32(0);
        self.bytes.len() - 4
    }

    fn string(&mut self, text: &[u8]) -> Result<usize, EncodeError> {
        self.align(0, 4);
        let offset = self.bytes.len();
        self.u32(to_u32(text.len())?);
        self.bytes.extend_from_slice(text);
        Ok(offset)
    }

    fn array(
        &mut self,
        element: AttrTypeCode,
        elements: &[AttrValue],
    ) -> Result<usize, EncodeError> {
        if elements.is_empty() {
            return Ok(self.empty());
        }
        let element_bytes = fixed_size_bytes(element);
        self.align(0, 4);
        self.align(4, element_bytes.max(4));
        let offset = self.bytes.len();
        self.u32(to_u32(elements.len())?);
        for element in elements {
            match element {
                AttrValue::Scalar(scalar) => self.scalar(*scalar),
                AttrValue::Type(dtype) => self.bytes.push(dtype.code()),
                _ => unreachable!("arrays hold numbers or types, by `AttrValue::code`"),
            }
        }
        Ok(offset)
    }

    fn header(
        &mut self,
        alignment: u8,
        dtype: u8,
        prefix_bytes: usize,
        total_bytes: u32,
    ) -> Result<usize, EncodeError> {
        self.align(prefix_bytes, alignment.into());
        let offset = self.bytes.len();
        let prefix_bytes = u16::try_from(prefix_bytes).map_err(|_| EncodeError::TooLong)?;
        self.bytes.extend_from_slice(&[alignment, dtype]);
        self.bytes.extend_from_slice(&prefix_bytes.to_le_bytes());
        self.u32(total_bytes);
        Ok(offset)
    }

    fn shape(&mut self, dims: &[i64]) -> Result<usize, EncodeError> {
        let total_bytes = to_u32(SHAPE_PREFIX_BYTES.saturating_add(dims.len().saturating_mul(8)))?;
        let offset = self.header(8, 0, SHAPE_PREFIX_BYTES, total_bytes)?;
        self.u32(to_u32(dims.len())?);
        self.dims(dims);
        Ok(offset)
    }

    fn dense(&mut self, dense: &DenseAttr) -> Result<usize, EncodeError> {
        let rank = dense.dims.len();
        if rank > limits::MAX_DENSE_RANK {
            return Err(EncodeError::RankTooHigh(rank));
        }
        let element_bytes =
            dense_element_bytes(dense.dtype).ok_or(EncodeError::NoDenseElement(dense.dtype))?;
        let num_elements = dense.num_elements();
        let expected = num_elements.and_then(|count| count.checked_mul(element_bytes as u64));
        if expected != Some(dense.data.len() as u64) {
            return Err(EncodeError::DataSize {
                expected,
                found: dense.data.len(),
            });
        }
        let count = num_elements
            .and_then(|count| u32::try_from(count).ok())
            .ok_or(EncodeError::TooLong)?;
        let prefix_bytes = DENSE_PREFIX_BYTES + 8 * rank;
        let total_bytes = to_u32(prefix_bytes.saturating_add(dense.data.len()))?;
        let offset = self.header(8, dense.dtype.code(), prefix_bytes, total_bytes)?;
        self.u32(to_u32(prefix_bytes)?);
        self.u32(count);
        self.u32(to_u32(rank)?);
        self.dims(&dense.dims);
        self.bytes.extend_from_slice(&dense.data);
        Ok(offset)
    }

    fn aggregate(&mut self, elements: &[AttrValue], depth: u32) -> Result<usize, EncodeError> {
        if depth == limits::MAX_NESTING {
            return Err(EncodeError::TooDeep);
        }
        if elements.len() > limits::MAX_AGGREGATE_LEN {
            return Err(EncodeError::TooManyElements(elements.len()));
        }
        let alignment = elements
            .iter()
            .map(member_alignment)
            .max()
            .unwrap_or(1)
            .max(4);
        let prefix_bytes = AGGREGATE_PREFIX_BYTES + 4 * elements.len();
        let offset = self.header(alignment, 0, prefix_bytes, 0)?;
        self.u32(to_u32(elements.len())?);
        let table = self.bytes.len();
        self.bytes.resize(table + 4 * elements.len(), 0);
        for (index, element) in elements.iter().enumerate() {
            if matches!(element, AttrValue::SymbolRef(_)) {
                return Err(EncodeError::SymbolInList);
            }
            self.bytes.push(PADDING);
            let value = self.value(element, depth + 1)?;
            self.bytes[value - 1] = element.code().raw();
            self.patch_u32(table + 4 * index, to_u32(value - offset)?);
        }
        self.patch_u32(offset + 4, to_u32(self.bytes.len() - offset)?);
        Ok(offset)
    }

    fn patch_u32(&mut self, at: usize, value: u32) {
        self.bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
    }

    fn symbol_ref(&mut self, symbol: &SymbolRefAttr) -> usize {
        let offset = self.bytes.len();
        vbr::write(&mut self.bytes, symbol.root.len() as u64);
        vbr::write(&mut self.bytes, symbol.nested.len() as u64);
        for nested in &symbol.nested {
            vbr::write(&mut self.bytes, nested.len() as u64);
        }
        vbr::write(&mut self.bytes, symbol.text.len() as u64);
        self.bytes.extend_from_slice(symbol.root.as_bytes());
        for nested in &symbol.nested {
            self.bytes.extend_from_slice(nested.as_bytes());
        }
        self.bytes.extend_from_slice(symbol.text.as_bytes());
        self.bytes.push(0);
        offset
    }
}

fn to_u32(len: usize) -> Result<u32, EncodeError> {
    u32::try_from(len).map_err(|_| EncodeError::TooLong)
}

/// Returns the size of one array element, in bytes; also its alignment.
pub(crate) fn fixed_size_bytes(element: AttrTypeCode) -> usize {
    match element.kind() {
        AttrTypeKind::Scalar(dtype) => dtype.size_bytes().unwrap_or(1),
        _ => 1,
    }
}

/// Returns the size of one dense element, in bytes, if `dtype` may be one.
pub(crate) fn dense_element_bytes(dtype: DType) -> Option<usize> {
    match dtype {
        DType::Complex64 | DType::Complex128 => dtype.size_bytes(),
        _ => AttrTypeCode::of(dtype).and(dtype.size_bytes()),
    }
}

/// Returns the alignment that `value` requires of its aggregate.
fn member_alignment(value: &AttrValue) -> u8 {
    match value {
        AttrValue::Scalar(scalar) => scalar.size_bytes() as u8,
        AttrValue::String(_) | AttrValue::Func(_) => 4,
        AttrValue::Type(_) | AttrValue::Shape(None) | AttrValue::SymbolRef(_) => 1,
        AttrValue::Shape(Some(_)) | AttrValue::Dense(_) | AttrValue::Array(_) => 8,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_without_encoding_leaves_the_section_alone() {
        let mut encoder = AttrEncoder::new();
        encoder.encode(&Scalar::bool(true).into()).unwrap();
        let before = encoder.clone();
        let symbol = SymbolRefAttr {
            root: "m".into(),
            nested: vec!["f".into()],
            text: String::new(),
        };
        let list = AttrValue::Array(vec![Scalar::i64(1).into(), AttrValue::SymbolRef(symbol)]);
        assert_eq!(encoder.encode(&list), Err(EncodeError::SymbolInList));
        assert_eq!(
            (encoder.as_bytes(), encoder.alignment()),
            (before.as_bytes(), before.alignment())
        );
    }

    #[test]
    fn lists_nest_up_to_the_limit() {
        let nested = |depth: u32| {
            (0..depth).fold(AttrValue::string("x"), |inner, _| {
                AttrValue::Array(vec![inner])
            })
        };
        assert!(
            AttrEncoder::new()
                .encode(&nested(limits::MAX_NESTING))
                .is_ok()
        );
        assert_eq!(
            AttrEncoder::new().encode(&nested(limits::MAX_NESTING + 1)),
            Err(EncodeError::TooDeep)
        );
    }

    #[test]
    fn an_aggregate_is_no_longer_than_its_header_can_say() {
        let list = |len| AttrValue::Array(vec![AttrValue::string("x"); len]);
        assert!(
            AttrEncoder::new()
                .encode(&list(limits::MAX_AGGREGATE_LEN))
                .is_ok()
        );
        let too_long = limits::MAX_AGGREGATE_LEN + 1;
        assert_eq!(
            AttrEncoder::new().encode(&list(too_long)),
            Err(EncodeError::TooManyElements(too_long))
        );
    }

    #[test]
    fn dense_data_must_fit_the_dimensions() {
        let dense = DenseAttr {
            dtype: DType::I32,
            dims: vec![2, 2],
            data: vec![0; 12],
        };
        let expected = Err(EncodeError::DataSize {
            expected: Some(16),
            found: 12,
        });
        assert_eq!(
            AttrEncoder::new().encode(&AttrValue::Dense(dense)),
            expected
        );
    }
}
