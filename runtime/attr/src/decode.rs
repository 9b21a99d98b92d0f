//! Decoding of bytes to owned values.

use crate::bytes::slice;
use crate::code::{AttrTypeCode, AttrTypeKind};
use crate::encode::fixed_size_bytes;
use crate::error::{AttrError, AttrProblem};
use crate::read::FromAttr;
use crate::value::{AttrValue, DenseAttr, Scalar, SymbolRefAttr};
use crate::verify::{self, dims_of};
use crate::view::{AggregateView, CompilationUnitView};

/// Verifies the attribute of type `code` at `offset` and returns its value. Needs no aligned
/// memory.
///
/// # Errors
/// If the bytes there are not such an attribute.
///
/// ```
/// use tfrt_attr::decode::decode;
/// use tfrt_attr::{AttrTypeCode, AttrValue};
///
/// assert_eq!(decode(b"\x03\0\0\0hey", 0, AttrTypeCode::STRING), Ok(AttrValue::string("hey")));
/// ```
pub fn decode(section: &[u8], offset: u32, code: AttrTypeCode) -> Result<AttrValue, AttrError> {
    let end = verify::verify(section, offset, code)?;
    value(&section[..end], offset, code)
}

/// Returns the value of an attribute that was verified.
fn value(section: &[u8], offset: u32, code: AttrTypeCode) -> Result<AttrValue, AttrError> {
    let at = offset as usize;
    Ok(match code.kind() {
        AttrTypeKind::Scalar(_) | AttrTypeKind::Type => {
            fixed(slice(section, at, fixed_size_bytes(code) as u64)?, at, code)?
        }
        AttrTypeKind::String => AttrValue::String(<&[u8]>::read(section, offset)?.to_vec()),
        AttrTypeKind::Func => AttrValue::Func(<&str>::read(section, offset)?.to_owned()),
        AttrTypeKind::Array(element) => {
            let size = fixed_size_bytes(element);
            let elements = section[at + 4..]
                .chunks_exact(size)
                .zip((at + 4..).step_by(size));
            AttrValue::Array(
                elements
                    .map(|(bytes, at)| fixed(bytes, at, element))
                    .collect::<Result<_, _>>()?,
            )
        }
        AttrTypeKind::Shape => match verify::header(section, at)? {
            None => AttrValue::Shape(None),
            Some(header) => {
                AttrValue::Shape(Some(dims_of(verify::shape(section, &header)?).collect()))
            }
        },
        AttrTypeKind::Dense => {
            let parts = verify::dense(section, &verify::dense_header(section, at)?)?;
            AttrValue::Dense(DenseAttr {
                dtype: parts.dtype,
                dims: dims_of(parts.dims).collect(),
                data: parts.data.to_vec(),
            })
        }
        AttrTypeKind::SymbolRef => {
            let unit = CompilationUnitView::read(section, offset)?;
            AttrValue::SymbolRef(SymbolRefAttr {
                root: unit.root().to_owned(),
                nested: unit
                    .nested()
                    .iter()
                    .map(|&symbol| symbol.to_owned())
                    .collect(),
                text: unit.text().to_owned(),
            })
        }
        AttrTypeKind::Aggregate => {
            let elements = AggregateView::read(section, offset)?;
            AttrValue::Array(
                elements
                    .iter()
                    .map(|element| element.decode())
                    .collect::<Result<_, _>>()?,
            )
        }
    })
}

/// Returns the number or element type stored in `bytes`.
fn fixed(bytes: &[u8], at: usize, code: AttrTypeCode) -> Result<AttrValue, AttrError> {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    let scalar = match code.kind() {
        AttrTypeKind::Scalar(dtype) => Scalar::new(dtype, u64::from_le_bytes(word)),
        _ => return verify::dtype(bytes[0], at).map(AttrValue::Type),
    };
    // Only a truth value has bits that its width does not allow.
    let invalid = AttrProblem::InvalidValue {
        expected: "a boolean",
        found: bytes[0],
    };
    scalar
        .map(AttrValue::Scalar)
        .ok_or_else(|| AttrError::new(at, invalid))
}
