//! Functions with a state that they declare: saved and restored at every position, below stages
//! that draw ahead, on all queues. The state is changed in two steps with other tasks in between,
//! so that calls that overlap would lose counts.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

use tfrt_async::{AnyRef, AsyncValueRef, Immutable, IndirectPromise, Value};
use tfrt_data::{Dataset, ElementFunction, IntoElementFunction, IterationResult, Outcome, Saving};
use tfrt_data::{Values, WorkAhead};
use tfrt_host::{ExecutionContext, HostContext, RequestContextBuilder};
use tfrt_queue::create_queue;
use tfrt_support::{Error, ErrorCode};

fn context(queue: &str) -> ExecutionContext {
    let host = HostContext::builder()
        .queue(create_queue(queue).unwrap())
        .diagnostic_handler(|_| ())
        .build();
    ExecutionContext::new(RequestContextBuilder::new(host).build())
}

fn range(stop: i64) -> Dataset {
    Dataset::range(0, stop, 1).unwrap()
}

fn one(value: AnyRef) -> Values {
    [value].into_iter().collect()
}

type Count = Arc<AtomicI64>;

/// A function of an element and of how often it was called. Its results are late, and it counts
/// only when it makes them.
fn counting(count: &Count, f: fn(i64, i64) -> AnyRef) -> ElementFunction {
    counting_of(count, 1, move |values, before| {
        f(
            *values[0].get::<i64>().expect("elements are numbers"),
            before,
        )
    })
}

