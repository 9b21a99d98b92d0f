//! Metadata as types of tensors: `f32 [2, 3]` is `tensor<2x3xf32>`, and what is not known is
//! `none`.

use tfrt_compiler::element_type::{dtype_of, type_of};
use tfrt_ir::{AttrId, Attribute, Module, Type, TypeId};
use tfrt_support::TensorMetadata;

/// The type of tensors of this metadata.
pub(crate) fn tensor_type(module: &mut Module, metadata: &TensorMetadata) -> TypeId {
    let element = type_of(module, metadata.dtype);
    let extents = metadata.extents.iter();
    let dims = extents.map(|&extent| u64::try_from(extent).ok()).collect();
    module.intern_type(Type::Tensor {
        dims,
        element,
        encoding: None,
    })
}

/// The metadata of tensors of a type, if that fixes it.
pub(crate) fn of_type(module: &Module, ty: TypeId) -> Option<TensorMetadata> {
    let Type::Tensor { dims, element, .. } = module.ty(ty) else {
        return None;
    };
    let dtype = dtype_of(module, *element)?;
    let extents = dims.iter().map(|dim| usize::try_from((*dim)?).ok());
    let extents: Vec<usize> = extents.collect::<Option<_>>()?;
    Some(TensorMetadata::new(dtype, &extents[..]))
}

/// A list of types, with `none` for what is not known.
pub(crate) fn to_attribute(module: &mut Module, known: &[Option<TensorMetadata>]) -> AttrId {
    let types = known.iter().map(|metadata| {
        let ty = match metadata {
            Some(metadata) => tensor_type(module, metadata),
            None => module.intern_type(Type::None),
        };
        module.intern_attribute(Attribute::Type(ty))
    });
    let types: Vec<AttrId> = types.collect();
    module.intern_attribute(Attribute::Array(types.into()))
}

/// What a list of types says.
pub(crate) fn from_attribute(module: &Module, attribute: AttrId) -> Vec<Option<TensorMetadata>> {
    let Attribute::Array(types) = module.attribute(attribute) else {
        return Vec::new();
    };
    let types = types.iter().map(|&ty| match module.attribute(ty) {
        Attribute::Type(ty) => of_type(module, *ty),
        _ => None,
    });
    types.collect()
}
