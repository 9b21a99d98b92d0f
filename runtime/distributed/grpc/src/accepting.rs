//! Connections that are accepted: how many, and how long they may take to say what they are.
//!
//! ```text
//!  backlog ──► accept ──► place ──► opening ──► first byte ──┬──► data connection, until its token
//!   waits while no place    │         TLS                    └──► HTTP/2, until a request with credentials
//!   is free                 └── held until the connection ends
//! ```
//!
//! A connection is opening until it has said whatever its protocol begins with, and who it is of:
//! over HTTP/2, by a certificate, or by the first request that is not refused because of its token.
//! It has the time to connect for all of that. There are places for
//! [`GrpcOptions::max_connections`] connections, and [`MAX_OPENING`] of them may be opening. A
//! further one ends the oldest that opens after its [`GRACE`], so that connections that say nothing
//! keep nobody out; if none opens, it waits until one ends.
//!
//! | module | contents |
//! |---|---|
//! | `opening` | the time in which a connection has to open |
//! | `sorted` | the first byte, and what is left of the opening after it |

mod opening;

mod sorted;

use std::convert::Infallible;
use std::fmt;
use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use tfrt_host::log;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::time::Instant;

use crate::options::GrpcOptions;
use crate::tls::Caller;

pub(crate) use opening::Opening;
pub(crate) use sorted::{Incoming, Introduced, Sorted};

use opening::Openings;

/// The maximum number of connections that are opening at the same time.
const MAX_OPENING: usize = 64;

/// How long a connection may open whatever else happens: many tasks may connect at the same time.
const GRACE: Duration = Duration::from_millis(500);

/// The pause after an error of the listener, such as too many open files.
const PAUSE: Duration = Duration::from_millis(50);

/// The time between log lines about the same trouble.
const QUIET: Duration = Duration::from_secs(10);

/// The maximum number of connections that wait for the service of HTTP/2.
const MAX_WAITING: usize = 16;

/// What accepts connections.
pub(crate) trait Listener: Send + Sync + 'static {
    type Stream: Send + 'static;

    /// Accepts the next connection. Nothing is lost if the future is dropped.
    fn accept(&self) -> impl Future<Output = io::Result<Self::Stream>> + Send;
}

impl Listener for tokio::net::TcpListener {
    type Stream = tokio::net::TcpStream;

    async fn accept(&self) -> io::Result<Self::Stream> {
        let (stream, _) = self.accept().await?;
        // Fails if the other side has gone: then the first read does, too.
        let _ = stream.set_nodelay(true);
        Ok(stream)
    }
}

#[cfg(unix)]
impl Listener for tokio::net::UnixListener {
    type Stream = tokio::net::UnixStream;

    async fn accept(&self) -> io::Result<Self::Stream> {
        Ok(self.accept().await?.0)
    }
}

/// Accepts connections until the receiver is dropped that is returned. Hands data connections to
/// `serve`, each within a task of its own, and the others to the receiver.
pub(crate) fn accept<L, IO, O, F>(
    listener: L,
    options: &GrpcOptions,
    open: impl Fn(L::Stream) -> O + Send + Sync + 'static,
    serve: impl Fn(Sorted<IO>, Option<Caller>, Opening) -> F + Clone + Send + 'static,
) -> mpsc::Receiver<Result<Sorted<IO>, Infallible>>
where
    L: Listener,
    IO: Incoming,
    O: Future<Output = io::Result<IO>> + Send + 'static,
    F: Future<Output = ()> + Send + 'static,
{
    let (sender, others) = mpsc::channel(MAX_WAITING);
    let mut places = Places::new(max_connections(options), options.connect_timeout);
    tokio::spawn(async move {
        let mut errors = Complaint::default();
        loop {
            let stream = tokio::select! {
                biased;
                () = sender.closed() => return,
                stream = listener.accept() => stream,
            };
            let stream = match stream {
                Ok(stream) => stream,
                Err(error) => {
                    errors.say(&format_args!("cannot accept a connection: {error}"));
                    tokio::time::sleep(PAUSE).await;
                    continue;
                }
            };
            let (place, opening) = tokio::select! {
                biased;
                () = sender.closed() => return,
                place = places.next() => place,
            };
            let (sender, serve) = (sender.clone(), serve.clone());
            let opened = open(stream);
            tokio::spawn(async move {
                let sorted = tokio::select! {
                    biased;
                    () = sender.closed() => return,
                    sorted = sorted::sort(opened, place, opening) => sorted,
                };
                match sorted {
                    // A connection that fails is the other side's to report.
                    None => {}
                    Some(sorted::Kind::Data(io, opening)) => {
                        let caller = io.caller();
                        serve(io, caller, opening).await;
                    }
                    Some(sorted::Kind::Http(io)) => {
                        // The service may have ended.
                        let _ = sender.send(Ok(io)).await;
                    }
                }
            });
        }
    });
    others
}

/// The right of a connection to be open.
#[derive(Debug)]
pub(crate) struct Place {
    _permit: Option<OwnedSemaphorePermit>,
}

/// The places of a listener.
struct Places {
    free: Arc<Semaphore>,
    num_all: usize,
    openings: Openings,
    shortage: Complaint,
}

impl Places {
    fn new(num_all: usize, timeout: Duration) -> Self {
        Self {
            free: Arc::new(Semaphore::new(num_all)),
            num_all,
            openings: Openings::new(timeout, GRACE),
            shortage: Complaint::default(),
        }
    }

    /// Returns a place for a connection that begins to open. Nothing is lost if the future is
    /// dropped.
    async fn next(&mut self) -> (Place, Opening) {
        while self.openings.num_left() >= MAX_OPENING {
            self.openings.end_oldest().await;
        }
        let permit = match Arc::clone(&self.free).try_acquire_owned() {
            Ok(permit) => Some(permit),
            Err(_) => self.next_free().await,
        };
        (Place { _permit: permit }, self.openings.begin())
    }

    async fn next_free(&mut self) -> Option<OwnedSemaphorePermit> {
        let limit = self.num_all;
        self.shortage.say(&format_args!(
            "{limit} connections are open, which is the limit: others wait"
        ));
        let mut next = std::pin::pin!(Arc::clone(&self.free).acquire_owned());
        loop {
            tokio::select! {
                biased;
                // The semaphore is never closed.
                permit = &mut next => return permit.ok(),
                () = self.openings.end_oldest() => {}
            }
        }
    }
}

/// A log line that is not repeated soon.
#[derive(Debug, Default)]
struct Complaint {
    last: Option<Instant>,
}

impl Complaint {
    fn say(&mut self, what: &dyn fmt::Display) {
        if self.last.is_none_or(|last| last.elapsed() >= QUIET) {
            self.last = Some(Instant::now());
            log::warning!("{what}");
        }
    }
}

/// Returns the number of connections that a listener may have open. The task opens as many to
/// others as they to it, and needs files for these, too.
fn max_connections(options: &GrpcOptions) -> usize {
    let half = max_open_files().map_or(usize::MAX, |files| files / 2);
    options
        .max_connections
        .min(half)
        .clamp(1, Semaphore::MAX_PERMITS)
}

/// Returns the number of files that the system lets this process open, if there is a limit.
fn max_open_files() -> Option<usize> {
    #[cfg(unix)]
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    #[cfg(not(unix))]
    let limit: Option<u64> = None;
    limit.map(|limit| usize::try_from(limit).unwrap_or(usize::MAX))
}

#[cfg(test)]
mod tests;
