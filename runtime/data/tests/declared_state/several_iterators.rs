//! Checkpoints of states that several iterators share.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use tfrt_async::{AnyRef, IndirectPromise};
use tfrt_data::{Dataset, ElementFunction, Saving};

use crate::support::{
    Count, Pipeline, context, counting, elements, is_accepted, late_restore, number_of, numbered,
    one, range,
};

/// Several iterators call a function, and each of them writes its state.
#[test]
fn the_last_of_many_checkpoints_of_a_pass_has_the_last_state() {
    let pipelines: [(&str, Pipeline); 3] = [
        ("one inner dataset after the other", |count| {
            let function = counting(count, numbered);
            let inner = move |x: i64| Dataset::range(x, x + 3, 1)?.map(function.clone());
            range(4).flat_map(inner).unwrap()
        }),
        ("inner datasets in turns", |count| {
            let function = counting(count, numbered);
            let inner = move |x: i64| Dataset::range(x, x + 3, 1)?.map(function.clone());
            range(4).interleave(inner, 2, 1).unwrap()
        }),
        ("the same dataset twice", |count| {
            let mapped = range(3).map(counting(count, numbered)).unwrap();
            Dataset::concatenate(&[mapped.clone(), mapped]).unwrap()
        }),
    ];
    for queue in ["s", "mstd:3"] {
        for (name, pipeline) in &pipelines {
            let ctx = context(queue);
            let all = elements(&pipeline(&Count::default()), &ctx);
            let mut pass = pipeline(&Count::default()).elements::<i64, _>(&ctx);
            for position in 0..=all.len() {
                let checkpoint = pass.save().unwrap();
                let restored = pipeline(&Count::default()).elements_from(&checkpoint, &ctx);
                let rest: Vec<i64> = restored.unwrap().map(Result::unwrap).collect();
                assert_eq!(rest, all[position..], "{name} on {queue}, at {position}");
                assert_eq!(pass.next().map(Result::unwrap), all.get(position).copied());
            }
        }
    }
}

/// An iterator that was not drawn from since the last save writes its state anew.
#[test]
fn a_second_checkpoint_has_the_calls_of_all_inner_iterators() {
    let ctx = context("s");
    let pipeline = |count: &Count| {
        let function = counting(count, is_accepted);
        let inner = move |x: i64| Dataset::range(x, x + 9, 1)?.filter(function.clone());
        range(4).interleave(inner, 2, 3).unwrap()
    };
    for position in 0..20 {
        let mut pass = pipeline(&Count::default()).elements::<i64, _>(&ctx);
        pass.by_ref().take(position).for_each(drop);
        drop(pass.save().unwrap());
        pass.by_ref().take(1).for_each(drop);
        let checkpoint = pass.save().unwrap();
        let restored = pipeline(&Count::default()).elements_from::<i64, _>(&checkpoint, &ctx);
        let found: Vec<i64> = restored.unwrap().map(Result::unwrap).collect();
        // Saves change how far the interleave draws ahead, and so the order of the calls.
        let expected: Vec<i64> = pass.map(Result::unwrap).collect();
        assert_eq!(found, expected, "at {position}");
    }
}

#[test]
fn a_checkpoint_has_the_calls_of_other_iterators_of_the_dataset() {
    let ctx = context("s");
    let pipeline = |count: &Count| range(5).map(counting(count, numbered)).unwrap();
    let mapped = pipeline(&Count::default());
    let [mut first, mut second] = [(); 2].map(|()| mapped.elements::<i64, _>(&ctx));
    assert_eq!(first.next().unwrap().unwrap(), 0);
    drop(first.save().unwrap());
    assert_eq!(second.next().unwrap().unwrap(), 1);
    assert_eq!(second.next().unwrap().unwrap(), 1002);
    let checkpoint = first.save().unwrap();
    let restored = pipeline(&Count::default()).elements_from::<i64, _>(&checkpoint, &ctx);
    assert_eq!(restored.unwrap().next().unwrap().unwrap(), 1003);
}

