//! Rules that no golden program violates.

use std::sync::Arc;

use tfrt_ods::{DialectDef, OpDef, OpTraits, OperandDef, TypeConstraint};

use super::*;
use crate::registry::Registry;
use crate::{ParseOptions, parse};

static DECLARED: [&OpDef; 3] = [
    &OpDef {
        operands: &[OperandDef::variadic("values", TypeConstraint::Any)],
        traits: OpTraits::TERMINATOR,
        ..OpDef::new("t.return")
    },
    &OpDef {
        traits: OpTraits::ISOLATED,
        ..OpDef::new("t.isolated")
    },
    &OpDef {
        operands: &[OperandDef::new("a", TypeConstraint::Exact("i32"))],
        ..OpDef::new("t.use")
    },
];

/// Checks the rule violations of a program.
fn check(source: &str, expected: &[&str]) {
    let strict = DialectDef {
        allows_unknown_ops: false,
        ..DialectDef::new("strict")
    };
    let registry =
        Arc::new(Registry::new(DECLARED, [strict]).expect("the declarations fit together"));
    let module = parse(
        source,
        "f",
        &registry,
        &ParseOptions {
            allow_unregistered_dialects: true,
        },
    )
    .unwrap_or_else(|errors| panic!("{}", errors[0]));
    let all = verify(
        &module,
        &VerifyOptions {
            stops_at_first: false,
            shows_op: false,
            refuses_stray_attributes: false,
        },
    );
    let mut found: Vec<String> = Vec::new();
    for diagnostic in &all {
        found.push(diagnostic.to_string());
        found.extend(diagnostic.notes.iter().map(|note| note.to_string()));
    }
    assert_eq!(found, expected);
    let first = verify(
        &module,
        &VerifyOptions {
            stops_at_first: true,
            shows_op: false,
            refuses_stray_attributes: false,
        },
    );
    assert_eq!(first, all[..all.len().min(1)]);
}

#[test]
fn one_run_reports_every_breach() {
    check(
        "func @f(%x: i64) {\n \"t.use\"(%x) : (i64) -> ()\n \"t.use\"() : () -> i32\n}\nfunc @f()",
        &[
            "f:5:1: error: redefinition of symbol named 'f'",
            "f:1:1: note: see existing symbol definition here",
            "f:2:2: error: 't.use' op operand #0 must be 32-bit signless integer, but got 'i64'",
            "f:3:2: error: 't.use' op requires zero results",
            "f:3:2: error: 't.use' op requires a single operand",
            "f:3:2: error: block with no terminator, has %0 = \"t.use\"() : () -> i32",
            "f:5:1: error: 'builtin.func' op symbol declaration cannot have public visibility",
        ],
    );
}

#[test]
fn a_definition_must_be_on_every_path() {
    let diamond = |defined: &str, used: &str| {
        format!(
            "\"a\"() ({{\n \"br\"()[^l, ^r] : () -> ()\n^l:\n {defined}\n \"br\"()[^e] : () -> ()\n^r:\n \"br\"()[^e] : () -> ()\n^e:\n {used}\n}}) : () -> ()"
        )
    };
    let (define, use_) = ("%v = \"m\"() : () -> i32", "\"t.return\"(%v) : (i32) -> ()");
    check(
        &diamond(define, use_),
        &[
            "f:9:2: error: operand #0 does not dominate this use",
            "f:4:7: note: operand defined here (op in the same region)",
        ],
    );
    check(
        &diamond(
            &format!("{define} \"n\"(%v) : (i32) -> ()"),
            "\"end\"() : () -> ()",
        ),
        &[],
    );
    check(
        &diamond(
            "\"n\"() : () -> ()",
            "\"br\"()[^e2] : () -> ()\n^e2:\n \"end\"() : () -> ()\n^dead:\n \"t.return\"(%v) : (i32) -> ()\n^dead2:\n %v = \"m\"() : () -> i32\n \"end\"() : () -> ()",
        ),
        &[],
    );
}

#[test]
fn loops_lead_back_to_blocks_that_dominate() {
    check(
        "\"a\"() ({\n \"br\"()[^h] : () -> ()\n^h:\n %v = \"m\"() : () -> i32\n \"br\"()[^b, ^e] : () -> ()\n^b:\n \"n\"(%v)[^h] : (i32) -> ()\n^e:\n \"n\"(%v) : (i32) -> ()\n}) : () -> ()",
        &[],
    );
    check(
        "\"a\"() ({\n^s:\n \"br\"()[^s] : () -> ()\n}) : () -> ()",
        &["f:1:1: error: entry block of region may not have predecessors"],
    );
}

#[test]
fn a_value_is_not_used_inside_of_its_own_op() {
    check(
        "func @f() {\n %v = \"a\"() ({\n  \"u\"(%v) : (i32) -> ()\n }) : () -> i32\n}",
        &[
            "f:3:3: error: operand #0 does not dominate this use",
            "f:2:7: note: operand defined here (op in a parent region)",
        ],
    );
}

#[test]
fn isolated_ops_use_nothing_from_outside() {
    check(
        "func @f(%x: i32) {\n \"t.isolated\"() ({\n  \"a\"() ({\n   \"u\"(%x) : (i32) -> ()\n  }) : () -> ()\n }) : () -> ()\n \"t.return\"() : () -> ()\n}",
        &[
            "f:4:4: error: 'u' op using value defined outside the region",
            "f:2:2: note: required by region isolation constraints",
            "f:2:2: error: 't.isolated' op requires zero regions",
        ],
    );
}

#[test]
fn ops_of_a_closed_dialect_are_declared() {
    check(
        "\"strict.x\"() : () -> ()",
        &[
            "f:1:1: error: unregistered operation 'strict.x' found in dialect ('strict') that \
             does not allow unknown operations",
        ],
    );
}

#[test]
fn blocks_end_where_they_should() {
    check(
        "func @f() {\n \"br\"()[^x] : () -> ()\n \"t.return\"() : () -> ()\n^x:\n}",
        &[
            "f:2:2: error: operation with block successors must terminate its parent block",
            "f:1:1: error: empty block: expect at least a terminator",
        ],
    );
    check(
        "func @f() {\n \"t.return\"() : () -> ()\n \"end\"() : () -> ()\n}",
        &["f:2:2: error: 't.return' op must be the last operation in the parent block"],
    );
}

#[test]
fn functions_stand_in_modules_and_match_their_type() {
    check(
        "func @f(%x: i32) {\n \"builtin.func\"() ({\n ^b(%y: i64):\n  \"t.return\"() : () -> ()\n }) {sym_name = \"g\", type = (i32) -> (), sym_visibility = \"odd\"} : () -> ()\n \"t.return\"() : () -> ()\n}\n\"builtin.func\"() ({}) {sym_name = 1} : () -> ()",
        &[
            "f:2:2: error: 'builtin.func' op visibility expected to be one of [\"public\", \
             \"private\", \"nested\"], but got \"odd\"",
            "f:2:2: error: 'builtin.func' op symbol's parent must have the SymbolTable trait",
            "f:2:2: error: 'builtin.func' op type of entry block argument #0('i64') must match \
             the type of the corresponding argument in function signature('i32')",
            "f:8:1: error: 'builtin.func' op requires string attribute 'sym_name'",
            "f:8:1: error: 'builtin.func' op requires 'type' attribute of function type",
        ],
    );
}

#[test]
fn modules_take_no_arguments() {
    check(
        "\"builtin.module\"() ({\n^b(%x: i32):\n \"t.op\"() : () -> ()\n}) : () -> ()",
        &["f:1:1: error: 'builtin.module' op region should have no arguments"],
    );
}
