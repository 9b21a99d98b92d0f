//! Discrete Fourier transforms of any length.
//!
//! A length that is a power of two is transformed in place, by recursive halving. Any other length
//! is a convolution with a chirp (Bluestein), which is computed by transforms of a power of two.
//! Either takes `O(n · log n)` steps.

use std::f64::consts::PI;

use crate::error::{ComputeError, check_len};

/// A complex number: its real and its imaginary part.
pub type ComplexPair = [f64; 2];

/// The longest signal.
const MAX_LEN: usize = 1 << 28;

/// The plan of transforms of one length.
///
/// # Accuracy
/// The error of each element is below `8 · log2(n) · ε · Σ|x|` for powers of two, and some ten
/// times that for other lengths.
///
/// ```
/// use tfrt_compute::fourier::Fourier;
///
/// let plan = Fourier::new(2)?;
/// let mut signal = [[3.0, 0.0], [1.0, 0.0]];
/// let mut workspace = vec![[0.0; 2]; plan.workspace_len()];
/// plan.forward(&mut signal, &mut workspace)?;
/// assert_eq!(signal, [[4.0, 0.0], [2.0, 0.0]]);
/// # Ok::<(), tfrt_compute::ComputeError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Fourier {
    len: usize,
    /// The roots of unity of the power of two that is transformed.
    roots: Vec<ComplexPair>,
    /// For lengths that are not a power of two: `exp(-iπk²/n)`.
    chirp: Vec<ComplexPair>,
    /// For those lengths: the transform of the conjugated chirp.
    kernel: Vec<ComplexPair>,
}

impl Fourier {
    /// Plans transforms of a length.
    ///
    /// # Errors
    /// If the length is 0, or more than 2^28, or there is not enough memory.
    pub fn new(len: usize) -> Result<Self, ComputeError> {
        if len == 0 || len > MAX_LEN {
            return Err(ComputeError::new(format!(
                "fourier: expected a length from 1 to {MAX_LEN}, found {len}"
            )));
        }
        if len.is_power_of_two() {
            return Ok(Self {
                len,
                roots: roots(len)?,
                chirp: Vec::new(),
                kernel: Vec::new(),
            });
        }
        let padded = (2 * len - 1).next_power_of_two();
        // k² modulo 2n keeps the angle small and exact.
        let mut chirp = room(len)?;
        chirp.extend((0..len).map(|k| unit(-PI * (k * k % (2 * len)) as f64 / len as f64)));
        let roots = roots(padded)?;
        let mut kernel = room(padded)?;
        kernel.resize(padded, [0.0; 2]);
        for (k, &value) in chirp.iter().enumerate() {
            kernel[k] = conjugate(value);
            kernel[(padded - k) % padded] = conjugate(value);
        }
        by_halves(&roots, &mut kernel);
        Ok(Self {
            len,
            roots,
            chirp,
            kernel,
        })
    }

    /// Returns the length.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "a length of 0 is refused")]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns the number of workspace elements that a transform needs.
    #[must_use]
    pub fn workspace_len(&self) -> usize {
        self.kernel.len()
    }

    /// Computes `X[k] = Σ x[j] · exp(-2πi·jk/n)` in place.
    ///
    /// # Errors
    /// If a slice does not have the right length.
    pub fn forward(
        &self,
        signal: &mut [ComplexPair],
        workspace: &mut [ComplexPair],
    ) -> Result<(), ComputeError> {
        check_len("fourier", "signal", self.len, signal.len())?;
        check_len(
            "fourier",
            "workspace",
            self.workspace_len(),
            workspace.len(),
        )?;
        if self.chirp.is_empty() {
            by_halves(&self.roots, signal);
            return Ok(());
        }
        workspace.fill([0.0; 2]);
        for ((to, &x), &factor) in workspace.iter_mut().zip(&*signal).zip(&self.chirp) {
            *to = times(x, factor);
        }
        by_halves(&self.roots, workspace);
        for (to, &factor) in workspace.iter_mut().zip(&self.kernel) {
            // Conjugated, so that the transform forward is one backward.
            *to = conjugate(times(*to, factor));
        }
        by_halves(&self.roots, workspace);
        let scale = 1.0 / workspace.len() as f64;
        for ((to, &x), &factor) in signal.iter_mut().zip(&*workspace).zip(&self.chirp) {
            let x = conjugate(x);
            *to = times([x[0] * scale, x[1] * scale], factor);
        }
        Ok(())
    }

