//! Pooling of images whose channels come before their planes, over any number of dimensions.

use tfrt::prelude::*;
use tfrt_kernels::numeric::{after, try_start_rows};
use tfrt_tensor::DenseHostTensor;

use super::{Axis, for_each_window};
use crate::number::Number;
use crate::unspecified;

/// The most taps along a line that are walked through one after the other, each for all windows of
/// a line. Longer windows are walked through one by one, without their taps in the padding: there
/// may be any number of those.
const MAX_TAPS: usize = 1 << 10;

/// The number of windows of a line that are combined at a time.
const CHUNK_LEN: usize = 1 << 12;

/// The windows of a plane.
#[derive(Clone, Debug)]
pub(super) struct PlanePool {
    axes: Vec<Axis>,
}

/// The elements of a plane under a window: as many of each of some lines, `step` apart.
#[derive(Clone, Copy, Debug)]
struct Window<'a> {
    /// Where the lines begin.
    lines: &'a [usize],
    first: usize,
    count: usize,
    step: usize,
}

impl Window<'_> {
    /// Combines the places of the elements, in order.
    #[inline(always)]
    fn fold<A>(&self, start: A, mut combine: impl FnMut(A, usize) -> A) -> A {
        let mut so_far = start;
        for line in self.lines {
            let first = line + self.first;
            for number in 0..self.count {
                so_far = combine(so_far, first + number * self.step);
            }
        }
        so_far
    }
}

impl PlanePool {
    pub(super) fn new(axes: Vec<Axis>) -> Self {
        Self { axes }
    }

    fn outputs(&self) -> Vec<usize> {
        self.axes.iter().map(|axis| axis.output).collect()
    }

    fn places(&self) -> usize {
        self.axes.iter().map(|axis| axis.output).product()
    }

    fn pixels(&self) -> usize {
        self.axes.iter().map(|axis| axis.input).product()
    }

