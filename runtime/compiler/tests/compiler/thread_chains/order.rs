//! The order within one body.

use super::{check, text_of, thread};

#[test]
fn effects_of_one_class_keep_their_order() {
    check(
        "func @f() {
  \"t.print\"() : () -> ()
  %r = \"t.draw\"() : () -> i32
  t.show %r
  %s = \"t.draw\"() : () -> i32
  t.return
}",
        "func @f() -> (!tfrt.chain, !tfrt.chain) {
  %0 = t.start
  %1 = \"t.print\"(%0) : (!tfrt.chain) -> !tfrt.chain
  %2 = t.start
  %3:2 = \"t.draw\"(%2) : (!tfrt.chain) -> (i32, !tfrt.chain)
  %4 = t.show %3#0, %1
  %5:2 = \"t.draw\"(%3#1) : (!tfrt.chain) -> (i32, !tfrt.chain)
  t.return %4, %5#1 : !tfrt.chain, !tfrt.chain
}
",
    );
}

#[test]
fn what_only_reads_a_class_of_effects_keeps_its_place_among_them_alone() {
    check(
        "func @f() {
  \"t.print\"() : () -> ()
  %a = \"t.count\"() : () -> i32
  %b = \"t.count\"() : () -> i32
  \"t.print\"() : () -> ()
  t.return
}",
        "func @f() -> !tfrt.chain {
  %0 = t.start
  %1 = \"t.print\"(%0) : (!tfrt.chain) -> !tfrt.chain
  %2:2 = \"t.count\"(%1) : (!tfrt.chain) -> (i32, !tfrt.chain)
  %3:2 = \"t.count\"(%1) : (!tfrt.chain) -> (i32, !tfrt.chain)
  %4 = t.merge %2#1, %3#1 : !tfrt.chain, !tfrt.chain
  %5 = \"t.print\"(%4) : (!tfrt.chain) -> !tfrt.chain
  t.return %5 : !tfrt.chain
}
",
    );
}

#[test]
fn readers_wait_for_writers_and_not_for_each_other() {
    check(
        "func @f() {
  %a = t.make
  \"t.set\"(%a) : (!t.cell) -> ()
  %x = \"t.get\"(%a) : (!t.cell) -> i32
  %y = \"t.get\"(%a) : (!t.cell) -> i32
  \"t.set_to\"(%a, %x) : (!t.cell, i32) -> ()
  t.return
}",
        "func @f() {
  %0 = t.make
  %1 = t.start
  %2 = \"t.set\"(%0, %1) : (!t.cell, !tfrt.chain) -> !tfrt.chain
  %3 = \"t.get\"(%0, %2) : (!t.cell, !tfrt.chain) -> i32
  %4 = \"t.get\"(%0, %2) : (!t.cell, !tfrt.chain) -> i32
  %5 = t.merge %4 : i32
  %6 = \"t.set_to\"(%0, %3, %5) : (!t.cell, i32, !tfrt.chain) -> !tfrt.chain
  t.return
}
",
    );
}

#[test]
fn what_nobody_writes_is_read_without_chains() {
    check(
        "func @f(%a: !t.cell) -> i32 {
  %x = \"t.get\"(%a) : (!t.cell) -> i32
  t.return %x : i32
}",
        "func @f(%arg0: !t.cell) -> i32 {
  %0 = \"t.get\"(%arg0) : (!t.cell) -> i32
  t.return %0 : i32
}
",
    );
}

#[test]
fn an_op_waits_for_all_of_its_orders_at_once() {
    check(
        "func @f() {
  %a = t.make
  \"t.set\"(%a) : (!t.cell) -> ()
  \"t.print\"() : () -> ()
  \"t.print_cell\"(%a) : (!t.cell) -> ()
  t.return
}",
        "func @f() -> !tfrt.chain {
  %0 = t.make
  %1 = t.start
  %2 = \"t.set\"(%0, %1) : (!t.cell, !tfrt.chain) -> !tfrt.chain
  %3 = t.start
  %4 = \"t.print\"(%3) : (!tfrt.chain) -> !tfrt.chain
  %5 = t.merge %2, %4 : !tfrt.chain, !tfrt.chain
  %6 = \"t.print_cell\"(%0, %5) : (!t.cell, !tfrt.chain) -> !tfrt.chain
  t.return %6 : !tfrt.chain
}
",
    );
}

#[test]
fn what_follows_from_another_chain_is_not_merged() {
    // The second print waits for the writer, and so does everything that waits for the print.
    check(
        "func @f() {
  %a = t.make
  \"t.set\"(%a) : (!t.cell) -> ()
  \"t.print_cell\"(%a) : (!t.cell) -> ()
  \"t.print_cell\"(%a) : (!t.cell) -> ()
  t.return
}",
        "func @f() -> !tfrt.chain {
  %0 = t.make
  %1 = t.start
  %2 = \"t.set\"(%0, %1) : (!t.cell, !tfrt.chain) -> !tfrt.chain
  %3 = \"t.print_cell\"(%0, %2) : (!t.cell, !tfrt.chain) -> !tfrt.chain
  %4 = \"t.print_cell\"(%0, %3) : (!t.cell, !tfrt.chain) -> !tfrt.chain
  t.return %4 : !tfrt.chain
}
",
    );
}

