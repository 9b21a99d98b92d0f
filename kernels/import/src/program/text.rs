//! The text of programs.

use std::fmt::Write;

use tfrt_support::DType;

use super::structure::{Function, Op, OpKind};
use super::{Attr, Body, FUNCTION, Value};

/// The spelling of handles.
const HANDLE: &str = "!corert.tensorhandle";

/// The spelling of chains.
const CHAIN: &str = "!tfrt.chain";

/// Returns a program.
pub(super) fn program(body: &Body) -> String {
    let mut text = String::new();
    for function in &body.functions {
        write_function(&mut text, function);
    }
    write_main(&mut text, body, FUNCTION);
    text
}

/// Writes the function of a program, which inner functions belong to.
pub(super) fn write_main(text: &mut String, body: &Body, name: &str) {
    let inputs = body.inputs.iter().chain(&body.weights);
    let arguments = inputs.map(|value| format!("%v{}: {HANDLE}", value.0));
    let types = vec![HANDLE; body.results.len()].join(", ");
    let _ = write!(
        text,
        "func @{name}({}) -> ({types}) {{\n  %chain = tfrt.new.chain\n  \
         %cpu = corert.get_op_handler %chain \"cpu\"\n",
        arguments.collect::<Vec<_>>().join(", "),
    );
    write_ops(text, &body.ops);
    let results = names(body.results.iter().copied());
    match body.results.is_empty() {
        true => text.push_str("  tfrt.return\n}\n"),
        false => {
            let _ = write!(text, "  tfrt.return {results} : {types}\n}}\n");
        }
    }
}

/// Writes a branch, or a part of a loop.
fn write_function(text: &mut String, function: &Function) {
    let handles =
        |values: &[Value], of: fn(&Value) -> String| -> String { values.iter().map(of).collect() };
    let _ = write!(
        text,
        "func private @{}(%chain: {CHAIN}{}) -> ({CHAIN}{}) {{\n  \
         %cpu = \"corert.handler_of_device\"() {{ device = \"CPU:0\" }} : () -> !corert.ophandler\n",
        function.name,
        handles(&function.arguments, |value| format!(
            ", %v{}: {HANDLE}",
            value.0
        )),
        format!(", {HANDLE}").repeat(function.results.len()),
    );
    write_ops(text, &function.ops);
    let _ = writeln!(
        text,
        "  tfrt.return %chain{} : {CHAIN}{}\n}}",
        handles(&function.results, |value| format!(", %v{}", value.0)),
        format!(", {HANDLE}").repeat(function.results.len()),
    );
}

fn write_ops(text: &mut String, ops: &[Op]) {
    for (index, op) in ops.iter().enumerate() {
        write_op(text, op, index);
    }
}

/// Writes an op, which is number `index` of its function.
pub(super) fn write_op(text: &mut String, op: &Op, index: usize) {
    let place = quoted_text(&op.place);
    let (call, operands) = match (&op.kind, op.operands.split_first()) {
        (OpKind::Call { name, attrs }, _) => {
            text.push_str("  ");
            if !op.results.is_empty() {
                let _ = write!(text, "{} = ", names(op.results.iter().copied()));
            }
            let operands = names(op.operands.iter().copied());
            let _ = write!(text, "corert.executeop(%cpu) \"{name}\"({operands})");
            if !attrs.is_empty() {
                let attrs = attrs
                    .iter()
                    .map(|(name, attr)| format!("{name} = {}", spelled(attr)));
                let _ = write!(text, " {{ {} }}", attrs.collect::<Vec<_>>().join(", "));
            }
            let _ = writeln!(text, " : {} loc({place})", op.results.len());
            return;
        }
        (OpKind::Conditional { then, otherwise }, Some((condition, operands))) => (
            format!("corert.cond %v{} @{then} @{otherwise}", condition.0),
            operands,
        ),
        (OpKind::Conditional { .. }, None) => return,
        (OpKind::Repeat { condition, body }, _) => (
            format!("corert.while @{condition} @{body}"),
            &op.operands[..],
        ),
    };
    let values = |values: &[Value]| -> String {
        values
            .iter()
            .map(|value| format!(", %v{}", value.0))
            .collect()
    };
    let types = |count: usize| vec![HANDLE; count].join(", ");
    let _ = writeln!(
        text,
        "  %chain_{index}{} = {call} (%chain{}) : ({}) -> ({}) loc({place})",
        values(&op.results),
        values(operands),
        types(operands.len()),
        types(op.results.len()),
    );
}

fn names(values: impl Iterator<Item = Value>) -> String {
    let names = values.map(|value| format!("%v{}", value.0));
    names.collect::<Vec<_>>().join(", ")
}

pub(crate) fn spelled(attr: &Attr) -> String {
    match attr {
        Attr::Bool(value) => value.to_string(),
        Attr::Int(value) => format!("{value} : i64"),
        Attr::Float(value) => spelled_number(*value),
        Attr::Floats(values) => {
            let values = values.iter().map(|&value| spelled_number(value));
            format!("[{}]", values.collect::<Vec<_>>().join(", "))
        }
        Attr::Text(value) => quoted_text(value),
        Attr::Ints(values) => {
            let values = values.iter().map(|value| format!("{value} : i64"));
            format!("[{}]", values.collect::<Vec<_>>().join(", "))
        }
        Attr::Type(dtype) => spelled_dtype(*dtype),
    }
}

/// Returns an element type as MLIR spells it.
#[must_use]
pub fn spelled_dtype(dtype: DType) -> String {
    match dtype {
        DType::Ui8 => "ui8".to_owned(),
        DType::Ui16 => "ui16".to_owned(),
        DType::Ui32 => "ui32".to_owned(),
        DType::Ui64 => "ui64".to_owned(),
        DType::Complex64 => "complex<f32>".to_owned(),
        DType::Complex128 => "complex<f64>".to_owned(),
        other => other.to_string(),
    }
}

/// Returns a number as MLIR spells it, so that no digit is lost.
#[must_use]
pub fn spelled_number(value: f32) -> String {
    if !value.is_finite() {
        return format!("0x{:08X} : f32", value.to_bits());
    }
    // The shortest text that means this number; an exponent needs a fraction before it.
    let text = format!("{value:?}");
    let text = match text.split_once('e') {
        Some((digits, exponent)) if !digits.contains('.') => format!("{digits}.0e{exponent}"),
        _ => text,
    };
    format!("{text} : f32")
}

/// Returns a text as MLIR quotes it: bytes that are not printable ASCII as two hexadecimal digits.
#[must_use]
pub fn quoted_text(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for byte in text.bytes() {
        match byte {
            b'"' | b'\\' => {
                let _ = write!(quoted, "\\{byte:02X}");
            }
            b' '..=b'~' => quoted.push(char::from(byte)),
            _ => {
                let _ = write!(quoted, "\\{byte:02X}");
            }
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_spelled_so_that_they_are_read_as_they_are() {
        let check = |attr: Attr, expected: &str| assert_eq!(spelled(&attr), expected);
        check(Attr::Float(1e-5), "1.0e-5 : f32");
        check(Attr::Float(1.5), "1.5 : f32");
        check(Attr::Float(f32::NEG_INFINITY), "0xFF800000 : f32");
        check(Attr::Ints(vec![1, -2]), "[1 : i64, -2 : i64]");
        check(
            Attr::Floats(vec![0.5, f32::INFINITY]),
            "[0.5 : f32, 0x7F800000 : f32]",
        );
        check(Attr::Type(DType::Ui8), "ui8");
        check(Attr::Text("a\"\n".to_owned()), "\"a\\22\\0A\"");
    }
}
