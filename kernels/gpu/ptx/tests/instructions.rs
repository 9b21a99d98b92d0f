//! Instruction by instruction: each form on edge values and random ones, against Rust's own
//! arithmetic.

mod common;

use common::{Arg, Device, Random};
use half::{bf16, f16};

/// One form: the instruction, the kinds of its target and its operands, and what it computes of
/// three words.
///
/// Kinds: `h` 16 bits, `r` 32 bits, `d` 64 bits, `p` a predicate, the lowest bit.
type Row = (&'static str, &'static str, fn(u64, u64, u64) -> u64);

fn low(bits: u64) -> u32 {
    bits as u32
}

fn f(bits: u64) -> f32 {
    f32::from_bits(bits as u32)
}

fn d(bits: u64) -> f64 {
    f64::from_bits(bits)
}

fn single(value: f32) -> u64 {
    if value.is_nan() {
        0x7fff_ffff
    } else {
        value.to_bits().into()
    }
}

fn double(value: f64) -> u64 {
    if value.is_nan() {
        0x7fff_ffff_ffff_ffff
    } else {
        value.to_bits()
    }
}

fn h(bits: u64) -> f64 {
    f16::from_bits(bits as u16).to_f64()
}

fn brain(bits: u64) -> f64 {
    bf16::from_bits(bits as u16).to_f64()
}

/// Rounds a number that `f64` holds exactly.
fn half_bits(value: f64) -> u64 {
    if value.is_nan() {
        0x7fff
    } else {
        f16::from_f64(value).to_bits().into()
    }
}

fn brain_bits(value: f64) -> u64 {
    if value.is_nan() {
        0x7fff
    } else {
        bf16::from_f64(value).to_bits().into()
    }
}

/// Without subnormal numbers.
fn z(value: f32) -> f32 {
    if value.is_subnormal() {
        0f32.copysign(value)
    } else {
        value
    }
}

fn signed(value: i32) -> u64 {
    u64::from(value as u32)
}

/// As PTX orders them: -0 is smaller than 0, and a NaN loses.
fn least(a: f32, b: f32) -> f32 {
    match (a.is_nan(), b.is_nan()) {
        (true, _) => b,
        (_, true) => a,
        _ if a == b => {
            if a.is_sign_negative() {
                a
            } else {
                b
            }
        }
        _ => {
            if a < b {
                a
            } else {
                b
            }
        }
    }
}

fn greatest(a: f32, b: f32) -> f32 {
    -least(-a, -b)
}

/// Returns the nearest `f32` on one side of an `f64`.
fn towards(value: f64, is_up: bool) -> f32 {
    let near = value as f32;
    match (is_up, f64::from(near).partial_cmp(&value)) {
        (true, Some(std::cmp::Ordering::Less)) => near.next_up(),
        (false, Some(std::cmp::Ordering::Greater)) => near.next_down(),
        _ => near,
    }
}

fn bit_field(value: i128, bits: u32, position: u64, length: u64, is_signed: bool) -> u64 {
    let sign = is_signed && length > 0 && {
        let last = (position + length - 1).min(u64::from(bits) - 1);
        value >> last & 1 == 1
    };
    (0..u64::from(bits)).fold(0, |field, at| {
        let is_inside = at < length && at + position < u64::from(bits);
        let bit = if is_inside {
            value >> (at + position) & 1 == 1
        } else {
            sign
        };
        field | u64::from(bit) << at
    })
}

