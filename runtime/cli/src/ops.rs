//! `tfrt ops`: which ops are linked, and what each of them is.

use std::fmt::{self, Display};

use clap::Parser;
use tfrt_ods::{
    Arity, AttrDef, AttrDefault, AttrKind, Effect, FunctionForm, OpDef, OpTraits, SourcePlace,
    TypeConstraint,
};
use tfrt_support::nearest::did_you_mean;

use crate::failure::Failure;
use crate::front_end::FrontEnd;
use crate::output;

const EXAMPLES: &str = "\
Examples:
  tfrt ops                     list every op
  tfrt ops tfrt_test           list the ops of one dialect
  tfrt ops tfrt.add.i32        document one op";

/// List the ops that are linked, or document one.
#[derive(Debug, Parser)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The op to document, or the first part of the names to list
    name: Option<String>,
}

/// Runs the tool. `program` is the name it was started under.
pub(crate) fn run(program: &str, arguments: &Arguments) -> Result<(), Failure> {
    let front_end = FrontEnd::from_link(program)?;
    let text = match &arguments.name {
        None => list(front_end.op_defs()),
        Some(name) => match front_end.op_defs().find(|def| def.name == name) {
            Some(def) => Documentation(def).to_string(),
            None => list_family(program, name, &front_end)?,
        },
    };
    output::write("-", text.as_bytes())
}

fn list_family(program: &str, name: &str, front_end: &FrontEnd) -> Result<String, Failure> {
    let family = name.strip_suffix('.').unwrap_or(name);
    let is_member = |def: &&OpDef| {
        def.name
            .strip_prefix(family)
            .is_some_and(|rest| rest.starts_with('.'))
    };
    let text = list(front_end.op_defs().filter(is_member));
    if !text.is_empty() {
        return Ok(text);
    }
    let suggestions = front_end.kernels().suggest(name);
    Err(Failure::Message(format!(
        "{program}: no op `{name}` is linked{}",
        did_you_mean(&suggestions)
    )))
}

/// One line for each op: its name, and what it does.
fn list<'a>(defs: impl Iterator<Item = &'a OpDef>) -> String {
    let defs: Vec<&OpDef> = defs.collect();
    let width = defs.iter().map(|def| def.name.len()).max().unwrap_or(0);
    let line = |def: &&OpDef| {
        format!("{:width$}  {}", def.name, def.summary)
            .trim_end()
            .to_owned()
            + "\n"
    };
    defs.iter().map(line).collect()
}

/// All that is declared of one op.
struct Documentation<'a>(&'a OpDef);

impl Display for Documentation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let def = self.0;
        writeln!(f, "{}", def.name)?;
        for paragraph in [def.summary, def.description]
            .into_iter()
            .filter(|paragraph| !paragraph.is_empty())
        {
            writeln!(f)?;
            paragraph
                .lines()
                .try_for_each(|line| writeln!(f, "  {}", line.trim()))?;
        }
        let operands = def.operands.iter().map(|operand| {
            let note = if operand.is_mutated {
                ", which it writes into"
            } else {
                ""
            };
            format!(
                "{}: {}{note}",
                operand.name,
                Types(operand.ty, operand.arity)
            )
        });
        fmt_part(f, "Operands", operands)?;
        fmt_part(
            f,
            "Attributes",
            def.attributes
                .iter()
                .map(|attribute| Attribute(attribute).to_string()),
        )?;
        let functions = def.functions.iter().map(|function| {
            let form = match function.form {
                FunctionForm::Symbol => "a function: `@f`",
                FunctionForm::SymbolList => "a list of functions: `[@f, @g]`",
                FunctionForm::Region => "a region",
            };
            format!("{}: {form}", function.name)
        });
        fmt_part(f, "Functions", functions)?;
        let results = def.results.iter().map(|result| {
            let alias = result.alias_of.map_or_else(String::new, |operand| {
                format!(", which shares memory with `{operand}`")
            });
            format!("{}: {}{alias}", result.name, Types(result.ty, result.arity))
        });
        fmt_part(f, "Results", results)?;
        fmt_part(f, "Properties", properties(def).into_iter())?;
        if let Some(format) = def.assembly_format {
            fmt_part(
                f,
                "Custom form",
                std::iter::once(format!("{} {format}", def.name)),
            )?;
        }
        if def.place != SourcePlace::UNKNOWN {
            fmt_part(
                f,
                "Declared at",
                std::iter::once(format!("{}:{}", def.place.file, def.place.line)),
            )?;
        }
        Ok(())
    }
}

