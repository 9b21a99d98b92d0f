//! Tensors for other engines: the client of Arrow's crate, and that of `pyarrow` where there is
//! one.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::process::Command;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use arrow_array::types::{Float32Type, Int64Type};
use arrow_array::{Array, ArrayRef, BooleanArray, FixedSizeListArray, PrimitiveArray, RecordBatch};
use arrow_flight::encode::FlightDataEncoderBuilder;
use arrow_flight::error::FlightError;
use arrow_flight::{Action, Criteria, FlightClient, FlightData, FlightDescriptor, Ticket};
use arrow_schema::{DataType, Field, Schema};
use prost::bytes::Bytes;
use tfrt_distributed::message::DistributedContextConfiguration;
use tfrt_distributed::{DistributedContext, Payload, Server, ServerConfig};
use tfrt_grpc::{GrpcNetwork, GrpcOptions, TYPE_NAME, Token};
use tfrt_host::HostContext;
use tfrt_support::DType;
use tfrt_tensor::{DenseHostTensor, Shape};
use tokio_stream::StreamExt;
use tonic::Code;
use tonic::transport::{Channel, Endpoint};

use super::security::{self, Authority};
use super::{MINUTE, free_address, host};

/// A task with the context 7, whose only task it is.
struct Task {
    host: Arc<HostContext>,
    server: Arc<Server>,
    context: Arc<DistributedContext>,
    address: String,
}

fn task() -> Task {
    task_with(GrpcOptions::default(), |_| ())
}

fn task_with(options: GrpcOptions, change: impl FnOnce(&mut ServerConfig)) -> Task {
    let (host, address) = (host(), free_address());
    let network = GrpcNetwork::new(GrpcOptions {
        flight: true,
        ..options
    });
    let mut config = ServerConfig::new(TYPE_NAME, &address);
    change(&mut config);
    let server = Server::on_network(&host, config, |handler| {
        network.listen(&host, &address, handler)
    });
    let server = server.unwrap();
    let addresses = std::slice::from_ref(&address);
    let config = &DistributedContextConfiguration::local_cluster(addresses)[0];
    let context = server.create_context(7, config).unwrap();
    Task {
        host,
        server,
        context,
        address,
    }
}

impl Task {
    /// The tensors that the program receives under a key.
    fn receive(&self, key: &str) -> Receiver<Result<DenseHostTensor, String>> {
        let (sender, received) = channel();
        let host = Arc::clone(&self.host);
        let receiver = move |payload: Result<Payload, tfrt_support::Error>| {
            let tensor = payload.and_then(|payload| payload.to_tensor(host.allocator()));
            // A test that failed does not wait any more.
            let _ = sender.send(tensor.map_err(|error| error.message().to_owned()));
        };
        self.context.rendezvous().receive(key, Box::new(receiver));
        received
    }

    fn send(&self, key: &str, tensor: &DenseHostTensor) {
        let payload = Payload::of_tensor(tensor);
        self.context.rendezvous().send(key, payload).unwrap();
    }

    /// Takes the tensor that waits under a key.
    fn take(&self, key: &str) -> DenseHostTensor {
        let received = self.receive(key);
        received.recv_timeout(MINUTE).unwrap().unwrap()
    }

    async fn client(&self) -> FlightClient {
        FlightClient::new(connect(&self.address).await)
    }

    /// Waits for a receiver, or until there is none.
    async fn wait_for_receiver(&self, waits: bool) {
        let end = Instant::now() + MINUTE;
        while self.context.rendezvous().is_empty() == waits {
            assert!(Instant::now() < end, "it does not happen");
            tokio::task::yield_now().await;
        }
    }
}

async fn connect(address: &str) -> Channel {
    let endpoint = Endpoint::from_shared(format!("http://{address}")).unwrap();
    endpoint.connect().await.unwrap()
}

