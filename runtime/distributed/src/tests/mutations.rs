//! Damaged requests of every method, and random sequences of requests against a model.
//! `TFRT_LONG_TESTS` runs a million of each.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError};

use prost::bytes::Bytes;

use super::seeds::Numbers;
use crate::context::DistributedContext;
use crate::error::Answer;
use crate::fabric::{Reply, RequestHandler};
use crate::message::{
    AttributeSet, CancelExecutionRequest, CloseContextRequest, CreateContextRequest,
    DeleteRemoteObjectsRequest, DeviceInfo, FetchObjectRequest, GetDevicesRequest,
    HeartbeatRequest, KeepAliveRequest, LostTask, Method, OpAttribute, PutObjectRequest,
    RegisterFunctionRequest, RemoteExecuteOpRequest, RemoteExecuteRequest, RemoteObjectIdProto,
    RemoteOutput, Request, Response, SendDataRequest, SendReadyChainsRequest,
};
use crate::server::Server;
use crate::testing::{Cluster, started};

/// The number of damaged requests to a pair of tasks, until there are new ones.
const ROUND: usize = 2000;

fn count() -> usize {
    match std::env::var_os("TFRT_LONG_TESTS") {
        Some(_) => 1_000_000,
        None => ROUND,
    }
}

fn object(context: &DistributedContext, local: u64) -> RemoteObjectIdProto {
    RemoteObjectIdProto {
        prefix_id: context.cluster().own_task().value(),
        local_id: local,
        device: "/job:worker/task:1/device:CPU:0".to_owned(),
        ..RemoteObjectIdProto::default()
    }
}

/// A well-formed request of a method to the second task.
fn sample(method: Method, cluster: &Cluster, context: &DistributedContext) -> Request {
    let context_id = 1;
    let object = |local| Some(object(context, local));
    let output = |local| RemoteOutput {
        id: object(local),
        need_metadata: true,
    };
    match method {
        Method::GetDevices => GetDevicesRequest {}.into(),
        Method::CreateContext => CreateContextRequest {
            context_id: 2,
            dist_config: Some(cluster.configs[1].clone()),
            devices: vec![DeviceInfo {
                name: "/job:worker/task:0/device:CPU:0".to_owned(),
                r#type: "cpu".to_owned(),
            }],
            is_multi_client: false,
            owner: "/job:worker/task:0".to_owned(),
            ..CreateContextRequest::default()
        }
        .into(),
        Method::CloseContext => CloseContextRequest { context_id }.into(),
        Method::SendReadyChains => SendReadyChainsRequest {
            context_id,
            ready_chains: vec![super::RemoteObjectIdProto::from(context.own_ready_chain())],
        }
        .into(),
        Method::KeepAlive => KeepAliveRequest { context_id }.into(),
        Method::Heartbeat => HeartbeatRequest {
            context_id,
            sender: "/job:worker/task:0".to_owned(),
            lost: vec![LostTask {
                name: "/job:worker/task:7".to_owned(),
                cause: "none".to_owned(),
            }],
        }
        .into(),
        Method::SendData => SendDataRequest {
            context_id,
            instance_key: "k".to_owned(),
            payload: vec![Bytes::from_static(b"abc"), Bytes::new()],
        }
        .into(),
        Method::RegisterFunction => RegisterFunctionRequest {
            context_id,
            program_name: "f".to_owned(),
            program: Bytes::from_static(b"\x0b\xef\x00"),
            need_compilation: false,
            program_kind: 1,
        }
        .into(),
        Method::RemoteExecute => RemoteExecuteRequest {
            context_id,
            program_name: "f".to_owned(),
            input: vec![object(5).unwrap_or_default()],
            output: vec![output(6)],
            execution_id: 9,
            invocation: 3,
        }
        .into(),
        Method::RemoteExecuteOp => RemoteExecuteOpRequest {
            context_id,
            op_handler_name: "null".to_owned(),
            op_name: "op".to_owned(),
            in_chain: object(7),
            out_chain: object(8),
            input: vec![object(9).unwrap_or_default()],
            output: vec![output(10)],
            attributes: vec![OpAttribute {
                name: "a".to_owned(),
                value: vec![1, 2],
                is_array: true,
            }],
            attribute_set: Some(AttributeSet::default()),
        }
        .into(),
        Method::CancelExecution => CancelExecutionRequest {
            context_id,
            execution_id: 9,
        }
        .into(),
        Method::FetchObject => FetchObjectRequest {
            context_id,
            object: object(11),
            receiver: "/job:worker/task:0".to_owned(),
            instance_key: "f".to_owned(),
        }
        .into(),
        Method::PutObject => PutObjectRequest {
            context_id,
            object: object(12),
            sender: "/job:worker/task:0".to_owned(),
            instance_key: "p".to_owned(),
        }
        .into(),
        Method::DeleteRemoteObjects => DeleteRemoteObjectsRequest {
            context_id,
            input: vec![object(11).unwrap_or_default()],
        }
        .into(),
    }
}

