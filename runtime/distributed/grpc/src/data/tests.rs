//! Frames, payloads that arrive, and the client against a server by hand.

use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use prost::Message;
use prost::bytes::{BufMut, Bytes};
use tfrt_distributed::PayloadMemory;
use tfrt_distributed::message::{Method, RemoteExecuteRequest, SendDataRequest};
use tfrt_distributed::rendezvous::PayloadRoom;
use tfrt_host::HostContext;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tonic::Code;

use super::answering::{MAX_WAITING_BYTES, way_back};
use super::arrival::Arrival;
use super::frames::Frames;
use super::*;
use crate::token::Token;
use crate::wire::DataChunk;

const MINUTE: Duration = Duration::from_secs(60);

fn head(sizes: &[u64]) -> DataChunk {
    DataChunk {
        context_id: 3,
        instance_key: "key".to_owned(),
        element_bytes: sizes.to_vec(),
        ..DataChunk::default()
    }
}

fn memory() -> PayloadMemory {
    PayloadMemory::of(&HostContext::builder().build())
}

fn begin(sizes: &[u64], max_bytes: u64) -> Result<Arrival, Status> {
    Arrival::begin(head(sizes), max_bytes, memory(), PayloadRoom::default())
}

fn add(arrival: &mut Arrival, bytes: &[u8]) -> Result<(), Status> {
    let sum = crc32c::crc32c_append(arrival.crc32c(), bytes);
    arrival.memory(bytes.len())?.put_slice(bytes);
    arrival.filled(Some((sum, sum.into())))
}

#[test]
fn headers_are_read_as_they_were_written() {
    for kind in KINDS {
        let has_bytes = !matches!(kind, Kind::Abort | Kind::Ping);
        let header = Header::new(kind, if has_bytes { 70_000 } else { 0 }, 1 << 40);
        assert_eq!(Header::parse(header.to_bytes()).unwrap(), header);
        if !has_bytes {
            let refused = Header::parse(Header::new(kind, 3, 0).to_bytes());
            let expected = "the data connection ended: unexpected 3 bytes of a frame without bytes";
            assert_eq!(refused.unwrap_err().message(), expected);
        }
    }
    for kind in [0, 9, 255] {
        let mut bytes = [0; Header::BYTES];
        bytes[0] = kind;
        let expected = format!("the data connection ended: unexpected a frame of kind {kind}");
        assert_eq!(Header::parse(bytes).unwrap_err().message(), expected);
    }
}

#[test]
fn a_payload_is_put_together_from_its_bytes() {
    let sizes = [0, 5, 0, 3 << 20, 0];
    let mut arrival = begin(&sizes, 4 << 20).unwrap();
    add(&mut arrival, b"ab").unwrap();
    add(&mut arrival, b"cde").unwrap();
    let large: Vec<u8> = (0..3_u32 << 20).map(|index| (index % 251) as u8).collect();
    for part in large.chunks(FRAME_BYTES) {
        assert!(!arrival.is_whole());
        add(&mut arrival, part).unwrap();
    }
    assert!(arrival.is_whole());
    let arrived = arrival.finish();
    assert_eq!((arrived.context_id, &*arrived.instance_key), (3, "key"));
    let found = arrived.payload.to_bytes().unwrap();
    assert_eq!(found, [&b""[..], b"abcde", b"", &large, b""]);
}

#[test]
fn memory_grows_with_what_has_arrived() {
    let size = 64 << 20;
    let mut arrival = begin(&[size as u64], u64::MAX).unwrap();
    let (part, mut num_arrived) = (vec![1; FRAME_BYTES], 0);
    while !arrival.is_whole() {
        let most = (8 * (num_arrived + FRAME_BYTES)).max(4 << 20);
        assert!(arrival.capacity() <= most.min(size), "{num_arrived}");
        add(&mut arrival, &part).unwrap();
        num_arrived += part.len();
    }
    assert_eq!(num_arrived, size);
    drop(arrival);
    // A payload of which nothing comes has little memory, however large it is to be.
    let arrival = begin(&[1 << 40], u64::MAX).unwrap();
    assert_eq!(arrival.capacity(), 4 << 20);
}

