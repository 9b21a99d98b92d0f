//! The rules for encoded attributes, and their ends.
//!
//! 1. Every field and every byte of data is in the section.
//! 2. Data is at offsets with the encoder's alignment.
//! 3. A Boolean is 0 or 1; an element type is a code of [`DType`]; symbols, names of functions and
//!    module text are UTF-8.
//! 4. A header has alignment 4 or 8, the prefix that its counts require, and a total that covers
//!    its content.
//! 5. The elements of an aggregate come one after another without overlap, and nest at most
//!    [`MAX_NESTING`] deep.
//!
//! Rule 5 makes verification linear: every byte belongs to one element.

use tfrt_support::DType;

use crate::bytes::{array, check_aligned, read_u8, read_u16, read_u32, slice};
use crate::code::{AttrTypeCode, AttrTypeKind};
use crate::encode::{
    AGGREGATE_PREFIX_BYTES, DENSE_PREFIX_BYTES, SHAPE_PREFIX_BYTES, dense_element_bytes,
    fixed_size_bytes,
};
use crate::error::{AttrError, AttrProblem};
use crate::limits::MAX_NESTING;
use crate::value::count_elements;
use crate::view::CompilationUnitView;

/// Checks the attribute of type `code` at `offset` against every rule; returns the offset after its
/// last byte.
///
/// Takes time linear in the size of the attribute.
///
/// # Errors
/// The first violation.
///
/// ```
/// use tfrt_attr::AttrTypeCode;
/// use tfrt_attr::verify::verify;
///
/// assert_eq!(verify(b"\x03\0\0\0hey", 0, AttrTypeCode::STRING), Ok(7));
/// assert!(verify(b"\x04\0\0\0hey", 0, AttrTypeCode::STRING).is_err());
/// ```
pub fn verify(section: &[u8], offset: u32, code: AttrTypeCode) -> Result<usize, AttrError> {
    extent(section, offset as usize, code, 0)
}

pub(crate) fn extent(
    section: &[u8],
    offset: usize,
    code: AttrTypeCode,
    depth: u32,
) -> Result<usize, AttrError> {
    match code.kind() {
        AttrTypeKind::Scalar(_) => {
            let size = fixed_size_bytes(code);
            check_aligned(offset, size)?;
            fixed_elements(section, offset, code, 1)
        }
        AttrTypeKind::Type => fixed_elements(section, offset, code, 1),
        AttrTypeKind::String | AttrTypeKind::Func => {
            check_aligned(offset, 4)?;
            let len = read_u32(section, offset)?;
            let text = slice(section, offset + 4, len.into())?;
            if code == AttrTypeCode::FUNC && str::from_utf8(text).is_err() {
                return Err(AttrError::new(offset + 4, AttrProblem::NotUtf8));
            }
            Ok(offset + 4 + text.len())
        }
        AttrTypeKind::Array(element) => {
            let count = read_u32(section, offset)?;
            check_aligned(offset, 4)?;
            if count != 0 {
                check_aligned(offset + 4, fixed_size_bytes(element))?;
            }
            fixed_elements(section, offset + 4, element, count)
        }
        AttrTypeKind::Shape => match header(section, offset)? {
            None => Ok(offset + 4),
            Some(header) => shape(section, &header).map(|_| header.end()),
        },
        AttrTypeKind::Dense => {
            let header = dense_header(section, offset)?;
            dense(section, &header).map(|_| header.end())
        }
        AttrTypeKind::SymbolRef => CompilationUnitView::parse(section, offset).map(|(_, end)| end),
        AttrTypeKind::Aggregate => match header(section, offset)? {
            None => Ok(offset + 4),
            Some(header) => aggregate(section, &header, depth).map(|()| header.end()),
        },
    }
}

/// Checks `count` packed elements and returns their end.
fn fixed_elements(
    section: &[u8],
    offset: usize,
    element: AttrTypeCode,
    count: u32,
) -> Result<usize, AttrError> {
    let data = slice(
        section,
        offset,
        u64::from(count) * fixed_size_bytes(element) as u64,
    )?;
    match element.kind() {
        AttrTypeKind::Scalar(DType::I1) => truth_values(data, offset)?,
        AttrTypeKind::Type => {
            for (index, &code) in data.iter().enumerate() {
                dtype(code, offset + index)?;
            }
        }
        _ => {}
    }
    Ok(offset + data.len())
}

