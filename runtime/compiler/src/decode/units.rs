//! Compiled modules, from the texts that attributes carry.

use std::collections::HashSet;
use std::sync::Arc;

use tfrt_attr::AttrValue;
use tfrt_ir::{Module, ParseOptions, Registry, parse};

use super::{Refusal, Reporter};

/// A program that holds the compiled modules of a file and nothing else: each of them above those that come earlier in the
/// file, one for each name.
pub(super) fn module_of_units(
    values: &[(u32, AttrValue)],
    registry: &Arc<Registry>,
    reporter: &Reporter<'_>,
) -> Result<Module, Refusal> {
    let mut seen = HashSet::new();
    let texts = values.iter().filter_map(|(_, value)| match value {
        AttrValue::SymbolRef(symbol) => Some(symbol.text.as_str()),
        _ => None,
    });
    let mut texts: Vec<&str> = texts.filter(|&text| seen.insert(text)).collect();
    texts.reverse();

    let mut module = match texts.len() {
        0 => Module::new(Arc::clone(registry)),
        _ => parse_units(&texts, registry, reporter)?,
    };
    let location = module.file_location(reporter.file_name, 0, 0);
    for op in module.walk(module.root()) {
        module.set_op_location(op, location);
    }

    let units = module.block_ops(module.body()).to_vec();
    let mut names = HashSet::new();
    for &unit in units.iter().rev() {
        let name = module
            .symbol_name(unit)
            .filter(|_| module.is_module(unit))
            .map(str::to_owned);
        let Some(name) = name else {
            return Err(reporter.detailed_error(
                "Failed to add compilation units.",
                "expected modules with names",
            ));
        };
        if !names.insert(name) {
            module.erase_op(unit);
        }
    }
    Ok(module)
}

/// Reads all texts as one program, so that they share its tables.
fn parse_units(
    texts: &[&str],
    registry: &Arc<Registry>,
    reporter: &Reporter<'_>,
) -> Result<Module, Refusal> {
    let source = format!(
        "\"builtin.module\"() ({{\n{}\n}}) : () -> ()\n",
        texts.join("\n")
    );
    let options = ParseOptions {
        allow_unregistered_dialects: true,
    };
    parse(&source, reporter.file_name, registry, &options).map_err(|errors| {
        let detail = errors.first().map_or("", |error| &error.message);
        reporter.detailed_error("Failed to parse compilation unit.", detail)
    })
}
