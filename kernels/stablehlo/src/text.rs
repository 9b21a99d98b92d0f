//! The custom assembly formats of the dialects `stablehlo`, `chlo` and `check`.
//!
//! | module | ops |
//! |---|---|
//! | `plain` | operands, attributes by keyword, types |
//! | `constants` | constants, comparisons, slices, custom calls |
//! | `products` | general dot products, convolutions |
//! | `regions` | reductions, loops |
//! | `structured` | attributes with text in angle brackets |
//!
//! All other ops use the generic form. These modules handle only the syntax; an import checks ops
//! and their operands.

mod constants;

mod plain;

mod products;

pub(crate) mod regions;

pub(crate) mod structured;

use std::sync::Arc;

use tfrt::ods::DialectDef;
use tfrt_compiler::LinkedSyntaxes;
use tfrt_ir::syntax::{NamedValue, OpParser, OpPrinter, OpSyntax, SyntaxError};
use tfrt_ir::{AttrId, Attribute, Module, OpId, OpState, Registry, Type, TypeId, ValueId};

/// The dialects, which appear only in texts.
const DIALECTS: &[DialectDef] = &[
    of_texts("stablehlo", "The ops of StableHLO, which are imported."),
    of_texts("chlo", "Ops of clients of StableHLO, which are imported."),
    of_texts("check", "Comparisons in tests of StableHLO."),
    of_texts("interpreter", "Probes in tests of StableHLO."),
    of_texts("func", "MLIR's functions, which StableHLO is written in."),
    of_texts("mhlo", "Attributes of the predecessor of StableHLO."),
    of_texts("jax", "Attributes of JAX."),
    of_texts("sdy", "Attributes of sharded programs."),
];

const fn of_texts(name: &'static str, summary: &'static str) -> DialectDef {
    DialectDef {
        summary,
        is_listed: false,
        ..DialectDef::new(name)
    }
}

tfrt::declare_dialects!(DIALECTS);

inventory::submit! { LinkedSyntaxes(plain::SYNTAXES) }
inventory::submit! { LinkedSyntaxes(constants::SYNTAXES) }
inventory::submit! { LinkedSyntaxes(products::SYNTAXES) }
inventory::submit! { LinkedSyntaxes(regions::SYNTAXES) }

/// Returns the registry for parsing texts.
pub(crate) fn registry() -> Arc<Registry> {
    let all = [
        plain::SYNTAXES,
        constants::SYNTAXES,
        products::SYNTAXES,
        regions::SYNTAXES,
    ];
    Arc::new(Registry::default().with_syntaxes(all.into_iter().flatten()))
}

type Parsed<T> = Result<T, SyntaxError>;

/// Declares the custom assembly format of an op.
const fn syntax(
    op: &'static str,
    parse: tfrt_ir::syntax::ParseFn,
    print: tfrt_ir::syntax::PrintFn,
) -> OpSyntax {
    OpSyntax { op, parse, print }
}

/// Parses `[1, 2]`.
fn integers(parser: &mut OpParser<'_, '_, '_>) -> Parsed<Vec<i64>> {
    let mut numbers = Vec::new();
    parser.expect("[")?;
    parser.list_until("]", |parser| {
        numbers.push(parser.integer()?);
        Ok(())
    })?;
    Ok(numbers)
}

/// Creates `array<i64: 1, 2>`.
fn integer_array(module: &mut Module, numbers: &[i64]) -> AttrId {
    let element = module.intern_type(Type::Integer {
        width: 64,
        signedness: tfrt_ir::Signedness::Signless,
    });
    let bytes = numbers.iter().flat_map(|number| number.to_le_bytes());
    let bytes = bytes.collect();
    module.intern_attribute(Attribute::DenseArray { element, bytes })
}

/// Returns the numbers of `array<i64: 1, 2>`.
fn numbers_of(module: &Module, attribute: AttrId) -> Option<Vec<i64>> {
    let Attribute::DenseArray { element, bytes } = module.attribute(attribute) else {
        return None;
    };
    match module.ty(*element) {
        Type::Integer { width: 64, .. } => {
            let (chunks, _) = bytes.as_chunks::<8>();
            Some(
                chunks
                    .iter()
                    .map(|&chunk| i64::from_le_bytes(chunk))
                    .collect(),
            )
        }
        _ => None,
    }
}

/// Prints `[1, 2]`.
fn print_integers(printer: &mut OpPrinter<'_, '_>, numbers: &[i64]) {
    let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    printer.text(&format!("[{}]", numbers.join(", ")));
}

/// Creates `#stablehlo<kind NAME>`.
fn enumeration(module: &mut Module, kind: &str, name: &str) -> AttrId {
    module.intern_attribute(Attribute::Opaque {
        dialect: "stablehlo".into(),
        body: format!("<{kind} {name}>").into(),
        ty: None,
    })
}

/// Returns the name in `#stablehlo<kind NAME>`.
pub(crate) fn enumeration_name<'m>(
    module: &'m Module,
    attribute: AttrId,
    kind: &str,
) -> Option<&'m str> {
    let Attribute::Opaque { body, .. } = module.attribute(attribute) else {
        return None;
    };
    let inner = body.strip_prefix('<')?.strip_suffix('>')?;
    inner.strip_prefix(kind)?.strip_prefix(' ')
}