#[test]
fn payloads_that_are_not_as_announced_are_refused() {
    let refused = |sizes: &[u64]| {
        let begun = begin(sizes, 10);
        begun.unwrap_err().message().to_owned()
    };
    assert_eq!(
        refused(&[6, 5]),
        "a payload of 11 bytes exceeds the limit of 10 bytes"
    );
    assert!(refused(&[u64::MAX, 2]).starts_with("a payload of 18446744073709551615 bytes"));
    assert_eq!(
        refused(&vec![0; MAX_ELEMENTS + 1]),
        "malformed payload: expected at most 16384 elements, found 16385"
    );
    let mut arrival = begin(&[0, 3], 10).unwrap();
    for bytes in [&b""[..], b"abcd"] {
        assert_eq!(
            add(&mut arrival, bytes).unwrap_err().message(),
            "malformed payload: the bytes of element 1 do not add up to its size of 3 bytes"
        );
    }
    arrival.memory(2).unwrap().put_slice(b"ab");
    assert_eq!(
        arrival.filled(Some((1, 2))).unwrap_err().message(),
        "malformed payload: element 1 has a wrong checksum"
    );
    let mut whole = begin(&[], 10).unwrap();
    assert_eq!(
        add(&mut whole, b"a").unwrap_err().message(),
        "malformed payload: expected as many bytes as were announced, found more"
    );
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async { tokio::time::timeout(MINUTE, future).await.unwrap() })
}

fn request(key: &str, payload: Vec<Bytes>) -> SendDataRequest {
    SendDataRequest {
        context_id: 3,
        instance_key: key.to_owned(),
        payload,
    }
}

/// A server by hand.
struct Other(DuplexStream);

impl Other {
    async fn accept(&mut self, secret: &[u8]) {
        let mut first = vec![0; PREFACE.len() + 4 + secret.len()];
        self.0.read_exact(&mut first).await.unwrap();
        assert_eq!(&first[..PREFACE.len()], PREFACE);
        assert_eq!(&first[PREFACE.len() + 4..], secret);
        self.answer(Kind::Answer, 0, &[]).await;
    }

    async fn answer(&mut self, kind: Kind, number: u64, body: &[u8]) {
        let header = Header::new(kind, body.len(), number).to_bytes();
        self.0.write_all(&header).await.unwrap();
        self.0.write_all(body).await.unwrap();
    }

    /// Returns the next frame that is not a ping.
    async fn frame(&mut self) -> (Header, Vec<u8>) {
        loop {
            let mut header = [0; Header::BYTES];
            self.0.read_exact(&mut header).await.unwrap();
            let header = Header::parse(header).unwrap();
            let mut body = vec![0; header.len as usize];
            self.0.read_exact(&mut body).await.unwrap();
            if header.kind != Kind::Ping {
                return (header, body);
            }
        }
    }

    /// Returns the number and the request of the next frame, which is a call.
    async fn called(&mut self) -> (u64, Bytes) {
        let (header, body) = self.frame().await;
        assert_eq!(header.kind, Kind::Call);
        let (method, request) = call::parse(body.into()).unwrap();
        assert_eq!(method, Method::RemoteExecute);
        (header.value, request)
    }

    /// Returns the next frame if it is there without anybody doing anything for it.
    fn frame_now(&mut self) -> Option<(Header, Vec<u8>)> {
        match pin!(self.frame()).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(frame) => Some(frame),
            Poll::Pending => None,
        }
    }

    async fn begun(&mut self) -> (u64, DataChunk) {
        let (header, body) = self.frame().await;
        assert_eq!(header.kind, Kind::Begin);
        (header.value, DataChunk::decode(&body[..]).unwrap())
    }
}

/// Both ends of a connection that holds so many bytes.
fn connection(num_bytes: usize) -> (io::Result<Opened>, Other) {
    let (here, there) = tokio::io::duplex(num_bytes);
    let opened = Opened {
        io: Box::new(here),
        is_summed: true,
    };
    (Ok(opened), Other(there))
}