    /// Computes `x[j] = (Σ X[k] · exp(2πi·jk/n)) / n` in place.
    ///
    /// # Errors
    /// If a slice does not have the right length.
    pub fn backward(
        &self,
        signal: &mut [ComplexPair],
        workspace: &mut [ComplexPair],
    ) -> Result<(), ComputeError> {
        signal.iter_mut().for_each(|x| *x = conjugate(*x));
        self.forward(signal, workspace)?;
        let scale = 1.0 / self.len as f64;
        for x in signal {
            *x = [x[0] * scale, -x[1] * scale];
        }
        Ok(())
    }
}

fn unit(angle: f64) -> ComplexPair {
    [angle.cos(), angle.sin()]
}

fn conjugate([re, im]: ComplexPair) -> ComplexPair {
    [re, -im]
}

fn times(a: ComplexPair, b: ComplexPair) -> ComplexPair {
    [a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]]
}

/// Returns the first half of the roots of unity of an order.
fn roots(order: usize) -> Result<Vec<ComplexPair>, ComputeError> {
    let angle = -2.0 * PI / order as f64;
    let mut roots = room(order / 2)?;
    roots.extend((0..order / 2).map(|k| unit(angle * k as f64)));
    Ok(roots)
}

/// Allocates a vector for this many numbers.
fn room(count: usize) -> Result<Vec<ComplexPair>, ComputeError> {
    let mut numbers = Vec::new();
    let reserved = numbers.try_reserve_exact(count);
    reserved.map_err(|_| {
        ComputeError::new(format!(
            "fourier: failed to allocate {count} complex numbers"
        ))
    })?;
    Ok(numbers)
}

/// Transforms a signal whose length is a power of two, twice the number of roots.
fn by_halves(roots: &[ComplexPair], signal: &mut [ComplexPair]) {
    let len = signal.len();
    if len < 2 {
        return;
    }
    let shift = usize::BITS - len.trailing_zeros();
    for at in 0..len {
        let mirrored = at.reverse_bits() >> shift;
        if at < mirrored {
            signal.swap(at, mirrored);
        }
    }
    let mut half = 1;
    while half < len {
        let step = len / (2 * half);
        for block in signal.chunks_exact_mut(2 * half) {
            let (low, high) = block.split_at_mut(half);
            for (at, (low, high)) in low.iter_mut().zip(high).enumerate() {
                let turned = times(*high, roots[at * step]);
                (*low, *high) = (
                    [low[0] + turned[0], low[1] + turned[1]],
                    [low[0] - turned[0], low[1] - turned[1]],
                );
            }
        }
        half *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the definition.
    fn plain(signal: &[ComplexPair]) -> Vec<ComplexPair> {
        let len = signal.len();
        let element = |k: usize| {
            let terms = signal
                .iter()
                .enumerate()
                .map(|(j, &x)| times(x, unit(-2.0 * PI * (j * k % len) as f64 / len as f64)));
            terms.fold([0.0; 2], |sum, x| [sum[0] + x[0], sum[1] + x[1]])
        };
        (0..len).map(element).collect()
    }

    #[test]
    fn transforms_of_any_length_are_as_defined_and_go_back() {
        for len in (1..40).chain([63, 64, 97, 100]) {
            let signal: Vec<ComplexPair> = (0..len)
                .map(|at| [(at * 7 % 11) as f64 - 5.0, (at * 5 % 13) as f64 - 6.0])
                .collect();
            let plan = Fourier::new(len).unwrap();
            let mut workspace = vec![[0.0; 2]; plan.workspace_len()];
            let mut found = signal.clone();
            plan.forward(&mut found, &mut workspace).unwrap();
            let near = |a: &[ComplexPair], b: &[ComplexPair]| {
                let pairs = a.iter().flatten().zip(b.iter().flatten());
                pairs.into_iter().all(|(a, b)| (a - b).abs() < 1e-9)
            };
            assert!(near(&found, &plain(&signal)), "{len}");
            plan.backward(&mut found, &mut workspace).unwrap();
            assert!(near(&found, &signal), "{len}");
        }
    }

    #[test]
    fn lengths_that_cannot_be_are_errors() {
        let error = |len| Fourier::new(len).unwrap_err().to_string();
        assert_eq!(
            error(0),
            "fourier: expected a length from 1 to 268435456, found 0"
        );
        assert!(Fourier::new(MAX_LEN + 1).is_err());
        let plan = Fourier::new(3).unwrap();
        assert!(
            plan.forward(&mut [[0.0; 2]; 2], &mut [[0.0; 2]; 8])
                .is_err()
        );
    }
}
