//! Random numbers.
//!
//! Each element is a function of a seed and its position: the result does not depend on the order
//! of computation. With a given seed every run returns the same result; otherwise each call has its
//! own seed.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use tfrt::prelude::*;
use tfrt_tensor::{DenseHostTensor, I1};

use crate::number::{Number, with_number, with_real, with_type};
use crate::{Slots, allocate, dense, extents, invalid, made, real_numbers, whole_numbers};

/// Returns the seed of a call: the one that is given, or a new one.
fn seed_of(given: Option<f32>) -> u64 {
    static CALLS: AtomicU64 = AtomicU64::new(0);
    match given {
        Some(seed) => u64::from(seed.to_bits()),
        None => {
            // Relaxed: the counter orders nothing but itself.
            let call = CALLS.fetch_add(1, Ordering::Relaxed);
            let since = SystemTime::now().duration_since(UNIX_EPOCH);
            let now = since.map_or(0, |since| since.as_nanos() as u64);
            scrambled(now ^ scrambled(call))
        }
    }
}

/// Returns a number whose bits depend on all bits of another one.
fn scrambled(x: u64) -> u64 {
    let x = x.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

/// Returns a number from 0 up to but excluding 1.
fn uniform(seed: u64, at: u64) -> f64 {
    let bits = scrambled(scrambled(seed).wrapping_add(scrambled(at ^ 0xD1B5_4A32_D192_ED03)));
    (bits >> 11) as f64 / (1_u64 << 53) as f64
}

/// Returns a number of the normal distribution of mean 0 and variance 1.
fn normal(seed: u64, at: u64) -> f64 {
    let (u, v) = (uniform(seed, 2 * at), uniform(seed, 2 * at + 1));
    (-2.0 * (1.0 - u).ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}

/// Creates a tensor of random numbers: of the `uniform` distribution from `a` to `b`, or of the
/// `normal` distribution with mean `a` and deviation `b`.
///
/// # Errors
/// If the shape is invalid, or the distribution does not exist.
#[tfrt_op("nn.Random")]
fn random(
    shape: &AnyRef,
    #[attr] distribution: &str,
    #[attr] a: f32,
    #[attr] b: f32,
    #[attr] dtype: DType,
    #[attr] seed: Option<f32>,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    const OP: &str = "nn.Random";
    let dims = extents(OP, &whole_numbers(OP, &dense(shape)?)?)?;
    let seed = seed_of(seed);
    let (a, b) = (f64::from(a), f64::from(b));
    let draw: fn(u64, u64, f64, f64) -> f64 = match distribution {
        "uniform" => |seed, at, low, high| low + (high - low) * uniform(seed, at),
        "normal" => |seed, at, mean, deviation| mean + deviation * normal(seed, at),
        other => return Err(invalid(format!("`{OP}`: unknown distribution `{other}`"))),
    };
    with_real!(OP, dtype, T => made(ctx, &dims, |at| T::of_f64(draw(seed, at as u64, a, b))))
}

/// Draws 1 with the probability in each element, and 0 otherwise.
///
/// # Errors
/// If the elements are not real numbers.
#[tfrt_op("nn.Bernoulli")]
fn bernoulli(
    x: &AnyRef,
    #[attr] dtype: Option<DType>,
    #[attr] seed: Option<f32>,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    const OP: &str = "nn.Bernoulli";
    let x = dense(x)?;
    let (seed, chances) = (seed_of(seed), real_numbers(OP, &x, ctx)?);
    let draw = |at: usize| uniform(seed, at as u64) < chances[at];
    let dims = x.shape().dims();
    match dtype.unwrap_or(x.dtype()) {
        DType::I1 => made(ctx, dims, |at| I1::from(draw(at))),
        dtype => with_number!(OP, dtype, T => {
            made(ctx, dims, |at| <T as Number>::of_f64(f64::from(u8::from(draw(at)))))
        }),
    }
}

/// Draws `count` classes for each row of a matrix of unnormalised log-probabilities.
///
/// # Errors
/// If the operand is not a matrix with at least one column.
#[tfrt_op("nn.Multinomial")]
fn multinomial(
    x: &AnyRef,
    #[attr] count: i64,
    #[attr] dtype: DType,
    #[attr] seed: Option<f32>,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    const OP: &str = "nn.Multinomial";
    let x = dense(x)?;
    let &[rows, columns @ 1..=usize::MAX] = x.shape().dims() else {
        return Err(invalid(format!(
            "`{OP}`: expected a matrix with at least one column, found {}",
            x.metadata()
        )));
    };
    let count = extents(OP, &[count])?[0];
    let (seed, mut sums) = (seed_of(seed), real_numbers(OP, &x, ctx)?);
    for row in sums.chunks_exact_mut(columns) {
        let greatest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mut sum = 0.0;
        for x in row {
            sum += (*x - greatest).exp();
            *x = sum;
        }
    }
    let class = |at: usize| {
        let row = &sums[at / count * columns..][..columns];
        let chosen = uniform(seed, at as u64) * row[columns - 1];
        row.partition_point(|&sum| sum <= chosen).min(columns - 1)
    };
    with_type!(OP, dtype, T in [I32 => i32, I64 => i64] => {
        made(ctx, &[rows, count], |at| <T as Number>::of_f64(class(at) as f64))
    })
}

/// Sets elements to 0 with probability `ratio`, by default a half, and divides the others by the
/// probability that they are kept. Also returns which ones are kept.
///
/// # Errors
/// If the elements are not real numbers, or the ratio is not between 0 and 1.
#[tfrt_op("nn.Dropout")]
fn dropout(
    operands: &[AnyRef],
    #[attr] seed: Option<f32>,
    ctx: &ExecutionContext,
) -> Result<(DenseHostTensor, DenseHostTensor)> {
    const OP: &str = "nn.Dropout";
    let slots = Slots::new(OP, operands, None);
    let x = slots.need(0, "x")?;
    let ratio = match slots.get(1)? {
        Some(ratio) => crate::one_number(OP, "ratio", &ratio)?,
        None => 0.5,
    };
    if !(0.0..1.0).contains(&ratio) {
        return Err(invalid(format!(
            "`{OP}`: expected a ratio of at least 0 and below 1, found {ratio}"
        )));
    }
    let seed = seed_of(seed);
    let stays = |at: usize| uniform(seed, at as u64) >= ratio;
    let dims = x.shape().dims();
    let mask = made(ctx, dims, |at| I1::from(stays(at)))?;
    let mut y = allocate(ctx, x.dtype(), dims)?;
    with_real!(OP, x.dtype(), T => {
        let from = x.elements::<T>()?;
        for (at, to) in y.elements_mut::<T>()?.iter_mut().enumerate() {
            if stays(at) {
                *to = T::of_f64(from[at].to_f64() / (1.0 - ratio));
            }
        }
        Ok(())
    })?;
    Ok((y, mask))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_spread_as_their_distribution_says() {
        let count = 20_000;
        let mean = |draw: &dyn Fn(u64) -> f64| (0..count).map(draw).sum::<f64>() / count as f64;
        assert!((mean(&|at| uniform(7, at)) - 0.5).abs() < 0.01);
        assert!(mean(&|at| normal(7, at)).abs() < 0.03);
        assert!((mean(&|at| normal(7, at).powi(2)) - 1.0).abs() < 0.05);
        assert!((0..count).all(|at| (0.0..1.0).contains(&uniform(9, at))));
    }

    #[test]
    fn seeds_that_are_given_repeat_and_others_differ() {
        assert_eq!(seed_of(Some(1.5)), seed_of(Some(1.5)));
        assert_ne!(seed_of(None), seed_of(None));
        assert_ne!(uniform(1, 0), uniform(2, 0));
    }
}
