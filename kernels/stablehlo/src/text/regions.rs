//! Reductions and loops, whose formats name the arguments of their regions.

use tfrt_ir::syntax::{NamedValue, OpParser, OpPrinter, OpSyntax};
use tfrt_ir::{Module, OpId, OpState, RegionId, Type, TypeId};

use super::{
    Parsed, integer_array, integers, numbers_of, print_function_type, print_integers, scalar_of,
    syntax,
};

pub(super) const SYNTAXES: &[OpSyntax] = &[
    syntax("stablehlo.reduce", parse_reduce, print_reduce),
    syntax("stablehlo.while", parse_while, print_while),
    syntax("chlo.scan", parse_scan, print_scan),
];

/// Parses `(%x init: %c), … (applies op)? across dimensions = […] attr-dict : types reducer?`.
fn parse_reduce<'s>(parser: &mut OpParser<'_, 's, '_>, state: &mut OpState) -> Parsed<()> {
    let (mut inputs, mut inits) = (Vec::new(), Vec::new());
    loop {
        parser.expect("(")?;
        inputs.push(parser.value()?);
        parser.expect("init")?;
        parser.expect(":")?;
        inits.push(parser.value()?);
        parser.expect(")")?;
        if !parser.opt(",") {
            break;
        }
    }
    let applied = match parser.opt("applies") {
        true => Some(parser.word()?),
        false => None,
    };
    parser.expect("across")?;
    parser.expect("dimensions")?;
    parser.expect("=")?;
    let dimensions = integers(parser)?;
    let dimensions = integer_array(parser.module(), &dimensions);
    state.attributes.push(("dimensions".into(), dimensions));
    parser.opt_attributes(state)?;
    let operands = [&inputs[..], &inits[..]].concat();
    super::types(parser, &operands, state)?;
    let region = match applied {
        Some(op) => applied_region(parser, op, state)?,
        None => reducer(parser, inputs.len())?,
    };
    state.regions.push(region);
    Ok(())
}

/// Creates a region with two arguments and one op on them.
fn applied_region(
    parser: &mut OpParser<'_, '_, '_>,
    op: &str,
    state: &OpState,
) -> Parsed<RegionId> {
    let &[_, init] = &state.operands[..] else {
        return Err(parser.error_at_op("expected one operand with 'applies'"));
    };
    let module = parser.module();
    let ty = module.value_type(init);
    let ty = scalar_of(module, ty);
    let region = module.create_region();
    let block = module.create_block(region, &[ty, ty]);
    let operands = module.block_arguments(block).to_vec();
    let inner = module.create_op(OpState {
        operands,
        result_types: vec![ty],
        ..OpState::new(op, state.location)
    });
    module.append_op(block, inner);
    let operands = module.results(inner).to_vec();
    let end = module.create_op(OpState {
        operands,
        ..OpState::new("stablehlo.return", state.location)
    });
    module.append_op(block, end);
    Ok(region)
}

/// Parses `reducer(%a: A, %c: A) (%b: B, %d: B) region`. The region takes the first argument of
/// each pair, then the second of each.
fn reducer(parser: &mut OpParser<'_, '_, '_>, count: usize) -> Parsed<RegionId> {
    parser.expect("reducer")?;
    let (mut left, mut right) = (Vec::new(), Vec::new());
    for _ in 0..count {
        parser.expect("(")?;
        left.push(typed_name(parser)?);
        parser.expect(",")?;
        right.push(typed_name(parser)?);
        parser.expect(")")?;
    }
    left.extend(right);
    parser.region(left)
}

fn typed_name<'s>(parser: &mut OpParser<'_, 's, '_>) -> Parsed<(NamedValue<'s>, TypeId)> {
    let name = parser.value()?;
    parser.expect(":")?;
    let ty = parser.ty()?;
    parser.opt_location()?;
    Ok((name, ty))
}

