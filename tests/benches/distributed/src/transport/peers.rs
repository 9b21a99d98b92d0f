//! The peers of the transport: a service of tonic, and a TCP connection.

use std::convert::Infallible;
use std::future::Future;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::pin::Pin;
use std::sync::Mutex;
use std::task::{Context, Poll};
use std::thread;

use http::uri::PathAndQuery;
use prost::bytes::{Buf, BufMut, Bytes};
use tfrt_grpc::GrpcOptions;
use tfrt_support::Error;
use tokio::runtime::{Builder, Runtime};
use tonic::body::Body;
use tonic::client;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::server::{self, ClientStreamingService, UnaryService};
use tonic::transport::server::TcpIncoming;
use tonic::transport::{Channel, Endpoint, Server};
use tonic::{Response, Status, Streaming};

/// The size of the messages of a stream.
const CHUNK_BYTES: usize = 1 << 20;

const ECHO: &str = "/peer.Peer/Echo";
const SINK: &str = "/peer.Peer/Sink";

type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// Frames bytes as they are.
#[derive(Clone, Copy)]
struct Raw;

impl Codec for Raw {
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

impl Encoder for Raw {
    type Item = Bytes;
    type Error = Status;

    fn encode(&mut self, item: Bytes, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        buffer.reserve(item.len());
        buffer.put(item);
        Ok(())
    }
}

impl Decoder for Raw {
    type Item = Bytes;
    type Error = Status;

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<Bytes>, Status> {
        Ok(Some(buffer.copy_to_bytes(buffer.remaining())))
    }
}

/// Where the peers listen.
pub(super) struct PeerAddresses {
    pub(super) tonic: String,
    pub(super) tcp: String,
}

fn runtime() -> Result<Runtime, Error> {
    let runtime = Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build();
    runtime.map_err(Error::other)
}

/// Serves the peers, as long as the process runs.
pub(super) fn serve() -> Result<PeerAddresses, Error> {
    let tcp = TcpListener::bind("127.0.0.1:0").map_err(Error::other)?;
    let tonic = TcpListener::bind("127.0.0.1:0").map_err(Error::other)?;
    let addresses = PeerAddresses {
        tonic: tonic.local_addr().map_err(Error::other)?.to_string(),
        tcp: tcp.local_addr().map_err(Error::other)?.to_string(),
    };
    thread::spawn(move || {
        for stream in tcp.incoming().map_while(Result::ok) {
            thread::spawn(move || receive(stream));
        }
    });
    tonic.set_nonblocking(true).map_err(Error::other)?;
    let runtime = runtime()?;
    thread::spawn(move || {
        runtime.block_on(async {
            let Ok(listener) = tokio::net::TcpListener::from_std(tonic) else {
                return;
            };
            let options = GrpcOptions::default();
            let incoming = TcpIncoming::from(listener).with_nodelay(Some(true));
            // It serves until the process ends.
            let _ = Server::builder()
                .initial_stream_window_size(options.stream_window_bytes)
                .initial_connection_window_size(options.connection_window_bytes)
                .max_frame_size(options.frame_bytes)
                .serve_with_incoming(Service, incoming)
                .await;
        });
    });
    Ok(addresses)
}

/// Receives messages: a length, and so many bytes. Each is answered by one byte.
fn receive(mut stream: TcpStream) {
    let mut length = [0; 8];
    let mut bytes = Vec::new();
    while stream.read_exact(&mut length).is_ok() {
        bytes.resize(u64::from_le_bytes(length) as usize, 0);
        if stream.read_exact(&mut bytes).is_err() || stream.write_all(&[1]).is_err() {
            return;
        }
    }
}

#[derive(Clone)]
struct Service;

struct Echo;

impl UnaryService<Bytes> for Echo {
    type Response = Bytes;
    type Future = BoxFuture<Result<Response<Bytes>, Status>>;

    fn call(&mut self, request: tonic::Request<Bytes>) -> Self::Future {
        Box::pin(async { Ok(Response::new(request.into_inner())) })
    }
}

/// Takes all chunks, as a receiver does that has the bytes in the end.
struct Sink;

impl ClientStreamingService<Bytes> for Sink {
    type Response = Bytes;
    type Future = BoxFuture<Result<Response<Bytes>, Status>>;

