//! The effect of passes on modules, symbols and programs that would grow without bound. Their
//! effect on kernels is tested with the kernels.

use std::sync::Arc;

use tfrt_compiler::passes::{MAX_GROWTH_OPS, Pipeline};
use tfrt_ir::{Module, ParseOptions, PrintOptions, Registry, VerifyOptions, parse, print};
use tfrt_ods::{
    AttrDef, AttrKind, AttrPath, DialectDef, Effect, Fold, FunctionDef, FunctionForm, OpDef,
    OpTraits, OperandDef, ResultDef, TypeConstraint,
};

use crate::support::lines;

const ANY: &[OperandDef] = &[OperandDef::variadic("values", TypeConstraint::Any)];

static OPS: [OpDef; 10] = [
    OpDef {
        operands: ANY,
        traits: OpTraits::TERMINATOR,
        assembly_format: Some("(operands `:` type(operands))?"),
        ..OpDef::new("t.return")
    },
    OpDef {
        operands: ANY,
        functions: &[FunctionDef {
            name: "callee",
            form: FunctionForm::Symbol,
        }],
        results: &[ResultDef::variadic("results", TypeConstraint::Any)],
        traits: OpTraits::CALL,
        assembly_format: Some(
            "$callee `(` $values `)` attr-dict `:` functional-type($values, $results)",
        ),
        ..OpDef::new("t.call")
    },
    OpDef {
        operands: ANY,
        results: &[ResultDef::new("sum", TypeConstraint::Exact("i32"))],
        assembly_format: Some("operands attr-dict `:` type(operands)"),
        ..OpDef::new("t.sum")
    },
    CONSTANT,
    // Its regions see the values around it.
    OpDef {
        functions: &[
            FunctionDef {
                name: "one",
                form: FunctionForm::Region,
            },
            FunctionDef {
                name: "other",
                form: FunctionForm::Region,
            },
        ],
        ..OpDef::new("t.branches")
    },
    OpDef {
        results: &[ResultDef::new("value", TypeConstraint::Exact("i32"))],
        effect: Effect::Reads("io"),
        ..OpDef::new("t.count")
    },
    OpDef {
        results: &[ResultDef::new("value", TypeConstraint::Exact("i32"))],
        effect: Effect::IO,
        ..OpDef::new("t.ask")
    },
    // Folds to the second element of a list.
    OpDef {
        attributes: &[AttrDef::new("of", AttrKind::Array(&AttrKind::I32))],
        results: &[ResultDef::new("value", TypeConstraint::Exact("i32"))],
        traits: OpTraits::PURE,
        assembly_format: Some("attr-dict"),
        folder: Some(|_| {
            Some(Fold {
                constant: &CONSTANT,
                value: AttrPath {
                    attribute: "of",
                    indices: vec![1],
                },
                is_ordered: true,
            })
        }),
        ..OpDef::new("t.second")
    },
    // Folds to the second element of a list, once a number is available.
    OpDef {
        operands: &[OperandDef::new("after", TypeConstraint::Exact("i32"))],
        attributes: &[AttrDef::new("of", AttrKind::Array(&AttrKind::I32))],
        results: &[ResultDef::new("value", TypeConstraint::Exact("i32"))],
        traits: OpTraits::PURE,
        folder: Some(|_| {
            Some(Fold {
                constant: &CONSTANT,
                value: AttrPath {
                    attribute: "of",
                    indices: vec![1],
                },
                is_ordered: true,
            })
        }),
        ..OpDef::new("t.third")
    },
    OpDef {
        operands: &[OperandDef {
            is_mutated: true,
            ..OperandDef::new("value", TypeConstraint::Exact("i32"))
        }],
        results: &[ResultDef::new("value", TypeConstraint::Exact("i32"))],
        ..OpDef::new("t.write")
    },
];

static CONSTANT: OpDef = OpDef {
    attributes: &[AttrDef::new("value", AttrKind::I32)],
    results: &[ResultDef::new("value", TypeConstraint::Exact("i32"))],
    traits: OpTraits::PURE.with(OpTraits::CONSTANT),
    assembly_format: Some("$value attr-dict"),
    ..OpDef::new("t.constant")
};

