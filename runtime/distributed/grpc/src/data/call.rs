//! The frame of a call: a request other than a payload.

use prost::bytes::Bytes;
use tfrt_distributed::message::{Method, Request};
use tonic::Status;

use super::{Header, Kind, MAX_CALL_BYTES};
use crate::wire;

/// The room that the length and the name of a method take at most, and the number of a request.
const MAX_ADDED_BYTES: usize = 64;

/// Returns `true` if a request may go in a frame.
pub(crate) fn fits_call(request: &Request) -> bool {
    request.encoded_len() <= MAX_CALL_BYTES - MAX_ADDED_BYTES
}

/// The frame of a call without its number.
#[derive(Debug)]
pub(crate) struct CallFrame(Vec<u8>);

impl CallFrame {
    /// Creates the frame of an encoded request.
    pub(crate) fn new(method: Method, request: &[u8]) -> Self {
        let name = method.name().as_bytes();
        let mut frame = Vec::with_capacity(Header::BYTES + 1 + name.len() + request.len());
        frame.extend([0; Header::BYTES]);
        // The names of all methods are short.
        frame.push(u8::try_from(name.len()).unwrap_or(u8::MAX));
        frame.extend_from_slice(name);
        frame.extend_from_slice(request);
        Self(frame)
    }

    /// Gives it its number.
    pub(super) fn numbered(mut self, number: u64) -> Bytes {
        let header = Header::new(Kind::Call, self.0.len() - Header::BYTES, number);
        self.0[..Header::BYTES].copy_from_slice(&header.to_bytes());
        self.0.into()
    }
}

/// Returns the method and the encoded request in the bytes of a frame.
pub(super) fn parse(mut bytes: Bytes) -> Result<(Method, Bytes), Status> {
    let len = bytes.first().map_or(0, |len| usize::from(*len));
    if bytes.len() <= len {
        let found = bytes.len().saturating_sub(1);
        return Err(Status::invalid_argument(format!(
            "malformed call: expected a name of {len} bytes, found {found} bytes"
        )));
    }
    let request = bytes.split_off(1 + len);
    let method = str::from_utf8(&bytes[1..]).ok().and_then(Method::find);
    match method {
        Some(method) if wire::is_call(method) => Ok((method, request)),
        Some(method) => Err(Status::unimplemented(format!(
            "{} is not taken on a data connection",
            method.name()
        ))),
        None => Err(Status::unimplemented("unknown method")),
    }
}