/// Runs the client of a test.
fn run<T>(client: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let limited = async { tokio::time::timeout(MINUTE, client).await };
    runtime.block_on(limited).expect("an answer comes")
}

/// A record batch of one tensor.
fn batch(shape: &[i32], elements: ArrayRef) -> RecordBatch {
    let element = Arc::new(Field::new_list_field(elements.data_type().clone(), true));
    let size = shape.iter().product();
    let lists = FixedSizeListArray::try_new_with_length(element, size, elements, None, 1).unwrap();
    let metadata = HashMap::from([
        (
            "ARROW:extension:name".to_owned(),
            "arrow.fixed_shape_tensor".to_owned(),
        ),
        (
            "ARROW:extension:metadata".to_owned(),
            format!("{{\"shape\":{}}}", format!("{shape:?}").replace(' ', "")),
        ),
    ]);
    let field = Field::new("x", lists.data_type().clone(), true).with_metadata(metadata);
    RecordBatch::try_new(Arc::new(Schema::new(vec![field])), vec![Arc::new(lists)]).unwrap()
}

fn floats(shape: &[i32], elements: &[f32]) -> RecordBatch {
    let elements = PrimitiveArray::<Float32Type>::from(elements.to_vec());
    batch(shape, Arc::new(elements))
}

fn path(names: &[&str]) -> FlightDescriptor {
    FlightDescriptor::new_path(names.iter().map(|&name| name.to_owned()).collect())
}

async fn put(
    client: &mut FlightClient,
    descriptor: FlightDescriptor,
    batches: Vec<RecordBatch>,
) -> Result<usize, FlightError> {
    let data = FlightDataEncoderBuilder::new()
        .with_flight_descriptor(Some(descriptor))
        .build(tokio_stream::iter(batches.into_iter().map(Ok)));
    let mut results = client.do_put(data).await?;
    let mut count = 0;
    while let Some(result) = results.next().await {
        result?;
        count += 1;
    }
    Ok(count)
}

async fn get(client: &mut FlightClient, ticket: &str) -> Result<Vec<RecordBatch>, FlightError> {
    let ticket = Ticket::new(ticket.to_owned());
    let mut stream = client.do_get(ticket).await?;
    let mut batches = Vec::new();
    while let Some(batch) = stream.next().await {
        batches.push(batch?);
    }
    Ok(batches)
}

/// The paths of the tensors that wait.
async fn listed(
    client: &mut FlightClient,
    criteria: &'static str,
) -> Result<Vec<Vec<String>>, FlightError> {
    let mut infos = client.list_flights(criteria).await?;
    let mut paths = Vec::new();
    while let Some(info) = infos.next().await {
        paths.push(info?.flight_descriptor.unwrap().path);
    }
    Ok(paths)
}

fn refusal<T: std::fmt::Debug>(outcome: Result<T, FlightError>) -> (Code, String) {
    match outcome {
        Err(FlightError::Tonic(status)) => (status.code(), status.message().to_owned()),
        other => panic!("expected a status, found {other:?}"),
    }
}

