//! Two-dimensional convolution (a correlation, as usual in machine learning) and its gradients.
//!
//! Images are NHWC, filters HWIO, both row-major. The forward pass and the gradient of the input
//! are driven by the micro-kernel of this crate, which reads the pixels in place: the image is
//! copied only to surround it with zeros.
//!
//! - `window`: the movement of a window over an image.
//! - `shape`: the shapes of a convolution's operands.
//! - `forward`: the convolution with its fused functions.
//! - `winograd`: 3 × 3 filters with a quarter of the multiplications, at the cost of a few digits.
//! - `depthwise`: a filter for each channel.
//! - `input_gradient`, `filter_gradient`: the gradients.
//! - [`naive`]: the definitions of all of them.

mod window;

mod shape;

mod operands;

mod forward;

mod winograd;

mod depthwise;

mod input_gradient;

mod filter_gradient;

pub mod naive;

pub use depthwise::Depthwise;
pub use filter_gradient::FilterGradient;
pub use forward::Convolution;
pub use input_gradient::{GradientOperands, InputGradient};
pub use operands::{ConvolutionOperands, Filter};
pub use shape::Conv2dShape;
pub use window::{Padding, Window};
pub use winograd::Winograd;
