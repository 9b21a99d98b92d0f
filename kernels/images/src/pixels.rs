//! Functions that change single pixels or their order.

use std::str::FromStr;
use std::sync::Arc;

use tfrt::host::allocator::HostAllocator;
use tfrt::prelude::*;
use tfrt_tensor::DenseHostTensor;

use crate::{allocate, extents, invalid};

/// The axis of a flip.
///
/// ```
/// use tfrt_images::pixels::Axis;
///
/// assert_eq!("horizontal".parse::<Axis>()?, Axis::Horizontal);
/// # Ok::<(), tfrt::prelude::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    /// Left becomes right.
    Horizontal,
    /// Top becomes bottom.
    Vertical,
}

impl FromStr for Axis {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        match name {
            "horizontal" => Ok(Self::Horizontal),
            "vertical" => Ok(Self::Vertical),
            _ => Err(invalid(format!(
                "expected an axis `horizontal` or `vertical`, found `{name}`"
            ))),
        }
    }
}

/// Returns the mirror image. Elements may be of any type.
///
/// # Errors
/// If the tensor is not an image, or there is no memory.
pub fn flip(
    image: &DenseHostTensor,
    axis: Axis,
    allocator: &Arc<dyn HostAllocator>,
) -> Result<DenseHostTensor> {
    let extents @ [_, width, channels] = extents(image)?;
    let mut flipped = allocate(image.dtype(), extents, allocator)?;
    let pixel_bytes = channels * image.dtype().size_bytes().unwrap_or(0);
    let row_bytes = width * pixel_bytes;
    if row_bytes == 0 {
        return Ok(flipped);
    }
    let from = image.buffer().read()?;
    let mut to = flipped.buffer_mut().write()?;
    let rows = from.chunks_exact(row_bytes);
    match axis {
        Axis::Vertical => {
            for (from, to) in rows.rev().zip(to.chunks_exact_mut(row_bytes)) {
                to.copy_from_slice(from);
            }
        }
        Axis::Horizontal => {
            for (from, to) in rows.zip(to.chunks_exact_mut(row_bytes)) {
                let pixels = from.chunks_exact(pixel_bytes).rev();
                for (from, to) in pixels.zip(to.chunks_exact_mut(pixel_bytes)) {
                    to.copy_from_slice(from);
                }
            }
        }
    }
    drop(to);
    Ok(flipped)
}

/// Returns the image as numbers of type f32: `(x · scale - mean[c]) / deviation[c]` for each
/// element x of channel c. The image is of type u8 or f32; a `scale` of 1/255 maps bytes to numbers
/// from 0 to 1.
///
/// # Errors
/// If the image is of another type, there is not one mean and one deviation for each channel (or
/// one for all), or a deviation is zero.
pub fn normalize(
    image: &DenseHostTensor,
    scale: f32,
    mean: &[f32],
    deviation: &[f32],
    allocator: &Arc<dyn HostAllocator>,
) -> Result<DenseHostTensor> {
    let extents @ [_, _, channels] = extents(image)?;
    let per_channel = |name: &str, numbers: &[f32]| match numbers {
        [one] => Ok(vec![*one; channels]),
        _ if numbers.len() == channels => Ok(numbers.to_vec()),
        _ => Err(invalid(format!(
            "expected one {name} for each of {channels} channels, found {}",
            numbers.len()
        ))),
    };
    let (mean, deviation) = (
        per_channel("mean", mean)?,
        per_channel("deviation", deviation)?,
    );
    if deviation.contains(&0.0) {
        return Err(invalid("expected nonzero deviations, found 0"));
    }
    let value =
        |element: f32, channel: usize| (element * scale - mean[channel]) / deviation[channel];
    let mut normal = allocate(DType::F32, extents, allocator)?;
    if channels > 0 {
        let mut to = normal.elements_mut::<f32>()?;
        match image.dtype() {
            DType::Ui8 => normalize_bytes(&image.elements::<u8>()?, &mut to, channels, value),
            DType::F32 => {
                let image = image.elements::<f32>()?;
                let pixels = image.chunks_exact(channels);
                for (from, to) in pixels.zip(to.chunks_exact_mut(channels)) {
                    for (channel, (&from, to)) in from.iter().zip(to).enumerate() {
                        *to = value(from, channel);
                    }
                }
            }
            other => {
                return Err(invalid(format!(
                    "expected an image of type u8 or f32, found {other}"
                )));
            }
        }
    }
    Ok(normal)
}

