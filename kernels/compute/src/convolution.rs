//! Two-dimensional convolution (correlation, as machine learning has it) and its gradients.
//!
//! Images are NHWC, filters HWIO, both row-major. The forward pass and the gradient of the input
//! are driven by the micro-kernel of this crate, which reads the pixels where they lie: the image
//! is copied only to surround it with zeros.
//!
//! - `window`: how a window moves over an image.
//! - `shape`: what a convolution's operands look like.
//! - `forward`: the convolution, with what is fused onto it.
//! - `winograd`: 3 × 3 filters with a quarter of the multiplications, for those who can spare a few
//!   digits.
//! - `input_gradient`, `filter_gradient`: what flows back through it.
//! - [`naive`]: all of them as they are defined.

mod window;

mod shape;

mod operands;

mod forward;

mod winograd;

mod input_gradient;

mod filter_gradient;

pub mod naive;

pub use filter_gradient::FilterGradient;
pub use forward::Convolution;
pub use input_gradient::{GradientOperands, InputGradient};
pub use operands::{ConvolutionOperands, Filter};
pub use shape::Conv2dShape;
pub use window::{Padding, Window};
pub use winograd::Winograd;
