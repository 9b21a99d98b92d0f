//! Constants, comparisons, slices, custom calls, and terminators of regions.

use tfrt_ir::syntax::{OpParser, OpPrinter, OpSyntax};
use tfrt_ir::{Attribute, Module, OpId, OpState};

use super::{
    Parsed, enumeration, enumeration_name, integer_array, numbers_of, print_function_type,
    print_types, syntax, types,
};

pub(super) const SYNTAXES: &[OpSyntax] = &[
    syntax("stablehlo.constant", parse_constant, print_constant),
    syntax("chlo.constant", parse_constant, print_constant),
    syntax("stablehlo.compare", parse_compare, print_compare),
    syntax("chlo.compare", parse_compare, print_compare),
    syntax("stablehlo.slice", parse_slice, print_slice),
    syntax("stablehlo.return", parse_return, print_return),
    syntax(
        "stablehlo.custom_call",
        parse_custom_call,
        print_custom_call,
    ),
    syntax("stablehlo.composite", parse_composite, print_composite),
    syntax(
        "stablehlo.reduce_precision",
        parse_reduce_precision,
        print_reduce_precision,
    ),
    syntax("chlo.top_k", parse_top_k, print_top_k),
    syntax(
        "stablehlo.get_tuple_element",
        parse_get_tuple_element,
        print_get_tuple_element,
    ),
    syntax(
        "check.expect_eq_const",
        parse_check_constant,
        print_check_constant,
    ),
    syntax(
        "check.expect_almost_eq_const",
        parse_check_constant,
        print_check_constant,
    ),
];

/// Parses `attr-dict dense<…> : T`.
fn parse_constant(parser: &mut OpParser<'_, '_, '_>, state: &mut OpState) -> Parsed<()> {
    parser.opt_attributes(state)?;
    let value = parser.attribute(None)?;
    state.attributes.push(("value".into(), value));
    let ty = match parser.module().attribute(value) {
        Attribute::Dense { ty, .. } | Attribute::Resource { ty, .. } => *ty,
        Attribute::Elements { ty, .. } => *ty,
        _ => return Err(parser.error_at_op("expected an elements attribute")),
    };
    state.result_types.push(ty);
    Ok(())
}

fn print_constant(printer: &mut OpPrinter<'_, '_>, module: &Module, op: OpId) -> bool {
    let Some(value) = module.attr(op, "value") else {
        return false;
    };
    let ty = match module.attribute(value) {
        Attribute::Dense { ty, .. }
        | Attribute::Resource { ty, .. }
        | Attribute::Elements { ty, .. } => *ty,
        _ => return false,
    };
    match module.results(op) {
        &[result] if module.value_type(result) == ty && module.operands(op).is_empty() => {}
        _ => return false,
    }
    printer.attributes_but(op, &["value"], false);
    printer.text(" ");
    printer.attribute(value);
    true
}

/// Parses `LT, %a, %b (, FLOAT)? attr-dict : types`.
fn parse_compare(parser: &mut OpParser<'_, '_, '_>, state: &mut OpState) -> Parsed<()> {
    let direction = parser.word()?;
    let direction = enumeration(parser.module(), "comparison_direction", direction);
    state
        .attributes
        .push(("comparison_direction".into(), direction));
    parser.expect(",")?;
    let a = parser.value()?;
    parser.expect(",")?;
    let b = parser.value()?;
    if parser.opt(",") {
        let kind = parser.word()?;
        let kind = enumeration(parser.module(), "comparison_type", kind);
        state.attributes.push(("compare_type".into(), kind));
    }
    parser.opt_attributes(state)?;
    types(parser, &[a, b], state)
}

fn print_compare(printer: &mut OpPrinter<'_, '_>, module: &Module, op: OpId) -> bool {
    let direction = module.attr(op, "comparison_direction");
    let direction =
        direction.and_then(|value| enumeration_name(module, value, "comparison_direction"));
    let (Some(direction), [_, _], [_]) = (direction, module.operands(op), module.results(op))
    else {
        return false;
    };
    printer.text(&format!(" {direction}, "));
    printer.values(module.operands(op));
    if let Some(kind) = module.attr(op, "compare_type") {
        let Some(kind) = enumeration_name(module, kind, "comparison_type") else {
            return false;
        };
        printer.text(&format!(", {kind}"));
    }
    printer.attributes_but(op, &["comparison_direction", "compare_type"], false);
    printer.text(" : ");
    print_function_type(printer, module, module.operands(op), module.results(op));
    true
}

/// Parses `%x [start:limit(:stride)?, …] attr-dict : types`.
fn parse_slice(parser: &mut OpParser<'_, '_, '_>, state: &mut OpState) -> Parsed<()> {
    let x = parser.value()?;
    parser.expect("[")?;
    let (mut starts, mut limits, mut strides) = (Vec::new(), Vec::new(), Vec::new());
    parser.list_until("]", |parser| {
        starts.push(parser.integer()?);
        parser.expect(":")?;
        limits.push(parser.integer()?);
        strides.push(match parser.opt(":") {
            true => parser.integer()?,
            false => 1,
        });
        Ok(())
    })?;
    for (name, numbers) in [
        ("start_indices", starts),
        ("limit_indices", limits),
        ("strides", strides),
    ] {
        let value = integer_array(parser.module(), &numbers);
        state.attributes.push((name.into(), value));
    }
    parser.opt_attributes(state)?;
    types(parser, &[x], state)
}

