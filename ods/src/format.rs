//! The assembly format language: how an op is written when it is not written generically.
//!
//! A format is a string in the declaration, a list of elements between blanks, which the parser of text reads an op by and
//! the printer writes it by. It covers what follows the name of the op. The language grew from MLIR's `assemblyFormat`:
//! every element there that this one also has means the same.
//!
//! # Elements that MLIR has, too
//!
//! | element | text |
//! |---|---|
//! | `` `to` `` | a keyword or punctuation |
//! | ``` `` ```, `` ` ` `` | no blank here, or a blank here, whatever printers do by themselves; readers take any |
//! | `$operand` | `%a`; for an optional or variadic operand `%a, %b`, or nothing |
//! | `operands` | all operands in one list: `%a, %b` |
//! | `$attribute` | its value, without the type where the declaration fixes that; the keyword of a case |
//! | `$function` | `@f`, or `[@f, @g]` for a list |
//! | `$region`, `regions` | `{ … }`; the label of the first block says which arguments it has. All regions, one after the other |
//! | `attr-dict` | `{a = 1 : i32}` with every attribute that no other element shows; nothing if there is none |
//! | `attr-dict-with-keyword` | the same behind the word `attributes` |
//! | `type($x)` | the types of one group of operands or results |
//! | `functional-type($a, $results)` | `(i32) -> i64`, or `(i32) -> (i64, i64)` |
//! | `(… $x^ …)?` | elements that are there together or not at all: read if the first one is there, written if the anchor `^` has a text. An attribute that is the anchor has one unless its value is the default |
//! | `(… $x^ …) : (…)?` | the first elements, or the others where those are not there |
//!
//! There are no successors, and nothing is written in C++: `custom`, `ref` and `successors` are missing.
//!
//! # Elements of our own
//!
//! | element | text |
//! |---|---|
//! | `operands($a, $b)` | these operands in one list (no blank before the parenthesis) |
//! | `typed-operands($args)` | operands with their types: `%a : i32, %b : i64` |
//! | `typed($attribute)` | its value with its type |
//! | `attr-dict-or-keyword` | printed like `attr-dict`, read with and without the keyword |
//! | `key-values($a, $b)` | `a = 1, b = 2`: integer attributes, read in any order |
//! | `pairs($a)` | `{k = 1 : i32}` for the array `[["k", 1 : i32]]`; nothing for an empty array |
//! | `type-list($a, $results)` | the types that several groups share |
//! | `signature($a, $results)` | like `functional-type`, printed with parentheses around any number of results |
//! | `result-count($results)` | how many results there are, of the one type that the declaration gives them |
//! | `region($body, $a, $b)` | `{ … }`, whose block arguments go by the names of these operands |
//! | `empty-region($body, $a, "t.return")` | no text: a region that does nothing but end in this op; without results only |
//! | `known($a, $b)` | no text: these operands are values written before the op, and have their types |
//! | `last-type($a, $b)` | the type of the last operand; readers also take the types of all of them |
//! | `shared-type($attribute, $result)` | a type: the value of the attribute, and the type of the result |
//! | `expect($a, "condition")` | no text: the error `expected condition` here if operand `a` was not written |
//! | `(…)?`, `(… \| …)` | the groups of MLIR without an anchor: written if any element has a text |
//!
//! In place of a group, `operands` stands for all operands and `results` for all results.
//!
//! Operand and result types that are neither fixed by the declaration nor named by an element are an error, as is an
//! operand, a region or a required attribute that no element shows, and whatever is shown twice. Errors say where in the format
//! they are. [`OpDef::check`] finds them at compile time.
//!
//! ```
//! use tfrt_ods::format::Format;
//! use tfrt_ods::{OpDef, OperandDef, TypeConstraint};
//!
//! static PRINT: OpDef = OpDef {
//!     operands: &[OperandDef::new("value", TypeConstraint::Any), OperandDef::new("chain", TypeConstraint::Exact("!tfrt.chain"))],
//!     assembly_format: Some("$value `after` $chain attr-dict `:` type($value)"),
//!     ..OpDef::new("my.print")
//! };
//! assert!(Format::parse(&PRINT).is_ok());
//!
//! static WRONG: OpDef = OpDef { assembly_format: Some("$value `after` $chain attr-dict"), ..PRINT };
//! assert_eq!(Format::parse(&WRONG).unwrap_err().to_string(), "no element determines the type of operand `value`");
//! ```

mod lexer;

mod nodes;

mod grammar;

mod validate;

mod build;

use std::fmt;

use crate::check::{DeclarationError, attempt};
use crate::op::OpDef;

/// A custom syntax, made ready: the elements in order. Numbers in it index the lists of the declaration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Format {
    /// The elements, in order.
    pub elements: Vec<Element>,
}

