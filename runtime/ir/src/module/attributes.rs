//! Attributes of a program by their Rust values.

use crate::attribute::Attribute;
use crate::ids::{AttrId, TypeId};
use crate::module::Module;
use crate::types::{FloatType, Signedness, Type};

/// Returns the size of one packed element of the type, as specified by
/// [`DenseElements`](crate::DenseElements), or `None` for types that are not numbers.
#[must_use]
pub fn dense_element_bytes(module: &Module, element: TypeId) -> Option<usize> {
    match module.ty(element) {
        Type::Integer { width, .. } => Some((width.div_ceil(8) as usize).max(1)),
        Type::Index => Some(8),
        Type::Float(float) => Some((float.width().div_ceil(8) as usize).min(8)),
        Type::Complex(part) => dense_element_bytes(module, *part).map(|bytes| bytes * 2),
        _ => None,
    }
}

impl Module {
    /// Returns an integer attribute of a signless type of `width` bits.
    pub fn integer_attr(&mut self, value: i128, width: u32) -> AttrId {
        let ty = self.intern_type(Type::Integer {
            width,
            signedness: Signedness::Signless,
        });
        self.intern_attribute(Attribute::Integer { value, ty })
    }

    /// Returns a Boolean attribute.
    pub fn bool_attr(&mut self, value: bool) -> AttrId {
        self.integer_attr(i128::from(value), 1)
    }

    /// Returns a number of type `f32`.
    pub fn f32_attr(&mut self, value: f32) -> AttrId {
        let ty = self.intern_type(Type::Float(FloatType::F32));
        self.intern_attribute(Attribute::Float {
            bits: u64::from(value.to_bits()),
            ty,
        })
    }

    /// Returns a number of type `f64`.
    pub fn f64_attr(&mut self, value: f64) -> AttrId {
        let ty = self.intern_type(Type::Float(FloatType::F64));
        self.intern_attribute(Attribute::Float {
            bits: value.to_bits(),
            ty,
        })
    }

    /// Returns a string attribute.
    pub fn string_attr(&mut self, text: impl AsRef<[u8]>) -> AttrId {
        self.intern_attribute(Attribute::String(text.as_ref().into()))
    }

    /// Returns a reference to the function `name` of the same symbol table.
    pub fn flat_symbol_attr(&mut self, name: &str) -> AttrId {
        self.intern_attribute(Attribute::SymbolRef {
            root: name.into(),
            nested: [].into(),
        })
    }

    /// Returns the text of the attribute, if it is a UTF-8 string.
    #[must_use]
    pub fn attribute_str(&self, attribute: AttrId) -> Option<&str> {
        match self.attribute(attribute) {
            Attribute::String(bytes) => std::str::from_utf8(bytes).ok(),
            _ => None,
        }
    }

    /// Returns the value of the attribute, if it is an integer of any type.
    #[must_use]
    pub fn attribute_int(&self, attribute: AttrId) -> Option<i128> {
        match self.attribute(attribute) {
            Attribute::Integer { value, .. } => Some(*value),
            _ => None,
        }
    }

    /// Returns the name that the attribute refers to, if it is a symbol that is not nested.
    #[must_use]
    pub fn attribute_flat_symbol(&self, attribute: AttrId) -> Option<&str> {
        match self.attribute(attribute) {
            Attribute::SymbolRef { root, nested } if nested.is_empty() => Some(root),
            _ => None,
        }
    }
}
