//! The computations of instructions on the bits of their operands, without state or memory.

use crate::float::{self, Exact, Rounding, flush, narrow, widen};
use crate::instruction::{
    Atomic, Binary, Comparison, FloatClass, Mode, Permutation, Ternary, Unary,
};
use crate::types::ScalarType;

/// Applies `f` to both halves of pairs.
fn halves<const N: usize>(
    ty: ScalarType,
    operands: [u64; N],
    f: impl Fn(ScalarType, [u64; N]) -> u64,
) -> Option<u64> {
    let half = ty.half()?;
    let low = f(half, operands.map(|bits| bits & 0xffff));
    let high = f(half, operands.map(|bits| bits >> 16 & 0xffff));
    Some(high << 16 | low)
}

/// Returns the bits of operands, with subnormals flushed if the mode requires it.
fn operand(bits: u64, ty: ScalarType, mode: Mode) -> u64 {
    if mode.flushes && ty == ScalarType::F32 {
        flush(bits)
    } else {
        bits
    }
}

fn result(exact: Exact, ty: ScalarType, mode: Mode) -> u64 {
    finish(exact.round(ty, mode.rounding), ty, mode)
}

/// Flushing, saturation and rectification of a result.
pub(crate) fn finish(bits: u64, ty: ScalarType, mode: Mode) -> u64 {
    let mut bits = operand(bits, ty, mode);
    if mode.saturates || mode.relu {
        let value = widen(bits, ty);
        if mode.saturates {
            // A NaN becomes zero, and so does -0.
            bits = narrow(
                if value > 0.0 { value.min(1.0) } else { 0.0 },
                ty,
                Rounding::Nearest,
            );
        } else if value <= 0.0 {
            bits = 0;
        }
    }
    bits
}

pub(crate) fn unary(op: Unary, ty: ScalarType, mode: Mode, a: u64) -> u64 {
    if let Some(pair) = halves(ty, [a], |half, [a]| unary(op, half, mode, a)) {
        return pair;
    }
    let a = operand(a, ty, mode);
    let bits = ty.bits();
    let sign = 1 << (bits - 1);
    let float =
        |f: fn(f64) -> f64| finish(narrow(f(widen(a, ty)), ty, Rounding::Nearest), ty, mode);
    match op {
        Unary::Abs if ty.is_float() => a & !sign,
        Unary::Abs => ty.truncate(ty.integer(a).unsigned_abs() as u64),
        Unary::Neg if ty.is_float() => a ^ sign,
        Unary::Neg => ty.truncate(a.wrapping_neg()),
        Unary::Not => ty.truncate(!a),
        Unary::LogicalNot => u64::from(a == 0),
        Unary::Sqrt => result(Exact::sqrt(widen(a, ty)), ty, mode),
        Unary::Reciprocal => result(Exact::div(1.0, widen(a, ty)), ty, mode),
        Unary::ReciprocalSqrt => float(|x| 1.0 / x.sqrt()),
        Unary::Exp2 => float(f64::exp2),
        Unary::Log2 => float(f64::log2),
        Unary::Sin => float(f64::sin),
        Unary::Cos => float(f64::cos),
        Unary::Tanh => float(f64::tanh),
        Unary::ReverseBits => a.reverse_bits() >> (64 - bits),
        Unary::CountOnes => a.count_ones().into(),
        Unary::LeadingZeros => (a.leading_zeros() - (64 - bits)).into(),
        Unary::FindBit | Unary::FindBitShift => {
            // Of a negative number the highest zero.
            let searched = if ty.is_signed() && a & sign != 0 {
                ty.truncate(!a)
            } else {
                a
            };
            match searched.checked_ilog2() {
                None => 0xffff_ffff,
                Some(position) if op == Unary::FindBit => position.into(),
                Some(position) => (bits - 1 - position).into(),
            }
        }
    }
}

pub(crate) fn binary(op: Binary, ty: ScalarType, mode: Mode, a: u64, b: u64) -> u64 {
    if ty == ScalarType::F32
        && mode.rounding == Rounding::Nearest
        && !mode.flushes
        && !mode.saturates
    {
        // The common case, on the host's own arithmetic.
        let (x, y) = (f32::from_bits(a as u32), f32::from_bits(b as u32));
        let value = match op {
            Binary::Add => x + y,
            Binary::Sub => x - y,
            Binary::Mul => x * y,
            _ => return general_binary(op, ty, mode, a, b),
        };
        return if value.is_nan() {
            float::nan(ty)
        } else {
            value.to_bits().into()
        };
    }
    general_binary(op, ty, mode, a, b)
}

