//! `tfrt ops`: lists and documents the linked ops, and exports their declarations.

use clap::{Parser, ValueEnum};
use tfrt_core::{OpRegistration, OpRegistry};
use tfrt_host::kernel::library::LoadedLibrary;
use tfrt_host::kernel::{DialectRegistration, KernelRegistry};
use tfrt_ods::OpDef;
use tfrt_ods::catalogue::{Catalogue, CatalogueEntry};
use tfrt_ods::write::{json, markdown, page, td};
use tfrt_support::nearest::{did_you_mean, nearest};

use crate::failure::Failure;
use crate::front_end::FrontEnd;
use crate::libraries::LibraryArguments;
use crate::output;

const EXAMPLES: &str = "\
Examples:
  tfrt ops                                   list every op
  tfrt ops tfrt_test tfrt.print              list the ops of a dialect and of a family
  tfrt ops '*.i32'                           list the ops whose names end in `.i32`
  tfrt ops tfrt.add.i32                      show the documentation of an op
  tfrt ops --format=markdown tfrt > tfrt.md  write a reference manual of a dialect
  tfrt ops --format=td -o kernels.td         export all declarations for mlir-tblgen
  tfrt ops --format=json | jq '.ops[].name'  export all declarations for other tools
  tfrt ops --kernel-library=libmine.so mine  list the ops of a kernel library
  tfrt ops --device=gpu                      list the ops that run one by one on GPUs";

/// List the available ops, or show the documentation of some.
///
/// Declarations can also be exported, for mlir-tblgen and other tools.
#[derive(Debug, Parser)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The full name of an op shows its documentation. The first part of a name, or a pattern in
    /// which `*` matches any text, lists the ops that match [default: list all ops]
    #[arg(value_name = "NAME")]
    names: Vec<String>,

    /// List the ops that run one by one on devices of this type, such as `cpu` or `gpu`, instead of
    /// the ops of programs
    #[arg(long, value_name = "TYPE", conflicts_with = "format")]
    device: Option<String>,

    /// The output format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,

    /// The title of the reference manual
    #[arg(long, default_value = "Ops")]
    title: String,

    /// The output file; `-` writes to standard output
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: String,

    #[command(flatten)]
    libraries: LibraryArguments,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// A list of ops, or the documentation of ops given by their full names
    Text,
    /// TableGen records for mlir-tblgen
    Td,
    /// A reference manual in Markdown
    Markdown,
    /// Complete declarations, for other tools
    Json,
}

/// Runs the tool. `program` is the name it was started under.
pub(crate) fn run(program: &str, arguments: &Arguments) -> Result<(), Failure> {
    let front_end = FrontEnd::new(program, &arguments.libraries)?;
    let kernels = front_end.kernels();
    if let Some(device_type) = &arguments.device {
        return list_of_device(program, arguments, device_type, kernels);
    }
    let entries = front_end.op_defs().map(|op| CatalogueEntry {
        op,
        has_kernel: kernels.get(op.name).is_some(),
    });
    let of_libraries = kernels.libraries().iter().flat_map(LoadedLibrary::dialects);
    let dialects = DialectRegistration::linked().chain(of_libraries);
    let all = Catalogue::new(dialects, entries);
    let (names, selected) = select(program, arguments, all)?;
    let text = match arguments.format {
        Format::Text => text(&selected, &names),
        Format::Td => td::td(&selected),
        Format::Markdown => markdown::markdown(&arguments.title, &selected),
        Format::Json => json::json(&selected),
    };
    output::write(&arguments.output, text.as_bytes())
}

/// Returns the names that were given, and the ops that they select: all of them without a name.
fn select<'n, 'a>(
    program: &str,
    arguments: &'n Arguments,
    all: Catalogue<'a>,
) -> Result<(Vec<&'n str>, Catalogue<'a>), Failure> {
    let names: Vec<&str> = arguments.names.iter().map(String::as_str).collect();
    for name in &names {
        if all.select(&[name]).entries().is_empty() {
            return Err(Failure::new(format!(
                "{program}: unknown op `{name}`{}",
                did_you_mean(&suggestions(name, &all))
            )));
        }
    }
    let selected = if names.is_empty() {
        all
    } else {
        all.select(&names)
    };
    Ok((names, selected))
}