#[rustfmt::skip]
const INTEGERS: &[Row] = &[
    ("add.s32", "r rr", |a, b, _| low(a).wrapping_add(low(b)).into()),
    ("add.u64", "d dd", |a, b, _| a.wrapping_add(b)),
    ("add.s16", "h hh", |a, b, _| (a as u16).wrapping_add(b as u16).into()),
    ("add.sat.s32", "r rr", |a, b, _| signed((a as i32).saturating_add(b as i32))),
    ("sub.s32", "r rr", |a, b, _| low(a).wrapping_sub(low(b)).into()),
    ("sub.s64", "d dd", |a, b, _| a.wrapping_sub(b)),
    ("sub.sat.s32", "r rr", |a, b, _| signed((a as i32).saturating_sub(b as i32))),
    ("mul.lo.s32", "r rr", |a, b, _| low(a).wrapping_mul(low(b)).into()),
    ("mul.lo.s64", "d dd", |a, b, _| a.wrapping_mul(b)),
    ("mul.lo.u16", "h hh", |a, b, _| (a as u16).wrapping_mul(b as u16).into()),
    ("mul.hi.s32", "r rr", |a, b, _| signed(((i64::from(a as i32) * i64::from(b as i32)) >> 32) as i32)),
    ("mul.hi.u32", "r rr", |a, b, _| (u64::from(low(a)) * u64::from(low(b))) >> 32),
    ("mul.hi.s64", "d dd", |a, b, _| ((i128::from(a as i64) * i128::from(b as i64)) >> 64) as u64),
    ("mul.hi.u64", "d dd", |a, b, _| ((u128::from(a) * u128::from(b)) >> 64) as u64),
    ("mul.wide.s32", "d rr", |a, b, _| (i64::from(a as i32) * i64::from(b as i32)) as u64),
    ("mul.wide.u32", "d rr", |a, b, _| u64::from(low(a)) * u64::from(low(b))),
    ("mul.wide.s16", "r hh", |a, b, _| signed(i32::from(a as i16) * i32::from(b as i16))),
    ("mul.wide.u16", "r hh", |a, b, _| u64::from(u32::from(a as u16) * u32::from(b as u16))),
    ("mul24.lo.u32", "r rr", |a, b, _| (a & 0xff_ffff).wrapping_mul(b & 0xff_ffff) & 0xffff_ffff),
    ("mad.lo.s32", "r rrr", |a, b, c| low(a).wrapping_mul(low(b)).wrapping_add(low(c)).into()),
    ("mad.lo.s64", "d ddd", |a, b, c| a.wrapping_mul(b).wrapping_add(c)),
    ("mad.hi.u32", "r rrr", |a, b, c| u64::from((((u64::from(low(a)) * u64::from(low(b))) >> 32) as u32).wrapping_add(low(c)))),
    ("mad.wide.u32", "d rrd", |a, b, c| (u64::from(low(a)) * u64::from(low(b))).wrapping_add(c)),
    ("mad.wide.s32", "d rrd", |a, b, c| ((i64::from(a as i32) * i64::from(b as i32)) as u64).wrapping_add(c)),
    ("mad.wide.s16", "r hhr", |a, b, c| signed((i32::from(a as i16) * i32::from(b as i16)).wrapping_add(c as i32))),
    ("div.s32", "r rr", |a, b, _| if low(b) == 0 { 0xffff_ffff } else { signed((a as i32).wrapping_div(b as i32)) }),
    ("div.u32", "r rr", |a, b, _| low(a).checked_div(low(b)).unwrap_or(u32::MAX).into()),
    ("div.s64", "d dd", |a, b, _| if b == 0 { u64::MAX } else { (a as i64).wrapping_div(b as i64) as u64 }),
    ("div.u64", "d dd", |a, b, _| a.checked_div(b).unwrap_or(u64::MAX)),
    ("rem.s32", "r rr", |a, b, _| if low(b) == 0 { low(a).into() } else { signed((a as i32).wrapping_rem(b as i32)) }),
    ("rem.u32", "r rr", |a, b, _| low(a).checked_rem(low(b)).unwrap_or(low(a)).into()),
    ("rem.s64", "d dd", |a, b, _| if b == 0 { a } else { (a as i64).wrapping_rem(b as i64) as u64 }),
    ("rem.u64", "d dd", |a, b, _| a.checked_rem(b).unwrap_or(a)),
    ("abs.s32", "r r", |a, _, _| signed((a as i32).wrapping_abs())),
    ("abs.s64", "d d", |a, _, _| (a as i64).wrapping_abs() as u64),
    ("neg.s32", "r r", |a, _, _| signed((a as i32).wrapping_neg())),
    ("neg.s64", "d d", |a, _, _| (a as i64).wrapping_neg() as u64),
    ("min.s32", "r rr", |a, b, _| signed((a as i32).min(b as i32))),
    ("min.u32", "r rr", |a, b, _| low(a).min(low(b)).into()),
    ("min.s64", "d dd", |a, b, _| (a as i64).min(b as i64) as u64),
    ("min.u16", "h hh", |a, b, _| (a as u16).min(b as u16).into()),
    ("max.s32", "r rr", |a, b, _| signed((a as i32).max(b as i32))),
    ("max.u32", "r rr", |a, b, _| low(a).max(low(b)).into()),
    ("max.u64", "d dd", |a, b, _| a.max(b)),
    ("max.s16", "h hh", |a, b, _| u64::from((a as i16).max(b as i16) as u16)),
    ("and.b32", "r rr", |a, b, _| (low(a) & low(b)).into()),
    ("or.b64", "d dd", |a, b, _| a | b),
    ("xor.b16", "h hh", |a, b, _| u64::from((a ^ b) as u16)),
    ("not.b32", "r r", |a, _, _| (!low(a)).into()),
    ("not.b64", "d d", |a, _, _| !a),
    ("and.pred", "p pp", |a, b, _| a & b & 1),
    ("xor.pred", "p pp", |a, b, _| (a ^ b) & 1),
    ("not.pred", "p p", |a, _, _| !a & 1),
    ("cnot.b32", "r r", |a, _, _| u64::from(low(a) == 0)),
    ("shl.b32", "r rr", |a, b, _| low(a).checked_shl(low(b)).unwrap_or(0).into()),
    ("shl.b64", "d dr", |a, b, _| a.checked_shl(low(b)).unwrap_or(0)),
    ("shl.b16", "h hr", |a, b, _| u64::from((a as u16).checked_shl(low(b)).unwrap_or(0))),
    ("shr.u32", "r rr", |a, b, _| low(a).checked_shr(low(b)).unwrap_or(0).into()),
    ("shr.s32", "r rr", |a, b, _| signed(a as i32 >> low(b).min(31))),
    ("shr.u64", "d dr", |a, b, _| a.checked_shr(low(b)).unwrap_or(0)),
    ("shr.s64", "d dr", |a, b, _| (a as i64 >> low(b).min(63)) as u64),
    ("shr.s16", "h hr", |a, b, _| u64::from((a as i16 >> low(b).min(15)) as u16)),
    ("shf.l.wrap.b32", "r rrr", |a, b, c| u64::from(((u64::from(low(b)) << 32 | u64::from(low(a))) << (c & 31) >> 32) as u32)),
    ("shf.r.wrap.b32", "r rrr", |a, b, c| u64::from(((u64::from(low(b)) << 32 | u64::from(low(a))) >> (c & 31)) as u32)),
    ("shf.l.clamp.b32", "r rrr", |a, b, c| if low(c) >= 32 { low(a).into() } else { u64::from(((u64::from(low(b)) << 32 | u64::from(low(a))) << low(c) >> 32) as u32) }),
    ("shf.r.clamp.b32", "r rrr", |a, b, c| if low(c) >= 32 { low(b).into() } else { u64::from(((u64::from(low(b)) << 32 | u64::from(low(a))) >> low(c)) as u32) }),
    ("bfe.u32", "r rrr", |a, b, c| bit_field(low(a).into(), 32, b & 255, c & 255, false)),
    ("bfe.s32", "r rrr", |a, b, c| bit_field((a as i32).into(), 32, b & 255, c & 255, true)),
    ("bfe.u64", "d drr", |a, b, c| bit_field(a.into(), 64, b & 255, c & 255, false)),
    ("bfe.s64", "d drr", |a, b, c| bit_field((a as i64).into(), 64, b & 255, c & 255, true)),
    ("bfi.b32", "r rrrr", |a, b, c| (0..32).fold(0, |all, at| {
        let (position, length) = (c & 255, (c >> 8) & 255);
        let is_inside = at >= position && at < position + length;
        all | (if is_inside { a >> (at - position) } else { b >> at } & 1) << at
    })),
    ("bfind.u32", "r r", |a, _, _| low(a).checked_ilog2().unwrap_or(u32::MAX).into()),
    ("bfind.s32", "r r", |a, _, _| (if (a as i32) < 0 { !low(a) } else { low(a) }).checked_ilog2().unwrap_or(u32::MAX).into()),
    ("bfind.shiftamt.u32", "r r", |a, _, _| low(a).checked_ilog2().map_or(u32::MAX, |at| 31 - at).into()),
    ("bfind.u64", "r d", |a, _, _| a.checked_ilog2().unwrap_or(u32::MAX).into()),
    ("brev.b32", "r r", |a, _, _| low(a).reverse_bits().into()),
    ("brev.b64", "d d", |a, _, _| a.reverse_bits()),
    ("popc.b32", "r r", |a, _, _| low(a).count_ones().into()),
    ("popc.b64", "r d", |a, _, _| a.count_ones().into()),
    ("clz.b32", "r r", |a, _, _| low(a).leading_zeros().into()),
    ("clz.b64", "r d", |a, _, _| a.leading_zeros().into()),
    ("prmt.b32", "r rrr", |a, b, c| (0..4).fold(0, |all, k| {
        let selector = c >> (4 * k) & 15;
        let byte = (low(a) as u64 | u64::from(low(b)) << 32) >> (8 * (selector & 7)) & 255;
        all | (if selector < 8 { byte } else { (byte >> 7) * 255 }) << (8 * k)
    })),
    ("sad.u32", "r rrr", |a, b, c| low(a).abs_diff(low(b)).wrapping_add(low(c)).into()),
    ("sad.s32", "r rrr", |a, b, c| (a as i32).abs_diff(b as i32).wrapping_add(low(c)).into()),
    ("dp4a.s32.u32", "r rrr", |a, b, c| u64::from((0..4).fold(low(c), |sum, k| {
        sum.wrapping_add((i32::from((a >> (8 * k)) as i8) * i32::from((b >> (8 * k)) as u8)) as u32)
    }))),
    ("selp.b32", "r rrp", |a, b, c| if c & 1 == 1 { low(a).into() } else { low(b).into() }),
    ("slct.u32.s32", "r rrr", |a, b, c| if c as i32 >= 0 { low(a).into() } else { low(b).into() }),
    ("setp.lt.s32", "p rr", |a, b, _| u64::from((a as i32) < b as i32)),
    ("setp.lt.u32", "p rr", |a, b, _| u64::from(low(a) < low(b))),
    ("setp.ge.s64", "p dd", |a, b, _| u64::from(a as i64 >= b as i64)),
    ("setp.hi.u64", "p dd", |a, b, _| u64::from(a > b)),
    ("setp.eq.s16", "p hh", |a, b, _| u64::from(a as u16 == b as u16)),
    ("setp.ne.and.b32", "p rrp", |a, b, c| u64::from(low(a) != low(b)) & c),
    ("setp.le.xor.u32", "p rrp", |a, b, c| (u64::from(low(a) <= low(b)) ^ c) & 1),
    ("set.gt.u32.s32", "r rr", |a, b, _| if a as i32 > b as i32 { 0xffff_ffff } else { 0 }),
    ("cvt.s64.s32", "d r", |a, _, _| i64::from(a as i32) as u64),
    ("cvt.u64.u32", "d r", |a, _, _| low(a).into()),
    ("cvt.u32.u64", "r d", |a, _, _| low(a).into()),
    ("cvt.s32.s8", "r r", |a, _, _| signed((a as i8).into())),
    ("cvt.u16.u8", "h r", |a, _, _| (a as u8).into()),
    ("cvt.s16.s64", "h d", |a, _, _| u64::from(a as u16)),
    ("cvt.sat.s16.s32", "h r", |a, _, _| u64::from((a as i32).clamp(-32768, 32767) as i16 as u16)),
    ("cvt.sat.u32.s64", "r d", |a, _, _| (a as i64).clamp(0, u32::MAX.into()) as u64),
];

