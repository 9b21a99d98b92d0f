//! The assembly format language: the custom syntax of an op.
//!
//! A format is a string in the declaration: a list of elements separated by blanks, with which the
//! parser reads an op and the printer writes it. It covers the text after the name of the op. The
//! language extends MLIR's `assemblyFormat`: every element that both have has the same meaning.
//!
//! # Elements that MLIR has, too
//!
//! | element | text |
//! |---|---|
//! | `` `to` `` | a keyword or punctuation |
//! | ``` `` ```, `` ` ` `` | no blank here, or a blank here, overriding the default of the printer; readers accept any |
//! | `$operand` | `%a`; for an optional or variadic operand `%a, %b`, or nothing |
//! | `operands` | all operands in one list: `%a, %b` |
//! | `$attribute` | its value, without the type where the declaration fixes that; the keyword of a case |
//! | `$function` | `@f`, or `[@f, @g]` for a list |
//! | `$region`, `regions` | `{ … }`; the label of the first block lists its arguments. All regions, in order |
//! | `attr-dict` | `{a = 1 : i32}` with every attribute that no other element shows; nothing if there is none |
//! | `attr-dict-with-keyword` | the same after the word `attributes` |
//! | `type($x)` | the types of one group of operands or results |
//! | `functional-type($a, $results)` | `(i32) -> i64`, or `(i32) -> (i64, i64)` |
//! | `(… $x^ …)?` | elements that are present together or not at all: read if the first one is present, written if the anchor `^` has a text. An attribute that is the anchor has one unless its value is the default |
//! | `(… $x^ …) : (…)?` | the first elements, or the others if those are absent |
//!
//! There are no successors, and no elements implemented in C++: `custom`, `ref` and `successors`
//! are missing.
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
//! | `result-count($results)` | the number of results, all of the one type that the declaration specifies |
//! | `region($body, $a, $b)` | `{ … }`, whose block arguments have the names of these operands |
//! | `empty-region($body, $a, "t.return")` | no text: a region that consists only of this terminator; not for ops with results |
//! | `known($a, $b)` | no text: these operands are values written before the op, and have their types |
//! | `known($a, $b by $kind)` | the same for an enumeration that determines their types; without the attribute, like `known($a, $b)` |
//! | `last-type($a, $b)` | the type of the last operand; readers also accept the types of all operands |
//! | `shared-type($attribute, $result)` | a type: the value of the attribute, and the type of the result |
//! | `expect($a, "condition")` | no text: the error `expected condition` here if operand `a` is missing |
//! | `(…)?`, `(… \| …)` | the groups of MLIR without an anchor: written if any element has a text |
//!
//! Instead of a group, `operands` means all operands and `results` all results.
//!
//! It is an error if an operand or result type is neither fixed by the declaration nor named by an
//! element, if an operand, a region or a required attribute is not shown by any element, or if
//! anything is shown twice. Errors state their location in the format. The macros that declare ops
//! report them at compile time.
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

mod shown;

mod grammar;

use crate::check::DeclarationError;
use crate::op::OpDef;

/// A parsed custom syntax: the elements in order. Numbers in it index the lists of the declaration.
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
    /// A blank that is written or omitted, overriding the default of the printer.
    Blank {
        /// `true` to write it.
        is_written: bool,
    },
    /// Operands in one list, at most one of them variadic.
    Operands(Vec<usize>),
    /// Operands with their types.
    TypedOperands(usize),
    /// The value of an attribute.
    Attribute {
        /// Its index.
        attribute: usize,
        /// `true` to write its type.
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
    /// A list of types. Each entry represents values with these types: those of its groups,
    /// concatenated.
    Types(Vec<Vec<Group>>),
    /// A function type.
    FunctionType {
        /// The groups of its inputs.
        inputs: Vec<Group>,
        /// The groups of its results.
        results: Vec<Group>,
        /// `true` to print even a single result in parentheses.
        is_parenthesised: bool,
    },
    /// The number of results of a variadic group.
    ResultCount(usize),
    /// No text: the operands have the types of values written before the op.
    KnownTypes {
        /// The operands.
        operands: Vec<usize>,
        /// The enumeration whose cases determine the types, if any.
        by: Option<usize>,
    },
    /// The type of the last of these operands; readers also accept the types of all.
    LastType(Vec<usize>),
    /// A type that is both the value of an attribute and the type of a result.
    SharedType {
        /// The attribute.
        attribute: usize,
        /// The result.
        result: usize,
    },
    /// A region.
    Region {
        /// The index of the function.
        function: usize,
        /// The operands whose names its block arguments have.
        arguments: Vec<usize>,
    },
    /// A region with the arguments of its first block.
    WholeRegion(usize),
    /// A region that does nothing and is not written.
    EmptyRegion {
        /// The index of the function.
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
        /// Its name in the message.
        what: String,
    },
    /// Elements that are present together or not at all.
    Optional {
        /// The elements.
        elements: Vec<Element>,
        /// The element that decides whether they are written; without one, any element with a text
        /// does.
        anchor: Option<usize>,
    },
    /// One of two lists of elements.
    Either {
        /// The elements that are present if the first one is.
        first: Vec<Element>,
        /// The elements that are present otherwise.
        second: Vec<Element>,
        /// The element of the first list that decides whether that is written; without one, any
        /// element with a text does.
        anchor: Option<usize>,
    },
}

/// Whether the word `attributes` precedes a dictionary of attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DictKeyword {
    /// Never.
    No,
    /// Always.
    Yes,
    /// Optional when read, omitted when printed.
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
    /// Parses the assembly format of a declaration; without a format, there are no elements.
    ///
    /// # Errors
    /// If it is not well formed or does not fit the declaration.
    pub fn parse(def: &OpDef) -> Result<Self, DeclarationError> {
        let elements = match def.assembly_format {
            Some(text) => grammar::parse(def, text)?,
            None => Vec::new(),
        };
        Ok(Self { elements })
    }

    /// Calls `visit` for every element in order, including nested ones.
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

#[cfg(test)]
mod tests;
