//! A set of declarations that several tables share.

use std::fmt;

use crate::OpDef;

/// Declarations by name, each at a position.
///
/// A program collects thousands of declarations when it starts. Whoever keeps something for each
/// declaration shares this table, and keeps it by position, instead of filling a table of names of
/// its own.
///
/// ```
/// use tfrt_ods::{OpDef, OpTable};
///
/// static ADD: OpDef = OpDef::new("my.add");
///
/// #[derive(Debug)]
/// struct OneOp;
///
/// impl OpTable for OneOp {
///     fn num_ops(&self) -> usize {
///         1
///     }
///
///     fn op_at(&self, _position: usize) -> &'static OpDef {
///         &ADD
///     }
///
///     fn position_of_op(&self, name: &str) -> Option<usize> {
///         (name == ADD.name).then_some(0)
///     }
/// }
///
/// let position = OneOp.position_of_op("my.add");
/// assert_eq!(position.map(|position| OneOp.op_at(position).dialect()), Some("my"));
/// ```
pub trait OpTable: fmt::Debug + Send + Sync {
    /// Returns the number of declarations.
    fn num_ops(&self) -> usize;

    /// Returns the declaration at a position, which is less than [`num_ops`](Self::num_ops).
    ///
    /// # Panics
    /// If there is no such position.
    fn op_at(&self, position: usize) -> &'static OpDef;

    /// Returns the position of the declaration of this name.
    fn position_of_op(&self, name: &str) -> Option<usize>;
}
