//! The assembly format language: how an op is written when it is not written generically.
//!
//! A format is a string in the declaration, a list of elements between blanks, which the parser of text reads an op by and
//! the printer writes it by. It covers what follows the name of the op. The language grew from MLIR's `assemblyFormat`:
//! every element there that this one also has means the same.
//!
//! | element | text |
//! |---|---|
//! | `` `to` `` | a keyword or punctuation |
//! | `$operand` | `%a`; for a variadic operand `%a, %b`, or nothing |
//! | `operands`, `operands($a, $b)` | all operands, or these (no blank before the parenthesis), in one list: `%a, %b` |
//! | `typed-operands($args)` | operands with their types: `%a : i32, %b : i64` |
//! | `$attribute` | its value, without the type where the declaration fixes that |
//! | `typed($attribute)` | its value with its type |
//! | `$function` | `@f`, or `[@f, @g]` for a list |
//! | `attr-dict` | `{a = 1 : i32}` with every attribute that no other element shows; nothing if there is none |
//! | `attr-dict-with-keyword` | the same behind the word `attributes` |
//! | `attr-dict-or-keyword` | printed like the first, read in both ways |
//! | `key-values($a, $b)` | `a = 1, b = 2`: integer attributes, read in any order |
//! | `pairs($a)` | `{k = 1 : i32}` for the array `[["k", 1 : i32]]`; nothing for an empty array |
//! | `type($x)`, `type-list($a, $results)` | the types of one group of operands or results; those that several groups share |
//! | `functional-type($a, $results)` | `(i32) -> i64`, or `(i32) -> (i64, i64)` |
//! | `signature($a, $results)` | the same, printed with parentheses around any number of results |
//! | `result-count($results)` | how many results there are, of the one type that the declaration gives them |
//! | `region($body, $a, $b)` | `{ … }`, whose block arguments go by the names of these operands |
//! | `empty-region($body, $a, "t.return")` | no text: a region that does nothing but end in this op; without results only |
//! | `expect($a, "condition")` | no text: the error `expected condition` here if operand `a` was not written |
//! | `(…)?` | elements that are there together or not at all; they are if the first one is |
//! | `(… \| …)` | the first elements, or the others where those are not there |
//!
//! In place of a group, `operands` stands for all operands and `results` for all results.
//!
//! Operand and result types that are neither fixed by the declaration nor named by an element are an error, as is an
//! operand, a region or a required attribute that no element shows.
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
//! assert_eq!(Format::parse(&WRONG).unwrap_err().to_string(), "no element gives the type of operand `value`");
//! ```

mod grammar;

mod validate;

use std::fmt;

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
    /// A region.
    Region {
        /// Which function it is.
        function: usize,
        /// The operands whose names its block arguments have.
        arguments: Vec<usize>,
    },
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
    Optional(Vec<Element>),
    /// One of two lists of elements.
    Either(Vec<Element>, Vec<Element>),
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
        let elements = grammar::parse(def, def.assembly_format.unwrap_or_default())?;
        if def.assembly_format.is_some() {
            validate::validate(def, &elements)?;
        }
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
            Element::Optional(inner) => visit_all(inner, visit),
            Element::Either(first, second) => {
                visit_all(first, visit);
                visit_all(second, visit);
            }
            _ => {}
        }
    }
}

/// What is wrong with an assembly format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormatError {
    /// What is wrong.
    pub message: String,
    /// Where in the format, in bytes; none if something is missing from the whole.
    pub offset: Option<usize>,
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

#[cfg(test)]
mod tests;
