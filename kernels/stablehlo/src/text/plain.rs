//! Ops whose format lists operands, attributes by keyword, the attribute dictionary and types:
//! `stablehlo.pad %x, %v, low = [0], high = [1], interior = [0] : (…) -> …`.

use tfrt_ir::syntax::{OpParser, OpPrinter, OpSyntax};
use tfrt_ir::{Module, OpId, OpState};

use super::{
    Parsed, enumeration, enumeration_name, integer_array, integers, numbers_of, print_integers,
    print_types, syntax, types,
};

/// An attribute after the operands: `keyword = …`.
#[derive(Clone, Copy)]
enum Clause {
    /// `dims = [0, 1]`: an array of integers.
    Integers(&'static str, &'static str),
    /// `dim = 0`: an integer.
    Integer(&'static str, &'static str),
    /// `lower = true`: any attribute.
    Any(&'static str, &'static str),
    /// `algorithm = DEFAULT`: a case of an enumeration.
    Name(&'static str, &'static str, &'static str),
    /// `tolerance = 0.1`: a number, or a string, without its type. It may be omitted.
    Untyped(&'static str, &'static str),
}

impl Clause {
    fn keyword(self) -> &'static str {
        match self {
            Self::Integers(keyword, _)
            | Self::Integer(keyword, _)
            | Self::Any(keyword, _)
            | Self::Untyped(keyword, _)
            | Self::Name(keyword, ..) => keyword,
        }
    }

    fn attribute(self) -> &'static str {
        match self {
            Self::Integers(_, name)
            | Self::Integer(_, name)
            | Self::Any(_, name)
            | Self::Untyped(_, name)
            | Self::Name(_, name, _) => name,
        }
    }
}

/// The clauses of each op that has clauses.
const CLAUSES: &[(&str, &[Clause])] = {
    use Clause::{Any, Integer, Integers, Name, Untyped};
    &[
        (
            "stablehlo.broadcast",
            &[Integers("sizes", "broadcast_sizes")],
        ),
        (
            "stablehlo.broadcast_in_dim",
            &[Integers("dims", "broadcast_dimensions")],
        ),
        (
            "stablehlo.dynamic_broadcast_in_dim",
            &[Integers("dims", "broadcast_dimensions")],
        ),
        ("stablehlo.transpose", &[Integers("dims", "permutation")]),
        ("stablehlo.reverse", &[Integers("dims", "dimensions")]),
        ("stablehlo.concatenate", &[Integer("dim", "dimension")]),
        (
            "stablehlo.get_dimension_size",
            &[Integer("dim", "dimension")],
        ),
        (
            "stablehlo.set_dimension_size",
            &[Integer("dim", "dimension")],
        ),
        ("stablehlo.iota", &[Integer("dim", "iota_dimension")]),
        (
            "stablehlo.dynamic_iota",
            &[Integer("dim", "iota_dimension")],
        ),
        (
            "stablehlo.dynamic_slice",
            &[Integers("sizes", "slice_sizes")],
        ),
        (
            "stablehlo.pad",
            &[
                Integers("low", "edge_padding_low"),
                Integers("high", "edge_padding_high"),
                Integers("interior", "interior_padding"),
            ],
        ),
        ("stablehlo.cholesky", &[Any("lower", "lower")]),
        (
            "stablehlo.rng_bit_generator",
            &[Name("algorithm", "rng_algorithm", "rng_algorithm")],
        ),
        (
            "stablehlo.rng",
            &[Name("distribution", "rng_distribution", "rng_distribution")],
        ),
        (
            "stablehlo.fft",
            &[
                Name("type", "fft_type", "fft_type"),
                Integers("length", "fft_length"),
            ],
        ),
        (
            "check.expect_close",
            &[
                Untyped("max_ulp_difference", "max_ulp_difference"),
                Untyped("min_ulp_difference", "min_ulp_difference"),
            ],
        ),
        (
            "check.expect_almost_eq",
            &[Untyped("tolerance", "tolerance")],
        ),
        (
            "check.expect_serialized_eq",
            &[Untyped("probe_id", "probe_id"), Untyped("iter", "iter")],
        ),
        ("interpreter.probe", &[Untyped("probe_id", "probe_id")]),
    ]
};

