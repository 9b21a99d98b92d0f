//! Stages that answer their requests in order, whenever what they wait for arrives.
//!
//! The state of such a stage belongs to one thread at a time: to the consumer while it draws, or to
//! the thread that made the value available that the oldest request waits for. Only the holder of
//! the *token* may use the state.
//!
//! ```text
//!            the outcome is known: returned at once, nothing is allocated
//!           ┌───────────────────────────────────────────────────────────┐
//!  draw ──► Here(machine) ── step ──► Wait(value) ──► Away(shared): the request becomes a promise
//!                                                        │
//!  draw ──► queue of requests ──► enter ─────────────────┤  events: 0 → 1 takes the token
//!  value becomes available ─────► enter ─────────────────┘  others leave their event to the holder
//! ```
//!
//! Invariant T1: the thread that raises `events` from zero holds the token until it lowers the
//! count to zero again. An event that is counted while the token is held is handled by the holder
//! before it releases the token.
//!
//! Raising the count releases the queued request and acquires the state that the last holder left;
//! lowering it releases the state. `events` is a type of its own, [`Events`], which models explore.
//!
//! Dropping the iterator counts an event, too. From then on, the newest requests are dropped as
//! soon as their answers have no consumer ([`Promise::has_consumer`]), and the machine is dropped
//! with the last request: it stops looking for elements, and its inputs stop in the same way.
//! Requests whose answers have a consumer are answered as before.

mod events;

use std::collections::VecDeque;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crossbeam_deque::{Injector, Steal};
use tfrt_async::identity::TypeIdentity;
use tfrt_async::{AnyRef, AsyncValueRef, Chain, Immutable, Promise, Value};
use tfrt_host::ExecutionContext;
use tfrt_support::Error;

use crate::checkpoint::{StateReader, StateWriter, all_of};
use crate::function::panicked;
use crate::identity;
use crate::iterator::{Draw, cannot_seek};
use crate::result::{IterationResult, Outcome};

use events::Events;

/// How a stage answers requests, one after the other.
///
/// ```
/// use tfrt_async::{AnyRef, AsyncValueRef};
/// use tfrt_data::{Draw, IterationResult, Machine, Outcome, Serial, StepResult};
/// use tfrt_host::{ExecutionContext, HostContext, RequestContextBuilder};
///
/// /// One number, once it is there.
/// #[derive(Debug)]
/// struct Later(Option<AsyncValueRef<i64>>);
///
/// impl Machine for Later {
///     fn step(&mut self, _num_outstanding: usize, _ctx: &ExecutionContext) -> StepResult {
///         match self.0.take() {
///             None => StepResult::Answer(Outcome::END),
///             Some(number) if number.is_available() => StepResult::Answer(Outcome::one(number.into_any())),
///             Some(number) => StepResult::Wait(self.0.insert(number).as_any().clone()),
///         }
///     }
/// }
///
/// let ctx = ExecutionContext::new(RequestContextBuilder::new(HostContext::builder().build()).build());
/// let (promise, number) = AsyncValueRef::unconstructed();
/// let mut iterator = Serial::new(Later(Some(number)));
/// let (first, second) = (iterator.draw(&ctx), iterator.draw(&ctx));
/// assert!(!first.is_known() && !second.is_known());
/// promise.emplace(7);
/// assert!(matches!(first.into_outcome(), Ok(Outcome::Element(values)) if values[0].get() == Some(&7_i64)));
/// assert!(matches!(second.into_outcome(), Ok(Outcome::End(_))));
/// ```
pub trait Machine: Send + Sync + fmt::Debug + 'static {
    /// Answers the oldest of `num_outstanding` requests, or returns the value that it waits
    /// for. A stage that draws ahead does so for all of them. May be called again before that value
    /// is available.
    fn step(&mut self, num_outstanding: usize, ctx: &ExecutionContext) -> StepResult;

    /// Does the work of [`Draw::save`]. Only requests that were made after the save began wait for
    /// an answer then.
    ///
    /// # Errors
    /// As [`Draw::save`].
    fn save(&mut self, to: &mut StateWriter<'_>) -> Result<(), Error> {
        Err(to.unsupported::<Self>())
    }

    /// Does the work of [`Draw::restore`].
    ///
    /// # Errors
    /// As [`Draw::restore`].
    fn restore(&mut self, from: &mut StateReader<'_>) -> Result<(), Error> {
        Err(from.unsupported::<Self>())
    }

    /// Does the work of [`Draw::seek`]. No request waits for an answer then.
    ///
    /// # Errors
    /// As [`Draw::seek`].
    fn seek(&mut self, num_before: u64) -> Result<(), Error> {
        Err(cannot_seek::<Self>(num_before))
    }
}

