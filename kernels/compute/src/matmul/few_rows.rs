//! Products with so few rows that packing `b` would cost more than it saves.
//!
//! `b` is read once, in place, so memory limits the speed. The sums of several columns are kept in
//! registers; those of long rows in memory that stays in the first-level cache, so that `b` is read
//! as it lies.

use std::ops::Range;

use pulp::{NullaryFnOnce, Simd};

use super::{MatmulElement, Part};
use crate::tile::{PANEL_VECTORS, panel_width};

/// The most registers for the sums of one row.
const VECTORS: usize = 8;

/// Rows that have sums in four registers each at the same time; in eight as well, where there are
/// registers enough, else one row.
const ROWS: usize = 2;

/// Rows that have sums in one or two registers at the same time: a processor starts several
/// operations before the result of the first one is there.
const LAST_ROWS: usize = 4;

/// `b` is `[k, n]`: a row of `c` is a sum of multiples of rows of `b`.
pub(super) fn sums_of_rows<S: Simd, T: MatmulElement>(
    simd: S,
    part: &Part<'_, T>,
    b: (&[T], usize),
    range: Range<usize>,
    columns: Range<usize>,
) {
    let lanes = T::lanes::<S>();
    let mut first = columns.start;
    let mut next = |num_vectors: usize| {
        let columns = first..first + num_vectors * lanes;
        first = columns.end;
        columns
    };
    let num_vectors = columns.len() / lanes;
    for _ in 0..num_vectors / VECTORS {
        let (range, columns) = (range.clone(), next(VECTORS));
        match S::REGISTER_COUNT >= 32 {
            true => whole_vectors::<_, _, VECTORS, ROWS>(simd, part, b, range, columns),
            false => whole_vectors::<_, _, VECTORS, 1>(simd, part, b, range, columns),
        }
    }
    // One piece for each binary digit that is 1: each passes over all rows of `b`.
    if num_vectors & 4 != 0 {
        whole_vectors::<_, _, 4, ROWS>(simd, part, b, range.clone(), next(4));
    }
    if num_vectors & 2 != 0 {
        whole_vectors::<_, _, 2, LAST_ROWS>(simd, part, b, range.clone(), next(2));
    }
    if num_vectors & 1 != 0 {
        whole_vectors::<_, _, 1, LAST_ROWS>(simd, part, b, range.clone(), next(1));
    }
    if first < columns.end {
        last_columns(simd, part, b, range, first..columns.end);
    }
}

/// Computes [`sums_of_rows`] for as many columns as `V` registers hold, `R` rows at a time.
fn whole_vectors<S: Simd, T: MatmulElement, const V: usize, const R: usize>(
    simd: S,
    part: &Part<'_, T>,
    b: (&[T], usize),
    range: Range<usize>,
    columns: Range<usize>,
) {
    for first_row in (0..part.rows).step_by(R) {
        let block = Block {
            simd,
            part,
            first_row,
            b,
            range: range.clone(),
            columns: columns.clone(),
        };
        if part.rows - first_row == 1 {
            simd.vectorize(SumsOfRows::<_, _, 1, V>(block));
        } else {
            simd.vectorize(SumsOfRows::<_, _, R, V>(block));
        }
    }
}

/// The sums of some rows in some columns, which are computed at the same time.
struct Block<'a, S, T> {
    simd: S,
    part: &'a Part<'a, T>,
    first_row: usize,
    /// `[k, n]`, and `n`.
    b: (&'a [T], usize),
    /// The rows of `b` whose multiples are summed.
    range: Range<usize>,
    columns: Range<usize>,
}

/// Rows of `b` whose multiples are added to the sums of long rows at a time.
const STEP: usize = 8;

/// Registers of the sums of a long row at a time.
const LONG_VECTORS: usize = 4;

/// Bytes of the sums of long rows that are kept at a time: a part of the first-level cache.
pub(super) const LONG_SUMS_BYTES: usize = 16 << 10;

