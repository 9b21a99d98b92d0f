//! Functions that make datasets, and functions in the datasets that they make.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use tfrt_async::AnyRef;
use tfrt_data::{Dataset, ElementFunction, IntoElementFunction, Outcome};
use tfrt_support::Error;

use crate::support::{
    Count, Pipeline, check_every_position, context, counting, counting_of, late_range, numbered,
    one, range,
};

/// A dataset that depends on the count in all that it is.
fn opened(number: i64, count: i64) -> AnyRef {
    let start = 1000 * number + 10 * count;
    AnyRef::available(Dataset::range(start, start + 1 + count % 3, 1).unwrap())
}

fn parity(number: i64, count: i64) -> AnyRef {
    AnyRef::available((number + count / 2) % 2)
}

/// A function that makes a dataset of a key and a window.
fn reducing(count: &Count) -> ElementFunction {
    counting_of(count, 2, |values, before| {
        let (key, window) = (values[0].get::<i64>(), values[1].get::<Dataset>());
        let plus = 1000 * key.unwrap() + 100 * before;
        AnyRef::available(window.unwrap().map(move |x: i64| x + plus).unwrap())
    })
}

/// Pipelines over a state of their own.
const PIPELINES: &[(&str, Pipeline)] = &[
    ("interleave", |count| {
        let turns = late_range(6).interleave(counting(count, opened), 2, 1);
        // The dataset of the last call of a pass is at the first position of the cycle.
        turns.unwrap().prefetch(2).unwrap().repeat(2).unwrap()
    }),
    (
        "interleave of elements whose outcome is late, in passes",
        |count| {
            let odd = late_range(9).filter(|x: i64| x % 2 == 1).unwrap();
            let turns = odd.interleave(counting(count, opened), 1, 2).unwrap();
            turns.repeat(2).unwrap()
        },
    ),
    ("group by window, with a counting key", |count| {
        let reduce = |key: i64, window: Dataset| window.map(move |x: i64| 1000 * key + x);
        let groups = late_range(11).group_by_window(counting(count, parity), reduce, 3);
        groups.unwrap().prefetch(2).unwrap()
    }),
    ("group by window, with a counting reduce", |count| {
        let groups = late_range(11).group_by_window(|x: i64| x % 3, reducing(count), 2);
        groups.unwrap().prefetch(3).unwrap()
    }),
    ("group by window, with one state for both", |count| {
        let key = counting(count, parity);
        let reduce = reducing(count).with_state_of(&key);
        let groups = range(11).group_by_window_with(key, reduce, 3).unwrap();
        groups.prefetch(1).unwrap()
    }),
    ("rejection resample", |count| {
        let (target, initial) = ([0.5, 0.5], [0.3, 0.7]);
        let class = counting(count, parity);
        let fair = late_range(14).rejection_resample(class, &target, Some(&initial), 1, 2);
        let fair = fair.unwrap().map(|class: i64, x: i64| 100 * class + x);
        fair.unwrap().prefetch(2).unwrap()
    }),
    ("inner datasets of inner datasets", |count| {
        let function = counting(count, opened);
        let inner = move |x: i64| Dataset::range(x, x + 3, 1)?.interleave(function.clone(), 2, 1);
        range(3)
            .interleave(inner, 2, 1)
            .unwrap()
            .prefetch(1)
            .unwrap()
    }),
    ("inner datasets", |count| {
        let function = counting(count, numbered);
        let inner = move |x: i64| Dataset::range(x, x + 3, 1)?.map(function.clone());
        range(4).flat_map(inner).unwrap().prefetch(3).unwrap()
    }),
];

#[test]
fn a_pass_goes_on_with_its_state_from_every_position() {
    check_every_position(PIPELINES, |name, position| {
        // A stage of an inner dataset does not exist before the first draw, and saves no state.
        !name.starts_with("inner datasets") || position > 0
    });
}

