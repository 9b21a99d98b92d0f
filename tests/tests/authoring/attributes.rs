//! Enums as attributes, and attributes without names.

use tfrt::kernel::AttributeParam;
use tfrt::ods::{AttrDefault, AttrKind};
use tfrt::prelude::*;
use tfrt::testing;

#[derive(Attr, Clone, Copy, Debug, PartialEq)]
enum Padding {
    #[attr("SAME")]
    Same,
    Valid = 5,
    SameUpper,
}

#[tfrt_kernel("attribute.pad", format = "$number $mode attr-dict")]
fn pad(number: i32, #[attr] mode: Padding) -> String {
    format!("{number} {mode:?}")
}

#[tfrt_kernel("attribute.pad_or_not")]
fn pad_or_not(#[attr(default = Padding::SameUpper)] mode: Padding) -> bool {
    mode == Padding::SameUpper
}

#[tfrt_kernel("attribute.sum_all")]
fn sum_all(numbers: Attributes<'_>) -> Result<i32> {
    (0..numbers.len())
        .map(|index| numbers.get::<i32>(index))
        .sum()
}

#[tfrt_kernel("attribute.sum_all_s", sync)]
fn sum_all_sync(numbers: Attributes<'_>) -> Result<i32> {
    sum_all(numbers)
}

/// Gives `high * 10 + low`.
#[tfrt_kernel("attribute.free", attribute_names = free)]
fn free(#[attr] low: i32, #[attr] high: i32) -> i32 {
    high * 10 + low
}

#[tfrt_kernel("attribute.first", raw, results(first: i32), attribute_names = any)]
fn first_of_any(frame: &mut KernelFrame<'_>) -> Result<()> {
    let first = frame.attribute::<i32>(0)?;
    frame.set_result(0, AnyRef::available(first));
    Ok(())
}

#[test]
fn free_names_are_bound_in_their_order() {
    let program = testing::program(
        r#"
        func @free() -> (i32, i32, i32) {
          %own = "attribute.free"() {low = 1 : i32, high = 2 : i32} : () -> i32
          %other = "attribute.free"() {b = 1 : i32, a = 2 : i32} : () -> i32
          %first = "attribute.first"() {b = 1 : i32, a = 2 : i32, c = 3 : i32} : () -> i32
          tfrt.return %own, %other, %first : i32, i32, i32
        }
        "#,
    );
    program.call("free", ()).expect_values((21, 21, 2));
}

#[test]
fn an_enum_is_a_number_with_a_keyword() {
    let AttrKind::Enum(def) = <Padding as AttributeParam>::KIND else {
        panic!("an enum is an enum");
    };
    let cases: Vec<_> = def
        .cases
        .iter()
        .map(|case| (case.keyword, case.value))
        .collect();
    assert_eq!(cases, [("SAME", 0), ("valid", 5), ("same_upper", 6)]);
    assert_eq!((def.name, def.width), ("Padding", 32));
}

#[test]
fn the_number_in_a_file_becomes_the_case() {
    let program = testing::program(
        r#"
        func @pad(%a: i32) -> !tfrt.string {
          %b = "attribute.pad"(%a) {mode = 5 : i32} : (i32) -> !tfrt.string
          tfrt.return %b : !tfrt.string
        }
        "#,
    );
    program
        .call("pad", (1,))
        .expect_value(String::from("1 Valid"));
}

#[test]
fn a_number_without_a_case_is_refused() {
    let program = testing::program(
        r#"
        func @pad(%a: i32) -> !tfrt.string {
          %b = "attribute.pad"(%a) {mode = 1 : i32} : (i32) -> !tfrt.string
          tfrt.return %b : !tfrt.string
        }
        "#,
    );
    program.expect_refused("allowed 32-bit signless integer cases: 0, 5, 6");
}

#[test]
fn a_case_can_be_the_default() {
    let registry = KernelRegistry::from_link().unwrap();
    let op = registry.op("attribute.pad_or_not").unwrap();
    assert_eq!(op.attributes[0].default, Some(AttrDefault::Int(6)));
    let program = testing::program(
        r#"
        func @pad() -> i1 {
          %b = "attribute.pad_or_not"() : () -> i1
          tfrt.return %b : i1
        }
        "#,
    );
    program.call("pad", ()).expect_value(true);
}

#[test]
fn attributes_without_names_come_in_byte_order() {
    let program = testing::program(
        r#"
        func @sum() -> i32 {
          %b = "attribute.sum_all"() {z = 1 : i32, a = 20 : i32, m = 300 : i32} : () -> i32
          tfrt.return %b : i32
        }
        func @sum_s() -> i32 attributes {tfrt.sync} {
          %b = "attribute.sum_all_s"() {z = 1 : i32, a = 20 : i32} : () -> i32
          tfrt.return %b : i32
        }
        "#,
    );
    program.call("sum", ()).expect_value(321);
    program.call("sum_s", ()).expect_value(21);
}
