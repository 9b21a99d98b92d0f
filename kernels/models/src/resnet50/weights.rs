//! Weights drawn from a seed.
//!
//! Filters are drawn as He et al. propose, so that numbers keep their size from layer to layer, and
//! statistics of the batch normalisations are near those of such numbers. Nothing but additions,
//! multiplications and square roots of IEEE 754 is used: a seed means the same weights on every
//! machine.

use std::io::{self, Write};
use std::sync::Arc;

use tfrt::host::allocator::{HostAllocator, Malloc};
use tfrt_tensor::file::btf;
use tfrt_tensor::{DenseHostTensor, Shape, Tensor, TensorError};

use super::{ConvLayer, Network};

/// A source of numbers: the generator SplitMix64 of Steele, Lea and Flood.
///
/// ```
/// use tfrt_models::resnet50::weights::WeightDraw;
///
/// let mut draw = WeightDraw::new(1);
/// let numbers: Vec<f32> = (0..10_000).map(|_| draw.normal()).collect();
/// let mean = numbers.iter().sum::<f32>() / 1e4;
/// let variance = numbers.iter().map(|x| x * x).sum::<f32>() / 1e4;
/// assert!(mean.abs() < 0.05 && (variance - 1.0).abs() < 0.05);
/// ```
#[derive(Clone, Debug)]
pub struct WeightDraw(u64);

impl WeightDraw {
    /// Returns the sequence of a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// Returns a number of mean 0 and variance 1, nearly normally distributed: a sum of four evenly
    /// distributed ones.
    pub fn normal(&mut self) -> f32 {
        let bits = self.next();
        let sum: u64 = (0..4).map(|part| (bits >> (16 * part)) & 0xffff).sum();
        // Four times the middle of 0..=0xffff, and the deviation of the sum, √(4 · (2³² - 1) / 12).
        (sum as f32 - 131_070.0) / 37_837.2
    }
}

/// Returns the weights of a network, in the order of the file.
///
/// # Errors
/// If there is no memory.
pub fn draw(network: &Network, seed: u64) -> Result<Vec<DenseHostTensor>, TensorError> {
    let mut draw = WeightDraw::new(seed);
    let mut weights = Vec::new();
    for convolution in network.convolutions() {
        weights.extend(draw_convolution(&mut draw, convolution)?);
    }
    let (_, num_features) = network.features();
    let deviation = (1.0 / num_features as f32).sqrt();
    let matrix = [num_features, network.num_classes];
    weights.push(tensor(&matrix, || deviation * draw.normal())?);
    weights.push(tensor(&[network.num_classes], || 0.1 * draw.normal())?);
    Ok(weights)
}

fn draw_convolution(
    draw: &mut WeightDraw,
    convolution: &ConvLayer,
) -> Result<[DenseHostTensor; super::WEIGHTS_OF_CONVOLUTION], TensorError> {
    let &ConvLayer {
        window,
        in_channels,
        out_channels,
        ..
    } = convolution;
    let fan_in = window * window * in_channels;
    let deviation = (2.0 / fan_in as f32).sqrt();
    // What a block adds to its input is small beside it: else the numbers would grow from block to
    // block.
    let scale = if convolution.name.ends_with(".expand") {
        0.25
    } else {
        1.0
    };
    let filter = [window, window, in_channels, out_channels];
    let channels = [out_channels];
    Ok([
        tensor(&filter, || deviation * draw.normal())?,
        tensor(&channels, || scale * (1.0 + 0.1 * draw.normal()))?,
        tensor(&channels, || 0.1 * draw.normal())?,
        tensor(&channels, || 0.1 * draw.normal())?,
        tensor(&channels, || 1.0 + 0.1 * draw.normal())?,
    ])
}

/// Returns an image, or several: `[batch, rows, columns, 3]`.
///
/// # Errors
/// If there is no memory.
pub fn draw_images(
    network: &Network,
    batch: usize,
    seed: u64,
) -> Result<DenseHostTensor, TensorError> {
    // Another sequence than that of the weights.
    let mut draw = WeightDraw::new(!seed);
    tensor(&[batch, network.image, network.image, 3], || draw.normal())
}

/// Writes tensors as a file that `btf.*` kernels read.
///
/// # Errors
/// What writing fails with.
pub fn write(output: &mut impl Write, tensors: &[DenseHostTensor]) -> io::Result<()> {
    let tensors: Vec<&dyn Tensor> = tensors.iter().map(|tensor| tensor as &dyn Tensor).collect();
    btf::write(output, &tensors).map_err(io::Error::other)
}

fn tensor(
    dims: &[usize],
    mut element: impl FnMut() -> f32,
) -> Result<DenseHostTensor, TensorError> {
    let allocator: Arc<dyn HostAllocator> = Arc::new(Malloc);
    DenseHostTensor::from_fn(&allocator, Shape::new(dims)?, |_| element())
}
