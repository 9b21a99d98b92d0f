//! The target of the requests that a task answers: messages of one method, that nobody vouches for,
//! to a task with a context, programs, objects, payloads, and work under way.
//!
//! An input is the number of a method, and messages of that method behind each other: who sends it,
//! its length, its bytes. Each message that decodes is answered at the latest when the task is shut
//! down, and nothing is left then: no context, no value, no timer, no memory.
//!
//! | module | contents |
//! |---|---|
//! | [`pair`] | two tasks in this process |
//! | [`programs_of_tasks`] | the programs that tasks are sent |

pub mod pair;

pub mod programs_of_tasks;

use std::sync::atomic::{AtomicU64, Ordering};

use prost::bytes::Bytes;
use tfrt_distributed::Payload;
use tfrt_distributed::message::{
    AttributePlace, AttributeSet, CancelExecutionRequest, CloseContextRequest,
    DeleteRemoteObjectsRequest, FetchObjectRequest, GetDevicesRequest, HeartbeatRequest,
    KeepAliveRequest, LostTask, Method, OpAttribute, PutObjectRequest, RegisterFunctionRequest,
    RemoteExecuteOpRequest, RemoteExecuteRequest, RemoteObjectIdProto, RemoteOutput, Request,
    SendDataRequest, SendReadyChainsRequest,
};
use tfrt_tensor::DenseHostTensor;

use crate::mutate::Random;
use crate::mutate_message::{self, Vocabulary};

use pair::{DEVICE, OTHER_DEVICE, PREFIX, Pair};
use programs_of_tasks::{PROGRAMS, registration};

/// The context that both tasks have.
const CONTEXT: u64 = 1;

/// How many messages a mutated input has.
pub const NUM_MESSAGES: usize = 16;

/// How many accepted inputs a flood mutates further.
const MAX_BRED: usize = 64;

/// No task has this number, and nobody proves its name.
const NOBODY: u8 = 255;

/// What means something to the task.
const VOCABULARY: Vocabulary = Vocabulary {
    texts: &[
        "",
        "same",
        "chain",
        "swap",
        "told",
        "f",
        "forward",
        "waiting",
        "wanted",
        "tensor",
        "group1",
        "group1:k:0",
        "worker",
        "/job:worker/task:0",
        "/job:worker/task:1",
        "/job:worker/task:7",
        OTHER_DEVICE,
        DEVICE,
        "/job:worker/task:1/device:GPU:0",
        "cpu",
        "remote_cpu",
        "any",
    ],
    numbers: &[0, 1, 2, 3, PREFIX, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19],
};

/// How many messages decoded and were answered.
static NUM_SENT: AtomicU64 = AtomicU64::new(0);

/// Returns how many messages tasks were sent so far, those not counted that did not decode.
#[must_use]
pub fn num_sent() -> u64 {
    // Relaxed: only a count.
    NUM_SENT.load(Ordering::Relaxed)
}

/// Sends the messages of an input. Returns `true` if a task did what one of them says.
///
/// # Panics
/// If one is not answered, something stays, or a task panics.
pub fn answer(input: &[u8]) -> bool {
    let Some((method, messages)) = split(input) else {
        return false;
    };
    let mut pair = Pair::start();
    pair.create_on_first(CONTEXT);
    let mut pending = set_up(&pair);
    pair.note_context(1, CONTEXT);
    let mut is_accepted = false;
    for (caller, message) in messages {
        let Ok(request) = Request::decode(method, Bytes::copy_from_slice(message)) else {
            continue;
        };
        // Relaxed: only a count.
        NUM_SENT.fetch_add(1, Ordering::Relaxed);
        let text = format!("{request:?}");
        // A context that the request creates is freed, too.
        let context_id = request.context_id();
        let caller = (caller != NOBODY).then_some(i32::from(caller));
        let answer = pair.send(caller, request);
        if method == Method::CreateContext
            && let Some(id) = context_id
        {
            pair.note_context(1, id);
        }
        match answer.try_recv() {
            Ok(answer) => {
                is_accepted |= answer.is_ok();
                pair::check_answer(&text, Some(answer));
            }
            Err(_) => pending.push((text, answer)),
        }
    }
    pair.end(pending);
    is_accepted
}

/// Sends at least `num_messages` damaged messages of a method that decode, in inputs of
/// [`NUM_MESSAGES`]. Returns how many inputs were accepted.
///
/// # Panics
/// As [`answer`].
pub fn flood(method: Method, num_messages: u64, seed: u64) -> usize {
    let is_of_method = |seed: &&Vec<u8>| split(seed).is_some_and(|(of, _)| of == method);
    let seeds = seeds();
    let seed_input = seeds
        .iter()
        .find(is_of_method)
        .expect("each method has a seed");
    let mut random = Random::new(seed);
    let mut bred: Vec<Vec<u8>> = vec![seed_input.clone()];
    let (first, mut num_accepted) = (num_sent(), 0);
    while num_sent() - first < num_messages {
        // Half of the time from sound messages: others drift away from what tasks accept.
        let input = match random.below(2) {
            0 => seed_input,
            _ => &bred[random.below(bred.len())],
        };
        let other = &seeds[random.below(seeds.len())];
        let input = mutate(input, other, &mut random);
        if answer(&input) {
            num_accepted += 1;
            match bred.len() {
                ..MAX_BRED => bred.push(input),
                _ => {
                    let index = random.below(MAX_BRED);
                    bred[index] = input;
                }
            }
        }
    }
    num_accepted
}

