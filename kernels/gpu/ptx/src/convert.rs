//! The `cvt` instruction: numbers of one type as numbers of another.

use crate::arithmetic::finish;
use crate::float::{Exact, flush, widen};
use crate::instruction::{Integral, Mode};
use crate::types::ScalarType;

/// Returns the number `bits` of type `from` as a number of type `to`. A signed result is extended
/// to 64 bits, for a register that is wider than it.
pub(crate) fn convert(
    to: ScalarType,
    from: ScalarType,
    mode: Mode,
    integral: Option<Integral>,
    bits: u64,
) -> u64 {
    match (to.is_float(), from.is_float()) {
        (true, true) => float_to_float(to, from, mode, integral, bits),
        (true, false) => finish(
            Exact::of_integer(from.integer(bits)).round(to, mode.rounding),
            to,
            mode,
        ),
        (false, true) => float_to_integer(to, from, mode, integral, bits),
        (false, false) => integer_to_integer(to, mode, from.integer(bits)),
    }
}

fn float_to_float(
    to: ScalarType,
    from: ScalarType,
    mode: Mode,
    integral: Option<Integral>,
    bits: u64,
) -> u64 {
    let bits = if mode.flushes && from == ScalarType::F32 {
        flush(bits)
    } else {
        bits
    };
    let value = widen(bits, from);
    let value = match integral {
        Some(integral) => round(value, integral),
        None => value,
    };
    finish(Exact::of(value).round(to, mode.rounding), to, mode)
}

/// Out of range, a number becomes the nearest one that fits. A NaN becomes zero, but the smallest
/// number where 64 bits are involved.
fn float_to_integer(
    to: ScalarType,
    from: ScalarType,
    mode: Mode,
    integral: Option<Integral>,
    bits: u64,
) -> u64 {
    let bits = if mode.flushes && from == ScalarType::F32 {
        flush(bits)
    } else {
        bits
    };
    let value = widen(bits, from);
    if value.is_nan() {
        return match from == ScalarType::F64 || to.size() == 8 {
            true => to.truncate(1 << (to.bits() - 1)),
            false => 0,
        };
    }
    // Saturates beyond 128 bits, too.
    integer_to_integer(
        to,
        Mode {
            saturates: true,
            ..mode
        },
        round(value, integral.unwrap_or(Integral::Zero)) as i128,
    )
}

fn integer_to_integer(to: ScalarType, mode: Mode, value: i128) -> u64 {
    if !mode.saturates {
        return extend(to, value as u64);
    }
    let (least, greatest) = match to.is_signed() {
        true => (-(1i128 << (to.bits() - 1)), (1i128 << (to.bits() - 1)) - 1),
        false => (0, (1i128 << to.bits()) - 1),
    };
    value.clamp(least, greatest) as u64
}

/// With the sign in all higher bits, or zeros.
pub(crate) fn extend(ty: ScalarType, value: u64) -> u64 {
    ty.integer(value) as u64
}

fn round(value: f64, integral: Integral) -> f64 {
    match integral {
        Integral::Nearest => value.round_ties_even(),
        Integral::Zero => value.trunc(),
        Integral::Down => value.floor(),
        Integral::Up => value.ceil(),
    }
}
