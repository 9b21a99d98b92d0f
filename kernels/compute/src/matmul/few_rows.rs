//! Products with so few rows that packing `b` would cost more than it saves.
//!
//! `b` is read once, in place, so memory limits the speed. The sums of several columns are kept in
//! registers.

use std::ops::Range;

use pulp::{NullaryFnOnce, Simd};

use super::{MatmulElement, Part};

/// Registers for the sums of one row.
const VECTORS: usize = 8;

/// Rows that have sums at the same time, where there are registers enough; else it is one.
const ROWS: usize = 2;

/// Rows that have sums at the same time in the last columns, which do not fill the registers.
const LAST_ROWS: usize = 4;

/// `b` is `[k, n]`: a row of `c` is a sum of multiples of rows of `b`.
pub(super) fn sums_of_rows<S: Simd, T: MatmulElement>(
    simd: S,
    part: &Part<'_, T>,
    b: (&[T], usize),
    range: Range<usize>,
    columns: Range<usize>,
) {
    let rows = if S::REGISTER_COUNT >= 32 { ROWS } else { 1 };
    let step = VECTORS * T::lanes::<S>();
    for first in columns.clone().step_by(step) {
        let columns = first..(first + step).min(columns.end);
        if columns.len() < step {
            last_columns(simd, part, b, range.clone(), columns);
            continue;
        }
        for row in (0..part.rows).step_by(rows) {
            let (range, columns) = (range.clone(), columns.clone());
            if rows == ROWS && part.rows - row >= ROWS {
                simd.vectorize(SumsOfRows::<S, T, ROWS> {
                    simd,
                    part,
                    first_row: row,
                    b,
                    range,
                    columns,
                });
            } else {
                simd.vectorize(SumsOfRows::<S, T, 1> {
                    simd,
                    part,
                    first_row: row,
                    b,
                    range,
                    columns,
                });
            }
        }
    }
}

/// Computes [`sums_of_rows`] for columns that do not fill all registers of a row.
#[inline(always)]
fn last_columns<S: Simd, T: MatmulElement>(
    simd: S,
    part: &Part<'_, T>,
    b: (&[T], usize),
    range: Range<usize>,
    columns: Range<usize>,
) {
    for first_row in (0..part.rows).step_by(LAST_ROWS) {
        let (range, columns) = (range.clone(), columns.clone());
        if part.rows - first_row == 1 {
            simd.vectorize(LastColumns::<S, T, 1> {
                simd,
                part,
                first_row,
                b,
                range,
                columns,
            });
        } else {
            simd.vectorize(LastColumns::<S, T, LAST_ROWS> {
                simd,
                part,
                first_row,
                b,
                range,
                columns,
            });
        }
    }
}

struct LastColumns<'a, S, T, const R: usize> {
    simd: S,
    part: &'a Part<'a, T>,
    first_row: usize,
    b: (&'a [T], usize),
    range: Range<usize>,
    columns: Range<usize>,
}

impl<S: Simd, T: MatmulElement, const R: usize> NullaryFnOnce for LastColumns<'_, S, T, R> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self {
            simd,
            part,
            first_row,
            b: (b, n),
            range,
            columns,
        } = self;
        let lanes = T::lanes::<S>();
        let num_rows = R.min(part.rows - first_row);
        let a: [&[T]; R] = rows_of_a(part, first_row, range.len());
        // One register at a time, the last of them filled up with zeros.
        for first in columns.clone().step_by(lanes) {
            let columns = first..(first + lanes).min(columns.end);
            let mut sums = [T::splat(simd, T::ZERO); R];
            for (index, k) in range.clone().enumerate() {
                let b = T::load_partial(simd, &b[k * n + first..][..columns.len()]);
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

struct SumsOfRows<'a, S, T, const R: usize> {
    simd: S,
    part: &'a Part<'a, T>,
    first_row: usize,
    b: (&'a [T], usize),
    range: Range<usize>,
    columns: Range<usize>,
}

impl<S: Simd, T: MatmulElement, const R: usize> NullaryFnOnce for SumsOfRows<'_, S, T, R> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self {
            simd,
            part,
            first_row,
            b: (b, n),
            range,
            columns,
        } = self;
        let lanes = T::lanes::<S>();
        let a: [&[T]; R] = rows_of_a(part, first_row, range.len());
        let mut sums = [[T::splat(simd, T::ZERO); VECTORS]; R];
        for (index, k) in range.enumerate() {
            let (b, _) = T::vectors::<S>(&b[k * n + columns.start..][..VECTORS * lanes]);
            for row in 0..R {
                let x = T::splat(simd, a[row][index]);
                for vector in 0..VECTORS {
                    sums[row][vector] = T::fused_mul_add(simd, x, b[vector], sums[row][vector]);
                }
            }
        }
        for (row, sums) in sums.iter().enumerate() {
            part.store(simd, first_row + row, columns.clone(), sums);
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
