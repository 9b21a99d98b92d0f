//! Requests and their answers: limits, deadlines, retries, and what goes wrong.

use std::sync::Mutex;
use std::sync::mpsc::channel;
use std::time::Duration;

use prost::Message;
use prost::bytes::Bytes;
use tfrt_distributed::fabric::{CallOptions, CancelCall, Reply};
use tfrt_distributed::message::{
    DistributedContextConfiguration, GetDevicesRequest, KeepAliveResponse, Method,
    RegisterFunctionRequest, RemoteExecuteRequest, RemoteExecuteResponse, Request, Response,
    SendDataRequest,
};
use tfrt_distributed::{Server, ServerConfig};
use tfrt_grpc::{GrpcNetwork, GrpcOptions, TYPE_NAME};

use super::proxy::Proxy;
use super::{MINUTE, begin, call, fake, free_address, host, ping, silent, text};

#[test]
fn a_message_over_the_limit_is_refused_with_its_size() {
    let host = host();
    let task = fake(&host, &GrpcOptions::default(), |_, _| {
        panic!("nothing arrives")
    });
    let request = RegisterFunctionRequest {
        program: vec![0; 64 << 20].into(),
        ..RegisterFunctionRequest::default()
    };
    let size = request.encoded_len();
    let address = task.communicator.address();
    assert_eq!(
        text(call(&*task.own_client(), request)),
        format!(
            "InvalidArgument: RegisterFunction to {address}: a message of {size} bytes exceeds \
             the limit of 67108864 bytes"
        )
    );
}

#[test]
fn calls_end_by_deadline_and_cancellation() {
    let host = host();
    let kept = Mutex::new(Vec::new());
    let task = fake(&host, &GrpcOptions::default(), move |_, reply| {
        kept.lock().unwrap().push(reply)
    });
    let (client, address) = (task.own_client(), task.communicator.address());
    let options = CallOptions {
        timeout: Some(Duration::from_millis(20)),
        ..CallOptions::default()
    };
    let late = begin(&*client, options, ping())
        .recv_timeout(MINUTE)
        .unwrap();
    assert_eq!(
        text(late),
        format!("RpcDeadlineExceeded: KeepAlive to {address}: the deadline passed")
    );
    let cancel = CancelCall::default();
    let options = CallOptions {
        cancel: Some(cancel.clone()),
        ..CallOptions::default()
    };
    let answer = begin(&*client, options, ping());
    assert!(answer.recv_timeout(Duration::from_millis(20)).is_err());
    cancel.start();
    let cancelled = answer.recv_timeout(MINUTE).unwrap();
    assert_eq!(
        text(cancelled),
        format!("RpcCancelled: KeepAlive to {address}: the call was cancelled")
    );
}

#[test]
fn a_request_of_administration_has_a_deadline_of_its_own() {
    let host = host();
    let kept = Mutex::new(Vec::new());
    let options = GrpcOptions {
        control_timeout: Duration::from_millis(20),
        ..GrpcOptions::default()
    };
    let task = fake(&host, &options, move |_, reply| {
        kept.lock().unwrap().push(reply)
    });
    let message = text(call(&*task.own_client(), ping()));
    assert!(
        message.starts_with("RpcDeadlineExceeded: KeepAlive to 127.0.0.1:"),
        "{message}"
    );
}

#[test]
fn nobody_at_an_address_is_an_error() {
    let host = host();
    let task = fake(&host, &GrpcOptions::default(), |_, _| {
        panic!("nothing arrives")
    });
    // A privileged port: no test listens there.
    let closed = "127.0.0.1:1".to_owned();
    let client = task.communicator.client(&closed);
    let message = text(call(&*client, ping()));
    assert!(
        message.starts_with(&format!("RpcUnavailable: KeepAlive to {closed}: ")),
        "{message}"
    );
    assert!(message.contains("refused"), "{message}");
    let client = task.communicator.client("not an address");
    let message = text(call(&*client, ping()));
    assert!(
        message.starts_with("RpcUnknown: KeepAlive to not an address: "),
        "{message}"
    );
}