fn fmt_part(
    f: &mut fmt::Formatter<'_>,
    title: &str,
    lines: impl Iterator<Item = String>,
) -> fmt::Result {
    let mut lines = lines.peekable();
    if lines.peek().is_some() {
        writeln!(f, "\n{title}:")?;
    }
    lines.try_for_each(|line| writeln!(f, "  {line}"))
}

fn properties(def: &OpDef) -> Vec<String> {
    const TEXTS: &[(OpTraits, &str)] = &[
        (OpTraits::TERMINATOR, "ends its block"),
        (OpTraits::PURE, "does nothing but compute its results"),
        (
            OpTraits::NON_STRICT,
            "can start before every operand is available",
        ),
        (OpTraits::SYNC, "runs in synchronous functions only"),
        (OpTraits::BLOCKING, "may block: runs on threads of its own"),
        (
            OpTraits::ISOLATED,
            "its regions see their own arguments only",
        ),
    ];
    let mut properties: Vec<String> = TEXTS
        .iter()
        .filter(|(of, _)| def.traits.contains(*of))
        .map(|(_, text)| (*text).to_owned())
        .collect();
    if let Effect::Ordered(class) = def.effect {
        properties.push(format!(
            "has effects of class `{class}`, which keep their order"
        ));
    }
    properties
}

struct Types(TypeConstraint, Arity);

impl Display for Types {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.1 == Arity::Variadic {
            f.write_str("any number of ")?;
        }
        match self.0 {
            TypeConstraint::Exact(ty) => f.write_str(ty),
            TypeConstraint::OneOf(types) => f.write_str(&types.join(" or ")),
            TypeConstraint::Any => f.write_str("any type"),
            TypeConstraint::SameAs(operand) => write!(f, "the type of `{operand}`"),
        }
    }
}

struct Attribute<'a>(&'a AttrDef);

impl Display for Attribute<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let AttrDef {
            name,
            kind,
            default,
        } = self.0;
        write!(f, "{name}: {}", Kind(*kind))?;
        match default {
            None => Ok(()),
            Some(AttrDefault::Bool(value)) => write!(f, " = {value}"),
            Some(AttrDefault::Int(value)) => write!(f, " = {value}"),
            Some(AttrDefault::Float(value)) => write!(f, " = {value:?}"),
            Some(AttrDefault::String(value)) => write!(f, " = {value:?}"),
            Some(AttrDefault::EmptyArray) => f.write_str(" = []"),
        }
    }
}

struct Kind(AttrKind);

impl Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            AttrKind::Int {
                width,
                is_unsigned: false,
            } => write!(f, "i{width}"),
            AttrKind::Int {
                width,
                is_unsigned: true,
            } => write!(f, "ui{width}"),
            AttrKind::Float(kind) => f.write_str(&format!("{kind:?}").to_ascii_lowercase()),
            AttrKind::String => f.write_str("a text"),
            AttrKind::Type => f.write_str("a type"),
            AttrKind::Array(element) => write!(f, "a list, each element {}", Self(*element)),
            AttrKind::Aggregate => f.write_str("a list of anything"),
            AttrKind::Dense => f.write_str("dense elements"),
            AttrKind::Shape => f.write_str("a shape"),
            AttrKind::CompilationUnit => f.write_str("a compiled function: `@module::@f`"),
            AttrKind::Any => f.write_str("anything"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tfrt_ods::{OperandDef, ResultDef};

    static SCALE: OpDef = OpDef {
        summary: "Scales a vector in place.",
        operands: &[
            OperandDef {
                is_mutated: true,
                ..OperandDef::new("v", TypeConstraint::Exact("!my.vector"))
            },
            OperandDef::variadic("by", TypeConstraint::OneOf(&["f32", "f64"])),
        ],
        attributes: &[AttrDef {
            default: Some(AttrDefault::Int(1)),
            ..AttrDef::new("times", AttrKind::I32)
        }],
        results: &[ResultDef::new("done", TypeConstraint::Exact("!tfrt.chain"))],
        effect: Effect::IO,
        ..OpDef::new("my.scale")
    };

    #[test]
    fn documentation_says_all_that_is_declared() {
        let expected = "\
my.scale

  Scales a vector in place.

Operands:
  v: !my.vector, which it writes into
  by: any number of f32 or f64

Attributes:
  times: i32 = 1

Results:
  done: !tfrt.chain

Properties:
  has effects of class `io`, which keep their order
";
        assert_eq!(Documentation(&SCALE).to_string(), expected);
    }

    #[test]
    fn a_list_has_one_line_for_each_op() {
        assert_eq!(
            list([&SCALE, &OpDef::new("my.x")].into_iter()),
            "my.scale  Scales a vector in place.\nmy.x\n"
        );
    }
}