/// Changes, inserts and removes a few bytes.
fn damage(bytes: &mut Vec<u8>, numbers: &mut Numbers) {
    for _ in 0..=numbers.below(4) {
        let at = numbers.below(bytes.len() as u64 + 1) as usize;
        let byte = numbers.below(256) as u8;
        match numbers.below(4) {
            0 if at < bytes.len() => bytes[at] = byte,
            1 if at < bytes.len() => drop(bytes.remove(at)),
            2 => bytes.truncate(at),
            _ => bytes.insert(at, byte),
        }
    }
}

fn send(server: &Arc<Server>, request: Request) -> Receiver<Answer<Response>> {
    started(|done| Arc::clone(server).handle(request, Reply::new(done)))
}

/// Damaged requests of a method. Each is answered once at the latest when the context is closed,
/// and nothing stays.
fn check(method: Method, seed: u64, count: usize) {
    let cluster = Cluster::new("s", 2);
    let contexts = cluster.contexts();
    let mut numbers = Numbers(seed);
    let mut waiting = Vec::new();
    for _ in 0..count {
        let mut bytes = sample(method, &cluster, &contexts[0]).encode();
        damage(&mut bytes, &mut numbers);
        let Ok(request) = Request::decode(method, bytes.into()) else {
            continue;
        };
        let shown = format!("{request:?}");
        let answer = send(&cluster.servers[1], request);
        // Timers, such as those of heartbeats, may have work at any time.
        let _ = cluster.host.quiesce();
        match answer.try_recv() {
            Ok(_) => {}
            Err(TryRecvError::Empty) => waiting.push((shown, answer)),
            Err(TryRecvError::Disconnected) => panic!("{shown} is never answered"),
        }
    }
    let second = Arc::downgrade(&contexts[1]);
    drop(contexts);
    for server in &cluster.servers {
        server.shut_down();
    }
    cluster.host.quiesce().unwrap();
    for (shown, answer) in waiting {
        assert!(
            answer.try_recv().is_ok(),
            "{shown} is not answered at the end"
        );
    }
    if let Some(second) = second.upgrade() {
        assert!(second.objects().is_empty() && second.rendezvous().is_empty());
    }
}

#[test]
fn damaged_requests_are_answered() {
    let methods = Method::ALL.iter().enumerate();
    std::thread::scope(|scope| {
        for (number, method) in methods {
            scope.spawn(move || {
                for round in 0..count().div_ceil(ROUND) {
                    check(*method, (round * 100 + number) as u64, ROUND);
                }
            });
        }
    });
}

/// What a task should answer, by what it was sent before.
#[derive(Debug, Default)]
struct Model {
    /// The payloads that wait, by key.
    payloads: HashMap<String, usize>,
    /// The objects that are there: `true` if they are set, else somebody asked for them.
    objects: HashMap<u64, bool>,
    is_closed: bool,
}

