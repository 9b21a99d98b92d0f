//! Simulated handwritten digits: pictures of 28 by 28 pixels, in any number.
//!
//! A digit imitates handwriting: one of several glyphs is warped, stretched, slanted, rotated and
//! moved, and drawn with a pen of random width; then the sheet is scratched, blurred, and
//! photographed with noise. Digit `index` of a seed is a function of the two, the same on every
//! machine; digits of different seeds have nothing in common. So a network is trained with one seed
//! and tested with another, and never sees a digit twice.

pub mod command;

mod glyphs;

mod pen;

mod drawing;

use tfrt::prelude::*;
use tfrt_tensor::{DenseHostTensor, Shape};

use pen::PIXELS;

use crate::error::invalid;

/// Draws digits `first`, `first + 1`, … of a seed, `count` of them, as a task of the work queue.
///
/// The images are the rows of a matrix of 784 columns, rows of pixels from 0 (paper) to 1 (ink),
/// numbers of type f32 and in steps of 1/255. The labels are the digits, as numbers of type i32.
///
/// # Errors
/// If the count is negative, or there is not enough memory.
#[tfrt_kernel("digits.draw", results(images, labels), format = "operands attr-dict")]
fn draw(
    first: i64,
    #[attr] count: i64,
    #[attr] seed: i64,
    ctx: &ExecutionContext,
) -> Result<(
    AsyncValueRef<DenseHostTensor>,
    AsyncValueRef<DenseHostTensor>,
)> {
    let mut images = DenseHostTensor::zeroed(
        ctx.allocator(),
        DType::F32,
        Shape::from_signed(&[count, PIXELS as i64])?,
    )?;
    let mut labels =
        DenseHostTensor::zeroed(ctx.allocator(), DType::I32, Shape::from_signed(&[count])?)?;
    let (promised_images, later_images) = AsyncValueRef::unconstructed();
    let (promised_labels, later_labels) = AsyncValueRef::unconstructed();
    ctx.enqueue(
        move || match draw_into(seed as u64, first as u64, &mut images, &mut labels) {
            Ok(()) => {
                promised_images.emplace(images);
                promised_labels.emplace(labels);
            }
            Err(error) => {
                promised_images.set_error(error.clone());
                promised_labels.set_error(error);
            }
        },
    );
    Ok((later_images, later_labels))
}

/// Draws digits, as an op: see `digits.draw`.
///
/// # Errors
/// Those of `digits.draw`.
#[tfrt_op("digits.Draw")]
fn draw_op(
    #[attr] count: i64,
    #[attr] first: i64,
    #[attr] seed: i64,
    ctx: &ExecutionContext,
) -> Result<(
    AsyncValueRef<DenseHostTensor>,
    AsyncValueRef<DenseHostTensor>,
)> {
    draw(first, count, seed, ctx)
}

fn draw_into(
    seed: u64,
    first: u64,
    images: &mut DenseHostTensor,
    labels: &mut DenseHostTensor,
) -> Result<()> {
    let mut images = images.elements_mut::<f32>()?;
    let mut labels = labels.elements_mut::<i32>()?;
    let rows = images.chunks_exact_mut(PIXELS).zip(&mut *labels);
    for (offset, (image, label)) in (0..).zip(rows) {
        let digit = drawing::draw(seed, first.wrapping_add(offset));
        *label = i32::from(digit.label);
        scale(&digit.pixels, image);
    }
    Ok(())
}

/// Returns the image of a record: 784 pixels from 0 (paper) to 1 (ink), of type f32.
///
/// Each of the 784 bytes is a pixel from 0 to 255.
///
/// # Errors
/// If the number of bytes is not 784.
#[tfrt_kernel("digits.decode", results(pixels), format = "operands attr-dict")]
fn decode(image: &[u8], ctx: &ExecutionContext) -> Result<DenseHostTensor> {
    if image.len() != PIXELS {
        let found = image.len();
        return Err(invalid(format!(
            "expected an image of {PIXELS} bytes, found {found}"
        )));
    }
    let shape = Shape::new(&[PIXELS])?;
    let mut pixels = DenseHostTensor::zeroed(ctx.allocator(), DType::F32, shape)?;
    scale(image, &mut pixels.elements_mut::<f32>()?);
    Ok(pixels)
}

/// Bytes as numbers from 0 to 1.
fn scale(bytes: &[u8], pixels: &mut [f32]) {
    for (pixel, &ink) in pixels.iter_mut().zip(bytes) {
        *pixel = f32::from(ink) / 255.0;
    }
}
