//! Waiting for several values at once.

use std::sync::{Arc, Mutex, PoisonError};

use crate::any_ref::AnyRef;
use crate::promise::Promises;

/// Runs `f` once all of `values` are available; an error counts as available.
///
/// `f` runs on the calling thread if they are available now, otherwise on the thread that publishes
/// the last of them.
///
/// ```
/// use std::sync::atomic::{AtomicBool, Ordering};
/// use std::sync::Arc;
/// use tfrt_async::{AsyncValueRef, run_when_ready};
///
/// let (a, first) = AsyncValueRef::<i32>::unconstructed();
/// let (b, second) = AsyncValueRef::<f32>::unconstructed();
/// let ran = Arc::new(AtomicBool::new(false));
/// let seen = ran.clone();
/// run_when_ready(&[first.into_any(), second.into_any()], move || seen.store(true, Ordering::Relaxed));
/// a.emplace(1);
/// assert!(!ran.load(Ordering::Relaxed));
/// b.emplace(2.0);
/// assert!(ran.load(Ordering::Relaxed));
/// ```
pub fn run_when_ready(values: &[AnyRef], f: impl FnOnce() + Send + 'static) {
    let mut unavailable = values.iter().filter(|value| !value.is_available());
    let Some(first) = unavailable.next() else {
        f();
        return;
    };
    let Some(second) = unavailable.next() else {
        first.and_then(move |_| f());
        return;
    };
    // Each waiter owns a share of `f`; dropping the last share runs it. The mutex is never locked:
    // it only makes the closure shareable, and a single thread ever uses it.
    let shared = Arc::new(Mutex::new(f));
    for value in [first, second].into_iter().chain(unavailable) {
        let share = Arc::clone(&shared);
        value.and_then(move |_| give_up(share));
    }
    // This thread's own share prevents `f` from running while waiters are still being registered.
    give_up(shared);
}

fn give_up<F: FnOnce()>(share: Arc<Mutex<F>>) {
    if let Some(f) = Arc::into_inner(share) {
        f.into_inner().unwrap_or_else(PoisonError::into_inner)();
    }
}

/// Runs `f` with `promises` once all of `values` are available; an error counts as available.
///
/// The newest value is waited for first. It counts as needed for as long as a value of the promises
/// [has a consumer](Promises::have_consumer), and the others for as long as it is waited for: their
/// producers may cancel the values from the newest to the oldest.
///
/// ```
/// use tfrt_async::{AnyRef, AsyncValueRef, run_when_ready_for};
///
/// let (number, value) = AsyncValueRef::<i32>::unconstructed();
/// let (promise, copy) = AnyRef::indirect();
/// run_when_ready_for([value.into_any()], promise, |[value], promise| promise.forward_to(value));
/// assert!(number.has_consumer());
/// drop(copy);
/// assert!(!number.has_consumer());
/// ```
pub fn run_when_ready_for<V, P>(values: V, promises: P, f: impl FnOnce(V, P) + Send + 'static)
where
    V: AsRef<[AnyRef]> + AsMut<[AnyRef]> + Send + 'static,
    P: Promises,
{
    let num_values = values.as_ref().len();
    wait_down_from(num_values, values, promises, f);
}

/// Waits for the newest unavailable value among the first ones, then for those before it.
fn wait_down_from<V, P>(
    num_values: usize,
    mut values: V,
    promises: P,
    f: impl FnOnce(V, P) + Send + 'static,
) where
    V: AsRef<[AnyRef]> + AsMut<[AnyRef]> + Send + 'static,
    P: Promises,
{
    let awaited = values.as_ref().iter().take(num_values);
    let Some(newest) = awaited.rev().position(|value| !value.is_available()) else {
        return f(values, promises);
    };
    let newest = num_values - 1 - newest;
    // The waiter must not refer to the value; it receives the value when it is available.
    let placeholder = AnyRef::ready_chain();
    let value = std::mem::replace(&mut values.as_mut()[newest], placeholder);
    value.and_then_for(promises, move |value, promises| {
        values.as_mut()[newest] = value.clone();
        wait_down_from(newest, values, promises, f);
    });
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tfrt_support::Error;

    use super::*;
    use crate::AsyncValueRef;

    #[test]
    fn nothing_to_wait_for_runs_at_once() {
        let runs = Arc::new(AtomicUsize::new(0));
        for values in [
            &[][..],
            &[AnyRef::available(1_i32), AnyRef::error(Error::new("x"))],
        ] {
            let runs = Arc::clone(&runs);
            run_when_ready(values, move || {
                runs.fetch_add(1, Ordering::Relaxed);
            });
        }
        assert_eq!(runs.load(Ordering::Relaxed), 2);
    }

    #[test]
    fn the_last_of_many_runs_it_once() {
        let runs = Arc::new(AtomicUsize::new(0));
        let (promises, values): (Vec<_>, Vec<_>) = (0..5)
            .map(|_| AsyncValueRef::<i32>::unconstructed())
            .map(|(p, v)| (p, v.into_any()))
            .unzip();
        let seen = Arc::clone(&runs);
        run_when_ready(&values, move || {
            seen.fetch_add(1, Ordering::Relaxed);
        });
        for (i, promise) in promises.into_iter().enumerate() {
            assert_eq!(runs.load(Ordering::Relaxed), 0);
            if i == 2 {
                promise.set_error(Error::new("counts as ready"));
            } else {
                promise.emplace(0);
            }
        }
        assert_eq!(runs.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn values_are_needed_as_long_as_what_is_made_of_them_is() {
        let (mut promises, values): (Vec<_>, Vec<_>) = (0..3)
            .map(|_| AsyncValueRef::<i32>::unconstructed())
            .map(|(p, v)| (p, v.into_any()))
            .unzip();
        let (sum, result) = AsyncValueRef::<i32>::unconstructed();
        run_when_ready_for(values, sum, |values, sum| {
            let numbers = values.iter().filter_map(|value| value.get::<i32>());
            sum.emplace(numbers.sum());
        });
        // In any order.
        promises.remove(1).emplace(20);
        let second = result.clone();
        drop(result);
        assert!(promises.iter().all(crate::Promise::has_consumer));
        promises.pop().unwrap().emplace(100);
        assert_eq!(second.get(), None);
        drop(second);
        assert!(!promises[0].has_consumer());
    }

    #[test]
    fn values_that_nobody_needs_can_be_given_up_from_the_newest_to_the_oldest() {
        let (mut promises, values): (Vec<_>, Vec<_>) = (0..3)
            .map(|_| AsyncValueRef::<i32>::unconstructed())
            .map(|(p, v)| (p, v.into_any()))
            .unzip();
        let (promise, copy) = AnyRef::indirect();
        assert!(promise.has_consumer());
        run_when_ready_for(values, [promise], |values, [promise]| {
            promise.forward_to(values[0].clone());
        });
        drop(copy);
        while let Some(newest) = promises.pop() {
            assert!(!newest.has_consumer());
        }
    }
}