/// Computes [`sums_of_rows`] with `sums` as memory, of [`LONG_SUMS_BYTES`]. The results are the
/// same, bit by bit.
///
/// Registers have room for the sums of few columns only, so that short pieces of rows of `b` would
/// be read, far apart from one another, and the processor prefetches nothing. Here it reads some
/// rows from end to end.
pub(super) fn sums_of_long_rows<S: Simd, T: MatmulElement>(
    simd: S,
    part: &Part<'_, T>,
    b: (&[T], usize),
    range: Range<usize>,
    columns: Range<usize>,
    sums: &mut [T],
) {
    let group = LONG_VECTORS * T::lanes::<S>();
    let width = sums.len() / part.rows.max(1) / group * group;
    let whole = match range.is_empty() || width == 0 {
        true => 0,
        false => columns.len() / group * group,
    };
    let (long, rest) = (
        columns.start..columns.start + whole,
        columns.start + whole..columns.end,
    );
    let most_rows = if S::REGISTER_COUNT >= 32 { ROWS } else { 1 };
    for first in long.clone().step_by(width.max(1)) {
        let columns = first..(first + width).min(long.end);
        let mut start = range.start;
        while start < range.end {
            // The last rows one by one, if they are not enough for a step.
            let is_step = range.end - start >= STEP;
            let end = start + if is_step { STEP } else { 1 };
            for row in (0..part.rows).step_by(most_rows) {
                let rows = most_rows.min(part.rows - row);
                let sums = &mut sums[row * width..][..rows * width];
                let block = Block {
                    simd,
                    part,
                    first_row: row,
                    b,
                    range: range.clone(),
                    columns: columns.clone(),
                };
                let k = start..end;
                let added = Added { block, k, sums };
                match (rows == ROWS, is_step) {
                    (true, true) => simd.vectorize(Rows::<_, _, ROWS, STEP>(added)),
                    (true, false) => simd.vectorize(Rows::<_, _, ROWS, 1>(added)),
                    (false, true) => simd.vectorize(Rows::<_, _, 1, STEP>(added)),
                    (false, false) => simd.vectorize(Rows::<_, _, 1, 1>(added)),
                }
            }
            start = end;
        }
    }
    sums_of_rows(simd, part, b, range, rest);
}

/// Multiples of rows `k` of `b` that are added to the sums of a block.
struct Added<'a, S, T> {
    block: Block<'a, S, T>,
    /// A part of the rows of `b` that are summed.
    k: Range<usize>,
    /// As much for each row.
    sums: &'a mut [T],
}

/// The same for `R` rows and `K` rows of `b`.
struct Rows<'a, S, T, const R: usize, const K: usize>(Added<'a, S, T>);

impl<S: Simd, T: MatmulElement, const R: usize, const K: usize> NullaryFnOnce
    for Rows<'_, S, T, R, K>
{
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Added { block, k, sums } = self.0;
        let Block {
            simd,
            part,
            first_row,
            b: (b, n),
            range,
            columns,
        } = block;
        let lanes = T::lanes::<S>();
        let a: [&[T]; R] = rows_of_a(part, first_row, range.len());
        let x: [[T::Vector<S>; K]; R] = std::array::from_fn(|row| {
            std::array::from_fn(|at| T::splat(simd, a[row][k.start - range.start + at]))
        });
        let b: [&[[T::Vector<S>; LONG_VECTORS]]; K] = std::array::from_fn(|at| {
            let row = &b[(k.start + at) * n + columns.start..][..columns.len()];
            T::vectors::<S>(row).0.as_chunks().0
        });
        let (is_first, is_last) = (k.start == range.start, k.end == range.end);
        let width = sums.len() / R;
        let groups = b[0].len();
        let b = b.map(|row| &row[..groups]);
        for group in 0..groups {
            let mut found = [[T::splat(simd, T::ZERO); LONG_VECTORS]; R];
            let first = group * LONG_VECTORS * lanes;
            if !is_first {
                for (row, found) in found.iter_mut().enumerate() {
                    let sums = &sums[row * width + first..][..LONG_VECTORS * lanes];
                    found.copy_from_slice(T::vectors::<S>(sums).0);
                }
            }
            for at in 0..K {
                for vector in 0..LONG_VECTORS {
                    let b = b[at][group][vector];
                    for row in 0..R {
                        let sum = &mut found[row][vector];
                        *sum = T::fused_mul_add(simd, x[row][at], b, *sum);
                    }
                }
            }
            for (row, found) in found.iter().enumerate() {
                if is_last {
                    let start = columns.start + first;
                    let columns = start..start + LONG_VECTORS * lanes;
                    part.store(simd, first_row + row, columns, found);
                } else {
                    let sums = &mut sums[row * width + first..][..LONG_VECTORS * lanes];
                    T::vectors_mut::<S>(sums).0.copy_from_slice(found);
                }
            }
        }
    }
}

