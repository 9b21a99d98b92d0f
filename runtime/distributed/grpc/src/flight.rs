//! Arrow Flight: tensors for other engines.
//!
//! A tensor has the name `[context id, key]`, and other engines put it there and get it from there
//! as the tasks of the cluster do: a tensor that is put is what a task sends under the key, and a
//! tensor that is got is what a task of the context receives.
//!
//! ```text
//!  DoPut ── schema, record batch ──► task of the work queue: decode ──► RequestHandler::take_payload
//!  DoGet ◄── schema, record batch ── task of the work queue: encode ◄── RequestHandler::give_payload
//! ```
//!
//! | method | does |
//! |---|---|
//! | `DoPut` | sends the tensor of one record batch to the receiver of the key that its descriptor names |
//! | `DoGet` | receives the tensor under a key, of a ticket `CONTEXT/KEY`; waits until there is one |
//! | `GetFlightInfo`, `GetSchema` | describe a tensor that waits under a key |
//! | `ListFlights` | lists the tensors that wait, of one context or all |
//! | others | unimplemented |
//!
//! A tensor that cannot be handed over stays under its key, if it waits there: one that is too
//! large, or whose elements have no type in Arrow. One that was taken waits there again if the
//! caller is gone, for example. It is lost if another one has taken its place meanwhile.
//!
//! The service shares the port, the credentials, the limits and the end of that of tasks; callers
//! that are not tasks need the certificate of one.

mod place;

mod tensor;

use std::convert::Infallible;
use std::sync::Arc;

use arrow_flight::flight_service_server::{FlightService, FlightServiceServer};
use arrow_flight::{
    Action, ActionType, Criteria, Empty, FlightData, FlightDescriptor, FlightEndpoint, FlightInfo,
    HandshakeRequest, HandshakeResponse, PollInfo, PutResult, SchemaResult, Ticket,
};
use prost::Message;
use tfrt_distributed::fabric::{ArrivedPayload, CancelCall, Reply, RequestHandler, WantedPayload};
use tfrt_distributed::message::SendDataResponse;
use tfrt_distributed::rendezvous::PayloadRoom;
use tfrt_distributed::{Answer, Payload, RemoteErrors};
use tfrt_host::log;
use tfrt_support::{DType, ErrorCode};
use tfrt_tensor::{DenseHostTensor, serialize};
use tonic::body::Body;
use tonic::{Code, Request, Response, Status, Streaming};

use crate::accepting::Introduced;
use crate::service::Endpoint;
use crate::tls::Caller;

use place::{Place, listed_context};
use tensor::TensorSchema;

/// The start of the paths of its methods.
pub(crate) const SERVICE: &str = "/arrow.flight.protocol.FlightService/";

type Stream<T> = tokio_stream::Iter<std::vec::IntoIter<Result<T, Status>>>;

fn stream_of<T>(items: Vec<T>) -> Response<Stream<T>> {
    let items: Vec<_> = items.into_iter().map(Ok).collect();
    Response::new(tokio_stream::iter(items))
}

/// Answers a request of the service.
pub(crate) async fn answer(
    endpoint: Arc<Endpoint>,
    request: http::Request<Body>,
) -> Result<http::Response<Body>, Infallible> {
    let max_bytes = endpoint.options().max_message_bytes;
    let mut service = FlightServiceServer::new(Flights(endpoint))
        .max_decoding_message_size(max_bytes)
        .max_encoding_message_size(max_bytes);
    tower_service::Service::call(&mut service, request).await
}

/// Returns the status for errors of a task. Other engines know nothing of our trailer.
fn status_of(errors: &RemoteErrors) -> Status {
    let code = match errors.code() {
        ErrorCode::InvalidArgument => Code::InvalidArgument,
        ErrorCode::NotFound | ErrorCode::InvalidDistributedContextId => Code::NotFound,
        ErrorCode::AlreadyExists => Code::AlreadyExists,
        ErrorCode::FailedPrecondition => Code::FailedPrecondition,
        ErrorCode::Unavailable => Code::Unavailable,
        ErrorCode::Cancelled => Code::Cancelled,
        ErrorCode::Unimplemented => Code::Unimplemented,
        ErrorCode::ResourceExhausted => Code::ResourceExhausted,
        _ => Code::Unknown,
    };
    Status::new(code, errors.to_string())
}

