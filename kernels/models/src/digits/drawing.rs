//! Drawing of digits, with random variations.
//!
//! ```text
//!   glyph ──warp──► ──turn, stretch, slant, move──► pen ──► ink ──blur──► ──paper, noise──► pixels
//! ```
//!
//! All variations come from the image's own stream of random numbers: digit `index` of a seed does
//! not depend on other digits or on their order. The code uses only operations that IEEE 754 rounds
//! in one way (no sine, no exponential), and finally rounds pixels to 255ths, so images are the
//! same on every machine; a test compares a hash.

use crate::random::Random;

use super::glyphs::{GLYPHS, Point};
use super::pen::{Ink, PIXELS, Pen, SIDE};

/// An image and its label.
#[derive(Clone, Debug)]
pub(super) struct Digit {
    /// Rows of pixels, from 0 (paper) to 255 (ink).
    pub(super) pixels: [u8; PIXELS],
    /// The digit.
    pub(super) label: u8,
}

/// Draws a digit of those that a seed stands for.
pub(super) fn draw(seed: u64, index: u64) -> Digit {
    let mut random = Random::new(seed, index);
    let label = random.below(10) as u8;
    let ways = GLYPHS[usize::from(label)];
    let glyph = ways[random.below(ways.len() as u32) as usize];
    let hand = Hand::of(&mut random);
    let mut ink = [0.0; PIXELS];
    for &stroke in glyph {
        hand.pen.draw(stroke, |point| hand.place(point), &mut ink);
    }
    scratch(&mut random, &mut ink);
    blur(random.between(0.0, 0.6), &mut ink);
    Digit {
        pixels: develop(&mut random, &ink),
        label,
    }
}

/// The variation of the handwriting.
struct Hand {
    pen: Pen,
    /// The displacements of the corners of the unit square, in its units: top left, top right,
    /// bottom left, bottom right.
    corners: [Point; 4],
    /// The images of the axes of the unit square, in pixels.
    axes: [Point; 2],
    /// The position of its centre, in pixels.
    centre: Point,
}

impl Hand {
    fn of(random: &mut Random) -> Self {
        let mut displaced = || [0.16 * random.around_zero(), 0.12 * random.around_zero()];
        let corners = [displaced(), displaced(), displaced(), displaced()];
        let width = random.between(8.0, 14.5);
        let height = random.between(15.0, 21.5);
        let slant = 0.35 * random.around_zero();
        // A rotation by twice the angle of this tangent, without a sine: up to 17 degrees.
        let tangent = 0.15 * random.around_zero();
        let scale = 1.0 / (1.0 + tangent * tangent);
        let (cosine, sine) = ((1.0 - tangent * tangent) * scale, 2.0 * tangent * scale);
        let turned = |x: f32, y: f32| [cosine * x - sine * y, sine * x + cosine * y];
        Self {
            corners,
            axes: [turned(width, 0.0), turned(-slant * height, height)],
            centre: [
                SIDE as f32 / 2.0 + 3.0 * random.around_zero(),
                SIDE as f32 / 2.0 + 3.0 * random.around_zero(),
            ],
            pen: Pen {
                radius: random.between(0.7, 1.7),
                softness: random.between(0.8, 1.6),
            },
        }
    }

    /// Returns the position on the grid of a point of the glyph.
    fn place(&self, [x, y]: Point) -> Point {
        let [top_left, top_right, bottom_left, bottom_right] = self.corners;
        let displaced = |axis: usize| {
            let top = top_left[axis] + x * (top_right[axis] - top_left[axis]);
            let bottom = bottom_left[axis] + x * (bottom_right[axis] - bottom_left[axis]);
            top + y * (bottom - top)
        };
        let (x, y) = (x + displaced(0) - 0.5, y + displaced(1) - 0.5);
        let [right, down] = self.axes;
        [
            self.centre[0] + x * right[0] + y * down[0],
            self.centre[1] + x * right[1] + y * down[1],
        ]
    }
}

