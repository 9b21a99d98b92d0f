//! The rules about traits and effects.

use super::{Check, op_error, part_error};
use crate::constraint::TypeConstraint;
use crate::effect::Effect;
use crate::op::{Arity, OpDef};
use crate::traits::OpTraits;

/// The required shape of ops with a trait.
struct Shape {
    of: OpTraits,
    is_kept: fn(&OpDef) -> bool,
    rule: &'static str,
}

const SHAPES: &[Shape] = &[
    Shape {
        of: OpTraits::PURE,
        is_kept: |op| op.effect == Effect::None,
        rule: "an op with an effect is not pure",
    },
    Shape {
        of: OpTraits::EFFECT_FREE,
        is_kept: |op| op.effect == Effect::None,
        rule: "an op with an effect is not free of effects",
    },
    Shape {
        of: OpTraits::TERMINATOR,
        is_kept: |op| op.results.is_empty(),
        rule: "an op that ends its block has no results",
    },
    Shape {
        of: OpTraits::CHAIN_SOURCE,
        is_kept: |op| op.operands.is_empty() && returns_chain(op),
        rule: "a chain source takes nothing and returns a chain",
    },
    Shape {
        of: OpTraits::CHAIN_MERGE,
        is_kept: |op| {
            let takes_anything = matches!(
                op.operands,
                [all] if all.arity == Arity::Variadic && matches!(all.ty, TypeConstraint::Any)
            );
            takes_anything && returns_chain(op)
        },
        rule: "a chain merge takes any number of values of any type and returns a chain",
    },
    Shape {
        of: OpTraits::OPTIONAL_CHAIN,
        is_kept: |op| {
            let (operand, result) = (op.operands.last(), op.results.last());
            operand.is_some_and(|last| is_single_chain(last.ty, last.arity))
                && result.is_some_and(|last| is_single_chain(last.ty, last.arity))
        },
        rule: "a chain that may be left out is the last operand and the last result",
    },
    Shape {
        of: OpTraits::CHOOSES,
        is_kept: |op| {
            !op.operands.is_empty()
                && op.functions.len() == 2
                && op.traits.contains(OpTraits::FORWARDS)
        },
        rule: "an op that chooses forwards to one of two functions, depending on its first operand",
    },
    Shape {
        of: OpTraits::CONSTANT,
        is_kept: |op| {
            op.traits.contains(OpTraits::PURE)
                && op.operands.is_empty()
                && op.attributes.len() == 1
                && op.results.len() == 1
        },
        rule: "a constant is pure, takes no operands, and has one attribute and one result",
    },
    Shape {
        of: OpTraits::ANY_ATTRIBUTES,
        is_kept: |op| op.attributes.is_empty(),
        rule: "an op that takes any attributes declares none of them",
    },
    Shape {
        of: OpTraits::FREE_ATTRIBUTE_NAMES,
        is_kept: |op| op.assembly_format.is_none(),
        rule: "an op with an assembly format has attributes of fixed names",
    },
];

impl OpDef {
    pub(super) fn check_traits(&self) -> Check {
        for def in self.traits.iter() {
            let mut excluded = def.excludes.iter();
            if let Some((other, reason)) = excluded.find(|(other, _)| self.traits.contains(*other))
            {
                let others = other.iter().map(|def| def.name).collect::<String>();
                return op_error(format!("`{}` excludes `{others}`: {reason}", def.name));
            }
        }
        if self.effect.class() == Some("") {
            return op_error("the class of the effect has no name");
        }
        let mut shapes = SHAPES.iter();
        let broken = shapes.find(|shape| self.traits.contains(shape.of) && !(shape.is_kept)(self));
        if let Some(shape) = broken {
            return op_error(shape.rule);
        }
        if self.traits.contains(OpTraits::FREE_ATTRIBUTE_NAMES)
            && let Some(attribute) = self.attributes.iter().find(|one| one.default.is_some())
        {
            let name = attribute.name;
            return part_error(
                name,
                format!(
                    "attribute `{name}` has a default but no fixed name, so it is ambiguous whether it is missing"
                ),
            );
        }
        Ok(())
    }
}

/// Returns `true` if the only result is a chain.
fn returns_chain(op: &OpDef) -> bool {
    matches!(op.results, [result] if is_single_chain(result.ty, result.arity))
}

fn is_single_chain(ty: TypeConstraint, arity: Arity) -> bool {
    arity == Arity::One && ty.is_chain()
}
