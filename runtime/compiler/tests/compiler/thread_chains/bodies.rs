//! Chains across functions and regions: which of them go in and out.

use super::{check, text_of, thread};

#[test]
fn a_function_gains_a_chain_for_each_of_its_orders() {
    check(
        "func @f(%a: !t.cell) -> i32 {
  %r = \"t.draw\"() : () -> i32
  \"t.set_to\"(%a, %r) : (!t.cell, i32) -> ()
  t.show %r
  t.return %r : i32
}
func @g(%a: !t.cell) -> i32 {
  %x = t.call @f(%a) : (!t.cell) -> i32
  t.return %x : i32
}",
        "func @f(%arg0: !tfrt.chain, %arg1: !tfrt.chain, %arg2: !tfrt.chain, %arg3: !t.cell) -> (!tfrt.chain, !tfrt.chain, !tfrt.chain, i32) {
  %0:2 = \"t.draw\"(%arg1) : (!tfrt.chain) -> (i32, !tfrt.chain)
  %1 = \"t.set_to\"(%arg3, %0#0, %arg2) : (!t.cell, i32, !tfrt.chain) -> !tfrt.chain
  %2 = t.show %0#0, %arg0
  t.return %2, %0#1, %1, %0#0 : !tfrt.chain, !tfrt.chain, !tfrt.chain, i32
}
func @g(%arg0: !tfrt.chain, %arg1: !tfrt.chain, %arg2: !tfrt.chain, %arg3: !t.cell) -> (!tfrt.chain, !tfrt.chain, !tfrt.chain, i32) {
  %0:4 = t.call @f(%arg0, %arg1, %arg2, %arg3) : (!tfrt.chain, !tfrt.chain, !tfrt.chain, !t.cell) -> (!tfrt.chain, !tfrt.chain, !tfrt.chain, i32)
  t.return %0#0, %0#1, %0#2, %0#3 : !tfrt.chain, !tfrt.chain, !tfrt.chain, i32
}
",
    );
}

#[test]
fn a_function_that_takes_nothing_gains_arguments_if_it_is_called() {
    check(
        "func @hello() {
  \"t.print\"() : () -> ()
  t.return
}
func @main() {
  t.call @hello() : () -> ()
  t.call @hello() : () -> ()
  t.return
}",
        "func @hello(%arg0: !tfrt.chain) -> !tfrt.chain {
  %0 = \"t.print\"(%arg0) : (!tfrt.chain) -> !tfrt.chain
  t.return %0 : !tfrt.chain
}
func @main() -> !tfrt.chain {
  %0 = t.start
  %1 = t.call @hello(%0) : (!tfrt.chain) -> !tfrt.chain
  %2 = t.call @hello(%1) : (!tfrt.chain) -> !tfrt.chain
  t.return %2 : !tfrt.chain
}
",
    );
}

#[test]
fn functions_to_choose_from_gain_the_same() {
    check(
        "func @loud(%x: i32) -> i32 {
  t.show %x
  t.return %x : i32
}
func @quiet(%x: i32) -> i32 {
  t.return %x : i32
}
func @f(%x: i32) -> i32 {
  %y = \"t.choose\"(%x, %x) {a = @loud, b = @quiet} : (i32, i32) -> i32
  t.return %y : i32
}",
        "func @loud(%arg0: !tfrt.chain, %arg1: i32) -> (!tfrt.chain, i32) {
  %0 = t.show %arg1, %arg0
  t.return %0, %arg1 : !tfrt.chain, i32
}
func @quiet(%arg0: !tfrt.chain, %arg1: i32) -> (!tfrt.chain, i32) {
  t.return %arg0, %arg1 : !tfrt.chain, i32
}
func @f(%arg0: !tfrt.chain, %arg1: i32) -> (!tfrt.chain, i32) {
  %0:2 = \"t.choose\"(%arg1, %arg0, %arg1) {a = @loud, b = @quiet} : (i32, !tfrt.chain, i32) -> (!tfrt.chain, i32)
  t.return %0#0, %0#1 : !tfrt.chain, i32
}
",
    );
}