#[rustfmt::skip]
const FLOATS: &[Row] = &[
    ("add.f32", "r rr", |a, b, _| single(f(a) + f(b))),
    ("sub.rn.f32", "r rr", |a, b, _| single(f(a) - f(b))),
    ("mul.f32", "r rr", |a, b, _| single(f(a) * f(b))),
    ("add.ftz.f32", "r rr", |a, b, _| single(z(z(f(a)) + z(f(b))))),
    ("mul.ftz.f32", "r rr", |a, b, _| single(z(z(f(a)) * z(f(b))))),
    ("add.sat.f32", "r rr", |a, b, _| { let x = f(a) + f(b); single(if x > 0.0 { x.min(1.0) } else { 0.0 }) }),
    ("fma.rn.f32", "r rrr", |a, b, c| single(f(a).mul_add(f(b), f(c)))),
    ("fma.rn.ftz.f32", "r rrr", |a, b, c| single(z(z(f(a)).mul_add(z(f(b)), z(f(c)))))),
    ("div.rn.f32", "r rr", |a, b, _| single(f(a) / f(b))),
    ("div.rn.ftz.f32", "r rr", |a, b, _| single(z(z(f(a)) / z(f(b))))),
    ("rcp.rn.f32", "r r", |a, _, _| single(1.0 / f(a))),
    ("sqrt.rn.f32", "r r", |a, _, _| single(f(a).sqrt())),
    ("abs.f32", "r r", |a, _, _| u64::from(low(a) & 0x7fff_ffff)),
    ("neg.f32", "r r", |a, _, _| u64::from(low(a) ^ 0x8000_0000)),
    ("min.f32", "r rr", |a, b, _| single(least(f(a), f(b)))),
    ("max.f32", "r rr", |a, b, _| single(greatest(f(a), f(b)))),
    ("max.NaN.f32", "r rr", |a, b, _| single(if f(a).is_nan() || f(b).is_nan() { f32::NAN } else { greatest(f(a), f(b)) })),
    ("min.ftz.f32", "r rr", |a, b, _| single(least(z(f(a)), z(f(b))))),
    ("copysign.f32", "r rr", |a, b, _| u64::from(low(b) & 0x7fff_ffff | low(a) & 0x8000_0000)),
    ("ex2.approx.f32", "r r", |a, _, _| single(f64::from(f(a)).exp2() as f32)),
    ("lg2.approx.ftz.f32", "r r", |a, _, _| single(z(f64::from(z(f(a))).log2() as f32))),
    ("rsqrt.approx.f32", "r r", |a, _, _| single((1.0 / f64::from(f(a)).sqrt()) as f32)),
    ("tanh.approx.f32", "r r", |a, _, _| single(f64::from(f(a)).tanh() as f32)),
    ("setp.lt.f32", "p rr", |a, b, _| u64::from(f(a) < f(b))),
    ("setp.neu.f32", "p rr", |a, b, _| u64::from(f(a) != f(b))),
    ("setp.ltu.f32", "p rr", |a, b, _| u64::from(f(a) < f(b) || f(a).is_nan() || f(b).is_nan())),
    ("setp.ne.f32", "p rr", |a, b, _| u64::from(f(a) < f(b) || f(a) > f(b))),
    ("setp.eq.ftz.f32", "p rr", |a, b, _| u64::from(z(f(a)) == z(f(b)))),
    ("setp.num.f32", "p rr", |a, b, _| u64::from(!f(a).is_nan() && !f(b).is_nan())),
    ("setp.gt.f64", "p dd", |a, b, _| u64::from(d(a) > d(b))),
    ("set.lt.f32.f32", "r rr", |a, b, _| if f(a) < f(b) { 0x3f80_0000 } else { 0 }),
    ("slct.f32.f32", "r rrr", |a, b, c| u64::from(if f(c) >= 0.0 { low(a) } else { low(b) })),
    ("testp.finite.f32", "p r", |a, _, _| f(a).is_finite().into()),
    ("testp.subnormal.f32", "p r", |a, _, _| f(a).is_subnormal().into()),
    ("testp.normal.f64", "p d", |a, _, _| d(a).is_normal().into()),
    ("testp.notanumber.f32", "p r", |a, _, _| f(a).is_nan().into()),
    ("add.f64", "d dd", |a, b, _| double(d(a) + d(b))),
    ("sub.f64", "d dd", |a, b, _| double(d(a) - d(b))),
    ("mul.f64", "d dd", |a, b, _| double(d(a) * d(b))),
    ("fma.rn.f64", "d ddd", |a, b, c| double(d(a).mul_add(d(b), d(c)))),
    ("div.rn.f64", "d dd", |a, b, _| double(d(a) / d(b))),
    ("sqrt.rn.f64", "d d", |a, _, _| double(d(a).sqrt())),
    ("neg.f64", "d d", |a, _, _| a ^ 1 << 63),
    ("add.f16", "h hh", |a, b, _| half_bits(h(a) + h(b))),
    ("mul.f16", "h hh", |a, b, _| half_bits(h(a) * h(b))),
    ("neg.bf16", "h h", |a, _, _| u64::from(a as u16 ^ 0x8000)),
    ("mul.bf16", "h hh", |a, b, _| brain_bits(brain(a) * brain(b))),
    ("add.f16x2", "r rr", |a, b, _| half_bits(h(a) + h(b)) | half_bits(h(a >> 16) + h(b >> 16)) << 16),
    ("mul.f16x2", "r rr", |a, b, _| half_bits(h(a) * h(b)) | half_bits(h(a >> 16) * h(b >> 16)) << 16),
    ("cvt.f32.f16", "r h", |a, _, _| single(h(a) as f32)),
    ("cvt.rn.f16.f32", "h r", |a, _, _| half_bits(f(a).into())),
    ("cvt.rn.bf16.f32", "h r", |a, _, _| brain_bits(f(a).into())),
    ("cvt.f32.bf16", "r h", |a, _, _| single(brain(a) as f32)),
    ("cvt.rn.f16x2.f32", "r rr", |a, b, _| half_bits(f(a).into()) << 16 | half_bits(f(b).into())),
    ("cvt.rn.relu.f16.f32", "h r", |a, _, _| if f(a) > 0.0 { half_bits(f(a).into()) } else if f(a).is_nan() { 0x7fff } else { 0 }),
    ("cvt.f64.f32", "d r", |a, _, _| double(f(a).into())),
    ("cvt.rn.f32.f64", "r d", |a, _, _| single(d(a) as f32)),
    ("cvt.rm.f32.f64", "r d", |a, _, _| single(towards(d(a), false))),
    ("cvt.rp.f32.f64", "r d", |a, _, _| single(towards(d(a), true))),
    ("cvt.rz.f32.f64", "r d", |a, _, _| single(towards(d(a), d(a) < 0.0))),
    ("cvt.rni.f32.f32", "r r", |a, _, _| single(f(a).round_ties_even())),
    ("cvt.rmi.f64.f64", "d d", |a, _, _| double(d(a).floor())),
    ("cvt.rpi.f32.f32", "r r", |a, _, _| single(f(a).ceil())),
    ("cvt.rzi.ftz.f32.f32", "r r", |a, _, _| single(z(f(a)).trunc())),
    ("cvt.sat.f32.f32", "r r", |a, _, _| single(if f(a) > 0.0 { f(a).min(1.0) } else { 0.0 })),
    ("cvt.rzi.s32.f32", "r r", |a, _, _| signed(f(a) as i32)),
    ("cvt.rni.s32.f32", "r r", |a, _, _| signed(f(a).round_ties_even() as i32)),
    ("cvt.rzi.u32.f32", "r r", |a, _, _| u64::from(f(a) as u32)),
    ("cvt.rmi.s32.f64", "r d", |a, _, _| if d(a).is_nan() { 1 << 31 } else { signed(d(a).floor() as i32) }),
    ("cvt.rzi.u64.f32", "d r", |a, _, _| if f(a).is_nan() { 1 << 63 } else { f(a) as u64 }),
    ("cvt.rzi.s64.f64", "d d", |a, _, _| if d(a).is_nan() { 1 << 63 } else { (d(a) as i64) as u64 }),
    ("cvt.rzi.u16.f32", "h r", |a, _, _| u64::from(f(a) as u16)),
    ("cvt.rn.f32.s32", "r r", |a, _, _| single(a as i32 as f32)),
    ("cvt.rn.f32.u64", "r d", |a, _, _| single(a as f32)),
    ("cvt.rn.f32.s64", "r d", |a, _, _| single(a as i64 as f32)),
    ("cvt.rn.f64.u64", "d d", |a, _, _| double(a as f64)),
    ("cvt.rn.f64.s64", "d d", |a, _, _| double(a as i64 as f64)),
    ("cvt.rn.f32.u16", "r h", |a, _, _| single((a as u16).into())),
    ("cvt.rn.f16.s32", "h r", |a, _, _| half_bits((a as i32).into())),
];

