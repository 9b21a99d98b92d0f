//! General dot products and convolutions.

use tfrt_ir::syntax::{OpParser, OpPrinter, OpSyntax};
use tfrt_ir::{AttrId, Attribute, DenseElements, Module, OpId, OpState, Signedness, Type};

use super::structured::{body, entries, entry, numbers};
use super::{
    Parsed, enumeration, enumeration_name, integer_array, integers, numbers_of,
    print_function_type, print_integers, syntax, types,
};

pub(super) const SYNTAXES: &[OpSyntax] = &[
    syntax(
        "stablehlo.dot_general",
        parse_dot_general,
        print_dot_general,
    ),
    syntax("stablehlo.dot", parse_dot, print_dot),
    syntax(
        "stablehlo.convolution",
        parse_convolution,
        print_convolution,
    ),
    syntax(
        "stablehlo.dynamic_conv",
        parse_convolution,
        print_convolution,
    ),
];

fn opaque(module: &mut Module, body: String) -> AttrId {
    module.intern_attribute(Attribute::Opaque {
        dialect: "stablehlo".into(),
        body: body.into(),
        ty: None,
    })
}

/// Parses `= [DEFAULT, HIGHEST]`.
fn parse_precision(parser: &mut OpParser<'_, '_, '_>, state: &mut OpState) -> Parsed<()> {
    parser.expect("=")?;
    parser.expect("[")?;
    let mut all = Vec::new();
    parser.list_until("]", |parser| {
        let name = parser.word()?;
        all.push(enumeration(parser.module(), "precision", name));
        Ok(())
    })?;
    let all = parser
        .module()
        .intern_attribute(Attribute::Array(all.into()));
    state.attributes.push(("precision_config".into(), all));
    Ok(())
}

/// Prints `, precision = [DEFAULT, HIGHEST]`, if the op has a precision.
fn print_precision(printer: &mut OpPrinter<'_, '_>, module: &Module, op: OpId) -> bool {
    let Some(all) = module.attr(op, "precision_config") else {
        return true;
    };
    let Attribute::Array(all) = module.attribute(all) else {
        return false;
    };
    let names = all
        .iter()
        .map(|&one| enumeration_name(module, one, "precision"));
    let Some(names) = names.collect::<Option<Vec<_>>>() else {
        return false;
    };
    printer.text(&format!(", precision = [{}]", names.join(", ")));
    true
}

/// Parses `%a, %b (, precision = […])? attr-dict : types`.
fn parse_dot(parser: &mut OpParser<'_, '_, '_>, state: &mut OpState) -> Parsed<()> {
    let a = parser.value()?;
    parser.expect(",")?;
    let b = parser.value()?;
    if parser.opt(",") {
        parser.expect("precision")?;
        parse_precision(parser, state)?;
    }
    parser.opt_attributes(state)?;
    types(parser, &[a, b], state)
}

fn print_dot(printer: &mut OpPrinter<'_, '_>, module: &Module, op: OpId) -> bool {
    let (operands, results) = (module.operands(op), module.results(op));
    if operands.len() != 2 || results.len() != 1 {
        return false;
    }
    printer.text(" ");
    printer.values(operands);
    if !print_precision(printer, module, op) {
        return false;
    }
    printer.attributes_but(op, &["precision_config"], false);
    printer.text(" : ");
    print_function_type(printer, module, operands, results);
    true
}

/// Parses `= [1, 2] x [0, 1]`.
fn pair(parser: &mut OpParser<'_, '_, '_>) -> Parsed<[Vec<i64>; 2]> {
    parser.expect("=")?;
    let left = integers(parser)?;
    parser.expect("x")?;
    Ok([left, integers(parser)?])
}

