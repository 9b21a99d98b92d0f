//! Functions with a state that they declare, and what passes deliver.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use tfrt_async::AnyRef;
use tfrt_data::{Dataset, ElementFunction, IterationResult, Outcome, Values};
use tfrt_host::{ExecutionContext, HostContext, RequestContextBuilder};
use tfrt_queue::create_queue;
use tfrt_support::Error;

pub(crate) fn context(queue: &str) -> ExecutionContext {
    let host = HostContext::builder()
        .queue(create_queue(queue).unwrap())
        .diagnostic_handler(|_| ())
        .build();
    ExecutionContext::new(RequestContextBuilder::new(host).build())
}

pub(crate) fn range(stop: i64) -> Dataset {
    Dataset::range(0, stop, 1).unwrap()
}

pub(crate) fn one(value: AnyRef) -> Values {
    [value].into_iter().collect()
}

pub(crate) type Count = Arc<AtomicI64>;

/// A function of an element and of how often it was called. Its results are late, and it counts
/// only when it makes them.
pub(crate) fn counting(count: &Count, f: fn(i64, i64) -> AnyRef) -> ElementFunction {
    counting_of(count, 1, move |values, before| {
        f(
            *values[0].get::<i64>().expect("elements are numbers"),
            before,
        )
    })
}

/// The same, of so many values.
pub(crate) fn counting_of(
    count: &Count,
    num_values: usize,
    f: impl Fn(&[AnyRef], i64) -> AnyRef + Send + Sync + 'static,
) -> ElementFunction {
    let (of_call, f) = (Arc::clone(count), Arc::new(f));
    let function = move |ctx: &ExecutionContext, values: &[AnyRef]| {
        let (promise, later) = AnyRef::indirect();
        let (count, f, values) = (Arc::clone(&of_call), Arc::clone(&f), values.to_vec());
        let task_ctx = ctx.clone();
        ctx.enqueue(move || {
            let before = count.load(Ordering::Relaxed);
            task_ctx.enqueue(move || {
                count.store(before + 1, Ordering::Relaxed);
                promise.forward_to(f(&values, before));
            });
        });
        Ok(one(later))
    };
    let function = ElementFunction::from_named_closure("counting", num_values, 1, function);
    function.with_state(late_save(count), late_restore(count))
}

/// A function that returns the count, later.
pub(crate) fn late_save(count: &Count) -> ElementFunction {
    let count = Arc::clone(count);
    ElementFunction::from_named_closure("save", 0, 1, move |ctx, _| {
        let (promise, later) = AnyRef::indirect();
        let count = Arc::clone(&count);
        ctx.enqueue(move || {
            promise.forward_to(AnyRef::available(count.load(Ordering::Relaxed)));
        });
        Ok(one(later))
    })
}

/// A function that sets the count, later.
pub(crate) fn late_restore(count: &Count) -> ElementFunction {
    let count = Arc::clone(count);
    ElementFunction::from_named_closure("restore", 1, 1, move |ctx, values| {
        let number = *values[0].get::<i64>().expect("the state is a number");
        let (promise, later) = AnyRef::indirect();
        let count = Arc::clone(&count);
        ctx.enqueue(move || {
            count.store(number, Ordering::Relaxed);
            promise.forward_to(AnyRef::ready_chain());
        });
        Ok(one(later))
    })
}

pub(crate) fn numbered(number: i64, count: i64) -> AnyRef {
    AnyRef::available(1000 * number + count)
}

pub(crate) fn is_accepted(number: i64, count: i64) -> AnyRef {
    AnyRef::available((number + count) % 3 != 1)
}

/// Numbers that are late.
pub(crate) fn late_range(stop: i64) -> Dataset {
    let late = ElementFunction::from_named_closure("late", 1, 1, |ctx, values| {
        let (promise, later) = AnyRef::indirect();
        let value = values[0].clone();
        ctx.enqueue(move || promise.forward_to(value));
        Ok(one(later))
    });
    range(stop).map_with(late, &[]).unwrap()
}

/// A pipeline whose function has this state.
pub(crate) type Pipeline = fn(&Count) -> Dataset;

pub(crate) fn elements(dataset: &Dataset, ctx: &ExecutionContext) -> Vec<i64> {
    let elements = dataset.elements::<i64, _>(ctx);
    elements.collect::<Result<_, Error>>().unwrap()
}

/// Waits for a result. Returns the number that it is, unless it is the end.
pub(crate) fn number_of(result: IterationResult, ctx: &ExecutionContext) -> Option<i64> {
    let outcome = result.into_outcome().unwrap_or_else(|pending| {
        let awaited = [pending.as_any().clone()];
        ctx.host().await_available(&awaited).unwrap();
        Outcome::of_available(&pending)
    });
    let Outcome::Element(values) = outcome else {
        assert!(outcome.is_end());
        return None;
    };
    ctx.host().await_available(&values).unwrap();
    values[0].get::<i64>().copied()
}

/// Saves a pass of each pipeline at every position, and restores it with another state. Passes that
/// have drawn so many elements have a stage with a state if `has_stage` says so.
pub(crate) fn check_every_position(
    pipelines: &[(&str, Pipeline)],
    has_stage: fn(&str, usize) -> bool,
) {
    for queue in ["s", "mstd:3"] {
        for (name, pipeline) in pipelines {
            let ctx = context(queue);
            let all = elements(&pipeline(&Count::default()), &ctx);
            assert!(!all.is_empty());
            for position in 0..=all.len() {
                let count = Count::default();
                let mut pass = pipeline(&count).elements::<i64, _>(&ctx);
                let first: Vec<i64> = pass.by_ref().take(position).map(Result::unwrap).collect();
                let at = format!("{name} on {queue}, at {position}");
                assert_eq!(first, all[..position], "{at}");
                let checkpoint = pass.save().unwrap();
                // The pass that was saved is not disturbed.
                let rest: Vec<i64> = pass.map(Result::unwrap).collect();
                assert_eq!(rest, all[position..], "{at}");
                // Another process has another state, which the restore replaces.
                let has_state = has_stage(name, position);
                let count = Count::new(AtomicI64::new(if has_state { 77 } else { 0 }));
                let restored = pipeline(&count).elements_from::<i64, _>(&checkpoint, &ctx);
                let rest: Vec<i64> = restored.unwrap().map(Result::unwrap).collect();
                assert_eq!(rest, all[position..], "{at}");
            }
        }
    }
}
