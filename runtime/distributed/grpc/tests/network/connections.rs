//! Connections of clients that do not say what they should, or only half of it.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use prost::bytes::Bytes;
use tfrt_distributed::fabric::CallOptions;
use tfrt_distributed::message::{KeepAliveResponse, RegisterFunctionRequest};
use tfrt_grpc::GrpcOptions;

use super::proxy::Proxy;
use super::{Fake, MINUTE, begin, call, fake, host, ping};

const HTTP_PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// A frame of settings without any.
const SETTINGS: &[u8] = b"\0\0\0\x04\0\0\0\0\0";

fn answering(options: &GrpcOptions) -> Fake {
    fake(&host(), options, |_, reply| {
        reply.send(Ok(KeepAliveResponse {}.into()));
    })
}

fn connect(task: &Fake) -> TcpStream {
    let stream = TcpStream::connect(task.communicator.address()).unwrap();
    stream.set_read_timeout(Some(MINUTE)).unwrap();
    stream
}

/// Waits until the other side closes a connection.
fn wait_for_end(mut stream: impl Read) {
    let mut said = Vec::new();
    if let Err(error) = stream.read_to_end(&mut said) {
        // Reset, because the task has not read all of it.
        assert_ne!(error.kind(), std::io::ErrorKind::WouldBlock, "it stays");
    }
}

/// Beginnings of what clients say.
fn beginnings() -> [&'static [u8]; 5] {
    [
        b"",
        b"P",
        &HTTP_PREFACE[..HTTP_PREFACE.len() - 1],
        b"T",
        b"TFRT data 1\n\x01\0\0",
    ]
}