/// The tensors of a task.
#[derive(Debug)]
struct Flights(Arc<Endpoint>);

/// Cancels a call when it is dropped.
struct CancelOnDrop(CancelCall);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.start();
    }
}

/// Returns an error for a message that is too large.
fn check_size(num_bytes: usize, max_bytes: usize) -> Result<(), Status> {
    match num_bytes <= max_bytes {
        true => Ok(()),
        false => Err(Status::resource_exhausted(format!(
            "a message of {num_bytes} bytes exceeds the limit of {max_bytes} bytes"
        ))),
    }
}

/// Returns the tensor of a payload, unless Arrow has no type for it or its elements alone are too
/// large for a message.
fn tensor_of(payload: &Payload, endpoint: &Endpoint) -> Result<DenseHostTensor, Status> {
    let host = endpoint.host()?;
    let tensor = payload.to_tensor(host.allocator());
    let tensor = tensor.map_err(|error| Status::failed_precondition(error.message()))?;
    tensor::schema(tensor.dtype(), tensor.shape())?;
    let num_bytes = match tensor.dtype() {
        // A bit each in Arrow.
        DType::I1 => tensor.num_elements().div_ceil(8),
        _ => tensor.buffer().len_bytes(),
    };
    check_size(num_bytes, endpoint.options().max_message_bytes)?;
    Ok(tensor)
}

/// A payload that was taken for a caller. If it is dropped before it has arrived, it waits under
/// its key again.
#[derive(Debug)]
struct InFlightPayload {
    endpoint: Arc<Endpoint>,
    caller: Option<Caller>,
    place: Place,
    payload: Option<Payload>,
}

impl InFlightPayload {
    /// Returns the messages of the tensor, which has not arrived.
    fn encode(&self) -> Result<Vec<FlightData>, Status> {
        let payload = self.payload.as_ref().ok_or_else(no_payload)?;
        let tensor = tensor_of(payload, &self.endpoint)?;
        let messages = tensor::encode(&tensor)?;
        for message in &messages {
            let max_bytes = self.endpoint.options().max_message_bytes;
            check_size(message.encoded_len(), max_bytes)?;
        }
        Ok(messages)
    }

    /// Says that the caller has the payload, as far as can be known.
    fn arrive(mut self) {
        self.payload = None;
    }
}

impl Drop for InFlightPayload {
    fn drop(&mut self) {
        let Some(payload) = self.payload.take() else {
            return;
        };
        let Place { context_id, key } = self.place.clone();
        let returned = ArrivedPayload {
            context_id,
            instance_key: key,
            payload,
            room: PayloadRoom::default(),
        };
        let Place { context_id, key } = self.place.clone();
        let reply = Reply::new(move |answer: Answer<()>| {
            if let Err(errors) = answer {
                log::warning!("context {context_id}: the tensor of key {key} is lost: {errors}");
            }
        });
        let caller = self.caller.take();
        self.endpoint.begin("DoGet", reply, move |handler, reply| {
            let caller = caller.as_ref().map(|Caller(task)| &**task);
            handler.take_back_payload(caller, returned, reply);
        });
    }
}

#[cold]
fn no_payload() -> Status {
    Status::internal("the payload is gone")
}

fn caller_of<T>(request: &Request<T>) -> Option<Caller> {
    let introduced = request.extensions().get::<Introduced>()?;
    introduced.caller.clone()
}

impl Flights {
    /// Receives the payload of a key. Dropping the future ends the wait.
    async fn receive(
        &self,
        caller: Option<Caller>,
        place: Place,
    ) -> Result<InFlightPayload, Status> {
        let cancel = CancelOnDrop(CancelCall::default());
        let wanted = WantedPayload {
            context_id: place.context_id,
            instance_key: place.key.clone(),
            cancel: cancel.0.clone(),
        };
        let (endpoint, own_caller) = (Arc::clone(&self.0), caller.clone());
        let in_flight = move |payload| InFlightPayload {
            endpoint,
            caller: own_caller,
            place,
            payload: Some(payload),
        };
        let give = move |handler: Arc<dyn RequestHandler>, reply: Reply<InFlightPayload>| {
            let caller = caller.as_ref().map(|Caller(task)| &**task);
            handler.give_payload(caller, wanted, reply.map(in_flight));
        };
        let answer = self.0.ask("DoGet", give).await?;
        answer.map_err(|errors| status_of(&errors))
    }

