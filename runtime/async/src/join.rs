//! Waiting for several values at once.

use std::sync::{Arc, Mutex, PoisonError};

use crate::any_ref::AnyRef;

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
}
