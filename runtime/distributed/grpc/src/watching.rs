//! Streams of heartbeats, by which a task shows others that it lives.
//!
//! ```text
//!  watcher ── Watch {context, interval} ──► task
//!     ◄── heartbeat ── heartbeat ── … ── error, once the context or the task ends
//! ```
//!
//! A connection that breaks ends its streams, so that watchers know at once. In between, the task
//! only repeats itself: as long as nothing changes, it sends the same bytes again.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use prost::Message;
use prost::bytes::Bytes;
use tfrt_distributed::message::{HeartbeatRequest, HeartbeatResponse};
use tfrt_host::log;
use tokio::sync::watch;
use tokio::time::{Interval, MissedTickBehavior};
use tokio_stream::Stream;
use tonic::server::ServerStreamingService;
use tonic::{Response, Status};

use crate::service::Endpoint;
use crate::status;
use crate::tls::Caller;
use crate::wire::WatchFields;

/// The times between heartbeats that a watcher may ask for. Shorter ones would take the task's
/// time, and the clock has an end.
const MIN_INTERVAL: Duration = Duration::from_millis(1);
const MAX_INTERVAL: Duration = Duration::from_hours(24);

type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// The method.
pub(crate) struct Watched {
    pub(crate) endpoint: Arc<Endpoint>,
    pub(crate) caller: Option<Caller>,
    /// Says that the service ends.
    pub(crate) ending: watch::Receiver<bool>,
}

impl ServerStreamingService<Bytes> for Watched {
    type Response = Bytes;
    type ResponseStream = Heartbeats;
    type Future = std::future::Ready<Result<Response<Heartbeats>, Status>>;

    fn call(&mut self, request: tonic::Request<Bytes>) -> Self::Future {
        std::future::ready(self.begin(&request.into_inner()).map(Response::new))
    }
}

impl Watched {
    fn begin(&self, bytes: &Bytes) -> Result<Heartbeats, Status> {
        let malformed =
            |error| Status::invalid_argument(format!("malformed Watch request: {error}"));
        let request = HeartbeatRequest::decode(bytes.clone()).map_err(malformed)?;
        let fields = WatchFields::decode(bytes.clone()).map_err(malformed)?;
        let interval = Duration::from_micros(fields.interval_us);
        let mut times = tokio::time::interval(interval.clamp(MIN_INTERVAL, MAX_INTERVAL));
        // After a pause of the process, one heartbeat is enough.
        times.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut ending = self.ending.clone();
        Ok(Heartbeats {
            endpoint: Arc::clone(&self.endpoint),
            caller: self.caller.clone(),
            request,
            times,
            ending: Box::pin(async move {
                // An error says that the service has ended.
                let _ = ending.wait_for(|is_ending| *is_ending).await;
            }),
            last: None,
            is_over: false,
        })
    }
}

/// The heartbeats of a task for one watcher, until the first error.
pub(crate) struct Heartbeats {
    endpoint: Arc<Endpoint>,
    caller: Option<Caller>,
    request: HeartbeatRequest,
    times: Interval,
    ending: BoxFuture<()>,
    /// The last heartbeat, and its bytes.
    last: Option<(HeartbeatResponse, Bytes)>,
    is_over: bool,
}

impl Heartbeats {
    fn next(&mut self) -> Result<Bytes, Status> {
        let heartbeat = self
            .endpoint
            .heartbeat(self.caller.as_ref(), &self.request)?;
        if let Some((last, bytes)) = &self.last
            && *last == heartbeat
        {
            return Ok(bytes.clone());
        }
        let bytes = Bytes::from(heartbeat.encode_to_vec());
        self.last = Some((heartbeat, bytes.clone()));
        Ok(bytes)
    }
}

impl Stream for Heartbeats {
    type Item = Result<Bytes, Status>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.is_over {
            return Poll::Ready(None);
        }
        let next = match self.ending.as_mut().poll(context) {
            Poll::Ready(()) => Err(Status::unavailable("the task ends")),
            Poll::Pending => {
                ready!(self.times.poll_tick(context));
                self.next()
            }
        };
        self.is_over = next.is_err();
        Poll::Ready(Some(next))
    }
}

impl Endpoint {
    /// Returns what a heartbeat says.
    fn heartbeat(
        &self,
        caller: Option<&Caller>,
        request: &HeartbeatRequest,
    ) -> Result<HeartbeatResponse, Status> {
        let (_, handler) = self.task().ok_or_else(crate::service::gone)?;
        let caller = caller.map(|Caller(task)| &**task);
        let answer = || handler.answer_heartbeat(caller, request);
        match catch_unwind(AssertUnwindSafe(answer)) {
            Ok(answer) => answer.map_err(|errors| status::of_errors(&errors)),
            Err(_) => {
                log::error!("the handler of a heartbeat panicked");
                Err(Status::internal("the task cannot answer"))
            }
        }
    }
}
