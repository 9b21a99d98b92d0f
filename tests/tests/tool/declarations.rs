//! The declarations of the standard library, as `tfrt ops` exports them: that other tools can read
//! them, and that they say what is declared.

mod tablegen;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{env, fs};

use libtest_mimic::{Failed, Trial};
use serde_json::{Value, json};
use tfrt::kernel::KernelRegistry;
use tfrt::ods::{Arity, AttrDefault, AttrKind, FunctionForm, OpDef, SourcePlace, TypeConstraint};
use tfrt::ods::{TraitDef, TraitOption};
use tfrt_tests::golden::require_status;
use tfrt_tests::{programs, tool};

use tablegen::{TableGen, in_path};

tfrt::link!(tfrt_kernels);

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        Trial::test("declarations_keep_the_rules", declarations_keep_the_rules),
        Trial::test(
            "every_op_and_dialect_says_what_it_is_about",
            every_op_and_dialect_says_what_it_is_about,
        ),
        Trial::test("the_manual_names_every_trait", the_manual_names_every_trait),
        Trial::test("json_says_what_is_declared", json_says_what_is_declared),
        Trial::test(
            "a_selection_is_a_part_of_everything",
            a_selection_is_a_part_of_everything,
        ),
        Trial::test("the_reference_is_current", the_reference_is_current),
        Trial::test("an_op_is_documented_in_full", an_op_is_documented_in_full),
        Trial::test(
            "an_unknown_op_is_near_to_a_known_one",
            an_unknown_op_is_near_to_a_known_one,
        ),
        Trial::test(
            "documents_are_the_same_every_time",
            documents_are_the_same_every_time,
        ),
        Trial::test("table_gen_reads_the_library", table_gen_reads_the_library),
        Trial::test("table_gen_reads_one_dialect", table_gen_reads_one_dialect),
        Trial::test(
            "table_gen_reads_odd_declarations",
            table_gen_reads_odd_declarations,
        ),
        Trial::test("table_gen_finds_mistakes", table_gen_finds_mistakes),
        Trial::test(
            "table_gen_without_what_is_included_is_passed_over",
            table_gen_without_what_is_included_is_passed_over,
        ),
    ]
}

type Outcome = Result<(), Failed>;

/// What `tfrt ops` prints.
fn ops(arguments: &[&str]) -> Result<String, Failed> {
    let mut command = tool::command("tfrt", &programs::directory())?;
    command.arg("ops").args(arguments);
    let output = tool::run(command)?;
    require_status(0, &output)?;
    Ok(String::from_utf8(output.stdout)?)
}

fn registry() -> Result<KernelRegistry, Failed> {
    Ok(KernelRegistry::from_link().map_err(|error| error.to_string())?)
}

fn every_op_and_dialect_says_what_it_is_about() -> Outcome {
    let document: Value = serde_json::from_str(&ops(&["--format=json"])?)?;
    let list = |member: &str| document[member].as_array().cloned().unwrap_or_default();
    let (ops, dialects) = (list("ops"), list("dialects"));
    let stated: BTreeSet<&str> = dialects
        .iter()
        .filter_map(|one| one["name"].as_str())
        .collect();
    let silent = ops.iter().chain(&dialects).filter(|one| {
        let dialect = one.get("dialect").and_then(Value::as_str);
        one["summary"] == "" || dialect.is_some_and(|dialect| !stated.contains(dialect))
    });
    let names: Vec<String> = silent.map(|one| one["name"].to_string()).collect();
    if ops.is_empty() || !names.is_empty() {
        return Err(format!("without a word: {names:?}").into());
    }
    Ok(())
}

fn declarations_keep_the_rules() -> Outcome {
    let broken: Vec<String> = registry()?
        .ops()
        .filter_map(|op| {
            op.check()
                .err()
                .map(|error| format!("{}: {error}", op.name))
        })
        .collect();
    if broken.is_empty() {
        Ok(())
    } else {
        Err(broken.join("\n").into())
    }
}

