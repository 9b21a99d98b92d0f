//! Which thread runs which blocks of a loop.
//!
//! The blocks are divided into consecutive parts, one for each worker. A worker first claims the
//! blocks of its own part, in ascending order, and then those that are left of others. So a worker
//! meets the same places of tensors in loop after loop, which its caches may still hold, and a
//! faster worker still runs more blocks.
//!
//! ```text
//!  part of worker 0           part of worker 1
//!  ┌──────┬──────┬──────┐     ┌──────┬──────┬──────┐
//!  │ done │ done │ free │     │ done │ free │ free │
//!  └──────┴──────┴──────┘     └──────┴──────┴──────┘
//!                  └ next              └ next
//! ```

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use tfrt_support::share::share;

/// More workers than this share parts.
const MAX_PARTS: usize = 16;

/// The blocks of a loop that are not claimed yet.
#[derive(Debug)]
pub(super) struct Claims {
    num_blocks: usize,
    num_parts: usize,
    /// The number of claims of each part, some of which came after its last block.
    claimed: [AtomicUsize; MAX_PARTS],
}

/// The part from which a thread claims blocks.
#[derive(Clone, Debug)]
pub(super) struct Position {
    part: usize,
    blocks: Range<usize>,
    /// The number of parts that the thread turns to when this one is used up.
    num_left: usize,
}

impl Claims {
    pub(super) fn new(num_blocks: usize, num_workers: usize) -> Self {
        Self {
            num_blocks,
            num_parts: num_workers.min(num_blocks).clamp(1, MAX_PARTS),
            claimed: [const { AtomicUsize::new(0) }; MAX_PARTS],
        }
    }

    /// Returns the number of blocks of the loop.
    pub(super) fn num_blocks(&self) -> usize {
        self.num_blocks
    }

    /// Returns where a worker begins. It is asked for only if that matters.
    pub(super) fn position_of(&self, worker: impl FnOnce() -> usize) -> Position {
        let part = match self.num_parts {
            1 => 0,
            num_parts => worker() % num_parts,
        };
        Position {
            part,
            blocks: share(self.num_blocks, self.num_parts, part),
            num_left: self.num_parts - 1,
        }
    }

    /// Claims a block. Returns `None` if there are no more.
    #[inline]
    pub(super) fn claim(&self, position: &mut Position) -> Option<usize> {
        loop {
            // Relaxed: claims communicate only the block; `Arc` orders the end of the loop. A
            // thread reaches the end of a part at most once per turn, so the counter does not wrap.
            let claimed = self.claimed[position.part].fetch_add(1, Ordering::Relaxed);
            if claimed < position.blocks.len() {
                return Some(position.blocks.start + claimed);
            }
            position.num_left = position.num_left.checked_sub(1)?;
            position.part = (position.part + 1) % self.num_parts;
            position.blocks = share(self.num_blocks, self.num_parts, position.part);
        }
    }

    /// Returns the lowest block that is not claimed, or the number of blocks.
    pub(super) fn lowest_free(&self) -> usize {
        let free = (0..self.num_parts).filter_map(|part| {
            let blocks = share(self.num_blocks, self.num_parts, part);
            // Relaxed: as above.
            let claimed = self.claimed[part].load(Ordering::Relaxed);
            (claimed < blocks.len()).then(|| blocks.start + claimed)
        });
        free.min().unwrap_or(self.num_blocks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Claims all blocks, in turns between workers.
    fn claim_all(num_blocks: usize, num_workers: usize) -> Vec<Vec<usize>> {
        let claims = Claims::new(num_blocks, num_workers);
        let mut positions: Vec<_> = (0..num_workers)
            .map(|worker| claims.position_of(|| worker))
            .collect();
        let mut claimed = vec![Vec::new(); num_workers];
        let mut lowest_free = claims.lowest_free();
        loop {
            let mut is_over = true;
            for (position, claimed) in positions.iter_mut().zip(&mut claimed) {
                if let Some(block) = claims.claim(position) {
                    claimed.push(block);
                    is_over = false;
                }
                assert!(claims.lowest_free() >= lowest_free);
                lowest_free = claims.lowest_free();
            }
            if is_over {
                assert_eq!(lowest_free, num_blocks);
                return claimed;
            }
        }
    }

    #[test]
    fn each_block_is_claimed_once() {
        for num_workers in [1, 2, 3, 16, 17, 40] {
            for num_blocks in [1, 2, 3, 15, 16, 17, 100] {
                let mut all = claim_all(num_blocks, num_workers).concat();
                all.sort_unstable();
                assert!(all.into_iter().eq(0..num_blocks), "{num_blocks} blocks");
            }
        }
    }

    #[test]
    fn a_worker_claims_its_own_part_first() {
        assert_eq!(
            claim_all(8, 2),
            [vec![0, 1, 2, 3], vec![4, 5, 6, 7]],
            "as fast as one another"
        );
        let claims = Claims::new(7, 3);
        let mut position = claims.position_of(|| 4);
        let claimed = std::iter::from_fn(|| claims.claim(&mut position));
        assert!(claimed.eq([3, 4, 5, 6, 0, 1, 2]), "all of them, alone");
    }

    #[test]
    fn the_lowest_free_block_may_be_of_any_part() {
        let claims = Claims::new(6, 2);
        let [mut first, mut second] = [0, 1].map(|worker| claims.position_of(|| worker));
        assert_eq!(claims.claim(&mut second), Some(3));
        assert_eq!(claims.lowest_free(), 0);
        for block in 0..3 {
            assert_eq!(claims.claim(&mut first), Some(block));
        }
        assert_eq!(claims.lowest_free(), 4);
    }

    #[test]
    fn a_loop_may_have_as_many_blocks_as_there_are_numbers() {
        let claims = Claims::new(usize::MAX, 3);
        let mut position = claims.position_of(|| 2);
        assert_eq!(claims.claim(&mut position), Some(usize::MAX / 3 * 2));
    }
}