/// Words whose bits are edges of integers or of numbers, in one format or another.
const EDGES: &[u64] = &[
    0,
    1,
    2,
    3,
    7,
    31,
    32,
    33,
    63,
    64,
    255,
    0x7fff,
    0x8000,
    0xffff,
    0x3c00,
    0xbc00,
    0x7c00,
    0xfc00,
    0x7e00,
    0x03ff,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    0x3f80_0000,
    0xbf80_0000,
    0x7f80_0000,
    0xff80_0000,
    0x7fc0_0000,
    0x007f_ffff,
    0x807f_ffff,
    0x0080_0000,
    0x7f7f_ffff,
    0x4f00_0000,
    0xcf00_0000,
    0x4b00_0001,
    0x3f00_0000,
    0x4020_0000,
    0x33ff_ffff,
    0x3880_1000,
    0x7fff_ffff_ffff_ffff,
    0x8000_0000_0000_0000,
    u64::MAX,
    0x3ff0_0000_0000_0000,
    0xbff0_0000_1000_0000,
    0x7ff0_0000_0000_0000,
    0x7ff8_0000_0000_0000,
    0x000f_ffff_ffff_ffff,
    0x43e0_0000_0000_0000,
    0x4004_0000_0000_0000,
    0x3810_0000_0000_0001,
];

