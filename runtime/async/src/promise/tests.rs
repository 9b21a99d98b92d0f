use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use super::*;
use crate::{BorrowError, Chain, Immutable, TypeIndex};

/// Counts its drops.
struct Token(Arc<AtomicUsize>);

impl Value for Token {
    const MLIR_TYPE: &'static str = "!test.token";
}

impl Immutable for Token {}

impl Drop for Token {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

struct Cellar(i32);

impl Value for Cellar {
    const MLIR_TYPE: &'static str = "!test.cellar";
    const IS_MUTABLE: bool = true;
}

fn token() -> (Token, Arc<AtomicUsize>) {
    let drops = Arc::new(AtomicUsize::new(0));
    (Token(Arc::clone(&drops)), drops)
}

fn drops(count: &AtomicUsize) -> usize {
    count.load(Ordering::Relaxed)
}

#[test]
fn waiters_run_newest_first() {
    let (promise, value) = AsyncValueRef::<i32>::unconstructed();
    let order = Arc::new(Mutex::new(Vec::new()));
    for i in 0..3 {
        let order = Arc::clone(&order);
        value.and_then(move |value| order.lock().unwrap().push((i, value.get().copied())));
    }
    promise.emplace(9);
    assert_eq!(
        *order.lock().unwrap(),
        [(2, Some(9)), (1, Some(9)), (0, Some(9))]
    );
}

#[test]
fn an_indirect_value_of_a_type_holds_its_payload() {
    let (promise, value) = AnyRef::indirect_of::<Token>();
    let (token, count) = token();
    let typed = value
        .clone()
        .downcast::<Token>()
        .expect("its type is known");
    promise.emplace(token);
    assert!(value.is_concrete() && typed.get().is_some());
    drop(typed);
    assert!(!value.is_unique() && value.is_unique_through_links());
    assert_eq!(drops(&count), 0);
    drop(value);
    assert_eq!(drops(&count), 1);
}

#[test]
fn a_payload_that_comes_too_late_for_an_indirect_value_of_a_type_is_dropped() {
    let (promise, value) = AnyRef::indirect_of::<Token>();
    let (token, count) = token();
    value.try_set_error(Error::new("first"));
    promise.emplace(token);
    assert_eq!(drops(&count), 1);
    assert_eq!(value.error_if_present().map(Error::message), Some("first"));
}

#[test]
fn an_indirect_value_of_a_type_takes_no_payload_of_another_type() {
    let give: [fn(IndirectPromise); 4] = [
        |promise| promise.emplace(1_i64),
        |promise| promise.forward_to(AnyRef::available(1_i64)),
        |promise| promise.forward_to(AnyRef::available(1_i64).into_given()),
        |promise| {
            let (inner, linked) = AnyRef::indirect();
            inner.forward_to(AnyRef::available(1_i64));
            promise.forward_to(linked);
        },
    ];
    for give in give {
        let (promise, value) = AnyRef::indirect_of::<i32>();
        let typed = value.downcast::<i32>().expect("its type is known");
        give(promise);
        let message = typed.error_if_present().map(Error::message);
        assert_eq!(message, Some("expected a value of type `i32`, found `i64`"));
        assert_eq!(typed.get(), None);
    }
}

#[test]
fn a_function_result_that_nobody_else_refers_to_is_the_value_itself() {
    let (token, count) = token();
    let value = AnyRef::available(token);
    let address = value.address();
    let given = value.into_given();
    assert_eq!(given.address(), address);
    assert!(!given.is_unique() && given.is_unique_through_links());
    // Given once more, as by a function that returns its argument.
    let given = given.into_given();
    assert_eq!((given.address(), drops(&count)), (address, 0));
    drop(given);
    assert_eq!(drops(&count), 1);

    let shared = AnyRef::available(1_i64);
    let given = shared.clone().into_given();
    assert!(!given.ptr_eq(&shared) && !given.is_unique());
    drop(given);
    assert!(shared.is_unique());
}

#[test]
fn an_indirect_value_of_a_type_stands_for_a_value_of_its_type() {
    let (promise, value) = AnyRef::indirect_of::<i32>();
    let target = AnyRef::available(3_i32);
    promise.forward_to(target.clone());
    assert_eq!(value.get::<i32>(), Some(&3));
    assert!(
        !value.is_unique_through_links(),
        "the target has another owner"
    );
    drop(target);
    assert!(value.is_unique_through_links());
    let (promise, value) = AnyRef::indirect_of::<i32>();
    promise.forward_to(AnyRef::error(Error::new("no")));
    assert_eq!(value.error_if_present().map(Error::message), Some("no"));
}

#[test]
fn a_panicking_waiter_does_not_lose_the_others() {
    let (promise, value) = AsyncValueRef::<i32>::unconstructed();
    let runs = Arc::new(AtomicUsize::new(0));
    for i in 0..3 {
        let runs = Arc::clone(&runs);
        value.and_then(move |_| {
            runs.fetch_add(1, Ordering::Relaxed);
            assert_ne!(i, 1, "on purpose");
        });
    }
    let outcome = panic::catch_unwind(AssertUnwindSafe(|| promise.emplace(1)));
    assert!(outcome.is_err());
    assert_eq!(drops(&runs), 3);
    assert_eq!(value.get(), Some(&1));
}

#[test]
fn a_panicking_waiter_leaves_the_payload_alone() {
    let (payload, count) = token();
    let (promise, value) = AsyncValueRef::constructed(payload);
    value.and_then(|_| panic!("on purpose"));
    assert!(panic::catch_unwind(AssertUnwindSafe(|| promise.set_concrete())).is_err());
    assert_eq!(drops(&count), 0);
    drop(value);
    assert_eq!(drops(&count), 1);
}

#[test]
fn a_waiter_that_panics_while_the_thread_unwinds_does_not_end_the_process() {
    let (promise, value) = AsyncValueRef::<i32>::unconstructed();
    value.and_then(|_| panic!("second, on purpose"));
    let outcome = panic::catch_unwind(AssertUnwindSafe(move || {
        let _promise = promise;
        panic!("first, on purpose");
    }));
    assert!(
        outcome.is_err_and(|payload| payload.downcast_ref::<&str>() == Some(&"first, on purpose"))
    );
    assert!(value.is_error());
}

/// Panics whenever it is dropped, even while the thread unwinds.
struct Bomb;

impl Value for Bomb {
    const MLIR_TYPE: &'static str = "!test.bomb";
}

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("the bomb went off");
    }
}

