//! Attributes: constants that belong to an op.

use crate::location::LocationId;
use crate::module::{Module, NameId};
use crate::types::{FloatType, Signedness, Type, TypeId};

tfrt_support::define_id! {
    /// An attribute of a [`Module`]; equal ids mean equal attributes.
    pub struct AttrId("attr");
}

/// An attribute. Attributes and types inside it are ids of the same module.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Attribute {
    /// `unit`: its presence is its only content.
    Unit,
    /// `42 : i32`, `true`.
    Integer {
        /// The value: within the signed range of a signless or signed type, not negative for an
        /// unsigned one. The Boolean `true` is 1.
        value: i128,
        /// An integer type, or `index`.
        ty: TypeId,
    },
    /// `1.5 : f32`.
    Float {
        /// The bits of the number in its own format, or in that of `f64` for wider formats.
        bits: u64,
        /// A floating point type.
        ty: TypeId,
    },
    /// `"text"`: any bytes.
    String(Box<[u8]>),
    /// A type: `i32`.
    Type(TypeId),
    /// `[1, 2]`.
    Array(Box<[AttrId]>),
    /// `{a = 1, b}`, in ascending byte order of the names.
    Dictionary(Box<[(NameId, AttrId)]>),
    /// `@f`, `@module::@f`.
    SymbolRef {
        /// The outermost name.
        root: Box<str>,
        /// The names within it, outermost first.
        nested: Box<[Box<str>]>,
    },
    /// `dense<[1, 2]> : tensor<2xi32>`.
    Dense {
        /// A tensor or vector type of fixed shape.
        ty: TypeId,
        /// The elements, row by row.
        elements: DenseElements,
    },
    /// `#corert.shape<2x?x3>`: a shape in the notation of a dialect.
    Shape {
        /// The dialect and the keyword: `corert.shape`.
        notation: Box<str>,
        /// The sizes of the dimensions, `None` for `?`; no list at all if the rank is unknown, too.
        dims: Option<Box<[Option<u64>]>>,
    },
    /// `#dialect.body`, of an unknown dialect.
    Opaque {
        /// The dialect.
        dialect: Box<str>,
        /// Everything after the first dot, as written.
        body: Box<str>,
        /// The type after a colon, if there is one.
        ty: Option<TypeId>,
    },
    /// `sparse<…> : T` and `opaque<…> : T`: elements that are not parsed.
    Elements {
        /// Keyword and brackets, as written.
        text: Box<str>,
        /// A tensor or vector type.
        ty: TypeId,
    },
    /// `loc(…)` as an attribute.
    Location(LocationId),
}

/// The elements of a dense attribute, packed, little-endian: Booleans one byte each, other integers
/// as many bytes as their width needs, `index` eight, floats two, four or eight (also for formats
/// wider than `f64`), complex numbers real part first.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum DenseElements {
    /// One element, repeated.
    Splat(Box<[u8]>),
    /// Every element.
    List(Box<[u8]>),
    /// Strings, for element types that are not numbers; a single one is repeated.
    Strings(Box<[Box<[u8]>]>),
}

impl DenseElements {
    /// Creates the elements of `bytes`, `element_bytes` each: as a splat if they are all equal, as
    /// when parsed from text.
    #[must_use]
    pub fn from_bytes(bytes: Vec<u8>, element_bytes: usize) -> Self {
        let is_splat = element_bytes != 0
            && bytes.len() >= element_bytes
            && bytes
                .chunks(element_bytes)
                .all(|element| element == &bytes[..element_bytes]);
        if is_splat {
            Self::Splat(bytes[..element_bytes].into())
        } else {
            Self::List(bytes.into())
        }
    }
}

/// Returns the size of one packed element of the type, as specified by [`DenseElements`], or `None`
/// for types that are not numbers.
#[must_use]
pub fn dense_element_bytes(module: &Module, element: TypeId) -> Option<usize> {
    match module.ty(element) {
        Type::Integer { width, .. } => Some((width.div_ceil(8) as usize).max(1)),
        Type::Index => Some(8),
        Type::Float(float) => Some((float.width() as usize / 8).min(8)),
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
