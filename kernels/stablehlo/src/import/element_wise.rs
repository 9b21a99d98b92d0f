//! Lowers element-wise ops to instructions of scalar programs.
//!
//! An op on complex numbers becomes instructions on their parts. To add an op, add its name to
//! [`UNARY`] or [`BINARY`], if a scalar function has the same name, or give it an arm in [`add`].

use tfrt_import::ImportError;
use tfrt_import::program::Value;
use tfrt_ir::OpId;
use tfrt_support::DType;

use super::bodies::{Body, Scalar};
use super::{Lowered, Lowering};
use crate::model::ElementType;

/// Unary element-wise ops that have the same name in scalar programs.
const UNARY: &[&str] = &[
    "abs",
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "bessel_i1e",
    "cbrt",
    "ceil",
    "cosh",
    "cosine",
    "count_leading_zeros",
    "digamma",
    "erf",
    "erf_inv",
    "erfc",
    "exponential",
    "exponential_minus_one",
    "floor",
    "is_finite",
    "is_inf",
    "is_neg_inf",
    "is_pos_inf",
    "lgamma",
    "log",
    "log_plus_one",
    "logistic",
    "negate",
    "not",
    "popcnt",
    "round_nearest_afz",
    "round_nearest_even",
    "rsqrt",
    "sign",
    "sine",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
];

/// Binary element-wise ops that have the same name in scalar programs.
const BINARY: &[&str] = &[
    "add",
    "and",
    "atan2",
    "divide",
    "maximum",
    "minimum",
    "mulhi",
    "multiply",
    "next_after",
    "or",
    "polygamma",
    "power",
    "remainder",
    "shift_left",
    "shift_right_arithmetic",
    "shift_right_logical",
    "subtract",
    "xor",
    "zeta",
];

/// Other element-wise ops.
const OTHER: &[&str] = &[
    "clamp",
    "compare",
    "complex",
    "conj",
    "convert",
    "imag",
    "real",
    "reduce_precision",
    "select",
    "square",
];

/// Element-wise ops on single-precision numbers, with faster ops that compute the same results.
const FAST: &[(&str, &str)] = &[
    ("abs", "nn.Abs"),
    ("add", "tf.AddV2"),
    ("ceil", "nn.Ceil"),
    ("cosine", "nn.Cos"),
    ("divide", "nn.Div"),
    ("erf", "nn.Erf"),
    ("exponential", "nn.Exp"),
    ("floor", "nn.Floor"),
    ("log", "nn.Log"),
    ("logistic", "nn.Sigmoid"),
    ("multiply", "tf.Mul"),
    ("negate", "nn.Neg"),
    ("sine", "nn.Sin"),
    ("sqrt", "nn.Sqrt"),
    ("subtract", "tf.Sub"),
    ("tanh", "nn.Tanh"),
];

/// Unary functions with a version for complex numbers.
const COMPLEX_UNARY: &[&str] = &[
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "cbrt",
    "cosh",
    "cosine",
    "exponential",
    "exponential_minus_one",
    "log",
    "log_plus_one",
    "logistic",
    "rsqrt",
    "sign",
    "sine",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
];

/// The element-wise ops of the dialect `chlo`.
pub(super) const CHLO: &[&str] = &[
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "bessel_i1e",
    "conj",
    "cosh",
    "digamma",
    "erf",
    "erf_inv",
    "erfc",
    "is_inf",
    "is_neg_inf",
    "is_pos_inf",
    "lgamma",
    "mulhi",
    "next_after",
    "polygamma",
    "sinh",
    "square",
    "tan",
    "zeta",
];

/// The ops of the dialect `chlo` that broadcast their operands to one shape.
pub(super) const BROADCASTING: &[&str] = &[
    "add",
    "and",
    "atan2",
    "compare",
    "complex",
    "divide",
    "maximum",
    "minimum",
    "multiply",
    "next_after",
    "or",
    "polygamma",
    "power",
    "remainder",
    "select",
    "shift_left",
    "shift_right_arithmetic",
    "shift_right_logical",
    "subtract",
    "xor",
    "zeta",
];

/// Returns the names of all element-wise ops.
pub(super) fn names() -> impl Iterator<Item = String> {
    let functions = UNARY.iter().chain(BINARY).chain(OTHER);
    let functions =
        functions.flat_map(|name| [format!("stablehlo.{name}"), format!("chlo.{name}")]);
    // Keeps each op only in the dialects that define it.
    let functions = functions.filter(|name| match name.split_once('.') {
        Some(("chlo", name)) => CHLO.contains(&name),
        Some((_, name)) => !CHLO.contains(&name) || name == "tan",
        None => false,
    });
    let broadcasting = BROADCASTING.iter();
    functions.chain(broadcasting.map(|name| format!("chlo.broadcast_{name}")))
}

/// Returns the name of an element-wise op, without its dialect.
pub(super) fn function_name(op: &str) -> Option<&str> {
    let (dialect, name) = op.split_once('.')?;
    let is_function = UNARY.contains(&name) || BINARY.contains(&name) || OTHER.contains(&name);
    (matches!(dialect, "stablehlo" | "chlo") && is_function).then_some(name)
}

