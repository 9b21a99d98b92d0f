//! Decodes compiled modules from the texts that attributes hold.

use std::collections::HashSet;
use std::sync::Arc;

use tfrt_attr::AttrValue;
use tfrt_ir::{Module, ParseOptions, Registry, parse};

use super::{Refusal, Reporter};

/// Returns a program that holds only the compiled modules of a file, one for each name. Each module
/// is above those that come earlier in the file.
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
            return Err(reporter
                .detailed_error("Failed to add compilation units.", "expected named modules"));
        };
        if !names.insert(name) {
            module.erase_op(unit);
        }
    }
    Ok(module)
}

/// Parses all texts as one program, so that they share its tables.
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
    let error = |detail: &str| reporter.detailed_error("Failed to parse compilation unit.", detail);
    let module = parse(&source, reporter.file_name, registry, &options)
        .map_err(|errors| error(errors.first().map_or("", |error| &error.message)))?;
    // A text is not trusted to be a module: it may be empty, or end the module around it.
    match module.regions(module.root()) {
        &[region] if module.blocks(region).len() == 1 => Ok(module),
        _ => Err(error("expected a module")),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tfrt_attr::{AttrValue, SymbolRefAttr};
    use tfrt_bef::BefFile;
    use tfrt_bef::builder::{BuildError, KernelBuilder, ProgramBuilder};
    use tfrt_ir::Registry;

    /// Returns the messages of decoding a file whose only attribute refers into a compiled module
    /// of this text.
    fn decode(text: &str) -> Result<Vec<String>, BuildError> {
        let mut program = ProgramBuilder::new();
        let (_, mut body) = program.add_function("f", &[], &[])?;
        let unit = AttrValue::SymbolRef(SymbolRefAttr {
            root: "m".into(),
            nested: Vec::new(),
            text: text.into(),
        });
        body.add(KernelBuilder::new("k").attribute("unit", unit), [])?;
        program.define(body, &[])?;
        let file = BefFile::from_bytes(&program.finish()?);
        let decoded = crate::decode(&file, "f.bef", &Arc::new(Registry::default()));
        assert_eq!(decoded.module.is_none(), !decoded.diagnostics.is_empty());
        let messages = decoded.diagnostics.iter();
        Ok(messages
            .map(|diagnostic| diagnostic.message.clone())
            .collect())
    }

    #[test]
    fn a_unit_that_is_no_module_is_refused() -> Result<(), BuildError> {
        for text in [
            "",
            "^one:\n^two:",
            "}) : () -> () \"x.y\"() ({",
            "\"x.y\"() : () -> ()",
        ] {
            assert!(!decode(text)?.is_empty(), "{text}");
        }
        let module = "\"builtin.module\"() ({\n^bb0:\n}) {sym_name = \"m\"} : () -> ()";
        assert_eq!(decode(module)?, Vec::<String>::new());
        let unknown_syntax = "module @m attributes {tfrt.compiled} { x.y <z> }";
        assert_eq!(decode(unknown_syntax)?, Vec::<String>::new());
        Ok(())
    }
}
