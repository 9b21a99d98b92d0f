//! The record itself: [`OpDef`] and its parts.

use crate::constraint::{AttrKind, TypeConstraint};
use crate::fold::OpFolder;
use crate::metadata::{MetadataFn, WorkspaceFn};
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
    /// The operands, in order. At most one is not [`Arity::One`].
    pub operands: &'static [OperandDef],
    /// The attributes that are not functions, in ascending byte order of their names.
    pub attributes: &'static [AttrDef],
    /// The functions: first those named by symbol, in ascending byte order of their names, then the regions in order.
    pub functions: &'static [FunctionDef],
    /// What is required of some of the functions.
    pub signatures: &'static [FunctionSignature],
    /// The results, in order. At most one is not [`Arity::One`].
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
    /// Tells the metadata of results before they are there.
    pub metadata: Option<MetadataFn>,
    /// Tells how much workspace a run needs.
    pub workspace: Option<WorkspaceFn>,
    /// Where the declaration stands.
    pub place: SourcePlace,
}

impl OpDef {
    /// A declaration of an op that takes, returns and does nothing: the base for struct update syntax.
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        Self {
            name,
            summary: "",
            description: "",
            operands: &[],
            attributes: &[],
            functions: &[],
            signatures: &[],
            results: &[],
            traits: OpTraits::NONE,
            effect: Effect::None,
            assembly_format: None,
            verifier: None,
            folder: None,
            metadata: None,
            workspace: None,
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

    /// Whether the op can be removed if its results are unused: it is pure, or only reads.
    #[must_use]
    pub fn is_removable(&self) -> bool {
        let writes = self.operands.iter().any(|operand| operand.is_mutated);
        self.traits.contains(OpTraits::PURE) || (matches!(self.effect, Effect::Reads(_)) && !writes)
    }

    /// The operand that orders the op: the last single one that can only be a chain.
    #[must_use]
    pub fn chain_operand(&self) -> Option<usize> {
        self.operands
            .iter()
            .rposition(|operand| operand.arity == Arity::One && operand.ty.is_chain())
    }

    /// The result that orders what comes after the op: the last single one that can only be a chain.
    #[must_use]
    pub fn chain_result(&self) -> Option<usize> {
        self.results
            .iter()
            .rposition(|result| result.arity == Arity::One && result.ty.is_chain())
    }
}

/// How often an operand or result occurs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arity {
    /// Exactly once.
    One,
    /// Once or not at all.
    Optional,
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

    /// An operand that programs may leave out.
    #[must_use]
    pub const fn optional(name: &'static str, ty: TypeConstraint) -> Self {
        Self {
            arity: Arity::Optional,
            ..Self::new(name, ty)
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

    /// A result that programs may leave out.
    #[must_use]
    pub const fn optional(name: &'static str, ty: TypeConstraint) -> Self {
        Self {
            arity: Arity::Optional,
            ..Self::new(name, ty)
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
    /// What stands in when the text leaves it out; without one it is required. [`AttrDefault::Absent`] makes it optional.
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

    /// An attribute that programs may leave out, of which the kernel is then told that it is not there.
    #[must_use]
    pub const fn optional(name: &'static str, kind: AttrKind) -> Self {
        Self {
            default: Some(AttrDefault::Absent),
            ..Self::new(name, kind)
        }
    }

    /// Whether nothing stands in for the attribute where programs leave it out.
    #[must_use]
    pub const fn is_optional(&self) -> bool {
        matches!(self.default, Some(AttrDefault::Absent))
    }
}

/// The value of an attribute that the text leaves out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AttrDefault {
    /// A truth value, for [`AttrKind::Int`] of width 1.
    Bool(bool),
    /// A number, for every other [`AttrKind::Int`], and for [`AttrKind::Enum`].
    Int(i128),
    /// A number, for [`AttrKind::Float`].
    Float(f64),
    /// A text, for [`AttrKind::String`].
    String(&'static str),
    /// An empty list, for [`AttrKind::Array`].
    EmptyArray,
    /// Nothing: the attribute is optional, of whatever kind.
    Absent,
}

impl AttrDefault {
    /// Whether an attribute of this kind can have the value.
    #[must_use]
    pub const fn fits(&self, kind: &AttrKind) -> bool {
        match (self, kind) {
            (Self::Absent, _)
            | (Self::Bool(_), AttrKind::Int { width: 1, .. })
            | (Self::Float(_), AttrKind::Float(_))
            | (Self::String(_), AttrKind::String)
            | (Self::EmptyArray, AttrKind::Array(_) | AttrKind::Aggregate) => true,
            (Self::Int(value), AttrKind::Int { width, is_unsigned }) => {
                fits_in(*value, *width, *is_unsigned)
            }
            (Self::Int(value), AttrKind::Enum(def)) => {
                let mut index = 0;
                while index < def.cases.len() {
                    if def.cases[index].value == *value {
                        return true;
                    }
                    index += 1;
                }
                false
            }
            _ => false,
        }
    }
}

/// Whether an integer of `width` bits, which are not 1, can be `value`.
pub(crate) const fn fits_in(value: i128, width: u8, is_unsigned: bool) -> bool {
    match (width, is_unsigned) {
        (0 | 1 | 65.., _) => false,
        (_, true) => 0 <= value && value < 1 << width,
        (_, false) => -(1 << (width - 1)) <= value && value < 1 << (width - 1),
    }
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

/// What an op requires of a function that it calls: exactly these arguments and results.
#[derive(Clone, Copy, Debug)]
pub struct FunctionSignature {
    /// The name of the function among [`OpDef::functions`].
    pub function: &'static str,
    /// The spellings of the types of its arguments.
    pub arguments: &'static [&'static str],
    /// The spellings of the types of its results.
    pub results: &'static [&'static str],
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
