//! Ops of the tests: one of each kind that the pass distinguishes.

use std::sync::Arc;

use tfrt_ir::Registry;
use tfrt_ods::{
    DialectDef, Effect, FunctionDef, FunctionForm, OpDef, OpTraits, OperandDef, ResultDef,
    TypeConstraint,
};

const I32: TypeConstraint = TypeConstraint::Exact("i32");
const CELL: TypeConstraint = TypeConstraint::Exact("!t.cell");
const VIEW: TypeConstraint = TypeConstraint::Exact("!t.view");
const CHAIN: TypeConstraint = TypeConstraint::Exact("!tfrt.chain");
const ANY: &[OperandDef] = &[OperandDef::variadic("values", TypeConstraint::Any)];
const ANY_RESULTS: &[ResultDef] = &[ResultDef::variadic("results", TypeConstraint::Any)];

const fn mutated(name: &'static str, ty: TypeConstraint) -> OperandDef {
    OperandDef {
        is_mutated: true,
        ..OperandDef::new(name, ty)
    }
}

const fn reference(name: &'static str) -> OperandDef {
    OperandDef {
        is_reference: true,
        ..OperandDef::new(name, TypeConstraint::Any)
    }
}

const fn symbol(name: &'static str) -> FunctionDef {
    FunctionDef {
        name,
        form: FunctionForm::Symbol,
    }
}

/// An op that is ordered by its last operand and its last result.
const CHAINED: OpDef = OpDef {
    operands: &[OperandDef::new("in", CHAIN)],
    results: &[ResultDef::new("out", CHAIN)],
    traits: OpTraits::OPTIONAL_CHAIN,
    ..OpDef::new("")
};

/// An op that runs functions.
const RUNS: OpDef = OpDef {
    operands: ANY,
    results: ANY_RESULTS,
    traits: OpTraits::FORWARDS,
    ..OpDef::new("")
};

