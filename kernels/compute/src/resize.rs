//! Resizing images.

use crate::cast::CastTo;
use crate::error::{ComputeError, check_len, checked_product};

/// Resizes an image by bilinear interpolation: output pixel `i` is read at
/// `i · (input extent / output extent)`, without a shift by half a pixel; beyond the last pixel,
/// the last one is used.
///
/// # Shapes
/// `input`: `[height, width, channels]`; `output`: `[new_height, new_width, channels]`.
///
/// # Errors
/// If the input has no pixel, or the length of a slice does not match its shape.
///
/// ```
/// let mut output = [0.0; 4];
/// tfrt_compute::resize::bilinear([1, 2, 1], [1, 4], &[0_u8, 10], &mut output)?;
/// assert_eq!(output, [0.0, 5.0, 10.0, 10.0]);
/// # Ok::<(), tfrt_compute::ComputeError>(())
/// ```
pub fn bilinear<T: CastTo<f32>>(
    [height, width, channels]: [usize; 3],
    [new_height, new_width]: [usize; 2],
    input: &[T],
    output: &mut [f32],
) -> Result<(), ComputeError> {
    check_len(
        "resize",
        "input",
        checked_product("resize", &[height, width, channels])?,
        input.len(),
    )?;
    check_len(
        "resize",
        "output",
        checked_product("resize", &[new_height, new_width, channels])?,
        output.len(),
    )?;
    if output.is_empty() {
        return Ok(());
    }
    if input.is_empty() {
        return Err(ComputeError::new(format!(
            "resize: expected an image with pixels, found {height} × {width}"
        )));
    }
    let (rows, columns) = (taps(height, new_height), taps(width, new_width));
    for (line, row) in output.chunks_exact_mut(new_width * channels).zip(&rows) {
        for (pixel, column) in line.chunks_exact_mut(channels).zip(&columns) {
            for (channel, out) in pixel.iter_mut().enumerate() {
                let at = |row: usize, column: usize| -> f32 {
                    input[(row * width + column) * channels + channel].cast()
                };
                let top = lerp(
                    at(row.low, column.low),
                    at(row.low, column.high),
                    column.weight,
                );
                let bottom = lerp(
                    at(row.high, column.low),
                    at(row.high, column.high),
                    column.weight,
                );
                *out = lerp(top, bottom, row.weight);
            }
        }
    }
    Ok(())
}

/// The two input places that an output place lies between.
struct Taps {
    low: usize,
    high: usize,
    weight: f32,
}

fn taps(extent: usize, new_extent: usize) -> Vec<Taps> {
    let scale = extent as f32 / new_extent as f32;
    (0..new_extent)
        .map(|place| {
            let source = place as f32 * scale;
            let low = (source as usize).min(extent - 1);
            Taps {
                low,
                high: (low + 1).min(extent - 1),
                weight: source - low as f32,
            }
        })
        .collect()
}

fn lerp(from: f32, to: f32, weight: f32) -> f32 {
    from + (to - from) * weight
}
