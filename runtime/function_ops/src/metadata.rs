//! Metadata as types of tensors: `f32 [2, ?]` is `tensor<2x?xf32>`, of unknown rank it is
//! `tensor<*xf32>`, and without an element type `none`.

use tfrt_compiler::element_type::{dtype_of, type_of};
use tfrt_core::metadata::partial::PartialMetadata;
use tfrt_ir::{AttrId, Attribute, Module, Type, TypeId};

/// Returns the partial metadata that a type describes.
fn of_type(module: &Module, ty: TypeId) -> PartialMetadata {
    let (element, extents) = match module.ty(ty) {
        Type::Tensor { dims, element, .. } => {
            let extents = dims.iter().map(|dim| usize::try_from((*dim)?).ok());
            (*element, Some(extents.collect()))
        }
        Type::UnrankedTensor(element) => (*element, None),
        _ => return PartialMetadata::UNKNOWN,
    };
    match dtype_of(module, element) {
        Some(dtype) => PartialMetadata {
            dtype: Some(dtype),
            extents,
        },
        None => PartialMetadata::UNKNOWN,
    }
}

/// Returns the type of tensors of which this is known.
fn type_of_partial(module: &mut Module, known: &PartialMetadata) -> TypeId {
    let Some(dtype) = known.dtype else {
        return module.intern_type(Type::None);
    };
    let element = type_of(module, dtype);
    let Some(extents) = &known.extents else {
        return module.intern_type(Type::UnrankedTensor(element));
    };
    let dims = extents
        .iter()
        .map(|extent| extent.and_then(|extent| u64::try_from(extent).ok()))
        .collect();
    module.intern_type(Type::Tensor {
        dims,
        element,
        encoding: None,
    })
}

/// Returns a type as an attribute.
pub(crate) fn to_type_attribute(module: &mut Module, known: &PartialMetadata) -> AttrId {
    let ty = type_of_partial(module, known);
    module.intern_attribute(Attribute::Type(ty))
}

/// Returns a list of types.
pub(crate) fn to_attribute(module: &mut Module, known: &[PartialMetadata]) -> AttrId {
    let types = known.iter().map(|known| to_type_attribute(module, known));
    let types = types.collect();
    module.intern_attribute(Attribute::Array(types))
}

/// What an attribute says that is a type.
pub(crate) fn of_type_attribute(module: &Module, attribute: AttrId) -> PartialMetadata {
    match module.attribute(attribute) {
        Attribute::Type(ty) => of_type(module, *ty),
        _ => PartialMetadata::UNKNOWN,
    }
}

/// What a list of types says.
pub(crate) fn from_attribute(module: &Module, attribute: AttrId) -> Vec<PartialMetadata> {
    let Attribute::Array(types) = module.attribute(attribute) else {
        return Vec::new();
    };
    let types = types.iter().map(|&ty| of_type_attribute(module, ty));
    types.collect()
}
