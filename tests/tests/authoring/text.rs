//! Texts, and the byte strings that they are as values.

use tfrt::prelude::*;
use tfrt::testing::{self, TestOutcome};

#[tfrt_kernel("text.lent", sync = "text_sync.lent", results(len))]
fn lent(text: &str) -> i64 {
    text.chars().count().try_into().unwrap_or(i64::MAX)
}

#[tfrt_kernel("text.owned", results(grown))]
fn owned(mut text: String) -> String {
    text.push('!');
    text
}

#[tfrt_kernel("text.bytes", results(first))]
fn bytes(bytes: &[u8]) -> ByteString {
    bytes.get(..1).unwrap_or_default().into()
}

#[tfrt_kernel("text.payload", results(reversed))]
fn payload(bytes: ByteString) -> ByteString {
    let mut bytes = bytes.into_bytes();
    bytes.reverse();
    bytes.into()
}

#[tfrt_kernel("text.attribute", results(same))]
fn attribute(#[attr] value: ByteString) -> ByteString {
    value
}

#[tfrt_kernel("text.text_attribute", results(same))]
fn text_attribute(#[attr] value: &str) -> String {
    value.to_owned()
}

#[tfrt_kernel("text.split", results(parts))]
fn split(text: String, #[operand(default = " ")] by: &str) -> Vec<String> {
    text.split(by).map(str::to_owned).collect()
}

#[tfrt_kernel("text.optional", results(all))]
fn optional(first: &[u8], second: Option<String>) -> String {
    format!("{first:?} {second:?}")
}

#[tfrt_kernel("text.optional_bytes", results(all))]
fn optional_bytes(number: i32, second: Option<&[u8]>) -> String {
    format!("{number} {second:?}")
}

#[tfrt_kernel("text.blocking", blocking, results(joined))]
fn blocking(a: &str, b: String) -> String {
    a.to_owned() + &b
}

#[tfrt_kernel("text.future", results(joined))]
async fn future(a: &str, b: &[u8]) -> Result<String> {
    Ok(format!("{a}{}", b.len()))
}

#[tfrt_kernel("text.reference", results(len))]
fn reference(text: AsyncValueRef<ByteString>) -> i64 {
    text.get()
        .map_or(-1, |bytes| bytes.len().try_into().unwrap_or(i64::MAX))
}

const NO_TEXT: &[u8] = b"ab\xffc";

fn run(kernel: &str, bytes: impl Into<ByteString>) -> TestOutcome {
    testing::kernel(kernel).operands((bytes.into(),)).run()
}

#[test]
fn text_is_taken_in_every_form() {
    run("text.lent", "caf\u{e9}").expect_value(4_i64);
    run("text.owned", "a").expect_value("a!");
    run("text.bytes", "xyz").expect_value(String::from("x"));
    run("text.payload", "xyz").expect_value("zyx");
    run("text.reference", "xyz").expect_value(3_i64);
    let joined = testing::kernel("text.blocking").operands(("a", String::from("b")));
    joined.run().expect_value("ab");
    let joined = testing::kernel("text.future").operands(("a", "bcd"));
    joined.run().expect_value("a3");
}

#[test]
fn bytes_need_not_be_text() {
    run("text.bytes", &NO_TEXT[2..]).expect_value(ByteString::from(b"\xff"));
    run("text.payload", NO_TEXT).expect_value(ByteString::from(b"c\xffba"));
    run("text.reference", NO_TEXT).expect_value(4_i64);
    let joined = testing::kernel("text.future").operands(("a", ByteString::from(NO_TEXT)));
    joined.run().expect_value("a4");
}

#[test]
fn who_asks_for_text_is_told_where_there_is_none() {
    let no_text =
        "expected UTF-8 text, found byte 0xff at offset 2, which does not start a character";
    for (kernel, operand) in [("text.lent", "text"), ("text.owned", "text")] {
        run(kernel, NO_TEXT)
            .expect_error(&format!("operand `{operand}` of `{kernel}`: {no_text}"))
            .with_code(ErrorCode::InvalidArgument);
    }
    for kernel in ["text.blocking", "text.future"] {
        let outcome = testing::kernel(kernel).operands((ByteString::from(NO_TEXT), "b"));
        outcome
            .run()
            .expect_error(&format!("operand `a` of `{kernel}`: {no_text}"));
    }
    let second = testing::kernel("text.optional").operands(("a", ByteString::from(NO_TEXT)));
    second
        .run()
        .expect_error(&format!("operand `second` of `text.optional`: {no_text}"));
}

#[test]
fn attributes_hold_any_bytes() {
    let program = testing::program(
        r#"
        func @bytes() -> !tfrt.string {
          %value = "text.attribute"() {value = "\FF\D8"} : () -> !tfrt.string
          tfrt.return %value : !tfrt.string
        }
        "#,
    );
    let outcome = program.call("bytes", ());
    outcome.expect_value(ByteString::from(b"\xff\xd8"));
    let value = ByteString::from(b"\xff\xd8");
    testing::kernel("text.attribute")
        .attribute("value", value.clone())
        .run()
        .expect_value(value);
}

#[test]
fn an_attribute_that_is_no_text_is_refused_where_text_is_read() {
    let program = testing::program(
        r#"
        func @text() -> !tfrt.string {
          %value = "text.text_attribute"() {value = "\FF\D8"} : () -> !tfrt.string
          tfrt.return %value : !tfrt.string
        }
        "#,
    );
    program
        .expect_refused(
            "attribute `value` of `text.text_attribute`: attribute data at offset 4: expected \
             UTF-8 text",
        )
        .on_line(3);
}

#[test]
fn texts_may_be_left_out() {
    let split = |texts: Vec<&str>, num_results| {
        let types = vec!["!tfrt.string"; num_results];
        testing::kernel("text.split")
            .operands(texts)
            .results(types)
            .run()
    };
    split(vec!["a b-c"], 2).expect_values(("a", "b-c"));
    split(vec!["a b-c", "-"], 2).expect_values(("a b", "c"));
    run("text.optional", "a").expect_value("[97] None");
    let both = testing::kernel("text.optional").operands(("a", "b"));
    both.run().expect_value("[97] Some(\"b\")");
    let bytes = testing::kernel("text.optional_bytes").operands((1, ByteString::from(b"\xff")));
    bytes.run().expect_value("1 Some([255])");
    let none = testing::kernel("text.optional_bytes").operands((1,));
    none.run().expect_value("1 None");
}

#[test]
fn the_interpreter_takes_text() {
    let program = testing::program(
        r#"
        func @len(%text: !tfrt.string) -> i64 attributes {tfrt.sync} {
          %len = "text_sync.lent"(%text) : (!tfrt.string) -> i64
          tfrt.return %len : i64
        }
        "#,
    );
    let outcome = program.call("len", ("abc",));
    outcome.expect_value(3_i64);
    let outcome = program.call("len", (ByteString::from(NO_TEXT),));
    outcome.expect_error("operand `text` of `text_sync.lent`: expected UTF-8 text");
}
