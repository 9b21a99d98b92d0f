//! The watcher's end of a stream of heartbeats.

use std::future::pending;
use std::pin::Pin;
use std::time::Duration;

use prost::Message;
use prost::bytes::Bytes;
use tfrt_distributed::fabric::{Pace, Sign};
use tfrt_distributed::message::{HeartbeatRequest, HeartbeatResponse, Response};
use tfrt_support::ErrorCode;
use tonic::client::Grpc;
use tonic::{Code, Status, Streaming};

use super::{Peer, path, within};
use crate::status::Failure;
use crate::wire::{self, BytesCodec, RequestId, WatchFields};

impl Peer {
    /// Passes heartbeats on, and returns their end.
    pub(super) async fn watch(
        &self,
        request: HeartbeatRequest,
        pace: Pace,
        hear: &mut (dyn FnMut(Sign) + Send),
    ) -> Sign {
        match self.hear_all(request, pace, hear).await {
            Ended::Failed(failure) => Sign::Over(failure.into_errors(wire::WATCH, &self.address)),
            Ended::Unsupported => Sign::Unsupported,
        }
    }

    async fn hear_all(
        &self,
        request: HeartbeatRequest,
        pace: Pace,
        hear: &mut (dyn FnMut(Sign) + Send),
    ) -> Ended {
        let mut stream = match within(pace.limit, self.begin_watch(&request, pace.interval)).await {
            Ok(stream) => stream,
            Err(ended) => return ended,
        };
        let mut confirmed = None;
        // Heartbeats are heard meanwhile.
        let mut confirming: Option<Pin<Box<dyn Future<Output = Confirmed> + Send + '_>>> = None;
        loop {
            let next = async { stream.message().await.map_err(|status| Ended::of(&status)) };
            let answered = async {
                match &mut confirming {
                    Some(confirming) => confirming.await,
                    None => pending().await,
                }
            };
            let bytes = tokio::select! {
                next = within(pace.limit, next) => match next {
                    Ok(Some(bytes)) => bytes,
                    Ok(None) => return Ended::lost("the heartbeats have ended"),
                    Err(ended) => return ended,
                },
                answer = answered => {
                    confirming = None;
                    // If it has failed, the stream says so, too.
                    if let Some((confirmation, heartbeat)) = answer {
                        confirmed = confirmation;
                        hear(Sign::Heartbeat(heartbeat));
                    }
                    continue;
                }
            };
            match HeartbeatResponse::decode(bytes) {
                Ok(heartbeat) => hear(Sign::Heartbeat(heartbeat)),
                Err(error) => {
                    let cause = format!("malformed heartbeat: {error}");
                    return Ended::Failed(Failure::Network(ErrorCode::RpcUnknown, cause));
                }
            }
            let confirmation = self.numbers.confirmation();
            if confirming.is_none() && confirmation != confirmed {
                let request = request.clone();
                confirming = Some(Box::pin(self.confirm(request, pace.limit, confirmation)));
            }
        }
    }

    /// Says which answers have arrived: the task keeps them until then, and the stream goes the
    /// other way.
    async fn confirm(
        &self,
        request: HeartbeatRequest,
        limit: Duration,
        confirmation: Option<RequestId>,
    ) -> Confirmed {
        let request = request.into();
        match within(limit, self.attempt(&request, false, None)).await {
            Ok(Response::Heartbeat(heartbeat)) => Some((confirmation, heartbeat)),
            _ => None,
        }
    }

    async fn begin_watch(
        &self,
        request: &HeartbeatRequest,
        interval: Duration,
    ) -> Result<Streaming<Bytes>, Ended> {
        let takes = self.greeted.get_or_try_init(|| self.greet());
        if !takes.await.map_err(Ended::Failed)?.watches {
            return Err(Ended::Unsupported);
        }
        let mut message = request.encode_to_vec();
        let fields = WatchFields {
            interval_us: u64::try_from(interval.as_micros()).unwrap_or(u64::MAX),
        };
        message.extend(fields.encode_to_vec());
        let opened = async {
            let channel = self.channel.clone();
            let channel = channel.map_err(|error| Status::invalid_argument(error.message()))?;
            let max_bytes = self.options.max_message_bytes;
            let mut grpc = Grpc::new(channel).max_decoding_message_size(max_bytes);
            let ready = grpc.ready().await;
            ready.map_err(|error| Status::from_error(error.into()))?;
            let request = self.request(Bytes::from(message));
            let path = path(wire::WATCH)?;
            let response = grpc.server_streaming(request, path, BytesCodec).await?;
            Ok(response.into_inner())
        };
        opened.await.map_err(|status: Status| Ended::of(&status))
    }
}

/// What was confirmed, and the heartbeat that came back; None if nothing did.
type Confirmed = Option<(Option<RequestId>, HeartbeatResponse)>;

/// Why there are no more heartbeats.
enum Ended {
    Failed(Failure),
    /// The task has no such streams.
    Unsupported,
}

impl From<Failure> for Ended {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl Ended {
    fn of(status: &Status) -> Self {
        let failure = Failure::of(status);
        let is_missing = match &failure {
            Failure::Application(errors) => errors.code() == ErrorCode::Unimplemented,
            Failure::Network(..) => status.code() == Code::Unimplemented,
        };
        match is_missing {
            true => Self::Unsupported,
            false => Self::Failed(failure),
        }
    }

    fn lost(cause: &str) -> Self {
        let cause = cause.to_owned();
        Self::Failed(Failure::Network(ErrorCode::RpcUnavailable, cause))
    }
}
