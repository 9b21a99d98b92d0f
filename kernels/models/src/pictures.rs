//! Images as text: each character shows two pixels, one above the other.

use std::fmt::Write as _;
use std::iter::repeat;
use std::ops::Range;

use tfrt::host::Show;
use tfrt::prelude::*;
use tfrt_tensor::DenseHostTensor;

use crate::error::invalid;

/// So many characters are in a line of images at most.
const LINE_LEN: usize = 100;

/// So many blanks are between two images.
const GAP: usize = 4;

/// Shows the first images of a batch as text, each with its class, if the user requested it
/// (`tfrt run --show`); otherwise does nothing.
///
/// The images are the rows of a matrix, each `height` rows of `width` pixels of type f32. Pixels
/// are shown if they are nearer to the greatest pixel of their image than to the least. Classes are
/// numbers of type i32, one for each image: the predicted and the actual class. If they differ, the
/// caption contains both.
///
/// # Errors
/// If the shapes do not match, or an extent is not positive.
#[tfrt_kernel("models.show_images", side_effecting, format = "operands attr-dict")]
fn show_images(
    images: &DenseHostTensor,
    predictions: &DenseHostTensor,
    labels: &DenseHostTensor,
    #[attr] count: i64,
    #[attr] height: i64,
    #[attr] width: i64,
    request: &RequestContext,
) -> Result<()> {
    let Some(show) = Show::of(request) else {
        return Ok(());
    };
    let (height, width) = (extent("height", height)?, extent("width", width)?);
    let [num_images, num_pixels] = images.shape().to_array()?;
    if height.checked_mul(width) != Some(num_pixels) {
        return Err(invalid(format!(
            "expected rows of {height} by {width} pixels, found rows of {num_pixels}"
        )));
    }
    let (images, predictions, labels) = (
        images.elements::<f32>()?,
        predictions.elements::<i32>()?,
        labels.elements::<i32>()?,
    );
    if [predictions.len(), labels.len()] != [num_images; 2] {
        return Err(invalid(format!(
            "expected {num_images} predictions and labels, found {} and {}",
            predictions.len(),
            labels.len()
        )));
    }
    let images = images.chunks_exact(num_pixels);
    let pictures: Vec<Picture<'_>> = images
        .zip(predictions.iter().zip(&*labels))
        .take(usize::try_from(count).unwrap_or(0))
        .map(|(pixels, (&prediction, &label))| Picture {
            caption: caption(prediction, label),
            pixels,
            width,
        })
        .collect();
    show.show(&sheet(&pictures, width))?;
    Ok(())
}

fn extent(name: &str, extent: i64) -> Result<usize> {
    usize::try_from(extent)
        .ok()
        .filter(|extent| *extent > 0)
        .ok_or_else(|| invalid(format!("expected a positive {name}, found {extent}")))
}

fn caption(prediction: i32, label: i32) -> String {
    if prediction == label {
        label.to_string()
    } else {
        format!("{prediction}, not {label}")
    }
}

/// An image with what stands above it.
struct Picture<'a> {
    caption: String,
    pixels: &'a [f32],
    width: usize,
}

impl Picture<'_> {
    /// Returns the lines of pairs of rows; the last lower row may be missing.
    fn lines(&self) -> Vec<String> {
        let range = (f32::INFINITY, f32::NEG_INFINITY);
        let (least, greatest) = self.pixels.iter().fold(range, |(least, greatest), &pixel| {
            (least.min(pixel), greatest.max(pixel))
        });
        let middle = f32::midpoint(least, greatest);
        let shows = |pixel: &f32| *pixel > middle;
        let line = |rows: &[f32]| {
            let (upper, lower) = rows.split_at(self.width);
            let lower = lower.iter().map(shows).chain(repeat(false));
            upper
                .iter()
                .zip(lower)
                .map(|(upper, lower)| block(shows(upper), lower))
                .collect()
        };
        self.pixels.chunks(2 * self.width).map(line).collect()
    }
}

