//! The first byte of connections, which tells those of data from those of HTTP/2.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadBuf};
use tokio::sync::mpsc;
use tokio_stream::{Stream, StreamExt};
use tonic::transport::server::Connected;

use super::PREFACE;
use crate::forward::forward_writes;
use crate::tls::Caller;

/// The maximum number of connections that wait for the service of HTTP/2.
const MAX_WAITING: usize = 16;

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

/// A connection whose first byte was read, and is read again.
#[derive(Debug)]
pub(crate) struct Sorted<IO> {
    first: Option<u8>,
    io: IO,
}

/// Hands data connections to `serve`, each within a task of its own, and the others to the receiver
/// that is returned, until that is dropped. A connection that says nothing in time is closed.
pub(crate) fn sort<IO: Incoming, E: Send + 'static, F: Future<Output = ()> + Send + 'static>(
    incoming: impl Stream<Item = Result<IO, E>> + Send + 'static,
    timeout: Duration,
    serve: impl Fn(Sorted<IO>, Option<Caller>) -> F + Clone + Send + 'static,
) -> mpsc::Receiver<Result<Sorted<IO>, E>> {
    let (sender, others) = mpsc::channel(MAX_WAITING);
    tokio::spawn(async move {
        let mut incoming = Box::pin(incoming);
        loop {
            let io = tokio::select! {
                biased;
                () = sender.closed() => return,
                io = incoming.next() => io,
            };
            let (sender, serve) = (sender.clone(), serve.clone());
            let io = match io {
                None => return,
                Some(Ok(io)) => io,
                Some(Err(error)) => {
                    // The service may have ended.
                    let _ = sender.send(Err(error)).await;
                    continue;
                }
            };
            tokio::spawn(async move {
                let sorted = tokio::select! {
                    biased;
                    () = sender.closed() => return,
                    sorted = tokio::time::timeout(timeout, first_of(io)) => sorted,
                };
                let Ok(Ok((sorted, is_data))) = sorted else {
                    return;
                };
                match is_data {
                    true => {
                        let caller = sorted.io.caller();
                        serve(sorted, caller).await;
                    }
                    false => {
                        // The service may have ended.
                        let _ = sender.send(Ok(sorted)).await;
                    }
                }
            });
        }
    });
    others
}

async fn first_of<IO: Incoming>(mut io: IO) -> io::Result<(Sorted<IO>, bool)> {
    if let Some(is_data) = io.negotiated() {
        return Ok((Sorted { first: None, io }, is_data));
    }
    let first = io.read_u8().await?;
    let sorted = Sorted {
        first: Some(first),
        io,
    };
    Ok((sorted, first == PREFACE[0]))
}

impl<IO: AsyncRead + Unpin> AsyncRead for Sorted<IO> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if buffer.remaining() > 0
            && let Some(first) = self.first.take()
        {
            buffer.put_slice(&[first]);
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut self.io).poll_read(context, buffer)
    }
}

forward_writes!([IO: AsyncWrite + Unpin] Sorted<IO>, io);

impl<IO: Connected> Connected for Sorted<IO> {
    type ConnectInfo = IO::ConnectInfo;

    fn connect_info(&self) -> Self::ConnectInfo {
        self.io.connect_info()
    }
}