fn truth_values(data: &[u8], offset: usize) -> Result<(), AttrError> {
    match data.iter().position(|&byte| byte > 1) {
        None => Ok(()),
        Some(at) => Err(AttrError::new(
            offset + at,
            AttrProblem::InvalidValue {
                expected: "a boolean",
                found: data[at],
            },
        )),
    }
}

/// Returns the element type whose code is at `offset`.
pub(crate) fn dtype(code: u8, offset: usize) -> Result<DType, AttrError> {
    DType::from_code(code).ok_or_else(|| {
        AttrError::new(
            offset,
            AttrProblem::InvalidValue {
                expected: "the code of an element type",
                found: code,
            },
        )
    })
}

/// The header of a shape, a dense attribute or an aggregate, checked by itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Header {
    pub(crate) offset: usize,
    dtype: u8,
    prefix_bytes: usize,
    total_bytes: usize,
}

impl Header {
    /// Returns where the attribute ends; in the section, since the total was checked.
    pub(crate) fn end(&self) -> usize {
        self.offset + self.total_bytes
    }

    fn expect_prefix(&self, expected: u64) -> Result<(), AttrError> {
        expect_field(
            self.offset + 2,
            "a prefix size of",
            expected,
            self.prefix_bytes as u64,
        )
    }

    fn expect_total(&self, expected: u64) -> Result<(), AttrError> {
        expect_field(
            self.offset + 4,
            "a total size of",
            expected,
            self.total_bytes as u64,
        )
    }
}

fn expect_field(
    offset: usize,
    field: &'static str,
    expected: u64,
    found: u64,
) -> Result<(), AttrError> {
    if expected == found {
        Ok(())
    } else {
        Err(AttrError::new(
            offset,
            AttrProblem::InvalidHeader {
                field,
                expected,
                found,
            },
        ))
    }
}

/// Reads the header at `offset`; none for the empty attribute.
pub(crate) fn header(section: &[u8], offset: usize) -> Result<Option<Header>, AttrError> {
    let alignment = read_u8(section, offset)?;
    if alignment == 0 {
        check_aligned(offset, 4)?;
        expect_field(
            offset,
            "an empty attribute of",
            0,
            read_u32(section, offset)?.into(),
        )?;
        return Ok(None);
    }
    if alignment != 4 && alignment != 8 {
        let problem = AttrProblem::InvalidHeader {
            field: "an alignment of",
            expected: 8,
            found: alignment.into(),
        };
        return Err(AttrError::new(offset, problem));
    }
    let dtype = read_u8(section, offset + 1)?;
    let prefix_bytes = usize::from(read_u16(section, offset + 2)?);
    let total_bytes = read_u32(section, offset + 4)?;
    check_aligned(offset + prefix_bytes, alignment.into())?;
    slice(section, offset, total_bytes.into())?;
    Ok(Some(Header {
        offset,
        dtype,
        prefix_bytes,
        total_bytes: total_bytes as usize,
    }))
}

/// Reads the header of a dense attribute at `offset`; there is no empty one.
pub(crate) fn dense_header(section: &[u8], offset: usize) -> Result<Header, AttrError> {
    header(section, offset)?.ok_or_else(|| {
        AttrError::new(
            offset,
            AttrProblem::InvalidHeader {
                field: "an alignment of",
                expected: 8,
                found: 0,
            },
        )
    })
}

/// Returns the bytes of the dimensions of a ranked shape.
pub(crate) fn shape<'a>(section: &'a [u8], header: &Header) -> Result<&'a [u8], AttrError> {
    let rank = read_u32(section, header.offset + 8)?;
    header.expect_prefix(SHAPE_PREFIX_BYTES as u64)?;
    header.expect_total(SHAPE_PREFIX_BYTES as u64 + 8 * u64::from(rank))?;
    slice(
        section,
        header.offset + SHAPE_PREFIX_BYTES,
        8 * u64::from(rank),
    )
}

/// The parts of a dense attribute, in place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DenseParts<'a> {
    pub(crate) dtype: DType,
    pub(crate) num_elements: usize,
    pub(crate) dims: &'a [u8],
    pub(crate) data: &'a [u8],
    pub(crate) data_offset: usize,
}