#[test]
fn connections_that_say_half_of_what_they_should_are_closed() {
    let options = GrpcOptions {
        connect_timeout: Duration::from_millis(100),
        ..GrpcOptions::default()
    };
    let task = answering(&options);
    let streams = beginnings().map(|beginning| {
        let mut stream = connect(&task);
        stream.write_all(beginning).unwrap();
        stream
    });
    streams.into_iter().for_each(wait_for_end);
    // Byte after byte is too slow, too.
    let mut slow = connect(&task);
    let begin = Instant::now();
    let preface = [b'P'].into_iter().chain(std::iter::repeat(b'R'));
    for byte in preface {
        assert!(begin.elapsed() < MINUTE, "the connection stays");
        if slow.write_all(&[byte]).is_err() {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    call(&*task.own_client(), ping()).unwrap();
}

#[cfg(unix)]
#[test]
fn unix_sockets_that_say_half_of_what_they_should_are_closed() {
    use std::os::unix::net::UnixStream;
    use std::sync::{Arc, Weak};

    use tfrt_distributed::Server;
    use tfrt_grpc::GrpcNetwork;

    let path = std::env::temp_dir().join(format!("tfrt-silent-{}", std::process::id()));
    let network = GrpcNetwork::new(GrpcOptions {
        connect_timeout: Duration::from_millis(100),
        ..GrpcOptions::default()
    });
    let address = format!("unix:{}", path.display());
    let nobody: Weak<Server> = Weak::new();
    let task = network.listen(&Arc::clone(&host()), &address, nobody);
    let task = task.unwrap();
    for beginning in beginnings() {
        let mut stream = UnixStream::connect(&path).unwrap();
        stream.set_read_timeout(Some(MINUTE)).unwrap();
        stream.write_all(beginning).unwrap();
        wait_for_end(stream);
    }
    drop(task);
}

#[test]
fn connections_that_have_said_what_they_should_stay() {
    let options = GrpcOptions {
        connect_timeout: Duration::from_millis(50),
        ..GrpcOptions::default()
    };
    let task = answering(&options);
    let mut stream = connect(&task);
    stream.write_all(b"TFRT data 1\n\0\0\0\0").unwrap();
    let limit = Some(Duration::from_millis(300));
    stream.set_read_timeout(limit).unwrap();
    let mut said = Vec::new();
    let waited = stream.read_to_end(&mut said).unwrap_err();
    assert_eq!(waited.kind(), std::io::ErrorKind::WouldBlock);
    assert!(!said.is_empty());
}

#[test]
fn connections_without_a_request_that_is_accepted_are_closed() {
    use tfrt_grpc::Token;

    let with = |token: Option<&str>, data_connections| GrpcOptions {
        connect_timeout: Duration::from_millis(200),
        // Nobody else closes what is idle.
        keepalive_interval: MINUTE,
        token: token.map(|token| Token::new(token).unwrap()),
        data_connections,
        ..GrpcOptions::default()
    };
    let (secret, wrong) = ("0123456789abcdef", "0123456789abcdeX");
    for token in [None, Some(secret)] {
        let task = answering(&with(token, false));
        // Whoever speaks HTTP/2 has still to say who it is.
        let mut stream = connect(&task);
        let said = [HTTP_PREFACE, SETTINGS].concat();
        stream.write_all(&said).unwrap();
        wait_for_end(stream);
        let proxy = Proxy::to(task.communicator.address());
        let call_as = |token: Option<&str>| {
            let other = answering(&with(token, false));
            let client = other.communicator.client(&proxy.address);
            let answer = call(&*client, ping());
            (other, client, answer)
        };
        if token.is_some() {
            let (_other, _client, answer) = call_as(Some(wrong));
            assert!(answer.is_err());
            let end = Instant::now() + MINUTE;
            while proxy.num_open() > 0 {
                assert!(Instant::now() < end, "the connection stays");
                std::thread::sleep(Duration::from_millis(10));
            }
        }
        let (_other, _client, answer) = call_as(token);
        answer.unwrap();
        // Several times as long as it had to say so.
        std::thread::sleep(Duration::from_secs(1));
        assert_eq!(proxy.num_open(), 2);
    }
}

#[test]
fn connections_over_the_limit_wait_until_one_ends() {
    let options = GrpcOptions {
        max_connections: 2,
        data_connections: false,
        ..GrpcOptions::default()
    };
    let task = answering(&options);
    let (first, second) = (task.own_client(), task.own_client());
    for client in [&first, &second] {
        call(&**client, ping()).unwrap();
    }
    let third = task.own_client();
    let answer = begin(&*third, CallOptions::default(), ping());
    // Longer than a connection may open whatever else happens.
    assert!(answer.recv_timeout(Duration::from_secs(1)).is_err());
    drop(first);
    answer.recv_timeout(MINUTE).unwrap().unwrap();
}

#[test]
fn connections_that_say_nothing_leave_their_places_to_others() {
    let options = GrpcOptions {
        max_connections: 3,
        connect_timeout: MINUTE,
        ..GrpcOptions::default()
    };
    // More than may be open, and more than may open at a time.
    for (options, num_silent) in [
        (options, 6),
        (
            GrpcOptions {
                connect_timeout: MINUTE,
                ..GrpcOptions::default()
            },
            100,
        ),
    ] {
        let task = answering(&options);
        let silent: Vec<TcpStream> = (0..num_silent).map(|_| connect(&task)).collect();
        call(&*task.own_client(), ping()).unwrap();
        drop(silent);
    }
}

/// The start of a request, of which the rest does not come.
struct Half(Option<Bytes>);

impl http_body::Body for Half {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<http_body::Frame<Bytes>, Self::Error>>> {
        match self.0.take() {
            Some(bytes) => Poll::Ready(Some(Ok(http_body::Frame::data(bytes)))),
            None => Poll::Pending,
        }
    }
}

#[test]
fn halves_of_requests_take_little_memory() {
    use tower_service::Service;

    let options = GrpcOptions {
        max_message_bytes: 256 << 10,
        ..GrpcOptions::default()
    };
    let task = answering(&options);
    let address = task.communicator.address();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    // A large part of the largest message: sixteen of them may arrive, and a few more because of
    // the bytes that do not count.
    let mut half = vec![0, 0, 4, 0, 0];
    half.resize(250 << 10, 7);
    let half = Bytes::from(half);
    runtime.block_on(async {
        let endpoint = tonic::transport::Endpoint::from_shared(format!("http://{address}"));
        let endpoint = endpoint.unwrap().initial_connection_window_size(1 << 24);
        let channel = endpoint.connect().await.unwrap();
        let mut calls = tokio::task::JoinSet::new();
        for _ in 0..40 {
            let request =
                http::Request::post(format!("http://{address}/tfrt.Worker/RegisterFunction"))
                    .header("content-type", "application/grpc")
                    .body(tonic::body::Body::new(Half(Some(half.clone()))));
            let mut channel = channel.clone();
            calls.spawn(async move {
                std::future::poll_fn(|context| channel.poll_ready(context))
                    .await
                    .unwrap();
                channel.call(request.unwrap()).await.unwrap()
            });
        }
        let refused = tokio::time::timeout(MINUTE, calls.join_next()).await;
        let refused = refused.unwrap().unwrap().unwrap();
        assert_eq!(refused.headers()["grpc-status"], "14");
        // Small requests arrive.
        call(&*task.own_client(), ping()).unwrap();
    });
    // Large ones do again, once the halves are gone.
    drop(runtime);
    let request = RegisterFunctionRequest {
        program: vec![7; 200 << 10].into(),
        ..RegisterFunctionRequest::default()
    };
    let client = task.own_client();
    let end = Instant::now() + MINUTE;
    while let Err(errors) = call(&*client, request.clone()) {
        let message = errors.to_string();
        assert!(
            message.ends_with("too many bytes of requests are arriving"),
            "{message}"
        );
        assert!(Instant::now() < end, "{message}");
    }
}