/// Lowers an element-wise op on tensors of one shape.
pub(super) fn lower(
    lowering: &mut Lowering<'_>,
    op: OpId,
    function: &str,
    operands: &[Value],
) -> Lowered {
    let mut types = Vec::new();
    for index in 0..operands.len() {
        types.push(lowering.operand(op, index)?.element);
    }
    let (mut body, arguments) = Body::new(&types);
    let Some(result) = add(lowering, op, function, &arguments, &mut body)? else {
        return lowering.lacks(op, "on complex numbers");
    };
    let result_type = lowering.result(op, 0)?.element;
    let fast = FAST.iter().find(|entry| entry.0 == function);
    if types
        .iter()
        .all(|&ty| Some(ty) == ElementType::of(DType::F32))
        && let Some((_, fast)) = fast
    {
        return Ok(Some(vec![lowering.emit_one(op, fast, operands, &[])]));
    }
    let program = body.finish(&[(result, result_type)]);
    Ok(Some(vec![lowering.apply(op, &program, operands)]))
}

/// Adds an element-wise op to a scalar program. Returns `None` if the op has no version for complex
/// numbers.
pub(super) fn add(
    lowering: &Lowering<'_>,
    op: OpId,
    function: &str,
    operands: &[Scalar],
    body: &mut Body,
) -> Result<Option<Scalar>, ImportError> {
    let count = match function {
        _ if UNARY.contains(&function) => 1,
        "conj" | "convert" | "imag" | "real" | "reduce_precision" | "square" => 1,
        "clamp" | "select" => 3,
        _ => 2,
    };
    if operands.len() != count {
        return Err(ImportError::new(format!(
            "expected {count} operands, found {}",
            operands.len()
        )));
    }
    let plain = |operands: &[Scalar]| -> Option<Vec<usize>> {
        let plain = operands.iter().map(|operand| match operand {
            Scalar::Plain(value) => Some(*value),
            Scalar::Complex(..) => None,
        });
        plain.collect()
    };
    match (function, operands) {
        ("complex", &[Scalar::Plain(real), Scalar::Plain(imaginary)]) => {
            return Ok(Some(Scalar::Complex(real, imaginary)));
        }
        ("real", &[x]) => return Ok(Some(Scalar::Plain(x.real()))),
        ("imag", &[Scalar::Complex(_, imaginary)]) => return Ok(Some(Scalar::Plain(imaginary))),
        ("imag", _) => {
            let ty = lowering.operand(op, 0)?.element;
            return Ok(Some(Scalar::Plain(body.zero(ty))));
        }
        ("conj", &[x @ Scalar::Plain(_)]) => return Ok(Some(x)),
        ("convert", &[x]) => {
            let to = lowering.result(op, 0)?.element;
            return Ok(Some(converted(x, to, body)));
        }
        _ => {}
    }
    let Some(listed) = plain(operands) else {
        return complex(lowering, op, function, operands, body);
    };
    let listed: Vec<String> = listed.iter().map(ToString::to_string).collect();
    let listed = listed.join(" ");
    let instruction = match function {
        "complex" => return Ok(None),
        "square" => format!("multiply {listed} {listed}"),
        "reduce_precision" => format!(
            "reduce_precision {} {} {listed}",
            lowering.int(op, "exponent_bits")?,
            lowering.int(op, "mantissa_bits")?
        ),
        "compare" => {
            let order = match lowering.name_of_kind(op, "compare_type", "comparison_type") {
                Some("TOTALORDER") => "total ",
                Some("WEAKORDER") => "weak ",
                _ => "",
            };
            format!("cmp {order}{} {listed}", direction(lowering, op)?)
        }
        name => format!("{name} {listed}"),
    };
    Ok(Some(Scalar::Plain(body.add(&instruction))))
}

/// Returns the direction of a comparison, such as `lt`.
fn direction(lowering: &Lowering<'_>, op: OpId) -> Result<String, ImportError> {
    let direction = lowering.name_of_kind(op, "comparison_direction", "comparison_direction");
    let direction = direction.map(str::to_ascii_lowercase);
    direction.ok_or_else(|| ImportError::new("the attribute `comparison_direction` is missing"))
}

fn converted(x: Scalar, to: ElementType, body: &mut Body) -> Scalar {
    let mut convert = |part: usize| body.add(&format!("convert {} {part}", to.name));
    match (x, to.is_complex()) {
        (Scalar::Complex(real, imaginary), true) => {
            Scalar::Complex(convert(real), convert(imaginary))
        }
        (Scalar::Plain(x), true) => {
            let real = convert(x);
            Scalar::Complex(real, body.zero(to))
        }
        // Conversions to real numbers, integers and Booleans drop the imaginary part.
        (x, false) => Scalar::Plain(convert(x.real())),
    }
}

