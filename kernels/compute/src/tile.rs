//! The micro-kernel of all dense linear algebra here: it computes a tile of the output in
//! registers.
//!
//! ```text
//!                    panel of B: 2 registers wide, one row per k
//!                    ┌──────┬──────┐
//!                    │  b0  │  b1  │ k ↓
//!   rows of A        └──────┴──────┘
//!   ┌───────────┐    ┌──────┬──────┐
//!   │ a  k →    │ ×  │ acc  │ acc  │   up to 12 rows, so that accumulators, one row of B and one element of A
//!   │ …         │    │ …    │ …    │   fit into 32 registers (6 rows for 16)
//!   └───────────┘    └──────┴──────┘
//! ```
//!
//! The rows of A are read in place: a row is a sequence of contiguous *runs* at `base[row] + tap`.
//! A matrix product has one run, the row; a convolution has one for each tap of the filter, so the
//! input image is not rearranged. B is rearranged into panels beforehand ([`PanelLayout`]), which
//! is worth keeping for weights.
//!
//! Weights are often more than the second-level cache holds. So a tile prefetches a part of the
//! panel that follows while it computes. Measured on Sapphire Rapids, products of 128 and 197 rows
//! with packed weights of 768 × 3072 and 3072 × 768 take 0.74 to 0.82 of the time that they take
//! without that.
//!
//! Each output element is summed in the order of k by fused multiply-adds.

use std::ops::Range;

use pulp::{NullaryFnOnce, Simd};

use crate::lanes::{Cache, LINE_BYTES, Lanes, fetch, native_lanes};

/// Registers of a panel's width.
pub(crate) const PANEL_VECTORS: usize = 2;

/// The version of the layouts of packed matrices and filters, for those in files. A change of
/// [`PanelLayout::pack`], of what `Matmul`, `Convolution` or `quantized` pack, or of the order in
/// which filters are packed, increases it.
const LAYOUT_VERSION: u32 = 1;

/// Identifies the layouts of packed matrices and filters of single precision, and of packed bytes.
///
/// Processors with wider registers read wider panels. Packed weights in a file may be read only if
/// this is what it was when they were packed.
///
/// ```
/// let layout = tfrt_compute::packed_layout();
/// assert!(layout.ends_with(" columns of f32, version 1"), "{layout}");
/// ```
#[must_use]
pub fn packed_layout() -> String {
    let columns = PANEL_VECTORS * native_lanes::<f32>();
    format!("panels of {columns} columns of f32, version {LAYOUT_VERSION}")
}

/// The layout of a `k × n` matrix as panels: `n / width` panels, each with `k` rows of `width`
/// elements; the last is padded with zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PanelLayout {
    pub(crate) k: usize,
    pub(crate) n: usize,
    pub(crate) width: usize,
}

impl PanelLayout {
    /// Returns the layout for this processor's registers.
    pub(crate) fn new<T: Lanes>(k: usize, n: usize) -> Self {
        Self::for_lanes(k, n, native_lanes::<T>())
    }

    /// Returns the layout for registers of this many elements.
    pub(crate) fn for_lanes(k: usize, n: usize, lanes: usize) -> Self {
        Self {
            k,
            n,
            width: PANEL_VECTORS * lanes,
        }
    }

    pub(crate) fn panels(&self) -> usize {
        self.n.div_ceil(self.width)
    }

    pub(crate) fn panel_len(&self) -> usize {
        self.k * self.width
    }

    pub(crate) fn len(&self) -> usize {
        self.panels() * self.panel_len()
    }

    /// Fills `packed` from a row-major matrix.
    pub(crate) fn pack<T: Lanes>(&self, matrix: &[T], packed: &mut [T]) {
        if self.k == 0 {
            return;
        }
        for (panel, rows) in packed.chunks_exact_mut(self.panel_len()).enumerate() {
            let column = panel * self.width;
            pack_panel(
                &matrix[column..],
                self.n,
                self.width.min(self.n - column),
                self.width,
                rows,
            );
        }
    }