fn print_reduce(printer: &mut OpPrinter<'_, '_>, module: &Module, op: OpId) -> bool {
    let operands = module.operands(op);
    let (inputs, inits) = operands.split_at(operands.len() / 2);
    let dimensions = module.attr(op, "dimensions");
    let dimensions = dimensions.and_then(|found| numbers_of(module, found));
    let (Some(dimensions), &[region]) = (dimensions, module.regions(op)) else {
        return false;
    };
    let &[block] = module.blocks(region) else {
        return false;
    };
    let arguments = module.block_arguments(block);
    if inputs.len() != inits.len() || inputs.is_empty() || arguments.len() != operands.len() {
        return false;
    }
    let pairs = inputs.iter().zip(inits).enumerate();
    for (index, (&input, &init)) in pairs {
        printer.text(if index == 0 { "(" } else { ", (" });
        printer.value(input);
        printer.text(" init: ");
        printer.value(init);
        printer.text(")");
    }
    let applied = applied_op(module, op);
    if let Some(applied) = applied {
        printer.text(&format!(" applies {applied}"));
    }
    printer.text(" across dimensions = ");
    print_integers(printer, &dimensions);
    printer.attributes_but(op, &["dimensions"], false);
    printer.text(" : ");
    print_function_type(printer, module, operands, module.results(op));
    if applied.is_none() {
        printer.text(" reducer");
        let (left, right) = arguments.split_at(inputs.len());
        for (&left, &right) in left.iter().zip(right) {
            printer.text("(");
            for (index, argument) in [left, right].into_iter().enumerate() {
                printer.text(if index == 0 { "" } else { ", " });
                printer.value(argument);
                printer.text(": ");
                printer.types_of(&[argument]);
            }
            printer.text(") ");
        }
        printer.region(region, false);
    }
    true
}

/// Returns the name of the only op in the region of a reduction, if the op has no attributes and
/// the reduction has one input.
fn applied_op(module: &Module, op: OpId) -> Option<&str> {
    let &[region] = module.regions(op) else {
        return None;
    };
    let &[block] = module.blocks(region) else {
        return None;
    };
    let &[inner, end] = module.block_ops(block) else {
        return None;
    };
    let arguments = module.block_arguments(block);
    let ty = arguments
        .first()
        .map(|&argument| module.value_type(argument))?;
    let is_scalar =
        matches!(module.ty(ty), Type::Tensor { dims, encoding: None, .. } if dims.is_empty());
    let &[result] = module.results(inner) else {
        return None;
    };
    let init = *module.operands(op).get(1)?;
    let fits = arguments.len() == 2
        && module.operands(op).len() == 2
        && is_scalar
        && module.value_type(init) == ty
        && module.operands(inner) == arguments
        && module.attributes(inner).is_empty()
        && module.regions(inner).is_empty()
        && arguments
            .iter()
            .all(|&argument| module.value_type(argument) == ty)
        && module.value_type(result) == ty
        && module.op_name(end) == "stablehlo.return"
        && module.attributes(end).is_empty()
        && module.operands(end) == [result]
        && module.op_name(inner).starts_with("stablehlo.");
    fits.then(|| module.op_name(inner))
}