fn general_binary(op: Binary, ty: ScalarType, mode: Mode, a: u64, b: u64) -> u64 {
    if let Some(pair) = halves(ty, [a, b], |half, [a, b]| {
        general_binary(op, half, mode, a, b)
    }) {
        return pair;
    }
    if ty.is_float() {
        return float_binary(op, ty, mode, operand(a, ty, mode), operand(b, ty, mode));
    }
    let bits = ty.bits();
    let (x, y) = (ty.integer(a), ty.integer(b));
    // Results of 32 bits saturate; of other widths, PTX has no such form.
    let fit = |value: i128| match mode.saturates {
        true => value.clamp(i32::MIN.into(), i32::MAX.into()) as u64,
        false => value as u64,
    };
    ty.truncate(match op {
        Binary::Add => fit(x + y),
        Binary::Sub => fit(x - y),
        Binary::Mul => a.wrapping_mul(b),
        Binary::MulHigh => high_product(ty, a, b) as u64,
        // Twice as wide as the type.
        Binary::MulWide => return wide_product(ty, a, b),
        Binary::Mul24 => (low_24(ty, a) * low_24(ty, b)) as u64,
        // A device returns all ones; the remainder of such a division is the dividend.
        Binary::Div => {
            if y == 0 {
                u64::MAX
            } else {
                (x / y) as u64
            }
        }
        Binary::Rem => {
            if y == 0 {
                a
            } else {
                (x % y) as u64
            }
        }
        Binary::Min => x.min(y) as u64,
        Binary::Max => x.max(y) as u64,
        Binary::And => a & b,
        Binary::Or => a | b,
        Binary::Xor => a ^ b,
        // The amount is 32 bits of its own.
        Binary::ShiftLeft => {
            if b & 0xffff_ffff >= bits.into() {
                0
            } else {
                a << (b & 63)
            }
        }
        Binary::ShiftRight => (x >> (b & 0xffff_ffff).min(bits.into())) as u64,
        Binary::CopySign => 0,
    })
}

fn float_binary(op: Binary, ty: ScalarType, mode: Mode, a: u64, b: u64) -> u64 {
    let (x, y) = (widen(a, ty), widen(b, ty));
    match op {
        Binary::Add => result(Exact::add(x, y), ty, mode),
        Binary::Sub => result(Exact::add(x, -y), ty, mode),
        Binary::Mul => result(Exact::mul(x, y), ty, mode),
        Binary::Div => result(Exact::div(x, y), ty, mode),
        Binary::Min | Binary::Max => finish(
            extreme(op == Binary::Max, ty, mode.keeps_nan, a, b),
            ty,
            mode,
        ),
        Binary::CopySign => {
            let sign = 1 << (ty.bits() - 1);
            (b & !sign) | (a & sign)
        }
        _ => float::nan(ty),
    }
}

/// Returns the greater or the smaller number; -0 is smaller than 0, and a NaN loses against a
/// number.
fn extreme(is_max: bool, ty: ScalarType, keeps_nan: bool, a: u64, b: u64) -> u64 {
    let (x, y) = (widen(a, ty), widen(b, ty));
    match (x.is_nan(), y.is_nan()) {
        (true, true) => float::nan(ty),
        (true, false) | (false, true) if keeps_nan => float::nan(ty),
        (true, false) => b,
        (false, true) => a,
        (false, false) => {
            let a_is_less = x < y || (x == y && x.is_sign_negative());
            if a_is_less != is_max { a } else { b }
        }
    }
}

/// Returns the bits of a product above the type's own.
fn high_product(ty: ScalarType, a: u64, b: u64) -> i128 {
    if ty.is_signed() {
        (ty.integer(a) * ty.integer(b)) >> ty.bits()
    } else {
        ((u128::from(a) * u128::from(b)) >> ty.bits()) as i128
    }
}

fn wide_product(ty: ScalarType, a: u64, b: u64) -> u64 {
    let product = ty.integer(a).wrapping_mul(ty.integer(b)) as u64;
    if ty.size() == 2 {
        product & 0xffff_ffff
    } else {
        product
    }
}

fn low_24(ty: ScalarType, value: u64) -> i128 {
    if ty.is_signed() {
        i128::from((value as i32) << 8 >> 8)
    } else {
        i128::from(value & 0xff_ffff)
    }
}

