//! Types of values, and their spellings.

use crate::ids::AttrId;

pub(crate) use crate::ids::TypeId;

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
    /// `memref<2x?xT, strided<[4, 1]>, 3>` or `memref<*xT>`.
    MemRef {
        /// The sizes of the dimensions, `None` for `?`; no list at all if it is unranked.
        dims: Option<Box<[Option<u64>]>>,
        /// The type of its elements.
        element: TypeId,
        /// The layout after a comma, unless the elements follow one another in order.
        layout: Option<AttrId>,
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
    /// `!dialect.body` or `!dialect<body>`.
    Dialect {
        /// The dialect.
        dialect: Box<str>,
        /// Everything after the first dot, as written; without a dot, the brackets and what is in
        /// them.
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
    F4E2M1Fn,
    F6E2M3Fn,
    F6E3M2Fn,
    F8E5M2,
    F8E4M3,
    F8E3M4,
    F8E4M3Fn,
    F8E4M3Fnuz,
    F8E5M2Fnuz,
    F8E4M3B11Fnuz,
    F8E8M0Fnu,
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
            "f4E2M1FN" => Self::F4E2M1Fn,
            "f6E2M3FN" => Self::F6E2M3Fn,
            "f6E3M2FN" => Self::F6E3M2Fn,
            "f8E5M2" => Self::F8E5M2,
            "f8E4M3" => Self::F8E4M3,
            "f8E3M4" => Self::F8E3M4,
            "f8E4M3FN" => Self::F8E4M3Fn,
            "f8E4M3FNUZ" => Self::F8E4M3Fnuz,
            "f8E5M2FNUZ" => Self::F8E5M2Fnuz,
            "f8E4M3B11FNUZ" => Self::F8E4M3B11Fnuz,
            "f8E8M0FNU" => Self::F8E8M0Fnu,
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
            Self::F4E2M1Fn => "f4E2M1FN",
            Self::F6E2M3Fn => "f6E2M3FN",
            Self::F6E3M2Fn => "f6E3M2FN",
            Self::F8E5M2 => "f8E5M2",
            Self::F8E4M3 => "f8E4M3",
            Self::F8E3M4 => "f8E3M4",
            Self::F8E4M3Fn => "f8E4M3FN",
            Self::F8E4M3Fnuz => "f8E4M3FNUZ",
            Self::F8E5M2Fnuz => "f8E5M2FNUZ",
            Self::F8E4M3B11Fnuz => "f8E4M3B11FNUZ",
            Self::F8E8M0Fnu => "f8E8M0FNU",
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
            Self::F4E2M1Fn => 4,
            Self::F6E2M3Fn | Self::F6E3M2Fn => 6,
            Self::F8E5M2
            | Self::F8E4M3
            | Self::F8E3M4
            | Self::F8E4M3Fn
            | Self::F8E4M3Fnuz
            | Self::F8E5M2Fnuz
            | Self::F8E4M3B11Fnuz
            | Self::F8E8M0Fnu => 8,
            Self::Bf16 | Self::F16 => 16,
            Self::F32 => 32,
            Self::F64 => 64,
            Self::F80 => 80,
            Self::F128 => 128,
        }
    }
}