/// The manual of the macros names every trait that is an option.
fn the_manual_names_every_trait() -> Outcome {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let manual = std::fs::read_to_string(root.join("../macros/src/lib.rs"))?;
    let options = TraitDef::all().iter();
    let options = options.filter(|def| def.option != TraitOption::Derived);
    let unknown: Vec<_> = options
        .map(|def| def.name)
        .filter(|name| !manual.contains(&format!("`{name}`")))
        .collect();
    if unknown.is_empty() {
        Ok(())
    } else {
        Err(format!("not in the manual: {unknown:?}").into())
    }
}

fn json_says_what_is_declared() -> Outcome {
    let document: Value = serde_json::from_str(&ops(&["--format=json"])?)?;
    let registry = registry()?;
    let found = document["ops"].as_array().ok_or("there are no ops")?;
    let names: BTreeSet<_> = found.iter().filter_map(|op| op["name"].as_str()).collect();
    let declared: BTreeSet<_> = registry.ops().map(|op| op.name).collect();
    if document["version"] != 1 || names != declared || found.len() != declared.len() {
        return Err(format!("{} ops instead of {}", found.len(), declared.len()).into());
    }
    for found in found {
        let def = found["name"].as_str().and_then(|name| registry.op(name));
        let def = def.ok_or("the op is declared")?;
        let has_kernel = registry.get(def.name).is_some();
        let is_somewhere =
            !["nowhere", "terminator"].contains(&found["execution"].as_str().unwrap_or_default());
        if is_somewhere != has_kernel {
            return Err(format!("{} runs {}", def.name, found["execution"]).into());
        }
        let mut found = found.clone();
        let members = found.as_object_mut().ok_or("an op is an object")?;
        members.remove("execution");
        let expected = as_json(def);
        if found != expected {
            return Err(format!("{}: {found}\nis not\n{expected}", def.name).into());
        }
    }
    Ok(())
}

/// What the document says of an op, but for where it runs.
fn as_json(def: &OpDef) -> Value {
    let ty = |ty: TypeConstraint| match ty {
        TypeConstraint::Exact(spelling) => json!({"kind": "exact", "spelling": spelling}),
        TypeConstraint::OneOf(spellings) => json!({"kind": "one_of", "spellings": spellings}),
        TypeConstraint::Any => json!({"kind": "any"}),
        TypeConstraint::SameAs(operand) => json!({"kind": "same_as", "operand": operand}),
    };
    let arity = |arity: Arity| match arity {
        Arity::One => "one",
        Arity::Optional => "optional",
        Arity::Variadic => "variadic",
    };
    let operands = def.operands.iter().map(|operand| {
        json!({
            "name": operand.name, "type": ty(operand.ty), "arity": arity(operand.arity),
            "is_mutated": operand.is_mutated, "is_reference": operand.is_reference,
        })
    });
    let results = def.results.iter().map(|result| {
        json!({
            "name": result.name, "type": ty(result.ty), "arity": arity(result.arity), "alias_of": result.alias_of,
        })
    });
    let attributes = def.attributes.iter().map(|attribute| {
        let default = match attribute.default {
            None | Some(AttrDefault::Absent) => Value::Null,
            Some(AttrDefault::Bool(value)) => value.into(),
            Some(AttrDefault::Int(value)) => i64::try_from(value).map_or(Value::Null, Value::from),
            Some(AttrDefault::Float(value)) => value.into(),
            Some(AttrDefault::String(value)) => value.into(),
            Some(AttrDefault::EmptyArray) => json!([]),
        };
        json!({
            "name": attribute.name, "kind": kind_as_json(&attribute.kind), "default": default,
            "is_optional": attribute.is_optional(),
        })
    });
    let functions = def.functions.iter().map(|function| {
        let form = match function.form {
            FunctionForm::Symbol => "symbol",
            FunctionForm::OptionalSymbol => "optional_symbol",
            FunctionForm::SymbolList => "symbol_list",
            FunctionForm::Region => "region",
        };
        let mut signatures = def.signatures.iter();
        let signature = signatures
            .find(|signature| signature.function == function.name)
            .map(
                |signature| json!({"arguments": signature.arguments, "results": signature.results}),
            );
        json!({"name": function.name, "form": form, "signature": signature})
    });
    let source = (def.place != SourcePlace::UNKNOWN)
        .then(|| json!({"file": def.place.file, "line": def.place.line}));
    json!({
        "name": def.name,
        "dialect": def.dialect(),
        "summary": def.summary,
        "description": def.description,
        "operands": operands.collect::<Vec<_>>(),
        "attributes": attributes.collect::<Vec<_>>(),
        "functions": functions.collect::<Vec<_>>(),
        "results": results.collect::<Vec<_>>(),
        "traits": def.traits.iter().map(|def| def.name).collect::<Vec<_>>(),
        "effect": def.effect.class(),
        "only_reads": matches!(def.effect, tfrt::ods::Effect::Reads(_)),
        "assembly_format": def.assembly_format,
        "has_verifier": def.verifier.is_some(),
        "has_folder": def.folder.is_some(),
        "has_metadata": def.metadata.is_some(),
        "has_workspace": def.workspace.is_some(),
        "source": source,
    })
}

