//! A batch whose results are under way, and the promise of each of them.
//!
//! ```text
//!  drawn ──► ResultPromise ──► waits for its element ──► call ──► waits for its results ──► arrive
//!                                              copies the row; the last one publishes the values ◄┘
//! ```
//!
//! The values of a batch are promised as soon as it is drawn, and published by whoever brings its
//! last result. A result is needed for as long as the iterator may answer with its batch, or the
//! promised values have a consumer.

use std::fmt;
use std::sync::{Arc, PoisonError};

use tfrt_async::{AnyRef, AsyncValueRef, Chain, Promises};
use tfrt_host::ExecutionContext;

use super::rows::Rows;
use crate::result::{Outcome, ValuePromises, Values};
use crate::stages::signal::Signal;
use crate::sync::{AtomicUsize, Mutex, MutexGuard, Ordering};

/// The results of all batches of an iterator that have not arrived.
#[derive(Debug)]
pub(super) struct Arrivals {
    num_under_way: AtomicUsize,
    signal: Signal,
}

impl Arrivals {
    pub(super) fn new() -> Self {
        Self {
            num_under_way: AtomicUsize::new(0),
            signal: Signal::new(),
        }
    }

    /// Returns how many results are under way.
    pub(super) fn num_under_way(&self) -> usize {
        // Acquire pairs with the release in `arrive`: whoever sees the number sees the result.
        self.num_under_way.load(Ordering::Acquire)
    }

    /// If so many results are under way, returns a value that becomes available when the next one
    /// has arrived.
    pub(super) fn next_if_full(&self, max_under_way: usize) -> Option<AnyRef> {
        if self.num_under_way() < max_under_way {
            return None;
        }
        let next = self.signal.next();
        // One may have arrived in between.
        (self.num_under_way() >= max_under_way).then_some(next)
    }

    fn begin(&self) {
        // Only the iterator begins results, and it knows what it has begun.
        self.num_under_way.fetch_add(1, Ordering::Relaxed);
    }

    fn arrive(&self) {
        self.num_under_way.fetch_sub(1, Ordering::Release);
        self.signal.tell();
    }
}

/// A batch under construction.
pub(super) struct Batch {
    state: Mutex<State>,
    drops_remainder: bool,
    ctx: ExecutionContext,
    arrivals: Arc<Arrivals>,
    complete: Signal,
}

#[derive(Debug)]
struct State {
    /// Until the batch is finished.
    rows: Option<Rows>,
    /// How many results have not arrived; while the batch is drawn, one more.
    num_awaited: usize,
    /// The iterator may still answer with the batch.
    is_wanted: bool,
    /// Once the iterator has answered with a batch that is not complete.
    values: Option<ValuePromises>,
}

/// What the iterator answers with a batch that has been drawn.
pub(super) enum Answer {
    Batch(Outcome),
    /// The batch is not complete, which it has to be.
    Wait(AnyRef),
}

impl Batch {
    /// Creates an empty batch, which is being drawn.
    pub(super) fn new(
        rows: Rows,
        drops_remainder: bool,
        arrivals: &Arc<Arrivals>,
        ctx: &ExecutionContext,
    ) -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::new(State {
                rows: Some(rows),
                num_awaited: 1,
                is_wanted: true,
                values: None,
            }),
            drops_remainder,
            ctx: ctx.clone(),
            arrivals: Arc::clone(arrivals),
            complete: Signal::new(),
        })
    }

    fn hold(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a result with available values. Returns `false` if there is no memory for the batch.
    pub(super) fn add(&self, index: usize, outcome: &Outcome) -> bool {
        let mut state = self.hold();
        let Some(rows) = &mut state.rows else {
            return true;
        };
        let copies = rows.add(index, outcome, &self.ctx);
        let has_memory = !rows.has_no_memory();
        drop(state);
        if let Outcome::Element(values) = outcome {
            for copy in copies {
                if let Err((copy, error)) = copy.run(values)
                    && let Some(rows) = &mut self.hold().rows
                {
                    rows.refuse(&copy, error);
                }
            }
        }
        has_memory
    }

    /// Returns the promise of a result that is not known.
    pub(super) fn promise(self: &Arc<Self>, index: usize) -> ResultPromise {
        self.hold().num_awaited += 1;
        self.arrivals.begin();
        ResultPromise {
            batch: Arc::clone(self),
            index,
            has_arrived: false,
        }
    }

    /// Returns how many results of the batch, which is being drawn, have not arrived.
    pub(super) fn num_pending(&self) -> usize {
        self.hold().num_awaited - 1
    }

    /// Says that all results are drawn.
    pub(super) fn end_draws(&self) {
        self.count_down();
    }

    /// Says that the iterator will not answer with the batch.
    pub(super) fn give_up(&self) {
        let mut state = self.hold();
        state.is_wanted = false;
        let rows = state.rows.take();
        drop(state);
        drop(rows);
    }

    /// Returns the batch, which has been drawn. Unless `is_whole`, its values may be pending.
    pub(super) fn answer(&self, is_whole: bool) -> Answer {
        let mut state = self.hold();
        if state.num_awaited > 0 && (is_whole || self.drops_remainder) {
            drop(state);
            let complete = self.complete.next();
            // It may have become complete in between.
            if self.hold().num_awaited > 0 {
                return Answer::Wait(complete);
            }
            state = self.hold();
        }
        if state.num_awaited > 0 {
            let num_components = state.rows.as_ref().map_or(0, Rows::num_components);
            let (promises, values) = ValuePromises::new(num_components);
            state.values = Some(promises);
            state.is_wanted = false;
            return Answer::Batch(Outcome::Element(values));
        }
        state.is_wanted = false;
        let rows = state.rows.take();
        drop(state);
        let finish = |rows: Rows| rows.finish(self.drops_remainder, &self.ctx);
        Answer::Batch(rows.map_or(Outcome::END, finish))
    }

    /// Counts a result that has arrived, or the end of the draws. Whoever counts the last one
    /// publishes the values, if they are promised.
    fn count_down(&self) {
        let mut state = self.hold();
        state.num_awaited -= 1;
        if state.num_awaited > 0 {
            return;
        }
        let promised = state.values.take();
        let rows = promised.is_some().then(|| state.rows.take()).flatten();
        drop(state);
        self.complete.tell();
        let (Some(promises), Some(rows)) = (promised, rows) else {
            return;
        };
        match rows.finish(self.drops_remainder, &self.ctx) {
            Outcome::Element(values) => promises.forward_to(values),
            Outcome::Error(error) => promises.fail(&error),
            // Not promised: a batch that begins with an end is the end.
            Outcome::End(_) => {}
        }
    }

    fn has_consumer(&self) -> bool {
        let state = self.hold();
        state.is_wanted || state.values.as_ref().is_some_and(Promises::have_consumer)
    }
}