fn run(pipeline: &str, source: &str) -> Module {
    let dialect = DialectDef {
        allows_inlining: true,
        ..DialectDef::new("t")
    };
    let registry = match Registry::new(&OPS, [dialect]) {
        Ok(registry) => Arc::new(registry),
        Err(error) => panic!("{error}"),
    };
    let mut module = match parse(source, "p.mlir", &registry, &ParseOptions::default()) {
        Ok(module) => module,
        Err(errors) => panic!("{}", lines(&errors)),
    };
    let findings = match Pipeline::parse(pipeline) {
        Ok(pipeline) => pipeline.run(&mut module, Some(VerifyOptions::default())),
        Err(error) => panic!("{error}"),
    };
    assert_eq!(lines(&findings), "");
    module
}

fn check(pipeline: &str, source: &str, expected: &str) {
    let printed = print(&run(pipeline, source), &PrintOptions::default());
    assert_eq!(printed, expected);
}

#[test]
fn what_only_reads_goes_when_nobody_uses_it() {
    check(
        "canonicalize",
        "func @f() -> i32 {
  %a = \"t.count\"() : () -> i32
  %b = \"t.count\"() : () -> i32
  %c = \"t.ask\"() : () -> i32
  t.return %b : i32
}",
        "module {
  func @f() -> i32 {
    %0 = \"t.count\"() : () -> i32
    %1 = \"t.ask\"() : () -> i32
    t.return %0 : i32
  }
}
",
    );
}

#[test]
fn an_op_replaces_equal_ones_that_it_dominates() {
    check(
        "cse",
        "func @f(%c: i1) -> i32 {
  %a = t.constant 1
  %b = t.constant 1
  %unused = t.constant 2
  \"t.branches\"() ({
    %d = t.constant 1
    %e = t.constant 3
    t.return %d, %e : i32, i32
  }, {
    %g = t.constant 3
    t.return %g : i32
  }) : () -> ()
  %h = t.constant 3
  %i = \"t.count\"() : () -> i32
  %j = \"t.count\"() : () -> i32
  %k = t.sum %b, %h, %i, %j : i32, i32, i32, i32
  %l = t.sum %b, %h, %i, %j : i32, i32, i32, i32
  t.return %k : i32
}",
        "module {
  func @f(%arg0: i1) -> i32 {
    %0 = t.constant 1
    \"t.branches\"() ({
      %6 = t.constant 3
      t.return %0, %6 : i32, i32
    }, {
      %6 = t.constant 3
      t.return %6 : i32
    }) : () -> ()
    %1 = t.constant 3
    %2 = \"t.count\"() : () -> i32
    %3 = \"t.count\"() : () -> i32
    %4 = t.sum %0, %1, %2, %3 : i32, i32, i32, i32
    %5 = t.sum %0, %1, %2, %3 : i32, i32, i32, i32
    t.return %4 : i32
  }
}
",
    );
}

#[test]
fn functions_of_one_name_in_two_modules_are_two_functions() {
    check(
        "inline",
        "module {
  func private @f(%x: i32) -> i32 {
    t.return %x : i32
  }
  module @inner {
    func private @f() {
      t.return
    }
    func @g() {
      t.call @f() : () -> ()
      t.return
    }
  }
  func @h(%x: i32) -> i32 {
    %y = t.call @f(%x) : (i32) -> i32
    t.return %y : i32
  }
}",
        "module {
  module @inner {
    func @g() {
      t.return
    }
  }
  func @h(%arg0: i32) -> i32 {
    t.return %arg0 : i32
  }
}
",
    );
}

#[test]
fn a_reference_from_outside_keeps_a_private_function() {
    let source = "module {
  module @inner {
    func private @f() {
      t.return
    }
  }
  t.return {where = [[@inner::@f]]}
}
";
    let source = source.replace("t.return {", "\"t.sum\"() {");
    let source = source.replace("]]}", "]]} : () -> i32");
    let printed = print(&run("inline", &source), &PrintOptions::default());
    assert!(printed.contains("func private @f()"), "{printed}");
}

