//! `tfrt.return`: what ends a function or a region. Not a kernel.

use tfrt::ods::verify::region;
use tfrt::ods::{OpDef, OpTraits, OperandDef, TypeConstraint};

tfrt::declare_op! {
    /// Gives values back to whoever started the function or the region.
    pub static RETURN: OpDef = OpDef {
        operands: &[OperandDef::variadic("values", TypeConstraint::Any)],
        traits: OpTraits::TERMINATOR.with(OpTraits::CHEAP),
        assembly_format: Some("($values `:` type($values))?"),
        verifier: Some(region::function_return),
        ..OpDef::new(crate::rules::RETURN)
    };
}