#[test]
fn calls_of_a_client_that_is_cut_end() {
    let host = host();
    let (task, replies) = silent(&host);
    let client = task.own_client();
    let answer = begin(&*client, CallOptions::default(), ping());
    let _reply = replies.recv_timeout(MINUTE).unwrap();
    client.cut();
    let address = task.communicator.address();
    assert_eq!(
        text(answer.recv_timeout(MINUTE).unwrap()),
        format!("RpcCancelled: KeepAlive to {address}: the connection was cut")
    );
    // Those that begin later do not.
    let later = begin(&*client, CallOptions::default(), ping());
    let reply = replies.recv_timeout(MINUTE).unwrap();
    reply.send(Ok(KeepAliveResponse {}.into()));
    assert!(later.recv_timeout(MINUTE).unwrap().is_ok());
}

#[test]
fn a_panic_is_an_error_and_the_task_lives_on() {
    let host = host();
    let task = fake(
        &host,
        &GrpcOptions::default(),
        |request, reply| match request {
            Request::GetDevices(_) => panic!("as the test wants"),
            _ => reply.send(Ok(KeepAliveResponse {}.into())),
        },
    );
    let client = task.own_client();
    assert_eq!(
        text(call(&*client, GetDevicesRequest {})),
        "RpcUnknown: the request was dropped without an answer"
    );
    assert!(call(&*client, ping()).is_ok());
}

#[test]
fn a_request_that_is_sent_again_runs_once() {
    let host = host();
    let (sender, requests) = channel();
    let sender = Mutex::new(sender);
    let task = fake(&host, &GrpcOptions::default(), move |request, reply| {
        sender.lock().unwrap().send((request, reply)).unwrap();
    });
    let proxy = Proxy::to(task.communicator.address());
    let client = task.communicator.client(&proxy.address);
    let execute = RemoteExecuteRequest {
        program_name: "f".to_owned(),
        ..RemoteExecuteRequest::default()
    };
    let options = CallOptions {
        max_retries: 20,
        ..CallOptions::default()
    };
    let answer = begin(&*client, options, execute.clone());
    let (request, reply) = requests.recv_timeout(MINUTE).unwrap();
    assert_eq!(request, execute.clone().into());
    // The caller does not know whether its request arrived.
    proxy.cut();
    let response = RemoteExecuteResponse {
        metadata: vec![Bytes::from_static(b"m")],
        ..RemoteExecuteResponse::default()
    };
    assert!(
        requests.recv_timeout(Duration::from_millis(300)).is_err(),
        "it ran twice"
    );
    reply.send(Ok(response.clone().into()));
    assert_eq!(answer.recv_timeout(MINUTE).unwrap(), Ok(response));
    // Without retries, a cut is an error.
    let answer = begin(&*client, CallOptions::default(), execute);
    let (_request, _reply) = requests.recv_timeout(MINUTE).unwrap();
    proxy.cut();
    let message = text(answer.recv_timeout(MINUTE).unwrap());
    assert!(
        message.starts_with("RpcUnavailable: RemoteExecute to 127.0.0.1:"),
        "{message}"
    );
}

#[test]
fn executions_that_wait_for_each_other_keep_nobody_back() {
    let host = host();
    let waiting: Mutex<Vec<Reply<Response>>> = Mutex::default();
    let options = GrpcOptions {
        max_inflight_requests: 2,
        ..GrpcOptions::default()
    };
    // The tenth execution makes what the others wait for.
    let task = fake(&host, &options, move |_, reply| {
        let mut waiting = waiting.lock().unwrap();
        waiting.push(reply);
        if waiting.len() == 10 {
            for reply in waiting.drain(..) {
                reply.send(Ok(RemoteExecuteResponse::default().into()));
            }
        }
    });
    let client = task.own_client();
    let execute = || {
        begin(
            &*client,
            CallOptions::default(),
            RemoteExecuteRequest::default(),
        )
    };
    let answers: Vec<_> = (0..10).map(|_| execute()).collect();
    for answer in answers {
        assert!(answer.recv_timeout(MINUTE).unwrap().is_ok());
    }
}

