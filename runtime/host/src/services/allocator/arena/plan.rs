//! Where the memory of a run lies in its arena: planned from the previous run.
//!
//! Two blocks may share bytes if one was freed before the other was allocated. Blocks are placed
//! greedily, the largest first, each into the smallest gap that it fits in. A plan is advice: if a
//! run differs from the previous one, an allocator that looks for free memory finds the planned
//! place in use, and takes another one.

use std::collections::HashMap;

/// Runs with more blocks are not planned: the time to plan grows with the square of their number.
const MAX_BLOCKS: usize = 2048;

/// The blocks of a run, in the order in which they were allocated.
#[derive(Debug, Default)]
pub(super) struct Recording {
    blocks: Vec<Block>,
    /// The blocks that are not freed, by address.
    live: HashMap<usize, usize>,
    /// The time: the number of events so far.
    now: usize,
}

/// A block, with the times of its allocation and its end.
#[derive(Clone, Copy, Debug)]
struct Block {
    size_bytes: usize,
    start: usize,
    /// None if it outlived the run.
    end: Option<usize>,
}

impl Block {
    /// Returns `true` if both are in use at some time.
    fn overlaps(&self, other: &Self) -> bool {
        let ends_after = |end: Option<usize>, start| end.is_none_or(|end| end > start);
        ends_after(self.end, other.start) && ends_after(other.end, self.start)
    }
}

impl Recording {
    pub(super) fn allocated(&mut self, address: usize, size_bytes: usize) {
        self.now += 1;
        if self.blocks.len() <= MAX_BLOCKS {
            self.live.insert(address, self.blocks.len());
            self.blocks.push(Block {
                size_bytes,
                start: self.now,
                end: None,
            });
        }
    }

    pub(super) fn freed(&mut self, address: usize) {
        self.now += 1;
        if let Some(block) = self.live.remove(&address) {
            self.blocks[block].end = Some(self.now);
        }
    }

    /// Returns a plan for a run like this one; `None` if the run has too many blocks.
    ///
    /// If results of a run are in use during the next one, which then needs their place,
    /// `keeps_results` must be true: blocks that outlive their run are outside of the plan.
    pub(super) fn plan(&self, keeps_results: bool) -> Option<Plan> {
        if self.blocks.len() > MAX_BLOCKS {
            return None;
        }
        let inner = |&at: &usize| !keeps_results || self.blocks[at].end.is_some();
        let mut order: Vec<usize> = (0..self.blocks.len()).filter(inner).collect();
        order.sort_by_key(|&at| std::cmp::Reverse(self.blocks[at].size_bytes));
        let mut offsets: Vec<Option<usize>> = vec![None; self.blocks.len()];
        let mut size_bytes = 0;
        let mut placed: Vec<usize> = Vec::with_capacity(order.len());
        for at in order {
            let block = &self.blocks[at];
            let neighbours = placed
                .iter()
                .filter(|&&other| self.blocks[other].overlaps(block));
            let mut taken: Vec<(usize, usize)> = neighbours
                .filter_map(|&other| Some((offsets[other]?, self.blocks[other].size_bytes)))
                .collect();
            taken.sort_unstable();
            let offset = smallest_gap(&taken, block.size_bytes);
            offsets[at] = Some(offset);
            size_bytes = size_bytes.max(offset + block.size_bytes);
            placed.push(at);
        }
        let mut places: HashMap<usize, Places> = HashMap::new();
        for (block, offset) in self.blocks.iter().zip(offsets) {
            places.entry(block.size_bytes).or_default().all.push(offset);
        }
        Some(Plan { size_bytes, places })
    }
}

/// Returns the start of the smallest gap of at least a size between areas, given by offset and
/// size in ascending order; that behind the last one if there is no gap.
fn smallest_gap(taken: &[(usize, usize)], size_bytes: usize) -> usize {
    let mut best: Option<(usize, usize)> = None;
    let mut end = 0;
    for &(offset, taken_bytes) in taken {
        let gap_bytes = offset.saturating_sub(end);
        if gap_bytes >= size_bytes && best.is_none_or(|(least, _)| gap_bytes < least) {
            best = Some((gap_bytes, end));
        }
        end = end.max(offset + taken_bytes);
    }
    best.map_or(end, |(_, start)| start)
}

/// The offsets of blocks in a chunk.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// The size of the chunk.
    pub(super) size_bytes: usize,
    places: HashMap<usize, Places>,
}

/// The places of the blocks of one size, in the order in which they are allocated.
#[derive(Debug, Default)]
struct Places {
    /// None for blocks that outlive the run.
    all: Vec<Option<usize>>,
    next: usize,
}

