//! Iterators that are dropped while results are outstanding: what nobody can see is not looked for,
//! and what somebody holds is delivered.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use tfrt_async::{AnyRef, AsyncValueRef, IndirectPromise};
use tfrt_data::{BatchComponent, Dataset, ElementFunction, IterationResult, Outcome};
use tfrt_host::{ExecutionContext, HostContext, RequestContextBuilder};
use tfrt_queue::create_queue;
use tfrt_support::DType;
use tfrt_tensor::DenseHostTensor;

fn context(queue: &str) -> ExecutionContext {
    let queue = create_queue(queue).unwrap();
    let host = HostContext::builder().queue(queue).build();
    ExecutionContext::new(RequestContextBuilder::new(host).build())
}

fn range(stop: i64) -> Dataset {
    Dataset::range(0, stop, 1).unwrap()
}

/// Elements that never come: an endless input, of which nothing is accepted. Counts what is looked
/// at.
fn nothing_for_ever(count: &Arc<AtomicUsize>) -> Dataset {
    let count = Arc::clone(count);
    let refuse = move |_: i64| {
        count.fetch_add(1, Ordering::Relaxed);
        false
    };
    range(3).repeat(-1).unwrap().filter(refuse).unwrap()
}

fn number(result: IterationResult) -> Option<i64> {
    match result.into_outcome() {
        Ok(Outcome::Element(values)) => values[0].get().copied(),
        _ => None,
    }
}

#[test]
fn a_dropped_iterator_stops_looking_for_elements() {
    type Above = fn(Dataset) -> Dataset;
    let stages: [(&str, Above); 15] = [
        ("filter", |input| input),
        ("filter of a filter", |input| {
            input.filter(|_: i64| true).unwrap()
        }),
        ("map", |input| input.map(|x: i64| x + 1).unwrap()),
        ("numbered", |input| input.enumerate(0).unwrap()),
        ("interleave", |input| {
            input.map(range).unwrap().flatten(2, 1).unwrap()
        }),
        ("shuffle", |input| input.shuffle(4, 1, 2).unwrap()),
        ("prefetch", |input| input.prefetch(3).unwrap()),
        ("repeat", |input| input.repeat(2).unwrap().take(3).unwrap()),
        ("cache", |input| input.cache().unwrap()),
        ("zip", |input| Dataset::zip(&[range(9), input]).unwrap()),
        ("skip", |input| input.skip(5).unwrap()),
        ("batch", |input| input.batch(3).unwrap()),
        ("batch of known components", |input| {
            let components = [BatchComponent::Scalar(DType::I64)];
            input.batch_with(3, &components, true, false).unwrap()
        }),
        ("map of a batch", |input| {
            let batches = input.batch_with(2, &[BatchComponent::Any], false, false);
            batches
                .unwrap()
                .map(|batch: DenseHostTensor| batch)
                .unwrap()
        }),
        ("unique", |input| input.unique().unwrap()),
    ];
    for queue in ["s", "mstd:2,1"] {
        for (name, above) in stages {
            let ctx = context(queue);
            let count = Arc::default();
            let mut iterator = above(nothing_for_ever(&count)).iterator();
            let results = [iterator.draw(&ctx), iterator.draw(&ctx)];
            assert!(!results[0].is_known(), "{name}");
            drop(results);
            drop(iterator);
            // Would not return.
            ctx.host().quiesce().unwrap();
            assert!(count.load(Ordering::Relaxed) > 0, "{name}");
        }
    }
}

/// In which order a consumer goes does not matter.
#[test]
fn a_batch_that_is_dropped_behind_its_iterator_lets_its_elements_go() {
    for queue in ["s", "mstd:2,1"] {
        let ctx = context(queue);
        let count = Arc::default();
        let batches = nothing_for_ever(&count).batch(3).unwrap();
        let mut iterator = batches.iterator();
        let results = [iterator.draw(&ctx), iterator.draw(&ctx)];
        drop(iterator);
        assert!(results.iter().all(|result| !result.is_known()), "{queue}");
        drop(results);
        // Would not return.
        ctx.host().quiesce().unwrap();
        assert!(count.load(Ordering::Relaxed) > 0, "{queue}");
    }
}

/// Elements whose values come when the promises are kept.
fn later(stop: i64) -> (Dataset, Arc<Mutex<Vec<IndirectPromise>>>) {
    let promises: Arc<Mutex<Vec<IndirectPromise>>> = Arc::default();
    let kept = Arc::clone(&promises);
    let function = ElementFunction::from_closure(1, 1, move |_, _| {
        let (promise, value) = AnyRef::indirect();
        kept.lock().unwrap().push(promise);
        Ok([value].into_iter().collect())
    });
    (range(stop).map_with(function, &[]).unwrap(), promises)
}

