//! The operands of a convolution, and the functions fused with it.

use crate::activation::Activation;

/// The operands of a convolution.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ConvolutionOperands<'a> {
    /// The images.
    pub input: &'a [f32],
    /// The filter.
    pub filter: Filter<'a>,
    /// A factor for each output channel.
    pub scale: Option<&'a [f32]>,
    /// A summand for each output channel, after the factor.
    pub shift: Option<&'a [f32]>,
    /// Whether the previous content of the output is added, after the summand.
    pub adds_output: bool,
    /// The last function that is applied.
    pub activation: Activation,
}

/// A filter, packed for a plan or in its natural order.
#[derive(Clone, Copy, Debug)]
pub enum Filter<'a> {
    /// Packed by [`Convolution::pack_filter`](super::Convolution::pack_filter) or that of another
    /// plan.
    Packed(&'a [f32]),
    /// `[rows, columns, in_channels, out_channels]`, for plans that take such filters.
    Plain(&'a [f32]),
}

impl<'a> ConvolutionOperands<'a> {
    /// Creates a plain convolution.
    #[must_use]
    pub fn new(input: &'a [f32], packed_filter: &'a [f32]) -> Self {
        Self::with_filter(input, Filter::Packed(packed_filter))
    }

    /// Creates a plain convolution with a filter of either kind.
    #[must_use]
    pub fn with_filter(input: &'a [f32], filter: Filter<'a>) -> Self {
        Self {
            input,
            filter,
            scale: None,
            shift: None,
            adds_output: false,
            activation: Activation::None,
        }
    }

    /// Multiplies each output channel.
    #[must_use]
    pub fn scale(self, scale: &'a [f32]) -> Self {
        Self {
            scale: Some(scale),
            ..self
        }
    }

    /// Adds to each output channel: a bias.
    #[must_use]
    pub fn shift(self, shift: &'a [f32]) -> Self {
        Self {
            shift: Some(shift),
            ..self
        }
    }

    /// Adds the previous content of the output, such as the shortcut of a residual network.
    #[must_use]
    pub fn adding_to_output(self) -> Self {
        Self {
            adds_output: true,
            ..self
        }
    }

    /// Applies a function to the output.
    #[must_use]
    pub fn activation(self, activation: Activation) -> Self {
        Self { activation, ..self }
    }
}
