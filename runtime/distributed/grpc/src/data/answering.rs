//! The way back to the client: answers go out as they come.
//!
//! ```text
//!  answer ──► is another answer to come? ── no ──► socket, on the thread that answers
//!                   └── yes, or the socket is full ──► queue ──► socket, in the task of the connection
//! ```
//!
//! So an answer that is alone goes without a change of threads, and many go together.

use std::sync::{Arc, Weak};

use prost::bytes::Bytes;
use tokio::io::AsyncWrite;
use tokio::sync::{Mutex, OwnedSemaphorePermit, mpsc, watch};

use super::frames::Frames;
use super::{Header, Heard, Kind};
use crate::answers::Answer;
use crate::status;

/// The most bytes of answers that wait for the client before nothing more is read from it. An
/// answer alone never has more, however large it is: the client may have to be read to get on.
pub(super) const MAX_WAITING_BYTES: usize = 4 << 20;

/// The right to answer. The connection goes on until the last one is dropped, unless the client
/// ends it.
pub(super) struct Answerer<W> {
    /// Nothing once the connection has ended: its socket does not wait for answers.
    shared: Weak<Shared<W>>,
    queue: mpsc::UnboundedSender<Queued>,
}

/// The right to answer until nobody else has it.
pub(super) struct WeakAnswerer<W> {
    shared: Weak<Shared<W>>,
    queue: mpsc::WeakUnboundedSender<Queued>,
}

/// What waits for the task of the connection.
struct Queued {
    /// A frame, or nothing but what the socket did not take of one.
    frame: Option<AnswerFrame>,
    /// The number of bytes that wait with it, at most.
    num_bytes: usize,
    /// The room that the payload has taken until its answer is sent.
    _room: Option<OwnedSemaphorePermit>,
}

struct Shared<W> {
    frames: Mutex<Frames<W>>,
    num_waiting_bytes: watch::Sender<usize>,
}

/// The answers that wait.
pub(super) struct Waiting<W> {
    shared: Arc<Shared<W>>,
    queue: mpsc::UnboundedReceiver<Queued>,
}

/// Returns the two ends of the way to a socket.
pub(super) fn way_back<W>(frames: Frames<W>) -> (Answerer<W>, Waiting<W>) {
    let shared = Arc::new(Shared {
        frames: Mutex::new(frames),
        num_waiting_bytes: watch::Sender::default(),
    });
    let (sender, queue) = mpsc::unbounded_channel();
    let answerer = Answerer {
        shared: Arc::downgrade(&shared),
        queue: sender,
    };
    (answerer, Waiting { shared, queue })
}

impl<W> Clone for Answerer<W> {
    fn clone(&self) -> Self {
        Self {
            shared: Weak::clone(&self.shared),
            queue: self.queue.clone(),
        }
    }
}

impl<W> WeakAnswerer<W> {
    /// Returns the right to answer, if anybody else still has it.
    pub(super) fn upgrade(&self) -> Option<Answerer<W>> {
        Some(Answerer {
            shared: Weak::clone(&self.shared),
            queue: self.queue.upgrade()?,
        })
    }
}

impl<W: AsyncWrite + Unpin> Answerer<W> {
    /// Returns the right to answer until nobody else has it.
    pub(super) fn downgrade(self) -> WeakAnswerer<W> {
        WeakAnswerer {
            queue: self.queue.downgrade(),
            shared: self.shared,
        }
    }

    /// Answers what has a number. Does not block.
    pub(super) fn answer(&self, number: u64, answer: &Answer, room: Option<OwnedSemaphorePermit>) {
        let Some(shared) = self.shared.upgrade() else {
            return;
        };
        let frame = AnswerFrame::new(number, answer);
        let num_bytes = frame.num_bytes();
        let mut frame = Some(frame);
        // One of the connection itself, and this one: nothing else will be answered soon.
        let is_alone = self.queue.strong_count() <= 2;
        if is_alone
            && let Ok(mut frames) = shared.frames.try_lock()
            && frames.is_flushed()
        {
            if let Some(frame) = frame.take() {
                frame.push_to(&mut frames);
            }
            if let Ok(true) = frames.flush_now() {
                return;
            }
            // The task sends the rest, or finds that the connection has ended.
        }
        self.leave(&shared, (frame, num_bytes), room);
    }

