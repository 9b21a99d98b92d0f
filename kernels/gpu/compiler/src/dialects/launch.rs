//! `gpu.launch_func`: the launch of a kernel.

use tfrt_ir::syntax::{OpParser, OpPrinter, OpSyntax};
use tfrt_ir::{Attribute, Module, OpId, OpState, ValueId};

use super::{Parsed, async_dependencies, print_dependencies, syntax};

pub(super) const SYNTAXES: &[OpSyntax] = &[syntax("gpu.launch_func", parse, print)];

/// The attribute that names the kernel: `@module::@kernel`.
const KERNEL: &str = "kernel";

/// The operands of a launch.
pub(crate) struct Launch<'a> {
    /// The tokens that it waits for.
    pub(crate) tokens: &'a [ValueId],
    /// The numbers of blocks, then those of threads, each along x, y and z.
    pub(crate) sizes: &'a [ValueId],
    /// The size of the dynamic shared memory.
    pub(crate) shared: Option<ValueId>,
    /// The arguments of the kernel.
    pub(crate) arguments: &'a [ValueId],
    /// The module, and the kernel in it.
    pub(crate) kernel: [&'a str; 2],
}

impl<'a> Launch<'a> {
    /// Returns the operands of `op`, if they are those of a launch.
    pub(crate) fn of(module: &'a Module, op: OpId) -> Option<Self> {
        let segments = module.operand_segments(op, 9)?;
        if segments[1..7].iter().any(|&size| size != 1) || segments[7] > 1 {
            return None;
        }
        let (tokens, rest) = module.operands(op).split_at(segments[0]);
        let (sizes, rest) = rest.split_at(6);
        let (shared, arguments) = rest.split_at(segments[7]);
        let Attribute::SymbolRef { root, nested } = module.attribute(module.attr(op, KERNEL)?)
        else {
            return None;
        };
        let [name] = &**nested else { return None };
        Some(Self {
            tokens,
            sizes,
            shared: shared.first().copied(),
            arguments,
            kernel: [root, name],
        })
    }
}

/// `async? [%tokens]? @m::@k blocks in (…) threads in (…) (dynamic_shared_memory_size %d)? (args(%a : T, …))? attr-dict`
fn parse(parser: &mut OpParser<'_, '_, '_>, state: &mut OpState) -> Parsed<()> {
    state.operands = async_dependencies(parser, state)?;
    let num_tokens = state.operands.len();
    let kernel = parser.attribute(None)?;
    match parser.module().attribute(kernel) {
        Attribute::SymbolRef { nested, .. } if nested.len() == 1 => {}
        _ => return Err(parser.error_at_op("expected a kernel such as '@module::@kernel'")),
    }
    state.attributes.push((KERNEL.into(), kernel));
    for word in ["blocks", "threads"] {
        parser.expect(word)?;
        parser.expect("in")?;
        parser.expect("(")?;
        let sizes = parser.values()?;
        if sizes.len() != 3 {
            return Err(parser.error("expected three sizes"));
        }
        parser.expect(")")?;
        super::indices(parser, sizes, state)?;
    }
    let has_shared = parser.opt("dynamic_shared_memory_size");
    if has_shared {
        let size = parser.value()?;
        let ty = parser.known_type("i32");
        state.operands.push(parser.resolve(size, ty)?);
    }
    let mut num_arguments = 0;
    if parser.opt("args") {
        parser.expect("(")?;
        parser.list_until(")", |parser| {
            let name = parser.value()?;
            parser.expect(":")?;
            let ty = parser.ty()?;
            state.operands.push(parser.resolve(name, ty)?);
            num_arguments += 1;
            Ok(())
        })?;
    }
    parser.opt_attributes(state)?;
    let shared = usize::from(has_shared);
    let segments = [num_tokens, 1, 1, 1, 1, 1, 1, shared, num_arguments];
    parser.push_segment_sizes(state, &segments);
    Ok(())
}

fn print(printer: &mut OpPrinter<'_, '_>, module: &Module, op: OpId) -> bool {
    let results = module.results(op);
    let Some(launch) = Launch::of(module, op) else {
        return false;
    };
    if results.len() > 1 {
        return false;
    }
    print_dependencies(printer, !results.is_empty(), launch.tokens);
    let [of, name] = launch.kernel;
    printer.text(" ");
    printer.symbol(of);
    printer.text("::");
    printer.symbol(name);
    for (word, sizes) in ["blocks", "threads"].iter().zip(launch.sizes.chunks(3)) {
        printer.text(" ");
        printer.text(word);
        printer.text(" in (");
        printer.values(sizes);
        printer.text(")");
    }
    if let Some(size) = launch.shared {
        printer.text(" dynamic_shared_memory_size ");
        printer.value(size);
    }
    if !launch.arguments.is_empty() {
        printer.text(" args(");
        for (index, &argument) in launch.arguments.iter().enumerate() {
            printer.text(if index == 0 { "" } else { ", " });
            printer.value(argument);
            printer.text(" : ");
            printer.ty(module.value_type(argument));
        }
        printer.text(")");
    }
    printer.attributes_but(op, &[KERNEL, "operand_segment_sizes"], false);
    true
}
