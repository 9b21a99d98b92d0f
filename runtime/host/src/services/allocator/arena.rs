//! Memory of work that is repeated: what one run frees, the next one uses again.
//!
//! The intermediate results of a model are large, and each run makes the same ones. Heaps return
//! large memory to the system and map it again in the next run, and it must be cleared before a
//! kernel sees it. An arena does neither: it keeps its memory, and the bytes were initialised when
//! it got them.
//!
//! ```text
//!  run 1   is recorded; each miss adds a chunk                ┌───────┐ ┌─────┐ ┌──┐
//!  settle  plans a place for each span, in a single chunk     ┌───┬─────┬─┐
//!                                                             │ a │  c  │ │
//!  run 2   takes its memory from the planned places           │ a ├──┬──┴─┤
//!                                                             │   │ d│ b  │
//!                                                             └───┴──┴────┘
//! ```
//!
//! A span whose place is in use, or that was not planned, takes the smallest free span that it fits
//! in, and adds a chunk if there is none; then the next run is recorded. If results of a run are in
//! use during the next one, spans that outlive their run are not planned from then on. Free spans
//! join their neighbours.
//!
//! Invariant A1: a chunk came from the source, with its layout; spans of a chunk do not overlap,
//! and each byte of a chunk is in a span that is free or in use. Upheld by `take` and `give_back`.
//!
//! Invariant A2: all bytes of a chunk are initialised while they are free. Upheld by `grow`, which
//! asks for zeroed memory, and by the two ways to free memory.

mod plan;

use std::alloc::Layout;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{AllocatorProfile, HostAllocator};

use plan::{Place, Plan, Recording};

/// By default, smaller memory comes from the source: clearing it costs less than the search for a
/// span.
const MIN_BYTES: usize = 4096;

/// The alignment of spans, and the unit of their sizes: a cache line. Memory of greater alignment
/// comes from the source.
const GRANULE_BYTES: usize = 64;

/// The alignment that chunks are requested with. Heaps clear zeroed memory of greater alignment,
/// although the system has cleared it.
const HEAP_ALIGN_BYTES: usize = 16;

/// The byte that fills freed memory of a poisoned arena: floating-point numbers of such bytes are
/// NaN, and integers are -1.
const POISON: u8 = 0xff;

/// Keeps the larger memory that it hands out, for reuse, until it is dropped.
///
/// Owners of repeated work, such as sessions of models, have one each, and call
/// [`settle`](Self::settle) between runs. It returns memory to the source if it has planned where
/// the next run finds its memory, if more than [`max_kept_bytes`](Self::max_kept_bytes) is idle,
/// and at the end.
///
/// ```
/// use std::alloc::Layout;
/// use std::sync::Arc;
/// use tfrt_host::allocator::{ArenaAllocator, HostAllocator, Malloc};
///
/// let arena = ArenaAllocator::new(Arc::new(Malloc));
/// let layout = Layout::from_size_align(1 << 20, 64).unwrap();
/// for _ in 0..3 {
///     let memory = arena.allocate_initialized(layout).unwrap();
///     // SAFETY: the memory came from this allocator with this layout; nothing was written to it.
///     unsafe { arena.deallocate_initialized(memory, layout) };
/// }
/// let statistics = arena.statistics();
/// assert_eq!((statistics.num_allocations, statistics.num_chunks), (3, 1));
/// assert_eq!(statistics.peak_bytes, 1 << 20);
/// ```
pub struct ArenaAllocator {
    source: Arc<dyn HostAllocator>,
    /// Smaller memory comes from the source. It never changes, so that memory goes back where it
    /// came from.
    min_bytes: usize,
    is_poisoned: bool,
    max_kept_bytes: usize,
    state: Mutex<State>,
}

/// What an arena has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ArenaStatistics {
    /// The bytes of all chunks now.
    pub held_bytes: usize,
    /// The bytes in use now.
    pub live_bytes: usize,
    /// The most bytes that were in use at once: the least that an arena must hold.
    pub peak_bytes: usize,
    /// The memory that was handed out from chunks.
    pub num_allocations: usize,
    /// The chunks that were requested from the source.
    pub num_chunks: usize,
}

/// Memory from the source.
struct Chunk {
    /// What the source returned, and its layout.
    block: NonNull<u8>,
    layout: Layout,
    /// The part that spans are made of: the first multiple of the granule in the block.
    start: NonNull<u8>,
    size_bytes: usize,
    /// Whether a span was taken from it since the arena settled.
    is_used: bool,
}

