//! Types of values, and their spellings.

use std::fmt::Write as _;

use crate::AttrId;
use crate::module::Module;
use crate::print::attributes::print_attribute;

tfrt_support::define_id! {
    /// A type of a [`Module`]; equal ids mean equal types.
    pub struct TypeId("type");
}

/// A type. Types inside it are ids of the same module.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// `i32`, `si8`, `ui64`: an integer of a width in bits.
    Integer {
        /// The width in bits, below 2^24.
        width: u32,
        /// Whether it is signed, unsigned or signless.
        signedness: Signedness,
    },
    /// `index`.
    Index,
    /// `f32` and similar types.
    Float(FloatType),
    /// `none`.
    None,
    /// `complex<T>`.
    Complex(TypeId),
    /// `tensor<2x?xT>`.
    Tensor {
        /// The sizes of the dimensions; `None` for `?`.
        dims: Box<[Option<u64>]>,
        /// The type of its elements.
        element: TypeId,
        /// The encoding after a comma, if there is one.
        encoding: Option<AttrId>,
    },
    /// `tensor<*xT>`.
    UnrankedTensor(TypeId),
    /// `vector<4x8xT>`.
    Vector {
        /// The sizes of the dimensions.
        dims: Box<[u64]>,
        /// The type of its elements.
        element: TypeId,
    },
    /// `memref<2x?xT, 3>` or `memref<*xT>`.
    MemRef {
        /// The sizes of the dimensions, `None` for `?`; no list at all if it is unranked.
        dims: Option<Box<[Option<u64>]>>,
        /// The type of its elements.
        element: TypeId,
        /// The memory space after a comma, if there is one.
        memory_space: Option<AttrId>,
    },
    /// `tuple<A, B>`.
    Tuple(Box<[TypeId]>),
    /// `(A, B) -> C`.
    Function {
        /// The types of the arguments.
        inputs: Box<[TypeId]>,
        /// The types of the results.
        results: Box<[TypeId]>,
    },
    /// `!dialect.body`.
    Dialect {
        /// The dialect.
        dialect: Box<str>,
        /// Everything after the first dot, as written.
        body: Box<str>,
    },
}

/// The signedness of an integer type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Signedness {
    /// `i32`: signless; the interpretation depends on its use.
    Signless,
    /// `si32`.
    Signed,
    /// `ui32`.
    Unsigned,
}

/// A floating point type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names are the documentation")]
pub enum FloatType {
    Bf16,
    F16,
    F32,
    F64,
    F80,
    F128,
}

impl FloatType {
    /// Returns the type with a spelling such as `f32`.
    #[must_use]
    pub fn from_spelling(spelling: &str) -> Option<Self> {
        Some(match spelling {
            "bf16" => Self::Bf16,
            "f16" => Self::F16,
            "f32" => Self::F32,
            "f64" => Self::F64,
            "f80" => Self::F80,
            "f128" => Self::F128,
            _ => return None,
        })
    }

    /// Returns the spelling.
    #[must_use]
    pub const fn spelling(self) -> &'static str {
        match self {
            Self::Bf16 => "bf16",
            Self::F16 => "f16",
            Self::F32 => "f32",
            Self::F64 => "f64",
            Self::F80 => "f80",
            Self::F128 => "f128",
        }
    }

    /// Returns the width in bits.
    #[must_use]
    pub const fn width(self) -> u32 {
        match self {
            Self::Bf16 | Self::F16 => 16,
            Self::F32 => 32,
            Self::F64 => 64,
            Self::F80 => 80,
            Self::F128 => 128,
        }
    }
}

/// Returns the spelling of `ty`, whose parts are types of `module`.
pub(crate) fn spell(module: &Module, ty: &Type) -> String {
    let mut out = String::new();
    match ty {
        Type::Integer { width, signedness } => {
            out.push_str(match signedness {
                Signedness::Signless => "i",
                Signedness::Signed => "si",
                Signedness::Unsigned => "ui",
            });
            let _ = write!(out, "{width}");
        }
        Type::Index => out.push_str("index"),
        Type::Float(float) => out.push_str(float.spelling()),
        Type::None => out.push_str("none"),
        Type::Complex(element) => {
            let _ = write!(out, "complex<{}>", module.type_spelling(*element));
        }
        Type::Tensor {
            dims,
            element,
            encoding,
        } => {
            out.push_str("tensor<");
            spell_dims(&mut out, dims);
            out.push_str(module.type_spelling(*element));
            spell_trailing(module, &mut out, *encoding);
            out.push('>');
        }
        Type::UnrankedTensor(element) => {
            let _ = write!(out, "tensor<*x{}>", module.type_spelling(*element));
        }
        Type::Vector { dims, element } => {
            out.push_str("vector<");
            for dim in dims {
                let _ = write!(out, "{dim}x");
            }
            let _ = write!(out, "{}>", module.type_spelling(*element));
        }
        Type::MemRef {
            dims,
            element,
            memory_space,
        } => {
            out.push_str("memref<");
            match dims {
                Some(dims) => spell_dims(&mut out, dims),
                None => out.push_str("*x"),
            }
            out.push_str(module.type_spelling(*element));
            spell_trailing(module, &mut out, *memory_space);
            out.push('>');
        }
        Type::Tuple(elements) => {
            out.push_str("tuple<");
            spell_list(module, &mut out, elements);
            out.push('>');
        }
        Type::Function { inputs, results } => {
            out.push('(');
            spell_list(module, &mut out, inputs);
            out.push_str(") -> ");
            spell_results(module, &mut out, results);
        }
        Type::Dialect { dialect, body } => {
            let _ = write!(out, "!{dialect}.{body}");
        }
    }
    out
}

/// Appends result types as after an arrow: in parentheses unless they are one type that is not a
/// function.
pub(crate) fn spell_results(module: &Module, out: &mut String, results: &[TypeId]) {
    match results {
        [one] if !matches!(module.ty(*one), Type::Function { .. }) => {
            out.push_str(module.type_spelling(*one))
        }
        _ => {
            out.push('(');
            spell_list(module, out, results);
            out.push(')');
        }
    }
}

/// Appends types separated by commas.
pub(crate) fn spell_list(module: &Module, out: &mut String, types: &[TypeId]) {
    for (index, ty) in types.iter().enumerate() {
        if index != 0 {
            out.push_str(", ");
        }
        out.push_str(module.type_spelling(*ty));
    }
}

fn spell_dims(out: &mut String, dims: &[Option<u64>]) {
    for dim in dims {
        match dim {
            Some(size) => {
                let _ = write!(out, "{size}x");
            }
            None => out.push_str("?x"),
        }
    }
}

fn spell_trailing(module: &Module, out: &mut String, attribute: Option<AttrId>) {
    if let Some(attribute) = attribute {
        out.push_str(", ");
        // The usual memory space is a number, written without its type.
        match module.attribute(attribute) {
            crate::Attribute::Integer { value, .. } => {
                let _ = write!(out, "{value}");
            }
            _ => print_attribute(module, attribute, out),
        }
    }
}