#[test]
fn waiters_that_panic_with_what_panics_as_it_is_dropped_keep_nobody_from_running() {
    let runs = Arc::new(AtomicUsize::new(0));
    for _ in 0..100 {
        let (promise, value) = AsyncValueRef::<i32>::unconstructed();
        value.and_then({
            let runs = Arc::clone(&runs);
            move |_| {
                runs.fetch_add(1, Ordering::Relaxed);
            }
        });
        for _ in 0..3 {
            value.and_then(|_| panic::panic_any(Bomb));
        }
        let outcome = panic::catch_unwind(AssertUnwindSafe(|| promise.emplace(1)));
        std::mem::forget(outcome);
    }
    assert_eq!(drops(&runs), 100);
    // The nesting level is back to what it was: the next publication runs its waiters immediately.
    let (promise, value) = AsyncValueRef::<i32>::unconstructed();
    let (outer, waited) = AsyncValueRef::<i32>::unconstructed();
    value.and_then(move |_| outer.emplace(2));
    promise.emplace(1);
    assert!(waited.is_available());
}

#[test]
fn payloads_that_panic_as_they_are_dropped_end_nothing() {
    drop([AnyRef::available(Bomb), AnyRef::available(Bomb)]);
    let (promise, value) = AsyncValueRef::constructed(Bomb);
    promise.set_error(Error::new("not wanted"));
    assert!(value.is_error());
    let unwinding = panic::catch_unwind(|| {
        let _value = AnyRef::available(Bomb);
        panic!("first, on purpose");
    });
    assert!(unwinding.is_err());
}