// SAFETY: a chunk owns its memory, which is not bound to a thread.
unsafe impl Send for Chunk {}

impl Chunk {
    fn layout(size_bytes: usize) -> Option<Layout> {
        // With room for the start, and so that chunks never touch: spans of two chunks do not join.
        let size_bytes = size_bytes.checked_add(GRANULE_BYTES)?;
        Layout::from_size_align(size_bytes, HEAP_ALIGN_BYTES).ok()
    }
}

struct State {
    /// The chunks, by the addresses of their first spans.
    chunks: BTreeMap<usize, Chunk>,
    /// The sizes of free spans, by address.
    free: BTreeMap<usize, usize>,
    /// The same spans, by size.
    by_size: BTreeSet<(usize, usize)>,
    /// The chunk of the plan; `None` until it is needed.
    planned: Option<usize>,
    /// Whether a thread is requesting the chunk of the plan.
    is_requested: bool,
    plan: Plan,
    /// The spans of this run, if it is recorded.
    recording: Option<Recording>,
    /// Whether this run has needed memory that was not planned.
    has_missed: bool,
    /// Whether a planned place was in use in some run.
    keeps_results: bool,
    statistics: ArenaStatistics,
}

impl Default for State {
    fn default() -> Self {
        Self {
            chunks: BTreeMap::new(),
            free: BTreeMap::new(),
            by_size: BTreeSet::new(),
            planned: None,
            is_requested: false,
            plan: Plan::default(),
            recording: Some(Recording::default()),
            has_missed: false,
            keeps_results: false,
            statistics: ArenaStatistics::default(),
        }
    }
}

impl State {
    fn add_free(&mut self, address: usize, size_bytes: usize) {
        if size_bytes > 0 {
            self.free.insert(address, size_bytes);
            self.by_size.insert((size_bytes, address));
        }
    }

    fn remove_free(&mut self, address: usize, size_bytes: usize) {
        self.free.remove(&address);
        self.by_size.remove(&(size_bytes, address));
    }

    /// Takes a span of this size at an address, unless a part of it is in use.
    fn take_at(&mut self, address: usize, size_bytes: usize) -> Option<NonNull<u8>> {
        let (&start, &free_bytes) = self.free.range(..=address).next_back()?;
        let is_free = address.checked_add(size_bytes)? <= start + free_bytes;
        is_free.then(|| self.take(start, free_bytes, address, size_bytes))
    }

    /// Takes a span of this size from the smallest free span that it fits in. `is_planned_too`
    /// tells whether that may be one of the planned chunk.
    fn take_best(&mut self, size_bytes: usize, is_planned_too: bool) -> Option<NonNull<u8>> {
        let planned = match self.planned.filter(|_| !is_planned_too) {
            Some(start) => start..start + self.chunks.get(&start)?.size_bytes,
            None => 0..0,
        };
        let mut spans = self.by_size.range((size_bytes, 0)..);
        let found = spans.find(|(_, address)| !planned.contains(address));
        let &(free_bytes, address) = found?;
        Some(self.take(address, free_bytes, address, size_bytes))
    }

    /// Takes a span from a free span, which contains it.
    fn take(
        &mut self,
        start: usize,
        free_bytes: usize,
        address: usize,
        size_bytes: usize,
    ) -> NonNull<u8> {
        self.remove_free(start, free_bytes);
        self.add_free(start, address - start);
        let behind = address + size_bytes;
        self.add_free(behind, start + free_bytes - behind);
        let statistics = &mut self.statistics;
        statistics.num_allocations += 1;
        statistics.live_bytes += size_bytes;
        statistics.peak_bytes = statistics.peak_bytes.max(statistics.live_bytes);
        if let Some(recording) = &mut self.recording {
            recording.allocated(address, size_bytes);
        }
        let chunk = self.chunks.range_mut(..=address).next_back();
        let (first, chunk) = chunk.expect("a free span belongs to a chunk");
        chunk.is_used = true;
        // SAFETY: A1: the span is within the chunk.
        unsafe { chunk.start.add(address - first) }
    }

