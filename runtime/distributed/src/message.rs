//! Configurations, requests and responses, as protocol buffers of package `tfrt`.
//!
//! Fields above number 100 are extensions. Unknown fields are ignored, and absent ones have the
//! default of their type.

mod text;

use std::collections::BTreeMap;

use prost::Message;
use prost::bytes::Bytes;
use tfrt_async::{Immutable, Value};

use crate::object::RemoteObjectId;

/// A job: the addresses of its tasks.
#[derive(Clone, PartialEq, Message)]
pub struct JobConfiguration {
    /// The name of the job.
    #[prost(string, tag = "1")]
    pub name: String,
    /// The address of each task. Numbers of tasks need not be dense.
    #[prost(btree_map = "int32, string", tag = "2")]
    pub tasks: BTreeMap<i32, String>,
}

/// The jobs of a cluster.
#[derive(Clone, PartialEq, Message)]
pub struct ClusterConfiguration {
    /// The jobs.
    #[prost(message, repeated, tag = "1")]
    pub jobs: Vec<JobConfiguration>,
    /// The task that leads the initialization of many clients.
    #[prost(string, tag = "2")]
    pub lead_task_name: String,
}

/// A group of tasks that take part in collectives.
#[derive(Clone, PartialEq, Message)]
pub struct CollectiveGroupConfiguration {
    /// The name of the group.
    #[prost(string, tag = "1")]
    pub name: String,
    /// The names of its tasks, in the order of the ring.
    #[prost(string, repeated, tag = "2")]
    pub members: Vec<String>,
}

/// The information of a task about its cluster and itself.
///
/// ```
/// use tfrt_distributed::message::DistributedContextConfiguration;
///
/// let configurations = DistributedContextConfiguration::local_cluster(&["a:1".into(), "b:2".into()]);
/// assert_eq!(configurations[1].task_name(), "/job:worker/task:1");
/// assert_eq!(configurations[1].own_address(), Some("b:2"));
/// assert!(configurations[0].to_string().starts_with("cluster_config { jobs { name: \"worker\" tasks { key: 0 value: \"a:1\" }"));
/// ```
#[derive(Clone, PartialEq, Message)]
pub struct DistributedContextConfiguration {
    /// The cluster.
    #[prost(message, optional, tag = "1")]
    pub cluster_config: Option<ClusterConfiguration>,
    /// The groups.
    #[prost(message, repeated, tag = "2")]
    pub collective_groups: Vec<CollectiveGroupConfiguration>,
    /// The job of this task.
    #[prost(string, tag = "3")]
    pub job_name: String,
    /// The number of this task in its job.
    #[prost(int32, tag = "4")]
    pub task_id: i32,
}

impl DistributedContextConfiguration {
    /// Returns one configuration for each task of a cluster with one job, `worker`, and one group
    /// of all tasks, `group1`.
    #[must_use]
    pub fn local_cluster(addresses: &[String]) -> Vec<Self> {
        let numbered = (0_i32..).zip(addresses);
        let tasks: BTreeMap<i32, String> = numbered
            .map(|(id, address)| (id, address.clone()))
            .collect();
        let names = tasks
            .keys()
            .map(|id| crate::name::TaskName::new("worker", *id));
        let members: Vec<String> = names.map(|name| name.to_string()).collect();
        let cluster = ClusterConfiguration {
            jobs: vec![JobConfiguration {
                name: "worker".to_owned(),
                tasks: tasks.clone(),
            }],
            lead_task_name: members.first().cloned().unwrap_or_default(),
        };
        let group = CollectiveGroupConfiguration {
            name: "group1".to_owned(),
            members,
        };
        let of_task = |task_id: &i32| Self {
            cluster_config: Some(cluster.clone()),
            collective_groups: vec![group.clone()],
            job_name: "worker".to_owned(),
            task_id: *task_id,
        };
        tasks.keys().map(of_task).collect()
    }

    /// Returns the jobs of the cluster.
    #[must_use]
    pub fn jobs(&self) -> &[JobConfiguration] {
        let cluster = self.cluster_config.as_ref();
        cluster.map_or(&[], |cluster| &cluster.jobs)
    }

    /// Returns the task that leads the initialization of many clients; may be empty.
    #[must_use]
    pub fn lead_task_name(&self) -> &str {
        let cluster = self.cluster_config.as_ref();
        cluster.map_or("", |cluster| &cluster.lead_task_name)
    }