#[test]
fn a_long_line_of_values_needs_no_deep_stack() {
    // Each value publishes the next one from a waiter.
    let (first, mut last) = AsyncValueRef::<i32>::unconstructed();
    for _ in 0..100_000 {
        let (promise, value) = AsyncValueRef::<i32>::unconstructed();
        last.and_then(move |previous| promise.emplace(previous.get().unwrap() + 1));
        last = value;
    }
    first.emplace(0);
    assert_eq!(last.get(), Some(&100_000));
}

#[test]
fn a_long_line_of_forwards_needs_no_deep_stack() {
    let (first, value) = AsyncValueRef::<i32>::unconstructed();
    let mut last = value.into_any();
    for _ in 0..100_000 {
        let (promise, value) = AnyRef::indirect();
        promise.forward_to(last);
        last = value;
    }
    first.emplace(7);
    assert_eq!(last.get::<i32>(), Some(&7));
}

#[test]
fn a_long_line_of_forwards_may_break_at_its_start() {
    let (first, mut last) = AnyRef::indirect();
    for _ in 0..100_000 {
        let (promise, value) = AnyRef::indirect();
        promise.forward_to(last);
        last = value;
    }
    drop(first);
    assert!(last.is_error());
}

#[test]
fn a_long_line_of_forwards_may_be_kept_alive() {
    let (first, value) = AsyncValueRef::<i32>::unconstructed();
    let mut all = vec![value.into_any()];
    for index in 0..100_000 {
        let (promise, value) = AnyRef::indirect();
        promise.forward_to(all[index].clone());
        all.push(value);
    }
    first.emplace(7);
    assert!(all.iter().all(|value| value.get::<i32>() == Some(&7)));
}

#[test]
fn a_waiter_may_drop_the_last_other_reference() {
    let (payload, count) = token();
    let (promise, value) = AsyncValueRef::<Token>::unconstructed();
    let slot = Arc::new(Mutex::new(None));
    let inner = Arc::clone(&slot);
    value.and_then(move |_| drop(inner.lock().unwrap().take()));
    *slot.lock().unwrap() = Some(value);
    promise.emplace(payload);
    assert_eq!(drops(&count), 1);
}

#[test]
fn a_registered_value_that_is_available_runs_the_waiter_on_the_spot() {
    let ran = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&ran);
    AnyRef::error(Error::new("x"))
        .and_then(move |value| seen.store(value.is_error(), Ordering::Relaxed));
    assert!(ran.load(Ordering::Relaxed));
}

#[test]
fn payloads_are_dropped_once() {
    let (payload, count) = token();
    let value = AnyRef::available(payload);
    let second = value.clone();
    drop(value);
    assert_eq!(drops(&count), 0);
    drop(second);
    assert_eq!(drops(&count), 1);
}

#[test]
fn a_broken_promise_is_an_internal_error() {
    let (promise, value) = AnyRef::indirect();
    drop(promise);
    assert_eq!(
        value.error_if_present().map(Error::code),
        Some(ErrorCode::Internal)
    );
    let (payload, count) = token();
    let (promise, value) = AsyncValueRef::constructed(payload);
    drop(promise);
    assert!(value.is_error());
    assert_eq!(drops(&count), 1);
}

#[test]
fn an_error_from_outside_wins_over_a_later_payload() {
    let (payload, count) = token();
    let (promise, value) = AsyncValueRef::<Token>::unconstructed();
    assert!(value.try_set_error(Error::new("first")));
    assert!(!value.try_set_error(Error::new("second")));
    assert!(promise.is_settled());
    promise.emplace(payload);
    assert_eq!(drops(&count), 1);
    assert_eq!(value.error_if_present().map(Error::message), Some("first"));
}

#[test]
fn an_error_from_outside_loses_against_an_earlier_payload() {
    let value = AnyRef::available(3_i32);
    assert!(!value.try_set_error(Error::new("late")));
    assert!(!AnyRef::ready_chain().try_set_error(Error::new("never")));
    assert_eq!(value.get::<i32>(), Some(&3));
}