    /// Fills `packed` with some panels of a row-major matrix.
    ///
    /// The matrix is read row by row, as it lies, by registers: what is large comes from memory,
    /// and many short reads that do not wait for one another bring it faster than few that do.
    #[inline(always)]
    pub(crate) fn pack_some<S: Simd, T: Lanes>(
        &self,
        _simd: S,
        matrix: &[T],
        panels: Range<usize>,
        packed: &mut [T],
    ) {
        if self.k == 0 || panels.is_empty() {
            return;
        }
        let columns = panels.start * self.width..(panels.end * self.width).min(self.n);
        for (k, row) in matrix.chunks_exact(self.n).enumerate() {
            let row = row[columns.clone()].chunks(self.width);
            for (part, panel) in row.zip(packed.chunks_exact_mut(self.panel_len())) {
                let place = &mut panel[k * self.width..][..self.width];
                match (T::vectors::<S>(part), T::vectors_mut::<S>(place)) {
                    ((&[a, b], []), ([to_a, to_b], [])) => (*to_a, *to_b) = (a, b),
                    _ => {
                        place[..part.len()].copy_from_slice(part);
                        place[part.len()..].fill(T::ZERO);
                    }
                }
            }
        }
    }
}

/// Fills the rows of one panel from the first `filled` columns of a row-major matrix whose rows are
/// `stride` elements apart.
pub(crate) fn pack_panel<T: Lanes>(
    matrix: &[T],
    stride: usize,
    filled: usize,
    width: usize,
    rows: &mut [T],
) {
    for (k, row) in rows.chunks_exact_mut(width).enumerate() {
        row[..filled].copy_from_slice(&matrix[k * stride..][..filled]);
        row[filled..].fill(T::ZERO);
    }
}

/// Rows of a panel that are filled at a time from a transposed matrix: each of its lines is read
/// once, and the rows stay in the first-level cache until they are full.
const TRANSPOSED_ROWS: usize = 16;

/// Fills the rows of one panel from the first `filled` *rows* of a row-major matrix whose rows are
/// `stride` elements apart.
pub(crate) fn pack_transposed_panel<T: Lanes>(
    matrix: &[T],
    stride: usize,
    filled: usize,
    width: usize,
    rows: &mut [T],
) {
    let k = rows.len() / width;
    for (block, rows) in rows.chunks_mut(TRANSPOSED_ROWS * width).enumerate() {
        let first = block * TRANSPOSED_ROWS;
        let ks = first..(first + TRANSPOSED_ROWS).min(k);
        for column in 0..width {
            let elements = rows.iter_mut().skip(column).step_by(width);
            if column < filled {
                let source = &matrix[column * stride..][ks.clone()];
                for (to, &from) in elements.zip(source) {
                    *to = from;
                }
            } else {
                elements.for_each(|element| *element = T::ZERO);
            }
        }
    }
}

/// The functions applied to a finished sum before it is stored: `activation((alpha · sum + beta ·
/// c) · scale[column] + shift[column])`, or with `c` added after the shift.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Epilogue<'a, T> {
    pub(crate) alpha: T,
    /// Zero: the output is not read.
    pub(crate) beta: T,
    /// One for each column, or none.
    pub(crate) scale: Option<&'a [T]>,
    /// One for each column, or none.
    pub(crate) shift: Option<&'a [T]>,
    /// Whether `c` is added after the shift.
    pub(crate) adds_output: bool,
    pub(crate) clamp: Clamp<T>,
}

/// The range that results are cut to. A NaN stays a NaN.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Clamp<T> {
    None,
    AtLeast(T),
    Between(T, T),
}

/// The operands of one tile.
pub(crate) struct Tile<'a, T> {
    /// The data that contains the rows of A.
    pub(crate) data: &'a [T],
    /// The starts of a row's runs, relative to its base.
    pub(crate) taps: &'a [usize],
    /// The length of a run.
    pub(crate) run: usize,
    /// One panel of B: `taps.len() · run` rows.
    pub(crate) panel: &'a [T],
    /// What is read of B soon, at most as much as the panel: it is prefetched into the second-level
    /// cache.
    pub(crate) next: &'a [T],
}

/// Rows that the registers of `S` have room for.
#[inline(always)]
pub(crate) fn max_rows<S: Simd>() -> usize {
    if S::REGISTER_COUNT >= 32 { 12 } else { 6 }
}

/// The sums of a tile, row by row.
pub(crate) type Sums<S, T> = [[<T as Lanes>::Vector<S>; PANEL_VECTORS]; MAX_ROWS];