/// Adds an op on complex numbers. Returns `None` if the op has no version for them.
fn complex(
    lowering: &Lowering<'_>,
    op: OpId,
    function: &str,
    operands: &[Scalar],
    body: &mut Body,
) -> Result<Option<Scalar>, ImportError> {
    use Scalar::{Complex, Plain};
    let mut both = |instruction: &dyn Fn(bool) -> String| {
        let real = body.add(&instruction(false));
        Complex(real, body.add(&instruction(true)))
    };
    Ok(Some(match (function, operands) {
        ("add" | "subtract", &[Complex(a, b), Complex(c, d)]) => {
            both(&|is_imaginary| match is_imaginary {
                false => format!("{function} {a} {c}"),
                true => format!("{function} {b} {d}"),
            })
        }
        ("atan2" | "multiply" | "divide" | "power", &[Complex(a, b), Complex(c, d)]) => {
            both(&|is_imaginary| format!("{function}.{} {a} {b} {c} {d}", part(is_imaginary)))
        }
        ("square", &[Complex(a, b)]) => {
            both(&|is_imaginary| format!("multiply.{} {a} {b} {a} {b}", part(is_imaginary)))
        }
        ("negate", &[Complex(a, b)]) => {
            both(&|is_imaginary| format!("negate {}", if is_imaginary { b } else { a }))
        }
        ("select", &[Plain(condition), Complex(a, b), Complex(c, d)]) => {
            both(&|is_imaginary| match is_imaginary {
                false => format!("select {condition} {a} {c}"),
                true => format!("select {condition} {b} {d}"),
            })
        }
        ("conj", &[Complex(a, b)]) => Complex(a, body.add(&format!("negate {b}"))),
        ("abs", &[Complex(a, b)]) => Plain(body.add(&format!("hypot {a} {b}"))),
        ("is_finite", &[Complex(a, b)]) => {
            let [a, b] = [a, b].map(|part| body.add(&format!("is_finite {part}")));
            Plain(body.add(&format!("and {a} {b}")))
        }
        ("compare", &[Complex(a, b), Complex(c, d)]) => {
            let direction = direction(lowering, op)?;
            let joined = match &*direction {
                "eq" => "and",
                "ne" => "or",
                _ => return Ok(None),
            };
            let real = body.add(&format!("cmp {direction} {a} {c}"));
            let imaginary = body.add(&format!("cmp {direction} {b} {d}"));
            Plain(body.add(&format!("{joined} {real} {imaginary}")))
        }
        ("maximum" | "minimum", &[Complex(a, b), Complex(c, d)]) => {
            let [real, imaginary] = extreme(body, [a, b], [c, d], function == "maximum");
            Complex(real, imaginary)
        }
        ("clamp", &[Complex(a, b), Complex(c, d), Complex(e, f)]) => {
            let raised = extreme(body, [c, d], [a, b], true);
            let [real, imaginary] = extreme(body, raised, [e, f], false);
            Complex(real, imaginary)
        }
        (name, &[Complex(a, b)]) if COMPLEX_UNARY.contains(&name) => {
            both(&|is_imaginary| format!("{name}.{} {a} {b}", part(is_imaginary)))
        }
        _ => return Ok(None),
    }))
}

/// Adds the greater or the lesser one of two complex numbers. The greater number is that with the
/// greater real part, then the greater imaginary part.
fn extreme(body: &mut Body, x: [usize; 2], y: [usize; 2], is_greatest: bool) -> [usize; 2] {
    let ([a, b], [c, d]) = (x, y);
    let direction = if is_greatest { "gt" } else { "lt" };
    let first = body.add(&format!("cmp {direction} {a} {c}"));
    let is_equal = body.add(&format!("cmp eq {a} {c}"));
    let second = body.add(&format!("cmp {direction} {b} {d}"));
    let second = body.add(&format!("and {is_equal} {second}"));
    let is_left = body.add(&format!("or {first} {second}"));
    let real = body.add(&format!("select {is_left} {a} {c}"));
    [real, body.add(&format!("select {is_left} {b} {d}"))]
}

fn part(is_imaginary: bool) -> &'static str {
    if is_imaginary { "imaginary" } else { "real" }
}

impl Lowering<'_> {
    /// Adds an op that converts elements, if their type is another one.
    pub(super) fn convert(
        &mut self,
        op: OpId,
        value: Value,
        from: ElementType,
        to: ElementType,
    ) -> Value {
        if from == to {
            return value;
        }
        let (mut body, arguments) = Body::new(&[from]);
        let result = converted(arguments[0], to, &mut body);
        let program = body.finish(&[(result, to)]);
        self.apply(op, &program, &[value])
    }

    /// Adds an op that wraps or rounds elements narrower than those of tensors, in which an op
    /// computed them.
    pub(super) fn wrapped(&mut self, op: OpId, value: Value, ty: ElementType) -> Value {
        match ty.wider() {
            Some(held) => {
                let program = format!("convert {} 0;convert {held} 1;ret 2", ty.name);
                self.apply(op, &program, &[value])
            }
            None => value,
        }
    }
}
