//! Arenas in use: plans, limits, threads.
#![expect(unsafe_code, reason = "frees what it allocates")]

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
fn runs_of_several_kinds_that_take_turns_need_no_new_memory() {
    let (arena, source) = counted();
    let sizes = |factor: usize| [5_056, 20_032, 10_048].map(|size| size * factor);
    let turns = |factors: std::ops::Range<usize>| {
        for factor in factors {
            arena.begin(factor as u64);
            run(&arena, &sizes(factor));
        }
    };
    for _ in 0..3 {
        turns(1..1 + MAX_KINDS);
    }
    let num_chunks = arena.statistics().num_chunks;
    for _ in 0..5 {
        turns(1..1 + MAX_KINDS);
    }
    let statistics = arena.statistics();
    assert_eq!(statistics.num_chunks, num_chunks);
    // One chunk serves all of them.
    assert_eq!(statistics.held_bytes, MAX_KINDS * 30_080);
    assert_eq!(source.profile().unwrap().num_current, 1);
    assert!(!arena.lock().keeps_results, "no place was in use");
    // There is an end to the kinds that are kept.
    turns(1..5 + MAX_KINDS);
    assert_eq!(arena.lock().other_kinds.len() + 1, MAX_KINDS);
}

#[test]
fn a_kind_that_misses_is_recorded_when_it_runs_again() {
    let (arena, _source) = counted();
    let run_kind = |kind: u64, sizes: &[usize]| {
        arena.begin(kind);
        run(&arena, sizes);
    };
    for _ in 0..2 {
        run_kind(1, &[10_048]);
        run_kind(2, &[100_032]);
    }
    // It needs more than planned, and the other kind runs before it does so again.
    for _ in 0..3 {
        run_kind(1, &[10_048, 200_064]);
        run_kind(2, &[100_032]);
    }
    let num_chunks = arena.statistics().num_chunks;
    for _ in 0..3 {
        run_kind(1, &[10_048, 200_064]);
        run_kind(2, &[100_032]);
    }
    assert_eq!(arena.statistics().num_chunks, num_chunks);
    assert_eq!(arena.statistics().held_bytes, 210_112);
}

#[test]
fn kinds_that_take_turns_settle_although_the_last_result_is_kept() {
    let (arena, _source) = counted();
    let mut kept: Option<(NonNull<u8>, usize)> = None;
    let mut turns = |num_turns: usize| {
        for factor in [1, 3].repeat(num_turns) {
            arena.begin(factor as u64);
            let first = arena.allocate(layout(50_048 * factor)).unwrap();
            let result = arena.allocate(layout(8_192 * factor)).unwrap();
            free(&arena, first, 50_048 * factor);
            arena.settle();
            if let Some((memory, size)) = kept.replace((result, 8_192 * factor)) {
                free(&arena, memory, size);
            }
        }
    };
    turns(8);
    let settled = arena.statistics();
    turns(4);
    let statistics = arena.statistics();
    assert_eq!(statistics.num_chunks, settled.num_chunks);
    assert!(
        statistics.held_bytes <= 3 * (50_048 + 2 * 8_192),
        "{statistics:?}"
    );
    {
        let state = arena.lock();
        assert!(state.keeps_results, "a result was in the way");
        assert!(state.recording.is_none());
        let others = &mut state.other_kinds.iter();
        assert!(others.all(|other| other.kind == 0 || !other.is_to_be_recorded));
    }
    let (memory, size) = kept.unwrap();
    free(&arena, memory, size);
}

#[test]
fn runs_of_a_growing_sequence_find_room_in_the_memory_of_those_before() {
    const NUM_STEPS: usize = 200;
    let (arena, source) = counted();
    let mut cache: Option<(NonNull<u8>, usize)> = None;
    for step in 1..=NUM_STEPS {
        arena.begin(step as u64);
        // It grows by a row, and the last one is needed to make it.
        let size = 50_048 + 64 * step;
        let grown = arena.allocate(layout(size)).unwrap();
        let scores = arena.allocate(layout(4_096 + 64 * step)).unwrap();
        let hidden = arena.allocate(layout(8_192)).unwrap();
        free(&arena, scores, 4_096 + 64 * step);
        free(&arena, hidden, 8_192);
        arena.settle();
        if let Some((memory, size)) = cache.replace((grown, size)) {
            free(&arena, memory, size);
        }
    }
    let (memory, size) = cache.unwrap();
    free(&arena, memory, size);
    let statistics = arena.statistics();
    // A chunk of the sequence is replaced when it has grown by an eighth.
    assert!(statistics.num_chunks < NUM_STEPS / 4, "{statistics:?}");
    assert!(
        statistics.held_bytes < 2 * statistics.peak_bytes,
        "{statistics:?}"
    );
    let state = arena.lock();
    let mut kinds = state.other_kinds.iter();
    let is_unplanned = |plan: &Plan| plan.is_empty();
    assert!(
        is_unplanned(&state.plan) && kinds.all(|other| is_unplanned(&other.plan)),
        "each kind runs only once"
    );
    drop(state);
    drop(arena);
    assert_eq!(source.profile().unwrap().current_bytes, 0);
}

#[test]
fn a_first_run_does_with_what_the_source_has() {
    // With room for the span, but not for a larger one.
    let arena = ArenaAllocator::new(Arc::new(FixedSizeAllocator::new(20_000)));
    arena.begin(1);
    let memory = arena.allocate(layout(18_000)).unwrap();
    free(&arena, memory, 18_000);
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
fn trimming_returns_idle_memory_beyond_the_limit_alone() {
    let source = Arc::new(LeakCheckAllocator::default());
    let arena = ArenaAllocator::new(Arc::clone(&source) as _).max_kept_bytes(50_000);
    let [first, second] = [30_000, 40_000].map(|size| arena.allocate(layout(size)).unwrap());
    arena.trim();
    assert_eq!(source.profile().unwrap().num_current, 2, "both are in use");
    free(&arena, first, 30_000);
    arena.trim();
    assert_eq!(source.profile().unwrap().num_current, 2, "it may be kept");
    free(&arena, second, 40_000);
    arena.trim();
    assert_eq!(source.profile().unwrap().num_current, 0);
    assert_eq!(arena.statistics().held_bytes, 0);
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