impl Model {
    /// Returns the error that a request is answered with, if any.
    fn apply(&mut self, request: &Request) -> Option<String> {
        if self.is_closed {
            return Some(
                "InvalidDistributedContextId: Context with id 1 does not exist.".to_owned(),
            );
        }
        match request {
            Request::SendData(request) => {
                let key = &request.instance_key;
                match self.payloads.contains_key(key) {
                    true => Some(format!("AlreadyExists: Value for key {key} was set twice.")),
                    false => {
                        self.payloads.insert(key.clone(), request.payload.len());
                        None
                    }
                }
            }
            Request::RemoteExecute(request) => {
                for output in &request.output {
                    let local = output.id.as_ref().map_or(0, |id| id.local_id);
                    self.objects.insert(local, true);
                }
                let name = &request.program_name;
                Some(format!("InvalidArgument: Can't find program: [{name}]"))
            }
            Request::DeleteRemoteObjects(request) => {
                let unknown = request
                    .input
                    .iter()
                    .filter(|id| self.objects.remove(&id.local_id).is_none());
                let unknown: Vec<String> = unknown
                    .map(|id| format!("Could not find object: {}", crate::RemoteObjectId::from(id)))
                    .map(|text| format!("InvalidArgument: {text}"))
                    .collect();
                match &unknown[..] {
                    [] => None,
                    [only] => Some(only.clone()),
                    several => {
                        let count = several.len();
                        let lines = several.iter().zip(1..);
                        let lines = lines.map(|(line, number)| format!("\n  ({number}) {line}"));
                        Some(format!(
                            "Found {count} errors:{}",
                            lines.collect::<String>()
                        ))
                    }
                }
            }
            Request::CloseContext(_) => {
                self.is_closed = true;
                None
            }
            _ => None,
        }
    }
}

fn random_request(context: &DistributedContext, numbers: &mut Numbers) -> Request {
    let context_id = 1;
    let mut id = || object(context, 100 + numbers.below(6));
    let ids = [id(), id()];
    match numbers.below(64) {
        0 => CloseContextRequest { context_id }.into(),
        1..=20 => SendDataRequest {
            context_id,
            instance_key: format!("k{}", numbers.below(5)),
            payload: vec![Bytes::new()],
        }
        .into(),
        21..=30 => KeepAliveRequest { context_id }.into(),
        31..=45 => RemoteExecuteRequest {
            context_id,
            program_name: format!("p{}", numbers.below(3)),
            output: vec![RemoteOutput {
                id: Some(ids[0].clone()),
                need_metadata: false,
            }],
            ..RemoteExecuteRequest::default()
        }
        .into(),
        46..=50 => CancelExecutionRequest {
            context_id,
            execution_id: numbers.below(9),
        }
        .into(),
        _ => DeleteRemoteObjectsRequest {
            context_id,
            input: ids[..=numbers.below(2) as usize].to_vec(),
        }
        .into(),
    }
}

#[test]
fn sequences_of_requests_are_answered_as_a_model_says() {
    for seed in 0..count() as u64 / 40 {
        let cluster = Cluster::new("s", 2);
        let contexts = cluster.contexts();
        let (mut numbers, mut model) = (Numbers(seed), Model::default());
        numbers.below(2);
        let before = contexts[1].objects().len();
        for step in 0..40 {
            let request = random_request(&contexts[0], &mut numbers);
            let expected = model.apply(&request);
            let shown = format!("seed {seed}, step {step}: {request:?}");
            let answer = send(&cluster.servers[1], request);
            let _ = cluster.host.quiesce();
            let answer = answer
                .try_recv()
                .unwrap_or_else(|_| panic!("{shown}: no answer"));
            let found = answer.err().map(|errors| errors.to_string());
            assert_eq!(found, expected, "{shown}");
            if !model.is_closed {
                assert_eq!(
                    contexts[1].rendezvous().num_payloads(),
                    model.payloads.len(),
                    "{shown}"
                );
                assert_eq!(
                    contexts[1].objects().len(),
                    before + model.objects.len(),
                    "{shown}"
                );
            }
        }
    }
}
