//! The rules of a declaration, checked for one op.
//!
//! [`verify_op`] checks the rules in this order: the number of regions, of results and of operands;
//! the types of results that follow from the declaration; the attributes and named functions, by
//! name, including undeclared ones; the types of operands; the types of the other results. Only if
//! all of these hold does the op's own verifier run. Messages are those of MLIR.

pub mod callee;

pub mod region;

mod left_out;

mod describe;

mod free_names;

use std::borrow::Cow;

use tfrt_support::nearest::{did_you_mean, nearest};

use crate::binding;
use crate::constraint::TypeConstraint;
use crate::effect::Effect;
use crate::groups::Groups;
use crate::instance::{AttrInstance, OpInstance};
use crate::op::{Arity, FunctionForm, OpDef};
use crate::traits::OpTraits;

use crate::constraint::CHAIN_TYPE;
pub use describe::is_of_kind;
pub use left_out::{
    chain_operand_positions, chain_result_positions, leaves_out_operands, leaves_out_results,
    verify_op_without_chains,
};

/// Rules of an op that its record cannot express; appends every violation to `breaches`.
pub type OpVerifier = fn(op: &dyn OpInstance, breaches: &mut Vec<Breach>);

/// A violation of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breach {
    /// The message.
    pub message: String,
    /// Its location.
    pub at: BreachSite,
    /// `true` to print the message as it is, not after `'NAME' op `.
    pub is_plain: bool,
    /// `true` if the only problem is an undeclared attribute whose name is not similar to a
    /// declared one. It is harmless, and tools that only read and write programs accept it.
    pub is_stray_attribute: bool,
}

impl Breach {
    /// Creates a breach at the op itself.
    #[must_use]
    pub fn op(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            at: BreachSite::Op,
            is_plain: false,
            is_stray_attribute: false,
        }
    }

    /// Creates a breach at the op itself, whose message does not name the op.
    #[must_use]
    pub fn plain(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            at: BreachSite::Op,
            is_plain: true,
            is_stray_attribute: false,
        }
    }

    /// Creates a breach at the terminator of the region with this number.
    #[must_use]
    pub fn at_return(region: usize, message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            at: BreachSite::Return(region),
            is_plain: false,
            is_stray_attribute: false,
        }
    }
}

/// The op that a breach is reported at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BreachSite {
    /// The op itself.
    Op,
    /// The terminator of the region with this number.
    Return(usize),
}

/// Returns every breach of the declaration `def` by `op`, in the order of the rules.
#[must_use]
pub fn verify_op(def: &OpDef, op: &dyn OpInstance) -> Vec<Breach> {
    let mut breaches = verify_record(def, op);
    if breaches.iter().all(|breach| breach.is_stray_attribute)
        && let Some(verifier) = def.verifier
    {
        verifier(op, &mut breaches);
    }
    breaches
}

/// Returns every breach of the rules that the record itself expresses.
fn verify_record(def: &OpDef, op: &dyn OpInstance) -> Vec<Breach> {
    let mut breaches = Vec::new();
    let operand_types = op.operand_types();
    let result_types = op.result_types();

    verify_region_count(def, op.regions().len(), &mut breaches);
    let result_count = accepted_result_count(def, result_types.len());
    let has_results = verify_count(
        Side::Results,
        def.result_groups(),
        result_count,
        &mut breaches,
    );
    let operand_count = accepted_operand_count(def, &operand_types);
    let has_operands = verify_count(
        Side::Operands,
        def.operand_groups(),
        operand_count,
        &mut breaches,
    );
    let inferred = if has_results {
        inferred_types(def, &operand_types)
    } else {
        None
    };
    if let Some(inferred) = &inferred
        && inferred
            .iter()
            .zip(&result_types)
            .any(|(inferred, actual)| inferred != actual)
    {
        breaches.push(Breach::op(format!(
            "inferred type(s) {} are incompatible with return type(s) of operation {}",
            quoted(inferred),
            quoted(&result_types)
        )));
    }
    verify_attributes(def, op, &mut breaches);
    if has_operands {
        let declared = operand_count.min(operand_types.len());
        verify_operand_types(def, &operand_types[..declared], &mut breaches);
    }
    if has_results && inferred.is_none() {
        verify_result_types(def, &operand_types, &result_types, &mut breaches);
    }
    breaches
}