pub(crate) fn ternary(op: Ternary, ty: ScalarType, mode: Mode, [a, b, c]: [u64; 3]) -> u64 {
    if let Some(pair) = halves(ty, [a, b, c], |half, operands| {
        ternary(op, half, mode, operands)
    }) {
        return pair;
    }
    match op {
        Ternary::MulAdd if ty.is_float() => {
            if ty == ScalarType::F32
                && mode.rounding == Rounding::Nearest
                && !mode.flushes
                && !mode.saturates
                && !mode.relu
            {
                let [x, y, z] = [a, b, c].map(|bits| f32::from_bits(bits as u32));
                let value = x.mul_add(y, z);
                return if value.is_nan() {
                    float::nan(ty)
                } else {
                    value.to_bits().into()
                };
            }
            let [x, y, z] = [a, b, c].map(|bits| widen(operand(bits, ty, mode), ty));
            result(Exact::fma(x, y, z), ty, mode)
        }
        Ternary::MulAdd => ty.truncate(a.wrapping_mul(b).wrapping_add(c)),
        Ternary::MulAddHigh => {
            let sum = high_product(ty, a, b).wrapping_add(ty.integer(c));
            ty.truncate(if mode.saturates {
                sum.clamp(i32::MIN.into(), i32::MAX.into())
            } else {
                sum
            } as u64)
        }
        Ternary::MulAddWide => {
            let sum = wide_product(ty, a, b).wrapping_add(c);
            if ty.size() == 2 {
                sum & 0xffff_ffff
            } else {
                sum
            }
        }
        Ternary::MulAdd24 => {
            ty.truncate((low_24(ty, a) * low_24(ty, b)) as u64)
                .wrapping_add(c)
                & 0xffff_ffff
        }
        // In 128 bits, as a shift by 32 puts the low word in the place of the high one.
        Ternary::FunnelLeft { wraps } => {
            ((u128::from(b << 32 | a) << funnel_amount(c, wraps)) >> 32) as u64 & 0xffff_ffff
        }
        Ternary::FunnelRight { wraps } => ((b << 32 | a) >> funnel_amount(c, wraps)) & 0xffff_ffff,
        Ternary::ExtractBits => extract_bits(ty, a, b & 255, c & 255),
        Ternary::PermuteBytes(permutation) => permute_bytes(permutation, b << 32 | a, c),
        Ternary::AbsDifference => {
            ty.truncate((ty.integer(a).abs_diff(ty.integer(b)) as u64).wrapping_add(c))
        }
        Ternary::Dot4 { is_signed } => {
            let products =
                (0..4).map(|k| part(a >> (8 * k), is_signed[0]) * part(b >> (8 * k), is_signed[1]));
            (products.sum::<i64>() as u64).wrapping_add(c) & 0xffff_ffff
        }
        Ternary::Dot2 { is_signed, high } => {
            let word = |k: u32| {
                if is_signed[0] {
                    i64::from((a >> (16 * k)) as i16)
                } else {
                    i64::from((a >> (16 * k)) as u16)
                }
            };
            let first = if high { 16 } else { 0 };
            let products = (0..2).map(|k| word(k) * part(b >> (first + 8 * k), is_signed[1]));
            (products.sum::<i64>() as u64).wrapping_add(c) & 0xffff_ffff
        }
    }
}

fn part(byte: u64, is_signed: bool) -> i64 {
    if is_signed {
        i64::from(byte as i8)
    } else {
        i64::from(byte as u8)
    }
}

fn funnel_amount(c: u64, wraps: bool) -> u64 {
    let c = c & 0xffff_ffff;
    if wraps { c & 31 } else { c.min(32) }
}

fn extract_bits(ty: ScalarType, a: u64, position: u64, length: u64) -> u64 {
    if length == 0 {
        return 0;
    }
    let value = ty.integer(a);
    let bits = u64::from(ty.bits());
    let shifted = value >> position.min(127);
    if length >= bits || (position + length >= bits && ty.is_signed()) {
        return ty.truncate(shifted as u64);
    }
    let field = shifted & ((1 << length) - 1);
    let is_negative = ty.is_signed() && field >> (length - 1) & 1 == 1;
    ty.truncate(if is_negative {
        field - (1 << length)
    } else {
        field
    } as u64)
}

pub(crate) fn insert_bits(ty: ScalarType, [a, b, position, length]: [u64; 4]) -> u64 {
    let (position, length, bits) = (position & 255, length & 255, u64::from(ty.bits()));
    if length == 0 || position >= bits {
        return b;
    }
    let mask = ty.truncate((((1u128 << length.min(bits)) - 1) << position) as u64);
    (b & !mask) | (a << position & mask)
}

