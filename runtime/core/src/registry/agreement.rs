//! Declarations of one op for several types of devices.
//!
//! A caller does not know which device runs an op, so all of its declarations must agree: on the
//! numbers of operands and results, the attributes, and whether there are effects. The names of
//! operands and results may differ.

use tfrt_host::__runtime::stored_code;
use tfrt_ods::CHAIN_TYPE;
use tfrt_ods::{Arity, AttrDef, AttrKind, OpDef, TypeConstraint};
use tfrt_support::{Error, ErrorCode};

use super::{RegisteredOp, Runner};

/// Returns the reason why two ops of the same name cannot be one op for two types of devices, or
/// `None` if they can.
pub(super) fn disagreement(a: &RegisteredOp, b: &RegisteredOp) -> Option<Error> {
    let (Runner::Kernel(kernel), Runner::Kernel(other)) = (a.runner, b.runner) else {
        return None;
    };
    let effects = |op: &RegisteredOp| {
        String::from(if op.has_side_effects() {
            "side effects"
        } else {
            "no side effects"
        })
    };
    let resources = |op: &RegisteredOp| {
        let resources = op.registration.resource_operands;
        let places: Vec<String> = (0..kernel.descriptor().op().operands.len())
            .filter(|&index| resources.contains(index))
            .map(|index| index.to_string())
            .collect();
        match places.as_slice() {
            [] => String::from("no resource"),
            [place] => format!("a resource as operand {place}"),
            places => format!("resources as operands {}", places.join(", ")),
        }
    };
    let (told, other) = differing(effects(a), effects(b))
        .or_else(|| differing(resources(a), resources(b)))
        .or_else(|| difference(kernel.descriptor().op(), other.descriptor().op()))?;
    let place = |op: &RegisteredOp| {
        let place = op.registration.place;
        format!("{}:{}", place.file, place.line)
    };
    let message = format!(
        "op `{}` is declared differently for devices of type `{}` and `{}`: {told} at {}, {other} at {}",
        a.name(),
        a.registration.device_type,
        b.registration.device_type,
        place(a),
        place(b)
    );
    Some(Error::new(message).with_code(ErrorCode::InvalidArgument))
}

/// Returns the first difference between two declarations, as each states it.
fn difference(a: &OpDef, b: &OpDef) -> Option<(String, String)> {
    let operands = |op: &OpDef| -> Vec<(TypeConstraint, Arity, bool)> {
        let operands = op.operands.iter().filter(|operand| !is_chain(operand.ty));
        operands
            .map(|operand| (operand.ty, operand.arity, operand.is_mutated))
            .collect()
    };
    let results = |op: &OpDef| -> Vec<(TypeConstraint, Arity, bool)> {
        let results = op.results.iter().filter(|result| !is_chain(result.ty));
        results
            .map(|result| (result.ty, result.arity, false))
            .collect()
    };
    values("operand", &operands(a), &operands(b))
        .or_else(|| values("result", &results(a), &results(b)))
        .or_else(|| attributes(a, b))
}

fn is_chain(ty: TypeConstraint) -> bool {
    ty == TypeConstraint::Exact(CHAIN_TYPE)
}

fn values(
    what: &str,
    a: &[(TypeConstraint, Arity, bool)],
    b: &[(TypeConstraint, Arity, bool)],
) -> Option<(String, String)> {
    if a.len() != b.len() {
        let count = |values: &[_]| match values.len() {
            1 => format!("1 {what}"),
            count => format!("{count} {what}s"),
        };
        return Some((count(a), count(b)));
    }
    let differs = |(a, b): &(
        &(TypeConstraint, Arity, bool),
        &(TypeConstraint, Arity, bool),
    )| {
        // What is taken as a reference may be anything.
        let is_any = a.0 == TypeConstraint::Any || b.0 == TypeConstraint::Any;
        (a.0 != b.0 && !is_any) || (a.1, a.2) != (b.1, b.2)
    };
    let index = a.iter().zip(b).position(|pair| differs(&pair))?;
    let describe = |(ty, arity, is_mutated): &(TypeConstraint, Arity, bool)| {
        let arity = match arity {
            Arity::One => "",
            Arity::Optional => ", optional",
            Arity::Variadic => ", any number of them",
        };
        let mutated = if *is_mutated { ", written" } else { "" };
        let ty = match ty {
            TypeConstraint::Exact(spelling) => format!("`{spelling}`"),
            ty => format!("{ty:?}"),
        };
        format!("{what} {index}: {ty}{arity}{mutated}")
    };
    Some((describe(&a[index]), describe(&b[index])))
}

fn attributes(a: &OpDef, b: &OpDef) -> Option<(String, String)> {
    let names = a
        .attributes
        .iter()
        .chain(b.attributes)
        .map(|attribute| attribute.name);
    let told = |op: &OpDef, name: &str| {
        let found = op
            .attributes
            .iter()
            .find(|attribute| attribute.name == name);
        found.map_or_else(|| format!("no attribute `{name}`"), describe)
    };
    names
        .into_iter()
        .find_map(|name| differing(told(a, name), told(b, name)))
}

fn describe(attribute: &AttrDef) -> String {
    let kind = match attribute.kind {
        AttrKind::Enum(cases) => {
            let keywords: Vec<&str> = cases.cases.iter().map(|case| case.keyword).collect();
            format!("one of {}", keywords.join(", "))
        }
        kind => match stored_code(&kind) {
            Some(code) => code.to_string(),
            None => format!("{kind:?}"),
        },
    };
    let default = match attribute.default {
        Some(default) => format!(", {default:?} by default"),
        None => String::new(),
    };
    format!("attribute `{}` ({kind}{default})", attribute.name)
}

fn differing(a: String, b: String) -> Option<(String, String)> {
    (a != b).then_some((a, b))
}
