//! Shared by the tests: declarations of a few ops, and short ways to use the crate.

use std::path::PathBuf;
use std::sync::Arc;

use tfrt_bef::BefFile;
use tfrt_compiler::{Decoded, EncodeOptions, decode, encode};
use tfrt_ir::{Module, ParseOptions, PrintOptions, Registry, parse, print};
use tfrt_ods::DialectDef;
use tfrt_ods::{
    AttrDef, AttrKind, FunctionDef, FunctionForm, OpDef, OpTraits, OperandDef, ResultDef,
    TypeConstraint,
};
use tfrt_support::{Diagnostic, Diagnostics};

const I1: TypeConstraint = TypeConstraint::Exact("i1");
const I32: TypeConstraint = TypeConstraint::Exact("i32");
const I64: TypeConstraint = TypeConstraint::Exact("i64");
const CHAIN: TypeConstraint = TypeConstraint::Exact("!tfrt.chain");

const CONSTANT: OpDef = OpDef {
    assembly_format: Some("$value attr-dict"),
    ..OpDef::new("")
};

const PRINT: OpDef = OpDef {
    results: &[ResultDef::new("done", CHAIN)],
    assembly_format: Some("operands attr-dict"),
    ..OpDef::new("")
};

static OPS: [OpDef; 13] = [
    OpDef {
        operands: &[OperandDef::variadic("results", TypeConstraint::Any)],
        traits: OpTraits::TERMINATOR,
        assembly_format: Some("(operands `:` type(operands))?"),
        ..OpDef::new("tfrt.return")
    },
    OpDef {
        name: "tfrt.constant.i1",
        attributes: &[AttrDef::new("value", AttrKind::BOOL)],
        results: &[ResultDef::new("value", I1)],
        ..CONSTANT
    },
    OpDef {
        name: "tfrt.constant.i32",
        attributes: &[AttrDef::new("value", AttrKind::I32)],
        results: &[ResultDef::new("value", I32)],
        ..CONSTANT
    },
    OpDef {
        name: "tfrt.constant.i64",
        attributes: &[AttrDef::new("value", AttrKind::I64)],
        results: &[ResultDef::new("value", I64)],
        ..CONSTANT
    },
    OpDef {
        name: "tfrt.constant_s.i64",
        attributes: &[AttrDef::new("value", AttrKind::I64)],
        results: &[ResultDef::new("value", I64)],
        ..CONSTANT
    },
    OpDef {
        operands: &[OperandDef::new("a", I32), OperandDef::new("b", I32)],
        results: &[ResultDef::new("sum", I32)],
        assembly_format: Some("operands attr-dict"),
        ..OpDef::new("tfrt.add.i32")
    },
    OpDef {
        results: &[ResultDef::new("chain", CHAIN)],
        assembly_format: Some("attr-dict"),
        ..OpDef::new("tfrt.new.chain")
    },
    OpDef {
        operands: &[OperandDef::variadic("values", TypeConstraint::Any)],
        results: &[ResultDef::new("chain", CHAIN)],
        traits: OpTraits::CHEAP,
        assembly_format: Some("$values attr-dict `:` type($values)"),
        ..OpDef::new("tfrt.merge.chains")
    },
    OpDef {
        name: "tfrt.print.i1",
        operands: &[
            OperandDef::new("value", I1),
            OperandDef::new("chain", CHAIN),
        ],
        ..PRINT
    },
    OpDef {
        name: "tfrt.print.i32",
        operands: &[
            OperandDef::new("value", I32),
            OperandDef::new("chain", CHAIN),
        ],
        ..PRINT
    },
    OpDef {
        operands: &[OperandDef::variadic("values", TypeConstraint::Any)],
        attributes: &[
            AttrDef::new("_tfrt_cost", AttrKind::I64),
            AttrDef::new("id", AttrKind::I64),
        ],
        results: &[ResultDef::new("sum", I32)],
        traits: OpTraits::COST_ATTRIBUTE,
        assembly_format: Some("$values attr-dict `:` type($values)"),
        ..OpDef::new("tfrt_test.test_cost")
    },
    OpDef {
        functions: &[
            FunctionDef {
                name: "head",
                form: FunctionForm::Symbol,
            },
            FunctionDef {
                name: "tail",
                form: FunctionForm::SymbolList,
            },
            FunctionDef {
                name: "body",
                form: FunctionForm::Region,
            },
        ],
        results: &[ResultDef::variadic("results", TypeConstraint::Any)],
        ..OpDef::new("declared.functions")
    },
    OpDef {
        traits: OpTraits::NON_STRICT,
        operands: &[OperandDef::variadic("values", TypeConstraint::Any)],
        ..OpDef::new("declared.non_strict")
    },
];

/// The ops of the tests.
pub fn registry() -> Arc<Registry> {
    let dialects = [DialectDef {
        shape_attribute: Some("shape"),
        ..DialectDef::new("corert")
    }];
    match Registry::new(&OPS, dialects) {
        Ok(registry) => Arc::new(registry),
        Err(error) => panic!("{error}"),
    }
}

/// Returns the paths of the golden files, which are in folders by family.
pub fn golden_paths() -> impl Iterator<Item = PathBuf> {
    let entries = |folder: PathBuf| {
        let entries = std::fs::read_dir(folder).expect("a folder of golden files");
        entries.map(|entry| entry.expect("a folder entry").path())
    };
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden");
    let families = entries(folder).filter(|path| path.is_dir());
    families.flat_map(entries)
}

/// Returns the bytes of a golden file.
pub fn golden_bytes(name: &str) -> Vec<u8> {
    let mut paths = golden_paths();
    let path = paths
        .find(|path| path.ends_with(name))
        .unwrap_or_else(|| panic!("there is no golden file {name}"));
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns the text of a golden file.
pub fn golden_text(name: &str) -> String {
    String::from_utf8(golden_bytes(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Parses a program.
pub fn parse_text(source: &str, file_name: &str) -> Module {
    let options = ParseOptions {
        allow_unregistered_dialects: true,
    };
    match parse(source, file_name, &registry(), &options) {
        Ok(module) => module,
        Err(errors) => panic!("{file_name}: {}", lines(&errors)),
    }
}

/// Encodes a text as a file.
pub fn encode_text(source: &str, file_name: &str) -> Result<Vec<u8>, Diagnostics> {
    encode(&parse_text(source, file_name), &EncodeOptions::default())
}

/// Decodes the program of a file.
pub fn decode_bytes(bytes: &[u8], file_name: &str) -> Decoded {
    decode(&BefFile::from_bytes(bytes), file_name, &registry())
}

/// Decodes a file as text.
pub fn decode_text(bytes: &[u8], file_name: &str) -> String {
    let decoded = decode_bytes(bytes, file_name);
    match decoded.module {
        Some(module) => print(&module, &PrintOptions::default()),
        None => panic!("{file_name}: {}", lines(&decoded.diagnostics)),
    }
}

/// Returns diagnostics, one a line, without their notes.
pub fn lines(diagnostics: &[Diagnostic]) -> String {
    diagnostics
        .iter()
        .map(|diagnostic| format!("{diagnostic}\n"))
        .collect()
}

/// Returns the text without leading blanks and with single blanks within lines. The number of
/// blanks in printed programs does not matter.
pub fn normal_blanks(text: &str) -> String {
    text.lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ") + "\n")
        .collect()
}
