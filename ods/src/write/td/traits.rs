//! Traits with their MLIR names: those of the declaration, and equal types.

use crate::constraint::TypeConstraint;
use crate::effect::Effect;
use crate::op::{Arity, FunctionForm, OpDef};
use crate::traits::OpTraits;

use super::names::OpNames;

/// Returns the traits of an op.
pub(super) fn traits(def: &OpDef, names: &OpNames) -> Vec<String> {
    let mut traits: Vec<String> = def
        .traits
        .iter()
        .filter_map(|def| def.mlir.map(str::to_owned))
        .collect();
    let has_regions = def
        .functions
        .iter()
        .any(|function| function.form == FunctionForm::Region);
    for (holds, name) in [
        (def.is_isolated() && has_regions, "IsolatedFromAbove"),
        (
            matches!(def.effect, Effect::Reads(_)),
            "MemoryEffects<[MemRead]>",
        ),
        (
            matches!(def.effect, Effect::Ordered(_)) && !def.traits.contains(OpTraits::PURE),
            "MemoryEffects<[MemRead, MemWrite]>",
        ),
    ] {
        if holds {
            traits.push(name.to_owned());
        }
    }
    let operands = def.operands.iter().zip(&names.operands);
    let operands = operands.map(|(operand, name)| (operand.ty, operand.arity, name));
    let results = def.results.iter().zip(&names.results);
    let results = results.map(|(result, name)| (result.ty, result.arity, name));
    for (ty, arity, name) in operands.chain(results) {
        let TypeConstraint::SameAs(other) = ty else {
            continue;
        };
        let Some(index) = def
            .operands
            .iter()
            .position(|operand| operand.name == other)
        else {
            continue;
        };
        let (other, other_arity) = (&names.operands[index], def.operands[index].arity);
        traits.push(match (other_arity, arity) {
            (Arity::One, Arity::One) => format!("AllTypesMatch<[\"{other}\", \"{name}\"]>"),
            (Arity::One, _) => type_match(name, other, &format!("${other}.getType()")),
            // The first value decides; without one, there is no constraint.
            (_, Arity::One) => format!(
                "PredOpTrait<\"{name} is of the type of {other}\", CPred<\"${other}.empty() || \
                 ${name}.getType() == (*${other}.begin()).getType()\">>"
            ),
            _ => type_match(
                name,
                other,
                &format!("(${other}.empty() ? type : (*${other}.begin()).getType())"),
            ),
        });
    }
    traits
}

/// Returns the constraint that every value of a group has a type.
fn type_match(name: &str, other: &str, expected: &str) -> String {
    format!(
        "PredOpTrait<\"{name} are of the type of {other}\", \
         CPred<\"::llvm::all_of(${name}.getTypes(), [&](::mlir::Type type) {{ return type == \
         {expected}; }})\">>"
    )
}