    /// Adds a span to the free ones, joined with its neighbours.
    fn give_back(&mut self, mut address: usize, mut size_bytes: usize) {
        self.statistics.live_bytes -= size_bytes;
        if let Some(recording) = &mut self.recording {
            recording.freed(address);
        }
        if let Some((&before, &before_bytes)) = self.free.range(..address).next_back()
            && before + before_bytes == address
        {
            self.remove_free(before, before_bytes);
            (address, size_bytes) = (before, before_bytes + size_bytes);
        }
        let behind = address + size_bytes;
        if let Some(&behind_bytes) = self.free.get(&behind) {
            self.remove_free(behind, behind_bytes);
            size_bytes += behind_bytes;
        }
        self.add_free(address, size_bytes);
    }

    /// Adds a chunk that is idle. Returns the address of its first span.
    fn add_chunk(&mut self, chunk: Chunk) -> usize {
        let (start, size_bytes) = (chunk.start.addr().get(), chunk.size_bytes);
        self.chunks.insert(start, chunk);
        self.add_free(start, size_bytes);
        self.statistics.num_chunks += 1;
        self.statistics.held_bytes += size_bytes;
        start
    }

    fn is_idle(&self, address: usize, chunk: &Chunk) -> bool {
        self.free.get(&address) == Some(&chunk.size_bytes)
    }

    /// Removes idle chunks of a kind.
    fn remove_idle(&mut self, is_of_kind: impl Fn(usize, &Chunk) -> bool) -> Vec<Chunk> {
        let chunks = self.chunks.iter();
        let idle = chunks.filter(|&(&address, chunk)| {
            self.is_idle(address, chunk) && is_of_kind(address, chunk)
        });
        let idle: Vec<usize> = idle.map(|(&address, _)| address).collect();
        let removed = idle.into_iter().filter_map(|address| {
            let chunk = self.chunks.remove(&address)?;
            self.remove_free(address, chunk.size_bytes);
            self.statistics.held_bytes -= chunk.size_bytes;
            if self.planned == Some(address) {
                self.planned = None;
            }
            Some(chunk)
        });
        removed.collect()
    }

    /// Plans where the next run finds its memory, if this run was recorded. Returns the chunks that
    /// later runs are not expected to need.
    fn settle(&mut self) -> Vec<Chunk> {
        let mut removed = Vec::new();
        if let Some(plan) = self
            .recording
            .take()
            .and_then(|recording| recording.plan(self.keeps_results))
        {
            let needed_bytes = plan.size_bytes;
            let is_sufficient = |address: &usize| self.chunks[address].size_bytes >= needed_bytes;
            let kept = self.planned.filter(is_sufficient).or_else(|| {
                // A chunk that is hardly larger than planned will do.
                let most_bytes = needed_bytes + needed_bytes / 10;
                let idle = self.chunks.iter().filter(|&(&address, chunk)| {
                    (needed_bytes..=most_bytes).contains(&chunk.size_bytes)
                        && self.is_idle(address, chunk)
                });
                idle.map(|(&address, _)| address).next()
            });
            self.planned = kept;
            self.plan = plan;
            removed = self.remove_idle(|address, _| kept != Some(address));
        } else if self.has_missed {
            self.recording = Some(Recording::default());
        } else {
            let planned = self.planned;
            removed = self.remove_idle(|address, chunk| !chunk.is_used && planned != Some(address));
        }
        for chunk in self.chunks.values_mut() {
            chunk.is_used = false;
        }
        self.plan.restart();
        self.has_missed = false;
        removed
    }
}

impl ArenaAllocator {
    /// Creates an arena without memory, which takes chunks from `source`.
    #[must_use]
    pub fn new(source: Arc<dyn HostAllocator>) -> Self {
        Self {
            source,
            min_bytes: MIN_BYTES,
            is_poisoned: false,
            max_kept_bytes: usize::MAX,
            state: Mutex::default(),
        }
    }

    /// Creates an arena that fills freed memory with a pattern, to find kernels that read what they
    /// have not written. All its memory comes from chunks, regardless of its size.
    #[must_use]
    pub fn new_poisoned(source: Arc<dyn HostAllocator>) -> Self {
        let mut arena = Self::new(source);
        arena.min_bytes = 1;
        arena.is_poisoned = true;
        arena
    }

    /// Sets the idle bytes that the arena keeps when it [settles](Self::settle). The default is
    /// that it keeps all.
    #[must_use]
    pub fn max_kept_bytes(mut self, max_bytes: usize) -> Self {
        self.max_kept_bytes = max_bytes;
        self
    }