/// Parses `%a, %b, (batching_dims = [0] x [0],)? contracting_dims = [1] x [0]
/// (, precision = […])? (, algorithm = <…>)? attr-dict : types`.
fn parse_dot_general(parser: &mut OpParser<'_, '_, '_>, state: &mut OpState) -> Parsed<()> {
    let a = parser.value()?;
    parser.expect(",")?;
    let b = parser.value()?;
    let mut text = Vec::new();
    let mut add = |name: &str, [left, right]: [Vec<i64>; 2]| {
        for (side, numbers) in [("lhs", left), ("rhs", right)] {
            if !numbers.is_empty() {
                text.push(format!("{side}_{name}_dimensions = {numbers:?}"));
            }
        }
    };
    while parser.opt(",") {
        if parser.opt("batching_dims") {
            add("batching", pair(parser)?);
        } else if parser.opt("contracting_dims") {
            add("contracting", pair(parser)?);
        } else if parser.opt("precision") {
            parse_precision(parser, state)?;
        } else {
            parser.expect("algorithm")?;
            parser.expect("=")?;
            let algorithm = format!("dot_algorithm{}", parser.bracketed()?);
            let algorithm = opaque(parser.module(), algorithm);
            state.attributes.push(("algorithm".into(), algorithm));
        }
    }
    let dimensions = opaque(parser.module(), format!("dot<{}>", text.join(", ")));
    state
        .attributes
        .push(("dot_dimension_numbers".into(), dimensions));
    parser.opt_attributes(state)?;
    types(parser, &[a, b], state)
}

fn print_dot_general(printer: &mut OpPrinter<'_, '_>, module: &Module, op: OpId) -> bool {
    let (operands, results) = (module.operands(op), module.results(op));
    let dimensions = module.attr(op, "dot_dimension_numbers");
    let Some(dimensions) = dimensions.and_then(|found| body(module, found, "dot")) else {
        return false;
    };
    if operands.len() != 2 || results.len() != 1 {
        return false;
    }
    let dimensions = entries(dimensions);
    printer.text(" ");
    printer.values(operands);
    for (name, keyword, is_needed) in [
        ("batching", "batching_dims", false),
        ("contracting", "contracting_dims", true),
    ] {
        let sides = ["lhs", "rhs"].map(|side| {
            let found = entry(&dimensions, &format!("{side}_{name}_dimensions"));
            found.map_or_else(|| Some(Vec::new()), numbers)
        });
        let [Some(left), Some(right)] = sides else {
            return false;
        };
        if is_needed || !left.is_empty() || !right.is_empty() {
            printer.text(&format!(", {keyword} = {left:?} x {right:?}"));
        }
    }
    if !print_precision(printer, module, op) {
        return false;
    }
    if let Some(algorithm) = module.attr(op, "algorithm") {
        let Some(text) = body(module, algorithm, "dot_algorithm") else {
            return false;
        };
        printer.text(&format!(", algorithm = <{text}>"));
    }
    const SHOWN: &[&str] = &["dot_dimension_numbers", "precision_config", "algorithm"];
    printer.attributes_but(op, SHOWN, false);
    printer.text(" : ");
    print_function_type(printer, module, operands, results);
    true
}

/// The keywords and names of the window attributes.
const WINDOW: &[(&str, &str)] = &[
    ("stride", "window_strides"),
    ("pad", "padding"),
    ("lhs_dilate", "lhs_dilation"),
    ("rhs_dilate", "rhs_dilation"),
    ("reverse", "window_reversal"),
];

/// Parses `(%a, %b (, %padding)?) dim_numbers = […]x[…]->[…], window = {…} attr-dict : types`.
fn parse_convolution(parser: &mut OpParser<'_, '_, '_>, state: &mut OpState) -> Parsed<()> {
    parser.expect("(")?;
    let operands = parser.values()?;
    parser.expect(")")?;
    parser.expect("dim_numbers")?;
    parser.expect("=")?;
    let lhs = parser.bracketed()?;
    parser.expect("x")?;
    let rhs = parser.bracketed()?;
    parser.expect("->")?;
    let result = parser.bracketed()?;
    let numbers = opaque(parser.module(), format!("conv<{lhs}x{rhs}->{result}>"));
    state.attributes.push(("dimension_numbers".into(), numbers));
    parser.expect(",")?;
    parser.expect("window")?;
    parser.expect("=")?;
    parser.expect("{")?;
    parser.list_until("}", |parser| {
        let keyword = parser.word()?;
        let Some(&(_, name)) = WINDOW.iter().find(|entry| entry.0 == keyword) else {
            return Err(parser.error(format!("has no window attribute '{keyword}'")));
        };
        parser.expect("=")?;
        let value = match keyword {
            "pad" => pads(parser)?,
            "reverse" => flags(parser)?,
            _ => {
                let numbers = integers(parser)?;
                integer_array(parser.module(), &numbers)
            }
        };
        state.attributes.push((name.into(), value));
        Ok(())
    })?;
    parser.opt_attributes(state)?;
    types(parser, &operands, state)
}