    /// Returns the payload that waits for a receiver, if there is one.
    async fn waiting_at(
        &self,
        method: &'static str,
        caller: Option<Caller>,
        place: &Place,
    ) -> Result<Option<Payload>, Status> {
        let Place { context_id, key } = place.clone();
        let find = move |handler: Arc<dyn RequestHandler>, reply: Reply<_>| {
            let caller = caller.as_ref().map(|Caller(task)| &**task);
            reply.send(handler.waiting_payload(caller, context_id, &key));
        };
        let answer = self.0.ask(method, find).await?;
        answer.map_err(|errors| status_of(&errors))
    }

    /// Returns the tensors that wait, of one context or all.
    async fn waiting(
        &self,
        caller: Option<Caller>,
        context_id: Option<u64>,
    ) -> Result<Vec<ArrivedPayload>, Status> {
        let list = move |handler: Arc<dyn RequestHandler>, reply: Reply<_>| {
            let caller = caller.as_ref().map(|Caller(task)| &**task);
            reply.send(handler.waiting_payloads(caller, context_id));
        };
        let answer = self.0.ask("ListFlights", list).await?;
        answer.map_err(|errors| status_of(&errors))
    }

    /// Describes the tensor that waits at the place of a descriptor.
    async fn info(&self, request: Request<FlightDescriptor>) -> Result<FlightInfo, Status> {
        let caller = caller_of(&request);
        let place = Place::of_descriptor(Some(request.get_ref()))?;
        let found = self.waiting_at("GetFlightInfo", caller, &place).await?;
        let found = found.ok_or_else(|| {
            let Place { context_id, key } = &place;
            Status::not_found(format!(
                "no tensor waits under the key `{key}` of context {context_id}"
            ))
        })?;
        info(place, &found)
    }
}

/// Describes a tensor that waits.
fn info(place: Place, payload: &Payload) -> Result<FlightInfo, Status> {
    let [metadata, elements] = payload.buffers() else {
        return Err(Status::failed_precondition(format!(
            "what waits under the key `{}` is no tensor",
            place.key
        )));
    };
    let wrong = |error: tfrt_tensor::TensorError| Status::failed_precondition(error.to_string());
    let bytes = metadata.read().map_err(wrong)?;
    let (dtype, shape) = serialize::parse_metadata(&bytes).map_err(wrong)?;
    let info = FlightInfo::new()
        .with_descriptor(place.to_descriptor())
        .with_endpoint(FlightEndpoint::new().with_ticket(place.to_ticket()))
        .with_total_records(1)
        .with_total_bytes(i64::try_from(elements.len_bytes()).unwrap_or(i64::MAX));
    info.try_with_schema(&tensor::schema(dtype, &shape)?)
        .map_err(|error| Status::internal(error.to_string()))
}

/// Reads the stream of a `DoPut`: its place, its schema and its record batch.
async fn read_stream(
    mut stream: Streaming<FlightData>,
) -> Result<(Place, FlightData, FlightData), Status> {
    let ended = |expected: &str| {
        let message = format!("expected {expected}, found the end of the stream");
        Status::invalid_argument(message)
    };
    let schema = stream.message().await?.ok_or_else(|| ended("a schema"))?;
    let place = Place::of_descriptor(schema.flight_descriptor.as_ref())?;
    let batch = stream.message().await?;
    let batch = batch.ok_or_else(|| ended("a record batch"))?;
    match stream.message().await? {
        None => Ok((place, schema, batch)),
        Some(_) => Err(Status::invalid_argument(
            "expected one record batch, which is the tensor, found more messages",
        )),
    }
}

#[cold]
fn unimplemented(method: &str) -> Status {
    Status::unimplemented(format!("{method} is not part of the exchange of tensors"))
}

#[tonic::async_trait]
impl FlightService for Flights {
    type HandshakeStream = Stream<HandshakeResponse>;
    type ListFlightsStream = Stream<FlightInfo>;
    type DoGetStream = Stream<FlightData>;
    type DoPutStream = Stream<PutResult>;
    type DoExchangeStream = Stream<FlightData>;
    type DoActionStream = Stream<arrow_flight::Result>;
    type ListActionsStream = Stream<ActionType>;