    /// Returns what the arena has done so far.
    #[must_use]
    pub fn statistics(&self) -> ArenaStatistics {
        self.lock().statistics
    }

    /// Prepares the next run, which is assumed to need the same memory as this one. Call it when a
    /// run has ended and no other one is active.
    pub fn settle(&self) {
        let removed = {
            let mut state = self.lock();
            let mut removed = state.settle();
            let idle = state.chunks.iter();
            let idle = idle.filter(|&(&address, chunk)| state.is_idle(address, chunk));
            let idle_bytes: usize = idle.map(|(_, chunk)| chunk.size_bytes).sum();
            if idle_bytes > self.max_kept_bytes {
                removed.extend(state.remove_idle(|_, _| true));
            }
            removed
        };
        self.free_chunks(removed);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the size of the span for a layout; `None` if its memory comes from the source.
    fn span_bytes(&self, layout: Layout) -> Option<usize> {
        if layout.size() < self.min_bytes || layout.align() > GRANULE_BYTES {
            return None;
        }
        // No layout is so large that this overflows.
        Some(layout.size().next_multiple_of(GRANULE_BYTES))
    }

    /// Returns a span whose bytes are initialised.
    fn allocate_span(&self, span_bytes: usize) -> Option<NonNull<u8>> {
        let place = {
            let mut state = self.lock();
            let place = state.plan.next(span_bytes);
            let taken = match (place, state.planned) {
                (Place::At(offset), Some(start)) => {
                    let taken = state.take_at(start + offset, span_bytes);
                    state.keeps_results |= taken.is_none();
                    taken
                }
                // Its chunk is yet to be requested.
                (Place::At(_), None) => None,
                (Place::Outside, _) => state.take_best(span_bytes, false),
                (Place::Unknown, _) => state.take_best(span_bytes, true),
            };
            match (taken, place, state.planned) {
                (Some(memory), ..) => return Some(memory),
                // Only one thread requests the chunk, which is as large as all spans of a run.
                (None, Place::At(offset), None) if !state.is_requested => {
                    state.is_requested = true;
                    Some((offset, state.plan.size_bytes))
                }
                (None, ..) => None,
            }
        };
        let planned = place
            .and_then(|(offset, size_bytes)| self.grow_planned(offset, size_bytes, span_bytes));
        planned.or_else(|| self.grow(span_bytes))
    }

    /// Returns a span of the planned chunk, which is new.
    #[cold]
    fn grow_planned(
        &self,
        offset_bytes: usize,
        size_bytes: usize,
        span_bytes: usize,
    ) -> Option<NonNull<u8>> {
        // Without the lock: the source may take its time.
        let chunk = self.new_chunk(size_bytes);
        let mut state = self.lock();
        state.is_requested = false;
        let start = state.add_chunk(chunk?);
        // If the arena has settled in the meantime, the chunk may be too small for the plan. Then
        // it is a chunk like any other.
        if state.planned.is_none() && state.plan.size_bytes == size_bytes {
            state.planned = Some(start);
        }
        state.take_at(start + offset_bytes, span_bytes)
    }

    /// Returns a span that was not planned: of another place, or of a new chunk.
    #[cold]
    fn grow(&self, span_bytes: usize) -> Option<NonNull<u8>> {
        let found = {
            let mut state = self.lock();
            state.has_missed = true;
            state.take_best(span_bytes, true)
        };
        found.or_else(|| {
            let chunk = self.new_chunk(span_bytes)?;
            let mut state = self.lock();
            let start = state.add_chunk(chunk);
            state.take_at(start, span_bytes)
        })
    }

    /// Requests a chunk from the source. Its bytes are initialised.
    fn new_chunk(&self, size_bytes: usize) -> Option<Chunk> {
        let layout = Chunk::layout(size_bytes)?;
        let block = self.source.allocate_zeroed(layout)?;
        if self.is_poisoned {
            // SAFETY: the source returned so many bytes, which are ours.
            unsafe { block.write_bytes(POISON, layout.size()) };
        }
        let address = block.addr().get();
        let offset_bytes = address.next_multiple_of(GRANULE_BYTES) - address;
        // SAFETY: the offset is less than a granule, by which the block is larger than the chunk.
        let start = unsafe { block.add(offset_bytes) };
        Some(Chunk {
            block,
            layout,
            start,
            size_bytes,
            is_used: false,
        })
    }

    /// Returns chunks that no span is in use of to the source.
    fn free_chunks(&self, chunks: Vec<Chunk>) {
        for chunk in chunks {
            // SAFETY: 1: A1. 2: none of its spans is in use.
            unsafe { self.source.deallocate(chunk.block, chunk.layout) };
        }
    }
}

// SAFETY: spans are within chunks, which the source guarantees to be valid, and are in use once
// (A1); their starts and sizes are multiples of the granule, which is at least the alignment. Other
// memory is that of the source.
unsafe impl HostAllocator for ArenaAllocator {
    fn allocate(&self, layout: Layout) -> Option<NonNull<u8>> {
        match self.span_bytes(layout) {
            Some(span_bytes) => self.allocate_span(span_bytes),
            None => self.source.allocate(layout),
        }
    }

