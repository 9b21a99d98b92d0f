//! What a function does, as a number.
//!
//! Two functions have the same digest if their bodies have the same ops in the same order, with the
//! same attributes and the same uses of values, and if the functions that they refer to agree in
//! the same way. Names of functions, locations and the order of functions in a file do not count.
//!
//! An op also refers to a function that an attribute names, since ops may call functions by name.
//! A string is such a name if the file has a function of this name. As it may be an ordinary
//! string, the string counts, too.

use std::collections::HashMap;
use std::fmt::{self, Write};

use tfrt_attr::decode::decode;
use tfrt_attr::{AttrTypeCode, AttrTypeKind, AttrValue};
use tfrt_bef::{AttributeOffset, FunctionId};
use tfrt_support::FunctionKind;
use tfrt_support::entity::EntityId;
use tfrt_support::fnv::Fnv1a;

use super::program::Program;

/// Returns the digest of a function. Returns `None` if the file does not have the types of its
/// attributes, without which they cannot be compared.
pub(super) fn digest_of(program: &Program, function: FunctionId) -> Option<u64> {
    let mut digest = Digest::default();
    let mut found = Found::default();
    found.number_of(function);
    let mut next = 0;
    while let Some(&function) = found.functions.get(next) {
        next += 1;
        add_function(program, function, &mut found, &mut digest)?;
    }
    Some(digest.0.finish())
}

/// The functions whose bodies count, numbered as they are found, so that recursion ends.
#[derive(Default)]
struct Found {
    functions: Vec<FunctionId>,
    numbers: HashMap<FunctionId, usize>,
}

impl Found {
    fn number_of(&mut self, function: FunctionId) -> usize {
        let next = self.functions.len();
        let number = *self.numbers.entry(function).or_insert(next);
        if number == next {
            self.functions.push(function);
        }
        number
    }
}

fn add_function(
    program: &Program,
    function: FunctionId,
    found: &mut Found,
    digest: &mut Digest,
) -> Option<()> {
    let entry = program.entry(function);
    let (kind, arguments, results) = (entry.kind, &entry.argument_types, &entry.result_types);
    digest.add(format_args!("{kind:?} {arguments:?} {results:?}"));
    if kind == FunctionKind::Native {
        // Its code is in the host.
        digest.add(format_args!("{}", entry.name));
        return Some(());
    }
    let tables = &program.tables;
    let body = tables.bef.function(function).ok()?;
    for kernel in body.kernels() {
        let record = body.record(kernel);
        digest.add(format_args!("{}", tables.kernel(record.code).op().name));
        let (num_operands, num_results) = (record.operands.len(), record.results.len());
        digest.add(format_args!("{num_operands} {num_results}"));
        for register in record.operands.iter().chain(record.results.iter()) {
            digest.add(format_args!("{register:?}"));
        }
        for offset in record.attributes.iter() {
            let value = attribute(program, offset)?;
            digest.add_value(&value);
            for_each_named(program, &value, &mut |callee| {
                digest.add(format_args!("function {}", found.number_of(callee)));
            });
        }
        for callee in record.functions.iter() {
            digest.add(format_args!("function {}", found.number_of(callee)));
        }
    }
    digest.add(format_args!("{:?}", body.results()));
    Some(())
}

/// Returns an attribute, or `None` if the file does not have its type.
fn attribute(program: &Program, offset: AttributeOffset) -> Option<AttrValue> {
    let (position, code) = typed(program, offset)?;
    decode(program.tables.bef.attributes(), position, code).ok()
}

/// Returns the position and the type of an attribute, if the file has its type.
fn typed(program: &Program, offset: AttributeOffset) -> Option<(u32, AttrTypeCode)> {
    let position = u32::try_from(offset.index()).ok()?;
    Some((position, program.tables.attribute_code(position)?))
}

/// Calls `visit` with each function of the file that an attribute names.
fn for_each_named(program: &Program, value: &AttrValue, visit: &mut impl FnMut(FunctionId)) {
    let name = match value {
        AttrValue::Func(name) => Some(&**name),
        AttrValue::String(bytes) => str::from_utf8(bytes).ok(),
        AttrValue::Array(elements) => {
            for element in elements {
                for_each_named(program, element, visit);
            }
            None
        }
        _ => None,
    };
    if let Some(callee) = name.and_then(|name| program.tables.id_of(name)) {
        visit(callee);
    }
}

/// Returns the functions of the file that the attributes of a kernel name.
pub(super) fn named_functions(
    program: &Program,
    attributes: impl Iterator<Item = AttributeOffset>,
) -> Vec<FunctionId> {
    let may_name = |offset: &AttributeOffset| {
        let kind = typed(program, *offset).map(|(_, code)| code.kind());
        matches!(
            kind,
            Some(AttrTypeKind::Func | AttrTypeKind::String | AttrTypeKind::Aggregate)
        )
    };
    let mut named = Vec::new();
    let values = attributes.filter(may_name);
    for value in values.filter_map(|offset| attribute(program, offset)) {
        for_each_named(program, &value, &mut |callee| named.push(callee));
    }
    named
}

/// A hash of texts, each of which ends with a zero.
#[derive(Default)]
struct Digest(Fnv1a);

impl Digest {
    fn add(&mut self, text: fmt::Arguments<'_>) {
        // Never fails.
        let _ = self.0.write_fmt(text);
        self.0.add(b"\0");
    }

    /// Adds an attribute without the names of functions in it.
    fn add_value(&mut self, value: &AttrValue) {
        match value {
            AttrValue::Func(_) => self.add(format_args!("a function")),
            AttrValue::Array(elements) => {
                self.add(format_args!("{} elements", elements.len()));
                for element in elements {
                    self.add_value(element);
                }
            }
            value => self.add(format_args!("{value:?}")),
        }
    }
}