/// Returns zeroed sums of a tile.
#[inline(always)]
pub(crate) fn zeros<S: Simd, T: Lanes>(simd: S) -> Sums<S, T> {
    [[T::splat(simd, T::ZERO); PANEL_VECTORS]; MAX_ROWS]
}

/// Returns the number of columns of a panel for the registers of `S`, as a constant.
#[inline(always)]
pub(crate) fn panel_width<S: Simd, T: Lanes>() -> usize {
    PANEL_VECTORS * T::lanes::<S>()
}

/// The most rows that any processor's tile has.
pub(crate) const MAX_ROWS: usize = 12;

/// Computes `bases.len()` rows of a tile, at most [`max_rows`], into the first rows of `sums`.
#[inline(always)]
pub(crate) fn compute<S: Simd, T: Lanes>(
    simd: S,
    tile: &Tile<'_, T>,
    bases: &[usize],
    sums: &mut Sums<S, T>,
) {
    macro_rules! by_rows {
        ($($rows:literal)*) => {
            match bases.len() {
                $($rows => rows::<S, T, $rows>(simd, tile, bases, sums),)*
                found => unreachable!("a tile of {found} rows"),
            }
        };
    }
    if S::REGISTER_COUNT >= 32 {
        by_rows!(1 2 3 4 5 6 7 8 9 10 11 12);
    } else {
        by_rows!(1 2 3 4 5 6);
    }
}

/// A function of its own for each number of rows: in a larger one, the accumulators do not all stay
/// in registers.
#[inline(never)]
fn rows<S: Simd, T: Lanes, const ROWS: usize>(
    simd: S,
    tile: &Tile<'_, T>,
    bases: &[usize],
    sums: &mut Sums<S, T>,
) {
    simd.vectorize(Rows::<S, T, ROWS> {
        simd,
        tile,
        bases,
        sums,
    });
}

struct Rows<'a, S: Simd, T: Lanes, const ROWS: usize> {
    simd: S,
    tile: &'a Tile<'a, T>,
    bases: &'a [usize],
    sums: &'a mut Sums<S, T>,
}

impl<S: Simd, T: Lanes, const ROWS: usize> NullaryFnOnce for Rows<'_, S, T, ROWS> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self {
            simd,
            tile,
            bases,
            sums,
        } = self;
        let bases: &[usize; ROWS] = bases.try_into().expect("as many as the match arm says");
        let (panel, _) = T::vectors::<S>(tile.panel);
        let run = tile.run;
        let furthest = bases.iter().fold(0, |furthest, &base| base.max(furthest));
        let last = tile.data.len().checked_sub(run);
        let mut next = Prefetches::new(tile.next, tile.panel, tile.taps.len() * run);
        let mut acc = [[T::splat(simd, T::ZERO); PANEL_VECTORS]; ROWS];
        for (&tap, weights) in tile
            .taps
            .iter()
            .zip(panel.chunks_exact(PANEL_VECTORS * run.max(1)))
        {
            assert!(
                run > 0 && last.is_some_and(|last| furthest <= last && tap <= last - furthest),
                "a run has elements, and ends within the data"
            );
            let a: [*const T; ROWS] =
                std::array::from_fn(|row| tile.data.as_ptr().wrapping_add(bases[row] + tap));
            // SAFETY: no base is further than the furthest, from which on the data has the tap and
            // a whole run, as just asserted. `k` is below the length of a run: the run has
            // elements, so the weights of a tap have one row for each.
            #[expect(unsafe_code, reason = "a check for each row and each `k` takes long")]
            let element = |row: usize, k: usize| unsafe { a[row].wrapping_add(k).read() };
            let (weights, _) = weights.as_chunks::<PANEL_VECTORS>();
            for (k, weights) in weights.iter().enumerate() {
                next.step(|place| fetch(place, Cache::Second));
                add::<S, T, ROWS>(simd, |row| element(row, k), *weights, &mut acc);
            }
        }
        sums[..ROWS].copy_from_slice(&acc);
    }
}

/// Prefetches of what is read soon, spread evenly over the steps of a tile: the processor has room
/// for few of them at a time, and what exceeds that holds up the loads of a step.
///
/// Measured on Sapphire Rapids, a product of matrices of 1024 × 1024 takes 0.96 of the time that it
/// takes if the first steps of a tile make all prefetches.
struct Prefetches {
    place: *const u8,
    /// How far each step proceeds, at most two lines: a row of a panel has no more. A line may be
    /// prefetched more than once, which is cheaper than to find out.
    step_bytes: usize,
}