    fn allocate_zeroed(&self, layout: Layout) -> Option<NonNull<u8>> {
        let Some(span_bytes) = self.span_bytes(layout) else {
            return self.source.allocate_zeroed(layout);
        };
        let memory = self.allocate_span(span_bytes)?;
        // SAFETY: the span has at least so many bytes, which belong to the caller from now on.
        unsafe { memory.write_bytes(0, layout.size()) };
        Some(memory)
    }

    fn allocate_initialized(&self, layout: Layout) -> Option<NonNull<u8>> {
        match self.span_bytes(layout) {
            // A2.
            Some(span_bytes) => self.allocate_span(span_bytes),
            None => self.source.allocate_initialized(layout),
        }
    }

    unsafe fn deallocate(&self, memory: NonNull<u8>, layout: Layout) {
        if self.span_bytes(layout).is_some() {
            // The caller may have made bytes uninitialised (A2).
            // SAFETY: the memory has so many bytes, and its owner gives it up.
            unsafe { memory.write_bytes(0, layout.size()) };
        }
        // SAFETY: 1, 2: those of the caller. 3: either all bytes were just written, or the memory
        // came from the source, which is not told that they are initialised.
        unsafe { self.deallocate_initialized(memory, layout) };
    }

    unsafe fn deallocate_initialized(&self, memory: NonNull<u8>, layout: Layout) {
        let Some(span_bytes) = self.span_bytes(layout) else {
            // SAFETY: the duties of the caller are those of the source, where the memory came from.
            return unsafe { self.source.deallocate(memory, layout) };
        };
        if self.is_poisoned {
            // SAFETY: the span has so many bytes, and its owner gives it up.
            unsafe { memory.write_bytes(POISON, span_bytes) };
        }
        self.lock().give_back(memory.addr().get(), span_bytes);
    }

    fn profile(&self) -> Option<AllocatorProfile> {
        self.source.profile()
    }

    fn charge_pooled(&self, num_bytes: usize) -> bool {
        // Only memory that would come from the source.
        num_bytes < self.min_bytes && self.source.charge_pooled(num_bytes)
    }

    fn release_pooled(&self, num_bytes: usize) {
        self.source.release_pooled(num_bytes);
    }
}

impl Drop for ArenaAllocator {
    /// Memory that is still in use stays valid: its chunks are not freed.
    fn drop(&mut self) {
        let idle = self.lock().remove_idle(|_, _| true);
        self.free_chunks(idle);
    }
}

impl fmt::Debug for ArenaAllocator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ArenaAllocator")
            .field("source", &self.source)
            .field("statistics", &self.statistics())
            .finish_non_exhaustive()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::{OnceLock, Weak};

    use super::*;
    use crate::allocator::{FixedSizeAllocator, LeakCheckAllocator, Malloc};

    fn layout(size_bytes: usize) -> Layout {
        Layout::from_size_align(size_bytes, 64).unwrap()
    }

    /// An arena over an allocator that counts.
    fn counted() -> (ArenaAllocator, Arc<LeakCheckAllocator>) {
        let source = Arc::new(LeakCheckAllocator::default());
        (ArenaAllocator::new(Arc::clone(&source) as _), source)
    }

    fn free(arena: &ArenaAllocator, memory: NonNull<u8>, size_bytes: usize) {
        // SAFETY: 1: callers allocated it with this layout. 2: they do not use it afterwards.
        // 3: tests write bytes.
        unsafe { arena.deallocate_initialized(memory, layout(size_bytes)) };
    }

    fn bytes(memory: NonNull<u8>, size_bytes: usize) -> Vec<u8> {
        // SAFETY: callers allocated so many bytes, which are initialised.
        unsafe { std::slice::from_raw_parts(memory.as_ptr(), size_bytes) }.to_vec()
    }