const NUM_CASES: usize = 3072;

fn cases(seed: u64) -> [Vec<u64>; 3] {
    let mut random = Random(seed);
    let mut words = [Vec::new(), Vec::new(), Vec::new()];
    for case in 0..NUM_CASES {
        for (index, words) in words.iter_mut().enumerate() {
            let edge = match index {
                0 => EDGES[case % EDGES.len()],
                1 => EDGES[case / EDGES.len() % EDGES.len()],
                _ => EDGES[random.below(EDGES.len() as u64) as usize],
            };
            words.push(if case < EDGES.len() * EDGES.len() {
                edge
            } else {
                random.bits() >> random.below(64)
            });
        }
    }
    words
}

/// Returns a kernel for each row: `y[i] = form(a[i], b[i], c[i])`.
fn module(rows: &[Row]) -> String {
    let mut text = ".version 8.6\n.target sm_90\n.address_size 64\n".to_owned();
    for (index, (form, layout, _)) in rows.iter().enumerate() {
        let register = |kind: char, name: &str| match kind {
            'h' => format!("%h{name}"),
            'r' => format!("%r{name}"),
            'd' => format!("%d{name}"),
            _ => format!("%p{name}"),
        };
        let (target, sources) = layout.split_once(' ').unwrap();
        let target = target.chars().next().unwrap();
        let mut body = String::new();
        let mut operands = vec![register(target, "9")];
        for (place, kind) in sources.chars().enumerate() {
            // The fourth operand is the second byte of the third word.
            body += &if place < 3 {
                format!("ld.global.b64 %d{place}, [%rd{place}];\n")
            } else {
                format!("shr.u64 %d{place}, %d2, 8;\n")
            };
            body += &match kind {
                'h' => format!("cvt.u16.u64 %h{place}, %d{place};\n"),
                'r' => format!("cvt.u32.u64 %r{place}, %d{place};\n"),
                'd' => String::new(),
                _ => format!("and.b64 %x, %d{place}, 1; setp.ne.u64 %p{place}, %x, 0;\n"),
            };
            operands.push(register(kind, &place.to_string()));
        }
        body += &format!("{form} {};\n", operands.join(", "));
        body += match target {
            'h' => "cvt.u64.u16 %y, %h9;\n",
            'r' => "cvt.u64.u32 %y, %r9;\n",
            'd' => "mov.b64 %y, %d9;\n",
            _ => "selp.u64 %y, 1, 0, %p9;\n",
        };
        text += &format!(
            ".entry k{index}(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 y) {{
             .reg .pred %p<10>; .reg .b16 %h<10>; .reg .b32 %r<10>, %i<4>; .reg .b64 %d<10>, %rd<4>, %x, %y, %at;
             mov.u32 %i0, %tid.x; mov.u32 %i1, %ctaid.x; mov.u32 %i2, %ntid.x; mad.lo.u32 %i3, %i1, %i2, %i0; mul.wide.u32 %at, %i3, 8;
             ld.param.u64 %rd0, [a]; add.u64 %rd0, %rd0, %at; ld.param.u64 %rd1, [b]; add.u64 %rd1, %rd1, %at;
             ld.param.u64 %rd2, [c]; add.u64 %rd2, %rd2, %at; ld.param.u64 %rd3, [y]; add.u64 %rd3, %rd3, %at;
             {body} st.global.b64 [%rd3], %y; ret;\n}}\n"
        );
    }
    text
}

