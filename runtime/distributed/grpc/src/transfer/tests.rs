//! Payloads that are sent and assembled, whole and damaged.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use http_body::Body as _;
use prost::Message;
use prost::bytes::{Buf, Bytes};
use tfrt_distributed::PayloadMemory;
use tfrt_distributed::fabric::ArrivedPayload;
use tfrt_distributed::message::SendDataRequest;
use tfrt_distributed::rendezvous::PayloadRoom;
use tfrt_host::HostContext;
use tfrt_host::allocator::{HostAllocator, LeakCheckAllocator};
use tonic::Status;
use tonic::body::Body;

use super::chunk::Parts;
use super::*;
use crate::wire::DataChunk;

fn parts(bytes: Bytes) -> Parts {
    let mut parts = Parts::default();
    parts.push(bytes);
    parts
}

/// The messages of a payload as they are sent, without their lengths.
fn chunks(request: &SendDataRequest) -> Vec<Bytes> {
    let mut body = PayloadBody::new(request);
    let mut context = Context::from_waker(Waker::noop());
    let mut stream = Vec::new();
    while let Poll::Ready(Some(Ok(frame))) = Pin::new(&mut body).poll_frame(&mut context) {
        stream.extend(frame.into_data().unwrap());
    }
    let mut stream = Bytes::from(stream);
    let mut chunks = Vec::new();
    while stream.has_remaining() {
        assert_eq!(stream.get_u8(), 0);
        let len = stream.get_u32() as usize;
        chunks.push(stream.split_to(len));
    }
    chunks
}

fn request(sizes: &[usize]) -> SendDataRequest {
    let element = |(index, size): (usize, &usize)| {
        let bytes: Vec<u8> = (0..*size).map(|i| (i * 7 + index) as u8).collect();
        Bytes::from(bytes)
    };
    SendDataRequest {
        context_id: 3,
        instance_key: "key".to_owned(),
        payload: sizes.iter().enumerate().map(element).collect(),
    }
}

fn memory() -> PayloadMemory {
    PayloadMemory::of(&HostContext::builder().build())
}

fn assemble(chunks: impl IntoIterator<Item = Bytes>) -> Result<SendDataRequest, Status> {
    let mut assembly = Assembly::new(1 << 30, memory());
    for chunk in chunks {
        assembly.add(parts(chunk))?;
    }
    assembly.finish().map(as_request)
}

fn as_request(arrived: ArrivedPayload) -> SendDataRequest {
    SendDataRequest {
        context_id: arrived.context_id,
        instance_key: arrived.instance_key,
        payload: arrived.payload.to_bytes().unwrap(),
    }
}

const SIZES: [&[usize]; 8] = [
    &[],
    &[0],
    &[1],
    &[CHUNK_BYTES],
    &[0, 0, CHUNK_BYTES + 1, 0, 5, 0],
    &[3 * CHUNK_BYTES - 1, 2],
    &[2, 0, 0, CHUNK_BYTES],
    &[20 * CHUNK_BYTES + 5],
];

#[test]
fn payloads_arrive_whole() {
    for sizes in SIZES {
        let request = request(sizes);
        assert_eq!(assemble(chunks(&request)).unwrap(), request, "{sizes:?}");
    }
}

#[test]
fn the_body_of_a_request_is_received() {
    let request = request(SIZES[4]);
    let receive_from = |body: Body, max_message_bytes: usize| {
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        let assembly = Assembly::new(1 << 30, memory());
        let expect = |head: &DataChunk| {
            assert_eq!((head.context_id, &*head.instance_key), (3, "key"));
            Ok(PayloadRoom::default())
        };
        runtime
            .unwrap()
            .block_on(receive(body, max_message_bytes, assembly, expect))
    };
    let arrived = receive_from(Body::new(PayloadBody::new(&request)), 2 << 20).unwrap();
    assert_eq!(as_request(arrived), request);
    let error = receive_from(Body::new(PayloadBody::new(&request)), CHUNK_BYTES).unwrap_err();
    assert_eq!(error.code(), tonic::Code::OutOfRange);
    let error = receive_from(Body::empty(), 2 << 20).unwrap_err();
    assert_eq!(
        error.message(),
        "malformed payload: expected at least one chunk, found none"
    );
}

