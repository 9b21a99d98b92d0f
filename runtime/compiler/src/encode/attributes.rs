//! Encodes attributes of IR as values of a file.

use tfrt_attr::{AttrValue, DenseAttr, Scalar};
use tfrt_ir::{AttrId, Attribute, DenseElements, Module, Type, TypeId};
use tfrt_support::DType;

use crate::SHAPE_NOTATION;
use crate::element_type::dtype_of;

/// Returns the value of an attribute, or `None` if files cannot hold such an attribute.
///
/// Symbols are not values by themselves: they are functions, or need the text of their module.
#[must_use]
pub fn attribute_value(module: &Module, attribute: AttrId) -> Option<AttrValue> {
    match module.attribute(attribute) {
        Attribute::Integer { value, ty } => {
            integer(*value, dtype_of(module, *ty)?).map(AttrValue::Scalar)
        }
        Attribute::Float { bits, ty } => {
            Scalar::new(dtype_of(module, *ty)?, *bits).map(AttrValue::Scalar)
        }
        Attribute::String(bytes) => Some(AttrValue::String(bytes.to_vec())),
        Attribute::Type(ty) => dtype_of(module, *ty).map(AttrValue::Type),
        Attribute::Array(elements) => elements
            .iter()
            .map(|&element| attribute_value(module, element))
            .collect::<Option<_>>()
            .map(AttrValue::Array),
        Attribute::Dense { ty, elements } => dense(module, *ty, elements).map(AttrValue::Dense),
        Attribute::Shape { notation, dims } if &**notation == SHAPE_NOTATION => {
            shape(dims.as_deref())
        }
        Attribute::Unit
        | Attribute::Dictionary(_)
        | Attribute::SymbolRef { .. }
        | Attribute::Shape { .. }
        | Attribute::Opaque { .. }
        | Attribute::Elements { .. }
        | Attribute::DenseArray { .. }
        | Attribute::Resource { .. }
        | Attribute::Location(_)
        | Attribute::Layout { .. } => None,
    }
}

/// Returns how many more bytes an attribute takes in a file than in the program: those of elements
/// that are written once and stand for many.
pub(super) fn expanded_bytes(module: &Module, attribute: AttrId) -> u64 {
    match module.attribute(attribute) {
        Attribute::Array(elements) => elements.iter().fold(0, |sum: u64, &element| {
            sum.saturating_add(expanded_bytes(module, element))
        }),
        Attribute::Dense {
            ty,
            elements: DenseElements::Splat(one),
        } => {
            let count = match module.ty(*ty) {
                Type::Tensor { dims, .. } => dims.iter().fold(1, |product: u64, dim| {
                    product.saturating_mul(dim.unwrap_or(1))
                }),
                Type::Vector { dims, .. } => dims
                    .iter()
                    .fold(1, |product: u64, &dim| product.saturating_mul(dim)),
                _ => 1,
            };
            count.saturating_mul(one.len() as u64)
        }
        _ => 0,
    }
}

fn integer(value: i128, dtype: DType) -> Option<Scalar> {
    let width = if dtype == DType::I1 {
        1
    } else {
        8 * u32::try_from(dtype.size_bytes()?).ok()?
    };
    // The low bits are the number: a negative one is in two's complement.
    let bits = value.cast_unsigned() & ((1 << width) - 1);
    Scalar::new(dtype, u64::try_from(bits).ok()?)
}

fn shape(dims: Option<&[Option<u64>]>) -> Option<AttrValue> {
    let Some(dims) = dims else {
        return Some(AttrValue::Shape(None));
    };
    let sizes: Option<Vec<i64>> = dims
        .iter()
        .map(|dim| dim.map_or(Some(-1), |size| i64::try_from(size).ok()))
        .collect();
    sizes.map(|sizes| AttrValue::Shape(Some(sizes)))
}

fn dense(module: &Module, ty: TypeId, elements: &DenseElements) -> Option<DenseAttr> {
    let (sizes, element): (Vec<u64>, TypeId) = match module.ty(ty) {
        Type::Tensor { dims, element, .. } => {
            (dims.iter().copied().collect::<Option<_>>()?, *element)
        }
        Type::Vector { dims, element } => (dims.to_vec(), *element),
        _ => return None,
    };
    let dtype = dtype_of(module, element)?;
    let element_bytes = dtype
        .size_bytes()
        .filter(|_| dtype.code() <= DType::Bf16.code())?;
    let dims = sizes
        .iter()
        .map(|&size| i64::try_from(size).ok())
        .collect::<Option<Vec<i64>>>()?;
    let data = match elements {
        DenseElements::List(bytes) => bytes.to_vec(),
        DenseElements::Splat(one) if one.len() == element_bytes => {
            let count = sizes
                .iter()
                .try_fold(1_u64, |product, &size| product.checked_mul(size))?;
            let data_bytes = count.checked_mul(u64::try_from(element_bytes).ok()?)?;
            // A file counts these bytes in 32 bits. If there are more, they are not even expanded.
            u32::try_from(data_bytes).ok()?;
            one.repeat(usize::try_from(count).ok()?)
        }
        DenseElements::Splat(_) | DenseElements::Strings(_) => return None,
    };
    Some(DenseAttr { dtype, dims, data })
}