static OPS: [OpDef; 31] = [
    OpDef {
        operands: ANY,
        traits: OpTraits::TERMINATOR,
        assembly_format: Some("(operands `:` type(operands))?"),
        ..OpDef::new("t.return")
    },
    OpDef {
        results: &[ResultDef::new("chain", CHAIN)],
        traits: OpTraits::PURE.with(OpTraits::CHAIN_SOURCE),
        assembly_format: Some("attr-dict"),
        ..OpDef::new("t.start")
    },
    OpDef {
        operands: &[OperandDef {
            is_reference: true,
            ..OperandDef::variadic("values", TypeConstraint::Any)
        }],
        results: &[ResultDef::new("chain", CHAIN)],
        traits: OpTraits::PURE.with(OpTraits::CHAIN_MERGE),
        assembly_format: Some("operands attr-dict `:` type(operands)"),
        ..OpDef::new("t.merge")
    },
    OpDef {
        results: &[ResultDef::new("x", I32)],
        traits: OpTraits::PURE,
        assembly_format: Some("attr-dict"),
        ..OpDef::new("t.number")
    },
    OpDef {
        name: "t.print",
        effect: Effect::IO,
        ..CHAINED
    },
    OpDef {
        operands: &[OperandDef::new("value", I32), OperandDef::new("in", CHAIN)],
        effect: Effect::IO,
        assembly_format: Some("operands attr-dict"),
        name: "t.show",
        ..CHAINED
    },
    OpDef {
        name: "t.count",
        results: &[ResultDef::new("number", I32), ResultDef::new("out", CHAIN)],
        effect: Effect::Reads("io"),
        ..CHAINED
    },
    OpDef {
        name: "t.draw",
        results: &[ResultDef::new("number", I32), ResultDef::new("out", CHAIN)],
        effect: Effect::RANDOM,
        ..CHAINED
    },
    OpDef {
        // A chain goes in after all other operands, and none comes out.
        results: &[ResultDef::new("x", I32)],
        traits: OpTraits::EXTRA_CHAIN,
        effect: Effect::IO,
        ..OpDef::new("t.ask")
    },
    OpDef {
        traits: OpTraits::EXTRA_CHAIN,
        effect: Effect::IO,
        ..OpDef::new("t.shout")
    },
    OpDef {
        // Its author does not want an order.
        effect: Effect::IO,
        results: &[ResultDef::new("x", I32)],
        ..OpDef::new("t.whisper")
    },
    OpDef {
        results: &[ResultDef::new("cell", CELL)],
        traits: OpTraits::EXTRA_CHAIN,
        assembly_format: Some("attr-dict"),
        ..OpDef::new("t.make")
    },
    OpDef {
        name: "t.set",
        operands: &[mutated("cell", CELL), OperandDef::new("in", CHAIN)],
        ..CHAINED
    },
    OpDef {
        name: "t.set_to",
        operands: &[
            mutated("cell", CELL),
            OperandDef::new("value", I32),
            OperandDef::new("in", CHAIN),
        ],
        ..CHAINED
    },
    OpDef {
        operands: &[OperandDef::new("cell", CELL)],
        results: &[ResultDef::new("value", I32)],
        traits: OpTraits::EXTRA_CHAIN,
        ..OpDef::new("t.get")
    },
    OpDef {
        operands: &[OperandDef::new("a", CELL), OperandDef::new("b", CELL)],
        results: &[ResultDef::new("value", I32)],
        traits: OpTraits::EXTRA_CHAIN,
        ..OpDef::new("t.both")
    },
    OpDef {
        operands: &[OperandDef::new("cell", CELL), OperandDef::new("value", I32)],
        results: &[ResultDef::new("sum", I32)],
        traits: OpTraits::EXTRA_CHAIN,
        ..OpDef::new("t.get_plus")
    },
    OpDef {
        // Reads, and cannot wait.
        operands: &[OperandDef::new("cell", CELL)],
        results: &[ResultDef::new("value", I32)],
        ..OpDef::new("t.peek")
    },
    OpDef {
        // Reads, and does not signal when it is done.
        operands: &[OperandDef::new("cell", CELL)],
        traits: OpTraits::EXTRA_CHAIN,
        ..OpDef::new("t.watch")
    },
    OpDef {
        name: "t.print_cell",
        operands: &[OperandDef::new("cell", CELL), OperandDef::new("in", CHAIN)],
        effect: Effect::IO,
        ..CHAINED
    },
    OpDef {
        operands: &[OperandDef::new("cell", CELL)],
        results: &[ResultDef {
            alias_of: Some("cell"),
            ..ResultDef::new("view", VIEW)
        }],
        traits: OpTraits::EXTRA_CHAIN,
        ..OpDef::new("t.view")
    },
    OpDef {
        operands: &[OperandDef::new("view", VIEW)],
        results: &[ResultDef::new("value", I32)],
        traits: OpTraits::EXTRA_CHAIN,
        ..OpDef::new("t.get_view")
    },
    OpDef {
        operands: &[reference("value")],
        results: &[ResultDef::new("same", TypeConstraint::SameAs("value"))],
        traits: OpTraits::EXTRA_CHAIN,
        ..OpDef::new("t.same")
    },
    OpDef {
        name: "t.call",
        functions: &[symbol("callee")],
        traits: OpTraits::CALL,
        assembly_format: Some(
            "$callee `(` $values `)` attr-dict `:` functional-type($values, $results)",
        ),
        ..RUNS
    },
    OpDef {
        name: "t.choose",
        functions: &[symbol("a"), symbol("b")],
        operands: &[
            OperandDef::new("which", I32),
            OperandDef::new("in", CHAIN),
            OperandDef::variadic("values", TypeConstraint::Any),
        ],
        results: &[
            ResultDef::new("out", CHAIN),
            ResultDef::variadic("results", TypeConstraint::Any),
        ],
        ..RUNS
    },
    OpDef {
        name: "t.loop",
        functions: &[FunctionDef {
            name: "body",
            form: FunctionForm::Region,
        }],
        traits: OpTraits::FORWARDS
            .with(OpTraits::LOOPS)
            .with(OpTraits::ISOLATED),
        assembly_format: Some(
            "$values attr-dict `:` type-list($values, $results) region($body, $values)",
        ),
        ..RUNS
    },
    OpDef {
        operands: &[
            OperandDef::new("start", I32),
            OperandDef::new("end", I32),
            OperandDef::new("size", I32),
            OperandDef::variadic("values", TypeConstraint::Any),
        ],
        results: &[ResultDef::new("done", CHAIN)],
        functions: &[FunctionDef {
            name: "body",
            form: FunctionForm::Region,
        }],
        traits: OpTraits::PARALLEL.with(OpTraits::ISOLATED),
        assembly_format: Some(
            "$start `to` $end `by` operands($size, $values) (`:` type($values))? region($body, \
             $start, $end, $values)",
        ),
        ..OpDef::new("t.parallel")
    },
    OpDef {
        // Runs a function, with arguments that are not declared.
        operands: ANY,
        functions: &[symbol("callee")],
        ..OpDef::new("t.spawn")
    },
    OpDef {
        operands: &[OperandDef::new("value", I32)],
        results: &[ResultDef::new("value", I32)],
        functions: &[symbol("function")],
        traits: OpTraits::EXTRA_CHAIN,
        ..OpDef::new("t.run_sync")
    },
    OpDef {
        traits: OpTraits::SYNC,
        effect: Effect::IO,
        ..OpDef::new("t.print_s")
    },
    OpDef {
        operands: &[mutated("cell", CELL)],
        traits: OpTraits::SYNC,
        ..OpDef::new("t.set_s")
    },
];

/// The ops.
pub fn registry() -> Arc<Registry> {
    match Registry::new(&OPS, [DialectDef::new("t")]) {
        Ok(registry) => Arc::new(registry),
        Err(error) => panic!("{error}"),
    }
}