/// A late `save` is not called again for the calls of other consumers' iterators, which may never
/// rest.
#[test]
fn a_late_save_ends_while_other_iterators_draw() {
    let ctx = context("s");
    let num_saves = Count::default();
    let pipeline = |count: &Count| {
        let (saved, num_saves) = (Arc::clone(count), Arc::clone(&num_saves));
        let save = ElementFunction::from_named_closure("save", 0, 1, move |ctx, _| {
            num_saves.fetch_add(1, Ordering::Relaxed);
            let (promise, later) = AnyRef::indirect();
            let count = Arc::clone(&saved);
            ctx.enqueue(move || {
                promise.forward_to(AnyRef::available(count.load(Ordering::Relaxed)));
            });
            Ok(one(later))
        });
        let (restore, count) = (late_restore(count), Arc::clone(count));
        let function = ElementFunction::from_named_closure("count", 1, 1, move |_, values| {
            let &number = values[0].get::<i64>().expect("elements are numbers");
            let before = count.fetch_add(1, Ordering::Relaxed);
            Ok(one(numbered(number, before)))
        });
        range(9).map(function.with_state(save, restore)).unwrap()
    };
    let mapped = pipeline(&Count::default());
    let [mut first, mut second] = [(); 2].map(|()| mapped.iterator());
    for _ in 0..2 {
        assert!(number_of(first.draw(&ctx), &ctx).is_some());
    }
    let mut busy = |number: i64| {
        let drawn = number_of(second.draw(&ctx), &ctx);
        assert_eq!(drawn, Some(1000 * number + 2 + number));
    };
    assert!(matches!(first.try_save(&ctx), Ok(Saving::Waiting(_))));
    busy(0);
    ctx.host().quiesce().unwrap();
    busy(1);
    let Ok(Saving::Saved(checkpoint)) = first.try_save(&ctx) else {
        panic!("what was waited for is available");
    };
    assert_eq!(num_saves.load(Ordering::Relaxed), 1);
    let restored = pipeline(&Count::default()).restore(&checkpoint, &ctx);
    assert_eq!(number_of(restored.unwrap().draw(&ctx), &ctx), Some(2002));

    // The iterator's own calls are part of its checkpoint, and so is what the others did before.
    assert!(matches!(first.try_save(&ctx), Ok(Saving::Waiting(_))));
    assert_eq!(number_of(first.draw(&ctx), &ctx), Some(2004));
    ctx.host().quiesce().unwrap();
    assert!(matches!(first.try_save(&ctx), Ok(Saving::Waiting(_))));
    let checkpoint = first.save(&ctx).unwrap();
    let restored = pipeline(&Count::default()).restore(&checkpoint, &ctx);
    assert_eq!(number_of(restored.unwrap().draw(&ctx), &ctx), Some(3005));
}

/// The inner datasets that are made later, by number, while there are such datasets.
type Late = Arc<Mutex<Option<Vec<(i64, IndirectPromise)>>>>;

/// Inner datasets in turns, whose functions share a state. Returns the function that makes the
/// inner datasets, too.
fn late_turns(
    count: &Count,
    late: &Late,
    is_late: fn(i64) -> bool,
) -> (Dataset, impl Fn(i64) -> AnyRef + use<>) {
    let function = counting(count, numbered);
    let make = move |x: i64| {
        let numbers = Dataset::range(10 * x, 10 * x + 1 + x % 3, 1).unwrap();
        AnyRef::available(numbers.map(function.clone()).unwrap())
    };
    let (of_element, late) = (make.clone(), Arc::clone(late));
    let inner = ElementFunction::from_named_closure("inner", 1, 1, move |_, values| {
        let x = *values[0].get::<i64>().expect("elements are numbers");
        Ok(one(match &mut *late.lock().unwrap() {
            Some(late) if is_late(x) => {
                let (promise, dataset) = AnyRef::indirect();
                late.push((x, promise));
                dataset
            }
            _ => of_element(x),
        }))
    });
    (range(7).interleave_with(inner, 2, 1).unwrap(), make)
}

#[test]
fn an_iterator_that_opens_late_does_not_undo_calls() {
    for is_late in [|x| x % 2 == 1, |x| x % 2 == 0, |_| true] {
        let (ctx, late) = (context("s"), Late::default());
        let (turns, _) = late_turns(&Count::default(), &late, is_late);
        let all = elements(&turns, &ctx);
        assert_eq!(all.len(), 13);
        for position in 0..=all.len() {
            let (turns, _) = late_turns(&Count::default(), &late, is_late);
            let mut pass = turns.elements::<i64, _>(&ctx);
            pass.by_ref().take(position).for_each(drop);
            let checkpoint = pass.save().unwrap();

            *late.lock().unwrap() = Some(Vec::new());
            let (turns, make) = late_turns(&Count::default(), &late, is_late);
            let mut iterator = turns.restore(&checkpoint, &ctx).unwrap();
            let opened = late.lock().unwrap().take().unwrap();
            let mut results = vec![iterator.draw(&ctx)];
            for (x, promise) in opened.into_iter().rev() {
                promise.forward_to(make(x));
            }
            results.extend((position..all.len()).map(|_| iterator.draw(&ctx)));
            let rest = results
                .into_iter()
                .map_while(|result| number_of(result, &ctx));
            assert_eq!(rest.collect::<Vec<_>>(), all[position..], "at {position}");
        }
    }
}
