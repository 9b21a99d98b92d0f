//! The time in which connections have to open.

use std::collections::VecDeque;
use std::fmt;
use std::future::{Future, pending};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;

/// Resolves when a connection has taken too long to open, or was ended for another one. It has
/// opened, or failed to, when this is dropped.
pub(crate) struct Opening(Pin<Box<dyn Future<Output = ()> + Send>>);

impl Future for Opening {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        self.0.as_mut().poll(context)
    }
}

impl fmt::Debug for Opening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Opening").finish_non_exhaustive()
    }
}

/// The connections that are opening, in the order in which they began.
pub(super) struct Openings {
    timeout: Duration,
    grace: Duration,
    /// Each is ended by `true`.
    begun: VecDeque<(Instant, watch::Sender<bool>)>,
}

impl Openings {
    /// Every opening may take so long, and `grace` in any case.
    pub(super) fn new(timeout: Duration, grace: Duration) -> Self {
        Self {
            timeout,
            grace,
            begun: VecDeque::new(),
        }
    }

    pub(super) fn begin(&mut self) -> Opening {
        let (end, mut is_ended) = watch::channel(false);
        self.begun.push_back((Instant::now(), end));
        let timeout = self.timeout;
        Opening(Box::pin(async move {
            // An error says that nobody accepts connections any more.
            let _ = tokio::time::timeout(timeout, is_ended.wait_for(|is_ended| *is_ended)).await;
        }))
    }

    /// Returns the number of those that are still opening.
    pub(super) fn num_left(&mut self) -> usize {
        self.begun.retain(|(_, end)| !end.is_closed());
        self.begun.len()
    }

    /// Ends the oldest one, unless it opens before its grace is over. Never resolves if there is
    /// none. Nothing is lost if the future is dropped.
    pub(super) async fn end_oldest(&mut self) {
        let Some((begun, end)) = self.begun.front() else {
            return pending().await;
        };
        let opened = tokio::time::timeout_at(*begun + self.grace, end.closed());
        if opened.await.is_err() {
            end.send_replace(true);
            end.closed().await;
        }
        self.begun.pop_front();
    }
}
