//! The shape and the factors of a matrix product, and the functions fused with it.

use std::ops::Range;

use crate::activation::Activation;
use crate::error::{ComputeError, check_len, checked_product};
use crate::lanes::Lanes;
use crate::math::Real;
use crate::tile::{self, Epilogue};

/// The shape of a matrix product, or of a batch of them.
///
/// # Shapes
/// `a`: `[batch, m, k]`, or `[batch, k, m]` if transposed; `b`: `[batch, k, n]`, or `[batch, n, k]`
/// if transposed; `c`: `[batch, m, n]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct MatmulShape {
    /// Products.
    pub batch: usize,
    /// Rows of `c`.
    pub m: usize,
    /// Columns of `c`.
    pub n: usize,
    /// The number of products that are summed for an element of `c`.
    pub k: usize,
    /// Whether `a` is given transposed.
    pub transposes_a: bool,
    /// Whether `b` is given transposed.
    pub transposes_b: bool,
}

impl MatmulShape {
    /// Creates the shape of one product of an `m × k` and a `k × n` matrix.
    #[must_use]
    pub const fn new(m: usize, n: usize, k: usize) -> Self {
        Self {
            batch: 1,
            m,
            n,
            k,
            transposes_a: false,
            transposes_b: false,
        }
    }

    /// Sets the number of products in the batch.
    #[must_use]
    pub const fn batched(self, batch: usize) -> Self {
        Self { batch, ..self }
    }

    /// Sets which factors are transposed.
    #[must_use]
    pub const fn transposed(self, transposes_a: bool, transposes_b: bool) -> Self {
        Self {
            transposes_a,
            transposes_b,
            ..self
        }
    }

    /// Checks the numbers of elements of the matrices.
    ///
    /// # Errors
    /// If one of them has another number, or cannot be addressed.
    pub fn check_lengths(&self, a: usize, b: usize, c: usize) -> Result<(), ComputeError> {
        let extents = [
            ("a", [self.batch, self.m, self.k], a),
            ("b", [self.batch, self.k, self.n], b),
        ];
        for (name, extents, found) in
            extents
                .into_iter()
                .chain([("c", [self.batch, self.m, self.n], c)])
        {
            check_len("matmul", name, checked_product("matmul", &extents)?, found)?;
        }
        Ok(())
    }

    pub(super) fn a_len(&self) -> usize {
        self.m * self.k
    }

    pub(super) fn b_len(&self) -> usize {
        self.k * self.n
    }

    pub(super) fn c_len(&self) -> usize {
        self.m * self.n
    }
}

/// The operands of a matrix product.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct MatmulOperands<'a, T> {
    /// The left factor.
    pub a: &'a [T],
    /// The right factor.
    pub b: RightFactor<'a, T>,
    /// The factor of the product.
    pub alpha: T,
    /// The factor of the previous content of `c`. If it is zero, `c` is not read.
    pub beta: T,
    /// A factor for each column of `c`.
    pub scale: Option<&'a [T]>,
    /// A summand for each column of `c`, after the factor: a bias.
    pub shift: Option<&'a [T]>,
    /// The last function that is applied.
    pub activation: Activation,
}

/// The right factor of a matrix product.
#[derive(Clone, Copy, Debug)]
pub enum RightFactor<'a, T> {
    /// In the order of its shape.
    Plain(&'a [T]),
    /// Packed by [`Matmul::pack_b`](super::Matmul::pack_b).
    Packed(&'a [T]),
}

impl<'a, T: Real> MatmulOperands<'a, T> {
    /// Creates the operands of `c = a · b`.
    #[must_use]
    pub fn new(a: &'a [T], b: &'a [T]) -> Self {
        Self::with_right_factor(a, RightFactor::Plain(b))
    }

    /// Creates the operands of `c = a · b`, with `b` packed by
    /// [`Matmul::pack_b`](super::Matmul::pack_b).
    #[must_use]
    pub fn packed(a: &'a [T], packed_b: &'a [T]) -> Self {
        Self::with_right_factor(a, RightFactor::Packed(packed_b))
    }

    fn with_right_factor(a: &'a [T], b: RightFactor<'a, T>) -> Self {
        Self {
            a,
            b,
            alpha: T::from(1),
            beta: T::from(0),
            scale: None,
            shift: None,
            activation: Activation::None,
        }
    }

    /// Scales the product.
    #[must_use]
    pub fn alpha(self, alpha: T) -> Self {
        Self { alpha, ..self }
    }

    /// Adds `beta` times the previous content of `c`.
    #[must_use]
    pub fn beta(self, beta: T) -> Self {
        Self { beta, ..self }
    }

    /// Multiplies each column.
    #[must_use]
    pub fn scale(self, scale: &'a [T]) -> Self {
        Self {
            scale: Some(scale),
            ..self
        }
    }

    /// Adds to each column.
    #[must_use]
    pub fn shift(self, shift: &'a [T]) -> Self {
        Self {
            shift: Some(shift),
            ..self
        }
    }

    /// Applies a function to the result.
    #[must_use]
    pub fn activation(self, activation: Activation) -> Self {
        Self { activation, ..self }
    }

    /// Returns the epilogue of sums over the `k` of `range` out of `0..k`: final functions are
    /// applied with the last range.
    pub(super) fn epilogue(&self, range: &Range<usize>, k: usize) -> Epilogue<'a, T>
    where
        T: Lanes,
    {
        let is_last = range.end == k;
        Epilogue {
            alpha: self.alpha,
            beta: if range.start == 0 { self.beta } else { T::ONE },
            scale: self.scale.filter(|_| is_last),
            shift: self.shift.filter(|_| is_last),
            adds_output: false,
            clamp: if is_last {
                self.activation.clamp()
            } else {
                tile::Clamp::None
            },
        }
    }
}
