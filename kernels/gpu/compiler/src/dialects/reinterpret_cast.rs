//! `memref.reinterpret_cast`: memory with another shape.
//!
//! Each offset, size and stride is a number of the text, or a value. Attributes hold the numbers,
//! with a mark in the place of each value; the operands behind the memory are the values.

use tfrt_ir::syntax::{NamedValue, OpParser, OpPrinter, OpSyntax};
use tfrt_ir::{Attribute, Module, OpId, OpState, ValueId};

use super::{Parsed, print_types, syntax, typed_operands};

pub(super) const SYNTAXES: &[OpSyntax] = &[syntax("memref.reinterpret_cast", parse, print)];

/// A list of numbers and values.
struct List {
    /// The word in front of it.
    word: &'static str,
    /// The attribute with its numbers.
    attribute: &'static str,
    /// The number in the place of a value.
    mark: i64,
}

const LISTS: [List; 3] = [
    List {
        word: "offset",
        attribute: "static_offsets",
        mark: i64::MIN,
    },
    List {
        word: "sizes",
        attribute: "static_sizes",
        mark: -1,
    },
    List {
        word: "strides",
        attribute: "static_strides",
        mark: i64::MIN,
    },
];

/// The attribute with the numbers of operands: the memory, then those of each list.
const SEGMENTS: &str = "operand_segment_sizes";

/// Returns `true` if the memory starts where the source of the cast starts, in every run.
pub(crate) fn has_no_offset(module: &Module, cast: OpId) -> bool {
    numbers(module, cast, &LISTS[0]).is_some_and(|offsets| offsets.iter().all(|&at| at == 0))
}

fn numbers(module: &Module, op: OpId, list: &List) -> Option<Vec<i64>> {
    let Attribute::Array(elements) = module.attribute(module.attr(op, list.attribute)?) else {
        return None;
    };
    let numbers = elements
        .iter()
        .map(|&element| match module.attribute(element) {
            Attribute::Integer { value, .. } => i64::try_from(*value).ok(),
            _ => None,
        });
    numbers.collect()
}

/// `%memory to offset: […], sizes: […], strides: […] attr-dict : T to U`
fn parse(parser: &mut OpParser<'_, '_, '_>, state: &mut OpState) -> Parsed<()> {
    let memory = parser.value()?;
    parser.expect("to")?;
    let mut values: Vec<NamedValue<'_>> = Vec::new();
    let mut segments = vec![1];
    for (index, list) in LISTS.iter().enumerate() {
        if index != 0 {
            parser.expect(",")?;
        }
        parser.expect(list.word)?;
        parser.expect(":")?;
        parser.expect("[")?;
        let before = values.len();
        let mut numbers = Vec::new();
        parser.list_until("]", |parser| {
            let number = if parser.is_value() {
                values.push(parser.value()?);
                list.mark
            } else {
                parser.integer()?
            };
            numbers.push(parser.module().integer_attr(number.into(), 64));
            Ok(())
        })?;
        segments.push(values.len() - before);
        let numbers = Attribute::Array(numbers.into());
        let numbers = parser.module().intern_attribute(numbers);
        state.attributes.push((list.attribute.into(), numbers));
    }
    parser.opt_attributes(state)?;
    parser.push_segment_sizes(state, &segments);
    typed_operands(parser, &[memory], state)?;
    super::indices(parser, values, state)?;
    parser.expect("to")?;
    let ty = parser.ty()?;
    state.result_types.push(ty);
    Ok(())
}

fn print(printer: &mut OpPrinter<'_, '_>, module: &Module, op: OpId) -> bool {
    let Some(lists) = lists_of(module, op) else {
        return false;
    };
    let Some(&memory) = module.operands(op).first() else {
        return false;
    };
    printer.text(" ");
    printer.value(memory);
    printer.text(" to ");
    for (index, (list, entries)) in LISTS.iter().zip(lists).enumerate() {
        if index != 0 {
            printer.text(", ");
        }
        printer.text(list.word);
        printer.text(": [");
        for (index, entry) in entries.into_iter().enumerate() {
            if index != 0 {
                printer.text(", ");
            }
            match entry {
                Entry::Value(value) => printer.value(value),
                Entry::Number(number) => printer.text(&number.to_string()),
            }
        }
        printer.text("]");
    }
    let mut shown = LISTS.map(|list| list.attribute).to_vec();
    shown.push(SEGMENTS);
    printer.attributes_but(op, &shown, false);
    print_types(printer, &[memory]);
    printer.text(" to ");
    printer.types_of(module.results(op));
    true
}

/// An element of a list.
enum Entry {
    Number(i64),
    Value(ValueId),
}

/// Returns the lists of an op, if its attributes and operands fit together.
fn lists_of(module: &Module, op: OpId) -> Option<Vec<Vec<Entry>>> {
    let segments = module.operand_segments(op, 1 + LISTS.len())?;
    if segments[0] != 1 || module.results(op).len() != 1 {
        return None;
    }
    let mut values = module.operands(op)[1..].iter();
    let mut lists = Vec::new();
    for (list, &count) in LISTS.iter().zip(&segments[1..]) {
        let mut values = values.by_ref().take(count);
        let mut entries = Vec::new();
        for number in numbers(module, op, list)? {
            entries.push(match number == list.mark {
                true => Entry::Value(*values.next()?),
                false => Entry::Number(number),
            });
        }
        if values.next().is_some() {
            return None;
        }
        lists.push(entries);
    }
    Some(lists)
}
