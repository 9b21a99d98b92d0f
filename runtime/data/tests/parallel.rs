//! Maps with several calls under way: how many there are, when results are handed out, and what
//! stops them.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use tfrt_async::{AnyRef, IndirectPromise};
use tfrt_data::{Dataset, ElementFunction, IterationResult, Outcome, PipelineOptions};
use tfrt_host::{ExecutionContext, HostContext, RequestContextBuilder};
use tfrt_queue::{ConcurrentWorkQueue, Task, WouldDeadlock, create_queue};
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

/// The calls of a function that were begun, in their order: the element, and the promise of its
/// result.
type Begun = Arc<Mutex<Vec<(i64, Option<IndirectPromise>)>>>;

/// A function whose results are there when a test says so.
fn function(begun: &Begun) -> ElementFunction {
    let begun = Arc::clone(begun);
    ElementFunction::from_closure(1, 1, move |_, values| {
        let number = *values[0].get::<i64>().unwrap();
        let (promise, result) = AnyRef::indirect();
        begun.lock().unwrap().push((number, Some(promise)));
        Ok([result].into_iter().collect())
    })
}

fn num_begun(begun: &Begun) -> usize {
    begun.lock().unwrap().len()
}

/// Ends a call.
fn end(begun: &Begun, number: i64) {
    let mut begun = begun.lock().unwrap();
    let call = begun.iter_mut().find(|(other, _)| *other == number);
    let promise = call.and_then(|(_, promise)| promise.take());
    drop(begun);
    promise.unwrap().forward_to(AnyRef::available(number));
}

/// The number of a result, if it is known.
fn number(result: IterationResult) -> Option<i64> {
    match result.into_outcome() {
        Ok(Outcome::Element(values)) => values[0].get().copied(),
        _ => None,
    }
}

#[test]
fn no_more_calls_are_under_way_than_allowed() {
    let ctx = context("s");
    let begun = Begun::default();
    let squares = range(10).parallel_map_with(function(&begun), &[], 3_i64, true);
    let mut iterator = squares.unwrap().iterator();
    let drawn: Vec<_> = (0..5).map(|_| iterator.draw(&ctx)).collect();
    ctx.host().quiesce().unwrap();
    assert_eq!(num_begun(&begun), 3);
    // Done out of turn: its slot is not free before its result is handed out.
    end(&begun, 1);
    ctx.host().quiesce().unwrap();
    assert_eq!(num_begun(&begun), 3);
    end(&begun, 0);
    ctx.host().quiesce().unwrap();
    assert_eq!(num_begun(&begun), 5);
    for number in 2..5 {
        end(&begun, number);
        ctx.host().quiesce().unwrap();
    }
    let found: Vec<_> = drawn
        .into_iter()
        .map(|result| number(result).unwrap())
        .collect();
    assert_eq!(found, [0, 1, 2, 3, 4]);
    // Slots of requests that were not made hold what was drawn ahead.
    assert_eq!(num_begun(&begun), 7);
    drop(iterator);
    begun.lock().unwrap().clear();
}

#[test]
fn a_late_call_of_a_tuned_map_does_not_stop_the_others() {
    let ctx = context("mstd:2");
    let begun = Begun::default();
    let tuned = range(20).parallel_map_with(function(&begun), &[], -1_i64, true);
    let mut iterator = tuned.unwrap().iterator();
    let drawn: Vec<_> = (0..5).map(|_| iterator.draw(&ctx)).collect();
    ctx.host().quiesce().unwrap();
    // The size of the first result is not known yet.
    assert_eq!(num_begun(&begun), 1);
    end(&begun, 0);
    ctx.host().quiesce().unwrap();
    // No more calls than there are threads.
    assert_eq!(num_begun(&begun), 3);
    for number in 2..5 {
        end(&begun, number);
        ctx.host().quiesce().unwrap();
        assert_eq!(num_begun(&begun), number as usize + 2);
    }
    end(&begun, 1);
    ctx.host().quiesce().unwrap();
    let found: Vec<_> = drawn.into_iter().map(number).collect();
    assert_eq!(found, [0, 1, 2, 3, 4].map(Some));
    while begun.lock().unwrap().iter().any(|(_, call)| call.is_some()) {
        let under_way: Vec<i64> = begun
            .lock()
            .unwrap()
            .iter()
            .filter(|(_, call)| call.is_some())
            .map(|(number, _)| *number)
            .collect();
        assert!(under_way.len() <= 2, "{under_way:?}");
        end(&begun, under_way[0]);
        ctx.host().quiesce().unwrap();
    }
    // One for each of five requests, and for each of two threads.
    assert!(num_begun(&begun) <= 7, "{}", num_begun(&begun));
}

