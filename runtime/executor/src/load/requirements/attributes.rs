//! Attributes that kernels read: each has to be there, of the kind that is declared, and readable as what the kernel reads it as.
//!
//! What kind of attribute a file holds is said by its section of attribute types, which it may leave out. The bytes are looked at
//! either way.

use tfrt_attr::{AttrTypeCode, FromAttr};
use tfrt_host::kernel::{AttributeList, KernelTypes};
use tfrt_ods::constraint::FloatKind;
use tfrt_ods::{AttrKind, OpDef};
use tfrt_support::{DType, Error, ErrorCode};

/// Checks the attributes of one kernel. `code_of` tells what the file says of the attribute at an offset.
pub(crate) fn check(
    op: &OpDef,
    types: &KernelTypes,
    attributes: AttributeList<'_>,
    code_of: impl Fn(u32) -> Option<AttrTypeCode>,
) -> Result<(), Error> {
    // An op that leaves its attributes open declares others, or none.
    if attributes.offsets.len() == op.attributes.len() {
        for (declared, &offset) in op.attributes.iter().zip(attributes.offsets) {
            let expected = code(&declared.kind);
            if let (Some(expected), Some(found)) = (expected, code_of(offset))
                && !is_read_as(found, expected, attributes.section, offset)
            {
                return Err(wrong_kind(op, declared.name, expected, found));
            }
        }
    }
    types.check_attributes(op, attributes)
}

/// How attributes of this kind are stored, if that is one way.
fn code(kind: &AttrKind) -> Option<AttrTypeCode> {
    let integer = |width, is_unsigned| {
        AttrTypeCode::of(match (width, is_unsigned) {
            (1, _) => DType::I1,
            (8, false) => DType::I8,
            (16, false) => DType::I16,
            (32, false) => DType::I32,
            (64, false) => DType::I64,
            (8, true) => DType::Ui8,
            (16, true) => DType::Ui16,
            (32, true) => DType::Ui32,
            (64, true) => DType::Ui64,
            _ => return None,
        })
    };
    match kind {
        AttrKind::Int { width, is_unsigned } => integer(*width, *is_unsigned),
        AttrKind::Enum(cases) => integer(cases.width, false),
        AttrKind::Float(FloatKind::Bf16) => AttrTypeCode::of(DType::Bf16),
        AttrKind::Float(FloatKind::F16) => AttrTypeCode::of(DType::F16),
        AttrKind::Float(FloatKind::F32) => AttrTypeCode::of(DType::F32),
        AttrKind::Float(FloatKind::F64) => AttrTypeCode::of(DType::F64),
        AttrKind::String => Some(AttrTypeCode::STRING),
        AttrKind::Type => Some(AttrTypeCode::TYPE),
        AttrKind::Array(element) => Some(code(element)?.array().unwrap_or(AttrTypeCode::AGGREGATE)),
        AttrKind::Aggregate => Some(AttrTypeCode::AGGREGATE),
        AttrKind::Dense => Some(AttrTypeCode::DENSE),
        AttrKind::Shape => Some(AttrTypeCode::SHAPE),
        AttrKind::CompilationUnit => Some(AttrTypeCode::SYMBOL_REF),
        AttrKind::Any => None,
    }
}

/// Whether an attribute that is stored as `found` is read as one that is declared to be `expected`.
fn is_read_as(found: AttrTypeCode, expected: AttrTypeCode, section: &[u8], offset: u32) -> bool {
    if found == expected {
        return true;
    }
    let is_list = matches!(expected.kind(), tfrt_attr::AttrKind::Array(_))
        || expected == AttrTypeCode::AGGREGATE;
    let bytes = AttrTypeCode::of(DType::Ui8).and_then(AttrTypeCode::array);
    match found {
        // The empty list has no elements that could be of another type; its code is that of a list of `i32`.
        AttrTypeCode::EMPTY_ARRAY => {
            is_list && <&[i32]>::read(section, offset).is_ok_and(<[i32]>::is_empty)
        }
        AttrTypeCode::FUNC => expected == AttrTypeCode::STRING,
        AttrTypeCode::STRING => bytes == Some(expected),
        _ => false,
    }
}

#[cold]
fn wrong_kind(op: &OpDef, name: &str, expected: AttrTypeCode, found: AttrTypeCode) -> Error {
    Error::new(format!(
        "attribute `{name}` of `{}`: expected {expected}, found {found}",
        op.name
    ))
    .with_code(ErrorCode::InvalidArgument)
}
