//! Folding: what an op is known to give, without running it.
//!
//! A declaration may carry an [`OpFolder`]. It looks at one op and says that its only result is a constant, and where in the
//! attributes of the op that constant stands. The folder does not edit the program: its caller inserts the constant.

use crate::instance::OpInstance;
use crate::op::OpDef;

/// Says which constant the only result of an op is, if it is one.
pub type OpFolder = fn(op: &dyn OpInstance) -> Option<Fold>;

/// A constant in place of an op.
///
/// ```
/// use tfrt_ods::fold::{AttrPath, Fold};
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
    /// The op that returns the constant: it takes no operands and has one attribute, and one result of the same type.
    pub constant: &'static OpDef,
    /// Where that attribute stands in the op that goes.
    pub value: AttrPath,
    /// Whether users of the result must not start before the operands of the op are available, as if they used these, too.
    pub is_ordered: bool,
}

/// The way to an attribute: an attribute of an op, or an element in the depth of one that is a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttrPath {
    /// The name of the attribute of the op.
    pub attribute: &'static str,
    /// Which element to take, level by level, the outermost first.
    pub indices: Vec<usize>,
}