    /// Returns the name of this task.
    #[must_use]
    pub fn task_name(&self) -> String {
        crate::name::TaskName::new(self.job_name.as_str(), self.task_id).to_string()
    }

    /// Returns the address of this task, if the cluster has the task.
    #[must_use]
    pub fn own_address(&self) -> Option<&str> {
        let job = self.jobs().iter().find(|job| job.name == self.job_name)?;
        job.tasks.get(&self.task_id).map(String::as_str)
    }

    /// Returns `true` if a task is part of the cluster.
    #[must_use]
    pub fn has_task(&self, task: &crate::name::TaskName) -> bool {
        let job = self.jobs().iter().find(|job| job.name == task.job);
        job.is_some_and(|job| job.tasks.contains_key(&task.task))
    }

    /// Returns the same configuration, as that of another task.
    #[must_use]
    pub fn for_task(&self, job_name: &str, task_id: i32) -> Self {
        Self {
            job_name: job_name.to_owned(),
            task_id,
            ..self.clone()
        }
    }
}

impl Value for DistributedContextConfiguration {
    const MLIR_TYPE: &'static str = "!tfrt_dist.dist_context_configuration";
}

impl Immutable for DistributedContextConfiguration {}

/// An object of a task.
#[derive(Clone, PartialEq, Message)]
pub struct RemoteObjectIdProto {
    /// The task that created the id.
    #[prost(uint64, tag = "1")]
    pub prefix_id: u64,
    /// The number of the id on that task.
    #[prost(uint64, tag = "2")]
    pub local_id: u64,
    /// The device that the object lives on.
    #[prost(string, tag = "3")]
    pub device: String,
}

impl From<&RemoteObjectId> for RemoteObjectIdProto {
    fn from(id: &RemoteObjectId) -> Self {
        Self {
            prefix_id: id.prefix(),
            local_id: id.local(),
            device: id.device().to_owned(),
        }
    }
}

impl From<&RemoteObjectIdProto> for RemoteObjectId {
    fn from(id: &RemoteObjectIdProto) -> Self {
        Self::new(id.prefix_id, id.local_id, id.device.as_str())
    }
}

/// A device of a task.
#[derive(Clone, PartialEq, Message)]
pub struct DeviceInfo {
    /// Its name.
    #[prost(string, tag = "1")]
    pub name: String,
    /// Its type.
    #[prost(string, tag = "2")]
    pub r#type: String,
}

/// Asks for the devices of a task.
#[derive(Clone, PartialEq, Message)]
pub struct GetDevicesRequest {}

/// The devices of a task, as it calls them.
#[derive(Clone, PartialEq, Message)]
pub struct GetDevicesResponse {
    /// The devices.
    #[prost(message, repeated, tag = "1")]
    pub devices: Vec<DeviceInfo>,
    /// The load of the task.
    #[prost(message, optional, tag = "101")]
    pub load: Option<TaskLoad>,
}

/// The load of a task, over all contexts.
#[derive(Clone, PartialEq, Message)]
pub struct TaskLoad {
    /// The number of contexts in which it takes part.
    #[prost(uint64, tag = "1")]
    pub num_contexts: u64,
    /// The number of objects on it.
    #[prost(uint64, tag = "2")]
    pub num_objects: u64,
    /// The number of payloads that no receiver has requested yet.
    #[prost(uint64, tag = "3")]
    pub num_unclaimed: u64,
    /// The programs that other tasks have sent.
    #[prost(message, repeated, tag = "4")]
    pub programs: Vec<SentProgram>,
}

/// A program that a task has received.
#[derive(Clone, PartialEq, Message)]
pub struct SentProgram {
    /// The context that it belongs to.
    #[prost(uint64, tag = "1")]
    pub context_id: u64,
    /// Its name.
    #[prost(string, tag = "2")]
    pub name: String,
    /// The size of its text or file.
    #[prost(uint64, tag = "3")]
    pub num_bytes: u64,
}

/// Creates a context on a task.
#[derive(Clone, PartialEq, Message)]
pub struct CreateContextRequest {
    /// The context.
    #[prost(fixed64, tag = "1")]
    pub context_id: u64,
    /// The configuration of the receiver.
    #[prost(message, optional, tag = "2")]
    pub dist_config: Option<DistributedContextConfiguration>,
    /// All devices of the cluster, by their names in the cluster.
    #[prost(message, repeated, tag = "3")]
    pub devices: Vec<DeviceInfo>,
    /// Whether every task runs a client.
    #[prost(bool, tag = "4")]
    pub is_multi_client: bool,
    /// The task that owns the context, if it has a single client: the context ends with it.
    #[prost(string, tag = "101")]
    pub owner: String,
}

