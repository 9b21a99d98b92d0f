//! How attributes of a declared kind are stored, and which stored attributes can be read as one.

use tfrt_attr::{AttrTypeCode, FromAttr};
use tfrt_ods::FloatKind;
use tfrt_ods::{AttrDef, AttrKind, OpDef};
use tfrt_support::{DType, Error, ErrorCode};

/// Returns how attributes of this kind are stored, if there is a single way.
#[must_use]
pub fn stored_code(kind: &AttrKind) -> Option<AttrTypeCode> {
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
        AttrKind::Array(element) => Some(
            stored_code(element)?
                .array()
                .unwrap_or(AttrTypeCode::AGGREGATE),
        ),
        AttrKind::Aggregate => Some(AttrTypeCode::AGGREGATE),
        AttrKind::Dense => Some(AttrTypeCode::DENSE),
        AttrKind::Shape => Some(AttrTypeCode::SHAPE),
        AttrKind::CompilationUnit => Some(AttrTypeCode::SYMBOL_REF),
        AttrKind::Any => None,
    }
}

/// Checks that an attribute stored as `found`, at `offset` of `section`, can be read as the
/// declared one.
///
/// # Errors
/// States the expected and the stored kind.
pub fn check_kind(
    op: &OpDef,
    declared: &AttrDef,
    found: AttrTypeCode,
    section: &[u8],
    offset: u32,
) -> Result<(), Error> {
    match stored_code(&declared.kind) {
        Some(expected)
            if !is_read_as(found, expected, section, offset)
                && !is_unsigned_case(&declared.kind, found) =>
        {
            Err(wrong_kind(op, declared.name, expected, found))
        }
        _ => Ok(()),
    }
}

/// Returns `true` if `found` is the code of an enumeration whose integers are unsigned in text. The
/// bytes are those of a signed integer.
fn is_unsigned_case(kind: &AttrKind, found: AttrTypeCode) -> bool {
    let AttrKind::Enum(cases) = kind else {
        return false;
    };
    let unsigned = AttrKind::Int {
        width: cases.width,
        is_unsigned: true,
    };
    stored_code(&unsigned) == Some(found)
}

/// Returns `true` if an attribute stored as `found` can be read as one declared as `expected`.
fn is_read_as(found: AttrTypeCode, expected: AttrTypeCode, section: &[u8], offset: u32) -> bool {
    if found == expected {
        return true;
    }
    let is_list = matches!(expected.kind(), tfrt_attr::AttrTypeKind::Array(_))
        || expected == AttrTypeCode::AGGREGATE;
    let bytes = AttrTypeCode::of(DType::Ui8).and_then(AttrTypeCode::array);
    match found {
        // The empty list has no elements that could have another type; its code is that of a list
        // of `i32`.
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
