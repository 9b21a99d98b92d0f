//! Plain text for a terminal: a list of ops, or all information about one.

use std::fmt::Write as _;

use crate::catalogue::{Catalogue, CatalogueEntry};
use crate::op::{AttrDefault, SourcePlace};

use super::{prose, syntax};

/// Returns one line for each op: its name and summary.
#[must_use]
pub fn list(catalogue: &Catalogue<'_>) -> String {
    let names = catalogue.entries().iter().map(|entry| entry.op.name.len());
    let width = names.max().unwrap_or(0);
    let line = |entry: &CatalogueEntry<'_>| {
        format!("{:width$}  {}", entry.op.name, entry.op.summary)
            .trim_end()
            .to_owned()
            + "\n"
    };
    catalogue.entries().iter().map(line).collect()
}

/// Returns all information about one op.
///
/// ```
/// use tfrt_ods::catalogue::CatalogueEntry;
/// use tfrt_ods::write::page::page;
/// use tfrt_ods::{OpDef, OpTraits};
///
/// static NOP: OpDef = OpDef {
///     summary: "Does nothing.",
///     traits: OpTraits::PURE,
///     assembly_format: Some("attr-dict"),
///     ..OpDef::new("my.nop")
/// };
///
/// let text = page(&CatalogueEntry::kernel(&NOP));
/// assert!(text.starts_with("my.nop\n\n  Does nothing.\n\nSyntax:\n  my.nop {…}?\n"));
/// ```
#[must_use]
pub fn page(entry: &CatalogueEntry<'_>) -> String {
    let def = entry.op;
    let mut page = Page {
        text: format!("{}\n", def.name),
    };
    for paragraph in [def.summary, def.description] {
        page.paragraph(paragraph);
    }
    let custom = syntax::custom(def);
    page.part("Syntax", custom.into_iter().chain([syntax::generic(def)]));
    page.part(
        "Operands",
        def.operands.iter().map(|operand| {
            let types = prose::Types(operand.ty, operand.arity);
            let mutated = if operand.is_mutated {
                ", which it writes into"
            } else {
                ""
            };
            let reference = if operand.is_reference {
                ", which may come later"
            } else {
                ""
            };
            format!("{}: {types}{mutated}{reference}", operand.name)
        }),
    );
    page.part(
        "Attributes",
        def.attributes.iter().map(|attribute| {
            let kind = prose::Kind(attribute.kind);
            match attribute.default {
                None => format!("{}: {kind}", attribute.name),
                Some(AttrDefault::Absent) => format!("{}: {kind}, optional", attribute.name),
                Some(_) => format!("{}: {kind} = {}", attribute.name, prose::Default(attribute)),
            }
        }),
    );
    page.part(
        "Functions",
        def.functions
            .iter()
            .map(|function| format!("{}: {}", function.name, prose::function(def, function))),
    );
    page.part(
        "Results",
        def.results.iter().map(|result| {
            let types = prose::Types(result.ty, result.arity);
            format!("{}: {types}{}", result.name, prose::result_note(result))
        }),
    );
    page.part("Effects", prose::effects(def));
    page.part(
        "Properties",
        prose::properties(def).into_iter().map(str::to_owned),
    );
    page.part("Starts", [prose::strictness(def)]);
    page.part("Runs", [prose::execution(entry).to_owned()]);
    if let Some(format) = def.assembly_format {
        page.part("Assembly format", [format.to_owned()]);
    }
    if def.place != SourcePlace::UNKNOWN {
        let title = if entry.has_kernel {
            "Implemented at"
        } else {
            "Declared at"
        };
        page.part(title, [format!("{}:{}", def.place.file, def.place.line)]);
    }
    page.text
}

struct Page {
    text: String,
}

impl Page {
    /// Writes text unchanged, with a margin.
    fn paragraph(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        self.text.push('\n');
        for line in text.lines() {
            let _ = writeln!(self.text, "{}", format!("  {line}").trim_end());
        }
    }

    /// Writes a titled list, or nothing if it is empty.
    fn part(&mut self, title: &str, lines: impl IntoIterator<Item = String>) {
        let mut lines = lines.into_iter().peekable();
        if lines.peek().is_some() {
            let _ = writeln!(self.text, "\n{title}:");
        }
        for line in lines {
            let _ = writeln!(self.text, "  {line}");
        }
    }
}
