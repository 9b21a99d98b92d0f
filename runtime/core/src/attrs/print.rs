//! How op attributes are printed.

use std::fmt::{self, Display, Formatter};
use std::io::Write;

use half::{bf16, f16};
use tfrt_attr::{
    AggregateView, AttrError, AttrRef, AttrTypeCode, AttrTypeKind, AttrValue, DenseView, ShapeView,
};
use tfrt_support::DType;
use tfrt_tensor::Element;

use super::OpAttrs;

/// So many elements of a list are shown.
const MAX_SHOWN: usize = 5;

/// Text in the making. Its bytes need not be characters: a text attribute is printed byte by byte.
type Text = Vec<u8>;

/// Prints the whole set, an entry a line, with an empty line behind them.
pub(super) fn to_bytes(attrs: &OpAttrs) -> Text {
    if attrs.is_empty() {
        return b"OpAttrs is empty\n".to_vec();
    }
    let mut text = Text::new();
    push(
        &mut text,
        format_args!("OpAttrs contains {} entries:\n", attrs.len()),
    );
    for entry in &attrs.entries {
        let (name, code) = (&entry.name, entry.place.code);
        let value = AttrRef::new(attrs.section(), entry.place.offset, code);
        push(
            &mut text,
            format_args!("  '{name}' type={} value=", kind_name(code)),
        );
        if print_value(value, &mut text).is_err() {
            text.extend(b"unknown");
        }
        text.push(b'\n');
    }
    text.push(b'\n');
    text
}

fn push(text: &mut Text, shown: impl Display) {
    write!(text, "{shown}").expect("memory takes everything that is written to it");
}

/// An element as tensors print it.
struct Shown<'a, T>(&'a T);

impl<T: Element> Display for Shown<'_, T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.0.write_text(f)
    }
}

/// Returns the name of the kind of a value or of its elements.
fn kind_name(code: AttrTypeCode) -> &'static str {
    match code.kind() {
        AttrTypeKind::Scalar(dtype) => dtype_name(dtype),
        AttrTypeKind::String => "CHAR",
        AttrTypeKind::Type => "DTYPE",
        AttrTypeKind::Func => "FUNC",
        AttrTypeKind::Shape => "SHAPE",
        AttrTypeKind::Dense => "DENSE",
        AttrTypeKind::Aggregate => "AGGREGATE",
        AttrTypeKind::SymbolRef => "SYMBOL_REF",
        AttrTypeKind::Array(element) => kind_name(element),
    }
}

/// Returns the name of an element type in attributes.
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

/// A value that cannot be printed: verification excludes that its bytes disagree with its type, and
/// other kinds of values have no text form.
struct Unknown;

impl From<AttrError> for Unknown {
    fn from(_: AttrError) -> Self {
        Self
    }
}

/// Prints a value.
fn print_value(value: AttrRef<'_>, text: &mut Text) -> Result<(), Unknown> {
    match value.code().kind() {
        AttrTypeKind::Scalar(dtype) => print_number(value, dtype, text)?,
        AttrTypeKind::Array(element) => print_list(value, element, text)?,
        AttrTypeKind::Type => push(text, dtype_name(value.read()?)),
        AttrTypeKind::String => print_characters(value, "", text)?,
        AttrTypeKind::Func => print_characters(value, "FUNC function_name: ", text)?,
        AttrTypeKind::Shape => print_shape(value.read()?, text),
        AttrTypeKind::Dense | AttrTypeKind::Aggregate | AttrTypeKind::SymbolRef => {
            print_nested(value, text)?
        }
    }
    Ok(())
}

/// Prints each byte of a text as an element, also the bytes of one character in UTF-8.
fn print_characters(value: AttrRef<'_>, before: &str, text: &mut Text) -> Result<(), Unknown> {
    let characters = match value.decode()? {
        AttrValue::String(characters) => characters,
        AttrValue::Func(name) => name.into_bytes(),
        _ => return Err(Unknown),
    };
    elements(characters, text, |byte, text| {
        text.extend(before.bytes());
        text.push(byte);
    });
    Ok(())
}

/// Prints the first elements of a list.
fn elements<I: IntoIterator>(
    elements: I,
    text: &mut Text,
    mut print: impl FnMut(I::Item, &mut Text),
) {
    text.push(b'[');
    for (index, element) in elements.into_iter().enumerate() {
        match index {
            0 => {}
            MAX_SHOWN => {
                text.extend(b"...");
                break;
            }
            _ => text.extend(b", "),
        }
        print(element, text);
    }
    text.push(b']');
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
            _ => Err(Unknown),
        }
    };
}

fn print_number(value: AttrRef<'_>, dtype: DType, text: &mut Text) -> Result<(), Unknown> {
    if dtype == DType::I1 {
        push(text, u8::from(value.read::<bool>()?));
        return Ok(());
    }
    with_number!(dtype, T => {
        push(text, Shown(&value.read::<T>()?));
        Ok(())
    })
}

fn print_list(value: AttrRef<'_>, element: AttrTypeCode, text: &mut Text) -> Result<(), Unknown> {
    match element.kind() {
        AttrTypeKind::Scalar(DType::I1) => {
            let list = value.read::<&[bool]>()?;
            elements(list, text, |&bit, text| push(text, u8::from(bit)));
            Ok(())
        }
        AttrTypeKind::Scalar(dtype) => with_number!(dtype, T => {
            let list = value.read::<&[T]>()?;
            elements(list, text, |element, text| push(text, Shown(element)));
            Ok(())
        }),
        AttrTypeKind::Type => {
            let list = value.read::<Vec<DType>>()?;
            elements(list, text, |dtype, text| push(text, dtype_name(dtype)));
            Ok(())
        }
        _ => Err(Unknown),
    }
}

fn print_shape(shape: ShapeView<'_>, text: &mut Text) {
    let Some(dims) = shape.dims() else {
        return text.extend(b"<*>");
    };
    text.push(b'<');
    for (index, dim) in dims.iter().enumerate() {
        let separator = if index == 0 { "" } else { "x" };
        push(text, format_args!("{separator}{dim}"));
    }
    text.push(b'>');
}

/// Prints the parts of a dense tensor or an aggregate. Prints `unknown` for any other kind inside
/// an aggregate.
fn print_nested(value: AttrRef<'_>, text: &mut Text) -> Result<(), Unknown> {
    match value.code().kind() {
        AttrTypeKind::Dense => {
            let dense = value.read::<DenseView<'_>>()?;
            let (dtype, rank) = (dtype_name(dense.dtype()), dense.dims().len());
            let count = dense.num_elements();
            push(
                text,
                format_args!("dtype={dtype}, rank={rank}, elt_count={count}"),
            );
        }
        AttrTypeKind::Aggregate => print_aggregate(value.read()?, text),
        _ => text.extend(b"unknown"),
    }
    Ok(())
}

fn print_aggregate(aggregate: AggregateView<'_>, text: &mut Text) {
    push(text, format_args!("elt_count={} ", aggregate.len()));
    elements(aggregate.iter(), text, |element, text| {
        text.push(b'{');
        if print_nested(element, text).is_err() {
            text.extend(b"unknown");
        }
        text.push(b'}');
    });
}