pub(crate) fn dense<'a>(section: &'a [u8], header: &Header) -> Result<DenseParts<'a>, AttrError> {
    let dtype = dtype(header.dtype, header.offset + 1)?;
    let element_bytes = dense_element_bytes(dtype).ok_or_else(|| {
        let problem = AttrProblem::InvalidValue {
            expected: "a dense element type",
            found: header.dtype,
        };
        AttrError::new(header.offset + 1, problem)
    })?;
    let data_offset = read_u32(section, header.offset + 8)?;
    let num_elements = read_u32(section, header.offset + 12)?;
    let rank = read_u32(section, header.offset + 16)?;
    let prefix_bytes = DENSE_PREFIX_BYTES as u64 + 8 * u64::from(rank);
    header.expect_prefix(prefix_bytes)?;
    expect_field(
        header.offset + 8,
        "an element offset of",
        prefix_bytes,
        data_offset.into(),
    )?;
    let dims = slice(
        section,
        header.offset + DENSE_PREFIX_BYTES,
        8 * u64::from(rank),
    )?;
    let dim_values: Vec<i64> = dims_of(dims).collect();
    let count = count_elements(&dim_values).unwrap_or(u64::MAX);
    expect_field(
        header.offset + 12,
        "an element count of",
        count,
        num_elements.into(),
    )?;
    let data_bytes = u64::from(num_elements) * element_bytes as u64;
    header.expect_total(prefix_bytes + data_bytes)?;
    let data_offset = header.offset + header.prefix_bytes;
    let data = slice(section, data_offset, data_bytes)?;
    if dtype == DType::I1 {
        truth_values(data, data_offset)?;
    }
    Ok(DenseParts {
        dtype,
        num_elements: num_elements as usize,
        dims,
        data,
        data_offset,
    })
}

/// Returns the dimensions stored in `bytes`, eight bytes each.
pub(crate) fn dims_of(bytes: &[u8]) -> impl ExactSizeIterator<Item = i64> + '_ {
    bytes
        .as_chunks()
        .0
        .iter()
        .map(|chunk| i64::from_le_bytes(*chunk))
}

fn aggregate(section: &[u8], header: &Header, depth: u32) -> Result<(), AttrError> {
    if depth == MAX_NESTING {
        return Err(AttrError::new(header.offset, AttrProblem::TooDeep));
    }
    let len = aggregate_len(section, header)?;
    // Elements may not reach beyond the aggregate; offsets stay those of the section.
    let section = &section[..header.end()];
    let mut end = header.offset + header.prefix_bytes;
    for index in 0..len {
        let (value, code) = aggregate_element(section, header, index)?;
        if value <= end {
            let problem = AttrProblem::InvalidHeader {
                field: "an element offset above",
                expected: (end - header.offset) as u64,
                found: (value - header.offset) as u64,
            };
            return Err(AttrError::new(element_slot(header, index), problem));
        }
        end = extent(section, value, code, depth + 1)?;
    }
    Ok(())
}

/// Returns how many elements the aggregate has.
pub(crate) fn aggregate_len(section: &[u8], header: &Header) -> Result<usize, AttrError> {
    let len = read_u32(section, header.offset + 8)?;
    header.expect_prefix(AGGREGATE_PREFIX_BYTES as u64 + 4 * u64::from(len))?;
    slice(section, header.offset, header.prefix_bytes as u64)?;
    if header.total_bytes < header.prefix_bytes {
        header.expect_total(header.prefix_bytes as u64)?;
    }
    Ok(len as usize)
}

fn element_slot(header: &Header, index: usize) -> usize {
    header.offset + AGGREGATE_PREFIX_BYTES + 4 * index
}

/// Offset and code of element `index`.
pub(crate) fn aggregate_element(
    section: &[u8],
    header: &Header,
    index: usize,
) -> Result<(usize, AttrTypeCode), AttrError> {
    let [a, b, c, d] = array(section, element_slot(header, index))?;
    let value = header
        .offset
        .saturating_add(u32::from_le_bytes([a, b, c, d]) as usize);
    let code_at = value.saturating_sub(1);
    let raw = read_u8(section, code_at)?;
    let code = AttrTypeCode::from_raw(raw)
        .ok_or_else(|| AttrError::new(code_at, AttrProblem::UnknownCode(raw)))?;
    Ok((value, code))
}
