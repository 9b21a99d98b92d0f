//! Stages that find by experiment how many elements to work on: what limits them, what they hold,
//! and where they tell their decisions. Elements and their order do not depend on them.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tfrt_async::{AnyRef, IndirectPromise};
use tfrt_data::{Dataset, ElementFunction, IterationResult, Observation, PipelineOptions};
use tfrt_data::{Values, WorkAhead};
use tfrt_host::{ExecutionContext, HostContext, RequestContextBuilder};
use tfrt_queue::create_queue;
use tfrt_support::Error;
use tfrt_tensor::DenseHostTensor;

fn context(queue: &str) -> ExecutionContext {
    let host = HostContext::builder()
        .queue(create_queue(queue).unwrap())
        .build();
    ExecutionContext::new(RequestContextBuilder::new(host).build())
}

fn range(stop: i64) -> Dataset {
    Dataset::range(0, stop, 1).unwrap()
}

fn one(value: AnyRef) -> Values {
    [value].into_iter().collect()
}

/// The elements, counted as they are drawn.
fn counted(stop: i64, num_drawn: &Arc<AtomicUsize>) -> Dataset {
    let num_drawn = Arc::clone(num_drawn);
    let count = move |x: i64| {
        num_drawn.fetch_add(1, Ordering::Relaxed);
        x
    };
    range(stop).map(count).unwrap()
}

/// Keeps other tests away: an observation sees the stages of the whole process.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

#[test]
fn a_number_is_tuned_or_fixed_as_it_says() {
    let _alone = alone();
    let ctx = context("mstd:3");
    // How many are drawn for the first element of a prefetch.
    let num_drawn = |work_ahead: WorkAhead| {
        let num_drawn = Arc::default();
        let ahead = counted(100, &num_drawn).prefetch_with(work_ahead, true);
        drop(ahead.unwrap().iterator().draw(&ctx));
        num_drawn.load(Ordering::Relaxed)
    };
    assert_eq!(num_drawn(5.into()), 6);
    assert_eq!(num_drawn((-1).into()), 4);
    assert_eq!(num_drawn(WorkAhead::fixed(5)), 6);
    assert_eq!(num_drawn(WorkAhead::fixed(-1)), 4);
    // The largest number comes first.
    assert_eq!(num_drawn(WorkAhead::tuned(5)), 6);
    assert_eq!(num_drawn(WorkAhead::tuned(-1)), 4);
    assert_eq!(num_drawn(WorkAhead::tuned(0)), 1);
    for num in [-2, (1 << 20) + 1] {
        for wrong in [WorkAhead::tuned(num), WorkAhead::fixed(num), num.into()] {
            let error = range(1).prefetch_with(wrong, true).unwrap_err();
            let expected = format!("prefetch_num must be between -1 and 1048576, not {num}");
            assert_eq!(error.message(), expected);
        }
    }
}

#[test]
fn a_tuned_stage_keeps_the_order_of_elements() {
    let _alone = alone();
    let ctx = context("mstd:4");
    let late = ElementFunction::from_closure(1, 1, |ctx, values| {
        let (promise, later) = AnyRef::indirect();
        let value = values[0].clone();
        ctx.enqueue(move || promise.forward_to(value));
        Ok(one(later))
    });
    let tuned = range(20_000).map_with(late, &[]).unwrap();
    let tuned = tuned.prefetch_with(WorkAhead::tuned(7), true).unwrap();
    let found: Vec<i64> = tuned.elements(&ctx).collect::<Result<_, Error>>().unwrap();
    assert!(found.into_iter().eq(0..20_000));
}

#[test]
fn a_checkpoint_does_not_depend_on_how_far_a_stage_works_ahead() {
    let _alone = alone();
    let ctx = context("s");
    let pipeline = |work_ahead: WorkAhead| range(50).prefetch_with(work_ahead, true).unwrap();
    let mut saved = pipeline(WorkAhead::tuned(9)).elements::<i64, _>(&ctx);
    assert!(saved.by_ref().take(20).map(Result::unwrap).eq(0..20));
    let checkpoint = saved.save().unwrap();
    for work_ahead in [
        WorkAhead::fixed(0),
        WorkAhead::tuned(2),
        WorkAhead::fixed(30),
    ] {
        let pipeline = pipeline(work_ahead);
        let rest = pipeline.elements_from::<i64, _>(&checkpoint, &ctx).unwrap();
        assert!(rest.map(Result::unwrap).eq(20..50), "{work_ahead:?}");
    }
}

#[test]
fn a_tuned_prefetch_stays_within_its_memory() {
    let _alone = alone();
    const LEN: usize = 1 << 16;
    // The calls that have begun, and their results, which come when the test says so.
    type Begun = Arc<Mutex<Vec<IndirectPromise>>>;
    let num_begun = |budget: u64| {
        let ctx = context("s");
        let options = PipelineOptions::default().with_ram_budget(budget);
        options.install(ctx.host());
        let begun = Begun::default();
        let calls = Arc::clone(&begun);
        let begin = ElementFunction::from_closure(1, 1, move |_, _| {
            let (promise, later) = AnyRef::indirect();
            calls.lock().unwrap().push(promise);
            Ok(one(later))
        });
        let tensors = range(100).map_with(begin, &[]).unwrap();
        let ahead = tensors.prefetch_with(WorkAhead::tuned(8), true).unwrap();
        let mut iterator = ahead.iterator();
        let first = iterator.draw(&ctx);
        // Nothing is known of the size of elements yet.
        assert_eq!(begun.lock().unwrap().len(), 1);
        let first_call = begun.lock().unwrap().pop().unwrap();
        let tensor = DenseHostTensor::vector(&[0_i64; LEN / 8]).unwrap();
        first_call.forward_to(AnyRef::available(tensor));
        drop::<IterationResult>(first);
        drop(iterator.draw(&ctx));
        let num_begun = begun.lock().unwrap().len();
        drop(iterator);
        begun.lock().unwrap().clear();
        num_begun
    };
    let element = LEN as u64 + 32;
    assert_eq!(num_begun(1), 1);
    assert_eq!(num_begun(3 * element), 3);
    assert_eq!(num_begun(5 * element - 1), 4);
    assert_eq!(num_begun(1 << 30), 9);
}

