//! Room for payloads that are arriving.
//!
//! ```text
//!  expected ──┬── a receiver waits ──► the payload is its own: one at a time, of any size
//!             └── none waits yet ────► its bytes count as unclaimed from now on
//! ```
//!
//! So what arrives is limited before it has memory, and a payload that is waited for always
//! arrives.

use std::fmt;
use std::sync::{Arc, PoisonError, Weak};

use super::{State, Waiting};
use crate::sync::Mutex;

/// Room that a transport reserves for a payload before its bytes arrive. It is given back when the
/// payload is handed over, or when this is dropped. The default is none, for payloads without a
/// reservation.
///
/// ```
/// use tfrt_distributed::Payload;
/// use tfrt_distributed::fabric::ArrivedPayload;
/// use tfrt_distributed::rendezvous::PayloadRoom;
///
/// let arrived = ArrivedPayload {
///     context_id: 7,
///     instance_key: "key".to_owned(),
///     payload: Payload::new(vec![]),
///     room: PayloadRoom::default(),
/// };
/// assert_eq!(format!("{:?}", arrived.room), "PayloadRoom(None)");
/// ```
#[derive(Debug, Default)]
pub struct PayloadRoom(Option<Reserved>);

/// What is reserved, and where.
struct Reserved {
    state: Weak<Mutex<State>>,
    /// None once it was given back.
    share: Option<Share>,
}

/// What is reserved for a payload.
#[derive(Debug)]
pub(super) enum Share {
    /// So many bytes of those that may be unclaimed.
    Bytes(usize),
    /// The receiver of this key and number.
    Receiver(String, u64),
}

impl PayloadRoom {
    pub(super) fn new(state: &Arc<Mutex<State>>, share: Share) -> Self {
        Self(Some(Reserved {
            state: Arc::downgrade(state),
            share: Some(share),
        }))
    }

    /// Frees the room, which is usually of this state.
    pub(super) fn give_back(mut self, state: &Arc<Mutex<State>>, locked: &mut State) {
        if let Some(reserved) = &mut self.0
            && reserved.state.as_ptr() == Arc::as_ptr(state)
            && let Some(share) = reserved.share.take()
        {
            locked.give_back(share);
        }
    }
}

impl State {
    fn give_back(&mut self, share: Share) {
        match share {
            Share::Bytes(num_bytes) => self.num_arriving -= num_bytes,
            Share::Receiver(key, number) => {
                if let Some(Waiting::Receiver(receiver)) = self.waiting.get_mut(&key)
                    && receiver.number == number
                {
                    receiver.is_expecting = false;
                }
            }
        }
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        if let Some(share) = self.share.take()
            && let Some(state) = self.state.upgrade()
        {
            let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
            state.give_back(share);
        }
    }
}

impl fmt::Debug for Reserved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.share.fmt(f)
    }
}
