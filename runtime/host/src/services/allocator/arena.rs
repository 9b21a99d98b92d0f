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
//! use during the next one, spans that outlive their run are not planned from then on: all kinds of
//! runs are recorded once more, and such spans are never where a plan places others. Free spans
//! join their neighbours.
//!
//! Runs may be of several [kinds](ArenaAllocator::begin), such as those of a model with inputs of
//! several shapes. Each of the latest kinds has a plan of its own. All plans are for one chunk, as
//! large as the largest of them needs.
//!
//! The first run of a kind is not recorded, since many kinds run only once: a plan costs time, and
//! the chunks that a recorded run has added are given up for that of the plan. Chunks that such a
//! run adds are larger than needed, so that the runs of a sequence that grows step by step, as when
//! text is generated, find room in the memory of those before them.
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

/// The first run of a kind adds chunks that are larger than needed by one part in this number.
const SPARE_PART: usize = 8;

/// The number of kinds of runs whose plans are kept.
const MAX_KINDS: usize = 8;

/// The byte that fills freed memory of a poisoned arena: floating-point numbers of such bytes are
/// NaN, and integers are -1.
const POISON: u8 = 0xff;

/// Keeps the larger memory that it hands out, for reuse, until it is dropped.
///
/// Owners of repeated work, such as sessions of models, have one each, and call
/// [`settle`](Self::settle) between runs. It returns memory to the source if the last run has not
/// used it, if it has planned where the next run finds its memory, if more than
/// [`max_kept_bytes`](Self::max_kept_bytes) is idle, and at the end.
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
    /// The kind of this run, and its plan.
    kind: u64,
    plan: Plan,
    /// The spans of this run, if it is recorded.
    recording: Option<Recording>,
    /// The other kinds, the one that was used last at the end.
    other_kinds: Vec<OtherKind>,
    /// Whether this run has needed memory that was not planned.
    has_missed: bool,
    /// Whether a planned place was in use in some run. Plans that are older than that place results
    /// in the planned chunk.
    keeps_results: bool,
    statistics: ArenaStatistics,
}

/// A kind of runs that is not the current one.
struct OtherKind {
    kind: u64,
    plan: Plan,
    /// Whether its next run is to be recorded.
    is_to_be_recorded: bool,
}

