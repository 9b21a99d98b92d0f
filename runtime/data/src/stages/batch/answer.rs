//! What is promised of a batch of which some elements are pending, and the wait for them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tfrt_async::{AnyRef, AsyncValueRef, Chain, Promise, Promises, run_when_ready_for};

use crate::result::{IterationResult, Outcome, ValuePromises, Values};

/// What is promised of a batch of which nothing is known.
#[derive(Debug)]
pub(super) struct WholeBatch {
    pub(super) promise: Promise<Outcome>,
    /// Kept once the batch has looked at its elements.
    pub(super) looked_at: Option<Promise<Chain>>,
}

impl Promises for WholeBatch {
    fn have_consumer(&self) -> bool {
        let looked_at = self.looked_at.as_ref();
        self.promise.has_consumer() || looked_at.is_some_and(Promise::has_consumer)
    }
}

/// What is promised of a batch that has its components: first its outcome, which is that of its
/// first result, then its values.
///
/// Shared by who waits for the first result, without being a consumer of it, and who waits for all
/// results.
#[derive(Clone, Debug)]
pub(super) struct Answer(Arc<Mutex<AnswerState>>);

#[derive(Debug)]
struct AnswerState {
    /// Until the first result is known.
    outcome: Option<Promise<Outcome>>,
    /// From then on.
    values: Option<ValuePromises>,
    looked_at: Option<Promise<Chain>>,
}

impl Promises for Answer {
    fn have_consumer(&self) -> bool {
        let state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
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

    /// Tells the outcome as soon as the first result of the batch is known.
    pub(super) fn begin_with(&self, first: &AsyncValueRef<Outcome>, num_components: usize) {
        let this = self.clone();
        // A watcher: who waits for all results keeps a reference to this one.
        first.as_any().watch(move |value| {
            let first = match value.get::<Outcome>() {
                Some(first) => first.clone(),
                None => Outcome::Error(value.clone()),
            };
            this.begin(first, num_components);
        });
    }

    /// Tells the outcome, if it was not told before.
    fn begin(&self, first: Outcome, num_components: usize) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(promise) = state.outcome.take() else {
            return;
        };
        let (promises, values) = ValuePromises::new(num_components);
        state.values = Some(promises);
        // Not under the lock: who waits for the outcome runs here.
        drop(state);
        promise.emplace(with_values(first, values));
    }

    /// Tells what the batch is, once all results are known.
    pub(super) fn finish(self, num_components: usize, batch: impl FnOnce() -> Outcome) {
        let looked_at = self.hold().looked_at.take();
        if let Some(looked_at) = looked_at {
            looked_at.emplace(Chain);
        }
        let batch = batch();
        if self.hold().outcome.is_some() {
            // The first result is known, and who watches it has not been called yet.
            self.begin(batch.clone(), num_components);
        }
        let promises = self.hold().values.take();
        let Some(promises) = promises else { return };
        match batch {
            Outcome::Element(values) => promises.forward_to(values),
            Outcome::Error(error) => {
                let num_values = promises.len();
                promises.forward_to(std::iter::repeat_n(error, num_values));
            }
            // Nobody looks at the values of an end.
            Outcome::End(_) => {}
        }
    }

    fn hold(&self) -> MutexGuard<'_, AnswerState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The outcome of a batch with these values, whose first result is `first`.
pub(super) fn with_values(first: Outcome, values: Values) -> Outcome {
    match first {
        Outcome::Element(_) => Outcome::Element(values),
        Outcome::End(_) => Outcome::END,
        failed @ Outcome::Error(_) => failed,
    }
}

/// Calls `f` with the outcomes of `results` and with `promises` once all of them and all of their
/// values are there, and `previous` is.
pub(super) fn when_complete<P: Promises>(
    results: Vec<IterationResult>,
    previous: Option<AnyRef>,
    promises: P,
    f: impl FnOnce(Vec<Outcome>, P) + Send + 'static,
) {
    // What is pending, oldest first, and where it belongs.
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
                // There is one for each.
                None => Outcome::END,
            })
        });
        let outcomes: Vec<Outcome> = outcomes.collect();
        when_values_are_there(outcomes, promises, f);
    });
}

/// Calls `f` with outcomes and promises once all values of the outcomes are there.
fn when_values_are_there<P: Promises>(
    mut outcomes: Vec<Outcome>,
    promises: P,
    f: impl FnOnce(Vec<Outcome>, P) + Send + 'static,
) {
    // What is pending is taken out of its element: who holds it is its consumer.
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

/// The values of all elements.
fn values_of(outcomes: &mut [Outcome]) -> impl Iterator<Item = &mut AnyRef> {
    let values = outcomes.iter_mut().filter_map(|outcome| match outcome {
        Outcome::Element(values) => Some(values),
        _ => None,
    });
    values.flatten()
}
