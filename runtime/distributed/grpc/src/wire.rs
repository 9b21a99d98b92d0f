//! Messages of this transport, and framing.
//!
//! The crate `tfrt-distributed` encodes requests and responses; this module frames bytes.

use std::fmt::Write;
use std::sync::LazyLock;

use prost::Message;
use prost::bytes::{Buf, BufMut, Bytes};
use tfrt_distributed::fabric::TaskIdentity;
use tfrt_distributed::message::{Method, Request, Response};
use tfrt_distributed::name::TaskName;
use tfrt_support::fnv::Fnv1a;
use tonic::Status;
use tonic::codec::{BufferSettings, Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};

/// The name of the service.
pub(crate) const SERVICE: &str = "/tfrt.Worker/";

/// The first message of a client.
pub(crate) const HELLO: &str = "Hello";

/// A payload in chunks.
pub(crate) const STREAM_DATA: &str = "StreamData";

/// A stream of heartbeats.
pub(crate) const WATCH: &str = "Watch";

/// The version of the protocol. Tasks of different major versions do not talk to each other.
pub(crate) const PROTOCOL: (u32, u32) = (1, 1);

/// Returns the path of a method.
pub(crate) fn path(method: &str) -> String {
    format!("{SERVICE}{method}")
}

/// The greeting between caller and receiver.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Hello {
    #[prost(uint32, tag = "1")]
    pub(crate) protocol_major: u32,
    #[prost(uint32, tag = "2")]
    pub(crate) protocol_minor: u32,
    #[prost(string, tag = "3")]
    pub(crate) runtime_version: String,
    /// The fingerprint of the declarations of all kernels.
    #[prost(fixed64, tag = "4")]
    pub(crate) op_library: u64,
    /// The names of the kernels, in the answer to a caller with another fingerprint.
    #[prost(string, repeated, tag = "5")]
    pub(crate) kernels: Vec<String>,
    /// In an answer, whether the task takes data connections.
    #[prost(bool, tag = "6")]
    pub(crate) takes_data: bool,
    /// In an answer, whether the task takes calls on those. Older ones do not.
    #[prost(bool, tag = "7")]
    pub(crate) takes_calls: bool,
    /// Tells the process from others at the same address; 0 in version 1.0.
    #[prost(fixed64, tag = "8")]
    pub(crate) incarnation: u64,
    /// The name of the task; empty if it has none of its own, and in version 1.0.
    #[prost(string, tag = "9")]
    pub(crate) task: String,
    /// The fingerprint of the methods and their messages; 0 in version 1.0.
    #[prost(fixed64, tag = "10")]
    pub(crate) messages: u64,
    /// In an answer, whether the task sends streams of heartbeats. Older ones do not.
    #[prost(bool, tag = "11")]
    pub(crate) is_watchable: bool,
}

/// Returns the fingerprint of the methods, and of the fields of their messages. Fields come and go
/// between versions, and others ignore them: a difference is not an error.
fn messages() -> u64 {
    static FINGERPRINT: LazyLock<u64> = LazyLock::new(|| {
        let mut fingerprint = Fnv1a::new();
        for method in Method::ALL {
            // The text of a message has its fields. Nothing of this fails.
            let request = Request::decode(*method, Bytes::new());
            let response = Response::decode(*method, Bytes::new());
            let _ = write!(fingerprint, "{} {request:?} {response:?};", method.name());
        }
        let _ = write!(fingerprint, "{:?}", DataChunk::default());
        fingerprint.finish()
    });
    *FINGERPRINT
}

impl Hello {
    /// Returns the greeting of a task of this version.
    pub(crate) fn of(task: &TaskIdentity) -> Self {
        Self {
            protocol_major: PROTOCOL.0,
            protocol_minor: PROTOCOL.1,
            runtime_version: env!("CARGO_PKG_VERSION").to_owned(),
            op_library: 0,
            kernels: Vec::new(),
            takes_data: false,
            takes_calls: false,
            incarnation: task.incarnation,
            task: task
                .name
                .as_ref()
                .map(TaskName::to_string)
                .unwrap_or_default(),
            messages: messages(),
            is_watchable: false,
        }
    }

    /// Returns the reason why this is not the greeting of a task of a name, if it is not. One that
    /// does not say its name may be any.
    pub(crate) fn misses(&self, expected: &TaskName) -> Option<String> {
        let found = &self.task;
        (!found.is_empty() && *found != expected.to_string())
            .then(|| format!("expected the task `{expected}`, found `{found}`"))
    }

