//! The record itself: [`OpDef`] and its parts.

use crate::constraint::{AttrKind, TypeConstraint};
use crate::fold::OpFolder;
use crate::traits::{Effect, OpTraits};
use crate::verify::OpVerifier;

/// Everything there is to know about an op.
///
/// ```
/// use tfrt_ods::{Arity, OpDef, OperandDef, ResultDef, TypeConstraint};
///
/// static ADD: OpDef = OpDef {
///     summary: "Returns the sum of two numbers.",
///     operands: &[OperandDef::new("a", TypeConstraint::Exact("i32")), OperandDef::new("b", TypeConstraint::Exact("i32"))],
///     results: &[ResultDef::new("sum", TypeConstraint::Exact("i32"))],
///     ..OpDef::new("my.add.i32")
/// };
/// assert_eq!(ADD.dialect(), "my");
/// assert_eq!(ADD.operands[1].arity, Arity::One);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct OpDef {
    /// The full name, dialect first: `tfrt.add.i32`.
    pub name: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// The rest of the documentation, in Markdown; may be empty.
    pub description: &'static str,
    /// The operands, in order. At most one is [`Arity::Variadic`].
    pub operands: &'static [OperandDef],
    /// The attributes that are not functions, in ascending byte order of their names.
    pub attributes: &'static [AttrDef],
    /// The functions: first those named by symbol, in ascending byte order of their names, then the regions in order.
    pub functions: &'static [FunctionDef],
    /// The results, in order. At most one is [`Arity::Variadic`].
    pub results: &'static [ResultDef],
    /// What is true of the op as a whole.
    pub traits: OpTraits,
    /// What the op does beside computing its results.
    pub effect: Effect,
    /// The custom syntax after the op name, in the language of [`crate::format`]; without one only the generic form exists.
    pub assembly_format: Option<&'static str>,
    /// Rules that the rest of the record cannot say.
    pub verifier: Option<OpVerifier>,
    /// Tells which constant the result is, where that is known without running the op.
    pub folder: Option<OpFolder>,
    /// Where the declaration stands.
    pub place: SourcePlace,
}

impl OpDef {
    /// A declaration of an op that takes, gives and does nothing: the base for struct update syntax.
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        Self {
            name,
            summary: "",
            description: "",
            operands: &[],
            attributes: &[],
            functions: &[],
            results: &[],
            traits: OpTraits::NONE,
            effect: Effect::None,
            assembly_format: None,
            verifier: None,
            folder: None,
            place: SourcePlace::UNKNOWN,
        }
    }

    /// The part of the name before the first dot.
    #[must_use]
    pub fn dialect(&self) -> &'static str {
        self.name
            .split_once('.')
            .map_or(self.name, |(dialect, _)| dialect)
    }

    /// Whether the regions of the op see only their own block arguments: they do if it says so, and always if it has a
    /// custom form, where block arguments may go by the names of outer values.
    #[must_use]
    pub const fn is_isolated(&self) -> bool {
        self.traits.contains(OpTraits::ISOLATED) || self.assembly_format.is_some()
    }
}

/// How often an operand or result occurs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arity {
    /// Exactly once.
    One,
    /// Any number of times, none included.
    Variadic,
}

/// An operand.
#[derive(Clone, Copy, Debug)]
pub struct OperandDef {
    /// Its name in documentation and in the assembly format.
    pub name: &'static str,
    /// The types it may have; for a variadic operand, that each of its values may have.
    pub ty: TypeConstraint,
    /// How often it occurs.
    pub arity: Arity,
    /// Whether the kernel writes into it.
    pub is_mutated: bool,
    /// Whether the kernel takes it as a reference that may not be available yet, when the op runs non-strictly.
    pub is_reference: bool,
}

impl OperandDef {
    /// A single operand that is only read.
    #[must_use]
    pub const fn new(name: &'static str, ty: TypeConstraint) -> Self {
        Self {
            name,
            ty,
            arity: Arity::One,
            is_mutated: false,
            is_reference: false,
        }
    }

    /// All the operands that remain.
    #[must_use]
    pub const fn variadic(name: &'static str, ty: TypeConstraint) -> Self {
        Self {
            arity: Arity::Variadic,
            ..Self::new(name, ty)
        }
    }
}

/// A result.
#[derive(Clone, Copy, Debug)]
pub struct ResultDef {
    /// Its name in documentation and, for ops with [`OpTraits::NAMED_RESULTS`], in printed text.
    pub name: &'static str,
    /// The types it may have.
    pub ty: TypeConstraint,
    /// How often it occurs.
    pub arity: Arity,
    /// The operand that it shares memory with, if any.
    pub alias_of: Option<&'static str>,
}

impl ResultDef {
    /// A single result that shares nothing.
    #[must_use]
    pub const fn new(name: &'static str, ty: TypeConstraint) -> Self {
        Self {
            name,
            ty,
            arity: Arity::One,
            alias_of: None,
        }
    }

    /// All the results that remain.
    #[must_use]
    pub const fn variadic(name: &'static str, ty: TypeConstraint) -> Self {
        Self {
            arity: Arity::Variadic,
            ..Self::new(name, ty)
        }
    }
}

/// An attribute that is not a function.
#[derive(Clone, Copy, Debug)]
pub struct AttrDef {
    /// Its name in the attribute dictionary.
    pub name: &'static str,
    /// The values it may have.
    pub kind: AttrKind,
    /// What stands in when the text leaves it out; without one it is required.
    pub default: Option<AttrDefault>,
}

impl AttrDef {
    /// A required attribute.
    #[must_use]
    pub const fn new(name: &'static str, kind: AttrKind) -> Self {
        Self {
            name,
            kind,
            default: None,
        }
    }
}

/// The value of an attribute that the text leaves out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AttrDefault {
    /// A truth value, for [`AttrKind::Int`] of width 1.
    Bool(bool),
    /// A number, for every other [`AttrKind::Int`].
    Int(i128),
    /// A number, for [`AttrKind::Float`].
    Float(f64),
    /// A text, for [`AttrKind::String`].
    String(&'static str),
    /// An empty list, for [`AttrKind::Array`].
    EmptyArray,
}

/// A function that the op calls.
#[derive(Clone, Copy, Debug)]
pub struct FunctionDef {
    /// The attribute that names it, or the name of the region in documentation and in the assembly format.
    pub name: &'static str,
    /// How the op refers to it.
    pub form: FunctionForm,
}

/// How an op refers to a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FunctionForm {
    /// By one flat symbol: `@f`.
    Symbol,
    /// By a list of flat symbols: `[@f, @g]`.
    SymbolList,
    /// As a region of its own.
    Region,
}

/// The place of a declaration in its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourcePlace {
    /// The file, as `file!()` gives it.
    pub file: &'static str,
    /// The line, from 1; 0 where it is not known.
    pub line: u32,
}

impl SourcePlace {
    /// No place.
    pub const UNKNOWN: Self = Self { file: "", line: 0 };
}