macro_rules! plain {
    ($($op:literal)*) => {
        &[$(syntax($op, parse_plain, print_plain)),*]
    };
}

pub(super) const SYNTAXES: &[OpSyntax] = plain! {
    "stablehlo.abs" "stablehlo.add" "stablehlo.after_all" "stablehlo.and" "stablehlo.atan2"
    "stablehlo.bitcast_convert" "stablehlo.broadcast" "stablehlo.broadcast_in_dim"
    "stablehlo.cbrt" "stablehlo.ceil" "stablehlo.cholesky" "stablehlo.clamp" "stablehlo.complex" "stablehlo.concatenate"
    "stablehlo.convert" "stablehlo.cosine" "stablehlo.count_leading_zeros" "stablehlo.create_token"
    "stablehlo.divide" "stablehlo.dynamic_broadcast_in_dim" "stablehlo.dynamic_iota"
    "stablehlo.dynamic_pad" "stablehlo.dynamic_reshape" "stablehlo.dynamic_slice"
    "stablehlo.dynamic_update_slice"
    "stablehlo.exponential" "stablehlo.exponential_minus_one" "stablehlo.fft" "stablehlo.floor"
    "stablehlo.get_dimension_size" "stablehlo.imag" "stablehlo.iota" "stablehlo.is_finite"
    "stablehlo.log" "stablehlo.log_plus_one" "stablehlo.logistic" "stablehlo.maximum"
    "stablehlo.minimum" "stablehlo.multiply" "stablehlo.negate" "stablehlo.not"
    "stablehlo.optimization_barrier" "stablehlo.or" "stablehlo.pad" "stablehlo.partition_id"
    "stablehlo.popcnt" "stablehlo.power" "stablehlo.real" "stablehlo.real_dynamic_slice"
    "stablehlo.remainder" "stablehlo.replica_id" "stablehlo.reshape" "stablehlo.reverse"
    "stablehlo.rng" "stablehlo.rng_bit_generator" "stablehlo.round_nearest_afz"
    "stablehlo.round_nearest_even" "stablehlo.rsqrt" "stablehlo.select"
    "stablehlo.set_dimension_size" "stablehlo.shift_left" "stablehlo.shift_right_arithmetic"
    "stablehlo.shift_right_logical" "stablehlo.sign" "stablehlo.sine" "stablehlo.sqrt"
    "stablehlo.subtract" "stablehlo.tan" "stablehlo.tanh" "stablehlo.transpose" "stablehlo.tuple"
    "stablehlo.uniform_dequantize" "stablehlo.uniform_quantize" "stablehlo.xor"
    "chlo.acos" "chlo.acosh" "chlo.asin" "chlo.asinh" "chlo.atan" "chlo.atanh" "chlo.bessel_i1e"
    "chlo.broadcast_add" "chlo.broadcast_and" "chlo.broadcast_atan2" "chlo.broadcast_compare"
    "chlo.broadcast_complex" "chlo.broadcast_divide" "chlo.broadcast_maximum"
    "chlo.broadcast_minimum" "chlo.broadcast_multiply" "chlo.broadcast_next_after"
    "chlo.broadcast_or" "chlo.broadcast_polygamma" "chlo.broadcast_power"
    "chlo.broadcast_remainder" "chlo.broadcast_select" "chlo.broadcast_shift_left"
    "chlo.broadcast_shift_right_arithmetic" "chlo.broadcast_shift_right_logical"
    "chlo.broadcast_subtract" "chlo.broadcast_xor" "chlo.broadcast_zeta" "chlo.constant_like"
    "chlo.dynamic_reshape" "chlo.mulhi"
    "chlo.conj" "chlo.cosh" "chlo.digamma" "chlo.erf" "chlo.erf_inv" "chlo.erfc" "chlo.is_inf"
    "chlo.is_neg_inf" "chlo.is_pos_inf" "chlo.lgamma" "chlo.next_after" "chlo.polygamma"
    "chlo.sinh" "chlo.square" "chlo.tan" "chlo.zeta"
    "check.expect_almost_eq" "check.expect_close" "check.expect_eq" "check.expect_serialized_eq"
    "interpreter.probe"
};

