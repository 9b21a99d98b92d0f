//! A pen with a round tip on a grid of pixels.

use super::glyphs::{Point, Stroke};

/// Pixels in a row, and rows.
pub(super) const SIDE: usize = 28;

/// Pixels of an image.
pub(super) const PIXELS: usize = SIDE * SIDE;

/// The number of pieces of a curve between two of its points.
const PIECES: u16 = 4;

/// The ink on each pixel, from 0 to 1.
pub(super) type Ink = [f32; PIXELS];

/// The drawing pen.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pen {
    /// Half the width of the line, in pixels.
    pub(super) radius: f32,
    /// Over how many pixels the ink fades out at the edge of the line.
    pub(super) softness: f32,
}

impl Pen {
    /// Draws a stroke. `place` returns a point's position on the grid, in pixels.
    pub(super) fn draw(&self, stroke: Stroke, place: impl Fn(Point) -> Point, ink: &mut Ink) {
        match stroke {
            Stroke::Straight(points) => {
                for ends in points.windows(2) {
                    self.line(place(ends[0]), place(ends[1]), ink);
                }
            }
            Stroke::Smooth(points) => {
                for start in 0..points.len() - 1 {
                    let mut from = place(points[start]);
                    for piece in 1..=PIECES {
                        let to = place(on_curve(
                            points,
                            start,
                            f32::from(piece) / f32::from(PIECES),
                        ));
                        self.line(from, to, ink);
                        from = to;
                    }
                }
            }
        }
    }

    /// Draws a straight line. Where lines meet, the darker one counts.
    pub(super) fn line(&self, from: Point, to: Point, ink: &mut Ink) {
        let reach = self.radius + self.softness;
        let columns = touched(from[0], to[0], reach);
        let along = [to[0] - from[0], to[1] - from[1]];
        let length_squared = along[0] * along[0] + along[1] * along[1];
        for row in touched(from[1], to[1], reach) {
            for column in columns.clone() {
                // From the start of the line to the middle of the pixel.
                let x = column as f32 + 0.5 - from[0];
                let y = row as f32 + 0.5 - from[1];
                let part = if length_squared > 0.0 {
                    ((x * along[0] + y * along[1]) / length_squared).clamp(0.0, 1.0)
                } else {
                    0.0
                };
                let (x, y) = (x - part * along[0], y - part * along[1]);
                let distance = (x * x + y * y).sqrt();
                let coverage = (0.5 + (self.radius - distance) / self.softness).clamp(0.0, 1.0);
                let pixel = &mut ink[row * SIDE + column];
                *pixel = pixel.max(coverage);
            }
        }
    }
}

/// Returns the pixels, of a row or a column, that a line between two places may touch.
fn touched(from: f32, to: f32, reach: f32) -> std::ops::Range<usize> {
    let limit = SIDE as f32;
    let first = (from.min(to) - reach).clamp(0.0, limit);
    let last = (from.max(to) + reach + 1.0).clamp(0.0, limit);
    first as usize..last as usize
}

/// Returns the point a part of the way from `points[start]` to the next one, on a curve through all
/// of them (Catmull-Rom).
fn on_curve(points: &[Point], start: usize, part: f32) -> Point {
    let last = points.len() - 1;
    let is_closed = points[0] == points[last];
    let before = match start {
        0 if is_closed => points[last - 1],
        0 => points[0],
        _ => points[start - 1],
    };
    let after = match start + 2 {
        next if next <= last => points[next],
        _ if is_closed => points[1],
        _ => points[last],
    };
    let (from, to) = (points[start], points[start + 1]);
    let coordinate = |axis: usize| {
        let (p0, p1, p2, p3) = (before[axis], from[axis], to[axis], after[axis]);
        let (slope, bend) = (p2 - p0, 2.0 * p0 - 5.0 * p1 + 4.0 * p2 - p3);
        let twist = 3.0 * (p1 - p2) + p3 - p0;
        p1 + 0.5 * part * (slope + part * (bend + part * twist))
    };
    [coordinate(0), coordinate(1)]
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAME: fn(Point) -> Point = |point| point;

    #[test]
    fn curves_go_through_their_points() {
        let points = [[0.0, 0.0], [1.0, 2.0], [3.0, 1.0], [0.0, 0.0]];
        for start in 0..3 {
            assert_eq!(on_curve(&points, start, 0.0), points[start]);
            assert_eq!(on_curve(&points, start, 1.0), points[start + 1]);
        }
    }

    #[test]
    fn a_line_is_as_wide_as_the_pen() {
        let pen = Pen {
            radius: 1.0,
            softness: 1.0,
        };
        let mut ink = [0.0; PIXELS];
        pen.draw(
            Stroke::Straight(&[[10.0, 5.0], [10.0, 20.0]]),
            SAME,
            &mut ink,
        );
        let row: Vec<f32> = ink[12 * SIDE + 7..12 * SIDE + 13].to_vec();
        assert_eq!(row, [0.0, 0.0, 1.0, 1.0, 0.0, 0.0]);
        // From half a pixel above the first point to half a pixel below the last, round at both
        // ends.
        let middle: Vec<usize> = (0..SIDE).filter(|row| ink[row * SIDE + 10] > 0.0).collect();
        assert_eq!((middle[0], middle[middle.len() - 1]), (4, 20));
    }

    #[test]
    fn what_is_beside_the_grid_is_not_drawn() {
        let pen = Pen {
            radius: 2.0,
            softness: 1.0,
        };
        let mut ink = [0.0; PIXELS];
        pen.line([-50.0, -50.0], [-40.0, 3.0], &mut ink);
        pen.line([100.0, 100.0], [100.0, 100.0], &mut ink);
        assert_eq!(ink, [0.0; PIXELS]);
        pen.line([-50.0, 14.0], [78.0, 14.0], &mut ink);
        assert_eq!(ink[14 * SIDE], 1.0);
    }
}