    async fn do_put(
        &self,
        request: Request<Streaming<FlightData>>,
    ) -> Result<Response<Self::DoPutStream>, Status> {
        let caller = caller_of(&request);
        let (place, schema, batch) = read_stream(request.into_inner()).await?;
        let endpoint = Arc::clone(&self.0);
        let decode = move || {
            let host = endpoint.host()?;
            TensorSchema::parse(&schema)?.decode(&batch, host.allocator())
        };
        let tensor = self.0.run_on_queue(decode).await?;
        let arrived = ArrivedPayload {
            context_id: place.context_id,
            instance_key: place.key,
            payload: Payload::of_tensor(&tensor),
            room: PayloadRoom::default(),
        };
        let take = move |handler: Arc<dyn RequestHandler>, reply: Reply<_>| {
            let caller = caller.as_ref().map(|Caller(task)| &**task);
            handler.take_payload(caller, arrived, reply);
        };
        let answer: Answer<SendDataResponse> = self.0.ask("DoPut", take).await?;
        answer.map_err(|errors| status_of(&errors))?;
        Ok(stream_of(vec![PutResult::default()]))
    }

    async fn do_get(
        &self,
        request: Request<Ticket>,
    ) -> Result<Response<Self::DoGetStream>, Status> {
        let caller = caller_of(&request);
        let place = Place::of_ticket(request.get_ref())?;
        // What waits and cannot be handed over is not taken.
        let waiting = self.waiting_at("DoGet", caller.clone(), &place).await?;
        if let Some(waiting) = waiting.filter(|waiting| waiting.error().is_none()) {
            tensor_of(&waiting, &self.0)?;
        }
        let in_flight = self.receive(caller, place).await?;
        let encode = move || {
            if let Some(error) = in_flight.payload.as_ref().and_then(Payload::error) {
                // The sender has no tensor, and the caller is told why.
                in_flight.arrive();
                return Err(status_of(&error.into()));
            }
            let messages = in_flight.encode()?;
            Ok((in_flight, messages))
        };
        let (in_flight, messages) = self.0.run_on_queue(encode).await?;
        in_flight.arrive();
        Ok(stream_of(messages))
    }

    async fn get_flight_info(
        &self,
        request: Request<FlightDescriptor>,
    ) -> Result<Response<FlightInfo>, Status> {
        self.info(request).await.map(Response::new)
    }

    async fn get_schema(
        &self,
        request: Request<FlightDescriptor>,
    ) -> Result<Response<SchemaResult>, Status> {
        let schema = self.info(request).await?.schema;
        Ok(Response::new(SchemaResult { schema }))
    }

    async fn list_flights(
        &self,
        request: Request<Criteria>,
    ) -> Result<Response<Self::ListFlightsStream>, Status> {
        let context_id = listed_context(&request.get_ref().expression)?;
        let waiting = self.waiting(caller_of(&request), context_id).await?;
        // Other payloads wait there, too.
        let infos = waiting.into_iter().filter_map(|waiting| {
            let place = Place {
                context_id: waiting.context_id,
                key: waiting.instance_key,
            };
            info(place, &waiting.payload).ok()
        });
        Ok(stream_of(infos.collect()))
    }

    async fn handshake(
        &self,
        _: Request<Streaming<HandshakeRequest>>,
    ) -> Result<Response<Self::HandshakeStream>, Status> {
        Err(unimplemented("Handshake"))
    }

    async fn poll_flight_info(
        &self,
        _: Request<FlightDescriptor>,
    ) -> Result<Response<PollInfo>, Status> {
        Err(unimplemented("PollFlightInfo"))
    }

    async fn do_exchange(
        &self,
        _: Request<Streaming<FlightData>>,
    ) -> Result<Response<Self::DoExchangeStream>, Status> {
        Err(unimplemented("DoExchange"))
    }

    async fn do_action(
        &self,
        _: Request<Action>,
    ) -> Result<Response<Self::DoActionStream>, Status> {
        Err(unimplemented("DoAction"))
    }

    async fn list_actions(
        &self,
        _: Request<Empty>,
    ) -> Result<Response<Self::ListActionsStream>, Status> {
        Err(unimplemented("ListActions"))
    }
}