/// Loses every task after the first few.
#[derive(Debug)]
struct Losing {
    inner: Arc<dyn ConcurrentWorkQueue>,
    num_kept: AtomicUsize,
}

impl ConcurrentWorkQueue for Losing {
    fn name(&self) -> String {
        "losing".to_owned()
    }

    fn add_task(&self, task: Task) {
        let decrement = |num: usize| num.checked_sub(1);
        let num_kept = &self.num_kept;
        if num_kept
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, decrement)
            .is_ok()
        {
            self.inner.add_task(task);
        }
    }

    fn add_blocking_task(&self, task: Task, _: bool) -> Result<(), Task> {
        Err(task)
    }

    fn await_values(&self, values: &[AnyRef]) -> Result<(), WouldDeadlock> {
        self.inner.await_values(values)
    }

    fn quiesce(&self) -> Result<(), WouldDeadlock> {
        self.inner.quiesce()
    }

    fn parallelism_level(&self) -> usize {
        2
    }

    fn is_in_worker_thread(&self) -> bool {
        self.inner.is_in_worker_thread()
    }
}

#[test]
fn calls_that_a_queue_loses_are_errors() {
    for num_kept in 0..8 {
        let queue = Losing {
            inner: create_queue("s").unwrap(),
            num_kept: num_kept.into(),
        };
        let host = HostContext::builder().queue(Arc::new(queue)).build();
        let ctx = ExecutionContext::new(RequestContextBuilder::new(host).build());
        let tuned = range(20).parallel_map(|x: i64| x, -1).unwrap();
        let mut iterator = tuned.iterator();
        let drawn: Vec<_> = (0..10).map(|_| iterator.draw(&ctx)).collect();
        ctx.host().quiesce().unwrap();
        let is_known = drawn.iter().all(IterationResult::is_known);
        assert!(is_known, "{num_kept} kept: {drawn:?}");
    }
}

#[test]
fn closures_run_side_by_side() {
    let ctx = context("mstd:2");
    let (sender, receiver) = mpsc::channel();
    let receiver = Mutex::new(receiver);
    let meet = move |x: i64| match x {
        // The first call waits for the second.
        0 => receiver
            .lock()
            .unwrap()
            .recv_timeout(Duration::from_secs(60))
            .is_ok(),
        _ => sender.send(()).is_ok(),
    };
    let both = range(2).parallel_map(meet, 2).unwrap();
    let found: Vec<bool> = both.elements(&ctx).collect::<Result<_, Error>>().unwrap();
    assert_eq!(found, [true, true]);
}

#[test]
fn results_come_as_they_are_done_if_the_order_is_not_kept() {
    let ctx = context("s");
    let begun = Begun::default();
    let unordered = range(4).parallel_map_with(function(&begun), &[], 3_i64, false);
    let mut iterator = unordered.unwrap().iterator();
    let drawn: Vec<_> = (0..5).map(|_| iterator.draw(&ctx)).collect();
    ctx.host().quiesce().unwrap();
    for number in [2, 1, 3, 0] {
        end(&begun, number);
        ctx.host().quiesce().unwrap();
    }
    let found: Vec<_> = drawn.into_iter().map(number).collect();
    assert_eq!(found, [Some(2), Some(1), Some(3), Some(0), None]);
}