    /// Leaves an answer to the task of the connection, which sends it with those that come soon.
    pub(super) fn answer_with_others(
        &self,
        number: u64,
        answer: &Answer,
        room: Option<OwnedSemaphorePermit>,
    ) {
        if let Some(shared) = self.shared.upgrade() {
            let frame = AnswerFrame::new(number, answer);
            let num_bytes = frame.num_bytes();
            self.leave(&shared, (Some(frame), num_bytes), room);
        }
    }

    /// Leaves a frame, or what is left of it, to the task of the connection.
    fn leave(
        &self,
        shared: &Shared<W>,
        (frame, num_bytes): (Option<AnswerFrame>, usize),
        room: Option<OwnedSemaphorePermit>,
    ) {
        let waiting = &shared.num_waiting_bytes;
        waiting.send_modify(|waiting| *waiting += num_bytes);
        let queued = Queued {
            frame,
            num_bytes,
            _room: room,
        };
        // The connection may have ended.
        let _ = self.queue.send(queued);
    }

    /// Resolves when not too many answers wait for the client.
    pub(super) async fn has_room(&self) {
        if !self.is_full() {
            return;
        }
        if let Some(shared) = self.shared.upgrade() {
            let mut waiting = shared.num_waiting_bytes.subscribe();
            let is_little = |num_bytes: &usize| *num_bytes <= MAX_WAITING_BYTES;
            // The sender is here.
            let _ = waiting.wait_for(is_little).await;
        }
    }

    /// Returns `true` if too many answers wait for the client.
    pub(super) fn is_full(&self) -> bool {
        let is_much = |shared: Arc<Shared<W>>| {
            let num_bytes = *shared.num_waiting_bytes.borrow();
            num_bytes > MAX_WAITING_BYTES
        };
        self.shared.upgrade().is_some_and(is_much)
    }
}

/// The frame of an answer, whose bytes are not copied.
pub(super) struct AnswerFrame {
    kind: Kind,
    number: u64,
    body: Bytes,
}

impl AnswerFrame {
    pub(super) fn new(number: u64, answer: &Answer) -> Self {
        let (kind, body) = match answer {
            Ok(response) => (Kind::Answer, response.clone()),
            Err(status) => (Kind::Failure, status::to_bytes(status).into()),
        };
        Self { kind, number, body }
    }

    /// Returns the number of bytes that wait with it.
    fn num_bytes(&self) -> usize {
        MAX_WAITING_BYTES.min(Header::BYTES + self.body.len())
    }

    /// Adds it to others.
    pub(super) fn push_to<W: AsyncWrite + Unpin>(self, frames: &mut Frames<W>) {
        frames.push(self.kind, self.number, self.body);
    }
}

impl<W: AsyncWrite + Unpin> Waiting<W> {
    /// Sends answers, and pings while there are none, until nobody can answer any more.
    pub(super) async fn send(mut self, heard: &Heard) {
        loop {
            let next = tokio::time::timeout(heard.interval, self.queue.recv()).await;
            let mut frames = self.shared.frames.lock().await;
            // Their payloads are on their way until the answers are sent.
            let mut answers = Vec::new();
            match next {
                Ok(None) => {
                    // The connection ends, whatever comes of this.
                    let _ = frames.shut_down().await;
                    return;
                }
                Err(_) => frames.push(Kind::Ping, 0, Bytes::new()),
                Ok(Some(first)) => {
                    let mut next = Some(first);
                    while let Some(mut queued) = next {
                        if let Some(frame) = queued.frame.take() {
                            frame.push_to(&mut frames);
                        }
                        answers.push(queued);
                        next = self.queue.try_recv().ok();
                    }
                }
            }
            // Who takes answers is there, even if nothing is read of what it says.
            if frames.flush_noting(|| heard.note_sign()).await.is_err() {
                return;
            }
            let num_bytes: usize = answers.iter().map(|queued| queued.num_bytes).sum();
            let waiting = &self.shared.num_waiting_bytes;
            waiting.send_modify(|waiting| *waiting -= num_bytes);
        }
    }
}
