//! The first byte of connections, which tells those of data from those of HTTP/2.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadBuf};
use tonic::transport::server::Connected;

use super::{Opening, Place};
use crate::data;
use crate::forward::forward_writes;
use crate::tls::Caller;

/// The length of what a client of HTTP/2 says first. From then on, the server asks the client for
/// signs of life.
const HTTP_PREFACE_BYTES: usize = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".len();

/// A connection that was accepted.
pub(crate) trait Incoming: AsyncRead + AsyncWrite + Unpin + Send + 'static {
    /// Returns whether it is a data connection, if that was negotiated.
    fn negotiated(&self) -> Option<bool> {
        None
    }

    /// Returns the task at the other end, if it has proved its name.
    fn caller(&self) -> Option<Caller> {
        None
    }
}

impl Incoming for tokio::net::TcpStream {}

#[cfg(unix)]
impl Incoming for tokio::net::UnixStream {}

/// A connection whose first byte was read, and is read again. Reading fails if it takes too long to
/// open.
#[derive(Debug)]
pub(crate) struct Sorted<IO> {
    first: Option<u8>,
    io: IO,
    state: State,
    introduced: Introduced,
    _place: Place,
}

#[derive(Debug)]
enum State {
    /// So many bytes of the preface are to come.
    Opening(usize),
    Open,
    /// It has taken too long.
    Over,
}

/// Who a connection is of, as requests have it.
#[derive(Clone, Debug)]
pub(crate) struct Introduced {
    /// The task at the other end, if it has proved its name.
    pub(crate) caller: Option<Caller>,
    /// The time that is left to open, until the connection is accepted.
    opening: Arc<Mutex<Option<Opening>>>,
}

impl Introduced {
    fn lock(&self) -> MutexGuard<'_, Option<Opening>> {
        self.opening.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says that a request with the credentials of the cluster has come: the connection may stay.
    pub(crate) fn accept(&self) {
        let opening = self.lock().take();
        // Without the lock: others may open now.
        drop(opening);
    }

    /// Returns whether the connection has opened, once that is decided.
    fn poll_open(&self, context: &mut Context<'_>) -> Poll<bool> {
        match &mut *self.lock() {
            None => Poll::Ready(true),
            Some(opening) => Pin::new(opening).poll(context).map(|()| false),
        }
    }
}

/// What a connection is.
pub(super) enum Kind<IO> {
    /// Whoever serves it has to see that it opens in time.
    Data(Sorted<IO>, Opening),
    Http(Sorted<IO>),
}

/// Waits until a connection says what it is, if it does in time.
pub(super) async fn sort<IO: Incoming>(
    opened: impl Future<Output = io::Result<IO>>,
    place: Place,
    mut opening: Opening,
) -> Option<Kind<IO>> {
    let begun = tokio::select! {
        biased;
        () = &mut opening => return None,
        begun = begin(opened) => begun,
    };
    let (io, first, is_data) = begun.ok()?;
    let caller = io.caller();
    let sorted = |state, opening| Sorted {
        first,
        io,
        state,
        introduced: Introduced {
            caller,
            opening: Arc::new(Mutex::new(opening)),
        },
        _place: place,
    };
    Some(match is_data {
        true => Kind::Data(sorted(State::Open, None), opening),
        false => Kind::Http(sorted(State::Opening(HTTP_PREFACE_BYTES), Some(opening))),
    })
}

/// Returns a connection, its first byte if that was read, and whether it is one of data.
async fn begin<IO: Incoming>(
    opened: impl Future<Output = io::Result<IO>>,
) -> io::Result<(IO, Option<u8>, bool)> {
    let mut io = opened.await?;
    // The client of a protocol that was negotiated may wait for the server.
    if let Some(is_data) = io.negotiated() {
        return Ok((io, None, is_data));
    }
    let first = io.read_u8().await?;
    Ok((io, Some(first), first == data::PREFACE[0]))
}

impl<IO> Sorted<IO> {
    /// Returns the task at the other end, if it has proved its name.
    pub(super) fn caller(&self) -> Option<Caller> {
        self.introduced.caller.clone()
    }

    /// Fails if the connection has taken too long.
    fn check(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        if let State::Opening(_) = self.state
            && let Poll::Ready(is_open) = self.introduced.poll_open(context)
        {
            self.state = match is_open {
                true => State::Open,
                false => State::Over,
            };
            // The place of an opening is free.
            self.introduced.accept();
        }
        match self.state {
            State::Over => Err(io::ErrorKind::TimedOut.into()),
            State::Opening(_) | State::Open => Ok(()),
        }
    }

    /// Notes that bytes were read. A certificate says who the connection is of, so that the preface
    /// is enough.
    fn note(&mut self, num_bytes: usize) {
        if let State::Opening(num_left) = &mut self.state {
            *num_left = num_left.saturating_sub(num_bytes);
            if *num_left == 0 && self.introduced.caller.is_some() {
                self.state = State::Open;
                self.introduced.accept();
            }
        }
    }
}

impl<IO: AsyncRead + Unpin> AsyncRead for Sorted<IO> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.check(context)?;
        let num_before = buffer.filled().len();
        let read = match self.first.filter(|_| buffer.remaining() > 0) {
            Some(first) => {
                self.first = None;
                buffer.put_slice(&[first]);
                Poll::Ready(Ok(()))
            }
            None => Pin::new(&mut self.io).poll_read(context, buffer),
        };
        self.note(buffer.filled().len() - num_before);
        read
    }
}

forward_writes!([IO: AsyncWrite + Unpin] Sorted<IO>, io);

impl<IO> Connected for Sorted<IO> {
    type ConnectInfo = Introduced;

    fn connect_info(&self) -> Introduced {
        self.introduced.clone()
    }
}