    #[test]
    fn freed_memory_is_used_again_and_given_back_at_the_end() {
        let (arena, source) = counted();
        let first = arena.allocate(layout(10_000)).unwrap();
        free(&arena, first, 10_000);
        let second = arena.allocate(layout(9_000)).unwrap();
        assert_eq!(first, second);
        free(&arena, second, 9_000);
        assert_eq!(arena.statistics().num_chunks, 1);
        drop(arena);
        assert_eq!(source.profile().unwrap().current_bytes, 0);
    }

    #[test]
    fn spans_join_their_neighbours() {
        let (arena, _source) = counted();
        let whole = arena.allocate(layout(30 * 1024)).unwrap();
        free(&arena, whole, 30 * 1024);
        for order in [
            [0, 1, 2],
            [0, 2, 1],
            [1, 0, 2],
            [1, 2, 0],
            [2, 0, 1],
            [2, 1, 0],
        ] {
            let parts = [(); 3].map(|()| arena.allocate(layout(10 * 1024)).unwrap());
            for part in order {
                free(&arena, parts[part], 10 * 1024);
            }
            let again = arena.allocate(layout(30 * 1024)).unwrap();
            assert_eq!(again, whole, "{order:?}");
            free(&arena, again, 30 * 1024);
        }
        assert_eq!(arena.statistics().num_chunks, 1);
    }

    #[test]
    fn the_smallest_span_that_fits_is_taken() {
        let (arena, _source) = counted();
        let sizes = [40_000, 10_000, 20_000];
        let blocks = sizes.map(|size| arena.allocate(layout(size)).unwrap());
        for (block, size) in blocks.into_iter().zip(sizes) {
            free(&arena, block, size);
        }
        assert_eq!(arena.allocate(layout(15_000)).unwrap(), blocks[2]);
        assert_eq!(arena.allocate(layout(9_000)).unwrap(), blocks[1]);
        free(&arena, blocks[2], 15_000);
        free(&arena, blocks[1], 9_000);
    }

    /// Runs a model of this many layers, each of which is in use until the next one is made.
    fn run(arena: &ArenaAllocator, sizes: &[usize]) {
        let mut last: Option<(NonNull<u8>, usize)> = None;
        for &size in sizes {
            let next = arena.allocate_initialized(layout(size)).unwrap();
            if let Some((memory, size)) = last.replace((next, size)) {
                free(arena, memory, size);
            }
        }
        if let Some((memory, size)) = last {
            free(arena, memory, size);
        }
        arena.settle();
    }

    #[test]
    fn repeated_runs_have_a_single_chunk_near_the_lower_bound() {
        let (arena, source) = counted();
        let sizes = [
            50_048, 200_064, 100_032, 100_032, 70_016, 150_016, 10_048, 4_096,
        ];
        for _ in 0..5 {
            run(&arena, &sizes);
        }
        let settled = arena.statistics();
        for _ in 0..5 {
            run(&arena, &sizes);
        }
        let statistics = arena.statistics();
        assert_eq!(statistics.num_chunks, settled.num_chunks, "runs repeat");
        assert_eq!(statistics.peak_bytes, 300_096);
        assert_eq!(source.profile().unwrap().num_current, 1);
        let held_bytes = statistics.held_bytes;
        assert!(
            held_bytes <= statistics.peak_bytes * 11 / 10,
            "{held_bytes}"
        );
    }

    #[test]
    fn results_that_are_kept_until_the_next_ones_need_no_new_memory() {
        let (arena, _source) = counted();
        let mut kept = arena.allocate(layout(8_192)).unwrap();
        let mut settled = None;
        for round in 0..12 {
            let first = arena.allocate(layout(50_000)).unwrap();
            let result = arena.allocate(layout(8_192)).unwrap();
            free(&arena, first, 50_000);
            arena.settle();
            free(&arena, std::mem::replace(&mut kept, result), 8_192);
            let statistics = arena.statistics();
            if round > 5 {
                let before = settled.replace(statistics.num_chunks);
                assert_eq!(
                    before.unwrap_or(statistics.num_chunks),
                    statistics.num_chunks
                );
                assert!(
                    statistics.held_bytes <= 50_048 + 3 * 8_192,
                    "{statistics:?}"
                );
            }
        }
        free(&arena, kept, 8_192);
    }

