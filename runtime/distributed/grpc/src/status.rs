//! Errors as gRPC statuses, and back.
//!
//! An error of the application is a status `Aborted` whose trailer `tfrt-error-bin` contains the
//! error as a message. Every other status is an error of the network.

use std::error::Error as _;
use std::io::ErrorKind;

use prost::Message;
use tfrt_distributed::fabric::NOBODY_LISTENS;
use tfrt_distributed::{RemoteError, RemoteErrors};
use tfrt_support::ErrorCode;
use tokio_rustls::rustls;
use tonic::metadata::{MetadataMap, MetadataValue};
use tonic::{Code, Status};

use crate::tls;

/// The trailer of errors.
const TRAILER: &str = "tfrt-error-bin";

/// The maximum number of errors in an answer; the last one states how many more there were.
const MAX_ERRORS: usize = 64;

/// The maximum total number of bytes of the error texts in an answer; trailers are limited.
const MAX_TEXT: usize = 16 << 10;

/// The most bytes of headers and trailers of one message.
pub(crate) const MAX_HEADERS: u32 = 64 << 10;

/// An error on the wire.
#[derive(Clone, PartialEq, Message)]
struct WireError {
    /// The name of the type; empty for a collection.
    #[prost(string, tag = "1")]
    kind: String,
    #[prost(string, tag = "2")]
    message: String,
    #[prost(string, optional, tag = "3")]
    task: Option<String>,
    /// The errors of a collection.
    #[prost(message, repeated, tag = "5")]
    nested: Vec<WireError>,
}

/// Returns the status of an answer that is an error.
pub(crate) fn of_errors(errors: &RemoteErrors) -> Status {
    let all = errors.as_slice();
    let num_told = match all.len() {
        0..=MAX_ERRORS => all.len(),
        _ => MAX_ERRORS - 1,
    };
    let (told, more) = all.split_at(num_told);
    // Names of tasks come from outside, too.
    let share = MAX_TEXT / 2 / told.len().max(1);
    let mut nested: Vec<WireError> = told
        .iter()
        .map(|error| WireError {
            kind: error.code.to_string(),
            message: shortened(&error.message, share),
            task: error.task.as_deref().map(|task| shortened(task, share)),
            nested: Vec::new(),
        })
        .collect();
    if !more.is_empty() {
        nested.push(WireError {
            kind: errors.code().to_string(),
            message: format!("… and {} more errors", more.len()),
            ..WireError::default()
        });
    }
    let wire = match nested.len() {
        1 => nested.remove(0),
        _ => WireError {
            nested,
            ..WireError::default()
        },
    };
    let mut metadata = MetadataMap::new();
    metadata.insert_bin(TRAILER, MetadataValue::from_bytes(&wire.encode_to_vec()));
    Status::with_metadata(Code::Aborted, shortened(&wire.kind, 64), metadata)
}

/// A status on a data connection.
#[derive(Clone, PartialEq, Message)]
struct WireStatus {
    #[prost(int32, tag = "1")]
    code: i32,
    #[prost(string, tag = "2")]
    message: String,
    /// The content of the trailer.
    #[prost(bytes = "vec", optional, tag = "3")]
    errors: Option<Vec<u8>>,
}

/// Returns a status as it is sent where there are no headers.
pub(crate) fn to_bytes(status: &Status) -> Vec<u8> {
    let errors = status.metadata().get_bin(TRAILER);
    let errors = errors.and_then(|errors| errors.to_bytes().ok());
    WireStatus {
        code: status.code().into(),
        message: shortened(status.message(), MAX_TEXT),
        errors: errors.map(|errors| errors.to_vec()),
    }
    .encode_to_vec()
}

/// Returns the status in bytes that were received.
pub(crate) fn from_bytes(bytes: &[u8]) -> Status {
    let Ok(wire) = WireStatus::decode(bytes) else {
        return Status::unknown("malformed status");
    };
    let mut metadata = MetadataMap::new();
    if let Some(errors) = wire.errors {
        metadata.insert_bin(TRAILER, MetadataValue::from_bytes(&errors));
    }
    Status::with_metadata(Code::from(wire.code), wire.message, metadata)
}

