//! Folding: determining the result of an op without running it.
//!
//! A declaration may have an [`OpFolder`]. It inspects one op and reports whether its only result
//! is a constant, and where in the attributes of the op that constant is. The folder does not edit
//! the program: its caller inserts the constant.

use crate::instance::OpInstance;
use crate::op::OpDef;

/// Returns the constant value of an op's only result, if it is a constant.
pub type OpFolder = fn(op: &dyn OpInstance) -> Option<Fold>;

/// A constant that replaces an op.
///
/// ```
/// use tfrt_ods::{AttrPath, Fold};
/// use tfrt_ods::instance::{AttrInstance, OpInstance};
/// use tfrt_ods::{AttrDef, AttrKind, OpDef, OpTraits, ResultDef, TypeConstraint};
///
/// static CONSTANT: OpDef = OpDef {
///     attributes: &[AttrDef::new("value", AttrKind::I32)],
///     results: &[ResultDef::new("value", TypeConstraint::Exact("i32"))],
///     traits: OpTraits::PURE.with(OpTraits::CONSTANT),
///     ..OpDef::new("my.constant.i32")
/// };
///
/// static FIRST: OpDef = OpDef { traits: OpTraits::PURE, folder: Some(fold_first), ..OpDef::new("my.first_of_list") };
///
/// fn fold_first(op: &dyn OpInstance) -> Option<Fold> {
///     let Some(AttrInstance::Array(list)) = op.attribute("list") else { return None };
///     list.first()?;
///     let value = AttrPath { attribute: "list", indices: vec![0] };
///     Some(Fold { constant: &CONSTANT, value, is_ordered: true })
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Fold {
    /// The op that returns the constant: it has no operands, one attribute, and one result of the
    /// same type.
    pub constant: &'static OpDef,
    /// The location of that attribute in the replaced op.
    pub value: AttrPath,
    /// `true` if users of the result must not start before the operands of the op are available, as
    /// if they used these, too.
    pub is_ordered: bool,
}

/// The path to an attribute: an attribute of an op, or a nested element of one that is a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttrPath {
    /// The name of the attribute of the op.
    pub attribute: &'static str,
    /// The index of the element at each level, outermost first.
    pub indices: Vec<usize>,
}