fn kind_as_json(kind: &AttrKind) -> Value {
    match kind {
        AttrKind::Int { width, is_unsigned } => {
            json!({"kind": "int", "width": width, "is_unsigned": is_unsigned})
        }
        AttrKind::Float(float) => {
            json!({"kind": "float", "type": format!("{float:?}").to_lowercase()})
        }
        AttrKind::Array(element) => json!({"kind": "array", "element": kind_as_json(element)}),
        AttrKind::Enum(def) => {
            let cases = def
                .cases
                .iter()
                .map(|case| json!({"keyword": case.keyword, "value": case.value as i64}));
            let sign = format!("{:?}", def.sign).to_lowercase();
            json!({"kind": "enum", "name": def.name, "width": def.width, "sign": sign, "cases": cases.collect::<Vec<_>>()})
        }
        AttrKind::String => json!({"kind": "string"}),
        AttrKind::Type => json!({"kind": "type"}),
        AttrKind::Aggregate => json!({"kind": "aggregate"}),
        AttrKind::Dense => json!({"kind": "dense"}),
        AttrKind::Shape => json!({"kind": "shape"}),
        AttrKind::CompilationUnit => json!({"kind": "compilation_unit"}),
        AttrKind::Any => json!({"kind": "any"}),
    }
}

fn a_selection_is_a_part_of_everything() -> Outcome {
    let names = |arguments: &[&str]| -> Result<Vec<String>, Failed> {
        let list = ops(arguments)?;
        let names = list.lines().filter_map(|line| line.split(' ').next());
        Ok(names.map(str::to_owned).collect())
    };
    let all = names(&[])?;
    type IsWanted = fn(&str) -> bool;
    let patterns: [(&[&str], IsWanted); 3] = [
        (&["tfrt.add"], |name| name.starts_with("tfrt.add.")),
        (&["tfrt_test", "*.i32"], |name| {
            name.starts_with("tfrt_test.") || name.ends_with(".i32")
        }),
        (&["corert.exec*"], |name| name.starts_with("corert.exec")),
    ];
    for (patterns, is_wanted) in patterns {
        let expected: Vec<_> = all.iter().filter(|name| is_wanted(name)).cloned().collect();
        if expected.is_empty() || names(patterns)? != expected {
            return Err(format!("{patterns:?} selects {:?}", names(patterns)?).into());
        }
    }
    Ok(())
}