/// One element of a format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Element {
    /// A keyword or punctuation.
    Literal(String),
    /// A blank that is written, or left out, whatever the printer would do by itself.
    Blank {
        /// Whether it is written.
        is_written: bool,
    },
    /// Operands in one list, at most one of them variadic.
    Operands(Vec<usize>),
    /// Operands with their types.
    TypedOperands(usize),
    /// The value of an attribute.
    Attribute {
        /// Which one.
        attribute: usize,
        /// Whether its type is written.
        is_typed: bool,
    },
    /// A function by symbol, or a list of them.
    Function(usize),
    /// The attributes that no other element shows.
    AttrDict(DictKeyword),
    /// Integer attributes by name.
    KeyValues(Vec<usize>),
    /// An array of pairs, written as a dictionary.
    Pairs(usize),
    /// A list of types. Each entry stands for values that have these types: those of its groups, one after the other.
    Types(Vec<Vec<Group>>),
    /// A function type.
    FunctionType {
        /// The groups that have its inputs.
        inputs: Vec<Group>,
        /// The groups that have its results.
        results: Vec<Group>,
        /// Whether a single result is printed in parentheses too.
        is_parenthesised: bool,
    },
    /// The number of results of a variadic group.
    ResultCount(usize),
    /// No text: the operands have the types of the values that are written before the op.
    KnownTypes(Vec<usize>),
    /// The type of the last of these operands; readers also take the types of all.
    LastType(Vec<usize>),
    /// A type that an attribute has as its value and a result as its type.
    SharedType {
        /// The attribute.
        attribute: usize,
        /// The result.
        result: usize,
    },
    /// A region.
    Region {
        /// Which function it is.
        function: usize,
        /// The operands whose names its block arguments have.
        arguments: Vec<usize>,
    },
    /// A region with the arguments of its first block.
    WholeRegion(usize),
    /// A region that does nothing, which is not written.
    EmptyRegion {
        /// Which function it is.
        function: usize,
        /// The operands whose types its block arguments have.
        arguments: Vec<usize>,
        /// The op that ends it.
        terminator: String,
    },
    /// An error if an operand is missing.
    Expect {
        /// The operand.
        operand: usize,
        /// How people call it.
        what: String,
    },
    /// Elements that are there together or not at all.
    Optional {
        /// The elements.
        elements: Vec<Element>,
        /// Which of them decides that they are written; without one, any does that has a text.
        anchor: Option<usize>,
    },
    /// One of two lists of elements.
    Either {
        /// The elements that are there if the first one is.
        first: Vec<Element>,
        /// The elements that are there otherwise.
        second: Vec<Element>,
        /// Which of the first elements decides that they are written; without one, any does that has a text.
        anchor: Option<usize>,
    },
}

/// Whether a dictionary of attributes has the word `attributes` in front.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DictKeyword {
    /// Never.
    No,
    /// Always.
    Yes,
    /// It may be read with it, and is printed without.
    Either,
}

/// Operands or results of one declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// The operand of this number.
    Operand(usize),
    /// The result of this number.
    Result(usize),
}

impl Format {
    /// Reads the assembly format of a declaration; one without a format has no elements.
    ///
    /// # Errors
    /// If it is not well formed or does not fit the declaration.
    pub fn parse(def: &OpDef) -> Result<Self, FormatError> {
        let elements = match def.assembly_format {
            Some(text) => build::build(&parse(def, text)?),
            None => Vec::new(),
        };
        Ok(Self { elements })
    }

    /// Calls `visit` for every element, those inside of others included, in order.
    pub fn visit<'a>(&'a self, mut visit: impl FnMut(&'a Element)) {
        visit_all(&self.elements, &mut visit);
    }
}

fn visit_all<'a>(elements: &'a [Element], visit: &mut dyn FnMut(&'a Element)) {
    for element in elements {
        visit(element);
        match element {
            Element::Optional { elements, .. } => visit_all(elements, visit),
            Element::Either { first, second, .. } => {
                visit_all(first, visit);
                visit_all(second, visit);
            }
            _ => {}
        }
    }
}

/// Checks the assembly format of a declaration, in constants too.
pub(crate) const fn check(def: &OpDef) -> Result<(), DeclarationError> {
    if let Some(text) = def.assembly_format {
        attempt!(parse(def, text));
    }
    Ok(())
}

const fn parse(def: &OpDef, text: &'static str) -> Result<nodes::Nodes, DeclarationError> {
    let nodes = attempt!(grammar::parse(def, text));
    attempt!(validate::validate(def, &nodes));
    Ok(nodes)
}

/// What is wrong with an assembly format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormatError {
    /// What is wrong.
    pub message: String,
    /// Where in the format, in bytes; none if something is missing from the whole.
    pub offset: Option<usize>,
}

impl From<DeclarationError> for FormatError {
    fn from(error: DeclarationError) -> Self {
        Self {
            message: error.message(),
            offset: error.offset(),
        }
    }
}

impl fmt::Display for FormatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.offset {
            Some(offset) => write!(f, "{} at byte {offset}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

impl std::error::Error for FormatError {}

tfrt_support::convert_errors!(FormatError);

#[cfg(test)]
mod tests;
