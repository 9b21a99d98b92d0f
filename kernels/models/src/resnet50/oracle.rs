//! The computation of the network as plain loops, by definition.
//!
//! Sums are in double precision, so they are practically exact compared with those of a program in
//! single precision.

use tfrt_tensor::{DenseHostTensor, TensorError};

use super::{ConvLayer, EPSILON, Network, POOLING, WEIGHTS_OF_CONVOLUTION};

/// An image: rows, columns, channels.
struct Image {
    extent: usize,
    channels: usize,
    pixels: Vec<f32>,
}

/// Returns the scores of one image.
///
/// # Errors
/// If the image or a weight is not a tensor of the type f32.
///
/// # Panics
/// If their shapes do not match the network.
pub fn scores(
    network: &Network,
    weights: &[DenseHostTensor],
    image: &DenseHostTensor,
) -> Result<Vec<f32>, TensorError> {
    let image = Image {
        extent: network.image,
        channels: 3,
        pixels: image.elements::<f32>()?.to_vec(),
    };
    let stem = convolve(&network.stem, weights, &image)?;
    let mut features = max_pool(&rectified(stem));
    for block in &network.blocks {
        let reduced = rectified(convolve(&block.reduce, weights, &features)?);
        let spatial = rectified(convolve(&block.spatial, weights, &reduced)?);
        let mut expanded = convolve(&block.expand, weights, &spatial)?;
        let shortcut = match &block.projection {
            Some(projection) => convolve(projection, weights, &features)?,
            None => features,
        };
        for (sum, &x) in expanded.pixels.iter_mut().zip(&shortcut.pixels) {
            *sum += x;
        }
        features = rectified(expanded);
    }
    let means = means(&features);
    let first = network.scores_weight();
    let (matrix, bias) = (
        weights[first].elements::<f32>()?,
        weights[first + 1].elements::<f32>()?,
    );
    let score = |class: usize| {
        let products = means
            .iter()
            .enumerate()
            .map(|(feature, mean)| mean * f64::from(matrix[feature * network.num_classes + class]));
        (products.sum::<f64>() + f64::from(bias[class])) as f32
    };
    Ok((0..network.num_classes).map(score).collect())
}

/// Returns a convolution with its batch normalisation.
fn convolve(
    convolution: &ConvLayer,
    weights: &[DenseHostTensor],
    image: &Image,
) -> Result<Image, TensorError> {
    let &ConvLayer {
        window,
        stride,
        in_channels,
        out_channels,
        ..
    } = convolution;
    assert_eq!(
        (image.extent, image.channels),
        (convolution.input, in_channels),
        "what `{}` reads",
        convolution.name
    );
    let weights = &weights[convolution.first_weight..][..WEIGHTS_OF_CONVOLUTION];
    let filter = weights[0].elements::<f32>()?;
    let [scale, offset, mean, variance] =
        [1, 2, 3, 4].map(|index| weights[index].elements::<f32>());
    let (scale, offset, mean, variance) = (scale?, offset?, mean?, variance?);
    let extent = convolution.output();
    let before = padding_before(image.extent, window, stride);
    let mut pixels = Vec::with_capacity(extent * extent * out_channels);
    for row in 0..extent {
        for column in 0..extent {
            let mut sums = vec![0.0_f64; out_channels];
            for (tap, filter) in filter.chunks_exact(in_channels * out_channels).enumerate() {
                let row = (row * stride + tap / window).checked_sub(before);
                let column = (column * stride + tap % window).checked_sub(before);
                let within = |place: &usize| *place < image.extent;
                let (Some(row), Some(column)) = (row.filter(within), column.filter(within)) else {
                    continue;
                };
                let pixel = &image.pixels[(row * image.extent + column) * in_channels..];
                for (&x, filter) in pixel.iter().zip(filter.chunks_exact(out_channels)) {
                    for (sum, &weight) in sums.iter_mut().zip(filter) {
                        *sum += f64::from(x) * f64::from(weight);
                    }
                }
            }
            pixels.extend(sums.into_iter().enumerate().map(|(channel, sum)| {
                let [scale, offset, mean, variance] =
                    [&scale, &offset, &mean, &variance].map(|values| f64::from(values[channel]));
                ((sum - mean) / (variance + f64::from(EPSILON)).sqrt() * scale + offset) as f32
            }));
        }
    }
    Ok(Image {
        extent,
        channels: out_channels,
        pixels,
    })
}

/// Returns how many rows of zeros are before the image with the padding `SAME`: half of the missing
/// elements, rounded down.
fn padding_before(input: usize, window: usize, stride: usize) -> usize {
    ((input.div_ceil(stride) - 1) * stride + window).saturating_sub(input) / 2
}

fn rectified(mut image: Image) -> Image {
    image.pixels.iter_mut().for_each(|x| *x = x.max(0.0));
    image
}

fn max_pool(image: &Image) -> Image {
    let (window, stride) = POOLING;
    let &Image {
        extent: input,
        channels,
        ..
    } = image;
    let extent = input.div_ceil(stride);
    let before = padding_before(input, window, stride);
    // Zero, as numbers below it cannot come here.
    let mut pixels = vec![0.0_f32; extent * extent * channels];
    for (index, greatest) in pixels.iter_mut().enumerate() {
        let (pixel, channel) = (index / channels, index % channels);
        let rows = window_of(pixel / extent, stride, window, before, input);
        let columns = window_of(pixel % extent, stride, window, before, input);
        for row in rows {
            for column in columns.clone() {
                let x = image.pixels[(row * input + column) * channels + channel];
                *greatest = greatest.max(x);
            }
        }
    }
    Image {
        extent,
        channels,
        pixels,
    }
}

/// Returns the places of an image that are in a window.
fn window_of(
    index: usize,
    stride: usize,
    window: usize,
    before: usize,
    input: usize,
) -> std::ops::Range<usize> {
    let start = index * stride;
    start.saturating_sub(before)..(start + window - before).min(input)
}

/// Returns the mean of each channel.
fn means(image: &Image) -> Vec<f64> {
    let mut sums = vec![0.0; image.channels];
    for pixel in image.pixels.chunks_exact(image.channels) {
        for (sum, &x) in sums.iter_mut().zip(pixel) {
            *sum += f64::from(x);
        }
    }
    let num_pixels = (image.extent * image.extent) as f64;
    sums.into_iter().map(|sum| sum / num_pixels).collect()
}
