//! Elements as they come: for a loop that waits, and for an `async` one.

use std::fmt;
use std::future::{IntoFuture, poll_fn};
use std::iter::FusedIterator;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};

use tfrt_async::{AnyFuture, AnyRef, AsyncValueRef, Chain, Promise};
use tfrt_host::{CancelHook, ExecutionContext};
use tfrt_support::{Error, ErrorCode};

use crate::checkpoint::Saving;
use crate::dataset::Dataset;
use crate::iterator::DataIterator;
use crate::result::{IterationResult, Outcome, are_available};
use crate::typed::FromValues;

/// The elements of a dataset, taken as values of type `T`: a payload, or a tuple of payloads.
///
/// As an [`Iterator`], it blocks until the next element is available, so tasks of a work queue must
/// not use it that way. [`next_async`](Self::next_async) does not block, nor does its
/// `futures_core::Stream` implementation (cargo feature `stream`). An element that is an error is
/// an item, and further elements follow it. Nothing follows the end or the error of a cancelled
/// request. Cancelling the request also ends the wait for an element whose function never finishes.
///
/// ```
/// use tfrt_data::Dataset;
/// use tfrt_host::{ExecutionContext, HostContext, RequestContextBuilder};
/// use tfrt_support::Error;
///
/// let ctx = ExecutionContext::new(RequestContextBuilder::new(HostContext::builder().build()).build());
/// let odd = Dataset::range(0, 10, 1)?.filter(|number: i64| number % 2 == 1)?;
/// let odd: Vec<i64> = odd.elements(&ctx).collect::<Result<_, Error>>()?;
/// assert_eq!(odd, [1, 3, 5, 7, 9]);
/// # Ok::<(), Error>(())
/// ```
pub struct Elements<T, M> {
    iterator: DataIterator,
    ctx: ExecutionContext,
    /// Whether the end, or the cancellation of the request, was returned.
    has_ended: bool,
    /// A drawn element that was pending at the last poll.
    awaited: Option<Awaited>,
    element: PhantomData<fn() -> (T, M)>,
}

/// A pending element.
struct Awaited {
    result: IterationResult,
    /// Completes when its first pending part is available, or when the request is cancelled.
    part: AnyFuture,
    _hook: CancelHook,
}

impl Dataset {
    /// Returns the elements from the start, drawn in `ctx`. Functions of the stages are part of its
    /// request.
    #[must_use]
    pub fn elements<T: FromValues<M>, M>(&self, ctx: &ExecutionContext) -> Elements<T, M> {
        Elements {
            iterator: self.iterator(),
            ctx: ctx.clone(),
            has_ended: false,
            awaited: None,
            element: PhantomData,
        }
    }
}

impl Dataset {
    /// Returns the elements that [saved](Elements::save) ones had still to deliver, drawn in `ctx`.
    ///
    /// # Errors
    /// Those of [`restore`](Self::restore).
    pub fn elements_from<T: FromValues<M>, M>(
        &self,
        checkpoint: &[u8],
        ctx: &ExecutionContext,
    ) -> Result<Elements<T, M>, Error> {
        Ok(Elements {
            iterator: self.restore(checkpoint, ctx)?,
            ctx: ctx.clone(),
            has_ended: false,
            awaited: None,
            element: PhantomData,
        })
    }
}

impl<T: FromValues<M>, M> Elements<T, M> {
    /// Returns the next element, or nothing at the end. Draws it at once; does not block.
    ///
    /// ```
    /// use tfrt_data::Dataset;
    /// use tfrt_host::ExecutionContext;
    /// use tfrt_support::Error;
    ///
    /// /// The sum of a dataset of numbers.
    /// async fn sum(numbers: &Dataset, ctx: &ExecutionContext) -> Result<i64, Error> {
    ///     let mut numbers = numbers.elements::<i64, _>(ctx);
    ///     let mut sum = 0;
    ///     while let Some(number) = numbers.next_async().await {
    ///         sum += number?;
    ///     }
    ///     Ok(sum)
    /// }
    /// ```
    pub async fn next_async(&mut self) -> Option<Result<T, Error>> {
        poll_fn(|context| self.poll_element(context)).await
    }

