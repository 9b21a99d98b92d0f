//! Reading images between pixels.
//!
//! A *tap* is a pixel along one axis and its weight. The value at a place is the sum over all
//! combinations of the taps of its axes, so images of any number of dimensions are read in the same
//! way.

/// The interpolation between pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interpolation {
    /// The nearest pixel; of two, the one with an even index.
    Nearest,
    /// The two pixels around it.
    Linear,
    /// Four pixels, by the convolution of Keys with a = -0.75.
    Cubic,
}

/// The values beyond the border of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Border {
    /// Zeros.
    Zeros,
    /// The nearest pixel of the image.
    Edge,
    /// The image, mirrored repeatedly.
    Mirror,
}

/// The maximum number of taps of one axis.
pub const MAX_TAPS: usize = 4;

/// The taps of one axis: the first places and weights of the arrays, up to the count. A missing
/// place reads zero.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Taps {
    places: [Option<usize>; MAX_TAPS],
    weights: [f64; MAX_TAPS],
    len: usize,
}

impl Taps {
    /// Returns the taps within the image.
    pub fn iter(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        let all = self.places.iter().zip(self.weights).take(self.len);
        all.filter_map(|(place, weight)| Some(((*place)?, weight)))
    }
}

/// Coordinates are cut to this distance from the image, beyond which nothing changes that a number
/// could tell.
const FARTHEST: f64 = 1e15;

/// The sampling along one axis of an image.
///
/// ```
/// use tfrt_compute::sampling::{Border, Interpolation, Sampler};
///
/// let sampler = Sampler::new(Interpolation::Linear, Border::Zeros, true);
/// let taps: Vec<_> = sampler.taps(1.25, 3).iter().collect();
/// assert_eq!(taps, [(1, 0.75), (2, 0.25)]);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Sampler {
    interpolation: Interpolation,
    border: Border,
    /// Whether the middles of the outermost pixels are the border of the image, not their edges.
    aligns_corners: bool,
}

impl Sampler {
    /// Creates a sampler.
    #[must_use]
    pub fn new(interpolation: Interpolation, border: Border, aligns_corners: bool) -> Self {
        Self {
            interpolation,
            border,
            aligns_corners,
        }
    }

    /// Converts a number from -1 to 1, the two borders of an axis, to a coordinate.
    #[must_use]
    pub fn coordinate(&self, normalized: f64, extent: usize) -> f64 {
        let extent = extent as f64;
        match self.aligns_corners {
            true => (normalized + 1.0) / 2.0 * (extent - 1.0),
            false => ((normalized + 1.0) * extent - 1.0) / 2.0,
        }
    }

    /// Returns the taps of a coordinate along an axis. An axis without pixels has none.
    #[must_use]
    pub fn taps(&self, coordinate: f64, extent: usize) -> Taps {
        if extent == 0 || coordinate.is_nan() {
            return Taps::default();
        }
        let last = extent as f64 - 1.0;
        let (least, greatest) = match self.aligns_corners {
            true => (0.0, last),
            false => (-0.5, last + 0.5),
        };
        let mut x = coordinate.clamp(-FARTHEST, FARTHEST);
        if self.interpolation == Interpolation::Nearest {
            x = x.round_ties_even();
        }
        if x < least || x > greatest {
            x = match self.border {
                Border::Zeros => x,
                Border::Edge => x.clamp(0.0, last),
                Border::Mirror => mirrored(x, least, greatest),
            };
        }
        let place = |at: f64| {
            let at = match self.border {
                Border::Zeros => Some(at).filter(|at| (0.0..=last).contains(at))?,
                Border::Edge => at.clamp(0.0, last),
                Border::Mirror => mirrored(at, least, greatest).trunc().clamp(0.0, last),
            };
            Some(at as usize)
        };
        let first = x.floor();
        let t = x - first;
        match self.interpolation {
            Interpolation::Nearest => Taps {
                places: [place(x.trunc()), None, None, None],
                weights: [1.0, 0.0, 0.0, 0.0],
                len: 1,
            },
            Interpolation::Linear => Taps {
                places: [place(first), place(first + 1.0), None, None],
                weights: [1.0 - t, t, 0.0, 0.0],
                len: 2,
            },
            Interpolation::Cubic => Taps {
                places: [-1.0, 0.0, 1.0, 2.0].map(|offset| place(first + offset)),
                weights: cubic(t),
                len: 4,
            },
        }
    }
}

