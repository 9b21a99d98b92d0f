//! Attributes and locations as text. Each may contain the other.

use std::fmt::Write as _;

use super::number::print_float;
use crate::attribute::{AttrId, Attribute, DenseElements};
use crate::ids::LocationId;
use crate::location::Location;
use crate::module::{Module, NameId, dense_element_bytes};
use crate::types::{FloatType, Signedness, Type, TypeId};

/// Longer lists of dense elements are printed as hexadecimal bytes.
const MAX_LISTED_ELEMENTS: u64 = 100;
/// Longer lists of dense elements are elided on request.
const MAX_KEPT_ELEMENTS: u64 = 16;

/// When to print the type of an attribute.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TypeNote {
    /// Always.
    Always,
    /// Unless it is the default of the parser: `i64` or `f64`.
    UnlessDefault,
    /// Never: it follows from the context.
    Never,
}

/// Appends an attribute, with its type.
pub fn print_attribute(module: &Module, attribute: AttrId, out: &mut String) {
    write(module, attribute, TypeNote::Always, false, out);
}

/// Appends an attribute with its type, eliding long lists of dense elements if `elides`.
pub(crate) fn print_attribute_eliding(
    module: &Module,
    attribute: AttrId,
    elides: bool,
    out: &mut String,
) {
    write(module, attribute, TypeNote::Always, elides, out);
}

/// Appends a number or elements without their type, and any other attribute unchanged.
pub(crate) fn print_attribute_without_type(module: &Module, attribute: AttrId, out: &mut String) {
    write(module, attribute, TypeNote::Never, false, out);
}

/// Appends ` {a = 1 : i32, b}`.
pub(crate) fn print_dictionary(
    module: &Module,
    entries: &[(NameId, AttrId)],
    elides: bool,
    out: &mut String,
) {
    out.push('{');
    for (index, (name, value)) in entries.iter().enumerate() {
        if index != 0 {
            out.push_str(", ");
        }
        print_entry(module, module.name(*name), *value, elides, out);
    }
    out.push('}');
}

/// Appends `a = 1 : i32`, or `b` for a unit attribute.
pub(crate) fn print_entry(
    module: &Module,
    name: &str,
    value: AttrId,
    elides: bool,
    out: &mut String,
) {
    print_name(name, out);
    if *module.attribute(value) != Attribute::Unit {
        out.push_str(" = ");
        write(module, value, TypeNote::Always, elides, out);
    }
}

/// Returns `true` if a name needs no quotes.
#[must_use]
pub fn is_bare_identifier(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'.'))
}

/// Appends a name, in quotes if it needs them.
pub(super) fn print_name(name: &str, out: &mut String) {
    if is_bare_identifier(name) {
        out.push_str(name);
    } else {
        print_string(name.as_bytes(), out);
    }
}

/// Appends a string in quotes.
pub fn print_string(text: &[u8], out: &mut String) {
    out.push('"');
    for &byte in text {
        match byte {
            b'\\' => out.push_str("\\\\"),
            b'"' => out.push_str("\\22"),
            b' '..=b'~' => out.push(char::from(byte)),
            _ => {
                let _ = write!(out, "\\{byte:02X}");
            }
        }
    }
    out.push('"');
}

/// Appends `@name`.
pub fn print_symbol(name: &str, out: &mut String) {
    out.push('@');
    if is_bare_identifier(name) {
        out.push_str(name);
    } else {
        print_string(name.as_bytes(), out);
    }
}