/// A message with its sender.
type Message<'a> = (u8, &'a [u8]);

/// The method and the messages of an input.
fn split(input: &[u8]) -> Option<(Method, Vec<Message<'_>>)> {
    let (method, mut rest) = input.split_first()?;
    let method = Method::ALL[usize::from(*method) % Method::ALL.len()];
    let mut messages = Vec::new();
    while let Some(([caller, low, high], bytes)) = rest.split_first_chunk() {
        let len = usize::from(u16::from_le_bytes([*low, *high])).min(bytes.len());
        let (message, behind) = bytes.split_at(len);
        messages.push((*caller, message));
        rest = behind;
    }
    Some((method, messages))
}

fn join(method: u8, messages: &[(u8, Vec<u8>)]) -> Vec<u8> {
    let mut input = vec![method];
    for (caller, message) in messages {
        let len = u16::try_from(message.len()).unwrap_or(u16::MAX);
        input.push(*caller);
        input.extend_from_slice(&len.to_le_bytes());
        input.extend_from_slice(&message[..len.into()]);
    }
    input
}

/// An input of each method: what its messages look like that are sound.
#[must_use]
pub fn seeds() -> Vec<Vec<u8>> {
    let pair = Pair::start();
    let inputs = (0_u8..).zip(Method::ALL).map(|(number, method)| {
        let messages = samples(&pair, *method).into_iter();
        let messages = messages.flat_map(|request| {
            let bytes = request.encode();
            [(NOBODY, bytes.clone()), (0, bytes)]
        });
        join(number, &messages.collect::<Vec<_>>())
    });
    let inputs = inputs.collect();
    pair.end(Vec::new());
    inputs
}

/// Returns an input of as many messages as others, of the same method, each with something changed.
/// `other` is another input, to take fields of.
#[must_use]
pub fn mutate(input: &[u8], other: &[u8], random: &mut Random) -> Vec<u8> {
    let Some((_, messages)) = split(input) else {
        return other.to_vec();
    };
    let theirs = split(other)
        .map(|(_, messages)| messages)
        .unwrap_or_default();
    let mut mutants = Vec::with_capacity(NUM_MESSAGES);
    for _ in 0..NUM_MESSAGES {
        let (caller, message) = match messages.is_empty() {
            true => (NOBODY, &[][..]),
            false => messages[random.below(messages.len())],
        };
        let of_other = match theirs.is_empty() {
            true => message,
            false => theirs[random.below(theirs.len())].1,
        };
        let caller = match random.below(4) {
            0 => [NOBODY, 0, 1, 2][random.below(4)],
            _ => caller,
        };
        let message = mutate_message::mutate(message, of_other, &VOCABULARY, random);
        mutants.push((caller, message));
    }
    join(input[0], &mutants)
}

fn id(local_id: u64, device: &str) -> RemoteObjectIdProto {
    RemoteObjectIdProto {
        prefix_id: PREFIX,
        local_id,
        device: device.to_owned(),
        ..RemoteObjectIdProto::default()
    }
}

fn output(local_id: u64) -> RemoteOutput {
    RemoteOutput {
        id: Some(id(local_id, DEVICE)),
        need_metadata: true,
    }
}

fn execution(program: &str, input: &[u64], output_ids: &[u64]) -> RemoteExecuteRequest {
    RemoteExecuteRequest {
        context_id: CONTEXT,
        program_name: program.to_owned(),
        input: input.iter().map(|local| id(*local, DEVICE)).collect(),
        output: output_ids.iter().map(|local| output(*local)).collect(),
        execution_id: 9,
        invocation: 3,
    }
}

fn put(local_id: u64, key: &str) -> PutObjectRequest {
    PutObjectRequest {
        context_id: CONTEXT,
        object: Some(id(local_id, DEVICE)),
        sender: "/job:worker/task:0".to_owned(),
        instance_key: key.to_owned(),
    }
}

fn tensor_payload(key: &str) -> SendDataRequest {
    let tensor = DenseHostTensor::vector(&[1_i32, 2, 3]).expect("memory for three numbers");
    let payload = Payload::of_tensor(&tensor).to_bytes();
    SendDataRequest {
        context_id: CONTEXT,
        instance_key: key.to_owned(),
        payload: payload.expect("nobody writes the tensor"),
    }
}