#[test]
fn an_op_that_must_hand_on_a_chain_has_one_to_hand_on() {
    check(
        "func @quiet(%x: i32) -> i32 {
  t.return %x : i32
}
func @f(%x: i32) -> i32 {
  %y = \"t.choose\"(%x, %x) {a = @quiet, b = @quiet} : (i32, i32) -> i32
  t.return %y : i32
}",
        "func @quiet(%arg0: !tfrt.chain, %arg1: i32) -> (!tfrt.chain, i32) {
  %0 = t.start
  t.return %0, %arg1 : !tfrt.chain, i32
}
func @f(%arg0: i32) -> i32 {
  %0 = t.start
  %1:2 = \"t.choose\"(%arg0, %0, %arg0) {a = @quiet, b = @quiet} : (i32, !tfrt.chain, i32) -> (!tfrt.chain, i32)
  t.return %1#1 : i32
}
",
    );
}

#[test]
fn loops_carry_their_chains() {
    check(
        "func @f() {
  %a = t.make
  %b = t.loop %a : !t.cell {
    \"t.set\"(%a) : (!t.cell) -> ()
    \"t.print\"() : () -> ()
    t.return %a : !t.cell
  }
  %x = \"t.get\"(%b) : (!t.cell) -> i32
  %y = \"t.get\"(%a) : (!t.cell) -> i32
  t.return
}",
        "func @f() -> !tfrt.chain {
  %0 = t.make
  %1 = t.start
  %2 = t.start
  %3:3 = t.loop %1, %2, %0 : !tfrt.chain, !tfrt.chain, !t.cell {
    %6 = \"t.set\"(%0, %2) : (!t.cell, !tfrt.chain) -> !tfrt.chain
    %7 = \"t.print\"(%1) : (!tfrt.chain) -> !tfrt.chain
    t.return %7, %6, %0 : !tfrt.chain, !tfrt.chain, !t.cell
  }
  %4 = \"t.get\"(%3#2, %3#1) : (!t.cell, !tfrt.chain) -> i32
  %5 = \"t.get\"(%0, %3#1) : (!t.cell, !tfrt.chain) -> i32
  t.return %3#0 : !tfrt.chain
}
",
    );
}

#[test]
fn a_round_may_be_handed_any_value_of_the_round_before() {
    // The second iteration writes the value that is `%b` here.
    check(
        "func @f() {
  %a = t.make
  %b = t.make
  %c:2 = t.loop %a, %b : !t.cell, !t.cell {
    \"t.set\"(%a) : (!t.cell) -> ()
    t.return %b, %a : !t.cell, !t.cell
  }
  %x = \"t.get\"(%b) : (!t.cell) -> i32
  t.return
}",
        "func @f() {
  %0 = t.make
  %1 = t.make
  %2 = t.start
  %3:3 = t.loop %2, %0, %1 : !tfrt.chain, !t.cell, !t.cell {
    %5 = \"t.set\"(%0, %2) : (!t.cell, !tfrt.chain) -> !tfrt.chain
    t.return %5, %1, %0 : !tfrt.chain, !t.cell, !t.cell
  }
  %4 = \"t.get\"(%1, %3#0) : (!t.cell, !tfrt.chain) -> i32
  t.return
}
",
    );
}

#[test]
fn parallel_runs_share_one_chain() {
    check(
        "func @f(%x: i32, %y: i32) {
  %r = \"t.draw\"() : () -> i32
  %done = t.parallel %x to %y by %x {
    \"t.print\"() : () -> ()
    %s = \"t.draw\"() : () -> i32
    t.return
  }
  \"t.print\"() : () -> ()
  t.return
}",
        "func @f(%arg0: !tfrt.chain, %arg1: !tfrt.chain, %arg2: i32, %arg3: i32) -> (!tfrt.chain, !tfrt.chain) {
  %0:2 = \"t.draw\"(%arg1) : (!tfrt.chain) -> (i32, !tfrt.chain)
  %1 = t.merge %arg0, %0#1 : !tfrt.chain, !tfrt.chain
  %2 = t.parallel %arg2 to %arg3 by %arg2, %1 : !tfrt.chain {
    %4 = \"t.print\"(%1) : (!tfrt.chain) -> !tfrt.chain
    %5:2 = \"t.draw\"(%1) : (!tfrt.chain) -> (i32, !tfrt.chain)
    %6 = t.merge %4, %5#1 : !tfrt.chain, !tfrt.chain
    t.return %6 : !tfrt.chain
  }
  %3 = \"t.print\"(%2) : (!tfrt.chain) -> !tfrt.chain
  t.return %3, %2 : !tfrt.chain, !tfrt.chain
}
",
    );
}