#[test]
fn a_tensor_that_is_put_is_received_by_a_program() {
    let task = task();
    // Before, and after.
    let early = task.receive("a");
    run(async {
        let mut client = task.client().await;
        let matrix = floats(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        for key in ["a", "b/c"] {
            let count = put(&mut client, path(&["7", key]), vec![matrix.clone()]).await;
            assert_eq!(count.unwrap(), 1);
        }
        let truths: ArrayRef = Arc::new(BooleanArray::from(vec![true, false, true]));
        let truths = batch(&[3], truths);
        put(&mut client, path(&["7", "truths"]), vec![truths])
            .await
            .unwrap();
    });
    for tensor in [
        early.recv_timeout(MINUTE).unwrap().unwrap(),
        task.take("b/c"),
    ] {
        assert_eq!(tensor.shape(), &Shape::new(&[2, 3]).unwrap());
        assert_eq!(
            *tensor.elements::<f32>().unwrap(),
            [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
        );
    }
    let truths = task.take("truths");
    assert_eq!(
        truths.to_string(),
        "DenseHostTensor dtype = i1, shape = [3], values = [1, 0, 1]"
    );
}

#[test]
fn a_tensor_that_a_program_sends_is_got() {
    let task = task();
    task.send("early", &DenseHostTensor::vector(&[1_i64, -2]).unwrap());
    run(async {
        let mut client = task.client().await;
        let found = get(&mut client, "7/early").await.unwrap();
        let numbers = PrimitiveArray::<Int64Type>::from(vec![1, -2]);
        let expected = batch(&[2], Arc::new(numbers));
        assert_eq!(found.len(), 1);
        let (found, schema) = (&found[0], found[0].schema());
        assert_eq!(found.columns(), expected.columns());
        assert_eq!(
            schema.field(0).metadata(),
            expected.schema().field(0).metadata()
        );
        // Or it waits for one, and another one may not wait there, too.
        let mut second = task.client().await;
        let waiting = tokio::spawn(async move { get(&mut client, "7/late").await });
        task.wait_for_receiver(true).await;
        let twice = refusal(get(&mut second, "7/late").await);
        let expected = "AlreadyExists: Two receivers for key late.".to_owned();
        assert_eq!(twice, (Code::AlreadyExists, expected));
        assert!(!waiting.is_finished());
        task.send("late", &DenseHostTensor::vector(&[1.5_f32]).unwrap());
        let found = waiting.await.unwrap().unwrap();
        assert_eq!(found[0].columns(), floats(&[1], &[1.5]).columns());
    });
    assert!(task.context.rendezvous().is_empty());
}

#[test]
fn nobody_waits_for_a_tensor_any_more_after_the_deadline() {
    let task = task();
    run(async {
        let mut client = task.client().await;
        let mut request = tonic::Request::new(Ticket::new("7/k"));
        request.set_timeout(Duration::from_millis(50));
        let status = client.inner_mut().do_get(request).await.unwrap_err();
        assert!(
            [Code::DeadlineExceeded, Code::Cancelled].contains(&status.code()),
            "{status}"
        );
        task.wait_for_receiver(false).await;
        // Nor after the caller is gone.
        let mut gone = task.client().await;
        let waiting = tokio::spawn(async move { get(&mut gone, "7/k").await });
        task.wait_for_receiver(true).await;
        waiting.abort();
        task.wait_for_receiver(false).await;
        // The tensor is for whoever comes then.
        task.send("k", &DenseHostTensor::vector(&[1.0_f32]).unwrap());
        assert_eq!(get(&mut client, "7/k").await.unwrap().len(), 1);
    });
}

#[test]
fn a_tensor_that_cannot_be_handed_over_waits_again() {
    let task = task_with(
        GrpcOptions {
            max_message_bytes: 1 << 16,
            ..GrpcOptions::default()
        },
        |_| (),
    );
    let allocator = task.host.allocator();
    let zeros = |dtype, len| DenseHostTensor::zeroed(allocator, dtype, Shape::new(&[len]).unwrap());
    task.send("halves", &zeros(DType::Bf16, 2).unwrap());
    task.send("large", &zeros(DType::Ui8, 1 << 16).unwrap());
    task.send("huge", &zeros(DType::Ui8, 1 << 20).unwrap());
    let other = Payload::new(vec![]);
    task.context.rendezvous().send("chain", other).unwrap();
    run(async {
        let mut client = task.client().await;
        let (code, text) = refusal(get(&mut client, "7/halves").await);
        assert_eq!(code, Code::FailedPrecondition);
        assert_eq!(
            text,
            "Arrow has no type for the elements of a tensor of bf16"
        );
        let (code, text) = refusal(get(&mut client, "7/chain").await);
        assert_eq!(code, Code::FailedPrecondition);
        assert_eq!(
            text,
            "malformed tensor payload: expected 2 buffers, found 0"
        );
        for key in ["large", "huge"] {
            let (code, text) = refusal(get(&mut client, &format!("7/{key}")).await);
            assert_eq!(code, Code::ResourceExhausted, "{text}");
            assert!(
                text.ends_with(" bytes exceeds the limit of 65536 bytes"),
                "{text}"
            );
        }
    });
    assert_eq!(task.take("halves").dtype(), DType::Bf16);
    assert_eq!(task.take("large").num_elements(), 1 << 16);
    assert_eq!(task.take("huge").num_elements(), 1 << 20);
}

#[test]
fn a_tensor_that_was_waited_for_waits_however_large_it_is() {
    let limited = |config: &mut ServerConfig| config.max_unclaimed_bytes = 1 << 10;
    let task = task_with(GrpcOptions::default(), limited);
    let shape = Shape::new(&[1 << 12]).unwrap();
    let halves = DenseHostTensor::zeroed(task.host.allocator(), DType::Bf16, shape).unwrap();
    run(async {
        let mut client = task.client().await;
        let waiting = tokio::spawn(async move { get(&mut client, "7/halves").await });
        task.wait_for_receiver(true).await;
        task.send("halves", &halves);
        let (code, text) = refusal(waiting.await.unwrap());
        assert_eq!(code, Code::FailedPrecondition, "{text}");
    });
    assert_eq!(task.take("halves").num_elements(), 1 << 12);
    assert!(task.context.rendezvous().is_empty());
}

#[test]
fn the_reason_why_there_is_no_tensor_is_told() {
    let task = task();
    let error =
        tfrt_support::Error::new("no such file").with_code(tfrt_support::ErrorCode::NotFound);
    let payload = Payload::of_error(&error);
    task.context.rendezvous().send("k", payload).unwrap();
    let found = run(async { refusal(get(&mut task.client().await, "7/k").await) });
    assert_eq!(found, (Code::NotFound, "NotFound: no such file".to_owned()));
    assert!(task.context.rendezvous().is_empty());
}

#[test]
fn tensors_that_wait_are_listed_and_described() {
    let task = task();
    let tensor = DenseHostTensor::vector(&[1.0_f32, 2.0]).unwrap();
    task.send("b", &tensor);
    task.send("a", &tensor);
    task.context
        .rendezvous()
        .send("c", Payload::new(vec![]))
        .unwrap();
    let config = task.context.config().clone();
    let other = task.server.create_context(9, &config).unwrap();
    let payload = Payload::of_tensor(&tensor);
    other.rendezvous().send("d", payload).unwrap();
    run(async {
        let mut client = task.client().await;
        let all = [["7", "a"], ["7", "b"], ["9", "d"]];
        for (criteria, expected) in [("", &all[..]), ("7", &all[..2]), ("9", &all[2..])] {
            assert_eq!(listed(&mut client, criteria).await.unwrap(), expected);
        }
        let info = client.get_flight_info(path(&["7", "b"])).await.unwrap();
        assert_eq!((info.total_records, info.total_bytes), (1, 8));
        let schema = info.clone().try_decode_schema().unwrap();
        assert_eq!(client.get_schema(path(&["7", "b"])).await.unwrap(), schema);
        let ticket = info.endpoint[0].ticket.clone().unwrap();
        let ticket = String::from_utf8(ticket.ticket.to_vec()).unwrap();
        let found = get(&mut client, &ticket).await.unwrap();
        assert_eq!(*found[0].schema(), schema);
        // It is gone now, and others never were there.
        let (code, text) = refusal(client.get_flight_info(path(&["7", "b"])).await);
        assert_eq!(code, Code::NotFound);
        assert_eq!(text, "no tensor waits under the key `b` of context 7");
        let (code, text) = refusal(client.get_schema(path(&["7", "c"])).await);
        assert_eq!(code, Code::FailedPrecondition);
        assert_eq!(text, "what waits under the key `c` is no tensor");
        let unknown = "InvalidDistributedContextId: Context with id 8 does not exist.";
        let (code, text) = refusal(client.get_schema(path(&["8", "c"])).await);
        assert_eq!((code, &*text), (Code::NotFound, unknown));
        let listed = client.list_flights(Bytes::from("8")).await;
        let (code, text) = refusal(listed.map(|_| ()));
        assert_eq!((code, &*text), (Code::NotFound, unknown));
    });
}

#[test]
fn what_is_no_tensor_of_a_context_is_refused() {
    let task = task_with(
        GrpcOptions {
            max_message_bytes: 1 << 16,
            ..GrpcOptions::default()
        },
        |config| config.max_unclaimed_bytes = 1 << 15,
    );
    let one = || floats(&[2], &[1.0, 2.0]);
    run(async {
        let mut client = task.client().await;
        let invalid = |text: &str| (Code::InvalidArgument, text.to_owned());
        let expected = "expected a descriptor with the path [id of a context, key], found";
        let found = refusal(put(&mut client, path(&["7"]), vec![one()]).await);
        assert_eq!(found, invalid(&format!("{expected} no key behind `7`")));
        let found = refusal(put(&mut client, FlightDescriptor::new_cmd("x"), vec![one()]).await);
        assert_eq!(found, invalid(&format!("{expected} a command")));
        let found = refusal(put(&mut client, path(&["x", "k"]), vec![one()]).await);
        assert_eq!(found, invalid("expected the id of a context, found `x`"));
        let found = refusal(put(&mut client, path(&["8", "k"]), vec![one()]).await);
        let unknown = "InvalidDistributedContextId: Context with id 8 does not exist.";
        assert_eq!(found, (Code::NotFound, unknown.to_owned()));
        let found = refusal(get(&mut client, "8/k").await);
        assert_eq!(found, (Code::NotFound, unknown.to_owned()));
        let found = refusal(get(&mut client, "7").await);
        assert_eq!(found, invalid("expected a ticket `CONTEXT/KEY`, found `7`"));
        // Several tensors, or none.
        let found = refusal(put(&mut client, path(&["7", "k"]), vec![one(), one()]).await);
        let several = "expected one record batch, which is the tensor, found more messages";
        assert_eq!(found, invalid(several));
        let schema_alone = FlightDataEncoderBuilder::new()
            .with_flight_descriptor(Some(path(&["7", "k"])))
            .with_schema(one().schema())
            .build(tokio_stream::empty());
        let outcome = client.do_put(schema_alone).await;
        let mut results = outcome.unwrap_or_else(|error| Box::pin(tokio_stream::once(Err(error))));
        let found = refusal(results.next().await.unwrap());
        assert_eq!(
            found,
            invalid("expected a record batch, found the end of the stream")
        );
        let data: Vec<Result<FlightData, FlightError>> = vec![Ok(FlightData::new())];
        let outcome = client.do_put(tokio_stream::iter(data)).await;
        let mut results = outcome.unwrap_or_else(|error| Box::pin(tokio_stream::once(Err(error))));
        let found = refusal(results.next().await.unwrap());
        assert_eq!(found, invalid(&format!("{expected} none")));
        // Another type, and another shape.
        let number = Field::new("n", DataType::Float32, true);
        let column = PrimitiveArray::<Float32Type>::from(vec![1.0]);
        let schema = Arc::new(Schema::new(vec![number]));
        let number = RecordBatch::try_new(schema, vec![Arc::new(column)]).unwrap();
        let found = refusal(put(&mut client, path(&["7", "k"]), vec![number]).await);
        let text = "column `n`: expected the type `arrow.fixed_shape_tensor`, found `Float32`";
        assert_eq!(found, invalid(text));
        // Too large for a message, for what may wait, and a key that has a tensor already.
        let large = floats(&[1 << 15], &vec![0.0; 1 << 15]);
        let (code, text) = refusal(put(&mut client, path(&["7", "k"]), vec![large]).await);
        assert_eq!(code, Code::OutOfRange, "{text}");
        assert!(text.contains("65536"), "{text}");
        let full = floats(&[1 << 13], &[0.0; 1 << 13]);
        let (code, text) = refusal(put(&mut client, path(&["7", "k"]), vec![full]).await);
        let expected = "Unavailable: receive buffer of /job:worker/task:0 is full";
        assert_eq!((code, &*text), (Code::Unavailable, expected));
        put(&mut client, path(&["7", "k"]), vec![one()])
            .await
            .unwrap();
        let (code, text) = refusal(put(&mut client, path(&["7", "k"]), vec![one()]).await);
        let expected = "AlreadyExists: Value for key k was set twice.";
        assert_eq!((code, &*text), (Code::AlreadyExists, expected));
        // What is not part of the exchange.
        let found = refusal(
            client
                .do_action(Action::new("x", Bytes::new()))
                .await
                .map(|_| ()),
        );
        let text = "DoAction is not part of the exchange of tensors";
        assert_eq!(found, (Code::Unimplemented, text.to_owned()));
        let criteria = Criteria {
            expression: Bytes::from_static(b"x"),
        };
        let listed = client.inner_mut().list_flights(criteria).await;
        assert_eq!(listed.unwrap_err().code(), Code::InvalidArgument);
    });
    assert_eq!(task.take("k").num_elements(), 2);
}

#[test]
fn a_get_ends_with_the_context() {
    let task = task();
    run(async {
        let mut client = task.client().await;
        let waiting = tokio::spawn(async move { get(&mut client, "7/k").await });
        task.wait_for_receiver(true).await;
        let (sender, drained) = channel();
        task.server
            .shut_down_then(move |outcome| sender.send(outcome).unwrap());
        let found = refusal(waiting.await.unwrap());
        let text = "Cancelled: context 7 is closed";
        assert_eq!(found, (Code::Cancelled, text.to_owned()));
        // The answer was sent before the connection ended.
        assert_eq!(drained.recv_timeout(MINUTE).unwrap(), Ok(()));
    });
}

#[test]
fn the_service_is_off_by_default() {
    let (host, address) = (host(), free_address());
    let server = Server::new(&host, ServerConfig::new(TYPE_NAME, &address)).unwrap();
    let found = run(async {
        let mut client = FlightClient::new(connect(&address).await);
        refusal(get(&mut client, "7/k").await)
    });
    assert_eq!(found, (Code::Unimplemented, "unknown method".to_owned()));
    drop(server);
}

#[test]
fn the_token_of_the_cluster_is_needed() {
    const SECRET: &str = "0123456789abcdef";
    let options = GrpcOptions {
        token: Some(Token::new(SECRET).unwrap()),
        ..GrpcOptions::default()
    };
    let task = task_with(options, |_| ());
    task.send("k", &DenseHostTensor::vector(&[1.0_f32]).unwrap());
    run(async {
        let mut client = task.client().await;
        let found = refusal(get(&mut client, "7/k").await);
        let text = "the request has no token";
        assert_eq!(found, (Code::Unauthenticated, text.to_owned()));
        client
            .add_header("authorization", &format!("Bearer {SECRET}"))
            .unwrap();
        assert_eq!(get(&mut client, "7/k").await.unwrap().len(), 1);
    });
}

/// Opens one encrypted connection.
#[derive(Clone)]
struct Connector(Arc<tokio_rustls::rustls::ClientConfig>, String);

type Connection = hyper_util::rt::TokioIo<tokio_rustls::client::TlsStream<tokio::net::TcpStream>>;

impl tower_service::Service<http::Uri> for Connector {
    type Response = Connection;
    type Error = std::io::Error;
    type Future = Pin<Box<dyn Future<Output = std::io::Result<Connection>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: http::Uri) -> Self::Future {
        let Self(config, address) = self.clone();
        Box::pin(async move {
            let stream = tokio::net::TcpStream::connect(address).await?;
            let name = "task.tfrt".try_into().map_err(std::io::Error::other)?;
            let connector = tokio_rustls::TlsConnector::from(config);
            let stream = connector.connect(name, stream).await?;
            Ok(hyper_util::rt::TokioIo::new(stream))
        })
    }
}

#[test]
fn a_certificate_of_a_task_of_the_context_is_needed() {
    let authority = Authority::new("a");
    let task = task_with(security::with(authority.tls_of(0)), |_| ());
    task.send("k", &DenseHostTensor::vector(&[1.0_f32]).unwrap());
    run(async {
        let client_of = async |number: u32| {
            let uri = format!("tfrt://blue/job/worker/task/{number}");
            let config = authority.client(Some(&authority.issue(&[&uri], 4000)));
            let connector = Connector(Arc::new(config), task.address.clone());
            // The connector encrypts.
            let endpoint = Endpoint::from_static("http://task.tfrt");
            let channel = endpoint.connect_with_connector(connector).await.unwrap();
            FlightClient::new(channel)
        };
        let (mut member, mut stranger) = (client_of(0).await, client_of(1).await);
        let expected = "FailedPrecondition: the request for payloads of /job:worker/task:1 is \
             refused: the task is not part of the cluster of the context";
        let expected = (Code::FailedPrecondition, expected.to_owned());
        assert_eq!(refusal(get(&mut stranger, "7/k").await), expected);
        assert_eq!(refusal(listed(&mut stranger, "7").await), expected);
        // Of all contexts, those that it takes part in.
        assert!(listed(&mut stranger, "").await.unwrap().is_empty());
        assert_eq!(listed(&mut member, "").await.unwrap(), [["7", "k"]]);
        assert_eq!(get(&mut member, "7/k").await.unwrap().len(), 1);
    });
}

/// Returns the interpreter that has `pyarrow`: that of `TFRT_PYTHON`, or `python3`.
fn python() -> Option<&'static str> {
    static FOUND: OnceLock<Option<String>> = OnceLock::new();
    let find = || {
        let named = std::env::var("TFRT_PYTHON").unwrap_or_else(|_| "python3".to_owned());
        let imports = Command::new(&named)
            .args(["-c", "import pyarrow.flight"])
            .output();
        let has_it = imports.is_ok_and(|output| output.status.success());
        has_it.then_some(named)
    };
    FOUND.get_or_init(find).as_deref()
}

