//! `tfrt::testing` tested: what holds passes, and what does not fails with words that help.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::time::Duration;

use tfrt::prelude::*;
use tfrt::testing;

/// Adds.
#[tfrt_kernel("sample.add")]
fn add(a: i32, b: i32) -> i32 {
    a + b
}

/// Adds in the interpreter.
#[tfrt_kernel("sample.add_sync", sync)]
fn add_sync(a: i32, b: i32) -> Result<i32> {
    a.checked_add(b).ok_or_else(|| Error::new("too large"))
}

/// Adds later.
#[tfrt_kernel("sample.add_later")]
async fn add_later(a: AsyncValueRef<i32>, b: i32) -> Result<i32> {
    let a = a.await?;
    Ok(a.get().copied().unwrap_or_default() + b)
}

/// Divides, with remainder.
#[tfrt_kernel("sample.divide", results(quotient, remainder))]
fn divide(number: i32, by: i32) -> Result<(i32, i32)> {
    match number.checked_div(by) {
        Some(quotient) => Ok((quotient, number % by)),
        None => Err(Error::new("division by zero").with_code(ErrorCode::InvalidArgument)),
    }
}

/// Passes anything on.
#[tfrt_kernel("sample.same", raw, operands(value: any), results(same: any))]
fn same(frame: &mut KernelFrame<'_>) {
    let value = frame.argument(0).clone();
    frame.set_result(0, value);
}

/// Sums up.
#[tfrt_kernel("sample.sum")]
fn sum(numbers: Operands<'_, i32>) -> i32 {
    numbers.iter().sum()
}

/// Scales.
#[tfrt_kernel("sample.scale")]
fn scale(number: f32, #[attr] by: f32, #[attr(default = "")] unit: &str) -> String {
    format!("{}{unit}", number * by)
}

/// A list that kernels write into.
#[derive(Debug, Default, PartialEq, Value)]
#[value("!sample.list", mutable)]
struct List(Vec<i32>);

/// Makes a list.
#[tfrt_kernel("sample.new_list")]
fn new_list() -> List {
    List::default()
}

/// Appends.
#[tfrt_kernel("sample.push")]
fn push(list: &mut List, number: i32) {
    list.0.push(number);
}

/// Fails, behind its chain.
#[tfrt_kernel("sample.fail", side_effecting)]
fn fail() -> Result<()> {
    Err(Error::new("on purpose"))
}

/// Keeps a value for ever.
#[tfrt_kernel("sample.keep")]
fn keep(value: AnyRef) -> i32 {
    static KEPT: Mutex<Vec<AnyRef>> = Mutex::new(Vec::new());
    if let Ok(mut kept) = KEPT.lock() {
        kept.push(value);
    }
    0
}

/// Tells what the request knows.
#[tfrt_kernel("sample.resource")]
fn resource(ctx: &ExecutionContext) -> Result<i32> {
    let resources = ctx.resources().ok_or_else(|| Error::new("no resources"))?;
    let found = resources.get::<i32>("number")?;
    found
        .map(|number| *number)
        .ok_or_else(|| Error::new("no number"))
}

/// What a test that must fail says.
fn complaint(test: impl FnOnce()) -> String {
    let panicked = catch_unwind(AssertUnwindSafe(test)).expect_err("the test fails");
    match panicked.downcast::<String>() {
        Ok(message) => *message,
        Err(payload) => (*payload.downcast::<&str>().expect("a message")).to_owned(),
    }
}

#[test]
fn values_are_compared() {
    let seven = || testing::kernel("sample.add").operands((3, 4)).run();
    seven().expect_value(7).expect_done();
    assert_eq!(
        complaint(|| _ = seven().expect_value(8)),
        "`sample.add` under the queue `s`: expected the value 8, found 7"
    );
    assert_eq!(
        complaint(|| _ = seven().expect_value(7_i64)),
        "`sample.add` under the queue `s`: expected the value 7, found a value of type `i32`"
    );
    assert_eq!(
        complaint(|| _ = seven().expect_values((7, 7))),
        "`sample.add` under the queue `s`: expected 2 values, found a value of type `i32`"
    );
}