/// A context was created.
#[derive(Clone, PartialEq, Message)]
pub struct CreateContextResponse {
    /// The first chain of the task.
    #[prost(message, optional, tag = "1")]
    pub ready_chain: Option<RemoteObjectIdProto>,
}

/// Closes a context.
#[derive(Clone, PartialEq, Message)]
pub struct CloseContextRequest {
    /// The context.
    #[prost(fixed64, tag = "1")]
    pub context_id: u64,
}

/// A context was closed.
#[derive(Clone, PartialEq, Message)]
pub struct CloseContextResponse {}

/// Tells a client the first chains of all tasks.
#[derive(Clone, PartialEq, Message)]
pub struct SendReadyChainsRequest {
    /// The context.
    #[prost(fixed64, tag = "1")]
    pub context_id: u64,
    /// The chains, in the order of the configuration.
    #[prost(message, repeated, tag = "2")]
    pub ready_chains: Vec<RemoteObjectIdProto>,
}

/// The chains are known.
#[derive(Clone, PartialEq, Message)]
pub struct SendReadyChainsResponse {}

/// Says that a context is in use.
#[derive(Clone, PartialEq, Message)]
pub struct KeepAliveRequest {
    /// The context.
    #[prost(fixed64, tag = "1")]
    pub context_id: u64,
}

/// The context lives on.
#[derive(Clone, PartialEq, Message)]
pub struct KeepAliveResponse {}

/// Asks for a sign of life. Not an access to the context.
#[derive(Clone, PartialEq, Message)]
pub struct HeartbeatRequest {
    /// The context.
    #[prost(fixed64, tag = "1")]
    pub context_id: u64,
    /// The name of the task that asks.
    #[prost(string, tag = "2")]
    pub sender: String,
    /// The tasks that are lost to it.
    #[prost(message, repeated, tag = "3")]
    pub lost: Vec<LostTask>,
}

/// A lost task.
#[derive(Clone, PartialEq, Message)]
pub struct LostTask {
    /// Its name.
    #[prost(string, tag = "1")]
    pub name: String,
    /// The reason why it counts as lost.
    #[prost(string, tag = "2")]
    pub cause: String,
}

/// The task lives, and has the context.
#[derive(Clone, PartialEq, Message)]
pub struct HeartbeatResponse {
    /// A random number that the task drew when it started.
    #[prost(fixed64, tag = "1")]
    pub incarnation: u64,
    /// Whether the task that asks is lost to this one.
    #[prost(bool, tag = "2")]
    pub is_lost: bool,
}

/// Sends a payload to the receiver of a key.
#[derive(Clone, PartialEq, Message)]
pub struct SendDataRequest {
    /// The context.
    #[prost(fixed64, tag = "1")]
    pub context_id: u64,
    /// The key.
    #[prost(string, tag = "2")]
    pub instance_key: String,
    /// The buffers.
    #[prost(bytes = "bytes", repeated, tag = "3")]
    pub payload: Vec<Bytes>,
}

/// The payload arrived, with or without a waiting receiver.
#[derive(Clone, PartialEq, Message)]
pub struct SendDataResponse {}

/// The format of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, prost::Enumeration)]
#[repr(i32)]
pub enum ProgramKind {
    /// A text that a compiler pass reads.
    Text = 0,
    /// A BEF file.
    Bef = 1,
}

/// Sends a program to a task.
#[derive(Clone, PartialEq, Message)]
pub struct RegisterFunctionRequest {
    /// The context.
    #[prost(fixed64, tag = "1")]
    pub context_id: u64,
    /// The name of the program, and of its entry function.
    #[prost(string, tag = "2")]
    pub program_name: String,
    /// The program.
    #[prost(bytes = "bytes", tag = "3")]
    pub program: Bytes,
    /// Whether a pass compiles it.
    #[prost(bool, tag = "4")]
    pub need_compilation: bool,
    /// The format of the program.
    #[prost(enumeration = "ProgramKind", tag = "101")]
    pub program_kind: i32,
}

/// The program can be executed.
#[derive(Clone, PartialEq, Message)]
pub struct RegisterFunctionResponse {
    /// The devices of its results, if it was compiled.
    #[prost(string, repeated, tag = "1")]
    pub output_device: Vec<String>,
}