fn clauses_of(op: &str) -> &'static [Clause] {
    let found = CLAUSES.iter().find(|entry| entry.0 == op);
    found.map_or(&[], |entry| entry.1)
}

/// Parses `%a, %b, keyword = value attr-dict : types`.
fn parse_plain(parser: &mut OpParser<'_, '_, '_>, state: &mut OpState) -> Parsed<()> {
    let mut operands = Vec::new();
    let mut clauses = clauses_of(&state.name).iter();
    let mut is_first = true;
    while is_first || parser.opt(",") {
        if parser.is_value() {
            operands.push(parser.value()?);
            is_first = false;
            continue;
        }
        if is_first && clauses.len() == 0 {
            break;
        }
        is_first = false;
        let clause = loop {
            let Some(&clause) = clauses.next() else {
                return Err(parser.error("expected an operand"));
            };
            if parser.is(clause.keyword()) {
                break clause;
            }
        };
        parser.expect(clause.keyword())?;
        parser.expect("=")?;
        let value = match clause {
            Clause::Integers(..) => {
                let numbers = integers(parser)?;
                integer_array(parser.module(), &numbers)
            }
            Clause::Integer(..) => {
                let number = parser.integer()?;
                parser.module().integer_attr(number.into(), 64)
            }
            Clause::Any(..) => parser.attribute(None)?,
            Clause::Untyped(name, _) => {
                let ty = if name == "tolerance" { "f64" } else { "i64" };
                let ty = parser.known_type(ty);
                parser.attribute(Some(ty))?
            }
            Clause::Name(_, _, kind) => {
                let name = parser.word()?;
                enumeration(parser.module(), kind, name)
            }
        };
        state.attributes.push((clause.attribute().into(), value));
    }
    parser.opt_attributes(state)?;
    let is_check = state.name.starts_with("check.");
    if operands.is_empty() && !parser.is(":") {
        return Ok(());
    }
    types(parser, &operands, state)?;
    if is_check {
        state.result_types.clear();
    }
    Ok(())
}

fn print_plain(printer: &mut OpPrinter<'_, '_>, module: &Module, op: OpId) -> bool {
    let clauses = clauses_of(module.op_name(op));
    let operands = module.operands(op);
    let results = module.results(op);
    let is_check = module.op_name(op).starts_with("check.");
    if !module.regions(op).is_empty() || results.is_empty() != is_check {
        return false;
    }
    if !operands.is_empty() || !clauses.is_empty() {
        printer.text(" ");
    }
    printer.values(operands);
    let mut has_text = !operands.is_empty();
    let mut shown = Vec::new();
    for clause in clauses {
        let Some(value) = module.attr(op, clause.attribute()) else {
            match clause {
                Clause::Any(..) | Clause::Untyped(..) => continue,
                _ => return false,
            }
        };
        shown.push(clause.attribute());
        if std::mem::replace(&mut has_text, true) {
            printer.text(", ");
        }
        printer.text(clause.keyword());
        printer.text(" = ");
        match clause {
            Clause::Integers(..) => match numbers_of(module, value) {
                Some(numbers) => print_integers(printer, &numbers),
                None => return false,
            },
            Clause::Integer(..) | Clause::Untyped(..) => printer.attribute_without_type(value),
            Clause::Any(..) => printer.attribute(value),
            Clause::Name(_, _, kind) => match enumeration_name(module, value, kind) {
                Some(name) => printer.text(name),
                None => return false,
            },
        }
    }
    printer.attributes_but(op, &shown, false);
    if is_check {
        printer.text(" : ");
        printer.types_of(operands);
    } else {
        print_types(printer, module, op);
    }
    true
}
