//! Connections that are cut, whatever they carry at that time.

use std::fmt;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::watch;
use tonic::transport::server::Connected;

use crate::forward::forward_writes;

/// A connection that fails once the sender of its `cut` is gone. HTTP/2 always reads, so it notices
/// that at once.
pub(crate) struct Cuttable<IO> {
    io: IO,
    /// Resolves when the connection is cut; None afterwards.
    cut: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
}

impl<IO> Cuttable<IO> {
    pub(crate) fn new(io: IO, mut cut: watch::Receiver<()>) -> Self {
        let is_cut = async move { while cut.changed().await.is_ok() {} };
        Self {
            io,
            cut: Some(Box::pin(is_cut)),
        }
    }
}

impl<IO: AsyncRead + Unpin> AsyncRead for Cuttable<IO> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let is_cut = match &mut self.cut {
            Some(cut) => cut.as_mut().poll(context).is_ready(),
            None => true,
        };
        if is_cut {
            self.cut = None;
            return Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into()));
        }
        Pin::new(&mut self.io).poll_read(context, buffer)
    }
}

forward_writes!([IO: AsyncWrite + Unpin] Cuttable<IO>, io);

impl<IO: Connected> Connected for Cuttable<IO> {
    type ConnectInfo = IO::ConnectInfo;

    fn connect_info(&self) -> Self::ConnectInfo {
        self.io.connect_info()
    }
}

impl<IO> fmt::Debug for Cuttable<IO> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cuttable")
            .field("is_cut", &self.cut.is_none())
            .finish_non_exhaustive()
    }
}