/// The destination of a result.
#[derive(Clone, PartialEq, Message)]
pub struct RemoteOutput {
    /// The object that the result becomes.
    #[prost(message, optional, tag = "1")]
    pub id: Option<RemoteObjectIdProto>,
    /// Whether the client requests the metadata of the tensor.
    #[prost(bool, tag = "2")]
    pub need_metadata: bool,
}

/// Executes a program.
#[derive(Clone, PartialEq, Message)]
pub struct RemoteExecuteRequest {
    /// The context.
    #[prost(fixed64, tag = "1")]
    pub context_id: u64,
    /// The name of the program.
    #[prost(string, tag = "2")]
    pub program_name: String,
    /// Its arguments.
    #[prost(message, repeated, tag = "3")]
    pub input: Vec<RemoteObjectIdProto>,
    /// Its results.
    #[prost(message, repeated, tag = "4")]
    pub output: Vec<RemoteOutput>,
    /// The number by which the client may cancel the execution; 0 if it never does.
    #[prost(fixed64, tag = "101")]
    pub execution_id: u64,
    /// The invocation of a function over several tasks that the execution is a part of; 0 if it is
    /// none.
    #[prost(fixed64, tag = "102")]
    pub invocation: u64,
}

/// The reason why a result has no metadata.
#[derive(Clone, PartialEq, Message)]
pub struct OutputError {
    /// The index among the results whose metadata was requested.
    #[prost(uint32, tag = "1")]
    pub index: u32,
    /// The number of the code of the error.
    #[prost(int32, tag = "2")]
    pub code: i32,
    /// The error message.
    #[prost(string, tag = "3")]
    pub message: String,
}

/// The program was executed.
#[derive(Clone, PartialEq, Message)]
pub struct RemoteExecuteResponse {
    /// The requested metadata, in the order of the results. Empty for a result without metadata.
    #[prost(bytes = "bytes", repeated, tag = "1")]
    pub metadata: Vec<Bytes>,
    /// The reason why there is none.
    #[prost(message, repeated, tag = "101")]
    pub metadata_errors: Vec<OutputError>,
}

/// An attribute of an op: numbers.
#[derive(Clone, PartialEq, Message)]
pub struct OpAttribute {
    /// Its name.
    #[prost(string, tag = "1")]
    pub name: String,
    /// Its values.
    #[prost(int64, repeated, tag = "2")]
    pub value: Vec<i64>,
    /// Whether it is an array.
    #[prost(bool, tag = "3")]
    pub is_array: bool,
}

/// The location of an attribute.
#[derive(Clone, PartialEq, Message)]
pub struct AttributePlace {
    /// Its name.
    #[prost(string, tag = "1")]
    pub name: String,
    /// The number of its type.
    #[prost(uint32, tag = "2")]
    pub code: u32,
    /// Its offset in the section.
    #[prost(uint32, tag = "3")]
    pub offset: u32,
}

/// Attributes of any kinds, in the encoding of BEF files.
#[derive(Clone, PartialEq, Message)]
pub struct AttributeSet {
    /// The values.
    #[prost(bytes = "bytes", tag = "1")]
    pub section: Bytes,
    /// The locations of the attributes.
    #[prost(message, repeated, tag = "2")]
    pub places: Vec<AttributePlace>,
}

/// Executes an op of the Core Runtime.
#[derive(Clone, PartialEq, Message)]
pub struct RemoteExecuteOpRequest {
    /// The context.
    #[prost(fixed64, tag = "1")]
    pub context_id: u64,
    /// The name that the handler of the op has on the task.
    #[prost(string, tag = "2")]
    pub op_handler_name: String,
    /// The op.
    #[prost(string, tag = "3")]
    pub op_name: String,
    /// The chain that the op follows.
    #[prost(message, optional, tag = "4")]
    pub in_chain: Option<RemoteObjectIdProto>,
    /// The chain that follows the op.
    #[prost(message, optional, tag = "5")]
    pub out_chain: Option<RemoteObjectIdProto>,
    /// Its arguments.
    #[prost(message, repeated, tag = "6")]
    pub input: Vec<RemoteObjectIdProto>,
    /// Its results.
    #[prost(message, repeated, tag = "7")]
    pub output: Vec<RemoteOutput>,
    /// Its attributes, if all of them are numbers.
    #[prost(message, repeated, tag = "8")]
    pub attributes: Vec<OpAttribute>,
    /// Its attributes, of any kinds.
    #[prost(message, optional, tag = "101")]
    pub attribute_set: Option<AttributeSet>,
}