/// Parses the types after a colon: `(A, B) -> C`, `A, B -> C`, or a list from which the types of
/// operands and results follow.
fn types<'s>(
    parser: &mut OpParser<'_, 's, '_>,
    operands: &[NamedValue<'s>],
    state: &mut OpState,
) -> Parsed<()> {
    parser.expect(":")?;
    let mut given = vec![parser.ty()?];
    let function = match parser.module().ty(given[0]) {
        Type::Function { inputs, results } => Some((inputs.to_vec(), results.to_vec())),
        _ => None,
    };
    let (inputs, results) = match function {
        Some(function) => function,
        None => {
            while parser.opt(",") {
                given.push(parser.ty()?);
            }
            if parser.is("->") {
                let results = parser.opt_arrow_types()?;
                (given, results)
            } else if let ([one], "stablehlo.tuple") = (&given[..], &*state.name) {
                let elements = match parser.module().ty(*one) {
                    Type::Tuple(elements) => elements.to_vec(),
                    _ => return Err(parser.error_at_op("expected a tuple type")),
                };
                (elements, vec![*one])
            } else if let [one] = given[..] {
                // `complex` has only the type of its result.
                let operand = match &*state.name {
                    "stablehlo.complex" => parts_of(parser.module(), one),
                    _ => one,
                };
                (vec![operand; operands.len()], vec![one])
            } else if given.len() == operands.len() {
                (given.clone(), given)
            } else if let ([condition, value], 3) = (&given[..], operands.len()) {
                // `select` lists the types of the condition and of the values.
                (vec![*condition, *value, *value], vec![*value])
            } else {
                return Err(parser.error_at_op("expected the types of operands and results"));
            }
        }
    };
    if inputs.len() != operands.len() {
        return Err(parser.error_at_op(format!(
            "expected {} operand types, found {}",
            operands.len(),
            inputs.len()
        )));
    }
    for (&value, &ty) in operands.iter().zip(&inputs) {
        state.operands.push(parser.resolve(value, ty)?);
    }
    state.result_types.extend(results);
    Ok(())
}

/// Prints ` : (A, B) -> C`, or ` : A` if all types are equal.
fn print_types(printer: &mut OpPrinter<'_, '_>, module: &Module, op: OpId) {
    let (operands, results) = (module.operands(op), module.results(op));
    let ty = |value: &ValueId| module.value_type(*value);
    printer.text(" : ");
    let is_own = |operand: TypeId, result: TypeId| match module.op_name(op) {
        "stablehlo.complex" => is_part_of(module, operand, result),
        _ => operand == result,
    };
    match results {
        [one]
            if is_tuple_of(module, operands, ty(one))
                && module.op_name(op) == "stablehlo.tuple" =>
        {
            printer.ty(ty(one));
        }
        [one] if operands.iter().all(|operand| is_own(ty(operand), ty(one))) => {
            printer.ty(ty(one));
        }
        _ => print_function_type(printer, module, operands, results),
    }
}

/// Prints `(A, B) -> C`.
fn print_function_type(
    printer: &mut OpPrinter<'_, '_>,
    module: &Module,
    operands: &[ValueId],
    results: &[ValueId],
) {
    let _ = module;
    printer.text("(");
    printer.types_of(operands);
    printer.text(")");
    match results.is_empty() {
        true => printer.text(" -> ()"),
        false => printer.arrow_types_of(results),
    }
}

/// Returns `true` if a type is that of a tuple of values.
fn is_tuple_of(module: &Module, values: &[ValueId], ty: TypeId) -> bool {
    let types = values.iter().map(|&value| module.value_type(value));
    matches!(module.ty(ty), Type::Tuple(elements) if elements.iter().copied().eq(types))
}

/// Returns the type of tensors of the parts of complex numbers.
fn parts_of(module: &mut Module, ty: TypeId) -> TypeId {
    let Type::Tensor {
        dims,
        element,
        encoding,
    } = module.ty(ty).clone()
    else {
        return ty;
    };
    match *module.ty(element) {
        Type::Complex(element) => module.intern_type(Type::Tensor {
            dims,
            element,
            encoding,
        }),
        _ => ty,
    }
}

/// Returns `true` if a type is that of tensors of the parts of complex numbers of another type.
fn is_part_of(module: &Module, part: TypeId, whole: TypeId) -> bool {
    match (module.ty(part), module.ty(whole)) {
        (
            Type::Tensor {
                dims: part_dims,
                element: part,
                encoding: part_encoding,
            },
            Type::Tensor {
                dims,
                element,
                encoding,
            },
        ) => {
            (part_dims, part_encoding) == (dims, encoding)
                && matches!(module.ty(*element), Type::Complex(of) if of == part)
        }
        _ => false,
    }
}

/// Returns the scalar tensor type with the element type of another tensor type.
fn scalar_of(module: &mut Module, ty: TypeId) -> TypeId {
    match *module.ty(ty) {
        Type::Tensor { element, .. } => module.intern_type(Type::Tensor {
            dims: [].into(),
            element,
            encoding: None,
        }),
        _ => ty,
    }
}