#[test]
fn values_of_a_batch_are_needed_as_long_as_the_batch_is() {
    let ctx = context("s");
    let components = [BatchComponent::Scalar(DType::I64)];
    for (name, components) in [("known", &components[..]), ("any", &[])] {
        let (dataset, promises) = later(3);
        let batches = dataset.batch_with(3, components, false, false).unwrap();
        let mut iterator = batches.iterator();
        let result = iterator.draw(&ctx);
        let mut promises: Vec<_> = std::mem::take(&mut *promises.lock().unwrap());
        assert!(promises.iter().all(IndirectPromise::has_consumer), "{name}");
        drop((result, iterator));
        while let Some(newest) = promises.pop() {
            assert!(!newest.has_consumer(), "{name}");
        }
    }
}

#[test]
fn values_of_a_batch_may_come_in_any_order() {
    let ctx = context("s");
    let components = [BatchComponent::Scalar(DType::I64)];
    for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0], [0, 2, 1]] {
        for components in [&components[..], &[]] {
            let (dataset, promises) = later(3);
            let batches = dataset.batch_with(3, components, false, false).unwrap();
            let mut iterator = batches.iterator();
            let result = iterator.draw(&ctx);
            let promises: Vec<_> = std::mem::take(&mut *promises.lock().unwrap());
            let mut promises: Vec<_> = promises.into_iter().map(Some).collect();
            for index in order {
                let promise = promises[index].take().unwrap();
                promise.forward_to(AnyRef::available(10 * index as i64));
            }
            let Ok(Outcome::Element(values)) = result.into_outcome() else {
                panic!("expected a batch");
            };
            let batch = values[0].get::<DenseHostTensor>().unwrap();
            assert_eq!(&*batch.elements::<i64>().unwrap(), [0, 10, 20], "{order:?}");
        }
    }
}

#[test]
fn a_result_that_outlives_its_iterator_is_delivered() {
    for queue in ["s", "mstd:2,1"] {
        let ctx = context(queue);
        // Each needs more steps than are made at once.
        let hits = range(2000).filter(|x: i64| x % 450 == 400).unwrap();
        let dataset = hits.filter(|_: i64| true).unwrap();
        let mut iterator = dataset.iterator();
        let mut results: Vec<_> = (0..4).map(|_| iterator.draw(&ctx)).collect();
        assert!(queue != "s" || !results[0].is_known());
        // The third is needed, so those before it are looked for, and the last is not.
        drop((results.remove(3), results.remove(0)));
        drop(iterator);
        ctx.host().quiesce().unwrap();
        let found: Vec<_> = results.into_iter().map(number).collect();
        assert_eq!(found, [Some(850), Some(1300)], "{queue}");
    }
}

#[test]
fn a_result_that_others_are_made_of_is_delivered() {
    type Above = fn(Dataset) -> Dataset;
    let stages: [Above; 4] = [
        |input| input.map(|x: i64| x + 1).unwrap(),
        |input| input.enumerate(900).unwrap(),
        |input| {
            input
                .map(|x: i64| range(x + 2))
                .unwrap()
                .flatten(1, 1)
                .unwrap()
                .skip(901)
                .unwrap()
        },
        |input| {
            Dataset::zip(&[range(9).skip(1).unwrap(), input])
                .unwrap()
                .map(|i: i64, x: i64| i + x)
                .unwrap()
        },
    ];
    for (number_of_stage, above) in stages.into_iter().enumerate() {
        let ctx = context("s");
        let late = range(1000).filter(|x: i64| x == 900).unwrap();
        let mut iterator = above(late).iterator();
        let result = iterator.draw(&ctx);
        drop(iterator);
        assert!(!result.is_known());
        ctx.host().quiesce().unwrap();
        let expected = [901, 900, 901, 901][number_of_stage];
        assert_eq!(number(result), Some(expected), "{number_of_stage}");
    }
}

#[test]
fn what_an_abandoned_stage_waits_for_may_come_later() {
    let ctx = context("s");
    let (promise, verdict) = AsyncValueRef::unconstructed();
    let late = ElementFunction::from_closure(1, 1, move |_, _| {
        Ok([verdict.clone().into_any()].into_iter().collect())
    });
    let dataset = range(9).filter_with(late).unwrap();
    let mut dropped = dataset.iterator();
    drop(dropped.draw(&ctx));
    drop(dropped);
    let mut kept = dataset.iterator();
    let result = kept.draw(&ctx);
    drop(kept);
    promise.emplace(true);
    assert_eq!(number(result), Some(0));
}