impl Prefetches {
    /// Prefetches `next` in this many steps; if it is empty, the panel that the steps read anyway,
    /// since every step prefetches some address.
    #[inline(always)]
    fn new<T>(next: &[T], panel: &[T], steps: usize) -> Self {
        let place = if next.is_empty() { panel } else { next };
        let step_bytes = size_of_val(next).div_ceil(steps.max(1));
        Self {
            place: place.as_ptr().cast(),
            step_bytes: step_bytes.min(2 * LINE_BYTES),
        }
    }

    /// Makes the prefetches of one step: one, or two if steps proceed by more than a line.
    #[inline(always)]
    fn step(&mut self, prefetch: impl Fn(*const u8)) {
        prefetch(self.place);
        if self.step_bytes > LINE_BYTES {
            prefetch(self.place.wrapping_add(LINE_BYTES));
        }
        self.place = self.place.wrapping_add(self.step_bytes);
    }
}

/// Adds the products of an element of each row and a row of B.
#[inline(always)]
fn add<S: Simd, T: Lanes, const ROWS: usize>(
    simd: S,
    a: impl Fn(usize) -> T,
    b: [T::Vector<S>; PANEL_VECTORS],
    acc: &mut [[T::Vector<S>; PANEL_VECTORS]; ROWS],
) {
    for (row, acc) in acc.iter_mut().enumerate() {
        let x = T::splat(simd, a(row));
        acc[0] = T::fused_mul_add(simd, x, b[0], acc[0]);
        acc[1] = T::fused_mul_add(simd, x, b[1], acc[1]);
    }
}

/// When what the output holds is added to a sum.
#[derive(Clone, Copy, Debug)]
enum Adds {
    Never,
    BeforeScaling,
    AfterShift,
}

/// An epilogue with what it reads for one panel in registers: for sums that are not scaled by
/// `alpha`.
pub(crate) struct PanelEpilogue<S: Simd, T: Lanes> {
    scale: [T::Vector<S>; PANEL_VECTORS],
    shift: [T::Vector<S>; PANEL_VECTORS],
    adds_output: Adds,
    clamp: Clamp<T>,
}

impl<S: Simd, T: Lanes + PartialOrd> PanelEpilogue<S, T> {
    /// Turns rows of sums into elements of rows of the output, which `output` returns by number. If
    /// the compiler knows the length of these rows, such as [`panel_width`], it leaves out what is
    /// for incomplete registers.
    #[inline(always)]
    pub(crate) fn store_rows<'a>(
        &self,
        simd: S,
        sums: &[[T::Vector<S>; PANEL_VECTORS]],
        output: impl FnMut(usize) -> &'a mut [T],
    ) where
        T: 'a,
    {
        // A loop for each, so that none asks for each row what is to be done.
        match self.clamp {
            Clamp::None => self.store_clamped(simd, sums, output, |value| value),
            Clamp::AtLeast(floor) => {
                let floor = T::splat(simd, floor);
                self.store_clamped(simd, sums, output, |value| T::at_least(simd, value, floor));
            }
            Clamp::Between(floor, ceiling) => {
                let (floor, ceiling) = (T::splat(simd, floor), T::splat(simd, ceiling));
                self.store_clamped(simd, sums, output, |value| {
                    let value = T::at_least(simd, value, floor);
                    T::at_most(simd, value, ceiling)
                });
            }
        }
    }

    #[inline(always)]
    fn store_clamped<'a>(
        &self,
        simd: S,
        sums: &[[T::Vector<S>; PANEL_VECTORS]],
        output: impl FnMut(usize) -> &'a mut [T],
        clamp: impl Fn(T::Vector<S>) -> T::Vector<S>,
    ) where
        T: 'a,
    {
        let Self { scale, shift, .. } = *self;
        let shifted = |index: usize, sum| T::fused_mul_add(simd, sum, scale[index], shift[index]);
        match self.adds_output {
            Adds::Never => Self::store_each(simd, sums, output, |index, sum, _| {
                clamp(shifted(index, sum))
            }),
            Adds::BeforeScaling => Self::store_each(simd, sums, output, |index, sum, before| {
                clamp(shifted(index, T::add(simd, sum, before)))
            }),
            Adds::AfterShift => Self::store_each(simd, sums, output, |index, sum, before| {
                clamp(T::add(simd, shifted(index, sum), before))
            }),
        }
    }

    #[inline(always)]
    fn store_each<'a>(
        simd: S,
        sums: &[[T::Vector<S>; PANEL_VECTORS]],
        mut output: impl FnMut(usize) -> &'a mut [T],
        finished: impl Fn(usize, T::Vector<S>, T::Vector<S>) -> T::Vector<S>,
    ) where
        T: 'a,
    {
        for (row, sums) in sums.iter().enumerate() {
            let (vectors, rest) = T::vectors_mut::<S>(output(row));
            for (index, vector) in vectors.iter_mut().enumerate().take(PANEL_VECTORS) {
                *vector = finished(index, sums[index], *vector);
            }
            if !rest.is_empty() {
                let index = vectors.len().min(PANEL_VECTORS - 1);
                let before = T::load_partial(simd, rest);
                T::store_partial(simd, rest, finished(index, sums[index], before));
            }
        }
    }
}

