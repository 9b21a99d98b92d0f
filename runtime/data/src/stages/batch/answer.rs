//! The promises of a batch with pending elements, and the wait for these elements.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tfrt_async::{AnyRef, AsyncValueRef, Chain, Promise, Promises, run_when_ready_for};

use crate::result::{IterationResult, Outcome, ValuePromises, Values};

/// The promises of a batch whose number of components is unknown.
#[derive(Debug)]
pub(super) struct WholeBatch {
    pub(super) promise: Promise<Outcome>,
    /// Fulfilled once the batch has read the metadata of its elements.
    pub(super) looked_at: Option<Promise<Chain>>,
}

impl Promises for WholeBatch {
    fn have_consumer(&self) -> bool {
        let looked_at = self.looked_at.as_ref();
        self.promise.has_consumer() || looked_at.is_some_and(Promise::has_consumer)
    }
}

/// The promises of a batch with a known number of components: first its outcome, which is that of
/// its first result, then its values.
///
/// It is shared by the waiter for the first result, which is not a consumer of it, and the waiter
/// for all results.
#[derive(Clone, Debug)]
pub(super) struct Answer(Arc<Mutex<AnswerState>>);

#[derive(Debug)]
struct AnswerState {
    /// Until the first result is known.
    outcome: Option<Promise<Outcome>>,
    /// Once the first result is known.
    values: Option<ValuePromises>,
    looked_at: Option<Promise<Chain>>,
}

impl Promises for Answer {
    fn have_consumer(&self) -> bool {
        let state = self.hold();
        let (outcome, looked_at) = (state.outcome.as_ref(), state.looked_at.as_ref());
        outcome.is_some_and(Promise::has_consumer)
            || state.values.as_ref().is_some_and(Promises::have_consumer)
            || looked_at.is_some_and(Promise::has_consumer)
    }
}

impl Answer {
    pub(super) fn of_values(values: ValuePromises, looked_at: Option<Promise<Chain>>) -> Self {
        Self(Arc::new(Mutex::new(AnswerState {
            outcome: None,
            values: Some(values),
            looked_at,
        })))
    }

    pub(super) fn of_outcome(outcome: Promise<Outcome>, looked_at: Option<Promise<Chain>>) -> Self {
        Self(Arc::new(Mutex::new(AnswerState {
            outcome: Some(outcome),
            values: None,
            looked_at,
        })))
    }

    /// Publishes the outcome as soon as the first result of the batch is known.
    pub(super) fn begin_with(&self, first: &AsyncValueRef<Outcome>, num_components: usize) {
        let this = self.clone();
        // A watcher suffices: the waiter for all results keeps a reference to this one.
        first.as_any().watch(move |value| {
            let first = match value.get::<Outcome>() {
                Some(first) => first.clone(),
                None => Outcome::Error(value.clone()),
            };
            this.begin(first, num_components);
        });
    }

    /// Publishes the outcome, unless it has been published.
    fn begin(&self, first: Outcome, num_components: usize) {
        let mut state = self.hold();
        let Some(promise) = state.outcome.take() else {
            return;
        };
        let (promises, values) = ValuePromises::new(num_components);
        state.values = Some(promises);
        // Not under the lock: this runs the waiters for the outcome.
        drop(state);
        promise.emplace(with_values(first, values));
    }

    /// Publishes the values of the batch, once all results are known.
    pub(super) fn finish(self, num_components: usize, batch: impl FnOnce() -> Outcome) {
        let looked_at = self.hold().looked_at.take();
        if let Some(looked_at) = looked_at {
            looked_at.emplace(Chain);
        }
        let batch = batch();
        if self.hold().outcome.is_some() {
            // The first result is known, and its watcher has not run yet.
            self.begin(batch.clone(), num_components);
        }
        let promises = self.hold().values.take();
        let Some(promises) = promises else { return };
        match batch {
            Outcome::Element(values) => promises.forward_to(values),
            Outcome::Error(error) => promises.fail(&error),
            // The values of an end are not read.
            Outcome::End(_) => {}
        }
    }

    fn hold(&self) -> MutexGuard<'_, AnswerState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the outcome of a batch with these values, whose first result is `first`.
pub(super) fn with_values(first: Outcome, values: Values) -> Outcome {
    match first {
        Outcome::Element(_) => Outcome::Element(values),
        Outcome::End(_) => Outcome::END,
        failed @ Outcome::Error(_) => failed,
    }
}

/// Calls `f` with the outcomes of `results` and with `promises` once `previous`, all outcomes and
/// all of their values are available.
pub(super) fn when_complete<P: Promises>(
    results: Vec<IterationResult>,
    previous: Option<AnyRef>,
    promises: P,
    f: impl FnOnce(Vec<Outcome>, P) + Send + 'static,
) {
    // The pending results, oldest first.
    let mut outcomes: Vec<Option<Outcome>> = Vec::with_capacity(results.len());
    let mut awaited: Vec<AnyRef> = previous.into_iter().collect();
    let num_previous = awaited.len();
    for result in results {
        match result {
            IterationResult::Known(outcome) => outcomes.push(Some(outcome)),
            IterationResult::Pending(pending) => {
                outcomes.push(None);
                awaited.push(pending.into_any());
            }
        }
    }
    run_when_ready_for(awaited, promises, move |awaited, promises| {
        let mut known = awaited.into_iter().skip(num_previous);
        let outcomes = outcomes.into_iter().map(|outcome| {
            outcome.unwrap_or_else(|| match known.next() {
                Some(value) => match value.get::<Outcome>() {
                    Some(outcome) => outcome.clone(),
                    None => Outcome::Error(value),
                },
                // Each pending result has a value.
                None => Outcome::END,
            })
        });
        let outcomes: Vec<Outcome> = outcomes.collect();
        when_values_are_there(outcomes, promises, f);
    });
}

/// Calls `f` with outcomes and promises once all values of the outcomes are available.
fn when_values_are_there<P: Promises>(
    mut outcomes: Vec<Outcome>,
    promises: P,
    f: impl FnOnce(Vec<Outcome>, P) + Send + 'static,
) {
    // Pending values are taken out of their elements: a holder would be a consumer.
    let (mut places, mut awaited) = (Vec::new(), Vec::new());
    for (place, value) in values_of(&mut outcomes).enumerate() {
        if !value.is_available() {
            places.push(place);
            awaited.push(std::mem::replace(value, AnyRef::ready_chain()));
        }
    }
    run_when_ready_for(awaited, promises, move |awaited, promises| {
        let mut arrived = places.into_iter().zip(awaited).peekable();
        for (place, value) in values_of(&mut outcomes).enumerate() {
            if let Some((_, arrived)) = arrived.next_if(|(its_place, _)| *its_place == place) {
                *value = arrived;
            }
        }
        f(outcomes, promises);
    });
}

/// Returns the values of all elements.
fn values_of(outcomes: &mut [Outcome]) -> impl Iterator<Item = &mut AnyRef> {
    let values = outcomes.iter_mut().filter_map(|outcome| match outcome {
        Outcome::Element(values) => Some(values),
        _ => None,
    });
    values.flatten()
}