#[test]
fn payloads_and_answers_have_numbers() {
    let options = GrpcOptions {
        token: Some(Token::new("0123456789abcdef").unwrap()),
        ..GrpcOptions::default()
    };
    let (io, mut other) = connection(1 << 20);
    let lane = Lane::default();
    let elements = vec![Bytes::from_static(b"ab"), Bytes::new()];
    let first = request("a", elements);
    let second = request("b", vec![vec![7; FRAME_BYTES + 1].into()]);
    block_on(async {
        let serve = async {
            other.accept(b"Bearer 0123456789abcdef").await;
            let (number, begun) = other.begun().await;
            assert_eq!(
                (number, begun.context_id, &*begun.instance_key),
                (1, 3, "a")
            );
            assert_eq!(begun.element_bytes, [2, 0]);
            let (header, body) = other.frame().await;
            assert_eq!((header.kind, &body[..]), (Kind::Bytes, &b"ab"[..]));
            assert_eq!(header.value, u64::from(crc32c::crc32c(b"ab")));
            let (number, begun) = other.begun().await;
            assert_eq!((number, &*begun.instance_key), (2, "b"));
            assert_eq!(other.frame().await.1.len(), FRAME_BYTES);
            let (header, body) = other.frame().await;
            assert_eq!(body, [7]);
            let whole = crc32c::crc32c(&vec![7; FRAME_BYTES + 1]);
            assert_eq!(header.value, u64::from(whole));
            // Not in their order.
            other.answer(Kind::Answer, 2, b"2").await;
            let failure = crate::status::to_bytes(&Status::not_found("no"));
            other.answer(Kind::Failure, 1, &failure).await;
        };
        let open = async { io };
        let again = async { panic!("there is a connection") };
        let (one, other, ()) = tokio::join!(
            lane.send(&options, open, &first),
            lane.send(&options, again, &second),
            serve
        );
        assert_eq!(one.unwrap_err().code(), Code::NotFound);
        assert_eq!(other.unwrap(), "2");
    });
}

#[test]
fn bytes_have_no_checksum_where_something_else_protects_them() {
    let options = GrpcOptions::default();
    let (here, there) = tokio::io::duplex(1 << 20);
    let (io, mut other) = (Ok(Opened::protected(here)), Other(there));
    let lane = Lane::default();
    let request = request("a", vec![Bytes::from_static(b"ab")]);
    block_on(async {
        let serve = async {
            other.accept(b"").await;
            assert_eq!(other.begun().await.0, 1);
            let (header, body) = other.frame().await;
            assert_eq!((header.kind, header.value), (Kind::Plain, 0));
            assert_eq!(body, b"ab");
            other.answer(Kind::Answer, 1, b"").await;
        };
        let (sent, ()) = tokio::join!(lane.send(&options, async { io }, &request), serve);
        assert_eq!(sent.unwrap(), "");
    });
    // One who receives accepts them as they are.
    let mut arrival = begin(&[2], 10).unwrap();
    arrival.memory(2).unwrap().put_slice(b"ab");
    arrival.filled(None).unwrap();
    assert_eq!(arrival.finish().payload.to_bytes().unwrap(), ["ab"]);
}

#[test]
fn bytes_have_a_checksum_where_they_leave_the_machine() {
    for (address, is_summed) in [
        ("127.0.0.1", false),
        ("127.3.2.1", false),
        ("::1", false),
        ("::ffff:127.0.0.1", false),
        ("10.0.0.1", true),
        ("fe80::1", true),
    ] {
        let opened = Opened::to_address(address.parse().unwrap(), tokio::io::empty());
        assert_eq!(opened.is_summed, is_summed, "{address}");
    }
}

