//! Arrays of numbers, which stand for tensors of any type; and random ones.

use std::sync::Arc;

use half::f16;
use tfrt::core::{EagerContext, TensorHandle};
use tfrt::prelude::*;
use tfrt_tensor::Shape;

/// The floating-point types that ops on GPUs take.
pub const FLOATS: [DType; 3] = [DType::F16, DType::F32, DType::F64];

/// The extents of an array, and its numbers in row-major order.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    pub dims: Vec<usize>,
    pub numbers: Vec<f64>,
}

impl Array {
    pub fn new(dims: &[usize], numbers: Vec<f64>) -> Self {
        assert_eq!(dims.iter().product::<usize>(), numbers.len());
        let dims = dims.to_vec();
        Self { dims, numbers }
    }

    /// Returns the array whose numbers are those that `f` has for each list of coordinates.
    pub fn from_fn(dims: &[usize], mut f: impl FnMut(&[usize]) -> f64) -> Self {
        let count = dims.iter().product();
        let numbers = (0..count).map(|index| f(&coordinates(dims, index)));
        Self::new(dims, numbers.collect())
    }

    pub fn at(&self, coordinates: &[usize]) -> f64 {
        let pairs = self.dims.iter().zip(coordinates);
        self.numbers[pairs.fold(0, |index, (extent, at)| index * extent + at)]
    }

    /// Returns the number at coordinates of a shape that the array is broadcast to.
    pub fn broadcast_at(&self, coordinates: &[usize]) -> f64 {
        let own = &coordinates[coordinates.len() - self.dims.len()..];
        let pairs = own.iter().zip(&self.dims);
        let own: Vec<usize> = pairs.map(|(at, extent)| at % extent).collect();
        self.at(&own)
    }

    pub fn map(&self, f: impl Fn(f64) -> f64) -> Self {
        Self::new(
            &self.dims,
            self.numbers.iter().map(|&number| f(number)).collect(),
        )
    }

    /// Returns a tensor in host memory, whose elements are the nearest ones to the numbers.
    pub fn tensor(&self, eager: &EagerContext, dtype: DType) -> TensorHandle {
        let numbers = &self.numbers;
        match dtype {
            DType::F16 => self.tensor_of(eager, numbers.iter().map(|&x| f16::from_f64(x))),
            DType::F32 => self.tensor_of(eager, numbers.iter().map(|&x| x as f32)),
            DType::F64 => self.tensor_of(eager, numbers.iter().copied()),
            DType::I32 => self.tensor_of(eager, numbers.iter().map(|&x| x as i32)),
            DType::I64 => self.tensor_of(eager, numbers.iter().map(|&x| x as i64)),
            other => panic!("no such arrays: {other}"),
        }
    }

    fn tensor_of<T: Element>(
        &self,
        eager: &EagerContext,
        elements: impl Iterator<Item = T>,
    ) -> TensorHandle {
        let elements: Vec<T> = elements.collect();
        let shape = Shape::new(&self.dims).expect("few dimensions");
        let allocator: &Arc<_> = eager.host().allocator();
        let tensor = DenseHostTensor::from_elements(allocator, shape, &elements);
        eager
            .tensor(tensor.expect("there is memory"))
            .expect("a tensor")
    }

    /// Reads a tensor.
    pub fn read(eager: &EagerContext, handle: &TensorHandle) -> Result<Self> {
        let host = eager.copy_to(handle, "CPU:0")?;
        eager.wait(&host)?;
        let metadata = host.metadata().expect("it is available");
        let wide = |numbers: Vec<f64>| Self::new(&metadata.extents, numbers);
        Ok(wide(match metadata.dtype {
            DType::F16 => eager
                .to_vec::<f16>(&host)?
                .iter()
                .map(|x| x.to_f64())
                .collect(),
            DType::F32 => eager
                .to_vec::<f32>(&host)?
                .iter()
                .map(|&x| x.into())
                .collect(),
            DType::F64 => eager.to_vec::<f64>(&host)?,
            DType::I32 => eager
                .to_vec::<i32>(&host)?
                .iter()
                .map(|&x| x.into())
                .collect(),
            _ => eager
                .to_vec::<i64>(&host)?
                .iter()
                .map(|&x| x as f64)
                .collect(),
        }))
    }
}

/// Returns the coordinates of an index.
pub fn coordinates(dims: &[usize], mut index: usize) -> Vec<usize> {
    let mut coordinates = vec![0; dims.len()];
    for (at, extent) in coordinates.iter_mut().zip(dims).rev() {
        *at = index % extent;
        index /= extent;
    }
    coordinates
}

/// Returns the precision of a type, relative to a number.
pub fn precision(dtype: DType) -> f64 {
    match dtype {
        DType::F16 => 1.0 / 1024.0,
        DType::F32 => f64::from(f32::EPSILON),
        _ => f64::EPSILON,
    }
}

/// Checks that numbers are as close as `units` units of the type allow, of numbers up to `scale`.
#[track_caller]
pub fn assert_close(found: &Array, expected: &Array, dtype: DType, units: f64, what: &str) {
    assert_eq!(found.dims, expected.dims, "{what}");
    for (index, (&found, &expected)) in found.numbers.iter().zip(&expected.numbers).enumerate() {
        let is_same = found == expected || found.is_nan() && expected.is_nan();
        let allowed = units * precision(dtype) * expected.abs().max(1.0);
        assert!(
            is_same || (found - expected).abs() <= allowed,
            "{what}: number {index}: expected {expected}, found {found}"
        );
    }
}

/// Random numbers, the same each time.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ mixed >> 31) % end as u64) as usize
    }

    /// Returns a number that every floating-point type has: an eighth of a small integer.
    pub fn number(&mut self) -> f64 {
        (self.below(65) as f64 - 32.0) / 8.0
    }

    pub fn array(&mut self, dims: &[usize]) -> Array {
        Array::from_fn(dims, |_| self.number())
    }

    pub fn dims(&mut self, rank: usize, end: usize) -> Vec<usize> {
        (0..rank).map(|_| 1 + self.below(end)).collect()
    }
}