/// Returns the size of the errors in a status.
pub(crate) fn size(status: &Status) -> usize {
    let trailer = status.metadata().get_bin(TRAILER);
    trailer.map_or(0, |trailer| trailer.as_encoded_bytes().len())
}

/// Returns the first bytes of a text, up to a whole character.
fn shortened(text: &str, max_bytes: usize) -> String {
    if text.len() <= max_bytes {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(max_bytes.saturating_sub(4));
    format!("{} ...", &text[..end])
}

/// The meaning of a status.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The task answered with errors.
    Application(RemoteErrors),
    /// The network failed: the type, and the cause.
    Network(ErrorCode, String),
}

impl Failure {
    /// Interprets the status of a call that was not cancelled here.
    pub(crate) fn of(status: &Status) -> Self {
        if let Some(errors) = application_errors(status) {
            return Self::Application(errors);
        }
        if let Some(error) = error_of_tls(status) {
            // Not worth a retry: it will not be trusted the next time, either.
            return Self::Network(ErrorCode::RpcUnknown, tls::describe(error));
        }
        let code = match status.code() {
            _ if connection_ended(status) => ErrorCode::RpcUnavailable,
            // A connection that breaks with calls on it shows as any of these.
            Code::Unavailable | Code::Unknown | Code::Cancelled => ErrorCode::RpcUnavailable,
            Code::DeadlineExceeded => ErrorCode::RpcDeadlineExceeded,
            _ => ErrorCode::RpcUnknown,
        };
        let cause = match is_refused(status) {
            true => format!("{NOBODY_LISTENS}: {}", cause(status)),
            false => cause(status),
        };
        Self::Network(code, cause)
    }

    /// Returns `true` if the request may be sent again.
    pub(crate) fn is_worth_a_retry(&self) -> bool {
        matches!(self, Self::Network(ErrorCode::RpcUnavailable, _))
    }

    /// Returns the errors of a call of `method` at `address`.
    pub(crate) fn into_errors(self, method: &str, address: &str) -> RemoteErrors {
        match self {
            Self::Application(errors) => errors,
            Self::Network(code, cause) => {
                RemoteError::new(code, format!("{method} to {address}: {cause}")).into()
            }
        }
    }
}

fn application_errors(status: &Status) -> Option<RemoteErrors> {
    let bytes = status.metadata().get_bin(TRAILER)?.to_bytes().ok()?;
    let wire = WireError::decode(bytes).ok()?;
    let wires = match wire.nested.is_empty() {
        true => vec![wire],
        false => wire.nested,
    };
    let errors = wires.into_iter().map(|wire| {
        RemoteErrors::from(RemoteError {
            code: code_of(&wire.kind),
            message: wire.message,
            task: wire.task,
        })
    });
    errors.reduce(|mut all, error| {
        all.append(error);
        all
    })
}

/// Returns `true` if the connection of a call ended under it. A task that shuts down announces this
/// with a `GOAWAY` frame; tonic makes an internal error of the calls that race with it.
fn connection_ended(status: &Status) -> bool {
    let mut cause = status.source();
    while let Some(error) = cause {
        if let Some(error) = error.downcast_ref::<h2::Error>() {
            return error.is_go_away() || error.is_io();
        }
        cause = error.source();
    }
    false
}

/// Returns `true` if no process listens at the address.
fn is_refused(status: &Status) -> bool {
    let mut cause = status.source();
    while let Some(error) = cause {
        let error_of_io = error.downcast_ref::<std::io::Error>();
        // A Unix socket without a process is removed.
        let is_refusal = |error: &std::io::Error| {
            matches!(
                error.kind(),
                ErrorKind::ConnectionRefused | ErrorKind::NotFound
            )
        };
        if error_of_io.is_some_and(is_refusal) {
            return true;
        }
        cause = error.source();
    }
    false
}

/// Returns the reason why one end of the connection did not accept the certificate of the other, or
/// does not speak TLS.
fn error_of_tls(status: &Status) -> Option<&rustls::Error> {
    let mut cause = status.source();
    while let Some(error) = cause {
        let error_of_io = error.downcast_ref::<std::io::Error>();
        let within = error_of_io.and_then(std::io::Error::get_ref);
        let found = within.and_then(|error| error.downcast_ref::<rustls::Error>());
        if found.is_some() {
            return found;
        }
        cause = error.source();
    }
    None
}

