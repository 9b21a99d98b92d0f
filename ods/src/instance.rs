//! The view of an op in a program that verifiers use, independent of its representation.

use std::borrow::Cow;

/// An op in a program, as seen by its verifier. Types have their MLIR spellings.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an op that can be verified",
    label = "does not implement `OpInstance`"
)]
pub trait OpInstance {
    /// Returns the full name.
    fn name(&self) -> &str;

    /// Returns the types of the operands.
    fn operand_types(&self) -> Vec<Cow<'_, str>>;

    /// Returns the types of the results.
    fn result_types(&self) -> Vec<Cow<'_, str>>;

    /// Returns the names of all attributes.
    fn attribute_names(&self) -> Vec<Cow<'_, str>>;

    /// Returns the attribute with this name, if the op has it.
    fn attribute(&self, name: &str) -> Option<AttrInstance<'_>>;

    /// Returns the regions, in order.
    fn regions(&self) -> Vec<RegionInstance<'_>>;

    /// Returns the signature of the function that a flat symbol refers to from here, if there is
    /// one.
    fn resolve(&self, symbol: &str) -> Option<Signature<'_>>;

    /// Returns the signature of the function whose body directly contains the op, if there is one.
    fn enclosing_function(&self) -> Option<Signature<'_>>;

    /// Returns the op whose result the operand with this index is. Returns `None` if the operand is
    /// an argument of a block, or if the representation does not know its op, which is the default.
    fn producer(&self, operand: usize) -> Option<Box<dyn OpInstance + '_>> {
        let _ = operand;
        None
    }
}

/// An attribute, in the detail that rules need.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum AttrInstance<'a> {
    /// A Boolean.
    Bool(bool),
    /// An integer with the spelling of its type.
    Int(i128, Cow<'a, str>),
    /// A number with the spelling of its type.
    Float(f64, Cow<'a, str>),
    /// A string.
    String(Cow<'a, str>),
    /// The spelling of a type.
    Type(Cow<'a, str>),
    /// A list.
    Array(Vec<AttrInstance<'a>>),
    /// Dense elements, with the spelling of their type.
    Dense(Cow<'a, str>),
    /// A shape.
    Shape,
    /// A symbol: its root, and whether it is nested.
    Symbol(Cow<'a, str>, bool),
    /// An attribute that rules do not inspect.
    Other,
}

/// A region, as seen from its op.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegionInstance<'a> {
    /// The types of the arguments of its first block.
    pub arguments: Vec<Cow<'a, str>>,
    /// The types of the operands of the terminator of its last block; `None` if it has no
    /// terminator.
    pub returns: Option<Vec<Cow<'a, str>>>,
}

/// The types that a function takes and returns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature<'a> {
    /// The types of its arguments.
    pub arguments: Vec<Cow<'a, str>>,
    /// The types of its results.
    pub results: Vec<Cow<'a, str>>,
    /// `true` for a synchronous function.
    pub is_sync: bool,
}
