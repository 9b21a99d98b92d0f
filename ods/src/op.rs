//! The record itself: [`OpDef`] and its parts.

use crate::constraint::{AttrKind, TypeConstraint};
use crate::effect::Effect;
use crate::fold::OpFolder;
use crate::metadata::{MetadataFn, WorkspaceFn};
use crate::traits::OpTraits;
use crate::verify::OpVerifier;

/// The declaration of an op.
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
    /// The documentation in one sentence.
    pub summary: &'static str,
    /// The rest of the documentation, in Markdown; may be empty.
    pub description: &'static str,
    /// The operands, in order. At most one is not [`Arity::One`].
    pub operands: &'static [OperandDef],
    /// The attributes that are not functions, in ascending byte order of their names.
    pub attributes: &'static [AttrDef],
    /// The functions: first those named by symbol, in ascending byte order of their names, then the
    /// regions in order.
    pub functions: &'static [FunctionDef],
    /// The required signatures of some of the functions.
    pub signatures: &'static [FunctionSignature],
    /// The results, in order. At most one is not [`Arity::One`].
    pub results: &'static [ResultDef],
    /// The properties of the op as a whole.
    pub traits: OpTraits,
    /// The effect of the op besides computing its results.
    pub effect: Effect,
    /// The custom syntax after the op name, in the language of [`crate::format`]; without one, only
    /// the generic form exists.
    pub assembly_format: Option<&'static str>,
    /// Rules that the rest of the record cannot express.
    pub verifier: Option<OpVerifier>,
    /// Computes the result as a constant, if it is known without running the op.
    pub folder: Option<OpFolder>,
    /// Computes the metadata of results before they exist.
    pub metadata: Option<MetadataFn>,
    /// Computes the size of the workspace that a run needs.
    pub workspace: Option<WorkspaceFn>,
    /// The location of the declaration.
    pub place: SourcePlace,
}

impl OpDef {
    /// Creates a declaration of an op without operands, results and effects: the base for struct
    /// update syntax.
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

    /// Returns the part of the name before the first dot.
    #[must_use]
    pub fn dialect(&self) -> &'static str {
        self.name
            .split_once('.')
            .map_or(self.name, |(dialect, _)| dialect)
    }

    /// Returns `true` if the regions of the op see only their own block arguments: if it is
    /// declared so, or if it has a custom form, in which block arguments may have the names of
    /// outer values.
    #[must_use]
    pub const fn is_isolated(&self) -> bool {
        self.traits.contains(OpTraits::ISOLATED) || self.assembly_format.is_some()
    }

    /// Returns `true` if the op can be removed if its results are unused: it is pure, or only
    /// reads.
    #[must_use]
    pub fn is_removable(&self) -> bool {
        let writes = self.operands.iter().any(|operand| operand.is_mutated);
        self.traits.contains(OpTraits::PURE) || (matches!(self.effect, Effect::Reads(_)) && !writes)
    }

    /// Returns the operand that orders the op: the last single one that can only be a chain.
    #[must_use]
    pub fn chain_operand(&self) -> Option<usize> {
        self.operands
            .iter()
            .rposition(|operand| operand.arity == Arity::One && operand.ty.is_chain())
    }

    /// Returns the result that orders what follows the op: the last single one that can only be a
    /// chain.
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
    /// Any number of times, including none.
    Variadic,
}

/// An operand.
#[derive(Clone, Copy, Debug)]
pub struct OperandDef {
    /// Its name in documentation and in the assembly format.
    pub name: &'static str,
    /// The types it may have; for a variadic operand, the types of each of its values.
    pub ty: TypeConstraint,
    /// How often it occurs.
    pub arity: Arity,
    /// `true` if the kernel writes to it.
    pub is_mutated: bool,
    /// `true` if the kernel takes it as a reference that may be unavailable when the op runs
    /// non-strictly.
    pub is_reference: bool,
}

impl OperandDef {
    /// Creates a single operand that is only read.
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

    /// Creates an optional operand.
    #[must_use]
    pub const fn optional(name: &'static str, ty: TypeConstraint) -> Self {
        Self {
            arity: Arity::Optional,
            ..Self::new(name, ty)
        }
    }

    /// Creates an operand for all remaining values.
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
    /// Creates a single result that shares no memory.
    #[must_use]
    pub const fn new(name: &'static str, ty: TypeConstraint) -> Self {
        Self {
            name,
            ty,
            arity: Arity::One,
            alias_of: None,
        }
    }

    /// Creates an optional result.
    #[must_use]
    pub const fn optional(name: &'static str, ty: TypeConstraint) -> Self {
        Self {
            arity: Arity::Optional,
            ..Self::new(name, ty)
        }
    }

    /// Creates a result for all remaining values.
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
    /// The value if the text omits the attribute; without a default it is required.
    /// [`AttrDefault::Absent`] makes it optional.
    pub default: Option<AttrDefault>,
}

impl AttrDef {
    /// Creates a required attribute.
    #[must_use]
    pub const fn new(name: &'static str, kind: AttrKind) -> Self {
        Self {
            name,
            kind,
            default: None,
        }
    }

    /// Creates an optional attribute, for which the kernel receives `None` if it is missing.
    #[must_use]
    pub const fn optional(name: &'static str, kind: AttrKind) -> Self {
        Self {
            default: Some(AttrDefault::Absent),
            ..Self::new(name, kind)
        }
    }

    /// Returns `true` if the attribute may be missing without a value in its place.
    #[must_use]
    pub const fn is_optional(&self) -> bool {
        matches!(self.default, Some(AttrDefault::Absent))
    }
}

/// The value of an attribute that the text omits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AttrDefault {
    /// A Boolean, for [`AttrKind::Int`] of width 1.
    Bool(bool),
    /// A number, for every other [`AttrKind::Int`], and for [`AttrKind::Enum`].
    Int(i128),
    /// A number, for [`AttrKind::Float`].
    Float(f64),
    /// A string, for [`AttrKind::String`].
    String(&'static str),
    /// An empty list, for [`AttrKind::Array`].
    EmptyArray,
    /// No value: the attribute is optional, of any kind.
    Absent,
}

impl AttrDefault {
    /// Returns `true` if an attribute of this kind can have the value.
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

/// Returns `true` if an integer of `width` bits, other than 1, can be `value`.
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
    /// The attribute that names it, or the name of the region in documentation and in the assembly
    /// format.
    pub name: &'static str,
    /// How the op refers to it.
    pub form: FunctionForm,
}

/// How an op refers to a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FunctionForm {
    /// By one flat symbol: `@f`.
    Symbol,
    /// By one flat symbol, or not at all. An op names all of its optional functions or none of
    /// them. They are the last ones, without a list or regions: a file has the functions without
    /// their names.
    OptionalSymbol,
    /// By a list of flat symbols: `[@f, @g]`.
    SymbolList,
    /// As its own region.
    Region,
}

/// The required signature of a function that an op calls: exactly these arguments and results.
#[derive(Clone, Copy, Debug)]
pub struct FunctionSignature {
    /// The name of the function among [`OpDef::functions`].
    pub function: &'static str,
    /// The spellings of the types of its arguments.
    pub arguments: &'static [&'static str],
    /// The spellings of the types of its results.
    pub results: &'static [&'static str],
}

/// The location of a declaration in its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourcePlace {
    /// The file, as returned by `file!()`.
    pub file: &'static str,
    /// The line, from 1; 0 if unknown.
    pub line: u32,
}

impl SourcePlace {
    /// An unknown location.
    pub const UNKNOWN: Self = Self { file: "", line: 0 };
}
