//! `tfrt.return`: what ends a function or a region. Not a kernel.

use tfrt::ods::verify::region;
use tfrt::ods::{OpDef, OpTraits, OperandDef, TypeConstraint};

tfrt::declare_op! {
    /// Returns values to the caller of the function or region.
    pub static RETURN: OpDef = OpDef {
        operands: &[OperandDef::variadic("values", TypeConstraint::Any)],
        traits: OpTraits::TERMINATOR.with(OpTraits::CHEAP),
        assembly_format: Some("($values `:` type($values))?"),
        verifier: Some(region::function_return),
        ..OpDef::new(crate::rules::RETURN)
    };
}
