//! The movement of a window over one spatial dimension: size, stride, dilation, padding.

use std::ops::Range;

use crate::error::ComputeError;

/// The padding of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Padding {
    /// No padding: windows are within the image.
    Valid,
    /// As many zeros as `⌈input / stride⌉` outputs need; an odd one is placed after the image.
    Same,
    /// This many elements before and after the image.
    Explicit {
        /// Before the first element.
        before: usize,
        /// After the last element.
        after: usize,
    },
}

/// A window over one spatial dimension, with computed padding.
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
    /// The distance between neighbouring windows.
    pub stride: usize,
    /// The distance between neighbours within the window.
    pub dilation: usize,
    /// Padding before the image.
    pub before: usize,
    /// Padding after the image.
    pub after: usize,
    /// The number of positions of the window.
    pub output: usize,
}

impl Window {
    /// Computes the padding and the number of outputs.
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
                "window: size {size} with dilation {dilation} is too large"
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
                    "window: expected at least {extent} elements, found {input} with padding \
                     {before} and {after}"
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

    /// Returns the number of elements of the padded image.
    #[must_use]
    pub fn padded(&self) -> usize {
        self.before + self.input + self.after
    }

    /// Returns the elements of the window at position `output` that are in the image; the others
    /// are in the padding.
    ///
    /// So the work on them is bounded by the image, regardless of the size of the window.
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

    /// Returns the positions whose windows are in the image.
    #[must_use]
    pub(super) fn whole(&self) -> Range<usize> {
        let first = self.before.div_ceil(self.stride).min(self.output);
        let room = (self.before + self.input).checked_sub(self.extent());
        let end = room.map_or(0, |room| room / self.stride + 1);
        first..end.clamp(first, self.output)
    }

    /// Returns the position in the image of element `tap` of the window at position `output`, or
    /// `None` if it is in the padding.
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
                    let is_whole = taps.len() == size;
                    assert_eq!(window.whole().contains(&output), is_whole, "{window:?}");
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