#[test]
fn an_alias_is_the_operand_whatever_its_type() {
    check(
        "func @f() {
  %a = t.make
  %v = \"t.view\"(%a) : (!t.cell) -> !t.view
  \"t.set\"(%a) : (!t.cell) -> ()
  %x = \"t.get_view\"(%v) : (!t.view) -> i32
  t.return
}",
        "func @f() {
  %0 = t.make
  %1 = \"t.view\"(%0) : (!t.cell) -> !t.view
  %2 = t.merge %1 : !t.view
  %3 = \"t.set\"(%0, %2) : (!t.cell, !tfrt.chain) -> !tfrt.chain
  %4 = \"t.get_view\"(%1, %3) : (!t.view, !tfrt.chain) -> i32
  t.return
}
",
    );
}

#[test]
fn an_op_that_takes_any_type_gives_what_it_takes() {
    check(
        "func @f() {
  %a = t.make
  %b = \"t.same\"(%a) : (!t.cell) -> !t.cell
  \"t.set\"(%a) : (!t.cell) -> ()
  %x = \"t.get\"(%b) : (!t.cell) -> i32
  t.return
}",
        "func @f() {
  %0 = t.make
  %1 = \"t.same\"(%0) : (!t.cell) -> !t.cell
  %2 = t.start
  %3 = \"t.set\"(%0, %2) : (!t.cell, !tfrt.chain) -> !tfrt.chain
  %4 = \"t.get\"(%1, %3) : (!t.cell, !tfrt.chain) -> i32
  t.return
}
",
    );
}

#[test]
fn what_two_ops_made_is_not_the_same() {
    check(
        "func @f() {
  %a = t.make
  %b = t.make
  \"t.set\"(%a) : (!t.cell) -> ()
  \"t.set\"(%b) : (!t.cell) -> ()
  t.return
}",
        "func @f() {
  %0 = t.make
  %1 = t.make
  %2 = t.start
  %3 = \"t.set\"(%0, %2) : (!t.cell, !tfrt.chain) -> !tfrt.chain
  %4 = \"t.set\"(%1, %2) : (!t.cell, !tfrt.chain) -> !tfrt.chain
  t.return
}
",
    );
}

#[test]
fn equal_waits_share_a_merge() {
    let module = thread(
        "func @f() {
  %a = t.make
  %b = t.make
  \"t.set\"(%a) : (!t.cell) -> ()
  \"t.set\"(%b) : (!t.cell) -> ()
  %c = t.make
  %x = \"t.both\"(%a, %b) : (!t.cell, !t.cell) -> i32
  %y = \"t.both\"(%a, %b) : (!t.cell, !t.cell) -> i32
  t.return
}",
    );
    let text = text_of(&module);
    assert_eq!(text.matches("t.merge").count(), 1, "{text}");
}

#[test]
fn ops_with_chains_stay_and_later_ones_wait_for_them() {
    check(
        "func @f() {
  %c = t.start
  %1 = \"t.print\"(%c) : (!tfrt.chain) -> !tfrt.chain
  \"t.print\"() : () -> ()
  %2 = \"t.print\"(%1) : (!tfrt.chain) -> !tfrt.chain
  \"t.print\"() : () -> ()
  t.return
}",
        "func @f() -> !tfrt.chain {
  %0 = t.start
  %1 = \"t.print\"(%0) : (!tfrt.chain) -> !tfrt.chain
  %2 = \"t.print\"(%1) : (!tfrt.chain) -> !tfrt.chain
  %3 = \"t.print\"(%1) : (!tfrt.chain) -> !tfrt.chain
  %4 = t.merge %2, %3 : !tfrt.chain, !tfrt.chain
  %5 = \"t.print\"(%4) : (!tfrt.chain) -> !tfrt.chain
  t.return %5 : !tfrt.chain
}
",
    );
}

#[test]
fn an_op_without_results_of_its_own_can_be_the_last() {
    check(
        "func @f() -> i32 {
  %x = \"t.ask\"() : () -> i32
  %y = \"t.ask\"() : () -> i32
  t.return %x : i32
}",
        "func @f() -> (!tfrt.chain, i32) {
  %0 = t.start
  %1 = \"t.ask\"(%0) : (!tfrt.chain) -> i32
  %2 = t.merge %1 : i32
  %3 = \"t.ask\"(%2) : (!tfrt.chain) -> i32
  %4 = t.merge %3 : i32
  t.return %4, %1 : !tfrt.chain, i32
}
",
    );
}

#[test]
fn who_wants_no_order_gets_none_and_may_be_waited_for() {
    check(
        "func @f() {
  %x = \"t.whisper\"() : () -> i32
  \"t.print\"() : () -> ()
  t.return
}",
        "func @f() -> !tfrt.chain {
  %0 = \"t.whisper\"() : () -> i32
  %1 = t.merge %0 : i32
  %2 = \"t.print\"(%1) : (!tfrt.chain) -> !tfrt.chain
  t.return %2 : !tfrt.chain
}
",
    );
    check(
        "func @f() {
  %x = \"t.whisper\"() : () -> i32
  %y = \"t.whisper\"() : () -> i32
  t.return
}",
        "func @f() {
  %0 = \"t.whisper\"() : () -> i32
  %1 = \"t.whisper\"() : () -> i32
  t.return
}
",
    );
}

#[test]
fn added_ops_stand_where_the_op_stands_that_needs_them() {
    let module = thread("func @f() {\n  \"t.print\"() : () -> ()\n  t.return\n}");
    let func = module.functions(module.root()).next();
    let block = func.and_then(|func| module.entry_block(func));
    let places: Vec<String> = block
        .map_or(&[][..], |block| module.block_ops(block))
        .iter()
        .map(|op| module.place(module.op_location(*op)).to_string())
        .collect();
    assert_eq!(places, ["p.mlir:2:3", "p.mlir:2:3", "p.mlir:3:3"]);
}
