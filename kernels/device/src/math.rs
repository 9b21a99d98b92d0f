//! Math functions, written once as device functions.
//!
//! A method such as `x.exp()` in a device function calls them, on the processor and on the GPU, so
//! that both compute the same bits. `sqrt`, `mul_add`, the four operations and rounding are exact
//! instructions of both.
//!
//! Errors are in units in the last place of the result, compared with the function in `f64`, or
//! with a correctly rounded one for [`double`]. Tests measure them over all exponents.
//!
//! | functions | `f32` | `f64` |
//! |---|---|---|
//! | `exp` | 1 | 1 |
//! | `exp2` | 1 | |
//! | `exp_m1`, `ln_1p` | 1 | 3 |
//! | `ln` | 1 | 1 |
//! | `log2`, `log10`, `powf`, `cbrt`, `hypot` | 1 | |
//! | `sin`, `cos`, `tan`, at any size | 1 | |
//! | `tanh` | 2 | 3 |
//! | `sinh`, `cosh` | 1 | 3 |
//! | `asin`, `acos`, `atan`, `atan2` | 1 | 3 |
//! | `erf` | 1 | |
//! | `powi` | by multiplication: half a unit for each step | the same |
//!
//! `sin`, `cos`, `tan`, `exp_m1`, `ln_1p`, `log2`, `log10`, `powf`, `cbrt`, `hypot`, `sinh`,
//! `cosh`, `erf` and the inverse functions of `f32` compute in `f64`, which is slow on GPUs for
//! consumers; `exp`, `exp2`, `ln` and `tanh` do not.
//!
//! The methods of the standard library determine which functions there are; those that it lacks are
//! called by name:
//!
//! ```
//! use tfrt_device::math::{erf, sigmoid};
//!
//! assert_eq!(erf(0.0), 0.0);
//! assert_eq!(sigmoid(0.0), 0.5);
//! ```

pub mod single;

pub mod double;

mod special;

pub use special::{erf, rsqrt, sigmoid};