#[test]
fn a_constructed_payload_survives_an_error_until_its_promise_ends() {
    let (payload, count) = token();
    let (promise, value) = AsyncValueRef::constructed(payload);
    assert!(value.try_set_error(Error::new("x")));
    assert_eq!(drops(&count), 0);
    promise.set_concrete();
    assert_eq!(drops(&count), 1);
    assert!(value.is_error());
}

#[test]
fn forwarding_to_an_indirect_value_takes_its_target() {
    let target = AnyRef::available(1_i32);
    let (promise, inner) = AnyRef::indirect();
    promise.forward_to(target.clone());
    let (promise, outer) = AnyRef::indirect();
    promise.forward_to(inner.clone());
    drop(inner);
    // Target: this reference and the link of `outer`.
    assert!(!target.is_unique());
    drop(outer);
    assert!(target.is_unique());
}

#[test]
fn forwarding_an_error_shares_it() {
    let error = Error::new("x");
    let (promise, value) = AnyRef::indirect();
    promise.forward_to(AnyRef::error(error.clone()));
    assert!(
        value
            .error_if_present()
            .is_some_and(|found| found.is_same(&error))
    );
    assert!(!value.is_concrete());
}

#[test]
fn forwarding_loses_gracefully_against_an_error() {
    let (payload, count) = token();
    let (later, target) = AsyncValueRef::<Token>::unconstructed();
    let (promise, value) = AnyRef::indirect();
    promise.forward_to(target.into_any());
    assert!(value.try_set_error(Error::new("first")));
    later.emplace(payload);
    assert_eq!(drops(&count), 1);
    assert!(value.is_error());
}

#[test]
fn a_value_forwarded_to_itself_is_an_error() {
    let (promise, value) = AnyRef::indirect();
    promise.forward_to(value.clone());
    assert_eq!(
        value.error_if_present().map(Error::message),
        Some("value forwarded to itself")
    );
}

#[test]
fn an_indirect_value_has_the_type_of_its_target() {
    let (promise, value) = AnyRef::indirect();
    assert_eq!(
        (value.type_id(), value.mlir_type()),
        (TypeIndex::NONE, None)
    );
    promise.forward_to(AnyRef::available(true));
    assert!(value.is::<bool>());
    assert_eq!(value.mlir_type(), Some("i1"));
}

#[test]
fn uniqueness_is_seen_through_links_only_where_asked() {
    let target = AnyRef::available(1_i32);
    assert!(target.is_unique() && target.is_unique_through_links());
    let (promise, value) = AnyRef::indirect();
    promise.forward_to(target);
    assert!(!value.is_unique() && value.is_unique_through_links());
    let second = value.clone();
    assert!(!value.is_unique_through_links());
    drop(second);
    assert!(value.is_unique_through_links());
    assert!(
        !AnyRef::ready_chain().is_unique() && !AnyRef::available(Chain).is_unique_through_links()
    );
}

#[test]
fn a_downcast_keeps_the_value_or_gives_it_back() {
    let (_promise, value) = AsyncValueRef::<i32>::unconstructed();
    let any = value.into_any();
    let any = any
        .downcast::<f32>()
        .expect_err("known before it is available");
    assert!(any.downcast::<i32>().is_ok());
    assert!(AnyRef::error(Error::new("x")).downcast::<i32>().is_ok());
}

#[test]
fn a_downcast_of_an_unresolved_value_is_checked_on_arrival() {
    let (promise, value) = AnyRef::indirect();
    let (right, wrong) = (
        value.clone().downcast::<i32>().unwrap(),
        value.downcast::<f32>().unwrap(),
    );
    promise.forward_to(AnyRef::available(2_i32));
    assert_eq!(right.get(), Some(&2));
    let error = wrong.error_if_present().expect("an error");
    assert_eq!(
        error.message(),
        "expected a value of type `f32`, found `i32`"
    );
    assert_eq!(error.code(), ErrorCode::InvalidArgument);
}