#[test]
fn a_pipeline_in_any_order_has_no_stage_that_keeps_it() {
    let ctx = context("s");
    let begun = Begun::default();
    let mapped = range(4).parallel_map_with(function(&begun), &[], 3_i64, true);
    let skipped = mapped.unwrap().skip(0).unwrap();
    let mut iterator = skipped.in_any_order().unwrap().iterator();
    let drawn: Vec<_> = (0..5).map(|_| iterator.draw(&ctx)).collect();
    ctx.host().quiesce().unwrap();
    for number in [2, 1, 3, 0] {
        end(&begun, number);
        ctx.host().quiesce().unwrap();
    }
    let found: Vec<_> = drawn.into_iter().map(number).collect();
    assert_eq!(found, [Some(2), Some(1), Some(3), Some(0), None]);
}

#[test]
fn a_checkpoint_in_any_order_has_the_elements_of_a_shuffle() {
    let ctx = context("s");
    let shuffled = range(2000)
        .prefetch(1)
        .unwrap()
        .shuffle(1000, 1, 2)
        .unwrap();
    let saved_after = |dataset: &Dataset, num_drawn: usize| {
        let mut elements = dataset.elements::<i64, _>(&ctx);
        let drawn: Vec<i64> = elements
            .by_ref()
            .take(num_drawn)
            .map(Result::unwrap)
            .collect();
        (drawn, elements.save().unwrap())
    };
    // Two numbers in place of the elements, since they come in the same order again.
    let (_, in_order) = saved_after(&shuffled, 10);
    assert!(in_order.len() < 1000, "{}", in_order.len());

    let any_order = shuffled.in_any_order().unwrap();
    let (mut found, checkpoint) = saved_after(&any_order, 10);
    assert!(checkpoint.len() > 8 * 990, "{}", checkpoint.len());
    let rest = any_order
        .elements_from::<i64, _>(&checkpoint, &ctx)
        .unwrap();
    found.extend(rest.map(Result::unwrap));
    found.sort_unstable();
    assert_eq!(found, (0..2000).collect::<Vec<_>>());
    let refused = any_order.elements_from::<i64, _>(&in_order, &ctx);
    assert!(
        refused
            .err()
            .unwrap()
            .message()
            .contains("options (deterministic = false)")
    );
}

/// Draws from numbers of which only the first is late, until it is waited for: it must be the one
/// behind `num_before` others.
fn expect_first_behind(num_before: i64, change: impl FnOnce(Dataset) -> Dataset) {
    let ctx = context("s");
    let begun = Begun::default();
    let late = function(&begun);
    let only_first =
        ElementFunction::from_closure(1, 1, move |ctx, values| match values[0].get::<i64>() {
            Some(0) => Ok(late.call(ctx, values)),
            _ => Ok(values.iter().cloned().collect()),
        });
    let unordered = range(2000).parallel_map_with(only_first, &[], 4_i64, false);
    let mut iterator = change(unordered.unwrap()).iterator();
    for expected in 1..=num_before {
        let result = iterator.draw(&ctx);
        ctx.host().quiesce().unwrap();
        assert_eq!(number(result), Some(expected));
    }
    let result = iterator.draw(&ctx);
    ctx.host().quiesce().unwrap();
    assert!(!result.is_known());
    end(&begun, 0);
    assert_eq!(number(result), Some(0));
}

#[test]
fn a_thousand_elements_overtake_another_one_and_no_more() {
    expect_first_behind(1000, |unordered| unordered);
    expect_first_behind(1, |unordered| unordered.with_max_skew(1).unwrap());
    // The outer number counts.
    let twice = |unordered: Dataset| unordered.with_max_skew(7)?.with_max_skew(1500);
    expect_first_behind(1500, |unordered| twice(unordered).unwrap());
    for wrong in [0, -1] {
        let error = range(1).with_max_skew(wrong).unwrap_err();
        assert_eq!(
            error.message(),
            format!("max_skew must be positive, not {wrong}")
        );
    }
}

