//! Random numbers from generators that are resources: equal seeds produce equal numbers on every
//! machine.

use std::sync::{Mutex, PoisonError};

use tfrt::data::Philox;
use tfrt::prelude::*;
use tfrt_tensor::{DenseHostTensor, Element, ResourceTensor, Shape};

use super::{allocate, invalid, numbers_of, with_dtype};

/// A stream of random numbers, from which calls draw one after another.
#[derive(Debug)]
pub struct Generator {
    numbers: Mutex<Philox>,
}

/// Returns a generator that is initialised with two seeds.
#[tfrt_op("tfrt.NewGenerator", metadata = a_resource, function = new_generator)]
pub fn make_generator(#[attr] seed: i64, #[attr(default = 0)] seed2: i64) -> ResourceTensor {
    let numbers = Mutex::new(Philox::new(seed, seed2));
    ResourceTensor::new(Generator { numbers })
}

fn a_resource(_seed: i64, _seed2: i64) -> TensorMetadata {
    TensorMetadata::new(DType::Resource, [])
}

/// Returns a tensor of numbers that are uniformly distributed over `0.0..1.0`. The shape is a
/// vector of i32 or i64; the element type is f32 (the default) or f64.
///
/// # Errors
/// If an extent is negative, or the element type is neither f32 nor f64.
#[tfrt_op("tfrt.RandomUniform", effect = "random", function = random_uniform)]
pub fn uniform(
    #[resource] generator: &Generator,
    #[host] shape: &DenseHostTensor,
    #[attr] dtype: Option<DType>,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    drawn("tfrt.RandomUniform", generator, shape, dtype, ctx, Even)
}

/// Returns a tensor of normally distributed numbers: mean 0, variance 1. Shape and element type are
/// given as for `tfrt.RandomUniform`.
///
/// # Errors
/// Those of `tfrt.RandomUniform`.
#[tfrt_op("tfrt.RandomNormal", effect = "random", function = random_normal)]
pub fn normal(
    #[resource] generator: &Generator,
    #[host] shape: &DenseHostTensor,
    #[attr] dtype: Option<DType>,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    drawn("tfrt.RandomNormal", generator, shape, dtype, ctx, Normal)
}

/// A distribution, which fills elements with random numbers.
trait Distribution {
    fn fill<T: Random>(&self, numbers: &mut Philox, elements: &mut [T]);
}

struct Even;

impl Distribution for Even {
    fn fill<T: Random>(&self, numbers: &mut Philox, elements: &mut [T]) {
        elements.fill_with(|| T::even(numbers));
    }
}

struct Normal;

impl Distribution for Normal {
    /// Fills two elements at a time, by the Box–Muller transform.
    fn fill<T: Random>(&self, numbers: &mut Philox, elements: &mut [T]) {
        for pair in elements.chunks_mut(2) {
            let two = T::normal(T::even(numbers), T::even(numbers));
            pair.copy_from_slice(&two[..pair.len()]);
        }
    }
}

/// Elements that random numbers can be.
trait Random: Element {
    /// Draws a number in `0.0..1.0`.
    fn even(numbers: &mut Philox) -> Self;

    /// Returns two normally distributed numbers, of two numbers in `0.0..1.0`.
    fn normal(distance: Self, angle: Self) -> [Self; 2];
}

macro_rules! impl_random {
    ($($ty:ty, $bits:expr, $one:expr, $mantissa_bits:literal, $least:literal, $pi:expr;)*) => {$(
        impl Random for $ty {
            fn even(numbers: &mut Philox) -> Self {
                // The mantissa of a number in `1.0..2.0`.
                let bits = $bits(numbers) & ((1 << $mantissa_bits) - 1);
                <$ty>::from_bits($one.to_bits() | bits) - $one
            }

            fn normal(distance: Self, angle: Self) -> [Self; 2] {
                // Zero has no logarithm.
                let radius = (-2.0 * distance.max($least).ln()).sqrt();
                let (sin, cos) = (2.0 * $pi * angle).sin_cos();
                [sin * radius, cos * radius]
            }
        }
    )*};
}

impl_random! {
    f32, Philox::next_u32, 1.0_f32, 23, 1.0e-7, std::f32::consts::PI;
    f64, next_u64, 1.0_f64, 52, 1.0e-7, std::f64::consts::PI;
}

/// Returns two numbers as one, the first of them as the upper half.
fn next_u64(numbers: &mut Philox) -> u64 {
    let upper = u64::from(numbers.next_u32());
    upper << 32 | u64::from(numbers.next_u32())
}

fn drawn(
    op: &str,
    generator: &Generator,
    shape: &DenseHostTensor,
    dtype: Option<DType>,
    ctx: &ExecutionContext,
    distribution: impl Distribution,
) -> Result<DenseHostTensor> {
    let shape = Shape::from_signed(&numbers_of(op, "shape", shape)?)?;
    let dtype = dtype.unwrap_or(DType::F32);
    with_dtype!(
        dtype,
        T in [f32, f64] => {
            let mut result = allocate(dtype, shape, ctx)?;
            let mut numbers = generator.numbers.lock().unwrap_or_else(PoisonError::into_inner);
            distribution.fill::<T>(&mut numbers, &mut result.elements_mut::<T>()?);
            Ok(result)
        },
        else Err(invalid(format!("`{op}`: expected a result type f32 or f64, found {dtype}")))
    )
}