#[test]
fn several_values_are_compared_one_by_one() {
    let outcome = testing::kernel("sample.divide").operands((7, 2)).run();
    outcome
        .expect_values((3, 1))
        .with_value(1, |rest: &i32| assert_eq!(*rest, 1));
    assert_eq!(
        complaint(|| _ = outcome.expect_values((3, 2))),
        "`sample.divide` under the queue `s`: result 1: expected the value 2, found 1"
    );
    assert!(complaint(|| _ = outcome.with_value(2, |_: &i32| ())).contains("expected a result 2"));
    assert!(complaint(|| _ = outcome.with_value(0, |_: &f32| ())).contains("of type `f32`"));
}

#[test]
fn errors_are_asked_for_all_they_know() {
    let program = testing::program(
        "func @main(%x: i32, %y: i32) -> (i32, i32) {\n  %q, %r = \"sample.divide\"(%x, %y) : (i32, i32) -> (i32, i32)\n  \
         tfrt.return %q, %r : i32, i32\n}",
    );
    let outcome = program.call("main", (1, 0));
    outcome
        .expect_error("by zero")
        .with_message("division by zero")
        .with_code(ErrorCode::InvalidArgument)
        .from_kernel("sample.divide")
        .on_line(2)
        .on_line_with("%q, %r");
    let found = "\
an error
program:2:12: error: division by zero (InvalidArgument, from `sample.divide`)
  %q, %r = \"sample.divide\"(%x, %y) : (i32, i32) -> (i32, i32)
           ^
";
    let check = |test: &dyn Fn(), expected: &str| {
        let expected = format!("`@main` under the queue `s`: {expected}, found {found}");
        assert_eq!(complaint(test), expected);
    };
    check(
        &|| _ = outcome.expect_values((1, 2)),
        "result 0: expected the value 1",
    );
    check(&|| _ = outcome.expect_done(), "expected no error");
    check(
        &|| _ = outcome.expect_error("other"),
        "expected an error with `other`",
    );
    let error = || outcome.expect_error("zero");
    check(
        &|| _ = error().with_message("zero"),
        "expected an error with the message `zero`",
    );
    check(
        &|| _ = error().with_code(ErrorCode::NotFound),
        "expected an error with the code NotFound",
    );
    check(
        &|| _ = error().from_kernel("sample.add"),
        "expected an error from `sample.add`",
    );
    check(&|| _ = error().on_line(3), "expected an error on line 3");
    check(
        &|| _ = error().on_line_with("return"),
        "expected an error on a line with `return`",
    );
    let fine = program.call("main", (1, 1));
    assert!(
        complaint(|| _ = fine.expect_error("zero"))
            .contains("expected an error with `zero`, found a value")
    );
}

#[test]
fn an_error_behind_a_chain_is_seen() {
    let outcome = testing::kernel("sample.fail").run();
    outcome
        .expect_error("on purpose")
        .from_kernel("sample.fail");
    assert!(complaint(|| _ = outcome.expect_done()).contains("on purpose"));
}

#[test]
fn an_error_that_no_result_has_is_seen() {
    let program = testing::program(
        "func @main(%x: i32, %y: i32) -> i32 {\n  %q, %r = \"sample.divide\"(%x, %y) : (i32, i32) -> (i32, i32)\n  \
         tfrt.return %x : i32\n}",
    );
    let outcome = program.call("main", (1, 0));
    outcome.expect_value(1).expect_error("division by zero");
    assert_eq!(outcome.reported().len(), 1);
    assert!(complaint(|| _ = outcome.expect_done()).contains("expected no error"));
}

#[test]
fn synchronous_kernels_run_in_the_interpreter() {
    let run = |a: i32, b: i32| testing::kernel("sample.add_sync").operands((a, b)).run();
    run(1, 2).expect_value(3);
    run(i32::MAX, 1)
        .expect_error("too large")
        .from_kernel("sample.add_sync");
    let operands = (testing::error("no number"), testing::later(1));
    testing::kernel("sample.add_sync")
        .operands(operands)
        .run()
        .expect_error("no number");
}