fn print_slice(printer: &mut OpPrinter<'_, '_>, module: &Module, op: OpId) -> bool {
    const SHOWN: [&str; 3] = ["start_indices", "limit_indices", "strides"];
    let numbers = SHOWN.map(|name| numbers_of(module, module.attr(op, name)?));
    let ([Some(starts), Some(limits), Some(strides)], [_], [_]) =
        (numbers, module.operands(op), module.results(op))
    else {
        return false;
    };
    if starts.len() != limits.len() || starts.len() != strides.len() {
        return false;
    }
    printer.text(" ");
    printer.values(module.operands(op));
    let ranges = starts.iter().zip(limits.iter().zip(&strides));
    let ranges = ranges.map(|(start, (limit, stride))| match stride {
        1 => format!("{start}:{limit}"),
        _ => format!("{start}:{limit}:{stride}"),
    });
    printer.text(&format!(" [{}]", ranges.collect::<Vec<_>>().join(", ")));
    printer.attributes_but(op, &SHOWN, false);
    print_types(printer, module, op);
    true
}

/// Parses `(%a, %b attr-dict : A, B)?`.
fn parse_return(parser: &mut OpParser<'_, '_, '_>, state: &mut OpState) -> Parsed<()> {
    let values = parser.values()?;
    parser.opt_attributes(state)?;
    for (index, &value) in values.iter().enumerate() {
        parser.expect(if index == 0 { ":" } else { "," })?;
        let ty = parser.ty()?;
        state.operands.push(parser.resolve(value, ty)?);
    }
    Ok(())
}

fn print_return(printer: &mut OpPrinter<'_, '_>, module: &Module, op: OpId) -> bool {
    let operands = module.operands(op);
    if !module.results(op).is_empty() {
        return false;
    }
    if !operands.is_empty() {
        printer.text(" ");
        printer.values(operands);
    }
    printer.attributes_but(op, &[], false);
    if !operands.is_empty() {
        printer.text(" : ");
        printer.types_of(operands);
    }
    true
}

/// Parses `@name(%a, %b) attr-dict : types`.
fn parse_custom_call(parser: &mut OpParser<'_, '_, '_>, state: &mut OpState) -> Parsed<()> {
    let name = parser.symbol()?;
    let name = parser.module().string_attr(name);
    state.attributes.push(("call_target_name".into(), name));
    parser.expect("(")?;
    let operands = parser.values()?;
    parser.expect(")")?;
    parser.opt_attributes(state)?;
    types(parser, &operands, state)
}

fn print_custom_call(printer: &mut OpPrinter<'_, '_>, module: &Module, op: OpId) -> bool {
    let name = module.attr(op, "call_target_name");
    let Some(name) = name.and_then(|name| module.attribute_str(name)) else {
        return false;
    };
    printer.text(" ");
    printer.symbol(name);
    printer.text("(");
    printer.values(module.operands(op));
    printer.text(")");
    printer.attributes_but(op, &["call_target_name"], false);
    printer.text(" : ");
    print_function_type(printer, module, module.operands(op), module.results(op));
    true
}

/// Parses `"name" %a, %b attr-dict : types`.
fn parse_composite(parser: &mut OpParser<'_, '_, '_>, state: &mut OpState) -> Parsed<()> {
    let name = parser.attribute(None)?;
    state.attributes.push(("name".into(), name));
    let operands = parser.values()?;
    parser.opt_attributes(state)?;
    types(parser, &operands, state)
}

fn print_composite(printer: &mut OpPrinter<'_, '_>, module: &Module, op: OpId) -> bool {
    let Some(name) = module.attr(op, "name") else {
        return false;
    };
    if module.attribute_str(name).is_none() || !module.regions(op).is_empty() {
        return false;
    }
    printer.text(" ");
    printer.attribute(name);
    if !module.operands(op).is_empty() {
        printer.text(" ");
        printer.values(module.operands(op));
    }
    printer.attributes_but(op, &["name"], false);
    printer.text(" : ");
    print_function_type(printer, module, module.operands(op), module.results(op));
    true
}

/// Parses `%x, format = e5m10 attr-dict : T`.
fn parse_reduce_precision(parser: &mut OpParser<'_, '_, '_>, state: &mut OpState) -> Parsed<()> {
    let x = parser.value()?;
    parser.expect(",")?;
    parser.expect("format")?;
    parser.expect("=")?;
    let format = parser.word()?;
    let bits = format
        .strip_prefix('e')
        .and_then(|bits| bits.split_once('m'));
    let number = |text: &str| text.parse::<u16>().ok();
    let bits = bits.and_then(|(exponent, mantissa)| Some((number(exponent)?, number(mantissa)?)));
    let Some((exponent, mantissa)) = bits else {
        return Err(parser.error("expected a format such as `e5m10`"));
    };
    for (name, bits) in [("exponent_bits", exponent), ("mantissa_bits", mantissa)] {
        let value = parser.module().integer_attr(bits.into(), 32);
        state.attributes.push((name.into(), value));
    }
    parser.opt_attributes(state)?;
    types(parser, &[x], state)
}