/// Formats types in quotes, separated by commas.
fn quoted(types: &[Cow<'_, str>]) -> String {
    types
        .iter()
        .map(|ty| format!("'{ty}'"))
        .collect::<Vec<_>>()
        .join(", ")
}

fn verify_region_count(def: &OpDef, found: usize, breaches: &mut Vec<Breach>) {
    let expected = def
        .functions
        .iter()
        .filter(|function| function.form == FunctionForm::Region)
        .count();
    if found != expected {
        breaches.push(Breach::op(match expected {
            0 => "requires zero regions".into(),
            1 => "requires one region".into(),
            _ => format!("expected {expected} regions"),
        }));
    }
}

/// The side that is counted, which determines the wording of a breach.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Operands,
    Results,
}

fn verify_count(side: Side, groups: Groups, found: usize, breaches: &mut Vec<Breach>) -> bool {
    let holds = groups.accept(found);
    let fixed = groups.num_single();
    if let Some((index, Arity::Optional)) = groups.open()
        && found > groups.most()
    {
        let what = match side {
            Side::Operands => "operand",
            Side::Results => "result",
        };
        breaches.push(Breach::op(format!(
            "{what} group starting at #{index} requires 0 or 1 element, but found {}",
            found - fixed
        )));
    } else if !holds {
        breaches.push(Breach::op(match (side, groups.open(), fixed) {
            (Side::Operands, Some(_), _) => format!("expected {fixed} or more operands"),
            (Side::Operands, None, 0) => "requires zero operands".into(),
            (Side::Operands, None, 1) => "requires a single operand".into(),
            (Side::Operands, None, _) => {
                format!("expected {fixed} operands, but found {found}")
            }
            (Side::Results, Some(_), _) => format!("expected {fixed} or more results"),
            (Side::Results, None, 0) => "requires zero results".into(),
            (Side::Results, None, 1) => "requires one result".into(),
            (Side::Results, None, _) => format!("expected {fixed} results"),
        }));
    }
    holds
}

/// Returns `true` if the last operand is an optional chain: the op is declared so or has an effect,
/// and has only a generic form.
fn has_optional_chain(def: &OpDef) -> bool {
    (def.traits.contains(OpTraits::OPTIONAL_CHAIN) || def.effect != Effect::None)
        && def.assembly_format.is_none()
        && def.operands.last().is_some_and(|last| {
            last.ty == TypeConstraint::Exact(CHAIN_TYPE) && last.arity == Arity::One
        })
}

/// Returns the number of operands, adjusted as if an optional chain were as declared.
fn accepted_operand_count(def: &OpDef, operand_types: &[Cow<'_, str>]) -> usize {
    let found = operand_types.len();
    let groups = def.operand_groups();
    let open = groups.open().map(|(_, arity)| arity);
    if open == Some(Arity::Variadic) {
        return found;
    }
    let ends_in_chain = operand_types.last().is_some_and(|ty| ty == CHAIN_TYPE);
    // A chain is not mistaken for an optional operand.
    let may_have_extra =
        found == groups.most() + 1 || (open == Some(Arity::Optional) && found == groups.most());
    if may_have_extra && ends_in_chain && def.traits.contains(OpTraits::EXTRA_CHAIN) {
        found - 1
    } else if found + 1 == groups.num_single() && has_optional_chain(def) {
        found + 1
    } else {
        found
    }
}

/// Returns the number of results, adjusted as if an omitted optional chain were present.
fn accepted_result_count(def: &OpDef, found: usize) -> usize {
    let groups = def.result_groups();
    let is_variadic = matches!(groups.open(), Some((_, Arity::Variadic)));
    let may_miss = def.traits.contains(OpTraits::OPTIONAL_CHAIN) && def.assembly_format.is_none();
    if may_miss && !is_variadic && found + 1 == groups.num_single() {
        found + 1
    } else {
        found
    }
}

/// Returns the type of the first operand called `name`.
fn type_of_operand<'a>(
    def: &OpDef,
    operand_types: &'a [Cow<'a, str>],
    name: &str,
) -> Option<&'a str> {
    let part = def
        .operands
        .iter()
        .position(|operand| operand.name == name)?;
    let values = def.operand_groups().range(part, operand_types.len());
    operand_types[values].first().map(|ty| &**ty)
}