#[test]
fn late_values_and_errors_are_operands() {
    let run = |a: testing::Operand| {
        let kernel = testing::kernel("sample.add_later").operands((a, 2));
        kernel.under_every_queue().run()
    };
    run(testing::later(1)).expect_value(3);
    run(testing::value_from(|| 1)).expect_value(3);
    run(testing::error(
        Error::new("gone").with_code(ErrorCode::DataLoss),
    ))
    .expect_error("gone")
    .with_code(ErrorCode::DataLoss);
}

#[test]
fn operands_are_tuples_lists_and_references() {
    testing::kernel("sample.sum").run().expect_value(0);
    testing::kernel("sample.sum")
        .operands(vec![1, 2, 3])
        .run()
        .expect_value(6);
    let kept = AnyRef::available(5);
    testing::kernel("sample.add")
        .operands((kept.clone(), kept))
        .run()
        .expect_value(10);
    let same = testing::kernel("sample.same").operands(("text",));
    same.results(["!tfrt.string"])
        .run()
        .expect_value(String::from("text"));
    let open = complaint(|| _ = testing::kernel("sample.same").operands((1,)).run());
    assert!(
        open.contains("does not fix the type of result `same`"),
        "{open}"
    );
}

#[test]
fn attributes_are_rust_values() {
    let scale = || testing::kernel("sample.scale").operands((1.5_f32,));
    scale()
        .attribute("by", 2.0_f32)
        .run()
        .expect_value(String::from("3"));
    let in_metres = scale().attribute("by", 2.0_f32).attribute("unit", " \"m\"");
    in_metres.run().expect_value(String::from("3 \"m\""));
    scale().expect_refused("by");
    let refused = complaint(|| _ = scale().run());
    assert!(
        refused.starts_with("the program was rejected:\nprogram:2:")
            && refused.contains("\"sample.scale\"(%a0)"),
        "{refused}"
    );
}

#[test]
fn every_run_makes_its_own_operands() {
    let program = testing::program(
        "func @main(%list: !sample.list, %x: i32) -> !sample.list {\n  \
         %done = \"sample.push\"(%list, %x) : (!sample.list, i32) -> !tfrt.chain\n  \
         %same = \"sample.push_again\"(%list, %done) : (!sample.list, !tfrt.chain) -> !sample.list\n  \
         tfrt.return %same : !sample.list\n}",
    );
    let outcome = program.under_every_queue();
    let arguments = (testing::value_from(List::default), 7);
    outcome
        .call("main", arguments)
        .expect_value(List(vec![7, 7]));
}

/// Appends the last number again and returns the list.
#[tfrt_kernel("sample.push_again")]
fn push_again(list: AnyRef, _after: Chain) -> Result<AnyRef> {
    let mut numbers = list.try_write::<List>()?;
    let last = numbers.0.last().copied().unwrap_or_default();
    numbers.0.push(last);
    drop(numbers);
    Ok(list)
}