/// A request that was cancelled leaves an element whose key or class is known since: a checkpoint
/// has both, since another call would be one too many.
#[test]
fn an_answer_that_came_too_late_is_saved() {
    type Stage = fn(ElementFunction) -> Dataset;
    let stages: [(&str, Stage); 2] = [
        ("group by window", |key| {
            let reduce = (|_: i64, window: Dataset| window).into_element_function();
            range(4).group_by_window_with(key, reduce, 2).unwrap()
        }),
        ("rejection resample", |class| {
            let all = range(4).rejection_resample(class, &[1.0, 1.0], Some(&[1.0, 1.0]), 1, 2);
            all.unwrap().map(|_: i64, x: i64| x).unwrap()
        }),
    ];
    for (name, stage) in stages {
        let held = Arc::new(Mutex::new(None));
        let function = |count: &Count| {
            let (of_calls, held) = (Arc::clone(count), Arc::clone(&held));
            let function = ElementFunction::from_named_closure("held", 1, 1, move |_, _| {
                let call = of_calls.fetch_add(1, Ordering::Relaxed);
                let (promise, answer) = AnyRef::indirect();
                if call == 0 {
                    *held.lock().unwrap() = Some(promise);
                } else {
                    promise.forward_to(AnyRef::available(call % 2));
                }
                Ok(one(answer))
            });
            let (saved, restored) = (Arc::clone(count), Arc::clone(count));
            function.with_state(
                move || saved.load(Ordering::Relaxed),
                move |count: i64| restored.store(count, Ordering::Relaxed),
            )
        };
        let (cancelled, ctx) = (context("s"), context("s"));
        let mut iterator = stage(function(&Count::default())).iterator();
        let result = iterator.draw(&cancelled);
        cancelled.request().cancel();
        let promise = held.lock().unwrap().take().unwrap();
        promise.forward_to(AnyRef::available(0_i64));
        assert!(
            matches!(result.into_outcome(), Ok(Outcome::Error(_))),
            "{name}"
        );
        let checkpoint = iterator.save(&ctx).unwrap();

        let count = Count::default();
        let rest = stage(function(&count)).elements_from::<i64, _>(&checkpoint, &ctx);
        let mut rest: Vec<i64> = rest.unwrap().map(Result::unwrap).collect();
        rest.sort_unstable();
        assert_eq!(rest, [0, 1, 2, 3], "{name}");
        assert_eq!(count.load(Ordering::Relaxed), 4, "{name}");
    }
}

/// The state before a call is part of a checkpoint for as long as its dataset is open.
#[test]
fn a_state_that_cannot_be_saved_before_an_opening_fails_the_checkpoint() {
    let ctx = context("s");
    let num_saves = Count::default();
    let save = {
        let num_saves = Arc::clone(&num_saves);
        move || match num_saves.fetch_add(1, Ordering::Relaxed) {
            0 => Err(Error::new("the table is locked")),
            number => Ok(number),
        }
    };
    let inner = |x: i64| Dataset::range(10 * x, 10 * x + 2, 1);
    let function = inner.into_element_function().with_state(save, |_: i64| ());
    let turns = range(4).flat_map(function).unwrap();
    let mut pass = turns.elements::<i64, _>(&ctx);
    assert_eq!(pass.next().unwrap().unwrap(), 0);
    let error = pass.save().unwrap_err();
    let text = error.message();
    assert!(
        text.starts_with("the state of the function ")
            && text.ends_with(" of `interleave` cannot be saved: the table is locked"),
        "{text}"
    );
    // Elements do not depend on it, and later datasets can be saved.
    assert_eq!(
        pass.by_ref()
            .take(2)
            .map(Result::unwrap)
            .collect::<Vec<_>>(),
        [1, 10]
    );
    let checkpoint = pass.save().unwrap();
    let rest = turns.elements_from::<i64, _>(&checkpoint, &ctx).unwrap();
    assert_eq!(
        rest.map(Result::unwrap).collect::<Vec<_>>(),
        [11, 20, 21, 30, 31]
    );
}