impl Default for State {
    fn default() -> Self {
        Self {
            chunks: BTreeMap::new(),
            free: BTreeMap::new(),
            by_size: BTreeSet::new(),
            planned: None,
            is_requested: false,
            kind: 0,
            plan: Plan::default(),
            recording: Some(Recording::default()),
            other_kinds: Vec::new(),
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

    /// Takes a span of this size from the end of the planned chunk, which no plan uses.
    fn take_behind_plans(&mut self, size_bytes: usize) -> Option<NonNull<u8>> {
        let start = self.planned?;
        let end = start + self.chunks.get(&start)?.size_bytes;
        let others = self.other_kinds.iter().map(|other| other.plan.size_bytes);
        let first = start + others.fold(self.plan.size_bytes, usize::max);
        let spans = self.free.range(start..end);
        let mut spans = spans.map(|(&address, &bytes)| (address.max(first), address + bytes));
        let (address, _) = spans.find(|&(address, end)| address + size_bytes <= end)?;
        self.take_at(address, size_bytes)
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

    /// Removes all idle chunks if they are larger than allowed.
    fn remove_excess(&mut self, max_bytes: usize) -> Vec<Chunk> {
        // All chunks are at least as large as those that are idle.
        if self.statistics.held_bytes <= max_bytes {
            return Vec::new();
        }
        let idle = self.chunks.iter();
        let idle = idle.filter(|&(&address, chunk)| self.is_idle(address, chunk));
        let idle_bytes: usize = idle.map(|(_, chunk)| chunk.size_bytes).sum();
        match idle_bytes > max_bytes {
            true => self.remove_idle(|_, _| true),
            false => Vec::new(),
        }
    }

    /// Notes that a planned place was in use: by results of a run before this one.
    #[cold]
    fn found_in_use(&mut self) {
        if !self.keeps_results {
            self.keeps_results = true;
            // Their results may be what was in the way. This kind is recorded because it misses.
            for other in &mut self.other_kinds {
                other.is_to_be_recorded = true;
            }
        }
    }

    /// Returns the size of a chunk for a span that no chunk has room for.
    fn chunk_bytes(&self, span_bytes: usize) -> usize {
        let is_first_run = self.recording.is_none() && self.plan.is_empty();
        let spare_bytes = match is_first_run {
            true => (span_bytes / SPARE_PART).next_multiple_of(GRANULE_BYTES),
            false => 0,
        };
        span_bytes.saturating_add(spare_bytes)
    }

    /// Takes up the plan of another kind of runs. The first run of a kind has none, and is not
    /// recorded.
    fn begin(&mut self, kind: u64) {
        if self.kind == kind {
            return;
        }
        let position = self.other_kinds.iter().position(|known| known.kind == kind);
        let new = match position {
            Some(position) => self.other_kinds.remove(position),
            None => OtherKind {
                kind,
                plan: Plan::default(),
                is_to_be_recorded: false,
            },
        };
        if self.other_kinds.len() + 1 == MAX_KINDS {
            self.other_kinds.remove(0);
        }
        self.other_kinds.push(OtherKind {
            kind: self.kind,
            plan: std::mem::replace(&mut self.plan, new.plan),
            is_to_be_recorded: self.recording.is_some(),
        });
        self.kind = kind;
        self.recording = new.is_to_be_recorded.then(Recording::default);
        // Of a chunk that is too small, no place could be taken.
        let is_sufficient = |address: &usize| {
            let chunk = self.chunks.get(address);
            chunk.is_some_and(|chunk| chunk.size_bytes >= self.plan.size_bytes)
        };
        self.planned = self.planned.filter(is_sufficient);
    }

    /// Plans where the next run finds its memory, if this run was recorded. Returns the chunks that
    /// later runs are not expected to need.
    fn settle(&mut self) -> Vec<Chunk> {
        let removed = if let Some(plan) = self
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
            self.remove_idle(|address, _| kept != Some(address))
        } else {
            self.recording = self.has_missed.then(Recording::default);
            let planned = self.planned;
            self.remove_idle(|address, chunk| !chunk.is_used && planned != Some(address))
        };
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

    /// Sets the idle bytes that the arena keeps when it [settles](Self::settle) or is
    /// [trimmed](Self::trim). The default is that it keeps all.
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

    /// Begins a run of a kind, which is assumed to need the same memory as other runs of its kind.
    /// Call it when no run is active. A kind that needs new memory is planned when it runs for the
    /// second time. Plans of the last eight kinds are kept; without this call, all runs are of one
    /// kind.
    ///
    /// ```
    /// use std::alloc::Layout;
    /// use std::sync::Arc;
    /// use tfrt_host::allocator::{ArenaAllocator, HostAllocator, Malloc};
    ///
    /// let arena = ArenaAllocator::new(Arc::new(Malloc));
    /// for size in [1_usize << 16, 1 << 20].repeat(4) {
    ///     arena.begin(size as u64);
    ///     let layout = Layout::from_size_align(size, 64).unwrap();
    ///     let memory = arena.allocate_initialized(layout).unwrap();
    ///     // SAFETY: the memory came from this allocator with this layout; nothing was written to it.
    ///     unsafe { arena.deallocate_initialized(memory, layout) };
    ///     arena.settle();
    /// }
    /// // One chunk serves both kinds.
    /// assert_eq!(arena.statistics().held_bytes, 1 << 20);
    /// ```
    pub fn begin(&self, kind: u64) {
        self.lock().begin(kind);
    }

    /// Prepares the next run of the kind of this one. Call it when a run has ended and no other one
    /// is active.
    pub fn settle(&self) {
        let removed = {
            let mut state = self.lock();
            let mut removed = state.settle();
            removed.extend(state.remove_excess(self.max_kept_bytes));
            removed
        };
        self.free_chunks(removed);
    }

    /// Returns idle memory to the source if it is more than
    /// [`max_kept_bytes`](Self::max_kept_bytes). This is for work that has no runs: it may be called
    /// at any time, and plans nothing.
    pub fn trim(&self) {
        let removed = self.lock().remove_excess(self.max_kept_bytes);
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
        let (is_outside, place) = {
            let mut state = self.lock();
            let place = state.plan.next(span_bytes);
            let taken = match (place, state.planned) {
                (Place::At(offset), Some(start)) => {
                    let taken = state.take_at(start + offset, span_bytes);
                    if taken.is_none() {
                        state.found_in_use();
                    }
                    taken
                }
                // Its chunk is yet to be requested.
                (Place::At(_), None) => None,
                (Place::Outside, _) => {
                    let taken = state.take_behind_plans(span_bytes);
                    taken.or_else(|| state.take_best(span_bytes, false))
                }
                (Place::Unknown, _) => state.take_best(span_bytes, true),
            };
            match (taken, place, state.planned) {
                (Some(memory), ..) => return Some(memory),
                // Only one thread requests the chunk, which is as large as all spans of a run.
                (None, Place::At(offset), None) if !state.is_requested => {
                    state.is_requested = true;
                    (false, Some((offset, state.plan.size_bytes)))
                }
                (None, ..) => (place == Place::Outside, None),
            }
        };
        let planned = place
            .and_then(|(offset, size_bytes)| self.grow_planned(offset, size_bytes, span_bytes));
        planned.or_else(|| self.grow(span_bytes, is_outside))
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

    /// Returns a span that was not planned: of another place, or of a new chunk. A span that must
    /// be outside of the plan is in the way of others only if there is no other memory.
    #[cold]
    fn grow(&self, span_bytes: usize, is_outside: bool) -> Option<NonNull<u8>> {
        let (found, chunk_bytes) = {
            let mut state = self.lock();
            state.has_missed = true;
            let found = state.take_best(span_bytes, !is_outside);
            (found, state.chunk_bytes(span_bytes))
        };
        if found.is_some() {
            return found;
        }
        let chunk = self.new_chunk(chunk_bytes);
        let chunk = chunk.or_else(|| self.new_chunk(span_bytes));
        let mut state = self.lock();
        match chunk {
            Some(chunk) => {
                let start = state.add_chunk(chunk);
                state.take_at(start, span_bytes)
            }
            None => state.take_best(span_bytes, true),
        }
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
mod tests;
