//! One function as a kernel of the executor and as one of the interpreter.

use tfrt::ods::OpTraits;
use tfrt::prelude::*;
use tfrt::testing;

#[derive(Clone, Debug, PartialEq, Value)]
#[value("!twin.log", mutable)]
struct Log(Vec<i64>);

#[tfrt_kernel("twin.add.{T}", sync = "twin_sync.add.{T}", T = [i32, i64])]
fn add<T: Value + Copy + std::ops::Add<Output = T>>(a: T, b: T) -> T {
    a + b
}

#[tfrt_kernel("twin.push", sync = "twin_sync.push", results(len))]
fn push(log: &mut Log, number: i64, #[attr(default = 1)] times: i64) -> i64 {
    (0..times).for_each(|_| log.0.push(number));
    i64::try_from(log.0.len()).unwrap_or(i64::MAX)
}

#[test]
fn both_forms_run_the_function() {
    let program = testing::program(
        r#"
        func @later(%a: i32, %b: i32) -> i32 {
          %c = "twin.add.i32"(%a, %b) : (i32, i32) -> i32
          tfrt.return %c : i32
        }
        func @now(%a: i64, %b: i64) -> i64 attributes {tfrt.sync} {
          %c = "twin_sync.add.i64"(%a, %b) : (i64, i64) -> i64
          tfrt.return %c : i64
        }
        "#,
    );
    program.call("later", (1, 2)).expect_value(3);
    program.call("now", (3_i64, 4_i64)).expect_value(7_i64);
}

#[test]
fn the_interpreter_needs_no_chain() {
    let registry = KernelRegistry::from_link().unwrap();
    let (later, now) = (
        registry.op("twin.push").unwrap(),
        registry.op("twin_sync.push").unwrap(),
    );
    assert_eq!((later.operands.len(), later.results.len()), (3, 2));
    assert_eq!((now.operands.len(), now.results.len()), (2, 1));
    assert!(now.traits.contains(OpTraits::SYNC) && !later.traits.contains(OpTraits::SYNC));
    assert_eq!(now.attributes[0].name, later.attributes[0].name);
    assert!(registry.get("twin_sync.add.i32").unwrap().is_sync());
}
