//! Markdown: a reference of ops, for readers.
//!
//! Each dialect has a section, which has one for each [`Family`] of ops: their syntax, operands,
//! results and effects. Facts that hold for most ops are stated once, at the top.

use std::fmt::Write as _;

use crate::catalogue::{Catalogue, CatalogueEntry, Execution, Family, Section};
use crate::constraint::TypeConstraint;
use crate::op::{Arity, OpDef};
use crate::traits::OpTraits;

use super::{prose, syntax};

const CONVENTIONS: &str = "\
Unless its section says otherwise, an op starts when every operand is available, runs on the thread that dispatches it, and has
no effect that needs an order.

In syntax, `%a…` is any number of values, `<name>` the value of an attribute, `type(%a)` the type of a value, `{…}` attributes
and `{name}` a region; `[…]?` and `{…}?` may be missing, and `[… | …]` is one of two. Every op may also be written in the generic
form, which is shown where there is no other: `%result = \"name\"(%operand) {attribute = 1 : i32} : (type) -> type`.
";

/// Writes a catalogue as Markdown, under `title`.
///
/// ```
/// use tfrt_ods::OpDef;
/// use tfrt_ods::catalogue::{Catalogue, CatalogueEntry};
/// use tfrt_ods::write::markdown::markdown;
///
/// static NOP: OpDef = OpDef {
///     summary: "Does nothing.",
///     assembly_format: Some("attr-dict"),
///     ..OpDef::new("my.nop")
/// };
///
/// let text = markdown("My ops", &Catalogue::new([], [CatalogueEntry::kernel(&NOP)]));
/// assert!(text.starts_with("# My ops\n"));
/// assert!(text.ends_with("### `my.nop`\n\nDoes nothing.\n\n```text\nmy.nop {…}?\n```\n"));
/// ```
#[must_use]
pub fn markdown(title: &str, catalogue: &Catalogue<'_>) -> String {
    let mut out = format!("# {title}\n\n{CONVENTIONS}");
    let sections = catalogue.sections();
    if sections.len() > 1 {
        out += "\n| dialect | ops | |\n|---|---|---|\n";
        for Section { dialect, entries } in &sections {
            let _ = writeln!(
                out,
                "| [`{0}`](#{0}) | {1} | {2} |",
                dialect.name,
                entries.len(),
                cell(dialect.summary)
            );
        }
    }
    for section in &sections {
        write_section(section, &mut out);
    }
    out
}

fn write_section(section: &Section<'_, '_>, out: &mut String) {
    let dialect = section.dialect;
    // Only the name, so that it is also the anchor of the heading.
    let _ = writeln!(out, "\n## {}", dialect.name);
    write_paragraph(dialect.summary, out);
    write_paragraph(dialect.description, out);
    if !dialect.types.is_empty() {
        let types = dialect.types.iter();
        let types: Vec<_> = types
            .map(|ty| format!("`!{}.{ty}`", dialect.name))
            .collect();
        let _ = write!(out, "\nTypes: {}.\n", types.join(", "));
    }
    for family in section.families() {
        write_family(&family, out);
    }
}

fn write_family(family: &Family<'_>, out: &mut String) {
    let first = family.first();
    let def = first.op;
    let _ = writeln!(out, "\n### `{}`", family.name());
    write_paragraph(def.summary, out);
    write_paragraph(def.description, out);
    let syntax = syntax::custom(def).unwrap_or_else(|| syntax::generic(def));
    let _ = write!(out, "\n```text\n{syntax}\n```\n");
    write_parts(family, out);
    write_facts(first, out);
}

/// Writes text unchanged, except that its headings are nested below that of the op.
fn write_paragraph(text: &str, out: &mut String) {
    if text.is_empty() {
        return;
    }
    out.push('\n');
    let mut is_code = false;
    for line in text.lines() {
        is_code ^= line.trim_start().starts_with("```");
        let margin = if line.starts_with('#') && !is_code {
            "###"
        } else {
            ""
        };
        let _ = writeln!(out, "{margin}{line}");
    }
}

/// Writes a table of operands, attributes, functions and results.
fn write_parts(family: &Family<'_>, out: &mut String) {
    let def = family.first().op;
    let mut rows = Vec::new();
    for (index, operand) in def.operands.iter().enumerate() {
        let of = |member: &OpDef| (member.operands[index].ty, member.operands[index].arity);
        let mutated = if operand.is_mutated {
            ", which it writes into"
        } else {
            ""
        };
        let types = types(family, of);
        rows.push(("operand", operand.name, format!("{types}{mutated}")));
    }
    for (index, attribute) in def.attributes.iter().enumerate() {
        let kinds = distinct(family, |member| {
            prose::Kind(member.attributes[index].kind).to_string()
        });
        let mut what = kinds.join(" or ");
        if attribute.is_optional() {
            what += ", optional";
        } else if attribute.default.is_some() {
            what += &format!(", {} if it is missing", prose::Default(attribute));
        }
        rows.push(("attribute", attribute.name, what));
    }
    for function in def.functions {
        rows.push(("function", function.name, prose::function(def, function)));
    }
    for (index, result) in def.results.iter().enumerate() {
        let of = |member: &OpDef| (member.results[index].ty, member.results[index].arity);
        let note = prose::result_note(result);
        rows.push(("result", result.name, types(family, of) + &note));
    }
    if rows.is_empty() {
        return;
    }
    out.push_str("\n| | | |\n|---|---|---|\n");
    for (part, name, what) in rows {
        let _ = writeln!(out, "| {part} | `{name}` | {} |", cell(&what));
    }
}

/// Returns the types of one operand or result in all members.
fn types(family: &Family<'_>, of: impl Fn(&OpDef) -> (TypeConstraint, Arity)) -> String {
    let (_, arity) = of(family.first().op);
    let number = match arity {
        Arity::One => "",
        Arity::Optional => "optional ",
        Arity::Variadic => "any number of ",
    };
    let types = distinct(family, |member| match of(member).0 {
        TypeConstraint::Exact(spelling) => format!("`{spelling}`"),
        TypeConstraint::OneOf(spellings) => {
            let spellings = spellings.iter().map(|spelling| format!("`{spelling}`"));
            spellings.collect::<Vec<_>>().join(" or ")
        }
        ty => prose::Types(ty, Arity::One).to_string(),
    });
    format!("{number}{}", types.join(" or "))
}

/// Returns the distinct statements about the members.
fn distinct(family: &Family<'_>, of: impl Fn(&OpDef) -> String) -> Vec<String> {
    let mut statements = Vec::new();
    for member in &family.members {
        let statement = of(member.op);
        if !statements.contains(&statement) {
            statements.push(statement);
        }
    }
    statements
}

/// Writes the properties that most ops do not have.
fn write_facts(entry: &CatalogueEntry<'_>, out: &mut String) {
    let def = entry.op;
    let mut facts = Vec::new();
    let mut claims = prose::effects(def);
    claims.extend(prose::properties(def).into_iter().map(str::to_owned));
    if !claims.is_empty() {
        facts.push(format!("It {}.", claims.join("; it ")));
    }
    if def.traits.contains(OpTraits::NON_STRICT) {
        facts.push(format!("Starts {}.", prose::strictness(def)));
    }
    if !matches!(entry.execution(), Execution::Inline | Execution::Terminator) {
        facts.push(format!("Runs {}.", prose::execution(entry)));
    }
    if !facts.is_empty() {
        let _ = write!(out, "\n{}\n", facts.join("  \n"));
    }
}

/// Escapes text for a table cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}