impl<T: Lanes> Clamp<T> {
    #[inline(always)]
    pub(crate) fn apply<S: Simd>(self, simd: S, value: T::Vector<S>) -> T::Vector<S> {
        match self {
            Self::None => value,
            Self::AtLeast(floor) => T::at_least(simd, value, T::splat(simd, floor)),
            Self::Between(floor, ceiling) => {
                let value = T::at_least(simd, value, T::splat(simd, floor));
                T::at_most(simd, value, T::splat(simd, ceiling))
            }
        }
    }
}

impl<T: Lanes + PartialOrd> Epilogue<'_, T> {
    /// Returns the same for some columns of one panel, if sums are not scaled by `alpha`, and what
    /// is added to them not by `beta`. The results are the same, bit by bit: a factor that is not
    /// given is one, and a summand minus zero.
    #[inline(always)]
    pub(crate) fn of_panel<S: Simd>(
        &self,
        simd: S,
        columns: Range<usize>,
    ) -> Option<PanelEpilogue<S, T>> {
        let adds_output = match self.adds_output {
            _ if self.alpha != T::ONE => return None,
            false if self.beta == T::ONE => Adds::BeforeScaling,
            _ if self.beta != T::ZERO => return None,
            false => Adds::Never,
            true => Adds::AfterShift,
        };
        let vectors = |values: Option<&[T]>, default| match values {
            None => [T::splat(simd, default); PANEL_VECTORS],
            Some(values) => {
                let (whole, rest) = T::vectors::<S>(&values[columns.clone()]);
                std::array::from_fn(|index| match whole.get(index) {
                    Some(vector) => *vector,
                    None => T::load_partial(simd, if index == whole.len() { rest } else { &[] }),
                })
            }
        };
        Some(PanelEpilogue {
            scale: vectors(self.scale, T::ONE),
            shift: vectors(self.shift, T::MINUS_ZERO),
            adds_output,
            clamp: self.clamp,
        })
    }

    /// Turns one row of sums into elements `column..` of a row of the output; the columns of a
    /// panel that the output does not have are dropped.
    #[inline(always)]
    pub(crate) fn store<S: Simd>(
        &self,
        simd: S,
        sums: &[T::Vector<S>],
        column: usize,
        output: &mut [T],
    ) {
        let lanes = T::lanes::<S>();
        let (whole, rest) = T::vectors_mut::<S>(output);
        for (index, (vector, &sum)) in whole.iter_mut().zip(sums).enumerate() {
            *vector = self.finish(simd, sum, *vector, column + index * lanes);
        }
        if !rest.is_empty() {
            let done = whole.len();
            let start = column + done * lanes;
            let c = T::load_partial(simd, rest);
            let partial = Epilogue {
                scale: self.scale.map(|scale| &scale[start..]),
                shift: self.shift.map(|shift| &shift[start..]),
                ..*self
            };
            let vector = partial.finish_partial(simd, sums[done], c, rest.len());
            T::store_partial(simd, rest, vector);
        }
    }

    #[inline(always)]
    fn finish<S: Simd>(
        &self,
        simd: S,
        sum: T::Vector<S>,
        c: T::Vector<S>,
        column: usize,
    ) -> T::Vector<S> {
        let lanes = T::lanes::<S>();
        let scale = self
            .scale
            .map(|scale| T::vectors::<S>(&scale[column..][..lanes]).0[0]);
        let shift = self
            .shift
            .map(|shift| T::vectors::<S>(&shift[column..][..lanes]).0[0]);
        self.apply(simd, sum, c, scale, shift)
    }

    #[inline(always)]
    fn finish_partial<S: Simd>(
        &self,
        simd: S,
        sum: T::Vector<S>,
        c: T::Vector<S>,
        len: usize,
    ) -> T::Vector<S> {
        let scale = self.scale.map(|scale| T::load_partial(simd, &scale[..len]));
        let shift = self.shift.map(|shift| T::load_partial(simd, &shift[..len]));
        self.apply(simd, sum, c, scale, shift)
    }

    #[inline(always)]
    fn apply<S: Simd>(
        &self,
        simd: S,
        sum: T::Vector<S>,
        c: T::Vector<S>,
        scale: Option<T::Vector<S>>,
        shift: Option<T::Vector<S>>,
    ) -> T::Vector<S> {
        let mut value = sum;
        if self.alpha != T::ONE {
            value = T::mul(simd, value, T::splat(simd, self.alpha));
        }
        if self.beta != T::ZERO {
            value = T::fused_mul_add(simd, c, T::splat(simd, self.beta), value);
        }
        value = match (scale, shift) {
            (None, None) => value,
            (None, Some(shift)) => T::add(simd, value, shift),
            (Some(scale), None) => T::mul(simd, value, scale),
            (Some(scale), Some(shift)) => T::fused_mul_add(simd, value, scale, shift),
        };
        if self.adds_output {
            value = T::add(simd, value, c);
        }
        self.clamp.apply(simd, value)
    }
}