#[test]
fn sloppy_maps_have_the_same_elements_once_each() {
    for num_parallel in [-1, 1, 2, 7] {
        let ctx = context("mstd:2");
        let halves = |x: i64| match x % 10 {
            3 => Err(Error::new(format!("no half of {x}"))),
            _ => Ok(x / 2),
        };
        let keys = |dataset: &Dataset| {
            let elements = dataset.elements::<i64, _>(&ctx);
            let key = |item: Result<i64, Error>| {
                item.map_err(|error| error.message().replace("parallel_map", "map"))
            };
            let mut keys: Vec<_> = elements.map(key).collect();
            keys.sort();
            keys
        };
        let function = |dataset: &Dataset| dataset.map(halves).unwrap();
        let expected = keys(&function(&range(500)));
        let closure = ElementFunction::from_closure(1, 1, move |_, values| {
            let half = halves(*values[0].get().unwrap())?;
            Ok([AnyRef::available(half)].into_iter().collect())
        });
        let sloppy = range(500).parallel_map_with(closure, &[], num_parallel, false);
        assert_eq!(keys(&sloppy.unwrap()), expected);
    }
}

#[test]
fn calls_that_nobody_waits_for_do_not_begin() {
    let ctx = context("s");
    let num_calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&num_calls);
    let count = move |x: i64| {
        counted.fetch_add(1, Ordering::Relaxed);
        x
    };
    let mut iterator = range(100).parallel_map(count, 4).unwrap().iterator();
    drop(iterator.draw(&ctx));
    ctx.host().quiesce().unwrap();
    assert_eq!(num_calls.load(Ordering::Relaxed), 4);
    // Hands out the next, and queues a call.
    assert!(iterator.draw(&ctx).is_known());
    drop(iterator);
    ctx.host().quiesce().unwrap();
    assert_eq!(num_calls.load(Ordering::Relaxed), 4);
}

#[test]
fn a_cancelled_request_begins_no_calls() {
    let ctx = context("s");
    let num_calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&num_calls);
    let count = move |x: i64| {
        counted.fetch_add(1, Ordering::Relaxed);
        x
    };
    let mut iterator = range(100).parallel_map(count, 4).unwrap().iterator();
    let drawn = iterator.draw(&ctx);
    ctx.request().cancel();
    ctx.host().quiesce().unwrap();
    assert_eq!(num_calls.load(Ordering::Relaxed), 0);
    assert!(matches!(drawn.into_outcome(), Ok(Outcome::Error(_))));
}

#[test]
fn a_tuned_stage_stays_within_its_memory() {
    const LEN: usize = 1 << 16;
    let most_held = |budget: u64| {
        let ctx = context("mstd:8");
        let options = PipelineOptions::default().with_ram_budget(budget);
        options.install(ctx.host());
        // What was made, and not handed out.
        let held = Arc::new(AtomicUsize::new(0));
        let most = Arc::new(AtomicUsize::new(0));
        let (counted, highest) = (Arc::clone(&held), Arc::clone(&most));
        let make = move |x: i64| -> Result<DenseHostTensor, Error> {
            let now = counted.fetch_add(1, Ordering::Relaxed) + 1;
            highest.fetch_max(now, Ordering::Relaxed);
            Ok(DenseHostTensor::vector(&vec![x; LEN / 8])?)
        };
        let dataset = range(400).parallel_map(make, -1).unwrap();
        let mut num_found = 0;
        for tensor in dataset.elements::<DenseHostTensor, _>(&ctx) {
            drop(tensor.unwrap());
            held.fetch_sub(1, Ordering::Relaxed);
            num_found += 1;
        }
        assert_eq!(num_found, 400);
        most.load(Ordering::Relaxed)
    };
    // One is handed out, and counted for a moment longer.
    assert!(most_held(4 * LEN as u64) <= 4 + 1);
    assert!(most_held(1) <= 2);
    assert!(most_held(1 << 30) > 5);
}

#[test]
fn numbers_of_calls_are_checked() {
    for num_parallel in [0, -2, (1 << 20) + 1] {
        let error = range(1).parallel_map(|x: i64| x, num_parallel).unwrap_err();
        let expected =
            format!("num_parallel must be -1 or between 1 and 1048576, not {num_parallel}");
        assert_eq!(error.message(), expected);
    }
}
