//! States that cannot be saved or restored, and functions of the wrong types.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use tfrt_async::{AnyRef, AsyncValueRef};
use tfrt_data::{Dataset, ElementFunction, IntoElementFunction, Saving, Values};
use tfrt_host::{ExecutionContext, RequestContextBuilder};
use tfrt_support::{Error, ErrorCode};

use crate::handed_on::Coin;
use crate::support::{Count, context, one, range};

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