/// Parses `(%a = %b, …) : types (attributes attr-dict)? cond region do region`.
fn parse_while<'s>(parser: &mut OpParser<'_, 's, '_>, state: &mut OpState) -> Parsed<()> {
    let (mut names, mut values) = (Vec::new(), Vec::new());
    parser.expect("(")?;
    parser.list_until(")", |parser| {
        names.push(parser.value()?);
        parser.expect("=")?;
        values.push(parser.value()?);
        Ok(())
    })?;
    let mut arguments: Vec<(NamedValue<'s>, TypeId)> = Vec::new();
    for (index, (name, value)) in names.into_iter().zip(values).enumerate() {
        parser.expect(if index == 0 { ":" } else { "," })?;
        let ty = parser.ty()?;
        state.operands.push(parser.resolve(value, ty)?);
        state.result_types.push(ty);
        arguments.push((name, ty));
    }
    parser.opt_attributes_with_keyword(state)?;
    parser.expect("cond")?;
    state.regions.push(parser.region(arguments.clone())?);
    parser.expect("do")?;
    state.regions.push(parser.region(arguments)?);
    Ok(())
}

fn print_while(printer: &mut OpPrinter<'_, '_>, module: &Module, op: OpId) -> bool {
    let operands = module.operands(op);
    let &[condition, body] = module.regions(op) else {
        return false;
    };
    let (&[first], &[second]) = (module.blocks(condition), module.blocks(body)) else {
        return false;
    };
    let arguments = module.block_arguments(first);
    // The format names the arguments of both regions once, so their names must be equal.
    let types = |values: &[tfrt_ir::ValueId]| -> Vec<TypeId> {
        values
            .iter()
            .map(|&value| module.value_type(value))
            .collect()
    };
    let fits = types(arguments) == types(operands)
        && types(module.block_arguments(second)) == types(operands)
        && types(module.results(op)) == types(operands)
        && !operands.is_empty();
    if !fits || !printer.have_equal_names(arguments, module.block_arguments(second)) {
        return false;
    }
    printer.text("(");
    for (index, (&argument, &operand)) in arguments.iter().zip(operands).enumerate() {
        printer.text(if index == 0 { "" } else { ", " });
        printer.value(argument);
        printer.text(" = ");
        printer.value(operand);
    }
    printer.text(") : ");
    printer.types_of(operands);
    printer.attributes_but(op, &[], true);
    printer.text(" cond ");
    printer.region(condition, false);
    printer.text(" do ");
    printer.region(body, false);
    true
}

/// Parses `(%x, …) inits(%c, …) dimension = 0 (attributes attr-dict)? region : types`.
fn parse_scan(parser: &mut OpParser<'_, '_, '_>, state: &mut OpState) -> Parsed<()> {
    parser.expect("(")?;
    let inputs = parser.values()?;
    parser.expect(")")?;
    parser.expect("inits")?;
    parser.expect("(")?;
    let inits = parser.values()?;
    parser.expect(")")?;
    parser.expect("dimension")?;
    parser.expect("=")?;
    let dimension = parser.integer()?;
    let dimension = parser.module().integer_attr(dimension.into(), 64);
    state.attributes.push(("dimension".into(), dimension));
    let sizes = [inputs.len(), inits.len()].map(|size| size as i64);
    let sizes = integer_array(parser.module(), &sizes);
    state.attributes.push((SEGMENTS.into(), sizes));
    parser.opt_attributes_with_keyword(state)?;
    let region = parser.region(Vec::new())?;
    state.regions.push(region);
    super::types(parser, &[inputs, inits].concat(), state)
}

/// The numbers of inputs and of initial values of a scan.
pub(crate) const SEGMENTS: &str = "operandSegmentSizes";

fn print_scan(printer: &mut OpPrinter<'_, '_>, module: &Module, op: OpId) -> bool {
    let numbers = |name: &str| numbers_of(module, module.attr(op, name)?);
    let operands = module.operands(op);
    let dimension = module.attr(op, "dimension");
    let dimension = dimension.and_then(|dimension| module.attribute_int(dimension));
    let (Some(sizes), Some(dimension), &[region]) =
        (numbers(SEGMENTS), dimension, module.regions(op))
    else {
        return false;
    };
    let num_inputs = sizes.first().and_then(|&size| usize::try_from(size).ok());
    let Some((inputs, inits)) = num_inputs.and_then(|count| operands.split_at_checked(count))
    else {
        return false;
    };
    if sizes.len() != 2 || sizes[1] != inits.len() as i64 {
        return false;
    }
    printer.text("(");
    printer.values(inputs);
    printer.text(") inits(");
    printer.values(inits);
    printer.text(&format!(") dimension = {dimension}"));
    printer.attributes_but(op, &["dimension", SEGMENTS], true);
    printer.text(" ");
    printer.region(region, true);
    printer.text(" : ");
    print_function_type(printer, module, operands, module.results(op));
    true
}
