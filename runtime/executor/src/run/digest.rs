//! What a function does, as a number.
//!
//! Two functions have the same digest if their bodies have the same ops in the same order, with the
//! same attributes and the same uses of values, and if the functions that they refer to agree in
//! the same way. Names of functions, locations and the order of functions in a file do not count.

use std::collections::HashMap;
use std::fmt::{self, Write};

use tfrt_attr::decode::decode;
use tfrt_bef::FunctionId;
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
            let position = u32::try_from(offset.index()).ok()?;
            let code = tables.attribute_code(position)?;
            let value = decode(tables.bef.attributes(), position, code).ok()?;
            digest.add(format_args!("{value:?}"));
        }
        for callee in record.functions.iter() {
            digest.add(format_args!("function {}", found.number_of(callee)));
        }
    }
    digest.add(format_args!("{:?}", body.results()));
    Some(())
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
}