#[test]
fn a_chain_that_a_parallel_run_gives_is_kept() {
    let module = thread(
        "func @f(%x: i32, %y: i32) {
  %done = t.parallel %x to %y by %x {
    %c = t.start
    %d = \"t.print\"(%c) : (!tfrt.chain) -> !tfrt.chain
    %s = \"t.draw\"() : () -> i32
    t.return %d : !tfrt.chain
  }
  t.return
}",
    );
    let text = text_of(&module);
    assert!(
        text.contains("t.merge %2, %3#1 : !tfrt.chain, !tfrt.chain"),
        "{text}"
    );
}

#[test]
fn what_a_function_made_and_wrote_is_waited_for() {
    check(
        "func @make() -> !t.cell {
  %a = t.make
  \"t.set\"(%a) : (!t.cell) -> ()
  t.return %a : !t.cell
}
func @main() -> i32 {
  %a = t.call @make() : () -> !t.cell
  %x = \"t.get\"(%a) : (!t.cell) -> i32
  t.return %x : i32
}",
        "func @make(%arg0: !tfrt.chain) -> (!tfrt.chain, !t.cell) {
  %0 = t.make
  %1 = t.start
  %2 = \"t.set\"(%0, %1) : (!t.cell, !tfrt.chain) -> !tfrt.chain
  t.return %2, %0 : !tfrt.chain, !t.cell
}
func @main() -> i32 {
  %0 = t.start
  %1:2 = t.call @make(%0) : (!tfrt.chain) -> (!tfrt.chain, !t.cell)
  %2 = \"t.get\"(%1#1, %1#0) : (!t.cell, !tfrt.chain) -> i32
  t.return %2 : i32
}
",
    );
}

#[test]
fn two_arguments_of_a_type_may_be_one_value() {
    check(
        "func @f(%a: !t.cell, %b: !t.cell) {
  \"t.set\"(%a) : (!t.cell) -> ()
  \"t.set\"(%b) : (!t.cell) -> ()
  t.return
}",
        "func @f(%arg0: !tfrt.chain, %arg1: !t.cell, %arg2: !t.cell) -> !tfrt.chain {
  %0 = \"t.set\"(%arg1, %arg0) : (!t.cell, !tfrt.chain) -> !tfrt.chain
  %1 = \"t.set\"(%arg2, %0) : (!t.cell, !tfrt.chain) -> !tfrt.chain
  t.return %1 : !tfrt.chain
}
",
    );
}

#[test]
fn calls_that_only_read_do_not_wait_for_each_other() {
    check(
        "func @read(%a: !t.cell) -> i32 {
  %x = \"t.get\"(%a) : (!t.cell) -> i32
  t.return %x : i32
}
func @main() {
  %a = t.make
  \"t.set\"(%a) : (!t.cell) -> ()
  %x = t.call @read(%a) : (!t.cell) -> i32
  %y = t.call @read(%a) : (!t.cell) -> i32
  \"t.set\"(%a) : (!t.cell) -> ()
  t.return
}",
        "func @read(%arg0: !tfrt.chain, %arg1: !t.cell) -> (!tfrt.chain, i32) {
  %0 = \"t.get\"(%arg1, %arg0) : (!t.cell, !tfrt.chain) -> i32
  %1 = t.merge %0 : i32
  t.return %1, %0 : !tfrt.chain, i32
}
func @main() {
  %0 = t.make
  %1 = t.start
  %2 = \"t.set\"(%0, %1) : (!t.cell, !tfrt.chain) -> !tfrt.chain
  %3:2 = t.call @read(%2, %0) : (!tfrt.chain, !t.cell) -> (!tfrt.chain, i32)
  %4:2 = t.call @read(%2, %0) : (!tfrt.chain, !t.cell) -> (!tfrt.chain, i32)
  %5 = t.merge %3#0, %4#0 : !tfrt.chain, !tfrt.chain
  %6 = \"t.set\"(%0, %5) : (!t.cell, !tfrt.chain) -> !tfrt.chain
  t.return
}
",
    );
}