/// Computes [`sums_of_rows`] for columns that do not fill a register.
#[inline(always)]
fn last_columns<S: Simd, T: MatmulElement>(
    simd: S,
    part: &Part<'_, T>,
    b: (&[T], usize),
    range: Range<usize>,
    columns: Range<usize>,
) {
    for first_row in (0..part.rows).step_by(LAST_ROWS) {
        let block = Block {
            simd,
            part,
            first_row,
            b,
            range: range.clone(),
            columns: columns.clone(),
        };
        if part.rows - first_row == 1 {
            simd.vectorize(LastColumns::<_, _, 1>(block));
        } else {
            simd.vectorize(LastColumns::<_, _, LAST_ROWS>(block));
        }
    }
}

struct LastColumns<'a, S, T, const R: usize>(Block<'a, S, T>);

impl<S: Simd, T: MatmulElement, const R: usize> NullaryFnOnce for LastColumns<'_, S, T, R> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Block {
            simd,
            part,
            first_row,
            b: (b, n),
            range,
            columns,
        } = self.0;
        let num_rows = R.min(part.rows - first_row);
        let a: [&[T]; R] = rows_of_a(part, first_row, range.len());
        // A register that is filled up with zeros.
        let mut sums = [T::splat(simd, T::ZERO); R];
        for (index, k) in range.enumerate() {
            let b = T::load_partial(simd, &b[k * n + columns.start..][..columns.len()]);
            for row in 0..R {
                let x = T::splat(simd, a[row][index]);
                sums[row] = T::fused_mul_add(simd, x, b, sums[row]);
            }
        }
        for (row, sums) in sums.chunks(1).take(num_rows).enumerate() {
            part.store(simd, first_row + row, columns.clone(), sums);
        }
    }
}

/// Returns `R` rows of `a`, in as many columns as are summed. Rows beyond the last repeat it: their
/// sums are dropped.
#[inline(always)]
fn rows_of_a<'a, T, const R: usize>(
    part: &Part<'a, T>,
    first_row: usize,
    len: usize,
) -> [&'a [T]; R] {
    let (a, stride) = part.a;
    std::array::from_fn(|row| {
        let row = (first_row + row).min(part.rows - 1);
        a.get(row * stride..).map_or(&[][..], |row| &row[..len])
    })
}

struct SumsOfRows<'a, S, T, const R: usize, const V: usize>(Block<'a, S, T>);