/// Returns the types of the results, if custom syntax omits them because the declaration and the
/// operands determine them. As in MLIR, nothing is inferred for an op with an optional or variadic
/// operand.
fn inferred_types<'a>(def: &OpDef, operand_types: &'a [Cow<'a, str>]) -> Option<Vec<Cow<'a, str>>> {
    let has_fixed_form = def.assembly_format.is_some() && def.operand_groups().open().is_none();
    if !has_fixed_form {
        return None;
    }
    def.results
        .iter()
        .map(|result| match (result.arity, result.ty) {
            (Arity::One, TypeConstraint::Exact(ty)) => Some(Cow::Borrowed(ty)),
            (Arity::One, TypeConstraint::SameAs(name)) => {
                type_of_operand(def, operand_types, name).map(Cow::Borrowed)
            }
            _ => None,
        })
        .collect()
}

fn verify_attributes(def: &OpDef, op: &dyn OpInstance, breaches: &mut Vec<Breach>) {
    if def.traits.contains(OpTraits::FREE_ATTRIBUTE_NAMES) {
        return free_names::verify(def, op, breaches);
    }
    let mut rules: Vec<(Cow<'_, str>, Breach)> = Vec::new();
    for attribute in def.attributes {
        let breach = match op.attribute(attribute.name) {
            Some(value) if is_of_kind(&attribute.kind, &value) => continue,
            Some(_) => unfit(attribute.name, &describe::attribute(&attribute.kind)),
            None if attribute.default.is_some() => continue,
            None => missing(attribute.name),
        };
        rules.push((attribute.name.into(), breach));
    }
    let is_optional = |form: FunctionForm| form == FunctionForm::OptionalSymbol;
    let mut optional = def.functions.iter().filter(|one| is_optional(one.form));
    let named = optional.find(|function| op.attribute(function.name).is_some());
    for function in def.functions {
        let breach = match (op.attribute(function.name), function.form, named) {
            (_, FunctionForm::Region, _) | (None, FunctionForm::OptionalSymbol, None) => continue,
            (Some(value), form, _) if is_reference(&value, form) => continue,
            (Some(_), form, _) => unfit(function.name, describe::reference(form)),
            (None, FunctionForm::OptionalSymbol, Some(named)) => Breach::op(format!(
                "attribute '{}' requires attribute '{}'",
                named.name, function.name
            )),
            (None, ..) => missing(function.name),
        };
        rules.push((function.name.into(), breach));
    }
    for name in op.attribute_names() {
        if let Some(breach) = undeclared(def, op, &name) {
            rules.push((name, breach));
        }
    }
    rules.sort_by(|(name, _), (other, _)| name.cmp(other));
    breaches.extend(rules.into_iter().map(|(_, breach)| breach));
}

/// Returns the problem with an attribute that the op does not declare. Any op may have an attribute
/// with the prefix of a dialect, unless it names functions: in a file, these could not be
/// distinguished from the functions that the op declares.
fn undeclared(def: &OpDef, op: &dyn OpInstance, name: &str) -> Option<Breach> {
    if binding::attribute_names(def).contains(&name) || binding::is_unlisted(name) {
        return None;
    }
    let names_function = op.attribute(name).is_some_and(|value| match &value {
        AttrInstance::Symbol(root, false) => op.resolve(root).is_some(),
        AttrInstance::Array(elements) => elements.first().is_some_and(is_flat_symbol),
        _ => false,
    });
    if name.contains('.') {
        return names_function.then(|| {
            let message = format!(
                "attribute '{name}' names a function, but the op declares no function of this name"
            );
            Breach::op(message)
        });
    }
    if def.traits.contains(OpTraits::ANY_ATTRIBUTES) && !names_function {
        return None;
    }
    let known = binding::attribute_names(def);
    let near = nearest(name, known.iter().copied());
    let hint = match (&near[..], &known[..]) {
        ([], []) => String::from("; it has none"),
        ([], known) => format!("; it has {}", binding::quoted(known)),
        (near, _) => did_you_mean(near),
    };
    Some(Breach {
        is_stray_attribute: near.is_empty() && !names_function,
        ..Breach::op(format!("has no attribute '{name}'{hint}"))
    })
}

/// Returns `true` if an attribute refers to functions in this form.
fn is_reference(value: &AttrInstance<'_>, form: FunctionForm) -> bool {
    match form {
        FunctionForm::Symbol | FunctionForm::OptionalSymbol => is_flat_symbol(value),
        FunctionForm::SymbolList => is_flat_symbol_list(value),
        FunctionForm::Region => false,
    }
}

fn is_flat_symbol(value: &AttrInstance<'_>) -> bool {
    matches!(value, AttrInstance::Symbol(_, false))
}

fn is_flat_symbol_list(value: &AttrInstance<'_>) -> bool {
    matches!(value, AttrInstance::Array(elements) if elements.iter().all(is_flat_symbol))
}

fn missing(name: &str) -> Breach {
    Breach::op(format!("requires attribute '{name}'"))
}

fn unfit(name: &str, what: &str) -> Breach {
    Breach::op(format!(
        "attribute '{name}' failed to satisfy constraint: {what}"
    ))
}

fn verify_operand_types(def: &OpDef, operand_types: &[Cow<'_, str>], breaches: &mut Vec<Breach>) {
    let parts = def.operand_groups().parts(operand_types.len());
    for (position, (declared, found)) in parts.zip(operand_types).enumerate() {
        verify_type(
            def,
            operand_types,
            def.operands[declared].ty,
            found,
            breaches,
            || format!("operand #{position}"),
        );
    }
}

fn verify_result_types(
    def: &OpDef,
    operand_types: &[Cow<'_, str>],
    result_types: &[Cow<'_, str>],
    breaches: &mut Vec<Breach>,
) {
    let parts = def.result_groups().parts(result_types.len());
    for (position, (declared, found)) in parts.zip(result_types).enumerate() {
        verify_type(
            def,
            operand_types,
            def.results[declared].ty,
            found,
            breaches,
            || format!("result #{position}"),
        );
    }
}

fn verify_type(
    def: &OpDef,
    operand_types: &[Cow<'_, str>],
    constraint: TypeConstraint,
    found: &str,
    breaches: &mut Vec<Breach>,
    what: impl Fn() -> String,
) {
    let holds = match constraint {
        TypeConstraint::Any => true,
        TypeConstraint::Exact(ty) => ty == found,
        TypeConstraint::OneOf(types) => types.contains(&found),
        TypeConstraint::SameAs(name) => {
            type_of_operand(def, operand_types, name).is_none_or(|ty| ty == found)
        }
    };
    if !holds {
        breaches.push(Breach::op(format!(
            "{} must be {}, but got '{found}'",
            what(),
            describe::type_(constraint)
        )));
    }
}

#[cfg(test)]
mod tests;
