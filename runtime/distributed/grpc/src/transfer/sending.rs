//! A payload as the body of a request.
//!
//! ```text
//!  │ 0 │ length │ checksum │ tag, length │ bytes of an element │     a chunk: a small frame, and one that is not copied
//!  └────────── small frame ─────────────┘└── slice of Bytes ───┘
//! ```

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use http_body::Frame;
use prost::Message;
use prost::bytes::{BufMut, Bytes, BytesMut};
use tfrt_distributed::message::SendDataRequest;
use tonic::body::Body;
use tower_service::Service;

use super::CHUNK_BYTES;
use crate::wire::{CHUNK_BYTES_KEY, DataChunk};

/// The chunks of a payload, each made on demand.
#[derive(Debug)]
pub(crate) struct PayloadBody {
    /// The frames to be sent before the next chunk is made.
    small: Option<Bytes>,
    bytes: Option<Bytes>,
    elements: std::vec::IntoIter<Bytes>,
    /// What is left of the current element, and the checksum of what was sent of it.
    rest: Bytes,
    crc32c: u32,
}

impl PayloadBody {
    pub(crate) fn new(request: &SendDataRequest) -> Self {
        let sizes = request.payload.iter().map(|bytes| bytes.len() as u64);
        let head = DataChunk {
            context_id: request.context_id,
            instance_key: request.instance_key.clone(),
            element_bytes: sizes.collect(),
            ..DataChunk::default()
        };
        Self {
            small: Some(framed(&head, None)),
            bytes: None,
            elements: request.payload.clone().into_iter(),
            rest: Bytes::new(),
            crc32c: 0,
        }
    }

    fn next(&mut self) -> Option<Bytes> {
        if let Some(frame) = self.small.take().or_else(|| self.bytes.take()) {
            return Some(frame);
        }
        while self.rest.is_empty() {
            // Elements without bytes have no chunks.
            self.rest = self.elements.next()?;
            self.crc32c = 0;
        }
        let bytes = self.rest.split_to(self.rest.len().min(CHUNK_BYTES));
        self.crc32c = crc32c::crc32c_append(self.crc32c, &bytes);
        let head = DataChunk {
            crc32c: self.rest.is_empty().then_some(self.crc32c),
            ..DataChunk::default()
        };
        let small = framed(&head, Some(bytes.len()));
        self.bytes = Some(bytes);
        Some(small)
    }
}

/// Returns a message with its length in front, up to its last field, which has so many bytes.
fn framed(head: &DataChunk, num_bytes: Option<usize>) -> Bytes {
    let fields = head.encoded_len();
    let last = num_bytes.map_or(0, |len| 1 + prost::length_delimiter_len(len) + len);
    let mut frame = BytesMut::with_capacity(16 + fields);
    // Not compressed.
    frame.put_u8(0);
    // Only the first chunk could be longer, of elements far beyond the receiver's `MAX_ELEMENTS`.
    frame.put_u32(u32::try_from(fields + last).unwrap_or(u32::MAX));
    frame.extend(head.encode_to_vec());
    if let Some(len) = num_bytes {
        frame.put_u8(CHUNK_BYTES_KEY);
        frame.reserve(prost::length_delimiter_len(len));
        // There is room.
        let _ = prost::encode_length_delimiter(len, &mut frame);
    }
    frame.freeze()
}

impl http_body::Body for PayloadBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.next().map(|bytes| Ok(Frame::data(bytes))))
    }
}

/// A service whose next request has another body: that of tonic copies every message.
#[derive(Debug)]
pub(crate) struct WithBody<S> {
    pub(crate) service: S,
    pub(crate) body: Option<Body>,
}

impl<S: Service<http::Request<Body>>> Service<http::Request<Body>> for WithBody<S> {
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.service.poll_ready(context)
    }

    fn call(&mut self, request: http::Request<Body>) -> S::Future {
        let request = match self.body.take() {
            Some(body) => request.map(|_| body),
            None => request,
        };
        self.service.call(request)
    }
}