fn check(rows: &[Row]) {
    let mut device = Device::load(&module(rows));
    let words = cases(rows.len() as u64);
    let addresses = [0, 1, 2].map(|index: usize| device.upload(&words[index]));
    let result = device.upload(&vec![0u64; NUM_CASES]);
    let args = [addresses[0], addresses[1], addresses[2], result].map(Arg::Address);
    let mut wrong = Vec::new();
    for (index, (form, layout, oracle)) in rows.iter().enumerate() {
        device.run(&format!("k{index}"), NUM_CASES as u32 / 256, 256, 0, &args);
        for (case, found) in device
            .download::<u64>(result, NUM_CASES)
            .into_iter()
            .enumerate()
        {
            let [a, b, c] = [0, 1, 2].map(|index: usize| words[index][case]);
            // A predicate is the lowest bit of its word.
            let kinds: Vec<char> = layout.chars().skip(2).collect();
            let of = |place: usize, word: u64| {
                if kinds.get(place) == Some(&'p') {
                    word & 1
                } else {
                    word
                }
            };
            let expected = oracle(of(0, a), of(1, b), of(2, c));
            if found != expected {
                wrong.push(format!(
                    "{form} of {a:#x}, {b:#x}, {c:#x}: found {found:#x}, expected {expected:#x}"
                ));
                break;
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} forms are wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn integer_instructions_match_their_oracles() {
    check(INTEGERS);
}

#[test]
fn float_instructions_match_their_oracles() {
    check(FLOATS);
}

/// Rounds `value · 2^exponent` to `f32`, by integers alone.
fn round_integer(value: i128, exponent: i32, mode: &str) -> u64 {
    let magnitude = value.unsigned_abs();
    if magnitude == 0 {
        return 0;
    }
    let shift = 128 - magnitude.leading_zeros() as i32 - 24;
    let (kept, cut) = if shift > 0 {
        (magnitude >> shift, magnitude & ((1 << shift) - 1))
    } else {
        (magnitude << -shift, 0)
    };
    let goes_up = match mode {
        "rn" => shift > 0 && (cut > 1 << (shift - 1) || (cut == 1 << (shift - 1) && kept & 1 == 1)),
        "rz" => false,
        "rm" => cut != 0 && value < 0,
        _ => cut != 0 && value > 0,
    };
    let kept = (kept + u128::from(goes_up)) as f64;
    let result = (kept * 2f64.powi(shift + exponent)).copysign(if value < 0 { -1.0 } else { 1.0 });
    assert_eq!(f64::from(result as f32), result);
    single(result as f32)
}

#[test]
fn directed_roundings_match_exact_integers() {
    let mut random = Random(77);
    // Numbers of 24 bits and small exponents, so that integers hold all results.
    let numbers: Vec<(i64, i32)> = (0..3 * 512)
        .map(|_| ((random.bits() as i64) >> 40, random.below(24) as i32 - 12))
        .collect();
    let value = |(mantissa, exponent): (i64, i32)| mantissa as f32 * 2f32.powi(exponent);
    let mut text = ".version 8.6\n.target sm_90\n.address_size 64\n".to_owned();
    for mode in ["rn", "rz", "rm", "rp"] {
        for (name, form) in [
            ("add", "add.MODE.f32 %f3, %f0, %f1;"),
            ("mul", "mul.MODE.f32 %f3, %f0, %f1;"),
            ("fma", "fma.MODE.f32 %f3, %f0, %f1, %f2;"),
        ] {
            text += &format!(
                ".entry {name}_{mode}(.param .u64 x, .param .u64 y) {{
                 .reg .b32 %r<4>; .reg .b64 %rd<8>; .reg .f32 %f<4>;
                 mov.u32 %r0, %tid.x; ld.param.u64 %rd0, [x]; ld.param.u64 %rd1, [y]; mul.wide.u32 %rd2, %r0, 12; mul.wide.u32 %rd3, %r0, 4;
                 add.u64 %rd0, %rd0, %rd2; add.u64 %rd1, %rd1, %rd3;
                 ld.global.f32 %f0, [%rd0]; ld.global.f32 %f1, [%rd0+4]; ld.global.f32 %f2, [%rd0+8]; {} st.global.f32 [%rd1], %f3; }}\n",
                form.replace("MODE", mode)
            );
        }
    }
    let mut device = Device::load(&text);
    let operands: Vec<f32> = numbers.iter().map(|&number| value(number)).collect();
    let (to_x, to_y) = (device.upload(&operands), device.upload(&[0u32; 512]));
    for mode in ["rn", "rz", "rm", "rp"] {
        for name in ["add", "mul", "fma"] {
            device.run(
                &format!("{name}_{mode}"),
                1,
                512,
                0,
                &[Arg::Address(to_x), Arg::Address(to_y)],
            );
            for (case, found) in device.download::<u32>(to_y, 512).into_iter().enumerate() {
                let [a, b, c] = [0, 1, 2].map(|index| numbers[3 * case + index]);
                // In units of 2^-40.
                let unit =
                    |(mantissa, exponent): (i64, i32)| i128::from(mantissa) << (exponent + 40);
                let product = (i128::from(a.0) * i128::from(b.0)) << (a.1 + b.1 + 40);
                let exact = match name {
                    "add" => unit(a) + unit(b),
                    "mul" => product,
                    _ => product + unit(c),
                };
                let expected = round_integer(exact, -40, mode);
                // An exact zero has the sign of its rounding.
                assert!(
                    u64::from(found) == expected || (exact == 0 && found << 1 == 0),
                    "{name}.{mode}: case {case}, {found:#x} {expected:#x}"
                );
            }
        }
    }
}

#[test]
fn atomic_operations_return_the_old_value_and_leave_the_new_one() {
    let wrap = |value: i64| u64::from(value as u32);
    let rows: Vec<(&str, u64, u64, u64)> = vec![
        ("add.u32", 0xffff_ffff, 2, 1),
        ("min.s32", wrap(-5), 3, wrap(-5)),
        ("min.u32", wrap(-5), 3, 3),
        ("max.s32", wrap(-5), 3, 3),
        ("max.u32", wrap(-5), 3, wrap(-5)),
        ("and.b32", 0b1100, 0b1010, 0b1000),
        ("or.b32", 0b1100, 0b1010, 0b1110),
        ("xor.b32", 0b1100, 0b1010, 0b0110),
        ("exch.b32", 7, 9, 9),
        ("inc.u32", 3, 3, 0),
        ("inc.u32", 2, 3, 3),
        ("dec.u32", 0, 9, 9),
        ("dec.u32", 10, 9, 9),
        ("dec.u32", 5, 9, 4),
        (
            "add.f32",
            u64::from(1.5f32.to_bits()),
            u64::from(2.25f32.to_bits()),
            u64::from(3.75f32.to_bits()),
        ),
        ("cas.b32", 4, 4, 0x55),
        ("cas.b32", 5, 4, 5),
    ];
    for space in ["global", "shared"] {
        for &(form, start, operand, left) in &rows {
            let swap = if form.starts_with("cas") {
                ", 0x55"
            } else {
                ""
            };
            let text = format!(
                ".version 8.0\n.target sm_90\n.address_size 64\n.shared .b32 word;\n.entry k(.param .u64 x) {{ .reg .b64 %rd<4>; .reg .b32 %r<4>;
                 ld.param.u64 %rd1, [x]; ld.global.u32 %r1, [%rd1]; st.shared.u32 [word], %r1;
                 {} atom.{space}.{form} %r2, [{}], {operand}{swap};
                 st.global.u32 [%rd1+4], %r2; {} }}",
                "", if space == "global" { "%rd1" } else { "word" },
                if space == "global" { "" } else { "ld.shared.u32 %r3, [word]; st.global.u32 [%rd1], %r3;" }
            );
            // A number is written by its bits.
            let text = if form == "add.f32" {
                text.replace(&format!(", {operand};"), &format!(", 0f{operand:08X};"))
            } else {
                text
            };
            let mut device = Device::load(&text);
            let x = device.upload(&[start as u32, 0]);
            device.run("k", 1, 1, 0, &[Arg::Address(x)]);
            assert_eq!(
                device.download::<u32>(x, 2),
                [left as u32, start as u32],
                "{space} {form} {start:#x}"
            );
        }
    }
}

