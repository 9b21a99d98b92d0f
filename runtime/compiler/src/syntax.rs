//! Hand-written custom forms of ops, from the crates that are linked.

use tfrt_ir::syntax::OpSyntax;

/// Custom forms that a crate adds to every text that is read or printed.
///
/// ```
/// use tfrt_compiler::LinkedSyntaxes;
/// use tfrt_ir::syntax::OpSyntax;
///
/// const FLAG: OpSyntax = OpSyntax {
///     op: "lib.flag",
///     parse: |_, _| Ok(()),
///     print: |_, module, op| module.operands(op).is_empty(),
/// };
///
/// inventory::submit! { LinkedSyntaxes(&[FLAG]) }
///
/// assert!(LinkedSyntaxes::all().any(|syntax| syntax.op == "lib.flag"));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct LinkedSyntaxes(pub &'static [OpSyntax]);

inventory::collect!(LinkedSyntaxes);

impl LinkedSyntaxes {
    /// Returns the custom forms of all crates.
    pub fn all() -> impl Iterator<Item = &'static OpSyntax> {
        inventory::iter::<Self>
            .into_iter()
            .flat_map(|of_crate| of_crate.0)
    }
}
