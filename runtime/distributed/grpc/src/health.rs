//! The standard health service, `grpc.health.v1.Health`, by which orchestrators find out whether a
//! task answers.
//!
//! A check says nothing else, so it needs no token. Over TLS, it needs a certificate, like every
//! connection. If tasks have a token, a connection that only checks is closed after the time to
//! connect.

use std::future::{Ready, ready};

use prost::Message;
use prost::bytes::Bytes;
use tonic::body::Body;
use tonic::server::{Grpc, UnaryService};
use tonic::{Response, Status};

use crate::wire::{self, BytesCodec};

/// The path of the method.
pub(crate) const CHECK: &str = "/grpc.health.v1.Health/Check";

/// The largest request: the name of a service.
const MAX_BYTES: usize = 4096;

#[derive(Clone, PartialEq, Message)]
struct CheckRequest {
    #[prost(string, tag = "1")]
    service: String,
}

#[derive(Clone, PartialEq, Message)]
struct CheckResponse {
    #[prost(int32, tag = "1")]
    status: i32,
}

/// The service answers requests.
const SERVING: i32 = 1;

/// Answers a check of the task as a whole, or of its service.
pub(crate) async fn answer(request: http::Request<Body>) -> http::Response<Body> {
    let mut grpc = Grpc::new(BytesCodec).max_decoding_message_size(MAX_BYTES);
    grpc.unary(Check, request).await
}

struct Check;

impl UnaryService<Bytes> for Check {
    type Response = Bytes;
    type Future = Ready<Result<Response<Bytes>, Status>>;

    fn call(&mut self, request: tonic::Request<Bytes>) -> Self::Future {
        ready(check(&request.into_inner()))
    }
}

fn check(request: &Bytes) -> Result<Response<Bytes>, Status> {
    let request = CheckRequest::decode(request.clone())
        .map_err(|error| Status::invalid_argument(format!("malformed request: {error}")))?;
    let own = wire::SERVICE.trim_matches('/');
    match request.service.as_str() {
        "" => {}
        name if name == own => {}
        other => {
            return Err(Status::not_found(format!(
                "expected the service `{own}`, found `{other}`"
            )));
        }
    }
    let response = CheckResponse { status: SERVING };
    Ok(Response::new(response.encode_to_vec().into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(service: &str) -> Result<Vec<u8>, Status> {
        let request = CheckRequest {
            service: service.to_owned(),
        };
        let answer = check(&request.encode_to_vec().into())?;
        Ok(answer.into_inner().to_vec())
    }

    #[test]
    fn a_task_serves_itself_and_its_service() {
        // Field 1, the number 1.
        for service in ["", "tfrt.Worker"] {
            assert_eq!(checked(service).unwrap(), [0x08, 0x01]);
        }
        let error = checked("other").unwrap_err();
        assert_eq!(error.code(), tonic::Code::NotFound);
        let malformed = check(&Bytes::from_static(&[0xff])).unwrap_err();
        assert_eq!(malformed.code(), tonic::Code::InvalidArgument);
    }
}
