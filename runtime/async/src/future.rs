//! Awaiting a value.
//!
//! This works on any executor: it needs only the waker of the awaiting task. The first poll
//! registers one waiter with the value; later polls change the waker that it will wake. A future
//! that is dropped early leaves a waiter without a waker: it drops its reference to the task, which
//! may be what keeps the promise of the value alive.

use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tfrt_support::Error;

use crate::any_ref::AnyRef;
use crate::sync::AtomicWaker;
use crate::typed_ref::AsyncValueRef;
use crate::value::Value;

/// Waits for a value of any type. Created by awaiting an [`AnyRef`].
///
/// ```
/// # use std::future::IntoFuture;
/// # use std::task::{Context, Poll, Waker};
/// # use tfrt_async::AnyRef;
/// let mut future = AnyRef::available(3_i32).into_future();
/// let poll = std::pin::pin!(future).poll(&mut Context::from_waker(Waker::noop()));
/// assert!(matches!(poll, Poll::Ready(Ok(value)) if value.get::<i32>() == Some(&3)));
/// ```
#[derive(Debug)]
#[must_use = "futures do nothing unless they are polled"]
pub struct AnyFuture {
    value: AnyRef,
    /// Shared with the waiter from the first poll on.
    waker: SharedWaker,
}

impl Future for AnyFuture {
    type Output = Result<AnyRef, Error>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        poll_available(&this.value, &mut this.waker, context).map_ok(|()| this.value.clone())
    }
}

impl IntoFuture for AnyRef {
    type Output = Result<AnyRef, Error>;
    type IntoFuture = AnyFuture;

    fn into_future(self) -> AnyFuture {
        AnyFuture {
            value: self,
            waker: SharedWaker::default(),
        }
    }
}

/// Waits for a value of a known type. Created by awaiting an [`AsyncValueRef`].
///
/// ```
/// use tfrt_async::AsyncValueRef;
/// use tfrt_support::Error;
///
/// async fn sum(a: AsyncValueRef<i32>, b: AsyncValueRef<i32>) -> Result<i32, Error> {
///     let (a, b) = (a.await?, b.await?);
///     Ok(a.get().unwrap_or(&0) + b.get().unwrap_or(&0))
/// }
/// # use std::task::{Context, Poll, Waker};
/// # let future = std::pin::pin!(sum(AsyncValueRef::available(1), AsyncValueRef::available(2)));
/// # let poll = future.poll(&mut Context::from_waker(Waker::noop()));
/// # assert!(matches!(poll, Poll::Ready(Ok(3))));
/// ```
#[derive(Debug)]
#[must_use = "futures do nothing unless they are polled"]
pub struct ValueFuture<T: Value> {
    value: AsyncValueRef<T>,
    /// Shared with the waiter from the first poll on.
    waker: SharedWaker,
}

impl<T: Value> Future for ValueFuture<T> {
    type Output = Result<AsyncValueRef<T>, Error>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        poll_available(this.value.as_any(), &mut this.waker, context)
            .map_ok(|()| this.value.clone())
    }
}

impl<T: Value> IntoFuture for AsyncValueRef<T> {
    type Output = Result<AsyncValueRef<T>, Error>;
    type IntoFuture = ValueFuture<T>;

    fn into_future(self) -> ValueFuture<T> {
        ValueFuture {
            value: self,
            waker: SharedWaker::default(),
        }
    }
}

/// The waker of the awaiting task, shared with the waiter once that is registered.
#[derive(Debug, Default)]
struct SharedWaker(Option<Arc<AtomicWaker>>);

impl Drop for SharedWaker {
    fn drop(&mut self) {
        if let Some(waker) = &self.0 {
            drop(waker.take());
        }
    }
}

/// Polls `value`; if it is not available, `waker` is set to wake the task.
fn poll_available(
    value: &AnyRef,
    waker: &mut SharedWaker,
    context: &mut Context<'_>,
) -> Poll<Result<(), Error>> {
    if !value.is_available() {
        let is_first = waker.0.is_none();
        let waker = waker.0.get_or_insert_default();
        waker.register(context.waker());
        if is_first {
            let waker = Arc::clone(waker);
            value.and_then(move |_| waker.wake());
        }
        // The waiter may have run before this waker was registered, so check again.
        if !value.is_available() {
            return Poll::Pending;
        }
    }
    Poll::Ready(
        value
            .error_if_present()
            .map_or(Ok(()), |error| Err(error.clone())),
    )
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::{Wake, Waker};

    use super::*;

    #[derive(Default)]
    struct CountWakes(AtomicUsize);

    impl Wake for CountWakes {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn publication_wakes_the_last_task_that_polled() {
        let (first, second) = (
            Arc::new(CountWakes::default()),
            Arc::new(CountWakes::default()),
        );
        let (promise, value) = AsyncValueRef::<i32>::unconstructed();
        let mut future = value.into_future();
        for task in [&first, &second] {
            let waker = Waker::from(Arc::clone(task));
            assert!(
                Pin::new(&mut future)
                    .poll(&mut Context::from_waker(&waker))
                    .is_pending()
            );
        }
        promise.emplace(1);
        assert_eq!(
            [&first, &second].map(|task| task.0.load(Ordering::Relaxed)),
            [0, 1]
        );
        let poll = Pin::new(&mut future).poll(&mut Context::from_waker(Waker::noop()));
        assert!(matches!(poll, Poll::Ready(Ok(value)) if value.get() == Some(&1)));
    }

    #[test]
    fn an_error_is_the_error_of_the_await() {
        let (promise, value) = AnyRef::indirect();
        let mut future = value.into_future();
        assert!(
            Pin::new(&mut future)
                .poll(&mut Context::from_waker(Waker::noop()))
                .is_pending()
        );
        promise.set_error(Error::new("no"));
        let poll = Pin::new(&mut future).poll(&mut Context::from_waker(Waker::noop()));
        assert!(matches!(poll, Poll::Ready(Err(error)) if error.message() == "no"));
    }

    #[test]
    fn a_dropped_future_is_forgotten() {
        let (promise, value) = AsyncValueRef::<i32>::unconstructed();
        let mut future = value.clone().into_future();
        assert!(
            Pin::new(&mut future)
                .poll(&mut Context::from_waker(Waker::noop()))
                .is_pending()
        );
        drop(future);
        promise.emplace(1);
        assert_eq!(value.get(), Some(&1));
    }

    #[test]
    fn a_dropped_future_lets_its_task_go() {
        let (_promise, value) = AsyncValueRef::<i32>::unconstructed();
        let task = Arc::new(CountWakes::default());
        let mut future = value.into_future();
        let waker = Waker::from(Arc::clone(&task));
        let poll = Pin::new(&mut future).poll(&mut Context::from_waker(&waker));
        assert!(poll.is_pending());
        drop((future, waker));
        assert_eq!(Arc::strong_count(&task), 1);
    }
}