#[test]
fn an_observation_has_the_numbers_that_stages_chose() {
    let _alone = alone();
    let ctx = context("mstd:4");
    let observation = Observation::start();
    let fixed = range(i64::MAX).prefetch_with(WorkAhead::fixed(3), true);
    let tuned = fixed.unwrap().prefetch_with(WorkAhead::tuned(16), true);
    let mut elements = tuned.unwrap().elements::<i64, _>(&ctx);
    let start = Instant::now();
    let stages = loop {
        for _ in 0..1000 {
            elements.next().unwrap().unwrap();
        }
        let stages = observation.stages().stages;
        let has_moved = stages.first().is_some_and(|stage| stage.num_moves > 0);
        if has_moved || start.elapsed() > Duration::from_secs(60) {
            break stages;
        }
    };
    let found: Vec<_> = stages.iter().map(|stage| stage.work_ahead).collect();
    let [Some(chosen), Some(3), None] = found[..] else {
        panic!("{found:?}");
    };
    // Elements that are there at once need no prefetch: the first move is to half of it.
    assert!(chosen < 16 && stages[0].num_moves > 0, "{stages:?}");
    assert_eq!(stages[1].num_moves, 0);
}

#[test]
fn the_next_pass_begins_with_the_number_that_the_last_one_has_found() {
    let _alone = alone();
    let ctx = context("mstd:4");
    let observation = Observation::start();
    // A pass ends when the test says so.
    let ends = Arc::new(AtomicBool::new(false));
    let of_pass = Arc::clone(&ends);
    let goes_on = move |_: i64| !of_pass.swap(false, Ordering::Relaxed);
    let num_drawn = Arc::default();
    let pass = counted(i64::MAX, &num_drawn).take_while(goes_on).unwrap();
    let tuned = pass.prefetch_with(WorkAhead::tuned(16), true).unwrap();
    let mut elements = tuned.repeat(2).unwrap().elements::<i64, _>(&ctx);
    let mut number = 0;
    let start = Instant::now();
    let found = loop {
        for _ in 0..1000 {
            assert_eq!(elements.next().unwrap().unwrap(), number);
            number += 1;
        }
        let stages = observation.stages().stages;
        let prefetch = stages.iter().find(|stage| stage.work_ahead.is_some());
        let found = prefetch.and_then(|stage| stage.work_ahead).unwrap_or(16);
        if found < 16 || start.elapsed() > Duration::from_secs(60) {
            break found;
        }
    };
    assert!(found < 16);
    ends.store(true, Ordering::Relaxed);
    while elements.next().unwrap().unwrap() != 0 {
        number += 1;
    }
    // The first draw of the second pass. A tuner that begins anew draws 16 elements more than one.
    let before_pass = number as usize + 1;
    let drawn_ahead = num_drawn.load(Ordering::Relaxed) - before_pass;
    assert!(drawn_ahead < 17, "{drawn_ahead} elements, found {found}");
    assert_eq!(elements.next().unwrap().unwrap(), 1);
}

#[test]
fn tuned_calls_stay_within_their_budget() {
    let _alone = alone();
    // The calls that have begun, and their results, which come when the test says so.
    type Begun = Arc<Mutex<Vec<IndirectPromise>>>;
    let num_begun = |budget: Option<usize>| {
        let ctx = context("mstd:4");
        if let Some(num_calls) = budget {
            let options = PipelineOptions::default().with_cpu_budget(num_calls);
            options.install(ctx.host());
        }
        let begun = Begun::default();
        let calls = Arc::clone(&begun);
        let begin = ElementFunction::from_closure(1, 1, move |_, _| {
            let (promise, later) = AnyRef::indirect();
            calls.lock().unwrap().push(promise);
            Ok(one(later))
        });
        let tuned = WorkAhead::tuned(4);
        let mapped = range(100)
            .parallel_map_with(begin, &[], tuned, true)
            .unwrap();
        let mut iterator = mapped.iterator();
        // Until the size of a result is known, there is one call.
        let first = iterator.draw(&ctx);
        ctx.host().quiesce().unwrap();
        let first_call = begun.lock().unwrap().pop().unwrap();
        first_call.forward_to(AnyRef::available(1_i64));
        ctx.host().quiesce().unwrap();
        drop((first, iterator.draw(&ctx)));
        ctx.host().quiesce().unwrap();
        let num_begun = begun.lock().unwrap().len();
        drop(iterator);
        begun.lock().unwrap().clear();
        num_begun
    };
    assert_eq!(num_begun(None), 4);
    assert_eq!(num_begun(Some(9)), 4);
    assert_eq!(num_begun(Some(2)), 2);
    assert_eq!(num_begun(Some(0)), 1);
}