#[test]
fn mutable_payloads_are_borrowed() {
    let value = AnyRef::available(Cellar(1));
    let (promise, link) = AnyRef::indirect();
    promise.forward_to(value.clone());
    {
        let mut writer = value.try_write::<Cellar>().unwrap();
        writer.0 = 2;
        // The borrow belongs to the payload, no matter how it is reached.
        assert_eq!(link.try_read::<Cellar>().err(), Some(BorrowError::Written));
        assert_eq!(
            value.try_write::<Cellar>().err(),
            Some(BorrowError::Written)
        );
    }
    let reader = link.try_read::<Cellar>().unwrap();
    assert_eq!(reader.0, 2);
    assert_eq!(value.try_write::<Cellar>().err(), Some(BorrowError::Read));
    assert_eq!(value.try_read::<i32>().err(), Some(wrong_cellar()));
}

fn wrong_cellar() -> BorrowError {
    BorrowError::WrongType {
        expected: "i32",
        found: "!test.cellar",
    }
}

#[test]
fn an_overaligned_payload_is_where_it_should_be() {
    #[repr(align(64))]
    struct Wide(u8);
    impl Value for Wide {
        const MLIR_TYPE: &'static str = "!test.wide";
    }

    impl Immutable for Wide {}
    let value = AnyRef::available(Wide(5));
    let wide = value.get::<Wide>().unwrap();
    assert_eq!((std::ptr::from_ref(wide).addr() % 64, wide.0), (0, 5));
}

#[test]
fn waiters_registered_by_waiters_run_at_once() {
    thread_local! {
        static RUNS: Cell<u32> = const { Cell::new(0) };
    }
    let (promise, value) = AsyncValueRef::<i32>::unconstructed();
    value.and_then(|value| value.and_then(|_| RUNS.set(RUNS.get() + 1)));
    promise.emplace(0);
    assert_eq!(RUNS.get(), 1);
}

#[test]
fn many_threads_register_while_one_publishes() {
    for _ in 0..if cfg!(miri) { 2 } else { 200 } {
        let (promise, value) = AsyncValueRef::<i64>::unconstructed();
        let sum = Arc::new(AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..3 {
                let (value, sum) = (value.clone(), Arc::clone(&sum));
                scope.spawn(move || {
                    for _ in 0..10 {
                        let sum = Arc::clone(&sum);
                        value.and_then(move |value| {
                            sum.fetch_add(usize::from(value.get() == Some(&4)), Ordering::Relaxed);
                        });
                    }
                });
            }
            scope.spawn(move || promise.emplace(4));
        });
        assert_eq!(drops(&sum), 30);
    }
}

#[test]
fn a_promise_without_consumers_is_told_apart() {
    let (promise, value) = AsyncValueRef::<i32>::unconstructed();
    value.as_any().watch(|_| ());
    assert!(promise.has_consumer());
    let other = value.clone();
    drop(value);
    assert!(promise.has_consumer());
    drop(other);
    assert!(!promise.has_consumer());

    let (promise, value) = AsyncValueRef::<i32>::unconstructed();
    value.as_any().watch(|_| ());
    value.as_any().and_then(|_| ());
    value.as_any().watch(|_| ());
    drop(value);
    assert!(promise.has_consumer());
    promise.emplace(1);
}

#[test]
fn a_value_that_becomes_another_is_consumed_as_long_as_that_is() {
    let (promise, value) = AsyncValueRef::<i32>::unconstructed();
    let (next, made) = AsyncValueRef::<i32>::unconstructed();
    value.as_any().and_then_for(next, |value, next| {
        next.emplace(value.get().map_or(0, |number: &i32| number + 1));
    });
    drop(value);
    assert!(promise.has_consumer());
    let kept = made.clone();
    drop(made);
    assert!(promise.has_consumer());
    drop(kept);
    assert!(!promise.has_consumer());

    let (promise, value) = AsyncValueRef::<i32>::unconstructed();
    let (next, made) = AsyncValueRef::<i32>::unconstructed();
    value.as_any().and_then_for(next, |value, next| {
        next.emplace(value.get().map_or(0, |number: &i32| number + 1));
    });
    made.and_then(|_| ());
    drop((value, made.clone()));
    assert!(promise.has_consumer());
    promise.emplace(1);
    assert_eq!(made.get(), Some(&2));
}
