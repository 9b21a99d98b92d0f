//! Programs that cannot be put in order, and the locations of their errors.

use std::sync::Arc;

use tfrt_compiler::passes::thread_chains;
use tfrt_ir::{ParseOptions, Registry, parse_without_chains};
use tfrt_ods::{Effect, OpDef, OpTraits, OperandDef, ResultDef, TypeConstraint};

use super::check_refusal;
use crate::support::lines;

#[test]
fn ops_that_nobody_declared() {
    check_refusal(
        "func @f() {
  \"x.unknown\"() : () -> ()
  %c = t.start
  %d = \"x.unknown\"(%c) : (!tfrt.chain) -> !tfrt.chain
  \"x.other\"() : () -> ()
  t.return
}",
        "p.mlir:2:3: error: 'x.unknown' op is not declared, so its effects are unknown
p.mlir:5:3: error: 'x.other' op is not declared, so its effects are unknown
",
    );
}

#[test]
fn asynchronous_effects_in_a_synchronous_function() {
    check_refusal(
        "func @s() attributes {tfrt.sync} {
  \"t.print\"() : () -> ()
  t.return
}",
        "p.mlir:2:3: error: 't.print' op needs a chain to keep its order, but a synchronous function has no chains
",
    );
}

#[test]
fn effects_behind_a_call_of_a_synchronous_function() {
    check_refusal(
        "func @s() attributes {tfrt.sync} {
  \"t.print_s\"() : () -> ()
  t.return
}
func @f() {
  t.call @s() : () -> ()
  t.return
}",
        "p.mlir:6:3: error: 't.call' op runs `@s`, which has effects of class `io`, without a chain: it is synchronous
",
    );
}

#[test]
fn effects_in_functions_that_are_run_in_an_undeclared_way() {
    check_refusal(
        "func @f(%x: i32) {
  t.show %x
  t.return
}
func @g(%x: i32) {
  \"t.spawn\"(%x) {callee = @f} : (i32) -> ()
  t.return
}",
        "p.mlir:6:3: error: 't.spawn' op refers to `@f`, which has effects of class `io`, but is not declared to pass chains to it
",
    );
}

#[test]
fn native_functions_that_would_need_chains() {
    check_refusal(
        "func private @n(i32) -> i32 attributes {tfrt.native}
func @loud(%x: i32) -> i32 {
  t.show %x
  t.return %x : i32
}
func @f(%x: i32) {
  %y = \"t.choose\"(%x, %x) {a = @loud, b = @n} : (i32, i32) -> i32
  t.return
}",
        "p.mlir:7:8: error: 't.choose' op needs `@n` to take chains, but this function has no body
",
    );
}

#[test]
fn memory_that_a_native_function_is_handed() {
    check_refusal(
        "func private @n(!t.cell) attributes {tfrt.native}
func @f(%a: !t.cell) {
  \"t.set\"(%a) : (!t.cell) -> ()
  t.call @n(%a) : (!t.cell) -> ()
  t.return
}",
        "p.mlir:4:3: error: 't.call' op passes memory that the program writes to `@n`, whose effects are unknown
",
    );
}

#[test]
fn parallel_runs_that_write_what_they_share() {
    check_refusal(
        "func @f(%x: i32, %y: i32, %a: !t.cell) {
  %done = t.parallel %x to %y by %x, %a : !t.cell {
    \"t.set\"(%a) : (!t.cell) -> ()
    t.return
  }
  t.return
}",
        "p.mlir:2:11: error: 't.parallel' op runs a region concurrently, which writes the same memory each time
",
    );
}

#[test]
fn an_op_that_would_have_to_wait_and_takes_no_chain() {
    check_refusal(
        "func @f() {
  \"t.print\"() : () -> ()
  %x = \"t.whisper\"() : () -> i32
  t.return
}
func @g(%a: !t.cell) {
  \"t.set\"(%a) : (!t.cell) -> ()
  %x = \"t.peek\"(%a) : (!t.cell) -> i32
  t.return
}
func @h(%x: i32) {
  %y = \"t.whisper\"() : () -> i32
  \"t.print\"() : () -> ()
  t.return
}",
        "p.mlir:3:8: error: 't.whisper' op must come after 't.print', but takes no chain
  p.mlir:2:3: the earlier op is here
p.mlir:8:8: error: 't.peek' op must come after 't.set', but takes no chain
  p.mlir:7:3: the earlier op is here
p.mlir:12:8: error: 't.whisper' op must come after the effects before its function starts, but takes no chain
  p.mlir:11:1: the earlier op is here
",
    );
}

#[test]
fn an_op_that_gives_nothing_to_wait_for() {
    check_refusal(
        "func @f() {
  \"t.shout\"() : () -> ()
  \"t.print\"() : () -> ()
  t.return
}
func @g(%a: !t.cell) {
  \"t.watch\"(%a) : (!t.cell) -> ()
  \"t.set\"(%a) : (!t.cell) -> ()
  t.return
}",
        "p.mlir:2:3: error: 't.shout' op returns nothing that 't.print' could wait for
  p.mlir:3:3: the later op is here
p.mlir:7:3: error: 't.watch' op returns nothing that 't.set' could wait for
  p.mlir:8:3: the later op is here
",
    );
}

#[test]
fn functions_of_several_blocks() {
    check_refusal(
        "func @f() {
  \"x.branch\"()[^next] : () -> ()
^next:
  t.return
}",
        "p.mlir:1:1: error: 'builtin.func' op has several blocks, but chains can be threaded through a single block only
p.mlir:2:3: error: 'x.branch' op is not declared, so its effects are unknown
",
    );
}

#[test]
fn ends_that_nobody_declared() {
    check_refusal(
        "func @f() -> i32 {
  \"t.print\"() : () -> ()
  %c = t.start
  \"x.end\"(%c) : (!tfrt.chain) -> ()
}",
        "p.mlir:4:3: error: 'x.end' op ends a body but is not declared as a terminator, so its effect on results is unknown
",
    );
}

#[test]
fn declarations_without_ops_for_chains() {
    static OPS: [OpDef; 2] = [
        OpDef {
            operands: &[OperandDef::variadic("values", TypeConstraint::Any)],
            traits: OpTraits::TERMINATOR,
            assembly_format: Some("(operands `:` type(operands))?"),
            ..OpDef::new("s.return")
        },
        OpDef {
            operands: &[OperandDef::new("in", TypeConstraint::Exact("!tfrt.chain"))],
            results: &[ResultDef::new("out", TypeConstraint::Exact("!tfrt.chain"))],
            traits: OpTraits::OPTIONAL_CHAIN,
            effect: Effect::IO,
            ..OpDef::new("s.print")
        },
    ];
    let registry = Arc::new(Registry::new(&OPS, []).unwrap_or_else(|error| panic!("{error}")));
    let thread = |source: &str| {
        let module = parse_without_chains(source, "p.mlir", &registry, &ParseOptions::default());
        let mut module = module.unwrap_or_else(|errors| panic!("{}", lines(&errors)));
        let root = module.root();
        thread_chains(&mut module, root).map_err(|errors| lines(&errors))
    };
    assert_eq!(thread("func @f() {\n  s.return\n}"), Ok(()));
    assert_eq!(
        thread("func @f() {\n  \"s.print\"() : () -> ()\n  s.return\n}"),
        Err("p.mlir:0:0: error: no declared op starts chains\np.mlir:0:0: error: no declared op merges chains\n".into())
    );
}
