//! Functions and regions of a known signature.

use tfrt::prelude::*;
use tfrt::testing;

use super::loading::refusal;

#[tfrt_kernel("functions.twice")]
fn twice(
    function: Function<(i32,), (i32,)>,
    number: i32,
    ctx: &ExecutionContext,
) -> AsyncValueRef<i32> {
    let (once,) = function.call(ctx, (number,));
    let (twice,) = function.call_later(ctx, (once,));
    twice
}

#[tfrt_kernel("functions.divide_by")]
async fn divide_by(
    body: &Region<(i32, i32), (i32, i32)>,
    a: i32,
    b: i32,
    ctx: &ExecutionContext,
) -> Result<(i32, i32)> {
    let (quotient, remainder) = body.call(ctx, (a, b));
    let (quotient, remainder) = (quotient.await?, remainder.await?);
    Ok((
        quotient.get().copied().unwrap_or_default(),
        remainder.get().copied().unwrap_or_default(),
    ))
}

/// As many values as a typed call takes.
type Twelve = (i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32);

#[tfrt_kernel("functions.last_of_twelve")]
async fn last_of_twelve(body: &Region<Twelve, Twelve>, ctx: &ExecutionContext) -> Result<i32> {
    let results = body.call(ctx, (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12));
    Ok(results.11.await?.get().copied().unwrap_or_default())
}

#[tfrt_kernel("functions.apply_s", sync)]
fn apply_sync(
    function: Function<(i32,), (i32,)>,
    number: i32,
    ctx: &ExecutionContext,
) -> Result<i32> {
    Ok(function.call_sync(ctx, (number,))?.0)
}

#[tfrt_kernel("functions.div_rem")]
fn div_rem(a: i32, b: i32) -> Result<(i32, i32)> {
    a.checked_div(b)
        .map(|quotient| (quotient, a % b))
        .ok_or_else(|| Error::new("division by zero"))
}

#[tfrt_kernel("functions.increment")]
fn increment(number: i32) -> i32 {
    number + 1
}

#[tfrt_kernel("functions.increment_s", sync)]
fn increment_sync(number: i32) -> i32 {
    number + 1
}

#[test]
fn a_typed_function_is_called_with_values() {
    let program = testing::program(
        r#"
        func @increment(%a: i32) -> i32 {
          %b = "functions.increment"(%a) : (i32) -> i32
          tfrt.return %b : i32
        }
        func @main(%a: i32) -> i32 {
          %b = "functions.twice"(%a) {function = @increment} : (i32) -> i32
          tfrt.return %b : i32
        }
        "#,
    );
    program.call("main", (40,)).expect_value(42);
}

#[test]
fn a_typed_region_gives_several_results_later() {
    let program = testing::program(
        r#"
        func @main(%a: i32, %b: i32) -> (i32, i32) {
          %q, %r = "functions.divide_by"(%a, %b) ({
          ^bb0(%x: i32, %y: i32):
            %s, %t = "functions.div_rem"(%x, %y) : (i32, i32) -> (i32, i32)
            tfrt.return %s, %t : i32, i32
          }) : (i32, i32) -> (i32, i32)
          tfrt.return %q, %r : i32, i32
        }
        "#,
    )
    .under_every_queue();
    program.call("main", (17, 5)).expect_values((3, 2));
    program
        .call("main", (17, 0))
        .expect_error("division by zero");
}

#[test]
fn a_typed_call_takes_and_gives_up_to_twelve_values() {
    let names: Vec<_> = (0..12).map(|position| format!("%x{position}")).collect();
    let typed: Vec<_> = names.iter().map(|name| format!("{name}: i32")).collect();
    let program = testing::program(&format!(
        r#"
        func @main() -> i32 {{
          %last = "functions.last_of_twelve"() ({{
          ^bb0({typed}):
            tfrt.return {backwards} : {types}
          }}) : () -> i32
          tfrt.return %last : i32
        }}
        "#,
        typed = typed.join(", "),
        backwards = names
            .iter()
            .rev()
            .map(String::as_str)
            .collect::<Vec<_>>()
            .join(", "),
        types = ["i32"; 12].join(", ")
    ));
    program.call("main", ()).expect_value(1);
}

#[test]
fn a_typed_function_runs_in_the_interpreter() {
    let program = testing::program(
        r#"
        func @increment(%a: i32) -> i32 attributes {tfrt.sync} {
          %b = "functions.increment_s"(%a) : (i32) -> i32
          tfrt.return %b : i32
        }
        func @main(%a: i32) -> i32 attributes {tfrt.sync} {
          %b = "functions.apply_s"(%a) {function = @increment} : (i32) -> i32
          tfrt.return %b : i32
        }
        "#,
    );
    program.call("main", (6,)).expect_value(7);
}

#[test]
fn a_function_of_another_signature_is_refused() {
    let (message, line) = refusal(
        r#"
        func @increment(%a: i32, %b: i32) -> i32 {
          tfrt.return %a : i32
        }
        func @main(%a: i32) -> i32 {
          %b = "functions.twice"(%a) {function = @increment} : (i32) -> i32
          tfrt.return %b : i32
        }
        "#,
    );
    assert_eq!(
        message,
        "function `function` of `functions.twice`: expected `(i32) -> (i32)`, found `(i32, i32) \
         -> (i32)`"
    );
    assert!(line.starts_with("%b ="), "{line}");
}

#[test]
fn a_region_of_another_signature_is_refused() {
    let (message, line) = refusal(
        r#"
        func @main(%a: i32, %b: i32) -> (i32, i32) {
          %q, %r = "functions.divide_by"(%a, %b) ({
          ^bb0(%x: i32, %y: i32):
            tfrt.return %x : i32
          }) : (i32, i32) -> (i32, i32)
          tfrt.return %q, %r : i32, i32
        }
        "#,
    );
    assert_eq!(
        message,
        "function `body` of `functions.divide_by`: expected `(i32, i32) -> (i32, i32)`, found \
         `(i32, i32) -> (i32)`"
    );
    assert!(line.starts_with("%q, %r ="), "{line}");
}