impl<S: Simd, T: MatmulElement, const R: usize, const V: usize> NullaryFnOnce
    for SumsOfRows<'_, S, T, R, V>
{
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Block {
            simd,
            part,
            first_row,
            b: (b, n),
            range,
            columns,
        } = self.0;
        let lanes = T::lanes::<S>();
        let num_rows = R.min(part.rows - first_row);
        let a: [&[T]; R] = rows_of_a(part, first_row, range.len());
        let mut sums = [[T::splat(simd, T::ZERO); V]; R];
        for (index, k) in range.enumerate() {
            let (b, _) = T::vectors::<S>(&b[k * n + columns.start..][..V * lanes]);
            for row in 0..R {
                let x = T::splat(simd, a[row][index]);
                for vector in 0..V {
                    sums[row][vector] = T::fused_mul_add(simd, x, b[vector], sums[row][vector]);
                }
            }
        }
        for (row, sums) in sums.iter().take(num_rows).enumerate() {
            part.store(simd, first_row + row, columns.clone(), sums);
        }
    }
}

/// Up to how many rows have sums in several packed panels at the same time: those of one panel are
/// too few to be computed without waiting for one another.
pub(super) const PANEL_ROWS: usize = 4;

/// Panels in which one row, or two where there are registers enough, have sums at the same time.
const PANELS: usize = 4;

/// Panels in which other rows do.
const PANELS_OF_MORE_ROWS: usize = 2;

/// `b` is packed, from the first `k` on, with as many elements between its panels.
///
/// Measured on Sapphire Rapids with a `b` of 256 × 1024: one row takes 8.3 µs instead of 22 µs
/// panel by panel, four rows 14.5 µs instead of 17.2 µs.
pub(super) fn sums_of_panels<S: Simd, T: MatmulElement>(
    simd: S,
    part: &Part<'_, T>,
    packed: (&[T], usize),
    run: usize,
    panels: Range<usize>,
) {
    let has_many_registers = S::REGISTER_COUNT >= 32;
    let most_rows = if has_many_registers { PANEL_ROWS } else { 2 };
    for first_row in (0..part.rows).step_by(most_rows) {
        let block = PanelBlock {
            simd,
            part,
            first_row,
            packed,
            run,
        };
        let panels = panels.clone();
        match (part.rows - first_row).min(most_rows) {
            1 => block.sums::<1, PANELS>(panels),
            2 if has_many_registers => block.sums::<2, PANELS>(panels),
            2 => block.sums::<2, PANELS_OF_MORE_ROWS>(panels),
            3 => block.sums::<3, PANELS_OF_MORE_ROWS>(panels),
            _ => block.sums::<PANEL_ROWS, PANELS_OF_MORE_ROWS>(panels),
        }
    }
}

/// Some rows, in packed panels.
#[derive(Clone, Copy)]
struct PanelBlock<'a, S, T> {
    simd: S,
    part: &'a Part<'a, T>,
    first_row: usize,
    packed: (&'a [T], usize),
    run: usize,
}

impl<S: Simd, T: MatmulElement> PanelBlock<'_, S, T> {
    /// Computes the sums of `R` rows, `P` panels at a time.
    fn sums<const R: usize, const P: usize>(self, panels: Range<usize>) {
        let mut first_panel = panels.start;
        while panels.end - first_panel >= P {
            let block = self;
            self.simd
                .vectorize(SumsOfPanels::<_, _, R, P> { block, first_panel });
            first_panel += P;
        }
        for first_panel in first_panel..panels.end {
            let block = self;
            self.simd
                .vectorize(SumsOfPanels::<_, _, R, 1> { block, first_panel });
        }
    }
}

/// The sums of `R` rows in `P` panels.
struct SumsOfPanels<'a, S, T, const R: usize, const P: usize> {
    block: PanelBlock<'a, S, T>,
    first_panel: usize,
}