#[test]
fn a_call_that_may_be_inlined_says_nothing_of_its_operands() {
    // The result of the call is available after the write, but would not be if the body of the
    // callee replaced the call.
    check(
        "func @f(%a: !t.cell, %x: i32) -> i32 {
  %y = \"t.get\"(%a) : (!t.cell) -> i32
  t.return %x : i32
}
func @main() {
  %a = t.make
  %x = t.number
  \"t.set\"(%a) : (!t.cell) -> ()
  %y = t.call @f(%a, %x) : (!t.cell, i32) -> i32
  %z = \"t.get_plus\"(%a, %y) : (!t.cell, i32) -> i32
  t.return
}",
        "func @f(%arg0: !tfrt.chain, %arg1: !t.cell, %arg2: i32) -> (!tfrt.chain, i32) {
  %0 = \"t.get\"(%arg1, %arg0) : (!t.cell, !tfrt.chain) -> i32
  %1 = t.merge %0 : i32
  t.return %1, %arg2 : !tfrt.chain, i32
}
func @main() {
  %0 = t.make
  %1 = t.number
  %2 = t.start
  %3 = \"t.set\"(%0, %2) : (!t.cell, !tfrt.chain) -> !tfrt.chain
  %4:2 = t.call @f(%3, %0, %1) : (!tfrt.chain, !t.cell, i32) -> (!tfrt.chain, i32)
  %5 = \"t.get_plus\"(%0, %4#1, %3) : (!t.cell, i32, !tfrt.chain) -> i32
  t.return
}
",
    );
}

#[test]
fn recursion_comes_to_an_end() {
    let module = thread(
        "func @even(%a: !t.cell) -> !t.cell {
  \"t.print\"() : () -> ()
  %b = t.call @odd(%a) : (!t.cell) -> !t.cell
  t.return %b : !t.cell
}
func @odd(%a: !t.cell) -> !t.cell {
  \"t.set\"(%a) : (!t.cell) -> ()
  %b = t.call @even(%a) : (!t.cell) -> !t.cell
  %c = \"t.get\"(%b) : (!t.cell) -> i32
  t.return %b : !t.cell
}",
    );
    for func in module.functions(module.root()) {
        let signature = module
            .signature(func)
            .map(|(inputs, results)| (inputs.len(), results.len()));
        assert_eq!(signature, Some((3, 3)));
    }
}

#[test]
fn attributes_of_arguments_and_results_stay_with_them() {
    check(
        "func @f(%x: i32 {t.first}, %y: i32) -> (i32 {t.result}) {
  t.show %x
  t.return %y : i32
}",
        "func @f(%arg0: !tfrt.chain, %arg1: i32 {t.first}, %arg2: i32) -> (!tfrt.chain, i32 {t.result}) {
  %0 = t.show %arg1, %arg0
  t.return %0, %arg2 : !tfrt.chain, i32
}
",
    );
}

#[test]
fn synchronous_functions_are_effects_of_who_runs_them() {
    check(
        "func @s(%x: i32) -> i32 attributes {tfrt.sync} {
  \"t.print_s\"() : () -> ()
  t.return %x : i32
}
func @f(%x: i32) {
  \"t.print\"() : () -> ()
  %y = \"t.run_sync\"(%x) {function = @s} : (i32) -> i32
  \"t.print\"() : () -> ()
  t.return
}",
        "func @s(%arg0: i32) -> i32 attributes {tfrt.sync} {
  \"t.print_s\"() : () -> ()
  t.return %arg0 : i32
}
func @f(%arg0: !tfrt.chain, %arg1: i32) -> !tfrt.chain {
  %0 = \"t.print\"(%arg0) : (!tfrt.chain) -> !tfrt.chain
  %1 = \"t.run_sync\"(%arg1, %0) {function = @s} : (i32, !tfrt.chain) -> i32
  %2 = t.merge %1 : i32
  %3 = \"t.print\"(%2) : (!tfrt.chain) -> !tfrt.chain
  t.return %3 : !tfrt.chain
}
",
    );
}

#[test]
fn functions_of_compiled_modules_are_left_alone() {
    let source = "module {
  module @device attributes {tfrt.compiled} {
    func @f() {
      \"t.print\"() : () -> ()
      t.return
    }
  }
}
";
    assert_eq!(text_of(&thread(source)), source);
}