/// Normalizes bytes. There are only 256 values for each channel: computing these once is faster
/// than a division for each element.
fn normalize_bytes(
    from: &[u8],
    to: &mut [f32],
    channels: usize,
    value: impl Fn(f32, usize) -> f32,
) {
    let table = |channel| -> [f32; 256] {
        let mut element = 0.0;
        [(); 256].map(|()| {
            let value = value(element, channel);
            element += 1.0;
            value
        })
    };
    if channels == 3 {
        // The common case: all three tables are at hand for each pixel.
        let [red, green, blue] = [table(0), table(1), table(2)];
        let (from, _) = from.as_chunks::<3>();
        let (to, _) = to.as_chunks_mut::<3>();
        for (from, to) in from.iter().zip(to) {
            *to = [
                red[usize::from(from[0])],
                green[usize::from(from[1])],
                blue[usize::from(from[2])],
            ];
        }
        return;
    }
    for channel in 0..channels {
        let table = table(channel);
        let from = from.iter().skip(channel).step_by(channels);
        for (&from, to) in from.zip(to.iter_mut().skip(channel).step_by(channels)) {
            *to = table[usize::from(from)];
        }
    }
}

/// Returns the image as a tensor of shape `[channels, height, width]`.
///
/// # Errors
/// If the tensor is not an image of type u8 or f32.
pub fn to_channels_first(
    image: &DenseHostTensor,
    allocator: &Arc<dyn HostAllocator>,
) -> Result<DenseHostTensor> {
    let [height, width, channels] = extents(image)?;
    let mut planes = allocate(image.dtype(), [channels, height, width], allocator)?;
    match image.dtype() {
        DType::Ui8 => transpose(
            &image.elements::<u8>()?,
            &mut planes.elements_mut()?,
            channels,
        ),
        DType::F32 => transpose(
            &image.elements::<f32>()?,
            &mut planes.elements_mut()?,
            channels,
        ),
        other => {
            return Err(invalid(format!(
                "expected an image of type u8 or f32, found {other}"
            )));
        }
    }
    Ok(planes)
}

fn transpose<T: Copy>(from: &[T], to: &mut [T], channels: usize) {
    let Some(num_pixels) = from.len().checked_div(channels).filter(|&num| num > 0) else {
        return;
    };
    for (channel, plane) in to.chunks_exact_mut(num_pixels).enumerate() {
        for (pixel, to) in from.chunks_exact(channels).zip(plane) {
            *to = pixel[channel];
        }
    }
}

/// Returns the mirror image, along the axis `horizontal` (left becomes right) or `vertical`.
///
/// # Errors
/// If the tensor is not an image.
#[tfrt_kernel(
    "tfrt_image.flip",
    chain = none,
    results(flipped),
    format = "operands attr-dict"
)]
fn flip_kernel(
    image: &DenseHostTensor,
    #[attr] axis: &str,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    flip(image, axis.parse()?, ctx.allocator())
}

/// Returns an image of type u8 or f32 as numbers of type f32:
/// `(x · scale - mean[c]) / deviation[c]` for each element x of channel c.
///
/// # Errors
/// If there is not one mean and one deviation for each channel, or one for all; if a deviation is
/// zero.
#[tfrt_kernel(
    "tfrt_image.normalize",
    chain = none,
    results(normal),
    format = "operands attr-dict"
)]
fn normalize_kernel(
    image: &DenseHostTensor,
    #[attr] scale: f32,
    #[attr] mean: &[f32],
    #[attr] deviation: &[f32],
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    normalize(image, scale, mean, deviation, ctx.allocator())
}

/// Returns an image of type u8 or f32 with its channels first: a tensor of shape
/// `[channels, height, width]`.
///
/// # Errors
/// If the tensor is not an image.
#[tfrt_kernel(
    "tfrt_image.to_channels_first",
    chain = none,
    results(planes),
    format = "operands attr-dict"
)]
fn to_channels_first_kernel(
    image: &DenseHostTensor,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    to_channels_first(image, ctx.allocator())
}
