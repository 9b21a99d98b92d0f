//! Random bits from the counter-based generators ThreeFry (2 x 32 bits, 20 rounds) and Philox
//! (4 x 32 bits, 10 rounds), with the order of elements of XLA.

use tfrt::prelude::*;
use tfrt_tensor::{DenseHostTensor, Shape};

use super::element::{Kind, Type};
use super::{index_of, load, store};
use crate::{dense, invalid, product};

/// Returns the next state and random bits. A state is a 64-bit key and a counter of one or two
/// 64-bit numbers. `algorithm` is `THREE_FRY` or `PHILOX`.
///
/// # Errors
/// If the algorithm does not support the state or the element type.
#[tfrt_op("hlo.RngBitGenerator")]
pub(super) fn rng_bit_generator(
    state: &AnyRef,
    #[attr] algorithm: &str,
    #[attr] dtype: DType,
    #[attr] dims: Option<&[i64]>,
    ctx: &ExecutionContext,
) -> Result<(DenseHostTensor, DenseHostTensor)> {
    const OP: &str = "hlo.RngBitGenerator";
    let state = dense(state)?;
    let ty = Type::of(OP, dtype)?;
    let dims = crate::extents(OP, dims.unwrap_or_default())?;
    let is_whole = matches!(ty.kind, Kind::Signed | Kind::Unsigned) && ty.bits >= 32;
    if !is_whole || state.dtype() != DType::Ui64 || state.shape().rank() != 1 {
        return Err(invalid(format!(
            "`{OP}` cannot generate {dtype} from a state of {}",
            state.metadata()
        )));
    }
    let mut numbers = load(OP, &state)?;
    // Refuses more elements than fit in memory before it generates them.
    drop(super::room::<[u64; 3]>(
        OP,
        Shape::new(&dims)?.num_elements(),
    )?);
    let bits = match (algorithm, &mut numbers[..]) {
        ("THREE_FRY", [key, counter]) => three_fry_bits(*key, counter, &dims, ty.bits),
        ("PHILOX", [key, low]) => {
            let mut counter = u128::from(*key) << 64 | u128::from(*low);
            let bits = philox_bits(*key, &mut counter, product(&dims), ty.bits);
            *low = counter as u64;
            bits
        }
        ("PHILOX", [key, low, high]) => {
            let mut counter = u128::from(*high) << 64 | u128::from(*low);
            let bits = philox_bits(*key, &mut counter, product(&dims), ty.bits);
            (*low, *high) = (counter as u64, (counter >> 64) as u64);
            bits
        }
        _ => {
            return Err(invalid(format!(
                "`{OP}` has no algorithm `{algorithm}` with a state of {} numbers",
                numbers.len()
            )));
        }
    };
    let bits: Vec<u64> = bits.into_iter().map(|bits| ty.wrap(bits)).collect();
    Ok((
        store(OP, ctx, DType::Ui64, state.shape().dims(), &numbers)?,
        store(OP, ctx, dtype, &dims, &bits)?,
    ))
}

/// Returns the low and high halves of a number.
fn halves(number: u64) -> [u32; 2] {
    [number as u32, (number >> 32) as u32]
}

/// Computes a block of ThreeFry.
fn three_fry([mut x, mut y]: [u32; 2], key: [u32; 2]) -> [u32; 2] {
    const ROTATIONS: [[u32; 4]; 2] = [[13, 15, 26, 6], [17, 29, 16, 24]];
    let keys = [key[0], key[1], key[0] ^ key[1] ^ 0x1BD1_1BDA];
    x = x.wrapping_add(keys[0]);
    y = y.wrapping_add(keys[1]);
    for group in 0..5 {
        for rotation in ROTATIONS[group % 2] {
            x = x.wrapping_add(y);
            y = y.rotate_left(rotation) ^ x;
        }
        x = x.wrapping_add(keys[(group + 1) % 3]);
        y = y
            .wrapping_add(keys[(group + 2) % 3])
            .wrapping_add(group as u32 + 1);
    }
    [x, y]
}

/// Computes a block of Philox.
fn philox(mut x: [u32; 4], mut key: [u32; 2]) -> [u32; 4] {
    let multiplied = |a: u32, b: u32| halves(u64::from(a) * u64::from(b));
    for _ in 0..10 {
        let [low0, high0] = multiplied(x[0], 0xD251_1F53);
        let [low1, high1] = multiplied(x[2], 0xCD9E_8D57);
        x = [high1 ^ x[1] ^ key[0], low1, high0 ^ x[3] ^ key[1], low0];
        key[0] = key[0].wrapping_add(0x9E37_79B9);
        key[1] = key[1].wrapping_add(0xBB67_AE85);
    }
    x
}

