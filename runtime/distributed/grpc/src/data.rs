//! Connections of payloads and small calls, beside those of HTTP/2.
//!
//! HTTP/2 copies what it carries several times, and costs several changes of threads for each call.
//! A data connection has frames of its own: bytes of a payload go from where they are to the
//! socket, and from the socket to where they stay; a call is one frame, and so is its answer.
//!
//! ```text
//!  client                                             server
//!    │ preface, token ──────────────────────────────►   │
//!    │ ◄───────────────────────────────── answer 0      │
//!    │ begin 1 │ bytes │ bytes ── begin 2 │ bytes ──►   │     payloads one after the other
//!    │ ── call 3 ── call 4 ── begin 5 │ bytes ──────►   │     calls between them, never within one
//!    │ ◄──────────── answer 4 ── answer 2 ── answer 1   │     answers as they come
//!    │ ping ──►                            ◄── ping     │     while nothing else is sent
//!
//!  frame:  │ kind 1 │ 0 3 │ length 4 │ value 8 │ as many bytes as the length │      numbers are little endian
//!  call:   │ length of the name 1 │ name of the method │ request, as on HTTP/2 │
//! ```
//!
//! | kind | value | bytes |
//! |---|---|---|
//! | `Begin` | the number of the payload | its context, its key and the sizes of its elements: a `DataChunk` |
//! | `Bytes` | the CRC-32C of the element up to here | the next ones of the payload's elements, of one element |
//! | `Plain` | | the same without a checksum: on Unix sockets, loopback addresses and TLS, which are reliable |
//! | `Abort` | | none: the rest of the payload does not come |
//! | `Call` | the number of the call | the name of its method, and the request |
//! | `Answer` | the number of the payload or call | the response |
//! | `Failure` | the number of the payload or call | the status |
//! | `Ping` | | none |
//!
//! A server says in its greeting whether it takes such connections, and whether it takes calls on
//! them: older ones take only payloads. They are accepted at the address of the task: the first
//! byte tells them from those of HTTP/2, and with certificates the negotiation of the protocol
//! does.
//!
//! A payload of up to 64 KiB is written to the socket by the thread that sends it, as far as the
//! socket takes it at once.
//!
//! The task of a payload of more than 64 KiB says at its beginning whether it takes it: one of a
//! context that does not exist, or for which there is no room, is refused before it has memory. The
//! client then aborts it, and what is on its way is dropped.
//!
//! A payload is sent at most once. When a call ends before its payload is sent, the connection goes
//! on: the frame that has begun is completed, and the payload is aborted. Each side gives a
//! connection up on which it hears nothing for the time of keepalive requests.
//!
//! # Calls
//!
//! The requests of ops and executions, up to 64 KiB, go on the connection of small payloads;
//! [`wire::is_call`](crate::wire::is_call) names their methods. They mean the same as on HTTP/2:
//! one with the number of a request may be sent again, on another connection, and runs once. A call
//! that is cancelled or late is forgotten by its client alone. Calls take no room from payloads,
//! and none from each other: they may wait for each other. A server reads nothing more of a client
//! that leaves more than 4 MiB of answers unread, unless that is a single one. A task that ends
//! answers what it has read, and refuses what comes later.
//!
//! Calls that come together are sent together, and pass all payloads that have not begun. Answers
//! that come together are sent together, too; one that is alone is written to the socket by the
//! worker that gives it, as far as the socket takes it at once. Of eleven changes of threads for an
//! empty call, that saves three.
//!
//! | module | contents |
//! |---|---|
//! | `frames` | frames on their way to a socket |
//! | `call` | the frame of a call |
//! | `sending` | payloads, calls and their answers, at the client |
//! | `receiving` | the same at the server |
//! | `answering` | answers on their way back |
//! | `arrival` | a payload that arrives |

mod frames;

mod call;

mod sending;

mod receiving;

mod answering;

mod arrival;

use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncWrite};
use tonic::Status;

use crate::options::GrpcOptions;

pub(crate) use call::{CallFrame, fits_call};
pub(crate) use receiving::serve;
pub(crate) use sending::{Lane, Opened, fits};

