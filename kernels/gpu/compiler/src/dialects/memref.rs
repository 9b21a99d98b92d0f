//! `memref`: memory, and globals.

use tfrt_ir::symbols::{SYMBOL_NAME, SYMBOL_VISIBILITY};
use tfrt_ir::syntax::{OpParser, OpPrinter, OpSyntax};
use tfrt_ir::{Attribute, Module, OpId, OpState, Type, TypeId};

use super::{Parsed, print_types, syntax, typed_operands};

pub(super) const SYNTAXES: &[OpSyntax] = &[
    syntax("memref.global", parse_global, print_global),
    syntax("memref.get_global", parse_get_global, print_get_global),
    syntax("memref.load", parse_load, print_load),
    syntax("memref.store", parse_store, print_store),
    syntax("memref.alloc", parse_alloc, print_alloc),
    syntax("memref.alloca", parse_alloc, print_alloc),
    syntax("memref.dealloc", parse_dealloc, print_dealloc),
    syntax("memref.view", parse_view, print_view),
];

/// The attribute with the type of a global.
pub(crate) const GLOBAL_TYPE: &str = "type";
/// The attribute with the elements of a global, or `unit` if it has none yet.
pub(crate) const INITIAL_VALUE: &str = "initial_value";
/// The attribute of a global that is not written.
const CONSTANT: &str = "constant";
/// The attribute that names the global which an op refers to.
pub(crate) const NAME: &str = "name";

/// Returns the type of the elements of memory.
pub(crate) fn element_type(module: &Module, memory: TypeId) -> Option<TypeId> {
    match module.ty(memory) {
        Type::MemRef { element, .. } => Some(*element),
        _ => None,
    }
}

/// `"visibility"? constant? @name : T (= (uninitialized | elements))? attr-dict`
fn parse_global(parser: &mut OpParser<'_, '_, '_>, state: &mut OpState) -> Parsed<()> {
    if parser.is_string() {
        let visibility = parser.attribute(None)?;
        state
            .attributes
            .push((SYMBOL_VISIBILITY.into(), visibility));
    }
    let unit = parser.module().intern_attribute(Attribute::Unit);
    if parser.opt("constant") {
        state.attributes.push((CONSTANT.into(), unit));
    }
    let name = parser.symbol()?;
    let name = parser.module().string_attr(name);
    state.attributes.push((SYMBOL_NAME.into(), name));
    parser.expect(":")?;
    let ty = parser.ty()?;
    let Some(elements) = tensor_of(parser.module(), ty) else {
        return Err(parser.error_at_op("type should be static shaped memref"));
    };
    let ty = parser.module().intern_attribute(Attribute::Type(ty));
    state.attributes.push((GLOBAL_TYPE.into(), ty));
    if parser.opt("=") {
        let value = match parser.opt("uninitialized") {
            true => unit,
            false => parser.attribute(Some(elements))?,
        };
        state.attributes.push((INITIAL_VALUE.into(), value));
    }
    parser.opt_attributes(state)
}

/// Returns the type of the elements of memory of a fixed shape, as an attribute has them.
fn tensor_of(module: &mut Module, memory: TypeId) -> Option<TypeId> {
    let Type::MemRef {
        dims: Some(dims),
        element,
        ..
    } = module.ty(memory).clone()
    else {
        return None;
    };
    let is_fixed = dims.iter().all(Option::is_some);
    is_fixed.then(|| {
        module.intern_type(Type::Tensor {
            dims,
            element,
            encoding: None,
        })
    })
}

fn print_global(printer: &mut OpPrinter<'_, '_>, module: &Module, op: OpId) -> bool {
    let (Some(name), Some(ty)) = (module.symbol_name(op), module.attr(op, GLOBAL_TYPE)) else {
        return false;
    };
    let Attribute::Type(ty) = module.attribute(ty) else {
        return false;
    };
    if let Some(visibility) = module.attr(op, SYMBOL_VISIBILITY) {
        let Some(visibility) = module.attribute_str(visibility) else {
            return false;
        };
        printer.text(" ");
        printer.string(visibility);
    }
    if module.has_attr(op, CONSTANT) {
        printer.text(" constant");
    }
    printer.text(" ");
    printer.symbol(name);
    printer.text(" : ");
    printer.ty(*ty);
    if let Some(value) = module.attr(op, INITIAL_VALUE) {
        printer.text(" = ");
        match module.attribute(value) {
            Attribute::Unit => printer.text("uninitialized"),
            _ => printer.attribute_without_type(value),
        }
    }
    let shown = [
        SYMBOL_NAME,
        SYMBOL_VISIBILITY,
        CONSTANT,
        GLOBAL_TYPE,
        INITIAL_VALUE,
    ];
    printer.attributes_but(op, &shown, false);
    true
}

/// `@name attr-dict : T`
fn parse_get_global(parser: &mut OpParser<'_, '_, '_>, state: &mut OpState) -> Parsed<()> {
    let name = parser.symbol()?;
    let name = parser.module().flat_symbol_attr(&name);
    state.attributes.push((NAME.into(), name));
    parser.opt_attributes(state)?;
    parser.expect(":")?;
    let ty = parser.ty()?;
    state.result_types.push(ty);
    Ok(())
}

fn print_get_global(printer: &mut OpPrinter<'_, '_>, module: &Module, op: OpId) -> bool {
    let name = module.attr(op, NAME);
    let name = name.and_then(|name| module.attribute_flat_symbol(name));
    let (Some(name), [_]) = (name, module.results(op)) else {
        return false;
    };
    printer.text(" ");
    printer.symbol(name);
    printer.attributes_but(op, &[NAME], false);
    print_types(printer, module.results(op));
    true
}