fn write(module: &Module, attribute: AttrId, note: TypeNote, elides: bool, out: &mut String) {
    match module.attribute(attribute) {
        Attribute::Unit => out.push_str("unit"),
        Attribute::Integer { value, ty } => {
            let is_default = match module.ty(*ty) {
                Type::Integer {
                    width: 1,
                    signedness: Signedness::Signless,
                } => {
                    out.push_str(if *value == 0 { "false" } else { "true" });
                    return;
                }
                Type::Integer {
                    width: 64,
                    signedness: Signedness::Signless,
                } => true,
                _ => false,
            };
            let _ = write!(out, "{value}");
            write_type_note(module, *ty, note, is_default, out);
        }
        Attribute::Float { bits, ty } => {
            let format = match module.ty(*ty) {
                Type::Float(format) => *format,
                _ => FloatType::F64,
            };
            let start = out.len();
            print_float(format, *bits, out);
            // Bits in hexadecimal, as of an infinity, would be read as those of an integer.
            let is_default = format == FloatType::F64 && !out[start..].starts_with("0x");
            write_type_note(module, *ty, note, is_default, out);
        }
        Attribute::String(text) => print_string(text, out),
        Attribute::Type(ty) => out.push_str(module.type_spelling(*ty)),
        Attribute::Array(elements) => {
            out.push('[');
            for (index, element) in elements.iter().enumerate() {
                if index != 0 {
                    out.push_str(", ");
                }
                write(module, *element, TypeNote::UnlessDefault, elides, out);
            }
            out.push(']');
        }
        Attribute::Dictionary(entries) => print_dictionary(module, entries, elides, out),
        Attribute::SymbolRef { root, nested } => {
            print_symbol(root, out);
            for name in nested {
                out.push_str("::");
                print_symbol(name, out);
            }
        }
        Attribute::Dense { ty, elements } => {
            write_dense(module, *ty, elements, elides, out);
            write_type_note(module, *ty, note, false, out);
        }
        Attribute::Shape { notation, dims } => {
            let _ = write!(out, "#{notation}<");
            match dims {
                None => out.push('*'),
                Some(dims) => {
                    for (index, dim) in dims.iter().enumerate() {
                        if index != 0 {
                            out.push('x');
                        }
                        match dim {
                            Some(size) => {
                                let _ = write!(out, "{size}");
                            }
                            None => out.push('?'),
                        }
                    }
                }
            }
            out.push('>');
        }
        Attribute::Opaque { dialect, body, ty } => {
            let dot = if body.starts_with('<') { "" } else { "." };
            let _ = write!(out, "#{dialect}{dot}{body}");
            if let Some(ty) = ty {
                let _ = write!(out, " : {}", module.type_spelling(*ty));
            }
        }
        Attribute::Elements { text, ty } => {
            out.push_str(text);
            write_type_note(module, *ty, note, false, out);
        }
        Attribute::DenseArray { element, bytes } => {
            let _ = write!(out, "array<{}", module.type_spelling(*element));
            let size = dense_element_bytes(module, *element).unwrap_or(1);
            for (index, chunk) in bytes.chunks(size).enumerate() {
                out.push_str(if index == 0 { ": " } else { ", " });
                write_element(module, *element, chunk, out);
            }
            out.push('>');
        }
        Attribute::Resource { key, ty } => {
            out.push_str("dense_resource<");
            print_name(key, out);
            out.push('>');
            write_type_note(module, *ty, note, false, out);
        }
        Attribute::Location(location) => {
            let _ = write!(out, "loc({})", location_text(module, *location));
        }
        Attribute::Layout { text, .. } => out.push_str(text),
    }
}

fn write_type_note(
    module: &Module,
    ty: TypeId,
    note: TypeNote,
    is_default: bool,
    out: &mut String,
) {
    if note == TypeNote::Always || note == TypeNote::UnlessDefault && !is_default {
        let _ = write!(out, " : {}", module.type_spelling(ty));
    }
}

fn write_dense(
    module: &Module,
    ty: TypeId,
    elements: &DenseElements,
    elides: bool,
    out: &mut String,
) {
    let (Type::Tensor { element, .. } | Type::Vector { element, .. }) = module.ty(ty) else {
        out.push_str("dense<>");
        return;
    };
    let dims = fixed_dims(module.ty(ty));
    let count = dims
        .iter()
        .try_fold(1u64, |product, dim| product.checked_mul(*dim))
        .unwrap_or(u64::MAX);
    let is_list = match elements {
        DenseElements::Splat(_) => false,
        DenseElements::List(_) => true,
        DenseElements::Strings(texts) => texts.len() as u64 == count && count != 1,
    };
    if elides && is_list && count > MAX_KEPT_ELEMENTS {
        out.push_str("opaque<\"_\", \"0xDEADBEEF\">");
        return;
    }
    out.push_str("dense<");
    match elements {
        DenseElements::Splat(bytes) => write_element(module, *element, bytes, out),
        DenseElements::List(bytes) if count > MAX_LISTED_ELEMENTS => {
            write_bytes(module, *element, bytes, out)
        }
        DenseElements::List(bytes) => {
            let size = dense_element_bytes(module, *element).unwrap_or(1);
            let mut chunks = bytes.chunks(size);
            write_nested(&dims, out, &mut |out| {
                if let Some(chunk) = chunks.next() {
                    write_element(module, *element, chunk, out);
                }
            });
        }
        DenseElements::Strings(texts) if is_list => {
            let mut texts = texts.iter();
            write_nested(&dims, out, &mut |out| {
                if let Some(text) = texts.next() {
                    print_string(text, out);
                }
            });
        }
        DenseElements::Strings(texts) => {
            if let Some(text) = texts.first() {
                print_string(text, out);
            }
        }
    }
    out.push('>');
}

/// Returns the sizes of the dimensions of a tensor or vector type; an unknown one counts as zero.
pub(crate) fn fixed_dims(ty: &Type) -> Vec<u64> {
    match ty {
        Type::Tensor { dims, .. } => dims.iter().map(|dim| dim.unwrap_or(0)).collect(),
        Type::Vector { dims, .. } => dims.to_vec(),
        _ => Vec::new(),
    }
}