fn code_of(name: &str) -> ErrorCode {
    let mut codes = (0..=u8::MAX).filter_map(ErrorCode::from_number);
    codes
        .find(|code| code.to_string() == name)
        .unwrap_or(ErrorCode::Unknown)
}

/// Returns the message of a status with the errors that caused it.
fn cause(status: &Status) -> String {
    let mut text = status.message().to_owned();
    let mut source = status.source();
    while let Some(error) = source {
        let cause = error.to_string();
        if !text.ends_with(&cause) {
            if !text.is_empty() {
                text.push_str(": ");
            }
            text.push_str(&cause);
        }
        source = error.source();
    }
    match text.is_empty() {
        true => status.code().description().to_owned(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn there_and_back(errors: &RemoteErrors) -> RemoteErrors {
        let sent = of_errors(errors);
        let [found, again] = [&sent, &from_bytes(&to_bytes(&sent))].map(Failure::of);
        match (found, again) {
            (Failure::Application(errors), Failure::Application(again)) => {
                assert_eq!(errors, again, "on a data connection");
                errors
            }
            others => panic!("{others:?}"),
        }
    }

    #[test]
    fn errors_arrive_as_they_are() {
        let one = RemoteError::new(ErrorCode::NotFound, "größe").from_task("/job:a/task:0");
        let mut errors = RemoteErrors::from(one);
        assert_eq!(there_and_back(&errors), errors);
        errors.append(RemoteError::new(ErrorCode::Cancelled, "").into());
        assert_eq!(there_and_back(&errors), errors);
    }

    #[test]
    fn every_type_of_error_arrives() {
        for code in (0..=u8::MAX).filter_map(ErrorCode::from_number) {
            let errors = RemoteErrors::from(RemoteError::new(code, "x"));
            assert_eq!(there_and_back(&errors), errors);
        }
    }

    #[test]
    fn many_errors_fit_into_the_headers_of_an_answer() {
        let error = |index: usize| {
            let message = format!("{index} {}", "x".repeat(1000));
            let task = "/job:worker/task:0".repeat(100);
            RemoteErrors::from(RemoteError::new(ErrorCode::NotFound, message).from_task(task))
        };
        let mut errors = error(0);
        for index in 1..2000 {
            errors.append(error(index));
        }
        let status = of_errors(&errors);
        let num_bytes = size(&status);
        assert!(num_bytes < MAX_HEADERS as usize / 2, "{num_bytes}");
        let arrived = there_and_back(&errors);
        let [first, .., last] = arrived.as_slice() else {
            panic!("{arrived}");
        };
        assert_eq!(arrived.as_slice().len(), MAX_ERRORS);
        assert!(first.message.starts_with("0 x"), "{first}");
        assert_eq!(last.to_string(), "NotFound: … and 1937 more errors");
    }

    #[test]
    fn long_messages_are_cut_at_a_character() {
        let errors = RemoteErrors::from(RemoteError::new(ErrorCode::NotFound, "ü".repeat(20_000)));
        let arrived = there_and_back(&errors);
        let message = &arrived.as_slice()[0].message;
        assert!(
            message.len() <= MAX_TEXT && message.ends_with("ü ..."),
            "{}",
            message.len()
        );
    }

    #[test]
    fn statuses_of_the_network_are_errors_of_the_network() {
        let check = |code, expected| {
            let sent = Status::new(code, "x");
            for status in [&sent, &from_bytes(&to_bytes(&sent))] {
                match Failure::of(status) {
                    Failure::Network(code, cause) => assert_eq!((code, &*cause), (expected, "x")),
                    other @ Failure::Application(_) => panic!("{other:?}"),
                }
            }
        };
        check(Code::Unavailable, ErrorCode::RpcUnavailable);
        check(Code::Unknown, ErrorCode::RpcUnavailable);
        check(Code::Cancelled, ErrorCode::RpcUnavailable);
        check(Code::DeadlineExceeded, ErrorCode::RpcDeadlineExceeded);
        check(Code::Internal, ErrorCode::RpcUnknown);
        // An aborted call without the trailer did not come from a task.
        check(Code::Aborted, ErrorCode::RpcUnknown);
    }
}