#[test]
fn shuffles_stay_in_their_segments() {
    // Segments of 8 lanes, as `__shfl_*_sync` with a width of 8 makes them.
    let clamp = (32 - 8) << 8;
    for (form, c) in [
        ("up", clamp),
        ("down", clamp | 31),
        ("bfly", clamp | 31),
        ("idx", clamp | 31),
    ] {
        let text = format!(
            ".version 8.0\n.target sm_90\n.address_size 64\n.entry k(.param .u64 y) {{ .reg .b64 %rd<4>; .reg .b32 %r<6>; .reg .pred %p<2>;
             ld.param.u64 %rd1, [y]; mov.u32 %r1, %laneid; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd1, %rd1, %rd2;
             shfl.sync.{form}.b32 %r2|%p1, %r1, 3, {c}, -1; selp.u32 %r3, 100, 0, %p1; add.u32 %r4, %r2, %r3; st.global.u32 [%rd1], %r4; }}"
        );
        let mut device = Device::load(&text);
        let y = device.upload(&[0u32; 32]);
        device.run("k", 1, 32, 0, &[Arg::Address(y)]);
        let expected: Vec<u32> = (0..32u32)
            .map(|lane| {
                let (segment, place) = (lane / 8 * 8, lane % 8);
                let source = match form {
                    "up" => place.checked_sub(3),
                    "down" => Some(place + 3).filter(|&place| place < 8),
                    "bfly" => Some(place ^ 3),
                    _ => Some(3),
                };
                source.map_or(lane, |place| segment + place + 100)
            })
            .collect();
        assert_eq!(device.download::<u32>(y, 32), expected, "{form}");
    }
}