/// What became of the oldest request.
#[derive(Debug)]
pub enum StepResult {
    /// Its outcome.
    Answer(Outcome),
    /// It waits for this value, which was not available a moment ago.
    Wait(AnyRef),
}

/// The number of elements that a stage examines for one request before it continues as a task of
/// the work queue, so that other tasks get their turn.
pub(crate) const STEPS_PER_TASK: u32 = 100;

/// Returns a step that goes on in a task of the work queue.
#[cold]
pub(crate) fn go_on_later(ctx: &ExecutionContext) -> StepResult {
    let (promise, later) = AsyncValueRef::unconstructed();
    ctx.enqueue(move || promise.emplace(Chain));
    StepResult::Wait(later.into_any())
}

/// An iterator that is driven by a [`Machine`]: draws while a request waits are answered after it,
/// in their order.
#[derive(Debug)]
pub struct Serial<M: Machine> {
    home: Home<M>,
}

/// Where the state is.
enum Home<M: Machine> {
    /// No request has ever waited. The consumer owns the state, and needs no token.
    Here(M),
    /// It is shared with the waiters that were registered.
    Away {
        shared: Arc<Shared<M>>,
        /// The state behind the last request, if it was asked for since.
        /// What the last save returns, and its number.
        saved: Option<(u64, AsyncValueRef<SavedState>)>,
    },
    /// On its way from `Here` to `Away`.
    Moving,
}

impl<M: Machine> Serial<M> {
    /// Creates an iterator at the start.
    pub fn new(machine: M) -> Self {
        Self {
            home: Home::Here(machine),
        }
    }

    /// Makes the state shared, with a first request that waits for `value`.
    #[cold]
    fn go_away(&mut self, value: AnyRef, ctx: &ExecutionContext) -> IterationResult {
        let (promise, result) = IterationResult::pending();
        if let Home::Here(machine) = std::mem::replace(&mut self.home, Home::Moving) {
            let shared = Arc::new(Shared {
                // The token is ours until the waiter is registered.
                events: Events::held(),
                requests: Injector::new(),
                is_abandoned: AtomicBool::new(false),
                held: Mutex::new(Held {
                    machine: Some(machine),
                    outstanding: VecDeque::new(),
                    num_saves: 0,
                    awaited: None,
                }),
            });
            self.home = Home::Away {
                shared: Arc::clone(&shared),
                saved: None,
            };
            let mut held = shared.hold();
            held.push(Request::draw(promise, ctx));
            shared.wait_for(&mut held, value);
            drop(held);
            shared.leave();
        }
        result
    }
}

impl<M: Machine> Draw for Serial<M> {
    #[inline]
    fn draw(&mut self, ctx: &ExecutionContext) -> IterationResult {
        match &mut self.home {
            Home::Here(machine) => match machine.step(1, ctx) {
                StepResult::Answer(outcome) => outcome.into(),
                StepResult::Wait(value) => self.go_away(value, ctx),
            },
            Home::Away { shared, saved } => {
                *saved = None;
                shared.draw(ctx)
            }
            Home::Moving => unreachable!("the state moves in one step"),
        }
    }

    fn save(&mut self, to: &mut StateWriter<'_>) -> Result<(), Error> {
        let (shared, saved) = match &mut self.home {
            Home::Here(machine) => return machine.save(to),
            Home::Away { shared, saved } => (shared, saved),
            Home::Moving => unreachable!("the state moves in one step"),
        };
        // Another save is made anew: functions may share a state with iterators that were drawn
        // from in between.
        let number = to.save_number();
        let kept = saved.take().filter(|(of, _)| *of == number);
        let (_, saved) = saved.insert(kept.unwrap_or_else(|| (number, shared.save(to))));
        if !saved.is_available() {
            to.wait_for(saved.as_any().clone());
            return Ok(());
        }
        match (saved.get(), saved.error_if_present()) {
            (Some(SavedState(state)), _) => to.append(state),
            (None, Some(error)) => return Err(error.clone()),
            (None, None) => {}
        }
        Ok(())
    }

    fn restore(&mut self, from: &mut StateReader<'_>) -> Result<(), Error> {
        match &mut self.home {
            Home::Here(machine) => machine.restore(from),
            Home::Away { .. } | Home::Moving => Err(from.unsupported::<Self>()),
        }
    }

    fn seek(&mut self, num_before: u64) -> Result<(), Error> {
        match &mut self.home {
            Home::Here(machine) => machine.seek(num_before),
            // No request waits, so no other thread holds the state.
            Home::Away { shared, .. } => shared.seek(num_before),
            Home::Moving => unreachable!("the state moves in one step"),
        }
    }
}