/// Lists the ops that run one by one on devices of a type.
fn list_of_device(
    program: &str,
    arguments: &Arguments,
    device_type: &str,
    kernels: &KernelRegistry,
) -> Result<(), Failure> {
    let ops = OpRegistry::new(OpRegistration::linked(), kernels);
    let mut types: Vec<&str> = ops.device_types().collect();
    types.sort_unstable();
    if !types.contains(&device_type) {
        return Err(Failure::new(format!(
            "{program}: no op runs on devices of type `{device_type}`; there are ops for {}",
            types.join(" and ")
        )));
    }
    // An op that is a function of its call declares nothing: what the op does, its kernel for other
    // devices says.
    let summary_of = |name: &str| {
        let preferred = std::iter::once(device_type).chain(types.iter().copied());
        let mut found = preferred.filter_map(|device_type| {
            let op = ops.get(device_type, name).ok().flatten()?;
            Some(op.kernel()?.op().summary)
        });
        found.next().unwrap_or_default()
    };
    let defs = ops.names(device_type).map(|name| OpDef {
        summary: summary_of(name),
        ..OpDef::new(name)
    });
    let defs: Vec<OpDef> = defs.collect();
    let all = Catalogue::new([], defs.iter().map(CatalogueEntry::kernel));
    let (_, selected) = select(program, arguments, all)?;
    output::write(&arguments.output, page::list(&selected).as_bytes())
}

/// Full documentation if every name is the name of an op, otherwise a list.
fn text(selected: &Catalogue<'_>, names: &[&str]) -> String {
    let named: Option<Vec<&CatalogueEntry<'_>>> =
        names.iter().map(|name| selected.get(name)).collect();
    match named {
        Some(entries) if !entries.is_empty() => {
            let pages: Vec<_> = entries.into_iter().map(page::page).collect();
            pages.join("\n")
        }
        _ => page::list(selected),
    }
}

/// Suggestions for an unknown name: names of ops, or their first segments.
fn suggestions<'a>(name: &str, all: &Catalogue<'a>) -> Vec<&'a str> {
    let num_segments = name.trim_end_matches('.').split('.').count();
    let mut families: Vec<_> = all
        .entries()
        .iter()
        .map(|entry| first_segments(entry.op.name, num_segments))
        .collect();
    families.extend(all.entries().iter().map(|entry| entry.op.name));
    families.sort_unstable();
    families.dedup();
    nearest(name, families)
}

fn first_segments(name: &str, count: usize) -> &str {
    let mut ends = name.match_indices('.').map(|(position, _)| position);
    ends.nth(count - 1).map_or(name, |end| &name[..end])
}

#[cfg(test)]
mod tests {
    use super::*;
    use tfrt_ods::OpDef;

    static ADD: OpDef = OpDef {
        summary: "Adds.",
        ..OpDef::new("my.add.i32")
    };
    static ADD_MORE: OpDef = OpDef {
        summary: "Adds more.",
        ..OpDef::new("my.add.i32.more")
    };

    fn catalogue() -> Catalogue<'static> {
        Catalogue::new(
            [],
            [
                CatalogueEntry::kernel(&ADD_MORE),
                CatalogueEntry::declaration(&ADD),
            ],
        )
    }

    #[test]
    fn an_op_by_its_name_is_documented_and_a_family_is_listed() {
        let list = "my.add.i32       Adds.\nmy.add.i32.more  Adds more.\n";
        assert_eq!(text(&catalogue(), &[]), list);
        assert_eq!(text(&catalogue(), &["my.add"]), list);
        assert_eq!(text(&catalogue(), &["my.add.i32", "my"]), list);
        let pages = text(&catalogue(), &["my.add.i32.more", "my.add.i32"]);
        assert!(pages.starts_with("my.add.i32.more\n\n  Adds more.\n"));
        assert!(pages.contains("\n\nmy.add.i32\n\n  Adds.\n"));
    }

    #[test]
    fn an_unknown_name_is_near_to_ops_and_families() {
        assert_eq!(suggestions("my.ad.i32", &catalogue())[0], "my.add.i32");
        assert_eq!(suggestions("my.ad", &catalogue()), ["my.add"]);
        assert_eq!(suggestions("your", &catalogue()), Vec::<&str>::new());
    }
}