    /// Returns `true` if the messages of the other version are others. Version 1.0 does not say.
    pub(crate) fn has_other_messages(&self) -> bool {
        self.messages != 0 && self.messages != messages()
    }

    /// Returns the reason why tasks with these versions are incompatible, if they are.
    pub(crate) fn mismatch(&self) -> Option<String> {
        let (major, minor) = PROTOCOL;
        (self.protocol_major != major).then(|| {
            format!(
                "expected protocol version {major}.{minor}, found {}.{}",
                self.protocol_major, self.protocol_minor
            )
        })
    }
}

/// The key of the bytes of a [`DataChunk`]: field 4, with a length.
pub(crate) const CHUNK_BYTES_KEY: u8 = 4 << 3 | 2;

/// A part of an element of a payload. The first chunk of a stream has the key and the sizes of all
/// elements.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct DataChunk {
    #[prost(fixed64, tag = "1")]
    pub(crate) context_id: u64,
    #[prost(string, tag = "2")]
    pub(crate) instance_key: String,
    #[prost(uint64, repeated, tag = "3")]
    pub(crate) element_bytes: Vec<u64>,
    #[prost(bytes = "bytes", tag = "4")]
    pub(crate) bytes: Bytes,
    /// The CRC-32C of the whole element, with its last chunk.
    #[prost(fixed32, optional, tag = "5")]
    pub(crate) crc32c: Option<u32>,
}

impl DataChunk {
    /// Returns the number of bytes of all elements, of a first chunk.
    pub(crate) fn total_bytes(&self) -> u64 {
        let sizes = self.element_bytes.iter();
        sizes.fold(0, |total, size| total.saturating_add(*size))
    }
}

/// The fields that every request has in addition: a number, if the request may arrive twice, and
/// what its client knows of earlier ones.
#[derive(Clone, Copy, PartialEq, Message)]
pub(crate) struct RequestId {
    #[prost(uint64, optional, tag = "100")]
    pub(crate) request_id: Option<u64>,
    /// The number of the client, which no other one has.
    #[prost(fixed64, tag = "110")]
    pub(crate) client: u64,
    /// All requests of the client below this number are over.
    #[prost(uint64, optional, tag = "111")]
    pub(crate) done_below: Option<u64>,
}

/// What a request for a stream of heartbeats has in addition to a heartbeat.
#[derive(Clone, Copy, PartialEq, Message)]
pub(crate) struct WatchFields {
    /// The time from one heartbeat to the next, in microseconds.
    #[prost(uint64, tag = "101")]
    pub(crate) interval_us: u64,
}

/// Returns `true` if a request may run twice without harm and needs no number.
pub(crate) fn may_repeat(method: Method) -> bool {
    matches!(
        method,
        Method::GetDevices | Method::KeepAlive | Method::Heartbeat | Method::CancelExecution
    )
}

/// Returns `true` if a request without a number says which answers its client has.
pub(crate) fn confirms(method: Method) -> bool {
    matches!(method, Method::KeepAlive | Method::Heartbeat)
}

/// Returns `true` if a request is over quickly wherever the task is well, so that it has a deadline
/// of its own.
pub(crate) fn is_control(method: Method) -> bool {
    match method {
        Method::GetDevices
        | Method::CloseContext
        | Method::SendReadyChains
        | Method::KeepAlive
        | Method::Heartbeat
        | Method::RegisterFunction
        | Method::CancelExecution
        | Method::DeleteRemoteObjects => true,
        // A context of many clients waits for all of them; the others take as long as their
        // kernels.
        Method::CreateContext
        | Method::SendData
        | Method::RemoteExecute
        | Method::RemoteExecuteOp
        | Method::FetchObject
        | Method::PutObject => false,
    }
}

/// Returns `true` if a request counts among those that are on their way. Requests that carry much
/// do. No number of others keeps any back: executions wait for objects that later ones make, and a
/// task whose heartbeats wait would be taken for lost.
pub(crate) fn takes_room(method: Method) -> bool {
    matches!(method, Method::SendData | Method::RegisterFunction)
}