impl<M: Machine> Drop for Serial<M> {
    fn drop(&mut self) {
        if let Home::Away { shared, saved } = &mut self.home {
            *saved = None;
            // Relaxed: the event releases it.
            shared.is_abandoned.store(true, Ordering::Relaxed);
            shared.enter();
        }
    }
}

impl<M: Machine> fmt::Debug for Home<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Here(machine) => machine.fmt(f),
            Self::Away { .. } => f.write_str("Away"),
            Self::Moving => f.write_str("Moving"),
        }
    }
}

/// A request that has not been answered.
enum Request {
    Draw {
        promise: Promise<Outcome>,
        ctx: ExecutionContext,
    },
    /// For the state behind the requests before this one.
    Save {
        promise: Promise<SavedState>,
        number: u64,
        ctx: ExecutionContext,
    },
}

impl Request {
    fn draw(promise: Promise<Outcome>, ctx: &ExecutionContext) -> Self {
        let ctx = ctx.clone();
        Self::Draw { promise, ctx }
    }

    /// Returns `true` if the answer has a consumer.
    fn has_consumer(&self) -> bool {
        match self {
            Self::Draw { promise, .. } => promise.has_consumer(),
            Self::Save { promise, .. } => promise.has_consumer(),
        }
    }
}

/// The state of a stage, as bytes of a checkpoint.
#[derive(Debug)]
struct SavedState(Vec<u8>);

impl Value for SavedState {
    const MLIR_TYPE: &'static str = "!tfrt_data.saved_state";
    const IDENTITY: TypeIdentity<Self> = identity::of_this_crate();
}

impl Immutable for SavedState {}

/// The state, and what reaches it without the token.
struct Shared<M: Machine> {
    /// Events that have not been handled: see T1.
    events: Events,
    /// Requests that the holder of the token has not taken over.
    requests: Injector<Request>,
    /// The iterator was dropped: there are no further requests.
    is_abandoned: AtomicBool,
    /// Never contended: only the holder of the token locks it. The lock lets safe code say so.
    held: Mutex<Held<M>>,
}

/// What the token stands for.
struct Held<M> {
    /// Nothing once the iterator was dropped and no request is left.
    machine: Option<M>,
    /// Oldest first.
    outstanding: VecDeque<Request>,
    /// How many of them are saves.
    num_saves: usize,
    /// What a waiter was last registered with.
    awaited: Option<AnyRef>,
}

impl<M> Held<M> {
    fn push(&mut self, request: Request) {
        self.num_saves += usize::from(matches!(request, Request::Save { .. }));
        self.outstanding.push_back(request);
    }

    /// Drops the newest requests whose answers have no consumer, and the machine with the last of
    /// them. Requests before one that has a consumer stay, since their elements come first.
    #[cold]
    fn give_up(&mut self) {
        while self
            .outstanding
            .back()
            .is_some_and(|request| !request.has_consumer())
        {
            let request = self.outstanding.pop_back();
            self.num_saves -= usize::from(matches!(request, Some(Request::Save { .. })));
        }
        if self.outstanding.is_empty() {
            self.awaited = None;
            let machine = self.machine.take();
            // A payload whose destructor panics must not keep the token; the panic hook has
            // reported it.
            drop(catch_unwind(AssertUnwindSafe(|| drop(machine))));
        }
    }
}

impl<M: Machine> Shared<M> {
    /// Returns the state behind the requests so far, once they are answered.
    fn save(self: &Arc<Self>, to: &StateWriter<'_>) -> AsyncValueRef<SavedState> {
        let (promise, saved) = AsyncValueRef::unconstructed();
        self.requests.push(Request::Save {
            promise,
            number: to.save_number(),
            ctx: to.exec_ctx().clone(),
        });
        self.enter();
        saved
    }

    /// Does the work of [`Draw::seek`], if no request waits.
    #[cold]
    fn seek(self: &Arc<Self>, num_before: u64) -> Result<(), Error> {
        if !self.events.try_take() {
            return Err(cannot_seek::<M>(num_before));
        }
        let mut held = self.hold();
        let is_idle = held.outstanding.is_empty();
        let sought = match &mut held.machine {
            Some(machine) if is_idle => catch_unwind(AssertUnwindSafe(|| machine.seek(num_before)))
                .unwrap_or_else(|panic| Err(panicked(&*panic))),
            _ => Err(cannot_seek::<M>(num_before)),
        };
        drop(held);
        self.leave();
        sought
    }