#[test]
fn effects_without_an_order_show() {
    let push = |first: &str, second: &str| {
        format!(
            "func @main(%c: !tfrt.chain) -> !sample.list {{\n  %list = \"sample.new_list\"() : () -> !sample.list\n  \
             %x, %y = \"sample.numbers\"() : () -> (i32, i32)\n  \
             %a = \"sample.push\"(%list, {first}, %c) : (!sample.list, i32, !tfrt.chain) -> !tfrt.chain\n  \
             %b = \"sample.push\"(%list, {second}, %a) : (!sample.list, i32, !tfrt.chain) -> !tfrt.chain\n  \
             %same = \"sample.after\"(%list, %b) : (!sample.list, !tfrt.chain) -> !sample.list\n  \
             tfrt.return %same : !sample.list\n}}"
        )
    };
    let ordered = testing::program(&push("%x", "%y"))
        .under_every_queue()
        .recording_calls();
    let outcome = ordered.call("main", (Chain,));
    outcome.expect_value(List(vec![1, 2])).expect_calls(&[
        "sample.push",
        "sample.push",
        "sample.after",
    ]);
    let wrong = complaint(|| _ = outcome.expect_calls(&["sample.after", "sample.push"]));
    assert!(
        wrong.contains("in this order:\n  sample.after\n  sample.push\nfound:\n  sample.push\n  sample.push\n  sample.after"),
        "{wrong}"
    );
    let unordered = push("%x", "%y")
        .replace("%y, %a)", "%y, %c)")
        .replace("%b)", "%a)");
    let unordered = testing::program(&unordered)
        .under(["random:0", "random:1", "random:2", "random:3", "random:4"]);
    let found = complaint(|| {
        _ = unordered
            .call("main", (Chain,))
            .expect_value(List(vec![1, 2]))
    });
    assert!(found.contains("under the queue `random:"), "{found}");
}

/// All kernels are synchronous, and everything is there from the start: only the order of the
/// program keeps them in step.
#[test]
fn a_chain_that_synchronous_kernels_lack_is_found() {
    let source = "func @main(%x: i32, %y: i32, %c: !tfrt.chain) -> !sample.list {
      %list = \"sample.new_list\"() : () -> !sample.list
      %a = \"sample.push\"(%list, %x, %c) : (!sample.list, i32, !tfrt.chain) -> !tfrt.chain
      %b = \"sample.push\"(%list, %y, %c) : (!sample.list, i32, !tfrt.chain) -> !tfrt.chain
      %after = \"sample.after\"(%list, %a) : (!sample.list, !tfrt.chain) -> !sample.list
      %same = \"sample.after\"(%after, %b) : (!sample.list, !tfrt.chain) -> !sample.list
      tfrt.return %same : !sample.list
    }";
    let call = |program: testing::TestProgram| {
        program
            .call("main", (1, 2, Chain))
            .expect_value(List(vec![1, 2]));
    };
    call(testing::program(source));
    let found = complaint(|| call(testing::program(source).under_every_queue()));
    let queue = found
        .split("under the queue `")
        .nth(1)
        .and_then(|rest| rest.split('`').next());
    // The queue that is named shows it again.
    let queue = queue.expect("the queue is named").to_owned();
    assert!(queue.starts_with("random:"), "{found}");
    let again = complaint(|| call(testing::program(source).under([&*queue])));
    assert!(again.contains(&queue), "{again}");
    call(testing::program(&source.replace("%y, %c)", "%y, %a)")).under_every_queue());
}

/// Two numbers, each when the queue likes.
#[tfrt_kernel("sample.numbers", results(one, two))]
fn numbers(ctx: &ExecutionContext) -> (AsyncValueRef<i32>, AsyncValueRef<i32>) {
    let later = |number| {
        let (promise, value) = AsyncValueRef::unconstructed();
        ctx.enqueue(move || promise.emplace(number));
        value
    };
    (later(1), later(2))
}

/// The same list, behind a chain.
#[tfrt_kernel("sample.after")]
fn after(list: AnyRef, _chain: Chain) -> AnyRef {
    list
}

#[test]
fn calls_are_recorded_only_if_asked_for() {
    let outcome = testing::kernel("sample.add").operands((1, 2)).run();
    assert!(complaint(|| _ = outcome.expect_calls(&[])).contains("recording_calls"));
}

#[test]
fn a_value_that_lives_on_is_a_leak() {
    if !cfg!(debug_assertions) {
        return;
    }
    let leaked = complaint(|| {
        testing::kernel("sample.keep")
            .operands((testing::value_from(List::default),))
            .run()
            .expect_value(0);
    });
    assert!(
        leaked.starts_with(
            "`sample.keep` under the queue `s`: 1 values are still alive: !sample.list\n"
        ),
        "{leaked}"
    );
}

