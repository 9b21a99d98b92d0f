//! How op attributes are printed.

use std::fmt::{self, Display, Formatter};

use half::{bf16, f16};
use tfrt_attr::code::AttrKind;
use tfrt_attr::view::AttrRef;
use tfrt_attr::{AggregateView, AttrTypeCode, AttrValue, DenseView, ShapeView};
use tfrt_support::DType;
use tfrt_tensor::Element;

use super::OpAttrs;

/// So many elements of a list are shown.
const MAX_SHOWN: usize = 5;

/// Prints the whole set, an entry a line, with an empty line behind them.
pub(super) fn print(attrs: &OpAttrs, f: &mut Formatter<'_>) -> fmt::Result {
    if attrs.is_empty() {
        return f.write_str("OpAttrs is empty\n");
    }
    writeln!(f, "OpAttrs contains {} entries:", attrs.len())?;
    for entry in &attrs.entries {
        let code = entry.place.code;
        let value = AttrRef::new(attrs.section(), entry.place.offset, code);
        write!(f, "  '{}' type={} value=", entry.name, kind_name(code))?;
        match print_value(value, f) {
            Some(outcome) => outcome?,
            None => f.write_str("unknown")?,
        }
        f.write_str("\n")?;
    }
    f.write_str("\n")
}

/// What kind of value it is, or what kinds of elements it has.
fn kind_name(code: AttrTypeCode) -> &'static str {
    match code.kind() {
        AttrKind::Scalar(dtype) => dtype_name(dtype),
        AttrKind::String => "CHAR",
        AttrKind::Type => "DTYPE",
        AttrKind::Func => "FUNC",
        AttrKind::Shape => "SHAPE",
        AttrKind::Dense => "DENSE",
        AttrKind::Aggregate => "AGGREGATE",
        AttrKind::SymbolRef => "SYMBOL_REF",
        AttrKind::Array(element) => kind_name(element),
    }
}

/// What an element type is called among attributes.
fn dtype_name(dtype: DType) -> &'static str {
    match dtype {
        DType::Ui8 => "UI8",
        DType::Ui16 => "UI16",
        DType::Ui32 => "UI32",
        DType::Ui64 => "UI64",
        DType::I1 => "BOOL",
        DType::I8 => "I8",
        DType::I16 => "I16",
        DType::I32 => "I32",
        DType::I64 => "I64",
        DType::F32 => "F32",
        DType::F64 => "F64",
        DType::Complex64 => "COMPLEX64",
        DType::Complex128 => "COMPLEX128",
        DType::F16 => "F16",
        DType::Bf16 => "BF16",
        DType::String => "CHAR",
        DType::Resource => "RESOURCE",
        DType::Variant => "VARIANT",
        DType::QUi8 => "QUI8",
        DType::QUi16 => "QUI16",
        DType::QI8 => "QI8",
        DType::QI16 => "QI16",
        DType::QI32 => "QI32",
    }
}

/// Prints a value; none if its bytes are not what its type says, which verification excludes.
fn print_value(value: AttrRef<'_>, f: &mut Formatter<'_>) -> Option<fmt::Result> {
    Some(match value.code().kind() {
        AttrKind::Scalar(dtype) => print_number(value, dtype, f)?,
        AttrKind::Array(element) => print_list(value, element, f)?,
        AttrKind::Type => f.write_str(dtype_name(value.read().ok()?)),
        AttrKind::String => print_characters(value, "", f)?,
        AttrKind::Func => print_characters(value, "FUNC function_name: ", f)?,
        AttrKind::Shape => print_shape(value.read().ok()?, f),
        AttrKind::Dense | AttrKind::Aggregate | AttrKind::SymbolRef => print_nested(value, f)?,
    })
}

fn print_characters(
    value: AttrRef<'_>,
    before: &str,
    f: &mut Formatter<'_>,
) -> Option<fmt::Result> {
    let text = match value.decode().ok()? {
        AttrValue::String(text) => text,
        AttrValue::Func(name) => name.into_bytes(),
        _ => return None,
    };
    // Text is characters; bytes that are not text are shown one by one.
    Some(match str::from_utf8(&text) {
        Ok(text) => elements(text.chars(), f, |character, f| {
            write!(f, "{before}{character}")
        }),
        Err(_) => elements(text.iter(), f, |byte, f| {
            write!(f, "{before}{}", char::from(*byte))
        }),
    })
}