/// What a client says first. Connections of HTTP/2 begin with another letter.
pub(crate) const PREFACE: &[u8; 12] = b"TFRT data 1\n";

/// The name of the protocol in the negotiation of TLS.
pub(crate) const PROTOCOL: &[u8] = b"tfrt-data/1";

/// The most bytes of a frame of `Bytes`: while they are in the cache, they are summed up and sent,
/// or received and summed up.
const FRAME_BYTES: usize = 256 << 10;

/// The most bytes of the description of a payload.
const MAX_BEGIN_BYTES: usize = 1 << 20;

/// The most bytes of a call, for which payloads and other calls wait.
const MAX_CALL_BYTES: usize = 64 << 10;

/// The most elements of a payload.
const MAX_ELEMENTS: usize = 1 << 14;

/// The most bytes of an error: more than the headers of HTTP/2, which limit it. Responses may be as
/// large as any message.
const MAX_ANSWER_BYTES: usize = 256 << 10;

/// A connection.
pub(crate) trait Io: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Io for T {}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Begin = 1,
    Bytes = 2,
    Abort = 3,
    Answer = 4,
    Failure = 5,
    Ping = 6,
    Plain = 7,
    Call = 8,
}

const KINDS: [Kind; 8] = [
    Kind::Begin,
    Kind::Bytes,
    Kind::Abort,
    Kind::Answer,
    Kind::Failure,
    Kind::Ping,
    Kind::Plain,
    Kind::Call,
];

/// The start of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Header {
    kind: Kind,
    len: u32,
    value: u64,
}

impl Header {
    const BYTES: usize = 16;

    fn new(kind: Kind, len: usize, value: u64) -> Self {
        // Longer frames are not made.
        let len = u32::try_from(len).unwrap_or(u32::MAX);
        Self { kind, len, value }
    }

    fn to_bytes(self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        bytes[0] = self.kind as u8;
        bytes[4..8].copy_from_slice(&self.len.to_le_bytes());
        bytes[8..].copy_from_slice(&self.value.to_le_bytes());
        bytes
    }

    fn parse(bytes: [u8; Self::BYTES]) -> Result<Self, Status> {
        let [first, _, _, _, l0, l1, l2, l3, value @ ..] = bytes;
        let kind = KINDS.into_iter().find(|kind| *kind as u8 == first);
        let kind = kind.ok_or_else(|| unexpected(&format!("a frame of kind {first}")))?;
        let len = u32::from_le_bytes([l0, l1, l2, l3]);
        if matches!(kind, Kind::Abort | Kind::Ping) && len > 0 {
            return Err(unexpected(&format!("{len} bytes of a frame without bytes")));
        }
        Ok(Self {
            kind,
            len,
            value: u64::from_le_bytes(value),
        })
    }
}

/// Returns the error of a side that does not keep to the protocol.
#[cold]
fn unexpected(what: &str) -> Status {
    Status::unavailable(format!("the data connection ended: unexpected {what}"))
}

/// When the other side was heard last; nothing while nobody listens.
#[derive(Debug)]
struct Heard {
    last: Mutex<Option<Instant>>,
    /// The time between pings, and the silence after which the other side is given up.
    interval: Duration,
    limit: Duration,
}

impl Heard {
    fn new(options: &GrpcOptions) -> Self {
        let interval = options.keepalive_interval;
        Self {
            last: Mutex::new(Some(Instant::now())),
            interval,
            limit: interval.saturating_add(options.keepalive_timeout),
        }
    }

    /// Notes that bytes have arrived, or that one listens again.
    fn note(&self) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }

    /// Notes a sign of the other side other than bytes, if one listens.
    fn note_sign(&self) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        *last = last.map(|_| Instant::now());
    }

    /// Notes that nobody listens.
    fn pause(&self) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Resolves when the other side has been silent for too long.
    async fn silence(&self) -> Status {
        loop {
            tokio::time::sleep(self.interval).await;
            let last = *self.last.lock().unwrap_or_else(PoisonError::into_inner);
            if last.is_some_and(|last| last.elapsed() > self.limit) {
                let limit = self.limit;
                return Status::unavailable(format!("nothing was heard for {limit:?}"));
            }
        }
    }
}

#[cfg(test)]
mod tests;