/// Appends the elements, with a pair of brackets for each dimension.
fn write_nested(dims: &[u64], out: &mut String, write_one: &mut dyn FnMut(&mut String)) {
    if dims.contains(&0) {
        return;
    }
    let Some((last, outer)) = dims.split_last() else {
        write_one(out);
        return;
    };
    let rows: u64 = outer.iter().product();
    out.extend(std::iter::repeat_n('[', outer.len()));
    for row in 0..rows {
        if row != 0 {
            // The number of brackets to close and reopen is that of the dimensions that roll over
            // at this row.
            let mut size = 1;
            let rolled = outer.iter().rev().take_while(|dim| {
                size *= **dim;
                row % size == 0
            });
            let rolled = rolled.count();
            out.extend(std::iter::repeat_n(']', rolled));
            out.push_str(", ");
            out.extend(std::iter::repeat_n('[', rolled));
        }
        out.push('[');
        for column in 0..*last {
            if column != 0 {
                out.push_str(", ");
            }
            write_one(out);
        }
        out.push(']');
    }
    out.extend(std::iter::repeat_n(']', outer.len()));
}

fn write_element(module: &Module, element: TypeId, bytes: &[u8], out: &mut String) {
    let mut buffer = [0; 16];
    let used = bytes.len().min(16);
    buffer[..used].copy_from_slice(&bytes[..used]);
    let raw = u128::from_le_bytes(buffer);
    match module.ty(element) {
        Type::Integer { width: 1, .. } => out.push_str(if raw == 0 { "false" } else { "true" }),
        Type::Integer {
            signedness: Signedness::Unsigned,
            ..
        } => {
            let _ = write!(out, "{raw}");
        }
        Type::Integer { width, .. } => {
            let _ = write!(out, "{}", sign_extended(raw, *width));
        }
        Type::Index => {
            let _ = write!(out, "{}", sign_extended(raw, 64));
        }
        Type::Float(format) => print_float(*format, raw as u64, out),
        Type::Complex(part) => {
            let (real, imaginary) = bytes.split_at(bytes.len() / 2);
            out.push('(');
            write_element(module, *part, real, out);
            out.push(',');
            write_element(module, *part, imaginary, out);
            out.push(')');
        }
        _ => {}
    }
}

fn sign_extended(raw: u128, width: u32) -> i128 {
    let shift = 128 - width.clamp(1, 128);
    ((raw << shift) as i128) >> shift
}

/// Appends the packed bytes as hexadecimal digits; Booleans are packed to bits.
fn write_bytes(module: &Module, element: TypeId, bytes: &[u8], out: &mut String) {
    out.push_str("\"0x");
    if matches!(module.ty(element), Type::Integer { width: 1, .. }) {
        for bits in bytes.chunks(8) {
            let packed = bits
                .iter()
                .enumerate()
                .fold(0u8, |packed, (index, bit)| packed | (bit & 1) << index);
            let _ = write!(out, "{packed:02X}");
        }
    } else {
        for byte in bytes {
            let _ = write!(out, "{byte:02X}");
        }
    }
    out.push('"');
}

/// Returns the text between the parentheses of `loc(…)`.
#[must_use]
pub fn location_text(module: &Module, location: LocationId) -> String {
    let mut out = String::new();
    write_location(module, location, &mut out);
    out
}

fn write_location(module: &Module, location: LocationId, out: &mut String) {
    match module.location(location) {
        Location::Unknown => out.push_str("unknown"),
        Location::File { file, line, column } => {
            print_string(file.as_bytes(), out);
            let _ = write!(out, ":{line}:{column}");
        }
        Location::FileRange {
            file,
            line,
            column,
            end_line,
            end_column,
        } => {
            print_string(file.as_bytes(), out);
            let _ = write!(out, ":{line}:{column} to ");
            if end_line != line {
                let _ = write!(out, "{end_line}");
            }
            let _ = write!(out, ":{end_column}");
        }
        Location::Name { name, child } => {
            print_string(name.as_bytes(), out);
            if *module.location(*child) != Location::Unknown {
                out.push('(');
                write_location(module, *child, out);
                out.push(')');
            }
        }
        Location::CallSite { callee, caller } => {
            out.push_str("callsite(");
            write_location(module, *callee, out);
            out.push_str(" at ");
            write_location(module, *caller, out);
            out.push(')');
        }
        Location::Fused { members, metadata } => {
            out.push_str("fused");
            if let Some(metadata) = metadata {
                out.push('<');
                print_attribute(module, *metadata, out);
                out.push('>');
            }
            out.push('[');
            for (index, member) in members.iter().enumerate() {
                if index != 0 {
                    out.push_str(", ");
                }
                write_location(module, *member, out);
            }
            out.push(']');
        }
    }
}