    fn draw(self: &Arc<Self>, ctx: &ExecutionContext) -> IterationResult {
        if !self.events.try_take() {
            let (promise, result) = IterationResult::pending();
            self.requests.push(Request::draw(promise, ctx));
            self.enter();
            return result;
        }
        let mut held = self.hold();
        self.take_requests(&mut held);
        if held.outstanding.is_empty()
            && let Some(machine) = &mut held.machine
        {
            match step(machine, 1, ctx) {
                StepResult::Answer(outcome) => {
                    drop(held);
                    self.leave();
                    return outcome.into();
                }
                StepResult::Wait(value) => {
                    let (promise, result) = IterationResult::pending();
                    held.push(Request::draw(promise, ctx));
                    self.wait_for(&mut held, value);
                    drop(held);
                    self.leave();
                    return result;
                }
            }
        }
        let (promise, result) = IterationResult::pending();
        held.push(Request::draw(promise, ctx));
        self.handle(&mut held);
        drop(held);
        self.leave();
        result
    }

    /// Counts an event, and handles it unless somebody holds the token.
    fn enter(self: &Arc<Self>) {
        if self.events.enter() {
            self.handle(&mut self.hold());
            self.leave();
        }
    }

    /// Releases the token, after handling the events counted in the meantime. The caller has
    /// handled one event.
    fn leave(self: &Arc<Self>) {
        self.events.leave(|| self.handle(&mut self.hold()));
    }

    fn hold(&self) -> MutexGuard<'_, Held<M>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take_requests(&self, held: &mut Held<M>) {
        loop {
            match self.requests.steal() {
                Steal::Success(request) => held.push(request),
                Steal::Empty => return,
                Steal::Retry => {}
            }
        }
    }

    /// Answers what can be answered.
    fn handle(self: &Arc<Self>, held: &mut Held<M>) {
        loop {
            self.take_requests(held);
            // Relaxed: the event of the drop was counted after it.
            if self.is_abandoned.load(Ordering::Relaxed) {
                held.give_up();
            }
            let num_outstanding = held.outstanding.len() - held.num_saves;
            let ctx = match held.outstanding.front() {
                None => return,
                Some(Request::Draw { ctx, .. }) => ctx,
                Some(Request::Save { .. }) => match self.answer_save(held) {
                    None => continue,
                    Some(value) => return self.wait_for(held, value),
                },
            };
            let Some(machine) = &mut held.machine else {
                return;
            };
            match step(machine, num_outstanding, ctx) {
                StepResult::Answer(outcome) => {
                    // A value that was waited for is not kept longer than that.
                    held.awaited = None;
                    if let Some(Request::Draw { promise, .. }) = held.outstanding.pop_front() {
                        // A waiter that panics must not keep the token; the panic hook has reported
                        // it.
                        let publish = AssertUnwindSafe(|| promise.emplace(outcome));
                        drop(catch_unwind(publish));
                    }
                }
                StepResult::Wait(value) => return self.wait_for(held, value),
            }
        }
    }

    /// Answers the oldest request, a save, unless it has to wait for a value.
    #[cold]
    fn answer_save(&self, held: &mut Held<M>) -> Option<AnyRef> {
        let Some(Request::Save { number, ctx, .. }) = held.outstanding.front() else {
            return None;
        };
        let machine = held.machine.as_mut()?;
        let mut to = StateWriter::of_save(*number, ctx);
        let saved = catch_unwind(AssertUnwindSafe(|| machine.save(&mut to)));
        let saved = match (saved, to.finish()) {
            (Ok(Ok(())), Err(awaited)) => return Some(all_of(&awaited)),
            (Ok(Ok(())), Ok(state)) => Ok(SavedState(state)),
            (Ok(Err(error)), _) => Err(error),
            (Err(panic), _) => Err(panicked(&*panic)),
        };
        held.awaited = None;
        held.num_saves -= 1;
        if let Some(Request::Save { promise, .. }) = held.outstanding.pop_front() {
            // As for draws.
            drop(catch_unwind(AssertUnwindSafe(|| match saved {
                Ok(state) => promise.emplace(state),
                Err(error) => promise.set_error(error),
            })));
        }
        None
    }

    /// Enters again when `value` is available.
    fn wait_for(self: &Arc<Self>, held: &mut Held<M>, value: AnyRef) {
        if held
            .awaited
            .as_ref()
            .is_some_and(|awaited| awaited.ptr_eq(&value))
        {
            return;
        }
        let this = Arc::clone(self);
        // If it has become available, this counts an event, which whoever holds the token handles.
        // A watcher: the state keeps a reference for as long as an answer depends on the value.
        value.watch(move |_| this.enter());
        held.awaited = Some(value);
    }
}

/// Returns a step whose panic, which no caller could be told of, is the outcome of the request.
fn step<M: Machine>(machine: &mut M, num_outstanding: usize, ctx: &ExecutionContext) -> StepResult {
    catch_unwind(AssertUnwindSafe(|| machine.step(num_outstanding, ctx))).unwrap_or_else(|panic| {
        StepResult::Answer(Outcome::error(ctx.emit_error(panicked(&*panic))))
    })
}
