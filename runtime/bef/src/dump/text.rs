//! Values formatted for people, on one line.

use half::{bf16, f16};
use tfrt_attr::{AttrTypeCode, AttrValue, DenseAttr, Scalar};
use tfrt_support::DType;

/// The number of elements of a list or tensor that are shown.
const MAX_ELEMENTS: usize = 16;

/// The number of characters of a text that are shown.
const MAX_CHARS: usize = 160;

/// The number of bytes that determine what is shown of a text: a character has at most four.
pub(super) const MAX_TEXT_BYTES: usize = 4 * (MAX_CHARS + 1);

/// Formats `bytes` as text without quotes, safe to print.
pub(super) fn plain(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(MAX_TEXT_BYTES)]);
    let mut chars = text.chars();
    let mut shown: String = chars
        .by_ref()
        .take(MAX_CHARS)
        .flat_map(char::escape_debug)
        .collect();
    if chars.next().is_some() {
        shown.push('…');
    }
    shown
}

/// Formats `bytes` as text in quotes, safe to print.
pub(super) fn quoted(bytes: &[u8]) -> String {
    format!("\"{}\"", plain(bytes))
}

/// `1 byte`, `2 bytes`, and so on.
pub(super) fn count(number: usize, what: &str) -> String {
    match number {
        1 => format!("1 {what}"),
        _ => format!("{number} {what}s"),
    }
}

/// Formats the items separated by commas, up to the number shown of a list.
pub(super) fn list<T>(items: &[T], text: impl FnMut(&T) -> String) -> String {
    let mut texts: Vec<String> = items.iter().take(MAX_ELEMENTS).map(text).collect();
    if items.len() > MAX_ELEMENTS {
        texts.push(format!("… ({})", items.len()));
    }
    texts.join(", ")
}

/// Formats an attribute with its type.
pub(super) fn attribute(value: &AttrValue) -> String {
    match value {
        AttrValue::Scalar(number) => {
            format!("{} : {}", scalar(*number), spelling(number.dtype()))
        }
        AttrValue::String(bytes) => quoted(bytes),
        AttrValue::Type(dtype) => format!("type {}", spelling(*dtype)),
        AttrValue::Func(name) => format!("function {}", quoted(name.as_bytes())),
        AttrValue::Shape(None) => "shape<*>".to_owned(),
        AttrValue::Shape(Some(dims)) => format!("shape<{}>", shape(dims)),
        AttrValue::Dense(dense) => dense_text(dense),
        AttrValue::Array(elements) if value.code() == AttrTypeCode::AGGREGATE => {
            format!("[{}]", list(elements, attribute))
        }
        AttrValue::Array(elements) => {
            let element = |element: &AttrValue| match element {
                AttrValue::Scalar(number) => scalar(*number),
                other => attribute(other),
            };
            let suffix = match elements.first() {
                Some(AttrValue::Scalar(number)) => format!(" : {}", spelling(number.dtype())),
                _ => String::new(),
            };
            format!("[{}]{suffix}", list(elements, element))
        }
        AttrValue::SymbolRef(symbol) => {
            let path: String = std::iter::once(&symbol.root)
                .chain(&symbol.nested)
                .map(|name| format!("@{}", plain(name.as_bytes())))
                .collect::<Vec<_>>()
                .join("::");
            format!("{path} of {}", quoted(symbol.text.as_bytes()))
        }
    }
}

/// Formats dimensions as a shape.
fn shape(dims: &[i64]) -> String {
    let dims: Vec<String> = dims
        .iter()
        .map(|&dim| match dim {
            -1 => "?".to_owned(),
            dim => dim.to_string(),
        })
        .collect();
    dims.join("x")
}

fn dense_text(dense: &DenseAttr) -> String {
    let mut ty: String = dense.dims.iter().map(|dim| format!("{dim}x")).collect();
    ty += &spelling(dense.dtype);
    let size = dense.dtype.size_bytes().unwrap_or(1);
    let elements: Vec<&[u8]> = dense.data.chunks_exact(size).collect();
    let element = |bytes: &&[u8]| match dense.dtype {
        DType::Complex64 | DType::Complex128 => {
            let part = if size == 8 { DType::F32 } else { DType::F64 };
            let (real, imaginary) = bytes.split_at(size / 2);
            format!("({}, {})", number(part, real), number(part, imaginary))
        }
        dtype => number(dtype, bytes),
    };
    format!("dense<{ty}>[{}]", list(&elements, element))
}

/// Formats a number from its little-endian encoding.
fn number(dtype: DType, bytes: &[u8]) -> String {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    Scalar::new(dtype, u64::from_le_bytes(word)).map_or_else(String::new, scalar)
}

fn scalar(number: Scalar) -> String {
    let bits = number.bits();
    match number.dtype() {
        DType::I1 => (bits != 0).to_string(),
        DType::I8 => (bits as u8).cast_signed().to_string(),
        DType::I16 => (bits as u16).cast_signed().to_string(),
        DType::I32 => (bits as u32).cast_signed().to_string(),
        DType::I64 => bits.cast_signed().to_string(),
        DType::F32 => format!("{:?}", f32::from_bits(bits as u32)),
        DType::F64 => format!("{:?}", f64::from_bits(bits)),
        DType::Bf16 => format!("{:?}", bf16::from_bits(bits as u16).to_f32()),
        DType::F16 => format!("{:?}", f16::from_bits(bits as u16).to_f32()),
        _ => bits.to_string(),
    }
}

/// Returns the MLIR spelling of an element type, or our own if MLIR has none.
fn spelling(dtype: DType) -> String {
    match dtype {
        DType::Ui8 | DType::Ui16 | DType::Ui32 | DType::Ui64 => {
            format!("ui{}", &dtype.to_string()[1..])
        }
        DType::Complex64 => "complex<f32>".to_owned(),
        DType::Complex128 => "complex<f64>".to_owned(),
        other => other.to_string(),
    }
}
