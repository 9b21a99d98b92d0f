//! The glyphs of digits: strokes of a pen, in several variants for each digit.
//!
//! A glyph fills the unit square; x goes to the right, y goes down. A stroke is a list of points
//! that the pen passes through, in straight lines or on a smooth curve. A smooth stroke that ends
//! at its start is closed without a corner.

/// A point of the unit square.
pub(super) type Point = [f32; 2];

/// One movement of the pen.
#[derive(Clone, Copy, Debug)]
pub(super) enum Stroke {
    /// From point to point.
    Straight(&'static [Point]),
    /// On a curve through the points.
    Smooth(&'static [Point]),
}

use Stroke::{Smooth, Straight};

/// One way to write a digit.
pub(super) type Glyph = &'static [Stroke];

/// The ways to write each digit.
pub(super) const GLYPHS: [&[Glyph]; 10] = [
    &[ZERO, ZERO_ANGULAR],
    &[ONE, ONE_WITH_FLAG, ONE_WITH_BASE],
    &[TWO, TWO_WITH_LOOP],
    &[THREE, THREE_WITH_FLAT_TOP],
    &[FOUR, FOUR_OPEN],
    &[FIVE, FIVE_IN_ONE],
    &[SIX],
    &[SEVEN, SEVEN_CURVED, SEVEN_WITH_BAR],
    &[EIGHT, EIGHT_OF_CIRCLES],
    &[NINE, NINE_WITH_STEM],
];

const ZERO: Glyph = &[Smooth(&[
    [0.50, 0.00],
    [0.17, 0.15],
    [0.07, 0.50],
    [0.17, 0.85],
    [0.50, 1.00],
    [0.83, 0.85],
    [0.93, 0.50],
    [0.83, 0.15],
    [0.50, 0.00],
])];

const ZERO_ANGULAR: Glyph = &[Smooth(&[
    [0.60, 0.00],
    [0.30, 0.10],
    [0.10, 0.45],
    [0.12, 0.80],
    [0.40, 1.00],
    [0.72, 0.90],
    [0.92, 0.55],
    [0.88, 0.15],
    [0.60, 0.00],
])];

const ONE: Glyph = &[Straight(&[[0.50, 0.00], [0.50, 1.00]])];

const ONE_WITH_FLAG: Glyph = &[Straight(&[[0.25, 0.25], [0.56, 0.00], [0.56, 1.00]])];

const ONE_WITH_BASE: Glyph = &[
    Straight(&[[0.25, 0.22], [0.52, 0.00], [0.52, 1.00]]),
    Straight(&[[0.22, 1.00], [0.84, 1.00]]),
];

const TWO: Glyph = &[
    Smooth(&[
        [0.12, 0.24],
        [0.28, 0.05],
        [0.55, 0.00],
        [0.82, 0.10],
        [0.86, 0.32],
        [0.65, 0.58],
        [0.35, 0.80],
        [0.10, 1.00],
    ]),
    Straight(&[[0.10, 1.00], [0.92, 1.00]]),
];

const TWO_WITH_LOOP: Glyph = &[Smooth(&[
    [0.15, 0.20],
    [0.40, 0.02],
    [0.75, 0.10],
    [0.78, 0.38],
    [0.50, 0.70],
    [0.22, 0.95],
    [0.10, 0.88],
    [0.25, 0.78],
    [0.55, 0.92],
    [0.92, 0.95],
])];

const THREE: Glyph = &[
    Smooth(&[
        [0.12, 0.12],
        [0.40, 0.00],
        [0.75, 0.08],
        [0.80, 0.28],
        [0.62, 0.44],
        [0.38, 0.48],
    ]),
    Smooth(&[
        [0.38, 0.48],
        [0.72, 0.54],
        [0.88, 0.74],
        [0.72, 0.94],
        [0.40, 1.00],
        [0.10, 0.88],
    ]),
];

const THREE_WITH_FLAT_TOP: Glyph = &[
    Straight(&[[0.12, 0.02], [0.84, 0.02], [0.44, 0.40]]),
    Smooth(&[
        [0.44, 0.40],
        [0.78, 0.48],
        [0.88, 0.72],
        [0.72, 0.94],
        [0.40, 1.00],
        [0.10, 0.90],
    ]),
];

const FOUR: Glyph = &[Straight(&[
    [0.68, 1.00],
    [0.68, 0.00],
    [0.08, 0.68],
    [0.95, 0.68],
])];

const FOUR_OPEN: Glyph = &[
    Straight(&[[0.18, 0.00], [0.10, 0.52], [0.90, 0.52]]),
    Straight(&[[0.76, 0.05], [0.72, 1.00]]),
];

const FIVE: Glyph = &[
    Straight(&[[0.86, 0.00], [0.20, 0.00], [0.15, 0.45]]),
    Smooth(&[
        [0.15, 0.45],
        [0.45, 0.36],
        [0.80, 0.46],
        [0.90, 0.70],
        [0.75, 0.93],
        [0.42, 1.00],
        [0.10, 0.90],
    ]),
];

const FIVE_IN_ONE: Glyph = &[Smooth(&[
    [0.88, 0.02],
    [0.50, 0.00],
    [0.24, 0.10],
    [0.22, 0.36],
    [0.55, 0.44],
    [0.86, 0.60],
    [0.80, 0.88],
    [0.45, 1.00],
    [0.12, 0.94],
])];

const SIX: Glyph = &[Smooth(&[
    [0.75, 0.04],
    [0.42, 0.15],
    [0.18, 0.45],
    [0.10, 0.72],
    [0.25, 0.95],
    [0.52, 1.00],
    [0.80, 0.90],
    [0.87, 0.70],
    [0.70, 0.52],
    [0.42, 0.52],
    [0.14, 0.68],
])];

const SEVEN: Glyph = &[Straight(&[[0.10, 0.00], [0.90, 0.00], [0.40, 1.00]])];

const SEVEN_CURVED: Glyph = &[
    Straight(&[[0.12, 0.12], [0.12, 0.00], [0.90, 0.00]]),
    Smooth(&[[0.90, 0.00], [0.60, 0.45], [0.45, 1.00]]),
];

const SEVEN_WITH_BAR: Glyph = &[
    Straight(&[[0.10, 0.00], [0.90, 0.00], [0.38, 1.00]]),
    Straight(&[[0.32, 0.50], [0.86, 0.50]]),
];

const EIGHT: Glyph = &[Smooth(&[
    [0.50, 0.47],
    [0.20, 0.30],
    [0.22, 0.10],
    [0.50, 0.00],
    [0.78, 0.10],
    [0.80, 0.30],
    [0.50, 0.47],
    [0.15, 0.68],
    [0.15, 0.90],
    [0.50, 1.00],
    [0.85, 0.90],
    [0.85, 0.68],
    [0.50, 0.47],
])];

const EIGHT_OF_CIRCLES: Glyph = &[
    Smooth(&[
        [0.50, 0.00],
        [0.24, 0.10],
        [0.24, 0.35],
        [0.50, 0.46],
        [0.76, 0.35],
        [0.76, 0.10],
        [0.50, 0.00],
    ]),
    Smooth(&[
        [0.50, 0.46],
        [0.14, 0.60],
        [0.14, 0.88],
        [0.50, 1.00],
        [0.86, 0.88],
        [0.86, 0.60],
        [0.50, 0.46],
    ]),
];

const NINE: Glyph = &[Smooth(&[
    [0.86, 0.32],
    [0.58, 0.48],
    [0.30, 0.48],
    [0.13, 0.30],
    [0.20, 0.10],
    [0.48, 0.00],
    [0.75, 0.05],
    [0.90, 0.28],
    [0.82, 0.55],
    [0.58, 0.85],
    [0.25, 0.96],
])];

const NINE_WITH_STEM: Glyph = &[
    Smooth(&[
        [0.82, 0.28],
        [0.65, 0.05],
        [0.38, 0.00],
        [0.14, 0.15],
        [0.14, 0.40],
        [0.38, 0.54],
        [0.65, 0.48],
        [0.82, 0.28],
    ]),
    Straight(&[[0.84, 0.02], [0.78, 1.00]]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn glyphs_fill_the_height_of_their_square_and_stay_inside() {
        for (digit, glyphs) in GLYPHS.iter().enumerate() {
            for glyph in *glyphs {
                let points = glyph.iter().flat_map(|stroke| match stroke {
                    Straight(points) | Smooth(points) => {
                        assert!(points.len() >= 2, "{digit} has a stroke without a way");
                        *points
                    }
                });
                let (mut top, mut bottom) = (1.0_f32, 0.0_f32);
                for &[x, y] in points {
                    assert!(
                        (0.0..=1.0).contains(&x) && (0.0..=1.0).contains(&y),
                        "{digit}"
                    );
                    (top, bottom) = (top.min(y), bottom.max(y));
                }
                assert!(top <= 0.04 && bottom >= 0.95, "{digit}: {top} to {bottom}");
            }
        }
    }
}
