//! The micro-kernel for bytes: a tile of sums in registers.
//!
//! ```text
//!                     panel: 32 filters, four bytes of each per group
//!                     ┌──────┬──────┐
//!                     │  16  │  16  │ group ↓
//!   rows of patches   └──────┴──────┘
//!   ┌────────────┐    ┌──────┬──────┐
//!   │ a  group → │ ×  │ sums │ sums │   up to 12 rows: 24 registers of sums
//!   └────────────┘    └──────┴──────┘
//! ```

use super::GROUP;
use crate::lanes::vectorised;

/// Filters of a panel.
pub(super) const LANES: usize = 32;

/// Rows of a tile.
pub(super) const MAX_ROWS: usize = 12;

/// The sums of a tile.
pub(super) type Sums = [[i32; LANES]; MAX_ROWS];

/// A group of a panel.
type PanelGroup = [i8; GROUP * LANES];

/// Computes the sums of the products of each row of `patches`, which is `row_len` bytes long, with
/// the filters of a panel. There are as many sums as rows.
pub(super) fn sums(patches: &[u8], row_len: usize, panel: &[i8], sums: &mut [[i32; LANES]]) {
    if row_len == 0 {
        sums.fill([0; LANES]);
        return;
    }
    let (groups, _) = panel.as_chunks::<{ GROUP * LANES }>();
    #[cfg(target_arch = "x86_64")]
    if vnni::is_available() {
        return vnni::sums(patches, row_len, groups, sums);
    }
    plain(patches, row_len, groups, sums);
}

/// The sums, compiled for the best instructions of the processor that every processor with vectors
/// has.
fn plain(patches: &[u8], row_len: usize, groups: &[PanelGroup], sums: &mut [[i32; LANES]]) {
    vectorised(
        #[inline(always)]
        || {
            for (row, sums) in patches.chunks_exact(row_len).zip(sums) {
                let mut found = [0_i32; LANES];
                let (quads, _) = row.as_chunks::<GROUP>();
                for (quad, group) in quads.iter().zip(groups) {
                    let (weights, _) = group.as_chunks::<GROUP>();
                    for (sum, weights) in found.iter_mut().zip(weights) {
                        // Products of bytes fit into 16 bits with a sign, and four of them into 32.
                        for (&x, &weight) in quad.iter().zip(weights) {
                            *sum = sum.wrapping_add(i32::from(x) * i32::from(weight));
                        }
                    }
                }
                *sums = found;
            }
        },
    );
}

/// Processors with an instruction for four products of bytes.
#[cfg(target_arch = "x86_64")]
mod vnni {
    #![expect(unsafe_code, reason = "runs instructions that not every processor has")]

    use std::arch::x86_64::{
        __m512i, _mm512_dpbusd_epi32, _mm512_loadu_si512, _mm512_set1_epi32, _mm512_setzero_si512,
        _mm512_storeu_si512,
    };

    use super::{GROUP, LANES, MAX_ROWS, PanelGroup};

    /// Returns `true` if the processor has the instructions.
    pub(super) fn is_available() -> bool {
        #[cfg(test)]
        if !crate::lanes::forced::is_best() {
            return false;
        }
        is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vnni")
    }

    /// Computes the sums of rows.
    ///
    /// # Panics
    /// If the processor does not have the instructions.
    pub(super) fn sums(
        patches: &[u8],
        row_len: usize,
        groups: &[PanelGroup],
        sums: &mut [[i32; LANES]],
    ) {
        assert!(is_available(), "the caller has asked");
        // SAFETY: the processor has the instructions, as just asserted.
        unsafe { any_rows(patches, row_len, groups, sums) }
    }

    #[target_feature(enable = "avx512f,avx512vnni")]
    fn any_rows(patches: &[u8], row_len: usize, groups: &[PanelGroup], sums: &mut [[i32; LANES]]) {
        if sums.len() == MAX_ROWS {
            return rows::<MAX_ROWS>(patches, row_len, groups, sums);
        }
        // Few tiles are not whole: the last ones of a chunk.
        let mut patches = patches.chunks_exact(row_len);
        let (fours, rest) = sums.split_at_mut(sums.len() / 4 * 4);
        for sums in fours.chunks_exact_mut(4) {
            let four = [(); 4].map(|()| patches.next().unwrap_or_default());
            rows_of::<4>(four, groups, sums);
        }
        for sums in rest.chunks_exact_mut(1) {
            let one = [patches.next().unwrap_or_default()];
            rows_of::<1>(one, groups, sums);
        }
    }

    /// Computes the sums of as many rows as there are.
    #[target_feature(enable = "avx512f,avx512vnni")]
    fn rows<const ROWS: usize>(
        patches: &[u8],
        row_len: usize,
        groups: &[PanelGroup],
        sums: &mut [[i32; LANES]],
    ) {
        let mut patches = patches.chunks_exact(row_len);
        let rows = [(); ROWS].map(|()| patches.next().unwrap_or_default());
        rows_of(rows, groups, sums);
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512vnni")]
    fn rows_of<const ROWS: usize>(
        rows: [&[u8]; ROWS],
        groups: &[PanelGroup],
        sums: &mut [[i32; LANES]],
    ) {
        let rows = rows.map(|row| row.as_chunks::<GROUP>().0);
        let count = rows
            .iter()
            .fold(groups.len(), |least, row| least.min(row.len()));
        let rows = rows.map(|row| &row[..count]);
        let mut found = [[_mm512_setzero_si512(); 2]; ROWS];
        for (at, group) in groups[..count].iter().enumerate() {
            let [first, second] = halves(group);
            for (found, row) in found.iter_mut().zip(&rows) {
                let x = _mm512_set1_epi32(i32::from_le_bytes(row[at]));
                found[0] = _mm512_dpbusd_epi32(found[0], x, first);
                found[1] = _mm512_dpbusd_epi32(found[1], x, second);
            }
        }
        for (found, sums) in found.iter().zip(sums) {
            let (halves, _) = sums.as_chunks_mut::<{ LANES / 2 }>();
            for (found, half) in found.iter().zip(halves) {
                // SAFETY: the half has the size of a register.
                unsafe { _mm512_storeu_si512(half.as_mut_ptr().cast(), *found) };
            }
        }
    }

    /// Returns a group of a panel as registers.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn halves(group: &PanelGroup) -> [__m512i; 2] {
        let (first, second) = group.split_at(GROUP * LANES / 2);
        // SAFETY: half of a group has the size of a register.
        let first = unsafe { _mm512_loadu_si512(first.as_ptr().cast()) };
        // SAFETY: as above.
        let second = unsafe { _mm512_loadu_si512(second.as_ptr().cast()) };
        [first, second]
    }
}