/// Elements of the widest register that [`pulp`] knows.
pub(crate) const MAX_LANES: usize = 16;

/// Divides `rows` into tiles of nearly the same height, so that none is left with a few rows only.
#[inline(always)]
pub(crate) fn tile_count<S: Simd>(rows: usize) -> usize {
    rows.div_ceil(max_rows::<S>())
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn packed_matrices_have_the_layout_of_their_version() {
        // Files have packed weights: whoever changes the order increases the version.
        assert_eq!((LAYOUT_VERSION, PANEL_VECTORS), (1, 2));
        let layout = PanelLayout::for_lanes(2, 3, 1);
        let mut packed = vec![f32::NAN; layout.len()];
        layout.pack(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &mut packed);
        assert_eq!(packed, [1.0, 2.0, 4.0, 5.0, 3.0, 0.0, 6.0, 0.0]);
    }

    /// Returns the places that all steps of a tile prefetch.
    fn places(next: &[f32], panel: &[f32], steps: usize) -> Vec<usize> {
        let places = RefCell::new(Vec::new());
        let mut prefetches = Prefetches::new(next, panel, steps);
        for _ in 0..steps {
            prefetches.step(|place| places.borrow_mut().push(place.addr()));
        }
        places.into_inner()
    }

    #[test]
    fn the_steps_of_a_tile_prefetch_all_that_follows() {
        const LINE: usize = LINE_BYTES / size_of::<f32>();
        for (steps, lines) in [(1, 1), (1, 2), (8, 1), (8, 8), (8, 9), (8, 16), (9, 16)] {
            let memory = vec![0.0; (lines + 1) * LINE];
            // From the start of a line, so that as many lines hold the elements.
            let start = memory.as_ptr().align_offset(LINE_BYTES);
            let next = &memory[start..][..lines * LINE];
            let line = |place: usize| (place - next.as_ptr().addr()) / LINE_BYTES;
            let found = places(next, &[], steps);
            let lines_found: BTreeSet<usize> = found.iter().map(|&place| line(place)).collect();
            let is_all = (0..lines).all(|line| lines_found.contains(&line));
            assert!(is_all, "{lines} lines in {steps} steps: {lines_found:?}");
            assert_eq!(found.len(), if lines > steps { 2 * steps } else { steps });
        }
    }

    #[test]
    fn a_tile_without_a_successor_prefetches_what_it_reads() {
        let panel = [0.0; 64];
        assert_eq!(places(&[], &panel, 3), [panel.as_ptr().addr(); 3]);
    }
}