impl fmt::Debug for Batch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Batch").finish_non_exhaustive()
    }
}

/// The promise of one result of a batch. If it is dropped, the result is an error.
#[derive(Debug)]
pub(super) struct ResultPromise {
    batch: Arc<Batch>,
    index: usize,
    has_arrived: bool,
}

impl ResultPromise {
    /// Writes the row of the result, whose values are available.
    pub(super) fn arrive(mut self, outcome: Outcome) {
        self.arrive_with(outcome);
    }

    /// Makes all values of the result this error.
    pub(super) fn fail(self, error: &AnyRef, num_values: usize) {
        let values: Values = std::iter::repeat_n(error.clone(), num_values).collect();
        self.arrive(Outcome::Element(values));
    }

    fn arrive_with(&mut self, outcome: Outcome) {
        self.has_arrived = true;
        // Even if the destructor of a value panics.
        let counted = Counted(&self.batch);
        self.batch.add(self.index, &outcome);
        // The element is dropped before another one is drawn in its place.
        drop(outcome);
        drop(counted);
    }
}

/// Counts a result that has arrived when it is dropped.
struct Counted<'a>(&'a Batch);

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.count_down();
        self.0.arrivals.arrive();
    }
}

impl Promises for ResultPromise {
    fn have_consumer(&self) -> bool {
        self.batch.has_consumer()
    }
}

impl Drop for ResultPromise {
    fn drop(&mut self) {
        if !self.has_arrived {
            let (promise, value) = AsyncValueRef::<Chain>::unconstructed();
            // That makes the value an error.
            drop(promise);
            self.arrive_with(Outcome::Error(value.into_any()));
        }
    }
}

#[cfg(all(test, loom))]
mod loom_models {
    //! Models of the two waits of the iterator, over the shipped source:
    //! `RUSTFLAGS="--cfg loom" cargo test -p tfrt-data --release --lib loom`.

    use loom::sync::atomic::AtomicUsize;
    use loom::thread;
    use tfrt_host::{HostContext, RequestContextBuilder};
    use tfrt_support::Error;

    use super::*;

    /// A result that arrives while the iterator looks whether it may draw is seen or told.
    #[test]
    fn loom_a_limited_draw_waits_for_a_result_that_is_under_way() {
        loom::model(|| {
            let (arrivals, row) = (Arc::new(Arrivals::new()), Arc::new(AtomicUsize::new(0)));
            arrivals.begin();
            let task = thread::spawn({
                let (arrivals, row) = (Arc::clone(&arrivals), Arc::clone(&row));
                move || {
                    row.store(7, Ordering::Relaxed);
                    arrivals.arrive();
                }
            });
            let limited = arrivals.next_if_full(1);
            if limited.is_none() {
                assert_eq!(row.load(Ordering::Relaxed), 7);
            }
            task.join().unwrap();
            assert!(
                limited.is_none_or(|next| next.is_available()),
                "nobody tells"
            );
            assert_eq!(arrivals.num_under_way(), 0);
        });
    }

    /// The last result arrives while the iterator ends the draws and answers with the batch: one of
    /// the two publishes it.
    fn answer_against_the_last_arrival(is_whole: bool) {
        loom::model(move || {
            let host = HostContext::builder().build();
            let ctx = ExecutionContext::new(RequestContextBuilder::new(host).build());
            let arrivals = Arc::new(Arrivals::new());
            let batch = Batch::new(Rows::new(1, 1), false, &arrivals, &ctx);
            let promise = batch.promise(0);
            let task = thread::spawn(move || {
                let value = AnyRef::error(Error::new("no value"));
                promise.arrive(Outcome::Element([value].into_iter().collect()));
            });
            batch.end_draws();
            let answer = batch.answer(is_whole);
            task.join().unwrap();
            let answer = match answer {
                Answer::Wait(complete) => {
                    assert!(is_whole && complete.is_available(), "nobody tells");
                    batch.answer(is_whole)
                }
                answer => answer,
            };
            let Answer::Batch(Outcome::Element(values)) = answer else {
                panic!("expected a batch");
            };
            let error = values[0].error_if_present().expect("the value is there");
            assert_eq!(error.message(), "no value");
        });
    }

    #[test]
    fn loom_promised_values_are_published_by_the_last_result() {
        answer_against_the_last_arrival(false);
    }

    #[test]
    fn loom_a_batch_that_has_to_be_complete_is_waited_for() {
        answer_against_the_last_arrival(true);
    }
}
