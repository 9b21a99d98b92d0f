//! The rendezvous of payloads and receivers: either may come first.
//!
//! ```text
//!            payload ──► key ◄── receiver         whoever comes second calls the receiver with the payload
//! ```
//!
//! Each pair is consumed once. The receiver runs on the thread that arrives second, without the
//! lock held. Unclaimed payloads have a limit in bytes: beyond it, senders are told to retry later.
//! A payload that is [expected](crate::fabric::RequestHandler::expect_payload) has its room before
//! it arrives.

mod room;

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, PoisonError};

use tfrt_support::{Error, ErrorCode};

use crate::error::{RemoteError, RemoteErrors};
use crate::payload::Payload;
use crate::sync::{Mutex, MutexGuard};

pub use room::PayloadRoom;

use room::Share;

/// The callback that gets a payload, or the reason why there is none.
pub type Receiver = Box<dyn FnOnce(Result<Payload, Error>) + Send>;

/// Payloads and receivers that wait for each other, by key.
///
/// ```
/// use std::sync::mpsc::channel;
/// use tfrt_distributed::Payload;
/// use tfrt_distributed::rendezvous::Rendezvous;
///
/// let rendezvous = Rendezvous::default();
/// let (sender, received) = channel();
/// rendezvous.receive("k", Box::new(move |payload| sender.send(payload.is_ok()).unwrap()));
/// rendezvous.send("k", Payload::new(vec![]))?;
/// assert!(received.try_recv().unwrap());
/// assert!(rendezvous.is_empty());
/// # Ok::<(), tfrt_distributed::RemoteError>(())
/// ```
pub struct Rendezvous {
    state: Arc<Mutex<State>>,
    /// Whose it is, for errors.
    owner: String,
    max_bytes: usize,
}

#[derive(Default)]
struct State {
    waiting: HashMap<String, Waiting>,
    /// The size of the payloads that wait.
    num_bytes: usize,
    /// The size of those that are arriving and that no receiver waits for.
    num_arriving: usize,
    /// The number of the next receiver that waits.
    next_receiver: u64,
    /// Say which payloads nobody will claim, by what they discard.
    discards: HashMap<String, IsOver>,
    /// The reason why the rendezvous is closed.
    closed: Option<Error>,
}

impl State {
    /// Returns the number of bytes that are left of a limit.
    fn room(&self, max_bytes: usize) -> usize {
        max_bytes
            .saturating_sub(self.num_bytes)
            .saturating_sub(self.num_arriving)
    }

    /// Takes the receiver of a key that has this number, if it waits.
    fn take_receiver(&mut self, key: &str, number: u64) -> Option<WaitingReceiver> {
        match self.waiting.remove(key)? {
            Waiting::Receiver(receiver) if receiver.number == number => Some(receiver),
            other => {
                self.waiting.insert(key.to_owned(), other);
                None
            }
        }
    }

    /// Returns `true` for a payload that nobody will claim.
    fn is_over(&self, key: &str, payload: &Payload) -> bool {
        let mut rules = self.discards.values();
        rules.any(|is_over| is_over(key, payload))
    }

    /// Removes the payload of a key if nobody will claim it.
    fn take_over(&mut self, key: &str) -> Option<Waiting> {
        match self.waiting.get(key)? {
            Waiting::Payload(payload) if self.is_over(key, payload) => {
                self.num_bytes -= size(key, payload);
                self.waiting.remove(key)
            }
            Waiting::Payload(_) | Waiting::Receiver(_) => None,
        }
    }
}

/// Returns `true` for a payload, with its key, that nobody will claim.
type IsOver = Box<dyn Fn(&str, &Payload) -> bool + Send>;

enum Waiting {
    Payload(Payload),
    Receiver(WaitingReceiver),
}

struct WaitingReceiver {
    call: Receiver,
    number: u64,
    /// Whether it takes little time, so that it may run on a thread of the transport.
    is_light: bool,
    /// Whether its payload is arriving.
    is_expecting: bool,
}

/// The numbers of those that wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct NumWaiting {
    pub(crate) num_payloads: usize,
    pub(crate) num_receivers: usize,
}

/// What became of a receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entered {
    /// It waits, and has this number.
    Waits(u64),
    WasCalled,
    /// Another one waits for its key.
    IsTaken,
}

/// The bytes that a payload, and each of its buffers, counts in addition to its own.
pub const OVERHEAD: usize = 256;

/// The start of an error message after which a payload may be sent again later.
const FULL: &str = "receive buffer of ";