/// The reference in the tree is what the declarations say; `TFRT_BLESS=1` writes it anew.
fn the_reference_is_current() -> Outcome {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../kernels/REFERENCE.md");
    let current = ops(&["--format=markdown", "--title=The standard kernels"])?;
    if env::var_os("TFRT_BLESS").is_some() {
        fs::write(&path, &current)?;
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    if written == current {
        return Ok(());
    }
    let line = written
        .lines()
        .zip(current.lines())
        .position(|(a, b)| a != b);
    Err(format!(
        "kernels/REFERENCE.md is out of date from line {} on; TFRT_BLESS=1 writes it anew",
        line.map_or_else(|| written.lines().count() + 1, |line| line + 1)
    )
    .into())
}

fn an_op_is_documented_in_full() -> Outcome {
    let page = ops(&["tfrt.repeat.i32"])?;
    for part in [
        "Syntax:\n  %values… = tfrt.repeat.i32 %count, %arguments…",
        "\nOperands:\n  count: i32\n",
        "\nFunctions:\n  body: a region",
        "\nResults:\n  values: any number of any type",
        "\nStarts:\n  when every operand is available; with the attribute `bef.nonstrict`, ",
        "\nRuns:\n  on the thread that dispatches it\n",
        "\nImplemented at:\n  kernels/src/control_flow/repeat.rs:",
    ] {
        if !page.contains(part) {
            return Err(format!("{part:?} is not in:\n{page}").into());
        }
    }
    Ok(())
}

fn an_unknown_op_is_near_to_a_known_one() -> Outcome {
    for (name, hint) in [
        ("tfrt.ad.i32", "; did you mean `tfrt.add.i32`"),
        ("tfrt_tets", "; did you mean `tfrt_test`"),
        ("nothing.like.it", "`\n"),
    ] {
        let mut command = tool::command("tfrt", &programs::directory())?;
        command.args(["ops", "--format=td", "tfrt.add", name]);
        let output = tool::run(command)?;
        require_status(1, &output)?;
        let found = String::from_utf8(output.stderr)?;
        let expected = format!("tfrt: unknown op `{name}`");
        if !(found.starts_with(&expected) && found.contains(hint) && output.stdout.is_empty()) {
            return Err(found.into());
        }
    }
    Ok(())
}

fn documents_are_the_same_every_time() -> Outcome {
    for format in ["text", "td", "markdown", "json"] {
        let format = format!("--format={format}");
        let path = scratch_file("documents");
        ops(&[&format, "-o", path.to_str().ok_or("the path is text")?])?;
        let written = fs::read_to_string(&path)?;
        fs::remove_file(&path)?;
        if written.is_empty() || ops(&[&format])? != written {
            return Err(format!("{format} differs").into());
        }
    }
    Ok(())
}

fn scratch_file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("declarations-{name}-{}", std::process::id()))
}

/// Calls `check` with the real tool; says so where it is not installed.
fn with_table_gen(check: impl FnOnce(&TableGen) -> Outcome) -> Outcome {
    match TableGen::find(&ops(&["--format=td"])?) {
        Ok(tool) => check(&tool),
        Err(reason) => {
            println!("skipped: {reason}");
            Ok(())
        }
    }
}

fn table_gen_reads_the_library() -> Outcome {
    with_table_gen(|tool| {
        let path = scratch_file("library.td");
        fs::write(&path, ops(&["--format=td"])?)?;
        let outcome = reads_all(tool, &path, registry()?.ops().map(OpDef::dialect));
        fs::remove_file(&path)?;
        outcome
    })
}

fn table_gen_reads_one_dialect() -> Outcome {
    with_table_gen(|tool| {
        let path = scratch_file("dialect.td");
        fs::write(&path, ops(&["--format=td", "ts"])?)?;
        let dialects = registry()?
            .ops()
            .map(OpDef::dialect)
            .filter(|name| *name == "ts")
            .collect::<Vec<_>>();
        let outcome = reads_all(tool, &path, dialects.into_iter());
        fs::remove_file(&path)?;
        outcome
    })
}

fn table_gen_reads_odd_declarations() -> Outcome {
    with_table_gen(|tool| {
        let path =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../ods/tests/documents/declarations.td");
        let text = fs::read_to_string(&path)?;
        let num_of = |dialect: &str| {
            text.matches(&format!(" : TFRT_Op<{dialect}_Dialect"))
                .count()
        };
        let dialects = [
            ("algebra", "Algebra"),
            ("algebra_sync", "AlgebraSync"),
            ("other", "Other"),
            ("tfrt", "Tfrt"),
        ];
        let names = dialects
            .into_iter()
            .flat_map(|(name, record)| std::iter::repeat_n(name, num_of(record)));
        reads_all(tool, &path, names)
    })
}