    fn call(&mut self, request: tonic::Request<Streaming<Bytes>>) -> Self::Future {
        Box::pin(async {
            let mut chunks = request.into_inner();
            let mut whole = Vec::new();
            while let Some(chunk) = chunks.message().await? {
                whole.extend_from_slice(&chunk);
            }
            Ok(Response::new(Bytes::copy_from_slice(
                &whole.len().to_le_bytes(),
            )))
        })
    }
}

impl tower_service::Service<http::Request<Body>> for Service {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<Result<http::Response<Body>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        Box::pin(async move {
            let mut grpc = server::Grpc::new(Raw).max_decoding_message_size(usize::MAX);
            Ok(match request.uri().path() {
                ECHO => grpc.unary(Echo, request).await,
                SINK => grpc.client_streaming(Sink, request).await,
                _ => Status::unimplemented("unknown method").into_http(),
            })
        })
    }
}

/// The clients of the peers.
pub(super) struct Peer {
    runtime: Runtime,
    channel: Channel,
    tcp: Mutex<TcpStream>,
}

impl Peer {
    pub(super) fn connect(addresses: &PeerAddresses) -> Result<Self, Error> {
        let runtime = runtime()?;
        let options = GrpcOptions::default();
        let endpoint = Endpoint::from_shared(format!("http://{}", addresses.tonic))
            .map_err(Error::other)?
            .tcp_nodelay(true)
            .initial_stream_window_size(options.stream_window_bytes)
            .initial_connection_window_size(options.connection_window_bytes);
        let channel = runtime.block_on(endpoint.connect()).map_err(Error::other)?;
        let tcp = TcpStream::connect(&addresses.tcp).map_err(Error::other)?;
        tcp.set_nodelay(true).map_err(Error::other)?;
        Ok(Self {
            runtime,
            channel,
            tcp: Mutex::new(tcp),
        })
    }

    async fn unary(channel: Channel, message: Bytes) -> Result<(), Status> {
        let mut grpc = client::Grpc::new(channel);
        grpc.ready()
            .await
            .map_err(|error| Status::from_error(error.into()))?;
        let path = PathAndQuery::from_static(ECHO);
        grpc.unary(tonic::Request::new(message), path, Raw).await?;
        Ok(())
    }

    /// Sends a message so many times at once, and waits for the answers.
    pub(super) fn echo(&self, message: &Bytes, count: usize) -> Result<(), Error> {
        let calls = (0..count).map(|_| {
            let call = Self::unary(self.channel.clone(), message.clone());
            self.runtime.spawn(call)
        });
        let calls: Vec<_> = calls.collect();
        self.runtime.block_on(async {
            for call in calls {
                call.await.map_err(Error::other)?.map_err(Error::other)?;
            }
            Ok(())
        })
    }

    /// Sends a message in chunks.
    pub(super) fn stream(&self, message: &Bytes) -> Result<(), Error> {
        let message = message.clone();
        let offsets = (0..message.len()).step_by(CHUNK_BYTES);
        let chunks: Vec<Bytes> = offsets
            .map(|from| message.slice(from..message.len().min(from + CHUNK_BYTES)))
            .collect();
        let channel = self.channel.clone();
        self.runtime.block_on(async {
            let mut grpc = client::Grpc::new(channel);
            grpc.ready().await.map_err(Error::other)?;
            let request = tonic::Request::new(tokio_stream::iter(chunks));
            let path = PathAndQuery::from_static(SINK);
            let answer = grpc.client_streaming(request, path, Raw).await;
            answer.map(drop).map_err(Error::other)
        })
    }

    /// Sends a message over the TCP connection.
    pub(super) fn copy(&self, message: &Bytes) -> Result<(), Error> {
        let tcp = self.tcp.lock();
        let mut tcp = tcp.map_err(|_| Error::new("a copy panicked"))?;
        let length = (message.len() as u64).to_le_bytes();
        let mut answer = [0];
        tcp.write_all(&length)
            .and_then(|()| tcp.write_all(message))
            .and_then(|()| tcp.read_exact(&mut answer))
            .map_err(Error::other)
    }
}
