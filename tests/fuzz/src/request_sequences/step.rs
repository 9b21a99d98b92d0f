//! The steps of a sequence, and the request of each.

use prost::bytes::Bytes;
use tfrt_distributed::Payload;
use tfrt_distributed::message::{
    CancelExecutionRequest, CloseContextRequest, DeleteRemoteObjectsRequest, FetchObjectRequest,
    HeartbeatRequest, KeepAliveRequest, LostTask, ProgramKind, PutObjectRequest,
    RemoteExecuteOpRequest, RemoteExecuteRequest, RemoteObjectIdProto, RemoteOutput, Request,
    SendDataRequest, SendReadyChainsRequest,
};
use tfrt_support::{Error, ErrorCode};
use tfrt_tensor::DenseHostTensor;

use crate::requests::pair::{DEVICE, OTHER_DEVICE, PREFIX, Pair};
use crate::requests::programs_of_tasks::{PROGRAMS, registration};

/// The contexts that a second task may have.
pub(super) const CONTEXTS: [u64; 3] = [1, 2, 3];

const NUM_OBJECTS: u8 = 7;

/// Who sends requests: nobody in particular, the owner, another member, a stranger.
const CALLERS: [Option<i32>; 8] = [None, None, None, None, None, Some(0), Some(2), Some(3)];

/// One step.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) context_id: u64,
    pub(super) caller: Option<i32>,
    pub(super) action: Action,
}

/// What a step asks for. Objects and keys are numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Action {
    Create(Form),
    Close,
    KeepAlive,
    Heartbeat { sender: i32, lost: Option<i32> },
    Send { key: u8, content: Content },
    Put { object: u8, sender: i32, key: u8 },
    Register { program: usize, source: Source },
    Execute(Execution),
    Cancel { execution: u64 },
    Fetch { object: u8 },
    Delete { objects: Vec<u8> },
    Op(Op),
    ReadyChains,
}

/// What is wrong with a configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Sound,
    UnknownTask,
    UnknownDevice,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    Tensor,
    Error,
    Malformed,
}

/// What is sent as a program. A text and a file are different programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    File,
    Text,
    Damaged,
}