#[test]
fn functions_that_double_again_and_again_stop_growing() {
    let mut source =
        String::from("func @f0(%x: i32) -> i32 {\n  %y = t.sum %x : i32\n  t.return %y : i32\n}\n");
    for level in 1..16 {
        let below = level - 1;
        source.push_str(&format!(
            "func @f{level}(%x: i32) -> i32 {{
  %y = t.call @f{below}(%x) : (i32) -> i32
  %z = t.call @f{below}(%y) : (i32) -> i32
  t.return %z : i32
}}
"
        ));
    }
    let module = run("inline", &source);
    let sizes: Vec<usize> = module
        .functions(module.root())
        .map(|func| module.walk(func).len())
        .collect();
    assert_eq!(sizes[..4], [3, 4, 6, 10]);
    assert!(sizes.iter().all(|size| *size <= MAX_GROWTH_OPS + 4));
    assert!(sizes[15] > MAX_GROWTH_OPS / 4, "{sizes:?}");
}

#[test]
fn what_folds_becomes_a_constant_among_others() {
    check(
        "canonicalize",
        "func @f() -> (i32, i32, i32) {
  %n = t.sum : () -> i32
  %a = t.second {of = [1 : i32, 2 : i32]}
  %b = t.constant 2
  %c = t.constant 3
  %unused = t.second {of = [1 : i32, 2 : i32]}
  t.return %a, %b, %c : i32, i32, i32
}"
        .replace("t.sum : () -> i32", "\"t.sum\"() : () -> i32")
        .as_str(),
        "module {
  func @f() -> (i32, i32, i32) {
    %0 = t.constant 2
    %1 = t.constant 3
    %2 = t.sum :
    t.return %0, %0, %1 : i32, i32, i32
  }
}
",
    );
}

#[test]
fn what_folds_is_kept_where_its_users_would_start_earlier() {
    // The first sum waits for the number in any case; the second one and the caller do not.
    check(
        "canonicalize",
        "func @f(%x: i32) -> (i32, i32, i32) {
  %a = \"t.third\"(%x) {of = [1 : i32, 2 : i32]} : (i32) -> i32
  %b = t.sum %a, %x : i32, i32
  %c = t.sum %a : i32
  t.return %a, %b, %c : i32, i32, i32
}",
        "module {
  func @f(%arg0: i32) -> (i32, i32, i32) {
    %0 = t.constant 2
    %1 = \"t.third\"(%arg0) {of = [1 : i32, 2 : i32]} : (i32) -> i32
    %2 = t.sum %0, %arg0 : i32, i32
    %3 = t.sum %1 : i32
    t.return %1, %2, %3 : i32, i32, i32
  }
}
",
    );
}

#[test]
fn what_folds_and_waits_for_nothing_goes() {
    check(
        "canonicalize",
        "func @f() -> i32 {
  %x = t.constant 1
  %a = \"t.third\"(%x) {of = [1 : i32, 2 : i32]} : (i32) -> i32
  t.return %a : i32
}",
        "module {
  func @f() -> i32 {
    %0 = t.constant 2
    t.return %0 : i32
  }
}
",
    );
}

#[test]
fn a_call_stays_if_its_body_would_write_before_its_arguments_are_there() {
    let source = "module {
  func private @f(%arg0: i32, %arg1: i32) -> i32 {
    %0 = \"t.write\"(%arg0) : (i32) -> i32
    t.return %0 : i32
  }
  func @g(%arg0: i32, %arg1: i32) -> i32 {
    %0 = t.call @f(%arg0, %arg1) : (i32, i32) -> i32
    t.return %0 : i32
  }
}
";
    check("inline", source, source);
}

#[test]
fn passes_on_functions_leave_other_functions_alone() {
    check(
        "func(canonicalize)",
        "module {
  module @inner {
    func @f() {
      %unused = t.constant 1
      t.return
    }
  }
  func @g() {
    %unused = t.constant 1
    t.return
  }
}",
        "module {
  module @inner {
    func @f() {
      %0 = t.constant 1
      t.return
    }
  }
  func @g() {
    t.return
  }
}
",
    );
}