#[test]
fn tensors_go_to_pyarrow_and_back() {
    let Some(python) = python() else {
        println!("skipped: no `pyarrow.flight` for `python3`, or for what TFRT_PYTHON names");
        return;
    };
    let task = task();
    for (key, shape) in [("matrix", &[2, 3][..]), ("scalar", &[]), ("empty", &[0, 4])] {
        let allocator = task.host.allocator();
        let tensor = DenseHostTensor::from_fn(allocator, Shape::new(shape).unwrap(), |i| i as f32);
        task.send(key, &tensor.unwrap());
    }
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/network/flight.py");
    let output = Command::new(python)
        .arg(script)
        .arg(&task.address)
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}");
    let told = String::from_utf8_lossy(&output.stdout);
    assert_eq!(
        told,
        "matrix scalar empty: got\ni32 bool f16 empty: put\nrefused: 4\n"
    );
    assert_eq!(
        task.take("i32").to_string(),
        "DenseHostTensor dtype = i32, shape = [2, 2], values = [1, 2, 3, 4]"
    );
    assert_eq!(
        task.take("bool").to_string(),
        "DenseHostTensor dtype = i1, shape = [3], values = [1, 0, 1]"
    );
    let halves = task.take("f16");
    assert_eq!((halves.dtype(), halves.num_elements()), (DType::F16, 2));
    assert_eq!(task.take("none").shape(), &Shape::new(&[3, 0]).unwrap());
}