/// An execution of a program of [`PROGRAMS`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Execution {
    pub(super) program: usize,
    pub(super) inputs: Vec<u8>,
    pub(super) outputs: Vec<u8>,
    pub(super) wants_metadata: bool,
    /// 0 if it cannot be cancelled.
    pub(super) number: u64,
    /// The inputs that are not there yet are made by the third task.
    pub(super) has_producer: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Op {
    pub(super) name: OpName,
    pub(super) in_chain: u8,
    pub(super) input: u8,
    pub(super) out_chain: u8,
    pub(super) output: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OpName {
    Forward,
    Unknown,
    /// The chain is passed on.
    None,
}

/// The numbers of the inputs and of the results of [`PROGRAMS`].
pub(super) const ARITIES: [(usize, usize); 4] = [(1, 1), (0, 1), (2, 2), (0, 1)];

impl Step {
    /// Every four bytes are a step.
    pub(super) fn parse([kind, place, a, b]: [u8; 4]) -> Self {
        let (object, other) = (a % NUM_OBJECTS, b % NUM_OBJECTS);
        let (key, sender) = (b % 4, if b & 16 == 0 { 0 } else { 2 });
        let action = match kind % 24 {
            0 | 1 => Action::Create(match a % 8 {
                0 => Form::UnknownTask,
                1 => Form::UnknownDevice,
                _ => Form::Sound,
            }),
            2 => Action::Close,
            3 => Action::KeepAlive,
            4 => Action::Heartbeat {
                sender,
                lost: [None, None, Some(2), Some(7), Some(1), Some(0)][usize::from(a % 6)],
            },
            5..=7 => Action::Send {
                key,
                content: [
                    Content::Tensor,
                    Content::Tensor,
                    Content::Error,
                    Content::Malformed,
                ][usize::from(a % 4)],
            },
            8..=10 => Action::Put {
                object,
                sender,
                key,
            },
            11 | 12 => Action::Register {
                program: usize::from(a) % PROGRAMS.len(),
                source: [Source::File, Source::File, Source::Text, Source::Damaged]
                    [usize::from(b % 4)],
            },
            13..=16 => Action::Execute(execution(a, b)),
            17 => Action::Cancel {
                execution: (a % 4).into(),
            },
            18 => Action::Fetch { object },
            19 | 20 => Action::Delete {
                objects: match b & 16 {
                    0 => vec![object],
                    _ => vec![object, other],
                },
            },
            21 | 22 => Action::Op(Op {
                name: [
                    OpName::Forward,
                    OpName::Forward,
                    OpName::None,
                    OpName::Unknown,
                ][usize::from(a >> 6)],
                in_chain: object,
                input: other,
                out_chain: (a >> 3) % NUM_OBJECTS,
                output: (b >> 3) % NUM_OBJECTS,
            }),
            _ => Action::ReadyChains,
        };
        Self {
            context_id: CONTEXTS[usize::from(place % 3)],
            caller: CALLERS[usize::from(place / 3 % 8)],
            action,
        }
    }

    /// The request of the step, which has this number in its sequence.
    pub(super) fn request(&self, pair: &Pair, number: usize) -> Request {
        let context_id = self.context_id;
        match &self.action {
            Action::Create(form) => create(pair, context_id, *form),
            Action::Close => CloseContextRequest { context_id }.into(),
            Action::KeepAlive => KeepAliveRequest { context_id }.into(),
            Action::Heartbeat { sender, lost } => HeartbeatRequest {
                context_id,
                sender: task(*sender),
                lost: lost.iter().map(|lost| lost_task(*lost)).collect(),
            }
            .into(),
            Action::Send { key, content } => SendDataRequest {
                context_id,
                instance_key: text_of_key(*key),
                payload: payload(*content),
            }
            .into(),
            Action::Put {
                object,
                sender,
                key,
            } => PutObjectRequest {
                context_id,
                object: Some(id(*object)),
                sender: task(*sender),
                instance_key: text_of_key(*key),
            }
            .into(),
            Action::Register { program, source } => register(context_id, *program, *source),
            Action::Execute(execution) => execution.request(context_id),
            Action::Cancel { execution } => CancelExecutionRequest {
                context_id,
                execution_id: *execution,
            }
            .into(),
            Action::Fetch { object } => FetchObjectRequest {
                context_id,
                object: Some(id(*object)),
                receiver: task(0),
                // No payload there is in the way of another one.
                instance_key: format!("fetched {number}"),
            }
            .into(),
            Action::Delete { objects } => DeleteRemoteObjectsRequest {
                context_id,
                input: objects.iter().map(|object| id(*object)).collect(),
            }
            .into(),
            Action::Op(op) => op.request(context_id),
            Action::ReadyChains => SendReadyChainsRequest {
                context_id,
                ready_chains: vec![RemoteObjectIdProto {
                    prefix_id: PREFIX,
                    local_id: 1,
                    device: OTHER_DEVICE.to_owned(),
                    ..RemoteObjectIdProto::default()
                }],
            }
            .into(),
        }
    }
}

fn execution(a: u8, b: u8) -> Execution {
    let program = usize::from(a) % PROGRAMS.len();
    let (num_inputs, num_outputs) = ARITIES[program];
    // Now and then there are too many or too few.
    let (num_inputs, num_outputs) = match a >> 4 {
        0 => (num_inputs + 1, num_outputs),
        1 => (num_inputs, num_outputs - 1),
        _ => (num_inputs, num_outputs),
    };
    let objects = |first: u8, count: usize| {
        let numbers = (0..count as u8).map(|index| (first + index) % NUM_OBJECTS);
        numbers.collect()
    };
    Execution {
        program,
        inputs: objects(b % NUM_OBJECTS, num_inputs),
        outputs: objects(b / NUM_OBJECTS % NUM_OBJECTS, num_outputs),
        wants_metadata: a & 4 != 0,
        number: (b >> 6).into(),
        has_producer: a & 8 != 0,
    }
}

impl Execution {
    fn request(&self, context_id: u64) -> Request {
        let input = self.inputs.iter().map(|object| RemoteObjectIdProto {
            producer: match self.has_producer {
                true => task(2),
                false => String::new(),
            },
            ..id(*object)
        });
        let output = self.outputs.iter().map(|object| RemoteOutput {
            id: Some(id(*object)),
            need_metadata: self.wants_metadata,
        });
        RemoteExecuteRequest {
            context_id,
            program_name: PROGRAMS[self.program].0.to_owned(),
            input: input.collect(),
            output: output.collect(),
            execution_id: self.number,
            invocation: 0,
        }
        .into()
    }
}

impl Op {
    /// The objects that it makes.
    pub(super) fn outputs(&self) -> [u8; 2] {
        [self.out_chain, self.output]
    }

    fn request(&self, context_id: u64) -> Request {
        let name = match self.name {
            OpName::Forward => "forward",
            OpName::Unknown => "unknown",
            OpName::None => "",
        };
        RemoteExecuteOpRequest {
            context_id,
            op_handler_name: DEVICE.to_owned(),
            op_name: name.to_owned(),
            in_chain: Some(id(self.in_chain)),
            out_chain: Some(id(self.out_chain)),
            input: vec![id(self.input)],
            output: vec![RemoteOutput {
                id: Some(id(self.output)),
                need_metadata: true,
            }],
            attributes: Vec::new(),
            attribute_set: None,
        }
        .into()
    }
}

fn create(pair: &Pair, context_id: u64, form: Form) -> Request {
    let mut request = pair.creation(context_id);
    match form {
        Form::Sound => {}
        Form::UnknownTask => {
            let config = request.dist_config.as_mut();
            config.expect("there is one").task_id = 9;
        }
        Form::UnknownDevice => request.devices[0].r#type = "abacus".to_owned(),
    }
    request.into()
}

fn register(context_id: u64, program: usize, source: Source) -> Request {
    let (name, text) = PROGRAMS[program];
    let mut request = registration(context_id, (name, text));
    match source {
        Source::File => {}
        Source::Text => {
            request.program = Bytes::from_static(text.as_bytes());
            request.program_kind = ProgramKind::Text as i32;
        }
        Source::Damaged => request.program = Bytes::from_static(b"\x0b\xef"),
    }
    request.into()
}

fn payload(content: Content) -> Vec<Bytes> {
    let payload = match content {
        Content::Tensor => {
            let tensor = DenseHostTensor::vector(&[1_i32]).expect("memory for a number");
            Payload::of_tensor(&tensor)
        }
        Content::Error => {
            Payload::of_error(&Error::new("no such file").with_code(ErrorCode::NotFound))
        }
        Content::Malformed => return vec![Bytes::from_static(b"alone")],
    };
    payload.to_bytes().expect("nobody writes the payload")
}

fn task(number: i32) -> String {
    format!("/job:worker/task:{number}")
}

fn lost_task(number: i32) -> LostTask {
    LostTask {
        name: task(number),
        cause: "it is said".to_owned(),
    }
}

fn text_of_key(key: u8) -> String {
    format!("k{key}")
}

fn id(object: u8) -> RemoteObjectIdProto {
    RemoteObjectIdProto {
        prefix_id: PREFIX,
        local_id: 100 + u64::from(object),
        device: DEVICE.to_owned(),
        ..RemoteObjectIdProto::default()
    }
}

/// Sequences to start from. All are in the first context: it is created, used and closed.
pub(super) const SEEDS: [&[[u8; 4]]; 6] = [
    // An execution that makes its own input, and is refused because its other result is there.
    &[
        [0, 0, 2, 0],
        [11, 0, 2, 0],
        [11, 0, 1, 0],
        [13, 0, 33, 42],
        [13, 0, 34, 39],
    ],
    // Two executions of one number, of which one waits for the other.
    &[
        [0, 0, 2, 0],
        [11, 0, 0, 0],
        [13, 0, 32, 72],
        [13, 0, 32, 79],
        [17, 0, 1, 0],
    ],
    // A payload before its receiver, and after it; twice; the object is fetched and deleted.
    &[
        [0, 0, 2, 0],
        [5, 0, 0, 1],
        [5, 0, 0, 1],
        [8, 0, 1, 1],
        [8, 0, 2, 1],
        [8, 0, 3, 1],
        [5, 0, 0, 1],
        [18, 0, 1, 0],
        [19, 0, 1, 0],
        [2, 0, 0, 0],
    ],
    // Programs: an execution before its input, its cancellation before and after.
    &[
        [0, 0, 2, 0],
        [11, 0, 0, 0],
        [11, 0, 0, 0],
        [11, 0, 0, 2],
        [11, 0, 1, 0],
        [17, 0, 1, 0],
        [13, 0, 32, 64],
        [13, 0, 32, 142],
        [17, 0, 2, 0],
        [13, 0, 33, 3],
        [18, 0, 3, 0],
        [2, 0, 0, 0],
    ],
    // Ops: one before its chain, one without one.
    &[
        [0, 0, 2, 0],
        [11, 0, 1, 0],
        [21, 0, 16, 25],
        [13, 0, 33, 0],
        [8, 0, 1, 0],
        [5, 0, 0, 0],
        [21, 0, 128, 0],
        [23, 0, 0, 0],
        [2, 0, 0, 0],
    ],
    // The loss of a producer, of a sender and of the owner.
    &[
        [0, 0, 2, 0],
        [11, 0, 0, 0],
        [13, 0, 40, 64],
        [8, 0, 5, 17],
        [4, 0, 2, 0],
        [4, 0, 0, 16],
        [3, 0, 0, 0],
        [4, 0, 5, 0],
        [3, 0, 0, 0],
        [0, 0, 2, 0],
    ],
];