#[test]
fn a_call_that_ends_within_its_payload_leaves_the_connection_to_others() {
    let options = GrpcOptions::default();
    // Less than a frame.
    let (io, mut other) = connection(1 << 10);
    let lane = Lane::default();
    let large = request("a", vec![vec![7; 3 * FRAME_BYTES].into()]);
    block_on(async {
        {
            let mut call = pin!(lane.send(&options, async { io }, &large));
            let serve = async {
                other.accept(b"").await;
                assert_eq!(other.begun().await.0, 1);
            };
            tokio::select! {
                _ = &mut call => panic!("nobody answers"),
                () = serve => {}
            }
            // The call ends here, within its first frame.
        }
        let (header, body) = other.frame().await;
        assert_eq!((header.kind, body), (Kind::Bytes, vec![7; FRAME_BYTES]));
        let (header, _) = other.frame().await;
        assert_eq!(header.kind, Kind::Abort);
        let small = request("b", vec![]);
        let serve = async {
            assert_eq!(other.begun().await.0, 2);
            other.answer(Kind::Answer, 2, b"").await;
        };
        let again = async { panic!("there is a connection") };
        let (sent, ()) = tokio::join!(lane.send(&options, again, &small), serve);
        assert_eq!(sent.unwrap(), "");
    });
}

/// Bytes that tell whether anybody has them.
struct Lent {
    bytes: Vec<u8>,
    _owner: Arc<()>,
}

