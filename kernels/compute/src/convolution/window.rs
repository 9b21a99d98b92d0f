//! How a window moves over one spatial dimension: size, stride, dilation, padding.

use std::ops::Range;

use crate::error::ComputeError;

/// What surrounds an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Padding {
    /// Nothing: a window lies within the image.
    Valid,
    /// As many zeros as give `⌈input / stride⌉` outputs; the odd one comes after the image.
    Same,
    /// As many elements before and after as said.
    Explicit {
        /// Before the first element.
        before: usize,
        /// After the last element.
        after: usize,
    },
}

/// A window over one spatial dimension, with the padding worked out.
///
/// ```
/// use tfrt_compute::convolution::{Padding, Window};
///
/// let window = Window::new(224, 7, 2, 1, Padding::Same)?;
/// assert_eq!((window.output, window.before, window.after), (112, 2, 3));
/// # Ok::<(), tfrt_compute::ComputeError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Window {
    /// Elements of the image.
    pub input: usize,
    /// Elements of the window, without the gaps of its dilation.
    pub size: usize,
    /// How far the window moves.
    pub stride: usize,
    /// How far neighbours within the window are apart.
    pub dilation: usize,
    /// Padding before the image.
    pub before: usize,
    /// Padding after the image.
    pub after: usize,
    /// How many places the window takes.
    pub output: usize,
}

impl Window {
    /// Works out the padding and the number of outputs.
    ///
    /// # Errors
    /// If size, stride or dilation is zero, or the window is larger than the padded image.
    pub fn new(
        input: usize,
        size: usize,
        stride: usize,
        dilation: usize,
        padding: Padding,
    ) -> Result<Self, ComputeError> {
        for (what, value) in [("size", size), ("stride", stride), ("dilation", dilation)] {
            if value == 0 {
                return Err(ComputeError::new(format!(
                    "window: expected a {what} above 0, found 0"
                )));
            }
        }
        let too_large = || {
            ComputeError::new(format!(
                "window: size {size} with dilation {dilation} cannot be addressed"
            ))
        };
        let extent = (size - 1)
            .checked_mul(dilation)
            .and_then(|gaps| gaps.checked_add(1))
            .ok_or_else(too_large)?;
        let (before, after, output) = match padding {
            Padding::Valid => (0, 0, None),
            Padding::Same => {
                let output = input.div_ceil(stride);
                let reach = output
                    .saturating_sub(1)
                    .checked_mul(stride)
                    .and_then(|last| last.checked_add(extent));
                let total = reach.ok_or_else(too_large)?.saturating_sub(input);
                (total / 2, total - total / 2, Some(output))
            }
            Padding::Explicit { before, after } => (before, after, None),
        };
        let padded = before
            .checked_add(input)
            .and_then(|sum| sum.checked_add(after))
            .ok_or_else(too_large)?;
        let output = match output {
            Some(output) => output,
            // As far as the window can move, and where it starts.
            None if padded >= extent => (padded - extent) / stride + 1,
            None if padded == extent - 1 => 0,
            None => {
                return Err(ComputeError::new(format!(
                    "window: expected at least {extent} elements, found {input} with padding {before} and {after}"
                )));
            }
        };
        Ok(Self {
            input,
            size,
            stride,
            dilation,
            before,
            after,
            output,
        })
    }

    /// Returns the elements from the first to the last of the window, gaps included.
    #[must_use]
    pub fn extent(&self) -> usize {
        (self.size - 1) * self.dilation + 1
    }

    /// Elements of the image with its padding.
    #[must_use]
    pub fn padded(&self) -> usize {
        self.before + self.input + self.after
    }

    /// Returns the elements of the window at place `output` that lie in the image: the others lie
    /// in the padding.
    ///
    /// So what is done with them is bounded by the image, however large the window is.
    #[must_use]
    #[inline]
    pub fn taps(&self, output: usize) -> Range<usize> {
        let place = output * self.stride;
        let first = self.before.saturating_sub(place).div_ceil(self.dilation);
        let end = (self.before + self.input)
            .saturating_sub(place)
            .div_ceil(self.dilation)
            .min(self.size);
        first.min(end)..end
    }

    /// Returns where in the image element `tap` of the window at place `output` lies, unless in the
    /// padding.
    #[must_use]
    #[inline]
    pub fn source(&self, output: usize, tap: usize) -> Option<usize> {
        (output * self.stride + tap * self.dilation)
            .checked_sub(self.before)
            .filter(|&source| source < self.input)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn taps_are_those_with_a_source() {
        for (input, size, stride, dilation) in (0..5_usize)
            .flat_map(|input| (1..7_usize).map(move |size| (input, size)))
            .flat_map(|(input, size)| (1..4).map(move |stride| (input, size, stride)))
            .flat_map(|(input, size, stride)| (1..4).map(move |d| (input, size, stride, d)))
        {
            let explicit = Padding::Explicit {
                before: 7,
                after: 19,
            };
            for padding in [Padding::Valid, Padding::Same, explicit] {
                let Ok(window) = Window::new(input, size, stride, dilation, padding) else {
                    continue;
                };
                for output in 0..window.output {
                    let inside: Vec<usize> = (0..size)
                        .filter(|&tap| window.source(output, tap).is_some())
                        .collect();
                    let taps: Vec<usize> = window.taps(output).collect();
                    assert_eq!(taps, inside, "{window:?} at {output}");
                }
            }
        }
    }

    #[test]
    fn the_largest_windows_do_not_overflow() {
        let most = usize::MAX;
        let window = Window::new(1, most, 1, 1, Padding::Same).unwrap();
        assert_eq!((window.output, window.padded()), (1, most));
        assert_eq!(window.taps(0).len(), 1);
        let padding = Padding::Explicit {
            before: most / 2,
            after: most / 2,
        };
        assert_eq!(Window::new(1, most, most, 1, padding).unwrap().output, 1);
    }
}
