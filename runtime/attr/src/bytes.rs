//! Bounds-checked reads of fixed-width fields. The one place that turns offsets into bytes.

use crate::error::{AttrError, AttrProblem};

/// Returns the `len` bytes of `section` at `offset`.
pub(crate) fn slice(section: &[u8], offset: usize, len: u64) -> Result<&[u8], AttrError> {
    let rest = section.get(offset..).unwrap_or_default();
    usize::try_from(len)
        .ok()
        .and_then(|len| rest.get(..len))
        .ok_or_else(|| {
            AttrError::new(
                offset,
                AttrProblem::Truncated {
                    expected: len,
                    found: rest.len(),
                },
            )
        })
}

/// Returns the `N` bytes of `section` at `offset`.
pub(crate) fn array<const N: usize>(section: &[u8], offset: usize) -> Result<[u8; N], AttrError> {
    let rest = section.get(offset..).unwrap_or_default();
    rest.first_chunk().copied().ok_or_else(|| {
        AttrError::new(
            offset,
            AttrProblem::Truncated {
                expected: N as u64,
                found: rest.len(),
            },
        )
    })
}

pub(crate) fn read_u8(section: &[u8], offset: usize) -> Result<u8, AttrError> {
    array(section, offset).map(|[byte]| byte)
}

pub(crate) fn read_u16(section: &[u8], offset: usize) -> Result<u16, AttrError> {
    array(section, offset).map(u16::from_le_bytes)
}

pub(crate) fn read_u32(section: &[u8], offset: usize) -> Result<u32, AttrError> {
    array(section, offset).map(u32::from_le_bytes)
}

/// Checks that `offset` is a multiple of `align`.
pub(crate) fn check_aligned(offset: usize, align: usize) -> Result<(), AttrError> {
    if offset.is_multiple_of(align) {
        Ok(())
    } else {
        Err(AttrError::new(
            offset,
            AttrProblem::Misaligned { expected: align },
        ))
    }
}