/// Prepares what messages may refer to, on the second task. Returns the requests that wait.
///
/// # Panics
/// If a sound request is refused.
fn set_up(pair: &Pair) -> Vec<(String, pair::Pending)> {
    let mut pending = Vec::new();
    let mut send = |request: Request, waits: bool| {
        let text = format!("{request:?}");
        let answer = pair.send(None, request);
        match answer.try_recv() {
            Ok(Ok(_)) if !waits => {}
            Err(_) if waits => pending.push((text, answer)),
            found => panic!("{text}: {found:?}"),
        }
    };
    send(pair.creation(CONTEXT).into(), false);
    for program in PROGRAMS {
        send(registration(CONTEXT, program).into(), false);
    }
    // Object 10 is a tensor, 11 a chain, 12 a placeholder and 13 waits for it; 14 waits for a
    // payload.
    send(tensor_payload("tensor").into(), false);
    send(put(10, "tensor").into(), false);
    let mut chain = execution("chain", &[], &[11]);
    chain.output[0].need_metadata = false;
    send(chain.into(), false);
    send(execution("same", &[12], &[13]).into(), true);
    send(put(14, "wanted").into(), true);
    send(tensor_payload("waiting").into(), false);
    pending
}

/// Sound messages of a method.
fn samples(pair: &Pair, method: Method) -> Vec<Request> {
    let context_id = CONTEXT;
    match method {
        Method::GetDevices => vec![GetDevicesRequest {}.into()],
        Method::CreateContext => {
            let mut of_many = pair.creation(3);
            of_many.is_multi_client = true;
            vec![pair.creation(2).into(), of_many.into()]
        }
        Method::CloseContext => vec![CloseContextRequest { context_id }.into()],
        Method::SendReadyChains => {
            let request = SendReadyChainsRequest {
                context_id,
                ready_chains: vec![id(1, OTHER_DEVICE)],
            };
            vec![request.into()]
        }
        Method::KeepAlive => vec![KeepAliveRequest { context_id }.into()],
        Method::Heartbeat => {
            let request = HeartbeatRequest {
                context_id,
                sender: "/job:worker/task:0".to_owned(),
                lost: vec![LostTask {
                    name: "/job:worker/task:7".to_owned(),
                    cause: "none".to_owned(),
                }],
            };
            vec![request.into()]
        }
        Method::SendData => vec![
            tensor_payload("wanted").into(),
            tensor_payload("other").into(),
        ],
        Method::RegisterFunction => {
            let of_text = |(name, text): (&str, &str), need_compilation| RegisterFunctionRequest {
                program_name: name.to_owned(),
                program: Bytes::copy_from_slice(text.as_bytes()),
                need_compilation,
                program_kind: 0,
                context_id,
            };
            let renamed = ("f", PROGRAMS[0].1.replace("@same", "@f"));
            let renamed = (renamed.0, &*renamed.1);
            vec![
                registration(context_id, renamed).into(),
                of_text(renamed, false).into(),
                of_text(PROGRAMS[2], true).into(),
            ]
        }
        Method::RemoteExecute => vec![
            execution("same", &[10], &[15]).into(),
            execution("same", &[12], &[16]).into(),
            execution("swap", &[10, 12], &[17, 18]).into(),
            execution("told", &[], &[19]).into(),
        ],
        Method::RemoteExecuteOp => op_samples(),
        Method::CancelExecution => {
            let execution_id = 9;
            vec![
                CancelExecutionRequest {
                    context_id,
                    execution_id,
                }
                .into(),
            ]
        }
        Method::FetchObject => [10, 12].map(fetch).to_vec(),
        Method::PutObject => vec![put(12, "waiting").into(), put(15, "later").into()],
        Method::DeleteRemoteObjects => {
            let delete = |local: u64| DeleteRemoteObjectsRequest {
                context_id,
                input: vec![id(local, DEVICE)],
            };
            vec![delete(10).into(), delete(12).into()]
        }
    }
}

fn fetch(local_id: u64) -> Request {
    FetchObjectRequest {
        context_id: CONTEXT,
        object: Some(id(local_id, DEVICE)),
        receiver: "/job:worker/task:0".to_owned(),
        instance_key: "fetched".to_owned(),
    }
    .into()
}

fn op_samples() -> Vec<Request> {
    let op = |in_chain: u64, input: u64| RemoteExecuteOpRequest {
        context_id: CONTEXT,
        op_handler_name: DEVICE.to_owned(),
        op_name: "forward".to_owned(),
        in_chain: Some(id(in_chain, DEVICE)),
        out_chain: Some(id(15, DEVICE)),
        input: vec![id(input, DEVICE)],
        output: vec![output(16)],
        attributes: vec![OpAttribute {
            name: "a".to_owned(),
            value: vec![1, 2],
            is_array: true,
        }],
        attribute_set: None,
    };
    let of_set = RemoteExecuteOpRequest {
        attribute_set: Some(AttributeSet {
            section: Bytes::from_static(&[7; 32]),
            places: vec![AttributePlace {
                name: "b".to_owned(),
                code: 4,
                offset: 8,
            }],
        }),
        ..op(11, 10)
    };
    let passed_on = RemoteExecuteOpRequest {
        op_name: String::new(),
        ..op(12, 10)
    };
    vec![op(11, 10).into(), of_set.into(), passed_on.into()]
}