/// `%memory[%indices] attr-dict : T`
fn parse_load(parser: &mut OpParser<'_, '_, '_>, state: &mut OpState) -> Parsed<()> {
    let memory = parser.value()?;
    parser.expect("[")?;
    let indices = parser.values()?;
    parser.expect("]")?;
    parser.opt_attributes(state)?;
    typed_operands(parser, &[memory], state)?;
    let ty = parser.module().value_type(state.operands[0]);
    let Some(element) = element_type(parser.module(), ty) else {
        return Err(parser.error_at_op("expected memory of type 'memref<…>'"));
    };
    state.result_types.push(element);
    super::indices(parser, indices, state)
}

fn print_load(printer: &mut OpPrinter<'_, '_>, module: &Module, op: OpId) -> bool {
    let (Some((&memory, indices)), &[result]) =
        (module.operands(op).split_first(), module.results(op))
    else {
        return false;
    };
    if element_type(module, module.value_type(memory)) != Some(module.value_type(result)) {
        return false;
    }
    printer.text(" ");
    printer.value(memory);
    printer.text("[");
    printer.values(indices);
    printer.text("]");
    printer.attributes_but(op, &[], false);
    print_types(printer, &[memory]);
    true
}

/// `%value, %memory[%indices] attr-dict : T`
fn parse_store(parser: &mut OpParser<'_, '_, '_>, state: &mut OpState) -> Parsed<()> {
    let value = parser.value()?;
    parser.expect(",")?;
    let memory = parser.value()?;
    parser.expect("[")?;
    let indices = parser.values()?;
    parser.expect("]")?;
    parser.opt_attributes(state)?;
    parser.expect(":")?;
    let ty = parser.ty()?;
    let Some(element) = element_type(parser.module(), ty) else {
        return Err(parser.error_at_op("expected memory of type 'memref<…>'"));
    };
    state.operands.push(parser.resolve(value, element)?);
    state.operands.push(parser.resolve(memory, ty)?);
    super::indices(parser, indices, state)
}

fn print_store(printer: &mut OpPrinter<'_, '_>, module: &Module, op: OpId) -> bool {
    let [value, memory, indices @ ..] = module.operands(op) else {
        return false;
    };
    if element_type(module, module.value_type(*memory)) != Some(module.value_type(*value)) {
        return false;
    }
    printer.text(" ");
    printer.value(*value);
    printer.text(", ");
    printer.value(*memory);
    printer.text("[");
    printer.values(indices);
    printer.text("]");
    printer.attributes_but(op, &[], false);
    print_types(printer, &[*memory]);
    true
}

/// `(%sizes) attr-dict : T`
fn parse_alloc(parser: &mut OpParser<'_, '_, '_>, state: &mut OpState) -> Parsed<()> {
    parser.expect("(")?;
    let sizes = parser.values()?;
    parser.expect(")")?;
    let segments = [sizes.len(), 0];
    super::indices(parser, sizes, state)?;
    parser.opt_attributes(state)?;
    parser.push_segment_sizes(state, &segments);
    parser.expect(":")?;
    let ty = parser.ty()?;
    state.result_types.push(ty);
    Ok(())
}

fn print_alloc(printer: &mut OpPrinter<'_, '_>, module: &Module, op: OpId) -> bool {
    if module
        .operand_segments(op, 2)
        .is_none_or(|sizes| sizes[1] != 0)
        || module.results(op).len() != 1
    {
        return false;
    }
    printer.text("(");
    printer.values(module.operands(op));
    printer.text(")");
    printer.attributes_but(op, &["operand_segment_sizes"], false);
    print_types(printer, module.results(op));
    true
}

/// `%memory attr-dict : T`
fn parse_dealloc(parser: &mut OpParser<'_, '_, '_>, state: &mut OpState) -> Parsed<()> {
    let memory = parser.value()?;
    parser.opt_attributes(state)?;
    typed_operands(parser, &[memory], state)
}

fn print_dealloc(printer: &mut OpPrinter<'_, '_>, module: &Module, op: OpId) -> bool {
    let values = module.operands(op);
    if values.len() != 1 || !module.results(op).is_empty() {
        return false;
    }
    printer.text(" ");
    printer.values(values);
    printer.attributes_but(op, &[], false);
    print_types(printer, values);
    true
}

/// `%source[%shift][%sizes] attr-dict : T to U`
fn parse_view(parser: &mut OpParser<'_, '_, '_>, state: &mut OpState) -> Parsed<()> {
    let source = parser.value()?;
    parser.expect("[")?;
    let shift = parser.value()?;
    parser.expect("]")?;
    parser.expect("[")?;
    let sizes = parser.values()?;
    parser.expect("]")?;
    parser.opt_attributes(state)?;
    typed_operands(parser, &[source], state)?;
    super::indices(parser, vec![shift], state)?;
    super::indices(parser, sizes, state)?;
    parser.expect("to")?;
    let ty = parser.ty()?;
    state.result_types.push(ty);
    Ok(())
}

fn print_view(printer: &mut OpPrinter<'_, '_>, module: &Module, op: OpId) -> bool {
    let ([source, shift, sizes @ ..], [_]) = (module.operands(op), module.results(op)) else {
        return false;
    };
    printer.text(" ");
    printer.value(*source);
    printer.text("[");
    printer.value(*shift);
    printer.text("][");
    printer.values(sizes);
    printer.text("]");
    printer.attributes_but(op, &[], false);
    print_types(printer, &[*source]);
    printer.text(" to ");
    printer.types_of(module.results(op));
    true
}