impl<S: Simd, T: MatmulElement, const R: usize, const P: usize> NullaryFnOnce
    for SumsOfPanels<'_, S, T, R, P>
{
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let PanelBlock {
            simd,
            part,
            first_row,
            packed: (packed, stride),
            run,
        } = self.block;
        let first_panel = self.first_panel;
        let width = panel_width::<S, T>();
        let a: [&[T]; R] = rows_of_a(part, first_row, run);
        let panels: [&[[T::Vector<S>; PANEL_VECTORS]]; P] = std::array::from_fn(|panel| {
            let panel = &packed[(first_panel + panel) * stride..][..run * width];
            &T::vectors::<S>(panel).0.as_chunks().0[..run]
        });
        let mut sums = [[[T::splat(simd, T::ZERO); PANEL_VECTORS]; P]; R];
        for k in 0..run {
            let x: [T::Vector<S>; R] = std::array::from_fn(|row| T::splat(simd, a[row][k]));
            for (panel, rows_of_b) in panels.iter().enumerate() {
                for (vector, &b) in rows_of_b[k].iter().enumerate() {
                    for row in 0..R {
                        let sum = &mut sums[row][panel][vector];
                        *sum = T::fused_mul_add(simd, x[row], b, *sum);
                    }
                }
            }
        }
        for (row, sums) in sums.iter().enumerate() {
            for (panel, sums) in sums.iter().enumerate() {
                let start = (first_panel + panel) * width;
                let columns = start..(start + width).min(part.n);
                part.store(simd, first_row + row, columns, sums);
            }
        }
    }
}

/// `b` is `[n, k]`: an element of `c` is the dot product of two rows.
pub(super) fn dot_products<S: Simd, T: MatmulElement>(
    simd: S,
    part: &Part<'_, T>,
    b: (&[T], usize),
    range: Range<usize>,
    columns: Range<usize>,
) {
    let lanes = T::lanes::<S>();
    for first in columns.clone().step_by(lanes) {
        let columns = first..(first + lanes).min(columns.end);
        for row in 0..part.rows {
            let (range, columns) = (range.clone(), columns.clone());
            simd.vectorize(DotProducts {
                simd,
                part,
                row,
                b,
                range,
                columns,
            });
        }
    }
}

struct DotProducts<'a, S, T> {
    simd: S,
    part: &'a Part<'a, T>,
    row: usize,
    b: (&'a [T], usize),
    range: Range<usize>,
    columns: Range<usize>,
}

/// Columns whose dot products are computed at the same time.
const COLUMNS: usize = 4;

impl<S: Simd, T: MatmulElement> NullaryFnOnce for DotProducts<'_, S, T> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self {
            simd,
            part,
            row,
            b: (b, k),
            range,
            columns,
        } = self;
        let (a, a_stride) = part.a;
        let a = a
            .get(row * a_stride..)
            .map_or(&[][..], |row| &row[..range.len()]);
        let (a_vectors, a_rest) = T::vectors::<S>(a);
        let mut results = [T::ZERO; crate::tile::MAX_LANES];
        for (first, results) in columns
            .clone()
            .step_by(COLUMNS)
            .zip(results.chunks_mut(COLUMNS))
        {
            // Columns beyond the last repeat it: their results are dropped.
            let rows: [&[T]; COLUMNS] = std::array::from_fn(|column| {
                let column = (first + column).min(columns.end - 1);
                &b[column * k + range.start..][..range.len()]
            });
            let vectors = rows.map(|row| &T::vectors::<S>(row).0[..a_vectors.len()]);
            let mut sums = [T::splat(simd, T::ZERO); COLUMNS];
            for (index, &x) in a_vectors.iter().enumerate() {
                for column in 0..COLUMNS {
                    sums[column] = T::fused_mul_add(simd, x, vectors[column][index], sums[column]);
                }
            }
            for column in 0..COLUMNS {
                let mut sum = T::sum(simd, sums[column]);
                let rest = &rows[column][a.len() - a_rest.len()..];
                for (&x, &y) in a_rest.iter().zip(rest) {
                    sum = crate::math::Real::mul_add(x, y, sum);
                }
                results[column] = sum;
            }
        }
        let (vectors, _) = T::vectors::<S>(&results);
        part.store(simd, row, columns, &vectors[..1]);
    }
}
