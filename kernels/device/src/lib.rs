//! Functions of numbers that run on the processor and on GPUs.
//!
//! ```text
//!                          ┌─► a Rust function ──► cpu: vectorised loops over host tensors
//!  #[tfrt_device] fn ──────┤
//!                          └─► a constant tree (`Function`) ──► typed ──► ptx: text for a GPU
//! ```
//!
//! Both forms compute the same bits. The macro rewrites operators and methods of the Rust function
//! to calls of [`numbers`] and [`math`], which define them for both sides:
//!
//! - Arithmetic of floats is rounded to nearest, operation by operation. `a * b + c` is never
//!   fused; `a.mul_add(b, c)` always is. Subnormal numbers are kept.
//! - Arithmetic of integers wraps around, in debug builds as well. `a / 0` is 0, and `a % 0` is
//!   `a`. `MIN / -1` is `MIN`. A shift uses the low bits of its amount, as in release builds.
//! - `as` converts as in Rust: floats to integers saturate, and a NaN becomes 0.
//! - `min` and `max` of a NaN and a number return the number, and -0 is less than +0.
//! - Math functions are written once, as device functions: see [`math`] for their errors.
//! - Which bits a NaN has is not specified.
//!
//! | module | contents |
//! |---|---|
//! | [`tree`] | functions as data |
//! | [`numbers`] | the operators and methods in Rust |
//! | [`math`] | math functions |
//! | [`kernel`] | kernels of device functions, and how GPUs find them |
//! | [`axes`] | reductions along axes |
//! | [`grid`] | kernels with indices, shared memory and barriers |
//! | [`broadcast`] | shapes of operands and results |
//! | [`cpu`] | kernels on host tensors |
//! | [`ptx`] | kernels as PTX |
#![forbid(unsafe_code)]

pub mod tree;

pub mod numbers;

pub mod math;

mod library;

mod typed;

pub mod kernel;

pub mod axes;

pub mod grid;

pub mod broadcast;

pub mod cpu;

pub mod ptx;

#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;

/// The path by which expansions in this crate name it.
#[doc(hidden)]
mod device {
    pub(crate) use crate::__private;
}