/// Returns `true` if errors say that a payload may be sent again later.
pub(crate) fn is_full(errors: &RemoteErrors) -> bool {
    let is_full = |error: &RemoteError| {
        error.code == ErrorCode::Unavailable && error.message.starts_with(FULL)
    };
    errors.as_slice().iter().all(is_full)
}

/// Returns the size of a payload with respect to the limit.
fn size(key: &str, payload: &Payload) -> usize {
    let buffers = payload.buffers().iter();
    let bytes = buffers.fold(0_usize, |sum, buffer| {
        sum.saturating_add(buffer.len_bytes())
            .saturating_add(OVERHEAD)
    });
    bytes.saturating_add(key.len()).saturating_add(OVERHEAD)
}

impl Default for Rendezvous {
    fn default() -> Self {
        Self::new("this task", usize::MAX)
    }
}

impl Rendezvous {
    /// Creates the rendezvous of a task, with a limit of unclaimed bytes.
    #[must_use]
    pub fn new(owner: impl Into<String>, max_bytes: usize) -> Self {
        Self {
            state: Arc::default(),
            owner: owner.into(),
            max_bytes,
        }
    }

    /// Returns the limit of unclaimed bytes.
    pub(crate) fn max_bytes(&self) -> usize {
        self.max_bytes
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands a payload to the receiver of its key, now or once there is one.
    ///
    /// # Errors
    /// `Value for key K was set twice.` if one is waiting already; `receive buffer of T is full` if
    /// too many others are.
    pub fn send(&self, key: &str, payload: Payload) -> Result<(), RemoteError> {
        self.send_arrived(key, payload, PayloadRoom::default())
    }

    /// As [`send`](Self::send), for a payload that was [expected](Self::expect).
    pub(crate) fn send_arrived(
        &self,
        key: &str,
        payload: Payload,
        room: PayloadRoom,
    ) -> Result<(), RemoteError> {
        let mut state = self.lock();
        room.give_back(&self.state, &mut state);
        self.send_locked(state, self.max_bytes, key, payload)
    }

    /// As [`send_arrived`](Self::send_arrived), if that takes little time: no receiver waits for
    /// the key, or a [light](Self::receive_light) one. Returns the payload and its room otherwise.
    pub(crate) fn send_at_once(
        &self,
        key: &str,
        payload: Payload,
        room: PayloadRoom,
    ) -> Result<Result<(), RemoteError>, (Payload, PayloadRoom)> {
        let mut state = self.lock();
        match state.waiting.get(key) {
            Some(Waiting::Receiver(receiver)) if !receiver.is_light => Err((payload, room)),
            _ => {
                room.give_back(&self.state, &mut state);
                Ok(self.send_locked(state, self.max_bytes, key, payload))
            }
        }
    }

    /// Reserves room for a payload of so many bytes that is about to arrive. If a receiver waits
    /// for it, and no other payload arrives for that one, there is room in any case.
    ///
    /// # Errors
    /// `receive buffer of T is full` if too many others wait or arrive.
    pub(crate) fn expect(&self, key: &str, num_bytes: u64) -> Result<PayloadRoom, RemoteError> {
        let mut state = self.lock();
        if let Some(error) = &state.closed {
            return Err(error.into());
        }
        if let Some(Waiting::Receiver(receiver)) = state.waiting.get_mut(key)
            && !receiver.is_expecting
        {
            receiver.is_expecting = true;
            let share = Share::Receiver(key.to_owned(), receiver.number);
            return Ok(PayloadRoom::new(&self.state, share));
        }
        let size = usize::try_from(num_bytes).unwrap_or(usize::MAX);
        let size = size.saturating_add(key.len() + OVERHEAD);
        if size > state.room(self.max_bytes) {
            return Err(self.full());
        }
        state.num_arriving += size;
        Ok(PayloadRoom::new(&self.state, Share::Bytes(size)))
    }

    #[cold]
    fn full(&self) -> RemoteError {
        let message = format!("{FULL}{} is full", self.owner);
        RemoteError::new(ErrorCode::Unavailable, message)
    }

    /// Hands a payload to the receiver of its key that another receiver could not use. There is no
    /// limit to its size, as there is none for a payload that a receiver waits for.
    ///
    /// # Errors
    /// `Value for key K was set twice.` if one is waiting already.
    pub(crate) fn put_back(&self, key: &str, payload: Payload) -> Result<(), RemoteError> {
        self.send_locked(self.lock(), usize::MAX, key, payload)
    }

    fn send_locked(
        &self,
        mut state: MutexGuard<'_, State>,
        max_bytes: usize,
        key: &str,
        payload: Payload,
    ) -> Result<(), RemoteError> {
        if let Some(error) = &state.closed {
            return Err(error.into());
        }
        // A payload that nobody will claim gives way.
        let over = state.take_over(key);
        let outcome = match state.waiting.remove(key) {
            None if state.is_over(key, &payload) => Ok(()),
            None => {
                let size = size(key, &payload);
                if size > state.room(max_bytes) {
                    Err(self.full())
                } else {
                    state.num_bytes += size;
                    let waiting = Waiting::Payload(payload);
                    state.waiting.insert(key.to_owned(), waiting);
                    Ok(())
                }
            }
            Some(Waiting::Receiver(receiver)) => {
                drop(state);
                (receiver.call)(Ok(payload));
                return Ok(());
            }
            Some(first) => {
                state.waiting.insert(key.to_owned(), first);
                let message = format!("Value for key {key} was set twice.");
                Err(RemoteError::new(ErrorCode::AlreadyExists, message))
            }
        };
        drop(state);
        // Without the lock.
        drop(over);
        outcome
    }

    /// Calls a receiver with the payload of its key, now or once there is one. The receiver gets an
    /// error if another one waits for the key already: `Two receivers for key K.` Returns `true` if
    /// the receiver waits, `false` if it was called.
    pub fn receive(&self, key: &str, receiver: Receiver) -> bool {
        self.receive_numbered(key, receiver).is_some()
    }

    /// As [`receive`](Self::receive), for a receiver that takes little time and waits for nothing:
    /// it may run on a thread of the transport. Returns the number of one that waits.
    pub(crate) fn receive_light(&self, key: &str, receiver: Receiver) -> Option<u64> {
        self.receive_locked(self.lock(), key, receiver, true)
    }

    /// As [`receive`](Self::receive). Returns the number of a receiver that waits, with which it is
    /// [given up](Self::give_up_numbered).
    pub fn receive_numbered(&self, key: &str, receiver: Receiver) -> Option<u64> {
        self.receive_locked(self.lock(), key, receiver, false)
    }

    /// Drops the receiver of a key that has this number, if it still waits.
    pub(crate) fn withdraw(&self, key: &str, number: u64) {
        let withdrawn = self.lock().take_receiver(key, number);
        // Without the lock.
        drop(withdrawn);
    }

    fn receive_locked(
        &self,
        mut state: MutexGuard<'_, State>,
        key: &str,
        receiver: Receiver,
        is_light: bool,
    ) -> Option<u64> {
        let closed = state.closed.clone();
        let outcome = match (closed, state.waiting.remove(key)) {
            (Some(error), _) => Err(error),
            (None, Some(Waiting::Payload(payload))) => {
                state.num_bytes -= size(key, &payload);
                Ok(payload)
            }
            (None, None) => {
                let number = state.next_receiver;
                state.next_receiver += 1;
                let waiting = WaitingReceiver {
                    call: receiver,
                    number,
                    is_light,
                    is_expecting: false,
                };
                let waiting = Waiting::Receiver(waiting);
                state.waiting.insert(key.to_owned(), waiting);
                return Some(number);
            }
            (None, Some(first)) => {
                state.waiting.insert(key.to_owned(), first);
                let message = format!("Two receivers for key {key}.");
                Err(Error::new(message).with_code(ErrorCode::AlreadyExists))
            }
        };
        drop(state);
        receiver(outcome);
        None
    }

    /// As [`receive`](Self::receive), but returns `false` and drops the receiver if another one
    /// waits for the key.
    pub(crate) fn try_receive(&self, key: &str, receiver: Receiver) -> bool {
        self.try_receive_as(key, receiver, false) != Entered::IsTaken
    }

    /// As [`try_receive`](Self::try_receive), for a [light](Self::receive_light) receiver that may
    /// be [withdrawn](Self::withdraw).
    pub(crate) fn try_receive_light(&self, key: &str, receiver: Receiver) -> Entered {
        self.try_receive_as(key, receiver, true)
    }

    fn try_receive_as(&self, key: &str, receiver: Receiver, is_light: bool) -> Entered {
        let state = self.lock();
        let is_taken = matches!(state.waiting.get(key), Some(Waiting::Receiver(..)));
        if is_taken {
            // The receiver may drop something that uses the rendezvous.
            drop(state);
            drop(receiver);
            return Entered::IsTaken;
        }
        // Under the same lock: two threads may come at once.
        let number = self.receive_locked(state, key, receiver, is_light);
        number.map_or(Entered::WasCalled, Entered::Waits)
    }

    /// Ends the wait of the receiver of a key, if there is one, with an error.
    pub fn give_up(&self, key: &str, error: &Error) {
        let mut state = self.lock();
        match state.waiting.remove(key) {
            Some(Waiting::Receiver(receiver)) => {
                drop(state);
                (receiver.call)(Err(error.clone()));
            }
            Some(payload) => {
                state.waiting.insert(key.to_owned(), payload);
            }
            None => {}
        }
    }

    /// Ends the wait of the receiver of a key that has this number, if it still waits, with an
    /// error. Another one may wait for the key by now, which is not concerned.
    pub fn give_up_numbered(&self, key: &str, number: u64, error: &Error) {
        let mut state = self.lock();
        let withdrawn = state.take_receiver(key, number);
        drop(state);
        if let Some(receiver) = withdrawn {
            (receiver.call)(Err(error.clone()));
        }
    }

    /// Drops the payloads that nobody will claim, now and when they arrive. Replaces the former
    /// rule of this name.
    pub(crate) fn discard(
        &self,
        name: String,
        is_over: impl Fn(&str, &Payload) -> bool + Send + 'static,
    ) {
        let former = self.lock().discards.insert(name, Box::new(is_over));
        // Without the lock.
        drop(former);
        self.sweep();
    }

    /// Drops the payloads that nobody will claim, by the rules so far: what they say may have
    /// changed since the payloads have arrived.
    pub(crate) fn sweep(&self) {
        let mut state = self.lock();
        let State {
            waiting, discards, ..
        } = &mut *state;
        let over = waiting.extract_if(|key, waiting| match waiting {
            Waiting::Payload(payload) => discards.values().any(|is_over| is_over(key, payload)),
            Waiting::Receiver(..) => false,
        });
        let over: Vec<(String, Waiting)> = over.collect();
        for (key, waiting) in &over {
            if let Waiting::Payload(payload) = waiting {
                state.num_bytes -= size(key, payload);
            }
        }
        drop(state);
        // Without the lock.
        drop(over);
    }

    /// As [`sweep`](Self::sweep), for one key.
    pub(crate) fn sweep_key(&self, key: &str) {
        let over = self.lock().take_over(key);
        // Without the lock.
        drop(over);
    }

    /// Returns `true` if no one and nothing waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lock().waiting.is_empty()
    }