fn print_reduce_precision(printer: &mut OpPrinter<'_, '_>, module: &Module, op: OpId) -> bool {
    const SHOWN: [&str; 2] = ["exponent_bits", "mantissa_bits"];
    let bits = SHOWN.map(|name| module.attribute_int(module.attr(op, name)?));
    let ([Some(exponent), Some(mantissa)], [_]) = (bits, module.operands(op)) else {
        return false;
    };
    printer.text(" ");
    printer.values(module.operands(op));
    printer.text(&format!(", format = e{exponent}m{mantissa}"));
    printer.attributes_but(op, &SHOWN, false);
    print_types(printer, module, op);
    true
}

/// Parses `(%x, k = 2) attr-dict : T -> (T, U)`.
fn parse_top_k(parser: &mut OpParser<'_, '_, '_>, state: &mut OpState) -> Parsed<()> {
    parser.expect("(")?;
    let x = parser.value()?;
    parser.expect(",")?;
    parser.expect("k")?;
    parser.expect("=")?;
    let k = parser.integer()?;
    let k = parser.module().integer_attr(k.into(), 64);
    state.attributes.push(("k".into(), k));
    parser.expect(")")?;
    parser.opt_attributes(state)?;
    types(parser, &[x], state)
}

fn print_top_k(printer: &mut OpPrinter<'_, '_>, module: &Module, op: OpId) -> bool {
    let k = module.attr(op, "k").and_then(|k| module.attribute_int(k));
    let (Some(k), &[x]) = (k, module.operands(op)) else {
        return false;
    };
    printer.text("(");
    printer.value(x);
    printer.text(&format!(", k = {k})"));
    printer.attributes_but(op, &["k"], false);
    printer.text(" : ");
    printer.types_of(&[x]);
    printer.arrow_types_of(module.results(op));
    true
}

/// Parses `%x, dense<…> : T (, tolerance = 0.1)?`.
fn parse_check_constant(parser: &mut OpParser<'_, '_, '_>, state: &mut OpState) -> Parsed<()> {
    let x = parser.value()?;
    parser.expect(",")?;
    let value = parser.attribute(None)?;
    state.attributes.push(("value".into(), value));
    let ty = match parser.module().attribute(value) {
        Attribute::Dense { ty, .. } | Attribute::Resource { ty, .. } => *ty,
        _ => return Err(parser.error_at_op("expected an elements attribute")),
    };
    state.operands.push(parser.resolve(x, ty)?);
    if parser.opt(",") {
        parser.expect("tolerance")?;
        parser.expect("=")?;
        let ty = parser.known_type("f64");
        let tolerance = parser.attribute(Some(ty))?;
        state.attributes.push(("tolerance".into(), tolerance));
    }
    parser.opt_attributes(state)
}

fn print_check_constant(printer: &mut OpPrinter<'_, '_>, module: &Module, op: OpId) -> bool {
    let (Some(value), &[x]) = (module.attr(op, "value"), module.operands(op)) else {
        return false;
    };
    match module.attribute(value) {
        Attribute::Dense { ty, .. } | Attribute::Resource { ty, .. }
            if *ty == module.value_type(x) => {}
        _ => return false,
    }
    printer.text(" ");
    printer.value(x);
    printer.text(", ");
    printer.attribute(value);
    if let Some(tolerance) = module.attr(op, "tolerance") {
        printer.text(", tolerance = ");
        printer.attribute_without_type(tolerance);
    }
    printer.attributes_but(op, &["value", "tolerance"], false);
    true
}

/// Parses `%x[1] attr-dict : types`.
fn parse_get_tuple_element(parser: &mut OpParser<'_, '_, '_>, state: &mut OpState) -> Parsed<()> {
    let x = parser.value()?;
    parser.expect("[")?;
    let index = parser.integer()?;
    let index = parser.module().integer_attr(index.into(), 32);
    state.attributes.push(("index".into(), index));
    parser.expect("]")?;
    parser.opt_attributes(state)?;
    types(parser, &[x], state)
}

fn print_get_tuple_element(printer: &mut OpPrinter<'_, '_>, module: &Module, op: OpId) -> bool {
    let index = module.attr(op, "index");
    let index = index.and_then(|index| module.attribute_int(index));
    let (Some(index), &[x]) = (index, module.operands(op)) else {
        return false;
    };
    printer.text(" ");
    printer.value(x);
    printer.text(&format!("[{index}]"));
    printer.attributes_but(op, &["index"], false);
    printer.text(" : ");
    print_function_type(printer, module, &[x], module.results(op));
    true
}