impl AsRef<[u8]> for Lent {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

#[test]
fn a_payload_is_given_back_when_its_call_or_its_connection_ends() {
    for ends_call in [true, false] {
        let options = GrpcOptions::default();
        // Less than a frame.
        let (io, mut other) = connection(1 << 10);
        let lane = Lane::default();
        let owner = Arc::new(());
        let lent = Lent {
            bytes: vec![7; 3 * FRAME_BYTES],
            _owner: owner.clone(),
        };
        let request = request("a", vec![Bytes::from_owner(lent)]);
        block_on(async {
            let mut call = Box::pin(async {
                let request = request;
                lane.send(&options, async { io }, &request).await
            });
            let serve = async {
                other.accept(b"").await;
                assert_eq!(other.begun().await.0, 1);
            };
            tokio::select! {
                _ = &mut call => panic!("nobody answers"),
                () = serve => {}
            }
            assert_eq!(Arc::strong_count(&owner), 2);
            // Within the first frame, whose rest nobody reads.
            if !ends_call {
                drop(other);
                assert!(call.await.is_err());
                assert_eq!(Arc::strong_count(&owner), 1);
                return;
            }
            drop(call);
            assert_eq!(Arc::strong_count(&owner), 1);
            let (_, body) = other.frame().await;
            assert_eq!(body, vec![7; FRAME_BYTES]);
            let (header, _) = other.frame().await;
            assert_eq!(header.kind, Kind::Abort);
        });
    }
}

#[test]
fn a_payload_that_is_refused_early_is_not_sent_to_the_end() {
    let options = GrpcOptions::default();
    let (io, mut other) = connection(1 << 10);
    let lane = Lane::default();
    let large = request("a", vec![vec![7; 100 * FRAME_BYTES].into()]);
    block_on(async {
        let serve = async {
            other.accept(b"").await;
            other.begun().await;
            let failure = crate::status::to_bytes(&Status::resource_exhausted("too large"));
            other.answer(Kind::Failure, 1, &failure).await;
            let mut num_frames = 0;
            while other.frame().await.0.kind == Kind::Bytes {
                num_frames += 1;
            }
            assert!(num_frames < 100, "{num_frames}");
        };
        let (sent, ()) = tokio::join!(lane.send(&options, async { io }, &large), serve);
        assert_eq!(sent.unwrap_err().message(), "too large");
    });
}

#[test]
fn a_connection_that_ends_ends_its_calls_and_another_one_is_opened() {
    let options = GrpcOptions::default();
    let lane = Lane::default();
    let payload = request("a", vec![]);
    block_on(async {
        for _ in 0..2 {
            let (io, mut other) = connection(1 << 10);
            let serve = async {
                other.accept(b"").await;
                other.begun().await;
                drop(other);
            };
            let (sent, ()) = tokio::join!(lane.send(&options, async { io }, &payload), serve);
            assert!(sent.is_err());
        }
        let refused = async { Err(io::ErrorKind::ConnectionRefused.into()) };
        assert!(lane.send(&options, refused, &payload).await.is_err());
    });
}

#[test]
fn answers_that_have_arrived_outlive_an_error_of_sending() {
    let options = GrpcOptions::default();
    let (io, mut other) = connection(1 << 10);
    let lane = Lane::default();
    let large = request("a", vec![vec![7; FRAME_BYTES].into()]);
    block_on(async {
        let again = || async { panic!("there is a connection") };
        let call = async {
            let answer = lane.call(&options, async { io }, execute(b"x")).await;
            assert_eq!(answer.unwrap(), "1");
        };
        let serve = async {
            other.accept(b"").await;
            assert_eq!(other.called().await.0, 1);
            let mut sent = pin!(lane.send(&options, again(), &large));
            tokio::select! {
                _ = &mut sent => panic!("nobody answers"),
                (number, _) = other.begun() => assert_eq!(number, 2),
            }
            other.answer(Kind::Answer, 1, b"1").await;
            drop(other);
            // The error comes before the client has read the answer.
            assert!(sent.await.is_err());
        };
        tokio::join!(call, serve);
        // Nothing more is sent there.
        let refused = async { Err(io::ErrorKind::ConnectionRefused.into()) };
        assert!(!lane.is_open());
        let call = lane.call(&options, refused, execute(b"y"));
        assert!(call.await.is_err());
    });
}

#[test]
fn a_side_that_says_nothing_is_given_up() {
    let options = GrpcOptions {
        keepalive_interval: Duration::from_millis(10),
        keepalive_timeout: Duration::from_millis(40),
        ..GrpcOptions::default()
    };
    for size in [0, 1 << 20] {
        // The large payload is stuck in the middle.
        let (io, mut other) = connection(1 << 10);
        let lane = Lane::default();
        let payload = request("a", vec![vec![7; size].into()]);
        block_on(async {
            let (sent, ()) = tokio::join!(
                lane.send(&options, async { io }, &payload),
                other.accept(b"")
            );
            assert_eq!(sent.unwrap_err().message(), "nothing was heard for 50ms");
        });
    }
}

#[test]
fn a_side_that_says_something_may_take_its_time() {
    let options = GrpcOptions {
        keepalive_interval: Duration::from_millis(10),
        keepalive_timeout: Duration::from_millis(40),
        ..GrpcOptions::default()
    };
    let (io, mut other) = connection(1 << 10);
    let lane = Lane::default();
    let payload = request("a", vec![]);
    block_on(async {
        let serve = async {
            other.accept(b"").await;
            other.begun().await;
            for _ in 0..15 {
                tokio::time::sleep(Duration::from_millis(10)).await;
                other.answer(Kind::Ping, 0, b"").await;
            }
            other.answer(Kind::Answer, 1, b"late").await;
        };
        let (sent, ()) = tokio::join!(lane.send(&options, async { io }, &payload), serve);
        assert_eq!(sent.unwrap(), "late");
    });
}

fn execute(request: &[u8]) -> CallFrame {
    CallFrame::new(Method::RemoteExecute, request)
}

#[test]
fn a_call_has_its_method_and_its_request() {
    let frame = execute(b"ab").numbered(7);
    let (header, body) = frame.split_at(Header::BYTES);
    let header = Header::parse(header.try_into().unwrap()).unwrap();
    assert_eq!(header, Header::new(Kind::Call, 16, 7));
    assert_eq!(body, b"\x0dRemoteExecuteab");
    let parse = |body: &[u8]| call::parse(Bytes::copy_from_slice(body));
    let (method, request) = parse(body).unwrap();
    assert_eq!((method, &request[..]), (Method::RemoteExecute, &b"ab"[..]));
    assert_eq!(parse(&body[..14]).unwrap().1, "");
    for (body, expected) in [
        (
            &body[..13],
            "malformed call: expected a name of 13 bytes, found 12 bytes",
        ),
        (
            b"",
            "malformed call: expected a name of 0 bytes, found 0 bytes",
        ),
        (b"\x00ab", "unknown method"),
        (b"\x04None", "unknown method"),
        (b"\x01\xff", "unknown method"),
        (
            b"\x09Heartbeat",
            "Heartbeat is not taken on a data connection",
        ),
    ] {
        assert_eq!(parse(body).unwrap_err().message(), expected);
    }
}

#[test]
fn every_method_fits_into_a_call() {
    let largest = MAX_CALL_BYTES - 64;
    let with = |len| {
        let name = "f".repeat(len);
        fits_call(
            &RemoteExecuteRequest {
                program_name: name,
                ..RemoteExecuteRequest::default()
            }
            .into(),
        )
    };
    // Four bytes for the length of the name.
    assert!(with(largest - 4) && !with(largest - 3));
    for method in Method::ALL {
        // A number of a request takes twelve bytes at most.
        let frame = CallFrame::new(*method, &vec![0; largest + 12]).numbered(1);
        assert!(frame.len() - Header::BYTES <= MAX_CALL_BYTES);
    }
}

#[test]
fn calls_go_between_payloads() {
    let options = GrpcOptions {
        // No ping sends what waits.
        keepalive_interval: 60 * MINUTE,
        ..GrpcOptions::default()
    };
    // Less than a frame.
    let (io, mut other) = connection(1 << 10);
    let lane = Lane::default();
    let long = request("a", vec![vec![7; 2 * FRAME_BYTES].into()]);
    let short = request("b", vec![]);
    let again = || async { panic!("there is a connection") };
    block_on(async {
        let first = async {
            other.accept(b"").await;
            assert_eq!(other.called().await, (1, "first".into()));
            other.answer(Kind::Answer, 1, b"").await;
        };
        let (first, ()) = tokio::join!(lane.call(&options, async { io }, execute(b"first")), first);
        first.unwrap();
        let (begin, begun) = tokio::sync::oneshot::channel();
        let calls = async {
            begun.await.unwrap();
            {
                // One that ends before its turn is not sent.
                let mut ended = pin!(lane.call(&options, again(), execute(b"ended")));
                let context = &mut Context::from_waker(Waker::noop());
                assert!(ended.as_mut().poll(context).is_pending());
            }
            tokio::join!(
                lane.call(&options, again(), execute(b"x")),
                lane.call(&options, again(), execute(b"y"))
            )
        };
        let serve = async {
            assert_eq!(other.begun().await.0, 2);
            // Not within the first payload, and not after the second one, which has waited longer.
            begin.send(()).unwrap();
            tokio::task::yield_now().await;
            assert_eq!(other.frame().await.0.kind, Kind::Bytes);
            assert_eq!(other.frame().await.0.kind, Kind::Bytes);
            assert_eq!(other.called().await, (5, "x".into()));
            assert_eq!(other.called().await, (6, "y".into()));
            assert_eq!(other.begun().await.0, 3);
            for number in [6, 3, 2, 5] {
                let body = number.to_string();
                other.answer(Kind::Answer, number, body.as_bytes()).await;
            }
        };
        let (long, short, (x, y), ()) = tokio::join!(
            lane.send(&options, again(), &long),
            lane.send(&options, again(), &short),
            calls,
            serve
        );
        let answers = [long, short, x, y].map(Result::unwrap);
        assert_eq!(answers, ["2", "3", "5", "6"]);
    });
}

#[test]
fn a_call_that_ends_leaves_the_connection_to_others() {
    let options = GrpcOptions::default();
    // Less than a frame.
    let (io, mut other) = connection(32);
    let lane = Lane::default();
    let long = vec![7; 1000];
    block_on(async {
        {
            let mut call = pin!(lane.call(&options, async { io }, execute(&long)));
            tokio::select! {
                _ = &mut call => panic!("nobody answers"),
                () = other.accept(b"") => {}
            }
            let mut first = [0];
            tokio::select! {
                _ = &mut call => panic!("nobody answers"),
                read = other.0.read_exact(&mut first) => assert_eq!(read.unwrap(), 1),
            }
            assert_eq!(first, [Kind::Call as u8]);
            // The call ends here, within its frame.
        }
        let mut rest = vec![0; Header::BYTES + 14 + long.len() - 1];
        other.0.read_exact(&mut rest).await.unwrap();
        let serve = async {
            assert_eq!(other.called().await, (2, "x".into()));
            other
                .answer(Kind::Answer, 1, b"of the call that has ended")
                .await;
            other.answer(Kind::Answer, 2, b"2").await;
        };
        let again = async { panic!("there is a connection") };
        let (sent, ()) = tokio::join!(lane.call(&options, again, execute(b"x")), serve);
        assert_eq!(sent.unwrap(), "2");
    });
}

#[test]
fn a_response_over_the_limit_ends_its_call_alone() {
    let options = GrpcOptions {
        max_message_bytes: 1 << 20,
        ..GrpcOptions::default()
    };
    let (io, mut other) = connection(1 << 10);
    let lane = Lane::default();
    block_on(async {
        let largest = vec![7; 1 << 20];
        let serve = async {
            other.accept(b"").await;
            for number in 1..=3 {
                assert_eq!(other.called().await.0, number);
            }
            other
                .answer(Kind::Answer, 1, &[&largest[..], b"7"].concat())
                .await;
            other.answer(Kind::Answer, 2, &largest).await;
            // An error never has so many bytes.
            let header = Header::new(Kind::Failure, MAX_ANSWER_BYTES + 1, 3);
            other.0.write_all(&header.to_bytes()).await.unwrap();
        };
        let again = || async { panic!("there is a connection") };
        let (first, second, third, ()) = tokio::join!(
            lane.call(&options, async { io }, execute(b"1")),
            lane.call(&options, again(), execute(b"2")),
            lane.call(&options, again(), execute(b"3")),
            serve
        );
        assert_eq!(
            first.unwrap_err().message(),
            "a response of 1048577 bytes exceeds the limit of 1048576 bytes"
        );
        assert_eq!(second.unwrap(), largest);
        assert_eq!(
            third.unwrap_err().message(),
            "the data connection ended: unexpected answer of 262145 bytes"
        );
    });
}

#[test]
fn answers_wait_for_a_client_that_does_not_read_and_are_counted() {
    let heard = Heard::new(&GrpcOptions::default());
    block_on(async {
        let (here, there) = tokio::io::duplex(1 << 10);
        let (answerer, waiting) = way_back(Frames::new(here));
        let mut other = Other(there);
        let large: crate::answers::Answer = Ok(vec![7; MAX_WAITING_BYTES].into());
        let others = [answerer.clone(), answerer.clone()];
        // One goes past the queue as far as it can, if it is alone.
        answerer.answer(1, &large, None);
        assert!(other.frame_now().is_none() && !answerer.is_full());
        answerer.answer(2, &Ok(Bytes::from_static(b"x")), None);
        assert!(answerer.is_full());
        let (sending, read) = (waiting.send(&heard), async {
            assert_eq!(other.frame().await.1.len(), MAX_WAITING_BYTES);
            assert_eq!(other.frame().await.1, b"x");
            answerer.has_room().await;
            drop(others);
            drop(answerer.clone());
            answerer.answer(3, &Ok(Bytes::from_static(b"y")), None);
            let (header, body) = other.frame_now().expect("it was sent at once");
            assert_eq!((header.value, &body[..]), (3, &b"y"[..]));
            // What does not fit follows, and counts until then.
            let last = answerer.clone();
            answerer.answer(4, &large, None);
            last.answer(5, &Ok(Bytes::new()), None);
            assert!(answerer.is_full());
            drop(last);
            assert_eq!(other.frame().await.1.len(), MAX_WAITING_BYTES);
            assert_eq!(other.frame().await.0.value, 5);
            drop(answerer);
            let ended = other.0.read_u8().await.unwrap_err();
            assert_eq!(ended.kind(), io::ErrorKind::UnexpectedEof);
        });
        tokio::join!(sending, read);
    });
}
