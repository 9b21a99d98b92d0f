//! Functions of elements.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use tfrt_async::{AnyRef, AsyncValueRef};
use tfrt_data::{ElementFunction, Saving, WorkAhead};
use tfrt_support::Error;

use crate::support::{
    Count, Pipeline, check_every_position, context, counting, elements, is_accepted, late_range,
    numbered, one, range,
};

fn is_early(number: i64, count: i64) -> AnyRef {
    AnyRef::available(number < 6 || count < 3)
}

/// Pipelines over a state of their own.
const PIPELINES: &[(&str, Pipeline)] = &[
    ("map", |count| {
        let mapped = range(9).map(counting(count, numbered)).unwrap();
        mapped.prefetch(3).unwrap()
    }),
    ("map of late elements, in passes", |count| {
        let mapped = late_range(3).map(counting(count, numbered)).unwrap();
        mapped.prefetch(2).unwrap().repeat(3).unwrap()
    }),
    ("map of elements whose outcome is late", |count| {
        let odd = late_range(12).filter(|x: i64| x % 2 == 1).unwrap();
        let mapped = odd.map(counting(count, numbered)).unwrap();
        mapped.prefetch(4).unwrap()
    }),
    ("parallel map", |count| {
        let mapped = late_range(9).parallel_map(counting(count, numbered), 4);
        mapped.unwrap().prefetch(2).unwrap()
    }),
    ("tuned parallel map below a shuffle", |count| {
        let function = counting(count, numbered);
        let mapped = range(9).parallel_map_with(function, &[], WorkAhead::tuned(3), true);
        mapped.unwrap().shuffle(4, 1, 2).unwrap()
    }),
    ("map and batch", |count| {
        let batches = late_range(9).map_and_batch(counting(count, numbered), 2);
        batches.unwrap().unbatch().unwrap().prefetch(3).unwrap()
    }),
    ("map and batch with few results under way", |count| {
        let function = counting(count, numbered);
        let batches = range(9).map_and_batch_with(function, &[], 4, Some(2), false);
        batches.unwrap().prefetch(2).unwrap().unbatch().unwrap()
    }),
    ("filter", |count| {
        let some = late_range(12).filter(counting(count, is_accepted)).unwrap();
        some.prefetch(3).unwrap()
    }),
    ("take while", |count| {
        let first = late_range(12).take_while(counting(count, is_early));
        first.unwrap().prefetch(3).unwrap()
    }),
    ("skipped elements", |count| {
        let mapped = range(9).map(counting(count, numbered)).unwrap();
        mapped.skip(3).unwrap().prefetch(1).unwrap()
    }),
];

#[test]
fn a_pass_goes_on_with_its_state_from_every_position() {
    check_every_position(PIPELINES, |_, _| true);
}

#[test]
fn passes_continue_with_the_state() {
    let ctx = context("mstd:3");
    let mapped = range(3).map(counting(&Count::default(), numbered)).unwrap();
    let passes = mapped.prefetch(7).unwrap().repeat(2).unwrap();
    assert_eq!(elements(&passes, &ctx), [0, 1001, 2002, 3, 1004, 2005]);
}

#[test]
fn a_save_waits_for_the_calls_before_it() {
    let ctx = context("s");
    let results: [_; 2] = std::array::from_fn(|_| AsyncValueRef::<i64>::unconstructed());
    let (promises, results): (Vec<_>, Vec<_>) = results.into_iter().unzip();
    let state = Count::default();
    let (of_calls, saved, restored) = (state.clone(), state.clone(), state.clone());
    let answer = ElementFunction::from_closure(1, 1, move |_, _| {
        let call = of_calls.fetch_add(1, Ordering::Relaxed);
        Ok(one(results[call as usize].clone().into_any()))
    });
    let answer = answer.with_state(
        move || saved.load(Ordering::Relaxed),
        move |count: i64| restored.store(count, Ordering::Relaxed),
    );
    let mut iterator = range(2).map(answer).unwrap().iterator();
    let drawn = [iterator.draw(&ctx), iterator.draw(&ctx)];
    assert_eq!(state.load(Ordering::Relaxed), 1, "calls do not overlap");
    for promise in promises {
        // An element that was drawn may have changed the state.
        assert!(matches!(iterator.try_save(&ctx), Ok(Saving::Waiting(_))));
        promise.emplace(5);
    }
    assert_eq!(state.load(Ordering::Relaxed), 2);
    assert!(matches!(iterator.try_save(&ctx), Ok(Saving::Saved(_))));
    drop(drawn);
}

#[test]
fn ends_and_failed_draws_do_not_change_the_state() {
    let ctx = context("s");
    let count = Count::default();
    let inverse = |x: i64| match x {
        1 => Err(Error::new("no inverse")),
        x => Ok(x),
    };
    let failing = range(3).map(inverse).unwrap();
    // An error in place of a value is an element, for which a closure is not called.
    let counted = failing.map(counting(&count, numbered)).unwrap();
    let mut iterator = counted.iterator();
    for _ in 0..9 {
        drop(iterator.draw(&ctx));
    }
    drop(iterator.save(&ctx).unwrap());
    assert_eq!(count.load(Ordering::Relaxed), 2);
}

#[test]
fn a_map_with_a_state_does_not_seek() {
    let numbers = range(3);
    assert!(numbers.map(|x: i64| x).unwrap().is_seekable());
    let counted = numbers.map(counting(&Count::default(), numbered));
    assert!(!counted.unwrap().is_seekable());
}

/// A deep chain of turns must not use the stack.
#[test]
fn many_calls_may_wait_for_their_turn() {
    let ctx = context("mstd:3");
    const LEN: i64 = 100_000;
    let state = Arc::new(Mutex::new(0_i64));
    let (of_calls, saved, restored) = (state.clone(), state.clone(), state.clone());
    let (promise, first) = AsyncValueRef::<i64>::unconstructed();
    let first = first.into_any();
    let function = ElementFunction::from_closure(1, 1, move |_, values| {
        *of_calls.lock().unwrap() += 1;
        Ok(one(match values[0].get::<i64>() {
            Some(0) => first.clone(),
            _ => values[0].clone(),
        }))
    });
    let function = function.with_state(
        move || *saved.lock().unwrap(),
        move |count: i64| *restored.lock().unwrap() = count,
    );
    let mut iterator = range(LEN).map(function).unwrap().iterator();
    let drawn: Vec<_> = (0..LEN).map(|_| iterator.draw(&ctx)).collect();
    assert_eq!(*state.lock().unwrap(), 1);
    promise.emplace(0);
    drop(iterator.save(&ctx).unwrap());
    assert_eq!(*state.lock().unwrap(), LEN);
    drop(drawn);
}
