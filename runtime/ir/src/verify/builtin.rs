//! The rules of functions and modules.
//!
//! A module has one region with one block, and its symbols have distinct names. A function has a
//! name, a type, one region, and, if that has blocks, a first block whose arguments fit the type. A
//! declaration is not public.

use std::collections::HashMap;

use super::Verifier;
use crate::attribute::Attribute;
use crate::module::OpId;
use crate::symbols::{SYMBOL_NAME, SYMBOL_VISIBILITY};

pub(super) fn module(verifier: &mut Verifier<'_>, op: OpId) {
    let module = verifier.module;
    let &[region] = module.regions(op) else {
        return verifier.op_error(op, "requires one region");
    };
    let &[block] = module.blocks(region) else {
        return verifier.op_error(
            op,
            "Operations with a 'SymbolTable' must have exactly one block",
        );
    };
    // The custom form cannot represent them.
    if !module.block_arguments(block).is_empty() {
        verifier.op_error(op, "region should have no arguments");
    }
    symbol(verifier, op, false);
    let mut defined: HashMap<&str, OpId> = HashMap::new();
    for &inner in module.block_ops(block) {
        let Some(name) = module.symbol_name(inner) else {
            continue;
        };
        match defined.entry(name) {
            std::collections::hash_map::Entry::Vacant(entry) => {
                entry.insert(inner);
            }
            std::collections::hash_map::Entry::Occupied(entry) => {
                let first = module.place(module.op_location(*entry.get()));
                let error = verifier
                    .diagnose()
                    .error(
                        module,
                        inner,
                        format!("redefinition of symbol named '{name}'"),
                    )
                    .with_note(first, "see existing symbol definition here");
                verifier.diagnostics.push(error);
            }
        }
    }
}

pub(super) fn func(verifier: &mut Verifier<'_>, op: OpId) {
    let module = verifier.module;
    if !module.results(op).is_empty() {
        verifier.op_error(op, "requires zero results");
    }
    if !module.operands(op).is_empty() {
        verifier.op_error(op, "requires zero operands");
    }
    symbol(verifier, op, true);
    let Some((inputs, _)) = module.signature(op) else {
        return verifier.op_error(op, "requires 'type' attribute of function type");
    };
    let &[region] = module.regions(op) else {
        return verifier.op_error(op, "requires one region");
    };
    let Some(&entry) = module.blocks(region).first() else {
        let is_public = match module.attr(op, SYMBOL_VISIBILITY) {
            Some(attribute) => module.attribute_str(attribute) == Some("public"),
            None => true,
        };
        if is_public {
            verifier.op_error(op, "symbol declaration cannot have public visibility");
        }
        return;
    };
    let arguments = module.block_arguments(entry);
    if arguments.len() != inputs.len() {
        return verifier.op_error(
            op,
            format!(
                "entry block must have {} arguments to match function signature",
                inputs.len()
            ),
        );
    }
    for (index, (&argument, &input)) in arguments.iter().zip(inputs).enumerate() {
        let (found, expected) = (module.value_type(argument), input);
        if found != expected {
            verifier.op_error(
                op,
                format!(
                    "type of entry block argument #{index}('{}') must match the type of the \
                     corresponding argument in function signature('{}')",
                    module.type_spelling(found),
                    module.type_spelling(expected)
                ),
            );
        }
    }
}

/// The rules of an op with a name; a function must have one.
fn symbol(verifier: &mut Verifier<'_>, op: OpId, must_have_name: bool) {
    let module = verifier.module;
    let has_name = match module.attr(op, SYMBOL_NAME) {
        Some(name) => matches!(module.attribute(name), Attribute::String(_)),
        None => !must_have_name,
    };
    if !has_name {
        verifier.op_error(op, "requires string attribute 'sym_name'");
    }
    if let Some(visibility) = module.attr(op, SYMBOL_VISIBILITY)
        && !matches!(
            module.attribute_str(visibility),
            Some("public" | "private" | "nested")
        )
    {
        let mut text = String::new();
        crate::print::attributes::print_attribute(module, visibility, &mut text);
        verifier.op_error(
            op,
            match module.attribute(visibility) {
                Attribute::String(_) => {
                    format!(
                        "visibility expected to be one of [\"public\", \"private\", \"nested\"], \
                         but got {text}"
                    )
                }
                _ => format!(
                    "requires visibility attribute 'sym_visibility' to be a string attribute, but \
                     got {text}"
                ),
            },
        );
    }
    if must_have_name
        && module.parent_op(op).is_some_and(|parent| {
            !module.is_module(parent) && (module.is_func(parent) || module.op_def(parent).is_some())
        })
    {
        verifier.op_error(op, "symbol's parent must have the SymbolTable trait");
    }
}