/// The same, of so many values.
fn counting_of(
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
fn late_save(count: &Count) -> ElementFunction {
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
fn late_restore(count: &Count) -> ElementFunction {
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

fn numbered(number: i64, count: i64) -> AnyRef {
    AnyRef::available(1000 * number + count)
}

fn is_accepted(number: i64, count: i64) -> AnyRef {
    AnyRef::available((number + count) % 3 != 1)
}

fn is_early(number: i64, count: i64) -> AnyRef {
    AnyRef::available(number < 6 || count < 3)
}

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

/// Numbers that are late.
fn late_range(stop: i64) -> Dataset {
    let late = ElementFunction::from_named_closure("late", 1, 1, |ctx, values| {
        let (promise, later) = AnyRef::indirect();
        let value = values[0].clone();
        ctx.enqueue(move || promise.forward_to(value));
        Ok(one(later))
    });
    range(stop).map_with(late, &[]).unwrap()
}

/// A pipeline whose function has this state.
type Pipeline = fn(&Count) -> Dataset;

/// Pipelines over a state of their own.
fn pipelines() -> Vec<(&'static str, Pipeline)> {
    vec![
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
            let inner =
                move |x: i64| Dataset::range(x, x + 3, 1)?.interleave(function.clone(), 2, 1);
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
        ("skipped elements", |count| {
            let mapped = range(9).map(counting(count, numbered)).unwrap();
            mapped.skip(3).unwrap().prefetch(1).unwrap()
        }),
    ]
}

fn elements(dataset: &Dataset, ctx: &ExecutionContext) -> Vec<i64> {
    let elements = dataset.elements::<i64, _>(ctx);
    elements.collect::<Result<_, Error>>().unwrap()
}

#[test]
fn a_pass_goes_on_with_its_state_from_every_position() {
    for queue in ["s", "mstd:3"] {
        for (name, pipeline) in pipelines() {
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
                // Another process has another state, which the restore replaces. A stage of an
                // inner dataset does not exist before the first draw, and saves no state.
                let has_stage = !name.starts_with("inner datasets") || position > 0;
                let count = Count::new(AtomicI64::new(if has_stage { 77 } else { 0 }));
                let restored = pipeline(&count).elements_from::<i64, _>(&checkpoint, &ctx);
                let rest: Vec<i64> = restored.unwrap().map(Result::unwrap).collect();
                assert_eq!(rest, all[position..], "{at}");
            }
        }
    }
}

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

/// Waits for a result. Returns the number that it is, unless it is the end.
fn number_of(result: IterationResult, ctx: &ExecutionContext) -> Option<i64> {
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

/// A state that no checkpoint knows.
#[derive(Debug, Clone)]
struct Coin(i64);

impl Value for Coin {
    const MLIR_TYPE: &'static str = "!my.coin";
}

impl Immutable for Coin {}

/// A scan, and a generator, that hand a coin from call to call.
fn coins(declares: bool) -> [Dataset; 2] {
    let next = |coin: Coin, x: i64| (Coin(coin.0 + x + 1), coin.0);
    let scan = match declares {
        true => {
            let next = next.with_state(|coin: Coin| coin.0, Coin);
            range(7).scan(Coin(0), next).unwrap()
        }
        false => range(7).scan(Coin(0), next).unwrap(),
    };
    let next = |coin: Coin| (coin.0 < 7, Coin(coin.0 + 1), 10 * coin.0);
    let generated = match declares {
        true => Dataset::generate(Coin(0), next.with_state(|coin: Coin| coin.0, Coin)),
        false => Dataset::generate(Coin(0), next),
    };
    [scan, generated.unwrap()].map(|dataset| dataset.prefetch(2).unwrap())
}

#[test]
fn a_state_that_is_handed_on_is_saved_as_what_the_function_makes_of_it() {
    for queue in ["s", "mstd:3"] {
        let ctx = context(queue);
        for dataset in coins(true) {
            let all = elements(&dataset, &ctx);
            assert_eq!(all.len(), 7);
            for position in 0..=all.len() {
                let mut pass = dataset.elements::<i64, _>(&ctx);
                pass.by_ref().take(position).for_each(drop);
                let checkpoint = pass.save().unwrap();
                let restored = dataset.elements_from::<i64, _>(&checkpoint, &ctx).unwrap();
                let rest: Vec<i64> = restored.map(Result::unwrap).collect();
                assert_eq!(rest, all[position..], "at {position}");
            }
        }
        for dataset in coins(false) {
            let mut pass = dataset.elements::<i64, _>(&ctx);
            pass.next();
            let error = pass.save().unwrap_err();
            assert_eq!(error.code(), ErrorCode::Unimplemented);
            assert_eq!(
                error.message(),
                "a value of type `!my.coin` cannot be written to a checkpoint"
            );
        }
    }
}

/// A draw that is cancelled leaves the results of a call, which the next draw hands out.
#[test]
fn a_generator_is_saved_behind_a_call_that_nobody_has_seen() {
    for has_next in [true, false] {
        let ctx = context("s");
        let (promise, answer) = AsyncValueRef::<bool>::unconstructed();
        let answer = answer.into_any();
        let next = ElementFunction::from_named_closure("next", 1, 3, move |_, values| {
            let &Coin(number) = values[0].get().expect("the state is a coin");
            let has_next = match number {
                0 => answer.clone(),
                number => AnyRef::available(number < 4),
            };
            let (state, element) = (Coin(number + 1), AnyRef::available(number));
            Ok([has_next, AnyRef::available(state), element]
                .into_iter()
                .collect())
        });
        let next = next.with_state(|coin: Coin| coin.0, Coin);
        let init = ElementFunction::from_named_closure("init", 0, 1, |_, _| {
            Ok(one(AnyRef::available(Coin(0))))
        });
        let generated = Dataset::generator_with(init, &[], next, None).unwrap();
        let mut iterator = generated.iterator();
        let request = RequestContextBuilder::new(Arc::clone(ctx.host())).build();
        let cancelled = ExecutionContext::new(request);
        let drawn = iterator.draw(&cancelled);
        cancelled.request().cancel();
        assert!(matches!(iterator.try_save(&ctx), Ok(Saving::Waiting(_))));
        promise.emplace(has_next);
        ctx.host().quiesce().unwrap();
        assert!(matches!(drawn.into_outcome(), Ok(Outcome::Error(_))));

        let checkpoint = iterator.save(&ctx).unwrap();
        let expected: &[i64] = if has_next { &[0, 1, 2, 3] } else { &[] };
        let restored = generated
            .elements_from::<i64, _>(&checkpoint, &ctx)
            .unwrap();
        assert_eq!(restored.collect::<Result<Vec<_>, _>>().unwrap(), expected);
        assert_eq!(
            number_of(iterator.draw(&ctx), &ctx),
            expected.first().copied()
        );
    }
}

#[test]
fn a_save_that_has_failed_is_made_again() {
    let ctx = context("s");
    let function = || ElementFunction::from_named_closure("f", 2, 2, |_, values| Ok(values.into()));
    let ok = |_: &ExecutionContext, values: &[AnyRef]| Ok(values.into());
    let with_save = |save: ElementFunction| {
        let restore = ElementFunction::from_named_closure("restore", 1, 1, ok);
        let map = range(3).map(
            ElementFunction::from_named_closure("f", 1, 1, ok).with_state(
                {
                    let save = save.clone();
                    ElementFunction::from_named_closure("save", 0, 1, move |ctx, _| {
                        Ok(save.call(ctx, &[AnyRef::available(0_i64)]))
                    })
                },
                restore.clone(),
            ),
        );
        let scan = range(3).scan_with(
            &[AnyRef::available(0_i64)],
            function().with_state(save, restore),
        );
        [map.unwrap(), scan.unwrap()]
    };
    let num_calls = Count::default();
    let of_save = Arc::clone(&num_calls);
    let datasets = with_save(ElementFunction::from_named_closure(
        "save",
        1,
        1,
        move |_, _| match of_save.fetch_add(1, Ordering::Relaxed) % 2 {
            0 => Err(Error::new("the table is locked")),
            _ => number(7),
        },
    ));
    for dataset in datasets {
        let mut iterator = dataset.iterator();
        let error = iterator.save(&ctx).unwrap_err();
        assert!(error.message().ends_with("the table is locked"), "{error}");
        let checkpoint = iterator.save(&ctx).unwrap();
        assert_eq!(iterator.save(&ctx).unwrap(), checkpoint);
    }
    assert_eq!(num_calls.load(Ordering::Relaxed), 4);

    // The request of the first save is cancelled, and with it the call.
    let results: [_; 2] = std::array::from_fn(|_| AsyncValueRef::<i64>::unconstructed());
    let (promises, results): (Vec<_>, Vec<_>) = results.into_iter().unzip();
    let results = Mutex::new(results);
    let datasets = with_save(ElementFunction::from_named_closure(
        "save",
        1,
        1,
        move |_, _| match results.lock().unwrap().pop() {
            Some(result) => Ok(one(result.into_any())),
            None => number(7),
        },
    ));
    let mut iterators = datasets.map(|dataset| dataset.iterator());
    for iterator in &mut iterators {
        let request = RequestContextBuilder::new(Arc::clone(ctx.host())).build();
        let cancelled = ExecutionContext::new(request);
        assert!(matches!(
            iterator.try_save(&cancelled),
            Ok(Saving::Waiting(_))
        ));
        cancelled.request().cancel();
    }
    for promise in promises {
        promise.set_error(Error::new("Cancelled"));
    }
    for iterator in &mut iterators {
        drop(iterator.save(&ctx).unwrap());
    }
}

/// A map whose functions have the same names, whatever they do.
fn named(
    save: impl Fn() -> Result<Values, Error> + Send + Sync + 'static,
    restore: impl Fn(&[AnyRef]) -> Result<Values, Error> + Send + Sync + 'static,
) -> Dataset {
    let same = ElementFunction::from_named_closure("f", 1, 1, |_, values| Ok(values.into()));
    let save = ElementFunction::from_named_closure("save", 0, 1, move |_, _| save());
    let restore =
        ElementFunction::from_named_closure("restore", 1, 1, move |_, values| restore(values));
    range(3).map(same.with_state(save, restore)).unwrap()
}

fn number(number: i64) -> Result<Values, Error> {
    Ok(one(AnyRef::available(number)))
}

#[test]
fn states_that_cannot_be_saved_or_restored_are_errors() {
    let ctx = context("s");
    let ok = |values: &[AnyRef]| Ok(values.into());
    let message = |error: Error| error.message().to_owned();

    let failing = named(|| Err(Error::new("the table is locked")), ok);
    let error = failing.iterator().save(&ctx).unwrap_err();
    assert_eq!(
        message(error),
        "the state of the function f of `map` cannot be saved: the table is locked"
    );
    let unwritable = named(|| Ok(one(AnyRef::available(Coin(1)))), ok);
    let error = unwritable.iterator().save(&ctx).unwrap_err();
    assert_eq!(error.code(), ErrorCode::Unimplemented);
    assert_eq!(
        message(error),
        "the state of the function f of `map` cannot be saved: a value of type `!my.coin` cannot \
         be written to a checkpoint"
    );

    let checkpoint = named(|| number(7), ok).iterator().save(&ctx).unwrap();
    let failing = named(|| number(7), |_| Err(Error::new("7 is too old")));
    assert_eq!(
        message(failing.restore(&checkpoint, &ctx).unwrap_err()),
        "the state of the function f of `map` cannot be restored: 7 is too old"
    );

    // The error may come later: it is every element then, and nothing can be saved.
    let (promise, later) = AsyncValueRef::<i64>::unconstructed();
    let later = later.into_any();
    let failing = named(|| number(7), move |_| Ok(one(later.clone())));
    let mut restored = failing.elements_from::<i64, _>(&checkpoint, &ctx).unwrap();
    promise.set_error(Error::new("the disk is full"));
    let expected = "the state of the function f of `map` cannot be restored: the disk is full";
    assert_eq!(message(restored.next().unwrap().unwrap_err()), expected);
    assert_eq!(message(restored.next().unwrap().unwrap_err()), expected);
    assert_eq!(message(restored.save().unwrap_err()), expected);

    // What another function of this name has saved.
    let other = named(|| Ok([1.5_f64, 2.5].map(AnyRef::available).into()), ok);
    let error = other.iterator().save(&ctx).unwrap_err();
    assert!(message(error).ends_with("expected 1 results of a closure, found 2"));
    let typed = |save: ElementFunction| {
        let f = ElementFunction::from_named_closure("f", 1, 1, |_, values| Ok(values.into()));
        let restore =
            ElementFunction::from_named_closure("restore", 1, 0, |_, _| Ok(Values::new()));
        range(3).map(f.with_state(save, restore)).unwrap()
    };
    let float = ElementFunction::from_named_closure("save", 0, 1, |_, _| {
        Ok(one(AnyRef::available(1.5_f64)))
    });
    let integer = ElementFunction::from_named_closure("save", 0, 1, |_, _| number(1));
    let types = |ty| {
        (
            tfrt_data::ElementTypes::new([]),
            tfrt_data::ElementTypes::new([Some(ty)]),
        )
    };
    let (none, is_float) = types("f64");
    let float = typed(float.with_types(none.clone(), is_float));
    let (_, is_integer) = types("i64");
    let integer = typed(integer.with_types(none, is_integer));
    let checkpoint = float.iterator().save(&ctx).unwrap();
    assert!(float.restore(&checkpoint, &ctx).is_ok());
    let error = integer.restore(&checkpoint, &ctx).unwrap_err();
    assert_eq!(error.code(), ErrorCode::DataLoss);
    assert_eq!(
        message(error),
        "not a checkpoint of a pipeline: expected a state of type (i64) of the function f of \
         `map`, found (f64)"
    );
}

#[test]
fn a_checkpoint_with_a_state_belongs_to_the_functions_that_declare_it() {
    let ctx = context("s");
    let plain = range(3)
        .map(ElementFunction::from_named_closure(
            "f",
            1,
            1,
            |_, values| Ok(values.into()),
        ))
        .unwrap();
    let declared = named(|| number(7), |values| Ok(values.into()));
    let checkpoint = plain.iterator().save(&ctx).unwrap();
    let error = declared.restore(&checkpoint, &ctx).unwrap_err();
    let start = "expected a checkpoint of this pipeline, found one of a different pipeline: stage \
                 0: expected `map (function = f, ";
    assert_eq!(
        error.message(),
        format!("{start}save = save, restore = restore)`, found `map (function = f)`")
    );
}

#[test]
fn the_types_of_all_three_functions_are_checked() {
    let numbers = range(3);
    let f = |x: i64| x;
    let message = |made: Result<Dataset, Error>| made.unwrap_err().message().to_owned();
    // `save` takes the bound values, of which there are none.
    assert_eq!(
        message(numbers.map(f.with_state(|x: i64| x, |_: i64| ()))),
        "`map` expects a function `save` that takes (), found (i64)"
    );
    assert_eq!(
        message(numbers.filter((|x: i64| x > 1).with_state(|| 1.5_f32, |_: i64| ()))),
        "`filter` expects a function `restore` that takes (f32), found (i64)"
    );
    let bound = [AnyRef::available(1_i32)];
    let plus = (|b: i32, x: i64| i64::from(b) + x).with_state(|b: i32| b, |b: i32| b);
    assert_eq!(
        message(numbers.parallel_map_with(plus, &bound, 2, true)),
        "`parallel_map` expects a function `restore` that takes (i32, i32), found (i32)"
    );
    let next = |sum: i64, x: i64| (sum + x, sum);
    assert_eq!(
        message(numbers.scan(0_i64, next.with_state(|_: i64| 1.5_f32, |x: f32| x))),
        "`scan` expects a function `restore` that returns (i64), found (f32)"
    );
    let next = |x: i64| (x < 9, x + 1, x);
    assert_eq!(
        message(Dataset::generate(
            0_i64,
            next.with_state(|_: i32| 1_i64, |x: i64| x)
        )),
        "`generator` expects a function `save` that takes (i64), found (i32)"
    );
    let inner = || (|x: i64| Dataset::range(0, x, 1)).with_state(|| 1.5_f32, |_: i64| ());
    assert_eq!(
        message(numbers.flat_map(inner())),
        "`interleave` expects a function `restore` that takes (f32), found (i64)"
    );
    let key = || (|x: i64| x).with_state(|| 1.5_f32, |_: i64| ());
    let reduce = |_: i64, window: Dataset| window;
    assert_eq!(
        message(numbers.group_by_window(key(), reduce, 2)),
        "`group_by_window` expects a function `restore` that takes (f32), found (i64)"
    );
    assert_eq!(
        message(numbers.rejection_resample(key(), &[1.0], None, 1, 2)),
        "`rejection_resample` expects a function `restore` that takes (f32), found (i64)"
    );
    // The calls would not overlap.
    let inner = (|x: i64| Dataset::range(0, x, 1)).with_state(|| 1_i64, |_: i64| ());
    let error = message(numbers.parallel_interleave_with(inner, 2, 1, 2, true));
    assert!(
        error.starts_with("`parallel_interleave` does not take a function with a declared state"),
        "{error}"
    );
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
