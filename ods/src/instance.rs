//! The view of an op in a program that verifiers use, independent of its representation.

use std::borrow::Cow;

/// An op in a program, seen as its verifier needs it. Types are spelled as MLIR spells them.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an op that can be verified",
    label = "does not implement `OpInstance`"
)]
pub trait OpInstance {
    /// The full name.
    fn name(&self) -> &str;

    /// The types of the operands.
    fn operand_types(&self) -> Vec<Cow<'_, str>>;

    /// The types of the results.
    fn result_types(&self) -> Vec<Cow<'_, str>>;

    /// The names of all attributes.
    fn attribute_names(&self) -> Vec<Cow<'_, str>>;

    /// The attribute of this name, if the op has it.
    fn attribute(&self, name: &str) -> Option<AttrInstance<'_>>;

    /// The regions, in order.
    fn regions(&self) -> Vec<RegionInstance<'_>>;

    /// The signature of the function that a flat symbol refers to from here, if there is such a function.
    fn resolve(&self, symbol: &str) -> Option<Signature<'_>>;

    /// The signature of the function whose body holds the op directly, if a function does.
    fn enclosing_function(&self) -> Option<Signature<'_>>;
}

/// An attribute, as far as rules look into it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum AttrInstance<'a> {
    /// A truth value.
    Bool(bool),
    /// An integer with the spelling of its type.
    Int(i128, Cow<'a, str>),
    /// A number with the spelling of its type.
    Float(f64, Cow<'a, str>),
    /// A text.
    String(Cow<'a, str>),
    /// A type, spelled.
    Type(Cow<'a, str>),
    /// A list.
    Array(Vec<AttrInstance<'a>>),
    /// Dense elements, with the spelling of their type.
    Dense(Cow<'a, str>),
    /// A shape.
    Shape,
    /// A symbol: its root, and whether it is nested.
    Symbol(Cow<'a, str>, bool),
    /// Something no rule looks into.
    Other,
}

/// A region, seen from the op that owns it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegionInstance<'a> {
    /// The types of the arguments of its first block.
    pub arguments: Vec<Cow<'a, str>>,
    /// The types of the operands of the terminator of its last block; none if it has no terminator.
    pub returns: Option<Vec<Cow<'a, str>>>,
}

/// The types that a function takes and returns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature<'a> {
    /// The types of its arguments.
    pub arguments: Vec<Cow<'a, str>>,
    /// The types of its results.
    pub results: Vec<Cow<'a, str>>,
    /// Whether it is a synchronous function.
    pub is_sync: bool,
}