    /// Returns the number of payloads that wait for a receiver.
    #[must_use]
    pub fn num_payloads(&self) -> usize {
        let state = self.lock();
        let waiting = state.waiting.values();
        waiting
            .filter(|waiting| matches!(waiting, Waiting::Payload(_)))
            .count()
    }

    /// Returns the payload that waits for a receiver of a key, if there is one.
    pub(crate) fn payload(&self, key: &str) -> Option<Payload> {
        match self.lock().waiting.get(key) {
            Some(Waiting::Payload(payload)) => Some(payload.clone()),
            Some(Waiting::Receiver(..)) | None => None,
        }
    }

    /// Returns the payloads that wait for a receiver, in order of their keys.
    pub(crate) fn payloads(&self) -> Vec<(String, Payload)> {
        let state = self.lock();
        let payloads = state
            .waiting
            .iter()
            .filter_map(|(key, waiting)| match waiting {
                Waiting::Payload(payload) => Some((key.clone(), payload.clone())),
                Waiting::Receiver(..) => None,
            });
        let mut payloads: Vec<_> = payloads.collect();
        drop(state);
        payloads.sort_by(|(first, _), (second, _)| first.cmp(second));
        payloads
    }

    /// Counts what waits, without the keys that `is_excepted`.
    pub(crate) fn count_except(&self, is_excepted: impl Fn(&str) -> bool) -> NumWaiting {
        let state = self.lock();
        let mut counts = NumWaiting::default();
        let waiting = state.waiting.iter().filter(|(key, _)| !is_excepted(key));
        for (_, waiting) in waiting {
            match waiting {
                Waiting::Payload(_) => counts.num_payloads += 1,
                Waiting::Receiver(..) => counts.num_receivers += 1,
            }
        }
        counts
    }

    /// Ends all waits with an error, and refuses later ones.
    pub(crate) fn close(&self, error: &Error) {
        let mut state = self.lock();
        state.closed.get_or_insert_with(|| error.clone());
        let waiting = std::mem::take(&mut state.waiting);
        state.num_bytes = 0;
        drop(state);
        for waiting in waiting.into_values() {
            if let Waiting::Receiver(receiver) = waiting {
                (receiver.call)(Err(error.clone()));
            }
        }
    }
}

impl fmt::Debug for Rendezvous {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.lock().waiting.keys()).finish()
    }
}

#[cfg(all(test, loom))]
mod loom_models;

#[cfg(test)]
mod tests;