/// The op was executed.
#[derive(Clone, PartialEq, Message)]
pub struct RemoteExecuteOpResponse {
    /// The metadata of the results for which it was requested. Empty for a result without metadata.
    #[prost(bytes = "bytes", repeated, tag = "1")]
    pub metadata: Vec<Bytes>,
    /// The reason why there is none.
    #[prost(message, repeated, tag = "101")]
    pub metadata_errors: Vec<OutputError>,
}

/// Cancels an execution, which may arrive later.
#[derive(Clone, PartialEq, Message)]
pub struct CancelExecutionRequest {
    /// The context.
    #[prost(fixed64, tag = "1")]
    pub context_id: u64,
    /// The number of the execution.
    #[prost(fixed64, tag = "2")]
    pub execution_id: u64,
}

/// The execution is cancelled, unless it was over.
#[derive(Clone, PartialEq, Message)]
pub struct CancelExecutionResponse {}

/// Asks for the tensor of an object: it is sent as a payload, once it is available.
#[derive(Clone, PartialEq, Message)]
pub struct FetchObjectRequest {
    /// The context.
    #[prost(fixed64, tag = "1")]
    pub context_id: u64,
    /// The object.
    #[prost(message, optional, tag = "2")]
    pub object: Option<RemoteObjectIdProto>,
    /// The name of the task that the payload goes to.
    #[prost(string, tag = "3")]
    pub receiver: String,
    /// The key that the receiver waits for.
    #[prost(string, tag = "4")]
    pub instance_key: String,
}

/// The payload has arrived: the tensor, or the reason why there is none.
#[derive(Clone, PartialEq, Message)]
pub struct FetchObjectResponse {}

/// Announces a payload with a tensor, which becomes an object.
#[derive(Clone, PartialEq, Message)]
pub struct PutObjectRequest {
    /// The context.
    #[prost(fixed64, tag = "1")]
    pub context_id: u64,
    /// The object.
    #[prost(message, optional, tag = "2")]
    pub object: Option<RemoteObjectIdProto>,
    /// The name of the task that the payload comes from.
    #[prost(string, tag = "3")]
    pub sender: String,
    /// The key of the payload.
    #[prost(string, tag = "4")]
    pub instance_key: String,
}

/// The object is a tensor.
#[derive(Clone, PartialEq, Message)]
pub struct PutObjectResponse {}

/// Deletes objects.
#[derive(Clone, PartialEq, Message)]
pub struct DeleteRemoteObjectsRequest {
    /// The context.
    #[prost(fixed64, tag = "1")]
    pub context_id: u64,
    /// The objects.
    #[prost(message, repeated, tag = "2")]
    pub input: Vec<RemoteObjectIdProto>,
}

/// The objects were deleted.
#[derive(Clone, PartialEq, Message)]
pub struct DeleteRemoteObjectsResponse {}

impl Method {
    /// Returns `true` if the threads of the transport process a request themselves, on both sides,
    /// so that it never waits for kernels.
    #[must_use]
    pub fn is_urgent(self) -> bool {
        self == Self::Heartbeat
    }
}

/// A request with the response that belongs to it.
pub trait Call: Into<Request> {
    /// The method.
    const METHOD: Method;

    /// The response.
    type Response: TryFrom<Response>;
}

