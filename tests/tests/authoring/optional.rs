//! Operands that programs may leave out.

use tfrt::ods::Arity;
use tfrt::prelude::*;
use tfrt::testing;

#[tfrt_kernel("optional.scale")]
fn scale(number: i32, #[operand(default = 10)] by: i32) -> i32 {
    number * by
}

#[tfrt_kernel("optional.name", side_effecting)]
fn name(id: i32, name: Option<&str>) -> String {
    name.map_or_else(|| format!("#{id}"), |name| format!("{name}#{id}"))
}

#[tfrt_kernel("optional.last", sync, results(sum))]
fn last(a: i32, b: Option<i32>) -> i32 {
    a + b.unwrap_or(100)
}

#[test]
fn a_missing_operand_has_its_default() {
    testing::kernel("optional.scale")
        .operands((4,))
        .run()
        .expect_value(40);
    testing::kernel("optional.scale")
        .operands((4, 5))
        .run()
        .expect_value(20);
}

#[test]
fn a_chain_is_not_taken_for_the_operand() {
    let program = testing::program(
        r#"
        func @both(%id: i32, %name: !tfrt.string) -> (!tfrt.string, !tfrt.string, i32, i32) {
          %ch = "tfrt.new.chain"() : () -> !tfrt.chain
          %a, %ch1 = "optional.name"(%id, %ch) : (i32, !tfrt.chain) -> (!tfrt.string, !tfrt.chain)
          %b, %ch2 = "optional.name"(%id, %name, %ch1) : (i32, !tfrt.string, !tfrt.chain) -> (!tfrt.string, !tfrt.chain)
          %c = "optional.scale"(%id, %ch2) : (i32, !tfrt.chain) -> i32
          %d = "optional.scale"(%id, %id, %ch2) : (i32, i32, !tfrt.chain) -> i32
          tfrt.return %a, %b, %c, %d : !tfrt.string, !tfrt.string, i32, i32
        }
        "#,
    );
    let outcome = program.call("both", (7, "x"));
    outcome.expect_values(("#7", "x#7", 70, 49));
}

#[test]
fn the_interpreter_knows_optional_operands() {
    let program = testing::program(
        r#"
        func @sums(%a: i32) -> (i32, i32) attributes {tfrt.sync} {
          %b = "optional.last"(%a) : (i32) -> i32
          %c = "optional.last"(%a, %b) : (i32, i32) -> i32
          tfrt.return %b, %c : i32, i32
        }
        "#,
    );
    program.call("sums", (1,)).expect_values((101, 102));
}

#[test]
fn too_many_operands_are_refused() {
    let registry = KernelRegistry::from_link().unwrap();
    let op = registry.op("optional.scale").unwrap();
    assert_eq!(op.operands[1].arity, Arity::Optional);
    let refusal = testing::program(
        r#"
        func @three(%a: i32) -> i32 {
          %b = "optional.scale"(%a, %a, %a) : (i32, i32, i32) -> i32
          tfrt.return %b : i32
        }
        "#,
    );
    refusal.expect_refused("operand group starting at #1 requires 0 or 1 element");
}
