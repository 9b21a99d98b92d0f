//! Ops whose attributes may have any names: sorted by byte order of their names, they are those
//! that the op declares, and so are the functions that it names.

use std::borrow::Cow;

use super::{Breach, describe, is_flat_symbol, is_of_kind, is_reference, missing, unfit};
use crate::binding;
use crate::instance::{AttrInstance, OpInstance};
use crate::op::{FunctionDef, FunctionForm, OpDef};

/// Appends the breaches of attributes and named functions.
pub(super) fn verify(def: &OpDef, op: &dyn OpInstance, breaches: &mut Vec<Breach>) {
    let mut names = op.attribute_names();
    names.retain(|name| !binding::is_unlisted(name));
    names.sort_unstable();
    let listed: Vec<(Cow<'_, str>, AttrInstance<'_>)> = names
        .into_iter()
        .filter_map(|name| {
            let value = op.attribute(&name)?;
            Some((name, value))
        })
        .collect();
    let (functions, attributes): (Vec<_>, Vec<_>) = listed
        .into_iter()
        .partition(|(_, value)| names_functions(value));
    let declared: Vec<&str> = def.attributes.iter().map(|known| known.name).collect();
    if count("attribute", &declared, &attributes, breaches) {
        for ((name, value), attribute) in attributes.iter().zip(def.attributes) {
            if !is_of_kind(&attribute.kind, value) {
                breaches.push(unfit(name, &describe::attribute(&attribute.kind)));
            }
        }
    }
    let is_symbol = |function: &&FunctionDef| function.form != FunctionForm::Region;
    let slots: Vec<&FunctionDef> = def.functions.iter().filter(is_symbol).collect();
    let declared: Vec<&str> = slots.iter().map(|known| known.name).collect();
    if count("function", &declared, &functions, breaches) {
        for ((name, value), function) in functions.iter().zip(slots) {
            if !is_reference(value, function.form) {
                breaches.push(unfit(name, describe::reference(function.form)));
            }
        }
    }
}

/// Returns `true` if a file lists the attribute among the functions of the op.
fn names_functions(value: &AttrInstance<'_>) -> bool {
    match value {
        AttrInstance::Array(elements) => elements.first().is_some_and(is_flat_symbol),
        value => is_flat_symbol(value),
    }
}

/// Checks that the number is as declared.
fn count(
    what: &str,
    declared: &[&str],
    found: &[(Cow<'_, str>, AttrInstance<'_>)],
    breaches: &mut Vec<Breach>,
) -> bool {
    if declared.len() == found.len() {
        return true;
    }
    if found.iter().all(|(name, _)| declared.contains(&&**name)) {
        let is_missing = |name: &&&str| found.iter().all(|(other, _)| other != **name);
        breaches.extend(declared.iter().filter(is_missing).map(|name| missing(name)));
        return false;
    }
    let quoted = |names: Vec<&str>| match names.is_empty() {
        true => String::new(),
        false => format!(" ('{}')", names.join("', '")),
    };
    let plural = if declared.len() == 1 { "" } else { "s" };
    breaches.push(Breach::op(format!(
        "expected {} {what}{plural}{}, under any names, but found {}{}",
        declared.len(),
        quoted(declared.to_vec()),
        found.len(),
        quoted(found.iter().map(|(name, _)| &**name).collect()),
    )));
    false
}