/// Generates elements with ThreeFry. A block yields one 64-bit element, or two 32-bit elements. The
/// two are adjacent along the first even dimension, or else the longest one.
fn three_fry_bits(key: u64, counter: &mut u64, dims: &[usize], width: u32) -> Vec<u64> {
    let block = |at: usize| three_fry(halves(counter.wrapping_add(at as u64)), halves(key));
    let count = product(dims);
    if width == 64 {
        let bits = (0..count).map(|at| {
            let [low, high] = block(at);
            u64::from(high) << 32 | u64::from(low)
        });
        let bits = bits.collect();
        *counter = counter.wrapping_add(count as u64);
        return bits;
    }
    let even = dims.iter().position(|extent| extent % 2 == 0);
    let longest = dims.iter().copied().max().unwrap_or(1);
    let longest = dims.iter().position(|&extent| extent == longest);
    let Some(axis) = even.or(longest) else {
        let bits = vec![u64::from(block(0)[0])];
        *counter = counter.wrapping_add(1);
        return bits;
    };
    let mut half = dims.to_vec();
    half[axis] = dims[axis].div_ceil(2);
    let own = crate::strides(&half);
    let bits = (0..count).map(|at| {
        let mut index = index_of(at, dims);
        let side = index[axis] % 2;
        index[axis] /= 2;
        let place: usize = index.iter().zip(&own).map(|(at, stride)| at * stride).sum();
        u64::from(block(place)[side])
    });
    let bits = bits.collect();
    *counter = counter.wrapping_add(product(&half) as u64);
    bits
}

/// Generates elements with Philox. A block yields four 32-bit or two 64-bit elements.
fn philox_bits(key: u64, counter: &mut u128, count: usize, width: u32) -> Vec<u64> {
    let words = if width == 64 { 2 } else { 1 };
    let num_blocks = count.saturating_mul(words).div_ceil(4);
    let mut bits = Vec::with_capacity(num_blocks * 4 / words);
    for _ in 0..num_blocks {
        let ([a, b], [c, d]) = (halves(*counter as u64), halves((*counter >> 64) as u64));
        let block = philox([a, b, c, d], halves(key));
        for pair in block.as_chunks::<2>().0 {
            match width {
                64 => bits.push(u64::from(pair[1]) << 32 | u64::from(pair[0])),
                _ => bits.extend(pair.map(u64::from)),
            }
        }
        *counter = counter.wrapping_add(1);
    }
    bits.truncate(count);
    bits
}

#[cfg(test)]
mod tests {
    use super::*;

    // The tests expect the bits of XLA for this key and counter.
    const KEY: u64 = 1 | 2 << 32;
    const COUNTER: u64 = 3 | 4 << 32;

    #[test]
    fn three_fry_makes_the_bits_of_xla() {
        let mut counter = COUNTER;
        let bits = three_fry_bits(KEY, &mut counter, &[2, 2], 32);
        assert_eq!(bits, [0x5df4_33ec, 0x2c24_a8a8, 0x8617_198e, 0x9094_fa5e]);
        assert_eq!(counter, COUNTER + 2);
        let bits = three_fry_bits(KEY, &mut { COUNTER }, &[3], 32);
        assert_eq!(bits, [0x5df4_33ec, 0x8617_198e, 0x2c24_a8a8]);
        let bits = three_fry_bits(KEY, &mut { COUNTER }, &[2], 64);
        assert_eq!(bits, [0x8617_198e_5df4_33ec, 0x9094_fa5e_2c24_a8a8]);
    }

    #[test]
    fn philox_makes_the_bits_of_xla() {
        let mut counter = u128::from(KEY) << 64 | u128::from(COUNTER);
        let bits = philox_bits(KEY, &mut counter, 5, 32);
        let expected = [
            0x1e8f_e864,
            0x4d5e_0bd7,
            0x4b87_c9be,
            0x2d68_9201,
            0x5273_487b,
        ];
        assert_eq!(bits, expected);
        assert_eq!(counter as u64, COUNTER + 2);
        let mut counter = u128::from(KEY) << 64 | u128::from(COUNTER);
        let bits = philox_bits(KEY, &mut counter, 2, 64);
        assert_eq!(bits, [0x4d5e_0bd7_1e8f_e864, 0x2d68_9201_4b87_c9be]);
    }
}