#[test]
fn a_clone_of_a_result_that_lives_on_is_a_leak() {
    if !cfg!(debug_assertions) {
        return;
    }
    let cloned = complaint(|| {
        let outcome = testing::kernel("sample.add").operands((1, 2)).run();
        let result = outcome.results()[0].clone();
        drop(outcome);
        drop(result);
    });
    assert!(cloned.contains("a clone of a result"), "{cloned}");
}

#[test]
fn requests_are_prepared() {
    let resource = || testing::kernel("sample.resource");
    resource().run().expect_error("no number");
    let resources = std::sync::Arc::new(tfrt::host::ResourceContext::new());
    resources.create("number", 7).expect("the name is free");
    resource()
        .request(move |request| request.resources(resources.clone()))
        .run()
        .expect_value(7);
    let in_time = std::time::SystemTime::now() + Duration::from_secs(3600);
    resource()
        .request(move |request| request.deadline(in_time))
        .run()
        .expect_error("no number");
}

#[test]
fn a_program_that_is_refused_says_why() {
    let refused = testing::program("func @main() -> i32 {\n  tfrt.return\n}");
    refused
        .expect_refused("operands")
        .on_line(2)
        .on_line_with("tfrt.return");
    assert!(
        complaint(|| _ = refused.expect_refused("nonsense"))
            .contains("expected the program to be rejected with `nonsense`")
    );
    assert!(complaint(|| _ = refused.expect_refused("operands").on_line(1)).contains("on line 1"));
    assert!(
        complaint(|| _ = refused.call("main", ()))
            .starts_with("the program was rejected:\nprogram:2:")
    );
    let fine = testing::program("func @main() {\n  tfrt.return\n}");
    fine.call("main", ()).expect_done();
    assert!(complaint(|| _ = fine.expect_refused("operands")).contains("it was accepted"));
}

#[test]
fn what_does_not_exist_is_named_with_what_is_near() {
    assert!(complaint(|| _ = testing::kernel("sample.ad")).contains("did you mean `sample.add`"));
    let program = testing::program("func @main(%x: i32) {\n  tfrt.return\n}");
    assert!(
        complaint(|| _ = program.call("mian", ()))
            .contains("no function `@mian`; did you mean `main`?")
    );
    assert_eq!(
        complaint(|| _ = program.call("main", (1, 2))),
        "`@main` takes 1 arguments (i32), and the test passes 2"
    );
    let queue =
        |name: &'static str| complaint(|| _ = program.clone().under([name]).call("main", (1,)));
    assert!(queue("fast").contains("unknown work queue `fast`"));
    assert!(queue("random:x").contains("expected a number as the seed"));
    let unlinked =
        testing::program("func @main() {\n  \"other.thing\"() : () -> ()\n  tfrt.return\n}");
    unlinked
        .expect_refused("unknown kernel name 'other.thing'")
        .on_line(2);
    assert!(complaint(|| _ = unlinked.call("main", ())).starts_with(
        "the program was rejected:\nprogram:2:3: error: unknown kernel name 'other.thing'"
    ));
}

#[test]
fn kernels_of_a_registry_of_its_own_are_used() {
    let empty = std::sync::Arc::new(KernelRegistry::new());
    let complaint = complaint(|| _ = testing::kernel("sample.add").with_kernels(empty.clone()));
    assert!(
        complaint.contains("the kernel `sample.add` is not linked"),
        "{complaint}"
    );
    testing::program("func @main() {\n  tfrt.return\n}")
        .with_kernels(empty)
        .call("main", ())
        .expect_done();
}

#[test]
fn a_crate_that_the_linker_left_out_is_told_of_even_if_a_name_is_near() {
    let source = "func @main() {\n  \"simple.add\"() : () -> ()\n  tfrt.return\n}";
    let refused = complaint(|| _ = testing::program(source).call("main", ()));
    for hint in [
        "did you mean `sample.add`",
        "no kernels of `simple` are linked (linked: sample)",
        "tfrt::link!",
    ] {
        assert!(refused.contains(hint), "{refused}");
    }
}