    #[test]
    fn a_run_of_another_shape_is_planned_anew() {
        let (arena, _source) = counted();
        for factor in [1, 3, 1, 2] {
            for _ in 0..3 {
                run(&arena, &[5_056 * factor, 20_032 * factor, 10_048 * factor]);
            }
            let num_chunks = arena.statistics().num_chunks;
            run(&arena, &[5_056 * factor, 20_032 * factor, 10_048 * factor]);
            assert_eq!(arena.statistics().num_chunks, num_chunks);
        }
        let statistics = arena.statistics();
        assert_eq!(statistics.peak_bytes, 3 * 30_080);
        assert_eq!(statistics.held_bytes, 3 * 30_080);
    }

    #[test]
    fn chunks_in_use_stay_when_the_arena_settles() {
        let (arena, source) = counted();
        let output = arena.allocate(layout(8_192)).unwrap();
        // SAFETY: the memory is ours.
        unsafe { output.write_bytes(7, 8_192) };
        for _ in 0..4 {
            run(&arena, &[10_000, 20_000, 30_000]);
        }
        assert_eq!(bytes(output, 8_192), [7; 8_192]);
        assert_eq!(source.profile().unwrap().num_current, 2);
        free(&arena, output, 8_192);
    }

    #[test]
    fn idle_memory_beyond_the_limit_goes_back() {
        let source = Arc::new(LeakCheckAllocator::default());
        let arena = ArenaAllocator::new(Arc::clone(&source) as _).max_kept_bytes(50_000);
        run(&arena, &[40_000]);
        assert_eq!(source.profile().unwrap().num_current, 1);
        run(&arena, &[60_000]);
        assert_eq!(source.profile().unwrap().num_current, 0);
    }

    #[test]
    fn memory_is_initialised_zeroed_or_poisoned() {
        let arena = ArenaAllocator::new_poisoned(Arc::new(LeakCheckAllocator::default()));
        let memory = arena.allocate_initialized(layout(5_000)).unwrap();
        assert_eq!(bytes(memory, 5_000), [POISON; 5_000]);
        // SAFETY: the memory is ours.
        unsafe { memory.write_bytes(1, 5_000) };
        free(&arena, memory, 5_000);
        let memory = arena.allocate_initialized(layout(5_000)).unwrap();
        assert_eq!(bytes(memory, 5_000), [POISON; 5_000]);
        free(&arena, memory, 5_000);
        let memory = arena.allocate_zeroed(layout(5_000)).unwrap();
        assert_eq!(bytes(memory, 5_000), [0; 5_000]);
        free(&arena, memory, 5_000);
    }

    #[test]
    fn an_exhausted_source_is_no_memory() {
        let arena = ArenaAllocator::new(Arc::new(FixedSizeAllocator::new(20_000)));
        assert!(arena.allocate(layout(30_000)).is_none());
        // The size that was planned is not there any more, but what is needed is.
        run(&arena, &[5_000, 6_000, 4_100]);
        let other = arena.source.allocate(layout(9_000)).unwrap();
        run(&arena, &[5_000]);
        // SAFETY: 1: it was allocated there with this layout. 2: it is not used any more.
        unsafe { arena.source.deallocate(other, layout(9_000)) };
    }

    #[test]
    fn pooled_memory_is_that_of_the_source() {
        let source: Arc<dyn HostAllocator> = Arc::new(Malloc);
        let arena = ArenaAllocator::new(Arc::clone(&source));
        assert!(arena.charge_pooled(100));
        arena.release_pooled(100);
        assert!(!arena.charge_pooled(MIN_BYTES), "it comes from chunks");
        assert!(!ArenaAllocator::new_poisoned(source).charge_pooled(100));
        assert!(!counted().0.charge_pooled(100), "the source counts");
    }

    type Hook = Box<dyn Fn(&ArenaAllocator) + Send>;

    /// A source that does something in the first request of a size, as other threads may.
    struct Interrupted {
        arena: OnceLock<Weak<ArenaAllocator>>,
        hook: Mutex<Option<(usize, Hook)>>,
        requested: Mutex<Vec<usize>>,
    }

