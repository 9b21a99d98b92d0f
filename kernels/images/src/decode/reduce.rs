//! Smaller images: the means of square blocks.

use std::sync::Arc;

use tfrt::host::allocator::HostAllocator;
use tfrt::prelude::*;
use tfrt_tensor::DenseHostTensor;

use crate::allocate;

/// Returns the image with the mean of each block of `scale` by `scale` pixels, from the upper left
/// corner, as one pixel, rounded to the nearest number. Blocks at the lower and the right edge may
/// be smaller. The scale is 1, 2, 4 or 8.
pub(super) fn reduce(
    image: DenseHostTensor,
    scale: usize,
    allocator: &Arc<dyn HostAllocator>,
) -> Result<DenseHostTensor> {
    if scale == 1 {
        return Ok(image);
    }
    let [height, width, channels] = crate::extents(&image)?;
    let [rows, columns] = [height.div_ceil(scale), width.div_ceil(scale)];
    let mut reduced = allocate(DType::Ui8, [rows, columns, channels], allocator)?;
    let row_len = width * channels;
    if row_len == 0 {
        return Ok(reduced);
    }
    let from = image.elements::<u8>()?;
    let mut to = reduced.elements_mut::<u8>()?;
    // The sums of up to eight bytes, first down the columns: those are vector instructions.
    let mut sums = vec![0_u16; row_len];
    let bands = from.chunks(row_len * scale);
    for (band, to) in bands.zip(to.chunks_exact_mut(columns * channels)) {
        sums.fill(0);
        for row in band.chunks_exact(row_len) {
            for (sum, &element) in sums.iter_mut().zip(row) {
                *sum += u16::from(element);
            }
        }
        let band_height = band.len() / row_len;
        match channels {
            1 => write_means::<1>(&sums, [band_height, scale], to),
            2 => write_means::<2>(&sums, [band_height, scale], to),
            3 => write_means::<3>(&sums, [band_height, scale], to),
            _ => write_means::<4>(&sums, [band_height, scale], to),
        }
    }
    drop(to);
    Ok(reduced)
}

/// Divides the sums of blocks, given those of their columns, by the numbers of their pixels.
fn write_means<const CHANNELS: usize>(sums: &[u16], [height, width]: [usize; 2], means: &mut [u8]) {
    let (sums, _) = sums.as_chunks::<CHANNELS>();
    let (means, _) = means.as_chunks_mut::<CHANNELS>();
    for (block, means) in sums.chunks(width).zip(means) {
        let num_pixels = (height * block.len()) as u32;
        let mut totals = [0_u32; CHANNELS];
        for pixel in block {
            for (total, &sum) in totals.iter_mut().zip(pixel) {
                *total += u32::from(sum);
            }
        }
        *means = totals.map(|total| ((total + num_pixels / 2) / num_pixels) as u8);
    }
}