/// Parses `[[0, 1], [1, 1]]` as `dense<…> : tensor<2x2xi64>`.
fn pads(parser: &mut OpParser<'_, '_, '_>) -> Parsed<AttrId> {
    let mut all = Vec::new();
    parser.expect("[")?;
    parser.list_until("]", |parser| {
        let pair = integers(parser)?;
        match pair.len() {
            2 => all.extend(pair),
            _ => return Err(parser.error("expected two numbers for each dimension")),
        }
        Ok(())
    })?;
    let module = parser.module();
    let element = module.intern_type(Type::Integer {
        width: 64,
        signedness: Signedness::Signless,
    });
    let ty = module.intern_type(Type::Tensor {
        dims: [Some(all.len() as u64 / 2), Some(2)].into(),
        element,
        encoding: None,
    });
    let bytes = all.iter().flat_map(|number| number.to_le_bytes()).collect();
    let elements = DenseElements::from_bytes(bytes, 8);
    Ok(module.intern_attribute(Attribute::Dense { ty, elements }))
}

/// Parses `[true, false]`, or the same list as integers.
fn flags(parser: &mut OpParser<'_, '_, '_>) -> Parsed<AttrId> {
    let mut bytes = Vec::new();
    parser.expect("[")?;
    parser.list_until("]", |parser| {
        let flag = if parser.opt("true") {
            true
        } else if parser.opt("false") {
            false
        } else {
            parser.integer()? != 0
        };
        bytes.push(u8::from(flag));
        Ok(())
    })?;
    let module = parser.module();
    let element = module.intern_type(Type::Integer {
        width: 1,
        signedness: Signedness::Signless,
    });
    let bytes = bytes.into();
    Ok(module.intern_attribute(Attribute::DenseArray { element, bytes }))
}

fn print_convolution(printer: &mut OpPrinter<'_, '_>, module: &Module, op: OpId) -> bool {
    let (operands, results) = (module.operands(op), module.results(op));
    let order = module.attr(op, "dimension_numbers");
    let Some(order) = order.and_then(|found| body(module, found, "conv")) else {
        return false;
    };
    if operands.is_empty() || results.len() != 1 {
        return false;
    }
    printer.text("(");
    printer.values(operands);
    printer.text(&format!(") dim_numbers = {order}, window = {{"));
    let mut shown = vec!["dimension_numbers"];
    for &(keyword, name) in WINDOW {
        let Some(value) = module.attr(op, name) else {
            continue;
        };
        if shown.len() > 1 {
            printer.text(", ");
        }
        shown.push(name);
        printer.text(&format!("{keyword} = "));
        match (keyword, module.attribute(value)) {
            ("pad", _) => {
                let Some(pairs) = padding(module, value) else {
                    return false;
                };
                let pairs = pairs.iter().map(|pair| format!("{pair:?}"));
                printer.text(&format!("[{}]", pairs.collect::<Vec<_>>().join(", ")));
            }
            ("reverse", Attribute::DenseArray { bytes, .. }) => {
                let flags = bytes.iter().map(|&flag| (flag != 0).to_string());
                printer.text(&format!("[{}]", flags.collect::<Vec<_>>().join(", ")));
            }
            _ => match numbers_of(module, value) {
                Some(numbers) => print_integers(printer, &numbers),
                None => return false,
            },
        }
    }
    printer.text("}");
    printer.attributes_but(op, &shown, false);
    printer.text(" : ");
    print_function_type(printer, module, operands, results);
    true
}

/// Returns the pairs of numbers of `dense<[[0, 1], [1, 1]]> : tensor<2x2xi64>`.
fn padding(module: &Module, attribute: AttrId) -> Option<Vec<[i64; 2]>> {
    let Attribute::Dense { ty, elements } = module.attribute(attribute) else {
        return None;
    };
    let Type::Tensor { dims, .. } = module.ty(*ty) else {
        return None;
    };
    let [Some(count), Some(2)] = dims[..] else {
        return None;
    };
    let number = |chunk: &[u8]| Some(i64::from_le_bytes(chunk.try_into().ok()?));
    match elements {
        DenseElements::Splat(bytes) => {
            let one = number(bytes)?;
            // Bounds the printed pairs. An op with more spatial dimensions has the generic form.
            (count <= 64).then(|| vec![[one; 2]; count as usize])
        }
        DenseElements::List(bytes) => {
            let pairs = bytes.chunks_exact(16);
            pairs
                .map(|pair| Some([number(&pair[..8])?, number(&pair[8..])?]))
                .collect()
        }
        DenseElements::Strings(_) => None,
    }
}
