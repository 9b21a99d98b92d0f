//! Decodes values of a file as attributes of IR.

use tfrt_attr::{AttrValue, DenseAttr, Scalar};
use tfrt_ir::{AttrId, Attribute, DenseElements, Module, Type};
use tfrt_support::DType;

use crate::SHAPE_NOTATION;
use crate::element_type::type_of;

/// Returns the attribute that a value came from, as far as the file describes it.
pub fn attribute_of(module: &mut Module, value: &AttrValue) -> AttrId {
    let attribute = match value {
        AttrValue::Scalar(scalar) => number(module, *scalar),
        AttrValue::String(bytes) => Attribute::String(bytes.as_slice().into()),
        AttrValue::Func(name) => Attribute::String(name.as_bytes().into()),
        AttrValue::Type(dtype) => Attribute::Type(type_of(module, *dtype)),
        AttrValue::Shape(dims) => Attribute::Shape {
            notation: SHAPE_NOTATION.into(),
            // An unknown dimension is negative in the file.
            dims: dims
                .as_ref()
                .map(|dims| dims.iter().map(|&dim| u64::try_from(dim).ok()).collect()),
        },
        AttrValue::Dense(dense) => dense_elements(module, dense),
        AttrValue::Array(elements) => Attribute::Array(
            elements
                .iter()
                .map(|element| attribute_of(module, element))
                .collect(),
        ),
        AttrValue::SymbolRef(symbol) => Attribute::SymbolRef {
            root: symbol.root.as_str().into(),
            nested: symbol
                .nested
                .iter()
                .map(|name| name.as_str().into())
                .collect(),
        },
    };
    module.intern_attribute(attribute)
}

fn number(module: &mut Module, scalar: Scalar) -> Attribute {
    let ty = type_of(module, scalar.dtype());
    let bits = scalar.bits();
    let value = match scalar.dtype() {
        DType::Ui8 | DType::Ui16 | DType::Ui32 | DType::Ui64 | DType::I1 => i128::from(bits),
        DType::I8 => i128::from(bits as i8),
        DType::I16 => i128::from(bits as i16),
        DType::I32 => i128::from(bits as i32),
        DType::I64 => i128::from(bits.cast_signed()),
        _ => return Attribute::Float { bits, ty },
    };
    Attribute::Integer { value, ty }
}

fn dense_elements(module: &mut Module, dense: &DenseAttr) -> Attribute {
    let element = type_of(module, dense.dtype);
    let dims = dense
        .dims
        .iter()
        .map(|&dim| u64::try_from(dim).ok())
        .collect();
    let ty = module.intern_type(Type::Tensor {
        dims,
        element,
        encoding: None,
    });
    let element_bytes = dense.dtype.size_bytes().unwrap_or(1);
    let elements = if dense.dtype == DType::I1 && dense.data.len() > 1 {
        // As in TFRT, a list of several truth values is never taken for a splat.
        DenseElements::List(dense.data.iter().map(|&byte| u8::from(byte != 0)).collect())
    } else {
        DenseElements::from_bytes(dense.data.clone(), element_bytes)
    };
    Attribute::Dense { ty, elements }
}