/// Prints the first elements of a list.
fn elements<I: Iterator>(
    elements: I,
    f: &mut Formatter<'_>,
    mut print: impl FnMut(I::Item, &mut Formatter<'_>) -> fmt::Result,
) -> fmt::Result {
    f.write_str("[")?;
    for (index, element) in elements.enumerate() {
        match index {
            0 => {}
            MAX_SHOWN => {
                f.write_str("...")?;
                break;
            }
            _ => f.write_str(", ")?,
        }
        print(element, f)?;
    }
    f.write_str("]")
}

/// Runs `$work` with `$T` as the type of numbers of `$dtype`.
macro_rules! with_number {
    ($dtype:expr, $T:ident => $work:expr) => {
        match $dtype {
            DType::Ui8 => {
                type $T = u8;
                $work
            }
            DType::Ui16 => {
                type $T = u16;
                $work
            }
            DType::Ui32 => {
                type $T = u32;
                $work
            }
            DType::Ui64 => {
                type $T = u64;
                $work
            }
            DType::I8 => {
                type $T = i8;
                $work
            }
            DType::I16 => {
                type $T = i16;
                $work
            }
            DType::I32 => {
                type $T = i32;
                $work
            }
            DType::I64 => {
                type $T = i64;
                $work
            }
            DType::F32 => {
                type $T = f32;
                $work
            }
            DType::F64 => {
                type $T = f64;
                $work
            }
            DType::F16 => {
                type $T = f16;
                $work
            }
            DType::Bf16 => {
                type $T = bf16;
                $work
            }
            _ => None,
        }
    };
}

fn print_number(value: AttrRef<'_>, dtype: DType, f: &mut Formatter<'_>) -> Option<fmt::Result> {
    if dtype == DType::I1 {
        return Some(write!(f, "{}", u8::from(value.read::<bool>().ok()?)));
    }
    with_number!(dtype, T => Some(value.read::<T>().ok()?.write_text(f)))
}

fn print_list(
    value: AttrRef<'_>,
    element: AttrTypeCode,
    f: &mut Formatter<'_>,
) -> Option<fmt::Result> {
    match element.kind() {
        AttrKind::Scalar(DType::I1) => {
            let list = value.read::<&[bool]>().ok()?;
            Some(elements(list.iter(), f, |&bit, f| u8::from(bit).fmt(f)))
        }
        AttrKind::Scalar(dtype) => with_number!(dtype, T => {
            let list = value.read::<&[T]>().ok()?;
            Some(elements(list.iter(), f, |element, f| element.write_text(f)))
        }),
        AttrKind::Type => {
            let list = value.read::<Vec<DType>>().ok()?;
            Some(elements(list.into_iter(), f, |dtype, f| {
                f.write_str(dtype_name(dtype))
            }))
        }
        _ => None,
    }
}

fn print_shape(shape: ShapeView<'_>, f: &mut Formatter<'_>) -> fmt::Result {
    let Some(dims) = shape.dims() else {
        return f.write_str("<*>");
    };
    f.write_str("<")?;
    for (index, dim) in dims.iter().enumerate() {
        let separator = if index == 0 { "" } else { "x" };
        write!(f, "{separator}{dim}")?;
    }
    f.write_str(">")
}

/// Prints a dense tensor or an aggregate by what they consist of; anything else inside of an aggregate is unknown.
fn print_nested(value: AttrRef<'_>, f: &mut Formatter<'_>) -> Option<fmt::Result> {
    match value.code().kind() {
        AttrKind::Dense => {
            let dense = value.read::<DenseView<'_>>().ok()?;
            let (dtype, rank) = (dtype_name(dense.dtype()), dense.dims().len());
            let count = dense.num_elements();
            Some(write!(f, "dtype={dtype}, rank={rank}, elt_count={count}"))
        }
        AttrKind::Aggregate => {
            let aggregate = value.read::<AggregateView<'_>>().ok()?;
            Some(print_aggregate(aggregate, f))
        }
        _ => Some(f.write_str("unknown")),
    }
}

fn print_aggregate(aggregate: AggregateView<'_>, f: &mut Formatter<'_>) -> fmt::Result {
    write!(f, "elt_count={} ", aggregate.len())?;
    elements(aggregate.iter(), f, |element, f| {
        f.write_str("{")?;
        print_nested(element, f).unwrap_or(Ok(()))?;
        f.write_str("}")
    })
}
