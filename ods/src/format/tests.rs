//! The rejected formats, with the messages and their locations.

use super::*;
use crate::constraint::{AttrKind, TypeConstraint};
use crate::op::{AttrDef, FunctionDef, FunctionForm, OperandDef, ResultDef};

const DEF: OpDef = OpDef {
    operands: &[
        OperandDef::new("a", TypeConstraint::Exact("i32")),
        OperandDef::variadic("rest", TypeConstraint::Any),
    ],
    attributes: &[
        AttrDef::new("n", AttrKind::I64),
        AttrDef::new("s", AttrKind::String),
    ],
    functions: &[
        FunctionDef {
            name: "f",
            form: FunctionForm::Symbol,
        },
        FunctionDef {
            name: "body",
            form: FunctionForm::Region,
        },
    ],
    results: &[ResultDef::variadic("out", TypeConstraint::Any)],
    ..OpDef::new("t.op")
};

fn check(format: &'static str, expected: &str) {
    let def = OpDef {
        assembly_format: Some(format),
        ..DEF
    };
    let found = Format::parse(&def).map_or_else(|error| error.to_string(), |_| "fine".into());
    assert_eq!(found, expected, "{format}");
}

#[test]
fn a_format_that_shows_everything_is_fine() {
    check(
        "$a `,` $rest $f attr-dict `:` functional-type($rest, $out) region($body, $a, $rest)",
        "fine",
    );
    check(
        "operands $f $n $s (`:` type-list($rest, $out))? region($body)",
        "fine",
    );
    check(
        "operands $f attr-dict `:` signature($rest, results) (`x` region($body) | \
         empty-region($body, \"t.r\"))",
        "fine",
    );
    check(
        "$a (`,` $rest^ `:` type($rest))? $f `` `<` $n ` ` $s `>` regions (`->` type($out)^) : \
         (`none`)?",
        "fine",
    );
    check(
        "operands $f attr-dict-with-keyword $body `:` type-list(operands, results)",
        "fine",
    );
}

#[test]
fn mistakes_of_grammar_are_located() {
    check("operands `to", "expected a closing ` at byte 9");
    check("operands $", "expected a name after `$` at byte 9");
    check(
        "operands $x",
        "there is no operand, attribute or function named `x` at byte 9",
    );
    check("operands wave", "unknown directive `wave` at byte 9");
    check("operands ($n", "expected `)` at byte 12");
    check("operands ()?", "expected an element in the group at byte 9");
    check("operands ($n)", "expected `?` at byte 13");
    check("operands )", "unexpected end of a group at byte 9");
    check(
        "operands type($n)",
        "there is no operand or result named `n` at byte 14",
    );
    check("operands @", "unexpected character `@` at byte 9");
    check("operands é", "unexpected character `é` at byte 9");
    check(
        "`a b`",
        "`a b` is neither a keyword nor punctuation at byte 0",
    );
    check(
        "operands `;`",
        "`;` is neither a keyword nor punctuation at byte 9",
    );
    check("expect($a, \"\")", "expected a non-empty string at byte 11");
    check("$a^", "expected an anchor inside of a group at byte 2");
    check(
        "$a ($rest^ $f^)?",
        "expected at most one anchor in a group at byte 11",
    );
    check(
        "$a ($rest) : ($f^)?",
        "expected at most one anchor in a group at byte 14",
    );
    check("$a ($rest) : $f", "expected `(` at byte 13");
    check("type($a", "expected `)` at byte 7");
    check("functional-type($a)", "expected `,` at byte 18");
    check("result-count($a)", "expected a result at byte 13");
    check("known(a)", "expected an operand at byte 6");
    check(
        "operands known($a by $a)",
        "there is no attribute named `a` at byte 21",
    );
    check(
        "shared-type($a, $out)",
        "there is no attribute named `a` at byte 12",
    );
    check("typed($a)", "there is no attribute named `a` at byte 6");
    check("region($f)", "there is no region named `f` at byte 7");
    check(
        String::leak("(".repeat(9)),
        "groups nest too deeply at byte 8",
    );
    check(
        String::leak("`x` ".repeat(65)),
        "too many elements at byte 256",
    );
    check(
        String::leak(" ".repeat(4097)),
        "the format is too long: expected at most 4096 bytes at byte 4096",
    );
}

#[test]
fn what_is_missing_or_there_twice_is_named() {
    let rest = "$f attr-dict `:` functional-type($rest, $out) region($body)";
    for (format, expected) in [
        ("$a", "no element shows operand `rest`"),
        ("operands $a", "operand `a` is shown twice at byte 9"),
    ] {
        check(String::leak(format!("{format} {rest}")), expected);
    }
    check(
        "operands $f attr-dict `:` type($rest) region($body)",
        "no element determines the type of result `out`",
    );
    check(
        "operands $f attr-dict `:` type($out) region($body)",
        "no element determines the type of operand `rest`",
    );
    check(
        "operands $f $n `:` functional-type($rest, $out) region($body)",
        "no element shows attribute `s`",
    );
    check(
        "operands attr-dict attr-dict `:` functional-type($rest, $out) region($body)",
        "the attribute dictionary is shown twice at byte 19",
    );
    check(
        "operands attr-dict `:` functional-type($rest, $out)",
        "no element shows function `body`",
    );
    for element in ["$body", "region($body)", "`{`"] {
        check(
            String::leak(format!("operands attr-dict {element}")),
            "this is ambiguous with the attribute dictionary: use attr-dict-with-keyword at byte 19",
        );
    }
    check(
        "operands attr-dict key-values($s) `:` functional-type($rest, $out)",
        "attribute `s` is not an integer at byte 19",
    );
    check(
        "operands attr-dict (type-list($rest, $out))? region($body)",
        "expected a literal that marks the group as present at byte 19",
    );
}
