//! The watcher's end of a stream of heartbeats.

use std::time::Duration;

use prost::Message;
use prost::bytes::Bytes;
use tfrt_distributed::RemoteErrors;
use tfrt_distributed::fabric::{Pace, Sign};
use tfrt_distributed::message::{HeartbeatRequest, HeartbeatResponse, Response};
use tfrt_support::ErrorCode;
use tonic::client::Grpc;
use tonic::{Code, Status, Streaming};

use super::{Peer, deadline_passed, path};
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
        loop {
            let next = async { stream.message().await.map_err(|status| Ended::of(&status)) };
            let bytes = match within(pace.limit, next).await {
                Ok(Some(bytes)) => bytes,
                Ok(None) => return Ended::lost("the heartbeats have ended"),
                Err(ended) => return ended,
            };
            match HeartbeatResponse::decode(bytes) {
                Ok(heartbeat) => hear(Sign::Heartbeat(heartbeat)),
                Err(error) => {
                    let cause = format!("malformed heartbeat: {error}");
                    return Ended::Failed(Failure::Network(ErrorCode::RpcUnknown, cause));
                }
            }
            self.confirm(&request, pace.limit, &mut confirmed, hear)
                .await;
        }
    }

    /// Says which answers have arrived, unless the task knows: it keeps them until then, and the
    /// stream goes the other way.
    async fn confirm(
        &self,
        request: &HeartbeatRequest,
        limit: Duration,
        confirmed: &mut Option<RequestId>,
        hear: &mut (dyn FnMut(Sign) + Send),
    ) {
        let confirmation = self.numbers.confirmation();
        if confirmation == *confirmed {
            return;
        }
        let request = request.clone().into();
        let attempt = async {
            let answer = self.attempt(&request, false, None).await;
            answer.map_err(Ended::Failed)
        };
        // If it fails, the stream says so, too.
        if let Ok(Response::Heartbeat(heartbeat)) = within(limit, attempt).await {
            *confirmed = confirmation;
            hear(Sign::Heartbeat(heartbeat));
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

/// Why there are no more heartbeats.
enum Ended {
    Failed(Failure),
    /// The task has no such streams.
    Unsupported,
}

impl Ended {
    fn of(status: &Status) -> Self {
        let failure = Failure::of(status);
        let is_missing = match &failure {
            Failure::Application(errors) => is_unimplemented(errors),
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

fn is_unimplemented(errors: &RemoteErrors) -> bool {
    errors.code() == ErrorCode::Unimplemented
}

async fn within<T>(
    limit: Duration,
    attempt: impl Future<Output = Result<T, Ended>>,
) -> Result<T, Ended> {
    match tokio::time::timeout(limit, attempt).await {
        Ok(outcome) => outcome,
        Err(_) => Err(Ended::Failed(deadline_passed())),
    }
}