/// Returns the character of two pixels, one above the other.
fn block(upper: bool, lower: bool) -> char {
    match [upper, lower] {
        [true, true] => '█',
        [true, false] => '▀',
        [false, true] => '▄',
        [false, false] => ' ',
    }
}

/// Returns the pictures, side by side as far as a line goes and then below, with an empty line
/// behind each row of them.
fn sheet(pictures: &[Picture<'_>], width: usize) -> String {
    let num_across = ((LINE_LEN + GAP) / width.saturating_add(GAP)).max(1);
    let mut text = String::new();
    for row in pictures.chunks(num_across) {
        let captions = row
            .iter()
            .map(|picture| format!("{:^width$}", picture.caption));
        push_line(captions, &mut text);
        let columns: Vec<Vec<String>> = row.iter().map(Picture::lines).collect();
        for line in visible(&columns) {
            push_line(columns.iter().map(|column| column[line].clone()), &mut text);
        }
        text.push('\n');
    }
    text
}

/// Returns the lines from the first to the last in which any of these pictures, which are of one
/// height, shows something.
fn visible(columns: &[Vec<String>]) -> Range<usize> {
    let num_lines = columns.first().map_or(0, Vec::len);
    let shows = |line: &usize| {
        columns
            .iter()
            .any(|column| !column[*line].trim_ascii().is_empty())
    };
    let first = (0..num_lines).find(shows).unwrap_or(0);
    let end = (0..num_lines).rfind(shows).map_or(0, |last| last + 1);
    first..end
}

/// Adds a line of pieces, without blanks at its end.
fn push_line(pieces: impl Iterator<Item = String>, text: &mut String) {
    let pieces: Vec<String> = pieces.collect();
    let line = pieces.join(&" ".repeat(GAP));
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{}", line.trim_end());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(pixels: &[f32], width: usize, caption: &str) -> String {
        let picture = Picture {
            caption: caption.to_owned(),
            pixels,
            width,
        };
        sheet(&[picture], width)
    }

    #[test]
    fn two_rows_of_pixels_are_one_of_characters() {
        let pixels = [1.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0, 0.0];
        assert_eq!(picture(&pixels, 4, "8"), " 8\n█▄▀\n\n");
        assert_eq!(
            picture(&[1.0, 1.0, 0.0, 1.0, 1.0, 0.0], 2, ""),
            "\n▀█\n▀\n\n"
        );
    }

    #[test]
    fn pale_images_show_as_well() {
        assert_eq!(picture(&[0.1, 0.3, 0.1, 0.1], 2, ""), "\n ▀\n\n");
        assert_eq!(picture(&[f32::NAN, 0.3, 0.1, 0.1], 2, ""), "\n ▀\n\n");
        assert_eq!(picture(&[7.0; 4], 2, "flat"), "flat\n\n");
    }

    #[test]
    fn blank_lines_above_and_below_are_left_out() {
        let rows = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0];
        assert_eq!(picture(&rows, 1, ""), "\n▄\n\n▄\n\n");
    }

    #[test]
    fn pictures_stand_side_by_side_as_far_as_there_is_place() {
        let pictures = |count: usize, width: usize| {
            let pixels = [vec![1.0; width], vec![0.0; width]].concat();
            let picture = |index: usize| Picture {
                caption: index.to_string(),
                pixels: &pixels,
                width,
            };
            sheet(&(0..count).map(picture).collect::<Vec<_>>(), width)
                .lines()
                .count()
        };
        assert_eq!(pictures(3, 28), 3);
        assert_eq!(pictures(4, 28), 6);
        // One that is too wide has a line for itself.
        assert_eq!(pictures(2, 500), 6);
    }

    #[test]
    fn captions_tell_of_mistakes() {
        assert_eq!(caption(3, 3), "3");
        assert_eq!(caption(3, 8), "3, not 8");
    }
}