/// Returns a coordinate, mirrored at the borders until it lies between them.
fn mirrored(x: f64, least: f64, greatest: f64) -> f64 {
    let range = greatest - least;
    if range <= 0.0 {
        return least;
    }
    let (distance, is_below) = match x {
        x if x < least => (least - x, true),
        x if x > greatest => (x - greatest, false),
        x => return x,
    };
    let turns = (distance / range).trunc();
    let rest = distance - turns * range;
    if (turns % 2.0 == 0.0) == is_below {
        least + rest
    } else {
        greatest - rest
    }
}

/// Returns the weights of the four pixels around a place.
fn cubic(t: f64) -> [f64; 4] {
    const A: f64 = -0.75;
    let near = |x: f64| ((A + 2.0) * x - (A + 3.0)) * x * x + 1.0;
    let far = |x: f64| ((A * x - 5.0 * A) * x + 8.0 * A) * x - 4.0 * A;
    [far(t + 1.0), near(t), near(1.0 - t), far(2.0 - t)]
}

/// Returns the sum of the pixels of an image under all combinations of the taps of its axes. `dims`
/// are the extents of the image, outermost first; `taps` are those of its axes, in that order.
///
/// # Panics
/// If a tap belongs to an axis with more pixels than `dims` states, and the image is too short for
/// it.
///
/// ```
/// use tfrt_compute::sampling::{Border, Interpolation, Sampler, read};
///
/// let sampler = Sampler::new(Interpolation::Linear, Border::Edge, true);
/// let taps = [sampler.taps(0.5, 2), sampler.taps(1.0, 2)];
/// assert_eq!(read(&[1.0, 2.0, 3.0, 4.0], &[2, 2], &taps), 3.0);
/// ```
#[must_use]
pub fn read(image: &[f64], dims: &[usize], taps: &[Taps]) -> f64 {
    read_from(image, dims, taps, 0)
}

/// Returns the sum within the row, plane, … whose number is `row`.
fn read_from(image: &[f64], dims: &[usize], taps: &[Taps], row: usize) -> f64 {
    let (Some((&extent, dims)), Some((own, taps))) = (dims.split_first(), taps.split_first())
    else {
        return image[row];
    };
    let parts = own
        .iter()
        .map(|(place, weight)| weight * read_from(image, dims, taps, row * extent + place));
    parts.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(interpolation: Interpolation, border: Border, aligns: bool, x: f64) -> f64 {
        let sampler = Sampler::new(interpolation, border, aligns);
        read(&[1.0, 2.0, 4.0, 8.0], &[4], &[sampler.taps(x, 4)])
    }

    #[test]
    fn places_between_pixels_are_interpolated() {
        let inside = |interpolation, x| line(interpolation, Border::Zeros, true, x);
        assert_eq!(inside(Interpolation::Nearest, 0.5), 1.0);
        assert_eq!(inside(Interpolation::Nearest, 1.5), 4.0);
        assert_eq!(inside(Interpolation::Linear, 1.5), 3.0);
        // The weights at a half are -3/32, 19/32, 19/32, -3/32.
        let expected = (19.0 * 6.0 - 3.0 * 9.0) / 32.0;
        assert_eq!(inside(Interpolation::Cubic, 1.5), expected);
    }

    #[test]
    fn beyond_the_border_is_what_was_asked_for() {
        let linear = |border, aligns, x| line(Interpolation::Linear, border, aligns, x);
        assert_eq!(linear(Border::Zeros, false, -0.5), 0.5);
        assert_eq!(linear(Border::Zeros, false, 9.0), 0.0);
        assert_eq!(linear(Border::Edge, false, 9.0), 8.0);
        // Mirrored at the middle of the last pixel, or at its edge.
        assert_eq!(linear(Border::Mirror, true, 4.0), 4.0);
        assert_eq!(linear(Border::Mirror, false, 4.0), 8.0);
        assert_eq!(linear(Border::Mirror, true, -7.0), 2.0);
    }

    #[test]
    fn coordinates_that_are_no_places_read_nothing_or_the_edge() {
        for interpolation in [
            Interpolation::Nearest,
            Interpolation::Linear,
            Interpolation::Cubic,
        ] {
            assert_eq!(line(interpolation, Border::Zeros, false, f64::NAN), 0.0);
            assert_eq!(
                line(interpolation, Border::Zeros, false, f64::INFINITY),
                0.0
            );
            assert_eq!(line(interpolation, Border::Edge, true, f64::INFINITY), 8.0);
        }
        let sampler = Sampler::new(Interpolation::Linear, Border::Mirror, true);
        assert_eq!(sampler.taps(3.0, 1).iter().next(), Some((0, 1.0)));
        assert_eq!(sampler.taps(0.0, 0).iter().next(), None);
    }
}