#[test]
fn tables_of_targets_and_calls_by_pointer_work() {
    let text = ".version 8.0\n.target sm_90\n.address_size 64
        .func (.param .b32 out) twice(.param .b32 in) { .reg .b32 %r<2>; ld.param.u32 %r0, [in]; add.u32 %r1, %r0, %r0; st.param.b32 [out], %r1; ret; }
        .func (.reg .b32 %out) thrice(.reg .b32 %in) { mul.lo.u32 %out, %in, 3; ret; }
        .global .u64 pointer = twice;
        .entry k(.param .u64 y) {
            .reg .b64 %rd<8>; .reg .b32 %r<8>;
            ld.param.u64 %rd1, [y]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd1, %rd1, %rd2;
            targets: .branchtargets first, second, third;
            brx.idx %r1, targets;
            first: mov.u32 %r2, 10; bra done;
            second: { .param .b32 a; .param .b32 r; st.param.b32 [a], 21; ld.global.u64 %rd3, [pointer];
                prototype: .callprototype (.param .b32 _) _ (.param .b32 _);
                call (r), %rd3, (a), prototype; ld.param.b32 %r2, [r]; }
            bra done;
            third: call (%r2), thrice, (%r1);
            done: st.global.u32 [%rd1], %r2; ret;
        }";
    let mut device = Device::load(text);
    let y = device.upload(&[0u32; 3]);
    device.run("k", 1, 3, 0, &[Arg::Address(y)]);
    assert_eq!(device.download::<u32>(y, 3), [10, 42, 6]);
}
