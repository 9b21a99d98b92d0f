//! Frames on their way to a socket.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, Waker, ready};

use prost::bytes::{Buf, Bytes};
use tokio::io::AsyncWrite;

use super::{Header, Kind};

/// The most parts that are handed to the system together.
pub(super) const MAX_PARTS: usize = 64;

/// Sends frames. Whoever stops waiting for it leaves bytes that the next one sends first.
#[derive(Debug)]
pub(super) struct Frames<W> {
    io: W,
    /// What is to be sent of the frames that have begun.
    left: VecDeque<Bytes>,
    is_flushed: bool,
    /// The number of bytes that the socket has taken.
    num_taken: u64,
}

impl<W: AsyncWrite + Unpin> Frames<W> {
    pub(super) fn new(io: W) -> Self {
        Self {
            io,
            left: VecDeque::new(),
            is_flushed: true,
            num_taken: 0,
        }
    }

    /// Adds a frame.
    pub(super) fn push(&mut self, kind: Kind, value: u64, bytes: Bytes) {
        let header = Header::new(kind, bytes.len(), value);
        self.push_whole(Bytes::copy_from_slice(&header.to_bytes()));
        if !bytes.is_empty() {
            self.left.push_back(bytes);
        }
    }

    /// Adds a frame, or several, with their headers.
    pub(super) fn push_whole(&mut self, frames: Bytes) {
        self.is_flushed = false;
        self.left.push_back(frames);
    }

    /// Copies what is to be sent: nobody else's memory is used any more.
    pub(super) fn copy_left(&mut self) {
        for bytes in &mut self.left {
            *bytes = Bytes::copy_from_slice(bytes);
        }
    }

    /// Returns the number of parts that are to be sent.
    pub(super) fn num_left(&self) -> usize {
        self.left.len()
    }

    /// Returns `true` if all bytes are on their way.
    pub(super) fn is_flushed(&self) -> bool {
        self.is_flushed
    }

    /// Hands the frames to the socket. Stopped at any time, what is left stays.
    pub(super) async fn write(&mut self) -> io::Result<()> {
        poll_fn(|context| self.poll_write(context)).await
    }

    /// Sends the frames. Stopped at any time, what is left stays.
    pub(super) async fn flush(&mut self) -> io::Result<()> {
        poll_fn(|context| self.poll_flush(context)).await
    }

    /// Like [`flush`](Self::flush), and calls `taken` whenever the socket has taken bytes.
    pub(super) async fn flush_noting(&mut self, taken: impl Fn()) -> io::Result<()> {
        poll_fn(|context| {
            let before = self.num_taken;
            let outcome = self.poll_flush(context);
            if self.num_taken != before {
                taken();
            }
            outcome
        })
        .await
    }

    /// Sends as many bytes as the socket takes without waiting, and returns `true` if those are
    /// all. Nobody is woken to send the rest.
    pub(super) fn flush_now(&mut self) -> io::Result<bool> {
        match self.poll_flush(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(outcome) => outcome.map(|()| true),
            Poll::Pending => Ok(false),
        }
    }

    /// Ends the connection.
    pub(super) async fn shut_down(&mut self) -> io::Result<()> {
        poll_fn(|context| Pin::new(&mut self.io).poll_shutdown(context)).await
    }

    fn poll_write(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.left.is_empty() {
            let Self {
                io,
                left,
                num_taken,
                ..
            } = &mut *self;
            let mut parts = [IoSlice::new(&[]); MAX_PARTS];
            let num_parts = left.len().min(MAX_PARTS);
            for (part, bytes) in parts.iter_mut().zip(&*left) {
                *part = IoSlice::new(bytes);
            }
            let written = Pin::new(io).poll_write_vectored(context, &parts[..num_parts]);
            let mut num_written = ready!(written)?;
            *num_taken += num_written as u64;
            if num_written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            while let Some(front) = left.front_mut() {
                let len = front.len().min(num_written);
                front.advance(len);
                num_written -= len;
                if !front.is_empty() {
                    break;
                }
                left.pop_front();
            }
        }
        Poll::Ready(Ok(()))
    }

    fn poll_flush(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_write(context))?;
        if !self.is_flushed {
            ready!(Pin::new(&mut self.io).poll_flush(context))?;
            self.is_flushed = true;
        }
        Poll::Ready(Ok(()))
    }
}