/// Messages that are damaged, against a real server.
#[test]
fn damaged_messages_are_answered() {
    let host = host();
    let address = free_address();
    let server = Server::new(&host, ServerConfig::new(TYPE_NAME, &address)).unwrap();
    let (sender, done) = channel();
    let config = &DistributedContextConfiguration::local_cluster(std::slice::from_ref(&address))[0];
    server.initialize_single_client(Some(1), config, move |outcome| {
        sender.send(outcome).unwrap()
    });
    let _context = done.recv_timeout(MINUTE).unwrap().unwrap();
    let samples: Vec<Request> = vec![
        ping().into(),
        SendDataRequest {
            context_id: 1,
            instance_key: "k".to_owned(),
            payload: vec![Bytes::from_static(b"abc")],
        }
        .into(),
        RegisterFunctionRequest {
            context_id: 1,
            program_name: "f".to_owned(),
            program: Bytes::from_static(b"func @f() { tfrt.return }"),
            ..RegisterFunctionRequest::default()
        }
        .into(),
        RemoteExecuteRequest {
            context_id: 1,
            program_name: "f".to_owned(),
            ..RemoteExecuteRequest::default()
        }
        .into(),
    ];
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let endpoint =
            tonic::transport::Endpoint::from_shared(format!("http://{address}")).unwrap();
        let channel = endpoint.connect().await.unwrap();
        let mut seed = 1_u64;
        let mut random = move || {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as usize
        };
        for method in
            Method::ALL
                .iter()
                .map(|method| method.name())
                .chain(["Hello", "StreamData", "None"])
        {
            for round in 0..100 {
                let mut bytes = samples[round % samples.len()].encode();
                for _ in 0..=random() % 4 {
                    if bytes.is_empty() {
                        break;
                    }
                    let at = random() % bytes.len();
                    match random() % 3 {
                        0 => bytes[at] = random() as u8,
                        1 => bytes.truncate(at),
                        _ => bytes.insert(at, random() as u8),
                    }
                }
                let mut grpc = tonic::client::Grpc::new(channel.clone());
                grpc.ready().await.unwrap();
                let path =
                    http::uri::PathAndQuery::try_from(format!("/tfrt.Worker/{method}")).unwrap();
                let call = grpc.unary(tonic::Request::new(bytes), path, tonic_bytes::Codec);
                // Whatever is answered: an answer comes.
                let answered = tokio::time::timeout(MINUTE, call).await;
                assert!(
                    answered.is_ok(),
                    "{method} in round {round} was not answered"
                );
            }
        }
    });
    let client = GrpcNetwork::new(GrpcOptions::default())
        .listen(&host, "127.0.0.1:0", std::sync::Weak::<Server>::new())
        .unwrap()
        .client(&address);
    assert!(call(&*client, GetDevicesRequest {}).is_ok());
}

/// Frames bytes as they are.
mod tonic_bytes {
    use prost::bytes::{Buf, BufMut};
    use tonic::Status;
    use tonic::codec::{DecodeBuf, Decoder, EncodeBuf, Encoder};

    #[derive(Clone, Copy)]
    pub(crate) struct Codec;

    impl tonic::codec::Codec for Codec {
        type Encode = Vec<u8>;
        type Decode = Vec<u8>;
        type Encoder = Self;
        type Decoder = Self;

        fn encoder(&mut self) -> Self {
            *self
        }

        fn decoder(&mut self) -> Self {
            *self
        }
    }

    impl Encoder for Codec {
        type Item = Vec<u8>;
        type Error = Status;

        fn encode(&mut self, item: Vec<u8>, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
            buffer.put_slice(&item);
            Ok(())
        }
    }

    impl Decoder for Codec {
        type Item = Vec<u8>;
        type Error = Status;

        fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<Vec<u8>>, Status> {
            Ok(Some(buffer.copy_to_bytes(buffer.remaining()).to_vec()))
        }
    }
}
