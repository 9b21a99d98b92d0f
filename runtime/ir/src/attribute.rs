//! Attributes: constants that belong to an op.

use crate::ids::{LocationId, NameId, TypeId};

pub(crate) use crate::ids::AttrId;

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
    /// `#dialect.body` or `#dialect<body>`, of an unknown dialect.
    Opaque {
        /// The dialect.
        dialect: Box<str>,
        /// Everything after the first dot, as written; without a dot, the brackets and what is in
        /// them.
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
    /// `array<i64: 1, 2>`.
    DenseArray {
        /// An integer or floating point type.
        element: TypeId,
        /// The elements, in the form of [`DenseElements`].
        bytes: Box<[u8]>,
    },
    /// `dense_resource<key> : T`: elements at the end of the text; see
    /// [`Module::resource_bytes`](crate::Module::resource_bytes).
    Resource {
        /// The name of the elements.
        key: Box<str>,
        /// A tensor or vector type of fixed shape.
        ty: TypeId,
    },
    /// `loc(…)` as an attribute.
    Location(LocationId),
    /// `affine_map<…>` or `strided<…>`: where the elements of memory are.
    Layout {
        /// The text, as MLIR prints it.
        text: Box<str>,
        /// The number of dimensions.
        num_dims: usize,
        /// Whether it is the map of each dimension to itself.
        is_identity: bool,
    },
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
