//! Enums as attributes, and attributes without names.

use tfrt::kernel::AttrParam;
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

#[tfrt_kernel("attribute.describe", format = "$number (`as` $name^)? attr-dict")]
fn describe(
    number: i32,
    #[attr] axis: Option<i64>,
    #[attr] mode: Option<Padding>,
    #[attr] name: Option<&str>,
    #[attr] sizes: Option<&[i32]>,
) -> String {
    format!("{number} {axis:?} {mode:?} {name:?} {sizes:?}")
}

#[tfrt_kernel(
    "attribute.describe_frame",
    raw,
    attrs(axis: Option<i64>, base: i64),
    results(text: "!tfrt.string")
)]
fn describe_frame(frame: &mut KernelFrame<'_>) -> Result<()> {
    let (axis, base) = (
        frame.attribute::<Option<i64>>(0)?,
        frame.attribute::<i64>(1)?,
    );
    frame.set_result(
        0,
        AnyRef::available(ByteString::from(format!("{axis:?} {base}"))),
    );
    Ok(())
}

/// Returns `high * 10 + low`.
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
    let AttrKind::Enum(def) = <Padding as AttrParam>::KIND else {
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

/// What the first result of `op` is, in a program that runs nothing else.
fn described(op: &str) -> testing::TestOutcome {
    let program = testing::program(&format!(
        "func @main(%x: i32) -> !tfrt.string {{\n  %y = {op}\n  tfrt.return %y : !tfrt.string\n}}"
    ));
    program.call("main", (3,))
}

#[test]
fn an_optional_attribute_that_is_missing_is_none() {
    described("attribute.describe %x").expect_value("3 None None None None");
    described("attribute.describe %x as \"n\"").expect_value("3 None None Some(\"n\") None");
    described("\"attribute.describe\"(%x) {axis = 7} : (i32) -> !tfrt.string")
        .expect_value("3 Some(7) None None None");
    described(
        "attribute.describe %x as \"n\" {axis = -1, mode = 5 : i32, sizes = [1 : i32, 2 : i32]}",
    )
    .expect_value("3 Some(-1) Some(Valid) Some(\"n\") Some([1, 2])");
    // One that the declaration does not know shifts nothing.
    described("attribute.describe %x {a.note = 1, axis = 2, z.note = 3}")
        .expect_value("3 Some(2) None None None");
}

#[test]
fn an_optional_attribute_is_read_from_a_frame() {
    described("\"attribute.describe_frame\"() {base = 4} : () -> !tfrt.string")
        .expect_value("None 4");
    described("\"attribute.describe_frame\"() {axis = 2, base = 4} : () -> !tfrt.string")
        .expect_value("Some(2) 4");
}

#[test]
fn an_optional_attribute_of_another_kind_is_refused() {
    let program = testing::program(
        r#"
        func @main(%x: i32) -> !tfrt.string {
          %y = "attribute.describe"(%x) {axis = "seven"} : (i32) -> !tfrt.string
          tfrt.return %y : !tfrt.string
        }
        "#,
    );
    program.expect_refused("attribute 'axis' failed to satisfy constraint");
}

#[test]
fn an_optional_attribute_is_declared_and_documented_as_such() {
    let registry = KernelRegistry::from_link().unwrap();
    let op = registry.op("attribute.describe").unwrap();
    assert!(op.attributes.iter().all(tfrt::ods::AttrDef::is_optional));
    let frame = registry.op("attribute.describe_frame").unwrap();
    let optional = frame.attributes.iter().map(tfrt::ods::AttrDef::is_optional);
    assert_eq!(optional.collect::<Vec<_>>(), [true, false]);
}