#[test]
fn a_payload_that_is_not_wanted_is_refused_before_it_arrives() {
    struct Endless(Option<Bytes>);

    impl http_body::Body for Endless {
        type Data = Bytes;
        type Error = std::convert::Infallible;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<http_body::Frame<Bytes>, Self::Error>>> {
            match self.0.take() {
                Some(head) => Poll::Ready(Some(Ok(http_body::Frame::data(head)))),
                // The bytes never come.
                None => Poll::Pending,
            }
        }
    }

    let mut body = PayloadBody::new(&request(&[1 << 20]));
    let mut context = Context::from_waker(Waker::noop());
    let Poll::Ready(Some(Ok(head))) = Pin::new(&mut body).poll_frame(&mut context) else {
        panic!("a body begins with the description");
    };
    let body = Body::new(Endless(head.into_data().ok()));
    let refuse = |head: &DataChunk| Err(Status::not_found(head.total_bytes().to_string()));
    let received = receive(body, 2 << 20, Assembly::new(1 << 30, memory()), refuse);
    match std::pin::pin!(received).poll(&mut context) {
        Poll::Ready(refused) => assert_eq!(refused.unwrap_err().message(), "1048576"),
        Poll::Pending => panic!("it waits for the bytes"),
    }
}

/// Chunks of any size are accepted, not only those that this version sends.
#[test]
fn small_chunks_add_up() {
    let request = request(&[CHUNK_BYTES + 10]);
    let bytes = &request.payload[0];
    let mut small = vec![chunks(&request)[0].clone()];
    let mut rest = bytes.clone();
    let mut size = 1;
    while !rest.is_empty() {
        let bytes = rest.split_to(size.min(rest.len()));
        size = size % 9000 + 700;
        let crc32c = rest.is_empty().then(|| crc32c::crc32c(&request.payload[0]));
        let chunk = DataChunk {
            bytes,
            crc32c,
            ..DataChunk::default()
        };
        small.push(chunk.encode_to_vec().into());
    }
    assert_eq!(assemble(small).unwrap(), request);
}

#[test]
fn a_payload_that_lacks_or_repeats_a_chunk_is_refused() {
    for sizes in SIZES {
        let chunks = chunks(&request(sizes));
        for damaged in 0..chunks.len() {
            let mut lacking = chunks.clone();
            lacking.remove(damaged);
            assert!(assemble(lacking).is_err(), "{sizes:?} without {damaged}");
            let mut repeating = chunks.clone();
            repeating.insert(damaged, chunks[damaged].clone());
            assert!(assemble(repeating).is_err(), "{sizes:?} twice {damaged}");
        }
    }
}

#[test]
fn damaged_bytes_are_found() {
    let chunks = chunks(&request(&[10, 20]));
    for damaged in 1..chunks.len() {
        for at in 0..chunks[damaged].len() {
            let mut chunks = chunks.clone();
            let mut bytes = chunks[damaged].to_vec();
            bytes[at] ^= 1;
            chunks[damaged] = bytes.into();
            assert!(assemble(chunks).is_err(), "byte {at} of chunk {damaged}");
        }
    }
}

#[test]
fn announced_sizes_take_no_memory() {
    let head = DataChunk {
        element_bytes: vec![1 << 29, 1 << 29],
        ..DataChunk::default()
    };
    let head: Bytes = head.encode_to_vec().into();
    let leak_check: Arc<dyn HostAllocator> = Arc::new(LeakCheckAllocator::default());
    let used = || leak_check.profile().unwrap().current_bytes;
    let host = HostContext::builder().allocator(Arc::clone(&leak_check));
    let mut assembly = Assembly::new(1 << 30, PayloadMemory::of(&host.build()));
    assembly.add(parts(head.clone())).unwrap();
    let chunk = DataChunk {
        bytes: vec![1; 1 << 20].into(),
        ..DataChunk::default()
    };
    let chunk: Bytes = chunk.encode_to_vec().into();
    // An eighth of the element.
    for _ in 0..63 {
        assembly.add(parts(chunk.clone())).unwrap();
        assert!(!assembly.has_memory());
        assert_eq!(used(), 0);
    }
    assembly.add(parts(chunk)).unwrap();
    assert!(assembly.has_memory());
    drop(assembly);
    assert_eq!(used(), 0);
    let error = Assembly::new((1 << 30) - 1, memory()).add(parts(head));
    assert_eq!(
        error.unwrap_err().message(),
        "a payload of 1073741824 bytes exceeds the limit of 1073741823 bytes"
    );
    let wild = DataChunk {
        element_bytes: vec![u64::MAX; 3],
        ..DataChunk::default()
    };
    assert!(
        Assembly::new(1 << 30, memory())
            .add(parts(wild.encode_to_vec().into()))
            .is_err()
    );
}