/// Scratches every other sheet: one thin line, anywhere.
fn scratch(random: &mut Random, ink: &mut Ink) {
    if random.below(2) == 0 {
        return;
    }
    let pen = Pen {
        radius: random.between(0.2, 0.6),
        softness: 1.0,
    };
    let limit = SIDE as f32;
    let mut somewhere = || [random.between(0.0, limit), random.between(0.0, limit)];
    let (from, to) = (somewhere(), somewhere());
    // No longer than a fifth of the way across.
    let end = |axis: usize| from[axis] + 0.2 * (to[axis] - from[axis]);
    pen.line(from, [end(0), end(1)], ink);
}

/// Spreads each pixel to its neighbours, along rows and then along columns.
fn blur(part: f32, ink: &mut Ink) {
    let mix =
        |before: f32, here: f32, after: f32| here + 0.5 * part * (0.5 * (before + after) - here);
    for row in ink.chunks_exact_mut(SIDE) {
        let mut before = 0.0;
        for column in 0..SIDE {
            let here = row[column];
            let after = row.get(column + 1).copied().unwrap_or(0.0);
            row[column] = mix(before, here, after);
            before = here;
        }
    }
    for column in 0..SIDE {
        let mut before = 0.0;
        for row in 0..SIDE {
            let here = ink[row * SIDE + column];
            let after = ink.get((row + 1) * SIDE + column).copied().unwrap_or(0.0);
            ink[row * SIDE + column] = mix(before, here, after);
            before = here;
        }
    }
}

/// Returns the pixels of a sheet: pale ink on grey paper, with noise on both.
fn develop(random: &mut Random, ink: &Ink) -> [u8; PIXELS] {
    let paper = random.between(0.0, 0.15);
    let darkest = random.between(0.55, 1.0);
    let noise = random.between(0.0, 0.35);
    ink.map(|ink| {
        let pixel = paper + (darkest - paper) * ink + noise * random.around_zero();
        // Rounded half up; the range of the type bounds the rest.
        (pixel * 255.0 + 0.5) as u8
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// FNV-1a, of 64 bits.
    fn hash(bytes: impl Iterator<Item = u8>) -> u64 {
        bytes.fold(0xCBF2_9CE4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3)
        })
    }

    fn hash_of(seed: u64, count: u64) -> u64 {
        let digits = (0..count).map(|index| draw(seed, index));
        hash(digits.flat_map(|digit| digit.pixels.into_iter().chain([digit.label])))
    }

    #[test]
    fn digits_of_a_seed_are_the_same_on_every_machine() {
        assert_eq!(
            [hash_of(1, 200), hash_of(2, 200)],
            [0xAD24_1CCE_7B9B_29EF, 0xB36B_9926_2F55_6E47]
        );
    }

    #[test]
    fn every_digit_is_drawn_about_as_often() {
        let mut counts = [0; 10];
        (0..2000).for_each(|index| counts[usize::from(draw(7, index).label)] += 1);
        assert!(
            counts.iter().all(|count| (150..250).contains(count)),
            "{counts:?}"
        );
    }

    #[test]
    fn digits_of_a_kind_are_nearer_to_their_mean_than_chance_would_have_it() {
        const KINDS: usize = 10;
        let of_class = |seed: u64| (0..600_u64).map(move |index| draw(seed, index));
        let mut sums = [[0.0_f32; PIXELS]; KINDS];
        let mut counts = [0.0_f32; KINDS];
        for digit in of_class(1) {
            let kind = usize::from(digit.label);
            counts[kind] += 1.0;
            sums[kind]
                .iter_mut()
                .zip(digit.pixels)
                .for_each(|(sum, pixel)| *sum += f32::from(pixel));
        }
        let distance = |digit: &Digit, kind: usize| -> f32 {
            let means = sums[kind].iter().map(|sum| sum / counts[kind]);
            means
                .zip(digit.pixels)
                .map(|(mean, pixel)| (mean - f32::from(pixel)).powi(2))
                .sum()
        };
        let num_right = of_class(2)
            .filter(|digit| {
                let nearest =
                    (0..KINDS).min_by(|&a, &b| distance(digit, a).total_cmp(&distance(digit, b)));
                nearest == Some(usize::from(digit.label))
            })
            .count();
        // A task that cannot be solved by comparison with ten pictures, but is not noise either.
        assert!((300..510).contains(&num_right), "{num_right} of 600");
    }
}