    impl fmt::Debug for Interrupted {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.debug_struct("Interrupted").finish_non_exhaustive()
        }
    }

    // SAFETY: the memory is that of `Malloc`.
    unsafe impl HostAllocator for Interrupted {
        fn allocate(&self, layout: Layout) -> Option<NonNull<u8>> {
            let size_bytes = layout.size() - GRANULE_BYTES;
            self.requested.lock().unwrap().push(size_bytes);
            let hook = (self.hook.lock().unwrap()).take_if(|(size, _)| *size == size_bytes);
            if let Some((_, hook)) = hook {
                let arena = self.arena.get().and_then(Weak::upgrade).unwrap();
                hook(&arena);
            }
            Malloc.allocate(layout)
        }

        unsafe fn deallocate(&self, memory: NonNull<u8>, layout: Layout) {
            // SAFETY: the memory came from there; the caller guarantees the rest.
            unsafe { Malloc.deallocate(memory, layout) }
        }
    }

    /// An arena that keeps no idle memory, whose source calls `hook` in the first request for
    /// `size_bytes`.
    fn interrupted(size_bytes: usize, hook: Hook) -> (Arc<ArenaAllocator>, Arc<Interrupted>) {
        let source = Arc::new(Interrupted {
            arena: OnceLock::new(),
            hook: Mutex::new(Some((size_bytes, hook))),
            requested: Mutex::default(),
        });
        let arena = ArenaAllocator::new(Arc::clone(&source) as _).max_kept_bytes(0);
        let arena = Arc::new(arena);
        source.arena.set(Arc::downgrade(&arena)).unwrap();
        (arena, source)
    }

    #[test]
    fn one_thread_requests_the_chunk_of_the_plan() {
        // While one kernel has the planned chunk requested, another one needs memory.
        let other = |arena: &ArenaAllocator| {
            let memory = arena.allocate(layout(20_032)).unwrap();
            free(arena, memory, 20_032);
        };
        let (arena, source) = interrupted(30_080, Box::new(other));
        let blocks = [10_048, 20_032].map(|size| (arena.allocate(layout(size)).unwrap(), size));
        for (memory, size) in blocks {
            free(&arena, memory, size);
        }
        arena.settle();
        let memory = arena.allocate(layout(10_048)).unwrap();
        free(&arena, memory, 10_048);
        arena.settle();
        let requested = source.requested.lock().unwrap().clone();
        assert_eq!(requested, [10_048, 20_032, 30_080, 20_032]);
        run(&arena, &[10_048]);
        let requested = source.requested.lock().unwrap().clone();
        assert_eq!(requested.last(), Some(&30_080), "the plan still holds");
    }

    #[test]
    fn a_chunk_that_arrives_after_its_plan_was_replaced_is_not_taken_for_the_new_one() {
        // While the chunk of the plan is requested, a run ends that needed much more.
        let other = |arena: &ArenaAllocator| run(arena, &[100_032]);
        let (arena, source) = interrupted(30_080, Box::new(other));
        let wide = || {
            let blocks = [10_048, 20_032].map(|size| (arena.allocate(layout(size)).unwrap(), size));
            for (memory, size) in blocks {
                free(&arena, memory, size);
            }
        };
        wide();
        arena.settle();
        // The next run is to be recorded.
        run(&arena, &[5_056]);
        let memory = arena.allocate(layout(10_048)).unwrap();
        free(&arena, memory, 10_048);
        let requested = source.requested.lock().unwrap().clone();
        assert_eq!(requested, [10_048, 20_032, 5_056, 30_080, 100_032]);
        assert_eq!(arena.lock().planned, None);
        run(&arena, &[100_032]);
        assert!(!arena.lock().keeps_results, "its place was never in use");
    }

    #[test]
    fn threads_never_share_memory() {
        let (arena, source) = counted();
        std::thread::scope(|scope| {
            for thread in 1..=4_u8 {
                let arena = &arena;
                scope.spawn(move || {
                    for round in 0..200_usize {
                        let size = 4_096 + (round * 1_000 + usize::from(thread) * 777) % 20_000;
                        let memory = arena.allocate_initialized(layout(size)).unwrap();
                        // SAFETY: the memory is ours.
                        unsafe { memory.write_bytes(thread, size) };
                        std::thread::yield_now();
                        assert!(bytes(memory, size).iter().all(|&byte| byte == thread));
                        free(arena, memory, size);
                        arena.settle();
                    }
                });
            }
        });
        assert_eq!(arena.statistics().live_bytes, 0);
        drop(arena);
        assert_eq!(source.profile().unwrap().current_bytes, 0);
    }
}