/// Returns `true` if a request goes on a data connection where the task takes those: it belongs to
/// an op of a program, of which there are many. Others are rare, or must not wait for a payload.
pub(crate) fn is_call(method: Method) -> bool {
    matches!(
        method,
        Method::RemoteExecute
            | Method::RemoteExecuteOp
            | Method::FetchObject
            | Method::PutObject
            | Method::DeleteRemoteObjects
    )
}

/// Frames bytes as they are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BytesCodec;

impl Codec for BytesCodec {
    type Encode = Bytes;
    type Decode = Bytes;
    type Encoder = Self;
    type Decoder = Self;

    fn encoder(&mut self) -> Self {
        *self
    }

    fn decoder(&mut self) -> Self {
        *self
    }
}

impl Encoder for BytesCodec {
    type Item = Bytes;
    type Error = Status;

    fn encode(&mut self, item: Bytes, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        buffer.reserve(item.len());
        buffer.put(item);
        Ok(())
    }

    fn buffer_settings(&self) -> BufferSettings {
        BufferSettings::default()
    }
}

impl Decoder for BytesCodec {
    type Item = Bytes;
    type Error = Status;

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<Bytes>, Status> {
        Ok(Some(buffer.copy_to_bytes(buffer.remaining())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tfrt_distributed::message::KeepAliveRequest;

    #[test]
    fn a_request_id_is_a_field_of_the_request() {
        let request: Request = KeepAliveRequest { context_id: 5 }.into();
        let mut bytes = request.encode();
        let id = RequestId {
            request_id: Some(300),
            client: 0x0102_0304_0506_0708,
            done_below: Some(299),
        };
        id.encode(&mut bytes).unwrap();
        assert_eq!(
            bytes,
            b"\x09\x05\0\0\0\0\0\0\0\xa0\x06\xac\x02\
              \xf1\x06\x08\x07\x06\x05\x04\x03\x02\x01\xf8\x06\xab\x02"
        );
        let bytes = Bytes::from(bytes);
        assert_eq!(RequestId::decode(bytes.clone()), Ok(id));
        assert_eq!(Request::decode(Method::KeepAlive, bytes), Ok(request));
    }

    #[test]
    fn other_major_versions_are_a_mismatch() {
        let mut hello = Hello::of(&TaskIdentity::default());
        assert_eq!(hello.mismatch(), None);
        hello.protocol_minor += 1;
        assert_eq!(hello.mismatch(), None);
        hello.protocol_major += 1;
        assert_eq!(
            hello.mismatch().as_deref(),
            Some("expected protocol version 1.1, found 2.2")
        );
    }

    /// Returns what this task says first, and its bytes.
    fn greeting() -> (Hello, Vec<u8>) {
        let identity = TaskIdentity {
            name: Some(TaskName::new("worker", 1)),
            incarnation: 7,
        };
        let hello = Hello {
            runtime_version: "0.1.0".to_owned(),
            op_library: 5,
            messages: 9,
            ..Hello::of(&identity)
        };
        let bytes = hello.encode_to_vec();
        (hello, bytes)
    }

    #[test]
    fn greetings_of_both_minor_versions_are_accepted() {
        let (hello, bytes) = greeting();
        let old = b"\x08\x01\x1a\x050.1.0\x21\x05\0\0\0\0\0\0\0";
        let minor = b"\x10\x01";
        let added = b"\x41\x07\0\0\0\0\0\0\0\x4a\x12/job:worker/task:1\x51\x09\0\0\0\0\0\0\0";
        let expected = [&old[..2], minor, &old[2..], added].concat();
        assert_eq!(bytes, expected);
        let former = Hello::decode(&old[..]).unwrap();
        assert_eq!((former.mismatch(), former.op_library), (None, 5));
        assert_eq!((former.incarnation, &*former.task), (0, ""));
        assert!(!former.has_other_messages() && hello.has_other_messages());
        assert!(!Hello::of(&TaskIdentity::default()).has_other_messages());
        assert!(!former.is_watchable);
    }

    #[test]
    fn a_greeting_of_another_task_is_noticed() {
        let (hello, _) = greeting();
        assert_eq!(hello.misses(&TaskName::new("worker", 1)), None);
        assert_eq!(
            hello.misses(&TaskName::new("worker", 2)).as_deref(),
            Some("expected the task `/job:worker/task:2`, found `/job:worker/task:1`")
        );
        let unnamed = Hello::of(&TaskIdentity::default());
        assert_eq!(unnamed.misses(&TaskName::new("worker", 2)), None);
    }
}