    /// Polls for the next element. A drawn element is not lost if the caller stops polling: it is
    /// the next element.
    fn poll_element(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<T, Error>>> {
        if self.has_ended {
            return Poll::Ready(None);
        }
        if let Some(Awaited { part, .. }) = &mut self.awaited {
            // An error serves as well as a payload here.
            let _ = ready!(Pin::new(part).poll(context));
        }
        let mut result = match self.take_drawn() {
            Ok(element) => return Poll::Ready(Some(Ok(element))),
            Err(result) => result,
        };
        while let Some(missing) = missing_part(&mut result) {
            let Some((part, hook)) = available_or_cancelled(&missing, &self.ctx) else {
                if missing.is_available() {
                    continue;
                }
                self.has_ended = true;
                return Poll::Ready(Some(Err(self.cancellation())));
            };
            let mut part = part.into_future();
            if Pin::new(&mut part).poll(context).is_pending() {
                self.awaited = Some(Awaited {
                    result,
                    part,
                    _hook: hook,
                });
                return Poll::Pending;
            }
        }
        Poll::Ready(match result.into_outcome() {
            Ok(outcome) => self.item(outcome),
            Err(pending) => self.item(Outcome::of_available(&pending)),
        })
    }

    /// Returns the awaited result, or draws the next element: what it is taken as, if it is at hand
    /// without a value, and otherwise the result.
    #[inline]
    fn take_drawn(&mut self) -> Result<T, IterationResult> {
        // Not taken out to look whether it is there: it is large, and rarely is.
        if self.awaited.is_some()
            && let Some(awaited) = self.awaited.take()
        {
            return Err(awaited.result);
        }
        T::draw_from(&mut self.iterator, &self.ctx)
    }

    /// Returns a checkpoint after the last returned element; [`Dataset::elements_from`] continues
    /// there. Waits until elements that were drawn ahead are available.
    ///
    /// ```
    /// use tfrt_data::Dataset;
    /// use tfrt_host::{ExecutionContext, HostContext, RequestContextBuilder};
    /// use tfrt_support::Error;
    ///
    /// let ctx = ExecutionContext::new(RequestContextBuilder::new(HostContext::builder().build()).build());
    /// let samples = Dataset::range(0, 100, 1)?.shuffle(20, 1, 2)?.map(|x: i64| x * x)?.prefetch(4)?;
    ///
    /// let mut epoch = samples.elements::<i64, _>(&ctx);
    /// epoch.by_ref().take(42).for_each(drop);
    /// let checkpoint = epoch.save()?;
    /// let rest: Vec<i64> = epoch.collect::<Result<_, Error>>()?;
    ///
    /// let resumed = samples.elements_from::<i64, _>(&checkpoint, &ctx)?;
    /// assert_eq!(resumed.collect::<Result<Vec<_>, Error>>()?, rest);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`DataIterator::save`]; an error if a [`next_async`] drew an element and was
    /// dropped before it returned the element: take that element first.
    ///
    /// [`next_async`]: Self::next_async
    pub fn save(&mut self) -> Result<Vec<u8>, Error> {
        self.check_returned()?;
        self.iterator.save(&self.ctx)
    }

    /// Returns the same as [`save`](Self::save), without blocking.
    ///
    /// # Errors
    /// Those of [`DataIterator::try_save`], and as `save`.
    pub async fn save_async(&mut self) -> Result<Vec<u8>, Error> {
        self.check_returned()?;
        loop {
            match self.iterator.try_save(&self.ctx)? {
                Saving::Saved(checkpoint) => return Ok(checkpoint),
                Saving::Waiting(value) => available(&value).await,
            }
        }
    }

    /// Checks that all drawn elements were returned.
    fn check_returned(&self) -> Result<(), Error> {
        match self.awaited {
            None => Ok(()),
            Some(_) => {
                let message = "expected all elements that were drawn to be returned before a save, found one that is awaited";
                Err(Error::new(message).with_code(ErrorCode::FailedPrecondition))
            }
        }
    }

    /// Returns the error of the cancelled request.
    #[cold]
    fn cancellation(&self) -> Error {
        let value = self.ctx.request().cancel_value();
        let error = value.and_then(AnyRef::error_if_present);
        error.cloned().unwrap_or_else(Error::cancelled)
    }

    /// Waits for the outcome of a draw and its values.
    fn wait_for(&self, mut result: IterationResult) -> Result<Outcome, Error> {
        while let Some(missing) = missing_part(&mut result) {
            match available_or_cancelled(&missing, &self.ctx) {
                Some((either, _hook)) => self.ctx.host().await_available(&[either])?,
                None if missing.is_available() => {}
                None => return Err(self.cancellation()),
            }
        }
        Ok(match result.into_outcome() {
            Ok(outcome) => outcome,
            Err(pending) => Outcome::of_available(&pending),
        })
    }
}

/// Returns the first pending part of a drawn result: the outcome, or one of its values.
fn missing_part(result: &mut IterationResult) -> Option<AnyRef> {
    if let Some(pending) = result.settle() {
        return Some(pending);
    }
    match result {
        IterationResult::Known(Outcome::Element(values)) => {
            values.iter().find(|value| !value.is_available()).cloned()
        }
        _ => None,
    }
}

/// Returns a value that becomes available when `value` does, or when the request is cancelled if
/// that is earlier. Returns `None` if the request is cancelled already.
fn available_or_cancelled(value: &AnyRef, ctx: &ExecutionContext) -> Option<(AnyRef, CancelHook)> {
    let (promise, either) = AsyncValueRef::unconstructed();
    let promise = Arc::new(Mutex::new(Some(promise)));
    let of_hook = Arc::clone(&promise);
    let hook = ctx.request().on_cancel(move || keep(&of_hook))?;
    // A watcher: the element keeps the value.
    value.watch(move |_| keep(&promise));
    Some((either.into_any(), hook))
}

/// Keeps a promise, unless it has been kept.
fn keep(promise: &Mutex<Option<Promise<Chain>>>) {
    let promise = promise
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .take();
    if let Some(promise) = promise {
        promise.emplace(Chain);
    }
}

/// Waits until a value is available.
async fn available(value: &AnyRef) {
    if !value.is_available() {
        // An error serves as well as a payload here.
        let _ = value.clone().await;
    }
}

impl<T: FromValues<M>, M> Elements<T, M> {
    /// Returns the item for an outcome whose values are available.
    fn item(&mut self, outcome: Outcome) -> Option<Result<T, Error>> {
        // Every further draw of a cancelled request fails in the same way: a loop that skips errors
        // would not end.
        let is_element = outcome.is_element();
        self.has_ended = outcome.is_end() || (!is_element && self.ctx.request().is_cancelled());
        item(outcome)
    }
}

/// Returns the item for an outcome whose values are available.
fn item<T: FromValues<M>, M>(outcome: Outcome) -> Option<Result<T, Error>> {
    match outcome {
        Outcome::Element(values) => Some(T::from_values(&values)),
        Outcome::End(_) => None,
        Outcome::Error(error) => Some(Err(error
            .error_if_present()
            .cloned()
            .unwrap_or_else(|| Error::new("a draw failed without an error")))),
    }
}

impl<T: FromValues<M>, M> Iterator for Elements<T, M> {
    type Item = Result<T, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.has_ended {
            return None;
        }
        let result = match self.take_drawn() {
            Ok(element) => return Some(Ok(element)),
            Err(result) => result,
        };
        // An available element is read where it is.
        if let IterationResult::Known(Outcome::Element(values)) = &result
            && are_available(values)
        {
            return Some(T::from_values(values));
        }
        match self.wait_for(result) {
            Ok(outcome) => self.item(outcome),
            Err(error) => {
                self.has_ended = self.ctx.request().is_cancelled();
                Some(Err(error))
            }
        }
    }
}

impl<T: FromValues<M>, M> FusedIterator for Elements<T, M> {}

/// Polls as [`next_async`](Elements::next_async) does.
///
/// ```
/// use futures_core::Stream;
/// use tfrt_data::Dataset;
/// use tfrt_host::{ExecutionContext, HostContext, RequestContextBuilder};
///
/// fn is_stream(_: &impl Stream<Item = Result<i64, tfrt_support::Error>>) {}
///
/// let ctx = ExecutionContext::new(RequestContextBuilder::new(HostContext::builder().build()).build());
/// is_stream(&Dataset::range(0, 10, 1)?.elements::<i64, _>(&ctx));
/// # Ok::<(), tfrt_support::Error>(())
/// ```
#[cfg(feature = "stream")]
impl<T: FromValues<M>, M> futures_core::Stream for Elements<T, M> {
    type Item = Result<T, Error>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.get_mut().poll_element(context)
    }
}

#[cfg(feature = "stream")]
impl<T: FromValues<M>, M> futures_core::FusedStream for Elements<T, M> {
    fn is_terminated(&self) -> bool {
        self.has_ended
    }
}

impl<T, M> fmt::Debug for Elements<T, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Elements").field(&self.iterator).finish()
    }
}
