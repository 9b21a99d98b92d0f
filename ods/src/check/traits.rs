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
        rule: "an op with an effect cannot be pure",
    },
    Shape {
        of: OpTraits::EFFECT_FREE,
        is_kept: |op| op.effect == Effect::None,
        rule: "an op with an effect cannot be free of effects",
    },
    Shape {
        of: OpTraits::TERMINATOR,
        is_kept: |op| op.results.is_empty(),
        rule: "an op that ends its block cannot have results",
    },
    Shape {
        of: OpTraits::CHAIN_SOURCE,
        is_kept: |op| op.operands.is_empty() && returns_chain(op),
        rule: "a chain source must take no operands and return a chain",
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
        rule: "a chain merge must take any number of values of any type and return a chain",
    },
    Shape {
        of: OpTraits::OPTIONAL_CHAIN,
        is_kept: |op| {
            let (operand, result) = (op.operands.last(), op.results.last());
            operand.is_some_and(|last| is_single_chain(last.ty, last.arity))
                && result.is_some_and(|last| is_single_chain(last.ty, last.arity))
        },
        rule: "an optional chain must be the last operand and the last result",
    },
    Shape {
        of: OpTraits::CHOOSES,
        is_kept: |op| {
            !op.operands.is_empty()
                && op.functions.len() == 2
                && op.traits.contains(OpTraits::FORWARDS)
        },
        rule: "an op that chooses must pass its operands to one of two functions, depending on \
               the first operand",
    },
    Shape {
        of: OpTraits::CONSTANT,
        is_kept: |op| {
            op.traits.contains(OpTraits::PURE)
                && op.operands.is_empty()
                && op.attributes.len() == 1
                && op.results.len() == 1
        },
        rule: "a constant must be pure, take no operands, and have one attribute and one result",
    },
    Shape {
        of: OpTraits::ANY_ATTRIBUTES,
        is_kept: |op| op.attributes.is_empty(),
        rule: "an op that takes any attributes cannot declare attributes",
    },
    Shape {
        of: OpTraits::FREE_ATTRIBUTE_NAMES,
        is_kept: |op| op.assembly_format.is_none(),
        rule: "an op with an assembly format must have attributes of fixed names",
    },
];

impl OpDef {
    pub(super) fn check_traits(&self) -> Check {
        for def in self.traits.iter() {
            let mut excluded = def.excludes.iter();
            if let Some((other, reason)) = excluded.find(|(other, _)| self.traits.contains(*other))
            {
                let others = other.iter().map(|def| def.name).collect::<String>();
                return op_error(format!(
                    "`{}` cannot be combined with `{others}`: {reason}",
                    def.name
                ));
            }
        }
        if self.effect.class() == Some("") {
            return op_error("the name of the effect class is empty");
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
                    "attribute `{name}` has a default but no fixed name, so its absence is \
                     ambiguous"
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