/// Where a plan places a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// At this offset of the planned chunk.
    At(usize),
    /// In another chunk, because it outlives the run.
    Outside,
    /// Nowhere: the previous run had fewer blocks of this size.
    Unknown,
}

impl Plan {
    /// Returns the place of the next block of a size.
    ///
    /// Blocks of one size are told apart by their order alone: kernels that run in parallel
    /// allocate blocks in another order in each run.
    pub(super) fn next(&mut self, size_bytes: usize) -> Place {
        let Some(places) = self.places.get_mut(&size_bytes) else {
            return Place::Unknown;
        };
        let Some(&place) = places.all.get(places.next) else {
            return Place::Unknown;
        };
        places.next += 1;
        place.map_or(Place::Outside, Place::At)
    }

    /// Returns `true` for a plan without blocks.
    pub(super) fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Begins a run.
    pub(super) fn restart(&mut self) {
        for places in self.places.values_mut() {
            places.next = 0;
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// Records blocks, given by their size, start and end, which are in ascending order of time.
    fn recorded(blocks: &[(usize, usize, Option<usize>)]) -> Recording {
        let blocks = blocks.iter().map(|&(size_bytes, start, end)| Block {
            size_bytes,
            start,
            end,
        });
        Recording {
            blocks: blocks.collect(),
            ..Recording::default()
        }
    }

    fn offsets(recording: &Recording, keeps_results: bool) -> (Vec<Option<usize>>, usize) {
        let mut plan = recording.plan(keeps_results).unwrap();
        let offsets = recording.blocks.iter();
        let offsets = offsets.map(|block| match plan.next(block.size_bytes) {
            Place::At(offset) => Some(offset),
            Place::Outside => None,
            Place::Unknown => panic!("every block was planned"),
        });
        (offsets.collect(), plan.size_bytes)
    }

    /// Returns the most bytes of planned blocks in use at once.
    fn lower_bound(recording: &Recording, keeps_results: bool) -> usize {
        let blocks = recording.blocks.iter();
        let inner = || {
            let blocks = blocks.clone();
            blocks.filter(|block| !keeps_results || block.end.is_some())
        };
        let live_at = |now: usize| {
            let is_live =
                |block: &&Block| block.start <= now && block.end.is_none_or(|end| end > now);
            inner().filter(is_live).map(|block| block.size_bytes).sum()
        };
        let moments = inner().map(|block| live_at(block.start));
        moments.max().unwrap_or(0)
    }

    #[test]
    fn blocks_share_bytes_only_at_different_times() {
        let mut state = 7_u64;
        let mut random = |limit: usize| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) as usize % limit
        };
        for round in 0..300 {
            let keeps_results = round % 2 == 0;
            let num_blocks = 1 + random(40);
            let blocks: Vec<_> = (0..num_blocks)
                .map(|at| {
                    let start = at * 4 + random(4);
                    let end = (random(8) > 0).then(|| start + 1 + random(30));
                    (64 * (1 + random(50)), start, end)
                })
                .collect();
            let recording = recorded(&blocks);
            let (offsets, size_bytes) = offsets(&recording, keeps_results);
            let placed: Vec<_> = recording.blocks.iter().zip(&offsets).collect();
            for (at, (block, offset)) in placed.iter().enumerate() {
                assert_eq!(offset.is_some(), block.end.is_some() || !keeps_results);
                let Some(offset) = offset else { continue };
                assert!(offset + block.size_bytes <= size_bytes);
                for (other, other_offset) in &placed[..at] {
                    let Some(other_offset) = other_offset else {
                        continue;
                    };
                    let apart = offset + block.size_bytes <= *other_offset
                        || other_offset + other.size_bytes <= *offset;
                    assert!(apart || !block.overlaps(other), "{recording:?}");
                }
            }
            assert!(size_bytes >= lower_bound(&recording, keeps_results));
        }
    }

    #[test]
    fn a_plan_is_near_the_lower_bound() {
        // A network that narrows, with a connection around every second layer.
        let mut blocks = Vec::new();
        for layer in 0..40_usize {
            let size_bytes = 64 * (2000 - 45 * layer) / (1 + layer % 3);
            let end = 2 * layer + if layer % 2 == 0 { 3 } else { 5 };
            blocks.push((size_bytes.next_multiple_of(64), 2 * layer, Some(end)));
        }
        let recording = recorded(&blocks);
        let size_bytes = recording.plan(true).unwrap().size_bytes;
        let least = lower_bound(&recording, true);
        assert!(size_bytes * 10 <= least * 11, "{size_bytes} for {least}");
    }

    #[test]
    fn too_many_blocks_are_not_planned() {
        let mut recording = Recording::default();
        for address in 0..=MAX_BLOCKS {
            recording.allocated(address * 64, 64);
        }
        assert!(recording.plan(false).is_none());
    }
}