fn permute_bytes(permutation: Permutation, source: u64, selector: u64) -> u64 {
    let mut result = 0;
    let low = selector & 3;
    for k in 0..4 {
        let (index, takes_sign) = match permutation {
            Permutation::Any => (selector >> (4 * k) & 7, selector >> (4 * k) & 8 != 0),
            Permutation::Forward4 => (low + k, false),
            Permutation::Backward4 => ((low + 8 - k) & 7, false),
            Permutation::Replicate8 => (low, false),
            Permutation::EdgeLeft => (k.max(low), false),
            Permutation::EdgeRight => (k.min(low), false),
            Permutation::Replicate16 => ((low & 1) * 2 + (k & 1), false),
        };
        let byte = source >> (8 * index) & 255;
        let byte = if !takes_sign {
            byte
        } else if byte & 128 != 0 {
            255
        } else {
            0
        };
        result |= byte << (8 * k);
    }
    result
}

pub(crate) fn logic3(table: u8, [a, b, c]: [u64; 3]) -> u64 {
    let mut result = 0;
    for row in (0..8).filter(|row| table >> row & 1 == 1) {
        let term = |bits: u64, place: u8| if row & place != 0 { bits } else { !bits };
        result |= term(a, 4) & term(b, 2) & term(c, 1);
    }
    result & 0xffff_ffff
}

pub(crate) fn compare(
    comparison: Comparison,
    ty: ScalarType,
    flushes: bool,
    a: u64,
    b: u64,
) -> bool {
    use Comparison::*;
    let order = if ty.is_float() {
        let mode = Mode {
            flushes,
            ..Mode::default()
        };
        widen(operand(a, ty, mode), ty).partial_cmp(&widen(operand(b, ty, mode), ty))
    } else if matches!(comparison, Lo | Ls | Hi | Hs) {
        Some(ty.truncate(a).cmp(&ty.truncate(b)))
    } else {
        Some(ty.integer(a).cmp(&ty.integer(b)))
    };
    match comparison {
        Eq => order.is_some_and(|order| order.is_eq()),
        Ne => order.is_some_and(|order| order.is_ne()),
        Lt | Lo => order.is_some_and(|order| order.is_lt()),
        Le | Ls => order.is_some_and(|order| order.is_le()),
        Gt | Hi => order.is_some_and(|order| order.is_gt()),
        Ge | Hs => order.is_some_and(|order| order.is_ge()),
        EqU => order.is_none_or(|order| order.is_eq()),
        NeU => order.is_none_or(|order| order.is_ne()),
        LtU => order.is_none_or(|order| order.is_lt()),
        LeU => order.is_none_or(|order| order.is_le()),
        GtU => order.is_none_or(|order| order.is_gt()),
        GeU => order.is_none_or(|order| order.is_ge()),
        Num => order.is_some(),
        Nan => order.is_none(),
    }
}

pub(crate) fn is_of_class(class: FloatClass, ty: ScalarType, bits: u64) -> bool {
    let is_normal = match ty {
        ScalarType::F32 => f32::from_bits(bits as u32).is_normal(),
        _ => f64::from_bits(bits).is_normal(),
    };
    let value = widen(bits, ty);
    match class {
        FloatClass::Finite => value.is_finite(),
        FloatClass::Infinite => value.is_infinite(),
        FloatClass::Number => !value.is_nan(),
        FloatClass::NotANumber => value.is_nan(),
        FloatClass::Normal => is_normal,
        // A zero is neither normal nor subnormal.
        FloatClass::Subnormal => value.is_finite() && value != 0.0 && !is_normal,
    }
}

/// Returns the value that an atomic operation leaves behind.
pub(crate) fn atomic(op: Atomic, ty: ScalarType, old: u64, b: u64, c: u64) -> u64 {
    let by = |op| binary(op, ty, Mode::default(), old, b);
    match op {
        Atomic::Add => by(Binary::Add),
        Atomic::Min => by(Binary::Min),
        Atomic::Max => by(Binary::Max),
        Atomic::And => old & b,
        Atomic::Or => old | b,
        Atomic::Xor => old ^ b,
        Atomic::Exchange => b,
        Atomic::CompareAndSwap => {
            if old == b {
                c
            } else {
                old
            }
        }
        Atomic::Increment => {
            if old >= b {
                0
            } else {
                old + 1
            }
        }
        Atomic::Decrement => {
            if old == 0 || old > b {
                b
            } else {
                old - 1
            }
        }
    }
}