macro_rules! methods {
    ($($(#[$doc:meta])+ $name:ident: $request:ident => $response:ident, $context:expr;)+) => {
        /// The requests that a task answers.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Method {
            $($(#[$doc])+ $name,)+
        }

        impl Method {
            /// Every method, in the order of their declaration.
            pub const ALL: &[Self] = &[$(Self::$name),+];

            /// Returns the method of this name.
            #[must_use]
            pub fn find(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|method| method.name() == name)
            }

            /// Returns the name of the method.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$name => stringify!($name),)+
                }
            }
        }

        /// A request of any method.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Request {
            $($(#[$doc])+ $name($request),)+
        }

        impl Request {
            /// Returns the method.
            #[must_use]
            pub const fn method(&self) -> Method {
                match self {
                    $(Self::$name(_) => Method::$name,)+
                }
            }

            /// Returns the context that the request refers to, if any.
            #[must_use]
            pub fn context_id(&self) -> Option<u64> {
                match self {
                    $(Self::$name(request) => {
                        let context_id: fn(&$request) -> Option<u64> = $context;
                        context_id(request)
                    })+
                }
            }

            /// Returns the number of bytes that [`encode`](Self::encode) returns.
            #[must_use]
            pub fn encoded_len(&self) -> usize {
                match self {
                    $(Self::$name(request) => request.encoded_len(),)+
                }
            }

            /// Returns the request as bytes.
            #[must_use]
            pub fn encode(&self) -> Vec<u8> {
                match self {
                    $(Self::$name(request) => request.encode_to_vec(),)+
                }
            }

            /// Returns the request of a method in bytes.
            ///
            /// # Errors
            /// If the bytes are not such a message.
            pub fn decode(method: Method, bytes: Bytes) -> Result<Self, prost::DecodeError> {
                Ok(match method {
                    $(Method::$name => Self::$name($request::decode(bytes)?),)+
                })
            }
        }

        /// A response of any method.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Response {
            $($(#[$doc])+ $name($response),)+
        }

        impl Response {
            /// Returns the response as bytes.
            #[must_use]
            pub fn encode(&self) -> Vec<u8> {
                match self {
                    $(Self::$name(response) => response.encode_to_vec(),)+
                }
            }

            /// Returns the response of a method in bytes.
            ///
            /// # Errors
            /// If the bytes are not such a message.
            pub fn decode(method: Method, bytes: Bytes) -> Result<Self, prost::DecodeError> {
                Ok(match method {
                    $(Method::$name => Self::$name($response::decode(bytes)?),)+
                })
            }
        }

        $(
            impl From<$request> for Request {
                fn from(request: $request) -> Self {
                    Self::$name(request)
                }
            }

            impl From<$response> for Response {
                fn from(response: $response) -> Self {
                    Self::$name(response)
                }
            }

            impl TryFrom<Response> for $response {
                type Error = Response;

                fn try_from(response: Response) -> Result<Self, Response> {
                    match response {
                        Response::$name(response) => Ok(response),
                        other => Err(other),
                    }
                }
            }

            impl Call for $request {
                const METHOD: Method = Method::$name;

                type Response = $response;
            }
        )+
    };
}

methods! {
    /// The devices of a task.
    GetDevices: GetDevicesRequest => GetDevicesResponse, |_| None;
    /// Creates a context.
    CreateContext: CreateContextRequest => CreateContextResponse, |request| Some(request.context_id);
    /// Closes a context.
    CloseContext: CloseContextRequest => CloseContextResponse, |request| Some(request.context_id);
    /// Tells the first chains of all tasks.
    SendReadyChains: SendReadyChainsRequest => SendReadyChainsResponse, |request| Some(request.context_id);
    /// Says that a context is in use.
    KeepAlive: KeepAliveRequest => KeepAliveResponse, |request| Some(request.context_id);
    /// Asks for a sign of life.
    Heartbeat: HeartbeatRequest => HeartbeatResponse, |request| Some(request.context_id);
    /// Sends a payload.
    SendData: SendDataRequest => SendDataResponse, |request| Some(request.context_id);
    /// Sends a program.
    RegisterFunction: RegisterFunctionRequest => RegisterFunctionResponse, |request| Some(request.context_id);
    /// Executes a program.
    RemoteExecute: RemoteExecuteRequest => RemoteExecuteResponse, |request| Some(request.context_id);
    /// Executes an op.
    RemoteExecuteOp: RemoteExecuteOpRequest => RemoteExecuteOpResponse, |request| Some(request.context_id);
    /// Cancels an execution.
    CancelExecution: CancelExecutionRequest => CancelExecutionResponse, |request| Some(request.context_id);
    /// Asks for the tensor of an object.
    FetchObject: FetchObjectRequest => FetchObjectResponse, |request| Some(request.context_id);
    /// Announces the tensor of an object.
    PutObject: PutObjectRequest => PutObjectResponse, |request| Some(request.context_id);
    /// Deletes objects.
    DeleteRemoteObjects: DeleteRemoteObjectsRequest => DeleteRemoteObjectsResponse, |request| Some(request.context_id);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bytes of a message, which other versions must read.
    fn check(request: impl Into<Request>, expected: &[u8]) {
        let request = request.into();
        let bytes = request.encode();
        assert_eq!(bytes, expected, "{request:?}");
        let decoded = Request::decode(request.method(), bytes.into()).unwrap();
        assert_eq!(decoded, request);
    }

    fn id() -> RemoteObjectIdProto {
        RemoteObjectIdProto {
            prefix_id: 300,
            local_id: 2,
            device: "d".to_owned(),
        }
    }

    #[test]
    fn messages_keep_their_bytes() {
        check(GetDevicesRequest {}, &[]);
        check(
            KeepAliveRequest { context_id: 5 },
            b"\x09\x05\0\0\0\0\0\0\0",
        );
        check(
            SendDataRequest {
                context_id: 1,
                instance_key: "k".to_owned(),
                payload: vec![Bytes::from_static(b"ab"), Bytes::new()],
            },
            b"\x09\x01\0\0\0\0\0\0\0\x12\x01k\x1a\x02ab\x1a\x00",
        );
        check(
            RegisterFunctionRequest {
                context_id: 1,
                program_name: "f".to_owned(),
                program: Bytes::from_static(b"x"),
                need_compilation: true,
                program_kind: ProgramKind::Bef.into(),
            },
            b"\x09\x01\0\0\0\0\0\0\0\x12\x01f\x1a\x01x\x20\x01\xa8\x06\x01",
        );
        check(
            RemoteExecuteRequest {
                context_id: 0,
                program_name: "f".to_owned(),
                input: vec![id()],
                output: vec![RemoteOutput {
                    id: Some(id()),
                    need_metadata: true,
                }],
                execution_id: 0,
                invocation: 0,
            },
            b"\x12\x01f\x1a\x08\x08\xac\x02\x10\x02\x1a\x01d\x22\x0c\x0a\x08\x08\xac\x02\x10\x02\x1a\x01d\x10\x01",
        );
        let configuration = &DistributedContextConfiguration::local_cluster(&["a".to_owned()])[0];
        check(
            CreateContextRequest {
                context_id: 0,
                dist_config: Some(configuration.clone()),
                devices: vec![DeviceInfo {
                    name: "n".to_owned(),
                    r#type: "t".to_owned(),
                }],
                is_multi_client: true,
                owner: String::new(),
            },
            b"\x12\x4b\x0a\x23\x0a\x0d\x0a\x06worker\x12\x03\x12\x01a\x12\x12/job:worker/task:0\
              \x12\x1c\x0a\x06group1\x12\x12/job:worker/task:0\x1a\x06worker\x1a\x06\x0a\x01n\x12\x01t\x20\x01",
        );
    }

    #[test]
    fn messages_about_contexts_keep_their_bytes() {
        check(
            CloseContextRequest { context_id: 1 },
            b"\x09\x01\0\0\0\0\0\0\0",
        );
        check(
            SendReadyChainsRequest {
                context_id: 1,
                ready_chains: vec![id()],
            },
            b"\x09\x01\0\0\0\0\0\0\0\x12\x08\x08\xac\x02\x10\x02\x1a\x01d",
        );
        check(
            HeartbeatRequest {
                context_id: 1,
                sender: "s".to_owned(),
                lost: vec![LostTask {
                    name: "l".to_owned(),
                    cause: "c".to_owned(),
                }],
            },
            b"\x09\x01\0\0\0\0\0\0\0\x12\x01s\x1a\x06\x0a\x01l\x12\x01c",
        );
        check(
            CancelExecutionRequest {
                context_id: 1,
                execution_id: 2,
            },
            b"\x09\x01\0\0\0\0\0\0\0\x11\x02\0\0\0\0\0\0\0",
        );
    }

    #[test]
    fn messages_about_objects_keep_their_bytes() {
        const OBJECT: &[u8] = b"\x08\xac\x02\x10\x02\x1a\x01d";
        check(
            RemoteExecuteOpRequest {
                context_id: 0,
                op_handler_name: "h".to_owned(),
                op_name: "o".to_owned(),
                in_chain: Some(id()),
                out_chain: Some(id()),
                input: vec![id()],
                output: vec![RemoteOutput {
                    id: Some(id()),
                    need_metadata: true,
                }],
                attributes: vec![OpAttribute {
                    name: "a".to_owned(),
                    value: vec![1, 300],
                    is_array: true,
                }],
                attribute_set: None,
            },
            &[
                b"\x12\x01h\x1a\x01o\x22\x08",
                OBJECT,
                b"\x2a\x08",
                OBJECT,
                b"\x32\x08",
                OBJECT,
                b"\x3a\x0c\x0a\x08",
                OBJECT,
                b"\x10\x01\x42\x0a\x0a\x01a\x12\x03\x01\xac\x02\x18\x01",
            ]
            .concat(),
        );
        let fetch = FetchObjectRequest {
            context_id: 0,
            object: Some(id()),
            receiver: "r".to_owned(),
            instance_key: "k".to_owned(),
        };
        let rest: &[u8] = b"\x1a\x01r\x22\x01k";
        check(fetch, &[b"\x12\x08", OBJECT, rest].concat());
        let put = PutObjectRequest {
            context_id: 0,
            object: Some(id()),
            sender: "r".to_owned(),
            instance_key: "k".to_owned(),
        };
        check(put, &[b"\x12\x08", OBJECT, rest].concat());
        let delete = DeleteRemoteObjectsRequest {
            context_id: 0,
            input: vec![id(), id()],
        };
        check(delete, &[b"\x12\x08", OBJECT, b"\x12\x08", OBJECT].concat());
    }

    /// As `check`, for a response.
    fn check_response(response: impl Into<Response>, method: Method, expected: &[u8]) {
        let response = response.into();
        assert_eq!(response.encode(), expected, "{response:?}");
        let decoded = Response::decode(method, Bytes::copy_from_slice(expected)).unwrap();
        assert_eq!(decoded, response);
    }

    #[test]
    fn responses_keep_their_bytes() {
        check_response(
            GetDevicesResponse {
                devices: vec![DeviceInfo {
                    name: "n".to_owned(),
                    r#type: "t".to_owned(),
                }],
                load: Some(TaskLoad {
                    num_contexts: 1,
                    num_objects: 2,
                    num_unclaimed: 3,
                    programs: vec![SentProgram {
                        context_id: 4,
                        name: "p".to_owned(),
                        num_bytes: 5,
                    }],
                }),
            },
            Method::GetDevices,
            b"\x0a\x06\x0a\x01n\x12\x01t\xaa\x06\x0f\x08\x01\x10\x02\x18\x03\x22\x07\x08\x04\x12\x01p\x18\x05",
        );
        check_response(
            CreateContextResponse {
                ready_chain: Some(id()),
            },
            Method::CreateContext,
            b"\x0a\x08\x08\xac\x02\x10\x02\x1a\x01d",
        );
        check_response(
            HeartbeatResponse {
                incarnation: 1,
                is_lost: true,
            },
            Method::Heartbeat,
            b"\x09\x01\0\0\0\0\0\0\0\x10\x01",
        );
        check_response(
            RegisterFunctionResponse {
                output_device: vec!["d".to_owned()],
            },
            Method::RegisterFunction,
            b"\x0a\x01d",
        );
        let error = || OutputError {
            index: 1,
            code: 2,
            message: "m".to_owned(),
        };
        let metadata: &[u8] = b"\x0a\x02ab\xaa\x06\x07\x08\x01\x10\x02\x1a\x01m";
        check_response(
            RemoteExecuteResponse {
                metadata: vec![Bytes::from_static(b"ab")],
                metadata_errors: vec![error()],
            },
            Method::RemoteExecute,
            metadata,
        );
        check_response(
            RemoteExecuteOpResponse {
                metadata: vec![Bytes::from_static(b"ab")],
                metadata_errors: vec![error()],
            },
            Method::RemoteExecuteOp,
            metadata,
        );
        check_response(CloseContextResponse {}, Method::CloseContext, b"");
        check_response(SendReadyChainsResponse {}, Method::SendReadyChains, b"");
        check_response(KeepAliveResponse {}, Method::KeepAlive, b"");
        check_response(SendDataResponse {}, Method::SendData, b"");
        check_response(CancelExecutionResponse {}, Method::CancelExecution, b"");
        check_response(FetchObjectResponse {}, Method::FetchObject, b"");
        check_response(PutObjectResponse {}, Method::PutObject, b"");
        check_response(
            DeleteRemoteObjectsResponse {},
            Method::DeleteRemoteObjects,
            b"",
        );
    }

    #[test]
    fn unknown_fields_are_ignored() {
        let bytes = b"\x09\x05\0\0\0\0\0\0\0\xfa\x07\x03new";
        let decoded = Request::decode(Method::KeepAlive, Bytes::from_static(bytes)).unwrap();
        assert_eq!(decoded, KeepAliveRequest { context_id: 5 }.into());
    }

    #[test]
    fn the_order_of_tasks_does_not_count() {
        let one = b"\x0a\x01j\x12\x05\x08\x01\x12\x01a\x12\x05\x08\x02\x12\x01b";
        let other = b"\x0a\x01j\x12\x05\x08\x02\x12\x01b\x12\x05\x08\x01\x12\x01a";
        let decode = |bytes: &'static [u8]| JobConfiguration::decode(bytes).unwrap();
        assert_eq!(decode(one), decode(other));
    }
}