/// Has everything made that the tool makes of ops, dialects and types. `dialects` are those of the
/// ops, one for each op.
fn reads_all<'a>(tool: &TableGen, path: &Path, dialects: impl Iterator<Item = &'a str>) -> Outcome {
    let dialects: Vec<_> = dialects.collect();
    let classes = tool.run(path, &["-gen-op-decls"])?;
    require_count(&classes, " : public ::mlir::Op<", dialects.len())?;
    let definitions = tool.run(path, &["-gen-op-defs"])?;
    require_count(
        &definitions,
        "MLIR_DEFINE_EXPLICIT_TYPE_ID(",
        dialects.len(),
    )?;
    require_count(
        &tool.run(path, &["-gen-op-doc"])?,
        "\n### `",
        dialects.len(),
    )?;
    tool.run(path, &["-gen-enum-decls"])?;
    for name in dialects.iter().collect::<BTreeSet<_>>() {
        let dialect = format!("-dialect={name}");
        let num_ops = dialects.iter().filter(|other| other == &name).count();
        let documentation = tool.run(path, &["-gen-dialect-doc", &dialect])?;
        require_count(&documentation, &format!("\n### `{name}."), num_ops)?;
        for action in ["-gen-dialect-decls", "-gen-dialect-defs"] {
            tool.run(path, &[action, &dialect])?;
        }
        let types = format!("-typedefs-dialect={name}");
        for action in ["-gen-typedef-decls", "-gen-typedef-defs"] {
            tool.run(path, &[action, &types])?;
        }
    }
    Ok(())
}

fn require_count(text: &str, part: &str, expected: usize) -> Outcome {
    match text.matches(part).count() {
        found if found == expected => Ok(()),
        found => Err(format!("{part:?} is there {found} times, not {expected} times").into()),
    }
}

/// An old version has only some of the files. It is skipped, and a newer one is found after it.
fn table_gen_without_what_is_included_is_passed_over() -> Outcome {
    let folder = scratch_file("versions");
    let declarations = ops(&["--format=td"])?;
    let install = |version: &str, files: &[&str]| -> Result<PathBuf, Failed> {
        let prefix = folder.join(version);
        for file in files {
            let path = prefix.join("include").join(file);
            fs::create_dir_all(path.parent().ok_or("a file lies in a folder")?)?;
            fs::write(path, "")?;
        }
        fs::create_dir_all(prefix.join("bin"))?;
        let tool = prefix.join("bin").join(format!("mlir-tblgen-{version}"));
        fs::write(&tool, "")?;
        Ok(tool)
    };
    let (all, old) = (
        [
            "mlir/IR/OpBase.td",
            "mlir/IR/AttrTypeBase.td",
            "mlir/IR/EnumAttr.td",
            "mlir/Interfaces/SideEffectInterfaces.td",
        ],
        ["mlir/IR/OpBase.td", "mlir/IR/EnumAttr.td"],
    );
    let (tool_14, tool_17) = (install("14", &old)?, install("17", &all)?);
    let path = env::join_paths([&tool_14, &tool_17].map(|tool| tool.parent().unwrap_or(tool)))?;
    let candidates = in_path(&path);
    let is_listed = candidates == [&*tool_14, &*tool_17];
    let alone = TableGen::first_that_reads(&declarations, &candidates[..1]).err();
    let both = TableGen::first_that_reads(&declarations, &candidates).map(|_| ());
    fs::remove_dir_all(&folder)?;
    let alone = alone.ok_or("a version without `AttrTypeBase.td` is taken")?;
    if !(is_listed && alone.ends_with("mlir-tblgen-14 comes without `mlir/IR/AttrTypeBase.td`")) {
        return Err(format!("{candidates:?}: {alone}").into());
    }
    Ok(both?)
}

fn table_gen_finds_mistakes() -> Outcome {
    with_table_gen(|tool| {
        let text = ops(&["--format=td", "tfrt.add.i32"])?;
        let damaged = text.replacen("I32:$a", "NoType:$a", 1);
        let path = scratch_file("damaged.td");
        fs::write(&path, &damaged)?;
        let outcome = tool.run(&path, &["-gen-op-decls"]);
        fs::remove_file(&path)?;
        match outcome {
            Err(_) if damaged != text => Ok(()),
            _ => Err("the tool accepts a type that is not there".into()),
        }
    })
}
