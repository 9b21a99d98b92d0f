//! The declaration of a kernel that takes its frame, or of an op without a kernel: the options
//! contain all of it.

use syn::Ident;
use syn::ext::IdentExt;
use tfrt_ods::{Arity, FunctionForm};

use crate::kernel::declare::Names;
use crate::kernel::declare::default::{absent, read_default};
use crate::kernel::{
    AttributeEntry, Declaration, FunctionEntry, OperandEntry, RawEntry, ResultEntry,
};
use crate::options::{AttributeType, Options, RawValue};
use crate::problems::Problems;
use crate::signature::types::last_name;

/// Adds the content of the options to `declaration`.
pub(super) fn raw_parts(
    options: &Options,
    declaration: &mut Declaration,
    names: &mut Names,
    problems: &mut Problems,
) {
    let operands = listed(options.operands.as_ref());
    for (name, entry) in entries(operands, names, problems) {
        declaration.operands.push(OperandEntry::Raw(name, entry));
    }
    let results = listed(options.results.as_ref());
    for (name, entry) in entries(results, names, problems) {
        declaration.results.push(ResultEntry::Raw(name, entry));
    }
    for attribute in listed(options.attrs.as_ref()) {
        let name = named(&attribute.name, names, problems);
        let default = match (&attribute.ty, &attribute.default) {
            (AttributeType::Rust(ty), None) if last_name(ty).as_deref() == Some("Option") => {
                Some(absent(ty))
            }
            (_, None) => None,
            (AttributeType::Rust(ty), Some(default)) => problems.note(read_default(default, ty)),
            (AttributeType::Any | AttributeType::AnyList, Some(default)) => {
                problems.at(default, "an attribute of any type has no default");
                None
            }
        };
        declaration.attributes.push(AttributeEntry {
            name,
            ty: attribute.ty.clone(),
            default,
        });
    }
    declaration
        .attributes
        .sort_by(|left, right| left.name.cmp(&right.name));
    functions(options, declaration, names, problems);
    for (result, operand) in &options.alias {
        let results = declaration.results.iter_mut();
        let found = results
            .filter_map(|entry| match entry {
                ResultEntry::Raw(name, entry) => Some((name, entry)),
                ResultEntry::OfOutput(..) | ResultEntry::Out(..) => None,
            })
            .find(|(name, _)| *result == name);
        match found {
            Some((_, entry)) => entry.alias_of = Some(operand.to_string()),
            None => problems.at(result, format!("there is no result named `{result}`")),
        }
    }
}

fn listed<T>(given: Option<&(proc_macro2::Span, Vec<T>)>) -> &[T] {
    given.map_or(&[], |(_, values)| values)
}

fn named(name: &Ident, names: &mut Names, problems: &mut Problems) -> String {
    let text = name.unraw().to_string();
    names.add(&text, name.span(), problems);
    text
}

/// Operands or results.
fn entries(
    values: &[RawValue],
    names: &mut Names,
    problems: &mut Problems,
) -> Vec<(String, RawEntry)> {
    let mut entries: Vec<(String, RawEntry)> = Vec::new();
    let mut has_group = false;
    for value in values {
        let name = named(&value.name, names, problems);
        let is_group = value.arity != Arity::One;
        if has_group && is_group {
            problems.at(
                &value.name,
                "only one of them can be variadic or optional: otherwise the start of the next \
                 one is ambiguous",
            );
        }
        has_group |= is_group;
        let Some(ty) = &value.ty else {
            let message = format!("the type is missing: `{name}: any`, `{name}: \"i1\"`");
            problems.at(&value.name, message);
            continue;
        };
        let entry = RawEntry {
            ty: ty.clone(),
            arity: value.arity,
            is_mutated: value.is_mutated,
            is_reference: value.is_reference,
            alias_of: None,
        };
        entries.push((name, entry));
    }
    entries
}

/// The functions: symbols in byte order of their names, then regions in the order in which they are
/// listed.
fn functions(
    options: &Options,
    declaration: &mut Declaration,
    names: &mut Names,
    problems: &mut Problems,
) {
    let entry = |name: String, form| FunctionEntry {
        name,
        form,
        callable: None,
    };
    let mut symbols = Vec::new();
    for name in listed(options.symbols.as_ref()) {
        symbols.push(entry(named(name, names, problems), FunctionForm::Symbol));
    }
    for (index, name) in listed(options.symbol_list.as_ref()).iter().enumerate() {
        if index > 0 {
            problems.at(
                name,
                "two lists of functions are ambiguous: declare only one list",
            );
        }
        symbols.push(entry(
            named(name, names, problems),
            FunctionForm::SymbolList,
        ));
    }
    symbols.sort_by(|left, right| left.name.cmp(&right.name));
    declaration.functions = symbols;
    for name in listed(options.regions.as_ref()) {
        let region = entry(named(name, names, problems), FunctionForm::Region);
        declaration.functions.push(region);
    }
}
