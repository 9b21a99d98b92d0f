//! Random shapes and values, the same in every run, and comparisons with stated bounds.

use tfrt_compute::job::Plan;
use tfrt_compute::parallel::Parallel;

/// A function of one number.
pub type Function = fn(f64) -> f64;

/// A small generator (xorshift64*): the same numbers in every run.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn bits(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// Returns a number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        (self.bits() >> 33) as usize % end
    }

    pub fn chance(&mut self, one_in: usize) -> bool {
        self.below(one_in) == 0
    }

    /// Returns a number within -1..1 with 24 bits: exact in both precisions.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 40) as f64 / f64::from(1 << 23) - 1.0
    }

    pub fn f64s(&mut self, len: usize) -> Vec<f64> {
        (0..len).map(|_| self.unit()).collect()
    }

    pub fn f32s(&mut self, len: usize) -> Vec<f32> {
        (0..len).map(|_| self.unit() as f32).collect()
    }

    pub fn i32s(&mut self, len: usize) -> Vec<i32> {
        (0..len).map(|_| self.bits() as i32).collect()
    }

    /// Extents of a tensor; now and then an empty one.
    pub fn shape(&mut self, max_rank: usize, max_extent: usize) -> Vec<usize> {
        let rank = self.below(max_rank + 1);
        (0..rank)
            .map(|_| {
                if self.chance(24) {
                    0
                } else {
                    1 + self.below(max_extent)
                }
            })
            .collect()
    }
}

pub fn wide(values: &[f32]) -> Vec<f64> {
    values.iter().map(|&value| f64::from(value)).collect()
}

pub fn magnitudes(values: &[f64]) -> Vec<f64> {
    values.iter().map(|value| value.abs()).collect()
}

/// Asserts that each value differs from the expected one by at most its bound.
#[track_caller]
pub fn assert_within(context: &str, found: &[f64], expected: &[f64], bounds: &[f64]) {
    assert_eq!(found.len(), expected.len(), "{context}: lengths");
    for (index, ((&found, &expected), &bound)) in found.iter().zip(expected).zip(bounds).enumerate()
    {
        assert!(
            (found - expected).abs() <= bound,
            "{context}: element {index} is {found}, expected {expected} ± {bound}"
        );
    }
}

/// Runs a plan and returns its output, which starts as `output`.
pub fn run<P: Plan>(
    plan: &P,
    parallel: &dyn Parallel,
    operands: P::Operands<'_>,
    mut output: Vec<P::Element>,
) -> Vec<P::Element>
where
    P::Element: Clone + Default,
{
    // One more than is needed, filled with garbage by an earlier block or not: it must not matter.
    let mut workspace = vec![P::Element::default(); plan.workspace_len() * plan.blocks() + 1];
    plan.run(parallel, operands, &mut output, &mut workspace)
        .expect("the lengths fit");
    output
}

/// Returns all indices of a shape, in row-major order.
pub fn indices(shape: &[usize]) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for &extent in shape {
        all = all
            .into_iter()
            .flat_map(|index| {
                (0..extent).map(move |last| index.iter().copied().chain([last]).collect())
            })
            .collect();
    }
    all
}

/// Returns the row-major place of an index.
pub fn place(shape: &[usize], index: &[usize]) -> usize {
    shape
        .iter()
        .zip(index)
        .fold(0, |place, (&extent, &index)| place * extent + index)
}
