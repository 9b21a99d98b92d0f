//! The first byte of connections, which tells those of data from those of HTTP/2.

use std::future::Future;
use std::io;
use std::pin::Pin;
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
pub(crate) trait Incoming:
    AsyncRead + AsyncWrite + Connected + Unpin + Send + 'static
{
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
    _place: Place,
}

#[derive(Debug)]
enum State {
    /// So many bytes are to come before it is open.
    Opening(Opening, usize),
    Open,
    /// It has taken too long.
    Over,
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
    let sorted = |state| Sorted {
        first,
        io,
        state,
        _place: place,
    };
    Some(match is_data {
        true => Kind::Data(sorted(State::Open), opening),
        false => Kind::Http(sorted(State::Opening(opening, HTTP_PREFACE_BYTES))),
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

impl<IO: Incoming> Sorted<IO> {
    /// Returns the task at the other end, if it has proved its name.
    pub(super) fn caller(&self) -> Option<Caller> {
        self.io.caller()
    }
}

impl State {
    /// Fails if the connection has taken too long.
    fn check(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        if let Self::Opening(opening, _) = self
            && Pin::new(opening).poll(context).is_ready()
        {
            *self = Self::Over;
        }
        match self {
            Self::Over => Err(io::ErrorKind::TimedOut.into()),
            Self::Opening(..) | Self::Open => Ok(()),
        }
    }

    /// Notes that bytes were read.
    fn note(&mut self, num_bytes: usize) {
        if let Self::Opening(_, num_left) = self {
            *num_left = num_left.saturating_sub(num_bytes);
            if *num_left == 0 {
                *self = Self::Open;
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
        self.state.check(context)?;
        let num_before = buffer.filled().len();
        let read = match self.first.filter(|_| buffer.remaining() > 0) {
            Some(first) => {
                self.first = None;
                buffer.put_slice(&[first]);
                Poll::Ready(Ok(()))
            }
            None => Pin::new(&mut self.io).poll_read(context, buffer),
        };
        self.state.note(buffer.filled().len() - num_before);
        read
    }
}

forward_writes!([IO: AsyncWrite + Unpin] Sorted<IO>, io);

impl<IO: Connected> Connected for Sorted<IO> {
    type ConnectInfo = IO::ConnectInfo;

    fn connect_info(&self) -> Self::ConnectInfo {
        self.io.connect_info()
    }
}