    /// Visits the windows of a plane in order. Taps in the padding are not looked at.
    #[inline]
    fn for_each(&self, mut visit: impl FnMut(usize, Window<'_>)) {
        let Some((last, outer)) = self.axes.split_last() else {
            return;
        };
        let mut lines = Vec::new();
        for_each_window(outer, |output_line, window| {
            lines.clear();
            lines.extend(window.iter().map(|&(_, line)| line * last.input));
            for column in 0..last.output {
                let taps = last.taps_inside(column);
                let window = Window {
                    lines: &lines,
                    first: last.source(column, taps.start).unwrap_or(0),
                    count: taps.len(),
                    step: last.dilation,
                };
                visit(output_line * last.output + column, window);
            }
        });
    }

    /// Combines the elements of each window of a plane: line by line, so that neighbouring windows
    /// are combined together. `finish` is given what was combined, the number of lines of the
    /// window, and its place along the last dimension.
    #[inline(always)]
    fn combine<T: Number, A: Copy>(
        &self,
        plane: &[T],
        to: &mut [T],
        start: A,
        combine: impl Fn(A, T) -> A,
        finish: impl Fn(A, usize, usize) -> T,
    ) {
        let Some((last, outer)) = self.axes.split_last() else {
            return;
        };
        if last.size > MAX_TAPS {
            self.for_each(|output, window| {
                let combined = window.fold(start, |so_far, place| combine(so_far, plane[place]));
                to[output] = finish(combined, window.lines.len(), output % last.output);
            });
            return;
        }
        let taps = (0..last.size).map(|tap| last.windows_inside(tap));
        let taps: Vec<_> = taps.filter(|(columns, _)| !columns.is_empty()).collect();
        let mut combined = vec![start; last.output.min(CHUNK_LEN)];
        for_each_window(outer, |output_line, window| {
            let to = &mut to[output_line * last.output..][..last.output];
            for (number, to) in to.chunks_mut(CHUNK_LEN).enumerate() {
                let chunk = number * CHUNK_LEN..number * CHUNK_LEN + to.len();
                let combined = &mut combined[..to.len()];
                combined.fill(start);
                for &(_, line) in window {
                    let line = &plane[line * last.input..][..last.input];
                    for (columns, source) in &taps {
                        let first = columns.start.clamp(chunk.start, chunk.end);
                        let end = columns.end.clamp(first, chunk.end);
                        let so_far = &mut combined[first - chunk.start..end - chunk.start];
                        if so_far.is_empty() {
                            continue;
                        }
                        let line = &line[source + (first - columns.start) * last.stride..];
                        match last.stride {
                            1 => {
                                for (so_far, &x) in so_far.iter_mut().zip(line) {
                                    *so_far = combine(*so_far, x);
                                }
                            }
                            stride => {
                                for (so_far, &x) in
                                    so_far.iter_mut().zip(line.iter().step_by(stride))
                                {
                                    *so_far = combine(*so_far, x);
                                }
                            }
                        }
                    }
                }
                for ((to, &combined), column) in to.iter_mut().zip(&*combined).zip(chunk) {
                    *to = finish(combined, window.len(), column);
                }
            }
        });
    }

    /// Returns the greatest element of each window; NaN is greater than everything.
    pub(super) fn max<T: Number>(
        self,
        x: &DenseHostTensor,
        planes: &[usize; 2],
        ctx: &ExecutionContext,
    ) -> Result<AnyRef> {
        self.start::<T>(x, planes, ctx, |pool, plane, to| {
            let greater = |best: T, x: T| match x > best || Number::is_nan(x) {
                true => x,
                false => best,
            };
            pool.combine(plane, to, T::LEAST, greater, |best, _, _| best);
        })
    }

    /// Returns the mean of the elements of each window, in double precision until it is rounded.
    pub(super) fn mean<T: Number>(
        self,
        x: &DenseHostTensor,
        planes: &[usize; 2],
        ctx: &ExecutionContext,
    ) -> Result<AnyRef> {
        self.start::<T>(x, planes, ctx, |pool, plane, to| {
            let add = |sum: f64, x: T| sum + x.to_f64();
            let mean = |sum: f64, num_lines: usize, column: usize| {
                let along = pool.axes.last();
                let along = along.map_or(0, |last| last.taps_inside(column).len());
                T::of_f64(sum / (num_lines * along) as f64)
            };
            pool.combine(plane, to, 0.0, add, mean);
        })
    }

    /// Starts the pooling of all planes.
    fn start<T: Number>(
        self,
        x: &DenseHostTensor,
        planes: &[usize; 2],
        ctx: &ExecutionContext,
        pool_plane: impl Fn(&Self, &[T], &mut [T]) + Send + Sync + 'static,
    ) -> Result<AnyRef> {
        let dims = [planes, &self.outputs()[..]].concat();
        let mut y = unspecified(ctx, x.dtype(), &dims)?;
        let (places, pixels) = (self.places(), self.pixels());
        let x = x.elements_owned::<T>()?;
        let output = y.elements_mut_owned::<T>()?;
        let taps = self.axes.iter().map(|axis| axis.size.min(axis.input));
        let operations = taps.fold(output.len(), usize::saturating_mul) / 4;
        let done = try_start_rows(ctx, output, places, operations, move |rows, part| {
            for (row, to) in rows.zip(part.chunks_exact_mut(places)) {
                pool_plane(&self, &x[row * pixels..][..pixels], to);
            }
            Ok(())
        })?;
        Ok(after(done, y))
    }

    /// Calls `put` for each window that has elements: with the number of the window in the result,
    /// its greatest element, and the plane and the place of that element.
    pub(super) fn for_each_greatest<T: Number>(
        &self,
        x: &[T],
        mut put: impl FnMut(usize, T, (usize, usize)),
    ) {
        let (places, pixels) = (self.places(), self.pixels());
        if pixels == 0 {
            return;
        }
        for (number, plane) in x.chunks_exact(pixels).enumerate() {
            self.for_each(|output, window| {
                let best = window.fold(None::<(T, usize)>, |best, place| {
                    let x = plane[place];
                    let is_greater =
                        |best: T| x > best || (Number::is_nan(x) && !Number::is_nan(best));
                    match best {
                        Some((greatest, _)) if !is_greater(greatest) => best,
                        _ => Some((x, place)),
                    }
                });
                if let Some((x, place)) = best {
                    put(number * places + output, x, (number, place));
                }
            });
        }
    }
}
